/* meridian.h, Tasks. */
#include "api/results.h"

#include <jansson.h>
#include <string.h>

static mrd_status bad_request(mrd_error *error, const char *what)
{
    return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter",
                     "%s, allowed is {\"experiment\": name or id, \"spec\": {...}}", what);
}

static mrd_status check_request(const json_t *root, mrd_error *error)
{
    const char *key;
    json_t *value;
    if (!json_is_object(root)) return bad_request(error, "the body is not a JSON object");
    json_object_foreach((json_t *)root, key, value)
    {
        if (strcmp(key, "experiment") != 0 && strcmp(key, "spec") != 0)
            return bad_request(error, "the body has another member");
    }
    const json_t *experiment = json_object_get(root, "experiment");
    if (experiment && !json_is_string(experiment) &&
        (!json_is_integer(experiment) || json_integer_value(experiment) < 1))
        return bad_request(error, "experiment is neither a name nor an id");
    if (!json_is_object(json_object_get(root, "spec")))
        return bad_request(error, "spec is not an object");
    return MRD_OK;
}

static mrd_status submit(mrd_results *results, const json_t *root, mrd__buf *out, mrd_error *error)
{
    MRD__TRY(check_request(root, error));
    const json_t *experiment = json_object_get(root, "experiment");
    json_malloc_t allocate;
    json_free_t release;
    json_get_alloc_funcs(&allocate, &release);
    char *spec = json_dumps(json_object_get(root, "spec"), JSON_COMPACT | JSON_REAL_PRECISION(17));
    mrd__buf_text(out, "{\"task_ids\":[");
    mrd_status status =
        mrd__tasks_submit(results->store, json_string_value(experiment),
                          json_integer_value(experiment), spec, strlen(spec), out, error);
    mrd__buf_text(out, "]}\n");
    release(spec);
    return status;
}

mrd_status mrd_tasks_submit(mrd_results *results, const char *json, size_t size,
                            const mrd_sink *sink, mrd_error *error)
{
    json_error_t where;
    mrd__buf out = {0};
    json_t *root = json_loadb(json, size, JSON_REJECT_DUPLICATES, &where);
    if (!root)
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter",
                         "no JSON: %s, line %d, column %d, byte %d", where.text, where.line,
                         where.column, where.position);
    mrd_status status = submit(results, root, &out, error);
    if (status == MRD_OK) status = mrd__buf_flush(&out, sink, error);
    mrd__buf_reset(&out);
    json_decref(root);
    return status;
}

mrd_status mrd_tasks_list(mrd_results *results, const mrd_params *params, const mrd_sink *sink,
                          mrd_error *error)
{
    mrd__fields list = {0};
    mrd_status status = mrd__fields_of(params, &list, error);
    if (status == MRD_OK)
        status = mrd__tasks_list(results->store, list.items.data, list.items.count, sink, error);
    mrd__fields_reset(&list);
    return status;
}

mrd_status mrd_tasks_show(mrd_results *results, const char *id, const mrd_sink *sink,
                          mrd_error *error)
{
    return mrd__tasks_show(results->store, id, sink, error);
}

mrd_status mrd_tasks_cancel(mrd_results *results, const char *id, mrd_error *error)
{
    return mrd__tasks_cancel(results->store, id, error);
}

mrd_status mrd_tasks_changes(mrd_results *results, uint64_t *version, unsigned timeout_ms,
                             bool *open, const mrd_sink *sink, mrd_error *error)
{
    mrd__buf out = {0};
    *open = mrd__tasks_changes(results->store, version, timeout_ms, &out);
    mrd_status status = mrd__buf_flush(&out, sink, error);
    mrd__buf_reset(&out);
    return status;
}

mrd_status mrd_tasks_start(mrd_results *results, uint32_t threads, mrd_error *error)
{
    return mrd__tasks_start(results->store, threads, error);
}

void mrd_tasks_stop(mrd_results *results)
{
    mrd__tasks_stop(results->store);
}
