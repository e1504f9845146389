/* Arrow: chunks are gathered into batches of some thousand rows. ENUM columns go out as
 * dictionaries, whole numbers as int64 (sums are 128 bits wide in DuckDB and mostly fit), doubles,
 * truth values and text as such. */
#include "base/error.h"
#include "sql/answer.h"

#include <string.h>

#define BATCH_ROWS 16384

typedef struct gathered {
    mrd__buf data, validity, bytes; /* TEXT: data are offsets */
    bool nulls;
} gathered;

struct mrd__sql_arrow {
    mrd__arrow_writer *writer;
    gathered *columns;
    size_t rows;
};

static mrd__arrow_type arrow_type(const mrd__sql_field *field)
{
    switch (field->type) {
    case DUCKDB_TYPE_ENUM:
        return MRD__ARROW_DICT32;
    case DUCKDB_TYPE_BOOLEAN:
        return MRD__ARROW_BOOL;
    case DUCKDB_TYPE_FLOAT:
    case DUCKDB_TYPE_DOUBLE:
        return MRD__ARROW_FLOAT64;
    case DUCKDB_TYPE_VARCHAR:
        return MRD__ARROW_UTF8;
    default:
        return MRD__ARROW_INT64;
    }
}

static mrd__str word(const void *ctx, size_t index)
{
    return ((const mrd__sql_field *)ctx)->words.data[index];
}

mrd_status mrd__sql_arrow_begin(mrd__sql_query *query, mrd_error *error)
{
    struct mrd__sql_arrow *arrow = mrd__new(struct mrd__sql_arrow);
    query->arrow = arrow;
    arrow->columns = mrd__new_array(gathered, query->width);
    mrd__arrow_field *fields = mrd__new_array(mrd__arrow_field, query->width);
    for (size_t c = 0; c < query->width; c++)
        fields[c] =
            (mrd__arrow_field){query->fields[c].name.data, arrow_type(&query->fields[c]), true};
    mrd_sink sink = mrd__buf_sink(&query->out);
    arrow->writer = mrd__arrow_writer_create(fields, query->width, NULL, 0, &sink);
    mrd__free(fields);
    mrd_status status = MRD_OK;
    for (size_t c = 0; status == MRD_OK && c < query->width; c++) {
        const mrd__sql_field *field = &query->fields[c];
        mrd__arrow_dict words = {field->words.count, word, field};
        if (field->type == DUCKDB_TYPE_ENUM)
            status = mrd__arrow_writer_dictionary(arrow->writer, c, &words, error);
    }
    return status;
}

static void set_bit(mrd__buf *bits, size_t row, bool value)
{
    if (row / 8 >= bits->size) mrd__buf_char(bits, 0);
    if (value) bits->data[row / 8] |= (char)(1 << (row & 7));
}

static void add_text(gathered *column, const mrd__sql_field *field, size_t row, bool null)
{
    int32_t end = 0;
    if (column->data.size == 0) mrd__buf_add(&column->data, &end, sizeof end);
    if (!null) mrd__sql_cell(&column->bytes, field, row, false);
    end = (int32_t)column->bytes.size;
    mrd__buf_add(&column->data, &end, sizeof end);
}

static mrd_status add_whole(gathered *column, const mrd__sql_field *field, size_t row, bool null,
                            mrd_error *error)
{
    int64_t value = 0;
    if (!null && !mrd__sql_whole(field, row, &value))
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_sql",
                         "a value of column \"%.100s\" does not fit 64 bits; cast it to DOUBLE or "
                         "VARCHAR",
                         field->name.data);
    mrd__buf_add(&column->data, &value, sizeof value);
    return MRD_OK;
}

static mrd_status add_value(gathered *column, const mrd__sql_field *field, size_t row, bool null,
                            size_t at, mrd_error *error)
{
    double real = 0;
    int32_t code = 0;
    switch (arrow_type(field)) {
    case MRD__ARROW_DICT32:
        if (!null) code = (int32_t)mrd__sql_code(field, row);
        mrd__buf_add(&column->data, &code, sizeof code);
        return MRD_OK;
    case MRD__ARROW_BOOL:
        set_bit(&column->data, at, !null && ((const bool *)field->data)[row]);
        return MRD_OK;
    case MRD__ARROW_FLOAT64:
        if (!null)
            real = field->type == DUCKDB_TYPE_FLOAT ? (double)((const float *)field->data)[row]
                                                    : ((const double *)field->data)[row];
        mrd__buf_add(&column->data, &real, sizeof real);
        return MRD_OK;
    case MRD__ARROW_UTF8:
        add_text(column, field, row, null);
        return MRD_OK;
    default:
        return add_whole(column, field, row, null, error);
    }
}

static mrd_status flush(mrd__sql_query *query, mrd_error *error)
{
    struct mrd__sql_arrow *arrow = query->arrow;
    mrd__arrow_column *columns = mrd__new_array(mrd__arrow_column, query->width);
    for (size_t c = 0; c < query->width; c++) {
        gathered *column = &arrow->columns[c];
        bool text = arrow_type(&query->fields[c]) == MRD__ARROW_UTF8;
        columns[c].data = text ? NULL : column->data.data;
        columns[c].offsets = text ? (const int32_t *)(const void *)column->data.data : NULL;
        columns[c].bytes = column->bytes.data != NULL ? column->bytes.data : "";
        columns[c].validity = column->nulls ? (const uint8_t *)column->validity.data : NULL;
    }
    mrd_status status = mrd__arrow_writer_batch(arrow->writer, columns, arrow->rows, error);
    for (size_t c = 0; c < query->width; c++) {
        mrd__buf_clear(&arrow->columns[c].data);
        mrd__buf_clear(&arrow->columns[c].validity);
        mrd__buf_clear(&arrow->columns[c].bytes);
        arrow->columns[c].nulls = false;
    }
    arrow->rows = 0;
    mrd__free(columns);
    return status;
}

mrd_status mrd__sql_arrow_rows(mrd__sql_query *query, size_t rows, mrd_error *error)
{
    struct mrd__sql_arrow *arrow = query->arrow;
    bool large = false;
    for (size_t c = 0; c < query->width; c++) {
        gathered *column = &arrow->columns[c];
        for (size_t i = 0; i < rows; i++) {
            bool null = mrd__sql_is_null(&query->fields[c], i);
            column->nulls |= null;
            set_bit(&column->validity, arrow->rows + i, !null);
            MRD__TRY(add_value(column, &query->fields[c], i, null, arrow->rows + i, error));
        }
        large |= column->bytes.size > MRD__SQL_FLUSH * 16;
    }
    arrow->rows += rows;
    return arrow->rows >= BATCH_ROWS || large ? flush(query, error) : MRD_OK;
}

mrd_status mrd__sql_arrow_end(mrd__sql_query *query, mrd_error *error)
{
    if (query->arrow->rows > 0) MRD__TRY(flush(query, error));
    return mrd__arrow_writer_finish(query->arrow->writer, error);
}

void mrd__sql_arrow_reset(mrd__sql_query *query)
{
    struct mrd__sql_arrow *arrow = query->arrow;
    if (arrow == NULL) return;
    mrd__arrow_writer_destroy(&arrow->writer);
    for (size_t c = 0; c < query->width; c++) {
        mrd__buf_reset(&arrow->columns[c].data);
        mrd__buf_reset(&arrow->columns[c].validity);
        mrd__buf_reset(&arrow->columns[c].bytes);
    }
    mrd__free(arrow->columns);
    mrd__free(arrow);
    query->arrow = NULL;
}
