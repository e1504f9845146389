/* Sessions made on a disk in memory, to be damaged: several segments, checkpoints, derived files
 * and documents; finished, finished after failed syncs, or left open. */
#ifndef MRD_TESTS_UNIT_SESSION_MADE_H
#define MRD_TESTS_UNIT_SESSION_MADE_H

#include "disk.h"
#include "kit.h"

typedef enum made_how {
    MADE_FINISHED,
    MADE_SCARRED, /* finished after syncs that failed: segments cut short, one with a tail */
    MADE_OPEN,    /* drained and left, as after a crash */
} made_how;

typedef struct made_file {
    char path[96];             /* on the disk */
    const char *name;          /* in the session's folder: the end of path */
    MRD__VEC(uint64_t) edges;  /* of record files: where each record begins, and the last ends */
    MRD__VEC(uint64_t) newest; /* of raw segments: the newest sequence before each edge */
    uint64_t synced;           /* offset of the last record that says all before it was synced */
} made_file;

typedef struct made {
    disk d;
    char dir[16]; /* "/s" or "/s.open" */
    uint64_t records;
    MRD__VEC(made_file) files; /* all, segments first, in order */
    size_t segments;
    uint64_t bytes; /* of all files */
} made;

/* seed chooses the uuid; the records' payloads follow from their sequences (kit_payload). */
void made_begin(made *m, made_how how, uint64_t records, uint64_t seed);
void made_end(made *m);
/* A file by a random byte of the session, and that byte's offset. */
const made_file *made_place(made *m, mrd__rng *rng, uint64_t *offset);
/* The number of the record that holds this byte; SIZE_MAX for the header or a file of none. */
size_t made_record_at(const made_file *file, uint64_t offset);
mrd__buf *made_bytes(made *m, const made_file *file);

#endif
