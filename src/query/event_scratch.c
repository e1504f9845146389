#include "query/event_scratch.h"

#include "base/alloc.h"
#include "base/assert.h"

#include "query/query.h"

#include <pthread.h>

#define KEPT 4                        /* answers made at a time, in the usual case */
#define WARM_BYTES ((size_t)16 << 20) /* 2048 buckets of some 120 keys */
#define WARM_STEP 4096
#define KEPT_BYTES ((size_t)64 << 20) /* a larger region is not kept */
#define LEAST_BYTES ((size_t)2 << 20) /* so that small questions do not wear out the shelf */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static mrd__scratch shelf[KEPT];
static size_t shelf_count;

mrd__scratch mrd__scratch_take(size_t size)
{
    mrd__scratch found = {0};
    pthread_mutex_lock(&lock);
    for (size_t i = shelf_count; i-- > 0;) {
        if (shelf[i].size < size) continue;
        found = shelf[i];
        shelf[i] = shelf[--shelf_count];
        break;
    }
    pthread_mutex_unlock(&lock);
    if (found.data) return found;
    size_t whole = LEAST_BYTES;
    while (whole < size)
        whole += whole / 2;
    return (mrd__scratch){.data = mrd__pages_alloc(whole), .size = whole};
}

void mrd__query_warm(void)
{
    mrd__scratch scratch = mrd__scratch_take(WARM_BYTES);
    for (size_t at = 0; at < scratch.size; at += WARM_STEP)
        *((volatile char *)scratch.data + at) = 0;
    mrd__scratch_give(&scratch);
}

void mrd__scratch_give(mrd__scratch *scratch)
{
    mrd__scratch drop = *scratch;
    *scratch = (mrd__scratch){0};
    drop.used = 0;
    if (!drop.data) return;
    pthread_mutex_lock(&lock);
    if (drop.size <= KEPT_BYTES && shelf_count < KEPT) {
        shelf[shelf_count++] = drop;
        drop.data = NULL;
    } else if (drop.size <= KEPT_BYTES) {
        size_t least = 0; /* the smallest makes room */
        for (size_t i = 1; i < shelf_count; i++) {
            if (shelf[i].size < shelf[least].size) least = i;
        }
        mrd__scratch smallest = shelf[least];
        if (smallest.size < drop.size) {
            shelf[least] = drop;
            drop = smallest;
        }
    }
    pthread_mutex_unlock(&lock);
    mrd__pages_free(drop.data, drop.size);
}

void *mrd__scratch_cut(mrd__scratch *scratch, size_t bytes)
{
    size_t rounded = mrd__scratch_rounded(bytes);
    mrd__assert(rounded >= bytes && rounded <= scratch->size - scratch->used);
    void *piece = scratch->data + scratch->used;
    scratch->used += rounded;
    return piece;
}
