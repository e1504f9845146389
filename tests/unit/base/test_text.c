#include "base/text.h"
#include "unit.h"

#include <string.h>

static void test_strings(void **state)
{
    (void)state;
    assert_int_equal(mrd__str_of(NULL).size, 0);
    assert_true(mrd__str_equal(MRD__STR(""), (mrd__str){NULL, 0}));
    assert_true(mrd__str_equal(MRD__STR("a\0b"), MRD__STR("a\0b")));
    assert_false(mrd__str_equal(MRD__STR("a\0b"), MRD__STR("a\0c")));
    assert_false(mrd__str_equal(MRD__STR("ab"), MRD__STR("abc")));
    assert_true(mrd__str_compare(MRD__STR("ab"), MRD__STR("abc")) < 0);
    assert_true(mrd__str_compare(MRD__STR("b"), MRD__STR("abc")) > 0);
    assert_true(mrd__str_compare(MRD__STR("\xff"), MRD__STR("a")) > 0);
    assert_int_equal(mrd__str_compare(MRD__STR("x"), MRD__STR("x")), 0);
    assert_int_equal(mrd__str_compare((mrd__str){NULL, 0}, MRD__STR("")), 0);
    assert_true(mrd__str_is(MRD__STR("ph"), "ph"));
    assert_false(mrd__str_is(MRD__STR("ph"), "p"));
}

static void test_buf(void **state)
{
    (void)state;
    mrd__buf buf = {0};
    mrd__buf_clear(&buf);
    mrd__buf_add(&buf, NULL, 0);
    assert_string_equal(buf.data, "");
    for (int i = 0; i < 1000; i++)
        mrd__buf_char(&buf, 'x');
    assert_int_equal(strlen(buf.data), 1000);
    mrd__buf_clear(&buf);
    assert_string_equal(buf.data, "");
    mrd__buf_printf(&buf, "%s-%d", "a", 5);
    mrd__buf_printf(&buf, "%0500d", 7); /* longer than the first guess */
    assert_int_equal(buf.size, 503);
    assert_int_equal(buf.data[502], '7');
    assert_int_equal(buf.data[503], '\0');
    mrd__buf_reset(&buf);
    assert_null(buf.data);
    assert_int_equal(buf.capacity, 0);
}

static mrd_status refuse(void *ctx, const void *data, size_t size, mrd_error *error)
{
    (void)data;
    (void)size;
    (void)error;
    ++*(int *)ctx;
    return MRD_ERR_IO;
}

static void test_flush(void **state)
{
    (void)state;
    mrd__buf from = {0};
    mrd__buf to = {0};
    mrd_sink sink = mrd__buf_sink(&to);
    mrd__buf_text(&from, "one");
    assert_int_equal(mrd__buf_flush(&from, &sink, NULL), MRD_OK);
    assert_int_equal(from.size, 0);
    mrd__buf_text(&from, "two");
    assert_int_equal(mrd__buf_flush(&from, &sink, NULL), MRD_OK);
    assert_string_equal(to.data, "onetwo");
    int calls = 0;
    mrd_sink bad = {&calls, refuse};
    assert_int_equal(mrd__buf_flush(&from, &bad, NULL), MRD_OK); /* nothing to write */
    assert_int_equal(calls, 0);
    mrd__buf_text(&from, "kept");
    assert_int_equal(mrd__buf_flush(&from, &bad, NULL), MRD_ERR_IO);
    assert_string_equal(from.data, "kept");
    mrd__buf_reset(&from);
    mrd__buf_reset(&to);
}

static void expect_json(mrd__str in, const char *want)
{
    mrd__buf buf = {0};
    mrd__buf_json_string(&buf, in);
    assert_string_equal(buf.data, want);
    mrd__buf_reset(&buf);
}

static void test_json_string(void **state)
{
    (void)state;
    expect_json(MRD__STR(""), "\"\"");
    expect_json((mrd__str){NULL, 0}, "\"\"");
    expect_json(MRD__STR("a\"b\\c/d"), "\"a\\\"b\\\\c/d\"");
    expect_json(MRD__STR("\b\t\n\f\r"), "\"\\b\\t\\n\\f\\r\"");
    expect_json(MRD__STR("x\0\x1f\x7fy"), "\"x\\u0000\\u001f\x7fy\"");
    expect_json(MRD__STR("\xe4\xb8\xad\xf0\x9f\x98\x80"), "\"\xe4\xb8\xad\xf0\x9f\x98\x80\"");
    expect_json(MRD__STR("a\xff\xe4\xb8!"), "\"a\xef\xbf\xbd\xef\xbf\xbd!\"");
    expect_json(MRD__STR("\xed\xa0\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

static void expect_csv(mrd__str in, const char *want)
{
    mrd__buf buf = {0};
    mrd__buf_csv(&buf, in);
    assert_string_equal(buf.data, want);
    mrd__buf_reset(&buf);
}

static void test_csv(void **state)
{
    (void)state;
    expect_csv(MRD__STR(""), "");
    expect_csv(MRD__STR("plain text"), "plain text");
    expect_csv(MRD__STR("a,b"), "\"a,b\"");
    expect_csv(MRD__STR("say \"x\""), "\"say \"\"x\"\"\"");
    expect_csv(MRD__STR("\"\""), "\"\"\"\"\"\"");
    expect_csv(MRD__STR("a\nb"), "\"a\nb\"");
    expect_csv(MRD__STR("a\rb"), "\"a\rb\"");
}

typedef struct utf8_case {
    mrd__str in;
    const char *out;
    size_t replaced;
} utf8_case;

#define U "\xef\xbf\xbd"

static void test_utf8(void **state)
{
    (void)state;
    /* The last ones are the examples of the Unicode standard, tables 3-8 to 3-11. */
    static const utf8_case cases[] = {
        {{"", 0}, "", 0},
        {{"plain ASCII, longer than a word", 31}, "plain ASCII, longer than a word", 0},
        {{"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9}, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 0},
        {{"\xf4\x8f\xbf\xbf", 4}, "\xf4\x8f\xbf\xbf", 0},
        {{"\x80", 1}, U, 1},
        {{"12345678\xff"
          "12345678",
          17},
         "12345678" U "12345678",
         1},
        {{"\xe2\x82", 2}, U, 1},
        {{"\xf0\x9f\x98", 3}, U, 1},
        {{"\xc0\xaf\xe0\x80\xbf\xf0\x81\x82\x41", 9}, U U U U U U U U "A", 8},
        {{"\xed\xa0\x80\xed\xbf\xbf\xed\xaf\x41", 9}, U U U U U U U U "A", 8},
        {{"\xf4\x91\x92\x93\xff\x41\x80\xbf\x42", 9}, U U U U U "A" U U "B", 7},
        {{"\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41", 9}, U U U U "A", 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mrd__buf out = {0};
        assert_int_equal(mrd__utf8_repair(&out, cases[i].in), cases[i].replaced);
        assert_string_equal(out.data, cases[i].out);
        assert_int_equal(mrd__utf8_valid(cases[i].in), cases[i].replaced == 0);
        assert_true(mrd__utf8_valid((mrd__str){out.data, out.size}));
        mrd__buf_reset(&out);
    }
    assert_true(mrd__utf8_valid((mrd__str){NULL, 0}));
}

/* Every code point appends as valid UTF-8 of the right length. */
static void test_utf8_append(void **state)
{
    (void)state;
    mrd__buf buf = {0};
    for (uint32_t point = 0; point <= 0x10ffff; point += point < 0x10000 ? 1 : 37) {
        if (point == 0xd800) point = 0xe000;
        mrd__buf_clear(&buf);
        mrd__utf8_append(&buf, point);
        assert_true(mrd__utf8_valid((mrd__str){buf.data, buf.size}));
        size_t want = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
        assert_int_equal(buf.size, want);
    }
    mrd__buf_clear(&buf);
    mrd__utf8_append(&buf, 0x20ac);
    assert_string_equal(buf.data, "\xe2\x82\xac");
    mrd__buf_reset(&buf);
}

static void test_percent(void **state)
{
    (void)state;
    mrd__buf buf = {0};
    assert_true(mrd__percent_decode(&buf, MRD__STR("a%2Cb%20c+d%e4%b8%AD")));
    assert_string_equal(buf.data, "a,b c+d\xe4\xb8\xad");
    static const char *const bad[] = {"%", "%2", "x%2", "%zz", "a%2g", "%%41", "ab%"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        mrd__buf_clear(&buf);
        mrd__buf_text(&buf, "before");
        assert_false(mrd__percent_decode(&buf, mrd__str_of(bad[i])));
        assert_string_equal(buf.data, "before");
        assert_int_equal(buf.size, 6);
    }
    mrd__buf_clear(&buf);
    assert_true(mrd__percent_decode(&buf, MRD__STR("%00")));
    assert_int_equal(buf.size, 1);
    assert_true(mrd__percent_decode(&buf, (mrd__str){NULL, 0}));
    mrd__buf_reset(&buf);
}

static void test_hash(void **state)
{
    (void)state;
    uint64_t empty = mrd__hash("", 0);
    assert_true(empty == mrd__hash(NULL, 0));
    assert_true(mrd__hash("abc", 3) == mrd__hash("abcd", 3));
    assert_true(mrd__hash("abc", 3) != mrd__hash("abd", 3));
    assert_true(mrd__hash("a", 1) != empty);
    assert_true(mrd__hash_mix(1, 2) != mrd__hash_mix(2, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strings),     cmocka_unit_test(test_buf),
        cmocka_unit_test(test_flush),       cmocka_unit_test(test_json_string),
        cmocka_unit_test(test_csv),         cmocka_unit_test(test_utf8),
        cmocka_unit_test(test_utf8_append), cmocka_unit_test(test_percent),
        cmocka_unit_test(test_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
