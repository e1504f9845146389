/* Aggregated windows: schema SG. Order of rows: track, row, bucket.
 *
 * A lane is one row of slices, or the whole of a counter or instant track. Each lane turns the
 * bucket edges into indices by search and reads what it says of a bucket off running sums and
 * pyramids; lanes are spread over the cores. What they found is kept as small cells, since the
 * words of an answer must be known before its first row goes out (slice_cells_out.c).
 *
 *   edges      |      |      |      |            event_count: difference of indices at the splits
 *   row     ---  --- ----  -        ------       busy_ratio:  mrd__rows_cover between the edges
 *   indices    i0     i1     i2     i2           longest:     mrd__rows_longest of what touches */
#include "query/cells.h"

#include "base/os.h"
#include "query/points.h"

#include <math.h>
#include <string.h>

/* Buckets of all lanes from which on handing out to other cores pays. */
#define PARALLEL_BUCKETS 8192
/* A row with fewer intervals than this share of the buckets is walked by interval. */
#define SPARSE_SHARE 8
/* Cells of the common memory, 24 bytes each: 512 rows of 2,048 buckets. Larger questions take what
 * they fill from the heap. */
#define MEMORY_CELLS (1u << 20)

/* ---- Slices ---- */

/* What a walk over the buckets of one row carries along. */
typedef struct bar_walk {
    mrd__cells *cells;
    mrd__lane *lane;
    const mrd__rows *rows;
    uint32_t row;
} bar_walk;

static uint64_t split_index(const bar_walk *walk, uint32_t b, uint64_t edge_index)
{
    const mrd__buckets *buckets = &walk->cells->buckets;
    double split = buckets->split[b];
    if (split == buckets->edge[b]) return edge_index;
    return mrd__rows_lower_near(walk->rows, walk->row, split, edge_index);
}

/* Share of bucket b that is covered. Far from the origin a bucket may be narrower than the step of
 * doubles there: then it is the one point, covered or not. */
static double busy_ratio(const bar_walk *walk, uint32_t b, double covered, uint64_t lower)
{
    const mrd__rows *rows = walk->rows;
    double from = walk->cells->buckets.edge[b];
    double to = walk->cells->buckets.edge[b + 1];
    if (to > from) return covered == to - from ? 1 : covered / (to - from);
    bool reached = lower > rows->first[walk->row] && rows->end[lower - 1] > from;
    bool starts =
        lower < rows->first[walk->row + 1] && rows->start[lower] == from && rows->end[lower] > from;
    return reached || starts ? 1 : 0;
}

/* Bucket b; lower and next are the row's indices at its two edges. */
static void bar_cell(const bar_walk *walk, uint32_t b, double covered, uint64_t lower,
                     uint64_t next)
{
    const mrd__rows *rows = walk->rows;
    uint64_t first = split_index(walk, b, lower);
    uint64_t last = split_index(walk, b + 1, next);
    double busy = busy_ratio(walk, b, covered, lower);
    if (first == last && busy == 0) return;
    bool reached =
        lower > rows->first[walk->row] && rows->end[lower - 1] > walk->cells->buckets.edge[b];
    uint64_t begin = reached ? lower - 1 : lower;
    if (first < begin) begin = first;
    uint64_t end = next > last ? next : last;
    if (end == begin) end++; /* a bucket of one point, covered by the slice that starts there */
    uint64_t longest = mrd__rows_longest(rows, walk->row, begin, end);
    __builtin_prefetch(walk->cells->window->store->slices.name + longest); /* for name_cells */
    walk->lane->cells[walk->lane->count++] = (mrd__cell){
        .busy = busy, .bucket = b, .count = (uint32_t)(last - first), .longest = (uint32_t)longest};
}

static void walk_dense(const bar_walk *walk, mrd__lane_scratch *scratch)
{
    const mrd__buckets *buckets = &walk->cells->buckets;
    size_t edges = (size_t)buckets->count + 1;
    mrd__rows_lower_many(walk->rows, walk->row, buckets->edge, edges, scratch->index);
    enum {
        TOGETHER = 64
    }; /* small enough that what cover touched is still near for longest */
    double covered[TOGETHER];
    for (uint32_t from = 0; from < buckets->count; from += TOGETHER) {
        uint32_t n = buckets->count - from < TOGETHER ? buckets->count - from : TOGETHER;
        mrd__rows_cover_many(walk->rows, walk->row, buckets->edge + from, scratch->index + from,
                             n + 1, covered);
        for (uint32_t i = 0; i < n; i++)
            bar_cell(walk, from + i, covered[i], scratch->index[from + i],
                     scratch->index[from + i + 1]);
    }
}

/* The last bucket whose beginning, by edge or split, is not after time (the first one at least). */
static uint32_t bucket_at(const mrd__buckets *buckets, double time, bool by_split)
{
    const double *begin = by_split ? buckets->split : buckets->edge;
    uint64_t next = mrd__points_search(begin, 1, buckets->count, time, true);
    return (uint32_t)(next - 1);
}

/* Few intervals: only buckets that one of [first, last) touches are looked at. */
static void walk_sparse(const bar_walk *walk, uint64_t first, uint64_t last)
{
    const mrd__buckets *buckets = &walk->cells->buckets;
    const mrd__rows *rows = walk->rows;
    uint32_t next = 0; /* buckets below are done */
    for (uint64_t i = first; i < last; i++) {
        uint32_t from = bucket_at(buckets, rows->start[i], false);
        uint32_t by_split = bucket_at(buckets, rows->start[i], true);
        if (by_split < from) from = by_split;
        uint32_t to = bucket_at(buckets, rows->end[i], false);
        if (by_split > to) to = by_split;
        uint64_t lower = i;
        for (uint32_t b = from > next ? from : next; b <= to; b++) {
            double begin = buckets->edge[b];
            double end = buckets->edge[b + 1];
            lower = mrd__rows_lower_near(rows, walk->row, begin, lower);
            uint64_t after = mrd__rows_lower_near(rows, walk->row, end, lower);
            double covered = mrd__rows_cover(rows, walk->row, begin, end, lower, after);
            bar_cell(walk, b, covered, lower, after);
            next = b + 1;
        }
    }
}

/* Afterwards, since each name is a miss of the cache: fetched ahead they cost little. */
static void name_cells(const mrd__cells *cells, mrd__lane *lane)
{
    const mrd__str_id *names = cells->window->store->slices.name;
    for (uint32_t i = 0; i < lane->count; i++)
        lane->cells[i].name = names[lane->cells[i].longest];
}

static void slice_lane(mrd__cells *cells, mrd__lane *lane, mrd__lane_scratch *scratch)
{
    const mrd__buckets *buckets = &cells->buckets;
    const mrd__rows *rows = &cells->window->store->rows;
    uint64_t first = mrd__rows_first_touching(rows, lane->row, buckets->start);
    uint64_t last = mrd__rows_lower(rows, lane->row, buckets->split[buckets->count]);
    if (first >= last) return;
    bar_walk walk = {cells, lane, rows, lane->row};
    if (last - first < buckets->count / SPARSE_SHARE)
        walk_sparse(&walk, first, last);
    else
        walk_dense(&walk, scratch);
    name_cells(cells, lane);
}

/* ---- Instants and counters ---- */

static void instant_lane(mrd__cells *cells, mrd__lane *lane, mrd__lane_scratch *scratch)
{
    const mrd__buckets *buckets = &cells->buckets;
    const mrd__store *store = cells->window->store;
    const mrd__track *track = &store->tracks[lane->track];
    size_t edges = (size_t)buckets->count + 1;
    mrd__points_search_many(store->instants.time, track->first, track->first + track->count,
                            buckets->split, edges, scratch->index);
    for (uint32_t b = 0; b < buckets->count; b++) {
        uint64_t first = scratch->index[b];
        uint64_t last = scratch->index[b + 1];
        if (first == last) continue;
        lane->cells[lane->count++] = (mrd__cell){.bucket = b,
                                                 .count = (uint32_t)(last - first),
                                                 .longest = (uint32_t)first,
                                                 .name = store->instants.name[first]};
    }
}

static void counter_lane(mrd__cells *cells, mrd__lane *lane, mrd__lane_scratch *scratch)
{
    const mrd__buckets *buckets = &cells->buckets;
    const mrd__store *store = cells->window->store;
    const mrd__counters *counters = &store->counters;
    const mrd__track *track = &store->tracks[lane->track];
    size_t edges = (size_t)buckets->count + 1;
    mrd__points_search_many(counters->time, track->first, track->first + track->count,
                            buckets->split, edges, scratch->index);
    for (uint32_t b = 0; b < buckets->count; b++) {
        uint64_t first = scratch->index[b];
        uint64_t last = scratch->index[b + 1];
        bool carried = first > track->first;
        double before = carried ? counters->value[first - 1] : 0;
        if (first == last && before == 0) continue;
        mrd__steps steps = {INFINITY, -INFINITY, before};
        if (carried) steps.min = steps.max = before;
        mrd__pyramid_range(&counters->pyramid, counters->value, first, last, &steps.min,
                           &steps.max);
        if (last > first) steps.last = counters->value[last - 1];
        lane->steps[lane->count] = steps;
        lane->cells[lane->count++] =
            (mrd__cell){.bucket = b, .count = (uint32_t)(last - first), .longest = MRD__NONE};
    }
}

/* ---- All lanes ---- */

static void add_lanes(mrd__cells *cells, uint32_t id)
{
    const mrd__track *track = &cells->window->store->tracks[id];
    if (track->kind == MRD__TRACK_COUNTER || track->kind == MRD__TRACK_INSTANT) {
        mrd__vec_push(&cells->lanes, ((mrd__lane){.track = id, .kind = track->kind}));
        return;
    }
    for (uint32_t i = 0; i < track->row_count; i++)
        mrd__vec_push(&cells->lanes,
                      ((mrd__lane){.track = id, .kind = track->kind, .row = track->first_row + i}));
}

/* Where the lane's cells go: its place in the common memory, or the worker's until they are
 * counted. */
static void place_cells(mrd__cells *cells, mrd__lane *lane, const mrd__lane_scratch *scratch)
{
    if (cells->in_memory) return; /* placed beforehand */
    lane->cells = scratch->cells;
    lane->steps = scratch->steps;
}

static void keep_cells(mrd__cells *cells, mrd__lane *lane)
{
    atomic_fetch_add_explicit(&cells->total, lane->count, memory_order_relaxed);
    if (cells->in_memory) return;
    const mrd__cell *from = lane->cells;
    const mrd__steps *steps = lane->steps;
    lane->cells = NULL;
    lane->steps = NULL;
    if (lane->count == 0) return;
    lane->cells = mrd__alloc(lane->count * sizeof *from);
    memcpy(lane->cells, from, lane->count * sizeof *from);
    if (lane->kind != MRD__TRACK_COUNTER) return;
    lane->steps = mrd__alloc(lane->count * sizeof *steps);
    memcpy(lane->steps, steps, lane->count * sizeof *steps);
}

static void lane_task(void *ctx, size_t index, uint32_t worker)
{
    mrd__cells *cells = ctx;
    mrd__lane_scratch *scratch = &cells->scratch[worker];
    size_t stop = (index + 1) * cells->lanes_a_task;
    if (stop > cells->lanes.count) stop = cells->lanes.count;
    for (size_t i = index * cells->lanes_a_task; i < stop; i++) {
        if (atomic_load_explicit(&cells->total, memory_order_relaxed) > MRD__MAX_WINDOW_CELLS)
            return;
        mrd__lane *lane = &cells->lanes.data[i];
        place_cells(cells, lane, scratch);
        if (lane->kind == MRD__TRACK_COUNTER)
            counter_lane(cells, lane, scratch);
        else if (lane->kind == MRD__TRACK_INSTANT)
            instant_lane(cells, lane, scratch);
        else
            slice_lane(cells, lane, scratch);
        keep_cells(cells, lane);
    }
}

/* One region for everything; what is not touched of it costs nothing. */
static void take_memory(mrd__cells *cells, uint32_t workers)
{
    size_t buckets = cells->buckets.count;
    size_t lanes = cells->lanes.count;
    size_t steps = 0;
    for (size_t i = 0; i < lanes; i++)
        steps += cells->lanes.data[i].kind == MRD__TRACK_COUNTER;
    cells->in_memory = (lanes + steps) * buckets <= MEMORY_CELLS;
    size_t places = cells->in_memory ? 0 : workers;
    size_t index_bytes = mrd__scratch_rounded((buckets + 1) * sizeof(uint64_t));
    size_t cell_bytes = mrd__scratch_rounded(buckets * sizeof(mrd__cell));
    size_t step_bytes = mrd__scratch_rounded(buckets * sizeof(mrd__steps));
    size_t size = workers * index_bytes + places * (cell_bytes + step_bytes);
    if (cells->in_memory) size += lanes * cell_bytes + steps * step_bytes;
    cells->memory = mrd__scratch_take(size);
    cells->scratch = mrd__new_array(mrd__lane_scratch, workers);
    for (uint32_t i = 0; i < workers; i++) {
        mrd__lane_scratch *scratch = &cells->scratch[i];
        scratch->index = mrd__scratch_cut(&cells->memory, index_bytes);
        if (cells->in_memory) continue;
        scratch->cells = mrd__scratch_cut(&cells->memory, cell_bytes);
        scratch->steps = mrd__scratch_cut(&cells->memory, step_bytes);
    }
    for (size_t i = 0; i < lanes && cells->in_memory; i++) {
        mrd__lane *lane = &cells->lanes.data[i];
        lane->cells = mrd__scratch_cut(&cells->memory, cell_bytes);
        if (lane->kind == MRD__TRACK_COUNTER)
            lane->steps = mrd__scratch_cut(&cells->memory, step_bytes);
    }
}

static void run_lanes(mrd__cells *cells)
{
    uint64_t work = cells->lanes.count * (uint64_t)cells->buckets.count;
    uint32_t workers = work >= PARALLEL_BUCKETS ? mrd__cores() : 1;
    take_memory(cells, workers);
    cells->lanes_a_task = 1 + cells->lanes.count / 1024;
    size_t tasks = (cells->lanes.count + cells->lanes_a_task - 1) / cells->lanes_a_task;
    mrd__parallel_for(workers, tasks, lane_task, cells);
    mrd__free(cells->scratch);
}

static mrd_status answer(mrd__cells *cells, const mrd_sink *sink, mrd_error *error)
{
    const mrd__window *window = cells->window;
    MRD__TRY(mrd__buckets_init(&cells->buckets, window->start, window->end, window->end_inside,
                               window->buckets, error));
    for (size_t i = 0; i < window->tracks.count; i++)
        add_lanes(cells, window->tracks.data[i]);
    run_lanes(cells);
    if (atomic_load(&cells->total) > MRD__MAX_WINDOW_CELLS) {
        mrd__fail(error, MRD_ERR_ARGUMENT, "bad_buckets",
                  "%u buckets of %zu rows make more than %u cells; fewer buckets or tracks are "
                  "allowed",
                  window->buckets, cells->lanes.count, MRD__MAX_WINDOW_CELLS);
        if (error != NULL) error->limit = MRD__MAX_WINDOW_CELLS;
        return MRD_ERR_ARGUMENT;
    }
    return mrd__cells_write(cells, sink, error);
}

mrd_status mrd__window_cells(const mrd__window *window, const mrd_sink *sink, mrd_error *error)
{
    mrd__cells cells = {.window = window};
    mrd_status status = answer(&cells, sink, error);
    for (size_t i = 0; i < cells.lanes.count && !cells.in_memory; i++) {
        mrd__free(cells.lanes.data[i].cells);
        mrd__free(cells.lanes.data[i].steps);
    }
    mrd__scratch_give(&cells.memory);
    mrd__vec_reset(&cells.lanes);
    mrd__buckets_reset(&cells.buckets);
    return status;
}
