/* Routes of experiments, tasks and comparisons (docs/http.md, Results). */
#ifndef MRD_SERVER_EVALUATION_H
#define MRD_SERVER_EVALUATION_H

#include "server/http.h"

/* The store of this server; false with 404 in reply where it has none. */
bool mrd__evaluation_store(const mrd__request *request, mrd__reply *reply, mrd_results **out);

void mrd__get_experiments(mrd__request *request, mrd__reply *reply);
void mrd__post_experiment(mrd__request *request, mrd__reply *reply);
void mrd__get_experiment(mrd__request *request, mrd__reply *reply);
void mrd__delete_experiment(mrd__request *request, mrd__reply *reply);
void mrd__get_compare(mrd__request *request, mrd__reply *reply);
void mrd__get_tasks(mrd__request *request, mrd__reply *reply);
void mrd__post_tasks(mrd__request *request, mrd__reply *reply);
void mrd__get_task(mrd__request *request, mrd__reply *reply);
void mrd__delete_task(mrd__request *request, mrd__reply *reply);
void mrd__get_task_events(mrd__request *request, mrd__reply *reply);

/* Server-sent events: append one event per task that changed since *version (UINT64_MAX at first:
 * all that are queued or running), waiting up to timeout_ms. False when the server stops. */
bool mrd__evaluation_events(mrd_results *results, uint64_t *version, unsigned timeout_ms,
                            mrd__buf *out);

#endif
