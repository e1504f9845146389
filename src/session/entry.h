/* What the manifest says of one file, and the manifest and the seal themselves. */
#ifndef MRD_SESSION_ENTRY_H
#define MRD_SESSION_ENTRY_H

#include "base/alloc.h"
#include "session/log.h"

#define MRD__MANIFEST "metrics-manifest.json"
#define MRD__SEAL "seal.json"
#define MRD__IDENTITY "session.json"
#define MRD__RECOVERY "recovery.json"
#define MRD__FORMAT_NAME "meridian-session"
#define MRD__FORMAT_VERSION 1

typedef struct mrd__entry {
    char path[64]; /* relative to the session's folder */
    uint64_t bytes;
    uint8_t sha256[32]; /* of `bytes` */
    uint64_t tail;      /* bytes in the file behind them that do not count */
    uint8_t tail_sha256[32];
    uint16_t kind; /* mrd__file_kind, 0: no record file */
    bool stale;    /* kept as it was found after a crash */
    bool counted;  /* counts, first and last are known */
    uint64_t counts[MRD__RECORD_TYPES];
    const char *const *names; /* of types from MRD__RECORD_DERIVED on; borrowed */
    size_t name_count;
    uint64_t first, last; /* sequences; last < first: none */
} mrd__entry;
typedef MRD__VEC(mrd__entry) mrd__entries;

/* Sequences from..to that were reserved and are in no file. */
typedef struct mrd__range {
    uint64_t from, to;
} mrd__range;
typedef MRD__VEC(mrd__range) mrd__ranges;

typedef struct mrd__manifest_facts {
    const uint8_t *uuid;
    const mrd__entries *entries;
    const mrd__merkle *merkle;
    uint64_t records, sequences; /* in raw segments: of all types; newest sequence */
    uint64_t made;               /* reservations */
    const mrd__ranges *missing;
    uint64_t refused, sync_failures;
    bool known;                 /* made, refused and sync_failures: not after a crash */
    const char *const *reasons; /* none: completed */
    size_t reason_count;
    mrd__str more; /* the caller's JSON object, or empty */
} mrd__manifest_facts;

/* Canonical text of the manifest; MRD_ERR_ARGUMENT "facts" when `more` is no object or has a
 * member of the manifest's own. */
MRD_MUST_CHECK mrd_status mrd__manifest_text(mrd__buf *out, const mrd__manifest_facts *facts,
                                             mrd_error *error);
/* Canonical text of the seal over a manifest's text. */
void mrd__seal_text(mrd__buf *out, mrd__str manifest, const uint8_t uuid[16],
                    const uint8_t merkle_root[32], bool completed);
/* Canonical text of session.json: the caller's members and the format's own. */
MRD_MUST_CHECK mrd_status mrd__identity_text(mrd__buf *out, const uint8_t uuid[16], mrd__str more,
                                             mrd_error *error);

/* What the first segment's header holds in place of the hash of a segment before it: the first 16
 * bytes of the SHA-256 of session.json, so that the identity of an unfinished session is held to
 * its records, too. */
void mrd__identity_prefix(mrd__str identity, uint8_t out[16]);

/* The entry of a whole file in memory. */
void mrd__entry_of(mrd__entry *entry, const char *path, mrd__str bytes);
void mrd__entry_of_segment(mrd__entry *entry, const mrd__log_segment *segment);
/* Fill the hash of the file's bytes behind entry->bytes, and how many there are. */
MRD_MUST_CHECK mrd_status mrd__entry_tail(mrd__entry *entry, const mrd__files *files,
                                          const char *dir, mrd_error *error);
/* Make every entry's file read-only, and sync it. */
MRD_MUST_CHECK mrd_status mrd__entries_protect(const mrd__entries *entries, const mrd__files *files,
                                               const char *dir, mrd_error *error);
/* Manifest and seal written, each safely, one after the other. */
MRD_MUST_CHECK mrd_status mrd__seal_write(const mrd__files *files, const char *dir,
                                          const mrd__manifest_facts *facts, mrd_error *error);

/* "6ba7b810-9dad-11d1-80b4-00c04fd430c8" and NUL. */
void mrd__uuid_text(const uint8_t uuid[16], char out[37]);
bool mrd__uuid_parse(const char *text, uint8_t out[16]);

#endif
