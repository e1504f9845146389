/* The result store: rows and files in step, filters, pages, what a crash leaves. */
#include "results/kit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "results/files.h"

#define T(test) cmocka_unit_test_setup_teardown(test, kit_setup, kit_teardown)

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
    int64_t id = kit_add(f, NULL, "ring", "1024");
    char *row = kit_show(f, id), path[512];
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
    int64_t id = kit_add(f, NULL, "ring", "1"), linked = 0;
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
    kit_add(f, NULL, "ring", "1024");
    kit_add(f, "b", "tree", "2048");
    kit_add(f, "b", "ring", "4096");
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
    char orphan[512], records[512], foreign[512], dead[512], living[512], kept[512];
    char owner[MRD__OWNER];
    int64_t id = kit_add(f, NULL, "ring", "1"), gone = kit_add(f, NULL, "ring", "2");
    mrd__owner_text(owner);
    snprintf(orphan, sizeof orphan, "%s/traces/1/77_trace.parquet", f->folder);
    snprintf(records, sizeof records, "%s/traces/1/77_records.parquet", f->folder);
    snprintf(foreign, sizeof foreign, "%s/traces/1/notes.txt", f->folder);
    /* A process number that this host never gives, with our host's hash. */
    snprintf(dead, sizeof dead, "%s/traces/1/run-7fffffff-1-%s_1_trace.parquet", f->folder,
             strrchr(owner, '-') + 1);
    snprintf(living, sizeof living, "%s/traces/1/run-%s_1_trace.parquet", f->folder, owner);
    const char *const files[] = {orphan, records, foreign, dead, living};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        OK(mrd__file_write_atomic(files[i], "x", 1, NULL));
    OK(mrd__results_trace_path(f->results, gone, kept, sizeof kept, NULL));
    assert_int_equal(unlink(kept), 0);
    OK(mrd__results_trace_path(f->results, id, kept, sizeof kept, NULL));
    kit_reopen(f);
    assert_false(mrd__file_exists(orphan));
    assert_false(mrd__file_exists(records));
    assert_false(mrd__file_exists(dead));
    assert_true(mrd__file_exists(living));
    assert_true(mrd__file_exists(foreign));
    assert_true(mrd__file_exists(kept));
    const char *report = mrd__results_report(f->results);
    assert_non_null(strstr(report, "77_trace.parquet, which no result names"));
    assert_non_null(strstr(report, "result 2: its trace traces/1/2_trace.parquet is gone"));
}

/* Names of trace files are ids: a folder serves one store. */
static void test_a_folder_has_one_store(void **state)
{
    fixture *f = *state;
    char other[128];
    mrd_error error = {0};
    mrd__results *second = NULL;
    int64_t id = kit_add(f, NULL, "ring", "1");
    char path[512];
    OK(mrd__results_trace_path(f->results, id, path, sizeof path, NULL));
    snprintf(other, sizeof other, "%s/other.db", f->folder);
    OK(mrd__results_open(f->folder, other, &second, NULL));
    assert_true(mrd__file_exists(path)); /* no orphan of the other store */
    assert_int_equal(mrd__results_add(second, f->trace, NULL, NULL, 0, false, &id, &error),
                     MRD_ERR_STATE);
    assert_string_equal(error.code, "bad_store");
    mrd__results_close(&second);
}

static void test_newer_store_is_refused(void **state)
{
    fixture *f = *state;
    mrd_error error = {0};
    mrd__results *second = NULL;
    OK(f->results->db->driver->set_version(f->results->db, 99, NULL));
    assert_int_equal(mrd__results_open(f->folder, kit_url, &second, &error), MRD_ERR_UNSUPPORTED);
    assert_string_equal(error.code, "newer_store");
    assert_int_equal(mrd__results_open(f->folder, "mysql://x/y", &second, &error),
                     MRD_ERR_ARGUMENT);
    assert_int_equal(mrd__results_open(f->folder, "postgresql:///x?host=/nowhere", &second, &error),
                     MRD_ERR_IO);
    assert_null(second);
}

/* A store of the first schema becomes one of this, its rows stay. */
static void test_migration(void **state)
{
    fixture *f = *state;
    kit_add(f, "old", "ring", "5");
    OK(mrd__db_script(
        f->results->db,
        "UPDATE comm_eval_results SET stats = '{}'; DROP TABLE tasks; DROP TABLE meta; DROP INDEX "
        "results_task; "
        "DROP INDEX results_latency; DROP INDEX results_bandwidth; DROP INDEX results_filter",
        NULL));
    if (kit_url) OK(mrd__db_script(f->results->db, "DELETE FROM meridian_schema", NULL));
    OK(f->results->db->driver->set_version(f->results->db, 1, NULL));
    kit_reopen(f);
    assert_int_equal(kit_number(f, "SELECT count(*) FROM tasks"), 0);
    assert_int_equal(kit_number(f, "SELECT msg_size_bytes FROM comm_eval_results"), 5);
    assert_int_equal(kit_number(f, "SELECT count(*) FROM comm_eval_results WHERE stats = '{}'"), 1);
    int version = 0;
    OK(f->results->db->driver->version(f->results->db, &version, NULL));
    assert_int_equal(version, MRD__RESULTS_SCHEMA);
}

static void test_experiments(void **state)
{
    fixture *f = *state;
    mrd__buf out = {0};
    mrd_sink sink = mrd__buf_sink(&out);
    mrd_error error = {0};
    int64_t id = 0, other = 0;
    uint64_t removed = 0;
    OK(mrd__results_experiment_add(f->results, "a \xc3\xa4", "what for", &id, NULL));
    assert_int_equal(mrd__results_experiment_add(f->results, "a \xc3\xa4", NULL, &other, &error),
                     MRD_ERR_STATE);
    assert_string_equal(error.code, "exists");
    assert_int_equal(mrd__results_experiment_add(f->results, "", NULL, &other, &error),
                     MRD_ERR_ARGUMENT);
    kit_add(f, "a \xc3\xa4", "ring", "1");
    OK(mrd__results_experiments(f->results, id, &sink, NULL));
    assert_non_null(strstr(out.data, "\"name\":\"a \xc3\xa4\",\"description\":\"what for\""));
    assert_non_null(strstr(out.data, "\"results\":1}"));
    mrd__buf_clear(&out);
    OK(mrd__results_remove_experiment_id(f->results, id, &removed, NULL));
    assert_int_equal(removed, 1);
    OK(mrd__results_experiments(f->results, 0, &sink, NULL));
    assert_string_equal(out.data, "{\"experiments\":[]}\n");
    assert_int_equal(mrd__results_experiments(f->results, id, &sink, &error), MRD_ERR_NOT_FOUND);
    mrd__buf_reset(&out);
}

/* Null sorts first upwards, on both engines; pages do not overlap. */
static void test_nulls_and_pages(void **state)
{
    fixture *f = *state;
    int64_t id;
    kit_add(f, NULL, "ring", "1");
    OK(mrd__results_add(f->results, f->trace, NULL, NULL, 0, false, &id, NULL));
    mrd__field up[] = {{"sort_by", MRD__STR("total_latency_ns")}, {"sort_order", MRD__STR("asc")}};
    expect_list(f, up, 2, "2,1", 2);
    up[1].value = MRD__STR("desc");
    expect_list(f, up, 2, "1,2", 2);
    mrd__field ids[] = {{"experiment_id", MRD__STR("1")}, {"experiment_id", MRD__STR("7")}};
    expect_list(f, ids, 2, "2,1", 2);
    mrd__field escaped = {"topology_name", MRD__STR("torus\\_8")};
    expect_list(f, &escaped, 1, "1", 1);
}

static void test_compare(void **state)
{
    fixture *f = *state;
    mrd__buf out = {0};
    mrd_sink sink = mrd__buf_sink(&out);
    mrd_error error = {0};
    kit_add(f, NULL, "ring", "1");
    kit_add(f, NULL, "tree", "2");
    kit_add(f, NULL, "ring", "2");
    kit_add(f, NULL, "ring", "2");
    mrd__field by = {"group_by", MRD__STR("algorithm")};
    OK(mrd__results_compare(f->results, &by, 1, &sink, NULL));
    assert_string_equal(out.data, "{\"x\":[1,2],\"groups\":[\"ring\",\"tree\"],"
                                  "\"y\":[[1.5,1.5],[null,1.5]],"
                                  "\"ids\":[[1,4],[null,2]],\"duplicates\":1}\n");
    mrd__buf_clear(&out);
    mrd__field ids[] = {{"result_id", MRD__STR("2")}, {"result_id", MRD__STR("3")}, by};
    OK(mrd__results_compare(f->results, ids, 3, &sink, NULL));
    assert_non_null(strstr(out.data, "\"ids\":[[3],[2]],\"duplicates\":0"));
    mrd__field bad = {"y", MRD__STR("algorithm")};
    assert_int_equal(mrd__results_compare(f->results, &bad, 1, &sink, &error), MRD_ERR_ARGUMENT);
    assert_string_equal(error.code, "bad_parameter");
    mrd__buf_reset(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_add_and_show),
        T(test_missing_file_and_link),
        T(test_filters),
        T(test_refusals),
        T(test_paths_stay_inside),
        T(test_repair),
        T(test_a_folder_has_one_store),
        T(test_newer_store_is_refused),
        T(test_migration),
        T(test_experiments),
        T(test_nulls_and_pages),
        T(test_compare),
    };
    return kit_run_on_both(tests, sizeof tests / sizeof *tests);
}
