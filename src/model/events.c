#include "model/events.h"

#include "base/alloc.h"
#include "base/assert.h"

/* Bytes of a column as mrd__pages_alloc was asked for them. */
static size_t bytes_of(uint64_t count, size_t item)
{
    return (size_t)count * item;
}

static uint64_t block_count(const mrd__events *events)
{
    return events->block_index ? events->block_index[events->key_count] : 0;
}

static uint64_t cell_count(const mrd__events *events)
{
    return events->cell_index ? events->cell_index[events->key_count] : 0;
}

void mrd__events_destroy(mrd__events **events)
{
    if (!events || !*events) return;
    mrd__events *e = *events;
    mrd__pages_give(e->time, bytes_of(e->count, sizeof *e->time));
    mrd__pages_give(e->value, bytes_of(e->count, sizeof *e->value));
    mrd__pages_give(e->rank, bytes_of(e->count, sizeof *e->rank));
    mrd__pages_give(e->block_time, bytes_of(block_count(e), sizeof *e->block_time));
    mrd__pages_give(e->blocks, bytes_of(block_count(e), sizeof *e->blocks));
    mrd__free(e->block_index);
    mrd__pages_give(e->cell_time, bytes_of(cell_count(e), sizeof *e->cell_time));
    mrd__free(e->cell_index);
    mrd__free(e->keys);
    for (size_t i = 0; i < e->component_count; i++)
        mrd__free((char *)e->components[i].data);
    mrd__free(e->components);
    mrd__free(e->component_keys);
    mrd__free(e->component_slots);
    mrd__pages_give(e->detail_bytes, e->detail_capacity);
    if (e->detail_first) mrd__pages_give(e->detail_first, bytes_of(e->count + 1, sizeof(uint64_t)));
    mrd__pages_give(e->intervals.start, bytes_of(e->intervals.count, sizeof(double)));
    mrd__pages_give(e->intervals.end, bytes_of(e->intervals.count, sizeof(double)));
    mrd__rows_reset(&e->intervals);
    mrd__free(e->interval_unclosed);
    mrd__pyramid_reset(&e->pyramid);
    mrd__free(e);
    *events = NULL;
}

void mrd__events_memory(const mrd__events *events, uint64_t *records, uint64_t *intervals,
                        uint64_t *texts)
{
    const mrd__events *e = events;
    *records =
        bytes_of(e->count, sizeof *e->time + sizeof *e->value + sizeof *e->rank) +
        bytes_of(block_count(e), sizeof *e->block_time + sizeof *e->blocks) +
        bytes_of(cell_count(e), sizeof *e->cell_time) +
        bytes_of(e->key_count, sizeof *e->keys + sizeof *e->block_index + sizeof *e->cell_index) +
        mrd__pyramid_memory(&e->pyramid);
    *intervals = bytes_of(e->intervals.count, 2 * sizeof(double)) +
                 mrd__rows_memory(&e->intervals) + e->intervals.row_count;
    *texts = bytes_of(e->component_count, sizeof *e->components + sizeof *e->component_keys) +
             bytes_of(e->component_slot_count, sizeof *e->component_slots);
    for (size_t i = 0; i < e->component_count; i++)
        *texts += e->components[i].size + 1;
    if (e->detail_first)
        *texts += bytes_of(e->count + 1, sizeof(uint64_t)) + e->detail_first[e->count];
}

void mrd__events_index_names(mrd__events *events)
{
    mrd__assert(events->component_slots == NULL);
    size_t count = 16;
    while (count < events->component_count * 2)
        count *= 2;
    events->component_slot_count = count;
    events->component_slots = mrd__new_array(uint32_t, count);
    events->component_keys = mrd__new_array(uint32_t, events->component_count + 1);
    for (size_t i = 0; i < events->component_count; i++) {
        mrd__str name = events->components[i];
        size_t at = mrd__hash(name.data, name.size) & (count - 1);
        while (events->component_slots[at])
            at = (at + 1) & (count - 1);
        events->component_slots[at] = (uint32_t)i + 1;
    }
    for (size_t k = 0; k < events->key_count; k++)
        events->component_keys[events->keys[k].component + 1] = (uint32_t)k + 1;
}

uint32_t mrd__events_component(const mrd__events *events, mrd__str name)
{
    size_t mask = events->component_slot_count - 1;
    size_t at = mrd__hash(name.data, name.size) & mask;
    for (; events->component_slots[at]; at = (at + 1) & mask) {
        uint32_t index = events->component_slots[at] - 1;
        if (mrd__str_equal(events->components[index], name)) return index;
    }
    return UINT32_MAX;
}
