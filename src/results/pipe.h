/* Batches from the thread that makes them to the one that writes them. Two batches are under way
 * at most: memory does not grow with the trace. */
#ifndef MRD_RESULTS_PIPE_H
#define MRD_RESULTS_PIPE_H

#include <pthread.h>

#include "base/text.h"

typedef struct mrd__pipe_batch {
    mrd__buf items, texts;
    size_t count;
} mrd__pipe_batch;

typedef struct mrd__pipe {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t item; /* bytes */
    mrd__pipe_batch batches[2];
    unsigned made, taken; /* batches, since the start */
    size_t at;            /* items taken of the batch at hand */
    bool ended, whole, abandoned;
    /* Move what the copied items point to into texts; NULL: they point to nothing. */
    void (*keep)(void *items, size_t count, mrd__buf *texts);
} mrd__pipe;

void mrd__pipe_init(mrd__pipe *pipe, size_t item,
                    void (*keep)(void *items, size_t count, mrd__buf *texts));
void mrd__pipe_reset(mrd__pipe *pipe); /* nobody is inside */

/* Copies the items; waits while two batches are under way. False: the taker has gone. */
bool mrd__pipe_push(mrd__pipe *pipe, const void *items, size_t count);
/* No more comes; whole: and nothing is missing. The first call counts. */
void mrd__pipe_end(mrd__pipe *pipe, bool whole);

/* At most max items, waiting for them; 0: the end, *whole as it was told. What earlier items
 * pointed to is gone. */
size_t mrd__pipe_take(mrd__pipe *pipe, void *out, size_t max, bool *whole);
/* The taker takes no more. */
void mrd__pipe_abandon(mrd__pipe *pipe);

#endif
