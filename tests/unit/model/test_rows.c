/* Rows against a scan in long double: seeded random rows, every search and every sum. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/os.h"
#include "model/rows.h"

typedef enum shape {
    SHAPE_MIXED,     /* integers, touching and zero-length intervals, small gaps */
    SHAPE_HUGE,      /* the same from 2^52 on */
    SHAPE_FRACTIONS, /* any doubles */
    SHAPE_SPARSE,    /* short intervals, gaps up to 10^12 times longer */
    SHAPE_GIANTS,    /* lengths over 15 orders of magnitude beside each other */
    SHAPE_FULL,      /* touching, no gap at all */
    SHAPE_COUNT
} shape;

static double random_length(mrd__rng *rng, shape s)
{
    switch (s) {
    case SHAPE_FRACTIONS:
        return mrd__rng_unit(rng) * 100;
    case SHAPE_SPARSE:
        return 1 + (double)mrd__rng_below(rng, 3);
    case SHAPE_GIANTS:
        return floor(exp2(mrd__rng_unit(rng) * 40)) * (mrd__rng_below(rng, 4) != 0);
    case SHAPE_FULL:
        return (double)mrd__rng_below(rng, 50) + mrd__rng_unit(rng);
    default:
        return mrd__rng_below(rng, 4) == 0 ? 0 : (double)mrd__rng_below(rng, 100);
    }
}

static double random_gap(mrd__rng *rng, shape s)
{
    if (s == SHAPE_FULL) return 0;
    if (s == SHAPE_SPARSE) return (double)mrd__rng_below(rng, 1000000000000);
    if (mrd__rng_below(rng, 2) == 0) return 0;
    return s == SHAPE_FRACTIONS ? mrd__rng_unit(rng) * 10 : (double)mrd__rng_below(rng, 60);
}

static void make_rows(mrd__rows *rows, mrd__rng *rng, shape s, const uint64_t *sizes, uint32_t n,
                      uint32_t workers)
{
    *rows = (mrd__rows){.row_count = n};
    rows->first = mrd__new_array(uint64_t, n + 1);
    for (uint32_t r = 0; r < n; r++)
        rows->first[r + 1] = rows->first[r] + sizes[r];
    rows->count = rows->first[n];
    rows->start = mrd__new_array(double, rows->count + 1);
    rows->end = mrd__new_array(double, rows->count + 1);
    for (uint32_t r = 0; r < n; r++) {
        double at = s == SHAPE_HUGE ? 0x1p52 : 0;
        for (uint64_t i = rows->first[r]; i < rows->first[r + 1]; i++) {
            rows->start[i] = at + random_gap(rng, s);
            rows->end[i] = rows->start[i] + random_length(rng, s);
            at = rows->end[i];
        }
    }
    mrd__rows_build(rows, workers);
}

static void free_rows(mrd__rows *rows)
{
    mrd__rows_reset(rows);
    mrd__free(rows->start);
    mrd__free(rows->end);
}

static uint64_t scan_lower(const mrd__rows *rows, uint32_t row, double time)
{
    uint64_t i = rows->first[row];
    while (i < rows->first[row + 1] && rows->start[i] < time)
        i++;
    return i;
}

static uint64_t scan_touching(const mrd__rows *rows, uint32_t row, double time)
{
    uint64_t i = rows->first[row];
    while (i < rows->first[row + 1] &&
           !(rows->end[i] > time || (rows->start[i] == time && rows->end[i] == time)))
        i++;
    return i;
}

/* Covered time of the window; *full when no point of it is free, *none when all are. */
static long double scan_cover(const mrd__rows *rows, uint32_t row, double from, double to,
                              bool *full, bool *none)
{
    long double sum = 0;
    double reached = from;
    *full = true;
    *none = true;
    for (uint64_t i = rows->first[row]; i < rows->first[row + 1]; i++) {
        double start = rows->start[i] > from ? rows->start[i] : from;
        double end = rows->end[i] < to ? rows->end[i] : to;
        if (end <= start) continue;
        if (start > reached) *full = false;
        reached = end;
        *none = false;
        sum += (long double)end - start;
    }
    if (reached < to) *full = false;
    return sum;
}

static uint64_t scan_longest(const mrd__rows *rows, uint64_t begin, uint64_t end)
{
    uint64_t best = begin;
    for (uint64_t i = begin; i < end; i++)
        if (rows->end[i] - rows->start[i] > rows->end[best] - rows->start[best]) best = i;
    return best;
}

/* A time of interest: an edge of an interval, a point inside, just beside, or far outside. */
static double random_time(const mrd__rows *rows, uint32_t row, mrd__rng *rng)
{
    uint64_t n = rows->first[row + 1] - rows->first[row];
    if (n == 0) return (double)mrd__rng_below(rng, 100);
    uint64_t i = rows->first[row] + mrd__rng_below(rng, n);
    double start = rows->start[i];
    double end = rows->end[i];
    switch (mrd__rng_below(rng, 7)) {
    case 0:
        return start;
    case 1:
        return end;
    case 2:
        return start + (end - start) * mrd__rng_unit(rng);
    case 3:
        return nextafter(start, -INFINITY);
    case 4:
        return nextafter(end, INFINITY);
    case 5:
        return end + (double)mrd__rng_below(rng, 1000);
    default:
        return mrd__rng_below(rng, 2) == 0 ? -1e6 : rows->end[rows->first[row + 1] - 1] + 1e6;
    }
}

static void check_cover(const mrd__rows *rows, uint32_t row, double from, double to)
{
    bool full = false;
    bool none = false;
    long double want = scan_cover(rows, row, from, to, &full, &none);
    double got = mrd__rows_cover(rows, row, from, to, mrd__rows_lower(rows, row, from),
                                 mrd__rows_lower(rows, row, to));
    if (none || !(to > from)) assert_true(got == 0);
    if (full && to > from) assert_true(got == to - from);
    assert_true(got >= 0 && got <= to - from);
    assert_true(fabsl(got - want) <= 1e-12L * want);
}

static void check_row(const mrd__rows *rows, uint32_t row, mrd__rng *rng, uint32_t questions)
{
    for (uint32_t q = 0; q < questions; q++) {
        double a = random_time(rows, row, rng);
        double b = random_time(rows, row, rng);
        if (mrd__rng_below(rng, 3) == 0) b = a + (double)mrd__rng_below(rng, 300);
        assert_int_equal(mrd__rows_lower(rows, row, a), scan_lower(rows, row, a));
        uint64_t near = mrd__rows_lower(rows, row, a + (double)mrd__rng_below(rng, 5) - 2);
        assert_int_equal(mrd__rows_lower_near(rows, row, a, near), scan_lower(rows, row, a));
        near = rows->first[row] + mrd__rng_below(rng, rows->first[row + 1] - rows->first[row] + 1);
        assert_int_equal(mrd__rows_lower_near(rows, row, a, near), scan_lower(rows, row, a));
        assert_int_equal(mrd__rows_first_touching(rows, row, a), scan_touching(rows, row, a));
        check_cover(rows, row, a < b ? a : b, a < b ? b : a);
        uint64_t n = rows->first[row + 1] - rows->first[row];
        if (n == 0) continue;
        uint64_t begin = rows->first[row] + mrd__rng_below(rng, n);
        uint64_t end = begin + 1 + mrd__rng_below(rng, rows->first[row + 1] - begin);
        assert_int_equal(mrd__rows_longest(rows, row, begin, end), scan_longest(rows, begin, end));
    }
}

static void check_many(const mrd__rows *rows, uint32_t row, mrd__rng *rng)
{
    enum {
        EDGES = 150
    };
    double edges[EDGES] = {0};
    uint64_t lower[EDGES];
    double cover[EDGES];
    size_t count = mrd__rng_below(rng, EDGES + 1);
    double from = random_time(rows, row, rng);
    double step = fabs(random_time(rows, row, rng) - from) / EDGES;
    for (size_t i = 0; i < count; i++)
        edges[i] = from + step * (double)i;
    mrd__rows_lower_many(rows, row, edges, count, lower);
    mrd__rows_cover_many(rows, row, edges, lower, count, cover);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(lower[i], mrd__rows_lower(rows, row, edges[i]));
    for (size_t i = 0; i + 1 < count; i++)
        assert_true(cover[i] ==
                    mrd__rows_cover(rows, row, edges[i], edges[i + 1], lower[i], lower[i + 1]));
}

static void test_random_rows(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {0, 1, 0, 31, 32, 33, 64, 1000, 1024, 1025, 2048, 0, 0, 5, 0};
    enum {
        ROWS = sizeof sizes / sizeof sizes[0]
    };
    mrd__rng rng = {1};
    for (shape s = 0; s < SHAPE_COUNT; s++) {
        mrd__rows rows;
        make_rows(&rows, &rng, s, sizes, ROWS, s % 3 + 1);
        for (uint32_t row = 0; row < ROWS; row++) {
            check_row(&rows, row, &rng, 300);
            for (int i = 0; i < 20; i++)
                check_many(&rows, row, &rng);
        }
        free_rows(&rows);
    }
}

/* Three levels of longest, many building tasks, and sums far from the row's beginning. */
static void test_long_rows(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {40, 140000, 33000};
    mrd__rng rng = {2};
    for (shape s = 0; s < SHAPE_COUNT; s++) {
        mrd__rows rows;
        make_rows(&rows, &rng, s, sizes, 3, 2);
        assert_non_null(rows.longest[2]);
        for (uint32_t row = 0; row < 3; row++) {
            check_row(&rows, row, &rng, 60);
            check_many(&rows, row, &rng);
        }
        free_rows(&rows);
    }
}

static void test_same_with_any_workers(void **state)
{
    (void)state;
    uint64_t sizes[600];
    mrd__rng rng = {3};
    for (uint32_t i = 0; i < 600; i++)
        sizes[i] = i == 300 ? 200000 : mrd__rng_below(&rng, 40);
    mrd__rng one = {4};
    mrd__rng many = {4};
    mrd__rows a;
    mrd__rows b;
    make_rows(&a, &one, SHAPE_FRACTIONS, sizes, 600, 1);
    make_rows(&b, &many, SHAPE_FRACTIONS, sizes, 600, 4);
    uint64_t blocks = a.block_first[600];
    assert_int_equal(blocks, b.block_first[600]);
    assert_memory_equal(a.block_start, b.block_start, blocks * sizeof(double));
    assert_memory_equal(a.cover_hi, b.cover_hi, blocks * sizeof(double));
    assert_memory_equal(a.cover_lo, b.cover_lo, blocks * sizeof(double));
    assert_memory_equal(a.longest[0], b.longest[0], blocks * sizeof(uint32_t));
    assert_memory_equal(a.longest[1], b.longest[1], a.longest_first[1][600] * sizeof(uint32_t));
    assert_int_equal(mrd__rows_memory(&a), mrd__rows_memory(&b));
    free_rows(&a);
    free_rows(&b);
}

static void test_ties_take_the_first(void **state)
{
    (void)state;
    enum {
        N = 5000
    };
    mrd__rows rows = {.row_count = 1, .count = N};
    rows.first = mrd__new_array(uint64_t, 2);
    rows.first[1] = N;
    rows.start = mrd__new_array(double, N);
    rows.end = mrd__new_array(double, N);
    for (uint32_t i = 0; i < N; i++) {
        rows.start[i] = 10.0 * i;
        rows.end[i] = 10.0 * i + 4;
    }
    mrd__rows_build(&rows, 1);
    for (uint64_t begin = 0; begin < N; begin += 97)
        for (uint64_t end = begin + 1; end <= N; end += 211)
            assert_int_equal(mrd__rows_longest(&rows, 0, begin, end), begin);
    free_rows(&rows);
}

static void test_no_rows(void **state)
{
    (void)state;
    mrd__rows rows = {0};
    mrd__rows_build(&rows, 1);
    assert_int_equal(mrd__rows_memory(&rows), 0);
    mrd__rows_reset(&rows);
    static const uint64_t sizes[] = {0, 0};
    mrd__rng rng = {5};
    make_rows(&rows, &rng, SHAPE_MIXED, sizes, 2, 2);
    check_row(&rows, 1, &rng, 10);
    free_rows(&rows);
}

/* A nanosecond at the end of 10^8 ns-sized intervals' worth of sums: one interval of a year first.
 */
static void test_nanosecond_after_a_year(void **state)
{
    (void)state;
    enum {
        N = 4096
    };
    mrd__rows rows = {.row_count = 1, .count = N};
    rows.first = mrd__new_array(uint64_t, 2);
    rows.first[1] = N;
    rows.start = mrd__new_array(double, N);
    rows.end = mrd__new_array(double, N);
    rows.end[0] = 3.0e15;
    for (uint32_t i = 1; i < N; i++) {
        rows.start[i] = 3.0e15 + 4.0 * i;
        rows.end[i] = rows.start[i] + 0.5;
    }
    mrd__rows_build(&rows, 1);
    for (uint32_t i = 1; i + 130 < N; i++) {
        double from = rows.start[i] + 0.5;
        double to = rows.start[i + 130] + 0.5;
        double got = mrd__rows_cover(&rows, 0, from, to, mrd__rows_lower(&rows, 0, from),
                                     mrd__rows_lower(&rows, 0, to));
        assert_true(got == 65.0);
        from = rows.start[i] - 1;
        got = mrd__rows_cover(&rows, 0, from, from + 1.25, mrd__rows_lower(&rows, 0, from),
                              mrd__rows_lower(&rows, 0, from + 1.25));
        assert_true(got == 0.5 || got == 0.0 + (from + 1.25 - rows.start[i]));
    }
    free_rows(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_rows),
        cmocka_unit_test(test_long_rows),
        cmocka_unit_test(test_same_with_any_workers),
        cmocka_unit_test(test_ties_take_the_first),
        cmocka_unit_test(test_no_rows),
        cmocka_unit_test(test_nanosecond_after_a_year),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
