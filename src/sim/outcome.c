/* L1 and L2 from the state at the end of a run. */
#include "sim/kernel.h"

#include <stdlib.h>
#include <string.h>

#define STRAGGLER_RATIO 1.1 /* spec comm-sim section 3 */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const mrd__sim_chip_result *chips, size_t count)
{
    double *all = mrd__alloc(count * sizeof *all);
    for (size_t i = 0; i < count; i++)
        all[i] = chips[i].latency_ns;
    qsort(all, count, sizeof *all, by_size);
    double middle = count % 2 ? all[count / 2] : (all[count / 2 - 1] + all[count / 2]) / 2;
    mrd__free(all);
    return middle;
}

static void per_chip(mrd__sim *sim)
{
    mrd__sim_result *r = sim->result;
    uint64_t first = UINT64_MAX, data = 0;
    for (uint32_t c = 0; c < sim->n; c++)
        if (sim->chip[c].commanded && sim->chip[c].first_cmd < first)
            first = sim->chip[c].first_cmd;
    for (uint32_t c = 0; c < sim->n; c++) {
        const mrd__sim_chip *chip = &sim->chip[c];
        if (!chip->commanded) continue;
        mrd__sim_chip_result row = {.chip_id = c,
                                    .latency_ns = (double)(chip->last_done - first) / 1000.0,
                                    .cdma_blocked_ns = (double)chip->blocked / 1000.0,
                                    .first_cmd_ns = (double)chip->first_cmd / 1000.0,
                                    .last_done_ns = (double)chip->last_done / 1000.0};
        mrd__vec_push(&r->per_chip, row);
        if (chip->data_done > data) data = chip->data_done;
    }
    r->data_done_ns = data > first ? (double)(data - first) / 1000.0 : 0;
    if (r->per_chip.count == 0) return;
    double middle = median(r->per_chip.data, r->per_chip.count);
    size_t slowest = 0;
    for (size_t i = 0; i < r->per_chip.count; i++) {
        mrd__sim_chip_result *row = &r->per_chip.data[i];
        if (row->latency_ns > r->per_chip.data[slowest].latency_ns) slowest = i;
        row->is_straggler =
            r->per_chip.count > 1 && middle > 0 && row->latency_ns / middle > STRAGGLER_RATIO;
    }
    const mrd__sim_chip_result *worst = &r->per_chip.data[slowest];
    r->total_latency_ns = worst->latency_ns;
    r->straggler_chip = worst->chip_id;
    r->straggler_blocked_ns = worst->cdma_blocked_ns;
    if (worst->is_straggler) mrd__sim_straggler_reason(sim, worst->chip_id);
    r->straggler_ratio = middle > 0 && r->per_chip.count > 1 ? worst->latency_ns / middle : 1;
}

static void ns_counter(mrd__buf *out, const char *name, uint64_t ps)
{
    mrd__buf_printf(out, "%s", name);
    mrd__buf_double(out, (double)ps / 1000.0);
}

static void chip_counters(mrd__sim *sim, mrd__buf *out)
{
    for (uint32_t c = 0; c < sim->n; c++) {
        for (uint32_t j = 0; j < sim->units; j++) {
            const mrd__sim_unit *u = &sim->unit[c * sim->units + j];
            const unsigned long long values[] = {u->commands, u->bytes, u->blocked_count};
            static const char *const names[] = {"cmd_count", "total_bytes", "blocked_count"};
            for (int i = 0; i < 3; i++)
                mrd__buf_printf(out, "\"cdma_chip%u_unit%u.%s\":%llu,", c, j, names[i], values[i]);
            mrd__buf_printf(out, "\"cdma_chip%u_unit%u.ostd_wait_ns\":", c, j);
            ns_counter(out, "", u->full);
            mrd__buf_char(out, ',');
        }
        mrd__buf_printf(out, "\"cdma_chip%u.first_cmd_ns\":", c);
        ns_counter(out, "", sim->chip[c].first_cmd);
        mrd__buf_printf(out, ",\"cdma_chip%u.last_done_ns\":", c);
        ns_counter(out, "", sim->chip[c].last_done);
        mrd__buf_char(out, ',');
    }
}

static void link_counters(mrd__sim *sim, mrd__buf *out)
{
    const mrd__sim_links *k = &sim->links;
    for (uint32_t i = 0; i < 2 * sim->topology.links; i++) {
        mrd__buf name = {0};
        mrd__sim_channel_name(sim, i, &name);
        mrd__buf_printf(out, ",\"%s.bytes\":%llu,\"%s.packets\":%llu,\"%s.busy_ns\":", name.data,
                        (unsigned long long)k->bytes[i], name.data,
                        (unsigned long long)k->packets[i], name.data);
        ns_counter(out, "", k->busy[i]);
        mrd__buf_printf(out, ",\"%s", name.data);
        ns_counter(out, ".max_queue_ns\":", k->max_queue[i]);
        mrd__buf_reset(&name);
    }
}

/* The longest busy, the first of equals; links before chips. */
static void bottleneck(mrd__sim *sim)
{
    uint64_t most = 0;
    mrd__buf name = {0};
    mrd__buf_text(&name, "none");
    for (uint32_t i = 0; i < 2 * sim->topology.links; i++) {
        if (sim->links.busy[i] <= most) continue;
        most = sim->links.busy[i];
        mrd__buf_clear(&name);
        mrd__sim_channel_name(sim, i, &name);
    }
    for (uint32_t c = 0; c < sim->n; c++) {
        const uint64_t busy[] = {sim->chip[c].tiu_busy, sim->chip[c].sdma_busy};
        for (int i = 0; i < 2; i++) {
            if (busy[i] <= most) continue;
            most = busy[i];
            mrd__buf_clear(&name);
            mrd__buf_printf(&name, "%s_chip%u", i ? "sdma" : "tiu", c);
        }
    }
    memcpy(sim->result->bottleneck, name.data, name.size + 1);
    mrd__buf_reset(&name);
}

void mrd__sim_outcome(mrd__sim *sim)
{
    mrd__sim_result *r = sim->result;
    const mrd__sim_program *p = sim->program;
    double n = sim->n, factor = 1;
    per_chip(sim);
    if (p->primitive == MRD__SIM_ALLREDUCE)
        factor = 2 * (n - 1) / n;
    else if (p->primitive != MRD__SIM_P2P)
        factor = (n - 1) / n;
    double time = r->total_latency_ns;
    r->alg_bw_gb_per_s = time > 0 ? (double)p->size / time : 0;
    r->bus_bw_gb_per_s = r->alg_bw_gb_per_s * factor;
    r->total_comm_bytes = sim->comm_bytes;
    r->algorithm_steps = p->algorithm_steps;
    r->num_participants = sim->n;
    r->algorithm_used = p->algorithm;
    r->events = sim->events;
    r->packets = sim->packets_made;
    r->sim_time_ns = (double)sim->now / 1000.0;
    memcpy(r->warning, sim->topology.warning, sizeof r->warning);
    bottleneck(sim);
    mrd__buf_char(&r->stats, '{');
    chip_counters(sim, &r->stats);
    mrd__buf_printf(&r->stats,
                    "\"multi_chip.core_subsys.tiu.total_flops\":%llu,"
                    "\"multi_chip.core_subsys.sdma.total_bytes\":%llu,"
                    "\"multi_chip.bus.total_transfers\":%llu,"
                    "\"multi_chip.kernel.total_events\":%llu,",
                    (unsigned long long)sim->flops, (unsigned long long)sim->sdma_bytes,
                    (unsigned long long)sim->bus_transfers, (unsigned long long)sim->events);
    ns_counter(&r->stats, "\"multi_chip.kernel.total_sim_time_ns\":", sim->now);
    link_counters(sim, &r->stats);
    mrd__buf_char(&r->stats, '}');
}
