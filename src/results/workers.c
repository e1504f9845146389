/* Threads that take tasks from the queue and run them.
 *
 * A running task names its owner and has a heartbeat. At the start, and now and then, tasks of
 * owners that are gone are queued again: on this host the process is looked for, elsewhere the
 * heartbeat tells. A task whose process died MRD__TASKS_MAX_ATTEMPTS times has failed. */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/assert.h"
#include "base/os.h"
#include "results/files.h"
#include "results/run.h"
#include "results/tasks.h"

#define MAX_THREADS 256
#define IDLE_MS 500       /* how soon a task that another process queued is seen */
#define HEARTBEAT_MS 1000 /* how often a running task tells its progress, hears of a cancel */
#define DEAD_AFTER_S 60   /* without a heartbeat, on another host */
#define RECLAIM_MS 10000  /* how often the tasks of the dead are looked for */
#define WORKER_NICE 5
#define TASK_ERROR_MAX 1600

struct mrd__workers {
    mrd__results *results;
    uint32_t count;
    pthread_t threads[MAX_THREADS];
    atomic_bool stopping;
    uint64_t reclaimed_at; /* under the store's mutex */
};

static int64_t now_s(void)
{
    return mrd__realtime_ns() / 1000000000;
}

/* ---- Tasks of the dead ---- */

typedef struct dead_task {
    int64_t seq, attempts;
} dead_task;
typedef MRD__VEC(dead_task) dead_tasks;

static mrd_status find_dead(mrd__results *results, dead_tasks *dead, mrd_error *error)
{
    mrd__db_rows *rows = NULL;
    bool more;
    MRD__TRY(mrd__db_query(results->db,
                           "SELECT seq, owner, heartbeat, attempts FROM tasks "
                           "WHERE state = 'running'",
                           NULL, 0, &rows, error));
    mrd_status status;
    while ((status = mrd__db_next(rows, &more, error)) == MRD_OK && more) {
        char owner[MRD__OWNER] = {0};
        mrd__str text = mrd__db_value_at(rows, 1, MRD__DB_TEXT).text;
        if (text.size < sizeof owner && text.size > 0) memcpy(owner, text.data, text.size);
        int64_t beat = mrd__db_value_at(rows, 2, MRD__DB_INT).integer;
        dead_task task = {mrd__db_value_at(rows, 0, MRD__DB_INT).integer,
                          mrd__db_value_at(rows, 3, MRD__DB_INT).integer};
        if (!mrd__owner_alive(owner) || now_s() - beat > DEAD_AFTER_S) mrd__vec_push(dead, task);
    }
    mrd__db_end(rows);
    return status;
}

static mrd_status requeue(mrd__results *results, const dead_task *task, mrd_error *error)
{
    char now[32];
    mrd__utc_now(now);
    mrd__db_value values[] = {MRD__DB_OF_TEXT(mrd__str_of(now)), MRD__DB_OF_INT(task->seq)};
    if (task->attempts >= MRD__TASKS_MAX_ATTEMPTS)
        return mrd__db_run(results->db,
                           "UPDATE tasks SET state = 'failed', owner = NULL, error = 'the process "
                           "that ran it died, each time it was tried', finished_at = ?, version = "
                           "(SELECT max(version) + 1 FROM tasks) WHERE seq = ?",
                           values, 2, error);
    return mrd__db_run(results->db,
                       "UPDATE tasks SET state = 'queued', owner = NULL, progress = 0, version = "
                       "(SELECT max(version) + 1 FROM tasks) WHERE seq = ?",
                       &values[1], 1, error);
}

static mrd_status reclaim(mrd__results *results, mrd_error *error)
{
    dead_tasks dead = {0};
    mrd_status status = find_dead(results, &dead, error);
    for (size_t i = 0; i < dead.count && status == MRD_OK; i++)
        status = requeue(results, &dead.data[i], error);
    if (dead.count) mrd__tasks_notify(results);
    mrd__vec_reset(&dead);
    return status;
}

/* ---- One task ---- */

typedef struct task {
    mrd__workers *workers;
    char id[MRD__TASK_ID];
    char *experiment, *spec;
    uint64_t beat_at;
    bool cancelled, lost;
} task;

static void task_reset(task *t)
{
    mrd__free(t->experiment);
    mrd__free(t->spec);
}

static char *copy(mrd__str text)
{
    return mrd__strndup(text.data ? text.data : "", text.size);
}

/* The oldest queued task becomes ours. */
static mrd_status claim_inside(mrd__results *results, task *t, bool *got, mrd_error *error)
{
    char now[32], owner[MRD__OWNER];
    mrd__db_rows *rows = NULL;
    mrd__utc_now(now);
    mrd__owner_text(owner);
    mrd__db_value values[] = {MRD__DB_OF_TEXT(mrd__str_of(owner)), MRD__DB_OF_INT(now_s()),
                              MRD__DB_OF_TEXT(mrd__str_of(now))};
    MRD__TRY(mrd__db_query(
        results->db,
        "UPDATE tasks SET state = 'running', owner = ?, heartbeat = ?, started_at = ?, "
        "progress = 0, cancel = 0, attempts = attempts + 1, "
        "version = (SELECT max(version) + 1 FROM tasks) "
        "WHERE seq = (SELECT min(seq) FROM tasks WHERE state = 'queued') "
        "RETURNING id, spec, (SELECT name FROM experiments e WHERE e.id = tasks.experiment_id)",
        values, 3, &rows, error));
    bool more = false;
    mrd_status status = mrd__db_next(rows, &more, error);
    *got = more;
    if (status == MRD_OK && more) {
        mrd__str id = mrd__db_value_at(rows, 0, MRD__DB_TEXT).text;
        if (id.size < sizeof t->id) memcpy(t->id, id.data, id.size);
        t->spec = copy(mrd__db_value_at(rows, 1, MRD__DB_TEXT).text);
        t->experiment = copy(mrd__db_value_at(rows, 2, MRD__DB_TEXT).text);
    }
    while (status == MRD_OK && more)
        status = mrd__db_next(rows, &more, error);
    mrd__db_end(rows);
    return status;
}

static bool any_queued(mrd__results *results)
{
    int64_t seq;
    bool found;
    return mrd__db_int(results->db, "SELECT min(seq) FROM tasks WHERE state = 'queued'", NULL, 0,
                       &seq, &found, NULL) == MRD_OK &&
           found;
}

/* Waits for a task; false: stopping. */
static bool claim(mrd__workers *w, task *t)
{
    mrd__results *results = w->results;
    bool got = false;
    pthread_mutex_lock(&results->mutex);
    while (!atomic_load(&w->stopping)) {
        uint64_t now = mrd__monotonic_ns();
        bool due = now - w->reclaimed_at > RECLAIM_MS * 1000000ull;
        if ((due || any_queued(results)) && mrd__db_begin(results->db, NULL) == MRD_OK) {
            mrd_status status = due ? reclaim(results, NULL) : MRD_OK;
            if (status == MRD_OK) status = claim_inside(results, t, &got, NULL);
            status = mrd__db_finish(results->db, status, NULL);
            if (due) w->reclaimed_at = now;
            if (status == MRD_OK && got) break;
            task_reset(t); /* the commit failed: it is not ours */
            *t = (task){.workers = w};
        }
        uint64_t until = now + IDLE_MS * 1000000ull;
        struct timespec time = {(time_t)(until / 1000000000u), (long)(until % 1000000000u)};
        pthread_cond_timedwait(&results->tasks_changed, &results->mutex, &time);
    }
    if (got) mrd__tasks_notify(results);
    pthread_mutex_unlock(&results->mutex);
    return got;
}

static void heartbeat(task *t, double done)
{
    mrd__results *results = t->workers->results;
    mrd__db_value values[] = {MRD__DB_OF_REAL(done), MRD__DB_OF_INT(now_s())};
    mrd__db_value id = MRD__DB_OF_TEXT(mrd__str_of(t->id));
    bool ours = true, found = false;
    int64_t cancel = 0;
    pthread_mutex_lock(&results->mutex);
    if (mrd__db_begin(results->db, NULL) == MRD_OK) {
        mrd_status status =
            mrd__task_change(results, t->id, "progress = ?, heartbeat = ?", values, 2, &ours, NULL);
        if (status == MRD_OK)
            status = mrd__db_int(results->db, "SELECT cancel FROM tasks WHERE id = ?", &id, 1,
                                 &cancel, &found, NULL);
        if (mrd__db_finish(results->db, status, NULL) == MRD_OK) {
            t->lost = !ours;
            t->cancelled = found && cancel != 0;
        }
    }
    pthread_mutex_unlock(&results->mutex);
}

static bool on_progress(void *ctx, uint64_t events, double done)
{
    (void)events;
    task *t = ctx;
    uint64_t now = mrd__monotonic_ns();
    if (now - t->beat_at > HEARTBEAT_MS * 1000000ull) {
        heartbeat(t, done);
        t->beat_at = now;
    }
    return !t->cancelled && !t->lost && !atomic_load(&t->workers->stopping);
}

/* How a task ended that has no result. Should this fail, the task is found dead later. */
static void end_task(const task *t, mrd_status status, const mrd_error *error)
{
    mrd__results *results = t->workers->results;
    char now[32], text[TASK_ERROR_MAX];
    bool changed;
    mrd__utc_now(now);
    mrd__db_value values[] = {
        MRD__DB_OF_TEXT(mrd__str_of(mrd_error_text(error, text, sizeof text))),
        MRD__DB_OF_TEXT(mrd__str_of(now))};
    const char *set = "state = 'failed', error = ?, finished_at = ?, owner = NULL";
    const mrd__db_value *from = values;
    size_t count = 2;
    if (status == MRD_ERR_CANCELLED && t->cancelled) {
        set = "state = 'cancelled', finished_at = ?, owner = NULL";
        from = &values[1];
        count = 1;
    } else if (status == MRD_ERR_CANCELLED) { /* stopped in order: no attempt is used up */
        set = "state = 'queued', progress = 0, attempts = attempts - 1, owner = NULL";
        count = 0;
    }
    pthread_mutex_lock(&results->mutex);
    if (mrd__db_begin(results->db, NULL) == MRD_OK) {
        status = mrd__task_change(results, t->id, set, from, count, &changed, NULL);
        (void)!mrd__db_finish(results->db, status, NULL);
    }
    mrd__tasks_notify(results);
    pthread_mutex_unlock(&results->mutex);
}

static void run_task(task *t)
{
    mrd__buf out = {0};
    mrd_error error = {0};
    mrd__assert(t->spec != NULL); /* a claimed task has one */
    mrd__run_request request = {.spec = t->spec,
                                .spec_size = strlen(t->spec),
                                .results = t->workers->results,
                                .experiment = t->experiment,
                                .task_id = t->id,
                                .progress = on_progress,
                                .progress_ctx = t};
    t->beat_at = mrd__monotonic_ns();
    mrd_status status = mrd__results_run(&request, MRD_FORMAT_CSV, &out, NULL, &error);
    if (status == MRD_ERR_CANCELLED && strcmp(error.code, MRD__TASK_CANCELLED) == 0)
        t->cancelled = true;
    if (status != MRD_OK && !t->lost) end_task(t, status, &error);
    mrd__buf_reset(&out);
}

static void *work(void *ctx)
{
    mrd__workers *w = ctx;
    /* Answers come first (on Linux this is the thread's own). A refusal changes only the speed. */
    if (setpriority(PRIO_PROCESS, 0, WORKER_NICE) != 0) errno = 0;
    for (;;) {
        task t = {.workers = w};
        if (!claim(w, &t)) return NULL;
        run_task(&t);
        task_reset(&t);
    }
}

/* ---- Start and stop ---- */

mrd_status mrd__tasks_start(mrd__results *results, uint32_t threads, mrd_error *error)
{
    if (results->workers)
        return mrd__fail(error, MRD_ERR_STATE, "running", "tasks are run already");
    if (threads == 0) threads = mrd__cores();
    if (threads > MAX_THREADS) threads = MAX_THREADS;
    pthread_mutex_lock(&results->mutex);
    mrd_status status = mrd__db_begin(results->db, error);
    if (status == MRD_OK) status = mrd__db_finish(results->db, reclaim(results, error), error);
    pthread_mutex_unlock(&results->mutex);
    if (status != MRD_OK) return status;
    mrd__workers *w = mrd__new(mrd__workers);
    w->results = results;
    w->reclaimed_at = mrd__monotonic_ns();
    results->workers = w;
    results->watching_ends = false;
    for (; w->count < threads; w->count++) {
        int code = pthread_create(&w->threads[w->count], NULL, work, w);
        if (code == 0) continue;
        status = mrd__fail(error, MRD_ERR_IO, "no_thread", "no thread: %s", strerror(code));
        mrd__tasks_stop(results);
        break;
    }
    return status;
}

void mrd__tasks_stop(mrd__results *results)
{
    mrd__workers *w = results->workers;
    pthread_mutex_lock(&results->mutex);
    results->watching_ends = true;
    if (w) atomic_store(&w->stopping, true);
    mrd__tasks_notify(results);
    pthread_mutex_unlock(&results->mutex);
    if (!w) return;
    for (uint32_t i = 0; i < w->count; i++)
        pthread_join(w->threads[i], NULL);
    results->workers = NULL;
    mrd__free(w);
}
