/* Recording a session: bounded ingress, one writer, segments, finishing.
 *
 *   readers (any threads)                 writer (one thread)              disk, DIR.open/
 *   room → reserve → commit   ──ring──▶   in sequence order   ──▶   raw/000001.mrl, 000002.mrl ...
 *                                         sync every 250 ms or 256 records
 *
 * A reader first gets room (or is refused: counted, told in a gap record), reads its source, then
 * reserves: it gets the next sequence, for good. Records go to disk in the order of their
 * reservation; one that is never committed holds up what is behind it, and finishing is refused
 * while it is missing. Sequences are never given out again.
 *
 * While a backlog is synced (by a thread of its own) the writer encodes what comes next, which is
 * written when that sync has ended.
 *
 * What is written and not yet synced is kept in memory. When a sync fails it is not tried again:
 * the segment ends where it was last known to be on disk, and the rest is written again into a new
 * segment that says so (MRD__GAP_SYNC_FAILED). When a write fails (no space) the writer stops with
 * `writer_failed`; mrd__recording_retry goes on where it stopped. */
#ifndef MRD_SESSION_RECORDING_H
#define MRD_SESSION_RECORDING_H

#include "session/files.h"
#include "session/format/record.h"

typedef struct mrd__recording mrd__recording;

typedef struct mrd__recording_options {
    const char *dir;         /* the finished session's folder; must not exist, nor DIR.open */
    const uint8_t *uuid;     /* 16 bytes; NULL: random (version 4) */
    const char *identity;    /* JSON object: further members of session.json; NULL: none */
    const mrd__files *files; /* NULL: the operating system's; must outlive the recording */
    /* Called by the writer after each sync with the newest sequence that is on disk, and all
     * before it. Must not call back into the recording. May be NULL. */
    void (*durable)(void *ctx, uint64_t sequence);
    void *durable_ctx;
    bool no_thread;       /* nothing is written but in pump, drain and finish: for tests */
    size_t ingress_bytes; /* these: 0 for the values of session/limits.h */
    uint64_t segment_bytes, segment_ns;
    uint64_t sync_ns;
    size_t sync_bytes;
    uint32_t sync_records, checkpoint_records;
} mrd__recording_options;

/* Make DIR.open, session.json and the first segment, all synced, and start the writer. The parent
 * of dir must exist. MRD_ERR_ARGUMENT "exists", MRD_ERR_IO; on failure what was made is left. */
MRD_MUST_CHECK mrd_status mrd__recording_create(const mrd__recording_options *options,
                                                mrd__recording **out, mrd_error *error);
/* Stop the writer and free; without a finish before it DIR.open stays as after a crash, with what
 * was committed written if that is possible. No reader may be inside. Accepts NULL. */
void mrd__recording_destroy(mrd__recording **recording);

/* Borrowed until destroy: DIR.open or DIR, whichever it is now; 16 bytes of uuid. */
const char *mrd__recording_dir(const mrd__recording *recording);
const uint8_t *mrd__recording_uuid(const mrd__recording *recording);

/* ---- Ingress: any thread ---- */

/* Leave to bring one record of at most `size` bytes of payload. */
typedef struct mrd__room {
    size_t bytes; /* 0: none */
} mrd__room;

/* Get room, waiting at most wait_ns for it. MRD_ERR_LIMIT "ingress_full" (counted as a refusal; not
 * counted where counted is false, for readers that just try again), MRD_ERR_LIMIT "record_size",
 * MRD_ERR_STATE "admission_closed" or "writer_failed". */
MRD_MUST_CHECK mrd_status mrd__recording_room(mrd__recording *recording, size_t size,
                                              uint64_t wait_ns, bool counted, mrd__room *room,
                                              mrd_error *error);
/* Give back room that was not used. */
void mrd__recording_room_return(mrd__recording *recording, mrd__room *room);

/* A record on its way. */
typedef struct mrd__slot {
    uint64_t sequence; /* its own, or the newest one for types that take none */
    uint8_t *payload;  /* to be filled, size bytes; valid until commit */
    size_t size;
} mrd__slot;

/* Use up room: the record's place in the order is fixed now. size at most that of the room. type
 * one of RAW, DECODE_ERROR, LIFECYCLE, CLOCK, GAP. Cannot fail. */
void mrd__recording_reserve(mrd__recording *recording, mrd__room *room, mrd__record_type type,
                            size_t size, mrd__slot *slot);
/* The payload is there: the writer takes it from here. False when the session was sealed without
 * it meanwhile (finish with an incomplete reason). */
bool mrd__recording_commit(mrd__recording *recording, mrd__slot *slot);

/* All four in one, without waiting: *sequence (may be NULL) is the record's. */
MRD_MUST_CHECK mrd_status mrd__recording_append(mrd__recording *recording, mrd__record_type type,
                                                const mrd__str *parts, size_t count,
                                                uint64_t *sequence, mrd_error *error);

/* Records that go in together. */
typedef struct mrd__pending {
    mrd__record_type type;
    uint32_t size;     /* of the payload */
    uint64_t sequence; /* filled: as in mrd__slot */
} mrd__pending;

/* Many records with one lock: their payloads lie one behind the other. Waits at most wait_ns for
 * room for all of them; none is refused as one each (and counted). Altogether at most half the
 * ingress. No finish may run meanwhile. */
MRD_MUST_CHECK mrd_status mrd__recording_append_many(mrd__recording *recording,
                                                     mrd__pending *records, size_t count,
                                                     const void *payloads, uint64_t wait_ns,
                                                     mrd_error *error);

/* A hint while records for append_many are made: one of `size` bytes comes with it, behind others
 * that take `before` bytes in the ingress. */
void mrd__recording_expect(const mrd__recording *recording, size_t before, size_t size);

/* ---- Progress ---- */

typedef struct mrd__recording_state {
    uint64_t reserved;                 /* newest sequence given out */
    uint64_t written;                  /* newest sequence in a file */
    uint64_t durable;                  /* newest sequence on disk, and all before it */
    uint64_t refused;                  /* rooms refused, in all */
    uint64_t sync_failures;            /* syncs that failed, in all */
    uint64_t bytes;                    /* in raw segments */
    uint64_t rooms;                    /* given out and not yet used or returned */
    uint32_t segment;                  /* index of the one being written */
    size_t ingress_used, ingress_peak; /* bytes */
    bool failed;                       /* the writer stopped; see retry */
} mrd__recording_state;
void mrd__recording_state_get(mrd__recording *recording, mrd__recording_state *state);

/* Write and sync what is committed, up to the first record that is not; wait for it. The writer's
 * failure when it stopped: MRD_ERR_IO "writer_failed". */
MRD_MUST_CHECK mrd_status mrd__recording_drain(mrd__recording *recording, mrd_error *error);
/* Go on after a failure from exactly where the writer stopped; else as drain. */
MRD_MUST_CHECK mrd_status mrd__recording_retry(mrd__recording *recording, mrd_error *error);
/* With no_thread: what the writer's thread does at one tick (no sync before it is due). */
MRD_MUST_CHECK mrd_status mrd__recording_pump(mrd__recording *recording, mrd_error *error);

/* ---- Files that replay makes again ---- */

/* One of domain.mrl and metrics.mrl, written record by record: types from MRD__RECORD_DERIVED on,
 * payloads opaque, sequence (lastRawSequence) never falling. names: one for each type from
 * MRD__RECORD_DERIVED on that is used, for the manifest's counts; static. One thread a file. */
typedef struct mrd__derived mrd__derived;
MRD_MUST_CHECK mrd_status mrd__recording_derive(mrd__recording *recording, mrd__file_kind kind,
                                                const char *const *names, size_t name_count,
                                                mrd__derived **out, mrd_error *error);
/* Buffered. A failure stays: every later append and the finish of the recording say it again. */
MRD_MUST_CHECK mrd_status mrd__derived_append(mrd__derived *derived, unsigned type,
                                              uint64_t sequence, const mrd__str *parts,
                                              size_t count, mrd_error *error);

/* A whole file at the top of the session ("report.json"), replaced as a whole. Known to the
 * manifest. names: [a-z0-9.-]+, none of the session's own. */
MRD_MUST_CHECK mrd_status mrd__recording_file(mrd__recording *recording, const char *name,
                                              mrd__str bytes, mrd_error *error);

/* ---- Finishing ---- */

/* No room from here on; rooms already given may still be used. */
void mrd__recording_close_admission(mrd__recording *recording);

/* Sequences from..to, reserved and not committed. */
typedef struct mrd__missing {
    uint64_t from, to;
} mrd__missing;
/* Up to max ranges; returns how many there are. */
size_t mrd__recording_missing(mrd__recording *recording, mrd__missing *out, size_t max);

typedef struct mrd__finish {
    mrd__str end_event; /* payload of the last lifecycle record; none where data is NULL */
    /* JSON object with the members that the manifest takes from its caller: counts by source and
     * quality, gaps, registry and definition versions, timebases, ... Names that the manifest has
     * itself (see session/format/record.h) are refused: MRD_ERR_ARGUMENT "facts". */
    const char *facts;
    /* Seal as incomplete for these reasons; none: completed, or refused. */
    const char *const *reasons;
    size_t reason_count;
} mrd__finish;

/* Close admission; drain; end event; all reservations consumed; segments synced, closed, read-only;
 * derived files likewise; manifest; seal; DIR.open renamed to DIR, its parent synced. Each step
 * only after the one before is on disk. Refused, and everything goes on as before: MRD_ERR_STATE
 * "reads_open" (rooms not returned), "reservations_open" (the message names the numbers),
 * "writer_failed". With reasons the missing numbers become a gap and a reason more. A failure
 * (MRD_ERR_IO) leaves DIR.open; finish may be called again. Nothing but destroy after MRD_OK. */
MRD_MUST_CHECK mrd_status mrd__recording_finish(mrd__recording *recording,
                                                const mrd__finish *finish, mrd_error *error);

#endif
