/* One pass over all raw segments of a stored session: what stored.c, verify.c and recover.c share.
 * Also what is inside mrd__stored. */
#ifndef MRD_SESSION_WALK_H
#define MRD_SESSION_WALK_H

#include "session/manifest.h"
#include "session/stored.h"

typedef struct mrd__stored_segment {
    uint32_t index;
    uint64_t size; /* of the file when it was opened */
    bool headed;   /* a whole header of this session and number */
    bool foreign;  /* a whole header of this number and another session */
    mrd__segment_head head;
} mrd__stored_segment;

/* A place from which a lookup can begin. */
typedef struct mrd__stored_note {
    size_t segment;
    mrd__reader reader; /* at, chain, sequence, records, head */
} mrd__stored_note;

struct mrd__stored {
    const mrd__files *files;
    char *dir;
    uint8_t uuid[16];
    mrd__buf identity, manifest_text, seal_text;
    bool sealed;       /* and then manifest holds */
    bool bad_manifest; /* manifest or seal are there and do not fit */
    char what[192];    /* why */
    const char *wrong; /* the file, and its bytes */
    uint64_t wrong_from, wrong_to;
    mrd__sealed manifest;
    MRD__VEC(mrd__stored_segment) segments;
    size_t strange; /* names in raw/ that are no segment's */
    char strange_name[64];
    MRD__VEC(mrd__stored_note) notes;
};

typedef struct mrd__walk {
    mrd__record_fn record; /* may be NULL */
    void *ctx;
    bool leaves; /* fill merkle */
    /* found */
    mrd__merkle merkle;
    uint64_t records, sequence;
    MRD__VEC(mrd__log_segment) segments; /* one for each file */
    bool damaged;                        /* damage is filled: corruption */
    mrd__damage damage;
    bool torn; /* the session ends in a torn tail: cut is filled */
    mrd__damage cut;
    bool cut_zero;
    size_t cut_at; /* its segment; files behind it have no header, and count for nothing */
} mrd__walk;

/* MRD_OK for a damaged session, too; a failure is the callback's or the disk's. */
MRD_MUST_CHECK mrd_status mrd__walk_raw(mrd__stored *stored, mrd__walk *walk, mrd_error *error);
void mrd__walk_reset(mrd__walk *walk);

/* The session's folder: DIR, or DIR.open where only that is one; in new memory. MRD_ERR_IO where
 * the disk does not say; *out is then NULL. */
MRD_MUST_CHECK mrd_status mrd__stored_find(const mrd__files *files, const char *dir, char **out,
                                           mrd_error *error);

/* A file of the session, opened for a reader. */
typedef struct mrd__open_file {
    const mrd__files *files;
    char *path;
    int fd;
    uint64_t size;
} mrd__open_file;
MRD_MUST_CHECK mrd_status mrd__open_file_begin(mrd__open_file *file, const mrd__stored *stored,
                                               const char *name, mrd_error *error);
void mrd__open_file_end(mrd__open_file *file);
/* The source of a reader over it; the file must outlive the reader. */
mrd__byte_source mrd__open_file_source(mrd__open_file *file);

/* Of a sealed session's file: how many bytes count, and how many are behind them. False: the
 * manifest does not list it. */
bool mrd__sealed_bytes(const mrd__stored *stored, const char *name, uint64_t *bytes,
                       uint64_t *tail);
void mrd__damage_set(mrd__damage *damage, const char *file, uint64_t from, uint64_t to,
                     const char *what);
void mrd__segment_name(uint32_t index, char out[32]); /* "raw/000001.mrl" */

#endif
