/* A spec out as JSON: the inverse of spec.c, with every field. */
#include "events/category.h"
#include "sim/topology.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

/* The object of `path`'s group in root, made where absent; *key is its last part. */
static json_t *group_of(json_t *root, const char *path, const char **key)
{
    const char *dot = strchr(path, '.');
    *key = dot ? dot + 1 : path;
    if (!dot) return root;
    char name[32] = {0};
    memcpy(name, path, (size_t)(dot - path));
    json_t *group = json_object_get(root, name);
    if (group) return group;
    json_object_set_new(root, name, json_object());
    return json_object_get(root, name);
}

/* Whole numbers as such, so that 50 stays 50. */
static json_t *number(double value)
{
    if (floor(value) == value && fabs(value) < 9007199254740992.0)
        return json_integer((json_int_t)value);
    return json_real(value);
}

static json_t *param_value(const mrd__sim_spec *spec, const mrd__sim_param *p)
{
    const char *field = (const char *)spec + p->offset;
    if (p->type == 'r') return number(*(const double *)(const void *)field);
    int64_t value = *(const int64_t *)(const void *)field;
    if (p->type == 'c') return json_string(p->choices[value]);
    if (p->type == 'b') return json_boolean(value != 0);
    return json_integer(value);
}

static void set_number(json_t *object, const char *key, double value)
{
    if (!isnan(value)) json_object_set_new(object, key, number(value));
}

static json_t *graph(const mrd__sim_spec *spec)
{
    json_t *nodes = json_array(), *links = json_array();
    for (size_t i = 0; i < spec->nodes.count; i++)
        json_array_append_new(nodes, json_string(spec->nodes.data[i]));
    for (size_t i = 0; i < spec->edges.count; i++) {
        const mrd__sim_edge *edge = &spec->edges.data[i];
        json_t *link = json_pack("{s:s,s:s}", "from", spec->nodes.data[edge->from], "to",
                                 spec->nodes.data[edge->to]);
        set_number(link, "bandwidth_gb_per_s", edge->bandwidth_gb_per_s);
        set_number(link, "latency_ns", edge->latency_ns);
        json_array_append_new(links, link);
    }
    /* Both ways of a duplex link stand in edges. */
    return json_pack("{s:s,s:o,s:o,s:b}", "name", spec->topology, "nodes", nodes, "links", links,
                     "duplex", 0);
}

static json_t *disturb(const mrd__sim_spec *spec)
{
    json_t *list = json_array();
    for (size_t i = 0; i < spec->disturb.count; i++) {
        const mrd__sim_disturb *d = &spec->disturb.data[i];
        json_t *item = json_object();
        if (d->is_link) {
            json_object_set_new(item, "link", json_pack("[s,s]", d->from, d->to));
            set_number(item, "bandwidth_factor", d->bandwidth_factor);
            set_number(item, "extra_latency_ns", d->extra_latency_ns);
            if (d->has_error_rate) set_number(item, "error_rate", d->error_rate);
        } else {
            json_object_set_new(item, "chip", json_integer(d->chip));
            set_number(item, "slow", d->slow);
            set_number(item, "start_delay_ns", d->start_delay_ns);
        }
        json_array_append_new(list, item);
    }
    return list;
}

static json_t *categories(const mrd__sim_spec *spec)
{
    json_t *list = json_array();
    const uint32_t bits = spec->trace_categories;
    if (bits >> MRD__EV_LINK_BUSY & 1) json_array_append_new(list, json_string("link"));
    if (bits >> MRD__EV_OSTD_CHANGE & 1) json_array_append_new(list, json_string("ostd"));
    if (bits >> MRD__EV_THREAD_BLOCKED & 1) json_array_append_new(list, json_string("thread"));
    if (bits >> MRD__EV_HOP_ARRIVE & 1) json_array_append_new(list, json_string("hop"));
    return list;
}

static int add_piece(const char *data, size_t size, void *out)
{
    mrd__buf_add(out, data, size);
    return 0;
}

void mrd__sim_spec_json(const mrd__sim_spec *spec, mrd__buf *out)
{
    size_t count;
    const mrd__sim_param *params = mrd__sim_params(&count);
    json_t *root = json_object();
    for (size_t i = 0; i < count; i++) {
        const char *key;
        json_t *group = group_of(root, params[i].path, &key);
        json_object_set_new(group, key, param_value(spec, &params[i]));
    }
    json_object_set_new(root, "topology",
                        spec->is_graph ? graph(spec) : json_string(spec->topology));
    json_object_set_new(root, "disturb", disturb(spec));
    json_object_set_new(json_object_get(root, "trace"), "categories", categories(spec));
    json_dump_callback(root, add_piece, out,
                       JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
    json_decref(root);
}
