/* The thread sanitizer's own test, built for its suite alone: libduckdb is not instrumented, so
 * that a report about our callbacks depends on options and on how the library starts its threads. A
 * planted race inside a callback must be reported, the same callback with an atomic must not. The
 * scan runs in a child, since a report ends the process with a code of its own. */
#include "base/error.h"
#include "duck/duck.h"

#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define REPORTED 66 /* exit code of a child with a report */
#define ROWS 400000 /* of row groups small enough for both threads to have many */

static unsigned long plain_rows;
static atomic_ulong atomic_rows;

static void planted_take(void *ctx, const mrd__duck_chunk *chunk)
{
    (void)ctx;
    plain_rows += chunk->rows; /* on several threads at once: the race */
}

static void atomic_take(void *ctx, const mrd__duck_chunk *chunk)
{
    (void)ctx;
    atomic_fetch_add(&atomic_rows, chunk->rows);
}

/* What a child does; returns its exit code, where the sanitizer lets it. */
static int scan(const char *how)
{
    char path[] = "/tmp/mrd-race-XXXXXX", sql[256], from[80];
    mrd_error error = {0};
    mrd__duck *duck = NULL;
    mrd__duck_taker taker = {.take = strcmp(how, "plain") == 0 ? planted_take : atomic_take};
    int fd = mkstemp(path);
    if (fd < 0) return 3;
    close(fd);
    snprintf(sql, sizeof sql,
             "COPY (SELECT i FROM range(%d) t(i)) TO '%s' (FORMAT parquet, ROW_GROUP_SIZE 4096)",
             ROWS, path);
    snprintf(from, sizeof from, "read_parquet('%s')", path);
    mrd_status status = mrd__duck_open(&duck, 2, &error);
    if (status == MRD_OK) status = mrd__duck_run(duck, sql, &error);
    if (status == MRD_OK) status = mrd__duck_scan(duck, "i", from, &taker, &error);
    mrd__duck_close(&duck);
    unlink(path);
    if (status != MRD_OK) fprintf(stderr, "%s\n", error.message);
    return status == MRD_OK ? 0 : 4;
}

/* Runs this program again; returns its exit code and what it wrote to stderr. */
static int run_child(const char *how, char *text, size_t size)
{
    char *argv[] = {(char *)"/proc/self/exe", (char *)how, NULL};
    char *env[] = {(char *)"TSAN_OPTIONS=ignore_noninstrumented_modules=1:exitcode=66", NULL};
    int ends[2], status = 0;
    pid_t child;
    posix_spawn_file_actions_t actions;
    assert_int_equal(pipe(ends), 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    assert_int_equal(posix_spawn(&child, argv[0], &actions, NULL, argv, env), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    size_t used = 0;
    ssize_t got;
    char part[4096];
    while ((got = read(ends[0], part, sizeof part)) > 0) {
        size_t keep = size - 1 - used < (size_t)got ? size - 1 - used : (size_t)got;
        memcpy(text + used, part, keep);
        used += keep;
    }
    text[used] = 0;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void a_race_in_a_callback_is_reported(void **state)
{
    static char text[65536];
    (void)state;
    assert_int_equal(run_child("plain", text, sizeof text), REPORTED);
    assert_non_null(strstr(text, "data race"));
    assert_non_null(strstr(text, "planted_take"));
}

static void a_callback_without_one_is_quiet(void **state)
{
    static char text[65536];
    (void)state;
    int code = run_child("atomic", text, sizeof text);
    assert_string_equal(text, "");
    assert_int_equal(code, 0);
}

int main(int argc, char **argv)
{
    if (argc > 1) return scan(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_race_in_a_callback_is_reported),
        cmocka_unit_test(a_callback_without_one_is_quiet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
