/* domain.mrl and metrics.mrl: encoded into memory, hashed and written 256 KiB at a time, synced
 * when the session is finished. Until then they are worth nothing: replay makes them again.
 *
 * Where the recording has a writer's thread, a file that fills so much gets one as well: whoever
 * projects fills one buffer while the other is written, and waits only for a slower disk. */
#include "base/assert.h"
#include "base/error.h"
#include "base/os.h"
#include "session/format/bytes.h"
#include "session/inside.h"
#include "session/stored.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define FLUSH_BYTES ((size_t)256 << 10) /* stays in the second cache until it is written */
#define BEGIN_BYTES ((size_t)1 << 20)   /* brought on its way to the disk at once: few requests */

void mrd__derived_bytes_begin(mrd__derived_bytes *derived, mrd__file_kind kind,
                              const uint8_t uuid[16])
{
    mrd__assert(kind == MRD__FILE_DOMAIN || kind == MRD__FILE_METRICS);
    mrd__segment_head head = {.kind = (uint16_t)kind, .index = 1};
    memcpy(head.uuid, uuid, 16);
    uint8_t bytes[MRD__SEGMENT_HEAD];
    *derived = (mrd__derived_bytes){.chain = mrd__segment_head_write(&head, bytes)};
    mrd__buf_add(&derived->bytes, bytes, sizeof bytes);
}

void mrd__derived_bytes_add(mrd__derived_bytes *derived, unsigned type, uint64_t sequence,
                            const mrd__str *parts, size_t count)
{
    mrd__assert(type >= MRD__RECORD_DERIVED && type < MRD__RECORD_TYPES);
    derived->chain =
        mrd__record_append(&derived->bytes, type, 0, sequence, parts, count, derived->chain);
}

static void keep_failure(mrd__derived *derived, mrd_status status, const mrd_error *why)
{
    derived->status = status;
    derived->why = *why;
}

static mrd_status said(const mrd__derived *derived, mrd_error *error)
{
    if (derived->status != MRD_OK && error != NULL) *error = derived->why;
    return derived->status;
}

static mrd_status write_out(mrd__derived *derived, mrd__buf *bytes, mrd_error *error)
{
    const mrd__files *files = derived->recording->files;
    mrd__sha256_add(&derived->hash, bytes->data, bytes->size);
    derived->entry.bytes += bytes->size;
    mrd_status status =
        mrd__files_write(files, derived->fd, bytes->data, bytes->size, NULL, derived->path, error);
    /* Finishing has less to wait for. */
    derived->unbegun += bytes->size;
    if (files->begin_sync != NULL && derived->unbegun >= BEGIN_BYTES) {
        files->begin_sync(files->ctx, derived->fd);
        derived->unbegun = 0;
    }
    mrd__buf_clear(bytes);
    return status;
}

static void flush(mrd__derived *derived)
{
    mrd_error why = {0};
    if (derived->status != MRD_OK || derived->bytes.size == 0) return;
    mrd_status status = write_out(derived, &derived->bytes, &why);
    if (status != MRD_OK) keep_failure(derived, status, &why);
}

/* ---- The thread ---- */

static void *write_main(void *arg)
{
    mrd__derived *derived = arg;
    pthread_mutex_lock(&derived->lock);
    for (;;) {
        while (!derived->full && !derived->stop)
            pthread_cond_wait(&derived->turn, &derived->lock);
        if (!derived->full) break;
        mrd_error why = {0};
        mrd_status status = derived->failed;
        pthread_mutex_unlock(&derived->lock);
        if (status == MRD_OK) status = write_out(derived, &derived->handed, &why);
        pthread_mutex_lock(&derived->lock);
        if (status != MRD_OK && derived->failed == MRD_OK) {
            derived->failed = status;
            derived->failure = why;
        }
        derived->full = false;
        pthread_cond_signal(&derived->turn);
    }
    pthread_mutex_unlock(&derived->lock);
    return NULL;
}

/* False: there is none, and the caller writes for itself. */
static bool has_thread(mrd__derived *derived)
{
    if (derived->threaded || !derived->recording->threaded) return derived->threaded;
    derived->threaded = mrd__thread_start(&derived->thread, write_main, derived) == 0;
    return derived->threaded;
}

/* Give the full buffer to the thread, for the one that it has written. */
static void hand_over(mrd__derived *derived)
{
    if (derived->status != MRD_OK || !has_thread(derived)) {
        flush(derived);
        return;
    }
    pthread_mutex_lock(&derived->lock);
    while (derived->full)
        pthread_cond_wait(&derived->turn, &derived->lock);
    if (derived->failed != MRD_OK) keep_failure(derived, derived->failed, &derived->failure);
    mrd__buf written = derived->handed;
    derived->handed = derived->bytes;
    derived->bytes = written;
    derived->full = true;
    pthread_cond_signal(&derived->turn);
    pthread_mutex_unlock(&derived->lock);
    mrd__buf_clear(&derived->bytes);
}

/* What was handed over is written, and the thread ended. */
static void join_thread(mrd__derived *derived)
{
    if (!derived->threaded) return;
    pthread_mutex_lock(&derived->lock);
    derived->stop = true;
    pthread_cond_signal(&derived->turn);
    pthread_mutex_unlock(&derived->lock);
    int rc = pthread_join(derived->thread, NULL);
    mrd__assert(rc == 0);
    derived->threaded = false;
    derived->stop = false;
    if (derived->failed != MRD_OK && derived->status == MRD_OK)
        keep_failure(derived, derived->failed, &derived->failure);
}

mrd_status mrd__recording_derive(mrd__recording *recording, mrd__file_kind kind,
                                 const char *const *names, size_t name_count, mrd__derived **out,
                                 mrd_error *error)
{
    mrd__derived *derived = mrd__new(mrd__derived);
    mrd__derived_bytes head;
    mrd__derived_bytes_begin(&head, kind, recording->uuid);
    derived->recording = recording;
    pthread_mutex_init(&derived->lock, NULL);
    pthread_cond_init(&derived->turn, NULL);
    derived->bytes = head.bytes;
    derived->chain = head.chain;
    derived->entry = (mrd__entry){.kind = (uint16_t)kind,
                                  .counted = true,
                                  .names = names,
                                  .name_count = name_count,
                                  .first = 1};
    snprintf(derived->entry.path, sizeof derived->entry.path, "%s",
             kind == MRD__FILE_DOMAIN ? "domain.mrl" : "metrics.mrl");
    mrd__sha256_begin(&derived->hash);
    derived->path = mrd__files_join(recording->open_dir, derived->entry.path);
    derived->fd = mrd__files_open(recording->files, derived->path,
                                  O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0666, error);
    if (derived->fd < 0) {
        mrd__derived_free(derived);
        return MRD_ERR_IO;
    }
    pthread_mutex_lock(&recording->lock);
    derived->next = recording->derived;
    recording->derived = derived;
    pthread_mutex_unlock(&recording->lock);
    *out = derived;
    return MRD_OK;
}

mrd_status mrd__derived_append(mrd__derived *derived, unsigned type, uint64_t sequence,
                               const mrd__str *parts, size_t count, mrd_error *error)
{
    mrd__assert(type >= MRD__RECORD_DERIVED && type < MRD__RECORD_TYPES && !derived->closed);
    mrd__entry *entry = &derived->entry;
    bool any = entry->last >= entry->first;
    mrd__assert(!any || sequence >= entry->last);
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += parts[i].size;
    if (size > MRD__RECORD_PAYLOAD_MAX)
        return mrd__fail(error, MRD_ERR_LIMIT, "record_size",
                         "a derived record of %zu bytes, allowed are %zu", size,
                         MRD__RECORD_PAYLOAD_MAX);
    if (derived->status != MRD_OK) return said(derived, error);
    derived->chain =
        mrd__record_append(&derived->bytes, type, 0, sequence, parts, count, derived->chain);
    entry->counts[type]++;
    if (!any) entry->first = sequence;
    entry->last = sequence;
    if (derived->bytes.size >= FLUSH_BYTES) hand_over(derived);
    return said(derived, error);
}

mrd_status mrd__derived_end(mrd__derived *derived, mrd_error *error)
{
    const mrd__files *files = derived->recording->files;
    if (derived->closed) return MRD_OK;
    join_thread(derived);
    flush(derived);
    mrd_error why = {0};
    if (derived->status == MRD_OK && files->fsync(files->ctx, derived->fd) != 0)
        keep_failure(derived, mrd__fail_errno(&why, derived->path, "cannot sync"), &why);
    if (derived->status != MRD_OK) return said(derived, error);
    if (derived->fd >= 0) (void)files->close(files->ctx, derived->fd);
    derived->fd = -1;
    derived->closed = true;
    mrd__sha256_end(&derived->hash, derived->entry.sha256);
    return MRD_OK;
}

void mrd__derived_free(mrd__derived *derived)
{
    const mrd__files *files = derived->recording->files;
    join_thread(derived);
    if (!derived->closed && derived->fd >= 0) flush(derived);
    if (derived->fd >= 0) (void)files->close(files->ctx, derived->fd);
    pthread_cond_destroy(&derived->turn);
    pthread_mutex_destroy(&derived->lock);
    mrd__buf_reset(&derived->bytes);
    mrd__buf_reset(&derived->handed);
    mrd__free(derived->path);
    mrd__free(derived);
}
