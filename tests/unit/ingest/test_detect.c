/* Which format a file is: the registry. */
#include "ingest/unit.h"

#include <string.h>

#include "ingest/ingest.h"

static const mrd__importer *detect(const char *head, size_t size, mrd_error *error)
{
    const mrd__importer *importer = NULL;
    mrd_status status = mrd__ingest_detect("f", head, size, &importer, error);
    assert_int_equal(status == MRD_OK, importer != NULL);
    return importer;
}

static void test_chrome_json(void **state)
{
    (void)state;
    static const char *const yes[] = {"[]",      "[",        " \n[ {\"ph\"", "{\"traceEvents\":[",
                                      "[,{",     "{}",       "{ \"a\"",      "\xef\xbb\xbf[{",
                                      "[\n\t\r", "{\"meta\""};
    static const char *const no[] = {"",   " ",        "hello",       "[section]\n",
                                     "{a", "\x0a\x10", "\xef\xbb\xbf"};
    mrd_error error = {0};
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) {
        const mrd__importer *importer = detect(yes[i], strlen(yes[i]), &error);
        if (importer == NULL) fail_msg("not taken: %s", yes[i]);
        assert_string_equal(importer->name, "chrome_json");
    }
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
        if (detect(no[i], strlen(no[i]), &error) != NULL) fail_msg("taken: %s", no[i]);
        assert_int_equal(error.status, MRD_ERR_FORMAT);
        assert_string_equal(error.code, "unknown_format");
        assert_string_equal(error.file, "f");
    }
}

static void test_refusal_lists_all(void **state)
{
    (void)state;
    mrd_error error = {0};
    assert_null(detect("hello", 5, &error));
    for (size_t i = 0; mrd__importers[i] != NULL; i++)
        assert_non_null(strstr(error.message, mrd__importers[i]->what));
}

static void test_priorities(void **state)
{
    (void)state;
    assert_non_null(mrd__importers[0]);
    for (size_t i = 1; mrd__importers[i] != NULL; i++)
        assert_true(mrd__importers[i - 1]->priority < mrd__importers[i]->priority);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chrome_json),
        cmocka_unit_test(test_refusal_lists_all),
        cmocka_unit_test(test_priorities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
