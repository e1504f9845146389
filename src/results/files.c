/* Writing a trace while its run goes on: the run pushes batches, two threads write the files. */
#include "results/files.h"

#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "events/command_file.h"
#include "events/event_file.h"
#include "results/pipe.h"

/* ---- Whose folder ---- */

static void mark_path(const mrd__results *results, mrd__buf *out)
{
    mrd__buf_printf(out, "%s/traces/store", results->data_dir);
}

/* 1 ours, 0 nobody's, -1 another store's. */
static int whose(const mrd__results *results)
{
    mrd__buf path = {0}, text = {0};
    int answer = 0;
    mark_path(results, &path);
    if (mrd__file_exists(path.data)) {
        bool read = mrd__file_read(&text, path.data, 256, NULL) == MRD_OK;
        answer = read && mrd__str_is((mrd__str){text.data, text.size}, results->store_id) ? 1 : -1;
    }
    mrd__buf_reset(&path);
    mrd__buf_reset(&text);
    return answer;
}

bool mrd__owns_traces(const mrd__results *results)
{
    return whose(results) == 1;
}

mrd_status mrd__trace_folder(mrd__results *results, int64_t experiment, mrd__buf *out,
                             mrd_error *error)
{
    mrd__buf folder = {0}, mark = {0};
    int answer = whose(results);
    mrd__buf_printf(&folder, "%s/traces/%lld", results->data_dir, (long long)experiment);
    mrd_status status = mrd__make_folders(folder.data, error);
    mark_path(results, &mark);
    if (status == MRD_OK && answer < 0)
        status = mrd__fail(error, MRD_ERR_STATE, "bad_store",
                           "the traces of %s belong to another result store; take another --data",
                           results->data_dir);
    if (status == MRD_OK && answer == 0)
        status =
            mrd__file_write_atomic(mark.data, results->store_id, strlen(results->store_id), error);
    mrd__buf_str(out, (mrd__str){folder.data, folder.size});
    mrd__buf_reset(&folder);
    mrd__buf_reset(&mark);
    return status;
}

/* ---- Writing ---- */

typedef struct file_job {
    mrd__pipe pipe;
    char *path;
    pthread_t thread;
    bool started;
    mrd_status status;
    mrd_error error;
} file_job;

struct mrd__trace_job {
    file_job events, commands;
    double sim_end_ns;
    bool truncated;
};

static void keep_details(void *items, size_t count, mrd__buf *texts)
{
    mrd__event_record *records = items;
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += records[i].detail.size;
    mrd__buf_reserve(texts, size + 1);
    for (size_t i = 0; i < count; i++) {
        mrd__str *detail = &records[i].detail;
        if (!detail->data) continue;
        const char *own = texts->data + texts->size;
        mrd__buf_str(texts, *detail);
        detail->data = own;
    }
}

/* The rows of a run that failed are no trace: the writing fails too, and leaves no file. */
static mrd_status no_more(bool whole, size_t count, mrd_error *error)
{
    if (count > 0 || whole) return MRD_OK;
    return mrd__fail(error, MRD_ERR_CANCELLED, "no_run", "the run did not end");
}

static mrd_status next_events(void *ctx, mrd__event_record *records, size_t max, size_t *count,
                              mrd_error *error)
{
    bool whole;
    mrd__trace_job *job = ctx;
    *count = mrd__pipe_take(&job->events.pipe, records, max, &whole);
    return no_more(whole, *count, error);
}

static void tell_end(void *ctx, double *sim_end_ns, bool *truncated)
{
    const mrd__trace_job *job = ctx;
    *sim_end_ns = job->sim_end_ns;
    *truncated = job->truncated;
}

static void *write_events(void *ctx)
{
    mrd__trace_job *job = ctx;
    mrd__event_source source = {.ctx = job, .next = next_events, .end = tell_end};
    job->events.status = mrd__event_write(job->events.path, &source, &job->events.error);
    mrd__pipe_abandon(&job->events.pipe);
    return NULL;
}

static mrd_status next_commands(void *ctx, mrd__command_record *records, size_t max, size_t *count,
                                mrd_error *error)
{
    bool whole;
    mrd__trace_job *job = ctx;
    *count = mrd__pipe_take(&job->commands.pipe, records, max, &whole);
    return no_more(whole, *count, error);
}

static void *write_commands(void *ctx)
{
    mrd__trace_job *job = ctx;
    mrd__command_source source = {.ctx = job, .next = next_commands};
    job->commands.status = mrd__command_write(job->commands.path, &source, &job->commands.error);
    mrd__pipe_abandon(&job->commands.pipe);
    return NULL;
}

/* ---- What the run calls ---- */

static mrd_status writer_gone(mrd_error *error)
{
    return mrd__fail(error, MRD_ERR_IO, "bad_trace", "the trace cannot be written");
}

static mrd_status on_records(void *ctx, const mrd__event_record *records, size_t count,
                             mrd_error *error)
{
    mrd__trace_job *job = ctx;
    return mrd__pipe_push(&job->events.pipe, records, count) ? MRD_OK : writer_gone(error);
}

static mrd_status on_commands(void *ctx, const mrd__command_record *commands, size_t count,
                              mrd_error *error)
{
    mrd__trace_job *job = ctx;
    return mrd__pipe_push(&job->commands.pipe, commands, count) ? MRD_OK : writer_gone(error);
}

static void join(file_job *file)
{
    if (file->started) pthread_join(file->thread, NULL);
    file->started = false;
}

/* Names of components live until this returns: the writers must be done with them. */
static void on_end(void *ctx, bool done, double sim_end_ns, bool truncated)
{
    mrd__trace_job *job = ctx;
    job->sim_end_ns = sim_end_ns;
    job->truncated = truncated;
    mrd__pipe_end(&job->events.pipe, done);
    mrd__pipe_end(&job->commands.pipe, done);
    join(&job->events);
    join(&job->commands);
}

static void start(file_job *file, void *(*body)(void *), mrd__trace_job *job)
{
    int code = pthread_create(&file->thread, NULL, body, job);
    file->started = code == 0;
    if (code == 0) return;
    file->status =
        mrd__fail(&file->error, MRD_ERR_IO, "no_thread", "no thread: %s", strerror(code));
    mrd__pipe_abandon(&file->pipe);
}

mrd__trace_job *mrd__trace_job_start(const char *trace, const char *records,
                                     mrd__sim_observer *observer)
{
    mrd__trace_job *job = mrd__new(mrd__trace_job);
    mrd__pipe_init(&job->events.pipe, sizeof(mrd__event_record), keep_details);
    mrd__pipe_init(&job->commands.pipe, sizeof(mrd__command_record), NULL);
    job->events.path = mrd__strndup(trace, strlen(trace));
    start(&job->events, write_events, job);
    if (records) {
        job->commands.path = mrd__strndup(records, strlen(records));
        start(&job->commands, write_commands, job);
        observer->commands = on_commands;
    }
    observer->records = on_records;
    observer->end = on_end;
    return job;
}

mrd_status mrd__trace_job_end(mrd__trace_job *job, mrd_error *error)
{
    on_end(job, false, job->sim_end_ns, job->truncated); /* where the run had not told it */
    /* The one that failed by itself tells more than the one that was told to. */
    const file_job *bad = &job->events;
    if (bad->status == MRD_OK || strcmp(bad->error.code, "no_run") == 0)
        bad = job->commands.status != MRD_OK ? &job->commands : bad;
    mrd_status status = bad->status;
    if (status != MRD_OK && error) *error = bad->error;
    if (status != MRD_OK && job->commands.path) { /* one of the two may stand */
        unlink(job->events.path);
        unlink(job->commands.path);
    }
    mrd__pipe_reset(&job->events.pipe);
    mrd__pipe_reset(&job->commands.pipe);
    mrd__free(job->events.path);
    mrd__free(job->commands.path);
    mrd__free(job);
    return status;
}
