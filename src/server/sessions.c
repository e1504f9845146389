#include "server/sessions.h"

#include <string.h>

#include "base/alloc.h"
#include "server/body.h"
#include "server/context.h"
#include "server/limits.h"
#include "server/recordings.h"

/* ---- Which session ---- */

/* A folder's name: no path, nothing hidden. */
static bool is_name(mrd__str id)
{
    if (id.size == 0 || id.size > MRD__SERVER_SESSION_NAME || id.data[0] == '.') return false;
    for (size_t i = 0; i < id.size; i++) {
        unsigned char c = (unsigned char)id.data[i];
        if (c < 0x20 || c == '/' || c == 0x7f) return false;
    }
    return true;
}

static bool folder_of(const mrd__request *request, mrd__reply *reply, mrd__buf *path)
{
    const char *data = mrd__server_context_of(request->server)->data_dir;
    if (data == NULL) {
        mrd__reply_fail(reply, 404, "no_store", "this server has no data folder (--data DIR)");
        return false;
    }
    mrd__buf_printf(path, "%s/sessions", data);
    return true;
}

bool mrd__session_path(const mrd__request *request, mrd__reply *reply, mrd__buf *path)
{
    mrd__buf id = {0};
    mrd__str raw = request->captures[0];
    bool good = folder_of(request, reply, path);
    if (good && !(mrd__percent_decode(&id, raw) && is_name((mrd__str){id.data, id.size}))) {
        mrd__reply_fail(reply, 404, "no_session", "%.*s is no name of a session",
                        (int)(raw.size > 100 ? 100 : raw.size), raw.data);
        good = false;
    }
    if (good) mrd__buf_printf(path, "/%.*s", (int)id.size, id.data);
    mrd__buf_reset(&id);
    return good;
}

/* Questions that need nothing but the session's path. */
static void ask(mrd__request *request, mrd__reply *reply,
                mrd_status (*what)(const char *dir, const mrd_sink *sink, mrd_error *error))
{
    mrd__buf path = {0};
    mrd_error error = {0};
    if (mrd__session_path(request, reply, &path)) {
        mrd_sink sink = mrd__buf_sink(&reply->body);
        if (what(path.data, &sink, &error) != MRD_OK) mrd__reply_error(reply, &error);
    }
    mrd__buf_reset(&path);
}

void mrd__get_sessions(mrd__request *request, mrd__reply *reply)
{
    mrd__buf path = {0};
    mrd_error error = {0};
    if (folder_of(request, reply, &path)) {
        mrd_sink sink = mrd__buf_sink(&reply->body);
        if (mrd_session_list(path.data, &sink, &error) != MRD_OK)
            mrd__reply_error(reply, &error);
        else
            mrd__recordings_tell(mrd__server_context_of(request->server)->recordings, &reply->body);
    }
    mrd__buf_reset(&path);
}

void mrd__get_session(mrd__request *request, mrd__reply *reply)
{
    ask(request, reply, mrd_session_info);
}

/* ---- Parameters ---- */

/* One name=value of the query; false behind the last. */
static bool next_parameter(mrd__str *query, mrd__str *name, mrd__str *value)
{
    while (query->size > 0 && query->data[0] == '&') {
        query->data++;
        query->size--;
    }
    if (query->size == 0) return false;
    const char *and = memchr(query->data, '&', query->size);
    size_t size = and != NULL ? (size_t)(and-query->data) : query->size;
    const char *is = memchr(query->data, '=', size);
    *name = (mrd__str){query->data, is != NULL ? (size_t)(is - query->data) : size};
    *value = is != NULL ? (mrd__str){is + 1, size - name->size - 1} : (mrd__str){"", 0};
    query->data += size;
    query->size -= size;
    return true;
}

static mrd_status bad(mrd_error *error, mrd__str name, const mrd__buf *value, const char *allowed)
{
    return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter", "%.*s is \"%.*s\", allowed is %s",
                     (int)(name.size > 60 ? 60 : name.size), name.data,
                     (int)(value->size > 100 ? 100 : value->size),
                     value->data != NULL ? value->data : "", allowed);
}

static mrd_status read_form(const mrd__request *request, mrd_report_form *form, mrd__reply *reply,
                            mrd_error *error)
{
    static const struct {
        const char *name, *type;
        mrd_report_form form;
    } forms[] = {{"json", "application/json", MRD_REPORT_JSON},
                 {"html", "text/html; charset=utf-8", MRD_REPORT_HTML},
                 {"md", "text/markdown; charset=utf-8", MRD_REPORT_MARKDOWN},
                 {"text", "text/plain; charset=utf-8", MRD_REPORT_TEXT}};
    mrd__str query = request->query, name, value;
    mrd__buf given = {0};
    mrd__buf_text(&given, "json");
    mrd_status status = MRD_OK;
    while (status == MRD_OK && next_parameter(&query, &name, &value)) {
        mrd__buf_clear(&given);
        mrd__buf_text(&given, "");
        if (!mrd__str_is(name, "format") || !mrd__percent_decode(&given, value))
            status = bad(error, name, &given, "format=json, html, md or text");
    }
    size_t at = 0;
    while (at < 4 && strcmp(given.data, forms[at].name) != 0)
        at++;
    if (status == MRD_OK && at == 4)
        status = bad(error, MRD__STR("format"), &given, "json, html, md or text");
    if (status == MRD_OK) {
        *form = forms[at].form;
        reply->type = forms[at].type;
    }
    mrd__buf_reset(&given);
    return status;
}

void mrd__get_session_report(mrd__request *request, mrd__reply *reply)
{
    mrd__buf path = {0};
    mrd_error error = {0};
    mrd_report_form form = MRD_REPORT_JSON;
    if (mrd__session_path(request, reply, &path)) {
        mrd_sink sink = mrd__buf_sink(&reply->body);
        mrd_status status = read_form(request, &form, reply, &error);
        if (status == MRD_OK) status = mrd_session_report(path.data, form, &sink, &error);
        if (status != MRD_OK) mrd__reply_error(reply, &error);
    }
    mrd__buf_reset(&path);
}

/* ---- Samples ---- */

typedef struct sample_question {
    mrd_session_select select;
    MRD__VEC(const char *) metrics;
    mrd__arena texts;
    bool has_start, has_end;
} sample_question;

static void add_metrics(sample_question *q, mrd__str list)
{
    while (list.size > 0) {
        const char *comma = memchr(list.data, ',', list.size);
        size_t size = comma != NULL ? (size_t)(comma - list.data) : list.size;
        if (size > 0) mrd__vec_push(&q->metrics, mrd__arena_text(&q->texts, list.data, size));
        size += comma != NULL;
        list = (mrd__str){list.data + size, list.size - size};
    }
}

static mrd_status take_parameter(sample_question *q, mrd__str name, const mrd__buf *value,
                                 mrd_error *error)
{
    mrd__str text = {value->data, value->size};
    uint64_t buckets;
    if (mrd__str_is(name, "metrics")) {
        add_metrics(q, text);
        return MRD_OK;
    }
    if (mrd__str_is(name, "buckets")) {
        if (!mrd__parse_uint64(text, &buckets) || buckets > MRD_SESSION_BUCKETS_MAX)
            return bad(error, name, value, "a whole number up to 65536");
        q->select.buckets = (uint32_t)buckets;
        return MRD_OK;
    }
    bool start = mrd__str_is(name, "start_ns");
    if (!start && !mrd__str_is(name, "end_ns"))
        return bad(error, name, value, "metrics, start_ns, end_ns and buckets");
    if (!mrd__parse_int64(text, start ? &q->select.start_ns : &q->select.end_ns))
        return bad(error, name, value, "a whole number of ns");
    q->select.ranged = true;
    *(start ? &q->has_start : &q->has_end) = true;
    return MRD_OK;
}

static mrd_status read_samples_question(sample_question *q, mrd__str query, mrd_error *error)
{
    mrd__str name, value;
    mrd__buf decoded = {0};
    mrd_status status = MRD_OK;
    q->select.start_ns = INT64_MIN;
    q->select.end_ns = INT64_MAX;
    while (status == MRD_OK && next_parameter(&query, &name, &value)) {
        mrd__buf_clear(&decoded);
        mrd__buf_text(&decoded, "");
        status = mrd__percent_decode(&decoded, value)
                     ? take_parameter(q, name, &decoded, error)
                     : bad(error, name, &decoded, "percent-encoded text");
    }
    if (status == MRD_OK && q->has_start != q->has_end && q->select.buckets > 0)
        status = bad(error, MRD__STR("buckets"), &decoded,
                     "with both start_ns and end_ns, or with neither");
    if (status == MRD_OK && q->select.end_ns < q->select.start_ns)
        status = bad(error, MRD__STR("end_ns"), &decoded, "start_ns and later");
    mrd__buf_reset(&decoded);
    q->select.metrics = q->metrics.data;
    q->select.metric_count = q->metrics.count;
    return status;
}

void mrd__get_session_samples(mrd__request *request, mrd__reply *reply)
{
    mrd__buf path = {0};
    mrd_error error = {0};
    mrd_format format;
    sample_question q = {0};
    if (mrd__session_path(request, reply, &path) && mrd__http_negotiate(request, &format, reply)) {
        mrd__body_take(&reply->body);
        mrd_sink sink = mrd__buf_sink(&reply->body);
        mrd_status status = read_samples_question(&q, request->query, &error);
        if (status == MRD_OK)
            status = mrd_session_samples(path.data, &q.select, format, &sink, &error);
        if (status != MRD_OK) mrd__reply_error(reply, &error);
    }
    mrd__vec_reset(&q.metrics);
    mrd__arena_reset(&q.texts);
    mrd__buf_reset(&path);
}

/* ---- One raw event ---- */

void mrd__get_session_raw(mrd__request *request, mrd__reply *reply)
{
    mrd__buf path = {0};
    mrd_error error = {0};
    int64_t sequence;
    if (mrd__session_path(request, reply, &path)) {
        mrd_sink sink = mrd__buf_sink(&reply->body);
        if (!mrd__http_id(request->captures[1], &sequence))
            mrd__reply_fail(reply, 404, "no_such_sequence", "%.*s is no sequence",
                            (int)request->captures[1].size, request->captures[1].data);
        else if (mrd_session_raw(path.data, (uint64_t)sequence, MRD_FORMAT_JSON, &sink, &error) !=
                 MRD_OK)
            mrd__reply_error(reply, &error);
    }
    mrd__buf_reset(&path);
}

/* ---- The live view ---- */

void mrd__get_session_events(mrd__request *request, mrd__reply *reply)
{
    mrd__buf path = {0};
    mrd_error error = {0};
    if (mrd__session_path(request, reply, &path)) {
        if (mrd_session_follow_open(path.data, &reply->follow, &error) == MRD_OK) {
            reply->event_stream = true;
            reply->type = "text/event-stream";
        } else {
            mrd__reply_error(reply, &error);
        }
    }
    mrd__buf_reset(&path);
}

enum {
    LOOK_MS = 250 /* how soon a stopping server is noticed */
};

static void add_error(mrd__buf *out, const mrd_error *error)
{
    char text[1600];
    mrd__buf_text(out, "data: {\"type\":\"error\",\"code\":");
    mrd__buf_json_string(out, mrd__str_of(error->code));
    mrd__buf_text(out, ",\"message\":");
    mrd__buf_json_string(out, mrd__str_of(mrd_error_text(error, text, sizeof text)));
    mrd__buf_text(out, "}\n\n");
}

bool mrd__session_events(mrd_session_follow *follow, const atomic_bool *stopping,
                         unsigned timeout_ms, mrd__buf *out)
{
    mrd__buf lines = {0};
    mrd_sink sink = mrd__buf_sink(&lines);
    mrd_error error = {0};
    bool open = true;
    mrd_status status = MRD_OK;
    for (unsigned waited = 0; open && status == MRD_OK && lines.size == 0; waited += LOOK_MS) {
        if (waited >= timeout_ms || atomic_load(stopping)) break;
        status = mrd_session_follow_next(follow, LOOK_MS, &open, &sink, &error);
    }
    mrd__http_events(&lines, out);
    mrd__buf_reset(&lines);
    if (status != MRD_OK) add_error(out, &error);
    if (status != MRD_OK || atomic_load(stopping)) return out->size > 0;
    if (open && out->size == 0) mrd__buf_text(out, ": still here\n\n");
    return open || out->size > 0;
}
