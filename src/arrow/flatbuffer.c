#include "arrow/flatbuffer.h"
#include "base/assert.h"

#include <string.h>

static void add_zeros(mrd__fb *fb, size_t count)
{
    mrd__buf_reserve(&fb->bytes, count);
    memset(fb->bytes.data + fb->bytes.size, 0, count + 1); /* + 1: the buffer's own NUL */
    fb->bytes.size += count;
}

/* Pads so that (position + ahead) is a multiple of align. */
static void align_ahead(mrd__fb *fb, size_t ahead, size_t align)
{
    size_t over = (fb->bytes.size + ahead) % align;
    if (over != 0) add_zeros(fb, align - over);
}

static void put(mrd__fb *fb, size_t at, int64_t value, size_t size)
{
    mrd__assert(at + size <= fb->bytes.size);
    memcpy(fb->bytes.data + at, &value, size);
}

static size_t get16(const mrd__fb *fb, size_t at)
{
    uint16_t value;
    memcpy(&value, fb->bytes.data + at, sizeof value);
    return value;
}

void mrd__fb_begin(mrd__fb *fb)
{
    mrd__buf_clear(&fb->bytes);
    add_zeros(fb, 4);
}

size_t mrd__fb_table(mrd__fb *fb, const char *sizes)
{
    size_t slots = strlen(sizes);
    size_t vtable_size = 4 + 2 * slots;
    mrd__assert(slots <= 16);
    size_t offsets[16] = {0};
    size_t size = 4; /* the distance to the vtable */
    for (size_t width = 8; width > 0; width /= 2) {
        for (size_t i = 0; i < slots; i++) {
            if ((size_t)(sizes[i] - '0') != width) continue;
            size = (size + width - 1) / width * width;
            offsets[i] = size;
            size += width;
        }
    }
    align_ahead(fb, vtable_size, 8);
    size_t vtable = fb->bytes.size;
    size_t table = vtable + vtable_size;
    add_zeros(fb, vtable_size + size);
    put(fb, vtable, (int64_t)vtable_size, 2);
    put(fb, vtable + 2, (int64_t)size, 2);
    for (size_t i = 0; i < slots; i++)
        put(fb, vtable + 4 + 2 * i, (int64_t)offsets[i], 2);
    put(fb, table, (int64_t)vtable_size, 4);
    return table;
}

static size_t slot_at(const mrd__fb *fb, size_t table, int slot)
{
    int32_t distance;
    memcpy(&distance, fb->bytes.data + table, sizeof distance);
    size_t vtable = table - (size_t)distance;
    size_t offset = get16(fb, vtable + 4 + 2 * (size_t)slot);
    mrd__assert(4 + 2 * (size_t)slot < get16(fb, vtable) && offset != 0);
    return table + offset;
}

void mrd__fb_set(mrd__fb *fb, size_t table, int slot, int64_t value, size_t size)
{
    put(fb, slot_at(fb, table, slot), value, size);
}

static void link_at(mrd__fb *fb, size_t at, size_t target)
{
    mrd__assert(target > at && target - at <= INT32_MAX);
    put(fb, at, (int64_t)(target - at), 4);
}

void mrd__fb_link(mrd__fb *fb, size_t table, int slot, size_t target)
{
    link_at(fb, slot_at(fb, table, slot), target);
}

void mrd__fb_root(mrd__fb *fb, size_t table)
{
    link_at(fb, 0, table);
}

size_t mrd__fb_string(mrd__fb *fb, mrd__str text)
{
    align_ahead(fb, 0, 4);
    size_t at = fb->bytes.size;
    add_zeros(fb, 4);
    put(fb, at, (int64_t)text.size, 4);
    mrd__buf_add(&fb->bytes, text.data, text.size);
    add_zeros(fb, 1);
    return at;
}

size_t mrd__fb_vector(mrd__fb *fb, size_t count, size_t item)
{
    mrd__assert(item == 4 || item == 16 || item == 24);
    align_ahead(fb, 4, item == 4 ? 4 : 8); /* the elements are aligned, the length stands before */
    size_t at = fb->bytes.size;
    add_zeros(fb, 4 + count * item);
    put(fb, at, (int64_t)count, 4);
    return at;
}

void mrd__fb_link_item(mrd__fb *fb, size_t vector, size_t index, size_t target)
{
    link_at(fb, vector + 4 + 4 * index, target);
}

void mrd__fb_set_pair(mrd__fb *fb, size_t vector, size_t index, int64_t first, int64_t second)
{
    put(fb, vector + 4 + 16 * index, first, 8);
    put(fb, vector + 4 + 16 * index + 8, second, 8);
}

void mrd__fb_set_three(mrd__fb *fb, size_t vector, size_t index, int64_t first, int64_t second,
                       int64_t third)
{
    put(fb, vector + 4 + 24 * index, first, 8);
    put(fb, vector + 4 + 24 * index + 8, second, 8);
    put(fb, vector + 4 + 24 * index + 16, third, 8);
}

void mrd__fb_end(mrd__fb *fb)
{
    align_ahead(fb, 0, 8);
}
