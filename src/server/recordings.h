/* Recordings that the server runs itself: each a thread of its own that fills a session's folder.
 * Processes and the machine alone: a request names no program and no command line. */
#ifndef MRD_SERVER_RECORDINGS_H
#define MRD_SERVER_RECORDINGS_H

#include "server/http.h"

typedef struct mrd__recordings mrd__recordings;

/* data_dir is borrowed and must outlive it. Destroy after mrd__recordings_stop. */
mrd__recordings *mrd__recordings_create(const char *data_dir);
/* All that run end and are sealed; nothing begins any more. Returns when the last one is sealed,
 * and lets go who waits for one. Any thread; accepts NULL. */
void mrd__recordings_stop(mrd__recordings *all);
/* Nobody may use it any more. Accepts NULL and *all == NULL. */
void mrd__recordings_destroy(mrd__recordings **all);

/* Turn the closing } of a list of sessions into `,"recordings":[NAME, ...],"failed":[...]}`: what
 * this server records, and the newest that ended with an error. Any thread; accepts NULL. */
void mrd__recordings_tell(mrd__recordings *all, mrd__buf *list);

/* POST /api/sessions and POST /api/sessions/{id}/stop. Any thread. */
void mrd__post_session(mrd__request *request, mrd__reply *reply);
void mrd__post_session_stop(mrd__request *request, mrd__reply *reply);

#endif
