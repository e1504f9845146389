/* Buckets: the splits follow the written formula for every time, near the edges above all. */
#include "query/store_kit.h"

#include <math.h>
#include <stdlib.h>

#include "query/buckets.h"
#include "query/points.h"

static uint32_t formula(const mrd__buckets *buckets, double t)
{
    double at = floor((t - buckets->start) / ((buckets->end - buckets->start) / buckets->count));
    return at < buckets->count ? (uint32_t)at : buckets->count - 1;
}

static void check_time(const mrd__buckets *buckets, double t)
{
    if (t < buckets->start || t >= buckets->end) return;
    uint64_t after = mrd__points_search(buckets->split, 0, buckets->count + 1, t, true);
    assert_int_equal(after - 1, formula(buckets, t));
}

static void check_buckets(double start, double end, uint32_t count, mrd__rng *rng)
{
    mrd__buckets buckets;
    mrd_error error = {0};
    if (mrd__buckets_init(&buckets, start, end, false, count, &error) != MRD_OK)
        fail_msg("%s", error.message);
    assert_true(buckets.edge[0] == start && buckets.edge[count] == end);
    for (uint32_t b = 0; b <= count; b++) {
        double edge = start + b * ((end - start) / count);
        if (b < count) assert_true(buckets.edge[b] == fmin(edge, end));
        for (int step = -3; step <= 3; step++) {
            double t = edge;
            for (int i = 0; i < abs(step); i++)
                t = nextafter(t, step < 0 ? -INFINITY : INFINITY);
            check_time(&buckets, t);
        }
        check_time(&buckets, nextafter(buckets.split[b], -INFINITY));
        check_time(&buckets, buckets.split[b]);
        if (b > 0) assert_true(buckets.split[b] >= buckets.split[b - 1]);
    }
    for (int i = 0; i < 200; i++)
        check_time(&buckets, start + (end - start) * mrd__rng_unit(rng));
    check_time(&buckets, nextafter(end, -INFINITY));
    mrd__buckets_reset(&buckets);
}

static void test_splits_follow_the_formula(void **state)
{
    (void)state;
    static const uint32_t counts[] = {1, 2, 3, 7, 10, 100, 999, 2048, 4096};
    mrd__rng rng = {21};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        check_buckets(0, 1, counts[i], &rng);
        check_buckets(0, 1e9, counts[i], &rng);
        check_buckets(-1e9, 7, counts[i], &rng);
        check_buckets(-1e15, 1e-3, counts[i], &rng);
        check_buckets(-1e18, 3, counts[i], &rng);
        check_buckets(1e15, 1e15 + 4, counts[i], &rng);
        check_buckets(0.1, 0.7, counts[i], &rng);
        check_buckets(-1e300, 1e300, counts[i], &rng);
        for (int round = 0; round < 10; round++) {
            double start = (mrd__rng_unit(&rng) - 0.5) * exp2((double)mrd__rng_below(&rng, 60));
            double width = mrd__rng_unit(&rng) * exp2((double)mrd__rng_below(&rng, 60));
            if (start + width > start) check_buckets(start, start + width, counts[i], &rng);
        }
    }
}

static void test_end_inside(void **state)
{
    (void)state;
    mrd__buckets buckets;
    mrd_error error = {0};
    assert_int_equal(mrd__buckets_init(&buckets, 0, 10, true, 4, &error), MRD_OK);
    assert_true(buckets.split[4] > 10 && buckets.edge[4] == 10);
    mrd__buckets_reset(&buckets);
    assert_int_equal(mrd__buckets_init(&buckets, 0, 10, false, 4, &error), MRD_OK);
    assert_true(buckets.split[4] == 10);
    mrd__buckets_reset(&buckets);
    mrd__buckets_reset(&buckets);
}

static void test_widths_that_are_no_doubles(void **state)
{
    (void)state;
    mrd__buckets buckets;
    mrd_error error = {0};
    assert_int_equal(mrd__buckets_init(&buckets, -1e308, 1e308, false, 2, &error),
                     MRD_ERR_ARGUMENT);
    assert_string_equal(error.code, "bad_window");
    assert_int_equal(mrd__buckets_init(&buckets, 0, 5e-324, false, 4096, &error), MRD_ERR_ARGUMENT);
}

static void test_points_in_step(void **state)
{
    (void)state;
    mrd__rng rng = {22};
    double time[400];
    double edges[150];
    uint64_t got[150];
    for (int round = 0; round < 300; round++) {
        uint64_t n = mrd__rng_below(&rng, 400);
        for (uint64_t i = 0; i < n; i++)
            time[i] = (i > 0 ? time[i - 1] : 0) + (double)mrd__rng_below(&rng, 3);
        size_t count = 1 + mrd__rng_below(&rng, 150);
        edges[0] = (double)mrd__rng_below(&rng, 50) - 5;
        for (size_t i = 1; i < count; i++)
            edges[i] = edges[i - 1] + (double)mrd__rng_below(&rng, 9) / 2;
        uint64_t first = n > 0 ? mrd__rng_below(&rng, n) : 0;
        mrd__points_search_many(time, first, n, edges, count, got);
        for (size_t i = 0; i < count; i++) {
            uint64_t want = first;
            while (want < n && time[want] < edges[i])
                want++;
            assert_int_equal(got[i], want);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_splits_follow_the_formula),
        cmocka_unit_test(test_end_inside),
        cmocka_unit_test(test_widths_that_are_no_doubles),
        cmocka_unit_test(test_points_in_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
