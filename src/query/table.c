#include "query/table.h"

#include "base/alloc.h"
#include "base/assert.h"

#define FLUSH_BYTES (256 * 1024) /* text handed to the sink at a time */

void mrd__table_init(mrd__table *table, mrd_format format, const mrd__arrow_field *fields,
                     size_t field_count, const mrd__arrow_kv *metadata, size_t metadata_count,
                     const char *json_head, const mrd_sink *sink)
{
    mrd__assert(field_count <= MRD__TABLE_MAX_FIELDS);
    *table =
        (mrd__table){.format = format, .fields = fields, .field_count = field_count, .sink = sink};
    if (format == MRD_FORMAT_ARROW) {
        table->arrow =
            mrd__arrow_writer_create(fields, field_count, metadata, metadata_count, sink);
        return;
    }
    if (format == MRD_FORMAT_JSON) {
        mrd__buf_char(&table->out, '{');
        mrd__buf_text(&table->out, json_head);
        mrd__buf_text(&table->out, "\"rows\":[");
        return;
    }
    for (size_t i = 0; i < field_count; i++) {
        if (i > 0) mrd__buf_char(&table->out, ',');
        mrd__buf_text(&table->out, fields[i].name);
    }
    mrd__buf_char(&table->out, '\n');
}

mrd_status mrd__table_dictionary(mrd__table *table, size_t field, const mrd__arrow_dict *dict,
                                 mrd_error *error)
{
    table->dict[field] = *dict;
    if (table->arrow == NULL) return MRD_OK;
    return mrd__arrow_writer_dictionary(table->arrow, field, dict, error);
}

static void add_text(mrd__table *table, mrd__str text)
{
    if (table->format == MRD_FORMAT_JSON)
        mrd__buf_json_string(&table->out, text);
    else
        mrd__buf_csv(&table->out, text);
}

static void add_word(mrd__table *table, size_t field, size_t index)
{
    const mrd__arrow_dict *dict = &table->dict[field];
    add_text(table, dict->get(dict->ctx, index));
}

static void add_cell(mrd__table *table, size_t field, const mrd__arrow_column *column, size_t row)
{
    mrd__buf *out = &table->out;
    bool json = table->format == MRD_FORMAT_JSON;
    if (column->validity != NULL && !(column->validity[row / 8] >> (row % 8) & 1)) {
        if (json) mrd__buf_text(out, "null");
        return;
    }
    switch (table->fields[field].type) {
    case MRD__ARROW_FLOAT64: {
        double value = ((const double *)column->data)[row];
        if (json)
            mrd__buf_json_double(out, value);
        else
            mrd__buf_double(out, value);
        return;
    }
    case MRD__ARROW_INT64:
        mrd__buf_int(out, ((const int64_t *)column->data)[row]);
        return;
    case MRD__ARROW_UINT32:
        mrd__buf_uint(out, ((const uint32_t *)column->data)[row]);
        return;
    case MRD__ARROW_UINT16:
        mrd__buf_uint(out, ((const uint16_t *)column->data)[row]);
        return;
    case MRD__ARROW_UTF8: {
        int32_t from = column->offsets[row];
        add_text(table,
                 (mrd__str){column->bytes + from, (size_t)(column->offsets[row + 1] - from)});
        return;
    }
    case MRD__ARROW_DICT8:
        add_word(table, field, (size_t)((const int8_t *)column->data)[row]);
        return;
    default:
        mrd__assert(table->fields[field].type == MRD__ARROW_DICT32);
        add_word(table, field, (size_t)((const int32_t *)column->data)[row]);
    }
}

static void add_row(mrd__table *table, const mrd__arrow_column *columns, size_t row)
{
    mrd__buf *out = &table->out;
    bool json = table->format == MRD_FORMAT_JSON;
    if (json) mrd__buf_text(out, table->rows > 0 ? ",\n{" : "\n{");
    for (size_t i = 0; i < table->field_count; i++) {
        if (i > 0) mrd__buf_char(out, ',');
        if (json) {
            mrd__buf_char(out, '"');
            mrd__buf_text(out, table->fields[i].name);
            mrd__buf_text(out, "\":");
        }
        add_cell(table, i, &columns[i], row);
    }
    mrd__buf_char(out, json ? '}' : '\n');
    table->rows++;
}

mrd_status mrd__table_rows(mrd__table *table, const mrd__arrow_column *columns, size_t rows,
                           mrd_error *error)
{
    if (table->arrow != NULL) {
        table->rows += rows;
        return mrd__arrow_writer_batch(table->arrow, columns, rows, error);
    }
    for (size_t row = 0; row < rows; row++) {
        add_row(table, columns, row);
        if (table->out.size >= FLUSH_BYTES)
            MRD__TRY(mrd__buf_flush(&table->out, table->sink, error));
    }
    return MRD_OK;
}

mrd_status mrd__table_finish(mrd__table *table, mrd_error *error)
{
    if (table->arrow != NULL) return mrd__arrow_writer_finish(table->arrow, error);
    if (table->format == MRD_FORMAT_JSON) mrd__buf_text(&table->out, "\n]}\n");
    return mrd__buf_flush(&table->out, table->sink, error);
}

void mrd__table_reset(mrd__table *table)
{
    mrd__arrow_writer_destroy(&table->arrow);
    mrd__buf_reset(&table->out);
    *table = (mrd__table){0};
}
