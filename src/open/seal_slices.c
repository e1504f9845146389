/* Third and fourth step of sealing: each group paired and nested for itself, then its slices
 * written to the columns, row by row. */
#include "open/sealing.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

/* ---- Args of pairs ---- */

static mrd__text_blob *blob_with_room(mrd__seal_worker *worker, size_t size)
{
    mrd__store *store = worker->seal->store;
    if (worker->blob != MRD__NONE) {
        mrd__text_blob *own = &store->blobs[worker->blob];
        if (own->capacity - own->size >= size) return own;
    }
    size_t capacity =
        worker->blob == MRD__NONE ? MRD__BLOB_FIRST : store->blobs[worker->blob].capacity * 2;
    if (capacity > MRD__BLOB_LARGEST) capacity = MRD__BLOB_LARGEST;
    if (capacity < size) capacity = size;
    pthread_mutex_lock(&worker->seal->lock);
    mrd__assert(store->blob_count < MRD__BLOBS_MAX);
    worker->blob = (uint32_t)store->blob_count++;
    pthread_mutex_unlock(&worker->seal->lock);
    store->blobs[worker->blob] =
        (mrd__text_blob){.data = mrd__pages_alloc(capacity), .capacity = capacity};
    return &store->blobs[worker->blob];
}

static mrd__args_ref join_args(void *ctx, mrd__args_ref begin, mrd__args_ref end)
{
    mrd__seal_worker *worker = ctx;
    const mrd__store *store = worker->seal->store;
    mrd__args_room room = {store->files, store->file_count, store->blobs, MRD__BLOBS_MAX};
    mrd__str first = mrd__args_text(&room, begin);
    mrd__str second = mrd__args_text(&room, end);
    if (second.size == 0) return begin;
    if (first.size == 0) return end;
    mrd__buf_clear(&worker->text);
    mrd__args_merge(&worker->text, first, second);
    mrd__text_blob *blob = blob_with_room(worker, worker->text.size + 1);
    memcpy(blob->data + blob->size, worker->text.data, worker->text.size);
    blob->data[blob->size + worker->text.size] = '\0';
    mrd__args_ref ref = mrd__args_make(MRD__ARGS_BLOB | worker->blob, blob->size + 1);
    blob->size += worker->text.size + 1;
    return ref;
}

static void note_flow_end(void *ctx, uint32_t begin, uint32_t end)
{
    mrd__seal_worker *worker = ctx;
    mrd__vec_push(&worker->flow_ends, ((mrd__flow_end){begin, end, MRD__NONE}));
}

/* ---- Pairing and nesting ---- */

static int compare_lanes(const void *left, const void *right)
{
    const mrd__lane *a = left;
    const mrd__lane *b = right;
    if (a->major != b->major) return a->major < b->major ? -1 : 1;
    return a->minor < b->minor ? -1 : a->minor > b->minor;
}

static void pair_group(void *ctx, size_t index, uint32_t worker_index)
{
    mrd__sealing *seal = ctx;
    mrd__seal_worker *worker = &seal->worker[worker_index];
    mrd__group *group = &seal->groups.data[index];
    mrd__item *items = seal->items + group->first;
    uint32_t count = (uint32_t)group->count;
    mrd__items_sort(items, count);
    group->nested =
        (mrd__nested){.parent = seal->parent + group->first, .lane = seal->lane + group->first};
    mrd__args_joiner joiner = {join_args, worker, note_flow_end};
    bool own = group->own != MRD__NONE && group->kind == MRD__TRACK_ASYNC;
    if (own && seal->own_tracks.data[group->own].async) {
        count = mrd__slices_pair(items, count, &joiner, &worker->found);
        mrd__async_nest(items, count, &group->nested, &worker->found);
    } else if (group->kind == MRD__TRACK_THREAD || own) {
        count = mrd__slices_pair(items, count, &joiner, &worker->found);
        mrd__slices_nest(items, count, &group->nested, &worker->found);
    } else if (group->kind == MRD__TRACK_ASYNC) {
        count = mrd__async_pair(items, count, &joiner, &worker->found);
        mrd__async_nest(items, count, &group->nested, &worker->found);
    }
}

static int compare_flow_ends(const void *left, const void *right)
{
    const mrd__flow_end *a = left;
    const mrd__flow_end *b = right;
    if (a->begin != b->begin) return a->begin < b->begin ? -1 : 1;
    return a->end < b->end ? -1 : a->end > b->end;
}

void mrd__seal_pair(mrd__sealing *seal)
{
    size_t size = seal->item_count * sizeof(uint32_t);
    seal->parent = mrd__pages_take(size);
    seal->lane = mrd__pages_take(size);
    mrd__seal_touch(seal->workers, (mrd__block[]){{seal->parent, size}, {seal->lane, size}}, 2);
    mrd__parallel_for(seal->workers, seal->groups.count, pair_group, seal);
    for (uint32_t w = 0; w < seal->workers; w++) {
        const mrd__flow_ends *own = &seal->worker[w].flow_ends;
        for (size_t i = 0; i < own->count; i++)
            mrd__vec_push(&seal->flow_ends, own->data[i]);
    }
    if (seal->flow_ends.count > 1)
        qsort(seal->flow_ends.data, seal->flow_ends.count, sizeof *seal->flow_ends.data,
              compare_flow_ends);
}

/* ---- Tracks ---- */

static uint64_t placed(const mrd__group *group)
{
    bool slices = group->kind == MRD__TRACK_THREAD || group->kind == MRD__TRACK_ASYNC;
    return slices ? group->nested.count - group->nested.dropped : group->count;
}

static mrd__track track_of(mrd__sealing *seal, const mrd__group *group)
{
    mrd__track track = {.kind = group->kind,
                        .scope = group->scope,
                        .parent = MRD__NONE,
                        .process = MRD__NONE,
                        .thread = MRD__NONE,
                        .event_key = MRD__NONE,
                        .count = placed(group)};
    if (group->process != MRD__NONE) track.process = seal->processes.data[group->process].index;
    if (group->thread != MRD__NONE) track.thread = seal->threads.data[group->thread].index;
    if (group->own != MRD__NONE) {
        const mrd__own_track *own = &seal->own_tracks.data[group->own];
        track.name = mrd__seal_own_name(seal, own);
        if (group->kind == MRD__TRACK_COUNTER) track.unit = own->unit;
    } else if (group->kind == MRD__TRACK_COUNTER) {
        track.name = group->track_name;
        track.series = group->series;
    } else if (group->kind == MRD__TRACK_ASYNC) {
        track.name = group->track_name;
    } else if (group->thread != MRD__NONE) {
        track.name = seal->threads.data[group->thread].name;
    } else if (group->process != MRD__NONE) {
        track.name = seal->processes.data[group->process].name;
    }
    uint32_t order = group->count > 0 ? seal->items[group->first].order : 0;
    track.file = group->heading ? seal->own_tracks.data[group->own].file
                                : mrd__found_file(&seal->worker[0].found, order);
    track.machine = group->process != MRD__NONE ? seal->processes.data[group->process].machine
                    : group->own != MRD__NONE   ? seal->own_tracks.data[group->own].machine
                                                : seal->store->files[track.file].machine;
    return track;
}

/* Instants and samples of a described track stand below its slices. */
static void join_own(mrd__sealing *seal, const mrd__group *group, mrd__track *track)
{
    mrd__own_track *own = &seal->own_tracks.data[group->own];
    track->parent = own->track;
    if (own->track != MRD__NONE) return;
    own->track = group->track;
    track->parent = mrd__seal_own_parent(seal, own);
}

/* Number the tracks, their rows and their ranges in the columns. */
void mrd__seal_tracks(mrd__sealing *seal)
{
    mrd__store *store = seal->store;
    store->tracks = mrd__new_array(mrd__track, seal->groups.count);
    uint64_t slices = 0;
    uint64_t rows = 0;
    for (size_t g = 0; g < seal->groups.count; g++) {
        mrd__group *group = &seal->groups.data[g];
        if (placed(group) == 0 && !group->heading) continue;
        group->track = (uint32_t)store->track_count++;
        mrd__track *track = &store->tracks[group->track];
        *track = track_of(seal, group);
        if (group->own != MRD__NONE) join_own(seal, group, track);
        if (group->kind == MRD__TRACK_COUNTER) {
            track->first = store->counters.count;
            store->counters.count += track->count;
        } else if (group->kind == MRD__TRACK_INSTANT) {
            track->first = store->instants.count;
            store->instants.count += track->count;
            if (group->own == MRD__NONE && group->thread != MRD__NONE && group->track > 0 &&
                store->tracks[group->track - 1].thread == track->thread)
                track->parent = group->track - 1;
        } else {
            track->first = slices;
            slices += track->count;
            track->first_row = (uint32_t)rows;
            track->row_count = (uint32_t)group->nested.lanes.count;
            rows += track->row_count;
        }
    }
    mrd__assert(rows < UINT32_MAX);
    store->slices.count = slices;
    store->rows.row_count = (uint32_t)rows;
}

/* ---- Placing slices ---- */

static void alloc_columns(mrd__store *store, uint32_t workers)
{
    mrd__slices *s = &store->slices;
    s->start = mrd__pages_take(s->count * sizeof *s->start);
    s->end = mrd__pages_take(s->count * sizeof *s->end);
    s->name = mrd__pages_take(s->count * sizeof *s->name);
    s->category = mrd__pages_take(s->count * sizeof *s->category);
    s->parent = mrd__pages_take(s->count * sizeof *s->parent);
    s->args = mrd__pages_take(s->count * sizeof *s->args);
    s->flags = mrd__pages_take(s->count * sizeof *s->flags);
    s->order = mrd__pages_take(s->count * sizeof *s->order);
    mrd__instants *i = &store->instants;
    i->time = mrd__pages_take(i->count * sizeof *i->time);
    i->name = mrd__pages_take(i->count * sizeof *i->name);
    i->category = mrd__pages_take(i->count * sizeof *i->category);
    i->args = mrd__pages_take(i->count * sizeof *i->args);
    i->order = mrd__pages_take(i->count * sizeof *i->order);
    mrd__counters *c = &store->counters;
    c->time = mrd__pages_take(c->count * sizeof *c->time);
    c->value = mrd__pages_take(c->count * sizeof *c->value);
    c->order = mrd__pages_take(c->count * sizeof *c->order);
    mrd__block blocks[] = {{s->start, s->count * sizeof *s->start},
                           {s->end, s->count * sizeof *s->end},
                           {s->name, s->count * sizeof *s->name},
                           {s->category, s->count * sizeof *s->category},
                           {s->parent, s->count * sizeof *s->parent},
                           {s->args, s->count * sizeof *s->args},
                           {s->flags, s->count * sizeof *s->flags},
                           {s->order, s->count * sizeof *s->order},
                           {i->time, i->count * sizeof *i->time},
                           {i->name, i->count * sizeof *i->name},
                           {i->category, i->count * sizeof *i->category},
                           {i->args, i->count * sizeof *i->args},
                           {i->order, i->count * sizeof *i->order},
                           {c->time, c->count * sizeof *c->time},
                           {c->value, c->count * sizeof *c->value},
                           {c->order, c->count * sizeof *c->order}};
    mrd__seal_touch(workers, blocks, sizeof blocks / sizeof *blocks);
    store->rows.first = mrd__new_array(uint64_t, (size_t)store->rows.row_count + 1);
    store->rows.first[store->rows.row_count] = s->count;
    store->row_infos = mrd__new_array(mrd__row, store->rows.row_count);
}

/* Rows of a track in drawing order; cursor[lane] becomes the first slice id of the lane's row. */
static uint32_t *place_rows(mrd__store *store, mrd__group *group)
{
    const mrd__track *track = &store->tracks[group->track];
    uint32_t count = (uint32_t)group->nested.lanes.count;
    mrd__lane *sorted = mrd__alloc((size_t)count * sizeof *sorted);
    memcpy(sorted, group->nested.lanes.data, (size_t)count * sizeof *sorted);
    uint32_t *cursor = mrd__alloc((size_t)count * sizeof *cursor);
    /* Lanes are numbered by first use; the sort needs to know which is which. */
    for (uint32_t l = 0; l < count; l++) {
        cursor[l] = sorted[l].count;
        sorted[l].count = l;
    }
    qsort(sorted, count, sizeof *sorted, compare_lanes);
    uint64_t next = track->first;
    for (uint32_t l = 0; l < count; l++) {
        uint32_t lane = sorted[l].count;
        uint32_t row = track->first_row + l;
        store->rows.first[row] = next;
        store->row_infos[row] = (mrd__row){group->track, sorted[l].depth, (uint16_t)l};
        uint32_t slices = cursor[lane];
        cursor[lane] = (uint32_t)next;
        next += slices;
    }
    mrd__free(sorted);
    return cursor;
}

static void widen(mrd__seal_worker *worker, int64_t start, int64_t end)
{
    if (start < worker->start) worker->start = start;
    if (end > worker->end) worker->end = end;
}

/* The flows of the ends that closed a begin. */
static void bind_ends(mrd__sealing *seal, uint32_t begin, uint32_t slice)
{
    mrd__flow_ends *ends = &seal->flow_ends;
    size_t low = 0;
    size_t high = ends->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ends->data[middle].begin < begin)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < ends->count && ends->data[low].begin == begin; low++)
        ends->data[low].slice = slice;
}

void mrd__seal_bind_v2(mrd__sealing *seal, uint32_t order, uint32_t slice)
{
    size_t low = 0;
    size_t high = seal->points.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (seal->points.data[middle].order < order)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < seal->points.count && seal->points.data[low].order == order; low++)
        seal->points.data[low].slice = slice;
}

/* One slice into the columns, handed over by value: they do not alias what is written. */
static void put_slice(mrd__slices s, uint32_t id, const mrd__item *item, int64_t end,
                      uint32_t parent)
{
    mrd__column_set(s.start, id, item->ts);
    mrd__column_set(s.end, id, end);
    s.name[id] = item->name;
    s.category[id] = item->category;
    s.parent[id] = parent;
    s.args[id] = (item->marks & MRD__ITEM_PLACE) != 0 ? 0 : item->args;
    s.flags[id] = item->flags;
    s.order[id] = item->order;
}

#define PREFETCH_ITEMS 16

/* lane[i] turns from the lane of item i into its slice id. */
static void place_slices(mrd__sealing *seal, mrd__seal_worker *worker, mrd__group *group)
{
    const mrd__slices slices = seal->store->slices;
    const mrd__nested *nested = &group->nested;
    const mrd__item *items = &seal->items[group->first];
    uint32_t *cursor = place_rows(seal->store, group);
    for (uint32_t i = 0; i < nested->count; i++) {
        if (nested->lane[i] == MRD__NONE) continue;
        const mrd__item *item = &items[i];
        __builtin_prefetch(item + PREFETCH_ITEMS);
        uint32_t id = cursor[nested->lane[i]]++;
        nested->lane[i] = id;
        int64_t end = mrd__item_end(item);
        bool unclosed = (item->flags & MRD__SLICE_UNCLOSED) != 0;
        widen(worker, item->ts, unclosed ? item->ts : end);
        worker->unclosed += unclosed;
        uint32_t parent = nested->parent[i];
        put_slice(slices, id, item, end, parent == MRD__NONE ? MRD__NONE : nested->lane[parent]);
        if ((item->marks & MRD__ITEM_FLOW) != 0) {
            mrd__seal_bind_v2(seal, item->order, id);
            bind_ends(seal, item->order, id);
        }
    }
    mrd__free(cursor);
}

static void place_points(mrd__sealing *seal, mrd__seal_worker *worker, const mrd__group *group)
{
    mrd__store *store = seal->store;
    uint64_t at = store->tracks[group->track].first;
    for (uint64_t i = 0; i < group->count; i++, at++) {
        const mrd__item *item = &seal->items[group->first + i];
        widen(worker, item->ts, item->ts);
        if (group->kind == MRD__TRACK_COUNTER) {
            mrd__column_set(store->counters.time, at, item->ts);
            store->counters.value[at] = item->value;
            store->counters.order[at] = item->order;
            continue;
        }
        mrd__column_set(store->instants.time, at, item->ts);
        store->instants.name[at] = item->name;
        store->instants.category[at] = item->category;
        store->instants.args[at] = (item->marks & MRD__ITEM_PLACE) != 0 ? 0 : item->args;
        store->instants.order[at] = item->order;
    }
}

static void place_group(void *ctx, size_t index, uint32_t worker_index)
{
    mrd__sealing *seal = ctx;
    mrd__group *group = &seal->groups.data[index];
    if (group->track == MRD__NONE || group->heading) return;
    if (group->kind == MRD__TRACK_THREAD || group->kind == MRD__TRACK_ASYNC)
        place_slices(seal, &seal->worker[worker_index], group);
    else
        place_points(seal, &seal->worker[worker_index], group);
}

void mrd__seal_place(mrd__sealing *seal)
{
    mrd__store *store = seal->store;
    alloc_columns(store, seal->workers);
    mrd__parallel_for(seal->workers, seal->groups.count, place_group, seal);
    mrd__pages_give(seal->items, seal->item_count * sizeof *seal->items);
    mrd__pages_give(seal->parent, seal->item_count * sizeof *seal->parent);
    seal->items = NULL;
    seal->parent = NULL;
    store->rows.start = store->slices.start;
    store->rows.end = store->slices.end;
    store->rows.count = store->slices.count;
    for (uint32_t w = 0; w < seal->workers; w++) {
        const mrd__seal_worker *worker = &seal->worker[w];
        store->unclosed += worker->unclosed;
        if (worker->start > worker->end) continue;
        if (!seal->any || worker->start < seal->start) seal->start = worker->start;
        if (!seal->any || worker->end > seal->end) seal->end = worker->end;
        seal->any = true;
    }
}
