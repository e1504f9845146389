/* Reading flatbuffers of unknown origin: every position is checked against the end, trouble sets
 * `bad` and gives absent values, so that a caller checks once, after reading. Positions are byte
 * offsets into the data; 0 means absent. Links only point forward, so a walk always ends. */
#ifndef MRD_ARROW_FBREAD_H
#define MRD_ARROW_FBREAD_H

#include "base/text.h"

typedef struct mrd__fbr {
    const char *data; /* borrowed, no alignment needed */
    size_t size;
    bool bad;
} mrd__fbr;

size_t mrd__fbr_root(mrd__fbr *r);
/* Integer of a slot, width 1, 2, 4 or 8 bytes, sign-extended; otherwise when absent. */
int64_t mrd__fbr_int(mrd__fbr *r, size_t table, int slot, size_t width, int64_t otherwise);
/* The table a slot links to. */
size_t mrd__fbr_child(mrd__fbr *r, size_t table, int slot);
/* A string slot; empty when absent. Borrowed. */
mrd__str mrd__fbr_string(mrd__fbr *r, size_t table, int slot);
/* Position of the first element of a vector slot and how many there are. */
size_t mrd__fbr_vector(mrd__fbr *r, size_t table, int slot, size_t item, size_t *count);
/* The table that element index of a vector of links (at `first`) points to. */
size_t mrd__fbr_item(mrd__fbr *r, size_t first, size_t index);
/* 8 bytes at a checked position. */
int64_t mrd__fbr_at64(mrd__fbr *r, size_t at);

#endif
