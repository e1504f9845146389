/* What `query` and its prompt share. */
#ifndef MRD_CLI_QUERY_H
#define MRD_CLI_QUERY_H

#include "cli/cli.h"

typedef struct mrd__asking {
    mrd_trace *trace;
    int format; /* index of table|csv|json|arrow|parquet */
    uint64_t repeat;
    mrd_query_options options;
} mrd__asking;

/* Runs one statement and prints its answer; errors are said. Returns the exit code. */
int mrd__query_run(const mrd__asking *asking, const char *sql, size_t size);
/* True when the text ends with a semicolon and holds a statement. */
bool mrd__query_is_whole(const char *sql, size_t size);
/* True when anything but white space and semicolons stands in it. */
bool mrd__query_has_words(const char *sql, size_t size);
/* Statements from a terminal, with history and completion of names: query_prompt.c. */
int mrd__query_prompt(const mrd__asking *asking);

#endif
