/* The part of flatbuffers that Arrow metadata needs, written front to back: a parent stands before
 * its children and its links are filled in when they are known. Little endian only.
 *
 *   root offset | vtable: size, table size, slot offsets | table: vtable distance, slots | ...
 *
 * Positions are byte offsets into `bytes`. Not thread-safe. */
#ifndef MRD_ARROW_FLATBUFFER_H
#define MRD_ARROW_FLATBUFFER_H

#include "base/text.h"

typedef struct mrd__fb {
    mrd__buf bytes;
} mrd__fb;

/* Empties the buffer and leaves room for the root offset. */
void mrd__fb_begin(mrd__fb *fb);
/* A table with zeroed slots. sizes: a digit per slot, '1' '2' '4' '8' bytes ('4' for links), '0'
 * absent. Returns its position. */
size_t mrd__fb_table(mrd__fb *fb, const char *sizes);
/* Fill a slot that is there; size as given to mrd__fb_table. */
void mrd__fb_set(mrd__fb *fb, size_t table, int slot, int64_t value, size_t size);
/* Point a slot at a table, string or vector that stands behind it. */
void mrd__fb_link(mrd__fb *fb, size_t table, int slot, size_t target);
void mrd__fb_root(mrd__fb *fb, size_t table);
/* A string (NUL-terminated as the format wants it). */
size_t mrd__fb_string(mrd__fb *fb, mrd__str text);
/* A vector of count zeroed elements of 4 (links), 16 or 24 bytes (structs of 2 or 3 int64). */
size_t mrd__fb_vector(mrd__fb *fb, size_t count, size_t item);
void mrd__fb_link_item(mrd__fb *fb, size_t vector, size_t index, size_t target);
void mrd__fb_set_pair(mrd__fb *fb, size_t vector, size_t index, int64_t first, int64_t second);
void mrd__fb_set_three(mrd__fb *fb, size_t vector, size_t index, int64_t first, int64_t second,
                       int64_t third);
/* Zero bytes up to a multiple of 8. */
void mrd__fb_end(mrd__fb *fb);

#endif
