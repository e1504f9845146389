/* Routes, computed once: for each node and goal the link to take. Dimension order on grids (last
 * dimension first, ties at half a ring the positive way), D-mod-k on fat trees, minimal on
 * dragonflies, shortest with the lowest link number in a user's graph. */
#include "sim/topology.h"

#include <stdlib.h>
#include <string.h>

static uint32_t step_grid(const mrd__sim_shape *shape, uint32_t node, uint32_t dst)
{
    uint32_t stride = 1;
    for (uint32_t d = shape->dim_count; d-- > 0; stride *= shape->dims[d]) {
        uint32_t k = shape->dims[d], x = node / stride % k, y = dst / stride % k;
        if (x == y) continue;
        uint32_t base = node - x * stride, up = (y + k - x) % k;
        bool positive = shape->wrap ? 2 * up <= k : y > x;
        return base + (positive ? (x + 1) % k : (x + k - 1) % k) * stride;
    }
    return node;
}

static uint32_t step_fat_tree(const mrd__sim_topology *t, uint32_t k, uint32_t node, uint32_t dst)
{
    uint32_t h = k / 2, edge = t->chips, agg = edge + k * h, core = agg + k * h;
    uint32_t dst_edge = dst / h, dst_pod = dst_edge / h;
    if (node < edge) return edge + node / h;
    if (node < agg) {
        uint32_t e = node - edge;
        return e == dst_edge ? dst : agg + e / h * h + dst % h;
    }
    if (node < core) {
        uint32_t a = node - agg;
        return a / h == dst_pod ? edge + dst_edge : core + a % h * h + dst / h % h;
    }
    return agg + dst_pod * h + (node - core) / h;
}

static uint32_t step_two_level(const mrd__sim_topology *t, const mrd__sim_shape *shape,
                               uint32_t node, uint32_t dst)
{
    uint32_t leaves = shape->dims[0], hosts = shape->dims[1], leaf = t->chips;
    if (node < leaf) return leaf + node / hosts;
    if (node >= leaf + leaves) return leaf + dst / hosts;
    if (node - leaf == dst / hosts) return dst;
    return leaf + leaves + dst % shape->dims[2];
}

static uint32_t step_dragonfly(const mrd__sim_topology *t, const mrd__sim_shape *shape,
                               uint32_t node, uint32_t dst)
{
    uint32_t p = shape->dims[0], a = shape->dims[1], h = shape->dims[2], groups = a * h + 1;
    uint32_t base = t->chips;
    if (node < base) return base + node / p;
    uint32_t here = node - base, goal = dst / p;
    if (here == goal) return dst;
    uint32_t g = here / a, to = goal / a;
    if (g == to) return base + goal;
    uint32_t q = (to + groups - g - 1) % groups;
    if (q / h == here % a) return base + to * a + (groups - q - 2) / h;
    return base + g * a + q / h;
}

static uint32_t step(const mrd__sim_topology *t, const mrd__sim_shape *shape, uint32_t node,
                     uint32_t dst)
{
    switch (shape->kind) {
    case MRD__SIM_SHAPE_GRID:
        return step_grid(shape, node, dst);
    case MRD__SIM_SHAPE_FULL:
        return dst;
    case MRD__SIM_SHAPE_STAR:
        return node < t->chips ? t->chips : dst;
    case MRD__SIM_SHAPE_FAT_TREE:
        return step_fat_tree(t, shape->dims[0], node, dst);
    case MRD__SIM_SHAPE_FAT_TREE_2L:
        return step_two_level(t, shape, node, dst);
    case MRD__SIM_SHAPE_DRAGONFLY:
        return step_dragonfly(t, shape, node, dst);
    case MRD__SIM_SHAPE_GRAPH:
        break;
    }
    return node;
}

/* Breadth first from each goal against the links, links in order of their numbers. */
static void shortest(mrd__sim_topology *t)
{
    uint32_t *distance = mrd__alloc(t->nodes * sizeof *distance);
    uint32_t *queue = mrd__alloc(t->nodes * sizeof *queue);
    uint32_t *first = mrd__calloc(t->nodes + 1, sizeof *first);
    uint32_t *in = mrd__alloc((t->links + 1) * sizeof *in);
    for (uint32_t l = 0; l < t->links; l++)
        first[t->to[l] + 1]++;
    for (uint32_t n = 0; n < t->nodes; n++)
        first[n + 1] += first[n];
    uint32_t *fill = mrd__alloc(t->nodes * sizeof *fill);
    memcpy(fill, first, t->nodes * sizeof *fill);
    for (uint32_t l = 0; l < t->links; l++)
        in[fill[t->to[l]]++] = l;
    for (uint32_t dst = 0; dst < t->chips; dst++) {
        memset(distance, 0xff, t->nodes * sizeof *distance);
        uint32_t head = 0, tail = 0;
        distance[dst] = 0;
        queue[tail++] = dst;
        while (head < tail) {
            uint32_t node = queue[head++];
            for (uint32_t i = first[node]; i < first[node + 1]; i++) {
                uint32_t from = t->from[in[i]];
                uint32_t *next = &t->next[(size_t)from * t->chips + dst];
                if (distance[from] == UINT32_MAX) {
                    distance[from] = distance[node] + 1;
                    queue[tail++] = from;
                    *next = in[i];
                } else if (distance[from] == distance[node] + 1 && in[i] < *next) {
                    *next = in[i];
                }
            }
        }
    }
    mrd__free(distance);
    mrd__free(queue);
    mrd__free(first);
    mrd__free(in);
    mrd__free(fill);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Follow the edges (sorted pairs link, link) from `at`; a link met again on the path is a cycle,
 * told as t->warning. state: 0 new, 1 on the path, 2 done. */
static bool find_cycle(mrd__sim_topology *t, const uint64_t *edges, const size_t *first,
                       uint8_t *state, uint32_t *path, size_t *at_edge, uint32_t start)
{
    size_t depth = 0;
    path[0] = start;
    at_edge[0] = first[start];
    state[start] = 1;
    for (;;) {
        uint32_t link = path[depth];
        if (at_edge[depth] == first[link + 1]) {
            state[link] = 2;
            if (depth-- == 0) return false;
            continue;
        }
        uint32_t next = (uint32_t)edges[at_edge[depth]++];
        if (state[next] == 0) {
            state[next] = 1;
            path[++depth] = next;
            at_edge[depth] = first[next];
            continue;
        }
        if (state[next] == 2) continue;
        size_t from = depth;
        while (path[from] != next)
            from--;
        mrd__buf text = {0};
        mrd__buf_text(&text, "topology: these links can wait for each other in a circle:");
        for (size_t i = from; i <= depth && text.size < sizeof t->warning - 90; i++)
            mrd__buf_printf(&text, " %s>%s", t->names[t->from[path[i]]], t->names[t->to[path[i]]]);
        memcpy(t->warning, text.data, text.size + 1);
        mrd__buf_reset(&text);
        return true;
    }
}

/* The channel dependencies of all routes; a cycle means that shallow buffers may deadlock. */
static void warn_of_cycle(mrd__sim_topology *t)
{
    MRD__VEC(uint64_t) edges = {0};
    for (uint32_t dst = 0; dst < t->chips; dst++)
        for (uint32_t node = 0; node < t->nodes; node++) {
            uint32_t l = t->next[(size_t)node * t->chips + dst];
            uint32_t m = l == MRD__SIM_NONE ? l : t->next[(size_t)t->to[l] * t->chips + dst];
            if (m != MRD__SIM_NONE) mrd__vec_push(&edges, (uint64_t)l << 32 | m);
        }
    if (edges.count == 0) return; /* every route is one link */
    qsort(edges.data, edges.count, sizeof *edges.data, by_value);
    size_t *first = mrd__calloc(t->links + 1, sizeof *first), count = 0;
    for (size_t i = 0; i < edges.count; i++) {
        if (i && edges.data[i] == edges.data[count - 1]) continue;
        edges.data[count++] = edges.data[i];
        first[(edges.data[i] >> 32) + 1]++;
    }
    for (uint32_t l = 0; l < t->links; l++)
        first[l + 1] += first[l];
    uint8_t *state = mrd__calloc(t->links + 1, 1);
    uint32_t *path = mrd__alloc((t->links + 1) * sizeof *path);
    size_t *at = mrd__alloc((t->links + 1) * sizeof *at);
    bool found = false;
    for (uint32_t l = 0; l < t->links && !found; l++)
        if (state[l] == 0) found = find_cycle(t, edges.data, first, state, path, at, l);
    mrd__free(first);
    mrd__free(state);
    mrd__free(path);
    mrd__free(at);
    mrd__vec_reset(&edges);
}

void mrd__sim_routes(mrd__sim_topology *t, const mrd__sim_shape *shape)
{
    size_t cells = (size_t)t->nodes * t->chips;
    t->next = mrd__alloc(cells * sizeof *t->next);
    memset(t->next, 0xff, cells * sizeof *t->next);
    if (shape->kind == MRD__SIM_SHAPE_GRAPH) {
        shortest(t);
        warn_of_cycle(t);
        return;
    }
    /* Link between two nodes, for one node at a time. */
    uint32_t *link_to = mrd__alloc(t->nodes * sizeof *link_to);
    uint32_t *first = mrd__calloc(t->nodes + 1, sizeof *first);
    uint32_t *out = mrd__alloc(t->links * sizeof *out);
    for (uint32_t l = 0; l < t->links; l++)
        first[t->from[l] + 1]++;
    for (uint32_t n = 0; n < t->nodes; n++)
        first[n + 1] += first[n];
    for (uint32_t l = t->links; l-- > 0;)
        out[--first[t->from[l] + 1]] = l;
    /* first[n + 1] is now where node n begins. */
    for (uint32_t node = 0; node < t->nodes; node++) {
        uint32_t end = node + 1 < t->nodes ? first[node + 2] : t->links;
        for (uint32_t i = first[node + 1]; i < end; i++)
            link_to[t->to[out[i]]] = out[i];
        for (uint32_t dst = 0; dst < t->chips; dst++)
            if (node != dst)
                t->next[(size_t)node * t->chips + dst] = link_to[step(t, shape, node, dst)];
    }
    mrd__free(link_to);
    mrd__free(first);
    mrd__free(out);
}
