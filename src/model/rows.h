/* Rows of intervals and what makes every window question a search instead of a scan.
 *
 * A row holds intervals that do not overlap, sorted by start. Per block of 32 intervals there is
 * a copy of the first start (contiguous, so that a search touches few cache lines), the covered
 * time of the row before the block, and the longest interval; longest also for 32 blocks, 1,024
 * blocks and so on, so that the longest of any range is found in logarithmic time.
 *
 * Covered time is summed in double-double, so that the difference of two sums keeps a relative
 * error far below 1e-9 even for a nanosecond window in a year of trace.
 */
#ifndef MRD_MODEL_ROWS_H
#define MRD_MODEL_ROWS_H

#include "base/text.h"

#define MRD__ROW_BLOCK 32
#define MRD__ROW_LEVELS 7 /* 32^7 > 2^32 intervals */

typedef struct mrd__rows {
    double *start, *end; /* [count]; borrowed or owned by whoever filled them in */
    uint64_t count;
    uint32_t row_count;
    uint64_t *first;             /* [row_count + 1]: interval range of each row */
    uint64_t *block_first;       /* [row_count + 1]: block range of each row */
    double *block_start;         /* start of each block's first interval */
    double *cover_hi, *cover_lo; /* covered time of the row before the block, double-double */
    uint32_t *longest[MRD__ROW_LEVELS];       /* level 0: per block; interval index */
    double *longest_length[MRD__ROW_LEVELS];  /* its length, so that levels are read alone */
    uint64_t *longest_first[MRD__ROW_LEVELS]; /* [row_count + 1] of that level, NULL beyond top */
} mrd__rows;

/* Build everything but start, end, first, count and row_count, which the caller has set (first is
 * owned by rows from then on). workers as for mrd__parallel. */
void mrd__rows_build(mrd__rows *rows, uint32_t workers);
/* Frees all but start and end. */
void mrd__rows_reset(mrd__rows *rows);
uint64_t mrd__rows_memory(const mrd__rows *rows); /* bytes without start and end */

/* First interval of the row whose start is >= time (absolute index; first[row + 1] when none). */
uint64_t mrd__rows_lower(const mrd__rows *rows, uint32_t row, double time);
/* First interval of the row that ends after time (or is zero-length at exactly time): where a
 * window starting at time begins. */
uint64_t mrd__rows_first_touching(const mrd__rows *rows, uint32_t row, double time);
/* mrd__rows_lower where the answer is at or beside near (an answer for a time close by). */
uint64_t mrd__rows_lower_near(const mrd__rows *rows, uint32_t row, double time, uint64_t near);
/* mrd__rows_lower for many ascending edges at once (batched with prefetch): the fast path of the
 * aggregated windows. out[i] answers edges[i]. */
void mrd__rows_lower_many(const mrd__rows *rows, uint32_t row, const double *edges, size_t count,
                          uint64_t *out);
/* Covered time of [from, to), at most to - from; exactly 0 or to - from where nothing or all is
 * covered. lower_from and lower_to are mrd__rows_lower of both. */
double mrd__rows_cover(const mrd__rows *rows, uint32_t row, double from, double to,
                       uint64_t lower_from, uint64_t lower_to);
/* mrd__rows_cover of all count - 1 neighbouring pairs of edges, with prefetch; lower as filled by
 * mrd__rows_lower_many for the same edges. */
void mrd__rows_cover_many(const mrd__rows *rows, uint32_t row, const double *edges,
                          const uint64_t *lower, size_t count, double *out);
/* Longest interval of [begin, end) (absolute indices, begin < end); ties: the first. */
uint64_t mrd__rows_longest(const mrd__rows *rows, uint32_t row, uint64_t begin, uint64_t end);

#endif
