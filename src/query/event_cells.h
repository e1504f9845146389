/* Cells (bucket, key) of an aggregated window, computed key by key. Internal to event_cells*.c and
 * event_window_cells.c. */
#ifndef MRD_QUERY_EVENT_CELLS_H
#define MRD_QUERY_EVENT_CELLS_H

#include "query/event_window.h"

/* A slab of buckets [first, first + count) of all keys of a window. Arrays are key-major: cell of
 * key i and bucket b at i * stride + (b - first). */
typedef struct mrd__event_slab {
    const mrd__event_window *window;
    const mrd__buckets *buckets;
    uint32_t first, count;
    size_t stride;
    uint32_t *events;  /* event_count */
    double *state;     /* intervals: busy_ratio; counters: last_value, NaN before the first */
    double *min, *max; /* counters, where minmax is asked; else NULL */
} mrd__event_slab;

/* Fill the cells of one key (index of window->choices). Threads: any key by any one. */
void mrd__event_slab_fill(const mrd__event_slab *slab, size_t choice);

#endif
