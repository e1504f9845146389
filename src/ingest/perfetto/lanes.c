/* Processes and threads: by number, and what they are called. */
#include "ingest/perfetto/state.h"

static mrd__ident number(int64_t value, uint32_t use)
{
    return (mrd__ident){.kind = MRD__IDENT_NUMBER, .use = (uint16_t)use, .number = value};
}

static uint32_t add_process(mrd__pf *pf, uint32_t machine, int64_t pid)
{
    uint32_t *uses = mrd__pf_map_at(&pf->map, MRD__PF_PROCESS_USES, machine, (uint64_t)pid);
    mrd__pf_lane lane = {.process = (uint32_t)pf->processes.count, .ident = number(pid, (*uses)++)};
    lane.local = mrd__shard_thread(pf->shard, lane.ident, (mrd__ident){.kind = MRD__IDENT_NONE});
    mrd__vec_push(&pf->processes, lane);
    *mrd__pf_map_at(&pf->map, MRD__PF_PROCESS, machine, (uint64_t)pid) =
        (uint32_t)pf->processes.count;
    return lane.process;
}

uint32_t mrd__pf_process(mrd__pf *pf, uint32_t machine, int64_t pid)
{
    uint32_t index = mrd__pf_map_find(&pf->map, MRD__PF_PROCESS, machine, (uint64_t)pid);
    return index != 0 ? index - 1 : add_process(pf, machine, pid);
}

uint32_t mrd__pf_next_process(mrd__pf *pf, uint32_t machine, int64_t pid)
{
    return add_process(pf, machine, pid);
}

/* Threads of unknown processes are told apart by their machine. */
static uint64_t thread_key(const mrd__pf *pf, uint32_t process, int64_t tid)
{
    return process == MRD__NONE ? (uint64_t)tid ^ (uint64_t)pf->machine << 32 : (uint64_t)tid;
}

static uint32_t add_thread(mrd__pf *pf, uint32_t process, int64_t tid)
{
    uint64_t key = thread_key(pf, process, tid);
    uint32_t *uses = mrd__pf_map_at(&pf->map, MRD__PF_THREAD_USES, process, key);
    mrd__pf_lane lane = {.process = process, .ident = number(tid, (*uses)++)};
    mrd__ident pid = process == MRD__NONE ? (mrd__ident){.kind = MRD__IDENT_NONE}
                                          : pf->processes.data[process].ident;
    lane.local = mrd__shard_thread(pf->shard, pid, lane.ident);
    mrd__vec_push(&pf->threads, lane);
    *mrd__pf_map_at(&pf->map, MRD__PF_THREAD, process, key) = (uint32_t)pf->threads.count;
    return (uint32_t)pf->threads.count - 1;
}

uint32_t mrd__pf_thread(mrd__pf *pf, uint32_t process, int64_t tid)
{
    uint64_t key = thread_key(pf, process, tid);
    uint32_t index = mrd__pf_map_find(&pf->map, MRD__PF_THREAD, process, key);
    return index != 0 ? index - 1 : add_thread(pf, process, tid);
}

uint32_t mrd__pf_next_thread(mrd__pf *pf, uint32_t process, int64_t tid)
{
    return add_thread(pf, process, tid);
}

static uint64_t ident_key(mrd__ident ident)
{
    return mrd__hash_mix((uint64_t)ident.kind << 32 | ident.text, (uint64_t)ident.number);
}

void mrd__pf_reident_process(mrd__pf *pf, uint32_t machine, uint32_t process, mrd__ident ident)
{
    mrd__pf_lane *lane = &pf->processes.data[process];
    uint32_t *uses =
        mrd__pf_map_at(&pf->map, MRD__PF_PROCESS_IDENT_USES, machine, ident_key(ident));
    ident.use = (uint16_t)(*uses)++;
    lane->ident = ident;
    lane->local = mrd__shard_thread(pf->shard, ident, (mrd__ident){.kind = MRD__IDENT_NONE});
}

void mrd__pf_reident_thread(mrd__pf *pf, uint32_t thread, mrd__ident ident)
{
    mrd__pf_lane *lane = &pf->threads.data[thread];
    uint32_t *uses =
        mrd__pf_map_at(&pf->map, MRD__PF_THREAD_IDENT_USES, lane->process, ident_key(ident));
    ident.use = (uint16_t)(*uses)++;
    lane->ident = ident;
    lane->local = mrd__shard_thread(pf->shard, pf->processes.data[lane->process].ident, ident);
}

void mrd__pf_set_tgid(mrd__pf *pf, uint32_t machine, int64_t tid, int64_t tgid)
{
    uint32_t process = mrd__pf_process(pf, machine, tgid);
    *mrd__pf_map_at(&pf->map, MRD__PF_TID_PROCESS, machine, (uint64_t)tid) = process + 1;
}

uint32_t mrd__pf_thread_of_tid(mrd__pf *pf, uint32_t machine, int64_t tid)
{
    uint32_t process = mrd__pf_map_find(&pf->map, MRD__PF_TID_PROCESS, machine, (uint64_t)tid);
    return mrd__pf_thread(pf, process != 0 ? process - 1 : MRD__NONE, tid);
}

void mrd__pf_name_lane(mrd__pf_lane *lane, mrd__pf_rank rank, uint32_t name)
{
    if (name == 0 || rank < lane->rank) return;
    lane->rank = rank;
    lane->name = name;
}

static void write_lane(mrd__pf *pf, const mrd__pf_lane *lane, bool thread)
{
    if (lane->name != 0)
        mrd__pf_push(pf, thread ? MRD__THREAD_NAME : MRD__PROCESS_NAME, lane->local, 0)->name =
            lane->name;
    if (lane->labels != 0)
        mrd__pf_push(pf, MRD__PROCESS_LABELS, lane->local, 0)->name = lane->labels;
    if (lane->has_sort)
        mrd__pf_push(pf, thread ? MRD__THREAD_SORT : MRD__PROCESS_SORT, lane->local, 0)->dur =
            lane->sort_index;
}

void mrd__pf_write_lanes(mrd__pf *pf)
{
    for (size_t i = 0; i < pf->processes.count; i++)
        write_lane(pf, &pf->processes.data[i], false);
    for (size_t i = 0; i < pf->threads.count; i++)
        write_lane(pf, &pf->threads.data[i], true);
}
