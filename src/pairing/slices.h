/* Slices of one thread: begin/end pairs, order at equal times, nesting. src/pairing/slices.c tells
 * the rules. */
#ifndef MRD_PAIRING_SLICES_H
#define MRD_PAIRING_SLICES_H

#include "pairing/found.h"

/* Joins the args of a pair: gets a reference for the union of both. May be called from several
 * threads at once with their own ctx. */
typedef struct mrd__args_joiner {
    mrd__args_ref (*join)(void *ctx, mrd__args_ref begin, mrd__args_ref end);
    void *ctx;
    /* May be NULL: an end that binds flows closed this begin; their orders. */
    void (*bound)(void *ctx, uint32_t begin, uint32_t end);
} mrd__args_joiner;

/* items: COMPLETE, BEGIN and END of one thread, sorted by mrd__items_sort. Ends are matched and
 * taken out, negative durations become 0, the rest is put in nesting order. Returns the new
 * count. */
uint32_t mrd__slices_pair(mrd__item *items, uint32_t count, const mrd__args_joiner *joiner,
                          mrd__found *found);

/* Nest what mrd__slices_pair left. Lanes: major is the row group, minor the depth inside it.
 * Sets MRD__SLICE_OVERLAP on spilled items and plain durations everywhere. */
void mrd__slices_nest(mrd__item *items, uint32_t count, mrd__nested *out, mrd__found *found);

/* Put begins of equal start in nesting order (slices.c, "Order at equal start"). */
void mrd__slices_order_ties(mrd__item *items, uint32_t count);

/* Join the args of an end into its begin. */
void mrd__join_args(mrd__item *begin, const mrd__item *end, const mrd__args_joiner *joiner);

#endif
