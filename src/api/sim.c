/* meridian.h, Simulation: runs and sweeps. */
#include "sim/sim.h"
#include "api/results.h"
#include "base/os.h"

#include <pthread.h>
#include <string.h>

typedef struct watched {
    const mrd_sim_options *options;
} watched;

static bool on_run(void *ctx, uint64_t events, double done)
{
    (void)events;
    const watched *w = ctx;
    return w->options->progress(w->options->progress_ctx, done, 1);
}

static mrd__run_request request_of(const mrd_sim_options *options, const char *spec, size_t size)
{
    mrd__run_request request = {.spec = spec, .spec_size = size};
    if (!options) return request;
    request.results = options->results ? options->results->store : NULL;
    request.experiment = options->experiment;
    request.trace_path = options->trace_path;
    request.trace = options->trace;
    request.trace_limit = options->trace_limit;
    return request;
}

mrd_status mrd_sim_run(const char *spec, size_t size, const mrd_sim_options *options,
                       mrd_format format, const mrd_sink *sink, bool *untraced, mrd_error *error)
{
    mrd__buf out = {0};
    watched w = {options};
    mrd__run_request request = request_of(options, spec, size);
    if (options && options->progress) {
        request.progress = on_run;
        request.progress_ctx = &w;
    }
    mrd_status status = mrd__results_run(&request, format, &out, untraced, error);
    if (status == MRD_OK) status = mrd__buf_flush(&out, sink, error);
    mrd__buf_reset(&out);
    return status;
}

mrd_status mrd_sim_sweep_size(const char *spec, size_t size, uint64_t *runs, mrd_error *error)
{
    mrd__sim_sweep sweep;
    MRD__TRY(mrd__sim_sweep_expand(&sweep, spec, size, error));
    *runs = sweep.specs.count;
    mrd__sim_sweep_reset(&sweep);
    return MRD_OK;
}

/* ---- Sweeps ---- */

/* Runs end in any order; what they say leaves in theirs. */
typedef struct sweeping {
    const mrd_sim_options *options;
    mrd__sim_sweep sweep;
    MRD__VEC(size_t) runs; /* numbers of the specs to run */
    mrd_format format;
    const mrd_sink *sink;
    pthread_mutex_t mutex;
    mrd__buf *outs; /* by run; empty until it ended */
    bool *ended;
    size_t done, told;
    bool untraced, stop;
    mrd_status status;
    mrd_error error;
} sweeping;

static bool sweep_goes_on(void *ctx, uint64_t events, double done)
{
    (void)events;
    (void)done;
    sweeping *s = ctx;
    pthread_mutex_lock(&s->mutex);
    bool go_on = !s->stop;
    pthread_mutex_unlock(&s->mutex);
    return go_on;
}

/* With the mutex held: what may leave, leaves. */
static void tell(sweeping *s, mrd_error *error)
{
    while (s->told < s->runs.count && s->ended[s->told] && s->status == MRD_OK) {
        s->status = mrd__buf_flush(&s->outs[s->told], s->sink, error);
        mrd__buf_reset(&s->outs[s->told++]);
    }
}

static void run_one(void *ctx, size_t index, uint32_t worker)
{
    (void)worker;
    sweeping *s = ctx;
    const char *spec = s->sweep.specs.data[s->runs.data[index]];
    mrd__run_request request = request_of(s->options, spec, strlen(spec));
    char key[MRD__RUN_KEY];
    mrd_error error = {0};
    bool untraced = false;
    if (!sweep_goes_on(s, 0, 0)) return;
    if (s->options && s->options->resume && request.results) {
        mrd__run_key(request.experiment, s->runs.data[index], spec, key);
        request.key = key;
    }
    request.progress = sweep_goes_on;
    request.progress_ctx = s;
    mrd_status status = mrd__results_run(&request, s->format, &s->outs[index], &untraced, &error);
    pthread_mutex_lock(&s->mutex);
    s->untraced |= untraced;
    if (status == MRD_OK) {
        s->done++;
        s->ended[index] = true;
        tell(s, &error);
        status = s->status;
    }
    const mrd_sim_options *o = s->options;
    if (status == MRD_OK && o && o->progress &&
        !o->progress(o->progress_ctx, (double)s->done, (double)s->runs.count))
        status = mrd__fail(&error, MRD_ERR_CANCELLED, "cancelled",
                           "cancelled after %zu of %zu runs", s->done, s->runs.count);
    /* The first failure counts; runs that it stopped are no failures. */
    if (status != MRD_OK && !s->stop) {
        s->stop = true;
        s->status = status;
        s->error = error;
    }
    pthread_mutex_unlock(&s->mutex);
}

static void run_all(sweeping *s, uint32_t jobs)
{
    s->outs = mrd__new_array(mrd__buf, s->runs.count);
    s->ended = mrd__new_array(bool, s->runs.count);
    pthread_mutex_init(&s->mutex, NULL);
    mrd__parallel_for(jobs, s->runs.count, run_one, s);
    pthread_mutex_destroy(&s->mutex);
    for (size_t i = 0; i < s->runs.count; i++)
        mrd__buf_reset(&s->outs[i]);
    mrd__free(s->outs);
    mrd__free(s->ended);
}

mrd_status mrd_sim_sweep(const char *spec, size_t size, const mrd_sim_options *options,
                         mrd_format format, const mrd_sink *sink, bool *untraced, mrd_error *error)
{
    sweeping s = {.options = options, .format = format, .sink = sink};
    uint32_t jobs = options && options->jobs ? options->jobs : mrd__cores();
    uint32_t parts = options && options->parts ? options->parts : 1;
    MRD__TRY(mrd__sim_sweep_expand(&s.sweep, spec, size, error));
    for (size_t i = 0; i < s.sweep.specs.count; i++)
        if (i % parts == (options ? options->part : 0)) mrd__vec_push(&s.runs, i);
    run_all(&s, jobs);
    if (untraced) *untraced = s.untraced;
    if (s.status != MRD_OK && error) *error = s.error;
    mrd__vec_reset(&s.runs);
    mrd__sim_sweep_reset(&s.sweep);
    return s.status;
}
