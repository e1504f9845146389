#include "cli/cli.h"

int mrd__cmd_clocks(const mrd__cli *cli)
{
    mrd_trace *trace = NULL;
    int code = mrd__cli_open(cli, cli->operands.data, cli->operands.count, &trace);
    if (code != MRD__EXIT_DONE) return code;
    mrd_sink sink = mrd__cli_stdout();
    mrd_error error = {0};
    mrd_format format = mrd__cli_has(cli, "json") ? MRD_FORMAT_JSON : MRD_FORMAT_TEXT;
    if (mrd_trace_clocks(trace, format, &sink, &error) != MRD_OK) code = mrd__cli_fail(&error);
    return mrd__cli_close(cli, &trace, code);
}
