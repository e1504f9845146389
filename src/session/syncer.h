/* One sync of the log's segment at a time, beside the thread that encodes what comes after it: the
 * disk and the processor work at once. */
#ifndef MRD_SESSION_SYNCER_H
#define MRD_SESSION_SYNCER_H

#include "session/files.h"

#include <pthread.h>

/* Zeroed but for files and allowed. One user: begin, then wait, in turn. */
typedef struct mrd__syncer {
    const mrd__files *files;
    bool allowed; /* a thread may be started, at the first begin; else wait syncs for itself */
    bool threaded;
    int fd; /* of the sync that was begun, by the user */
    pthread_t thread;
    pthread_mutex_t lock; /* of a thread; guards what follows */
    pthread_cond_t turn;
    bool asked, done, stop;
    int rc, number; /* what fdatasync gave: its value and errno */
} mrd__syncer;

/* Begin fdatasync of fd, which stays open and is not written until wait. */
void mrd__syncer_begin(mrd__syncer *syncer, int fd);
/* Whether wait would not wait. Without a thread never. */
bool mrd__syncer_done(mrd__syncer *syncer);
/* Wait for what was begun: as fdatasync, -1 and errno on failure. */
int mrd__syncer_wait(mrd__syncer *syncer);
/* End the thread; nothing may be begun. Accepts zeroed. */
void mrd__syncer_end(mrd__syncer *syncer);

#endif
