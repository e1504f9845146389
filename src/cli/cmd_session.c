#include "cli/cli.h"

#include <unistd.h>

static mrd_format form(const mrd__cli *cli)
{
    return mrd__cli_has(cli, "json") ? MRD_FORMAT_JSON : MRD_FORMAT_TEXT;
}

/* ---- samples ---- */

static int write_parquet(const char *dir, const char *output)
{
    mrd_error error = {0};
    mrd__cli_file file;
    if (mrd__cli_file_open(&file, output, &error) != MRD_OK) return mrd__cli_fail(&error);
    mrd_status status = mrd_session_samples_parquet(dir, file.fd, &error);
    status = mrd__cli_file_close(&file, status, &error);
    return status == MRD_OK ? MRD__EXIT_DONE : mrd__cli_fail(&error);
}

int mrd__cmd_session_samples(const mrd__cli *cli)
{
    static const mrd_format formats[] = {MRD_FORMAT_JSON, MRD_FORMAT_CSV, MRD_FORMAT_ARROW};
    int format =
        mrd__cli_choice(cli, "format", "json|csv|arrow|parquet", mrd__cli_has(cli, "json") ? 0 : 1);
    const char *dir = cli->operands.data[0], *output = mrd__cli_value(cli, "output");
    mrd_error error = {0};
    if (format < 0) return MRD__EXIT_USAGE;
    if (format == 3 && output == NULL)
        return mrd__cli_usage(cli, "--format parquet needs --output FILE");
    if (format == 3) return write_parquet(dir, output);
    if (output == NULL) {
        mrd_sink sink = mrd__cli_stdout();
        mrd_status status = mrd_session_samples(dir, formats[format], &sink, &error);
        return status == MRD_OK ? MRD__EXIT_DONE : mrd__cli_fail(&error);
    }
    mrd__cli_file file;
    if (mrd__cli_file_open(&file, output, &error) != MRD_OK) return mrd__cli_fail(&error);
    mrd_sink sink = mrd__cli_file_sink(&file);
    mrd_status status = mrd_session_samples(dir, formats[format], &sink, &error);
    status = mrd__cli_file_close(&file, status, &error);
    return status == MRD_OK ? MRD__EXIT_DONE : mrd__cli_fail(&error);
}

/* ---- recover, verify, replay, report ---- */

int mrd__cmd_session_recover(const mrd__cli *cli)
{
    mrd_error error = {0};
    mrd_sink sink = mrd__cli_stdout();
    mrd_status status = mrd_session_recover(cli->operands.data[0], form(cli), &sink, &error);
    return status == MRD_OK ? MRD__EXIT_DONE : mrd__cli_fail(&error);
}

int mrd__cmd_verify(const mrd__cli *cli)
{
    mrd_error error = {0};
    mrd_sink sink = mrd__cli_stdout();
    bool sound = false;
    mrd_status status = mrd_session_verify(cli->operands.data[0], form(cli), &sink, &sound, &error);
    if (status != MRD_OK) return mrd__cli_fail(&error);
    return sound ? MRD__EXIT_DONE : MRD__EXIT_FAILED;
}

int mrd__cmd_replay(const mrd__cli *cli)
{
    mrd_error error = {0};
    mrd_sink sink = mrd__cli_stdout();
    bool equal = false;
    mrd_status status = mrd_session_replay(cli->operands.data[0], form(cli), &sink, &equal, &error);
    if (status != MRD_OK) return mrd__cli_fail(&error);
    return equal ? MRD__EXIT_DONE : MRD__EXIT_FAILED;
}

int mrd__cmd_report(const mrd__cli *cli)
{
    int chosen = mrd__cli_choice(cli, "format", "json", 0);
    if (chosen < 0) return MRD__EXIT_USAGE;
    mrd_error error = {0};
    mrd_report_form report = MRD_REPORT_JSON;
    const char *output = mrd__cli_value(cli, "output");
    mrd_sink sink = mrd__cli_stdout();
    mrd__cli_file file;
    if (output != NULL) {
        if (mrd__cli_file_open(&file, output, &error) != MRD_OK) return mrd__cli_fail(&error);
        sink = mrd__cli_file_sink(&file);
    }
    mrd_status status = mrd_session_report(cli->operands.data[0], report, &sink, &error);
    if (output != NULL) status = mrd__cli_file_close(&file, status, &error);
    return status == MRD_OK ? MRD__EXIT_DONE : mrd__cli_fail(&error);
}
