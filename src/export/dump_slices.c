#include "base/error.h"
#include "export/event_merge.h"
#include "export/tables.h"
#include "query/args_flat.h"

/* "unclosed|overlap", empty without. */
static void flags_cell(mrd__plain *plain, uint8_t flags)
{
    static const char *const names[] = {"unclosed", "left_truncated", "overlap", "negative_dur"};
    char text[64];
    size_t size = 0;
    for (size_t bit = 0; bit < sizeof names / sizeof names[0]; bit++) {
        if (!(flags >> bit & 1)) continue;
        if (size > 0) text[size++] = '|';
        for (const char *at = names[bit]; *at != '\0'; at++)
            text[size++] = *at;
    }
    mrd__plain_text(plain, (mrd__str){text, size});
}

static void thread_cells(const mrd__store *store, const mrd__track *track, mrd__plain *plain)
{
    uint32_t process = track->process;
    uint32_t thread = track->thread;
    mrd__plain_pid(plain, store, process);
    mrd__plain_tid(plain, store, thread);
    mrd__plain_name(plain, store, process == MRD__NONE ? 0 : store->processes[process].name);
    mrd__plain_name(plain, store, thread == MRD__NONE ? 0 : store->threads[thread].name);
}

static mrd_status slice_row(const mrd__store *store, mrd__plain *plain, uint64_t id,
                            mrd_error *error)
{
    const mrd__slices *slices = &store->slices;
    const mrd__row *row = &store->row_infos[mrd__store_row_of(store, id)];
    mrd__plain_uint(plain, id);
    thread_cells(store, &store->tracks[row->track], plain);
    mrd__plain_uint(plain, row->track);
    mrd__plain_text(plain, mrd__store_str(store, slices->name[id]));
    mrd__plain_name(plain, store, slices->category[id]);
    int64_t start = mrd__store_slice_start(store, id);
    bool open = slices->flags[id] & MRD__SLICE_UNCLOSED;
    mrd__plain_int(plain, start);
    /* In unsigned arithmetic: the two may lie further apart than int64 holds. */
    uint64_t length = (uint64_t)mrd__store_slice_end(store, id) - (uint64_t)start;
    if (open)
        mrd__plain_int(plain, -1);
    else
        mrd__plain_uint(plain, length);
    mrd__plain_uint(plain, row->depth);
    mrd__plain_uint(plain, row->line);
    mrd__plain_index(plain, slices->parent[id]);
    MRD__TRY(mrd__plain_args(plain, store, slices->args[id], error));
    flags_cell(plain, slices->flags[id]);
    return mrd__plain_row(plain, error);
}

/* ---- Intervals of event records: slices of interval tracks, after the plain ones in id ---- */

/* The first interval opened by the records from the merge's place on; false at the end. */
typedef struct interval_walk {
    mrd__event_merge merge;
    uint64_t *next; /* per key: its next interval */
    bool *open;
    size_t key;
    uint64_t interval;
} interval_walk;

static bool next_interval(const mrd__events *events, interval_walk *walk)
{
    uint64_t at;
    while (mrd__event_merge_next(&walk->merge, &walk->key, &at)) {
        const mrd__event_key *key = &events->keys[walk->key];
        if (key->form != MRD__FORM_INTERVAL) continue;
        bool closes = events->rank[at] & MRD__EVENT_CLOSER;
        bool opens = !closes && !walk->open[walk->key];
        walk->open[walk->key] = !closes;
        if (!opens) continue;
        walk->interval = walk->next[walk->key]++;
        return true;
    }
    return false;
}

static mrd_status interval_row(const mrd__store *store, const interval_walk *walk,
                               const uint32_t *tracks, mrd__plain *plain, mrd_error *error)
{
    const mrd__events *events = store->events;
    const mrd__event_key *key = &events->keys[walk->key];
    uint64_t i = walk->interval;
    bool last = i + 1 == events->intervals.first[key->row + 1];
    bool open = last && events->interval_unclosed[key->row];
    int64_t start = mrd__event_time(events->intervals.start[i]);
    mrd__plain_uint(plain, store->slices.count + i);
    for (int cell = 0; cell < 4; cell++)
        mrd__plain_null(plain); /* pid, tid, process, thread */
    mrd__plain_index(plain, tracks[walk->key]);
    mrd__plain_text(plain, mrd__str_of(events->category_names[key->category]));
    mrd__plain_null(plain);
    mrd__plain_int(plain, start);
    mrd__plain_int(plain, open ? -1 : mrd__event_time(events->intervals.end[i]) - start);
    mrd__plain_uint(plain, 0);
    mrd__plain_uint(plain, 0);
    mrd__plain_null(plain);
    mrd__plain_null(plain);
    flags_cell(plain, open ? MRD__SLICE_UNCLOSED : 0);
    return mrd__plain_row(plain, error);
}

static void interval_walk_begin(const mrd__events *events, interval_walk *walk)
{
    *walk = (interval_walk){.next = mrd__new_array(uint64_t, events->key_count),
                            .open = mrd__new_array(bool, events->key_count)};
    for (size_t k = 0; k < events->key_count; k++) {
        if (events->keys[k].form == MRD__FORM_INTERVAL)
            walk->next[k] = events->intervals.first[events->keys[k].row];
    }
    mrd__event_merge_begin(&walk->merge, events);
}

static void interval_walk_reset(interval_walk *walk)
{
    mrd__event_merge_reset(&walk->merge);
    mrd__free(walk->next);
    mrd__free(walk->open);
}

/* Both kinds by time; at equal times plain slices first. */
static mrd_status merged_rows(const mrd__store *store, const uint32_t *order, mrd__plain *plain,
                              mrd_error *error)
{
    const mrd__events *events = store->events;
    uint32_t *tracks = mrd__event_tracks(store);
    interval_walk walk;
    interval_walk_begin(events, &walk);
    bool more = next_interval(events, &walk);
    mrd_status status = MRD_OK;
    for (uint64_t i = 0; status == MRD_OK && (i < store->slices.count || more);) {
        bool plain_first = i < store->slices.count &&
                           (!more || mrd__store_slice_start(store, order[i]) <=
                                         mrd__event_time(events->intervals.start[walk.interval]));
        if (plain_first) {
            status = slice_row(store, plain, order[i++], error);
        } else {
            status = interval_row(store, &walk, tracks, plain, error);
            more = next_interval(events, &walk);
        }
    }
    interval_walk_reset(&walk);
    mrd__free(tracks);
    return status;
}

mrd_status mrd__dump_slices(const mrd__store *store, mrd__plain *plain, mrd_error *error)
{
    uint32_t *order = mrd__by_rank(store->slices.order, store->slices.count);
    mrd_status status = MRD_OK;
    if (store->events != NULL) {
        status = merged_rows(store, order, plain, error);
    } else {
        for (uint64_t i = 0; i < store->slices.count && status == MRD_OK; i++)
            status = slice_row(store, plain, order[i], error);
    }
    mrd__free(order);
    return status;
}

/* ---- args ---- */

typedef struct args_ctx {
    mrd__plain *plain;
    uint64_t slice;
} args_ctx;

static mrd_status arg_row(void *ctx, const mrd__arg *arg, mrd_error *error)
{
    args_ctx *out = ctx;
    mrd__plain_uint(out->plain, out->slice);
    mrd__plain_text(out->plain, arg->key);
    mrd__plain_text(out->plain, mrd__str_of(mrd__arg_type_name(arg->type)));
    if (arg->type == MRD__ARG_STRING || arg->type == MRD__ARG_TEXT)
        mrd__plain_text(out->plain, arg->value);
    else
        mrd__plain_json(out->plain, arg->value);
    return mrd__plain_row(out->plain, error);
}

mrd_status mrd__dump_args(const mrd__store *store, mrd__plain *plain, mrd_error *error)
{
    uint32_t *order = mrd__by_rank(store->slices.order, store->slices.count);
    mrd__flat *flat = mrd__flat_create();
    args_ctx ctx = {.plain = plain};
    mrd_status status = MRD_OK;
    for (uint64_t i = 0; i < store->slices.count && status == MRD_OK; i++) {
        ctx.slice = order[i];
        mrd__args_ref ref = store->slices.args[ctx.slice];
        mrd__str text;
        if (ref == 0) continue;
        status = mrd__store_args(store, ref, &plain->args, &text, error);
        if (status == MRD_OK) status = mrd__args_flatten(flat, text, arg_row, &ctx, error);
    }
    mrd__flat_destroy(&flat);
    mrd__free(order);
    return status;
}
