#include "session/sources/spawn.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int pidfd_open(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* What this program ignores or blocks is its own affair. */
static void set_attributes(posix_spawnattr_t *attributes, bool own_group)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigemptyset(&all);
    sigaddset(&all, SIGPIPE);
    sigaddset(&all, SIGINT);
    sigaddset(&all, SIGTERM);
    posix_spawnattr_init(attributes);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &all);
    posix_spawnattr_setpgroup(attributes, 0);
    int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    if (own_group) flags |= POSIX_SPAWN_SETPGROUP;
    posix_spawnattr_setflags(attributes, (short)flags);
}

/* After a start that worked: from here on the pid is ours until it is reaped. */
static mrd_status adopt(mrd__child *child, pid_t pid, bool group, mrd_error *error)
{
    child->pid = pid;
    child->pidfd = pidfd_open(pid);
    if (child->pidfd >= 0) return MRD_OK;
    mrd_status status = mrd__fail_errno(error, "pidfd_open", "cannot watch the child");
    mrd__child_close(child, group);
    return status;
}

static void close_pair(int pair[2])
{
    for (int i = 0; i < 2; i++) {
        if (pair[i] >= 0) close(pair[i]);
        pair[i] = -1;
    }
}

static int start_shell(pid_t *pid, const char *command, const int out[2], const int err[2])
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
    set_attributes(&attributes, true);
    char shell[] = "/bin/sh", flag[] = "-c";
    char *text = (char *)(uintptr_t)command; /* execve does not write to it */
    char *argv[] = {shell, flag, text, NULL};
    int failed = posix_spawn(pid, shell, &actions, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

mrd_status mrd__spawn_shell(mrd__child *child, const char *command, mrd_error *error)
{
    *child = (mrd__child){.pidfd = -1, .out = -1, .err = -1};
    int out[2] = {-1, -1}, err[2] = {-1, -1};
    if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) {
        mrd_status status = mrd__fail_errno(error, "pipe", "cannot make a pipe for the adapter");
        close_pair(out);
        return status;
    }
    pid_t pid = 0;
    int failed = start_shell(&pid, command, out, err);
    if (failed != 0) {
        close_pair(out);
        close_pair(err);
        return mrd__fail(error, MRD_ERR_IO, "no_shell", "cannot start /bin/sh for \"%s\": %s",
                         command, strerror(failed));
    }
    close(out[1]);
    close(err[1]);
    child->out = out[0];
    child->err = err[0];
    fcntl(child->out, F_SETFL, O_NONBLOCK);
    fcntl(child->err, F_SETFL, O_NONBLOCK);
    return adopt(child, pid, true, error);
}

mrd_status mrd__spawn_program(mrd__child *child, char *const argv[], mrd_error *error)
{
    *child = (mrd__child){.pidfd = -1, .out = -1, .err = -1};
    posix_spawnattr_t attributes;
    set_attributes(&attributes, false);
    pid_t pid = 0;
    int failed = posix_spawnp(&pid, argv[0], NULL, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    if (failed != 0)
        return mrd__fail(error, MRD_ERR_IO, "no_program", "cannot start \"%s\": %s", argv[0],
                         strerror(failed));
    return adopt(child, pid, false, error);
}

bool mrd__child_ended(mrd__child *child, int *status)
{
    if (child->pid == 0) return true;
    pid_t reaped;
    do {
        reaped = waitpid(child->pid, status, WNOHANG);
    } while (reaped < 0 && errno == EINTR);
    if (reaped != child->pid) return false;
    child->pid = 0;
    return true;
}

void mrd__child_signal(const mrd__child *child, int signal, bool group)
{
    if (child->pid > 0) kill(group ? -child->pid : child->pid, signal);
}

void mrd__child_close(mrd__child *child, bool group)
{
    if (child->pid > 0) {
        mrd__child_signal(child, SIGKILL, group);
        int status;
        while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
            continue;
        child->pid = 0;
    }
    int *fds[] = {&child->pidfd, &child->out, &child->err};
    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++) {
        if (*fds[i] >= 0) close(*fds[i]);
        *fds[i] = -1;
    }
}
