/* The event queue: time, then order of scheduling, observers last. And a run is the same to the
 * byte on every compiler and machine. */
#include "kit.h"

#include "base/os.h"
#include "sim/queue.h"

/* Times from `times` on: few of them give long lists, many push each other out of the table. */
static void check_order(uint64_t times)
{
    mrd__sim_queue queue = {0};
    mrd__rng rng = {7};
    for (uint32_t i = 0; i < 10000; i++)
        mrd__sim_queue_push(&queue, mrd__rng_below(&rng, times), i % 7 ? 0 : MRD__SIM_OBSERVING,
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
    mrd__sim_queue_reset(&queue);
}

static void test_order(void **state)
{
    (void)state;
    check_order(1);
    check_order(50);
    check_order(5000);
    check_order(1ull << 60);
}

/* Pops and pushes in turns, each at the time popped or after it, against a sorted list. */
static void test_in_turns(void **state)
{
    (void)state;
    mrd__sim_queue queue = {0};
    mrd__rng rng = {3};
    uint64_t times[64], numbers[64], number = 0;
    size_t n = 0;
    for (int turn = 0; turn < 200000; turn++) {
        uint64_t now = 0;
        if (n == 64 || (n > 0 && mrd__rng_below(&rng, 2))) {
            size_t least = 0;
            for (size_t i = 1; i < n; i++)
                if (times[i] < times[least] ||
                    (times[i] == times[least] && numbers[i] < numbers[least]))
                    least = i;
            mrd__sim_key key = mrd__sim_queue_pop(&queue);
            now = mrd__sim_key_time(key);
            assert_true(now == times[least]);
            assert_int_equal(mrd__sim_key_index(key), numbers[least] & 0xfffffff);
            times[least] = times[--n];
            numbers[least] = numbers[n];
        }
        if (n == 64 || (n > 0 && now == 0)) continue;
        static const uint64_t steps[] = {0, 0, 5, 82, 1000003};
        times[n] = now + steps[mrd__rng_below(&rng, 5)];
        numbers[n] = number++;
        mrd__sim_queue_push(&queue, times[n], 0, 1, (uint32_t)(numbers[n] & 0xfffffff));
        n++;
    }
    assert_int_equal(queue.count, n);
    mrd__sim_queue_reset(&queue);
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
        cmocka_unit_test(test_in_turns),
        cmocka_unit_test(test_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
