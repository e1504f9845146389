/* The recording's life and its writer. The writer sleeps until a commit wakes it (idle), then looks
 * every few milliseconds while records come: a batch a look, not a wake-up a record. */
#include "session/recording.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/os.h"
#include "session/inside.h"
#include "session/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

/* ---- One step ---- */

static bool head_ready(mrd__recording *recording, uint64_t at, uint64_t tail)
{
    if (at == tail) return false;
    return atomic_load(&mrd__ring_at(&recording->ring, at)->state) != MRD__RING_RESERVED;
}

/* A run of cancelled records: its sequences become one gap. Returns where it ends. */
static uint64_t take_cancelled(mrd__recording *recording, uint64_t at, uint64_t tail)
{
    mrd__range range = {0};
    while (at != tail) {
        mrd__ring_slot *slot = mrd__ring_at(&recording->ring, at);
        if (atomic_load(&slot->state) != MRD__RING_CANCELLED) break;
        at += mrd__record_space(slot->size);
        if (!mrd__record_takes_sequence(slot->type)) {
            recording->dropped++;
            continue;
        }
        if (range.from == 0) range.from = slot->sequence;
        range.to = slot->sequence;
    }
    if (range.from == 0) return at;
    mrd__vec_push(&recording->missing, range);
    mrd__log_gap(&recording->log, MRD__GAP_MISSING, range.from, range.to);
    return at;
}

/* Encode what is ready up to tail, as much as goes before the next sync. */
static void take_ready(mrd__recording *recording, uint64_t tail, uint64_t refused)
{
    if (refused > recording->refused_told) {
        mrd__log_gap(&recording->log, MRD__GAP_REFUSED, refused - recording->refused_told, refused);
        recording->refused_told = refused;
    }
    while (head_ready(recording, recording->at, tail) && !mrd__log_wants_step(&recording->log)) {
        mrd__ring_slot *slot = mrd__ring_at(&recording->ring, recording->at);
        if (atomic_load(&slot->state) == MRD__RING_CANCELLED) {
            recording->at = take_cancelled(recording, recording->at, tail);
            continue;
        }
        mrd__log_append(&recording->log, slot->type, 0, slot->sequence, slot + 1, slot->size);
        mrd__log_write_ahead(&recording->log);
        recording->at += mrd__record_space(slot->size);
    }
}

/* What readers may see of the log; returns the newest durable sequence when it moved, else 0. */
static uint64_t publish(mrd__recording *recording, mrd_status status, const mrd_error *error)
{
    const mrd__log *log = &recording->log;
    pthread_mutex_lock(&recording->lock);
    uint64_t before = recording->synced;
    recording->written = log->written_sequence;
    recording->synced = log->synced.sequence;
    recording->sync_failures = log->sync_failures;
    recording->segment = log->index;
    recording->bytes = log->now.bytes;
    for (size_t i = 0; i < log->closed.count; i++)
        recording->bytes += log->closed.data[i].bytes;
    if (status != MRD_OK) {
        recording->failed = true;
        recording->failure = *error;
        pthread_cond_broadcast(&recording->room);
    }
    pthread_mutex_unlock(&recording->lock);
    return log->synced.sequence > before ? log->synced.sequence : 0;
}

static mrd_status say_failure(mrd__recording *recording, mrd_error *error)
{
    pthread_mutex_lock(&recording->lock);
    bool failed = recording->failed;
    mrd_error failure = recording->failure;
    uint64_t written = recording->written;
    pthread_mutex_unlock(&recording->lock);
    if (!failed) return MRD_OK;
    mrd_status status =
        mrd__fail(error, MRD_ERR_IO, "writer_failed", "the writer stopped after sequence %llu: %s",
                  (unsigned long long)written, failure.message);
    return mrd__fail_at(error, status, failure.file, -1);
}

mrd_status mrd__recording_step(mrd__recording *recording, bool sync, mrd_error *error)
{
    mrd_status status = say_failure(recording, error);
    if (status != MRD_OK) return status;
    /* A finish that failed later is tried again: a step would begin a segment no manifest lists. */
    if (recording->raw_closed) return MRD_OK;
    mrd_error why = {0};
    pthread_mutex_lock(&recording->writing);
    for (bool more = true; more && status == MRD_OK;) {
        pthread_mutex_lock(&recording->lock);
        uint64_t tail = recording->ring.tail;
        uint64_t refused = recording->refused;
        pthread_mutex_unlock(&recording->lock);
        take_ready(recording, tail, refused);
        pthread_mutex_lock(&recording->lock);
        recording->ring.head = recording->at;
        pthread_cond_broadcast(&recording->room);
        pthread_mutex_unlock(&recording->lock);
        more = mrd__log_wants_step(&recording->log);
        status = mrd__log_step(&recording->log, sync && !more, more, &why);
        uint64_t durable = publish(recording, status, &why);
        if (durable > 0 && recording->durable != NULL)
            recording->durable(recording->durable_ctx, durable);
    }
    pthread_mutex_unlock(&recording->writing);
    return status == MRD_OK ? MRD_OK : say_failure(recording, error);
}

/* ---- The thread ---- */

static struct timespec time_of(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / 1000000000),
                             .tv_nsec = (long)(ns % 1000000000)};
}

/* Under the lock: sleep until there is something to do for the next step. */
static void sleep_until_needed(mrd__recording *recording)
{
    if (recording->failed) {
        pthread_cond_wait(&recording->wake, &recording->lock);
        return;
    }
    mrd__ring *ring = &recording->ring;
    uint64_t due = mrd__log_due_ns(&recording->log);
    uint64_t now = recording->files->now_ns(recording->files->ctx);
    if (due <= now || mrd__ring_used(ring) > ring->size / 4) {
        if (due <= now || head_ready(recording, ring->head, ring->tail)) return;
    }
    if (head_ready(recording, ring->head, ring->tail)) {
        struct timespec tick = time_of(now + MRD__WRITER_TICK_NS);
        pthread_cond_timedwait(&recording->wake, &recording->lock, &tick);
        return;
    }
    atomic_store(&recording->idle, 1);
    if (!head_ready(recording, ring->head, ring->tail)) {
        struct timespec end = time_of(due);
        if (due == UINT64_MAX)
            pthread_cond_wait(&recording->wake, &recording->lock);
        else
            pthread_cond_timedwait(&recording->wake, &recording->lock, &end);
    }
    atomic_store(&recording->idle, 0);
}

static void *writer_main(void *arg)
{
    mrd__recording *recording = arg;
    pthread_mutex_lock(&recording->lock);
    for (;;) {
        while (!recording->stop && recording->drains_asked == recording->drains_done) {
            sleep_until_needed(recording);
            if (!recording->failed) break;
        }
        if (recording->stop) break;
        uint64_t asked = recording->drains_asked;
        bool sync = asked != recording->drains_done;
        pthread_mutex_unlock(&recording->lock);
        mrd_status status = mrd__recording_step(recording, sync, NULL);
        (void)status; /* kept in the recording */
        pthread_mutex_lock(&recording->lock);
        recording->drains_done = asked;
        pthread_cond_broadcast(&recording->done);
    }
    pthread_mutex_unlock(&recording->lock);
    return NULL;
}

static mrd_status start_thread(mrd__recording *recording, mrd_error *error)
{
    int rc = mrd__thread_start(&recording->thread, writer_main, recording);
    recording->threaded = rc == 0;
    errno = rc;
    return rc == 0 ? MRD_OK : mrd__fail_errno(error, NULL, "cannot start the writer's thread");
}

void mrd__recording_stop_thread(mrd__recording *recording)
{
    if (!recording->threaded) return;
    pthread_mutex_lock(&recording->lock);
    recording->stop = true;
    pthread_cond_broadcast(&recording->wake);
    pthread_mutex_unlock(&recording->lock);
    int rc = pthread_join(recording->thread, NULL);
    mrd__assert(rc == 0);
    recording->threaded = false;
}

/* ---- Create, destroy ---- */

static void init_locks(mrd__recording *recording)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&recording->lock, NULL);
    pthread_mutex_init(&recording->writing, NULL);
    pthread_cond_init(&recording->wake, &attributes);
    pthread_cond_init(&recording->room, &attributes);
    pthread_cond_init(&recording->done, &attributes);
    pthread_condattr_destroy(&attributes);
}

static mrd_status make_folder(mrd__recording *recording, mrd_error *error)
{
    const mrd__files *files = recording->files;
    int there = files->exists(files->ctx, recording->final_dir);
    if (there < 0)
        return mrd__fail_errno(error, recording->final_dir, "cannot see whether it exists");
    if (there == 0 && files->mkdir(files->ctx, recording->open_dir, 0777) == 0)
        return mrd__files_sync_parent(files, recording->open_dir, error);
    if (there == 0 && errno != EEXIST)
        return mrd__fail_errno(error, recording->open_dir, "cannot make the folder");
    const char *path = there > 0 ? recording->final_dir : recording->open_dir;
    mrd__fail(error, MRD_ERR_ARGUMENT, "exists", "the folder exists; a session needs a new name%s",
              there > 0 ? "" : " (recover what is in it: meridian session recover)");
    return mrd__fail_at(error, MRD_ERR_ARGUMENT, path, -1);
}

static mrd_status write_identity(mrd__recording *recording, const char *more, uint8_t prefix[16],
                                 mrd_error *error)
{
    const mrd__files *files = recording->files;
    mrd__buf text = {0};
    char *path = mrd__files_join(recording->open_dir, MRD__IDENTITY);
    mrd_status status = mrd__identity_text(&text, recording->uuid, mrd__str_of(more), error);
    if (status == MRD_OK) status = mrd__files_replace(files, path, text.data, text.size, error);
    if (status == MRD_OK) {
        mrd__entry entry;
        mrd__entry_of(&entry, MRD__IDENTITY, (mrd__str){text.data, text.size});
        mrd__vec_push(&recording->documents, entry);
        memcpy(prefix, entry.sha256, 16);
        recording->lock_fd = mrd__files_open(files, path, O_RDONLY, 0, error);
        if (recording->lock_fd < 0) status = MRD_ERR_IO;
    }
    if (status == MRD_OK && files->lock(files->ctx, recording->lock_fd) != 0)
        status = mrd__fail_errno(error, path, "cannot lock");
    mrd__free(path);
    mrd__buf_reset(&text);
    return status;
}

static void choose_uuid(mrd__recording *recording, const uint8_t *uuid)
{
    if (uuid != NULL) {
        memcpy(recording->uuid, uuid, 16);
        return;
    }
    mrd__random_bytes(recording->uuid, 16);
    recording->uuid[6] = (uint8_t)((recording->uuid[6] & 0x0f) | 0x40); /* RFC 9562, version 4 */
    recording->uuid[8] = (uint8_t)((recording->uuid[8] & 0x3f) | 0x80);
}

static mrd_status begin(mrd__recording *recording, const mrd__recording_options *options,
                        mrd_error *error)
{
    MRD__TRY(make_folder(recording, error));
    uint8_t prefix[16];
    MRD__TRY(write_identity(recording, options->identity, prefix, error));
    recording->syncer = (mrd__syncer){.files = recording->files, .allowed = !options->no_thread};
    mrd__log_options log = {
        .files = recording->files,
        .syncer = &recording->syncer,
        .dir = recording->open_dir,
        .segment_bytes = options->segment_bytes > 0 ? options->segment_bytes : MRD__SEGMENT_BYTES,
        .segment_ns = options->segment_ns > 0 ? options->segment_ns : MRD__SEGMENT_NS,
        .sync_ns = options->sync_ns > 0 ? options->sync_ns : MRD__SYNC_NS,
        .sync_bytes = options->sync_bytes > 0 ? options->sync_bytes : MRD__SYNC_BYTES,
        .sync_records = options->sync_records > 0 ? options->sync_records : MRD__SYNC_RECORDS,
        .checkpoint_records =
            options->checkpoint_records > 0 ? options->checkpoint_records : MRD__CHECKPOINT_RECORDS,
    };
    memcpy(log.uuid, recording->uuid, 16);
    memcpy(log.previous, prefix, 16);
    MRD__TRY(mrd__log_begin(&recording->log, &log, error));
    size_t bytes = options->ingress_bytes > 0 ? options->ingress_bytes : MRD__INGRESS_BYTES;
    if (bytes < MRD__INGRESS_BYTES_MIN || bytes > MRD__INGRESS_BYTES_MAX)
        return mrd__fail(error, MRD_ERR_LIMIT, "ingress_bytes",
                         "an ingress of %zu bytes, allowed are %zu to %zu", bytes,
                         MRD__INGRESS_BYTES_MIN, MRD__INGRESS_BYTES_MAX);
    MRD__TRY(mrd__ring_init(&recording->ring, bytes, error));
    return options->no_thread ? MRD_OK : start_thread(recording, error);
}

mrd_status mrd__recording_create(const mrd__recording_options *options, mrd__recording **out,
                                 mrd_error *error)
{
    mrd__recording *recording = mrd__new(mrd__recording);
    size_t length = strlen(options->dir);
    while (length > 1 && options->dir[length - 1] == '/')
        length--;
    mrd__buf open_dir = {0};
    mrd__buf_printf(&open_dir, "%.*s.open", (int)length, options->dir);
    recording->files = options->files != NULL ? options->files : mrd__files_system();
    recording->final_dir = mrd__strndup(options->dir, length);
    recording->open_dir = open_dir.data;
    recording->dir = recording->open_dir;
    recording->lock_fd = -1;
    recording->log.fd = -1;
    recording->durable = options->durable;
    recording->durable_ctx = options->durable_ctx;
    init_locks(recording);
    choose_uuid(recording, options->uuid);
    *out = NULL;
    mrd_status status = begin(recording, options, error);
    if (status == MRD_OK)
        *out = recording;
    else
        mrd__recording_destroy(&recording);
    return status;
}

void mrd__recording_destroy(mrd__recording **in)
{
    if (in == NULL || *in == NULL) return;
    mrd__recording *recording = *in;
    *in = NULL;
    if (recording->threaded && !recording->raw_closed) {
        mrd_status status = mrd__recording_drain(recording, NULL);
        (void)status; /* the folder stays as after a crash, whatever got there */
    }
    mrd__recording_stop_thread(recording);
    while (recording->derived != NULL) {
        mrd__derived *next = recording->derived->next;
        mrd__derived_free(recording->derived);
        recording->derived = next;
    }
    mrd__syncer_end(&recording->syncer);
    mrd__log_reset(&recording->log);
    if (recording->lock_fd >= 0)
        (void)recording->files->close(recording->files->ctx, recording->lock_fd);
    mrd__ring_reset(&recording->ring);
    mrd__vec_reset(&recording->missing);
    mrd__vec_reset(&recording->documents);
    pthread_cond_destroy(&recording->wake);
    pthread_cond_destroy(&recording->room);
    pthread_cond_destroy(&recording->done);
    pthread_mutex_destroy(&recording->lock);
    pthread_mutex_destroy(&recording->writing);
    mrd__free(recording->final_dir);
    mrd__free(recording->open_dir);
    mrd__free(recording);
}

/* ---- Looking and waiting ---- */

const char *mrd__recording_dir(const mrd__recording *recording)
{
    return recording->dir;
}

const uint8_t *mrd__recording_uuid(const mrd__recording *recording)
{
    return recording->uuid;
}

void mrd__recording_state_get(mrd__recording *recording, mrd__recording_state *state)
{
    pthread_mutex_lock(&recording->lock);
    *state = (mrd__recording_state){
        .reserved = recording->reserved,
        .written = recording->written,
        .durable = recording->synced,
        .refused = recording->refused,
        .sync_failures = recording->sync_failures,
        .bytes = recording->bytes,
        .rooms = recording->rooms,
        .segment = recording->segment,
        .ingress_used = mrd__ring_used(&recording->ring) + recording->ring.credit,
        .ingress_peak = recording->ring.peak,
        .failed = recording->failed,
    };
    pthread_mutex_unlock(&recording->lock);
}

mrd_status mrd__recording_drain(mrd__recording *recording, mrd_error *error)
{
    if (!recording->threaded) return mrd__recording_step(recording, true, error);
    pthread_mutex_lock(&recording->lock);
    uint64_t mine = ++recording->drains_asked;
    pthread_cond_signal(&recording->wake);
    while (recording->drains_done < mine)
        pthread_cond_wait(&recording->done, &recording->lock);
    pthread_mutex_unlock(&recording->lock);
    return say_failure(recording, error);
}

mrd_status mrd__recording_retry(mrd__recording *recording, mrd_error *error)
{
    pthread_mutex_lock(&recording->lock);
    recording->failed = false;
    pthread_mutex_unlock(&recording->lock);
    return mrd__recording_drain(recording, error);
}

mrd_status mrd__recording_pump(mrd__recording *recording, mrd_error *error)
{
    mrd__assert(!recording->threaded);
    return mrd__recording_step(recording, false, error);
}
