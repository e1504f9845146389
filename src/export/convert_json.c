/* A trace as Chrome Trace Event JSON. What opens again holds the same slices, counters, flows and
 * args: complete events for what a thread did, begins without an end for open slices, b and e with
 * an id a lane for async ones, and the points of a flow directly behind the slice that they lie
 * in, so that the order in the file decides between slices that begin together.
 *
 * What it has no place for stands in the member "meridian" of an event, which other readers pass
 * over: that an async lane or a counter is a thread's, and arrows that points cannot tell.
 *
 * The format knows a process by its id alone: where two processes of a trace share one (two
 * machines, an id used again), the later ones get a text as id that tells them apart. */
#include "base/alloc.h"
#include "base/error.h"
#include "export/convert.h"
#include "export/tables.h"
#include "query/args_flat.h"

#include <stdlib.h>
#include <string.h>

#define FLUSH_BYTES 65536

typedef struct writing {
    mrd__selection *selection;
    const mrd__store *store;
    const mrd_sink *sink;
    mrd__buf out, args;
    bool any;
    bool has_whole; /* any of those */
    bool *whole;    /* by flow: arrows that points cannot tell, see is_whole */
    MRD__VEC(uint32_t)
    pairs;                   /* begun slices without length; their ends come behind what lies in
                                 them */
    uint32_t *async_numbers; /* how many async lanes before have the same id */
    uint32_t *process_numbers, *thread_numbers; /* how many before have the same id */
} writing;

static mrd_status flush(writing *w, size_t limit, mrd_error *error)
{
    return w->out.size < limit ? MRD_OK : mrd__buf_flush(&w->out, w->sink, error);
}

/* ---- Pieces of an event ---- */

static void begin_event(writing *w, const char *phase)
{
    mrd__buf_printf(&w->out, "%s{\"ph\":\"%s\"", w->any ? ",\n" : "\n", phase);
    w->any = true;
}

static void add_text(writing *w, const char *key, mrd__str text)
{
    mrd__buf_printf(&w->out, ",\"%s\":", key);
    mrd__buf_json_string(&w->out, text);
}

static void add_string(writing *w, const char *key, mrd__str_id id)
{
    if (id != 0) add_text(w, key, mrd__store_str(w->store, id));
}

/* Microseconds with all their digits. */
static void add_time(writing *w, const char *key, int64_t ns)
{
    uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
    mrd__buf_printf(&w->out, ",\"%s\":%s%llu.%03llu", key, ns < 0 ? "-" : "",
                    (unsigned long long)(size / 1000), (unsigned long long)(size % 1000));
}

static bool same_ident(const mrd__ident *a, const mrd__ident *b)
{
    return a->kind == b->kind && a->number == b->number && a->text == b->text;
}

/* How many processes before this one have its id. */
static uint32_t process_number(const mrd__store *store, uint32_t process)
{
    uint32_t before = 0;
    for (uint32_t p = 0; p < process; p++)
        before += same_ident(&store->processes[p].pid, &store->processes[process].pid);
    return before;
}

static uint32_t thread_number(const mrd__store *store, uint32_t thread)
{
    uint32_t before = 0;
    for (uint32_t t = thread; t-- > 0;) {
        if (store->threads[t].process != store->threads[thread].process) break;
        before += same_ident(&store->threads[t].tid, &store->threads[thread].tid);
    }
    return before;
}

static void add_ident(writing *w, const char *key, mrd__ident ident, uint32_t number)
{
    mrd__buf text = {0};
    if (ident.kind == MRD__IDENT_NONE) return;
    if (ident.kind == MRD__IDENT_NUMBER)
        mrd__buf_int(&text, ident.number);
    else
        mrd__buf_str(&text, mrd__store_str(w->store, ident.text));
    if (number > 0) mrd__buf_printf(&text, " (%u)", number + 1);
    if (ident.kind == MRD__IDENT_NUMBER && number == 0)
        mrd__buf_printf(&w->out, ",\"%s\":%s", key, text.data);
    else
        add_text(w, key, (mrd__str){text.data, text.size});
    mrd__buf_reset(&text);
}

static void add_owner(writing *w, uint32_t process, uint32_t thread)
{
    const mrd__store *store = w->store;
    if (process != MRD__NONE)
        add_ident(w, "pid", store->processes[process].pid, w->process_numbers[process]);
    if (thread != MRD__NONE)
        add_ident(w, "tid", store->threads[thread].tid, w->thread_numbers[thread]);
}

/* Args as they stand, and which edges of the cut the slice crosses. */
static mrd_status add_args(writing *w, mrd__args_ref ref, const char *crossed, mrd_error *error)
{
    mrd__str text = {0};
    if (ref != 0) MRD__TRY(mrd__store_args(w->store, ref, &w->args, &text, error));
    if (text.size == 0 && crossed == NULL) return MRD_OK;
    mrd__buf_text(&w->out, ",\"args\":");
    size_t at = w->out.size;
    if (text.size > 0)
        mrd__args_compact(&w->out, text);
    else
        mrd__buf_text(&w->out, "{}");
    if (crossed == NULL) return MRD_OK;
    w->out.size--;
    mrd__buf_printf(&w->out, "%s\"meridian_cut\":\"%s\"}", w->out.size > at + 1 ? "," : "",
                    crossed);
    return MRD_OK;
}

/* ---- Names ---- */

static void name_event(writing *w, const char *what, const char *key, uint32_t process,
                       uint32_t thread, mrd__str_id name, int64_t number)
{
    begin_event(w, "M");
    add_text(w, "name", mrd__str_of(what));
    add_owner(w, process, thread);
    mrd__buf_printf(&w->out, ",\"args\":{\"%s\":", key);
    if (name != 0)
        mrd__buf_json_string(&w->out, mrd__store_str(w->store, name));
    else
        mrd__buf_int(&w->out, number);
    mrd__buf_text(&w->out, "}}");
}

/* All names that were seen, the one that counts last. A process of which nothing is known is told
 * of all the same, by a sort index of 0. */
static void write_process(writing *w, uint32_t p)
{
    const mrd__store *store = w->store;
    const mrd__process *process = &store->processes[p];
    const mrd__str_id *names = store->process_names + process->name_first;
    uint32_t count = process->name_count;
    for (uint32_t n = 0; n < count; n++)
        name_event(w, "process_name", "name", p, MRD__NONE, names[n], 0);
    if (count > 0 && names[count - 1] != process->name)
        name_event(w, "process_name", "name", p, MRD__NONE, process->name, 0);
    if (process->labels != 0)
        name_event(w, "process_labels", "labels", p, MRD__NONE, process->labels, 0);
    if (process->sort_index != 0 || count == 0)
        name_event(w, "process_sort_index", "sort_index", p, MRD__NONE, 0, process->sort_index);
}

static mrd_status write_names(writing *w, mrd_error *error)
{
    const mrd__store *store = w->store;
    for (uint32_t p = 0; p < store->process_count; p++) {
        if (store->processes[p].pid.kind != MRD__IDENT_NONE) write_process(w, p);
        MRD__TRY(flush(w, FLUSH_BYTES, error));
    }
    for (uint32_t t = 0; t < store->thread_count; t++) {
        const mrd__thread *thread = &store->threads[t];
        if (thread->name != 0)
            name_event(w, "thread_name", "name", thread->process, t, thread->name, 0);
        if (thread->sort_index != 0 || thread->name == 0)
            name_event(w, "thread_sort_index", "sort_index", thread->process, t, 0,
                       thread->sort_index);
        MRD__TRY(flush(w, FLUSH_BYTES, error));
    }
    return MRD_OK;
}

/* Metadata is flat; a key with a dot in it is read as it is. What the format itself means by a key
 * is not told as one. */
static void write_metadata(writing *w)
{
    const mrd__store *store = w->store;
    for (size_t i = 0; i < store->metadata_count; i++) {
        const mrd__metadata *one = &store->metadata[i];
        mrd__str value = mrd__store_str(store, one->value);
        mrd__str key = mrd__store_str(store, one->key);
        if (mrd__str_is(key, "traceEvents") || mrd__str_is(key, "stackFrames")) continue;
        mrd__buf_text(&w->out, ",\n");
        mrd__buf_json_string(&w->out, key);
        mrd__buf_char(&w->out, ':');
        if (mrd__metadata_is_json(one, value))
            mrd__buf_str(&w->out, value);
        else
            mrd__buf_json_string(&w->out, value);
    }
}

/* ---- Flows ---- */

/* The time of a flow's point as it binds to its slice again: before the slice it waits for it (no
 * bp), behind its last moment it would miss it. */
static int64_t point_time(const mrd__store *store, uint64_t slice, double time, bool *enclosing)
{
    int64_t at = mrd__store_absolute(store, time);
    int64_t start = mrd__store_slice_start(store, slice);
    int64_t end = mrd__store_slice_end(store, slice);
    bool open = store->slices.flags[slice] & MRD__SLICE_UNCLOSED;
    *enclosing = at >= start;
    if (!open && at >= end && end > start) return end - 1;
    return at;
}

static uint32_t track_id_of(const mrd__store *store, uint64_t slice)
{
    return store->row_infos[mrd__store_row_of(store, slice)].track;
}

static const mrd__track *track_of(const mrd__store *store, uint64_t slice)
{
    return &store->tracks[track_id_of(store, slice)];
}

static bool same_flow(const mrd__flow *a, const mrd__flow *b)
{
    return a->id == b->id && a->name == b->name && a->category == b->category;
}

static void flow_event(writing *w, const char *phase, const mrd__flow *flow, uint64_t slice,
                       double time)
{
    const mrd__store *store = w->store;
    const mrd__track *track = track_of(store, slice);
    bool enclosing;
    int64_t at = point_time(store, slice, time, &enclosing);
    begin_event(w, phase);
    add_string(w, "cat", flow->category);
    add_string(w, "name", flow->name);
    add_text(w, "id", mrd__store_str(store, flow->id));
    add_owner(w, track->process, track->thread);
    add_time(w, "ts", at);
    mrd__buf_text(&w->out, phase[0] != 's' && enclosing ? ",\"bp\":\"e\"}" : "}");
}

/* Points lie on threads, and inside of slices: an arrow from or to an async slice, or from or to
 * the very end of one, is told by the slices themselves. */
static bool is_whole(const mrd__store *store, const mrd__flow *flow)
{
    bool enclosing;
    if (track_of(store, flow->from)->kind == MRD__TRACK_ASYNC ||
        track_of(store, flow->to)->kind == MRD__TRACK_ASYNC)
        return true;
    int64_t from = mrd__store_absolute(store, flow->from_time);
    int64_t to = mrd__store_absolute(store, flow->to_time);
    return point_time(store, flow->from, flow->from_time, &enclosing) != from ||
           point_time(store, flow->to, flow->to_time, &enclosing) != to;
}

/* Is it told by points? */
static bool has_points(writing *w, const mrd__flow *flow)
{
    return !w->whole[flow - w->store->flows] && mrd__selects_flow(w->selection, flow);
}

/* Does a flow of the same id begin where this one ends (onward), or end where it begins, at the
 * same time? */
static bool goes_on(writing *w, const mrd__flow *flow, bool onward)
{
    const mrd__store *store = w->store;
    const uint32_t *index = onward ? store->flow_by_from : store->flow_by_to;
    uint32_t slice = onward ? flow->to : flow->from;
    double time = onward ? flow->to_time : flow->from_time;
    for (size_t at = mrd__flow_lower(store, index, onward, slice); at < store->flow_count; at++) {
        const mrd__flow *next = &store->flows[index[at]];
        if ((onward ? next->from : next->to) != slice) return false;
        double own = onward ? next->from_time : next->to_time;
        if (own == time && same_flow(flow, next) && has_points(w, next)) return true;
    }
    return false;
}

/* bind_id of the first such arrow of the slice: the format has room for one, and ids alone join
 * these, so the arrow's place stands behind the id. */
static void add_bind_id(writing *w, uint32_t index, bool ends)
{
    mrd__buf id = {0};
    mrd__buf_str(&id, mrd__store_str(w->store, w->store->flows[index].id));
    mrd__buf_printf(&id, "#%u", index);
    add_text(w, "bind_id", (mrd__str){id.data, id.size});
    mrd__buf_text(&w->out, ends ? ",\"flow_in\":true" : ",\"flow_out\":true");
    mrd__buf_reset(&id);
}

/* One end of an arrow, whole. */
static void add_arrow(writing *w, uint32_t index, uint64_t slice, bool ends, bool first)
{
    const mrd__store *store = w->store;
    const mrd__flow *flow = &store->flows[index];
    int64_t at = mrd__store_absolute(store, ends ? flow->to_time : flow->from_time);
    int64_t delta = (int64_t)((uint64_t)at - (uint64_t)mrd__store_slice_start(store, slice));
    mrd__buf_printf(&w->out, "%s{\"pair\":%u", first ? "\"arrows\":[" : ",", index + 1);
    if (ends) mrd__buf_text(&w->out, ",\"ends\":true");
    mrd__buf_printf(&w->out, ",\"delta_ns\":%lld", (long long)delta);
    add_string(w, "id", flow->id);
    add_string(w, "name", flow->name);
    add_string(w, "cat", flow->category);
    mrd__buf_char(&w->out, '}');
}

/* What the format has no place for, in a member of ours: that the lane is the thread's, and all
 * arrows of the slice that it cannot tell. */
static void add_own(writing *w, uint64_t slice, bool thread)
{
    const mrd__store *store = w->store;
    bool any = false;
    for (int ends = 0; w->has_whole && ends < 2; ends++) {
        const uint32_t *index = ends ? store->flow_by_to : store->flow_by_from;
        size_t at = mrd__flow_lower(store, index, !ends, slice);
        for (; at < store->flow_count; at++) {
            const mrd__flow *flow = &store->flows[index[at]];
            if ((ends ? flow->to : flow->from) != slice) break;
            if (!w->whole[index[at]] || !mrd__selects_flow(w->selection, flow)) continue;
            if (!any) {
                add_bind_id(w, index[at], ends);
                mrd__buf_printf(&w->out, ",\"meridian\":{%s", thread ? "\"thread\":true," : "");
            }
            add_arrow(w, index[at], slice, ends, !any);
            any = true;
        }
    }
    if (any)
        mrd__buf_text(&w->out, "]}");
    else if (thread)
        mrd__buf_text(&w->out, ",\"meridian\":{\"thread\":true}");
}

/* The points that lie in this slice: where one flow ends and the next of its id begins it is a
 * step, told once. */
static void write_points(writing *w, uint64_t slice)
{
    const mrd__store *store = w->store;
    size_t in = mrd__flow_lower(store, store->flow_by_to, false, slice);
    for (; in < store->flow_count; in++) {
        const mrd__flow *flow = &store->flows[store->flow_by_to[in]];
        if (flow->to != slice) break;
        if (!has_points(w, flow)) continue;
        flow_event(w, goes_on(w, flow, true) ? "t" : "f", flow, slice, flow->to_time);
    }
    size_t out = mrd__flow_lower(store, store->flow_by_from, true, slice);
    for (; out < store->flow_count; out++) {
        const mrd__flow *flow = &store->flows[store->flow_by_from[out]];
        if (flow->from != slice) break;
        if (!has_points(w, flow)) continue;
        if (!goes_on(w, flow, false)) flow_event(w, "s", flow, slice, flow->from_time);
    }
}

/* ---- Slices ---- */

static void end_slice(writing *w, const mrd__track *track, int64_t at)
{
    begin_event(w, "E");
    add_owner(w, track->process, track->thread);
    add_time(w, "ts", at);
    mrd__buf_char(&w->out, '}');
}

/* End all pairs that the slice does not lie in; MRD__NONE: all. True: it lies in one. */
static bool end_pairs(writing *w, uint32_t slice)
{
    const mrd__store *store = w->store;
    uint32_t own = slice != MRD__NONE ? track_id_of(store, slice) : MRD__NONE;
    bool inside = false;
    size_t kept = w->pairs.count;
    for (size_t i = w->pairs.count; i-- > 0;) { /* inner ones first */
        uint32_t pair = w->pairs.data[i];
        uint32_t track = track_id_of(store, pair);
        int64_t at = mrd__store_slice_start(store, pair);
        bool now = slice != MRD__NONE && mrd__store_slice_start(store, slice) == at;
        if (now && (track != own || inside || store->slices.parent[slice] == pair)) {
            inside |= track == own;
            w->pairs.data[--kept] = pair;
        } else {
            end_slice(w, &store->tracks[track], at);
        }
    }
    size_t left = w->pairs.count - kept;
    if (left > 0) memmove(w->pairs.data, w->pairs.data + kept, left * sizeof(uint32_t));
    w->pairs.count = left;
    return inside;
}

static mrd_status write_slice(writing *w, uint64_t slice, const mrd__track *track, mrd_error *error)
{
    const mrd__slices *slices = &w->store->slices;
    int64_t start = mrd__store_slice_start(w->store, slice);
    bool open = slices->flags[slice] & MRD__SLICE_UNCLOSED;
    int64_t end = mrd__store_slice_end(w->store, slice);
    bool inside = w->pairs.count > 0 && end_pairs(w, (uint32_t)slice);
    bool pair = mrd__store_stands_before(w->store, slice) || (inside && !open && start == end);
    begin_event(w, open || pair ? "B" : "X");
    add_text(w, "name", mrd__store_str(w->store, slices->name[slice]));
    add_string(w, "cat", slices->category[slice]);
    add_owner(w, track->process, track->thread);
    add_time(w, "ts", start);
    if (!open && !pair) add_time(w, "dur", end - start);
    if (w->has_whole) add_own(w, slice, false);
    MRD__TRY(add_args(w, slices->args[slice], mrd__selection_crossed(w->selection, slice), error));
    mrd__buf_char(&w->out, '}');
    write_points(w, slice);
    if (pair) mrd__vec_push(&w->pairs, (uint32_t)slice);
    return flush(w, FLUSH_BYTES, error);
}

/* The id in the lane's name "category:id", or the whole name; with a number behind it where an
 * earlier lane has the same. */
static mrd__str id_in_name(const mrd__store *store, const mrd__track *track)
{
    mrd__str name = mrd__store_str(store, track->name);
    mrd__str category = {0};
    if (track->count > 0) category = mrd__store_str(store, store->slices.category[track->first]);
    bool begins = category.size > 0 && name.size > category.size + 1 &&
                  memcmp(name.data, category.data, category.size) == 0 &&
                  name.data[category.size] == ':';
    if (!begins) return name;
    return (mrd__str){name.data + category.size + 1, name.size - category.size - 1};
}

typedef struct async_id {
    mrd__str id;
    uint32_t track;
} async_id;

static int compare_async_ids(const void *left, const void *right)
{
    const async_id *a = left;
    const async_id *b = right;
    int by_id = mrd__str_compare(a->id, b->id);
    return by_id != 0 ? by_id : (a->track > b->track) - (a->track < b->track);
}

static void number_asyncs(writing *w)
{
    const mrd__store *store = w->store;
    async_id *all = mrd__new_array(async_id, store->track_count);
    size_t count = 0;
    for (uint32_t t = 0; t < store->track_count; t++) {
        const mrd__track *track = &store->tracks[t];
        if (track->kind == MRD__TRACK_ASYNC) all[count++] = (async_id){id_in_name(store, track), t};
    }
    if (count > 1) qsort(all, count, sizeof *all, compare_async_ids);
    for (size_t i = 1; i < count; i++) {
        if (mrd__str_compare(all[i - 1].id, all[i].id) == 0)
            w->async_numbers[all[i].track] = w->async_numbers[all[i - 1].track] + 1;
    }
    mrd__free(all);
}

static void add_async_id(writing *w, uint32_t track)
{
    mrd__buf id = {0};
    mrd__buf_str(&id, id_in_name(w->store, &w->store->tracks[track]));
    if (w->async_numbers[track] > 0) mrd__buf_printf(&id, "#%u", w->async_numbers[track] + 1);
    add_text(w, "id", (mrd__str){id.data, id.size});
    mrd__buf_reset(&id);
}

static mrd_status write_async_edge(writing *w, uint64_t slice, uint32_t track, bool begin,
                                   mrd_error *error)
{
    const mrd__store *store = w->store;
    const mrd__slices *slices = &store->slices;
    begin_event(w, begin ? "b" : "e");
    add_text(w, "name", mrd__store_str(store, slices->name[slice]));
    add_string(w, "cat", slices->category[slice]);
    add_async_id(w, track);
    add_owner(w, store->tracks[track].process, store->tracks[track].thread);
    add_time(w, "ts",
             begin ? mrd__store_slice_start(store, slice) : mrd__store_slice_end(store, slice));
    bool thread = store->tracks[track].thread != MRD__NONE;
    if (begin)
        add_own(w, slice, thread);
    else if (thread)
        mrd__buf_text(&w->out, ",\"meridian\":{\"thread\":true}");
    if (begin)
        MRD__TRY(
            add_args(w, slices->args[slice], mrd__selection_crossed(w->selection, slice), error));
    mrd__buf_char(&w->out, '}');
    return flush(w, FLUSH_BYTES, error);
}

/* Slices of an async lane, each begin with its end: what overlaps without nesting is matched by
 * name, as it was. */
static mrd_status write_async(writing *w, uint32_t id, mrd_error *error)
{
    const mrd__track *track = &w->store->tracks[id];
    mrd__nest nest;
    mrd__nest_begin(&nest, w->store, track->first, track->count);
    mrd_status status = MRD_OK;
    uint64_t slice;
    bool begins;
    while (status == MRD_OK && mrd__nest_next(&nest, &slice, &begins)) {
        bool open = w->store->slices.flags[slice] & MRD__SLICE_UNCLOSED;
        if ((begins || !open) && mrd__selects_slice(w->selection, slice))
            status = write_async_edge(w, slice, id, begins, error);
    }
    mrd__nest_reset(&nest);
    return status;
}

static mrd_status write_slices(writing *w, mrd_error *error)
{
    const mrd__store *store = w->store;
    uint32_t *order = mrd__by_rank(store->slices.order, store->slices.count);
    mrd_status status = MRD_OK;
    for (uint64_t i = 0; status == MRD_OK && i < store->slices.count; i++) {
        uint32_t slice = order[i];
        uint32_t track = store->row_infos[mrd__store_row_of(store, slice)].track;
        if (store->tracks[track].kind == MRD__TRACK_ASYNC) continue;
        if (mrd__selects_slice(w->selection, slice))
            status = write_slice(w, slice, &store->tracks[track], error);
    }
    mrd__free(order);
    (void)end_pairs(w, MRD__NONE);
    for (uint32_t t = 0; status == MRD_OK && t < store->track_count; t++) {
        if (store->tracks[t].kind == MRD__TRACK_ASYNC && store->tracks[t].count > 0)
            status = write_async(w, t, error);
    }
    return status;
}

/* ---- Points ---- */

static mrd_status write_instants(writing *w, uint32_t id, mrd_error *error)
{
    static const char scopes[] = "tpg";
    const mrd__store *store = w->store;
    const mrd__track *track = &store->tracks[id];
    for (uint64_t i = track->first; i < track->first + track->count; i++) {
        if (!mrd__selects_instant(w->selection, id, i)) continue;
        begin_event(w, "i");
        mrd__buf_printf(&w->out, ",\"s\":\"%c\"", scopes[track->scope]);
        add_text(w, "name", mrd__store_str(store, store->instants.name[i]));
        add_string(w, "cat", store->instants.category[i]);
        add_owner(w, track->process, track->thread);
        add_time(w, "ts", mrd__store_instant_time(store, i));
        MRD__TRY(add_args(w, store->instants.args[i], NULL, error));
        mrd__buf_char(&w->out, '}');
        MRD__TRY(flush(w, FLUSH_BYTES, error));
    }
    return MRD_OK;
}

static mrd_status write_samples(writing *w, uint32_t id, mrd_error *error)
{
    const mrd__store *store = w->store;
    const mrd__track *track = &store->tracks[id];
    mrd__str name = mrd__counter_name(store, track);
    for (uint64_t i = track->first; i < track->first + track->count; i++) {
        if (!mrd__selects_sample(w->selection, id, i)) continue;
        begin_event(w, "C");
        add_text(w, "name", name);
        add_owner(w, track->process, track->thread);
        add_time(w, "ts", mrd__store_counter_time(store, i));
        if (track->thread != MRD__NONE) mrd__buf_text(&w->out, ",\"meridian\":{\"thread\":true}");
        mrd__buf_text(&w->out, ",\"args\":{");
        mrd__buf_json_string(&w->out, mrd__store_str(store, track->series));
        mrd__buf_char(&w->out, ':');
        mrd__buf_json_double(&w->out, store->counters.value[i]);
        mrd__buf_text(&w->out, "}}");
        MRD__TRY(flush(w, FLUSH_BYTES, error));
    }
    return MRD_OK;
}

static mrd_status write_all(writing *w, mrd_error *error)
{
    mrd__buf_text(&w->out, "{\"traceEvents\":[");
    MRD__TRY(write_names(w, error));
    MRD__TRY(write_slices(w, error));
    for (uint32_t t = 0; t < w->store->track_count; t++) {
        const mrd__track *track = &w->store->tracks[t];
        if (track->event_key != MRD__NONE) continue;
        if (track->kind == MRD__TRACK_INSTANT) MRD__TRY(write_instants(w, t, error));
        if (track->kind == MRD__TRACK_COUNTER) MRD__TRY(write_samples(w, t, error));
    }
    mrd__buf_text(&w->out, "\n]");
    write_metadata(w);
    mrd__buf_text(&w->out, "}\n");
    return flush(w, 0, error);
}

mrd_status mrd__convert_json(mrd__selection *selection, const mrd_sink *sink, mrd_error *error)
{
    const mrd__store *store = selection->store;
    writing w = {.selection = selection,
                 .store = store,
                 .sink = sink,
                 .whole = mrd__new_array(bool, store->flow_count),
                 .process_numbers = mrd__new_array(uint32_t, store->process_count + 1),
                 .thread_numbers = mrd__new_array(uint32_t, store->thread_count + 1),
                 .async_numbers = mrd__new_array(uint32_t, store->track_count + 1)};
    number_asyncs(&w);
    for (size_t f = 0; f < store->flow_count; f++) {
        w.whole[f] = is_whole(store, &store->flows[f]);
        w.has_whole |= w.whole[f];
    }
    for (uint32_t p = 0; p < store->process_count; p++)
        w.process_numbers[p] = process_number(store, p);
    for (uint32_t t = 0; t < store->thread_count; t++)
        w.thread_numbers[t] = thread_number(store, t);
    mrd_status status = write_all(&w, error);
    mrd__free(w.whole);
    mrd__free(w.process_numbers);
    mrd__free(w.thread_numbers);
    mrd__free(w.async_numbers);
    mrd__buf_reset(&w.out);
    mrd__buf_reset(&w.args);
    mrd__vec_reset(&w.pairs);
    return status;
}
