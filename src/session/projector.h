/* The projector: one pure function, (state, event) -> (state, samples). Live view, report and
 * replay all use it, so they cannot differ. It never reads a clock: time comes from the envelopes,
 * and ticks of the publisher are envelopes, too. */
#ifndef MRD_SESSION_PROJECTOR_H
#define MRD_SESSION_PROJECTOR_H

#include "session/format/domain.h"
#include "session/format/sample.h"

/* Series of one session: a frame record names them all (16 bytes each, 1 MiB). Readings of further
 * ones are counted, not kept. */
#define MRD__SERIES_MAX 60000u
/* Pairs of sourceId and kind, and processes whose state is known; envelopes of further ones are
 * counted, nothing is computed of them. */
#define MRD__STREAMS_MAX 16384u
#define MRD__PIDS_MAX 16384u
#define MRD__NAMES_MAX 1024u /* of clock domains and schemas; they are looked through */
/* Frames of one second on one display; more makes fps unsupported while it lasts. */
#define MRD__WINDOW_FRAMES_MAX 16384u
/* Readings of connections that are remembered, to know them when they are sent again. */
#define MRD__REPLAYS_MAX 65536u

/* Where results go. Any function may be NULL. What they are given is borrowed until they return;
 * series until the projector is destroyed. They must not call the projector. */
typedef struct mrd__session_sink {
    void *ctx;
    void (*origin)(void *ctx, uint64_t sequence, const mrd__origin *origin); /* before its events */
    void (*event)(void *ctx, const mrd__domain_event *event);
    void (*series)(void *ctx, uint64_t sequence,
                   const mrd__series *series); /* before its samples */
    void (*sample)(void *ctx, const mrd__sample *sample);
    void (*frame)(void *ctx, const mrd__frame *frame);
} mrd__session_sink;

typedef struct mrd__projector mrd__projector;

mrd__projector *mrd__projector_create(void);
void mrd__projector_destroy(mrd__projector **projector); /* accepts NULL */
/* The same state again, independent of the first: the caller destroys it. */
mrd__projector *mrd__projector_copy(const mrd__projector *projector);

/* One envelope; sequence rises. No memory is taken once all its names, series and windows were
 * seen. One thread a projector. */
void mrd__projector_apply(mrd__projector *projector, uint64_t sequence,
                          const mrd__envelope *envelope, const mrd__session_sink *sink);
/* The stream of a source ended or broke (sequence: the newest one): its event metrics are missing
 * from the next frame on, until it comes back. An empty source_id: all but the publisher. */
void mrd__projector_end(mrd__projector *projector, uint64_t sequence, mrd__str source_id,
                        const mrd__session_sink *sink);

typedef struct mrd__projector_counts {
    uint64_t envelopes, events, samples, frames;
    uint64_t unknown_kinds; /* envelopes of which nothing is computed */
    uint64_t beyond_limit;  /* readings of series, envelopes of streams above the limits, and
                             * names too long to be one */
    uint64_t bad_payloads;  /* that are no JSON object */
    uint64_t stopped;       /* `stopped` lines */
} mrd__projector_counts;
mrd__projector_counts mrd__projector_counted(const mrd__projector *projector);
/* {"source": {"numer": n, "denom": n}, ...}: timebases as they are now, sorted; for manifests. */
void mrd__projector_timebases(const mrd__projector *projector, mrd__buf *out);

#endif
