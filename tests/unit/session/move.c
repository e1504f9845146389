#include "move.h"

#include <string.h>

const char *const move_names[MOVES] = {"dropped", "doubled", "swapped", "spliced"};

static mrd__str piece(const mrd__buf *bytes, const made_file *file, size_t i)
{
    return (mrd__str){bytes->data + file->edges.data[i],
                      (size_t)(file->edges.data[i + 1] - file->edges.data[i])};
}

size_t move_record(mrd__buf *out, move how, const mrd__buf *bytes, const made_file *file,
                   const mrd__buf *other, const made_file *other_file, mrd__rng *rng)
{
    size_t count = file->edges.count - 1;
    size_t a = (size_t)mrd__rng_below(rng, count);
    size_t b = (size_t)mrd__rng_below(rng, count);
    if (how == SWAPPED && a == b) b = (a + 1) % count;
    if (how == SWAPPED && a > b) {
        size_t c = a;
        a = b;
        b = c;
    }
    size_t there = other_file->edges.count - 1;
    size_t from = a < there ? a : there - 1; /* most often the record of the same sequence */
    mrd__buf_clear(out);
    mrd__buf_add(out, bytes->data, MRD__SEGMENT_HEAD);
    for (size_t i = 0; i < count; i++) {
        mrd__str own = piece(bytes, file, i);
        if (i == a && how == DROPPED) continue;
        if (i == a && how == SWAPPED) own = piece(bytes, file, b);
        if (i == b && how == SWAPPED) own = piece(bytes, file, a);
        if (i == a && how == SPLICED) own = piece(other, other_file, from);
        mrd__buf_str(out, own);
        if (i == a && how == DOUBLED) mrd__buf_str(out, own);
    }
    size_t tail = (size_t)file->edges.data[count];
    if (bytes->size > tail) mrd__buf_add(out, bytes->data + tail, bytes->size - tail);
    return how == DOUBLED ? a + 1 : a;
}

bool same_bytes(const mrd__buf *a, const mrd__buf *b)
{
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}
