#include "server/evaluation.h"

#include <jansson.h>
#include <string.h>

#include "base/alloc.h"
#include "server/context.h"

bool mrd__evaluation_store(const mrd__request *request, mrd__reply *reply, mrd_results **out)
{
    *out = mrd__server_context_of(request->server)->results;
    if (!*out)
        mrd__reply_fail(reply, 404, "no_store", "this server has no data folder (--data DIR)");
    return *out != NULL;
}

static void finish(mrd__reply *reply, mrd_status status, const mrd_error *error)
{
    if (status != MRD_OK) mrd__reply_error(reply, error);
}

/* ---- Experiments ---- */

static bool experiment_id(const mrd__request *request, mrd__reply *reply, int64_t *id)
{
    if (mrd__http_id(request->captures[0], id)) return true;
    mrd__reply_fail(reply, 404, "no_such_experiment", "%.*s is no experiment id",
                    (int)request->captures[0].size, request->captures[0].data);
    return false;
}

void mrd__get_experiments(mrd__request *request, mrd__reply *reply)
{
    mrd_results *results;
    mrd_error error = {0};
    if (!mrd__evaluation_store(request, reply, &results)) return;
    mrd_sink sink = mrd__buf_sink(&reply->body);
    finish(reply, mrd_experiment_show(results, 0, &sink, &error), &error);
}

void mrd__get_experiment(mrd__request *request, mrd__reply *reply)
{
    mrd_results *results;
    int64_t id;
    mrd_error error = {0};
    if (!mrd__evaluation_store(request, reply, &results) || !experiment_id(request, reply, &id))
        return;
    mrd_sink sink = mrd__buf_sink(&reply->body);
    finish(reply, mrd_experiment_show(results, id, &sink, &error), &error);
}

/* {"name": s, "description": s|null}; strings are owned by the document. */
static mrd_status read_experiment(const json_t *root, const char **name, const char **description,
                                  mrd_error *error)
{
    const char *key;
    json_t *value;
    const json_t *text = json_object_get(root, "description");
    json_object_foreach((json_t *)root, key, value)
    {
        if (strcmp(key, "name") != 0 && strcmp(key, "description") != 0)
            return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter",
                             "member %.100s is unknown, allowed are name and description", key);
    }
    *name = json_string_value(json_object_get(root, "name"));
    *description = json_string_value(text);
    if (*name && (!text || json_is_null(text) || *description)) return MRD_OK;
    return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter",
                     "allowed is {\"name\": text, \"description\": text}");
}

void mrd__post_experiment(mrd__request *request, mrd__reply *reply)
{
    mrd_results *results;
    mrd_error error = {0};
    const char *name = NULL, *description = NULL;
    int64_t id = 0;
    if (!mrd__evaluation_store(request, reply, &results)) return;
    json_t *root = json_loadb(request->body.data ? request->body.data : "", request->body.size,
                              JSON_REJECT_DUPLICATES, NULL);
    mrd_status status = read_experiment(root, &name, &description, &error);
    if (status == MRD_OK) status = mrd_experiment_add(results, name, description, &id, &error);
    if (status == MRD_OK) {
        mrd_sink sink = mrd__buf_sink(&reply->body);
        reply->status = 201;
        status = mrd_experiment_show(results, id, &sink, &error);
    }
    json_decref(root);
    finish(reply, status, &error);
}

void mrd__delete_experiment(mrd__request *request, mrd__reply *reply)
{
    mrd_results *results;
    int64_t id;
    uint64_t removed = 0;
    mrd_error error = {0};
    if (!mrd__evaluation_store(request, reply, &results) || !experiment_id(request, reply, &id))
        return;
    mrd_status status = mrd_experiment_remove(results, id, &removed, &error);
    if (status == MRD_OK)
        mrd__buf_printf(&reply->body, "{\"id\":%lld,\"removed\":%llu}", (long long)id,
                        (unsigned long long)removed);
    finish(reply, status, &error);
}

/* ---- Comparison and lists: parameters in, JSON out ---- */

typedef mrd_status (*question)(mrd_results *results, const mrd_params *params, const mrd_sink *sink,
                               mrd_error *error);

static void ask(mrd__request *request, mrd__reply *reply, question what)
{
    mrd_results *results;
    mrd_params *params = NULL;
    mrd_error error = {0};
    if (!mrd__evaluation_store(request, reply, &results)) return;
    mrd_sink sink = mrd__buf_sink(&reply->body);
    mrd_status status = mrd__http_params(request, &params, &error);
    if (status == MRD_OK) status = what(results, params, &sink, &error);
    mrd_params_destroy(&params);
    finish(reply, status, &error);
}

void mrd__get_compare(mrd__request *request, mrd__reply *reply)
{
    ask(request, reply, mrd_results_compare);
}

void mrd__get_tasks(mrd__request *request, mrd__reply *reply)
{
    ask(request, reply, mrd_tasks_list);
}

/* ---- Tasks ---- */

void mrd__post_tasks(mrd__request *request, mrd__reply *reply)
{
    mrd_results *results;
    mrd_error error = {0};
    if (!mrd__evaluation_store(request, reply, &results)) return;
    mrd_sink sink = mrd__buf_sink(&reply->body);
    const char *body = request->body.data ? request->body.data : "";
    mrd_status status = mrd_tasks_submit(results, body, request->body.size, &sink, &error);
    reply->status = 202;
    finish(reply, status, &error);
}

/* The id of the path; one that is longer than any is cut, and then is none. */
static void task_id(const mrd__request *request, char out[64])
{
    mrd__str id = request->captures[0];
    size_t size = id.size < 63 ? id.size : 63;
    memcpy(out, id.data, size);
    out[size] = '\0';
}

void mrd__get_task(mrd__request *request, mrd__reply *reply)
{
    mrd_results *results;
    char id[64];
    mrd_error error = {0};
    if (!mrd__evaluation_store(request, reply, &results)) return;
    task_id(request, id);
    mrd_sink sink = mrd__buf_sink(&reply->body);
    finish(reply, mrd_tasks_show(results, id, &sink, &error), &error);
}

void mrd__delete_task(mrd__request *request, mrd__reply *reply)
{
    mrd_results *results;
    char id[64];
    mrd_error error = {0};
    if (!mrd__evaluation_store(request, reply, &results)) return;
    task_id(request, id);
    mrd_status status = mrd_tasks_cancel(results, id, &error);
    mrd_sink sink = mrd__buf_sink(&reply->body);
    if (status == MRD_OK) status = mrd_tasks_show(results, id, &sink, &error);
    finish(reply, status, &error);
}

void mrd__get_task_events(mrd__request *request, mrd__reply *reply)
{
    mrd_results *results;
    if (!mrd__evaluation_store(request, reply, &results)) return;
    reply->event_stream = reply->task_stream = true;
    reply->type = "text/event-stream";
}

bool mrd__evaluation_events(mrd_results *results, uint64_t *version, unsigned timeout_ms,
                            mrd__buf *out)
{
    mrd__buf lines = {0};
    mrd_sink sink = mrd__buf_sink(&lines);
    bool open = true;
    if (mrd_tasks_changes(results, version, timeout_ms, &open, &sink, NULL) != MRD_OK) open = false;
    mrd__http_events(&lines, out);
    mrd__buf_reset(&lines);
    if (open && out->size == 0) mrd__buf_text(out, ": still here\n\n");
    return open;
}
