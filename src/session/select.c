/* Samples of a stored session: all, some, or thinned for drawing.
 *
 * Thinning keeps stored samples and makes none: of each series in each part of the range the first,
 * the last, the least, the greatest and the first without a value. A part is known when the next
 * one of its series begins; what is kept is sorted by sequence at the end. */
#include "base/alloc.h"
#include "base/error.h"
#include "session/engine.h"
#include "session/replay.h"

#include <stdlib.h>
#include <string.h>

typedef enum kept {
    FIRST,
    LAST,
    LEAST,
    GREATEST,
    HOLE,
    KEPT,
} kept;

/* One part of one series. */
typedef struct part {
    uint32_t bucket;
    bool open;
    bool has[KEPT];
    mrd__sample at[KEPT];
} part;

typedef struct choosing {
    const mrd_session_select *select;
    mrd__sample_fn fn;
    void *ctx;
    int64_t start_ns, end_ns;  /* of thinning */
    bool measuring, has_range; /* the first pass of two: find the range */
    MRD__VEC(part) parts;      /* by series */
    MRD__VEC(mrd__sample) out;
    mrd__metrics_reader reader;
    mrd_status status;
    mrd_error error;
} choosing;

static mrd_status give(choosing *c, const mrd__sample *sample, mrd_error *error)
{
    const mrd__series *series = sample->series;
    mrd__sample_row row = {
        .sequence = sample->sequence,
        .metric = series->metric,
        .unit = series->unit,
        .source = series->source,
        .key = series->key,
        .quality = mrd__quality_name(sample->value.quality),
        .has_time = (sample->flags & MRD__SAMPLE_HOST) != 0,
        .time_ns = sample->host.host_ns,
    };
    row.present = mrd__measured_get(sample->value, &row.value);
    row.integer = mrd__measured_get_integer(sample->value, &row.whole);
    return c->fn(c->ctx, &row, error);
}

static bool wanted(const choosing *c, const mrd__sample *sample)
{
    const mrd_session_select *s = c->select;
    if (s == NULL) return true;
    bool timed = (sample->flags & MRD__SAMPLE_HOST) != 0;
    int64_t ns = sample->host.host_ns;
    if (s->ranged && (!timed || ns < s->start_ns || ns >= s->end_ns)) return false;
    if (s->buckets > 0 && !timed) return false; /* it has no place on the axis */
    for (size_t i = 0; i < s->metric_count; i++) {
        if (mrd__str_is(sample->series->metric, s->metrics[i])) return true;
    }
    return s->metric_count == 0;
}

/* ---- Thinning ---- */

static void close_part(choosing *c, part *p)
{
    for (int i = 0; p->open && i < KEPT; i++) {
        bool again = false;
        for (int k = 0; k < i && p->has[i]; k++)
            again = again || (p->has[k] && p->at[k].sequence == p->at[i].sequence);
        if (p->has[i] && !again) mrd__vec_push(&c->out, p->at[i]);
    }
    *p = (part){0};
}

static void keep(part *p, kept which, const mrd__sample *sample)
{
    p->has[which] = true;
    p->at[which] = *sample;
}

static void thin(choosing *c, const mrd__sample *sample)
{
    while (c->parts.count <= sample->series->id)
        mrd__vec_push(&c->parts, (part){0});
    part *p = &c->parts.data[sample->series->id];
    unsigned __int128 at = (uint64_t)sample->host.host_ns - (uint64_t)c->start_ns;
    uint64_t span = (uint64_t)c->end_ns - (uint64_t)c->start_ns;
    uint32_t bucket = (uint32_t)(at * c->select->buckets / span);
    if (p->open && p->bucket != bucket) close_part(c, p);
    p->open = true;
    p->bucket = bucket;
    double value, other;
    if (!p->has[FIRST]) keep(p, FIRST, sample);
    keep(p, LAST, sample);
    if (!mrd__measured_get(sample->value, &value)) {
        if (!p->has[HOLE]) keep(p, HOLE, sample);
        return;
    }
    if (!p->has[LEAST] || (mrd__measured_get(p->at[LEAST].value, &other) && value < other))
        keep(p, LEAST, sample);
    if (!p->has[GREATEST] || (mrd__measured_get(p->at[GREATEST].value, &other) && value > other))
        keep(p, GREATEST, sample);
}

static int by_sequence(const void *a, const void *b)
{
    const mrd__sample *x = a, *y = b;
    if (x->sequence != y->sequence) return x->sequence < y->sequence ? -1 : 1;
    return x->series->id < y->series->id ? -1 : x->series->id > y->series->id;
}

static mrd_status give_thinned(choosing *c, mrd_error *error)
{
    for (size_t i = 0; i < c->parts.count; i++)
        close_part(c, &c->parts.data[i]);
    if (c->out.count > 0) qsort(c->out.data, c->out.count, sizeof *c->out.data, by_sequence);
    for (size_t i = 0; i < c->out.count; i++)
        MRD__TRY(give(c, &c->out.data[i], error));
    return MRD_OK;
}

/* ---- Reading ---- */

static void measure(choosing *c, const mrd__sample *sample)
{
    int64_t ns = sample->host.host_ns;
    if (!c->has_range || ns < c->start_ns) c->start_ns = ns;
    if (!c->has_range || ns >= c->end_ns) c->end_ns = ns < INT64_MAX ? ns + 1 : ns;
    c->has_range = true;
}

static void take(void *ctx, const mrd__sample *sample)
{
    choosing *c = ctx;
    if (c->status != MRD_OK || !wanted(c, sample)) return;
    if (c->measuring)
        measure(c, sample);
    else if (c->select != NULL && c->select->buckets > 0)
        thin(c, sample);
    else
        c->status = give(c, sample, &c->error);
}

static mrd_status take_stored(void *ctx, const mrd__record *record, mrd_error *error)
{
    choosing *c = ctx;
    unsigned type = record->type - MRD__RECORD_DERIVED;
    mrd__str payload = {(const char *)record->payload, record->size};
    MRD__TRY(mrd__metrics_read(&c->reader, type, record->sequence, payload, error));
    if (type == MRD__METRICS_SAMPLE) take(c, &c->reader.sample);
    if (c->status != MRD_OK && error != NULL) *error = c->error;
    return c->status;
}

typedef struct computing {
    mrd__engine *engine;
    choosing *choosing;
} computing;

static mrd_status take_raw(void *ctx, const mrd__record *record, mrd_error *error)
{
    computing *of = ctx;
    MRD__TRY(mrd__engine_take(of->engine, record, error));
    if (of->choosing->status != MRD_OK && error != NULL) *error = of->choosing->error;
    return of->choosing->status;
}

/* From metrics.mrl; without a seal that is not whole yet, and raw is asked. The engine or the
 * reader holds the series until after give_thinned. */
static mrd_status read_all(choosing *c, mrd__stored *stored, mrd__engine **engine, mrd_error *error)
{
    if (mrd__stored_sealed(stored)) {
        mrd__metrics_reader_reset(&c->reader);
        return mrd__stored_read_derived(stored, MRD__FILE_METRICS, take_stored, c, error);
    }
    mrd__damage torn;
    MRD__TRY(mrd__session_check_definitions(stored, error));
    mrd__engine_sink sink = {.ctx = c, .sample = take};
    mrd__engine_destroy(engine);
    *engine = mrd__engine_create(&sink);
    computing of = {*engine, c};
    return mrd__stored_read(stored, take_raw, &of, &torn, error);
}

static mrd_status choose(choosing *c, mrd__stored *stored, mrd__engine **engine, mrd_error *error)
{
    const mrd_session_select *s = c->select;
    bool thinned = s != NULL && s->buckets > 0;
    if (thinned && s->ranged) {
        c->start_ns = s->start_ns;
        c->end_ns = s->end_ns;
    } else if (thinned) {
        c->measuring = true;
        MRD__TRY(read_all(c, stored, engine, error));
        c->measuring = false;
        if (!c->has_range) return MRD_OK;
    }
    MRD__TRY(read_all(c, stored, engine, error));
    return thinned ? give_thinned(c, error) : MRD_OK;
}

static mrd_status check_select(const mrd_session_select *s, mrd_error *error)
{
    if (s == NULL) return MRD_OK;
    if (s->ranged && s->start_ns >= s->end_ns)
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_range",
                         "the range from %lld to %lld ns is empty, allowed is start before end",
                         (long long)s->start_ns, (long long)s->end_ns);
    if (s->buckets > MRD_SESSION_BUCKETS_MAX)
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_buckets", "%u buckets, allowed are up to %u",
                         s->buckets, MRD_SESSION_BUCKETS_MAX);
    return MRD_OK;
}

mrd_status mrd__session_samples(const char *dir, const mrd_session_select *select,
                                mrd__sample_fn fn, void *ctx, mrd_error *error)
{
    mrd__stored *stored;
    mrd__engine *engine = NULL;
    choosing c = {.select = select, .fn = fn, .ctx = ctx};
    MRD__TRY(check_select(select, error));
    MRD__TRY(mrd__stored_open(dir, NULL, &stored, error));
    mrd_status status = choose(&c, stored, &engine, error);
    mrd__engine_destroy(&engine);
    mrd__metrics_reader_reset(&c.reader);
    mrd__vec_reset(&c.parts);
    mrd__vec_reset(&c.out);
    mrd__stored_close(&stored);
    return status;
}
