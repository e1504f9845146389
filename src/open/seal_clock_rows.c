/* What the store keeps of clocks: those that anything was counted by or read from, their paths to
 * trace time, and every reading, assumed ones too. */
#include "open/clocks.h"

#include <stdlib.h>
#include <string.h>

static const uint8_t origins[] = {[MRD__CLOCK_OBSERVED] = MRD__CLOCK_FROM_FILE,
                                  [MRD__CLOCK_DECLARED] = MRD__CLOCK_FROM_MANIFEST,
                                  [MRD__CLOCK_ASSUMED] = MRD__CLOCK_FROM_NOTHING};

typedef struct named_node {
    mrd__clock_id id;
    uint32_t node;
} named_node;

static int compare_nodes(const void *left, const void *right)
{
    const named_node *a = left;
    const named_node *b = right;
    if (a->id.file != b->id.file) return a->id.file < b->id.file ? -1 : 1;
    if (a->id.machine != b->id.machine) return a->id.machine < b->id.machine ? -1 : 1;
    if (a->id.sequence != b->id.sequence) return a->id.sequence < b->id.sequence ? -1 : 1;
    return a->id.id < b->id.id ? -1 : a->id.id > b->id.id;
}

/* row[n]: of node n in the store, by file, machine, sequence and id; MRD__NONE where nothing speaks
 * of it. */
static uint32_t *choose_rows(const mrd__clocks *c, size_t *count)
{
    size_t nodes = mrd__clock_node_count(c->graph);
    uint32_t *row = mrd__alloc(nodes * sizeof *row);
    memset(row, 0xff, nodes * sizeof *row);
    for (size_t i = 0; i < c->uses.count; i++)
        if (c->uses.data[i].node != UINT32_MAX) row[c->uses.data[i].node] = 0;
    for (size_t i = 0; i < c->seen.count; i++)
        row[c->seen.data[i].node] = 0;
    row[c->target] = 0;
    *count = 0;
    named_node *kept = mrd__new_array(named_node, nodes);
    for (uint32_t n = 0; n < nodes; n++)
        if (row[n] == 0) kept[(*count)++] = (named_node){mrd__clock_id_of(c->graph, n), n};
    if (*count > 1) qsort(kept, *count, sizeof *kept, compare_nodes);
    for (size_t i = 0; i < *count; i++)
        row[kept[i].node] = (uint32_t)i;
    mrd__free(kept);
    return row;
}

static void keep_path(mrd__clocks *c, uint32_t node, const uint32_t *row)
{
    mrd__store *store = c->seal->store;
    mrd__clock *clock = &store->clocks[row[node]];
    size_t count = mrd__clock_path(c->graph, node, NULL, 0);
    clock->reached = count != SIZE_MAX;
    clock->first_hop = (uint32_t)store->clock_hop_count;
    if (!clock->reached || count == 0) return;
    mrd__clock_hop *hops = mrd__new_array(mrd__clock_hop, count);
    mrd__clock_path(c->graph, node, hops, count);
    clock->hop_count = (uint32_t)count;
    size_t total = store->clock_hop_count + count;
    store->clock_hops = mrd__realloc(store->clock_hops, total * sizeof *store->clock_hops);
    for (size_t i = 0; i < count; i++) {
        store->clock_hops[store->clock_hop_count++] =
            (mrd__clock_step){.from = row[hops[i].from],
                              .to = row[hops[i].to],
                              .origin = origins[hops[i].source],
                              .observations = hops[i].observations,
                              .first_offset_ns = hops[i].first_offset_ns,
                              .last_offset_ns = hops[i].last_offset_ns,
                              .spread_ns = hops[i].spread_ns,
                              .drift_ppm = hops[i].drift_ppm};
    }
    mrd__free(hops);
}

static void keep_values(mrd__clocks *c, const uint32_t *row)
{
    mrd__store *store = c->seal->store;
    store->clock_value_count = c->seen.count;
    store->clock_values = mrd__new_array(mrd__clock_value, c->seen.count);
    for (size_t i = 0; i < c->seen.count; i++) {
        const mrd__clock_seen *seen = &c->seen.data[i];
        mrd__clock_value *value = &store->clock_values[i];
        int64_t shift = store->files[mrd__clock_id_of(c->graph, seen->node).file - 1].shift_ns;
        *value = (mrd__clock_value){.snapshot = seen->snapshot,
                                    .clock = row[seen->node],
                                    .value_ns = seen->value_ns,
                                    .origin = seen->origin};
        value->has_ts = mrd__clock_convert(c->graph, seen->node, seen->value_ns, &value->ts_ns) ==
                            MRD__CLOCK_OK &&
                        !__builtin_add_overflow(value->ts_ns, shift, &value->ts_ns);
    }
}

void mrd__clocks_keep(mrd__clocks *c)
{
    mrd__store *store = c->seal->store;
    size_t count;
    uint32_t *row = choose_rows(c, &count);
    store->clock_count = count;
    store->clocks = mrd__new_array(mrd__clock, count);
    store->trace_clock = row[c->target];
    store->clock_linear = c->plan != NULL && c->plan->linear;
    for (uint32_t n = 0; n < mrd__clock_node_count(c->graph); n++) {
        if (row[n] == MRD__NONE) continue;
        mrd__clock_id id = mrd__clock_id_of(c->graph, n);
        store->clocks[row[n]] =
            (mrd__clock){.file = id.file - 1,
                         .machine = mrd__seal_machine(c->seal, id.file - 1, id.machine),
                         .sequence = id.sequence,
                         .id = id.id};
    }
    for (size_t i = 0; i < c->uses.count; i++) {
        const mrd__clock_use *use = &c->uses.data[i];
        if (use->node == UINT32_MAX) continue;
        store->clocks[row[use->node]].facts += use->facts;
        store->clocks[row[use->node]].dropped += use->dropped;
    }
    for (uint32_t n = 0; n < mrd__clock_node_count(c->graph); n++)
        if (row[n] != MRD__NONE) keep_path(c, n, row);
    keep_values(c, row);
    mrd__free(row);
}
