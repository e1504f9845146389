/* Prints what our reader finds in an Arrow file or stream, as JSON:
 *   {"fields": [{"name", "kind", "nullable"}], "rows": n, "columns": [[...]], "clock": "..."}
 * Integers stand as strings. usage: arrow_dump FILE > JSON */
#include "arrow/reader.h"
#include "base/alloc.h"
#include "base/os.h"

#include <stdio.h>

static const char *const kinds[] = {"other", "int",       "float",   "bool",
                                    "text",  "timestamp", "duration"};

static void dump_cell(mrd__buf *out, const mrd__arrow_in_column *column, size_t row)
{
    int64_t whole;
    double number;
    mrd__str text;
    if (column->field->kind == MRD__ARROW_KIND_OTHER || !mrd__arrow_is_valid(column, row)) {
        mrd__buf_text(out, "null");
    } else if (mrd__arrow_get_text(column, row, &text)) {
        mrd__buf_json_string(out, text);
    } else if (column->field->kind == MRD__ARROW_KIND_FLOAT) {
        mrd__arrow_get_double(column, row, &number);
        mrd__buf_json_double(out, number);
    } else if (mrd__arrow_get_int(column, row, &whole)) {
        mrd__buf_char(out, '"');
        mrd__buf_int(out, whole);
        mrd__buf_char(out, '"');
    } else {
        mrd__buf_text(out, "\"out of range\"");
    }
}

static void dump_batch(mrd__buf *columns, const mrd__arrow_in_batch *batch, size_t fields)
{
    for (size_t i = 0; i < fields; i++) {
        for (size_t row = 0; row < batch->rows; row++) {
            if (columns[i].size > 0) mrd__buf_char(&columns[i], ',');
            dump_cell(&columns[i], &batch->columns[i], row);
        }
    }
}

static void print_all(mrd__arrow_reader *reader, const mrd__buf *columns, size_t rows)
{
    mrd__buf out = {0};
    size_t count = mrd__arrow_reader_field_count(reader);
    mrd__buf_text(&out, "{\"fields\": [");
    for (size_t i = 0; i < count; i++) {
        const mrd__arrow_in_field *field = mrd__arrow_reader_field(reader, i);
        mrd__buf_text(&out, i > 0 ? ",{\"name\":" : "{\"name\":");
        mrd__buf_json_string(&out, field->name);
        mrd__buf_printf(&out, ",\"kind\":\"%s\",\"nullable\":%s,\"unit_ns\":%lld}",
                        kinds[field->kind], field->nullable ? "true" : "false",
                        (long long)field->unit_ns);
    }
    mrd__buf_printf(&out, "], \"rows\": %zu, \"columns\": [", rows);
    for (size_t i = 0; i < count; i++) {
        mrd__buf_text(&out, i > 0 ? ",\n[" : "\n[");
        mrd__buf_add(&out, columns[i].data, columns[i].size);
        mrd__buf_char(&out, ']');
    }
    mrd__buf_text(&out, "], \"clock\": ");
    mrd__buf_json_string(&out, mrd__arrow_reader_metadata(reader, "clock"));
    mrd__buf_text(&out, "}\n");
    fwrite(out.data, 1, out.size, stdout);
    mrd__buf_reset(&out);
}

static mrd_status dump(const mrd__map *map, mrd_error *error)
{
    mrd__arrow_reader *reader = NULL;
    mrd_status status = mrd__arrow_reader_open(map->data, map->size, &reader, error);
    if (status != MRD_OK) return status;
    size_t count = mrd__arrow_reader_field_count(reader);
    mrd__buf *columns = mrd__new_array(mrd__buf, count);
    size_t rows = 0;
    bool more = true;
    while (more && status == MRD_OK) {
        mrd__arrow_in_batch batch;
        status = mrd__arrow_reader_next(reader, &batch, &more, error);
        if (status != MRD_OK || !more) break;
        dump_batch(columns, &batch, count);
        rows += batch.rows;
    }
    if (status == MRD_OK) print_all(reader, columns, rows);
    for (size_t i = 0; i < count; i++)
        mrd__buf_reset(&columns[i]);
    mrd__free(columns);
    mrd__arrow_reader_close(&reader);
    return status;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: arrow_dump FILE\n");
        return 2;
    }
    mrd_error error = {0};
    mrd__map map = {0};
    mrd_status status = mrd__map_open(&map, argv[1], &error);
    if (status == MRD_OK && !mrd__arrow_sniff(map.data, map.size))
        fprintf(stderr, "%s: not recognized\n", argv[1]);
    if (status == MRD_OK) status = dump(&map, &error);
    char text[2048];
    if (status != MRD_OK) fprintf(stderr, "%s\n", mrd_error_text(&error, text, sizeof text));
    mrd__map_close(&map);
    return status != MRD_OK;
}
