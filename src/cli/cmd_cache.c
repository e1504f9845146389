/* What is kept of traces that were opened before: list it, clear it, add to it. */
#include "cli/cli.h"

int mrd__cmd_cache_list(const mrd__cli *cli)
{
    mrd_sink sink = mrd__cli_stdout();
    mrd_error error = {0};
    mrd_format format = mrd__cli_has(cli, "json") ? MRD_FORMAT_JSON : MRD_FORMAT_TEXT;
    if (mrd_cache_list(format, &sink, &error) != MRD_OK) return mrd__cli_fail(&error);
    return MRD__EXIT_DONE;
}

int mrd__cmd_cache_clear(const mrd__cli *cli)
{
    uint64_t files = 0;
    uint64_t bytes = 0;
    mrd_error error = {0};
    if (mrd_cache_clear(&files, &bytes, &error) != MRD_OK) return mrd__cli_fail(&error);
    mrd__buf out = {0};
    if (mrd__cli_has(cli, "json"))
        mrd__buf_printf(&out, "{\"removed\":%llu,\"bytes\":%llu}\n", (unsigned long long)files,
                        (unsigned long long)bytes);
    else
        mrd__buf_printf(&out, "%llu files removed, %.1f MB\n", (unsigned long long)files,
                        (double)bytes / 1e6);
    return mrd__cli_print(&out);
}

int mrd__cmd_cache_add(const mrd__cli *cli)
{
    mrd_trace *trace = NULL;
    int code = mrd__cli_open(cli, cli->operands.data, cli->operands.count, &trace);
    if (code != MRD__EXIT_DONE) return code;
    mrd_error error = {0};
    if (mrd_trace_cache(trace, &error) != MRD_OK) code = mrd__cli_fail(&error);
    return mrd__cli_close(cli, &trace, code);
}
