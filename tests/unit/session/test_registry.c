/* The registry: its meanings are those that were recorded for their versions, its page is current,
 * and the table is one that can be searched. */
#include "base/os.h"
#include "base/unit.h"
#include "session/registry.h"

#include <string.h>

#define DEFINITIONS MRD_SOURCE_DIR "/tests/unit/session/definitions.txt"
#define PAGE MRD_SOURCE_DIR "/docs/metrics.md"

static void read_file(const char *path, mrd__buf *out)
{
    mrd_error error;
    if (mrd__file_read(out, path, (size_t)1 << 20, &error) != MRD_OK) fail_msg("%s", error.message);
}

/* A changed row needs a new version: its line for the old one stays recorded as it is. */
static void test_meanings(void **state)
{
    (void)state;
    size_t count;
    const mrd__metric *rows = mrd__registry(&count);
    mrd__buf text = {0}, line = {0};
    read_file(DEFINITIONS, &text);
    for (size_t i = 0; i < count; i++) {
        char hash[65];
        mrd__registry_hash(&rows[i], hash);
        mrd__buf_clear(&line);
        mrd__buf_printf(&line, "%s %s %s ", rows[i].id, rows[i].kind, rows[i].definition_version);
        const char *at = strstr(text.data, line.data);
        if (at == NULL || (at != text.data && at[-1] != '\n'))
            fail_msg("no line \"%s%s\" in definitions.txt", line.data, hash);
        else if (strncmp(at + line.size, hash, 64) != 0)
            fail_msg("%s means something else than recorded for %s: give it a new version and the "
                     "line \"%s%s\"",
                     rows[i].id, rows[i].definition_version, line.data, hash);
    }
    mrd__buf_reset(&text);
    mrd__buf_reset(&line);
}

/* The hash sees every part of a row's meaning. */
static void test_hash(void **state)
{
    (void)state;
    size_t count;
    mrd__metric row = mrd__registry(&count)[0];
    char before[65], after[65];
    mrd__registry_hash(&row, before);
#define CHANGES(field, value)                                                                      \
    do {                                                                                           \
        mrd__metric changed = row;                                                                 \
        changed.field = value;                                                                     \
        mrd__registry_hash(&changed, after);                                                       \
        assert_string_not_equal(before, after);                                                    \
    } while (0)
    CHANGES(id, "x");
    CHANGES(kind, "x");
    CHANGES(source_key, "x");
    CHANGES(source, "x");
    CHANGES(unit, "x");
    CHANGES(scope, "x");
    CHANGES(role, MRD__ROLE_COMPARE);
    CHANGES(type, MRD__METRIC_WINDOW);
    CHANGES(window_ns, 1);
    CHANGES(freshness_ns, 1);
    CHANGES(zero_rule, "x");
    CHANGES(formula, "x");
    CHANGES(numer, 7);
    CHANGES(denom, 7);
    CHANGES(divisor, "x");
    CHANGES(breaks, 31);
    CHANGES(flags, 7);
    CHANGES(bridge, "x");
    CHANGES(aggregate, "x");
    CHANGES(order, "x");
#undef CHANGES
}

static void test_page(void **state)
{
    (void)state;
    mrd__buf page = {0}, made = {0};
    read_file(PAGE, &page);
    mrd__registry_document(&made);
    if (made.size != page.size || memcmp(made.data, page.data, made.size) != 0)
        fail_msg("docs/metrics.md is not what the registry says: sh tools/metrics.sh");
    mrd__buf_reset(&page);
    mrd__buf_reset(&made);
}

/* Rows of a kind stand together, a member gives a metric once, and each says what it must. */
static void test_table(void **state)
{
    (void)state;
    size_t count;
    const mrd__metric *rows = mrd__registry(&count), *first;
    for (size_t i = 0; i < count; i++) {
        size_t of_kind = mrd__registry_rows(mrd__str_of(rows[i].kind), &first);
        assert_true(&rows[i] >= first && &rows[i] < first + of_kind);
        assert_non_null(mrd__registry_find(mrd__str_of(rows[i].id)));
        assert_true(rows[i].numer > 0 && rows[i].denom > 0);
        assert_true(rows[i].formula[0] != '\0' && rows[i].zero_rule[0] != '\0');
        assert_true(rows[i].aggregate[0] != '\0' && rows[i].order[0] != '\0');
        assert_true((rows[i].type == MRD__METRIC_WINDOW) == (rows[i].window_ns > 0));
        for (size_t j = 0; j < i; j++)
            assert_false(strcmp(rows[i].id, rows[j].id) == 0 &&
                         strcmp(rows[i].kind, rows[j].kind) == 0);
    }
    assert_null(mrd__registry_find(MRD__STR("cpu.core")));
    assert_int_equal(mrd__registry_rows(MRD__STR("no.kind"), &first), 0);
}

static void test_check(void **state)
{
    (void)state;
    mrd_error error;
    assert_int_equal(mrd__registry_check(MRD__STR(MRD__DEFINITIONS), &error), MRD_OK);
    assert_int_equal(mrd__registry_check(MRD__STR("metrics.v0"), &error), MRD_ERR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "metrics.v0"));
    assert_non_null(strstr(error.message, MRD__DEFINITIONS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meanings), cmocka_unit_test(test_hash),  cmocka_unit_test(test_page),
        cmocka_unit_test(test_table),    cmocka_unit_test(test_check),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
