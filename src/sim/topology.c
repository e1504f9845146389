#include "sim/topology.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

uint64_t mrd__sim_ps(double ns)
{
    double ps = floor(ns * 1000.0 + 0.5);
    return ps < (double)MRD__SIM_MAX_TIME_PS ? (uint64_t)ps : MRD__SIM_MAX_TIME_PS;
}

/* All columns of links grow together, by doubling; capacity follows from the count. */
static void grow_links(mrd__sim_topology *t)
{
    size_t n = t->links;
    if (n != 0 && (n < 16 || (n & (n - 1)) != 0)) return;
    size_t room = n < 16 ? 16 : 2 * n;
    t->from = mrd__realloc(t->from, room * sizeof *t->from);
    t->to = mrd__realloc(t->to, room * sizeof *t->to);
    t->bandwidth = mrd__realloc(t->bandwidth, room * sizeof *t->bandwidth);
    t->latency = mrd__realloc(t->latency, room * sizeof *t->latency);
    t->error_rate = mrd__realloc(t->error_rate, room * sizeof *t->error_rate);
    t->group = mrd__realloc(t->group, room * sizeof *t->group);
    t->feeds = mrd__realloc(t->feeds, room * sizeof *t->feeds);
}

uint32_t mrd__sim_add_link(mrd__sim_topology *t, uint32_t from, uint32_t to, double bandwidth,
                           double latency_ns)
{
    grow_links(t);
    uint32_t link = t->links++;
    t->from[link] = from;
    t->to[link] = to;
    t->bandwidth[link] = bandwidth;
    t->latency[link] = mrd__sim_ps(latency_ns);
    t->error_rate[link] = 0;
    t->group[link] = t->feeds[link] = 0;
    return link;
}

void mrd__sim_topology_reset(mrd__sim_topology *t)
{
    mrd__free(t->names);
    mrd__free(t->from);
    mrd__free(t->to);
    mrd__free(t->reverse);
    mrd__free(t->bandwidth);
    mrd__free(t->latency);
    mrd__free(t->error_rate);
    mrd__free(t->group);
    mrd__free(t->feeds);
    mrd__free(t->next);
    mrd__free(t->slow);
    mrd__free(t->start_delay);
    *t = (mrd__sim_topology){0};
}

/* A graph's nodes: those named sw… are switches, the others chips, each in the order given. */
static void graph_links(mrd__sim_topology *t, const mrd__sim_spec *spec)
{
    uint32_t nodes = (uint32_t)spec->nodes.count, *place = mrd__alloc((nodes + 1) * sizeof *place);
    t->names = mrd__calloc(nodes + 1, sizeof *t->names);
    t->nodes = nodes;
    uint32_t at = 0;
    for (int switches = 0; switches < 2; switches++) {
        for (uint32_t i = 0; i < nodes; i++)
            if ((strncmp(spec->nodes.data[i], "sw", 2) == 0) == switches) {
                memcpy(t->names[at], spec->nodes.data[i], strlen(spec->nodes.data[i]) + 1);
                place[i] = at++;
            }
        if (!switches) t->chips = at;
    }
    for (size_t i = 0; i < spec->edges.count; i++) {
        const mrd__sim_edge *e = &spec->edges.data[i];
        mrd__sim_add_link(t, place[e->from], place[e->to],
                          isnan(e->bandwidth_gb_per_s) ? spec->bandwidth_gb_per_s
                                                       : e->bandwidth_gb_per_s,
                          isnan(e->latency_ns) ? spec->latency_ns : e->latency_ns);
    }
    mrd__free(place);
}

static uint32_t find_node(const mrd__sim_topology *t, const char *name)
{
    for (uint32_t i = 0; i < t->nodes; i++)
        if (strcmp(t->names[i], name) == 0) return i;
    return MRD__SIM_NONE;
}

static mrd_status disturb_link(mrd__sim_topology *t, const mrd__sim_disturb *d, size_t index,
                               mrd_error *error)
{
    uint32_t from = find_node(t, d->from), to = find_node(t, d->to), link = MRD__SIM_NONE;
    for (uint32_t l = 0; l < t->links; l++)
        if (t->from[l] == from && t->to[l] == to) link = l;
    if (from == MRD__SIM_NONE || to == MRD__SIM_NONE || link == MRD__SIM_NONE)
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_spec",
                         "disturb[%zu].link: [\"%s\", \"%s\"] is no link of the topology "
                         "(%u nodes, %s to %s)",
                         index, d->from, d->to, t->nodes, t->names[0], t->names[t->nodes - 1]);
    t->bandwidth[link] *= d->bandwidth_factor;
    t->latency[link] += mrd__sim_ps(d->extra_latency_ns);
    if (d->has_error_rate) t->error_rate[link] = d->error_rate;
    return MRD_OK;
}

static mrd_status disturb(mrd__sim_topology *t, const mrd__sim_spec *spec, mrd_error *error)
{
    for (size_t i = 0; i < spec->disturb.count; i++) {
        const mrd__sim_disturb *d = &spec->disturb.data[i];
        if (d->is_link) {
            MRD__TRY(disturb_link(t, d, i, error));
            continue;
        }
        if (d->chip < 0 || d->chip >= (int64_t)t->chips)
            return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_spec",
                             "disturb[%zu].chip: %lld, allowed 0..%u", i, (long long)d->chip,
                             t->chips - 1);
        t->slow[d->chip] *= d->slow;
        t->start_delay[d->chip] += mrd__sim_ps(d->start_delay_ns);
    }
    /* A slow chip is slow at its own links, both ways, and in its reductions and copies. */
    for (uint32_t l = 0; l < t->links; l++) {
        if (t->from[l] < t->chips) t->bandwidth[l] /= t->slow[t->from[l]];
        if (t->to[l] < t->chips) t->bandwidth[l] /= t->slow[t->to[l]];
    }
    return MRD_OK;
}

/* Every chip must reach every other one: acknowledgements come back on routes of their own. */
static mrd_status check_routes(const mrd__sim_topology *t, mrd_error *error)
{
    if (t->chips < 2)
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_spec",
                         "topology.nodes: %u chips, allowed at least 2", t->chips);
    for (uint32_t i = 0; i < t->chips; i++)
        for (uint32_t j = 0; j < t->chips; j++)
            if (i != j && t->next[(size_t)i * t->chips + j] == MRD__SIM_NONE)
                return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_spec",
                                 "topology.links: no route from %s to %s, allowed: every chip "
                                 "reaches every chip",
                                 t->names[i], t->names[j]);
    return MRD_OK;
}

static void find_reverse(mrd__sim_topology *t)
{
    uint32_t *out = mrd__calloc(t->nodes + 1, sizeof *out);
    uint32_t *list = mrd__alloc((t->links + 1) * sizeof *list);
    t->reverse = mrd__alloc((t->links + 1) * sizeof *t->reverse);
    for (uint32_t l = 0; l < t->links; l++)
        out[t->from[l]]++;
    for (uint32_t n = 0, sum = 0; n <= t->nodes; n++) {
        sum += out[n];
        out[n] = sum;
    }
    for (uint32_t l = t->links; l-- > 0;)
        list[--out[t->from[l]]] = l;
    for (uint32_t l = 0; l < t->links; l++) {
        uint32_t node = t->to[l];
        uint32_t twin = l ^ 1; /* builders mostly add links in pairs */
        t->reverse[l] = MRD__SIM_NONE;
        if (twin < t->links && t->from[twin] == node && t->to[twin] == t->from[l]) {
            t->reverse[l] = twin;
            continue;
        }
        for (uint32_t i = out[node]; i < out[node + 1]; i++)
            if (t->to[list[i]] == t->from[l]) {
                t->reverse[l] = list[i];
                break;
            }
    }
    mrd__free(out);
    mrd__free(list);
}

mrd_status mrd__sim_topology_build(mrd__sim_topology *t, const mrd__sim_spec *spec,
                                   mrd_error *error)
{
    mrd__sim_shape shape = {.kind = MRD__SIM_SHAPE_GRAPH};
    *t = (mrd__sim_topology){0};
    if (!spec->is_graph) {
        MRD__TRY(mrd__sim_shape_parse(&shape, spec->topology, error));
        mrd__sim_shape_links(t, &shape, spec);
    } else {
        graph_links(t, spec);
    }
    t->slow = mrd__alloc((t->chips + 1) * sizeof *t->slow);
    t->start_delay = mrd__calloc(t->chips + 1, sizeof *t->start_delay);
    for (uint32_t i = 0; i < t->chips; i++)
        t->slow[i] = 1;
    for (uint32_t l = 0; l < t->links; l++)
        t->error_rate[l] = spec->error_rate;
    mrd__sim_routes(t, &shape);
    find_reverse(t);
    mrd_status status = check_routes(t, error);
    if (status == MRD_OK) status = disturb(t, spec, error);
    if (status != MRD_OK) mrd__sim_topology_reset(t);
    return status;
}

mrd__sim_route mrd__sim_route_of(const mrd__sim_topology *t, uint32_t src, uint32_t dst,
                                 uint64_t switch_ps)
{
    mrd__sim_route route = {0, MRD__SIM_NONE, MRD__SIM_NONE, 0, INFINITY};
    for (uint32_t node = src; node != dst;) {
        uint32_t link = t->next[(size_t)node * t->chips + dst];
        if (route.hops++ == 0)
            route.first = link;
        else
            route.latency_ps += switch_ps;
        route.last = link;
        route.latency_ps += t->latency[link];
        if (t->bandwidth[link] < route.bandwidth) route.bandwidth = t->bandwidth[link];
        node = t->to[link];
    }
    return route;
}
