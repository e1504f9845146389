#include "session/engine.h"

#include "base/alloc.h"
#include "base/error.h"
#include "session/registry.h"

#include <jansson.h>

typedef MRD__VEC(mrd__engine_value) value_list;
typedef MRD__VEC(mrd__engine_source) source_list;

struct mrd__engine {
    mrd__engine_sink sink;
    mrd__session_sink taker;
    mrd__projector *projector;
    mrd__session_report *report;
    mrd__buf payload; /* scratch */
    value_list values;
    source_list sources;
    mrd__engine_counts counts;
    mrd_status status; /* of the sink, while a record is taken */
    mrd_error error;
};

/* ---- What the projector gives ---- */

static void put(mrd__engine *e, mrd__file_kind kind, unsigned type, uint64_t sequence)
{
    if (e->status != MRD_OK || e->sink.derived == NULL) return;
    mrd__str payload = {e->payload.data, e->payload.size};
    e->status = e->sink.derived(e->sink.ctx, kind, MRD__RECORD_DERIVED + type, sequence, payload,
                                &e->error);
}

static void take_origin(void *ctx, uint64_t sequence, const mrd__origin *origin)
{
    mrd__engine *e = ctx;
    mrd__buf_clear(&e->payload);
    mrd__origin_encode(&e->payload, origin);
    put(e, MRD__FILE_DOMAIN, MRD__DOMAIN_ORIGIN, sequence);
}

static void take_event(void *ctx, const mrd__domain_event *event)
{
    mrd__engine *e = ctx;
    mrd__buf_clear(&e->payload);
    mrd__domain_encode(&e->payload, event);
    put(e, MRD__FILE_DOMAIN, event->type, event->sequence);
}

static void take_series(void *ctx, uint64_t sequence, const mrd__series *series)
{
    mrd__engine *e = ctx;
    mrd__engine_value value = {.series = series, .value = mrd__measured_none(MRD__QUALITY_MISSING)};
    mrd__vec_push(&e->values, value);
    mrd__session_report_series(e->report, series);
    mrd__buf_clear(&e->payload);
    mrd__series_encode(&e->payload, series);
    put(e, MRD__FILE_METRICS, MRD__METRICS_SERIES, sequence);
}

static void take_sample(void *ctx, const mrd__sample *sample)
{
    mrd__engine *e = ctx;
    e->counts.samples++;
    mrd__session_report_sample(e->report, sample);
    if (e->sink.sample != NULL) e->sink.sample(e->sink.ctx, sample);
    mrd__buf_clear(&e->payload);
    mrd__sample_encode(&e->payload, sample);
    put(e, MRD__FILE_METRICS, MRD__METRICS_SAMPLE, sample->sequence);
}

static void take_frame(void *ctx, const mrd__frame *frame)
{
    mrd__engine *e = ctx;
    for (size_t i = 0; i < frame->count; i++) {
        mrd__engine_value *value = &e->values.data[frame->entries[i].series];
        value->state = frame->entries[i].state;
        value->value = frame->entries[i].value;
        value->framed = true;
    }
    mrd__buf_clear(&e->payload);
    mrd__frame_encode(&e->payload, frame);
    put(e, MRD__FILE_METRICS, MRD__METRICS_FRAME, frame->sequence);
}

mrd__engine *mrd__engine_create(const mrd__engine_sink *sink)
{
    mrd__engine *e = mrd__new(mrd__engine);
    e->sink = *sink;
    e->taker =
        (mrd__session_sink){e, take_origin, take_event, take_series, take_sample, take_frame};
    e->projector = mrd__projector_create();
    e->report = mrd__session_report_create();
    return e;
}

void mrd__engine_destroy(mrd__engine **engine)
{
    mrd__engine *e = *engine;
    if (e == NULL) return;
    mrd__projector_destroy(&e->projector);
    mrd__session_report_destroy(&e->report);
    mrd__buf_reset(&e->payload);
    mrd__vec_reset(&e->values);
    mrd__vec_reset(&e->sources);
    mrd__free(e);
    *engine = NULL;
}

/* ---- Records ---- */

static mrd_status take_raw(mrd__engine *e, const mrd__record *record, mrd_error *error)
{
    mrd__envelope envelope;
    mrd__str payload = {(const char *)record->payload, record->size};
    MRD__TRY(mrd__envelope_decode(&envelope, payload, error));
    e->counts.events++;
    mrd__session_report_envelope(e->report, record->sequence, &envelope);
    mrd__projector_apply(e->projector, record->sequence, &envelope, &e->taker);
    return MRD_OK;
}

static json_t *note_of(const mrd__record *record, mrd_error *error)
{
    json_t *note = json_loadb((const char *)record->payload, record->size, 0, NULL);
    if (json_is_object(note)) return note;
    json_decref(note);
    (void)mrd__fail(error, MRD_ERR_FORMAT, "bad_note", "a %s record of %u bytes is no JSON object",
                    mrd__record_type_name(record->type), record->size);
    return NULL;
}

static mrd__str text_of(const json_t *value)
{
    return json_is_string(value) ? (mrd__str){json_string_value(value), json_string_length(value)}
                                 : MRD__STR("");
}

/* A run of an adapter has ended: so have the streams of the sources that it brought. */
static mrd_status take_lifecycle(mrd__engine *e, const mrd__record *record, mrd_error *error)
{
    json_t *note = note_of(record, error);
    if (note == NULL) return MRD_ERR_FORMAT;
    if (mrd__str_is(text_of(json_object_get(note, "event")), "stream-end")) {
        size_t i;
        json_t *source;
        bool stopped = json_is_true(json_object_get(note, "stopped"));
        json_array_foreach(json_object_get(note, "sources"), i, source)
        {
            if (text_of(source).size == 0) continue; /* it would mean all */
            mrd__projector_end(e->projector, record->sequence, text_of(source), &e->taker);
            if (stopped) mrd__session_report_stopped(e->report, text_of(source));
        }
    }
    json_decref(note);
    return MRD_OK;
}

static mrd_status take_gap(mrd__engine *e, const mrd__record *record, mrd_error *error)
{
    if ((record->flags & MRD__FLAG_OWN) != 0) return MRD_OK;
    json_t *note = note_of(record, error);
    if (note == NULL) return MRD_ERR_FORMAT;
    e->counts.gaps++;
    mrd__session_report_gap(e->report, record->sequence, text_of(json_object_get(note, "gap")));
    json_decref(note);
    return MRD_OK;
}

mrd_status mrd__engine_take(mrd__engine *e, const mrd__record *record, mrd_error *error)
{
    e->status = MRD_OK;
    mrd_status status = MRD_OK;
    switch (record->type) {
    case MRD__RECORD_RAW:
        status = take_raw(e, record, error);
        break;
    case MRD__RECORD_DECODE_ERROR:
        e->counts.decode_errors++;
        mrd__session_report_decode_error(e->report, record->sequence);
        break;
    case MRD__RECORD_LIFECYCLE:
        status = take_lifecycle(e, record, error);
        break;
    case MRD__RECORD_GAP:
        status = take_gap(e, record, error);
        break;
    default: /* clock snapshots are for drawing, checkpoints the log writer's */
        break;
    }
    if (status == MRD_OK && e->status != MRD_OK && error != NULL) *error = e->error;
    return status != MRD_OK ? status : e->status;
}

/* ---- Reading ---- */

mrd__engine_counts mrd__engine_counted(const mrd__engine *engine)
{
    mrd__engine_counts counts = engine->counts;
    counts.beyond_limit = mrd__projector_counted(engine->projector).beyond_limit;
    return counts;
}

const mrd__engine_value *mrd__engine_values(const mrd__engine *engine, size_t *count)
{
    *count = engine->values.count;
    return engine->values.data;
}

const mrd__engine_source *mrd__engine_sources(mrd__engine *e, size_t *count)
{
    size_t rows;
    const mrd__source_row *row = mrd__session_report_sources(e->report, &rows);
    e->sources.count = 0;
    for (size_t i = 0; i < rows; i++) {
        mrd__engine_source source = {.id = row[i].source_id, .envelopes = row[i].envelopes};
        mrd__vec_push(&e->sources, source);
    }
    /* The best of its series: one metric that a source no longer tells does not make it silent.
     * First the worst is assumed of every source that has a framed series. */
    for (size_t i = 0; i < e->values.count; i++) {
        if (e->values.data[i].framed)
            e->sources.data[mrd__session_report_source_of(e->report, (uint32_t)i)].state =
                MRD__SOURCE_ENDED;
    }
    for (size_t i = 0; i < e->values.count; i++) {
        const mrd__engine_value *value = &e->values.data[i];
        mrd__engine_source *source =
            &e->sources.data[mrd__session_report_source_of(e->report, (uint32_t)i)];
        if (value->framed && value->state < source->state) source->state = value->state;
    }
    *count = rows;
    return e->sources.data;
}

const mrd__session_report *mrd__engine_report(const mrd__engine *engine)
{
    return engine->report;
}

const char *const *mrd__engine_types(mrd__file_kind kind, size_t *count)
{
    *count = kind == MRD__FILE_DOMAIN ? MRD__DOMAIN_TYPES : MRD__METRICS_TYPES;
    return kind == MRD__FILE_DOMAIN ? mrd__domain_type_names : mrd__metrics_type_names;
}

/* ---- Facts ---- */

static void add_counts(mrd__buf *out, const uint64_t counts[MRD__QUALITIES])
{
    for (size_t i = 0; i < MRD__QUALITIES; i++)
        mrd__buf_printf(out, "%s\"%s\":%llu", i == 0 ? "{" : ",", mrd__quality_name(i),
                        (unsigned long long)counts[i]);
    mrd__buf_char(out, '}');
}

static void add_sources(const mrd__engine *e, mrd__buf *out)
{
    size_t count;
    uint64_t all[MRD__QUALITIES] = {0};
    const mrd__source_row *rows = mrd__session_report_sources(e->report, &count);
    mrd__buf_text(out, "\"sources\":{");
    for (size_t i = 0; i < count; i++) {
        if (i > 0) mrd__buf_char(out, ',');
        mrd__buf_json_string(out, rows[i].source_id);
        mrd__buf_printf(out, ":{\"envelopes\":%llu,\"stopped\":%s,\"samples\":",
                        (unsigned long long)rows[i].envelopes, rows[i].stopped ? "true" : "false");
        add_counts(out, rows[i].samples);
        mrd__buf_char(out, '}');
        for (size_t q = 0; q < MRD__QUALITIES; q++)
            all[q] += rows[i].samples[q];
    }
    mrd__buf_text(out, "},\"samples\":");
    add_counts(out, all);
}

void mrd__engine_facts(const mrd__engine *e, mrd__buf *out)
{
    size_t count;
    mrd__projector_counts projected = mrd__projector_counted(e->projector);
    const mrd__gap_row *gaps = mrd__session_report_gaps(e->report, &count);
    mrd__buf_char(out, '{');
    add_sources(e, out);
    mrd__buf_printf(out, ",\"decode_errors\":%llu,\"unknown_kinds\":%llu,\"beyond_limit\":%llu",
                    (unsigned long long)e->counts.decode_errors,
                    (unsigned long long)projected.unknown_kinds,
                    (unsigned long long)projected.beyond_limit);
    mrd__buf_printf(out, ",\"bad_payloads\":%llu,\"gap_count\":%llu,\"gaps\":[",
                    (unsigned long long)projected.bad_payloads, (unsigned long long)e->counts.gaps);
    for (size_t i = 0; i < count; i++) {
        mrd__buf_text(out, i == 0 ? "{\"gap\":" : ",{\"gap\":");
        mrd__buf_json_string(out, gaps[i].name);
        mrd__buf_printf(out, ",\"seq\":%llu}", (unsigned long long)gaps[i].sequence);
    }
    mrd__buf_text(out, "],\"timebases\":");
    mrd__projector_timebases(e->projector, out);
    mrd__buf_text(out, ",\"registry\":");
    mrd__registry_versions(out);
    mrd__buf_char(out, '}');
}
