/* Buckets of an aggregated window (spec event-trace.md section 4).
 *
 * An event at t falls into bucket min(count - 1, floor((t - start) / width)), in IEEE double as
 * written. That formula and the edges start + b * width disagree by rounding now and then, so a
 * search needs both: `edge` for covered time, `split` for counting. split[b] is the least double
 * that the formula puts into bucket b or later: events of bucket b are those with
 * split[b] <= t < split[b + 1], found by search in any sorted column, ties included. */
#ifndef MRD_QUERY_BUCKETS_H
#define MRD_QUERY_BUCKETS_H

#include "base/error.h"

typedef struct mrd__buckets {
    double start, end;
    bool end_inside; /* events at exactly end belong to the last bucket */
    uint32_t count;
    double width;         /* (end - start) / count */
    double *edge, *split; /* [count + 1], ascending; split[count] ends the window for events */
} mrd__buckets;

/* start < end, both finite, 0 < count. bad_window when the width is not a positive finite double.
 * Owns edge and split. */
MRD_MUST_CHECK mrd_status mrd__buckets_init(mrd__buckets *buckets, double start, double end,
                                            bool end_inside, uint32_t count, mrd_error *error);
void mrd__buckets_reset(mrd__buckets *buckets); /* accepts zeroed */

#endif
