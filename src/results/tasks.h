/* Between the queue (tasks.c) and who runs it (workers.c). */
#ifndef MRD_RESULTS_TASKS_H
#define MRD_RESULTS_TASKS_H

#include "results/internal.h"

#define MRD__TASK_ID 37 /* a UUID and NUL */

/* Wake who watches, with the mutex held. */
void mrd__tasks_notify(mrd__results *results);
/* UPDATE a running task of this process: `set` is the SQL of its columns, with values. changed
 * false: it is not ours any more. Inside a transaction, or as one of its own. */
MRD_MUST_CHECK mrd_status mrd__task_change(mrd__results *results, const char *id, const char *set,
                                           const mrd__db_value *values, size_t count, bool *changed,
                                           mrd_error *error);

#endif
