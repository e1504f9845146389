/* Event Parquet in: DuckDB decodes the file; here each chunk of rows is checked, its times and
 * values become doubles, categories become numbers, components become indices.
 *
 * Chunks come on several threads: each call borrows a worker, with caches of its own, and only a
 * word that its worker has not met (or has met long ago) asks the common table. The caches go by
 * the words' text: DuckDB copies the words of a dictionary for each row, so that equal words seldom
 * share a pointer. */
#include "events/take.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "events/columns.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_COMPONENT_BYTES 65536          /* a resource id, not a document */
#define MAX_COMPONENTS (UINT32_C(1) << 24) /* bounds the tables by key */
#define CACHE_SLOTS 1024                   /* power of two, above the words of most files */
#define CATEGORY_SLOTS 64                  /* power of two; six words seldom meet in so many */

typedef struct cache_slot {
    mrd__str text; /* outlives the reading; NULL: free */
    uint32_t value;
} cache_slot;

struct mrd__take_worker {
    mrd__take_worker *next;
    mrd__take *take;
    uint32_t index;
    uint64_t first_row;
    const mrd__duck_chunk *columns;
    cache_slot category_cache[CATEGORY_SLOTS], component_cache[CACHE_SLOTS];
    uint64_t inexact;
    double time[MRD__DUCK_BATCH], value[MRD__DUCK_BATCH];
    uint8_t category[MRD__DUCK_BATCH];
    uint32_t component[MRD__DUCK_BATCH];
    mrd__str detail[MRD__DUCK_BATCH];
};

void mrd__take_init(mrd__take *take, const mrd__event_sink *sink, uint64_t announced)
{
    *take = (mrd__take){.sink = sink, .announced = announced, .error_row = UINT64_MAX};
    pthread_mutex_init(&take->lock, NULL);
}

void mrd__take_reset(mrd__take *take)
{
    while (take->idle) {
        mrd__take_worker *worker = take->idle;
        take->idle = worker->next;
        mrd__free(worker);
    }
    for (size_t i = 0; i < take->component_count; i++)
        mrd__free((char *)take->components[i].data);
    mrd__free(take->components);
    mrd__free(take->slots);
    pthread_mutex_destroy(&take->lock);
}

/* ---- Wrong rows ---- */

/* Keeps the error of the first row in the file. Always false. */
static bool fail_row(mrd__take *take, uint64_t row, const mrd_error *error)
{
    pthread_mutex_lock(&take->lock);
    if (row < take->error_row) {
        take->error = *error;
        take->error_row = row;
    }
    pthread_mutex_unlock(&take->lock);
    return false;
}

static bool bad_row(const mrd__take_worker *w, size_t row, int column, const char *what,
                    mrd__str value)
{
    /* The value may be any bytes and any length: shown valid, and its beginning only. */
    mrd__buf shown = {0};
    mrd__utf8_repair(&shown, (mrd__str){value.data, value.size < 80 ? value.size : 80});
    mrd_error error = {0};
    mrd__fail(&error, MRD_ERR_FORMAT, "bad_trace", "row %llu (from 0): column %s %s%s%s",
              (unsigned long long)(w->first_row + row), mrd__event_column_name(column),
              shown.size ? shown.data : "", shown.size ? " " : "", what);
    mrd__buf_reset(&shown);
    return fail_row(w->take, w->first_row + row, &error);
}

static bool bad_number(const mrd__take_worker *w, size_t row, int column, double value,
                       const char *what)
{
    mrd__buf shown = {0};
    mrd__buf_double(&shown, value);
    bad_row(w, row, column, what, (mrd__str){shown.data, shown.size});
    mrd__buf_reset(&shown);
    return false;
}

static bool check_nulls(const mrd__take_worker *w, int column)
{
    const mrd__duck_column *c = &w->columns->columns[column];
    if (!c->validity) return true;
    for (size_t i = 0; i < w->columns->rows; i++) {
        if (mrd__duck_valid(c, i)) continue;
        return bad_row(w, i, column, "is null; only detail_json may be null", (mrd__str){0});
    }
    return true;
}

/* ---- Numbers ---- */

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

static bool read_numbers(mrd__take_worker *w)
{
    size_t rows = w->columns->rows;
    if (!check_nulls(w, MRD__COL_TIME) || !check_nulls(w, MRD__COL_VALUE)) return false;
    w->inexact = to_doubles(&w->columns->columns[MRD__COL_TIME], rows, w->time);
    to_doubles(&w->columns->columns[MRD__COL_VALUE], rows, w->value);
    for (size_t i = 0; i < rows; i++) {
        if (!isfinite(w->time[i]))
            return bad_number(w, i, MRD__COL_TIME, w->time[i],
                              "is no time; a finite one is needed");
        if (!(w->time[i] >= -MRD__EVENT_TIME_LIMIT && w->time[i] < MRD__EVENT_TIME_LIMIT))
            return bad_number(w, i, MRD__COL_TIME, w->time[i],
                              "is out of range; times lie from -2^63 up to below 2^63 ns (292 "
                              "years either way)");
        if (isnan(w->value[i]))
            return bad_number(w, i, MRD__COL_VALUE, w->value[i], "is no value; a number is needed");
    }
    return true;
}

/* ---- Names ---- */

static cache_slot *cache_find(cache_slot *slots, size_t count, mrd__str text)
{
#ifdef MRD_PLANTED_BUGS /* what the fuzzer of event traces must find */
    if (text.size > 4) text.size = 4;
#endif
    return &slots[mrd__hash(text.data, text.size) >> 16 & (count - 1)];
}

static bool cache_holds(const cache_slot *slot, mrd__str text)
{
#ifdef MRD_PLANTED_BUGS
    return slot->text.data && slot->text.size == text.size &&
           memcmp(slot->text.data, text.data, text.size < 4 ? text.size : 4) == 0;
#endif
    return slot->text.data && mrd__str_equal(slot->text, text);
}

static void slots_grow(mrd__take *take)
{
    size_t count = take->slot_count ? take->slot_count * 2 : 1024;
    uint32_t *slots = mrd__new_array(uint32_t, count);
    for (size_t i = 0; i < take->component_count; i++) {
        mrd__str text = take->components[i];
        size_t at = mrd__hash(text.data, text.size) & (count - 1);
        while (slots[at])
            at = (at + 1) & (count - 1);
        slots[at] = (uint32_t)i + 1;
    }
    mrd__free(take->slots);
    take->slots = slots;
    take->slot_count = count;
}

/* Index of a component, a new one appended; UINT32_MAX when there are too many. Lock held. */
static uint32_t intern(mrd__take *take, mrd__str text)
{
    if (take->component_count * 2 >= take->slot_count) slots_grow(take);
    size_t mask = take->slot_count - 1;
    size_t at = mrd__hash(text.data, text.size) & mask;
    for (; take->slots[at]; at = (at + 1) & mask) {
        uint32_t index = take->slots[at] - 1;
        if (mrd__str_equal(take->components[index], text)) return index;
    }
    if (take->component_count == MAX_COMPONENTS) return UINT32_MAX;
    if (take->component_count == take->component_capacity) {
        take->component_capacity = take->component_capacity ? take->component_capacity * 2 : 256;
        take->components =
            mrd__realloc(take->components, take->component_capacity * sizeof *take->components);
    }
    take->components[take->component_count] =
        (mrd__str){mrd__strndup(text.data, text.size), text.size};
    take->slots[at] = (uint32_t)++take->component_count;
    return (uint32_t)take->component_count - 1;
}

static bool new_component(const mrd__take_worker *w, size_t row, mrd__str text, cache_slot *slot)
{
    if (text.size > MAX_COMPONENT_BYTES)
        return bad_row(w, row, MRD__COL_COMPONENT, "... is longer than 65536 bytes", text);
    if (!mrd__utf8_valid(text))
        return bad_row(w, row, MRD__COL_COMPONENT, "is not valid UTF-8", text);
    pthread_mutex_lock(&w->take->lock);
    slot->value = intern(w->take, text);
    slot->text = slot->value != UINT32_MAX ? w->take->components[slot->value] : (mrd__str){0};
    pthread_mutex_unlock(&w->take->lock);
    if (slot->value != UINT32_MAX) return true;
    mrd_error error = {0};
    mrd__fail(&error, MRD_ERR_LIMIT, "too_many_components",
              "more than %u components; an event trace holds at most so many",
              (unsigned)MAX_COMPONENTS);
    return fail_row(w->take, w->first_row + row, &error);
}

static bool read_components(mrd__take_worker *w)
{
    if (!check_nulls(w, MRD__COL_COMPONENT)) return false;
    const mrd__duck_column *column = &w->columns->columns[MRD__COL_COMPONENT];
    for (size_t i = 0; i < w->columns->rows; i++) {
        mrd__str text = mrd__duck_text(column, i);
        cache_slot *slot = cache_find(w->component_cache, CACHE_SLOTS, text);
        if (!cache_holds(slot, text) && !new_component(w, i, text, slot)) return false;
        w->component[i] = slot->value;
    }
    return true;
}

static bool read_categories(mrd__take_worker *w)
{
    if (!check_nulls(w, MRD__COL_CATEGORY)) return false;
    const mrd__duck_column *column = &w->columns->columns[MRD__COL_CATEGORY];
    for (size_t i = 0; i < w->columns->rows; i++) {
        mrd__str text = mrd__duck_text(column, i);
        cache_slot *slot = cache_find(w->category_cache, CATEGORY_SLOTS, text);
        if (!cache_holds(slot, text)) {
            int category = mrd__category_parse(text);
            if (category < 0) {
                char what[160];
                snprintf(what, sizeof what, "is no category; allowed are %s", mrd__category_list());
                return bad_row(w, i, MRD__COL_CATEGORY, what, text);
            }
            slot->text = mrd__str_of(mrd__category_name(category));
            slot->value = (uint32_t)category;
        }
        w->category[i] = (uint8_t)slot->value;
    }
    return true;
}

/* *any: whether a row has a detail. */
static bool read_details(mrd__take_worker *w, bool *any)
{
    const mrd__duck_column *column = &w->columns->columns[MRD__COL_DETAIL];
    bool text = column->type == MRD__DUCK_TEXT || column->type == MRD__DUCK_BLOB;
    *any = false;
    for (size_t i = 0; i < w->columns->rows; i++) {
        w->detail[i] = (mrd__str){0};
        if (!mrd__duck_valid(column, i)) continue;
        if (!text) return bad_row(w, i, MRD__COL_DETAIL, "is not a string", (mrd__str){0});
        w->detail[i] = mrd__duck_text(column, i);
        if (column->type == MRD__DUCK_BLOB && !mrd__utf8_valid(w->detail[i]))
            return bad_row(w, i, MRD__COL_DETAIL, "is not valid UTF-8", w->detail[i]);
        *any = true;
    }
    return true;
}

/* ---- Chunks ---- */

static bool read_rows(mrd__take_worker *w, uint64_t row, size_t rows)
{
    mrd__take *take = w->take;
    bool any_detail = false;
    w->first_row = row;
    if (rows > take->announced || row > take->announced - rows) {
        mrd_error error = {0};
        mrd__fail(&error, MRD_ERR_FORMAT, "bad_trace",
                  "the file has more rows than the %llu its metadata announces",
                  (unsigned long long)take->announced);
        return fail_row(take, row, &error);
    }
    if (!read_numbers(w) || !read_categories(w) || !read_components(w) ||
        !read_details(w, &any_detail))
        return false;
    mrd__event_batch batch = {
        .first_row = row,
        .rows = rows,
        .worker = w->index,
        .time = w->time,
        .value = w->value,
        .category = w->category,
        .component = w->component,
        .detail = any_detail ? w->detail : NULL,
        .inexact = w->inexact,
    };
    take->sink->batch(take->sink->ctx, &batch);
    take->rows += rows;
    return true;
}

static mrd__take_worker *borrow_worker(mrd__take *take)
{
    pthread_mutex_lock(&take->lock);
    mrd__take_worker *worker = take->idle;
    if (worker) {
        take->idle = worker->next;
    } else {
        worker = mrd__new(mrd__take_worker);
        worker->take = take;
        worker->index = take->worker_count++;
        mrd__assert(worker->index < MRD__EVENT_WORKERS);
    }
    pthread_mutex_unlock(&take->lock);
    return worker;
}

static void return_worker(mrd__take_worker *worker)
{
    mrd__take *take = worker->take;
    pthread_mutex_lock(&take->lock);
    worker->next = take->idle;
    take->idle = worker;
    pthread_mutex_unlock(&take->lock);
}

void mrd__take_chunk(void *ctx, const mrd__duck_chunk *chunk)
{
    mrd__take *take = ctx;
    const int64_t *row = chunk->columns[MRD__COL_ROW].data;
    mrd__assert(chunk->rows > 0 && chunk->rows <= MRD__DUCK_BATCH);
    /* A chunk is cut from one row group, in its order. */
    mrd__assert(row[chunk->rows - 1] - row[0] == (int64_t)chunk->rows - 1 && row[0] >= 0);
    if ((uint64_t)row[0] > take->error_row) return;
    mrd__take_worker *worker = borrow_worker(take);
    worker->columns = chunk;
    read_rows(worker, (uint64_t)row[0], chunk->rows);
    return_worker(worker);
}
