/* The projector's state, shared by its files alone. Everything is held by value or by index, so
 * that a copy is a copy; only public series and texts have addresses that stay (in the arena).
 *
 *   source   what a sourceId has: timebase, cadence, whether its stream ended
 *   stream   a source's envelopes of one kind: which members they have, which series those feed
 *   series   one metric (and key) of a stream: anchor, last value */
#ifndef MRD_SESSION_PROJECTOR_STATE_H
#define MRD_SESSION_PROJECTOR_STATE_H

#include "session/projector.h"
#include "session/registry.h"

/* Tables of indices, powers of two, at most half full. */
#define MRD__STREAM_SLOTS (2 * (size_t)MRD__STREAMS_MAX)
#define MRD__SERIES_SLOTS ((size_t)131072)

enum {
    FIELDS_MAX = 24, /* members of one kind that mean something; the table is asserted */
    FRAME_TIMES = 3, /* jank.v1 looks at three frames before */
    WINDOW_NS = 1000000000,
};

/* What must stay the same for two readings to belong together. No padding: compared as bytes. */
typedef struct continuity {
    uint64_t epoch, reconnect, target;
    int64_t pid;
    uint32_t domain, schema; /* interned */
    uint32_t timebase;       /* count of the source's timebases; 0 unless the clock is a device's */
    uint8_t role, clock, timed, zero;
} continuity;

/* A point in time as the domain of its envelope has it. */
typedef struct reading_time {
    mrd__clock_kind clock; /* NONE: the host's time of receipt */
    bool known;
    union {
        mrd__host_ns host;
        mrd__source_ns source;
        mrd__device_ticks device;
    } at;
} reading_time;

typedef struct replayed {
    uint64_t hash, generation;
} replayed;
/* Readings of connections that were seen: two tables, the older one dropped when the newer is
 * full. */
typedef struct replays {
    replayed *slots[2]; /* 2 * MRD__REPLAYS_MAX each; hash 0: empty; [0] is the newer */
    size_t count;       /* of the newer */
} replays;

typedef struct source_state {
    mrd__str id;
    mrd__timebase timebase;
    uint32_t timebases; /* told so far */
    int64_t cadence_ns; /* 0: not told */
    bool ended, publisher;
    replays seen;
} source_state;

/* What a member of the payload is read for. */
typedef struct field {
    mrd__str name;
} field;

typedef enum stream_type {
    STREAM_READINGS, /* gauges and rates of the registry, and declared ones */
    STREAM_CONNECTION,
    STREAM_FRAME,
    STREAM_SPAN,
    STREAM_STATE,
    STREAM_TIMEBASE,
    STREAM_TICK,
    STREAM_STOPPED,
} stream_type;

typedef struct stream_state {
    uint32_t source;
    stream_type type;
    mrd__str kind;
    uint64_t hash;
    const mrd__metric *rows; /* of the registry */
    uint32_t row_count;
    uint32_t field_count, next_field; /* next_field: where the last payload's order went on */
    field fields[FIELDS_MAX];
    uint8_t row_field[FIELDS_MAX], row_divisor[FIELDS_MAX]; /* UINT8_MAX: none */
    uint32_t row_series[FIELDS_MAX];                        /* 1 + index; 0: none yet */
    mrd__origin origin;                                     /* of its last event */
    bool has_origin;
    uint32_t frames;             /* 1 + index of its frame state; 0: none */
    uint64_t units;              /* hash of the declared units */
    MRD__VEC(uint32_t) declared; /* metrics that the source declared, of its units now */
} stream_state;

/* A metric that a source declared. */
typedef struct declared_state {
    mrd__metric metric; /* texts in the arena */
    mrd__str name;
    uint32_t series; /* 1 + index; 0: none yet */
} declared_state;

typedef struct series_state {
    mrd__series *pub; /* in the arena */
    uint32_t stream;
    int32_t declared;          /* -1: the metric is of the registry */
    const mrd__metric *metric; /* of the registry, where declared < 0 */
    uint64_t hash;             /* of stream, metric and key */
    bool seen, broken, has_anchor, stale_told, has_host;
    continuity key;
    reading_time previous; /* of the reading before, for its weight */
    reading_time anchor_time;
    uint64_t anchor;
    mrd__measured last;
    mrd__host_ns last_host;
} series_state;

/* Frames of one stream: one display at a time. */
typedef struct frames_state {
    uint32_t stream;
    bool seen, broken, has_previous, dropped;
    continuity key;
    int64_t pid;
    mrd__str display;                 /* in the arena */
    uint32_t time_series, fps_series; /* 1 + index; 0: none */
    reading_time previous, first, dropped_at;
    mrd__host_ns last_host;
    bool has_host;
    int64_t times[FRAME_TIMES]; /* ns, the newest first */
    uint32_t time_count;
    reading_time *window; /* ring of MRD__WINDOW_FRAMES_MAX, taken with the first frame */
    uint32_t head, count;
} frames_state;

typedef struct pid_state {
    int64_t pid;
    bool foreground;
} pid_state;

struct mrd__projector {
    mrd__arena texts;
    MRD__VEC(source_state) sources;
    MRD__VEC(stream_state) streams;
    MRD__VEC(series_state) series;
    MRD__VEC(declared_state) declared;
    MRD__VEC(frames_state) frames;
    MRD__VEC(pid_state) pids;
    MRD__VEC(mrd__str) names;           /* interned domains and schemas */
    uint32_t *stream_slots;             /* MRD__STREAM_SLOTS; 1 + index; 0: empty */
    uint32_t *series_slots;             /* MRD__SERIES_SLOTS, likewise */
    uint32_t origins;                   /* told so far */
    MRD__VEC(mrd__frame_entry) entries; /* scratch */
    mrd__buf scratch;                   /* decoded texts of the payload at hand */
    mrd__projector_counts counts;
};

/* What one member of a payload holds. */
typedef struct field_value {
    mrd__reading_value value;
    mrd__str text; /* a text decoded, a number as written; empty for the rest */
    bool is_true, is_false;
} field_value;

/* An envelope while it is applied. */
typedef struct applying {
    mrd__projector *p;
    const mrd__session_sink *sink;
    const mrd__envelope *envelope;
    uint64_t sequence;
    uint32_t stream;
    continuity key;
    reading_time time;
    bool trusted; /* identity lets it be published */
    /* of the payload */
    field_value values[FIELDS_MAX];
    mrd__given blanket; /* what the payload says of all its metrics; ABSENT: nothing */
    mrd__str gauges, counters, units, unsupported; /* raw values */
} applying;

/* projector_payload.c: fill values, blanket and the raw values; sets the source's cadence. */
void mrd__projector_payload(applying *a);
/* A number, null or what stands there, as a reading. */
mrd__reading_value mrd__projector_value(mrd__str text, unsigned json_type, bool nonstandard);

/* projector_readings.c */
void mrd__projector_readings(applying *a);
void mrd__projector_declared(applying *a);
void mrd__projector_span(applying *a);

/* projector_frames.c */
void mrd__projector_frame(applying *a);
void mrd__projector_state_change(applying *a);
void mrd__projector_tick(applying *a);

/* projector.c */
const mrd__metric *mrd__projector_metric(const mrd__projector *p, const series_state *s);
/* The series of a metric and key of the stream; NULL above the limit (counted). */
series_state *mrd__projector_series(applying *a, const mrd__metric *metric, int32_t declared,
                                    mrd__str key);
/* False unless both points are known and of one domain (equal continuity), or where ticks have no
 * timebase, or where the time does not fit. */
bool mrd__projector_between(const mrd__projector *p, uint32_t stream, const reading_time *from,
                            const reading_time *to, int64_t *ns);
/* Silence after which a series is stale, ns; 0: it has none of its own. */
__int128 mrd__projector_freshness(const mrd__projector *p, const series_state *s);
void mrd__projector_sample(applying *a, series_state *s, mrd__sample *sample);
void mrd__projector_event(applying *a, mrd__domain_event *event);

#endif
