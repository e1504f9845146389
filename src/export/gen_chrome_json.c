/* A Chrome trace of any size that looks like a profiler's: processes with threads, nested slices,
 * counters, instants, async operations and flows between threads; valid, and without anything that
 * counts as a loss. The same (events, seed) gives the same bytes.
 *
 * Every thread has its own time, which only moves forward. A step picks a thread and a pattern and
 * writes the pattern's events there:
 *
 *   tree    X[ X[ X ] X ]                complete events, children inside
 *   calls   B  B X E  i  E               begin/end around others
 *   async   b  n  e                      the thread's own async id
 *   gauge   C                            two series of a counter of the process
 *   flow    X(s) -> X(t) -> X(f)         on three threads, each later than the one before
 */
#include "base/error.h"
#include "base/os.h"
#include "export/export.h"

enum {
    MAX_PROCESSES = 8,
    THREADS = 8, /* a process */
    FLUSH_BYTES = 65536,
    NAME_COUNT = 400,
};
static const uint64_t FIRST_NS = 5000000000000ull; /* well after the clock's zero, as uptimes are */

typedef struct gen {
    mrd__rng rng;
    mrd__buf out;
    const mrd_sink *sink;
    uint64_t left; /* events still to write */
    bool any;
    uint32_t threads; /* all */
    uint64_t now[MAX_PROCESSES * THREADS];
    uint64_t flow_id;
} gen;

static uint64_t pid_of(uint32_t thread)
{
    return 4100 + 7 * (thread / THREADS);
}

static uint64_t tid_of(uint32_t thread)
{
    return thread % THREADS == 0 ? pid_of(thread) : 41000 + 13 * thread;
}

static uint64_t between(gen *g, uint64_t low, uint64_t high)
{
    return low + mrd__rng_below(&g->rng, high - low + 1);
}

/* ---- Pieces of an event ---- */

static void begin_event(gen *g, char phase)
{
    mrd__buf_text(&g->out, g->any ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
    mrd__buf_char(&g->out, phase);
    mrd__buf_char(&g->out, '"');
    g->any = true;
    g->left--;
}

static void add_name(gen *g)
{
    static const char *const parts[] = {"forward",   "backward", "matmul", "softmax", "layernorm",
                                        "attention", "gather",   "copy",   "reduce",  "launch"};
    static const char *const kinds[] = {"cpu_op", "runtime", "kernel", "python"};
    /* Few names make most of the events. */
    uint64_t pick = mrd__rng_below(&g->rng, NAME_COUNT);
    pick = mrd__rng_below(&g->rng, pick + 1);
    mrd__buf_printf(&g->out, ",\"name\":\"%s.%02u\",\"cat\":\"%s\"", parts[pick % 10],
                    (unsigned)(pick / 10), kinds[pick % 4]);
}

/* Microseconds with three decimals. */
static void add_us(gen *g, const char *key, uint64_t ns)
{
    mrd__buf_text(&g->out, key);
    mrd__buf_uint(&g->out, ns / 1000);
    char fraction[4] = {'.', (char)('0' + ns / 100 % 10), (char)('0' + ns / 10 % 10),
                        (char)('0' + ns % 10)};
    mrd__buf_add(&g->out, fraction, sizeof fraction);
}

static void add_place(gen *g, uint32_t thread, uint64_t ns)
{
    mrd__buf_text(&g->out, ",\"pid\":");
    mrd__buf_uint(&g->out, pid_of(thread));
    mrd__buf_text(&g->out, ",\"tid\":");
    mrd__buf_uint(&g->out, tid_of(thread));
    add_us(g, ",\"ts\":", ns);
}

static void add_args(gen *g)
{
    mrd__buf_printf(&g->out, ",\"args\":{\"bytes\":%u,\"shape\":[%u,%u]}",
                    (unsigned)between(g, 1, 1u << 20), (unsigned)between(g, 1, 512), 64u);
}

static void end_event(gen *g)
{
    mrd__buf_char(&g->out, '}');
}

static void complete(gen *g, uint32_t thread, uint64_t start, uint64_t length)
{
    begin_event(g, 'X');
    add_name(g);
    add_place(g, thread, start);
    add_us(g, ",\"dur\":", length);
    if (mrd__rng_below(&g->rng, 2) == 0) add_args(g);
    end_event(g);
}

static void instant(gen *g, uint32_t thread, uint64_t ns)
{
    begin_event(g, 'i');
    add_name(g);
    add_place(g, thread, ns);
    mrd__buf_text(&g->out, ",\"s\":\"t\"");
    end_event(g);
}

static void simple(gen *g, char phase, uint32_t thread, uint64_t ns)
{
    begin_event(g, phase);
    if (phase == 'B') add_name(g);
    add_place(g, thread, ns);
    if (phase == 'B' && mrd__rng_below(&g->rng, 3) == 0) add_args(g);
    end_event(g);
}

static void async(gen *g, char phase, uint32_t thread, uint64_t ns)
{
    begin_event(g, phase);
    mrd__buf_printf(&g->out, ",\"name\":\"%s\",\"cat\":\"io\",\"id\":\"0x%x\"",
                    phase == 'n' ? "progress" : "request", 0x1000 + thread);
    add_place(g, thread, ns);
    end_event(g);
}

static void flow(gen *g, char phase, uint32_t thread, uint64_t ns)
{
    begin_event(g, phase);
    mrd__buf_text(&g->out, ",\"name\":\"launch\",\"cat\":\"flow\",\"id\":");
    mrd__buf_uint(&g->out, g->flow_id);
    if (phase == 'f') mrd__buf_text(&g->out, ",\"bp\":\"e\"");
    add_place(g, thread, ns);
    end_event(g);
}

/* ---- Patterns: the most events each writes, and how ---- */

static void tree(gen *g, uint32_t thread)
{
    uint64_t start = g->now[thread];
    uint64_t child = between(g, 400, 4000);
    complete(g, thread, start, 4 * child);
    complete(g, thread, start + 150, 2 * child);
    complete(g, thread, start + 175, child + 1);
    complete(g, thread, start + 150 + 2 * child, child);
    g->now[thread] = start + 4 * child + between(g, 1, 3000);
}

static void calls(gen *g, uint32_t thread)
{
    uint64_t at = g->now[thread];
    uint64_t step = between(g, 300, 2500);
    simple(g, 'B', thread, at);
    simple(g, 'B', thread, at + step);
    complete(g, thread, at + step + 20, step);
    simple(g, 'E', thread, at + 3 * step);
    instant(g, thread, at + 3 * step + 50);
    simple(g, 'E', thread, at + 4 * step);
    g->now[thread] = at + 4 * step + between(g, 1, 3000);
}

static void request(gen *g, uint32_t thread)
{
    uint64_t at = g->now[thread];
    uint64_t length = between(g, 2000, 9000);
    async(g, 'b', thread, at);
    async(g, 'n', thread, at + length / 2);
    async(g, 'e', thread, at + length);
    g->now[thread] = at + length + between(g, 1, 500);
}

static void gauge(gen *g, uint32_t thread)
{
    begin_event(g, 'C');
    mrd__buf_text(&g->out, ",\"name\":\"memory\"");
    add_place(g, thread, g->now[thread]);
    mrd__buf_printf(&g->out, ",\"args\":{\"used\":%u,\"free\":%u.5}",
                    (unsigned)between(g, 0, 1u << 30), (unsigned)between(g, 0, 1u << 20));
    end_event(g);
    g->now[thread] += between(g, 1, 500);
}

static void launch(gen *g, uint32_t thread)
{
    static const char phases[] = "stf";
    uint64_t not_before = 0;
    g->flow_id++;
    for (int i = 0; i < 3; i++) {
        uint32_t at = (thread + (uint32_t)i * 3) % g->threads;
        uint64_t start = g->now[at] > not_before ? g->now[at] : not_before;
        uint64_t length = between(g, 500, 5000);
        complete(g, at, start, length);
        flow(g, phases[i], at, start + length / 2);
        g->now[at] = start + length + between(g, 1, 400);
        not_before = start + length;
    }
}

static const struct pattern {
    uint32_t weight, events;
    void (*write)(gen *g, uint32_t thread);
} patterns[] = {{50, 4, tree}, {20, 6, calls}, {12, 3, request}, {10, 1, gauge}, {8, 6, launch}};
enum {
    PATTERN_COUNT = sizeof patterns / sizeof patterns[0],
    ALL_WEIGHTS = 100
};

static void step(gen *g)
{
    uint32_t thread = (uint32_t)mrd__rng_below(&g->rng, g->threads);
    uint64_t pick = mrd__rng_below(&g->rng, ALL_WEIGHTS);
    size_t i = 0;
    while (i + 1 < PATTERN_COUNT && pick >= patterns[i].weight)
        pick -= patterns[i++].weight;
    if (g->left >= patterns[i].events) {
        patterns[i].write(g, thread);
    } else {
        complete(g, thread, g->now[thread], 100);
        g->now[thread] += 200;
    }
}

/* ---- Names and orders of processes and threads ---- */

static void metadata(gen *g, uint32_t thread, const char *what, const char *key, const char *value)
{
    if (g->left == 0) return;
    begin_event(g, 'M');
    mrd__buf_printf(&g->out, ",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"args\":{\"%s\":%s%s%s}",
                    what, (unsigned)pid_of(thread), (unsigned)tid_of(thread), key,
                    key[0] == 'n' ? "\"" : "", value, key[0] == 'n' ? "\"" : "");
    end_event(g);
}

static void all_metadata(gen *g)
{
    mrd__buf text = {0};
    for (uint32_t t = 0; t < g->threads; t++) {
        mrd__buf_clear(&text);
        if (t % THREADS == 0) {
            mrd__buf_printf(&text, "rank %u", t / THREADS);
            metadata(g, t, "process_name", "name", text.data);
            mrd__buf_clear(&text);
            mrd__buf_printf(&text, "%u", t / THREADS);
            metadata(g, t, "process_sort_index", "sort_index", text.data);
            mrd__buf_clear(&text);
        }
        if (t % THREADS == 0)
            mrd__buf_text(&text, "main");
        else
            mrd__buf_printf(&text, "worker %u", t % THREADS);
        metadata(g, t, "thread_name", "name", text.data);
    }
    mrd__buf_reset(&text);
}

mrd_status mrd__gen_chrome_json(const mrd_sink *sink, uint64_t events, uint64_t seed,
                                mrd_error *error)
{
    gen g = {.rng = {seed}, .sink = sink, .left = events};
    /* Small traces have one process with as many threads as still get something to do. */
    g.threads = events >= 8000 ? MAX_PROCESSES * THREADS : events >= 100 ? THREADS : 1;
    for (uint32_t t = 0; t < g.threads; t++)
        g.now[t] = FIRST_NS + between(&g, 0, 1000000);
    mrd__buf_text(&g.out, "{\"traceEvents\":[");
    all_metadata(&g);
    mrd_status status = MRD_OK;
    while (g.left > 0 && status == MRD_OK) {
        step(&g);
        if (g.out.size >= FLUSH_BYTES) status = mrd__buf_flush(&g.out, sink, error);
    }
    mrd__buf_text(&g.out, "\n],\"displayTimeUnit\":\"ns\"}\n");
    if (status == MRD_OK) status = mrd__buf_flush(&g.out, sink, error);
    mrd__buf_reset(&g.out);
    return status;
}
