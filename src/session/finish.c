/* Finishing: each step only after the one before is on disk, so that a power cut between two leaves
 * either a session without a seal, which recover takes, or a sealed one. */
#include "base/error.h"
#include "session/inside.h"
#include "session/limits.h"

#include <errno.h>
#include <string.h>

/* ---- What is missing ---- */

static void add_missing(mrd__missing *out, size_t max, size_t *count, uint64_t from, uint64_t to)
{
    if (*count > 0 && *count <= max && out[*count - 1].to + 1 == from) {
        out[*count - 1].to = to;
        return;
    }
    if (*count < max) out[*count] = (mrd__missing){from, to};
    ++*count;
}

/* Under the lock. Records that take no sequence count in *others. */
static size_t find_missing(mrd__recording *recording, mrd__missing *out, size_t max,
                           uint64_t *others)
{
    size_t count = 0;
    *others = 0;
    if (recording->failed) {
        if (recording->written < recording->reserved)
            add_missing(out, max, &count, recording->written + 1, recording->reserved);
        return count;
    }
    mrd__ring *ring = &recording->ring;
    for (uint64_t at = ring->head; at != ring->tail;) {
        mrd__ring_slot *slot = mrd__ring_at(ring, at);
        at += mrd__record_space(slot->size);
        if (atomic_load(&slot->state) != MRD__RING_RESERVED) continue;
        if (mrd__record_takes_sequence(slot->type))
            add_missing(out, max, &count, slot->sequence, slot->sequence);
        else
            ++*others;
    }
    return count;
}

size_t mrd__recording_missing(mrd__recording *recording, mrd__missing *out, size_t max)
{
    uint64_t others;
    pthread_mutex_lock(&recording->lock);
    size_t count = find_missing(recording, out, max, &others);
    pthread_mutex_unlock(&recording->lock);
    return count;
}

/* "4-5, 9" of the first few. */
static void ranges_text(mrd__buf *text, const mrd__missing *ranges, size_t count)
{
    size_t told = count < 8 ? count : 8;
    for (size_t i = 0; i < told; i++) {
        mrd__buf_printf(text, i > 0 ? ", %llu" : "%llu", (unsigned long long)ranges[i].from);
        if (ranges[i].to > ranges[i].from)
            mrd__buf_printf(text, "-%llu", (unsigned long long)ranges[i].to);
    }
    if (count > told) mrd__buf_printf(text, " and %zu further ranges", count - told);
}

/* MRD_ERR_STATE when a record was reserved and is not on its way to disk. */
static mrd_status check_consumed(mrd__recording *recording, mrd_error *error)
{
    mrd__missing ranges[8] = {0};
    uint64_t others = 0;
    pthread_mutex_lock(&recording->lock);
    size_t count = find_missing(recording, ranges, 8, &others);
    bool failed = recording->failed;
    mrd_error failure = recording->failure;
    pthread_mutex_unlock(&recording->lock);
    if (count == 0 && others == 0 && !failed) return MRD_OK;
    mrd__buf text = {0};
    ranges_text(&text, ranges, count);
    mrd_status status;
    if (failed)
        status = mrd__fail(error, MRD_ERR_STATE, "writer_failed",
                           "the writer stopped, sequences not on disk: %s; %s",
                           count > 0 ? text.data : "none", failure.message);
    else
        status = mrd__fail(error, MRD_ERR_STATE, "reservations_open",
                           "reserved and never written: sequences %s, %llu records without one",
                           count > 0 ? text.data : "none", (unsigned long long)others);
    mrd__buf_reset(&text);
    return status;
}

/* ---- Raw segments ---- */

/* Nobody may commit these any more. */
static void cancel_open_slots(mrd__recording *recording)
{
    pthread_mutex_lock(&recording->lock);
    mrd__ring *ring = &recording->ring;
    for (uint64_t at = ring->head; at != ring->tail;) {
        mrd__ring_slot *slot = mrd__ring_at(ring, at);
        uint32_t expected = MRD__RING_RESERVED;
        at += mrd__record_space(slot->size);
        (void)atomic_compare_exchange_strong(&slot->state, &expected, MRD__RING_CANCELLED);
    }
    pthread_mutex_unlock(&recording->lock);
}

/* The log ends at what is on disk; everything after it is missing. */
static mrd_status give_up(mrd__recording *recording, mrd_error *error)
{
    MRD__TRY(mrd__log_give_up(&recording->log, error));
    uint64_t last = recording->log.now.sequence;
    /* Gaps noted in what was just given up are part of the one range. */
    while (recording->missing.count > 0 &&
           recording->missing.data[recording->missing.count - 1].to > last)
        recording->missing.count--;
    if (last < recording->reserved) {
        mrd__range rest = {last + 1, recording->reserved};
        mrd__vec_push(&recording->missing, rest);
    }
    return MRD_OK;
}

static mrd_status end_raw(mrd__recording *recording, const mrd__finish *finish, mrd_error *error)
{
    bool forced = finish->reason_count > 0;
    if (forced) cancel_open_slots(recording);
    mrd_status status = forced ? mrd__recording_retry(recording, error)
                               : mrd__recording_step(recording, true, error);
    if (status == MRD_OK && !recording->end_written && finish->end_event.data != NULL) {
        mrd__log_append(&recording->log, MRD__RECORD_LIFECYCLE, 0, 0, finish->end_event.data,
                        finish->end_event.size);
        recording->end_written = true;
        status = mrd__recording_step(recording, true, error);
    }
    if (status == MRD_OK) status = mrd__log_end(&recording->log, error);
    if (status != MRD_OK && forced) status = give_up(recording, error);
    recording->raw_closed = status == MRD_OK;
    return status;
}

/* ---- Manifest and seal ---- */

static mrd_status gather(mrd__recording *recording, mrd__entries *entries, mrd_error *error)
{
    mrd__vec_push(entries, recording->documents.data[0]); /* session.json */
    for (size_t i = 0; i < recording->log.closed.count; i++) {
        mrd__entry entry;
        mrd__entry_of_segment(&entry, &recording->log.closed.data[i]);
        if (entry.tail > 0)
            MRD__TRY(mrd__entry_tail(&entry, recording->files, recording->dir, error));
        mrd__vec_push(entries, entry);
    }
    for (const mrd__derived *at = recording->derived; at != NULL; at = at->next)
        mrd__vec_push(entries, at->entry);
    for (size_t i = 1; i < recording->documents.count; i++)
        mrd__vec_push(entries, recording->documents.data[i]);
    return MRD_OK;
}

static mrd_status seal(mrd__recording *recording, const mrd__finish *finish, mrd_error *error)
{
    mrd__entries entries = {0};
    MRD__VEC(const char *) reasons = {0};
    for (size_t i = 0; i < finish->reason_count; i++)
        mrd__vec_push(&reasons, finish->reasons[i]);
    if (recording->missing.count > 0) mrd__vec_push(&reasons, "reservations_missing");
    if (recording->dropped > 0) mrd__vec_push(&reasons, "records_dropped");
    if (recording->failed) mrd__vec_push(&reasons, "writer_failed");
    mrd_status status = gather(recording, &entries, error);
    if (status == MRD_OK)
        status = mrd__entries_protect(&entries, recording->files, recording->dir, error);
    mrd__manifest_facts facts = {
        .uuid = recording->uuid,
        .entries = &entries,
        .merkle = &recording->log.now.merkle,
        .records = recording->log.now.records,
        .sequences = recording->log.now.sequence,
        .made = recording->reserved,
        .missing = &recording->missing,
        .refused = recording->refused,
        .sync_failures = recording->log.sync_failures,
        .known = true,
        .reasons = reasons.data,
        .reason_count = reasons.count,
        .more = mrd__str_of(finish->facts),
    };
    if (status == MRD_OK) status = mrd__seal_write(recording->files, recording->dir, &facts, error);
    mrd__vec_reset(&entries);
    mrd__vec_reset(&reasons);
    recording->sealed = status == MRD_OK;
    return status;
}

static mrd_status rename_dir(mrd__recording *recording, mrd_error *error)
{
    const mrd__files *files = recording->files;
    if (!recording->renamed) {
        if (files->rename_new(files->ctx, recording->open_dir, recording->final_dir) != 0)
            return mrd__fail_errno(error, recording->final_dir,
                                   "cannot rename the session's folder to it");
        recording->renamed = true;
        recording->dir = recording->final_dir;
    }
    return mrd__files_sync_parent(files, recording->final_dir, error);
}

/* ---- The sequence ---- */

static mrd_status refuse_while_open(mrd__recording *recording, bool forced, mrd_error *error)
{
    pthread_mutex_lock(&recording->lock);
    uint64_t rooms = recording->rooms;
    pthread_mutex_unlock(&recording->lock);
    if (rooms > 0)
        return mrd__fail(error, MRD_ERR_STATE, "reads_open",
                         "%llu reads were admitted and have not ended", (unsigned long long)rooms);
    mrd_error why = {0};
    mrd_status status = mrd__recording_drain(recording, &why);
    (void)status; /* a failure is found by the next line, unless it does not matter */
    return forced ? MRD_OK : check_consumed(recording, error);
}

mrd_status mrd__recording_finish(mrd__recording *recording, const mrd__finish *finish,
                                 mrd_error *error)
{
    bool forced = finish->reason_count > 0;
    if (finish->end_event.size > MRD__RECORD_PAYLOAD_MAX)
        return mrd__fail(error, MRD_ERR_LIMIT, "record_size", "an end event of %zu bytes",
                         finish->end_event.size);
    if (!recording->raw_closed) {
        pthread_mutex_lock(&recording->lock);
        bool was_closed = recording->closed;
        recording->closed = true;
        pthread_mutex_unlock(&recording->lock);
        mrd_status status = refuse_while_open(recording, forced, error);
        if (status != MRD_OK) {
            pthread_mutex_lock(&recording->lock);
            recording->closed = was_closed;
            pthread_mutex_unlock(&recording->lock);
            return status;
        }
        mrd__recording_stop_thread(recording);
        MRD__TRY(end_raw(recording, finish, error));
    }
    for (mrd__derived *at = recording->derived; at != NULL; at = at->next)
        MRD__TRY(mrd__derived_end(at, error));
    if (!recording->sealed) MRD__TRY(seal(recording, finish, error));
    return rename_dir(recording, error);
}

/* ---- Documents ---- */

static bool good_name(const char *name)
{
    static const char *const own[] = {MRD__IDENTITY, MRD__MANIFEST, MRD__SEAL,
                                      MRD__RECOVERY, "domain.mrl",  "metrics.mrl"};
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-.");
    if (length == 0 || name[length] != '\0' || length > 40 || name[0] == '.') return false;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(name, own[i]) == 0) return false;
    return true;
}

mrd_status mrd__recording_file(mrd__recording *recording, const char *name, mrd__str bytes,
                               mrd_error *error)
{
    if (!good_name(name))
        return mrd__fail(error, MRD_ERR_ARGUMENT, "file_name",
                         "\"%.60s\" cannot be a file of a session: allowed are a-z, 0-9, - and .",
                         name);
    char *path = mrd__files_join(recording->dir, name);
    mrd_status status = mrd__files_replace(recording->files, path, bytes.data, bytes.size, error);
    mrd__free(path);
    if (status != MRD_OK) return status;
    mrd__entry entry;
    mrd__entry_of(&entry, name, bytes);
    pthread_mutex_lock(&recording->lock);
    size_t i = 0;
    while (i < recording->documents.count &&
           strcmp(recording->documents.data[i].path, entry.path) != 0)
        i++;
    if (i < recording->documents.count)
        recording->documents.data[i] = entry;
    else
        mrd__vec_push(&recording->documents, entry);
    pthread_mutex_unlock(&recording->lock);
    return MRD_OK;
}
