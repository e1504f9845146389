#include "export/event_merge.h"

#include <math.h>

static uint32_t rank_of(const mrd__event_merge *merge, uint32_t key)
{
    return mrd__event_rank(merge->events, merge->at[key]);
}

static void sift_down(mrd__event_merge *merge, size_t at)
{
    uint32_t key = merge->heap[at];
    uint32_t rank = rank_of(merge, key);
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= merge->count) break;
        if (child + 1 < merge->count &&
            rank_of(merge, merge->heap[child + 1]) < rank_of(merge, merge->heap[child]))
            child++;
        if (rank_of(merge, merge->heap[child]) > rank) break;
        merge->heap[at] = merge->heap[child];
        at = child;
    }
    merge->heap[at] = key;
}

void mrd__event_merge_begin(mrd__event_merge *merge, const mrd__events *events)
{
    *merge = (mrd__event_merge){.events = events,
                                .heap = mrd__new_array(uint32_t, events->key_count),
                                .at = mrd__new_array(uint64_t, events->key_count)};
    for (size_t k = 0; k < events->key_count; k++) {
        merge->at[k] = events->keys[k].first;
        if (events->keys[k].count > 0) merge->heap[merge->count++] = (uint32_t)k;
    }
    for (size_t i = merge->count / 2; i-- > 0;)
        sift_down(merge, i);
}

bool mrd__event_merge_next(mrd__event_merge *merge, size_t *key, uint64_t *index)
{
    if (merge->count == 0) return false;
    uint32_t top = merge->heap[0];
    const mrd__event_key *info = &merge->events->keys[top];
    *key = top;
    *index = merge->at[top]++;
    if (merge->at[top] == info->first + info->count) merge->heap[0] = merge->heap[--merge->count];
    if (merge->count > 0) sift_down(merge, 0);
    return true;
}

void mrd__event_merge_reset(mrd__event_merge *merge)
{
    mrd__free(merge->heap);
    mrd__free(merge->at);
    *merge = (mrd__event_merge){0};
}

int64_t mrd__event_time(double time_ns)
{
    double whole = round(time_ns);
    if (whole >= 0x1p63) return INT64_MAX;
    if (whole < -0x1p63) return INT64_MIN;
    return (int64_t)whole;
}

uint32_t *mrd__event_tracks(const mrd__store *store)
{
    size_t keys = store->events->key_count;
    uint32_t *tracks = mrd__new_array(uint32_t, keys);
    for (size_t k = 0; k < keys; k++)
        tracks[k] = MRD__NONE;
    for (size_t t = 0; t < store->track_count; t++) {
        uint32_t key = store->tracks[t].event_key;
        if (key != MRD__NONE && key < keys) tracks[key] = (uint32_t)t;
    }
    return tracks;
}
