/* A process and its descendants as one source.
 *
 * Members are found by looking through /proc: a number that was not there the last time is read
 * once, and is a member when its parent is one. Who became a member stays one when its parent ends.
 * Processes that come and go between two looks are seen through the CPU time that their parents
 * waited for, in the reading of the tree, and not by themselves. */
#ifndef MRD_SESSION_SOURCES_TREE_H
#define MRD_SESSION_SOURCES_TREE_H

#include "base/alloc.h"
#include "session/sources/process.h"

enum {
    /* Each holds two descriptors; 1,024 is what a process may have by default. */
    MRD__TREE_MEMBERS_MAX = 256,
};
/* Looking through /proc costs some 0.3 ms with 200 processes: not at every reading. */
#define MRD__TREE_LOOK_NS UINT64_C(500000000)
/* smaps_rollup walks all of a process's pages: not at every reading either. */
#define MRD__TREE_FOOTPRINT_NS UINT64_C(1000000000)

typedef struct mrd__tree {
    mrd__process_kit kit;
    MRD__VEC(mrd__process) members; /* the first is the root; ended ones stay, closed */
    MRD__VEC(pid_t) seen;           /* sorted: of the last look */
    uint64_t looked_ns, footprint_ns;
    uint64_t number; /* readings of linux.tree */
    uint64_t beyond; /* descendants above the limit */
    int proc;        /* /proc; -1 */
} mrd__tree;

/* The process pid and its descendants. Codes no_process, no_right. */
MRD_MUST_CHECK mrd_status mrd__tree_open(mrd__tree *tree, pid_t pid, mrd_error *error);
void mrd__tree_close(mrd__tree *tree);
/* One reading of every member, then one of the tree as a whole. */
void mrd__tree_read(mrd__tree *tree, uint64_t now_ns, const mrd__reading_sink *sink);
/* The root's pidfd: readable once it has ended. */
int mrd__tree_root(const mrd__tree *tree);
/* Members that run. */
size_t mrd__tree_running(const mrd__tree *tree);

#endif
