/* Two traces compared by lane and name (spec merge.md section 5b). */
#ifndef MRD_EXPORT_DIFF_H
#define MRD_EXPORT_DIFF_H

#include "model/store.h"

/* What got slower, faster, appeared and vanished, by lane and name of slices that ended, with
 * counts, totals and medians; the largest change of the total first. Lanes are matched by the names
 * of their process, thread and track; those without a name by their place. TEXT shows at most limit
 * rows of each (0: all), JSON all. */
MRD_MUST_CHECK mrd_status mrd__export_diff(const mrd__store *before, const mrd__store *after,
                                           mrd_format format, uint64_t limit, const mrd_sink *sink,
                                           mrd_error *error);

#endif
