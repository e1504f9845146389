/* The importer of event traces in Parquet (spec event-trace). */
#ifndef MRD_INGEST_EVENT_PARQUET_EVENT_PARQUET_H
#define MRD_INGEST_EVENT_PARQUET_EVENT_PARQUET_H

#include "ingest/ingest.h"

extern const mrd__importer mrd__importer_event_parquet;

#endif
