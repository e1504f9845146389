/* Flow points bound to slices, thread by thread, and joined. */
#include "open/sealing.h"

#include "model/merge.h"
#include "pairing/sort.h"

#include <stdlib.h>
#include <string.h>

typedef struct binding {
    mrd__sealing *seal;
    mrd__flow_point **points; /* by (thread, ts, order) */
    size_t *thread_first;     /* [threads + 1] */
    mrd__sort_key *room;      /* [2 * points]: one for all sorting, it is large */
} binding;

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

/* Points of threads by (thread, ts, order): counted by thread, then each thread sorted by time. */
static void group_points(binding *b)
{
    mrd__sealing *seal = b->seal;
    size_t count = seal->points.count;
    b->thread_first = mrd__new_array(size_t, seal->threads.count + 2);
    mrd__sort_key *keys = b->room;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (seal->points.data[i].thread == MRD__NONE) continue;
        b->thread_first[seal->points.data[i].thread + 1]++;
        keys[kept++] = (mrd__sort_key){mrd__sort_signed(seal->points.data[i].ts), (uint32_t)i};
    }
    for (size_t t = 0; t < seal->threads.count; t++)
        b->thread_first[t + 1] += b->thread_first[t];
    keys = mrd__radix_sort(keys, b->room + count, kept);
    b->points = mrd__new_array(mrd__flow_point *, kept);
    size_t *next = mrd__new_array(size_t, seal->threads.count + 1);
    memcpy(next, b->thread_first, seal->threads.count * sizeof *next);
    for (size_t i = 0; i < kept; i++) {
        mrd__flow_point *point = &seal->points.data[keys[i].index];
        b->points[next[point->thread]++] = point;
    }
    mrd__free(next);
}

/* Flow indices sorted by one of their slices. */
static uint32_t *flows_by(const mrd__store *store, bool from, mrd__sort_key *room)
{
    size_t count = store->flow_count;
    uint32_t *out = mrd__new_array(uint32_t, count);
    for (size_t i = 0; i < count; i++)
        room[i] = (mrd__sort_key){from ? store->flows[i].from : store->flows[i].to, (uint32_t)i};
    const mrd__sort_key *keys = mrd__radix_sort(room, room + count, count);
    for (size_t i = 0; i < count; i++)
        out[i] = keys[i].index;
    return out;
}

void mrd__seal_flows(mrd__sealing *seal)
{
    if (seal->points.count == 0) return;
    mrd__store *store = seal->store;
    for (size_t i = 0; i < seal->flow_ends.count; i++) {
        const mrd__flow_end *end = &seal->flow_ends.data[i];
        if (end->slice != MRD__NONE) mrd__seal_bind_v2(seal, end->end, end->slice);
    }
    binding b = {.seal = seal};
    b.room = mrd__alloc(2 * seal->points.count * sizeof *b.room);
    group_points(&b);
    mrd__parallel_for(seal->workers, seal->groups.count, bind_group, &b);
    mrd__free(b.points);
    mrd__free(b.thread_first);
    mrd__flow_links links = {0};
    const mrd__merge_plan *plan = seal->writer->plan;
    seal->worker[0].found.one_scope = plan != NULL && plan->global_flows;
    mrd__flows_join(seal->points.data, seal->points.count, b.room, &links, &seal->worker[0].found);
    store->flow_count = links.count;
    store->flows = mrd__new_array(mrd__flow, links.count);
    for (size_t i = 0; i < links.count; i++) {
        const mrd__flow_point *from = &seal->points.data[links.data[i].from];
        const mrd__flow_point *to = &seal->points.data[links.data[i].to];
        mrd__flow *flow = &store->flows[i];
        *flow = (mrd__flow){.category = from->category,
                            .name = from->name,
                            .id = from->id,
                            .from = from->slice,
                            .to = to->slice};
        mrd__column_set(&flow->from_time, 0, from->ts);
        mrd__column_set(&flow->to_time, 0, to->ts);
    }
    mrd__vec_reset(&links);
    store->flow_by_from = flows_by(store, true, b.room);
    store->flow_by_to = flows_by(store, false, b.room);
    mrd__free(b.room);
}
