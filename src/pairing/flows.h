/* Flows: points bound to slices, points of one id joined. src/pairing/flows.c tells the rules. */
#ifndef MRD_PAIRING_FLOWS_H
#define MRD_PAIRING_FLOWS_H

#include "base/sort.h"
#include "pairing/found.h"

enum {                        /* flags of a point */
    MRD__POINT_ENCLOSING = 1, /* bp "e" */
    MRD__POINT_SLICE = 2,     /* flow v2: the slice itself carries the binding */
    MRD__POINT_CHAIN = 4,     /* passes from point to point: the first starts, FLOW_END ends */
};

typedef struct mrd__flow_point {
    int64_t ts;
    mrd__str_id category, name, id; /* v2: category and name 0 */
    uint32_t thread;                /* caller's number of the thread */
    uint32_t order;
    uint32_t slice; /* what it binds to, MRD__NONE until then */
    uint32_t pair;  /* not 0: joined with the other end of this number in its file, with no other */
    uint8_t phase;  /* MRD__FLOW_START, _STEP or _END */
    uint8_t flags;
} mrd__flow_point;

/* The slices of one thread track, sealed but for the doubles: times exact ns, end INT64_MAX where
 * unclosed. */
typedef struct mrd__flow_track {
    const double *start, *end; /* by slice id; exact int64 ns in the doubles' places */
    const uint32_t *parent;    /* by slice id */
    const uint32_t *begun;     /* slice ids in nesting order: ascending start, parents first */
    uint32_t count;
    const uint64_t *row_first; /* [rows + 1] slice ranges of the track's rows */
    uint32_t rows;
    bool spilled; /* has more than one row group */
} mrd__flow_track;

/* Bind the points of one thread, sorted by (ts, order). What finds no slice keeps MRD__NONE. */
void mrd__flows_bind(const mrd__flow_track *track, mrd__flow_point **points, size_t count);

typedef struct mrd__flow_link {
    uint32_t from, to; /* indices of points, both bound */
} mrd__flow_link;
typedef MRD__VEC(mrd__flow_link) mrd__flow_links;

/* Join points of the same (file, category, name, id); counts all losses of flows. points stand in
 * file order; links come sorted by (time of from, order of from, order of to), the same for any
 * number of workers (at least 1). */
void mrd__flows_join(const mrd__flow_point *points, size_t count, uint32_t workers,
                     mrd__flow_links *out, mrd__found *found);

#endif
