/* Meridian: open profiler traces of many formats, put them on one clock, ask windows of them.
 *
 * This is the only public header. Handles are opaque, names start with mrd_. Unless a comment says
 * otherwise a function may be called from any thread, a handle may be shared by readers, and a
 * function that fails leaves everything as it was and fills the caller's mrd_error (may be NULL).
 *
 * Times end in _ns. "Absolute" times are int64 ns on the trace clock; "relative" times are double
 * ns from the trace's origin (mrd_trace_info tells it), exact up to 2^53 ns.
 */
#ifndef MERIDIAN_H
#define MERIDIAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define MRD_MUST_CHECK __attribute__((warn_unused_result))
#define MRD_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define MRD_MUST_CHECK
#define MRD_PRINTF(f, a)
#endif

/* ---- Status and error ------------------------------------------------------------------- */

/* What kind of failure; the value also picks the HTTP status and the exit code. */
typedef enum mrd_status {
    MRD_OK = 0,
    MRD_ERR_ARGUMENT,    /* the caller asked wrongly: 400, exit 2 on the command line */
    MRD_ERR_NOT_FOUND,   /* no such trace, result, file, table: 404 */
    MRD_ERR_IO,          /* the operating system refused: 500 */
    MRD_ERR_FORMAT,      /* a file is not what it should be: 422 */
    MRD_ERR_LIMIT,       /* a named limit would be passed: 413 or 400 */
    MRD_ERR_STATE,       /* not now (still opening, already closed): 409 */
    MRD_ERR_CANCELLED,   /* stopped by the caller */
    MRD_ERR_UNSUPPORTED, /* valid, but this build cannot do it */
    MRD_ERR_INTERNAL,    /* a dependency failed in a way that should not happen: 500 */
} mrd_status;

/* Caller-owned, fixed size: nothing to allocate and nothing to free. Zero it before first use. */
typedef struct mrd_error {
    mrd_status status;
    char code[32];      /* stable machine word: bad_window, too_many_rows, no_such_result, ... */
    char message[1024]; /* one line: what, the value, what is allowed; ends without a period */
    char file[512];     /* input path, or empty */
    int64_t offset;     /* byte offset in file, or -1 */
    uint64_t rows;      /* too_many_rows: the exact number the window holds */
    uint64_t limit;     /* too_many_rows and other limits: the limit */
} mrd_error;

/* "FILE:offset N: message" or what of it is known. Returns out. */
const char *mrd_error_text(const mrd_error *error, char *out, size_t size);

/* Program version, "0.1.0". Static. */
const char *mrd_version(void);

/* Load ahead of time what reading Parquet and SQL need, and make the memory of a first file and its
 * answer (0.1 to 0.3 s, 110 MB), so that the first file that a long-lived program opens does not
 * wait for it. Any thread. */
void mrd_warm_up(void);
/* Only the memory, which an opened file has taken: make it again for a further one (10 to 100 ms,
 * 96 MB at most). Any thread. */
void mrd_warm_memory(void);

/* ---- Sinks, parameters ------------------------------------------------------------------- */

/* Where bytes go. write is called from the calling thread only, in order; a status other than
 * MRD_OK stops the operation, which then returns that status. */
typedef struct mrd_sink {
    void *ctx;
    mrd_status (*write)(void *ctx, const void *data, size_t size, mrd_error *error);
} mrd_sink;

typedef enum mrd_format {
    MRD_FORMAT_TEXT,
    MRD_FORMAT_CSV,
    MRD_FORMAT_JSON,
    MRD_FORMAT_ARROW
} mrd_format;

/* Parameters of a question, from a query string, a JSON body or options; parsed and limited in
 * one place whatever the door (spec: event-trace section 3). */
typedef struct mrd_params mrd_params;

mrd_params *mrd_params_create(void);
void mrd_params_destroy(mrd_params **params);
/* One parameter; a list value is given raw (comma separated, parts percent-encoded) when encoded
 * is true, else as one decoded part. Copies. Names and values are not judged here. */
void mrd_params_add(mrd_params *params, const char *name, const char *value, bool encoded);
/* A raw query string as it stood in the request line (without '?'), `+` is a plus. */
MRD_MUST_CHECK mrd_status mrd_params_add_query(mrd_params *params, const char *raw, size_t size,
                                               mrd_error *error);
/* A JSON object: strings, numbers, arrays of those. */
MRD_MUST_CHECK mrd_status mrd_params_add_json(mrd_params *params, const char *text, size_t size,
                                              mrd_error *error);

/* ---- Traces ------------------------------------------------------------------------------ */

typedef struct mrd_trace mrd_trace;

/* Progress of one file of an opening trace; called at most ~20 a second, never by two threads at
 * once. Return false to cancel. */
typedef bool (*mrd_progress_fn)(void *ctx, const char *path, uint64_t done_bytes,
                                uint64_t total_bytes);

/* How files that nothing relates to each other are placed. */
typedef enum mrd_align {
    MRD_ALIGN_REALTIME,    /* REALTIME of their machines is one, else equal clocks are equal */
    MRD_ALIGN_START,       /* each file's first event at that of the first file */
    MRD_ALIGN_COLLECTIVES, /* the ends of collectives that ranks share coincide, by the median */
    MRD_ALIGN_NONE,        /* as the files have their times: equal clocks are equal */
} mrd_align;

typedef struct mrd_open_options {
    uint32_t threads;         /* 0: one per core */
    mrd_progress_fn progress; /* may be NULL */
    void *progress_ctx;
    const char *manifest;      /* path of a manifest for these files, or NULL */
    const char *manifest_text; /* or the manifest itself */
    mrd_align align;
    bool clock_linear; /* interpolate between clock snapshots; else the last one counts */
    bool cache;        /* take the sealed trace from the user's cache folder when it is there */
    bool verify_cache; /* then hash the inputs and the cached trace whole, not samples of them */
} mrd_open_options;

/* Open files and archives of files as one trace. All or nothing: one unreadable file fails the
 * whole; members of archives that cannot be read are losses. The order of paths means nothing.
 * options may be NULL. The result is immutable and may be read by any number of threads. */
MRD_MUST_CHECK mrd_status mrd_trace_open(const char *const *paths, size_t count,
                                         const mrd_open_options *options, mrd_trace **out,
                                         mrd_error *error);
/* Keep the sealed trace in the user's cache folder ($XDG_CACHE_HOME/meridian or
 * ~/.cache/meridian), so that opening these files again takes milliseconds; the longest unused make
 * room. Nothing is written when it came from there. MRD_ERR_ARGUMENT "not_cacheable" for inputs
 * that are no regular files. Any thread, beside readers. */
MRD_MUST_CHECK mrd_status mrd_trace_cache(const mrd_trace *trace, mrd_error *error);
/* What is kept: TEXT (a table) or JSON ({"images": [{"path", "bytes", "used_ns", "inputs"}],
 * "bytes"}); inputs null: written by another build, of no use to this one. */
MRD_MUST_CHECK mrd_status mrd_cache_list(mrd_format format, const mrd_sink *sink, mrd_error *error);
/* Remove all of it; counts what went. */
MRD_MUST_CHECK mrd_status mrd_cache_clear(uint64_t *files, uint64_t *bytes, mrd_error *error);

/* No reader may be inside the trace. Accepts NULL and *trace == NULL. */
void mrd_trace_close(mrd_trace **trace);

/* True when any loss counter is above zero (for --strict). */
bool mrd_trace_has_losses(const mrd_trace *trace);
/* True when the trace holds event records and nothing else (its page uses the event window). */
bool mrd_trace_is_event_trace(const mrd_trace *trace);

/* `meridian info`: TEXT for people or JSON (spec cli.md). */
MRD_MUST_CHECK mrd_status mrd_trace_info(const mrd_trace *trace, mrd_format format,
                                         const mrd_sink *sink, mrd_error *error);
/* Plain rows of one table (spec cli.md): CSV or JSON (one object a line). An unknown table is
 * MRD_ERR_ARGUMENT and the message lists the tables. */
MRD_MUST_CHECK mrd_status mrd_trace_dump(const mrd_trace *trace, const char *table,
                                         mrd_format format, const mrd_sink *sink, mrd_error *error);
/* The members "bounds" (origin_ns, relative start_ns and end_ns), "view", "files"
 * (as info), "counts" and "losses" of GET /api/traces/{id}, as a JSON object. */
MRD_MUST_CHECK mrd_status mrd_trace_summary(const mrd_trace *trace, const mrd_sink *sink,
                                            mrd_error *error);
/* The clock graph, each file's path to trace time and what was assumed (spec merge.md section 2):
 * TEXT for people or JSON. */
MRD_MUST_CHECK mrd_status mrd_trace_clocks(const mrd_trace *trace, mrd_format format,
                                           const mrd_sink *sink, mrd_error *error);
/* {"lanes": [...]}: the lane tree (spec timeline.md section 2b). */
MRD_MUST_CHECK mrd_status mrd_trace_lanes(const mrd_trace *trace, const mrd_sink *sink,
                                          mrd_error *error);
/* Details of one slice or instant with args, as a JSON object. */
MRD_MUST_CHECK mrd_status mrd_trace_slice(const mrd_trace *trace, uint32_t track, uint64_t id,
                                          const mrd_sink *sink, mrd_error *error);
/* Window over plain slices, instants and counters: schemas SR and SG. Parameters tracks,
 * start_ns, end_ns, buckets; with absolute true times are absolute ns integers (command line),
 * else relative doubles (HTTP). ARROW, JSON or CSV. */
MRD_MUST_CHECK mrd_status mrd_trace_window(const mrd_trace *trace, const mrd_params *params,
                                           bool absolute, mrd_format format, const mrd_sink *sink,
                                           mrd_error *error);
/* Window over event records: schemas R and G (spec event-trace.md section 3). */
MRD_MUST_CHECK mrd_status mrd_trace_event_window(const mrd_trace *trace, const mrd_params *params,
                                                 mrd_format format, const mrd_sink *sink,
                                                 mrd_error *error);

/* ---- SQL --------------------------------------------------------------------------------- */

/* SQL over a trace (tables: docs/sql.md). One statement, SELECT or EXPLAIN; the trace must outlive
 * it. */
typedef struct mrd_query mrd_query;

typedef struct mrd_query_options {
    uint32_t threads; /* of the first statement's options: DuckDB's own, 0 one per core */
    bool files;       /* the statement may read other files: FROM 'file.parquet' */
    uint32_t time_ms; /* it is stopped after so long; 0: never */
} mrd_query_options;

/* Start a statement; the first one of a trace opens its database (some 30 ms). TEXT (an aligned
 * table), CSV, JSON (one object a line), ARROW (IPC stream). options may be NULL. Codes bad_sql
 * (error->offset is the byte in sql, where known), sql_time, sql_memory, no_duckdb; the first three
 * come from mrd_query_step too. */
MRD_MUST_CHECK mrd_status mrd_query_start(const mrd_trace *trace, const char *sql, size_t size,
                                          mrd_format format, const mrd_query_options *options,
                                          mrd_query **out, mrd_error *error);
/* Write a piece of the answer, about 64 KiB; *more is false after the last. One thread at
 * a time. */
MRD_MUST_CHECK mrd_status mrd_query_step(mrd_query *query, const mrd_sink *sink, bool *more,
                                         mrd_error *error);
/* Stops what still runs. Accepts NULL and *query == NULL. */
void mrd_query_finish(mrd_query **query);
/* The whole answer as Parquet to fd, an open, empty file. */
MRD_MUST_CHECK mrd_status mrd_query_parquet(const mrd_trace *trace, const char *sql, size_t size,
                                            const mrd_query_options *options, int fd,
                                            mrd_error *error);

/* ---- Converting -------------------------------------------------------------------------- */

typedef enum mrd_target {
    MRD_TARGET_PARQUET,  /* slices, one a row */
    MRD_TARGET_ARROW,    /* the same as an IPC stream */
    MRD_TARGET_JSON,     /* Chrome Trace Event JSON */
    MRD_TARGET_PERFETTO, /* Perfetto protobuf */
} mrd_target;

/* What part is written; zeroed: all. Slices that touch the range are kept whole and marked.
 * Patterns (* ? [a-z]) of lanes match a lane's own, its thread's or its process's name. */
typedef struct mrd_convert_options {
    bool has_start, has_end;
    int64_t start_ns, end_ns;
    const char *tracks, *names; /* or NULL */
} mrd_convert_options;

/* Write a trace in another form: PARQUET to fd, an open, empty file; the others through sink.
 * options may be NULL. Codes event_records, negative_time where the form cannot hold it. */
MRD_MUST_CHECK mrd_status mrd_trace_convert(const mrd_trace *trace, mrd_target target,
                                            const mrd_convert_options *options, int fd,
                                            const mrd_sink *sink, mrd_error *error);
/* As a folder of tables (slice.parquet, counter.parquet, ...), made where it is not there; it opens
 * again by the meridian-tables.json in it. */
MRD_MUST_CHECK mrd_status mrd_trace_convert_folder(const mrd_trace *trace,
                                                   const mrd_convert_options *options,
                                                   const char *folder, mrd_error *error);
/* What got slower, faster, appeared, vanished from one trace to another, by names of lanes and
 * slices: TEXT (limit rows of each, 0 all) or JSON. */
MRD_MUST_CHECK mrd_status mrd_trace_diff(const mrd_trace *before, const mrd_trace *after,
                                         mrd_format format, uint64_t limit, const mrd_sink *sink,
                                         mrd_error *error);

/* ---- Results ----------------------------------------------------------------------------- */

typedef struct mrd_results mrd_results;

/* Open (and make or migrate) the result store of a data folder. store_url NULL: DIR/meridian.db.
 * The handle serializes its writers; any thread may use it. */
MRD_MUST_CHECK mrd_status mrd_results_open(const char *data_dir, const char *store_url,
                                           mrd_results **out, mrd_error *error);
void mrd_results_close(mrd_results **results);
/* Take in a foreign event trace (checked first). fields: column names to values (decoded);
 * experiment may be NULL ("default"); link stores the path instead of a copy. */
MRD_MUST_CHECK mrd_status mrd_results_add(mrd_results *results, const char *parquet_path,
                                          const char *experiment, const mrd_params *fields,
                                          bool link, int64_t *id, mrd_error *error);
/* {"results": [...], "total", "page", "page_size"}; filters experiment, experiment_id, primitive,
 * algorithm, topology_name, msg_size_min|max, sort_by, sort_order, page, page_size.
 * TEXT: a table. */
MRD_MUST_CHECK mrd_status mrd_results_list(mrd_results *results, const mrd_params *filters,
                                           mrd_format format, const mrd_sink *sink,
                                           mrd_error *error);
/* One row as a JSON object; MRD_ERR_NOT_FOUND code no_such_result. */
MRD_MUST_CHECK mrd_status mrd_results_show(mrd_results *results, int64_t id, mrd_format format,
                                           const mrd_sink *sink, mrd_error *error);
/* Removes trace files, then the row. */
MRD_MUST_CHECK mrd_status mrd_results_remove(mrd_results *results, int64_t id, mrd_error *error);
MRD_MUST_CHECK mrd_status mrd_results_remove_experiment(mrd_results *results, const char *name,
                                                        uint64_t *removed, mrd_error *error);
/* Absolute path of a result's trace. Codes no_such_result, no_trace, trace_file_missing. */
MRD_MUST_CHECK mrd_status mrd_results_trace_path(mrd_results *results, int64_t id, char *out,
                                                 size_t size, mrd_error *error);

/* What opening repaired and found missing, a line each; empty: nothing. Lives with results. */
const char *mrd_results_report(const mrd_results *results);
/* {"x": [...], "groups": [...], "y": [[...]], "ids": [[...]], "duplicates"}: parameters group_by,
 * x, y, result_id and the filters of lists (spec comm-sim.md section 5). */
MRD_MUST_CHECK mrd_status mrd_results_compare(mrd_results *results, const mrd_params *params,
                                              const mrd_sink *sink, mrd_error *error);

/* A new experiment; code exists where the name is taken. description may be NULL. */
MRD_MUST_CHECK mrd_status mrd_experiment_add(mrd_results *results, const char *name,
                                             const char *description, int64_t *id,
                                             mrd_error *error);
/* One as a JSON object, or with id 0 {"experiments": [...]}. Code no_such_experiment. */
MRD_MUST_CHECK mrd_status mrd_experiment_show(mrd_results *results, int64_t id,
                                              const mrd_sink *sink, mrd_error *error);
/* With its results, their traces and its tasks; code running while a task of it runs. */
MRD_MUST_CHECK mrd_status mrd_experiment_remove(mrd_results *results, int64_t id, uint64_t *removed,
                                                mrd_error *error);

/* ---- Simulation -------------------------------------------------------------------------- */

typedef struct mrd_sim_options {
    mrd_results *results;   /* where rows and traces go; NULL: nowhere */
    const char *experiment; /* NULL: default */
    const char *trace_path; /* without results: the trace's file, or NULL */
    bool trace;             /* trace, whatever the spec says */
    uint64_t trace_limit;   /* records of a trace; 0: no limit */
    uint32_t jobs;          /* sweeps: runs at a time; 0: one per core */
    uint32_t part, parts;   /* sweeps: only runs whose number modulo parts is part; parts 0: all */
    bool resume;            /* sweeps: leave out runs whose result is in this experiment already */
    /* A run: share done, total 1; a sweep: runs done of total. From any thread, one call at a
     * time; false cancels. May be NULL. */
    bool (*progress)(void *ctx, double done, double total);
    void *progress_ctx;
} mrd_sim_options;

/* Simulate one collective (spec comm-sim.md sections 2, 3 and 6) and give a CommSimResult: JSON as
 * one line, or TEXT. *untraced (may be NULL): the spec asks for a trace, which had nowhere to go.
 * Codes bad_spec (names field, value and what is allowed), deadlock, wrong_data. */
MRD_MUST_CHECK mrd_status mrd_sim_run(const char *spec, size_t size, const mrd_sim_options *options,
                                      mrd_format format, const mrd_sink *sink, bool *untraced,
                                      mrd_error *error);
/* The same for a spec whose fields may be lists: all runs of their product, a result each in
 * order. Nothing runs where one spec is bad; the first run that fails ends the sweep, and what
 * ended before it stays. */
MRD_MUST_CHECK mrd_status mrd_sim_sweep(const char *spec, size_t size,
                                        const mrd_sim_options *options, mrd_format format,
                                        const mrd_sink *sink, bool *untraced, mrd_error *error);
/* How many runs a sweep has; checks them. */
MRD_MUST_CHECK mrd_status mrd_sim_sweep_size(const char *spec, size_t size, uint64_t *runs,
                                             mrd_error *error);

/* ---- Tasks ------------------------------------------------------------------------------- */

/* Queue a JSON request {"experiment": name|id, "spec": {...}}; gives {"task_ids": [...]}. */
MRD_MUST_CHECK mrd_status mrd_tasks_submit(mrd_results *results, const char *json, size_t size,
                                           const mrd_sink *sink, mrd_error *error);
/* {"tasks": [...], "total", "page", "page_size"}; parameters experiment_id, state, page,
 * page_size. */
MRD_MUST_CHECK mrd_status mrd_tasks_list(mrd_results *results, const mrd_params *params,
                                         const mrd_sink *sink, mrd_error *error);
/* One task as a JSON object. Code no_such_task. */
MRD_MUST_CHECK mrd_status mrd_tasks_show(mrd_results *results, const char *id, const mrd_sink *sink,
                                         mrd_error *error);
/* Codes no_such_task, ended. A running task ends within a second or two. */
MRD_MUST_CHECK mrd_status mrd_tasks_cancel(mrd_results *results, const char *id, mrd_error *error);
/* Tasks that changed since *version, a JSON object a line, waiting up to timeout_ms; *version moves
 * on (UINT64_MAX: all that are queued or running). *open false: results is closing. */
MRD_MUST_CHECK mrd_status mrd_tasks_changes(mrd_results *results, uint64_t *version,
                                            unsigned timeout_ms, bool *open, const mrd_sink *sink,
                                            mrd_error *error);
/* Run queued tasks on so many threads (0: one per core) until results is closed or stopped. Tasks
 * whose process died are queued again. */
MRD_MUST_CHECK mrd_status mrd_tasks_start(mrd_results *results, uint32_t threads, mrd_error *error);
/* Running tasks go back into the queue; those who wait for changes are let go. */
void mrd_tasks_stop(mrd_results *results);

/* ---- Sessions ---------------------------------------------------------------------------- */

typedef enum mrd_source_state {
    MRD_SOURCE_LIVE,
    MRD_SOURCE_STALE, /* silent for longer than its freshness */
    MRD_SOURCE_ENDED, /* its stream ended or broke */
} mrd_source_state;

/* A source of a recording that runs. */
typedef struct mrd_record_source {
    const char *id;
    uint64_t envelopes;
    mrd_source_state state;
} mrd_record_source;

/* A curve at the newest tick of the publisher. Without a value quality says why. */
typedef struct mrd_record_value {
    const char *metric, *unit, *source, *key; /* key: of a connection, display, phase; or "" */
    const char *quality;                      /* "ok", "warmup", "missing", ... */
    mrd_source_state state;
    bool present, integer; /* there is a value; it is whole, and in `whole`, too */
    int64_t whole;
    double value;
} mrd_record_value;

/* A recording that runs; told once a publisher's tick. Everything is borrowed for the call. */
typedef struct mrd_record_progress {
    uint64_t elapsed_ns, events, durable; /* durable: events that are on disk */
    uint64_t samples, decode_errors, gaps, refused, bytes;
    const mrd_record_source *sources;
    size_t source_count;
    const mrd_record_value *values;
    size_t value_count;
} mrd_record_progress;

/* What is recorded. At least one of pid, command, host, adapters. All strings are borrowed. */
typedef struct mrd_record_options {
    const char *dir;             /* the session's folder; must not exist */
    int64_t pid;                 /* this process and its descendants; 0: none */
    char *const *command;        /* or this program, started; ended by NULL; NULL: none */
    bool host;                   /* the machine */
    const char *const *adapters; /* shell commands that print one JSON object a line */
    size_t adapter_count;
    uint64_t restarts;    /* an adapter that ends without `stopped` is started again so often */
    uint64_t every_ns;    /* readings of pid, command and host; above 0 */
    uint64_t publish_ns;  /* the publisher's ticks; above 0 */
    uint64_t duration_ns; /* 0: until the target ends or stop_fd is readable */
    int stop_fd;          /* -1: none */
    void (*progress)(void *ctx, const mrd_record_progress *progress); /* may be NULL */
    void *progress_ctx;
    void (*begun)(void *ctx); /* once all sources are open and the folder is there; may be NULL */
    void *begun_ctx;
} mrd_record_options;

typedef struct mrd_record_result {
    bool completed; /* else sealed as incomplete: DIR says why */
    uint64_t events, samples, decode_errors, gaps, late_lines;
    uint64_t beyond_limit; /* readings above the limits of a session (docs/sessions.md): stored, but
                              nothing is computed of them */
} mrd_record_result;

/* Record (docs/sessions.md). The calling thread reads all sources until the end; others write.
 * Codes exists, no_process, no_right, no_program, writer_failed. */
MRD_MUST_CHECK mrd_status mrd_session_record(const mrd_record_options *options,
                                             mrd_record_result *result, mrd_error *error);
/* A file of lines as a session: envelopes, or what an adapter printed. "-" is standard input. */
MRD_MUST_CHECK mrd_status mrd_session_ingest(const char *input, const char *dir,
                                             mrd_record_result *result, mrd_error *error);
/* A session that is being recorded, by whatever process, or that is already sealed. */
typedef struct mrd_session_follow mrd_session_follow;
/* Code no_session. */
MRD_MUST_CHECK mrd_status mrd_session_follow_open(const char *dir, mrd_session_follow **out,
                                                  mrd_error *error);
/* What is new, one JSON object a line, waiting up to timeout_ms for it. {"type": "series", "id",
 * "metric", "unit", "source", "key"} before the first frame that has it; {"type": "frame", "seq",
 * "hostNs", "events", "samples", "decodeErrors", "gaps", "sources": [{"source", "envelopes",
 * "state"}], "values": [[id, value or null, quality, state], ...]} at each tick of the publisher,
 * of those before the first call only the newest; {"type": "end", "state": "completed" or
 * "incomplete"}, and *open is false. One thread a follow. */
MRD_MUST_CHECK mrd_status mrd_session_follow_next(mrd_session_follow *follow, unsigned timeout_ms,
                                                  bool *open, const mrd_sink *sink,
                                                  mrd_error *error);
void mrd_session_follow_close(mrd_session_follow **follow); /* accepts NULL */

/* Seal what a crash left as DIR.open, as incomplete(crash): TEXT or JSON what was found. Code
 * damaged: corruption, nothing was changed. */
MRD_MUST_CHECK mrd_status mrd_session_recover(const char *dir, mrd_format format,
                                              const mrd_sink *sink, mrd_error *error);
/* Hashes, frames, sequence and seal: TEXT or JSON. *sound false: the first bad range is told. */
MRD_MUST_CHECK mrd_status mrd_session_verify(const char *dir, mrd_format format,
                                             const mrd_sink *sink, bool *sound, mrd_error *error);
/* Events, samples and report once more from raw, compared byte for byte with what is stored: TEXT
 * or JSON. *equal false: the first difference is told. */
MRD_MUST_CHECK mrd_status mrd_session_replay(const char *dir, mrd_format format,
                                             const mrd_sink *sink, bool *equal, mrd_error *error);
/* Which samples, and how many. Zeroed: all of them. */
typedef struct mrd_session_select {
    const char *const *metrics; /* these metricIds; none: all */
    size_t metric_count;
    bool ranged; /* only start_ns <= time < end_ns, of the host's monotonic clock */
    int64_t start_ns, end_ns;
    /* 0: every sample. Else the range (ranged, or the session's) is cut into so many equal parts,
     * and of each series and part these samples are kept: the first, the last, the least, the
     * greatest, the first without a value. Nothing is averaged: each is a stored sample. */
    uint32_t buckets;
} mrd_session_select;
#define MRD_SESSION_BUCKETS_MAX 65536u

/* The samples in order (seq, metric, value, unit, quality, source, key, time_ns): JSON one object a
 * line, CSV, ARROW. seq is lastRawSequence. Absent values are null. select may be NULL: all. Those
 * of a session without a seal are computed from what there is of it by now. */
MRD_MUST_CHECK mrd_status mrd_session_samples(const char *dir, const mrd_session_select *select,
                                              mrd_format format, const mrd_sink *sink,
                                              mrd_error *error);
/* The same as Parquet to fd, an open, empty file. */
MRD_MUST_CHECK mrd_status mrd_session_samples_parquet(const char *dir,
                                                      const mrd_session_select *select, int fd,
                                                      mrd_error *error);

typedef enum mrd_report_form {
    MRD_REPORT_TEXT,
    MRD_REPORT_JSON,
    MRD_REPORT_MARKDOWN,
    MRD_REPORT_HTML, /* one file, plots in it */
} mrd_report_form;

/* The report in that form. JSON of a sealed session is its stored report.json; the others are made
 * from raw and refused where raw does not give the stored one (code report_differs). A session
 * without a seal is reported as far as it has come. */
MRD_MUST_CHECK mrd_status mrd_session_report(const char *dir, mrd_report_form form,
                                             const mrd_sink *sink, mrd_error *error);
/* One JSON document: {"session": uuid, "name": last part of the folder's name, "state":
 * "recording" | "unsealed" | "completed" | "incomplete", "reasons": [text], "identity":
 * session.json, "manifest", "report": as stored, null where they are not}. */
MRD_MUST_CHECK mrd_status mrd_session_info(const char *dir, const mrd_sink *sink, mrd_error *error);
/* {"sessions": [as info, without manifest and report], "skipped": folders that are none}, the
 * newest first, of a folder that holds sessions. A folder that is not there holds none. */
MRD_MUST_CHECK mrd_status mrd_session_list(const char *folder, const mrd_sink *sink,
                                           mrd_error *error);
/* The raw event or decode error of a sequence. TEXT: its bytes as received. JSON: the envelope
 * {"seq", "type", "sourceId", ..., "text": its bytes where they are UTF-8, else null, "base64"}.
 * Code no_such_sequence. */
MRD_MUST_CHECK mrd_status mrd_session_raw(const char *dir, uint64_t sequence, mrd_format format,
                                          const mrd_sink *sink, mrd_error *error);

/* ---- Generators -------------------------------------------------------------------------- */

/* Deterministic test input of any size: the same (events, seed) gives the same bytes of rows.
 * Written to a temporary name, synced and renamed. path "-" is stdout for chrome-json. */
MRD_MUST_CHECK mrd_status mrd_gen_event_trace(const char *path, uint64_t events, uint64_t seed,
                                              mrd_error *error);
MRD_MUST_CHECK mrd_status mrd_gen_chrome_json(const mrd_sink *sink, uint64_t events, uint64_t seed,
                                              mrd_error *error);

#ifdef __cplusplus
}
#endif
#endif
