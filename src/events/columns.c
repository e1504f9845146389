#include "events/columns.h"
#include "base/alloc.h"
#include "base/error.h"

#include <string.h>

typedef enum kind {
    KIND_ROW,
    KIND_NUMBER,
    KIND_TEXT,
    KIND_DETAIL
} kind;

static const struct {
    const char *name;
    kind kind;
} columns[MRD__COL_COUNT] = {
    {"file_row_number", KIND_ROW}, {"time_ns", KIND_NUMBER}, {"category", KIND_TEXT},
    {"component", KIND_TEXT},      {"value", KIND_NUMBER},   {"detail_json", KIND_DETAIL},
};

const char *mrd__event_column_name(int column)
{
    return columns[column].name;
}

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Appends how a number column is read: as it is, widened, or as a double; false: no number. */
static bool add_number(mrd__buf *sql, const char *name, const char *type)
{
    static const char *const plain[] = {"DOUBLE", "FLOAT", "BIGINT", "UBIGINT"};
    static const char *const narrow[] = {"TINYINT",  "SMALLINT",  "INTEGER",
                                         "UTINYINT", "USMALLINT", "UINTEGER"};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        if (strcmp(type, plain[i]) == 0) {
            mrd__buf_printf(sql, "\"%s\"", name);
            return true;
        }
    }
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++) {
        if (strcmp(type, narrow[i]) == 0) {
            mrd__buf_printf(sql, "CAST(\"%s\" AS BIGINT)", name);
            return true;
        }
    }
    if (starts_with(type, "DECIMAL") || strcmp(type, "HUGEINT") == 0) {
        mrd__buf_printf(sql, "CAST(\"%s\" AS DOUBLE)", name);
        return true;
    }
    return false;
}

static bool is_text(const char *type)
{
    return strcmp(type, "VARCHAR") == 0 || strcmp(type, "BLOB") == 0 || strcmp(type, "JSON") == 0;
}

static mrd_status add_column(mrd__buf *sql, int column, const char *type, mrd_error *error)
{
    const char *name = columns[column].name;
    if (column) mrd__buf_text(sql, ", ");
    if (columns[column].kind == KIND_ROW) {
        mrd__buf_text(sql, name);
        return MRD_OK;
    }
    if (!type) {
        return mrd__fail(error, MRD_ERR_FORMAT, "bad_trace",
                         "column %s is missing; an event trace has time_ns, category, component, "
                         "value and detail_json",
                         name);
    }
    if (columns[column].kind == KIND_NUMBER) {
        if (add_number(sql, name, type)) return MRD_OK;
        return mrd__fail(error, MRD_ERR_FORMAT, "bad_trace",
                         "column %s has type %s; a double or an integer is needed%s", name, type,
                         column == MRD__COL_TIME ? ", in ns of simulated time" : "");
    }
    /* A writer may give a column of nothing but nulls any type: rows decide. */
    if (is_text(type) || columns[column].kind == KIND_DETAIL) {
        mrd__buf_printf(sql, "\"%s\"", name);
        return MRD_OK;
    }
    return mrd__fail(error, MRD_ERR_FORMAT, "bad_trace",
                     "column %s has type %s; a string is needed", name, type);
}

/* Keeps the types of our columns from one chunk of DESCRIBE (name, type, ...). */
static void keep_types(const mrd__duck_chunk *chunk, char *types[MRD__COL_COUNT])
{
    for (size_t row = 0; row < chunk->rows; row++) {
        mrd__str name = mrd__duck_text(&chunk->columns[0], row);
        mrd__str type = mrd__duck_text(&chunk->columns[1], row);
        for (int i = 0; i < MRD__COL_COUNT; i++) {
            if (!types[i] && mrd__str_is(name, columns[i].name))
                types[i] = mrd__strndup(type.data, type.size);
        }
    }
}

static mrd_status read_types(mrd__duck *duck, const char *file, char *types[MRD__COL_COUNT],
                             mrd_error *error)
{
    mrd__buf sql = {0};
    mrd__buf_printf(&sql, "DESCRIBE SELECT * FROM read_parquet('%s', hive_partitioning = false)",
                    file);
    mrd__duck_rows *rows = NULL;
    mrd_status status = mrd__duck_query(duck, sql.data, NULL, 0, &rows, error);
    mrd__buf_reset(&sql);
    mrd__duck_chunk chunk = {0};
    if (status == MRD_OK) status = mrd__duck_rows_next(rows, &chunk, error);
    while (status == MRD_OK && chunk.rows) {
        keep_types(&chunk, types);
        status = mrd__duck_rows_next(rows, &chunk, error);
    }
    mrd__duck_rows_close(&rows);
    return status;
}

mrd_status mrd__event_columns(mrd__duck *duck, int fd, mrd__buf *list, mrd__buf *from,
                              mrd_error *error)
{
    char file[MRD__DUCK_FD_NAME];
    mrd__duck_fd_name(fd, file);
    char *types[MRD__COL_COUNT] = {0};
    mrd_status status = read_types(duck, file, types, error);
    for (int i = 0; status == MRD_OK && i < MRD__COL_COUNT; i++)
        status = add_column(list, i, types[i], error);
    mrd__buf_printf(from, "read_parquet('%s', hive_partitioning = false, file_row_number = true)",
                    file);
    for (int i = 0; i < MRD__COL_COUNT; i++)
        mrd__free(types[i]);
    return status;
}

mrd_status mrd__event_row_count(mrd__duck *duck, int fd, uint64_t *rows, mrd_error *error)
{
    char name[MRD__DUCK_FD_NAME];
    mrd__str param = mrd__str_of(mrd__duck_fd_name(fd, name));
    mrd__duck_rows *answer = NULL;
    mrd__duck_chunk chunk = {0};
    *rows = 0;
    MRD__TRY(mrd__duck_query(duck, "SELECT CAST(num_rows AS BIGINT) FROM parquet_file_metadata($1)",
                             &param, 1, &answer, error));
    mrd_status status = mrd__duck_rows_next(answer, &chunk, error);
    if (status == MRD_OK && chunk.rows && mrd__duck_valid(&chunk.columns[0], 0)) {
        int64_t count = *(const int64_t *)chunk.columns[0].data;
        *rows = count > 0 ? (uint64_t)count : 0;
    }
    mrd__duck_rows_close(&answer);
    return status;
}
