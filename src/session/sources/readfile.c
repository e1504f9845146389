#include "session/sources/readfile.h"

#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum {
    READ_AT_ONCE = 16 << 10
};

static int read_all(int fd, mrd__buf *buf)
{
    for (;;) {
        mrd__buf_reserve(buf, READ_AT_ONCE);
        ssize_t got = read(fd, buf->data + buf->size, READ_AT_ONCE);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return errno;
        if (got == 0) return 0;
        buf->size += (size_t)got;
        if (buf->size > MRD__KERNEL_FILE_MAX) return EFBIG;
    }
}

mrd__kernel_text mrd__kernel_file(int folder, const char *path, mrd__buf *buf)
{
    mrd__buf_clear(buf);
    uint64_t before = mrd__monotonic_ns();
    int fd = openat(folder, path, O_RDONLY | O_CLOEXEC);
    int failed = fd < 0 ? errno : read_all(fd, buf);
    uint64_t after = mrd__monotonic_ns();
    if (fd >= 0) close(fd);
    return (mrd__kernel_text){
        .text = {buf->data, failed == 0 ? buf->size : 0},
        .time_ns = before + (after - before) / 2,
        .spread_ns = after - before,
        .failed = failed,
    };
}

bool mrd__kernel_gone(int failed)
{
    return failed == ENOENT || failed == ESRCH;
}

bool mrd__kernel_refused(int failed)
{
    return failed == EACCES || failed == EPERM || failed == ENOSYS || failed == EOPNOTSUPP;
}
