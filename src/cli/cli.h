/* The command line: one table of commands, from which parsing, --help, the man page and shell
 * completion are made. A command is one function in a file of its own.
 *
 * stdout carries the answer only; errors are one line on stderr. */
#ifndef MRD_CLI_CLI_H
#define MRD_CLI_CLI_H

#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"

enum { /* exit codes */
    MRD__EXIT_DONE = 0,
    MRD__EXIT_FAILED = 1,
    MRD__EXIT_USAGE = 2,
    MRD__EXIT_LOSSES = 3, /* done, with losses, under --strict */
};

typedef struct mrd__option {
    const char *name;  /* without dashes */
    const char *value; /* what the value is called in help; NULL: a switch; "[FILE.parquet]": may
                        * be left out, and the next argument is it only where it ends so */
    const char *help;
    bool repeats; /* may be given more than once */
    char letter;  /* one-letter form, 0 none */
} mrd__option;

struct mrd__cli;
typedef struct mrd__command {
    const char *name;     /* "info", "results add" */
    const char *operands; /* as usage shows them: "FILE..." */
    const char *summary;
    const char *details;          /* more lines for --help, may be NULL */
    int operand_min, operand_max; /* max -1: any number */
    bool opens;                   /* takes --strict and --threads: it reads traces */
    bool stores;                  /* takes --data and --store */
    const mrd__option *options;   /* own ones, ended by a NULL name; may be NULL */
    int (*run)(const struct mrd__cli *cli);
} mrd__command;

typedef struct mrd__given {
    const mrd__option *option;
    const char *value; /* "" for switches */
} mrd__given;

typedef struct mrd__cli {
    const mrd__command *command;
    MRD__VEC(const char *) operands;
    MRD__VEC(mrd__given) given; /* in the order of the command line */
} mrd__cli;

/* Ended by a NULL name. */
extern const mrd__command mrd__commands[];
/* Options of every command, of those that read traces, of those with a data folder. */
extern const mrd__option mrd__common_options[], mrd__open_options[], mrd__store_options[];

/* Runs the program; returns its exit code. Once a process. */
int mrd__cli_main(int argc, char **argv);

/* ---- Parsing (parse.c) ---- */

/* The command that argv[1] (and argv[2]) names; *words is how many. NULL: none. */
const mrd__command *mrd__cli_find(int argc, char **argv, int *words);
/* Arguments after the command's name. Says what is wrong on stderr and returns false. */
bool mrd__cli_parse(mrd__cli *cli, int argc, char **argv);
void mrd__cli_reset(mrd__cli *cli);
/* Calls each for all options a command takes, own ones first. */
void mrd__cli_each_option(const mrd__command *command,
                          void (*each)(void *ctx, const mrd__option *option), void *ctx);
/* Last value of an option, or NULL. */
const char *mrd__cli_value(const mrd__cli *cli, const char *name);
bool mrd__cli_has(const mrd__cli *cli, const char *name);
/* A whole number from low to high; *out stays where the option is absent. False: said on stderr. */
bool mrd__cli_uint(const mrd__cli *cli, const char *name, uint64_t low, uint64_t high,
                   uint64_t *out);
/* One of words (separated by '|'): its index; fallback where the option is absent; -1: said. */
int mrd__cli_choice(const mrd__cli *cli, const char *name, const char *words, int fallback);
/* --data or $XDG_DATA_HOME/meridian or ~/.local/share/meridian, appended to out. */
void mrd__cli_data_dir(const mrd__cli *cli, mrd__buf *out);

/* ---- Output (output.c) ---- */

/* One line on stderr: "meridian: ...". */
void mrd__cli_say(const char *format, ...) MRD_PRINTF(1, 2);
/* The same for an error; returns the exit code that fits. A closed pipe is not worth a word. */
int mrd__cli_fail(const mrd_error *error);
/* The same where the first operand is a spec: what is wrong in it is said of that file. */
int mrd__cli_fail_spec(const mrd__cli *cli, mrd_error *error);
/* Wrong use: says it and names --help; returns MRD__EXIT_USAGE. */
int mrd__cli_usage(const mrd__cli *cli, const char *format, ...) MRD_PRINTF(2, 3);
/* Whether writing out leaves the first `inputs` operands and the manifest as they are (spare.c); if
 * not, it is said. To be asked before anything is opened for writing. */
bool mrd__cli_spares_inputs(const mrd__cli *cli, const char *out, size_t inputs);
/* Bytes to standard output; every failed write is an error. */
mrd_sink mrd__cli_stdout(void);
/* Write all of buf to standard output and free it; returns the exit code. */
int mrd__cli_print(mrd__buf *buf);

/* Open the result store that --data and --store name and say what its repair did and found. Returns
 * MRD__EXIT_DONE or the exit code, the error said. */
int mrd__cli_store(const mrd__cli *cli, mrd_results **out);

/* A document as compact JSON; doubles read back as they were. NULL is null. */
struct json_t;
void mrd__cli_json(mrd__buf *out, const struct json_t *value);

/* A file that appears under its name only when it is whole: written to a temporary name beside it,
 * synced, renamed. */
typedef struct mrd__cli_file {
    int fd;
    char *path, *temporary;
} mrd__cli_file;
MRD_MUST_CHECK mrd_status mrd__cli_file_open(mrd__cli_file *file, const char *path,
                                             mrd_error *error);
mrd_sink mrd__cli_file_sink(mrd__cli_file *file);
/* Keeps the file when status is MRD_OK, else removes it; returns status or what failed. */
MRD_MUST_CHECK mrd_status mrd__cli_file_close(mrd__cli_file *file, mrd_status status,
                                              mrd_error *error);

/* ---- Traces (input.c) ---- */

/* --threads, --manifest, --align, --clock-interpolation. False: said what is wrong. */
bool mrd__cli_open_options(const mrd__cli *cli, mrd_open_options *options);
/* Opens the paths as one trace with --threads, progress on stderr when it is a terminal. Returns
 * MRD__EXIT_DONE or the exit code, the error said. */
int mrd__cli_open(const mrd__cli *cli, const char *const *paths, size_t count, mrd_trace **out);
/* Closes; MRD__EXIT_LOSSES where code is MRD__EXIT_DONE, --strict given and something lost. */
int mrd__cli_close(const mrd__cli *cli, mrd_trace **trace, int code);

/* ---- Help (help.c, completion.c) ---- */

void mrd__help_overview(mrd__buf *out);
void mrd__help_command(mrd__buf *out, const mrd__command *command);
/* Help of all commands that start with this word ("results", "gen"); false when there is none. */
bool mrd__help_group(mrd__buf *out, const char *word);
void mrd__help_man(mrd__buf *out);
void mrd__completion_bash(mrd__buf *out);
void mrd__completion_zsh(mrd__buf *out);

/* ---- Commands, one file each ---- */

int mrd__cmd_open(const mrd__cli *cli);
int mrd__cmd_serve(const mrd__cli *cli);
int mrd__cmd_info(const mrd__cli *cli);
int mrd__cmd_dump(const mrd__cli *cli);
int mrd__cmd_clocks(const mrd__cli *cli);
int mrd__cmd_window(const mrd__cli *cli);
int mrd__cmd_query(const mrd__cli *cli);
int mrd__cmd_convert(const mrd__cli *cli);
int mrd__cmd_diff(const mrd__cli *cli);
int mrd__cmd_gen_event_trace(const mrd__cli *cli);
int mrd__cmd_gen_chrome_json(const mrd__cli *cli);
int mrd__cmd_cache_add(const mrd__cli *cli);
int mrd__cmd_cache_clear(const mrd__cli *cli);
int mrd__cmd_cache_list(const mrd__cli *cli);
int mrd__cmd_results_add(const mrd__cli *cli);
int mrd__cmd_results_list(const mrd__cli *cli);
int mrd__cmd_results_show(const mrd__cli *cli);
int mrd__cmd_results_rm(const mrd__cli *cli);
int mrd__cmd_results_compare(const mrd__cli *cli);
int mrd__cmd_sim_run(const mrd__cli *cli);
int mrd__cmd_sim_sweep(const mrd__cli *cli);
int mrd__cmd_record(const mrd__cli *cli);
int mrd__cmd_session_ingest(const mrd__cli *cli);
int mrd__cmd_session_samples(const mrd__cli *cli);
int mrd__cmd_session_list(const mrd__cli *cli);
int mrd__cmd_session_raw(const mrd__cli *cli);
int mrd__cmd_session_recover(const mrd__cli *cli);
int mrd__cmd_replay(const mrd__cli *cli);
int mrd__cmd_verify(const mrd__cli *cli);
int mrd__cmd_report(const mrd__cli *cli);
int mrd__cmd_completion(const mrd__cli *cli);
int mrd__cmd_help(const mrd__cli *cli);

#endif
