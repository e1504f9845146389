/* The Chrome JSON reader: what it makes of each fixture, and that every way of reading a text gives
 * the same facts. */
#include "ingest/unit.h"

#include <string.h>

#include "base/alloc.h"
#include "base/os.h"
#include "ingest/chrome_json/limits.h"
#include "ingest/dump.h"
#include "ingest/harness.h"

/* The loss lines of a dump, without places, or the error line. */
static void loss_lines(const mrd__buf *dump, mrd__buf *out)
{
    const char *line = dump->data;
    while (line != NULL && *line != '\0') {
        const char *end = strchr(line, '\n');
        const char *place = strstr(line, " @");
        bool loss = place != NULL && place < end && strncmp(line, "meta ", 5) != 0;
        bool bare = loss && memchr(line, '"', (size_t)(place - line)) == NULL;
        if (bare)
            mrd__buf_add(out, line, (size_t)(place - line));
        else if (strncmp(line, "error ", 6) == 0)
            mrd__buf_add(out, line, (size_t)(end - line));
        if (bare || strncmp(line, "error ", 6) == 0) mrd__buf_char(out, '\n');
        line = end + 1;
    }
}

static void test_losses_of_fixtures(void **state)
{
    (void)state;
    for (const fixture *f = fixtures; f->name != NULL; f++) {
        mrd__buf dump = {0}, losses = {0};
        read_way(fixture_text(f), (way){0}, &dump, NULL);
        mrd__buf_text(&losses, "");
        loss_lines(&dump, &losses);
        if (strcmp(losses.data, f->losses) != 0) {
            print_error("%s: want:\n%sgot:\n%s\n", f->name, f->losses, dump.data);
            fail_msg("%s", f->name);
        }
        mrd__buf_reset(&dump);
        mrd__buf_reset(&losses);
    }
}

static void test_all_ways_on_fixtures(void **state)
{
    (void)state;
    for (const fixture *f = fixtures; f->name != NULL; f++)
        check_all_ways(f->name, fixture_text(f));
}

static void test_all_ways_on_made_traces(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        mrd__buf text = {0};
        make_trace(&text, seed, 400);
        check_all_ways("made trace", (mrd__str){text.data, text.size});
        mrd__buf_reset(&text);
    }
}

/* Every cut of a text, and many damaged ones: all ways agree on what is left. */
static void test_all_ways_on_damaged_traces(void **state)
{
    (void)state;
    static const char junk[] = "{}[]\",:\\x0e-\n\001\xff";
    mrd__buf text = {0};
    make_trace(&text, 3, 12);
    for (size_t cut = 0; cut < text.size; cut += 11)
        check_all_ways("cut trace", (mrd__str){text.data, cut});
    mrd__rng rng = {77};
    for (int round = 0; round < 100; round++) {
        mrd__buf copy = {0};
        mrd__buf_add(&copy, text.data, text.size);
        for (uint64_t hits = 1 + mrd__rng_below(&rng, 4); hits > 0; hits--)
            copy.data[mrd__rng_below(&rng, copy.size)] =
                junk[mrd__rng_below(&rng, sizeof junk - 1)];
        check_all_ways("damaged trace", (mrd__str){copy.data, copy.size});
        mrd__buf_reset(&copy);
    }
    mrd__buf_reset(&text);
}

static void expect_lines(mrd__str text, const char *want)
{
    mrd__buf dump = {0};
    read_way(text, (way){0}, &dump, NULL);
    assert_string_equal(dump.data, want);
    mrd__buf_reset(&dump);
}

#define TEXT(literal) MRD__STR(literal)

static void test_facts(void **state)
{
    (void)state;
    expect_lines(TEXT("[{\"ph\":\"Xyz\",\"name\":\"n\",\"cat\":\"c\",\"ts\":\"1.0005\",\"dur\":2.5,"
                      "\"pid\":\"7\",\"tid\":-3,\"args\":{\"a\":1}}]"),
                 "X 1001 2500 7/-3 \"n\" \"c\" flags=0 args={\"a\":1}\nphase X 1\n");
    expect_lines(TEXT("[{\"ph\":\"E\",\"ts\":-1.0005,\"pid\":1}]"),
                 "E -1001 0 1/1 \"\" \"\" flags=0 at=1\nphase E 1\n");
    expect_lines(TEXT("[{\"ph\":\"i\",\"ts\":1e3,\"pid\":\"p\",\"tid\":\"t\",\"stack\":[1]}]"),
                 "i 1000000 0 \"p\"/\"t\" \"[No name]\" \"\" flags=0 args={\"stack\":[1]}\n"
                 "phase i 1\n"
                 "stack_frames_ignored 1 @1 \"{\\\"ph\\\":\\\"i\\\",\\\"ts\\\":1e3,\\\"pid\\\":"
                 "\\\"p\\\",\\\"tid\\\":\\\"t\\\",\\\"stack\\\":[1]}\"\n");
    expect_lines(TEXT("[{\"ph\":\"C\",\"ts\":1,\"pid\":1,\"name\":\"m\",\"id\":\"0x1\",\"args\":"
                      "{\"x\":\"+10.5\"}}]"),
                 "C 1000 10.5 1/- \"m id: 0x1\" \"\" series=\"x\" flags=0 at=1\nphase C 1\n");
    expect_lines(TEXT("[{\"ph\":\"b\",\"ts\":1,\"pid\":1,\"tid\":2,\"name\":\"m\",\"id\":7.0,"
                      "\"scope\":\"s\",\"bind_id\":8,\"flow_out\":true,\"flow_in\":true}]"),
                 "b 1000 0 1/2 \"m\" \"\" id=\"7\" scope=\"s\" bind=\"8\" side=14 flags=0 at=1\n"
                 "phase b 1\n");
    expect_lines(TEXT("[{\"ph\":\"f\",\"ts\":1,\"pid\":1,\"tid\":2,\"id2\":{\"local\":\"q\"},"
                      "\"bp\":\"e\"}]"),
                 "f 1000 0 1/2 \"\" \"\" id=\"q\" scope=\"\" bind=\"\" side=1 flags=4 at=1\n"
                 "phase f 1\n");
}

static void test_metadata(void **state)
{
    (void)state;
    expect_lines(TEXT("{\"a\":[{\"b.c\":\"\\u00e9\"},[true,null]],\"e\":{},\"traceEvents\":[],"
                      "\"t\":1.50}"),
                 "meta \"a[0].b.c\" 7 \"\xc3\xa9\"\nmeta \"a[1][0]\" 9 \"true\"\n"
                 "meta \"a[1][1]\" 11 \"null\"\nmeta \"t\" 8 \"1.50\"\n");
}

/* ---- Limits ---- */

static void expect_losses(mrd__buf *text, way how, const char *want)
{
    mrd__buf dump = {0}, losses = {0};
    read_way((mrd__str){text->data, text->size}, how, &dump, NULL);
    mrd__buf_text(&losses, "");
    loss_lines(&dump, &losses);
    assert_string_equal(losses.data, want);
    mrd__buf_reset(&dump);
    mrd__buf_reset(&losses);
}

static void add_times(mrd__buf *text, char c, size_t count)
{
    mrd__buf_reserve(text, count);
    memset(text->data + text->size, c, count);
    text->size += count;
}

static const char tail[] = ",{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"pid\":1}]";

static void test_deep_args(void **state)
{
    (void)state;
    for (size_t depth = MRD__CJ_MAX_ARGS_DEPTH; depth <= MRD__CJ_MAX_ARGS_DEPTH + 1; depth++) {
        mrd__buf text = {0};
        mrd__buf_text(&text, "[{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"args\":{\"a\":");
        add_times(&text, '[', depth - 1);
        add_times(&text, ']', depth - 1);
        mrd__buf_text(&text, "}}");
        mrd__buf_text(&text, tail);
        const char *want = depth > MRD__CJ_MAX_ARGS_DEPTH ? "args_too_deep 1\n" : "";
        expect_losses(&text, (way){0}, want);
        check_all_ways("deep args", (mrd__str){text.data, text.size});
        mrd__buf_reset(&text);
    }
}

static void test_long_string(void **state)
{
    (void)state;
    for (size_t more = 0; more <= 1; more++) {
        mrd__buf text = {0};
        mrd__buf_text(&text, "[{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"");
        add_times(&text, 'n', MRD__CJ_MAX_STRING + more);
        mrd__buf_text(&text, "\"}");
        mrd__buf_text(&text, tail);
        const char *want = more ? "string_too_long 1\n" : "";
        expect_losses(&text, (way){0}, want);
        expect_losses(&text, (way){.fast = true}, want);
        expect_losses(&text, (way){.feed = 100000, .fast = true}, want);
        expect_losses(&text, (way){.fast = true, .threads = 2, .chunk = 1 << 20}, want);
        mrd__buf_reset(&text);
    }
}

static void test_large_event(void **state)
{
    (void)state;
    mrd__buf text = {0};
    mrd__buf_text(&text, "[{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"args\":{\"a\":[");
    while (text.size < MRD__CJ_MAX_EVENT)
        mrd__buf_text(&text, "\"}],{\\\"ph\\\":\",");
    mrd__buf_text(&text, "0]}}");
    mrd__buf_text(&text, tail);
    const way ways[] = {{0},
                        {.fast = true},
                        {.feed = 1000000},
                        {.feed = 333333, .fast = true},
                        {.fast = true, .threads = 2, .chunk = 1 << 20}};
    mrd__buf want = {0}, got = {0};
    read_way((mrd__str){text.data, text.size}, ways[0], &want, NULL);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        expect_losses(&text, ways[i], "event_too_large 1\n");
        read_way((mrd__str){text.data, text.size}, ways[i], &got, NULL);
        assert_string_equal(got.data, want.data);
    }
    assert_non_null(strstr(want.data, "phase X 2\n"));
    mrd__buf_reset(&text);
    mrd__buf_reset(&want);
    mrd__buf_reset(&got);
}

static void test_many_metadata_rows(void **state)
{
    (void)state;
    mrd__buf text = {0};
    mrd__buf_text(&text, "{\"a\":[0");
    for (size_t i = 0; i < MRD__CJ_MAX_METADATA_ROWS; i++)
        mrd__buf_text(&text, ",1");
    mrd__buf_text(&text, "],\"b\":\"");
    add_times(&text, 'x', MRD__CJ_MAX_METADATA_VALUE + 1);
    mrd__buf_text(&text, "\",\"traceEvents\":[]}");
    expect_losses(&text, (way){0}, "metadata_limit 2\n");
    mrd__buf_reset(&text);
}

/* Events that reach far over the end of a chunk, and further than what is copied beyond it. */
static void test_events_over_borders(void **state)
{
    (void)state;
    mrd__buf text = {0};
    mrd__buf_text(&text, "{\"traceEvents\":[");
    for (int i = 0; i < 60; i++) {
        if (i > 0) mrd__buf_char(&text, ',');
        mrd__buf_printf(
            &text, "{\"ph\":\"X\",\"ts\":%d,\"dur\":1,\"name\":\"n%d\",\"args\":{\"a\":\"", i, i);
        for (int k = 0; k < i * 997 % 30011; k++)
            mrd__buf_char(&text, "x\\\\ "[k & 3]);
        /* Pairs of backslashes stay whole: k ends where it may, the rest is filled up. */
        if ((i * 997 % 30011 & 3) == 2) mrd__buf_char(&text, '\\');
        mrd__buf_text(&text, "\"}}");
    }
    mrd__buf_text(&text, "]}");
    check_all_ways("over borders", (mrd__str){text.data, text.size});
    mrd__buf dump = {0};
    read_way((mrd__str){text.data, text.size}, (way){0}, &dump, NULL);
    assert_null(strstr(dump.data, "error"));
    mrd__buf_reset(&dump);
    mrd__buf_reset(&text);
}

/* Arguments that look like events, between events and in strings: guesses go wrong, what is read
 * does not. */
static void test_wrong_guesses(void **state)
{
    (void)state;
    mrd__buf text = {0};
    mrd__buf_text(&text, "{\"traceEvents\":[");
    for (int i = 0; i < 400; i++) {
        mrd__buf_printf(&text, "%s{\"args\":{\"s\":\",{\",\"l\":[1", i > 0 ? "\n , " : "");
        for (int k = 0; k < i % 9; k++)
            mrd__buf_printf(&text, ",{\"k\":[{\"a\":\"}\"}],\"ph\":\"B\",\"ts\":%d},{}", k);
        mrd__buf_printf(&text, "]},\"ph\":\"X\",\"ts\":%d,\"dur\":1,\"name\":\"n%d\"}", i, i % 7);
    }
    mrd__buf_text(&text, "],\"more\":[1,{\"ph\":\"X\",\"ts\":1}]}");
    check_all_ways("wrong guesses", (mrd__str){text.data, text.size});
    mrd__buf dump = {0};
    uint64_t rejected = 0;
    way how = {.fast = true, .threads = 3, .chunk = 1021, .scan = true};
    read_way((mrd__str){text.data, text.size}, how, &dump, &rejected);
    assert_int_equal(rejected, 0);
    how.scan = false;
    read_way((mrd__str){text.data, text.size}, how, &dump, &rejected);
    assert_true(rejected > 0);
    mrd__buf_reset(&dump);
    mrd__buf_reset(&text);
}

/* ---- Real files ---- */

static void check_real_file(const char *name, mrd__str text)
{
    check_all_ways(name, text);
    mrd__buf dump = {0};
    /* The scan is exact: on a whole file no chunk is ever read for nothing. The guess is as good on
     * all that people trace with. */
    for (int scan = 0; scan < 2; scan++) {
        way how = {.fast = true, .threads = 3, .chunk = 4096, .scan = scan != 0};
        uint64_t rejected = 0;
        read_way(text, how, &dump, &rejected);
        if (rejected != 0)
            fail_msg("%s, scan %d: %llu chunks rejected", name, scan, (unsigned long long)rejected);
    }
    mrd__buf_reset(&dump);
}

static void test_all_ways_on_real_files(void **state)
{
    (void)state;
    if (!for_real_files(check_real_file)) skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_losses_of_fixtures),
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_metadata),
        cmocka_unit_test(test_all_ways_on_fixtures),
        cmocka_unit_test(test_all_ways_on_made_traces),
        cmocka_unit_test(test_all_ways_on_damaged_traces),
        cmocka_unit_test(test_deep_args),
        cmocka_unit_test(test_long_string),
        cmocka_unit_test(test_large_event),
        cmocka_unit_test(test_many_metadata_rows),
        cmocka_unit_test(test_events_over_borders),
        cmocka_unit_test(test_wrong_guesses),
        cmocka_unit_test(test_all_ways_on_real_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
