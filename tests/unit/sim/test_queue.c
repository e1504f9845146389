/* The event queue: time, then order of scheduling, observers last; renumbering keeps all that. And
 * a run is the same to the byte on every compiler and machine. */
#include "kit.h"

#include "base/os.h"
#include "sim/queue.h"

static void test_order(void **state)
{
    (void)state;
    for (uint32_t start = 0; start < 2; start++) {
        mrd__sim_queue queue = {0};
        mrd__rng rng = {7};
        /* The second time the numbers run out on the way. */
        if (start) queue.order = MRD__SIM_OBSERVING - 5000;
        for (uint32_t i = 0; i < 10000; i++)
            mrd__sim_queue_push(&queue, mrd__rng_below(&rng, 50), i % 7 ? 0 : MRD__SIM_OBSERVING,
                                i % 7 ? 1 : 9, i);
        uint64_t last_time = 0, last_rank = 0;
        for (uint32_t i = 0; i < 10000; i++) {
            mrd__sim_key key = mrd__sim_queue_pop(&queue);
            uint64_t time = mrd__sim_key_time(key);
            bool observes = mrd__sim_key_type(key) == 9;
            uint64_t rank = (uint64_t)observes << 32 | (mrd__sim_key_index(key) + 1);
            assert_int_equal(mrd__sim_key_index(key) % 7 == 0, observes);
            assert_true(time > last_time || (time == last_time && rank > last_rank));
            last_time = time;
            last_rank = rank;
        }
        assert_int_equal(queue.count, 0);
        assert_true(!start || queue.order < MRD__SIM_OBSERVING / 2);
        mrd__sim_queue_reset(&queue);
    }
}

static void test_same_bytes(void **state)
{
    (void)state;
    mrd__sim_spec spec = spec_of(
        "{'primitive':'allreduce','algorithm':'double_binary_tree','topology':'dragonfly-p2-a2-h1',"
        "'msg_size_bytes':123457,'vc_mode':'shared_wire','pipeline':3,'seed':42,"
        "'link':{'error_rate':0.01,'credits':3,'bandwidth_gb_per_s':33.3},'compute':"
        "{'reduce_gb_per_s':71},'cdma':{'recv_ahead':1,'max_outstanding':5},"
        "'disturb':[{'chip':2,'slow':1.7},{'chip':3,'start_delay_ns':123.4}]}");
    mrd__sim_result first = run(&spec), second = run(&spec);
    assert_string_equal(first.stats.data, second.stats.data);
    assert_true(mrd__hash(first.stats.data, first.stats.size) == 0x5ba64fa0aff237cbull);
    mrd__sim_result_reset(&first);
    mrd__sim_result_reset(&second);
    mrd__sim_spec_reset(&spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
