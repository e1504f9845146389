/* Async slices of one key: by hand, and random ones against a straight reading of the rules. */
#include "slices_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* depth and lane of each slice in nesting order */
static void expect_lane(const kit_result *r, uint32_t i, uint32_t name, uint32_t depth,
                        uint32_t lane, uint32_t parent)
{
    assert_int_equal(r->items.data[i].name, name);
    assert_int_equal(r->nested.lanes.data[r->nested.lane[i]].major, depth);
    assert_int_equal(r->nested.lanes.data[r->nested.lane[i]].minor, lane);
    assert_int_equal(r->nested.parent[i], parent);
}

static void test_overlapping_siblings(void **state)
{
    (void)state;
    kit_items items = {0};
    kit_add(&items, MRD__ASYNC_BEGIN, 5, 0, 'b');
    kit_add(&items, MRD__ASYNC_END, 95, 0, 'b');
    kit_add(&items, MRD__ASYNC_BEGIN, 15, 0, 'f');
    kit_add(&items, MRD__ASYNC_END, 45, 0, 'f');
    kit_add(&items, MRD__ASYNC_BEGIN, 30, 0, 'l');
    kit_add(&items, MRD__ASYNC_END, 70, 0, 'l');
    kit_add(&items, MRD__ASYNC_INSTANT, 50, 0, 'n');
    kit_add(&items, MRD__ASYNC_BEGIN, 80, 0, 's');
    kit_add(&items, MRD__ASYNC_END, 81, 0, 0);
    kit_result r = kit_run(&items, true);
    assert_int_equal(r.items.count, 5);
    expect_lane(&r, 0, 'b', 0, 0, MRD__NONE);
    expect_lane(&r, 1, 'f', 1, 0, 0);
    expect_lane(&r, 2, 'l', 1, 1, 0);
    expect_lane(&r, 3, 'n', 2, 0, 2);
    expect_lane(&r, 4, 's', 1, 0, 0);
    assert_int_equal(r.items.data[1].dur, 30);
    assert_int_equal(r.items.data[2].dur, 40);
    assert_int_equal(r.items.data[3].dur, 0);
    kit_result_free(&r);
    kit_free(&items);
}

static void test_ends(void **state)
{
    (void)state;
    kit_items items = {0};
    kit_add(&items, MRD__ASYNC_END, 1, 0, 'x');
    kit_add(&items, MRD__ASYNC_BEGIN, 2, 0, 'a')->args = 3;
    kit_add(&items, MRD__ASYNC_BEGIN, 3, 0, 'b');
    kit_add(&items, MRD__ASYNC_END, 4, 0, 'a')->args = 4;
    kit_add(&items, MRD__ASYNC_END, 5, 0, 'c');
    kit_result r = kit_run(&items, true);
    assert_int_equal(r.items.count, 2);
    assert_int_equal(r.items.data[0].dur, 2);
    assert_int_equal(r.items.data[0].args, 3004);
    assert_int_equal(r.items.data[1].flags, MRD__SLICE_UNCLOSED);
    expect_lane(&r, 1, 'b', 0, 1, MRD__NONE);
    assert_int_equal(kit_found_count(&r.found, MRD__LOSS_ASYNC_UNMATCHED_END), 2);
    kit_result_free(&r);
    kit_free(&items);
}

static void test_old_steps(void **state)
{
    (void)state;
    kit_items items = {0};
    kit_add(&items, MRD__OLD_ASYNC_START, 10, 0, 'o');
    kit_add(&items, MRD__OLD_ASYNC_STEP, 12, 0, 'o');
    kit_add(&items, MRD__OLD_ASYNC_STEP, 12, 0, 'o');
    kit_add(&items, MRD__OLD_ASYNC_FINISH, 15, 0, 'o');
    kit_result r = kit_run(&items, true);
    assert_int_equal(r.items.count, 3);
    expect_lane(&r, 0, 'o', 0, 0, MRD__NONE);
    expect_lane(&r, 1, 'o', 1, 0, 0);
    expect_lane(&r, 2, 'o', 1, 0, 0);
    kit_result_free(&r);
    kit_free(&items);
}

/* ---- Straight reading ---- */

static int by_time(const void *left, const void *right)
{
    const mrd__item *a = left;
    const mrd__item *b = right;
    if (a->ts != b->ts) return a->ts < b->ts ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

/* End of the slice that this b opens: the first later e of its name that no later b takes first. */
static void plain_ends(const kit_items *sorted, int64_t *end, uint64_t *unmatched)
{
    for (uint32_t i = 0; i < sorted->count; i++)
        end[i] = sorted->data[i].phase == MRD__ASYNC_BEGIN ? INT64_MAX : sorted->data[i].ts;
    bool open[256] = {false};
    for (uint32_t i = 0; i < sorted->count; i++) {
        const mrd__item *e = &sorted->data[i];
        if (e->phase == MRD__ASYNC_BEGIN) open[i] = true;
        if (e->phase != MRD__ASYNC_END) continue;
        int64_t hit = -1;
        for (int64_t k = 0; k < i; k++)
            if (open[k] && (e->name == 0 || sorted->data[k].name == e->name)) hit = k;
        if (hit < 0) {
            ++*unmatched;
            continue;
        }
        open[hit] = false;
        end[hit] = e->ts;
    }
}

/* Without equal times among begins and instants: the order is by start alone. */
static void compare(const kit_items *items)
{
    kit_result r = kit_run(items, true);
    kit_items sorted = kit_copy(items);
    if (sorted.count > 0) qsort(sorted.data, sorted.count, sizeof *sorted.data, by_time);
    int64_t end[256];
    uint64_t unmatched = 0;
    plain_ends(&sorted, end, &unmatched);
    uint32_t depth[256];
    uint32_t lane[256];
    uint32_t at[256];
    uint32_t count = 0;
    for (uint32_t i = 0; i < sorted.count; i++)
        if (sorted.data[i].phase != MRD__ASYNC_END) at[count++] = i;
    assert_int_equal(r.items.count, count);
    for (uint32_t i = 0; i < count; i++) {
        const mrd__item *v = &sorted.data[at[i]];
        uint32_t parent = MRD__NONE;
        for (uint32_t k = 0; k < i; k++)
            if (end[at[k]] > v->ts && end[at[k]] >= end[at[i]]) parent = k;
        depth[i] = parent == MRD__NONE ? 0 : depth[parent] + 1;
        bool busy = true;
        for (lane[i] = 0; busy; lane[i] += busy) {
            busy = false;
            for (uint32_t k = 0; k < i; k++)
                if (depth[k] == depth[i] && lane[k] == lane[i] && end[at[k]] > v->ts) busy = true;
        }
        assert_int_equal(r.items.data[i].order, v->order);
        assert_int_equal(mrd__item_end(&r.items.data[i]), end[at[i]]);
        expect_lane(&r, i, v->name, depth[i], lane[i], parent);
    }
    assert_int_equal(kit_found_count(&r.found, MRD__LOSS_ASYNC_UNMATCHED_END), unmatched);
    kit_free(&sorted);
    kit_result_free(&r);
}

static void test_random(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5000; seed++) {
        mrd__rng rng = {seed};
        kit_items items = {0};
        uint32_t count = 1 + (uint32_t)mrd__rng_below(&rng, seed % 20 == 0 ? 200 : 14);
        for (uint32_t i = 0; i < count; i++) {
            static const uint8_t phases[] = {MRD__ASYNC_BEGIN, MRD__ASYNC_END, MRD__ASYNC_END,
                                             MRD__ASYNC_BEGIN, MRD__ASYNC_INSTANT};
            uint8_t phase = phases[mrd__rng_below(&rng, 5)];
            /* Shuffled file, distinct times. */
            int64_t ts = (int64_t)((i * 7919u + seed) % count);
            for (uint32_t k = 0; k < i; k++)
                if (items.data[k].ts == ts) ts += count;
            kit_add(&items, phase, ts, 0, (uint32_t)mrd__rng_below(&rng, 4));
        }
        compare(&items);
        kit_free(&items);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overlapping_siblings),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_old_steps),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
