/* The parallel reader of the elements of traceEvents in a mapped file. */
#ifndef MRD_INGEST_CHROME_JSON_PARALLEL_H
#define MRD_INGEST_CHROME_JSON_PARALLEL_H

#include "ingest/ingest.h"

/* How a worker finds where the first event of a chunk begins. One alone knows: where the chunk
 * before ended. Several guess, and scan what lies behind a wrong guess. The others make one do as
 * several, for tests. */
typedef enum mrd__cj_borders {
    MRD__CJ_BORDERS_AUTO,
    MRD__CJ_BORDERS_SCAN,
    MRD__CJ_BORDERS_GUESS,
} mrd__cj_borders;

typedef struct mrd__cj_parallel_options {
    mrd__writer *writer;
    uint32_t file;
    uint32_t threads;
    size_t chunk;             /* bytes, at least 1 */
    uint64_t first_order;     /* of the chunks in the writer: the first one's */
    mrd_progress_fn progress; /* may be NULL */
    void *progress_ctx;
    const char *path; /* for progress */
    /* Of the text, to copy chunks from instead of touching what is mapped; may be NULL. */
    const mrd__map *map;
    mrd__cj_borders borders;
} mrd__cj_parallel_options;

typedef struct mrd__cj_parallel_result {
    size_t at;   /* where the serial reader goes on */
    bool closed; /* the array's bracket lies right before at */
    bool cancelled;
    uint64_t next_order;
    uint64_t rejected; /* chunks whose events were parsed for nothing: behind a syntax error, the
                          end of the array or a wrong guess */
} mrd__cj_parallel_result;

/* Read elements from data[at] on; data is followed by MRD__MAP_SLACK zero bytes. What was read up
 * to result.at is in shards of the file, exactly as the serial reader would put it. */
mrd__cj_parallel_result mrd__cj_read_parallel(const mrd__cj_parallel_options *options,
                                              const char *data, size_t size, size_t at);

#endif
