/* Shapes and routes: counts of reference section 2.6, every route ends, shifts on a fat tree. */
#include "kit.h"

#include "base/os.h"
#include "sim/topology.h"

#include <string.h>

static mrd__sim_topology build(const char *name)
{
    mrd__sim_spec spec = spec_of("{'primitive':'p2p','algorithm':'direct','topology':'%s',"
                                 "'msg_size_bytes':1}",
                                 name);
    mrd__sim_topology t;
    assert_int_equal(mrd__sim_topology_build(&t, &spec, NULL), MRD_OK);
    mrd__sim_spec_reset(&spec);
    return t;
}

static void test_counts(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t chips, nodes, links, diameter, distance_sum; /* over all ordered pairs */
    } rows[] = {
        {"p2p", 2, 2, 2, 1, 2},
        {"ring-2", 2, 2, 2, 1, 2},
        {"ring-8", 8, 8, 16, 4, 8 * 16},
        {"mesh-2d-4x4", 16, 16, 48, 6, 640},
        {"torus-2d-4x4", 16, 16, 64, 4, 512},
        {"Torus-2D-8x8", 64, 64, 256, 8, 16384},
        {"torus-3d-4x4x4", 64, 64, 384, 6, 64 * 64 * 3},
        {"torus-2d-4x2", 8, 8, 24, 3, 96},
        {"full-8", 8, 8, 56, 1, 56},
        {"star-8", 8, 9, 16, 2, 112},
        {"fat-tree-k4", 16, 36, 96, 6, 0},
        {"fat-tree-k8", 128, 208, 768, 6, 0},
        {"fat-tree-2l-l4-h4-s4", 16, 24, 64, 4, 0},
        {"dragonfly-p2-a4-h2", 72, 108, 2 * 72 + 36 * 3 + 72, 5, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mrd__sim_topology t = build(rows[i].name);
        uint32_t longest = 0, sum = 0;
        for (uint32_t a = 0; a < t.chips; a++)
            for (uint32_t b = 0; b < t.chips; b++) {
                if (a == b) continue;
                mrd__sim_route route = mrd__sim_route_of(&t, a, b, 1000);
                assert_int_equal(t.from[route.first], a);
                assert_int_equal(t.to[route.last], b);
                assert_int_equal(route.latency_ps, route.hops * 250000 + (route.hops - 1) * 1000);
                sum += route.hops;
                if (route.hops > longest) longest = route.hops;
            }
        assert_int_equal(t.chips, rows[i].chips);
        assert_int_equal(t.nodes, rows[i].nodes);
        assert_int_equal(t.links, rows[i].links);
        assert_int_equal(longest, rows[i].diameter);
        if (rows[i].distance_sum) assert_int_equal(sum, rows[i].distance_sum);
        for (uint32_t l = 0; l < t.links; l++)
            assert_int_equal(t.to[t.reverse[l]], t.from[l]);
        mrd__sim_topology_reset(&t);
    }
}

/* D-mod-k: every shift loads each link of a full fat tree with one flow at most. */
static void test_shifts(void **state)
{
    (void)state;
    static const char *const names[] = {"fat-tree-k4", "fat-tree-k8", "fat-tree-2l-l4-h4-s4"};
    for (size_t i = 0; i < 3; i++) {
        mrd__sim_topology t = build(names[i]);
        uint32_t *load = mrd__alloc(t.links * sizeof *load);
        for (uint32_t shift = 1; shift < t.chips; shift++) {
            memset(load, 0, t.links * sizeof *load);
            for (uint32_t a = 0; a < t.chips; a++) {
                uint32_t b = (a + shift) % t.chips;
                for (uint32_t node = a; node != b;) {
                    uint32_t link = t.next[node * t.chips + b];
                    assert_true(++load[link] == 1);
                    node = t.to[link];
                }
            }
        }
        mrd__free(load);
        mrd__sim_topology_reset(&t);
    }
}

/* Ties at half a ring go the positive way; the last dimension is routed first. */
static void test_order(void **state)
{
    (void)state;
    mrd__sim_topology t = build("torus-2d-4x4");
    assert_int_equal(t.to[t.next[0 * 16 + 10]], 1); /* (0,0) to (2,2): b first, upwards */
    assert_int_equal(t.to[t.next[2 * 16 + 10]], 6);
    assert_int_equal(t.to[t.next[0 * 16 + 3]], 3); /* the short way round */
    mrd__sim_topology_reset(&t);
}

static void test_graph(void **state)
{
    (void)state;
    mrd__sim_spec spec = spec_of(
        "{'primitive':'p2p','algorithm':'direct','msg_size_bytes':1,'topology':{'name':'two',"
        "'nodes':['sw0','a','b'],'links':[{'from':'a','to':'sw0','latency_ns':10},"
        "{'from':'sw0','to':'b','bandwidth_gb_per_s':5}]}}");
    mrd__sim_topology t;
    assert_int_equal(mrd__sim_topology_build(&t, &spec, NULL), MRD_OK);
    assert_int_equal(t.chips, 2);
    assert_string_equal(t.names[0], "a");
    assert_string_equal(t.names[2], "sw0");
    assert_int_equal(t.links, 4);
    mrd__sim_route route = mrd__sim_route_of(&t, 0, 1, 0);
    assert_int_equal(route.latency_ps, 260000);
    NEAR(route.bandwidth, 5, 0);
    assert_int_equal(t.warning[0], 0);
    mrd__sim_topology_reset(&t);
    mrd__sim_spec_reset(&spec);
}

/* A user's ring has a cycle of channels and no promise: a warning with the cycle. */
static void test_graph_cycle(void **state)
{
    (void)state;
    mrd__sim_spec spec =
        spec_of("{'primitive':'p2p','algorithm':'direct','msg_size_bytes':1,'topology':{'name':'r',"
                "'nodes':['c0','c1','c2'],'duplex':false,'links':[{'from':'c0','to':'c1'},"
                "{'from':'c1','to':'c2'},{'from':'c2','to':'c0'}]}}");
    mrd__sim_result result = run(&spec);
    assert_non_null(strstr(result.warning, "c0>c1"));
    assert_non_null(strstr(result.warning, "c2>c0"));
    mrd__sim_result_reset(&result);
    mrd__sim_spec_reset(&spec);
}

static void test_bad_specs(void **state)
{
    (void)state;
#define HEAD "'primitive':'allreduce','algorithm':'ring','msg_size_bytes':1024"
    static const struct {
        const char *json, *says[3];
    } rows[] = {
        {"{'primitive':'x'}", {"primitive", "\"x\"", "allreduce"}},
        {"{" HEAD ",'topology':'cube-8'}", {"topology", "cube-8", "torus-3d-AxBxC"}},
        {"{" HEAD ",'topology':'ring-1'}", {"topology", "1 chips", "2 chips"}},
        {"{" HEAD ",'topology':'ring-9999'}", {"topology", "9999", "4096"}},
        {"{" HEAD "}", {"topology", "missing", ""}},
        {"{" HEAD ",'topology':'ring-4','link':{'credits':0}}",
         {"link.credits", "0", "1 to 16777216 packets"}},
        {"{" HEAD ",'topology':'ring-4','link':{'credits':1}}",
         {"link.credits", "1", "at least 2"}},
        {"{" HEAD ",'topology':'ring-4','link':{'speed':1}}",
         {"link.speed", "unknown field", "link.latency_ns"}},
        {"{" HEAD ",'topology':'ring-4','link':7}", {"link", "7", "an object"}},
        {"{" HEAD ",'topology':'ring-4','pipeline':1.5}",
         {"pipeline", "1.5", "whole number 1 to 64"}},
        {"{" HEAD ",'topology':'ring-4','check_data':1}", {"check_data", "1", "true or false"}},
        {"{" HEAD ",'topology':'ring-4','disturb':[{'chip':4}]}", {"disturb[0].chip", "4", "0..3"}},
        {"{" HEAD ",'topology':'ring-4','disturb':[{'chip':1,'slow':0.5}]}",
         {"disturb[0].slow", "0.5", "1 to 1000"}},
        {"{" HEAD ",'topology':'ring-4','disturb':[{'link':['c0','c2']}]}",
         {"disturb[0].link", "\"c2\"", "no link"}},
        {"{" HEAD ",'topology':'ring-4','trace':{'categories':['links']}}",
         {"trace.categories", "links", "link, ostd, thread, hop"}},
        {"{'primitive':'alltoall','algorithm':'tree','msg_size_bytes':1,'topology':'ring-4'}",
         {"algorithm", "tree", "auto, bruck, direct, pairwise"}},
        {"{" HEAD ",'topology':{'name':'g','nodes':['c0','c1'],'links':[{'from':'c0','to':'c9'}]}}",
         {"topology.links[0].to", "c9", "topology.nodes"}},
        {"{" HEAD ",'topology':{'name':'g','nodes':['c0','c_1'],'links':[]}}",
         {"topology.nodes", "c_1", "1 to 32"}},
        {"{" HEAD ",'topology':{'name':'g','nodes':['c0','c1'],'duplex':false,"
         "'links':[{'from':'c0','to':'c1'}]}}",
         {"topology.links", "no route from c1 to c0", ""}},
        {"{" HEAD ",'topology':'ring-4'", {"no JSON", "line 1", ""}},
        {"{" HEAD ",'topology':'star-4000','check_data':true,'pipeline':64}",
         {"check_data", "4000 chips", "67108864"}},
        {"[]", {"spec", "[]", "an object"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *message = spec_error(rows[i].json);
        for (int k = 0; k < 3; k++)
            if (!strstr(message, rows[i].says[k]))
                fail_msg("%s: \"%s\" does not say \"%s\"", rows[i].json, message, rows[i].says[k]);
    }
}

/* docs/sim.md names every parameter with its unit and meaning. */
static void test_documented(void **state)
{
    (void)state;
    mrd__buf text = {0};
    size_t count;
    const mrd__sim_param *params = mrd__sim_params(&count);
    assert_int_equal(mrd__file_read(&text, MRD_SOURCE_DIR "/docs/sim.md", 1 << 20, NULL), MRD_OK);
    for (size_t i = 0; i < count; i++) {
        mrd__buf row = {0};
        mrd__buf_printf(&row, "| `%s` | %s | ", params[i].path, params[i].unit);
        const char *at = strstr(text.data, row.data);
        if (!at) fail_msg("docs/sim.md lacks %s", row.data);
        const char *meaning = strstr(at, params[i].doc);
        if (!meaning || meaning > strchr(at, '\n')) fail_msg("docs/sim.md: %s", params[i].path);
        mrd__buf_reset(&row);
    }
    mrd__buf_reset(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),      cmocka_unit_test(test_shifts),
        cmocka_unit_test(test_order),       cmocka_unit_test(test_graph),
        cmocka_unit_test(test_graph_cycle), cmocka_unit_test(test_bad_specs),
        cmocka_unit_test(test_documented),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
