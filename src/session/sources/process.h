/* One process as a source, and which process it is.
 *
 * Identity is the pidfd's inode (unique since boot where the kernel has pidfs) and the start time:
 * a reused pid can carry the same start tick, never the same pidfd. All files are opened below one
 * descriptor of /proc/PID: it belongs to that process and to no later one of the same number, so a
 * reading is of the process it names, or it fails with ESRCH. */
#ifndef MRD_SESSION_SOURCES_PROCESS_H
#define MRD_SESSION_SOURCES_PROCESS_H

#include "session/sources/procfs.h"
#include "session/sources/reading.h"

#include <sys/types.h>

typedef struct mrd__identity {
    uint64_t inode;       /* of the pidfd */
    uint64_t start_ticks; /* since boot */
} mrd__identity;

/* What reading goes through; shared by all processes of a source. */
typedef struct mrd__process_kit {
    mrd__buf file, payload; /* scratch */
    uint64_t ticks_per_second, page_bytes, cores;
    mrd__reading_sink sink;
} mrd__process_kit;

/* Asks the system for its units. Reset frees. */
void mrd__process_kit_init(mrd__process_kit *kit);
void mrd__process_kit_reset(mrd__process_kit *kit);

typedef struct mrd__process {
    pid_t pid;
    int pidfd, folder; /* -1: closed */
    mrd__identity identity;
    uint64_t target;    /* 1 for the first process of this pid, then counted */
    uint64_t cpu_ticks; /* user and system with waited-for children, at the last reading */
    char source[32];    /* linux.proc.PID */
    uint64_t number;    /* readings so far */
    bool io_refused, smaps_refused; /* told once */
    bool gone;
} mrd__process;

/* Open a process that runs. target: 1 above that of an earlier process of this pid. Codes
 * no_process, no_right. */
MRD_MUST_CHECK mrd_status mrd__process_open(mrd__process *process, pid_t pid, uint64_t target,
                                            mrd_error *error);
void mrd__process_close(mrd__process *process);
/* True while it has not ended (a zombie has). */
bool mrd__process_runs(const mrd__process *process);
/* CPU, faults, memory, context switches, I/O, each a reading; with footprint also smaps_rollup,
 * which is costly. Sets gone when it is no longer there, after a last reading that says so. */
void mrd__process_read(mrd__process *process, bool footprint, mrd__process_kit *kit);

#endif
