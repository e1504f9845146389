#include "sim/queue.h"

#include "base/assert.h"

#define NODE(when, order, list)                                                                    \
    ((mrd__sim_node_key)(when) << 66 | (mrd__sim_node_key)(order) << MRD__SIM_LIST_BITS | (list))

static void heap_push(mrd__sim_queue *queue, mrd__sim_node_key key)
{
    if (queue->heap_count == queue->heap_capacity)
        queue->heap = mrd__vec_grow(queue->heap, &queue->heap_capacity, queue->heap_count + 1,
                                    sizeof *queue->heap);
    size_t at = queue->heap_count++;
    while (at > 0) {
        size_t up = (at - 1) / 4;
        if (queue->heap[up] <= key) break;
        queue->heap[at] = queue->heap[up];
        at = up;
    }
    queue->heap[at] = key;
}

static mrd__sim_node_key heap_pop(mrd__sim_queue *queue)
{
    mrd__sim_node_key *heap = queue->heap, top = heap[0], key = heap[--queue->heap_count];
    size_t count = queue->heap_count, at = 0;
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

uint32_t mrd__sim_queue_list(mrd__sim_queue *queue, uint64_t when, uint32_t *slot)
{
    uint32_t at = queue->free_list;
    if (at) {
        queue->free_list = queue->lists[at].head;
    } else {
        if (queue->list_count == 0) queue->list_count = 1;
        if (queue->list_count >= queue->list_capacity)
            queue->lists = mrd__vec_grow(queue->lists, &queue->list_capacity, queue->list_count + 1,
                                         sizeof *queue->lists);
        at = (uint32_t)queue->list_count++;
        mrd__assert(at < 1u << MRD__SIM_LIST_BITS);
    }
    queue->lists[at] = (mrd__sim_list){when, MRD__SIM_NO_CELL, MRD__SIM_NO_CELL};
    *slot = at;
    heap_push(queue, NODE(when, queue->order++, at));
    return at;
}

void mrd__sim_queue_next_list(mrd__sim_queue *queue)
{
    uint32_t old = queue->current;
    if (old) {
        queue->lists[old] = (mrd__sim_list){UINT64_MAX, queue->free_list, MRD__SIM_NO_CELL};
        queue->free_list = old;
    }
    queue->current = (uint32_t)heap_pop(queue) & ((1u << MRD__SIM_LIST_BITS) - 1);
}

void mrd__sim_queue_grow(mrd__sim_queue *queue)
{
    queue->cells = mrd__vec_grow(queue->cells, &queue->cell_capacity, queue->cell_count + 1,
                                 sizeof *queue->cells);
}

void mrd__sim_queue_reset(mrd__sim_queue *queue)
{
    mrd__free(queue->heap);
    mrd__free(queue->lists);
    mrd__free(queue->cells);
    *queue = (mrd__sim_queue){0};
}
