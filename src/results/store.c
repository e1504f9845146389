/* Opening, schema, statements, trace paths. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os.h"
#include "results/internal.h"

#define BUSY_TIMEOUT_MS 10000 /* another process writes: wait, then say so */

const mrd__column mrd__columns[] = {
    {"id", MRD__COLUMN_INTEGER, false, true},
    {"experiment_id", MRD__COLUMN_INTEGER, false, true},
    {"task_id", MRD__COLUMN_TEXT, false, true},
    {"config_snapshot", MRD__COLUMN_JSON, true, false},
    {"primitive", MRD__COLUMN_TEXT, true, true},
    {"algorithm", MRD__COLUMN_TEXT, true, true},
    {"msg_size_bytes", MRD__COLUMN_INTEGER, true, true},
    {"num_participants", MRD__COLUMN_INTEGER, true, true},
    {"topology_name", MRD__COLUMN_TEXT, true, true},
    {"dtype", MRD__COLUMN_TEXT, true, true},
    {"total_latency_ns", MRD__COLUMN_REAL, true, true},
    {"bus_bw_gb_per_s", MRD__COLUMN_REAL, true, true},
    {"max_chip_latency_ns", MRD__COLUMN_REAL, true, true},
    {"straggler_ratio", MRD__COLUMN_REAL, true, true},
    {"total_comm_bytes", MRD__COLUMN_INTEGER, true, true},
    {"algorithm_steps", MRD__COLUMN_INTEGER, true, true},
    {"per_chip_summary", MRD__COLUMN_JSON, true, true},
    {"stats", MRD__COLUMN_JSON, true, false},
    {"trace_file_path", MRD__COLUMN_TEXT, false, true},
    {"created_at", MRD__COLUMN_TEXT, true, true},
    {"alg_bw_gb_per_s", MRD__COLUMN_REAL, true, true},
    {"ideal_latency_ns", MRD__COLUMN_REAL, true, true},
    {"data_done_ns", MRD__COLUMN_REAL, true, true},
    {"bottleneck", MRD__COLUMN_TEXT, true, true},
    {"events", MRD__COLUMN_INTEGER, true, true},
    {"wall_ms", MRD__COLUMN_REAL, true, true},
    {"algorithm_used", MRD__COLUMN_TEXT, true, true},
    {"auto_candidates", MRD__COLUMN_JSON, true, true},
    {"seed", MRD__COLUMN_INTEGER, true, true},
    {"config_hash", MRD__COLUMN_TEXT, true, true},
    {"program_version", MRD__COLUMN_TEXT, true, true},
};
const size_t mrd__column_count = sizeof mrd__columns / sizeof *mrd__columns;

/* Migrations in order; the store's version is how many have run. */
static const char *const migrations[MRD__RESULTS_SCHEMA] = {
    "CREATE TABLE experiments(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE,"
    " description TEXT, created_at TEXT NOT NULL);"
    "CREATE TABLE comm_eval_results(id INTEGER PRIMARY KEY AUTOINCREMENT,"
    " experiment_id INTEGER NOT NULL REFERENCES experiments(id), task_id TEXT,"
    " config_snapshot TEXT, primitive TEXT, algorithm TEXT, msg_size_bytes INTEGER,"
    " num_participants INTEGER, topology_name TEXT, dtype TEXT, total_latency_ns REAL,"
    " bus_bw_gb_per_s REAL, max_chip_latency_ns REAL, straggler_ratio REAL,"
    " total_comm_bytes INTEGER, algorithm_steps INTEGER, per_chip_summary TEXT, stats TEXT,"
    " trace_file_path TEXT, created_at TEXT NOT NULL, alg_bw_gb_per_s REAL,"
    " ideal_latency_ns REAL, data_done_ns REAL, bottleneck TEXT, events INTEGER, wall_ms REAL,"
    " algorithm_used TEXT, auto_candidates TEXT, seed INTEGER, config_hash TEXT,"
    " program_version TEXT);"
    "CREATE INDEX results_experiment ON comm_eval_results(experiment_id);"
    "CREATE INDEX results_algorithm ON comm_eval_results(primitive, algorithm);"
    "CREATE INDEX results_topology ON comm_eval_results(topology_name);"
    "CREATE INDEX results_size ON comm_eval_results(msg_size_bytes);"
    "CREATE INDEX results_created ON comm_eval_results(created_at, id);",
};

mrd_status mrd__sql_fail(const mrd__results *results, const char *what, mrd_error *error)
{
    int code = sqlite3_errcode(results->db);
    bool busy = code == SQLITE_BUSY || code == SQLITE_LOCKED;
    return mrd__fail(error, busy ? MRD_ERR_STATE : MRD_ERR_IO, busy ? "busy" : "bad_store",
                     "result store: %s: %s", what, sqlite3_errmsg(results->db));
}

mrd_status mrd__sql_prepare(const mrd__results *results, const char *sql, sqlite3_stmt **out,
                            mrd_error *error)
{
    if (sqlite3_prepare_v2(results->db, sql, -1, out, NULL) != SQLITE_OK)
        return mrd__sql_fail(results, "cannot prepare", error);
    return MRD_OK;
}

mrd_status mrd__sql_run(const mrd__results *results, sqlite3_stmt *statement, mrd_error *error)
{
    int code = sqlite3_step(statement);
    mrd_status status = MRD_OK;
    if (code != SQLITE_DONE && code != SQLITE_ROW)
        status = mrd__sql_fail(results, "cannot write", error);
    sqlite3_finalize(statement);
    return status;
}

mrd_status mrd__sql_exec(const mrd__results *results, const char *sql, mrd_error *error)
{
    if (sqlite3_exec(results->db, sql, NULL, NULL, NULL) != SQLITE_OK)
        return mrd__sql_fail(results, "cannot run", error);
    return MRD_OK;
}

void mrd__sql_rollback(const mrd__results *results)
{
    /* Nothing to do when it fails: the transaction is then gone already. */
    sqlite3_exec(results->db, "ROLLBACK", NULL, NULL, NULL);
}

void mrd__sql_bind_text(sqlite3_stmt *statement, int index, mrd__str text)
{
    sqlite3_bind_text64(statement, index, text.data ? text.data : "", text.size, SQLITE_TRANSIENT,
                        SQLITE_UTF8);
}

void mrd__sql_json(sqlite3_stmt *statement, int index, const mrd__column *column, mrd__buf *out)
{
    if (sqlite3_column_type(statement, index) == SQLITE_NULL) {
        mrd__buf_text(out, "null");
    } else if (column->type == MRD__COLUMN_INTEGER) {
        mrd__buf_int(out, sqlite3_column_int64(statement, index));
    } else if (column->type == MRD__COLUMN_REAL) {
        mrd__buf_json_double(out, sqlite3_column_double(statement, index));
    } else {
        mrd__str text = {(const char *)sqlite3_column_text(statement, index),
                         (size_t)sqlite3_column_bytes(statement, index)};
        if (column->type == MRD__COLUMN_JSON) /* checked when it came in */
            mrd__buf_str(out, text);
        else
            mrd__buf_json_string(out, text);
    }
}

static mrd_status read_version(mrd__results *results, int *version, mrd_error *error)
{
    sqlite3_stmt *statement;
    MRD__TRY(mrd__sql_prepare(results, "PRAGMA user_version", &statement, error));
    mrd_status status = MRD_OK;
    if (sqlite3_step(statement) == SQLITE_ROW)
        *version = sqlite3_column_int(statement, 0);
    else
        status = mrd__sql_fail(results, "cannot read the version", error);
    sqlite3_finalize(statement);
    return status;
}

static mrd_status run_migrations(mrd__results *results, mrd_error *error)
{
    int version = 0;
    MRD__TRY(read_version(results, &version, error)); /* again: now nobody else can write */
    if (version > MRD__RESULTS_SCHEMA)
        return mrd__fail(error, MRD_ERR_UNSUPPORTED, "newer_store",
                         "the result store has schema %d, this program knows up to %d", version,
                         MRD__RESULTS_SCHEMA);
    for (; version < MRD__RESULTS_SCHEMA; version++) {
        mrd__buf pragma = {0};
        mrd__buf_printf(&pragma, "PRAGMA user_version = %d", version + 1);
        mrd_status status = mrd__sql_exec(results, migrations[version], error);
        if (status == MRD_OK) status = mrd__sql_exec(results, pragma.data, error);
        mrd__buf_reset(&pragma);
        if (status != MRD_OK) return status;
    }
    return MRD_OK;
}

static mrd_status migrate(mrd__results *results, mrd_error *error)
{
    MRD__TRY(mrd__sql_exec(results,
                           "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                           "PRAGMA foreign_keys=ON; PRAGMA case_sensitive_like=OFF;",
                           error));
    MRD__TRY(mrd__sql_exec(results, "BEGIN IMMEDIATE", error));
    mrd_status status = run_migrations(results, error);
    if (status == MRD_OK) return mrd__sql_exec(results, "COMMIT", error);
    mrd__sql_rollback(results);
    return status;
}

static mrd_status open_store(mrd__results *results, const char *data_dir, const char *store_url,
                             mrd_error *error)
{
    char resolved[PATH_MAX];
    MRD__TRY(mrd__make_folders(data_dir, error));
    if (!realpath(data_dir, resolved)) return mrd__fail_errno(error, data_dir, "cannot resolve");
    results->data_dir = mrd__strndup(resolved, strlen(resolved));
    if (store_url && strstr(store_url, "://"))
        return mrd__fail(error, MRD_ERR_UNSUPPORTED, "bad_store",
                         "--store is %s, allowed is a path of an SQLite file", store_url);
    mrd__buf path = {0};
    if (store_url)
        mrd__buf_text(&path, store_url);
    else
        mrd__buf_printf(&path, "%s/meridian.db", resolved);
    int code =
        sqlite3_open_v2(path.data, &results->db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, NULL);
    mrd_status status = MRD_OK;
    if (code != SQLITE_OK)
        status = mrd__fail_at(error, mrd__sql_fail(results, "cannot open", error), path.data, -1);
    mrd__buf_reset(&path);
    if (status != MRD_OK) return status;
    sqlite3_busy_timeout(results->db, BUSY_TIMEOUT_MS);
    MRD__TRY(migrate(results, error));
    return mrd__results_repair(results, error);
}

mrd_status mrd__results_open(const char *data_dir, const char *store_url, mrd__results **out,
                             mrd_error *error)
{
    mrd__results *results = mrd__new(mrd__results);
    pthread_mutex_init(&results->mutex, NULL);
    mrd_status status = open_store(results, data_dir, store_url, error);
    if (status != MRD_OK) mrd__results_close(&results);
    *out = results;
    return status;
}

void mrd__results_close(mrd__results **handle)
{
    mrd__results *results = *handle;
    if (!results) return;
    sqlite3_close(results->db);
    pthread_mutex_destroy(&results->mutex);
    mrd__free(results->data_dir);
    mrd__free(results);
    *handle = NULL;
}

/* A relative path of ours must stay below the data folder. */
static bool stays_inside(mrd__str path)
{
    for (size_t at = 0; at <= path.size;) {
        size_t end = at;
        while (end < path.size && path.data[end] != '/')
            end++;
        if (end - at == 2 && path.data[at] == '.' && path.data[at + 1] == '.') return false;
        at = end + 1;
    }
    return path.size > 0 && !memchr(path.data, 0, path.size);
}

mrd_status mrd__results_resolve(const mrd__results *results, mrd__str stored, mrd__buf *out,
                                bool *own, mrd_error *error)
{
    *own = stored.size > 0 && stored.data[0] != '/';
    mrd__buf_clear(out);
    if (*own && !stays_inside(stored))
        return mrd__fail(error, MRD_ERR_FORMAT, "bad_path",
                         "trace_file_path is %.*s, which leaves the data folder", (int)stored.size,
                         stored.data);
    if (*own) mrd__buf_printf(out, "%s/", results->data_dir);
    mrd__buf_str(out, stored);
    return MRD_OK;
}
