/* A run at work, and what the task queue gives it; for this module only. */
#ifndef MRD_RESULTS_RUN_H
#define MRD_RESULTS_RUN_H

#include "results/internal.h"
#include "sim/sim.h"

typedef struct mrd__run {
    const mrd__run_request *request;
    mrd__sim_spec spec;
    mrd__sim_result result;
    int64_t experiment, id;
    double wall_ms;
    bool untraced, there;              /* there: the store has a row of this key */
    mrd__buf trace;                    /* as it is stored or was asked for */
    mrd__buf trace_file, records_file; /* where they are */
} mrd__run;

/* A task that this process runs has its result: inside the transaction of its row. Code not_ours
 * where another process took it over or it was removed; MRD__TASK_CANCELLED where its cancelling
 * was granted meanwhile. */
#define MRD__TASK_CANCELLED "task_cancelled"
MRD_MUST_CHECK mrd_status mrd__task_done(mrd__results *results, const char *task_id, int64_t result,
                                         mrd_error *error);

#endif
