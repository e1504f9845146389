/* Searches in a sorted column of times. */
#ifndef MRD_QUERY_POINTS_H
#define MRD_QUERY_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* First index of time[first, last) whose time is not before at; not at or before it with after. */
uint64_t mrd__points_search(const double *time, uint64_t first, uint64_t last, double at,
                            bool after);
/* The first not before each of count ascending edges. Edges are searched in step, so that their
 * cache misses overlap. */
void mrd__points_search_many(const double *time, uint64_t first, uint64_t last, const double *edges,
                             size_t count, uint64_t *out);

#endif
