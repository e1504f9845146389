/* A trace as Perfetto protobuf: one descriptor a lane, then its events in their own order.
 *
 *   process p        uuid 1 + p
 *   thread t         uuid 2^32 + t
 *   other lanes      uuid 2^40 + n, below their thread or process
 *
 * A row group that overlaps the rest of its lane is a lane of its own: begins and ends of one lane
 * are a stack in this format. A flow has its place in the store as id, given by the slice that it
 * starts in and taken by the one that it ends in; its names, its own id and the times of its ends
 * stand beside it in a field of ours, as do ids of processes and threads that are no int32. */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/json.h"
#include "export/convert.h"
#include "export/tables.h"
#include "export/wire.h"

#include <string.h>

#define FLUSH_BYTES 65536
#define PROCESS_UUID 1ull
#define THREAD_UUID (1ull << 32)
#define OTHER_UUID (1ull << 40)

/* Field numbers, as the format has them. */
enum {
    PACKET = 1,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_FLAGS = 13,
    PACKET_TRACK = 60,
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_THREAD = 4,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
    TRACK_MERGE = 15,
    MERGE_NONE = 2,
    PROCESS_PID = 1,
    PROCESS_SORT = 3,
    PROCESS_NAME = 6,
    PROCESS_LABELS = 8,
    THREAD_PID = 1,
    THREAD_TID = 2,
    THREAD_SORT = 3,
    THREAD_NAME = 5,
    COUNTER_UNIT = 6,
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_TRACK = 11,
    EVENT_CATEGORY = 22,
    EVENT_NAME = 23,
    EVENT_DOUBLE = 44,
    EVENT_FLOW = 47,
    EVENT_FLOW_END = 48,
    OWN_ID_TEXT = 20001, /* ours: readers that do not know them pass them over */
    OWN_ID_NUMBER = 20002,
    EVENT_ARROW = 20001,
    ARROW_PAIR = 1,
    ARROW_ENDS = 2,
    ARROW_DELTA = 3,
    ARROW_ID = 4,
    ARROW_NAME = 5,
    ARROW_CATEGORY = 6,
    TYPE_BEGIN = 1,
    TYPE_END = 2,
    TYPE_INSTANT = 3,
    TYPE_COUNTER = 4,
};

typedef struct writing {
    mrd__selection *selection;
    const mrd__store *store;
    const mrd_sink *sink;
    mrd__buf out, packet, part, inner, args;
    bool any;
    uint64_t others; /* lanes of their own so far */
    int64_t free;    /* numbers from here on are no process's and no thread's */
    int64_t *pids;   /* by process */
    uint64_t *uuids; /* by track: of lanes of their own, 0 others and those to come */
} writing;

static void end_packet(writing *w)
{
    mrd__wire_varint(&w->packet, PACKET_SEQUENCE, 1);
    if (!w->any) mrd__wire_varint(&w->packet, PACKET_FLAGS, 1);
    w->any = true;
    mrd__wire_bytes(&w->out, PACKET, (mrd__str){w->packet.data, w->packet.size});
    mrd__buf_clear(&w->packet);
}

static void put_string(writing *w, mrd__buf *out, unsigned field, mrd__str_id id)
{
    if (id != 0) mrd__wire_bytes(out, field, mrd__store_str(w->store, id));
}

/* All numbers of 32 bits from this one on are free: half of them are, in any trace that has fewer
 * processes and threads. */
static int64_t free_from(const mrd__store *store)
{
    int64_t above = INT32_MAX / 2;
    for (size_t p = 0; p < store->process_count; p++) {
        const mrd__ident *pid = &store->processes[p].pid;
        if (pid->kind == MRD__IDENT_NUMBER && pid->number >= above && pid->number <= INT32_MAX)
            above = pid->number + 1;
    }
    for (size_t t = 0; t < store->thread_count; t++) {
        const mrd__ident *tid = &store->threads[t].tid;
        if (tid->kind == MRD__IDENT_NUMBER && tid->number >= above && tid->number <= INT32_MAX)
            above = tid->number + 1;
    }
    bool room = above + (int64_t)store->process_count + (int64_t)store->thread_count <= INT32_MAX;
    return room ? above : INT32_MIN; /* numbers below zero are no process's */
}

static bool is_small(mrd__ident ident)
{
    return ident.kind == MRD__IDENT_NUMBER && ident.number == (int32_t)ident.number;
}

static int64_t number_of(mrd__ident ident, int64_t otherwise)
{
    return is_small(ident) ? ident.number : otherwise;
}

/* The id itself beside the number that stands for it. */
static void own_ident(writing *w, mrd__ident ident)
{
    if (is_small(ident)) return;
    if (ident.kind == MRD__IDENT_NUMBER)
        mrd__wire_varint(&w->inner, OWN_ID_NUMBER, (uint64_t)ident.number);
    else
        mrd__wire_bytes(&w->inner, OWN_ID_TEXT,
                        ident.kind == MRD__IDENT_TEXT ? mrd__store_str(w->store, ident.text)
                                                      : (mrd__str){0});
}

/* ---- Descriptors ---- */

static void track_packet(writing *w)
{
    mrd__wire_bytes(&w->packet, PACKET_TRACK, (mrd__str){w->part.data, w->part.size});
    mrd__buf_clear(&w->part);
    end_packet(w);
}

static void describe_process(writing *w, uint32_t p)
{
    const mrd__store *store = w->store;
    const mrd__process *process = &store->processes[p];
    mrd__buf_clear(&w->inner);
    mrd__wire_varint(&w->inner, PROCESS_PID, (uint64_t)w->pids[p]);
    own_ident(w, process->pid);
    /* What has no name is told of by its sort index; an id that serves as name is none. */
    if (process->sort_index != 0 || process->name_count == 0)
        mrd__wire_varint(&w->inner, PROCESS_SORT, (uint64_t)process->sort_index);
    if (process->name_count > 0) put_string(w, &w->inner, PROCESS_NAME, process->name);
    put_string(w, &w->inner, PROCESS_LABELS, process->labels);
    mrd__wire_varint(&w->part, TRACK_UUID, PROCESS_UUID + p);
    mrd__wire_bytes(&w->part, TRACK_PROCESS, (mrd__str){w->inner.data, w->inner.size});
    track_packet(w);
}

static void describe_thread(writing *w, uint32_t t)
{
    const mrd__store *store = w->store;
    const mrd__thread *thread = &store->threads[t];
    mrd__buf_clear(&w->inner);
    mrd__wire_varint(&w->inner, THREAD_PID, (uint64_t)w->pids[thread->process]);
    mrd__wire_varint(&w->inner, THREAD_TID,
                     (uint64_t)number_of(thread->tid, w->free + (int64_t)store->process_count + t));
    own_ident(w, thread->tid);
    if (thread->sort_index != 0 || thread->name == 0)
        mrd__wire_varint(&w->inner, THREAD_SORT, (uint64_t)thread->sort_index);
    put_string(w, &w->inner, THREAD_NAME, thread->name);
    mrd__wire_varint(&w->part, TRACK_UUID, THREAD_UUID + t);
    mrd__wire_varint(&w->part, TRACK_PARENT, PROCESS_UUID + thread->process);
    mrd__wire_bytes(&w->part, TRACK_THREAD, (mrd__str){w->inner.data, w->inner.size});
    track_packet(w);
}

/* Each process with its threads: a thread names its process by number, and means the latest that
 * was described by it. */
static void describe_owners(writing *w)
{
    uint32_t t = 0;
    for (uint32_t p = 0; p < w->store->process_count; p++) {
        describe_process(w, p);
        for (; t < w->store->thread_count && w->store->threads[t].process == p; t++)
            describe_thread(w, t);
    }
}

static uint64_t owner_uuid(const mrd__track *track)
{
    if (track->thread != MRD__NONE) return THREAD_UUID + track->thread;
    if (track->process != MRD__NONE) return PROCESS_UUID + track->process;
    return 0;
}

/* A lane of its own, described. */
static uint64_t other_lane(writing *w, const mrd__track *track)
{
    uint64_t uuid = OTHER_UUID + w->others++;
    mrd__wire_varint(&w->part, TRACK_UUID, uuid);
    put_string(w, &w->part, TRACK_NAME, track->name);
    uint64_t above = track->parent != MRD__NONE ? w->uuids[track->parent] : 0;
    if (above == 0) above = owner_uuid(track);
    if (above != 0) mrd__wire_varint(&w->part, TRACK_PARENT, above);
    if (w->uuids[track - w->store->tracks] == 0) w->uuids[track - w->store->tracks] = uuid;
    mrd__wire_varint(&w->part, TRACK_MERGE, MERGE_NONE);
    if (track->kind == MRD__TRACK_COUNTER) {
        mrd__buf_clear(&w->inner);
        put_string(w, &w->inner, COUNTER_UNIT, track->unit);
        mrd__wire_bytes(&w->part, TRACK_COUNTER, (mrd__str){w->inner.data, w->inner.size});
    }
    track_packet(w);
    return uuid;
}

/* The thread's or process's own lane, where this one is it. */
static uint64_t lane_of(writing *w, const mrd__track *track)
{
    const mrd__store *store = w->store;
    mrd__str_id owner = 0;
    if (track->thread != MRD__NONE)
        owner = store->threads[track->thread].name;
    else if (track->process != MRD__NONE)
        owner = store->processes[track->process].name;
    bool own = track->kind == MRD__TRACK_THREAD || track->kind == MRD__TRACK_INSTANT;
    if (own && owner_uuid(track) != 0 && track->name == owner) return owner_uuid(track);
    return other_lane(w, track);
}

/* ---- Events ---- */

static mrd_status begin_event(writing *w, unsigned type, uint64_t uuid, int64_t ns,
                              mrd_error *error)
{
    if (ns < 0)
        return mrd__fail(error, MRD_ERR_UNSUPPORTED, "negative_time",
                         "an event lies at %lld ns: Perfetto's format has no times below zero",
                         (long long)ns);
    mrd__wire_varint(&w->packet, PACKET_TIMESTAMP, (uint64_t)ns);
    mrd__wire_varint(&w->part, EVENT_TYPE, type);
    mrd__wire_varint(&w->part, EVENT_TRACK, uuid);
    return MRD_OK;
}

static mrd_status end_event(writing *w, mrd_error *error)
{
    mrd__wire_bytes(&w->packet, PACKET_EVENT, (mrd__str){w->part.data, w->part.size});
    mrd__buf_clear(&w->part);
    end_packet(w);
    return w->out.size < FLUSH_BYTES ? MRD_OK : mrd__buf_flush(&w->out, w->sink, error);
}

static mrd_status add_args(writing *w, mrd__args_ref ref, const char *crossed, mrd_error *error)
{
    mrd__str text;
    if (ref != 0) {
        MRD__TRY(mrd__store_args(w->store, ref, &w->args, &text, error));
        mrd__wire_annotations(&w->part, EVENT_ANNOTATION, text);
    }
    if (crossed != NULL)
        mrd__wire_annotation_text(&w->part, EVENT_ANNOTATION, MRD__STR("meridian_cut"),
                                  mrd__str_of(crossed));
    return MRD_OK;
}

/* One end of an arrow, with what the format has no place for. */
static void add_arrow(writing *w, uint32_t index, uint64_t slice, bool ends)
{
    const mrd__store *store = w->store;
    const mrd__flow *flow = &store->flows[index];
    int64_t at = mrd__store_absolute(store, ends ? flow->to_time : flow->from_time);
    int64_t delta = (int64_t)((uint64_t)at - (uint64_t)mrd__store_slice_start(store, slice));
    mrd__buf_clear(&w->inner);
    mrd__wire_varint(&w->inner, ARROW_PAIR, (uint64_t)index + 1);
    if (ends) mrd__wire_varint(&w->inner, ARROW_ENDS, 1);
    mrd__wire_varint(&w->inner, ARROW_DELTA, (uint64_t)delta << 1 ^ (uint64_t)(delta >> 63));
    put_string(w, &w->inner, ARROW_ID, flow->id);
    put_string(w, &w->inner, ARROW_NAME, flow->name);
    put_string(w, &w->inner, ARROW_CATEGORY, flow->category);
    mrd__wire_bytes(&w->part, EVENT_ARROW, (mrd__str){w->inner.data, w->inner.size});
    mrd__wire_fixed64(&w->part, ends ? EVENT_FLOW_END : EVENT_FLOW, (uint64_t)index + 1);
}

static void add_flows(writing *w, uint64_t slice)
{
    const mrd__store *store = w->store;
    size_t at = mrd__flow_lower(store, store->flow_by_from, true, slice);
    for (; at < store->flow_count && store->flows[store->flow_by_from[at]].from == slice; at++) {
        if (mrd__selects_flow(w->selection, &store->flows[store->flow_by_from[at]]))
            add_arrow(w, store->flow_by_from[at], slice, false);
    }
    at = mrd__flow_lower(store, store->flow_by_to, false, slice);
    for (; at < store->flow_count && store->flows[store->flow_by_to[at]].to == slice; at++) {
        if (mrd__selects_flow(w->selection, &store->flows[store->flow_by_to[at]]))
            add_arrow(w, store->flow_by_to[at], slice, true);
    }
}

static mrd_status slice_event(writing *w, uint64_t uuid, uint64_t slice, bool begins,
                              mrd_error *error)
{
    const mrd__store *store = w->store;
    const mrd__slices *slices = &store->slices;
    if (!begins && slices->flags[slice] & MRD__SLICE_UNCLOSED) return MRD_OK;
    int64_t ns = begins ? mrd__store_slice_start(store, slice) : mrd__store_slice_end(store, slice);
    MRD__TRY(begin_event(w, begins ? TYPE_BEGIN : TYPE_END, uuid, ns, error));
    if (begins) {
        put_string(w, &w->part, EVENT_NAME, slices->name[slice]);
        put_string(w, &w->part, EVENT_CATEGORY, slices->category[slice]);
        MRD__TRY(
            add_args(w, slices->args[slice], mrd__selection_crossed(w->selection, slice), error));
        add_flows(w, slice);
    }
    return end_event(w, error);
}

/* One stack of slices. */
static mrd_status write_group(writing *w, const mrd__track *track, bool first, uint64_t from,
                              uint64_t to, mrd_error *error)
{
    uint64_t uuid = 0;
    uint64_t slice;
    bool begins;
    mrd__nest nest;
    mrd__nest_begin(&nest, w->store, from, to - from);
    mrd_status status = MRD_OK;
    while (status == MRD_OK && mrd__nest_next(&nest, &slice, &begins)) {
        if (!mrd__selects_slice(w->selection, slice)) continue;
        if (uuid == 0) uuid = first ? lane_of(w, track) : other_lane(w, track);
        status = slice_event(w, uuid, slice, begins, error);
    }
    mrd__nest_reset(&nest);
    return status;
}

static mrd_status write_slices(writing *w, const mrd__track *track, mrd_error *error)
{
    const mrd__store *store = w->store;
    uint32_t end = track->first_row + track->row_count;
    for (uint32_t row = track->first_row; row < end;) {
        uint32_t next = row + 1;
        while (next < end && store->row_infos[next].depth > 0)
            next++;
        MRD__TRY(write_group(w, track, row == track->first_row, store->rows.first[row],
                             store->rows.first[next], error));
        row = next;
    }
    return MRD_OK;
}

/* ---- Async lanes ---- */

typedef struct stack_lane { /* a lane of the format that takes a part of an async one */
    uint64_t uuid;
    MRD__VEC(uint32_t) open;
} stack_lane;

typedef MRD__VEC(stack_lane) stack_lanes;

/* Where a slice stands: on its parent, where that is the last open one of its lane, else in the
 * first empty lane, else in a new one. */
static uint32_t lane_for(writing *w, const mrd__track *track, stack_lanes *lanes, uint32_t above,
                         uint32_t parent)
{
    if (above != MRD__NONE) {
        mrd__assert(lanes->data != NULL && above < lanes->count);
        const stack_lane *own = &lanes->data[above];
        if (own->open.count > 0 && own->open.data[own->open.count - 1] == parent) return above;
    }
    for (uint32_t l = 0; l < lanes->count; l++)
        if (lanes->data[l].open.count == 0) return l;
    mrd__vec_push(lanes, (stack_lane){.uuid = other_lane(w, track)});
    return (uint32_t)lanes->count - 1;
}

/* Async slices may overlap beside each other: as many stacks as that takes. */
static mrd_status write_async(writing *w, const mrd__track *track, mrd_error *error)
{
    uint32_t *lane_of_slice = mrd__new_array(uint32_t, track->count); /* + 1 */
    stack_lanes lanes = {0};
    mrd__nest nest;
    uint64_t slice;
    bool begins;
    mrd_status status = MRD_OK;
    mrd__nest_begin(&nest, w->store, track->first, track->count);
    while (status == MRD_OK && mrd__nest_next(&nest, &slice, &begins)) {
        if (!mrd__selects_slice(w->selection, slice)) continue;
        uint32_t *own = &lane_of_slice[slice - track->first];
        if (begins) {
            uint32_t parent = w->store->slices.parent[slice];
            uint32_t above = parent == MRD__NONE ? 0 : lane_of_slice[parent - track->first];
            *own = lane_for(w, track, &lanes, above == 0 ? MRD__NONE : above - 1, parent) + 1;
            mrd__vec_push(&lanes.data[*own - 1].open, (uint32_t)slice);
        } else {
            lanes.data[*own - 1].open.count--;
        }
        status = slice_event(w, lanes.data[*own - 1].uuid, slice, begins, error);
    }
    mrd__nest_reset(&nest);
    for (size_t l = 0; l < lanes.count; l++)
        mrd__vec_reset(&lanes.data[l].open);
    mrd__vec_reset(&lanes);
    mrd__free(lane_of_slice);
    return status;
}

static mrd_status write_points(writing *w, uint32_t id, mrd_error *error)
{
    const mrd__store *store = w->store;
    const mrd__track *track = &store->tracks[id];
    bool counter = track->kind == MRD__TRACK_COUNTER;
    uint64_t uuid = 0;
    for (uint64_t i = track->first; i < track->first + track->count; i++) {
        bool kept = counter ? mrd__selects_sample(w->selection, id, i)
                            : mrd__selects_instant(w->selection, id, i);
        if (!kept) continue;
        if (uuid == 0) uuid = lane_of(w, track);
        int64_t ns =
            counter ? mrd__store_counter_time(store, i) : mrd__store_instant_time(store, i);
        MRD__TRY(begin_event(w, counter ? TYPE_COUNTER : TYPE_INSTANT, uuid, ns, error));
        if (counter) {
            mrd__wire_double(&w->part, EVENT_DOUBLE, store->counters.value[i]);
        } else {
            put_string(w, &w->part, EVENT_NAME, store->instants.name[i]);
            put_string(w, &w->part, EVENT_CATEGORY, store->instants.category[i]);
            MRD__TRY(add_args(w, store->instants.args[i], NULL, error));
        }
        MRD__TRY(end_event(w, error));
    }
    return MRD_OK;
}

static mrd_status write_all(writing *w, mrd_error *error)
{
    describe_owners(w);
    if (!w->any) end_packet(w); /* an empty trace is one packet: a file of none is no trace */
    for (uint32_t t = 0; t < w->store->track_count; t++) {
        const mrd__track *track = &w->store->tracks[t];
        if (track->event_key != MRD__NONE) continue;
        if (track->count == 0) { /* others may stand below it */
            if (track->kind == MRD__TRACK_ASYNC) (void)other_lane(w, track);
            continue;
        }
        if (track->kind == MRD__TRACK_COUNTER || track->kind == MRD__TRACK_INSTANT)
            MRD__TRY(write_points(w, t, error));
        else if (track->kind == MRD__TRACK_ASYNC)
            MRD__TRY(write_async(w, track, error));
        else
            MRD__TRY(write_slices(w, track, error));
    }
    return w->out.size > 0 ? mrd__buf_flush(&w->out, w->sink, error) : MRD_OK;
}

mrd_status mrd__convert_proto(mrd__selection *selection, const mrd_sink *sink, mrd_error *error)
{
    writing w = {.selection = selection, .store = selection->store, .sink = sink};
    w.free = free_from(w.store);
    w.uuids = mrd__new_array(uint64_t, w.store->track_count);
    w.pids = mrd__new_array(int64_t, w.store->process_count);
    for (size_t p = 0; p < w.store->process_count; p++)
        w.pids[p] = number_of(w.store->processes[p].pid, w.free + (int64_t)p);
    mrd_status status = write_all(&w, error);
    mrd__free(w.pids);
    mrd__free(w.uuids);
    mrd__buf *const all[] = {&w.out, &w.packet, &w.part, &w.inner, &w.args};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        mrd__buf_reset(all[i]);
    return status;
}
