/* Frame times, janks, the trailing second of frames, foreground and background, and the frame of
 * metrics at a tick of the publisher.
 *
 * A segment is a run of frames of one source without a break. Its window holds the presentation
 * times of the last second before the newest frame; a tick of the publisher moves the window's end
 * on by the host's clock, from the receipt of that newest frame, and by nothing else. */
#include "base/assert.h"
#include "session/projector_state.h"

#include <string.h>

#define JANK_LIMIT_NS 1000000000 /* * 12: above 1000/24*2 ms is 12 * ns > 10^9 */
#define BIG_JANK_NS 125000000

/* ---- Foreground ---- */

static const pid_state *state_of(const mrd__projector *p, int64_t pid)
{
    for (size_t i = 0; i < p->pids.count; i++) {
        if (p->pids.data[i].pid == pid) return &p->pids.data[i];
    }
    return NULL;
}

/* What is told of pid 0 holds for every process of which nothing is told. */
static bool in_background(const mrd__projector *p, int64_t pid)
{
    const pid_state *state = state_of(p, pid);
    if (state == NULL) state = state_of(p, 0);
    return state != NULL && !state->foreground;
}

static void clear_segment(frames_state *f)
{
    f->has_previous = false;
    f->dropped = false;
    f->first.known = false;
    f->count = 0;
    f->time_count = 0;
}

/* False when nothing changed, or there is no room to remember it (counted). */
static bool note_state(mrd__projector *p, int64_t pid, bool foreground)
{
    for (size_t i = 0; i < p->pids.count; i++) {
        pid_state *state = &p->pids.data[i];
        if (state->pid != pid) continue;
        bool changed = state->foreground != foreground;
        state->foreground = foreground;
        return changed;
    }
    if (p->pids.count == MRD__PIDS_MAX) {
        p->counts.beyond_limit++;
        return false;
    }
    mrd__vec_push(&p->pids, ((pid_state){pid, foreground}));
    return true;
}

static void set_foreground(applying *a, bool foreground)
{
    mrd__projector *p = a->p;
    int64_t pid = a->envelope->pid;
    if (!note_state(p, pid, foreground)) return;
    for (size_t i = 0; i < p->frames.count; i++) {
        frames_state *f = &p->frames.data[i];
        if (pid != 0 && f->pid != pid) continue;
        f->broken = true;
        clear_segment(f);
    }
}

void mrd__projector_state_change(applying *a)
{
    const field_value *foreground = &a->values[0], *state = &a->values[1];
    bool told = foreground->is_true || foreground->is_false;
    mrd__domain_event event = {
        .type = MRD__DOMAIN_STATE, .state = MRD__STATE_OTHER, .name = state->text};
    if (event.name.size > MRD__ENVELOPE_TEXT_MAX) event.name.size = 0;
    if (told) event.state = foreground->is_true ? MRD__STATE_FOREGROUND : MRD__STATE_BACKGROUND;
    if (!told && mrd__str_is(state->text, "gone")) event.state = MRD__STATE_PROCESS_ENDED;
    mrd__projector_event(a, &event);
    if (told && a->trusted) set_foreground(a, foreground->is_true);
}

/* ---- The window ---- */

static const reading_time *window_at(const frames_state *f, uint32_t i)
{
    return &f->window[(f->head + i) & (MRD__WINDOW_FRAMES_MAX - 1)];
}

_Static_assert((MRD__WINDOW_FRAMES_MAX & (MRD__WINDOW_FRAMES_MAX - 1)) == 0, "a power of two");

static void push_window(applying *a, frames_state *f)
{
    int64_t age;
    while (f->count > 0 &&
           mrd__projector_between(a->p, f->stream, window_at(f, 0), &a->time, &age) &&
           age >= WINDOW_NS) {
        f->head++;
        f->count--;
    }
    if (f->count == MRD__WINDOW_FRAMES_MAX) {
        f->dropped = true;
        f->dropped_at = *window_at(f, 0);
        f->head++;
        f->count--;
    }
    f->window[(f->head + f->count) & (MRD__WINDOW_FRAMES_MAX - 1)] = a->time;
    f->count++;
}

/* This frame begins a segment, if it has a time. */
static void begin_segment(applying *a, frames_state *f)
{
    int64_t none;
    clear_segment(f);
    f->has_previous = mrd__projector_between(a->p, f->stream, &a->time, &a->time, &none);
    if (!f->has_previous) return;
    f->previous = f->first = a->time;
    push_window(a, f);
}

/* ---- Frames ---- */

static frames_state *frames_of(applying *a)
{
    mrd__projector *p = a->p;
    stream_state *s = &p->streams.data[a->stream];
    if (s->frames == 0) {
        frames_state new = {.stream = a->stream,
                            .window = mrd__new_array(reading_time, MRD__WINDOW_FRAMES_MAX)};
        mrd__vec_push(&p->frames, new);
        s->frames = (uint32_t)p->frames.count;
    }
    return &p->frames.data[s->frames - 1];
}

/* The series of the display; false above the limit. */
static bool take_display(applying *a, frames_state *f, mrd__str display)
{
    if (f->time_series != 0 && mrd__str_equal(f->display, display)) return true;
    const mrd__metric *rows;
    size_t count = mrd__registry_rows(MRD__STR("frame"), &rows);
    mrd__assert(count == 2 && rows[0].type == MRD__METRIC_INTERVAL);
    series_state *s = mrd__projector_series(a, &rows[0], -1, display);
    if (s == NULL) return false;
    f->time_series = s->pub->id + 1;
    f->display = s->pub->key;
    s = mrd__projector_series(a, &rows[1], -1, display);
    if (s == NULL) return false;
    f->fps_series = s->pub->id + 1;
    return true;
}

/* jank.v1: against the three frame times before, in ns: ft > 2 * mean is 3 * ft > 2 * sum. */
static uint8_t jank_flags(const frames_state *f, int64_t ns)
{
    if (f->time_count < FRAME_TIMES) return 0;
    __int128 sum = (__int128)f->times[0] + f->times[1] + f->times[2], three = (__int128)3 * ns;
    uint8_t flags = 0;
    if (three > 2 * sum && (__int128)12 * ns > JANK_LIMIT_NS) flags |= MRD__SAMPLE_JANK;
    if (three > 2 * sum && ns > BIG_JANK_NS) flags |= MRD__SAMPLE_BIG_JANK;
    if (three > 3 * sum && ns > BIG_JANK_NS) flags |= MRD__SAMPLE_BIG_JANK_3X;
    return flags;
}

static mrd__quality frame_time(applying *a, frames_state *f, mrd__sample *sample)
{
    int64_t ns;
    if (!f->has_previous || !mrd__projector_between(a->p, f->stream, &f->previous, &a->time, &ns)) {
        begin_segment(a, f);
        /* Without a time of its own, or ticks without a timebase; else the segment begins here. */
        return f->has_previous ? MRD__QUALITY_DISCONTINUITY : MRD__QUALITY_UNSUPPORTED;
    }
    if (ns <= 0) {
        begin_segment(a, f);
        return MRD__QUALITY_DISCONTINUITY;
    }
    sample->flags |= jank_flags(f, ns);
    sample->value = mrd__measured_real((double)ns / 1e6, 2);
    sample->time_ns = ns;
    f->times[2] = f->times[1];
    f->times[1] = f->times[0];
    f->times[0] = ns;
    if (f->time_count < FRAME_TIMES) f->time_count++;
    f->previous = a->time;
    push_window(a, f);
    return MRD__QUALITY_OK;
}

static mrd__quality take_frame(applying *a, frames_state *f, bool other_display,
                               mrd__sample *sample)
{
    bool first = !f->seen;
    bool broken = f->broken || other_display || memcmp(&f->key, &a->key, sizeof f->key) != 0;
    bool applies = a->trusted && a->envelope->role == MRD__ROLE_PRIMARY;
    bool hidden = in_background(a->p, a->envelope->pid);
    f->seen = true;
    f->broken = !applies || hidden;
    f->key = a->key;
    f->pid = a->envelope->pid;
    f->last_host = a->envelope->host_receive;
    f->has_host = a->envelope->has_host_receive;
    if (f->broken) {
        clear_segment(f);
        return applies ? MRD__QUALITY_NOT_FOREGROUND : MRD__QUALITY_NOT_APPLICABLE;
    }
    if (!first && !broken) return frame_time(a, f, sample);
    begin_segment(a, f);
    if (!f->has_previous) return MRD__QUALITY_UNSUPPORTED;
    return first ? MRD__QUALITY_WARMUP : MRD__QUALITY_DISCONTINUITY;
}

void mrd__projector_frame(applying *a)
{
    mrd__str display = a->values[0].text;
    mrd__domain_event event = {.type = MRD__DOMAIN_FRAME, .name = display};
    if (event.name.size > MRD__ENVELOPE_TEXT_MAX) event.name.size = 0;
    mrd__projector_event(a, &event);
    frames_state *f = frames_of(a);
    bool other = f->seen && !mrd__str_equal(f->display, display);
    if (!take_display(a, f, display)) return;
    /* The host's time of receipt is no time of a frame. */
    if (a->time.clock == MRD__CLOCK_NONE) a->time.known = false;
    mrd__sample sample = {.div = 1};
    mrd__quality quality = take_frame(a, f, other, &sample);
    if (quality != MRD__QUALITY_OK) sample.value = mrd__measured_none(quality);
    mrd__projector_sample(a, &a->p->series.data[f->time_series - 1], &sample);
}

/* ---- Ticks ---- */

/* Age at the tick: up to the newest frame by the source's clock, from there by the host's. */
static bool age_at_tick(const applying *a, const frames_state *f, const reading_time *frame,
                        __int128 *age)
{
    int64_t before;
    if (!mrd__projector_between(a->p, f->stream, frame, &f->previous, &before)) return false;
    *age = before + mrd__elapsed(f->last_host, a->envelope->host_receive).ns;
    return true;
}

static mrd__quality count_window(const applying *a, const frames_state *f, mrd__sample *sample)
{
    __int128 age;
    const source_state *of = &a->p->sources.data[a->p->streams.data[f->stream].source];
    if (in_background(a->p, f->pid)) return MRD__QUALITY_NOT_FOREGROUND;
    if (!f->has_previous || of->ended || !f->has_host || !a->envelope->has_host_receive)
        return MRD__QUALITY_MISSING;
    if (!age_at_tick(a, f, &f->first, &age)) return MRD__QUALITY_MISSING;
    if (age < WINDOW_NS) return MRD__QUALITY_WARMUP;
    if (f->dropped && age_at_tick(a, f, &f->dropped_at, &age) && age < WINDOW_NS)
        return MRD__QUALITY_UNSUPPORTED; /* more frames than the window holds */
    /* Oldest first: all behind the first young one are young, too. */
    uint32_t old = 0;
    while (old < f->count && age_at_tick(a, f, window_at(f, old), &age) && age >= WINDOW_NS)
        old++;
    sample->value = mrd__measured_integer(f->count - old, f->count - old);
    return MRD__QUALITY_OK;
}

static void sample_window(applying *a, const frames_state *f)
{
    mrd__sample sample = {.div = 1};
    series_state *s = &a->p->series.data[f->fps_series - 1];
    mrd__quality quality = count_window(a, f, &sample);
    reading_time now = {.clock = MRD__CLOCK_NONE,
                        .known = a->envelope->has_host_receive,
                        .at = {.host = a->envelope->host_receive}};
    int64_t ns;
    if (quality != MRD__QUALITY_OK)
        sample.value = mrd__measured_none(quality);
    else if (mrd__projector_between(a->p, f->stream, &s->previous, &now, &ns) && ns > 0)
        sample.time_ns = ns;
    s->previous = now;
    mrd__projector_sample(a, s, &sample);
}

static mrd__frame_entry entry_of(const applying *a, const series_state *s)
{
    const mrd__projector *p = a->p;
    const source_state *of = &p->sources.data[p->streams.data[s->stream].source];
    mrd__frame_entry entry = {.series = s->pub->id, .value = s->last};
    __int128 fresh = mrd__projector_freshness(p, s);
    if (of->ended)
        entry.state = MRD__SOURCE_ENDED;
    else if (fresh > 0 && s->has_host && a->envelope->has_host_receive &&
             mrd__elapsed(s->last_host, a->envelope->host_receive).ns > fresh)
        entry.state = MRD__SOURCE_STALE;
    /* What a source has not got it will not have later either. */
    if (entry.state != MRD__SOURCE_LIVE && s->last.quality != MRD__QUALITY_UNSUPPORTED)
        entry.value = mrd__measured_none(MRD__QUALITY_MISSING);
    return entry;
}

static void tell_frame(applying *a)
{
    mrd__projector *p = a->p;
    p->entries.count = 0;
    for (size_t i = 0; i < p->series.count; i++) {
        series_state *s = &p->series.data[i];
        mrd__frame_entry entry = entry_of(a, s);
        bool gone = entry.state != MRD__SOURCE_LIVE;
        if (!gone || !s->stale_told) mrd__vec_push(&p->entries, entry);
        s->stale_told = gone;
    }
    mrd__frame frame = {.sequence = a->sequence,
                        .host = a->envelope->host_receive,
                        .entries = p->entries.data,
                        .count = p->entries.count};
    p->counts.frames++;
    if (a->sink->frame != NULL) a->sink->frame(a->sink->ctx, &frame);
}

void mrd__projector_tick(applying *a)
{
    mrd__domain_event event = {.type = MRD__DOMAIN_TICK};
    mrd__projector_event(a, &event);
    for (size_t i = 0; i < a->p->frames.count; i++) {
        if (a->p->frames.data[i].fps_series != 0) sample_window(a, &a->p->frames.data[i]);
    }
    tell_frame(a);
}
