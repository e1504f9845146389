/* Experiments: names under which results stand together. */
#include <string.h>

#include "results/internal.h"

#define NAME_MAX_BYTES 200
#define DESCRIPTION_MAX (64 * 1024)

mrd_status mrd__check_experiment_name(const char *name, mrd_error *error)
{
    if (name[0] && strlen(name) <= NAME_MAX_BYTES && mrd__utf8_valid(mrd__str_of(name)))
        return MRD_OK;
    return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter",
                     "the experiment's name must have 1 to %d bytes of UTF-8", NAME_MAX_BYTES);
}

mrd_status mrd__find_experiment(mrd__results *results, const char *name, int64_t *id,
                                mrd_error *error)
{
    bool found;
    mrd__db_value value = MRD__DB_OF_TEXT(mrd__str_of(name));
    return mrd__db_int(results->db, "SELECT id FROM experiments WHERE name = ?", &value, 1, id,
                       &found, error);
}

static mrd_status insert(mrd__results *results, const char *name, const char *description,
                         int64_t *id, mrd_error *error)
{
    char now[32];
    bool found;
    mrd__utc_now(now);
    mrd__db_value values[] = {MRD__DB_OF_TEXT(mrd__str_of(name)),
                              description ? MRD__DB_OF_TEXT(mrd__str_of(description))
                                          : MRD__DB_OF_NULL,
                              MRD__DB_OF_TEXT(mrd__str_of(now))};
    return mrd__db_int(
        results->db,
        "INSERT INTO experiments(name, description, created_at) VALUES(?, ?, ?) RETURNING id",
        values, 3, id, &found, error);
}

mrd_status mrd__ensure_experiment(mrd__results *results, const char *name, int64_t *id,
                                  mrd_error *error)
{
    if (!name) name = "default";
    MRD__TRY(mrd__check_experiment_name(name, error));
    MRD__TRY(mrd__find_experiment(results, name, id, error));
    return *id ? MRD_OK : insert(results, name, NULL, id, error);
}

mrd_status mrd__results_experiment_add(mrd__results *results, const char *name,
                                       const char *description, int64_t *id, mrd_error *error)
{
    MRD__TRY(mrd__check_experiment_name(name, error));
    if (description &&
        (strlen(description) > DESCRIPTION_MAX || !mrd__utf8_valid(mrd__str_of(description))))
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter",
                         "the description must have at most %d bytes of UTF-8", DESCRIPTION_MAX);
    pthread_mutex_lock(&results->mutex);
    mrd_error own = {0};
    mrd_status status = mrd__db_begin(results->db, error);
    if (status == MRD_OK) {
        status = insert(results, name, description, id, &own);
        if (status != MRD_OK && strcmp(own.code, "exists") == 0)
            status = mrd__fail(&own, MRD_ERR_STATE, "exists", "there is an experiment %s", name);
        if (status != MRD_OK && error) *error = own;
        status = mrd__db_finish(results->db, status, error);
    }
    pthread_mutex_unlock(&results->mutex);
    return status;
}

static void write_row(const mrd__db_rows *row, mrd__buf *out)
{
    static const mrd__column columns[] = {{"id", MRD__COLUMN_INTEGER, false, true},
                                          {"name", MRD__COLUMN_TEXT, false, true},
                                          {"description", MRD__COLUMN_TEXT, false, true},
                                          {"created_at", MRD__COLUMN_TEXT, false, true},
                                          {"results", MRD__COLUMN_INTEGER, false, true}};
    for (int i = 0; i < 5; i++) {
        mrd__buf_printf(out, "%s\"%s\":", i ? "," : "{", columns[i].name);
        mrd__column_json(row, i, &columns[i], out);
    }
    mrd__buf_char(out, '}');
}

#define SELECT_EXPERIMENTS                                                                         \
    "SELECT id, name, description, created_at, (SELECT count(*) FROM comm_eval_results r "         \
    "WHERE r.experiment_id = e.id) FROM experiments e "

static mrd_status write_all(mrd__results *results, mrd__buf *out, mrd_error *error)
{
    mrd__db_rows *rows = NULL;
    bool more, first = true;
    MRD__TRY(mrd__db_query(results->db, SELECT_EXPERIMENTS "ORDER BY id", NULL, 0, &rows, error));
    mrd__buf_text(out, "{\"experiments\":[");
    mrd_status status;
    while ((status = mrd__db_next(rows, &more, error)) == MRD_OK && more) {
        if (!first) mrd__buf_char(out, ',');
        first = false;
        write_row(rows, out);
    }
    mrd__db_end(rows);
    mrd__buf_text(out, "]}\n");
    return status;
}

static mrd_status no_such(int64_t id, mrd_error *error)
{
    return mrd__fail(error, MRD_ERR_NOT_FOUND, "no_such_experiment", "no experiment %lld",
                     (long long)id);
}

static mrd_status write_one(mrd__results *results, int64_t id, mrd__buf *out, mrd_error *error)
{
    mrd__db_rows *rows = NULL;
    bool more;
    mrd__db_value value = MRD__DB_OF_INT(id);
    MRD__TRY(
        mrd__db_query(results->db, SELECT_EXPERIMENTS "WHERE id = ?", &value, 1, &rows, error));
    mrd_status status = mrd__db_next(rows, &more, error);
    if (status == MRD_OK && more) write_row(rows, out);
    if (status == MRD_OK && !more) status = no_such(id, error);
    mrd__db_end(rows);
    return status;
}

mrd_status mrd__results_experiments(mrd__results *results, int64_t id, const mrd_sink *sink,
                                    mrd_error *error)
{
    mrd__buf out = {0};
    pthread_mutex_lock(&results->mutex);
    mrd_status status = id ? write_one(results, id, &out, error) : write_all(results, &out, error);
    pthread_mutex_unlock(&results->mutex);
    if (status == MRD_OK) status = mrd__buf_flush(&out, sink, error);
    mrd__buf_reset(&out);
    return status;
}

/* ---- Removal ---- */

/* A running task would put its result into an experiment that is going away. */
static mrd_status end_tasks(mrd__results *results, int64_t experiment, mrd_error *error)
{
    bool found;
    int64_t running;
    mrd__db_value value = MRD__DB_OF_INT(experiment);
    MRD__TRY(mrd__db_int(results->db,
                         "SELECT count(*) FROM tasks WHERE experiment_id = ? AND state = 'running'",
                         &value, 1, &running, &found, error));
    if (running > 0)
        return mrd__fail(error, MRD_ERR_STATE, "running",
                         "%lld tasks of this experiment are running; cancel them first",
                         (long long)running);
    return mrd__db_run(results->db, "DELETE FROM tasks WHERE experiment_id = ?", &value, 1, error);
}

static mrd_status remove_all(mrd__results *results, int64_t experiment, uint64_t *removed,
                             mrd_error *error)
{
    int64_t id;
    bool found;
    mrd__db_value value = MRD__DB_OF_INT(experiment);
    MRD__TRY(end_tasks(results, experiment, error));
    for (;;) {
        MRD__TRY(mrd__db_int(results->db,
                             "SELECT min(id) FROM comm_eval_results WHERE experiment_id = ?",
                             &value, 1, &id, &found, error));
        if (!found) break;
        MRD__TRY(mrd__remove_row(results, id, error));
        ++*removed;
    }
    return mrd__db_run(results->db, "DELETE FROM experiments WHERE id = ?", &value, 1, error);
}

/* Files go before their rows are gone for good: a crash in between leaves rows without files,
 * which can be removed again, never files that no row names. */
static mrd_status remove_experiment(mrd__results *results, int64_t id, uint64_t *removed,
                                    mrd_error *error)
{
    MRD__TRY(mrd__db_begin(results->db, error));
    return mrd__db_finish(results->db, remove_all(results, id, removed, error), error);
}

mrd_status mrd__results_remove_experiment(mrd__results *results, const char *name,
                                          uint64_t *removed, mrd_error *error)
{
    int64_t id;
    *removed = 0;
    pthread_mutex_lock(&results->mutex);
    mrd_status status = mrd__find_experiment(results, name, &id, error);
    if (status == MRD_OK && id == 0)
        status =
            mrd__fail(error, MRD_ERR_NOT_FOUND, "no_such_experiment", "no experiment %s", name);
    if (status == MRD_OK) status = remove_experiment(results, id, removed, error);
    pthread_mutex_unlock(&results->mutex);
    return status;
}

mrd_status mrd__results_remove_experiment_id(mrd__results *results, int64_t id, uint64_t *removed,
                                             mrd_error *error)
{
    int64_t there;
    bool found;
    *removed = 0;
    mrd__db_value value = MRD__DB_OF_INT(id);
    pthread_mutex_lock(&results->mutex);
    mrd_status status = mrd__db_int(results->db, "SELECT id FROM experiments WHERE id = ?", &value,
                                    1, &there, &found, error);
    if (status == MRD_OK && !found) status = no_such(id, error);
    if (status == MRD_OK) status = remove_experiment(results, id, removed, error);
    pthread_mutex_unlock(&results->mutex);
    return status;
}
