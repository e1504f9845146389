/* Large memory of sealing, asked for so that its pages come cheap. */
#include "base/assert.h"
#include "base/os.h"
#include "open/sealing.h"

#include <string.h>

#define TOUCH_BYTES ((size_t)2 << 20) /* one huge page a task */
#define TOUCH_STEP 4096               /* where there are none, every small one */
#define POINTS_FIRST 1024

typedef struct touching {
    const mrd__block *blocks;
    size_t count;
} touching;

static size_t steps_of(const mrd__block *block)
{
    return (block->size + TOUCH_BYTES - 1) / TOUCH_BYTES;
}

static void touch(void *ctx, size_t index, uint32_t worker)
{
    (void)worker;
    const touching *t = ctx;
    const mrd__block *block = t->blocks;
    for (; index >= steps_of(block); block++)
        index -= steps_of(block);
    size_t from = index * TOUCH_BYTES;
    size_t to = block->size - from < TOUCH_BYTES ? block->size : from + TOUCH_BYTES;
    for (; from < to; from += TOUCH_STEP)
        *((volatile char *)block->data + from) = 0;
}

void mrd__seal_touch(uint32_t workers, const mrd__block *blocks, size_t count)
{
    if (workers < 2) return; /* one worker alone has its pages when it comes to them */
    touching t = {blocks, count};
    size_t steps = 0;
    for (size_t i = 0; i < count; i++)
        steps += steps_of(&blocks[i]);
    mrd__parallel_for(workers, steps, touch, &t);
}

void *mrd__seal_pages(uint32_t workers, size_t size)
{
    mrd__block block = {mrd__pages_take(size), size};
    mrd__seal_touch(workers, &block, 1);
    return block.data;
}

void mrd__points_lend(mrd__point_list *list, const mrd__point_list *lender, size_t first,
                      size_t count)
{
    mrd__assert(list->data == NULL && first + count <= lender->capacity);
    *list = (mrd__point_list){.lent = true, .capacity = count};
    if (count > 0) list->data = lender->data + first;
}

static void give_points(mrd__point_list *list)
{
    if (!list->lent) mrd__pages_give(list->data, list->capacity * sizeof *list->data);
}

void mrd__points_reserve(mrd__point_list *list, size_t count)
{
    if (count <= list->capacity) return;
    mrd__flow_point *data = mrd__pages_take(count * sizeof *data);
    if (list->count > 0) memcpy(data, list->data, list->count * sizeof *data);
    give_points(list);
    list->data = data;
    list->capacity = count;
    list->lent = false;
}

void mrd__points_push(mrd__point_list *list, mrd__flow_point point)
{
    if (list->count == list->capacity)
        mrd__points_reserve(list, list->count < POINTS_FIRST ? POINTS_FIRST : list->count * 2);
    list->data[list->count++] = point;
}

void mrd__points_reset(mrd__point_list *list)
{
    give_points(list);
    *list = (mrd__point_list){0};
}
