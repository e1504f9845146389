#include "arrow/fbread.h"

#include <string.h>

static bool holds(mrd__fbr *r, size_t at, size_t size)
{
    if (at <= r->size && size <= r->size - at) return true;
    r->bad = true;
    return false;
}

/* A little-endian integer, sign-extended. */
static int64_t load(mrd__fbr *r, size_t at, size_t width)
{
    uint64_t value = 0;
    if (!holds(r, at, width)) return 0;
    memcpy(&value, r->data + at, width);
    if (width == 8) return (int64_t)value;
    uint64_t sign = 1ull << (8 * width - 1);
    return (int64_t)((value ^ sign) - sign);
}

int64_t mrd__fbr_at64(mrd__fbr *r, size_t at)
{
    return load(r, at, 8);
}

static size_t follow(mrd__fbr *r, size_t at)
{
    uint32_t distance = (uint32_t)load(r, at, 4);
    if (!r->bad && distance > 0 && holds(r, at, distance) && holds(r, at + distance, 4))
        return at + distance;
    r->bad = true;
    return 0;
}

size_t mrd__fbr_root(mrd__fbr *r)
{
    return follow(r, 0);
}

/* Position of a slot of that width, 0 when the table has none. */
static size_t slot_at(mrd__fbr *r, size_t table, int slot, size_t width)
{
    if (table == 0 || r->bad) return 0;
    int64_t vtable = (int64_t)table - load(r, table, 4);
    if (vtable < 0 || !holds(r, (size_t)vtable, 4)) {
        r->bad = true;
        return 0;
    }
    size_t vtable_size = (uint16_t)load(r, (size_t)vtable, 2);
    size_t table_size = (uint16_t)load(r, (size_t)vtable + 2, 2);
    size_t entry = 4 + 2 * (size_t)slot;
    if (!holds(r, (size_t)vtable, vtable_size) || !holds(r, table, table_size)) return 0;
    if (entry + 2 > vtable_size) return 0;
    size_t offset = (uint16_t)load(r, (size_t)vtable + entry, 2);
    if (offset == 0) return 0;
    if (offset + width > table_size) {
        r->bad = true;
        return 0;
    }
    return table + offset;
}

int64_t mrd__fbr_int(mrd__fbr *r, size_t table, int slot, size_t width, int64_t otherwise)
{
    size_t at = slot_at(r, table, slot, width);
    return at == 0 ? otherwise : load(r, at, width);
}

size_t mrd__fbr_child(mrd__fbr *r, size_t table, int slot)
{
    size_t at = slot_at(r, table, slot, 4);
    return at == 0 ? 0 : follow(r, at);
}

size_t mrd__fbr_vector(mrd__fbr *r, size_t table, int slot, size_t item, size_t *count)
{
    *count = 0;
    size_t at = mrd__fbr_child(r, table, slot);
    if (at == 0) return 0;
    uint32_t length = (uint32_t)load(r, at, 4);
    if (!holds(r, at + 4, (size_t)length * item)) return 0;
    *count = length;
    return at + 4;
}

mrd__str mrd__fbr_string(mrd__fbr *r, size_t table, int slot)
{
    size_t size;
    size_t at = mrd__fbr_vector(r, table, slot, 1, &size);
    return at == 0 ? (mrd__str){"", 0} : (mrd__str){r->data + at, size};
}

size_t mrd__fbr_item(mrd__fbr *r, size_t first, size_t index)
{
    return r->bad ? 0 : follow(r, first + 4 * index);
}
