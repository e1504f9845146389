/* metrics.mrl: a counter track a series, and where a reading has no number, why, on a track beside
 * it. Frame times and launch phases are kept for events.c, which knows when they were. */
#include "base/error.h"
#include "ingest/session/inside.h"

static bool is_frame(const mrd__series *series)
{
    return mrd__str_is(series->metric, "frame.time.ms");
}

static bool is_launch(const mrd__series *series)
{
    return mrd__str_is(series->metric, "startup.span.ns");
}

static void add_series(mrd__session_read *r, const mrd__series *series)
{
    mrd__session_series own = {.values = MRD__NONE, .gaps = MRD__NONE, .frames = MRD__NONE};
    own.source = mrd__session_source_of(r, series->source);
    mrd__buf_clear(&r->text);
    mrd__buf_str(&r->text, series->metric);
    if (series->key.size > 0) mrd__buf_char(&r->text, ' ');
    mrd__buf_str(&r->text, series->key);
    own.name = mrd__session_string(r, (mrd__str){r->text.data, r->text.size});
    mrd__vec_push(&r->series, own);
}

static uint32_t value_track(mrd__session_read *r, mrd__session_series *own, mrd__str unit)
{
    if (own->values != MRD__NONE) return own->values;
    uint32_t unit_name = mrd__session_string(r, unit);
    own->values = mrd__session_track(r, mrd__session_process(r, own->source), MRD__NONE, own->name,
                                     unit_name);
    return own->values;
}

static uint32_t gap_track(mrd__session_read *r, mrd__session_series *own, mrd__str unit)
{
    if (own->gaps != MRD__NONE) return own->gaps;
    uint32_t parent = value_track(r, own, unit);
    mrd__buf_clear(&r->text);
    mrd__buf_str(&r->text, mrd__shard_text(r->shard, own->name));
    mrd__buf_text(&r->text, " gap");
    uint32_t name = mrd__session_string(r, (mrd__str){r->text.data, r->text.size});
    own->gaps = mrd__session_track(r, mrd__session_process(r, own->source), parent, name, 0);
    return own->gaps;
}

/* The quality holds for the time since the reading before, as far as that is covered. */
static void add_gap(mrd__session_read *r, mrd__session_series *own, const mrd__sample *sample)
{
    uint32_t track = gap_track(r, own, sample->series->unit);
    uint32_t name = mrd__session_string(r, mrd__str_of(mrd__quality_name(sample->value.quality)));
    int64_t start;
    int64_t covered = sample->covered_ns > 0 ? sample->covered_ns : 0;
    if (__builtin_sub_overflow(sample->host.host_ns, covered, &start) || start < 0) {
        start = sample->host.host_ns;
        covered = 0;
    }
    mrd__buf_clear(&r->text);
    mrd__buf_printf(&r->text, "{\"seq\":%llu}", (unsigned long long)sample->sequence);
    uint64_t args = mrd__session_keep_args(r);
    mrd__fact *fact = mrd__session_push(r, MRD__COMPLETE, 'X', track, start);
    fact->dur = covered;
    fact->name = name;
    mrd__session_args(fact, args);
}

static uint32_t frame_track(mrd__session_read *r, mrd__session_series *own, mrd__str display)
{
    if (own->frames != MRD__NONE) return own->frames;
    mrd__buf_clear(&r->text);
    mrd__buf_text(&r->text, "frames");
    if (display.size > 0) mrd__buf_char(&r->text, ' ');
    mrd__buf_str(&r->text, display);
    uint32_t name = mrd__session_string(r, (mrd__str){r->text.data, r->text.size});
    own->frames = mrd__session_track(r, mrd__session_process(r, own->source), MRD__NONE, name, 0);
    return own->frames;
}

static uint32_t launch_track(mrd__session_read *r, uint32_t number)
{
    mrd__session_source *source = &r->sources.data[number];
    if (source->launch != MRD__NONE) return source->launch;
    uint32_t name = mrd__session_string(r, MRD__STR("launch"));
    source->launch = mrd__session_track(r, mrd__session_process(r, number), MRD__NONE, name, 0);
    mrd__shard_track_spec(r->shard, source->launch)->async = true; /* phases overlap */
    return source->launch;
}

static void note(mrd__session_read *r, mrd__session_series *own, const mrd__sample *sample)
{
    bool launch = is_launch(sample->series);
    if (!launch && !is_frame(sample->series)) return;
    mrd__session_note one = {.sequence = sample->sequence,
                             .dur_ns = sample->time_ns,
                             .flags = sample->flags,
                             .launch = launch};
    one.track = launch ? launch_track(r, own->source) : frame_track(r, own, sample->series->key);
    one.name = mrd__session_string(r, launch ? sample->series->key : MRD__STR("frame"));
    mrd__vec_push(&r->notes, one);
}

static void add_sample(mrd__session_read *r, const mrd__sample *sample)
{
    mrd__session_series *own = &r->series.data[sample->series->id];
    double value;
    bool has_value = mrd__measured_get(sample->value, &value);
    if (has_value) note(r, own, sample);
    if ((sample->flags & MRD__SAMPLE_HOST) == 0) {
        r->timeless++;
    } else if (has_value) {
        uint32_t track = value_track(r, own, sample->series->unit);
        mrd__fact *fact = mrd__session_push(r, MRD__COUNTER, 'C', track, sample->host.host_ns);
        fact->value = value;
    } else {
        add_gap(r, own, sample);
    }
}

/* A source that fell silent, told by the first frame of the publisher that finds it: frames leave
 * its series out from then on, until they come back. */
static void tell_silent(mrd__session_read *r, uint32_t number, const mrd__frame *frame)
{
    mrd__session_source *source = &r->sources.data[number];
    bool ended = source->silent_state == MRD__SOURCE_ENDED;
    mrd__str word =
        mrd__str_of(mrd__source_state_name(ended ? MRD__SOURCE_ENDED : MRD__SOURCE_STALE));
    uint32_t name = mrd__session_string(r, word);
    mrd__buf_clear(&r->text);
    mrd__buf_printf(&r->text, "{\"seq\":%llu,\"metrics\":[", (unsigned long long)frame->sequence);
    mrd__buf_str(&r->text, (mrd__str){source->silent.data, source->silent.size});
    mrd__buf_text(&r->text, "]}");
    uint64_t args = mrd__session_keep_args(r);
    uint32_t track = mrd__session_state_track(r, number);
    mrd__fact *fact = mrd__session_push(r, MRD__INSTANT, 'i', track, frame->host.host_ns);
    fact->name = name;
    mrd__session_args(fact, args);
    mrd__buf_clear(&source->silent);
    source->silent_state = MRD__SOURCE_LIVE;
}

static void add_states(mrd__session_read *r, const mrd__frame *frame)
{
    for (size_t i = 0; i < frame->count; i++) {
        const mrd__frame_entry *entry = &frame->entries[i];
        const mrd__session_series *own = &r->series.data[entry->series];
        mrd__session_source *source = &r->sources.data[own->source];
        if (entry->state == MRD__SOURCE_LIVE) continue;
        if (source->silent.size > 0) mrd__buf_char(&source->silent, ',');
        mrd__buf_json_string(&source->silent, mrd__shard_text(r->shard, own->name));
        if (entry->state > source->silent_state) source->silent_state = (uint8_t)entry->state;
    }
    for (size_t i = 0; i < frame->count; i++) {
        const mrd__session_series *own = &r->series.data[frame->entries[i].series];
        if (r->sources.data[own->source].silent_state != MRD__SOURCE_LIVE)
            tell_silent(r, own->source, frame);
    }
}

mrd_status mrd__session_metric(mrd__session_read *r, const mrd__record *record, mrd_error *error)
{
    unsigned type = record->type - MRD__RECORD_DERIVED;
    mrd__str payload = {(const char *)record->payload, record->size};
    MRD__TRY(mrd__metrics_read(&r->metrics, type, record->sequence, payload, error));
    if (type == MRD__METRICS_SERIES)
        add_series(r, r->metrics.series.data[r->metrics.series.count - 1]);
    if (type == MRD__METRICS_SAMPLE) add_sample(r, &r->metrics.sample);
    if (type == MRD__METRICS_FRAME) add_states(r, &r->metrics.frame);
    return MRD_OK;
}
