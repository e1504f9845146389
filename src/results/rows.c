/* Adding, showing and removing rows, and keeping files and rows in step.
 *
 * Order of writes: a file is in place before its row says so; a removal takes the file before the
 * row. A crash between the two leaves either a file without a row (repair removes what is ours) or
 * a row without a file (its trace answers trace_file_missing and can still be removed). */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/os.h"
#include "results/files.h"
#include "results/internal.h"

static mrd_status no_such_result(int64_t id, mrd_error *error)
{
    return mrd__fail(error, MRD_ERR_NOT_FOUND, "no_such_result", "no result %lld", (long long)id);
}

/* ---- Field values ---- */

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

/* What a field gives its column; the text is borrowed. */
static mrd_status value_of(const mrd__column *column, const mrd__field *field, mrd__db_value *out,
                           mrd_error *error)
{
    int64_t integer;
    double real;
    if (field->value.size > MRD__RESULTS_FIELD_MAX || !mrd__utf8_valid(field->value) ||
        (field->value.size > 0 && memchr(field->value.data, 0, field->value.size)))
        return bad_field(field, "UTF-8 text up to 16 MiB without zero bytes", error);
    *out = MRD__DB_OF_TEXT(field->value);
    switch (column->type) {
    case MRD__COLUMN_INTEGER:
        if (!mrd__parse_int64(field->value, &integer))
            return bad_field(field, "a whole number", error);
        *out = MRD__DB_OF_INT(integer);
        break;
    case MRD__COLUMN_REAL:
        if (!mrd__parse_double(field->value, &real))
            return bad_field(field, "a finite number", error);
        *out = MRD__DB_OF_REAL(real);
        break;
    case MRD__COLUMN_JSON:
        if (!valid_json(field->value)) return bad_field(field, "a JSON document", error);
        break;
    case MRD__COLUMN_TEXT:
        if (strcmp(column->name, "created_at") == 0 && !valid_time(field->value))
            return bad_field(field, "UTC like 2026-04-28T10:30:00Z", error);
        break;
    }
    return MRD_OK;
}

static mrd_status check_fields(const mrd__field *fields, size_t count, mrd_error *error)
{
    for (size_t i = 0; i < count; i++) {
        const mrd__column *column = mrd__column_of(fields[i].name);
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

/* Columns and values of an INSERT. */
typedef struct insert {
    mrd__buf names, marks;
    mrd__db_values values;
} insert;

static void insert_add(insert *in, const char *name, mrd__db_value value)
{
    mrd__buf_printf(&in->names, "%s%s", in->values.count ? "," : "", name);
    mrd__buf_text(&in->marks, in->values.count ? ",?" : "?");
    mrd__vec_push(&in->values, value);
}

static mrd_status insert_fields(insert *in, const mrd__field *fields, size_t count, bool *timed,
                                mrd_error *error)
{
    for (size_t i = 0; i < count; i++) {
        mrd__db_value value;
        const mrd__column *column = mrd__column_of(fields[i].name);
        MRD__TRY(value_of(column, &fields[i], &value, error));
        insert_add(in, column->name, value);
        *timed = *timed || strcmp(column->name, "created_at") == 0;
    }
    return MRD_OK;
}

mrd_status mrd__insert_row(mrd__results *results, int64_t experiment, const char *task_id,
                           const mrd__field *fields, size_t count, int64_t *id, mrd_error *error)
{
    insert in = {0};
    mrd__buf sql = {0};
    char now[32];
    bool timed = false, found;
    mrd__utc_now(now);
    insert_add(&in, "experiment_id", MRD__DB_OF_INT(experiment));
    if (task_id) insert_add(&in, "task_id", MRD__DB_OF_TEXT(mrd__str_of(task_id)));
    mrd_status status = insert_fields(&in, fields, count, &timed, error);
    if (!timed) insert_add(&in, "created_at", MRD__DB_OF_TEXT(mrd__str_of(now)));
    if (status == MRD_OK) {
        mrd__buf_printf(&sql, "INSERT INTO comm_eval_results(%s) VALUES(%s) RETURNING id",
                        in.names.data, in.marks.data);
        status =
            mrd__db_int(results->db, sql.data, in.values.data, in.values.count, id, &found, error);
    }
    mrd__buf_reset(&sql);
    mrd__buf_reset(&in.names);
    mrd__buf_reset(&in.marks);
    mrd__vec_reset(&in.values);
    return status;
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
    mrd_status status = mrd__trace_folder(results, experiment, &full, error);
    mrd__trace_name(experiment, id, stored);
    mrd__buf_clear(&full);
    mrd__buf_printf(&full, "%s/%s", results->data_dir, stored->data);
    if (status == MRD_OK) status = mrd__file_copy_atomic(resolved, full.data, error);
    mrd__buf_reset(&full);
    return status;
}

mrd_status mrd__set_trace_path(mrd__results *results, int64_t id, mrd__str stored, mrd_error *error)
{
    mrd__db_value values[] = {MRD__DB_OF_TEXT(stored), MRD__DB_OF_INT(id)};
    return mrd__db_run(results->db, "UPDATE comm_eval_results SET trace_file_path = ? WHERE id = ?",
                       values, 2, error);
}

/* Inside one transaction, so that the row is seen only with its file in place. */
static mrd_status add_inside(mrd__results *results, const char *path, const char *experiment,
                             const mrd__field *fields, size_t count, bool link, int64_t *id,
                             mrd_error *error)
{
    int64_t experiment_id;
    mrd__buf stored = {0};
    MRD__TRY(mrd__ensure_experiment(results, experiment, &experiment_id, error));
    MRD__TRY(mrd__insert_row(results, experiment_id, NULL, fields, count, id, error));
    mrd_status status = place_file(results, path, link, experiment_id, *id, &stored, error);
    if (status == MRD_OK)
        status = mrd__set_trace_path(results, *id, (mrd__str){stored.data, stored.size}, error);
    mrd__buf_reset(&stored);
    return status;
}

mrd_status mrd__results_add(mrd__results *results, const char *path, const char *experiment,
                            const mrd__field *fields, size_t count, bool link, int64_t *id,
                            mrd_error *error)
{
    MRD__TRY(check_fields(fields, count, error));
    pthread_mutex_lock(&results->mutex);
    mrd_status status = mrd__db_begin(results->db, error);
    if (status == MRD_OK)
        status = mrd__db_finish(
            results->db, add_inside(results, path, experiment, fields, count, link, id, error),
            error);
    pthread_mutex_unlock(&results->mutex);
    return status;
}

/* ---- Showing ---- */

static void write_row(const mrd__db_rows *row, mrd_format format, mrd__buf *out)
{
    bool json = format == MRD_FORMAT_JSON;
    if (json) mrd__buf_char(out, '{');
    for (size_t i = 0; i < mrd__column_count; i++) {
        const mrd__column *column = &mrd__columns[i];
        if (json) {
            mrd__buf_printf(out, "%s\"%s\":", i ? "," : "", column->name);
            mrd__column_json(row, (int)i, column, out);
            continue;
        }
        mrd__db_value value = mrd__db_value_at(row, (int)i, MRD__DB_TEXT);
        if (value.type == MRD__DB_NULL) continue;
        mrd__buf_printf(out, "%-20s ", column->name);
        if (column->type == MRD__COLUMN_REAL)
            mrd__column_json(row, (int)i, column, out);
        else
            mrd__buf_str(out, value.text);
        mrd__buf_char(out, '\n');
    }
    if (json) mrd__buf_text(out, "}\n");
}

static mrd_status show(mrd__results *results, int64_t id, mrd_format format, mrd__buf *out,
                       mrd_error *error)
{
    mrd__buf sql = {0};
    mrd__db_rows *rows = NULL;
    bool more = false;
    mrd__db_value value = MRD__DB_OF_INT(id);
    mrd__select_columns(&sql);
    mrd__buf_text(&sql, " WHERE id = ?");
    mrd_status status = mrd__db_query(results->db, sql.data, &value, 1, &rows, error);
    mrd__buf_reset(&sql);
    if (status == MRD_OK) status = mrd__db_next(rows, &more, error);
    if (status == MRD_OK && more) write_row(rows, format, out);
    if (status == MRD_OK && !more) status = no_such_result(id, error);
    mrd__db_end(rows);
    return status;
}

mrd_status mrd__results_show(mrd__results *results, int64_t id, mrd_format format,
                             const mrd_sink *sink, mrd_error *error)
{
    mrd__buf out = {0};
    pthread_mutex_lock(&results->mutex);
    mrd_status status = show(results, id, format, &out, error);
    pthread_mutex_unlock(&results->mutex);
    if (status == MRD_OK) status = mrd__buf_flush(&out, sink, error);
    mrd__buf_reset(&out);
    return status;
}

/* ---- Paths and removal ---- */

/* The stored path of a result, copied; empty when it has none. With the mutex held. */
static mrd_status stored_path(mrd__results *results, int64_t id, mrd__buf *out, mrd_error *error)
{
    mrd__db_rows *rows = NULL;
    bool more = false;
    mrd__db_value value = MRD__DB_OF_INT(id);
    MRD__TRY(mrd__db_query(results->db,
                           "SELECT trace_file_path FROM comm_eval_results WHERE id = ?", &value, 1,
                           &rows, error));
    mrd_status status = mrd__db_next(rows, &more, error);
    if (status == MRD_OK && !more) status = no_such_result(id, error);
    if (status == MRD_OK) mrd__buf_str(out, mrd__db_value_at(rows, 0, MRD__DB_TEXT).text);
    mrd__db_end(rows);
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
    mrd__buf stored = {0}, full = {0}, records = {0};
    bool own = false;
    mrd_status status = stored_path(results, id, &stored, error);
    if (status == MRD_OK && stored.size > 0 &&
        mrd__results_resolve(results, (mrd__str){stored.data, stored.size}, &full, &own, NULL) ==
            MRD_OK &&
        own) {
        mrd__records_name((mrd__str){full.data, full.size}, &records);
        if (unlink(full.data) != 0 && errno != ENOENT)
            status = mrd__fail_errno(error, full.data, "cannot remove");
        else if (unlink(records.data) != 0 && errno != ENOENT)
            status = mrd__fail_errno(error, records.data, "cannot remove");
    }
    mrd__buf_reset(&stored);
    mrd__buf_reset(&full);
    mrd__buf_reset(&records);
    return status;
}

mrd_status mrd__remove_row(mrd__results *results, int64_t id, mrd_error *error)
{
    mrd__db_value value = MRD__DB_OF_INT(id);
    MRD__TRY(remove_files(results, id, error));
    return mrd__db_run(results->db, "DELETE FROM comm_eval_results WHERE id = ?", &value, 1, error);
}

mrd_status mrd__results_remove(mrd__results *results, int64_t id, mrd_error *error)
{
    pthread_mutex_lock(&results->mutex);
    mrd_status status = mrd__remove_row(results, id, error);
    pthread_mutex_unlock(&results->mutex);
    return status;
}
