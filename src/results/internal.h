/* Shared by the files of this module only. */
#ifndef MRD_RESULTS_INTERNAL_H
#define MRD_RESULTS_INTERNAL_H

#include <pthread.h>

#include "base/alloc.h"
#include "results/db.h"
#include "results/results.h"

typedef struct mrd__workers mrd__workers;

struct mrd__results {
    mrd__db *db;
    pthread_mutex_t mutex; /* one connection: one statement at a time */
    pthread_cond_t tasks_changed;
    bool watching_ends;    /* who waits for changes of tasks shall end */
    char *data_dir;        /* absolute */
    char store_id[33];     /* made with the store */
    mrd__buf list_room;    /* of an earlier list, empty: its memory is touched already */
    mrd__buf report;       /* of the repair at opening, a line each */
    mrd__workers *workers; /* or NULL */
};

typedef enum mrd__column_type {
    MRD__COLUMN_INTEGER,
    MRD__COLUMN_REAL,
    MRD__COLUMN_TEXT,
    MRD__COLUMN_JSON
} mrd__column_type;

/* A column of comm_eval_results. */
typedef struct mrd__column {
    const char *name;
    mrd__column_type type;
    bool settable; /* `results add` takes it as an option */
    bool listed;   /* stands in list rows */
} mrd__column;

extern const mrd__column mrd__columns[];
extern const size_t mrd__column_count;
const mrd__column *mrd__column_of(const char *name); /* NULL: none */

/* "SELECT id,experiment_id,… FROM comm_eval_results" */
void mrd__select_columns(mrd__buf *sql);
/* One column value of the current row as JSON. */
void mrd__column_json(const mrd__db_rows *row, int index, const mrd__column *column, mrd__buf *out);
/* UTC, 2026-04-28T10:30:00Z. */
void mrd__utc_now(char out[32]);

/* ---- Filters (list.c) ---- */

typedef MRD__VEC(mrd__db_value) mrd__db_values;

/* A WHERE clause with its values; texts are borrowed from the fields. */
typedef struct mrd__filter {
    mrd__buf where; /* " WHERE …" or empty */
    mrd__db_values values;
} mrd__filter;
/* Whether this field is a filter of lists. */
bool mrd__is_filter(const char *name);
/* From those of fields that are filters; each kind in any order, equal names joined by OR. Codes
 * bad_parameter. Reset in any case. */
MRD_MUST_CHECK mrd_status mrd__filter_build(mrd__filter *filter, const mrd__field *fields,
                                            size_t count, mrd_error *error);
void mrd__filter_reset(mrd__filter *filter);
mrd_status mrd__bad_value(const mrd__field *field, const char *allowed, mrd_error *error);

/* ---- Experiments (experiments.c); with the mutex held ---- */

/* 0: none of that name. */
MRD_MUST_CHECK mrd_status mrd__find_experiment(mrd__results *results, const char *name, int64_t *id,
                                               mrd_error *error);
/* Made where it is not there; name NULL is "default". Inside a transaction. */
MRD_MUST_CHECK mrd_status mrd__ensure_experiment(mrd__results *results, const char *name,
                                                 int64_t *id, mrd_error *error);
MRD_MUST_CHECK mrd_status mrd__check_experiment_name(const char *name, mrd_error *error);

/* ---- Rows (rows.c); with the mutex held ---- */

/* Insert a row; task_id NULL: none. Inside a transaction. */
MRD_MUST_CHECK mrd_status mrd__insert_row(mrd__results *results, int64_t experiment,
                                          const char *task_id, const mrd__field *fields,
                                          size_t count, int64_t *id, mrd_error *error);
MRD_MUST_CHECK mrd_status mrd__set_trace_path(mrd__results *results, int64_t id, mrd__str stored,
                                              mrd_error *error);
MRD_MUST_CHECK mrd_status mrd__remove_row(mrd__results *results, int64_t id, mrd_error *error);

/* Absolute path of a stored trace_file_path; bad_path when it leaves the data folder. */
MRD_MUST_CHECK mrd_status mrd__results_resolve(const mrd__results *results, mrd__str stored,
                                               mrd__buf *out, bool *own, mrd_error *error);
/* "traces/{experiment}/{id}_trace.parquet", and the same of _records. */
void mrd__trace_name(int64_t experiment, int64_t id, mrd__buf *out);
void mrd__records_name(mrd__str trace_name, mrd__buf *out);

/* At opening: what a crash between a file and its row left behind. Files of ours without a row are
 * removed; a row whose file is gone stays and answers trace_file_missing. */
MRD_MUST_CHECK mrd_status mrd__results_repair(mrd__results *results, mrd_error *error);

#endif
