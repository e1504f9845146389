/* One walk over each key's events decides what opens, what closes and what is an anomaly, and
 * writes the block sums; a second one writes the intervals to where the first one's counts put
 * them.
 *
 *   events   b     i  b     b   i        b busy, i idle
 *   open     1     0  1     1   0        state after each event; the second b is an anomaly
 *   covered  |=====|  |=========|        sums at block borders: covered time, gaps before
 */
#include "pairing/event_pairs.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/os.h"

#include <string.h>

/* Double-double: hi + lo exactly, |lo| at most half an ulp of hi. */
typedef struct wide {
    double hi, lo;
} wide;

/* sum += later - earlier, with the rounding of the difference kept. */
static void add_difference(wide *sum, double later, double earlier)
{
    double d = later - earlier;
    double back = d - later;
    double error = (later - (d - back)) - (earlier + back);
    double s = sum->hi + d;
    double part = s - sum->hi;
    double rest = (sum->hi - (s - part)) + (d - part) + sum->lo + error;
    sum->hi = s + rest;
    sum->lo = rest - (sum->hi - s);
}

typedef struct walk {
    mrd__events *events;
    uint64_t *interval_counts; /* by row */
} walk;

static void index_times(mrd__events *events, const mrd__event_key *key, uint64_t block,
                        uint64_t cell)
{
    for (uint64_t i = 0; i < key->count; i += MRD__EVENT_BLOCK) {
        double time = events->time[key->first + i];
        events->block_time[block++] = time;
        if (i / MRD__EVENT_BLOCK % MRD__EVENT_CELL == 0) events->cell_time[cell++] = time;
    }
}

/* The first walk over an interval key. */
static void sum_key(mrd__events *events, mrd__event_key *key, mrd__event_block *blocks,
                    uint64_t *intervals)
{
    const double *time = events->time + key->first;
    const uint32_t *rank = events->rank + key->first;
    bool open = false;
    wide covered = {0, 0};
    uint32_t gaps = 0, closers = 0;
    for (uint64_t i = 0; i < key->count; i++) {
        if (i && open)
            add_difference(&covered, time[i], time[i - 1]);
        else if (i && time[i] > time[i - 1])
            gaps++;
        mrd__event_block *block = &blocks[i / MRD__EVENT_BLOCK];
        uint32_t bit = UINT32_C(1) << (i % MRD__EVENT_BLOCK);
        if (i % MRD__EVENT_BLOCK == 0) {
            *block =
                (mrd__event_block){covered.hi, covered.lo, .gaps = gaps, .closers_before = closers};
        }
        bool closer = rank[i] & MRD__EVENT_CLOSER;
        if (closer != open) {
            if (key->anomaly_count++ == 0) key->anomaly_first_ns = time[i];
        } else {
            *intervals += !closer;
            open = !closer;
        }
        closers += closer;
        block->open |= open ? bit : 0;
        block->closers |= closer ? bit : 0;
    }
}

static void first_walk(void *ctx, size_t index, uint32_t worker)
{
    (void)worker;
    walk *w = ctx;
    mrd__event_key *key = &w->events->keys[index];
    uint64_t block = w->events->block_index[index];
    index_times(w->events, key, block, w->events->cell_index[index]);
    if (key->form != MRD__FORM_INTERVAL) return;
    sum_key(w->events, key, w->events->blocks + block, &w->interval_counts[key->row]);
}

/* The second walk: intervals of one key, in the order of their starts. */
static void second_walk(void *ctx, size_t index, uint32_t worker)
{
    (void)worker;
    mrd__events *events = ((walk *)ctx)->events;
    const mrd__event_key *key = &events->keys[index];
    if (key->form != MRD__FORM_INTERVAL) return;
    const double *time = events->time + key->first;
    const uint32_t *rank = events->rank + key->first;
    uint64_t at = events->intervals.first[key->row];
    bool open = false;
    for (uint64_t i = 0; i < key->count; i++) {
        bool closer = rank[i] & MRD__EVENT_CLOSER;
        if (closer != open) continue;
        if (closer)
            events->intervals.end[at++] = time[i];
        else
            events->intervals.start[at] = time[i];
        open = !closer;
    }
    if (open) {
        events->intervals.end[at++] = events->end_ns;
        events->interval_unclosed[key->row] = 1;
    }
    mrd__assert(at == events->intervals.first[key->row + 1]);
}

/* Keys of fewer blocks are not worth the gap before them. */
#define ALIGNED_FROM (8 * MRD__EVENT_CELL)

/* Gaps between keys and blocks of keys without intervals stay zero: they go into kept traces. */
static void *take_zeros(uint64_t count, size_t size)
{
    void *block = mrd__pages_take(count * size);
    return block == NULL ? NULL : memset(block, 0, count * size);
}

static void place_blocks(mrd__events *events)
{
    events->block_index = mrd__new_array(uint64_t, events->key_count + 1);
    events->cell_index = mrd__new_array(uint64_t, events->key_count + 1);
    uint64_t place = 0;
    for (size_t k = 0; k < events->key_count; k++) {
        uint64_t blocks = mrd__event_blocks(events->keys[k].count);
        if (blocks >= ALIGNED_FROM)
            place = (place + MRD__EVENT_CELL - 1) / MRD__EVENT_CELL * MRD__EVENT_CELL;
        events->block_index[k] = place;
        place += blocks;
        events->cell_index[k + 1] = events->cell_index[k] + mrd__event_cells(events->keys[k].count);
    }
    events->block_index[events->key_count] = place;
    events->cell_time = take_zeros(events->cell_index[events->key_count], sizeof(double));
    uint64_t total = events->block_index[events->key_count];
    events->block_time = take_zeros(total, sizeof *events->block_time);
    events->blocks = take_zeros(total, sizeof *events->blocks);
}

static void place_intervals(mrd__events *events, uint64_t *counts, uint32_t rows)
{
    mrd__rows *intervals = &events->intervals;
    intervals->row_count = rows;
    intervals->first = mrd__new_array(uint64_t, (size_t)rows + 1);
    for (uint32_t row = 0; row < rows; row++)
        intervals->first[row + 1] = intervals->first[row] + counts[row];
    intervals->count = intervals->first[rows];
    intervals->start = mrd__pages_take(intervals->count * sizeof(double));
    intervals->end = mrd__pages_take(intervals->count * sizeof(double));
    events->interval_unclosed = mrd__new_array(uint8_t, (size_t)rows + 1);
}

void mrd__events_pair(mrd__events *events, uint32_t workers)
{
    mrd__assert(events->block_index == NULL);
    uint32_t rows = 0;
    for (size_t k = 0; k < events->key_count; k++)
        rows += events->keys[k].form == MRD__FORM_INTERVAL;
    mrd__events_index_names(events);
    walk w = {events, mrd__new_array(uint64_t, (size_t)rows + 1)};
    place_blocks(events);
    mrd__parallel_for(workers, events->key_count, first_walk, &w);
    place_intervals(events, w.interval_counts, rows);
    mrd__parallel_for(workers, events->key_count, second_walk, &w);
    mrd__free(w.interval_counts);
    mrd__rows_build(&events->intervals, workers);
    mrd__pyramid_build(&events->pyramid, events->value, events->count, workers);
}
