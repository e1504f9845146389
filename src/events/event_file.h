/* Event traces as Parquet files, in and out (spec event-trace sections 1 and 6). */
#ifndef MRD_EVENTS_EVENT_FILE_H
#define MRD_EVENTS_EVENT_FILE_H

#include "events/category.h"

/* ---- Reading ---- */

#define MRD__EVENT_WORKERS 64 /* batches at work at a time, at most */
/* Times are -LIMIT <= t < LIMIT: bounds and absolute times are given as int64 ns. */
#define MRD__EVENT_TIME_LIMIT 0x1p63

/* Rows that stand together in the file; everything is borrowed for the call. */
typedef struct mrd__event_batch {
    uint64_t first_row;
    size_t rows;
    uint32_t worker; /* below MRD__EVENT_WORKERS; no two calls at a time have the same */
    const double *time, *value;
    const uint8_t *category;
    const uint32_t *component; /* index of mrd__event_info.components, in no order */
    const mrd__str *detail;    /* data NULL: null. The array is NULL when all rows are null */
    uint64_t inexact;          /* integer times of the batch that no double holds exactly */
} mrd__event_batch;

typedef struct mrd__event_info {
    mrd__str *components; /* [component_count], owned; valid UTF-8 */
    size_t component_count;
    uint64_t rows;
    bool has_sim_end;
    double sim_end_ns;
} mrd__event_info;
void mrd__event_info_reset(mrd__event_info *info);

typedef struct mrd__event_sink {
    void *ctx;
    /* Before the first batch: how many rows come, if the file is whole. May be NULL. */
    mrd_status (*begin)(void *ctx, uint64_t rows, mrd_error *error);
    /* All rows below the announced number, each once, in any order, on several threads at once. */
    void (*batch)(void *ctx, const mrd__event_batch *batch);
    /* Asked now and then on the calling thread; false ends the reading with MRD_ERR_CANCELLED. May
     * be NULL. */
    bool (*progress)(void *ctx, uint64_t rows_done);
} mrd__event_sink;

/* Read an event trace, whoever wrote it: any codec and page version, dictionary or plain, numbers
 * of any width, unsorted. *info is filled at the end. MRD_ERR_FORMAT "bad_trace" names file, row
 * (the first one that is wrong) and value: a missing column, a type that is not asked for, a null,
 * a NaN, a time outside MRD__EVENT_TIME_LIMIT, a category outside the set, text that is not
 * UTF-8. threads: 0 one per core. */
MRD_MUST_CHECK mrd_status mrd__event_read(const char *path, uint32_t threads,
                                          const mrd__event_sink *sink, mrd__event_info *info,
                                          mrd_error *error);

/* ---- Writing ---- */

typedef struct mrd__event_record {
    double time_ns, value;
    mrd__str component; /* must stay until the file is written */
    mrd__str detail;    /* data NULL: null; must stay until the next call */
    uint8_t category;
} mrd__event_record;

typedef struct mrd__event_source {
    void *ctx;
    /* Fill at most max records, in time order over all calls (asserted); 0 ends. May be called
     * from another thread than the caller's, one call at a time. */
    mrd_status (*next)(void *ctx, mrd__event_record *records, size_t max, size_t *count,
                       mrd_error *error);
    double sim_end_ns;
    /* Where the end is known only after the last row: called once after it, from the caller's
     * thread, in place of sim_end_ns; *truncated says that the trace ends before the simulation.
     * NULL: sim_end_ns, not truncated. */
    void (*end)(void *ctx, double *sim_end_ns, bool *truncated);
} mrd__event_source;

/* Write to a temporary name, sync, rename: path holds the whole file or what it held before. */
MRD_MUST_CHECK mrd_status mrd__event_write(const char *path, const mrd__event_source *source,
                                           mrd_error *error);

#endif
