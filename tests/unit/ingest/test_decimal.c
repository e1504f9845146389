/* Decimal text to nanoseconds: known values, and random ones against 128-bit integers. */
#include "ingest/unit.h"

#include <string.h>

#include "base/os.h"
#include "base/text.h"
#include "ingest/chrome_json/event.h"

static void expect(const char *text, int64_t want)
{
    int64_t got;
    mrd__cj_number number = mrd__cj_decimal(mrd__str_of(text), 3, &got);
    if (number != MRD__CJ_EXACT || got != want)
        fail_msg("%s: %d, %lld instead of %lld", text, number, (long long)got, (long long)want);
}

static void expect_kind(const char *text, mrd__cj_number want)
{
    int64_t got;
    mrd__cj_number number = mrd__cj_decimal(mrd__str_of(text), 3, &got);
    if (number != want) fail_msg("%s: %d", text, number);
}

static void test_known(void **state)
{
    (void)state;
    expect("0", 0);
    expect("-0", 0);
    expect("1", 1000);
    expect("+10.5", 10500);
    expect(".75", 750);
    expect("246.", 246000);
    expect("01.23", 1230);
    expect("1731415926535897.932", 1731415926535897932);
    expect("8999999999999999.999", 8999999999999999999);
    expect("9000000000000000.001", 9000000000000000001);
    expect("9223372036854775.807", INT64_MAX);
    expect("9223372036854775.8074999999999999999999", INT64_MAX);
    expect("-9223372036854775.808", INT64_MIN);
    expect("-9223372036854775.8084999", INT64_MIN);
    expect("0.0005", 1);
    expect("0.00049999999999999999999999999", 0);
    expect("-0.0005", -1);
    expect("-0.0004", 0);
    expect("1.0015", 1002);
    expect("0.00005", 0);
    expect("1e3", 1000000);
    expect("1.5E-3", 2);
    expect("1.4E-3", 1);
    expect("12345e-20", 0);
    expect("0e999999999999", 0);
    expect("0.000000000000000000000000000001e33", 1000000);
    expect("1000000000000000000000000000000e-30", 1000);
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",     "-",     "+",   ".",    "1x",      "1.5e",
                                      "2e+",  "1e1.5", "NaN", "0x10", " 1",      "1 ",
                                      "1..2", "--1",   "e5",  "1,5",  "Infinity"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        expect_kind(bad[i], MRD__CJ_NOT_A_NUMBER);
    expect_kind("9223372036854775.808", MRD__CJ_OVERFLOW);
    expect_kind("9223372036854775.8075", MRD__CJ_OVERFLOW);
    expect_kind("-9223372036854775.8085", MRD__CJ_OVERFLOW);
    expect_kind("18446744073709551.616", MRD__CJ_OVERFLOW);
    expect_kind("1e999999999999", MRD__CJ_OVERFLOW);
    expect_kind("99999999999999999999", MRD__CJ_OVERFLOW);
}

static void test_whole(void **state)
{
    (void)state;
    int64_t got;
    assert_int_equal(mrd__cj_whole(MRD__STR("12.999"), &got), MRD__CJ_EXACT);
    assert_int_equal(got, 12);
    assert_int_equal(mrd__cj_whole(MRD__STR("-1.5"), &got), MRD__CJ_EXACT);
    assert_int_equal(got, -1);
    assert_int_equal(mrd__cj_whole(MRD__STR("9223372036854775807"), &got), MRD__CJ_EXACT);
    assert_int_equal(got, INT64_MAX);
    assert_int_equal(mrd__cj_whole(MRD__STR("9223372036854775808"), &got), MRD__CJ_OVERFLOW);
}

/* Random value in units of 10^-places of a nanosecond, written with its point moved by an exponent;
 * the rounding is done on 128-bit integers. */
static void test_random(void **state)
{
    (void)state;
    mrd__rng rng = {1};
    for (int round = 0; round < 200000; round++) {
        int places = (int)mrd__rng_below(&rng, 12);
        int64_t exponent = (int64_t)mrd__rng_below(&rng, 31) - 15;
        uint64_t value = mrd__rng_next(&rng) >> mrd__rng_below(&rng, 64);
        bool negative = mrd__rng_below(&rng, 2);
        mrd__buf text = {0};
        /* value * 10^(-places) ns is value * 10^(-places - 3) us */
        if (negative) mrd__buf_char(&text, '-');
        mrd__buf_uint(&text, value);
        mrd__buf_printf(&text, "%se%lld", mrd__rng_below(&rng, 2) ? "." : ".000",
                        (long long)(-places - 3 + exponent));
        __uint128_t whole = value, half = 0, scale = 1;
        int64_t shift = exponent - places;
        for (; shift > 0 && whole <= (uint64_t)INT64_MAX; shift--)
            whole *= 10;
        for (; shift < 0 && scale < (__uint128_t)1 << 120; shift++)
            scale *= 10;
        half = scale > 1 ? scale / 2 : 1;
        whole = scale > 1 ? (whole + half) / scale : whole;
        int64_t got = 0;
        mrd__cj_number number = mrd__cj_decimal((mrd__str){text.data, text.size}, 3, &got);
        bool fits = whole <= (__uint128_t)INT64_MAX + negative;
        bool right = fits ? number == MRD__CJ_EXACT &&
                                got == (negative ? (int64_t)(0 - (uint64_t)whole) : (int64_t)whole)
                          : number == MRD__CJ_OVERFLOW;
        if (!right) fail_msg("%s: %d %lld", text.data, number, (long long)got);
        mrd__buf_reset(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
