/* A database in memory over one store: its settings, its tables, its dictionaries. */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "sql/table.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- What the tables share ---- */

/* Track of each row; a row group that begins below the first line is a track of its own. */
static void number_tracks(mrd__sql *sql)
{
    const mrd__store *store = sql->store;
    uint32_t rows = store->rows.row_count;
    sql->row_tracks = mrd__new_array(uint32_t, rows + 1);
    for (uint32_t row = 0; row < rows; row++) {
        const mrd__row *info = &store->row_infos[row];
        if (info->line == 0) {
            sql->row_tracks[row] = info->track;
        } else if (info->depth == 0) {
            sql->row_tracks[row] = (uint32_t)(store->track_count + sql->spilled.count);
            mrd__vec_push(&sql->spilled, row);
        } else {
            sql->row_tracks[row] = sql->row_tracks[row - 1];
        }
    }
}

/* Non-empty tracks of a kind by their first sample; they mostly lie so already. */
#define SAMPLE_TRACKS(sql, wanted, list)                                                           \
    for (uint32_t t = 0; t < (sql)->store->track_count; t++) {                                     \
        const mrd__track *track = &(sql)->store->tracks[t];                                        \
        if (track->kind != (wanted) || track->count == 0 || track->event_key != MRD__NONE)         \
            continue;                                                                              \
        mrd__vec_push(&(sql)->list, t);                                                            \
        for (size_t at = (sql)->list.count - 1; at > 0; at--) {                                    \
            uint32_t *pair = &(sql)->list.data[at - 1];                                            \
            if ((sql)->store->tracks[pair[0]].first <= track->first) break;                        \
            pair[1] = pair[0];                                                                     \
            pair[0] = t;                                                                           \
        }                                                                                          \
    }

static void index_events(mrd__sql *sql)
{
    const mrd__events *events = sql->events;
    if (events == NULL) return;
    sql->interval_keys = mrd__new_array(uint32_t, events->intervals.row_count + 1);
    sql->event_tracks = mrd__new_array(uint32_t, events->key_count + 1);
    for (uint32_t k = 0; k < events->key_count; k++) {
        sql->event_tracks[k] = MRD__NONE;
        if (events->keys[k].form == MRD__FORM_INTERVAL) sql->interval_keys[events->keys[k].row] = k;
    }
    for (uint32_t t = 0; t < sql->store->track_count; t++) {
        uint32_t key = sql->store->tracks[t].event_key;
        if (key < events->key_count) sql->event_tracks[key] = t;
    }
}

static void index_store(mrd__sql *sql)
{
    const mrd__store *store = sql->store;
    number_tracks(sql);
    SAMPLE_TRACKS(sql, MRD__TRACK_INSTANT, instant_tracks)
    SAMPLE_TRACKS(sql, MRD__TRACK_COUNTER, counter_tracks)
    index_events(sql);
    for (uint64_t i = 0; i < store->slices.count; i++) {
        if (store->slices.flags[i] & MRD__SLICE_OVERLAP) mrd__vec_push(&sql->overlapped, i);
    }
    sql->first_interval = store->slices.count;
    sql->first_instant =
        sql->first_interval + (sql->events != NULL ? sql->events->intervals.count : 0);
    sql->first_event_instant = sql->first_instant + store->instants.count;
    mrd__sql_words_make(sql);
}

/* ---- Opening ---- */

static bool add_tables(mrd__sql *sql, duckdb_connection connection)
{
    const mrd__sql_table *const large[] = {&mrd__sql_slice, &mrd__sql_instant, &mrd__sql_counter,
                                           &mrd__sql_event};
    const mrd__sql_table *const small[] = {mrd__sql_small_tables, mrd__sql_loss_tables,
                                           mrd__sql_clock_tables};
    bool ok = mrd__sql_add_args(sql, connection);
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++)
        ok = ok && mrd__sql_add_table(sql, connection, large[i]);
    for (size_t i = 0; i < sizeof small / sizeof small[0]; i++) {
        for (const mrd__sql_table *table = small[i]; table->name != NULL; table++)
            ok = ok && mrd__sql_add_table(sql, connection, table);
    }
    return ok;
}

static mrd_status run(const mrd__sql *sql, duckdb_connection connection, const char *text,
                      mrd_error *error)
{
    duckdb_result result;
    memset(&result, 0, sizeof result);
    mrd_status status = MRD_OK;
    if (sql->api->query(connection, text, &result) != DuckDBSuccess)
        status =
            mrd__fail(error, MRD_ERR_INTERNAL, "duckdb", "%s", sql->api->result_error(&result));
    sql->api->destroy_result(&result);
    return status;
}

static mrd_status make_tables(mrd__sql *sql, mrd_error *error)
{
    duckdb_connection connection = NULL;
    if (sql->api->connect(sql->database, &connection) != DuckDBSuccess)
        return mrd__fail(error, MRD_ERR_INTERNAL, "duckdb", "DuckDB gives no connection");
    mrd_status status = MRD_OK;
    if (!add_tables(sql, connection))
        status = mrd__fail(error, MRD_ERR_INTERNAL, "duckdb", "DuckDB refuses a table function");
    for (size_t i = 0; status == MRD_OK && mrd__sql_views[i] != NULL; i++)
        status = run(sql, connection, mrd__sql_views[i], error);
    if (status == MRD_OK) status = run(sql, connection, "SET lock_configuration = true", error);
    sql->api->disconnect(&connection);
    return status;
}

static duckdb_config configure(const mrd__sql *sql, const mrd__sql_config *config)
{
    char threads[16];
    char memory[32];
    double bytes = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    snprintf(threads, sizeof threads, "%u", config->threads ? config->threads : mrd__cores());
    snprintf(memory, sizeof memory, "%.0fMB", bytes * MRD__SQL_MEMORY_PERCENT / 100 / 1e6);
    duckdb_config made = mrd__duck_config(sql->api);
    const char *const settings[][2] = {
        {"threads", threads},
        {"memory_limit", memory},
        {"enable_external_access", config->files ? "true" : "false"},
    };
    for (size_t i = 0; made != NULL && i < sizeof settings / sizeof settings[0]; i++)
        (void)sql->api->set_config(made, settings[i][0], settings[i][1]);
    return made;
}

static mrd_status open_database(mrd__sql *sql, const mrd__sql_config *config, mrd_error *error)
{
    char *reason = NULL;
    duckdb_config made = configure(sql, config);
    duckdb_state state = sql->api->open_ext(NULL, &sql->database, made, &reason);
    if (made != NULL) sql->api->destroy_config(&made);
    mrd_status status = MRD_OK;
    if (state != DuckDBSuccess)
        status = mrd__fail(error, MRD_ERR_INTERNAL, "duckdb", "DuckDB did not open: %s",
                           reason != NULL ? reason : "no reason given");
    if (reason != NULL) sql->api->free(reason);
    return status;
}

mrd_status mrd__sql_open(const mrd__store *store, const mrd__sql_config *config, mrd__sql **out,
                         mrd_error *error)
{
    *out = NULL;
    const mrd__duck_api *api = mrd__duck_api_get(error);
    if (api == NULL) return MRD_ERR_UNSUPPORTED;
    mrd__sql *sql = mrd__new(mrd__sql);
    sql->api = api;
    sql->store = store;
    sql->events = store->events;
    sql->files = config->files;
    mrd_status status = open_database(sql, config, error);
    if (status == MRD_OK) {
        index_store(sql);
        status = make_tables(sql, error);
    }
    if (status != MRD_OK) mrd__sql_close(&sql);
    *out = sql;
    return status;
}

void mrd__sql_close(mrd__sql **sql)
{
    if (sql == NULL || *sql == NULL) return;
    mrd__sql *gone = *sql;
    if (gone->database != NULL) gone->api->close(&gone->database);
    mrd__sql_words_reset(gone->api, &gone->names);
    mrd__sql_words_reset(gone->api, &gone->categories);
    mrd__free(gone->row_tracks);
    mrd__vec_reset(&gone->spilled);
    mrd__vec_reset(&gone->instant_tracks);
    mrd__vec_reset(&gone->counter_tracks);
    mrd__free(gone->interval_keys);
    mrd__free(gone->event_tracks);
    mrd__vec_reset(&gone->overlapped);
    mrd__free(gone);
    *sql = NULL;
}
