/* An answer on its way out: chunks of DuckDB's become CSV, JSON, Arrow or an aligned table. */
#ifndef MRD_SQL_ANSWER_H
#define MRD_SQL_ANSWER_H

#include "arrow/arrow.h"
#include "sql/inside.h"

typedef struct mrd__sql_field {
    mrd__str name; /* own memory */
    duckdb_type type;
    duckdb_type code;         /* ENUM: type of its codes */
    MRD__VEC(mrd__str) words; /* ENUM: members, own memory */
    /* of the chunk at hand */
    const void *data;
    const uint64_t *validity;
} mrd__sql_field;

/* Types that are written as they are; a statement's other columns are cast before. */
bool mrd__sql_is_plain(duckdb_type type);

static inline bool mrd__sql_is_null(const mrd__sql_field *field, size_t row)
{
    return field->validity != NULL && !(field->validity[row >> 6] >> (row & 63) & 1);
}
/* Code of a valid row of an ENUM. */
uint32_t mrd__sql_code(const mrd__sql_field *field, size_t row);
/* Whole numbers of all widths: false when it does not fit int64 (HUGEINT, UBIGINT). */
bool mrd__sql_whole(const mrd__sql_field *field, size_t row, int64_t *out);
bool mrd__sql_is_whole(duckdb_type type);
/* Append a valid cell as plain text; JSON: as a JSON value. */
void mrd__sql_cell(mrd__buf *out, const mrd__sql_field *field, size_t row, bool json);

struct mrd__sql_query {
    mrd__sql *sql;
    const mrd__duck_api *api;
    mrd__sql_format format;
    mrd__buf text; /* what DuckDB was given last */
    size_t before; /* bytes of it before the caller's text */
    bool explain;
    duckdb_connection connection;
    duckdb_prepared_statement statement;
    duckdb_pending_result pending;
    duckdb_result result;
    bool started, ended;
    mrd__sql_field *fields;
    size_t width;
    uint64_t rows;
    mrd__buf out;
    struct mrd__sql_watch *watch; /* or NULL */
    struct mrd__sql_arrow *arrow;
    struct mrd__sql_grid *grid;
};

/* One chunk of rows in the fields; then what comes after the last. Each appends to query->out. */
typedef mrd_status (*mrd__sql_rows_fn)(mrd__sql_query *query, size_t rows, mrd_error *error);

mrd_status mrd__sql_csv_rows(mrd__sql_query *query, size_t rows, mrd_error *error);
mrd_status mrd__sql_json_rows(mrd__sql_query *query, size_t rows, mrd_error *error);
void mrd__sql_csv_begin(mrd__sql_query *query);

void mrd__sql_grid_begin(mrd__sql_query *query);
mrd_status mrd__sql_grid_rows(mrd__sql_query *query, size_t rows, mrd_error *error);
void mrd__sql_grid_end(mrd__sql_query *query);
void mrd__sql_grid_reset(mrd__sql_query *query);

MRD_MUST_CHECK mrd_status mrd__sql_arrow_begin(mrd__sql_query *query, mrd_error *error);
mrd_status mrd__sql_arrow_rows(mrd__sql_query *query, size_t rows, mrd_error *error);
MRD_MUST_CHECK mrd_status mrd__sql_arrow_end(mrd__sql_query *query, mrd_error *error);
void mrd__sql_arrow_reset(mrd__sql_query *query);

#endif
