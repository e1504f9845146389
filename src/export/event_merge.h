/* Event records are stored by key; this walks them in time order over all keys (equal times in
 * file order), as a heap of the keys by the rank of their next record. */
#ifndef MRD_EXPORT_EVENT_MERGE_H
#define MRD_EXPORT_EVENT_MERGE_H

#include "model/events.h"
#include "model/store.h"

typedef struct mrd__event_merge {
    const mrd__events *events;
    uint32_t *heap; /* keys with records left, the least rank first */
    size_t count;
    uint64_t *at; /* per key: index of its next record */
} mrd__event_merge;

void mrd__event_merge_begin(mrd__event_merge *merge, const mrd__events *events);
/* The next record: its key and its index in the columns. False after the last one. */
bool mrd__event_merge_next(mrd__event_merge *merge, size_t *key, uint64_t *index);
void mrd__event_merge_reset(mrd__event_merge *merge);

/* A record's time as ns: rounded half away from zero. */
int64_t mrd__event_time(double time_ns);
/* Track of each key, MRD__NONE where it has none. Freed by the caller. */
uint32_t *mrd__event_tracks(const mrd__store *store);

#endif
