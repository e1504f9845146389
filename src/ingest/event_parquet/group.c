/* From rows in file order to rows grouped by key.
 *
 *   file order --(stable sort by time, where the file is not sorted)--> rank
 *   rank       --(counting sort by key)-------------------------------> grouped columns
 *
 * Components are numbered anew by their first appearance in rank order, categories by theirs over
 * the whole file, and keys stand in the order (component, category): so a key's index is its place
 * in an answer. */
#include "base/assert.h"
#include "base/os.h"
#include "ingest/event_parquet/collect.h"

#include <stdlib.h>
#include <string.h>

#define PAIRS 4
#define RADIX_BITS 11
#define RADIX (1u << RADIX_BITS)

static const struct {
    uint8_t form, category, closer;
} pairs[PAIRS] = {
    {MRD__FORM_INTERVAL, MRD__CAT_LINK_BUSY, MRD__CAT_LINK_IDLE},
    {MRD__FORM_INTERVAL, MRD__CAT_THREAD_BLOCKED, MRD__CAT_THREAD_UNBLOCKED},
    {MRD__FORM_COUNTER, MRD__CAT_OSTD_CHANGE, MRD__CAT_OSTD_CHANGE},
    {MRD__FORM_INSTANT, MRD__CAT_HOP_ARRIVE, MRD__CAT_HOP_ARRIVE},
};

/* ---- Time order ---- */

/* A double as an integer that sorts the same; -0 and 0 are equal. */
static uint64_t sort_key(double time)
{
    time += 0.0;
    uint64_t bits;
    memcpy(&bits, &time, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

/* One stable pass over the digit at shift; false when all rows have the same one. */
static bool radix_pass(const double *time, const uint32_t *from, uint32_t *to, size_t count,
                       unsigned shift)
{
    size_t *starts = mrd__new_array(size_t, RADIX);
    for (size_t i = 0; i < count; i++)
        starts[sort_key(time[i]) >> shift & (RADIX - 1)]++;
    bool moves = starts[sort_key(time[0]) >> shift & (RADIX - 1)] != count;
    size_t at = 0;
    for (size_t digit = 0; digit < RADIX; digit++) {
        size_t rows = starts[digit];
        starts[digit] = at;
        at += rows;
    }
    for (size_t i = 0; moves && i < count; i++)
        to[starts[sort_key(time[from[i]]) >> shift & (RADIX - 1)]++] = from[i];
    mrd__free(starts);
    return moves;
}

/* Row of each rank, or NULL where the file is in time order. */
static uint32_t *order_by_time(const mrd__collect *c)
{
    if (!c->unsorted) return NULL;
    size_t count = c->rows;
    uint32_t *rows = mrd__alloc(count * sizeof *rows), *other = mrd__alloc(count * sizeof *other);
    for (size_t i = 0; i < count; i++)
        rows[i] = (uint32_t)i;
    for (unsigned shift = 0; shift < 64; shift += RADIX_BITS) {
        if (!radix_pass(c->time.data, rows, other, count, shift)) continue;
        uint32_t *swap = rows;
        rows = other;
        other = swap;
    }
    mrd__free(other);
    return rows;
}

/* ---- Names and keys in order of first appearance ---- */

typedef struct grouping {
    const mrd__collect *collect;
    mrd__events *events;
    const uint32_t *row_of_rank; /* NULL: the same */
    uint64_t *counts;            /* [components * PAIRS] in file numbering */
    uint32_t *key_of_code;       /* the same index: key */
    uint32_t *new_component;     /* file numbering to ours */
    uint8_t pair_order[PAIRS];   /* pairs by first appearance */
} grouping;

static uint32_t code_at(const grouping *g, size_t rank)
{
    return ((const uint32_t *)g->collect->code.data)[g->row_of_rank ? g->row_of_rank[rank] : rank];
}

static void count_codes(grouping *g, size_t components)
{
    g->counts = mrd__new_array(uint64_t, components * PAIRS + 1);
    const uint32_t *code = g->collect->code.data;
    for (size_t i = 0; i < g->collect->rows; i++)
        g->counts[code[i] >> 1]++;
}

/* Walks in time order until every component and every pair that occurs was met. */
static void order_names(grouping *g, mrd__event_info *info)
{
    mrd__events *events = g->events;
    size_t count = info->component_count, pairs_met = 0, pairs_left = 0;
    bool occurs[PAIRS] = {false}, met[PAIRS] = {false};
    for (size_t i = 0; i < count * PAIRS; i++)
        occurs[i % PAIRS] = occurs[i % PAIRS] || g->counts[i] != 0;
    for (size_t pair = 0; pair < PAIRS; pair++)
        pairs_left += occurs[pair];
    g->new_component = mrd__alloc((count + 1) * sizeof(uint32_t));
    memset(g->new_component, 0xff, count * sizeof(uint32_t));
    events->components = mrd__new_array(mrd__str, count + 1);
    for (size_t rank = 0; rank < g->collect->rows; rank++) {
        if (events->component_count == count && pairs_met == pairs_left) break;
        uint32_t code = code_at(g, rank), component = code / (2 * PAIRS);
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
    for (size_t i = 0; i < components * PAIRS; i++)
        key_count += g->counts[i] != 0;
    events->keys = mrd__new_array(mrd__event_key, key_count);
    g->key_of_code = mrd__new_array(uint32_t, components * PAIRS + 1);
    uint64_t first = 0;
    uint32_t rows = 0;
    for (size_t i = 0; i < components * PAIRS; i++) {
        uint8_t pair = g->pair_order[i % PAIRS];
        size_t code = (size_t)old_component[i / PAIRS] * PAIRS + pair;
        if (!g->counts[code]) continue;
        g->key_of_code[code] = (uint32_t)events->key_count;
        events->keys[events->key_count++] = (mrd__event_key){
            .component = (uint32_t)(i / PAIRS),
            .form = pairs[pair].form,
            .category = pairs[pair].category,
            .closer = pairs[pair].closer,
            .first = first,
            .count = g->counts[code],
            .row = pairs[pair].form == MRD__FORM_INTERVAL ? rows++ : UINT32_MAX,
        };
        first += g->counts[code];
    }
    mrd__free(old_component);
}

/* ---- Columns ---- */

static void scatter(const grouping *g)
{
    mrd__events *events = g->events;
    const mrd__collect *c = g->collect;
    uint64_t *next = mrd__new_array(uint64_t, events->key_count);
    for (size_t k = 0; k < events->key_count; k++)
        next[k] = events->keys[k].first;
    const double *time = c->time.data, *value = c->value.data;
    const uint32_t *codes = c->code.data;
    for (size_t rank = 0; rank < events->count; rank++) {
        size_t row = g->row_of_rank ? g->row_of_rank[rank] : rank;
        uint32_t code = codes[row];
        uint64_t at = next[g->key_of_code[code >> 1]]++;
        events->time[at] = time[row];
        events->value[at] = value[row];
        events->rank[at] = (uint32_t)rank | (code & 1 ? MRD__EVENT_CLOSER : 0);
    }
    mrd__free(next);
}

/* Details in rank order: the file's own bytes where it is sorted. */
static void move_details(mrd__collect *c, mrd__events *events, const uint32_t *row_of_rank)
{
    size_t count = events->count;
    if (c->detail_first.bytes == 0 || c->detail_bytes.bytes == 0) return;
    mrd__assert(c->detail_first.bytes == count * sizeof(uint64_t));
    const uint64_t *starts = c->detail_first.data;
    uint64_t total = c->detail_bytes.bytes;
    events->detail_first = mrd__pages_alloc((count + 1) * sizeof(uint64_t));
    events->detail_first[count] = total;
    if (!row_of_rank) {
        memcpy(events->detail_first, starts, count * sizeof(uint64_t));
        events->detail_bytes = c->detail_bytes.data;
        events->detail_capacity = c->detail_bytes.capacity;
        c->detail_bytes = (mrd__column){0};
        return;
    }
    events->detail_bytes = mrd__pages_alloc(total);
    events->detail_capacity = total;
    uint64_t at = 0;
    for (size_t rank = 0; rank < count; rank++) {
        size_t row = row_of_rank[rank];
        uint64_t end = row + 1 < count ? starts[row + 1] : total;
        events->detail_first[rank] = at;
        memcpy(events->detail_bytes + at, (const char *)c->detail_bytes.data + starts[row],
               end - starts[row]);
        at += end - starts[row];
    }
}

mrd__events *mrd__collect_group(mrd__collect *collect, mrd__event_info *info, uint32_t workers)
{
    (void)workers;
    mrd__events *events = mrd__new(mrd__events);
    events->count = collect->rows;
    for (int i = 0; i < MRD__CAT_COUNT; i++)
        events->category_names[i] = mrd__category_name(i);
    uint32_t *order = order_by_time(collect);
    grouping g = {.collect = collect, .events = events, .row_of_rank = order};
    count_codes(&g, info->component_count);
    order_names(&g, info);
    make_keys(&g);
    events->time = mrd__pages_alloc(events->count * sizeof(double));
    events->value = mrd__pages_alloc(events->count * sizeof(double));
    events->rank = mrd__pages_alloc(events->count * sizeof(uint32_t));
    scatter(&g);
    if (events->count)
        events->start_ns = ((const double *)collect->time.data)[order ? order[0] : 0];
    move_details(collect, events, order);
    mrd__collect_reset(collect);
    mrd__free(order);
    mrd__free(g.counts);
    mrd__free(g.key_of_code);
    mrd__free(g.new_component);
    return events;
}
