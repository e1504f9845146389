/* What the parts of the session importer share. */
#ifndef MRD_INGEST_SESSION_INSIDE_H
#define MRD_INGEST_SESSION_INSIDE_H

#include "base/alloc.h"
#include "base/text.h"
#include "ingest/ingest.h"
#include "session/format/domain.h"
#include "session/format/reader.h"
#include "session/format/sample.h"

/* Records of one chunk (sealing shares out whole ones) and between two calls of the progress
 * function: some ms. */
#define MRD__SESSION_CHUNK 65536
/* The fastest line of a local clock is received within this of its time. A source that is further
 * off names a clock of the same kind on another machine. */
#define MRD__SESSION_DELAY_NS 1000000000
/* session.json and seal.json are below 4 KiB but for the target's texts. */
#define MRD__SESSION_DOCUMENT_MAX ((size_t)1 << 20)
#define MRD__SESSION_MANIFEST_MAX ((size_t)256 << 20) /* 300 bytes a segment, as it is written */

/* ---- What the documents say (documents.c) ---- */

typedef struct mrd__session_gap {
    mrd__str object, name; /* raw JSON, borrowed from the manifest: the gap; its name's string */
    uint64_t sequence;
} mrd__session_gap;

typedef struct mrd__session_file { /* metrics.mrl, domain.mrl */
    bool listed, stale;
    uint64_t bytes;
} mrd__session_file;

typedef struct mrd__session_documents {
    mrd__buf identity, seal; /* texts of session.json and seal.json */
    mrd__str manifest;       /* borrowed, or own_manifest */
    mrd__buf own_manifest;   /* its text where it had to be mended */
    uint64_t mended;         /* places that were no UTF-8 */
    mrd__buf uuid, boot_id, host_name, kernel, arch, state;
    mrd__str target, reasons; /* raw JSON; borrowed */
    uint8_t uuid_bytes[16];
    int64_t cores, gap_count, decode_errors;
    bool ingested; /* made of lines that were printed elsewhere: host and clocks are not theirs */
    int64_t monotonic_ns, boottime_ns, realtime_ns; /* read together; all above 0, or unknown */
    MRD__VEC(mrd__session_gap) gaps;
    mrd__session_file files[MRD__FILE_METRICS + 1];
} mrd__session_documents;

/* Reads them; folder without a slash at its end. Errors: MRD_ERR_FORMAT "not_sealed" for a session
 * that is being recorded or was not finished, "bad_session" naming file and member,
 * MRD_ERR_UNSUPPORTED "bad_session" for another version. Reset in any case. */
MRD_MUST_CHECK mrd_status mrd__session_documents_read(mrd__session_documents *out,
                                                      const char *folder, mrd__str manifest,
                                                      mrd_error *error);
void mrd__session_documents_reset(mrd__session_documents *documents);
/* The clocks of this session are those of the machine that it names. */
bool mrd__session_clocks_known(const mrd__session_documents *documents);

/* ---- Facts ---- */

typedef struct mrd__session_source { /* one process of the trace each */
    uint32_t name;                   /* string */
    uint32_t process;                /* local thread, MRD__NONE until it has a track */
    uint32_t launch, state;          /* local tracks or MRD__NONE */
    uint32_t clock;                  /* newest of its clocks, MRD__NONE */
    mrd__timebase timebase;
    uint8_t silent_state; /* mrd__source_state: while a frame is read */
    mrd__buf silent;      /* names of its silent series there, JSON strings */
} mrd__session_source;

typedef struct mrd__session_series { /* by number of the series */
    uint32_t source, name;
    uint32_t values, gaps; /* local tracks or MRD__NONE */
    uint32_t frames;       /* of frame times: the track of its frames, MRD__NONE */
} mrd__session_series;

/* A frame or a launch phase with its length, by sequence. */
typedef struct mrd__session_note {
    uint64_t sequence;
    int64_t dur_ns;
    uint32_t track, name;
    uint8_t flags; /* mrd__sample_flags */
    bool launch;
} mrd__session_note;

/* A note with its place on the clock of its source. */
typedef struct mrd__session_span {
    mrd__session_note note;
    uint32_t clock;
    int64_t at; /* ns or ticks: the end of a frame, the begin of a phase */
} mrd__session_span;

/* A clock of a source and how it lies to the host's: found from lines that have both. */
typedef struct mrd__session_clock {
    mrd__clock_kind kind;
    uint32_t domain;  /* string */
    uint32_t earlier; /* clock of the same source, MRD__NONE */
    uint64_t epoch, reconnect;
    mrd__timebase timebase;
    int64_t first;           /* its reading that times are counted from */
    bool placed;             /* least and greatest are there */
    int64_t least, greatest; /* host ns when it read first, by one line each */
} mrd__session_clock;

typedef struct mrd__session_origin { /* by number of the origin */
    mrd__origin origin;              /* texts borrowed from the file */
    uint32_t source, domain;         /* string */
} mrd__session_origin;

typedef struct mrd__session_read {
    mrd__import *in;
    const char *folder;
    mrd__session_documents documents;
    mrd__shard *shard;
    uint64_t rows, records;
    uint64_t timeless; /* what has no place on the host's clock */
    mrd__buf text;
    MRD__VEC(uint32_t) source_of; /* by string: index + 1 */
    MRD__VEC(mrd__session_source) sources;
    MRD__VEC(mrd__session_series) series;
    MRD__VEC(mrd__session_note) notes;
    MRD__VEC(mrd__session_clock) clocks;
    MRD__VEC(mrd__session_origin) origins;
    MRD__VEC(mrd__session_span) spans;
    mrd__metrics_reader metrics;
    mrd__map maps[MRD__FILE_METRICS + 1];
    size_t next_note, next_gap;
    bool has_last;
    int64_t last_ns;     /* host time of the newest event */
    uint32_t gaps_track; /* of the session, MRD__NONE */
} mrd__session_read;

/* A string of the shard; what is not UTF-8 is mended and counted. 0 for an empty one. */
uint32_t mrd__session_string(mrd__session_read *r, mrd__str text);
/* The index of a source, made where it is new; its process. */
uint32_t mrd__session_source_of(mrd__session_read *r, mrd__str name);
uint32_t mrd__session_process(mrd__session_read *r, uint32_t source);
/* A track of a process; MRD__NONE: of the trace. */
uint32_t mrd__session_track(mrd__session_read *r, uint32_t process, uint32_t parent, uint32_t name,
                            uint32_t unit);
/* Of a source: the track of what is told of its state. */
uint32_t mrd__session_state_track(mrd__session_read *r, uint32_t source);
/* A counted fact; letter is the phase as info counts it. */
mrd__fact *mrd__session_push(mrd__session_read *r, mrd__phase phase, char letter, uint32_t track,
                             int64_t ts);
/* The JSON object in r->text, kept; and as args of a fact. */
uint64_t mrd__session_keep_args(mrd__session_read *r);
void mrd__session_args(mrd__fact *fact, uint64_t place);
/* Damage: what stands before it is kept. */
void mrd__session_damaged(mrd__session_read *r, const char *file, uint64_t offset,
                          const char *what);

/* One record of metrics.mrl (series.c) and of domain.mrl (events.c); what it refuses is damage. */
MRD_MUST_CHECK mrd_status mrd__session_metric(mrd__session_read *r, const mrd__record *record,
                                              mrd_error *error);
MRD_MUST_CHECK mrd_status mrd__session_event(mrd__session_read *r, const mrd__record *record,
                                             mrd_error *error);
/* Behind all records: frames and launch phases, whose clocks are known by then; gaps. */
void mrd__session_events_end(mrd__session_read *r);

#endif
