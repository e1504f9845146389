/* Async slices.
 *
 * Pairing. Time order, equal times in file order. An e closes the latest open b of its name (any
 * when it gives none); what else is open stays open, nothing is cut. An n, and the step of an old
 * async slice, is a slice without duration.
 *
 * Nesting. A slice's parent is the latest started one that contains it (half-open). Siblings may
 * overlap: each takes the lowest lane of its depth that is free.
 *
 *   depth 0   |--batch---------------------------|
 *   depth 1      |--fetch-----|
 *   depth 1           |--flush-----------|           a lane of its own
 *
 * Candidates for parents are a stack of falling ends, as in slices.c. */
#include "pairing/async.h"

static bool is_begin(uint8_t phase)
{
    return phase == MRD__ASYNC_BEGIN || phase == MRD__OLD_ASYNC_START;
}

static bool is_end(uint8_t phase)
{
    return phase == MRD__ASYNC_END || phase == MRD__OLD_ASYNC_FINISH;
}

typedef MRD__VEC(uint32_t) index_stack;

static bool close_match(mrd__item *items, index_stack *stack, const mrd__item *end,
                        const mrd__args_joiner *joiner)
{
    size_t at = stack->count;
    while (at > 0 && end->name != 0 && items[stack->data[at - 1]].name != end->name)
        at--;
    if (at == 0) return false;
    at--;
    mrd__item *begin = &items[stack->data[at]];
    begin->flags &= (uint8_t)~MRD__SLICE_UNCLOSED;
    begin->dur = (int64_t)((uint64_t)end->ts - (uint64_t)begin->ts);
    if (begin->dur == 0) {
        begin->marks |= MRD__ITEM_ZERO;
        begin->dur = end->order;
    }
    mrd__join_args(begin, end, joiner);
    for (size_t i = at + 1; i < stack->count; i++)
        stack->data[i - 1] = stack->data[i];
    stack->count--;
    return true;
}

uint32_t mrd__async_pair(mrd__item *items, uint32_t count, const mrd__args_joiner *joiner,
                         mrd__found *found)
{
    index_stack stack = {0};
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (is_end(items[i].phase)) {
            if (!close_match(items, &stack, &items[i], joiner))
                mrd__found_add(found, MRD__LOSS_ASYNC_UNMATCHED_END, &items[i]);
            continue;
        }
        items[kept] = items[i];
        if (is_begin(items[kept].phase)) {
            items[kept].flags |= MRD__SLICE_UNCLOSED;
            mrd__vec_push(&stack, kept);
        } else {
            items[kept].dur = 0;
            items[kept].marks |= MRD__ITEM_POINT;
        }
        kept++;
    }
    mrd__vec_reset(&stack);
    mrd__slices_order_ties(items, kept);
    return kept;
}

typedef struct open_slice {
    int64_t start, end;
    uint32_t item, close, depth;
} open_slice;

typedef struct level {
    mrd__lane_set set;
    MRD__VEC(uint32_t) lanes;
} level;

typedef struct nest {
    MRD__VEC(open_slice) candidates;
    MRD__VEC(level) levels;
    mrd__nested *out;
} nest;

static bool holds(const open_slice *top, const open_slice *v)
{
    if (top->end < v->end) return false;
    if (top->end > v->start) return true;
    return top->end == top->start && top->start == v->start && v->close <= top->close;
}

/* MRD__NONE when the limit is reached. */
static uint32_t take_lane(nest *n, const open_slice *v)
{
    while (n->levels.count <= v->depth)
        mrd__vec_push(&n->levels, (level){0});
    level *own = &n->levels.data[v->depth];
    if (n->out->lanes.count >= MRD__LINES_MAX) return MRD__NONE;
    bool fresh;
    uint32_t minor = mrd__lane_set_take(&own->set, v->start, v->end, &fresh);
    if (fresh) {
        mrd__lane lane = {.major = v->depth, .minor = minor, .depth = (uint16_t)v->depth};
        mrd__vec_push(&n->out->lanes, lane);
        mrd__vec_push(&own->lanes, (uint32_t)n->out->lanes.count - 1);
    }
    return own->lanes.data[minor];
}

static void nest_one(nest *n, mrd__item *items, uint32_t i, mrd__found *found)
{
    mrd__item *item = &items[i];
    open_slice v = {.start = item->ts, .end = mrd__item_end(item), .item = i};
    v.close = (item->marks & MRD__ITEM_ZERO) != 0 ? (uint32_t)item->dur
              : item->phase == MRD__COMPLETE      ? UINT32_MAX /* as in slices.c */
                                                  : item->order;
    if ((item->marks & MRD__ITEM_ZERO) != 0) item->dur = 0;
    while (n->candidates.count > 0 && !holds(&n->candidates.data[n->candidates.count - 1], &v))
        n->candidates.count--;
    uint32_t parent = MRD__NONE;
    if (n->candidates.count > 0) {
        const open_slice *top = &n->candidates.data[n->candidates.count - 1];
        parent = top->item;
        v.depth = top->depth + 1;
    }
    uint32_t lane = take_lane(n, &v);
    n->out->parent[i] = parent;
    n->out->lane[i] = lane;
    if (lane == MRD__NONE) {
        n->out->dropped++;
        mrd__found_add(found, MRD__LOSS_DEPTH_LIMIT, item);
        return;
    }
    n->out->lanes.data[lane].count++;
    if ((item->marks & MRD__ITEM_POINT) == 0) mrd__vec_push(&n->candidates, v);
}

void mrd__async_nest(mrd__item *items, uint32_t count, mrd__nested *out, mrd__found *found)
{
    out->count = count;
    nest n = {.out = out};
    for (uint32_t i = 0; i < count; i++)
        nest_one(&n, items, i, found);
    for (size_t l = 0; l < n.levels.count; l++) {
        mrd__lane_set_reset(&n.levels.data[l].set);
        mrd__vec_reset(&n.levels.data[l].lanes);
    }
    mrd__vec_reset(&n.levels);
    mrd__vec_reset(&n.candidates);
}
