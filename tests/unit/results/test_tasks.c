/* The task queue: sweeps through workers, cancelling, a process that is killed in the middle. */
#include "results/kit.h"

#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os.h"
#include "results/files.h"
#include "results/tasks.h"

#define T(test) cmocka_unit_test_setup_teardown(test, kit_setup, kit_teardown)

static const char sweep[] =
    "{\"primitive\":\"allreduce\",\"algorithm\":[\"ring\",\"tree\"],\"topology\":\"ring-4\","
    "\"msg_size_bytes\":[1024,4096,16384],\"trace\":{\"enabled\":true}}";
static const char slow[] = /* some seconds each */
    "{\"primitive\":\"allreduce\",\"algorithm\":\"ring\",\"topology\":\"ring-64\","
    "\"msg_size_bytes\":[268435456,268435457]}";

static const char endless[] = /* a minute each: they are cancelled or stopped */
    "{\"primitive\":\"allreduce\",\"algorithm\":\"ring\",\"topology\":\"ring-64\","
    "\"msg_size_bytes\":[17179869184,17179869185]}";

static char *submit(fixture *f, const char *experiment, const char *spec)
{
    mrd__buf ids = {0};
    mrd_error error = {0};
    if (mrd__tasks_submit(f->results, experiment, 0, spec, strlen(spec), &ids, &error) != MRD_OK)
        fail_msg("%s", error.message);
    return ids.data;
}

static int64_t count(fixture *f, const char *state)
{
    char sql[128];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM tasks WHERE state = '%s'", state);
    pthread_mutex_lock(&f->results->mutex);
    int64_t n = kit_number(f, sql);
    pthread_mutex_unlock(&f->results->mutex);
    return n;
}

/* Until so many tasks are in this state; two minutes at most. */
static void wait_for(fixture *f, const char *state, int64_t want)
{
    for (int i = 0; i < 12000 && count(f, state) < want; i++)
        usleep(10000);
    assert_true(count(f, state) >= want);
}

static void test_a_sweep_of_tasks(void **state)
{
    fixture *f = *state;
    char *ids = submit(f, "sweep", sweep);
    uint64_t version = UINT64_MAX;
    mrd__buf changes = {0};
    assert_true(mrd__tasks_changes(f->results, &version, 0, &changes));
    assert_int_equal(version, 6);
    assert_non_null(strstr(changes.data, "\"state\":\"queued\""));
    mrd__buf_clear(&changes);
    OK(mrd__tasks_start(f->results, 2, NULL));
    wait_for(f, "done", 6);
    assert_true(mrd__tasks_changes(f->results, &version, 0, &changes));
    assert_non_null(strstr(changes.data, "\"state\":\"done\",\"progress\":1"));
    mrd__tasks_stop(f->results);
    assert_false(mrd__tasks_changes(f->results, &version, 1000, &changes));
    assert_int_equal(kit_number(f, "SELECT count(DISTINCT task_id) FROM comm_eval_results r JOIN "
                                   "tasks t ON t.id = r.task_id AND t.result_id = r.id"),
                     6);
    for (int64_t id = 1; id <= 6; id++) {
        char path[512];
        mrd__buf records = {0};
        OK(mrd__results_trace_path(f->results, id, path, sizeof path, NULL));
        mrd__records_name(mrd__str_of(path), &records);
        assert_true(mrd__file_exists(records.data));
        mrd__buf_reset(&records);
    }
    uint64_t removed = 0;
    OK(mrd__results_remove_experiment(f->results, "sweep", &removed, NULL));
    assert_int_equal(removed, 6);
    assert_int_equal(kit_number(f, "SELECT count(*) FROM tasks"), 0);
    mrd__buf_reset(&changes);
    mrd__free(ids);
}

static void test_bad_specs_queue_nothing(void **state)
{
    fixture *f = *state;
    static const char bad[] = "{\"primitive\":\"allreduce\",\"algorithm\":[\"ring\",\"bruck\"],"
                              "\"topology\":\"ring-4\",\"msg_size_bytes\":8}";
    mrd__buf ids = {0};
    mrd_error error = {0};
    assert_int_equal(mrd__tasks_submit(f->results, "x", 0, bad, sizeof bad - 1, &ids, &error),
                     MRD_ERR_ARGUMENT);
    assert_string_equal(error.code, "bad_spec");
    assert_int_equal(kit_number(f, "SELECT count(*) FROM tasks"), 0);
    assert_int_equal(kit_number(f, "SELECT count(*) FROM experiments"), 0);
    assert_int_equal(mrd__tasks_submit(f->results, NULL, 9, sweep, strlen(sweep), &ids, &error),
                     MRD_ERR_NOT_FOUND);
    mrd__buf_reset(&ids);
}

static void test_cancel(void **state)
{
    fixture *f = *state;
    mrd_error error = {0};
    char *ids = submit(f, NULL, endless), running[MRD__TASK_ID], queued[MRD__TASK_ID];
    snprintf(running, sizeof running, "%.36s", ids + 1);
    snprintf(queued, sizeof queued, "%.36s", ids + 40);
    OK(mrd__tasks_start(f->results, 1, NULL));
    wait_for(f, "running", 1);
    OK(mrd__tasks_cancel(f->results, queued, NULL));
    OK(mrd__tasks_cancel(f->results, running, NULL));
    wait_for(f, "cancelled", 2);
    assert_int_equal(mrd__tasks_cancel(f->results, queued, &error), MRD_ERR_STATE);
    assert_string_equal(error.code, "ended");
    assert_int_equal(mrd__tasks_cancel(f->results, "no", &error), MRD_ERR_NOT_FOUND);
    mrd__tasks_stop(f->results);
    assert_int_equal(kit_number(f, "SELECT count(*) FROM comm_eval_results"), 0);
    mrd__free(ids);
}

/* A run that is over before it hears of its cancelling leaves nothing either. */
static void test_late_cancel(void **state)
{
    fixture *f = *state;
    char *ids = submit(f, NULL, sweep), id[MRD__TASK_ID], owner[MRD__OWNER], sql[256];
    snprintf(id, sizeof id, "%.36s", ids + 1);
    mrd__owner_text(owner);
    snprintf(sql, sizeof sql,
             "UPDATE tasks SET state = 'running', cancel = 1, owner = '%s' WHERE id = '%s' "
             "RETURNING 1",
             owner, id);
    assert_int_equal(kit_number(f, sql), 1);
    static const char spec[] = "{\"primitive\":\"allreduce\",\"algorithm\":\"ring\","
                               "\"topology\":\"ring-4\",\"msg_size_bytes\":1024}";
    mrd__run_request request = {.spec = spec,
                                .spec_size = strlen(spec),
                                .results = f->results,
                                .experiment = "late",
                                .task_id = id};
    mrd__buf out = {0};
    mrd_error error = {0};
    assert_int_equal(mrd__results_run(&request, MRD_FORMAT_CSV, &out, NULL, &error),
                     MRD_ERR_CANCELLED);
    assert_string_equal(error.code, "task_cancelled");
    assert_int_equal(kit_number(f, "SELECT count(*) FROM comm_eval_results"), 0);
    mrd__buf_reset(&out);
    mrd__free(ids);
}

/* Stopped in order, a task goes back and no attempt is used up. */
static void test_stop_requeues(void **state)
{
    fixture *f = *state;
    char *ids = submit(f, NULL, endless);
    OK(mrd__tasks_start(f->results, 1, NULL));
    wait_for(f, "running", 1);
    mrd__tasks_stop(f->results);
    assert_int_equal(count(f, "queued"), 2);
    assert_int_equal(kit_number(f, "SELECT max(attempts) FROM tasks"), 0);
    mrd__free(ids);
}

/* What the child of the next test does. It is no fork: see run in kit.c. */
static int run_tasks(const char *folder, const char *url)
{
    mrd__results *own = NULL;
    if (mrd__results_open(folder, url, &own, NULL) != MRD_OK) return 1;
    if (mrd__tasks_start(own, 1, NULL) != MRD_OK) return 1;
    for (;;)
        pause();
}

/* A child runs tasks until it is killed; what it finished stays, the rest is done after. */
static void test_killed_in_a_sweep(void **state)
{
    fixture *f = *state;
    char *first = submit(f, "s", sweep), *second = submit(f, "s", slow);
    char *argv[] = {(char *)"tasks", f->folder, (char *)kit_url, NULL};
    pid_t child;
    assert_int_equal(posix_spawn(&child, "/proc/self/exe", NULL, NULL, argv, environ), 0);
    wait_for(f, "done", 6);
    wait_for(f, "running", 1);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(kit_number(f, "SELECT count(*) FROM comm_eval_results"), 6);
    OK(mrd__db_script(f->results->db, /* the slow ones would take the test's time */
                      "UPDATE tasks SET spec = (SELECT spec FROM tasks WHERE seq = 1) "
                      "WHERE seq > 6",
                      NULL));
    kit_reopen(f);
    OK(mrd__tasks_start(f->results, 2, NULL));
    wait_for(f, "done", 8);
    mrd__tasks_stop(f->results);
    assert_int_equal(kit_number(f, "SELECT count(*) FROM comm_eval_results"), 8);
    assert_int_equal(kit_number(f, "SELECT count(DISTINCT task_id) FROM comm_eval_results"), 8);
    assert_int_equal(kit_number(f, "SELECT max(attempts) FROM tasks"), 2);
    mrd__free(first);
    mrd__free(second);
}

/* A task that takes its process with it is not tried for ever. */
static void test_attempts_end(void **state)
{
    fixture *f = *state;
    char *ids = submit(f, NULL, slow), owner[MRD__OWNER], sql[256];
    mrd__owner_text(owner);
    snprintf(sql, sizeof sql,
             "UPDATE tasks SET state = 'running', heartbeat = 0, attempts = %d, "
             "owner = '7fffffff-1-%s' WHERE seq = 1",
             MRD__TASKS_MAX_ATTEMPTS, strrchr(owner, '-') + 1);
    OK(mrd__db_script(f->results->db, sql, NULL));
    OK(mrd__db_script(f->results->db, "UPDATE tasks SET state = 'cancelled' WHERE seq = 2", NULL));
    OK(mrd__tasks_start(f->results, 1, NULL));
    assert_int_equal(count(f, "failed"), 1);
    mrd__tasks_stop(f->results);
    mrd__free(ids);
}

int main(int argc, char **argv)
{
    if (argc > 1) return run_tasks(argv[1], argc > 2 ? argv[2] : NULL);
    const struct CMUnitTest tests[] = {
        T(test_a_sweep_of_tasks), T(test_bad_specs_queue_nothing), T(test_cancel),
        T(test_late_cancel),      T(test_stop_requeues),           T(test_killed_in_a_sweep),
        T(test_attempts_end),
    };
    return kit_run_on_both(tests, sizeof tests / sizeof *tests);
}
