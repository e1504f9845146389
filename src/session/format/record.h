/* Record files (*.mrl): the bytes of a session's segments and of its derived files.
 *
 * A file is one segment header of 64 bytes and records one behind the other, each 32 bytes of
 * header, payload, and zero bytes up to a multiple of 8. All numbers are little-endian.
 *
 *   segment header                          record header
 *    0  magic "MRDSEG1\0"                    0  u32 magic "MRDR"
 *    8  u16 version (1)                      4  u32 length of the payload
 *   10  u16 kind (mrd__file_kind)            8  u64 sequence
 *   12  session uuid, 16 bytes              16  u16 type
 *   28  u32 segment index, from 1           18  u16 flags
 *   32  u64 first sequence to come          20  u32 reserved, 0
 *   40  SHA-256 of the segment before,      24  u32 CRC of the record before (of the segment
 *       its first 16 bytes; of session.json         header for the first one)
 *       in raw/000001.mrl, else 0
 *   56  u32 reserved, 0                     28  u32 CRC-32C of the header up to here, payload
 *   60  u32 CRC-32C of bytes 0 to 59                and padding
 *
 * The chain of CRCs starts from the segment header, which holds the uuid and the hash of the
 * segment before: a record dropped, doubled, swapped or brought from elsewhere breaks it. */
#ifndef MRD_SESSION_FORMAT_RECORD_H
#define MRD_SESSION_FORMAT_RECORD_H

#include "base/text.h"

#define MRD__SEGMENT_HEAD 64
#define MRD__RECORD_HEAD 32
#define MRD__SEGMENT_VERSION 1
/* A source's line and its envelope; checked before memory is taken. */
#define MRD__RECORD_PAYLOAD_MAX ((size_t)1 << 20)
/* The whole record on disk. */
#define MRD__RECORD_MAX (MRD__RECORD_HEAD + MRD__RECORD_PAYLOAD_MAX)

typedef enum mrd__file_kind {
    MRD__FILE_RAW = 1,     /* raw/000001.mrl and following */
    MRD__FILE_DOMAIN = 2,  /* domain.mrl */
    MRD__FILE_METRICS = 3, /* metrics.mrl */
} mrd__file_kind;

/* Types in raw segments. The first two take a sequence, from 1 without holes; the others carry the
 * newest one before them (0 before the first). Derived files use types from
 * MRD__RECORD_DERIVED on, whose meaning is their writer's; their sequence never falls. */
typedef enum mrd__record_type {
    MRD__RECORD_RAW = 1,
    MRD__RECORD_DECODE_ERROR = 2,
    MRD__RECORD_LIFECYCLE = 3,
    MRD__RECORD_CLOCK = 4,
    MRD__RECORD_GAP = 5,
    MRD__RECORD_CHECKPOINT = 6,
    MRD__RECORD_RAW_TYPES, /* one above the last */
    MRD__RECORD_DERIVED = 16,
    MRD__RECORD_TYPES = 64, /* types are below this: counted by type in one array */
} mrd__record_type;

/* Every byte before this record was on disk when it was written: damage before it is no torn tail.
 */
#define MRD__FLAG_SYNCED 1u
/* A gap noted by the log writer itself; its payload is mrd__gap_payload. Gaps without it are their
 * source's, payload opaque. */
#define MRD__FLAG_OWN 2u
#define MRD__FLAGS_ALL (MRD__FLAG_SYNCED | MRD__FLAG_OWN)

typedef enum mrd__gap_code {
    MRD__GAP_MISSING = 1,     /* sequences a to b were reserved and never written */
    MRD__GAP_SYNC_FAILED = 2, /* segment `segment` counts up to byte a of the b written: the rest
                                 was written again in this segment after a failed sync */
    MRD__GAP_REFUSED = 3,     /* a records refused since the last such gap, b in all: no room */
} mrd__gap_code;

typedef struct mrd__gap_payload {
    uint32_t code, segment;
    uint64_t a, b;
} mrd__gap_payload;
#define MRD__GAP_PAYLOAD 24

/* Payload of a checkpoint: what lies before it. */
typedef struct mrd__checkpoint_payload {
    uint64_t records;   /* records of the session before this one, checkpoints included */
    uint64_t offset;    /* of this record in its segment */
    uint8_t sha256[32]; /* of the segment's bytes before this record */
} mrd__checkpoint_payload;
#define MRD__CHECKPOINT_PAYLOAD 48

typedef struct mrd__segment_head {
    uint16_t kind;
    uint8_t uuid[16];
    uint32_t index; /* from 1 */
    uint64_t first_sequence;
    uint8_t previous[16];
} mrd__segment_head;

typedef struct mrd__record {
    uint16_t type, flags;
    uint32_t size; /* of the payload */
    uint64_t sequence;
    const uint8_t *payload;
    uint32_t crc;
    uint64_t offset, end; /* in its file; end after the padding */
} mrd__record;

/* Size on disk of a record with so much payload. */
static inline size_t mrd__record_space(size_t payload)
{
    return MRD__RECORD_HEAD + ((payload + 7) & ~(size_t)7);
}
static inline bool mrd__record_takes_sequence(unsigned type)
{
    return type == MRD__RECORD_RAW || type == MRD__RECORD_DECODE_ERROR;
}

/* Static name of a raw type ("raw", "decode_error", ...); NULL for another. */
const char *mrd__record_type_name(unsigned type);

/* Write the 64 bytes; returns their CRC, the start of the chain. */
uint32_t mrd__segment_head_write(const mrd__segment_head *head, uint8_t out[MRD__SEGMENT_HEAD]);
/* False when the bytes are no whole header of this version; *what says why (static text). */
bool mrd__segment_head_read(const uint8_t in[MRD__SEGMENT_HEAD], mrd__segment_head *head,
                            uint32_t *crc, const char **what);

/* Finish a record in place: out holds room for mrd__record_space(size) bytes, the payload already
 * at out + 32. Fills header and padding; returns the record's CRC, the next one's `previous`. */
uint32_t mrd__record_seal(uint8_t *out, unsigned type, unsigned flags, uint64_t sequence,
                          size_t size, uint32_t previous);
/* Append a record whose payload is in parts. The same CRC. */
uint32_t mrd__record_append(mrd__buf *out, unsigned type, unsigned flags, uint64_t sequence,
                            const mrd__str *parts, size_t count, uint32_t previous);

/* Payloads that the log writer makes itself. read: false when the size or a value is wrong. */
void mrd__gap_write(const mrd__gap_payload *gap, uint8_t out[MRD__GAP_PAYLOAD]);
bool mrd__gap_read(const mrd__record *record, mrd__gap_payload *gap);
void mrd__checkpoint_write(const mrd__checkpoint_payload *checkpoint,
                           uint8_t out[MRD__CHECKPOINT_PAYLOAD]);
bool mrd__checkpoint_read(const mrd__record *record, mrd__checkpoint_payload *checkpoint);

#endif
