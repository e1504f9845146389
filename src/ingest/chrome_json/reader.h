/* The serial reader of Chrome Trace Event JSON: a push interface over text in pieces of any size,
 * and the loop over the elements of traceEvents that the parallel reader shares. */
#ifndef MRD_INGEST_CHROME_JSON_READER_H
#define MRD_INGEST_CHROME_JSON_READER_H

#include "ingest/chrome_json/event.h"

typedef struct mrd__chrome_json_reader mrd__chrome_json_reader;

typedef struct mrd__cj_reader_options {
    mrd__shard *shard;   /* facts go here; the caller has opened a chunk */
    bool own_args;       /* the text is no mapped file: copy args into the shard */
    bool fast;           /* try the fast walker first; feed then copies, map needs readable slack */
    bool stop_at_events; /* map only: return before the first element of traceEvents */
    bool (*tick)(void *ctx, uint64_t done); /* may be NULL; now and then; false cancels */
    void *tick_ctx;
} mrd__cj_reader_options;

mrd__chrome_json_reader *mrd__chrome_json_create(const mrd__cj_reader_options *options);
void mrd__chrome_json_destroy(mrd__chrome_json_reader **reader);
/* Take the next piece; it is copied where it has to be kept. MRD_ERR_FORMAT when the text is no
 * trace at all. */
MRD_MUST_CHECK mrd_status mrd__chrome_json_feed(mrd__chrome_json_reader *reader, const char *data,
                                                size_t size, mrd_error *error);
/* The text is over. cut: it is known to end early (a truncated gzip file). */
MRD_MUST_CHECK mrd_status mrd__chrome_json_finish(mrd__chrome_json_reader *reader, bool cut,
                                                  mrd_error *error);

/* ---- Whole text in memory ---- */

/* Read from *at on, as far as the options say, without copying; data is the whole text. */
MRD_MUST_CHECK mrd_status mrd__chrome_json_map(mrd__chrome_json_reader *reader, const char *data,
                                               size_t size, size_t *at, mrd_error *error);
/* Did it stop before the events? */
bool mrd__chrome_json_at_events(const mrd__chrome_json_reader *reader);
/* Others have read the events up to where mrd__chrome_json_map is called next. closed: the array's
 * bracket lies right before that. */
void mrd__chrome_json_resume(mrd__chrome_json_reader *reader, bool closed);

/* ---- The loop over elements ---- */

typedef struct mrd__cj_core {
    mrd__cj_out out;
    mrd__cj_walk walk;
    uint64_t base;              /* offset of the window's first byte in the file */
    bool fast;                  /* try the fast walker first: see MRD__CJ_SLACK */
    bool large_event;           /* TOO_LARGE: it is an object, */
    unsigned char large_letter; /* and its phase as far as it was seen */
} mrd__cj_core;

void mrd__cj_core_reset(mrd__cj_core *core);

typedef enum mrd__cj_stop {
    MRD__CJ_WANT_MORE, /* the text ends inside the element at *at */
    MRD__CJ_CLOSED,    /* *at is behind the closing bracket */
    MRD__CJ_BROKEN,    /* a syntax error in the element at *at: core->walk.error_at, _what */
    MRD__CJ_TOO_LARGE, /* the element at *at passes MRD__CJ_MAX_EVENT */
    MRD__CJ_REACHED,   /* an element that is an object begins at *at, not before `until` */
} mrd__cj_stop;
/* Read elements at data[*at...] and emit them. An element the text ends in is not taken. */
mrd__cj_stop mrd__cj_read_elements(mrd__cj_core *core, const char *data, size_t size, size_t *at,
                                   size_t until);

#endif
