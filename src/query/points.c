#include "query/points.h"

#define IN_STEP 32 /* edges searched together: about as many misses as a core keeps open */

uint64_t mrd__points_search(const double *time, uint64_t first, uint64_t last, double at,
                            bool after)
{
    while (first < last) {
        uint64_t middle = first + (last - first) / 2;
        if (time[middle] < at || (after && time[middle] == at))
            first = middle + 1;
        else
            last = middle;
    }
    return first;
}

/* All take the same number of halvings of [first, last): no branch depends on what is found. */
static void search_in_step(const double *time, uint64_t first, uint64_t last, const double *edges,
                           size_t count, uint64_t *out)
{
    for (size_t i = 0; i < count; i++)
        out[i] = first;
    uint64_t size = last - first;
    while (size > 0) {
        uint64_t half = size - size / 2; /* what is left after a step: size / 2 */
        for (size_t i = 0; i < count; i++) {
            bool before = out[i] + half <= last && time[out[i] + half - 1] < edges[i];
            out[i] += before ? half : 0;
            __builtin_prefetch(time + out[i] + (size / 2 + 1) / 2);
        }
        size /= 2;
    }
}

void mrd__points_search_many(const double *time, uint64_t first, uint64_t last, const double *edges,
                             size_t count, uint64_t *out)
{
    for (size_t from = 0; from < count; from += IN_STEP) {
        size_t n = count - from < IN_STEP ? count - from : IN_STEP;
        uint64_t high = mrd__points_search(time, first, last, edges[from + n - 1], false);
        search_in_step(time, first, high, edges + from, n, out + from);
        first = high;
    }
}
