/* Steps of mrd__collect_group. Internal to group.c and details.c. */
#ifndef MRD_INGEST_EVENT_PARQUET_GROUP_H
#define MRD_INGEST_EVENT_PARQUET_GROUP_H

#include "ingest/event_parquet/collect.h"

/* Move the details into events, by rank. row_of_rank NULL: the rows' own order. */
void mrd__group_details(mrd__collect *collect, mrd__events *events, const uint32_t *row_of_rank,
                        uint32_t workers);

#endif
