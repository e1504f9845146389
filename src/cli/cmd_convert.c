/* `convert`: the form follows from the ending of the output's name. */
#include "cli/cli.h"

#include <inttypes.h>
#include <string.h>

static bool target_of(const mrd__cli *cli, const char *name, mrd_target *out)
{
    static const struct {
        const char *ending;
        mrd_target target;
    } targets[] = {{".parquet", MRD_TARGET_PARQUET},
                   {".arrow", MRD_TARGET_ARROW},
                   {".json", MRD_TARGET_JSON},
                   {".pftrace", MRD_TARGET_PERFETTO}};
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        if (!mrd__text_ends(name, targets[i].ending)) continue;
        *out = targets[i].target;
        return true;
    }
    mrd__cli_usage(cli, "\"%s\": the output ends in .parquet, .arrow, .json, .pftrace or /", name);
    return false;
}

static bool time_of(const mrd__cli *cli, const char *name, bool *has, int64_t *out)
{
    const char *text = mrd__cli_value(cli, name);
    *has = text != NULL;
    if (text == NULL || mrd__parse_int64(mrd__str_of(text), out)) return true;
    mrd__cli_usage(cli, "--%s: \"%s\", allowed is a whole number of nanoseconds", name, text);
    return false;
}

static bool check_range(const mrd__cli *cli, const mrd_convert_options *options)
{
    if (!options->has_start || !options->has_end || options->start_ns < options->end_ns)
        return true;
    mrd__cli_usage(cli,
                   "--start-ns %" PRId64 " is not below --end-ns %" PRId64
                   "; a start below the end is allowed",
                   options->start_ns, options->end_ns);
    return false;
}

int mrd__cmd_convert(const mrd__cli *cli)
{
    mrd_convert_options options = {.tracks = mrd__cli_value(cli, "tracks"),
                                   .names = mrd__cli_value(cli, "names")};
    size_t inputs = cli->operands.count - 1;
    const char *name = cli->operands.data[inputs];
    mrd_target target = MRD_TARGET_JSON;
    bool folder = mrd__text_ends(name, "/");
    if ((!folder && !target_of(cli, name, &target)) ||
        !time_of(cli, "start-ns", &options.has_start, &options.start_ns) ||
        !time_of(cli, "end-ns", &options.has_end, &options.end_ns) || !check_range(cli, &options) ||
        !mrd__cli_spares_inputs(cli, name, inputs))
        return MRD__EXIT_USAGE;
    mrd_trace *trace = NULL;
    int code = mrd__cli_open(cli, cli->operands.data, inputs, &trace);
    if (code != MRD__EXIT_DONE) return code;
    mrd__cli_file file;
    mrd_error error = {0};
    mrd_status status = folder ? mrd_trace_convert_folder(trace, &options, name, &error)
                               : mrd__cli_file_open(&file, name, &error);
    if (status == MRD_OK && !folder) {
        mrd_sink sink = mrd__cli_file_sink(&file);
        status = mrd_trace_convert(trace, target, &options, file.fd, &sink, &error);
        status = mrd__cli_file_close(&file, status, &error);
    }
    if (status != MRD_OK) code = mrd__cli_fail(&error);
    return mrd__cli_close(cli, &trace, code);
}
