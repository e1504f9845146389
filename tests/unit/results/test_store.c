/* The result store: rows and files in step, filters, pages, what a crash leaves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os.h"
#include "results/internal.h"

#define OK(x) assert_int_equal((x), MRD_OK)

typedef struct fixture {
    char folder[64], trace[96];
    mrd__results *results;
} fixture;

static int setup(void **state)
{
    fixture *f = test_calloc(1, sizeof *f);
    snprintf(f->folder, sizeof f->folder, "/tmp/mrd-results-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->trace, sizeof f->trace, "%s/foreign.parquet", f->folder);
    OK(mrd__file_write_atomic(f->trace, "PAR1 any bytes", 14, NULL));
    OK(mrd__results_open(f->folder, NULL, &f->results, NULL));
    *state = f;
    return 0;
}

static int remove_folder(const char *folder)
{
    char *argv[] = {(char *)"rm", (char *)"-rf", (char *)folder, NULL};
    pid_t child = fork();
    if (child == 0) {
        execvp("rm", argv);
        _exit(127);
    }
    return child > 0 ? 0 : -1;
}

static int teardown(void **state)
{
    fixture *f = *state;
    mrd__results_close(&f->results);
    int result = remove_folder(f->folder);
    test_free(f);
    return result;
}

static int64_t add(fixture *f, const char *experiment, const char *algorithm, const char *size)
{
    mrd__field fields[] = {{"primitive", MRD__STR("all_reduce")},
                           {"algorithm", mrd__str_of(algorithm)},
                           {"msg_size_bytes", mrd__str_of(size)},
                           {"topology_name", MRD__STR("Torus_8")},
                           {"total_latency_ns", MRD__STR("1.5")}};
    int64_t id = 0;
    OK(mrd__results_add(f->results, f->trace, experiment, fields, 5, false, &id, NULL));
    assert_true(id > 0);
    return id;
}

static char *show(fixture *f, int64_t id)
{
    mrd__buf out = {0};
    mrd_sink sink = mrd__buf_sink(&out);
    OK(mrd__results_show(f->results, id, MRD_FORMAT_JSON, &sink, NULL));
    return out.data;
}

static void expect_list(fixture *f, const mrd__field *filters, size_t count, const char *ids,
                        int total)
{
    mrd__buf out = {0}, seen = {0};
    char want_total[32];
    mrd_sink sink = mrd__buf_sink(&out);
    OK(mrd__results_list(f->results, filters, count, MRD_FORMAT_JSON, &sink, NULL));
    for (const char *at = out.data; (at = strstr(at, "{\"id\":")) != NULL; at++)
        mrd__buf_printf(&seen, "%s%d", seen.size ? "," : "", (int)strtol(at + 6, NULL, 10));
    assert_string_equal(seen.data ? seen.data : "", ids);
    snprintf(want_total, sizeof want_total, "\"total\":%d", total);
    assert_non_null(strstr(out.data, want_total));
    mrd__buf_reset(&out);
    mrd__buf_reset(&seen);
}

static void test_add_and_show(void **state)
{
    fixture *f = *state;
    int64_t id = add(f, NULL, "ring", "1024");
    char *row = show(f, id), path[512];
    assert_non_null(strstr(row, "\"algorithm\":\"ring\",\"msg_size_bytes\":1024"));
    assert_non_null(strstr(row, "\"total_latency_ns\":1.5"));
    assert_non_null(strstr(row, "\"dtype\":null"));
    assert_non_null(strstr(row, "\"trace_file_path\":\"traces/1/1_trace.parquet\""));
    mrd__free(row);
    OK(mrd__results_trace_path(f->results, id, path, sizeof path, NULL));
    mrd__buf bytes = {0};
    OK(mrd__file_read(&bytes, path, 100, NULL));
    assert_string_equal(bytes.data, "PAR1 any bytes");
    mrd__buf_reset(&bytes);
    OK(mrd__results_remove(f->results, id, NULL));
    assert_false(mrd__file_exists(path));
    assert_true(mrd__file_exists(f->trace));
    mrd_error error = {0};
    assert_int_equal(mrd__results_trace_path(f->results, id, path, sizeof path, &error),
                     MRD_ERR_NOT_FOUND);
    assert_string_equal(error.code, "no_such_result");
}

static void test_missing_file_and_link(void **state)
{
    fixture *f = *state;
    char path[512];
    mrd_error error = {0};
    int64_t id = add(f, NULL, "ring", "1"), linked = 0;
    OK(mrd__results_trace_path(f->results, id, path, sizeof path, NULL));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mrd__results_trace_path(f->results, id, path, sizeof path, &error),
                     MRD_ERR_NOT_FOUND);
    assert_string_equal(error.code, "trace_file_missing");
    OK(mrd__results_remove(f->results, id, NULL));
    OK(mrd__results_add(f->results, f->trace, NULL, NULL, 0, true, &linked, NULL));
    OK(mrd__results_trace_path(f->results, linked, path, sizeof path, NULL));
    OK(mrd__results_remove(f->results, linked, NULL));
    assert_true(mrd__file_exists(path)); /* a linked file is never touched */
}

static void test_filters(void **state)
{
    fixture *f = *state;
    add(f, NULL, "ring", "1024");
    add(f, "b", "tree", "2048");
    add(f, "b", "ring", "4096");
    mrd__field ring = {"algorithm", MRD__STR("ring")}, tree = {"algorithm", MRD__STR("tree")};
    mrd__field size = {"msg_size_min", MRD__STR("2000")},
               like = {"topology_name", MRD__STR("torus%")};
    mrd__field none = {"topology_name", MRD__STR("torus")}, b = {"experiment", MRD__STR("b")};
    mrd__field order[] = {{"sort_by", MRD__STR("msg_size_bytes")}, {"sort_order", MRD__STR("asc")}};
    mrd__field page[] = {{"page", MRD__STR("2")}, {"page_size", MRD__STR("2")}};
    expect_list(f, NULL, 0, "3,2,1", 3);
    expect_list(f, &ring, 1, "3,1", 2);
    expect_list(f, (mrd__field[]){ring, tree}, 2, "3,2,1", 3);
    expect_list(f, (mrd__field[]){ring, size}, 2, "3", 1);
    expect_list(f, &like, 1, "3,2,1", 3);
    expect_list(f, &none, 1, "", 0);
    expect_list(f, &b, 1, "3,2", 2);
    expect_list(f, order, 2, "1,2,3", 3);
    expect_list(f, page, 2, "1", 3);
    uint64_t removed = 0;
    OK(mrd__results_remove_experiment(f->results, "b", &removed, NULL));
    assert_int_equal(removed, 2);
    expect_list(f, NULL, 0, "1", 1);
    assert_int_equal(mrd__results_remove_experiment(f->results, "b", &removed, NULL),
                     MRD_ERR_NOT_FOUND);
}

static void refuse_filter(fixture *f, const char *name, const char *value)
{
    mrd_error error = {0};
    mrd__buf out = {0};
    mrd_sink sink = mrd__buf_sink(&out);
    mrd__field field = {name, mrd__str_of(value)};
    assert_int_equal(mrd__results_list(f->results, &field, 1, MRD_FORMAT_JSON, &sink, &error),
                     MRD_ERR_ARGUMENT);
    assert_string_equal(error.code, "bad_parameter");
    assert_non_null(strstr(error.message, name));
    mrd__buf_reset(&out);
}

static void refuse_field(fixture *f, const char *name, const char *value, const char *code)
{
    mrd_error error = {0};
    int64_t id = 0;
    mrd__field field = {name, mrd__str_of(value)};
    assert_int_equal(mrd__results_add(f->results, f->trace, NULL, &field, 1, false, &id, &error),
                     MRD_ERR_ARGUMENT);
    assert_string_equal(error.code, code);
    assert_non_null(strstr(error.message, name));
}

static void test_refusals(void **state)
{
    fixture *f = *state;
    refuse_filter(f, "page", "0");
    refuse_filter(f, "page_size", "1001");
    refuse_filter(f, "sort_by", "id; DROP TABLE experiments");
    refuse_filter(f, "sort_order", "up");
    refuse_filter(f, "colour", "red");
    refuse_filter(f, "msg_size_min", "many");
    refuse_field(f, "id", "7", "bad_parameter");
    refuse_field(f, "trace_file_path", "../../etc/passwd", "bad_parameter");
    refuse_field(f, "total_latency_ns", "fast", "bad_field");
    refuse_field(f, "total_latency_ns", "nan", "bad_field");
    refuse_field(f, "events", "1.5", "bad_field");
    refuse_field(f, "stats", "{\"a\":", "bad_field");
    refuse_field(f, "created_at", "yesterday", "bad_field");
    expect_list(f, NULL, 0, "", 0); /* nothing of a refused row stays */
}

static void test_paths_stay_inside(void **state)
{
    fixture *f = *state;
    mrd__buf out = {0};
    bool own;
    mrd_error error = {0};
    static const char *const bad[] = {"..", "../x", "traces/../../x", "a/.."};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(mrd__results_resolve(f->results, mrd__str_of(bad[i]), &out, &own, &error),
                         MRD_ERR_FORMAT);
        assert_string_equal(error.code, "bad_path");
    }
    OK(mrd__results_resolve(f->results, MRD__STR("traces/1/..x"), &out, &own, &error));
    mrd__buf_reset(&out);
}

static void test_repair(void **state)
{
    fixture *f = *state;
    char orphan[512], foreign[512], kept[512];
    int64_t id = add(f, NULL, "ring", "1");
    struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    snprintf(orphan, sizeof orphan, "%s/traces/1/77_trace.parquet", f->folder);
    snprintf(foreign, sizeof foreign, "%s/traces/1/notes.txt", f->folder);
    OK(mrd__file_write_atomic(orphan, "x", 1, NULL));
    OK(mrd__file_write_atomic(foreign, "x", 1, NULL));
    OK(mrd__results_trace_path(f->results, id, kept, sizeof kept, NULL));
    utimensat(AT_FDCWD, orphan, old, 0);
    utimensat(AT_FDCWD, foreign, old, 0);
    utimensat(AT_FDCWD, kept, old, 0);
    mrd__results_close(&f->results);
    OK(mrd__results_open(f->folder, NULL, &f->results, NULL));
    assert_false(mrd__file_exists(orphan));
    assert_true(mrd__file_exists(foreign));
    assert_true(mrd__file_exists(kept));
}

static void test_newer_store_is_refused(void **state)
{
    fixture *f = *state;
    mrd_error error = {0};
    OK(mrd__sql_exec(f->results, "PRAGMA user_version = 99", NULL));
    mrd__results_close(&f->results);
    assert_int_equal(mrd__results_open(f->folder, NULL, &f->results, &error), MRD_ERR_UNSUPPORTED);
    assert_string_equal(error.code, "newer_store");
    assert_int_equal(mrd__results_open(f->folder, "postgresql://x/y", &f->results, &error),
                     MRD_ERR_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_add_and_show, setup, teardown),
        cmocka_unit_test_setup_teardown(test_missing_file_and_link, setup, teardown),
        cmocka_unit_test_setup_teardown(test_filters, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refusals, setup, teardown),
        cmocka_unit_test_setup_teardown(test_paths_stay_inside, setup, teardown),
        cmocka_unit_test_setup_teardown(test_repair, setup, teardown),
        cmocka_unit_test_setup_teardown(test_newer_store_is_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
