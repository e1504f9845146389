/* Parameters: what a query string, an option and a JSON body may say, and how they are read. */
#include "query/store_kit.h"

#include <string.h>

static void expect_code(mrd_status status, const mrd_error *error, const char *code)
{
    assert_int_equal(status, MRD_ERR_ARGUMENT);
    assert_int_equal(error->status, MRD_ERR_ARGUMENT);
    assert_string_equal(error->code, code);
}

static void expect_word(const mrd_error *error, const char *word)
{
    if (strstr(error->message, word) == NULL)
        fail_msg("\"%s\" does not name \"%s\"", error->message, word);
}

/* Parts joined by '|'. */
static void expect_list(const mrd_params *params, const char *name, const char *want)
{
    mrd__str_list list;
    mrd_error error = {0};
    bool set = false;
    if (mrd__params_list(params, name, &set, &list, &error) != MRD_OK)
        fail_msg("%s", error.message);
    mrd__buf text = {0};
    mrd__buf_text(&text, set ? "" : "absent");
    for (size_t i = 0; i < list.count; i++) {
        if (i > 0) mrd__buf_char(&text, '|');
        mrd__buf_str(&text, list.data[i]);
    }
    mrd__buf_add(&text, "", 1);
    assert_string_equal(text.data, want);
    mrd__buf_reset(&text);
    mrd__str_list_reset(&list);
}

static void test_lists(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", "absent"},
        {"other=a", "absent"},
        {"l=", ""},
        {"l", ""},
        {"l=a", "a"},
        {"l=a,b", "a|b"},
        {"l=a%2Cb,c", "a,b|c"},
        {"l=a,,b", "a||b"},
        {"l=,", "|"},
        {"l=a+b", "a+b"},
        {"l=a%20b", "a b"},
        {"l=a&l=b,c", "a|b|c"},
        {"l=&l=b", "b"},
        {"%6C=a", "a"},
        {"&&l=a&", "a"},
        {"l=a=b", "a=b"},
        {"l=%E4%BD%A0", "\xe4\xbd\xa0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mrd_params *params = kit_params(cases[i][0]);
        expect_list(params, "l", cases[i][1]);
        mrd_params_destroy(&params);
    }
}

static void test_bad_encoding(void **state)
{
    (void)state;
    static const char *const cases[] = {"a=%", "a=%1", "a=%zz", "a=%2", "%=a", "a%0=1", "%00a=1"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mrd_params *params = kit_params("kept=1");
        mrd_error error = {0};
        mrd_status status = mrd_params_add_query(params, cases[i], strlen(cases[i]), &error);
        expect_code(status, &error, "bad_parameter");
        assert_int_equal(params->items.count, 1);
        mrd_params_destroy(&params);
    }
    /* Options are judged where they are read. */
    mrd_params *params = mrd_params_create();
    mrd_params_add(params, "l", "a,%", true);
    mrd_params_add(params, "s", "%", true);
    mrd_error error = {0};
    mrd__str_list list;
    mrd__str text;
    bool set = false;
    expect_code(mrd__params_list(params, "l", &set, &list, &error), &error, "bad_parameter");
    expect_code(mrd__params_text(params, "s", &set, &text, &error), &error, "bad_parameter");
    mrd_params_destroy(&params);
}

static void test_options(void **state)
{
    (void)state;
    mrd_params *params = mrd_params_create();
    mrd_params_add(params, "l", "a,b%2C", false);
    mrd_params_add(params, "l", "c,d%2C", true);
    expect_list(params, "l", "a,b%2C|c|d,");
    mrd_params_destroy(&params);
    mrd_params_destroy(&params);
    mrd_params_destroy(NULL);
}

typedef struct number_case {
    const char *text;
    double want;
    const char *code;
} number_case;

static void test_numbers(void **state)
{
    (void)state;
    static const number_case cases[] = {
        {"n=1", 1, NULL},
        {"n=-2.5", -2.5, NULL},
        {"n=1e+5", 1e5, NULL},
        {"n=1E-3", 1e-3, NULL},
        {"n=%31", 1, NULL},
        {"n=", 0, "bad_number"},
        {"n=1x", 0, "bad_number"},
        {"n= 1", 0, "bad_number"},
        {"n=0x10", 0, "bad_number"},
        {"n=NaN", 0, "bad_number"},
        {"n=inf", 0, "bad_number"},
        {"n=1e400", 0, "bad_number"},
        {"n=1,2", 0, "bad_number"},
        {"n=1&n=1", 0, "bad_parameter"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mrd_params *params = kit_params(cases[i].text);
        mrd_error error = {0};
        bool set = false;
        double value = 0;
        mrd_status status = mrd__params_double(params, "n", &set, &value, &error);
        if (cases[i].code == NULL) {
            assert_int_equal(status, MRD_OK);
            assert_true(set && value == cases[i].want);
        } else {
            expect_code(status, &error, cases[i].code);
            expect_word(&error, "n");
        }
        mrd_params_destroy(&params);
    }
}

static void test_whole_numbers(void **state)
{
    (void)state;
    mrd_params *params = kit_params("a=-9223372036854775808&b=9223372036854775808&c=1.0");
    mrd_error error = {0};
    bool set = false;
    int64_t value = 0;
    assert_int_equal(mrd__params_int64(params, "a", &set, &value, &error), MRD_OK);
    assert_true(set && value == INT64_MIN);
    expect_code(mrd__params_int64(params, "b", &set, &value, &error), &error, "bad_number");
    expect_word(&error, "9223372036854775808");
    expect_code(mrd__params_int64(params, "c", &set, &value, &error), &error, "bad_number");
    assert_int_equal(mrd__params_int64(params, "d", &set, &value, &error), MRD_OK);
    assert_false(set);
    mrd_params_destroy(&params);
}

static void test_buckets(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t want; /* 0: bad_buckets */
    } cases[] = {{"buckets=1", 1},         {"buckets=4096", 4096}, {"buckets=1e3", 1000},
                 {"buckets=2048.0", 2048}, {"buckets=4097", 0},    {"buckets=0", 0},
                 {"buckets=-1", 0},        {"buckets=1.5", 0},     {"buckets=1e300", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mrd_params *params = kit_params(cases[i].text);
        mrd_error error = {0};
        bool set = false;
        uint32_t value = 0;
        mrd_status status = mrd__params_buckets(params, &set, &value, &error);
        if (cases[i].want > 0) {
            assert_int_equal(status, MRD_OK);
            assert_int_equal(value, cases[i].want);
        } else {
            expect_code(status, &error, "bad_buckets");
            expect_word(&error, "4096");
        }
        mrd_params_destroy(&params);
    }
}

static void test_unknown_names(void **state)
{
    (void)state;
    static const char *const allowed[] = {"start_ns", "end_ns", NULL};
    mrd_error error = {0};
    mrd_params *params = kit_params("start_ns=1&end_ns=2");
    assert_int_equal(mrd__params_only(params, allowed, &error), MRD_OK);
    mrd_params_destroy(&params);
    params = kit_params("start_ns=1&colour=2");
    expect_code(mrd__params_only(params, allowed, &error), &error, "bad_parameter");
    expect_word(&error, "colour");
    expect_word(&error, "start_ns, end_ns");
    mrd_params_destroy(&params);
}

/* ---- JSON bodies ---- */

static mrd_params *from_json(const char *text)
{
    mrd_params *params = mrd_params_create();
    mrd_error error = {0};
    if (mrd_params_add_json(params, text, strlen(text), &error) != MRD_OK)
        fail_msg("%s: %s", text, error.message);
    return params;
}

static void test_json(void **state)
{
    (void)state;
    mrd_params *params = from_json(" {\"l\":[\"a,b\",\"\\u00e9%2C\",5], \"n\":1.5e1, \"s\":\"x\","
                                   "\"empty\":[], \"l\":[\"again\"]} ");
    expect_list(params, "l", "a,b|\xc3\xa9%2C|5|again");
    expect_list(params, "empty", "");
    expect_list(params, "none", "absent");
    mrd_error error = {0};
    bool set = false;
    double value = 0;
    mrd__str text;
    mrd__str_list list;
    assert_int_equal(mrd__params_double(params, "n", &set, &value, &error), MRD_OK);
    assert_true(set && value == 15);
    assert_int_equal(mrd__params_text(params, "s", &set, &text, &error), MRD_OK);
    assert_true(mrd__str_is(text, "x"));
    /* As what they are, nothing else. */
    expect_code(mrd__params_double(params, "s", &set, &value, &error), &error, "bad_parameter");
    expect_code(mrd__params_double(params, "l", &set, &value, &error), &error, "bad_parameter");
    expect_code(mrd__params_double(params, "empty", &set, &value, &error), &error, "bad_parameter");
    expect_code(mrd__params_text(params, "n", &set, &text, &error), &error, "bad_parameter");
    expect_code(mrd__params_list(params, "n", &set, &list, &error), &error, "bad_parameter");
    expect_code(mrd__params_list(params, "s", &set, &list, &error), &error, "bad_parameter");
    mrd_params_destroy(&params);
    params = from_json("{\"n\":1,\"n\":1}");
    expect_code(mrd__params_double(params, "n", &set, &value, &error), &error, "bad_parameter");
    mrd_params_destroy(&params);
    params = from_json("{\"n\":NaN}");
    expect_code(mrd__params_double(params, "n", &set, &value, &error), &error, "bad_number");
    mrd_params_destroy(&params);
    params = from_json("{}");
    assert_int_equal(params->items.count, 0);
    mrd_params_destroy(&params);
}

static void test_bad_json(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "",
        "[]",
        "1",
        "{",
        "{\"a\":1",
        "{\"a\":1}x",
        "{\"a\":true}",
        "{\"a\":null}",
        "{\"a\":{}}",
        "{\"a\":[1,[2]]}",
        "{\"a\":[true]}",
        "{\"a\":[1,}",
        "{\"a\\u0000\":1}",
        "{a:1}",
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mrd_params *params = mrd_params_create();
        mrd_error error = {0};
        mrd_status status = mrd_params_add_json(params, cases[i], strlen(cases[i]), &error);
        if (status == MRD_OK) fail_msg("taken: %s", cases[i]);
        expect_code(status, &error, "bad_parameter");
        assert_int_equal(params->items.count, 0);
        mrd_params_destroy(&params);
    }
}

static void test_limits(void **state)
{
    (void)state;
    mrd__buf query = {0};
    mrd__buf body = {0};
    mrd__buf_text(&query, "l=");
    mrd__buf_text(&body, "{\"l\":[");
    for (int i = 0; i < MRD__MAX_PARAMS; i++) {
        mrd__buf_text(&query, "1,");
        mrd__buf_text(&body, "1,");
    }
    mrd__buf_text(&query, "1");
    mrd__buf_text(&body, "1]}");
    mrd_error error = {0};
    mrd_params *params = kit_params(query.data);
    mrd__str_list list;
    bool set = false;
    expect_code(mrd__params_list(params, "l", &set, &list, &error), &error, "bad_parameter");
    assert_int_equal(error.limit, MRD__MAX_PARAMS);
    mrd_params_destroy(&params);
    params = mrd_params_create();
    expect_code(mrd_params_add_json(params, body.data, body.size, &error), &error, "bad_parameter");
    assert_int_equal(error.limit, MRD__MAX_PARAMS);
    assert_int_equal(params->items.count, 0);
    mrd_params_destroy(&params);
    mrd__buf_reset(&query);
    mrd__buf_reset(&body);
}

static void test_values_in_messages(void **state)
{
    (void)state;
    mrd__param_shown shown;
    assert_string_equal(mrd__param_show(&shown, MRD__STR("a\nb\x01")), "a?b?");
    assert_string_equal(mrd__param_show(&shown, MRD__STR("a\xe3z")), "a?z");
    char text[3 * MRD__PARAM_EXCERPT];
    memset(text, 'x', sizeof text);
    memcpy(text + MRD__PARAM_EXCERPT - 1, "\xc3\xa9", 2);
    mrd__param_show(&shown, (mrd__str){text, sizeof text});
    assert_int_equal(strlen(shown.text), MRD__PARAM_EXCERPT - 1 + 3);
    assert_true(mrd__utf8_valid(mrd__str_of(shown.text)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_bad_encoding),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_whole_numbers),
        cmocka_unit_test(test_buckets),
        cmocka_unit_test(test_unknown_names),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_bad_json),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_values_in_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
