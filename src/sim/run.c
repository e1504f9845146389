/* The loop of one run, its pools, and the choice of an algorithm. */
#include "sim/kernel.h"

#include "base/assert.h"
#include "base/error.h"

#include <string.h>

/* ---- Pools and lines ---- */

uint32_t mrd__sim_message_new(mrd__sim *sim)
{
    uint32_t index = sim->free_message;
    if (index != MRD__SIM_NONE) {
        sim->free_message = sim->messages.data[index].next;
        return index;
    }
    index = (uint32_t)sim->messages.count;
    mrd__assert(index < 1u << MRD__SIM_INDEX_BITS);
    mrd__vec_reserve(&sim->messages, sim->messages.count + 1);
    sim->messages.data[index] = (mrd__sim_message){0};
    sim->messages.count++;
    return index;
}

void mrd__sim_message_free(mrd__sim *sim, uint32_t message)
{
    sim->messages.data[message].next = sim->free_message;
    sim->free_message = message;
}

static uint32_t *next_of(mrd__sim *sim, uint32_t item)
{
    if (item & MRD__SIM_TOKEN) return &sim->messages.data[item & ~MRD__SIM_TOKEN].next;
    return &sim->packets.data[item].next;
}

void mrd__sim_line_add(mrd__sim *sim, mrd__sim_line *line, uint32_t item)
{
    *next_of(sim, item) = MRD__SIM_NONE;
    if (line->head == MRD__SIM_NONE)
        line->head = item;
    else
        *next_of(sim, line->tail) = item;
    line->tail = item;
}

uint32_t mrd__sim_line_take(mrd__sim *sim, mrd__sim_line *line)
{
    uint32_t item = line->head;
    line->head = *next_of(sim, item);
    return item;
}

/* ---- The loop ---- */

/* An observing event: the run's own time (back to `before`) and count do not move with it. */
static void observe(mrd__sim *sim, uint32_t type, uint32_t index, uint64_t before)
{
    if (type == MRD__SIM_EV_IDLE)
        mrd__sim_trace_idle(sim, index);
    else
        mrd__sim_on_hop(sim, index);
    sim->now = before;
    sim->events--;
}

static void dispatch(mrd__sim *sim, uint32_t type, uint32_t index, uint64_t before)
{
    switch (type) {
    case MRD__SIM_EV_WIRE:
        mrd__sim_on_wire(sim, index);
        break;
    case MRD__SIM_EV_ARRIVE:
        mrd__sim_on_arrive(sim, index);
        break;
    case MRD__SIM_EV_LEFT:
        mrd__sim_on_left(sim, index);
        break;
    case MRD__SIM_EV_HEAD:
        mrd__sim_on_head(sim, index);
        break;
    case MRD__SIM_EV_IN:
        mrd__sim_on_in(sim, index);
        break;
    case MRD__SIM_EV_CREDIT:
        mrd__sim_on_credit(sim, index);
        break;
    case MRD__SIM_EV_START:
        mrd__sim_on_start(sim, index);
        break;
    case MRD__SIM_EV_FLOW:
        mrd__sim_network_send(sim, index);
        break;
    case MRD__SIM_EV_COPIED:
        mrd__sim_on_copied(sim, index);
        break;
    case MRD__SIM_EV_REDUCED:
        mrd__sim_on_reduced(sim, index);
        break;
    default:
        observe(sim, type, index, before);
        break;
    }
}

/* Share of all chips' steps that is behind them. */
static double done(const mrd__sim *sim)
{
    uint64_t steps = 0, all = (uint64_t)sim->n * sim->program->steps;
    for (uint32_t c = 0; c < sim->n; c++)
        steps += sim->chip[c].step;
    return all ? (double)steps / (double)all : 0;
}

static void loop(mrd__sim *sim)
{
    while (sim->queue.count && sim->status == MRD_OK) {
        mrd__sim_key key = mrd__sim_queue_pop(&sim->queue);
        uint64_t before = sim->now;
        sim->now = mrd__sim_key_time(key);
        if (sim->now >= MRD__SIM_MAX_TIME_PS)
            mrd__sim_failed(sim, MRD_ERR_LIMIT, "sim_time",
                            "simulated time passes %llu ps, the most allowed",
                            (unsigned long long)MRD__SIM_MAX_TIME_PS);
        sim->events++;
        if ((sim->events & 0xfffff) == 0 && sim->observer && sim->observer->progress &&
            !sim->observer->progress(sim->observer->ctx, sim->events, done(sim)))
            mrd__sim_failed(sim, MRD_ERR_CANCELLED, "cancelled", "cancelled after %llu events",
                            (unsigned long long)sim->events);
        dispatch(sim, mrd__sim_key_type(key), mrd__sim_key_index(key), before);
    }
    if (sim->status == MRD_OK && sim->unfinished) mrd__sim_stuck(sim);
}

/* ---- Set-up ---- */

static void prepare(mrd__sim *sim)
{
    const mrd__sim_spec *spec = sim->spec;
    static const uint8_t dtype_bytes[] = {4, 2, 2, 1, 1};
    sim->n = sim->topology.chips;
    sim->route = sim->topology.next;
    sim->units = (uint32_t)spec->units;
    sim->threads = (uint32_t)spec->threads;
    sim->dtype_bytes = dtype_bytes[spec->dtype];
    sim->ideal = spec->mode == MRD__SIM_IDEAL;
    sim->shared = spec->vc_mode == MRD__SIM_SHARED_WIRE && !sim->ideal;
    sim->cut_through = spec->switching == MRD__SIM_CUT_THROUGH;
    sim->barrier = spec->step_mode != MRD__SIM_DATAFLOW;
    sim->lockstep = sim->barrier && (sim->ideal || spec->step_mode == MRD__SIM_LOCKSTEP);
    sim->latency_first = spec->latency_first && !sim->ideal;
    sim->piecewise = !sim->barrier && sim->program->flow == MRD__SIM_FLOW_PIECE;
    sim->pieces = sim->piecewise ? (uint32_t)spec->pipeline : 1;
    sim->switch_ps = mrd__sim_ps(spec->switch_latency_ns);
    sim->rng.state = (uint64_t)spec->seed;
    sim->free_packet = sim->free_message = sim->free_note = MRD__SIM_NONE;
    mrd__sim_links_init(sim);
    mrd__sim_chips_init(sim);
    if (spec->check_data) mrd__sim_shadow_init(sim);
    if (MRD_SIM_TRACE && spec->trace_enabled && sim->observer) mrd__sim_trace_init(sim);
}

static void tear_down(mrd__sim *sim)
{
    mrd__sim_shadow_reset(sim);
    mrd__sim_trace_reset(sim);
    mrd__sim_links_reset(sim);
    mrd__sim_chips_reset(sim);
    mrd__sim_queue_reset(&sim->queue);
    mrd__vec_reset(&sim->packets);
    mrd__vec_reset(&sim->messages);
}

/* Run on a built topology; *result keeps what the caller set (candidates). */
static mrd_status run_built(const mrd__sim_spec *spec, const mrd__sim_program *program,
                            const mrd__sim_observer *observer, mrd__sim_topology *topology,
                            mrd__sim_result *result, mrd_error *error)
{
    mrd__sim *sim = mrd__new(mrd__sim);
    *sim = (mrd__sim){.spec = spec,
                      .program = program,
                      .observer = observer,
                      .topology = *topology,
                      .result = result,
                      .error = error};
    prepare(sim);
    loop(sim);
    if (sim->status == MRD_OK && spec->check_data) mrd__sim_shadow_check(sim);
    if (MRD_SIM_TRACE && sim->traced) mrd__sim_trace_end(sim);
    if (sim->status == MRD_OK) {
        if (!sim->ideal) mrd__sim_network_check(sim);
        mrd__sim_outcome(sim);
    } else {
        mrd__sim_result_reset(result);
    }
    mrd_status status = sim->status;
    tear_down(sim);
    mrd__free(sim);
    return status;
}

void mrd__sim_result_reset(mrd__sim_result *result)
{
    mrd__vec_reset(&result->per_chip);
    mrd__buf_reset(&result->stats);
    mrd__arena_reset(&result->names);
    *result = (mrd__sim_result){0};
}

mrd_status mrd__sim_run_program(const mrd__sim_spec *spec, const mrd__sim_program *program,
                                const mrd__sim_observer *observer, mrd__sim_result *result,
                                mrd_error *error)
{
    mrd__sim_topology topology;
    *result = (mrd__sim_result){0};
    MRD__TRY(mrd__sim_topology_build(&topology, spec, error));
    mrd__assert(program->n == topology.chips);
    mrd_status status = run_built(spec, program, observer, &topology, result, error);
    mrd__sim_topology_reset(&topology);
    return status;
}

/* The least closed form of those allowed; the first of equals. */
static int64_t choose(const mrd__sim_spec *spec, const mrd__sim_topology *t,
                      mrd__sim_result *result)
{
    mrd__sim_route route = mrd__sim_route_of(t, 0, 1, mrd__sim_ps(spec->switch_latency_ns));
    double alpha = (double)route.latency_ps / 1000.0, least = 0;
    int64_t best = spec->algorithm;
    for (int64_t a = 1; a < MRD__SIM_ALGORITHMS; a++) {
        if (!mrd__sim_pair_allowed(spec->primitive, a)) continue;
        double time = mrd__sim_closed_form(spec, a, t->chips, alpha, route.bandwidth);
        if (spec->algorithm == a) result->ideal_latency_ns = time;
        if (spec->algorithm != MRD__SIM_AUTO) continue;
        result->candidates[result->candidate_count++] = (mrd__sim_candidate){a, time};
        if (best != MRD__SIM_AUTO && time >= least) continue;
        best = a;
        least = result->ideal_latency_ns = time;
    }
    return best;
}

mrd_status mrd__sim_run(const mrd__sim_spec *spec, const mrd__sim_observer *observer,
                        mrd__sim_result *result, mrd_error *error)
{
    mrd__sim_topology topology;
    mrd__sim_program program;
    *result = (mrd__sim_result){0};
    if (!MRD_SIM_TRACE && spec->trace_enabled)
        return mrd__fail(error, MRD_ERR_UNSUPPORTED, "no_trace",
                         "this program was built without traces (MRD_SIM_TRACE=OFF)");
    MRD__TRY(mrd__sim_topology_build(&topology, spec, error));
    mrd__sim_program_init(&program, spec, choose(spec, &topology, result), topology.chips);
    mrd_status status = run_built(spec, &program, observer, &topology, result, error);
    mrd__sim_topology_reset(&topology);
    return status;
}
