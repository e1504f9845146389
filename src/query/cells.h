/* Cells of an aggregated window between finding (slice_cells.c) and writing (slice_cells_out.c). */
#ifndef MRD_QUERY_CELLS_H
#define MRD_QUERY_CELLS_H

#include "query/buckets.h"
#include "query/event_scratch.h"
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
    uint8_t kind;      /* mrd__track_kind */
    uint32_t row;      /* row of the store; slices only */
    mrd__cell *cells;  /* room for one a bucket, of cells.memory or of the heap */
    mrd__steps *steps; /* counters: parallel to cells */
    uint32_t count;
    uint64_t first; /* answer row of the first cell */
} mrd__lane;

typedef struct mrd__lane_scratch { /* of one worker, room for all buckets */
    uint64_t *index;               /* [buckets + 1] */
    mrd__cell *cells;
    mrd__steps *steps;
} mrd__lane_scratch;

typedef struct mrd__cells {
    const mrd__window *window;
    mrd__buckets buckets;
    MRD__VEC(mrd__lane) lanes; /* by track, then row */
    size_t lanes_a_task;
    mrd__lane_scratch *scratch;
    atomic_size_t total; /* cells so far */
    bool in_memory;      /* the usual question: cells of all lanes fit memory; else of the heap */
    mrd__scratch memory;
} mrd__cells;

/* Write all cells; turns their names into codes. */
MRD_MUST_CHECK mrd_status mrd__cells_write(mrd__cells *cells, const mrd_sink *sink,
                                           mrd_error *error);

#endif
