/* What a record of type decode_error holds: a line that is no envelope, as received, and why. All
 * numbers little-endian:
 *
 *    0 u8 version (1)   1 u8 flags   2 u16 size of the reason   4 u32 0
 *    8 u64 full size of the line (above the bytes kept where it was over the limit)
 *   16 u64 offset in the line where reading failed
 *   24 i64 host ns   32 u64 reconnectGeneration   40 u64 targetGeneration
 *   48 the reason, then the bytes as received */
#ifndef MRD_SESSION_FORMAT_BROKEN_H
#define MRD_SESSION_FORMAT_BROKEN_H

#include "base/text.h"
#include "session/format/clock_domain.h"

enum {
    MRD__BROKEN_VERSION = 1,
    MRD__BROKEN_HEAD = 48,
    MRD__BROKEN_REASON_MAX = 512, /* longer than any message of the line's reader */
};

typedef struct mrd__broken {
    bool has_host_receive;
    bool unended; /* the stream ended without an LF behind it */
    uint64_t size, offset;
    mrd__host_ns host_receive;
    uint64_t reconnect_generation, target_generation;
    mrd__str reason; /* at most MRD__BROKEN_REASON_MAX bytes; what is longer is cut */
    mrd__str bytes;
} mrd__broken;

/* Append the record's payload to out. Any thread. */
void mrd__broken_encode(mrd__buf *out, const mrd__broken *broken);
/* Read it back; texts are borrowed from in. MRD_ERR_FORMAT "bad_broken" naming what is wrong. Any
 * thread. */
MRD_MUST_CHECK mrd_status mrd__broken_decode(mrd__broken *broken, mrd__str in, mrd_error *error);

#endif
