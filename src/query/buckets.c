#include "query/buckets.h"

#include "base/alloc.h"

#include <math.h>
#include <string.h>

/* floor((t - start) / width), not clamped. */
static double bucket_of(const mrd__buckets *buckets, double t)
{
    return floor((t - buckets->start) / buckets->width);
}

/* Doubles as integers in the same order, so that a search can halve between any two of them. */
static int64_t rank_of(double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits < 0 ? INT64_MIN - bits : bits;
}

static double value_of(int64_t rank)
{
    int64_t bits = rank < 0 ? INT64_MIN - rank : rank;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The least double in (start, end] that the formula puts into bucket b or later. The formula never
 * falls as t grows; near the edge it is right at once or one step away, unless start is so much
 * larger than t that many t give the same difference: then halving finds it. */
static double find_split(const mrd__buckets *buckets, uint32_t b, double edge)
{
    double below = nextafter(edge, -INFINITY);
    if (bucket_of(buckets, edge) >= b) {
        if (bucket_of(buckets, below) < b) return edge;
    } else {
        double above = nextafter(edge, INFINITY);
        if (bucket_of(buckets, above) >= b) return above;
    }
    int64_t low = rank_of(buckets->start);       /* bucket 0, below b */
    int64_t high = rank_of(buckets->end);        /* bucket count or, by rounding, count - 1 >= b */
    while ((uint64_t)high - (uint64_t)low > 1) { /* unsigned: the distance may pass 2^63 */
        int64_t middle = (int64_t)((uint64_t)low + ((uint64_t)high - (uint64_t)low) / 2);
        if (bucket_of(buckets, value_of(middle)) >= b)
            high = middle;
        else
            low = middle;
    }
    return value_of(high);
}

mrd_status mrd__buckets_init(mrd__buckets *buckets, double start, double end, bool end_inside,
                             uint32_t count, mrd_error *error)
{
    *buckets = (mrd__buckets){.start = start, .end = end, .end_inside = end_inside, .count = count};
    buckets->width = (end - start) / count;
    if (!(buckets->width > 0 && buckets->width <= 0x1p1000))
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_window",
                         "start_ns %.17g, end_ns %.17g: the width of a bucket is no double; a "
                         "narrower window or fewer buckets are allowed",
                         start, end);
    buckets->edge = mrd__alloc((count + 1) * sizeof(double));
    buckets->split = mrd__alloc((count + 1) * sizeof(double));
    buckets->edge[0] = buckets->split[0] = start;
    for (uint32_t b = 1; b < count; b++) {
        double edge = start + b * buckets->width;
        if (edge > end) edge = end;
        buckets->edge[b] = edge;
        buckets->split[b] = find_split(buckets, b, edge);
    }
    buckets->edge[count] = end;
    buckets->split[count] = end_inside ? nextafter(end, INFINITY) : end;
    return MRD_OK;
}

void mrd__buckets_reset(mrd__buckets *buckets)
{
    mrd__free(buckets->edge);
    mrd__free(buckets->split);
    *buckets = (mrd__buckets){0};
}
