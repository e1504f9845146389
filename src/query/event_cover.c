/* A block's events cut its time into pieces, each covered or not by the state bit of the event at
 * its start:
 *
 *   events      e0      e1   e2         e31     next block's e0
 *   pieces      |--- 0 --|-1-|--- 2 ---.. |- 31 -|
 *   range             [from             to)
 *
 * A range inside one block is a sum of clipped pieces. A longer one is the end of the first block
 * (head), the difference of two running sums, and the beginning of the last block (tail): sums of
 * what lies inside the range only, so that nothing large cancels, at any zoom.
 *
 * Clipping every piece of a block costs less than finding the first and last one that count. */
#include "query/event_cover.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

/* Sum of the pieces [time[i], time[i + 1]) for i below pieces, clipped to [from, to]. */
static mrd__cover clip_plain(const double *time, uint32_t first, uint32_t pieces, uint32_t open,
                             double from, double to)
{
    mrd__cover cover = {0, false};
    for (uint32_t i = first; i < pieces; i++) {
        double left = time[i] > from ? time[i] : from;
        double right = time[i + 1] < to ? time[i + 1] : to;
        if (right <= left) continue;
        if (open >> i & 1)
            cover.covered += right - left;
        else
            cover.gap = true;
    }
    return cover;
}

#ifdef __AVX2__
/* The same, four pieces at a time. */
static mrd__cover clip(const double *time, uint32_t pieces, uint32_t open, double from, double to)
{
    const __m256i lanes = _mm256_set_epi64x(8, 4, 2, 1);
    const __m256d low = _mm256_set1_pd(from), high = _mm256_set1_pd(to);
    __m256d covered = _mm256_setzero_pd(), uncovered = _mm256_setzero_pd();
    uint32_t i = 0;
    for (; i + 4 <= pieces; i += 4) {
        __m256d left = _mm256_min_pd(_mm256_max_pd(_mm256_loadu_pd(time + i), low), high);
        __m256d right = _mm256_min_pd(_mm256_max_pd(_mm256_loadu_pd(time + i + 1), low), high);
        __m256d length = _mm256_sub_pd(right, left);
        __m256i bits = _mm256_and_si256(_mm256_set1_epi64x(open >> i), lanes);
        __m256d mask = _mm256_castsi256_pd(_mm256_cmpeq_epi64(bits, lanes));
        covered = _mm256_add_pd(covered, _mm256_and_pd(mask, length));
        uncovered = _mm256_max_pd(uncovered, _mm256_andnot_pd(mask, length));
    }
    mrd__cover cover = clip_plain(time, i, pieces, open, from, to);
    double sums[4];
    _mm256_storeu_pd(sums, covered);
    cover.covered += (sums[0] + sums[1]) + (sums[2] + sums[3]);
    cover.gap |= _mm256_movemask_pd(_mm256_cmp_pd(uncovered, _mm256_setzero_pd(), _CMP_GT_OQ)) != 0;
    return cover;
}
#else
static mrd__cover clip(const double *time, uint32_t pieces, uint32_t open, double from, double to)
{
    return clip_plain(time, 0, pieces, open, from, to);
}
#endif

/* Pieces of a block that end at an event; the last block has one more, without an end. */
static uint32_t pieces_of(const mrd__event_view *view, uint32_t block)
{
    uint32_t left = view->count - 1 - block * MRD__EVENT_BLOCK;
    return left < MRD__EVENT_BLOCK ? left : MRD__EVENT_BLOCK;
}

/* The piece after the key's last event: covered up to the simulation end where it is open. */
static void add_last_piece(const mrd__event_view *view, uint32_t open, double from, double to,
                           mrd__cover *cover)
{
    uint32_t last = (view->count - 1) % MRD__EVENT_BLOCK;
    double left = view->time[view->count - 1], right = left;
    if (open >> last & 1 && view->end_ns > left) right = view->end_ns;
    if (left < from) left = from;
    double stop = right < to ? right : to;
    if (stop > left) cover->covered += stop - left;
    if (to > (right > from ? right : from)) cover->gap = true;
}

mrd__cover mrd__cover_inside(const mrd__event_view *view, uint32_t block, double from, double to)
{
    if (block == MRD__NO_BLOCK) return (mrd__cover){0, to > from};
    uint32_t open = view->blocks[block].open;
    const double *time = view->time + (uint64_t)block * MRD__EVENT_BLOCK;
    mrd__cover cover = clip(time, pieces_of(view, block), open, from, to);
    if (block + 1 == view->block_count) add_last_piece(view, open, from, to, &cover);
    return cover;
}

#ifdef __AVX2__
/* Both sides of an edge inside a whole block, in one walk over its pieces. */
static void split_block(const double *time, uint32_t open, double edge, mrd__edge *out)
{
    const __m256i lanes = _mm256_set_epi64x(8, 4, 2, 1);
    const __m256d at = _mm256_set1_pd(edge), zero = _mm256_setzero_pd();
    __m256d tail = zero, tail_gap = zero, head = zero, head_gap = zero;
    for (uint32_t i = 0; i < MRD__EVENT_BLOCK; i += 4) {
        __m256d left = _mm256_loadu_pd(time + i), right = _mm256_loadu_pd(time + i + 1);
        __m256d before = _mm256_sub_pd(_mm256_min_pd(right, at), _mm256_min_pd(left, at));
        __m256d after = _mm256_sub_pd(_mm256_max_pd(right, at), _mm256_max_pd(left, at));
        __m256i bits = _mm256_and_si256(_mm256_set1_epi64x(open >> i), lanes);
        __m256d mask = _mm256_castsi256_pd(_mm256_cmpeq_epi64(bits, lanes));
        tail = _mm256_add_pd(tail, _mm256_and_pd(mask, before));
        head = _mm256_add_pd(head, _mm256_and_pd(mask, after));
        tail_gap = _mm256_max_pd(tail_gap, _mm256_andnot_pd(mask, before));
        head_gap = _mm256_max_pd(head_gap, _mm256_andnot_pd(mask, after));
    }
    double sums[4];
    _mm256_storeu_pd(sums, _mm256_hadd_pd(tail, head)); /* tail, head, tail, head */
    out->tail.covered = sums[0] + sums[2];
    out->head.covered = sums[1] + sums[3];
    out->tail.gap = _mm256_movemask_pd(_mm256_cmp_pd(tail_gap, zero, _CMP_GT_OQ)) != 0;
    out->head.gap = _mm256_movemask_pd(_mm256_cmp_pd(head_gap, zero, _CMP_GT_OQ)) != 0;
}
#else
static void split_block(const double *time, uint32_t open, double edge, mrd__edge *out)
{
    out->tail = clip(time, MRD__EVENT_BLOCK, open, time[0], edge);
    out->head = clip(time, MRD__EVENT_BLOCK, open, edge, time[MRD__EVENT_BLOCK]);
}
#endif

mrd__edge mrd__edge_of(const mrd__event_view *view, uint32_t block, double edge)
{
    mrd__edge out = {.block = block};
    if (block == MRD__NO_BLOCK)
        out.head.gap = edge < view->time[0];
    else if (block + 1 < view->block_count)
        split_block(view->time + (uint64_t)block * MRD__EVENT_BLOCK, view->blocks[block].open, edge,
                    &out);
    else
        out.tail = mrd__cover_inside(view, block, view->block_time[block], edge);
    return out;
}

mrd__cover mrd__cover_between(const mrd__event_view *view, const mrd__edge *from,
                              const mrd__edge *to)
{
    /* MRD__NO_BLOCK + 1 is block 0. */
    const mrd__event_block *first = &view->blocks[(uint32_t)(from->block + 1)];
    const mrd__event_block *last = &view->blocks[to->block];
    double middle = (last->cover_hi - first->cover_hi) + (last->cover_lo - first->cover_lo);
    return (mrd__cover){
        .covered = from->head.covered + middle + to->tail.covered,
        .gap = from->head.gap || to->tail.gap || last->gaps != first->gaps,
    };
}

bool mrd__cover_at(const mrd__event_view *view, double t)
{
    /* Events at exactly t count: find the first later one. */
    uint32_t low = 0, high = view->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (view->time[middle] <= t)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0) return false;
    uint32_t last = low - 1;
    bool open = view->blocks[last / MRD__EVENT_BLOCK].open >> (last % MRD__EVENT_BLOCK) & 1;
    return open && (low < view->count || t < view->end_ns);
}
