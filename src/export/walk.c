#include "export/convert.h"

#include "base/alloc.h"

#include <stdlib.h>

/* ---- Nests ---- */

typedef struct edge {
    int64_t start;
    uint32_t depth, order, slice;
} edge;

static int by_begin(const void *left, const void *right)
{
    const edge *a = left;
    const edge *b = right;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    if (a->depth != b->depth) return a->depth < b->depth ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
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
    uint32_t row = count > 0 ? mrd__store_row_of(store, first) : 0;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t slice = first + i;
        while (store->rows.first[row + 1] <= slice)
            row++;
        edges[i] = (edge){mrd__store_slice_start(store, slice), store->row_infos[row].depth,
                          store->slices.order[slice], (uint32_t)slice};
    }
    if (count > 0) qsort(edges, count, sizeof *edges, by_begin);
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

bool mrd__nest_next(mrd__nest *nest, uint64_t *slice, bool *begins)
{
    const mrd__store *store = nest->store;
    bool more = nest->next < nest->count;
    if (!more && nest->open.count == 0) return false;
    size_t ending = nest->open.count > 0 ? first_to_end(nest) : 0;
    *begins = more;
    if (more && nest->open.count > 0) {
        int64_t start = mrd__store_slice_start(store, nest->edges[nest->next]);
        *begins = end_of(store, nest->open.data[ending]) > start;
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

const mrd__flow *mrd__flow_onward(mrd__selection *selection, const mrd__flow *flow,
                                  mrd__same_flow_fn same)
{
    const mrd__store *store = selection->store;
    size_t at = mrd__flow_lower(store, store->flow_by_from, true, flow->to);
    for (; at < store->flow_count; at++) {
        const mrd__flow *next = &store->flows[store->flow_by_from[at]];
        if (next->from != flow->to) return NULL;
        if (next->from_time == flow->to_time && same(flow, next) &&
            mrd__selects_flow(selection, next))
            return next;
    }
    return NULL;
}

const mrd__flow *mrd__flow_before(mrd__selection *selection, const mrd__flow *flow,
                                  mrd__same_flow_fn same)
{
    const mrd__store *store = selection->store;
    size_t at = mrd__flow_lower(store, store->flow_by_to, false, flow->from);
    for (; at < store->flow_count; at++) {
        const mrd__flow *before = &store->flows[store->flow_by_to[at]];
        if (before->to != flow->from) return NULL;
        if (before->to_time == flow->from_time && same(flow, before) &&
            mrd__selects_flow(selection, before))
            return before;
    }
    return NULL;
}
