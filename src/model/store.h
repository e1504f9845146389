/* The trace store: immutable once sealed, columnar, read by any number of threads without locks.
 *
 * Slices are grouped by row and sorted by start inside it; a row is (track, line): intervals that
 * do not overlap. So a slice's id is its index in the columns, its row follows from the row table
 * by search, and everything drawn as bars is answered by one mechanism (model/rows.h).
 *
 *   tracks  [ t0        | t1   | ... ]      track: first_row, row_count
 *   rows    [ r0 r1 r2  | r3   | ... ]      row:   first slice, count, depth, line
 *   slices  [ ...  ...  ... ...      ]      start[], end[], name[], ...
 *
 * Times are double ns relative to origin_ns (exact up to 2^53 ns from it); a time further away
 * keeps its exact integer in `exact` (sorted by slice id; empty in ordinary traces).
 * Event records (spec event-trace) are model/events.h and keep the file's own doubles.
 */
#ifndef MRD_MODEL_STORE_H
#define MRD_MODEL_STORE_H

#include "base/alloc.h"
#include "base/os.h"
#include "model/loss.h"
#include "model/pyramid.h"
#include "model/rows.h"

#define MRD__NONE UINT32_MAX

typedef uint32_t mrd__str_id; /* 0 is the empty string */

/* Process and thread ids as the file writes them. */
typedef enum mrd__ident_kind {
    MRD__IDENT_NONE,
    MRD__IDENT_NUMBER,
    MRD__IDENT_TEXT
} mrd__ident_kind;
typedef struct mrd__ident {
    uint8_t kind;
    uint16_t use;     /* ids are used again: which process or thread of this id, 0 the first */
    mrd__str_id text; /* TEXT */
    int64_t number;   /* NUMBER */
} mrd__ident;

/* A computer that something was recorded on. */
typedef struct mrd__machine {
    int64_t raw_id;   /* 0 the host, the id of a file's packets, 2^32 and up: named by a manifest */
    mrd__str_id name; /* 0 none, as the texts below */
    mrd__str_id sysname, release, version, arch;
    uint32_t num_cpus; /* 0 unknown */
} mrd__machine;

typedef struct mrd__process { /* index = display order */
    mrd__ident pid;
    uint32_t machine;                /* index */
    mrd__str_id name;                /* the last seen, 0 none */
    uint32_t name_first, name_count; /* all seen, in order: store->process_names */
    int64_t sort_index;
    mrd__str_id labels;
} mrd__process;

typedef struct mrd__thread { /* index = display order; threads of a process are contiguous */
    uint32_t process;
    mrd__ident tid;
    mrd__str_id name;
    int64_t sort_index;
} mrd__thread;

typedef enum mrd__track_kind {
    MRD__TRACK_THREAD,   /* nested slices of a thread */
    MRD__TRACK_ASYNC,    /* slices of one async (category, id, scope) */
    MRD__TRACK_INTERVAL, /* event records: one interval pair of a component */
    MRD__TRACK_COUNTER,  /* counter samples, of events or of ph C */
    MRD__TRACK_INSTANT,  /* instants of a thread, a process or the whole trace */
} mrd__track_kind;
const char *mrd__track_kind_name(mrd__track_kind kind); /* thread, async, interval, ... */

typedef struct mrd__track { /* index = id = display order */
    uint8_t kind;
    uint8_t scope;                 /* INSTANT: mrd__scope */
    uint32_t parent;               /* track id or MRD__NONE */
    mrd__str_id name;              /* COUNTER: "name series" */
    mrd__str_id series;            /* COUNTER: the series (arg key) */
    mrd__str_id unit;              /* COUNTER: 0 where the file names none */
    mrd__str_id group;             /* event records: link, cdma, flow, other; else 0 */
    uint32_t process, thread;      /* indices or MRD__NONE */
    uint32_t first_row, row_count; /* slices: rows of store->rows; else 0, 0 */
    uint64_t first, count; /* COUNTER, INSTANT: range of the sample columns; slices: range of the
                              slice columns (a track's rows are contiguous) */
    uint32_t event_key;    /* event records: index of store->events keys, else MRD__NONE */
    uint32_t file;
    uint32_t machine; /* index */
} mrd__track;

enum { /* slice flags */
    MRD__SLICE_UNCLOSED = 1,
    MRD__SLICE_LEFT_TRUNCATED = 2,
    MRD__SLICE_OVERLAP = 4,
    MRD__SLICE_NEGATIVE_DUR = 8,
};

/* Where args text lies: 0 none. The text starts at a '{' and its length is found by scanning. */
typedef uint64_t mrd__args_ref;

/* What a row is; parallel to the ranges in store->rows. */
typedef struct mrd__row {
    uint32_t track;
    uint16_t depth; /* nesting depth inside its row group */
    uint16_t line;  /* drawn line inside the track, from 0 */
} mrd__row;

typedef struct mrd__slices {
    uint64_t count;
    double *start, *end; /* relative ns; an unclosed slice ends at the trace's end. Owned by the
                            store; rows.start and rows.end are these same arrays */
    mrd__str_id *name, *category;
    uint32_t *parent; /* slice id or MRD__NONE */
    mrd__args_ref *args;
    uint8_t *flags;
    uint32_t *order; /* rank in (time, file order) over all slices: the order of dump */
} mrd__slices;

typedef enum mrd__scope {
    MRD__SCOPE_THREAD,
    MRD__SCOPE_PROCESS,
    MRD__SCOPE_GLOBAL
} mrd__scope;
typedef struct mrd__instants { /* grouped by track, sorted by time inside it */
    uint64_t count;
    double *time;
    mrd__str_id *name, *category;
    mrd__args_ref *args;
    uint32_t *order; /* rank in (time, file order) over all instants */
} mrd__instants;

typedef struct mrd__counters { /* grouped by track, sorted by time inside it, ties in file order */
    uint64_t count;
    double *time, *value;
    uint32_t *order;
    mrd__pyramid pyramid; /* over value; built at sealing: mrd__pyramid_build */
} mrd__counters;

typedef struct mrd__flow {
    mrd__str_id category, name, id;
    uint32_t from, to;         /* slice ids; direction as the file says (start to end) */
    double from_time, to_time; /* of the two flow points, relative ns */
} mrd__flow;

typedef struct mrd__metadata {
    mrd__str_id key;   /* flat: a.b[0] */
    mrd__str_id value; /* scalar as text: JSON strings decoded, numbers as written */
    uint8_t json_type; /* mrd__json_type of the value */
} mrd__metadata;

typedef struct mrd__file {
    char *path;
    const char *format;   /* static: chrome_json, event_parquet, ... */
    const char *clock;    /* static: trace_file (private timeline), ... */
    uint64_t bytes;       /* on disk */
    uint64_t events;      /* what the file holds, before any loss */
    uint64_t phases[128]; /* by letter */
    mrd__map map;         /* kept for args text; data NULL when the file was read as a stream */
    uint64_t checked_ns;  /* monotonic time of the last check that it did not change; atomic */
    uint64_t gzip_members;
    uint32_t order;       /* place in the order of processing; files of equal order stand by path */
    uint32_t parent;      /* the archive it is a member of + 1, 0 none */
    bool container;       /* an archive */
    uint32_t machine;     /* index: what its facts belong to that name no machine of their own */
    char *boot_id;        /* NULL unknown; owned */
    int64_t shift_ns;     /* that --align added to all of its times */
    uint32_t align_pairs; /* collectives matched with those of the reference */
    int64_t residual_min_ns, residual_max_ns; /* what is left between them, of all pairs */
} mrd__file;

/* A clock that something was counted by or read from; index = node of the graph. */
typedef struct mrd__clock {
    uint32_t file, machine; /* indices */
    uint32_t sequence;      /* 0: not scoped to a writer sequence */
    uint32_t id;            /* 1 REALTIME, 3 MONOTONIC, 6 BOOTTIME, 11 private timeline, ... */
    uint64_t facts;         /* counted by it */
    uint64_t dropped;       /* of them: no path, below zero, overflow */
    bool reached;           /* has a path to trace time */
    uint32_t first_hop, hop_count; /* its path: store->clock_hops */
} mrd__clock;
/* "REALTIME", ...; NULL for other ids. Static. */
const char *mrd__clock_name(uint32_t id);

typedef enum mrd__clock_origin {
    MRD__CLOCK_FROM_FILE,     /* read together: a snapshot, a sync round */
    MRD__CLOCK_FROM_MANIFEST, /* said in a manifest */
    MRD__CLOCK_FROM_NOTHING,  /* assumed */
} mrd__clock_origin;
const char *mrd__clock_origin_name(mrd__clock_origin origin); /* observed, manifest, assumed */

typedef struct mrd__clock_step { /* of a path */
    uint32_t from, to;           /* clocks */
    uint8_t origin;              /* mrd__clock_origin */
    uint64_t observations;
    int64_t first_offset_ns, last_offset_ns; /* to - from at the first and last observation */
    int64_t spread_ns;                       /* greatest less least offset */
    double drift_ppm;                        /* of to against from; 0 with fewer than two */
} mrd__clock_step;

typedef struct mrd__clock_value { /* one clock of a snapshot */
    uint32_t snapshot;            /* number; those of one number were read together */
    uint32_t clock;
    int64_t value_ns;
    int64_t ts_ns;  /* on trace time */
    bool has_ts;    /* its clock has a path */
    uint8_t origin; /* mrd__clock_origin */
} mrd__clock_value;

typedef struct mrd__exact { /* a slice, instant or sample too far from the origin for a double */
    uint64_t index;
    int64_t start_ns, end_ns;
} mrd__exact;
typedef struct mrd__exact_list {
    mrd__exact *data; /* sorted by index */
    size_t count;
} mrd__exact_list;

typedef struct mrd__store {
    int64_t origin_ns;
    bool empty;               /* no events: the bounds are null */
    int64_t start_ns, end_ns; /* bounds, absolute (event traces: floor and ceil of the doubles) */
    int64_t view_start_ns, view_end_ns; /* default view */

    mrd__str *strings; /* [string_count], valid UTF-8, borrowed from string_bytes; [0] is empty */
    size_t string_count;
    mrd__arena string_bytes;

    mrd__file *files;
    size_t file_count;
    mrd__machine *machines; /* at least one in a sealed store */
    size_t machine_count;
    mrd__clock *clocks;
    size_t clock_count;
    mrd__clock_step *clock_hops;
    size_t clock_hop_count;
    mrd__clock_value *clock_values; /* by snapshot */
    size_t clock_value_count;
    uint32_t trace_clock; /* clock that is trace time, MRD__NONE: nothing counts time */
    const char *align;    /* static: realtime, start, collectives, none */
    bool clock_linear;    /* interpolated between snapshots */
    mrd__process *processes;
    size_t process_count;
    mrd__str_id *process_names;
    mrd__thread *threads;
    size_t thread_count;
    mrd__track *tracks;
    size_t track_count;

    mrd__rows rows;      /* ranges and running sums of the slices */
    mrd__row *row_infos; /* [rows.row_count] */
    mrd__slices slices;
    mrd__instants instants;
    mrd__counters counters;
    uint64_t unclosed;
    mrd__flow *flows; /* sorted by (from_time, file order) */
    size_t flow_count;
    uint32_t *flow_by_from, *flow_by_to; /* flow indices sorted by slice id */
    mrd__exact_list exact_slices, exact_instants, exact_counters;

    struct mrd__events *events; /* event records or NULL (model/events.h) */

    mrd__loss *losses; /* sorted by file, severity (worst first), id */
    size_t loss_count;
    mrd__metadata *metadata; /* file order */
    size_t metadata_count;

    struct mrd__image *image;     /* where the columns lie when it was opened from one, else NULL */
    struct mrd__text_blob *blobs; /* args text that lies in no mapped file (model/writer.c) */
    size_t blob_count;
} mrd__store;

void mrd__store_destroy(mrd__store **store);

static inline mrd__str mrd__store_str(const mrd__store *store, mrd__str_id id)
{
    return store->strings[id];
}
/* Args text of a slice or instant (a whole JSON object as written; B and E merged), empty when
 * none; it may hold NaN and infinities. Text of a mapped file is copied into scratch, so that a
 * file that is cut short meanwhile is an error ("file_changed") and not a crash; *out is borrowed
 * from scratch or the store, until the next call with this scratch. */
MRD_MUST_CHECK mrd_status mrd__store_args(const mrd__store *store, mrd__args_ref ref,
                                          mrd__buf *scratch, mrd__str *out, mrd_error *error);
/* Row of a slice id (search in the row ranges). */
uint32_t mrd__store_row_of(const mrd__store *store, uint64_t slice);
/* Exact absolute times of a slice (end: of the drawn end). */
int64_t mrd__store_slice_start(const mrd__store *store, uint64_t slice);
int64_t mrd__store_slice_end(const mrd__store *store, uint64_t slice);
/* True for a slice without length that another one of its row follows that begins with it. Only the
 * order of begins and ends says so: as intervals one would lie in the other. */
bool mrd__store_stands_before(const mrd__store *store, uint64_t slice);
int64_t mrd__store_instant_time(const mrd__store *store, uint64_t instant);
int64_t mrd__store_counter_time(const mrd__store *store, uint64_t sample);
/* An absolute time of a relative double: origin + value rounded half away from zero. */
int64_t mrd__store_absolute(const mrd__store *store, double relative);
/* Bytes of the sealed store by part, for info --json "memory". */
typedef struct mrd__store_memory {
    uint64_t slices, rows, instants, counters, flows, events, intervals, strings, args, mapped,
        total; /* total: without mapped */
} mrd__store_memory;
void mrd__store_memory_of(const mrd__store *store, mrd__store_memory *out);

#endif
