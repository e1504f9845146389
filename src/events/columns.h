/* The columns of an event file as DuckDB sees them: which are there, of what type, and the SQL that
 * reads them. */
#ifndef MRD_EVENTS_COLUMNS_H
#define MRD_EVENTS_COLUMNS_H

#include "duck/duck.h"

enum {
    MRD__COL_ROW, /* place in the file, from 0 */
    MRD__COL_TIME,
    MRD__COL_CATEGORY,
    MRD__COL_COMPONENT,
    MRD__COL_VALUE,
    MRD__COL_DETAIL,
};
#define MRD__COL_COUNT 6

const char *mrd__event_column_name(int column);

/* Look at the open file's columns and append what reads them: the columns, and the table they come
 * from. MRD_ERR_FORMAT "bad_trace" names the column that is missing or of a wrong type. */
MRD_MUST_CHECK mrd_status mrd__event_columns(mrd__duck *duck, int fd, mrd__buf *list,
                                             mrd__buf *from, mrd_error *error);

/* How many rows the file's metadata announces. */
MRD_MUST_CHECK mrd_status mrd__event_row_count(mrd__duck *duck, int fd, uint64_t *rows,
                                               mrd_error *error);

#endif
