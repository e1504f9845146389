/* Gauges, rates and spans: what one envelope says of the metrics of its kind.
 *
 * Every reading passes the gate first (identity and role, then break, then first reading); what is
 * left is judged by its own value. The first reading of a series and the first after a break set
 * the anchor and publish nothing. */
#include "base/json.h"
#include "session/projector_state.h"

#include <math.h>
#include <string.h>

/* ---- The gate ---- */

static mrd__quality gate(const applying *a, series_state *s, mrd__source_role role, bool denied)
{
    bool first = !s->seen;
    bool broken = s->broken || memcmp(&s->key, &a->key, sizeof s->key) != 0;
    s->seen = true;
    s->broken = !a->trusted || a->envelope->role != role;
    s->key = a->key;
    if (s->broken) return MRD__QUALITY_NOT_APPLICABLE;
    /* The source says that it has none: that is no first reading of anything. */
    if (denied) return MRD__QUALITY_UNSUPPORTED;
    if (first) return MRD__QUALITY_WARMUP;
    return broken ? MRD__QUALITY_DISCONTINUITY : MRD__QUALITY_OK;
}

static bool is_denied(const applying *a, mrd__reading_value value)
{
    return a->blanket == MRD__GIVEN_UNSUPPORTED && value.given == MRD__GIVEN_UNSUPPORTED;
}

/* How long a gauge's reading counts: since the one before, at most twice the cadence. */
static int64_t weight_of(const applying *a, const series_state *s)
{
    int64_t ns;
    const stream_state *of = &a->p->streams.data[a->stream];
    int64_t cadence = a->p->sources.data[of->source].cadence_ns;
    if (!mrd__projector_between(a->p, a->stream, &s->previous, &a->time, &ns) || ns <= 0) return 0;
    return cadence > 0 && ns / 2 >= cadence ? 2 * cadence : ns;
}

/* ---- Values ---- */

/* The divisor of a metric (number of cores): 1 where it has none. */
static mrd__quality take_divisor(const mrd__metric *metric, mrd__reading_value value, uint32_t *out)
{
    *out = 1;
    if (metric->divisor == NULL) return MRD__QUALITY_OK;
    if (value.given == MRD__GIVEN_ABSENT || value.given == MRD__GIVEN_NULL)
        return MRD__QUALITY_MISSING;
    if (value.given != MRD__GIVEN_INTEGER || value.number.integer < 1 ||
        value.number.integer > UINT32_MAX)
        return MRD__QUALITY_UNSUPPORTED;
    *out = (uint32_t)value.number.integer;
    return MRD__QUALITY_OK;
}

static mrd__measured gauge_value(const mrd__metric *metric, mrd__reading_value value, uint32_t div)
{
    bool whole = value.given == MRD__GIVEN_INTEGER;
    double number = whole                               ? (double)value.number.integer
                    : value.given == MRD__GIVEN_NATURAL ? (double)value.number.natural
                                                        : value.number.real;
    if ((metric->flags & MRD__METRIC_NEGATIVE_UNSUPPORTED) != 0 && number < 0)
        return mrd__measured_none(MRD__QUALITY_UNSUPPORTED);
    if (whole && metric->numer == 1 && metric->denom == 1 && metric->divisor == NULL)
        return mrd__measured_integer(value.number.integer, 1);
    double result = number * metric->numer / ((double)metric->denom * div);
    return isfinite(result) ? mrd__measured_real(result, 1)
                            : mrd__measured_none(MRD__QUALITY_UNSUPPORTED);
}

/* A counter is a whole number from 0 to 2^64 - 1, however it is written. */
static bool counter_value(mrd__reading_value value, uint64_t *out)
{
    if (value.given == MRD__GIVEN_NATURAL) *out = value.number.natural;
    if (value.given == MRD__GIVEN_INTEGER) *out = (uint64_t)value.number.integer;
    if (value.given == MRD__GIVEN_REAL) {
        double real = value.number.real;
        if (real < 0 || real > 0x1p53 || real != floor(real)) return false;
        *out = (uint64_t)real;
        return true;
    }
    return value.given == MRD__GIVEN_NATURAL ||
           (value.given == MRD__GIVEN_INTEGER && value.number.integer >= 0);
}

/* Why there is no number; OK where there is one. */
static mrd__quality given_quality(mrd__given given)
{
    if (given == MRD__GIVEN_ABSENT || given == MRD__GIVEN_NULL) return MRD__QUALITY_MISSING;
    return given == MRD__GIVEN_UNSUPPORTED ? MRD__QUALITY_UNSUPPORTED : MRD__QUALITY_OK;
}

/* ---- Gauge ---- */

static void put(applying *a, series_state *s, mrd__quality quality, mrd__sample *sample)
{
    if (quality != MRD__QUALITY_OK) sample->value = mrd__measured_none(quality);
    if (sample->value.quality != MRD__QUALITY_OK) sample->time_ns = 0;
    s->previous = a->time;
    mrd__projector_sample(a, s, sample);
}

static void take_gauge(applying *a, series_state *s, const mrd__metric *metric,
                       mrd__reading_value value, mrd__reading_value divisor)
{
    uint32_t div;
    mrd__sample sample = {.div = 1};
    mrd__quality quality = gate(a, s, metric->role, is_denied(a, value));
    if (quality == MRD__QUALITY_OK) quality = given_quality(value.given);
    if (quality == MRD__QUALITY_OK) quality = take_divisor(metric, divisor, &div);
    if (quality == MRD__QUALITY_OK) {
        sample.value = gauge_value(metric, value, div);
        sample.time_ns = weight_of(a, s);
    }
    put(a, s, quality, &sample);
}

/* ---- Rate ---- */

static void set_anchor(applying *a, series_state *s, uint64_t counter)
{
    s->has_anchor = a->time.known;
    s->anchor = counter;
    s->anchor_time = a->time;
}

/* Against the anchor, which this reading replaces in any case. */
static mrd__quality rate_value(applying *a, series_state *s, const mrd__metric *metric,
                               uint64_t counter, uint32_t div, mrd__sample *sample)
{
    int64_t dt;
    bool anchored = s->has_anchor;
    uint64_t anchor = s->anchor;
    bool timed = mrd__projector_between(a->p, a->stream, &s->anchor_time, &a->time, &dt);
    if (!a->time.known) return MRD__QUALITY_MISSING;
    set_anchor(a, s, counter);
    if (!anchored) return MRD__QUALITY_WARMUP;
    if (counter < anchor) return MRD__QUALITY_COUNTER_RESET;
    if (!timed) return MRD__QUALITY_UNSUPPORTED; /* ticks without a timebase */
    if (dt <= 0) return MRD__QUALITY_DISCONTINUITY;
    unsigned __int128 over = (unsigned __int128)(counter - anchor) * metric->numer;
    unsigned __int128 under = (unsigned __int128)(uint64_t)dt * div * metric->denom;
    sample->value = mrd__measured_real((double)over / (double)under, 2);
    sample->delta = counter - anchor;
    sample->time_ns = dt;
    sample->div = div;
    return MRD__QUALITY_OK;
}

static void take_rate(applying *a, series_state *s, const mrd__metric *metric,
                      mrd__reading_value value, mrd__reading_value divisor, bool resent)
{
    uint32_t div;
    uint64_t counter;
    mrd__sample sample = {.flags = MRD__SAMPLE_RATE, .div = 1};
    mrd__quality quality = gate(a, s, metric->role, is_denied(a, value));
    if (quality == MRD__QUALITY_OK && resent) quality = MRD__QUALITY_DISCONTINUITY;
    mrd__quality given = given_quality(value.given);
    if (given == MRD__QUALITY_OK && !counter_value(value, &counter))
        given = MRD__QUALITY_UNSUPPORTED;
    if (quality == MRD__QUALITY_OK) quality = given;
    if (quality == MRD__QUALITY_OK) quality = take_divisor(metric, divisor, &div);
    if (quality == MRD__QUALITY_OK) {
        quality = rate_value(a, s, metric, counter, div, &sample);
    } else if (quality == MRD__QUALITY_WARMUP || quality == MRD__QUALITY_DISCONTINUITY) {
        s->has_anchor = false;
        if (given == MRD__QUALITY_OK) set_anchor(a, s, counter);
    } else if (quality == MRD__QUALITY_NOT_APPLICABLE) {
        s->has_anchor = false;
    }
    put(a, s, quality, &sample);
}

/* ---- Connections that are told again ---- */

enum {
    REPLAY_SLOTS = 2 * MRD__REPLAYS_MAX,
};

static replayed *find_replay(replayed *slots, uint64_t hash)
{
    size_t at = hash & (REPLAY_SLOTS - 1);
    while (slots[at].hash != 0 && slots[at].hash != hash)
        at = (at + 1) & (REPLAY_SLOTS - 1);
    return &slots[at];
}

/* Whether this (serial, bytes, time) was seen under an earlier generation of the connection to the
 * source; it is remembered. */
static bool was_sent_before(applying *a, mrd__str serial, uint64_t bytes)
{
    replays *seen = &a->p->sources.data[a->p->streams.data[a->stream].source].seen;
    const mrd__envelope *e = a->envelope;
    uint64_t time = e->has_source_time ? (uint64_t)e->source_time : UINT64_MAX;
    uint64_t hash = mrd__hash_mix(mrd__hash_mix(mrd__hash(serial.data, serial.size), bytes), time);
    hash += hash == 0;
    if (seen->slots[0] == NULL) seen->slots[0] = mrd__new_array(replayed, REPLAY_SLOTS);
    replayed *at = find_replay(seen->slots[0], hash);
    if (at->hash == 0 && seen->slots[1] != NULL) {
        const replayed *older = find_replay(seen->slots[1], hash);
        if (older->hash != 0) return older->generation < e->reconnect_generation;
    }
    if (at->hash != 0) return at->generation < e->reconnect_generation;
    *at = (replayed){hash, e->reconnect_generation};
    if (++seen->count == MRD__REPLAYS_MAX) {
        replayed *older = seen->slots[1];
        seen->slots[1] = seen->slots[0];
        seen->slots[0] = older;
        seen->count = 0;
        if (older != NULL) memset(older, 0, REPLAY_SLOTS * sizeof *older);
    }
    return false;
}

/* ---- The rows of a kind ---- */

static mrd__reading_value value_at(const applying *a, uint8_t at)
{
    return at == UINT8_MAX ? (mrd__reading_value){0} : a->values[at].value;
}

/* One domain event a member, however many metrics it feeds. */
static void tell_reading(applying *a, const mrd__metric *metric, mrd__reading_value value,
                         mrd__reading_value divisor)
{
    mrd__domain_event event = {
        .type = metric->type == MRD__METRIC_RATE ? MRD__DOMAIN_COUNTER : MRD__DOMAIN_GAUGE,
        .name = mrd__str_of(metric->source_key),
        .value = value,
        .other = divisor,
    };
    mrd__projector_event(a, &event);
}

static void take_row(applying *a, uint32_t row, mrd__str key, bool resent)
{
    stream_state *s = &a->p->streams.data[a->stream];
    const mrd__metric *metric = &s->rows[row];
    mrd__reading_value value = value_at(a, s->row_field[row]);
    mrd__reading_value divisor = value_at(a, s->row_divisor[row]);
    bool keyed = (metric->flags & MRD__METRIC_KEYED) != 0;
    if (value.given == MRD__GIVEN_ABSENT) value.given = a->blanket;
    bool expected = (metric->flags & MRD__METRIC_EXPECTED) != 0 || a->blanket != MRD__GIVEN_ABSENT;
    if (value.given == MRD__GIVEN_ABSENT && !expected && (keyed || s->row_series[row] == 0)) return;
    bool told = row > 0 && s->row_field[row] == s->row_field[row - 1] &&
                s->rows[row - 1].type == metric->type;
    if (!told && s->type == STREAM_READINGS) tell_reading(a, metric, value, divisor);
    series_state *of = NULL;
    if (!keyed && s->row_series[row] != 0)
        of = &a->p->series.data[s->row_series[row] - 1];
    else
        of = mrd__projector_series(a, metric, -1, key);
    if (of == NULL) return;
    if (!keyed) s->row_series[row] = of->pub->id + 1;
    if (metric->type == MRD__METRIC_RATE)
        take_rate(a, of, metric, value, divisor, resent);
    else
        take_gauge(a, of, metric, value, divisor);
}

/* The serial is the first member of its kind, the bytes are those of the rows. */
static bool take_connection(applying *a, mrd__str *key)
{
    const stream_state *s = &a->p->streams.data[a->stream];
    mrd__reading_value sent =
        s->row_count > 1 ? value_at(a, s->row_field[1]) : (mrd__reading_value){0};
    mrd__domain_event event = {.type = MRD__DOMAIN_NETWORK,
                               .name = a->values[0].text,
                               .value = value_at(a, s->row_field[0]),
                               .other = sent};
    uint64_t bytes;
    *key = a->values[0].text;
    if (event.name.size > MRD__ENVELOPE_TEXT_MAX) event.name.size = 0;
    mrd__projector_event(a, &event);
    return counter_value(event.value, &bytes) && was_sent_before(a, *key, bytes);
}

void mrd__projector_readings(applying *a)
{
    const stream_state *s = &a->p->streams.data[a->stream];
    uint32_t count = s->row_count;
    mrd__str key = {0};
    bool resent = s->type == STREAM_CONNECTION && take_connection(a, &key);
    for (uint32_t row = 0; row < count; row++)
        take_row(a, row, key, resent);
    if (count == 0 && a->gauges.size == 0 && a->counters.size == 0 && a->unsupported.size == 0)
        a->p->counts.unknown_kinds++;
}

/* ---- Metrics that the source declares ---- */

/* Text of the unit of this name in the raw object; "raw" where none is told. */
static mrd__str unit_of(applying *a, mrd__str name, mrd__buf *decoded)
{
    mrd__json json;
    mrd__json_init(&json, a->units.data, a->units.size);
    if (a->units.size == 0 || mrd__json_next(&json).type != MRD__JSON_OBJECT)
        return MRD__STR("raw");
    for (;;) {
        mrd__json_token key = mrd__json_next(&json);
        if (key.type != MRD__JSON_KEY) return MRD__STR("raw");
        mrd__json_token value = mrd__json_next(&json);
        if (!mrd__json_skip(&json, value)) return MRD__STR("raw");
        mrd__buf_clear(decoded);
        mrd__json_decode(decoded, key.text, NULL);
        if (value.type != MRD__JSON_STRING ||
            !mrd__str_equal((mrd__str){decoded->data, decoded->size}, name))
            continue;
        mrd__buf_clear(decoded);
        mrd__json_decode(decoded, value.text, NULL);
        bool good = decoded->size > 0 && decoded->size <= MRD__ENVELOPE_TEXT_MAX - 2 &&
                    memchr(decoded->data, 0, decoded->size) == NULL;
        return good ? (mrd__str){decoded->data, decoded->size} : MRD__STR("raw");
    }
}

static const char *join(mrd__projector *p, mrd__str a, const char *between, mrd__str b,
                        const char *end)
{
    mrd__buf text = {0};
    mrd__buf_str(&text, a);
    mrd__buf_text(&text, between);
    mrd__buf_str(&text, b);
    mrd__buf_text(&text, end);
    const char *kept = mrd__arena_text(&p->texts, text.data, text.size);
    mrd__buf_reset(&text);
    return kept;
}

static void declare(applying *a, mrd__str name, mrd__metric_kind type)
{
    mrd__projector *p = a->p;
    stream_state *s = &p->streams.data[a->stream];
    bool rate = type == MRD__METRIC_RATE;
    mrd__buf decoded = {0};
    mrd__str unit = unit_of(a, name, &decoded);
    declared_state new = {
        .metric = {.id = join(p, s->kind, ".", name, rate ? ".rate" : ""),
                   .kind = "",
                   .source_key = "",
                   .unit = join(p, unit, "", MRD__STR(""), rate ? "/s" : ""),
                   .type = type,
                   .numer = rate ? 1000000000 : 1,
                   .denom = 1,
                   .freshness_ns = INT64_C(2000000000)},
        .name = {mrd__arena_text(&p->texts, name.data, name.size), name.size},
    };
    mrd__buf_reset(&decoded);
    mrd__vec_push(&p->declared, new);
    mrd__vec_push(&s->declared, (uint32_t)(p->declared.count - 1));
}

/* UINT32_MAX above the limits. */
static uint32_t declared_of(applying *a, mrd__str name, mrd__metric_kind type, bool any_type)
{
    mrd__projector *p = a->p;
    stream_state *s = &p->streams.data[a->stream];
    for (size_t i = 0; i < s->declared.count; i++) {
        const declared_state *d = &p->declared.data[s->declared.data[i]];
        if ((any_type || d->metric.type == type) && mrd__str_equal(d->name, name))
            return s->declared.data[i];
    }
    bool good = name.size > 0 && memchr(name.data, 0, name.size) == NULL &&
                s->kind.size + name.size + 6 <= MRD__ENVELOPE_TEXT_MAX &&
                p->declared.count < MRD__SERIES_MAX;
    p->counts.beyond_limit += !good;
    if (!good) return UINT32_MAX;
    declare(a, name, type);
    return (uint32_t)(p->declared.count - 1);
}

static void take_declared(applying *a, uint32_t at, mrd__reading_value value)
{
    mrd__projector *p = a->p;
    mrd__metric metric = p->declared.data[at].metric;
    mrd__domain_event event = {.type = metric.type == MRD__METRIC_RATE ? MRD__DOMAIN_COUNTER
                                                                       : MRD__DOMAIN_GAUGE,
                               .name = p->declared.data[at].name,
                               .value = value};
    mrd__projector_event(a, &event);
    series_state *s = NULL;
    if (p->declared.data[at].series != 0)
        s = &p->series.data[p->declared.data[at].series - 1];
    else
        s = mrd__projector_series(a, &p->declared.data[at].metric, (int32_t)at, MRD__STR(""));
    if (s == NULL) return;
    p->declared.data[at].series = s->pub->id + 1;
    if (metric.type == MRD__METRIC_RATE)
        take_rate(a, s, &metric, value, (mrd__reading_value){0}, false);
    else
        take_gauge(a, s, &metric, value, (mrd__reading_value){0});
}

static mrd__str decoded_name(applying *a, const mrd__json_token *token)
{
    if (!token->escaped) return token->text;
    mrd__buf_clear(&a->p->scratch); /* what the payload decoded was used before */
    mrd__json_decode(&a->p->scratch, token->text, NULL);
    return (mrd__str){a->p->scratch.data, a->p->scratch.size};
}

static void take_declared_object(applying *a, mrd__str raw, mrd__metric_kind type)
{
    mrd__json json;
    if (raw.size == 0) return;
    mrd__json_init(&json, raw.data, raw.size);
    (void)mrd__json_next(&json);
    for (;;) {
        mrd__json_token key = mrd__json_next(&json);
        if (key.type != MRD__JSON_KEY) return;
        mrd__json_token value = mrd__json_next(&json);
        if (!mrd__json_skip(&json, value)) return;
        uint32_t at = declared_of(a, decoded_name(a, &key), type, false);
        if (at == UINT32_MAX) continue;
        take_declared(a, at, mrd__projector_value(value.text, value.type, value.nonstandard));
    }
}

static void take_declared_unsupported(applying *a)
{
    mrd__json json;
    mrd__given before = a->blanket;
    if (a->unsupported.size == 0) return;
    mrd__json_init(&json, a->unsupported.data, a->unsupported.size);
    (void)mrd__json_next(&json);
    a->blanket = MRD__GIVEN_UNSUPPORTED;
    for (;;) {
        mrd__json_token name = mrd__json_next(&json);
        if (!mrd__json_skip(&json, name) || name.type == MRD__JSON_ARRAY_END) break;
        if (name.type != MRD__JSON_STRING) continue;
        uint32_t at = declared_of(a, decoded_name(a, &name), MRD__METRIC_GAUGE, true);
        if (at != UINT32_MAX)
            take_declared(a, at, (mrd__reading_value){.given = MRD__GIVEN_UNSUPPORTED});
    }
    a->blanket = before;
}

void mrd__projector_declared(applying *a)
{
    stream_state *s = &a->p->streams.data[a->stream];
    if (a->units.size > 0) {
        uint64_t hash = mrd__hash(a->units.data, a->units.size);
        if (hash != s->units) s->declared.count = 0; /* other units: other series */
        s->units = hash;
    }
    take_declared_object(a, a->gauges, MRD__METRIC_GAUGE);
    take_declared_object(a, a->counters, MRD__METRIC_RATE);
    take_declared_unsupported(a);
}

/* ---- Spans ---- */

static mrd__quality span_value(applying *a, mrd__sample *sample)
{
    mrd__reading_value start = a->values[0].value, end = a->values[1].value;
    mrd__clock_kind clock = mrd__clock_kind_of(a->envelope->clock_domain);
    reading_time from = {.clock = clock, .known = true}, to = from;
    int64_t ns;
    if (given_quality(start.given) != MRD__QUALITY_OK) return given_quality(start.given);
    if (given_quality(end.given) != MRD__QUALITY_OK) return given_quality(end.given);
    if (start.given != MRD__GIVEN_INTEGER || end.given != MRD__GIVEN_INTEGER ||
        clock == MRD__CLOCK_NONE)
        return MRD__QUALITY_UNSUPPORTED;
    if (clock == MRD__CLOCK_DEVICE) {
        from.at.device = (mrd__device_ticks){start.number.integer};
        to.at.device = (mrd__device_ticks){end.number.integer};
    } else {
        from.at.source = (mrd__source_ns){start.number.integer};
        to.at.source = (mrd__source_ns){end.number.integer};
    }
    if (!mrd__projector_between(a->p, a->stream, &from, &to, &ns)) return MRD__QUALITY_UNSUPPORTED;
    if (ns < 0) return MRD__QUALITY_DISCONTINUITY;
    sample->value = mrd__measured_integer(ns, 2);
    sample->time_ns = ns;
    return MRD__QUALITY_OK;
}

void mrd__projector_span(applying *a)
{
    mrd__str phase = a->values[2].text;
    mrd__domain_event event = {.type = MRD__DOMAIN_LAUNCH,
                               .name = phase,
                               .value = a->values[0].value,
                               .other = a->values[1].value};
    if (event.name.size > MRD__ENVELOPE_TEXT_MAX) event.name.size = 0;
    mrd__projector_event(a, &event);
    const mrd__metric *metric = mrd__registry_find(MRD__STR("startup.span.ns"));
    series_state *s = mrd__projector_series(a, metric, -1, phase);
    if (s == NULL) return;
    mrd__sample sample = {.div = 1};
    mrd__quality quality = MRD__QUALITY_NOT_APPLICABLE;
    if (a->trusted && a->envelope->role == metric->role) quality = span_value(a, &sample);
    s->seen = true;
    put(a, s, quality, &sample);
}
