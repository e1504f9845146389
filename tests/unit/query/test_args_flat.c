/* Args text: made strict, and flattened. */
#include "base/error.h"
#include "query/args_flat.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static void expect_compact(const char *text, const char *want)
{
    mrd__buf out = {0};
    mrd__buf_text(&out, "<");
    mrd__args_compact(&out, mrd__str_of(text));
    mrd__buf_text(&out, ">");
    mrd__buf wanted = {0};
    mrd__buf_printf(&wanted, "<%s>", want);
    assert_string_equal(out.data, wanted.data);
    mrd__buf_reset(&out);
    mrd__buf_reset(&wanted);
}

static void compact_drops_space_and_keeps_numbers(void **state)
{
    (void)state;
    expect_compact(" { \"a\" : [ 1 , 2.50,\n-0 ] , \"b\":{ } } ", "{\"a\":[1,2.50,-0],\"b\":{}}");
    expect_compact("[]", "[]");
    expect_compact("{\"n\":123456789012345678901234567890}",
                   "{\"n\":123456789012345678901234567890}");
}

static void compact_makes_strings_strict(void **state)
{
    (void)state;
    expect_compact("{\"a\":\"x\x01y\"}", "{\"a\":\"x\\u0001y\"}");
    expect_compact("{\"a\":\"\\/\\u00e9\"}", "{\"a\":\"/\xc3\xa9\"}");
    expect_compact("{\"a\":\"\xff\"}", "{\"a\":\"\xef\xbf\xbd\"}");
    expect_compact("{\"a\":\"\\ud800\"}", "{\"a\":\"\xef\xbf\xbd\"}");
}

static void compact_quotes_what_is_not_finite(void **state)
{
    (void)state;
    expect_compact("[NaN,nan,Infinity,-Infinity,inf,-inf,+inf]",
                   "[\"nan\",\"nan\",\"inf\",\"-inf\",\"inf\",\"-inf\",\"inf\"]");
}

static void compact_of_text_that_is_no_json(void **state)
{
    (void)state;
    expect_compact("{\"a\":", "\"{\\\"a\\\":\"");
}

/* ---- Flat ---- */

static mrd_status add_leaf(void *ctx, const mrd__arg *arg, mrd_error *error)
{
    (void)error;
    mrd__buf *out = ctx;
    mrd__buf_str(out, arg->key);
    mrd__buf_printf(out, "|%s|", mrd__arg_type_name(arg->type));
    mrd__buf_str(out, arg->value);
    mrd__buf_char(out, ';');
    return MRD_OK;
}

static void expect_flat(mrd__flat *flat, const char *text, const char *want)
{
    mrd__buf out = {0};
    mrd__buf_text(&out, "");
    assert_int_equal(mrd__args_flatten(flat, mrd__str_of(text), add_leaf, &out, NULL), MRD_OK);
    assert_string_equal(out.data == NULL ? "" : out.data, want);
    mrd__buf_reset(&out);
}

static void flat_keys_and_types(void **state)
{
    (void)state;
    mrd__flat *flat = mrd__flat_create();
    expect_flat(flat, "{\"a\":{\"b\":[1,{\"c\":\"x\"}]},\"d\":[[true],[]]}",
                "a.b[0]|int|1;a.b[1].c|string|x;d[0][0]|bool|true;d[1]|text|[];");
    expect_flat(flat, "{\"i\":-9007199254740993,\"d\":1.50,\"e\":1e400,\"n\":null,\"f\":-inf}",
                "i|int|-9007199254740993;d|double|1.5;e|text|1e400;n|null|null;f|text|-inf;");
    expect_flat(flat, "{\"\":1,\"a\":{\"\":2},\"b\":{}}", "|int|1;a.|int|2;b|text|{};");
    expect_flat(flat, "{}", "");
    mrd__flat_destroy(&flat);
    assert_null(flat);
    mrd__flat_destroy(&flat);
}

static void flat_last_of_duplicates_wins(void **state)
{
    (void)state;
    mrd__flat *flat = mrd__flat_create();
    expect_flat(flat, "{\"k\":{\"a\":1,\"b\":2},\"j\":0,\"k\":{\"c\":3}}", "j|int|0;k.c|int|3;");
    expect_flat(flat, "{\"k\":1,\"k\":2,\"k\":3}", "k|int|3;");
    expect_flat(flat, "[{\"k\":1},{\"k\":2}]", "[0].k|int|1;[1].k|int|2;");
    expect_flat(flat, "{\"a\":{\"x\":1,\"x\":2},\"a\":[7]}", "a[0]|int|7;");
    expect_flat(flat, "{\"\\u0061\":1,\"a\":2}", "a|int|2;");
    mrd__flat_destroy(&flat);
}

static void flat_of_many_keys(void **state)
{
    (void)state;
    enum {
        KEYS = 20000
    };
    mrd__buf text = {0};
    mrd__buf_char(&text, '{');
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < KEYS; i++)
            mrd__buf_printf(&text, "%s\"k%d\":%d", round + i > 0 ? "," : "", i, round);
    }
    mrd__buf_char(&text, '}');
    mrd__buf out = {0};
    mrd__flat *flat = mrd__flat_create();
    mrd__str all = {text.data, text.size};
    assert_int_equal(mrd__args_flatten(flat, all, add_leaf, &out, NULL), MRD_OK);
    size_t leaves = 0;
    for (size_t i = 0; i < out.size; i++)
        leaves += out.data[i] == ';';
    assert_int_equal(leaves, KEYS);
    assert_memory_equal(out.data, "k0|int|1;k1|int|1;", 18);
    mrd__flat_destroy(&flat);
    mrd__buf_reset(&text);
    mrd__buf_reset(&out);
}

static void flat_at_the_depth_limit(void **state)
{
    (void)state;
    mrd__buf text = {0};
    mrd__buf key = {0};
    for (int i = 0; i < MRD__JSON_MAX_DEPTH; i++)
        mrd__buf_char(&text, '[');
    mrd__buf_char(&text, '5');
    for (int i = 0; i < MRD__JSON_MAX_DEPTH; i++) {
        mrd__buf_char(&text, ']');
        mrd__buf_text(&key, "[0]");
    }
    mrd__buf_text(&key, "|int|5;");
    mrd__flat *flat = mrd__flat_create();
    expect_flat(flat, text.data, key.data);
    mrd__flat_destroy(&flat);
    mrd__buf_reset(&text);
    mrd__buf_reset(&key);
}

static mrd_status refuse(void *ctx, const mrd__arg *arg, mrd_error *error)
{
    (void)ctx;
    (void)arg;
    return mrd__fail(error, MRD_ERR_IO, "full", "no more");
}

static void flat_stops_at_a_failure(void **state)
{
    (void)state;
    mrd_error error = {0};
    mrd__flat *flat = mrd__flat_create();
    assert_int_equal(mrd__args_flatten(flat, MRD__STR("{\"a\":1,\"b\":2}"), refuse, NULL, &error),
                     MRD_ERR_IO);
    assert_string_equal(error.code, "full");
    expect_flat(flat, "{\"a\":1}", "a|int|1;");
    mrd__flat_destroy(&flat);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compact_drops_space_and_keeps_numbers),
        cmocka_unit_test(compact_makes_strings_strict),
        cmocka_unit_test(compact_quotes_what_is_not_finite),
        cmocka_unit_test(compact_of_text_that_is_no_json),
        cmocka_unit_test(flat_keys_and_types),
        cmocka_unit_test(flat_last_of_duplicates_wins),
        cmocka_unit_test(flat_of_many_keys),
        cmocka_unit_test(flat_at_the_depth_limit),
        cmocka_unit_test(flat_stops_at_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
