#include "results/kit.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os.h"

const char *kit_url;
static char url_text[256];
static char cluster[64];

int kit_setup(void **state)
{
    fixture *f = test_calloc(1, sizeof *f);
    snprintf(f->folder, sizeof f->folder, "/tmp/mrd-results-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->trace, sizeof f->trace, "%s/foreign.parquet", f->folder);
    OK(mrd__file_write_atomic(f->trace, "PAR1 any bytes", 14, NULL));
    mrd_error error = {0};
    if (mrd__results_open(f->folder, kit_url, &f->results, &error) != MRD_OK)
        fail_msg("%s", error.message);
    *state = f;
    return 0;
}

static int run(char **argv)
{
    int status = -1;
    pid_t child;
    /* fork would run DuckDB's handlers: more locks at once than the thread sanitizer follows. */
    if (posix_spawnp(&child, argv[0], NULL, NULL, argv, environ) != 0) return -1;
    if (waitpid(child, &status, 0) != child) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int kit_teardown(void **state)
{
    fixture *f = *state;
    char *argv[] = {(char *)"rm", (char *)"-rf", f->folder, NULL};
    if (kit_url)
        OK(mrd__db_script(f->results->db,
                          "DROP TABLE comm_eval_results, tasks, experiments, meta, meridian_schema",
                          NULL));
    mrd__results_close(&f->results);
    int result = run(argv);
    test_free(f);
    return result;
}

void kit_reopen(fixture *f)
{
    mrd_error error = {0};
    mrd__results_close(&f->results);
    if (mrd__results_open(f->folder, kit_url, &f->results, &error) != MRD_OK)
        fail_msg("%s", error.message);
}

static void cluster_stop(void)
{
    char *argv[] = {(char *)MRD_SOURCE_DIR "/tools/postgres.sh", (char *)"stop", cluster, NULL};
    run(argv);
}

/* The URL as the script prints it, or NULL. */
static const char *cluster_start(void)
{
    int ends[2], status = 0;
    snprintf(cluster, sizeof cluster, "/tmp/mrd-pg-%ld", (long)getpid());
    if (pipe2(ends, O_CLOEXEC) != 0) return NULL;
    char *argv[] = {(char *)MRD_SOURCE_DIR "/tools/postgres.sh", (char *)"start", cluster, NULL};
    pid_t child = -1;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    int failed = posix_spawn(&child, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    ssize_t got = read(ends[0], url_text, sizeof url_text - 1);
    close(ends[0]);
    if (failed || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
        WEXITSTATUS(status) != 0 || got <= 0) {
        print_message("[  SKIPPED ] PostgreSQL: tools/postgres.sh start ended with %d\n",
                      WIFEXITED(status) ? WEXITSTATUS(status) : -1);
        return NULL;
    }
    url_text[got] = '\0';
    url_text[strcspn(url_text, "\n")] = '\0';
    return url_text;
}

int kit_run_on_both(const struct CMUnitTest *tests, size_t count)
{
    print_message("SQLite\n");
    int failed = _cmocka_run_group_tests("sqlite", tests, count, NULL, NULL);
    kit_url = cluster_start();
    if (!kit_url) return failed;
    print_message("PostgreSQL\n");
    failed += _cmocka_run_group_tests("postgresql", tests, count, NULL, NULL);
    cluster_stop();
    return failed;
}

int64_t kit_add(fixture *f, const char *experiment, const char *algorithm, const char *size)
{
    mrd__field fields[] = {{"primitive", MRD__STR("all_reduce")},
                           {"algorithm", mrd__str_of(algorithm)},
                           {"msg_size_bytes", mrd__str_of(size)},
                           {"topology_name", MRD__STR("Torus_8")},
                           {"total_latency_ns", MRD__STR("1.5")}};
    int64_t id = 0;
    mrd_error error = {0};
    if (mrd__results_add(f->results, f->trace, experiment, fields, 5, false, &id, &error) != MRD_OK)
        fail_msg("%s", error.message);
    assert_true(id > 0);
    return id;
}

char *kit_show(fixture *f, int64_t id)
{
    mrd__buf out = {0};
    mrd_sink sink = mrd__buf_sink(&out);
    OK(mrd__results_show(f->results, id, MRD_FORMAT_JSON, &sink, NULL));
    return out.data;
}

int64_t kit_number(fixture *f, const char *sql)
{
    int64_t out;
    bool found;
    mrd_error error = {0};
    if (mrd__db_int(f->results->db, sql, NULL, 0, &out, &found, &error) != MRD_OK)
        fail_msg("%s: %s", sql, error.message);
    return out;
}
