/* One key at a time: edges are searched in batches, so that the cache lines of a batch are on their
 * way while its searches run; then each edge looks at its one block, and each bucket at its two
 * edges. */
#include "query/event_cells.h"

#include "base/assert.h"
#include "query/event_cover.h"

#include <math.h>

#define BATCH 64

/* Edges of one batch: position of events, and what cover needs. */
typedef struct edge_batch {
    uint32_t block[BATCH]; /* of the split */
    uint32_t below[BATCH]; /* events before the split */
    mrd__edge edge[BATCH];
} edge_batch;

static void prefetch_block(const mrd__event_view *view, uint32_t block)
{
    if (block == MRD__NO_BLOCK) return;
    const char *time = (const char *)(view->time + (uint64_t)block * MRD__EVENT_BLOCK);
    for (size_t at = 0; at <= MRD__EVENT_BLOCK * sizeof(double); at += 64)
        __builtin_prefetch(time + at);
    if (!view->blocks) return;
    __builtin_prefetch(&view->blocks[block]);
    __builtin_prefetch(&view->blocks[block + 1 < view->block_count ? block + 1 : block]);
}

/* Where a key's walk over its edges is: the last cell, and how many cells an edge advances. */
typedef struct cell_walk {
    uint32_t cell;
    uint32_t step;
} cell_walk;

/* Blocks of count ascending splits. Events of one key come about evenly, so the next cell is
 * guessed by the last step, and its time is on its way before it is asked; no look at the times of
 * blocks waits for another one. */
static void find_blocks(const mrd__event_view *view, const double *split, uint32_t count,
                        cell_walk *walk, uint32_t *block)
{
    uint32_t cell[BATCH];
    for (uint32_t i = 0; i < count; i++) {
        uint64_t from = walk->cell == MRD__NO_BLOCK ? 0 : walk->cell;
        uint64_t ahead = from + (uint64_t)walk->step * 8;
        if (ahead < view->cell_count) __builtin_prefetch(view->cell_time + ahead);
        uint32_t found = mrd__event_cell_near(view, split[i], walk->cell, from + walk->step);
        walk->step = found == MRD__NO_BLOCK ? 0 : found - (uint32_t)from;
        walk->cell = cell[i] = found;
        if (found != MRD__NO_BLOCK)
            __builtin_prefetch(view->block_time + (size_t)found * MRD__EVENT_CELL);
    }
    for (uint32_t i = 0; i < count; i++) {
        block[i] = mrd__event_block_in(view, cell[i], split[i]);
        prefetch_block(view, block[i]);
    }
}

static uint32_t count_below(const mrd__event_view *view, uint32_t block, double split)
{
    if (block == MRD__NO_BLOCK) return 0;
    uint32_t at = block * MRD__EVENT_BLOCK;
    if (block + 1 < view->block_count) return at + mrd__event_count_below(view->time + at, split);
    while (at < view->count && view->time[at] < split)
        at++;
    return at;
}

/* An edge and its split differ by rounding: so may their blocks. */
static uint32_t block_near(const mrd__event_view *view, uint32_t block, double t)
{
    while (block != MRD__NO_BLOCK && !(view->block_time[block] < t))
        block--; /* block 0 becomes MRD__NO_BLOCK */
    while ((uint32_t)(block + 1) < view->block_count && view->block_time[(uint32_t)(block + 1)] < t)
        block++;
    return block;
}

static double ratio_of(const mrd__event_slab *slab, const mrd__event_view *view, uint32_t bucket,
                       const mrd__edge *from, const mrd__edge *to)
{
    double left = slab->buckets->edge[bucket], right = slab->buckets->edge[bucket + 1];
    if (!(left < right)) return mrd__cover_at(view, left) ? 1 : 0;
    mrd__cover cover = from->block == to->block ? mrd__cover_inside(view, from->block, left, right)
                                                : mrd__cover_between(view, from, to);
    if (!cover.gap) return 1;
    double ratio = cover.covered / slab->buckets->width;
    return ratio < 1 ? ratio : 1;
}

/* Counter values of bucket: what stands at its end, and the extremes from what stood before it. */
static void fill_counter(const mrd__event_slab *slab, uint64_t first, size_t cell, uint32_t begin,
                         uint32_t end)
{
    const mrd__events *events = slab->window->events;
    const double *value = events->value + first;
    slab->state[cell] = end ? value[end - 1] : NAN;
    if (!slab->min) return;
    double min = INFINITY, max = -INFINITY;
    mrd__pyramid_range(&events->pyramid, events->value, first + (begin ? begin - 1 : 0),
                       first + end, &min, &max);
    slab->min[cell] = min;
    slab->max[cell] = max;
}

typedef struct key_walk {
    const mrd__event_slab *slab;
    const mrd__event_key *key;
    mrd__event_view view;
    size_t cells; /* index of the key's first cell */
} key_walk;

static void fill_bucket(const key_walk *walk, uint32_t bucket, uint32_t begin, uint32_t end,
                        const mrd__edge *from, const mrd__edge *to)
{
    const mrd__event_slab *slab = walk->slab;
    size_t cell = walk->cells + (bucket - slab->first);
    slab->events[cell] = end - begin;
    if (walk->key->form == MRD__FORM_INTERVAL)
        slab->state[cell] = ratio_of(slab, &walk->view, bucket, from, to);
    else if (walk->key->form == MRD__FORM_COUNTER)
        fill_counter(slab, walk->key->first, cell, begin, end);
}

/* One batch of edges: count splits from bucket `at` on. */
static void look_at_edges(const key_walk *walk, uint32_t at, uint32_t count, edge_batch *batch)
{
    const mrd__buckets *buckets = walk->slab->buckets;
    const mrd__event_view *view = &walk->view;
    bool counter = walk->key->form == MRD__FORM_COUNTER;
    for (uint32_t i = 0; i < count; i++) {
        batch->below[i] = count_below(view, batch->block[i], buckets->split[at + i]);
        if (counter && batch->below[i]) {
            __builtin_prefetch(walk->slab->window->events->value + walk->key->first +
                               batch->below[i] - 1);
        }
    }
    if (walk->key->form != MRD__FORM_INTERVAL) return;
    uint32_t block[BATCH];
    for (uint32_t i = 0; i < count; i++)
        block[i] = block_near(view, batch->block[i], buckets->edge[at + i]);
    for (uint32_t i = 0; i < count; i++) {
        /* Between edges of its own block an edge is not asked. */
        bool inner = i > 0 && i + 1 < count && block[i - 1] == block[i] && block[i + 1] == block[i];
        if (inner)
            batch->edge[i] = (mrd__edge){.block = block[i]};
        else
            batch->edge[i] = mrd__edge_of(view, block[i], buckets->edge[at + i]);
    }
}

void mrd__event_slab_fill(const mrd__event_slab *slab, size_t choice)
{
    const mrd__events *events = slab->window->events;
    size_t key = slab->window->choices.data[choice].key;
    key_walk walk = {
        .slab = slab,
        .key = &events->keys[key],
        .view = mrd__event_view_of(events, key),
        .cells = choice * slab->stride,
    };
    mrd__assert(walk.view.count > 0);
    edge_batch batch;
    cell_walk cells = {MRD__NO_BLOCK, 0};
    uint32_t below = 0;
    mrd__edge edge = {0};
    uint32_t edges = slab->count + 1;
    for (uint32_t done = 0; done < edges; done += BATCH) {
        uint32_t count = edges - done < BATCH ? edges - done : BATCH;
        uint32_t at = slab->first + done;
        find_blocks(&walk.view, slab->buckets->split + at, count, &cells, batch.block);
        look_at_edges(&walk, at, count, &batch);
        for (uint32_t i = 0; i < count; i++) {
            if (done + i > 0)
                fill_bucket(&walk, at + i - 1, below, batch.below[i], &edge, &batch.edge[i]);
            below = batch.below[i];
            edge = batch.edge[i];
        }
    }
}
