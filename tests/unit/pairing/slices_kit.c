#include "slices_kit.h"

#include <string.h>

mrd__item *kit_add(kit_items *items, uint8_t phase, int64_t ts, int64_t dur, uint32_t name)
{
    if (items->count == items->capacity) {
        items->capacity = items->capacity * 2 + 16;
        items->data = mrd__realloc(items->data, items->capacity * sizeof *items->data);
    }
    mrd__item *item = &items->data[items->count];
    *item =
        (mrd__item){.ts = ts, .dur = dur, .name = name, .order = items->count++, .phase = phase};
    return item;
}

kit_items kit_copy(const kit_items *items)
{
    kit_items copy = {.count = items->count, .capacity = items->count};
    copy.data = mrd__alloc(items->count * sizeof *copy.data);
    if (items->count > 0) memcpy(copy.data, items->data, items->count * sizeof *copy.data);
    return copy;
}

void kit_free(kit_items *items)
{
    mrd__free(items->data);
    *items = (kit_items){0};
}

void kit_found_init(kit_found *found)
{
    found->file_first[0] = 0;
    found->file_first[1] = UINT32_MAX;
    mrd__found_init(&found->found, found->file_first, 1);
}

uint64_t kit_found_count(const kit_found *found, mrd__loss_id id)
{
    return found->found.table[id].count;
}

static mrd__args_ref join_numbers(void *ctx, mrd__args_ref begin, mrd__args_ref end)
{
    (void)ctx;
    return begin * 1000 + end;
}

const mrd__args_joiner kit_joiner = {.join = join_numbers};

kit_result kit_run(const kit_items *items, bool async)
{
    kit_result r = {.items = kit_copy(items)};
    kit_found_init(&r.found);
    mrd__items_sort(r.items.data, r.items.count);
    r.nested.parent = mrd__new_array(uint32_t, items->count);
    r.nested.lane = mrd__new_array(uint32_t, items->count);
    if (async) {
        r.items.count = mrd__async_pair(r.items.data, r.items.count, &kit_joiner, &r.found.found);
        mrd__async_nest(r.items.data, r.items.count, &r.nested, &r.found.found);
    } else {
        r.items.count = mrd__slices_pair(r.items.data, r.items.count, &kit_joiner, &r.found.found);
        mrd__slices_nest(r.items.data, r.items.count, &r.nested, &r.found.found);
    }
    r.found.found.file_first = NULL;
    return r;
}

void kit_result_free(kit_result *result)
{
    mrd__free(result->nested.parent);
    mrd__free(result->nested.lane);
    mrd__nested_reset(&result->nested);
    mrd__found_reset(&result->found.found);
    kit_free(&result->items);
}
