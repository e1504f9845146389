/* Covered time of one interval key between two times, from its blocks. */
#ifndef MRD_QUERY_EVENT_COVER_H
#define MRD_QUERY_EVENT_COVER_H

#include "query/event_search.h"

/* Covered time, and whether anything of the range lies uncovered. Exactly 0 where nothing is
 * covered. */
typedef struct mrd__cover {
    double covered;
    bool gap;
} mrd__cover;

/* [from, to) inside one block; block as of both times (mrd__event_block_of). */
mrd__cover mrd__cover_inside(const mrd__event_view *view, uint32_t block, double from, double to);

/* What an edge adds to the ranges beside it when their other edges lie in other blocks. */
typedef struct mrd__edge {
    uint32_t block;  /* of the edge */
    mrd__cover tail; /* from the block's first event to the edge */
    mrd__cover head; /* from the edge to the next block's first event */
} mrd__edge;
mrd__edge mrd__edge_of(const mrd__event_view *view, uint32_t block, double edge);

/* [from, to) of two edges, the first in an earlier block. */
mrd__cover mrd__cover_between(const mrd__event_view *view, const mrd__edge *from,
                              const mrd__edge *to);

/* Whether the key is open at exactly t (for ranges without width). */
bool mrd__cover_at(const mrd__event_view *view, double t);

#endif
