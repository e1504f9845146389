/* Checks, routing and the forms of an answer, without a word of sockets. */
#include "server/http.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "server/body.h"
#include "server/context.h"
#include "server/limits.h"
#include "server/routes.h"

void mrd__reply_reset(mrd__reply *reply)
{
    mrd__body_give(&reply->body);
    if (reply->pull.close) reply->pull.close(reply->pull.ctx);
    mrd_session_follow_close(&reply->follow);
    memset(reply, 0, sizeof *reply);
}

static unsigned status_of(const mrd_error *error)
{
    if (strcmp(error->code, "forbidden") == 0) return 403;
    if (strcmp(error->code, "no_right") == 0) return 403; /* a process of somebody else */
    if (strcmp(error->code, "busy") == 0) return 503;
    if (strcmp(error->code, "exists") == 0) return 409;
    switch (error->status) {
    case MRD_ERR_ARGUMENT:
        return 400;
    case MRD_ERR_NOT_FOUND:
        return 404;
    case MRD_ERR_FORMAT:
        return 422;
    case MRD_ERR_LIMIT:
        return strcmp(error->code, "too_many_rows") == 0 ? 400 : 413;
    case MRD_ERR_STATE:
        return 409;
    default:
        return 500;
    }
}

void mrd__reply_error(mrd__reply *reply, const mrd_error *error)
{
    char text[1600];
    reply->status = status_of(error);
    reply->type = "application/json";
    reply->event_stream = false;
    mrd__buf_clear(&reply->body);
    mrd__buf_text(&reply->body, "{\"error\":{\"code\":");
    mrd__buf_json_string(&reply->body, mrd__str_of(error->code[0] ? error->code : "internal"));
    mrd__buf_text(&reply->body, ",\"message\":");
    mrd__buf_json_string(&reply->body, mrd__str_of(mrd_error_text(error, text, sizeof text)));
    if (strcmp(error->code, "too_many_rows") == 0) {
        mrd__buf_printf(&reply->body, ",\"limit\":%llu,\"rows\":%llu,\"suggested_buckets\":2048",
                        (unsigned long long)error->limit, (unsigned long long)error->rows);
    }
    mrd__buf_text(&reply->body, "}}");
}

void mrd__reply_fail(mrd__reply *reply, unsigned status, const char *code, const char *format, ...)
{
    mrd_error error = {.status = MRD_ERR_ARGUMENT, .offset = -1};
    va_list args;
    va_start(args, format);
    vsnprintf(error.message, sizeof error.message, format, args);
    va_end(args);
    snprintf(error.code, sizeof error.code, "%s", code);
    mrd__reply_error(reply, &error);
    reply->status = status;
}

bool mrd__http_negotiate(const mrd__request *request, mrd_format *format, mrd__reply *reply)
{
    const char *accept = request->accept;
    bool arrow = !accept || strstr(accept, "*/*") || strstr(accept, "application/*") ||
                 strstr(accept, MRD__ARROW_TYPE);
    bool json = accept && strstr(accept, "application/json");
    bool named = accept && strstr(accept, MRD__ARROW_TYPE);
    if (!arrow && !json) {
        mrd__reply_fail(reply, 406, "not_acceptable",
                        "Accept is %s, allowed are " MRD__ARROW_TYPE " and application/json",
                        accept);
        return false;
    }
    *format = json && !named ? MRD_FORMAT_JSON : MRD_FORMAT_ARROW;
    reply->type = *format == MRD_FORMAT_JSON ? "application/json" : MRD__ARROW_TYPE;
    return true;
}

mrd_status mrd__http_params(const mrd__request *request, mrd_params **params, mrd_error *error)
{
    *params = mrd_params_create();
    MRD__TRY(mrd_params_add_query(*params, request->query.data, request->query.size, error));
    if (strcmp(request->method, "POST") == 0 && request->body.size > 0)
        return mrd_params_add_json(*params, request->body.data, request->body.size, error);
    return MRD_OK;
}

void mrd__http_events(const mrd__buf *lines, mrd__buf *out)
{
    for (size_t at = 0; at < lines->size;) {
        size_t end = at;
        while (end < lines->size && lines->data[end] != '\n')
            end++;
        mrd__buf_text(out, "data: ");
        mrd__buf_add(out, lines->data + at, end - at);
        mrd__buf_text(out, "\n\n");
        at = end + 1;
    }
}

bool mrd__http_id(mrd__str segment, int64_t *out)
{
    if (segment.size == 0 || segment.data[0] == '+' || segment.data[0] == '-') return false;
    return mrd__parse_int64(segment, out) && *out > 0;
}

/* ---- Checks ---- */

/* The name part of HOST or HOST:PORT; brackets of IPv6 stay. */
static mrd__str host_name(const char *host)
{
    mrd__str name = mrd__str_of(host);
    const char *end = name.data + name.size;
    const char *from = name.size && name.data[0] == '[' ? memchr(name.data, ']', name.size) : NULL;
    const char *colon =
        memchr(from ? from : name.data, ':', (size_t)(end - (from ? from : name.data)));
    if (colon) name.size = (size_t)(colon - name.data);
    return name;
}

static bool host_allowed(const mrd__server_context *server, const char *host)
{
    if (!host) return false;
    mrd__str name = host_name(host);
    return mrd__str_is(name, "localhost") || mrd__str_is(name, "127.0.0.1") ||
           mrd__str_is(name, "[::1]") || mrd__str_is(name, server->address);
}

/* A page of another site must not reach us: its Origin is not our own Host. */
static bool origin_allowed(const mrd__request *request)
{
    const char *origin = request->origin;
    if (!origin) return true;
    if (strncmp(origin, "http://", 7) == 0)
        return request->host && strcmp(origin + 7, request->host) == 0;
    if (strncmp(origin, "https://", 8) == 0) /* behind a terminating proxy */
        return request->host && strcmp(origin + 8, request->host) == 0;
    return false;
}

/* Compare without telling by time how much was right. */
static bool same_secret(const char *token, const char *given, size_t size)
{
    size_t want = strlen(token);
    unsigned difference = want != size;
    for (size_t i = 0; i < size; i++)
        difference |= (unsigned char)given[i] ^ (unsigned char)token[want ? i % want : 0];
    return difference == 0;
}

static bool token_given(const mrd__request *request, const char *token)
{
    const char *bearer = request->authorization;
    if (bearer && strncmp(bearer, "Bearer ", 7) == 0)
        return same_secret(token, bearer + 7, strlen(bearer + 7));
    for (const char *at = request->cookie; at && *at;) {
        at += strspn(at, "; ");
        size_t size = strcspn(at, ";");
        if (size > 15 && strncmp(at, "meridian_token=", 15) == 0)
            return same_secret(token, at + 15, size - 15);
        at += size;
    }
    return false;
}

/* The page's first call carries the token in its URL; a cookie carries it from then on. */
static bool token_in_query(const mrd__request *request, const char *token, mrd__reply *reply)
{
    mrd__str query = request->query;
    if (query.size < 6 || memcmp(query.data, "token=", 6) != 0) return false;
    if (!same_secret(token, query.data + 6, query.size - 6)) return false;
    snprintf(reply->set_cookie, sizeof reply->set_cookie,
             "meridian_token=%s; Path=/; HttpOnly; SameSite=Strict", token);
    return true;
}

static bool checked(mrd__request *request, mrd__reply *reply)
{
    const mrd__server_context *server = mrd__server_context_of(request->server);
    if (!server->token && !host_allowed(server, request->host)) {
        mrd__reply_fail(reply, 403, "forbidden", "Host is %s, allowed are localhost and %s",
                        request->host ? request->host : "absent", server->address);
        return false;
    }
    if (!origin_allowed(request)) {
        mrd__reply_fail(reply, 403, "forbidden", "Origin is %s, allowed is this server's own",
                        request->origin);
        return false;
    }
    if (server->token && !token_given(request, server->token) &&
        !token_in_query(request, server->token, reply)) {
        mrd__reply_fail(reply, 403, "forbidden",
                        "a token is wanted: Authorization: Bearer TOKEN, or /?token=TOKEN");
        return false;
    }
    if (request->path.size + request->query.size > MRD__SERVER_REQUEST_LINE) {
        mrd__reply_fail(reply, 414, "too_large", "the request line has %zu bytes, allowed are %d",
                        request->path.size + request->query.size, MRD__SERVER_REQUEST_LINE);
        return false;
    }
    return true;
}

/* ---- Routing ---- */

static size_t split(mrd__str path, mrd__str *segments)
{
    size_t count = 0, at = 0;
    while (at < path.size) {
        if (path.data[at] == '/') {
            at++;
            continue;
        }
        size_t end = at;
        while (end < path.size && path.data[end] != '/')
            end++;
#ifndef MRD_PLANTED_BUGS /* the fuzzer must find what happens without this */
        if (count == MRD__HTTP_SEGMENTS) return MRD__HTTP_SEGMENTS + 1;
#endif
        segments[count++] = (mrd__str){path.data + at, end - at};
        at = end;
    }
    return count;
}

static bool matches(const char *pattern, const mrd__str *segments, size_t count, mrd__str *captures)
{
    mrd__str wanted[MRD__HTTP_SEGMENTS];
    size_t captured = 0, want = split(mrd__str_of(pattern), wanted);
    if (want != count) return false;
    for (size_t i = 0; i < count; i++) {
        if (wanted[i].data[0] == '{')
            captures[captured++] = segments[i];
        else if (!mrd__str_equal(wanted[i], segments[i]))
            return false;
    }
    return true;
}

static void not_found(const mrd__request *request, mrd__reply *reply)
{
    mrd__reply_fail(reply, 404, "no_such_path", "nothing is at %.*s",
                    (int)(request->path.size > 200 ? 200 : request->path.size), request->path.data);
}

static void route(mrd__request *request, mrd__reply *reply)
{
    mrd__str segments[MRD__HTTP_SEGMENTS];
    size_t count = split(request->path, segments);
    bool head = strcmp(request->method, "HEAD") == 0;
    bool known = false;
    const char *method = head ? "GET" : request->method;
    for (const mrd__route *at = mrd__routes; count <= MRD__HTTP_SEGMENTS && at->path; at++) {
        if (!matches(at->path, segments, count, request->captures)) continue;
        known = true;
        if (strcmp(at->method, method) != 0) continue;
        at->handle(request, reply);
        return;
    }
    if (known)
        mrd__reply_fail(reply, 405, "bad_method", "%s is not allowed here", request->method);
    else if (strcmp(method, "GET") != 0 || !mrd__route_asset(request, reply))
        not_found(request, reply);
}

void mrd__http_handle(mrd__request *request, mrd__reply *reply)
{
    reply->status = 200;
    reply->type = "application/json";
    if (checked(request, reply)) route(request, reply);
    mrd__assert(reply->status != 0 && reply->type);
}
