#include "session/report_state.h"

#include "base/assert.h"
#include "session/registry.h"

mrd__session_report *mrd__session_report_create(void)
{
    mrd__session_report *r = mrd__new(mrd__session_report);
    r->source_slots = mrd__new_array(uint32_t, MRD__REPORT_SOURCE_SLOTS);
    return r;
}

void mrd__session_report_destroy(mrd__session_report **report)
{
    mrd__session_report *r = *report;
    if (r == NULL) return;
    for (size_t i = 0; i < r->series.count; i++) {
        mrd__vec_reset(&r->series.data[i].values);
        mrd__vec_reset(&r->series.data[i].jank_sequences);
        mrd__vec_reset(&r->series.data[i].big_sequences);
    }
    mrd__vec_reset(&r->series);
    mrd__vec_reset(&r->sources);
    mrd__vec_reset(&r->gaps);
    mrd__vec_reset(&r->launches);
    mrd__free(r->source_slots);
    mrd__arena_reset(&r->texts);
    mrd__free(r);
    *report = NULL;
}

/* ---- Sources ---- */

/* Above the projector's limit nothing is computed; all such sources are one row, named "". */
static uint32_t source_of(mrd__session_report *r, mrd__str id)
{
    if (r->sources.count > 0 && mrd__str_equal(r->sources.data[r->last_source].source_id, id))
        return r->last_source;
    uint64_t hash = mrd__hash(id.data, id.size);
    size_t slot = hash & (MRD__REPORT_SOURCE_SLOTS - 1);
    for (; r->source_slots[slot] != 0; slot = (slot + 1) & (MRD__REPORT_SOURCE_SLOTS - 1)) {
        uint32_t at = r->source_slots[slot] - 1;
        if (mrd__str_equal(r->sources.data[at].source_id, id)) return r->last_source = at;
    }
    if (r->sources.count >= MRD__STREAMS_MAX && id.size > 0) return source_of(r, MRD__STR(""));
    mrd__source_row row = {
        .source_id = {mrd__arena_text(&r->texts, id.size > 0 ? id.data : "", id.size), id.size}};
    mrd__vec_push(&r->sources, row);
    r->source_slots[slot] = (uint32_t)r->sources.count;
    return r->last_source = (uint32_t)(r->sources.count - 1);
}

/* ---- Feeding ---- */

void mrd__session_report_series(mrd__session_report *r, const mrd__series *series)
{
    mrd__assert(series->id == r->series.count);
    mrd__series *own = mrd__arena_alloc(&r->texts, sizeof *own, sizeof(void *));
    *own = *series;
    mrd__str *texts[] = {&own->metric, &own->unit, &own->source, &own->key};
    for (size_t i = 0; i < 4; i++)
        texts[i]->data =
            mrd__arena_text(&r->texts, texts[i]->size > 0 ? texts[i]->data : "", texts[i]->size);
    series_stats stats = {.series = own,
                          .source = source_of(r, series->source),
                          .is_frame_time = mrd__str_is(own->metric, "frame.time.ms"),
                          .is_launch = mrd__str_is(own->metric, "startup.span.ns"),
                          .last = mrd__measured_none(MRD__QUALITY_MISSING)};
    mrd__vec_push(&r->series, stats);
}

/* Products of integers are summed as integers; what no longer fits goes to the sum of doubles, in
 * the order in which it came. */
static void add_weighted(series_stats *s, mrd__measured value, int64_t weight)
{
    int64_t integer;
    double real;
    s->weight += (uint64_t)weight;
    if (mrd__measured_get_integer(value, &integer)) {
        __int128 product = (__int128)integer * weight;
        __int128 sum;
        if (__builtin_add_overflow(s->integer_sum, product, &sum)) {
            s->real_sum += (double)s->integer_sum;
            sum = product;
        }
        s->integer_sum = sum;
    } else if (mrd__measured_get(value, &real)) {
        s->real_sum += real * (double)weight;
    }
}

static void add_range(series_stats *s, mrd__measured value)
{
    int64_t integer;
    double real;
    bool first = s->values.count == 0;
    if (!mrd__measured_get(value, &real)) return;
    if (mrd__measured_get_integer(value, &integer)) {
        if (first || integer < s->least) s->least = integer;
        if (first || integer > s->greatest) s->greatest = integer;
    } else {
        s->has_reals = true;
    }
    /* -0 + 0 is 0: equal values have equal bytes, so that sorting is the same everywhere. */
    mrd__vec_push(&s->values, real + 0.0);
}

static void push_sequence(sequence_list *list, uint64_t sequence)
{
    if (list->count < MRD__REPORT_LIST_MAX) mrd__vec_push(list, sequence);
}

static void add_jank(series_stats *s, const mrd__sample *sample)
{
    if ((sample->flags & MRD__SAMPLE_JANK) != 0) {
        s->janks++;
        s->jank_ns += (uint64_t)sample->time_ns;
        push_sequence(&s->jank_sequences, sample->sequence);
    }
    if ((sample->flags & MRD__SAMPLE_BIG_JANK) != 0) {
        s->big_janks++;
        push_sequence(&s->big_sequences, sample->sequence);
    }
    s->big_janks_3x += (sample->flags & MRD__SAMPLE_BIG_JANK_3X) != 0;
}

static void add_launch(mrd__session_report *r, const series_stats *s, const mrd__sample *sample)
{
    mrd__launch_row row = {s->series->key, sample->sequence, sample->value};
    int64_t ns;
    r->launches_in_all++;
    if (r->launches.count < MRD__REPORT_LIST_MAX) mrd__vec_push(&r->launches, row);
    if (!mrd__measured_get_integer(sample->value, &ns)) return;
    if (mrd__str_is(s->series->key, "total")) {
        r->has_total = true;
        r->launch_total = ns;
    } else {
        r->has_phases = true;
        r->launch_sum += ns;
    }
}

static void add_ok(series_stats *s, const mrd__sample *sample)
{
    add_range(s, sample->value);
    if ((sample->flags & MRD__SAMPLE_RATE) != 0) {
        s->delta += sample->delta;
        s->under += (unsigned __int128)(uint64_t)sample->time_ns * sample->div;
    } else if (s->series->kind == MRD__METRIC_INTERVAL) {
        s->weight += (uint64_t)sample->time_ns;
    } else {
        add_weighted(s, sample->value, sample->time_ns);
    }
    if (s->is_frame_time) add_jank(s, sample);
}

void mrd__session_report_sample(mrd__session_report *r, const mrd__sample *sample)
{
    mrd__assert(sample->series->id < r->series.count);
    series_stats *s = &r->series.data[sample->series->id];
    mrd__quality quality = sample->value.quality;
    r->samples++;
    s->readings++;
    s->counts[quality]++;
    s->covered[quality] += (uint64_t)sample->covered_ns;
    s->last = sample->value;
    if ((sample->flags & MRD__SAMPLE_HOST) != 0) {
        s->has_host = true;
        s->last_host = sample->host;
    }
    r->sources.data[s->source].samples[quality]++;
    if (quality == MRD__QUALITY_OK) add_ok(s, sample);
    if (s->is_launch) add_launch(r, s, sample);
}

static void take_sequence(mrd__session_report *r, uint64_t sequence)
{
    if (r->first_sequence == 0) r->first_sequence = sequence;
    if (sequence > r->last_sequence) r->last_sequence = sequence;
}

void mrd__session_report_envelope(mrd__session_report *r, uint64_t sequence,
                                  const mrd__envelope *envelope)
{
    take_sequence(r, sequence);
    r->envelopes++;
    if (envelope->has_host_receive) {
        int64_t ns = envelope->host_receive.host_ns;
        if (!r->has_host || ns < r->first_host.host_ns) r->first_host = envelope->host_receive;
        if (!r->has_host || ns > r->last_host.host_ns) r->last_host = envelope->host_receive;
        r->has_host = true;
    }
    uint32_t at = source_of(r, envelope->source_id);
    mrd__source_row *row = &r->sources.data[at];
    row->envelopes++;
    if (mrd__str_is(envelope->kind, "stopped")) row->stopped = true;
}

void mrd__session_report_stopped(mrd__session_report *r, mrd__str source_id)
{
    r->sources.data[source_of(r, source_id)].stopped = true;
}

void mrd__session_report_decode_error(mrd__session_report *r, uint64_t sequence)
{
    take_sequence(r, sequence);
    r->decode_errors++;
}

void mrd__session_report_gap(mrd__session_report *r, uint64_t sequence, mrd__str name)
{
    r->gaps_in_all++;
    if (r->gaps.count == MRD__REPORT_LIST_MAX) return;
    mrd__gap_row row = {
        {mrd__arena_text(&r->texts, name.size > 0 ? name.data : "", name.size), name.size},
        sequence};
    mrd__vec_push(&r->gaps, row);
}

/* ---- Reading ---- */

const mrd__source_row *mrd__session_report_sources(const mrd__session_report *r, size_t *count)
{
    *count = r->sources.count;
    return r->sources.data;
}

uint32_t mrd__session_report_source_of(const mrd__session_report *r, uint32_t series)
{
    mrd__assert(series < r->series.count);
    return r->series.data[series].source;
}

const mrd__gap_row *mrd__session_report_gaps(const mrd__session_report *r, size_t *count)
{
    *count = r->gaps.count;
    return r->gaps.data;
}
