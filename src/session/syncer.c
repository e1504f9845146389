#include "session/syncer.h"

#include "base/assert.h"
#include "base/os.h"

#include <errno.h>

static void *sync_main(void *arg)
{
    mrd__syncer *syncer = arg;
    pthread_mutex_lock(&syncer->lock);
    for (;;) {
        while (!syncer->asked && !syncer->stop)
            pthread_cond_wait(&syncer->turn, &syncer->lock);
        if (!syncer->asked) break;
        syncer->asked = false;
        int fd = syncer->fd;
        pthread_mutex_unlock(&syncer->lock);
        int rc = syncer->files->fdatasync(syncer->files->ctx, fd);
        int number = errno;
        pthread_mutex_lock(&syncer->lock);
        syncer->rc = rc;
        syncer->number = number;
        syncer->done = true;
        pthread_cond_signal(&syncer->turn);
    }
    pthread_mutex_unlock(&syncer->lock);
    return NULL;
}

static bool has_thread(mrd__syncer *syncer)
{
    if (syncer->threaded || !syncer->allowed) return syncer->threaded;
    pthread_mutex_init(&syncer->lock, NULL);
    pthread_cond_init(&syncer->turn, NULL);
    syncer->threaded = mrd__thread_start(&syncer->thread, sync_main, syncer) == 0;
    syncer->allowed = syncer->threaded;
    return syncer->threaded;
}

void mrd__syncer_begin(mrd__syncer *syncer, int fd)
{
    if (!has_thread(syncer)) {
        syncer->fd = fd;
        return;
    }
    pthread_mutex_lock(&syncer->lock);
    syncer->fd = fd;
    syncer->done = false;
    syncer->asked = true;
    pthread_cond_signal(&syncer->turn);
    pthread_mutex_unlock(&syncer->lock);
}

bool mrd__syncer_done(mrd__syncer *syncer)
{
    if (!syncer->threaded) return false;
    pthread_mutex_lock(&syncer->lock);
    bool done = syncer->done;
    pthread_mutex_unlock(&syncer->lock);
    return done;
}

int mrd__syncer_wait(mrd__syncer *syncer)
{
    if (!syncer->threaded) return syncer->files->fdatasync(syncer->files->ctx, syncer->fd);
    pthread_mutex_lock(&syncer->lock);
    while (!syncer->done)
        pthread_cond_wait(&syncer->turn, &syncer->lock);
    int rc = syncer->rc;
    int number = syncer->number;
    pthread_mutex_unlock(&syncer->lock);
    errno = number;
    return rc;
}

void mrd__syncer_end(mrd__syncer *syncer)
{
    if (!syncer->threaded) return;
    pthread_mutex_lock(&syncer->lock);
    syncer->stop = true;
    pthread_cond_signal(&syncer->turn);
    pthread_mutex_unlock(&syncer->lock);
    int rc = pthread_join(syncer->thread, NULL);
    mrd__assert(rc == 0);
    pthread_cond_destroy(&syncer->turn);
    pthread_mutex_destroy(&syncer->lock);
    syncer->threaded = false;
}
