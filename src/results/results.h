/* The result store: experiments, rows of comm_eval_results, the trace files that belong to them,
 * the task queue, and running what is stored (spec comm-sim.md sections 4 and 5). SQLite in WAL
 * mode or PostgreSQL; several processes may use one store. */
#ifndef MRD_RESULTS_RESULTS_H
#define MRD_RESULTS_RESULTS_H

#include "base/error.h"
#include "base/text.h"

#define MRD__RESULTS_SCHEMA 4             /* newest version this program knows */
#define MRD__RESULTS_PAGE_SIZE 50         /* default of page_size */
#define MRD__RESULTS_PAGE_MAX 1000        /* rows of one answer */
#define MRD__RESULTS_FIELD_MAX (16 << 20) /* bytes of one field: counters of 10^5 links */
#define MRD__RESULTS_COMPARE_MAX 100000   /* rows of one comparison */
#define MRD__TASKS_MAX_ATTEMPTS 3 /* a task whose process died this often is not tried again */

typedef struct mrd__results mrd__results;

/* One named value from options or a query string, decoded. */
typedef struct mrd__field {
    const char *name;
    mrd__str value;
} mrd__field;

/* Open, make or migrate. store_url NULL: DIR/meridian.db; postgresql://…: PostgreSQL; else the path
 * of an SQLite file. Codes bad_store, newer_store, busy. */
MRD_MUST_CHECK mrd_status mrd__results_open(const char *data_dir, const char *store_url,
                                            mrd__results **out, mrd_error *error);
void mrd__results_close(mrd__results **results); /* accepts NULL */
/* What the repair at opening did and found, a line each; empty: nothing. */
const char *mrd__results_report(const mrd__results *results);

/* ---- Rows ---- */

/* Add a row for a trace file that was checked before; copies (or links) the file first, so that a
 * row never stands without its file. Codes bad_field, bad_parameter. */
MRD_MUST_CHECK mrd_status mrd__results_add(mrd__results *results, const char *path,
                                           const char *experiment, const mrd__field *fields,
                                           size_t count, bool link, int64_t *id, mrd_error *error);
/* {"results": [...], "total", "page", "page_size"}; filters as in comm-sim.md section 5. Code
 * bad_parameter names what is allowed. TEXT: a table for people. */
MRD_MUST_CHECK mrd_status mrd__results_list(mrd__results *results, const mrd__field *filters,
                                            size_t count, mrd_format format, const mrd_sink *sink,
                                            mrd_error *error);
MRD_MUST_CHECK mrd_status mrd__results_show(mrd__results *results, int64_t id, mrd_format format,
                                            const mrd_sink *sink, mrd_error *error);
MRD_MUST_CHECK mrd_status mrd__results_remove(mrd__results *results, int64_t id, mrd_error *error);
/* The matrix {"x", "groups", "y", "ids", "duplicates"} of comm-sim.md section 5. */
MRD_MUST_CHECK mrd_status mrd__results_compare(mrd__results *results, const mrd__field *fields,
                                               size_t count, const mrd_sink *sink,
                                               mrd_error *error);
/* Codes no_such_result, no_trace, trace_file_missing, bad_path (leaves the data folder). */
MRD_MUST_CHECK mrd_status mrd__results_trace_path(mrd__results *results, int64_t id, char *out,
                                                  size_t size, mrd_error *error);

/* ---- Experiments ---- */

/* Code exists where the name is taken. description may be NULL. */
MRD_MUST_CHECK mrd_status mrd__results_experiment_add(mrd__results *results, const char *name,
                                                      const char *description, int64_t *id,
                                                      mrd_error *error);
/* One as a JSON object, or with id 0 {"experiments": [...]}. Code no_such_experiment. */
MRD_MUST_CHECK mrd_status mrd__results_experiments(mrd__results *results, int64_t id,
                                                   const mrd_sink *sink, mrd_error *error);
/* With all its results, their traces and its tasks; code running while a task of it runs. */
MRD_MUST_CHECK mrd_status mrd__results_remove_experiment(mrd__results *results, const char *name,
                                                         uint64_t *removed, mrd_error *error);
MRD_MUST_CHECK mrd_status mrd__results_remove_experiment_id(mrd__results *results, int64_t id,
                                                            uint64_t *removed, mrd_error *error);

/* ---- Running ---- */

typedef struct mrd__run_request {
    const char *spec; /* JSON, one run */
    size_t spec_size;
    mrd__results *results;  /* where row and trace go; NULL: nowhere */
    const char *experiment; /* NULL: default */
    const char *task_id;    /* of a task that this process runs, or NULL */
    const char *key;        /* or of a run that stands in the store once: see mrd__run_key */
    const char *trace_path; /* without a store: the trace's file, or NULL */
    bool trace;             /* trace, whatever the spec says */
    uint64_t trace_limit;   /* records; 0: no limit */
    bool (*progress)(void *ctx, uint64_t events, double done); /* false cancels; may be NULL */
    void *progress_ctx;
} mrd__run_request;

#define MRD__RUN_KEY 37 /* a UUID and NUL */
/* A name for run `index` of a sweep into `experiment` (NULL: default), of MRD__RUN_KEY bytes: the
 * same for the same spec, whoever runs it. */
void mrd__run_key(const char *experiment, uint64_t index, const char *spec, char *out);

/* Run and store. With a key: where a row has it as its task_id nothing is run, out stays empty;
 * two that run it at a time leave one row. The row comes with its trace in place and, of a task,
 * with its end, in one transaction. out gets a CommSimResult (JSON, one line) or a text for people.
 * *untraced: the spec asks for a trace but there is nowhere to put it. Errors as mrd__sim_run and
 * the store's. */
MRD_MUST_CHECK mrd_status mrd__results_run(const mrd__run_request *request, mrd_format format,
                                           mrd__buf *out, bool *untraced, mrd_error *error);

/* ---- Tasks ---- */

/* Take a sweep into the queue: ids of its tasks, comma separated, in out as JSON strings. The
 * experiment is a name, or with experiment_id above 0 a number. Nothing is queued where one spec
 * is bad. */
MRD_MUST_CHECK mrd_status mrd__tasks_submit(mrd__results *results, const char *experiment,
                                            int64_t experiment_id, const char *spec, size_t size,
                                            mrd__buf *out, mrd_error *error);
/* {"tasks": [...], "total", "page", "page_size"}; fields experiment_id, state, page, page_size. */
MRD_MUST_CHECK mrd_status mrd__tasks_list(mrd__results *results, const mrd__field *fields,
                                          size_t count, const mrd_sink *sink, mrd_error *error);
MRD_MUST_CHECK mrd_status mrd__tasks_show(mrd__results *results, const char *id,
                                          const mrd_sink *sink, mrd_error *error);
/* A queued task ends at once, a running one within a second or two. Codes no_such_task, ended. */
MRD_MUST_CHECK mrd_status mrd__tasks_cancel(mrd__results *results, const char *id,
                                            mrd_error *error);
/* The tasks that changed since *version as JSON objects, a line each, waiting up to timeout_ms;
 * *version moves on. *version UINT64_MAX: all that are queued or running now. False: the store is
 * closing. */
bool mrd__tasks_changes(mrd__results *results, uint64_t *version, unsigned timeout_ms,
                        mrd__buf *out);
/* Run tasks on so many threads until stopped; those of dead processes are queued again first. */
MRD_MUST_CHECK mrd_status mrd__tasks_start(mrd__results *results, uint32_t threads,
                                           mrd_error *error);
/* Running tasks go back into the queue; watchers end. */
void mrd__tasks_stop(mrd__results *results);

#endif
