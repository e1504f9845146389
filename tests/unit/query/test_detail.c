/* Details of one slice, and args made strict. */
#include "query/store_kit.h"

#include <string.h>

#include "model/events.h"
#include "query/args_json.h"

/* ---- Args ---- */

static void expect_args(const char *text, const char *want)
{
    mrd__buf out = {0};
    mrd__args_json(&out, mrd__str_of(text));
    kit_check_json(&out);
    assert_string_equal(out.data, want);
    mrd__buf_reset(&out);
}

static void test_args(void **state)
{
    (void)state;
    expect_args("{}", "{}");
    expect_args(" { \"a\" : [ 1 , 2.50 , { } , [ ] ] , \"b\" : null } ",
                "{\"a\":[1,2.50,{},[]],\"b\":null}");
    expect_args("{\"a\":NaN,\"b\":-Infinity,\"c\":inf,\"d\":-nan}",
                "{\"a\":\"nan\",\"b\":\"-inf\",\"c\":\"inf\",\"d\":\"nan\"}");
    expect_args("{\"a\":\"x\ty\\u0041\\ud800\"}", "{\"a\":\"x\\tyA\xef\xbf\xbd\"}");
    expect_args("{\"n\":123456789012345678901234567890}", "{\"n\":123456789012345678901234567890}");
    expect_args("{\"a\":tru", "\"{\\\"a\\\":tru\"");
    expect_args("", "\"\"");
}

static void test_args_of_one_name(void **state)
{
    (void)state;
    expect_args("{\"a\":1,\"a\":2}", "{\"a\":2}");
    expect_args("{\"a\":1,\"b\":3,\"a\":2}", "{\"b\":3,\"a\":2}");
    expect_args("{\"a\":{\"x\":1,\"x\":2},\"\\u0061\":[{\"y\":1,\"y\":2,\"y\":3}]}",
                "{\"a\":[{\"y\":3}]}");
    expect_args("{\"a\":1,\"b\":{\"a\":2},\"c\":[{\"a\":3},{\"a\":4}]}",
                "{\"a\":1,\"b\":{\"a\":2},\"c\":[{\"a\":3},{\"a\":4}]}");
    expect_args("{\"o\":{\"p\":{\"q\":1,\"q\":2},\"p\":5},\"z\":[1]}",
                "{\"o\":{\"p\":5},\"z\":[1]}");
}

static void test_deep_args(void **state)
{
    (void)state;
    mrd__buf text = {0};
    for (int i = 0; i < 250; i++)
        mrd__buf_text(&text, "{\"a\":1,\"a\":[");
    for (int i = 0; i < 250; i++)
        mrd__buf_text(&text, "]}");
    mrd__buf out = {0};
    mrd__args_json(&out, (mrd__str){text.data, text.size});
    kit_check_json(&out);
    assert_int_equal(out.size, 250 * strlen("{\"a\":[]}"));
    mrd__buf_reset(&out);
    mrd__buf_reset(&text);
}

/* ---- Slices ---- */

/* outer 0..100 holds 10..30 and 30..40; next 100..150 holds 100..100 and 120..150. */
static mrd__store *nested_store(void)
{
    mrd__store *store = kit_store(5000);
    uint32_t process = kit_process(store, 7, "python");
    uint32_t thread = kit_thread(store, process, 8, "main");
    kit_track(store, MRD__TRACK_THREAD, "main", process, thread);
    kit_row(store, 0, 0);
    uint32_t outer = kit_slice(store, 0, 100, "outer");
    uint32_t next = kit_slice(store, 100, 150, "next");
    kit_row(store, 1, 1);
    uint32_t a = kit_slice(store, 10, 30, "a");
    uint32_t b = kit_slice(store, 30, 40, "b");
    uint32_t late = kit_slice(store, 100, 100, "late");
    uint32_t c = kit_slice(store, 120, 150, "c");
    store->slices.parent[a] = store->slices.parent[b] = store->slices.parent[late] = outer;
    store->slices.parent[c] = next;
    store->slices.args[outer] = kit_args(store, "{\"k\": NaN, \"k\": 1}");
    store->slices.flags[c] = MRD__SLICE_UNCLOSED | MRD__SLICE_OVERLAP;
    kit_track(store, MRD__TRACK_INSTANT, "marks", process, MRD__NONE);
    store->tracks[1].scope = MRD__SCOPE_PROCESS;
    store->instants.args[kit_instant(store, 7, "tick")] = kit_args(store, "{\"v\":2}");
    kit_track(store, MRD__TRACK_COUNTER, "c", process, MRD__NONE);
    kit_sample(store, 1, 1);
    kit_flow(store, a, c, "go");
    kit_flow(store, outer, c, "run");
    kit_flow(store, a, b, "go");
    kit_seal(store);
    return store;
}

/* The detail of a slice that is there, valid JSON. */
static mrd__buf detail_of(const mrd__store *store, uint32_t track, uint64_t id)
{
    mrd__buf text = {0};
    mrd_sink sink = mrd__buf_sink(&text);
    mrd_error error = {0};
    if (mrd__query_detail(store, track, id, &sink, &error) != MRD_OK) fail_msg("%s", error.message);
    kit_check_json(&text);
    return text;
}

static void expect_detail(const mrd__store *store, uint32_t track, uint64_t id, const char *want)
{
    mrd__buf text = detail_of(store, track, id);
    assert_string_equal(text.data, want);
    mrd__buf_reset(&text);
}

static void test_slice(void **state)
{
    (void)state;
    mrd__store *store = nested_store();
    expect_detail(store, 0, 0,
                  "{\"id\":0,\"track\":0,\"name\":\"outer\",\"category\":\"cat\","
                  "\"ts_ns\":\"5000\",\"start_ns\":0,\"dur_ns\":\"100\",\"depth\":0,\"row\":0,"
                  "\"parent\":null,\"flags\":[],\"pid\":7,\"tid\":8,\"process\":\"python\","
                  "\"thread\":\"main\",\"args\":{\"k\":1},\"flows\":[{\"direction\":\"out\","
                  "\"category\":\"flow\",\"name\":\"run\",\"id\":\"0x1\",\"slice\":5,\"track\":0,"
                  "\"row\":1,\"slice_name\":\"c\",\"process\":\"python\",\"thread\":\"main\","
                  "\"ts_ns\":\"5120\",\"start_ns\":120,\"end_ns\":150}],\"flow_count\":1,"
                  "\"self_ns\":70}\n");
    kit_free(&store);
}

static void expect_holds(const mrd__store *store, uint32_t track, uint64_t id, const char *word)
{
    mrd__buf text = detail_of(store, track, id);
    if (!kit_holds(&text, word)) fail_msg("no %s in %s", word, text.data);
    mrd__buf_reset(&text);
}

static void test_slice_parts(void **state)
{
    (void)state;
    mrd__store *store = nested_store();
    /* The zero-length slice at 100 belongs to outer and hides nothing of next. */
    expect_holds(store, 0, 1, "\"self_ns\":20}");
    expect_holds(store, 0, 5, "\"dur_ns\":\"-1\"");
    expect_holds(store, 0, 5, "\"flags\":[\"unclosed\",\"overlap\"]");
    expect_holds(store, 0, 5, "\"parent\":1");
    expect_holds(store, 0, 5, "\"self_ns\":null");
    expect_holds(store, 0, 5, "\"args\":{}");
    expect_holds(store, 0, 5, "\"flow_count\":2");
    expect_holds(store, 0, 5, "{\"direction\":\"in\",\"category\":\"flow\",\"name\":\"go\"");
    expect_holds(store, 0, 5, "\"slice_name\":\"outer\"");
    expect_holds(store, 0, 2, "\"flow_count\":2");
    expect_holds(store, 0, 4, "\"dur_ns\":\"0\"");
    kit_free(&store);
}

static void test_instant(void **state)
{
    (void)state;
    mrd__store *store = nested_store();
    expect_detail(store, 1, 0,
                  "{\"id\":0,\"track\":1,\"name\":\"tick\",\"category\":\"\",\"ts_ns\":\"5007\","
                  "\"start_ns\":7,\"dur_ns\":\"0\",\"depth\":0,\"row\":0,\"parent\":null,"
                  "\"flags\":[],\"pid\":7,\"tid\":null,\"process\":\"python\",\"thread\":null,"
                  "\"scope\":\"process\",\"args\":{\"v\":2},\"flows\":[],\"flow_count\":0,"
                  "\"self_ns\":0}\n");
    kit_free(&store);
}

static void expect_missing(const mrd__store *store, uint32_t track, uint64_t id, const char *code)
{
    mrd__buf text = {0};
    mrd_sink sink = mrd__buf_sink(&text);
    mrd_error error = {0};
    assert_int_equal(mrd__query_detail(store, track, id, &sink, &error), MRD_ERR_NOT_FOUND);
    assert_string_equal(error.code, code);
    assert_int_equal(text.size, 0);
}

static void test_missing(void **state)
{
    (void)state;
    mrd__store *store = nested_store();
    expect_missing(store, 3, 0, "no_such_track");
    expect_missing(store, UINT32_MAX, 0, "no_such_track");
    expect_missing(store, 0, 6, "no_such_slice");
    expect_missing(store, 0, UINT64_MAX, "no_such_slice");
    expect_missing(store, 1, 1, "no_such_slice");
    expect_missing(store, 2, 0, "no_such_slice");
    kit_free(&store);
}

static void test_event_interval(void **state)
{
    (void)state;
    mrd__store *store = kit_store(0);
    mrd__str components[] = {MRD__STR("link_a_b_req")};
    mrd__event_key keys[] = {
        {.form = MRD__FORM_INTERVAL, .category = MRD__CAT_LINK_BUSY, .count = 3},
        {.form = MRD__FORM_COUNTER, .category = MRD__CAT_OSTD_CHANGE, .count = 1},
    };
    double start[] = {1.5, 8};
    double end[] = {2.25, 9.5};
    uint64_t first[] = {0, 2};
    uint8_t unclosed[] = {1};
    mrd__events events = {
        .keys = keys,
        .key_count = 2,
        .components = components,
        .interval_unclosed = unclosed,
        .intervals = {.start = start, .end = end, .count = 2, .row_count = 1, .first = first}};
    events.category_names[MRD__CAT_LINK_BUSY] = "link_busy";
    store->events = &events;
    for (uint32_t key = 0; key < 2; key++) {
        kit_track(store, key == 0 ? MRD__TRACK_INTERVAL : MRD__TRACK_COUNTER, "", MRD__NONE,
                  MRD__NONE);
        store->tracks[key].event_key = key;
    }
    kit_seal(store);
    expect_holds(store, 0, 0, "\"start_ns\":1.5,\"dur_ns\":\"0\",\"end_ns\":2.25");
    expect_holds(store, 0, 0, "\"component\":\"link_a_b_req\"");
    expect_holds(store, 0, 0, "\"self_ns\":0.75");
    expect_holds(store, 0, 1, "\"dur_ns\":\"-1\"");
    expect_holds(store, 0, 1, "\"flags\":[\"unclosed\"]");
    expect_missing(store, 0, 2, "no_such_slice");
    expect_missing(store, 1, 0, "no_such_slice");
    store->events = NULL;
    kit_free(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_args),        cmocka_unit_test(test_args_of_one_name),
        cmocka_unit_test(test_deep_args),   cmocka_unit_test(test_slice),
        cmocka_unit_test(test_slice_parts), cmocka_unit_test(test_instant),
        cmocka_unit_test(test_missing),     cmocka_unit_test(test_event_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
