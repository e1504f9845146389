/* Event Parquet in. DuckDB decodes the file; here each chunk of rows is checked, its times and
 * values become doubles, categories become numbers, components become indices.
 *
 * A string column comes as pointers. Rows of one dictionary page share the pointers of its words,
 * and short words stand inside the row, so a small cache by those 16 bytes answers nearly every
 * row without hashing the text. */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "duck/duck.h"
#include "events/columns.h"
#include "events/event_file.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MAX_COMPONENT_BYTES 65536          /* a resource id, not a document */
#define MAX_COMPONENTS (UINT32_C(1) << 24) /* bounds the tables by key */
#define CACHE_SLOTS 1024                   /* power of two, above the words of most files */

typedef struct cache_slot {
    mrd__duck_string text; /* as it stood in the column */
    uint64_t chunk;        /* pointers are good inside one chunk only */
    uint32_t value;
} cache_slot;

typedef struct reader {
    mrd__event_info *info;
    const mrd__event_sink *sink;
    uint32_t *slots; /* hash table of components: index + 1 */
    size_t slot_count, component_capacity;
    uint64_t chunk;
    cache_slot category_cache[16], component_cache[CACHE_SLOTS];
    double time[MRD__DUCK_BATCH], value[MRD__DUCK_BATCH];
    uint8_t category[MRD__DUCK_BATCH];
    uint32_t component[MRD__DUCK_BATCH];
    mrd__str detail[MRD__DUCK_BATCH];
    uint64_t inexact;
} reader;

static mrd_status bad_row(const reader *r, size_t row, int column, mrd_error *error,
                          const char *what, mrd__str value)
{
    /* The value may be any bytes and any length: shown valid, and its beginning only. */
    mrd__buf shown = {0};
    mrd__utf8_repair(&shown, (mrd__str){value.data, value.size < 80 ? value.size : 80});
    mrd_status status =
        mrd__fail(error, MRD_ERR_FORMAT, "bad_trace", "row %llu (from 0): column %s %s%s%s",
                  (unsigned long long)(r->info->rows + row), mrd__event_column_name(column),
                  shown.size ? shown.data : "", shown.size ? " " : "", what);
    mrd__buf_reset(&shown);
    return status;
}

static mrd_status bad_number(const reader *r, size_t row, int column, double value,
                             const char *what, mrd_error *error)
{
    mrd__buf shown = {0};
    mrd__buf_double(&shown, value);
    mrd_status status = bad_row(r, row, column, error, what, (mrd__str){shown.data, shown.size});
    mrd__buf_reset(&shown);
    return status;
}

/* ---- Columns ---- */

static mrd_status check_nulls(const reader *r, const mrd__duck_chunk *chunk, int column,
                              mrd_error *error)
{
    const mrd__duck_column *c = &chunk->columns[column];
    if (!c->validity) return MRD_OK;
    for (size_t i = 0; i < chunk->rows; i++) {
        if (!mrd__duck_valid(c, i)) {
            return bad_row(r, i, column, error, "is null; only detail_json may be null",
                           (mrd__str){0});
        }
    }
    return MRD_OK;
}

static uint64_t from_int64(const int64_t *in, size_t rows, double *out)
{
    uint64_t inexact = 0;
    for (size_t i = 0; i < rows; i++) {
        out[i] = (double)in[i];
        /* 2^63 as a double is one above the largest int64. */
        inexact += out[i] >= 0x1p63 || (int64_t)out[i] != in[i];
    }
    return inexact;
}

static uint64_t from_uint64(const uint64_t *in, size_t rows, double *out)
{
    uint64_t inexact = 0;
    for (size_t i = 0; i < rows; i++) {
        out[i] = (double)in[i];
        inexact += out[i] >= 0x1p64 || (uint64_t)out[i] != in[i];
    }
    return inexact;
}

static uint64_t to_doubles(const mrd__duck_column *column, size_t rows, double *out)
{
    switch (column->type) {
    case MRD__DUCK_DOUBLE:
        memcpy(out, column->data, rows * sizeof *out);
        return 0;
    case MRD__DUCK_FLOAT:
        for (size_t i = 0; i < rows; i++)
            out[i] = (double)((const float *)column->data)[i];
        return 0;
    case MRD__DUCK_INT64:
        return from_int64(column->data, rows, out);
    case MRD__DUCK_UINT64:
        return from_uint64(column->data, rows, out);
    default:
        mrd__assert(!"a type that columns.c lets through");
        return 0;
    }
}

static mrd_status read_numbers(reader *r, const mrd__duck_chunk *chunk, mrd_error *error)
{
    MRD__TRY(check_nulls(r, chunk, MRD__COL_TIME, error));
    MRD__TRY(check_nulls(r, chunk, MRD__COL_VALUE, error));
    r->inexact = to_doubles(&chunk->columns[MRD__COL_TIME], chunk->rows, r->time);
    to_doubles(&chunk->columns[MRD__COL_VALUE], chunk->rows, r->value);
    for (size_t i = 0; i < chunk->rows; i++) {
        if (!isfinite(r->time[i])) {
            return bad_number(r, i, MRD__COL_TIME, r->time[i], "is no time; a finite one is needed",
                              error);
        }
        if (isnan(r->value[i])) {
            return bad_number(r, i, MRD__COL_VALUE, r->value[i], "is no value; a number is needed",
                              error);
        }
    }
    return MRD_OK;
}

static bool same_bytes(const mrd__duck_string *a, const mrd__duck_string *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static size_t cache_hash(const mrd__duck_string *text)
{
    uint64_t half[2];
    memcpy(half, text, sizeof half);
    return (size_t)(mrd__hash_mix(half[0], half[1]) >> 32);
}

static void slots_grow(reader *r)
{
    size_t count = r->slot_count ? r->slot_count * 2 : 1024;
    uint32_t *slots = mrd__new_array(uint32_t, count);
    for (size_t i = 0; i < r->info->component_count; i++) {
        mrd__str text = r->info->components[i];
        size_t at = mrd__hash(text.data, text.size) & (count - 1);
        while (slots[at])
            at = (at + 1) & (count - 1);
        slots[at] = (uint32_t)i + 1;
    }
    mrd__free(r->slots);
    r->slots = slots;
    r->slot_count = count;
}

/* Index of a component, new ones appended. */
static mrd_status intern(reader *r, size_t row, mrd__str text, uint32_t *out, mrd_error *error)
{
    mrd__event_info *info = r->info;
    if (info->component_count * 2 >= r->slot_count) slots_grow(r);
    size_t mask = r->slot_count - 1;
    size_t at = mrd__hash(text.data, text.size) & mask;
    for (; r->slots[at]; at = (at + 1) & mask) {
        *out = r->slots[at] - 1;
        if (mrd__str_equal(info->components[*out], text)) return MRD_OK;
    }
    if (text.size > MAX_COMPONENT_BYTES)
        return bad_row(r, row, MRD__COL_COMPONENT, error, "... is longer than 65536 bytes", text);
    if (!mrd__utf8_valid(text))
        return bad_row(r, row, MRD__COL_COMPONENT, error, "is not valid UTF-8", text);
    if (info->component_count == MAX_COMPONENTS) {
        return mrd__fail(error, MRD_ERR_LIMIT, "too_many_components",
                         "row %llu (from 0): more than %u components",
                         (unsigned long long)(info->rows + row), (unsigned)MAX_COMPONENTS);
    }
    if (info->component_count == r->component_capacity) {
        r->component_capacity = r->component_capacity ? r->component_capacity * 2 : 256;
        info->components =
            mrd__realloc(info->components, r->component_capacity * sizeof *info->components);
    }
    *out = (uint32_t)info->component_count++;
    info->components[*out] = (mrd__str){mrd__strndup(text.data, text.size), text.size};
    r->slots[at] = *out + 1;
    return MRD_OK;
}

static mrd_status read_components(reader *r, const mrd__duck_chunk *chunk, mrd_error *error)
{
    MRD__TRY(check_nulls(r, chunk, MRD__COL_COMPONENT, error));
    const mrd__duck_column *column = &chunk->columns[MRD__COL_COMPONENT];
    const mrd__duck_string *texts = column->data;
    for (size_t i = 0; i < chunk->rows; i++) {
        cache_slot *slot = &r->component_cache[cache_hash(&texts[i]) & (CACHE_SLOTS - 1)];
        if (slot->chunk != r->chunk || !same_bytes(&slot->text, &texts[i])) {
            MRD__TRY(intern(r, i, mrd__duck_text(column, i), &slot->value, error));
            slot->text = texts[i];
            slot->chunk = r->chunk;
        }
        r->component[i] = slot->value;
    }
    return MRD_OK;
}

static mrd_status read_categories(reader *r, const mrd__duck_chunk *chunk, mrd_error *error)
{
    MRD__TRY(check_nulls(r, chunk, MRD__COL_CATEGORY, error));
    const mrd__duck_column *column = &chunk->columns[MRD__COL_CATEGORY];
    const mrd__duck_string *texts = column->data;
    for (size_t i = 0; i < chunk->rows; i++) {
        cache_slot *slot = &r->category_cache[cache_hash(&texts[i]) & 15];
        if (slot->chunk != r->chunk || !same_bytes(&slot->text, &texts[i])) {
            mrd__str text = mrd__duck_text(column, i);
            int category = mrd__category_parse(text);
            if (category < 0) {
                char what[160];
                snprintf(what, sizeof what, "is no category; allowed are %s", mrd__category_list());
                return bad_row(r, i, MRD__COL_CATEGORY, error, what, text);
            }
            slot->text = texts[i];
            slot->chunk = r->chunk;
            slot->value = (uint32_t)category;
        }
        r->category[i] = (uint8_t)slot->value;
    }
    return MRD_OK;
}

/* *any: whether a row has a detail. */
static mrd_status read_details(reader *r, const mrd__duck_chunk *chunk, bool *any, mrd_error *error)
{
    const mrd__duck_column *column = &chunk->columns[MRD__COL_DETAIL];
    bool text = column->type == MRD__DUCK_TEXT || column->type == MRD__DUCK_BLOB;
    *any = false;
    for (size_t i = 0; i < chunk->rows; i++) {
        r->detail[i] = (mrd__str){0};
        if (!mrd__duck_valid(column, i)) continue;
        if (!text) return bad_row(r, i, MRD__COL_DETAIL, error, "is not a string", (mrd__str){0});
        r->detail[i] = mrd__duck_text(column, i);
        if (column->type == MRD__DUCK_BLOB && !mrd__utf8_valid(r->detail[i]))
            return bad_row(r, i, MRD__COL_DETAIL, error, "is not valid UTF-8", r->detail[i]);
        *any = true;
    }
    return MRD_OK;
}

static mrd_status read_chunk(reader *r, const mrd__duck_chunk *chunk, mrd_error *error)
{
    mrd__assert(chunk->rows <= MRD__DUCK_BATCH);
    bool any_detail = false;
    r->chunk++;
    MRD__TRY(read_numbers(r, chunk, error));
    MRD__TRY(read_categories(r, chunk, error));
    MRD__TRY(read_components(r, chunk, error));
    MRD__TRY(read_details(r, chunk, &any_detail, error));
    mrd__event_batch batch = {
        .rows = chunk->rows,
        .time = r->time,
        .value = r->value,
        .category = r->category,
        .component = r->component,
        .detail = any_detail ? r->detail : NULL,
        .inexact = r->inexact,
    };
    MRD__TRY(r->sink->batch(r->sink->ctx, &batch, error));
    r->info->rows += chunk->rows;
    return MRD_OK;
}

/* ---- The file ---- */

static mrd_status keep_sim_end(void *ctx, mrd__str key, mrd__str value, mrd_error *error)
{
    mrd__event_info *info = ctx;
    if (!mrd__str_is(key, "sim_end_ns")) return MRD_OK;
    if (!mrd__parse_double(value, &info->sim_end_ns)) {
        return mrd__fail(error, MRD_ERR_FORMAT, "bad_trace",
                         "metadata sim_end_ns is '%.*s'; a finite decimal number is needed",
                         (int)(value.size < 80 ? value.size : 80), value.data);
    }
    info->has_sim_end = true;
    return MRD_OK;
}

static mrd_status read_rows(mrd__duck *duck, int fd, reader *r, mrd_error *error)
{
    MRD__TRY(mrd__duck_parquet_kv(duck, fd, keep_sim_end, r->info, error));
    mrd__buf sql = {0};
    mrd__duck_rows *rows = NULL;
    mrd__duck_chunk chunk = {0};
    mrd_status status = mrd__event_columns(duck, fd, &sql, error);
    mrd__event_hint hint;
    if (status == MRD_OK && r->sink->begin) {
        status = mrd__event_hint_of(duck, fd, &hint, error);
        if (status == MRD_OK) r->sink->begin(r->sink->ctx, &hint);
    }
    if (status == MRD_OK) status = mrd__duck_query(duck, sql.data, NULL, 0, &rows, error);
    mrd__buf_reset(&sql);
    if (status == MRD_OK) status = mrd__duck_rows_next(rows, &chunk, error);
    while (status == MRD_OK && chunk.rows) {
        status = read_chunk(r, &chunk, error);
        if (status == MRD_OK) status = mrd__duck_rows_next(rows, &chunk, error);
    }
    mrd__duck_rows_close(&rows);
    return status;
}

/* DuckDB's words become ours: what it cannot read is no valid file, and it must name the file that
 * the user gave, not the descriptor. */
static mrd_status explain(mrd_status status, const char *path, int fd, mrd_error *error)
{
    if (!error) return status == MRD_ERR_INTERNAL ? MRD_ERR_FORMAT : status;
    if (status == MRD_ERR_INTERNAL) {
        char name[MRD__DUCK_FD_NAME];
        mrd__duck_fd_name(fd, name);
        mrd__buf text = {0};
        const char *from = error->message, *hit;
        while ((hit = strstr(from, name)) != NULL) {
            mrd__buf_add(&text, from, (size_t)(hit - from));
            mrd__buf_text(&text, path);
            from = hit + strlen(name);
        }
        mrd__buf_text(&text, from);
        status = mrd__fail(error, MRD_ERR_FORMAT, "bad_trace", "not a readable Parquet file: %s",
                           text.data);
        mrd__buf_reset(&text);
    }
    return mrd__fail_at(error, status, path, -1);
}

mrd_status mrd__event_read(const char *path, uint32_t threads, const mrd__event_sink *sink,
                           mrd__event_info *info, mrd_error *error)
{
    memset(info, 0, sizeof *info);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return mrd__fail_errno(error, path, "cannot open");
    mrd__duck *duck = NULL;
    mrd_status status = mrd__duck_open(&duck, threads, error);
    if (status == MRD_OK) {
        reader *r = mrd__new(reader);
        r->info = info;
        r->sink = sink;
        status = read_rows(duck, fd, r, error);
        if (status != MRD_OK) status = explain(status, path, fd, error);
        mrd__free(r->slots);
        mrd__free(r);
    }
    mrd__duck_close(&duck);
    close(fd);
    if (status != MRD_OK) mrd__event_info_reset(info);
    return status;
}

void mrd__event_info_reset(mrd__event_info *info)
{
    for (size_t i = 0; i < info->component_count; i++)
        mrd__free((char *)info->components[i].data);
    mrd__free(info->components);
    memset(info, 0, sizeof *info);
}
