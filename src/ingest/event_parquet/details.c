/* Details of all workers into one text, by rank. */
#include "base/os.h"
#include "ingest/event_parquet/group.h"

#include <string.h>

typedef struct copying {
    const mrd__collect *collect;
    char *out;
    size_t *first_piece; /* per bag, of all pieces in one row; [MRD__EVENT_WORKERS + 1] */
} copying;

static void copy_piece(void *ctx, size_t index, uint32_t worker)
{
    (void)worker;
    copying *c = ctx;
    size_t bag = 0;
    while (index >= c->first_piece[bag + 1])
        bag++;
    const mrd__detail_bag *from = &c->collect->bags[bag];
    const mrd__detail_piece *piece = &from->pieces.data[index - c->first_piece[bag]];
    memcpy(c->out + c->collect->detail_first[piece->first_row], piece->data, piece->bytes);
}

/* Texts by row; detail_first holds their starts. */
static char *join_bags(const mrd__collect *collect, size_t total, uint32_t workers)
{
    size_t first_piece[MRD__EVENT_WORKERS + 1] = {0};
    for (size_t bag = 0; bag < MRD__EVENT_WORKERS; bag++)
        first_piece[bag + 1] = first_piece[bag] + collect->bags[bag].pieces.count;
    copying c = {collect, mrd__pages_take(total), first_piece};
    mrd__parallel_for(workers, first_piece[MRD__EVENT_WORKERS], copy_piece, &c);
    return c.out;
}

/* The same texts by rank. */
static void reorder(mrd__events *events, const uint32_t *row_of_rank)
{
    size_t count = events->count, total = events->detail_capacity;
    const uint64_t *starts = events->detail_first;
    uint64_t *first = mrd__pages_take((count + 1) * sizeof *first);
    char *out = mrd__pages_take(total);
    uint64_t at = 0;
    for (size_t rank = 0; rank < count; rank++) {
        uint64_t from = starts[row_of_rank[rank]], bytes = starts[row_of_rank[rank] + 1] - from;
        first[rank] = at;
        memcpy(out + at, events->detail_bytes + from, bytes);
        at += bytes;
    }
    first[count] = at;
    mrd__pages_give(events->detail_first, (count + 1) * sizeof *first);
    mrd__pages_give(events->detail_bytes, total);
    events->detail_first = first;
    events->detail_bytes = out;
}

void mrd__group_details(mrd__collect *collect, mrd__events *events, const uint32_t *row_of_rank,
                        uint32_t workers)
{
    size_t total = 0;
    for (size_t bag = 0; bag < MRD__EVENT_WORKERS; bag++)
        total += collect->bags[bag].bytes;
    if (total == 0) return;
    for (size_t row = 0; row < events->count; row++)
        collect->detail_first[row + 1] += collect->detail_first[row];
    events->detail_bytes = join_bags(collect, total, workers);
    events->detail_capacity = total;
    events->detail_first = collect->detail_first;
    collect->detail_first = NULL;
    if (row_of_rank) reorder(events, row_of_rank);
}
