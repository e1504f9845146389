/* Verifying a sealed session and recovering one that was not finished. Neither changes a byte of
 * what was recorded. */
#ifndef MRD_SESSION_CHECK_H
#define MRD_SESSION_CHECK_H

#include "session/stored.h"

typedef struct mrd__verify_result {
    bool sealed;    /* a seal that fits its manifest */
    bool completed; /* sealed, and the manifest's state is "completed" */
    bool sound;     /* every byte of every file is as it was sealed (or, unsealed: whole frames) */
    mrd__damage damage;              /* not sound: the first bad range */
    uint64_t segments, files, bytes; /* files: the segments and session.json included */
    uint64_t records, sequences;     /* raw records of all types; newest sequence */
    char merkle_root[65];
    char reasons[512]; /* of an incomplete one, "; " between */
} mrd__verify_result;

/* All hashes, frames, sequences, counts, Merkle root and seal. MRD_OK also for a damaged session:
 * the result says it. MRD_ERR_NOT_FOUND "no_session"; MRD_ERR_UNSUPPORTED for a newer format;
 * MRD_ERR_IO. files NULL: the operating system's. */
MRD_MUST_CHECK mrd_status mrd__session_verify(const char *dir, const mrd__files *files,
                                              mrd__verify_result *result, mrd_error *error);

/* What the recovering program adds before the seal: called once, after the valid prefix is known,
 * with the session as it will be sealed. It may write derived files with the functions below and
 * gives the manifest's facts (JSON object, see mrd__finish) into facts. */
typedef struct mrd__recovery mrd__recovery;
typedef mrd_status (*mrd__recover_fn)(void *ctx, mrd__recovery *recovery, mrd__stored *stored,
                                      mrd__buf *facts, mrd_error *error);
/* A file at the top of the session, as mrd__recording_file; also domain.mrl and metrics.mrl, whole
 * (mrd__derived_bytes). What was there by that name is replaced. */
MRD_MUST_CHECK mrd_status mrd__recovery_file(mrd__recovery *recovery, const char *name,
                                             mrd__str bytes, mrd_error *error);

/* Names of a derived file's types, as mrd__recording_derive; before its bytes. Borrowed. */
void mrd__recovery_names(mrd__recovery *recovery, mrd__file_kind kind, const char *const *names,
                         size_t count);

typedef struct mrd__recover_result {
    bool was_sealed;    /* nothing to do: sealed before (by finish, or by recover) */
    uint64_t sequences; /* newest sequence that is there */
    uint64_t records, segments;
    uint64_t cut_bytes; /* behind the valid prefix; 0: it ended cleanly */
    mrd__damage cut;
} mrd__recover_result;

/* Take the longest valid prefix of the last segment with a header, write recovery.json (what was
 * cut: offset, bytes, their SHA-256, why), manifest and seal as incomplete(crash), rename DIR.open
 * to DIR. Damage in an earlier segment, or in bytes that a later record says were synced, is
 * corruption: MRD_ERR_FORMAT "damaged", *damage filled, nothing written. The same session gives the
 * same bytes every time. derive may be NULL: derived files are then kept as they are and named
 * stale. */
MRD_MUST_CHECK mrd_status mrd__session_recover(const char *dir, const mrd__files *files,
                                               mrd__recover_fn derive, void *ctx,
                                               mrd__recover_result *result, mrd__damage *damage,
                                               mrd_error *error);

#endif
