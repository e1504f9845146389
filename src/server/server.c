/* The HTTP server on libmicrohttpd: one thread a connection, bounded in every way of limits.h.
 *
 * The request line is taken raw (MHD_OPTION_URI_LOG_CALLBACK), since the library decodes a query
 * before one can split it: `a%2Cb` would arrive as `a,b`. */
#include "server/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "server/body.h"
#include "server/context.h"
#include "server/evaluation.h"
#include "server/http.h"
#include "server/limits.h"
#include "server/recordings.h"
#include "server/sessions.h"

struct mrd__server {
    mrd__server_context context;
    struct MHD_Daemon *daemon;
    int socket;
    atomic_uint active, streams;
    atomic_bool stopping; /* event streams of sessions end */
    bool warming;
    pthread_t warmer;
};

mrd__server_context *mrd__server_context_of(struct mrd__server *server)
{
    return &server->context;
}

/* One request while the library hands it over piece by piece. */
typedef struct exchange {
    char *uri;
    mrd__request request;
    bool started, too_large;
} exchange;

static void *on_uri(void *ctx, const char *uri, struct MHD_Connection *connection)
{
    (void)ctx;
    (void)connection;
    exchange *x = mrd__new(exchange);
    x->uri = mrd__strndup(uri, strlen(uri));
    return x;
}

static void on_completed(void *ctx, struct MHD_Connection *connection, void **con_cls,
                         enum MHD_RequestTerminationCode code)
{
    (void)ctx;
    (void)connection;
    (void)code;
    exchange *x = *con_cls;
    if (!x) return;
    mrd__buf_reset(&x->request.body);
    mrd__free(x->uri);
    mrd__free(x);
    *con_cls = NULL;
}

static bool is_loopback(const struct sockaddr *address)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;
    if (address->sa_family == AF_INET) return (ntohl(v4->sin_addr.s_addr) >> 24) == 127;
    if (address->sa_family != AF_INET6) return false;
    if (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr)) return v6->sin6_addr.s6_addr[12] == 127;
    return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

static bool from_here(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info != NULL && info->client_addr != NULL && is_loopback(info->client_addr);
}

static void read_head(exchange *x, struct MHD_Connection *connection, struct mrd__server *server,
                      const char *method)
{
    mrd__request *request = &x->request;
    size_t path = strcspn(x->uri, "?");
    request->server = server;
    request->method = method;
    request->path = (mrd__str){x->uri, path};
    request->query = mrd__str_of(x->uri[path] == '?' ? x->uri + path + 1 : "");
    request->host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
    request->origin = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Origin");
    request->accept = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Accept");
    request->authorization =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Authorization");
    request->cookie = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Cookie");
    request->content_type =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Type");
    request->loopback = from_here(connection);
}

/* ---- Event streams ---- */

typedef struct event_stream {
    struct mrd__server *server;
    uint64_t version;
    bool tasks;
    mrd_session_follow *follow; /* of a session, or NULL */
    mrd__buf pending;
    size_t sent;
} event_stream;

static bool more_events(event_stream *stream)
{
    const mrd__server_context *context = &stream->server->context;
    if (stream->follow != NULL)
        return mrd__session_events(stream->follow, &stream->server->stopping,
                                   MRD__SERVER_HEARTBEAT_MS, &stream->pending);
    if (stream->tasks)
        return mrd__evaluation_events(context->results, &stream->version, MRD__SERVER_HEARTBEAT_MS,
                                      &stream->pending);
    return mrd__traces_events(context->traces, &stream->version, MRD__SERVER_HEARTBEAT_MS,
                              &stream->pending);
}

static ssize_t stream_read(void *ctx, uint64_t at, char *out, size_t max)
{
    event_stream *stream = ctx;
    (void)at;
    if (stream->sent == stream->pending.size) {
        mrd__buf_clear(&stream->pending);
        stream->sent = 0;
        if (!more_events(stream)) return MHD_CONTENT_READER_END_OF_STREAM;
    }
    size_t size = stream->pending.size - stream->sent;
    if (size > max) size = max;
    memcpy(out, stream->pending.data + stream->sent, size);
    stream->sent += size;
    return (ssize_t)size;
}

static void stream_free(void *ctx)
{
    event_stream *stream = ctx;
    atomic_fetch_sub(&stream->server->streams, 1);
    mrd_session_follow_close(&stream->follow);
    mrd__buf_reset(&stream->pending);
    mrd__free(stream);
}

static struct MHD_Response *make_stream(struct mrd__server *server, mrd__reply *reply)
{
    if (atomic_fetch_add(&server->streams, 1) >= MRD__SERVER_STREAMS) {
        atomic_fetch_sub(&server->streams, 1);
        mrd__reply_fail(reply, 503, "busy", "%d event streams are open, the limit",
                        MRD__SERVER_STREAMS);
        return NULL;
    }
    event_stream *stream = mrd__new(event_stream);
    stream->server = server;
    stream->tasks = reply->task_stream;
    stream->follow = reply->follow;
    reply->follow = NULL;
    if (stream->tasks) stream->version = UINT64_MAX; /* what is queued or running, first */
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 64 * 1024, stream_read, stream,
                                             stream_free);
}

/* ---- Bodies made while they go out ---- */

typedef struct pulled {
    mrd__pull pull;
    mrd__buf pending;
    size_t sent;
    bool more;
} pulled;

static ssize_t pull_read(void *ctx, uint64_t at, char *out, size_t max)
{
    pulled *body = ctx;
    (void)at;
    while (body->sent == body->pending.size) {
        if (!body->more) return MHD_CONTENT_READER_END_OF_STREAM;
        mrd__buf_clear(&body->pending);
        body->sent = 0;
        if (body->pull.next(body->pull.ctx, &body->pending, &body->more) != MRD_OK)
            return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    size_t size = body->pending.size - body->sent;
    if (size > max) size = max;
    memcpy(out, body->pending.data + body->sent, size);
    body->sent += size;
    return (ssize_t)size;
}

static void pull_free(void *ctx)
{
    pulled *body = ctx;
    body->pull.close(body->pull.ctx);
    mrd__buf_reset(&body->pending);
    mrd__free(body);
}

static struct MHD_Response *make_pulled(mrd__reply *reply)
{
    pulled *body = mrd__new(pulled);
    *body = (pulled){.pull = reply->pull, .pending = reply->body, .more = true};
    reply->pull = (mrd__pull){0};
    reply->body = (mrd__buf){0};
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 64 * 1024, pull_read, body,
                                             pull_free);
}

/* ---- Answers ---- */

/* A body on its way out; its memory is kept for the next one. */
static void free_body(void *body)
{
    mrd__body_give(body);
    mrd__free(body);
}

static struct MHD_Response *make_response(struct mrd__server *server, mrd__reply *reply)
{
    struct MHD_Response *response = reply->event_stream ? make_stream(server, reply) : NULL;
    if (response) return response;
    if (reply->pull.close) return make_pulled(reply);
    if (reply->constant)
        return MHD_create_response_from_buffer(reply->constant_size, (void *)reply->constant,
                                               MHD_RESPMEM_PERSISTENT);
    mrd__buf *body = mrd__new(mrd__buf); /* moves into the response */
    *body = reply->body;
    reply->body = (mrd__buf){0};
    return MHD_create_response_from_buffer_with_free_callback_cls(body->size, body->data, free_body,
                                                                  body);
}

static enum MHD_Result send_reply(struct mrd__server *server, struct MHD_Connection *connection,
                                  mrd__reply *reply)
{
    struct MHD_Response *response = make_response(server, reply);
    mrd__assert(response);
    MHD_add_response_header(response, "Content-Type", reply->type);
    MHD_add_response_header(response, "Cache-Control",
                            reply->cache ? "public, max-age=31536000, immutable" : "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(response, "Content-Security-Policy",
                            "default-src 'self'; img-src 'self' data: blob:; style-src 'self' "
                            "'unsafe-inline'; worker-src 'self' blob:; frame-ancestors 'none'");
    if (reply->set_cookie[0]) MHD_add_response_header(response, "Set-Cookie", reply->set_cookie);
    enum MHD_Result result = MHD_queue_response(connection, reply->status, response);
    MHD_destroy_response(response);
    mrd__reply_reset(reply);
    return result;
}

static void answer(struct mrd__server *server, exchange *x, mrd__reply *reply)
{
    if (x->too_large) {
        mrd__reply_fail(reply, 413, "too_large", "the body is larger than %d bytes, the limit",
                        MRD__SERVER_BODY);
    } else if (atomic_fetch_add(&server->active, 1) >= MRD__SERVER_ACTIVE) {
        atomic_fetch_sub(&server->active, 1);
        mrd__reply_fail(reply, 503, "busy", "%d answers are being made, the limit; ask again",
                        MRD__SERVER_ACTIVE);
    } else {
        mrd__http_handle(&x->request, reply);
        atomic_fetch_sub(&server->active, 1);
    }
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *size, void **con_cls)
{
    (void)url;
    (void)version;
    struct mrd__server *server = ctx;
    exchange *x = *con_cls;
    if (!x->started) {
        x->started = true;
        read_head(x, connection, server, method);
        return MHD_YES;
    }
    if (*size > 0) {
        x->too_large = x->too_large || x->request.body.size + *size > MRD__SERVER_BODY;
        if (!x->too_large) mrd__buf_add(&x->request.body, data, *size);
        *size = 0;
        return MHD_YES;
    }
    mrd__reply reply = {0};
    answer(server, x, &reply);
    return send_reply(server, connection, &reply);
}

/* ---- Start and stop ---- */

typedef struct endpoint {
    struct sockaddr_storage address;
    socklen_t size;
    bool loopback;
    char host[80]; /* for URLs: [::1] in brackets */
    uint16_t port;
} endpoint;

static bool fill_address(endpoint *at)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)&at->address;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&at->address;
    char bare[80];
    if (strcmp(at->host, "localhost") == 0) snprintf(at->host, sizeof at->host, "127.0.0.1");
    if (inet_pton(AF_INET, at->host, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons(at->port);
        at->size = sizeof *v4;
        at->loopback = is_loopback((struct sockaddr *)v4);
        return true;
    }
    size_t size = strlen(at->host);
    if (size < 4 || at->host[0] != '[' || at->host[size - 1] != ']') return false;
    snprintf(bare, sizeof bare, "%.*s", (int)(size - 2), at->host + 1);
    if (inet_pton(AF_INET6, bare, &v6->sin6_addr) != 1) return false;
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(at->port);
    at->size = sizeof *v6;
    at->loopback = is_loopback((struct sockaddr *)v6);
    return true;
}

static mrd_status parse_listen(const char *text, endpoint *at, mrd_error *error)
{
    const char *colon = strrchr(text, ':');
    int64_t port = -1;
    memset(at, 0, sizeof *at);
    if (colon && (size_t)(colon - text) < sizeof at->host &&
        mrd__parse_int64(mrd__str_of(colon + 1), &port) && port >= 0 && port <= 65535) {
        snprintf(at->host, sizeof at->host, "%.*s", (int)(colon - text), text);
        at->port = (uint16_t)port;
        if (fill_address(at)) return MRD_OK;
    }
    return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_listen",
                     "--listen is %s, allowed is ADDRESS:PORT, like 127.0.0.1:0 or [::1]:8080",
                     text);
}

static mrd_status bind_socket(struct mrd__server *server, endpoint *at, mrd_error *error)
{
    int one = 1;
    char where[128];
    snprintf(where, sizeof where, "%s:%u", at->host, at->port);
    server->socket = socket(at->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (server->socket < 0) return mrd__fail_errno(error, where, "cannot make a socket");
    setsockopt(server->socket, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(server->socket, (struct sockaddr *)&at->address, at->size) != 0 ||
        listen(server->socket, 128) != 0 ||
        getsockname(server->socket, (struct sockaddr *)&at->address, &at->size) != 0)
        return mrd__fail_errno(error, where, "cannot listen");
    at->port = at->address.ss_family == AF_INET
                   ? ntohs(((struct sockaddr_in *)&at->address)->sin_port)
                   : ntohs(((struct sockaddr_in6 *)&at->address)->sin6_port);
    return MRD_OK;
}

static mrd_status start_daemon(struct mrd__server *server, mrd_error *error)
{
    server->daemon = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL |
            MHD_USE_ITC,
        0, NULL, NULL, on_request, server, MHD_OPTION_LISTEN_SOCKET, server->socket,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)MRD__SERVER_CONNECTIONS,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MRD__SERVER_CONNECTION_MEMORY,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)MRD__SERVER_TIMEOUT_S, MHD_OPTION_URI_LOG_CALLBACK,
        on_uri, NULL, MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_END);
    if (!server->daemon)
        return mrd__fail(error, MRD_ERR_INTERNAL, "internal", "the HTTP daemon did not start");
    server->socket = -1; /* the daemon owns it now */
    return MRD_OK;
}

static void allow_folders(struct mrd__server *server, const mrd__server_options *options)
{
    if (options->data_dir) mrd__traces_allow(server->context.traces, options->data_dir);
    for (size_t i = 0; i < options->path_count; i++) {
        char *folder = mrd__strndup(options->paths[i], strlen(options->paths[i]));
        char *slash = strrchr(folder, '/');
        if (slash) slash[slash == folder ? 1 : 0] = 0;
        mrd__traces_allow(server->context.traces, slash ? folder : ".");
        mrd__free(folder);
    }
}

static void *warm_up(void *ctx)
{
    (void)ctx;
    mrd_warm_up();
    mrd__body_warm();
    return NULL;
}

/* A server that opens nothing yet has the time to get ready for the first file. */
static void start_warming(struct mrd__server *server)
{
    server->warming = pthread_create(&server->warmer, NULL, warm_up, NULL) == 0;
}

/* The store, and the tasks that wait in it. */
static mrd_status open_results(mrd__server_context *context, const mrd__server_options *options,
                               mrd_error *error)
{
    MRD__TRY(mrd_results_open(options->data_dir, options->store_url, &context->results, error));
    return mrd_tasks_start(context->results, options->threads, error);
}

static mrd_status start_parts(struct mrd__server *server, const mrd__server_options *options,
                              endpoint *at, mrd_error *error)
{
    mrd__server_context *context = &server->context;
    int64_t id;
    if (!at->loopback && !options->token)
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_listen",
                         "%s is not loopback: a token is wanted (--token TOKEN)", at->host);
    if (options->token && (strlen(options->token) < 8 || strlen(options->token) > 64 ||
                           strpbrk(options->token, " ;,\"\\&%+\r\n")))
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_token",
                         "the token must have 8 to 64 letters, digits, - or _");
    context->traces =
        mrd__traces_create(options->threads, !options->no_cache, options->verify_cache);
    if (options->token) context->token = mrd__strndup(options->token, strlen(options->token));
    if (options->data_dir) {
        context->data_dir = mrd__strndup(options->data_dir, strlen(options->data_dir));
        MRD__TRY(open_results(context, options, error));
        context->recordings = mrd__recordings_create(context->data_dir);
    }
    allow_folders(server, options);
    MRD__TRY(bind_socket(server, at, error));
    snprintf(context->address, sizeof context->address, "%s", at->host);
    context->port = at->port;
    if (options->path_count > 0)
        MRD__TRY(mrd__traces_open(context->traces, options->paths, options->path_count,
                                  options->how, true, &id, error));
    else
        start_warming(server);
    return start_daemon(server, error);
}

void mrd__server_stop(mrd__server **handle)
{
    mrd__server *server = *handle;
    if (!server) return;
    atomic_store(&server->stopping, true);
    if (server->context.traces) mrd__traces_stop(server->context.traces);
    if (server->context.results) mrd_tasks_stop(server->context.results);
    mrd__recordings_stop(server->context.recordings);
    if (server->daemon) MHD_stop_daemon(server->daemon);
    if (server->socket >= 0) close(server->socket);
    if (server->warming) pthread_join(server->warmer, NULL);
    mrd__traces_destroy(&server->context.traces);
    mrd_results_close(&server->context.results);
    mrd__recordings_destroy(&server->context.recordings);
    mrd__free(server->context.token);
    mrd__free(server->context.data_dir);
    mrd__free(server);
    *handle = NULL;
}

mrd_status mrd__server_start(const mrd__server_options *options, mrd__server **out, uint16_t *port,
                             mrd_error *error)
{
    endpoint at;
    MRD__TRY(parse_listen(options->listen ? options->listen : "127.0.0.1:0", &at, error));
    mrd__server *server = mrd__new(mrd__server);
    server->socket = -1;
    mrd_status status = start_parts(server, options, &at, error);
    if (status != MRD_OK) {
        mrd__server_stop(&server);
        return status;
    }
    *port = at.port;
    *out = server;
    return MRD_OK;
}
