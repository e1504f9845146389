#include "cli/cli.h"

#define ROWS 20 /* of each kind that text shows */

int mrd__cmd_diff(const mrd__cli *cli)
{
    uint64_t limit = ROWS;
    if (!mrd__cli_uint(cli, "limit", 0, 1000000, &limit)) return MRD__EXIT_USAGE;
    mrd_trace *traces[2] = {NULL, NULL};
    int code = mrd__cli_open(cli, &cli->operands.data[0], 1, &traces[0]);
    if (code != MRD__EXIT_DONE) return code;
    code = mrd__cli_open(cli, &cli->operands.data[1], 1, &traces[1]);
    if (code == MRD__EXIT_DONE) {
        mrd_sink sink = mrd__cli_stdout();
        mrd_error error = {0};
        mrd_format format = mrd__cli_has(cli, "json") ? MRD_FORMAT_JSON : MRD_FORMAT_TEXT;
        if (mrd_trace_diff(traces[0], traces[1], format, limit, &sink, &error) != MRD_OK)
            code = mrd__cli_fail(&error);
        code = mrd__cli_close(cli, &traces[1], code);
    }
    return mrd__cli_close(cli, &traces[0], code);
}
