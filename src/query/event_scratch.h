/* Memory of one answer, kept between answers: fresh pages cost more than what is computed in them
 * (base/alloc.c). One region an answer, cut into pieces. */
#ifndef MRD_QUERY_EVENT_SCRATCH_H
#define MRD_QUERY_EVENT_SCRATCH_H

#include <stddef.h>

typedef struct mrd__scratch {
    char *data;
    size_t size, used;
} mrd__scratch;

/* A region of at least size bytes, contents anything. Give it back with mrd__scratch_give. Any
 * thread. */
mrd__scratch mrd__scratch_take(size_t size);
void mrd__scratch_give(mrd__scratch *scratch);

/* What mrd__scratch_cut takes of the region for so many bytes. */
static inline size_t mrd__scratch_rounded(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}
/* The next piece, on a cache line of its own. */
void *mrd__scratch_cut(mrd__scratch *scratch, size_t bytes);

#endif
