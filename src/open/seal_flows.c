/* Flow points bound to slices, thread by thread, and joined. */
#include "open/sealing.h"

#include "base/sort.h"
#include "model/merge.h"

/* room: one block for all sorting, 4 keys a point. */
typedef struct binding {
    mrd__sealing *seal;
    mrd__flow_point **points; /* by (thread, ts, order); of one thread in file order until bound */
    size_t *thread_first;     /* [threads + 1] */
    mrd__sort_key *room;
} binding;

/* The points of one thread by (ts, order). */
static void sort_points(binding *b, size_t first, size_t count)
{
    const mrd__flow_point *all = b->seal->points.data;
    mrd__sort_key *keys = b->room + 2 * first;
    for (size_t i = 0; i < count; i++) {
        const mrd__flow_point *point = b->points[first + i];
        keys[i] = (mrd__sort_key){mrd__sort_signed(point->ts), (uint32_t)(point - all)};
    }
    keys = mrd__radix_sort(keys, keys + count, count);
    for (size_t i = 0; i < count; i++)
        b->points[first + i] = &b->seal->points.data[keys[i].index];
}

static void bind_group(void *ctx, size_t index, uint32_t worker)
{
    (void)worker;
    binding *b = ctx;
    mrd__sealing *seal = b->seal;
    const mrd__group *group = &seal->groups.data[index];
    if (group->kind != MRD__TRACK_THREAD || group->track == MRD__NONE) return;
    size_t first = b->thread_first[group->thread];
    size_t count = b->thread_first[group->thread + 1] - first;
    if (count == 0) return;
    sort_points(b, first, count);
    const mrd__store *store = seal->store;
    const mrd__track *track = &store->tracks[group->track];
    uint32_t *begun = seal->lane + group->first; /* slice ids by now */
    uint32_t kept = 0;
    for (uint32_t i = 0; i < group->nested.count; i++)
        if (begun[i] != MRD__NONE) begun[kept++] = begun[i];
    bool spilled = false;
    for (size_t l = 0; l < group->nested.lanes.count; l++)
        if (group->nested.lanes.data[l].major > 0) spilled = true;
    mrd__flow_track slices = {.start = store->slices.start,
                              .end = store->slices.end,
                              .parent = store->slices.parent,
                              .begun = begun,
                              .count = kept,
                              .row_first = store->rows.first + track->first_row,
                              .rows = track->row_count,
                              .spilled = spilled};
    mrd__flows_bind(&slices, b->points + first, count);
}

/* Points of threads by (thread, order). */
static void group_points(binding *b)
{
    mrd__sealing *seal = b->seal;
    const size_t count = seal->points.count;
    mrd__flow_point *points = seal->points.data;
    b->thread_first = mrd__new_array(size_t, seal->threads.count + 1);
    size_t *next = mrd__new_array(size_t, seal->threads.count + 1);
    for (size_t i = 0; i < count; i++)
        if (points[i].thread != MRD__NONE) next[points[i].thread]++;
    size_t sum = 0;
    for (size_t t = 0; t < seal->threads.count; t++) {
        size_t own = next[t];
        b->thread_first[t] = next[t] = sum;
        sum += own;
    }
    b->thread_first[seal->threads.count] = sum;
    b->points = mrd__pages_take(count * sizeof(mrd__flow_point *));
    for (size_t i = 0; i < count; i++)
        if (points[i].thread != MRD__NONE) b->points[next[points[i].thread]++] = &points[i];
    mrd__free(next);
}

/* Flow indices sorted by one of their slices: 0 where they come from, 1 where they go. */
static void sort_flows(void *ctx, size_t index, uint32_t worker)
{
    (void)worker;
    binding *b = ctx;
    mrd__store *store = b->seal->store;
    const size_t count = store->flow_count;
    bool from = index == 0;
    uint32_t *out = from ? store->flow_by_from : store->flow_by_to;
    mrd__sort_key *room = b->room + index * 2 * count;
    for (size_t i = 0; i < count; i++)
        room[i] = (mrd__sort_key){from ? store->flows[i].from : store->flows[i].to, (uint32_t)i};
    const mrd__sort_key *keys = mrd__radix_sort(room, room + count, count);
    for (size_t i = 0; i < count; i++)
        out[i] = keys[i].index;
}

static void store_flows(const mrd__sealing *seal, const mrd__flow_links *links)
{
    mrd__store *store = seal->store;
    store->flow_count = links->count;
    store->flows = mrd__pages_take(links->count * sizeof *store->flows);
    for (size_t i = 0; i < links->count; i++) {
        const mrd__flow_point *from = &seal->points.data[links->data[i].from];
        const mrd__flow_point *to = &seal->points.data[links->data[i].to];
        mrd__flow *flow = &store->flows[i];
        *flow = (mrd__flow){.category = from->category,
                            .name = from->name,
                            .id = from->id,
                            .from = from->slice,
                            .to = to->slice};
        mrd__column_set(&flow->from_time, 0, from->ts);
        mrd__column_set(&flow->to_time, 0, to->ts);
    }
}

void mrd__seal_flows(mrd__sealing *seal, uint32_t workers)
{
    const size_t count = seal->points.count;
    if (count == 0) return;
    mrd__store *store = seal->store;
    for (size_t i = 0; i < seal->flow_ends.count; i++) {
        const mrd__flow_end *end = &seal->flow_ends.data[i];
        if (end->slice != MRD__NONE) mrd__seal_bind_v2(seal, end->end, end->slice);
    }
    binding b = {.seal = seal, .room = mrd__pages_take(4 * count * sizeof *b.room)};
    group_points(&b);
    mrd__parallel_for(workers, seal->groups.count, bind_group, &b);
    mrd__pages_give(b.points, count * sizeof(mrd__flow_point *));
    mrd__free(b.thread_first);
    mrd__flow_links links = {0};
    const mrd__merge_plan *plan = seal->writer->plan;
    seal->worker[0].found.one_scope = plan != NULL && plan->global_flows;
    mrd__flows_join(seal->points.data, count, workers, &links, &seal->worker[0].found);
    store_flows(seal, &links);
    mrd__vec_reset(&links);
    store->flow_by_from = mrd__new_array(uint32_t, store->flow_count);
    store->flow_by_to = mrd__new_array(uint32_t, store->flow_count);
    mrd__parallel_for(workers, 2, sort_flows, &b);
    mrd__pages_give(b.room, 4 * count * sizeof *b.room);
}
