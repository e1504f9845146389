/* A folder of the fuzzer's own: nothing is left behind, also where the fuzzer ends the process. */
#ifndef MRD_FUZZ_OWN_FOLDER_H
#define MRD_FUZZ_OWN_FOLDER_H

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static char own_folder[] = "/tmp/mrd-fuzz-XXXXXX";

static inline void remove_tree(char *path)
{
    char *argv[] = {(char *)"rm", (char *)"-rf", path, NULL};
    /* fork would run DuckDB's handlers: more locks at once than the thread sanitizer follows. */
    pid_t child;
    if (posix_spawnp(&child, argv[0], NULL, NULL, argv, environ) == 0) waitpid(child, NULL, 0);
}

static inline void remove_own_folder(void)
{
    remove_tree(own_folder);
}

static inline void make_own_folder(void)
{
    if (mkdtemp(own_folder) == NULL || atexit(remove_own_folder) != 0) abort();
}

#endif
