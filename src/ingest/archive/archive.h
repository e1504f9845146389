/* Archives and compressed files (zip, tar, gzip, zstd, xz), unpacked into memory by libarchive.
 *
 * An archive is first listed, then its members are unpacked side by side, each reader going forward
 * through the archive for itself:
 *
 *   list      [ a.json | b.json | c.json | d.json ]
 *   worker 0    unpack   (skip)   unpack   (skip)
 *   worker 1    (skip)   unpack   (skip)   unpack
 *
 * What a member holds does not depend on the others nor on the number of threads, also where the
 * archive is damaged. A compressed archive (tar.gz) is a stream: it is read once, front to back. */
#ifndef MRD_INGEST_ARCHIVE_ARCHIVE_H
#define MRD_INGEST_ARCHIVE_ARCHIVE_H

#include "base/alloc.h"
#include "base/os.h"
#include "ingest/archive/limits.h"

/* zip, tar, gzip, zstd or xz by the first bytes (512 tell all of them), else NULL. Static. */
const char *mrd__archive_format(const char *head, size_t size);

/* What unpacking may still use; one for all archives of a trace. Threads share it. */
typedef struct mrd__unpack {
    uint64_t max_bytes, max_members, max_ratio, ratio_from;
    unsigned max_depth;
    uint64_t packed;                 /* bytes of all files of the trace as they were given */
    _Atomic uint64_t bytes, members; /* unpacked so far */
} mrd__unpack;
/* The limits of limits.h. */
void mrd__unpack_init(mrd__unpack *unpack);

typedef struct mrd__member {
    char *name;   /* valid UTF-8, with '/' between the parts */
    mrd__map map; /* data NULL: neither file nor folder */
    char *damage; /* NULL whole; else what libarchive says: the map holds what could be unpacked */
} mrd__member;

typedef struct mrd__members {
    MRD__VEC(mrd__member) list; /* as they stand in the archive; of a stream the one, name "" */
    const char *format;         /* zip or tar; NULL: a compressed stream that is no archive */
    uint64_t hidden;            /* members with a part that begins with '.': not listed */
    char *damage;               /* NULL: listed to its end; else why not */
    int64_t damaged_at;         /* byte offset of that in the archive, -1 unknown */
} mrd__members;

/* Unpack bytes, the content of path. threads at least 1. Fails with MRD_ERR_LIMIT ("archive_bytes",
 * "archive_ratio", "archive_members") and MRD_ERR_FORMAT "bad_archive" when nothing of it can be
 * read. out is reset by the caller in any case. */
MRD_MUST_CHECK mrd_status mrd__archive_read(mrd__unpack *unpack, const char *path, mrd__str bytes,
                                            uint32_t threads, mrd__members *out, mrd_error *error);
void mrd__members_reset(mrd__members *members);

#endif
