/* Slice tables, one row a slice, in Parquet and Arrow IPC (spec merge.md section 1). */
#ifndef MRD_INGEST_TABLE_TABLE_H
#define MRD_INGEST_TABLE_TABLE_H

#include "ingest/ingest.h"

extern const mrd__importer mrd__importer_arrow_table, mrd__importer_table_folder;

/* True when the columns in a Parquet file's footer are those of a slice table and not those of an
 * event trace. bytes: the whole file. */
bool mrd__table_in_parquet(mrd__str bytes);
/* Reads such a file, as mrd__importer.read. */
MRD_MUST_CHECK mrd_status mrd__table_read_parquet(mrd__import *in, mrd_error *error);

#endif
