#include "clock/graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"

typedef struct reading {
    int64_t from, to;
    uint32_t order; /* of arrival: of equal readings the later one counts */
} reading;

/* Two clocks and one kind of source; a < b. */
typedef struct edge {
    uint32_t a, b;
    mrd__clock_source source;
    MRD__VEC(reading) forward;  /* a to b, in order of arrival, sorted by solving */
    MRD__VEC(reading) backward; /* b to a */
} edge;

typedef struct node {
    mrd__clock_id id;
    bool backwards; /* went back between two observations: no source */
    bool linear;
    uint32_t next_edge; /* towards the target, UINT32_MAX none */
    uint32_t assumed, hops;
    bool reached, settled;
    MRD__VEC(uint32_t) edges;
} node;

struct mrd__clock_graph {
    MRD__VEC(node) nodes;
    MRD__VEC(edge) edges;
    uint32_t *slots; /* open addressing over node ids: index + 1 */
    size_t slot_count;
    uint32_t target;
    bool linear;
};

mrd__clock_graph *mrd__clock_graph_create(void)
{
    mrd__clock_graph *graph = mrd__new(mrd__clock_graph);
    graph->target = UINT32_MAX;
    return graph;
}

void mrd__clock_graph_destroy(mrd__clock_graph **handle)
{
    mrd__clock_graph *graph = *handle;
    if (!graph) return;
    for (size_t i = 0; i < graph->nodes.count; i++)
        mrd__vec_reset(&graph->nodes.data[i].edges);
    for (size_t i = 0; i < graph->edges.count; i++) {
        mrd__vec_reset(&graph->edges.data[i].forward);
        mrd__vec_reset(&graph->edges.data[i].backward);
    }
    mrd__vec_reset(&graph->nodes);
    mrd__vec_reset(&graph->edges);
    mrd__free(graph->slots);
    mrd__free(graph);
    *handle = NULL;
}

static int compare_ids(mrd__clock_id a, mrd__clock_id b)
{
    if (a.machine != b.machine) return a.machine < b.machine ? -1 : 1;
    if (a.file != b.file) return a.file < b.file ? -1 : 1;
    if (a.sequence != b.sequence) return a.sequence < b.sequence ? -1 : 1;
    return a.id < b.id ? -1 : a.id > b.id;
}

static uint32_t *find_slot(const mrd__clock_graph *graph, mrd__clock_id id)
{
    size_t mask = graph->slot_count - 1;
    size_t at = (size_t)mrd__hash(&id, sizeof id) & mask;
    while (graph->slots[at] && compare_ids(graph->nodes.data[graph->slots[at] - 1].id, id) != 0)
        at = (at + 1) & mask;
    return &graph->slots[at];
}

static void grow_slots(mrd__clock_graph *graph)
{
    if (graph->nodes.count * 2 < graph->slot_count) return;
    graph->slot_count = graph->slot_count ? graph->slot_count * 2 : 64;
    mrd__free(graph->slots);
    graph->slots = mrd__new_array(uint32_t, graph->slot_count);
    for (size_t i = 0; i < graph->nodes.count; i++)
        *find_slot(graph, graph->nodes.data[i].id) = (uint32_t)i + 1;
}

uint32_t mrd__clock_node(mrd__clock_graph *graph, mrd__clock_id id)
{
    grow_slots(graph);
    uint32_t *slot = find_slot(graph, id);
    if (*slot) return *slot - 1;
    if (graph->nodes.count >= MRD__CLOCK_MAX_NODES) return UINT32_MAX;
    node fresh = {.id = id, .next_edge = UINT32_MAX};
    mrd__vec_push(&graph->nodes, fresh);
    *slot = (uint32_t)graph->nodes.count;
    return *slot - 1;
}

mrd__clock_id mrd__clock_id_of(const mrd__clock_graph *graph, uint32_t index)
{
    mrd__assert(index < graph->nodes.count);
    return graph->nodes.data[index].id;
}

size_t mrd__clock_node_count(const mrd__clock_graph *graph)
{
    return graph->nodes.count;
}

static edge *ensure_edge(mrd__clock_graph *graph, uint32_t a, uint32_t b, mrd__clock_source source)
{
    node *owner = &graph->nodes.data[a];
    for (size_t i = 0; i < owner->edges.count; i++) {
        edge *known = &graph->edges.data[owner->edges.data[i]];
        if (known->a == a && known->b == b && known->source == source) return known;
    }
    edge fresh = {.a = a, .b = b, .source = source};
    uint32_t index = (uint32_t)graph->edges.count;
    mrd__vec_push(&graph->edges, fresh);
    mrd__vec_push(&graph->nodes.data[a].edges, index);
    mrd__vec_push(&graph->nodes.data[b].edges, index);
    return &graph->edges.data[index];
}

static void observe_pair(mrd__clock_graph *graph, uint32_t a, int64_t a_ns, uint32_t b,
                         int64_t b_ns, mrd__clock_source source)
{
    if (a > b) {
        observe_pair(graph, b, b_ns, a, a_ns, source);
        return;
    }
    edge *at = ensure_edge(graph, a, b, source);
    if (at->forward.count > 0) {
        reading last = at->forward.data[at->forward.count - 1];
        graph->nodes.data[a].backwards |= a_ns < last.from;
        graph->nodes.data[b].backwards |= b_ns < last.to;
    }
    uint32_t order = (uint32_t)at->forward.count;
    mrd__vec_push(&at->forward, ((reading){a_ns, b_ns, order}));
    mrd__vec_push(&at->backward, ((reading){b_ns, a_ns, order}));
}

void mrd__clock_observe(mrd__clock_graph *graph, const uint32_t *nodes, const int64_t *values_ns,
                        size_t count, mrd__clock_source source)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = i + 1; j < count; j++) {
            mrd__assert(nodes[i] < graph->nodes.count && nodes[j] < graph->nodes.count);
            if (nodes[i] != nodes[j])
                observe_pair(graph, nodes[i], values_ns[i], nodes[j], values_ns[j], source);
        }
    }
}

static int compare_readings(const void *left, const void *right)
{
    const reading *a = left, *b = right;
    if (a->from != b->from) return a->from < b->from ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

void mrd__clock_linear(mrd__clock_graph *graph, uint32_t index)
{
    mrd__assert(index < graph->nodes.count);
    graph->nodes.data[index].linear = true;
}

/* ---- Paths ---- */

static uint32_t other_end(const edge *at, uint32_t from)
{
    return at->a == from ? at->b : at->a;
}

static bool less(const node *a, const node *b)
{
    return a->assumed != b->assumed ? a->assumed < b->assumed : a->hops < b->hops;
}

/* Nodes that were reached, the nearest to the target on top; a node that got nearer stands in it
 * again, and what is settled when it comes up is passed over. */
typedef struct reached {
    uint64_t distance; /* assumed edges, then hops */
    uint32_t node;
} reached;
typedef MRD__VEC(reached) reached_heap;

static bool before(const reached *a, const reached *b)
{
    return a->distance != b->distance ? a->distance < b->distance : a->node < b->node;
}

static void heap_push(reached_heap *heap, const mrd__clock_graph *graph, uint32_t index)
{
    const node *at = &graph->nodes.data[index];
    reached fresh = {(uint64_t)at->assumed << 32 | at->hops, index};
    mrd__vec_push(heap, fresh);
    size_t i = heap->count - 1;
    for (; i > 0 && before(&fresh, &heap->data[(i - 1) / 2]); i = (i - 1) / 2)
        heap->data[i] = heap->data[(i - 1) / 2];
    heap->data[i] = fresh;
}

static uint32_t heap_pop(reached_heap *heap)
{
    uint32_t top = heap->data[0].node;
    reached last = heap->data[--heap->count];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < heap->count; i = child) {
        if (child + 1 < heap->count && before(&heap->data[child + 1], &heap->data[child])) child++;
        if (!before(&heap->data[child], &last)) break;
        heap->data[i] = heap->data[child];
    }
    if (heap->count > 0) heap->data[i] = last;
    return top;
}

/* Would going from `from` by this edge to the settled node `to` be better than what it has? */
static bool improves(const mrd__clock_graph *graph, uint32_t from, const edge *at, uint32_t to)
{
    const node *source = &graph->nodes.data[from], *next = &graph->nodes.data[to];
    node offer = {.assumed = next->assumed + (at->source == MRD__CLOCK_ASSUMED),
                  .hops = next->hops + 1};
    if (!source->reached || less(&offer, source)) return true;
    if (less(source, &offer) || source->settled) return false;
    const edge *has = &graph->edges.data[source->next_edge];
    int order = compare_ids(next->id, graph->nodes.data[other_end(has, from)].id);
    return order != 0 ? order < 0 : at->source < has->source;
}

static void relax(mrd__clock_graph *graph, uint32_t to, reached_heap *heap)
{
    const node *next = &graph->nodes.data[to];
    for (size_t i = 0; i < next->edges.count; i++) {
        uint32_t index = next->edges.data[i];
        const edge *at = &graph->edges.data[index];
        uint32_t from = other_end(at, to);
        node *source = &graph->nodes.data[from];
        if (source->settled || source->backwards || !improves(graph, from, at, to)) continue;
        source->reached = true;
        source->next_edge = index;
        source->assumed = next->assumed + (at->source == MRD__CLOCK_ASSUMED);
        source->hops = next->hops + 1;
        heap_push(heap, graph, from);
    }
}

void mrd__clock_solve(mrd__clock_graph *graph, uint32_t target, bool linear)
{
    mrd__assert(target < graph->nodes.count);
    graph->target = target;
    graph->linear = linear;
    for (size_t i = 0; i < graph->edges.count; i++) {
        edge *at = &graph->edges.data[i];
        qsort(at->forward.data, at->forward.count, sizeof(reading), compare_readings);
        qsort(at->backward.data, at->backward.count, sizeof(reading), compare_readings);
    }
    for (size_t i = 0; i < graph->nodes.count; i++) {
        node *at = &graph->nodes.data[i];
        at->reached = at->settled = false;
        at->next_edge = UINT32_MAX;
    }
    node *end = &graph->nodes.data[target];
    end->reached = true;
    end->assumed = end->hops = 0;
    reached_heap heap = {0};
    heap_push(&heap, graph, target);
    while (heap.count > 0) {
        uint32_t at = heap_pop(&heap);
        if (graph->nodes.data[at].settled) continue;
        graph->nodes.data[at].settled = true;
        relax(graph, at, &heap);
    }
    mrd__vec_reset(&heap);
}

/* ---- Conversion ---- */

/* Index of the last reading at or before value; 0 when all are later. */
static size_t last_before(const reading *readings, size_t count, int64_t value)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (readings[middle].from <= value)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : 0;
}

static __int128 apply(const reading *readings, size_t count, int64_t value, bool linear)
{
    size_t at = last_before(readings, count, value);
    const reading *now = &readings[at], *then = now + 1;
    __int128 distance = (__int128)value - now->from;
    if (!linear || at + 1 >= count || value < now->from || then->from == now->from)
        return (__int128)now->to + distance;
    __int128 run = (__int128)then->from - now->from, rise = (__int128)then->to - now->to;
    /* distance < run < 2^64 and |rise| < 2^65: split so that the product stays inside 128 bits. */
    __int128 whole = rise / run * distance, rest = rise % run * distance;
    __int128 half = rest >= 0 ? run / 2 : -(run / 2);
    return (__int128)now->to + whole + (rest + half) / run;
}

mrd__clock_result mrd__clock_convert(const mrd__clock_graph *graph, uint32_t index,
                                     int64_t value_ns, int64_t *out)
{
    mrd__assert(graph->target != UINT32_MAX && index < graph->nodes.count);
    if (!graph->nodes.data[index].settled) return MRD__CLOCK_NO_PATH;
    while (index != graph->target) {
        const edge *at = &graph->edges.data[graph->nodes.data[index].next_edge];
        bool forward = at->a == index;
        bool linear = graph->linear || graph->nodes.data[index].linear;
        __int128 value = forward ? apply(at->forward.data, at->forward.count, value_ns, linear)
                                 : apply(at->backward.data, at->backward.count, value_ns, linear);
        if (value < INT64_MIN || value > INT64_MAX) return MRD__CLOCK_OVERFLOW;
        value_ns = (int64_t)value;
        index = other_end(at, index);
    }
    *out = value_ns;
    return MRD__CLOCK_OK;
}

bool mrd__clock_constant(const mrd__clock_graph *graph, uint32_t index, int64_t *offset_ns)
{
    __int128 offset = 0;
    mrd__assert(graph->target != UINT32_MAX && index < graph->nodes.count);
    if (!graph->nodes.data[index].settled) return false;
    while (index != graph->target) {
        const edge *at = &graph->edges.data[graph->nodes.data[index].next_edge];
        if (at->forward.count != 1) return false;
        const reading *only = at->a == index ? at->forward.data : at->backward.data;
        offset += (__int128)only->to - only->from;
        index = other_end(at, index);
    }
    if (offset < INT64_MIN || offset > INT64_MAX) return false;
    *offset_ns = (int64_t)offset;
    return true;
}

/* ---- What a path is made of ---- */

static int64_t clamp_difference(int64_t a, int64_t b)
{
    __int128 difference = (__int128)a - b;
    return difference > INT64_MAX   ? INT64_MAX
           : difference < INT64_MIN ? INT64_MIN
                                    : (int64_t)difference; /* for display only */
}

static mrd__clock_hop describe(uint32_t from, const edge *at)
{
    bool forward = at->a == from;
    const reading *readings = forward ? at->forward.data : at->backward.data;
    size_t count = at->forward.count;
    const reading *first = &readings[0], *last = &readings[count - 1];
    mrd__clock_hop hop = {.from = from, .to = other_end(at, from), .source = at->source};
    int64_t least = INT64_MAX, greatest = INT64_MIN;
    for (size_t i = 0; i < count; i++) {
        int64_t offset = clamp_difference(readings[i].to, readings[i].from);
        least = offset < least ? offset : least;
        greatest = offset > greatest ? offset : greatest;
    }
    hop.observations = count;
    hop.first_offset_ns = clamp_difference(first->to, first->from);
    hop.last_offset_ns = clamp_difference(last->to, last->from);
    hop.spread_ns = clamp_difference(greatest, least);
    if (last->from > first->from)
        hop.drift_ppm = ((double)hop.last_offset_ns - (double)hop.first_offset_ns) /
                        ((double)last->from - (double)first->from) * 1e6;
    return hop;
}

size_t mrd__clock_path(const mrd__clock_graph *graph, uint32_t index, mrd__clock_hop *hops,
                       size_t max)
{
    size_t count = 0;
    mrd__assert(graph->target != UINT32_MAX && index < graph->nodes.count);
    if (!graph->nodes.data[index].settled) return SIZE_MAX;
    while (index != graph->target) {
        const edge *at = &graph->edges.data[graph->nodes.data[index].next_edge];
        if (count < max) hops[count] = describe(index, at);
        count++;
        index = other_end(at, index);
    }
    return count;
}
