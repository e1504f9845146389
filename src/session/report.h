/* The report of a session: running statistics over the samples of the projector, the same in live
 * and replay. Integers as long as possible, one division at the end, sums in the order of the
 * samples: the text is the same, byte for byte, whatever compiler made the program. */
#ifndef MRD_SESSION_REPORT_H
#define MRD_SESSION_REPORT_H

#include "session/projector.h"

/* Places that are listed one by one (janks, gaps, launch phases); all are counted. */
#define MRD__REPORT_LIST_MAX 1000u

typedef struct mrd__session_report mrd__session_report;

mrd__session_report *mrd__session_report_create(void);
void mrd__session_report_destroy(mrd__session_report **report); /* accepts NULL */

/* ---- Feeding: in order of sequence, one thread ---- */

void mrd__session_report_series(mrd__session_report *report, const mrd__series *series);
void mrd__session_report_sample(mrd__session_report *report, const mrd__sample *sample);
/* Every envelope, before its samples: counts by source, time of the session. */
void mrd__session_report_envelope(mrd__session_report *report, uint64_t sequence,
                                  const mrd__envelope *envelope);
/* An adapter said that it stops: of a source that it brought. */
void mrd__session_report_stopped(mrd__session_report *report, mrd__str source_id);
/* A line that did not decode. */
void mrd__session_report_decode_error(mrd__session_report *report, uint64_t sequence);
/* A gap of any kind ("stop-missing", "refused", ...); name is copied. */
void mrd__session_report_gap(mrd__session_report *report, uint64_t sequence, mrd__str name);

/* ---- Reading: the numbers as they are now. Borrowed until the next call that feeds ---- */

typedef struct mrd__metric_row {
    const mrd__series *series;
    uint64_t readings; /* samples of all qualities */
    mrd__measured min, max, mean, last;
    mrd__measured p50, p90, p95, p99;     /* n is the count of ok samples in all of these */
    mrd__measured coverage;               /* share of the session's time that is ok */
    mrd__measured shares[MRD__QUALITIES]; /* share of the session's time; missing holds what no
                                           * reading covers */
    uint64_t counts[MRD__QUALITIES];      /* samples; [MRD__QUALITY_OK] is `count` */
    mrd__measured total;                  /* rates: sum of deltas */
} mrd__metric_row;

typedef struct mrd__frames_row {
    const mrd__series *series; /* of the frame times */
    uint64_t frames;           /* with a frame time */
    mrd__measured fps;         /* frames / time */
    mrd__measured fps_p1;      /* 1000 / p99 of the frame times */
    mrd__measured fps_low_1;   /* 1000 / mean of the worst 1 % of the frame times */
    mrd__measured stutter;     /* time of janks / time of all frames */
    uint64_t janks, big_janks, big_janks_3x;
    const uint64_t *jank_sequences, *big_jank_sequences; /* the first MRD__REPORT_LIST_MAX */
} mrd__frames_row;

typedef struct mrd__launch_row {
    mrd__str phase;
    uint64_t sequence;
    mrd__measured time_ns;
} mrd__launch_row;

typedef struct mrd__gap_row {
    mrd__str name;
    uint64_t sequence;
} mrd__gap_row;

typedef struct mrd__source_row {
    mrd__str source_id;
    uint64_t envelopes, samples[MRD__QUALITIES];
    bool stopped; /* its `stopped` line came */
} mrd__source_row;

/* Rows that need no calculation: all sources, in order of appearance (a series' source is the row
 * mrd__session_report_source_of); the first gaps. */
const mrd__source_row *mrd__session_report_sources(const mrd__session_report *report,
                                                   size_t *count);
uint32_t mrd__session_report_source_of(const mrd__session_report *report, uint32_t series);
const mrd__gap_row *mrd__session_report_gaps(const mrd__session_report *report, size_t *count);

typedef struct mrd__report_view {
    const char *definitions;
    uint64_t envelopes, decode_errors, samples, gaps_in_all, launches_in_all;
    uint64_t first_sequence, last_sequence;
    mrd__measured duration_ns; /* first to last time of the host */
    bool has_host;
    mrd__host_ns first_host, last_host; /* when has_host */
    MRD__VEC(mrd__metric_row) metrics;
    MRD__VEC(mrd__frames_row) frames;
    MRD__VEC(mrd__launch_row) launches;
    mrd__measured launch_sum_ns,
        launch_rest_ns; /* rest: of the phase "total", where there is one */
    MRD__VEC(mrd__gap_row) gaps;
    MRD__VEC(mrd__source_row) sources;
} mrd__report_view;

/* Fill the view; reset frees what it holds. The report itself does not change. */
void mrd__session_report_view(const mrd__session_report *report, mrd__report_view *view);
void mrd__report_view_reset(mrd__report_view *view);
/* Canonical JSON: members sorted, no spaces, one LF at the end. */
void mrd__session_report_json(const mrd__session_report *report, mrd__buf *out);

#endif
