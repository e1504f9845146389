/* The matrix that the page plots: one line a group, one point an x. */
#include <stdlib.h>
#include <string.h>

#include "results/internal.h"

typedef struct point {
    mrd__str group; /* owned; data NULL: null */
    double x, y;
    int64_t id;
    size_t age; /* number in the order of age */
    bool kept;  /* the newest of its cell */
} point;

typedef struct comparison {
    const mrd__column *group, *x, *y;
    mrd__filter filter;
    MRD__VEC(point) points;
} comparison;

static bool is_number(const mrd__column *column)
{
    return column->type == MRD__COLUMN_INTEGER || column->type == MRD__COLUMN_REAL;
}

/* Columns that a matrix may be made of: what lists show, but for JSON. */
static mrd_status set_column(const mrd__column **out, const mrd__field *field, bool number,
                             mrd_error *error)
{
    for (size_t i = 0; i < mrd__column_count; i++) {
        const mrd__column *column = &mrd__columns[i];
        if (!mrd__str_is(field->value, column->name)) continue;
        if (column->type == MRD__COLUMN_JSON || (number && !is_number(column))) break;
        *out = column;
        return MRD_OK;
    }
    return mrd__bad_value(field, number ? "a column of numbers" : "a column that is not JSON",
                          error);
}

/* result_id may repeat, as the filters of lists. */
static mrd_status add_ids(comparison *c, const mrd__field *fields, size_t count, mrd_error *error)
{
    bool first = true;
    for (size_t i = 0; i < count; i++) {
        int64_t id;
        if (strcmp(fields[i].name, "result_id") != 0) continue;
        if (!mrd__parse_int64(fields[i].value, &id))
            return mrd__bad_value(&fields[i], "a whole number", error);
        const char *start = c->filter.where.size ? " AND id IN (" : " WHERE id IN (";
        mrd__buf_printf(&c->filter.where, "%s%lld", first ? start : ",", (long long)id);
        first = false;
    }
    if (!first) mrd__buf_char(&c->filter.where, ')');
    return MRD_OK;
}

static mrd_status read_fields(comparison *c, const mrd__field *fields, size_t count,
                              mrd_error *error)
{
    static const char *const names[] = {"group_by", "x", "y"};
    const mrd__column **columns[] = {&c->group, &c->x, &c->y};
    c->group = mrd__column_of("topology_name");
    c->x = mrd__column_of("msg_size_bytes");
    c->y = mrd__column_of("total_latency_ns");
    bool given[3] = {false};
    for (size_t i = 0; i < count; i++) {
        bool known = mrd__is_filter(fields[i].name) || strcmp(fields[i].name, "result_id") == 0;
        for (int k = 0; k < 3; k++) {
            if (strcmp(fields[i].name, names[k]) != 0) continue;
            if (given[k])
                return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter", "%s is given twice",
                                 names[k]);
            MRD__TRY(set_column(columns[k], &fields[i], k > 0, error));
            known = given[k] = true;
        }
        if (!known)
            return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter",
                             "%s is unknown, allowed are group_by, x, y, result_id, experiment, "
                             "experiment_id, primitive, algorithm, topology_name, msg_size_min, "
                             "msg_size_max",
                             fields[i].name);
    }
    MRD__TRY(mrd__filter_build(&c->filter, fields, count, error));
    return add_ids(c, fields, count, error);
}

static double number_at(const mrd__db_rows *rows, int column, bool *null)
{
    mrd__db_value value = mrd__db_value_at(rows, column, MRD__DB_REAL);
    *null |= value.type == MRD__DB_NULL;
    return value.real;
}

static mrd_status read_points(comparison *c, mrd__results *results, mrd_error *error)
{
    mrd__buf sql = {0};
    mrd__db_rows *rows = NULL;
    bool more;
    mrd__buf_printf(&sql, "SELECT %s, %s, %s, id FROM comm_eval_results%s ORDER BY created_at, id",
                    c->group->name, c->x->name, c->y->name,
                    c->filter.where.size ? c->filter.where.data : "");
    mrd_status status = mrd__db_query(results->db, sql.data, c->filter.values.data,
                                      c->filter.values.count, &rows, error);
    mrd__buf_reset(&sql);
    while (status == MRD_OK && (status = mrd__db_next(rows, &more, error)) == MRD_OK && more) {
        bool null = false;
        point p = {.x = number_at(rows, 1, &null), .y = number_at(rows, 2, &null)};
        if (null) continue;
        p.age = c->points.count;
        p.id = mrd__db_value_at(rows, 3, MRD__DB_INT).integer;
        mrd__db_value group = mrd__db_value_at(rows, 0, MRD__DB_TEXT);
        if (group.type != MRD__DB_NULL)
            p.group = (mrd__str){mrd__strndup(group.text.data, group.text.size), group.text.size};
        mrd__vec_push(&c->points, p);
        if (c->points.count > MRD__RESULTS_COMPARE_MAX)
            status = mrd__fail(error, MRD_ERR_LIMIT, "too_many_results",
                               "more than %d results fit, the most compared; narrow the filters",
                               MRD__RESULTS_COMPARE_MAX);
    }
    mrd__db_end(rows);
    return status;
}

/* Null first, then numbers by value where the column holds such, else text by bytes. */
static int by_group(const point *a, const point *b)
{
    double x, y;
    if (!a->group.data || !b->group.data) return (a->group.data != NULL) - (b->group.data != NULL);
    if (mrd__parse_double(a->group, &x) && mrd__parse_double(b->group, &y) && x != y)
        return x < y ? -1 : 1;
    return mrd__str_compare(a->group, b->group);
}

static int by_cell(const void *a, const void *b)
{
    const point *p = a, *q = b;
    int groups = by_group(p, q);
    if (groups) return groups;
    return (p->x > q->x) - (p->x < q->x);
}

static int by_cell_and_age(const void *a, const void *b)
{
    const point *p = a, *q = b;
    int cells = by_cell(a, b);
    return cells ? cells : (p->age > q->age) - (p->age < q->age);
}

static int by_x(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

typedef MRD__VEC(double) numbers;

static void distinct_x(const comparison *c, numbers *xs)
{
    for (size_t i = 0; i < c->points.count; i++)
        mrd__vec_push(xs, c->points.data[i].x);
    if (xs->count) qsort(xs->data, xs->count, sizeof *xs->data, by_x);
    size_t kept = 0;
    for (size_t i = 0; i < xs->count; i++)
        if (kept == 0 || xs->data[kept - 1] != xs->data[i]) xs->data[kept++] = xs->data[i];
    xs->count = kept;
}

static void group_json(const comparison *c, const point *p, mrd__buf *out)
{
    if (!p->group.data)
        mrd__buf_text(out, "null");
    else if (is_number(c->group))
        mrd__buf_str(out, p->group);
    else
        mrd__buf_json_string(out, p->group);
}

/* One row of y and one of ids: points `from` to `to` are a group, sorted by x. */
static void write_group(const comparison *c, const numbers *xs, size_t from, size_t to, mrd__buf *y,
                        mrd__buf *ids)
{
    mrd__buf_text(y, from ? ",[" : "[");
    mrd__buf_text(ids, from ? ",[" : "[");
    size_t at = from;
    for (size_t i = 0; i < xs->count; i++) {
        if (i) mrd__buf_char(y, ',');
        if (i) mrd__buf_char(ids, ',');
        while (at < to && c->points.data[at].x == xs->data[i] && !c->points.data[at].kept)
            at++;
        if (at < to && c->points.data[at].x == xs->data[i]) {
            mrd__buf_json_double(y, c->points.data[at].y);
            mrd__buf_int(ids, c->points.data[at].id);
            at++;
        } else {
            mrd__buf_text(y, "null");
            mrd__buf_text(ids, "null");
        }
    }
    mrd__buf_char(y, ']');
    mrd__buf_char(ids, ']');
}

/* The last of a cell is its newest. */
static size_t keep_newest(comparison *c)
{
    size_t duplicates = 0;
    for (size_t i = 0; i < c->points.count; i++) {
        point *p = &c->points.data[i];
        p->kept = i + 1 == c->points.count || by_cell(p, &c->points.data[i + 1]) != 0;
        duplicates += !p->kept;
    }
    return duplicates;
}

static void write_matrix(comparison *c, mrd__buf *out)
{
    numbers xs = {0};
    mrd__buf y = {0}, ids = {0}, groups = {0};
    if (c->points.count)
        qsort(c->points.data, c->points.count, sizeof *c->points.data, by_cell_and_age);
    distinct_x(c, &xs);
    size_t duplicates = keep_newest(c), from = 0;
    for (size_t i = 1; i <= c->points.count; i++) {
        if (i < c->points.count && by_group(&c->points.data[from], &c->points.data[i]) == 0)
            continue;
        if (from) mrd__buf_char(&groups, ',');
        group_json(c, &c->points.data[from], &groups);
        write_group(c, &xs, from, i, &y, &ids);
        from = i;
    }
    mrd__buf_text(out, "{\"x\":[");
    for (size_t i = 0; i < xs.count; i++) {
        if (i) mrd__buf_char(out, ',');
        mrd__buf_json_double(out, xs.data[i]);
    }
    mrd__buf_printf(out, "],\"groups\":[%s],\"y\":[%s],\"ids\":[%s],\"duplicates\":%zu}\n",
                    groups.data ? groups.data : "", y.data ? y.data : "", ids.data ? ids.data : "",
                    duplicates);
    mrd__vec_reset(&xs);
    mrd__buf_reset(&y);
    mrd__buf_reset(&ids);
    mrd__buf_reset(&groups);
}

mrd_status mrd__results_compare(mrd__results *results, const mrd__field *fields, size_t count,
                                const mrd_sink *sink, mrd_error *error)
{
    comparison c = {0};
    mrd__buf out = {0};
    mrd_status status = read_fields(&c, fields, count, error);
    if (status == MRD_OK) {
        pthread_mutex_lock(&results->mutex);
        status = read_points(&c, results, error);
        pthread_mutex_unlock(&results->mutex);
    }
    if (status == MRD_OK) {
        write_matrix(&c, &out);
        status = mrd__buf_flush(&out, sink, error);
    }
    for (size_t i = 0; i < c.points.count; i++)
        mrd__free((char *)c.points.data[i].group.data);
    mrd__vec_reset(&c.points);
    mrd__filter_reset(&c.filter);
    mrd__buf_reset(&out);
    return status;
}
