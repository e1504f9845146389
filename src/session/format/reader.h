/* Reading one record file: every byte is checked, and the first bad range is named.
 *
 * The reader looks at a window of the file that a function fills, or at memory. It checks the
 * header, then record by record magic, length, type, flags, reserved, padding, both CRCs and the
 * order of sequences; checkpoints against its own count and hash. */
#ifndef MRD_SESSION_FORMAT_READER_H
#define MRD_SESSION_FORMAT_READER_H

#include "base/sha256.h"
#include "session/format/record.h"

/* Where bytes come from: up to size bytes from offset on; *got less only at the end. */
typedef struct mrd__byte_source {
    void *ctx;
    mrd_status (*read)(void *ctx, uint64_t offset, void *out, size_t size, size_t *got,
                       mrd_error *error);
} mrd__byte_source;

typedef enum mrd__read_step {
    MRD__STEP_RECORD, /* *record is filled */
    MRD__STEP_END,    /* the file ends behind a whole record (or the header) */
    MRD__STEP_BAD,    /* reader->bad says where and why; every further step says it again */
    MRD__STEP_FAILED, /* the source failed: *error */
} mrd__read_step;

typedef struct mrd__bad_range {
    uint64_t from, to; /* bytes [from, to): to is where the next whole record begins, or the end */
    const char *what;  /* static: "the CRC does not match" */
    bool torn;         /* nothing behind it says that these bytes were ever synced */
    bool zero;         /* all bytes of the range are 0 */
} mrd__bad_range;

typedef struct mrd__reader {
    mrd__byte_source source;
    uint64_t size; /* bytes that count: the file's, or less */
    const uint8_t *window;
    uint64_t window_at;
    size_t window_size;
    uint8_t *own;           /* the window's memory, NULL over memory */
    mrd__segment_head head; /* after the first step */
    bool head_read;
    uint32_t chain;
    uint64_t at;       /* offset of the next record */
    uint64_t sequence; /* newest */
    uint64_t gap_to;   /* sequences up to this are declared missing */
    uint64_t records;  /* before the next one, those of earlier segments included */
    uint64_t counts[MRD__RECORD_TYPES];
    bool hashing;
    mrd__sha256 hash; /* of [0, at) while hashing */
    mrd__read_step state;
    mrd_error *error; /* of the step that runs */
    mrd__bad_range bad;
} mrd__reader;

/* Over size bytes of memory, borrowed until reset. */
void mrd__reader_memory(mrd__reader *reader, const void *data, size_t size);
/* Over a source; a window of 2 MiB + is taken. */
void mrd__reader_source(mrd__reader *reader, const mrd__byte_source *source, uint64_t size);
/* What must have come before: for segments after the first. sequence is the newest one before,
 * records their count (MRD__RECORDS_UNKNOWN: checkpoints are not held to it). To be called before
 * the first step. */
#define MRD__RECORDS_UNKNOWN ((uint64_t)1 << 63)
void mrd__reader_follow(mrd__reader *reader, uint64_t sequence, uint64_t records);
/* Begin at a record's offset inside the file instead, with what was noted of an earlier reading:
 * at, chain, sequence and records of a reader before that record. Before the first step. */
void mrd__reader_resume(mrd__reader *reader, const mrd__reader *noted);
/* Keep the SHA-256 of the bytes read and hold checkpoints to it. Before the first step. */
void mrd__reader_hash(mrd__reader *reader);
void mrd__reader_reset(mrd__reader *reader);

/* Read and check the header alone (the first step does it, too). */
mrd__read_step mrd__reader_head(mrd__reader *reader, mrd_error *error);
/* Call the file bad from its first byte on, for what the caller knows of its header; before the
 * first step. */
mrd__read_step mrd__reader_refuse(mrd__reader *reader, const char *what, mrd_error *error);
/* The next record; its payload is borrowed until the next step or reset. One thread. */
mrd__read_step mrd__reader_next(mrd__reader *reader, mrd__record *record, mrd_error *error);

#endif
