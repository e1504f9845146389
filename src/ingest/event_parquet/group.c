/* From rows in file order to rows grouped by key.
 *
 *   file order --(stable sort by time, where the file is not sorted)--> rank
 *   rank       --(counting sort by key)-------------------------------> grouped columns
 *
 * Components are numbered anew by their first appearance in rank order, categories by theirs over
 * the whole file, and keys stand in the order (component, category): so a key's index is its place
 * in an answer. */
#include "ingest/event_parquet/group.h"

#include "base/assert.h"
#include "base/os.h"
#include "ingest/event_parquet/order.h"

#include <math.h>
#include <string.h>

#define PAIRS 4
#define MAX_SLICES 16
#define MAX_COUNTS ((size_t)8 << 20) /* entries of all slices' counts: beyond it, one slice */

static const struct {
    uint8_t form, category, closer;
} pairs[PAIRS] = {
    {MRD__FORM_INTERVAL, MRD__CAT_LINK_BUSY, MRD__CAT_LINK_IDLE},
    {MRD__FORM_INTERVAL, MRD__CAT_THREAD_BLOCKED, MRD__CAT_THREAD_UNBLOCKED},
    {MRD__FORM_COUNTER, MRD__CAT_OSTD_CHANGE, MRD__CAT_OSTD_CHANGE},
    {MRD__FORM_INSTANT, MRD__CAT_HOP_ARRIVE, MRD__CAT_HOP_ARRIVE},
};

typedef struct grouping {
    const mrd__collect *collect;
    mrd__events *events;
    const uint32_t *row_of_rank; /* NULL: the same */
    size_t codes;                /* components * PAIRS */
    size_t slices;               /* parts of the ranks, each counted and placed by one task */
    uint64_t *counts;            /* [slices * codes] in file numbering; then: where each starts */
    uint64_t *totals;            /* [codes] */
    uint32_t *key_of_code;
    uint32_t *new_component;   /* file numbering to ours */
    uint8_t pair_order[PAIRS]; /* pairs by first appearance */
} grouping;

static size_t row_at(const grouping *g, size_t rank)
{
    return g->row_of_rank ? g->row_of_rank[rank] : rank;
}

/* ---- Counts ---- */

static size_t slice_start(const grouping *g, size_t slice)
{
    return (size_t)((unsigned __int128)g->collect->rows * slice / g->slices);
}

static void count_slice(void *ctx, size_t slice, uint32_t worker)
{
    (void)worker;
    grouping *g = ctx;
    uint64_t *counts = g->counts + slice * g->codes;
    size_t end = slice_start(g, slice + 1);
    for (size_t rank = slice_start(g, slice); rank < end; rank++)
        counts[g->collect->code[row_at(g, rank)] >> 1]++;
}

static void count_codes(grouping *g, size_t components, uint32_t workers)
{
    g->codes = components * PAIRS;
    g->slices = workers < MAX_SLICES ? workers : MAX_SLICES;
    if (g->codes * g->slices > MAX_COUNTS) g->slices = 1;
    g->counts = mrd__new_array(uint64_t, g->codes * g->slices + 1);
    g->totals = mrd__new_array(uint64_t, g->codes + 1);
    mrd__parallel_for(workers, g->slices, count_slice, g);
    for (size_t i = 0; i < g->codes * g->slices; i++)
        g->totals[i % g->codes] += g->counts[i];
}

/* ---- Names and keys in order of first appearance ---- */

/* Walks in time order until every component and every pair that occurs was met. */
static void order_names(grouping *g, mrd__event_info *info)
{
    mrd__events *events = g->events;
    size_t count = info->component_count, pairs_met = 0, pairs_left = 0;
    bool occurs[PAIRS] = {false}, met[PAIRS] = {false};
    for (size_t i = 0; i < g->codes; i++)
        occurs[i % PAIRS] = occurs[i % PAIRS] || g->totals[i] != 0;
    for (size_t pair = 0; pair < PAIRS; pair++)
        pairs_left += occurs[pair];
    g->new_component = mrd__alloc((count + 1) * sizeof(uint32_t));
    memset(g->new_component, 0xff, count * sizeof(uint32_t));
    events->components = mrd__new_array(mrd__str, count + 1);
    for (size_t rank = 0; rank < g->collect->rows; rank++) {
        if (events->component_count == count && pairs_met == pairs_left) break;
        uint32_t code = g->collect->code[row_at(g, rank)], component = code / (2 * PAIRS);
        uint8_t pair = code / 2 % PAIRS;
        if (!met[pair]) {
            met[pair] = true;
            g->pair_order[pairs_met++] = pair;
        }
        if (g->new_component[component] != UINT32_MAX) continue;
        g->new_component[component] = (uint32_t)events->component_count;
        events->components[events->component_count++] = info->components[component];
        info->components[component] = (mrd__str){0};
    }
    mrd__assert(events->component_count == count && pairs_met == pairs_left);
    for (uint8_t pair = 0; pair < PAIRS; pair++) {
        if (!met[pair]) g->pair_order[pairs_met++] = pair;
    }
}

static void make_keys(grouping *g)
{
    mrd__events *events = g->events;
    size_t components = events->component_count, key_count = 0;
    uint32_t *old_component = mrd__alloc((components + 1) * sizeof(uint32_t));
    for (size_t i = 0; i < components; i++)
        old_component[g->new_component[i]] = (uint32_t)i;
    for (size_t i = 0; i < g->codes; i++)
        key_count += g->totals[i] != 0;
    events->keys = mrd__new_array(mrd__event_key, key_count);
    g->key_of_code = mrd__new_array(uint32_t, g->codes + 1);
    uint64_t first = 0;
    uint32_t rows = 0;
    for (size_t i = 0; i < g->codes; i++) {
        uint8_t pair = g->pair_order[i % PAIRS];
        size_t code = (size_t)old_component[i / PAIRS] * PAIRS + pair;
        if (!g->totals[code]) continue;
        g->key_of_code[code] = (uint32_t)events->key_count;
        events->keys[events->key_count++] = (mrd__event_key){
            .component = (uint32_t)(i / PAIRS),
            .form = pairs[pair].form,
            .category = pairs[pair].category,
            .closer = pairs[pair].closer,
            .first = first,
            .count = g->totals[code],
            .row = pairs[pair].form == MRD__FORM_INTERVAL ? rows++ : UINT32_MAX,
        };
        first += g->totals[code];
    }
    mrd__free(old_component);
}

/* ---- Columns ---- */

/* Each slice's counts become the places of its first rows. */
static void place_slices(grouping *g)
{
    for (size_t code = 0; code < g->codes; code++) {
        if (!g->totals[code]) continue;
        uint64_t at = g->events->keys[g->key_of_code[code]].first;
        for (size_t slice = 0; slice < g->slices; slice++) {
            uint64_t count = g->counts[slice * g->codes + code];
            g->counts[slice * g->codes + code] = at;
            at += count;
        }
    }
}

/* The places of first rows once more: each slice's are those where the one before it ended. */
static void place_again(grouping *g)
{
    for (size_t slice = g->slices; slice-- > 1;)
        memcpy(g->counts + slice * g->codes, g->counts + (slice - 1) * g->codes,
               g->codes * sizeof *g->counts);
    for (size_t code = 0; code < g->codes; code++)
        if (g->totals[code]) g->counts[code] = g->events->keys[g->key_of_code[code]].first;
}

static void scatter_times(void *ctx, size_t slice, uint32_t worker)
{
    (void)worker;
    grouping *g = ctx;
    mrd__events *events = g->events;
    const mrd__collect *c = g->collect;
    uint64_t *next = g->counts + slice * g->codes;
    size_t end = slice_start(g, slice + 1);
    for (size_t rank = slice_start(g, slice); rank < end; rank++) {
        size_t row = row_at(g, rank);
        uint32_t code = c->code[row];
        uint64_t at = next[code >> 1]++;
        events->time[at] = c->time[row];
        events->rank[at] = (uint32_t)rank | (code & 1 ? MRD__EVENT_CLOSER : 0);
    }
}

static void scatter_values(void *ctx, size_t slice, uint32_t worker)
{
    (void)worker;
    grouping *g = ctx;
    mrd__events *events = g->events;
    const mrd__collect *c = g->collect;
    uint64_t *next = g->counts + slice * g->codes;
    size_t end = slice_start(g, slice + 1);
    for (size_t rank = slice_start(g, slice); rank < end; rank++) {
        size_t row = row_at(g, rank);
        events->value[next[c->code[row] >> 1]++] = c->value[row];
    }
}

/* Column by column: the second one is made of the pages that the first one's source gave. */
static void scatter(grouping *g, mrd__collect *collect, uint32_t workers)
{
    mrd__events *events = g->events;
    events->time = mrd__pages_take(events->count * sizeof(double));
    events->rank = mrd__pages_take(events->count * sizeof(uint32_t));
    place_slices(g);
    mrd__parallel_for(workers, g->slices, scatter_times, g);
    mrd__collect_drop_times(collect);
    events->value = mrd__pages_take(events->count * sizeof(double));
    place_again(g);
    mrd__parallel_for(workers, g->slices, scatter_values, g);
}

mrd__events *mrd__collect_group(mrd__collect *collect, mrd__event_info *info, uint32_t workers,
                                double *last_ns)
{
    mrd__events *events = mrd__new(mrd__events);
    events->count = collect->rows;
    for (int i = 0; i < MRD__CAT_COUNT; i++)
        events->category_names[i] = mrd__category_name(i);
    uint32_t *order = mrd__order_by_time(collect->time, collect->rows, workers);
    grouping g = {.collect = collect, .events = events, .row_of_rank = order};
    count_codes(&g, info->component_count, workers);
    order_names(&g, info);
    make_keys(&g);
    *last_ns = -INFINITY;
    if (events->count) {
        events->start_ns = collect->time[row_at(&g, 0)];
        *last_ns = collect->time[row_at(&g, events->count - 1)];
    }
    scatter(&g, collect, workers);
    mrd__collect_drop_columns(collect);
    mrd__group_details(collect, events, order, workers);
    mrd__collect_reset(collect);
    mrd__free(order);
    mrd__free(g.counts);
    mrd__free(g.totals);
    mrd__free(g.key_of_code);
    mrd__free(g.new_component);
    return events;
}
