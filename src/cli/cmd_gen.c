#include "cli/cli.h"

#include <string.h>

/* The numbers and the one place to write to; false: said. *path stays NULL for standard output. */
static bool gen_arguments(const mrd__cli *cli, uint64_t *events, uint64_t *seed, const char **path)
{
    *events = 1000000;
    *seed = 1;
    *path = mrd__cli_value(cli, "output");
    if (!mrd__cli_uint(cli, "events", 0, UINT32_MAX / 2, events) ||
        !mrd__cli_uint(cli, "seed", 0, UINT64_MAX, seed))
        return false;
    if (cli->operands.count > 0 && *path != NULL) {
        mrd__cli_usage(cli, "the output is given twice: %s and %s", *path, cli->operands.data[0]);
        return false;
    }
    if (cli->operands.count > 0) *path = cli->operands.data[0];
    if (*path != NULL && strcmp(*path, "-") == 0) *path = NULL;
    return true;
}

int mrd__cmd_gen_event_trace(const mrd__cli *cli)
{
    uint64_t events;
    uint64_t seed;
    const char *path;
    if (!gen_arguments(cli, &events, &seed, &path)) return MRD__EXIT_USAGE;
    if (path == NULL)
        return mrd__cli_usage(cli,
                              "gen event-trace needs a file to write; Parquet cannot be piped");
    mrd_error error = {0};
    mrd_status status = mrd_gen_event_trace(path, events, seed, &error);
    return status == MRD_OK ? MRD__EXIT_DONE : mrd__cli_fail(&error);
}

int mrd__cmd_gen_chrome_json(const mrd__cli *cli)
{
    uint64_t events;
    uint64_t seed;
    const char *path;
    if (!gen_arguments(cli, &events, &seed, &path)) return MRD__EXIT_USAGE;
    mrd_error error = {0};
    mrd_status status;
    if (path == NULL) {
        mrd_sink sink = mrd__cli_stdout();
        status = mrd_gen_chrome_json(&sink, events, seed, &error);
    } else {
        mrd__cli_file file;
        status = mrd__cli_file_open(&file, path, &error);
        if (status != MRD_OK) return mrd__cli_fail(&error);
        mrd_sink sink = mrd__cli_file_sink(&file);
        status = mrd_gen_chrome_json(&sink, events, seed, &error);
        status = mrd__cli_file_close(&file, status, &error);
    }
    return status == MRD_OK ? MRD__EXIT_DONE : mrd__cli_fail(&error);
}
