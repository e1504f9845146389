#include "model/pyramid.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/os.h"

/* Samples of level 0 that one task reduces: far above the cost of handing a task out. */
#define TASK_PAIRS 4096

typedef struct level_work {
    const double *low, *high; /* what is reduced: the samples (twice), or the level below */
    uint64_t count;
    double *min, *max;
    uint64_t size;
} level_work;

static void reduce_pairs(void *ctx, size_t index, uint32_t worker)
{
    (void)worker;
    level_work *work = ctx;
    uint64_t first = index * TASK_PAIRS;
    uint64_t last = first + TASK_PAIRS < work->size ? first + TASK_PAIRS : work->size;
    for (uint64_t pair = first; pair < last; pair++) {
        uint64_t at = pair * MRD__PYRAMID_BLOCK;
        uint64_t stop = at + MRD__PYRAMID_BLOCK;
        if (stop > work->count) stop = work->count;
        double min = work->low[at];
        double max = work->high[at];
        for (at++; at < stop; at++) {
            min = work->low[at] < min ? work->low[at] : min;
            max = work->high[at] > max ? work->high[at] : max;
        }
        work->min[pair] = min;
        work->max[pair] = max;
    }
}

void mrd__pyramid_build(mrd__pyramid *pyramid, const double *value, uint64_t count,
                        uint32_t workers)
{
    *pyramid = (mrd__pyramid){0};
    level_work work = {.low = value, .high = value, .count = count};
    for (uint32_t level = 0; work.count >= MRD__PYRAMID_BLOCK; level++) {
        mrd__assert(level < MRD__PYRAMID_LEVELS);
        work.size = (work.count + MRD__PYRAMID_BLOCK - 1) / MRD__PYRAMID_BLOCK;
        work.min = mrd__alloc(work.size * sizeof *work.min);
        work.max = mrd__alloc(work.size * sizeof *work.max);
        mrd__parallel_for(workers, (work.size + TASK_PAIRS - 1) / TASK_PAIRS, reduce_pairs, &work);
        pyramid->min[level] = work.min;
        pyramid->max[level] = work.max;
        pyramid->size[level] = work.size;
        work = (level_work){.low = work.min, .high = work.max, .count = work.size};
    }
}

void mrd__pyramid_reset(mrd__pyramid *pyramid)
{
    for (uint32_t level = 0; level < MRD__PYRAMID_LEVELS; level++) {
        mrd__free(pyramid->min[level]);
        mrd__free(pyramid->max[level]);
    }
    *pyramid = (mrd__pyramid){0};
}

uint64_t mrd__pyramid_memory(const mrd__pyramid *pyramid)
{
    uint64_t pairs = 0;
    for (uint32_t level = 0; level < MRD__PYRAMID_LEVELS; level++)
        pairs += pyramid->size[level];
    return pairs * 2 * sizeof(double);
}

static void widen(const double *low, const double *high, uint64_t begin, uint64_t end, double *min,
                  double *max)
{
    for (uint64_t i = begin; i < end; i++) {
        *min = low[i] < *min ? low[i] : *min;
        *max = high[i] > *max ? high[i] : *max;
    }
}

void mrd__pyramid_range(const mrd__pyramid *pyramid, const double *value, uint64_t begin,
                        uint64_t end, double *min, double *max)
{
    const double *low = value;
    const double *high = value;
    for (uint32_t level = 0;; level++) {
        uint64_t inner = (begin + MRD__PYRAMID_BLOCK - 1) / MRD__PYRAMID_BLOCK;
        uint64_t outer = end / MRD__PYRAMID_BLOCK;
        bool top = level == MRD__PYRAMID_LEVELS || pyramid->size[level] == 0;
        if (top || inner >= outer) {
            widen(low, high, begin, end, min, max);
            return;
        }
        widen(low, high, begin, inner * MRD__PYRAMID_BLOCK, min, max);
        widen(low, high, outer * MRD__PYRAMID_BLOCK, end, min, max);
        low = pyramid->min[level];
        high = pyramid->max[level];
        begin = inner;
        end = outer;
    }
}
