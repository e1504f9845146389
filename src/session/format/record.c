#include "session/format/record.h"

#include "base/assert.h"
#include "base/crc32c.h"
#include "session/format/bytes.h"

#define MAGIC UINT32_C(0x5244524d) /* "MRDR" as it stands, little-endian */

static const uint8_t segment_magic[8] = "MRDSEG1"; /* the NUL is its eighth byte */

const char *mrd__record_type_name(unsigned type)
{
    static const char *const names[] = {
        [MRD__RECORD_RAW] = "raw",
        [MRD__RECORD_DECODE_ERROR] = "decode_error",
        [MRD__RECORD_LIFECYCLE] = "lifecycle",
        [MRD__RECORD_CLOCK] = "clock_snapshot",
        [MRD__RECORD_GAP] = "gap",
        [MRD__RECORD_CHECKPOINT] = "checkpoint",
    };
    return type < sizeof names / sizeof *names ? names[type] : NULL;
}

uint32_t mrd__segment_head_write(const mrd__segment_head *head, uint8_t out[MRD__SEGMENT_HEAD])
{
    memcpy(out, segment_magic, sizeof segment_magic);
    mrd__put16(out + 8, MRD__SEGMENT_VERSION);
    mrd__put16(out + 10, head->kind);
    memcpy(out + 12, head->uuid, 16);
    mrd__put32(out + 28, head->index);
    mrd__put64(out + 32, head->first_sequence);
    memcpy(out + 40, head->previous, 16);
    mrd__put32(out + 56, 0);
    uint32_t crc = mrd__crc32c(0, out, 60);
    mrd__put32(out + 60, crc);
    return crc;
}

bool mrd__segment_head_read(const uint8_t in[MRD__SEGMENT_HEAD], mrd__segment_head *head,
                            uint32_t *crc, const char **what)
{
    if (memcmp(in, segment_magic, sizeof segment_magic) != 0) {
        *what = "no record file: the magic bytes are missing";
        return false;
    }
    *crc = mrd__crc32c(0, in, 60);
    if (*crc != mrd__get32(in + 60)) {
        *what = "the CRC of the segment header does not match";
        return false;
    }
    if (mrd__get16(in + 8) != MRD__SEGMENT_VERSION) {
        *what = "a version of the format that this program does not know";
        return false;
    }
    head->kind = mrd__get16(in + 10);
    memcpy(head->uuid, in + 12, 16);
    head->index = mrd__get32(in + 28);
    head->first_sequence = mrd__get64(in + 32);
    memcpy(head->previous, in + 40, 16);
    bool known = head->kind >= MRD__FILE_RAW && head->kind <= MRD__FILE_METRICS;
    *what = "the segment header holds values that are not allowed";
    return known && head->index > 0 && mrd__get32(in + 56) == 0;
}

uint32_t mrd__record_seal(uint8_t *out, unsigned type, unsigned flags, uint64_t sequence,
                          size_t size, uint32_t previous)
{
    mrd__assert(size <= MRD__RECORD_PAYLOAD_MAX && type < MRD__RECORD_TYPES);
    size_t space = mrd__record_space(size);
    mrd__put32(out, MAGIC);
    mrd__put32(out + 4, (uint32_t)size);
    mrd__put64(out + 8, sequence);
    mrd__put16(out + 16, (uint16_t)type);
    mrd__put16(out + 18, (uint16_t)flags);
    mrd__put32(out + 20, 0);
    mrd__put32(out + 24, previous);
    memset(out + MRD__RECORD_HEAD + size, 0, space - MRD__RECORD_HEAD - size);
    uint32_t crc = mrd__crc32c(0, out, 28);
    crc = mrd__crc32c(crc, out + MRD__RECORD_HEAD, space - MRD__RECORD_HEAD);
    mrd__put32(out + 28, crc);
    return crc;
}

uint32_t mrd__record_append(mrd__buf *out, unsigned type, unsigned flags, uint64_t sequence,
                            const mrd__str *parts, size_t count, uint32_t previous)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += parts[i].size;
    mrd__assert(size <= MRD__RECORD_PAYLOAD_MAX);
    size_t space = mrd__record_space(size);
    mrd__buf_reserve(out, space);
    uint8_t *at = (uint8_t *)out->data + out->size;
    size_t done = MRD__RECORD_HEAD;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].size > 0) memcpy(at + done, parts[i].data, parts[i].size);
        done += parts[i].size;
    }
    out->size += space;
    out->data[out->size] = '\0';
    return mrd__record_seal(at, type, flags, sequence, size, previous);
}

void mrd__gap_write(const mrd__gap_payload *gap, uint8_t out[MRD__GAP_PAYLOAD])
{
    mrd__put32(out, gap->code);
    mrd__put32(out + 4, gap->segment);
    mrd__put64(out + 8, gap->a);
    mrd__put64(out + 16, gap->b);
}

bool mrd__gap_read(const mrd__record *record, mrd__gap_payload *gap)
{
    if (record->type != MRD__RECORD_GAP || !(record->flags & MRD__FLAG_OWN)) return false;
    if (record->size != MRD__GAP_PAYLOAD) return false;
    gap->code = mrd__get32(record->payload);
    gap->segment = mrd__get32(record->payload + 4);
    gap->a = mrd__get64(record->payload + 8);
    gap->b = mrd__get64(record->payload + 16);
    return gap->code >= MRD__GAP_MISSING && gap->code <= MRD__GAP_REFUSED && gap->a <= gap->b;
}

void mrd__checkpoint_write(const mrd__checkpoint_payload *checkpoint,
                           uint8_t out[MRD__CHECKPOINT_PAYLOAD])
{
    mrd__put64(out, checkpoint->records);
    mrd__put64(out + 8, checkpoint->offset);
    memcpy(out + 16, checkpoint->sha256, 32);
}

bool mrd__checkpoint_read(const mrd__record *record, mrd__checkpoint_payload *checkpoint)
{
    if (record->type != MRD__RECORD_CHECKPOINT || record->size != MRD__CHECKPOINT_PAYLOAD)
        return false;
    checkpoint->records = mrd__get64(record->payload);
    checkpoint->offset = mrd__get64(record->payload + 8);
    memcpy(checkpoint->sha256, record->payload + 16, 32);
    return true;
}
