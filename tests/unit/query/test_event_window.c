/* The event window: goldens of tests/golden/event-window, the windows of tests/golden/pairing as a
 * page pairs them, limits, CSV, and what an answer weighs. */
#include "event_kit/ask.h"
#include "event_kit/machine.h"
#include "pairing/event_pairs.h"

#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define GOLDEN MRD_SOURCE_DIR "/tests/golden/"

static char now[512]; /* the case at work, for a failure's message */

static mrd__events *paired(const kit_rows *rows)
{
    mrd__events *events = kit_events(rows);
    mrd__events_pair(events, 2);
    return events;
}

/* ---- Goldens ---- */

static void check_same(const tree *got, const tree *want, const char *place)
{
    if (!got) fail_msg("%s: %s is missing", now, place);
    if (got->type != want->type) fail_msg("%s: %s has another type", now, place);
    if (want->type == MRD__JSON_STRING) {
        if (!mrd__str_equal(got->text, want->text))
            fail_msg("%s: %s is %s, not %s", now, place, got->text.data, want->text.data);
    } else if (want->type == MRD__JSON_NUMBER) {
        double difference = fabs(tree_number(got) - tree_number(want));
        bool ratio = strstr(place, "busy_ratio") != NULL;
        if (difference > (ratio ? 1e-9 : 0))
            fail_msg("%s: %s is %.*s, not %.*s", now, place, (int)got->text.size, got->text.data,
                     (int)want->text.size, want->text.data);
    }
    const tree *part = got->child;
    size_t index = 0;
    for (const tree *child = want->child; child; child = child->next, index++) {
        char inner[300];
        snprintf(inner, sizeof inner, "%.200s/%zu%.60s", place, index,
                 child->key.data ? child->key.data : "");
        if (part && child->key.data && !mrd__str_equal(part->key, child->key))
            fail_msg("%s: %s has the key %s", now, inner, part->key.data);
        check_same(part, child, inner);
        part = part->next;
    }
    if (part) fail_msg("%s: %s has more parts", now, place);
}

static void check_window(const tree *document)
{
    kit_rows rows = kit_rows_of(document);
    mrd__events *events = paired(&rows);
    ask_answer answer = ask(events, tree_get(document, "query")->text.data);
    const tree *code = tree_get(document, "error");
    if (code) {
        assert_int_equal(answer.status, MRD_ERR_ARGUMENT);
        if (!mrd__str_is(code->text, answer.error.code))
            fail_msg("%s: code %s: %s", now, answer.error.code, answer.error.message);
        assert_int_equal(answer.text.size, 0);
    } else {
        if (answer.status != MRD_OK) fail_msg("%s: %s", now, answer.error.message);
        check_same(answer.root, tree_get(document, "expect"), "answer");
    }
    ask_reset(&answer);
    mrd__events_destroy(&events);
    mrd__free(rows.data);
}

static size_t for_each_golden(const char *folder_name, void (*check)(const tree *document))
{
    char folder_path[512];
    snprintf(folder_path, sizeof folder_path, "%s%s", GOLDEN, folder_name);
    DIR *folder = opendir(folder_path);
    assert_non_null(folder);
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (!strstr(entry->d_name, ".json")) continue;
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", folder_path, entry->d_name);
        snprintf(now, sizeof now, "%s", entry->d_name);
        mrd__arena arena = {0};
        tree *document = tree_file(&arena, path);
        if (!document) fail_msg("%s is not JSON", path);
        check(document);
        mrd__arena_reset(&arena);
        count++;
    }
    closedir(folder);
    return count;
}

static void window_goldens(void **state)
{
    (void)state;
    assert_true(for_each_golden("event-window", check_window) >= 55);
}

/* ---- Pairing of a window, as the page does it: from S and the raw rows ---- */

static kit_rows rows_of_answer(const tree *answer)
{
    const tree *list = tree_get(answer, "rows");
    kit_rows rows = {.count = tree_count(list)};
    rows.data = mrd__new_array(kit_row, rows.count + 1);
    kit_row *row = rows.data;
    for (const tree *from = list->child; from; from = from->next, row++) {
        row->time = tree_number(tree_get(from, "time_ns"));
        row->category = kit_category(tree_get(from, "category")->text);
        snprintf(row->component, sizeof row->component, "%s",
                 tree_get(from, "component")->text.data);
    }
    return rows;
}

static machine pair_window(const tree *answer, const kit_rows *rows, kit_key key, double start,
                           double end)
{
    machine m = {.intervals = mrd__new_array(machine_interval, rows->count + 2)};
    double sim_end = tree_number(tree_get(tree_get(answer, "bounds"), "end_ns"));
    const tree *open = tree_get(tree_get(answer, "snapshot"), "open_intervals")->child;
    bool from_before = false;
    for (; open; open = open->next) {
        if (!mrd__str_is(tree_get(open, "component")->text, key.component)) continue;
        if (!mrd__str_is(tree_get(open, "category")->text, kit_categories[key.category])) continue;
        m.open = from_before = true;
        m.since = start;
    }
    for (size_t i = 0; i < rows->count; i++) {
        if (!machine_takes(&rows->data[i], key)) continue;
        size_t before = m.count;
        machine_step(&m, &rows->data[i]);
        if (m.count == before) continue;
        m.intervals[before].left_truncated = from_before;
        from_before = false;
    }
    if (m.open) {
        bool unclosed = end >= sim_end;
        m.intervals[m.count++] =
            (machine_interval){m.since, unclosed ? sim_end : end, unclosed, from_before, !unclosed};
    }
    return m;
}

static bool flag(const tree *node, const char *name)
{
    return tree_get(node, name)->type == MRD__JSON_TRUE;
}

static const tree *check_intervals(const machine *m, kit_key key, const tree *want)
{
    for (size_t i = 0; i < m->count; i++, want = want->next) {
        if (!want) fail_msg("%s: more intervals than wanted", now);
        assert_string_equal(tree_get(want, "component")->text.data, key.component);
        assert_string_equal(tree_get(want, "category")->text.data, kit_categories[key.category]);
        if (m->intervals[i].start != tree_number(tree_get(want, "start_ns")) ||
            m->intervals[i].end != tree_number(tree_get(want, "end_ns")) ||
            m->intervals[i].unclosed != flag(want, "unclosed") ||
            m->intervals[i].left_truncated != flag(want, "left_truncated") ||
            m->intervals[i].right_truncated != flag(want, "right_truncated"))
            fail_msg("%s: interval %zu of %s differs", now, i, key.component);
    }
    return want;
}

static size_t pairing_windows;

static void check_pairing(const tree *document)
{
    const tree *window = tree_get(document, "window");
    if (!window) return;
    pairing_windows++;
    kit_rows rows = kit_rows_of(document);
    mrd__events *events = paired(&rows);
    double start = tree_number(tree_get(window, "start_ns"));
    double end = tree_number(tree_get(window, "end_ns"));
    char query[128];
    snprintf(query, sizeof query, "start_ns=%.17g&end_ns=%.17g", start, end);
    ask_answer answer = ask(events, query);
    if (answer.status != MRD_OK) fail_msg("%s: %s", now, answer.error.message);
    kit_rows inside = rows_of_answer(answer.root);
    kit_key keys[64];
    size_t key_count = kit_keys(&rows, keys, 64);
    const tree *want = tree_get(tree_get(document, "expect"), "intervals")->child;
    for (size_t k = 0; k < key_count; k++) {
        if (!kit_is_interval(keys[k].category)) continue;
        machine m = pair_window(answer.root, &inside, keys[k], start, end);
        want = check_intervals(&m, keys[k], want);
        mrd__free(m.intervals);
    }
    if (want) fail_msg("%s: an interval is missing", now);
    check_same(tree_get(answer.root, "anomalies"),
               tree_get(tree_get(document, "expect"), "anomalies"), "anomalies");
    mrd__free(inside.data);
    ask_reset(&answer);
    mrd__events_destroy(&events);
    mrd__free(rows.data);
}

static void pairing_goldens(void **state)
{
    (void)state;
    pairing_windows = 0;
    for_each_golden("pairing", check_pairing);
    assert_true(pairing_windows >= 16);
}

/* ---- Made traces ---- */

static kit_rows rows_init(size_t count)
{
    return (kit_rows){.data = mrd__new_array(kit_row, count + 1), .count = count};
}

static void set_row(kit_rows *rows, size_t at, double time, int category, const char *component,
                    double value)
{
    kit_row *row = &rows->data[at];
    *row = (kit_row){.time = time, .category = category, .value = value, .order = at};
    snprintf(row->component, sizeof row->component, "%s", component);
}

/* Links 0 to 3 busy and idle in turn without a pause, closers right before the next opener. */
static kit_rows saturated(size_t pairs, double span)
{
    kit_rows rows = rows_init(pairs * 8);
    for (size_t i = 0; i < pairs; i++) {
        for (size_t link = 0; link < 4; link++) {
            char name[32];
            snprintf(name, sizeof name, "link_%zu_9_req", link);
            double time = span * (double)i / (double)pairs;
            set_row(&rows, i * 8 + link, time, MRD__CAT_LINK_BUSY, name, 0);
            set_row(&rows, i * 8 + 4 + link, time + span * 0.75 / (double)pairs, MRD__CAT_LINK_IDLE,
                    name, 0);
        }
    }
    rows.has_sim_end = true;
    rows.sim_end = span;
    return rows;
}

static void too_many_rows(void **state)
{
    (void)state;
    kit_rows rows = saturated(12501, 1e6);
    mrd__events *events = paired(&rows);
    ask_answer answer = ask(events, "");
    assert_int_equal(answer.status, MRD_ERR_ARGUMENT);
    assert_string_equal(answer.error.code, "too_many_rows");
    assert_true(answer.error.rows == 100008);
    assert_true(answer.error.limit == 100000);
    assert_non_null(strstr(answer.error.message, "2048"));
    ask_reset(&answer);
    answer = ask(events, "categories=link_idle"); /* half of them */
    assert_int_equal(answer.status, MRD_OK);
    assert_int_equal(tree_count(tree_get(answer.root, "rows")), 50004);
    ask_reset(&answer);
    char query[80];
    snprintf(query, sizeof query, "start_ns=%.17g", rows.data[8].time);
    answer = ask(events, query); /* 100,000 exactly */
    assert_int_equal(answer.status, MRD_OK);
    assert_int_equal(tree_count(tree_get(answer.root, "rows")), 100000);
    ask_reset(&answer);
    mrd__events_destroy(&events);
    mrd__free(rows.data);
}

/* The same saturated tracks with ten times the events: as many rows, as many bytes. */
static void answer_depends_on_rows_alone(void **state)
{
    (void)state;
    size_t bytes[2] = {0}, counts[2] = {0};
    for (int i = 0; i < 2; i++) {
        kit_rows rows = saturated(i ? 10000 : 1000, 1e6);
        mrd__events *events = paired(&rows);
        ask_answer arrow = ask_format(events, "buckets=256&end_ns=1e6", MRD_FORMAT_ARROW);
        ask_answer json = ask(events, "buckets=256&end_ns=1e6");
        assert_int_equal(arrow.status, MRD_OK);
        bytes[i] = arrow.text.size;
        counts[i] = tree_count(tree_get(json.root, "rows"));
        ask_reset(&arrow);
        ask_reset(&json);
        mrd__events_destroy(&events);
        mrd__free(rows.data);
    }
    assert_int_equal(counts[0], 4 * 256);
    assert_int_equal(counts[1], counts[0]);
    assert_true(fabs((double)bytes[1] - (double)bytes[0]) <= 0.01 * (double)bytes[0]);
}

/* A bucket over many blocks, covered at both ends, with one short gap in a block between. */
static void gap_between_blocks(void **state)
{
    (void)state;
    size_t pairs = 200;
    kit_rows rows = rows_init(pairs * 2);
    for (size_t i = 0; i < pairs; i++) { /* each closes as the next opens */
        double end = (double)i + 1 - (i == 100 ? 1e-6 : 0);
        set_row(&rows, i * 2, (double)i, MRD__CAT_LINK_BUSY, "link_0_1_req", 0);
        set_row(&rows, i * 2 + 1, end, MRD__CAT_LINK_IDLE, "link_0_1_req", 0);
    }
    mrd__events *events = paired(&rows);
    ask_answer answer = ask(events, "buckets=2&start_ns=0&end_ns=400");
    const tree *cells = tree_get(answer.root, "rows")->child;
    double ratio = tree_number(tree_get(cells, "busy_ratio"));
    assert_true(ratio < 1 && fabs(ratio - (200 - 1e-6) / 200) < 1e-12);
    ask_reset(&answer);
    answer = ask(events, "buckets=4&start_ns=0&end_ns=400");
    cells = tree_get(answer.root, "rows")->child;
    assert_true(tree_number(tree_get(cells, "busy_ratio")) == 1);
    assert_true(tree_number(tree_get(cells->next, "busy_ratio")) < 1);
    ask_reset(&answer);
    mrd__events_destroy(&events);
    mrd__free(rows.data);
}

/* A nanosecond of a trace that lasts a year. */
static void deep_zoom(void **state)
{
    (void)state;
    kit_rows rows = rows_init(5000);
    double year = 3.15e16, at = 0;
    for (size_t i = 0; i < rows.count; i += 2) {
        set_row(&rows, i, at, MRD__CAT_LINK_BUSY, "link_0_1_req", 0);
        at += year / 5000 * 1.37;
        set_row(&rows, i + 1, at, MRD__CAT_LINK_IDLE, "link_0_1_req", 0);
        at += year / 5000 * 0.63;
    }
    mrd__events *events = paired(&rows);
    double close = rows.data[3001].time;
    char query[120];
    snprintf(query, sizeof query, "start_ns=%.17g&end_ns=%.17g&buckets=1", close - 8, close + 24);
    ask_answer answer = ask(events, query);
    const tree *cell = tree_get(answer.root, "rows")->child;
    assert_true(tree_number(tree_get(cell, "busy_ratio")) == 0.25);
    ask_reset(&answer);
    mrd__events_destroy(&events);
    mrd__free(rows.data);
}

static void csv(void **state)
{
    (void)state;
    kit_rows rows = rows_init(3);
    set_row(&rows, 0, 0.5, MRD__CAT_OSTD_CHANGE, "a,\"b\"", 2);
    set_row(&rows, 1, 1, MRD__CAT_LINK_BUSY, "link_0_1_req", 0.1);
    set_row(&rows, 2, 3, MRD__CAT_LINK_IDLE, "link_0_1_req", 0);
    rows.data[0].detail = "{\"x\": 1}";
    rows.data[2].detail = "";
    mrd__events *events = paired(&rows);
    ask_answer answer = ask_format(events, "", MRD_FORMAT_CSV);
    assert_string_equal(answer.text.data, "time_ns,category,component,value,detail_json\n"
                                          "0.5,ostd_change,\"a,\"\"b\"\"\",2,\"{\"\"x\"\": 1}\"\n"
                                          "1,link_busy,link_0_1_req,0.1,\n"
                                          "3,link_idle,link_0_1_req,0,\n");
    ask_reset(&answer);
    answer = ask_format(events, "buckets=1&components=link_0_1_req", MRD_FORMAT_CSV);
    assert_string_equal(answer.text.data,
                        "bucket_start_ns,component,category,event_count,busy_ratio,last_value\n"
                        "0.5,link_0_1_req,link_busy,2,0.8,\n");
    ask_reset(&answer);
    mrd__events_destroy(&events);
    mrd__free(rows.data);
}

/* More keys than one slab of buckets holds: the answer is as if there were one slab. */
static void many_keys(void **state)
{
    (void)state;
    size_t links = 300; /* 300 * 4,096 cells are two slabs */
    kit_rows rows = rows_init(links * 2);
    for (size_t i = 0; i < rows.count; i++) {
        char name[32];
        snprintf(name, sizeof name, "link_%zu_0_req", i % links);
        set_row(&rows, i, (double)i, i < links ? MRD__CAT_LINK_BUSY : MRD__CAT_LINK_IDLE, name, 0);
    }
    mrd__events *events = paired(&rows);
    ask_answer answer = ask_format(events, "buckets=4096&end_ns=600", MRD_FORMAT_CSV);
    assert_int_equal(answer.status, MRD_OK);
    ask_answer few = ask_format(
        events, "buckets=4096&end_ns=600&components=link_0_0_req,link_299_0_req", MRD_FORMAT_CSV);
    size_t found = 0;
    char *line = few.text.data, *from = answer.text.data;
    for (char *next; (next = strchr(line, '\n')) != NULL; line = next + 1) {
        *next = '\0';
        char *hit = strstr(from, line);
        if (!hit) fail_msg("%s is not in the larger answer", line);
        from = hit;
        found++;
    }
    assert_true(found > 4096);
    ask_reset(&answer);
    ask_reset(&few);
    mrd__events_destroy(&events);
    mrd__free(rows.data);
}

static void no_event_records(void **state)
{
    (void)state;
    ask_answer answer = ask_format(NULL, "", MRD_FORMAT_JSON);
    assert_int_equal(answer.status, MRD_ERR_FORMAT);
    assert_string_equal(answer.error.code, "bad_trace");
    ask_reset(&answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(window_goldens),
        cmocka_unit_test(pairing_goldens),
        cmocka_unit_test(too_many_rows),
        cmocka_unit_test(answer_depends_on_rows_alone),
        cmocka_unit_test(gap_between_blocks),
        cmocka_unit_test(deep_zoom),
        cmocka_unit_test(csv),
        cmocka_unit_test(many_keys),
        cmocka_unit_test(no_event_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
