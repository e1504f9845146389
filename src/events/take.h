/* Chunks of rows of an event file, checked and turned into what a sink takes. Internal to read.c
 * and take.c. */
#ifndef MRD_EVENTS_TAKE_H
#define MRD_EVENTS_TAKE_H

#include "duck/duck.h"
#include "events/event_file.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct mrd__take_worker mrd__take_worker;

typedef struct mrd__take {
    const mrd__event_sink *sink;
    uint64_t announced; /* rows that the file's metadata promises */
    _Atomic uint64_t rows;

    pthread_mutex_t lock; /* of everything below */
    mrd__take_worker *idle;
    uint32_t worker_count;
    mrd__str *components; /* owned until moved out */
    size_t component_count, component_capacity;
    uint32_t *slots; /* hash table of components: index + 1 */
    size_t slot_count;
    mrd_error error;            /* of the first wrong row, whatever the threads */
    _Atomic uint64_t error_row; /* UINT64_MAX: none */
} mrd__take;

void mrd__take_init(mrd__take *take, const mrd__event_sink *sink, uint64_t announced);
void mrd__take_reset(mrd__take *take);
/* One chunk with the columns of columns.h; ctx is the mrd__take (for mrd__duck_taker). */
void mrd__take_chunk(void *ctx, const mrd__duck_chunk *chunk);

#endif
