/* The shadow payload: each rank carries a real vector, `elements` values a block, and every message
 * the values of its blocks as they are when it is posted. */
#include "sim/kernel.h"

#include <string.h>

/* What rank `src` holds at first in element e of block b; small, so that sums are exact. */
static int64_t value_of(uint32_t src, uint32_t block, uint32_t element)
{
    return (int64_t)(mrd__hash_mix(mrd__hash_mix(src + 1, block + 1), element + 1) >> 34);
}

static int64_t *cell(mrd__sim *sim, int64_t *base, uint32_t rank, uint32_t block)
{
    return base + ((size_t)rank * sim->program->blocks + block) * sim->elements;
}

void mrd__sim_shadow_init(mrd__sim *sim)
{
    const mrd__sim_program *p = sim->program;
    bool exchange = p->primitive == MRD__SIM_ALLTOALL;
    sim->elements = 2 * sim->pieces + 1;
    size_t count = (size_t)sim->n * p->blocks * sim->elements;
    sim->shadow = mrd__calloc(count, sizeof *sim->shadow);
    sim->shadow_input = mrd__calloc(count, sizeof *sim->shadow_input);
    for (uint32_t r = 0; r < sim->n; r++)
        for (uint32_t b = 0; b < p->blocks; b++)
            for (uint32_t e = 0; e < sim->elements; e++) {
                int64_t value = value_of(r, b, e);
                bool own = p->primitive == MRD__SIM_P2P ? r == 0 : b == r;
                cell(sim, sim->shadow_input, r, b)[e] = value;
                if (exchange && p->algorithm == MRD__SIM_BRUCK)
                    cell(sim, sim->shadow, r, (b + sim->n - r) % sim->n)[e] = value;
                else if (own || p->primitive == MRD__SIM_ALLREDUCE ||
                         p->primitive == MRD__SIM_REDUCESCATTER)
                    cell(sim, sim->shadow, r, b)[e] = value;
            }
}

/* The next block of the set first/count or bit after `at` steps; UINT32_MAX at its end. */
static uint32_t next_block(const mrd__sim *sim, const mrd__sim_op *op, uint32_t *at)
{
    uint32_t blocks = sim->program->blocks;
    if (op->bit < 0) return *at < op->count ? (op->first + (*at)++) % blocks : UINT32_MAX;
    while (*at < blocks) {
        uint32_t block = (*at)++;
        if (block >> op->bit & 1) return block;
    }
    return UINT32_MAX;
}

static uint32_t count_blocks(const mrd__sim *sim, const mrd__sim_op *op)
{
    uint32_t at = 0, count = 0;
    while (next_block(sim, op, &at) != UINT32_MAX)
        count++;
    return count;
}

void mrd__sim_shadow_take(mrd__sim *sim, mrd__sim_message *m)
{
    mrd__sim_op op = {.bit = m->bit, .first = m->first, .count = m->count};
    uint32_t from = m->piece * sim->elements / sim->pieces;
    uint32_t to = (m->piece + 1) * sim->elements / sim->pieces;
    uint32_t at = 0, block;
    int64_t *out = m->data = mrd__new_array(int64_t, count_blocks(sim, &op) * (to - from) + 1);
    int64_t *base = m->from_input ? sim->shadow_input : sim->shadow;
    while ((block = next_block(sim, &op, &at)) != UINT32_MAX)
        for (uint32_t e = from; e < to; e++)
            *out++ = cell(sim, base, m->src, block)[e];
}

/* The receiver's own operation for this message: where its values go. */
static bool find_receive(mrd__sim *sim, const mrd__sim_message *m, mrd__sim_op *found)
{
    mrd__sim_ops sends = {0}, receives = {0};
    uint32_t nth = 0;
    bool ok = false;
    sim->program->ops(sim->program, m->src, m->step, &sends);
    sim->program->ops(sim->program, m->dst, m->step, &receives);
    for (size_t i = 0; i < sends.count; i++) {
        const mrd__sim_op *op = &sends.data[i];
        if (!op->is_send || op->peer != m->dst) continue;
        if (op->first == m->first && op->count == m->count && op->bit == m->bit) break;
        nth++;
    }
    for (size_t i = 0; i < receives.count && !ok; i++) {
        const mrd__sim_op *op = &receives.data[i];
        if (op->is_send || op->peer != m->src || nth-- > 0) continue;
        *found = *op;
        ok = true;
    }
    mrd__vec_reset(&sends);
    mrd__vec_reset(&receives);
    return ok;
}

void mrd__sim_shadow_put(mrd__sim *sim, mrd__sim_message *m)
{
    mrd__sim_op op, sent = {.bit = m->bit, .first = m->first, .count = m->count};
    uint32_t from = m->piece * sim->elements / sim->pieces;
    uint32_t to = (m->piece + 1) * sim->elements / sim->pieces;
    uint32_t at = 0, block;
    if (!find_receive(sim, m, &op) || count_blocks(sim, &op) != count_blocks(sim, &sent)) {
        mrd__sim_failed(sim, MRD_ERR_FORMAT, "wrong_data",
                        "chip %u, step %u: chip %u sent what it does not expect", m->dst, m->step,
                        m->src);
    } else {
        const int64_t *in = m->data;
        while ((block = next_block(sim, &op, &at)) != UINT32_MAX)
            for (uint32_t e = from; e < to; e++, in++) {
                int64_t *value = &cell(sim, sim->shadow, m->dst, block)[e];
                *value = op.reduce ? *value + *in : *in;
            }
    }
    mrd__free(m->data);
    m->data = NULL;
}

/* What rank must hold in block at the end; false: no matter. */
static bool expected(mrd__sim *sim, uint32_t rank, uint32_t block, uint32_t e, int64_t *out)
{
    const mrd__sim_program *p = sim->program;
    *out = 0;
    switch (p->primitive) {
    case MRD__SIM_REDUCESCATTER:
        if (block != rank) return false;
        /* fallthrough */
    case MRD__SIM_ALLREDUCE:
        for (uint32_t r = 0; r < sim->n; r++)
            *out += value_of(r, block, e);
        return true;
    case MRD__SIM_ALLGATHER:
        *out = value_of(block, block, e);
        return true;
    case MRD__SIM_ALLTOALL: {
        bool bruck = p->algorithm == MRD__SIM_BRUCK;
        uint32_t src = bruck ? (rank + sim->n - block) % sim->n : block;
        if (!bruck && src == rank) return false; /* stays where it is */
        *out = value_of(src, rank, e);
        return true;
    }
    default:
        *out = value_of(0, block, e);
        return rank == sim->n / 2;
    }
}

void mrd__sim_shadow_check(mrd__sim *sim)
{
    for (uint32_t r = 0; r < sim->n; r++)
        for (uint32_t b = 0; b < sim->program->blocks; b++)
            for (uint32_t e = 0; e < sim->elements; e++) {
                int64_t want, got = cell(sim, sim->shadow, r, b)[e];
                if (!expected(sim, r, b, e, &want) || got == want) continue;
                mrd__sim_failed(sim, MRD_ERR_FORMAT, "wrong_data",
                                "chip %u, block %u, element %u: %lld, expected %lld after %s by %s",
                                r, b, e, (long long)got, (long long)want,
                                mrd__sim_primitive_name(sim->program->primitive),
                                mrd__sim_algorithm_name(sim->program->algorithm));
                return;
            }
}

void mrd__sim_shadow_reset(mrd__sim *sim)
{
    if (sim->shadow)
        for (size_t i = 0; i < sim->messages.count; i++)
            mrd__free(sim->messages.data[i].data);
    mrd__free(sim->shadow);
    mrd__free(sim->shadow_input);
}
