/* Rows of an event file as they come, and how they become the raw part of mrd__events. */
#ifndef MRD_INGEST_EVENT_PARQUET_COLLECT_H
#define MRD_INGEST_EVENT_PARQUET_COLLECT_H

#include "base/alloc.h"
#include "base/error.h"
#include "events/event_file.h"
#include "model/events.h"

#define MRD__MAX_EVENTS ((uint64_t)INT32_MAX) /* rank and the closer's bit share 32 bits */

/* Columns in file order. code: component * 8 + pair * 2 + 1 for the closer of the pair. */
typedef struct mrd__collect {
    MRD__VEC(double) time, value;
    MRD__VEC(uint32_t) code;
    MRD__VEC(char) detail_bytes;     /* each with a NUL behind it */
    MRD__VEC(uint64_t) detail_first; /* start of each row's detail; empty while no row has one */
    bool unsorted;
    uint64_t inexact;
    double last_ns; /* largest time */
} mrd__collect;

/* Append a batch. MRD_ERR_LIMIT above MRD__MAX_EVENTS. */
MRD_MUST_CHECK mrd_status mrd__collect_add(mrd__collect *collect, const mrd__event_batch *batch,
                                           mrd_error *error);
void mrd__collect_reset(mrd__collect *collect);

/* Move the rows into a new mrd__events: order by time (equal times keep file order), keys in the
 * order of model/events.h, names moved out of info. Raw part, start_ns and names only. Empties
 * collect. workers at least 1. */
mrd__events *mrd__collect_group(mrd__collect *collect, mrd__event_info *info, uint32_t workers);

#endif
