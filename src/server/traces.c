/* The traces a server holds.
 *
 * One mutex guards the list. A slot lives while someone holds it: the list itself, its opening
 * thread, each request between acquire and release. A trace is closed by whoever lets go last, so
 * DELETE never waits for a running answer and never pulls a store away from it. */
#include "server/traces.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/os.h"
#include "server/limits.h"

typedef enum slot_state {
    SLOT_OPENING,
    SLOT_READY,
    SLOT_FAILED
} slot_state;

typedef struct slot_file {
    char *path;
    uint64_t bytes, done;
} slot_file;

struct mrd__trace_slot {
    int64_t id; /* 0: the trace of a result, found by path */
    slot_state state;
    unsigned holders; /* list, opener, requests */
    bool cancel;
    uint64_t version; /* of the last visible change */
    uint64_t used;    /* tick of the last use, for the least recently used */
    slot_file *files;
    size_t file_count;
    mrd_open_options how; /* its texts are owned */
    int64_t mtime_ns;
    uint64_t size, inode;
    mrd_trace *trace;
    mrd_error error;
    mrd__traces *owner;
    pthread_t thread;
    struct mrd__trace_slot *next;
};

struct mrd__traces {
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* any slot's version, or stopping */
    pthread_cond_t idle;    /* openers went down */
    mrd__trace_slot *slots; /* newest first */
    int64_t last_id;
    uint64_t version, tick;
    unsigned openers;
    uint32_t threads;
    bool cache, verify_cache;
    bool stopping;
    char **folders;
    size_t folder_count;
};

mrd__traces *mrd__traces_create(uint32_t threads, bool cache, bool verify_cache)
{
    mrd__traces *traces = mrd__new(mrd__traces);
    pthread_condattr_t monotonic;
    pthread_mutex_init(&traces->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&traces->changed, &monotonic);
    pthread_cond_init(&traces->idle, NULL);
    pthread_condattr_destroy(&monotonic);
    traces->threads = threads;
    traces->cache = cache;
    traces->verify_cache = verify_cache;
    return traces;
}

static void slot_free(mrd__trace_slot *slot)
{
    mrd_trace_close(&slot->trace);
    for (size_t i = 0; i < slot->file_count; i++)
        mrd__free(slot->files[i].path);
    mrd__free(slot->files);
    mrd__free((char *)(uintptr_t)slot->how.manifest);
    mrd__free((char *)(uintptr_t)slot->how.manifest_text);
    mrd__free(slot);
}

/* Let go of a slot with the mutex held; returns it when it must be freed outside the mutex. */
static mrd__trace_slot *drop(mrd__trace_slot *slot)
{
    mrd__assert(slot->holders > 0);
    return --slot->holders == 0 ? slot : NULL;
}

static void unlink_slot(mrd__traces *traces, mrd__trace_slot *slot)
{
    mrd__trace_slot **at = &traces->slots;
    while (*at != slot)
        at = &(*at)->next;
    *at = slot->next;
}

void mrd__traces_stop(mrd__traces *traces)
{
    pthread_mutex_lock(&traces->mutex);
    traces->stopping = true;
    for (mrd__trace_slot *slot = traces->slots; slot; slot = slot->next)
        slot->cancel = true;
    pthread_cond_broadcast(&traces->changed);
    pthread_mutex_unlock(&traces->mutex);
}

void mrd__traces_destroy(mrd__traces **handle)
{
    mrd__traces *traces = *handle;
    if (!traces) return;
    mrd__traces_stop(traces);
    pthread_mutex_lock(&traces->mutex);
    while (traces->openers > 0)
        pthread_cond_wait(&traces->idle, &traces->mutex);
    pthread_mutex_unlock(&traces->mutex);
    while (traces->slots) {
        mrd__trace_slot *slot = traces->slots;
        traces->slots = slot->next;
        mrd__assert(slot->holders == 1);
        slot_free(slot);
    }
    for (size_t i = 0; i < traces->folder_count; i++)
        mrd__free(traces->folders[i]);
    mrd__free(traces->folders);
    pthread_cond_destroy(&traces->changed);
    pthread_cond_destroy(&traces->idle);
    pthread_mutex_destroy(&traces->mutex);
    mrd__free(traces);
    *handle = NULL;
}

void mrd__traces_allow(mrd__traces *traces, const char *folder)
{
    char resolved[PATH_MAX];
    if (!realpath(folder, resolved)) return; /* a folder that does not exist holds no file */
    traces->folders =
        mrd__realloc(traces->folders, (traces->folder_count + 1) * sizeof *traces->folders);
    traces->folders[traces->folder_count++] = mrd__strndup(resolved, strlen(resolved));
}

static bool allowed(const mrd__traces *traces, const char *resolved)
{
    for (size_t i = 0; i < traces->folder_count; i++) {
        size_t size = strlen(traces->folders[i]);
        if (strncmp(resolved, traces->folders[i], size) == 0 &&
            (resolved[size] == '/' || traces->folders[i][size - 1] == '/'))
            return true;
    }
    return false;
}

/* Mark a visible change, with the mutex held. */
static void touch(mrd__traces *traces, mrd__trace_slot *slot)
{
    slot->version = ++traces->version;
    pthread_cond_broadcast(&traces->changed);
}

static bool on_progress(void *ctx, const char *path, uint64_t done, uint64_t total)
{
    mrd__trace_slot *slot = ctx;
    mrd__traces *traces = slot->owner;
    pthread_mutex_lock(&traces->mutex);
    for (size_t i = 0; i < slot->file_count; i++) {
        if (strcmp(slot->files[i].path, path) == 0) {
            slot->files[i].done = done;
            slot->files[i].bytes = total;
        }
    }
    touch(traces, slot);
    bool go_on = !slot->cancel;
    pthread_mutex_unlock(&traces->mutex);
    return go_on;
}

static mrd_status open_files(mrd__trace_slot *slot, mrd_trace **out, mrd_error *error)
{
    const char **paths = mrd__new_array(const char *, slot->file_count);
    for (size_t i = 0; i < slot->file_count; i++)
        paths[i] = slot->files[i].path;
    mrd_open_options options = slot->how;
    options.threads = slot->owner->threads;
    options.progress = on_progress;
    options.progress_ctx = slot;
    options.cache = slot->owner->cache;
    options.verify_cache = slot->owner->verify_cache;
    mrd_status status = mrd_trace_open(paths, slot->file_count, &options, out, error);
    mrd__free(paths);
    return status;
}

/* Publish the outcome of an opening, with the mutex held. */
static void settle(mrd__trace_slot *slot, mrd_status status, mrd_trace *trace,
                   const mrd_error *error)
{
    slot->trace = trace;
    slot->state = status == MRD_OK ? SLOT_READY : SLOT_FAILED;
    if (status != MRD_OK) slot->error = *error;
    for (size_t i = 0; status == MRD_OK && i < slot->file_count; i++)
        slot->files[i].done = slot->files[i].bytes;
    touch(slot->owner, slot);
}

/* Keep what took long to read. Nobody waits for it, and without it nothing is lost but the time of
 * the next opening: a full disk is not worth a word. */
static void keep(const mrd__trace_slot *slot, const mrd_trace *trace)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < slot->file_count; i++)
        bytes += slot->files[i].bytes;
    mrd_error error;
    if (slot->owner->cache && bytes >= MRD__SERVER_CACHE_FROM)
        (void)!mrd_trace_cache(trace, &error);
}

static void *opener(void *ctx)
{
    mrd__trace_slot *slot = ctx;
    mrd__traces *traces = slot->owner;
    mrd_trace *trace = NULL;
    mrd_error error = {0};
    mrd_status status = open_files(slot, &trace, &error);
    pthread_mutex_lock(&traces->mutex);
    settle(slot, status, trace, &error);
    pthread_mutex_unlock(&traces->mutex);
    if (status == MRD_OK) {
        keep(slot, trace);
        mrd_warm_memory();
    }
    pthread_mutex_lock(&traces->mutex);
    mrd__trace_slot *dead = drop(slot);
    pthread_mutex_unlock(&traces->mutex);
    if (dead) slot_free(dead);
    pthread_mutex_lock(&traces->mutex);
    if (--traces->openers == 0) pthread_cond_broadcast(&traces->idle);
    pthread_mutex_unlock(&traces->mutex);
    return NULL;
}

static void slot_set_file(slot_file *file, const char *path)
{
    struct stat info;
    file->path = mrd__strndup(path, strlen(path));
    file->bytes = stat(path, &info) == 0 ? (uint64_t)info.st_size : 0;
}

static size_t count_listed(const mrd__traces *traces)
{
    size_t count = 0;
    for (const mrd__trace_slot *slot = traces->slots; slot; slot = slot->next)
        count += slot->id != 0;
    return count;
}

static mrd_status check_paths(mrd__traces *traces, const char *const *paths, size_t count,
                              bool trusted, mrd_error *error)
{
    if (count == 0 || count > MRD__SERVER_PATHS)
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_paths", "%zu paths, allowed are 1 to %d",
                         count, MRD__SERVER_PATHS);
    for (size_t i = 0; i < count && !trusted; i++) {
        char resolved[PATH_MAX];
        if (!realpath(paths[i], resolved) || !allowed(traces, resolved))
            return mrd__fail(error, MRD_ERR_ARGUMENT, "forbidden",
                             "%s is not a file under the folders this server was given", paths[i]);
    }
    return MRD_OK;
}

static const char *copy_of(const char *text)
{
    return text != NULL ? mrd__strndup(text, strlen(text)) : NULL;
}

mrd_status mrd__traces_open(mrd__traces *traces, const char *const *paths, size_t count,
                            const mrd_open_options *how, bool trusted, int64_t *id,
                            mrd_error *error)
{
    MRD__TRY(check_paths(traces, paths, count, trusted, error));
    if (how != NULL && how->manifest != NULL)
        MRD__TRY(check_paths(traces, &how->manifest, 1, trusted, error));
    mrd__trace_slot *slot = mrd__new(mrd__trace_slot);
    slot->owner = traces;
    slot->holders = 2; /* the list and the opener */
    slot->file_count = count;
    slot->files = mrd__new_array(slot_file, count);
    for (size_t i = 0; i < count; i++)
        slot_set_file(&slot->files[i], paths[i]);
    if (how != NULL) {
        slot->how = (mrd_open_options){.align = how->align, .clock_linear = how->clock_linear};
        slot->how.manifest = copy_of(how->manifest);
        slot->how.manifest_text = copy_of(how->manifest_text);
    }
    pthread_mutex_lock(&traces->mutex);
    bool full = traces->stopping || count_listed(traces) >= MRD__SERVER_TRACES;
    if (!full) {
        *id = slot->id = ++traces->last_id;
        slot->next = traces->slots;
        traces->slots = slot;
        traces->openers++;
        touch(traces, slot);
    }
    pthread_mutex_unlock(&traces->mutex);
    if (full) {
        slot_free(slot);
        return mrd__fail(error, MRD_ERR_LIMIT, "too_many_traces",
                         "%d traces are open, the limit; close one first", MRD__SERVER_TRACES);
    }
    int failed = pthread_create(&slot->thread, NULL, opener, slot);
    if (failed == 0)
        pthread_detach(slot->thread);
    else
        opener(slot); /* no thread to be had: open here, late but right */
    return MRD_OK;
}

static mrd__trace_slot *find(mrd__traces *traces, int64_t id)
{
    mrd__trace_slot *slot = traces->slots;
    while (slot && (slot->id != id || slot->id == 0))
        slot = slot->next;
    return slot;
}

static mrd_status no_such_trace(int64_t id, mrd_error *error)
{
    return mrd__fail(error, MRD_ERR_NOT_FOUND, "no_such_trace", "no open trace %lld",
                     (long long)id);
}

mrd_status mrd__traces_close(mrd__traces *traces, int64_t id, mrd_error *error)
{
    pthread_mutex_lock(&traces->mutex);
    mrd__trace_slot *slot = find(traces, id), *dead = NULL;
    bool found = slot != NULL;
    if (found) {
        slot->cancel = true;
        unlink_slot(traces, slot);
        dead = drop(slot);
        traces->version++;
        pthread_cond_broadcast(&traces->changed);
    }
    pthread_mutex_unlock(&traces->mutex);
    if (dead) slot_free(dead);
    return found ? MRD_OK : no_such_trace(id, error);
}

mrd_status mrd__traces_acquire(mrd__traces *traces, int64_t id, mrd__trace_slot **out,
                               mrd_error *error)
{
    mrd_status status = MRD_OK;
    pthread_mutex_lock(&traces->mutex);
    mrd__trace_slot *slot = find(traces, id);
    if (!slot) {
        status = no_such_trace(id, error);
    } else if (slot->state == SLOT_OPENING) {
        status = mrd__fail(error, MRD_ERR_STATE, "not_ready", "trace %lld is still opening",
                           (long long)id);
    } else if (slot->state == SLOT_FAILED) {
        char text[1600];
        mrd_error_text(&slot->error, text, sizeof text);
        status = mrd__fail(error, MRD_ERR_FORMAT, "bad_trace", "trace %lld did not open: %s",
                           (long long)id, text);
    } else {
        slot->holders++;
        *out = slot;
    }
    pthread_mutex_unlock(&traces->mutex);
    return status;
}

/* The kept slot of a result's trace, if its file is still the same; with the mutex held. */
static mrd__trace_slot *find_path(mrd__traces *traces, const char *path, const struct stat *info)
{
    int64_t mtime_ns = (int64_t)info->st_mtim.tv_sec * 1000000000 + info->st_mtim.tv_nsec;
    for (mrd__trace_slot *slot = traces->slots; slot; slot = slot->next) {
        if (slot->id == 0 && !slot->cancel && strcmp(slot->files[0].path, path) == 0 &&
            slot->mtime_ns == mtime_ns && slot->size == (uint64_t)info->st_size &&
            slot->inode == (uint64_t)info->st_ino)
            return slot;
    }
    return NULL;
}

/* Take the least recently used result trace out of the list when there are too many. */
static mrd__trace_slot *evict(mrd__traces *traces)
{
    mrd__trace_slot *oldest = NULL;
    size_t count = 0;
    for (mrd__trace_slot *slot = traces->slots; slot; slot = slot->next) {
        if (slot->id != 0 || slot->state == SLOT_OPENING) continue;
        count++;
        if (!oldest || slot->used < oldest->used) oldest = slot;
    }
    if (count <= MRD__SERVER_RESULT_TRACES) return NULL;
    unlink_slot(traces, oldest);
    return drop(oldest);
}

static mrd_status open_result(mrd__traces *traces, mrd__trace_slot *slot, mrd_error *error)
{
    mrd_trace *trace = NULL;
    mrd_error reason = {0};
    mrd_status status = open_files(slot, &trace, &reason);
    pthread_mutex_lock(&traces->mutex);
    settle(slot, status, trace, &reason);
    mrd__trace_slot *dead = NULL;
    if (status != MRD_OK) { /* keep no failures: the next question tries again */
        unlink_slot(traces, slot);
        (void)drop(slot);
        dead = drop(slot);
    } else {
        dead = evict(traces);
    }
    pthread_mutex_unlock(&traces->mutex);
    if (dead) slot_free(dead);
    if (status == MRD_OK) return MRD_OK;
    if (error) {
        *error = reason;
        if (status == MRD_ERR_FORMAT) snprintf(error->code, sizeof error->code, "bad_trace");
    }
    return status;
}

static mrd__trace_slot *add_result(mrd__traces *traces, const char *path, const struct stat *info)
{
    mrd__trace_slot *slot = mrd__new(mrd__trace_slot);
    slot->owner = traces;
    slot->holders = 2; /* the list and this request */
    slot->file_count = 1;
    slot->files = mrd__new_array(slot_file, 1);
    slot_set_file(&slot->files[0], path);
    slot->mtime_ns = (int64_t)info->st_mtim.tv_sec * 1000000000 + info->st_mtim.tv_nsec;
    slot->size = (uint64_t)info->st_size;
    slot->inode = (uint64_t)info->st_ino;
    slot->used = ++traces->tick;
    slot->next = traces->slots;
    traces->slots = slot;
    return slot;
}

mrd_status mrd__traces_acquire_path(mrd__traces *traces, const char *path, mrd__trace_slot **out,
                                    mrd_error *error)
{
    struct stat info;
    if (stat(path, &info) != 0) return mrd__fail_errno(error, path, "cannot open");
    pthread_mutex_lock(&traces->mutex);
    mrd__trace_slot *slot = find_path(traces, path, &info);
    while (slot && slot->state == SLOT_OPENING) { /* another request opens it right now */
        pthread_cond_wait(&traces->changed, &traces->mutex);
        slot = find_path(traces, path, &info);
    }
    bool ready = slot != NULL;
    if (ready) {
        slot->holders++;
        slot->used = ++traces->tick;
    } else {
        slot = add_result(traces, path, &info);
    }
    pthread_mutex_unlock(&traces->mutex);
    *out = slot;
    return ready ? MRD_OK : open_result(traces, slot, error);
}

const mrd_trace *mrd__trace_slot_trace(const mrd__trace_slot *slot)
{
    return slot->trace;
}

void mrd__traces_release(mrd__traces *traces, mrd__trace_slot *slot)
{
    pthread_mutex_lock(&traces->mutex);
    mrd__trace_slot *dead = drop(slot);
    pthread_mutex_unlock(&traces->mutex);
    if (dead) slot_free(dead);
}

/* trace_id, state, error; the object stays open. With the mutex held. */
static void describe_head(const mrd__trace_slot *slot, mrd__buf *out)
{
    static const char *const states[] = {"opening", "ready", "failed"};
    mrd__buf_printf(out, "{\"trace_id\":%lld,\"state\":\"%s\"", (long long)slot->id,
                    states[slot->state]);
    if (slot->state == SLOT_FAILED) {
        char text[1600];
        mrd__buf_text(out, ",\"error\":{\"code\":");
        mrd__buf_json_string(out, mrd__str_of(slot->error.code));
        mrd__buf_text(out, ",\"message\":");
        mrd__buf_json_string(out, mrd__str_of(mrd_error_text(&slot->error, text, sizeof text)));
        mrd__buf_char(out, '}');
    }
}

/* files with their progress, as another member. With the mutex held. */
static void describe_files(const mrd__trace_slot *slot, mrd__buf *out)
{
    mrd__buf_text(out, ",\"files\":[");
    for (size_t i = 0; i < slot->file_count; i++) {
        const slot_file *file = &slot->files[i];
        double share = file->bytes ? (double)file->done / (double)file->bytes : 0;
        if (slot->state == SLOT_READY) share = 1;
        mrd__buf_text(out, i ? ",{\"path\":" : "{\"path\":");
        mrd__buf_json_string(out, mrd__str_of(file->path));
        mrd__buf_text(out, ",\"bytes\":");
        mrd__buf_uint(out, file->bytes);
        mrd__buf_text(out, ",\"progress\":");
        mrd__buf_double(out, share > 1 ? 1 : share);
        mrd__buf_char(out, '}');
    }
    mrd__buf_char(out, ']');
}

mrd_status mrd__traces_describe(mrd__traces *traces, int64_t id, mrd__buf *out, mrd_error *error)
{
    pthread_mutex_lock(&traces->mutex);
    mrd__trace_slot *slot = find(traces, id);
    bool ready = slot && slot->state == SLOT_READY;
    if (slot) {
        describe_head(slot, out);
        if (!ready) describe_files(slot, out); /* the summary tells more of them */
        slot->holders++;                       /* the summary is made outside the mutex */
    }
    pthread_mutex_unlock(&traces->mutex);
    if (!slot) return no_such_trace(id, error);
    mrd_status status = MRD_OK;
    if (ready) {
        mrd__buf summary = {0};
        mrd_sink sink = mrd__buf_sink(&summary);
        status = mrd_trace_summary(slot->trace, &sink, error);
        mrd__buf_printf(out, ",\"event_trace\":%s",
                        mrd_trace_is_event_trace(slot->trace) ? "true" : "false");
        if (status == MRD_OK && summary.size > 2) { /* its members, without the outer braces */
            while (summary.size && summary.data[summary.size - 1] != '}')
                summary.size--;
            mrd__buf_char(out, ',');
            mrd__buf_add(out, summary.data + 1, summary.size - 2);
        }
        mrd__buf_reset(&summary);
    }
    mrd__buf_char(out, '}');
    mrd__traces_release(traces, slot);
    return status;
}

void mrd__traces_list(mrd__traces *traces, mrd__buf *out)
{
    const mrd__trace_slot *listed[MRD__SERVER_TRACES];
    size_t count = 0;
    pthread_mutex_lock(&traces->mutex);
    for (const mrd__trace_slot *slot = traces->slots; slot; slot = slot->next) {
        if (slot->id != 0 && count < MRD__SERVER_TRACES) listed[count++] = slot;
    }
    mrd__buf_text(out, "{\"traces\":[");
    for (size_t i = count; i-- > 0;) { /* oldest first */
        describe_head(listed[i], out);
        describe_files(listed[i], out);
        mrd__buf_text(out, i ? "}," : "}");
    }
    pthread_mutex_unlock(&traces->mutex);
    mrd__buf_text(out, "]}");
}

bool mrd__traces_events(mrd__traces *traces, uint64_t *version, unsigned timeout_ms, mrd__buf *out)
{
    struct timespec until;
    uint64_t due = mrd__monotonic_ns() + (uint64_t)timeout_ms * 1000000u;
    until.tv_sec = (time_t)(due / 1000000000u);
    until.tv_nsec = (long)(due % 1000000000u);
    pthread_mutex_lock(&traces->mutex);
    int waited = 0;
    while (!traces->stopping && traces->version == *version && waited == 0)
        waited = pthread_cond_timedwait(&traces->changed, &traces->mutex, &until);
    for (const mrd__trace_slot *slot = traces->slots; slot; slot = slot->next) {
        if (slot->id == 0 || slot->version <= *version) continue;
        mrd__buf_text(out, "data: ");
        describe_head(slot, out);
        describe_files(slot, out);
        mrd__buf_text(out, "}\n\n");
    }
    *version = traces->version;
    bool go_on = !traces->stopping;
    pthread_mutex_unlock(&traces->mutex);
    if (go_on && out->size == 0) mrd__buf_text(out, ": still here\n\n");
    return go_on;
}
