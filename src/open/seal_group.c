/* Second step of sealing: every fact finds its group (one per track to be) and moves there.
 *
 * The facts are cut into spans of whole chunks, one a worker. First each span counts its facts per
 * group; then the groups are put in display order, each span knows where its part of each group
 * begins, and the facts move, in file order, into one array:
 *
 *   spans    [ chunk chunk | chunk chunk ]         facts as read, any track
 *   items    [ g0: span0 span1 | g1: span0 span1 | ...]
 *
 * Groups of threads and instants are numbered by slot; counters and async keys are found by a hash
 * table of the span. The pages of what was moved serve the steps that follow. */
#include "open/sealing_group.h"

#include "base/assert.h"

#include <string.h>

/* ---- Counting ---- */

static uint32_t dynamic_group(mrd__span *span, const mrd__group_key *key, uint32_t order)
{
    if (span->keys.count * 2 >= span->key_size) mrd__span_grow(span);
    size_t mask = span->key_size - 1;
    size_t at = mrd__group_key_hash(key) & mask;
    for (; span->key_slots[at] != 0; at = (at + 1) & mask) {
        uint32_t index = span->key_slots[at] - 1;
        if (memcmp(&span->keys.data[index].key, key, sizeof *key) == 0) return index;
    }
    mrd__vec_push(&span->keys, ((mrd__span_group){.key = *key, .first_order = order}));
    span->key_slots[at] = (uint32_t)span->keys.count;
    return (uint32_t)span->keys.count - 1;
}

typedef struct counting {
    mrd__sealing *seal;
    mrd__span *span;
    const uint32_t *strings;
    const mrd__thread_ref *threads;
    const mrd__joined *chunk;
    int64_t last_slice, last_instant, last_counter;
} counting;

static void note_time(int64_t ts, int64_t *last, bool *sorted, int64_t *first, bool *any)
{
    if (!*any) {
        *any = true;
        *first = ts;
    } else if (ts < *last) {
        *sorted = false;
    }
    *last = ts;
}

static void take_flow(counting *c, const mrd__fact *fact, uint32_t order)
{
    mrd__flow_point point = {.ts = fact->ts,
                             .category = c->strings[fact->category],
                             .name = c->strings[fact->name],
                             .thread = c->threads[fact->thread].thread,
                             .order = order,
                             .slice = MRD__NONE,
                             .phase = (uint8_t)fact->phase};
    if (fact->extra != 0)
        point.id = c->strings[mrd__shard_side_of(c->chunk->shard, fact->extra)->id];
    if ((fact->flags & MRD__BIND_ENCLOSING) != 0) point.flags |= MRD__POINT_ENCLOSING;
    mrd__points_push(&c->span->points, point);
}

/* One end of an arrow that is told whole. */
static void take_half(counting *c, const mrd__fact *fact, const mrd__side *side, uint32_t order)
{
    const mrd__flow_half *half = &c->chunk->shard->halves.data[side->bind_id - 1];
    mrd__flow_point point = {.category = c->strings[half->category],
                             .name = c->strings[half->name],
                             .id = c->strings[half->id],
                             .pair = half->pair,
                             .thread = MRD__NONE,
                             .order = order,
                             .slice = MRD__NONE,
                             .flags = MRD__POINT_SLICE};
    if (__builtin_add_overflow(fact->ts, half->delta_ns, &point.ts))
        point.ts = half->delta_ns < 0 ? INT64_MIN : INT64_MAX;
    point.phase = (side->flags & MRD__FLOW_OUT) != 0 ? MRD__FLOW_START : MRD__FLOW_END;
    mrd__points_push(&c->span->points, point);
}

static void take_one_binding(counting *c, const mrd__fact *fact, const mrd__side *side,
                             uint32_t order)
{
    if ((side->flags & MRD__FLOW_HALF) != 0) {
        take_half(c, fact, side, order);
        return;
    }
    if ((side->flags & MRD__FLOW_CHAIN) != 0) {
        bool last = (side->flags & MRD__FLOW_LAST) != 0;
        mrd__flow_point point = {.ts = fact->ts,
                                 .id = c->strings[side->bind_id],
                                 .thread = MRD__NONE,
                                 .order = order,
                                 .slice = MRD__NONE,
                                 .phase = last ? MRD__FLOW_END : MRD__FLOW_STEP,
                                 .flags = MRD__POINT_SLICE | MRD__POINT_CHAIN};
        mrd__points_push(&c->span->points, point);
        return;
    }
    uint32_t both = side->flags & (MRD__FLOW_IN | MRD__FLOW_OUT);
    if (both == 0) {
        mrd__found_at(&c->span->found, MRD__LOSS_FLOW_WITHOUT_DIRECTION, order,
                      c->strings[fact->name], -1, 0);
        return;
    }
    mrd__flow_point point = {.ts = fact->ts,
                             .id = c->strings[side->bind_id],
                             .thread = MRD__NONE,
                             .order = order,
                             .slice = MRD__NONE,
                             .flags = MRD__POINT_SLICE};
    point.phase = both == MRD__FLOW_OUT  ? MRD__FLOW_START
                  : both == MRD__FLOW_IN ? MRD__FLOW_END
                                         : MRD__FLOW_STEP;
    mrd__points_push(&c->span->points, point);
}

/* A slice with bind_id is a point of its own for each. */
static void take_binding(counting *c, const mrd__fact *fact, uint32_t order)
{
    const mrd__side *side;
    for (uint32_t at = fact->extra; at != 0; at = side->next) {
        side = mrd__shard_side_of(c->chunk->shard, at);
        if (side->bind_id != 0) take_one_binding(c, fact, side, order);
    }
}

static uint32_t async_group(counting *c, const mrd__fact *fact, uint32_t process, uint32_t order)
{
    mrd__group_key key = {.kind = MRD__TRACK_ASYNC,
                          .file = c->chunk->file,
                          .process = MRD__NONE,
                          .thread = MRD__NONE,
                          .category = c->strings[fact->category]};
    bool old = fact->phase >= MRD__OLD_ASYNC_START && fact->phase <= MRD__OLD_ASYNC_FINISH;
    if (fact->extra != 0) {
        const mrd__side *side = mrd__shard_side_of(c->chunk->shard, fact->extra);
        key.id = c->strings[side->id];
        key.scope = c->strings[side->scope];
        if ((side->flags & MRD__ID_LOCAL) != 0) key.process = process;
        if ((side->flags & MRD__ID_THREAD) != 0) key.thread = c->threads[fact->thread].thread;
        take_binding(c, fact, order);
    }
    if (old) {
        key.name = c->strings[fact->name];
        key.process = process;
        key.old = 1;
    }
    return dynamic_group(c->span, &key, order);
}

/* Group of a fact on a described track. */
static uint32_t own_group(counting *c, const mrd__fact *fact, uint32_t slot, uint32_t order)
{
    mrd__span *span = c->span;
    const mrd__own_track *own = &c->seal->own_tracks.data[slot];
    if (own->process != MRD__NONE) span->process_used[own->process] = 1;
    if (own->thread != MRD__NONE) span->thread_used[own->thread] = 1;
    uint32_t first = mrd__fixed_own(c->seal) + 3 * slot;
    switch ((mrd__phase)fact->phase) {
    case MRD__COMPLETE:
    case MRD__BEGIN:
        note_time(fact->ts, &c->last_slice, &span->slices.sorted, &span->slices.first,
                  &span->slices.any);
        take_binding(c, fact, order);
        return first;
    case MRD__END:
        take_binding(c, fact, order);
        return first;
    case MRD__INSTANT:
        note_time(fact->ts, &c->last_instant, &span->instants.sorted, &span->instants.first,
                  &span->instants.any);
        return first + 1;
    case MRD__COUNTER:
        note_time(fact->ts, &c->last_counter, &span->counters.sorted, &span->counters.first,
                  &span->counters.any);
        return first + 2;
    default:
        return MRD__NONE;
    }
}

/* A global instant that names no process makes none. */
static bool belongs_to_nobody(const mrd__sealing *seal, const mrd__fact *fact, uint32_t process)
{
    return fact->phase == MRD__INSTANT && (fact->flags & MRD__SCOPE_MASK) == MRD__SCOPE_GLOBAL &&
           seal->processes.data[process].pid.kind == MRD__IDENT_NONE;
}

/* Group of a fact, counted from 0 over the fixed and the span's own; MRD__NONE: not an item. */
static uint32_t group_of(counting *c, mrd__fact *fact, uint32_t order)
{
    mrd__span *span = c->span;
    const mrd__sealing *seal = c->seal;
    if (fact->phase == MRD__NO_FACT) return MRD__NONE;
    if (c->threads[fact->thread].own != MRD__NONE)
        return own_group(c, fact, c->threads[fact->thread].own, order);
    uint32_t thread = c->threads[fact->thread].thread;
    uint32_t process = seal->threads.data[thread].process;
    if (c->threads[fact->thread].named) span->thread_used[thread] = 1;
    if (!belongs_to_nobody(seal, fact, process)) span->process_used[process] = 1;
    switch ((mrd__phase)fact->phase) {
    case MRD__COMPLETE:
    case MRD__BEGIN:
        note_time(fact->ts, &c->last_slice, &span->slices.sorted, &span->slices.first,
                  &span->slices.any);
        if (fact->extra != 0) take_binding(c, fact, order);
        span->thread_used[thread] = 1;
        return thread;
    case MRD__END:
        if (fact->extra != 0) take_binding(c, fact, order);
        span->thread_used[thread] = 1;
        return thread;
    case MRD__INSTANT:
        note_time(fact->ts, &c->last_instant, &span->instants.sorted, &span->instants.first,
                  &span->instants.any);
        if ((fact->flags & MRD__SCOPE_MASK) == MRD__SCOPE_GLOBAL) return mrd__fixed_own(seal) - 1;
        if ((fact->flags & MRD__SCOPE_MASK) == MRD__SCOPE_PROCESS)
            return 2 * (uint32_t)seal->threads.count + process;
        span->thread_used[thread] = 1;
        return (uint32_t)seal->threads.count + thread;
    case MRD__COUNTER: {
        note_time(fact->ts, &c->last_counter, &span->counters.sorted, &span->counters.first,
                  &span->counters.any);
        mrd__group_key key = {.kind = MRD__TRACK_COUNTER,
                              .file = c->chunk->file,
                              .process = process,
                              .thread = c->threads[fact->thread].named ? thread : MRD__NONE,
                              .name = c->strings[fact->name],
                              .id = c->strings[fact->extra]};
        return span->fixed + dynamic_group(span, &key, order);
    }
    case MRD__ASYNC_BEGIN:
    case MRD__ASYNC_INSTANT:
    case MRD__OLD_ASYNC_START:
    case MRD__OLD_ASYNC_STEP:
        note_time(fact->ts, &c->last_slice, &span->slices.sorted, &span->slices.first,
                  &span->slices.any);
        return span->fixed + async_group(c, fact, process, order);
    case MRD__ASYNC_END:
    case MRD__OLD_ASYNC_FINISH:
        return span->fixed + async_group(c, fact, process, order);
    default:
        return MRD__NONE;
    }
}

static void take_meta(counting *c, const mrd__fact *fact, uint32_t order)
{
    uint32_t thread = c->threads[fact->thread].thread;
    if (fact->phase == MRD__THREAD_NAME || fact->phase == MRD__THREAD_SORT)
        c->span->thread_used[thread] = 1;
    mrd__meta meta = {.order = order,
                      .phase = (uint8_t)fact->phase,
                      .thread = thread,
                      .name = c->strings[fact->name],
                      .value = fact->dur};
    mrd__vec_push(&c->span->metas, meta);
}

static void take_other(counting *c, const mrd__fact *fact, uint32_t order)
{
    if (fact->phase >= MRD__FLOW_START && fact->phase <= MRD__FLOW_END) {
        c->span->thread_used[c->threads[fact->thread].thread] = 1;
        take_flow(c, fact, order);
    } else if (fact->phase >= MRD__PROCESS_NAME && fact->phase <= MRD__THREAD_SORT) {
        take_meta(c, fact, order);
    }
}

/* An end that does not fit int64 cannot be placed. */
static bool overflows(const mrd__fact *fact)
{
    int64_t end;
    return fact->phase == MRD__COMPLETE && fact->dur > 0 &&
           __builtin_add_overflow(fact->ts, fact->dur, &end);
}

static uint32_t carries_flow(const counting *c, const mrd__fact *fact)
{
    if (fact->extra == 0 || fact->phase == MRD__COUNTER) return 0;
    const mrd__side *side = mrd__shard_side_of(c->chunk->shard, fact->extra);
    return side->bind_id != 0 || side->next != 0;
}

static void count_chunk(counting *c)
{
    mrd__span *span = c->span;
    const mrd__joined *chunk = c->chunk;
    for (uint64_t i = chunk->first; i < chunk->end; i++) {
        mrd__fact *fact = mrd__shard_fact(chunk->shard, i);
        uint32_t order = chunk->base + (uint32_t)(i - chunk->first);
        if (overflows(fact)) {
            int64_t place = (fact->flags & MRD__ARGS_OWNED) != 0 ? -1 : (int64_t)fact->args - 1;
            mrd__found_at(&span->found, MRD__LOSS_TIME_OVERFLOW, order, c->strings[fact->name],
                          place, 0);
            fact->thread = MRD__NONE;
            continue;
        }
        uint32_t group = group_of(c, fact, order);
        if (group == MRD__NONE) {
            take_other(c, fact, order);
        } else if (group < span->fixed) {
            span->count[group]++;
        } else {
            span->keys.data[group - span->fixed].count++;
            if (span->keys.data[group - span->fixed].count == 1)
                span->keys.data[group - span->fixed].process =
                    c->seal->threads.data[c->threads[fact->thread].thread].process;
        }
        fact->thread = group;
        fact->extra = carries_flow(c, fact); /* the side records go before the facts move */
    }
}

void mrd__span_count(mrd__sealing *seal, mrd__span *span)
{
    counting c = {.seal = seal, .span = span};
    for (size_t i = span->first; i < span->end; i++) {
        c.chunk = &seal->chunks.data[i];
        c.strings = seal->string_map[c.chunk->shard_index];
        c.threads = seal->thread_map[c.chunk->shard_index];
        count_chunk(&c);
    }
    span->slices.last = c.last_slice;
    span->instants.last = c.last_instant;
    span->counters.last = c.last_counter;
}

/* ---- Moving ---- */

static void move_fact(const mrd__sealing *seal, const mrd__joined *chunk, const mrd__fact *fact,
                      uint32_t order, mrd__item *item)
{
    const uint32_t *strings = seal->string_map[chunk->shard_index];
    item->ts = fact->ts;
    item->dur = fact->dur;
    item->name = strings[fact->name];
    item->category = strings[fact->category];
    item->order = order;
    item->phase = (uint8_t)fact->phase;
    item->flags = 0;
    item->marks = 0;
    item->args = 0;
    if (fact->args != 0) {
        uint32_t source = chunk->file;
        uint64_t at = fact->args;
        if ((fact->flags & MRD__ARGS_OWNED) != 0) {
            source =
                MRD__ARGS_BLOB | (seal->blob_base[chunk->shard_index] + (uint32_t)((at - 1) >> 32));
            at = ((at - 1) & UINT32_MAX) + 1;
        }
        item->args = mrd__args_make(source, at);
        if ((fact->flags & MRD__ARGS_PLACE) != 0) item->marks |= MRD__ITEM_PLACE;
    }
    if (fact->extra != 0) item->marks |= MRD__ITEM_FLOW;
}

void mrd__span_move(mrd__sealing *seal, mrd__span *span)
{
    for (size_t c = span->first; c < span->end; c++) {
        const mrd__joined *chunk = &seal->chunks.data[c];
        for (uint64_t i = chunk->first; i < chunk->end; i++) {
            const mrd__fact *fact = mrd__shard_fact(chunk->shard, i);
            if (fact->thread == MRD__NONE) continue;
            uint64_t *cursor = fact->thread < span->fixed
                                   ? &span->cursor[fact->thread]
                                   : &span->keys.data[fact->thread - span->fixed].cursor;
            uint32_t order = chunk->base + (uint32_t)(i - chunk->first);
            move_fact(seal, chunk, fact, order, &seal->items[(*cursor)++]);
        }
    }
}
