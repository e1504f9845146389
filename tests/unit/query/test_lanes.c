/* The lane tree of plain and of event traces. */
#include "query/store_kit.h"

#include <string.h>

#include "model/events.h"

static void expect_lanes(const mrd__store *store, const char *want)
{
    mrd__buf text = {0};
    mrd_sink sink = mrd__buf_sink(&text);
    mrd_error error = {0};
    assert_int_equal(mrd__query_lanes(store, &sink, &error), MRD_OK);
    kit_check_json(&text);
    assert_string_equal(text.data, want);
    mrd__buf_reset(&text);
}

static void test_no_tracks(void **state)
{
    (void)state;
    mrd__store *store = kit_store(0);
    kit_seal(store);
    expect_lanes(store, "{\"lanes\":[\n]}\n");
    kit_free(&store);
}

static void test_plain_tracks(void **state)
{
    (void)state;
    mrd__store *store = kit_store(0);
    uint32_t python = kit_process(store, 7, "python");
    store->processes[python].labels = kit_string(store, "GPU 0");
    store->processes[python].sort_index = -5;
    uint32_t bare = kit_process(store, 9, "");
    store->processes[bare].pid =
        (mrd__ident){.kind = MRD__IDENT_TEXT, .text = kit_string(store, "a\"b")};
    uint32_t thread = kit_thread(store, python, 8, "main");
    store->threads[thread].sort_index = 3;
    kit_track(store, MRD__TRACK_INSTANT, "", MRD__NONE, MRD__NONE);
    kit_instant(store, 4, "x");
    kit_track(store, MRD__TRACK_THREAD, "main", python, thread);
    kit_row(store, 0, 0);
    kit_slice(store, 0, 10, "a");
    kit_row(store, 1, 1);
    kit_slice(store, 0, 10, "b");
    kit_track(store, MRD__TRACK_INSTANT, "main", python, thread);
    store->tracks[2].parent = 1;
    kit_track(store, MRD__TRACK_COUNTER, "memory bytes", bare, MRD__NONE);
    kit_sample(store, 1, 2);
    kit_track(store, MRD__TRACK_ASYNC, "request", python, MRD__NONE);
    kit_track(store, MRD__TRACK_INSTANT, "marks", python, thread);
    store->tracks[5].parent = 4;
    kit_instant(store, 5, "y");
    kit_seal(store);
    expect_lanes(
        store,
        "{\"lanes\":[\n"
        "{\"id\":0,\"parent\":null,\"kind\":\"instant\",\"name\":\"Global "
        "instants\",\"group\":null,"
        "\"sort\":null,\"rows\":1,\"machine\":0,\"anomalous\":false,\"count\":1},\n"
        "{\"id\":null,\"parent\":null,\"kind\":\"group\",\"name\":\"python 7 (GPU 0)\","
        "\"group\":null,\"sort\":-5,\"rows\":0,\"machine\":0,\"anomalous\":false,\"count\":0,"
        "\"pid\":7},\n"
        "{\"id\":1,\"parent\":1,\"kind\":\"slices\",\"name\":\"main 8\",\"group\":null,"
        "\"sort\":3,\"rows\":2,\"machine\":0,\"anomalous\":false,\"count\":2,\"pid\":7,"
        "\"tid\":8},\n"
        "{\"id\":2,\"parent\":2,\"kind\":\"instant\",\"name\":\"main 8 instants\",\"group\":null,"
        "\"sort\":3,\"rows\":1,\"machine\":0,\"anomalous\":false,\"count\":0,\"pid\":7,"
        "\"tid\":8},\n"
        "{\"id\":null,\"parent\":null,\"kind\":\"group\",\"name\":\"Process a\\\"b\","
        "\"group\":null,\"sort\":0,\"rows\":0,\"machine\":0,\"anomalous\":false,\"count\":0,"
        "\"pid\":\"a\\\"b\"},\n"
        "{\"id\":3,\"parent\":4,\"kind\":\"counter\",\"name\":\"memory bytes\",\"group\":null,"
        "\"sort\":null,\"rows\":1,\"machine\":0,\"anomalous\":false,\"count\":1,"
        "\"pid\":\"a\\\"b\"},\n"
        "{\"id\":4,\"parent\":1,\"kind\":\"group\",\"name\":\"request\",\"group\":null,"
        "\"sort\":null,\"rows\":0,\"machine\":0,\"anomalous\":false,\"count\":0,\"pid\":7},\n"
        "{\"id\":5,\"parent\":6,\"kind\":\"instant\",\"name\":\"marks\",\"group\":null,"
        "\"sort\":3,\"rows\":1,\"machine\":0,\"anomalous\":false,\"count\":1,\"pid\":7,\"tid\":8}\n"
        "]}\n");
    kit_free(&store);
}

static void expect_name(const char *name, int64_t tid, const char *want)
{
    mrd__store *store = kit_store(0);
    mrd__buf text = {0};
    mrd_sink sink = mrd__buf_sink(&text);
    uint32_t process = kit_process(store, 1, "p");
    kit_track(store, MRD__TRACK_THREAD, name, process, kit_thread(store, process, tid, name));
    kit_row(store, 0, 0);
    kit_slice(store, 0, 10, "a");
    kit_seal(store);
    assert_int_equal(mrd__query_lanes(store, &sink, NULL), MRD_OK);
    if (strstr(text.data, want) == NULL) fail_msg("%s is not in %s", want, text.data);
    mrd__buf_reset(&text);
    kit_free(&store);
}

/* A name that ends with the id as a word of its own does not get it twice. */
static void test_ids_in_names(void **state)
{
    (void)state;
    expect_name("stream 7", 7, "\"name\":\"stream 7\"");
    expect_name("worker#7", 7, "\"name\":\"worker#7\"");
    expect_name("7", 7, "\"name\":\"7\"");
    expect_name("stream 17", 7, "\"name\":\"stream 17 7\"");
    expect_name("gpu7", 7, "\"name\":\"gpu7 7\"");
    expect_name("stream", 7, "\"name\":\"stream 7\"");
}

static uint32_t event_track(mrd__store *store, mrd__track_kind kind, const char *group,
                            uint32_t key)
{
    uint32_t id = kit_track(store, kind, "", MRD__NONE, MRD__NONE);
    store->tracks[id].group = kit_string(store, group);
    store->tracks[id].event_key = key;
    return id;
}

static void test_event_tracks(void **state)
{
    (void)state;
    mrd__store *store = kit_store(0);
    mrd__str components[] = {MRD__STR("link_a_b_req"), MRD__STR("cdma_chip0_unit1")};
    mrd__event_key keys[] = {
        {.component = 0,
         .form = MRD__FORM_INTERVAL,
         .category = MRD__CAT_LINK_BUSY,
         .count = 12,
         .anomaly_count = 2,
         .anomaly_first_ns = 1.5},
        {.component = 1, .form = MRD__FORM_COUNTER, .category = MRD__CAT_OSTD_CHANGE, .count = 3},
    };
    mrd__events events = {.keys = keys, .key_count = 2, .components = components};
    events.category_names[MRD__CAT_LINK_BUSY] = "link_busy";
    events.category_names[MRD__CAT_OSTD_CHANGE] = "ostd_change";
    store->events = &events;
    event_track(store, MRD__TRACK_INTERVAL, "link", 0);
    event_track(store, MRD__TRACK_COUNTER, "cdma", 1);
    kit_seal(store);
    expect_lanes(
        store,
        "{\"lanes\":[\n"
        "{\"id\":null,\"parent\":null,\"kind\":\"group\",\"name\":\"link\",\"group\":\"link\","
        "\"sort\":null,\"rows\":0,\"machine\":0,\"anomalous\":false,\"count\":0},\n"
        "{\"id\":0,\"parent\":0,\"kind\":\"interval\",\"name\":\"link_a_b_req\","
        "\"group\":\"link\",\"sort\":null,\"rows\":1,\"machine\":0,\"anomalous\":true,"
        "\"count\":12,\"component\":\"link_a_b_req\",\"category\":\"link_busy\","
        "\"anomalies\":{\"count\":2,\"first_ns\":1.5}},\n"
        "{\"id\":null,\"parent\":null,\"kind\":\"group\",\"name\":\"cdma\",\"group\":\"cdma\","
        "\"sort\":null,\"rows\":0,\"machine\":0,\"anomalous\":false,\"count\":0},\n"
        "{\"id\":1,\"parent\":2,\"kind\":\"counter\",\"name\":\"cdma_chip0_unit1\","
        "\"group\":\"cdma\",\"sort\":null,\"rows\":1,\"machine\":0,\"anomalous\":false,"
        "\"count\":3,\"component\":\"cdma_chip0_unit1\",\"category\":\"ostd_change\"}\n"
        "]}\n");
    store->events = NULL;
    kit_free(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_tracks),
        cmocka_unit_test(test_plain_tracks),
        cmocka_unit_test(test_ids_in_names),
        cmocka_unit_test(test_event_tracks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
