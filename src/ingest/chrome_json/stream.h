/* A gzip file of JSON: inflating and parsing side by side. */
#ifndef MRD_INGEST_CHROME_JSON_STREAM_H
#define MRD_INGEST_CHROME_JSON_STREAM_H

#include "ingest/chrome_json/reader.h"
#include "ingest/gzip.h"

typedef struct mrd__cj_stream {
    mrd__gzip *gzip;                 /* borrowed */
    mrd__chrome_json_reader *reader; /* borrowed */
    uint32_t threads;                /* two are used */
    size_t piece;                    /* bytes inflated at a time */
    uint64_t compressed;             /* size of the file, for progress */
    const char *path;
    mrd_progress_fn progress; /* may be NULL */
    void *progress_ctx;
} mrd__cj_stream;

/* Feed the reader everything the gzip stream holds; what it ended with is in its info. */
MRD_MUST_CHECK mrd_status mrd__cj_read_stream(const mrd__cj_stream *stream, mrd_error *error);

#endif
