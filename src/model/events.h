/* Event records of a trace (spec event-trace): raw columns kept bit for bit, grouped by key.
 *
 * A key is (component, form pair): link_busy/link_idle of one component are one key under the
 * opener's name, so are thread_blocked/thread_unblocked; ostd_change and hop_arrive are keys of
 * their own. Inside a key rows stand in time order, equal times in file order; rank is the row's
 * place in that order over the whole file, so that keys merge back into file order by rank.
 *
 *   keys   [ k0            | k1     | ... ]   order: component by first appearance, then category
 *   time   [ ............. | ...... | ... ]
 *   value, rank (top bit: the closer of the pair)
 *   blocks: sampled time and running sums per MRD__EVENT_BLOCK events of a key
 *   cells: sampled time per MRD__EVENT_CELL blocks
 *   intervals: one row per interval key (model/rows.h), derived by pairing
 *
 * The caller (import) fills the raw part, mrd__events_pair (src/pairing) the rest.
 */
#ifndef MRD_MODEL_EVENTS_H
#define MRD_MODEL_EVENTS_H

#include "model/pyramid.h"
#include "model/rows.h"

enum { /* the closed set; names in src/events/category.h */
    MRD__CAT_LINK_BUSY,
    MRD__CAT_LINK_IDLE,
    MRD__CAT_THREAD_BLOCKED,
    MRD__CAT_THREAD_UNBLOCKED,
    MRD__CAT_OSTD_CHANGE,
    MRD__CAT_HOP_ARRIVE,
    MRD__CAT_COUNT
};
typedef enum mrd__event_form {
    MRD__FORM_INTERVAL,
    MRD__FORM_COUNTER,
    MRD__FORM_INSTANT
} mrd__event_form;

#define MRD__EVENT_CLOSER 0x80000000u /* top bit of rank: at most 2^31 - 1 events a trace */

typedef struct mrd__event_key {
    uint32_t component;    /* index of mrd__events.components */
    uint8_t form;          /* mrd__event_form */
    uint8_t category;      /* the opener's or the only one */
    uint8_t closer;        /* the other member of an interval pair, else category */
    uint64_t first, count; /* range of time, value, rank */
    uint32_t row;          /* row of mrd__events.intervals, UINT32_MAX for other forms */
    uint64_t anomaly_count;
    double anomaly_first_ns; /* meaningless when the count is 0 */
} mrd__event_key;

/* Events of one block; at most 32, the block's bits. Small, since at 10^8 events every edge of an
 * aggregated window misses the cache for each line of its block: 8 times are one or two lines. */
#define MRD__EVENT_BLOCK 8
/* Blocks of one cell. The times of cells are few enough to be walked along from edge to edge; the
 * times of a cell's blocks are one cache line (keys of many blocks begin at a whole line). */
#define MRD__EVENT_CELL 8

/* What the aggregated window needs of a block of events of an interval key, beside their times:
 * the covered time of the key before the block's first event (double-double), how many stretches
 * of time above zero without cover lie before it, and closers before it. Bit i: event i. */
typedef struct mrd__event_block {
    double cover_hi, cover_lo;
    uint32_t gaps;
    uint32_t closers_before;
    uint32_t open;    /* the key is open after event i (anomalies change nothing) */
    uint32_t closers; /* event i is the closer's category */
} mrd__event_block;

typedef struct mrd__events {
    uint64_t count;
    double *time, *value; /* grouped by key */
    uint32_t *rank;
    mrd__event_block *blocks; /* parallel to block_time; filled for interval keys only */
    double
        *block_time; /* per key, time of each block's first event (index); key k's blocks start at
                             block_index[k] */
    uint64_t *block_index; /* [key_count + 1]; may leave a few blocks unused before a key's first */
    double *cell_time;     /* per key, time of each cell's first block */
    uint64_t *cell_index;  /* [key_count + 1]: where key k's cells start */

    mrd__event_key *keys;
    size_t key_count;
    mrd__str *components; /* by first appearance in time order; valid UTF-8; own memory */
    size_t component_count;
    uint32_t *component_keys;  /* [component_count + 1]: first key of each component */
    uint32_t *component_slots; /* hash table of names: index + 1, 0 free; [a power of two] */
    size_t component_slot_count;
    const char *category_names[MRD__CAT_COUNT]; /* static */

    char *detail_bytes;     /* all details, file order by rank, each with a NUL behind it (so that
                               an empty text is not a null); NULL when none has one */
    size_t detail_capacity; /* bytes behind detail_bytes, from mrd__pages_alloc */
    uint64_t *detail_first; /* [count + 1] by rank; equal neighbours: null. NULL when none.
                               Read both by mrd__event_detail */

    mrd__rows intervals;        /* start and end owned here */
    uint8_t *interval_unclosed; /* per row: 1 when its last interval is unclosed */
    mrd__pyramid pyramid;       /* over value: least and greatest of any range of counter samples */

    double start_ns, end_ns; /* first time (0 without rows), simulation end */
} mrd__events;

void mrd__events_destroy(mrd__events **events); /* accepts NULL */

/* Index of a component by its whole name, UINT32_MAX when it does not occur. */
uint32_t mrd__events_component(const mrd__events *events, mrd__str name);
/* Fill component_keys and component_slots from components and keys. */
void mrd__events_index_names(mrd__events *events);

/* Allocator bytes: of the records and their indices, of the derived intervals, and of names and
 * details. */
void mrd__events_memory(const mrd__events *events, uint64_t *records, uint64_t *intervals,
                        uint64_t *texts);

/* Blocks and cells of a key with so many events. */
static inline uint64_t mrd__event_blocks(uint64_t count)
{
    return (count + MRD__EVENT_BLOCK - 1) / MRD__EVENT_BLOCK;
}
static inline uint64_t mrd__event_cells(uint64_t count)
{
    return (mrd__event_blocks(count) + MRD__EVENT_CELL - 1) / MRD__EVENT_CELL;
}
/* Rank of the event at an index of time, value and rank: its place in file order by time. */
static inline uint32_t mrd__event_rank(const mrd__events *events, uint64_t index)
{
    return events->rank[index] & ~MRD__EVENT_CLOSER;
}
/* The event's own category (a key holds both members of a pair). */
static inline uint8_t mrd__event_category(const mrd__events *events, const mrd__event_key *key,
                                          uint64_t index)
{
    return events->rank[index] & MRD__EVENT_CLOSER ? key->closer : key->category;
}
/* detail_json of the event of this rank: false when it is null, else *out is borrowed. */
static inline bool mrd__event_detail(const mrd__events *events, uint32_t rank, mrd__str *out)
{
    *out = (mrd__str){0};
    if (!events->detail_first) return false;
    uint64_t first = events->detail_first[rank], next = events->detail_first[rank + 1];
    if (next == first) return false;
    *out = (mrd__str){events->detail_bytes + first, next - first - 1};
    return true;
}

#endif
