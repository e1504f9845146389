/* Clocks: ticks of whatever clock a file counts by become ns of the trace's clock.
 *
 * All snapshots of all files are known by now, so a late one counts for early events. Each file has
 * nodes of its own in the graph; where nothing observed leads from a clock to the trace's, files
 * are tied together by assumption: first REALTIME of both (they mean the same), then the same
 * clock id. What is left has no path: two different clocks are never set equal. Facts of files
 * without a clock stand on their private timeline, which is laid on the trace's at offset zero. */
#include "open/sealing.h"

#include "clock/graph.h"

typedef struct clock_use { /* a clock of facts */
    uint32_t file, node;
    mrd__file_clock clock;
    int64_t unit_ns;
} clock_use;

typedef struct clocks {
    mrd__sealing *seal;
    mrd__clock_graph *graph;
    MRD__VEC(clock_use) uses;
    uint32_t target; /* node */
    mrd__file_clock target_clock;
    uint32_t target_file;
} clocks;

static uint32_t node_of(clocks *c, uint32_t file, mrd__file_clock clock)
{
    /* 0 would be the machine's own clock: every file keeps its clocks apart. */
    mrd__clock_id id = {clock.machine, file + 1, clock.sequence, clock.id};
    return mrd__clock_node(c->graph, id);
}

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

static void observe(clocks *c, const mrd__shard *shard)
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
            uint32_t node = node_of(c, file, reading->clock);
            if (node == UINT32_MAX || __builtin_mul_overflow(reading->ticks, reading->unit_ns, &ns))
                continue;
            mrd__vec_push(&nodes, node);
            mrd__vec_push(&values, ns);
        }
        mrd__clock_observe(c->graph, nodes.data, values.data, nodes.count, MRD__CLOCK_OBSERVED);
    }
    mrd__vec_reset(&nodes);
    mrd__vec_reset(&values);
}

static clock_use *use_of(clocks *c, const mrd__shard *shard, mrd__file_clock clock)
{
    uint32_t file = c->seal->file_of[shard->file];
    for (size_t i = 0; i < c->uses.count; i++) {
        clock_use *own = &c->uses.data[i];
        if (own->file == file && same_clock(own->clock, clock)) return own;
    }
    clock_use use = {file, node_of(c, file, clock), clock, unit_of(shard, clock)};
    mrd__vec_push(&c->uses, use);
    return &c->uses.data[c->uses.count - 1];
}

/* The clock of the first file by name that declares one. */
static void choose_target(clocks *c)
{
    const mrd__writer *writer = c->seal->writer;
    c->target_file = MRD__NONE;
    for (size_t i = 0; i < writer->clocks.count; i++) {
        uint32_t file = c->seal->file_of[writer->clocks.data[i].file];
        if (file > c->target_file) continue; /* of one file the last counts */
        c->target_file = file;
        c->target_clock = writer->clocks.data[i].clock;
    }
    if (c->target_file == MRD__NONE) { /* facts on clocks, none declared: the first one's */
        c->target_file = c->uses.data[0].file;
        c->target_clock = c->uses.data[0].clock;
    }
    c->target = node_of(c, c->target_file, c->target_clock);
}

/* A file's own clock is tied even when none of its facts carries it: the others lead to it. */
static void add_declared(clocks *c)
{
    const mrd__writer *writer = c->seal->writer;
    for (size_t i = 0; i < writer->clocks.count; i++) {
        uint32_t file = c->seal->file_of[writer->clocks.data[i].file];
        mrd__file_clock clock = writer->clocks.data[i].clock;
        mrd__vec_push(&c->uses, ((clock_use){file, node_of(c, file, clock), clock, 1}));
    }
}

static bool has_path(const clocks *c, uint32_t node)
{
    return node != UINT32_MAX && mrd__clock_path(c->graph, node, NULL, 0) != SIZE_MAX;
}

/* Clocks of other files and machines without a path: tie their clock `id` (their own when 0) to
 * that of the target's file at offset zero. */
static void assume(clocks *c, uint32_t id)
{
    for (size_t i = 0; i < c->uses.count; i++) {
        const clock_use *use = &c->uses.data[i];
        bool own = use->file == c->target_file && use->clock.machine == c->target_clock.machine;
        if (own || use->clock.sequence != 0 || has_path(c, use->node)) continue;
        uint32_t tied = id != 0 ? id : use->clock.id;
        uint32_t nodes[2] = {
            node_of(c, use->file, (mrd__file_clock){use->clock.machine, 0, tied}),
            node_of(c, c->target_file, (mrd__file_clock){c->target_clock.machine, 0, tied})};
        int64_t zero[2] = {0, 0};
        if (nodes[0] == UINT32_MAX || nodes[1] == UINT32_MAX) continue;
        mrd__clock_observe(c->graph, nodes, zero, 2, MRD__CLOCK_ASSUMED);
    }
    mrd__clock_solve(c->graph, c->target, false);
}

static void convert_fact(clocks *c, mrd__fact *fact, const clock_use *use, uint32_t order,
                         uint32_t name)
{
    if (fact->phase >= MRD__PROCESS_NAME) return;
    mrd__loss_id loss = MRD__LOSS_COUNT;
    int64_t ns = 0;
    if (__builtin_mul_overflow(fact->ts, use->unit_ns, &ns)) {
        loss = MRD__LOSS_TIME_OVERFLOW;
    } else if (use->node == UINT32_MAX) {
        loss = MRD__LOSS_CLOCK_WITHOUT_PATH;
    } else {
        mrd__clock_result result = mrd__clock_convert(c->graph, use->node, ns, &ns);
        if (result == MRD__CLOCK_NO_PATH) loss = MRD__LOSS_CLOCK_WITHOUT_PATH;
        if (result == MRD__CLOCK_OVERFLOW) loss = MRD__LOSS_TIME_OVERFLOW;
        if (result == MRD__CLOCK_OK && ns < 0 && c->target_clock.id != MRD__CLOCK_FILE)
            loss = MRD__LOSS_TIME_BELOW_ZERO;
    }
    fact->ts = ns;
    if (loss == MRD__LOSS_COUNT) return;
    mrd__found_at(&c->seal->worker[0].found, loss, order, name, -1, 0);
    fact->phase = MRD__NO_FACT;
}

static void convert_chunk(clocks *c, const mrd__joined *chunk)
{
    mrd__shard *shard = chunk->shard;
    const uint32_t *strings = c->seal->string_map[chunk->shard_index];
    size_t run = 0;
    while (run + 1 < shard->clock_runs.count &&
           shard->clock_runs.data[run + 1].first <= chunk->first)
        run++;
    const clock_use *use = NULL;
    for (uint64_t i = chunk->first; i < chunk->end; i++) {
        while (run + 1 < shard->clock_runs.count && shard->clock_runs.data[run + 1].first <= i) {
            run++;
            use = NULL;
        }
        if (i < shard->clock_runs.data[run].first) continue; /* before the first clock */
        if (use == NULL) use = use_of(c, shard, shard->clock_runs.data[run].clock);
        mrd__fact *fact = mrd__shard_fact(shard, i);
        uint32_t order = chunk->base + (uint32_t)(i - chunk->first);
        convert_fact(c, fact, use, order, strings[fact->name]);
    }
}

void mrd__seal_clocks(mrd__sealing *seal)
{
    clocks c = {.seal = seal, .graph = mrd__clock_graph_create()};
    for (size_t i = 0; i < seal->chunks.count; i++) {
        const mrd__shard *shard = seal->chunks.data[i].shard;
        for (size_t r = 0; r < shard->clock_runs.count; r++)
            use_of(&c, shard, shard->clock_runs.data[r].clock);
    }
    if (c.uses.count > 0) {
        const mrd__writer *writer = seal->writer;
        for (size_t s = 0; s < writer->shards.count; s++)
            observe(&c, writer->shards.data[s]);
        choose_target(&c);
        add_declared(&c);
        mrd__clock_solve(c.graph, c.target, false);
        assume(&c, MRD__CLOCK_REALTIME);
        assume(&c, 0);
        for (size_t i = 0; i < seal->chunks.count; i++)
            if (seal->chunks.data[i].shard->clock_runs.count > 0)
                convert_chunk(&c, &seal->chunks.data[i]);
    }
    mrd__vec_reset(&c.uses);
    mrd__clock_graph_destroy(&c.graph);
}
