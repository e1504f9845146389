/* Opening, schema, trace paths. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/os.h"
#include "results/internal.h"

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
    "CREATE TABLE experiments(id $ID, name TEXT NOT NULL UNIQUE,"
    " description TEXT, created_at TEXT NOT NULL);"
    "CREATE TABLE comm_eval_results(id $ID,"
    " experiment_id $INT NOT NULL REFERENCES experiments(id), task_id TEXT,"
    " config_snapshot TEXT, primitive TEXT, algorithm TEXT, msg_size_bytes $INT,"
    " num_participants $INT, topology_name TEXT, dtype TEXT, total_latency_ns $REAL,"
    " bus_bw_gb_per_s $REAL, max_chip_latency_ns $REAL, straggler_ratio $REAL,"
    " total_comm_bytes $INT, algorithm_steps $INT, per_chip_summary TEXT, stats TEXT,"
    " trace_file_path TEXT, created_at TEXT NOT NULL, alg_bw_gb_per_s $REAL,"
    " ideal_latency_ns $REAL, data_done_ns $REAL, bottleneck TEXT, events $INT, wall_ms $REAL,"
    " algorithm_used TEXT, auto_candidates TEXT, seed $INT, config_hash TEXT,"
    " program_version TEXT);"
    "CREATE INDEX results_experiment ON comm_eval_results(experiment_id);"
    "CREATE INDEX results_algorithm ON comm_eval_results(primitive, algorithm);"
    "CREATE INDEX results_topology ON comm_eval_results(topology_name);"
    "CREATE INDEX results_size ON comm_eval_results(msg_size_bytes);"
    "CREATE INDEX results_created ON comm_eval_results(created_at, id);",

    /* The task queue. version: counts all changes of tasks, so that watchers ask for what is new.
     * owner: host, process and its start, to tell a dead owner from a living one. */
    "CREATE TABLE tasks(seq $ID, id TEXT NOT NULL UNIQUE,"
    " experiment_id $INT NOT NULL REFERENCES experiments(id), spec TEXT NOT NULL,"
    " state TEXT NOT NULL, progress $REAL NOT NULL, error TEXT, result_id $INT,"
    " cancel $INT NOT NULL, attempts $INT NOT NULL, owner TEXT, heartbeat $INT,"
    " version $INT NOT NULL, created_at TEXT NOT NULL, started_at TEXT, finished_at TEXT);"
    "CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT NOT NULL);"
    "CREATE INDEX tasks_state ON tasks(state, seq);"
    "CREATE INDEX tasks_version ON tasks(version);"
    "CREATE INDEX tasks_experiment ON tasks(experiment_id);"
    "CREATE INDEX results_task ON comm_eval_results(task_id);"
    "CREATE INDEX results_latency ON comm_eval_results(total_latency_ns, id);"
    "CREATE INDEX results_bandwidth ON comm_eval_results(bus_bw_gb_per_s, id);",

    /* All that lists filter and sort by: rows are long, and a filter must not read them. */
    "CREATE INDEX results_filter ON comm_eval_results(created_at, id, experiment_id, primitive,"
    " algorithm, algorithm_used, topology_name, msg_size_bytes, total_latency_ns,"
    " bus_bw_gb_per_s);",

    /* The counters last: SQLite reads a row front to back, and lists want what stood behind. */
    "ALTER TABLE comm_eval_results ADD COLUMN moved TEXT;"
    "UPDATE comm_eval_results SET moved = stats;"
    "ALTER TABLE comm_eval_results DROP COLUMN stats;"
    "ALTER TABLE comm_eval_results RENAME COLUMN moved TO stats;",
};

const mrd__column *mrd__column_of(const char *name)
{
    for (size_t i = 0; i < mrd__column_count; i++)
        if (strcmp(mrd__columns[i].name, name) == 0) return &mrd__columns[i];
    return NULL;
}

void mrd__select_columns(mrd__buf *sql)
{
    mrd__buf_text(sql, "SELECT ");
    for (size_t i = 0; i < mrd__column_count; i++)
        mrd__buf_printf(sql, "%s%s", i ? "," : "", mrd__columns[i].name);
    mrd__buf_text(sql, " FROM comm_eval_results");
}

void mrd__column_json(const mrd__db_rows *row, int index, const mrd__column *column, mrd__buf *out)
{
    static const mrd__db_type types[] = {MRD__DB_INT, MRD__DB_REAL, MRD__DB_TEXT, MRD__DB_TEXT};
    mrd__db_value value = mrd__db_value_at(row, index, types[column->type]);
    if (value.type == MRD__DB_NULL)
        mrd__buf_text(out, "null");
    else if (column->type == MRD__COLUMN_INTEGER)
        mrd__buf_int(out, value.integer);
    else if (column->type == MRD__COLUMN_REAL)
        mrd__buf_json_double(out, value.real);
    else if (column->type == MRD__COLUMN_JSON) /* checked when it came in */
        mrd__buf_str(out, value.text);
    else
        mrd__buf_json_string(out, value.text);
}

void mrd__utc_now(char out[32])
{
    time_t now = (time_t)(mrd__realtime_ns() / 1000000000);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

static mrd_status run_migrations(mrd__db *db, mrd_error *error)
{
    int version = 0;
    MRD__TRY(db->driver->version(db, &version, error)); /* nobody else can write now */
    if (version > MRD__RESULTS_SCHEMA)
        return mrd__fail(error, MRD_ERR_UNSUPPORTED, "newer_store",
                         "the result store has schema %d, this program knows up to %d", version,
                         MRD__RESULTS_SCHEMA);
    for (; version < MRD__RESULTS_SCHEMA; version++) {
        MRD__TRY(mrd__db_script(db, migrations[version], error));
        MRD__TRY(db->driver->set_version(db, version + 1, error));
    }
    return MRD_OK;
}

static mrd_status open_db(const char *data_dir, const char *url, mrd__db **out, mrd_error *error)
{
    if (url && (strncmp(url, "postgresql://", 13) == 0 || strncmp(url, "postgres://", 11) == 0))
        return mrd__db_open_postgres(url, out, error);
    if (url && strstr(url, "://"))
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_store",
                         "--store is %s, allowed is a path of an SQLite file or postgresql://…",
                         url);
    mrd__buf path = {0};
    if (url)
        mrd__buf_text(&path, url);
    else
        mrd__buf_printf(&path, "%s/meridian.db", data_dir);
    mrd_status status = mrd__db_open_sqlite(path.data, out, error);
    mrd__buf_reset(&path);
    return status;
}

/* The store's own name, made once. */
static mrd_status name_store(mrd__results *results, mrd_error *error)
{
    uint64_t random[2];
    mrd__db_rows *rows = NULL;
    bool more;
    mrd__random_bytes(random, sizeof random);
    snprintf(results->store_id, sizeof results->store_id, "%016llx%016llx",
             (unsigned long long)random[0], (unsigned long long)random[1]);
    mrd__db_value value = MRD__DB_OF_TEXT(mrd__str_of(results->store_id));
    MRD__TRY(mrd__db_run(results->db,
                         "INSERT INTO meta(name, value) VALUES('store', ?) ON CONFLICT DO NOTHING",
                         &value, 1, error));
    MRD__TRY(mrd__db_query(results->db, "SELECT value FROM meta WHERE name = 'store'", NULL, 0,
                           &rows, error));
    mrd_status status = mrd__db_next(rows, &more, error);
    mrd__str name =
        status == MRD_OK && more ? mrd__db_value_at(rows, 0, MRD__DB_TEXT).text : mrd__str_of(NULL);
    if (status == MRD_OK && name.size < sizeof results->store_id)
        snprintf(results->store_id, sizeof results->store_id, "%.*s", (int)name.size, name.data);
    mrd__db_end(rows);
    return status;
}

static mrd_status set_up(mrd__results *results, mrd_error *error)
{
    MRD__TRY(run_migrations(results->db, error));
    MRD__TRY(name_store(results, error));
    return mrd__results_repair(results, error);
}

static mrd_status open_store(mrd__results *results, const char *data_dir, const char *store_url,
                             mrd_error *error)
{
    char resolved[PATH_MAX];
    MRD__TRY(mrd__make_folders(data_dir, error));
    if (!realpath(data_dir, resolved)) return mrd__fail_errno(error, data_dir, "cannot resolve");
    results->data_dir = mrd__strndup(resolved, strlen(resolved));
    MRD__TRY(open_db(resolved, store_url, &results->db, error));
    MRD__TRY(mrd__db_begin(results->db, error));
    return mrd__db_finish(results->db, set_up(results, error), error);
}

mrd_status mrd__results_open(const char *data_dir, const char *store_url, mrd__results **out,
                             mrd_error *error)
{
    mrd__results *results = mrd__new(mrd__results);
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&results->mutex, NULL);
    pthread_cond_init(&results->tasks_changed, &clock);
    pthread_condattr_destroy(&clock);
    mrd_status status = open_store(results, data_dir, store_url, error);
    if (status != MRD_OK) mrd__results_close(&results);
    *out = results;
    return status;
}

void mrd__results_close(mrd__results **handle)
{
    mrd__results *results = *handle;
    if (!results) return;
    mrd__tasks_stop(results);
    mrd__db_close(&results->db);
    pthread_cond_destroy(&results->tasks_changed);
    pthread_mutex_destroy(&results->mutex);
    mrd__buf_reset(&results->list_room);
    mrd__buf_reset(&results->report);
    mrd__free(results->data_dir);
    mrd__free(results);
    *handle = NULL;
}

const char *mrd__results_report(const mrd__results *results)
{
    return results->report.size ? results->report.data : "";
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

void mrd__trace_name(int64_t experiment, int64_t id, mrd__buf *out)
{
    mrd__buf_printf(out, "traces/%lld/%lld_trace.parquet", (long long)experiment, (long long)id);
}

void mrd__records_name(mrd__str trace_name, mrd__buf *out)
{
    static const char tail[] = "_trace.parquet";
    size_t cut = sizeof tail - 1;
    if (trace_name.size > cut && memcmp(trace_name.data + trace_name.size - cut, tail, cut) == 0)
        trace_name.size -= cut;
    mrd__buf_str(out, trace_name);
    mrd__buf_text(out, "_records.parquet");
}
