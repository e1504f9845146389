/* Scheduling: switches and wakings become one lane a CPU, and the states of each thread.
 *
 *   switches, wakings          CPU 0    |- a ----|- b -|- a --|
 *   of all CPUs, by time  ->   a state  |Running |Sleep|R|Runn|
 */
#include "ingest/perfetto/state.h"

#include "base/alloc.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    BOOTTIME = 6,
    MONOTONIC_RAW = 5,
};

/* ---- Reading ---- */

static void keep(mrd__pf *pf, mrd__pf_sched one)
{
    one.order = (uint32_t)pf->sched.count;
    mrd__vec_push(&pf->sched, one);
}

static void read_switch(mrd__pf *pf, mrd__str message, mrd__pf_sched one)
{
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        switch (f.key) {
        case PB_VARINT(SWITCH_PREV_PID):
            one.prev_pid = (int32_t)f.value;
            break;
        case PB_VARINT(SWITCH_PREV_STATE):
            one.prev_state = mrd__pb_int(f.value);
            break;
        case PB_BYTES(SWITCH_NEXT_COMM):
            one.comm = mrd__pf_string(pf, f.bytes);
            break;
        case PB_VARINT(SWITCH_NEXT_PID):
            one.pid = (int32_t)f.value;
            break;
        case PB_VARINT(SWITCH_NEXT_PRIO):
            one.prio = (int32_t)f.value;
            break;
        default:
            break;
        }
    }
    keep(pf, one);
}

static void read_waking(mrd__pf *pf, mrd__str message, mrd__pf_sched one)
{
    one.waking = true;
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        if (f.key == PB_BYTES(WAKING_COMM)) one.comm = mrd__pf_string(pf, f.bytes);
        if (f.key == PB_VARINT(WAKING_PID)) one.pid = (int32_t)f.value;
    }
    keep(pf, one);
}

static void read_event(mrd__pf *pf, mrd__str message, mrd__pf_sched one)
{
    mrd__str switched = {0};
    mrd__str waking = {0};
    bool other = false;
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        if (f.key == PB_VARINT(FTRACE_TIMESTAMP))
            one.ts = mrd__pb_int(f.value);
        else if (f.key == PB_BYTES(FTRACE_SWITCH))
            switched = f.bytes;
        else if (f.key == PB_BYTES(FTRACE_WAKING))
            waking = f.bytes;
        else if ((f.key & 7) == 2)
            other = true;
    }
    if (switched.size > 0) {
        mrd__shard_count(pf->shard, 'X');
        read_switch(pf, switched, one);
    } else if (waking.size > 0) {
        mrd__shard_count(pf->shard, 'X');
        read_waking(pf, waking, one);
    } else if (other) {
        mrd__pf_loss(pf, MRD__LOSS_UNSUPPORTED_PACKET, "ftrace event of another kind");
    }
}

/* The columns of a compact bundle, walked side by side. */
typedef struct compact {
    mrd__pb switch_time, switch_state, switch_pid, switch_prio, switch_comm;
    mrd__pb waking_time, waking_pid, waking_comm;
    MRD__VEC(uint32_t) comms;
} compact;

static void read_columns(mrd__pf *pf, mrd__str message, compact *c)
{
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        if ((f.key & 7) != 2) continue;
        mrd__pb column = mrd__pb_of(f.bytes);
        switch (f.key >> 3) {
        case COMPACT_SWITCH_TIME:
            c->switch_time = column;
            break;
        case COMPACT_SWITCH_STATE:
            c->switch_state = column;
            break;
        case COMPACT_SWITCH_PID:
            c->switch_pid = column;
            break;
        case COMPACT_SWITCH_PRIO:
            c->switch_prio = column;
            break;
        case COMPACT_SWITCH_COMM:
            c->switch_comm = column;
            break;
        case COMPACT_WAKING_TIME:
            c->waking_time = column;
            break;
        case COMPACT_WAKING_PID:
            c->waking_pid = column;
            break;
        case COMPACT_WAKING_COMM:
            c->waking_comm = column;
            break;
        case COMPACT_TABLE: {
            uint32_t comm = mrd__pf_string(pf, f.bytes);
            mrd__vec_push(&c->comms, comm);
            break;
        }
        default:
            break;
        }
    }
}

static uint64_t next(mrd__pb *column)
{
    uint64_t value = 0;
    return mrd__pb_varint(column, &value) ? value : 0;
}

static uint32_t comm_at(const compact *c, uint64_t index)
{
    return index < c->comms.count ? c->comms.data[index] : 0;
}

static void read_compact(mrd__pf *pf, mrd__str message, mrd__pf_sched one)
{
    compact c;
    memset(&c, 0, sizeof c);
    read_columns(pf, message, &c);
    uint64_t step;
    uint64_t ts = 0;
    int32_t running = -1; /* what the switch before it left on this CPU */
    while (mrd__pb_varint(&c.switch_time, &step)) {
        mrd__pf_sched at = one;
        ts += step;
        at.ts = (int64_t)ts;
        at.prev_pid = running;
        at.prev_state = mrd__pb_int(next(&c.switch_state));
        at.pid = running = (int32_t)next(&c.switch_pid);
        at.prio = (int32_t)next(&c.switch_prio);
        at.comm = comm_at(&c, next(&c.switch_comm));
        mrd__shard_count(pf->shard, 'X');
        keep(pf, at);
    }
    ts = 0;
    while (mrd__pb_varint(&c.waking_time, &step)) {
        mrd__pf_sched at = one;
        ts += step;
        at.ts = (int64_t)ts;
        at.waking = true;
        at.pid = (int32_t)next(&c.waking_pid);
        at.comm = comm_at(&c, next(&c.waking_comm));
        mrd__shard_count(pf->shard, 'X');
        keep(pf, at);
    }
    mrd__vec_reset(&c.comms);
}

void mrd__pf_ftrace(mrd__pf *pf, const mrd__pf_packet *packet, mrd__str message)
{
    mrd__pf_sched one = {.machine = packet->machine, .clock_id = BOOTTIME};
    bool lost = false;
    uint64_t clock = 0;
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        if (f.key == PB_VARINT(BUNDLE_CPU)) one.cpu = (uint32_t)f.value;
        if (f.key == PB_VARINT(BUNDLE_LOST)) lost = f.value != 0;
        if (f.key == PB_VARINT(BUNDLE_CLOCK)) clock = f.value;
    }
    if (clock == FTRACE_CLOCK_MONO_RAW) one.clock_id = MONOTONIC_RAW;
    if (clock != 0 && clock != FTRACE_CLOCK_MONO_RAW) {
        mrd__pf_loss(pf, MRD__LOSS_UNSUPPORTED_PACKET, "ftrace on a clock of its own");
        return;
    }
    if (lost) mrd__pf_loss(pf, MRD__LOSS_PACKET_LOSS, "ftrace");
    at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        if (f.key == PB_BYTES(BUNDLE_EVENT)) read_event(pf, f.bytes, one);
        if (f.key == PB_BYTES(BUNDLE_COMPACT)) read_compact(pf, f.bytes, one);
    }
    if (at.bad) mrd__pf_loss(pf, MRD__LOSS_BAD_PACKET, "ftrace bundle");
}

/* ---- Writing ---- */

typedef struct running { /* an interval that is open: of a CPU or of a thread */
    bool open;
    int64_t since;
    int32_t pid, prio;
    uint32_t name, local;
} running;

typedef struct writing {
    mrd__pf *pf;
    mrd__pf_map index; /* CPUs and threads to running + 1 */
    MRD__VEC(running) all;
    uint32_t machine;
} writing;

static int compare_sched(const void *left, const void *right)
{
    const mrd__pf_sched *a = left;
    const mrd__pf_sched *b = right;
    if (a->machine != b->machine) return a->machine < b->machine ? -1 : 1;
    if (a->clock_id != b->clock_id) return a->clock_id < b->clock_id ? -1 : 1;
    if (a->ts != b->ts) return a->ts < b->ts ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Index of the CPU's or thread's interval; borrowed pointers end with the next call. */
static running *slot_of(writing *w, mrd__pf_kind kind, uint64_t key)
{
    uint32_t *index = mrd__pf_map_at(&w->index, kind, w->machine, key);
    if (*index == 0) {
        running fresh = {.local = MRD__NONE};
        mrd__vec_push(&w->all, fresh);
        *index = (uint32_t)w->all.count;
    }
    return &w->all.data[*index - 1];
}

static running *cpu_of(writing *w, uint32_t cpu)
{
    running *own = slot_of(w, MRD__PF_OWN_TRACK, cpu);
    if (own->local == MRD__NONE) {
        mrd__buf name = {0};
        mrd__buf_printf(&name, "CPU %" PRIu32, cpu);
        uint64_t key = (uint64_t)w->machine << 40 ^ 1ull << 63 ^ cpu;
        own->local = mrd__pf_own_track(w->pf, MRD__NONE, key, name.data, "");
        mrd__buf_reset(&name);
    }
    return own;
}

static running *thread_of(writing *w, int32_t pid)
{
    running *own = slot_of(w, MRD__PF_THREAD, (uint32_t)pid);
    if (own->local == MRD__NONE) {
        uint32_t thread = mrd__pf_thread_of_tid(w->pf, w->machine, pid);
        uint32_t owner = w->pf->threads.data[thread].local;
        own->local = mrd__pf_own_track(w->pf, owner, 'S', "state", "");
    }
    return own;
}

static const char *state_name(int64_t state)
{
    static const char *const names[] = {"Sleeping",    "Uninterruptible Sleep", "Stopped", "Traced",
                                        "Exit (Dead)", "Exit (Zombie)",         "Parked",  "Idle"};
    if ((state & 0xff) == 0) return (state & 0x100) != 0 ? "Runnable (Preempted)" : "Runnable";
    return names[__builtin_ctzll((unsigned long long)state)];
}

/* Times ascend; hostile ones wrap to a negative length, which is counted. */
static int64_t length(int64_t from, int64_t to)
{
    return (int64_t)((uint64_t)to - (uint64_t)from);
}

static void close_slot(mrd__pf *pf, running *own, int64_t ts)
{
    if (!own->open) return;
    own->open = false;
    mrd__fact *fact = mrd__pf_push(pf, MRD__COMPLETE, own->local, own->since);
    fact->dur = length(own->since, ts);
    fact->name = own->name;
}

static void open_slot(mrd__pf *pf, running *own, int64_t ts, uint32_t name)
{
    close_slot(pf, own, ts);
    own->open = true;
    own->since = ts;
    own->name = name;
}

/* A CPU's slice tells in its args what its name does not. */
static void close_cpu(mrd__pf *pf, running *own, int64_t ts, int64_t state)
{
    if (!own->open) return;
    own->open = false;
    mrd__buf_clear(&pf->json);
    mrd__buf_printf(&pf->json, "{\"tid\":%" PRId32 ",\"priority\":%" PRId32 ",", own->pid,
                    own->prio);
    mrd__buf_printf(&pf->json, "\"end_state\":\"%s\"}", state_name(state));
    uint64_t args = mrd__shard_own_args(pf->shard, pf->json.data, pf->json.size);
    mrd__fact *fact = mrd__pf_push(pf, MRD__COMPLETE, own->local, own->since);
    fact->dur = length(own->since, ts);
    fact->name = own->name;
    fact->args = args;
    fact->flags = MRD__ARGS_OWNED;
}

static void apply_switch(writing *w, const mrd__pf_sched *one)
{
    mrd__pf *pf = w->pf;
    running *cpu = cpu_of(w, one->cpu);
    int32_t prev = one->prev_pid >= 0 ? one->prev_pid : cpu->open ? cpu->pid : 0;
    close_cpu(pf, cpu, one->ts, one->prev_state);
    if (one->pid != 0) {
        open_slot(pf, cpu, one->ts, one->comm);
        cpu->pid = one->pid;
        cpu->prio = one->prio;
    }
    if (prev > 0)
        open_slot(pf, thread_of(w, prev), one->ts,
                  mrd__pf_literal(pf, state_name(one->prev_state)));
    if (one->pid > 0)
        open_slot(pf, thread_of(w, one->pid), one->ts, mrd__pf_literal(pf, "Running"));
}

static void apply_waking(writing *w, const mrd__pf_sched *one)
{
    if (one->pid <= 0) return;
    running *own = thread_of(w, one->pid);
    /* Who runs or is runnable already does not change by being woken. */
    uint32_t run = mrd__pf_literal(w->pf, "Running");
    uint32_t runnable = mrd__pf_literal(w->pf, "Runnable");
    uint32_t preempted = mrd__pf_literal(w->pf, "Runnable (Preempted)");
    if (own->open && (own->name == run || own->name == runnable || own->name == preempted)) return;
    open_slot(w->pf, own, one->ts, runnable);
}

/* What runs when a machine's events end, or its clock changes, was never closed. */
static void write_open(writing *w)
{
    for (size_t i = 0; i < w->all.count; i++) {
        running *own = &w->all.data[i];
        if (!own->open) continue;
        mrd__pf_push(w->pf, MRD__BEGIN, own->local, own->since)->name = own->name;
        own->open = false;
    }
}

void mrd__pf_write_sched(mrd__pf *pf)
{
    if (pf->sched.count == 0) return;
    qsort(pf->sched.data, pf->sched.count, sizeof *pf->sched.data, compare_sched);
    writing w = {.pf = pf};
    for (size_t i = 0; i < pf->sched.count; i++) {
        const mrd__pf_sched *one = &pf->sched.data[i];
        if (i > 0 && (one->machine != one[-1].machine || one->clock_id != one[-1].clock_id))
            write_open(&w);
        w.machine = one->machine;
        mrd__pf_set_machine(pf, one->machine);
        mrd__file_clock clock = {one->machine, 0, one->clock_id};
        mrd__shard_clock(pf->shard, clock);
        if (one->comm != 0 && one->pid > 0) {
            uint32_t thread = mrd__pf_thread_of_tid(pf, one->machine, one->pid);
            mrd__pf_name_lane(&pf->threads.data[thread], MRD__PF_NAME_FTRACE, one->comm);
        }
        if (one->waking)
            apply_waking(&w, one);
        else
            apply_switch(&w, one);
    }
    write_open(&w);
    mrd__pf_map_reset(&w.index);
    mrd__vec_reset(&w.all);
}
