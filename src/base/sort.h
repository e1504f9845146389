/* Stable radix sort of (key, index) pairs, and of numbers by it. */
#ifndef MRD_BASE_SORT_H
#define MRD_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

typedef struct mrd__sort_key {
    uint64_t key;
    uint32_t index;
} mrd__sort_key;

/* An int64 as a key of the same order. */
static inline uint64_t mrd__sort_signed(int64_t value)
{
    return (uint64_t)value ^ 0x8000000000000000ull;
}

/* Sort keys[0, count) by key, equal ones in the order they stand in. other is room for as many.
 * Returns keys or other: where the result lies. Digits that all keys share cost nothing. */
mrd__sort_key *mrd__radix_sort(mrd__sort_key *keys, mrd__sort_key *other, size_t count);

/* Ascending; no NaN among them. Takes twice as much memory again while it runs. Any thread. */
void mrd__sort_doubles(double *values, size_t count);

#endif
