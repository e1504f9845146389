/* From records to events, samples and report: the one path that live recording, ingest, recovery
 * and replay share, so that they cannot differ.
 *
 *   line, reading, tick ─encode─► payload of a raw record ─take─► domain.mrl, metrics.mrl
 *                                                        └──────► report.json, facts
 *
 * take sees nothing but records as they are stored; it reads no clock. One thread. */
#ifndef MRD_SESSION_ENGINE_H
#define MRD_SESSION_ENGINE_H

#include "session/format/record.h"
#include "session/report.h"
#include "session/session.h"
#include "session/sources/reading.h"

/* ---- Encoding ---- */

/* What the owner of a transport knows of a line; without it (ingest) the line's own members count.
 */
typedef struct mrd__stamp {
    uint64_t host_ns;   /* CLOCK_MONOTONIC when its last byte was read */
    uint64_t reconnect; /* generation of the connection, from 0 */
    uint64_t target;
    mrd__str stops; /* sourceId of a `stopped` line that names none: of this connection alone */
} mrd__stamp;

typedef struct mrd__encoded {
    mrd__record_type type; /* RAW, or DECODE_ERROR */
    bool stopped;          /* the line says that its adapter stops */
    mrd__str source_id;    /* of RAW; borrowed from line and texts */
} mrd__encoded;

/* The record payload of one line, appended to out. size: the line's full size, above line.size
 * where it was over the limit; ended: false for a last line without LF. stamp may be NULL. texts:
 * scratch. */
mrd__encoded mrd__encode_line(mrd__str line, uint64_t size, bool ended, const mrd__stamp *stamp,
                              mrd__buf *texts, mrd__buf *out);
/* The record payload of a built-in reading, or of the publisher's tick. */
void mrd__encode_reading(const mrd__reading *reading, uint64_t host_ns, mrd__buf *out);
void mrd__encode_tick(uint64_t number, uint64_t host_ns, mrd__buf *out);

/* ---- Projecting ---- */

/* Where derived records go: type from MRD__RECORD_DERIVED on. derived NULL: nowhere. */
typedef struct mrd__engine_sink {
    void *ctx;
    mrd_status (*derived)(void *ctx, mrd__file_kind kind, unsigned type, uint64_t sequence,
                          mrd__str payload, mrd_error *error);
    /* A sample, beside its record; may be NULL. */
    void (*sample)(void *ctx, const mrd__sample *sample);
} mrd__engine_sink;

/* What a person is shown while it runs. */
typedef struct mrd__engine_counts {
    uint64_t events, samples, decode_errors, gaps;
    uint64_t beyond_limit; /* the projector's: stored, but nothing is computed of them */
} mrd__engine_counts;

/* A series as the newest frame of the publisher had it. */
typedef struct mrd__engine_value {
    const mrd__series *series; /* until the engine is destroyed */
    mrd__source_state state;
    mrd__measured value;
    bool framed; /* it was in a frame; else state and value say nothing yet */
} mrd__engine_value;

/* A source: seen, and as the newest frame had it (live where it has no series). */
typedef struct mrd__engine_source {
    mrd__str id; /* until the engine is destroyed */
    uint64_t envelopes;
    mrd__source_state state;
} mrd__engine_source;

typedef struct mrd__engine mrd__engine;

/* sink is copied; its ctx must outlive the engine. */
mrd__engine *mrd__engine_create(const mrd__engine_sink *sink);
void mrd__engine_destroy(mrd__engine **engine); /* accepts NULL */
/* One raw record of any type, in order. Records that the log writer makes itself (checkpoints, its
 * own gaps) change nothing: a live engine never meets them. MRD_ERR_FORMAT for a payload that is
 * none, or the sink's. */
MRD_MUST_CHECK mrd_status mrd__engine_take(mrd__engine *engine, const mrd__record *record,
                                           mrd_error *error);
mrd__engine_counts mrd__engine_counted(const mrd__engine *engine);
/* All series, by id; all sources, in order of appearance. Borrowed until the next call. */
const mrd__engine_value *mrd__engine_values(const mrd__engine *engine, size_t *count);
const mrd__engine_source *mrd__engine_sources(mrd__engine *engine, size_t *count);
/* The running report, to be read. */
const mrd__session_report *mrd__engine_report(const mrd__engine *engine);
/* What the manifest takes from here, a JSON object: versions, counts by source and quality, gaps,
 * timebases. */
void mrd__engine_facts(const mrd__engine *engine, mrd__buf *out);
/* Names of derived types from MRD__RECORD_DERIVED on, for the manifest's counts. Static. */
const char *const *mrd__engine_types(mrd__file_kind kind, size_t *count);

#endif
