/* Adding, showing and removing rows, and keeping files and rows in step.
 *
 * Order of writes: a file is in place before its row says so; a removal takes the file before the
 * row. A crash between the two leaves either a file without a row (repair removes what is ours) or
 * a row without a file (its trace answers trace_file_missing and can still be removed). */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/os.h"
#include "results/internal.h"

static mrd_status no_such_result(int64_t id, mrd_error *error)
{
    return mrd__fail(error, MRD_ERR_NOT_FOUND, "no_such_result", "no result %lld", (long long)id);
}

static void utc_now(char out[32])
{
    time_t now = (time_t)(mrd__realtime_ns() / 1000000000);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

/* ---- Field values ---- */

static const mrd__column *find_column(const char *name)
{
    for (size_t i = 0; i < mrd__column_count; i++) {
        if (strcmp(mrd__columns[i].name, name) == 0) return &mrd__columns[i];
    }
    return NULL;
}

static bool valid_json(mrd__str text)
{
    mrd__json json;
    mrd__json_init(&json, text.data, text.size);
    for (;;) {
        mrd__json_token token = mrd__json_next(&json);
        if (token.type == MRD__JSON_END) return true;
        if (token.type == MRD__JSON_ERROR || token.nonstandard) return false;
    }
}

static bool valid_time(mrd__str text)
{
    static const char shape[] = "dddd-dd-ddTdd:dd:ddZ";
    if (text.size != sizeof shape - 1) return false;
    for (size_t i = 0; i < text.size; i++) {
        bool digit = text.data[i] >= '0' && text.data[i] <= '9';
        if (shape[i] == 'd' ? !digit : text.data[i] != shape[i]) return false;
    }
    return true;
}

static mrd_status bad_field(const mrd__field *field, const char *allowed, mrd_error *error)
{
    return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_field", "%s is %.*s, allowed is %s", field->name,
                     (int)(field->value.size > 200 ? 200 : field->value.size), field->value.data,
                     allowed);
}

static mrd_status bind_field(sqlite3_stmt *statement, int index, const mrd__column *column,
                             const mrd__field *field, mrd_error *error)
{
    int64_t integer;
    double real;
    if (field->value.size > MRD__RESULTS_FIELD_MAX || !mrd__utf8_valid(field->value))
        return bad_field(field, "UTF-8 text up to 1 MiB", error);
    switch (column->type) {
    case MRD__COLUMN_INTEGER:
        if (!mrd__parse_int64(field->value, &integer))
            return bad_field(field, "a whole number", error);
        sqlite3_bind_int64(statement, index, integer);
        return MRD_OK;
    case MRD__COLUMN_REAL:
        if (!mrd__parse_double(field->value, &real))
            return bad_field(field, "a finite number", error);
        sqlite3_bind_double(statement, index, real);
        return MRD_OK;
    case MRD__COLUMN_JSON:
        if (!valid_json(field->value)) return bad_field(field, "a JSON document", error);
        break;
    case MRD__COLUMN_TEXT:
        if (strcmp(column->name, "created_at") == 0 && !valid_time(field->value))
            return bad_field(field, "UTC like 2026-04-28T10:30:00Z", error);
        break;
    }
    mrd__sql_bind_text(statement, index, field->value);
    return MRD_OK;
}

static mrd_status check_fields(const mrd__field *fields, size_t count, mrd_error *error)
{
    for (size_t i = 0; i < count; i++) {
        const mrd__column *column = find_column(fields[i].name);
        if (!column || !column->settable)
            return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter",
                             "%s is no field that can be given", fields[i].name);
        for (size_t j = 0; j < i; j++) {
            if (strcmp(fields[i].name, fields[j].name) == 0)
                return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter", "%s is given twice",
                                 fields[i].name);
        }
    }
    return MRD_OK;
}

/* ---- Adding ---- */

static mrd_status find_experiment(mrd__results *results, const char *name, int64_t *id,
                                  mrd_error *error)
{
    sqlite3_stmt *statement;
    *id = 0;
    MRD__TRY(
        mrd__sql_prepare(results, "SELECT id FROM experiments WHERE name = ?", &statement, error));
    mrd__sql_bind_text(statement, 1, mrd__str_of(name));
    int code = sqlite3_step(statement);
    if (code == SQLITE_ROW) *id = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return code == SQLITE_ROW || code == SQLITE_DONE
               ? MRD_OK
               : mrd__sql_fail(results, "cannot read experiments", error);
}

static mrd_status ensure_experiment(mrd__results *results, const char *name, int64_t *id,
                                    mrd_error *error)
{
    sqlite3_stmt *statement;
    char now[32];
    MRD__TRY(find_experiment(results, name, id, error));
    if (*id != 0) return MRD_OK;
    utc_now(now);
    MRD__TRY(mrd__sql_prepare(results, "INSERT INTO experiments(name, created_at) VALUES(?, ?)",
                              &statement, error));
    mrd__sql_bind_text(statement, 1, mrd__str_of(name));
    mrd__sql_bind_text(statement, 2, mrd__str_of(now));
    MRD__TRY(mrd__sql_run(results, statement, error));
    *id = sqlite3_last_insert_rowid(results->db);
    return MRD_OK;
}

static mrd_status insert_row(mrd__results *results, int64_t experiment, const mrd__field *fields,
                             size_t count, int64_t *id, mrd_error *error)
{
    mrd__buf sql = {0};
    char now[32];
    bool timed = false;
    sqlite3_stmt *statement = NULL;
    utc_now(now);
    mrd__buf_text(&sql, "INSERT INTO comm_eval_results(experiment_id");
    for (size_t i = 0; i < count; i++) {
        timed = timed || strcmp(fields[i].name, "created_at") == 0;
        mrd__buf_printf(&sql, ",%s", fields[i].name); /* checked: a column's name */
    }
    mrd__buf_text(&sql, timed ? ") VALUES(?" : ",created_at) VALUES(?");
    for (size_t i = 0; i < count + !timed; i++)
        mrd__buf_text(&sql, ",?");
    mrd__buf_char(&sql, ')');
    mrd_status status = mrd__sql_prepare(results, sql.data, &statement, error);
    mrd__buf_reset(&sql);
    if (status != MRD_OK) return status;
    sqlite3_bind_int64(statement, 1, experiment);
    for (size_t i = 0; i < count && status == MRD_OK; i++)
        status = bind_field(statement, (int)i + 2, find_column(fields[i].name), &fields[i], error);
    if (status != MRD_OK) {
        sqlite3_finalize(statement);
        return status;
    }
    if (!timed) mrd__sql_bind_text(statement, (int)count + 2, mrd__str_of(now));
    MRD__TRY(mrd__sql_run(results, statement, error));
    *id = sqlite3_last_insert_rowid(results->db);
    return MRD_OK;
}

static mrd_status place_file(mrd__results *results, const char *path, bool link, int64_t experiment,
                             int64_t id, mrd__buf *stored, mrd_error *error)
{
    char resolved[PATH_MAX];
    if (!realpath(path, resolved)) return mrd__fail_errno(error, path, "cannot resolve");
    if (link) {
        mrd__buf_text(stored, resolved);
        return MRD_OK;
    }
    mrd__buf full = {0};
    mrd__buf_printf(&full, "%s/traces/%lld", results->data_dir, (long long)experiment);
    mrd_status status = mrd__make_folders(full.data, error);
    mrd__buf_printf(stored, "traces/%lld/%lld_trace.parquet", (long long)experiment, (long long)id);
    mrd__buf_clear(&full);
    mrd__buf_printf(&full, "%s/%s", results->data_dir, stored->data);
    if (status == MRD_OK) status = mrd__file_copy_atomic(resolved, full.data, error);
    mrd__buf_reset(&full);
    return status;
}

static mrd_status set_path(mrd__results *results, int64_t id, mrd__str stored, mrd_error *error)
{
    sqlite3_stmt *statement;
    MRD__TRY(mrd__sql_prepare(results,
                              "UPDATE comm_eval_results SET trace_file_path = ? WHERE id = ?",
                              &statement, error));
    mrd__sql_bind_text(statement, 1, stored);
    sqlite3_bind_int64(statement, 2, id);
    return mrd__sql_run(results, statement, error);
}

/* Inside one transaction, so that the row is seen only with its file in place. */
static mrd_status add_inside(mrd__results *results, const char *path, const char *experiment,
                             const mrd__field *fields, size_t count, bool link, int64_t *id,
                             mrd_error *error)
{
    int64_t experiment_id;
    mrd__buf stored = {0};
    MRD__TRY(
        ensure_experiment(results, experiment ? experiment : "default", &experiment_id, error));
    MRD__TRY(insert_row(results, experiment_id, fields, count, id, error));
    mrd_status status = place_file(results, path, link, experiment_id, *id, &stored, error);
    if (status == MRD_OK)
        status = set_path(results, *id, (mrd__str){stored.data, stored.size}, error);
    mrd__buf_reset(&stored);
    return status;
}

/* COMMIT on success, ROLLBACK else; returns the first failure. */
static mrd_status end_transaction(mrd__results *results, mrd_status status, mrd_error *error)
{
    if (status == MRD_OK) status = mrd__sql_exec(results, "COMMIT", error);
    if (status != MRD_OK) mrd__sql_rollback(results);
    return status;
}

mrd_status mrd__results_add(mrd__results *results, const char *path, const char *experiment,
                            const mrd__field *fields, size_t count, bool link, int64_t *id,
                            mrd_error *error)
{
    MRD__TRY(check_fields(fields, count, error));
    if (experiment && (!experiment[0] || strlen(experiment) > 200))
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter",
                         "the experiment's name must have 1 to 200 bytes");
    pthread_mutex_lock(&results->mutex);
    mrd_status status = mrd__sql_exec(results, "BEGIN IMMEDIATE", error);
    if (status == MRD_OK)
        status = end_transaction(
            results, add_inside(results, path, experiment, fields, count, link, id, error), error);
    pthread_mutex_unlock(&results->mutex);
    return status;
}

/* ---- Showing ---- */

static mrd_status write_row(sqlite3_stmt *row, mrd_format format, mrd__buf *out)
{
    bool json = format == MRD_FORMAT_JSON;
    if (json) mrd__buf_char(out, '{');
    for (size_t i = 0; i < mrd__column_count; i++) {
        if (json) {
            mrd__buf_printf(out, "%s\"%s\":", i ? "," : "", mrd__columns[i].name);
            mrd__sql_json(row, (int)i, &mrd__columns[i], out);
        } else if (sqlite3_column_type(row, (int)i) != SQLITE_NULL) {
            mrd__buf_printf(out, "%-20s ", mrd__columns[i].name);
            mrd__buf_str(out, (mrd__str){(const char *)sqlite3_column_text(row, (int)i),
                                         (size_t)sqlite3_column_bytes(row, (int)i)});
            mrd__buf_char(out, '\n');
        }
    }
    if (json) mrd__buf_text(out, "}\n");
    return MRD_OK;
}

static mrd_status select_row(mrd__results *results, int64_t id, sqlite3_stmt **out,
                             mrd_error *error)
{
    mrd__buf sql = {0};
    mrd__buf_text(&sql, "SELECT ");
    for (size_t i = 0; i < mrd__column_count; i++)
        mrd__buf_printf(&sql, "%s%s", i ? "," : "", mrd__columns[i].name);
    mrd__buf_text(&sql, " FROM comm_eval_results WHERE id = ?");
    mrd_status status = mrd__sql_prepare(results, sql.data, out, error);
    mrd__buf_reset(&sql);
    if (status == MRD_OK) sqlite3_bind_int64(*out, 1, id);
    return status;
}

mrd_status mrd__results_show(mrd__results *results, int64_t id, mrd_format format,
                             const mrd_sink *sink, mrd_error *error)
{
    sqlite3_stmt *row = NULL;
    mrd__buf out = {0};
    pthread_mutex_lock(&results->mutex);
    mrd_status status = select_row(results, id, &row, error);
    if (status == MRD_OK)
        status = sqlite3_step(row) == SQLITE_ROW ? write_row(row, format, &out)
                                                 : no_such_result(id, error);
    sqlite3_finalize(row);
    pthread_mutex_unlock(&results->mutex);
    if (status == MRD_OK) status = mrd__buf_flush(&out, sink, error);
    mrd__buf_reset(&out);
    return status;
}

/* ---- Paths and removal ---- */

/* The stored path of a result, copied; empty when it has none. With the mutex held. */
static mrd_status stored_path(mrd__results *results, int64_t id, mrd__buf *out, mrd_error *error)
{
    sqlite3_stmt *row;
    MRD__TRY(mrd__sql_prepare(results, "SELECT trace_file_path FROM comm_eval_results WHERE id = ?",
                              &row, error));
    sqlite3_bind_int64(row, 1, id);
    mrd_status status = MRD_OK;
    if (sqlite3_step(row) != SQLITE_ROW)
        status = no_such_result(id, error);
    else if (sqlite3_column_type(row, 0) != SQLITE_NULL)
        mrd__buf_text(out, (const char *)sqlite3_column_text(row, 0));
    sqlite3_finalize(row);
    return status;
}

static mrd_status find_trace(mrd__results *results, int64_t id, mrd__buf *full, mrd_error *error)
{
    mrd__buf stored = {0};
    bool own;
    mrd_status status = stored_path(results, id, &stored, error);
    if (status == MRD_OK && stored.size == 0)
        status = mrd__fail(error, MRD_ERR_NOT_FOUND, "no_trace", "result %lld has no trace",
                           (long long)id);
    if (status == MRD_OK)
        status =
            mrd__results_resolve(results, (mrd__str){stored.data, stored.size}, full, &own, error);
    mrd__buf_reset(&stored);
    return status;
}

mrd_status mrd__results_trace_path(mrd__results *results, int64_t id, char *out, size_t size,
                                   mrd_error *error)
{
    mrd__buf full = {0};
    pthread_mutex_lock(&results->mutex);
    mrd_status status = find_trace(results, id, &full, error);
    pthread_mutex_unlock(&results->mutex);
    if (status == MRD_OK && !mrd__file_exists(full.data))
        status = mrd__fail(error, MRD_ERR_NOT_FOUND, "trace_file_missing",
                           "the trace file of result %lld is gone", (long long)id);
    if (status == MRD_OK && full.size >= size)
        status = mrd__fail(error, MRD_ERR_LIMIT, "bad_path", "the path has %zu bytes", full.size);
    if (status == MRD_OK) memcpy(out, full.data, full.size + 1);
    mrd__buf_reset(&full);
    return status;
}

/* Take a result's own files away; a linked file is never touched. */
static mrd_status remove_files(mrd__results *results, int64_t id, mrd_error *error)
{
    mrd__buf stored = {0}, full = {0};
    bool own = false;
    mrd_status status = stored_path(results, id, &stored, error);
    if (status == MRD_OK && stored.size > 0 &&
        mrd__results_resolve(results, (mrd__str){stored.data, stored.size}, &full, &own, NULL) ==
            MRD_OK &&
        own) {
        if (unlink(full.data) != 0 && errno != ENOENT)
            status = mrd__fail_errno(error, full.data, "cannot remove");
    }
    mrd__buf_reset(&stored);
    mrd__buf_reset(&full);
    return status;
}

static mrd_status remove_one(mrd__results *results, int64_t id, mrd_error *error)
{
    sqlite3_stmt *statement;
    MRD__TRY(remove_files(results, id, error));
    MRD__TRY(
        mrd__sql_prepare(results, "DELETE FROM comm_eval_results WHERE id = ?", &statement, error));
    sqlite3_bind_int64(statement, 1, id);
    return mrd__sql_run(results, statement, error);
}

mrd_status mrd__results_remove(mrd__results *results, int64_t id, mrd_error *error)
{
    pthread_mutex_lock(&results->mutex);
    mrd_status status = remove_one(results, id, error);
    pthread_mutex_unlock(&results->mutex);
    return status;
}

static mrd_status first_of(mrd__results *results, int64_t experiment, int64_t *id, mrd_error *error)
{
    sqlite3_stmt *row;
    *id = 0;
    MRD__TRY(mrd__sql_prepare(
        results, "SELECT min(id) FROM comm_eval_results WHERE experiment_id = ?", &row, error));
    sqlite3_bind_int64(row, 1, experiment);
    if (sqlite3_step(row) == SQLITE_ROW) *id = sqlite3_column_int64(row, 0);
    sqlite3_finalize(row);
    return MRD_OK;
}

static mrd_status remove_all(mrd__results *results, int64_t experiment, uint64_t *removed,
                             mrd_error *error)
{
    int64_t id;
    sqlite3_stmt *statement;
    for (;;) {
        MRD__TRY(first_of(results, experiment, &id, error));
        if (id == 0) break;
        MRD__TRY(remove_one(results, id, error));
        ++*removed;
    }
    MRD__TRY(mrd__sql_prepare(results, "DELETE FROM experiments WHERE id = ?", &statement, error));
    sqlite3_bind_int64(statement, 1, experiment);
    return mrd__sql_run(results, statement, error);
}

mrd_status mrd__results_remove_experiment(mrd__results *results, const char *name,
                                          uint64_t *removed, mrd_error *error)
{
    int64_t id;
    *removed = 0;
    pthread_mutex_lock(&results->mutex);
    mrd_status status = find_experiment(results, name, &id, error);
    if (status == MRD_OK && id == 0)
        status =
            mrd__fail(error, MRD_ERR_NOT_FOUND, "no_such_experiment", "no experiment %s", name);
    if (status == MRD_OK) status = remove_all(results, id, removed, error);
    pthread_mutex_unlock(&results->mutex);
    return status;
}
