/* L3: event records, as spec event-trace section 1 names them. Only called while observing. */
#include "sim/kernel.h"

#include <string.h>

void mrd__sim_trace_init(mrd__sim *sim)
{
    mrd__sim_links *k = &sim->links;
    size_t channels = 2 * (size_t)sim->topology.links, units = (size_t)sim->n * sim->units;
    sim->categories = sim->spec->trace_categories;
    sim->traced = true;
    sim->commanding = sim->observer->commands != NULL;
    if (sim->commanding) mrd__vec_reserve(&sim->commands, MRD__SIM_BATCH);
    mrd__vec_reserve(&sim->records, MRD__SIM_BATCH);
    k->end = mrd__calloc(channels, sizeof *k->end);
    k->period_bytes = mrd__calloc(channels, sizeof *k->period_bytes);
    k->period_packets = mrd__calloc(channels, sizeof *k->period_packets);
    k->period_busy = mrd__calloc(channels, sizeof *k->period_busy);
    k->open = mrd__calloc(channels, sizeof *k->open);
    sim->link_names = mrd__calloc(channels, sizeof *sim->link_names);
    sim->unit_names = mrd__calloc(units, sizeof *sim->unit_names);
    sim->thread_names = mrd__calloc(units * sim->threads, sizeof *sim->thread_names);
    sim->flow_names = mrd__pages_alloc((size_t)sim->n * sim->n * sizeof *sim->flow_names);
}

void mrd__sim_trace_reset(mrd__sim *sim)
{
    mrd__vec_reset(&sim->records);
    mrd__vec_reset(&sim->commands);
    mrd__vec_reset(&sim->notes);
    mrd__buf_reset(&sim->details);
    mrd__free(sim->link_names);
    mrd__free(sim->unit_names);
    mrd__free(sim->thread_names);
    if (sim->flow_names)
        mrd__pages_free(sim->flow_names, (size_t)sim->n * sim->n * sizeof *sim->flow_names);
}

void mrd__sim_channel_name(const mrd__sim *sim, uint32_t channel, mrd__buf *out)
{
    const mrd__sim_topology *t = &sim->topology;
    uint32_t link = channel / 2;
    mrd__buf_printf(out, "link_%s_%s_%s", t->names[t->from[link]], t->names[t->to[link]],
                    channel % 2 == MRD__SIM_REQ ? "req" : "rsp");
}

/* Keep the name made in *buf in the result's arena. */
static mrd__str keep(mrd__sim *sim, mrd__str *name, mrd__buf *buf)
{
    *name = (mrd__str){mrd__arena_text(&sim->result->names, buf->data, buf->size), buf->size};
    mrd__buf_reset(buf);
    return *name;
}

static mrd__str link_name(mrd__sim *sim, uint32_t channel)
{
    mrd__buf buf = {0};
    if (sim->link_names[channel].data) return sim->link_names[channel];
    mrd__sim_channel_name(sim, channel, &buf);
    return keep(sim, &sim->link_names[channel], &buf);
}

static void flush(mrd__sim *sim)
{
    if (sim->records.count == 0) return;
    /* Details were offsets while the buffer could move. */
    for (size_t i = 0; i < sim->records.count; i++) {
        mrd__str *detail = &sim->records.data[i].detail;
        detail->data = sim->details.data + (uintptr_t)detail->data;
    }
    mrd_status status = sim->observer->records(sim->observer->ctx, sim->records.data,
                                               sim->records.count, sim->error);
    if (status != MRD_OK && sim->status == MRD_OK) sim->status = status;
    sim->records.count = 0;
    mrd__buf_clear(&sim->details);
}

/* One record at `now`; its detail stands in sim->details from `detail` on. */
static void record(mrd__sim *sim, int category, mrd__str component, double value, size_t detail)
{
    mrd__event_record *r = &sim->records.data[sim->records.count++];
    *r = (mrd__event_record){.time_ns = (double)sim->now / 1000.0,
                             .value = value,
                             .component = component,
                             .category = (uint8_t)category};
    r->detail.data = (const char *)(uintptr_t)detail;
    r->detail.size = sim->details.size - detail;
    sim->result->records++;
    sim->last_record = sim->now;
    if (sim->records.count == MRD__SIM_BATCH) flush(sim);
    if (sim->observer->limit && sim->result->records == sim->observer->limit) {
        sim->categories = 0;
        sim->commanding = false;
        sim->result->truncated = true;
    }
}

void mrd__sim_trace_link(mrd__sim *sim, uint32_t channel, const mrd__sim_packet *p, uint64_t bytes,
                         uint64_t took, uint64_t end)
{
    mrd__sim_links *k = &sim->links;
    if (!(sim->categories & (1u << MRD__EV_LINK_BUSY | 1u << MRD__EV_LINK_IDLE))) return;
    bool starts = !k->open[channel];
    if (starts) k->period_bytes[channel] = k->period_packets[channel] = k->period_busy[channel] = 0;
    k->open[channel] = true;
    k->end[channel] = end;
    k->period_bytes[channel] += bytes;
    k->period_packets[channel]++;
    k->period_busy[channel] += end - sim->now;
    mrd__sim_queue_push(&sim->queue, end, MRD__SIM_OBSERVING, MRD__SIM_EV_IDLE, channel);
    if (!starts || !MRD__SIM_OBSERVED(sim, MRD__EV_LINK_BUSY)) return;
    size_t at = sim->details.size;
    mrd__buf_printf(&sim->details, "{\"packet\":%llu,\"src\":%u,\"dst\":%u,\"bytes\":%llu}",
                    (unsigned long long)p->id, p->src, p->dst, (unsigned long long)bytes);
    record(sim, MRD__EV_LINK_BUSY, link_name(sim, channel), (double)took / 1000.0, at);
}

void mrd__sim_trace_idle(mrd__sim *sim, uint32_t channel)
{
    mrd__sim_links *k = &sim->links;
    if (!k->open[channel] || k->end[channel] != sim->now) return;
    k->open[channel] = false;
    if (!MRD__SIM_OBSERVED(sim, MRD__EV_LINK_IDLE)) return;
    size_t at = sim->details.size;
    mrd__buf_printf(&sim->details, "{\"packets\":%llu,\"bytes\":%llu,\"busy_ns\":",
                    (unsigned long long)k->period_packets[channel],
                    (unsigned long long)k->period_bytes[channel]);
    mrd__buf_double(&sim->details, (double)k->period_busy[channel] / 1000.0);
    mrd__buf_char(&sim->details, '}');
    record(sim, MRD__EV_LINK_IDLE, link_name(sim, channel), 0, at);
}

void mrd__sim_trace_unit(mrd__sim *sim, uint32_t unit, uint64_t command)
{
    if (!MRD__SIM_OBSERVED(sim, MRD__EV_OSTD_CHANGE)) return;
    if (!sim->unit_names[unit].data) {
        mrd__buf buf = {0};
        mrd__buf_printf(&buf, "cdma_chip%u_unit%u", unit / sim->units, unit % sim->units);
        keep(sim, &sim->unit_names[unit], &buf);
    }
    size_t at = sim->details.size;
    mrd__buf_printf(&sim->details, "{\"cmd\":%llu}", (unsigned long long)command);
    record(sim, MRD__EV_OSTD_CHANGE, sim->unit_names[unit], sim->unit[unit].outstanding, at);
}

void mrd__sim_trace_thread(mrd__sim *sim, uint32_t thread, bool blocked, const char *cause)
{
    if (!sim->thread_names[thread].data) {
        uint32_t unit = thread / sim->threads;
        mrd__buf buf = {0};
        mrd__buf_printf(&buf, "cdma_chip%u_unit%u_t%u", unit / sim->units, unit % sim->units,
                        thread % sim->threads);
        keep(sim, &sim->thread_names[thread], &buf);
    }
    size_t at = sim->details.size;
    mrd__buf_printf(&sim->details, "{\"cmd\":%llu,\"cause\":\"%s\"}",
                    (unsigned long long)sim->thread[thread].command, cause);
    record(sim, blocked ? MRD__EV_THREAD_BLOCKED : MRD__EV_THREAD_UNBLOCKED,
           sim->thread_names[thread], blocked ? 0 : 1, at);
}

void mrd__sim_trace_hop(mrd__sim *sim, uint32_t channel, const mrd__sim_packet *p,
                        uint64_t complete)
{
    if (!MRD__SIM_OBSERVED(sim, MRD__EV_HOP_ARRIVE) || p->kind != MRD__SIM_DATA) return;
    uint32_t index = sim->free_note;
    if (index != MRD__SIM_NONE) {
        sim->free_note = sim->notes.data[index].next;
    } else {
        index = (uint32_t)sim->notes.count;
        mrd__vec_reserve(&sim->notes, sim->notes.count + 1);
        sim->notes.count++;
    }
    sim->notes.data[index] = (mrd__sim_note){.packet = p->id,
                                             .latency = complete - p->ready,
                                             .wait = sim->now - p->ready,
                                             .src = p->src,
                                             .dst = p->dst,
                                             .channel = channel,
                                             .hop = p->hop,
                                             .next = MRD__SIM_NONE};
    mrd__sim_queue_push(&sim->queue, complete, MRD__SIM_OBSERVING, MRD__SIM_EV_HOP, index);
}

void mrd__sim_on_hop(mrd__sim *sim, uint32_t index)
{
    mrd__sim_note note = sim->notes.data[index];
    sim->notes.data[index].next = sim->free_note;
    sim->free_note = index;
    if (!MRD__SIM_OBSERVED(sim, MRD__EV_HOP_ARRIVE)) return;
    mrd__str *name = &sim->flow_names[(size_t)note.src * sim->n + note.dst];
    if (!name->data) {
        mrd__buf buf = {0};
        mrd__buf_printf(&buf, "flow_%u_%u", note.src, note.dst);
        keep(sim, name, &buf);
    }
    size_t at = sim->details.size;
    mrd__str link = link_name(sim, note.channel);
    mrd__buf_printf(&sim->details, "{\"packet\":%llu,\"hop\":%u,\"link\":\"%s\",\"wait_ns\":",
                    (unsigned long long)note.packet, note.hop, link.data);
    mrd__buf_double(&sim->details, (double)note.wait / 1000.0);
    mrd__buf_char(&sim->details, '}');
    record(sim, MRD__EV_HOP_ARRIVE, *name, (double)note.latency / 1000.0, at);
}

/* ---- Commands ---- */

enum {
    RECEIVE = 1,
    REDUCE,
    OTHER
};

static void flush_commands(mrd__sim *sim)
{
    if (sim->commands.count == 0) return;
    mrd_status status = sim->observer->commands(sim->observer->ctx, sim->commands.data,
                                                sim->commands.count, sim->error);
    if (status != MRD_OK && sim->status == MRD_OK) sim->status = status;
    sim->commands.count = 0;
}

/* thread: of all threads. */
static void command(mrd__sim *sim, uint32_t thread, mrd__command_record record, uint64_t start,
                    uint64_t end)
{
    uint32_t unit = thread / sim->threads;
    record.chip_id = (int32_t)(unit / sim->units);
    record.unit = (int32_t)(unit % sim->units);
    record.thread = (int32_t)(thread % sim->threads);
    record.start_ns = (double)start / 1000.0;
    record.end_ns = (double)end / 1000.0;
    sim->commands.data[sim->commands.count++] = record;
    if (sim->commands.count == MRD__SIM_BATCH) flush_commands(sim);
}

/* The receiver's thread of the sender's number. */
static uint32_t mirrored(const mrd__sim *sim, const mrd__sim_message *m)
{
    uint32_t per_chip = sim->units * sim->threads;
    return m->dst * per_chip + m->thread % per_chip;
}

void mrd__sim_trace_send(mrd__sim *sim, const mrd__sim_message *m)
{
    mrd__command_record record = {.op = "send",
                                  .engine = MRD__ENGINE_CDMA,
                                  .cmd_id = (int64_t)m->id,
                                  .bytes = (int64_t)m->size,
                                  .peer = (int32_t)m->dst,
                                  .source_op_id = -1};
    command(sim, m->thread, record, m->begun, sim->now);
}

void mrd__sim_trace_receive(mrd__sim *sim, const mrd__sim_message *m)
{
    mrd__command_record record = {.op = "recv",
                                  .engine = MRD__ENGINE_CDMA,
                                  .cmd_id = (int64_t)m->id + RECEIVE,
                                  .bytes = (int64_t)m->size,
                                  .peer = (int32_t)m->src,
                                  .source_op_id = (int64_t)m->id};
    const mrd__sim_chip *chip = &sim->chip[m->dst];
    uint64_t start = chip->step == m->step ? chip->entered : m->begun;
    command(sim, mirrored(sim, m), record, start, sim->now);
}

void mrd__sim_trace_reduce(mrd__sim *sim, const mrd__sim_message *m, uint64_t start, uint64_t end)
{
    mrd__command_record record = {.op = "reduce",
                                  .engine = MRD__ENGINE_TIU,
                                  .cmd_id = (int64_t)m->id + REDUCE,
                                  .bytes = (int64_t)m->size,
                                  .peer = -1,
                                  .source_op_id = (int64_t)m->id + RECEIVE};
    command(sim, m->dst * sim->units * sim->threads, record, start, end);
}

void mrd__sim_trace_copy(mrd__sim *sim, uint32_t chip, uint64_t bytes, uint64_t end)
{
    mrd__command_record record = {.op = "copy",
                                  .engine = MRD__ENGINE_SDMA,
                                  .cmd_id = (int64_t)(4 * ++sim->others_made + OTHER),
                                  .bytes = (int64_t)bytes,
                                  .peer = -1,
                                  .source_op_id = -1};
    command(sim, chip * sim->units * sim->threads, record, sim->now, end);
}

void mrd__sim_trace_fence(mrd__sim *sim, uint32_t thread)
{
    const mrd__sim_thread *t = &sim->thread[thread];
    mrd__command_record record = {.op = "fence",
                                  .engine = MRD__ENGINE_CDMA,
                                  .cmd_id = (int64_t)t->command,
                                  .peer = -1,
                                  .source_op_id = -1};
    command(sim, thread, record, t->since, sim->now);
}

void mrd__sim_trace_end(mrd__sim *sim)
{
    if (sim->status == MRD_OK) flush(sim);
    if (sim->status == MRD_OK) flush_commands(sim);
    uint64_t end = sim->now > sim->last_record ? sim->now : sim->last_record;
    if (sim->observer->end)
        sim->observer->end(sim->observer->ctx, sim->status == MRD_OK, (double)end / 1000.0,
                           sim->result->truncated);
}
