/* A disk in memory behind the table of file calls: fast enough for a hundred thousand damaged
 * sessions, and able to lose its power. Of every file and folder it knows what was synced; a power
 * cut keeps that, and of the rest any part in any order:
 *
 *   file    per block of 512 bytes the synced bytes, the newest, zeros or rubbish, and any length
 *           between those it has had since
 *   folder  any of the names made, renamed or removed since
 *
 * One thread. */
#ifndef MRD_TESTS_UNIT_SESSION_DISK_H
#define MRD_TESTS_UNIT_SESSION_DISK_H

#include "base/alloc.h"
#include "base/os.h"
#include "session/files.h"

typedef struct disk_entry {
    char name[64];
    size_t node;
} disk_entry;
typedef MRD__VEC(disk_entry) disk_entries;

/* A name put into a folder (node) or taken out of it (NO_NODE), and a second one of a rename. */
typedef struct disk_change {
    disk_entry put, taken; /* name empty: none */
} disk_change;

typedef struct disk_node {
    bool folder;
    mode_t mode;
    int locked_by;                  /* descriptor + 1 */
    mrd__buf data, synced, longest; /* longest: the bytes at its greatest length since the sync */
    disk_entries entries, synced_entries;
    MRD__VEC(disk_change) changes; /* since the sync */
} disk_node;

typedef struct disk_open {
    bool used, append;
    size_t node;
} disk_open;

typedef struct disk {
    mrd__files files;
    MRD__VEC(disk_node) nodes; /* 0: the root "/" */
    MRD__VEC(disk_open) open;
    uint64_t clock_ns;   /* 1 us a look */
    unsigned long calls; /* that change something */
    bool fail_sync;      /* the next sync fails, and nothing is known of what it did */
    bool fail_truncate;  /* all do */
    unsigned long syncs;
    /* Called before each call that changes something. May be NULL. */
    void (*before)(void *ctx, struct disk *disk);
    void *before_ctx;
} disk;

void disk_begin(disk *d);
void disk_end(disk *d);
void disk_copy(disk *to, const disk *from); /* what is there now, all synced; to is begun here */
/* The disk after a power cut at this moment. to is begun here. */
void disk_cut(disk *to, const disk *from, mrd__rng *rng);
/* The bytes of a file, to be changed at will; NULL where it is not there. */
mrd__buf *disk_file(disk *d, const char *path);
void disk_put(disk *d, const char *path, const void *data, size_t size); /* new or replaced */
void disk_remove(disk *d, const char *path);
bool disk_same(const disk *left, const disk *right); /* names and bytes */

#endif
