#include "session/files.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/os.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK ((size_t)4 << 20) /* of one write call */

/* ---- The operating system ---- */

static int system_open(void *ctx, const char *path, int flags, mode_t mode)
{
    (void)ctx;
    return open(path, flags, mode);
}

static ssize_t system_write(void *ctx, int fd, const void *data, size_t size)
{
    (void)ctx;
    return write(fd, data, size);
}

static ssize_t system_pread(void *ctx, int fd, void *out, size_t size, uint64_t offset)
{
    (void)ctx;
    return pread(fd, out, size, (off_t)offset);
}

static int system_size(void *ctx, int fd, uint64_t *size)
{
    (void)ctx;
    struct stat info;
    if (fstat(fd, &info) != 0) return -1;
    *size = (uint64_t)info.st_size;
    return 0;
}

static void system_begin_sync(void *ctx, int fd)
{
    (void)ctx;
    /* Whether it worked is the sync's to say. */
    (void)sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
}

static int system_fdatasync(void *ctx, int fd)
{
    (void)ctx;
    return fdatasync(fd);
}

static int system_fsync(void *ctx, int fd)
{
    (void)ctx;
    return fsync(fd);
}

static int system_ftruncate(void *ctx, int fd, uint64_t size)
{
    (void)ctx;
    return ftruncate(fd, (off_t)size);
}

static int system_fchmod(void *ctx, int fd, mode_t mode)
{
    (void)ctx;
    return fchmod(fd, mode);
}

static int system_close(void *ctx, int fd)
{
    (void)ctx;
    return close(fd);
}

static int system_mkdir(void *ctx, const char *path, mode_t mode)
{
    (void)ctx;
    return mkdir(path, mode);
}

static int system_rename(void *ctx, const char *from, const char *to)
{
    (void)ctx;
    return rename(from, to);
}

static int system_rename_new(void *ctx, const char *from, const char *to)
{
    (void)ctx;
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return 0;
    /* File systems without the flag: a folder's rename replaces at most an empty folder. */
    struct stat info;
    if ((errno != EINVAL && errno != ENOSYS) || lstat(to, &info) == 0) return -1;
    return rename(from, to);
}

static int system_unlink(void *ctx, const char *path)
{
    (void)ctx;
    return unlink(path);
}

static int system_exists(void *ctx, const char *path)
{
    (void)ctx;
    struct stat info;
    if (lstat(path, &info) == 0) return 1;
    return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
}

static int system_list(void *ctx, const char *path, void (*name)(void *name_ctx, const char *name),
                       void *name_ctx)
{
    (void)ctx;
    DIR *folder = opendir(path);
    if (folder == NULL) return -1;
    int number = 0;
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(folder);
        if (entry == NULL) {
            number = errno;
            break;
        }
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            name(name_ctx, entry->d_name);
    }
    closedir(folder);
    errno = number;
    return number == 0 ? 0 : -1;
}

static int system_lock(void *ctx, int fd)
{
    (void)ctx;
    return flock(fd, LOCK_EX | LOCK_NB);
}

static uint64_t system_now(void *ctx)
{
    (void)ctx;
    return mrd__monotonic_ns();
}

const mrd__files *mrd__files_system(void)
{
    static const mrd__files files = {
        .open = system_open,
        .write = system_write,
        .pread = system_pread,
        .size = system_size,
        .begin_sync = system_begin_sync,
        .fdatasync = system_fdatasync,
        .fsync = system_fsync,
        .ftruncate = system_ftruncate,
        .fchmod = system_fchmod,
        .close = system_close,
        .mkdir = system_mkdir,
        .rename = system_rename,
        .rename_new = system_rename_new,
        .unlink = system_unlink,
        .exists = system_exists,
        .list = system_list,
        .lock = system_lock,
        .now_ns = system_now,
    };
    return &files;
}

/* ---- Helpers ---- */

mrd_status mrd__files_write(const mrd__files *files, int fd, const void *data, size_t size,
                            size_t *written, const char *path, mrd_error *error)
{
    const char *at = data;
    size_t done = 0;
    mrd_status status = MRD_OK;
    while (done < size) {
        size_t step = size - done < CHUNK ? size - done : CHUNK;
        ssize_t put = files->write(files->ctx, fd, at + done, step);
        if (put < 0 && errno == EINTR) continue;
        if (put == 0) errno = ENOSPC; /* no progress, no reason: not to be tried for ever */
        if (put <= 0) {
            status = mrd__fail_errno(error, path, "cannot write");
            break;
        }
        done += (size_t)put;
    }
    if (written != NULL) *written = done;
    return status;
}

int mrd__files_open(const mrd__files *files, const char *path, int flags, mode_t mode,
                    mrd_error *error)
{
    int fd;
    do {
        fd = files->open(files->ctx, path, flags | O_CLOEXEC, mode);
    } while (fd < 0 && errno == EINTR);
    if (fd < 0)
        (void)mrd__fail_errno(error, path, flags & O_CREAT ? "cannot create" : "cannot open");
    return fd;
}

mrd_status mrd__files_sync_folder(const mrd__files *files, const char *path, mrd_error *error)
{
    int fd = mrd__files_open(files, path, O_RDONLY | O_DIRECTORY, 0, error);
    if (fd < 0) return MRD_ERR_IO;
    mrd_status status = MRD_OK;
    /* Some file systems refuse to sync a folder (EINVAL); they then order renames themselves. */
    if (files->fsync(files->ctx, fd) != 0 && errno != EINVAL)
        status = mrd__fail_errno(error, path, "cannot sync the folder");
    (void)files->close(files->ctx, fd);
    return status;
}

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL) return mrd__strndup(".", 1);
    return mrd__strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

mrd_status mrd__files_replace(const mrd__files *files, const char *path, const void *data,
                              size_t size, mrd_error *error)
{
    mrd__buf name = {0};
    mrd__buf_printf(&name, "%s.tmp", path);
    mrd_status status = MRD_ERR_IO;
    /* A new file each time: of one whose sync failed nothing is believed. */
    (void)files->unlink(files->ctx, name.data);
    int fd = mrd__files_open(files, name.data, O_WRONLY | O_CREAT | O_EXCL, 0666, error);
    if (fd >= 0) {
        status = mrd__files_write(files, fd, data, size, NULL, name.data, error);
        if (status == MRD_OK && files->fchmod(files->ctx, fd, 0444) != 0)
            status = mrd__fail_errno(error, name.data, "cannot make it read-only");
        if (status == MRD_OK && files->fsync(files->ctx, fd) != 0)
            status = mrd__fail_errno(error, name.data, "cannot sync");
        if (files->close(files->ctx, fd) != 0 && status == MRD_OK)
            status = mrd__fail_errno(error, name.data, "cannot close");
    }
    if (status == MRD_OK && files->rename(files->ctx, name.data, path) != 0)
        status = mrd__fail_errno(error, path, "cannot rename the temporary file to it");
    if (status != MRD_OK && fd >= 0) (void)files->unlink(files->ctx, name.data);
    mrd__buf_reset(&name);
    if (status != MRD_OK) return status;
    char *folder = folder_of(path);
    status = mrd__files_sync_folder(files, folder, error);
    mrd__free(folder);
    return status;
}

mrd_status mrd__files_sync_parent(const mrd__files *files, const char *path, mrd_error *error)
{
    char *folder = folder_of(path);
    mrd_status status = mrd__files_sync_folder(files, folder, error);
    mrd__free(folder);
    return status;
}

mrd_status mrd__files_pread(const mrd__files *files, int fd, uint64_t offset, void *out,
                            size_t size, size_t *got, const char *path, mrd_error *error)
{
    *got = 0;
    while (*got < size) {
        ssize_t step = files->pread(files->ctx, fd, (char *)out + *got, size - *got, offset + *got);
        if (step < 0 && errno == EINTR) continue;
        if (step < 0) return mrd__fail_errno(error, path, "cannot read");
        if (step == 0) break;
        *got += (size_t)step;
    }
    return MRD_OK;
}

mrd_status mrd__files_read(const mrd__files *files, const char *path, mrd__buf *out, size_t max,
                           mrd_error *error)
{
    int fd = mrd__files_open(files, path, O_RDONLY, 0, error);
    if (fd < 0) return errno == ENOENT ? MRD_ERR_NOT_FOUND : MRD_ERR_IO;
    uint64_t size = 0;
    size_t got = 0;
    mrd_status status = MRD_OK;
    if (files->size(files->ctx, fd, &size) != 0)
        status = mrd__fail_errno(error, path, "cannot see its size");
    if (status == MRD_OK && size > max) {
        mrd__fail(error, MRD_ERR_LIMIT, "too_large", "file has %llu bytes, the limit is %zu",
                  (unsigned long long)size, max);
        status = mrd__fail_at(error, MRD_ERR_LIMIT, path, -1);
    }
    if (status == MRD_OK) {
        mrd__buf_reserve(out, (size_t)size);
        status =
            mrd__files_pread(files, fd, 0, out->data + out->size, (size_t)size, &got, path, error);
    }
    if (status == MRD_OK) {
        out->size += got;
        out->data[out->size] = '\0';
    }
    (void)files->close(files->ctx, fd);
    return status;
}

char *mrd__files_join(const char *dir, const char *name)
{
    mrd__buf path = {0};
    mrd__buf_printf(&path, "%s/%s", dir, name);
    return path.data;
}
