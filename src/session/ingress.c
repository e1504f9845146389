/* The readers' side: room, reservation, commit. The mutex is held for a few additions; a commit
 * takes it only to wake a sleeping writer. */
#include "session/inside.h"

#include "base/assert.h"
#include "base/error.h"

#include <errno.h>
#include <string.h>
#include <time.h>

static struct timespec deadline_of(const mrd__recording *recording, uint64_t wait_ns)
{
    uint64_t end = recording->files->now_ns(recording->files->ctx) + wait_ns;
    return (struct timespec){.tv_sec = (time_t)(end / 1000000000),
                             .tv_nsec = (long)(end % 1000000000)};
}

/* NULL: there may be room. */
static const char *why_closed(const mrd__recording *recording)
{
    if (recording->failed) return "writer_failed";
    return recording->closed ? "admission_closed" : NULL;
}

static mrd_status refuse_closed(const mrd__recording *recording, mrd_error *error)
{
    if (!recording->failed)
        return mrd__fail(error, MRD_ERR_STATE, "admission_closed",
                         "the session takes no further records");
    mrd_status status = mrd__fail(error, MRD_ERR_STATE, "writer_failed", "the writer stopped: %s",
                                  recording->failure.message);
    return mrd__fail_at(error, status, recording->failure.file, -1);
}

/* Under the lock: a promise of `need` bytes for so many records, waiting at most wait_ns for it.
 * counted: a refusal counts as one of each. */
static mrd_status wait_for_room(mrd__recording *recording, size_t need, uint64_t records,
                                uint64_t wait_ns, bool counted, mrd_error *error)
{
    struct timespec end = {0}; /* the clock is asked only by who has to wait */
    int rc = wait_ns == 0 ? ETIMEDOUT : 0;
    while (why_closed(recording) == NULL && !mrd__ring_promise(&recording->ring, need)) {
        if (rc == ETIMEDOUT) {
            if (counted) recording->refused += records;
            return mrd__fail(error, MRD_ERR_LIMIT, "ingress_full",
                             "no room for %zu bytes: %zu of %zu wait for the writer", need,
                             mrd__ring_used(&recording->ring) + recording->ring.credit,
                             recording->ring.size);
        }
        if (end.tv_sec == 0) end = deadline_of(recording, wait_ns);
        pthread_cond_signal(&recording->wake);
        rc = pthread_cond_timedwait(&recording->room, &recording->lock, &end);
    }
    return why_closed(recording) != NULL ? refuse_closed(recording, error) : MRD_OK;
}

static mrd_status check_size(const mrd__recording *recording, size_t size, mrd_error *error)
{
    if (size <= MRD__RECORD_PAYLOAD_MAX && mrd__record_space(size) <= recording->ring.size)
        return MRD_OK;
    return mrd__fail(
        error, MRD_ERR_LIMIT, "record_size", "a record of %zu bytes, allowed are %zu", size,
        recording->ring.size < MRD__RECORD_MAX ? recording->ring.size - MRD__RECORD_HEAD
                                               : MRD__RECORD_PAYLOAD_MAX);
}

mrd_status mrd__recording_room(mrd__recording *recording, size_t size, uint64_t wait_ns,
                               bool counted, mrd__room *room, mrd_error *error)
{
    room->bytes = 0;
    MRD__TRY(check_size(recording, size, error));
    size_t need = mrd__record_space(size);
    pthread_mutex_lock(&recording->lock);
    mrd_status status = wait_for_room(recording, need, 1, wait_ns, counted, error);
    if (status == MRD_OK) {
        room->bytes = need;
        recording->rooms++;
    }
    pthread_mutex_unlock(&recording->lock);
    return status;
}

void mrd__recording_room_return(mrd__recording *recording, mrd__room *room)
{
    if (room->bytes == 0) return;
    pthread_mutex_lock(&recording->lock);
    recording->ring.credit -= room->bytes;
    recording->rooms--;
    pthread_cond_broadcast(&recording->room);
    pthread_mutex_unlock(&recording->lock);
    room->bytes = 0;
}

/* Under the lock: the record's place, for good. */
static mrd__ring_slot *reserve(mrd__recording *recording, size_t promised, mrd__record_type type,
                               size_t size)
{
    /* Before the tail moves: the writer must not see what was there before. */
    mrd__ring_slot *in = mrd__ring_at(&recording->ring, recording->ring.tail);
    atomic_store_explicit(&in->state, MRD__RING_RESERVED, memory_order_relaxed);
    if (mrd__record_takes_sequence(type)) recording->reserved++;
    in->size = (uint32_t)size;
    in->type = type;
    in->sequence = recording->reserved;
    mrd__ring_slot *slot = mrd__ring_put(&recording->ring, promised, mrd__record_space(size));
    atomic_store_explicit(&recording->next, recording->ring.tail, memory_order_relaxed);
    return slot;
}

void mrd__recording_expect(const mrd__recording *recording, size_t before, size_t size)
{
    uint64_t next = atomic_load_explicit(&recording->next, memory_order_relaxed);
    mrd__ring_expect(&recording->ring, next + before, mrd__record_space(size));
}

static void wake_if_half(mrd__recording *recording)
{
    if (mrd__ring_used(&recording->ring) > recording->ring.size / 2)
        pthread_cond_signal(&recording->wake);
}

void mrd__recording_reserve(mrd__recording *recording, mrd__room *room, mrd__record_type type,
                            size_t size, mrd__slot *slot)
{
    mrd__assert(type >= MRD__RECORD_RAW && type < MRD__RECORD_CHECKPOINT);
    mrd__assert(room->bytes >= mrd__record_space(size));
    pthread_mutex_lock(&recording->lock);
    mrd__ring_slot *in = reserve(recording, room->bytes, type, size);
    recording->rooms--;
    wake_if_half(recording);
    *slot = (mrd__slot){.sequence = in->sequence, .payload = (uint8_t *)(in + 1), .size = size};
    pthread_mutex_unlock(&recording->lock);
    room->bytes = 0;
}

/* After slots became ready. */
static void wake_writer(mrd__recording *recording, bool urgent)
{
    /* Sequentially consistent with the writer, which sets idle before it looks at the state. */
    if (!urgent && atomic_load(&recording->idle) == 0) return;
    pthread_mutex_lock(&recording->lock);
    pthread_cond_signal(&recording->wake);
    pthread_mutex_unlock(&recording->lock);
}

bool mrd__recording_commit(mrd__recording *recording, mrd__slot *slot)
{
    mrd__ring_slot *in = (mrd__ring_slot *)(void *)slot->payload - 1;
    bool urgent = in->type == MRD__RECORD_LIFECYCLE;
    uint32_t expected = MRD__RING_RESERVED;
    slot->payload = NULL;
    if (!atomic_compare_exchange_strong(&in->state, &expected, MRD__RING_READY)) return false;
    wake_writer(recording, urgent);
    return true;
}

mrd_status mrd__recording_append_many(mrd__recording *recording, mrd__pending *records,
                                      size_t count, const void *payloads, uint64_t wait_ns,
                                      mrd_error *error)
{
    size_t need = 0;
    bool urgent = false;
    for (size_t i = 0; i < count; i++) {
        MRD__TRY(check_size(recording, records[i].size, error));
        need += mrd__record_space(records[i].size);
    }
    mrd__assert(count > 0 && need <= recording->ring.size);
    pthread_mutex_lock(&recording->lock);
    mrd_status status = wait_for_room(recording, need, count, wait_ns, true, error);
    uint64_t at = recording->ring.tail;
    for (size_t i = 0; i < count && status == MRD_OK; i++) {
        size_t space = mrd__record_space(records[i].size);
        mrd__assert(records[i].type >= MRD__RECORD_RAW && records[i].type < MRD__RECORD_CHECKPOINT);
        records[i].sequence = reserve(recording, space, records[i].type, records[i].size)->sequence;
    }
    if (status == MRD_OK) wake_if_half(recording);
    pthread_mutex_unlock(&recording->lock);
    if (status != MRD_OK) return status;
    mrd__ring_slot *first = mrd__ring_at(&recording->ring, at);
    const uint8_t *from = payloads;
    for (size_t i = 0; i < count; i++) {
        mrd__ring_slot *in = mrd__ring_at(&recording->ring, at);
        at += mrd__record_space(records[i].size);
        if (records[i].size > 0) memcpy(in + 1, from, records[i].size);
        from += records[i].size;
        urgent = urgent || records[i].type == MRD__RECORD_LIFECYCLE;
        /* Ours, and inside this call: nobody seals the session meanwhile. */
        if (in != first) atomic_store_explicit(&in->state, MRD__RING_READY, memory_order_release);
    }
    atomic_store(&first->state, MRD__RING_READY); /* last: a writer that sleeps looks at it */
    wake_writer(recording, urgent);
    return MRD_OK;
}

mrd_status mrd__recording_append(mrd__recording *recording, mrd__record_type type,
                                 const mrd__str *parts, size_t count, uint64_t *sequence,
                                 mrd_error *error)
{
    mrd__room room;
    mrd__slot slot;
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += parts[i].size;
    MRD__TRY(mrd__recording_room(recording, size, 0, true, &room, error));
    mrd__recording_reserve(recording, &room, type, size, &slot);
    size_t done = 0;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].size > 0) memcpy(slot.payload + done, parts[i].data, parts[i].size);
        done += parts[i].size;
    }
    if (sequence != NULL) *sequence = slot.sequence;
    (void)mrd__recording_commit(recording, &slot); /* ours: cannot have been cancelled before */
    return MRD_OK;
}

void mrd__recording_close_admission(mrd__recording *recording)
{
    pthread_mutex_lock(&recording->lock);
    recording->closed = true;
    pthread_cond_broadcast(&recording->room);
    pthread_mutex_unlock(&recording->lock);
}
