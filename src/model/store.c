/* Reading a sealed store. */
#include "model/store.h"

#include <string.h>

#include "base/assert.h"
#include "base/error.h"
#include "model/args.h"
#include "model/events.h"
#include "model/image.h"

#include <math.h>

const char *mrd__track_kind_name(mrd__track_kind kind)
{
    switch (kind) {
    case MRD__TRACK_THREAD:
        return "thread";
    case MRD__TRACK_ASYNC:
        return "async";
    case MRD__TRACK_INTERVAL:
        return "interval";
    case MRD__TRACK_COUNTER:
        return "counter";
    case MRD__TRACK_INSTANT:
        return "instant";
    }
    return "unknown";
}

static void free_columns(mrd__store *store)
{
    mrd__slices *s = &store->slices;
    mrd__pages_give(s->start, s->count * sizeof *s->start);
    mrd__pages_give(s->end, s->count * sizeof *s->end);
    mrd__pages_give(s->name, s->count * sizeof *s->name);
    mrd__pages_give(s->category, s->count * sizeof *s->category);
    mrd__pages_give(s->parent, s->count * sizeof *s->parent);
    mrd__pages_give(s->args, s->count * sizeof *s->args);
    mrd__pages_give(s->flags, s->count * sizeof *s->flags);
    mrd__pages_give(s->order, s->count * sizeof *s->order);
    mrd__instants *i = &store->instants;
    mrd__pages_give(i->time, i->count * sizeof *i->time);
    mrd__pages_give(i->name, i->count * sizeof *i->name);
    mrd__pages_give(i->category, i->count * sizeof *i->category);
    mrd__pages_give(i->args, i->count * sizeof *i->args);
    mrd__pages_give(i->order, i->count * sizeof *i->order);
    mrd__counters *c = &store->counters;
    mrd__pages_give(c->time, c->count * sizeof *c->time);
    mrd__pages_give(c->value, c->count * sizeof *c->value);
    mrd__pages_give(c->order, c->count * sizeof *c->order);
    mrd__pyramid_reset(&c->pyramid);
}

void mrd__store_destroy(mrd__store **store)
{
    if (store == NULL || *store == NULL) return;
    mrd__store *s = *store;
    *store = NULL;
    if (s->image != NULL) {
        mrd__image_release(s);
        return;
    }
    mrd__rows_reset(&s->rows);
    free_columns(s);
    mrd__free(s->row_infos);
    mrd__free(s->strings);
    mrd__arena_reset(&s->string_bytes);
    for (size_t i = 0; i < s->file_count; i++) {
        mrd__free(s->files[i].path);
        mrd__free(s->files[i].boot_id);
        mrd__map_close(&s->files[i].map);
    }
    mrd__free(s->files);
    mrd__free(s->machines);
    mrd__free(s->clocks);
    mrd__free(s->clock_hops);
    mrd__free(s->clock_values);
    mrd__free(s->processes);
    mrd__free(s->process_names);
    mrd__free(s->threads);
    mrd__free(s->tracks);
    mrd__pages_give(s->flows, s->flow_count * sizeof *s->flows);
    mrd__free(s->flow_by_from);
    mrd__free(s->flow_by_to);
    mrd__free(s->exact_slices.data);
    mrd__free(s->exact_instants.data);
    mrd__free(s->exact_counters.data);
    mrd__events_destroy(&s->events);
    mrd__free(s->losses);
    mrd__free(s->metadata);
    for (size_t b = 0; b < s->blob_count; b++)
        mrd__pages_free(s->blobs[b].data, s->blobs[b].capacity);
    mrd__pages_free(s->blobs, MRD__BLOBS_MAX * sizeof *s->blobs);
    mrd__free(s);
}

/* A file is looked at again when its last check is older than this: a reader of many args pays for
 * one, and what changes within that time would slip in behind a check as well. */
#define CHECK_EVERY_NS 5000000u

static mrd_status check_file(mrd__file *file, mrd_error *error)
{
    uint64_t now = mrd__monotonic_ns();
    uint64_t last = __atomic_load_n(&file->checked_ns, __ATOMIC_RELAXED);
    if (last != 0 && now - last < CHECK_EVERY_NS) return MRD_OK;
    MRD__TRY(mrd__map_check(&file->map, error));
    __atomic_store_n(&file->checked_ns, now, __ATOMIC_RELAXED);
    return MRD_OK;
}

/* A guarded read of args text: first how long it is, then its bytes. */
typedef struct args_read {
    const mrd__args_room *room;
    mrd__args_ref ref;
    mrd__str text;
    char *copy; /* NULL: only look for the text */
} args_read;

static void read_args(void *ctx)
{
    args_read *r = ctx;
    if (r->copy == NULL)
        r->text = mrd__args_text(r->room, r->ref);
    else if (r->text.size > 0)
        memcpy(r->copy, r->text.data, r->text.size);
}

mrd_status mrd__store_args(const mrd__store *store, mrd__args_ref ref, mrd__buf *scratch,
                           mrd__str *out, mrd_error *error)
{
    mrd__args_room room = {store->files, store->file_count, store->blobs, store->blob_count};
    uint32_t source = mrd__args_source(ref);
    *out = (mrd__str){"", 0};
    if (ref == 0) return MRD_OK;
    if ((source & MRD__ARGS_BLOB) != 0) {
        *out = mrd__args_text(&room, ref);
        return MRD_OK;
    }
    mrd__assert(source < store->file_count);
    MRD__TRY(check_file(&store->files[source], error));
    args_read read = {.room = &room, .ref = ref};
    bool whole = mrd__map_guarded(read_args, &read);
    if (whole) {
        mrd__buf_clear(scratch);
        mrd__buf_reserve(scratch, read.text.size + 1);
        read.copy = scratch->data;
        whole = mrd__map_guarded(read_args, &read);
    }
    if (!whole) {
        (void)mrd__fail(error, MRD_ERR_IO, "file_changed", "file changed on disk");
        return mrd__fail_at(error, MRD_ERR_IO, store->files[source].path, -1);
    }
    scratch->size = read.text.size;
    *out = (mrd__str){scratch->data, read.text.size};
    return MRD_OK;
}

uint32_t mrd__store_row_of(const mrd__store *store, uint64_t slice)
{
    mrd__assert(slice < store->slices.count);
    uint32_t low = 0;
    uint32_t high = store->rows.row_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (store->rows.first[middle] <= slice)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* ---- Exact times ---- */

static const mrd__exact *find_exact(const mrd__exact_list *list, uint64_t index)
{
    size_t low = 0;
    size_t high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->data[middle].index < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low < list->count && list->data[low].index == index ? &list->data[low] : NULL;
}

int64_t mrd__store_absolute(const mrd__store *store, double relative)
{
    /* What is relative may pass int64 where the sum does not. */
    return (int64_t)((__int128)round(relative) + store->origin_ns);
}

int64_t mrd__store_slice_start(const mrd__store *store, uint64_t slice)
{
    const mrd__exact *exact = find_exact(&store->exact_slices, slice);
    if (exact != NULL) return exact->start_ns;
    return mrd__store_absolute(store, store->slices.start[slice]);
}

int64_t mrd__store_slice_end(const mrd__store *store, uint64_t slice)
{
    const mrd__exact *exact = find_exact(&store->exact_slices, slice);
    if (exact != NULL) return exact->end_ns;
    return mrd__store_absolute(store, store->slices.end[slice]);
}

bool mrd__store_stands_before(const mrd__store *store, uint64_t slice)
{
    if ((store->slices.flags[slice] & MRD__SLICE_UNCLOSED) != 0) return false;
    if (store->slices.start[slice] != store->slices.end[slice]) return false;
    int64_t start = mrd__store_slice_start(store, slice);
    if (mrd__store_slice_end(store, slice) != start) return false;
    uint64_t end = store->rows.first[mrd__store_row_of(store, slice) + 1];
    return slice + 1 < end && mrd__store_slice_start(store, slice + 1) == start;
}

int64_t mrd__store_instant_time(const mrd__store *store, uint64_t instant)
{
    const mrd__exact *exact = find_exact(&store->exact_instants, instant);
    if (exact != NULL) return exact->start_ns;
    return mrd__store_absolute(store, store->instants.time[instant]);
}

int64_t mrd__store_counter_time(const mrd__store *store, uint64_t sample)
{
    const mrd__exact *exact = find_exact(&store->exact_counters, sample);
    if (exact != NULL) return exact->start_ns;
    return mrd__store_absolute(store, store->counters.time[sample]);
}

/* ---- Memory ---- */

void mrd__store_memory_of(const mrd__store *store, mrd__store_memory *out)
{
    *out = (mrd__store_memory){0};
    const mrd__slices *s = &store->slices;
    out->slices =
        s->count * (2 * sizeof *s->start + sizeof *s->name + sizeof *s->category +
                    sizeof *s->parent + sizeof *s->args + sizeof *s->flags + sizeof *s->order);
    out->rows = mrd__rows_memory(&store->rows) + store->rows.row_count * sizeof *store->row_infos;
    const mrd__instants *i = &store->instants;
    out->instants = i->count * (sizeof *i->time + sizeof *i->name + sizeof *i->category +
                                sizeof *i->args + sizeof *i->order);
    const mrd__counters *c = &store->counters;
    out->counters = c->count * (sizeof *c->time + sizeof *c->value + sizeof *c->order) +
                    mrd__pyramid_memory(&c->pyramid);
    out->flows = store->flow_count * (sizeof *store->flows + 2 * sizeof *store->flow_by_from);
    uint64_t texts = 0; /* names and details of event records */
    if (store->events != NULL)
        mrd__events_memory(store->events, &out->events, &out->intervals, &texts);
    out->strings = store->string_count * sizeof *store->strings + store->string_bytes.total + texts;
    for (size_t b = 0; b < store->blob_count; b++)
        out->args += store->blobs[b].size;
    for (size_t f = 0; f < store->file_count; f++)
        out->mapped += store->files[f].map.size;
    out->total = out->slices + out->rows + out->instants + out->counters + out->flows +
                 out->events + out->intervals + out->strings + out->args;
}
