/* Facts by hand, sealed in different ways, and a store as text. */
#ifndef MRD_TESTS_OPEN_SEAL_KIT_H
#define MRD_TESTS_OPEN_SEAL_KIT_H

#include "open/seal.h"

/* One event of a list; strings are short C texts, NULL absent. */
typedef struct kit_fact {
    mrd__phase phase;
    int64_t ts, dur;
    double value;
    const char *name, *category, *series;
    int64_t pid, tid; /* tid -1: absent */
    const char *id, *scope, *bind_id;
    uint32_t side_flags;
    uint8_t flags;
    const char *args;
} kit_fact;

/* How a list is spread: facts a chunk, shards, workers, and whether every chunk is first written
 * with rubbish and taken back. */
typedef struct kit_split {
    uint32_t chunk, shards, workers;
    bool rubbish;
} kit_split;

mrd__store *kit_seal(const kit_fact *facts, size_t count, kit_split split);
/* Facts of two files: the first `first` go to "b.json", the rest to "a.json". */
mrd__store *kit_seal_two(const kit_fact *facts, size_t count, size_t first, kit_split split);
/* Everything in the store that a question can see. */
void kit_text(const mrd__store *store, mrd__buf *out);

#endif
