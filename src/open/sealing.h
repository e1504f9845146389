/* The state of one sealing and its steps, in the order they run (src/open/seal.c).
 *
 *   join     chunks in file order; strings by first use; processes and threads
 *   sort out every fact to its group (one per track to be), groups in display order, facts moved
 *            into one array of items grouped like that, file order inside a group
 *   pair     each group for itself: sort by time, pair, nest (src/pairing)
 *   place    slices and points into the columns, row by row; flows bound
 *   finish   bounds, view, origin; ranks; doubles in place; rows and sums; losses
 */
#ifndef MRD_OPEN_SEALING_H
#define MRD_OPEN_SEALING_H

#include "model/args.h"
#include "model/facts.h"
#include "pairing/async.h"
#include "pairing/flows.h"
#include "pairing/slices.h"

#include <pthread.h>

/* A chunk in file order. */
typedef struct mrd__joined {
    mrd__shard *shard;
    uint32_t shard_index;
    uint32_t file;  /* of the store */
    uint64_t order; /* of the chunk */
    uint64_t first, end;
    uint32_t base; /* order of its first fact */
    uint32_t metadata_first, metadata_end;
} mrd__joined;

typedef struct mrd__seal_process {
    mrd__ident pid;   /* TEXT: global string id */
    uint32_t machine; /* of the store */
    mrd__str_id name, labels;
    MRD__VEC(mrd__str_id) names; /* distinct, in order */
    int64_t sort_index;
    bool used;
    uint32_t index; /* of the store, MRD__NONE when unused */
} mrd__seal_process;

/* Each file has slots of its own, so that its events pair among themselves only; the thread in the
 * store is one: that of the first slot. */
typedef struct mrd__seal_thread {
    uint32_t process; /* slot */
    uint32_t file;    /* of the store */
    uint32_t first;   /* slot: first of its (process, tid) */
    mrd__ident tid;
    mrd__str_id name;
    int64_t sort_index;
    bool used;
    uint32_t index;
} mrd__seal_thread;

typedef struct mrd__thread_ref { /* of a shard's thread */
    uint32_t thread;             /* slot; without a tid that of the process's main thread */
    bool named;                  /* the facts name this tid: any of them makes the thread */
    uint32_t own;                /* slot of a track of its own or MRD__NONE */
} mrd__thread_ref;

/* A track that a shard described (mrd__track_spec). */
typedef struct mrd__own_track {
    uint32_t process, thread; /* slots or MRD__NONE */
    uint32_t parent;          /* slot or MRD__NONE */
    uint32_t machine;         /* of the store */
    uint32_t file;            /* that describes it */
    bool above;               /* of one with facts */
    mrd__str_id name, unit;
    bool async;     /* slices nest as async ones */
    uint32_t place; /* display order: parents before children */
    uint32_t track; /* of the store: the first that came of it, MRD__NONE */
} mrd__own_track;

/* A group of facts that becomes one track. */
typedef struct mrd__group {
    mrd__str_id track_name;             /* COUNTER, ASYNC */
    uint8_t kind;                       /* mrd__track_kind */
    uint8_t scope;                      /* INSTANT */
    bool heading;                       /* a described track without facts, above one with */
    uint32_t process, thread;           /* slots or MRD__NONE */
    uint32_t own;                       /* slot of the track that this is a part of, MRD__NONE */
    mrd__str_id name, series;           /* COUNTER */
    mrd__str_id category, id, id_scope; /* ASYNC */
    uint32_t file;
    uint32_t first_order;  /* for the order of appearance */
    uint64_t first, count; /* items */
    mrd__nested nested;
    uint32_t track; /* of the store or MRD__NONE when nothing came of it */
    uint64_t slice_first;
    uint32_t row_first;
} mrd__group;

typedef struct mrd__meta { /* a metadata fact */
    uint32_t order;
    uint8_t phase;
    uint32_t thread; /* slot */
    mrd__str_id name;
    int64_t value;
} mrd__meta;

/* Growing list in pages of its own: these come in megabytes, and a small page is a fault each. */
typedef struct mrd__point_list {
    mrd__flow_point *data;
    size_t count, capacity;
    bool lent; /* the memory is another list's */
} mrd__point_list;
/* Let an empty list write to count points from first on of another's memory, as long as they
 * suffice. The lender lives longer. */
void mrd__points_lend(mrd__point_list *list, const mrd__point_list *lender, size_t first,
                      size_t count);
void mrd__points_reserve(mrd__point_list *list, size_t count);
void mrd__points_push(mrd__point_list *list, mrd__flow_point point);
void mrd__points_reset(mrd__point_list *list);

/* An end that binds flows to the slice it closes. */
typedef struct mrd__flow_end {
    uint32_t begin, end; /* orders */
    uint32_t slice;
} mrd__flow_end;
typedef MRD__VEC(mrd__flow_end) mrd__flow_ends;

/* One worker's state; several workers never share one. */
typedef struct mrd__seal_worker {
    struct mrd__sealing *seal;
    mrd__found found;
    mrd__flow_ends flow_ends;
    uint32_t blob; /* index of the block it appends to, MRD__NONE */
    mrd__buf text;
    int64_t start, end; /* bounds of what it placed */
    uint64_t unclosed;
    char padding[64];
} mrd__seal_worker;

typedef struct mrd__machine_ref { /* what a file calls a machine */
    uint32_t file, number;
    uint32_t index; /* of the store */
} mrd__machine_ref;

typedef struct mrd__sealing {
    mrd__writer *writer;
    mrd__store *store;
    uint32_t workers;

    uint32_t *file_of;                   /* [writer's files] index in the store */
    MRD__VEC(mrd__machine_ref) machines; /* by (file, number) */
    MRD__VEC(mrd__joined) chunks;
    uint64_t facts;
    uint32_t *file_first; /* [files + 1] */

    uint32_t **string_map; /* [shards] local to global */
    mrd__pool extra;       /* strings made while sealing; global id = extra_base + local id - 1 */
    uint32_t extra_base;
    MRD__VEC(mrd__str) strings;

    mrd__thread_ref **thread_map; /* [shards] */
    uint32_t *blob_base;          /* [shards] */
    MRD__VEC(mrd__seal_process) processes;
    MRD__VEC(mrd__seal_thread) threads;
    MRD__VEC(mrd__own_track) own_tracks;
    MRD__VEC(mrd__meta) metas;

    MRD__VEC(mrd__group) groups; /* display order */
    mrd__item *items;
    uint64_t item_count;
    uint32_t *parent, *lane;                              /* [item_count] */
    bool sorted_slices, sorted_instants, sorted_counters; /* by time, over all groups */

    mrd__point_list points;   /* file order */
    mrd__flow_ends flow_ends; /* by begin */

    mrd__seal_worker *worker; /* [workers] */
    pthread_mutex_t lock;     /* of the store's blocks of text */
    int64_t start, end;
    bool any;
} mrd__sealing;

/* seal_join.c */
void mrd__seal_files(mrd__sealing *seal);
mrd_status mrd__seal_chunks(mrd__sealing *seal, mrd_error *error);
void mrd__seal_thread_slots(mrd__sealing *seal);
/* seal_machines.c: machines of the store; then which one a file means by a number */
void mrd__seal_machines(mrd__sealing *seal);
uint32_t mrd__seal_machine(const mrd__sealing *seal, uint32_t file, uint32_t number);
/* seal_own.c: slots of described tracks; their display order, once names are known */
void mrd__seal_own_slots(mrd__sealing *seal);
void mrd__seal_own_order(mrd__sealing *seal);
/* Name of a described track, else its owner's. */
mrd__str_id mrd__seal_own_name(const mrd__sealing *seal, const mrd__own_track *own);
/* The nearest track of the store above it, MRD__NONE. */
uint32_t mrd__seal_own_parent(const mrd__sealing *seal, const mrd__own_track *own);
/* seal_clock.c: ticks of all clocks become ns of the trace's clock */
void mrd__seal_clocks(mrd__sealing *seal);
/* seal_strings.c */
void mrd__seal_strings(mrd__sealing *seal);
mrd__str_id mrd__seal_string(mrd__sealing *seal, const char *text, size_t size);
void mrd__seal_strings_done(mrd__sealing *seal);
/* seal_spans.c, seal_group.c */
void mrd__seal_sort_out(mrd__sealing *seal);
/* seal_names.c: metadata facts to names and the display order; then groups in that order */
void mrd__seal_names(mrd__sealing *seal);
/* place[g]: where group g stands afterwards */
void mrd__seal_order_groups(mrd__sealing *seal, uint32_t *place);
void mrd__seal_track_names(mrd__sealing *seal);
/* seal_slices.c */
void mrd__seal_pair(mrd__sealing *seal);
void mrd__seal_tracks(mrd__sealing *seal);
void mrd__seal_place(mrd__sealing *seal);
/* Every flow point of this fact belongs to the slice. */
void mrd__seal_bind_v2(mrd__sealing *seal, uint32_t order, uint32_t slice);
/* seal_flows.c */
void mrd__seal_flows(mrd__sealing *seal, uint32_t workers);
/* seal_time.c */
void mrd__seal_view(mrd__sealing *seal);
/* Flows (seal_flows.c) and ranks, which do not need each other. */
void mrd__seal_flows_and_ranks(mrd__sealing *seal);
void mrd__seal_doubles(mrd__sealing *seal);
/* seal_losses.c */
void mrd__seal_losses(mrd__sealing *seal);
void mrd__seal_metadata(mrd__sealing *seal);
/* seal_events.c: tracks of event records */
void mrd__seal_events(mrd__sealing *seal);

/* seal_pages.c: pages of all these bytes (mrd__pages_take), touched in parallel and each by one
 * worker only. Workers that fill an array from several sides would both clear the same huge pages,
 * one of them in vain. */
void *mrd__seal_pages(uint32_t workers, size_t size);
/* The same for memory that is there: of a list of blocks. */
typedef struct mrd__block {
    void *data;
    size_t size;
} mrd__block;
void mrd__seal_touch(uint32_t workers, const mrd__block *blocks, size_t count);

/* Columns hold exact ns in the place of doubles until the last step. */
static inline int64_t mrd__column_get(const double *column, uint64_t index)
{
    int64_t value;
    __builtin_memcpy(&value, &column[index], sizeof value);
    return value;
}
static inline void mrd__column_set(double *column, uint64_t index, int64_t value)
{
    __builtin_memcpy(&column[index], &value, sizeof value);
}

#endif
