#include "server/recordings.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/os.h"
#include "server/context.h"
#include "server/limits.h"
#include "server/sessions.h"

typedef enum recording_state {
    STARTING, /* nothing is on disk yet */
    RUNNING,
    OVER, /* sealed or failed; its thread ends */
} recording_state;

typedef struct recording {
    mrd__recordings *of;
    char name[37], *dir;
    int stop[2]; /* a pipe: readable is asked to stop */
    pthread_t thread;
    mrd_record_options options;
    mrd_record_result result;
    recording_state state; /* this and what follows: under the lock */
    unsigned waiting;      /* requests that still look at it */
    mrd_status status;
    mrd_error error;
} recording;

typedef struct failure {
    char name[37];
    mrd_error error;
} failure;

struct mrd__recordings {
    const char *data_dir;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool stopping;
    recording *slots[MRD__SERVER_RECORDINGS];
    failure failed[MRD__SERVER_FAILED]; /* the newest, as a ring */
    size_t failed_count;
};

/* ---- Their threads ---- */

static void on_begun(void *ctx)
{
    recording *one = ctx;
    pthread_mutex_lock(&one->of->lock);
    one->state = RUNNING;
    pthread_cond_broadcast(&one->of->changed);
    pthread_mutex_unlock(&one->of->lock);
}

static void keep_failure(const recording *one)
{
    failure *kept = &one->of->failed[one->of->failed_count++ % MRD__SERVER_FAILED];
    memcpy(kept->name, one->name, sizeof kept->name);
    kept->error = one->error;
}

static void *record(void *ctx)
{
    recording *one = ctx;
    mrd_error error = {.offset = -1};
    mrd_status status = mrd_session_record(&one->options, &one->result, &error);
    pthread_mutex_lock(&one->of->lock);
    one->status = status;
    one->error = error;
    if (status != MRD_OK && one->state == RUNNING) keep_failure(one);
    one->state = OVER;
    pthread_cond_broadcast(&one->of->changed);
    pthread_mutex_unlock(&one->of->lock);
    return NULL;
}

static void ask_to_stop(recording *one)
{
    ssize_t wrote = write(one->stop[1], "", 1);
    mrd__assert(wrote == 1 || errno == EAGAIN); /* full: it was told before */
}

static void free_recording(recording *one)
{
    close(one->stop[0]);
    close(one->stop[1]);
    mrd__free(one->dir);
    mrd__free(one);
}

/* Slots of those that are over and that nobody looks at become free. Holds the lock. */
static void reap(mrd__recordings *all)
{
    for (size_t i = 0; i < MRD__SERVER_RECORDINGS; i++) {
        recording *one = all->slots[i];
        if (one == NULL || one->state != OVER || one->waiting > 0) continue;
        pthread_join(one->thread, NULL); /* it has nothing left to do but let go of the lock */
        free_recording(one);
        all->slots[i] = NULL;
    }
}

/* ---- All of them ---- */

mrd__recordings *mrd__recordings_create(const char *data_dir)
{
    mrd__recordings *all = mrd__new(mrd__recordings);
    pthread_condattr_t attributes;
    all->data_dir = data_dir;
    pthread_mutex_init(&all->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&all->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    return all;
}

static bool all_over(const mrd__recordings *all)
{
    for (size_t i = 0; i < MRD__SERVER_RECORDINGS; i++)
        if (all->slots[i] != NULL && all->slots[i]->state != OVER) return false;
    return true;
}

void mrd__recordings_stop(mrd__recordings *all)
{
    if (all == NULL) return;
    pthread_mutex_lock(&all->lock);
    all->stopping = true;
    for (size_t i = 0; i < MRD__SERVER_RECORDINGS; i++)
        if (all->slots[i] != NULL) ask_to_stop(all->slots[i]);
    while (!all_over(all))
        pthread_cond_wait(&all->changed, &all->lock);
    pthread_mutex_unlock(&all->lock);
}

void mrd__recordings_destroy(mrd__recordings **handle)
{
    mrd__recordings *all = *handle;
    if (all == NULL) return;
    mrd__recordings_stop(all);
    reap(all);
    for (size_t i = 0; i < MRD__SERVER_RECORDINGS; i++)
        mrd__assert(all->slots[i] == NULL);
    pthread_cond_destroy(&all->changed);
    pthread_mutex_destroy(&all->lock);
    mrd__free(all);
    *handle = NULL;
}

static void tell_failed(const mrd__recordings *all, mrd__buf *out)
{
    char text[1600];
    size_t kept = all->failed_count < MRD__SERVER_FAILED ? all->failed_count : MRD__SERVER_FAILED;
    for (size_t i = 0; i < kept; i++) {
        const failure *one = &all->failed[(all->failed_count - 1 - i) % MRD__SERVER_FAILED];
        mrd__buf_printf(out, "%s{\"name\":\"%s\",\"code\":", i > 0 ? "," : "", one->name);
        mrd__buf_json_string(out, mrd__str_of(one->error.code));
        mrd__buf_text(out, ",\"message\":");
        mrd__buf_json_string(out, mrd__str_of(mrd_error_text(&one->error, text, sizeof text)));
        mrd__buf_char(out, '}');
    }
}

void mrd__recordings_tell(mrd__recordings *all, mrd__buf *list)
{
    if (all == NULL) return;
    mrd__assert(list->size > 0 && list->data[list->size - 1] == '}');
    list->size--;
    mrd__buf_text(list, ",\"recordings\":[");
    pthread_mutex_lock(&all->lock);
    reap(all);
    size_t told = 0;
    for (size_t i = 0; i < MRD__SERVER_RECORDINGS; i++) {
        const recording *one = all->slots[i];
        if (one == NULL || one->state != RUNNING) continue;
        mrd__buf_printf(list, "%s\"%s\"", told++ > 0 ? "," : "", one->name);
    }
    mrd__buf_text(list, "],\"failed\":[");
    tell_failed(all, list);
    pthread_mutex_unlock(&all->lock);
    mrd__buf_text(list, "]}");
}

/* ---- What is asked ---- */

static mrd_status bad_body(mrd_error *error, const char *what)
{
    return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter",
                     "%s, allowed is {\"pid\": N, \"host\": true or false, \"every_ms\": N, "
                     "\"publish_ms\": N, \"duration_ms\": N}",
                     what);
}

static mrd_status take_number(const char *key, const json_t *value, mrd_record_options *out,
                              mrd_error *error)
{
    const struct {
        const char *key;
        int64_t low, high;
        uint64_t *ns;
    } spans[] = {
        {"every_ms", MRD__SERVER_EVERY_MS_MIN, MRD__SERVER_EVERY_MS_MAX, &out->every_ns},
        {"publish_ms", MRD__SERVER_PUBLISH_MS_MIN, MRD__SERVER_PUBLISH_MS_MAX, &out->publish_ns},
        {"duration_ms", MRD__SERVER_DURATION_MS_MIN, MRD__SERVER_DURATION_MS_MAX,
         &out->duration_ns},
        {"pid", 1, INT32_MAX, NULL},
    };
    for (size_t i = 0; i < sizeof spans / sizeof spans[0]; i++) {
        if (strcmp(key, spans[i].key) != 0) continue;
        int64_t number = json_is_integer(value) ? json_integer_value(value) : INT64_MIN;
        if (number < spans[i].low || number > spans[i].high)
            return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter",
                             "%s is no whole number from %lld to %lld, which are allowed", key,
                             (long long)spans[i].low, (long long)spans[i].high);
        if (spans[i].ns != NULL)
            *spans[i].ns = (uint64_t)number * 1000000;
        else
            out->pid = number;
        return MRD_OK;
    }
    char what[160];
    snprintf(what, sizeof what, "member %.100s is unknown", key);
    return bad_body(error, what);
}

static mrd_status read_members(const json_t *body, mrd_record_options *out, mrd_error *error)
{
    const char *key;
    json_t *value;
    if (!json_is_object(body)) return bad_body(error, "the body is not a JSON object");
    json_object_foreach((json_t *)(uintptr_t)body, key, value)
    {
        if (strcmp(key, "command") == 0 || strcmp(key, "adapters") == 0)
            return mrd__fail(error, MRD_ERR_ARGUMENT, "forbidden",
                             "programs are started by meridian record alone, never over HTTP");
        if (strcmp(key, "host") != 0) {
            MRD__TRY(take_number(key, value, out, error));
        } else if (json_is_boolean(value)) {
            out->host = json_is_true(value);
        } else {
            return bad_body(error, "host is neither true nor false");
        }
    }
    return out->pid > 0 || out->host ? MRD_OK : bad_body(error, "neither pid nor host is given");
}

static mrd_status read_body(const mrd__request *request, mrd_record_options *out, mrd_error *error)
{
    *out = (mrd_record_options){.every_ns = UINT64_C(1000000) * MRD__SERVER_EVERY_MS,
                                .publish_ns = UINT64_C(1000000) * MRD__SERVER_PUBLISH_MS,
                                .duration_ns = UINT64_C(1000000) * MRD__SERVER_DURATION_MS_MAX};
    json_t *body = request->body.size > 0 ? json_loadb(request->body.data, request->body.size,
                                                       JSON_REJECT_DUPLICATES, NULL)
                                          : NULL;
    mrd_status status = read_members(body, out, error);
    json_decref(body);
    return status;
}

/* ---- Start ---- */

static mrd_status start_thread(mrd__recordings *all, recording *one, mrd_error *error)
{
    mrd__buf dir = {0};
    mrd__buf_printf(&dir, "%s/sessions", all->data_dir);
    mrd_status status = mrd__make_folders(dir.data, error);
    mrd__uuid_random(one->name);
    mrd__buf_printf(&dir, "/%s", one->name);
    one->dir = dir.data;
    MRD__TRY(status);
    if (pipe2(one->stop, O_CLOEXEC | O_NONBLOCK) != 0)
        return mrd__fail_errno(error, NULL, "cannot make a pipe");
    one->options.dir = one->dir;
    one->options.stop_fd = one->stop[0];
    one->options.begun = on_begun;
    one->options.begun_ctx = one;
    errno = pthread_create(&one->thread, NULL, record, one);
    return errno == 0 ? MRD_OK : mrd__fail_errno(error, NULL, "cannot start a thread");
}

/* Holds the lock. */
static mrd_status start(mrd__recordings *all, const mrd_record_options *options, recording **out,
                        mrd_error *error)
{
    size_t at = 0;
    reap(all);
    while (at < MRD__SERVER_RECORDINGS && all->slots[at] != NULL)
        at++;
    if (all->stopping) return mrd__fail(error, MRD_ERR_STATE, "busy", "this server stops");
    if (at == MRD__SERVER_RECORDINGS)
        return mrd__fail(error, MRD_ERR_LIMIT, "busy", "%d recordings are running, the limit",
                         MRD__SERVER_RECORDINGS);
    recording *one = mrd__new(recording);
    *one = (recording){.of = all, .stop = {-1, -1}, .options = *options};
    mrd_status status = start_thread(all, one, error);
    if (status != MRD_OK) {
        free_recording(one);
        return status;
    }
    *out = all->slots[at] = one;
    return MRD_OK;
}

/* Starts, and waits until it records or has failed. */
static mrd_status begin(mrd__recordings *all, const mrd_record_options *options, mrd__buf *out,
                        mrd_error *error)
{
    recording *one = NULL;
    pthread_mutex_lock(&all->lock);
    mrd_status status = start(all, options, &one, error);
    if (status == MRD_OK) {
        one->waiting++;
        while (one->state == STARTING)
            pthread_cond_wait(&all->changed, &all->lock);
        one->waiting--;
        if (one->state == OVER && one->status != MRD_OK) {
            status = one->status;
            *error = one->error;
        } else {
            mrd__buf_printf(out, "{\"name\":\"%s\"}", one->name);
        }
    }
    pthread_mutex_unlock(&all->lock);
    return status;
}

static mrd__recordings *recordings_of(const mrd__request *request, mrd__reply *reply)
{
    mrd__recordings *all = mrd__server_context_of(request->server)->recordings;
    if (all == NULL)
        mrd__reply_fail(reply, 404, "no_store", "this server has no data folder (--data DIR)");
    return all;
}

void mrd__post_session(mrd__request *request, mrd__reply *reply)
{
    mrd_record_options options;
    mrd_error error = {.offset = -1};
    if (!request->loopback) {
        mrd__reply_fail(reply, 403, "forbidden",
                        "recordings are started from this machine alone, over loopback");
        return;
    }
    mrd_status status = read_body(request, &options, &error);
    if (status == MRD_OK) {
        mrd__recordings *all = recordings_of(request, reply);
        if (all == NULL) return;
        reply->status = 201;
        status = begin(all, &options, &reply->body, &error);
    }
    if (status != MRD_OK) mrd__reply_error(reply, &error);
}

/* ---- Stop ---- */

static recording *find(mrd__recordings *all, mrd__str name)
{
    for (size_t i = 0; i < MRD__SERVER_RECORDINGS; i++)
        if (all->slots[i] != NULL && mrd__str_is(name, all->slots[i]->name)) return all->slots[i];
    return NULL;
}

/* Holds the lock. False: it still seals. */
static bool wait_until_over(recording *one)
{
    struct timespec until;
    uint64_t ns = mrd__monotonic_ns() + UINT64_C(1000000) * MRD__SERVER_SEALING_MS;
    until.tv_sec = (time_t)(ns / 1000000000);
    until.tv_nsec = (long)(ns % 1000000000);
    int rc = 0;
    one->waiting++;
    while (one->state != OVER && rc == 0)
        rc = pthread_cond_timedwait(&one->of->changed, &one->of->lock, &until);
    one->waiting--;
    return one->state == OVER;
}

static void tell_result(const recording *one, mrd__buf *out)
{
    const mrd_record_result *result = &one->result;
    mrd__buf_printf(out, "{\"name\":\"%s\",\"state\":\"%s\",\"events\":%llu,\"samples\":%llu",
                    one->name, result->completed ? "completed" : "incomplete",
                    (unsigned long long)result->events, (unsigned long long)result->samples);
    mrd__buf_printf(out, ",\"decodeErrors\":%llu,\"gaps\":%llu}",
                    (unsigned long long)result->decode_errors, (unsigned long long)result->gaps);
}

/* False: this server does not record it. */
static bool stop(mrd__recordings *all, mrd__str name, mrd__reply *reply)
{
    pthread_mutex_lock(&all->lock);
    reap(all);
    recording *one = find(all, name);
    if (one != NULL) {
        ask_to_stop(one);
        if (!wait_until_over(one)) {
            reply->status = 202;
            mrd__buf_printf(&reply->body, "{\"name\":\"%s\",\"state\":\"recording\"}", one->name);
        } else if (one->status != MRD_OK) {
            mrd__reply_error(reply, &one->error);
        } else {
            tell_result(one, &reply->body);
        }
    }
    pthread_mutex_unlock(&all->lock);
    return one != NULL;
}

/* An unknown name is 404; what is sealed, or recorded by another program, 409. */
static void refuse_stop(const char *path, const char *name, mrd__reply *reply)
{
    mrd__buf text = {0};
    mrd_sink sink = mrd__buf_sink(&text);
    mrd_error error = {.offset = -1};
    if (mrd_session_info(path, &sink, &error) != MRD_OK && strcmp(error.code, "no_session") == 0)
        mrd__reply_error(reply, &error);
    else
        mrd__reply_fail(reply, 409, "not_recording", "%s is not being recorded by this server",
                        name);
    mrd__buf_reset(&text);
}

void mrd__post_session_stop(mrd__request *request, mrd__reply *reply)
{
    mrd__buf path = {0};
    mrd__recordings *all = recordings_of(request, reply);
    if (all != NULL && mrd__session_path(request, reply, &path)) {
        const char *name = strrchr(path.data, '/') + 1;
        if (!stop(all, mrd__str_of(name), reply)) refuse_stop(path.data, name, reply);
    }
    mrd__buf_reset(&path);
}
