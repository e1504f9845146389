#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "export/cut.h"
#include "export/wire.h"

static bool fits(const char *pattern, const char *text)
{
    return mrd__glob(pattern, mrd__str_of(text));
}

static void patterns(void **state)
{
    (void)state;
    assert_true(fits("", ""));
    assert_false(fits("", "a"));
    assert_true(fits("*", ""));
    assert_true(fits("a*c", "abbbc"));
    assert_true(fits("a*c", "acc"));
    assert_false(fits("a*c", "acb"));
    assert_true(fits("*a*b*", "xxaxxbxx"));
    assert_true(fits("a?c", "abc"));
    assert_false(fits("a?c", "ac"));
    assert_true(fits("[a-c]x", "bx"));
    assert_false(fits("[a-c]x", "dx"));
    assert_true(fits("[!a-c]x", "dx"));
    assert_false(fits("[^a-c]x", "bx"));
    assert_true(fits("[]]", "]"));
    assert_true(fits("[a", "[a"));
    assert_false(fits("abc", "abcd"));
    assert_true(fits("*[0-9]", "kernel 7"));
}

static void wire(void **state)
{
    (void)state;
    mrd__buf out = {0};
    mrd__wire_varint(&out, 1, 300);
    mrd__wire_bytes(&out, 2, MRD__STR("ab"));
    mrd__wire_fixed64(&out, 3, 1);
    assert_int_equal(out.size, 3 + 4 + 9);
    assert_memory_equal(out.data,
                        "\x08\xac\x02\x12\x02"
                        "ab\x19\x01\0\0\0\0\0\0\0",
                        out.size);
    mrd__buf_clear(&out);
    /* {"k": [1, {}]} is a note named k with two elements. */
    mrd__wire_annotations(&out, 4, MRD__STR("{\"k\": [1, {}]}"));
    assert_memory_equal(out.data, "\x22\x0d\x52\x01k\x62\x02\x20\x01\x62\x04\x4a\x02{}", out.size);
    mrd__buf_clear(&out);
    mrd__wire_annotations(&out, 4, MRD__STR("[1]"));
    mrd__wire_annotations(&out, 4, MRD__STR("{\"cut"));
    assert_int_equal(out.size, 0);
    mrd__buf_reset(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(patterns), cmocka_unit_test(wire)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
