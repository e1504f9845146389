#include "base/os.h"
#include "base/text.h"
#include "unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void expect_text(double value, const char *text)
{
    mrd__buf buf = {0};
    mrd__buf_double(&buf, value);
    assert_string_equal(buf.data, text);
    assert_int_equal(buf.size, strlen(text));
    mrd__buf_reset(&buf);
}

static void test_double_known(void **state)
{
    (void)state;
    expect_text(0, "0");
    expect_text(-0.0, "-0");
    expect_text(12, "12");
    expect_text(-12, "-12");
    expect_text(0.1, "0.1");
    expect_text(-0.3, "-0.3");
    expect_text(123456789.125, "123456789.125");
    expect_text(1e-6, "0.000001");
    expect_text(1e-7, "1e-7");
    expect_text(1.25e-9, "1.25e-9");
    expect_text(9007199254740992.0, "9007199254740992");
    expect_text(9007199254740994.0, "9007199254740994");
    expect_text(1e20, "100000000000000000000");
    expect_text(1e21, "1e+21");
    expect_text(1e23, "1e+23");
    expect_text(5e-324, "5e-324");
    expect_text(2.2250738585072014e-308, "2.2250738585072014e-308");
    expect_text(1.7976931348623157e308, "1.7976931348623157e+308");
    expect_text(0x1p-44, "5.684341886080802e-14"); /* nearest 16 digits do not read back */
    expect_text(NAN, "NaN");
    expect_text(INFINITY, "Infinity");
    expect_text(-INFINITY, "-Infinity");
}

static void expect_json(double value, const char *text)
{
    mrd__buf buf = {0};
    mrd__buf_json_double(&buf, value);
    assert_string_equal(buf.data, text);
    mrd__buf_reset(&buf);
}

static void test_json_double(void **state)
{
    (void)state;
    expect_json(1.5, "1.5");
    expect_json(NAN, "\"NaN\"");
    expect_json(INFINITY, "\"Infinity\"");
    expect_json(-INFINITY, "\"-Infinity\"");
}

/* Reads back, and no shorter %.Ng form reads back. */
static void check_shortest(double value)
{
    mrd__buf buf = {0};
    mrd__buf_double(&buf, value);
    double back;
    assert_true(mrd__parse_double((mrd__str){buf.data, buf.size}, &back));
    assert_memory_equal(&back, &value, sizeof value);
    assert_true(strtod(buf.data, NULL) == value);
    int digits = 0;
    int zeros = 0;
    for (const char *at = buf.data; *at != '\0' && *at != 'e'; at++) {
        if (*at < '0' || *at > '9' || (digits == 0 && *at == '0')) continue;
        digits++;
        zeros = *at == '0' ? zeros + 1 : 0;
    }
    digits -= zeros;
    char shorter[40];
    mrd__buf other = {0};
    mrd__buf_printf(&other, "%.*e", digits > 1 ? digits - 2 : 0, value);
    assert_true(other.size < sizeof shorter);
    if (digits > 1) assert_false(strtod(other.data, NULL) == value);
    mrd__buf_reset(&other);
    mrd__buf_reset(&buf);
}

static void test_double_random(void **state)
{
    (void)state;
    mrd__rng rng = {42};
    for (int i = 0; i < 60000; i++) {
        uint64_t bits = mrd__rng_next(&rng);
        double value;
        if (i % 4 == 0)
            value = (double)(bits >> 20) / 1000.0;
        else if (i % 4 == 1)
            value = (double)(bits >> (bits & 63)) * 1e-9;
        else {
            if (i % 4 == 2)
                bits &= 0x7ff0000000000000ull; /* powers of two: the uneven neighbours */
            memcpy(&value, &bits, sizeof value);
        }
        if (isfinite(value)) check_shortest(value);
    }
}

static void expect_parse(const char *text, double want)
{
    double got = 77;
    if (!mrd__parse_double(mrd__str_of(text), &got)) fail_msg("refused: %s", text);
    assert_memory_equal(&got, &want, sizeof got);
}

static void test_parse_double(void **state)
{
    (void)state;
    expect_parse("0", 0);
    expect_parse("-0", -0.0);
    expect_parse("+1", 1);
    expect_parse(".5", 0.5);
    expect_parse("5.", 5);
    expect_parse("0.1", 0.1);
    expect_parse("1e5", 1e5);
    expect_parse("1E+5", 1e5);
    expect_parse("1e-5", 1e-5);
    expect_parse("007", 7);
    expect_parse("0e99999999999999999999", 0);
    expect_parse("1e-99999999999999999999", 0);
    expect_parse("9007199254740993", 9007199254740992.0); /* tie, to even */
    expect_parse("9007199254740995", 9007199254740996.0);
    expect_parse("9007199254740993.0000000000000000000001", 9007199254740994.0);
    expect_parse("123456789012345678901234567890", 123456789012345678901234567890.0);
    expect_parse("2.2250738585072011e-308", 0x0.fffffffffffffp-1022);
    expect_parse("1.7976931348623157e308", 1.7976931348623157e308);
    expect_parse("0.000000000000000000000000000001", 1e-30);
    expect_parse("1000000000000000000000000000000e-30", 1);
}

static void test_parse_double_refuses(void **state)
{
    (void)state;
    static const char *const bad[] = {"",    " ",        "+",     "-",      ".",    "e5",   "1e",
                                      "1e+", "1e5.5",    "1 ",    " 1",     "1x",   "0x10", "1,5",
                                      "nan", "inf",      "1e400", "-1e400", "1..2", "--1",  "1e5 ",
                                      "1_0", "Infinity", "NaN",   "1e+-5",  "+.e1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        double value = 77;
        if (mrd__parse_double(mrd__str_of(bad[i]), &value)) fail_msg("accepted: %s", bad[i]);
        assert_true(value == 77);
    }
    double value;
    assert_false(mrd__parse_double((mrd__str){"1\0", 2}, &value));
}

static void test_parse_double_long(void **state)
{
    (void)state;
    mrd__buf buf = {0};
    mrd__buf_text(&buf, "1");
    for (int i = 0; i < 5000; i++)
        mrd__buf_char(&buf, '0');
    mrd__buf_text(&buf, ".0e-5000");
    double value;
    assert_true(mrd__parse_double((mrd__str){buf.data, buf.size}, &value));
    assert_true(value == 1);
    /* The text is not NUL-terminated at its size: what follows must not be read. */
    assert_true(mrd__parse_double((mrd__str){"1.50000000000000000000009", 3}, &value));
    assert_true(value == 1.5);
    mrd__buf_reset(&buf);
}

static void test_parse_against_strtod(void **state)
{
    (void)state;
    mrd__rng rng = {5};
    mrd__buf buf = {0};
    for (int i = 0; i < 100000; i++) {
        mrd__buf_clear(&buf);
        mrd__buf_uint(&buf, mrd__rng_next(&rng) >> mrd__rng_below(&rng, 64));
        if (i & 1) {
            mrd__buf_char(&buf, '.');
            mrd__buf_uint(&buf, mrd__rng_next(&rng) >> mrd__rng_below(&rng, 64));
        }
        if (i & 2) mrd__buf_printf(&buf, "e%d", (int)mrd__rng_below(&rng, 80) - 40);
        double got;
        double want = strtod(buf.data, NULL);
        assert_true(mrd__parse_double((mrd__str){buf.data, buf.size}, &got));
        if (memcmp(&got, &want, sizeof got) != 0)
            fail_msg("%s: %.17g, want %.17g", buf.data, got, want);
    }
    mrd__buf_reset(&buf);
}

static void test_integers(void **state)
{
    (void)state;
    mrd__buf buf = {0};
    mrd__buf_int(&buf, INT64_MIN);
    mrd__buf_char(&buf, ' ');
    mrd__buf_int(&buf, INT64_MAX);
    mrd__buf_char(&buf, ' ');
    mrd__buf_int(&buf, -1);
    mrd__buf_char(&buf, ' ');
    mrd__buf_uint(&buf, UINT64_MAX);
    mrd__buf_char(&buf, ' ');
    mrd__buf_uint(&buf, 0);
    assert_string_equal(buf.data,
                        "-9223372036854775808 9223372036854775807 -1 18446744073709551615 0");
    mrd__buf_reset(&buf);
    int64_t i;
    uint64_t u;
    assert_true(mrd__parse_int64(MRD__STR("-9223372036854775808"), &i) && i == INT64_MIN);
    assert_true(mrd__parse_int64(MRD__STR("+9223372036854775807"), &i) && i == INT64_MAX);
    assert_true(mrd__parse_int64(MRD__STR("0"), &i) && i == 0);
    assert_true(mrd__parse_int64(MRD__STR("-0"), &i) && i == 0);
    assert_true(mrd__parse_uint64(MRD__STR("18446744073709551615"), &u) && u == UINT64_MAX);
    assert_true(mrd__parse_uint64(MRD__STR("0000000000000000000000001"), &u) && u == 1);
    static const char *const bad[] = {
        "",    "-",   "+",  "9223372036854775808", "-9223372036854775809", "1 ", " 1", "1.0", "0x1",
        "--1", "+-1", "1e3"};
    for (size_t n = 0; n < sizeof bad / sizeof bad[0]; n++) {
        if (mrd__parse_int64(mrd__str_of(bad[n]), &i)) fail_msg("accepted: %s", bad[n]);
    }
    assert_false(mrd__parse_uint64(MRD__STR("18446744073709551616"), &u));
    assert_false(mrd__parse_uint64(MRD__STR("-1"), &u));
    assert_false(mrd__parse_uint64(MRD__STR("+1"), &u));
    assert_false(mrd__parse_uint64((mrd__str){NULL, 0}, &u));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_double_known),         cmocka_unit_test(test_json_double),
        cmocka_unit_test(test_double_random),        cmocka_unit_test(test_parse_double),
        cmocka_unit_test(test_parse_double_refuses), cmocka_unit_test(test_parse_double_long),
        cmocka_unit_test(test_parse_against_strtod), cmocka_unit_test(test_integers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
