/* The metric registry: one table of all metrics, in registry.c. A metric's meaning is its row; the
 * hash of what the row says is recorded for its definitionVersion, and a test compares.
 *
 * A source finds its metrics by the kind of its envelopes and the member of their payload
 * (sourceKey). Beyond the table a source may declare gauges and counters of its own, in the payload
 * of any kind:
 *
 *   {"gauges": {"load": 3}, "counters": {"draws": 120}, "units": {"load": "percent"},
 *    "unsupported": ["fan"]}
 *
 * gives the metrics `kind.load` (percent) and `kind.draws.rate` (raw/s), and says that `kind.fan`
 * is unsupported. "unsupported" or "missing" with a text speak of all metrics of the kind. */
#ifndef MRD_SESSION_REGISTRY_H
#define MRD_SESSION_REGISTRY_H

#include "session/format/envelope.h"
#include "session/format/sample.h"

/* Of everything that this program computes; a session recorded under another is refused. */
#define MRD__DEFINITIONS "metrics.v1"

typedef enum mrd__metric_kind {
    MRD__METRIC_GAUGE,
    MRD__METRIC_RATE,     /* of a counter: delta / dt */
    MRD__METRIC_INTERVAL, /* between two events, or of one that has begin and end */
    MRD__METRIC_WINDOW,   /* over a trailing window */
    MRD__METRIC_KINDS,
} mrd__metric_kind;
typedef enum mrd__metric_status {
    MRD__METRIC_CURRENT,
    MRD__METRIC_COMPARE,
    MRD__METRIC_HISTORICAL,
} mrd__metric_status;
typedef enum mrd__metric_evidence {
    MRD__EVIDENCE_UNIT_TESTED,
    MRD__EVIDENCE_SOFTWARE_LOOP, /* a program with known behaviour was measured */
    MRD__EVIDENCE_DEVICE,
} mrd__metric_evidence;

/* Breaks beside those that every metric has (clock domain and kind of timestamp, epoch,
 * generations, pid, schema, role, identity). */
typedef enum mrd__metric_breaks {
    MRD__BREAK_COUNTER = 1, /* counter below its anchor */
    MRD__BREAK_TIME = 2,    /* dt <= 0 */
    MRD__BREAK_FOREGROUND = 4,
    MRD__BREAK_DISPLAY = 8,
    MRD__BREAK_TIMEBASE = 16,
} mrd__metric_breaks;

typedef enum mrd__metric_flags {
    MRD__METRIC_EXPECTED = 1, /* an event of this kind without the member is `missing`; others are
                               * missing only after the member was there once */
    MRD__METRIC_NEGATIVE_UNSUPPORTED = 2, /* below 0 the source says that it has none */
    MRD__METRIC_KEYED = 4,                /* a series a connection */
} mrd__metric_flags;

typedef struct mrd__metric {
    const char *id;   /* metricId */
    const char *kind; /* of the envelope; its schemaId unless told otherwise */
    const char *source_key;
    const char *source; /* what gives it: for people */
    const char *unit;
    const char *scope; /* process, machine, device, display, connection, ... */
    mrd__source_role role;
    mrd__metric_kind type;
    int64_t window_ns;    /* WINDOW */
    int64_t freshness_ns; /* silence after which a frame says missing, at least; 0: none of its own.
                           * The greater of it and twice the source's cadence counts. */
    const char *zero_rule; /* what a 0 means */
    const char *formula;
    uint32_t numer, denom; /* RATE: delta * numer / (dt_ns * denom); GAUGE: value * numer / denom */
    const char *divisor;   /* member of the payload that divides further (nCpu); NULL: none */
    unsigned breaks, flags;
    const char *bridge; /* what time of the host is used for; NULL: nothing */
    const char *aggregate;
    const char *order; /* which quality wins where several conditions fail */
    const char *definition_version;
    mrd__metric_status status;
    mrd__metric_evidence evidence;
} mrd__metric;

/* All rows, in the order of the table. Static. */
const mrd__metric *mrd__registry(size_t *count);
/* By id; NULL: there is none. */
const mrd__metric *mrd__registry_find(mrd__str id);
/* Rows of one kind: the first one and how many follow it in the table; 0 where there is none. */
size_t mrd__registry_rows(mrd__str kind, const mrd__metric **first);
/* Everything that the row's numbers depend on, as text; and its SHA-256. */
void mrd__registry_semantics(mrd__buf *out, const mrd__metric *metric);
void mrd__registry_hash(const mrd__metric *metric, char out[65]);
/* Words: "gauge", "rate", ...; "current"; "unit-tested". Static. */
const char *mrd__metric_kind_name(mrd__metric_kind kind);
const char *mrd__metric_status_name(mrd__metric_status status);
const char *mrd__metric_evidence_name(mrd__metric_evidence evidence);
/* The registry as a page of Markdown. */
void mrd__registry_document(mrd__buf *out);
/* {"definitions": "metrics.v1", "metrics": {id: version, ...}}, members sorted: for manifests. */
void mrd__registry_versions(mrd__buf *out);
/* MRD_OK when this program has these definitions; else MRD_ERR_UNSUPPORTED "definitions", naming
 * them and what it has. */
MRD_MUST_CHECK mrd_status mrd__registry_check(mrd__str definitions, mrd_error *error);

#endif
