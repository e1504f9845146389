/* L3: the records say what happened, pair up, and change nothing. */
#include "events/command_file.h"
#include "events/event_file.h"
#include "kit.h"

#include <stdio.h>
#include <string.h>

typedef struct seen {
    MRD__VEC(mrd__event_record) records; /* details copied */
    size_t calls, largest;
    mrd__arena texts;
    size_t fail_after; /* calls; 0: never */
} seen;

static mrd_status take(void *ctx, const mrd__event_record *records, size_t count, mrd_error *error)
{
    seen *s = ctx;
    if (++s->calls == s->fail_after) {
        *error = (mrd_error){.status = MRD_ERR_IO, .code = "disk"};
        return MRD_ERR_IO;
    }
    if (count > s->largest) s->largest = count;
    for (size_t i = 0; i < count; i++) {
        mrd__event_record copy = records[i];
        copy.detail.data = mrd__arena_text(&s->texts, copy.detail.data, copy.detail.size);
        mrd__vec_push(&s->records, copy);
    }
    return MRD_OK;
}

static void seen_reset(seen *s)
{
    mrd__vec_reset(&s->records);
    mrd__arena_reset(&s->texts);
    *s = (seen){0};
}

static mrd__sim_result observe(mrd__sim_spec *spec, seen *s, uint64_t limit)
{
    mrd__sim_observer observer = {.ctx = s, .limit = limit, .records = take};
    mrd__sim_result result;
    mrd_error error = {0};
    spec->trace_enabled = true;
    if (mrd__sim_run(spec, &observer, &result, &error) != MRD_OK) fail_msg("%s", error.message);
    return result;
}

#define BUSY                                                                                       \
    "{'primitive':'allreduce','algorithm':'ring','topology':'torus-2d-4x2','msg_size_bytes':"      \
    "262144,'switching':'%s','vc_mode':'%s','link':{'error_rate':0.02,'credits':3},"               \
    "'cdma':{'max_outstanding':4,'recv_ahead':0,'threads':%d}}"

static int pair_of(int category)
{
    return category < MRD__EV_THREAD_BLOCKED ? MRD__EV_LINK_BUSY : MRD__EV_THREAD_BLOCKED;
}

/* Time order, one open interval a component at a time, all closed; sums equal the counters. */
static void check_pairs(const seen *s, const mrd__sim_result *result)
{
    double last = 0, link_ns = 0, blocked_ns = 0, want = 0;
    for (size_t i = 0; i < s->records.count; i++) {
        const mrd__event_record *r = &s->records.data[i];
        assert_true(r->time_ns >= last);
        last = r->time_ns;
        bool opens = r->category == MRD__EV_LINK_BUSY || r->category == MRD__EV_THREAD_BLOCKED;
        if (r->category == MRD__EV_OSTD_CHANGE || r->category == MRD__EV_HOP_ARRIVE) continue;
        size_t j = i + 1;
        while (j < s->records.count && (s->records.data[j].component.data != r->component.data ||
                                        s->records.data[j].category == MRD__EV_OSTD_CHANGE))
            j++;
        if (!opens) { /* the next one of this component, if any, opens */
            if (j < s->records.count)
                assert_int_equal(s->records.data[j].category, pair_of(r->category));
            continue;
        }
        assert_true(j < s->records.count);
        assert_int_equal(s->records.data[j].category, r->category + 1);
        double took = s->records.data[j].time_ns - r->time_ns;
        *(r->category == MRD__EV_LINK_BUSY ? &link_ns : &blocked_ns) += took;
    }
    for (size_t i = 0; i < result->per_chip.count; i++)
        want += result->per_chip.data[i].cdma_blocked_ns;
    NEAR(blocked_ns, want, 1e-6);
    assert_true(link_ns > 0 && want > 0);
}

/* The outstanding curves go by ones, within 0 and the window, and end at 0. */
static void check_window(const seen *s, int window)
{
    MRD__VEC(mrd__event_record) last = {0};
    bool full = false;
    for (size_t i = 0; i < s->records.count; i++) {
        const mrd__event_record *r = &s->records.data[i];
        size_t k = 0;
        if (r->category != MRD__EV_OSTD_CHANGE) continue;
        while (k < last.count && last.data[k].component.data != r->component.data)
            k++;
        double before = k < last.count ? last.data[k].value : 0;
        assert_true(r->value == before + 1 || r->value == before - 1);
        assert_true(r->value >= 0 && r->value <= window);
        full |= r->value == window;
        if (k == last.count) mrd__vec_push(&last, *r);
        last.data[k] = *r;
    }
    assert_true(full && last.count == 8);
    for (size_t k = 0; k < last.count; k++)
        assert_true(last.data[k].value == 0);
    mrd__vec_reset(&last);
}

static void test_pairs(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        seen s = {0};
        mrd__sim_spec spec = spec_of(BUSY, k & 1 ? "cut_through" : "store_and_forward",
                                     k & 2 ? "shared_wire" : "independent", 1 + k % 3);
        mrd__sim_result result = observe(&spec, &s, 0);
        assert_int_equal(s.records.count, result.records);
        check_pairs(&s, &result);
        check_window(&s, 4);
        mrd__sim_result_reset(&result);
        mrd__sim_spec_reset(&spec);
        seen_reset(&s);
    }
}

/* Without, with, and with a part of the trace: L1 and L2 to the byte. */
static void test_changes_nothing(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        seen s = {0};
        mrd__sim_spec spec = spec_of(BUSY, k & 1 ? "cut_through" : "store_and_forward",
                                     k & 2 ? "shared_wire" : "independent", 2);
        mrd__sim_result off = run(&spec), on = observe(&spec, &s, 0), cut = observe(&spec, &s, 100);
        assert_string_equal(off.stats.data, on.stats.data);
        assert_string_equal(off.stats.data, cut.stats.data);
        assert_true(off.total_latency_ns == on.total_latency_ns && off.events == on.events);
        assert_int_equal(off.per_chip.count, on.per_chip.count);
        for (size_t i = 0; i < off.per_chip.count; i++) {
            NEAR(off.per_chip.data[i].latency_ns, on.per_chip.data[i].latency_ns, 0);
            NEAR(off.per_chip.data[i].cdma_blocked_ns, on.per_chip.data[i].cdma_blocked_ns, 0);
        }
        assert_true(cut.truncated && !on.truncated);
        assert_int_equal(cut.records, 100);
        assert_int_equal(off.records, 0);
        mrd__sim_result_reset(&off);
        mrd__sim_result_reset(&on);
        mrd__sim_result_reset(&cut);
        mrd__sim_spec_reset(&spec);
        seen_reset(&s);
    }
}

static bool find(const seen *s, int category, const char *component, double time, double value,
                 const char *detail)
{
    for (size_t i = 0; i < s->records.count; i++) {
        const mrd__event_record *r = &s->records.data[i];
        if (r->category == category && mrd__str_is(r->component, component) && r->time_ns == time &&
            r->value == value && strstr(r->detail.data, detail))
            return true;
    }
    return false;
}

/* One packet over a switch, every record by hand. */
static void test_by_hand(void **state)
{
    (void)state;
    seen s = {0};
    mrd__sim_spec spec =
        spec_of("{'primitive':'p2p','algorithm':'direct','topology':'star-2',"
                "'msg_size_bytes':1000,'cdma':{'recv_ahead':0},'link':{'ack_bytes':0}}");
    mrd__sim_result result = observe(&spec, &s, 0);
    /* The credit comes at 500; 20 ns a link. */
    assert_true(find(&s, MRD__EV_THREAD_BLOCKED, "cdma_chip0_unit0_t0", 0, 0, "\"tcredit\""));
    assert_true(find(&s, MRD__EV_THREAD_UNBLOCKED, "cdma_chip0_unit0_t0", 500, 1, "\"tcredit\""));
    assert_true(find(&s, MRD__EV_OSTD_CHANGE, "cdma_chip0_unit0", 500, 1, "{\"cmd\":4}"));
    assert_true(find(&s, MRD__EV_LINK_BUSY, "link_c0_sw0_req", 500, 20,
                     "\"src\":0,\"dst\":1,\"bytes\":1000}"));
    assert_true(find(&s, MRD__EV_LINK_IDLE, "link_c0_sw0_req", 520, 0,
                     "{\"packets\":1,\"bytes\":1000,\"busy_ns\":20}"));
    assert_true(find(&s, MRD__EV_THREAD_BLOCKED, "cdma_chip0_unit0_t0", 520, 0, "\"fence\""));
    assert_true(find(&s, MRD__EV_HOP_ARRIVE, "flow_0_1", 770, 270,
                     "\"hop\":1,\"link\":\"link_c0_sw0_req\",\"wait_ns\":0}"));
    assert_true(find(&s, MRD__EV_HOP_ARRIVE, "flow_0_1", 1040, 270, "\"hop\":2"));
    assert_true(find(&s, MRD__EV_LINK_BUSY, "link_c1_sw0_rsp", 1040, 0, "\"bytes\":0"));
    assert_true(find(&s, MRD__EV_OSTD_CHANGE, "cdma_chip0_unit0", 1540, 0, ""));
    assert_true(find(&s, MRD__EV_THREAD_UNBLOCKED, "cdma_chip0_unit0_t0", 1540, 1, "\"fence\""));
    NEAR(result.data_done_ns, 1040, 0);
    NEAR(result.total_latency_ns, 1540, 0);
    mrd__sim_result_reset(&result);
    mrd__sim_spec_reset(&spec);
    seen_reset(&s);
}

/* Categories are kept apart; back-to-back packets are one busy period. */
static void test_categories(void **state)
{
    (void)state;
    seen s = {0};
    mrd__sim_spec spec = spec_of("{'primitive':'p2p','algorithm':'direct','topology':'p2p',"
                                 "'msg_size_bytes':1048576,'link':{'ack_bytes':0,'credits':999},"
                                 "'cdma':{'max_outstanding':999},'trace':{'categories':['link']}}");
    mrd__sim_result result = observe(&spec, &s, 0);
    size_t req = 0;
    for (size_t i = 0; i < s.records.count; i++) {
        assert_true(s.records.data[i].category <= MRD__EV_LINK_IDLE);
        req += mrd__str_is(s.records.data[i].component, "link_c0_c1_req");
    }
    assert_int_equal(req, 2);
    assert_true(find(&s, MRD__EV_LINK_IDLE, "link_c0_c1_req", 20971.52, 0, "\"packets\":256"));
    mrd__sim_result_reset(&result);
    mrd__sim_spec_reset(&spec);
    seen_reset(&s);
}

/* Many records leave in batches while the run goes on; a failing writer ends it. */
static void test_batches(void **state)
{
    (void)state;
    seen s = {0};
    mrd__sim_spec spec = spec_of("{'primitive':'allreduce','algorithm':'ring','topology':'ring-32',"
                                 "'msg_size_bytes':1048576}");
    mrd__sim_result result = observe(&spec, &s, 0);
    assert_true(s.calls > 1);
    assert_int_equal(s.largest, MRD__SIM_BATCH);
    assert_true(result.records > 1000);
    mrd__sim_result_reset(&result);
    seen_reset(&s);
    s.fail_after = 2;
    mrd__sim_observer observer = {.ctx = &s, .records = take};
    mrd_error error = {0};
    assert_int_equal(mrd__sim_run(&spec, &observer, &result, &error), MRD_ERR_IO);
    assert_string_equal(error.code, "disk");
    assert_int_equal(result.per_chip.count, 0);
    mrd__sim_spec_reset(&spec);
    seen_reset(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),   cmocka_unit_test(test_changes_nothing),
        cmocka_unit_test(test_by_hand), cmocka_unit_test(test_categories),
        cmocka_unit_test(test_batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
