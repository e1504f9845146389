/* Closed forms, exactly: mode ideal on a star with 2 x 250 ns and 50 GB/s. */
#include "kit.h"
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The table: to 1 ps a step. */
static void test_table(void **state)
{
    (void)state;
    mrd__buf text = {0};
    char *at = (char *)table_open(&text, "closed-form.csv"), *f[5];
    if (!at) skip();
    size_t rows = 0;
    for (; table_row(&at, f, 5) == 5; rows++) {
        mrd__sim_spec spec = spec_of("{'primitive':'%s','algorithm':'%s','topology':'star-%s',"
                                     "'msg_size_bytes':%s,'mode':'ideal'}",
                                     f[0], f[1], f[2], f[3]);
        mrd__sim_result result = run(&spec);
        double want = strtod(f[4], NULL);
        if (fabs(result.data_done_ns - want) > 0.001 * (double)result.algorithm_steps + 1e-9)
            fail_msg("%s %s N=%s S=%s: %.6f ns, expected %.6f", f[0], f[1], f[2], f[3],
                     result.data_done_ns, want);
        assert_true(result.total_latency_ns == result.data_done_ns);
        NEAR(result.ideal_latency_ns, want, 1e-6 * want);
        mrd__sim_result_reset(&result);
        mrd__sim_spec_reset(&spec);
    }
    print_message("%zu rows\n", rows);
    assert_int_equal(rows, 210);
    mrd__buf_reset(&text);
}

/* Every pair whose formula is exact, any N: our formula and our run, reductions included. */
static void test_formulas(void **state)
{
    (void)state;
    pair pairs[32];
    size_t count = all_pairs(pairs), checked = 0;
    for (size_t i = 0; i < count; i++)
        for (uint32_t n = 2; n <= 17; n++) {
            if (pairs[i].algorithm == MRD__SIM_DOUBLE_BINARY_TREE) continue; /* about */
            mrd__sim_spec spec =
                spec_of("{'primitive':'%s','algorithm':'%s','topology':'star-%u','mode':'ideal',"
                        "'msg_size_bytes':%u,'compute':{'reduce_gb_per_s':%d}}",
                        mrd__sim_primitive_name(pairs[i].primitive),
                        mrd__sim_algorithm_name(pairs[i].algorithm), n, 16 * n * 1000, 100);
            mrd__sim_result result = run(&spec);
            if (fabs(result.data_done_ns - result.ideal_latency_ns) >
                0.002 * (double)result.algorithm_steps)
                fail_msg("%s %s N=%u: run %.6f ns, formula %.6f",
                         mrd__sim_primitive_name(pairs[i].primitive),
                         mrd__sim_algorithm_name(pairs[i].algorithm), n, result.data_done_ns,
                         result.ideal_latency_ns);
            mrd__sim_result_reset(&result);
            mrd__sim_spec_reset(&spec);
            checked++;
        }
    assert_int_equal(checked, 15 * 16);
}

/* T(k) = max(2(N-1)ku + a, 2(N-1)(u + a) + (k-1)u): reference section 1.2. */
static void test_pipelined_ring(void **state)
{
    (void)state;
    static const struct {
        uint32_t n, size;
        double times[5];
    } rows[] = {{4, 65536, {4966.08, 4146.88, 3737.28, 3532.48, 3430.08}},
                {4, 1048576, {34457.28, 31957.28, 31957.28, 31957.28, 31957.28}},
                {8, 65536, {9293.76, 8228.80, 7696.32, 7430.08, 7296.96}},
                {8, 1048576, {43700.16, 37200.16, 37200.16, 37200.16, 37200.16}}};
    for (size_t i = 0; i < 4; i++)
        for (int k = 0; k < 5; k++) {
            mrd__sim_spec spec =
                spec_of("{'primitive':'allreduce','algorithm':'ring','topology':'star-%u','mode':"
                        "'ideal','msg_size_bytes':%u,'step_mode':'dataflow','pipeline':%d}",
                        rows[i].n, rows[i].size, 1 << k);
            mrd__sim_result result = run(&spec);
            NEAR(result.data_done_ns, rows[i].times[k], 0.001);
            mrd__sim_result_reset(&result);
            mrd__sim_spec_reset(&spec);
        }
}

/* No run beats the lower bounds of reference section 1.3 (ideal, one port). */
static void test_lower_bounds(void **state)
{
    (void)state;
    pair pairs[32];
    size_t count = all_pairs(pairs);
    for (size_t i = 0; i < count; i++)
        for (uint32_t n = 2; n <= 9; n++)
            for (uint32_t size = 100; size < 1000000; size *= 97) {
                mrd__sim_spec spec =
                    spec_of("{'primitive':'%s','algorithm':'%s','topology':'star-%u','mode':"
                            "'ideal','msg_size_bytes':%u}",
                            mrd__sim_primitive_name(pairs[i].primitive),
                            mrd__sim_algorithm_name(pairs[i].algorithm), n, size);
                mrd__sim_result result = run(&spec);
                double share = (double)(n - 1) / n, bytes = size * share;
                if (pairs[i].primitive == MRD__SIM_ALLREDUCE) bytes *= 2;
                if (pairs[i].primitive == MRD__SIM_P2P) bytes = size;
                double latency = pairs[i].primitive == MRD__SIM_ALLTOALL ||
                                         pairs[i].primitive == MRD__SIM_P2P ||
                                         pairs[i].algorithm == MRD__SIM_DIRECT
                                     ? 500
                                     : 500.0 * mrd__sim_ceil_log2(n);
                assert_true(result.data_done_ns >= latency - 1e-9);
                if (pairs[i].algorithm != MRD__SIM_RECURSIVE_DOUBLING)
                    assert_true(result.data_done_ns >= bytes * 0.02 - 0.001 * n);
                mrd__sim_result_reset(&result);
                mrd__sim_spec_reset(&spec);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_formulas),
        cmocka_unit_test(test_pipelined_ring),
        cmocka_unit_test(test_lower_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
