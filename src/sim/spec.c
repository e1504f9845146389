/* Reading a JSON spec. Scalars by the table of params.c, the lists and the graph by hand. */
#include "sim/topology.h"

#include "base/error.h"
#include "events/category.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

/* The value as JSON text, cut to fit a message. */
static void show(const json_t *value, char *out, size_t size)
{
    size_t flags = JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS;
    size_t length = json_dumpb(value, out, size - 1, flags);
    out[length < size ? length : size - 1] = '\0';
}

static mrd_status bad(mrd_error *error, const char *path, const json_t *value, const char *allowed)
{
    char text[128];
    show(value, text, sizeof text);
    return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_spec", "%s: %s, allowed: %s", path, text,
                     allowed);
}

static bool number_of(const json_t *value, double *out)
{
    if (!json_is_number(value)) return false;
    *out = json_number_value(value);
    return isfinite(*out);
}

static mrd_status read_choice(int64_t *out, const mrd__sim_param *p, const json_t *value,
                              mrd_error *error)
{
    mrd__buf allowed = {0};
    for (int i = 0; p->choices[i]; i++) {
        if (json_is_string(value) && strcmp(json_string_value(value), p->choices[i]) == 0) {
            mrd__buf_reset(&allowed);
            *out = i;
            return MRD_OK;
        }
        mrd__buf_printf(&allowed, "%s%s", i ? ", " : "one of ", p->choices[i]);
    }
    mrd_status status = bad(error, p->path, value, allowed.data);
    mrd__buf_reset(&allowed);
    return status;
}

static mrd_status read_param(mrd__sim_spec *spec, const mrd__sim_param *p, const json_t *value,
                             mrd_error *error)
{
    char *field = (char *)spec + p->offset;
    double number = 0;
    if (p->type == 'c') return read_choice((int64_t *)(void *)field, p, value, error);
    if (p->type == 'b') {
        if (!json_is_boolean(value)) return bad(error, p->path, value, "true or false");
        *(int64_t *)(void *)field = json_is_true(value);
        return MRD_OK;
    }
    bool whole = p->type == 'i';
    if (number_of(value, &number) && number >= p->min && number <= p->max &&
        (!whole || floor(number) == number)) {
        if (whole)
            *(int64_t *)(void *)field = (int64_t)number;
        else
            *(double *)(void *)field = number;
        return MRD_OK;
    }
    mrd__buf allowed = {0};
    mrd__buf_text(&allowed, whole ? "a whole number " : "a number ");
    mrd__buf_double(&allowed, p->min);
    mrd__buf_text(&allowed, " to ");
    mrd__buf_double(&allowed, p->max);
    if (*p->unit) mrd__buf_printf(&allowed, " %s", p->unit);
    mrd_status status = bad(error, p->path, value, allowed.data);
    mrd__buf_reset(&allowed);
    return status;
}

/* Category groups of the spec: link, ostd, thread, hop. */
static mrd_status read_categories(mrd__sim_spec *spec, const char *path, const json_t *list,
                                  mrd_error *error)
{
    static const struct {
        const char *name;
        uint32_t bits;
    } groups[] = {
        {"link", 1u << MRD__EV_LINK_BUSY | 1u << MRD__EV_LINK_IDLE},
        {"ostd", 1u << MRD__EV_OSTD_CHANGE},
        {"thread", 1u << MRD__EV_THREAD_BLOCKED | 1u << MRD__EV_THREAD_UNBLOCKED},
        {"hop", 1u << MRD__EV_HOP_ARRIVE},
    };
    if (!json_is_array(list)) return bad(error, path, list, "a list of link, ostd, thread, hop");
    spec->trace_categories = 0;
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
    {
        uint32_t bits = 0;
        for (size_t g = 0; g < 4; g++)
            if (json_is_string(item) && strcmp(json_string_value(item), groups[g].name) == 0)
                bits = groups[g].bits;
        if (!bits) return bad(error, path, item, "link, ostd, thread, hop");
        spec->trace_categories |= bits;
    }
    return MRD_OK;
}

static bool name_fits(const json_t *value)
{
    if (!json_is_string(value)) return false;
    const char *text = json_string_value(value);
    size_t size = strlen(text);
    if (size < 1 || size >= MRD__SIM_NAME) return false;
    return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-") == size;
}
#define NAME_ALLOWED "a name of 1 to 32 of A-Z a-z 0-9 . -"

/* The number under key in object, within min..max; absent: initial. */
static mrd_status read_field(const json_t *object, const char *at, const char *key, double initial,
                             double min, double max, double *out, mrd_error *error)
{
    const json_t *value = json_object_get(object, key);
    *out = initial;
    if (!value) return MRD_OK;
    if (number_of(value, out) && *out >= min && *out <= max) return MRD_OK;
    mrd__buf path = {0}, allowed = {0};
    mrd__buf_printf(&path, "%s.%s", at, key);
    mrd__buf_text(&allowed, "a number ");
    mrd__buf_double(&allowed, min);
    mrd__buf_text(&allowed, " to ");
    mrd__buf_double(&allowed, max);
    mrd_status status = bad(error, path.data, value, allowed.data);
    mrd__buf_reset(&path);
    mrd__buf_reset(&allowed);
    return status;
}

/* Every key of object must be one of the NULL-ended list. */
static mrd_status only_keys(const json_t *object, const char *at, const char *const *keys,
                            mrd_error *error)
{
    const char *key;
    json_t *value;
    mrd__buf list = {0};
    for (size_t i = 0; keys[i]; i++)
        mrd__buf_printf(&list, "%s%s", i ? ", " : "", keys[i]);
    mrd_status status = MRD_OK;
    json_object_foreach((json_t *)object, key, value)
    {
        bool known = false;
        for (size_t i = 0; keys[i]; i++)
            known |= strcmp(key, keys[i]) == 0;
        if (!known && status == MRD_OK)
            status = mrd__fail(error, MRD_ERR_ARGUMENT, "bad_spec",
                               "%s: unknown field \"%.64s\", allowed: %s", at, key, list.data);
    }
    mrd__buf_reset(&list);
    return status;
}

static mrd_status read_disturb_link(mrd__sim_disturb *d, const json_t *item, const char *at,
                                    mrd_error *error)
{
    static const char *const keys[] = {"link", "bandwidth_factor", "extra_latency_ns", "error_rate",
                                       NULL};
    const json_t *ends = json_object_get(item, "link");
    MRD__TRY(only_keys(item, at, keys, error));
    if (json_array_size(ends) != 2 || !name_fits(json_array_get(ends, 0)) ||
        !name_fits(json_array_get(ends, 1)))
        return bad(error, at, item, "link: [from, to], two names of nodes");
    const char *from = json_string_value(json_array_get(ends, 0));
    const char *to = json_string_value(json_array_get(ends, 1));
    memcpy(d->from, from, strlen(from) + 1);
    memcpy(d->to, to, strlen(to) + 1);
    d->is_link = true;
    d->has_error_rate = json_object_get(item, "error_rate") != NULL;
    MRD__TRY(read_field(item, at, "bandwidth_factor", 1, 0.001, 1000, &d->bandwidth_factor, error));
    MRD__TRY(read_field(item, at, "extra_latency_ns", 0, 0, 1e9, &d->extra_latency_ns, error));
    return read_field(item, at, "error_rate", 0, 0, 0.9, &d->error_rate, error);
}

static mrd_status read_disturb_chip(mrd__sim_disturb *d, const json_t *item, const char *at,
                                    mrd_error *error)
{
    static const char *const keys[] = {"chip", "slow", "start_delay_ns", NULL};
    double chip;
    MRD__TRY(only_keys(item, at, keys, error));
    MRD__TRY(read_field(item, at, "chip", 0, 0, MRD__SIM_MAX_NODES, &chip, error));
    if (floor(chip) != chip) return bad(error, at, item, "chip: a whole number");
    d->chip = (int64_t)chip;
    MRD__TRY(read_field(item, at, "slow", 1, 1, 1000, &d->slow, error));
    return read_field(item, at, "start_delay_ns", 0, 0, 1e9, &d->start_delay_ns, error);
}

static mrd_status read_disturb(mrd__sim_spec *spec, const json_t *list, mrd_error *error)
{
    if (!json_is_array(list)) return bad(error, "disturb", list, "a list of objects");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        mrd__sim_disturb d = {.slow = 1, .bandwidth_factor = 1};
        mrd__buf at = {0};
        mrd__buf_printf(&at, "disturb[%zu]", i);
        mrd_status status;
        if (json_object_get(item, "link"))
            status = read_disturb_link(&d, item, at.data, error);
        else if (json_object_get(item, "chip"))
            status = read_disturb_chip(&d, item, at.data, error);
        else
            status = bad(error, at.data, item, "an object with chip or link");
        mrd__buf_reset(&at);
        MRD__TRY(status);
        mrd__vec_push(&spec->disturb, d);
    }
    return MRD_OK;
}

static mrd_status find_end(const mrd__sim_spec *spec, const json_t *link, const char *at,
                           const char *key, uint32_t *out, mrd_error *error)
{
    const json_t *name = json_object_get(link, key);
    if (json_is_string(name))
        for (size_t i = 0; i < spec->nodes.count; i++)
            if (strcmp(spec->nodes.data[i], json_string_value(name)) == 0) {
                *out = (uint32_t)i;
                return MRD_OK;
            }
    mrd__buf path = {0};
    mrd__buf_printf(&path, "%s.%s", at, key);
    mrd_status status =
        bad(error, path.data, name ? name : json_null(), "a name of topology.nodes");
    mrd__buf_reset(&path);
    return status;
}

static mrd_status read_edge(mrd__sim_spec *spec, const json_t *link, const char *at, bool duplex,
                            mrd_error *error)
{
    static const char *const keys[] = {"from", "to", "bandwidth_gb_per_s", "latency_ns", NULL};
    mrd__sim_edge edge = {0};
    if (!json_is_object(link)) return bad(error, at, link, "an object with from and to");
    MRD__TRY(only_keys(link, at, keys, error));
    MRD__TRY(find_end(spec, link, at, "from", &edge.from, error));
    MRD__TRY(find_end(spec, link, at, "to", &edge.to, error));
    if (edge.from == edge.to) return bad(error, at, link, "two different nodes");
    MRD__TRY(read_field(link, at, "bandwidth_gb_per_s", NAN, 0.001, 1e6, &edge.bandwidth_gb_per_s,
                        error));
    MRD__TRY(read_field(link, at, "latency_ns", NAN, 0, 1e9, &edge.latency_ns, error));
    for (int way = 0; way < (duplex ? 2 : 1); way++) {
        for (size_t i = 0; i < spec->edges.count; i++)
            if (spec->edges.data[i].from == edge.from && spec->edges.data[i].to == edge.to)
                return bad(error, at, link, "one link from a node to another");
        mrd__vec_push(&spec->edges, edge);
        uint32_t from = edge.from;
        edge.from = edge.to;
        edge.to = from;
    }
    return MRD_OK;
}

static mrd_status read_nodes(mrd__sim_spec *spec, const json_t *nodes, mrd_error *error)
{
    size_t count = json_array_size(nodes);
    if (count < 2 || count > MRD__SIM_MAX_NODES)
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_spec",
                         "topology.nodes: %zu nodes, allowed: a list of 2 to %d names", count,
                         MRD__SIM_MAX_NODES);
    for (size_t i = 0; i < count; i++) {
        const json_t *name = json_array_get(nodes, i);
        if (!name_fits(name)) return bad(error, "topology.nodes", name, NAME_ALLOWED);
        const char *text = json_string_value(name);
        for (size_t j = 0; j < i; j++)
            if (strcmp(spec->nodes.data[j], text) == 0)
                return bad(error, "topology.nodes", name, "each name once");
        size_t size = strlen(text);
#ifdef MRD_PLANTED_BUGS /* the fuzzer of specs must find what lies behind a name */
        if (text[0] >= '0' && text[0] <= '9') size += MRD__SIM_NAME;
#endif
        mrd__vec_push(&spec->nodes, mrd__strndup(text, size));
    }
    return MRD_OK;
}

#define GRAPH_LINKS_MAX 16384 /* each is compared with all before it */

static mrd_status read_graph(mrd__sim_spec *spec, const json_t *graph, mrd_error *error)
{
    static const char *const keys[] = {"name", "nodes", "links", "duplex", NULL};
    const json_t *name = json_object_get(graph, "name"), *links = json_object_get(graph, "links");
    const json_t *duplex = json_object_get(graph, "duplex");
    MRD__TRY(only_keys(graph, "topology", keys, error));
    if (!name_fits(name))
        return bad(error, "topology.name", name ? name : json_null(), NAME_ALLOWED);
    memcpy(spec->topology, json_string_value(name), strlen(json_string_value(name)) + 1);
    spec->is_graph = true;
    MRD__TRY(read_nodes(spec, json_object_get(graph, "nodes"), error));
    if (duplex && !json_is_boolean(duplex))
        return bad(error, "topology.duplex", duplex, "true or false");
    if (json_array_size(links) < 1 || json_array_size(links) > GRAPH_LINKS_MAX)
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_spec",
                         "topology.links: %zu links, allowed: a list of 1 to %d",
                         json_array_size(links), GRAPH_LINKS_MAX);
    for (size_t i = 0; i < json_array_size(links); i++) {
        mrd__buf at = {0};
        mrd__buf_printf(&at, "topology.links[%zu]", i);
        mrd_status status =
            read_edge(spec, json_array_get(links, i), at.data, !json_is_false(duplex), error);
        mrd__buf_reset(&at);
        MRD__TRY(status);
    }
    return MRD_OK;
}

static mrd_status read_topology(mrd__sim_spec *spec, const json_t *value, mrd_error *error)
{
    if (json_is_object(value)) return read_graph(spec, value, error);
    const char *name = json_is_string(value) ? json_string_value(value) : NULL;
    if (!name || strlen(name) >= sizeof spec->topology)
        return bad(error, "topology", value, "a name or a graph {name, nodes, links}");
    for (size_t i = 0; i <= strlen(name); i++)
        spec->topology[i] =
            name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] + 'a' - 'A') : name[i];
    return MRD_OK;
}

static const mrd__sim_param *find_param(const char *path)
{
    size_t count;
    const mrd__sim_param *params = mrd__sim_params(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(params[i].path, path) == 0) return &params[i];
    return NULL;
}

static mrd_status read_object(mrd__sim_spec *spec, const json_t *object, const char *prefix,
                              mrd_error *error);

static mrd_status read_one(mrd__sim_spec *spec, const char *path, const json_t *value,
                           mrd_error *error)
{
    static const char *const groups[] = {"link", "switch", "cdma", "compute", "trace"};
    const mrd__sim_param *param = find_param(path);
    if (param) return read_param(spec, param, value, error);
    if (strcmp(path, "topology") == 0) return read_topology(spec, value, error);
    if (strcmp(path, "disturb") == 0) return read_disturb(spec, value, error);
    if (strcmp(path, "trace_enabled") == 0)
        return read_param(spec, find_param("trace.enabled"), value, error);
    if (strcmp(path, "trace.categories") == 0 || strcmp(path, "trace_categories") == 0)
        return read_categories(spec, path, value, error);
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (strcmp(path, groups[i]) == 0) {
            if (!json_is_object(value)) return bad(error, path, value, "an object");
            return read_object(spec, value, path, error);
        }
    mrd__buf list = {0};
    size_t count;
    const mrd__sim_param *params = mrd__sim_params(&count);
    for (size_t i = 0; i < count; i++)
        mrd__buf_printf(&list, "%s, ", params[i].path);
    mrd_status status = mrd__fail(
        error, MRD_ERR_ARGUMENT, "bad_spec",
        "%.96s: unknown field, allowed: %stopology, disturb, trace.categories", path, list.data);
    mrd__buf_reset(&list);
    return status;
}

static mrd_status read_object(mrd__sim_spec *spec, const json_t *object, const char *prefix,
                              mrd_error *error)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        mrd__buf path = {0};
        mrd__buf_printf(&path, "%s%s%s", prefix, *prefix ? "." : "", key);
        mrd_status status = read_one(spec, path.data, value, error);
        mrd__buf_reset(&path);
        MRD__TRY(status);
    }
    return MRD_OK;
}

/* What no single field shows. */
static mrd_status check_whole(const mrd__sim_spec *spec, const json_t *root, mrd_error *error)
{
    size_t count;
    const mrd__sim_param *params = mrd__sim_params(&count);
    for (size_t i = 0; i < count; i++)
        if (params[i].required && !json_object_get(root, params[i].path))
            return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_spec",
                             "%s: missing, required: primitive, algorithm, topology, "
                             "msg_size_bytes",
                             params[i].path);
    if (!json_object_get(root, "topology"))
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_spec", "topology: missing");
    if (spec->algorithm != MRD__SIM_AUTO &&
        !mrd__sim_pair_allowed(spec->primitive, spec->algorithm)) {
        mrd__buf list = {0};
        for (int64_t a = 1; a < MRD__SIM_ALGORITHMS; a++)
            if (mrd__sim_pair_allowed(spec->primitive, a))
                mrd__buf_printf(&list, ", %s", mrd__sim_algorithm_name(a));
        mrd_status status = mrd__fail(error, MRD_ERR_ARGUMENT, "bad_spec",
                                      "algorithm: \"%s\" of %s, allowed: auto%s",
                                      mrd__sim_algorithm_name(spec->algorithm),
                                      mrd__sim_primitive_name(spec->primitive), list.data);
        mrd__buf_reset(&list);
        return status;
    }
    mrd__sim_topology topology;
    MRD__TRY(mrd__sim_topology_build(&topology, spec, error));
    bool rings = false;
    uint64_t chips = topology.chips, values = chips * chips * (uint64_t)(2 * spec->pipeline + 1);
    for (uint32_t l = 0; l < topology.links; l++)
        rings |= topology.group[l] != 0;
    mrd__sim_topology_reset(&topology);
    if (spec->check_data && values > MRD__SIM_MAX_SHADOW)
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_spec",
                         "check_data: %llu values for %llu chips in %lld pieces, allowed: %u",
                         (unsigned long long)values, (unsigned long long)chips,
                         (long long)spec->pipeline, MRD__SIM_MAX_SHADOW);
    if (rings && spec->mode == MRD__SIM_PACKET && spec->credits < 2 &&
        spec->deadlock_avoidance == MRD__SIM_BUBBLE)
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_spec",
                         "link.credits: %lld on %s, allowed: at least 2 with "
                         "deadlock_avoidance bubble",
                         (long long)spec->credits, spec->topology);
    return MRD_OK;
}

mrd_status mrd__sim_spec_parse(mrd__sim_spec *spec, const char *json, size_t size, mrd_error *error)
{
    json_error_t where;
    json_t *root = json_loadb(json, size, JSON_REJECT_DUPLICATES, &where);
    *spec = (mrd__sim_spec){0};
    if (!root)
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_spec",
                         "no JSON: %s, line %d, column %d, byte %d", where.text, where.line,
                         where.column, where.position);
    mrd__sim_spec_init(spec);
    mrd_status status = json_is_object(root) ? read_object(spec, root, "", error)
                                             : bad(error, "spec", root, "an object");
    if (status == MRD_OK) status = check_whole(spec, root, error);
    json_decref(root);
    if (status != MRD_OK) mrd__sim_spec_reset(spec);
    return status;
}
