/* Parquet files under a temporary name. A value of the metadata that is known only after the last
 * row is written as zeros of fixed width and put right in the file's footer, which comes last in a
 * Parquet file and has no checksum. */
#include "events/file.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOOTER_MAX (1u << 28) /* the largest footer that is read back: 10^5 row groups and more */

/* The rename is on disk only when the folder is. */
static mrd_status sync_folder(const char *path, mrd_error *error)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? mrd__strndup(path, (size_t)(slash - path) + 1) : mrd__strndup(".", 1);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    mrd_status status = MRD_OK;
    if (fd < 0 || fsync(fd) != 0) status = mrd__fail_errno(error, folder, "cannot sync the folder");
    if (fd >= 0) close(fd);
    mrd__free(folder);
    return status;
}

static mrd_status finish(int fd, const char *temporary, const char *path, mrd_error *error)
{
    if (fsync(fd) != 0) return mrd__fail_errno(error, path, "cannot sync");
    if (rename(temporary, path) != 0) return mrd__fail_errno(error, path, "cannot rename to");
    return sync_folder(path, error);
}

static mrd_status no_footer(mrd_error *error, const char *path, const char *what)
{
    (void)mrd__fail(error, MRD_ERR_INTERNAL, "bad_footer", "the written file has no footer: %s",
                    what);
    return mrd__fail_at(error, MRD_ERR_INTERNAL, path, -1);
}

static bool exactly(ssize_t got, size_t size)
{
    return got >= 0 && (size_t)got == size;
}

/* Key and value stand as the two binary fields of a Thrift struct: 0x18, length, bytes, twice. */
static mrd_status put_right(char *footer, size_t size, const mrd__late_value *late,
                            const char *path, mrd_error *error)
{
    mrd__buf want = {0};
    size_t key = strlen(late->key), value = strlen(late->value);
    mrd__buf_char(&want, 0x18);
    mrd__buf_char(&want, (char)key);
    mrd__buf_text(&want, late->key);
    mrd__buf_char(&want, 0x18);
    mrd__buf_char(&want, (char)value);
    for (size_t i = 0; i < value; i++)
        mrd__buf_char(&want, '0');
    char *at = memmem(footer, size, want.data, want.size);
    char *next = at ? at + 1 : footer;
    bool once = at && !memmem(next, size - (size_t)(next - footer), want.data, want.size);
    if (once) memcpy(at + want.size - value, late->value, value);
    mrd__buf_reset(&want);
    return once ? MRD_OK : no_footer(error, path, late->key);
}

static mrd_status amend(int fd, const char *path, const mrd__parquet_job *job, mrd_error *error)
{
    struct stat info;
    unsigned char tail[8];
    if (fstat(fd, &info) != 0) return mrd__fail_errno(error, path, "cannot look at");
    if (info.st_size < 12 || !exactly(pread(fd, tail, 8, info.st_size - 8), 8) ||
        memcmp(tail + 4, "PAR1", 4) != 0)
        return no_footer(error, path, "no PAR1 at its end");
    size_t size = tail[0] | (size_t)tail[1] << 8 | (size_t)tail[2] << 16 | (size_t)tail[3] << 24;
    off_t from = info.st_size - 8 - (off_t)size;
    if (size > FOOTER_MAX || from < 4) return no_footer(error, path, "its length");
    char *footer = mrd__alloc(size);
    mrd_status status = MRD_OK;
    if (!exactly(pread(fd, footer, size, from), size))
        status = mrd__fail_errno(error, path, "cannot read back");
    for (size_t i = 0; i < job->late_count && status == MRD_OK; i++)
        status = put_right(footer, size, &job->late[i], path, error);
    if (status == MRD_OK && !exactly(pwrite(fd, footer, size, from), size))
        status = mrd__fail_errno(error, path, "cannot write");
    mrd__free(footer);
    return status;
}

static mrd_status write_rows(int fd, const mrd__parquet_job *job, mrd_error *error)
{
    mrd__duck *duck = NULL;
    MRD__TRY(mrd__duck_open(&duck, 0, error));
    mrd_status status = mrd__duck_write_parquet(duck, fd, job->rows, job->kv, job->kv_count, error);
    mrd__duck_close(&duck);
    return status;
}

mrd_status mrd__parquet_file_write(const char *path, const mrd__parquet_job *job, mrd_error *error)
{
    uint64_t random;
    mrd__random_bytes(&random, sizeof random);
    mrd__buf temporary = {0};
    mrd__buf_printf(&temporary, "%s.tmp-%016llx", path, (unsigned long long)random);
    int fd = open(temporary.data, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    mrd_status status = MRD_OK;
    if (fd < 0) {
        status = mrd__fail_errno(error, path, "cannot create");
    } else {
        status = write_rows(fd, job, error);
        if (status != MRD_OK) status = mrd__fail_at(error, status, path, -1);
        if (status == MRD_OK && job->finish) {
            job->finish(job->ctx);
            status = amend(fd, path, job, error);
        }
        if (status == MRD_OK) status = finish(fd, temporary.data, path, error);
        close(fd);
        if (status != MRD_OK) unlink(temporary.data);
    }
    mrd__buf_reset(&temporary);
    return status;
}
