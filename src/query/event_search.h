/* Search in the events of one key: the sampled index first, then one block. */
#ifndef MRD_QUERY_EVENT_SEARCH_H
#define MRD_QUERY_EVENT_SEARCH_H

#include "model/events.h"

/* Events of the key with time below t (its first event at or after t, counted inside the key). */
uint32_t mrd__event_lower(const mrd__events *events, size_t key, double t);
/* Closers among the first `count` events of an interval key. */
uint32_t mrd__event_closers(const mrd__events *events, size_t key, uint32_t count);
/* The state of an interval key after its first `count` events. */
bool mrd__event_open(const mrd__events *events, size_t key, uint32_t count);

/* The blocks of one key, as the aggregated window walks them. */
typedef struct mrd__event_view {
    const double *time;
    const double *block_time, *cell_time;
    const mrd__event_block *blocks; /* NULL but for interval keys */
    uint32_t count, block_count, cell_count;
    double end_ns; /* simulation end */
} mrd__event_view;
mrd__event_view mrd__event_view_of(const mrd__events *events, size_t key);

#define MRD__NO_BLOCK UINT32_MAX /* before the key's first event; of cells too */
/* The last cell that begins before t, or MRD__NO_BLOCK. hint: a cell at or before it (or
 * MRD__NO_BLOCK), for ascending questions. guess: where to look first, a cell at or behind the
 * hint; may lie behind the last. */
uint32_t mrd__event_cell_near(const mrd__event_view *view, double t, uint32_t hint, uint64_t guess);
/* The last block that begins before t, in the cell that mrd__event_cell_near gave. */
uint32_t mrd__event_block_in(const mrd__event_view *view, uint32_t cell, double t);
/* Times below t among the MRD__EVENT_BLOCK (or MRD__EVENT_CELL) at time. */
uint32_t mrd__event_count_below(const double *time, double t);

#endif
