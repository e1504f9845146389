/* Questions about a sealed store. Nothing here grows with the number of events in a window.
 * Parameters come as mrd_params (query/params.h) whatever the door. */
#ifndef MRD_QUERY_QUERY_H
#define MRD_QUERY_QUERY_H

#include "model/store.h"
#include "query/params.h"

/* Schemas SR and SG (spec timeline.md 2b) over slice, instant and counter tracks. absolute: times
 * of the parameters and of JSON and CSV answers are absolute ns integers, else relative doubles;
 * Arrow is always relative. Codes bad_window, bad_number, bad_buckets, bad_parameter,
 * too_many_rows.
 *
 * SR: order by start, slices before instants, then file order; an instant is a row of length 0
 * with its id among the instants; counter samples are in SG alone, SR has no value. SG: order by
 * track, row, bucket; what a bucket is and what of it is emitted is event-trace.md section 4;
 * longest is the longest slice that touches the bucket, or the first instant in it. More than
 * MRD__MAX_WINDOW_CELLS rows are bad_buckets. window.c, slice_raw.c, slice_cells.c */
MRD_MUST_CHECK mrd_status mrd__query_window(const mrd__store *store, const mrd_params *params,
                                            bool absolute, mrd_format format, const mrd_sink *sink,
                                            mrd_error *error);
/* Make the memory of one usual answer over event records ahead of time. Any thread.
 * src/query/event_scratch.c */
void mrd__query_warm(void);
/* Schemas R and G (spec event-trace.md 3 to 5). Code bad_category besides; a store without event
 * records is MRD_ERR_FORMAT "bad_trace". src/query/event_window.c */
MRD_MUST_CHECK mrd_status mrd__query_event_window(const mrd__store *store, const mrd_params *params,
                                                  mrd_format format, const mrd_sink *sink,
                                                  mrd_error *error);
/* {"lanes": [...]}; src/query/lanes.c */
MRD_MUST_CHECK mrd_status mrd__query_lanes(const mrd__store *store, const mrd_sink *sink,
                                           mrd_error *error);
/* One slice or instant with args and flows; codes no_such_track, no_such_slice.
 * src/query/detail.c */
MRD_MUST_CHECK mrd_status mrd__query_detail(const mrd__store *store, uint32_t track, uint64_t id,
                                            const mrd_sink *sink, mrd_error *error);

#endif
