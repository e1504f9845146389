/* Lines of a stream and texts of kernel files: pure, over text that stands here. */
#include "base/unit.h"
#include "session/sources/lines.h"
#include "session/sources/procfs.h"

#include <string.h>

/* ---- Lines ---- */

typedef struct taken {
    mrd__buf text; /* each line as "<bytes>/size/ended;" */
} taken;

static bool take(void *ctx, const mrd__line *line)
{
    taken *t = ctx;
    mrd__buf_char(&t->text, '<');
    if (line->bytes.size <= 64) mrd__buf_add(&t->text, line->bytes.data, line->bytes.size);
    mrd__buf_printf(&t->text, ">%zu/%llu/%d;", line->bytes.size, (unsigned long long)line->size,
                    line->ended);
    return true;
}

/* The lines of text fed in pieces of that size; the caller frees. */
static mrd__buf lines_of(mrd__str text, size_t piece, size_t limit)
{
    taken t = {0};
    mrd__lines lines;
    mrd__lines_init(&lines, limit);
    for (size_t at = 0; at < text.size; at += piece) {
        size_t size = text.size - at < piece ? text.size - at : piece;
        assert_true(mrd__lines_feed(&lines, text.data + at, size, take, &t));
    }
    assert_true(mrd__lines_end(&lines, take, &t));
    mrd__lines_reset(&lines);
    mrd__buf_char(&t.text, '.');
    return t.text;
}

static void test_lines_in_any_pieces(void **state)
{
    (void)state;
    mrd__str text = MRD__STR("one\n\ntwo\r\nth\0ree\n\xff\xfe\nlast");
    mrd__buf whole = lines_of(text, text.size, 100);
    mrd__str want = MRD__STR("<one>3/3/1;<>0/0/1;<two\r>4/4/1;<th\0ree>6/6/1;<\xff\xfe>2/2/1;"
                             "<last>4/4/0;.");
    assert_int_equal(whole.size, want.size);
    assert_memory_equal(whole.data, want.data, want.size);
    for (size_t piece = 1; piece < text.size; piece++) {
        mrd__buf cut = lines_of(text, piece, 100);
        assert_int_equal(cut.size, whole.size);
        assert_memory_equal(cut.data, whole.data, whole.size);
        mrd__buf_reset(&cut);
    }
    mrd__buf_reset(&whole);
}

static void test_no_line_at_the_end(void **state)
{
    (void)state;
    mrd__buf none = lines_of(MRD__STR("one\n"), 1, 100);
    assert_string_equal(none.data, "<one>3/3/1;.");
    mrd__buf_reset(&none);
    none = lines_of(MRD__STR(""), 1, 100);
    assert_string_equal(none.data, ".");
    mrd__buf_reset(&none);
}

static void test_limit_is_exact(void **state)
{
    (void)state;
    for (size_t piece = 1; piece < 14; piece++) {
        mrd__buf got = lines_of(MRD__STR("12345\n123456\n1"), piece, 5);
        assert_string_equal(got.data, "<12345>5/5/1;<12345>5/6/1;<1>1/1/0;.");
        mrd__buf_reset(&got);
    }
}

/* A line of 10 MiB: its size is told, its first bytes are kept, nothing more. */
static void test_long_line(void **state)
{
    (void)state;
    taken t = {0};
    mrd__lines lines;
    mrd__lines_init(&lines, 1 << 20);
    char piece[65536];
    memset(piece, 'x', sizeof piece);
    for (int i = 0; i < 160; i++) {
        assert_true(mrd__lines_feed(&lines, piece, sizeof piece, take, &t));
        assert_true(lines.part.size <= (1 << 20));
        if (i > 16) assert_true(lines.part.capacity <= 2 * MRD__LINE_HEAD);
    }
    assert_true(mrd__lines_feed(&lines, "\nok\n", 4, take, &t));
    assert_string_equal(t.text.data, "<>4096/10485760/1;<ok>2/2/1;");
    assert_int_equal(lines.lines, 2);
    assert_int_equal(lines.bytes, 10485764);
    mrd__lines_reset(&lines);
    mrd__buf_reset(&t.text);
}

/* ---- Kernel files ---- */

static const char stat_text[] =
    "31791 (a) b) (c) R 31746 31737 2745 0 -1 4194304 57 3 4 5 12 34 56 78 20 0 3 0 75010 19320832 "
    "269 18446744073709551615 94341040476160 94341040476845\n";

static void test_stat(void **state)
{
    (void)state;
    mrd__proc_stat stat;
    assert_true(mrd__procfs_stat(MRD__STR(stat_text), &stat));
    assert_int_equal(stat.state, 'R');
    assert_int_equal(stat.parent, 31746);
    assert_int_equal(stat.minor_faults, 57);
    assert_int_equal(stat.major_faults, 4);
    assert_int_equal(stat.user_ticks, 12);
    assert_int_equal(stat.system_ticks, 34);
    assert_int_equal(stat.child_user_ticks, 56);
    assert_int_equal(stat.child_system_ticks, 78);
    assert_int_equal(stat.threads, 3);
    assert_int_equal(stat.start_ticks, 75010);
    assert_int_equal(stat.resident_pages, 269);
}

/* Cut anywhere before the field after rss it is refused: no field is guessed or cut short. */
static void test_stat_cut(void **state)
{
    (void)state;
    mrd__proc_stat stat;
    size_t whole = (size_t)(strstr(stat_text, "269 ") - stat_text) + 4;
    for (size_t size = 0; size < whole; size++)
        assert_false(mrd__procfs_stat((mrd__str){stat_text, size}, &stat));
    assert_true(mrd__procfs_stat((mrd__str){stat_text, whole}, &stat));
}

static void test_pairs(void **state)
{
    (void)state;
    static const mrd__pair pairs[] = {
        {"VmRSS", "rss", 1024}, {"VmSwap", "swap", 1024}, {"big", "big", 1024}, {NULL, NULL, 1}};
    mrd__buf out = {0};
    mrd__members members = {.out = &out};
    /* A zombie has no VmRSS line: no member, not 0. A number that would overflow is none. */
    assert_int_equal(mrd__procfs_pairs(MRD__STR("Name:\tx\nState:\tZ (zombie)\n"), pairs, &members),
                     0);
    assert_int_equal(out.size, 0);
    mrd__str text =
        MRD__STR("VmRSS:\t    1640 kB\nVmSwap: 0 kB\nVmRSSX: 5\nbig: 18446744073709551615\n"
                 "VmRSS\nVmSwap: x kB");
    assert_int_equal(mrd__procfs_pairs(text, pairs, &members), 2);
    assert_string_equal(out.data, "\"rss\":1679360,\"swap\":0");
    mrd__buf_reset(&out);
}

static void test_value_and_pressure(void **state)
{
    (void)state;
    uint64_t value = 7;
    assert_true(mrd__procfs_value(MRD__STR("cpu 1 2\nctxt 99\n"), "ctxt", &value));
    assert_int_equal(value, 99);
    assert_false(mrd__procfs_value(MRD__STR("ctx 99\n"), "ctxt", &value));
    mrd__str psi = MRD__STR("some avg10=68.38 avg60=73.35 avg300=41.58 total=14620462647\n"
                            "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
    assert_true(mrd__procfs_pressure(psi, "some", &value));
    assert_int_equal(value, 14620462647u);
    assert_true(mrd__procfs_pressure(psi, "full", &value));
    assert_int_equal(value, 0);
    assert_false(mrd__procfs_pressure(MRD__STR("some avg10=1 total=\n"), "some", &value));
    assert_false(mrd__procfs_pressure(MRD__STR("some avg10=1\n"), "full", &value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_in_any_pieces),
        cmocka_unit_test(test_no_line_at_the_end),
        cmocka_unit_test(test_limit_is_exact),
        cmocka_unit_test(test_long_line),
        cmocka_unit_test(test_stat),
        cmocka_unit_test(test_stat_cut),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_value_and_pressure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
