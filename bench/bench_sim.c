/* The simulator below the command line: events a second, and memory.
 *
 * usage: bench_sim [quick|full] | bench_sim once
 * once: 64 chips, ring all-reduce of 16 MiB, no trace, one run: to count instructions with and
 * without MRD_SIM_TRACE (valgrind --tool=callgrind). */
#include "base/os.h"
#include "sim/sim.h"

#include <stdio.h>
#include <string.h>

static const char *const cases[][2] = {
    {"64 chips, ring all-reduce, 64 MiB, 4 KiB packets",
     "{\"primitive\":\"allreduce\",\"algorithm\":\"ring\",\"topology\":\"ring-64\","
     "\"msg_size_bytes\":67108864}"},
    {"256 chips, ring all-reduce, 1 MiB, whole messages (ideal)",
     "{\"primitive\":\"allreduce\",\"algorithm\":\"ring\",\"topology\":\"ring-256\","
     "\"msg_size_bytes\":1048576,\"mode\":\"ideal\"}"},
    {"256 chips, ring all-reduce, 1 MiB, a packet a message",
     "{\"primitive\":\"allreduce\",\"algorithm\":\"ring\",\"topology\":\"ring-256\","
     "\"msg_size_bytes\":1048576,\"link\":{\"packet_bytes\":0}}"},
    {"64 chips, 8x8 torus, pairwise all-to-all, 16 MiB, slow chips, errors",
     "{\"primitive\":\"alltoall\",\"algorithm\":\"pairwise\",\"topology\":\"torus-2d-8x8\","
     "\"msg_size_bytes\":16777216,\"link\":{\"bandwidth_gb_per_s\":33.3,\"error_rate\":0.01},"
     "\"disturb\":[{\"chip\":2,\"slow\":1.7},{\"chip\":9,\"slow\":1.01}]}"},
    {"1,024 chips, ring all-reduce, 64 MiB, 4 KiB packets",
     "{\"primitive\":\"allreduce\",\"algorithm\":\"ring\",\"topology\":\"ring-1024\","
     "\"msg_size_bytes\":67108864}"},
};

static int run(const char *text, mrd__sim_result *result, double *ms)
{
    mrd__sim_spec spec;
    mrd_error error = {0};
    mrd_status status = mrd__sim_spec_parse(&spec, text, strlen(text), &error);
    uint64_t start = mrd__monotonic_ns();
    if (status == MRD_OK) status = mrd__sim_run(&spec, NULL, result, &error);
    *ms = (double)(mrd__monotonic_ns() - start) / 1e6;
    if (status != MRD_OK) fprintf(stderr, "%s\n", error.message);
    mrd__sim_spec_reset(&spec);
    return status != MRD_OK;
}

int main(int argc, char **argv)
{
    mrd__sim_result result;
    double ms, best;
    uint64_t now, peak;
    if (argc > 1 && strcmp(argv[1], "once") == 0) {
        int failed = run("{\"primitive\":\"allreduce\",\"algorithm\":\"ring\",\"topology\":"
                         "\"ring-64\",\"msg_size_bytes\":16777216}",
                         &result, &ms);
        mrd__sim_result_reset(&result);
        return failed;
    }
    printf("| run | events | a packet | ms, best of 3 | M events/s | M packets/s | peak, MB |\n"
           "|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        best = 1e300;
        for (int repeat = 0; repeat < 3; repeat++) {
            if (run(cases[i][1], &result, &ms)) return 1;
            if (ms < best) best = ms;
            if (repeat < 2) mrd__sim_result_reset(&result);
        }
        mrd__process_memory(&now, &peak);
        printf("| %s | %llu | %.1f | %.1f | %.1f | %.2f | %.0f |\n", cases[i][0],
               (unsigned long long)result.events, (double)result.events / (double)result.packets,
               best, (double)result.events / best / 1e3, (double)result.packets / best / 1e3,
               (double)peak / 1e6);
        mrd__sim_result_reset(&result);
    }
    return 0;
}
