/* A trace as Perfetto protobuf: one descriptor a lane, then its events in their own order.
 *
 *   process p        uuid 1 + p
 *   thread t         uuid 2^32 + t
 *   other lanes      uuid 2^40 + n, below their thread or process
 *
 * A row group that overlaps the rest of its lane is a lane of its own: begins and ends of one lane
 * are a stack in this format. A flow has its place in the store as id, given by the slice that it
 * starts in and taken by the one that it ends in. */
#include "base/alloc.h"
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

static int64_t number_of(mrd__ident ident, uint32_t otherwise)
{
    return ident.kind == MRD__IDENT_NUMBER ? ident.number : otherwise;
}

/* ---- Descriptors ---- */

static void track_packet(writing *w)
{
    mrd__wire_bytes(&w->packet, PACKET_TRACK, (mrd__str){w->part.data, w->part.size});
    mrd__buf_clear(&w->part);
    end_packet(w);
}

static void describe_owners(writing *w)
{
    const mrd__store *store = w->store;
    for (uint32_t p = 0; p < store->process_count; p++) {
        const mrd__process *process = &store->processes[p];
        mrd__buf_clear(&w->inner);
        mrd__wire_varint(&w->inner, PROCESS_PID, (uint64_t)number_of(process->pid, p));
        if (process->sort_index != 0)
            mrd__wire_varint(&w->inner, PROCESS_SORT, (uint64_t)process->sort_index);
        put_string(w, &w->inner, PROCESS_NAME, process->name);
        put_string(w, &w->inner, PROCESS_LABELS, process->labels);
        mrd__wire_varint(&w->part, TRACK_UUID, PROCESS_UUID + p);
        mrd__wire_bytes(&w->part, TRACK_PROCESS, (mrd__str){w->inner.data, w->inner.size});
        track_packet(w);
    }
    for (uint32_t t = 0; t < store->thread_count; t++) {
        const mrd__thread *thread = &store->threads[t];
        mrd__ident pid = store->processes[thread->process].pid;
        mrd__buf_clear(&w->inner);
        mrd__wire_varint(&w->inner, THREAD_PID, (uint64_t)number_of(pid, thread->process));
        mrd__wire_varint(&w->inner, THREAD_TID, (uint64_t)number_of(thread->tid, t));
        if (thread->sort_index != 0)
            mrd__wire_varint(&w->inner, THREAD_SORT, (uint64_t)thread->sort_index);
        put_string(w, &w->inner, THREAD_NAME, thread->name);
        mrd__wire_varint(&w->part, TRACK_UUID, THREAD_UUID + t);
        mrd__wire_varint(&w->part, TRACK_PARENT, PROCESS_UUID + thread->process);
        mrd__wire_bytes(&w->part, TRACK_THREAD, (mrd__str){w->inner.data, w->inner.size});
        track_packet(w);
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
    if (owner_uuid(track) != 0) mrd__wire_varint(&w->part, TRACK_PARENT, owner_uuid(track));
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

static void add_flows(writing *w, uint64_t slice)
{
    const mrd__store *store = w->store;
    size_t at = mrd__flow_lower(store, store->flow_by_from, true, slice);
    for (; at < store->flow_count && store->flows[store->flow_by_from[at]].from == slice; at++) {
        if (mrd__selects_flow(w->selection, &store->flows[store->flow_by_from[at]]))
            mrd__wire_fixed64(&w->part, EVENT_FLOW, store->flow_by_from[at] + 1);
    }
    at = mrd__flow_lower(store, store->flow_by_to, false, slice);
    for (; at < store->flow_count && store->flows[store->flow_by_to[at]].to == slice; at++) {
        if (mrd__selects_flow(w->selection, &store->flows[store->flow_by_to[at]]))
            mrd__wire_fixed64(&w->part, EVENT_FLOW_END, store->flow_by_to[at] + 1);
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
        if (track->event_key != MRD__NONE || track->count == 0) continue;
        if (track->kind == MRD__TRACK_COUNTER || track->kind == MRD__TRACK_INSTANT)
            MRD__TRY(write_points(w, t, error));
        else
            MRD__TRY(write_slices(w, track, error));
    }
    return w->out.size > 0 ? mrd__buf_flush(&w->out, w->sink, error) : MRD_OK;
}

mrd_status mrd__convert_proto(mrd__selection *selection, const mrd_sink *sink, mrd_error *error)
{
    writing w = {.selection = selection, .store = selection->store, .sink = sink};
    mrd_status status = write_all(&w, error);
    mrd__buf *const all[] = {&w.out, &w.packet, &w.part, &w.inner, &w.args};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        mrd__buf_reset(all[i]);
    return status;
}
