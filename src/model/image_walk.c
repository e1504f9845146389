#include "model/image_walk.h"

#include "base/os.h"

#define COLUMN(pointer, count)                                                                     \
    do {                                                                                           \
        if (walk->failed) return;                                                                  \
        walk->column(walk, &(pointer), (count), sizeof *(pointer));                                \
    } while (0)

static void walk_rows(mrd__image_walk *walk, mrd__rows *rows)
{
    uint64_t ranges = (uint64_t)rows->row_count + 1;
    COLUMN(rows->first, ranges);
    COLUMN(rows->block_first, ranges);
    if (walk->failed) return;
    uint64_t blocks = rows->block_first != NULL ? rows->block_first[rows->row_count] : 0;
    COLUMN(rows->block_start, blocks);
    COLUMN(rows->cover_hi, blocks);
    COLUMN(rows->cover_lo, blocks);
    rows->longest_first[0] = rows->block_first;
    for (uint32_t level = 0; level < MRD__ROW_LEVELS; level++) {
        if (level > 0) COLUMN(rows->longest_first[level], ranges);
        if (walk->failed) return;
        const uint64_t *first = rows->longest_first[level];
        uint64_t size = first != NULL ? first[rows->row_count] : 0;
        COLUMN(rows->longest[level], size);
        COLUMN(rows->longest_length[level], size);
    }
}

static void walk_pyramid(mrd__image_walk *walk, mrd__pyramid *pyramid)
{
    for (uint32_t level = 0; level < MRD__PYRAMID_LEVELS; level++) {
        COLUMN(pyramid->min[level], pyramid->size[level]);
        COLUMN(pyramid->max[level], pyramid->size[level]);
    }
}

static void walk_slices(mrd__image_walk *walk, mrd__store *store)
{
    mrd__slices *s = &store->slices;
    COLUMN(s->start, s->count);
    COLUMN(s->end, s->count);
    COLUMN(s->name, s->count);
    COLUMN(s->category, s->count);
    COLUMN(s->parent, s->count);
    COLUMN(s->args, s->count);
    COLUMN(s->flags, s->count);
    COLUMN(s->order, s->count);
    store->rows.start = s->start;
    store->rows.end = s->end;
    walk_rows(walk, &store->rows);
    COLUMN(store->row_infos, store->rows.row_count);
}

static void walk_points(mrd__image_walk *walk, mrd__store *store)
{
    mrd__instants *i = &store->instants;
    COLUMN(i->time, i->count);
    COLUMN(i->name, i->count);
    COLUMN(i->category, i->count);
    COLUMN(i->args, i->count);
    COLUMN(i->order, i->count);
    mrd__counters *c = &store->counters;
    COLUMN(c->time, c->count);
    COLUMN(c->value, c->count);
    COLUMN(c->order, c->count);
    walk_pyramid(walk, &c->pyramid);
}

static uint64_t process_names(const mrd__store *store)
{
    uint64_t count = 0;
    for (size_t p = 0; p < store->process_count; p++) {
        uint64_t end = (uint64_t)store->processes[p].name_first + store->processes[p].name_count;
        if (end > count) count = end;
    }
    return count;
}

static void walk_lists(mrd__image_walk *walk, mrd__store *store)
{
    COLUMN(store->machines, store->machine_count);
    COLUMN(store->clocks, store->clock_count);
    COLUMN(store->clock_hops, store->clock_hop_count);
    COLUMN(store->clock_values, store->clock_value_count);
    COLUMN(store->processes, store->process_count);
    if (walk->failed) return;
    COLUMN(store->process_names, process_names(store));
    COLUMN(store->threads, store->thread_count);
    COLUMN(store->tracks, store->track_count);
    COLUMN(store->flows, store->flow_count);
    COLUMN(store->flow_by_from, store->flow_count);
    COLUMN(store->flow_by_to, store->flow_count);
    COLUMN(store->exact_slices.data, store->exact_slices.count);
    COLUMN(store->exact_instants.data, store->exact_instants.count);
    COLUMN(store->exact_counters.data, store->exact_counters.count);
    COLUMN(store->losses, store->loss_count);
    COLUMN(store->metadata, store->metadata_count);
}

static void walk_events(mrd__image_walk *walk, mrd__events *e)
{
    COLUMN(e->time, e->count);
    COLUMN(e->value, e->count);
    COLUMN(e->rank, e->count);
    COLUMN(e->keys, e->key_count);
    COLUMN(e->block_index, e->key_count + 1);
    COLUMN(e->cell_index, e->key_count + 1);
    if (walk->failed) return;
    uint64_t blocks = e->block_index != NULL ? e->block_index[e->key_count] : 0;
    COLUMN(e->blocks, blocks);
    COLUMN(e->block_time, blocks);
    uint64_t cells = e->cell_index != NULL ? e->cell_index[e->key_count] : 0;
    COLUMN(e->cell_time, cells);
    COLUMN(e->component_keys, e->component_count + 1);
    COLUMN(e->component_slots, e->component_slot_count);
    COLUMN(e->detail_first, e->count + 1);
    if (walk->failed) return;
    COLUMN(e->detail_bytes, e->detail_first != NULL ? e->detail_first[e->count] : 0);
    COLUMN(e->intervals.start, e->intervals.count);
    COLUMN(e->intervals.end, e->intervals.count);
    walk_rows(walk, &e->intervals);
    COLUMN(e->interval_unclosed, e->intervals.row_count);
    walk_pyramid(walk, &e->pyramid);
}

void mrd__image_walk_store(mrd__image_walk *walk, mrd__store *store, mrd__events *events)
{
    walk_slices(walk, store);
    walk_points(walk, store);
    walk_lists(walk, store);
    if (events != NULL) walk_events(walk, events);
}

uint64_t mrd__image_layout(void)
{
    struct {
        uint64_t build, sizes[24];
    } layout = {
        .build = mrd__build_hash(),
        .sizes = {sizeof(mrd__image_root),  sizeof(mrd__image_file), sizeof(mrd__track),
                  sizeof(mrd__process),     sizeof(mrd__thread),     sizeof(mrd__machine),
                  sizeof(mrd__clock),       sizeof(mrd__clock_step), sizeof(mrd__clock_value),
                  sizeof(mrd__flow),        sizeof(mrd__loss),       sizeof(mrd__metadata),
                  sizeof(mrd__exact),       sizeof(mrd__row),        sizeof(mrd__event_key),
                  sizeof(mrd__event_block), MRD__ROW_BLOCK,          MRD__ROW_LEVELS,
                  MRD__PYRAMID_BLOCK,       MRD__PYRAMID_LEVELS,     MRD__EVENT_BLOCK,
                  MRD__EVENT_CELL,          MRD__LOSS_COUNT,         sizeof(void *)}};
    return mrd__hash(&layout, sizeof layout);
}

uint64_t mrd__image_sample(const void *data, size_t size)
{
    if (size <= MRD__IMAGE_WHOLE) return mrd__hash(data, size);
    const char *bytes = data;
    uint64_t hash = mrd__hash(bytes, MRD__IMAGE_END);
    hash = mrd__hash_mix(hash, mrd__hash(bytes + size - MRD__IMAGE_END, MRD__IMAGE_END));
    size_t step = (size - MRD__IMAGE_SAMPLE) / (MRD__IMAGE_SAMPLES + 1);
    for (size_t i = 1; i <= MRD__IMAGE_SAMPLES; i++)
        hash = mrd__hash_mix(hash, mrd__hash(bytes + i * step, MRD__IMAGE_SAMPLE));
    return hash;
}
