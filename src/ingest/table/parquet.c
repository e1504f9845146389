/* Slice tables in Parquet, decoded by DuckDB whatever their encodings. */
#include "base/error.h"
#include "duck/duck.h"
#include "ingest/table/rows.h"
#include "ingest/table/table.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TAIL 8              /* length of the footer, magic */
#define PROGRESS_ROWS 65536 /* rows between two calls of the progress function */

/* A column's name stands in the footer with its length in front. */
bool mrd__table_has_column(mrd__str bytes, const char *name)
{
    uint32_t length;
    char text[32];
    if (bytes.size < TAIL + 4) return false;
    memcpy(&length, bytes.data + bytes.size - TAIL, sizeof length);
    if (length > bytes.size - TAIL) return false;
    size_t size = strlen(name);
    snprintf(text, sizeof text, "%c%s", (int)size, name);
    return memmem(bytes.data + bytes.size - TAIL - length, length, text, size + 1) != NULL;
}

bool mrd__table_in_parquet(mrd__str bytes)
{
    bool event =
        mrd__table_has_column(bytes, "time_ns") || mrd__table_has_column(bytes, "component");
    return mrd__commands_in_parquet(bytes) || (!event && mrd__table_has_column(bytes, "name"));
}

/* ---- Columns ---- */

static mrd__table_kind kind_of(mrd__str type)
{
    static const char *const wholes[] = {"BIGINT",   "INTEGER",   "SMALLINT", "TINYINT", "UBIGINT",
                                         "UINTEGER", "USMALLINT", "UTINYINT", "HUGEINT"};
    for (size_t i = 0; i < sizeof wholes / sizeof wholes[0]; i++) {
        if (mrd__str_is(type, wholes[i])) return MRD__TABLE_INT;
    }
    if (type.size >= 9 && memcmp(type.data, "TIMESTAMP", 9) == 0) return MRD__TABLE_TIME;
    if (mrd__str_is(type, "DOUBLE") || mrd__str_is(type, "FLOAT")) return MRD__TABLE_REAL;
    return mrd__str_is(type, "VARCHAR") ? MRD__TABLE_TEXT : MRD__TABLE_OTHER;
}

typedef MRD__VEC(mrd__table_column) column_list;

static void reset_columns(column_list *columns)
{
    for (size_t i = 0; i < columns->count; i++)
        mrd__free((char *)(uintptr_t)columns->data[i].name.data);
    mrd__vec_reset(columns);
}

static mrd_status list_columns(mrd__duck *duck, const char *from, column_list *out,
                               mrd_error *error)
{
    mrd__buf sql = {0};
    mrd__duck_rows *rows = NULL;
    mrd__duck_chunk chunk = {.rows = 1};
    mrd__buf_printf(&sql, "SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM %s)", from);
    mrd_status status = mrd__duck_query(duck, sql.data, NULL, 0, &rows, error);
    while (status == MRD_OK && chunk.rows > 0) {
        status = mrd__duck_rows_next(rows, &chunk, error);
        for (size_t i = 0; status == MRD_OK && i < chunk.rows; i++) {
            mrd__str name = mrd__duck_text(&chunk.columns[0], i);
            mrd__table_column one = {{mrd__strndup(name.data, name.size), name.size},
                                     kind_of(mrd__duck_text(&chunk.columns[1], i))};
            mrd__vec_push(out, one);
        }
    }
    mrd__duck_rows_close(&rows);
    mrd__buf_reset(&sql);
    return status;
}

/* The part's column as the type that rows are read in; NULL of it where there is none. */
static void add_column(mrd__buf *sql, const column_list *columns, const mrd__table_plan *plan,
                       mrd__table_role role)
{
    int at = plan->column[role];
    bool time = role == MRD__TABLE_TS || role == MRD__TABLE_DUR;
    bool id = role == MRD__TABLE_PID || role == MRD__TABLE_TID;
    const char *type = time ? "BIGINT" : "VARCHAR";
    if (at < 0 || columns->data == NULL) {
        mrd__buf_printf(sql, "NULL::%s", type);
        return;
    }
    mrd__table_kind kind = columns->data[at].kind;
    if (time && kind == MRD__TABLE_TIME) {
        mrd__buf_text(sql, "epoch_ns(");
        mrd__duck_quote_name(sql, columns->data[at].name);
        mrd__buf_char(sql, ')');
        return;
    }
    if (time && kind == MRD__TABLE_REAL) type = "DOUBLE";
    if (id && kind == MRD__TABLE_INT) type = "BIGINT";
    mrd__buf_text(sql, time ? "TRY_CAST(" : "CAST(");
    mrd__duck_quote_name(sql, columns->data[at].name);
    mrd__buf_printf(sql, " AS %s)", type);
}

static void build_select(mrd__buf *sql, const column_list *columns, const mrd__table_plan *plan,
                         const char *from)
{
    for (int role = 0; role < MRD__TABLE_ROLES; role++) {
        mrd__buf_text(sql, role == 0 ? "SELECT " : ", ");
        add_column(sql, columns, plan, (mrd__table_role)role);
    }
    mrd__buf_printf(sql, " FROM %s", from);
}

/* ---- Rows ---- */

static mrd__str text_of(const mrd__duck_chunk *chunk, mrd__table_role role, size_t row)
{
    const mrd__duck_column *column = &chunk->columns[role];
    return mrd__duck_valid(column, row) ? mrd__duck_text(column, row) : (mrd__str){0};
}

static bool time_of(mrd__table_sink *sink, const mrd__duck_chunk *chunk, mrd__table_role role,
                    size_t row, int64_t *out)
{
    const mrd__duck_column *column = &chunk->columns[role];
    if (!mrd__duck_valid(column, row)) return false;
    if (column->type == MRD__DUCK_DOUBLE)
        return mrd__table_micros(sink, ((const double *)column->data)[row], out);
    *out = ((const int64_t *)column->data)[row];
    return true;
}

static mrd__table_id id_of(const mrd__duck_chunk *chunk, mrd__table_role role, size_t row)
{
    const mrd__duck_column *column = &chunk->columns[role];
    mrd__table_id id = {0};
    if (!mrd__duck_valid(column, row)) return id;
    if (column->type == MRD__DUCK_INT64) {
        id.kind = MRD__IDENT_NUMBER;
        id.number = ((const int64_t *)column->data)[row];
        return id;
    }
    id.text = mrd__duck_text(column, row);
    bool number = mrd__parse_int64(id.text, &id.number);
    id.kind = number ? MRD__IDENT_NUMBER : id.text.size > 0 ? MRD__IDENT_TEXT : MRD__IDENT_NONE;
    return id;
}

static void add_rows(mrd__table_sink *sink, const mrd__duck_chunk *chunk)
{
    for (size_t i = 0; i < chunk->rows; i++) {
        mrd__table_row row = {
            .name = text_of(chunk, MRD__TABLE_NAME, i),
            .category = text_of(chunk, MRD__TABLE_CATEGORY, i),
            .args = text_of(chunk, MRD__TABLE_ARGS, i),
            .process = text_of(chunk, MRD__TABLE_PROCESS, i),
            .thread = text_of(chunk, MRD__TABLE_THREAD, i),
            .pid = id_of(chunk, MRD__TABLE_PID, i),
            .tid = id_of(chunk, MRD__TABLE_TID, i),
        };
        row.open = !time_of(sink, chunk, MRD__TABLE_DUR, i, &row.dur_ns) || row.dur_ns == -1;
        if (time_of(sink, chunk, MRD__TABLE_TS, i, &row.ts_ns))
            mrd__table_add(sink, &row);
        else
            mrd__table_bad(sink);
    }
}

static mrd_status read_rows(mrd__duck *duck, const char *sql, mrd__table_sink *sink,
                            mrd_error *error)
{
    mrd__import *in = sink->in;
    mrd__duck_rows *rows = NULL;
    mrd__duck_chunk chunk = {.rows = 1};
    uint64_t told = 0;
    mrd_status status = mrd__duck_query(duck, sql, NULL, 0, &rows, error);
    while (status == MRD_OK && chunk.rows > 0) {
        status = mrd__duck_rows_next(rows, &chunk, error);
        if (status == MRD_OK) add_rows(sink, &chunk);
        if (in->progress == NULL || sink->rows - told < PROGRESS_ROWS) continue;
        told = sink->rows;
        if (!in->progress(in->progress_ctx, in->path, 0, in->map != NULL ? in->map->size : 0))
            status = mrd__fail(error, MRD_ERR_CANCELLED, "cancelled", "cancelled");
    }
    mrd__duck_rows_close(&rows);
    return status;
}

typedef struct found_clock {
    mrd__buf name;
} found_clock;

static mrd_status take_clock(void *ctx, mrd__str key, mrd__str value, mrd_error *error)
{
    (void)error;
    found_clock *found = ctx;
    if (mrd__str_is(key, "clock")) mrd__buf_str(&found->name, value);
    return MRD_OK;
}

static mrd_status read_table(mrd__duck *duck, mrd__import *in, int fd, mrd_error *error)
{
    char name[MRD__DUCK_FD_NAME];
    char from[MRD__DUCK_FD_NAME + 32];
    snprintf(from, sizeof from, "read_parquet('%s')", mrd__duck_fd_name(fd, name));
    column_list columns = {0};
    found_clock clock = {0};
    mrd__table_plan plan;
    mrd__buf sql = {0};
    mrd_status status = mrd__duck_parquet_kv(duck, fd, take_clock, &clock, error);
    if (status == MRD_OK) status = list_columns(duck, from, &columns, error);
    if (status == MRD_OK) status = mrd__table_plan_of(columns.data, columns.count, &plan, error);
    if (status == MRD_OK) {
        mrd__table_sink sink;
        build_select(&sql, &columns, &plan, from);
        mrd__table_begin(&sink, in, "parquet_table", (mrd__str){clock.name.data, clock.name.size});
        status = read_rows(duck, sql.data, &sink, error);
        mrd__table_end(&sink);
    }
    reset_columns(&columns);
    mrd__buf_reset(&clock.name);
    mrd__buf_reset(&sql);
    return status;
}

mrd_status mrd__table_read_parquet(mrd__import *in, mrd_error *error)
{
    const char *path = in->data_path != NULL ? in->data_path : in->path;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return mrd__fail_errno(error, path, "cannot open");
    mrd__duck *duck = NULL;
    mrd_status status = mrd__duck_open(&duck, in->threads, error);
    if (status == MRD_OK) {
        bool commands =
            in->map != NULL && mrd__commands_in_parquet((mrd__str){in->map->data, in->map->size});
        status =
            commands ? mrd__commands_read(in, duck, fd, error) : read_table(duck, in, fd, error);
        if (status == MRD_ERR_INTERNAL)
            status =
                mrd__fail(error, MRD_ERR_FORMAT, "bad_table", "not a readable Parquet file: %s",
                          error != NULL ? error->message : "");
    }
    mrd__duck_close(&duck);
    close(fd);
    return status;
}
