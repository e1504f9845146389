/* A radix sort by bytes, least first. The bits of a double compare like an unsigned number when the
 * sign bit is turned of positive ones and all bits of negative ones. A byte that all have in common
 * costs a look at one counter: measured values share most of theirs. */
#include "session/sort.h"

#include "base/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    DIGITS = 8,
    VALUES = 256,
    FEW = 256, /* below, the counters cost more than comparing */
};

static int by_value(const void *a, const void *b)
{
    double x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

typedef struct counters {
    size_t of[DIGITS][VALUES];
} counters;

#define SIGN ((uint64_t)1 << 63)

static uint64_t key_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (bits & SIGN) != 0 ? ~bits : bits | SIGN;
}

static double value_of(uint64_t key)
{
    uint64_t bits = (key & SIGN) != 0 ? key & ~SIGN : ~key;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* By one byte of the keys, from `from` to `to`, stable. */
static void pass(const uint64_t *from, uint64_t *to, size_t count, size_t *starts, unsigned shift)
{
    size_t at = 0;
    for (size_t i = 0; i < VALUES; i++) {
        size_t many = starts[i];
        starts[i] = at;
        at += many;
    }
    for (size_t i = 0; i < count; i++)
        to[starts[from[i] >> shift & (VALUES - 1)]++] = from[i];
}

void mrd__sort_doubles(double *values, size_t count)
{
    if (count < FEW) {
        if (count > 1) qsort(values, count, sizeof *values, by_value);
        return;
    }
    counters *counts = mrd__new(counters);
    uint64_t *keys = mrd__new_array(uint64_t, count), *other = mrd__new_array(uint64_t, count);
    for (size_t i = 0; i < count; i++) {
        keys[i] = key_of(values[i]);
        for (unsigned d = 0; d < DIGITS; d++)
            counts->of[d][keys[i] >> 8 * d & (VALUES - 1)]++;
    }
    for (unsigned d = 0; d < DIGITS; d++) {
        if (counts->of[d][keys[0] >> 8 * d & (VALUES - 1)] == count) continue;
        pass(keys, other, count, counts->of[d], 8 * d);
        uint64_t *done = other;
        other = keys;
        keys = done;
    }
    for (size_t i = 0; i < count; i++)
        values[i] = value_of(keys[i]);
    mrd__free(keys);
    mrd__free(other);
    mrd__free(counts);
}
