/* The network model against exact cases of reference section 2, and what must hold of any run. */
#include "kit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define P2P(topology, size)                                                                        \
    "{'primitive':'p2p','algorithm':'direct','topology':'" topology "','msg_size_bytes':" size

/* ---- Exact cases ---- */

static void test_switching(void **state)
{
    (void)state;
    /* 100 ns a link, 150 ns a switch; H = 2: star, H = 4: fat tree. Header 64 B in cut-through. */
    static const struct {
        const char *topology, *size, *switching;
        int header;
        double ns;
    } rows[] = {
        {"p2p", "4096", "store_and_forward", 0, 181.92},
        {"star-2", "4096", "store_and_forward", 0, 513.84},
        {"fat-tree-2l-l2-h2-s2", "4096", "store_and_forward", 0, 1177.68},
        {"star-2", "1048576", "store_and_forward", 0, 21403.44},
        {"fat-tree-2l-l2-h2-s2", "1048576", "store_and_forward", 0, 22067.28},
        {"p2p", "4097", "store_and_forward", 0, 181.94},
        {"p2p", "0", "store_and_forward", 0, 100},
        {"star-2", "4032", "cut_through", 64, 433.20},
        {"fat-tree-2l-l2-h2-s2", "4032", "cut_through", 64, 935.76},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mrd__sim_spec spec =
            spec_of("{'primitive':'p2p','algorithm':'direct','topology':'%s','msg_size_bytes':%s,"
                    "'switching':'%s','switch':{'latency_ns':150},'link':{'latency_ns':100,"
                    "'header_bytes':%d,'credits':1000},'cdma':{'max_outstanding':1000}}",
                    rows[i].topology, rows[i].size, rows[i].switching, rows[i].header);
        mrd__sim_result result = run(&spec);
        NEAR(result.data_done_ns, rows[i].ns, 1e-9);
        mrd__sim_result_reset(&result);
        mrd__sim_spec_reset(&spec);
    }
}

/* C credits, round trip R: floor((P-1)/C) R + ((P-1) mod C) ser + ser + d where C < R / ser. */
static void test_credits(void **state)
{
    (void)state;
    const double ser = 81.92, d = 125, trip = ser + 2 * d;
    for (int c = 1; c <= 8; c++) {
        mrd__sim_spec spec = spec_of(P2P("p2p", "1048576") ",'link':{'latency_ns':125,'credits':%d}"
                                                           ",'cdma':{'max_outstanding':100000}}",
                                     c);
        mrd__sim_result result = run(&spec);
        int p = 256;
        double want =
            c >= trip / ser ? p * ser + d : (p - 1) / c * trip + (p - 1) % c * ser + ser + d;
        NEAR(result.data_done_ns, want, 1e-6);
        mrd__sim_result_reset(&result);
        mrd__sim_spec_reset(&spec);
    }
}

/* The window W alike, and by the counters: it was hit exactly where it binds. */
static void test_window(void **state)
{
    (void)state;
    const double ser = 81.92, d = 250, trip = ser + 2 * d;
    for (int w = 1; w <= 9; w++) {
        mrd__sim_spec spec = spec_of(P2P("p2p", "409600") ",'link':{'ack_bytes':0,'credits':100000}"
                                                          ",'cdma':{'max_outstanding':%d}}",
                                     w);
        mrd__sim_result result = run(&spec);
        int k = 100;
        bool binds = w < trip / ser;
        double want = binds ? (k - 1) / w * trip + (k - 1) % w * ser + trip : k * ser + 2 * d;
        NEAR(result.total_latency_ns, want, 1e-6);
        assert_int_equal(counter(&result, "cdma_chip0_unit0.blocked_count") > 0, binds);
        if (binds) assert_true(counter(&result, "cdma_chip0_unit0.ostd_wait_ns") > 0);
        mrd__sim_result_reset(&result);
        mrd__sim_spec_reset(&spec);
    }
}

/* Both ways at once, 256-byte packets and 64-byte ACKs: 50 GB/s on independent channels, 40 on one
 * wire. */
static void test_shared_wire(void **state)
{
    (void)state;
    for (int shared = 0; shared < 2; shared++) {
        mrd__sim_spec spec =
            spec_of("{'primitive':'allgather','algorithm':'direct','topology':'p2p',"
                    "'msg_size_bytes':2097152,'vc_mode':'%s','link':{'packet_bytes':256,"
                    "'credits':10000},'cdma':{'max_outstanding':10000}}",
                    shared ? "shared_wire" : "independent");
        mrd__sim_result result = run(&spec);
        NEAR(1048576 / result.data_done_ns, shared ? 40 : 50, 1);
        mrd__sim_result_reset(&result);
        mrd__sim_spec_reset(&spec);
    }
}

/* A link of a hundredth of the bandwidth: it is the bottleneck, busy with all that goes over it. */
static void test_bottleneck(void **state)
{
    (void)state;
    mrd__sim_spec spec = spec_of(
        "{'primitive':'allreduce','algorithm':'double_binary_tree','topology':'star-8','mode':"
        "'packet','msg_size_bytes':65536,'link':{'credits':2},'disturb':[{'link':['sw0','c1'],"
        "'bandwidth_factor':0.01}]}");
    mrd__sim_result result = run(&spec);
    assert_string_equal(result.bottleneck, "link_sw0_c1_req");
    /* It is busy with all that chip 1 receives. */
    double bytes = counter(&result, "link_sw0_c1_req.bytes");
    NEAR(counter(&result, "link_sw0_c1_req.busy_ns"), bytes * 2, 1e-3);
    assert_true(result.data_done_ns > bytes * 2);
    mrd__sim_result_reset(&result);
    mrd__sim_spec_reset(&spec);
}

/* A spoiled packet costs one more round trip and one packet time; all data still comes. */
static void test_errors(void **state)
{
    (void)state;
    double clean = 0;
    for (int rate = 0; rate <= 20; rate += 10) {
        mrd__sim_spec spec = spec_of(
            P2P("star-2", "1048576") ",'check_data':true,'link':{'error_rate':%g}}", rate / 100.0);
        mrd__sim_result result = run(&spec), again = run(&spec);
        double packets = counter(&result, "link_c0_sw0_req.packets");
        if (rate == 0) clean = result.data_done_ns;
        assert_int_equal(packets > 256, rate > 0);
        assert_int_equal(result.data_done_ns > clean, rate > 0);
        assert_string_equal(result.stats.data, again.stats.data);
        mrd__sim_result_reset(&again);
        spec.seed = 2;
        again = run(&spec);
        assert_int_equal(strcmp(result.stats.data, again.stats.data) != 0, rate > 0);
        mrd__sim_result_reset(&again);
        mrd__sim_result_reset(&result);
        mrd__sim_spec_reset(&spec);
    }
}

/* One spoiled link only: disturbance with an error rate of its own. */
static void test_lossy_link(void **state)
{
    (void)state;
    mrd__sim_spec spec = spec_of(
        "{'primitive':'allgather','algorithm':'ring','topology':'ring-4','msg_size_bytes':1048576,"
        "'check_data':true,'disturb':[{'link':['c1','c2'],'error_rate':0.3}]}");
    mrd__sim_result result = run(&spec);
    assert_true(counter(&result, "link_c1_c2_req.packets") > 192);
    NEAR(counter(&result, "link_c0_c1_req.packets"), 192, 0);
    mrd__sim_result_reset(&result);
    mrd__sim_spec_reset(&spec);
}

/* ---- Transfer credits and fences ---- */

static void test_transfer_credits(void **state)
{
    (void)state;
    double blocked[2], time[2];
    for (int ahead = 0; ahead < 2; ahead++) {
        mrd__sim_spec spec = spec_of(P2P("p2p", "4096") ",'cdma':{'recv_ahead':%d}}", ahead - 1);
        spec.recv_ahead = ahead ? -1 : 0;
        mrd__sim_result result = run(&spec);
        blocked[ahead] = result.per_chip.data[0].cdma_blocked_ns;
        time[ahead] = result.data_done_ns;
        mrd__sim_result_reset(&result);
        mrd__sim_spec_reset(&spec);
    }
    /* The credit, a 64-byte packet, is 1.28 + 250 ns under way; the last fence waits for the ACK
     * either way, from the last byte out: 250 + 1.28 + 250. */
    NEAR(time[0] - time[1], 251.28, 1e-9);
    NEAR(blocked[1], 501.28, 1e-9);
    NEAR(blocked[0], 501.28 + 251.28, 1e-9);
}

/* ---- Deadlock ---- */

/* Every chip of a ring of four to the one opposite, shallow buffers. */
#define OPPOSITE                                                                                   \
    "{'primitive':'alltoall','algorithm':'direct','topology':'%s','msg_size_bytes':1048576,"       \
    "'deadlock_avoidance':'%s','check_data':true,'link':{'credits':%d},'vc_mode':'%s'}"

static void test_ring_deadlock(void **state)
{
    (void)state;
    mrd__sim_spec spec = spec_of(OPPOSITE, "ring-5", "none", 1, "independent");
    const char *message = run_error(&spec, "deadlock");
    assert_non_null(strstr(message, "link_c0_c1_req waits for link_c1_c2_req"));
    assert_non_null(strstr(message, "link_c4_c0_req waits for"));
    mrd__sim_spec_reset(&spec);
}

/* Every topology, two buffers, all pairs at once, REQ and RSP on one wire and apart. */
static void test_no_deadlock(void **state)
{
    (void)state;
    static const char *const names[] = {"p2p",
                                        "ring-5",
                                        "ring-8",
                                        "full-6",
                                        "star-7",
                                        "mesh-2d-3x4",
                                        "torus-2d-4x4",
                                        "torus-3d-3x3x3",
                                        "torus-2d-2x5",
                                        "fat-tree-k4",
                                        "fat-tree-2l-l3-h4-s2",
                                        "dragonfly-p1-a2-h1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int shared = 0; shared < 2; shared++) {
            mrd__sim_spec spec =
                spec_of(OPPOSITE, names[i], "bubble", 2, shared ? "shared_wire" : "independent");
            mrd__sim_result result = run(&spec);
            mrd__sim_result_reset(&result);
            mrd__sim_spec_reset(&spec);
        }
}

/* ---- What holds of any run ---- */

/* More bandwidth is never slower, more latency never faster; symmetric chips are alike. */
static void test_monotonic(void **state)
{
    (void)state;
    pair pairs[32];
    size_t count = all_pairs(pairs);
    for (size_t i = 0; i < count; i++) {
        double before = INFINITY;
        for (int step = 0; step < 4; step++) {
            mrd__sim_spec spec = spec_of(
                "{'primitive':'%s','algorithm':'%s','topology':'torus-2d-3x3','msg_size_bytes':"
                "100000,'link':{'bandwidth_gb_per_s':%d,'latency_ns':%d}}",
                mrd__sim_primitive_name(pairs[i].primitive),
                mrd__sim_algorithm_name(pairs[i].algorithm), 10 << (2 * step), 800 >> step);
            mrd__sim_result result = run(&spec);
            assert_true(result.data_done_ns <= before);
            before = result.data_done_ns;
            mrd__sim_result_reset(&result);
            mrd__sim_spec_reset(&spec);
        }
    }
}

static void test_symmetric(void **state)
{
    (void)state;
    mrd__sim_spec spec = spec_of("{'primitive':'allreduce','algorithm':'ring','topology':'ring-8',"
                                 "'msg_size_bytes':1048576}");
    mrd__sim_result result = run(&spec);
    assert_int_equal(result.per_chip.count, 8);
    for (size_t i = 0; i < 8; i++)
        NEAR(result.per_chip.data[i].latency_ns, result.total_latency_ns, 0);
    NEAR(result.straggler_ratio, 1, 0);
    mrd__sim_result_reset(&result);
    mrd__sim_spec_reset(&spec);
}

/* Bytes of data over all links are the bytes of all messages times their hops: nothing is lost. */
static void test_conservation(void **state)
{
    (void)state;
    mrd__sim_spec spec = spec_of("{'primitive':'alltoall','algorithm':'pairwise','topology':"
                                 "'star-6','msg_size_bytes':60000}");
    mrd__sim_result result = run(&spec);
    double out = 0, in = 0;
    for (int c = 0; c < 6; c++) {
        char name[64];
        snprintf(name, sizeof name, "link_c%d_sw0_req.bytes", c);
        out += counter(&result, name);
        snprintf(name, sizeof name, "link_sw0_c%d_req.bytes", c);
        in += counter(&result, name);
        NEAR(counter(&result, name), 50000, 0);
    }
    NEAR(out, 300000, 0);
    NEAR(in, 300000, 0);
    assert_int_equal(result.total_comm_bytes, 300000);
    mrd__sim_result_reset(&result);
    mrd__sim_spec_reset(&spec);
}

static void test_straggler(void **state)
{
    (void)state;
    mrd__sim_spec spec = spec_of("{'primitive':'allreduce','algorithm':'tree','topology':'star-8',"
                                 "'msg_size_bytes':1048576,'disturb':[{'chip':5,'slow':8}]}");
    mrd__sim_result result = run(&spec);
    assert_true(result.straggler_ratio > 1.1);
    assert_true(result.straggler_chip == 5 || result.straggler_chip == 4); /* it and its parent */
    assert_true(result.per_chip.data[5].is_straggler);
    assert_false(result.per_chip.data[0].is_straggler && result.per_chip.data[2].is_straggler);
    mrd__sim_result_reset(&result);
    mrd__sim_spec_reset(&spec);
}

/* Copies and reductions take their time: Bruck's turns, the ring's additions. */
static void test_compute(void **state)
{
    (void)state;
    mrd__sim_spec spec = spec_of("{'primitive':'allgather','algorithm':'bruck','topology':'star-4',"
                                 "'msg_size_bytes':400000,'compute':{'sdma_gb_per_s':40}}");
    mrd__sim_result with = run(&spec);
    assert_string_equal(with.bottleneck, "sdma_chip0");
    spec.sdma_gb_per_s = 0;
    mrd__sim_result without = run(&spec);
    NEAR(with.data_done_ns - without.data_done_ns, 10000, 1e-6);
    NEAR(counter(&with, "multi_chip.core_subsys.sdma.total_bytes"), 1600000, 0);
    mrd__sim_result_reset(&with);
    mrd__sim_result_reset(&without);
    mrd__sim_spec_reset(&spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_switching),     cmocka_unit_test(test_credits),
        cmocka_unit_test(test_window),        cmocka_unit_test(test_shared_wire),
        cmocka_unit_test(test_bottleneck),    cmocka_unit_test(test_errors),
        cmocka_unit_test(test_lossy_link),    cmocka_unit_test(test_transfer_credits),
        cmocka_unit_test(test_ring_deadlock), cmocka_unit_test(test_no_deadlock),
        cmocka_unit_test(test_monotonic),     cmocka_unit_test(test_symmetric),
        cmocka_unit_test(test_conservation),  cmocka_unit_test(test_straggler),
        cmocka_unit_test(test_compute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
