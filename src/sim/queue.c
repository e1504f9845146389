#include "sim/queue.h"

#include <stdlib.h>

static int by_key(const void *a, const void *b)
{
    mrd__sim_key x = *(const mrd__sim_key *)a, y = *(const mrd__sim_key *)b;
    return (x > y) - (x < y);
}

void mrd__sim_queue_renumber(mrd__sim_queue *queue)
{
    qsort(queue->heap, queue->count, sizeof *queue->heap, by_key); /* sorted is a heap */
    for (size_t i = 0; i < queue->count; i++) {
        mrd__sim_key key = queue->heap[i];
        uint64_t low = (uint64_t)key;
        uint64_t observing = low & (uint64_t)MRD__SIM_OBSERVING << 32;
        low = observing | (uint64_t)i << 32 | (uint32_t)low;
        queue->heap[i] = (key >> 64) << 64 | low;
    }
    queue->order = (uint32_t)queue->count;
}

void mrd__sim_queue_reset(mrd__sim_queue *queue)
{
    mrd__free(queue->heap);
    *queue = (mrd__sim_queue){0};
}
