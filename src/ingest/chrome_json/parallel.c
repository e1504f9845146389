/* Chunks of the events on all cores.
 *
 *   bytes    ...},{"ph":..},{"ph":  |  ..},{"ph":..},{"ph":..}  |  ,{"ph":..}] ...
 *   chunk            i             border         i+1          border
 *
 * A worker takes the next chunk and
 *   1. scans it for what it does to quote state and depth (scan.c),
 *   2. waits for the state at its first byte, which follows from the scans before it, and passes
 *      the state at its last byte on,
 *   3. finds the first event that begins in it (depth 0, outside strings: exact, not a guess) and
 *      parses from there to the first event that begins behind it,
 *   4. waits until the chunk before is accepted, and is accepted itself if that one ended exactly
 *      where this one began. By induction accepted chunks are what the serial reader would read.
 *
 * The first chunk that is not accepted, or that meets an error, the end of the array or the end of
 * the text, ends it: it and all later ones are taken back as far as they are not accepted, and the
 * serial reader goes on. Until it is accepted a chunk stays open in its shard, so that taking it
 * back is one call. */
#include "ingest/chrome_json/parallel.h"
#include "base/assert.h"
#include "ingest/chrome_json/fast.h"
#include "ingest/chrome_json/limits.h"
#include "ingest/chrome_json/reader.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#define NOWHERE SIZE_MAX
#define SPINS 200

enum {
    WAITING,
    KNOWN
};

typedef struct piece {
    atomic_int state_known; /* entry state of this chunk */
    bool inside;            /* a string */
    int64_t depth;
    atomic_int accepted; /* WAITING until this chunk's verdict */
    size_t end;          /* where the next event begins; NOWHERE: reading ends at or before here */
} piece;

typedef struct shared {
    const mrd__cj_parallel_options *options;
    const char *data;
    size_t size, from, count;
    piece *pieces; /* [count + 1] */
    atomic_size_t next;
    atomic_size_t last; /* chunks above are not wanted */
    atomic_bool cancelled;
    atomic_uint_fast64_t rejected;
    mrd__cj_parallel_result result; /* at, closed: set by the one chunk that ends it */
} shared;

static void wait_for(const atomic_int *flag)
{
    for (uint32_t spins = 0; atomic_load_explicit(flag, memory_order_acquire) == WAITING; spins++) {
        if (spins > SPINS) sched_yield();
    }
}

static size_t begin_of(const shared *s, size_t index)
{
    return s->from + index * s->options->chunk;
}

static size_t border_of(const shared *s, size_t index)
{
    return index + 1 >= s->count ? s->size : begin_of(s, index + 1);
}

/* Does a backslash take the meaning of data[at]? *fits is false when the run of backslashes before
 * it is too long to be counted. */
static bool is_escaped(const shared *s, size_t at, bool *fits)
{
    size_t run = 0;
    while (run < at - s->from && run < MRD__CJ_MAX_BACKSLASHES && s->data[at - run - 1] == '\\')
        run++;
    *fits = run < MRD__CJ_MAX_BACKSLASHES;
    return run & 1;
}

/* The first '{' or ']' between elements in [at, to), NOWHERE without one. */
static size_t first_event(const shared *s, const piece *p, size_t at, size_t to, bool escaped)
{
    bool inside = p->inside;
    int64_t depth = p->depth;
    for (; at < to; at++) {
        char c = s->data[at];
        if (escaped) {
            escaped = false;
            if (c == '"' || c == '\\') continue;
        }
        if (c == '\\') {
            escaped = true;
        } else if (c == '"') {
            inside = !inside;
        } else if (!inside) {
            if (depth == 0 && (c == '{' || c == ']')) return at;
            depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        }
    }
    return NOWHERE;
}

/* Steps 1 and 2. Returns where parsing begins. */
static size_t find_start(shared *s, size_t index)
{
    size_t from = begin_of(s, index), to = border_of(s, index);
    bool fits = true;
    bool escaped = index > 0 && is_escaped(s, from, &fits);
    mrd__cj_scan scan = mrd__cj_scan_piece(s->data, from, to, escaped);
    piece *own = &s->pieces[index], *next = own + 1;
    wait_for(&own->state_known);
    next->inside = own->inside != scan.flips;
    next->depth = own->depth + scan.depth[own->inside];
    atomic_store_explicit(&next->state_known, KNOWN, memory_order_release);
    if (index == 0) return from;
    return fits ? first_event(s, own, from, to, escaped) : NOWHERE;
}

static void end_at(shared *s, size_t index, size_t at, bool closed)
{
    s->result.at = at;
    s->result.closed = closed;
    s->pieces[index].end = NOWHERE;
    atomic_store(&s->last, index);
}

/* Step 4: the verdict over a chunk parsed from start to `at`. False: take it back. */
static bool judge(shared *s, size_t index, size_t start, size_t at, mrd__cj_stop stop)
{
    piece *own = &s->pieces[index];
    size_t expected = s->from;
    if (index > 0) {
        wait_for(&s->pieces[index - 1].accepted);
        expected = s->pieces[index - 1].end;
    }
    bool keep = true;
    if (expected == NOWHERE) {
        own->end = NOWHERE;
        keep = false;
    } else if (start == NOWHERE) {
        /* Inside a long event: the next one must not begin here either. */
        own->end = expected;
        if (expected < border_of(s, index)) end_at(s, index, expected, false);
    } else if (start != expected) {
        end_at(s, index, expected, false);
        keep = false;
    } else if (stop != MRD__CJ_REACHED) {
        end_at(s, index, at, stop == MRD__CJ_CLOSED);
    } else {
        own->end = at;
    }
    if (!keep && start != NOWHERE && s->data[start] == '{') atomic_fetch_add(&s->rejected, 1);
    return keep;
}

static void report(shared *s, size_t index, uint64_t *last)
{
    const mrd__cj_parallel_options *options = s->options;
    uint64_t now = mrd__monotonic_ns();
    if (options->progress == NULL || now - *last < MRD__CJ_PROGRESS_NS) return;
    *last = now;
    if (options->progress(options->progress_ctx, options->path, border_of(s, index), s->size))
        return;
    atomic_store(&s->cancelled, true);
}

static void work(void *ctx, uint32_t worker)
{
    shared *s = ctx;
    mrd__cj_core *core = mrd__new(mrd__cj_core);
    core->fast = true;
    uint64_t reported = mrd__monotonic_ns();
    for (;;) {
        size_t index = atomic_fetch_add(&s->next, 1);
        if (index >= s->count) break;
        bool wanted = index <= atomic_load(&s->last) && !atomic_load(&s->cancelled);
        size_t at = NOWHERE, start = NOWHERE;
        mrd__cj_stop stop = MRD__CJ_REACHED;
        if (wanted) {
            start = at = find_start(s, index);
            if (core->out.shard == NULL)
                core->out.shard = mrd__writer_shard(s->options->writer, s->options->file);
            mrd__shard_chunk(core->out.shard, s->options->first_order + index);
            if (start != NOWHERE)
                stop = mrd__cj_read_elements(core, s->data, s->size, &at, border_of(s, index));
            if (!judge(s, index, start, at, stop)) mrd__shard_discard(core->out.shard);
        } else {
            /* Nobody reads on, but the ones behind wait. */
            s->pieces[index].end = NOWHERE;
            atomic_store_explicit(&s->pieces[index + 1].state_known, KNOWN, memory_order_release);
        }
        atomic_store_explicit(&s->pieces[index].accepted, KNOWN, memory_order_release);
        if (worker == 0) report(s, index, &reported);
    }
    mrd__cj_core_reset(core);
    mrd__free(core);
}

mrd__cj_parallel_result mrd__cj_read_parallel(const mrd__cj_parallel_options *options,
                                              const char *data, size_t size, size_t at)
{
    mrd__assert(options->chunk > 0 && at <= size);
    shared s = {.options = options, .data = data, .size = size, .from = at};
    s.count = (size - at + options->chunk - 1) / options->chunk;
    s.result.at = at;
    s.result.next_order = options->first_order + s.count;
    if (s.count == 0) return s.result;
    s.pieces = mrd__new_array(piece, s.count + 1);
    atomic_store(&s.pieces[0].state_known, KNOWN);
    atomic_store(&s.last, s.count - 1);
    uint32_t workers = options->threads < s.count ? options->threads : (uint32_t)s.count;
    mrd__parallel(workers, work, &s);
    s.result.cancelled = atomic_load(&s.cancelled);
    s.result.rejected = atomic_load(&s.rejected);
    mrd__free(s.pieces);
    return s.result;
}
