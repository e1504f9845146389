/* Simulate one collective, or a sweep of them. Results are stored where --data or --store is
 * written out; the default data folder does not count here. */
#include "cli/cli.h"

#include "base/os.h"
#include "cli/slurm.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SPEC_MAX (16 << 20) /* a graph of thousands of nodes has a megabyte */
#define PROGRESS_NS 200000000u

static bool stores(const mrd__cli *cli)
{
    return mrd__cli_has(cli, "data") || mrd__cli_has(cli, "store");
}

static mrd_status read_spec(const mrd__cli *cli, mrd__buf *out, mrd_error *error)
{
    const char *path = cli->operands.data[0];
    return mrd__file_read(out, strcmp(path, "-") == 0 ? "/dev/stdin" : path, SPEC_MAX, error);
}

/* ---- The progress line ---- */

typedef struct progress {
    uint64_t start, told;
    bool shown;
} progress;

static bool on_progress(void *ctx, double done, double total)
{
    progress *p = ctx;
    uint64_t now = mrd__monotonic_ns();
    if (now - p->told < PROGRESS_NS) return true;
    double seconds = (double)(now - p->start) / 1e9, rate = done / seconds;
    p->told = now;
    p->shown = true;
    if (total == 1)
        fprintf(stderr, "\r%3.0f %%, %.0f s left \033[K", 100 * done,
                rate > 0 ? (1 - done) / rate : 0);
    else
        fprintf(stderr, "\r%.0f of %.0f runs, %.2f/s, %.0f s left \033[K", done, total, rate,
                rate > 0 ? (total - done) / rate : 0);
    return true;
}

static void show_progress(mrd_sim_options *options, progress *p)
{
    *p = (progress){.start = mrd__monotonic_ns()};
    p->told = p->start;
    if (!isatty(STDERR_FILENO)) return;
    options->progress = on_progress;
    options->progress_ctx = p;
}

static void end_progress(const progress *p)
{
    if (p->shown) fputs("\r\033[K", stderr);
}

/* ---- Commands ---- */

typedef mrd_status (*simulation)(const char *spec, size_t size, const mrd_sim_options *options,
                                 mrd_format format, const mrd_sink *sink, bool *untraced,
                                 mrd_error *error);

/* What both commands take; false: said. */
static bool common_options(const mrd__cli *cli, mrd_sim_options *options)
{
    if (mrd__cli_has(cli, "experiment") && !stores(cli)) {
        mrd__cli_usage(cli, "--experiment needs --data or --store: nothing is stored without");
        return false;
    }
    options->experiment = mrd__cli_value(cli, "experiment");
    return mrd__cli_uint(cli, "trace-limit", 1, UINT64_MAX, &options->trace_limit);
}

/* Run with the store open and the spec read. */
static int simulate(const mrd__cli *cli, mrd_sim_options *options, const mrd__buf *spec,
                    simulation what)
{
    mrd_error error = {0};
    bool untraced = false;
    progress p;
    mrd_sink sink = mrd__cli_stdout();
    mrd_format format = mrd__cli_has(cli, "json") ? MRD_FORMAT_JSON : MRD_FORMAT_TEXT;
    show_progress(options, &p);
    mrd_status status = what(spec->data, spec->size, options, format, &sink, &untraced, &error);
    end_progress(&p);
    if (status != MRD_OK) return mrd__cli_fail_spec(cli, &error);
    if (untraced)
        mrd__cli_say("trace.enabled: no trace is kept without --data, --store%s",
                     what == mrd_sim_run ? " or --trace FILE" : "");
    return MRD__EXIT_DONE;
}

static int with_store(const mrd__cli *cli, mrd_sim_options *options, simulation what)
{
    mrd__buf spec = {0};
    mrd_error error = {0};
    int code = stores(cli) ? mrd__cli_store(cli, &options->results) : MRD__EXIT_DONE;
    if (code != MRD__EXIT_DONE) return code;
    mrd_status status = read_spec(cli, &spec, &error);
    if (status != MRD_OK)
        code = mrd__cli_fail(&error);
    else if (mrd__cli_has(cli, "slurm"))
        code = mrd__slurm_submit(cli, &spec);
    else
        code = simulate(cli, options, &spec, what);
    mrd_results_close(&options->results);
    mrd__buf_reset(&spec);
    return code;
}

int mrd__cmd_sim_run(const mrd__cli *cli)
{
    const char *trace = mrd__cli_value(cli, "trace");
    mrd_sim_options options = {0};
    if (!common_options(cli, &options)) return MRD__EXIT_USAGE;
    if (trace && !trace[0] && !stores(cli))
        return mrd__cli_usage(cli, "--trace needs a file name, --data or --store");
    if (trace && trace[0] && stores(cli))
        return mrd__cli_usage(cli, "--trace FILE and --data or --store: the store names the file");
    if (trace && trace[0] && !mrd__cli_spares_inputs(cli, trace, 1)) return MRD__EXIT_USAGE;
    options.trace = trace != NULL;
    options.trace_path = trace && trace[0] ? trace : NULL;
    return with_store(cli, &options, mrd_sim_run);
}

/* --part I/N, with I below N. */
static bool read_part(const mrd__cli *cli, mrd_sim_options *options)
{
    const char *text = mrd__cli_value(cli, "part");
    const char *slash = text ? strchr(text, '/') : NULL;
    int64_t part, parts;
    if (!text) return true;
    if (slash && mrd__parse_int64((mrd__str){text, (size_t)(slash - text)}, &part) &&
        mrd__parse_int64(mrd__str_of(slash + 1), &parts) && part >= 0 && part < parts &&
        parts <= UINT32_MAX) {
        options->part = (uint32_t)part;
        options->parts = (uint32_t)parts;
        return true;
    }
    mrd__cli_usage(cli, "--part is %s, allowed is I/N with I from 0 to N - 1", text);
    return false;
}

int mrd__cmd_sim_sweep(const mrd__cli *cli)
{
    uint64_t jobs = 0;
    mrd_sim_options options = {.resume = mrd__cli_has(cli, "resume")};
    bool slurm = mrd__cli_has(cli, "slurm");
    if (!common_options(cli, &options) || !mrd__cli_uint(cli, "jobs", 1, 1024, &jobs) ||
        !read_part(cli, &options))
        return MRD__EXIT_USAGE;
    options.jobs = (uint32_t)jobs;
    if ((slurm || options.resume) && !stores(cli))
        return mrd__cli_usage(cli, "--%s needs --data or --store: results are stored there",
                              slurm ? "slurm" : "resume");
    if (!slurm && (mrd__cli_has(cli, "partition") || mrd__cli_has(cli, "max-jobs")))
        return mrd__cli_usage(cli, "--partition and --max-jobs need --slurm");
    if (slurm && mrd__cli_has(cli, "part"))
        return mrd__cli_usage(cli, "--part and --slurm: the tasks take the parts");
    return with_store(cli, &options, mrd_sim_sweep);
}
