/* Reading and safe writing of whole files. Writing never touches the name until the bytes are on
 * disk: temporary file beside it, fsync, rename, fsync of the folder. */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK ((size_t)1 << 20) /* one read or write call; large enough to amortize the call */

static ssize_t read_some(int fd, void *out, size_t size)
{
    ssize_t got;
    do {
        got = read(fd, out, size);
    } while (got < 0 && errno == EINTR);
    return got;
}

static mrd_status read_limited(mrd__buf *buf, int fd, const char *path, size_t max,
                               mrd_error *error)
{
    size_t start = buf->size;
    for (;;) {
        /* One byte more than allowed is asked for, to see that there is more. */
        size_t left = max - (buf->size - start);
        size_t want = left < CHUNK ? left + 1 : CHUNK;
        if (want > 65536 && buf->size == start) want = 65536;
        mrd__buf_reserve(buf, want);
        ssize_t got = read_some(fd, buf->data + buf->size, want);
        if (got < 0) return mrd__fail_errno(error, path, "cannot read");
        if (got == 0) return MRD_OK;
        if ((size_t)got > left) {
            mrd__fail(error, MRD_ERR_LIMIT, "too_large", "file is longer than %zu bytes, the limit",
                      max);
            if (error != NULL) error->limit = max;
            return mrd__fail_at(error, MRD_ERR_LIMIT, path, -1);
        }
        buf->size += (size_t)got;
        buf->data[buf->size] = '\0';
    }
}

mrd_status mrd__file_read(mrd__buf *buf, const char *path, size_t max, mrd_error *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return mrd__fail_errno(error, path, "cannot open");
    size_t start = buf->size;
    mrd_status status = read_limited(buf, fd, path, max, error);
    close(fd);
    if (status != MRD_OK && buf->data != NULL) {
        buf->size = start;
        buf->data[start] = '\0';
    }
    return status;
}

mrd_status mrd__file_head(const char *path, char *out, size_t size, size_t *got, mrd_error *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return mrd__fail_errno(error, path, "cannot open");
    size_t total = 0;
    ssize_t step = 1;
    while (total < size && step > 0) {
        step = read_some(fd, out + total, size - total);
        if (step > 0) total += (size_t)step;
    }
    mrd_status status = step < 0 ? mrd__fail_errno(error, path, "cannot read") : MRD_OK;
    close(fd);
    if (status == MRD_OK) *got = total;
    return status;
}

static mrd_status write_all(int fd, const char *data, size_t size, const char *path,
                            mrd_error *error)
{
    while (size > 0) {
        ssize_t put = write(fd, data, size < CHUNK ? size : CHUNK);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return mrd__fail_errno(error, path, "cannot write");
        data += put;
        size -= (size_t)put;
    }
    return MRD_OK;
}

static mrd_status sync_folder_of(const char *path, mrd_error *error)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL   ? mrd__strndup(".", 1)
                   : slash == path ? mrd__strndup("/", 1)
                                   : mrd__strndup(path, (size_t)(slash - path));
    mrd_status status = MRD_OK;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* Some file systems refuse to sync a folder (EINVAL); they then order renames themselves. */
    if (fd < 0 || (fsync(fd) != 0 && errno != EINVAL))
        status = mrd__fail_errno(error, folder, "cannot sync the folder");
    if (fd >= 0) close(fd);
    mrd__free(folder);
    return status;
}

mrd_status mrd__atomic_begin(mrd__atomic_file *file, const char *path, mrd_error *error)
{
    uint64_t word;
    mrd__random_bytes(&word, sizeof word);
    mrd__buf name = {0};
    mrd__buf_printf(&name, "%s.tmp-%016llx", path, (unsigned long long)word);
    *file = (mrd__atomic_file){.temporary = name.data, .path = path};
    file->fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file->fd >= 0) return MRD_OK;
    mrd_status status = mrd__fail_errno(error, path, "cannot create a temporary file beside it");
    mrd__free(file->temporary);
    return status;
}

mrd_status mrd__atomic_append(mrd__atomic_file *file, const void *data, size_t size,
                              mrd_error *error)
{
    return write_all(file->fd, data, size, file->path, error);
}

mrd_status mrd__atomic_end(mrd__atomic_file *file, mrd_status status, mrd_error *error)
{
    const char *path = file->path;
    if (status == MRD_OK && fsync(file->fd) != 0)
        status = mrd__fail_errno(error, path, "cannot write to disk");
    if (close(file->fd) != 0 && status == MRD_OK)
        status = mrd__fail_errno(error, path, "cannot close");
    if (status == MRD_OK && rename(file->temporary, path) != 0)
        status = mrd__fail_errno(error, path, "cannot rename the temporary file to it");
    if (status != MRD_OK)
        unlink(file->temporary);
    else
        status = sync_folder_of(path, error);
    mrd__free(file->temporary);
    return status;
}

mrd_status mrd__file_write_atomic(const char *path, const void *data, size_t size, mrd_error *error)
{
    mrd__atomic_file file;
    MRD__TRY(mrd__atomic_begin(&file, path, error));
    return mrd__atomic_end(&file, mrd__atomic_append(&file, data, size, error), error);
}

static mrd_status copy_bytes(int from, int to, const char *from_path, const char *to_path,
                             mrd_error *error)
{
    if (ioctl(to, FICLONE, from) == 0) return MRD_OK;
    char *chunk = mrd__alloc(CHUNK);
    mrd_status status = MRD_OK;
    while (status == MRD_OK) {
        ssize_t got = read_some(from, chunk, CHUNK);
        if (got == 0) break;
        status = got < 0 ? mrd__fail_errno(error, from_path, "cannot read")
                         : write_all(to, chunk, (size_t)got, to_path, error);
    }
    mrd__free(chunk);
    return status;
}

mrd_status mrd__file_copy_atomic(const char *from, const char *to, mrd_error *error)
{
    int source = open(from, O_RDONLY | O_CLOEXEC);
    if (source < 0) return mrd__fail_errno(error, from, "cannot open");
    mrd__atomic_file file;
    mrd_status status = mrd__atomic_begin(&file, to, error);
    if (status == MRD_OK)
        status = mrd__atomic_end(&file, copy_bytes(source, file.fd, from, to, error), error);
    close(source);
    return status;
}

static mrd_status make_folder(const char *path, mrd_error *error)
{
    struct stat info;
    if (mkdir(path, 0777) == 0) return MRD_OK;
    int number = errno;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) return MRD_OK;
    errno = number;
    return mrd__fail_errno(error, path, "cannot make the folder");
}

mrd_status mrd__make_folders(const char *path, mrd_error *error)
{
    size_t size = strlen(path);
    mrd__assert(size > 0);
    char *part = mrd__strndup(path, size);
    mrd_status status = MRD_OK;
    for (size_t i = 1; i <= size && status == MRD_OK; i++) {
        if (part[i] != '/' && part[i] != '\0') continue;
        char kept = part[i];
        part[i] = '\0';
        status = make_folder(part, error);
        part[i] = kept;
    }
    mrd__free(part);
    return status;
}

bool mrd__file_exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}
