#include "session/format/canonical.h"
#include "unit.h"

#include <string.h>

static void expect(const char *in, const char *want)
{
    mrd__buf out = {0};
    mrd_error error = {0};
    mrd_status status = mrd__canonical_json(&out, mrd__str_of(in), &error);
    if (status != MRD_OK) fail_msg("%s: %s", in, error.message);
    if (strcmp(out.data, want) != 0) fail_msg("%s\n  got  %s\n  want %s", in, out.data, want);
    mrd__buf again = {0};
    assert_int_equal(mrd__canonical_json(&again, (mrd__str){out.data, out.size}, &error), MRD_OK);
    assert_string_equal(again.data, want);
    mrd__buf_reset(&again);
    mrd__buf_reset(&out);
}

static void refuse(const char *in, size_t size)
{
    mrd__buf out = {0};
    mrd_error error = {0};
    mrd__buf_text(&out, "kept");
    if (mrd__canonical_json(&out, (mrd__str){in, size}, &error) == MRD_OK)
        fail_msg("accepted: %s as %s", in, out.data);
    assert_int_equal(error.status, MRD_ERR_FORMAT);
    assert_string_equal(out.data, "kept");
    mrd__buf_reset(&out);
}
#define REFUSE(text) refuse(text, sizeof(text) - 1)

/* RFC 8785, 3.2.2 to 3.2.4. */
static void test_rfc_example(void **state)
{
    (void)state;
    expect("{\n \"numbers\": [333333333.33333329, 1E30, 4.50, 2e-3, "
           "0.000000000000000000000000001],\n"
           " \"string\": \"\\u20ac$\\u000F\\u000aA'\\u0042\\u0022\\u005c\\\\\\\"\\/\",\n"
           " \"literals\": [null, true, false]\n}",
           "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],"
           "\"string\":\"\xe2\x82\xac$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}");
    expect("{\"\\u20ac\":\"Euro Sign\",\"\\r\":\"Carriage Return\",\"\\ufb33\":\"Hebrew\","
           "\"1\":\"One\",\"\\ud83d\\ude00\":\"Emoji\",\"\\u0080\":\"Control\","
           "\"\\u00f6\":\"Latin\"}",
           "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\xc2\x80\":\"Control\","
           "\"\xc3\xb6\":\"Latin\",\"\xe2\x82\xac\":\"Euro Sign\","
           "\"\xf0\x9f\x98\x80\":\"Emoji\",\"\xef\xac\xb3\":\"Hebrew\"}");
}

/* RFC 8785, appendix B, and around the borders of the forms. */
static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0.0, "0"},
        {-0.0, "0"},
        {5e-324, "5e-324"},
        {-5e-324, "-5e-324"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {9007199254740992.0, "9007199254740992"},
        {-9007199254740992.0, "-9007199254740992"},
        {295147905179352830000.0, "295147905179352830000"},
        {9.999999999999997e22, "9.999999999999997e+22"},
        {1e23, "1e+23"},
        {1.0000000000000001e23, "1.0000000000000001e+23"},
        {999999999999999700000.0, "999999999999999700000"},
        {999999999999999900000.0, "999999999999999900000"},
        {1e21, "1e+21"},
        {9.999999999999997e-7, "9.999999999999997e-7"},
        {0.000001, "0.000001"},
        {333333333.3333332, "333333333.3333332"},
        {333333333.33333343, "333333333.33333343"},
        {-0.0000033333333333333333, "-0.0000033333333333333333"},
        {1424953923781206.2, "1424953923781206.2"},
        {100, "100"},
        {123.456, "123.456"},
        {1e-7, "1e-7"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mrd__buf out = {0};
        mrd__canonical_double(&out, cases[i].value);
        assert_string_equal(out.data, cases[i].text);
        mrd__buf_reset(&out);
    }
    expect("[9007199254740991,-9007199254740991,1.0,1e2]",
           "[9007199254740991,-9007199254740991,1,100]");
}

static void test_forms(void **state)
{
    (void)state;
    expect(" { } ", "{}");
    expect("[ ]", "[]");
    expect("\"\\b\\t\\n\\f\\r\\u0000\\u001f\\u007f\"", "\"\\b\\t\\n\\f\\r\\u0000\\u001f\x7f\"");
    expect("{\"b\":{\"d\":1,\"c\":[{\"z\":1,\"y\":2}]},\"a\":\"\",\"\":0,\"aa\":3}",
           "{\"\":0,\"a\":\"\",\"aa\":3,\"b\":{\"c\":[{\"y\":2,\"z\":1}],\"d\":1}}");
}

static void test_refused(void **state)
{
    (void)state;
    REFUSE("");
    REFUSE("{");
    REFUSE("{} {}");
    REFUSE("{\"a\":1,\"a\":1}");
    REFUSE("{\"a\":1,\"\\u0061\":2}");
    REFUSE("9007199254740992");
    REFUSE("[-9007199254740993]");
    REFUSE("NaN");
    REFUSE("1e999");
    REFUSE("\"\\ud800\"");
    REFUSE("\"\xff\"");
    REFUSE("\"\x01\"");
    REFUSE("\"\\x\"");
    char deep[200];
    memset(deep, '[', 100);
    memset(deep + 100, ']', 100);
    refuse(deep, sizeof deep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rfc_example),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
