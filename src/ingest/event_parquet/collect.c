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

static void add_columns(mrd__collect *c, const mrd__event_batch *batch)
{
    size_t old = c->time.count, rows = batch->rows;
    mrd__vec_reserve(&c->time, old + rows);
    mrd__vec_reserve(&c->value, old + rows);
    mrd__vec_reserve(&c->code, old + rows);
    memcpy(c->time.data + old, batch->time, rows * sizeof(double));
    memcpy(c->value.data + old, batch->value, rows * sizeof(double));
    double last = old ? c->time.data[old - 1] : -INFINITY;
    for (size_t i = 0; i < rows; i++) {
        c->code.data[old + i] = batch->component[i] * 8 + pair_codes[batch->category[i]];
        if (batch->time[i] < last) c->unsorted = true;
        last = batch->time[i];
        if (last > c->last_ns) c->last_ns = last;
    }
    c->time.count = c->value.count = c->code.count = old + rows;
}

static void add_details(mrd__collect *c, const mrd__event_batch *batch, size_t old)
{
    if (!batch->detail && c->detail_first.count == 0) return;
    /* Rows before the first detail start at 0 and are empty. */
    mrd__vec_reserve(&c->detail_first, old + batch->rows);
    while (c->detail_first.count < old)
        c->detail_first.data[c->detail_first.count++] = 0;
    for (size_t i = 0; i < batch->rows; i++) {
        c->detail_first.data[c->detail_first.count++] = c->detail_bytes.count;
        if (!batch->detail || !batch->detail[i].data) continue;
        size_t size = batch->detail[i].size;
        mrd__vec_reserve(&c->detail_bytes, c->detail_bytes.count + size + 1);
        memcpy(c->detail_bytes.data + c->detail_bytes.count, batch->detail[i].data, size);
        c->detail_bytes.count += size + 1;
        c->detail_bytes.data[c->detail_bytes.count - 1] = '\0';
    }
}

mrd_status mrd__collect_add(mrd__collect *collect, const mrd__event_batch *batch, mrd_error *error)
{
    size_t old = collect->time.count;
    if (old + batch->rows > MRD__MAX_EVENTS) {
        return mrd__fail(error, MRD_ERR_LIMIT, "too_many_events",
                         "more than %llu events; an event trace holds at most so many",
                         (unsigned long long)MRD__MAX_EVENTS);
    }
    if (old == 0) collect->last_ns = -INFINITY;
    add_columns(collect, batch);
    add_details(collect, batch, old);
    collect->inexact += batch->inexact;
    return MRD_OK;
}

void mrd__collect_reset(mrd__collect *collect)
{
    mrd__vec_reset(&collect->time);
    mrd__vec_reset(&collect->value);
    mrd__vec_reset(&collect->code);
    mrd__vec_reset(&collect->detail_bytes);
    mrd__vec_reset(&collect->detail_first);
}
