/* Lists of the result store at 10,000 rows, written as JSON: time from the question to the bytes.
 *
 * usage: bench_results FOLDER [STORE]
 * FOLDER is made and filled where it is not there yet; STORE is postgresql://… or absent: SQLite.
 * Rows have 32 chips and their counters, 30 KB each. */
#include "base/os.h"
#include "meridian.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 10000
#define QUESTIONS 100

static mrd_status drop(void *ctx, const void *data, size_t size, mrd_error *error)
{
    (void)data, (void)error;
    *(size_t *)ctx += size;
    return MRD_OK;
}

static mrd_status fill(mrd_results *results, mrd_error *error)
{
    mrd__buf spec = {0};
    size_t size = 0;
    mrd_sink sink = {&size, drop};
    mrd_sim_options options = {.results = results, .experiment = "bench"};
    mrd_status status = MRD_OK;
    for (int i = 0; i < ROWS && status == MRD_OK; i++) {
        static const char *const algorithms[] = {"ring", "halving_doubling", "tree"};
        mrd__buf_clear(&spec);
        mrd__buf_printf(&spec,
                        "{\"primitive\":\"allreduce\",\"algorithm\":\"%s\",\"topology\":"
                        "\"%s\",\"msg_size_bytes\":%d,\"mode\":\"ideal\"}",
                        algorithms[i % 3], i % 2 ? "ring-32" : "torus-2d-4x8", 1024 * (i % 50 + 1));
        status = mrd_sim_run(spec.data, spec.size, &options, MRD_FORMAT_JSON, &sink, NULL, error);
    }
    mrd__buf_reset(&spec);
    return status;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static mrd_status ask(mrd_results *results, const char *query, mrd_error *error)
{
    double ms[QUESTIONS];
    size_t size = 0;
    mrd_sink sink = {&size, drop};
    for (int i = 0; i < QUESTIONS; i++) {
        mrd_params *params = mrd_params_create();
        mrd_status status = mrd_params_add_query(params, query, strlen(query), error);
        uint64_t start = mrd__monotonic_ns();
        size = 0;
        if (status == MRD_OK)
            status = mrd_results_list(results, params, MRD_FORMAT_JSON, &sink, error);
        ms[i] = (double)(mrd__monotonic_ns() - start) / 1e6;
        mrd_params_destroy(&params);
        if (status != MRD_OK) return status;
    }
    qsort(ms, QUESTIONS, sizeof *ms, by_size);
    printf("| `%s` | %zu | %.2f | %.2f | %.2f |\n", query, size, ms[QUESTIONS / 2],
           ms[QUESTIONS * 95 / 100], ms[QUESTIONS - 1]);
    return MRD_OK;
}

int main(int argc, char **argv)
{
    static const char *const queries[] = {
        "",
        "page=200",
        "sort_by=total_latency_ns&sort_order=asc",
        "sort_by=msg_size_bytes&page=100",
        "primitive=allreduce&algorithm=ring",
        "topology_name=torus%25",
        "topology_name=ring-32&msg_size_min=4096&msg_size_max=8192&sort_by=bus_bw_gb_per_s",
        "experiment=bench&algorithm=tree&topology_name=%25x8&sort_by=total_latency_ns",
        "page_size=1000",
    };
    mrd_results *results = NULL;
    mrd_error error = {0};
    if (argc < 2) return 2;
    bool filled = mrd__file_exists(argv[1]);
    mrd_status status = mrd_results_open(argv[1], argc > 2 ? argv[2] : NULL, &results, &error);
    uint64_t start = mrd__monotonic_ns();
    if (status == MRD_OK && !filled) status = fill(results, &error);
    printf("%d runs stored in %.1f s\n\n| list | bytes | median ms | P95 | worst |\n"
           "|---|---|---|---|---|\n",
           ROWS, (double)(mrd__monotonic_ns() - start) / 1e9);
    for (size_t i = 0; i < sizeof queries / sizeof *queries && status == MRD_OK; i++)
        status = ask(results, queries[i], &error);
    if (status != MRD_OK) fprintf(stderr, "%s\n", error.message);
    mrd_results_close(&results);
    return status != MRD_OK;
}
