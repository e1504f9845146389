#include "session/projector_state.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(MRD__SERIES_SLOTS >= 2 * MRD__SERIES_MAX,
               "the table of series is at most half full");
_Static_assert((MRD__STREAM_SLOTS & (MRD__STREAM_SLOTS - 1)) == 0, "a power of two");
_Static_assert(sizeof(continuity) == 48, "compared as bytes: no padding");

mrd__projector *mrd__projector_create(void)
{
    mrd__projector *p = mrd__new(mrd__projector);
    p->stream_slots = mrd__new_array(uint32_t, MRD__STREAM_SLOTS);
    p->series_slots = mrd__new_array(uint32_t, MRD__SERIES_SLOTS);
    return p;
}

void mrd__projector_destroy(mrd__projector **projector)
{
    mrd__projector *p = *projector;
    if (p == NULL) return;
    for (size_t i = 0; i < p->sources.count; i++) {
        mrd__free(p->sources.data[i].seen.slots[0]);
        mrd__free(p->sources.data[i].seen.slots[1]);
    }
    for (size_t i = 0; i < p->streams.count; i++)
        mrd__vec_reset(&p->streams.data[i].declared);
    for (size_t i = 0; i < p->frames.count; i++)
        mrd__free(p->frames.data[i].window);
    mrd__vec_reset(&p->sources);
    mrd__vec_reset(&p->streams);
    mrd__vec_reset(&p->series);
    mrd__vec_reset(&p->declared);
    mrd__vec_reset(&p->frames);
    mrd__vec_reset(&p->pids);
    mrd__vec_reset(&p->names);
    mrd__vec_reset(&p->entries);
    mrd__free(p->stream_slots);
    mrd__free(p->series_slots);
    mrd__arena_reset(&p->texts);
    mrd__buf_reset(&p->scratch);
    mrd__free(p);
    *projector = NULL;
}

/* ---- Names ---- */

static mrd__str keep(mrd__projector *p, mrd__str text)
{
    if (text.size == 0) return MRD__STR("");
    return (mrd__str){mrd__arena_text(&p->texts, text.data, text.size), text.size};
}

/* Domains and schemas are few: looked through, the last ones first. UINT32_MAX above the limit. */
static uint32_t intern(mrd__projector *p, mrd__str text)
{
    for (size_t i = p->names.count; i-- > 0;) {
        if (mrd__str_equal(p->names.data[i], text)) return (uint32_t)i;
    }
    if (p->names.count == MRD__NAMES_MAX) return UINT32_MAX;
    mrd__vec_push(&p->names, keep(p, text));
    return (uint32_t)(p->names.count - 1);
}

/* ---- Streams ---- */

static uint32_t source_of(mrd__projector *p, mrd__str id)
{
    for (size_t i = 0; i < p->sources.count; i++) {
        if (mrd__str_equal(p->sources.data[i].id, id)) return (uint32_t)i;
    }
    source_state new = {.id = keep(p, id), .publisher = mrd__str_is(id, "publisher")};
    mrd__vec_push(&p->sources, new);
    return (uint32_t)(p->sources.count - 1);
}

static uint8_t add_field(stream_state *s, const char *name)
{
    if (name == NULL) return UINT8_MAX;
    for (uint32_t i = 0; i < s->field_count; i++) {
        if (mrd__str_is(s->fields[i].name, name)) return (uint8_t)i;
    }
    mrd__assert(s->field_count < FIELDS_MAX);
    s->fields[s->field_count].name = mrd__str_of(name);
    return (uint8_t)s->field_count++;
}

/* Kinds that are more than readings, and their members, in the order in which the code names them.
 */
static void add_own_fields(stream_state *s)
{
    static const struct {
        const char *kind;
        stream_type type;
        const char *members[3];
    } kinds[] = {
        {"net.conn", STREAM_CONNECTION, {"serial"}},
        {"frame", STREAM_FRAME, {"displayId"}},
        {"span", STREAM_SPAN, {"startTicks", "endTicks", "name"}},
        {"app.state", STREAM_STATE, {"foreground"}},
        {"proc.state", STREAM_STATE, {"foreground", "state"}},
        {"timebase", STREAM_TIMEBASE, {"numer", "denom"}},
        {"tick", STREAM_TICK, {NULL}},
        {"stopped", STREAM_STOPPED, {NULL}},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (!mrd__str_is(s->kind, kinds[i].kind)) continue;
        s->type = kinds[i].type;
        for (size_t j = 0; j < 3; j++)
            add_field(s, kinds[i].members[j]);
    }
}

static void describe(stream_state *s)
{
    add_own_fields(s);
    if (s->type != STREAM_READINGS && s->type != STREAM_CONNECTION) return;
    s->row_count = (uint32_t)mrd__registry_rows(s->kind, &s->rows);
    mrd__assert(s->row_count <= FIELDS_MAX);
    for (uint32_t i = 0; i < s->row_count; i++) {
        s->row_field[i] = add_field(s, s->rows[i].source_key);
        s->row_divisor[i] = add_field(s, s->rows[i].divisor);
    }
}

/* UINT32_MAX above the limit. */
static uint32_t stream_of(mrd__projector *p, mrd__str id, mrd__str kind)
{
    uint64_t hash = mrd__hash_mix(mrd__hash(id.data, id.size), mrd__hash(kind.data, kind.size));
    size_t slot = hash & (MRD__STREAM_SLOTS - 1);
    for (; p->stream_slots[slot] != 0; slot = (slot + 1) & (MRD__STREAM_SLOTS - 1)) {
        uint32_t at = p->stream_slots[slot] - 1;
        const stream_state *s = &p->streams.data[at];
        if (s->hash == hash && mrd__str_equal(s->kind, kind) &&
            mrd__str_equal(p->sources.data[s->source].id, id))
            return at;
    }
    if (p->streams.count == MRD__STREAMS_MAX) return UINT32_MAX;
    stream_state new = {.source = source_of(p, id), .kind = keep(p, kind), .hash = hash};
    describe(&new);
    mrd__vec_push(&p->streams, new);
    p->stream_slots[slot] = (uint32_t)p->streams.count;
    return (uint32_t)(p->streams.count - 1);
}

/* ---- Series ---- */

const mrd__metric *mrd__projector_metric(const mrd__projector *p, const series_state *s)
{
    return s->declared < 0 ? s->metric : &p->declared.data[s->declared].metric;
}

static bool series_is(const mrd__projector *p, const series_state *s, uint64_t hash,
                      uint32_t stream, const mrd__metric *metric, mrd__str key)
{
    return s->hash == hash && s->stream == stream && mrd__projector_metric(p, s) == metric &&
           mrd__str_equal(s->pub->key, key);
}

static void add_series(applying *a, const mrd__metric *metric, int32_t declared, mrd__str key,
                       uint64_t hash)
{
    mrd__projector *p = a->p;
    mrd__series *pub = mrd__arena_alloc(&p->texts, sizeof *pub, sizeof(void *));
    *pub = (mrd__series){
        .id = (uint32_t)p->series.count,
        .metric = mrd__str_of(metric->id),
        .unit = mrd__str_of(metric->unit),
        .source = p->sources.data[p->streams.data[a->stream].source].id,
        .key = keep(p, key),
        .kind = (uint8_t)metric->type,
        .numer = metric->numer,
        .denom = metric->denom,
    };
    series_state new = {.pub = pub,
                        .stream = a->stream,
                        .declared = declared,
                        .metric = declared < 0 ? metric : NULL,
                        .hash = hash,
                        .last = mrd__measured_none(MRD__QUALITY_MISSING)};
    mrd__vec_push(&p->series, new);
    if (a->sink->series != NULL) a->sink->series(a->sink->ctx, a->sequence, pub);
}

series_state *mrd__projector_series(applying *a, const mrd__metric *metric, int32_t declared,
                                    mrd__str key)
{
    mrd__projector *p = a->p;
    uint64_t hash = mrd__hash_mix(mrd__hash_mix(a->stream, mrd__hash(key.data, key.size)),
                                  declared < 0 ? mrd__hash(metric->id, strlen(metric->id))
                                               : (uint64_t)declared + 1);
    size_t slot = hash & (MRD__SERIES_SLOTS - 1);
    for (; p->series_slots[slot] != 0; slot = (slot + 1) & (MRD__SERIES_SLOTS - 1)) {
        series_state *s = &p->series.data[p->series_slots[slot] - 1];
        if (series_is(p, s, hash, a->stream, metric, key)) return s;
    }
    if (p->series.count == MRD__SERIES_MAX || key.size > MRD__ENVELOPE_TEXT_MAX) {
        p->counts.beyond_limit++;
        return NULL;
    }
    add_series(a, metric, declared, key, hash);
    p->series_slots[slot] = (uint32_t)p->series.count;
    return &p->series.data[p->series.count - 1];
}

/* ---- Time ---- */

bool mrd__projector_between(const mrd__projector *p, uint32_t stream, const reading_time *from,
                            const reading_time *to, int64_t *ns)
{
    if (!from->known || !to->known || from->clock != to->clock) return false;
    mrd__span_ns span = {0};
    switch (to->clock) {
    case MRD__CLOCK_NONE:
        span = mrd__elapsed(from->at.host, to->at.host);
        break;
    case MRD__CLOCK_SOURCE:
        span = mrd__elapsed(from->at.source, to->at.source);
        break;
    case MRD__CLOCK_DEVICE: {
        mrd__timebase timebase = p->sources.data[p->streams.data[stream].source].timebase;
        if (!mrd__timebase_known(timebase)) return false;
        span = mrd__span_of_ticks(mrd__elapsed(from->at.device, to->at.device), timebase);
        break;
    }
    }
    return mrd__span_int64(span, ns);
}

static reading_time time_of(const mrd__envelope *e, mrd__clock_kind clock)
{
    reading_time time = {.clock = clock, .known = e->has_source_time};
    switch (clock) {
    case MRD__CLOCK_NONE:
        time.known = e->has_host_receive;
        time.at.host = e->host_receive;
        break;
    case MRD__CLOCK_SOURCE:
        time.at.source = (mrd__source_ns){e->source_time};
        break;
    case MRD__CLOCK_DEVICE:
        time.at.device = (mrd__device_ticks){e->source_time};
        break;
    }
    return time;
}

/* ---- Out ---- */

__int128 mrd__projector_freshness(const mrd__projector *p, const series_state *s)
{
    __int128 twice = (__int128)p->sources.data[p->streams.data[s->stream].source].cadence_ns * 2;
    int64_t least = mrd__projector_metric(p, s)->freshness_ns;
    return least > 0 && twice > least ? twice : least;
}

/* Time of the host that this reading's quality holds for; never counted twice, also where the
 * host's times go back. */
static int64_t take_covered(const applying *a, series_state *s)
{
    const mrd__envelope *e = a->envelope;
    if (!e->has_host_receive) return 0;
    __int128 covered = s->has_host ? mrd__elapsed(s->last_host, e->host_receive).ns : 0;
    if (s->has_host && covered <= 0) return 0;
    __int128 fresh = mrd__projector_freshness(a->p, s);
    if (fresh > 0 && covered > fresh) covered = fresh;
    s->has_host = true;
    s->last_host = e->host_receive;
    return covered > INT64_MAX ? 0 : (int64_t)covered;
}

void mrd__projector_sample(applying *a, series_state *s, mrd__sample *sample)
{
    const mrd__envelope *e = a->envelope;
    sample->sequence = a->sequence;
    sample->series = s->pub;
    sample->covered_ns = take_covered(a, s);
    if (e->has_host_receive) {
        sample->host = e->host_receive;
        sample->flags |= MRD__SAMPLE_HOST;
    }
    s->last = sample->value;
    a->p->counts.samples++;
    if (a->sink->sample != NULL) a->sink->sample(a->sink->ctx, sample);
}

/* What all events of this origin share is told again when any of it changes. */
static void tell_origin(applying *a)
{
    stream_state *s = &a->p->streams.data[a->stream];
    const mrd__envelope *e = a->envelope;
    const mrd__projector *p = a->p;
    mrd__origin *o = &s->origin;
    if (s->has_origin && o->source_epoch == e->source_epoch &&
        o->reconnect_generation == e->reconnect_generation &&
        o->target_generation == e->target_generation && o->pid == e->pid && o->role == e->role &&
        mrd__str_equal(o->clock_domain, e->clock_domain) &&
        mrd__str_equal(o->schema_id, e->schema_id))
        return;
    *o = (mrd__origin){
        .id = a->p->origins++,
        .source_id = p->sources.data[s->source].id,
        .clock_domain = p->names.data[a->key.domain],
        .schema_id = p->names.data[a->key.schema],
        .kind = s->kind,
        .source_epoch = e->source_epoch,
        .reconnect_generation = e->reconnect_generation,
        .target_generation = e->target_generation,
        .pid = e->pid,
        .role = e->role,
    };
    s->has_origin = true;
    if (a->sink->origin != NULL) a->sink->origin(a->sink->ctx, a->sequence, o);
}

void mrd__projector_event(applying *a, mrd__domain_event *event)
{
    const mrd__envelope *e = a->envelope;
    a->p->counts.events++;
    if (a->sink->event == NULL) return;
    event->sequence = a->sequence;
    event->origin = &a->p->streams.data[a->stream].origin;
    event->identity = e->identity;
    event->has_host_receive = e->has_host_receive;
    event->has_source_time = e->has_source_time;
    event->host_receive = e->host_receive;
    event->source_time = e->source_time;
    a->sink->event(a->sink->ctx, event);
}

/* ---- Applying ---- */

static void set_timebase(applying *a)
{
    source_state *s = &a->p->sources.data[a->p->streams.data[a->stream].source];
    const mrd__reading_value numer = a->values[0].value, denom = a->values[1].value;
    mrd__timebase told = {0};
    bool good = numer.given == MRD__GIVEN_INTEGER && denom.given == MRD__GIVEN_INTEGER &&
                numer.number.integer > 0 && numer.number.integer <= UINT32_MAX &&
                denom.number.integer > 0 && denom.number.integer <= UINT32_MAX;
    if (good)
        told = (mrd__timebase){(uint32_t)numer.number.integer, (uint32_t)denom.number.integer};
    if (told.numer != s->timebase.numer || told.denom != s->timebase.denom) {
        s->timebase = told;
        s->timebases++;
    }
    mrd__domain_event event = {
        .type = MRD__DOMAIN_CLOCK, .name = MRD__STR("timebase"), .value = numer, .other = denom};
    mrd__projector_event(a, &event);
}

static void end_streams(mrd__projector *p, mrd__str id)
{
    for (size_t i = 0; i < p->sources.count; i++) {
        source_state *s = &p->sources.data[i];
        if (!s->publisher && (id.size == 0 || mrd__str_equal(s->id, id))) s->ended = true;
    }
}

static void stop(applying *a)
{
    a->p->counts.stopped++;
    end_streams(a->p, a->envelope->source_id);
    mrd__domain_event event = {.type = MRD__DOMAIN_STATE, .state = MRD__STATE_STREAM_STOPPED};
    mrd__projector_event(a, &event);
}

static void dispatch(applying *a)
{
    const stream_state *s = &a->p->streams.data[a->stream];
    switch (s->type) {
    case STREAM_READINGS:
    case STREAM_CONNECTION:
        mrd__projector_readings(a);
        break;
    case STREAM_FRAME:
        mrd__projector_frame(a);
        break;
    case STREAM_SPAN:
        mrd__projector_span(a);
        break;
    case STREAM_STATE:
        mrd__projector_state_change(a);
        break;
    case STREAM_TIMEBASE:
        set_timebase(a);
        break;
    case STREAM_TICK:
        mrd__projector_tick(a);
        break;
    case STREAM_STOPPED:
        stop(a);
        return;
    }
    mrd__projector_declared(a);
}

void mrd__projector_apply(mrd__projector *p, uint64_t sequence, const mrd__envelope *envelope,
                          const mrd__session_sink *sink)
{
    applying a = {.p = p, .sink = sink, .envelope = envelope, .sequence = sequence};
    p->counts.envelopes++;
    a.stream = stream_of(p, envelope->source_id, envelope->kind);
    uint32_t domain = intern(p, envelope->clock_domain), schema = intern(p, envelope->schema_id);
    if (a.stream == UINT32_MAX || domain == UINT32_MAX || schema == UINT32_MAX) {
        p->counts.beyond_limit++;
        return;
    }
    source_state *from = &p->sources.data[p->streams.data[a.stream].source];
    from->ended = false;
    mrd__clock_kind clock = mrd__clock_kind_of(envelope->clock_domain);
    a.time = time_of(envelope, clock);
    a.trusted =
        envelope->identity == MRD__IDENTITY_ASSUMED || envelope->identity == MRD__IDENTITY_VERIFIED;
    a.key = (continuity){
        .epoch = envelope->source_epoch,
        .reconnect = envelope->reconnect_generation,
        .target = envelope->target_generation,
        .pid = envelope->pid,
        .domain = domain,
        .schema = schema,
        .timebase = clock == MRD__CLOCK_DEVICE ? from->timebases : 0,
        .role = (uint8_t)envelope->role,
        .clock = (uint8_t)clock,
        .timed = a.time.known,
    };
    tell_origin(&a);
    mrd__projector_payload(&a);
    dispatch(&a);
}

void mrd__projector_end(mrd__projector *p, uint64_t sequence, mrd__str source_id,
                        const mrd__session_sink *sink)
{
    (void)sequence;
    (void)sink;
    end_streams(p, source_id);
}

mrd__projector_counts mrd__projector_counted(const mrd__projector *projector)
{
    return projector->counts;
}

static int by_id(const void *a, const void *b)
{
    const source_state *const *x = a, *const *y = b;
    return mrd__str_compare((*x)->id, (*y)->id);
}

void mrd__projector_timebases(const mrd__projector *p, mrd__buf *out)
{
    const source_state **sorted = mrd__new_array(const source_state *, p->sources.count);
    for (size_t i = 0; i < p->sources.count; i++)
        sorted[i] = &p->sources.data[i];
    if (p->sources.count > 0) qsort(sorted, p->sources.count, sizeof *sorted, by_id);
    mrd__buf_char(out, '{');
    const char *between = "";
    for (size_t i = 0; i < p->sources.count; i++) {
        if (!mrd__timebase_known(sorted[i]->timebase)) continue;
        mrd__buf_text(out, between);
        mrd__buf_json_string(out, sorted[i]->id);
        mrd__buf_printf(out, ":{\"denom\":%u,\"numer\":%u}", sorted[i]->timebase.denom,
                        sorted[i]->timebase.numer);
        between = ",";
    }
    mrd__buf_char(out, '}');
    mrd__free(sorted);
}
