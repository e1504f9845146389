#include "base/sort.h"

#include "base/alloc.h"

#include <stdbool.h>
#include <string.h>

#define DIGIT_BITS 11
#define SMALL 64 /* where counting 2,048 digits costs more than moving */
#define MOVES 4  /* a key that insertion may cost: nearly sorted keys need no passes */
#define DIGITS (1u << DIGIT_BITS)

/* From how many there are of each digit to where its first goes. */
static void make_starts(size_t counts[DIGITS])
{
    size_t sum = 0;
    for (uint32_t d = 0; d < DIGITS; d++) {
        size_t own = counts[d];
        counts[d] = sum;
        sum += own;
    }
}

static void radix_pass(const mrd__sort_key *from, mrd__sort_key *to, size_t count, uint32_t shift)
{
    size_t start[DIGITS] = {0};
    for (size_t i = 0; i < count; i++)
        start[from[i].key >> shift & (DIGITS - 1)]++;
    make_starts(start);
    for (size_t i = 0; i < count; i++)
        to[start[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
}

/* Stable; false when it takes more moves than the budget: the keys are in some order then, equal
 * ones still as they stood. */
static bool insertion_sort(mrd__sort_key *keys, size_t count, size_t budget)
{
    for (size_t i = 1; i < count; i++) {
        if (keys[i].key >= keys[i - 1].key) continue;
        mrd__sort_key own = keys[i];
        size_t at = i;
        for (; at > 0 && keys[at - 1].key > own.key; at--)
            keys[at] = keys[at - 1];
        keys[at] = own;
        if (i - at > budget) return false;
        budget -= i - at;
    }
    return true;
}

mrd__sort_key *mrd__radix_sort(mrd__sort_key *keys, mrd__sort_key *other, size_t count)
{
    if (insertion_sort(keys, count, count <= SMALL ? SMALL * SMALL : count * MOVES)) return keys;
    uint64_t all = keys[0].key;
    uint64_t any = keys[0].key;
    for (size_t i = 1; i < count; i++) {
        all &= keys[i].key;
        any |= keys[i].key;
    }
    uint64_t differ = all ^ any;
    for (uint32_t shift = 0; shift < 64; shift += DIGIT_BITS) {
        if ((differ >> shift & (DIGITS - 1)) == 0) continue;
        radix_pass(keys, other, count, shift);
        mrd__sort_key *swap = keys;
        keys = other;
        other = swap;
    }
    return keys;
}

#define SIGN 0x8000000000000000ull

/* The bits of a double compare like an unsigned number when the sign bit of positive ones and all
 * bits of negative ones are turned. Measured values share most digits, which cost nothing. */
static void number_pass(const uint64_t *from, uint64_t *to, size_t count, uint32_t shift)
{
    size_t start[DIGITS] = {0};
    for (size_t i = 0; i < count; i++)
        start[from[i] >> shift & (DIGITS - 1)]++;
    make_starts(start);
    for (size_t i = 0; i < count; i++)
        to[start[from[i] >> shift & (DIGITS - 1)]++] = from[i];
}

static void sort_few(uint64_t *keys, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        uint64_t own = keys[i];
        size_t at = i;
        for (; at > 0 && keys[at - 1] > own; at--)
            keys[at] = keys[at - 1];
        keys[at] = own;
    }
}

/* Returns keys or other, as mrd__radix_sort; differ: the bits that not all keys share. */
static uint64_t *sort_numbers(uint64_t *keys, uint64_t *other, size_t count, uint64_t differ)
{
    if (count <= SMALL) {
        sort_few(keys, count);
        return keys;
    }
    for (uint32_t shift = 0; shift < 64; shift += DIGIT_BITS) {
        if ((differ >> shift & (DIGITS - 1)) == 0) continue;
        number_pass(keys, other, count, shift);
        uint64_t *swap = keys;
        keys = other;
        other = swap;
    }
    return keys;
}

/* Numbers of equal bits are alike: no index keeps their order. */
void mrd__sort_doubles(double *values, size_t count)
{
    if (count < 2) return;
    uint64_t *room = mrd__alloc(2 * count * sizeof *room);
    uint64_t all = UINT64_MAX, any = 0;
    bool sorted = true;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        room[i] = (bits & SIGN) != 0 ? ~bits : bits | SIGN;
        all &= room[i];
        any |= room[i];
        sorted = sorted && (i == 0 || room[i - 1] <= room[i]);
    }
    const uint64_t *keys = sorted ? room : sort_numbers(room, room + count, count, all ^ any);
    for (size_t i = 0; i < count && !sorted; i++) {
        uint64_t bits = (keys[i] & SIGN) != 0 ? keys[i] & ~SIGN : ~keys[i];
        memcpy(&values[i], &bits, sizeof bits);
    }
    mrd__free(room);
}
