#include "pairing/item.h"

#include "base/sort.h"

#include <string.h>

/* ---- Sorting ---- */

#define INSERTION_MOVES 8   /* moves an item that insertion may cost before radix takes over */
#define INSERTION_FREE 4096 /* moves that cost less than one radix pass */

/* Index of the first item out of order, count when there is none. */
static uint32_t sorted_prefix(const mrd__item *items, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (items[i].ts < items[i - 1].ts) return i;
    return count;
}

/* False when the budget ran out; the items before *from are sorted then. */
static bool insertion_sort(mrd__item *items, uint32_t count, uint32_t from)
{
    uint64_t budget = (uint64_t)count * INSERTION_MOVES + INSERTION_FREE;
    for (uint32_t i = from; i < count; i++) {
        if (items[i].ts >= items[i - 1].ts) continue;
        mrd__item item = items[i];
        uint32_t at = i;
        while (at > 0 && items[at - 1].ts > item.ts)
            at--;
        uint64_t moves = i - at;
        if (moves > budget) return false;
        budget -= moves;
        memmove(items + at + 1, items + at, moves * sizeof *items);
        items[at] = item;
    }
    return true;
}

/* keys[i].index becomes the item that belongs at i; follow the cycles. */
static void permute(mrd__item *items, mrd__sort_key *keys, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (keys[i].index == i) continue;
        mrd__item saved = items[i];
        uint32_t at = i;
        while (keys[at].index != i) {
            uint32_t next = keys[at].index;
            items[at] = items[next];
            keys[at].index = at;
            at = next;
        }
        items[at] = saved;
        keys[at].index = at;
    }
}

/* By (ts, order) whatever the order of the items is now: insertion may have moved some. */
static void radix_sort(mrd__item *items, uint32_t count)
{
    mrd__sort_key *room = mrd__alloc((size_t)count * 2 * sizeof *room);
    mrd__sort_key *keys = room;
    for (uint32_t i = 0; i < count; i++)
        keys[i] = (mrd__sort_key){items[i].order, i};
    keys = mrd__radix_sort(keys, room + count, count);
    int64_t least = items[0].ts;
    for (uint32_t i = 1; i < count; i++)
        if (items[i].ts < least) least = items[i].ts;
    for (uint32_t i = 0; i < count; i++)
        keys[i].key = (uint64_t)items[keys[i].index].ts - (uint64_t)least;
    keys = mrd__radix_sort(keys, keys == room ? room + count : room, count);
    permute(items, keys, count);
    mrd__free(room);
}

void mrd__items_sort(mrd__item *items, uint32_t count)
{
    uint32_t from = sorted_prefix(items, count);
    if (from == count || insertion_sort(items, count, from)) return;
    radix_sort(items, count);
}

/* ---- Lanes ---- */

void mrd__nested_reset(mrd__nested *nested)
{
    mrd__vec_reset(&nested->lanes);
    *nested = (mrd__nested){0};
}

static bool slot_before(const mrd__lane_slot *a, const mrd__lane_slot *b)
{
    return a->key != b->key ? a->key < b->key : a->lane < b->lane;
}

static void heap_up(mrd__lane_slot *heap, size_t at)
{
    while (at > 0) {
        size_t above = (at - 1) / 2;
        if (!slot_before(&heap[at], &heap[above])) return;
        mrd__lane_slot swap = heap[at];
        heap[at] = heap[above];
        heap[above] = swap;
        at = above;
    }
}

static void heap_down(mrd__lane_slot *heap, size_t count)
{
    size_t at = 0;
    for (;;) {
        size_t least = at;
        for (size_t below = 2 * at + 1; below <= 2 * at + 2 && below < count; below++)
            if (slot_before(&heap[below], &heap[least])) least = below;
        if (least == at) return;
        mrd__lane_slot swap = heap[at];
        heap[at] = heap[least];
        heap[least] = swap;
        at = least;
    }
}

uint32_t mrd__lane_set_take(mrd__lane_set *set, int64_t start, int64_t end, bool *fresh)
{
    while (set->busy.count > 0 && set->busy.data[0].key <= start) {
        uint32_t lane = set->busy.data[0].lane;
        set->busy.data[0] = set->busy.data[--set->busy.count];
        heap_down(set->busy.data, set->busy.count);
        mrd__vec_push(&set->free, ((mrd__lane_slot){lane, lane}));
        heap_up(set->free.data, set->free.count - 1);
    }
    uint32_t lane;
    *fresh = set->free.count == 0;
    if (*fresh) {
        lane = set->count++;
    } else {
        lane = set->free.data[0].lane;
        set->free.data[0] = set->free.data[--set->free.count];
        heap_down(set->free.data, set->free.count);
    }
    mrd__vec_push(&set->busy, ((mrd__lane_slot){end, lane}));
    heap_up(set->busy.data, set->busy.count - 1);
    return lane;
}

void mrd__lane_set_reset(mrd__lane_set *set)
{
    mrd__vec_reset(&set->busy);
    mrd__vec_reset(&set->free);
    *set = (mrd__lane_set){0};
}
