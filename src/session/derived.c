/* domain.mrl and metrics.mrl: encoded into memory, written a mebibyte at a time, synced when the
 * session is finished. Until then they are worth nothing: replay makes them again. */
#include "base/assert.h"
#include "base/error.h"
#include "session/format/bytes.h"
#include "session/inside.h"
#include "session/stored.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define FLUSH_BYTES ((size_t)1 << 20)

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

static void flush(mrd__derived *derived)
{
    const mrd__files *files = derived->recording->files;
    mrd_error why = {0};
    if (derived->status != MRD_OK || derived->bytes.size == 0) return;
    mrd__sha256_add(&derived->hash, derived->bytes.data, derived->bytes.size);
    derived->entry.bytes += derived->bytes.size;
    mrd_status status = mrd__files_write(files, derived->fd, derived->bytes.data,
                                         derived->bytes.size, NULL, derived->path, &why);
    if (status != MRD_OK) keep_failure(derived, status, &why);
    mrd__buf_clear(&derived->bytes);
}

mrd_status mrd__recording_derive(mrd__recording *recording, mrd__file_kind kind,
                                 const char *const *names, size_t name_count, mrd__derived **out,
                                 mrd_error *error)
{
    mrd__derived *derived = mrd__new(mrd__derived);
    mrd__derived_bytes head;
    mrd__derived_bytes_begin(&head, kind, recording->uuid);
    derived->recording = recording;
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
    if (derived->bytes.size >= FLUSH_BYTES) flush(derived);
    return said(derived, error);
}

mrd_status mrd__derived_end(mrd__derived *derived, mrd_error *error)
{
    const mrd__files *files = derived->recording->files;
    if (derived->closed) return MRD_OK;
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
    if (!derived->closed && derived->fd >= 0) flush(derived);
    if (derived->fd >= 0) (void)files->close(files->ctx, derived->fd);
    mrd__buf_reset(&derived->bytes);
    mrd__free(derived->path);
    mrd__free(derived);
}
