/* A ring of pieces between two jobs, inflating and parsing, each done by one worker at a time:
 *
 *      inflate -> [ full | full | full | free | free ] -> parse
 *
 * Workers take whichever job is free and has something to do, and sleep when there is none. So one
 * worker alone does both by turns, and two do them side by side; the order of pieces, and with it
 * the store, is the same. */
#include "ingest/chrome_json/stream.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/os.h"
#include "ingest/chrome_json/limits.h"

#include <pthread.h>

enum {
    RING = 8
};

typedef struct ring {
    const mrd__cj_stream *stream;
    char *bytes; /* [RING][piece] */
    size_t sizes[RING];
    uint64_t taken; /* compressed bytes, for progress */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Under the lock. */
    uint64_t made, used; /* pieces */
    bool inflating, parsing, at_end;
    mrd_status status;
    mrd_error *error;
} ring;

static void inflate_piece(ring *r, uint64_t index)
{
    const mrd__cj_stream *stream = r->stream;
    size_t slot = index % RING;
    r->sizes[slot] = mrd__gzip_read(stream->gzip, r->bytes + slot * stream->piece, stream->piece);
}

static mrd_status parse_piece(ring *r, uint64_t index)
{
    size_t slot = index % RING;
    return mrd__chrome_json_feed(r->stream->reader, r->bytes + slot * r->stream->piece,
                                 r->sizes[slot], r->error);
}

static void report(ring *r, uint64_t taken, uint64_t *last)
{
    const mrd__cj_stream *stream = r->stream;
    uint64_t now = mrd__monotonic_ns();
    if (stream->progress == NULL || now - *last < MRD__CJ_PROGRESS_NS) return;
    *last = now;
    if (stream->progress(stream->progress_ctx, stream->path, taken, stream->compressed)) return;
    pthread_mutex_lock(&r->lock);
    if (r->status == MRD_OK)
        r->status = mrd__fail(r->error, MRD_ERR_CANCELLED, "cancelled", "cancelled");
    pthread_mutex_unlock(&r->lock);
}

static bool is_over(const ring *r)
{
    return r->status != MRD_OK || (r->at_end && r->used == r->made);
}

/* One job, under the lock on entry and exit. False: nothing to do now. */
static bool do_job(ring *r)
{
    if (!r->parsing && r->used < r->made) {
        uint64_t index = r->used;
        r->parsing = true;
        pthread_mutex_unlock(&r->lock);
        mrd_status status = parse_piece(r, index);
        pthread_mutex_lock(&r->lock);
        r->parsing = false;
        r->used++;
        if (status != MRD_OK && r->status == MRD_OK) r->status = status;
    } else if (!r->inflating && !r->at_end && r->made - r->used < RING) {
        uint64_t index = r->made;
        r->inflating = true;
        pthread_mutex_unlock(&r->lock);
        inflate_piece(r, index);
        pthread_mutex_lock(&r->lock);
        const mrd__gzip_info *info = mrd__gzip_info_of(r->stream->gzip);
        r->inflating = false;
        r->made++;
        r->taken = info->taken;
        r->at_end = info->end != MRD__GZIP_GOES_ON;
    } else {
        return false;
    }
    pthread_cond_broadcast(&r->changed);
    return true;
}

static void work(void *ctx, uint32_t worker)
{
    ring *r = ctx;
    uint64_t reported = mrd__monotonic_ns();
    pthread_mutex_lock(&r->lock);
    while (!is_over(r)) {
        if (!do_job(r)) pthread_cond_wait(&r->changed, &r->lock);
        if (worker != 0) continue;
        uint64_t taken = r->taken;
        pthread_mutex_unlock(&r->lock);
        report(r, taken, &reported);
        pthread_mutex_lock(&r->lock);
    }
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

mrd_status mrd__cj_read_stream(const mrd__cj_stream *stream, mrd_error *error)
{
    ring r = {.stream = stream, .error = error};
    r.bytes = mrd__alloc(RING * stream->piece);
    pthread_mutex_init(&r.lock, NULL);
    pthread_cond_init(&r.changed, NULL);
    mrd__parallel(stream->threads > 1 ? 2 : 1, work, &r);
    pthread_cond_destroy(&r.changed);
    pthread_mutex_destroy(&r.lock);
    mrd__free(r.bytes);
    return r.status;
}
