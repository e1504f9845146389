#include "query/event_search.h"

#ifdef __AVX2__
#include <immintrin.h>
#endif

mrd__event_view mrd__event_view_of(const mrd__events *events, size_t key)
{
    uint64_t first_block = events->block_index[key];
    bool interval = events->keys[key].form == MRD__FORM_INTERVAL;
    return (mrd__event_view){
        .time = events->time + events->keys[key].first,
        .block_time = events->block_time + first_block,
        .cell_time = events->cell_time + events->cell_index[key],
        .blocks = interval ? events->blocks + first_block : NULL,
        .count = (uint32_t)events->keys[key].count,
        .block_count = (uint32_t)mrd__event_blocks(events->keys[key].count),
        .cell_count = (uint32_t)mrd__event_cells(events->keys[key].count),
        .end_ns = events->end_ns,
    };
}

/* The last of count ascending times that is below t, from one known to be (or MRD__NO_BLOCK) on. */
static uint32_t last_below(const double *time, uint32_t count, double t, uint32_t hint)
{
    uint32_t low = hint == MRD__NO_BLOCK ? 0 : hint; /* those before low are below t */
    uint32_t step = 1, high = low;
    while (high < count && time[high] < t) {
        low = high + 1;
        high = count - high > step ? high + step : count;
        step *= 2;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (time[middle] < t)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? MRD__NO_BLOCK : low - 1;
}

uint32_t mrd__event_cell_near(const mrd__event_view *view, double t, uint32_t hint, uint64_t guess)
{
    const double *time = view->cell_time;
    uint32_t floor = hint == MRD__NO_BLOCK ? 0 : hint;
    if (guess >= view->cell_count) guess = view->cell_count - 1;
    if (guess <= floor || time[guess] < t)
        return last_below(time, view->cell_count, t, guess <= floor ? hint : (uint32_t)guess);
    /* The guess is too far: back in growing steps. Cells from high on do not begin before t. */
    uint32_t high = (uint32_t)guess, low = floor, step = 1;
    while (high > floor) {
        uint32_t at = high - floor > step ? high - step : floor;
        if (time[at] < t) {
            low = at + 1;
            break;
        }
        high = at;
        step *= 2;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (time[middle] < t)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? MRD__NO_BLOCK : low - 1;
}

#ifdef __AVX2__
uint32_t mrd__event_count_below(const double *time, double t)
{
    __m256d split = _mm256_set1_pd(t);
    __m256i below = _mm256_setzero_si256();
    for (uint32_t i = 0; i < MRD__EVENT_BLOCK; i += 4) {
        __m256d less = _mm256_cmp_pd(_mm256_loadu_pd(time + i), split, _CMP_LT_OQ);
        below = _mm256_sub_epi64(below, _mm256_castpd_si256(less));
    }
    uint64_t parts[4];
    _mm256_storeu_si256((__m256i *)parts, below);
    return (uint32_t)(parts[0] + parts[1] + parts[2] + parts[3]);
}
#else
uint32_t mrd__event_count_below(const double *time, double t)
{
    uint32_t below = 0;
    for (uint32_t i = 0; i < MRD__EVENT_BLOCK; i++)
        below += time[i] < t;
    return below;
}
#endif

_Static_assert(MRD__EVENT_BLOCK == MRD__EVENT_CELL, "one count for both");

uint32_t mrd__event_block_in(const mrd__event_view *view, uint32_t cell, double t)
{
    if (cell == MRD__NO_BLOCK) return MRD__NO_BLOCK;
    uint32_t block = cell * MRD__EVENT_CELL;
    if (cell + 1 < view->cell_count) /* the first of them is below t */
        return block + mrd__event_count_below(view->block_time + block, t) - 1;
    while (block + 1 < view->block_count && view->block_time[block + 1] < t)
        block++;
    return block;
}

uint32_t mrd__event_lower(const mrd__events *events, size_t key, double t)
{
    mrd__event_view view = mrd__event_view_of(events, key);
    uint32_t cell = last_below(view.cell_time, view.cell_count, t, MRD__NO_BLOCK);
    uint32_t block = mrd__event_block_in(&view, cell, t);
    if (block == MRD__NO_BLOCK) return 0;
    uint32_t at = block * MRD__EVENT_BLOCK;
    uint32_t stop = view.count - at > MRD__EVENT_BLOCK ? at + MRD__EVENT_BLOCK : view.count;
    while (at < stop && view.time[at] < t)
        at++;
    return at;
}

uint32_t mrd__event_closers(const mrd__events *events, size_t key, uint32_t count)
{
    if (count == 0) return 0;
    uint32_t last = count - 1;
    const mrd__event_block *block =
        &events->blocks[events->block_index[key] + last / MRD__EVENT_BLOCK];
    uint32_t bits = last % MRD__EVENT_BLOCK + 1;
    uint32_t mask = bits == 32 ? UINT32_MAX : (UINT32_C(1) << bits) - 1;
    return block->closers_before + (uint32_t)__builtin_popcount(block->closers & mask);
}

bool mrd__event_open(const mrd__events *events, size_t key, uint32_t count)
{
    if (count == 0) return false;
    uint32_t last = count - 1;
    const mrd__event_block *block =
        &events->blocks[events->block_index[key] + last / MRD__EVENT_BLOCK];
    return block->open >> (last % MRD__EVENT_BLOCK) & 1;
}
