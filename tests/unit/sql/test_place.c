#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sql/place.h"

static mrd__str text(const char *sql)
{
    return mrd__str_of(sql);
}

static void includes_are_skipped(void **state)
{
    (void)state;
    assert_int_equal(mrd__sql_skip_includes(text("SELECT 1")), 0);
    assert_int_equal(mrd__sql_skip_includes(text("INCLUDE PERFETTO MODULE a.b;SELECT 1")), 28);
    assert_int_equal(
        mrd__sql_skip_includes(text("-- x\ninclude /* y */ perfetto\tmodule a; INCLUDE PERFETTO "
                                    "MODULE b ;\nSELECT 1")),
        67);
    assert_int_equal(mrd__sql_skip_includes(text("INCLUDE PERFETTO MODULE a.b")), 27);
    assert_int_equal(mrd__sql_skip_includes(text("INCLUDED PERFETTO MODULE a;")), 0);
    assert_int_equal(mrd__sql_skip_includes(text("/* never ends")), 0);
    assert_int_equal(mrd__sql_skip_includes(text("")), 0);
}

/* What is explained, as text. */
static const char *explained(const char *sql)
{
    size_t at = mrd__sql_explained(text(sql));
    return at == 0 ? NULL : sql + at;
}

static void explained_statement(void **state)
{
    (void)state;
    assert_null(explained("SELECT 1"));
    assert_string_equal(explained("EXPLAIN SELECT 1"), "SELECT 1");
    assert_string_equal(explained(" explain\nanalyze /* x */ DROP VIEW v"), "DROP VIEW v");
    assert_string_equal(explained("EXPLAIN (ANALYZE) DROP VIEW v"), " DROP VIEW v");
    assert_string_equal(explained("EXPLAIN (FORMAT json) SELECT 1"), " SELECT 1");
    assert_string_equal(explained("EXPLAIN (SELECT 1)"), "(SELECT 1)");
    assert_string_equal(explained("EXPLAIN"), "");
}

static void ends_are_stripped(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"SELECT 1;", "SELECT 1"},
        {"SELECT 1 ; -- done\n ", "SELECT 1"},
        {"SELECT ';' /* a */;;", "SELECT ';'"},
        {"SELECT '--' AS \"/*\"", "SELECT '--' AS \"/*\""},
        {"SELECT 'it''s'; /* never ends", "SELECT 'it''s'"},
        {"SELECT 'never ends ;", "SELECT 'never ends ;"},
        {";", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mrd__buf sql = {0};
        mrd__buf_text(&sql, cases[i][0]);
        mrd__sql_strip_end(&sql);
        assert_string_equal(sql.data, cases[i][1]);
        assert_int_equal(sql.size, mrd__str_of(cases[i][1]).size);
        mrd__buf_reset(&sql);
    }
}

static void places(void **state)
{
    (void)state;
    mrd__str sql = text("SELECT a,\n  nope FROM t WHERE x = 1");
    assert_int_equal(mrd__sql_place(sql, "no place"), -1);
    assert_int_equal(mrd__sql_place(sql, "Error: x\n\nLINE 2:   nope FROM t WHERE x = 1\n"
                                         "          ^"),
                     12);
    /* A long line is shown in part. */
    assert_int_equal(mrd__sql_place(sql, "Error: x\n\nLINE 2: ...ROM t WHE...\n"
                                         "               ^"),
                     22);
    assert_int_equal(mrd__sql_place(sql, "x\nLINE 2: ...not there...\n            ^"), -1);
    assert_int_equal(mrd__sql_place(sql, "x\nLINE 1: SELECT a,\n  ^"), -1);
    assert_int_equal(mrd__sql_place(sql, "x\nLINE 1: SELECT a,"), -1);
    assert_int_equal(mrd__sql_place(sql, "x\nLINE 9"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(includes_are_skipped),
        cmocka_unit_test(explained_statement),
        cmocka_unit_test(ends_are_stripped),
        cmocka_unit_test(places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
