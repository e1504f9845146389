/* Sealing: names and order, points, far times, the first view; and that the store is the same
 * however the facts were spread over shards, chunks and workers. */
#include "seal_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const kit_split plain = {1000, 1, 1, false};

static mrd__store *seal_of(const kit_fact *facts, size_t count)
{
    mrd__store *store = kit_seal(facts, count, plain);
    assert_non_null(store);
    return store;
}

#define SEAL(facts) seal_of(facts, sizeof(facts) / sizeof *(facts))

static void assert_text(const mrd__store *store, mrd__str_id id, const char *want)
{
    assert_string_equal(mrd__store_str(store, id).data, want);
}

static uint64_t losses_of(const mrd__store *store, mrd__loss_id id)
{
    for (size_t i = 0; i < store->loss_count; i++)
        if (store->losses[i].id == id) return store->losses[i].count;
    return 0;
}

/* A sample of a counter of process 1. */
static kit_fact sample(int64_t ts, double value, const char *name, const char *series)
{
    return (kit_fact){.phase = MRD__COUNTER,
                      .ts = ts,
                      .value = value,
                      .name = name,
                      .series = series,
                      .pid = 1,
                      .tid = -1};
}

/* An instant of thread 4 of process 4. */
static kit_fact instant(int64_t ts, const char *name, uint8_t scope, const char *args)
{
    return (kit_fact){.phase = MRD__INSTANT,
                      .ts = ts,
                      .name = name,
                      .pid = 4,
                      .tid = 4,
                      .flags = scope,
                      .args = args};
}

static void assert_args(const mrd__store *store, mrd__args_ref args, const char *want)
{
    mrd__str text;
    mrd__buf scratch = {0};
    assert_int_equal(mrd__store_args(store, args, &scratch, &text, NULL), MRD_OK);
    assert_true(mrd__str_is(text, want));
    mrd__buf_reset(&scratch);
}

static void test_empty(void **state)
{
    (void)state;
    mrd__store *store = kit_seal(NULL, 0, plain);
    assert_true(store->empty);
    assert_int_equal(store->track_count, 0);
    assert_int_equal(store->slices.count, 0);
    assert_int_equal(store->string_count, 1);
    mrd__store_destroy(&store);
    assert_null(store);
}

static void test_display_order(void **state)
{
    (void)state;
    const kit_fact facts[] = {
        {.phase = MRD__COMPLETE, .ts = 1, .dur = 1, .name = "e", .pid = 1, .tid = 1},
        {.phase = MRD__COMPLETE, .ts = 1, .dur = 1, .name = "e", .pid = 2, .tid = 10},
        {.phase = MRD__COMPLETE, .ts = 1, .dur = 1, .name = "e", .pid = 2, .tid = 11},
        {.phase = MRD__COMPLETE, .ts = 1, .dur = 1, .name = "e", .pid = 2, .tid = 12},
        {.phase = MRD__COMPLETE, .ts = 1, .dur = 1, .name = "e", .pid = 3, .tid = 1},
        {.phase = MRD__PROCESS_NAME, .name = "gamma", .pid = 1, .tid = -1},
        {.phase = MRD__PROCESS_NAME, .name = "old", .pid = 2, .tid = -1},
        {.phase = MRD__PROCESS_NAME, .name = "alpha", .pid = 2, .tid = -1},
        {.phase = MRD__PROCESS_SORT, .dur = 5, .pid = 3, .tid = -1},
        {.phase = MRD__PROCESS_SORT, .dur = -1, .pid = 1, .tid = -1},
        {.phase = MRD__THREAD_SORT, .dur = 10000, .pid = 2, .tid = 10},
        {.phase = MRD__THREAD_SORT, .dur = 9, .pid = 2, .tid = 11},
        {.phase = MRD__THREAD_NAME, .name = "zz", .pid = 2, .tid = 12},
        {.phase = MRD__PROCESS_LABELS, .name = "label", .pid = 2, .tid = -1},
    };
    mrd__store *store = SEAL(facts);
    assert_int_equal(store->process_count, 3);
    assert_int_equal(store->processes[0].pid.number, 1);
    assert_int_equal(store->processes[1].pid.number, 2);
    assert_int_equal(store->processes[2].pid.number, 3);
    assert_text(store, store->processes[1].name, "alpha");
    assert_text(store, store->processes[1].labels, "label");
    assert_int_equal(store->processes[1].name_count, 2);
    assert_text(store, store->process_names[store->processes[1].name_first], "old");
    assert_int_equal(store->thread_count, 5);
    assert_int_equal(store->threads[1].tid.number, 12);
    assert_int_equal(store->threads[2].tid.number, 11);
    assert_int_equal(store->threads[3].tid.number, 10);
    mrd__store_destroy(&store);
}

static void test_main_thread_and_instants(void **state)
{
    (void)state;
    const kit_fact facts[] = {
        {.phase = MRD__COMPLETE, .ts = 1, .dur = 5, .name = "a", .pid = 4, .tid = -1},
        {.phase = MRD__COMPLETE, .ts = 1, .dur = 9, .name = "b", .pid = 4, .tid = 4},
        instant(3, "t", MRD__SCOPE_THREAD, NULL),
        instant(4, "p", MRD__SCOPE_PROCESS, NULL),
        instant(2, "g", MRD__SCOPE_GLOBAL, "{\"x\": 1}"),
    };
    mrd__store *store = SEAL(facts);
    assert_int_equal(store->thread_count, 1);
    assert_int_equal(store->track_count, 4);
    assert_int_equal(store->tracks[0].scope, MRD__SCOPE_GLOBAL);
    assert_int_equal(store->tracks[0].process, MRD__NONE);
    assert_int_equal(store->tracks[1].scope, MRD__SCOPE_PROCESS);
    assert_int_equal(store->tracks[2].kind, MRD__TRACK_THREAD);
    assert_int_equal(store->tracks[2].row_count, 2);
    assert_int_equal(store->tracks[3].kind, MRD__TRACK_INSTANT);
    assert_int_equal(store->tracks[3].parent, 2);
    assert_int_equal(store->slices.parent[1], 0);
    assert_text(store, store->slices.name[0], "b");
    assert_args(store, store->instants.args[0], "{\"x\": 1}");
    assert_int_equal(store->instants.order[0], 0);
    assert_int_equal(store->instants.order[1], 2);
    mrd__store_destroy(&store);
}

static void test_counters(void **state)
{
    (void)state;
    const kit_fact facts[] = {
        sample(5, 1.5, "m", "a"),
        sample(5, 2.5, "m", "b"),
        sample(3, -0.0, "m", "a"),
        sample(5, 7, "m", "a"),
    };
    mrd__store *store = SEAL(facts);
    assert_int_equal(store->track_count, 2);
    assert_text(store, store->tracks[0].name, "m a");
    assert_text(store, store->tracks[0].series, "a");
    assert_int_equal(store->tracks[0].count, 3);
    assert_int_equal(store->thread_count, 0);
    assert_int_equal(mrd__store_counter_time(store, 0), 3);
    assert_true(store->counters.value[1] == 1.5);
    assert_true(store->counters.value[2] == 7);
    assert_int_equal(store->counters.order[0], 0);
    assert_int_equal(store->counters.order[1], 1);
    assert_int_equal(store->counters.order[3], 2);
    assert_int_equal(store->counters.order[2], 3);
    mrd__store_destroy(&store);
}

static void test_pair_args_and_bounds(void **state)
{
    (void)state;
    const kit_fact facts[] = {
        {.phase = MRD__BEGIN,
         .ts = 10,
         .name = "b",
         .pid = 1,
         .tid = 1,
         .args = "{\"a\": 1, \"k\": \"b\"}"},
        {.phase = MRD__END, .ts = 30, .pid = 1, .tid = 1, .args = "{\"k\": \"e\", \"z\": [2]}"},
        {.phase = MRD__BEGIN, .ts = 40, .name = "open", .pid = 1, .tid = 1},
        {.phase = MRD__COMPLETE, .ts = 50, .dur = -1000, .name = "neg", .pid = 1, .tid = 2},
        {.phase = MRD__COMPLETE, .ts = INT64_MAX - 5, .dur = 10, .name = "far", .pid = 1, .tid = 2},
    };
    mrd__store *store = SEAL(facts);
    assert_args(store, store->slices.args[0], "{\"a\": 1, \"k\": \"e\", \"z\": [2]}");
    assert_int_equal(store->start_ns, 10);
    assert_int_equal(store->end_ns, 50);
    assert_int_equal(store->unclosed, 1);
    assert_int_equal(mrd__store_slice_end(store, 1), 50);
    assert_int_equal(losses_of(store, MRD__LOSS_NEGATIVE_DURATION), 1);
    assert_int_equal(losses_of(store, MRD__LOSS_TIME_OVERFLOW), 1);
    mrd__store_destroy(&store);
}

static void test_view_without_strays(void **state)
{
    (void)state;
    const int64_t now = 1655555555505000000;
    const kit_fact facts[] = {
        {.phase = MRD__COMPLETE, .ts = 0, .name = "g", .pid = 1, .tid = 1},
        {.phase = MRD__COMPLETE, .ts = 0, .name = "g", .pid = 1, .tid = 1},
        {.phase = MRD__COMPLETE, .ts = now, .dur = 6000, .name = "l", .pid = 1, .tid = 2},
        {.phase = MRD__COMPLETE, .ts = now + 10000, .dur = 6000, .name = "l", .pid = 1, .tid = 2},
        {.phase = MRD__COMPLETE, .ts = now + 20000, .dur = 40000, .name = "g", .pid = 1, .tid = 1},
        {.phase = MRD__INSTANT, .ts = now + 30000, .name = "g", .pid = 1, .tid = 1},
        {.phase = MRD__INSTANT, .ts = INT64_MAX, .name = "last", .pid = 1, .tid = 1},
    };
    mrd__store *store = SEAL(facts);
    assert_int_equal(store->start_ns, 0);
    assert_int_equal(store->end_ns, INT64_MAX);
    assert_int_equal(store->view_start_ns, now);
    assert_int_equal(store->view_end_ns, now + 60000);
    assert_int_equal(store->origin_ns, now & ~((1ll << 20) - 1));
    assert_int_equal(losses_of(store, MRD__LOSS_TIMESTAMP_OUTLIERS), 3);
    /* Far times stay exact. */
    assert_int_equal(store->exact_slices.count, 2);
    assert_int_equal(mrd__store_slice_start(store, 0), 0);
    assert_int_equal(mrd__store_instant_time(store, 1), INT64_MAX);
    assert_int_equal(mrd__store_instant_time(store, 0), now + 30000);
    mrd__store_destroy(&store);
}

static void test_view_with_a_pause(void **state)
{
    (void)state;
    /* Bursts a minute apart are no strays, and one early event near the rest is none. */
    kit_fact facts[40];
    for (int i = 0; i < 40; i++)
        facts[i] = (kit_fact){.phase = MRD__COMPLETE,
                              .ts = i / 4 * 60000000000 + i % 4 * 1000,
                              .dur = 10,
                              .name = "x",
                              .pid = 1,
                              .tid = 1};
    mrd__store *store = seal_of(facts, 40);
    assert_int_equal(store->view_start_ns, 0);
    assert_int_equal(store->view_end_ns, store->end_ns);
    assert_int_equal(store->loss_count, 0);
    mrd__store_destroy(&store);
}

static void test_flows(void **state)
{
    (void)state;
    const kit_fact facts[] = {
        {.phase = MRD__COMPLETE, .ts = 0, .dur = 20, .name = "Src", .pid = 1, .tid = 1},
        {.phase = MRD__COMPLETE, .ts = 100, .dur = 100, .name = "P", .pid = 1, .tid = 2},
        {.phase = MRD__COMPLETE, .ts = 210, .dur = 50, .name = "Q", .pid = 1, .tid = 2},
        {.phase = MRD__FLOW_START, .ts = 5, .name = "n", .id = "1", .pid = 1, .tid = 1},
        {.phase = MRD__FLOW_END, .ts = 150, .name = "n", .id = "1", .pid = 1, .tid = 2},
        {.phase = MRD__FLOW_START, .ts = 6, .name = "n", .id = "2", .pid = 1, .tid = 1},
        {.phase = MRD__FLOW_END,
         .ts = 150,
         .name = "n",
         .id = "2",
         .pid = 1,
         .tid = 2,
         .flags = MRD__BIND_ENCLOSING},
        {.phase = MRD__COMPLETE,
         .ts = 300,
         .dur = 1,
         .name = "o",
         .pid = 1,
         .tid = 1,
         .bind_id = "v",
         .side_flags = MRD__FLOW_OUT},
        {.phase = MRD__BEGIN,
         .ts = 310,
         .name = "i",
         .pid = 1,
         .tid = 2,
         .bind_id = "v",
         .side_flags = MRD__FLOW_IN},
    };
    mrd__store *store = SEAL(facts);
    assert_int_equal(store->flow_count, 3);
    assert_text(store, store->slices.name[store->flows[0].from], "Src");
    assert_text(store, store->slices.name[store->flows[0].to], "Q");
    assert_text(store, store->slices.name[store->flows[1].to], "P");
    assert_text(store, store->slices.name[store->flows[2].from], "o");
    assert_text(store, store->slices.name[store->flows[2].to], "i");
    assert_true(store->flows[2].to_time == 310);
    mrd__store_destroy(&store);
}

static void test_files_by_name(void **state)
{
    (void)state;
    const kit_fact facts[] = {
        {.phase = MRD__COMPLETE, .ts = 9, .dur = 1, .name = "in b", .pid = 1, .tid = 1},
        {.phase = MRD__FLOW_START, .ts = 9, .name = "n", .id = "1", .pid = 1, .tid = 1},
        {.phase = MRD__ASYNC_BEGIN, .ts = 9, .name = "as", .id = "1", .pid = 1, .tid = 1},
        {.phase = MRD__COMPLETE, .ts = 9, .dur = 1, .name = "in a", .pid = 1, .tid = 1},
        {.phase = MRD__FLOW_END, .ts = 9, .name = "n", .id = "1", .pid = 1, .tid = 1},
        {.phase = MRD__ASYNC_END, .ts = 10, .name = "as", .id = "1", .pid = 1, .tid = 1},
    };
    mrd__store *store = kit_seal_two(facts, 6, 3, plain);
    assert_string_equal(store->files[0].path, "a.json");
    assert_int_equal(store->files[1].events, 3);
    /* "in a" comes first in file order; ids of one file mean nothing in the other. */
    assert_text(store, 1, "in a");
    assert_int_equal(store->flow_count, 0);
    assert_int_equal(store->unclosed, 1);
    assert_int_equal(losses_of(store, MRD__LOSS_FLOW_END_WITHOUT_START), 1);
    assert_int_equal(losses_of(store, MRD__LOSS_ASYNC_UNMATCHED_END), 1);
    mrd__store_destroy(&store);
}

/* ---- The same store whatever the split ---- */

/* The store as text, of two files where first is less than count; empty the buffer afterwards. */
static mrd__buf text_of(const kit_fact *facts, size_t count, size_t first, kit_split split)
{
    mrd__buf text = {0};
    mrd__store *store = kit_seal_two(facts, count, first, split);
    assert_non_null(store);
    kit_text(store, &text);
    mrd__store_destroy(&store);
    return text;
}

static const char *const words[] = {"a",   "bb",
                                    "ccc", "a name longer than sixteen bytes",
                                    "e",   "another name longer than sixteen",
                                    "g",   "h0123456789abcde"};

static const char *word(mrd__rng *rng)
{
    return words[mrd__rng_below(rng, sizeof words / sizeof *words)];
}

static kit_fact random_fact(mrd__rng *rng, int64_t span)
{
    kit_fact f = {.phase = (mrd__phase)mrd__rng_below(rng, MRD__THREAD_SORT + 1),
                  .ts = (int64_t)mrd__rng_below(rng, (uint64_t)span),
                  .dur = (int64_t)mrd__rng_below(rng, (uint64_t)span / 4 + 1) - 1,
                  .name = word(rng),
                  .pid = (int64_t)mrd__rng_below(rng, 2),
                  .tid = (int64_t)mrd__rng_below(rng, 4) - 1};
    if (mrd__rng_below(rng, 3) == 0) f.phase = MRD__COMPLETE;
    if (mrd__rng_below(rng, 2) == 0) f.category = word(rng);
    if (mrd__rng_below(rng, 4) == 0) f.args = "{\"k\": 1, \"v\": [true, \"}\"]}";
    if (f.phase == MRD__COUNTER) {
        f.value = mrd__rng_unit(rng);
        f.series = word(rng);
    }
    bool keyed = f.phase >= MRD__ASYNC_BEGIN && f.phase <= MRD__FLOW_END;
    if (keyed) f.id = word(rng);
    if (keyed && mrd__rng_below(rng, 4) == 0) f.side_flags = MRD__ID_LOCAL;
    if ((f.phase <= MRD__BEGIN || f.phase == MRD__ASYNC_BEGIN) && mrd__rng_below(rng, 5) == 0) {
        f.bind_id = word(rng);
        f.side_flags = (uint32_t)mrd__rng_below(rng, 4) * MRD__FLOW_OUT;
    }
    if (f.phase == MRD__INSTANT) f.flags = (uint8_t)mrd__rng_below(rng, 3);
    if (f.phase == MRD__FLOW_END) f.flags = (uint8_t)(mrd__rng_below(rng, 2) * MRD__BIND_ENCLOSING);
    return f;
}

static void test_splits(void **state)
{
    (void)state;
    static const kit_split splits[] = {{1, 1, 1, false}, {1, 3, 2, true},  {7, 2, 3, false},
                                       {3, 8, 2, true},  {64, 4, 1, true}, {1000, 2, 4, false}};
    static kit_fact facts[3000];
    for (uint64_t seed = 1; seed <= 120; seed++) {
        mrd__rng rng = {seed};
        size_t count = 1 + mrd__rng_below(&rng, seed % 30 == 0 ? 3000 : 60);
        size_t first = seed % 4 == 0 ? count / 2 : count;
        int64_t span = 1 + (int64_t)mrd__rng_below(&rng, 400);
        if (seed % 7 == 0) span = INT64_MAX;
        for (size_t i = 0; i < count; i++)
            facts[i] = random_fact(&rng, span);
        mrd__buf want = text_of(facts, count, first, plain);
        for (size_t s = 0; s < sizeof splits / sizeof *splits; s++) {
            mrd__buf got = text_of(facts, count, first, splits[s]);
            assert_string_equal(got.data, want.data);
            mrd__buf_reset(&got);
        }
        mrd__buf_reset(&want);
    }
}

/* Enough facts that several workers share them out. */
static void test_many(void **state)
{
    (void)state;
    enum {
        MANY = 150000
    };
    kit_fact *facts = mrd__new_array(kit_fact, MANY);
    mrd__rng rng = {77};
    for (size_t i = 0; i < MANY; i++) {
        facts[i] = random_fact(&rng, 1000000);
        facts[i].ts += (int64_t)i * 10;
    }
    mrd__buf want = text_of(facts, MANY, MANY, plain);
    mrd__buf got = text_of(facts, MANY, MANY, (kit_split){1000, 4, 3, true});
    assert_int_equal(got.size, want.size);
    assert_memory_equal(got.data, want.data, want.size);
    mrd__buf_reset(&got);
    mrd__buf_reset(&want);
    mrd__free(facts);
}

/* Rows hold what they promise: sorted, no overlap; parents hold their children. */
static void test_rows(void **state)
{
    (void)state;
    static kit_fact facts[2000];
    for (uint64_t seed = 1; seed <= 20; seed++) {
        mrd__rng rng = {seed};
        for (size_t i = 0; i < 2000; i++)
            facts[i] = random_fact(&rng, 5000);
        mrd__store *store = kit_seal(facts, 2000, plain);
        const mrd__slices *s = &store->slices;
        for (uint32_t r = 0; r < store->rows.row_count; r++) {
            for (uint64_t i = store->rows.first[r]; i < store->rows.first[r + 1]; i++) {
                assert_int_equal(mrd__store_row_of(store, i), r);
                assert_true(s->end[i] >= s->start[i]);
                if (i > store->rows.first[r]) assert_true(s->end[i - 1] <= s->start[i]);
                if (s->parent[i] == MRD__NONE) continue;
                uint32_t above = mrd__store_row_of(store, s->parent[i]);
                assert_int_equal(store->row_infos[above].track, store->row_infos[r].track);
                assert_int_equal(store->row_infos[above].depth + 1, store->row_infos[r].depth);
                assert_true(s->start[s->parent[i]] <= s->start[i]);
                assert_true(s->end[s->parent[i]] >= s->end[i]);
            }
        }
        mrd__store_destroy(&store);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_display_order),
        cmocka_unit_test(test_main_thread_and_instants),
        cmocka_unit_test(test_counters),
        cmocka_unit_test(test_pair_args_and_bounds),
        cmocka_unit_test(test_view_without_strays),
        cmocka_unit_test(test_view_with_a_pause),
        cmocka_unit_test(test_flows),
        cmocka_unit_test(test_files_by_name),
        cmocka_unit_test(test_splits),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
