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

bool mrd__cli_open_options(const mrd__cli *cli, mrd_open_options *options)
{
    static const mrd_align aligns[] = {MRD_ALIGN_REALTIME, MRD_ALIGN_START, MRD_ALIGN_COLLECTIVES,
                                       MRD_ALIGN_NONE};
    uint64_t threads = 0;
    if (!mrd__cli_uint(cli, "threads", 1, 1024, &threads)) return false;
    int align = mrd__cli_choice(cli, "align", "realtime|start|collectives|none", 0);
    int linear = mrd__cli_choice(cli, "clock-interpolation", "step|linear", 0);
    if (align < 0 || linear < 0) return false;
    *options = (mrd_open_options){.threads = (uint32_t)threads,
                                  .manifest = mrd__cli_value(cli, "manifest"),
                                  .align = aligns[align],
                                  .clock_linear = linear == 1,
                                  .cache = !mrd__cli_has(cli, "no-cache"),
                                  .verify_cache = mrd__cli_has(cli, "verify-cache")};
    return true;
}

int mrd__cli_open(const mrd__cli *cli, const char *const *paths, size_t count, mrd_trace **out)
{
    mrd_open_options options;
    if (!mrd__cli_open_options(cli, &options)) return MRD__EXIT_USAGE;
    bool terminal = isatty(STDERR_FILENO);
    options.progress = terminal ? show_progress : NULL;
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
