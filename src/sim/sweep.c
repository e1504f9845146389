/* A sweep is a spec some of whose fields are lists; a run is one choice of each. */
#include "sim/sim.h"

#include "base/error.h"

#include <jansson.h>
#include <string.h>

/* What of a field is one value: `disturb` and `trace.categories` are lists by nature. */
static bool is_list_by_nature(const char *group, const char *key)
{
    if (strcmp(group, "") == 0)
        return strcmp(key, "disturb") == 0 || strcmp(key, "trace_categories") == 0;
    return strcmp(group, "trace") == 0 && strcmp(key, "categories") == 0;
}

static bool is_swept(const char *group, const char *key, const json_t *value)
{
    if (!json_is_array(value)) return false;
    if (!is_list_by_nature(group, key)) return true;
    return json_is_array(json_array_get(value, 0));
}

/* The first field that is a list of values: its object and key; NULL: none is left. */
static json_t *find_list(json_t *object, const char *group, const char **key)
{
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value)
    {
        if (is_swept(group, name, value)) {
            *key = name;
            return object;
        }
        if (*group || !json_is_object(value) || strcmp(name, "topology") == 0) continue;
        json_t *found = find_list(value, name, key);
        if (found) return found;
    }
    return NULL;
}

static mrd_status take(mrd__sim_sweep *sweep, const json_t *root, mrd_error *error)
{
    if (sweep->specs.count == MRD__SIM_MAX_SWEEP)
        return mrd__fail(error, MRD_ERR_LIMIT, "sweep_size",
                         "the sweep has more than %d runs, the most allowed", MRD__SIM_MAX_SWEEP);
    char *text = json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(17));
    mrd__sim_spec spec;
    mrd_status status = mrd__sim_spec_parse(&spec, text, strlen(text), error);
    if (status == MRD_OK) {
        mrd__buf whole = {0};
        mrd__sim_spec_json(&spec, &whole);
        mrd__vec_push(&sweep->specs, whole.data);
        mrd__sim_spec_reset(&spec);
    }
    json_free_t json_free;
    json_get_alloc_funcs(NULL, &json_free);
    json_free(text);
    return status;
}

static mrd_status expand(mrd__sim_sweep *sweep, json_t *root, mrd_error *error)
{
    const char *key;
    json_t *object = find_list(root, "", &key);
    if (!object) return take(sweep, root, error);
    char name[64];
    if (strlen(key) >= sizeof name)
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_spec", "%.96s: unknown field", key);
    memcpy(name, key, strlen(key) + 1); /* key goes with the value it belongs to */
    json_t *list = json_incref(json_object_get(object, name));
    mrd_status status = MRD_OK;
    if (json_array_size(list) == 0)
        status = mrd__fail(error, MRD_ERR_ARGUMENT, "bad_spec",
                           "%s: [], allowed: a value or a list of values", name);
    for (size_t i = 0; i < json_array_size(list) && status == MRD_OK; i++) {
        json_t *value = json_array_get(list, i);
        if (json_is_array(value) && !is_list_by_nature("", name) &&
            strcmp(name, "categories") != 0) {
            status = mrd__fail(error, MRD_ERR_ARGUMENT, "bad_spec", "%s: a list in a list", name);
            break;
        }
        json_object_set(object, name, value);
        status = expand(sweep, root, error);
    }
    json_object_set(object, name, list);
    json_decref(list);
    return status;
}

mrd_status mrd__sim_sweep_expand(mrd__sim_sweep *sweep, const char *json, size_t size,
                                 mrd_error *error)
{
    json_error_t where;
    *sweep = (mrd__sim_sweep){0};
    json_t *root = json_loadb(json, size, JSON_REJECT_DUPLICATES, &where);
    if (!root)
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_spec",
                         "no JSON: %s, line %d, column %d, byte %d", where.text, where.line,
                         where.column, where.position);
    mrd_status status = json_is_object(root) ? expand(sweep, root, error)
                                             : mrd__fail(error, MRD_ERR_ARGUMENT, "bad_spec",
                                                         "the spec is no JSON object");
    json_decref(root);
    if (status != MRD_OK) mrd__sim_sweep_reset(sweep);
    return status;
}

void mrd__sim_sweep_reset(mrd__sim_sweep *sweep)
{
    for (size_t i = 0; i < sweep->specs.count; i++)
        mrd__free(sweep->specs.data[i]);
    mrd__vec_reset(&sweep->specs);
}
