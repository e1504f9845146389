/* Cutting the facts into spans and joining what the spans found. */
#include "open/sealing_group.h"

#include "base/assert.h"

#include <string.h>

void mrd__span_grow(mrd__span *span)
{
    size_t size = span->key_size == 0 ? 64 : span->key_size * 2;
    mrd__free(span->key_slots);
    span->key_slots = mrd__new_array(uint32_t, size);
    span->key_size = size;
    for (size_t i = 0; i < span->keys.count; i++) {
        size_t at = mrd__group_key_hash(&span->keys.data[i].key) & (size - 1);
        while (span->key_slots[at] != 0)
            at = (at + 1) & (size - 1);
        span->key_slots[at] = (uint32_t)i + 1;
    }
}

/* Flow events of all files, as far as their phases tell. */
static uint64_t flow_events(const mrd__sealing *seal)
{
    uint64_t count = 0;
    for (size_t f = 0; f < seal->store->file_count; f++) {
        const uint64_t *phases = seal->store->files[f].phases;
        count += phases['s'] + phases['t'] + phases['f'];
    }
    return count < seal->facts ? count : seal->facts;
}

static void span_init(mrd__sealing *seal, mrd__span *span, uint32_t fixed)
{
    span->fixed = fixed;
    span->count = mrd__new_array(uint32_t, fixed);
    span->thread_used = mrd__new_array(uint8_t, seal->threads.count);
    span->process_used = mrd__new_array(uint8_t, seal->processes.count);
    span->slices.sorted = span->instants.sorted = span->counters.sorted = true;
    mrd__span_grow(span);
    mrd__found_init(&span->found, seal->file_first, (uint32_t)seal->store->file_count);
}

static void span_reset(mrd__span *span)
{
    mrd__free(span->count);
    mrd__free(span->cursor);
    mrd__vec_reset(&span->keys);
    mrd__free(span->key_slots);
    mrd__free(span->thread_used);
    mrd__free(span->process_used);
    mrd__points_reset(&span->points);
    mrd__vec_reset(&span->metas);
    mrd__found_reset(&span->found);
}

/* Whole chunks, about the same number of facts each. */
static void cut_spans(mrd__sealing *seal, mrd__spans *spans)
{
    uint32_t count = seal->workers;
    if (seal->facts < 65536) count = 1; /* below that starting a thread costs more */
    spans->data = mrd__new_array(mrd__span, count);
    spans->count = count;
    spans->fixed = mrd__fixed_own(seal) + 3 * (uint32_t)seal->own_tracks.count;
    size_t chunk = 0;
    uint64_t flows = flow_events(seal);
    uint64_t points = (flows + flows / 16) / count;
    mrd__points_reserve(&seal->points, points * count);
    for (uint32_t s = 0; s < count; s++) {
        mrd__span *span = &spans->data[s];
        span_init(seal, span, spans->fixed);
        mrd__points_lend(&span->points, &seal->points, s * points, points);
        span->first = chunk;
        uint64_t until = seal->facts * (s + 1) / count;
        while (chunk < seal->chunks.count &&
               (s + 1 == count || seal->chunks.data[chunk].base < until))
            chunk++;
        span->end = chunk;
    }
}

/* ---- Joining ---- */

static void join_times(bool *sorted, int64_t *last, bool *any, const mrd__span_times *times)
{
    if (!times->any) return;
    if (!times->sorted || (*any && times->first < *last)) *sorted = false;
    *any = true;
    *last = times->last;
}

static bool times_sorted(const mrd__spans *spans, size_t member)
{
    bool sorted = true;
    bool any = false;
    int64_t last = 0;
    for (uint32_t s = 0; s < spans->count; s++)
        join_times(&sorted, &last, &any,
                   (const mrd__span_times *)(const void *)((const char *)&spans->data[s] + member));
    return sorted;
}

/* Where they were written to, unless one span had more than its part of that. */
static void join_points(mrd__sealing *seal, mrd__spans *spans)
{
    mrd__point_list *all = &seal->points, moved = {0};
    size_t count = 0;
    bool fits = true;
    for (uint32_t s = 0; s < spans->count; s++) {
        count += spans->data[s].points.count;
        fits = fits && spans->data[s].points.lent;
    }
    if (!fits) mrd__points_reserve(&moved, count);
    mrd__point_list *into = fits ? all : &moved;
    for (uint32_t s = 0; s < spans->count; s++) {
        mrd__point_list *own = &spans->data[s].points;
        if (own->count > 0)
            memmove(into->data + into->count, own->data, own->count * sizeof *own->data);
        into->count += own->count;
        mrd__points_reset(own);
    }
    if (fits) return;
    mrd__points_reset(all);
    *all = moved;
}

static void join_lists(mrd__sealing *seal, mrd__spans *spans)
{
    join_points(seal, spans);
    for (uint32_t s = 0; s < spans->count; s++) {
        mrd__span *span = &spans->data[s];
        for (size_t i = 0; i < span->metas.count; i++)
            mrd__vec_push(&seal->metas, span->metas.data[i]);
        mrd__vec_reset(&span->metas);
        for (size_t t = 0; t < seal->threads.count; t++)
            if (span->thread_used[t]) seal->threads.data[t].used = true;
        for (size_t p = 0; p < seal->processes.count; p++)
            if (span->process_used[p]) seal->processes.data[p].used = true;
        mrd__found_join(&seal->worker[0].found, &span->found);
    }
    seal->sorted_slices = times_sorted(spans, offsetof(mrd__span, slices));
    seal->sorted_instants = times_sorted(spans, offsetof(mrd__span, instants));
    seal->sorted_counters = times_sorted(spans, offsetof(mrd__span, counters));
}

static mrd__group own_group(const mrd__sealing *seal, uint32_t index)
{
    static const uint8_t kinds[3] = {MRD__TRACK_ASYNC, MRD__TRACK_INSTANT, MRD__TRACK_COUNTER};
    const mrd__own_track *own = &seal->own_tracks.data[index / 3];
    return (mrd__group){.kind = kinds[index % 3],
                        .scope = own->thread != MRD__NONE    ? MRD__SCOPE_THREAD
                                 : own->process != MRD__NONE ? MRD__SCOPE_PROCESS
                                                             : MRD__SCOPE_GLOBAL,
                        .process = own->process,
                        .thread = own->thread,
                        .own = index / 3,
                        .track = MRD__NONE};
}

static mrd__group fixed_group(const mrd__sealing *seal, uint32_t index)
{
    uint32_t threads = (uint32_t)seal->threads.count;
    uint32_t processes = (uint32_t)seal->processes.count;
    mrd__group group = {
        .process = MRD__NONE, .thread = MRD__NONE, .track = MRD__NONE, .own = MRD__NONE};
    if (index >= mrd__fixed_own(seal)) return own_group(seal, index - mrd__fixed_own(seal));
    if (index < 2 * threads) {
        group.kind = index < threads ? MRD__TRACK_THREAD : MRD__TRACK_INSTANT;
        group.scope = MRD__SCOPE_THREAD;
        group.thread = index % threads;
        group.process = seal->threads.data[group.thread].process;
        return group;
    }
    group.kind = MRD__TRACK_INSTANT;
    group.scope = MRD__SCOPE_GLOBAL;
    if (index < 2 * threads + processes) {
        group.scope = MRD__SCOPE_PROCESS;
        group.process = index - 2 * threads;
    }
    return group;
}

static mrd__group keyed_group(const mrd__span_group *own)
{
    return (mrd__group){.kind = (uint8_t)own->key.kind,
                        .process = own->process,
                        .thread = own->key.thread,
                        .own = MRD__NONE,
                        .track = MRD__NONE,
                        .name = own->key.name,
                        .series = own->key.kind == MRD__TRACK_COUNTER ? own->key.id : 0,
                        .category = own->key.category,
                        .id = own->key.id,
                        .id_scope = own->key.scope,
                        .file = own->key.file,
                        .first_order = own->first_order};
}

static bool has_facts(const mrd__sealing *seal, const mrd__spans *spans, uint32_t slot)
{
    const uint32_t *groups = spans->group_of_fixed + mrd__fixed_own(seal) + 3 * slot;
    return groups[0] != MRD__NONE || groups[1] != MRD__NONE || groups[2] != MRD__NONE;
}

/* Described tracks above one with facts stand on the timeline too: they name what is below. */
static void add_headings(mrd__sealing *seal, const mrd__spans *spans)
{
    for (uint32_t slot = 0; slot < seal->own_tracks.count; slot++) {
        if (!has_facts(seal, spans, slot)) continue;
        uint32_t up = seal->own_tracks.data[slot].parent;
        while (up != MRD__NONE && !seal->own_tracks.data[up].above) {
            mrd__own_track *own = &seal->own_tracks.data[up];
            own->above = true;
            if (!has_facts(seal, spans, up)) {
                mrd__group group = own_group(seal, 3 * up);
                group.heading = true;
                mrd__vec_push(&seal->groups, group);
            }
            if (own->process != MRD__NONE) seal->processes.data[own->process].used = true;
            if (own->thread != MRD__NONE) seal->threads.data[own->thread].used = true;
            up = own->parent;
        }
    }
}

static void join_groups(mrd__sealing *seal, mrd__spans *spans)
{
    spans->group_of_fixed = mrd__new_array(uint32_t, spans->fixed);
    for (uint32_t g = 0; g < spans->fixed; g++) {
        spans->group_of_fixed[g] = MRD__NONE;
        uint64_t count = 0;
        for (uint32_t s = 0; s < spans->count; s++)
            count += spans->data[s].count[g];
        if (count == 0) continue;
        mrd__group group = fixed_group(seal, g);
        group.count = count;
        spans->group_of_fixed[g] = (uint32_t)seal->groups.count;
        mrd__vec_push(&seal->groups, group);
    }
    /* Keys of all spans, in the order of the spans: the first that has one founds the group. */
    mrd__span all = {0};
    mrd__span_grow(&all);
    for (uint32_t s = 0; s < spans->count; s++) {
        mrd__span *span = &spans->data[s];
        for (size_t k = 0; k < span->keys.count; k++) {
            mrd__span_group *own = &span->keys.data[k];
            if (all.keys.count * 2 >= all.key_size) mrd__span_grow(&all);
            size_t at = mrd__group_key_hash(&own->key) & (all.key_size - 1);
            while (all.key_slots[at] != 0 && memcmp(&all.keys.data[all.key_slots[at] - 1].key,
                                                    &own->key, sizeof own->key) != 0)
                at = (at + 1) & (all.key_size - 1);
            if (all.key_slots[at] == 0) {
                own->group = (uint32_t)seal->groups.count;
                mrd__vec_push(&seal->groups, keyed_group(own));
                mrd__vec_push(&all.keys, *own);
                all.key_slots[at] = (uint32_t)all.keys.count;
            }
            own->group = all.keys.data[all.key_slots[at] - 1].group;
            seal->groups.data[own->group].count += own->count;
        }
    }
    mrd__vec_reset(&all.keys);
    mrd__free(all.key_slots);
}

/* ---- Places ---- */

static void set_cursors(mrd__sealing *seal, mrd__spans *spans)
{
    uint64_t *next = mrd__new_array(uint64_t, seal->groups.count);
    uint64_t total = 0;
    for (size_t g = 0; g < seal->groups.count; g++) {
        seal->groups.data[g].first = next[g] = total;
        total += seal->groups.data[g].count;
    }
    seal->item_count = total;
    for (uint32_t s = 0; s < spans->count; s++) {
        mrd__span *span = &spans->data[s];
        span->cursor = mrd__new_array(uint64_t, spans->fixed);
        for (uint32_t f = 0; f < spans->fixed; f++) {
            if (span->count[f] == 0) continue;
            uint32_t group = spans->place[spans->group_of_fixed[f]];
            span->cursor[f] = next[group];
            next[group] += span->count[f];
        }
        for (size_t k = 0; k < span->keys.count; k++) {
            mrd__span_group *own = &span->keys.data[k];
            uint32_t group = spans->place[own->group];
            own->cursor = next[group];
            next[group] += own->count;
        }
    }
    mrd__free(next);
}

typedef struct span_job {
    mrd__sealing *seal;
    mrd__spans *spans;
} span_job;

static void count_span(void *ctx, size_t index, uint32_t worker)
{
    (void)worker;
    span_job *job = ctx;
    mrd__span_count(job->seal, &job->spans->data[index]);
}

static void move_span(void *ctx, size_t index, uint32_t worker)
{
    (void)worker;
    span_job *job = ctx;
    mrd__span_move(job->seal, &job->spans->data[index]);
}

static void take_blobs(mrd__sealing *seal)
{
    mrd__writer *writer = seal->writer;
    seal->blob_base = mrd__new_array(uint32_t, writer->shards.count);
    size_t total = 0;
    for (size_t s = 0; s < writer->shards.count; s++) {
        seal->blob_base[s] = (uint32_t)total;
        total += writer->shards.data[s]->blobs.count;
    }
    mrd__assert(total + seal->workers < MRD__BLOBS_MAX);
    seal->store->blobs = mrd__pages_reserve(MRD__BLOBS_MAX * sizeof(mrd__text_blob));
    for (size_t s = 0; s < writer->shards.count; s++) {
        mrd__shard *shard = writer->shards.data[s];
        for (size_t b = 0; b < shard->blobs.count; b++)
            seal->store->blobs[seal->store->blob_count++] = shard->blobs.data[b];
        shard->blobs.count = 0;
    }
}

/* What the facts do not need any more, before they move: that is where memory is tightest. */
static void free_reading(mrd__sealing *seal)
{
    mrd__writer *writer = seal->writer;
    for (size_t s = 0; s < writer->shards.count; s++) {
        mrd__shard_free_sides(writer->shards.data[s]);
        if (writer->events == NULL) mrd__pool_reset(&writer->shards.data[s]->pool);
    }
}

void mrd__seal_sort_out(mrd__sealing *seal)
{
    take_blobs(seal);
    mrd__spans spans;
    memset(&spans, 0, sizeof spans);
    cut_spans(seal, &spans);
    span_job job = {seal, &spans};
    mrd__parallel_for(seal->workers, spans.count, count_span, &job);
    join_lists(seal, &spans);
    join_groups(seal, &spans);
    add_headings(seal, &spans);
    mrd__seal_names(seal);
    mrd__seal_own_order(seal);
    spans.place = mrd__new_array(uint32_t, seal->groups.count);
    mrd__seal_order_groups(seal, spans.place);
    set_cursors(seal, &spans);
    mrd__seal_track_names(seal);
    mrd__seal_metadata(seal);
    free_reading(seal);
    seal->items = mrd__seal_pages(seal->workers, seal->item_count * sizeof *seal->items);
    mrd__parallel_for(seal->workers, spans.count, move_span, &job);
    for (size_t s = 0; s < seal->writer->shards.count; s++)
        mrd__shard_give_facts(seal->writer->shards.data[s]);
    for (uint32_t s = 0; s < spans.count; s++)
        span_reset(&spans.data[s]);
    mrd__free(spans.data);
    mrd__free(spans.group_of_fixed);
    mrd__free(spans.place);
}
