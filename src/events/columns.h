/* The columns of an event file as DuckDB sees them: which are there, of what type, and the SQL that
 * reads them. */
#ifndef MRD_EVENTS_COLUMNS_H
#define MRD_EVENTS_COLUMNS_H

#include "duck/duck.h"
#include "events/event_file.h"

enum {
    MRD__COL_TIME,
    MRD__COL_CATEGORY,
    MRD__COL_COMPONENT,
    MRD__COL_VALUE,
    MRD__COL_DETAIL
};
#define MRD__COL_COUNT 5

const char *mrd__event_column_name(int column);

/* What the metadata of the open file says of its rows; zeros where it says nothing. */
MRD_MUST_CHECK mrd_status mrd__event_hint_of(mrd__duck *duck, int fd, mrd__event_hint *hint,
                                             mrd_error *error);

/* Look at the open file's columns and append the query that reads the five of an event trace.
 * MRD_ERR_FORMAT "bad_trace" names the column that is missing or of a wrong type. */
MRD_MUST_CHECK mrd_status mrd__event_columns(mrd__duck *duck, int fd, mrd__buf *sql,
                                             mrd_error *error);

#endif
