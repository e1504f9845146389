/* Reading a stored session: all raw records in order, one by its sequence, derived files. Works on
 * DIR.open, too, also while it is being recorded (up to what is in the files). */
#ifndef MRD_SESSION_STORED_H
#define MRD_SESSION_STORED_H

#include "session/files.h"
#include "session/format/reader.h"

typedef struct mrd__stored mrd__stored;

/* Where reading met damage. file is relative to the session's folder. */
typedef struct mrd__damage {
    char file[64];
    uint64_t from, to; /* bytes [from, to) */
    char what[192];
} mrd__damage;

/* Open DIR, or DIR.open where only that exists. Reads session.json and the list of segments.
 * MRD_ERR_NOT_FOUND "no_session". files NULL: the operating system's. */
MRD_MUST_CHECK mrd_status mrd__stored_open(const char *dir, const mrd__files *files,
                                           mrd__stored **out, mrd_error *error);
void mrd__stored_close(mrd__stored **stored);

/* Borrowed until close. */
const char *mrd__stored_dir(const mrd__stored *stored); /* the folder that was opened */
const uint8_t *mrd__stored_uuid(const mrd__stored *stored);
mrd__str mrd__stored_identity(const mrd__stored *stored); /* text of session.json */
bool mrd__stored_sealed(const mrd__stored *stored);       /* seal.json is there and fits */
/* Text of metrics-manifest.json; empty where there is none. */
mrd__str mrd__stored_manifest(const mrd__stored *stored);

/* Called for every record in order, gaps and checkpoints included; what a later segment has again
 * after a failed sync is told once. A status other than MRD_OK stops and is returned. */
typedef mrd_status (*mrd__record_fn)(void *ctx, const mrd__record *record, mrd_error *error);

/* All raw records. Of a sealed session: as many as the manifest counts. Of an open one: the longest
 * valid prefix; *torn (may be NULL) says what follows it in the last segment (file empty: nothing).
 * Damage elsewhere is MRD_ERR_FORMAT "damaged", after all records before it were told; *error names
 * file and offset. */
MRD_MUST_CHECK mrd_status mrd__stored_read(mrd__stored *stored, mrd__record_fn record, void *ctx,
                                           mrd__damage *torn, mrd_error *error);
/* All records of domain.mrl or metrics.mrl; MRD_ERR_NOT_FOUND "no_such_file". */
MRD_MUST_CHECK mrd_status mrd__stored_read_derived(mrd__stored *stored, mrd__file_kind kind,
                                                   mrd__record_fn record, void *ctx,
                                                   mrd_error *error);
/* The raw record (or decode error) of this sequence: its payload is appended to out and *record's
 * payload points there. MRD_ERR_NOT_FOUND "no_such_sequence" (the message says what there is).
 * Reads at most one segment; remembers where its checkpoints are. One thread a handle. */
MRD_MUST_CHECK mrd_status mrd__stored_lookup(mrd__stored *stored, uint64_t sequence,
                                             mrd__record *record, mrd__buf *out, mrd_error *error);

/* The bytes of a derived file, made in memory: what replay compares with the stored one. */
typedef struct mrd__derived_bytes {
    mrd__buf bytes;
    uint32_t chain;
} mrd__derived_bytes;
void mrd__derived_bytes_begin(mrd__derived_bytes *derived, mrd__file_kind kind,
                              const uint8_t uuid[16]);
/* May be flushed in between: clear bytes, keep chain. */
void mrd__derived_bytes_add(mrd__derived_bytes *derived, unsigned type, uint64_t sequence,
                            const mrd__str *parts, size_t count);

#endif
