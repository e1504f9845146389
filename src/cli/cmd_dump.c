#include "cli/cli.h"

int mrd__cmd_dump(const mrd__cli *cli)
{
    const char *table = mrd__cli_value(cli, "table");
    if (table == NULL) return mrd__cli_usage(cli, "--table is missing");
    int format = mrd__cli_choice(cli, "format", "csv|json", mrd__cli_has(cli, "json") ? 1 : 0);
    if (format < 0) return MRD__EXIT_USAGE;
    mrd_trace *trace = NULL;
    int code = mrd__cli_open(cli, cli->operands.data, cli->operands.count, &trace);
    if (code != MRD__EXIT_DONE) return code;
    mrd_sink sink = mrd__cli_stdout();
    mrd_error error = {0};
    if (mrd_trace_dump(trace, table, format == 1 ? MRD_FORMAT_JSON : MRD_FORMAT_CSV, &sink,
                       &error) != MRD_OK)
        code = mrd__cli_fail(&error);
    return mrd__cli_close(cli, &trace, code);
}
