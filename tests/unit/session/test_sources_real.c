/* Sources and connections against real processes. No test waits for a time: each waits for what
 * must come, and the runner's time limit is the end. */
#include "base/os.h"
#include "base/unit.h"
#include "session/sources/connection.h"
#include "session/sources/host.h"
#include "session/sources/tree.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Connections ---- */

typedef struct seen {
    mrd__buf lines, late;
    mrd__connection_end end;
    uint64_t ends, greatest;
    bool line_after_end;
} seen;

static void on_line(void *ctx, mrd__connection *connection, const mrd__line *line, uint64_t now_ns)
{
    (void)now_ns;
    seen *s = ctx;
    if (line->size > s->greatest) s->greatest = line->size;
    mrd__buf *out = connection->over ? &s->late : &s->lines;
    mrd__buf_add(out, line->bytes.data, line->bytes.size < 64 ? line->bytes.size : 64);
    mrd__buf_char(out, line->ended ? '|' : '$');
    s->line_after_end = s->line_after_end || (s->ends > 0 && !connection->over);
}

static void on_end(void *ctx, mrd__connection *connection, const mrd__connection_end *end,
                   uint64_t now_ns)
{
    (void)connection;
    (void)now_ns;
    seen *s = ctx;
    s->end = *end;
    s->ends++;
}

static void start(mrd__connection *connection, seen *s, const char *command)
{
    mrd__connection_taker taker = {.ctx = s, .line = on_line, .end = on_end};
    *s = (seen){0};
    assert_int_equal(mrd__connection_start(connection, command, 0, 1, 1 << 20, &taker, NULL),
                     MRD_OK);
}

static void run(mrd__connection *connection)
{
    while (!connection->over) {
        struct pollfd watch[] = {{.fd = connection->child.out, .events = POLLIN},
                                 {.fd = connection->child.err, .events = POLLIN},
                                 {.fd = connection->child.pidfd, .events = POLLIN}};
        poll(watch, 3, 20);
        mrd__connection_step(connection, mrd__monotonic_ns());
    }
}

static void done(mrd__connection *connection, seen *s)
{
    assert_int_equal(s->ends, 1);
    assert_false(s->line_after_end);
    mrd__connection_close(connection);
    mrd__buf_reset(&s->lines);
    mrd__buf_reset(&s->late);
}

static void test_last_line_before_the_end(void **state)
{
    (void)state;
    mrd__connection connection;
    seen s;
    start(&connection, &s, "echo one; echo trouble >&2; printf two; exit 7");
    run(&connection);
    assert_string_equal(s.lines.data, "one|two$");
    assert_int_equal(WEXITSTATUS(s.end.wait_status), 7);
    assert_true(s.end.reaped);
    assert_false(s.end.held);
    assert_string_equal(connection.diagnostics.data, "trouble\n");
    done(&connection, &s);
}

static void test_all_bytes_arrive(void **state)
{
    (void)state;
    mrd__connection connection;
    seen s;
    start(&connection, &s, "head -c 3000000 /dev/zero | tr '\\0' 'x'; echo; echo end");
    run(&connection);
    assert_int_equal(s.greatest, 3000000);
    assert_int_equal(connection.lines.lines, 2);
    assert_int_equal(connection.lines.bytes, 3000005);
    done(&connection, &s);
}

static void test_crash_is_told(void **state)
{
    (void)state;
    mrd__connection connection;
    seen s;
    start(&connection, &s, "printf 'whole\\ncut'; kill -9 $$");
    run(&connection);
    assert_string_equal(s.lines.data, "whole|cut$");
    assert_true(WIFSIGNALED(s.end.wait_status));
    assert_int_equal(WTERMSIG(s.end.wait_status), SIGKILL);
    done(&connection, &s);
}

/* Deaf to SIGTERM: SIGKILL after the waiting time, which the given times make pass at once. */
static void test_hang_is_killed(void **state)
{
    (void)state;
    mrd__connection connection;
    seen s;
    start(&connection, &s, "trap '' TERM; echo ready; while :; do sleep 1; done");
    while (s.lines.size == 0)
        mrd__connection_step(&connection, 1);
    mrd__connection_stop(&connection, 1);
    mrd__connection_step(&connection, 2);
    assert_false(connection.killed);
    while (!connection.over)
        mrd__connection_step(&connection, 2 + MRD__DRAIN_NS);
    assert_true(connection.killed);
    assert_int_equal(WTERMSIG(s.end.wait_status), SIGKILL);
    done(&connection, &s);
}

/* A process that is left behind holds the pipe: the end does not wait, its lines are late. */
static void test_late_lines_are_marked(void **state)
{
    (void)state;
    mrd__connection connection;
    seen s;
    start(&connection, &s, "echo mine; (trap '' TERM; sleep 0.3; echo late) & exit 0");
    while (!connection.reaped)
        mrd__connection_step(&connection, 1);
    mrd__connection_step(&connection, 2 + MRD__DRAIN_NS);
    assert_true(connection.over);
    assert_true(s.end.held);
    while (connection.child.out >= 0)
        mrd__connection_step(&connection, 3 + MRD__DRAIN_NS);
    assert_string_equal(s.lines.data, "mine|");
    assert_string_equal(s.late.data, "late|");
    done(&connection, &s);
}

static void test_stderr_is_bounded(void **state)
{
    (void)state;
    mrd__connection connection;
    seen s;
    start(&connection, &s, "head -c 300000 /dev/zero >&2; echo end");
    run(&connection);
    assert_int_equal(connection.diagnostic_bytes, 300000);
    assert_int_equal(connection.diagnostics.size, MRD__DIAGNOSTICS_MAX);
    assert_string_equal(s.lines.data, "end|");
    done(&connection, &s);
}

static void test_program_that_is_not_there(void **state)
{
    (void)state;
    mrd__child child;
    char name[] = "/no/such/program";
    char *argv[] = {name, NULL};
    mrd_error error = {0};
    assert_int_equal(mrd__spawn_program(&child, argv, &error), MRD_ERR_IO);
    assert_string_equal(error.code, "no_program");
    assert_int_equal(child.pid, 0);
}

/* ---- Linux ---- */

typedef struct readings {
    mrd__buf text; /* "source kind payload" a line */
    uint64_t count;
} readings;

static void on_reading(void *ctx, const mrd__reading *reading)
{
    readings *r = ctx;
    r->count++;
    mrd__buf_printf(&r->text, "%s %s %llu %.*s\n", reading->source, reading->kind,
                    (unsigned long long)reading->target, (int)reading->payload.size,
                    reading->payload.data);
}

static bool holds(const readings *r, const char *text)
{
    return r->text.size > 0 && strstr(r->text.data, text) != NULL;
}

static void read_tree(mrd__tree *tree, readings *r)
{
    mrd__reading_sink sink = {r, on_reading};
    mrd__buf_clear(&r->text);
    tree->looked_ns = 0; /* look at every reading */
    mrd__tree_read(tree, mrd__monotonic_ns(), &sink);
}

static void test_tree_reads_itself(void **state)
{
    (void)state;
    mrd__tree tree;
    readings r = {0};
    char source[64];
    assert_int_equal(mrd__tree_open(&tree, getpid(), NULL), MRD_OK);
    read_tree(&tree, &r);
    mrd__buf name = {0};
    mrd__buf_printf(&name, "linux.proc.%d proc.mem 1 {", (int)getpid());
    (void)source;
    assert_true(holds(&r, name.data));
    assert_true(holds(&r, "\"rssBytes\":"));
    assert_true(holds(&r, "proc.io 1 {\"rcharBytes\":"));
    assert_true(holds(&r, "proc.pss 1 {\"pssBytes\":"));
    assert_true(holds(&r, "linux.tree proc.cpu 1 {\"cpuNs\":"));
    mrd__buf_reset(&name);
    mrd__buf_reset(&r.text);
    mrd__tree_close(&tree);
}

/* A child is found; as a zombie it has CPU and no memory; waited for, it is gone. */
static void test_tree_follows_children(void **state)
{
    (void)state;
    int hold[2];
    assert_int_equal(pipe(hold), 0);
    pid_t child = fork();
    if (child == 0) {
        char byte;
        close(hold[1]);
        _exit(read(hold[0], &byte, 1) == 0 ? 0 : 1);
    }
    mrd__tree tree;
    readings r = {0};
    assert_int_equal(mrd__tree_open(&tree, getpid(), NULL), MRD_OK);
    read_tree(&tree, &r);
    mrd__buf name = {0};
    mrd__buf_printf(&name, "linux.proc.%d proc.mem 1 {\"virtualBytes\":", (int)child);
    assert_true(holds(&r, name.data));
    assert_int_equal(mrd__tree_running(&tree), 2);
    close(hold[1]);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    read_tree(&tree, &r);
    mrd__buf_clear(&name);
    mrd__buf_printf(&name, "linux.proc.%d proc.mem 1 {}", (int)child);
    assert_true(holds(&r, name.data));
    int status;
    waitpid(child, &status, 0);
    read_tree(&tree, &r);
    mrd__buf_clear(&name);
    mrd__buf_printf(&name, "linux.proc.%d proc.state 1 {\"state\":\"gone\"", (int)child);
    assert_true(holds(&r, name.data));
    assert_true(holds(&r, "linux.tree proc.cpu 1 {\"cpuNs\":null"));
    assert_int_equal(mrd__tree_running(&tree), 1);
    close(hold[0]);
    mrd__buf_reset(&name);
    mrd__buf_reset(&r.text);
    mrd__tree_close(&tree);
}

static void test_no_such_process(void **state)
{
    (void)state;
    mrd__tree tree;
    mrd_error error = {0};
    pid_t child = fork();
    if (child == 0) _exit(0);
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(mrd__tree_open(&tree, child, &error), MRD_ERR_NOT_FOUND);
    assert_string_equal(error.code, "no_process");
}

static void test_host(void **state)
{
    (void)state;
    mrd__host host;
    readings r = {0};
    mrd__reading_sink sink = {&r, on_reading};
    mrd__host_open(&host);
    mrd__host_read(&host, &sink);
    assert_true(holds(&r, "linux.host host.cpu 1 {\"userNs\":"));
    assert_true(holds(&r, "\"nCpu\":"));
    assert_true(holds(&r, "linux.host host.mem 1 {\"totalBytes\":"));
    assert_true(holds(&r, "linux.net.lo net.iface 1 {\"rxBytes\":"));
    assert_true(holds(&r, "linux.psi.cpu psi 1 {"));
    assert_true(holds(&r, "linux.thermal.0 thermal 1 {"));
    bool told = holds(&r, "linux.thermal.0 thermal 1 {\"unsupported\"");
    uint64_t before = r.count;
    mrd__buf_clear(&r.text);
    mrd__host_read(&host, &sink);
    assert_true(r.count > before);
    /* What is not there is told once. */
    if (told) assert_false(holds(&r, "linux.thermal.0"));
    mrd__buf_reset(&r.text);
    mrd__host_close(&host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_last_line_before_the_end),
        cmocka_unit_test(test_all_bytes_arrive),
        cmocka_unit_test(test_crash_is_told),
        cmocka_unit_test(test_hang_is_killed),
        cmocka_unit_test(test_late_lines_are_marked),
        cmocka_unit_test(test_stderr_is_bounded),
        cmocka_unit_test(test_program_that_is_not_there),
        cmocka_unit_test(test_tree_reads_itself),
        cmocka_unit_test(test_tree_follows_children),
        cmocka_unit_test(test_no_such_process),
        cmocka_unit_test(test_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
