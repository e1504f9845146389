/* Recorded sessions, opened by the manifest in their folder (spec merge.md section 1). */
#ifndef MRD_INGEST_SESSION_SESSION_H
#define MRD_INGEST_SESSION_SESSION_H

#include "ingest/ingest.h"

extern const mrd__importer mrd__importer_session;

#endif
