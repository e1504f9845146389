#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

/* The command's own options but those named in except as parameters: `-` is `_`. */
static mrd_params *own_params(const mrd__cli *cli, const char *except)
{
    mrd_params *params = mrd_params_create();
    for (size_t i = 0; i < cli->given.count; i++) {
        const mrd__given *given = &cli->given.data[i];
        bool own = false;
        for (const mrd__option *at = cli->command->options; at->name != NULL; at++)
            own = own || at == given->option;
        if (!own || strstr(except, given->option->name) != NULL) continue;
        char name[64];
        snprintf(name, sizeof name, "%s", given->option->name);
        for (char *at = name; *at != '\0'; at++) {
            if (*at == '-') *at = '_';
        }
        mrd_params_add(params, name, given->value, false);
    }
    return params;
}

static bool id_of(const mrd__cli *cli, const char *text, int64_t *id)
{
    if (mrd__parse_int64(mrd__str_of(text), id) && *id > 0) return true;
    mrd__cli_usage(cli, "\"%s\" is no id of a result, allowed is a whole number above 0", text);
    return false;
}

int mrd__cmd_results_add(const mrd__cli *cli)
{
    mrd_results *results = NULL;
    int code = mrd__cli_store(cli, &results);
    if (code != MRD__EXIT_DONE) return code;
    mrd_params *fields = own_params(cli, "experiment link");
    mrd_error error = {0};
    int64_t id;
    mrd_status status =
        mrd_results_add(results, cli->operands.data[0], mrd__cli_value(cli, "experiment"), fields,
                        mrd__cli_has(cli, "link"), &id, &error);
    if (status == MRD_OK) {
        mrd__buf out = {0};
        mrd__buf_int(&out, id);
        mrd__buf_char(&out, '\n');
        code = mrd__cli_print(&out);
    } else {
        code = mrd__cli_fail(&error);
    }
    mrd_params_destroy(&fields);
    mrd_results_close(&results);
    return code;
}

int mrd__cmd_results_list(const mrd__cli *cli)
{
    mrd_results *results = NULL;
    int code = mrd__cli_store(cli, &results);
    if (code != MRD__EXIT_DONE) return code;
    mrd_params *filters = own_params(cli, "");
    mrd_sink sink = mrd__cli_stdout();
    mrd_error error = {0};
    mrd_format format = mrd__cli_has(cli, "json") ? MRD_FORMAT_JSON : MRD_FORMAT_TEXT;
    if (mrd_results_list(results, filters, format, &sink, &error) != MRD_OK)
        code = mrd__cli_fail(&error);
    mrd_params_destroy(&filters);
    mrd_results_close(&results);
    return code;
}

int mrd__cmd_results_show(const mrd__cli *cli)
{
    int64_t id;
    mrd_results *results = NULL;
    if (!id_of(cli, cli->operands.data[0], &id)) return MRD__EXIT_USAGE;
    int code = mrd__cli_store(cli, &results);
    if (code != MRD__EXIT_DONE) return code;
    mrd_sink sink = mrd__cli_stdout();
    mrd_error error = {0};
    mrd_format format = mrd__cli_has(cli, "json") ? MRD_FORMAT_JSON : MRD_FORMAT_TEXT;
    if (mrd_results_show(results, id, format, &sink, &error) != MRD_OK)
        code = mrd__cli_fail(&error);
    mrd_results_close(&results);
    return code;
}

int mrd__cmd_results_rm(const mrd__cli *cli)
{
    const char *experiment = mrd__cli_value(cli, "experiment");
    if ((experiment != NULL) == (cli->operands.count > 0))
        return mrd__cli_usage(cli, "results rm needs ids or --experiment, one of both");
    int64_t id;
    for (size_t i = 0; i < cli->operands.count; i++) {
        if (!id_of(cli, cli->operands.data[i], &id)) return MRD__EXIT_USAGE;
    }
    mrd_results *results = NULL;
    int code = mrd__cli_store(cli, &results);
    if (code != MRD__EXIT_DONE) return code;
    mrd_error error = {0};
    mrd_status status = MRD_OK;
    uint64_t removed = 0;
    if (experiment != NULL)
        status = mrd_results_remove_experiment(results, experiment, &removed, &error);
    for (size_t i = 0; i < cli->operands.count && status == MRD_OK; i++) {
        if (!id_of(cli, cli->operands.data[i], &id)) break; /* was checked above */
        status = mrd_results_remove(results, id, &error);
        removed += status == MRD_OK;
    }
    if (status != MRD_OK) code = mrd__cli_fail(&error);
    if (mrd__cli_has(cli, "verbose"))
        mrd__cli_say("%llu results removed", (unsigned long long)removed);
    mrd_results_close(&results);
    return code;
}
