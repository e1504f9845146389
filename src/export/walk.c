#include "export/convert.h"

#include "base/alloc.h"

#include <stdlib.h>

/* ---- Nests ---- */

typedef struct edge {
    int64_t start;
    uint32_t slice;
} edge;

static uint32_t ancestors(const mrd__slices *slices, uint32_t slice)
{
    uint32_t count = 0;
    while ((slice = slices->parent[slice]) != MRD__NONE)
        count++;
    return count;
}

/* Outer slices before inner ones, with all that lies in them: at one time a tree in its order. */
static int by_tree(const mrd__slices *slices, uint32_t a, uint32_t b)
{
    uint32_t above_a = ancestors(slices, a);
    uint32_t above_b = ancestors(slices, b);
    int outer = (above_a > above_b) - (above_a < above_b);
    for (; above_a > above_b; above_a--)
        a = slices->parent[a];
    for (; above_b > above_a; above_b--)
        b = slices->parent[b];
    if (a == b) return outer;
    while (slices->parent[a] != slices->parent[b]) {
        a = slices->parent[a];
        b = slices->parent[b];
    }
    return slices->order[a] < slices->order[b] ? -1 : 1;
}

static int by_begin(const void *left, const void *right, void *slices)
{
    const edge *a = left;
    const edge *b = right;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    return a->slice == b->slice ? 0 : by_tree(slices, a->slice, b->slice);
}

static int64_t end_of(const mrd__store *store, uint64_t slice)
{
    bool open = store->slices.flags[slice] & MRD__SLICE_UNCLOSED;
    return open ? INT64_MAX : mrd__store_slice_end(store, slice);
}

void mrd__nest_begin(mrd__nest *nest, const mrd__store *store, uint64_t first, uint64_t count)
{
    *nest = (mrd__nest){.store = store, .count = count};
    edge *edges = mrd__new_array(edge, count);
    for (uint64_t i = 0; i < count; i++)
        edges[i] = (edge){mrd__store_slice_start(store, first + i), (uint32_t)(first + i)};
    if (count > 0) qsort_r(edges, count, sizeof *edges, by_begin, (void *)&store->slices);
    nest->edges = mrd__new_array(uint32_t, count);
    for (uint64_t i = 0; i < count; i++)
        nest->edges[i] = edges[i].slice;
    mrd__free(edges);
}

/* The open slice that ends first; of equal ones the innermost. */
static size_t first_to_end(const mrd__nest *nest)
{
    size_t best = nest->open.count - 1;
    int64_t least = end_of(nest->store, nest->open.data[best]);
    for (size_t i = best; i-- > 0;) {
        int64_t end = end_of(nest->store, nest->open.data[i]);
        if (end >= least) continue;
        least = end;
        best = i;
    }
    return best;
}

/* Without length, inside one without. */
static bool lies_in(const mrd__store *store, uint32_t slice, uint32_t outer)
{
    while (slice != MRD__NONE && slice != outer)
        slice = store->slices.parent[slice];
    return slice == outer;
}

bool mrd__nest_next(mrd__nest *nest, uint64_t *slice, bool *begins)
{
    const mrd__store *store = nest->store;
    bool more = nest->next < nest->count;
    if (!more && nest->open.count == 0) return false;
    size_t ending = nest->open.count > 0 ? first_to_end(nest) : 0;
    *begins = more;
    if (more && nest->open.count > 0) {
        int64_t start = mrd__store_slice_start(store, nest->edges[nest->next]);
        int64_t end = end_of(store, nest->open.data[ending]);
        *begins = end > start || (end == start &&
                                  lies_in(store, nest->edges[nest->next], nest->open.data[ending]));
    }
    if (*begins) {
        *slice = nest->edges[nest->next++];
        mrd__vec_push(&nest->open, (uint32_t)*slice);
        return true;
    }
    *slice = nest->open.data[ending];
    for (size_t i = ending; i + 1 < nest->open.count; i++)
        nest->open.data[i] = nest->open.data[i + 1];
    nest->open.count--;
    return true;
}

void mrd__nest_reset(mrd__nest *nest)
{
    mrd__free(nest->edges);
    mrd__vec_reset(&nest->open);
    *nest = (mrd__nest){0};
}

/* ---- Flows ---- */

size_t mrd__flow_lower(const mrd__store *store, const uint32_t *index, bool from, uint64_t slice)
{
    size_t low = 0;
    size_t high = store->flow_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const mrd__flow *flow = &store->flows[index[middle]];
        if ((from ? flow->from : flow->to) < slice)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
