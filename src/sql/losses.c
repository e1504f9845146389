/* `loss` as `dump` prints it; `stats` with the original's counters: one row a name of its own (the
 * sum of our causes) and one a loss of ours that it does not have; its log of overlaps. */
#include "sql/table.h"

#include <string.h>

#define COLUMNS(list) .columns = (list), .width = sizeof(list) / sizeof(list)[0]

/* ---- loss ---- */

static const mrd__sql_column loss_columns[] = {
    {"name", MRD__SQL_TEXT},    {"peer_name", MRD__SQL_TEXT}, {"severity", MRD__SQL_TEXT},
    {"count", MRD__SQL_INT},    {"file", MRD__SQL_TEXT},      {"offset", MRD__SQL_INT},
    {"excerpt", MRD__SQL_TEXT}, {"advice", MRD__SQL_TEXT},
};

static uint64_t loss_count(const mrd__sql *sql)
{
    return sql->store->loss_count;
}

static void put_name(mrd__sql_out *out, size_t i, const char *text)
{
    if (text == NULL)
        mrd__sql_put_null(out, i);
    else
        mrd__sql_put_text(out, i, mrd__str_of(text));
}

/* What tells losses of one cause apart stands in the excerpt: the phase, the worst case. */
static void put_excerpt(mrd__sql_out *out, size_t i, const mrd__loss *loss)
{
    mrd__buf text = {0};
    if (loss->letter != '\0') {
        mrd__buf_char(&text, loss->letter);
    } else {
        mrd__buf_text(&text, loss->excerpt);
        if (loss->worst_ns != 0)
            mrd__buf_printf(&text, "%sworst %lld ns", text.size > 0 ? ", " : "",
                            (long long)loss->worst_ns);
    }
    mrd__sql_put_copy(out, i, (mrd__str){text.size > 0 ? text.data : "", text.size});
    mrd__buf_reset(&text);
}

static void loss_cell(const mrd__sql *sql, uint64_t row, unsigned column, mrd__sql_out *out,
                      size_t i)
{
    const mrd__loss *loss = &sql->store->losses[row];
    const mrd__loss_info *info = mrd__loss_info_of(loss->id);
    switch (column) {
    case 0:
        put_name(out, i, info->name);
        return;
    case 1:
        put_name(out, i, info->peer_name);
        return;
    case 2:
        put_name(out, i, mrd__severity_name(info->severity));
        return;
    case 3:
        mrd__sql_put_int(out, i, (int64_t)loss->count);
        return;
    case 4:
        put_name(out, i,
                 loss->file < sql->store->file_count ? sql->store->files[loss->file].path : NULL);
        return;
    case 5:
        mrd__sql_put_int(out, i, loss->offset);
        if (loss->offset < 0) mrd__sql_put_null(out, i);
        return;
    case 6:
        put_excerpt(out, i, loss);
        return;
    default:
        put_name(out, i, info->advice);
    }
}

/* ---- stats: a row each cause that is the first of its name ---- */

static const mrd__sql_column stat_columns[] = {
    {"name", MRD__SQL_TEXT}, {"severity", MRD__SQL_TEXT},    {"source", MRD__SQL_TEXT},
    {"value", MRD__SQL_INT}, {"description", MRD__SQL_TEXT}, {"is_first", MRD__SQL_BOOL},
};

static uint64_t stat_count(const mrd__sql *sql)
{
    (void)sql;
    return MRD__LOSS_COUNT;
}

static const char *stat_name(mrd__loss_id id)
{
    const mrd__loss_info *info = mrd__loss_info_of(id);
    return info->peer_name != NULL ? info->peer_name : info->name;
}

static bool same_stat(mrd__loss_id a, mrd__loss_id b)
{
    return strcmp(stat_name(a), stat_name(b)) == 0;
}

static int64_t stat_value(const mrd__store *store, mrd__loss_id id)
{
    int64_t sum = 0;
    for (size_t i = 0; i < store->loss_count; i++) {
        if (same_stat(store->losses[i].id, id)) sum += (int64_t)store->losses[i].count;
    }
    return sum;
}

static mrd__severity stat_severity(mrd__loss_id id)
{
    mrd__severity worst = MRD__INFO;
    for (int other = 0; other < MRD__LOSS_COUNT; other++) {
        const mrd__loss_info *info = mrd__loss_info_of((mrd__loss_id)other);
        if (same_stat((mrd__loss_id)other, id) && info->severity > worst) worst = info->severity;
    }
    return worst;
}

static void stat_cell(const mrd__sql *sql, uint64_t row, unsigned column, mrd__sql_out *out,
                      size_t i)
{
    mrd__loss_id id = (mrd__loss_id)row;
    bool first = true;
    switch (column) {
    case 0:
        put_name(out, i, stat_name(id));
        return;
    case 1:
        put_name(out, i, mrd__severity_name(stat_severity(id)));
        return;
    case 2:
        put_name(out, i, "analysis");
        return;
    case 3:
        mrd__sql_put_int(out, i, stat_value(sql->store, id));
        return;
    case 4:
        put_name(out, i, mrd__loss_info_of(id)->advice);
        return;
    default:
        for (int before = 0; before < (int)id; before++)
            first = first && !same_stat((mrd__loss_id)before, id);
        mrd__sql_put_bool(out, i, first);
    }
}

/* ---- _trace_import_logs: the slices that overlap another one ---- */

static const mrd__sql_column log_columns[] = {
    {"id", MRD__SQL_INT},    {"ts", MRD__SQL_INT},         {"severity", MRD__SQL_TEXT},
    {"name", MRD__SQL_TEXT}, {"arg_set_id", MRD__SQL_INT}, {"slice_id", MRD__SQL_INT},
};

static uint64_t log_count(const mrd__sql *sql)
{
    return sql->overlapped.count;
}

static void log_cell(const mrd__sql *sql, uint64_t row, unsigned column, mrd__sql_out *out,
                     size_t i)
{
    uint64_t slice = sql->overlapped.data[row];
    const mrd__loss_info *info = mrd__loss_info_of(MRD__LOSS_OVERLAPPING_COMPLETE_EVENTS);
    switch (column) {
    case 0:
        mrd__sql_put_int(out, i, (int64_t)row);
        return;
    case 1:
        mrd__sql_put_int(out, i, mrd__store_slice_start(sql->store, slice));
        return;
    case 2:
        put_name(out, i, mrd__severity_name(info->severity));
        return;
    case 3:
        put_name(out, i, info->peer_name);
        return;
    case 4:
        mrd__sql_put_int(out, i, (int64_t)(mrd__sql_total(sql) + row));
        return;
    default:
        mrd__sql_put_int(out, i, (int64_t)slice);
    }
}

const mrd__sql_table mrd__sql_loss_tables[] = {
    {.name = "loss", COLUMNS(loss_columns), .count = loss_count, .cell = loss_cell},
    {.name = "mrd_stats", COLUMNS(stat_columns), .count = stat_count, .cell = stat_cell},
    {.name = "mrd_import_logs", COLUMNS(log_columns), .count = log_count, .cell = log_cell},
    {.name = NULL},
};
