/* Clocks: ticks of whatever clock a file counts by become ns of the trace's clock.
 *
 * All snapshots of all files are known by now, so a late one counts for early events. Each file has
 * nodes of its own in the graph. What is known ties them: snapshots and sync rounds, what a
 * manifest declares, equal boots of one machine. What is then without a path is tied by assumption
 * (seal_assume.c), and what is still left is dropped. Facts of files without a clock stand on their
 * private timeline. */
#include "open/clocks.h"

#include "base/assert.h"

#include <stdlib.h>

/* ---- Nodes and what ties them ---- */

static uint32_t top_of(mrd__clocks *c, uint32_t node)
{
    mrd__assert(node < c->up.count);
    while (c->up.data[node] != node) {
        c->up.data[node] = c->up.data[c->up.data[node]];
        node = c->up.data[node];
    }
    return node;
}

bool mrd__clocks_connected(mrd__clocks *c, uint32_t a, uint32_t b)
{
    return top_of(c, a) == top_of(c, b);
}

uint32_t mrd__clocks_writer_file(const mrd__clocks *c, uint32_t file)
{
    return c->writer_file[file];
}

uint32_t mrd__clocks_node(mrd__clocks *c, uint32_t file, mrd__file_clock clock)
{
    if (c->plan != NULL && c->plan->pinned != NULL && clock.id != MRD__CLOCK_FILE) {
        uint32_t own = mrd__clocks_writer_file(c, file);
        if (own < c->plan->file_count && c->plan->pinned[own])
            clock = (mrd__file_clock){.id = MRD__CLOCK_FILE};
    }
    /* 0 would be the machine's own clock: every file keeps its clocks apart. */
    mrd__clock_id id = {clock.machine, file + 1, clock.sequence, clock.id};
    uint32_t node = mrd__clock_node(c->graph, id);
    while (node != UINT32_MAX && c->up.count <= node) {
        uint32_t own = (uint32_t)c->up.count;
        mrd__vec_push(&c->up, own);
    }
    return node;
}

void mrd__clocks_observe(mrd__clocks *c, const uint32_t *nodes, const int64_t *values_ns,
                         size_t count, mrd__clock_origin origin)
{
    static const mrd__clock_source sources[] = {[MRD__CLOCK_FROM_FILE] = MRD__CLOCK_OBSERVED,
                                                [MRD__CLOCK_FROM_MANIFEST] = MRD__CLOCK_DECLARED,
                                                [MRD__CLOCK_FROM_NOTHING] = MRD__CLOCK_ASSUMED};
    for (size_t i = 0; i < count; i++) {
        mrd__clock_seen seen = {nodes[i], values_ns[i], c->snapshots, (uint8_t)origin};
        mrd__vec_push(&c->seen, seen);
        c->up.data[top_of(c, nodes[i])] = top_of(c, nodes[0]);
    }
    c->snapshots++;
    mrd__clock_observe(c->graph, nodes, values_ns, count, sources[origin]);
}

static void observe_shard(mrd__clocks *c, const mrd__shard *shard)
{
    MRD__VEC(uint32_t) nodes = {0};
    MRD__VEC(int64_t) values = {0};
    uint32_t file = c->seal->file_of[shard->file];
    size_t at = 0;
    for (size_t s = 0; s < shard->snapshots.count; s++) {
        nodes.count = values.count = 0;
        for (; at < shard->snapshots.data[s]; at++) {
            const mrd__clock_reading *reading = &shard->readings.data[at];
            int64_t ns;
            uint32_t node = mrd__clocks_node(c, file, reading->clock);
            if (node == UINT32_MAX || __builtin_mul_overflow(reading->ticks, reading->unit_ns, &ns))
                continue;
            mrd__vec_push(&nodes, node);
            mrd__vec_push(&values, ns);
        }
        if (nodes.count > 0)
            mrd__clocks_observe(c, nodes.data, values.data, nodes.count, MRD__CLOCK_FROM_FILE);
    }
    mrd__vec_reset(&nodes);
    mrd__vec_reset(&values);
}

static int compare_shards(const void *left, const void *right)
{
    const mrd__joined *a = left;
    const mrd__joined *b = right;
    if (a->file != b->file) return a->file < b->file ? -1 : 1;
    if (a->order != b->order) return a->order < b->order ? -1 : 1;
    return a->shard_index < b->shard_index ? -1 : a->shard_index > b->shard_index;
}

/* Snapshots of all files, in the order of files. Where several shards of a file have some, the one
 * with the earlier chunks comes first. */
static void observe_files(mrd__clocks *c)
{
    const mrd__writer *writer = c->seal->writer;
    MRD__VEC(mrd__joined) shards = {0};
    for (size_t s = 0; s < writer->shards.count; s++) {
        mrd__shard *shard = writer->shards.data[s];
        if (shard->snapshots.count == 0) continue;
        mrd__joined one = {.shard = shard,
                           .shard_index = (uint32_t)s,
                           .file = c->seal->file_of[shard->file],
                           .order = shard->chunks.count > 0 ? shard->chunks.data[0].order : 0};
        mrd__vec_push(&shards, one);
    }
    if (shards.count > 1) qsort(shards.data, shards.count, sizeof *shards.data, compare_shards);
    for (size_t s = 0; s < shards.count; s++)
        observe_shard(c, shards.data[s].shard);
    mrd__vec_reset(&shards);
}

static uint32_t store_file(const mrd__clocks *c, uint32_t writer_file)
{
    return c->seal->file_of[writer_file];
}

static void declare_edges(mrd__clocks *c)
{
    for (size_t i = 0; c->plan != NULL && i < c->plan->edge_count; i++) {
        const mrd__merge_edge *edge = &c->plan->edges[i];
        int64_t offset = edge->offset_ns;
        uint32_t nodes[2] = {mrd__clocks_node(c, store_file(c, edge->file), edge->clock),
                             mrd__clocks_node(c, store_file(c, edge->to_file), edge->to)};
        int64_t values[2] = {offset < 0 ? -offset : 0, offset > 0 ? offset : 0};
        if (nodes[0] == UINT32_MAX || nodes[1] == UINT32_MAX || nodes[0] == nodes[1]) continue;
        mrd__clocks_observe(c, nodes, values, 2, MRD__CLOCK_FROM_MANIFEST);
    }
}

/* Files of one boot of one machine: their clocks are the same clocks. */
static void tie_boots(mrd__clocks *c)
{
    const mrd__store *store = c->seal->store;
    size_t known = mrd__clock_node_count(c->graph);
    for (uint32_t a = 0; a < known; a++) {
        mrd__clock_id id = mrd__clock_id_of(c->graph, a);
        const mrd__file *file = &store->files[id.file - 1];
        if (file->boot_id == NULL || id.machine != 0 || id.id == MRD__CLOCK_FILE) continue;
        for (uint32_t b = 0; b < a; b++) {
            mrd__clock_id other = mrd__clock_id_of(c->graph, b);
            const mrd__file *before = &store->files[other.file - 1];
            if (other.id != id.id || other.sequence != 0 || id.sequence != 0 ||
                other.machine != 0 || before->boot_id == NULL || before->machine != file->machine ||
                mrd__clocks_connected(c, a, b) ||
                !mrd__str_equal(mrd__str_of(before->boot_id), mrd__str_of(file->boot_id)))
                continue;
            mrd__clocks_observe(c, (uint32_t[]){a, b}, (int64_t[]){0, 0}, 2, MRD__CLOCK_FROM_FILE);
            break;
        }
    }
}

/* ---- Clocks of facts ---- */

static bool same_clock(mrd__file_clock a, mrd__file_clock b)
{
    return a.machine == b.machine && a.sequence == b.sequence && a.id == b.id;
}

/* Ns of a tick of a clock: what the file's snapshots say, else 1. Clocks are few. */
static int64_t unit_of(const mrd__shard *shard, mrd__file_clock clock)
{
    for (size_t i = 0; i < shard->readings.count; i++)
        if (same_clock(shard->readings.data[i].clock, clock))
            return shard->readings.data[i].unit_ns;
    return 1;
}

static int compare_use(const mrd__clock_use *use, uint32_t file, mrd__file_clock clock)
{
    if (use->file != file) return use->file < file ? -1 : 1;
    if (use->clock.machine != clock.machine) return use->clock.machine < clock.machine ? -1 : 1;
    if (use->clock.sequence != clock.sequence) return use->clock.sequence < clock.sequence ? -1 : 1;
    return use->clock.id < clock.id ? -1 : use->clock.id > clock.id;
}

static size_t place_of_use(const mrd__clocks *c, uint32_t file, mrd__file_clock clock)
{
    size_t low = 0;
    size_t high = c->uses.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_use(&c->uses.data[middle], file, clock) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static mrd__clock_use *use_at(mrd__clocks *c, uint32_t file, mrd__file_clock clock, int64_t unit_ns)
{
    size_t at = place_of_use(c, file, clock);
    if (at < c->uses.count && compare_use(&c->uses.data[at], file, clock) == 0)
        return &c->uses.data[at];
    mrd__clock_use use = {.file = file, .clock = clock, .unit_ns = unit_ns};
    use.node = mrd__clocks_node(c, file, clock);
    mrd__vec_push(&c->uses, use);
    for (size_t i = c->uses.count - 1; i > at; i--)
        c->uses.data[i] = c->uses.data[i - 1];
    c->uses.data[at] = use;
    return &c->uses.data[at];
}

mrd__clock_use *mrd__clocks_use(mrd__clocks *c, const mrd__shard *shard, mrd__file_clock clock)
{
    return use_at(c, c->seal->file_of[shard->file], clock, unit_of(shard, clock));
}

/* Every clock of facts and of files, and the private timelines of facts without one. */
static void collect_uses(mrd__clocks *c)
{
    const mrd__writer *writer = c->seal->writer;
    const mrd__file_clock private = {.id = MRD__CLOCK_FILE};
    for (size_t i = 0; i < writer->clocks.count; i++)
        use_at(c, store_file(c, writer->clocks.data[i].file), writer->clocks.data[i].clock, 1);
    for (size_t i = 0; i < c->seal->chunks.count; i++) {
        const mrd__joined *chunk = &c->seal->chunks.data[i];
        const mrd__shard *shard = chunk->shard;
        for (size_t r = 0; r < shard->clock_runs.count; r++)
            mrd__clocks_use(c, shard, shard->clock_runs.data[r].clock);
        bool before =
            shard->clock_runs.count == 0 || shard->clock_runs.data[0].first > chunk->first;
        if (before && chunk->end > chunk->first) use_at(c, chunk->file, private, 1);
    }
    if (writer->events != NULL) use_at(c, store_file(c, writer->events_file), private, 1);
}

/* ---- Trace time ---- */

static bool set_target(mrd__clocks *c, uint32_t file, mrd__file_clock clock)
{
    uint32_t node = mrd__clocks_node(c, file, clock);
    if (node == UINT32_MAX) return false;
    mrd__clock_id id = mrd__clock_id_of(c->graph, node);
    c->target = node;
    c->target_file = file;
    c->target_clock = (mrd__file_clock){id.machine, id.sequence, id.id};
    return true;
}

/* The manifest's clock: of the file it names, else of the first file that has it, else of the first
 * that counts real time at all. */
static bool target_of_manifest(mrd__clocks *c)
{
    if (c->plan == NULL || !c->plan->has_trace_time) return false;
    mrd__file_clock clock = c->plan->trace_clock;
    if (c->plan->trace_file != MRD__NONE)
        return set_target(c, store_file(c, c->plan->trace_file), clock);
    uint32_t found = MRD__NONE;
    uint32_t real = MRD__NONE;
    for (uint32_t n = 0; n < mrd__clock_node_count(c->graph); n++) {
        mrd__clock_id id = mrd__clock_id_of(c->graph, n);
        uint32_t file = id.file - 1;
        if (id.machine != 0 || id.id == MRD__CLOCK_FILE) continue;
        if (id.id == clock.id && file < found) found = file;
        if (file < real) real = file;
    }
    if (found == MRD__NONE) found = real;
    if (found == MRD__NONE) found = c->uses.data[0].file;
    return set_target(c, found, clock);
}

/* The clock of the first file that declares one; else that of the first fact. */
static void choose_target(mrd__clocks *c)
{
    if (target_of_manifest(c)) return;
    const mrd__writer *writer = c->seal->writer;
    uint32_t first = MRD__NONE;
    mrd__file_clock clock = {0};
    for (size_t i = 0; i < writer->clocks.count; i++) {
        uint32_t file = store_file(c, writer->clocks.data[i].file);
        if (first != MRD__NONE && file > first) continue; /* of one file the last counts */
        first = file;
        clock = writer->clocks.data[i].clock;
    }
    if (first == MRD__NONE) {
        first = c->uses.data[0].file;
        clock = c->uses.data[0].clock;
    }
    if (!set_target(c, first, clock)) c->target = 0; /* the graph is full: some node there is */
}

static void mark_linear(mrd__clocks *c)
{
    for (uint32_t n = 0; c->plan != NULL && n < mrd__clock_node_count(c->graph); n++) {
        uint32_t file = mrd__clocks_writer_file(c, mrd__clock_id_of(c->graph, n).file - 1);
        if (c->plan->linear_file != NULL && file < c->plan->file_count &&
            c->plan->linear_file[file])
            mrd__clock_linear(c->graph, n);
    }
}

void mrd__seal_clocks(mrd__sealing *seal)
{
    mrd__clocks c = {.seal = seal, .plan = seal->writer->plan, .graph = mrd__clock_graph_create()};
    seal->store->trace_clock = MRD__NONE;
    seal->store->align = "realtime";
    c.writer_file = mrd__new_array(uint32_t, seal->store->file_count);
    for (uint32_t i = 0; i < seal->store->file_count; i++)
        c.writer_file[seal->file_of[i]] = i;
    observe_files(&c);
    declare_edges(&c);
    collect_uses(&c);
    tie_boots(&c);
    if (c.uses.count > 0) {
        choose_target(&c);
        mark_linear(&c);
        mrd__clocks_assume(&c);
        mrd__clock_solve(c.graph, c.target, c.plan != NULL && c.plan->linear);
        mrd__clocks_convert(&c);
        mrd__clocks_align(&c);
        mrd__clocks_keep(&c);
    }
    mrd__vec_reset(&c.uses);
    mrd__vec_reset(&c.seen);
    mrd__vec_reset(&c.up);
    mrd__free(c.writer_file);
    mrd__clock_graph_destroy(&c.graph);
}
