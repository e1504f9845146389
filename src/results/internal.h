/* Shared by the files of this module only. */
#ifndef MRD_RESULTS_INTERNAL_H
#define MRD_RESULTS_INTERNAL_H

#include <pthread.h>
#include <sqlite3.h>

#include "results/results.h"

struct mrd__results {
    sqlite3 *db;
    pthread_mutex_t mutex; /* one connection: one statement at a time */
    char *data_dir;        /* absolute */
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

mrd_status mrd__sql_fail(const mrd__results *results, const char *what, mrd_error *error);
MRD_MUST_CHECK mrd_status mrd__sql_prepare(const mrd__results *results, const char *sql,
                                           sqlite3_stmt **out, mrd_error *error);
/* Step a statement that yields no row, and finalize it. */
MRD_MUST_CHECK mrd_status mrd__sql_run(const mrd__results *results, sqlite3_stmt *statement,
                                       mrd_error *error);
MRD_MUST_CHECK mrd_status mrd__sql_exec(const mrd__results *results, const char *sql,
                                        mrd_error *error);
void mrd__sql_rollback(const mrd__results *results);
/* One column value of the current row as JSON. */
void mrd__sql_json(sqlite3_stmt *statement, int index, const mrd__column *column, mrd__buf *out);
void mrd__sql_bind_text(sqlite3_stmt *statement, int index, mrd__str text);

/* Absolute path of a stored trace_file_path; bad_path when it leaves the data folder. */
MRD_MUST_CHECK mrd_status mrd__results_resolve(const mrd__results *results, mrd__str stored,
                                               mrd__buf *out, bool *own, mrd_error *error);
/* At opening: what a crash between a file and its row left behind. Files of ours without a row are
 * removed; a row whose file is gone stays and answers trace_file_missing. */
MRD_MUST_CHECK mrd_status mrd__results_repair(mrd__results *results, mrd_error *error);

#endif
