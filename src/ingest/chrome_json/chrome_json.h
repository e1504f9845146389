/* The importer of Chrome Trace Event JSON, array and object form, plain or gzip. */
#ifndef MRD_INGEST_CHROME_JSON_CHROME_JSON_H
#define MRD_INGEST_CHROME_JSON_CHROME_JSON_H

#include "ingest/ingest.h"

extern const mrd__importer mrd__importer_chrome_json;

#endif
