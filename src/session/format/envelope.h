/* The raw envelope: what is known of one event besides its bytes, and its fixed binary form, the
 * payload of a raw record. All numbers little-endian:
 *
 *    0 u8 version (1)    1 u8 flags       2 u8 identity     3 u8 role
 *    4 u8 source size    5 u8 kind size   6 u8 domain size  7 u8 schema size
 *    8 u32 payload from  12 u32 payload size (of the JSON value inside the bytes)
 *   16 u64 adapterSequence   24 i64 host ns   32 i64 source time   40 u64 sourceEpoch
 *   48 u64 reconnectGeneration   56 u64 targetGeneration   64 i64 pid
 *   72 the four texts, then the bytes as received
 *
 * A field that its flag says is absent is 0 there and means nothing. */
#ifndef MRD_SESSION_FORMAT_ENVELOPE_H
#define MRD_SESSION_FORMAT_ENVELOPE_H

#include "base/text.h"
#include "session/format/clock_domain.h"

enum {
    MRD__ENVELOPE_VERSION = 1,
    MRD__ENVELOPE_HEAD = 72,
    MRD__ENVELOPE_TEXT_MAX = 255, /* sourceId, kind, clockDomain, schemaId are names, no texts */
};
/* Binary form, bytes as received included: a record's payload. */
#define MRD__ENVELOPE_MAX ((size_t)1 << 20)
/* So a line is at most this long, whatever names it has. */
#define MRD__ENVELOPE_LINE_MAX (MRD__ENVELOPE_MAX - MRD__ENVELOPE_HEAD - 4 * MRD__ENVELOPE_TEXT_MAX)

/* Whether the process is the one that is meant. The first two publish. */
typedef enum mrd__identity_status {
    MRD__IDENTITY_ASSUMED,
    MRD__IDENTITY_VERIFIED,
    MRD__IDENTITY_MISMATCH,
    MRD__IDENTITY_UNKNOWN,
    MRD__IDENTITIES,
} mrd__identity_status;
typedef enum mrd__source_role {
    MRD__ROLE_PRIMARY,
    MRD__ROLE_COMPARE,
    MRD__ROLE_REPLAY,
    MRD__ROLES,
} mrd__source_role;
/* Words as in the case format ("assumed", "primary"). Static. */
const char *mrd__identity_name(mrd__identity_status identity);
const char *mrd__role_name(mrd__source_role role);

/* What a clockDomain's times are. */
typedef enum mrd__clock_kind {
    MRD__CLOCK_NONE,   /* "none": the host's time of receipt is all there is */
    MRD__CLOCK_SOURCE, /* ns: linux-monotonic-ns, linux-boottime-ns, a source's own name */
    MRD__CLOCK_DEVICE, /* ticks: device-mach */
} mrd__clock_kind;
mrd__clock_kind mrd__clock_kind_of(mrd__str domain);

/* All texts are borrowed: from the line, from a scratch buffer, or from a decoded record. */
typedef struct mrd__envelope {
    mrd__str source_id;    /* empty only for kind "stopped" */
    mrd__str kind;         /* never empty */
    mrd__str clock_domain; /* "none" where there is none */
    mrd__str schema_id;    /* the kind where none is told */
    bool has_adapter_sequence, has_host_receive, has_source_time;
    uint64_t adapter_sequence; /* the source's own number; may restart */
    mrd__host_ns host_receive; /* CLOCK_MONOTONIC */
    int64_t source_time;       /* untyped here: ns or ticks, see mrd__envelope_clock */
    uint64_t source_epoch, reconnect_generation, target_generation;
    int64_t pid; /* 0: none */
    mrd__identity_status identity;
    mrd__source_role role;
    mrd__str payload; /* a JSON value, part of bytes; empty: none */
    mrd__str bytes;   /* as received */
} mrd__envelope;

/* Append the binary form to out. The texts must be within MRD__ENVELOPE_TEXT_MAX and the whole
 * within MRD__ENVELOPE_MAX (asserted: from_json and the sources check it). payload must lie inside
 * bytes. Any thread. */
void mrd__envelope_encode(mrd__buf *out, const mrd__envelope *envelope);
/* Read the binary form; everything is borrowed from in. MRD_ERR_FORMAT "bad_envelope" naming place,
 * value and what is allowed. Any thread. */
MRD_MUST_CHECK mrd_status mrd__envelope_decode(mrd__envelope *envelope, mrd__str in,
                                               mrd_error *error);

#endif
