/* Child processes of a recording: adapters through the shell, targets directly. Linux only. */
#ifndef MRD_SESSION_SOURCES_SPAWN_H
#define MRD_SESSION_SOURCES_SPAWN_H

#include "meridian.h"

#include <sys/types.h>

typedef struct mrd__child {
    pid_t pid;    /* 0: none */
    int pidfd;    /* readable when it has ended; -1 */
    int out, err; /* our ends of its pipes, non-blocking; -1 where it has ours */
} mrd__child;

/* Start `/bin/sh -c command` in a process group of its own, input from nowhere, output and errors
 * in pipes. The caller closes and reaps (mrd__child_close). Codes no_shell. Any thread. */
MRD_MUST_CHECK mrd_status mrd__spawn_shell(mrd__child *child, const char *command,
                                           mrd_error *error);
/* Start argv[0] (looked up in PATH) with argv, ended by NULL, with our standard streams and in our
 * process group, as a shell would: keys that interrupt reach both. Code no_program. */
MRD_MUST_CHECK mrd_status mrd__spawn_program(mrd__child *child, char *const argv[],
                                             mrd_error *error);
/* Whether it has ended; *status then is what waitpid gives. Reaps it: the pid is free after. */
bool mrd__child_ended(mrd__child *child, int *status);
/* A signal to its process group, or to it alone; nothing where it was reaped. */
void mrd__child_signal(const mrd__child *child, int signal, bool group);
/* Closes descriptors; a child that runs is killed and reaped. Accepts a closed one. */
void mrd__child_close(mrd__child *child, bool group);

#endif
