/* What a report has counted, shared by its files alone. */
#ifndef MRD_SESSION_REPORT_STATE_H
#define MRD_SESSION_REPORT_STATE_H

#include "session/report.h"

#define MRD__REPORT_SOURCE_SLOTS ((size_t)65536) /* a power of two, at most half full */

typedef MRD__VEC(uint64_t) sequence_list;

typedef struct series_stats {
    const mrd__series *series; /* a copy of the report's own */
    uint32_t source;
    bool is_frame_time, is_launch, has_reals, has_host;
    mrd__host_ns last_host;
    uint64_t readings, counts[MRD__QUALITIES];
    unsigned __int128 covered[MRD__QUALITIES]; /* ns of the host */
    mrd__measured last;
    MRD__VEC(double) values; /* of ok samples: 8 bytes each, exact percentiles need all of them */
    int64_t least, greatest; /* where all are integers */
    __int128 integer_sum;    /* of value * ns */
    double real_sum;
    unsigned __int128 weight; /* ns; of intervals: their sum */
    unsigned __int128 delta, under;
    uint64_t janks, big_janks, big_janks_3x;
    unsigned __int128 jank_ns;
    sequence_list jank_sequences, big_sequences;
} series_stats;

struct mrd__session_report {
    mrd__arena texts;
    MRD__VEC(series_stats) series; /* by id */
    MRD__VEC(mrd__source_row) sources;
    uint32_t *source_slots; /* 1 + index; 0: empty */
    uint32_t last_source;
    MRD__VEC(mrd__gap_row) gaps;
    MRD__VEC(mrd__launch_row) launches;
    uint64_t envelopes, decode_errors, samples, gaps_in_all, launches_in_all;
    uint64_t first_sequence, last_sequence;
    bool has_host, has_total, has_phases;
    mrd__host_ns first_host, last_host;
    __int128 launch_sum, launch_total;
};

#endif
