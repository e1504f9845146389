/* `serve` and `open` in the foreground: the address line, the browser, signals. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "server/context.h"
#include "server/server.h"

extern char **environ;

/* What opening the store repaired or missed; who started the server may read it. */
static void tell_report(const mrd_results *results)
{
    const char *report = results ? mrd_results_report(results) : "";
    if (report[0] && write(STDERR_FILENO, report, strlen(report)) < 0) errno = 0;
}

static mrd_status print_line(const char *text, mrd_error *error)
{
    size_t size = strlen(text);
    while (size > 0) {
        ssize_t wrote = write(STDOUT_FILENO, text, size);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) return mrd__fail_errno(error, "stdout", "cannot write");
        text += wrote;
        size -= (size_t)wrote;
    }
    return MRD_OK;
}

/* The desktop's opener, away from our terminal: where it knows no browser it says so in ten lines.
 * Without one the printed address is enough. */
static void start_browser(const char *url)
{
    char *argv[] = {(char *)"xdg-open", (char *)url, NULL};
    pid_t child;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
    if (posix_spawnp(&child, "xdg-open", &actions, NULL, argv, environ) == 0) {
        int status;
        waitpid(child, &status, WNOHANG);
    }
    posix_spawn_file_actions_destroy(&actions);
}

mrd_status mrd__server_run(const mrd__server_options *options, mrd_error *error)
{
    sigset_t stop, before;
    char url[256], line[320];
    uint16_t port;
    int which;
    mrd__server *server = NULL;
    sigemptyset(&stop);
    sigaddset(&stop, SIGINT);
    sigaddset(&stop, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &stop, &before); /* before any thread: all inherit it */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is a failed write, told as one */
    mrd_status status = mrd__server_start(options, &server, &port, error);
    if (status == MRD_OK) {
        tell_report(mrd__server_context_of(server)->results);
        snprintf(url, sizeof url, "http://%s:%u", mrd__server_context_of(server)->address, port);
        snprintf(line, sizeof line, "listening on %s\n", url);
        status = print_line(line, error);
    }
    if (status == MRD_OK) {
        if (options->open_browser) start_browser(url);
        while (sigwait(&stop, &which) == EINTR)
            ;
    }
    mrd__server_stop(&server);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}
