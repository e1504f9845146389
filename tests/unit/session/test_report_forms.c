/* The report for people: its parts, what is escaped, and that no hole is drawn as a number. */
#include "feed.h"
#include "session/report_page.h"

#include <string.h>

typedef struct made {
    feed f;
    mrd__report_view view;
    mrd__report_plots *plots;
    mrd__buf text, markdown, html;
} made;

static const mrd__report_fact facts[] = {{MRD__STR("target"), MRD__STR("pid 7 <init> | \x1b[31m")}};
static const mrd__report_head head = {MRD__STR("s-1"), MRD__REPORT_COMPLETED, {NULL, 0}, facts, 1};

static made make(const char *lines, const mrd__report_head *of)
{
    made m = {.plots = mrd__report_plots_create()};
    feed_open(&m.f);
    feed_text(&m.f, lines);
    assert_int_equal(m.f.decode_errors, 0);
    for (size_t i = 0; i < m.f.samples.count; i++)
        mrd__report_plots_sample(m.plots, &m.f.samples.data[i]);
    mrd__session_report_view(m.f.report, &m.view);
    mrd__report_text(of, &m.view, &m.text);
    mrd__report_markdown(of, &m.view, &m.markdown);
    mrd__report_html(of, &m.view, m.plots, &m.html);
    return m;
}

static void unmake(made *m)
{
    mrd__report_view_reset(&m->view);
    mrd__report_plots_destroy(&m->plots);
    mrd__buf_reset(&m->text);
    mrd__buf_reset(&m->markdown);
    mrd__buf_reset(&m->html);
    feed_close(&m->f);
}

static size_t times(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part))
        count++;
    return count;
}

static void has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) fail_msg("no \"%s\" in:\n%s", part, text);
}

static void has_not(const char *text, const char *part)
{
    if (strstr(text, part) != NULL) fail_msg("\"%s\" in:\n%s", part, text);
}

/* Between the first begin and the end that follows; the caller frees. */
static mrd__buf between(const char *text, const char *begin, const char *end)
{
    mrd__buf out = {0};
    const char *from = strstr(text, begin);
    assert_non_null(from);
    from += strlen(begin);
    const char *to = strstr(from, end);
    assert_non_null(to);
    mrd__buf_add(&out, from, (size_t)(to - from));
    return out;
}

static void add_gauge(mrd__buf *lines, uint64_t second, const char *value)
{
    mrd__buf payload = {0};
    mrd__buf_printf(&payload, "{\"gauges\":{\"load\":%s},\"units\":{\"load\":\"percent\"}}", value);
    add_line(lines, "a", second * 1000000000, "g", payload.data, "");
    mrd__buf_reset(&payload);
}

/* ---- Tests ---- */

static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0"},
                 {-3, "-3"},
                 {9007199254740991.0, "9007199254740991"},
                 {0.5, "0.5"},
                 {16.666666666, "16.6667"},
                 {123456.78, "123457"},
                 {1234567.8, "1234568"},
                 {0.00012345678, "0.000123457"},
                 {0.00001, "1e-05"},
                 {1e300, "1e+300"},
                 {-99999.95, "-99999.9"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mrd__buf out = {0};
        mrd__report_number(&out, cases[i].value);
        assert_string_equal(out.data, cases[i].text);
        mrd__buf_reset(&out);
    }
}

static void test_text(void **state)
{
    (void)state;
    mrd__buf lines = {0};
    add_gauge(&lines, 1, "1");
    add_gauge(&lines, 2, "10");
    add_gauge(&lines, 3, "null");
    add_gauge(&lines, 4, "30.5");
    made m = make(lines.data, &head);
    assert_string_equal(
        m.text.data,
        "Session s-1\n"
        "===========\n"
        "\n"
        "target       pid 7 <init> | \\u001B[31m\n"
        "duration     3 s\n"
        "raw lines    4, sequence 1 to 4\n"
        "samples      4\n"
        "definitions  metrics.v1\n"
        "pipe         sealed as completed: every line that was let in is stored\n"
        "continuity   0 gaps, 0 lines that did not decode; 1 of 1 metrics do not cover the whole "
        "time\n"
        "calibration  0 metrics unit-tested, 0 metrics software-loop, 0 metrics device, 1 declared "
        "by their source\n"
        "\n"
        "Metrics\n"
        "-------\n"
        "metric  source  unit     count   mean  min    p50    p90     p95     p99   max  last  "
        "total\n"
        "g.load  a       percent      2  20.25   10  20.25  28.45  29.475  30.295  30.5  30.5      "
        "-\n"
        "\n"
        "Continuity and calibration\n"
        "--------------------------\n"
        "metric  source  coverage  rest of the time  readings  readings without a number  how "
        "calibrated\n"
        "g.load  a         66.7 %  missing 33.3 %           4  warmup 1, missing 1        declared "
        "by the source\n"
        "\n"
        "Sources\n"
        "-------\n"
        "source  envelopes  samples  of them ok  ended\n"
        "a               4        4           2  -\n"
        "\n"
        "\"-\" is no number: nothing was measured there. It is not 0.\n");
    has(m.markdown.data, "\n| metric | source | unit | count |");
    has(m.markdown.data, "\n| --- | --- | --- | ---: |");
    has(m.markdown.data, "\n| g.load | a | percent | 2 | 20.25 | 10 |");
    has(m.markdown.data, "| pid 7 \\<init\\> \\| \\\\u001B\\[31m |");
    unmake(&m);
    mrd__buf_reset(&lines);
}

/* The hole cuts the line, the band says why, and no point is drawn for what has no number. */
static void test_holes(void **state)
{
    (void)state;
    static const char *const values[] = {"50", "50", "60", "null", "70", "80"};
    mrd__buf lines = {0};
    for (size_t i = 0; i < 6; i++)
        add_gauge(&lines, i + 1, values[i]);
    made m = make(lines.data, &head);
    mrd__buf path = between(m.html.data, "class=\"c\" d=\"", "\"");
    /* warmup; 50, 60; missing; 70, 80: two pieces of two points, first points drawn as dots. */
    assert_int_equal(times(path.data, "M"), 2);
    assert_int_equal(times(path.data, "L"), 4);
    /* 50 is the foot of the axis: nothing is below it. */
    has(path.data, " 104.0L");
    assert_int_equal(times(m.html.data, "<rect class=\"missing\""), 1);
    assert_int_equal(times(m.html.data, "<rect class=\"ok\""), 2);
    has(m.html.data, "<title>missing, ");
    assert_int_equal(times(m.html.data, "<figure>"), 1);
    mrd__buf_reset(&path);
    unmake(&m);
    mrd__buf_reset(&lines);
}

static void test_without_values(void **state)
{
    (void)state;
    mrd__buf lines = {0};
    for (uint64_t i = 1; i < 5; i++)
        add_line(&lines, "a", i * 1000000000, "g", "{\"unsupported\":[\"fan\"]}", "");
    made m = make(lines.data, &head);
    has_not(m.html.data, "class=\"c\"");
    has(m.html.data, "<rect class=\"unsupported\"");
    has(m.html.data, "<td class=\"n\">\xe2\x80\x93</td>");
    has(m.text.data, "g.fan   a       raw       0     -    -    -    -    -    -    -     -");
    unmake(&m);
    mrd__buf_reset(&lines);
    made none = make("", &head);
    has(none.text.data, "duration     -\n");
    has(none.text.data, "raw lines    0\n");
    has_not(none.html.data, "<figure>");
    unmake(&none);
}

/* An hour: columns get wider, and one line stays one line but where the source was silent. */
static void test_long(void **state)
{
    (void)state;
    mrd__buf lines = {0};
    for (uint64_t second = 1; second < 3600; second++)
        if (second < 1000 || second > 1100) add_gauge(&lines, second, second == 2000 ? "-7" : "5");
    made m = make(lines.data, &head);
    mrd__buf path = between(m.html.data, "class=\"c\" d=\"", "\"");
    assert_int_equal(times(path.data, "M"), 2);
    assert_true(times(path.data, "L") < MRD__PLOT_COLUMNS * 3);
    /* The one reading of -7 is not lost in its column: it is the foot of the axis' range. */
    mrd__buf first = between(path.data, "M", "L");
    mrd__buf foot = {0};
    mrd__buf_printf(&foot, " %.1f", 8 + 96 - (-7.0 + 10) / 15 * 96);
    has(path.data, foot.data);
    has(m.html.data, "<title>missing, ");
    has(m.html.data, " min</text>");
    mrd__buf_reset(&foot);
    mrd__buf_reset(&first);
    mrd__buf_reset(&path);
    unmake(&m);
    mrd__buf_reset(&lines);
}

/* Times of several sources that do not come in order, and back beyond the grid. */
static void test_back(void **state)
{
    (void)state;
    mrd__buf lines = {0};
    for (uint64_t i = 0; i < 40; i++) {
        uint64_t host = i % 2 == 0 ? 5000000000 + i * 1000000 : 5000000000 - i * 20000000;
        add_line(&lines, i % 2 == 0 ? "a" : "b", host, "g", "{\"gauges\":{\"load\":1}}", "");
    }
    made m = make(lines.data, &head);
    assert_int_equal(times(m.html.data, "<figure>"), 2);
    assert_int_equal(times(m.html.data, "class=\"c\""), 2);
    unmake(&m);
    mrd__buf_reset(&lines);
}

static void test_escapes(void **state)
{
    (void)state;
    mrd__buf lines = {0};
    for (uint64_t i = 1; i < 4; i++)
        add_line(&lines, "<script>alert(1)</script>&\\\"'|*_`\\u0007", i * 1000000000, "a\\\"><b",
                 "{\"gauges\":{\"<i>\":1},\"units\":{\"<i>\":\"</svg>\"}}", "");
    made m = make(lines.data, &head);
    has_not(m.html.data, "<script");
    has_not(m.html.data, "<i>");
    has_not(m.html.data, "\"><b");
    has(m.html.data, "&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;&#39;|*_`\\u0007");
    has(m.html.data, "aria-label=\"a&quot;&gt;&lt;b.&lt;i&gt;\"");
    assert_int_equal(times(m.html.data, "<svg"), times(m.html.data, "</svg>"));
    assert_int_equal(times(m.html.data, "<td"), times(m.html.data, "</td>"));
    has_not(m.html.data, "://");
    has(m.html.data, "default-src 'none'");
    has(m.markdown.data, "\\<script\\>alert\\(1\\)\\</script\\>\\&\"'\\|\\*\\_\\`\\\\u0007 |");
    has_not(m.text.data, "\a");
    has(m.text.data, "\\u0007");
    unmake(&m);
    mrd__buf_reset(&lines);
}

/* Frames, launch phases, and the three claims of a session that was not completed. */
static void test_parts(void **state)
{
    (void)state;
    static const mrd__report_head cut = {MRD__STR("s-2"), MRD__REPORT_INCOMPLETE, MRD__STR("crash"),
                                         NULL, 0};
    mrd__buf lines = {0};
    mrd__buf more = {0};
    uint64_t at = 0;
    for (uint64_t i = 0; i < 20; i++) {
        at += i == 10 ? 200000000 : 16000000;
        mrd__buf_clear(&more);
        mrd__buf_printf(&more, ",\"sourceTimestamp\":%llu,\"clockDomain\":\"x\"",
                        (unsigned long long)at);
        add_line(&lines, "f", at, "frame", "{\"displayId\":3}", more.data);
    }
    add_line(&lines, "f", at, "span", "{\"name\":\"boot\",\"startTicks\":1,\"endTicks\":2500001}",
             ",\"sourceTimestamp\":1,\"clockDomain\":\"x\"");
    made m = make(lines.data, &cut);
    has(m.text.data, "pipe         sealed as incomplete: crash\n");
    has(m.text.data, "\nFrames\n------\n");
    has(m.text.data, "\n3        f           19  ");
    has(m.text.data, "\nLaunch\n------\n");
    has(m.text.data, "\nboot   2.5 ms  ok             21\n");
    mrd__session_report_gap(m.f.report, 5, MRD__STR("stop-missing"));
    mrd__report_view_reset(&m.view);
    mrd__session_report_view(m.f.report, &m.view);
    mrd__buf_clear(&m.text);
    mrd__report_text(&cut, &m.view, &m.text);
    has(m.text.data, "\nstop-missing         5\n");
    mrd__buf_reset(&more);
    unmake(&m);
    mrd__buf_reset(&lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_text),
        cmocka_unit_test(test_holes),   cmocka_unit_test(test_without_values),
        cmocka_unit_test(test_long),    cmocka_unit_test(test_back),
        cmocka_unit_test(test_escapes), cmocka_unit_test(test_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
