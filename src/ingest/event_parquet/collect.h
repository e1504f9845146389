/* Rows of an event file as they come, and how they become the raw part of mrd__events. */
#ifndef MRD_INGEST_EVENT_PARQUET_COLLECT_H
#define MRD_INGEST_EVENT_PARQUET_COLLECT_H

#include "base/alloc.h"
#include "base/error.h"
#include "events/event_file.h"
#include "model/events.h"

#include <stdatomic.h>

#define MRD__MAX_EVENTS ((uint64_t)INT32_MAX) /* rank and the closer's bit share 32 bits */

/* Details of one batch, for rows that stand together. */
typedef struct mrd__detail_piece {
    uint64_t first_row;
    const char *data; /* in a block of the bag */
    size_t bytes;
} mrd__detail_piece;

typedef struct mrd__detail_block {
    char *data; /* from mrd__pages_alloc */
    size_t size;
} mrd__detail_block;

/* Details that one worker of the reader met, each with a NUL behind it. In blocks: to grow one
 * would touch new memory and copy, again and again. */
typedef struct mrd__detail_bag {
    MRD__VEC(mrd__detail_block) blocks;
    char *next;   /* free bytes of the last block */
    size_t room;  /* how many */
    size_t bytes; /* of all pieces */
    MRD__VEC(mrd__detail_piece) pieces;
} mrd__detail_bag;

/* Columns in file order. code: component * 8 + pair * 2 + 1 for the closer of the pair. */
typedef struct mrd__collect {
    uint64_t rows;
    double *time, *value;
    uint32_t *code;
    uint64_t *detail_first; /* [rows + 1]; while rows come: at row + 1, bytes of the row's detail */
    mrd__detail_bag bags[MRD__EVENT_WORKERS];
    _Atomic uint64_t inexact;
} mrd__collect;

/* Room for so many rows, in memory that costs nothing until it is written. MRD_ERR_LIMIT above
 * MRD__MAX_EVENTS. */
MRD_MUST_CHECK mrd_status mrd__collect_begin(mrd__collect *collect, uint64_t rows,
                                             mrd_error *error);
/* One batch; threads as mrd__event_sink.batch. */
void mrd__collect_add(mrd__collect *collect, const mrd__event_batch *batch);
void mrd__collect_reset(mrd__collect *collect); /* accepts zeroed */
/* Frees the times, when they were copied. */
void mrd__collect_drop_times(mrd__collect *collect);
/* Frees time, value and code, when they were copied: what is left is the details. */
void mrd__collect_drop_columns(mrd__collect *collect);

/* Move the rows, all of which came, into a new mrd__events: order by time (equal times keep file
 * order), keys in the order of model/events.h, names moved out of info. Raw part and start_ns only;
 * *last_ns is the largest time (-infinity without rows). Empties collect. workers at least 1; the
 * result does not depend on them. */
mrd__events *mrd__collect_group(mrd__collect *collect, mrd__event_info *info, uint32_t workers,
                                double *last_ns);

#endif
