/* What is where: one function a route, no work beyond calling meridian.h. */
#include "server/routes.h"

#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "server/assets.h"
#include "server/body.h"
#include "server/context.h"
#include "server/evaluation.h"
#include "server/limits.h"
#include "server/query.h"
#include "server/recordings.h"
#include "server/sessions.h"

static mrd__server_context *context(const mrd__request *request)
{
    return mrd__server_context_of(request->server);
}

static void finish(mrd__reply *reply, mrd_status status, const mrd_error *error)
{
    if (status != MRD_OK) mrd__reply_error(reply, error);
}

static void get_version(mrd__request *request, mrd__reply *reply)
{
    (void)request;
    mrd__buf_printf(&reply->body,
                    "{\"version\":\"%s\",\"limits\":{\"rows\":100000,\"buckets\":4096,"
                    "\"request_line\":%d,\"body\":%d,\"traces\":%d}}",
                    mrd_version(), MRD__SERVER_REQUEST_LINE, MRD__SERVER_BODY, MRD__SERVER_TRACES);
}

/* ---- Opened traces ---- */

static bool trace_id(const mrd__request *request, mrd__reply *reply, int64_t *id)
{
    if (mrd__http_id(request->captures[0], id)) return true;
    mrd__reply_fail(reply, 404, "no_such_trace", "%.*s is no trace id",
                    (int)request->captures[0].size, request->captures[0].data);
    return false;
}

/* Run ask on a ready trace of the path's id and let go of it. */
static void with_trace(mrd__request *request, mrd__reply *reply,
                       mrd_status (*ask)(const mrd_trace *trace, const mrd__request *request,
                                         mrd__reply *reply, mrd_error *error))
{
    int64_t id;
    mrd_error error = {0};
    mrd__trace_slot *slot = NULL;
    if (!trace_id(request, reply, &id)) return;
    mrd_status status = mrd__traces_acquire(context(request)->traces, id, &slot, &error);
    if (status == MRD_OK) {
        status = ask(mrd__trace_slot_trace(slot), request, reply, &error);
        mrd__traces_release(context(request)->traces, slot);
    }
    finish(reply, status, &error);
}

/* One of the window queries, in the form the client takes. */
typedef mrd_status window_query(const mrd_trace *trace, const mrd_params *params, mrd_format format,
                                const mrd_sink *sink, mrd_error *error);

static mrd_status ask_in_window(window_query *query, const mrd_trace *trace,
                                const mrd__request *request, mrd__reply *reply, mrd_error *error)
{
    mrd_format format;
    mrd_params *params = NULL;
    if (!mrd__http_negotiate(request, &format, reply)) return MRD_OK;
    mrd__body_take(&reply->body);
    mrd_sink sink = mrd__buf_sink(&reply->body);
    mrd_status status = mrd__http_params(request, &params, error);
    if (status == MRD_OK) status = query(trace, params, format, &sink, error);
    mrd_params_destroy(&params);
    return status;
}

static mrd_status tracks_window(const mrd_trace *trace, const mrd_params *params, mrd_format format,
                                const mrd_sink *sink, mrd_error *error)
{
    return mrd_trace_window(trace, params, false, format, sink, error);
}

static mrd_status ask_window(const mrd_trace *trace, const mrd__request *request, mrd__reply *reply,
                             mrd_error *error)
{
    return ask_in_window(tracks_window, trace, request, reply, error);
}

static mrd_status ask_event_window(const mrd_trace *trace, const mrd__request *request,
                                   mrd__reply *reply, mrd_error *error)
{
    return ask_in_window(mrd_trace_event_window, trace, request, reply, error);
}

static mrd_status ask_lanes(const mrd_trace *trace, const mrd__request *request, mrd__reply *reply,
                            mrd_error *error)
{
    (void)request;
    mrd_sink sink = mrd__buf_sink(&reply->body);
    return mrd_trace_lanes(trace, &sink, error);
}

static mrd_status ask_slice(const mrd_trace *trace, const mrd__request *request, mrd__reply *reply,
                            mrd_error *error)
{
    uint64_t track, id;
    mrd_sink sink = mrd__buf_sink(&reply->body);
    if (!mrd__parse_uint64(request->captures[1], &track) || track >= UINT32_MAX)
        return mrd__fail(error, MRD_ERR_NOT_FOUND, "no_such_track", "%.*s is no track id",
                         (int)request->captures[1].size, request->captures[1].data);
    if (!mrd__parse_uint64(request->captures[2], &id))
        return mrd__fail(error, MRD_ERR_NOT_FOUND, "no_such_slice", "%.*s is no slice id",
                         (int)request->captures[2].size, request->captures[2].data);
    return mrd_trace_slice(trace, (uint32_t)track, id, &sink, error);
}

static mrd_status ask_clocks(const mrd_trace *trace, const mrd__request *request, mrd__reply *reply,
                             mrd_error *error)
{
    (void)request;
    mrd_sink sink = mrd__buf_sink(&reply->body);
    return mrd_trace_clocks(trace, MRD_FORMAT_JSON, &sink, error);
}

static void get_clocks(mrd__request *request, mrd__reply *reply)
{
    with_trace(request, reply, ask_clocks);
}

static void get_window(mrd__request *request, mrd__reply *reply)
{
    with_trace(request, reply, ask_window);
}

static void get_event_window(mrd__request *request, mrd__reply *reply)
{
    with_trace(request, reply, ask_event_window);
}

static void get_lanes(mrd__request *request, mrd__reply *reply)
{
    with_trace(request, reply, ask_lanes);
}

static void get_slice(mrd__request *request, mrd__reply *reply)
{
    with_trace(request, reply, ask_slice);
}

static void get_traces(mrd__request *request, mrd__reply *reply)
{
    mrd__traces_list(context(request)->traces, &reply->body);
}

static void get_trace(mrd__request *request, mrd__reply *reply)
{
    int64_t id;
    mrd_error error = {0};
    if (trace_id(request, reply, &id))
        finish(reply, mrd__traces_describe(context(request)->traces, id, &reply->body, &error),
               &error);
}

static void delete_trace(mrd__request *request, mrd__reply *reply)
{
    int64_t id;
    mrd_error error = {0};
    if (!trace_id(request, reply, &id)) return;
    mrd_status status = mrd__traces_close(context(request)->traces, id, &error);
    if (status == MRD_OK) mrd__buf_printf(&reply->body, "{\"trace_id\":%lld}", (long long)id);
    finish(reply, status, &error);
}

typedef struct open_body { /* of POST /api/traces */
    MRD__VEC(char *) paths;
    char *manifest, *manifest_text;
    int64_t result; /* 0: none */
    size_t members;
    mrd_open_options how;
} open_body;

static mrd_status bad_body(mrd_error *error, const char *what)
{
    return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter",
                     "%s, allowed is {\"paths\": [\"FILE\", ...], \"manifest\": \"FILE\" or {...}, "
                     "\"align\": \"realtime\", \"start\", \"collectives\" or \"none\", "
                     "\"clock_interpolation\": \"step\" or \"linear\"}, or {\"result\": id} alone",
                     what);
}

/* A string without zero characters, decoded. */
static mrd_status take_string(mrd__json_token token, char **out, mrd_error *error)
{
    if (token.type != MRD__JSON_STRING) return bad_body(error, "a member is not a string");
    mrd__buf text = {0};
    mrd__json_decode(&text, token.text, NULL);
    bool zero = memchr(text.data ? text.data : "", 0, text.size) != NULL;
    if (!zero) *out = mrd__strndup(text.data ? text.data : "", text.size);
    mrd__buf_reset(&text);
    return zero ? bad_body(error, "a string holds a zero character") : MRD_OK;
}

static mrd_status parse_path_array(mrd__json *json, open_body *body, mrd_error *error)
{
    if (mrd__json_next(json).type != MRD__JSON_ARRAY)
        return bad_body(error, "paths is not an array");
    for (;;) {
        mrd__json_token token = mrd__json_next(json);
        if (token.type == MRD__JSON_ARRAY_END) return MRD_OK;
        if (token.type != MRD__JSON_STRING || body->paths.count >= MRD__SERVER_PATHS)
            return bad_body(error, "paths holds something else or too many");
        char *path = NULL;
        MRD__TRY(take_string(token, &path, error));
        mrd__vec_push(&body->paths, path);
    }
}

/* A path, or the manifest itself. */
static mrd_status parse_manifest(mrd__json *json, open_body *body, mrd_error *error)
{
    mrd__json_token token = mrd__json_next(json);
    mrd__free(body->manifest);
    mrd__free(body->manifest_text);
    body->manifest = body->manifest_text = NULL;
    if (token.type != MRD__JSON_OBJECT) return take_string(token, &body->manifest, error);
    if (!mrd__json_skip(json, token)) return bad_body(error, "the body is not JSON");
    body->manifest_text = mrd__strndup(json->data + token.offset, json->at - token.offset);
    return MRD_OK;
}

/* The place of a word in a list of them. */
static mrd_status parse_word(mrd__json *json, const char *const *words, int *out, mrd_error *error)
{
    mrd__json_token token = mrd__json_next(json);
    for (*out = 0; words[*out] != NULL; ++*out)
        if (token.type == MRD__JSON_STRING && mrd__str_is(token.text, words[*out])) return MRD_OK;
    return bad_body(error, "align or clock_interpolation is something else");
}

static mrd_status parse_result(mrd__json *json, open_body *body, mrd_error *error)
{
    mrd__json_token token = mrd__json_next(json);
    if (token.type == MRD__JSON_NUMBER && mrd__http_id(token.text, &body->result)) return MRD_OK;
    return bad_body(error, "result is no id");
}

static mrd_status parse_member(mrd__json *json, mrd__str key, open_body *body, mrd_error *error)
{
    static const char *const aligns[] = {"realtime", "start", "collectives", "none", NULL};
    static const char *const between[] = {"step", "linear", NULL};
    int word;
    if (mrd__str_is(key, "paths")) return parse_path_array(json, body, error);
    if (mrd__str_is(key, "manifest")) return parse_manifest(json, body, error);
    if (mrd__str_is(key, "result")) return parse_result(json, body, error);
    if (mrd__str_is(key, "align")) {
        MRD__TRY(parse_word(json, aligns, &word, error));
        body->how.align = (mrd_align)word;
        return MRD_OK;
    }
    if (mrd__str_is(key, "clock_interpolation")) {
        MRD__TRY(parse_word(json, between, &word, error));
        body->how.clock_linear = word == 1;
        return MRD_OK;
    }
    return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter",
                     "member %.*s is unknown, allowed are paths, manifest, align, "
                     "clock_interpolation and result",
                     (int)(key.size > 100 ? 100 : key.size), key.data);
}

static mrd_status parse_open(const mrd__request *request, open_body *body, mrd_error *error)
{
    mrd__json json;
    mrd__json_init(&json, request->body.data ? request->body.data : "", request->body.size);
    if (mrd__json_next(&json).type != MRD__JSON_OBJECT)
        return bad_body(error, "the body is not a JSON object");
    for (;;) {
        mrd__json_token key = mrd__json_next(&json);
        if (key.type == MRD__JSON_OBJECT_END) break;
        if (key.type != MRD__JSON_KEY) return bad_body(error, "the body is not JSON");
        body->members++;
        MRD__TRY(parse_member(&json, key.text, body, error));
    }
    if (body->result != 0 && body->members > 1)
        return bad_body(error, "result stands beside another member");
    body->how.manifest = body->manifest;
    body->how.manifest_text = body->manifest_text;
    return mrd__json_next(&json).type == MRD__JSON_END ? MRD_OK
                                                       : bad_body(error, "text after the object");
}

/* The store names the file, not the client: one that a result links may lie outside the folders. */
static mrd_status open_result(const mrd__request *request, int64_t result, int64_t *id,
                              mrd_error *error)
{
    char path[4096];
    const char *paths[] = {path};
    mrd_results *results = context(request)->results;
    if (!results)
        return mrd__fail(error, MRD_ERR_NOT_FOUND, "no_store",
                         "this server has no data folder (--data DIR)");
    MRD__TRY(mrd_results_trace_path(results, result, path, sizeof path, error));
    return mrd__traces_open(context(request)->traces, paths, 1, NULL, true, id, error);
}

static void post_traces(mrd__request *request, mrd__reply *reply)
{
    open_body body = {0};
    mrd_error error = {0};
    int64_t id = 0;
    mrd_status status = parse_open(request, &body, &error);
    if (status == MRD_OK && body.result != 0)
        status = open_result(request, body.result, &id, &error);
    else if (status == MRD_OK)
        status = mrd__traces_open(context(request)->traces, (const char *const *)body.paths.data,
                                  body.paths.count, &body.how, false, &id, &error);
    if (status == MRD_OK) {
        reply->status = 202;
        mrd__buf_printf(&reply->body, "{\"trace_id\":%lld}", (long long)id);
    }
    finish(reply, status, &error);
    for (size_t i = 0; i < body.paths.count; i++)
        mrd__free(body.paths.data[i]);
    mrd__vec_reset(&body.paths);
    mrd__free(body.manifest);
    mrd__free(body.manifest_text);
}

static void get_events(mrd__request *request, mrd__reply *reply)
{
    (void)request;
    reply->event_stream = true;
    reply->type = "text/event-stream";
}

/* ---- Results ---- */

static bool result_id(const mrd__request *request, mrd__reply *reply, int64_t *id)
{
    if (mrd__http_id(request->captures[0], id)) return true;
    mrd__reply_fail(reply, 404, "no_such_result", "%.*s is no result id",
                    (int)request->captures[0].size, request->captures[0].data);
    return false;
}

static void get_results(mrd__request *request, mrd__reply *reply)
{
    mrd_results *results;
    mrd_params *params = NULL;
    mrd_error error = {0};
    if (!mrd__evaluation_store(request, reply, &results)) return;
    mrd_sink sink = mrd__buf_sink(&reply->body);
    mrd_status status = mrd__http_params(request, &params, &error);
    if (status == MRD_OK)
        status = mrd_results_list(results, params, MRD_FORMAT_JSON, &sink, &error);
    mrd_params_destroy(&params);
    finish(reply, status, &error);
}

static void get_result(mrd__request *request, mrd__reply *reply)
{
    mrd_results *results;
    int64_t id;
    mrd_error error = {0};
    if (!mrd__evaluation_store(request, reply, &results) || !result_id(request, reply, &id)) return;
    mrd_sink sink = mrd__buf_sink(&reply->body);
    finish(reply, mrd_results_show(results, id, MRD_FORMAT_JSON, &sink, &error), &error);
}

static void delete_result(mrd__request *request, mrd__reply *reply)
{
    mrd_results *results;
    int64_t id;
    mrd_error error = {0};
    if (!mrd__evaluation_store(request, reply, &results) || !result_id(request, reply, &id)) return;
    mrd_status status = mrd_results_remove(results, id, &error);
    if (status == MRD_OK) mrd__buf_printf(&reply->body, "{\"id\":%lld}", (long long)id);
    finish(reply, status, &error);
}

static void get_result_trace(mrd__request *request, mrd__reply *reply)
{
    mrd_results *results;
    int64_t id;
    char path[4096];
    mrd_error error = {0};
    mrd__trace_slot *slot = NULL;
    if (!mrd__evaluation_store(request, reply, &results) || !result_id(request, reply, &id)) return;
    mrd_status status = mrd_results_trace_path(results, id, path, sizeof path, &error);
    if (status == MRD_OK)
        status = mrd__traces_acquire_path(context(request)->traces, path, &slot, &error);
    if (status == MRD_OK) {
        status = ask_event_window(mrd__trace_slot_trace(slot), request, reply, &error);
        mrd__traces_release(context(request)->traces, slot);
    }
    finish(reply, status, &error);
}

/* ---- The page ---- */

static const struct mrd__asset *asset_at(mrd__str path)
{
    for (size_t i = 0; i < mrd__asset_count; i++) {
        if (mrd__str_equal(mrd__str_of(mrd__assets[i].path), path)) return &mrd__assets[i];
    }
    return NULL;
}

bool mrd__route_asset(const mrd__request *request, mrd__reply *reply)
{
    mrd__str path = request->path;
    if (mrd__str_is(path, "/") || path.size == 0) path = MRD__STR("/index.html");
    const struct mrd__asset *asset = asset_at(path);
    if (!asset) return false;
    reply->type = asset->mime;
    reply->constant = asset->data;
    reply->constant_size = asset->size;
    reply->cache = path.size > 8 && memcmp(path.data, "/assets/", 8) == 0;
    return true;
}

const mrd__route mrd__routes[] = {
    {"GET", "/api/version", get_version},
    {"GET", "/api/traces", get_traces},
    {"POST", "/api/traces", post_traces},
    {"GET", "/api/traces/events", get_events},
    {"GET", "/api/traces/{trace_id}", get_trace},
    {"DELETE", "/api/traces/{trace_id}", delete_trace},
    {"GET", "/api/traces/{trace_id}/lanes", get_lanes},
    {"GET", "/api/traces/{trace_id}/clocks", get_clocks},
    {"GET", "/api/traces/{trace_id}/window", get_window},
    {"POST", "/api/traces/{trace_id}/window", get_window},
    {"GET", "/api/traces/{trace_id}/slices/{track}/{id}", get_slice},
    {"GET", "/api/traces/{trace_id}/trace", get_event_window},
    {"POST", "/api/traces/{trace_id}/trace", get_event_window},
    {"POST", "/api/query", mrd__post_query},
    {"GET", "/api/evaluation/comm-results", get_results},
    {"GET", "/api/evaluation/comm-results/{id}", get_result},
    {"DELETE", "/api/evaluation/comm-results/{id}", delete_result},
    {"GET", "/api/evaluation/comm-results/{id}/trace", get_result_trace},
    {"POST", "/api/evaluation/comm-results/{id}/trace", get_result_trace},
    {"GET", "/api/evaluation/compare", mrd__get_compare},
    {"GET", "/api/evaluation/experiments", mrd__get_experiments},
    {"POST", "/api/evaluation/experiments", mrd__post_experiment},
    {"GET", "/api/evaluation/experiments/{id}", mrd__get_experiment},
    {"DELETE", "/api/evaluation/experiments/{id}", mrd__delete_experiment},
    {"GET", "/api/evaluation/tasks", mrd__get_tasks},
    {"POST", "/api/evaluation/tasks", mrd__post_tasks},
    {"GET", "/api/evaluation/tasks/events", mrd__get_task_events},
    {"GET", "/api/evaluation/tasks/{id}", mrd__get_task},
    {"DELETE", "/api/evaluation/tasks/{id}", mrd__delete_task},
    {"GET", "/api/sessions", mrd__get_sessions},
    {"POST", "/api/sessions", mrd__post_session},
    {"GET", "/api/sessions/{id}", mrd__get_session},
    {"GET", "/api/sessions/{id}/report", mrd__get_session_report},
    {"GET", "/api/sessions/{id}/samples", mrd__get_session_samples},
    {"GET", "/api/sessions/{id}/raw/{sequence}", mrd__get_session_raw},
    {"GET", "/api/sessions/{id}/events", mrd__get_session_events},
    {"POST", "/api/sessions/{id}/stop", mrd__post_session_stop},
    {"GET", "/evaluation/comm-results", get_results},
    {"GET", "/evaluation/comm-results/{id}", get_result},
    {"DELETE", "/evaluation/comm-results/{id}", delete_result},
    {"GET", "/evaluation/comm-results/{id}/trace", get_result_trace},
    {"POST", "/evaluation/comm-results/{id}/trace", get_result_trace},
    {NULL, NULL, NULL},
};
