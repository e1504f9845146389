/* An object at a glance: what it accepts, the pull reader reads the same. */
#include "base/alloc.h"
#include "base/json.h"
#include "base/os.h"
#include "unit.h"

#include <string.h>

enum {
    MOST = 12,
};

/* The members again, by the pull reader; text is of exactly its size. */
static void compare(const char *text, size_t size, const mrd__json_member *members, size_t count,
                    size_t end)
{
    mrd__json json;
    mrd__json_init(&json, text, size);
    assert_int_equal(mrd__json_next(&json).type, MRD__JSON_OBJECT);
    for (size_t i = 0; i < count; i++) {
        mrd__json_token key = mrd__json_next(&json);
        assert_int_equal(key.type, MRD__JSON_KEY);
        assert_false(key.escaped);
        assert_true(mrd__str_equal(key.text, members[i].key));
        mrd__json_token value = mrd__json_next(&json);
        assert_int_equal(value.type, members[i].value.type);
        assert_true(mrd__str_equal(value.text, members[i].value.text));
        assert_int_equal(value.offset, members[i].value.offset);
        assert_false(value.escaped || value.nonstandard);
        assert_true(mrd__json_skip(&json, value));
        assert_int_equal(json.at - value.offset, members[i].raw.size);
        uint64_t number;
        if (members[i].whole) {
            assert_true(mrd__parse_uint64(value.text, &number));
            assert_int_equal(number, members[i].number);
        }
    }
    assert_int_equal(mrd__json_next(&json).type, MRD__JSON_OBJECT_END);
    assert_int_equal(json.at, end);
}

static bool try(const char *text, size_t size)
{
    mrd__json_member members[MOST];
    size_t count, at = 0;
    char *exact = mrd__alloc(size);
    if (size > 0) memcpy(exact, text, size);
    bool good = mrd__json_members(exact, size, &at, 0, members, MOST, &count);
    if (good) compare(exact, size, members, count, at);
    mrd__free(exact);
    return good;
}

static const char *const texts[] = {
    "{}",
    "{\"a\":1}",
    "{\"sourceId\":\"s0\",\"n\":0,\"pid\":812,\"kind\":\"proc.cpu\",\"payload\":{\"cpuNs\":0,\"n\":"
    "6}}",
    "{\"a\": true, \"b\": false, \"c\": null, \"d\": -12.50, \"e\": \"x y\"}",
    "{\"a\":[1,[2,{\"b\":\"\\n\"}]],\"c\":{\"d\":{\"e\":{\"f\":{\"g\":{\"h\":[]}}}}},\"i\":"
    "999999999999999999}",
    "{\"a\":1234567890123456789,\"b\":{\"c\" : 1e9},\"d\":-0}",
};

static void test_accepted(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (!try(texts[i], strlen(texts[i]))) fail_msg("not taken: %s", texts[i]);
}

/* These are not plain, or no JSON: the pull reader decides. */
static void test_refused(void **state)
{
    (void)state;
    static const char *const left[] = {
        "",
        "{",
        "[1]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":01}",
        "{\"a\":1",
        "{\"a\":1,}",
        "{\"a\" :1}",
        "{\"\\u0061\":1}",
        "{\"a\":1e3}",
        "{\"a\":.5}",
        "{\"a\":1.}",
        "{\"a\":-}",
        "{\"a\":NaN}",
        "{\"a\":truex}",
        "{\"a\":\"\\n\"}",
        "{\"a\":1 }",
        "{,}",
        "{\"a\":1;}",
        "{\"a\":{\"b\":}}",
        "{\"a\":[1}",
    };
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++)
        if (try(left[i], strlen(left[i]))) fail_msg("taken: %s", left[i]);
    /* As deep as the pull reader goes, and deeper. */
    mrd__buf deep = {0};
    for (int levels = 505; levels < 520; levels++) {
        mrd__buf_clear(&deep);
        mrd__buf_text(&deep, "{\"a\":");
        for (int i = 0; i < levels; i++)
            mrd__buf_char(&deep, '[');
        for (int i = 0; i < levels; i++)
            mrd__buf_char(&deep, ']');
        mrd__buf_char(&deep, '}');
        assert_int_equal(try(deep.data, deep.size), levels < MRD__JSON_MAX_DEPTH);
    }
    mrd__buf_reset(&deep);
}

static void test_mutated(void **state)
{
    (void)state;
    static const char bytes[] = "{}[]\":,\\ 019-.etfnu\x00\xff";
    mrd__rng rng = {11};
    size_t taken = 0;
    for (int i = 0; i < 200000; i++) {
        char text[128];
        const char *of = texts[mrd__rng_below(&rng, sizeof texts / sizeof texts[0])];
        size_t size = strlen(of);
        memcpy(text, of, size);
        for (uint64_t changes = mrd__rng_below(&rng, 3); changes > 0; changes--)
            text[mrd__rng_below(&rng, size)] = bytes[mrd__rng_below(&rng, sizeof bytes - 1)];
        if (mrd__rng_below(&rng, 8) == 0) size = mrd__rng_below(&rng, size + 1);
        taken += try(text, size);
    }
    assert_true(taken > 50000 && taken < 190000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepted),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_mutated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
