#include "cli/cli.h"

#include <jansson.h>
#include <string.h>

static mrd_format form(const mrd__cli *cli)
{
    return mrd__cli_has(cli, "json") ? MRD_FORMAT_JSON : MRD_FORMAT_TEXT;
}

/* ---- samples ---- */

static int write_parquet(const char *dir, const mrd_session_select *select, const char *output)
{
    mrd_error error = {0};
    mrd__cli_file file;
    if (mrd__cli_file_open(&file, output, &error) != MRD_OK) return mrd__cli_fail(&error);
    mrd_status status = mrd_session_samples_parquet(dir, select, file.fd, &error);
    status = mrd__cli_file_close(&file, status, &error);
    return status == MRD_OK ? MRD__EXIT_DONE : mrd__cli_fail(&error);
}

static int write_samples(const char *dir, const mrd_session_select *select, mrd_format format,
                         const char *output)
{
    mrd_error error = {0};
    mrd__cli_file file;
    mrd_sink sink = mrd__cli_stdout();
    if (output != NULL) {
        if (mrd__cli_file_open(&file, output, &error) != MRD_OK) return mrd__cli_fail(&error);
        sink = mrd__cli_file_sink(&file);
    }
    mrd_status status = mrd_session_samples(dir, select, format, &sink, &error);
    if (output != NULL) status = mrd__cli_file_close(&file, status, &error);
    return status == MRD_OK ? MRD__EXIT_DONE : mrd__cli_fail(&error);
}

static bool fill_range(const mrd__cli *cli, mrd_session_select *select)
{
    const char *start = mrd__cli_value(cli, "start-ns"), *end = mrd__cli_value(cli, "end-ns");
    select->ranged = start != NULL || end != NULL;
    select->start_ns = INT64_MIN;
    select->end_ns = INT64_MAX;
    const char *const texts[] = {start, end};
    int64_t *const values[] = {&select->start_ns, &select->end_ns};
    for (size_t i = 0; i < 2; i++) {
        if (texts[i] == NULL || mrd__parse_int64(mrd__str_of(texts[i]), values[i])) continue;
        mrd__cli_usage(cli, "--%s: \"%s\", allowed is a whole number of ns",
                       i == 0 ? "start-ns" : "end-ns", texts[i]);
        return false;
    }
    return true;
}

int mrd__cmd_session_samples(const mrd__cli *cli)
{
    static const mrd_format formats[] = {MRD_FORMAT_JSON, MRD_FORMAT_CSV, MRD_FORMAT_ARROW};
    MRD__VEC(const char *) metrics = {0};
    mrd_session_select select = {0};
    uint64_t buckets = 0;
    const char *dir = cli->operands.data[0], *output = mrd__cli_value(cli, "output");
    int code = MRD__EXIT_USAGE;
    if (output != NULL && !mrd__cli_spares_inputs(cli, output, 1)) return code;
    int format =
        mrd__cli_choice(cli, "format", "json|csv|arrow|parquet", mrd__cli_has(cli, "json") ? 0 : 1);
    if (format < 0 || !fill_range(cli, &select) ||
        !mrd__cli_uint(cli, "buckets", 0, MRD_SESSION_BUCKETS_MAX, &buckets))
        return code;
    for (size_t i = 0; i < cli->given.count; i++) {
        if (strcmp(cli->given.data[i].option->name, "metric") == 0)
            mrd__vec_push(&metrics, cli->given.data[i].value);
    }
    select.metrics = metrics.data;
    select.metric_count = metrics.count;
    select.buckets = (uint32_t)buckets;
    if (format < 3)
        code = write_samples(dir, &select, formats[format], output);
    else if (output != NULL)
        code = write_parquet(dir, &select, output);
    else
        mrd__cli_usage(cli, "--format parquet needs --output FILE");
    mrd__vec_reset(&metrics);
    return code;
}

/* ---- raw, list ---- */

int mrd__cmd_session_raw(const mrd__cli *cli)
{
    mrd_error error = {0};
    mrd_sink sink = mrd__cli_stdout();
    uint64_t sequence;
    if (!mrd__parse_uint64(mrd__str_of(cli->operands.data[1]), &sequence))
        return mrd__cli_usage(cli, "SEQ: \"%s\", allowed is a whole number from 1 on",
                              cli->operands.data[1]);
    mrd_status status = mrd_session_raw(cli->operands.data[0], sequence, form(cli), &sink, &error);
    return status == MRD_OK ? MRD__EXIT_DONE : mrd__cli_fail(&error);
}

static const char *member(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    return json_is_string(value) ? json_string_value(value) : "";
}

/* A line a session: name, state, why. */
static int print_list(mrd__buf *text)
{
    mrd__buf out = {0};
    json_t *root = json_loadb(text->data, text->size, 0, NULL), *one, *reason;
    size_t i, k;
    json_array_foreach(json_object_get(root, "sessions"), i, one)
    {
        mrd__buf_printf(&out, "%s  %s", member(one, "name"), member(one, "state"));
        json_array_foreach(json_object_get(one, "reasons"), k, reason)
            mrd__buf_printf(&out, "%s%s", k == 0 ? ": " : ", ", json_string_value(reason));
        mrd__buf_char(&out, '\n');
    }
    json_decref(root);
    mrd__buf_reset(text);
    return mrd__cli_print(&out);
}

int mrd__cmd_session_list(const mrd__cli *cli)
{
    mrd__buf folder = {0}, text = {0};
    mrd_error error = {0};
    if (cli->operands.count > 0) {
        mrd__buf_text(&folder, cli->operands.data[0]);
    } else {
        mrd__cli_data_dir(cli, &folder);
        mrd__buf_text(&folder, "/sessions");
    }
    mrd_sink sink = mrd__buf_sink(&text);
    mrd_status status = mrd_session_list(folder.data, &sink, &error);
    mrd__buf_reset(&folder);
    if (status != MRD_OK) {
        mrd__buf_reset(&text);
        return mrd__cli_fail(&error);
    }
    if (!mrd__cli_has(cli, "json")) return print_list(&text);
    mrd__buf_char(&text, '\n');
    return mrd__cli_print(&text);
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
    static const mrd_report_form forms[] = {MRD_REPORT_TEXT, MRD_REPORT_JSON, MRD_REPORT_MARKDOWN,
                                            MRD_REPORT_HTML};
    int chosen =
        mrd__cli_choice(cli, "format", "text|json|md|html", mrd__cli_has(cli, "json") ? 1 : 0);
    if (chosen < 0) return MRD__EXIT_USAGE;
    mrd_error error = {0};
    const char *output = mrd__cli_value(cli, "output");
    mrd_sink sink = mrd__cli_stdout();
    mrd__cli_file file;
    if (output != NULL) {
        if (!mrd__cli_spares_inputs(cli, output, 1)) return MRD__EXIT_USAGE;
        if (mrd__cli_file_open(&file, output, &error) != MRD_OK) return mrd__cli_fail(&error);
        sink = mrd__cli_file_sink(&file);
    }
    mrd_status status = mrd_session_report(cli->operands.data[0], forms[chosen], &sink, &error);
    if (output != NULL) status = mrd__cli_file_close(&file, status, &error);
    return status == MRD_OK ? MRD__EXIT_DONE : mrd__cli_fail(&error);
}
