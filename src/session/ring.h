/* The bounded memory between readers and the writer: records lie in it in the order of their
 * reservation, each in one piece (the memory is mapped twice, one behind the other, so that the end
 * runs on into the beginning). Not locked: the owner's mutex guards head, tail and credit; a slot's
 * state is atomic, so that a commit takes no lock. */
#ifndef MRD_SESSION_RING_H
#define MRD_SESSION_RING_H

#include "meridian.h"

#include <stdatomic.h>

typedef enum mrd__ring_state {
    MRD__RING_RESERVED = 1,
    MRD__RING_READY,
    MRD__RING_CANCELLED,
} mrd__ring_state;

/* In front of a payload, as large as a record's header. */
typedef struct mrd__ring_slot {
    _Atomic uint32_t state;
    uint32_t size; /* of the payload */
    uint64_t sequence;
    uint32_t type;
    uint32_t reserved[3];
} mrd__ring_slot;
_Static_assert(sizeof(mrd__ring_slot) == 32, "a slot takes what its record takes");

typedef struct mrd__ring {
    uint8_t *base;
    size_t size;         /* a multiple of the page size */
    uint64_t head, tail; /* bytes ever taken out and put in */
    size_t credit;       /* promised and not yet put in */
    size_t peak;         /* most bytes in use or promised so far */
    size_t paged;        /* bytes from base on whose pages are there */
} mrd__ring;

MRD_MUST_CHECK mrd_status mrd__ring_init(mrd__ring *ring, size_t size, mrd_error *error);
void mrd__ring_reset(mrd__ring *ring); /* accepts zeroed */
/* Promise so many bytes; false when there is no room. */
bool mrd__ring_promise(mrd__ring *ring, size_t bytes);
/* Turn a promise of `promised` bytes into a slot of `bytes` (at most as many). */
mrd__ring_slot *mrd__ring_put(mrd__ring *ring, size_t promised, size_t bytes);
/* A hint that `bytes` from byte `at` ever put in on are soon filled. */
void mrd__ring_expect(const mrd__ring *ring, uint64_t at, size_t bytes);
static inline size_t mrd__ring_used(const mrd__ring *ring)
{
    return (size_t)(ring->tail - ring->head);
}
/* The slot that begins at byte `at` ever put in. */
static inline mrd__ring_slot *mrd__ring_at(const mrd__ring *ring, uint64_t at)
{
    return (mrd__ring_slot *)(void *)(ring->base + at % ring->size);
}

#endif
