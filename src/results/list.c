/* Lists: filters, sorting and pages (spec comm-sim.md section 5). Values are bound, names of
 * columns come from closed lists: nothing of a request reaches the SQL text. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "results/internal.h"

static const char *const sort_fields[] = {"created_at", "total_latency_ns", "msg_size_bytes",
                                          "bus_bw_gb_per_s", NULL};

typedef struct list_query {
    mrd__buf where; /* " WHERE ..." or empty */
    MRD__VEC(mrd__str) texts;
    MRD__VEC(int64_t) numbers; /* bound after the texts */
    const char *sort_by;
    bool ascending;
    int64_t page, page_size;
} list_query;

static void query_reset(list_query *query)
{
    mrd__buf_reset(&query->where);
    mrd__vec_reset(&query->texts);
    mrd__vec_reset(&query->numbers);
}

static mrd_status bad_value(const mrd__field *field, const char *allowed, mrd_error *error)
{
    return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter", "%s is %.*s, allowed is %s",
                     field->name, (int)(field->value.size > 200 ? 200 : field->value.size),
                     field->value.data ? field->value.data : "", allowed);
}

/* One text filter; its occurrences are joined by OR. clause holds %s for nothing: it is static. */
static void add_texts(list_query *query, const mrd__field *fields, size_t count, const char *name,
                      const char *clause, int binds)
{
    bool first = true;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(fields[i].name, name) != 0) continue;
        mrd__buf_text(&query->where, !first ? " OR " : query->where.size ? " AND (" : " WHERE (");
        mrd__buf_text(&query->where, clause);
        for (int bind = 0; bind < binds; bind++)
            mrd__vec_push(&query->texts, fields[i].value);
        first = false;
    }
    if (!first) mrd__buf_char(&query->where, ')');
}

static mrd_status add_number(list_query *query, const mrd__field *field, const char *clause,
                             mrd_error *error)
{
    int64_t value;
    if (!mrd__parse_int64(field->value, &value)) return bad_value(field, "a whole number", error);
    mrd__buf_text(&query->where, query->where.size ? " AND " : " WHERE ");
    mrd__buf_text(&query->where, clause);
    mrd__vec_push(&query->numbers, value);
    return MRD_OK;
}

static mrd_status set_sort(list_query *query, const mrd__field *field, mrd_error *error)
{
    for (size_t i = 0; sort_fields[i]; i++) {
        if (mrd__str_is(field->value, sort_fields[i])) {
            query->sort_by = sort_fields[i];
            return MRD_OK;
        }
    }
    return bad_value(field, "created_at, total_latency_ns, msg_size_bytes or bus_bw_gb_per_s",
                     error);
}

static mrd_status set_order(list_query *query, const mrd__field *field, mrd_error *error)
{
    query->ascending = mrd__str_is(field->value, "asc");
    if (!query->ascending && !mrd__str_is(field->value, "desc"))
        return bad_value(field, "asc or desc", error);
    return MRD_OK;
}

static mrd_status set_page(const mrd__field *field, int64_t most, int64_t *out, mrd_error *error)
{
    if (!mrd__parse_int64(field->value, out) || *out < 1 || *out > most)
        return bad_value(field, most == INT32_MAX ? "1 or more" : "1 to 1000", error);
    return MRD_OK;
}

static bool is_text_filter(const char *name)
{
    return strcmp(name, "primitive") == 0 || strcmp(name, "algorithm") == 0 ||
           strcmp(name, "topology_name") == 0 || strcmp(name, "experiment") == 0;
}

static mrd_status add_field(list_query *query, const mrd__field *field, mrd_error *error)
{
    const char *name = field->name;
    if (is_text_filter(name)) return MRD_OK; /* gathered by add_texts: they may repeat */
    if (strcmp(name, "experiment_id") == 0)
        return add_number(query, field, "experiment_id = ?", error);
    if (strcmp(name, "msg_size_min") == 0)
        return add_number(query, field, "msg_size_bytes >= ?", error);
    if (strcmp(name, "msg_size_max") == 0)
        return add_number(query, field, "msg_size_bytes <= ?", error);
    if (strcmp(name, "sort_by") == 0) return set_sort(query, field, error);
    if (strcmp(name, "sort_order") == 0) return set_order(query, field, error);
    if (strcmp(name, "page") == 0) return set_page(field, INT32_MAX, &query->page, error);
    if (strcmp(name, "page_size") == 0)
        return set_page(field, MRD__RESULTS_PAGE_MAX, &query->page_size, error);
    return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter",
                     "%s is unknown, allowed are experiment, experiment_id, primitive, algorithm, "
                     "topology_name, msg_size_min, msg_size_max, sort_by, sort_order, page, "
                     "page_size",
                     name);
}

static mrd_status build_query(list_query *query, const mrd__field *fields, size_t count,
                              mrd_error *error)
{
    query->sort_by = "created_at";
    query->page = 1;
    query->page_size = MRD__RESULTS_PAGE_SIZE;
    add_texts(query, fields, count, "primitive", "primitive = ?", 1);
    add_texts(query, fields, count, "algorithm", "algorithm = ? OR algorithm_used = ?", 2);
    add_texts(query, fields, count, "topology_name", "topology_name LIKE ? ESCAPE '\\'", 1);
    add_texts(query, fields, count, "experiment",
              "experiment_id = (SELECT id FROM experiments WHERE name = ?)", 1);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (!is_text_filter(fields[i].name) && strcmp(fields[i].name, fields[j].name) == 0)
                return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter", "%s is given twice",
                                 fields[i].name);
        }
        MRD__TRY(add_field(query, &fields[i], error));
    }
    return MRD_OK;
}

static void bind_query(sqlite3_stmt *statement, const list_query *query)
{
    int at = 1;
    for (size_t i = 0; i < query->texts.count; i++)
        mrd__sql_bind_text(statement, at++, query->texts.data[i]);
    for (size_t i = 0; i < query->numbers.count; i++)
        sqlite3_bind_int64(statement, at++, query->numbers.data[i]);
}

static mrd_status count_rows(mrd__results *results, const list_query *query, int64_t *total,
                             mrd_error *error)
{
    mrd__buf sql = {0};
    sqlite3_stmt *statement = NULL;
    mrd__buf_printf(&sql, "SELECT count(*) FROM comm_eval_results%s",
                    query->where.size ? query->where.data : "");
    mrd_status status = mrd__sql_prepare(results, sql.data, &statement, error);
    mrd__buf_reset(&sql);
    if (status != MRD_OK) return status;
    bind_query(statement, query);
    if (sqlite3_step(statement) == SQLITE_ROW)
        *total = sqlite3_column_int64(statement, 0);
    else
        status = mrd__sql_fail(results, "cannot count", error);
    sqlite3_finalize(statement);
    return status;
}

static mrd_status select_page(mrd__results *results, const list_query *query,
                              sqlite3_stmt **statement, mrd_error *error)
{
    mrd__buf sql = {0};
    const char *order = query->ascending ? "ASC" : "DESC";
    mrd__buf_text(&sql, "SELECT ");
    for (size_t i = 0; i < mrd__column_count; i++)
        mrd__buf_printf(&sql, "%s%s", i ? "," : "", mrd__columns[i].name);
    mrd__buf_printf(&sql, " FROM comm_eval_results%s ORDER BY %s %s, id %s LIMIT %lld OFFSET %lld",
                    query->where.size ? query->where.data : "", query->sort_by, order, order,
                    (long long)query->page_size, (long long)((query->page - 1) * query->page_size));
    mrd_status status = mrd__sql_prepare(results, sql.data, statement, error);
    mrd__buf_reset(&sql);
    if (status == MRD_OK) bind_query(*statement, query);
    return status;
}

static void write_json_row(sqlite3_stmt *row, mrd__buf *out)
{
    bool has_trace = false;
    mrd__buf_char(out, '{');
    for (size_t i = 0; i < mrd__column_count; i++) {
        const mrd__column *column = &mrd__columns[i];
        if (strcmp(column->name, "trace_file_path") == 0)
            has_trace = sqlite3_column_type(row, (int)i) != SQLITE_NULL;
        if (!column->listed) continue;
        mrd__buf_printf(out, "%s\"%s\":", i ? "," : "", column->name);
        mrd__sql_json(row, (int)i, column, out);
    }
    mrd__buf_printf(out, ",\"has_trace\":%s}", has_trace ? "true" : "false");
}

static void write_text_row(sqlite3_stmt *row, mrd__buf *out)
{
    static const char *const shown[] = {"id",
                                        "experiment_id",
                                        "primitive",
                                        "algorithm",
                                        "msg_size_bytes",
                                        "num_participants",
                                        "topology_name",
                                        "total_latency_ns",
                                        "created_at"};
    for (size_t k = 0; k < sizeof shown / sizeof *shown; k++) {
        for (size_t i = 0; i < mrd__column_count; i++) {
            if (strcmp(mrd__columns[i].name, shown[k]) != 0) continue;
            const char *text = (const char *)sqlite3_column_text(row, (int)i);
            mrd__buf_printf(out, "%s%s", k ? "\t" : "", text ? text : "-");
        }
    }
    mrd__buf_char(out, '\n');
}

static mrd_status write_list(mrd__results *results, const list_query *query, mrd_format format,
                             mrd__buf *out, mrd_error *error)
{
    int64_t total = 0;
    sqlite3_stmt *row = NULL;
    bool json = format == MRD_FORMAT_JSON, first = true;
    int code;
    MRD__TRY(count_rows(results, query, &total, error));
    MRD__TRY(select_page(results, query, &row, error));
    mrd__buf_text(out, json ? "{\"results\":["
                            : "id\texperiment\tprimitive\talgorithm\tbytes\tchips\ttopology\t"
                              "latency_ns\tcreated_at\n");
    while ((code = sqlite3_step(row)) == SQLITE_ROW) {
        if (json && !first) mrd__buf_char(out, ',');
        first = false;
        if (json)
            write_json_row(row, out);
        else
            write_text_row(row, out);
    }
    mrd_status status = code == SQLITE_DONE ? MRD_OK : mrd__sql_fail(results, "cannot list", error);
    sqlite3_finalize(row);
    if (json)
        mrd__buf_printf(out, "],\"total\":%lld,\"page\":%lld,\"page_size\":%lld}\n",
                        (long long)total, (long long)query->page, (long long)query->page_size);
    return status;
}

mrd_status mrd__results_list(mrd__results *results, const mrd__field *filters, size_t count,
                             mrd_format format, const mrd_sink *sink, mrd_error *error)
{
    list_query query = {0};
    mrd__buf out = {0};
    mrd_status status = build_query(&query, filters, count, error);
    if (status == MRD_OK) {
        pthread_mutex_lock(&results->mutex);
        status = write_list(results, &query, format, &out, error);
        pthread_mutex_unlock(&results->mutex);
    }
    if (status == MRD_OK) status = mrd__buf_flush(&out, sink, error);
    query_reset(&query);
    mrd__buf_reset(&out);
    return status;
}
