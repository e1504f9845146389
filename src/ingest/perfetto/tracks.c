/* Tracks: descriptors, parents, and the local track or thread that stands for a uuid. */
#include "ingest/perfetto/state.h"

#include <string.h>

mrd__pf_track *mrd__pf_track_of(mrd__pf *pf, uint64_t uuid)
{
    uint32_t *index = mrd__pf_map_at(&pf->map, MRD__PF_TRACK, pf->machine, uuid);
    if (*index == 0) {
        mrd__pf_track track = {.uuid = uuid,
                               .local = MRD__NONE,
                               .process = MRD__NONE,
                               .thread = MRD__NONE,
                               .multiplier = 1};
        if (uuid == 0) track.name = mrd__pf_literal(pf, "Default Track");
        mrd__vec_push(&pf->tracks, track);
        *index = (uint32_t)pf->tracks.count;
    }
    return &pf->tracks.data[*index - 1];
}

static bool is_known(const mrd__pf *pf, uint64_t uuid)
{
    return mrd__pf_map_find(&pf->map, MRD__PF_TRACK, pf->machine, uuid) != 0;
}

/* ---- Local tracks ---- */

/* depth: tracks below this one that are being resolved. */
static uint32_t resolve(mrd__pf *pf, uint64_t uuid, unsigned depth)
{
    mrd__pf_track *track = mrd__pf_track_of(pf, uuid);
    if (track->local != MRD__NONE) return track->local;
    if (track->thread != MRD__NONE) return track->local = pf->threads.data[track->thread].local;
    uint32_t local = mrd__shard_track(pf->shard);
    mrd__track_spec spec = {.owner = MRD__NONE,
                            .parent = MRD__NONE,
                            .name = track->name,
                            .unit = track->unit,
                            .machine = pf->machine};
    uint64_t parent = track->parent_uuid;
    track->resolving = true;
    if (track->process != MRD__NONE) {
        spec.owner = pf->processes.data[track->process].local;
    } else if (parent != 0 && is_known(pf, parent)) {
        if (depth < MRD__PF_MAX_PARENTS && !mrd__pf_track_of(pf, parent)->resolving) {
            uint32_t above = resolve(pf, parent, depth + 1);
            if (mrd__pf_track_of(pf, parent)->thread != MRD__NONE) {
                spec.owner = above;
            } else {
                spec.owner = mrd__shard_track_spec(pf->shard, above)->owner;
                spec.parent = above;
            }
        } else {
            mrd__pf_loss(pf, MRD__LOSS_TRACK_CONFLICT, "parents in a circle, or too many");
        }
    }
    *mrd__shard_track_spec(pf->shard, local) = spec;
    track = mrd__pf_track_of(pf, uuid);
    track->resolving = false;
    return track->local = local;
}

uint32_t mrd__pf_track_local(mrd__pf *pf, uint64_t uuid)
{
    return resolve(pf, uuid, 0);
}

uint32_t mrd__pf_own_track(mrd__pf *pf, uint32_t owner, uint64_t key, const char *name,
                           const char *unit)
{
    uint32_t *index = mrd__pf_map_at(&pf->map, MRD__PF_OWN_TRACK, owner, key);
    if (*index == 0) {
        uint32_t local = mrd__shard_track(pf->shard);
        *index = local + 1;
        mrd__track_spec spec = {.owner = owner, .parent = MRD__NONE, .machine = pf->machine};
        spec.name = mrd__pf_literal(pf, name);
        spec.unit = mrd__pf_literal(pf, unit);
        *mrd__shard_track_spec(pf->shard, local) = spec;
        return local;
    }
    return *index - 1;
}

/* ---- Descriptors ---- */

typedef struct described { /* what a process or thread descriptor says */
    int64_t pid, tid, sort_index;
    uint32_t name, cmdline, labels;
    bool has_pid, has_tid, has_sort, has_ident;
    mrd__ident ident; /* what stands for the number */
} described;

/* An id that is no int32, as this program writes it. False: another field. */
static bool read_ident(mrd__pf *pf, described *d, const mrd__pb_field *f)
{
    if (f->key == PB_BYTES(OWN_ID_TEXT)) {
        d->ident = (mrd__ident){.kind = f->bytes.size > 0 ? MRD__IDENT_TEXT : MRD__IDENT_NONE,
                                .text = mrd__pf_string(pf, f->bytes)};
    } else if (f->key == PB_VARINT(OWN_ID_NUMBER)) {
        d->ident = (mrd__ident){.kind = MRD__IDENT_NUMBER, .number = mrd__pb_int(f->value)};
    } else {
        return false;
    }
    return d->has_ident = true;
}

static described read_process(mrd__pf *pf, mrd__str message)
{
    described d = {0};
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        switch (f.key) {
        case PB_VARINT(PROCESS_PID):
            d.pid = (int32_t)f.value;
            d.has_pid = true;
            break;
        case PB_BYTES(PROCESS_CMDLINE):
            if (d.cmdline == 0) d.cmdline = mrd__pf_string(pf, f.bytes);
            break;
        case PB_VARINT(PROCESS_SORT_INDEX):
            d.sort_index = (int32_t)f.value;
            d.has_sort = true;
            break;
        case PB_BYTES(PROCESS_NAME):
            d.name = mrd__pf_string(pf, f.bytes);
            break;
        case PB_BYTES(PROCESS_LABELS):
            if (d.labels == 0) d.labels = mrd__pf_string(pf, f.bytes);
            break;
        default:
            (void)read_ident(pf, &d, &f);
            break;
        }
    }
    return d;
}

static described read_thread(mrd__pf *pf, mrd__str message)
{
    described d = {0};
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        switch (f.key) {
        case PB_VARINT(THREAD_PID):
            d.pid = (int32_t)f.value;
            d.has_pid = true;
            break;
        case PB_VARINT(THREAD_TID):
            d.tid = mrd__pb_int(f.value);
            d.has_tid = true;
            break;
        case PB_VARINT(THREAD_SORT_INDEX):
            d.sort_index = (int32_t)f.value;
            d.has_sort = true;
            break;
        case PB_BYTES(THREAD_NAME):
            d.name = mrd__pf_string(pf, f.bytes);
            break;
        default:
            (void)read_ident(pf, &d, &f);
            break;
        }
    }
    return d;
}

/* The first name of a process counts, as in the original (writers describe it again with its
 * command line); the last one of a thread. */
static void apply(mrd__pf_lane *lane, const described *d, bool process)
{
    mrd__pf_name_lane(lane, MRD__PF_NAME_CMDLINE, d->cmdline);
    if (!process || lane->rank < MRD__PF_NAME_DESCRIPTOR)
        mrd__pf_name_lane(lane, MRD__PF_NAME_DESCRIPTOR, d->name);
    if (d->labels != 0) lane->labels = d->labels;
    if (!d->has_sort) return;
    lane->has_sort = true;
    lane->sort_index = d->sort_index;
}

/* Another uuid for a number that a descriptor stands for already: the number is used again. */
static bool used_again(mrd__pf_lane *lane, uint64_t uuid)
{
    if (lane->described && lane->uuid != uuid) return true;
    lane->described = true;
    lane->uuid = uuid;
    return false;
}

static void be_process(mrd__pf *pf, uint32_t machine, mrd__pf_track *track, mrd__str message)
{
    described d = read_process(pf, message);
    if (!d.has_pid) return;
    if (track->process == MRD__NONE) {
        track->process = mrd__pf_process(pf, machine, d.pid);
        if (used_again(&pf->processes.data[track->process], track->uuid)) {
            track->process = mrd__pf_next_process(pf, machine, d.pid);
            used_again(&pf->processes.data[track->process], track->uuid);
        }
        if (d.has_ident) mrd__pf_reident_process(pf, machine, track->process, d.ident);
    } else if (pf->processes.data[track->process].ident.number != d.pid) {
        mrd__pf_loss(pf, MRD__LOSS_TRACK_CONFLICT, "another process");
        return;
    }
    apply(&pf->processes.data[track->process], &d, true);
}

static void be_thread(mrd__pf *pf, uint32_t machine, mrd__pf_track *track, mrd__str message)
{
    described d = read_thread(pf, message);
    if (!d.has_pid || !d.has_tid) return;
    if (track->thread == MRD__NONE) {
        uint32_t process = mrd__pf_process(pf, machine, d.pid);
        track->thread = mrd__pf_thread(pf, process, d.tid);
        if (used_again(&pf->threads.data[track->thread], track->uuid)) {
            track->thread = mrd__pf_next_thread(pf, process, d.tid);
            used_again(&pf->threads.data[track->thread], track->uuid);
        }
        if (d.has_ident) mrd__pf_reident_thread(pf, track->thread, d.ident);
        mrd__pf_set_tgid(pf, machine, d.tid, d.pid);
    } else if (pf->threads.data[track->thread].ident.number != d.tid) {
        mrd__pf_loss(pf, MRD__LOSS_TRACK_CONFLICT, "another thread");
        return;
    }
    apply(&pf->threads.data[track->thread], &d, false);
}

static void be_counter(mrd__pf *pf, mrd__pf_track *track, mrd__str message)
{
    static const char *const units[] = {"", "ns", "count", "bytes"};
    mrd__pb at = mrd__pb_of(message);
    uint64_t unit = 0;
    uint32_t unit_name = 0;
    track->counter = true;
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        switch (f.key) {
        case PB_VARINT(COUNTER_TYPE):
            track->time_type = f.value == 1;
            track->count_type = f.value == 2;
            break;
        case PB_VARINT(COUNTER_UNIT):
            unit = f.value;
            break;
        case PB_VARINT(COUNTER_MULTIPLIER):
            if (f.value != 0) track->multiplier = mrd__pb_int(f.value);
            break;
        case PB_VARINT(COUNTER_INCREMENTAL):
            track->incremental = f.value != 0;
            break;
        case PB_BYTES(COUNTER_UNIT_NAME):
            unit_name = mrd__pf_string(pf, f.bytes);
            break;
        default:
            break;
        }
    }
    if (unit == 0 && track->time_type) unit = 1;
    track->unit = unit_name != 0                        ? unit_name
                  : unit < sizeof units / sizeof *units ? mrd__pf_literal(pf, units[unit])
                                                        : 0;
    if (track->name == 0 && track->time_type) track->name = mrd__pf_literal(pf, "thread_time");
    if (track->name == 0 && track->count_type)
        track->name = mrd__pf_literal(pf, "thread_instruction_count");
}

typedef struct descriptor {
    uint64_t uuid, parent, merge;
    uint32_t name;
    bool has_uuid, has_parent, has_counter;
    mrd__str process, thread, counter;
} descriptor;

static descriptor read_descriptor(mrd__pf *pf, mrd__str message)
{
    descriptor d = {0};
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        switch (f.key) {
        case PB_VARINT(TRACK_UUID):
            d.uuid = f.value;
            d.has_uuid = true;
            break;
        case PB_VARINT(TRACK_PARENT_UUID):
            d.parent = f.value;
            d.has_parent = true;
            break;
        case PB_VARINT(TRACK_MERGE_BEHAVIOR):
            d.merge = f.value;
            break;
        case PB_BYTES(TRACK_NAME):
        case PB_BYTES(TRACK_STATIC_NAME):
        case PB_BYTES(TRACK_ATRACE_NAME):
            d.name = mrd__pf_string(pf, f.bytes);
            break;
        case PB_BYTES(TRACK_PROCESS):
            d.process = f.bytes;
            break;
        case PB_BYTES(TRACK_THREAD):
            d.thread = f.bytes;
            break;
        case PB_BYTES(TRACK_COUNTER):
            d.counter = f.bytes;
            d.has_counter = true;
            break;
        default:
            break;
        }
    }
    if (at.bad) mrd__pf_loss(pf, MRD__LOSS_BAD_PACKET, "track descriptor");
    return d;
}

void mrd__pf_describe_track(mrd__pf *pf, const mrd__pf_packet *packet, mrd__str message)
{
    descriptor d = read_descriptor(pf, message);
    if (!d.has_uuid) {
        mrd__pf_loss(pf, MRD__LOSS_BAD_PACKET, "track descriptor without uuid");
        return;
    }
    mrd__pf_track *track = mrd__pf_track_of(pf, d.uuid);
    if (!track->described)
        track->parent_uuid = d.parent;
    else if (d.has_parent && track->parent_uuid != d.parent)
        mrd__pf_loss(pf, MRD__LOSS_TRACK_CONFLICT, "another parent");
    track->described = true;
    if (d.merge == MERGE_NONE) track->keeps_last_name = true;
    if (d.name != 0 && (track->name == 0 || track->keeps_last_name)) track->name = d.name;
    if (d.thread.size > 0) {
        be_thread(pf, packet->machine, track, d.thread);
    } else if (d.process.size > 0) {
        be_process(pf, packet->machine, track, d.process);
    } else if (d.has_counter && !track->counter) {
        be_counter(pf, track, d.counter);
    }
}

void mrd__pf_describe_process(mrd__pf *pf, const mrd__pf_packet *packet, mrd__str message)
{
    described d = read_process(pf, message);
    if (!d.has_pid) return;
    uint32_t process = mrd__pf_process(pf, packet->machine, d.pid);
    apply(&pf->processes.data[process], &d, true);
}

void mrd__pf_describe_thread(mrd__pf *pf, const mrd__pf_packet *packet, mrd__str message)
{
    described d = read_thread(pf, message);
    if (!d.has_pid || !d.has_tid) return;
    uint32_t process = mrd__pf_process(pf, packet->machine, d.pid);
    mrd__pf_set_tgid(pf, packet->machine, d.tid, d.pid);
    uint32_t thread = mrd__pf_thread(pf, process, d.tid);
    apply(&pf->threads.data[thread], &d, false);
}

void mrd__pf_sequence_thread(mrd__pf *pf, mrd__pf_sequence *sequence, mrd__str message)
{
    described d = read_thread(pf, message);
    if (!d.has_pid || !d.has_tid) return;
    sequence->has_thread = true;
    sequence->pid = d.pid;
    sequence->tid = d.tid;
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        if (f.key == PB_VARINT(THREAD_REFERENCE_US)) sequence->reference_us = mrd__pb_int(f.value);
        if (f.key == PB_VARINT(THREAD_REFERENCE_TIME_US))
            sequence->thread_time_us = mrd__pb_int(f.value);
        if (f.key == PB_VARINT(THREAD_REFERENCE_COUNT))
            sequence->instructions = mrd__pb_int(f.value);
    }
}
