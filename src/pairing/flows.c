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

#include "base/os.h"

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

/* Points are joined in parts, one a worker: all points of a key have one hash and so one part.
 * One block of memory holds it all, and later the keys that links are sorted by:
 *
 *   | hash of each point | next of each | last of each | slots of part 0 | slots of part 1 | ... */
typedef struct key_table {
    uint64_t *hash;
    uint32_t *next; /* chain through the points of a key, file order */
    uint32_t *last; /* of a first point: the chain's end; of others MRD__NONE */
} key_table;

static bool same_key(const mrd__flow_point *a, const mrd__flow_point *b)
{
    return a->id == b->id && a->name == b->name && a->category == b->category &&
           a->pair == b->pair &&
           ((a->flags ^ b->flags) & (MRD__POINT_SLICE | MRD__POINT_CHAIN)) == 0;
}

static uint64_t hash_key(const mrd__flow_point *point, uint32_t file)
{
    uint64_t names = (uint64_t)point->category << 32 | point->name;
    uint64_t kind = point->flags & (MRD__POINT_SLICE | MRD__POINT_CHAIN);
    uint64_t rest = (uint64_t)point->id << 32 | file << 3 | kind;
    return mrd__hash_mix(names + point->pair, rest);
}

/* Ids of different files do not meet, unless a manifest says so; numbers of arrows never do. */
static uint32_t scope_of(const mrd__found *found, const mrd__flow_point *point)
{
    return found->one_scope && point->pair == 0 ? 0 : mrd__found_file(found, point->order);
}

typedef struct joining {
    const mrd__flow_point *points;
    mrd__flow_links links;
    mrd__found found;
    MRD__VEC(mrd__sort_key) order; /* the points of one key by time */
    MRD__VEC(mrd__sort_key) room;
    uint32_t *slots; /* first point of a key + 1 */
    size_t size;     /* of slots, a power of two */
    uint64_t own;    /* points */
    char padding[64];
} joining;

static uint32_t part_of(uint64_t hash, uint32_t parts)
{
    return (uint32_t)((hash >> 32) * parts >> 32);
}

/* Chain the points of a part by key. */
static void chain_points(joining *j, size_t count, const key_table *table, uint32_t part,
                         uint32_t parts)
{
    size_t mask = j->size - 1;
    for (uint32_t i = 0; i < count; i++) {
        if (part_of(table->hash[i], parts) != part) continue;
        size_t at = table->hash[i] & mask;
        table->next[i] = MRD__NONE;
        table->last[i] = i;
        for (; j->slots[at] != 0; at = (at + 1) & mask) {
            uint32_t first = j->slots[at] - 1;
            if (table->hash[first] != table->hash[i] ||
                !same_key(&j->points[first], &j->points[i]) ||
                scope_of(&j->found, &j->points[first]) != scope_of(&j->found, &j->points[i]))
                continue;
            table->next[table->last[first]] = i;
            table->last[first] = i;
            table->last[i] = MRD__NONE;
            break;
        }
        if (j->slots[at] == 0) j->slots[at] = i + 1;
    }
}

static void lose(joining *j, mrd__loss_id id, const mrd__flow_point *point)
{
    mrd__found_at(&j->found, id, point->order, point->name, -1, 0);
}

static void link(joining *j, uint32_t from, uint32_t to)
{
    const mrd__flow_point *a = &j->points[from];
    const mrd__flow_point *b = &j->points[to];
    if (a->slice == MRD__NONE || b->slice == MRD__NONE) return;
    mrd__vec_push(&j->links, ((mrd__flow_link){from, to}));
    if (b->ts >= a->ts) return;
    int64_t back;
    if (__builtin_sub_overflow(b->ts, a->ts, &back)) back = INT64_MIN;
    mrd__found_at(&j->found, MRD__LOSS_FLOW_BACKWARDS, b->order, b->name, -1, back);
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

typedef struct join_job {
    const mrd__flow_point *points;
    size_t count;
    key_table table;
    joining *parts;
    uint32_t part_count;
} join_job;

static void hash_part(void *ctx, size_t index, uint32_t worker)
{
    (void)worker;
    join_job *job = ctx;
    size_t end = job->count * (index + 1) / job->part_count;
    for (size_t i = job->count * index / job->part_count; i < end; i++) {
        uint32_t file = scope_of(&job->parts[0].found, &job->points[i]);
        job->table.hash[i] = hash_key(&job->points[i], file);
    }
}

static void join_part(void *ctx, size_t index, uint32_t worker)
{
    (void)worker;
    join_job *job = ctx;
    joining *j = &job->parts[index];
    const key_table *table = &job->table;
    chain_points(j, job->count, table, (uint32_t)index, job->part_count);
    for (uint32_t first = 0; first < job->count; first++) {
        if (part_of(table->hash[first], job->part_count) != index) continue;
        if (table->last[first] == MRD__NONE) continue;
        j->order.count = 0;
        for (uint32_t i = first; i != MRD__NONE; i = table->next[i])
            mrd__vec_push(&j->order, ((mrd__sort_key){mrd__sort_signed(j->points[i].ts), i}));
        mrd__vec_reserve(&j->room, j->order.count);
        join_key(j, mrd__radix_sort(j->order.data, j->room.data, j->order.count), j->order.count);
    }
}

#define LEAST_SLOTS 16 /* of a part */

/* Slots for twice as many keys as a part has points: at most 4 a point and LEAST_SLOTS a part. */
static void place_slots(join_job *job, uint32_t *slots)
{
    for (size_t i = 0; i < job->count; i++)
        job->parts[part_of(job->table.hash[i], job->part_count)].own++;
    for (uint32_t p = 0; p < job->part_count; p++) {
        joining *j = &job->parts[p];
        for (j->size = LEAST_SLOTS; j->size < j->own * 2;)
            j->size *= 2;
        j->slots = slots;
        slots += j->size;
    }
}

#define JOIN_ALONE 4096 /* points that one worker joins faster than several start */

void mrd__flows_join(const mrd__flow_point *points, size_t count, uint32_t workers,
                     mrd__flow_links *out, mrd__found *found)
{
    if (count == 0) return;
    join_job job = {.points = points, .count = count};
    job.part_count = count < JOIN_ALONE ? 1 : workers;
    /* Of a point: hash 8, next and last 8, slots 16 bytes; the same 32 as two keys to sort. */
    size_t bytes = count * 32 + job.part_count * LEAST_SLOTS * sizeof(uint32_t);
    char *room = mrd__pages_alloc(bytes);
    job.table = (key_table){(uint64_t *)(void *)room, (uint32_t *)(void *)(room + count * 8),
                            (uint32_t *)(void *)(room + count * 12)};
    job.parts = mrd__new_array(joining, job.part_count);
    for (uint32_t p = 0; p < job.part_count; p++) {
        job.parts[p].points = points;
        mrd__found_init(&job.parts[p].found, found->file_first, found->files);
        job.parts[p].found.one_scope = found->one_scope;
    }
    mrd__parallel_for(workers, job.part_count, hash_part, &job);
    place_slots(&job, (uint32_t *)(void *)(room + count * 16));
    mrd__parallel_for(workers, job.part_count, join_part, &job);
    mrd__vec_reserve(out, count);
    for (uint32_t p = 0; p < job.part_count; p++) {
        joining *j = &job.parts[p];
        for (size_t i = 0; i < j->links.count; i++)
            mrd__vec_push(out, j->links.data[i]);
        mrd__found_join(found, &j->found);
        mrd__found_reset(&j->found);
        mrd__vec_reset(&j->links);
        mrd__vec_reset(&j->order);
        mrd__vec_reset(&j->room);
    }
    mrd__free(job.parts);
    sort_links(points, (mrd__sort_key *)(void *)room, out);
    mrd__pages_free(room, bytes);
}
