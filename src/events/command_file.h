/* Commands of a simulated run as a Parquet file, `…_records.parquet` (spec event-trace section 6):
 * one row a command. */
#ifndef MRD_EVENTS_COMMAND_FILE_H
#define MRD_EVENTS_COMMAND_FILE_H

#include "meridian.h"

enum { /* columns, in the order of the file */
    MRD__COMMAND_CHIP,
    MRD__COMMAND_ENGINE,
    MRD__COMMAND_UNIT,
    MRD__COMMAND_THREAD,
    MRD__COMMAND_CMD,
    MRD__COMMAND_OP,
    MRD__COMMAND_PEER,
    MRD__COMMAND_BYTES,
    MRD__COMMAND_START,
    MRD__COMMAND_END,
    MRD__COMMAND_SOURCE,
    MRD__COMMAND_COLUMNS
};
extern const char *const mrd__command_columns[MRD__COMMAND_COLUMNS]; /* their names */

typedef enum mrd__command_engine {
    MRD__ENGINE_CDMA,
    MRD__ENGINE_TIU,
    MRD__ENGINE_SDMA
} mrd__command_engine;

typedef struct mrd__command_record {
    double start_ns, end_ns;
    int64_t cmd_id, bytes;
    int64_t source_op_id; /* -1: null */
    const char *op;       /* send, recv, reduce, copy, fence; static */
    int32_t chip_id, unit, thread;
    int32_t peer; /* -1: null */
    uint8_t engine;
} mrd__command_record;

typedef struct mrd__command_source {
    void *ctx;
    /* Fill at most max records; 0 ends. May be called from another thread than the caller's, one
     * call at a time. */
    mrd_status (*next)(void *ctx, mrd__command_record *records, size_t max, size_t *count,
                       mrd_error *error);
} mrd__command_source;

/* Write to a temporary name, sync, rename: path holds the whole file or what it held before. */
MRD_MUST_CHECK mrd_status mrd__command_write(const char *path, const mrd__command_source *source,
                                             mrd_error *error);

#endif
