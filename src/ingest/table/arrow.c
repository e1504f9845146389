/* Slice tables in Arrow IPC, file or stream. */
#include "arrow/reader.h"
#include "base/error.h"
#include "ingest/table/rows.h"
#include "ingest/table/table.h"

static bool sniff(const char *head, size_t size)
{
    return mrd__arrow_sniff(head, size);
}

static mrd__table_kind kind_of(const mrd__arrow_in_field *field)
{
    switch (field->kind) {
    case MRD__ARROW_KIND_INT:
        return MRD__TABLE_INT;
    case MRD__ARROW_KIND_TIMESTAMP:
    case MRD__ARROW_KIND_DURATION:
        return MRD__TABLE_TIME;
    case MRD__ARROW_KIND_FLOAT:
        return MRD__TABLE_REAL;
    case MRD__ARROW_KIND_TEXT:
        return MRD__TABLE_TEXT;
    default:
        return MRD__TABLE_OTHER;
    }
}

static mrd_status plan_of(const mrd__arrow_reader *reader, mrd__table_plan *plan, mrd_error *error)
{
    size_t count = mrd__arrow_reader_field_count(reader);
    mrd__table_column *columns = mrd__new_array(mrd__table_column, count);
    for (size_t i = 0; i < count; i++) {
        const mrd__arrow_in_field *field = mrd__arrow_reader_field(reader, i);
        columns[i] = (mrd__table_column){field->name, kind_of(field)};
    }
    mrd_status status = mrd__table_plan_of(columns, count, plan, error);
    mrd__free(columns);
    return status;
}

typedef struct batch {
    const mrd__arrow_in_batch *in;
    const mrd__table_plan *plan;
    mrd__table_sink *sink;
} batch;

static const mrd__arrow_in_column *column_of(const batch *b, mrd__table_role role)
{
    int at = b->plan->column[role];
    return at >= 0 ? &b->in->columns[at] : NULL;
}

static mrd__str text_of(const batch *b, mrd__table_role role, size_t row)
{
    mrd__str text = {0};
    const mrd__arrow_in_column *column = column_of(b, role);
    if (column != NULL && !mrd__arrow_get_text(column, row, &text)) text = (mrd__str){0};
    return text;
}

/* ns of a time; false: null, no number or out of range. */
static bool time_of(const batch *b, mrd__table_role role, size_t row, int64_t *out)
{
    const mrd__arrow_in_column *column = column_of(b, role);
    double micros;
    if (column == NULL) return false;
    if (column->field->kind == MRD__ARROW_KIND_FLOAT)
        return mrd__arrow_get_double(column, row, &micros) &&
               mrd__table_micros(b->sink, micros, out);
    if (!mrd__arrow_get_int(column, row, out)) return false;
    int64_t unit = column->field->unit_ns > 0 ? column->field->unit_ns : 1;
    return !__builtin_mul_overflow(*out, unit, out);
}

static mrd__table_id id_of(const batch *b, mrd__table_role role, size_t row)
{
    mrd__table_id id = {0};
    const mrd__arrow_in_column *column = column_of(b, role);
    if (column == NULL) return id;
    if (mrd__arrow_get_int(column, row, &id.number))
        id.kind = MRD__IDENT_NUMBER;
    else if (mrd__arrow_get_text(column, row, &id.text) && id.text.size > 0)
        id.kind = MRD__IDENT_TEXT;
    return id;
}

static void add_rows(const batch *b)
{
    for (size_t i = 0; i < b->in->rows; i++) {
        mrd__table_row row = {
            .name = text_of(b, MRD__TABLE_NAME, i),
            .category = text_of(b, MRD__TABLE_CATEGORY, i),
            .args = text_of(b, MRD__TABLE_ARGS, i),
            .process = text_of(b, MRD__TABLE_PROCESS, i),
            .thread = text_of(b, MRD__TABLE_THREAD, i),
            .pid = id_of(b, MRD__TABLE_PID, i),
            .tid = id_of(b, MRD__TABLE_TID, i),
        };
        row.open = !time_of(b, MRD__TABLE_DUR, i, &row.dur_ns) || row.dur_ns == -1;
        if (time_of(b, MRD__TABLE_TS, i, &row.ts_ns))
            mrd__table_add(b->sink, &row);
        else
            mrd__table_bad(b->sink);
    }
}

static mrd_status read_batches(mrd__import *in, mrd__arrow_reader *reader, mrd__table_sink *sink,
                               const mrd__table_plan *plan, mrd_error *error)
{
    mrd__arrow_in_batch found;
    bool more = true;
    for (;;) {
        MRD__TRY(mrd__arrow_reader_next(reader, &found, &more, error));
        if (!more) break;
        add_rows(&(batch){&found, plan, sink});
        if (in->progress != NULL &&
            !in->progress(in->progress_ctx, in->path, found.offset, in->map->size))
            return mrd__fail(error, MRD_ERR_CANCELLED, "cancelled", "cancelled");
    }
    if (mrd__arrow_reader_cut(reader))
        mrd__shard_loss(sink->shard, MRD__LOSS_TRUNCATED_INPUT, 0, 1, (int64_t)in->map->size, NULL,
                        0);
    return MRD_OK;
}

static mrd_status read_file(mrd__import *in, mrd_error *error)
{
    mrd__arrow_reader *reader = NULL;
    mrd__table_plan plan;
    MRD__TRY(mrd__arrow_reader_open(in->map->data, in->map->size, &reader, error));
    mrd_status status = plan_of(reader, &plan, error);
    if (status == MRD_OK) {
        mrd__table_sink sink;
        mrd__table_begin(&sink, in, mrd__importer_arrow_table.name,
                         mrd__arrow_reader_metadata(reader, "clock"));
        status = read_batches(in, reader, &sink, &plan, error);
        mrd__table_end(&sink);
    }
    mrd__arrow_reader_close(&reader);
    return status;
}

const mrd__importer mrd__importer_arrow_table = {
    .name = "arrow_table",
    .what = "slice table in Arrow IPC or Parquet (name, ts_ns or ts)",
    .priority = 30,
    .sniff = sniff,
    .read = read_file,
};
