/* Files, threads, clocks, randomness: everything that is not a pure function goes through here. */
#ifndef MRD_BASE_OS_H
#define MRD_BASE_OS_H

#include "base/text.h"

#include <pthread.h>

/* ---- Files ---- */

/* Read-only mapping of a whole regular file with at least MRD__MAP_SLACK readable zero bytes
 * behind the last byte (so that vector loads may run over). */
#define MRD__MAP_SLACK 4096
typedef struct mrd__map {
    const char *data;
    size_t size;
    size_t reserved;  /* for unmap */
    int64_t mtime_ns; /* to find out later that the file changed */
    char *path;
} mrd__map;
MRD_MUST_CHECK mrd_status mrd__map_open(mrd__map *map, const char *path, mrd_error *error);
void mrd__map_close(mrd__map *map); /* accepts zeroed */
/* Memory of this process in the shape of a map: at least room zero bytes to be filled, returned;
 * NULL when the system has none left. path is for errors. It never counts as changed. Then fit
 * gives back what was not used and sets the size; grow, before it, moves what is there to a
 * larger room. */
char *mrd__map_memory(mrd__map *map, const char *path, size_t room);
char *mrd__map_grow(mrd__map *map, size_t room);
void mrd__map_fit(mrd__map *map, size_t size);
/* The mapped file opened for mrd__map_read, -1 where it is no regular file, changed since, or
 * cannot be opened again. Close with mrd__map_source_close. */
int mrd__map_source(const mrd__map *map);
void mrd__map_source_close(int source); /* accepts -1 */
/* Copy [from, from + size) of the file: cheaper than touching as many mapped pages once, since each
 * page that is mapped costs. False when not all of it could be read. Any thread. */
bool mrd__map_read(int source, uint64_t from, size_t size, char *out);
/* True of what lies in memory of this process and not in a file: mrd__map_memory, a pipe. */
bool mrd__map_is_memory(const mrd__map *map);
/* MRD_ERR_IO "file changed on disk" when size or mtime differ from when it was mapped. */
MRD_MUST_CHECK mrd_status mrd__map_check(const mrd__map *map, mrd_error *error);

/* Run body(ctx), which only reads mapped files: no locks, no allocation, nothing to undo. False
 * when a page was not there (SIGBUS: the file shrank, or its disk failed); body then ended half
 * way. A SIGBUS anywhere else still ends the program. Any thread; not nested. */
MRD_MUST_CHECK bool mrd__map_guarded(void (*body)(void *ctx), void *ctx);

/* Whole file into buf (appended); fails with MRD_ERR_LIMIT above max bytes. */
MRD_MUST_CHECK mrd_status mrd__file_read(mrd__buf *buf, const char *path, size_t max,
                                         mrd_error *error);
/* First bytes of a file, up to size; *got is how many. For sniffing. */
MRD_MUST_CHECK mrd_status mrd__file_head(const char *path, char *out, size_t size, size_t *got,
                                         mrd_error *error);
/* Write to path.tmp-<random>, fsync, rename, fsync the folder. */
MRD_MUST_CHECK mrd_status mrd__file_write_atomic(const char *path, const void *data, size_t size,
                                                 mrd_error *error);
/* The same in pieces: begin, append, end. end takes the status so far and closes in any case: the
 * name gets the new bytes when all was MRD_OK, else nothing changes. Not thread-safe. */
typedef struct mrd__atomic_file {
    int fd;
    char *temporary;  /* name of the file until the end */
    const char *path; /* borrowed until the end */
} mrd__atomic_file;
MRD_MUST_CHECK mrd_status mrd__atomic_begin(mrd__atomic_file *file, const char *path,
                                            mrd_error *error);
MRD_MUST_CHECK mrd_status mrd__atomic_append(mrd__atomic_file *file, const void *data, size_t size,
                                             mrd_error *error);
MRD_MUST_CHECK mrd_status mrd__atomic_end(mrd__atomic_file *file, mrd_status status,
                                          mrd_error *error);
/* Copy with the same safety (reflink where the file system can). */
MRD_MUST_CHECK mrd_status mrd__file_copy_atomic(const char *from, const char *to, mrd_error *error);
MRD_MUST_CHECK mrd_status mrd__make_folders(const char *path, mrd_error *error); /* mkdir -p */
bool mrd__file_exists(const char *path);

/* ---- Threads ---- */

uint32_t mrd__cores(void); /* online cores, at least 1 */

/* A thread of the program's own, which leaves signals to those that wait for them; those that tell
 * of a fault stay deliverable, since a handler for SIGBUS must see them. As pthread_create: 0 or an
 * errno. */
int mrd__thread_start(pthread_t *thread, void *(*body)(void *ctx), void *ctx);

/* Run body(ctx, worker) on workers threads (the caller is one of them) and wait. */
void mrd__parallel(uint32_t workers, void (*body)(void *ctx, uint32_t worker), void *ctx);
/* Run body(ctx, index, worker) for each index below count, on at most workers threads, indices
 * taken in order. */
void mrd__parallel_for(uint32_t workers, size_t count,
                       void (*body)(void *ctx, size_t index, uint32_t worker), void *ctx);

/* ---- Clocks and randomness ---- */

uint64_t mrd__monotonic_ns(void);
uint64_t mrd__boottime_ns(void); /* as monotonic, and it counts while the machine sleeps */
int64_t mrd__realtime_ns(void);
/* Operating system randomness for tokens and temporary names. */
void mrd__random_bytes(void *out, size_t size);
/* A random UUID (RFC 9562, version 4) as text. */
void mrd__uuid_random(char out[37]);

/* Seeded generator (splitmix64): same seed, same sequence on every machine. */
typedef struct mrd__rng {
    uint64_t state;
} mrd__rng;
static inline uint64_t mrd__rng_next(mrd__rng *rng)
{
    uint64_t z = (rng->state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}
static inline uint64_t mrd__rng_below(mrd__rng *rng, uint64_t bound)
{
    return (uint64_t)(((__uint128_t)mrd__rng_next(rng) * bound) >> 64);
}
static inline double mrd__rng_unit(mrd__rng *rng) /* [0, 1) */
{
    return (double)(mrd__rng_next(rng) >> 11) * 0x1p-53;
}

/* Hash of the linker's build id: another one for another program. 0 where it was linked without.
 * Any thread. */
uint64_t mrd__build_hash(void);

/* Memory of this process, bytes: resident now and its high-water mark (VmRSS, VmHWM). */
void mrd__process_memory(uint64_t *resident, uint64_t *peak);

#endif
