/* Perfetto protobuf traces as facts. */
#ifndef MRD_INGEST_PERFETTO_PERFETTO_H
#define MRD_INGEST_PERFETTO_PERFETTO_H

#include "ingest/ingest.h"

extern const mrd__importer mrd__importer_perfetto;

#endif
