/* The clock graph: worked examples, and seeded random graphs against a solver by brute force. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "clock/graph.h"

static uint32_t node_of(mrd__clock_graph *graph, uint32_t id)
{
    return mrd__clock_node(graph, (mrd__clock_id){.id = id});
}

static void pair(mrd__clock_graph *graph, uint32_t a, int64_t a_ns, uint32_t b, int64_t b_ns)
{
    uint32_t nodes[] = {node_of(graph, a), node_of(graph, b)};
    int64_t values[] = {a_ns, b_ns};
    mrd__clock_observe(graph, nodes, values, 2, MRD__CLOCK_OBSERVED);
}

static int64_t convert(mrd__clock_graph *graph, uint32_t id, int64_t value)
{
    int64_t out = INT64_MIN;
    assert_int_equal(mrd__clock_convert(graph, node_of(graph, id), value, &out), MRD__CLOCK_OK);
    return out;
}

static void test_choice_of_observation(void **state)
{
    (void)state;
    mrd__clock_graph *graph = mrd__clock_graph_create();
    pair(graph, 3, 1000, 6, 2000);
    pair(graph, 3, 1200, 6, 2300);
    pair(graph, 3, 2000, 6, 3500);
    mrd__clock_solve(graph, node_of(graph, 6), false);
    assert_int_equal(convert(graph, 3, 900), 1900);
    assert_int_equal(convert(graph, 3, 1000), 2000);
    assert_int_equal(convert(graph, 3, 1199), 2199);
    assert_int_equal(convert(graph, 3, 1200), 2300);
    assert_int_equal(convert(graph, 3, 5000), 6500);
    assert_int_equal(convert(graph, 6, -7), -7);
    mrd__clock_solve(graph, node_of(graph, 6), true);
    assert_int_equal(convert(graph, 3, 900), 1900);
    assert_int_equal(convert(graph, 3, 1100), 2150);
    assert_int_equal(convert(graph, 3, 1101), 2152); /* 2151.5, half away from zero */
    assert_int_equal(convert(graph, 3, 1600), 2900);
    assert_int_equal(convert(graph, 3, 5000), 6500);
    mrd__clock_graph_destroy(&graph);
}

static void test_hops(void **state)
{
    (void)state;
    mrd__clock_graph *graph = mrd__clock_graph_create();
    mrd__clock_hop hops[4];
    int64_t out;
    pair(graph, 128, 1000, 3, 1100);
    pair(graph, 3, 1200, 6, 5200);
    pair(graph, 128, 3000, 3, 3200);
    pair(graph, 3, 4000, 6, 9000);
    uint32_t alone = node_of(graph, 99);
    mrd__clock_solve(graph, node_of(graph, 6), false);
    assert_int_equal(convert(graph, 128, 3503), 7703);
    assert_int_equal(mrd__clock_path(graph, node_of(graph, 128), hops, 4), 2);
    assert_int_equal(hops[0].observations, 2);
    assert_int_equal(hops[0].first_offset_ns, 100);
    assert_int_equal(hops[0].last_offset_ns, 200);
    assert_int_equal(hops[0].spread_ns, 100);
    assert_true(hops[0].drift_ppm == 50000);
    assert_int_equal(mrd__clock_path(graph, alone, hops, 4), SIZE_MAX);
    assert_int_equal(mrd__clock_convert(graph, alone, 1, &out), MRD__CLOCK_NO_PATH);
    mrd__clock_graph_destroy(&graph);
}

static void test_backwards_clock_is_no_source(void **state)
{
    (void)state;
    mrd__clock_graph *graph = mrd__clock_graph_create();
    int64_t out;
    pair(graph, 6, 1000, 1, 500);
    pair(graph, 6, 2000, 1, 400);
    mrd__clock_solve(graph, node_of(graph, 6), false);
    assert_int_equal(mrd__clock_convert(graph, node_of(graph, 1), 450, &out), MRD__CLOCK_NO_PATH);
    mrd__clock_solve(graph, node_of(graph, 1), false);
    assert_int_equal(convert(graph, 6, 1500), 1000);
    mrd__clock_graph_destroy(&graph);
}

static void test_overflow_is_a_result(void **state)
{
    (void)state;
    mrd__clock_graph *graph = mrd__clock_graph_create();
    int64_t out = 5;
    pair(graph, 3, 0, 6, INT64_MAX);
    mrd__clock_solve(graph, node_of(graph, 6), false);
    assert_int_equal(convert(graph, 3, 0), INT64_MAX);
    assert_int_equal(mrd__clock_convert(graph, node_of(graph, 3), 1, &out), MRD__CLOCK_OVERFLOW);
    assert_int_equal(out, 5);
    mrd__clock_graph_destroy(&graph);
}

static void test_assumed_is_last(void **state)
{
    (void)state;
    mrd__clock_graph *graph = mrd__clock_graph_create();
    uint32_t direct[] = {node_of(graph, 3), node_of(graph, 6)};
    int64_t zero[] = {0, 0};
    mrd__clock_observe(graph, direct, zero, 2, MRD__CLOCK_ASSUMED);
    mrd__clock_solve(graph, node_of(graph, 6), false);
    assert_int_equal(convert(graph, 3, 10), 10);
    pair(graph, 3, 0, 128, 100);
    pair(graph, 128, 0, 129, 100);
    pair(graph, 129, 0, 6, 100);
    mrd__clock_solve(graph, node_of(graph, 6), false);
    assert_int_equal(convert(graph, 3, 10), 310); /* three observed hops beat one assumed */
    mrd__clock_graph_destroy(&graph);
}

/* ---- Brute force ---- */

#define NODES 6

typedef struct model {
    size_t count;
    struct {
        uint32_t a, b;
        int64_t a_ns, b_ns;
        mrd__clock_source source;
    } seen[24];
} model;

typedef struct path {
    uint32_t nodes[NODES];
    mrd__clock_source sources[NODES];
    size_t length;
    unsigned assumed;
    bool found;
} path;

static bool backwards(const model *m, uint32_t clock)
{
    for (size_t i = 0; i < m->count; i++) {
        for (size_t j = i + 1; j < m->count; j++) {
            bool same = m->seen[i].a == m->seen[j].a && m->seen[i].b == m->seen[j].b &&
                        m->seen[i].source == m->seen[j].source;
            bool a = same && m->seen[i].a == clock && m->seen[j].a_ns < m->seen[i].a_ns;
            bool b = same && m->seen[i].b == clock && m->seen[j].b_ns < m->seen[i].b_ns;
            if (a || b) return true;
        }
    }
    return false;
}

static bool better(const path *a, const path *b)
{
    if (!b->found || a->assumed != b->assumed) return !b->found || a->assumed < b->assumed;
    if (a->length != b->length) return a->length < b->length;
    for (size_t i = 0; i < a->length; i++) {
        if (a->nodes[i] != b->nodes[i]) return a->nodes[i] < b->nodes[i];
        if (i > 0 && a->sources[i] != b->sources[i]) return a->sources[i] < b->sources[i];
    }
    return false;
}

static bool linked(const model *m, uint32_t a, uint32_t b, mrd__clock_source source)
{
    for (size_t i = 0; i < m->count; i++) {
        if (m->seen[i].source == source &&
            ((m->seen[i].a == a && m->seen[i].b == b) || (m->seen[i].a == b && m->seen[i].b == a)))
            return true;
    }
    return false;
}

static void walk(const model *m, path *at, uint32_t target, path *best)
{
    uint32_t here = at->nodes[at->length - 1];
    if (here == target) {
        at->found = true;
        if (better(at, best)) *best = *at;
        return;
    }
    if (backwards(m, here)) return;
    for (uint32_t next = 0; next < NODES; next++) {
        bool used = false;
        for (size_t i = 0; i < at->length; i++)
            used = used || at->nodes[i] == next;
        for (int source = MRD__CLOCK_OBSERVED; !used && source <= MRD__CLOCK_ASSUMED; source++) {
            if (!linked(m, here, next, (mrd__clock_source)source)) continue;
            path longer = *at;
            longer.nodes[longer.length] = next;
            longer.sources[longer.length++] = (mrd__clock_source)source;
            longer.assumed += source == MRD__CLOCK_ASSUMED;
            walk(m, &longer, target, best);
        }
    }
}

static int64_t step(const model *m, uint32_t from, uint32_t to, mrd__clock_source source,
                    int64_t value)
{
    int64_t best_from = 0, best_to = 0;
    bool before = false, any = false;
    for (size_t i = 0; i < m->count; i++) {
        bool ahead = m->seen[i].a == from && m->seen[i].b == to;
        bool behind = m->seen[i].b == from && m->seen[i].a == to;
        if (m->seen[i].source != source || (!ahead && !behind)) continue;
        int64_t x = ahead ? m->seen[i].a_ns : m->seen[i].b_ns;
        int64_t y = ahead ? m->seen[i].b_ns : m->seen[i].a_ns;
        bool takes = x <= value ? !before || x >= best_from : !before && (!any || x < best_from);
        if (takes) {
            best_from = x;
            best_to = y;
        }
        before = before || x <= value;
        any = true;
    }
    assert_true(any);
    return value - best_from + best_to;
}

static void check_one(mrd__clock_graph *graph, const model *m, uint32_t from, uint32_t target)
{
    path at = {.nodes = {from}, .length = 1}, best = {0};
    int64_t want = 777, got = 0;
    walk(m, &at, target, &best);
    mrd__clock_result result = mrd__clock_convert(graph, node_of(graph, from), want, &got);
    assert_int_equal(result, best.found ? MRD__CLOCK_OK : MRD__CLOCK_NO_PATH);
    for (size_t i = 1; best.found && i < best.length; i++)
        want = step(m, best.nodes[i - 1], best.nodes[i], best.sources[i], want);
    if (best.found) assert_int_equal(got, want);
}

/* A constant path adds the same to every reading. */
static void check_constant(const mrd__clock_graph *graph, uint32_t from)
{
    int64_t offset;
    if (!mrd__clock_constant(graph, from, &offset)) return;
    for (int64_t at = -1000; at <= 5000; at += 250) {
        int64_t got;
        assert_int_equal(mrd__clock_convert(graph, from, at, &got), MRD__CLOCK_OK);
        assert_int_equal(got, at + offset);
    }
}

/* One clock of several may be interpolated, the others not. */
static void test_linear_of_one_clock(void **state)
{
    (void)state;
    mrd__clock_graph *graph = mrd__clock_graph_create();
    for (int64_t i = 0; i < 2; i++) {
        pair(graph, 1, i * 1000, 0, i * 2000);
        pair(graph, 2, i * 1000, 0, i * 2000);
    }
    mrd__clock_linear(graph, node_of(graph, 1));
    mrd__clock_solve(graph, node_of(graph, 0), false);
    int64_t got;
    assert_int_equal(mrd__clock_convert(graph, node_of(graph, 1), 500, &got), MRD__CLOCK_OK);
    assert_int_equal(got, 1000);
    assert_int_equal(mrd__clock_convert(graph, node_of(graph, 2), 500, &got), MRD__CLOCK_OK);
    assert_int_equal(got, 500);
    assert_false(mrd__clock_constant(graph, node_of(graph, 1), &got));
    mrd__clock_graph_destroy(&graph);
}

static void test_random_against_brute_force(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        mrd__rng rng = {seed};
        model m = {.count = 1 + mrd__rng_below(&rng, 24)};
        mrd__clock_graph *graph = mrd__clock_graph_create();
        for (uint32_t i = 0; i < NODES; i++)
            node_of(graph, i);
        for (size_t i = 0; i < m.count; i++) {
            uint32_t a = (uint32_t)mrd__rng_below(&rng, NODES);
            uint32_t b = (a + 1 + (uint32_t)mrd__rng_below(&rng, NODES - 1)) % NODES;
            m.seen[i].a = a < b ? a : b;
            m.seen[i].b = a < b ? b : a;
            m.seen[i].a_ns = (int64_t)(i * 100 + mrd__rng_below(&rng, 120));
            m.seen[i].b_ns = (int64_t)(i * 100 + mrd__rng_below(&rng, 120));
            m.seen[i].source = (mrd__clock_source)mrd__rng_below(&rng, 3);
            uint32_t nodes[] = {m.seen[i].a, m.seen[i].b};
            int64_t values[] = {m.seen[i].a_ns, m.seen[i].b_ns};
            mrd__clock_observe(graph, nodes, values, 2, m.seen[i].source);
        }
        uint32_t target = (uint32_t)mrd__rng_below(&rng, NODES);
        mrd__clock_solve(graph, target, false);
        for (uint32_t from = 0; from < NODES; from++) {
            check_one(graph, &m, from, target);
            check_constant(graph, from);
        }
        mrd__clock_graph_destroy(&graph);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_choice_of_observation),
        cmocka_unit_test(test_hops),
        cmocka_unit_test(test_backwards_clock_is_no_source),
        cmocka_unit_test(test_overflow_is_a_result),
        cmocka_unit_test(test_assumed_is_last),
        cmocka_unit_test(test_linear_of_one_clock),
        cmocka_unit_test(test_random_against_brute_force),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
