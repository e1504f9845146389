/* Chunks of the events on all cores.
 *
 *   bytes    ...},{"ph":..},{"ph":  |  ..},{"ph":..},{"ph":..}  |  ,{"ph":..}] ...
 *   chunk            i             border         i+1          border
 *
 * A worker takes the next chunk, copies it (a mapped page costs more to touch for the first time
 * than to copy), guesses which is the first event that begins in it (guess.c), and parses from
 * there to the first event that begins behind it.
 *
 * When all are done, the chunks are walked in order: one is accepted when the one before ended
 * exactly where it begins. By induction accepted chunks are what the serial reader would read. The
 * first chunk that does not fit, or that met an error, the end of the array or the end of the text,
 * ends it; chunks behind that are taken back, and the serial reader goes on there.
 *
 * Where only a guess was wrong, a second pass goes on from there and knows its borders: a worker
 * first scans its chunk for what it does to quote state and depth (scan.c), and with the scans of
 * the chunks before it has the state at its border. Where another worker owes one of those, this
 * one makes it too; nobody waits for anybody. */
#include "ingest/chrome_json/parallel.h"
#include "base/assert.h"
#include "ingest/chrome_json/fast.h"
#include "ingest/chrome_json/limits.h"
#include "ingest/chrome_json/reader.h"

#include <stdatomic.h>
#include <string.h>

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
    atomic_bool read; /* what follows is there */
    mrd__cj_stop stop;
    size_t start, end; /* where parsing began (NOWHERE: no event begins here) and ended */
} piece;

typedef struct shared {
    const mrd__cj_parallel_options *options;
    uint64_t first_order;
    uint32_t workers;
    bool scans;   /* or guesses; else one worker goes on where it stopped */
    bool guesses; /* where events begin */
    int source;   /* to copy from, -1 */
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

/* A worker: its reader and a copy of the chunk at hand. */
typedef struct hand {
    mrd__cj_core core;
    char *room; /* MRD__CJ_SLACK, a chunk, MRD__CJ_AHEAD, MRD__CJ_SLACK; NULL without a source */
    char *copy; /* the chunk in it, the byte before it, and what fits behind it */
    uint64_t owner; /* index + 1 of that chunk */
    size_t size;
    size_t next; /* where the last chunk with events ended */
} hand;

/* The bytes of a chunk, copied where that is possible. */
static const char *text_of(const shared *s, const hand *h, size_t index)
{
    return h->owner == index + 1 ? h->copy : s->data + begin_of(s, index);
}

static void fetch(const shared *s, hand *h, size_t index)
{
    h->owner = 0;
    if (h->room == NULL) return;
    size_t from = begin_of(s, index), to = border_of(s, index);
    to = s->size - to < MRD__CJ_AHEAD ? s->size : to + MRD__CJ_AHEAD;
    h->size = to - from;
    size_t before = from > 0;
    h->copy = h->room + MRD__CJ_SLACK;
    if (!mrd__map_read(s->source, from - before, h->size + before, h->copy - before)) return;
    memset(h->copy + h->size, 0, MRD__CJ_SLACK);
    h->owner = index + 1;
}

/* Does a backslash take the meaning of a chunk's first byte? *fits is false when the run of
 * backslashes before it is too long to be counted. */
static bool is_escaped(const shared *s, const hand *h, size_t index, bool *fits)
{
    size_t at = begin_of(s, index);
    *fits = true;
    if (at == s->from) return false;
    if (h->owner == index + 1 && h->copy[-1] != '\\') return false; /* the map stays untouched */
    size_t run = 0;
    while (run < at - s->from && run < MRD__CJ_MAX_BACKSLASHES && s->data[at - run - 1] == '\\')
        run++;
    *fits = run < MRD__CJ_MAX_BACKSLASHES;
    return run & 1;
}

/* The first '{' or ']' between elements in the text of a chunk, NOWHERE without one. */
static size_t first_event(const piece *p, const char *text, size_t size, bool escaped)
{
    bool inside = atomic_load(&p->state) == INSIDE;
    int64_t depth = atomic_load(&p->depth);
    for (size_t at = 0; at < size; at++) {
        char c = text[at];
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
static void pass_state(shared *s, const hand *h, size_t index)
{
    if (index + 1 >= s->count) return;
    piece *own = &s->pieces[index], *next = own + 1;
    bool fits, escaped = is_escaped(s, h, index, &fits);
    mrd__cj_scan scan = mrd__cj_scan_piece(text_of(s, h, index), 0,
                                           border_of(s, index) - begin_of(s, index), escaped);
    bool inside = atomic_load_explicit(&own->state, memory_order_acquire) == INSIDE;
    atomic_store(&next->depth, atomic_load(&own->depth) + scan.depth[inside]);
    int state = inside != scan.flips ? INSIDE : OUTSIDE;
    atomic_store_explicit(&next->state, state, memory_order_release);
}

static bool is_known(const shared *s, size_t index)
{
    return atomic_load_explicit(&s->pieces[index].state, memory_order_acquire) != UNKNOWN;
}

/* The last byte before a chunk that is no blank; a long run of them is none. */
static char byte_before(const shared *s, const hand *h, size_t index)
{
    size_t at = begin_of(s, index);
    if (h->owner == index + 1 && h->copy[-1] > ' ')
        return h->copy[-1]; /* the map stays untouched */
    for (size_t n = 0; n < MRD__CJ_MAX_BLANKS && at > s->from; n++)
        if (s->data[--at] > ' ') return s->data[at];
    return ' ';
}

static size_t guess_start(const shared *s, const hand *h, size_t index)
{
    size_t begin = begin_of(s, index), chunk = border_of(s, index) - begin;
    char before = byte_before(s, h, index);
    size_t at = NOWHERE;
    if (h->owner == index + 1) at = mrd__cj_guess_event(h->copy, h->size, chunk, before);
    if (at == NOWHERE) { /* its "ph" may stand further behind than what was copied */
        size_t size = s->size - begin;
        if (size > chunk + MRD__CJ_GUESS_AHEAD) size = chunk + MRD__CJ_GUESS_AHEAD;
        at = mrd__cj_guess_event(s->data + begin, size, chunk, before);
    }
    return at == NOWHERE ? NOWHERE : begin + at;
}

/* Where parsing of a chunk begins. One worker alone goes on where it stopped. */
static size_t find_start(shared *s, const hand *h, size_t index)
{
    if (index == 0) {
        if (s->scans && !s->guesses && s->count > 1) pass_state(s, h, 0);
        return s->from;
    }
    if (s->guesses) return guess_start(s, h, index);
    if (!s->scans) return h->next < border_of(s, index) ? h->next : NOWHERE;
    size_t known = index;
    while (!is_known(s, known))
        known--;
    for (; known < index; known++)
        pass_state(s, h, known);
    if (index + 1 < s->count && !is_known(s, index + 1)) pass_state(s, h, index);
    bool fits, escaped = is_escaped(s, h, index, &fits);
    if (!fits) return NOWHERE;
    size_t at = first_event(&s->pieces[index], text_of(s, h, index),
                            border_of(s, index) - begin_of(s, index), escaped);
    return at == NOWHERE ? NOWHERE : begin_of(s, index) + at;
}

static void lower_last(shared *s, size_t index)
{
    size_t last = atomic_load(&s->last);
    while (index < last && !atomic_compare_exchange_weak(&s->last, &last, index)) {
    }
}

/* Elements from own->start to the chunk's border. */
static mrd__cj_stop read_events(const shared *s, hand *h, size_t index, size_t *at)
{
    mrd__cj_core *core = &h->core;
    size_t begin = begin_of(s, index), border = border_of(s, index);
    if (h->owner == index + 1) {
        size_t own = *at - begin;
        core->base = begin;
        mrd__cj_stop stop = mrd__cj_read_elements(core, h->copy, h->size, &own, border - begin);
        core->base = 0;
        *at = begin + own;
        if (stop != MRD__CJ_WANT_MORE || begin + h->size == s->size) return stop;
    }
    return mrd__cj_read_elements(core, s->data, s->size, at, border);
}

/* A wrong guess: all that is behind it is worthless. Seen by who reads the later of both. */
static bool misfit(piece *one, piece *next)
{
    return atomic_load(&one->read) && atomic_load(&next->read) && one->start != NOWHERE &&
           next->start != NOWHERE && one->end != next->start;
}

static void read_chunk(shared *s, hand *h, size_t index)
{
    piece *own = &s->pieces[index];
    fetch(s, h, index);
    size_t at = own->start = find_start(s, h, index);
    mrd__shard_chunk(h->core.out.shard, s->first_order + index);
    own->stop = MRD__CJ_REACHED;
    if (at != NOWHERE) {
        own->stop = read_events(s, h, index, &at);
        h->next = at;
    }
    own->end = at;
    atomic_store(&own->read, true);
    if (own->stop != MRD__CJ_REACHED) lower_last(s, index);
    if (s->guesses && index > 0 && misfit(own - 1, own)) lower_last(s, index - 1);
    if (s->guesses && index + 1 < s->count && misfit(own, own + 1)) lower_last(s, index);
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
    hand *h = mrd__new(hand);
    size_t room = s->options->chunk + MRD__CJ_AHEAD + 2 * (size_t)MRD__CJ_SLACK;
    if (s->source >= 0) h->room = mrd__pages_alloc(room);
    h->core.fast = true;
    uint64_t reported = mrd__monotonic_ns();
    for (;;) {
        size_t index = atomic_fetch_add(&s->next, 1);
        if (index > atomic_load(&s->last) || atomic_load(&s->cancelled)) break;
        if (h->core.out.shard == NULL) {
            h->core.out.shard = mrd__writer_shard(s->options->writer, s->options->file);
            mrd__shard_keep_history(h->core.out.shard);
            s->shards[worker] = h->core.out.shard;
        }
        read_chunk(s, h, index);
        if (worker == 0) report(s, index, &reported);
    }
    mrd__cj_core_reset(&h->core);
    mrd__pages_free(h->room, room);
    mrd__free(h);
}

/* Walk the chunks in order; returns how many are accepted. *ended: the last of them was the last
 * that can be read. */
static size_t judge(const shared *s, mrd__cj_parallel_result *result, bool *ended)
{
    size_t expected = s->from;
    *ended = false;
    for (size_t i = 0; i < s->count; i++) {
        const piece *p = &s->pieces[i];
        result->at = expected;
        /* No event begins here: the next one must not either. */
        if (p->read && p->start == NOWHERE && expected >= border_of(s, i)) continue;
        if (!p->read || p->start != expected) return i;
        result->at = expected = p->end;
        result->closed = p->stop == MRD__CJ_CLOSED;
        *ended = p->stop != MRD__CJ_REACHED;
        if (*ended) return i + 1;
    }
    return s->count;
}

static void take_back(const shared *s, size_t accepted, mrd__cj_parallel_result *result)
{
    for (size_t i = accepted; i < s->count; i++) {
        const piece *p = &s->pieces[i];
        if (p->read && p->start != NOWHERE && s->data[p->start] == '{') result->rejected++;
    }
    for (uint32_t w = 0; w < s->workers; w++) {
        if (s->shards[w] != NULL)
            mrd__shard_discard_from(s->shards[w], s->first_order + accepted, result->at);
    }
}

/* All chunks from result->at on. False when it ended for a wrong guess. */
static bool read_chunks(shared *s, bool guesses, mrd__cj_parallel_result *result)
{
    const mrd__cj_parallel_options *options = s->options;
    s->from = result->at;
    s->count = (s->size - s->from + options->chunk - 1) / options->chunk;
    if (s->count == 0) return true;
    s->first_order = result->next_order;
    result->next_order += s->count;
    s->workers = options->threads < s->count ? options->threads : (uint32_t)s->count;
    s->scans = s->workers > 1 || options->borders != MRD__CJ_BORDERS_AUTO;
    s->guesses = guesses && s->scans;
    s->pieces = mrd__new_array(piece, s->count);
    s->shards = mrd__new_array(mrd__shard *, s->workers);
    atomic_store(&s->pieces[0].state, OUTSIDE);
    atomic_store(&s->next, 0);
    atomic_store(&s->last, s->count - 1);
    mrd__parallel(s->workers, work, s);
    result->cancelled = atomic_load(&s->cancelled);
    bool ended;
    size_t accepted = judge(s, result, &ended);
    take_back(s, accepted, result);
    mrd__free(s->shards);
    mrd__free(s->pieces);
    return !s->guesses || ended || accepted == s->count || result->cancelled;
}

mrd__cj_parallel_result mrd__cj_read_parallel(const mrd__cj_parallel_options *options,
                                              const char *data, size_t size, size_t at)
{
    mrd__assert(options->chunk > 0 && at <= size);
    shared s = {.options = options, .data = data, .size = size};
    mrd__cj_parallel_result result = {.at = at, .next_order = options->first_order};
    s.source = options->map != NULL ? mrd__map_source(options->map) : -1;
    bool guesses = options->borders != MRD__CJ_BORDERS_SCAN;
    if (!read_chunks(&s, guesses, &result)) (void)read_chunks(&s, false, &result);
    mrd__map_source_close(s.source);
    return result;
}
