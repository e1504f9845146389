#include "session/sources/process.h"

#include "base/error.h"
#include "base/os.h"
#include "session/sources/readfile.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

void mrd__process_kit_init(mrd__process_kit *kit)
{
    *kit = (mrd__process_kit){
        .ticks_per_second = (uint64_t)sysconf(_SC_CLK_TCK),
        .page_bytes = (uint64_t)sysconf(_SC_PAGESIZE),
        .cores = mrd__cores(),
    };
}

void mrd__process_kit_reset(mrd__process_kit *kit)
{
    mrd__buf_reset(&kit->file);
    mrd__buf_reset(&kit->payload);
}

/* ---- Identity ---- */

static mrd_status fail_open(pid_t pid, int failed, mrd_error *error)
{
    if (mrd__kernel_gone(failed))
        return mrd__fail(error, MRD_ERR_NOT_FOUND, "no_process",
                         "there is no process %d, allowed is the pid of one that runs", (int)pid);
    return mrd__fail(error, MRD_ERR_IO, "no_right", "process %d cannot be read: %s", (int)pid,
                     strerror(failed));
}

static mrd_status identify(mrd__process *process, mrd_error *error)
{
    mrd__buf file = {0};
    mrd__kernel_text read = mrd__kernel_file(process->folder, "stat", &file);
    mrd__proc_stat stat;
    struct stat inode;
    int failed = read.failed;
    if (failed == 0 && !mrd__procfs_stat(read.text, &stat)) failed = EINVAL;
    if (failed == 0 && fstat(process->pidfd, &inode) != 0) failed = errno;
    mrd__buf_reset(&file);
    if (failed == 0 && !mrd__process_runs(process)) failed = ESRCH;
    if (failed != 0) return fail_open(process->pid, failed, error);
    process->identity = (mrd__identity){(uint64_t)inode.st_ino, stat.start_ticks};
    return MRD_OK;
}

mrd_status mrd__process_open(mrd__process *process, pid_t pid, uint64_t target, mrd_error *error)
{
    *process = (mrd__process){.pid = pid, .pidfd = -1, .folder = -1, .target = target};
    char path[32];
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    snprintf(process->source, sizeof process->source, "linux.proc.%d", (int)pid);
    process->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (process->pidfd < 0) return fail_open(pid, errno, error);
    process->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    mrd_status status =
        process->folder < 0 ? fail_open(pid, errno, error) : identify(process, error);
    if (status != MRD_OK) mrd__process_close(process);
    return status;
}

void mrd__process_close(mrd__process *process)
{
    if (process->pidfd >= 0) close(process->pidfd);
    if (process->folder >= 0) close(process->folder);
    process->pidfd = process->folder = -1;
    process->gone = true;
}

bool mrd__process_runs(const mrd__process *process)
{
    struct pollfd watch = {.fd = process->pidfd, .events = POLLIN};
    return process->pidfd >= 0 && poll(&watch, 1, 0) == 0;
}

/* ---- Readings ---- */

static void give(mrd__process *process, const char *kind, uint64_t time_ns, mrd__process_kit *kit)
{
    mrd__buf_char(&kit->payload, '}');
    mrd__reading reading = {
        .source = process->source,
        .kind = kind,
        .number = ++process->number,
        .time_ns = time_ns,
        .epoch = 1,
        .target = process->target,
        .pid = process->pid,
        .verified = true, /* the folder descriptor is of this process alone */
        .payload = {kit->payload.data, kit->payload.size},
    };
    kit->sink.take(kit->sink.ctx, &reading);
}

static mrd__members begin(mrd__process_kit *kit)
{
    mrd__buf_clear(&kit->payload);
    mrd__buf_char(&kit->payload, '{');
    return (mrd__members){.out = &kit->payload};
}

/* Say that the process is no longer there, once. */
static void end(mrd__process *process, const mrd__kernel_text *read, mrd__process_kit *kit)
{
    if (process->gone) return;
    mrd__members members = begin(kit);
    mrd__member_text(&members, "state", MRD__STR("gone"));
    mrd__member_uint(&members, "inode", process->identity.inode);
    give(process, "proc.state", read->time_ns, kit);
    process->gone = true;
}

/* A file of the process. False: nothing to make a reading of. */
static bool read_file(mrd__process *process, const char *name, mrd__kernel_text *read,
                      mrd__process_kit *kit)
{
    if (process->gone) return false;
    *read = mrd__kernel_file(process->folder, name, &kit->file);
    if (mrd__kernel_gone(read->failed)) end(process, read, kit);
    return read->failed == 0;
}

static void read_stat(mrd__process *process, mrd__process_kit *kit)
{
    mrd__kernel_text read;
    mrd__proc_stat stat;
    if (!read_file(process, "stat", &read, kit)) return;
    mrd__members members = begin(kit);
    bool good = mrd__procfs_stat(read.text, &stat) && read.spread_ns <= MRD__READ_SPREAD_NS &&
                stat.start_ticks == process->identity.start_ticks;
    if (!good) {
        mrd__member_null(&members, "cpuNs");
        mrd__member_uint(&members, "spreadNs", read.spread_ns);
        give(process, "proc.cpu", read.time_ns, kit);
        return;
    }
    uint64_t tick_ns = UINT64_C(1000000000) / kit->ticks_per_second;
    uint64_t own = stat.user_ticks + stat.system_ticks;
    process->cpu_ticks = own + stat.child_user_ticks + stat.child_system_ticks;
    mrd__member_uint(&members, "cpuNs", own * tick_ns);
    mrd__member_uint(&members, "nCpu", kit->cores);
    mrd__member_uint(&members, "userNs", stat.user_ticks * tick_ns);
    mrd__member_uint(&members, "systemNs", stat.system_ticks * tick_ns);
    mrd__member_uint(&members, "tickNs", tick_ns);
    give(process, "proc.cpu", read.time_ns, kit);

    members = begin(kit);
    mrd__member_uint(&members, "minor", stat.minor_faults);
    mrd__member_uint(&members, "major", stat.major_faults);
    give(process, "proc.faults", read.time_ns, kit);

    members = begin(kit);
    mrd__member_uint(&members, "threads", stat.threads);
    mrd__member_text(&members, "state", (mrd__str){&stat.state, 1});
    give(process, "proc.threads", read.time_ns, kit);
}

/* A zombie and a kernel thread have none of these lines: the members are then absent. */
static void read_status(mrd__process *process, mrd__process_kit *kit)
{
    static const mrd__pair memory[] = {
        {"VmRSS", "rssBytes", 1024},       {"RssAnon", "rssAnonBytes", 1024},
        {"RssFile", "rssFileBytes", 1024}, {"RssShmem", "rssShmemBytes", 1024},
        {"VmHWM", "rssPeakBytes", 1024},   {"VmSwap", "swapBytes", 1024},
        {"VmSize", "virtualBytes", 1024},  {NULL, NULL, 1},
    };
    static const mrd__pair switches[] = {
        {"voluntary_ctxt_switches", "voluntary", 1},
        {"nonvoluntary_ctxt_switches", "involuntary", 1},
        {NULL, NULL, 1},
    };
    mrd__kernel_text read;
    if (!read_file(process, "status", &read, kit)) return;
    mrd__members members = begin(kit);
    mrd__procfs_pairs(read.text, memory, &members);
    give(process, "proc.mem", read.time_ns, kit);
    members = begin(kit);
    mrd__procfs_pairs(read.text, switches, &members);
    give(process, "proc.ctxt", read.time_ns, kit);
}

/* Refused once and for all: one reading that says so, then none. */
static bool refused(mrd__process *process, const mrd__kernel_text *read, const char *kind,
                    bool *told, mrd__process_kit *kit)
{
    if (!mrd__kernel_refused(read->failed) || process->gone) return false;
    if (*told) return true;
    *told = true;
    mrd__members members = begin(kit);
    mrd__member_text(&members, "unsupported", mrd__str_of(strerror(read->failed)));
    give(process, kind, read->time_ns, kit);
    return true;
}

static void read_io(mrd__process *process, mrd__process_kit *kit)
{
    static const mrd__pair io[] = {
        {"rchar", "rcharBytes", 1},
        {"wchar", "wcharBytes", 1},
        {"syscr", "readCalls", 1},
        {"syscw", "writeCalls", 1},
        {"read_bytes", "readBytes", 1},
        {"write_bytes", "writeBytes", 1},
        {"cancelled_write_bytes", "cancelledWriteBytes", 1},
        {NULL, NULL, 1},
    };
    mrd__kernel_text read = {0};
    if (process->io_refused || !read_file(process, "io", &read, kit)) {
        refused(process, &read, "proc.io", &process->io_refused, kit);
        return;
    }
    mrd__members members = begin(kit);
    mrd__procfs_pairs(read.text, io, &members);
    give(process, "proc.io", read.time_ns, kit);
}

static void read_footprint(mrd__process *process, mrd__process_kit *kit)
{
    static const mrd__pair rollup[] = {
        {"Pss", "pssBytes", 1024},
        {"Private_Clean", "privateCleanBytes", 1024},
        {"Private_Dirty", "privateDirtyBytes", 1024},
        {"SwapPss", "swapPssBytes", 1024},
        {NULL, NULL, 1},
    };
    mrd__kernel_text read = {0};
    if (process->smaps_refused || !mrd__process_runs(process)) return;
    if (!read_file(process, "smaps_rollup", &read, kit)) {
        refused(process, &read, "proc.pss", &process->smaps_refused, kit);
        return;
    }
    mrd__members members = begin(kit);
    mrd__procfs_pairs(read.text, rollup, &members);
    give(process, "proc.pss", read.time_ns, kit);
}

static void read_schedule(mrd__process *process, mrd__process_kit *kit)
{
    mrd__kernel_text read;
    mrd__str words[3];
    uint64_t run, wait;
    if (!read_file(process, "schedstat", &read, kit)) return;
    mrd__str line, text = read.text;
    if (!mrd__procfs_line(&text, &line) || mrd__procfs_words(line, words, 3) < 3 ||
        !mrd__parse_uint64(words[0], &run) || !mrd__parse_uint64(words[1], &wait))
        return;
    mrd__members members = begin(kit);
    mrd__member_uint(&members, "leaderRunNs", run);
    mrd__member_uint(&members, "leaderWaitNs", wait);
    give(process, "proc.sched", read.time_ns, kit);
}

void mrd__process_read(mrd__process *process, bool footprint, mrd__process_kit *kit)
{
    read_stat(process, kit);
    read_status(process, kit);
    read_io(process, kit);
    read_schedule(process, kit);
    if (footprint) read_footprint(process, kit);
}
