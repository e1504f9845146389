/* Chunks of the events on all cores.
 *
 *   bytes    ...},{"ph":..},{"ph":  |  ..},{"ph":..},{"ph":..}  |  ,{"ph":..}] ...
 *   chunk            i             border         i+1          border
 *
 * A worker takes the next chunk and
 *   1. scans it for what it does to quote state and depth (scan.c): with the scans of the chunks
 *      before it that gives the state at its border. Where another worker owes one of those, this
 *      one makes it too; nobody waits for anybody.
 *   2. finds the first event that begins in it (depth 0, outside strings: exact, not a guess) and
 *      parses from there to the first event that begins behind it.
 *
 * When all are done, the chunks are walked in order: one is accepted when the one before ended
 * exactly where it begins. By induction accepted chunks are what the serial reader would read. The
 * first chunk that does not fit, or that met an error, the end of the array or the end of the text,
 * ends it; chunks behind that are taken back, and the serial reader goes on there. */
#include "ingest/chrome_json/parallel.h"
#include "base/assert.h"
#include "ingest/chrome_json/fast.h"
#include "ingest/chrome_json/limits.h"
#include "ingest/chrome_json/reader.h"

#include <stdatomic.h>

#define NOWHERE SIZE_MAX

/* State at the first byte of a chunk. */
enum {
    UNKNOWN,
    OUTSIDE,
    INSIDE
}; /* of a string */

typedef struct piece {
    atomic_llong depth; /* known with state */
    atomic_int state;
    bool read;
    mrd__cj_stop stop;
    size_t start, end; /* where parsing began (NOWHERE: no event begins here) and ended */
} piece;

typedef struct shared {
    const mrd__cj_parallel_options *options;
    const char *data;
    size_t size, from, count;
    piece *pieces;
    mrd__shard **shards; /* by worker, NULL where it got no chunk */
    atomic_size_t next;
    atomic_size_t last; /* chunks above are not wanted */
    atomic_bool cancelled;
} shared;

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
    bool inside = atomic_load(&p->state) == INSIDE;
    int64_t depth = atomic_load(&p->depth);
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

/* Make the state at the end of a chunk whose own is known the state of the next. */
static void pass_state(shared *s, size_t index)
{
    if (index + 1 >= s->count) return;
    piece *own = &s->pieces[index], *next = own + 1;
    bool fits, escaped = index > 0 && is_escaped(s, begin_of(s, index), &fits);
    mrd__cj_scan scan =
        mrd__cj_scan_piece(s->data, begin_of(s, index), border_of(s, index), escaped);
    bool inside = atomic_load_explicit(&own->state, memory_order_acquire) == INSIDE;
    atomic_store(&next->depth, atomic_load(&own->depth) + scan.depth[inside]);
    int state = inside != scan.flips ? INSIDE : OUTSIDE;
    atomic_store_explicit(&next->state, state, memory_order_release);
}

static bool is_known(const shared *s, size_t index)
{
    return atomic_load_explicit(&s->pieces[index].state, memory_order_acquire) != UNKNOWN;
}

/* Where parsing of a chunk begins. */
static size_t find_start(shared *s, size_t index)
{
    size_t known = index;
    while (!is_known(s, known))
        known--;
    for (; known < index; known++)
        pass_state(s, known);
    if (index + 1 < s->count && !is_known(s, index + 1)) pass_state(s, index);
    if (index == 0) return s->from;
    bool fits, escaped = is_escaped(s, begin_of(s, index), &fits);
    if (!fits) return NOWHERE;
    return first_event(s, &s->pieces[index], begin_of(s, index), border_of(s, index), escaped);
}

static void lower_last(shared *s, size_t index)
{
    size_t last = atomic_load(&s->last);
    while (index < last && !atomic_compare_exchange_weak(&s->last, &last, index)) {
    }
}

static void read_chunk(shared *s, mrd__cj_core *core, size_t index)
{
    piece *own = &s->pieces[index];
    size_t at = own->start = find_start(s, index);
    mrd__shard_chunk(core->out.shard, s->options->first_order + index);
    own->read = true;
    own->stop = MRD__CJ_REACHED;
    if (at != NOWHERE)
        own->stop = mrd__cj_read_elements(core, s->data, s->size, &at, border_of(s, index));
    own->end = at;
    if (own->stop != MRD__CJ_REACHED) lower_last(s, index);
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
        if (index > atomic_load(&s->last) || atomic_load(&s->cancelled)) break;
        if (core->out.shard == NULL) {
            core->out.shard = mrd__writer_shard(s->options->writer, s->options->file);
            mrd__shard_keep_history(core->out.shard);
            s->shards[worker] = core->out.shard;
        }
        read_chunk(s, core, index);
        if (worker == 0) report(s, index, &reported);
    }
    mrd__cj_core_reset(core);
    mrd__free(core);
}

/* Walk the chunks in order; returns how many are accepted. */
static size_t judge(const shared *s, mrd__cj_parallel_result *result)
{
    size_t expected = s->from;
    for (size_t i = 0; i < s->count; i++) {
        const piece *p = &s->pieces[i];
        result->at = expected;
        /* No event begins here: the next one must not either. */
        if (p->read && p->start == NOWHERE && expected >= border_of(s, i)) continue;
        if (!p->read || p->start != expected) return i;
        result->at = expected = p->end;
        result->closed = p->stop == MRD__CJ_CLOSED;
        if (p->stop != MRD__CJ_REACHED) return i + 1;
    }
    return s->count;
}

static void take_back(const shared *s, uint32_t workers, size_t accepted,
                      mrd__cj_parallel_result *result)
{
    for (size_t i = accepted; i < s->count; i++) {
        const piece *p = &s->pieces[i];
        if (p->read && p->start != NOWHERE && s->data[p->start] == '{') result->rejected++;
    }
    for (uint32_t w = 0; w < workers; w++) {
        if (s->shards[w] != NULL)
            mrd__shard_discard_from(s->shards[w], s->options->first_order + accepted, result->at);
    }
}

mrd__cj_parallel_result mrd__cj_read_parallel(const mrd__cj_parallel_options *options,
                                              const char *data, size_t size, size_t at)
{
    mrd__assert(options->chunk > 0 && at <= size);
    shared s = {.options = options, .data = data, .size = size, .from = at};
    s.count = (size - at + options->chunk - 1) / options->chunk;
    mrd__cj_parallel_result result = {.at = at, .next_order = options->first_order + s.count};
    if (s.count == 0) return result;
    uint32_t workers = options->threads < s.count ? options->threads : (uint32_t)s.count;
    s.pieces = mrd__new_array(piece, s.count);
    s.shards = mrd__new_array(mrd__shard *, workers);
    atomic_store(&s.pieces[0].state, OUTSIDE);
    atomic_store(&s.last, s.count - 1);
    mrd__parallel(workers, work, &s);
    result.cancelled = atomic_load(&s.cancelled);
    take_back(&s, workers, judge(&s, &result), &result);
    mrd__free(s.shards);
    mrd__free(s.pieces);
    return result;
}
