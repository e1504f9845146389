/* Every call on files that the durable half of sessions makes goes through this table, so that a
 * test can fail any one of them, or keep a log and cut the power between two. */
#ifndef MRD_SESSION_FILES_H
#define MRD_SESSION_FILES_H

#include "base/text.h"

#include <sys/types.h>

/* As the system calls of these names: -1 and errno on failure. ctx is the table's. */
typedef struct mrd__files {
    void *ctx;
    int (*open)(void *ctx, const char *path, int flags, mode_t mode);
    ssize_t (*write)(void *ctx, int fd, const void *data, size_t size);
    ssize_t (*pread)(void *ctx, int fd, void *out, size_t size, uint64_t offset);
    int (*size)(void *ctx, int fd, uint64_t *size); /* fstat */
    /* A hint: bring what was written on its way to the disk, without waiting. May be NULL. */
    void (*begin_sync)(void *ctx, int fd);
    int (*fdatasync)(void *ctx, int fd);
    int (*fsync)(void *ctx, int fd);
    int (*ftruncate)(void *ctx, int fd, uint64_t size);
    int (*fchmod)(void *ctx, int fd, mode_t mode);
    int (*close)(void *ctx, int fd);
    int (*mkdir)(void *ctx, const char *path, mode_t mode);
    int (*rename)(void *ctx, const char *from, const char *to);
    int (*rename_new)(void *ctx, const char *from, const char *to); /* fails where `to` exists */
    int (*unlink)(void *ctx, const char *path);
    int (*exists)(void *ctx, const char *path); /* 1, 0; -1: not to be found out */
    /* The names in a folder but . and .., in any order. */
    int (*list)(void *ctx, const char *path, void (*name)(void *name_ctx, const char *name),
                void *name_ctx);
    /* flock: exclusive, without waiting; -1 with EWOULDBLOCK where another has it. */
    int (*lock)(void *ctx, int fd);
    uint64_t (*now_ns)(void *ctx); /* monotonic */
} mrd__files;

/* The operating system itself. Static, any thread. */
const mrd__files *mrd__files_system(void);

/* Below: helpers over a table. Errors name the path. EINTR is tried again everywhere but at sync
 * and close, whose outcome it leaves unknown. */

/* All of data; *written (may be NULL) is how much is in the file, on failure too. */
MRD_MUST_CHECK mrd_status mrd__files_write(const mrd__files *files, int fd, const void *data,
                                           size_t size, size_t *written, const char *path,
                                           mrd_error *error);
/* -1 and *error filled on failure. */
int mrd__files_open(const mrd__files *files, const char *path, int flags, mode_t mode,
                    mrd_error *error);
MRD_MUST_CHECK mrd_status mrd__files_sync_folder(const mrd__files *files, const char *path,
                                                 mrd_error *error);
/* The same of the folder that path is in. */
MRD_MUST_CHECK mrd_status mrd__files_sync_parent(const mrd__files *files, const char *path,
                                                 mrd_error *error);
/* size bytes from offset on; *got less only where the file ends. */
MRD_MUST_CHECK mrd_status mrd__files_pread(const mrd__files *files, int fd, uint64_t offset,
                                           void *out, size_t size, size_t *got, const char *path,
                                           mrd_error *error);
/* path.tmp written, synced, made read-only, renamed to path, the folder synced. */
MRD_MUST_CHECK mrd_status mrd__files_replace(const mrd__files *files, const char *path,
                                             const void *data, size_t size, mrd_error *error);
/* Append the whole file to out; MRD_ERR_LIMIT above max bytes. */
MRD_MUST_CHECK mrd_status mrd__files_read(const mrd__files *files, const char *path, mrd__buf *out,
                                          size_t max, mrd_error *error);

/* "dir/name" in new memory (mrd__free). */
char *mrd__files_join(const char *dir, const char *name);

#endif
