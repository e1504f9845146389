/* The server over real sockets: checks, errors, opening, closing, stopping. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os.h"
#include "server/limits.h"
#include "server/server.h"

#define OK(x) assert_int_equal((x), MRD_OK)

static const char trace_text[] =
    "{\"traceEvents\":[{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":1,\"dur\":5,\"name\":\"a\","
    "\"args\":{\"k\":7}},{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":2,\"dur\":2,\"name\":\"b\"}]}";

typedef struct fixture {
    char folder[64], trace[96], bad[96];
    uint16_t port;
    mrd__server *server;
} fixture;

static void start(fixture *f, const mrd__server_options *options)
{
    mrd_error error = {0};
    if (mrd__server_start(options, &f->server, &f->port, &error) != MRD_OK)
        fail_msg("%s", error.message);
}

static int setup(void **state)
{
    fixture *f = test_calloc(1, sizeof *f);
    snprintf(f->folder, sizeof f->folder, "/tmp/mrd-server-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->trace, sizeof f->trace, "%s/t.json", f->folder);
    snprintf(f->bad, sizeof f->bad, "%s/bad.json", f->folder);
    OK(mrd__file_write_atomic(f->trace, trace_text, sizeof trace_text - 1, NULL));
    OK(mrd__file_write_atomic(f->bad, "what is this", 12, NULL));
    start(f, &(mrd__server_options){.data_dir = f->folder});
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    mrd__server_stop(&f->server);
    char *argv[] = {(char *)"rm", (char *)"-rf", f->folder, NULL};
    /* fork would run DuckDB's handlers: more locks at once than the thread sanitizer follows. */
    pid_t child;
    assert_int_equal(posix_spawnp(&child, argv[0], NULL, NULL, argv, environ), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    test_free(f);
    return 0;
}

static int dial(const fixture *f)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(f->port)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    return fd;
}

/* Send raw bytes, read to the end; returns the whole answer. */
static char *exchange(const fixture *f, const char *data, size_t size)
{
    mrd__buf answer = {0};
    char part[65536];
    ssize_t got;
    int fd = dial(f);
    while (size > 0) {
        ssize_t sent = send(fd, data, size, MSG_NOSIGNAL);
        if (sent <= 0) break; /* refused early: its answer is there to read */
        data += sent;
        size -= (size_t)sent;
    }
    while ((got = recv(fd, part, sizeof part, 0)) > 0)
        mrd__buf_add(&answer, part, (size_t)got);
    close(fd);
    mrd__buf_char(&answer, 0);
    return answer.data;
}

static char *ask_with(const fixture *f, const char *method, const char *target, const char *headers,
                      const char *body)
{
    mrd__buf request = {0};
    mrd__buf_printf(&request, "%s %s HTTP/1.1\r\nConnection: close\r\n%s", method, target, headers);
    if (body) mrd__buf_printf(&request, "Content-Length: %zu\r\n", strlen(body));
    mrd__buf_printf(&request, "\r\n%s", body ? body : "");
    char *answer = exchange(f, request.data, request.size);
    mrd__buf_reset(&request);
    return answer;
}

static char *ask(const fixture *f, const char *method, const char *target, const char *body)
{
    return ask_with(f, method, target, "Host: localhost\r\nAccept: application/json\r\n", body);
}

static int code_of(const char *answer)
{
    return strlen(answer) > 12 ? (int)strtol(answer + 9, NULL, 10) : 0;
}

static void expect_answer(char *answer, int code, const char *part)
{
    if (code_of(answer) != code || !strstr(answer, part))
        fail_msg("wanted %d with %s, got: %.600s", code, part, answer);
    mrd__free(answer);
}

static void expect(const fixture *f, const char *method, const char *target, const char *body,
                   int code, const char *part)
{
    expect_answer(ask(f, method, target, body), code, part);
}

static void wait_ready(const fixture *f, const char *target, const char *state)
{
    for (int i = 0; i < 600; i++) {
        char *answer = ask(f, "GET", target, NULL);
        bool there = strstr(answer, state) != NULL;
        mrd__free(answer);
        if (there) return;
        usleep(10000);
    }
    fail_msg("%s never became %s", target, state);
}

static void open_path(const fixture *f, const char *path, int code, const char *part)
{
    char body[256];
    snprintf(body, sizeof body, "{\"paths\":[\"%s\"]}", path);
    expect(f, "POST", "/api/traces", body, code, part);
}

static void test_checks(void **state)
{
    fixture *f = *state;
    expect(f, "GET", "/api/version", NULL, 200, "\"version\"");
    expect(f, "GET", "/", NULL, 200, "text/html");
    expect_answer(ask_with(f, "GET", "/api/version", "Host: evil.example\r\n", NULL), 403,
                  "forbidden");
    expect_answer(ask_with(f, "GET", "/api/version", "Host: 127.0.0.1:1\r\n", NULL), 200, "limits");
    expect_answer(ask_with(f, "GET", "/api/version",
                           "Host: localhost\r\nOrigin: http://evil.example\r\n", NULL),
                  403, "forbidden");
    expect_answer(
        ask_with(f, "GET", "/api/version", "Host: localhost\r\nOrigin: http://localhost\r\n", NULL),
        200, "version");
    expect_answer(ask_with(f, "GET", "/api/version", "Host: localhost\r\nOrigin: null\r\n", NULL),
                  403, "forbidden");
    expect(f, "GET", "/api/nothing", NULL, 404, "no_such_path");
    expect(f, "GET", "/../../etc/passwd", NULL, 404, "no_such_path");
    expect(f, "PUT", "/api/version", NULL, 405, "bad_method");
    expect(f, "HEAD", "/api/version", NULL, 200, "application/json");
}

static void test_trace_life(void **state)
{
    fixture *f = *state;
    expect(f, "GET", "/api/traces", NULL, 200, "{\"traces\":[]}");
    expect(f, "GET", "/api/traces/1", NULL, 404, "no_such_trace");
    open_path(f, f->trace, 202, "{\"trace_id\":1}");
    wait_ready(f, "/api/traces/1", "\"ready\"");
    expect(f, "GET", "/api/traces/1", NULL, 200, "\"origin_ns\":\"0\"");
    expect(f, "GET", "/api/traces/1/lanes", NULL, 200, "\"slices\"");
    expect(f, "GET", "/api/traces/1/window", NULL, 200, "\"mode\":\"raw\"");
    expect(f, "GET", "/api/traces/1/window?buckets=10", NULL, 200, "\"mode\":\"aggregated\"");
    expect(f, "GET", "/api/traces/1/window?buckets=0", NULL, 400, "bad_buckets");
    expect(f, "GET", "/api/traces/1/window?start_ns=5&end_ns=5", NULL, 400, "bad_window");
    expect(f, "GET", "/api/traces/1/window?colour=red", NULL, 400, "bad_parameter");
    expect(f, "GET", "/api/traces/1/window?start_ns=%zz", NULL, 400, "bad_parameter");
    expect_answer(
        ask_with(f, "GET", "/api/traces/1/window", "Host: localhost\r\nAccept: text/csv\r\n", NULL),
        406, "not_acceptable");
    expect_answer(ask_with(f, "GET", "/api/traces/1/window", "Host: localhost\r\n", NULL), 200,
                  "application/vnd.apache.arrow.stream");
    expect(f, "GET", "/api/traces/1/trace", NULL, 422, "bad_trace");
    expect(f, "GET", "/api/traces/1/slices/0/0", NULL, 200, "\"k\":7");
    expect(f, "GET", "/api/traces/1/slices/0/99", NULL, 404, "no_such_slice");
    expect(f, "GET", "/api/traces/1/slices/99/0", NULL, 404, "no_such_track");
    expect(f, "DELETE", "/api/traces/1", NULL, 200, "1");
    expect(f, "GET", "/api/traces/1/lanes", NULL, 404, "no_such_trace");
    expect(f, "DELETE", "/api/traces/1", NULL, 404, "no_such_trace");
}

static void test_bad_opens(void **state)
{
    fixture *f = *state;
    open_path(f, f->bad, 202, "trace_id");
    wait_ready(f, "/api/traces/1", "\"failed\"");
    expect(f, "GET", "/api/traces/1", NULL, 200, "unknown_format");
    expect(f, "GET", "/api/traces/1/lanes", NULL, 422, "bad_trace");
    open_path(f, "/etc/hostname", 403, "forbidden");
    open_path(f, "/tmp/../etc/hostname", 403, "forbidden");
    expect(f, "POST", "/api/traces", "{\"paths\":[]}", 400, "bad_paths");
    expect(f, "POST", "/api/traces", "{\"paths\":", 400, "bad_parameter");
    expect(f, "POST", "/api/traces", "{\"path\":[]}", 400, "bad_parameter");
    expect(f, "POST", "/api/traces", "[1]", 400, "bad_parameter");
    expect(f, "POST", "/api/traces", "{\"paths\":[\"a\\u0000b\"]}", 400, "bad_parameter");
}

static void test_results_routes(void **state)
{
    fixture *f = *state;
    expect(f, "GET", "/api/evaluation/comm-results", NULL, 200, "\"total\":0");
    expect(f, "GET", "/evaluation/comm-results?page=0", NULL, 400, "bad_parameter");
    expect(f, "GET", "/api/evaluation/comm-results/1", NULL, 404, "no_such_result");
    expect(f, "GET", "/api/evaluation/comm-results/1/trace", NULL, 404, "no_such_result");
    expect(f, "GET", "/api/evaluation/comm-results/0/trace", NULL, 404, "no_such_result");
    expect(f, "GET", "/api/evaluation/comm-results/x/trace", NULL, 404, "no_such_result");
    expect(f, "GET", "/api/evaluation/comm-results/99999999999999999999/trace", NULL, 404,
           "no_such_result");
}

static void test_limits(void **state)
{
    fixture *f = *state;
    mrd__buf line = {0};
    mrd__buf_text(&line, "/api/version?x=");
    while (line.size < 60000)
        mrd__buf_char(&line, 'a');
    expect(f, "GET", line.data, NULL, 200, "version");
    while (line.size < MRD__SERVER_REQUEST_LINE + 100)
        mrd__buf_char(&line, 'a');
    expect(f, "GET", line.data, NULL, 414, "");
    mrd__buf_reset(&line);
    char *body = mrd__alloc(MRD__SERVER_BODY + 2);
    memset(body, ' ', MRD__SERVER_BODY + 1);
    body[MRD__SERVER_BODY + 1] = 0;
    expect(f, "POST", "/api/traces", body, 413, "too_large");
    mrd__free(body);
    char *answer = exchange(f, "garbage\r\n\r\n", 11);
    assert_true(code_of(answer) == 0 || code_of(answer) >= 400);
    mrd__free(answer);
    expect(f, "GET", "/api/version", NULL, 200, "version");
}

/* An event stream tells of an opening, and stopping the server ends it. */
static void test_events_and_stop(void **state)
{
    fixture *f = *state;
    static const char request[] = "GET /api/traces/events HTTP/1.1\r\nHost: localhost\r\n\r\n";
    char part[4096];
    mrd__buf seen = {0};
    ssize_t got = 1;
    int fd = dial(f);
    assert_int_equal(send(fd, request, sizeof request - 1, 0), (int)sizeof request - 1);
    open_path(f, f->trace, 202, "trace_id");
    while (!(seen.size && strstr(seen.data, "\"state\":\"ready\"")) && got > 0) {
        got = recv(fd, part, sizeof part, 0);
        if (got > 0) mrd__buf_add(&seen, part, (size_t)got);
    }
    assert_true(got > 0);
    mrd__server_stop(&f->server);
    while (got > 0)
        got = recv(fd, part, sizeof part, 0);
    close(fd);
    mrd__buf_reset(&seen);
}

/* A server without files gets ready for the first one: it can be stopped at any point of that, and
 * what it opens meanwhile opens as ever. */
static void test_stop_while_warming(void **state)
{
    fixture *f = *state;
    static const long waits_ns[] = {0, 2000000, 10000000, 30000000, 60000000, 120000000};
    for (size_t i = 0; i < sizeof waits_ns / sizeof *waits_ns; i++) {
        mrd__server_stop(&f->server);
        assert_null(f->server);
        start(f, &(mrd__server_options){.data_dir = f->folder});
        if (i % 2 == 1) open_path(f, f->trace, 202, "trace_id");
        struct timespec wait = {0, waits_ns[i]};
        nanosleep(&wait, NULL);
    }
    mrd__server_stop(&f->server);
    start(f, &(mrd__server_options){.data_dir = f->folder});
    expect(f, "GET", "/api/version", NULL, 200, "version");
}

static void test_token(void **state)
{
    fixture *f = *state;
    mrd_error error = {0};
    uint16_t port;
    mrd__server *other = NULL;
    assert_int_equal(
        mrd__server_start(&(mrd__server_options){.listen = "0.0.0.0:0"}, &other, &port, &error),
        MRD_ERR_ARGUMENT);
    assert_string_equal(error.code, "bad_listen");
    assert_int_equal(
        mrd__server_start(&(mrd__server_options){.listen = "here"}, &other, &port, &error),
        MRD_ERR_ARGUMENT);
    mrd__server_stop(&f->server);
    start(f, &(mrd__server_options){.token = "secret-token"});
    expect(f, "GET", "/api/version", NULL, 403, "token");
    expect_answer(ask_with(f, "GET", "/api/version",
                           "Host: x\r\nAuthorization: Bearer secret-token\r\n", NULL),
                  200, "version");
    expect_answer(ask_with(f, "GET", "/api/version",
                           "Host: x\r\nAuthorization: Bearer secret-tokem\r\n", NULL),
                  403, "token");
    expect_answer(ask_with(f, "GET", "/api/version",
                           "Host: x\r\nCookie: a=b; meridian_token=secret-token\r\n", NULL),
                  200, "version");
    expect(f, "GET", "/?token=secret-token", NULL, 200, "Set-Cookie: meridian_token=secret-token");
    expect(f, "GET", "/api/evaluation/comm-results?token=wrong", NULL, 403, "token");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_checks, setup, teardown),
        cmocka_unit_test_setup_teardown(test_trace_life, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bad_opens, setup, teardown),
        cmocka_unit_test_setup_teardown(test_results_routes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_limits, setup, teardown),
        cmocka_unit_test_setup_teardown(test_events_and_stop, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stop_while_warming, setup, teardown),
        cmocka_unit_test_setup_teardown(test_token, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
