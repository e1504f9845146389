#include "ingest/event_parquet/order.h"

#include "base/alloc.h"
#include "base/os.h"

#include <stdatomic.h>
#include <string.h>

#define SLICE ((size_t)1 << 18) /* rows that one task looks at */
#define RADIX_BITS 11
#define RADIX (1u << RADIX_BITS)

typedef struct check {
    const double *time;
    size_t rows;
    _Atomic bool unsorted;
} check;

static void check_slice(void *ctx, size_t index, uint32_t worker)
{
    (void)worker;
    check *c = ctx;
    size_t first = index * SLICE;
    size_t end = first + SLICE < c->rows ? first + SLICE : c->rows;
    bool unsorted = false;
    for (size_t i = first ? first : 1; i < end; i++)
        unsorted |= c->time[i] < c->time[i - 1];
    if (unsorted) c->unsorted = true;
}

/* A double as an integer that sorts the same; -0 and 0 are equal. */
static uint64_t sort_key(double time)
{
    time += 0.0;
    uint64_t bits;
    memcpy(&bits, &time, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

/* One stable pass over the digit at shift; false when all rows have the same one. */
static bool radix_pass(const double *time, const uint32_t *from, uint32_t *to, size_t count,
                       unsigned shift)
{
    size_t *starts = mrd__new_array(size_t, RADIX);
    for (size_t i = 0; i < count; i++)
        starts[sort_key(time[i]) >> shift & (RADIX - 1)]++;
    bool moves = starts[sort_key(time[0]) >> shift & (RADIX - 1)] != count;
    size_t at = 0;
    for (size_t digit = 0; digit < RADIX; digit++) {
        size_t rows = starts[digit];
        starts[digit] = at;
        at += rows;
    }
    for (size_t i = 0; moves && i < count; i++)
        to[starts[sort_key(time[from[i]]) >> shift & (RADIX - 1)]++] = from[i];
    mrd__free(starts);
    return moves;
}

uint32_t *mrd__order_by_time(const double *time, size_t count, uint32_t workers)
{
    check c = {.time = time, .rows = count};
    mrd__parallel_for(workers, (count + SLICE - 1) / SLICE, check_slice, &c);
    if (!c.unsorted) return NULL;
    uint32_t *rows = mrd__alloc(count * sizeof *rows), *other = mrd__alloc(count * sizeof *other);
    for (size_t i = 0; i < count; i++)
        rows[i] = (uint32_t)i;
    for (unsigned shift = 0; shift < 64; shift += RADIX_BITS) {
        if (!radix_pass(time, rows, other, count, shift)) continue;
        uint32_t *swap = rows;
        rows = other;
        other = swap;
    }
    mrd__free(other);
    return rows;
}
