/* Slices of one async key (category, id, scope): matched by name, nested without cutting. */
#ifndef MRD_PAIRING_ASYNC_H
#define MRD_PAIRING_ASYNC_H

#include "pairing/slices.h"

/* items: ASYNC_* or OLD_ASYNC_* of one key, sorted by mrd__items_sort. Ends are taken out, instants
 * and steps become empty slices. Returns the new count. */
uint32_t mrd__async_pair(mrd__item *items, uint32_t count, const mrd__args_joiner *joiner,
                         mrd__found *found);

/* Nest what mrd__async_pair left. Lanes: major is the depth, minor tells siblings that overlap
 * apart. */
void mrd__async_nest(mrd__item *items, uint32_t count, mrd__nested *out, mrd__found *found);

#endif
