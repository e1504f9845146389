/* Large memory of sealing, asked for so that its pages come cheap. */
#include "base/os.h"
#include "open/sealing.h"

#include <string.h>

#define TOUCH_BYTES ((size_t)2 << 20) /* one huge page a task */
#define TOUCH_STEP 4096               /* where there are none, every small one */
#define POINTS_FIRST 1024

typedef struct touching {
    char *block;
    size_t size;
} touching;

static void touch(void *ctx, size_t index, uint32_t worker)
{
    (void)worker;
    const touching *t = ctx;
    size_t from = index * TOUCH_BYTES;
    size_t to = t->size - from < TOUCH_BYTES ? t->size : from + TOUCH_BYTES;
    for (; from < to; from += TOUCH_STEP)
        *(volatile char *)(t->block + from) = 0;
}

void *mrd__seal_pages(const mrd__sealing *seal, size_t size)
{
    touching t = {mrd__pages_alloc(size), size};
    if (seal->workers > 1)
        mrd__parallel_for(seal->workers, (size + TOUCH_BYTES - 1) / TOUCH_BYTES, touch, &t);
    return t.block;
}

void mrd__points_reserve(mrd__point_list *list, size_t count)
{
    if (count <= list->capacity) return;
    mrd__flow_point *data = mrd__pages_alloc(count * sizeof *data);
    if (list->count > 0) memcpy(data, list->data, list->count * sizeof *data);
    mrd__pages_free(list->data, list->capacity * sizeof *list->data);
    list->data = data;
    list->capacity = count;
}

void mrd__points_push(mrd__point_list *list, mrd__flow_point point)
{
    if (list->count == list->capacity)
        mrd__points_reserve(list, list->count < POINTS_FIRST ? POINTS_FIRST : list->count * 2);
    list->data[list->count++] = point;
}

void mrd__points_reset(mrd__point_list *list)
{
    mrd__pages_free(list->data, list->capacity * sizeof *list->data);
    *list = (mrd__point_list){0};
}
