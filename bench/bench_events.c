/* Event windows below the server: time and memory of opening an event trace, and of aggregated
 * windows over it, each a new one, with the Arrow stream written and thrown away. Event counts of
 * one answer for each row of the table are checked by brute force in the same run.
 *
 * usage: bench_events quick|full|FILE.parquet
 * quick: generated traces of 10^5 and 10^6 events; full: up to 10^8 (10 GB of memory). They are
 * kept in build/bench. */
#include "base/alloc.h"
#include "base/os.h"
#include "export/export.h"
#include "model/events.h"
#include "open/open.h"
#include "query/query.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRACKS 64
#define BUCKETS 2048
#define QUESTIONS 100
#define SWEEP_BYTES ((size_t)256 << 20) /* above any cache */

static double now_ms(void)
{
    return (double)mrd__monotonic_ns() / 1e6;
}

static mrd_status count_bytes(void *ctx, const void *data, size_t size, mrd_error *error)
{
    (void)data, (void)error;
    *(size_t *)ctx += size;
    return MRD_OK;
}

static int compare_doubles(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* A window of part of the trace, over the first components that make TRACKS keys. */
typedef struct question {
    double start, end;
    mrd_params *params;
} question;

static size_t chosen_components(const mrd__events *events)
{
    size_t components = 0;
    while (components < events->component_count && events->component_keys[components + 1] <= TRACKS)
        components++;
    return components;
}

static question make_question(const mrd__events *events, mrd__rng *rng, double part, bool minmax)
{
    double width = (events->end_ns - events->start_ns) * part;
    question q = {.params = mrd_params_create()};
    q.start = events->start_ns + (events->end_ns - events->start_ns - width) * mrd__rng_unit(rng);
    q.end = q.start + width;
    char number[40];
    snprintf(number, sizeof number, "%.17g", q.start);
    mrd_params_add(q.params, "start_ns", number, false);
    snprintf(number, sizeof number, "%.17g", q.end);
    mrd_params_add(q.params, "end_ns", number, false);
    snprintf(number, sizeof number, "%d", BUCKETS);
    mrd_params_add(q.params, "buckets", number, false);
    if (minmax) mrd_params_add(q.params, "extra", "minmax", false);
    for (size_t i = 0; i < chosen_components(events); i++)
        mrd_params_add(q.params, "components", events->components[i].data, false);
    return q;
}

/* ---- The answer by brute force ---- */

static uint64_t brute_count(const mrd__events *events, const question *q)
{
    uint64_t count = 0;
    uint64_t stop = events->keys[events->component_keys[chosen_components(events)] - 1].first +
                    events->keys[events->component_keys[chosen_components(events)] - 1].count;
    for (uint64_t i = 0; i < stop; i++)
        count += events->time[i] >= q->start && events->time[i] < q->end;
    return count;
}

/* Sum of event_count of a CSV answer: the column before busy_ratio. */
static uint64_t answered_count(const mrd__store *store, const question *q)
{
    mrd__buf csv = {0};
    mrd_sink sink = mrd__buf_sink(&csv);
    if (mrd__query_event_window(store, q->params, MRD_FORMAT_CSV, &sink, NULL) != MRD_OK) return 0;
    uint64_t sum = 0;
    for (char *line = strchr(csv.data, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
        char *field = line;
        for (int i = 0; i < 3; i++)
            field = strchr(field, ',') + 1;
        sum += strtoull(field, NULL, 10);
    }
    mrd__buf_reset(&csv);
    return sum;
}

/* ---- Measuring ---- */

static void sweep_caches(char *memory)
{
    for (size_t i = 0; i < SWEEP_BYTES; i += 64)
        memory[i]++;
}

static bool measure(const mrd__store *store, const char *name, double part, size_t questions,
                    char *sweep)
{
    mrd__rng rng = {11};
    double *times = mrd__new_array(double, questions);
    size_t bytes = 0;
    for (size_t i = 0; i < questions; i++) {
        question q = make_question(store->events, &rng, part, false);
        if (sweep) sweep_caches(sweep);
        bytes = 0;
        mrd_sink sink = {&bytes, count_bytes};
        mrd_error error = {0};
        double begin = now_ms();
        if (mrd__query_event_window(store, q.params, MRD_FORMAT_ARROW, &sink, &error) != MRD_OK) {
            fprintf(stderr, "bench_events: %s\n", error.message);
            return false;
        }
        times[i] = now_ms() - begin;
        if (i == 0 && answered_count(store, &q) != brute_count(store->events, &q)) {
            fprintf(stderr, "bench_events: %s: the answer is wrong\n", name);
            return false;
        }
        mrd_params_destroy(&q.params);
    }
    qsort(times, questions, sizeof *times, compare_doubles);
    printf("%-28s best %7.2f  median %7.2f  P95 %7.2f ms  %zu bytes\n", name, times[0],
           times[questions / 2], times[questions * 95 / 100], bytes);
    mrd__free(times);
    return true;
}

static bool measure_all(const mrd__store *store, size_t questions)
{
    char *sweep = mrd__pages_alloc(SWEEP_BYTES);
    bool ok = measure(store, "full range", 1, questions, NULL) &&
              measure(store, "half", 0.5, questions, NULL) &&
              measure(store, "a tenth", 0.1, questions, NULL) &&
              measure(store, "a hundredth", 0.01, questions, NULL) &&
              measure(store, "full range, caches swept", 1, questions / 4 + 1, sweep) &&
              measure(store, "a tenth, caches swept", 0.1, questions / 4 + 1, sweep);
    mrd__pages_free(sweep, SWEEP_BYTES);
    return ok;
}

static bool fail(const mrd_error *error)
{
    char text[2048];
    fprintf(stderr, "bench_events: %s\n", mrd_error_text(error, text, sizeof text));
    return false;
}

static bool bench_file(const char *path)
{
    mrd__store *store = NULL;
    mrd_error error = {0};
    double begin = now_ms();
    if (mrd__open(&path, 1, NULL, &store, &error) != MRD_OK) return fail(&error);
    double opened = now_ms() - begin;
    bool ok = store->events && store->events->count;
    if (ok) {
        uint64_t records, intervals, texts, resident, peak;
        mrd__events_memory(store->events, &records, &intervals, &texts);
        mrd__process_memory(&resident, &peak);
        double count = (double)store->events->count;
        printf("%s\n%-28s %7.1f ms, %.2f M events/s\n", path, "open", opened, count / opened / 1e3);
        printf("%-28s %.2f bytes an event with intervals, peak of the process %.0f MB\n", "memory",
               (double)(records + intervals) / count, (double)peak / 1e6);
        ok = measure_all(store, QUESTIONS);
    }
    mrd__store_destroy(&store);
    return ok;
}

static bool bench_generated(uint64_t events)
{
    char path[64];
    mrd_error error = {0};
    snprintf(path, sizeof path, "build/bench/events-%llu.parquet", (unsigned long long)events);
    if (mrd__make_folders("build/bench", &error) != MRD_OK) return fail(&error);
    double begin = now_ms();
    if (!mrd__file_exists(path)) {
        if (mrd__gen_event_trace(path, events, 1, &error) != MRD_OK) return fail(&error);
        printf("%-28s %7.1f ms\n", "generate", now_ms() - begin);
    }
    return bench_file(path);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "quick";
    bool full = strcmp(what, "full") == 0;
    if (!full && strcmp(what, "quick") != 0) return bench_file(what) ? 0 : 1;
    for (uint64_t events = 100000; events <= (full ? 100000000 : 1000000); events *= 10) {
        if (!bench_generated(events)) return 1;
    }
    return 0;
}
