/* Clocks of several files: boots, REALTIME, private timelines, what is dropped, interpolation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "clock/graph.h"
#include "model/merge.h"
#include "open/seal.h"

enum {
    REALTIME = MRD__CLOCK_REALTIME,
    MONOTONIC = MRD__CLOCK_MONOTONIC,
    BOOTTIME = MRD__CLOCK_BOOTTIME
};

typedef struct pairing { /* two clocks read together */
    uint32_t a, b;
    int64_t a_ns, b_ns;
} pairing;

/* A file with one slice at ts on a clock (0: none), snapshots, a boot. */
typedef struct one_file {
    const char *path, *boot;
    uint32_t clock;
    int64_t ts, dur;
    pairing pairs[3];
} one_file;

static void write_file(mrd__writer *writer, const one_file *spec, bool declare)
{
    uint32_t file = mrd__writer_add_file(writer, spec->path, "test", 0, NULL);
    mrd__shard *shard = mrd__writer_shard(writer, file);
    mrd__shard_chunk(shard, 0);
    if (spec->boot != NULL) mrd__writer_boot(writer, file, spec->boot);
    for (size_t i = 0; i < 3 && spec->pairs[i].a != 0; i++) {
        const pairing *p = &spec->pairs[i];
        mrd__clock_reading readings[2] = {{{.id = p->a}, p->a_ns, 1}, {{.id = p->b}, p->b_ns, 1}};
        mrd__shard_snapshot(shard, readings, 2);
    }
    if (spec->clock != 0 && declare)
        mrd__writer_clock(writer, file, (mrd__file_clock){.id = spec->clock});
    if (spec->clock != 0) mrd__shard_clock(shard, (mrd__file_clock){.id = spec->clock});
    mrd__ident id = {.kind = MRD__IDENT_NUMBER, .number = 1};
    uint32_t thread = mrd__shard_thread(shard, id, id);
    mrd__fact *fact = mrd__shard_push(shard);
    fact->ts = spec->ts;
    fact->dur = spec->dur;
    fact->thread = thread;
    fact->phase = MRD__COMPLETE;
}

static mrd__store *seal_files(const one_file *files, size_t count, const mrd__merge_plan *plan)
{
    mrd__writer *writer = mrd__writer_create();
    for (size_t i = 0; i < count; i++)
        write_file(writer, &files[i], true);
    mrd__writer_plan(writer, plan);
    mrd__store *store = NULL;
    assert_int_equal(mrd__seal(&writer, 2, &store, NULL), MRD_OK);
    return store;
}

/* Start of the slice of a file, INT64_MIN where it was dropped. */
static int64_t start_in(const mrd__store *store, uint32_t file)
{
    for (size_t t = 0; t < store->track_count; t++)
        if (store->tracks[t].file == file)
            return mrd__store_slice_start(store, store->tracks[t].first);
    return INT64_MIN;
}

static void expect_second(const one_file *files, const mrd__merge_plan *plan, int64_t want)
{
    mrd__store *store = seal_files(files, 2, plan);
    assert_int_equal(start_in(store, 0), files[0].ts);
    assert_int_equal(start_in(store, 1), want);
    if (want == INT64_MIN) {
        assert_int_equal(store->loss_count, 1);
        assert_int_equal(store->losses[0].id, MRD__LOSS_CLOCK_WITHOUT_PATH);
        assert_int_equal(store->losses[0].file, 1);
    }
    mrd__store_destroy(&store);
}

static void test_boots(void **state)
{
    (void)state;
    /* MONOTONIC of one boot is one clock, whatever REALTIME says. */
    one_file files[2] = {
        {.path = "a",
         .boot = "x",
         .clock = MONOTONIC,
         .ts = 100,
         .pairs = {{MONOTONIC, REALTIME, 0, 5000}}},
        {.path = "b",
         .boot = "x",
         .clock = MONOTONIC,
         .ts = 300,
         .pairs = {{MONOTONIC, REALTIME, 0, 9000}}},
    };
    expect_second(files, NULL, 300);
    /* Of another boot: by REALTIME. */
    files[1].boot = "y";
    expect_second(files, NULL, 300 + 9000 - 5000);
    /* Without REALTIME two boots have nothing in common; one unknown boot is taken for the same. */
    files[1].pairs[0] = (pairing){0};
    expect_second(files, NULL, INT64_MIN);
    files[1].boot = NULL;
    expect_second(files, NULL, 300);
}

static void test_domains(void **state)
{
    (void)state;
    one_file files[2] = {
        {.path = "a", .clock = BOOTTIME, .ts = 100, .pairs = {{BOOTTIME, MONOTONIC, 10, 4}}},
        {.path = "b", .clock = REALTIME, .ts = 300},
    };
    expect_second(files, NULL, INT64_MIN); /* two real clocks */
    files[1].clock = MONOTONIC;            /* the same clock of the same machine */
    expect_second(files, NULL, 306);
    files[1].clock = 0; /* a private timeline */
    expect_second(files, NULL, 300);
    files[1].ts = -5; /* but real time does not go below zero */
    mrd__store *store = seal_files(files, 2, NULL);
    assert_int_equal(start_in(store, 1), INT64_MIN);
    assert_int_equal(store->losses[0].id, MRD__LOSS_TIME_BELOW_ZERO);
    mrd__store_destroy(&store);
    /* No REALTIME where the times are asked for as they stand. */
    const mrd__merge_plan none = {.align = MRD__ALIGN_NONE, .trace_file = MRD__NONE};
    one_file both[2] = {
        {.path = "a", .clock = BOOTTIME, .ts = 100, .pairs = {{BOOTTIME, REALTIME, 0, 5000}}},
        {.path = "b", .clock = BOOTTIME, .ts = 300, .pairs = {{BOOTTIME, REALTIME, 0, 9000}}},
    };
    expect_second(both, NULL, 4300);
    expect_second(both, &none, 300);
}

/* What was assumed stands in the store, and only that. */
static void test_kept(void **state)
{
    (void)state;
    const one_file files[2] = {
        {.path = "a", .clock = BOOTTIME, .ts = 100, .pairs = {{BOOTTIME, REALTIME, 0, 5000}}},
        {.path = "b", .clock = BOOTTIME, .ts = 300, .pairs = {{BOOTTIME, REALTIME, 0, 9000}}},
    };
    mrd__store *store = seal_files(files, 2, NULL);
    assert_int_equal(store->clock_count, 4);
    assert_int_equal(store->clock_value_count, 6);
    for (size_t i = 0; i < 6; i++) {
        bool assumed = store->clock_values[i].origin == MRD__CLOCK_FROM_NOTHING;
        assert_int_equal(assumed, i >= 4);
        assert_true(store->clock_values[i].has_ts);
    }
    assert_int_equal(store->clocks[store->trace_clock].file, 0);
    mrd__store_destroy(&store);
}

static void test_linear(void **state)
{
    (void)state;
    /* MONOTONIC runs half as fast as BOOTTIME: a slice between the snapshots doubles. */
    const one_file file = {
        .path = "a",
        .clock = MONOTONIC,
        .ts = 1100,
        .dur = 100,
        .pairs = {{MONOTONIC, BOOTTIME, 1000, 5000}, {MONOTONIC, BOOTTIME, 2000, 7000}}};
    mrd__merge_plan plan = {
        .has_trace_time = true, .trace_clock = {.id = BOOTTIME}, .trace_file = MRD__NONE};
    for (int linear = 0; linear < 2; linear++) {
        plan.linear = linear == 1;
        mrd__store *store = seal_files(&file, 1, &plan);
        assert_int_equal(mrd__store_slice_start(store, 0), linear ? 5200 : 5100);
        assert_int_equal(mrd__store_slice_end(store, 0), linear ? 5400 : 5200);
        assert_int_equal(store->clocks[store->trace_clock].id, BOOTTIME);
        mrd__store_destroy(&store);
    }
}

/* A manifest's relation counts before any assumption, and its machines keep processes apart. */
static void test_plan(void **state)
{
    (void)state;
    const one_file files[2] = {{.path = "a", .ts = 100}, {.path = "b", .ts = 100}};
    mrd__merge_edge edge = {.file = 1,
                            .to_file = 0,
                            .clock = {.id = MRD__CLOCK_FILE},
                            .to = {.id = MRD__CLOCK_FILE},
                            .offset_ns = -250};
    mrd__merge_machine machine = {.file = 1, .machine = UINT32_MAX, .name = "other"};
    mrd__merge_plan plan = {.trace_file = MRD__NONE,
                            .edges = &edge,
                            .edge_count = 1,
                            .machines = &machine,
                            .machine_count = 1};
    mrd__store *store = seal_files(files, 2, &plan);
    assert_int_equal(start_in(store, 0), 100);
    assert_int_equal(start_in(store, 1), -150);
    assert_int_equal(store->machine_count, 2);
    assert_int_equal(store->process_count, 2);
    assert_true(store->processes[0].machine != store->processes[1].machine);
    mrd__store_destroy(&store);
    store = seal_files(files, 2, NULL);
    assert_int_equal(store->machine_count, 1);
    assert_int_equal(store->process_count, 1);
    assert_int_equal(store->thread_count, 1);
    assert_int_equal(store->track_count, 2);
    mrd__store_destroy(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boots),  cmocka_unit_test(test_domains), cmocka_unit_test(test_kept),
        cmocka_unit_test(test_linear), cmocka_unit_test(test_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
