/* Domain events: what domain.mrl holds. A typed reading of one raw envelope; a record of type
 * `origin` says once what all events of one source, clock, epoch, generation and process share, so
 * that none of it is dropped and none repeated.
 *
 *   origin payload: u32 id, u64 epoch, reconnect, target, i64 pid, u8 role, texts sourceId,
 *                   clockDomain, schemaId, kind (each u8 size and bytes)
 *   event payload:  u32 origin, u8 identity, u8 flags, u16 0, i64 host ns, i64 source time, then by
 *                   type (see mrd__domain_event) */
#ifndef MRD_SESSION_FORMAT_DOMAIN_H
#define MRD_SESSION_FORMAT_DOMAIN_H

#include "session/format/envelope.h"

/* Record types of domain.mrl: MRD__RECORD_DERIVED plus these. */
typedef enum mrd__domain_type {
    MRD__DOMAIN_ORIGIN,
    MRD__DOMAIN_COUNTER, /* a counter was read */
    MRD__DOMAIN_GAUGE,   /* a value was read */
    MRD__DOMAIN_FRAME,   /* a frame was presented */
    MRD__DOMAIN_LAUNCH,  /* a phase of a launch, begin and end */
    MRD__DOMAIN_NETWORK, /* counters of one connection */
    MRD__DOMAIN_STATE,   /* foreground, background, end of a process or a stream */
    MRD__DOMAIN_CLOCK,   /* a timebase, a cadence */
    MRD__DOMAIN_TICK,    /* of the publisher */
    MRD__DOMAIN_TYPES,
} mrd__domain_type;
/* "origin", "counter", "gauge", "frame", "launch", "network", ... Static. */
extern const char *const mrd__domain_type_names[MRD__DOMAIN_TYPES];

/* How a reading's value stands in the payload. */
typedef enum mrd__given {
    MRD__GIVEN_ABSENT,      /* the member is not there */
    MRD__GIVEN_NULL,        /* null, or the source says that it is missing */
    MRD__GIVEN_UNSUPPORTED, /* no number, not finite, out of range, or the source says so */
    MRD__GIVEN_INTEGER,
    MRD__GIVEN_NATURAL, /* above INT64_MAX: counters alone */
    MRD__GIVEN_REAL,
    MRD__GIVENS,
} mrd__given;

typedef struct mrd__reading_value {
    mrd__given given;
    union {
        int64_t integer;
        uint64_t natural;
        double real;
    } number;
} mrd__reading_value;

typedef enum mrd__state_change {
    MRD__STATE_BACKGROUND,
    MRD__STATE_FOREGROUND,
    MRD__STATE_PROCESS_ENDED,
    MRD__STATE_STREAM_STOPPED, /* the adapter's last line */
    MRD__STATE_OTHER,          /* text says what */
    MRD__STATES,
} mrd__state_change;

/* What the events of one source, clock and process share. */
typedef struct mrd__origin {
    uint32_t id; /* from 0, in order of first appearance */
    mrd__str source_id, clock_domain, schema_id, kind;
    uint64_t source_epoch, reconnect_generation, target_generation;
    int64_t pid;
    mrd__source_role role;
} mrd__origin;

typedef struct mrd__domain_event {
    mrd__domain_type type;
    uint64_t sequence;         /* of the raw envelope */
    const mrd__origin *origin; /* borrowed until the callback returns */
    mrd__identity_status identity;
    bool has_host_receive, has_source_time;
    mrd__host_ns host_receive;
    int64_t source_time; /* ns or ticks of the origin's clock */
    /* COUNTER, GAUGE: member of the payload. LAUNCH: phase. NETWORK: serial. STATE: what. FRAME:
     * display. At most MRD__ENVELOPE_TEXT_MAX bytes. */
    mrd__str name;
    mrd__reading_value value; /* COUNTER, GAUGE; LAUNCH: start; NETWORK: bytes received;
                               * CLOCK: numer, or cadence in ns */
    mrd__reading_value other; /* COUNTER, GAUGE: divisor (nCpu); LAUNCH: end; NETWORK: bytes sent;
                               * CLOCK: denom, absent for a cadence */
    mrd__state_change state;  /* STATE */
} mrd__domain_event;

/* The payload of one record, appended to out. Any thread. */
void mrd__origin_encode(mrd__buf *out, const mrd__origin *origin);
void mrd__domain_encode(mrd__buf *out, const mrd__domain_event *event);
/* Read one back. Texts are borrowed from in; event->origin is NULL and *origin its number.
 * MRD_ERR_FORMAT "bad_event" naming what is wrong. Any thread. */
MRD_MUST_CHECK mrd_status mrd__origin_decode(mrd__origin *origin, mrd__str in, mrd_error *error);
MRD_MUST_CHECK mrd_status mrd__domain_decode(mrd__domain_event *event, uint32_t *origin,
                                             unsigned type, uint64_t sequence, mrd__str in,
                                             mrd_error *error);

#endif
