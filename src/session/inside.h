/* The recording from inside: recording.c, ingress.c, derived.c and finish.c. */
#ifndef MRD_SESSION_INSIDE_H
#define MRD_SESSION_INSIDE_H

#include "session/entry.h"
#include "session/recording.h"
#include "session/ring.h"

#include <pthread.h>

struct mrd__derived {
    mrd__derived *next;
    mrd__recording *recording;
    mrd__entry entry;
    int fd;
    char *path;
    mrd__buf bytes; /* not yet handed over */
    uint32_t chain;
    mrd__sha256 hash;
    size_t unbegun;    /* bytes written since the disk was last told to begin */
    mrd_status status; /* the first failure, kept */
    mrd_error why;
    bool closed;

    /* The thread that hashes and writes, from the first full buffer on; fd and hash are its own
     * until it is joined. */
    bool threaded;
    pthread_t thread;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t turn;
    mrd__buf handed; /* being written while `full` */
    bool full, stop;
    mrd_status failed;
    mrd_error failure;
};

struct mrd__recording {
    const mrd__files *files;
    char *final_dir, *open_dir;
    const char *dir; /* one of the two */
    uint8_t uuid[16];
    int lock_fd; /* session.json, locked: says to recover that somebody is recording */
    void (*durable)(void *ctx, uint64_t sequence);
    void *durable_ctx;

    pthread_mutex_t lock; /* guards what follows, down to `writing` */
    pthread_cond_t wake;  /* the writer: something to do */
    pthread_cond_t room;  /* readers: room was made */
    pthread_cond_t done;  /* drain: a step has ended */
    mrd__ring ring;
    uint64_t rooms;
    uint64_t reserved, refused;
    bool closed; /* admission */
    bool failed;
    mrd_error failure;
    uint64_t drains_asked, drains_done;
    bool stop, threaded;
    /* copies of the log's, for readers */
    uint64_t written, synced, bytes, sync_failures;
    uint32_t segment;

    _Atomic uint64_t next; /* ring.tail, for hints without the lock */
    _Atomic uint32_t idle; /* the writer sleeps until it is woken */

    pthread_mutex_t writing; /* held by whoever steps the log: the thread, or pump and finish */
    mrd__log log;
    mrd__syncer syncer;    /* the log's */
    uint64_t at;           /* byte of the ring up to which slots were encoded */
    uint64_t refused_told; /* refusals told by gap records */
    mrd__ranges missing;   /* cancelled while sealing */
    uint64_t dropped;      /* cancelled records without a sequence */
    bool end_written, raw_closed, sealed, renamed;

    mrd__derived *derived;
    mrd__entries documents; /* session.json, report.json, ... */
    pthread_t thread;
};

/* One step of the writer: encode what is ready, write, sync where due or wanted. Takes `writing`.
 * The failure is kept in the recording, too. */
MRD_MUST_CHECK mrd_status mrd__recording_step(mrd__recording *recording, bool sync,
                                              mrd_error *error);
/* Derived files to disk and closed. */
MRD_MUST_CHECK mrd_status mrd__derived_end(mrd__derived *derived, mrd_error *error);
void mrd__derived_free(mrd__derived *derived);
/* End the writer's thread; further steps are the caller's. */
void mrd__recording_stop_thread(mrd__recording *recording);

#endif
