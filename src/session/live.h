/* A session that is being written: records go to disk and, in the same order, through the engine,
 * whose results are written beside them. One thread. */
#ifndef MRD_SESSION_LIVE_H
#define MRD_SESSION_LIVE_H

#include "base/alloc.h"
#include "session/engine.h"
#include "session/recording.h"

/* How long a record waits for room before it is refused: a disk that stands still for longer than
 * this loses readings, counted; it never stops the loop that reads for ever. */
#define MRD__LIVE_WAIT_NS UINT64_C(2000000000)
/* A file that is taken in can wait, and loses nothing by it. */
#define MRD__LIVE_FILE_WAIT_NS UINT64_C(3600000000000)

/* Payloads that wait for each other: a lock a record costs more than the record; small enough to
 * stay in the nearest caches until they are copied and projected. */
#define MRD__LIVE_BATCH_BYTES ((size_t)64 << 10)

typedef struct mrd__live {
    mrd__recording *recording;
    mrd__engine *engine;
    mrd__derived *domain, *metrics;
    mrd__buf payloads, texts;       /* of `pending`; scratch */
    MRD__VEC(mrd__pending) pending; /* not yet given to the writer */
    size_t space;                   /* bytes that these take in the ingress */
    bool batched;                   /* they may wait for each other (see mrd__live_flush) */
    uint64_t wait_ns;               /* as above; create sets the first */
    uint64_t refused;               /* readings that found no room */
    MRD__VEC(const char *) reasons; /* static: why it cannot be sealed as completed */
} mrd__live;

/* Make DIR.open. target: JSON object, what is observed. Codes exists, as mrd__recording_create. */
MRD_MUST_CHECK mrd_status mrd__live_create(mrd__live *live, const char *dir, mrd__str target,
                                           mrd_error *error);
void mrd__live_destroy(mrd__live *live); /* accepts zeroed */

/* One line of an adapter. One that the end of the stream has cut leaves a gap. What finds no room
 * within wait_ns is refused and counted. */
MRD_MUST_CHECK mrd_status mrd__live_line(mrd__live *live, mrd__str line, uint64_t size, bool ended,
                                         const mrd__stamp *stamp, mrd__encoded *encoded,
                                         mrd_error *error);
MRD_MUST_CHECK mrd_status mrd__live_reading(mrd__live *live, const mrd__reading *reading,
                                            uint64_t host_ns, mrd_error *error);
MRD_MUST_CHECK mrd_status mrd__live_tick(mrd__live *live, uint64_t number, uint64_t host_ns,
                                         mrd_error *error);
/* With live->batched, records go on in batches of MRD__LIVE_BATCH_BYTES, one lock each: until then
 * they are in no file and not counted. This gives what waits to the writer and the engine; finish
 * does it, too. */
MRD_MUST_CHECK mrd_status mrd__live_flush(mrd__live *live, mrd_error *error);
/* A record of another type: LIFECYCLE, CLOCK, GAP; a JSON object. */
MRD_MUST_CHECK mrd_status mrd__live_note(mrd__live *live, mrd__record_type type, mrd__str json,
                                         mrd_error *error);
/* The three clocks, read together now. */
MRD_MUST_CHECK mrd_status mrd__live_clocks(mrd__live *live, mrd_error *error);
/* Seals as incomplete for this, too; reason is static. */
void mrd__live_incomplete(mrd__live *live, const char *reason);
/* Drain, end event (a JSON object), report, seal. *completed: not incomplete. A writer that stopped
 * (no space) is let go on once; where it cannot, DIR.open is left as after a crash. Once. */
MRD_MUST_CHECK mrd_status mrd__live_finish(mrd__live *live, mrd__str end_event, bool *completed,
                                           mrd_error *error);

#endif
