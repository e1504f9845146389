/* Cells as text, CSV and JSON. */
#include "sql/answer.h"

#include "base/assert.h"

#include <string.h>

bool mrd__sql_is_plain(duckdb_type type)
{
    return mrd__sql_is_whole(type) || type == DUCKDB_TYPE_BOOLEAN || type == DUCKDB_TYPE_FLOAT ||
           type == DUCKDB_TYPE_DOUBLE || type == DUCKDB_TYPE_VARCHAR || type == DUCKDB_TYPE_ENUM;
}

bool mrd__sql_is_whole(duckdb_type type)
{
    switch (type) {
    case DUCKDB_TYPE_TINYINT:
    case DUCKDB_TYPE_SMALLINT:
    case DUCKDB_TYPE_INTEGER:
    case DUCKDB_TYPE_BIGINT:
    case DUCKDB_TYPE_UTINYINT:
    case DUCKDB_TYPE_USMALLINT:
    case DUCKDB_TYPE_UINTEGER:
    case DUCKDB_TYPE_UBIGINT:
    case DUCKDB_TYPE_HUGEINT:
        return true;
    default:
        return false;
    }
}

uint32_t mrd__sql_code(const mrd__sql_field *field, size_t row)
{
    if (field->code == DUCKDB_TYPE_UTINYINT) return ((const uint8_t *)field->data)[row];
    if (field->code == DUCKDB_TYPE_USMALLINT) return ((const uint16_t *)field->data)[row];
    return ((const uint32_t *)field->data)[row];
}

static __int128 whole(const mrd__sql_field *field, size_t row)
{
    const void *data = field->data;
    switch (field->type) {
    case DUCKDB_TYPE_TINYINT:
        return ((const int8_t *)data)[row];
    case DUCKDB_TYPE_SMALLINT:
        return ((const int16_t *)data)[row];
    case DUCKDB_TYPE_INTEGER:
        return ((const int32_t *)data)[row];
    case DUCKDB_TYPE_UTINYINT:
        return ((const uint8_t *)data)[row];
    case DUCKDB_TYPE_USMALLINT:
        return ((const uint16_t *)data)[row];
    case DUCKDB_TYPE_UINTEGER:
        return ((const uint32_t *)data)[row];
    case DUCKDB_TYPE_UBIGINT:
        return ((const uint64_t *)data)[row];
    case DUCKDB_TYPE_HUGEINT: {
        const duckdb_hugeint *huge = (const duckdb_hugeint *)data + row;
        return (__int128)((unsigned __int128)huge->upper << 64 | huge->lower);
    }
    default:
        mrd__assert(field->type == DUCKDB_TYPE_BIGINT);
        return ((const int64_t *)data)[row];
    }
}

bool mrd__sql_whole(const mrd__sql_field *field, size_t row, int64_t *out)
{
    __int128 value = whole(field, row);
    *out = (int64_t)value;
    return value >= INT64_MIN && value <= INT64_MAX;
}

static void add_whole(mrd__buf *out, __int128 value)
{
    char digits[48];
    size_t at = sizeof digits;
    bool negative = value < 0;
    unsigned __int128 left = negative ? -(unsigned __int128)value : (unsigned __int128)value;
    do {
        digits[--at] = (char)('0' + (int)(left % 10));
        left /= 10;
    } while (left > 0);
    if (negative) digits[--at] = '-';
    mrd__buf_add(out, digits + at, sizeof digits - at);
}

static mrd__str text_of(const mrd__sql_field *field, size_t row)
{
    if (field->type == DUCKDB_TYPE_ENUM) return field->words.data[mrd__sql_code(field, row)];
    mrd__duck_column column = {.data = field->data};
    return mrd__duck_text(&column, row);
}

static double real_of(const mrd__sql_field *field, size_t row)
{
    if (field->type == DUCKDB_TYPE_FLOAT) return (double)((const float *)field->data)[row];
    return ((const double *)field->data)[row];
}

void mrd__sql_cell(mrd__buf *out, const mrd__sql_field *field, size_t row, bool json)
{
    if (mrd__sql_is_whole(field->type)) {
        add_whole(out, whole(field, row));
    } else if (field->type == DUCKDB_TYPE_BOOLEAN) {
        mrd__buf_text(out, ((const bool *)field->data)[row] ? "true" : "false");
    } else if (field->type == DUCKDB_TYPE_FLOAT || field->type == DUCKDB_TYPE_DOUBLE) {
        if (json)
            mrd__buf_json_double(out, real_of(field, row));
        else
            mrd__buf_double(out, real_of(field, row));
    } else if (json) {
        mrd__buf_json_string(out, text_of(field, row));
    } else {
        mrd__buf_str(out, text_of(field, row));
    }
}

/* ---- CSV ---- */

void mrd__sql_csv_begin(mrd__sql_query *query)
{
    for (size_t c = 0; c < query->width; c++) {
        if (c > 0) mrd__buf_char(&query->out, ',');
        mrd__buf_csv(&query->out, query->fields[c].name);
    }
    mrd__buf_char(&query->out, '\n');
}

mrd_status mrd__sql_csv_rows(mrd__sql_query *query, size_t rows, mrd_error *error)
{
    (void)error;
    mrd__buf *out = &query->out;
    for (size_t i = 0; i < rows; i++) {
        for (size_t c = 0; c < query->width; c++) {
            const mrd__sql_field *field = &query->fields[c];
            bool is_text = field->type == DUCKDB_TYPE_VARCHAR || field->type == DUCKDB_TYPE_ENUM;
            if (c > 0) mrd__buf_char(out, ',');
            if (mrd__sql_is_null(field, i)) continue;
            if (is_text)
                mrd__buf_csv(out, text_of(field, i));
            else
                mrd__sql_cell(out, field, i, false);
        }
        mrd__buf_char(out, '\n');
    }
    return MRD_OK;
}

/* ---- JSON ---- */

mrd_status mrd__sql_json_rows(mrd__sql_query *query, size_t rows, mrd_error *error)
{
    (void)error;
    mrd__buf *out = &query->out;
    for (size_t i = 0; i < rows; i++) {
        mrd__buf_char(out, '{');
        for (size_t c = 0; c < query->width; c++) {
            const mrd__sql_field *field = &query->fields[c];
            if (c > 0) mrd__buf_char(out, ',');
            mrd__buf_json_string(out, field->name);
            mrd__buf_char(out, ':');
            if (mrd__sql_is_null(field, i))
                mrd__buf_text(out, "null");
            else
                mrd__sql_cell(out, field, i, true);
        }
        mrd__buf_text(out, "}\n");
    }
    return MRD_OK;
}
