/* The fast paths of the event window held to the contract's own words, value by value: every column
 * of both schemas, snapshot and anomalies, over random traces, windows, buckets and selections. */
#include "event_kit/ask.h"
#include "event_kit/machine.h"
#include "pairing/event_pairs.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define MAX_KEYS 64

/* One question, as random numbers made it and as text. */
typedef struct question {
    double start, end;
    bool start_given, end_given, end_inside;
    uint32_t buckets; /* 0: raw */
    bool minmax;
    uint32_t categories; /* bits */
    bool categories_given;
    uint32_t components; /* bits of c_0 to c_3 */
    bool components_given;
    char text[1024];
} question;

typedef struct world {
    kit_rows rows;
    mrd__events *events;
    kit_key keys[MAX_KEYS];
    machine machines[MAX_KEYS];
    size_t key_count;
} world;

/* ---- Traces ---- */

static kit_row random_row(mrd__rng *rng, uint64_t span, int style)
{
    kit_row row = {.category = (int)mrd__rng_below(rng, MRD__CAT_COUNT)};
    /* Style 0: ties everywhere; 1: fractions far from zero; 2: neat pairs come by chance. */
    double grid = (double)mrd__rng_below(rng, span);
    row.time = grid / 4 - 3;
    if (style == 1) row.time = 1e9 + grid * 0.37 + mrd__rng_unit(rng);
    if (style == 2) row.time = grid * 1000.001;
    row.value = (double)mrd__rng_below(rng, 4) - 1;
    snprintf(row.component, sizeof row.component, "c_%u", (unsigned)mrd__rng_below(rng, 4));
    if (mrd__rng_below(rng, 3) == 0) row.detail = mrd__rng_next(rng) & 1 ? "{\"a\":1}" : "";
    return row;
}

static void world_init(world *w, uint64_t seed)
{
    mrd__rng rng = {seed};
    static const uint64_t most[] = {3, 60, 700, 6000};
    size_t count = (size_t)mrd__rng_below(&rng, most[seed % 4]);
    int style = (int)mrd__rng_below(&rng, 3);
    uint64_t span = 1 + mrd__rng_below(&rng, count * 4 + 1);
    *w = (world){.rows = {.data = mrd__new_array(kit_row, count + 1), .count = count}};
    for (size_t i = 0; i < count; i++)
        w->rows.data[i] = random_row(&rng, span, style);
    kit_sort(&w->rows);
    w->rows.has_sim_end = mrd__rng_next(&rng) & 1;
    if (count) w->rows.sim_end = w->rows.data[count - 1].time + (double)mrd__rng_below(&rng, 9) - 3;
    w->events = kit_events(&w->rows);
    mrd__events_pair(w->events, 2);
    w->key_count = kit_keys(&w->rows, w->keys, MAX_KEYS);
    for (size_t k = 0; k < w->key_count; k++)
        w->machines[k] = machine_run(&w->rows, w->keys[k]);
}

static void world_reset(world *w)
{
    for (size_t k = 0; k < w->key_count; k++)
        mrd__free(w->machines[k].intervals);
    mrd__events_destroy(&w->events);
    mrd__free(w->rows.data);
}

/* ---- Questions ---- */

static double random_time(const world *w, mrd__rng *rng)
{
    double start = w->events->start_ns, span = w->events->end_ns - start;
    switch (mrd__rng_below(rng, 4)) {
    case 0: /* at an event */
        if (w->rows.count) return w->rows.data[mrd__rng_below(rng, w->rows.count)].time;
        return start;
    case 1: /* around, outside too */
        return start - span / 4 + mrd__rng_unit(rng) * span * 1.5;
    case 2:
        return start + mrd__rng_unit(rng) * span;
    default:
        return floor(start + mrd__rng_unit(rng) * span);
    }
}

static void random_window(const world *w, mrd__rng *rng, question *q)
{
    double first = w->events->start_ns, last = w->events->end_ns;
    q->end_inside = true;
    if (!(first < last)) {
        last = first + 1;
        q->end_inside = false;
    }
    q->start = first;
    q->end = last;
    q->start_given = mrd__rng_below(rng, 4) != 0;
    q->end_given = mrd__rng_below(rng, 4) != 0;
    if (q->start_given) q->start = random_time(w, rng);
    if (q->end_given) {
        q->end = random_time(w, rng);
        if (mrd__rng_below(rng, 4) == 0) /* a deep zoom */
            q->end = q->start + ldexp(1 + mrd__rng_unit(rng), -(int)mrd__rng_below(rng, 30));
        q->end_inside = false;
        if (q->end < q->start && q->start_given) {
            double swap = q->start;
            q->start = q->end;
            q->end = swap;
        }
    }
}

static void random_lists(mrd__rng *rng, question *q)
{
    q->categories_given = mrd__rng_below(rng, 3) == 0;
    q->components_given = mrd__rng_below(rng, 3) == 0;
    q->categories = q->categories_given ? (uint32_t)mrd__rng_below(rng, 64) : 63;
    q->components = q->components_given ? (uint32_t)mrd__rng_below(rng, 16) : 15;
}

static void write_text(question *q, mrd__rng *rng)
{
    mrd__buf text = {0};
    if (q->start_given) {
        mrd__buf_text(&text, "&start_ns=");
        mrd__buf_double(&text, q->start);
    }
    if (q->end_given) {
        mrd__buf_text(&text, "&end_ns=");
        mrd__buf_double(&text, q->end);
    }
    if (q->buckets) mrd__buf_printf(&text, "&buckets=%u", q->buckets);
    if (q->minmax) mrd__buf_text(&text, "&extra=minmax");
    if (q->categories_given) mrd__buf_text(&text, "&categories=");
    const char *comma = "";
    for (int i = 0; q->categories_given && i < MRD__CAT_COUNT; i++) {
        if (!(q->categories >> i & 1)) continue;
        mrd__buf_printf(&text, "%s%s", comma, kit_categories[i]);
        comma = ",";
    }
    if (q->components_given) mrd__buf_text(&text, "&components=");
    comma = "";
    for (int i = 3; q->components_given && i >= 0; i--) {
        if (!(q->components >> i & 1)) continue;
        /* Twice and unknown names change nothing. */
        mrd__buf_printf(&text, "%sc_%d", comma, i);
        comma = mrd__rng_next(rng) & 1 ? ",c%5F1x,c_9," : ",";
        if (strcmp(comma, ",") != 0) mrd__buf_printf(&text, "%sc_%d", comma, i);
        comma = ",";
    }
    snprintf(q->text, sizeof q->text, "%s", text.size ? text.data + 1 : "");
    mrd__buf_reset(&text);
}

static question random_question(const world *w, mrd__rng *rng)
{
    static const uint32_t buckets[] = {0, 0, 1, 2, 3, 7, 64, 100, 333, 2048, 4096};
    question q = {.buckets = buckets[mrd__rng_below(rng, sizeof buckets / sizeof *buckets)]};
    q.minmax = mrd__rng_next(rng) & 1;
    random_window(w, rng, &q);
    random_lists(rng, &q);
    write_text(&q, rng);
    return q;
}

static bool component_chosen(const question *q, const char *name)
{
    return q->components >> (name[2] - '0') & 1;
}

static bool key_chosen(const question *q, kit_key key)
{
    uint32_t bits = 1u << key.category;
    if (kit_is_interval(key.category)) bits |= bits << 1;
    return (q->categories & bits) && component_chosen(q, key.component);
}

static bool in_window(const question *q, double time)
{
    return time >= q->start && (time < q->end || (q->end_inside && time <= q->end));
}

/* ---- What must come ---- */

static double cell_number(const tree *row, const char *name)
{
    return tree_number(tree_get(row, name));
}

static void check_text(const tree *row, const char *name, const char *want)
{
    assert_string_equal(tree_get(row, name)->text.data, want);
}

static void check_raw(const world *w, const question *q, const tree *row)
{
    for (size_t i = 0; i < w->rows.count; i++) {
        const kit_row *want = &w->rows.data[i];
        if (!in_window(q, want->time) || !component_chosen(q, want->component)) continue;
        if (!(q->categories >> want->category & 1)) continue;
        assert_non_null(row);
        assert_true(cell_number(row, "time_ns") == want->time);
        assert_true(cell_number(row, "value") == want->value);
        check_text(row, "category", kit_categories[want->category]);
        check_text(row, "component", want->component);
        const tree *detail = tree_get(row, "detail_json");
        assert_int_equal(detail->type, want->detail ? MRD__JSON_STRING : MRD__JSON_NULL);
        if (want->detail) assert_string_equal(detail->text.data, want->detail);
        row = row->next;
    }
    assert_null(row);
}

/* What one key has in one bucket. */
typedef struct cell {
    uint32_t events;
    long double covered; /* of the bucket */
    bool all, some;      /* covered wholly, in part */
    bool has_value;
    double last, min, max;
} cell;

static uint32_t bucket_of(const question *q, double time)
{
    double width = (q->end - q->start) / q->buckets;
    double bucket = floor((time - q->start) / width);
    return bucket < q->buckets - 1 ? (uint32_t)bucket : q->buckets - 1;
}

static double edge_of(const question *q, uint32_t bucket)
{
    double width = (q->end - q->start) / q->buckets;
    double edge = bucket == q->buckets ? q->end : q->start + bucket * width;
    return edge < q->end ? edge : q->end;
}

static void cover_cells(const question *q, const machine *m, cell *cells)
{
    for (uint32_t b = 0; b < q->buckets; b++) {
        double low = edge_of(q, b), high = edge_of(q, b + 1), reach = low;
        for (size_t i = 0; i < m->count; i++) {
            const machine_interval *interval = &m->intervals[i];
            if (low == high && interval->start <= low && low < interval->end)
                cells[b].some = cells[b].all = true;
            double from = interval->start > low ? interval->start : low;
            double to = interval->end < high ? interval->end : high;
            if (!(from < to)) continue;
            cells[b].some = true;
            cells[b].covered += (long double)to - (long double)from;
            if (from <= reach) reach = to;
        }
        if (low < high && reach >= high) cells[b].all = true;
    }
}

static void value_cells(const world *w, const question *q, kit_key key, cell *cells)
{
    bool has = false;
    double value = 0;
    size_t i = 0;
    for (uint32_t b = 0; b < q->buckets; b++) {
        cells[b].min = has ? value : INFINITY;
        cells[b].max = has ? value : -INFINITY;
        for (; i < w->rows.count; i++) {
            const kit_row *row = &w->rows.data[i];
            bool before = row->time < q->start;
            if (!before && (!in_window(q, row->time) || bucket_of(q, row->time) > b)) break;
            if (!machine_takes(row, key)) continue;
            has = true;
            value = row->value;
            if (before) cells[b].min = cells[b].max = value;
            if (value < cells[b].min) cells[b].min = value;
            if (value > cells[b].max) cells[b].max = value;
        }
        cells[b].has_value = has;
        cells[b].last = value;
    }
}

static cell *cells_of(const world *w, const question *q, size_t k)
{
    cell *cells = mrd__new_array(cell, q->buckets);
    for (size_t i = 0; i < w->rows.count; i++) {
        const kit_row *row = &w->rows.data[i];
        if (machine_takes(row, w->keys[k]) && in_window(q, row->time))
            cells[bucket_of(q, row->time)].events++;
    }
    if (kit_is_interval(w->keys[k].category)) cover_cells(q, &w->machines[k], cells);
    if (w->keys[k].category == MRD__CAT_OSTD_CHANGE) value_cells(w, q, w->keys[k], cells);
    return cells;
}

static void check_null(const tree *row, const char *name)
{
    assert_int_equal(tree_get(row, name)->type, MRD__JSON_NULL);
}

static void check_ratio(const question *q, const cell *want, const tree *row)
{
    double width = (q->end - q->start) / q->buckets;
    double ratio = cell_number(row, "busy_ratio");
    if (want->all) {
        assert_true(ratio == 1);
    } else if (!want->some) {
        assert_true(ratio == 0);
    } else {
        long double exact = want->covered / (long double)width;
        if (exact > 1) exact = 1;
        assert_true(ratio > 0 && fabsl((long double)ratio - exact) <= 1e-9L);
    }
}

static void check_cell(const question *q, kit_key key, const cell *want, uint32_t bucket,
                       const tree *row)
{
    double width = (q->end - q->start) / q->buckets;
    assert_non_null(row);
    assert_true(cell_number(row, "bucket_start_ns") == q->start + bucket * width);
    check_text(row, "component", key.component);
    check_text(row, "category", kit_categories[key.category]);
    assert_true(cell_number(row, "event_count") == want->events);
    bool counter = key.category == MRD__CAT_OSTD_CHANGE;
    if (kit_is_interval(key.category))
        check_ratio(q, want, row);
    else
        check_null(row, "busy_ratio");
    if (counter)
        assert_true(cell_number(row, "last_value") == want->last);
    else
        check_null(row, "last_value");
    assert_int_equal(tree_get(row, "min_value") != NULL, q->minmax);
    if (!q->minmax) return;
    if (!counter) {
        check_null(row, "min_value");
        check_null(row, "max_value");
        return;
    }
    assert_true(cell_number(row, "min_value") == want->min);
    assert_true(cell_number(row, "max_value") == want->max);
}

static void check_cells(const world *w, const question *q, const tree *row)
{
    cell *cells[MAX_KEYS] = {0};
    for (size_t k = 0; k < w->key_count; k++) {
        if (key_chosen(q, w->keys[k])) cells[k] = cells_of(w, q, k);
    }
    for (uint32_t b = 0; b < q->buckets; b++) {
        for (size_t k = 0; k < w->key_count; k++) {
            if (!cells[k]) continue;
            const cell *want = &cells[k][b];
            bool carried = want->has_value && want->last != 0;
            if (!want->events && !want->some && !carried) continue;
            check_cell(q, w->keys[k], want, b, row);
            row = row->next;
        }
    }
    assert_null(row);
    for (size_t k = 0; k < w->key_count; k++)
        mrd__free(cells[k]);
}

static void check_snapshot(const world *w, const question *q, const tree *snapshot)
{
    assert_true(cell_number(snapshot, "window_start_ns") == q->start);
    const tree *open = tree_get(snapshot, "open_intervals")->child;
    for (size_t k = 0; k < w->key_count; k++) {
        if (!key_chosen(q, w->keys[k]) || !kit_is_interval(w->keys[k].category)) continue;
        machine m = {.intervals = mrd__new_array(machine_interval, w->rows.count + 1)};
        for (size_t i = 0; i < w->rows.count && w->rows.data[i].time < q->start; i++) {
            if (machine_takes(&w->rows.data[i], w->keys[k])) machine_step(&m, &w->rows.data[i]);
        }
        mrd__free(m.intervals);
        if (!m.open) continue;
        assert_non_null(open);
        check_text(open, "component", w->keys[k].component);
        check_text(open, "category", kit_categories[w->keys[k].category]);
        assert_true(cell_number(open, "since_ns") == m.since);
        open = open->next;
    }
    assert_null(open);
}

static void check_anomalies(const world *w, const question *q, const tree *bad)
{
    for (size_t k = 0; k < w->key_count; k++) {
        if (!key_chosen(q, w->keys[k]) || !kit_is_interval(w->keys[k].category)) continue;
        const machine *m = &w->machines[k];
        if (!m->anomalies) continue;
        assert_non_null(bad);
        check_text(bad, "component", w->keys[k].component);
        check_text(bad, "category", kit_categories[w->keys[k].category]);
        assert_true(cell_number(bad, "count") == (double)m->anomalies);
        assert_true(cell_number(bad, "first_ns") == m->first_anomaly);
        bad = bad->next;
    }
    assert_null(bad);
}

static void check_question(const world *w, const question *q)
{
    ask_answer answer = ask(w->events, q->text);
    if (!(q->start < q->end)) {
        assert_int_equal(answer.status, MRD_ERR_ARGUMENT);
        assert_string_equal(answer.error.code, "bad_window");
        ask_reset(&answer);
        return;
    }
    if (answer.status != MRD_OK && q->end - q->start < 1e-300) { /* no width of a bucket */
        assert_string_equal(answer.error.code, "bad_window");
        ask_reset(&answer);
        return;
    }
    if (answer.status != MRD_OK) fail_msg("%s: %s", q->text, answer.error.message);
    const tree *rows = tree_get(answer.root, "rows")->child;
    check_text(answer.root, "mode", q->buckets ? "aggregated" : "raw");
    check_snapshot(w, q, tree_get(answer.root, "snapshot"));
    check_anomalies(w, q, tree_get(answer.root, "anomalies")->child);
    const tree *bounds = tree_get(answer.root, "bounds");
    assert_true(cell_number(bounds, "start_ns") == w->events->start_ns);
    assert_true(cell_number(bounds, "end_ns") == kit_sim_end(&w->rows));
    assert_true(cell_number(bounds, "events") == (double)w->rows.count);
    if (q->buckets)
        check_cells(w, q, rows);
    else
        check_raw(w, q, rows);
    ask_reset(&answer);
}

static char asked[1200]; /* the last question, for a failure's message */

static void random_questions(void **state)
{
    (void)state;
    const char *count = getenv("MRD_TEST_SEEDS");
    uint64_t seeds = 80;
    if (count) (void)mrd__parse_uint64(mrd__str_of(count), &seeds);
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        world w;
        world_init(&w, seed);
        mrd__rng rng = {seed * 7919};
        for (int i = 0; i < 16; i++) {
            question q = random_question(&w, &rng);
            snprintf(asked, sizeof asked, "seed %llu, %zu rows: %s", (unsigned long long)seed,
                     w.rows.count, q.text);
            check_question(&w, &q);
        }
        world_reset(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_questions)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (failed) print_message("after %s\n", asked);
    return failed;
}
