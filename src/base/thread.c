/* Worker threads. A pool of detached threads is kept: each sleeps on its own condition until
 * mrd__parallel hands it one index of a job, so that handing out costs microseconds and a window of
 * a few milliseconds can be split. Concurrent and nested calls take further threads. When the limit
 * is reached (or the system refuses a thread), the caller runs the indices that are left itself,
 * one after the other: a body must therefore never wait for another body of its own job. */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/os.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#define POOL_THREADS_MAX 256 /* far above cores times simultaneous callers */

typedef struct job {
    void (*body)(void *ctx, uint32_t worker);
    void *ctx;
    uint32_t pending; /* indices given to pool threads and not finished */
    pthread_cond_t done;
} job;

typedef struct pool_thread {
    struct pool_thread *next; /* while idle */
    job *work;
    uint32_t worker;
    pthread_cond_t wake;
} pool_thread;

static struct {
    pthread_mutex_t lock;
    pool_thread *idle;
    uint32_t count;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void lock_pool(void)
{
    int rc = pthread_mutex_lock(&pool.lock);
    mrd__assert(rc == 0);
}

static void unlock_pool(void)
{
    int rc = pthread_mutex_unlock(&pool.lock);
    mrd__assert(rc == 0);
}

static void *pool_main(void *arg)
{
    pool_thread *self = arg;
    lock_pool();
    for (;;) {
        while (self->work == NULL)
            pthread_cond_wait(&self->wake, &pool.lock);
        job *work = self->work;
        unlock_pool();
        work->body(work->ctx, self->worker);
        lock_pool();
        self->work = NULL;
        self->next = pool.idle;
        pool.idle = self;
        if (--work->pending == 0) pthread_cond_signal(&work->done);
    }
    return NULL;
}

int mrd__thread_start(pthread_t *thread, void *(*body)(void *ctx), void *ctx)
{
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    sigdelset(&all, SIGABRT);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(thread, NULL, body, ctx);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

static bool start_thread(pool_thread *thread)
{
    pthread_t id;
    return mrd__thread_start(&id, pool_main, thread) == 0 && pthread_detach(id) == 0;
}

/* Under the lock. False when there is no idle thread and none can be made. */
static bool hand_out(job *work, uint32_t worker)
{
    pool_thread *thread = pool.idle;
    if (thread != NULL) {
        pool.idle = thread->next;
        thread->work = work;
        thread->worker = worker;
        pthread_cond_signal(&thread->wake);
        return true;
    }
    if (pool.count >= POOL_THREADS_MAX) return false;
    thread = mrd__new(pool_thread);
    thread->work = work;
    thread->worker = worker;
    pthread_cond_init(&thread->wake, NULL);
    if (!start_thread(thread)) {
        pthread_cond_destroy(&thread->wake);
        mrd__free(thread);
        return false;
    }
    pool.count++;
    return true;
}

void mrd__parallel(uint32_t workers, void (*body)(void *ctx, uint32_t worker), void *ctx)
{
    mrd__assert(workers > 0);
    if (workers == 1) {
        body(ctx, 0);
        return;
    }
    job work = {.body = body, .ctx = ctx};
    pthread_cond_init(&work.done, NULL);
    uint32_t next = 1;
    lock_pool();
    while (next < workers && hand_out(&work, next)) {
        work.pending++;
        next++;
    }
    unlock_pool();
    body(ctx, 0);
    for (; next < workers; next++)
        body(ctx, next);
    lock_pool();
    while (work.pending > 0)
        pthread_cond_wait(&work.done, &pool.lock);
    unlock_pool();
    pthread_cond_destroy(&work.done);
}

typedef struct loop {
    void (*body)(void *ctx, size_t index, uint32_t worker);
    void *ctx;
    size_t count;
    atomic_size_t next;
} loop;

static void loop_body(void *ctx, uint32_t worker)
{
    loop *l = ctx;
    for (;;) {
        size_t index = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed);
        if (index >= l->count) return;
        l->body(l->ctx, index, worker);
    }
}

void mrd__parallel_for(uint32_t workers, size_t count,
                       void (*body)(void *ctx, size_t index, uint32_t worker), void *ctx)
{
    mrd__assert(workers > 0);
    if (count == 0) return;
    loop l = {.body = body, .ctx = ctx, .count = count};
    mrd__parallel(count < workers ? (uint32_t)count : workers, loop_body, &l);
}

uint32_t mrd__cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        int count = CPU_COUNT(&set);
        if (count > 0) return (uint32_t)count;
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (uint32_t)online : 1;
}
