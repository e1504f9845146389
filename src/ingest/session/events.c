/* domain.mrl: when frames were presented and phases of a launch began, changes of state, and where
 * the session's gaps lie.
 *
 * Frames and phases have times of their source's clock. It is laid on the host's by lines that have
 * both, the time when it happened and the time of receipt: none was received before it happened, so
 * the least difference is the nearest. Where the source says that its clock is the host's own, and
 * no line speaks against it, nothing is moved. */
#include "base/error.h"
#include "base/json.h"
#include "ingest/session/inside.h"

/* ---- Clocks of sources ---- */

static bool same_clock(const mrd__session_read *r, const mrd__session_clock *clock,
                       const mrd__session_origin *origin)
{
    mrd__timebase timebase = r->sources.data[origin->source].timebase;
    return clock->domain == origin->domain && clock->epoch == origin->origin.source_epoch &&
           clock->reconnect == origin->origin.reconnect_generation &&
           clock->timebase.numer == timebase.numer && clock->timebase.denom == timebase.denom;
}

/* The clock of this event, made with its first reading where it is new; MRD__NONE: it has no time,
 * or ticks of unknown length. Only the newest clocks of a source are looked through: a source has
 * few at a time, and one that is found too late is but laid by its later lines alone. */
static uint32_t clock_of(mrd__session_read *r, const mrd__session_origin *origin, int64_t first)
{
    enum {
        NEWEST = 16
    };
    mrd__session_source *source = &r->sources.data[origin->source];
    mrd__clock_kind kind = mrd__clock_kind_of(origin->origin.clock_domain);
    uint32_t at = source->clock;
    if (kind == MRD__CLOCK_NONE) return MRD__NONE;
    if (kind == MRD__CLOCK_DEVICE && !mrd__timebase_known(source->timebase)) return MRD__NONE;
    for (int i = 0; at != MRD__NONE && i < NEWEST; i++) {
        if (same_clock(r, &r->clocks.data[at], origin)) return at;
        at = r->clocks.data[at].earlier;
    }
    mrd__session_clock clock = {.kind = kind,
                                .domain = origin->domain,
                                .earlier = source->clock,
                                .epoch = origin->origin.source_epoch,
                                .reconnect = origin->origin.reconnect_generation,
                                .timebase = source->timebase,
                                .first = first};
    source->clock = (uint32_t)r->clocks.count;
    mrd__vec_push(&r->clocks, clock);
    return source->clock;
}

/* Ns of the clock since its first reading; false when they do not fit. */
static bool since_first(const mrd__session_clock *clock, int64_t at, int64_t *ns)
{
    if (clock->kind == MRD__CLOCK_DEVICE) {
        mrd__device_ticks from = {clock->first}, to = {at};
        return mrd__span_int64(mrd__span_of_ticks(mrd__elapsed(from, to), clock->timebase), ns);
    }
    mrd__source_ns from = {clock->first}, to = {at};
    return mrd__span_int64(mrd__elapsed(from, to), ns);
}

static void observe(mrd__session_clock *clock, int64_t at, mrd__host_ns host)
{
    int64_t since, first;
    if (!since_first(clock, at, &since) || __builtin_sub_overflow(host.host_ns, since, &first))
        return;
    if (!clock->placed || first < clock->least) clock->least = first;
    if (!clock->placed || first > clock->greatest) clock->greatest = first;
    clock->placed = true;
}

/* Host ns of the first reading where the source's clock is the host's own: by its name, and its
 * fastest line is not off by more than a reader may be held up (a time of receipt taken just before
 * the line came lies before it). */
static bool own_first(const mrd__session_read *r, const mrd__session_clock *clock, int64_t *first)
{
    const mrd__session_documents *documents = &r->documents;
    mrd__str domain = mrd__shard_text(r->shard, clock->domain);
    int64_t delay;
    if (mrd__str_is(domain, "linux-monotonic-ns")) {
        *first = clock->first;
    } else if (mrd__str_is(domain, "linux-boottime-ns") && mrd__session_clocks_known(documents)) {
        if (__builtin_sub_overflow(clock->first, documents->boottime_ns - documents->monotonic_ns,
                                   first))
            return false;
    } else {
        return false;
    }
    return !__builtin_sub_overflow(clock->least, *first, &delay) &&
           delay > -MRD__SESSION_DELAY_NS && delay < MRD__SESSION_DELAY_NS;
}

/* ---- Frames and launch phases ---- */

static void add_span_args(mrd__session_read *r, const mrd__session_span *span,
                          const mrd__session_clock *clock, bool own)
{
    uint8_t flags = span->note.flags;
    mrd__buf_clear(&r->text);
    mrd__buf_printf(&r->text, "{\"seq\":%llu", (unsigned long long)span->note.sequence);
    if (!span->note.launch) {
        mrd__buf_printf(&r->text, ",\"jank\":%s,\"big_jank\":%s,\"big_jank_3x\":%s",
                        flags & MRD__SAMPLE_JANK ? "true" : "false",
                        flags & MRD__SAMPLE_BIG_JANK ? "true" : "false",
                        flags & MRD__SAMPLE_BIG_JANK_3X ? "true" : "false");
    }
    mrd__buf_text(&r->text, ",\"clock\":");
    mrd__buf_json_string(&r->text, mrd__shard_text(r->shard, clock->domain));
    if (!own)
        mrd__buf_printf(&r->text, ",\"placed\":\"assumed\",\"spread_ns\":%llu",
                        (unsigned long long)clock->greatest - (unsigned long long)clock->least);
    mrd__buf_char(&r->text, '}');
}

static void add_span(mrd__session_read *r, const mrd__session_span *span)
{
    const mrd__session_clock *clock = &r->clocks.data[span->clock];
    int64_t first = clock->least;
    int64_t since, ts;
    bool own = clock->placed && own_first(r, clock, &first);
    if (!own) first = clock->least;
    int64_t back = span->note.launch ? 0 : span->note.dur_ns;
    if (!clock->placed || !since_first(clock, span->at, &since) ||
        __builtin_add_overflow(first, since, &ts) || __builtin_sub_overflow(ts, back, &ts)) {
        r->timeless++;
        return;
    }
    add_span_args(r, span, clock, own);
    uint64_t args = mrd__session_keep_args(r);
    uint32_t category =
        mrd__session_string(r, span->note.launch                         ? MRD__STR("launch")
                               : span->note.flags & MRD__SAMPLE_BIG_JANK ? MRD__STR("big_jank")
                               : span->note.flags & MRD__SAMPLE_JANK     ? MRD__STR("jank")
                                                                         : MRD__STR("frame"));
    mrd__fact *fact = mrd__session_push(r, MRD__COMPLETE, 'X', span->note.track, ts);
    fact->dur = span->note.dur_ns;
    fact->name = span->note.name;
    fact->category = category;
    mrd__session_args(fact, args);
}

/* What metrics.mrl measured of this event; NULL: nothing, and its track of gaps says why. */
static const mrd__session_note *note_of(mrd__session_read *r, const mrd__domain_event *event)
{
    bool launch = event->type == MRD__DOMAIN_LAUNCH;
    while (r->next_note < r->notes.count && r->notes.data[r->next_note].sequence < event->sequence)
        r->next_note++;
    if (r->next_note == r->notes.count) return NULL;
    const mrd__session_note *note = &r->notes.data[r->next_note];
    return note->sequence == event->sequence && note->launch == launch ? note : NULL;
}

static void take_span(mrd__session_read *r, const mrd__domain_event *event, uint32_t clock)
{
    bool launch = event->type == MRD__DOMAIN_LAUNCH;
    const mrd__session_note *note = note_of(r, event);
    if (note == NULL) return;
    bool timed = launch ? event->value.given == MRD__GIVEN_INTEGER : event->has_source_time;
    if (clock == MRD__NONE || !timed) {
        r->timeless++;
        return;
    }
    mrd__session_span span = {.note = *note, .clock = clock};
    span.at = launch ? event->value.number.integer : event->source_time;
    mrd__vec_push(&r->spans, span);
}

/* ---- Changes of state, timebases ---- */

static void add_state(mrd__session_read *r, const mrd__session_origin *origin,
                      const mrd__domain_event *event)
{
    static const char *const names[MRD__STATES] = {"background", "foreground", "process ended",
                                                   "stream stopped", "state"};
    if (!event->has_host_receive) {
        r->timeless++;
        return;
    }
    bool said = event->state == MRD__STATE_OTHER && event->name.size > 0;
    uint32_t name = mrd__session_string(r, said ? event->name : mrd__str_of(names[event->state]));
    mrd__buf_clear(&r->text);
    mrd__buf_printf(&r->text, "{\"seq\":%llu,\"pid\":%lld}", (unsigned long long)event->sequence,
                    (long long)origin->origin.pid);
    uint64_t args = mrd__session_keep_args(r);
    uint32_t track = mrd__session_state_track(r, origin->source);
    mrd__fact *fact = mrd__session_push(r, MRD__INSTANT, 'i', track, event->host_receive.host_ns);
    fact->name = name;
    mrd__session_args(fact, args);
}

static void take_timebase(mrd__session_read *r, const mrd__session_origin *origin,
                          const mrd__domain_event *event)
{
    mrd__timebase *timebase = &r->sources.data[origin->source].timebase;
    if (!mrd__str_is(event->name, "timebase")) return;
    bool told = event->value.given == MRD__GIVEN_INTEGER &&
                event->other.given == MRD__GIVEN_INTEGER && event->value.number.integer > 0 &&
                event->value.number.integer <= UINT32_MAX && event->other.number.integer > 0 &&
                event->other.number.integer <= UINT32_MAX;
    *timebase = told ? (mrd__timebase){(uint32_t)event->value.number.integer,
                                       (uint32_t)event->other.number.integer}
                     : (mrd__timebase){0};
}

/* ---- Gaps of the session ---- */

static void add_gap(mrd__session_read *r, const mrd__session_gap *gap, uint32_t track)
{
    mrd__buf name = {0};
    mrd__json_decode(&name, gap->name, NULL);
    uint32_t id = mrd__session_string(r, (mrd__str){name.data, name.size});
    mrd__buf_reset(&name);
    mrd__buf_clear(&r->text);
    mrd__buf_str(&r->text, gap->object);
    uint64_t args = mrd__session_keep_args(r);
    mrd__fact *fact = mrd__session_push(r, MRD__INSTANT, 'i', track, r->last_ns);
    fact->name = id;
    mrd__session_args(fact, args);
}

/* Gaps before this sequence lie behind the newest event. */
static void pass_gaps(mrd__session_read *r, uint64_t sequence)
{
    while (r->next_gap < r->documents.gaps.count &&
           r->documents.gaps.data[r->next_gap].sequence < sequence) {
        const mrd__session_gap *gap = &r->documents.gaps.data[r->next_gap++];
        if (!r->has_last) {
            r->timeless++;
            continue;
        }
        if (r->gaps_track == MRD__NONE)
            r->gaps_track = mrd__session_track(r, MRD__NONE, MRD__NONE,
                                               mrd__session_string(r, MRD__STR("session gaps")), 0);
        add_gap(r, gap, r->gaps_track);
    }
}

/* ---- Records ---- */

static mrd_status add_origin(mrd__session_read *r, mrd__str payload, mrd_error *error)
{
    mrd__session_origin own = {0};
    MRD__TRY(mrd__origin_decode(&own.origin, payload, error));
    if (own.origin.id != r->origins.count)
        return mrd__fail(error, MRD_ERR_FORMAT, "bad_event",
                         "an origin whose number is not the next one");
    own.source = mrd__session_source_of(r, own.origin.source_id);
    own.domain = mrd__session_string(r, own.origin.clock_domain);
    mrd__vec_push(&r->origins, own);
    return MRD_OK;
}

mrd_status mrd__session_event(mrd__session_read *r, const mrd__record *record, mrd_error *error)
{
    unsigned type = record->type - MRD__RECORD_DERIVED;
    mrd__str payload = {(const char *)record->payload, record->size};
    mrd__domain_event event = {0};
    uint32_t number = 0;
    if (type == MRD__DOMAIN_ORIGIN) return add_origin(r, payload, error);
    MRD__TRY(mrd__domain_decode(&event, &number, type, record->sequence, payload, error));
    if (number >= r->origins.count)
        return mrd__fail(error, MRD_ERR_FORMAT, "bad_event", "an event of no origin");
    const mrd__session_origin *origin = &r->origins.data[number];
    pass_gaps(r, event.sequence);
    if (event.type == MRD__DOMAIN_CLOCK) take_timebase(r, origin, &event);
    uint32_t clock = MRD__NONE;
    if (event.has_source_time) clock = clock_of(r, origin, event.source_time);
    if (clock != MRD__NONE && event.has_host_receive)
        observe(&r->clocks.data[clock], event.source_time, event.host_receive);
    if (event.type == MRD__DOMAIN_FRAME || event.type == MRD__DOMAIN_LAUNCH)
        take_span(r, &event, clock);
    if (event.type == MRD__DOMAIN_STATE) add_state(r, origin, &event);
    if (event.has_host_receive) {
        r->last_ns = event.host_receive.host_ns;
        r->has_last = true;
    }
    return MRD_OK;
}

void mrd__session_events_end(mrd__session_read *r)
{
    pass_gaps(r, UINT64_MAX);
    for (size_t i = 0; i < r->spans.count; i++)
        add_span(r, &r->spans.data[i]);
}
