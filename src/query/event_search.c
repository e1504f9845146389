#include "query/event_search.h"

mrd__event_view mrd__event_view_of(const mrd__events *events, size_t key)
{
    uint64_t first_block = events->block_index[key];
    return (mrd__event_view){
        .time = events->time + events->keys[key].first,
        .block_time = events->block_time + first_block,
        .blocks = events->blocks + first_block,
        .count = (uint32_t)events->keys[key].count,
        .block_count = (uint32_t)(events->block_index[key + 1] - first_block),
        .end_ns = events->end_ns,
    };
}

uint32_t mrd__event_block_of(const mrd__event_view *view, double t, uint32_t hint)
{
    const double *time = view->block_time;
    uint32_t low = hint == MRD__NO_BLOCK ? 0 : hint; /* blocks below low begin before t */
    uint32_t step = 1, high = low;
    while (high < view->block_count && time[high] < t) {
        low = high + 1;
        high = view->block_count - high > step ? high + step : view->block_count;
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

uint32_t mrd__event_block_near(const mrd__event_view *view, double t, uint32_t hint, uint64_t guess)
{
    const double *time = view->block_time;
    uint32_t floor = hint == MRD__NO_BLOCK ? 0 : hint;
    if (guess >= view->block_count) guess = view->block_count - 1;
    if (guess <= floor || time[guess] < t) {
        return mrd__event_block_of(view, t, guess <= floor ? hint : (uint32_t)guess);
    }
    /* The guess is too far: back in growing steps. Blocks from high on do not begin before t. */
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

uint32_t mrd__event_lower(const mrd__events *events, size_t key, double t)
{
    mrd__event_view view = mrd__event_view_of(events, key);
    uint32_t block = mrd__event_block_of(&view, t, MRD__NO_BLOCK);
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
