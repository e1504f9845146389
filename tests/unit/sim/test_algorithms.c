/* Every pair of the table for many N: the data that each rank ends with is right, a program with
 * one step off by one is caught, and what is told about a run adds up. */
#include "kit.h"

#include <string.h>

#include "sim/topology.h"

static const uint32_t counts[] = {2, 3, 4, 5, 6, 7, 8, 9, 16};
#define COUNTS (sizeof counts / sizeof *counts)

static mrd__sim_spec pair_spec(pair p, uint32_t n, const char *more)
{
    return spec_of("{'primitive':'%s','algorithm':'%s','topology':'star-%u','msg_size_bytes':10007,"
                   "'check_data':true%s}",
                   mrd__sim_primitive_name(p.primitive), mrd__sim_algorithm_name(p.algorithm), n,
                   more);
}

static void each(const char *more)
{
    pair pairs[32];
    size_t count = all_pairs(pairs);
    assert_int_equal(count, 16);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < COUNTS; k++) {
            mrd__sim_spec spec = pair_spec(pairs[i], counts[k], more);
            mrd__sim_result result = run(&spec);
            assert_true(result.total_latency_ns > 0);
            assert_true(result.data_done_ns <= result.total_latency_ns);
            mrd__sim_result_reset(&result);
            mrd__sim_spec_reset(&spec);
        }
}

static void test_data_packet(void **state)
{
    (void)state;
    each("");
}

static void test_data_ideal(void **state)
{
    (void)state;
    each(",'mode':'ideal'");
}

static void test_data_dataflow(void **state)
{
    (void)state;
    each(",'step_mode':'dataflow','pipeline':3");
}

static void test_data_hard(void **state)
{
    (void)state;
    each(
        ",'link':{'packet_bytes':512,'credits':2,'error_rate':0.05},'cdma':{'units':2,'threads':1,"
        "'max_outstanding':2,'recv_ahead':0},'compute':{'reduce_gb_per_s':20,'sdma_gb_per_s':30},"
        "'step_mode':'dataflow','pipeline':5,'disturb':[{'chip':1,'slow':3,'start_delay_ns':700}]");
}

static void test_data_lockstep(void **state)
{
    (void)state;
    each(",'step_mode':'lockstep','cdma':{'header_bytes':16}");
    each(",'step_mode':'lockstep','link':{'latency_first':true,'packet_bytes':512,'credits':2},"
         "'cdma':{'units':2,'threads':1,'recv_ahead':0},'switch':{'latency_ns':30},'compute':"
         "{'reduce_gb_per_s':20,'sdma_gb_per_s':30},'disturb':[{'chip':1,'start_delay_ns':700}]");
}

static void test_data_late_chips(void **state)
{
    (void)state;
    each(",'cdma':{'recv_ahead':1},'vc_mode':'shared_wire','compute':{'reduce_gb_per_s':5},"
         "'disturb':[{'chip':0,'start_delay_ns':20000}]");
}

/* ---- Mutated twins ---- */

typedef struct twin {
    const mrd__sim_program *of;
    uint32_t rank, step;
    bool peer; /* the peer is off by one, else the block */
} twin;

static void twin_ops(const mrd__sim_program *p, uint32_t rank, uint32_t step, mrd__sim_ops *out)
{
    const twin *t = p->ctx;
    size_t from = out->count;
    t->of->ops(t->of, rank, step, out);
    if (rank != t->rank || step != t->step) return;
    for (size_t i = from; i < out->count; i++) {
        mrd__sim_op *op = &out->data[i];
        if (!op->is_send) continue;
        if (t->peer)
            op->peer =
                (op->peer + 1) % p->n == rank ? (op->peer + 2) % p->n : (op->peer + 1) % p->n;
        else if (op->bit >= 0)
            op->bit = op->bit == 0 ? 1 : 0;
        else
            op->first = (op->first + 1) % p->blocks;
        return;
    }
}

/* Whether rank sends at this step. */
static bool sends(const mrd__sim_program *p, uint32_t rank, uint32_t step)
{
    mrd__sim_ops ops = {0};
    bool any = false;
    p->ops(p, rank, step, &ops);
    for (size_t i = 0; i < ops.count; i++)
        any |= ops.data[i].is_send;
    mrd__vec_reset(&ops);
    return any;
}

static void try_twin(const mrd__sim_spec *spec, const mrd__sim_program *real, twin t, int *tried)
{
    mrd__sim_program program = *real;
    mrd__sim_result result;
    mrd_error error = {0};
    /* One block only, or all blocks: turning the set changes nothing. */
    if (!t.peer && (real->blocks == 1 || real->algorithm == MRD__SIM_RECURSIVE_DOUBLING)) return;
    if (t.peer && real->n == 2) return;
    program.ctx = &t;
    program.ops = twin_ops;
    mrd_status status = mrd__sim_run_program(spec, &program, NULL, &result, &error);
    if (status == MRD_OK)
        fail_msg("%s %s: rank %u, step %u, %s off by one is not caught",
                 mrd__sim_primitive_name(real->primitive), mrd__sim_algorithm_name(real->algorithm),
                 t.rank, t.step, t.peer ? "peer" : "block");
    assert_true(strcmp(error.code, "wrong_data") == 0 || strcmp(error.code, "deadlock") == 0);
    ++*tried;
}

static void test_twins(void **state)
{
    (void)state;
    pair pairs[32];
    size_t count = all_pairs(pairs);
    for (size_t i = 0; i < count; i++)
        for (uint32_t n = 4; n <= 7; n += 3) {
            mrd__sim_spec spec = pair_spec(pairs[i], n, "");
            mrd__sim_program real;
            int tried = 0;
            mrd__sim_program_init(&real, &spec, pairs[i].algorithm, n);
            for (uint32_t rank = 0; rank < n; rank++)
                for (uint32_t step = 0; step < real.steps; step++)
                    if (sends(&real, rank, step)) {
                        try_twin(&spec, &real, (twin){&real, rank, step, false}, &tried);
                        try_twin(&spec, &real, (twin){&real, rank, step, true}, &tried);
                    }
            assert_true(tried > 0);
            mrd__sim_spec_reset(&spec);
        }
}

/* ---- Counts ---- */

static void test_counts(void **state)
{
    (void)state;
    mrd__sim_spec spec = spec_of("{'primitive':'allreduce','algorithm':'ring','topology':'ring-16',"
                                 "'msg_size_bytes':524288}");
    mrd__sim_result result = run(&spec);
    assert_int_equal(result.total_comm_bytes, 15728640);
    assert_int_equal(result.algorithm_steps, 30);
    assert_int_equal(result.per_chip.count, 16);
    NEAR(result.bus_bw_gb_per_s, 524288 / result.total_latency_ns * 30 / 16, 1e-12);
    NEAR(counter(&result, "multi_chip.core_subsys.tiu.total_flops"), 15 * 524288 / 2, 0);
    NEAR(counter(&result, "cdma_chip3_unit0.total_bytes"), 15728640 / 16, 0);
    mrd__sim_result_reset(&result);
    mrd__sim_spec_reset(&spec);
}

/* Steps of reference section 1.1, N a power of two and not. */
static void test_steps(void **state)
{
    (void)state;
    static const struct {
        const char *primitive, *algorithm;
        uint32_t at8, at6;
    } rows[] = {{"allreduce", "ring", 14, 10},
                {"allreduce", "halving_doubling", 6, 6},
                {"allreduce", "recursive_doubling", 3, 4},
                {"allreduce", "tree", 6, 6},
                {"allgather", "ring", 7, 5},
                {"allgather", "halving_doubling", 3, 4},
                {"allgather", "bruck", 3, 3},
                {"allgather", "direct", 1, 1},
                {"reducescatter", "ring", 7, 5},
                {"reducescatter", "halving_doubling", 3, 4},
                {"reducescatter", "pairwise", 7, 5},
                {"alltoall", "pairwise", 7, 5},
                {"alltoall", "bruck", 3, 3},
                {"alltoall", "direct", 1, 1},
                {"p2p", "direct", 1, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (uint32_t n = 6; n <= 8; n += 2) {
            mrd__sim_spec spec = spec_of("{'primitive':'%s','algorithm':'%s','topology':'star-%u',"
                                         "'msg_size_bytes':4096}",
                                         rows[i].primitive, rows[i].algorithm, n);
            mrd__sim_result result = run(&spec);
            assert_int_equal(result.algorithm_steps, n == 8 ? rows[i].at8 : rows[i].at6);
            mrd__sim_result_reset(&result);
            mrd__sim_spec_reset(&spec);
        }
}

static void test_auto(void **state)
{
    (void)state;
    mrd__sim_spec spec = spec_of("{'primitive':'allreduce','algorithm':'auto','topology':'star-8',"
                                 "'msg_size_bytes':1024}");
    mrd__sim_result result = run(&spec);
    assert_int_equal(result.algorithm_used, MRD__SIM_RECURSIVE_DOUBLING);
    assert_int_equal(result.candidate_count, 5);
    NEAR(result.ideal_latency_ns, 1561.44, 1e-9);
    mrd__sim_result_reset(&result);
    spec.msg_size_bytes = 67108864;
    spec.mode = MRD__SIM_IDEAL;
    result = run(&spec);
    assert_int_equal(result.algorithm_used, MRD__SIM_HALVING_DOUBLING);
    mrd__sim_result_reset(&result);
    mrd__sim_spec_reset(&spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_data_packet),   cmocka_unit_test(test_data_ideal),
        cmocka_unit_test(test_data_dataflow), cmocka_unit_test(test_data_hard),
        cmocka_unit_test(test_data_lockstep), cmocka_unit_test(test_data_late_chips),
        cmocka_unit_test(test_twins),         cmocka_unit_test(test_counts),
        cmocka_unit_test(test_steps),         cmocka_unit_test(test_auto),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
