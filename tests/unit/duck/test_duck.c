#include "base/alloc.h"
#include "base/error.h"
#include "base/os.h"
#include "duck/duck.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static mrd__duck *duck_open(void)
{
    mrd__duck *duck = NULL;
    mrd_error error = {0};
    if (mrd__duck_open(&duck, 2, &error) != MRD_OK) fail_msg("%s", error.message);
    return duck;
}

static void query_with_parameters(void **state)
{
    (void)state;
    mrd__duck *duck = duck_open();
    mrd__duck_rows *rows = NULL;
    mrd_error error = {0};
    mrd__str params[] = {MRD__STR("it's; DROP"), MRD__STR("7")};
    const char *sql = "SELECT $1 AS a, CAST($2 AS BIGINT) AS b, NULL::DOUBLE AS c, 'x'::BLOB AS d";
    assert_int_equal(mrd__duck_query(duck, sql, params, 2, &rows, &error), MRD_OK);
    assert_int_equal(mrd__duck_rows_width(rows), 4);
    assert_string_equal(mrd__duck_rows_name(rows, 1), "b");
    assert_int_equal(mrd__duck_rows_type(rows, 0), MRD__DUCK_TEXT);
    assert_int_equal(mrd__duck_rows_type(rows, 1), MRD__DUCK_INT64);
    assert_int_equal(mrd__duck_rows_type(rows, 2), MRD__DUCK_DOUBLE);
    assert_int_equal(mrd__duck_rows_type(rows, 3), MRD__DUCK_BLOB);
    mrd__duck_chunk chunk;
    assert_int_equal(mrd__duck_rows_next(rows, &chunk, &error), MRD_OK);
    assert_int_equal(chunk.rows, 1);
    assert_true(mrd__str_is(mrd__duck_text(&chunk.columns[0], 0), "it's; DROP"));
    assert_int_equal(((const int64_t *)chunk.columns[1].data)[0], 7);
    assert_false(mrd__duck_valid(&chunk.columns[2], 0));
    assert_int_equal(mrd__duck_rows_next(rows, &chunk, &error), MRD_OK);
    assert_int_equal(chunk.rows, 0);
    mrd__duck_rows_close(&rows);
    mrd__duck_close(&duck);
}

static void stream_many_rows(void **state)
{
    (void)state;
    mrd__duck *duck = duck_open();
    mrd__duck_rows *rows = NULL;
    mrd_error error = {0};
    const char *sql = "SELECT i, CASE WHEN i % 3 = 0 THEN NULL ELSE 'a longer text of ' || i END "
                      "FROM range(100000) t(i)";
    assert_int_equal(mrd__duck_query(duck, sql, NULL, 0, &rows, &error), MRD_OK);
    int64_t next = 0;
    mrd__duck_chunk chunk;
    do {
        assert_int_equal(mrd__duck_rows_next(rows, &chunk, &error), MRD_OK);
        for (size_t i = 0; i < chunk.rows; i++, next++) {
            char want[64];
            snprintf(want, sizeof want, "a longer text of %lld", (long long)next);
            assert_int_equal(((const int64_t *)chunk.columns[0].data)[i], next);
            assert_int_equal(mrd__duck_valid(&chunk.columns[1], i), next % 3 != 0);
            if (next % 3) assert_true(mrd__str_is(mrd__duck_text(&chunk.columns[1], i), want));
        }
    } while (chunk.rows);
    assert_int_equal(next, 100000);
    mrd__duck_rows_close(&rows);
    mrd__duck_close(&duck);
}

static size_t count_fds(void)
{
    size_t count = 0;
    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void warm_or_ask(void *ctx, size_t index, uint32_t worker)
{
    (void)worker;
    if (index % 2 == 0)
        mrd__duck_warm();
    else
        stream_many_rows(ctx);
}

/* Getting ready changes no answer, not even one that is made at the same time, and leaves no file
 * open behind it. */
static void warming_changes_nothing(void **state)
{
    stream_many_rows(state);
    size_t before = count_fds();
    mrd__duck_warm();
    assert_int_equal(count_fds(), before);
    query_with_parameters(state);
    mrd__parallel_for(4, 6, warm_or_ask, state);
    assert_int_equal(count_fds(), before);
    stream_many_rows(state);
}

static void errors_name_the_reason(void **state)
{
    (void)state;
    mrd__duck *duck = duck_open();
    mrd__duck_rows *rows = NULL;
    mrd_error error = {0};
    assert_int_equal(mrd__duck_run(duck, "SELECT nothing", &error), MRD_ERR_INTERNAL);
    assert_string_equal(error.code, "duckdb");
    assert_non_null(strstr(error.message, "nothing"));
    assert_null(strchr(error.message, '\n'));
    assert_int_equal(mrd__duck_query(duck, "SELEC", NULL, 0, &rows, &error), MRD_ERR_INTERNAL);
    assert_null(rows);
    /* An error that comes while rows are fetched. */
    const char *sql = "SELECT CAST(CASE WHEN i = 90000 THEN 'x' ELSE '1' END AS BIGINT) "
                      "FROM range(100000) t(i)";
    mrd_status status = mrd__duck_query(duck, sql, NULL, 0, &rows, &error);
    mrd__duck_chunk chunk = {.rows = 1};
    while (status == MRD_OK && chunk.rows)
        status = mrd__duck_rows_next(rows, &chunk, &error);
    assert_int_equal(status, MRD_ERR_INTERNAL);
    mrd__duck_rows_close(&rows);
    /* The connection still works. */
    assert_int_equal(mrd__duck_run(duck, "SELECT 1", &error), MRD_OK);
    mrd__duck_close(&duck);
}

static void nothing_is_fetched_or_left_behind(void **state)
{
    (void)state;
    mrd__duck *duck = duck_open();
    mrd__duck_rows *rows = NULL;
    mrd_error error = {0};
    const char *sql = "SELECT current_setting('autoinstall_known_extensions'), "
                      "current_setting('autoload_known_extensions'), "
                      "current_setting('temp_directory')";
    assert_int_equal(mrd__duck_query(duck, sql, NULL, 0, &rows, &error), MRD_OK);
    mrd__duck_chunk chunk;
    assert_int_equal(mrd__duck_rows_next(rows, &chunk, &error), MRD_OK);
    assert_false(((const bool *)chunk.columns[0].data)[0]);
    assert_false(((const bool *)chunk.columns[1].data)[0]);
    assert_int_equal(mrd__duck_text(&chunk.columns[2], 0).size, 0);
    mrd__duck_rows_close(&rows);
    mrd__duck_close(&duck);
}

static void quoting(void **state)
{
    (void)state;
    mrd__buf out = {0};
    mrd__duck_quote(&out, MRD__STR("a'b\"c"));
    mrd__duck_quote_name(&out, MRD__STR("a'b\"c"));
    assert_string_equal(out.data, "'a''b\"c'\"a'b\"\"c\"");
    mrd__buf_reset(&out);
}

/* ---- Parquet ---- */

typedef struct made {
    int64_t next, count;
    int64_t fail_at;
} made;

static mrd_status make_rows(void *ctx, mrd__duck_out *columns, size_t *rows, mrd_error *error)
{
    static const char *const words[] = {"short", "a word of more than twelve bytes"};
    made *m = ctx;
    *rows = 0;
    for (; m->next < m->count && *rows < MRD__DUCK_BATCH; m->next++, ++*rows) {
        if (m->next == m->fail_at)
            return mrd__fail(error, MRD_ERR_LIMIT, "made", "row %lld fails", (long long)m->next);
        ((int64_t *)columns[0].data)[*rows] = m->next;
        mrd__duck_out_borrowed(&columns[1], *rows, mrd__str_of(words[m->next & 1]));
        if (m->next % 5 == 0) {
            mrd__duck_out_null(&columns[2], *rows);
        } else {
            char text[64];
            int size = snprintf(text, sizeof text, "text of row %lld", (long long)m->next);
            mrd__duck_out_text(&columns[2], *rows, (mrd__str){text, (size_t)size});
        }
    }
    return MRD_OK;
}

static mrd__duck_source source_of(made *m)
{
    static const char *const names[] = {"number", "word", "text"};
    static const mrd__duck_type types[] = {MRD__DUCK_INT64, MRD__DUCK_TEXT, MRD__DUCK_TEXT};
    return (mrd__duck_source){
        .width = 3, .names = names, .types = types, .next = make_rows, .ctx = m};
}

static int temporary(void)
{
    char name[] = "/tmp/mrd-duck-XXXXXX";
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    unlink(name);
    return fd;
}

static mrd_status find_value(void *ctx, mrd__str key, mrd__str value, mrd_error *error)
{
    (void)error;
    mrd__buf *seen = ctx;
    mrd__buf_str(seen, key);
    mrd__buf_char(seen, '=');
    mrd__buf_str(seen, value);
    mrd__buf_char(seen, '\n');
    return MRD_OK;
}

static void check_written(mrd__duck *duck, int fd, int64_t count)
{
    char sql[160], name[MRD__DUCK_FD_NAME];
    snprintf(sql, sizeof sql, "SELECT * FROM read_parquet('%s')", mrd__duck_fd_name(fd, name));
    mrd__duck_rows *rows = NULL;
    mrd_error error = {0};
    assert_int_equal(mrd__duck_query(duck, sql, NULL, 0, &rows, &error), MRD_OK);
    int64_t next = 0;
    mrd__duck_chunk chunk;
    do {
        assert_int_equal(mrd__duck_rows_next(rows, &chunk, &error), MRD_OK);
        for (size_t i = 0; i < chunk.rows; i++, next++) {
            assert_int_equal(((const int64_t *)chunk.columns[0].data)[i], next);
            assert_int_equal(mrd__duck_text(&chunk.columns[1], i).size, next & 1 ? 32 : 5);
            assert_int_equal(mrd__duck_valid(&chunk.columns[2], i), next % 5 != 0);
        }
    } while (chunk.rows);
    assert_int_equal(next, count);
    mrd__duck_rows_close(&rows);
}

static void write_parquet(void **state)
{
    (void)state;
    mrd__duck *duck = duck_open();
    mrd_error error = {0};
    made m = {.count = 150000, .fail_at = -1};
    mrd__duck_source source = source_of(&m);
    mrd__duck_kv kv[] = {{"it's", MRD__STR("a 'quoted' \"value\"")}, {"b", MRD__STR("2")}};
    int fd = temporary();
    if (mrd__duck_write_parquet(duck, fd, &source, kv, 2, &error) != MRD_OK)
        fail_msg("%s", error.message);
    check_written(duck, fd, 150000);
    mrd__buf seen = {0};
    assert_int_equal(mrd__duck_parquet_kv(duck, fd, find_value, &seen, &error), MRD_OK);
    assert_non_null(strstr(seen.data, "it's=a 'quoted' \"value\"\n"));
    assert_non_null(strstr(seen.data, "b=2\n"));
    mrd__buf_reset(&seen);
    close(fd);
    /* No rows at all, no metadata. */
    fd = temporary();
    m = (made){.count = 0, .fail_at = -1};
    assert_int_equal(mrd__duck_write_parquet(duck, fd, &source, NULL, 0, &error), MRD_OK);
    check_written(duck, fd, 0);
    close(fd);
    mrd__duck_close(&duck);
}

static void source_error_comes_back(void **state)
{
    (void)state;
    mrd__duck *duck = duck_open();
    mrd_error error = {0};
    made m = {.count = 150000, .fail_at = 70001};
    mrd__duck_source source = source_of(&m);
    int fd = temporary();
    assert_int_equal(mrd__duck_write_parquet(duck, fd, &source, NULL, 0, &error), MRD_ERR_LIMIT);
    assert_string_equal(error.code, "made");
    assert_string_equal(error.message, "row 70001 fails");
    close(fd);
    /* The function alone gives nothing away. */
    assert_int_equal(mrd__duck_run(duck, "SELECT * FROM mrd_rows(1)", &error), MRD_ERR_INTERNAL);
    mrd__duck_close(&duck);
}

static void two_at_a_time(void *ctx, uint32_t worker)
{
    mrd__duck *duck = NULL;
    mrd_error error = {0};
    bool *ok = ctx;
    made m = {.count = 20000 + worker, .fail_at = -1};
    mrd__duck_source source = source_of(&m);
    int fd = temporary();
    ok[worker] = mrd__duck_open(&duck, 2, &error) == MRD_OK &&
                 mrd__duck_write_parquet(duck, fd, &source, NULL, 0, &error) == MRD_OK;
    if (ok[worker]) check_written(duck, fd, m.count);
    mrd__duck_close(&duck);
    close(fd);
}

static void threads(void **state)
{
    (void)state;
    bool ok[4] = {false};
    mrd__parallel(4, two_at_a_time, ok);
    for (int i = 0; i < 4; i++)
        assert_true(ok[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(query_with_parameters),
        cmocka_unit_test(stream_many_rows),
        cmocka_unit_test(warming_changes_nothing),
        cmocka_unit_test(errors_name_the_reason),
        cmocka_unit_test(nothing_is_fetched_or_left_behind),
        cmocka_unit_test(quoting),
        cmocka_unit_test(write_parquet),
        cmocka_unit_test(source_error_comes_back),
        cmocka_unit_test(threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
