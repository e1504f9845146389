/* The task queue: what is to be run, who runs it, how it ended. All of it is in the store, so that
 * it goes on after a crash.
 *
 *   queued -> running -> done | failed | cancelled
 *        ^------'  its process died, or stopped in order
 *
 * Every change takes the next version, so that watchers of any process ask for what is newer than
 * what they have seen. Writing transactions come one after the other on both engines: versions
 * become visible in their order. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/os.h"
#include "results/files.h"
#include "results/run.h"
#include "results/tasks.h"

#define NEXT_VERSION "(SELECT coalesce(max(version), 0) + 1 FROM tasks)"
#define POLL_MS 500 /* how soon changes of other processes are seen */

/* ---- Submitting ---- */

static void new_uuid(char out[MRD__TASK_ID])
{
    unsigned char b[16];
    mrd__random_bytes(b, sizeof b);
    b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
    b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
    snprintf(out, MRD__TASK_ID,
             "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
             b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14],
             b[15]);
}

static mrd_status insert_tasks(mrd__results *results, int64_t experiment,
                               const mrd__sim_sweep *sweep, mrd__buf *out, mrd_error *error)
{
    char now[32], id[MRD__TASK_ID];
    mrd__utc_now(now);
    for (size_t i = 0; i < sweep->specs.count; i++) {
        new_uuid(id);
        mrd__db_value values[] = {MRD__DB_OF_TEXT(mrd__str_of(id)), MRD__DB_OF_INT(experiment),
                                  MRD__DB_OF_TEXT(mrd__str_of(sweep->specs.data[i])),
                                  MRD__DB_OF_TEXT(mrd__str_of(now))};
        MRD__TRY(mrd__db_run(results->db,
                             "INSERT INTO tasks(id, experiment_id, spec, state, progress, cancel, "
                             "attempts, version, created_at) VALUES(?, ?, ?, 'queued', 0, 0, "
                             "0, " NEXT_VERSION ", ?)",
                             values, 4, error));
        mrd__buf_printf(out, "%s\"%s\"", i ? "," : "", id);
    }
    return MRD_OK;
}

static mrd_status find_by_id(mrd__results *results, int64_t id, mrd_error *error)
{
    int64_t there;
    bool found;
    mrd__db_value value = MRD__DB_OF_INT(id);
    MRD__TRY(mrd__db_int(results->db, "SELECT id FROM experiments WHERE id = ?", &value, 1, &there,
                         &found, error));
    if (found) return MRD_OK;
    return mrd__fail(error, MRD_ERR_NOT_FOUND, "no_such_experiment", "no experiment %lld",
                     (long long)id);
}

mrd_status mrd__tasks_submit(mrd__results *results, const char *experiment, int64_t experiment_id,
                             const char *spec, size_t size, mrd__buf *out, mrd_error *error)
{
    mrd__sim_sweep sweep;
    MRD__TRY(mrd__sim_sweep_expand(&sweep, spec, size, error));
    pthread_mutex_lock(&results->mutex);
    mrd_status status = mrd__db_begin(results->db, error);
    if (status == MRD_OK) {
        status = experiment_id > 0
                     ? find_by_id(results, experiment_id, error)
                     : mrd__ensure_experiment(results, experiment, &experiment_id, error);
        if (status == MRD_OK) status = insert_tasks(results, experiment_id, &sweep, out, error);
        status = mrd__db_finish(results->db, status, error);
    }
    mrd__tasks_notify(results);
    pthread_mutex_unlock(&results->mutex);
    mrd__sim_sweep_reset(&sweep);
    return status;
}

/* ---- Telling ---- */

static const mrd__column columns[] = {{"id", MRD__COLUMN_TEXT, false, true},
                                      {"experiment_id", MRD__COLUMN_INTEGER, false, true},
                                      {"state", MRD__COLUMN_TEXT, false, true},
                                      {"progress", MRD__COLUMN_REAL, false, true},
                                      {"error", MRD__COLUMN_TEXT, false, true},
                                      {"result_id", MRD__COLUMN_INTEGER, false, true},
                                      {"created_at", MRD__COLUMN_TEXT, false, true},
                                      {"started_at", MRD__COLUMN_TEXT, false, true},
                                      {"finished_at", MRD__COLUMN_TEXT, false, true},
                                      {"spec", MRD__COLUMN_JSON, false, true}};
#define COLUMNS (sizeof columns / sizeof *columns)
#define SELECT_TASKS                                                                               \
    "SELECT id, experiment_id, state, progress, error, result_id, created_at, started_at, "        \
    "finished_at, spec, version FROM tasks "

static void write_task(const mrd__db_rows *row, bool spec, mrd__buf *out)
{
    for (size_t i = 0; i < COLUMNS - !spec; i++) {
        mrd__buf_printf(out, "%s\"%s\":", i ? "," : "{", columns[i].name);
        mrd__column_json(row, (int)i, &columns[i], out);
    }
    mrd__buf_char(out, '}');
}

static mrd_status no_such_task(const char *id, mrd_error *error)
{
    return mrd__fail(error, MRD_ERR_NOT_FOUND, "no_such_task", "no task %.64s", id);
}

static mrd_status show(mrd__results *results, const char *id, mrd__buf *out, mrd_error *error)
{
    mrd__db_rows *rows = NULL;
    bool more = false;
    mrd__db_value value = MRD__DB_OF_TEXT(mrd__str_of(id));
    MRD__TRY(mrd__db_query(results->db, SELECT_TASKS "WHERE id = ?", &value, 1, &rows, error));
    mrd_status status = mrd__db_next(rows, &more, error);
    if (status == MRD_OK && more) write_task(rows, true, out);
    if (status == MRD_OK && !more) status = no_such_task(id, error);
    mrd__db_end(rows);
    return status;
}

mrd_status mrd__tasks_show(mrd__results *results, const char *id, const mrd_sink *sink,
                           mrd_error *error)
{
    mrd__buf out = {0};
    if (!mrd__utf8_valid(mrd__str_of(id))) return no_such_task("with that name", error);
    pthread_mutex_lock(&results->mutex);
    mrd_status status = show(results, id, &out, error);
    pthread_mutex_unlock(&results->mutex);
    if (status == MRD_OK) status = mrd__buf_flush(&out, sink, error);
    mrd__buf_reset(&out);
    return status;
}

typedef struct list_query {
    mrd__buf where;
    mrd__db_values values;
    int64_t page, page_size;
} list_query;

static mrd_status add_field(list_query *q, const mrd__field *field, mrd_error *error)
{
    static const char *const states[] = {"queued", "running", "done", "failed", "cancelled"};
    const char *join = q->where.size ? " AND " : " WHERE ";
    int64_t number;
    if (strcmp(field->name, "state") == 0) {
        bool known = false;
        for (size_t i = 0; i < sizeof states / sizeof *states; i++)
            known |= mrd__str_is(field->value, states[i]);
        if (!known)
            return mrd__bad_value(field, "queued, running, done, failed or cancelled", error);
        mrd__buf_printf(&q->where, "%sstate = ?", join);
        mrd__vec_push(&q->values, MRD__DB_OF_TEXT(field->value));
        return MRD_OK;
    }
    if (!mrd__parse_int64(field->value, &number) || number < 1)
        return mrd__bad_value(field, "a whole number of 1 or more", error);
    if (strcmp(field->name, "experiment_id") == 0) {
        mrd__buf_printf(&q->where, "%sexperiment_id = ?", join);
        mrd__vec_push(&q->values, MRD__DB_OF_INT(number));
    } else if (strcmp(field->name, "page") == 0 && number <= INT32_MAX) {
        q->page = number;
    } else if (strcmp(field->name, "page_size") == 0 && number <= MRD__RESULTS_PAGE_MAX) {
        q->page_size = number;
    } else if (strcmp(field->name, "page_size") == 0 || strcmp(field->name, "page") == 0) {
        return mrd__bad_value(field, "page from 1, page_size 1 to 1000", error);
    } else {
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter",
                         "%s is unknown, allowed are experiment_id, state, page, page_size",
                         field->name);
    }
    return MRD_OK;
}

static mrd_status write_list(mrd__results *results, const list_query *q, mrd__buf *out,
                             mrd_error *error)
{
    mrd__buf sql = {0};
    mrd__db_rows *rows = NULL;
    int64_t total = 0;
    bool found, more, first = true;
    const char *where = q->where.size ? q->where.data : "";
    mrd__buf_printf(&sql, "SELECT count(*) FROM tasks%s", where);
    mrd_status status =
        mrd__db_int(results->db, sql.data, q->values.data, q->values.count, &total, &found, error);
    mrd__buf_clear(&sql);
    mrd__buf_printf(&sql, SELECT_TASKS "%s ORDER BY seq DESC LIMIT %lld OFFSET %lld", where,
                    (long long)q->page_size, (long long)((q->page - 1) * q->page_size));
    if (status == MRD_OK)
        status =
            mrd__db_query(results->db, sql.data, q->values.data, q->values.count, &rows, error);
    mrd__buf_reset(&sql);
    mrd__buf_text(out, "{\"tasks\":[");
    while (status == MRD_OK && (status = mrd__db_next(rows, &more, error)) == MRD_OK && more) {
        if (!first) mrd__buf_char(out, ',');
        first = false;
        write_task(rows, true, out);
    }
    mrd__db_end(rows);
    mrd__buf_printf(out, "],\"total\":%lld,\"page\":%lld,\"page_size\":%lld}\n", (long long)total,
                    (long long)q->page, (long long)q->page_size);
    return status;
}

mrd_status mrd__tasks_list(mrd__results *results, const mrd__field *fields, size_t count,
                           const mrd_sink *sink, mrd_error *error)
{
    list_query q = {.page = 1, .page_size = MRD__RESULTS_PAGE_SIZE};
    mrd__buf out = {0};
    mrd_status status = MRD_OK;
    for (size_t i = 0; i < count && status == MRD_OK; i++) {
        for (size_t j = 0; j < i && status == MRD_OK; j++)
            if (strcmp(fields[i].name, fields[j].name) == 0)
                status = mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter", "%s is given twice",
                                   fields[i].name);
        if (status == MRD_OK) status = add_field(&q, &fields[i], error);
    }
    if (status == MRD_OK) {
        pthread_mutex_lock(&results->mutex);
        status = write_list(results, &q, &out, error);
        pthread_mutex_unlock(&results->mutex);
    }
    if (status == MRD_OK) status = mrd__buf_flush(&out, sink, error);
    mrd__buf_reset(&q.where);
    mrd__vec_reset(&q.values);
    mrd__buf_reset(&out);
    return status;
}

/* ---- Watching ---- */

void mrd__tasks_notify(mrd__results *results)
{
    pthread_cond_broadcast(&results->tasks_changed);
}

static mrd_status newest_version(mrd__results *results, int64_t *version, mrd_error *error)
{
    bool found;
    return mrd__db_int(results->db, "SELECT coalesce(max(version), 0) FROM tasks", NULL, 0, version,
                       &found, error);
}

/* A failure to read is no change; the next call tries again. */
static void read_changes(mrd__results *results, uint64_t *version, mrd__buf *out)
{
    mrd__db_rows *rows = NULL;
    bool more, first_call = *version == UINT64_MAX;
    int64_t newest;
    if (first_call && newest_version(results, &newest, NULL) != MRD_OK) return;
    mrd__db_value since = MRD__DB_OF_INT(first_call ? 0 : (int64_t)*version);
    const char *sql = first_call ? SELECT_TASKS
                          "WHERE version > ? AND state IN ('queued', 'running') ORDER BY version"
                                 : SELECT_TASKS "WHERE version > ? ORDER BY version";
    if (mrd__db_query(results->db, sql, &since, 1, &rows, NULL) != MRD_OK) return;
    if (first_call) *version = (uint64_t)newest;
    while (mrd__db_next(rows, &more, NULL) == MRD_OK && more) {
        uint64_t at = (uint64_t)mrd__db_value_at(rows, (int)COLUMNS, MRD__DB_INT).integer;
        write_task(rows, false, out);
        mrd__buf_char(out, '\n');
        if (at > *version) *version = at;
    }
    mrd__db_end(rows);
}

bool mrd__tasks_changes(mrd__results *results, uint64_t *version, unsigned timeout_ms,
                        mrd__buf *out)
{
    uint64_t due = mrd__monotonic_ns() + (uint64_t)timeout_ms * 1000000u;
    pthread_mutex_lock(&results->mutex);
    for (;;) {
        bool first_call = *version == UINT64_MAX;
        read_changes(results, version, out);
        uint64_t now = mrd__monotonic_ns();
        if (first_call || out->size > 0 || results->watching_ends || now >= due) break;
        uint64_t until = now + POLL_MS * 1000000ull;
        if (until > due) until = due;
        struct timespec time = {(time_t)(until / 1000000000u), (long)(until % 1000000000u)};
        pthread_cond_timedwait(&results->tasks_changed, &results->mutex, &time);
    }
    bool go_on = !results->watching_ends;
    pthread_mutex_unlock(&results->mutex);
    return go_on;
}

/* ---- Changing; the mutex is held, inside a transaction ---- */

mrd_status mrd__task_change(mrd__results *results, const char *id, const char *set,
                            const mrd__db_value *values, size_t count, bool *changed,
                            mrd_error *error)
{
    mrd__buf sql = {0};
    mrd__db_values all = {0};
    int64_t seq;
    char owner[MRD__OWNER];
    mrd__owner_text(owner);
    mrd__buf_printf(&sql,
                    "UPDATE tasks SET version = " NEXT_VERSION
                    ", %s WHERE id = ? AND state = 'running' AND owner = ? RETURNING seq",
                    set);
    for (size_t i = 0; i < count; i++)
        mrd__vec_push(&all, values[i]);
    mrd__vec_push(&all, MRD__DB_OF_TEXT(mrd__str_of(id)));
    mrd__vec_push(&all, MRD__DB_OF_TEXT(mrd__str_of(owner)));
    mrd_status status =
        mrd__db_int(results->db, sql.data, all.data, all.count, &seq, changed, error);
    mrd__vec_reset(&all);
    mrd__buf_reset(&sql);
    mrd__tasks_notify(results);
    return status;
}

mrd_status mrd__task_done(mrd__results *results, const char *id, int64_t result, mrd_error *error)
{
    char now[32];
    bool changed;
    int64_t cancel = 0;
    mrd__db_value key = MRD__DB_OF_TEXT(mrd__str_of(id));
    /* A short run ends before it hears of its cancelling, which was granted all the same. */
    MRD__TRY(mrd__db_int(results->db, "SELECT cancel FROM tasks WHERE id = ?", &key, 1, &cancel,
                         &changed, error));
    if (changed && cancel != 0)
        return mrd__fail(error, MRD_ERR_CANCELLED, MRD__TASK_CANCELLED, "task %s was cancelled",
                         id);
    mrd__utc_now(now);
    mrd__db_value values[] = {MRD__DB_OF_INT(result), MRD__DB_OF_TEXT(mrd__str_of(now))};
    MRD__TRY(mrd__task_change(
        results, id, "state = 'done', progress = 1, result_id = ?, finished_at = ?, owner = NULL",
        values, 2, &changed, error));
    if (changed) return MRD_OK;
    return mrd__fail(error, MRD_ERR_STATE, "not_ours", "task %s was taken over or removed", id);
}

/* Of a task that is queued: at once. Of one that runs: its process is told. */
static mrd_status cancel_inside(mrd__results *results, const char *id, mrd_error *error)
{
    char now[32];
    int64_t seq;
    bool found;
    mrd__utc_now(now);
    mrd__db_value values[] = {MRD__DB_OF_TEXT(mrd__str_of(now)), MRD__DB_OF_TEXT(mrd__str_of(id))};
    MRD__TRY(mrd__db_int(results->db,
                         "UPDATE tasks SET state = 'cancelled', finished_at = ?, "
                         "version = " NEXT_VERSION " WHERE id = ? AND state = 'queued' "
                         "RETURNING seq",
                         values, 2, &seq, &found, error));
    if (found) return MRD_OK;
    MRD__TRY(mrd__db_int(results->db,
                         "UPDATE tasks SET cancel = 1 WHERE id = ? AND state = 'running' "
                         "RETURNING seq",
                         &values[1], 1, &seq, &found, error));
    if (found) return MRD_OK;
    MRD__TRY(mrd__db_int(results->db, "SELECT seq FROM tasks WHERE id = ?", &values[1], 1, &seq,
                         &found, error));
    if (!found) return no_such_task(id, error);
    return mrd__fail(error, MRD_ERR_STATE, "ended", "task %s has ended already", id);
}

mrd_status mrd__tasks_cancel(mrd__results *results, const char *id, mrd_error *error)
{
    if (!mrd__utf8_valid(mrd__str_of(id))) return no_such_task("with that name", error);
    pthread_mutex_lock(&results->mutex);
    mrd_status status = mrd__db_begin(results->db, error);
    if (status == MRD_OK)
        status = mrd__db_finish(results->db, cancel_inside(results, id, error), error);
    mrd__tasks_notify(results);
    pthread_mutex_unlock(&results->mutex);
    return status;
}
