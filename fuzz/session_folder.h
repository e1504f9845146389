/* Session folders as fuzzers are given them: files one behind the other, u8 which, u24 size
 * (little-endian), bytes; and the CRCs and the seal that they should have, so that what is behind
 * those checks is reached. */
#ifndef MRD_FUZZ_SESSION_FOLDER_H
#define MRD_FUZZ_SESSION_FOLDER_H

#include "base/crc32c.h"
#include "session/entry.h"
#include "session/format/bytes.h"
#include "session/manifest.h"

static const char *const session_files[] = {
    "session.json",   "metrics-manifest.json", "seal.json",      "domain.mrl",
    "metrics.mrl",    "report.json",           "raw/000001.mrl", "raw/000002.mrl",
    "raw/000003.mrl", "raw/000005.mrl",        "raw/x"};
enum {
    SESSION_IDENTITY = 0,
    SESSION_MANIFEST = 1,
    SESSION_SEAL = 2,
    SESSION_DOMAIN = 3,
    SESSION_METRICS = 4,
    SESSION_FILES = sizeof session_files / sizeof *session_files
};

/* The next file of the input; false behind the last. */
static inline bool next_session_file(const uint8_t **data, size_t *size, unsigned *which,
                                     mrd__str *bytes)
{
    if (*size < 4) return false;
    const uint8_t *head = *data;
    size_t length = head[1] | (size_t)head[2] << 8 | (size_t)head[3] << 16;
    *which = head[0] % SESSION_FILES;
    *data += 4;
    *size -= 4;
    if (length > *size) length = *size;
    *bytes = (mrd__str){(const char *)*data, length};
    *data += length;
    *size -= length;
    return true;
}

/* Header and records get the CRCs that they should have, as far as their lengths go. */
static inline void fit_crcs(mrd__buf *file)
{
    uint8_t *in = (uint8_t *)file->data;
    if (file->size < MRD__SEGMENT_HEAD) return;
    uint32_t chain = mrd__crc32c(0, in, 60);
    mrd__put32(in + 60, chain);
    for (size_t at = MRD__SEGMENT_HEAD; file->size - at >= MRD__RECORD_HEAD;) {
        uint32_t size = mrd__get32(in + at + 4);
        if (size > MRD__RECORD_PAYLOAD_MAX || mrd__record_space(size) > file->size - at) return;
        unsigned type = mrd__get16(in + at + 16) % MRD__RECORD_TYPES;
        chain = mrd__record_seal(in + at, type, mrd__get16(in + at + 18), mrd__get64(in + at + 8),
                                 size, chain);
        at += mrd__record_space(size);
    }
}

/* The seal of the manifest, appended; false: it is no manifest. */
static inline bool fit_seal(mrd__str manifest, mrd__buf *seal)
{
    mrd__sealed sealed;
    if (mrd__sealed_parse(&sealed, manifest, NULL) != MRD_OK) return false;
    mrd__seal_text(seal, manifest, sealed.uuid, sealed.merkle_root, sealed.completed);
    mrd__sealed_reset(&sealed);
    return true;
}

#endif
