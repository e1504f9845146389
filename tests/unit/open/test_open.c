/* Opening real files: several as one trace, all or nothing, args from the mapped file. */
#include "base/os.h"
#include "open/open.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/mrd-open-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL ? 1 : 0;
}

static void path_of(const char *name, char *out, size_t size)
{
    snprintf(out, size, "%s/%s", folder, name);
}

static void write_file(const char *name, const char *text, char *path, size_t size)
{
    path_of(name, path, size);
    mrd_error error = {0};
    assert_int_equal(mrd__file_write_atomic(path, text, strlen(text), &error), MRD_OK);
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"a.json", "b.json", "bad.bin", "args.json"};
    char path[256];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        path_of(names[i], path, sizeof path);
        unlink(path);
    }
    return rmdir(folder);
}

static void test_two_files(void **state)
{
    (void)state;
    char a[256];
    char b[256];
    write_file("a.json",
               "[{\"ph\":\"X\",\"name\":\"in a\",\"ts\":2,\"dur\":1,\"pid\":1,\"tid\":1}]", a,
               sizeof a);
    write_file("b.json",
               "[{\"ph\":\"X\",\"name\":\"in b\",\"ts\":1,\"dur\":1,\"pid\":1,\"tid\":1}]", b,
               sizeof b);
    const char *const paths[] = {b, a};
    mrd__store *store = NULL;
    mrd_error error = {0};
    assert_int_equal(mrd__open(paths, 2, NULL, &store, &error), MRD_OK);
    assert_int_equal(store->file_count, 2);
    assert_string_equal(store->files[0].path, a);
    /* One thread, and a track of each file, so that events pair inside their file. */
    assert_int_equal(store->thread_count, 1);
    assert_int_equal(store->track_count, 2);
    assert_int_equal(store->slices.count, 2);
    assert_string_equal(mrd__store_str(store, store->slices.name[0]).data, "in a");
    assert_int_equal(store->start_ns, 1000);
    assert_int_equal(store->end_ns, 3000);
    mrd__store_destroy(&store);
}

static void test_all_or_nothing(void **state)
{
    (void)state;
    char a[256];
    char bad[256];
    char missing[256];
    write_file("a.json", "[]", a, sizeof a);
    write_file("bad.bin", "\x01\x02 nothing that anybody knows", bad, sizeof bad);
    path_of("missing", missing, sizeof missing);
    mrd__store *store = NULL;
    mrd_error error = {0};
    const char *const with_bad[] = {a, bad};
    assert_int_equal(mrd__open(with_bad, 2, NULL, &store, &error), MRD_ERR_FORMAT);
    assert_string_equal(error.code, "unknown_format");
    assert_string_equal(error.file, bad);
    assert_null(store);
    const char *const with_missing[] = {a, missing};
    assert_int_equal(mrd__open(with_missing, 2, NULL, &store, &error), MRD_ERR_NOT_FOUND);
    assert_string_equal(error.file, missing);
    assert_int_equal(mrd__open(with_bad, 0, NULL, &store, &error), MRD_ERR_ARGUMENT);
    assert_int_equal(mrd__open(with_bad, 1, NULL, &store, &error), MRD_OK);
    assert_true(store->empty);
    mrd__store_destroy(&store);
}

static void test_args_of_a_changed_file(void **state)
{
    (void)state;
    char path[256];
    write_file("args.json",
               "[{\"ph\":\"B\",\"name\":\"x\",\"ts\":1,\"pid\":1,\"tid\":1,\"args\":{\"a\":1}},\n"
               "{\"ph\":\"X\",\"name\":\"y\",\"ts\":2,\"dur\":1,\"pid\":1,\"tid\":1,\"args\":{"
               "\"b\":\"}\"}}]",
               path, sizeof path);
    const char *const paths[] = {path};
    mrd__store *store = NULL;
    mrd_error error = {0};
    assert_int_equal(mrd__open(paths, 1, NULL, &store, &error), MRD_OK);
    mrd__str args;
    mrd__buf scratch = {0};
    assert_int_equal(mrd__store_args(store, store->slices.args[0], &scratch, &args, &error),
                     MRD_OK);
    assert_true(mrd__str_is(args, "{\"a\":1}"));
    assert_int_equal(mrd__store_args(store, store->slices.args[1], &scratch, &args, &error),
                     MRD_OK);
    assert_true(mrd__str_is(args, "{\"b\":\"}\"}"));
    /* A change is seen once the last look is some milliseconds old. */
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    fputs("\n\n", file);
    fclose(file);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    assert_int_equal(mrd__store_args(store, store->slices.args[1], &scratch, &args, &error),
                     MRD_ERR_IO);
    assert_int_equal(args.size, 0);
    assert_string_equal(error.file, path);
    mrd__buf_reset(&scratch);
    mrd__store_destroy(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_files),
        cmocka_unit_test(test_all_or_nothing),
        cmocka_unit_test(test_args_of_a_changed_file),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
