/* Side by side with SimGrid 3.32 (fluid model) on the same platforms; ../shared/cases/comm-sim says
 * how to compare. SMPI's 16 bytes a message are cdma.header_bytes; its sends begin when both sides
 * are at the step: step_mode lockstep.
 *
 * Two selectors are not the algorithm they are named after. `redbcast` reduces linearly, all ranks
 * to the root at once, before its binomial broadcast (crossbar8, 1 MiB: 211.7 us, a binomial
 * reduction would take 128.8), and all-gather `ring` sends each block straight from its owner, to
 * rank + i at step i (on a ring it would else be free of contention). The test brings programs of
 * its own for both, so that the network model is compared. SMPI's `lr` with N not dividing S runs
 * the rest apart: those rows are left out. torus8 and torus32 number their first dimension fastest:
 * torus-2d-4x2 and torus-2d-8x4 here.
 *
 * Every row is in the band of the table's README, but for those named in `strange`, each with its
 * cause; a row that enters or leaves that list fails the test. */
#include "kit.h"
#include "table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void linear_tree(const mrd__sim_program *p, uint32_t rank, uint32_t step, mrd__sim_ops *out)
{
    uint32_t levels = p->steps - 1;
    if (step == 0) {
        for (uint32_t r = 1; r < p->n; r++)
            if (rank == r)
                mrd__sim_op_add(p, out, true, 0, 0, 1, true);
            else if (rank == 0)
                mrd__sim_op_add(p, out, false, r, 0, 1, true);
        return;
    }
    uint32_t bit = 1u << (levels - step);
    if (rank % (2 * bit) == bit)
        mrd__sim_op_add(p, out, false, rank - bit, 0, 1, false);
    else if (rank % (2 * bit) == 0 && rank + bit < p->n)
        mrd__sim_op_add(p, out, true, rank + bit, 0, 1, false);
}

static void owner_shift(const mrd__sim_program *p, uint32_t rank, uint32_t step, mrd__sim_ops *out)
{
    uint32_t to = (rank + step + 1) % p->n, from = (rank + p->n - step - 1) % p->n;
    mrd__sim_op_add(p, out, true, to, rank, 1, false);
    mrd__sim_op_add(p, out, false, from, from, 1, false);
}

static const struct selector {
    const char *primitive, *name, *algorithm;
    void (*ops)(const mrd__sim_program *, uint32_t, uint32_t, mrd__sim_ops *);
} selectors[] = {
    {"allreduce", "lr", "ring", NULL},
    {"allreduce", "rab_rdb", "halving_doubling", NULL},
    {"allreduce", "rdb", "recursive_doubling", NULL},
    {"allreduce", "redbcast", "tree", linear_tree},
    {"allgather", "ring", "ring", owner_shift},
    {"allgather", "bruck", "bruck", NULL},
    {"allgather", "rdb", "halving_doubling", NULL},
    {"reducescatter", "ompi_ring", "ring", NULL},
    {"reducescatter", "ompi_basic_recursivehalving", "halving_doubling", NULL},
    {"reducescatter", "mpich_pair", "pairwise", NULL},
    {"alltoall", "pair", "pairwise", NULL},
    {"alltoall", "bruck", "bruck", NULL},
    {"alltoall", "basic_linear", "direct", NULL},
    {"p2p", "none", "direct", NULL},
};

static const struct selector *find_selector(const char *primitive, const char *name)
{
    for (size_t i = 0; i < sizeof selectors / sizeof *selectors; i++)
        if (strcmp(selectors[i].primitive, primitive) == 0 && strcmp(selectors[i].name, name) == 0)
            return &selectors[i];
    return NULL;
}

static void platform(char *out, size_t size, const char *name, int n)
{
    if (strncmp(name, "crossbar", 8) == 0)
        snprintf(out, size, "star-%d", n);
    else if (strncmp(name, "ring", 4) == 0)
        snprintf(out, size, "ring-%d", n);
    else if (strncmp(name, "torus", 5) == 0)
        snprintf(out, size, "torus-2d-%dx%d", n == 8 ? 4 : n / 4, n == 8 ? 2 : 4);
    else
        snprintf(out, size, "fat-tree-2l-l%d-h4-s%d", n / 4, strstr(name, "o2") ? 2 : 4);
}

static double simulate(const struct selector *s, const char *topology, int n, long long bytes,
                       const char *mode, bool latency_first)
{
    if (strcmp(s->primitive, "allreduce") != 0 && strcmp(s->primitive, "p2p") != 0)
        bytes -= bytes % n; /* SMPI sends S/N, rounded down, to each */
    mrd__sim_spec spec = spec_of(
        "{'primitive':'%s','algorithm':'%s','topology':'%s','msg_size_bytes':%lld,'mode':'%s',"
        "'step_mode':'lockstep','switching':'cut_through','link':{'ack_bytes':0,'credits':1000000,"
        "'latency_first':%s},'cdma':{'max_outstanding':1000000,'header_bytes':16}}",
        s->primitive, s->algorithm, topology, bytes, mode, latency_first ? "true" : "false");
    mrd__sim_program program;
    mrd__sim_result result;
    mrd_error error = {0};
    mrd__sim_program_init(&program, &spec, spec.algorithm, (uint32_t)n);
    if (s->ops) {
        program.ops = s->ops;
        program.fence = NULL;
        if (s->ops == linear_tree) program.steps = 1 + mrd__sim_ceil_log2((uint32_t)n);
    }
    if (mrd__sim_run_program(&spec, &program, NULL, &result, &error) != MRD_OK)
        fail_msg("%s", error.message);
    double time = result.data_done_ns;
    mrd__sim_result_reset(&result);
    mrd__sim_spec_reset(&spec);
    return time;
}

/* seconds of the row (platform, primitive, selector, n, bytes); 0: none. */
static double lookup(const char *text, const char *name, char **f, int n, const char *bytes)
{
    char key[128];
    snprintf(key, sizeof key, "\n%s,%s,%s,%s,%d,%s,", name, f[1], f[2], f[3], n, bytes);
    const char *at = strstr(text, key);
    return at ? strtod(at + strlen(key), NULL) : 0;
}

/* Rows out of their band, and why.
 *
 * LATENCY: a fluid flow takes no bandwidth while its latency runs, so that the latencies of a step
 * come on top of its contention; packets use their first link at once, as on a wire. Ours is
 * faster, and in the band where link.latency_first makes packets wait in the fluid's way.
 *
 * TURNS: direct all-to-all, where flows of different latency share a port. The fluid gives the port
 * to those that are past their latency, each an equal share at every instant; packets take turns,
 * and the last turn may go to a far goal. Ours is later by at most the longest latency, and with
 * latency_first by at most four packets: those that queue for one port at the end. The README
 * counts these rows as free of contention, where its band is 1e-6. */
typedef enum cause {
    NONE,
    LATENCY,
    TURNS
} cause;

static const struct strange {
    const char *platforms, *primitive, *selector, *bytes;
    cause cause;
} strange[] = {
    {"ring8 ring16 ring32", "allgather", "bruck", "65536 1048576", LATENCY},
    {"ring8", "allgather", "rdb", "65536 1048576", LATENCY},
    {"ring16 ring32 torus32", "allgather", "rdb", "65536", LATENCY},
    {"ring8", "allgather", "ring", "65536 1048576", LATENCY},
    {"ring16", "allgather", "ring", "1048576", LATENCY},
    {"ring32 torus32", "allgather", "ring", "1048576 16777216", LATENCY},
    {"ring8 ring16", "allreduce", "rab_rdb", "65536 1048576", LATENCY},
    {"ring32", "allreduce", "rab_rdb", "1048576", LATENCY},
    {"ring8 ring32", "allreduce", "rdb", "65536", LATENCY},
    {"ring8 ring16 ring32", "alltoall", "bruck", "65536 1048576", LATENCY},
    {"ring8", "reducescatter", "mpich_pair", "65536 1048576", LATENCY},
    {"ring16", "reducescatter", "mpich_pair", "1048576", LATENCY},
    {"ring32 torus32", "reducescatter", "mpich_pair", "1048576 16777216", LATENCY},
    {"ring8 ring16 ring32", "reducescatter", "ompi_basic_recursivehalving", "65536 1048576",
     LATENCY},
    {"torus32", "reducescatter", "ompi_basic_recursivehalving", "65536", LATENCY},
    {"torus8 fattree8 torus16 fattree16 fattree32", "alltoall", "basic_linear",
     "1024 65536 1048576 16777216", TURNS},
};

static bool listed(const char *list, const char *word)
{
    size_t size = strlen(word);
    for (const char *at = list; (at = strstr(at, word)) != NULL; at += size)
        if ((at == list || at[-1] == ' ') && (at[size] == ' ' || at[size] == '\0')) return true;
    return false;
}

static cause expected(char **f)
{
    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++)
        if (strcmp(strange[i].primitive, f[2]) == 0 && strcmp(strange[i].selector, f[3]) == 0 &&
            listed(strange[i].platforms, f[0]) && listed(strange[i].bytes, f[5]))
            return strange[i].cause;
    return NONE;
}

/* What was seen, by band. */
typedef struct tally {
    size_t exact, contended, latency, turns, foreign, bad;
    double worst;
    struct {
        char name[64];
        size_t rows;
    } others[32]; /* selectors that are not ours */
} tally;

static void count_other(tally *t, const char *primitive, const char *selector)
{
    char name[64];
    snprintf(name, sizeof name, "%s %s", primitive, selector);
    t->foreign++;
    for (size_t i = 0; i < sizeof t->others / sizeof *t->others; i++) {
        if (t->others[i].rows && strcmp(t->others[i].name, name) != 0) continue;
        memcpy(t->others[i].name, name, sizeof name);
        t->others[i].rows++;
        return;
    }
}

/* The largest message of an algorithm. */
static double message(const struct selector *s, double bytes, int n)
{
    if (strcmp(s->algorithm, "recursive_doubling") == 0 || strcmp(s->algorithm, "tree") == 0 ||
        strcmp(s->primitive, "p2p") == 0)
        return bytes;
    return strcmp(s->algorithm, "halving_doubling") == 0 || strcmp(s->algorithm, "bruck") == 0
               ? bytes / 2
               : bytes / n;
}

/* A row of the table as run here. */
typedef struct row {
    const struct selector *s;
    char topology[64];
    const char *mode;
    int n;
    long long bytes;
    double want, hops; /* ns; links on the way of a message of nothing */
    bool contended;
} row;

/* The bands of the README: 1e-6 without contention; with it 2 % for messages of 1 MiB and up, one
 * packet time a hop below. */
static bool in_band(const row *r, double got, tally *t)
{
    double off = fabs(got - r->want);
    if (!r->contended) return off <= 1e-6 * r->want;
    if (message(r->s, (double)r->bytes, r->n) < 1048576) return off <= 81.92 * r->hops;
    if (off / r->want > t->worst) t->worst = off / r->want;
    return off <= 0.02 * r->want;
}

/* Why this row is out of its band, NONE where it is in. */
static cause find_cause(const row *r, double got, tally *t)
{
    if (in_band(r, got, t)) return NONE;
    double fluid = simulate(r->s, r->topology, r->n, r->bytes, r->mode, true);
    double longest = 250 * r->hops, unused = t->worst;
    bool fits = in_band(r, fluid, t);
    t->worst = unused;
    if (strcmp(r->s->algorithm, "direct") != 0)
        return fits && got < r->want && r->want - got <= longest ? LATENCY : (cause)-1;
    bool late = got > r->want && got - r->want <= longest;
    return late && fabs(fluid - r->want) <= 4 * 81.92 + 1e-6 ? TURNS : (cause)-1;
}

static void compare(const char *whole, char **f, tally *t)
{
    int n = (int)strtol(f[4], NULL, 10);
    bool crossbar = strncmp(f[0], "crossbar", 8) == 0;
    row r = {.s = find_selector(f[2], f[3]),
             .n = n,
             .bytes = strtoll(f[5], NULL, 10),
             .mode = crossbar ? "ideal" : "packet",
             .want = strtod(f[6], NULL) * 1e9};
    if (!r.s || (strcmp(f[3], "lr") == 0 && r.bytes % n)) {
        count_other(t, f[2], f[3]);
        return;
    }
    char name[32];
    platform(r.topology, sizeof r.topology, f[0], n);
    snprintf(name, sizeof name, "crossbar%d", n);
    r.contended =
        lookup(whole, f[0], f, n, "16777216") > 1.08 * lookup(whole, name, f, n, "16777216");
    r.hops = floor(simulate(r.s, r.topology, n, 0, r.mode, false) / 250);
    double got = simulate(r.s, r.topology, n, r.bytes, r.mode, false);
    cause found = find_cause(&r, got, t), listed_as = expected(f);
    if (crossbar && found == NONE) { /* in packets as well */
        got = simulate(r.s, r.topology, n, r.bytes, "packet", false);
        found = find_cause(&r, got, t);
    }
    t->exact += !r.contended;
    t->contended += r.contended;
    t->latency += found == LATENCY;
    t->turns += found == TURNS;
    if (found == listed_as) return;
    static const char *const names[] = {"in its band", "LATENCY", "TURNS"};
    t->bad++;
    print_error("%s %s %s n=%d %lld B: %.3f ns, SimGrid %.3f (%+.3f %%)%s: %s, listed %s\n", f[0],
                f[2], f[3], n, r.bytes, got, r.want, 100 * (got - r.want) / r.want,
                r.contended ? " contended" : "",
                found <= TURNS ? names[found] : "out of its band for no known cause",
                names[listed_as]);
}

static void test_table(void **state)
{
    (void)state;
    mrd__buf text = {0}, copy = {0};
    char *at = (char *)table_open(&text, "simgrid.csv"), *f[7];
    if (!at) skip();
    mrd__buf_add(&copy, text.data, text.size);
    tally t = {0};
    while (table_row(&at, f, 7) == 7)
        compare(copy.data, f, &t);
    print_message("%zu rows free of contention, %zu contended (messages of 1 MiB and up: %.3f %% "
                  "at worst); of these out of the README's bands, as listed: %zu for latencies "
                  "that overlap, %zu for turns; %zu of selectors that are "
                  "not ours, %zu not as listed\n",
                  t.exact, t.contended, 100 * t.worst, t.latency, t.turns, t.foreign, t.bad);
    for (size_t i = 0; i < 32 && t.others[i].rows; i++)
        print_message("  not run: %s, %zu rows\n", t.others[i].name, t.others[i].rows);
    assert_int_equal(t.exact + t.contended, 880);
    assert_int_equal(t.bad, 0);
    mrd__buf_reset(&text);
    mrd__buf_reset(&copy);
}

/* The cause of what is out of the stated bands, on the rows that are furthest out: pairwise shifts
 * around a ring, d hops at a step, d flows on each link. SimGrid's time is exactly the sum over the
 * steps of d * (latency + message / bandwidth). Ours is the same sum where links have no latency,
 * to a picosecond a step, and below it where they have: packets use their first link while others
 * are still on their way, a fluid flow uses nothing until its latency is over. */
static double shift_sum(int n, double message, double latency)
{
    double sum = 0;
    for (int i = 1; i < n; i++)
        sum += (i < n - i ? i : n - i) * (latency + message / 50);
    return sum;
}

static double shift_time(int n, int bytes, int latency)
{
    mrd__sim_spec spec = spec_of(
        "{'primitive':'reducescatter','algorithm':'pairwise','topology':'ring-%d',"
        "'msg_size_bytes':%d,'switching':'cut_through','link':{'latency_ns':%d,'ack_bytes':0,"
        "'credits':1000000},'cdma':{'max_outstanding':1000000}}",
        n, bytes, latency);
    mrd__sim_result result = run(&spec);
    double time = result.data_done_ns;
    mrd__sim_result_reset(&result);
    mrd__sim_spec_reset(&spec);
    return time;
}

static void test_latency_is_the_difference(void **state)
{
    (void)state;
    static const int bytes[] = {65536, 1048576};
    for (int n = 8; n <= 32; n *= 2)
        for (int i = 0; i < 2; i++) {
            double message = (double)bytes[i] / n;
            assert_true(fabs(shift_time(n, bytes[i], 0) - shift_sum(n, message, 0)) <= 0.001 * n);
            double ours = shift_time(n, bytes[i], 250), fluid = shift_sum(n, message, 250);
            assert_true(ours < fluid && fluid - ours < shift_sum(n, 0, 250));
        }
    mrd__buf text = {0};
    char *at = (char *)table_open(&text, "simgrid.csv"), *f[7];
    size_t rows = 0;
    while (at && table_row(&at, f, 7) == 7) {
        if (strncmp(f[0], "ring", 4) != 0 || strcmp(f[3], "mpich_pair") != 0) continue;
        int n = (int)strtol(f[4], NULL, 10);
        double message = floor(strtod(f[5], NULL) / n) + 16, want = strtod(f[6], NULL) * 1e9;
        assert_true(fabs(shift_sum(n, message, 250) - want) <= 1e-9 * want);
        rows++;
    }
    assert_true(!at || rows >= 12);
    mrd__buf_reset(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table),
                                       cmocka_unit_test(test_latency_is_the_difference)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
