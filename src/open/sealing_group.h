/* Spans: what one worker finds out about its part of the facts (src/open/seal_group.c). */
#ifndef MRD_OPEN_SEALING_GROUP_H
#define MRD_OPEN_SEALING_GROUP_H

#include "open/sealing.h"

typedef struct mrd__group_key { /* of counters and async; compared as bytes, no padding */
    uint32_t kind, file, process, thread, category, name, id, scope, old;
} mrd__group_key;

typedef struct mrd__span_group {
    mrd__group_key key;
    uint32_t first_order;
    uint32_t process; /* slot of its first fact */
    uint32_t group;   /* index over all spans */
    uint64_t count, cursor;
} mrd__span_group;

typedef struct mrd__span_times { /* of the facts of one kind in file order */
    int64_t first, last;
    bool sorted, any;
} mrd__span_times;

typedef struct mrd__span {
    size_t first, end; /* chunks */
    uint32_t fixed;    /* groups by slot: threads, their instants, processes' instants, global;
                          then slices, instants and samples of each described track */
    uint32_t *count;   /* [fixed] */
    uint64_t *cursor;  /* [fixed] */
    MRD__VEC(mrd__span_group) keys;
    uint32_t *key_slots;
    size_t key_size;
    uint8_t *thread_used, *process_used;
    mrd__span_times slices, instants, counters;
    mrd__point_list points;
    MRD__VEC(mrd__meta) metas;
    mrd__found found;
} mrd__span;

static inline uint64_t mrd__group_key_hash(const mrd__group_key *key)
{
    uint64_t a = mrd__hash_mix((uint64_t)key->id << 32 | key->name,
                               (uint64_t)key->category << 32 | key->scope);
    return mrd__hash_mix(a + key->kind + 8 * key->old + ((uint64_t)key->thread << 32),
                         (uint64_t)key->file << 32 | key->process);
}

/* First group of the described tracks. */
static inline uint32_t mrd__fixed_own(const mrd__sealing *seal)
{
    return (uint32_t)(2 * seal->threads.count + seal->processes.count + 1);
}

void mrd__span_grow(mrd__span *span); /* room for more keys */
void mrd__span_count(mrd__sealing *seal, mrd__span *span);
void mrd__span_move(mrd__sealing *seal, mrd__span *span);

/* Spans joined into seal->groups (unordered) and the other way round: where each span's part of a
 * group goes once the groups are ordered. */
typedef struct mrd__spans {
    mrd__span *data;
    uint32_t count;
    uint32_t fixed;
    uint32_t *group_of_fixed; /* index of seal->groups before ordering or MRD__NONE */
    uint32_t *place;          /* [groups] index after ordering */
} mrd__spans;

#endif
