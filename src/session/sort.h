/* Numbers in order, for percentiles over millions of them. */
#ifndef MRD_SESSION_SORT_H
#define MRD_SESSION_SORT_H

#include <stddef.h>

/* Ascending; no NaN among them. Takes twice as much memory again while it runs. Any thread. */
void mrd__sort_doubles(double *values, size_t count);

#endif
