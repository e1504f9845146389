/* Numbers in order: as comparing puts them, bit for bit. */
#include "base/unit.h"

#include "base/alloc.h"
#include "base/os.h"
#include "base/sort.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
    double x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

static double any(mrd__rng *rng, int kind)
{
    double unit = mrd__rng_unit(rng);
    switch (kind) {
    case 0:
        return (double)mrd__rng_below(rng, 61); /* frames a second */
    case 1:
        return unit * 1e9 - 5e8;
    case 2:
        return ldexp(unit - 0.5, (int)mrd__rng_below(rng, 2000) - 1000);
    default:
        return 42;
    }
}

static void test_against_comparing(void **state)
{
    (void)state;
    mrd__rng rng = {5};
    static const size_t sizes[] = {0, 1, 2, 255, 256, 257, 1000, 70000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (int kind = 0; kind < 4; kind++) {
            size_t count = sizes[i];
            double *values = mrd__new_array(double, count + 1);
            double *sorted = mrd__new_array(double, count + 1);
            for (size_t at = 0; at < count; at++)
                values[at] = any(&rng, kind) + 0.0; /* no -0: it would be any zero's equal */
            memcpy(sorted, values, count * sizeof *values);
            qsort(sorted, count, sizeof *sorted, by_value);
            mrd__sort_doubles(values, count);
            assert_memory_equal(values, sorted, count * sizeof *values);
            mrd__free(values);
            mrd__free(sorted);
        }
    }
}

static void test_extremes(void **state)
{
    (void)state;
    enum {
        MANY = 300
    };
    const double edge[] = {INFINITY, DBL_MAX, 1, DBL_MIN, 0, -DBL_MIN, -1, -DBL_MAX, -INFINITY};
    double values[MANY];
    for (size_t i = 0; i < MANY; i++)
        values[i] = edge[i % 9];
    mrd__sort_doubles(values, MANY);
    assert_true(values[0] < -DBL_MAX && values[MANY - 1] > DBL_MAX);
    for (size_t i = 1; i < MANY; i++)
        assert_true(values[i - 1] <= values[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_comparing),
        cmocka_unit_test(test_extremes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
