/* Windows over plain tracks: raw and aggregated, against a straight scan of random stores, and the
 * rules of the contract one by one. */
#include "query/store_kit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "query/window.h"

enum {
    R_ID,
    R_TS,
    R_DUR,
    R_TRACK,
    R_ROW,
    R_DEPTH,
    R_NAME,
    R_CATEGORY
};
enum {
    G_START,
    G_TRACK,
    G_ROW,
    G_COUNT,
    G_BUSY,
    G_LONGEST,
    G_NAME,
    G_MIN,
    G_MAX,
    G_LAST
};

/* ---- Random stores ---- */

static double random_step(mrd__rng *rng, double scale)
{
    uint64_t kind = mrd__rng_below(rng, 4);
    if (kind == 0) return 0;
    if (kind == 1) return mrd__rng_unit(rng) * scale;
    return floor(mrd__rng_unit(rng) * scale);
}

static void random_row(mrd__store *store, mrd__rng *rng, uint16_t line, uint64_t slices,
                       double scale)
{
    static const char *const names[] = {"a", "b", "c", "long name", "matmul"};
    kit_row(store, line, line);
    double at = random_step(rng, 1000);
    for (uint64_t i = 0; i < slices; i++) {
        double start = at + random_step(rng, scale);
        at = start + random_step(rng, scale);
        uint32_t id = kit_slice(store, start, at, names[mrd__rng_below(rng, 5)]);
        if (mrd__rng_below(rng, 50) == 0) store->slices.flags[id] = MRD__SLICE_UNCLOSED;
    }
}

/* Six tracks: nested, empty, sparse, one of counters, one of instants, async. */
static mrd__store *random_store(mrd__rng *rng, double origin)
{
    mrd__store *store = kit_store(1700000000000000000);
    uint32_t process = kit_process(store, 7, "python");
    uint32_t thread = kit_thread(store, process, 8, "main");
    kit_track(store, MRD__TRACK_THREAD, "main", process, thread);
    for (uint16_t line = 0; line < 3; line++)
        random_row(store, rng, line, mrd__rng_below(rng, 400), 20);
    kit_track(store, MRD__TRACK_THREAD, "empty", process, MRD__NONE);
    random_row(store, rng, 0, 0, 1);
    kit_track(store, MRD__TRACK_ASYNC, "sparse", process, MRD__NONE);
    random_row(store, rng, 0, mrd__rng_below(rng, 6), 4000);
    kit_track(store, MRD__TRACK_COUNTER, "memory", process, MRD__NONE);
    double at = random_step(rng, 2000);
    for (uint64_t i = mrd__rng_below(rng, 300); i > 0; i--) {
        kit_sample(store, at, floor(mrd__rng_unit(rng) * 20) - 10);
        at += random_step(rng, 40);
    }
    kit_track(store, MRD__TRACK_INSTANT, "marks", process, MRD__NONE);
    at = random_step(rng, 2000);
    for (uint64_t i = mrd__rng_below(rng, 200); i > 0; i--) {
        kit_instant(store, at, "mark");
        at += random_step(rng, 60);
    }
    for (uint64_t i = 0; i < store->slices.count; i++) {
        store->slices.start[i] += origin;
        store->slices.end[i] += origin;
    }
    for (uint64_t i = 0; i < store->instants.count; i++)
        store->instants.time[i] += origin;
    for (uint64_t i = 0; i < store->counters.count; i++)
        store->counters.time[i] += origin;
    kit_seal(store);
    return store;
}

/* ---- Raw against a scan ---- */

static bool slice_passes(const mrd__store *store, uint64_t id, double start, double end)
{
    double from = store->slices.start[id];
    double to = store->slices.end[id];
    return from == to ? from >= start && from < end : from < end && to > start;
}

static void check_raw_order(const kit_answer *answer)
{
    for (size_t row = 1; row < answer->rows; row++)
        assert_true(kit_double(answer, row - 1, R_TS) <= kit_double(answer, row, R_TS));
}

static void check_raw_slice(const mrd__store *store, const kit_answer *answer, size_t row,
                            double start, double end)
{
    uint64_t id = (uint64_t)kit_int(answer, row, R_ID);
    assert_true(slice_passes(store, id, start, end));
    const mrd__slices *slices = &store->slices;
    bool open = slices->flags[id] & MRD__SLICE_UNCLOSED;
    assert_true(kit_double(answer, row, R_TS) == slices->start[id]);
    assert_true(kit_double(answer, row, R_DUR) ==
                (open ? -1 : slices->end[id] - slices->start[id]));
    assert_true(mrd__str_equal(kit_field(answer, row, R_NAME), store->strings[slices->name[id]]));
    assert_true(mrd__str_is(kit_field(answer, row, R_CATEGORY), "cat"));
    uint32_t line = 0;
    while (store->rows.first[line + 1] <= id)
        line++;
    assert_int_equal(kit_int(answer, row, R_TRACK), store->row_infos[line].track);
    assert_int_equal(kit_int(answer, row, R_ROW), store->row_infos[line].line);
    assert_int_equal(kit_int(answer, row, R_DEPTH), store->row_infos[line].depth);
}

static void check_raw(const mrd__store *store, double start, double end)
{
    char query[128];
    snprintf(query, sizeof query, "start_ns=%.17g&end_ns=%.17g", start, end);
    kit_answer answer = kit_ask(store, query, false, MRD_FORMAT_CSV);
    assert_int_equal(answer.status, MRD_OK);
    check_raw_order(&answer);
    size_t slices = 0;
    size_t instants = 0;
    for (uint64_t i = 0; i < store->slices.count; i++)
        slices += slice_passes(store, i, start, end);
    for (uint64_t i = 0; i < store->instants.count; i++)
        instants += store->instants.time[i] >= start && store->instants.time[i] < end;
    assert_int_equal(answer.rows, slices + instants);
    uint8_t *seen = mrd__calloc(store->slices.count + 1, 1);
    for (size_t row = 0; row < answer.rows; row++) {
        if (mrd__str_is(kit_field(&answer, row, R_NAME), "mark")) {
            assert_true(kit_double(&answer, row, R_TS) ==
                        store->instants.time[kit_int(&answer, row, R_ID)]);
            assert_true(kit_double(&answer, row, R_DUR) == 0);
            continue;
        }
        check_raw_slice(store, &answer, row, start, end);
        assert_int_equal(seen[kit_int(&answer, row, R_ID)]++, 0);
    }
    mrd__free(seen);
    kit_answer_reset(&answer);
}

static double random_edge(const mrd__store *store, mrd__rng *rng, double origin)
{
    uint64_t n = store->slices.count;
    if (n > 0 && mrd__rng_below(rng, 2) == 0) {
        uint64_t i = mrd__rng_below(rng, n);
        return mrd__rng_below(rng, 2) == 0 ? store->slices.start[i] : store->slices.end[i];
    }
    return origin + mrd__rng_unit(rng) * 9000 - 500;
}

static void test_raw_against_scan(void **state)
{
    (void)state;
    mrd__rng rng = {11};
    for (int round = 0; round < 12; round++) {
        double origin = round % 3 == 2 ? 1e15 : 0;
        mrd__store *store = random_store(&rng, origin);
        for (int i = 0; i < 40; i++) {
            double a = random_edge(store, &rng, origin);
            double b = random_edge(store, &rng, origin);
            if (a != b) check_raw(store, a < b ? a : b, a < b ? b : a);
        }
        kit_free(&store);
    }
}

/* ---- Aggregated against a scan ---- */

typedef struct expected_cell {
    uint32_t count;
    long double covered;
    double longest, min, max, last;
    uint32_t first_id;
    bool emitted;
} expected_cell;

static uint32_t formula(double t, double start, double end, uint32_t buckets)
{
    double width = (end - start) / buckets;
    double at = floor((t - start) / width);
    return at < buckets ? (uint32_t)at : buckets - 1;
}

static double edge_of(double start, double end, uint32_t buckets, uint32_t b)
{
    return b == buckets ? end : start + b * ((end - start) / buckets);
}

static void expect_slices(const mrd__store *store, uint32_t row, double start, double end,
                          uint32_t buckets, expected_cell *cells)
{
    for (uint64_t i = store->rows.first[row]; i < store->rows.first[row + 1]; i++) {
        double from = store->slices.start[i];
        double to = store->slices.end[i];
        uint32_t own = UINT32_MAX;
        if (from >= start && from < end) {
            own = formula(from, start, end, buckets);
            cells[own].count++;
            cells[own].emitted = true;
        }
        for (uint32_t b = 0; b < buckets; b++) {
            double low = fmax(edge_of(start, end, buckets, b), from);
            double high = fmin(edge_of(start, end, buckets, b + 1), to);
            if (high > low) {
                cells[b].covered += (long double)high - low;
                cells[b].emitted = true;
            }
            if ((high > low || b == own) && to - from > cells[b].longest)
                cells[b].longest = to - from;
        }
    }
}

static void expect_counter(const mrd__store *store, const mrd__track *track, double start,
                           double end, uint32_t buckets, expected_cell *cells)
{
    const mrd__counters *counters = &store->counters;
    bool carried = false;
    double value = 0;
    uint64_t i = track->first;
    uint64_t stop = track->first + track->count;
    for (; i < stop && counters->time[i] < start; i++) {
        carried = true;
        value = counters->value[i];
    }
    for (uint32_t b = 0; b < buckets; b++) {
        expected_cell *cell = &cells[b];
        cell->min = carried ? value : INFINITY;
        cell->max = carried ? value : -INFINITY;
        cell->emitted = carried && value != 0;
        for (; i < stop && counters->time[i] < end &&
               formula(counters->time[i], start, end, buckets) == b;
             i++) {
            value = counters->value[i];
            carried = cell->emitted = true;
            cell->min = fmin(cell->min, value);
            cell->max = fmax(cell->max, value);
            cell->count++;
        }
        cell->last = value;
    }
}

static void expect_instants(const mrd__store *store, const mrd__track *track, double start,
                            double end, uint32_t buckets, expected_cell *cells)
{
    for (uint64_t i = track->first; i < track->first + track->count; i++) {
        double t = store->instants.time[i];
        if (t < start || t >= end) continue;
        expected_cell *cell = &cells[formula(t, start, end, buckets)];
        if (cell->count++ == 0) cell->first_id = (uint32_t)i;
        cell->emitted = true;
    }
}

static void check_slice_cell(const mrd__store *store, const kit_answer *answer, size_t row,
                             const expected_cell *want, double low, double high)
{
    uint64_t id = (uint64_t)kit_int(answer, row, G_LONGEST);
    double busy = kit_double(answer, row, G_BUSY);
    assert_true(store->slices.end[id] - store->slices.start[id] == want->longest ||
                store->slices.end[id] - store->slices.start[id] > want->longest - 1e-9);
    assert_true(
        mrd__str_equal(kit_field(answer, row, G_NAME), store->strings[store->slices.name[id]]));
    if (high > low)
        assert_true(fabsl(busy - want->covered / ((long double)high - low)) <= 1e-9L * busy);
    if (want->covered == 0 && high > low) assert_true(busy == 0);
    assert_true(busy >= 0 && busy <= 1);
    assert_int_equal(kit_field(answer, row, G_MIN).size, 0);
    assert_int_equal(kit_field(answer, row, G_LAST).size, 0);
}

static void check_counter_cell(const kit_answer *answer, size_t row, const expected_cell *want)
{
    assert_int_equal(kit_field(answer, row, G_BUSY).size, 0);
    assert_int_equal(kit_field(answer, row, G_LONGEST).size, 0);
    assert_int_equal(kit_field(answer, row, G_NAME).size, 0);
    assert_true(kit_double(answer, row, G_MIN) == want->min);
    assert_true(kit_double(answer, row, G_MAX) == want->max);
    assert_true(kit_double(answer, row, G_LAST) == want->last);
}

/* The rows of one lane, starting at *row of the answer. */
static void check_lane(const mrd__store *store, const kit_answer *answer, size_t *row,
                       uint32_t track, uint32_t line, const expected_cell *cells, double start,
                       double end, uint32_t buckets)
{
    for (uint32_t b = 0; b < buckets; b++) {
        if (!cells[b].emitted) continue;
        double low = edge_of(start, end, buckets, b);
        assert_true(kit_double(answer, *row, G_START) == low);
        assert_int_equal(kit_int(answer, *row, G_TRACK), track);
        assert_int_equal(kit_int(answer, *row, G_ROW), line);
        assert_int_equal(kit_int(answer, *row, G_COUNT), cells[b].count);
        mrd__track_kind kind = store->tracks[track].kind;
        if (kind == MRD__TRACK_COUNTER) {
            check_counter_cell(answer, *row, &cells[b]);
        } else if (kind == MRD__TRACK_INSTANT) {
            assert_int_equal(kit_int(answer, *row, G_LONGEST), cells[b].first_id);
            assert_int_equal(kit_field(answer, *row, G_BUSY).size, 0);
        } else {
            check_slice_cell(store, answer, *row, &cells[b], low,
                             edge_of(start, end, buckets, b + 1));
        }
        (*row)++;
    }
}

static void check_cells(const mrd__store *store, double start, double end, uint32_t buckets)
{
    char query[128];
    snprintf(query, sizeof query, "start_ns=%.17g&end_ns=%.17g&buckets=%u", start, end, buckets);
    kit_answer answer = kit_ask(store, query, false, MRD_FORMAT_CSV);
    assert_int_equal(answer.status, MRD_OK);
    size_t row = 0;
    for (uint32_t id = 0; id < store->track_count; id++) {
        const mrd__track *track = &store->tracks[id];
        bool bars = track->kind == MRD__TRACK_THREAD || track->kind == MRD__TRACK_ASYNC;
        for (uint32_t line = 0; line < (bars ? track->row_count : 1); line++) {
            expected_cell *cells = mrd__new_array(expected_cell, buckets);
            if (bars)
                expect_slices(store, track->first_row + line, start, end, buckets, cells);
            else if (track->kind == MRD__TRACK_COUNTER)
                expect_counter(store, track, start, end, buckets, cells);
            else
                expect_instants(store, track, start, end, buckets, cells);
            check_lane(store, &answer, &row, id, line, cells, start, end, buckets);
            mrd__free(cells);
        }
    }
    assert_int_equal(row, answer.rows);
    kit_answer_reset(&answer);
}

static void test_cells_against_scan(void **state)
{
    (void)state;
    static const uint32_t buckets[] = {1, 2, 3, 7, 33, 100, 512, 4096};
    mrd__rng rng = {12};
    for (int round = 0; round < 9; round++) {
        double origin = round % 3 == 2 ? 1e12 : 0;
        mrd__store *store = random_store(&rng, origin);
        for (int i = 0; i < 8; i++) {
            double a = random_edge(store, &rng, origin);
            double b = random_edge(store, &rng, origin);
            if (mrd__rng_below(&rng, 4) == 0) b = a + 3 + mrd__rng_unit(&rng);
            if (fabs(a - b) < 1e-3 * buckets[i]) continue;
            check_cells(store, a < b ? a : b, a < b ? b : a, buckets[i]);
        }
        kit_free(&store);
    }
}

/* The counts of the buckets add up to the raw rows that start in the window. */
static void test_counts_add_up(void **state)
{
    (void)state;
    mrd__rng rng = {13};
    mrd__store *store = random_store(&rng, 0);
    kit_answer cells = kit_ask(store, "buckets=777", false, MRD_FORMAT_CSV);
    assert_int_equal(cells.status, MRD_OK);
    uint64_t sum = 0;
    for (size_t row = 0; row < cells.rows; row++)
        sum += (uint64_t)kit_int(&cells, row, G_COUNT);
    assert_int_equal(sum, store->slices.count + store->instants.count + store->counters.count);
    kit_answer_reset(&cells);
    kit_free(&store);
}

/* ---- Rules ---- */

/* One thread track (0) with slices 0..10, 10..20, 30..30; a counter (1); an instant (2). */
static mrd__store *plain_store(void)
{
    mrd__store *store = kit_store(1000000);
    uint32_t process = kit_process(store, 1, "p");
    uint32_t thread = kit_thread(store, process, 2, "t");
    kit_track(store, MRD__TRACK_THREAD, "t", process, thread);
    kit_row(store, 0, 0);
    kit_slice(store, 0, 10, "first");
    kit_slice(store, 10, 20, "second");
    kit_slice(store, 30, 30, "point");
    kit_track(store, MRD__TRACK_COUNTER, "c", process, MRD__NONE);
    kit_sample(store, 5, 3);
    kit_sample(store, 15, 0);
    kit_track(store, MRD__TRACK_INSTANT, "i", process, MRD__NONE);
    kit_instant(store, 10, "tick");
    kit_seal(store);
    return store;
}

static void expect_text(const mrd__store *store, const char *query, bool absolute,
                        mrd_format format, const char *want)
{
    kit_answer answer = kit_ask(store, query, absolute, format);
    if (answer.status != MRD_OK) fail_msg("%s: %s", query, answer.error.message);
    assert_string_equal(answer.text.data, want);
    kit_answer_reset(&answer);
}

#define RAW_HEAD "id,ts_ns,dur_ns,track,row,depth,name,category\n"
#define CELL_HEAD                                                                                  \
    "bucket_start_ns,track,row,event_count,busy_ratio,longest_id,longest_name,min_value,"          \
    "max_value,last_value\n"

static void test_raw_rules(void **state)
{
    (void)state;
    mrd__store *store = plain_store();
    expect_text(store, "", false, MRD_FORMAT_CSV,
                RAW_HEAD "0,0,10,0,0,0,first,cat\n1,10,10,0,0,0,second,cat\n"
                         "0,10,0,2,0,0,tick,\n2,30,0,0,0,0,point,cat\n");
    expect_text(store, "start_ns=10&end_ns=30", false, MRD_FORMAT_CSV,
                RAW_HEAD "1,10,10,0,0,0,second,cat\n0,10,0,2,0,0,tick,\n");
    expect_text(store, "tracks=0&start_ns=19.5&end_ns=30", false, MRD_FORMAT_CSV,
                RAW_HEAD "1,10,10,0,0,0,second,cat\n");
    expect_text(store, "tracks=0&start_ns=20", false, MRD_FORMAT_CSV,
                RAW_HEAD "2,30,0,0,0,0,point,cat\n");
    expect_text(store, "tracks=2,0&tracks=2&end_ns=10", false, MRD_FORMAT_CSV,
                RAW_HEAD "0,0,10,0,0,0,first,cat\n");
    expect_text(store, "tracks=", false, MRD_FORMAT_CSV, RAW_HEAD);
    expect_text(store, "tracks=3,99999999999", false, MRD_FORMAT_CSV, RAW_HEAD);
    expect_text(store, "tracks=1", false, MRD_FORMAT_CSV, RAW_HEAD);
    kit_free(&store);
}

static void test_absolute_times(void **state)
{
    (void)state;
    mrd__store *store = plain_store();
    store->slices.flags[1] = MRD__SLICE_UNCLOSED;
    expect_text(store, "tracks=0", true, MRD_FORMAT_CSV,
                RAW_HEAD "0,1000000,10,0,0,0,first,cat\n1,1000010,-1,0,0,0,second,cat\n"
                         "2,1000030,0,0,0,0,point,cat\n");
    expect_text(store, "tracks=0&start_ns=1000000&end_ns=1000010", true, MRD_FORMAT_CSV,
                RAW_HEAD "0,1000000,10,0,0,0,first,cat\n");
    expect_text(store, "tracks=0&start_ns=1000000&end_ns=1000020&buckets=2", true, MRD_FORMAT_CSV,
                CELL_HEAD "1000000,0,0,1,1,0,first,,,\n1000010,0,0,1,1,1,second,,,\n");
    kit_answer answer = kit_ask(store, "start_ns=0.5", true, MRD_FORMAT_CSV);
    assert_string_equal(answer.error.code, "bad_number");
    kit_answer_reset(&answer);
    kit_free(&store);
}

static void test_cell_rules(void **state)
{
    (void)state;
    mrd__store *store = plain_store();
    expect_text(store, "start_ns=0&end_ns=40&buckets=4", false, MRD_FORMAT_CSV,
                CELL_HEAD "0,0,0,1,1,0,first,,,\n10,0,0,1,1,1,second,,,\n"
                          "30,0,0,1,0,2,point,,,\n"
                          "0,1,0,1,,,,3,3,3\n10,1,0,1,,,,0,3,0\n10,2,0,1,,0,tick,,,\n");
    /* The carried value is found before the window; what lies exactly at the end belongs to it. */
    expect_text(store, "start_ns=6&buckets=2&tracks=1", false, MRD_FORMAT_CSV,
                CELL_HEAD "6,1,0,1,,,,0,3,0\n");
    expect_text(store, "start_ns=6&end_ns=15&buckets=2&tracks=1", false, MRD_FORMAT_CSV,
                CELL_HEAD "6,1,0,0,,,,3,3,3\n10.5,1,0,0,,,,3,3,3\n");
    expect_text(store, "start_ns=25&buckets=1&tracks=0", false, MRD_FORMAT_CSV,
                CELL_HEAD "25,0,0,1,0,2,point,,,\n");
    expect_text(store, "start_ns=25&end_ns=30&buckets=1&tracks=0", false, MRD_FORMAT_CSV,
                CELL_HEAD);
    expect_text(store, "buckets=1e0&tracks=", false, MRD_FORMAT_CSV, CELL_HEAD);
    kit_free(&store);
}

static void test_json_document(void **state)
{
    (void)state;
    mrd__store *store = plain_store();
    expect_text(store, "tracks=0&end_ns=10", false, MRD_FORMAT_JSON,
                "{\"mode\":\"raw\",\"origin_ns\":\"1000000\",\"bounds\":{\"start_ns\":0,"
                "\"end_ns\":30,\"events\":6},\"rows\":[\n"
                "{\"id\":0,\"ts_ns\":0,\"dur_ns\":10,\"track\":\"0\",\"row\":0,\"depth\":0,"
                "\"name\":\"first\",\"category\":\"cat\"}\n]}\n");
    expect_text(store, "tracks=1&start_ns=1000000&end_ns=1000010&buckets=1", true, MRD_FORMAT_JSON,
                "{\"mode\":\"aggregated\",\"bounds\":{\"start_ns\":1000000,\"end_ns\":1000030,"
                "\"events\":6},\"rows\":[\n"
                "{\"bucket_start_ns\":1000000,\"track\":\"1\",\"row\":0,\"event_count\":1,"
                "\"busy_ratio\":null,\"longest_id\":null,\"longest_name\":null,\"min_value\":3,"
                "\"max_value\":3,\"last_value\":3}\n]}\n");
    kit_free(&store);
}

static void expect_error(const mrd__store *store, const char *query, bool absolute,
                         const char *code)
{
    kit_answer answer = kit_ask(store, query, absolute, MRD_FORMAT_CSV);
    if (answer.status == MRD_OK) fail_msg("%s: no error", query);
    assert_string_equal(answer.error.code, code);
    assert_int_equal(answer.text.size, 0);
    assert_true(answer.error.message[0] != '\0');
    kit_answer_reset(&answer);
}

static void test_errors(void **state)
{
    (void)state;
    mrd__store *store = plain_store();
    expect_error(store, "start_ns=5&end_ns=5", false, "bad_window");
    expect_error(store, "start_ns=6&end_ns=5", false, "bad_window");
    expect_error(store, "start_ns=30", false, "bad_window");
    expect_error(store, "start_ns=5&end_ns=5", true, "bad_window");
    expect_error(store, "start_ns=-1e308&end_ns=1e308&buckets=3", false, "bad_window");
    expect_error(store, "start_ns=x", false, "bad_number");
    expect_error(store, "start_ns=", false, "bad_number");
    expect_error(store, "end_ns=NaN", false, "bad_number");
    expect_error(store, "end_ns=1e999", false, "bad_number");
    expect_error(store, "end_ns=+ 1", false, "bad_number");
    expect_error(store, "tracks=a", false, "bad_number");
    expect_error(store, "tracks=1,,2", false, "bad_number");
    expect_error(store, "tracks=-1", false, "bad_number");
    expect_error(store, "buckets=0", false, "bad_buckets");
    expect_error(store, "buckets=4097", false, "bad_buckets");
    expect_error(store, "buckets=2.5", false, "bad_buckets");
    expect_error(store, "buckets=x", false, "bad_number");
    expect_error(store, "start_ns=1&start_ns=1", false, "bad_parameter");
    expect_error(store, "buckets=1&buckets=1", false, "bad_parameter");
    expect_error(store, "categories=a", false, "bad_parameter");
    expect_error(store, "extra=minmax", false, "bad_parameter");
    kit_free(&store);
}

static void test_too_many_rows(void **state)
{
    (void)state;
    mrd__store *store = kit_store(0);
    kit_track(store, MRD__TRACK_THREAD, "t", MRD__NONE, MRD__NONE);
    kit_row(store, 0, 0);
    for (uint32_t i = 0; i <= MRD__MAX_WINDOW_ROWS; i++)
        kit_slice(store, 2.0 * i, 2.0 * i + 1, "s");
    kit_seal(store);
    kit_answer answer = kit_ask(store, "", false, MRD_FORMAT_ARROW);
    assert_int_equal(answer.status, MRD_ERR_ARGUMENT);
    assert_string_equal(answer.error.code, "too_many_rows");
    assert_int_equal(answer.error.rows, MRD__MAX_WINDOW_ROWS + 1);
    assert_int_equal(answer.error.limit, MRD__MAX_WINDOW_ROWS);
    kit_answer_reset(&answer);
    answer = kit_ask(store, "start_ns=1", false, MRD_FORMAT_CSV);
    assert_int_equal(answer.status, MRD_OK);
    assert_int_equal(answer.rows, MRD__MAX_WINDOW_ROWS);
    kit_answer_reset(&answer);
    kit_free(&store);
}

static void test_empty_and_single(void **state)
{
    (void)state;
    mrd__store *store = kit_store(0);
    kit_seal(store);
    expect_text(store, "", false, MRD_FORMAT_CSV, RAW_HEAD);
    expect_text(store, "buckets=10", true, MRD_FORMAT_JSON,
                "{\"mode\":\"aggregated\",\"bounds\":{\"start_ns\":null,\"end_ns\":null,"
                "\"events\":0},\"rows\":[\n]}\n");
    kit_free(&store);
    store = kit_store(50);
    kit_track(store, MRD__TRACK_INSTANT, "i", MRD__NONE, MRD__NONE);
    kit_instant(store, 7, "only");
    kit_seal(store);
    expect_text(store, "", false, MRD_FORMAT_CSV, RAW_HEAD "0,7,0,0,0,0,only,\n");
    expect_text(store, "buckets=1", true, MRD_FORMAT_CSV, CELL_HEAD "57,0,0,1,,0,only,,,\n");
    kit_free(&store);
}

/* Narrower buckets than doubles are apart: a bucket is then a point, covered or not. The edges from
 * 2^53 + 3 on round to the slice's end, which it does not cover. */
static void test_buckets_of_one_point(void **state)
{
    (void)state;
    mrd__store *store = kit_store(0);
    kit_track(store, MRD__TRACK_THREAD, "t", MRD__NONE, MRD__NONE);
    kit_row(store, 0, 0);
    kit_slice(store, 0x1p53, 0x1p53 + 4, "far");
    kit_seal(store);
    kit_answer answer =
        kit_ask(store, "start_ns=9007199254740992&end_ns=9007199254740996&buckets=64", false,
                MRD_FORMAT_CSV);
    assert_int_equal(answer.status, MRD_OK);
    assert_int_equal(answer.rows, 48);
    for (size_t row = 0; row < answer.rows; row++)
        assert_true(kit_double(&answer, row, G_BUSY) == 1);
    kit_answer_reset(&answer);
    kit_free(&store);
}

static void test_arrow_stream(void **state)
{
    (void)state;
    mrd__store *store = plain_store();
    kit_answer answer = kit_ask(store, "buckets=4", true, MRD_FORMAT_ARROW);
    assert_int_equal(answer.status, MRD_OK);
    assert_true(kit_holds(&answer.text, "trace_origin_ns"));
    assert_true(kit_holds(&answer.text, "1000000"));
    assert_true(kit_holds(&answer.text, "trace_bounds"));
    assert_true(kit_holds(&answer.text, "{\"start_ns\":0,\"end_ns\":30,\"events\":6}"));
    assert_true(kit_holds(&answer.text, "bucket_start_ns"));
    kit_answer_reset(&answer);
    kit_free(&store);
}

/* Tracks of one row, each covered from 0 to 1,000, with counters between. */
static mrd__store *wide_store(uint32_t tracks)
{
    mrd__store *store = kit_store(0);
    for (uint32_t i = 0; i < tracks; i++) {
        if (i % 7 == 6) {
            kit_track(store, MRD__TRACK_COUNTER, "c", MRD__NONE, MRD__NONE);
            kit_sample(store, 0, i);
            continue;
        }
        kit_track(store, MRD__TRACK_THREAD, "t", MRD__NONE, MRD__NONE);
        kit_row(store, 0, 0);
        kit_slice(store, 0, 1000, "s");
    }
    kit_seal(store);
    return store;
}

/* Many rows take another way through memory and several batches: nothing else may change. */
static void test_many_rows(void **state)
{
    (void)state;
    mrd__store *store = wide_store(300);
    kit_answer all = kit_ask(store, "buckets=4096", false, MRD_FORMAT_CSV);
    assert_int_equal(all.status, MRD_OK);
    assert_int_equal(all.rows, 300 * 4096);
    kit_answer one = kit_ask(store, "buckets=4096&tracks=251", false, MRD_FORMAT_CSV);
    kit_answer counter = kit_ask(store, "buckets=4096&tracks=6", false, MRD_FORMAT_CSV);
    assert_int_equal(one.rows, 4096);
    assert_int_equal(counter.rows, 4096);
    for (size_t i = 0; i < one.rows * one.columns; i++) {
        size_t row = i / one.columns;
        size_t column = i % one.columns;
        if (column == G_LONGEST) continue;
        assert_true(mrd__str_equal(kit_field(&one, row, column),
                                   kit_field(&all, 251 * 4096 + row, column)));
        assert_true(mrd__str_equal(kit_field(&counter, row, column),
                                   kit_field(&all, 6 * 4096 + row, column)));
    }
    kit_answer_reset(&all);
    kit_answer_reset(&one);
    kit_answer_reset(&counter);
    kit_free(&store);
}

static void test_too_many_cells(void **state)
{
    (void)state;
    mrd__store *store = wide_store(MRD__MAX_WINDOW_CELLS / 4096 + 2);
    kit_answer answer = kit_ask(store, "buckets=4096", false, MRD_FORMAT_ARROW);
    assert_int_equal(answer.status, MRD_ERR_ARGUMENT);
    assert_string_equal(answer.error.code, "bad_buckets");
    assert_int_equal(answer.error.limit, MRD__MAX_WINDOW_CELLS);
    assert_int_equal(answer.text.size, 0);
    kit_answer_reset(&answer);
    kit_free(&store);
}

static mrd_status refuse(void *ctx, const void *data, size_t size, mrd_error *error)
{
    (void)data, (void)size, (void)error;
    int *left = ctx;
    return (*left)-- > 0 ? MRD_OK : MRD_ERR_IO;
}

/* A sink that fails at its nth call fails the question, whatever n. */
static void test_sink_failures(void **state)
{
    (void)state;
    static const mrd_format formats[] = {MRD_FORMAT_ARROW, MRD_FORMAT_CSV, MRD_FORMAT_JSON};
    mrd__store *store = plain_store();
    for (int i = 0; i < 6; i++) {
        for (int n = 0;; n++) {
            int left = n;
            mrd_sink sink = {&left, refuse};
            mrd_params *params = kit_params(i % 2 ? "buckets=9" : "");
            mrd_error error = {0};
            mrd_status status =
                mrd__query_window(store, params, false, formats[i / 2], &sink, &error);
            mrd_params_destroy(&params);
            if (status == MRD_OK) {
                assert_true(n > 0);
                break;
            }
            assert_int_equal(status, MRD_ERR_IO);
        }
    }
    kit_free(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_raw_against_scan),     cmocka_unit_test(test_cells_against_scan),
        cmocka_unit_test(test_counts_add_up),        cmocka_unit_test(test_raw_rules),
        cmocka_unit_test(test_absolute_times),       cmocka_unit_test(test_cell_rules),
        cmocka_unit_test(test_json_document),        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_too_many_rows),        cmocka_unit_test(test_empty_and_single),
        cmocka_unit_test(test_buckets_of_one_point), cmocka_unit_test(test_arrow_stream),
        cmocka_unit_test(test_sink_failures),        cmocka_unit_test(test_many_rows),
        cmocka_unit_test(test_too_many_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
