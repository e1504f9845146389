/* POST /api/query?trace=N {"sql": "...", "format": "arrow"|"json"|"csv"}: the answer streams. What
 * goes wrong before its first byte is an error reply; later the stream ends without its end
 * marker. */
#include "server/query.h"

#include <jansson.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "server/context.h"
#include "server/limits.h"

/* Statements that run or whose answers still go out. */
static atomic_uint running;

/* A statement with the trace it asks. */
typedef struct asking {
    mrd__traces *traces;
    mrd__trace_slot *slot;
    mrd_query *query;
} asking;

static void close_asking(void *ctx)
{
    asking *a = ctx;
    mrd_query_finish(&a->query);
    if (a->slot != NULL) mrd__traces_release(a->traces, a->slot);
    mrd__free(a);
    atomic_fetch_sub(&running, 1);
}

static mrd_status next_piece(void *ctx, mrd__buf *out, bool *more)
{
    asking *a = ctx;
    mrd_sink sink = mrd__buf_sink(out);
    mrd_error error = {0};
    return mrd_query_step(a->query, &sink, more, &error);
}

/* ---- What is asked ---- */

static const struct format {
    const char *name, *type;
    mrd_format format;
} formats[] = {
    {"arrow", MRD__ARROW_TYPE, MRD_FORMAT_ARROW},
    {"json", "application/x-ndjson", MRD_FORMAT_JSON},
    {"csv", "text/csv; charset=utf-8", MRD_FORMAT_CSV},
};

static mrd_status bad_body(mrd_error *error, const char *what)
{
    return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter",
                     "%s, allowed is {\"sql\": \"...\", \"format\": \"arrow\", \"json\" or "
                     "\"csv\"}",
                     what);
}

static mrd_status read_members(const json_t *body, const json_t **sql, const struct format **format,
                               mrd_error *error)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)body, key, value)
    {
        const char *word = json_string_value(value);
        if (word == NULL) return bad_body(error, "a member is not a string");
        if (strcmp(key, "sql") == 0) {
            *sql = value;
        } else if (strcmp(key, "format") == 0) {
            const struct format *found = NULL;
            for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
                if (strcmp(word, formats[i].name) == 0) found = &formats[i];
            }
            if (found == NULL) return bad_body(error, "the format is unknown");
            *format = found;
        } else {
            return bad_body(error, "a member is unknown");
        }
    }
    return *sql != NULL ? MRD_OK : bad_body(error, "sql is missing");
}

/* Ids of the open traces as text: "1 (a.json), 2 (b.json and 3 more)". */
static size_t list_traces(mrd__traces *traces, int64_t *only, mrd__buf *out)
{
    mrd__buf text = {0};
    mrd__traces_list(traces, &text);
    json_t *document = json_loadb(text.data, text.size, 0, NULL);
    const json_t *all = json_object_get(document, "traces");
    size_t count = json_array_size(all);
    for (size_t i = 0; i < count; i++) {
        const json_t *one = json_array_get(all, i);
        const json_t *files = json_object_get(one, "files");
        const char *path = json_string_value(json_object_get(json_array_get(files, 0), "path"));
        *only = json_integer_value(json_object_get(one, "trace_id"));
        mrd__buf_printf(out, "%s%lld (%.200s", i > 0 ? ", " : "", (long long)*only,
                        path != NULL ? path : "?");
        if (json_array_size(files) > 1)
            mrd__buf_printf(out, " and %zu more", json_array_size(files) - 1);
        mrd__buf_char(out, ')');
    }
    json_decref(document);
    mrd__buf_reset(&text);
    return count;
}

/* `trace` of the query string; it may be absent while one trace is open. */
static mrd_status find_trace(const mrd__request *request, mrd__traces *traces, int64_t *id,
                             mrd_error *error)
{
    mrd__str query = request->query;
    if (query.size > 6 && memcmp(query.data, "trace=", 6) == 0) {
        mrd__str value = {query.data + 6, query.size - 6};
        if (mrd__http_id(value, id)) return MRD_OK;
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter", "%.*s is no trace id",
                         (int)(value.size > 100 ? 100 : value.size), value.data);
    }
    if (query.size > 0)
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter", "allowed is ?trace=ID alone");
    mrd__buf list = {0};
    size_t count = list_traces(traces, id, &list);
    mrd_status status = MRD_OK;
    if (count == 0)
        status = mrd__fail(error, MRD_ERR_NOT_FOUND, "no_such_trace", "no trace is open");
    else if (count > 1)
        status = mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter",
                           "which trace? open are %s; add ?trace=ID", list.data);
    mrd__buf_reset(&list);
    return status;
}

/* ---- The answer ---- */

static mrd_status start(asking *a, const mrd__request *request, const json_t *body,
                        mrd__reply *reply, bool *more, mrd_error *error)
{
    const json_t *sql = NULL;
    const struct format *format = &formats[0];
    mrd_query_options options = {.time_ms = MRD__SERVER_QUERY_MS};
    int64_t id = 0;
    if (!json_is_object(body)) return bad_body(error, "the body is not a JSON object");
    MRD__TRY(read_members(body, &sql, &format, error));
    MRD__TRY(find_trace(request, a->traces, &id, error));
    MRD__TRY(mrd__traces_acquire(a->traces, id, &a->slot, error));
    MRD__TRY(mrd_query_start(mrd__trace_slot_trace(a->slot), json_string_value(sql),
                             json_string_length(sql), format->format, &options, &a->query, error));
    mrd_sink sink = mrd__buf_sink(&reply->body);
    reply->type = format->type;
    return mrd_query_step(a->query, &sink, more, error);
}

/* A wrong statement says where; one that was too much is the asker's matter too. */
static void reply_error(mrd__reply *reply, const mrd_error *error)
{
    mrd__reply_error(reply, error);
    if (strncmp(error->code, "sql_", 4) == 0) reply->status = 400;
    if (strcmp(error->code, "bad_sql") != 0 || error->offset < 0) return;
    reply->body.size -= 2;
    mrd__buf_printf(&reply->body, ",\"position\":%lld}}", (long long)error->offset);
}

void mrd__post_query(mrd__request *request, mrd__reply *reply)
{
    if (atomic_fetch_add(&running, 1) >= MRD__SERVER_QUERIES) {
        atomic_fetch_sub(&running, 1);
        mrd__reply_fail(reply, 503, "busy", "%d statements are running, the limit; ask again",
                        MRD__SERVER_QUERIES);
        return;
    }
    asking *a = mrd__new(asking);
    a->traces = mrd__server_context_of(request->server)->traces;
    mrd_error error = {.offset = -1};
    bool more = false;
    json_t *body =
        request->body.size > 0 ? json_loadb(request->body.data, request->body.size, 0, NULL) : NULL;
    mrd_status status = start(a, request, body, reply, &more, &error);
    json_decref(body);
    if (status == MRD_OK && more) {
        reply->pull = (mrd__pull){a, next_piece, close_asking};
        return;
    }
    if (status != MRD_OK) reply_error(reply, &error);
    close_asking(a);
}
