/* Connections, statements and chunks. */
#include "duck/duck.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "base/os.h"
#include "duck/api.h"
#include "duck/inside.h"

#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(mrd__duck_string) == sizeof(duckdb_string_t), "layout of a string");

struct mrd__duck_rows {
    mrd__duck *duck; /* must outlive the rows */
    const mrd__duck_api *api;
    duckdb_prepared_statement statement;
    duckdb_pending_result pending;
    duckdb_result result;
    bool started;
    duckdb_data_chunk chunk;
    size_t width;
    mrd__duck_type types[MRD__DUCK_MAX_COLUMNS];
};

mrd_status mrd__duck_fail(mrd__duck *duck, mrd_error *error, const char *message)
{
    if (!message) message = "DuckDB gives no reason";
    if (strstr(message, "INTERNAL Error") || strstr(message, "FATAL Error") ||
        strstr(message, "database has been invalidated"))
        mrd__duck_database_drop(duck->database);
    return mrd__fail(error, MRD_ERR_INTERNAL, "duckdb", "%s", message);
}

mrd_status mrd__duck_open(mrd__duck **out, uint32_t threads, mrd_error *error)
{
    *out = NULL;
    duckdb_database database = NULL;
    MRD__TRY(mrd__duck_database(&database, error));
    mrd__duck *duck = mrd__new(mrd__duck);
    duck->api = mrd__duck_api_get(error);
    duck->database = database;
    if (duck->api->connect(database, &duck->connection) != DuckDBSuccess) {
        mrd__free(duck);
        return mrd__fail(error, MRD_ERR_INTERNAL, "duckdb", "DuckDB gives no connection");
    }
    char sql[64];
    snprintf(sql, sizeof sql, "SET threads = %u", threads ? threads : mrd__cores());
    mrd_status status = mrd__duck_run(duck, sql, error);
    if (status != MRD_OK) {
        mrd__duck_close(&duck);
        return status;
    }
    *out = duck;
    return MRD_OK;
}

void mrd__duck_close(mrd__duck **duck)
{
    if (!duck || !*duck) return;
    (*duck)->api->disconnect(&(*duck)->connection);
    mrd__free(*duck);
    *duck = NULL;
}

mrd_status mrd__duck_run(mrd__duck *duck, const char *sql, mrd_error *error)
{
    duckdb_result result;
    memset(&result, 0, sizeof result);
    mrd_status status = MRD_OK;
    if (duck->api->query(duck->connection, sql, &result) != DuckDBSuccess)
        status = mrd__duck_fail(duck, error, duck->api->result_error(&result));
    duck->api->destroy_result(&result);
    return status;
}

mrd__duck_type mrd__duck_type_of(duckdb_type type)
{
    switch (type) {
    case DUCKDB_TYPE_BOOLEAN:
        return MRD__DUCK_BOOL;
    case DUCKDB_TYPE_INTEGER:
        return MRD__DUCK_INT32;
    case DUCKDB_TYPE_BIGINT:
        return MRD__DUCK_INT64;
    case DUCKDB_TYPE_UBIGINT:
        return MRD__DUCK_UINT64;
    case DUCKDB_TYPE_FLOAT:
        return MRD__DUCK_FLOAT;
    case DUCKDB_TYPE_DOUBLE:
        return MRD__DUCK_DOUBLE;
    case DUCKDB_TYPE_VARCHAR:
        return MRD__DUCK_TEXT;
    case DUCKDB_TYPE_BLOB:
        return MRD__DUCK_BLOB;
    default:
        return MRD__DUCK_OTHER;
    }
}

static mrd_status start(mrd__duck *duck, mrd__duck_rows *rows, const char *sql,
                        const mrd__str *params, size_t param_count, mrd_error *error)
{
    const mrd__duck_api *api = rows->api;
    if (api->prepare(duck->connection, sql, &rows->statement) != DuckDBSuccess)
        return mrd__duck_fail(duck, error, api->prepare_error(rows->statement));
    for (size_t i = 0; i < param_count; i++) {
        if (api->bind_varchar_length(rows->statement, i + 1, params[i].data, params[i].size) !=
            DuckDBSuccess)
            return mrd__duck_fail(duck, error, "DuckDB refuses a parameter");
    }
    if (api->pending_prepared_streaming(rows->statement, &rows->pending) != DuckDBSuccess)
        return mrd__duck_fail(duck, error, api->pending_error(rows->pending));
    duckdb_state state = api->execute_pending(rows->pending, &rows->result);
    rows->started = true;
    if (state != DuckDBSuccess)
        return mrd__duck_fail(duck, error, api->result_error(&rows->result));
    rows->width = api->column_count(&rows->result);
    mrd__assert(rows->width <= MRD__DUCK_MAX_COLUMNS);
    for (size_t i = 0; i < rows->width; i++)
        rows->types[i] = mrd__duck_type_of(api->column_type(&rows->result, i));
    return MRD_OK;
}

mrd_status mrd__duck_query(mrd__duck *duck, const char *sql, const mrd__str *params,
                           size_t param_count, mrd__duck_rows **out, mrd_error *error)
{
    mrd__duck_rows *rows = mrd__new(mrd__duck_rows);
    rows->duck = duck;
    rows->api = duck->api;
    mrd_status status = start(duck, rows, sql, params, param_count, error);
    if (status != MRD_OK) mrd__duck_rows_close(&rows);
    *out = rows;
    return status;
}

size_t mrd__duck_rows_width(const mrd__duck_rows *rows)
{
    return rows->width;
}

const char *mrd__duck_rows_name(const mrd__duck_rows *rows, size_t column)
{
    duckdb_result result = rows->result;
    return rows->api->column_name(&result, column);
}

mrd__duck_type mrd__duck_rows_type(const mrd__duck_rows *rows, size_t column)
{
    mrd__assert(column < rows->width);
    return rows->types[column];
}

mrd_status mrd__duck_rows_next(mrd__duck_rows *rows, mrd__duck_chunk *chunk, mrd_error *error)
{
    const mrd__duck_api *api = rows->api;
    if (rows->chunk) api->destroy_data_chunk(&rows->chunk);
    chunk->rows = 0;
    rows->chunk = api->fetch_chunk(rows->result);
    if (!rows->chunk) {
        const char *message = api->result_error(&rows->result);
        return message && *message ? mrd__duck_fail(rows->duck, error, message) : MRD_OK;
    }
    chunk->rows = api->data_chunk_get_size(rows->chunk);
    for (size_t i = 0; i < rows->width; i++) {
        duckdb_vector vector = api->data_chunk_get_vector(rows->chunk, i);
        chunk->columns[i] = (mrd__duck_column){
            .type = rows->types[i],
            .data = api->vector_get_data(vector),
            .validity = api->vector_get_validity(vector),
        };
    }
    return MRD_OK;
}

void mrd__duck_rows_close(mrd__duck_rows **rows)
{
    if (!rows || !*rows) return;
    const mrd__duck_api *api = (*rows)->api;
    if ((*rows)->chunk) api->destroy_data_chunk(&(*rows)->chunk);
    if ((*rows)->started) api->destroy_result(&(*rows)->result);
    if ((*rows)->pending) api->destroy_pending(&(*rows)->pending);
    if ((*rows)->statement) api->destroy_prepare(&(*rows)->statement);
    mrd__free(*rows);
    *rows = NULL;
}

const char *mrd__duck_fd_name(int fd, char out[MRD__DUCK_FD_NAME])
{
    snprintf(out, MRD__DUCK_FD_NAME, "/dev/fd/%d", fd);
    return out;
}

static void quote(mrd__buf *out, mrd__str text, char mark)
{
    mrd__buf_char(out, mark);
    for (size_t i = 0; i < text.size && text.data[i]; i++) {
        if (text.data[i] == mark) mrd__buf_char(out, mark);
        mrd__buf_char(out, text.data[i]);
    }
    mrd__buf_char(out, mark);
}

void mrd__duck_quote(mrd__buf *out, mrd__str text)
{
    quote(out, text, '\'');
}

void mrd__duck_quote_name(mrd__buf *out, mrd__str name)
{
    quote(out, name, '"');
}
