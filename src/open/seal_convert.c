/* Readings of clocks become ns of trace time, fact by fact, chunks side by side. */
#include "open/clocks.h"

#include <stdatomic.h>

/* A clock of a run of facts, and what is to be done with its readings. */
typedef struct conversion {
    const mrd__clocks *c;
    mrd__clock_use *use;
    int64_t unit_ns;
    bool constant; /* trace time is the reading + offset_ns */
    int64_t offset_ns;
    bool linear;    /* interpolated */
    bool from_zero; /* trace time is a real clock: it does not read below zero */
} conversion;

static conversion begin(const mrd__clocks *c, mrd__clock_use *use)
{
    conversion v = {.c = c, .use = use, .unit_ns = use->unit_ns};
    v.from_zero = c->target_clock.id != MRD__CLOCK_FILE;
    uint32_t file = mrd__clocks_writer_file(c, use->file);
    const mrd__merge_plan *plan = c->plan;
    v.linear = plan != NULL &&
               (plan->linear ||
                (plan->linear_file != NULL && file < plan->file_count && plan->linear_file[file]));
    v.constant = use->node != UINT32_MAX && mrd__clock_constant(c->graph, use->node, &v.offset_ns);
    return v;
}

static mrd__loss_id convert_ns(const conversion *v, int64_t ns, int64_t *out)
{
    if (v->use->node == UINT32_MAX) return MRD__LOSS_CLOCK_WITHOUT_PATH;
    if (v->constant) {
        if (__builtin_add_overflow(ns, v->offset_ns, out)) return MRD__LOSS_TIME_OVERFLOW;
        return v->from_zero && *out < 0 ? MRD__LOSS_TIME_BELOW_ZERO : MRD__LOSS_COUNT;
    }
    switch (mrd__clock_convert(v->c->graph, v->use->node, ns, out)) {
    case MRD__CLOCK_NO_PATH:
        return MRD__LOSS_CLOCK_WITHOUT_PATH;
    case MRD__CLOCK_OVERFLOW:
        return MRD__LOSS_TIME_OVERFLOW;
    default:
        return v->from_zero && *out < 0 ? MRD__LOSS_TIME_BELOW_ZERO : MRD__LOSS_COUNT;
    }
}

/* Between snapshots a length of time stretches as its clock does. */
static void stretch(const conversion *v, mrd__fact *fact, int64_t read_ns, int64_t start_ns)
{
    int64_t end_ns;
    if (v->constant || fact->phase != MRD__COMPLETE || fact->dur <= 0) return;
    if (__builtin_add_overflow(read_ns, fact->dur, &end_ns)) return;
    if (convert_ns(v, end_ns, &end_ns) == MRD__LOSS_COUNT && end_ns >= start_ns)
        fact->dur = end_ns - start_ns;
}

static bool convert_fact(const conversion *v, mrd__fact *fact, mrd__loss_id *loss)
{
    int64_t read_ns = 0;
    int64_t ns = 0;
    *loss = MRD__LOSS_TIME_OVERFLOW;
    if (!__builtin_mul_overflow(fact->ts, v->unit_ns, &read_ns))
        *loss = convert_ns(v, read_ns, &ns);
    if (*loss != MRD__LOSS_COUNT) return false;
    if (v->linear) stretch(v, fact, read_ns, ns);
    fact->ts = ns;
    return true;
}

typedef struct chunk_place {
    const mrd__joined *chunk;
    const uint32_t *strings;
    mrd__found *found;
} chunk_place;

static void convert_run(const conversion *v, const chunk_place *at, uint64_t from, uint64_t to)
{
    uint64_t dropped = 0;
    atomic_fetch_add(&v->use->facts, to - from);
    if (v->constant && v->offset_ns == 0 && v->unit_ns == 1 && !v->from_zero) return;
    for (uint64_t i = from; i < to; i++) {
        mrd__fact *fact = mrd__shard_fact(at->chunk->shard, i);
        mrd__loss_id loss;
        if (fact->phase >= MRD__PROCESS_NAME || convert_fact(v, fact, &loss)) continue;
        uint32_t order = at->chunk->base + (uint32_t)(i - at->chunk->first);
        mrd__found_at(at->found, loss, order, at->strings[fact->name], -1, 0);
        fact->phase = MRD__NO_FACT;
        dropped++;
    }
    atomic_fetch_add(&v->use->dropped, dropped);
}

static void convert_chunk(void *ctx, size_t index, uint32_t worker)
{
    mrd__clocks *c = ctx;
    const mrd__joined *chunk = &c->seal->chunks.data[index];
    const mrd__shard *shard = chunk->shard;
    chunk_place place = {chunk, c->seal->string_map[chunk->shard_index],
                         &c->seal->worker[worker].found};
    size_t run = 0; /* the next that begins behind `from` */
    uint64_t from = chunk->first;
    while (from < chunk->end) {
        while (run < shard->clock_runs.count && shard->clock_runs.data[run].first <= from)
            run++;
        uint64_t to = chunk->end;
        if (run < shard->clock_runs.count && shard->clock_runs.data[run].first < to)
            to = shard->clock_runs.data[run].first;
        mrd__file_clock clock = {.id = MRD__CLOCK_FILE}; /* before the first clock */
        if (run > 0) clock = shard->clock_runs.data[run - 1].clock;
        conversion v = begin(c, mrd__clocks_use(c, shard, clock));
        convert_run(&v, &place, from, to);
        from = to;
    }
}

void mrd__clocks_convert(mrd__clocks *c)
{
    mrd__parallel_for(c->seal->workers, c->seal->chunks.count, convert_chunk, c);
}
