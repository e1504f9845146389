/* The result store of a command. */
#include "cli/cli.h"

#include <string.h>

#define REPORT_LINES 5 /* said one by one; a lost disk may miss thousands of traces */

static void say_report(const char *report)
{
    size_t lines = 0;
    for (const char *at = report; *at;) {
        const char *end = strchr(at, '\n');
        size_t size = end ? (size_t)(end - at) : strlen(at);
        if (lines++ < REPORT_LINES) mrd__cli_say("%.*s", (int)size, at);
        at += size + (end != NULL);
    }
    if (lines > REPORT_LINES)
        mrd__cli_say("and %zu more files or traces like these", lines - REPORT_LINES);
}

int mrd__cli_store(const mrd__cli *cli, mrd_results **out)
{
    mrd__buf folder = {0};
    mrd_error error = {0};
    mrd__cli_data_dir(cli, &folder);
    mrd_status status = mrd_results_open(folder.data, mrd__cli_value(cli, "store"), out, &error);
    mrd__buf_reset(&folder);
    if (status != MRD_OK) return mrd__cli_fail(&error);
    say_report(mrd_results_report(*out));
    return MRD__EXIT_DONE;
}
