/* Flows.
 *
 * Binding. A point belongs to the innermost slice of its thread that encloses its time (half-open;
 * a slice without duration encloses its own time). An f without bp "e" belongs to the next slice
 * that starts at its time or later. A t, and an f with bp "e", that nothing encloses falls back to
 * the next slice as well; an s does not. What finds nothing is flow_unbound.
 *
 * Joining. Points of one (file, category, name, id), in time order:
 *
 *   s  starts a flow, whatever went before      s1 -> t -> f    chain: the t passes it on
 *   t  ends one arrow and starts the next       s1 -> f, s1 -> f    fan-out: f passes nothing on
 *   f  ends an arrow                            s2 starts anew
 *
 * Points before the first s belong to it all the same (clocks of the two sides may differ): the
 * arrow keeps its direction and is counted as flow_backwards. Without any s they are
 * flow_step_without_start and flow_end_without_start; an s that nothing follows is
 * flow_start_without_end.
 *
 * Chains (Perfetto's flow ids) know no s: the first use of an id starts it, each further one takes
 * it over from the one before, a terminating one ends it, and a later use starts anew. */
#include "pairing/flows.h"

#include <string.h>

/* ---- Binding ---- */

static int64_t time_at(const double *column, uint64_t slice)
{
    int64_t value;
    memcpy(&value, &column[slice], sizeof value);
    return value;
}

static bool encloses(const mrd__flow_track *track, uint32_t slice, int64_t ts)
{
    int64_t start = time_at(track->start, slice);
    int64_t end = time_at(track->end, slice);
    return start <= ts && (ts < end || (start == end && start == ts));
}

/* Latest started enclosing slice over all row groups: one search a row. */
static uint32_t enclosing_in_rows(const mrd__flow_track *track, int64_t ts)
{
    uint32_t best = MRD__NONE;
    for (uint32_t row = 0; row < track->rows; row++) {
        uint64_t low = track->row_first[row];
        uint64_t high = track->row_first[row + 1];
        while (low < high) {
            uint64_t middle = low + (high - low) / 2;
            if (time_at(track->start, middle) <= ts)
                low = middle + 1;
            else
                high = middle;
        }
        if (low == track->row_first[row]) continue;
        uint32_t slice = (uint32_t)low - 1;
        if (!encloses(track, slice, ts)) continue;
        if (best == MRD__NONE || time_at(track->start, slice) >= time_at(track->start, best))
            best = slice;
    }
    return best;
}

static void bind_point(const mrd__flow_track *track, mrd__flow_point *point, uint32_t begun)
{
    bool next_only = point->phase == MRD__FLOW_END && (point->flags & MRD__POINT_ENCLOSING) == 0;
    uint32_t slice = MRD__NONE;
    if (!next_only && track->spilled) {
        slice = enclosing_in_rows(track, point->ts);
    } else if (!next_only && begun > 0) {
        slice = track->begun[begun - 1];
        while (slice != MRD__NONE && !encloses(track, slice, point->ts))
            slice = track->parent[slice];
    }
    if (slice == MRD__NONE && point->phase != MRD__FLOW_START) {
        /* The first that starts at ts or later; those at ts itself count as begun already. */
        uint32_t next = begun;
        while (next > 0 && time_at(track->start, track->begun[next - 1]) == point->ts)
            next--;
        if (next < track->count) slice = track->begun[next];
    }
    point->slice = slice;
}

void mrd__flows_bind(const mrd__flow_track *track, mrd__flow_point **points, size_t count)
{
    uint32_t begun = 0;
    for (size_t i = 0; i < count; i++) {
        while (begun < track->count && time_at(track->start, track->begun[begun]) <= points[i]->ts)
            begun++;
        if ((points[i]->flags & MRD__POINT_SLICE) == 0) bind_point(track, points[i], begun);
    }
}

/* ---- Joining ---- */

typedef struct key_table {
    uint32_t *slots; /* first point of a key + 1 */
    size_t mask;
    uint32_t *next; /* chain through the points, file order */
    uint32_t *last; /* of a first point: the chain's end */
} key_table;

static bool same_key(const mrd__flow_point *a, const mrd__flow_point *b)
{
    return a->id == b->id && a->name == b->name && a->category == b->category &&
           ((a->flags ^ b->flags) & (MRD__POINT_SLICE | MRD__POINT_CHAIN)) == 0;
}

static uint64_t hash_key(const mrd__flow_point *point, uint32_t file)
{
    uint64_t names = (uint64_t)point->category << 32 | point->name;
    uint64_t kind = point->flags & (MRD__POINT_SLICE | MRD__POINT_CHAIN);
    uint64_t rest = (uint64_t)point->id << 32 | file << 3 | kind;
    return mrd__hash_mix(names, rest);
}

/* Ids of different files do not meet, unless a manifest says so. */
static uint32_t scope_of(const mrd__found *found, const mrd__flow_point *point)
{
    return found->one_scope ? 0 : mrd__found_file(found, point->order);
}

static void chain_points(const mrd__flow_point *points, size_t count, key_table *table,
                         const mrd__found *found)
{
    size_t size = 16;
    while (size < count * 2)
        size *= 2;
    table->mask = size - 1;
    table->slots = mrd__new_array(uint32_t, size);
    table->next = mrd__alloc(count * sizeof *table->next);
    table->last = mrd__alloc(count * sizeof *table->last);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t file = scope_of(found, &points[i]);
        size_t at = hash_key(&points[i], file) & table->mask;
        table->next[i] = MRD__NONE;
        table->last[i] = i;
        while (table->slots[at] != 0) {
            uint32_t first = table->slots[at] - 1;
            if (same_key(&points[first], &points[i]) && scope_of(found, &points[first]) == file) {
                table->next[table->last[first]] = i;
                table->last[first] = i;
                table->last[i] = MRD__NONE; /* not a first point */
                break;
            }
            at = (at + 1) & table->mask;
        }
        if (table->slots[at] == 0) table->slots[at] = i + 1;
    }
}

typedef struct joining {
    const mrd__flow_point *points;
    mrd__flow_links *links;
    mrd__found *found;
    MRD__VEC(mrd__sort_key) order; /* the points of one key by time */
    MRD__VEC(mrd__sort_key) room;
} joining;

static void lose(joining *j, mrd__loss_id id, const mrd__flow_point *point)
{
    mrd__found_at(j->found, id, point->order, point->name, -1, 0);
}

static void link(joining *j, uint32_t from, uint32_t to)
{
    const mrd__flow_point *a = &j->points[from];
    const mrd__flow_point *b = &j->points[to];
    if (a->slice == MRD__NONE || b->slice == MRD__NONE) return;
    mrd__vec_push(j->links, ((mrd__flow_link){from, to}));
    if (b->ts >= a->ts) return;
    int64_t back;
    if (__builtin_sub_overflow(b->ts, a->ts, &back)) back = INT64_MIN;
    mrd__found_at(j->found, MRD__LOSS_FLOW_BACKWARDS, b->order, b->name, -1, back);
}

/* The same of a chain: every point but the first has the one before it as its source. */
static void join_chain(joining *j, const mrd__sort_key *order, size_t count)
{
    const mrd__flow_point *points = j->points;
    uint32_t source = MRD__NONE;
    bool followed = true;
    for (size_t i = 0; i < count; i++) {
        uint32_t at = order[i].index;
        bool last = points[at].phase == MRD__FLOW_END;
        if (points[at].slice == MRD__NONE) {
            lose(j, MRD__LOSS_FLOW_UNBOUND, &points[at]);
            continue;
        }
        if (source != MRD__NONE)
            link(j, source, at);
        else if (last)
            lose(j, MRD__LOSS_FLOW_END_WITHOUT_START, &points[at]);
        followed = last || source != MRD__NONE;
        source = last ? MRD__NONE : at;
    }
    if (!followed) lose(j, MRD__LOSS_FLOW_START_WITHOUT_END, &points[source]);
}

/* The points of one key in time order: see the top of the file. */
static void join_key(joining *j, const mrd__sort_key *order, size_t count)
{
    const mrd__flow_point *points = j->points;
    if (count > 0 && (points[order[0].index].flags & MRD__POINT_CHAIN) != 0) {
        join_chain(j, order, count);
        return;
    }
    size_t first_start = 0;
    while (first_start < count && points[order[first_start].index].phase != MRD__FLOW_START)
        first_start++;
    uint32_t source = first_start < count ? order[first_start].index : MRD__NONE;
    uint32_t start = source;
    uint32_t followers = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t at = order[i].index;
        const mrd__flow_point *point = &points[at];
        if (point->slice == MRD__NONE) lose(j, MRD__LOSS_FLOW_UNBOUND, point);
        if (point->phase == MRD__FLOW_START) {
            if (at == start) continue;
            if (followers == 0) lose(j, MRD__LOSS_FLOW_START_WITHOUT_END, &points[start]);
            followers = 0;
            source = start = at;
            continue;
        }
        if (start == MRD__NONE) {
            lose(j,
                 point->phase == MRD__FLOW_STEP ? MRD__LOSS_FLOW_STEP_WITHOUT_START
                                                : MRD__LOSS_FLOW_END_WITHOUT_START,
                 point);
            continue;
        }
        followers++;
        link(j, source, at);
        if (point->phase == MRD__FLOW_STEP && i > first_start && point->slice != MRD__NONE)
            source = at;
    }
    if (start != MRD__NONE && followers == 0)
        lose(j, MRD__LOSS_FLOW_START_WITHOUT_END, &points[start]);
}

/* At most as many links as points: the room for these is enough. */
static void sort_links(const mrd__flow_point *points, mrd__sort_key *room, mrd__flow_links *links)
{
    if (links->count < 2) return;
    size_t count = links->count;
    mrd__sort_key *keys = room;
    for (size_t i = 0; i < count; i++) {
        const mrd__flow_link *l = &links->data[i];
        keys[i].key = (uint64_t)points[l->from].order << 32 | points[l->to].order;
        keys[i].index = (uint32_t)i;
    }
    keys = mrd__radix_sort(keys, room + count, count);
    for (size_t i = 0; i < count; i++)
        keys[i].key = mrd__sort_signed(points[links->data[keys[i].index].from].ts);
    keys = mrd__radix_sort(keys, keys == room ? room + count : room, count);
    mrd__flow_link *sorted = mrd__alloc(count * sizeof *sorted);
    for (size_t i = 0; i < count; i++)
        sorted[i] = links->data[keys[i].index];
    mrd__free(links->data);
    links->data = sorted;
    links->capacity = count;
}

void mrd__flows_join(const mrd__flow_point *points, size_t count, mrd__sort_key *room,
                     mrd__flow_links *out, mrd__found *found)
{
    if (count == 0) return;
    key_table table;
    mrd__vec_reserve(out, count);
    chain_points(points, count, &table, found);
    joining j = {.points = points, .links = out, .found = found};
    for (uint32_t first = 0; first < count; first++) {
        if (table.last[first] == MRD__NONE) continue;
        j.order.count = 0;
        for (uint32_t i = first; i != MRD__NONE; i = table.next[i])
            mrd__vec_push(&j.order, ((mrd__sort_key){mrd__sort_signed(points[i].ts), i}));
        mrd__vec_reserve(&j.room, j.order.count);
        join_key(&j, mrd__radix_sort(j.order.data, j.room.data, j.order.count), j.order.count);
    }
    sort_links(points, room, out);
    mrd__vec_reset(&j.order);
    mrd__vec_reset(&j.room);
    mrd__free(table.slots);
    mrd__free(table.next);
    mrd__free(table.last);
}
