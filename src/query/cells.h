/* Cells of an aggregated window between finding (slice_cells.c) and writing (slice_cells_out.c). */
#ifndef MRD_QUERY_CELLS_H
#define MRD_QUERY_CELLS_H

#include "query/buckets.h"
#include "query/window.h"

#include <stdatomic.h>

typedef struct mrd__cell {
    double busy; /* slices */
    uint32_t bucket, count;
    uint32_t longest; /* slice id, instant id; meaningless for counters */
    uint32_t name;    /* string id, then code of the answer's word; meaningless for counters */
} mrd__cell;

typedef struct mrd__steps { /* counters */
    double min, max, last;
} mrd__steps;

typedef struct mrd__lane {
    uint32_t track;
    uint8_t kind; /* mrd__track_kind */
    uint32_t row; /* row of the store; slices only */
    MRD__VEC(mrd__cell) cells;
    MRD__VEC(mrd__steps) steps; /* counters: parallel to cells */
} mrd__lane;

typedef struct mrd__lane_scratch { /* of one worker */
    uint64_t *index;               /* [buckets + 1] */
} mrd__lane_scratch;

typedef struct mrd__cells {
    const mrd__window *window;
    mrd__buckets buckets;
    MRD__VEC(mrd__lane) lanes; /* by track, then row */
    size_t lanes_a_task;
    mrd__lane_scratch *scratch;
    atomic_size_t total; /* cells so far */
} mrd__cells;

/* Write all cells; turns their names into codes. */
MRD_MUST_CHECK mrd_status mrd__cells_write(mrd__cells *cells, const mrd_sink *sink,
                                           mrd_error *error);

#endif
