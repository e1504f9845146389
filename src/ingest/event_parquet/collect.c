#include "ingest/event_parquet/collect.h"

#include "base/assert.h"

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

mrd_status mrd__collect_begin(mrd__collect *collect, uint64_t rows, mrd_error *error)
{
    if (rows > MRD__MAX_EVENTS) {
        return mrd__fail(error, MRD_ERR_LIMIT, "too_many_events",
                         "%llu events; an event trace holds at most %llu", (unsigned long long)rows,
                         (unsigned long long)MRD__MAX_EVENTS);
    }
    collect->rows = rows;
    collect->time = mrd__pages_take(rows * sizeof(double));
    collect->value = mrd__pages_take(rows * sizeof(double));
    collect->code = mrd__pages_take(rows * sizeof(uint32_t));
    collect->detail_first = mrd__pages_take((rows + 1) * sizeof(uint64_t));
    collect->detail_first[0] = 0;
    return MRD_OK;
}

#define BLOCK_BYTES ((size_t)4 << 20) /* two huge pages */

/* So many bytes of the bag, in one piece. */
static char *bag_cut(mrd__detail_bag *bag, size_t bytes)
{
    if (bag->room < bytes) {
        bag->room = bytes < BLOCK_BYTES ? BLOCK_BYTES : bytes;
        bag->next = mrd__pages_take(bag->room);
        mrd__vec_push(&bag->blocks, ((mrd__detail_block){bag->next, bag->room}));
    }
    char *at = bag->next;
    bag->next += bytes;
    bag->room -= bytes;
    bag->bytes += bytes;
    return at;
}

static void add_details(mrd__collect *c, const mrd__event_batch *batch)
{
    mrd__detail_bag *bag = &c->bags[batch->worker];
    size_t total = 0;
    for (size_t i = 0; i < batch->rows; i++)
        total += batch->detail[i].data ? batch->detail[i].size + 1 : 0;
    char *at = bag_cut(bag, total);
    mrd__vec_push(&bag->pieces, ((mrd__detail_piece){batch->first_row, at, total}));
    for (size_t i = 0; i < batch->rows; i++) {
        const mrd__str *detail = &batch->detail[i];
        c->detail_first[batch->first_row + i + 1] = detail->data ? detail->size + 1 : 0;
        if (!detail->data) continue;
        memcpy(at, detail->data, detail->size);
        at[detail->size] = '\0';
        at += detail->size + 1;
    }
}

void mrd__collect_add(mrd__collect *collect, const mrd__event_batch *batch)
{
    mrd__assert(batch->rows <= collect->rows && batch->first_row <= collect->rows - batch->rows);
    size_t row = batch->first_row;
    memcpy(collect->time + row, batch->time, batch->rows * sizeof(double));
    memcpy(collect->value + row, batch->value, batch->rows * sizeof(double));
    for (size_t i = 0; i < batch->rows; i++)
        collect->code[row + i] = batch->component[i] * 8 + pair_codes[batch->category[i]];
    if (batch->detail)
        add_details(collect, batch);
    else
        memset(collect->detail_first + row + 1, 0, batch->rows * sizeof(uint64_t));
    if (batch->inexact) collect->inexact += batch->inexact;
}

void mrd__collect_drop_times(mrd__collect *collect)
{
    mrd__pages_give(collect->time, collect->rows * sizeof(double));
    collect->time = NULL;
}

void mrd__collect_drop_columns(mrd__collect *collect)
{
    mrd__collect_drop_times(collect);
    mrd__pages_give(collect->value, collect->rows * sizeof(double));
    mrd__pages_give(collect->code, collect->rows * sizeof(uint32_t));
    collect->value = NULL;
    collect->code = NULL;
}

void mrd__collect_reset(mrd__collect *collect)
{
    mrd__collect_drop_columns(collect);
    mrd__pages_give(collect->detail_first, (collect->rows + 1) * sizeof(uint64_t));
    for (size_t i = 0; i < MRD__EVENT_WORKERS; i++) {
        mrd__detail_bag *bag = &collect->bags[i];
        for (size_t block = 0; block < bag->blocks.count; block++)
            mrd__pages_give(bag->blocks.data[block].data, bag->blocks.data[block].size);
        mrd__vec_reset(&bag->blocks);
        mrd__vec_reset(&bag->pieces);
    }
    memset(collect, 0, sizeof *collect);
}
