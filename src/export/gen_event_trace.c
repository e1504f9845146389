/* A deterministic event trace of any size: eight chips in a ring, their links, CDMA units and
 * threads, and flows between them. Each track makes its own events from its own random numbers; a
 * heap merges them by time, so memory does not grow with the file.
 *
 * The file names its end, which is known only when all events are made: they are made twice, the
 * first time for the end alone. */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/os.h"
#include "events/event_file.h"
#include "export/export.h"

#include <stdio.h>
#include <string.h>

#define CHIPS 8
#define UNITS 2
#define THREADS 2
#define LINKS (CHIPS * 2 * 2) /* both directions, req and rsp */
#define FLOWS (CHIPS * 2)     /* to the chip across and to the next but one */
#define TRACKS (LINKS + CHIPS * UNITS * (1 + THREADS) + FLOWS)
#define MAX_OUTSTANDING 16
#define DETAIL_BYTES 96
#define BATCH 2048 /* records whose details are kept at a time */

typedef enum track_form {
    LINK,
    THREAD,
    UNIT,
    FLOW
} track_form;

typedef struct gen_track {
    track_form form;
    bool open;
    uint32_t outstanding;
    uint64_t next_ps;   /* when its next event comes */
    uint64_t length_ps; /* of the open transfer, or the hop's latency */
    mrd__rng rng;
    char name[32];
} gen_track;

typedef struct gen {
    gen_track tracks[TRACKS];
    uint32_t heap[TRACKS]; /* indices of tracks, the earliest first */
    uint32_t heap_count;
    uint64_t left; /* events to come */
    uint32_t open; /* intervals that still need their end */
    uint64_t made;
    bool with_details;
    char details[BATCH][DETAIL_BYTES];
} gen;

/* ---- Tracks ---- */

static void add_track(gen *g, uint32_t index, track_form form, uint64_t seed)
{
    gen_track *track = &g->tracks[index];
    track->form = form;
    track->rng.state = mrd__hash_mix(seed, index + 1);
    track->next_ps = 1000 + mrd__rng_below(&track->rng, 400000);
}

static void add_chip(gen *g, uint32_t chip, uint32_t *at, uint64_t seed)
{
    static const char *const lanes[] = {"req", "rsp"};
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t to = (chip + (i < 2 ? 1 : CHIPS - 1)) % CHIPS;
        snprintf(g->tracks[*at].name, sizeof g->tracks->name, "link_%u_%u_%s", chip, to,
                 lanes[i % 2]);
        add_track(g, (*at)++, LINK, seed);
    }
    for (uint32_t unit = 0; unit < UNITS; unit++) {
        snprintf(g->tracks[*at].name, sizeof g->tracks->name, "cdma_chip%u_unit%u", chip, unit);
        add_track(g, (*at)++, UNIT, seed);
        for (uint32_t thread = 0; thread < THREADS; thread++) {
            snprintf(g->tracks[*at].name, sizeof g->tracks->name, "cdma_chip%u_unit%u_t%u", chip,
                     unit, thread);
            add_track(g, (*at)++, THREAD, seed);
        }
    }
    for (uint32_t i = 0; i < 2; i++) {
        snprintf(g->tracks[*at].name, sizeof g->tracks->name, "flow_%u_%u", chip,
                 (chip + (i ? 2 : CHIPS / 2)) % CHIPS);
        add_track(g, (*at)++, FLOW, seed);
    }
}

/* ---- The heap ---- */

static bool earlier(const gen *g, uint32_t a, uint32_t b)
{
    if (g->tracks[a].next_ps != g->tracks[b].next_ps)
        return g->tracks[a].next_ps < g->tracks[b].next_ps;
    return a < b;
}

static void sift_down(gen *g, uint32_t at)
{
    uint32_t moving = g->heap[at];
    for (;;) {
        uint32_t child = at * 2 + 1;
        if (child >= g->heap_count) break;
        if (child + 1 < g->heap_count && earlier(g, g->heap[child + 1], g->heap[child])) child++;
        if (!earlier(g, g->heap[child], moving)) break;
        g->heap[at] = g->heap[child];
        at = child;
    }
    g->heap[at] = moving;
}

static void gen_init(gen *g, uint64_t events, uint64_t seed, bool with_details)
{
    memset(g, 0, sizeof *g);
    g->left = events;
    g->with_details = with_details;
    uint32_t at = 0;
    for (uint32_t chip = 0; chip < CHIPS; chip++)
        add_chip(g, chip, &at, seed);
    mrd__assert(at == TRACKS);
    for (uint32_t i = 0; i < TRACKS; i++)
        g->heap[i] = i;
    g->heap_count = TRACKS;
    for (uint32_t i = TRACKS / 2; i-- > 0;)
        sift_down(g, i);
}

/* ---- Events ---- */

/* Between two events of a track; one in 64 is a longer pause. */
static uint64_t pause_ps(gen_track *track, uint64_t least, uint64_t spread)
{
    uint64_t pause = least + mrd__rng_below(&track->rng, spread);
    return mrd__rng_below(&track->rng, 64) ? pause : pause * 3;
}

static void switch_interval(gen *g, gen_track *track, mrd__event_record *record)
{
    bool link = track->form == LINK;
    track->open = !track->open;
    if (track->open) {
        g->open++;
        track->length_ps = 20000 + mrd__rng_below(&track->rng, link ? 300000 : 900000);
        track->next_ps += track->length_ps;
        record->category = link ? MRD__EV_LINK_BUSY : MRD__EV_THREAD_BLOCKED;
        record->value = link ? (double)track->length_ps / 1000 : 0;
        return;
    }
    g->open--;
    /* One transfer in 32 follows at once. */
    if (mrd__rng_below(&track->rng, 32)) track->next_ps += pause_ps(track, 1000, 500000);
    record->category = link ? MRD__EV_LINK_IDLE : MRD__EV_THREAD_UNBLOCKED;
    record->value = link ? 0 : 1;
}

static void change_counter(gen_track *track, mrd__event_record *record)
{
    bool up = mrd__rng_next(&track->rng) & 1;
    if (track->outstanding == 0) up = true;
    if (track->outstanding == MAX_OUTSTANDING) up = false;
    track->outstanding += up ? 1 : UINT32_MAX;
    track->next_ps += pause_ps(track, 500, 400000);
    record->category = MRD__EV_OSTD_CHANGE;
    record->value = track->outstanding;
}

static void arrive(gen_track *track, mrd__event_record *record)
{
    track->length_ps = 80000 + mrd__rng_below(&track->rng, 120000);
    track->next_ps += pause_ps(track, 2000, 600000);
    record->category = MRD__EV_HOP_ARRIVE;
    record->value = (double)track->length_ps / 1000;
}

static void add_detail(gen *g, gen_track *track, char *out, mrd__event_record *record)
{
    record->detail = (mrd__str){0};
    uint64_t random = mrd__rng_next(&track->rng);
    if (!g->with_details || random & 1) return;
    int size = snprintf(out, DETAIL_BYTES, "{\"cmd\":%llu,\"bytes\":%u,\"hop\":%u}",
                        (unsigned long long)g->made, 64u << (random >> 1 & 7),
                        (unsigned)(random >> 4 & 3));
    record->detail = (mrd__str){out, (size_t)size};
}

/* The earliest event that may come: near the end only those that close what is open. False when
 * none is left. */
static bool next_event(gen *g, mrd__event_record *record, char *detail)
{
    while (g->left && g->heap_count) {
        gen_track *track = &g->tracks[g->heap[0]];
        bool pair = track->form == LINK || track->form == THREAD;
        uint64_t needed = 1 + g->open; /* this one and every end that is due */
        if (pair) needed = track->open ? 0 : needed + 1;
        if (g->left < needed) {
            g->heap[0] = g->heap[--g->heap_count];
            if (g->heap_count) sift_down(g, 0);
            continue;
        }
        record->time_ns = (double)track->next_ps / 1000;
        record->component = mrd__str_of(track->name);
        if (pair)
            switch_interval(g, track, record);
        else if (track->form == UNIT)
            change_counter(track, record);
        else
            arrive(track, record);
        add_detail(g, track, detail, record);
        g->left--;
        g->made++;
        sift_down(g, 0);
        return true;
    }
    return false;
}

static mrd_status next_records(void *ctx, mrd__event_record *records, size_t max, size_t *count,
                               mrd_error *error)
{
    (void)error;
    gen *g = ctx;
    *count = 0;
    while (*count < max && *count < BATCH && next_event(g, &records[*count], g->details[*count]))
        (*count)++;
    return MRD_OK;
}

mrd_status mrd__gen_event_trace(const char *path, uint64_t events, uint64_t seed, mrd_error *error)
{
    if (events > INT32_MAX) {
        return mrd__fail(error, MRD_ERR_LIMIT, "too_many_events",
                         "%llu events; an event trace holds at most %d", (unsigned long long)events,
                         INT32_MAX);
    }
    gen *g = mrd__new(gen);
    gen_init(g, events, seed, false);
    mrd__event_record record;
    double last_ns = 0;
    while (next_event(g, &record, g->details[0]))
        last_ns = record.time_ns;
    gen_init(g, events, seed, true);
    mrd__event_source source = {.ctx = g, .next = next_records, .sim_end_ns = last_ns + 1000};
    mrd_status status = mrd__event_write(path, &source, error);
    mrd__free(g);
    return status;
}
