#include "ingest/event_parquet/collect.h"

#include <math.h>
#include <string.h>

_Static_assert((int)MRD__EV_LINK_BUSY == (int)MRD__CAT_LINK_BUSY &&
                   (int)MRD__EV_LINK_IDLE == (int)MRD__CAT_LINK_IDLE &&
                   (int)MRD__EV_THREAD_BLOCKED == (int)MRD__CAT_THREAD_BLOCKED &&
                   (int)MRD__EV_THREAD_UNBLOCKED == (int)MRD__CAT_THREAD_UNBLOCKED &&
                   (int)MRD__EV_OSTD_CHANGE == (int)MRD__CAT_OSTD_CHANGE &&
                   (int)MRD__EV_HOP_ARRIVE == (int)MRD__CAT_HOP_ARRIVE &&
                   (int)MRD__EV_COUNT == (int)MRD__CAT_COUNT,
               "one numbering of categories");

/* pair * 2 + closer of each category */
static const uint8_t pair_codes[MRD__CAT_COUNT] = {0, 1, 2, 3, 4, 6};

/* ---- Columns ---- */

static void column_reserve(mrd__column *column, size_t bytes)
{
    if (bytes <= column->capacity) return;
    size_t capacity = column->capacity * 2 > bytes ? column->capacity * 2 : bytes;
    if (capacity < 65536) capacity = 65536;
    void *data = mrd__pages_alloc(capacity);
    if (column->bytes) memcpy(data, column->data, column->bytes);
    mrd__pages_free(column->data, column->capacity);
    column->data = data;
    column->capacity = capacity;
}

/* Room for bytes more; where they go. */
static void *column_grow(mrd__column *column, size_t bytes)
{
    column_reserve(column, column->bytes + bytes);
    void *at = (char *)column->data + column->bytes;
    column->bytes += bytes;
    return at;
}

static void column_reset(mrd__column *column)
{
    mrd__pages_free(column->data, column->capacity);
    *column = (mrd__column){0};
}

/* A hint may be any number: as much is reserved ahead as an honest file of common size has. */
#define EXPECT_ROWS ((uint64_t)200 << 20)
#define EXPECT_DETAIL_BYTES ((uint64_t)8 << 30)

void mrd__collect_expect(mrd__collect *collect, const mrd__event_hint *hint)
{
    if (hint->rows == 0 || hint->rows > EXPECT_ROWS) return;
    column_reserve(&collect->time, hint->rows * sizeof(double));
    column_reserve(&collect->value, hint->rows * sizeof(double));
    column_reserve(&collect->code, hint->rows * sizeof(uint32_t));
    if (hint->detail_bytes <= EXPECT_DETAIL_BYTES)
        column_reserve(&collect->detail_bytes, hint->detail_bytes);
}

/* ---- Rows ---- */

static void add_columns(mrd__collect *c, const mrd__event_batch *batch)
{
    size_t rows = batch->rows;
    double last = c->rows ? ((double *)c->time.data)[c->rows - 1] : -INFINITY;
    memcpy(column_grow(&c->time, rows * sizeof(double)), batch->time, rows * sizeof(double));
    memcpy(column_grow(&c->value, rows * sizeof(double)), batch->value, rows * sizeof(double));
    uint32_t *code = column_grow(&c->code, rows * sizeof(uint32_t));
    bool unsorted = false;
    for (size_t i = 0; i < rows; i++) {
        code[i] = batch->component[i] * 8 + pair_codes[batch->category[i]];
        unsorted |= batch->time[i] < last;
        last = batch->time[i];
        if (last > c->last_ns) c->last_ns = last;
    }
    c->unsorted |= unsorted;
}

static void add_details(mrd__collect *c, const mrd__event_batch *batch)
{
    if (!batch->detail && c->detail_first.bytes == 0) return;
    /* Rows before the first detail start at 0 and are empty: fresh pages are zero. */
    if (c->detail_first.bytes == 0) {
        column_reserve(&c->detail_first, c->time.capacity);
        column_grow(&c->detail_first, c->rows * sizeof(uint64_t));
    }
    uint64_t *first = column_grow(&c->detail_first, batch->rows * sizeof(uint64_t));
    for (size_t i = 0; i < batch->rows; i++) {
        first[i] = c->detail_bytes.bytes;
        if (!batch->detail || !batch->detail[i].data) continue;
        size_t size = batch->detail[i].size;
        char *text = column_grow(&c->detail_bytes, size + 1);
        memcpy(text, batch->detail[i].data, size);
        text[size] = '\0';
    }
}

mrd_status mrd__collect_add(mrd__collect *collect, const mrd__event_batch *batch, mrd_error *error)
{
    if (collect->rows + batch->rows > MRD__MAX_EVENTS) {
        return mrd__fail(error, MRD_ERR_LIMIT, "too_many_events",
                         "more than %llu events; an event trace holds at most so many",
                         (unsigned long long)MRD__MAX_EVENTS);
    }
    if (collect->rows == 0) collect->last_ns = -INFINITY;
    add_columns(collect, batch);
    add_details(collect, batch);
    collect->rows += batch->rows;
    collect->inexact += batch->inexact;
    return MRD_OK;
}

void mrd__collect_reset(mrd__collect *collect)
{
    column_reset(&collect->time);
    column_reset(&collect->value);
    column_reset(&collect->code);
    column_reset(&collect->detail_bytes);
    column_reset(&collect->detail_first);
}
