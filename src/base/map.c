/* Read-only view of a whole file. Address space is reserved first (anonymous, zero, never written)
 * and the file is mapped over its beginning:
 *
 *   | file pages ............ last page, rest zero | one zero page at least |
 *   data                     data + size                     data + reserved
 *
 * so a vector load that runs over the end reads zeros. What cannot be mapped (pipes, devices, the
 * files of /proc whose size is said to be 0) is read into anonymous memory of the same shape. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define STREAM_MAX ((size_t)16 << 30) /* a pipe is held in memory: stop before the machine does */
#define STREAM_FIRST ((size_t)1 << 20)
#define MTIME_NONE INT64_MIN /* what was read from a pipe cannot change behind us */

static int64_t mtime_of(const struct stat *info)
{
    return (int64_t)info->st_mtim.tv_sec * 1000000000 + info->st_mtim.tv_nsec;
}

static size_t round_to_pages(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (size + page - 1) / page * page;
}

static mrd_status map_regular(mrd__map *map, int fd, size_t size, const char *path,
                              mrd_error *error)
{
    size_t reserved = round_to_pages(size) + round_to_pages(MRD__MAP_SLACK);
    void *base =
        mmap(NULL, reserved, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) return mrd__fail_errno(error, path, "cannot reserve address space");
    if (mmap(base, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) == MAP_FAILED) {
        mrd_status status = mrd__fail_errno(error, path, "cannot map");
        munmap(base, reserved);
        return status;
    }
    map->data = base;
    map->size = size;
    map->reserved = reserved;
    return MRD_OK;
}

static mrd_status read_all(int fd, char **base, size_t *reserved, size_t *size, const char *path,
                           mrd_error *error)
{
    for (;;) {
        size_t room = *reserved - MRD__MAP_SLACK - *size;
        if (room == 0) {
            if (*size >= STREAM_MAX) {
                mrd__fail(error, MRD_ERR_LIMIT, "too_large",
                          "input that is not a regular file is longer than %zu bytes, the limit",
                          STREAM_MAX);
                return mrd__fail_at(error, MRD_ERR_LIMIT, path, (int64_t)*size);
            }
            void *moved = mremap(*base, *reserved, *reserved * 2, MREMAP_MAYMOVE);
            if (moved == MAP_FAILED)
                return mrd__fail_errno(error, path, "cannot hold the input in memory");
            *base = moved;
            *reserved *= 2;
            continue;
        }
        ssize_t got = read(fd, *base + *size, room);
        if (got == 0) return MRD_OK;
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return mrd__fail_errno(error, path, "cannot read");
        *size += (size_t)got;
    }
}

static mrd_status map_stream(mrd__map *map, int fd, const char *path, mrd_error *error)
{
    size_t reserved = STREAM_FIRST;
    char *base = mmap(NULL, reserved, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) return mrd__fail_errno(error, path, "cannot reserve address space");
    size_t size = 0;
    mrd_status status = read_all(fd, &base, &reserved, &size, path, error);
    if (status != MRD_OK) {
        munmap(base, reserved);
        return status;
    }
    size_t keep = round_to_pages(size + MRD__MAP_SLACK);
    if (keep < reserved) munmap(base + keep, reserved - keep);
    map->data = base;
    map->size = size;
    map->reserved = keep < reserved ? keep : reserved;
    return MRD_OK;
}

mrd_status mrd__map_open(mrd__map *map, const char *path, mrd_error *error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return mrd__fail_errno(error, path, "cannot open");
    mrd__map fresh = {0};
    struct stat info;
    mrd_status status;
    if (fstat(fd, &info) != 0) {
        status = mrd__fail_errno(error, path, "cannot read the file's state");
    } else if (S_ISDIR(info.st_mode)) {
        mrd__fail(error, MRD_ERR_IO, "is_folder", "is a folder, a file is needed");
        status = mrd__fail_at(error, MRD_ERR_IO, path, -1);
    } else if (S_ISREG(info.st_mode) && info.st_size > 0) {
        fresh.mtime_ns = mtime_of(&info);
        status = map_regular(&fresh, fd, (size_t)info.st_size, path, error);
    } else {
        status = map_stream(&fresh, fd, path, error);
        /* An empty file is empty both ways; then a later change is still to be seen. */
        bool empty = S_ISREG(info.st_mode) && fresh.size == 0;
        fresh.mtime_ns = empty ? mtime_of(&info) : MTIME_NONE;
    }
    close(fd);
    if (status != MRD_OK) return status;
    fresh.path = mrd__strndup(path, strlen(path));
    *map = fresh;
    return MRD_OK;
}

char *mrd__map_memory(mrd__map *map, const char *path, size_t room)
{
    size_t reserved = round_to_pages(room + MRD__MAP_SLACK);
    void *base = mmap(NULL, reserved, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) return NULL;
    *map = (mrd__map){.data = base,
                      .reserved = reserved,
                      .mtime_ns = MTIME_NONE,
                      .path = mrd__strndup(path, strlen(path))};
    return base;
}

char *mrd__map_grow(mrd__map *map, size_t room)
{
    size_t reserved = round_to_pages(room + MRD__MAP_SLACK);
    void *base = (void *)(uintptr_t)map->data;
    if (reserved <= map->reserved) return base;
    base = mremap(base, map->reserved, reserved, MREMAP_MAYMOVE);
    if (base == MAP_FAILED) return NULL;
    map->data = base;
    map->reserved = reserved;
    return base;
}

void mrd__map_fit(mrd__map *map, size_t size)
{
    size_t keep = round_to_pages(size + MRD__MAP_SLACK);
    if (keep < map->reserved) {
        munmap((char *)(uintptr_t)map->data + keep, map->reserved - keep);
        map->reserved = keep;
    }
    map->size = size;
}

void mrd__map_close(mrd__map *map)
{
    if (map->data != NULL) munmap((void *)(uintptr_t)map->data, map->reserved);
    mrd__free(map->path);
    *map = (mrd__map){0};
}

int mrd__map_source(const mrd__map *map)
{
    if (map->mtime_ns == MTIME_NONE || map->data == NULL) return -1;
    int fd = open(map->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    struct stat info;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && (size_t)info.st_size == map->size &&
        mtime_of(&info) == map->mtime_ns)
        return fd;
    close(fd);
    return -1;
}

void mrd__map_source_close(int source)
{
    if (source >= 0) close(source);
}

bool mrd__map_read(int source, uint64_t from, size_t size, char *out)
{
    while (size > 0) {
        ssize_t got = pread(source, out, size, (off_t)from);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        out += got;
        from += (uint64_t)got;
        size -= (size_t)got;
    }
    return true;
}

bool mrd__map_is_memory(const mrd__map *map)
{
    return map->mtime_ns == MTIME_NONE;
}

mrd_status mrd__map_check(const mrd__map *map, mrd_error *error)
{
    if (map->mtime_ns == MTIME_NONE) return MRD_OK;
    struct stat info;
    if (stat(map->path, &info) != 0)
        return mrd__fail_errno(error, map->path, "file changed on disk");
    if ((size_t)info.st_size == map->size && mtime_of(&info) == map->mtime_ns) return MRD_OK;
    mrd__fail(error, MRD_ERR_IO, "file_changed",
              "file changed on disk: %zu bytes when opened, %lld bytes now", map->size,
              (long long)info.st_size);
    return mrd__fail_at(error, MRD_ERR_IO, map->path, -1);
}
