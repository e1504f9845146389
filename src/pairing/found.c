#include "pairing/found.h"

#include "model/args.h"

void mrd__found_init(mrd__found *found, const uint32_t *file_first, uint32_t files)
{
    *found = (mrd__found){.file_first = file_first, .files = files};
    found->table = mrd__new_array(mrd__found_one, (size_t)files * MRD__LOSS_COUNT);
}

void mrd__found_reset(mrd__found *found)
{
    mrd__free(found->table);
    *found = (mrd__found){0};
}

uint32_t mrd__found_file(const mrd__found *found, uint32_t order)
{
    uint32_t low = 0;
    uint32_t high = found->files;
    while (low + 1 < high) {
        uint32_t middle = low + (high - low) / 2;
        if (found->file_first[middle] <= order)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void add(mrd__found_one *one, const mrd__found_one *more)
{
    if (one->count == 0 || more->order < one->order) {
        one->order = more->order;
        one->name = more->name;
        one->offset = more->offset;
    }
    one->count += more->count;
    if (more->worst_ns < one->worst_ns) one->worst_ns = more->worst_ns;
}

void mrd__found_at(mrd__found *found, mrd__loss_id id, uint32_t order, mrd__str_id name,
                   int64_t offset, int64_t worst_ns)
{
    mrd__found_one more = {
        .count = 1, .order = order, .name = name, .offset = offset, .worst_ns = worst_ns};
    add(&found->table[(size_t)mrd__found_file(found, order) * MRD__LOSS_COUNT + id], &more);
}

void mrd__found_add(mrd__found *found, mrd__loss_id id, const mrd__item *item)
{
    bool known = item->args != 0 && (mrd__args_source(item->args) & MRD__ARGS_BLOB) == 0;
    int64_t offset = known ? (int64_t)mrd__args_offset(item->args) : -1;
    mrd__found_at(found, id, item->order, item->name, offset, 0);
}

void mrd__found_join(mrd__found *found, const mrd__found *other)
{
    for (size_t i = 0; i < (size_t)found->files * MRD__LOSS_COUNT; i++)
        if (other->table[i].count > 0) add(&found->table[i], &other->table[i]);
}
