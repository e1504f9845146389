/* What stands in front of a statement, and where DuckDB says an error is. */
#ifndef MRD_SQL_PLACE_H
#define MRD_SQL_PLACE_H

#include "base/text.h"

/* Bytes of INCLUDE PERFETTO MODULE statements (and comments between) that come first. */
size_t mrd__sql_skip_includes(mrd__str text);
/* Where the statement begins that an EXPLAIN explains; 0: it is no EXPLAIN. */
size_t mrd__sql_explained(mrd__str text);
/* Take white space, comments and semicolons off the end, so that it may stand in brackets. */
void mrd__sql_strip_end(mrd__buf *text);
/* Byte of text that an error message of DuckDB's points at, -1 unknown. */
int64_t mrd__sql_place(mrd__str text, const char *message);

#endif
