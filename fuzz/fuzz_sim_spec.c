/* Specs of the simulator: JSON in, as a sweep. What comes back is a named error, or specs that read
 * back as they were written; the small ones among them run to their end, with data checked, or fail
 * with a named error (a user's graph may deadlock). */
#include "base/assert.h"
#include "base/error.h"
#include "events/command_file.h"
#include "events/event_file.h"
#include "sim/sim.h"
#include "sim/topology.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RUNS_MAX 4        /* of one sweep */
#define CHIPS_MAX 16      /* more take too long for a fuzzer */
#define MESSAGE_MAX 65536 /* bytes */
#define EVENTS_MAX 20000  /* errors of 90 % over many hops take their time */
#define INPUT_MAX 4096

static bool go_on(void *ctx, uint64_t events, double done)
{
    (void)ctx;
    (void)done;
    return events < EVENTS_MAX;
}

static mrd_status take(void *ctx, const mrd__event_record *records, size_t count, mrd_error *error)
{
    (void)records;
    (void)error;
    *(size_t *)ctx += count;
    return MRD_OK;
}

/* Whether a run of this is a matter of milliseconds. */
static bool is_small(const mrd__sim_spec *spec)
{
    mrd__sim_topology topology;
    if (spec->msg_size_bytes > MESSAGE_MAX || spec->error_rate > 0.5 ||
        (spec->packet_bytes > 0 && spec->packet_bytes < 64))
        return false;
    for (size_t i = 0; i < spec->disturb.count; i++)
        if (spec->disturb.data[i].error_rate > 0.5) return false;
    if (mrd__sim_topology_build(&topology, spec, NULL) != MRD_OK) return false;
    bool small = topology.chips <= CHIPS_MAX;
    mrd__sim_topology_reset(&topology);
    return small;
}

static void run(mrd__sim_spec *spec)
{
    size_t seen = 0;
    mrd_error error = {0};
    mrd__sim_result result;
    mrd__sim_observer observer = {.ctx = &seen, .records = take, .progress = go_on};
    spec->check_data = 1;
    mrd_status status = mrd__sim_run(spec, &observer, &result, &error);
    if (status == MRD_OK) {
        mrd__assert(result.records == seen);
        mrd__assert(result.total_latency_ns >= result.data_done_ns);
    } else {
        mrd__assert(error.code[0] && strcmp(error.code, "wrong_data") != 0);
    }
    mrd__sim_result_reset(&result);
}

static void check(const char *text)
{
    mrd__sim_spec spec;
    mrd__buf again = {0};
    mrd_status status = mrd__sim_spec_parse(&spec, text, strlen(text), NULL);
    mrd__assert(status == MRD_OK);
    mrd__sim_spec_json(&spec, &again);
    mrd__assert(strcmp(again.data, text) == 0);
    if (is_small(&spec)) run(&spec);
    mrd__buf_reset(&again);
    mrd__sim_spec_reset(&spec);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mrd__sim_sweep sweep;
    mrd_error error = {0};
    if (size > INPUT_MAX) return 0;
    mrd_status status = mrd__sim_sweep_expand(&sweep, (const char *)data, size, &error);
    if (status != MRD_OK) {
        mrd__assert(error.code[0] && error.message[0]);
        return 0;
    }
    mrd__assert(sweep.specs.count > 0);
    for (size_t i = 0; i < sweep.specs.count && i < RUNS_MAX; i++)
        check(sweep.specs.data[i]);
    mrd__sim_sweep_reset(&sweep);
    return 0;
}
