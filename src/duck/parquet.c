/* Parquet metadata, and rows out of a callback into a Parquet file: COPY ... TO reads the table
 * function mrd_rows(ticket), which asks the callback. One thread fills at a time, so rows keep
 * order. */
#include "base/alloc.h"
#include "base/assert.h"
#include "duck/inside.h"
#include "duck/ticket.h"

#include <string.h>

#define ROW_GROUP_SIZE 65536 /* event-trace section 6: readers prune by the statistics of each */

mrd_status mrd__duck_parquet_kv(mrd__duck *duck, int fd, mrd__duck_kv_fn fn, void *ctx,
                                mrd_error *error)
{
    MRD__TRY(mrd__duck_check_footer(fd, error));
    char name[MRD__DUCK_FD_NAME];
    mrd__str param = mrd__str_of(mrd__duck_fd_name(fd, name));
    mrd__duck_rows *rows = NULL;
    MRD__TRY(mrd__duck_query(duck, "SELECT key, value FROM parquet_kv_metadata($1)", &param, 1,
                             &rows, error));
    mrd__duck_chunk chunk;
    mrd_status status = mrd__duck_rows_next(rows, &chunk, error);
    while (status == MRD_OK && chunk.rows) {
        for (size_t i = 0; status == MRD_OK && i < chunk.rows; i++) {
            if (!mrd__duck_valid(&chunk.columns[0], i)) continue;
            mrd__str value = {0};
            if (mrd__duck_valid(&chunk.columns[1], i)) value = mrd__duck_text(&chunk.columns[1], i);
            status = fn(ctx, mrd__duck_text(&chunk.columns[0], i), value, error);
        }
        if (status == MRD_OK) status = mrd__duck_rows_next(rows, &chunk, error);
    }
    mrd__duck_rows_close(&rows);
    return status;
}

typedef struct writing {
    const mrd__duck_source *source;
    mrd_status status; /* the source's */
    mrd_error error;
} writing;

void mrd__duck_out_text(mrd__duck_out *out, size_t row, mrd__str text)
{
    const mrd__duck_api *api = out->api;
    api->vector_assign_string_element_len(out->vector, row, text.data, text.size);
}

void mrd__duck_out_borrowed(mrd__duck_out *out, size_t row, mrd__str text)
{
    mrd__duck_string *slot = (mrd__duck_string *)out->data + row;
    memset(slot, 0, sizeof *slot);
    slot->size = (uint32_t)text.size;
    if (text.size <= 12) {
        memcpy((char *)slot + sizeof slot->size, text.data, text.size);
    } else {
        memcpy(slot->inlined, text.data, sizeof slot->inlined);
        slot->data = text.data;
    }
}

void mrd__duck_out_null(mrd__duck_out *out, size_t row)
{
    const mrd__duck_api *api = out->api;
    api->vector_ensure_validity_writable(out->vector);
    api->vector_get_validity(out->vector)[row >> 6] &= ~(UINT64_C(1) << (row & 63));
}

static duckdb_type duckdb_type_of(mrd__duck_type type)
{
    switch (type) {
    case MRD__DUCK_BOOL:
        return DUCKDB_TYPE_BOOLEAN;
    case MRD__DUCK_INT32:
        return DUCKDB_TYPE_INTEGER;
    case MRD__DUCK_INT64:
        return DUCKDB_TYPE_BIGINT;
    case MRD__DUCK_DOUBLE:
        return DUCKDB_TYPE_DOUBLE;
    case MRD__DUCK_TEXT:
        return DUCKDB_TYPE_VARCHAR;
    default:
        mrd__assert(!"a type that a source can have");
        return DUCKDB_TYPE_INVALID;
    }
}

/* Set once, before any callback can run. */
static const mrd__duck_api *api_of_process;

static void source_bind(duckdb_bind_info info)
{
    const mrd__duck_api *api = api_of_process;
    duckdb_value value = api->bind_get_parameter(info, 0);
    writing *w = mrd__ticket_owner(api->get_int64(value), MRD__TICKET_ROWS);
    api->destroy_value(&value);
    if (!w) {
        api->bind_set_error(info, "mrd_rows is called by Meridian alone");
        return;
    }
    for (size_t i = 0; i < w->source->width; i++) {
        duckdb_logical_type type = api->create_logical_type(duckdb_type_of(w->source->types[i]));
        api->bind_add_result_column(info, w->source->names[i], type);
        api->destroy_logical_type(&type);
    }
    api->bind_set_bind_data(info, w, NULL);
}

static void source_init(duckdb_init_info info)
{
    api_of_process->init_set_max_threads(info, 1);
}

static void source_next(duckdb_function_info info, duckdb_data_chunk chunk)
{
    const mrd__duck_api *api = api_of_process;
    writing *w = api->function_get_bind_data(info);
    mrd__duck_out columns[MRD__DUCK_MAX_COLUMNS];
    for (size_t i = 0; i < w->source->width; i++) {
        columns[i].vector = api->data_chunk_get_vector(chunk, i);
        columns[i].data = api->vector_get_data(columns[i].vector);
        columns[i].api = api;
    }
    size_t rows = 0;
    if (w->status == MRD_OK) w->status = w->source->next(w->source->ctx, columns, &rows, &w->error);
    if (w->status != MRD_OK) {
        api->function_set_error(info, "the source of rows failed");
        rows = 0;
    }
    mrd__assert(rows <= MRD__DUCK_BATCH && rows <= api->vector_size());
    api->data_chunk_set_size(chunk, rows);
}

bool mrd__duck_register_rows(const mrd__duck_api *api, duckdb_connection connection)
{
    api_of_process = api;
    duckdb_logical_type ticket = api->create_logical_type(DUCKDB_TYPE_BIGINT);
    duckdb_table_function function = api->create_table_function();
    api->table_function_set_name(function, "mrd_rows");
    api->table_function_add_parameter(function, ticket);
    api->table_function_set_bind(function, source_bind);
    api->table_function_set_init(function, source_init);
    api->table_function_set_function(function, source_next);
    duckdb_state state = api->register_table_function(connection, function);
    api->destroy_table_function(&function);
    api->destroy_logical_type(&ticket);
    return state == DuckDBSuccess;
}

static void build_copy(mrd__buf *sql, int64_t ticket, int fd, const mrd__duck_kv *kv,
                       size_t kv_count)
{
    char name[MRD__DUCK_FD_NAME];
    mrd__buf_printf(sql,
                    "COPY (SELECT * FROM mrd_rows(%lld)) TO '%s' (FORMAT parquet, CODEC zstd, ",
                    (long long)ticket, mrd__duck_fd_name(fd, name));
    mrd__buf_printf(sql, "ROW_GROUP_SIZE %d, USE_TMP_FILE false", ROW_GROUP_SIZE);
    for (size_t i = 0; i < kv_count; i++) {
        mrd__buf_text(sql, i ? ", " : ", KV_METADATA {");
        mrd__duck_quote_name(sql, mrd__str_of(kv[i].key));
        mrd__buf_text(sql, ": ");
        mrd__duck_quote(sql, kv[i].value);
    }
    mrd__buf_text(sql, kv_count ? "})" : ")");
}

mrd_status mrd__duck_write_parquet(mrd__duck *duck, int fd, const mrd__duck_source *source,
                                   const mrd__duck_kv *kv, size_t kv_count, mrd_error *error)
{
    mrd__assert(source->width <= MRD__DUCK_MAX_COLUMNS);
    writing *w = mrd__new(writing);
    w->source = source;
    mrd__ticket ticket;
    mrd__ticket_take(&ticket, MRD__TICKET_ROWS, w);
    mrd__buf sql = {0};
    build_copy(&sql, ticket.number, fd, kv, kv_count);
    mrd_status status = mrd__duck_run(duck, sql.data, error);
    mrd__buf_reset(&sql);
    mrd__ticket_drop(&ticket);
    if (w->status != MRD_OK) {
        status = w->status;
        if (error) *error = w->error;
    }
    mrd__free(w);
    return status;
}
