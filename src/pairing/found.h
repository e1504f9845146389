/* Losses found while pairing, counted by each worker for itself and joined at the end: the first
 * hit in file order keeps its place, whatever the threads. */
#ifndef MRD_PAIRING_FOUND_H
#define MRD_PAIRING_FOUND_H

#include "pairing/item.h"

typedef struct mrd__found_one {
    uint64_t count;
    uint32_t order; /* of the first hit */
    mrd__str_id name;
    int64_t offset;
    int64_t worst_ns;
} mrd__found_one;

typedef struct mrd__found {
    const uint32_t *file_first; /* [files + 1] first order of each file */
    uint32_t files;
    bool one_scope;        /* flow ids of different files meet */
    mrd__found_one *table; /* [files * MRD__LOSS_COUNT] */
    uint64_t steps;        /* open begins looked at for an end: tests bound the work by it */
} mrd__found;

void mrd__found_init(mrd__found *found, const uint32_t *file_first, uint32_t files);
void mrd__found_reset(mrd__found *found);
/* File of a fact. */
uint32_t mrd__found_file(const mrd__found *found, uint32_t order);
/* One more of this loss, at this item. */
void mrd__found_add(mrd__found *found, mrd__loss_id id, const mrd__item *item);
void mrd__found_at(mrd__found *found, mrd__loss_id id, uint32_t order, mrd__str_id name,
                   int64_t offset, int64_t worst_ns);
/* Add all of other to found. */
void mrd__found_join(mrd__found *found, const mrd__found *other);

#endif
