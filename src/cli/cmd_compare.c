/* Rows of results side by side: for each column a line, and for numbers the ratio to the first. */
#include "cli/cli.h"

#include <jansson.h>
#include <string.h>

static int read_row(mrd_results *results, const char *text, json_t *rows, mrd_error *error)
{
    int64_t id;
    if (!mrd__parse_int64(mrd__str_of(text), &id) || id <= 0)
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_id",
                         "\"%s\" is no id of a result, allowed is a whole number above 0", text);
    mrd__buf out = {0};
    mrd_sink sink = mrd__buf_sink(&out);
    mrd_status status = mrd_results_show(results, id, MRD_FORMAT_JSON, &sink, error);
    if (status == MRD_OK) {
        json_t *row = json_loadb(out.data, out.size, 0, NULL);
        if (row == NULL || json_array_append_new(rows, row) != 0)
            status =
                mrd__fail(error, MRD_ERR_INTERNAL, "bad_row", "the row of %s is no JSON", text);
    }
    mrd__buf_reset(&out);
    return status;
}

/* Ratio of a number to the first row's, null where there is none. */
static json_t *ratio_of(const json_t *first, const json_t *value)
{
    if (!json_is_number(first) || !json_is_number(value)) return json_null();
    double base = json_number_value(first);
    if (base == 0) return json_null();
    return json_real(json_number_value(value) / base);
}

/* {column: [ratio to the first row, ...]} of the columns that hold numbers. */
static json_t *all_ratios(const json_t *rows)
{
    json_t *ratios = json_object();
    json_t *first = json_array_get(rows, 0);
    const char *column;
    json_t *base;
    json_object_foreach(first, column, base)
    {
        if (!json_is_number(base) || strcmp(column, "id") == 0 ||
            strcmp(column, "experiment_id") == 0)
            continue;
        json_t *list = json_array();
        for (size_t i = 0; i < json_array_size(rows); i++)
            json_array_append_new(list,
                                  ratio_of(base, json_object_get(json_array_get(rows, i), column)));
        json_object_set_new(ratios, column, list);
    }
    return ratios;
}

static void value_text(mrd__buf *out, const json_t *value)
{
    mrd__buf cell = {0};
    if (json_is_string(value))
        mrd__buf_text(&cell, json_string_value(value));
    else if (json_is_integer(value))
        mrd__buf_int(&cell, json_integer_value(value));
    else if (json_is_real(value))
        mrd__buf_double(&cell, json_real_value(value));
    else
        mrd__buf_text(&cell, value == NULL || json_is_null(value) ? "-" : "{...}");
    mrd__buf_printf(out, "  %-24.24s", cell.data);
    mrd__buf_reset(&cell);
}

static void table_text(mrd__buf *out, const json_t *rows, const json_t *ratios)
{
    const char *column;
    json_t *ignored;
    json_object_foreach(json_array_get(rows, 0), column, ignored)
    {
        mrd__buf_printf(out, "%-22s", column);
        for (size_t i = 0; i < json_array_size(rows); i++)
            value_text(out, json_object_get(json_array_get(rows, i), column));
        const json_t *list = json_object_get(ratios, column);
        for (size_t i = 1; list != NULL && i < json_array_size(list); i++) {
            const json_t *ratio = json_array_get(list, i);
            if (json_is_number(ratio)) mrd__buf_printf(out, "  x%.4g", json_number_value(ratio));
        }
        mrd__buf_char(out, '\n');
    }
}

static int print_rows(const mrd__cli *cli, json_t *rows)
{
    mrd__buf out = {0};
    json_t *ratios = all_ratios(rows);
    if (mrd__cli_has(cli, "json")) {
        json_t *document = json_pack("{s:O,s:O}", "results", rows, "ratios", ratios);
        mrd__cli_json(&out, document);
        mrd__buf_char(&out, '\n');
        json_decref(document);
    } else {
        table_text(&out, rows, ratios);
    }
    json_decref(ratios);
    return mrd__cli_print(&out);
}

int mrd__cmd_results_compare(const mrd__cli *cli)
{
    mrd_results *results = NULL;
    mrd_error error = {0};
    mrd_status status = MRD_OK;
    int code = mrd__cli_store(cli, &results);
    if (code != MRD__EXIT_DONE) return code;
    json_t *rows = json_array();
    for (size_t i = 0; i < cli->operands.count && status == MRD_OK; i++)
        status = read_row(results, cli->operands.data[i], rows, &error);
    code = status == MRD_OK ? print_rows(cli, rows) : mrd__cli_fail(&error);
    json_decref(rows);
    mrd_results_close(&results);
    return code;
}
