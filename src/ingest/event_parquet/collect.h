/* Rows of an event file as they come, and how they become the raw part of mrd__events. */
#ifndef MRD_INGEST_EVENT_PARQUET_COLLECT_H
#define MRD_INGEST_EVENT_PARQUET_COLLECT_H

#include "base/alloc.h"
#include "base/error.h"
#include "events/event_file.h"
#include "model/events.h"

#define MRD__MAX_EVENTS ((uint64_t)INT32_MAX) /* rank and the closer's bit share 32 bits */

/* A column that grows, in pages of its own (base/alloc.h: a fault of a small page is dear). */
typedef struct mrd__column {
    void *data;
    size_t bytes, capacity;
} mrd__column;

/* Columns in file order. code: component * 8 + pair * 2 + 1 for the closer of the pair. */
typedef struct mrd__collect {
    uint64_t rows;
    mrd__column time, value;  /* double */
    mrd__column code;         /* uint32_t */
    mrd__column detail_bytes; /* each with a NUL behind it */
    mrd__column detail_first; /* uint64_t: start of each row's detail; empty while no row has one */
    bool unsorted;
    uint64_t inexact;
    double last_ns; /* largest time */
} mrd__collect;

/* Room for what is expected, within limits: memory that is not used costs nothing. */
void mrd__collect_expect(mrd__collect *collect, const mrd__event_hint *hint);
/* Append a batch. MRD_ERR_LIMIT above MRD__MAX_EVENTS. */
MRD_MUST_CHECK mrd_status mrd__collect_add(mrd__collect *collect, const mrd__event_batch *batch,
                                           mrd_error *error);
void mrd__collect_reset(mrd__collect *collect);

/* Move the rows into a new mrd__events: order by time (equal times keep file order), keys in the
 * order of model/events.h, names moved out of info. Raw part, start_ns and names only. Empties
 * collect. workers at least 1. */
mrd__events *mrd__collect_group(mrd__collect *collect, mrd__event_info *info, uint32_t workers);

#endif
