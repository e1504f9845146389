#include "session/format/reader.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/crc32c.h"
#include "session/format/bytes.h"

/* One record and as much again, so that small records come many to a read. */
#define WINDOW ((size_t)2 << 20)
_Static_assert(WINDOW >= MRD__RECORD_MAX + 8, "a record fits in the window");

static void start(mrd__reader *reader)
{
    reader->state = MRD__STEP_RECORD;
    mrd__sha256_begin(&reader->hash);
}

void mrd__reader_memory(mrd__reader *reader, const void *data, size_t size)
{
    *reader = (mrd__reader){.size = size, .window = data, .window_size = size};
    start(reader);
}

void mrd__reader_source(mrd__reader *reader, const mrd__byte_source *source, uint64_t size)
{
    *reader = (mrd__reader){.source = *source, .size = size};
    reader->own = mrd__alloc(size < WINDOW ? (size_t)size : WINDOW);
    reader->window = reader->own;
    start(reader);
}

void mrd__reader_follow(mrd__reader *reader, uint64_t sequence, uint64_t records)
{
    mrd__assert(!reader->head_read);
    reader->sequence = sequence;
    reader->records = records;
}

void mrd__reader_resume(mrd__reader *reader, const mrd__reader *noted)
{
    mrd__assert(!reader->head_read && !reader->hashing && noted->head_read);
    reader->head = noted->head;
    reader->head_read = true;
    reader->at = noted->at;
    reader->chain = noted->chain;
    reader->sequence = noted->sequence;
    reader->records = noted->records;
}

void mrd__reader_hash(mrd__reader *reader)
{
    mrd__assert(!reader->head_read);
    reader->hashing = true;
}

void mrd__reader_reset(mrd__reader *reader)
{
    mrd__free(reader->own);
    reader->own = NULL;
    reader->window = NULL;
    reader->window_size = 0;
    reader->size = reader->at = 0;
}

/* Bytes [offset, offset + need) in one piece; need at most WINDOW, within size. NULL when the
 * source failed (*error) or is shorter than it was (size is then set to what there is). */
static const uint8_t *bytes_at(mrd__reader *reader, uint64_t offset, size_t need, mrd_error *error)
{
    uint64_t skip = offset - reader->window_at;
    if (offset >= reader->window_at && skip + need <= reader->window_size)
        return reader->window + skip;
    mrd__assert(reader->own != NULL && need <= WINDOW);
    uint64_t left = reader->size - offset;
    size_t want = left < WINDOW ? (size_t)left : WINDOW;
    size_t got = 0;
    reader->window_size = 0;
    mrd_status status =
        reader->source.read(reader->source.ctx, offset, reader->own, want, &got, error);
    if (status != MRD_OK) {
        reader->state = MRD__STEP_FAILED;
        return NULL;
    }
    reader->window_at = offset;
    reader->window_size = got;
    if (got < want) reader->size = offset + got;
    return got < need ? NULL : reader->window;
}

/* ---- What follows a bad place ---- */

/* A whole record at offset, by itself: its space on disk, else 0. *budget bounds the bytes that
 * are hashed in vain. */
static size_t whole_record(mrd__reader *reader, uint64_t offset, mrd__record *record,
                           uint64_t *budget)
{
    if (reader->size - offset < MRD__RECORD_HEAD) return 0;
    const uint8_t *head = bytes_at(reader, offset, MRD__RECORD_HEAD, reader->error);
    if (head == NULL || memcmp(head, "MRDR", 4) != 0) return 0;
    uint32_t size = mrd__get32(head + 4);
    size_t space = mrd__record_space(size);
    if (size > MRD__RECORD_PAYLOAD_MAX || space > reader->size - offset) return 0;
    *budget -= space < *budget ? space : *budget;
    head = *budget > 0 ? bytes_at(reader, offset, space, reader->error) : NULL;
    if (head == NULL) return 0;
    record->type = mrd__get16(head + 16);
    record->flags = mrd__get16(head + 18);
    record->sequence = mrd__get64(head + 8);
    uint32_t crc = mrd__crc32c(0, head, 28);
    crc = mrd__crc32c(crc, head + MRD__RECORD_HEAD, space - MRD__RECORD_HEAD);
    return crc == mrd__get32(head + 28) ? space : 0;
}

/* The next offset from `from` on where the magic stands; size when there is none. */
static uint64_t next_magic(mrd__reader *reader, uint64_t from)
{
    while (reader->size > from && reader->size - from >= MRD__RECORD_HEAD) {
        uint64_t left = reader->size - from;
        size_t step = left < (1 << 16) ? (size_t)left : 1 << 16;
        const uint8_t *part = bytes_at(reader, from, step, reader->error);
        if (part == NULL) break;
        const uint8_t *hit = memmem(part, step, "MRDR", 4);
        if (hit != NULL) return from + (uint64_t)(hit - part);
        from += step - 3;
    }
    return reader->size;
}

static bool all_zero(mrd__reader *reader, uint64_t from, uint64_t to)
{
    while (from < to) {
        size_t step = to - from < (1 << 16) ? (size_t)(to - from) : 1 << 16;
        const uint8_t *part = bytes_at(reader, from, step, reader->error);
        if (part == NULL) return false;
        for (size_t i = 0; i < step; i++)
            if (part[i] != 0) return false;
        from += step;
    }
    return true;
}

/* Where the next whole record begins, and whether any later one says that these bytes were synced
 * once. A record whose sequence cannot come from this file (stale blocks of another) is no witness.
 */
static void measure(mrd__reader *reader)
{
    mrd__bad_range *bad = &reader->bad;
    uint64_t budget = 4 * reader->size + MRD__RECORD_MAX;
    uint64_t highest = reader->sequence + reader->size / MRD__RECORD_HEAD;
    uint64_t at = bad->from;
    bool found = false;
    bad->torn = true;
    for (;;) {
        mrd__record record = {0};
        at = next_magic(reader, at + 1);
        if (at >= reader->size) break;
        size_t space = whole_record(reader, at, &record, &budget);
        if (budget == 0) bad->torn = false; /* not to be found out within reason: no assurance */
        if (budget == 0) break;
        if (space == 0 || record.sequence < reader->sequence || record.sequence > highest) continue;
        if (!found) bad->to = at;
        found = true;
        if (record.flags & MRD__FLAG_SYNCED) bad->torn = false;
        if (!bad->torn) break;
        at += space - 1;
    }
    if (!found) bad->to = reader->size;
    bad->zero = all_zero(reader, bad->from, bad->to);
}

static mrd__read_step bad_at(mrd__reader *reader, const char *what)
{
    if (reader->state == MRD__STEP_FAILED) return MRD__STEP_FAILED;
    reader->bad = (mrd__bad_range){.from = reader->at, .what = what};
    measure(reader);
    /* What could not be read is not called torn. */
    if (reader->state != MRD__STEP_FAILED) reader->state = MRD__STEP_BAD;
    return reader->state;
}

mrd__read_step mrd__reader_refuse(mrd__reader *reader, const char *what, mrd_error *error)
{
    mrd__assert(!reader->head_read && reader->state == MRD__STEP_RECORD);
    reader->error = error;
    return bad_at(reader, what);
}

/* ---- Steps ---- */

mrd__read_step mrd__reader_head(mrd__reader *reader, mrd_error *error)
{
    if (reader->state != MRD__STEP_RECORD || reader->head_read) return reader->state;
    reader->error = error;
    const uint8_t *in =
        reader->size < MRD__SEGMENT_HEAD ? NULL : bytes_at(reader, 0, MRD__SEGMENT_HEAD, error);
    if (in == NULL) return bad_at(reader, "the file ends inside the segment header");
    const char *what = NULL;
    if (!mrd__segment_head_read(in, &reader->head, &reader->chain, &what))
        return bad_at(reader, what);
    if (reader->hashing) mrd__sha256_add(&reader->hash, in, MRD__SEGMENT_HEAD);
    reader->head_read = true;
    reader->at = MRD__SEGMENT_HEAD;
    return MRD__STEP_RECORD;
}

static const char *check_checkpoint(mrd__reader *reader, const mrd__record *record)
{
    mrd__checkpoint_payload checkpoint;
    if (!mrd__checkpoint_read(record, &checkpoint)) return "a checkpoint has another size";
    bool known = reader->records < MRD__RECORDS_UNKNOWN;
    if ((known && checkpoint.records != reader->records) || checkpoint.offset != record->offset)
        return "a checkpoint counts other records than there are before it";
    if (!reader->hashing) return NULL;
    uint8_t hash[32];
    mrd__sha256 copy = reader->hash;
    mrd__sha256_end(&copy, hash);
    return memcmp(hash, checkpoint.sha256, 32) == 0
               ? NULL
               : "the hash of a checkpoint differs from the bytes before it";
}

/* Type and sequence in a raw segment; moves the newest sequence on. */
static const char *check_raw(mrd__reader *reader, const mrd__record *record)
{
    uint64_t newest = reader->sequence;
    if (record->type < MRD__RECORD_RAW || record->type >= MRD__RECORD_RAW_TYPES)
        return "the record's type does not exist in a raw segment";
    if (mrd__record_takes_sequence(record->type)) {
        if (newest == UINT64_MAX || record->sequence != newest + 1)
            return "the sequence does not follow the one before";
        reader->sequence = record->sequence;
        return NULL;
    }
    if (record->sequence != newest) return "the record carries another than the newest sequence";
    if (record->type == MRD__RECORD_CHECKPOINT) return check_checkpoint(reader, record);
    if (!(record->flags & MRD__FLAG_OWN)) return NULL;
    mrd__gap_payload gap;
    if (!mrd__gap_read(record, &gap)) return "the writer's own gap record is not a valid one";
    if (gap.code != MRD__GAP_MISSING) return NULL;
    if (gap.a != newest + 1) return "the missing sequences do not follow the one before";
    reader->sequence = gap.b; /* they are accounted for */
    return NULL;
}

static const char *check_order(mrd__reader *reader, const mrd__record *record)
{
    if (record->flags & ~MRD__FLAGS_ALL) return "flags that do not exist";
    if (reader->head.kind == MRD__FILE_RAW) return check_raw(reader, record);
    if (record->type < MRD__RECORD_DERIVED || record->type >= MRD__RECORD_TYPES)
        return "the record's type does not exist in a derived file";
    if (record->sequence < reader->sequence) return "the sequence falls";
    reader->sequence = record->sequence;
    return NULL;
}

/* NULL: a whole record stands at reader->at, *record is filled. */
static const char *parse(mrd__reader *reader, mrd__record *record, mrd_error *error)
{
    uint64_t left = reader->size - reader->at;
    const uint8_t *in =
        left < MRD__RECORD_HEAD ? NULL : bytes_at(reader, reader->at, MRD__RECORD_HEAD, error);
    if (in == NULL) return "the file ends inside a record's header";
    if (memcmp(in, "MRDR", 4) != 0) return "no record begins here";
    uint32_t size = mrd__get32(in + 4);
    if (size > MRD__RECORD_PAYLOAD_MAX) return "the record's length is above 1 MiB, the limit";
    size_t space = mrd__record_space(size);
    in = space > reader->size - reader->at ? NULL : bytes_at(reader, reader->at, space, error);
    if (in == NULL) return "the file ends inside a record";
    uint32_t crc = mrd__crc32c(0, in, 28);
    crc = mrd__crc32c(crc, in + MRD__RECORD_HEAD, space - MRD__RECORD_HEAD);
    if (crc != mrd__get32(in + 28)) return "the CRC of the record does not match";
    if (mrd__get32(in + 24) != reader->chain) return "the record does not follow the one before it";
    *record = (mrd__record){.type = mrd__get16(in + 16),
                            .flags = mrd__get16(in + 18),
                            .size = size,
                            .sequence = mrd__get64(in + 8),
                            .payload = in + MRD__RECORD_HEAD,
                            .crc = crc,
                            .offset = reader->at,
                            .end = reader->at + space};
    if (mrd__get32(in + 20) != 0) return "the record's reserved bytes are not 0";
    for (size_t i = MRD__RECORD_HEAD + size; i < space; i++)
        if (in[i] != 0) return "the record's padding is not 0";
    return NULL;
}

mrd__read_step mrd__reader_next(mrd__reader *reader, mrd__record *record, mrd_error *error)
{
    if (reader->state != MRD__STEP_RECORD) return reader->state;
    reader->error = error;
    if (!reader->head_read && mrd__reader_head(reader, error) != MRD__STEP_RECORD)
        return reader->state;
    if (reader->at == reader->size) {
        reader->state = MRD__STEP_END;
        return MRD__STEP_END;
    }
    const char *wrong = parse(reader, record, error);
    if (wrong == NULL) wrong = check_order(reader, record);
    if (wrong != NULL) return bad_at(reader, wrong);
    if (reader->hashing)
        mrd__sha256_add(&reader->hash, record->payload - MRD__RECORD_HEAD,
                        record->end - record->offset);
    reader->chain = record->crc;
    reader->at = record->end;
    reader->records++;
    reader->counts[record->type]++;
    return MRD__STEP_RECORD;
}
