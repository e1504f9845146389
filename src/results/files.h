/* Trace files of the data folder: where they stand, who owns them, writing them during a run. */
#ifndef MRD_RESULTS_FILES_H
#define MRD_RESULTS_FILES_H

#include "results/internal.h"
#include "sim/sim.h"

/* Make DIR/traces/{experiment}, appended to out. A data folder belongs to the store that first put
 * a trace into it, since file names are ids: bad_store for any other. */
MRD_MUST_CHECK mrd_status mrd__trace_folder(mrd__results *results, int64_t experiment,
                                            mrd__buf *out, mrd_error *error);
/* Whether this store owns the traces of the data folder; false where there are none. */
bool mrd__owns_traces(const mrd__results *results);

/* This process, as text of the letters 0-9a-f and -: process, its start, host. */
#define MRD__OWNER 64
void mrd__owner_text(char out[MRD__OWNER]);
/* False where that process is known to be gone: it ran on this host and does not any more. */
bool mrd__owner_alive(const char *owner);

/* A trace being written by two threads while its run goes on. */
typedef struct mrd__trace_job mrd__trace_job;
/* records NULL: no file of commands. Fills *observer but for progress, limit and ctx's use. */
mrd__trace_job *mrd__trace_job_start(const char *trace, const char *records,
                                     mrd__sim_observer *observer);
/* After the run: waits for the files. The first failure, or MRD_OK: both stand. */
MRD_MUST_CHECK mrd_status mrd__trace_job_end(mrd__trace_job *job, mrd_error *error);

#endif
