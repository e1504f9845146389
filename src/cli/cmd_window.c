#include "cli/cli.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* Options of the question, as the parameters of the HTTP call: `-` is `_`. */
static mrd_params *params_of(const mrd__cli *cli)
{
    static const char *const names[] = {"start-ns",   "end-ns",     "buckets", "tracks",
                                        "components", "categories", "extra"};
    mrd_params *params = mrd_params_create();
    for (size_t i = 0; i < cli->given.count; i++) {
        const mrd__given *given = &cli->given.data[i];
        for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
            if (strcmp(given->option->name, names[n]) != 0) continue;
            char name[32];
            snprintf(name, sizeof name, "%s", names[n]);
            for (char *at = name; *at != '\0'; at++) {
                if (*at == '-') *at = '_';
            }
            mrd_params_add(params, name, given->value, given->option->repeats);
        }
    }
    return params;
}

/* The parts of the JSON answer that CSV has no place for, a line each on standard error. */
static mrd_status say_rest(const mrd_trace *trace, const mrd_params *params, mrd_error *error)
{
    static const char *const parts[] = {"snapshot", "anomalies", "bounds"};
    mrd__buf text = {0};
    mrd_sink sink = mrd__buf_sink(&text);
    mrd_status status = mrd_trace_event_window(trace, params, MRD_FORMAT_JSON, &sink, error);
    json_t *document = status == MRD_OK ? json_loadb(text.data, text.size, 0, NULL) : NULL;
    for (size_t i = 0; document != NULL && i < sizeof parts / sizeof parts[0]; i++) {
        mrd__buf part = {0};
        mrd__cli_json(&part, json_object_get(document, parts[i]));
        fprintf(stderr, "%s: %s\n", parts[i], part.data);
        mrd__buf_reset(&part);
    }
    json_decref(document);
    mrd__buf_reset(&text);
    return status;
}

int mrd__cmd_window(const mrd__cli *cli)
{
    static const mrd_format formats[] = {MRD_FORMAT_CSV, MRD_FORMAT_JSON, MRD_FORMAT_ARROW};
    int format =
        mrd__cli_choice(cli, "format", "csv|json|arrow", mrd__cli_has(cli, "json") ? 1 : 0);
    if (format < 0) return MRD__EXIT_USAGE;
    mrd_trace *trace = NULL;
    int code = mrd__cli_open(cli, cli->operands.data, cli->operands.count, &trace);
    if (code != MRD__EXIT_DONE) return code;
    mrd_params *params = params_of(cli);
    mrd_sink sink = mrd__cli_stdout();
    mrd_error error = {0};
    mrd_status status;
    if (mrd_trace_is_event_trace(trace) && !mrd__cli_has(cli, "tracks")) {
        status = mrd_trace_event_window(trace, params, formats[format], &sink, &error);
        if (status == MRD_OK && format == 0 && mrd__cli_has(cli, "verbose"))
            status = say_rest(trace, params, &error);
    } else {
        status = mrd_trace_window(trace, params, true, formats[format], &sink, &error);
    }
    if (status != MRD_OK) code = mrd__cli_fail(&error);
    mrd_params_destroy(&params);
    return mrd__cli_close(cli, &trace, code);
}
