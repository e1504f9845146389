/* The log writer: records into segments, synced, checkpointed. One thread. The order of calls and
 * what a failure leaves are in log.c. */
#ifndef MRD_SESSION_LOG_H
#define MRD_SESSION_LOG_H

#include "base/alloc.h"
#include "session/files.h"
#include "session/format/merkle.h"
#include "session/format/record.h"
#include "session/syncer.h"

/* What holds at one border between records: a plain value, kept of the last sync to go back to. */
typedef struct mrd__log_mark {
    /* of the segment */
    uint64_t bytes;
    uint64_t counts[MRD__RECORD_RAW_TYPES];
    uint32_t chain;
    mrd__sha256 hash;
    /* of the session */
    uint64_t records, sequence, since_checkpoint;
    mrd__merkle merkle;
} mrd__log_mark;

/* A closed segment. */
typedef struct mrd__log_segment {
    uint32_t index;
    uint64_t bytes;       /* that count */
    uint64_t tail;        /* bytes in the file behind them, which do not */
    bool sync_failed;     /* a later segment's gap record says where this one ends */
    bool headless;        /* not even its header was synced */
    uint8_t sha256[32];   /* of `bytes` */
    uint64_t first, last; /* sequences; last < first: none */
    uint64_t counts[MRD__RECORD_RAW_TYPES];
} mrd__log_segment;

typedef struct mrd__log_options {
    const mrd__files *files;
    mrd__syncer *syncer; /* borrowed; of the same files */
    const char *dir;     /* DIR.open, borrowed */
    uint8_t uuid[16];
    uint8_t previous[16]; /* what the first segment's header holds (mrd__identity_prefix) */
    uint64_t segment_bytes, segment_ns, sync_ns;
    size_t sync_bytes;
    uint32_t sync_records, checkpoint_records;
} mrd__log_options;

/* What a sync that is under way covers, in full in the file. */
typedef struct mrd__log_flight {
    bool under_way;
    bool urgent;
    mrd__log_mark mark;
    mrd__buf bytes; /* what was tail; the spare buffer while none is under way */
    uint64_t unsynced, unsynced_since_ns;
} mrd__log_flight;

typedef struct mrd__log {
    mrd__log_options o;
    char *raw; /* DIR.open/raw */
    int fd;    /* -1: no segment is open */
    char *path;
    uint32_t index; /* of the newest segment ever begun */
    uint64_t first; /* first sequence of the open segment */
    uint64_t opened_ns, unsynced_since_ns;
    mrd__log_mark now, synced;
    bool head_synced;   /* the open segment's header is on disk */
    bool flag;          /* all before the next record is synced when that is written */
    bool urgent;        /* a lifecycle record waits for its sync */
    bool end_at_synced; /* the segment's sync failed and it is not closed yet */
    mrd__log_flight flight;
    mrd__buf tail;     /* encoded since the last sync (behind the flight, where one is) */
    size_t hashed;     /* bytes of tail that are in now.hash; all of them where marks are taken */
    size_t written;    /* bytes of tail that are in the file */
    size_t ahead;      /* bytes of tail when writing ahead was tried last */
    uint64_t unsynced; /* records in tail */
    uint32_t failures; /* syncs failed one after the other */
    uint64_t sync_failures;
    uint64_t written_sequence; /* newest in a file */
    MRD__VEC(mrd__log_segment) closed;
    size_t told; /* closed segments up to here are told by synced gap records */
} mrd__log;

/* Make raw/ and the first segment, synced. On failure reset is still to be called. */
MRD_MUST_CHECK mrd_status mrd__log_begin(mrd__log *log, const mrd__log_options *options,
                                         mrd_error *error);
void mrd__log_reset(mrd__log *log);

/* Encode one record into memory. Cannot fail; the caller steps when that is wanted (wants_step). */
void mrd__log_append(mrd__log *log, unsigned type, unsigned flags, uint64_t sequence,
                     const void *payload, size_t size);
void mrd__log_gap(mrd__log *log, mrd__gap_code code, uint64_t a, uint64_t b);
/* Write what is encoded where that is much, before the step; the step says whether it worked. */
void mrd__log_write_ahead(mrd__log *log);
/* As much is encoded as goes before the next step: a sync's bytes, or a segment's. */
bool mrd__log_wants_step(const mrd__log *log);
/* When the next sync is due, ns; UINT64_MAX: nothing waits for one. */
uint64_t mrd__log_due_ns(const mrd__log *log);
/* Write what is encoded; sync where it is due (or wanted); begin a new segment where one is full.
 * more: records to encode are waiting, and a step without more comes after them; then the sync may
 * still be under way on return, and its outcome is the next step's.
 * After a failure everything encoded is still held: the next step goes on where this one stopped.
 */
MRD_MUST_CHECK mrd_status mrd__log_step(mrd__log *log, bool sync, bool more, mrd_error *error);
/* Sync and close the open segment; it is then in `closed`, and nothing can be appended. */
MRD_MUST_CHECK mrd_status mrd__log_end(mrd__log *log, mrd_error *error);
/* Close the log at what is in the file as whole records (at what was synced, where a sync fails
 * now): for a session that is sealed without the rest. */
MRD_MUST_CHECK mrd_status mrd__log_give_up(mrd__log *log, mrd_error *error);

#endif
