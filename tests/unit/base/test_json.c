#include "base/alloc.h"
#include "base/json.h"
#include "unit.h"

#include <string.h>

/* Tokens as one line: {}[] k:text s:text n:text t f 0 $ and !what@offset at an error. Each text is
 * read from an allocation of exactly its size, so that address checkers see a read too far. */
static void trace_exact(mrd__buf *out, const char *text, size_t size)
{
    char *copy = mrd__alloc(size);
    if (size > 0) memcpy(copy, text, size);
    mrd__json json;
    mrd__json_init(&json, copy, size);
    for (;;) {
        mrd__json_token token = mrd__json_next(&json);
        switch (token.type) {
        case MRD__JSON_ERROR:
            mrd__buf_printf(out, "!%s@%zu", json.error_what, json.error_at);
            assert_int_equal(mrd__json_next(&json).type, MRD__JSON_ERROR);
            assert_true(json.error_at <= size);
            mrd__free(copy);
            return;
        case MRD__JSON_END:
            mrd__buf_char(out, '$');
            assert_int_equal(mrd__json_next(&json).type, MRD__JSON_END);
            mrd__free(copy);
            return;
        case MRD__JSON_KEY:
        case MRD__JSON_STRING:
            assert_int_equal(copy[token.offset], '"');
            mrd__buf_printf(out, "%s%s:", token.type == MRD__JSON_KEY ? "k" : "s",
                            token.escaped ? "e" : "");
            mrd__buf_str(out, token.text);
            break;
        case MRD__JSON_NUMBER:
            mrd__buf_text(out, token.nonstandard ? "x:" : "n:");
            mrd__buf_str(out, token.text);
            break;
        default:
            mrd__buf_char(out, " $"
                               "{}[]"
                               "   "
                               "tf0"[token.type]);
        }
        mrd__buf_char(out, ' ');
    }
}

static void expect(const char *text, const char *want)
{
    mrd__buf out = {0};
    trace_exact(&out, text, strlen(text));
    if (strcmp(out.data, want) != 0) fail_msg("%s\n  got  %s\n  want %s", text, out.data, want);
    mrd__buf_reset(&out);
}

static void test_values(void **state)
{
    (void)state;
    expect("{}", "{ } $");
    expect("[]", "[ ] $");
    expect(" [ ] ", "[ ] $");
    expect("true", "t $");
    expect("[true,false,null]", "[ t f 0 ] $");
    expect("\"x\"", "s:x $");
    expect("\"a\\\"b\\\\\"", "se:a\\\"b\\\\ $");
    expect("{\"a\":1,\"b\":{\"c\":[1,{}]} , \"d\" : \"\"}",
           "{ k:a n:1 k:b { k:c [ n:1 { } ] } k:d s: } $");
    expect("\xef\xbb\xbf{}", "{ } $");
    expect("[[[]],[]]", "[ [ [ ] ] [ ] ] $");
    expect("\r\n\t 1 \r\n\t ", "n:1 $");
    expect("[\"\xff\",\"a\nb\"]", "[ s:\xff s:a\nb ] $"); /* tolerated, decoding counts them */
}

static void test_numbers(void **state)
{
    (void)state;
    expect("[0,-0,1.5,-2e3,1E+4,1e-4,10.25e1]",
           "[ n:0 n:-0 n:1.5 n:-2e3 n:1E+4 n:1e-4 n:10.25e1 ] $");
    expect("[NaN,nan,Infinity,inf]", "[ x:NaN x:nan x:Infinity x:inf ] $");
    expect("[-NaN,-nan,-Infinity,-inf,+inf,+Infinity,+nan]",
           "[ x:-NaN x:-nan x:-Infinity x:-inf x:+inf x:+Infinity x:+nan ] $");
    expect("NaN", "x:NaN $");
    static const char *const bad[] = {"01",  "-01", "1.",    ".5",  "1e", "1e+", "1.e5", "+1",
                                      "--1", "1a",  "1.2.3", "0x1", "1-", "-a",  "1e5x", "-"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        mrd__json json;
        mrd__json_init(&json, bad[i], strlen(bad[i]));
        if (mrd__json_next(&json).type != MRD__JSON_ERROR) fail_msg("accepted: %s", bad[i]);
    }
}

static void test_errors(void **state)
{
    (void)state;
    expect("", "!text ends early@0");
    expect("  ", "!text ends early@2");
    expect("{", "{ !text ends early@1");
    expect("[", "[ !text ends early@1");
    expect("[1", "[ n:1 !text ends early@2");
    expect("[1,]", "[ n:1 !unexpected character@3");
    expect("{\"a\":1,}", "{ k:a n:1 !unexpected character@7");
    expect("[,1]", "[ !unexpected character@1");
    expect("{\"a\"}", "{ !unexpected character@4");
    expect("{\"a\":}", "{ k:a !unexpected character@5");
    expect("{\"a\" 1}", "{ !unexpected character@5");
    expect("{1:2}", "{ !unexpected character@1");
    expect("[1 2]", "[ n:1 !unexpected character@3");
    expect("[1}", "[ n:1 !unexpected character@2");
    expect("{\"a\":1]", "{ k:a n:1 !unexpected character@6");
    expect("1 2", "n:1 !unexpected character@2");
    expect("{}{}", "{ } !unexpected character@2");
    expect("]", "!unexpected character@0");
    expect("\"abc", "!text ends inside a string@0");
    expect("\"abc\\\"", "!text ends inside a string@0");
    expect("\"abc\\", "!text ends inside a string@0");
    expect("tru", "!unknown word@0");
    expect("TRUE", "!unknown word@0");
    expect("truex", "!unknown word@0");
    expect("NULL", "!unknown word@0");
    expect("Inf", "!unknown word@0");
    expect("-true", "!unknown word@0");
    expect("'a'", "!unexpected character@0");
    expect("[1] // x", "[ n:1 ] !unexpected character@4");
    expect("-", "!text ends inside a number@1");
    expect("\x01", "!unexpected character@0");
}

/* The whole is fine; every proper prefix is an error, and none is read beyond its end. */
static void test_truncated(void **state)
{
    (void)state;
    static const char text[] = "{\"a\":[1.5e-3,true,false,null,NaN,-Infinity,\"\\u00e9\\\"x\"],"
                               "\"b\" : {\"c\":{}, \"d\":[[],[{}]]},\"e\":-12}";
    size_t size = sizeof text - 1;
    for (size_t cut = 0; cut <= size; cut++) {
        mrd__buf out = {0};
        trace_exact(&out, text, cut);
        char last = out.data[out.size - 1];
        assert_int_equal(last == '$', cut == size);
        assert_int_equal(strchr(out.data, '!') != NULL, cut < size);
        mrd__buf_reset(&out);
    }
}

/* One byte of the text replaced by every value: never a crash, always an end. */
static void test_mutated(void **state)
{
    (void)state;
    static const char text[] = "{\"a\":[1.5e-3,true,null,NaN],\"b\":{\"c\\n\":\"x\"}}";
    char copy[sizeof text];
    for (size_t at = 0; at + 1 < sizeof text; at++) {
        for (int value = 0; value < 256; value++) {
            memcpy(copy, text, sizeof text);
            copy[at] = (char)value;
            mrd__buf out = {0};
            trace_exact(&out, copy, sizeof text - 1);
            mrd__buf_reset(&out);
        }
    }
}

static void nested(mrd__buf *out, const char *open, const char *close, size_t depth)
{
    mrd__buf_clear(out);
    for (size_t i = 0; i < depth; i++)
        mrd__buf_text(out, open);
    mrd__buf_text(out, "1");
    for (size_t i = 0; i < depth; i++)
        mrd__buf_text(out, close);
}

static void test_depth(void **state)
{
    (void)state;
    mrd__buf text = {0};
    mrd__buf out = {0};
    nested(&text, "[", "]", MRD__JSON_MAX_DEPTH);
    trace_exact(&out, text.data, text.size);
    assert_int_equal(out.data[out.size - 1], '$');
    mrd__buf_clear(&out);
    nested(&text, "{\"k\":", "}", MRD__JSON_MAX_DEPTH);
    trace_exact(&out, text.data, text.size);
    assert_int_equal(out.data[out.size - 1], '$');
    mrd__buf_clear(&out);
    nested(&text, "{\"k\":[", "]}", MRD__JSON_MAX_DEPTH / 2);
    trace_exact(&out, text.data, text.size);
    assert_int_equal(out.data[out.size - 1], '$');
    mrd__buf_clear(&out);
    nested(&text, "[", "]", MRD__JSON_MAX_DEPTH + 1);
    trace_exact(&out, text.data, text.size);
    assert_non_null(strstr(out.data, "!nested deeper than 512 levels@512"));
    mrd__buf_clear(&out);
    nested(&text, "[", "]", 1000000);
    trace_exact(&out, text.data, text.size);
    assert_non_null(strstr(out.data, "!nested deeper than 512 levels@512"));
    mrd__buf_reset(&text);
    mrd__buf_reset(&out);
}

static void test_skip(void **state)
{
    (void)state;
    static const char text[] = "{\"a\":{\"x\":[1,{\"y\":[]}]},\"b\":[[],{}],\"c\":5,\"d\":\"s\"}";
    mrd__json json;
    mrd__json_init(&json, text, sizeof text - 1);
    assert_int_equal(mrd__json_next(&json).type, MRD__JSON_OBJECT);
    for (const char *key = "abcd"; *key != '\0'; key++) {
        mrd__json_token token = mrd__json_next(&json);
        assert_int_equal(token.type, MRD__JSON_KEY);
        assert_int_equal(token.text.data[0], *key);
        assert_true(mrd__json_skip(&json, mrd__json_next(&json)));
    }
    assert_int_equal(mrd__json_next(&json).type, MRD__JSON_OBJECT_END);
    assert_int_equal(mrd__json_next(&json).type, MRD__JSON_END);
    mrd__json_init(&json, "[[1,}", 5);
    mrd__json_token first = mrd__json_next(&json);
    assert_false(mrd__json_skip(&json, first));
    assert_false(mrd__json_skip(&json, mrd__json_next(&json)));
}

typedef struct decode_case {
    mrd__str raw;
    mrd__str want;
    mrd__json_text_stats stats; /* raw controls, invalid UTF-8, lone surrogates, bad escapes */
} decode_case;

#define S(literal)                                                                                 \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }
#define U "\xef\xbf\xbd"

static void test_decode(void **state)
{
    (void)state;
    static const decode_case cases[] = {
        {S(""), S(""), {0, 0, 0, 0}},
        {S("plain"), S("plain"), {0, 0, 0, 0}},
        {S("\\\"\\\\\\/\\b\\f\\n\\r\\t"), S("\"\\/\b\f\n\r\t"), {0, 0, 0, 0}},
        {S("\\u0041\\u00e9\\u20AC"), S("A\xc3\xa9\xe2\x82\xac"), {0, 0, 0, 0}},
        {S("a\\u0000b"), S("a\0b"), {0, 0, 0, 0}},
        {S("\\ud83d\\ude00!"), S("\xf0\x9f\x98\x80!"), {0, 0, 0, 0}},
        {S("\\uDBFF\\uDFFF"), S("\xf4\x8f\xbf\xbf"), {0, 0, 0, 0}},
        {S("\\ud83d"), S(U), {0, 0, 1, 0}},
        {S("\\ude00"), S(U), {0, 0, 1, 0}},
        {S("\\ud83dx"), S(U "x"), {0, 0, 1, 0}},
        {S("\\ud83d\\n"), S(U "\n"), {0, 0, 1, 0}},
        {S("\\ud83d\\ud83d\\ude00"), S(U "\xf0\x9f\x98\x80"), {0, 0, 1, 0}},
        {S("\\ud83d\\u0041"), S(U "A"), {0, 0, 1, 0}},
        {S("\\ud83d\\u00"), S(U "\\u00"), {0, 0, 1, 1}},
        {S("\\ude00\\ud83d"), S(U U), {0, 0, 2, 0}},
        {S("\\x41"), S("\\x41"), {0, 0, 0, 1}},
        {S("\\u12g4"), S("\\u12g4"), {0, 0, 0, 1}},
        {S("\\u123"), S("\\u123"), {0, 0, 0, 1}},
        {S("\\u"), S("\\u"), {0, 0, 0, 1}},
        {S("\\"), S("\\"), {0, 0, 0, 1}},
        {S("\\\xff"), S("\\" U), {0, 1, 0, 1}},
        {S("\\\0"), S("\\\0"), {1, 0, 0, 1}},
        {S("a\tb\nc\0"), S("a\tb\nc\0"), {3, 0, 0, 0}},
        {S("\xc3\xa9\xff\xe2\x82"), S("\xc3\xa9" U U), {0, 2, 0, 0}},
        {S("\xed\xa0\xbd"), S(U U U), {0, 3, 0, 0}},
        {S("\x7f"), S("\x7f"), {0, 0, 0, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mrd__buf out = {0};
        mrd__json_text_stats stats = {0};
        char *exact = mrd__alloc(cases[i].raw.size);
        memcpy(exact, cases[i].raw.data, cases[i].raw.size);
        mrd__json_decode(&out, (mrd__str){exact, cases[i].raw.size}, &stats);
        mrd__free(exact);
        if (!mrd__str_equal((mrd__str){out.data, out.size}, cases[i].want))
            fail_msg("case %zu: %s gave %s", i, cases[i].raw.data, out.data);
        assert_memory_equal(&stats, &cases[i].stats, sizeof stats);
        assert_true(mrd__utf8_valid((mrd__str){out.data, out.size}));
        mrd__buf_reset(&out);
    }
    mrd__buf out = {0};
    mrd__json_decode(&out, MRD__STR("\\x\xff\\ud800"), NULL); /* nobody counts */
    assert_string_equal(out.data, "\\x" U U);
    mrd__buf_reset(&out);
}

/* What the writer makes of any bytes, the reader gives back. */
static void test_round_trip(void **state)
{
    (void)state;
    mrd__buf text = {0};
    mrd__buf json_text = {0};
    mrd__buf back = {0};
    for (uint32_t point = 0; point < 0x3000; point++)
        mrd__utf8_append(&text, point);
    mrd__buf_json_string(&json_text, (mrd__str){text.data, text.size});
    mrd__json json;
    mrd__json_init(&json, json_text.data, json_text.size);
    mrd__json_token token = mrd__json_next(&json);
    assert_int_equal(token.type, MRD__JSON_STRING);
    assert_true(token.escaped);
    mrd__json_text_stats stats = {0};
    mrd__json_decode(&back, token.text, &stats);
    assert_int_equal(stats.raw_controls + stats.invalid_utf8 + stats.bad_escapes, 0);
    assert_int_equal(back.size, text.size);
    assert_memory_equal(back.data, text.data, text.size);
    mrd__buf_reset(&text);
    mrd__buf_reset(&json_text);
    mrd__buf_reset(&back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),     cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_errors),     cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_mutated),    cmocka_unit_test(test_depth),
        cmocka_unit_test(test_skip),       cmocka_unit_test(test_decode),
        cmocka_unit_test(test_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
