/* The samples of a session in the forms in which they go out. They are copies: the originals are
 * metrics.mrl, and an absent value is null in all of them. */
#include "arrow/arrow.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "duck/duck.h"
#include "session/session.h"

/* ---- Samples as text ---- */

enum {
    TEXT_PIECE = 64 << 10
};

typedef struct text_out {
    mrd__buf text;
    const mrd_sink *sink;
    bool csv;
} text_out;

static void add_value(mrd__buf *out, const mrd__sample_row *row)
{
    if (row->integer)
        mrd__buf_int(out, row->whole);
    else
        mrd__buf_json_double(out, row->value);
}

static void add_csv(mrd__buf *text, const mrd__sample_row *row)
{
    mrd__buf_uint(text, row->sequence);
    mrd__buf_char(text, ',');
    mrd__buf_csv(text, row->metric);
    mrd__buf_char(text, ',');
    if (row->present) add_value(text, row);
    const mrd__str texts[] = {row->unit, mrd__str_of(row->quality), row->source, row->key};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        mrd__buf_char(text, ',');
        mrd__buf_csv(text, texts[i]);
    }
    mrd__buf_char(text, ',');
    if (row->has_time) mrd__buf_int(text, row->time_ns);
    mrd__buf_char(text, '\n');
}

static void add_json(mrd__buf *text, const mrd__sample_row *row)
{
    mrd__buf_text(text, "{\"seq\":");
    mrd__buf_uint(text, row->sequence);
    mrd__buf_text(text, ",\"metric\":");
    mrd__buf_json_string(text, row->metric);
    mrd__buf_text(text, ",\"value\":");
    if (row->present)
        add_value(text, row);
    else
        mrd__buf_text(text, "null");
    mrd__buf_text(text, ",\"unit\":");
    mrd__buf_json_string(text, row->unit);
    mrd__buf_text(text, ",\"quality\":");
    mrd__buf_json_string(text, mrd__str_of(row->quality));
    mrd__buf_text(text, ",\"source\":");
    mrd__buf_json_string(text, row->source);
    mrd__buf_text(text, ",\"key\":");
    mrd__buf_json_string(text, row->key);
    mrd__buf_text(text, ",\"time_ns\":");
    if (row->has_time)
        mrd__buf_int(text, row->time_ns);
    else
        mrd__buf_text(text, "null");
    mrd__buf_text(text, "}\n");
}

static mrd_status add_text(void *ctx, const mrd__sample_row *row, mrd_error *error)
{
    text_out *out = ctx;
    if (out->csv)
        add_csv(&out->text, row);
    else
        add_json(&out->text, row);
    return out->text.size >= TEXT_PIECE ? mrd__buf_flush(&out->text, out->sink, error) : MRD_OK;
}

/* ---- Samples as columns ---- */

enum {
    TEXTS = 5, /* metric, unit, quality, source, key */
    COLUMNS = 3 + TEXTS,
};

/* Rows, column by column. */
typedef struct text_column {
    MRD__VEC(int32_t) offsets;
    mrd__buf bytes;
} text_column;

typedef struct batch {
    MRD__VEC(uint64_t) sequence;
    MRD__VEC(double) value;
    MRD__VEC(int64_t) time;
    mrd__buf valued, timed; /* a bit a row */
    text_column texts[TEXTS];
    size_t rows;
} batch;

static void batch_clear(batch *b)
{
    static const int32_t zero = 0;
    b->rows = b->sequence.count = b->value.count = b->time.count = 0;
    mrd__buf_clear(&b->valued);
    mrd__buf_clear(&b->timed);
    for (int i = 0; i < TEXTS; i++) {
        b->texts[i].offsets.count = 0;
        mrd__vec_push(&b->texts[i].offsets, zero);
        mrd__buf_clear(&b->texts[i].bytes);
    }
}

static void batch_reset(batch *b)
{
    mrd__vec_reset(&b->sequence);
    mrd__vec_reset(&b->value);
    mrd__vec_reset(&b->time);
    mrd__buf_reset(&b->valued);
    mrd__buf_reset(&b->timed);
    for (int i = 0; i < TEXTS; i++) {
        mrd__vec_reset(&b->texts[i].offsets);
        mrd__buf_reset(&b->texts[i].bytes);
    }
}

static void add_bit(mrd__buf *bits, size_t row, bool set)
{
    if (row % 8 == 0) mrd__buf_char(bits, 0);
    if (set) bits->data[row / 8] = (char)(bits->data[row / 8] | 1 << row % 8);
}

static bool bit_at(const mrd__buf *bits, size_t row)
{
    return (bits->data[row / 8] >> row % 8 & 1) != 0;
}

static void batch_add(batch *b, const mrd__sample_row *row)
{
    const mrd__str texts[TEXTS] = {row->metric, row->unit, mrd__str_of(row->quality), row->source,
                                   row->key};
    mrd__vec_push(&b->sequence, row->sequence);
    mrd__vec_push(&b->value, row->present ? row->value : 0.0); /* absent by its bit */
    mrd__vec_push(&b->time, row->has_time ? row->time_ns : 0);
    add_bit(&b->valued, b->rows, row->present);
    add_bit(&b->timed, b->rows, row->has_time);
    for (int i = 0; i < TEXTS; i++) {
        mrd__buf_str(&b->texts[i].bytes, texts[i]);
        mrd__vec_push(&b->texts[i].offsets, (int32_t)b->texts[i].bytes.size);
    }
    b->rows++;
}

typedef struct arrow_out {
    mrd__arrow_writer *writer;
    batch batch;
} arrow_out;

static mrd__arrow_column text_arrow(const text_column *column)
{
    return (mrd__arrow_column){.offsets = column->offsets.data,
                               .bytes = column->bytes.data != NULL ? column->bytes.data : ""};
}

static mrd_status flush_batch(arrow_out *out, mrd_error *error)
{
    batch *b = &out->batch;
    mrd__arrow_column columns[COLUMNS] = {
        {.data = b->sequence.data},
        text_arrow(&b->texts[0]),
        {.data = b->value.data, .validity = (const uint8_t *)b->valued.data},
        text_arrow(&b->texts[1]),
        text_arrow(&b->texts[2]),
        text_arrow(&b->texts[3]),
        text_arrow(&b->texts[4]),
        {.data = b->time.data, .validity = (const uint8_t *)b->timed.data},
    };
    mrd_status status =
        b->rows > 0 ? mrd__arrow_writer_batch(out->writer, columns, b->rows, error) : MRD_OK;
    batch_clear(b);
    return status;
}

static mrd_status add_arrow(void *ctx, const mrd__sample_row *row, mrd_error *error)
{
    arrow_out *out = ctx;
    batch_add(&out->batch, row);
    return out->batch.rows == MRD__ARROW_BATCH_ROWS ? flush_batch(out, error) : MRD_OK;
}

static mrd_status send_arrow(const char *dir, const mrd_session_select *select,
                             const mrd_sink *sink, mrd_error *error)
{
    static const mrd__arrow_field fields[COLUMNS] = {
        {"seq", MRD__ARROW_UINT64, false},   {"metric", MRD__ARROW_UTF8, false},
        {"value", MRD__ARROW_FLOAT64, true}, {"unit", MRD__ARROW_UTF8, false},
        {"quality", MRD__ARROW_UTF8, false}, {"source", MRD__ARROW_UTF8, false},
        {"key", MRD__ARROW_UTF8, false},     {"time_ns", MRD__ARROW_INT64, true}};
    arrow_out out = {.writer = mrd__arrow_writer_create(fields, COLUMNS, NULL, 0, sink)};
    batch_clear(&out.batch);
    mrd_status status = mrd__session_samples(dir, select, add_arrow, &out, error);
    if (status == MRD_OK) status = flush_batch(&out, error);
    if (status == MRD_OK) status = mrd__arrow_writer_finish(out.writer, error);
    mrd__arrow_writer_destroy(&out.writer);
    batch_reset(&out.batch);
    return status;
}

mrd_status mrd_session_samples(const char *dir, const mrd_session_select *select, mrd_format format,
                               const mrd_sink *sink, mrd_error *error)
{
    mrd__assert(dir != NULL && sink != NULL);
    if (format == MRD_FORMAT_ARROW) return send_arrow(dir, select, sink, error);
    text_out out = {.sink = sink, .csv = format == MRD_FORMAT_CSV};
    if (out.csv) mrd__buf_text(&out.text, "seq,metric,value,unit,quality,source,key,time_ns\n");
    mrd_status status = mrd__session_samples(dir, select, add_text, &out, error);
    if (status == MRD_OK) status = mrd__buf_flush(&out.text, sink, error);
    mrd__buf_reset(&out.text);
    return status;
}

/* ---- Samples as Parquet ---- */

typedef struct parquet_out {
    batch all;
    size_t given;
} parquet_out;

static mrd_status collect(void *ctx, const mrd__sample_row *row, mrd_error *error)
{
    parquet_out *out = ctx;
    for (int i = 0; i < TEXTS; i++) {
        if (out->all.texts[i].bytes.size > INT32_MAX - 4096)
            return mrd__fail(error, MRD_ERR_LIMIT, "too_many_rows",
                             "%zu samples, their names do not fit into one Parquet file",
                             out->all.rows);
    }
    batch_add(&out->all, row);
    return MRD_OK;
}

static mrd__str text_at(const text_column *column, size_t row)
{
    int32_t from = column->offsets.data[row], to = column->offsets.data[row + 1];
    const char *bytes = column->bytes.data != NULL ? column->bytes.data : "";
    return (mrd__str){bytes + from, (size_t)(to - from)};
}

static void put_row(const batch *all, mrd__duck_out *columns, size_t i, size_t row)
{
    ((int64_t *)columns[0].data)[i] = (int64_t)all->sequence.data[row];
    mrd__duck_out_borrowed(&columns[1], i, text_at(&all->texts[0], row));
    if (bit_at(&all->valued, row))
        ((double *)columns[2].data)[i] = all->value.data[row];
    else
        mrd__duck_out_null(&columns[2], i);
    for (size_t k = 1; k < TEXTS; k++)
        mrd__duck_out_borrowed(&columns[2 + k], i, text_at(&all->texts[k], row));
    if (bit_at(&all->timed, row))
        ((int64_t *)columns[7].data)[i] = all->time.data[row];
    else
        mrd__duck_out_null(&columns[7], i);
}

static mrd_status next_rows(void *ctx, mrd__duck_out *columns, size_t *rows, mrd_error *error)
{
    (void)error;
    parquet_out *out = ctx;
    size_t left = out->all.rows - out->given;
    *rows = left < MRD__DUCK_BATCH ? left : MRD__DUCK_BATCH;
    for (size_t i = 0; i < *rows; i++)
        put_row(&out->all, columns, i, out->given + i);
    out->given += *rows;
    return MRD_OK;
}

static mrd_status write_parquet(parquet_out *out, int fd, mrd_error *error)
{
    static const char *const names[COLUMNS] = {"seq",     "metric", "value", "unit",
                                               "quality", "source", "key",   "time_ns"};
    static const mrd__duck_type types[COLUMNS] = {MRD__DUCK_INT64, MRD__DUCK_TEXT, MRD__DUCK_DOUBLE,
                                                  MRD__DUCK_TEXT,  MRD__DUCK_TEXT, MRD__DUCK_TEXT,
                                                  MRD__DUCK_TEXT,  MRD__DUCK_INT64};
    mrd__duck_source source = {
        .width = COLUMNS, .names = names, .types = types, .next = next_rows, .ctx = out};
    mrd__duck_kv kv = {"producer", MRD__STR("meridian")};
    mrd__duck *duck = NULL;
    MRD__TRY(mrd__duck_open(&duck, 0, error));
    mrd_status status = mrd__duck_write_parquet(duck, fd, &source, &kv, 1, error);
    mrd__duck_close(&duck);
    return status;
}

mrd_status mrd_session_samples_parquet(const char *dir, const mrd_session_select *select, int fd,
                                       mrd_error *error)
{
    mrd__assert(dir != NULL && fd >= 0);
    parquet_out out = {0};
    batch_clear(&out.all);
    mrd_status status = mrd__session_samples(dir, select, collect, &out, error);
    if (status == MRD_OK) status = write_parquet(&out, fd, error);
    batch_reset(&out.all);
    return status;
}
