/* Lists: filters, sorting and pages (spec comm-sim.md section 5). Values are bound, names of
 * columns come from closed lists: nothing of a request reaches the SQL text. */
#include <stdlib.h>
#include <string.h>

#include "results/internal.h"

#define ROOM_MAX (16u << 20) /* bytes kept between lists; 1,000 rows of 100 chips have 10 MB */
#define FILTER_VALUES_MAX 48 /* of one question; a statement of PostgreSQL's driver takes 64 */

static const char *const sort_fields[] = {"created_at", "total_latency_ns", "msg_size_bytes",
                                          "bus_bw_gb_per_s", NULL};

typedef struct list_query {
    mrd__filter filter;
    const char *sort_by;
    bool ascending;
    int64_t page, page_size;
} list_query;

/* ---- Filters ---- */

static const struct {
    const char *name, *clause;
    int binds;
    bool number, repeats;
} kinds[] = {
    {"experiment", "experiment_id = (SELECT id FROM experiments WHERE name = ?)", 1, false, true},
    {"experiment_id", "experiment_id = ?", 1, true, true},
    {"primitive", "primitive = ?", 1, false, true},
    {"algorithm", "algorithm = ? OR algorithm_used = ?", 2, false, true},
    {"topology_name", "lower(topology_name) LIKE lower(?) ESCAPE '\\'", 1, false, true},
    {"msg_size_min", "msg_size_bytes >= ?", 1, true, false},
    {"msg_size_max", "msg_size_bytes <= ?", 1, true, false},
};
#define FILTERS (sizeof kinds / sizeof *kinds)

bool mrd__is_filter(const char *name)
{
    for (size_t i = 0; i < FILTERS; i++)
        if (strcmp(kinds[i].name, name) == 0) return true;
    return false;
}

mrd_status mrd__bad_value(const mrd__field *field, const char *allowed, mrd_error *error)
{
    return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter", "%s is %.*s, allowed is %s",
                     field->name, (int)(field->value.size > 200 ? 200 : field->value.size),
                     field->value.data ? field->value.data : "", allowed);
}

/* A pattern that ends in half an escape means nothing. */
static bool pattern_whole(mrd__str pattern)
{
    size_t slashes = 0;
    while (slashes < pattern.size && pattern.data[pattern.size - 1 - slashes] == '\\')
        slashes++;
    return slashes % 2 == 0;
}

static mrd_status value_of(const mrd__field *field, size_t kind, mrd__db_value *out,
                           mrd_error *error)
{
    int64_t number;
    if (kinds[kind].number) {
        if (!mrd__parse_int64(field->value, &number))
            return mrd__bad_value(field, "a whole number", error);
        *out = MRD__DB_OF_INT(number);
        return MRD_OK;
    }
    if (!mrd__utf8_valid(field->value) ||
        (field->value.size && memchr(field->value.data, 0, field->value.size)))
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter",
                         "%s is not text, allowed is UTF-8 without zero bytes", field->name);
    if (strcmp(field->name, "topology_name") == 0 && !pattern_whole(field->value))
        return mrd__bad_value(field, "a pattern that does not end in an escape", error);
    *out = MRD__DB_OF_TEXT(field->value);
    return MRD_OK;
}

/* All fields of one kind, joined by OR. */
static mrd_status add_kind(mrd__filter *filter, size_t kind, const mrd__field *fields, size_t count,
                           mrd_error *error)
{
    bool first = true;
    for (size_t i = 0; i < count; i++) {
        mrd__db_value value;
        if (strcmp(fields[i].name, kinds[kind].name) != 0) continue;
        if (!first && !kinds[kind].repeats)
            return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter", "%s is given twice",
                             fields[i].name);
        MRD__TRY(value_of(&fields[i], kind, &value, error));
        if (filter->values.count >= FILTER_VALUES_MAX)
            return mrd__fail(error, MRD_ERR_LIMIT, "too_many_values",
                             "more than %d values of filters", FILTER_VALUES_MAX);
        const char *join = !first ? " OR " : filter->where.size ? " AND (" : " WHERE (";
        mrd__buf_text(&filter->where, join);
        mrd__buf_text(&filter->where, kinds[kind].clause);
        for (int bind = 0; bind < kinds[kind].binds; bind++)
            mrd__vec_push(&filter->values, value);
        first = false;
    }
    if (!first) mrd__buf_char(&filter->where, ')');
    return MRD_OK;
}

mrd_status mrd__filter_build(mrd__filter *filter, const mrd__field *fields, size_t count,
                             mrd_error *error)
{
    for (size_t kind = 0; kind < FILTERS; kind++)
        MRD__TRY(add_kind(filter, kind, fields, count, error));
    return MRD_OK;
}

void mrd__filter_reset(mrd__filter *filter)
{
    mrd__buf_reset(&filter->where);
    mrd__vec_reset(&filter->values);
}

/* ---- Sorting and pages ---- */

static mrd_status set_sort(list_query *query, const mrd__field *field, mrd_error *error)
{
    for (size_t i = 0; sort_fields[i]; i++) {
        if (mrd__str_is(field->value, sort_fields[i])) {
            query->sort_by = sort_fields[i];
            return MRD_OK;
        }
    }
    return mrd__bad_value(field, "created_at, total_latency_ns, msg_size_bytes or bus_bw_gb_per_s",
                          error);
}

static mrd_status set_order(list_query *query, const mrd__field *field, mrd_error *error)
{
    query->ascending = mrd__str_is(field->value, "asc");
    if (!query->ascending && !mrd__str_is(field->value, "desc"))
        return mrd__bad_value(field, "asc or desc", error);
    return MRD_OK;
}

static mrd_status set_page(const mrd__field *field, int64_t most, int64_t *out, mrd_error *error)
{
    if (!mrd__parse_int64(field->value, out) || *out < 1 || *out > most)
        return mrd__bad_value(field, most == INT32_MAX ? "1 or more" : "1 to 1000", error);
    return MRD_OK;
}

static mrd_status add_field(list_query *query, const mrd__field *field, mrd_error *error)
{
    const char *name = field->name;
    if (mrd__is_filter(name)) return MRD_OK; /* gathered by mrd__filter_build: they may repeat */
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
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (!mrd__is_filter(fields[i].name) && strcmp(fields[i].name, fields[j].name) == 0)
                return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter", "%s is given twice",
                                 fields[i].name);
        }
        MRD__TRY(add_field(query, &fields[i], error));
    }
    return mrd__filter_build(&query->filter, fields, count, error);
}

/* ---- Rows ---- */

static mrd_status count_rows(mrd__results *results, const list_query *query, int64_t *total,
                             mrd_error *error)
{
    mrd__buf sql = {0};
    bool found;
    mrd__buf_printf(&sql, "SELECT count(*) FROM comm_eval_results %s%s",
                    query->filter.where.size ? "$FILTERED" : "",
                    query->filter.where.size ? query->filter.where.data : "");
    mrd_status status = mrd__db_int(results->db, sql.data, query->filter.values.data,
                                    query->filter.values.count, total, &found, error);
    mrd__buf_reset(&sql);
    return status;
}

/* The columns of a list: the large ones that no list shows are not read. */
static void select_listed(mrd__buf *sql)
{
    mrd__buf_text(sql, "SELECT ");
    for (size_t i = 0; i < mrd__column_count; i++)
        mrd__buf_printf(sql, "%s%s", i ? "," : "",
                        mrd__columns[i].listed ? mrd__columns[i].name : "NULL");
    mrd__buf_text(sql, " FROM comm_eval_results");
}

/* The ids of the page first, by index, then its rows: what is skipped is not read. */
static mrd_status select_page(mrd__results *results, const list_query *query, mrd__db_rows **rows,
                              mrd_error *error)
{
    mrd__buf sql = {0}, order = {0};
    const char *way = query->ascending ? "ASC" : "DESC";
    mrd__buf_printf(&order, "ORDER BY %s %s %s, id %s", query->sort_by, way,
                    query->ascending ? "$FIRST" : "$LAST", way);
    select_listed(&sql);
    mrd__buf_printf(
        &sql,
        " WHERE id IN (SELECT id FROM comm_eval_results %s%s %s LIMIT %lld OFFSET %lld) "
        "%s",
        query->filter.where.size ? "$FILTERED" : "",
        query->filter.where.size ? query->filter.where.data : "", order.data,
        (long long)query->page_size, (long long)((query->page - 1) * query->page_size), order.data);
    mrd_status status = mrd__db_query(results->db, sql.data, query->filter.values.data,
                                      query->filter.values.count, rows, error);
    mrd__buf_reset(&sql);
    mrd__buf_reset(&order);
    return status;
}

static void write_json_row(const mrd__db_rows *row, mrd__buf *out)
{
    bool has_trace = false;
    mrd__buf_char(out, '{');
    for (size_t i = 0; i < mrd__column_count; i++) {
        const mrd__column *column = &mrd__columns[i];
        if (!column->listed) continue;
        if (strcmp(column->name, "trace_file_path") == 0)
            has_trace = mrd__db_value_at(row, (int)i, MRD__DB_TEXT).type != MRD__DB_NULL;
        if (i) mrd__buf_char(out, ',');
        mrd__buf_char(out, '"');
        mrd__buf_text(out, column->name);
        mrd__buf_text(out, "\":");
        mrd__column_json(row, (int)i, column, out);
    }
    mrd__buf_printf(out, ",\"has_trace\":%s}", has_trace ? "true" : "false");
}

static void write_text_row(const mrd__db_rows *row, mrd__buf *out)
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
        const mrd__column *column = mrd__column_of(shown[k]);
        int index = (int)(column - mrd__columns);
        mrd__db_value value = mrd__db_value_at(row, index, MRD__DB_TEXT);
        if (k) mrd__buf_char(out, '\t');
        if (value.type == MRD__DB_NULL)
            mrd__buf_char(out, '-');
        else if (column->type == MRD__COLUMN_TEXT)
            mrd__buf_str(out, value.text);
        else
            mrd__column_json(row, index, column, out);
    }
    mrd__buf_char(out, '\n');
}

static mrd_status write_list(mrd__results *results, const list_query *query, mrd_format format,
                             mrd__buf *out, mrd_error *error)
{
    int64_t total = 0;
    mrd__db_rows *rows = NULL;
    bool json = format == MRD_FORMAT_JSON, first = true, more;
    MRD__TRY(count_rows(results, query, &total, error));
    MRD__TRY(select_page(results, query, &rows, error));
    mrd__buf_text(out, json ? "{\"results\":["
                            : "id\texperiment\tprimitive\talgorithm\tbytes\tchips\ttopology\t"
                              "latency_ns\tcreated_at\n");
    mrd_status status;
    while ((status = mrd__db_next(rows, &more, error)) == MRD_OK && more) {
        if (json && !first) mrd__buf_char(out, ',');
        first = false;
        if (json)
            write_json_row(rows, out);
        else
            write_text_row(rows, out);
    }
    mrd__db_end(rows);
    if (json)
        mrd__buf_printf(out, "],\"total\":%lld,\"page\":%lld,\"page_size\":%lld}\n",
                        (long long)total, (long long)query->page, (long long)query->page_size);
    return status;
}

/* Keep the memory of an answer for the next one; new memory costs more than what is written to it.
 */
static void keep_room(mrd__results *results, mrd__buf *out)
{
    mrd__buf_clear(out);
    pthread_mutex_lock(&results->mutex);
    if (!results->list_room.data && out->capacity <= ROOM_MAX) {
        results->list_room = *out;
        *out = (mrd__buf){0};
    }
    pthread_mutex_unlock(&results->mutex);
    mrd__buf_reset(out);
}

mrd_status mrd__results_list(mrd__results *results, const mrd__field *filters, size_t count,
                             mrd_format format, const mrd_sink *sink, mrd_error *error)
{
    list_query query = {0};
    mrd__buf out = {0};
    mrd_status status = build_query(&query, filters, count, error);
    if (status == MRD_OK) {
        pthread_mutex_lock(&results->mutex);
        out = results->list_room;
        results->list_room = (mrd__buf){0};
        status = write_list(results, &query, format, &out, error);
        pthread_mutex_unlock(&results->mutex);
    }
    if (status == MRD_OK) status = mrd__buf_flush(&out, sink, error);
    mrd__filter_reset(&query.filter);
    keep_room(results, &out);
    return status;
}
