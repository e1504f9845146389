/* Rows: building and searching. See rows.h for what stands where.
 *
 *   starts of a row   | s0 ... s31 | s32 ... s63 | s64 ...
 *   block_start       | s0         | s32         | s64      a search walks this,
 *   cover             | 0          | d0+...+d31  | ...      then counts inside one block
 *
 * Covered time of [from, to) is a sum of positive parts only: what is left of the block of `from`,
 * the whole blocks (the one difference, taken in double-double), the front of the block of `to`,
 * and the interval that reaches in from before. So nothing large cancels in plain doubles. */
#include "model/rows.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/os.h"

#define TASK_BLOCKS 2048 /* blocks one building task takes: about 64 K intervals */
#define TASK_ROWS 256    /* rows one building task takes */
#define BATCH 32         /* edges whose cache lines are fetched together */
/* A sum this close (relatively) to the whole window is the whole window: twenty times the rounding
 * of the partial sums, a hundred thousandth of what is promised. */
#define FULL_TOLERANCE 0x1p-46

/* An unevaluated sum: hi is its rounded value, lo the rest. */
typedef struct pair_sum {
    double hi, lo;
} pair_sum;

static inline pair_sum two_sum(double a, double b)
{
    double s = a + b;
    double t = s - a;
    return (pair_sum){s, (a - (s - t)) + (b - t)};
}

static inline pair_sum quick_two_sum(double a, double b) /* |a| >= |b| or a == 0 */
{
    double s = a + b;
    return (pair_sum){s, b - (s - a)};
}

static inline pair_sum pair_add(pair_sum a, pair_sum b)
{
    pair_sum s = two_sum(a.hi, b.hi);
    pair_sum t = two_sum(a.lo, b.lo);
    s = quick_two_sum(s.hi, s.lo + t.hi);
    return quick_two_sum(s.hi, s.lo + t.lo);
}

/* ---- Building ---- */

typedef struct block_task {
    mrd__rows *rows;
    uint64_t block_count;
} block_task;

/* Row that holds a block: the last one whose first block is not above it and that has blocks. */
static uint32_t row_of_block(const mrd__rows *rows, uint64_t block)
{
    uint32_t low = 0;
    uint32_t high = rows->row_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (rows->block_first[middle] <= block)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Sum and longest of one block; the sum goes into cover until the prefix pass. */
static void build_block(mrd__rows *rows, uint64_t block, uint64_t begin, uint64_t end)
{
    pair_sum lanes[4] = {{0}};
    uint64_t longest = begin;
    double most = rows->end[begin] - rows->start[begin];
    for (uint64_t i = begin; i < end; i++) {
        pair_sum length = two_sum(rows->end[i], -rows->start[i]);
        lanes[i % 4] = pair_add(lanes[i % 4], length);
        if (length.hi > most) {
            most = length.hi;
            longest = i;
        }
    }
    pair_sum sum = pair_add(pair_add(lanes[0], lanes[1]), pair_add(lanes[2], lanes[3]));
    rows->block_start[block] = rows->start[begin];
    rows->cover_hi[block] = sum.hi;
    rows->cover_lo[block] = sum.lo;
    rows->longest[0][block] = (uint32_t)longest;
    rows->longest_length[0][block] = most;
}

static void build_blocks(void *ctx, size_t index, uint32_t worker)
{
    (void)worker;
    block_task *task = ctx;
    mrd__rows *rows = task->rows;
    uint64_t block = index * TASK_BLOCKS;
    uint64_t stop = block + TASK_BLOCKS;
    if (stop > task->block_count) stop = task->block_count;
    uint32_t row = row_of_block(rows, block);
    for (; block < stop; block++) {
        while (rows->block_first[row + 1] <= block)
            row++;
        uint64_t begin = rows->first[row] + (block - rows->block_first[row]) * MRD__ROW_BLOCK;
        uint64_t end = begin + MRD__ROW_BLOCK;
        if (end > rows->first[row + 1]) end = rows->first[row + 1];
        build_block(rows, block, begin, end);
    }
}

/* Entries of one level of a row from those of the level below. */
static void build_level(mrd__rows *rows, uint32_t row, uint32_t level)
{
    const double *length = rows->longest_length[level - 1];
    uint64_t at = rows->longest_first[level - 1][row];
    uint64_t end = rows->longest_first[level - 1][row + 1];
    uint64_t out = rows->longest_first[level][row];
    for (; at < end; out++) {
        uint64_t stop = at + MRD__ROW_BLOCK < end ? at + MRD__ROW_BLOCK : end;
        uint64_t best = at;
        for (at++; at < stop; at++)
            best = length[at] > length[best] ? at : best;
        rows->longest[level][out] = rows->longest[level - 1][best];
        rows->longest_length[level][out] = length[best];
    }
}

static void finish_row(mrd__rows *rows, uint32_t row)
{
    pair_sum sum = {0};
    for (uint64_t b = rows->block_first[row]; b < rows->block_first[row + 1]; b++) {
        pair_sum block = {rows->cover_hi[b], rows->cover_lo[b]};
        rows->cover_hi[b] = sum.hi;
        rows->cover_lo[b] = sum.lo;
        sum = pair_add(sum, block);
    }
    for (uint32_t level = 1; level < MRD__ROW_LEVELS && rows->longest[level] != NULL; level++)
        build_level(rows, row, level);
}

static void finish_rows(void *ctx, size_t index, uint32_t worker)
{
    (void)worker;
    mrd__rows *rows = ctx;
    uint64_t row = (uint64_t)index * TASK_ROWS;
    uint64_t stop = row + TASK_ROWS < rows->row_count ? row + TASK_ROWS : rows->row_count;
    for (; row < stop; row++)
        finish_row(rows, (uint32_t)row);
}

/* Ranges one 32nd the size of those given; *most is the largest of them. */
static uint64_t *divided_ranges(const uint64_t *first, uint32_t row_count, uint64_t *most)
{
    uint64_t *out = mrd__alloc(((size_t)row_count + 1) * sizeof *out);
    uint64_t total = 0;
    *most = 0;
    for (uint32_t row = 0; row < row_count; row++) {
        uint64_t size = (first[row + 1] - first[row] + MRD__ROW_BLOCK - 1) / MRD__ROW_BLOCK;
        out[row] = total;
        total += size;
        if (size > *most) *most = size;
    }
    out[row_count] = total;
    return out;
}

void mrd__rows_build(mrd__rows *rows, uint32_t workers)
{
    mrd__assert(rows->count < UINT32_MAX);
    if (rows->row_count == 0) return;
    uint64_t most = 0;
    rows->block_first = divided_ranges(rows->first, rows->row_count, &most);
    uint64_t blocks = rows->block_first[rows->row_count];
    rows->block_start = mrd__alloc(blocks * sizeof(double));
    rows->cover_hi = mrd__alloc(blocks * sizeof(double));
    rows->cover_lo = mrd__alloc(blocks * sizeof(double));
    rows->longest[0] = mrd__alloc(blocks * sizeof(uint32_t));
    rows->longest_length[0] = mrd__alloc(blocks * sizeof(double));
    rows->longest_first[0] = rows->block_first;
    for (uint32_t level = 1; most >= MRD__ROW_BLOCK; level++) {
        mrd__assert(level < MRD__ROW_LEVELS);
        rows->longest_first[level] =
            divided_ranges(rows->longest_first[level - 1], rows->row_count, &most);
        uint64_t size = rows->longest_first[level][rows->row_count];
        rows->longest[level] = mrd__alloc(size * sizeof(uint32_t));
        rows->longest_length[level] = mrd__alloc(size * sizeof(double));
    }
    block_task task = {rows, blocks};
    mrd__parallel_for(workers, (blocks + TASK_BLOCKS - 1) / TASK_BLOCKS, build_blocks, &task);
    mrd__parallel_for(workers, ((size_t)rows->row_count + TASK_ROWS - 1) / TASK_ROWS, finish_rows,
                      rows);
}

void mrd__rows_reset(mrd__rows *rows)
{
    for (uint32_t level = 0; level < MRD__ROW_LEVELS; level++) {
        mrd__free(rows->longest[level]);
        mrd__free(rows->longest_length[level]);
        if (level > 0) mrd__free(rows->longest_first[level]); /* 0 is block_first */
    }
    mrd__free(rows->first);
    mrd__free(rows->block_first);
    mrd__free(rows->block_start);
    mrd__free(rows->cover_hi);
    mrd__free(rows->cover_lo);
    *rows = (mrd__rows){.start = rows->start, .end = rows->end};
}

uint64_t mrd__rows_memory(const mrd__rows *rows)
{
    if (rows->block_first == NULL) return 0;
    uint64_t ranges = (uint64_t)rows->row_count + 1;
    uint64_t blocks = rows->block_first[rows->row_count];
    uint64_t bytes = 2 * ranges * sizeof(uint64_t);
    bytes += blocks * (4 * sizeof(double) + sizeof(uint32_t));
    for (uint32_t level = 1; level < MRD__ROW_LEVELS && rows->longest[level] != NULL; level++)
        bytes += ranges * sizeof(uint64_t) +
                 rows->longest_first[level][rows->row_count] * (sizeof(double) + sizeof(uint32_t));
    return bytes;
}

/* ---- Searching ---- */

/* First block in [low, high) that starts at time or later. */
static uint64_t search_blocks(const mrd__rows *rows, uint64_t low, uint64_t high, double time)
{
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (rows->block_start[middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The same, going out from `low` in doubling steps: the answer is near. */
static uint64_t gallop_blocks(const mrd__rows *rows, uint64_t low, uint64_t high, double time)
{
    uint64_t step = 1;
    uint64_t probe = low;
    while (probe < high && rows->block_start[probe] < time) {
        low = probe + 1;
        probe += step;
        step *= 2;
    }
    return search_blocks(rows, low, probe < high ? probe : high, time);
}

/* How many of the first n starts lie before time; no early exit, so that it vectorizes. */
static inline uint64_t count_before(const double *start, uint64_t n, double time)
{
    uint64_t before = 0;
    if (n == MRD__ROW_BLOCK) {
        for (uint64_t i = 0; i < MRD__ROW_BLOCK; i++)
            before += start[i] < time;
        return before;
    }
    for (uint64_t i = 0; i < n; i++)
        before += start[i] < time;
    return before;
}

/* From the first block that starts at time or later to the interval: it lies in the block before,
 * or is the first of this one. */
static uint64_t lower_in_block(const mrd__rows *rows, uint32_t row, uint64_t block, double time)
{
    uint64_t first_block = rows->block_first[row];
    if (block == first_block) return rows->first[row];
    uint64_t begin = rows->first[row] + (block - 1 - first_block) * MRD__ROW_BLOCK;
    uint64_t n = rows->first[row + 1] - begin;
    return begin + count_before(rows->start + begin, n < MRD__ROW_BLOCK ? n : MRD__ROW_BLOCK, time);
}

uint64_t mrd__rows_lower(const mrd__rows *rows, uint32_t row, double time)
{
    uint64_t block = search_blocks(rows, rows->block_first[row], rows->block_first[row + 1], time);
    return lower_in_block(rows, row, block, time);
}

uint64_t mrd__rows_first_touching(const mrd__rows *rows, uint32_t row, double time)
{
    uint64_t lower = mrd__rows_lower(rows, row, time);
    return lower > rows->first[row] && rows->end[lower - 1] > time ? lower - 1 : lower;
}

uint64_t mrd__rows_lower_near(const mrd__rows *rows, uint32_t row, double time, uint64_t near)
{
    uint64_t at = near;
    for (int step = 0; step < MRD__ROW_BLOCK; step++) {
        bool before = at > rows->first[row] && rows->start[at - 1] >= time;
        bool after = at < rows->first[row + 1] && rows->start[at] < time;
        if (!before && !after) return at;
        at = before ? at - 1 : at + 1;
    }
    return mrd__rows_lower(rows, row, time);
}

static void prefetch_block(const double *column, uint64_t begin)
{
    for (uint32_t i = 0; i < MRD__ROW_BLOCK; i += 8)
        __builtin_prefetch(column + begin + i);
}

void mrd__rows_lower_many(const mrd__rows *rows, uint32_t row, const double *edges, size_t count,
                          uint64_t *out)
{
    uint64_t first_block = rows->block_first[row];
    uint64_t last_block = rows->block_first[row + 1];
    uint64_t block = first_block;
    for (size_t from = 0; from < count; from += BATCH) {
        size_t n = count - from < BATCH ? count - from : BATCH;
        uint64_t blocks[BATCH];
        for (size_t i = 0; i < n; i++) {
            block = gallop_blocks(rows, block, last_block, edges[from + i]);
            blocks[i] = block;
            if (block > first_block)
                prefetch_block(rows->start,
                               rows->first[row] + (block - 1 - first_block) * MRD__ROW_BLOCK);
        }
        for (size_t i = 0; i < n; i++)
            out[from + i] = lower_in_block(rows, row, blocks[i], edges[from + i]);
    }
}

/* ---- Covered time ---- */

static double sum_lengths(const mrd__rows *rows, uint64_t begin, uint64_t end)
{
    double sum = 0;
    for (uint64_t i = begin; i < end; i++)
        sum += rows->end[i] - rows->start[i];
    return sum;
}

/* Whole intervals [begin, end) of a row. */
static double sum_range(const mrd__rows *rows, uint32_t row, uint64_t begin, uint64_t end)
{
    uint64_t first = rows->first[row];
    uint64_t head = (begin - first + MRD__ROW_BLOCK - 1) / MRD__ROW_BLOCK;
    uint64_t tail = (end - first) / MRD__ROW_BLOCK;
    if (head >= tail) return sum_lengths(rows, begin, end); /* fewer than 64 */
    uint64_t from = rows->block_first[row] + head;
    uint64_t to = rows->block_first[row] + tail;
    double whole;
    if (to < rows->block_first[row + 1]) {
        pair_sum sum = pair_add((pair_sum){rows->cover_hi[to], rows->cover_lo[to]},
                                (pair_sum){-rows->cover_hi[from], -rows->cover_lo[from]});
        whole = sum.hi + sum.lo;
    } else { /* the last block is full and there is no sum behind it */
        pair_sum sum = pair_add((pair_sum){rows->cover_hi[to - 1], rows->cover_lo[to - 1]},
                                (pair_sum){-rows->cover_hi[from], -rows->cover_lo[from]});
        whole =
            sum.hi + sum.lo +
            sum_lengths(rows, first + (tail - 1) * MRD__ROW_BLOCK, first + tail * MRD__ROW_BLOCK);
    }
    return sum_lengths(rows, begin, first + head * MRD__ROW_BLOCK) + whole +
           sum_lengths(rows, first + tail * MRD__ROW_BLOCK, end);
}

double mrd__rows_cover(const mrd__rows *rows, uint32_t row, double from, double to,
                       uint64_t lower_from, uint64_t lower_to)
{
    double width = to - from;
    if (!(width > 0)) return 0;
    double covered = 0;
    if (lower_from > rows->first[row]) { /* the one that may reach in */
        double end = rows->end[lower_from - 1];
        if (end >= to) return width;
        if (end > from) covered = end - from;
    }
    if (lower_to > lower_from) { /* only the last that starts inside may reach out */
        uint64_t last = lower_to - 1;
        covered += sum_range(rows, row, lower_from, last);
        double end = rows->end[last] < to ? rows->end[last] : to;
        covered += end - rows->start[last];
    }
    return covered >= width * (1 - FULL_TOLERANCE) ? width : covered;
}

static void prefetch_cover(const mrd__rows *rows, uint32_t row, uint64_t lower)
{
    uint64_t first = rows->first[row];
    uint64_t block = (lower - first) / MRD__ROW_BLOCK;
    prefetch_block(rows->start, first + block * MRD__ROW_BLOCK);
    prefetch_block(rows->end, first + block * MRD__ROW_BLOCK);
    __builtin_prefetch(rows->cover_hi + rows->block_first[row] + block);
    __builtin_prefetch(rows->cover_lo + rows->block_first[row] + block);
}

void mrd__rows_cover_many(const mrd__rows *rows, uint32_t row, const double *edges,
                          const uint64_t *lower, size_t count, double *out)
{
    for (size_t i = 0; i < count && i < BATCH; i++)
        prefetch_cover(rows, row, lower[i]);
    for (size_t i = 0; i + 1 < count; i++) {
        if (i + BATCH < count) prefetch_cover(rows, row, lower[i + BATCH]);
        out[i] = mrd__rows_cover(rows, row, edges[i], edges[i + 1], lower[i], lower[i + 1]);
    }
}

/* ---- Longest ---- */

typedef struct longest {
    uint64_t interval;
    double length;
} longest;

/* The longer one, the earlier where they tie. */
static inline longest longer(longest a, uint64_t interval, double length)
{
    bool better = length > a.length || (length == a.length && interval < a.interval);
    return better ? (longest){interval, length} : a;
}

/* best and the entries [begin, end) of the level below `level`: 0 is the intervals themselves. */
static longest longest_of(const mrd__rows *rows, uint32_t level, uint64_t begin, uint64_t end,
                          longest best)
{
    if (level == 0) {
        for (uint64_t i = begin; i < end; i++)
            best = longer(best, i, rows->end[i] - rows->start[i]);
        return best;
    }
    for (uint64_t i = begin; i < end; i++)
        best = longer(best, rows->longest[level - 1][i], rows->longest_length[level - 1][i]);
    return best;
}

uint64_t mrd__rows_longest(const mrd__rows *rows, uint32_t row, uint64_t begin, uint64_t end)
{
    mrd__assert(begin < end);
    longest best = {begin, rows->end[begin] - rows->start[begin]};
    uint64_t base = rows->first[row];
    for (uint32_t level = 0;; level++) {
        uint64_t head = (begin - base + MRD__ROW_BLOCK - 1) / MRD__ROW_BLOCK;
        uint64_t tail = (end - base) / MRD__ROW_BLOCK;
        bool top = level == MRD__ROW_LEVELS || rows->longest[level] == NULL;
        if (top || head >= tail) return longest_of(rows, level, begin, end, best).interval;
        best = longest_of(rows, level, begin, base + head * MRD__ROW_BLOCK, best);
        best = longest_of(rows, level, base + tail * MRD__ROW_BLOCK, end, best);
        base = rows->longest_first[level][row];
        begin = base + head;
        end = base + tail;
    }
}
