/* What chips do: steps, the sends of a step on threads, transfer credits, fences, reductions and
 * copies.
 *
 * barrier:   a step ends when its receives are in and reduced and its sends have left.
 * lockstep:  a send begins when its receiver is at the step too, and the step ends when its sends
 *            are in at the other side as well. Mode ideal has no other barrier: that is what closed
 *            forms count.
 * dataflow:  it ends when its receives are in and reduced; where each step forwards what the one
 *            before brought (piecewise), the sends of a step do not wait for it but go piece by
 *            piece; where nothing is forwarded, all sends go at once.
 *
 * A message that comes before its chip is at its step waits in the buffer of that step. */
#include "sim/kernel.h"

#include "base/assert.h"

#include <string.h>

static mrd__sim_progress *progress_of(mrd__sim *sim, uint32_t chip, uint32_t step)
{
    return &sim->progress[(size_t)chip * sim->program->steps + step];
}

void mrd__sim_chips_init(mrd__sim *sim)
{
    size_t units = (size_t)sim->n * sim->units, threads = units * sim->threads;
    sim->unit = mrd__calloc(units, sizeof *sim->unit);
    sim->thread = mrd__calloc(threads, sizeof *sim->thread);
    sim->chip = mrd__calloc(sim->n, sizeof *sim->chip);
    for (size_t i = 0; i < units; i++)
        sim->unit[i].waiting = (mrd__sim_line){MRD__SIM_NONE, MRD__SIM_NONE};
    for (size_t i = 0; i < threads; i++)
        sim->thread[i].sends = (mrd__sim_line){MRD__SIM_NONE, MRD__SIM_NONE};
    sim->progress_size = (size_t)sim->n * sim->program->steps * sizeof *sim->progress;
    sim->progress = mrd__pages_alloc(sim->progress_size);
    sim->pair_size = (size_t)sim->n * sim->n * sizeof(uint32_t);
    sim->active = mrd__pages_alloc(sim->pair_size);
    sim->unfinished = sim->n;
    for (uint32_t c = 0; c < sim->n; c++)
        sim->chip[c].awaiting = (mrd__sim_line){MRD__SIM_NONE, MRD__SIM_NONE};
    for (uint32_t c = 0; c < sim->n; c++)
        mrd__sim_schedule(sim, sim->topology.start_delay[c], MRD__SIM_EV_START, c);
    if (sim->spec->recv_ahead < 0) return;
    /* The first steps' receives were posted before the run. */
    sim->grants = mrd__pages_alloc(sim->pair_size);
    uint32_t steps = sim->program->steps;
    uint32_t ahead = sim->spec->recv_ahead < steps ? (uint32_t)sim->spec->recv_ahead : steps;
    for (size_t i = 0; i < (size_t)sim->n * sim->n && ahead > 0; i++)
        sim->grants[i] = ahead;
    for (uint32_t c = 0; c < sim->n; c++)
        sim->chip[c].posted = ahead;
}

void mrd__sim_chips_reset(mrd__sim *sim)
{
    mrd__free(sim->unit);
    mrd__free(sim->thread);
    mrd__free(sim->chip);
    mrd__pages_free(sim->progress, sim->progress_size);
    mrd__pages_free(sim->active, sim->pair_size);
    if (sim->grants) mrd__pages_free(sim->grants, sim->pair_size);
    mrd__vec_reset(&sim->scratch);
    mrd__vec_reset(&sim->scratch2);
}

/* ---- Threads ---- */

static void block(mrd__sim *sim, uint32_t thread, uint8_t state, uint64_t command,
                  const char *cause)
{
    mrd__sim_thread *t = &sim->thread[thread];
    t->state = state;
    t->since = sim->now;
    t->command = command;
    if (MRD__SIM_COMMANDING(sim) && state == MRD__SIM_WAIT_FENCE)
        t->command = 4 * ++sim->others_made + 3;
    if (MRD__SIM_OBSERVED(sim, MRD__EV_THREAD_BLOCKED))
        mrd__sim_trace_thread(sim, thread, true, cause);
}

static void unblock(mrd__sim *sim, uint32_t thread, const char *cause)
{
    mrd__sim_thread *t = &sim->thread[thread];
    sim->chip[thread / (sim->units * sim->threads)].blocked += sim->now - t->since;
    if (MRD__SIM_COMMANDING(sim) && t->state == MRD__SIM_WAIT_FENCE)
        mrd__sim_trace_fence(sim, thread);
    t->state = MRD__SIM_FREE;
    if (MRD__SIM_OBSERVED(sim, MRD__EV_THREAD_UNBLOCKED))
        mrd__sim_trace_thread(sim, thread, false, cause);
}

static void wait_latency(mrd__sim *sim, uint32_t message)
{
    const mrd__sim_message *m = &sim->messages.data[message];
    mrd__sim_route route = mrd__sim_route_of(&sim->topology, m->src, m->dst, sim->switch_ps);
    mrd__sim_schedule(sim, sim->now + route.latency_ps, MRD__SIM_EV_FLOW, message);
}

/* Begin the sends of a thread that have their transfer credit. */
static void run_thread(mrd__sim *sim, uint32_t thread)
{
    mrd__sim_thread *t = &sim->thread[thread];
    while (t->sends.head != MRD__SIM_NONE) {
        uint32_t message = t->sends.head & ~MRD__SIM_TOKEN;
        mrd__sim_message *m = &sim->messages.data[message];
        if (sim->grants) {
            if (m->step >= sim->grants[(size_t)m->src * sim->n + m->dst]) {
                if (t->state == MRD__SIM_FREE)
                    block(sim, thread, MRD__SIM_WAIT_TCREDIT, m->id, "tcredit");
                return;
            }
        }
        if (t->state == MRD__SIM_WAIT_TCREDIT) unblock(sim, thread, "tcredit");
        mrd__sim_line_take(sim, &t->sends);
        m->begun = sim->now;
        if (sim->ideal)
            mrd__sim_ideal_send(sim, message);
        else if (sim->latency_first)
            wait_latency(sim, message);
        else
            mrd__sim_network_send(sim, message);
    }
}

/* At the program's end: threads with sends under way wait in a fence. */
static void end_fences(mrd__sim *sim, uint32_t c)
{
    uint32_t per_chip = sim->units * sim->threads;
    for (uint32_t i = 0; i < per_chip; i++) {
        uint32_t thread = c * per_chip + i;
        mrd__sim_thread *t = &sim->thread[thread];
        if (t->undone && t->state == MRD__SIM_FREE)
            block(sim, thread, MRD__SIM_WAIT_FENCE, 0, "fence");
    }
}

void mrd__sim_granted(mrd__sim *sim, uint32_t from, uint32_t to, uint32_t steps)
{
    uint32_t per_chip = sim->units * sim->threads;
    uint32_t *granted = &sim->grants[(size_t)to * sim->n + from];
    if (steps > *granted) *granted = steps;
    for (uint32_t i = 0; i < per_chip; i++)
        run_thread(sim, to * per_chip + i);
    if (sim->chip[to].state == MRD__SIM_CHIP_END) end_fences(sim, to);
}

void mrd__sim_on_credit(mrd__sim *sim, uint32_t packet)
{
    mrd__sim_packet *p = &sim->packets.data[packet];
    uint32_t from = p->src, to = p->dst, steps = (uint32_t)p->bytes;
    p->next = sim->free_packet;
    sim->free_packet = packet;
    sim->live_packets--;
    mrd__sim_granted(sim, from, to, steps);
}

/* ---- Sends ---- */

/* Lockstep: whether the chip is at this step by now. One that starts now counts, whichever event
 * comes first. */
static bool at_step(const mrd__sim *sim, uint32_t c, uint32_t step)
{
    const mrd__sim_chip *chip = &sim->chip[c];
    if (chip->state == MRD__SIM_CHIP_BEFORE)
        return step == 0 && sim->topology.start_delay[c] <= sim->now;
    return chip->step >= step;
}

static void hand_over(mrd__sim *sim, uint32_t slot)
{
    uint32_t thread = sim->messages.data[slot].thread;
    mrd__sim_line_add(sim, &sim->thread[thread].sends, slot | MRD__SIM_TOKEN);
    run_thread(sim, thread);
}

/* Lockstep: what of `from` waited for chip `to` at its step begins. */
static void release_to(mrd__sim *sim, uint32_t from, uint32_t to)
{
    mrd__sim_line all = sim->chip[from].awaiting;
    sim->chip[from].awaiting = (mrd__sim_line){MRD__SIM_NONE, MRD__SIM_NONE};
    while (all.head != MRD__SIM_NONE) {
        uint32_t slot = mrd__sim_line_take(sim, &all) & ~MRD__SIM_TOKEN;
        const mrd__sim_message *m = &sim->messages.data[slot];
        if (m->dst == to && m->step <= sim->chip[to].step)
            hand_over(sim, slot);
        else
            mrd__sim_line_add(sim, &sim->chip[from].awaiting, slot | MRD__SIM_TOKEN);
    }
}

/* Post piece `piece` of a send, the index-th of its step. */
static void post(mrd__sim *sim, uint32_t c, uint32_t step, const mrd__sim_op *op, uint32_t piece,
                 uint32_t index)
{
    uint32_t slot = mrd__sim_message_new(sim), unit = c * sim->units + index % sim->units;
    mrd__sim_message *m = &sim->messages.data[slot];
    uint64_t from = op->bytes * piece / sim->pieces;
    uint64_t to = op->bytes * (piece + 1) / sim->pieces;
    uint64_t whole = to - from + (uint64_t)sim->spec->message_header_bytes;
    *m = (mrd__sim_message){.id = 4 * ++sim->messages_made,
                            .size = to - from,
                            .left = whole,
                            .next = MRD__SIM_NONE,
                            .behind = MRD__SIM_NONE,
                            .src = c,
                            .dst = op->peer,
                            .step = step,
                            .piece = piece,
                            .thread = unit * sim->threads + index / sim->units % sim->threads,
                            .first = op->first,
                            .count = op->count,
                            .bit = op->bit,
                            .reduce = op->reduce,
                            .from_input = op->from_input};
    if (sim->shadow) mrd__sim_shadow_take(sim, m);
    sim->unit[unit].bytes += m->size;
    sim->unit[unit].commands++;
    sim->comm_bytes += m->size;
    sim->thread[m->thread].undone++;
    sim->chip[c].undone++;
    progress_of(sim, c, step)->undone++;
    if (sim->lockstep && !at_step(sim, op->peer, step))
        mrd__sim_line_add(sim, &sim->chip[c].awaiting, slot | MRD__SIM_TOKEN);
    else
        hand_over(sim, slot);
}

/* The sends among ops; returns how many were posted. */
static uint32_t post_sends(mrd__sim *sim, uint32_t c, uint32_t step, const mrd__sim_ops *ops)
{
    uint32_t count = 0;
    for (size_t i = 0; i < ops->count; i++)
        for (uint32_t q = 0; q < sim->pieces && ops->data[i].is_send; q++)
            post(sim, c, step, &ops->data[i], q, count++);
    return count;
}

/* Piecewise: piece `piece` of this step's one send. */
static void post_piece(mrd__sim *sim, uint32_t c, uint32_t step, uint32_t piece)
{
    sim->scratch2.count = 0;
    sim->program->ops(sim->program, c, step, &sim->scratch2);
    for (size_t i = 0; i < sim->scratch2.count; i++)
        if (sim->scratch2.data[i].is_send) {
            mrd__sim_op op = sim->scratch2.data[i];
            post(sim, c, step, &op, piece, piece);
            return;
        }
}

static void post_receives(mrd__sim *sim, uint32_t c)
{
    mrd__sim_chip *chip = &sim->chip[c];
    uint32_t steps = sim->program->steps;
    uint64_t end = (uint64_t)chip->step + (uint64_t)sim->spec->recv_ahead + 1;
    while (chip->posted < steps && chip->posted < end) {
        sim->scratch2.count = 0;
        sim->program->ops(sim->program, c, chip->posted++, &sim->scratch2);
        for (size_t i = 0; i < sim->scratch2.count; i++) {
            if (sim->scratch2.data[i].is_send) continue;
            if (sim->ideal)
                mrd__sim_ideal_grant(sim, c, sim->scratch2.data[i].peer, chip->posted);
            else
                mrd__sim_network_grant(sim, c, sim->scratch2.data[i].peer, chip->posted);
        }
    }
}

/* ---- Receives ---- */

static void take_in(mrd__sim *sim, uint32_t message);

/* The message is received and reduced. */
static void consume(mrd__sim *sim, uint32_t message)
{
    mrd__sim_message *m = &sim->messages.data[message];
    uint32_t c = m->dst, step = m->step, piece = m->piece;
    mrd__sim_chip *chip = &sim->chip[c];
    mrd__sim_progress *p = progress_of(sim, c, step);
    if (sim->shadow) mrd__sim_shadow_put(sim, m);
    p->arrived = sim->piecewise ? p->arrived | 1ull << piece : p->arrived + 1;
    chip->last_done = chip->data_done = sim->now;
    m->consumed = true;
    if (m->done) mrd__sim_message_free(sim, message);
    if (!sim->piecewise || step + 1 >= sim->program->steps) return;
    post_piece(sim, c, step + 1, piece);
    uint32_t *link = &progress_of(sim, c, step + 1)->early;
    while (*link) {
        uint32_t waiting = *link - 1;
        mrd__sim_message *w = &sim->messages.data[waiting];
        if (w->piece != piece) {
            link = &w->next;
            continue;
        }
        *link = w->next;
        take_in(sim, waiting);
        return;
    }
}

/* Time of `bytes` on the chip at this rate. */
static uint64_t on_chip(const mrd__sim *sim, uint32_t c, uint64_t bytes, double gb_per_s)
{
    return mrd__sim_ps((double)bytes / gb_per_s * sim->topology.slow[c]);
}

/* The chip is where it wants this message: reduce or store it. */
static void take_in(mrd__sim *sim, uint32_t message)
{
    mrd__sim_message *m = &sim->messages.data[message];
    mrd__sim_chip *chip = &sim->chip[m->dst];
    if (MRD__SIM_COMMANDING(sim)) mrd__sim_trace_receive(sim, m);
    if (!m->reduce) {
        consume(sim, message);
        return;
    }
    sim->flops += m->size / sim->dtype_bytes;
    sim->bus_transfers++;
    if (sim->spec->reduce_gb_per_s == 0) {
        if (MRD__SIM_COMMANDING(sim)) mrd__sim_trace_reduce(sim, m, sim->now, sim->now);
        consume(sim, message);
        return;
    }
    uint64_t start = chip->tiu_free > sim->now ? chip->tiu_free : sim->now;
    chip->tiu_free = start + on_chip(sim, m->dst, m->size, sim->spec->reduce_gb_per_s);
    chip->tiu_busy += chip->tiu_free - start;
    if (MRD__SIM_COMMANDING(sim)) mrd__sim_trace_reduce(sim, m, start, chip->tiu_free);
    mrd__sim_schedule(sim, chip->tiu_free, MRD__SIM_EV_REDUCED, message);
}

/* ---- Steps ---- */

static bool step_ends(mrd__sim *sim, uint32_t c)
{
    mrd__sim_chip *chip = &sim->chip[c];
    mrd__sim_progress *p = progress_of(sim, c, chip->step);
    uint64_t all = sim->pieces == 64 ? UINT64_MAX : (1ull << sim->pieces) - 1;
    if (sim->piecewise ? p->arrived != all : p->arrived != chip->needed) return false;
    if (sim->barrier && chip->sends_left) return false;
    uint32_t before =
        sim->program->fence ? sim->program->fence(sim->program, chip->step) : UINT32_MAX;
    uint32_t thread = c * sim->units * sim->threads;
    if (before != UINT32_MAX && progress_of(sim, c, before)->undone) {
        if (!chip->fenced && sim->thread[thread].state == MRD__SIM_FREE) {
            chip->fenced = true;
            block(sim, thread, MRD__SIM_WAIT_FENCE, 0, "write_done");
        }
        return false;
    }
    if (chip->fenced) unblock(sim, thread, "write_done");
    chip->fenced = false;
    return true;
}

static void finish(mrd__sim *sim, uint32_t c)
{
    sim->chip[c].state = MRD__SIM_CHIP_END;
    end_fences(sim, c);
    if (sim->chip[c].undone) return;
    sim->chip[c].state = MRD__SIM_CHIP_DONE;
    sim->unfinished--;
}

/* The sends of this step (dataflow: those not posted otherwise) and what came before its time. */
static void do_step(mrd__sim *sim, uint32_t c)
{
    mrd__sim_chip *chip = &sim->chip[c];
    const mrd__sim_program *program = sim->program;
    uint32_t step = chip->step;
    chip->state = MRD__SIM_CHIP_STEP;
    if (sim->barrier || (program->flow == MRD__SIM_FLOW_STEP) || (sim->piecewise && step == 0)) {
        sim->scratch.count = 0;
        program->ops(program, c, step, &sim->scratch);
        chip->sends_left = 0;
        chip->sends_left = post_sends(sim, c, step, &sim->scratch);
    } else if (program->flow == MRD__SIM_FLOW_FREE && step == 0) {
        for (uint32_t s = 0; s < program->steps; s++) {
            sim->scratch.count = 0;
            program->ops(program, c, s, &sim->scratch);
            post_sends(sim, c, s, &sim->scratch);
        }
    }
    if (sim->piecewise && step > 0) return;
    mrd__sim_progress *p = progress_of(sim, c, step);
    uint32_t early = p->early;
    p->early = 0;
    while (early) {
        uint32_t message = early - 1;
        early = sim->messages.data[message].next;
        take_in(sim, message);
    }
}

static void enter(mrd__sim *sim, uint32_t c, uint32_t step)
{
    mrd__sim_chip *chip = &sim->chip[c];
    const mrd__sim_program *program = sim->program;
    chip->step = step;
    chip->entered = sim->now;
    if (step == program->steps) {
        finish(sim, c);
        return;
    }
    if (sim->grants) post_receives(sim, c);
    sim->scratch.count = 0;
    program->ops(program, c, step, &sim->scratch);
    chip->needed = 0;
    for (size_t i = 0; i < sim->scratch.count; i++) {
        const mrd__sim_op *op = &sim->scratch.data[i];
        chip->commanded = true;
        if (op->is_send) continue;
        sim->unit[c * sim->units + chip->needed++ % sim->units].commands += op->reduce ? 2 : 1;
    }
    for (size_t i = 0; sim->lockstep && i < sim->scratch.count; i++)
        if (!sim->scratch.data[i].is_send) release_to(sim, sim->scratch.data[i].peer, c);
    uint64_t copy = program->copies ? program->copies(program, c, step) : 0;
    sim->sdma_bytes += copy;
    sim->bus_transfers += copy != 0;
    if (copy && MRD__SIM_COMMANDING(sim)) {
        uint64_t took =
            sim->spec->sdma_gb_per_s > 0 ? on_chip(sim, c, copy, sim->spec->sdma_gb_per_s) : 0;
        mrd__sim_trace_copy(sim, c, copy, sim->now + took);
    }
    if (copy && sim->spec->sdma_gb_per_s > 0) {
        uint64_t took = on_chip(sim, c, copy, sim->spec->sdma_gb_per_s);
        chip->state = MRD__SIM_CHIP_COPY;
        chip->sdma_busy += took;
        mrd__sim_schedule(sim, sim->now + took, MRD__SIM_EV_COPIED, c);
        return;
    }
    do_step(sim, c);
}

static void advance(mrd__sim *sim, uint32_t c)
{
    while (sim->chip[c].state == MRD__SIM_CHIP_STEP && step_ends(sim, c))
        enter(sim, c, sim->chip[c].step + 1);
}

void mrd__sim_on_start(mrd__sim *sim, uint32_t c)
{
    sim->chip[c].first_cmd = sim->now;
    enter(sim, c, 0);
    advance(sim, c);
}

void mrd__sim_on_copied(mrd__sim *sim, uint32_t c)
{
    sim->chip[c].last_done = sim->chip[c].data_done = sim->now;
    do_step(sim, c);
    advance(sim, c);
}

void mrd__sim_on_left(mrd__sim *sim, uint32_t message)
{
    uint32_t c = sim->messages.data[message].src;
    if (sim->chip[c].sends_left && !sim->lockstep) sim->chip[c].sends_left--;
    if (sim->ideal) mrd__sim_sent(sim, message);
    advance(sim, c);
}

void mrd__sim_on_reduced(mrd__sim *sim, uint32_t message)
{
    uint32_t c = sim->messages.data[message].dst;
    consume(sim, message);
    advance(sim, c);
}

void mrd__sim_received(mrd__sim *sim, uint32_t message)
{
    mrd__sim_message *m = &sim->messages.data[message];
    uint32_t c = m->dst, step = m->step, src = m->src;
    const mrd__sim_chip *chip = &sim->chip[c];
    bool here = chip->state == MRD__SIM_CHIP_STEP && chip->step >= step;
    bool wanted = here;
    if (sim->lockstep) sim->chip[src].sends_left--;
    if (sim->piecewise)
        wanted = step == 0 ? here : (progress_of(sim, c, step - 1)->arrived >> m->piece & 1) != 0;
    if (!wanted) {
        /* In order of arrival: to the end of the list. */
        uint32_t *link = &progress_of(sim, c, step)->early;
        while (*link)
            link = &sim->messages.data[*link - 1].next;
        m->next = 0;
        *link = message + 1;
    } else {
        take_in(sim, message);
        advance(sim, c);
    }
    if (sim->lockstep) advance(sim, src);
}

void mrd__sim_sent(mrd__sim *sim, uint32_t message)
{
    mrd__sim_message *m = &sim->messages.data[message];
    uint32_t c = m->src, thread = m->thread;
    mrd__sim_chip *chip = &sim->chip[c];
    mrd__sim_thread *t = &sim->thread[thread];
    progress_of(sim, c, m->step)->undone--;
    t->undone--;
    chip->undone--;
    chip->last_done = sim->now;
    m->done = true;
    if (MRD__SIM_COMMANDING(sim)) mrd__sim_trace_send(sim, m);
    if (m->consumed) mrd__sim_message_free(sim, message);
    if (chip->state == MRD__SIM_CHIP_END) {
        if (t->state == MRD__SIM_WAIT_FENCE && t->undone == 0) unblock(sim, thread, "fence");
        if (chip->undone == 0) {
            chip->state = MRD__SIM_CHIP_DONE;
            sim->unfinished--;
        }
        return;
    }
    advance(sim, c);
}
