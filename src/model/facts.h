/* The writer from inside: what sealing (src/open) reads and nobody else. Importers see writer.h.
 *
 *   writer  files[]  shards[]
 *   shard   pool, threads, sides, blobs    private to one reading thread
 *           blocks   [f f f f | f f f f | f ...]      facts, blocks of equal size
 *           chunks   [order 0: 0..6) [order 2: 6..9)  ranges of the shard's facts
 */
#ifndef MRD_MODEL_FACTS_H
#define MRD_MODEL_FACTS_H

#include "model/limits.h"
#include "model/pool.h"
#include "model/writer.h"

#include <pthread.h>

#define MRD__FACT_BLOCK (MRD__FACT_BLOCK_BYTES / sizeof(mrd__fact))
#define MRD__SIDE_BLOCK (MRD__SIDE_BLOCK_BYTES / sizeof(mrd__side))

typedef struct mrd__shard_thread_key {
    mrd__ident pid, tid; /* TEXT: shard-local string ids */
    uint32_t track;      /* index + 1 of shard->tracks: stands for that track, not for a thread */
    uint32_t machine;    /* as the file numbers it */
} mrd__shard_thread_key;

typedef struct mrd__clock_run { /* facts from first on, up to the next run */
    uint64_t first;
    mrd__file_clock clock;
} mrd__clock_run;

/* Owned args text. In a store an args reference names a block by its place in store->blobs. */
typedef struct mrd__text_blob {
    char *data;
    size_t size, capacity;
} mrd__text_blob;

typedef MRD__VEC(mrd__loss) mrd__loss_vec;

typedef struct mrd__chunk {
    uint64_t order;
    uint64_t first, end; /* facts of the shard */
    uint32_t metadata_first, metadata_end;
} mrd__chunk;

/* A closed chunk of a shard that keeps history: what it began with, what it counted. */
typedef struct mrd__chunk_record {
    mrd__chunk chunk;
    uint32_t sides;
    size_t blobs, blob_size, clock_runs, snapshots;
    uint64_t phases[128];
    mrd__loss_vec losses;
} mrd__chunk_record;

typedef struct mrd__raw_metadata {
    char *key, *value; /* in the shard's arena */
    uint32_t key_size, value_size;
    uint8_t json_type;
} mrd__raw_metadata;

struct mrd__shard {
    mrd__fact *at, *stop; /* inside the newest block: the fast path of mrd__shard_push */
    MRD__VEC(mrd__fact *) blocks;
    uint32_t file;
    mrd__writer *writer;

    mrd__pool pool;
    MRD__VEC(mrd__shard_thread_key) threads;
    uint32_t *thread_slots; /* index + 1, open addressing */
    uint32_t thread_bits;
    uint32_t last_thread;
    uint32_t machine; /* of processes asked for next */
    MRD__VEC(mrd__track_spec) tracks;
    MRD__VEC(mrd__clock_run) clock_runs;
    MRD__VEC(mrd__clock_reading) readings;
    MRD__VEC(size_t) snapshots;        /* where each one's readings end */
    MRD__VEC(mrd__side *) side_blocks; /* MRD__SIDE_BLOCK each */
    uint32_t side_count;
    MRD__VEC(mrd__flow_half) halves;
    MRD__VEC(mrd__text_blob) blobs;
    MRD__VEC(mrd__raw_metadata) metadata;
    mrd__arena texts; /* of metadata */

    MRD__VEC(mrd__chunk) chunks; /* closed ones, ascending order */
    mrd__chunk open;
    uint32_t open_sides;
    size_t open_blobs, open_blob_size; /* to take the chunk back */
    size_t open_clock_runs, open_snapshots;
    uint64_t open_phases[128], phases[128];
    mrd__loss_vec open_losses, losses;
    bool keeps_history;
    MRD__VEC(mrd__chunk_record) history; /* its counts are not in phases and losses yet */
};

typedef struct mrd__declared_clock {
    uint32_t file;
    mrd__file_clock clock;
} mrd__declared_clock;

typedef struct mrd__file_machine {
    uint32_t file, machine;                          /* as the file numbers it */
    char *name, *sysname, *release, *version, *arch; /* owned or NULL */
    uint32_t num_cpus;
    bool by_name;
} mrd__file_machine;

struct mrd__writer {
    pthread_mutex_t lock; /* of shards and losses */
    MRD__VEC(mrd__file) files;
    MRD__VEC(mrd__declared_clock) clocks;
    MRD__VEC(mrd__file_machine) machines;
    const struct mrd__merge_plan *plan;
    MRD__VEC(mrd__shard *) shards;
    mrd__loss_vec losses; /* found after reading */
    struct mrd__events *events;
    uint32_t events_file;
};

/* Number of facts pushed so far, the open chunk's included. */
static inline uint64_t mrd__shard_count_facts(const mrd__shard *shard)
{
    if (shard->blocks.count == 0) return 0;
    return shard->blocks.count * MRD__FACT_BLOCK - (uint64_t)(shard->stop - shard->at);
}
static inline mrd__fact *mrd__shard_fact(const mrd__shard *shard, uint64_t index)
{
    return &shard->blocks.data[index / MRD__FACT_BLOCK][index % MRD__FACT_BLOCK];
}
/* The facts' memory is not needed any more and serves what comes next (mrd__pages_give). */
void mrd__shard_give_facts(mrd__shard *shard);
/* Side record of fact.extra, which is index + 1. */
static inline const mrd__side *mrd__shard_side_of(const mrd__shard *shard, uint32_t extra)
{
    uint32_t index = extra - 1;
    return &shard->side_blocks.data[index / MRD__SIDE_BLOCK][index % MRD__SIDE_BLOCK];
}
/* Close the open chunk of every shard. Before sealing, once. */
void mrd__writer_finish(mrd__writer *writer);
/* Merge a loss into a list: counts add up, the first hit (lowest offset) keeps its place. */
void mrd__loss_merge(mrd__loss_vec *list, const mrd__loss *loss);
/* Excerpt of at most MRD__LOSS_EXCERPT bytes, whole and valid UTF-8. */
void mrd__loss_set_excerpt(mrd__loss *loss, const char *text, size_t size);
/* Free what the writer knows of machines. */
void mrd__writer_free_machines(mrd__writer *writer);
/* What is known of a machine of a file, or NULL; borrowed. */
const mrd__file_machine *mrd__writer_find_machine(const mrd__writer *writer, uint32_t file,
                                                  uint32_t machine);
/* Free the side records; facts keep their extra. */
void mrd__shard_free_sides(mrd__shard *shard);
/* Free what only reading and joining need: facts, pools, threads, sides. Blobs stay. */
void mrd__shard_destroy(mrd__shard *shard);

#endif
