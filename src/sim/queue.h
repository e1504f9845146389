/* The event queue: a 4-ary heap of times, each with its events in the order they were scheduled.
 *
 *   heap of (time, order of making) -> list of events, first in first out
 *        ^ a small table finds the newest list of a time
 *
 * Collectives are synchronous: dozens of events share a time, and all but the first of them cost a
 * look into the table. Where the table has forgotten a time (two times in one slot) a second list
 * of it is made, behind the first: lists of one time are emptied in the order they were made, and
 * only the newest still grows, so that order is kept whatever the table holds.
 *
 * Events of observation have lists of their own, behind all others of their time: they never come
 * between two of the run. bench/bench_queue.c measures this against a plain heap and a calendar. */
#ifndef MRD_SIM_QUEUE_H
#define MRD_SIM_QUEUE_H

#include <stdbool.h>

#include "base/alloc.h"

typedef struct mrd__sim_key {
    uint64_t time;
    uint32_t what; /* type 4 | index 28 */
} mrd__sim_key;

typedef __uint128_t mrd__sim_node_key; /* time 61 | observing 1 | order 40 | list 26 */

typedef struct mrd__sim_cell {
    uint32_t what, next; /* next: of its list, or of the free ones */
} mrd__sim_cell;

typedef struct mrd__sim_list {
    uint64_t when; /* time * 2 + observing; UINT64_MAX: free */
    uint32_t head, tail;
} mrd__sim_list;

#define MRD__SIM_INDEX_BITS 28
#define MRD__SIM_OBSERVING 1u
#define MRD__SIM_LIST_BITS 26 /* as many times as packets may be under way */
#define MRD__SIM_TABLE_BITS 10
#define MRD__SIM_NO_CELL UINT32_MAX

typedef struct mrd__sim_queue {
    mrd__sim_node_key *heap;
    mrd__sim_list *lists; /* [0] is nobody's */
    mrd__sim_cell *cells;
    size_t heap_count, heap_capacity, list_count, list_capacity, cell_count, cell_capacity;
    size_t count;                  /* events */
    uint64_t order;                /* lists made */
    uint32_t current;              /* the list that is being emptied; not in the heap */
    uint32_t free_list, free_cell; /* by head and by next, + 1 */
    uint32_t table[1u << MRD__SIM_TABLE_BITS];
} mrd__sim_queue;

static inline uint64_t mrd__sim_key_time(mrd__sim_key key)
{
    return key.time;
}
static inline uint32_t mrd__sim_key_type(mrd__sim_key key)
{
    return key.what >> MRD__SIM_INDEX_BITS;
}
static inline uint32_t mrd__sim_key_index(mrd__sim_key key)
{
    return key.what & ((1u << MRD__SIM_INDEX_BITS) - 1);
}

/* A new list of this time, in heap and table. */
uint32_t mrd__sim_queue_list(mrd__sim_queue *queue, uint64_t when, uint32_t *slot);
/* Empty lists go, the next one comes; count > 0. */
void mrd__sim_queue_next_list(mrd__sim_queue *queue);
void mrd__sim_queue_grow(mrd__sim_queue *queue);
void mrd__sim_queue_reset(mrd__sim_queue *queue);

/* time below 2^61, not before the event popped last. */
static inline void mrd__sim_queue_push(mrd__sim_queue *queue, uint64_t time, uint32_t observing,
                                       uint32_t type, uint32_t index)
{
    uint64_t when = time << 1 | observing;
    uint32_t *slot = &queue->table[when * 0x9e3779b97f4a7c15ull >> (64 - MRD__SIM_TABLE_BITS)];
    uint32_t at = *slot, cell;
    if (queue->free_cell) {
        cell = queue->free_cell - 1;
        queue->free_cell = queue->cells[cell].next;
    } else {
        if (queue->cell_count == queue->cell_capacity) mrd__sim_queue_grow(queue);
        cell = (uint32_t)queue->cell_count++;
    }
    if (at == 0 || queue->lists[at].when != when) at = mrd__sim_queue_list(queue, when, slot);
    queue->cells[cell] = (mrd__sim_cell){type << MRD__SIM_INDEX_BITS | index, MRD__SIM_NO_CELL};
    mrd__sim_list *list = &queue->lists[at];
    if (list->head == MRD__SIM_NO_CELL)
        list->head = cell;
    else
        queue->cells[list->tail].next = cell;
    list->tail = cell;
    queue->count++;
}

/* count > 0. */
static inline mrd__sim_key mrd__sim_queue_pop(mrd__sim_queue *queue)
{
    if (queue->current == 0 || queue->lists[queue->current].head == MRD__SIM_NO_CELL)
        mrd__sim_queue_next_list(queue);
    mrd__sim_list *list = &queue->lists[queue->current];
    uint32_t cell = list->head;
    mrd__sim_key key = {list->when >> 1, queue->cells[cell].what};
    list->head = queue->cells[cell].next;
    queue->cells[cell].next = queue->free_cell;
    queue->free_cell = cell + 1;
    queue->count--;
    return key;
}

#endif
