/* One event of traceEvents as text: what the walkers (walk.c, fast.c) find and emit.c turns into
 * facts. Everything borrows from the text of the event. */
#ifndef MRD_INGEST_CHROME_JSON_EVENT_H
#define MRD_INGEST_CHROME_JSON_EVENT_H

#include "base/alloc.h"
#include "base/json.h"
#include "model/writer.h"

typedef enum mrd__cj_field {
    MRD__CJ_PH,
    MRD__CJ_NAME,
    MRD__CJ_CAT,
    MRD__CJ_TS,
    MRD__CJ_DUR,
    MRD__CJ_PID,
    MRD__CJ_TID,
    MRD__CJ_ARGS,
    MRD__CJ_ID,
    MRD__CJ_ID2,
    MRD__CJ_SCOPE,
    MRD__CJ_S,
    MRD__CJ_BP,
    MRD__CJ_BIND_ID,
    MRD__CJ_FLOW_IN,
    MRD__CJ_FLOW_OUT,
    MRD__CJ_SF,
    MRD__CJ_STACK,
    MRD__CJ_PROCESS_NAME,
    MRD__CJ_MERIDIAN, /* ours: what the format has no place for (export/convert_json.c) */
    MRD__CJ_FIELDS,
    MRD__CJ_UNKNOWN = MRD__CJ_FIELDS
} mrd__cj_field;

/* scale of a value whose number is not known: its text tells. */
#define MRD__CJ_UNSCALED 255

typedef struct mrd__cj_value {
    const char *at; /* strings: between the quotes; objects and arrays: from their bracket */
    uint32_t size;  /* an event is smaller than MRD__CJ_MAX_EVENT */
    uint8_t type;   /* mrd__json_type */
    bool special;   /* strings: needs decoding (a backslash, bytes that are not valid UTF-8) */
    uint8_t scale;  /* numbers: the value is number / 10^scale, or MRD__CJ_UNSCALED */
    int64_t number;
} mrd__cj_value;

typedef struct mrd__cj_event {
    const char *text; /* from '{' to behind '}' */
    size_t size;
    uint64_t offset;  /* of text in the file */
    uint32_t present; /* bit per field; the others are not set */
    bool plain;       /* nothing below is set: there is nothing to count */
    bool args_too_deep, string_too_long;
    uint64_t nonstandard, duplicates; /* in the whole event, args included */
    mrd__json_text_stats stats;
    mrd__cj_value fields[MRD__CJ_FIELDS];
} mrd__cj_event;

static inline bool mrd__cj_has(const mrd__cj_event *event, mrd__cj_field field)
{
    return event->present >> field & 1;
}

/* The field of a decoded key, MRD__CJ_UNKNOWN for any other. */
mrd__cj_field mrd__cj_field_of(const char *key, size_t size);

/* ---- Numbers (decimal.c) ---- */

typedef enum mrd__cj_number {
    MRD__CJ_EXACT,
    MRD__CJ_NOT_A_NUMBER,
    MRD__CJ_OVERFLOW
} mrd__cj_number;
/* Whole text as a decimal ([+-]digits[.digits][e[+-]digits], ".5" and "5." accepted) times 10^shift
 * as int64, rounded half away from zero. Exact at any length and magnitude. */
mrd__cj_number mrd__cj_decimal(mrd__str text, int shift, int64_t *out);
/* The same without rounding: digits behind the point are cut off. */
mrd__cj_number mrd__cj_whole(mrd__str text, int64_t *out);

/* ---- The plain walker (walk.c) ---- */

typedef enum mrd__cj_status {
    MRD__CJ_OK,
    MRD__CJ_MORE,
    MRD__CJ_ERROR
} mrd__cj_status;

typedef struct mrd__cj_key {
    const char *at;
    size_t size;
    uint64_t hash;
} mrd__cj_key;

/* A cursor over text with scratch memory that is reused; zeroed is ready. One thread. */
typedef struct mrd__cj_walk {
    const char *data;
    size_t size, at;
    size_t error_at;        /* after MRD__CJ_ERROR */
    const char *error_what; /* static text */
    uint64_t nonstandard, duplicates;
    mrd__json_text_stats stats;
    bool string_too_long;
    size_t deepest;              /* levels of the last value */
    MRD__VEC(uint64_t) kinds;    /* bit per level: 1 object */
    MRD__VEC(size_t) first_keys; /* per open level: where its keys begin */
    MRD__VEC(mrd__cj_key) keys;  /* keys of the open objects */
    mrd__arena decoded;          /* keys with escapes */
    mrd__buf scratch;
} mrd__cj_walk;

void mrd__cj_walk_reset(mrd__cj_walk *walk);
/* Put the cursor on text and forget all counts. */
void mrd__cj_walk_start(mrd__cj_walk *walk, const char *data, size_t size, size_t at);
/* Walk the value at the cursor (not at a space). OK: the cursor is behind it. MORE: the text ends
 * inside it, or right behind a number or word that may go on. */
mrd__cj_status mrd__cj_walk_value(mrd__cj_walk *walk);
/* Walk a string with its quotes; *out is what stands between them. */
mrd__cj_status mrd__cj_walk_string(mrd__cj_walk *walk, mrd__cj_value *out);
/* Walk the event object at data[at]. OK: walk->at is behind it and event is filled. After MORE
 * event->present and fields hold what was seen so far. */
mrd__cj_status mrd__cj_walk_event(mrd__cj_walk *walk, const char *data, size_t size, size_t at,
                                  mrd__cj_event *event);
/* Does an object with a string key "ph" at its own level begin at data[at]? MORE: cannot say. */
mrd__cj_status mrd__cj_walk_is_event(mrd__cj_walk *walk, const char *data, size_t size, size_t at);

static inline bool mrd__cj_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* ---- Facts (emit.c) ---- */

#define MRD__CJ_THREADS 1024 /* entries of the cache of threads, a power of two */

typedef struct mrd__cj_thread {
    int64_t pid, tid;
    uint32_t thread;
    bool known;
} mrd__cj_thread;

/* Where facts of one shard go; zeroed but shard and own_args is ready. */
typedef struct mrd__cj_out {
    mrd__shard *shard;
    bool own_args; /* the text is not the mapped file: args are copied */
    mrd__buf text, args;
    mrd__cj_thread threads[MRD__CJ_THREADS];
} mrd__cj_out;

void mrd__cj_out_reset(mrd__cj_out *out);
/* Count the event and write its facts and losses. */
void mrd__cj_emit(mrd__cj_out *out, const mrd__cj_event *event);
/* The phase letter an event counts as; 0 when it has none. */
unsigned char mrd__cj_letter(const mrd__cj_event *event);
/* Count an event by its letter (0: none). */
void mrd__cj_count(mrd__cj_out *out, unsigned char letter);
/* Counts that belong to text of any kind, each at offset. */
void mrd__cj_emit_stats(mrd__cj_out *out, const mrd__cj_walk *walk, uint64_t offset,
                        mrd__str excerpt);

/* ---- Top-level values (metadata.c) ---- */

/* Flatten a validated value into metadata rows ("a.b[0]"). *rows counts them over the file. */
void mrd__cj_metadata(mrd__cj_out *out, mrd__str key, mrd__str value, uint64_t offset,
                      size_t *rows);

#endif
