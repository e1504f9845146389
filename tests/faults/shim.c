/* Preloaded into the program: the call number MRD_FAIL_CALL of its system calls on files fails
 * with EIO (allocation of pages: ENOMEM); with MRD_FAIL_ALWAYS=1 all later ones, too. Prints the
 * number of calls seen to the file MRD_FAIL_COUNT at exit. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_long seen;
static long fail_at = -1;
static bool always;

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("MRD_FAIL_CALL");
    fail_at = text ? strtol(text, NULL, 10) : -1;
    always = getenv("MRD_FAIL_ALWAYS") != NULL;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("MRD_FAIL_COUNT");
    FILE *out = path ? fopen(path, "w") : NULL;
    if (!out) return;
    fprintf(out, "%ld\n", atomic_load(&seen));
    fclose(out);
}

static bool fails(int error)
{
    long number = atomic_fetch_add(&seen, 1) + 1;
    bool now = fail_at > 0 && (number == fail_at || (always && number > fail_at));
    if (now) errno = error;
    return now;
}

#define REAL(type, name, ...) ((type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name))

/* What the loader and the C library look at on their own way is not the program's doing. */
static bool ours(const char *path)
{
    return strncmp(path, "/proc/", 6) != 0 && strncmp(path, "/sys/", 5) != 0 &&
           strncmp(path, "/etc/", 5) != 0 && strncmp(path, "/dev/", 5) != 0 && !strstr(path, ".so");
}

#define OPEN_BODY(name)                                                                            \
    mode_t mode = 0;                                                                               \
    if (flags & (O_CREAT | O_TMPFILE)) {                                                           \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        mode = va_arg(args, mode_t);                                                               \
        va_end(args);                                                                              \
    }                                                                                              \
    if (ours(path) && fails(EIO)) return -1;                                                       \
    return REAL(int, name, const char *, int, ...)(path, flags, mode)

int open(const char *path, int flags, ...)
{
    OPEN_BODY(open);
}

int open64(const char *path, int flags, ...)
{
    OPEN_BODY(open64);
}

ssize_t read(int fd, void *out, size_t size)
{
    return fails(EIO) ? -1 : REAL(ssize_t, read, int, void *, size_t)(fd, out, size);
}

ssize_t pread(int fd, void *out, size_t size, off_t at)
{
    return fails(EIO) ? -1 : REAL(ssize_t, pread, int, void *, size_t, off_t)(fd, out, size, at);
}

ssize_t pread64(int fd, void *out, size_t size, off64_t at)
{
    return fails(EIO) ? -1
                      : REAL(ssize_t, pread64, int, void *, size_t, off64_t)(fd, out, size, at);
}

ssize_t write(int fd, const void *data, size_t size)
{
    /* The line on stderr is how a failure is told: it may not fail itself. */
    if (fd == STDERR_FILENO) return REAL(ssize_t, write, int, const void *, size_t)(fd, data, size);
    return fails(ENOSPC) ? -1 : REAL(ssize_t, write, int, const void *, size_t)(fd, data, size);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at)
{
    return fails(ENOSPC)
               ? -1
               : REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t)(fd, data, size, at);
}

int fsync(int fd)
{
    return fails(EIO) ? -1 : REAL(int, fsync, int)(fd);
}

int fdatasync(int fd)
{
    return fails(EIO) ? -1 : REAL(int, fdatasync, int)(fd);
}

int rename(const char *from, const char *to)
{
    return fails(EIO) ? -1 : REAL(int, rename, const char *, const char *)(from, to);
}

int mkdir(const char *path, mode_t mode)
{
    return fails(EIO) ? -1 : REAL(int, mkdir, const char *, mode_t)(path, mode);
}

/* Maps of files only: memory that runs out ends the program, a decision of docs/architecture.md. */
void *mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
    if (fd >= 0 && !(prot & PROT_EXEC) && fails(ENOMEM)) return MAP_FAILED;
    return REAL(void *, mmap, void *, size_t, int, int, int, off_t)(at, size, prot, flags, fd,
                                                                    offset);
}
