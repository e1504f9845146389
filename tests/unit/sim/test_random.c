/* Seeded random specs: every one must end with the right data on every rank, all credits home and
 * Little's law exact (the kernel asserts both), the same to the byte when traced. MRD_TEST_SEED
 * starts elsewhere. */
#include "kit.h"

#include "base/os.h"
#include "events/command_file.h"
#include "events/event_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *pick(mrd__rng *rng, const char *const *list, size_t count)
{
    return list[mrd__rng_below(rng, count)];
}
#define PICK(rng, list) pick((rng), (list), sizeof(list) / sizeof *(list))

static uint64_t some(mrd__rng *rng, uint64_t low, uint64_t high)
{
    return low + mrd__rng_below(rng, high - low + 1);
}

static void topology_of(mrd__rng *rng, char *out, size_t size)
{
    uint32_t a = (uint32_t)some(rng, 2, 12), b = (uint32_t)some(rng, 1, 4);
    uint32_t c = (uint32_t)some(rng, 1, 3);
    switch (some(rng, 0, 8)) {
    case 0:
        snprintf(out, size, "ring-%u", a);
        break;
    case 1:
        snprintf(out, size, "full-%u", a);
        break;
    case 2:
        snprintf(out, size, "star-%u", a);
        break;
    case 3:
        snprintf(out, size, "mesh-2d-%ux%u", a, b);
        break;
    case 4:
        snprintf(out, size, "torus-2d-%ux%u", b + 1, c + 2);
        break;
    case 5:
        snprintf(out, size, "torus-3d-%ux%ux%u", b + 1, c, c + 1);
        break;
    case 6:
        snprintf(out, size, "fat-tree-k%u", 2 * (b % 2) + 4);
        break;
    case 7:
        snprintf(out, size, "fat-tree-2l-l%u-h%u-s%u", b + 1, c, a);
        break;
    default:
        snprintf(out, size, "dragonfly-p%u-a%u-h1", c, b);
        break;
    }
}

static void spec_text(mrd__rng *rng, char *out, size_t size)
{
    static const char *const modes[] = {"packet", "packet", "packet", "ideal"};
    static const char *const steps[] = {"barrier", "dataflow", "lockstep"};
    static const char *const wires[] = {"independent", "shared_wire"};
    static const char *const switchings[] = {"store_and_forward", "cut_through"};
    static const char *const sizes[] = {"0", "1", "7", "1000", "4096", "50001", "262144"};
    static const char *const packets[] = {"0", "64", "512", "4096"};
    static const char *const rates[] = {"0", "0", "0.02", "0.2"};
    static const char *const speeds[] = {"0", "0", "3.7", "200"};
    static const char *const booleans[] = {"false", "false", "true"};
    static const char *const acks[] = {"0", "64"};
    pair pairs[32];
    char topology[64];
    size_t count = all_pairs(pairs);
    pair p = pairs[mrd__rng_below(rng, count)];
    topology_of(rng, topology, sizeof topology);
    snprintf(out, size,
             "{'primitive':'%s','algorithm':'%s','topology':'%s','msg_size_bytes':%s,'mode':'%s',"
             "'step_mode':'%s','pipeline':%d,'vc_mode':'%s','switching':'%s','seed':%d,"
             "'check_data':true,'link':{'bandwidth_gb_per_s':%d,'latency_ns':%d,'packet_bytes':%s,"
             "'header_bytes':%d,'ack_bytes':%s,'credits':%d,'error_rate':%s,'latency_first':%s},"
             "'switch':{'latency_ns':%d},'cdma':{'units':%d,'threads':%d,'max_outstanding':%d,"
             "'recv_ahead':%d},'compute':{'reduce_gb_per_s':%s,'sdma_gb_per_s':%s},"
             "'disturb':[{'chip':1,'slow':%d,'start_delay_ns':%d}]}",
             mrd__sim_primitive_name(p.primitive), mrd__sim_algorithm_name(p.algorithm), topology,
             PICK(rng, sizes), PICK(rng, modes), PICK(rng, steps), (int)some(rng, 1, 8),
             PICK(rng, wires), PICK(rng, switchings), (int)some(rng, 1, 99), (int)some(rng, 1, 90),
             (int)some(rng, 0, 300), PICK(rng, packets), (int)some(rng, 0, 64), PICK(rng, acks),
             (int)some(rng, 2, 6), PICK(rng, rates), PICK(rng, booleans), (int)some(rng, 0, 200),
             (int)some(rng, 1, 3), (int)some(rng, 1, 3), (int)some(rng, 1, 9),
             (int)some(rng, 0, 5) - 1, PICK(rng, speeds), PICK(rng, speeds), (int)some(rng, 1, 4),
             (int)some(rng, 0, 3000));
}

static mrd_status nothing(void *ctx, const mrd__event_record *records, size_t count,
                          mrd_error *error)
{
    (void)error;
    double *last = ctx;
    for (size_t i = 0; i < count; i++) {
        assert_true(records[i].time_ns >= *last);
        *last = records[i].time_ns;
    }
    return MRD_OK;
}

static void test_random(void **state)
{
    (void)state;
    const char *seed = getenv("MRD_TEST_SEED");
    mrd__rng rng = {seed ? strtoull(seed, NULL, 10) : 1};
    for (int i = 0; i < 100; i++) {
        char text[2048];
        double last = 0;
        mrd__sim_observer observer = {.ctx = &last, .records = nothing};
        mrd__sim_result traced;
        mrd_error error = {0};
        uint64_t at = rng.state;
        spec_text(&rng, text, sizeof text);
        mrd__sim_spec spec = spec_of("%s", text);
        spec.trace_enabled = true;
        if (mrd__sim_run(&spec, &observer, &traced, &error) != MRD_OK)
            fail_msg("MRD_TEST_SEED=%llu: %s: %s", (unsigned long long)at, text, error.message);
        mrd__sim_result plain = run(&spec);
        assert_string_equal(plain.stats.data, traced.stats.data);
        assert_true(plain.total_latency_ns >= plain.data_done_ns || spec.mode == MRD__SIM_IDEAL);
        mrd__sim_result_reset(&plain);
        mrd__sim_result_reset(&traced);
        mrd__sim_spec_reset(&spec);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
