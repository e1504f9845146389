/* The event queue: a 4-ary heap of 16-byte keys, (time, order of scheduling, what). Equal times
 * come out in the order they were scheduled; events of observation only come out after all others
 * of their time, so they never come between two of the run. */
#ifndef MRD_SIM_QUEUE_H
#define MRD_SIM_QUEUE_H

#include "base/alloc.h"

typedef __uint128_t mrd__sim_key; /* time ps 64 | observing 1, order 31 | type 4, index 28 */

typedef struct mrd__sim_queue {
    mrd__sim_key *heap;
    size_t count, capacity;
    uint32_t order;
} mrd__sim_queue;

#define MRD__SIM_INDEX_BITS 28
#define MRD__SIM_OBSERVING 0x80000000u

static inline uint64_t mrd__sim_key_time(mrd__sim_key key)
{
    return (uint64_t)(key >> 64);
}
static inline uint32_t mrd__sim_key_type(mrd__sim_key key)
{
    return (uint32_t)key >> MRD__SIM_INDEX_BITS;
}
static inline uint32_t mrd__sim_key_index(mrd__sim_key key)
{
    return (uint32_t)key & ((1u << MRD__SIM_INDEX_BITS) - 1);
}

/* Number all pending events anew when 2^31 have been scheduled; keeps their order. */
void mrd__sim_queue_renumber(mrd__sim_queue *queue);
void mrd__sim_queue_reset(mrd__sim_queue *queue);

static inline void mrd__sim_queue_push(mrd__sim_queue *queue, uint64_t time, uint32_t observing,
                                       uint32_t type, uint32_t index)
{
    if (queue->order == MRD__SIM_OBSERVING - 1) mrd__sim_queue_renumber(queue);
    if (queue->count == queue->capacity)
        queue->heap =
            mrd__vec_grow(queue->heap, &queue->capacity, queue->count + 1, sizeof *queue->heap);
    uint64_t low =
        (uint64_t)(queue->order++ | observing) << 32 | type << MRD__SIM_INDEX_BITS | index;
    mrd__sim_key key = (mrd__sim_key)time << 64 | low;
    size_t at = queue->count++;
    while (at > 0) {
        size_t up = (at - 1) / 4;
        if (queue->heap[up] <= key) break;
        queue->heap[at] = queue->heap[up];
        at = up;
    }
    queue->heap[at] = key;
}

/* count > 0. */
static inline mrd__sim_key mrd__sim_queue_pop(mrd__sim_queue *queue)
{
    mrd__sim_key *heap = queue->heap, top = heap[0], key = heap[--queue->count];
    size_t count = queue->count, at = 0;
    for (;;) {
        size_t child = at * 4 + 1, end = child + 4 < count ? child + 4 : count;
        if (child >= count) break;
        size_t least = child;
        for (size_t i = child + 1; i < end; i++)
            if (heap[i] < heap[least]) least = i;
        if (key <= heap[least]) break;
        heap[at] = heap[least];
        at = least;
    }
    heap[at] = key;
    return top;
}

#endif
