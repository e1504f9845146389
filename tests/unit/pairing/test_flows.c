/* Flows: binding and joining, by hand and against a straight reading of the rules. */
#include "slices_kit.h"

#include "pairing/flows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Slices of one thread, laid out as a store has them: by row, ids by row. */
typedef struct thread {
    double start[128], end[128];
    uint32_t parent[128], begun[128], count;
    uint64_t row_first[129];
    mrd__flow_track track;
} thread;

static void set_time(double *column, uint32_t at, int64_t value)
{
    memcpy(&column[at], &value, sizeof value);
}

static void lay_out(const kit_items *items, thread *out)
{
    kit_result r = kit_run(items, false);
    memset(out, 0, sizeof *out);
    uint32_t id[128];
    uint32_t rows = (uint32_t)r.nested.lanes.count;
    out->count = r.items.count;
    uint32_t next = 0;
    for (uint32_t row = 0; row < rows; row++) {
        out->row_first[row] = next;
        for (uint32_t i = 0; i < r.items.count; i++)
            if (r.nested.lane[i] == row) id[i] = next++;
    }
    out->row_first[rows] = next;
    for (uint32_t i = 0; i < r.items.count; i++) {
        set_time(out->start, id[i], r.items.data[i].ts);
        set_time(out->end, id[i], mrd__item_end(&r.items.data[i]));
        out->parent[id[i]] = r.nested.parent[i] == MRD__NONE ? MRD__NONE : id[r.nested.parent[i]];
        out->begun[i] = id[i];
    }
    bool spilled = false;
    for (uint32_t l = 0; l < rows; l++)
        spilled = spilled || r.nested.lanes.data[l].major > 0;
    out->track = (mrd__flow_track){.start = out->start,
                                   .end = out->end,
                                   .parent = out->parent,
                                   .begun = out->begun,
                                   .count = out->count,
                                   .row_first = out->row_first,
                                   .rows = rows,
                                   .spilled = spilled};
    kit_result_free(&r);
}

static int64_t get_time(const double *column, uint32_t at)
{
    int64_t value;
    memcpy(&value, &column[at], sizeof value);
    return value;
}

/* The rule as it is told: begun is in nesting order, the last enclosing one is the innermost. */
static uint32_t plain_bind(const thread *t, const mrd__flow_point *point)
{
    uint32_t enclosing = MRD__NONE;
    uint32_t next = MRD__NONE;
    for (uint32_t i = 0; i < t->count; i++) {
        int64_t start = get_time(t->start, t->begun[i]);
        int64_t end = get_time(t->end, t->begun[i]);
        if (start <= point->ts && (point->ts < end || (start == end && start == point->ts)))
            enclosing = t->begun[i];
        if (start >= point->ts && next == MRD__NONE) next = t->begun[i];
    }
    if (point->phase == MRD__FLOW_START) return enclosing;
    if (point->phase == MRD__FLOW_END && (point->flags & MRD__POINT_ENCLOSING) == 0) return next;
    return enclosing != MRD__NONE ? enclosing : next;
}

static void test_bind_random(void **state)
{
    (void)state;
    static thread t;
    for (uint64_t seed = 1; seed <= 5000; seed++) {
        mrd__rng rng = {seed};
        kit_items items = {0};
        uint32_t count = 1 + (uint32_t)mrd__rng_below(&rng, seed % 20 == 0 ? 100 : 10);
        for (uint32_t i = 0; i < count; i++) {
            static const uint8_t phases[] = {MRD__COMPLETE, MRD__BEGIN, MRD__END};
            uint8_t phase = phases[seed % 2 == 0 ? 0 : mrd__rng_below(&rng, 3)];
            kit_add(&items, phase, (int64_t)mrd__rng_below(&rng, 30),
                    phase == MRD__COMPLETE ? (int64_t)mrd__rng_below(&rng, 20) : 0, 0);
        }
        lay_out(&items, &t);
        mrd__flow_point points[64];
        mrd__flow_point *sorted[64];
        uint32_t made = 0;
        for (int64_t ts = -1; ts < 52; ts++) {
            static const uint8_t phases[] = {MRD__FLOW_START, MRD__FLOW_STEP, MRD__FLOW_END};
            points[made] = (mrd__flow_point){.ts = ts,
                                             .slice = MRD__NONE,
                                             .phase = phases[mrd__rng_below(&rng, 3)],
                                             .flags = (uint8_t)mrd__rng_below(&rng, 2)};
            sorted[made] = &points[made];
            made++;
        }
        mrd__flows_bind(&t.track, sorted, made);
        for (uint32_t i = 0; i < made; i++) {
            uint32_t want = plain_bind(&t, &points[i]);
            /* Slices of the same extent in different rows: the latest started may be any. */
            if (points[i].slice != want && points[i].slice != MRD__NONE && want != MRD__NONE)
                assert_int_equal(get_time(t.start, points[i].slice), get_time(t.start, want));
            else
                assert_int_equal(points[i].slice, want);
        }
        kit_free(&items);
    }
}

/* ---- Joining ---- */

typedef struct point_list {
    mrd__flow_point data[64];
    uint32_t count;
} point_list;

/* Every point binds to a slice of its own number; 0 flags leave it unbound. */
static mrd__flow_point *point(point_list *list, uint8_t phase, int64_t ts, uint32_t id)
{
    mrd__flow_point *p = &list->data[list->count];
    *p = (mrd__flow_point){
        .ts = ts, .id = id, .order = list->count, .slice = list->count, .phase = phase};
    list->count++;
    return p;
}

static void expect_links(point_list *list, const uint32_t (*links)[2], size_t count,
                         kit_found *found)
{
    kit_found_init(found);
    mrd__flow_links got = {0};
    mrd__flows_join(list->data, list->count, 1, &got, &found->found);
    assert_int_equal(got.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(got.data[i].from, links[i][0]);
        assert_int_equal(got.data[i].to, links[i][1]);
    }
    mrd__vec_reset(&got);
}

static void test_chain_and_fan(void **state)
{
    (void)state;
    kit_found found;
    point_list list = {0};
    point(&list, MRD__FLOW_START, 1, 7);
    point(&list, MRD__FLOW_STEP, 2, 7);
    point(&list, MRD__FLOW_END, 3, 7);
    point(&list, MRD__FLOW_END, 4, 7);
    point(&list, MRD__FLOW_START, 5, 8);
    point(&list, MRD__FLOW_END, 6, 8);
    point(&list, MRD__FLOW_END, 7, 8);
    const uint32_t links[][2] = {{0, 1}, {1, 2}, {1, 3}, {4, 5}, {4, 6}};
    expect_links(&list, links, 5, &found);
    mrd__found_reset(&found.found);
}

static void test_reuse_and_strays(void **state)
{
    (void)state;
    kit_found found;
    point_list list = {0};
    point(&list, MRD__FLOW_START, 1, 5);
    point(&list, MRD__FLOW_END, 101, 5);
    point(&list, MRD__FLOW_START, 201, 5);
    point(&list, MRD__FLOW_END, 301, 5);
    point(&list, MRD__FLOW_START, 401, 6);
    point(&list, MRD__FLOW_END, 501, 9);
    point(&list, MRD__FLOW_STEP, 502, 9);
    const uint32_t links[][2] = {{0, 1}, {2, 3}};
    expect_links(&list, links, 2, &found);
    assert_int_equal(kit_found_count(&found, MRD__LOSS_FLOW_START_WITHOUT_END), 1);
    assert_int_equal(kit_found_count(&found, MRD__LOSS_FLOW_END_WITHOUT_START), 1);
    assert_int_equal(kit_found_count(&found, MRD__LOSS_FLOW_STEP_WITHOUT_START), 1);
    mrd__found_reset(&found.found);
}

static void test_backwards(void **state)
{
    (void)state;
    kit_found found;
    point_list list = {0};
    point(&list, MRD__FLOW_END, 99200, 77);
    point(&list, MRD__FLOW_START, 100000, 77);
    const uint32_t links[][2] = {{1, 0}};
    expect_links(&list, links, 1, &found);
    assert_int_equal(kit_found_count(&found, MRD__LOSS_FLOW_BACKWARDS), 1);
    assert_int_equal(found.found.table[MRD__LOSS_FLOW_BACKWARDS].worst_ns, -800);
    mrd__found_reset(&found.found);
}

static void test_keys_and_unbound(void **state)
{
    (void)state;
    kit_found found;
    point_list list = {0};
    point(&list, MRD__FLOW_START, 1, 1)->category = 3;
    point(&list, MRD__FLOW_END, 2, 1)->category = 4;
    point(&list, MRD__FLOW_START, 3, 2)->name = 3;
    point(&list, MRD__FLOW_END, 4, 2);
    point(&list, MRD__FLOW_START, 5, 3)->slice = MRD__NONE;
    point(&list, MRD__FLOW_STEP, 6, 3);
    point(&list, MRD__FLOW_END, 7, 3);
    point(&list, MRD__FLOW_START, 8, 4)->flags = MRD__POINT_SLICE;
    point(&list, MRD__FLOW_END, 9, 4);
    const uint32_t links[][2] = {{5, 6}};
    expect_links(&list, links, 1, &found);
    assert_int_equal(kit_found_count(&found, MRD__LOSS_FLOW_UNBOUND), 1);
    assert_int_equal(kit_found_count(&found, MRD__LOSS_FLOW_START_WITHOUT_END), 3);
    assert_int_equal(kit_found_count(&found, MRD__LOSS_FLOW_END_WITHOUT_START), 3);
    mrd__found_reset(&found.found);
}

/* Enough points that several workers join them: the result is that of one. */
static void test_workers_agree(void **state)
{
    (void)state;
    enum {
        COUNT = 20000
    };
    static const uint8_t phases[] = {MRD__FLOW_START, MRD__FLOW_STEP, MRD__FLOW_END};
    mrd__flow_point *points = mrd__new_array(mrd__flow_point, COUNT);
    mrd__rng rng = {11};
    for (uint32_t i = 0; i < COUNT; i++)
        points[i] = (mrd__flow_point){.ts = (int64_t)mrd__rng_below(&rng, 1000000),
                                      .id = (uint32_t)mrd__rng_below(&rng, 4000),
                                      .name = (uint32_t)mrd__rng_below(&rng, 2),
                                      .order = i,
                                      .slice = mrd__rng_below(&rng, 50) == 0 ? MRD__NONE : i,
                                      .phase = phases[mrd__rng_below(&rng, 3)]};
    mrd__flow_links want = {0};
    kit_found want_found;
    kit_found_init(&want_found);
    mrd__flows_join(points, COUNT, 1, &want, &want_found.found);
    assert_true(want.count > COUNT / 4);
    for (uint32_t workers = 2; workers <= 7; workers += 5) {
        mrd__flow_links got = {0};
        kit_found found;
        kit_found_init(&found);
        mrd__flows_join(points, COUNT, workers, &got, &found.found);
        assert_int_equal(got.count, want.count);
        assert_memory_equal(got.data, want.data, want.count * sizeof *want.data);
        for (size_t id = 0; id < MRD__LOSS_COUNT; id++) {
            assert_int_equal(found.found.table[id].count, want_found.found.table[id].count);
            assert_int_equal(found.found.table[id].order, want_found.found.table[id].order);
        }
        mrd__vec_reset(&got);
        mrd__found_reset(&found.found);
    }
    mrd__vec_reset(&want);
    mrd__found_reset(&want_found.found);
    mrd__free(points);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bind_random),      cmocka_unit_test(test_chain_and_fan),
        cmocka_unit_test(test_reuse_and_strays), cmocka_unit_test(test_backwards),
        cmocka_unit_test(test_keys_and_unbound), cmocka_unit_test(test_workers_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
