#include "session/ring.h"

#include "base/assert.h"
#include "base/error.h"

#include <sys/mman.h>
#include <unistd.h>

enum {
    LINE = 64,         /* bytes of a cache line */
    AHEAD = 1024,      /* bytes behind a slot that are fetched: some records */
    PAGED = 256 << 10, /* made at once: a page fault each costs more than all of them here */
};

/* Map the file over [base, base + 2 size), twice. */
static bool map_twice(uint8_t *base, size_t size, int fd)
{
    for (int i = 0; i < 2; i++) {
        void *at = mmap(base + (size_t)i * size, size, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_FIXED, fd, 0);
        if (at == MAP_FAILED) return false;
    }
    return true;
}

mrd_status mrd__ring_init(mrd__ring *ring, size_t size, mrd_error *error)
{
    *ring = (mrd__ring){0};
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size = (size + page - 1) / page * page;
    int fd = memfd_create("meridian-ingress", MFD_CLOEXEC);
    if (fd < 0) return mrd__fail_errno(error, NULL, "no memory for the ingress");
    void *base = MAP_FAILED;
    bool mapped = ftruncate(fd, (off_t)size) == 0;
    if (mapped) base = mmap(NULL, 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mapped = mapped && base != MAP_FAILED && map_twice(base, size, fd);
    mrd_status status = mapped ? MRD_OK : mrd__fail_errno(error, NULL, "no memory for the ingress");
    close(fd);
    if (!mapped && base != MAP_FAILED) munmap(base, 2 * size);
    if (mapped) *ring = (mrd__ring){.base = base, .size = size};
    return status;
}

void mrd__ring_reset(mrd__ring *ring)
{
    if (ring->base != NULL) munmap(ring->base, 2 * ring->size);
    *ring = (mrd__ring){0};
}

bool mrd__ring_promise(mrd__ring *ring, size_t bytes)
{
    size_t taken = mrd__ring_used(ring) + ring->credit;
    if (bytes > ring->size - taken) return false;
    ring->credit += bytes;
    if (taken + bytes > ring->peak) ring->peak = taken + bytes;
    return true;
}

/* The writer's core had this memory last, a ring ago: each line takes as long to come as a record
 * to be made, so they are asked for some records before. */
void mrd__ring_expect(const mrd__ring *ring, uint64_t at, size_t bytes)
{
    const uint8_t *from = ring->base + at % ring->size; /* what is past the end is there as well */
    if (bytes > AHEAD) bytes = AHEAD;
    for (size_t i = 0; i < bytes; i += LINE)
        __builtin_prefetch(from + i, 1);
}

/* The pages up to there, a piece at a time: short sessions take few of them. */
static void page_in(mrd__ring *ring, size_t end)
{
    while (ring->paged < end && ring->paged < ring->size) {
        size_t left = ring->size - ring->paged;
        size_t piece = left < PAGED ? left : PAGED;
        /* Where the kernel cannot, they come one by one. */
        (void)madvise(ring->base + ring->paged, piece, MADV_POPULATE_WRITE);
        ring->paged += piece;
    }
}

mrd__ring_slot *mrd__ring_put(mrd__ring *ring, size_t promised, size_t bytes)
{
    mrd__assert(bytes <= promised && promised <= ring->credit);
    ring->credit -= promised;
    mrd__ring_slot *slot = mrd__ring_at(ring, ring->tail);
    if (ring->paged < ring->size) page_in(ring, (size_t)(ring->tail % ring->size) + bytes);
    ring->tail += bytes;
    mrd__ring_expect(ring, ring->tail + AHEAD, bytes);
    return slot;
}
