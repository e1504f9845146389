/* Sweeps: which runs, in which order; specs that read back as they were; why a chip is slow. */
#include "events/command_file.h"
#include "events/event_file.h"
#include "kit.h"

#include <stdio.h>
#include <string.h>

static void expand(const char *text, mrd__sim_sweep *sweep)
{
    mrd_error error = {0};
    if (mrd__sim_sweep_expand(sweep, text, strlen(text), &error) != MRD_OK)
        fail_msg("%s", error.message);
}

/* "topology size" of each run, separated by semicolons. */
static void expect_runs(const char *text, const char *want)
{
    mrd__sim_sweep sweep;
    mrd__buf seen = {0};
    expand(text, &sweep);
    for (size_t i = 0; i < sweep.specs.count; i++) {
        mrd__sim_spec spec;
        const char *one = sweep.specs.data[i];
        assert_int_equal(mrd__sim_spec_parse(&spec, one, strlen(one), NULL), MRD_OK);
        mrd__buf_printf(&seen, "%s%s %lld %zu %g %x", i ? ";" : "", spec.topology,
                        (long long)spec.msg_size_bytes, spec.disturb.count, spec.latency_ns,
                        spec.trace_categories);
        mrd__buf again = {0};
        mrd__sim_spec_json(&spec, &again);
        assert_string_equal(again.data, one);
        mrd__buf_reset(&again);
        mrd__sim_spec_reset(&spec);
    }
    assert_string_equal(seen.data, want);
    mrd__buf_reset(&seen);
    mrd__sim_sweep_reset(&sweep);
}

static void test_product(void **state)
{
    (void)state;
    expect_runs("{\"primitive\":\"allreduce\",\"algorithm\":\"ring\",\"topology\":\"Ring-4\","
                "\"msg_size_bytes\":8}",
                "ring-4 8 0 250 3f");
    expect_runs("{\"primitive\":\"allreduce\",\"algorithm\":\"ring\",\"topology\":[\"ring-4\","
                "\"star-3\"],\"msg_size_bytes\":[8,16]}",
                "ring-4 8 0 250 3f;ring-4 16 0 250 3f;star-3 8 0 250 3f;star-3 16 0 250 3f");
    expect_runs(
        "{\"link\":{\"latency_ns\":[1,2.5]},\"primitive\":\"allreduce\",\"algorithm\":"
        "\"ring\",\"topology\":\"ring-4\",\"msg_size_bytes\":8,\"disturb\":[[],[{\"chip\":1,"
        "\"slow\":2}]]}",
        "ring-4 8 0 1 3f;ring-4 8 1 1 3f;ring-4 8 0 2.5 3f;ring-4 8 1 2.5 3f");
    /* Lists by nature are one value; a graph's lists are its own. */
    expect_runs("{\"primitive\":\"p2p\",\"algorithm\":\"direct\",\"topology\":{\"name\":\"g\","
                "\"nodes\":[\"c0\",\"c1\"],\"links\":[{\"from\":\"c0\",\"to\":\"c1\"}]},"
                "\"msg_size_bytes\":8,\"disturb\":[{\"link\":[\"c0\",\"c1\"],\"error_rate\":0}],"
                "\"trace\":{\"categories\":[\"hop\"]}}",
                "g 8 1 250 20");
}

static void refuse(const char *text, const char *code, const char *names)
{
    mrd__sim_sweep sweep;
    mrd_error error = {0};
    assert_int_not_equal(mrd__sim_sweep_expand(&sweep, text, strlen(text), &error), MRD_OK);
    assert_string_equal(error.code, code);
    if (!strstr(error.message, names)) fail_msg("%s", error.message);
    assert_int_equal(sweep.specs.count, 0);
}

static void test_refusals(void **state)
{
    (void)state;
#define HEAD "{\"primitive\":\"allreduce\",\"algorithm\":\"ring\",\"topology\":\"ring-4\","
    refuse(HEAD "\"msg_size_bytes\":[]}", "bad_spec", "msg_size_bytes");
    refuse(HEAD "\"msg_size_bytes\":[8,[16]]}", "bad_spec", "msg_size_bytes");
    refuse(HEAD "\"msg_size_bytes\":[8,-1]}", "bad_spec", "msg_size_bytes");
    refuse(HEAD "\"msg_size_bytes\":8,\"colour\":[1,2]}", "bad_spec", "colour");
    refuse("[]", "bad_spec", "object");
    mrd__buf many = {0};
    mrd__buf_text(&many, HEAD "\"seed\":[0");
    for (int i = 1; i < 400; i++)
        mrd__buf_printf(&many, ",%d", i);
    mrd__buf_text(&many, "],\"msg_size_bytes\":[0");
    for (int i = 1; i < 400; i++)
        mrd__buf_printf(&many, ",%d", i);
    mrd__buf_text(&many, "]}");
    refuse(many.data, "sweep_size", "100000");
    mrd__buf_reset(&many);
}

/* One chip sends all on a link of a tenth: it is the straggler, and the reason names the link. */
static void test_straggler(void **state)
{
    (void)state;
    mrd__sim_spec spec =
        spec_of("{'primitive':'allgather','algorithm':'direct','topology':'full-8',"
                "'msg_size_bytes':8388608,'disturb':[{'link':['c3','c5'],"
                "'bandwidth_factor':0.1}]}");
    mrd__sim_result r = run(&spec);
    assert_true(r.straggler_ratio > 1.1);
    assert_non_null(strstr(r.straggler_reason, "is busy on its link link_c3_c5_req for"));
    size_t marked = 0;
    for (size_t i = 0; i < r.per_chip.count; i++)
        marked += r.per_chip.data[i].is_straggler;
    assert_true(marked == 1 || marked == 2); /* both ends of the link */
    assert_true(r.straggler_chip == 3 || r.straggler_chip == 5);
    mrd__sim_result_reset(&r);
    mrd__sim_spec_reset(&spec);

    spec = spec_of("{'primitive':'allgather','algorithm':'direct','topology':'full-4',"
                   "'msg_size_bytes':4096}");
    r = run(&spec);
    assert_string_equal(r.straggler_reason, "");
    assert_true(r.straggler_ratio == 1);
    mrd__sim_result_reset(&r);
    mrd__sim_spec_reset(&spec);
}

/* ---- Commands ---- */

typedef struct seen {
    size_t sends, receives, reductions, fences, copies;
    int64_t bytes, last_send;
    double blocked_ns;
} seen;

static mrd_status on_records(void *ctx, const mrd__event_record *records, size_t count,
                             mrd_error *error)
{
    (void)ctx, (void)records, (void)count, (void)error;
    return MRD_OK;
}

static mrd_status on_commands(void *ctx, const mrd__command_record *commands, size_t count,
                              mrd_error *error)
{
    seen *s = ctx;
    (void)error;
    for (size_t i = 0; i < count; i++) {
        const mrd__command_record *c = &commands[i];
        assert_true(c->start_ns <= c->end_ns);
        s->sends += strcmp(c->op, "send") == 0;
        s->receives += strcmp(c->op, "recv") == 0;
        s->reductions += strcmp(c->op, "reduce") == 0;
        s->fences += strcmp(c->op, "fence") == 0;
        s->copies += strcmp(c->op, "copy") == 0;
        if (strcmp(c->op, "send") == 0) s->bytes += c->bytes;
        if (strcmp(c->op, "fence") == 0) s->blocked_ns += c->end_ns - c->start_ns;
        if (strcmp(c->op, "reduce") == 0) assert_true(c->engine == MRD__ENGINE_TIU);
    }
    return MRD_OK;
}

static void test_commands(void **state)
{
    (void)state;
    seen s = {0};
    mrd__sim_result r;
    mrd__sim_observer observer = {.ctx = &s, .records = on_records, .commands = on_commands};
    mrd__sim_spec spec = spec_of("{'primitive':'allreduce','algorithm':'ring','topology':'ring-8',"
                                 "'msg_size_bytes':65536,'compute':{'reduce_gb_per_s':100},"
                                 "'trace':{'enabled':true}}");
    assert_int_equal(mrd__sim_run(&spec, &observer, &r, NULL), MRD_OK);
    assert_int_equal(s.sends, 8 * 14);
    assert_int_equal(s.receives, 8 * 14);
    assert_int_equal(s.reductions, 8 * 7);
    assert_int_equal(s.bytes, r.total_comm_bytes);
    /* All waiting of this run is in fences: the rows and cdma_blocked_ns say the same. */
    double blocked = 0;
    for (size_t i = 0; i < r.per_chip.count; i++)
        blocked += r.per_chip.data[i].cdma_blocked_ns;
    assert_true(s.fences > 0);
    assert_float_equal(s.blocked_ns, blocked, 1e-6);
    mrd__sim_result_reset(&r);
    mrd__sim_spec_reset(&spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_product),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_straggler),
        cmocka_unit_test(test_commands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
