#include "session/sources/tree.h"

#include "session/sources/readfile.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

mrd_status mrd__tree_open(mrd__tree *tree, pid_t pid, mrd_error *error)
{
    *tree = (mrd__tree){.proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    mrd__process_kit_init(&tree->kit);
    mrd__process root;
    mrd_status status = mrd__process_open(&root, pid, 1, error);
    if (status == MRD_OK)
        mrd__vec_push(&tree->members, root);
    else
        mrd__tree_close(tree);
    return status;
}

void mrd__tree_close(mrd__tree *tree)
{
    for (size_t i = 0; i < tree->members.count; i++)
        mrd__process_close(&tree->members.data[i]);
    mrd__vec_reset(&tree->members);
    mrd__vec_reset(&tree->seen);
    mrd__process_kit_reset(&tree->kit);
    if (tree->proc >= 0) close(tree->proc);
    tree->proc = -1;
}

/* ---- Finding descendants ---- */

static int by_number(const void *a, const void *b)
{
    pid_t left = *(const pid_t *)a, right = *(const pid_t *)b;
    return left < right ? -1 : left > right;
}

static bool was_seen(const mrd__tree *tree, pid_t pid)
{
    return tree->seen.count > 0 &&
           bsearch(&pid, tree->seen.data, tree->seen.count, sizeof pid, by_number) != NULL;
}

/* The newest member of this pid that has not ended. */
static mrd__process *member_of(mrd__tree *tree, pid_t pid)
{
    for (size_t i = tree->members.count; i-- > 0;) {
        mrd__process *member = &tree->members.data[i];
        if (member->pid == pid && !member->gone) return member;
    }
    return NULL;
}

static uint64_t next_target(const mrd__tree *tree, pid_t pid)
{
    uint64_t target = 0;
    for (size_t i = 0; i < tree->members.count; i++) {
        const mrd__process *member = &tree->members.data[i];
        if (member->pid == pid && member->target > target) target = member->target;
    }
    return target + 1;
}

static void add_member(mrd__tree *tree, pid_t pid)
{
    if (mrd__tree_running(tree) >= MRD__TREE_MEMBERS_MAX) {
        tree->beyond++;
        return;
    }
    mrd__process member;
    if (mrd__process_open(&member, pid, next_target(tree, pid), NULL) == MRD_OK)
        mrd__vec_push(&tree->members, member);
}

static pid_t parent_of(mrd__tree *tree, pid_t pid)
{
    char path[32];
    mrd__proc_stat stat;
    snprintf(path, sizeof path, "%d/stat", (int)pid);
    mrd__kernel_text read = mrd__kernel_file(tree->proc, path, &tree->kit.file);
    if (read.failed != 0 || !mrd__procfs_stat(read.text, &stat)) return 0;
    return (pid_t)stat.parent;
}

/* A member whose pid was taken by another process: the old one has ended. */
static void check_member(mrd__tree *tree, pid_t pid)
{
    mrd__process *member = member_of(tree, pid);
    if (member == NULL || mrd__process_runs(member)) return;
    /* Ended, and the number is in /proc: a zombie, or somebody new. */
    mrd__kernel_text read = mrd__kernel_file(member->folder, "stat", &tree->kit.file);
    if (read.failed == 0) return;
    mrd__process_close(member);
    pid_t parent = parent_of(tree, pid);
    if (parent > 0 && member_of(tree, parent) != NULL) add_member(tree, pid);
}

static void look_at(mrd__tree *tree, pid_t pid)
{
    if (was_seen(tree, pid)) {
        check_member(tree, pid);
        return;
    }
    if (member_of(tree, pid) != NULL) return;
    pid_t parent = parent_of(tree, pid);
    if (parent > 0 && member_of(tree, parent) != NULL) add_member(tree, pid);
}

/* /proc lists numbers in order, so that a parent mostly comes before its child; one that does not
 * is a member at the next look, for its number is then dropped from seen. */
static void look(mrd__tree *tree)
{
    int copy = openat(tree->proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = copy >= 0 ? fdopendir(copy) : NULL;
    if (folder == NULL) {
        if (copy >= 0) close(copy);
        return;
    }
    MRD__VEC(pid_t) now = {0};
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        uint64_t number;
        if (!mrd__parse_uint64(mrd__str_of(entry->d_name), &number)) continue;
        mrd__vec_push(&now, (pid_t)number);
    }
    closedir(folder);
    size_t before;
    do { /* again while members were found whose children may stand before them */
        before = tree->members.count;
        for (size_t i = 0; i < now.count; i++)
            look_at(tree, now.data[i]);
    } while (tree->members.count != before && tree->members.count < MRD__TREE_MEMBERS_MAX);
    if (now.count > 1) qsort(now.data, now.count, sizeof *now.data, by_number);
    mrd__vec_reset(&tree->seen);
    tree->seen.data = now.data;
    tree->seen.count = now.count;
    tree->seen.capacity = now.capacity;
}

/* ---- Readings ---- */

size_t mrd__tree_running(const mrd__tree *tree)
{
    size_t count = 0;
    for (size_t i = 0; i < tree->members.count; i++)
        count += !tree->members.data[i].gone;
    return count;
}

int mrd__tree_root(const mrd__tree *tree)
{
    return tree->members.data[0].pidfd;
}

/* Whether a member was waited for since it was read: its time may then stand twice, or nowhere. */
static bool moved(mrd__tree *tree)
{
    bool moving = false;
    for (size_t i = 0; i < tree->members.count && !moving; i++) {
        const mrd__process *member = &tree->members.data[i];
        if (member->gone || mrd__process_runs(member)) continue;
        moving = mrd__kernel_file(member->folder, "stat", &tree->kit.file).failed != 0;
    }
    return moving;
}

/* CPU of all members with what they waited for; whole false: null. A member that ended unwaited
 * takes its part away: the sum falls, and the projector calls that a reset. */
static void give_tree(mrd__tree *tree, uint64_t time_ns, bool whole)
{
    uint64_t ticks = 0, running = 0;
    for (size_t i = 0; i < tree->members.count; i++) {
        const mrd__process *member = &tree->members.data[i];
        if (member->gone) continue;
        ticks += member->cpu_ticks;
        running++;
    }
    if (running == 0) return;
    mrd__process_kit *kit = &tree->kit;
    mrd__members members = {.out = &kit->payload};
    mrd__buf_clear(&kit->payload);
    mrd__buf_char(&kit->payload, '{');
    if (whole)
        mrd__member_uint(&members, "cpuNs", ticks * (UINT64_C(1000000000) / kit->ticks_per_second));
    else
        mrd__member_null(&members, "cpuNs");
    mrd__member_uint(&members, "nCpu", kit->cores);
    mrd__member_uint(&members, "processes", running);
    if (tree->beyond > 0) mrd__member_uint(&members, "beyondLimit", tree->beyond);
    mrd__buf_char(&kit->payload, '}');
    mrd__reading reading = {
        .source = "linux.tree",
        .kind = "proc.cpu",
        .number = ++tree->number,
        .time_ns = time_ns,
        .epoch = 1,
        .target = 1,
        .pid = tree->members.data[0].pid,
        .verified = true,
        .payload = {kit->payload.data, kit->payload.size},
    };
    kit->sink.take(kit->sink.ctx, &reading);
}

void mrd__tree_read(mrd__tree *tree, uint64_t now_ns, const mrd__reading_sink *sink)
{
    tree->kit.sink = *sink;
    if (tree->looked_ns == 0 || now_ns - tree->looked_ns >= MRD__TREE_LOOK_NS) {
        tree->looked_ns = now_ns;
        look(tree);
    }
    bool footprint =
        tree->footprint_ns == 0 || now_ns - tree->footprint_ns >= MRD__TREE_FOOTPRINT_NS;
    if (footprint) tree->footprint_ns = now_ns;
    bool whole = true;
    for (size_t i = 0; i < tree->members.count; i++) {
        if (tree->members.data[i].gone) continue;
        mrd__process_read(&tree->members.data[i], footprint, &tree->kit);
        if (!tree->members.data[i].gone) continue;
        mrd__process_close(&tree->members.data[i]);
        whole = false;
    }
    give_tree(tree, now_ns, whole && !moved(tree));
}
