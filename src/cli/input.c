#include "cli/cli.h"

#include <stdio.h>
#include <unistd.h>

static bool show_progress(void *ctx, const char *path, uint64_t done, uint64_t total)
{
    (void)ctx;
    double share = total > 0 ? (double)done / (double)total : 1;
    fprintf(stderr, "\r\033[K%3.0f %% of %s", share * 100, path);
    fflush(stderr);
    return true;
}

int mrd__cli_open(const mrd__cli *cli, const char *const *paths, size_t count, mrd_trace **out)
{
    uint64_t threads = 0;
    if (!mrd__cli_uint(cli, "threads", 1, 1024, &threads)) return MRD__EXIT_USAGE;
    bool terminal = isatty(STDERR_FILENO);
    mrd_open_options options = {.threads = (uint32_t)threads,
                                .progress = terminal ? show_progress : NULL};
    mrd_error error = {0};
    mrd_status status = mrd_trace_open(paths, count, &options, out, &error);
    if (terminal) fputs("\r\033[K", stderr);
    return status == MRD_OK ? MRD__EXIT_DONE : mrd__cli_fail(&error);
}

int mrd__cli_close(const mrd__cli *cli, mrd_trace **trace, int code)
{
    if (code == MRD__EXIT_DONE && mrd__cli_has(cli, "strict") && mrd_trace_has_losses(*trace))
        code = MRD__EXIT_LOSSES;
    mrd_trace_close(trace);
    return code;
}
