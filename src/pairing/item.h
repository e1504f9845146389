/* What pairing works on: the facts of one track, taken out of the writer, names global.
 *
 * All times are exact ns of the trace clock. `order` is the fact's place in file order over the
 * whole trace: the last word wherever times are equal. */
#ifndef MRD_PAIRING_ITEM_H
#define MRD_PAIRING_ITEM_H

#include "model/facts.h"

enum {                   /* marks */
    MRD__ITEM_PLACE = 1, /* no args: args tells only where the event stands in the text */
    MRD__ITEM_FLOW = 2,  /* carries a flow v2 binding, see mrd__flow_point */
    MRD__ITEM_ZERO = 4,  /* B and E at one time: dur is the order of the E */
    MRD__ITEM_POINT = 8, /* an async instant: never a parent */
};

typedef struct mrd__item { /* 40 bytes */
    int64_t ts;
    union {
        int64_t dur;
        double value;
    };
    mrd__str_id name, category;
    uint32_t order;
    uint8_t phase; /* mrd__phase */
    uint8_t flags; /* MRD__SLICE_* */
    uint16_t marks;
    mrd__args_ref args;
} mrd__item;

/* Where an item's interval ends; INT64_MAX when it was never closed. */
static inline int64_t mrd__item_end(const mrd__item *item)
{
    if ((item->flags & MRD__SLICE_UNCLOSED) != 0) return INT64_MAX;
    if ((item->marks & MRD__ITEM_ZERO) != 0) return item->ts;
    return (int64_t)((uint64_t)item->ts + (uint64_t)item->dur); /* dur may pass int64 */
}

/* Sort by (ts, order) in place. Items come in file order, so a stable sort by ts is enough; order
 * is checked first and a nearly sorted track costs little more than that. */
void mrd__items_sort(mrd__item *items, uint32_t count);

/* A row of a track as it is found: intervals that do not overlap. Rows are drawn in the order
 * (major, minor). */
typedef struct mrd__lane {
    uint32_t major, minor;
    uint32_t count; /* slices */
    uint16_t depth;
} mrd__lane;

/* What nesting found out about one track. The caller gives parent and lane, the rest zeroed. */
typedef struct mrd__nested {
    uint32_t *parent; /* [count] item index or MRD__NONE; parents stand before their children */
    uint32_t *lane;   /* [count] index of lanes, MRD__NONE: dropped (depth limit) */
    uint32_t count;   /* items, all of them begins */
    MRD__VEC(mrd__lane) lanes; /* by first use */
    uint32_t dropped;
} mrd__nested;
void mrd__nested_reset(mrd__nested *nested); /* frees lanes */

/* Lowest free lane at a time: takes are asked in ascending start. Zeroed is empty. */
typedef struct mrd__lane_slot {
    int64_t key;
    uint32_t lane;
} mrd__lane_slot;
typedef struct mrd__lane_set {
    MRD__VEC(mrd__lane_slot) busy, free; /* heaps: by end, by lane */
    uint32_t count;
} mrd__lane_set;
/* Index of a lane whose intervals have all ended at start, taken until end (the interval is
 * half-open). *fresh tells whether the lane is new. */
uint32_t mrd__lane_set_take(mrd__lane_set *set, int64_t start, int64_t end, bool *fresh);
void mrd__lane_set_reset(mrd__lane_set *set);

#endif
