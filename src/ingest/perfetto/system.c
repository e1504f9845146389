/* What the system tells about itself: the process tree, and statistics as counters. */
#include "ingest/perfetto/state.h"

#include <inttypes.h>
#include <string.h>

/* ---- Process tree ---- */

static void tree_process(mrd__pf *pf, const mrd__pf_packet *packet, mrd__str message)
{
    int64_t pid = -1;
    uint32_t name = 0;
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        if (f.key == PB_VARINT(TREE_PROCESS_PID)) pid = (int32_t)f.value;
        if (f.key == PB_BYTES(TREE_PROCESS_CMDLINE) && name == 0)
            name = mrd__pf_string(pf, f.bytes);
    }
    if (pid < 0) return;
    uint32_t process = mrd__pf_process(pf, packet->machine, pid);
    mrd__pf_set_tgid(pf, packet->machine, pid, pid);
    mrd__pf_name_lane(&pf->processes.data[process], MRD__PF_NAME_TREE, name);
}

static void tree_thread(mrd__pf *pf, const mrd__pf_packet *packet, mrd__str message)
{
    int64_t tid = -1;
    int64_t tgid = -1;
    uint32_t name = 0;
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        if (f.key == PB_VARINT(TREE_THREAD_TID)) tid = (int32_t)f.value;
        if (f.key == PB_VARINT(TREE_THREAD_TGID)) tgid = (int32_t)f.value;
        if (f.key == PB_BYTES(TREE_THREAD_NAME)) name = mrd__pf_string(pf, f.bytes);
    }
    if (tid < 0 || tgid < 0) return;
    mrd__pf_set_tgid(pf, packet->machine, tid, tgid);
    uint32_t thread = mrd__pf_thread_of_tid(pf, packet->machine, tid);
    mrd__pf_name_lane(&pf->threads.data[thread], MRD__PF_NAME_TREE, name);
}

/* Text of a field, cut to what names of machines need, between characters. */
static const char *short_text(mrd__pf *pf, mrd__str field, char *out, size_t size)
{
    mrd__str text = mrd__pf_utf8(pf, field);
    size_t count = text.size < size - 1 ? text.size : size - 1;
    while (count < text.size && count > 0 && ((unsigned char)text.data[count] & 0xc0) == 0x80)
        count--;
    if (count > 0) memcpy(out, text.data, count);
    out[count] = '\0';
    return out;
}

void mrd__pf_system_info(mrd__pf *pf, const mrd__pf_packet *packet, mrd__str message)
{
    char texts[5][128];
    mrd__machine_facts facts = {0};
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        if (f.key == PB_VARINT(SYSTEM_NUM_CPUS)) facts.num_cpus = (uint32_t)f.value;
        if (f.key == PB_BYTES(SYSTEM_MACHINE_NAME))
            facts.name = short_text(pf, f.bytes, texts[0], sizeof texts[0]);
        if (f.key != PB_BYTES(SYSTEM_UTSNAME)) continue;
        mrd__pb uts = mrd__pb_of(f.bytes);
        for (mrd__pb_field u; mrd__pb_next(&uts, &u);) {
            if (u.key == PB_BYTES(UTS_SYSNAME))
                facts.sysname = short_text(pf, u.bytes, texts[1], sizeof texts[1]);
            if (u.key == PB_BYTES(UTS_VERSION))
                facts.version = short_text(pf, u.bytes, texts[2], sizeof texts[2]);
            if (u.key == PB_BYTES(UTS_RELEASE))
                facts.release = short_text(pf, u.bytes, texts[3], sizeof texts[3]);
            if (u.key == PB_BYTES(UTS_MACHINE))
                facts.arch = short_text(pf, u.bytes, texts[4], sizeof texts[4]);
        }
    }
    mrd__writer_machine(pf->writer, pf->file, packet->machine, &facts);
}

void mrd__pf_process_tree(mrd__pf *pf, const mrd__pf_packet *packet, mrd__str message)
{
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        if (f.key == PB_BYTES(TREE_PROCESSES)) tree_process(pf, packet, f.bytes);
        if (f.key == PB_BYTES(TREE_THREADS)) tree_thread(pf, packet, f.bytes);
    }
    if (at.bad) mrd__pf_loss(pf, MRD__LOSS_BAD_PACKET, "process tree");
}

/* ---- Statistics ---- */

static const char *const meminfo[] = {
    NULL,
    "MemTotal",
    "MemFree",
    "MemAvailable",
    "Buffers",
    "Cached",
    "SwapCached",
    "Active",
    "Inactive",
    "Active(anon)",
    "Inactive(anon)",
    "Active(file)",
    "Inactive(file)",
    "Unevictable",
    "Mlocked",
    "SwapTotal",
    "SwapFree",
    "Dirty",
    "Writeback",
    "AnonPages",
    "Mapped",
    "Shmem",
    "Slab",
    "SReclaimable",
    "SUnreclaim",
    "KernelStack",
    "PageTables",
    "CommitLimit",
    "Committed_AS",
    "VmallocTotal",
    "VmallocUsed",
    "VmallocChunk",
    "CmaTotal",
    "CmaFree",
};
static const char *const cpu_times[] = {"user",   "nice", "system",  "idle",
                                        "iowait", "irq",  "softirq", "steal"};

typedef struct sampling {
    mrd__pf *pf;
    const mrd__pf_packet *packet;
    int64_t ts;
} sampling;

/* One value of a counter of the whole machine. kind and index tell it apart. */
static void sample(const sampling *s, uint32_t kind, uint64_t index, const char *name,
                   const char *unit, double value)
{
    uint64_t key = (uint64_t)s->packet->machine << 40 ^ (uint64_t)kind << 32 ^ (uint32_t)index;
    uint32_t local = mrd__pf_own_track(s->pf, MRD__NONE, key, name, unit);
    mrd__shard_count(s->pf->shard, 'C');
    mrd__pf_push(s->pf, MRD__COUNTER, local, s->ts)->value = value;
}

static void sample_pair(const sampling *s, uint32_t kind, mrd__str message)
{
    uint64_t key = 0;
    uint64_t value = 0;
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        if (f.key == PB_VARINT(STATS_KEY)) key = f.value;
        if (f.key == PB_VARINT(STATS_VALUE)) value = f.value;
    }
    mrd__buf name = {0};
    bool memory = kind == STATS_MEMINFO;
    if (memory && key > 0 && key < sizeof meminfo / sizeof *meminfo)
        mrd__buf_text(&name, meminfo[key]);
    else
        mrd__buf_printf(&name, "%s %" PRIu64, memory ? "meminfo" : "vmstat", key);
    sample(s, kind, key, name.data, memory ? "bytes" : "", (double)value * (memory ? 1024 : 1));
    mrd__buf_reset(&name);
}

static void sample_cpu(const sampling *s, mrd__str message)
{
    uint64_t cpu = 0;
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);)
        if (f.key == PB_VARINT(STATS_CPU_ID)) cpu = (uint32_t)f.value;
    at = mrd__pb_of(message);
    mrd__buf name = {0};
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        uint32_t number = f.key >> 3;
        if ((f.key & 7) != 0 || number < STATS_CPU_FIRST || number > STATS_CPU_LAST) continue;
        mrd__buf_clear(&name);
        mrd__buf_printf(&name, "CPU %" PRIu64 " %s", cpu, cpu_times[number - STATS_CPU_FIRST]);
        sample(s, STATS_CPU, cpu << 4 | number, name.data, "ns", (double)f.value);
    }
    mrd__buf_reset(&name);
}

static void sample_frequency(const sampling *s, uint64_t *cpu, uint64_t khz)
{
    mrd__buf name = {0};
    mrd__buf_printf(&name, "CPU %" PRIu64 " frequency", *cpu);
    sample(s, STATS_CPUFREQ, (*cpu)++, name.data, "kHz", (double)khz);
    mrd__buf_reset(&name);
}

void mrd__pf_sys_stats(mrd__pf *pf, const mrd__pf_packet *packet, mrd__str message)
{
    if (!packet->has_timestamp) {
        mrd__pf_loss(pf, MRD__LOSS_MISSING_TIMESTAMP, NULL);
        return;
    }
    sampling s = {pf, packet, mrd__pf_packet_time(pf, packet)};
    uint64_t cpu = 0;
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        switch (f.key) {
        case PB_BYTES(STATS_MEMINFO):
        case PB_BYTES(STATS_VMSTAT):
            sample_pair(&s, f.key >> 3, f.bytes);
            break;
        case PB_BYTES(STATS_CPU):
            sample_cpu(&s, f.bytes);
            break;
        case PB_VARINT(STATS_FORKS):
            sample(&s, STATS_FORKS, 0, "num_forks", "", (double)f.value);
            break;
        case PB_VARINT(STATS_IRQ_TOTAL):
            sample(&s, STATS_IRQ_TOTAL, 0, "num_irq_total", "", (double)f.value);
            break;
        case PB_VARINT(STATS_SOFTIRQ_TOTAL):
            sample(&s, STATS_SOFTIRQ_TOTAL, 0, "num_softirq_total", "", (double)f.value);
            break;
        case PB_VARINT(STATS_CPUFREQ):
            sample_frequency(&s, &cpu, f.value);
            break;
        default:
            break;
        }
    }
    if (at.bad) mrd__pf_loss(pf, MRD__LOSS_BAD_PACKET, "system statistics");
}
