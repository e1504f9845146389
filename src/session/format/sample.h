/* Samples: what metrics.mrl holds. A number never stands alone: it is a mrd__measured, and one of
 * another quality than ok has none.
 *
 * Three types of record:
 *   series  declares the number of a series: metric, unit, source, key. Before its first sample.
 *   sample  one value of a series, or that there is none and why.
 *   frame   what all series were worth at a tick of the publisher. */
#ifndef MRD_SESSION_FORMAT_SAMPLE_H
#define MRD_SESSION_FORMAT_SAMPLE_H

#include "base/alloc.h"
#include "base/text.h"
#include "session/format/clock_domain.h"

/* Record types of metrics.mrl: MRD__RECORD_DERIVED plus these. */
typedef enum mrd__metrics_type {
    MRD__METRICS_SERIES,
    MRD__METRICS_SAMPLE,
    MRD__METRICS_FRAME,
    MRD__METRICS_TYPES,
} mrd__metrics_type;
/* "series", "sample", "frame". Static. */
extern const char *const mrd__metrics_type_names[MRD__METRICS_TYPES];

typedef enum mrd__quality {
    MRD__QUALITY_OK,
    MRD__QUALITY_WARMUP,
    MRD__QUALITY_MISSING,
    MRD__QUALITY_NOT_FOREGROUND,
    MRD__QUALITY_NOT_APPLICABLE,
    MRD__QUALITY_COUNTER_RESET,
    MRD__QUALITY_DISCONTINUITY,
    MRD__QUALITY_UNSUPPORTED,
    MRD__QUALITIES,
} mrd__quality;
/* "ok", "warmup", ... Static. */
const char *mrd__quality_name(mrd__quality quality);

typedef enum mrd__number_form {
    MRD__NUMBER_NONE, /* of every quality but ok */
    MRD__NUMBER_INTEGER,
    MRD__NUMBER_REAL,
} mrd__number_form;

/* A value with its quality. Made by the functions below alone: there is none that takes a number
 * and another quality than ok, and none that gives a bare number back. */
typedef struct mrd__measured {
    mrd__quality quality;
    mrd__number_form form;
    uint32_t n; /* readings it rests on; 0 where there is no number */
    union {
        int64_t integer;
        double real;
    } number_; /* read by mrd__measured_get and _integer */
} mrd__measured;

mrd__measured mrd__measured_integer(int64_t value, uint32_t n);
/* value must be finite (asserted). */
mrd__measured mrd__measured_real(double value, uint32_t n);
/* quality must not be ok (asserted). */
mrd__measured mrd__measured_none(mrd__quality quality);
/* False, and *out untouched, unless the quality is ok. An integer is given as the nearest double.
 */
MRD_MUST_CHECK bool mrd__measured_get(mrd__measured measured, double *out);
/* False, and *out untouched, unless it is ok and an integer. */
MRD_MUST_CHECK bool mrd__measured_get_integer(mrd__measured measured, int64_t *out);
/* As JSON: null, or the shortest digits that read back the same. */
void mrd__measured_json(mrd__buf *out, mrd__measured measured);

/* One curve: a metric of a source, and of a key inside it (connection, display, launch phase). */
typedef struct mrd__series {
    uint32_t id; /* from 0, in order of first appearance */
    mrd__str metric, unit, source, key;
    uint8_t kind;          /* mrd__metric_kind of session/registry.h */
    uint32_t numer, denom; /* of rates: value = delta * numer / (dt * div * denom) */
} mrd__series;

typedef enum mrd__sample_flags {
    MRD__SAMPLE_RATE = 1, /* delta, dt_ns and div are there when it is ok */
    MRD__SAMPLE_JANK = 2, /* of a frame time, by jank.v1 */
    MRD__SAMPLE_BIG_JANK = 4,
    MRD__SAMPLE_BIG_JANK_3X = 8, /* by the other convention: three times the mean */
    MRD__SAMPLE_HOST = 16,       /* host is there */
    MRD__SAMPLE_FLAGS = 31,
} mrd__sample_flags;

typedef struct mrd__sample {
    uint64_t sequence;         /* lastRawSequence */
    const mrd__series *series; /* borrowed: as long as its projector or reader */
    mrd__host_ns host;         /* when its newest envelope was received */
    uint8_t flags;             /* mrd__sample_flags */
    mrd__measured value;       /* frame times: in ms; time_ns has the integer */
    int64_t time_ns;           /* ok: the time it stands for, at least 0. Gauges: since the
                                  * previous reading, within twice the cadence that the source
                                  * told; rates: dt; frame times: the frame time */
    int64_t covered_ns;        /* time of the host since the previous reading of the series,
                                  * at most the metric's freshness: what its quality holds for */
    uint64_t delta;            /* rates, when ok */
    uint32_t div;              /* rates, when ok: further divisor (cores); at least 1 */
} mrd__sample;

/* State of a series' source in a frame. */
typedef enum mrd__source_state {
    MRD__SOURCE_LIVE,
    MRD__SOURCE_STALE, /* silent for longer than the metric's freshness */
    MRD__SOURCE_ENDED, /* its stream ended or broke */
    MRD__SOURCE_STATES,
} mrd__source_state;
const char *mrd__source_state_name(mrd__source_state state);

typedef struct mrd__frame_entry {
    uint32_t series;
    mrd__source_state state;
    mrd__measured value;
} mrd__frame_entry;

/* The values at a tick of the publisher. A series that was stale or ended in the frame before is
 * left out until it comes back. Entries are borrowed until the callback returns. */
typedef struct mrd__frame {
    uint64_t sequence; /* of the tick */
    mrd__host_ns host;
    const mrd__frame_entry *entries;
    size_t count;
} mrd__frame;

/* ---- Encoding: the payload of one record, appended to out. Any thread. ---- */

void mrd__series_encode(mrd__buf *out, const mrd__series *series);
void mrd__sample_encode(mrd__buf *out, const mrd__sample *sample);
void mrd__frame_encode(mrd__buf *out, const mrd__frame *frame);

/* Reads the records of one metrics.mrl in order; keeps the series. Zeroed is new. One thread. */
typedef struct mrd__metrics_reader {
    MRD__VEC(mrd__series *) series;
    mrd__arena texts;
    MRD__VEC(mrd__frame_entry) entries;
    mrd__sample sample; /* type SAMPLE: the one just read */
    mrd__frame frame;   /* type FRAME: the one just read; entries until the next call */
} mrd__metrics_reader;

/* One record: type without MRD__RECORD_DERIVED, sequence and payload. MRD_ERR_FORMAT
 * "bad_sample" naming what is wrong (also a number without quality ok); nothing is kept then. */
MRD_MUST_CHECK mrd_status mrd__metrics_read(mrd__metrics_reader *reader, unsigned type,
                                            uint64_t sequence, mrd__str payload, mrd_error *error);
void mrd__metrics_reader_reset(mrd__metrics_reader *reader);

#endif
