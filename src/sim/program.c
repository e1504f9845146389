#include "sim/program.h"

#include "base/assert.h"

#include <math.h>

uint64_t mrd__sim_block_at(const mrd__sim_program *p, uint32_t block)
{
    return block * p->size / p->blocks; /* 2^40 bytes, 2^18 blocks: no overflow */
}

uint64_t mrd__sim_block_bytes(const mrd__sim_program *p, uint32_t first, uint32_t count)
{
    if (count == 0) return 0;
    uint32_t end = first + count;
    if (end <= p->blocks) return mrd__sim_block_at(p, end) - mrd__sim_block_at(p, first);
    return p->size - mrd__sim_block_at(p, first) + mrd__sim_block_at(p, end - p->blocks);
}

void mrd__sim_op_add(const mrd__sim_program *p, mrd__sim_ops *out, bool is_send, uint32_t peer,
                     uint32_t first, uint32_t count, bool reduce)
{
    mrd__sim_op op = {.peer = peer,
                      .is_send = is_send,
                      .reduce = reduce,
                      .bit = -1,
                      .first = first,
                      .count = count,
                      .bytes = mrd__sim_block_bytes(p, first, count)};
    mrd__vec_push(out, op);
}

void mrd__sim_program_init(mrd__sim_program *p, const mrd__sim_spec *spec, int64_t algorithm,
                           uint32_t ranks)
{
    mrd__assert(mrd__sim_pair_allowed(spec->primitive, algorithm));
    *p = (mrd__sim_program){.primitive = spec->primitive,
                            .algorithm = algorithm,
                            .n = ranks,
                            .size = (uint64_t)spec->msg_size_bytes,
                            .chunks = (uint32_t)spec->pipeline};
    switch (algorithm) {
    case MRD__SIM_RING:
        mrd__sim_program_ring(p);
        break;
    case MRD__SIM_HALVING_DOUBLING:
    case MRD__SIM_RECURSIVE_DOUBLING:
        mrd__sim_program_exchange(p);
        break;
    case MRD__SIM_TREE:
    case MRD__SIM_DOUBLE_BINARY_TREE:
        mrd__sim_program_tree(p);
        break;
    default:
        mrd__sim_program_shift(p);
        break;
    }
}

/* ---- Ring ---- */

static void ring_ops(const mrd__sim_program *p, uint32_t rank, uint32_t step, mrd__sim_ops *out)
{
    uint32_t n = p->n, next = (rank + 1) % n, prev = (rank + n - 1) % n, block;
    bool reduce = p->primitive != MRD__SIM_ALLGATHER && step < n - 1;
    switch (p->primitive) {
    case MRD__SIM_ALLREDUCE: /* both phases in one: block rank - step, reduced n - 1 times */
        block = (rank + 2 * n - step) % n;
        break;
    case MRD__SIM_ALLGATHER:
        block = (rank + n - step) % n;
        break;
    default: /* ends with its own */
        block = (rank + 2 * n - step - 1) % n;
        break;
    }
    mrd__sim_op_add(p, out, true, next, block, 1, reduce);
    mrd__sim_op_add(p, out, false, prev, (block + n - 1) % n, 1, reduce);
}

/* Block rank - j is sent at step j and comes back, reduced, at step n - 1 + j. */
static uint32_t ring_fence(const mrd__sim_program *p, uint32_t step)
{
    return step >= p->n - 1 ? step - (p->n - 1) : UINT32_MAX;
}

void mrd__sim_program_ring(mrd__sim_program *p)
{
    bool all = p->primitive == MRD__SIM_ALLREDUCE;
    p->blocks = p->n;
    p->steps = p->algorithm_steps = all ? 2 * (p->n - 1) : p->n - 1;
    p->flow = MRD__SIM_FLOW_PIECE;
    p->ops = ring_ops;
    p->fence = all ? ring_fence : NULL;
}

/* ---- Closed forms ---- */

/* What the formulas are made of: ranks, powers, size; a: latency, b and g: ns a byte. */
typedef struct terms {
    double n, l, p, r, s, share, a, b, g, blocks;
} terms;

static double allreduce_form(const terms *t, int64_t algorithm, double chunks)
{
    double floor_l = log2(t->p), fold = t->r > 0 ? 2 * (t->a + t->s * t->b) + t->s * t->g : 0;
    switch (algorithm) {
    case MRD__SIM_RING:
        return 2 * (t->n - 1) * (t->a + t->s / t->n * t->b) + t->share * t->s * t->g;
    case MRD__SIM_HALVING_DOUBLING:
        return fold + 2 * floor_l * t->a + (t->p - 1) / t->p * t->s * (2 * t->b + t->g);
    case MRD__SIM_RECURSIVE_DOUBLING:
        return fold + floor_l * (t->a + t->s * (t->b + t->g));
    case MRD__SIM_TREE:
        return 2 * t->l * (t->a + t->s * t->b) + t->l * t->s * t->g;
    default: /* 2 (steps + chunks) of the longest tree, each chunk in and out of two children */
        return 2 * t->l * (t->a + t->s / (2 * chunks) * t->b) + 2 * t->s * t->b + t->s * t->g;
    }
}

static double other_form(const terms *t, int64_t primitive, int64_t algorithm)
{
    double moved = t->share * t->s, floor_l = log2(t->p), sum = 0;
    double g = primitive == MRD__SIM_REDUCESCATTER ? t->g : 0;
    switch (algorithm) {
    case MRD__SIM_HALVING_DOUBLING:
        if (t->r == 0) return t->l * t->a + moved * (t->b + g);
        /* Groups of 1, 2, 4.. participants, of which r stand for two blocks. */
        for (uint32_t size = 1; size < (uint32_t)t->p; size *= 2)
            sum += (size + fmin(size, t->r)) / t->n * t->s;
        if (primitive == MRD__SIM_ALLGATHER)
            return (floor_l + 2) * t->a + (t->s + sum) * t->b; /* S/N in, S - S/N out */
        return (floor_l + 2) * t->a + (t->s + sum) * (t->b + g) + t->s / t->n * t->b;
    case MRD__SIM_BRUCK:
        if (primitive == MRD__SIM_ALLGATHER) return t->l * t->a + moved * t->b;
        for (uint32_t bit = 1; bit < (uint32_t)t->n; bit *= 2)
            for (uint32_t j = 1; j < (uint32_t)t->n; j++)
                sum += (j & bit) != 0;
        return t->l * t->a + sum * t->s / t->n * t->b;
    case MRD__SIM_DIRECT:
        return t->a + (primitive == MRD__SIM_P2P ? t->s : moved) * t->b;
    default: /* ring, pairwise */
        return (t->n - 1) * (t->a + t->s / t->n * t->b) + moved * g;
    }
}

double mrd__sim_closed_form(const mrd__sim_spec *spec, int64_t algorithm, uint32_t n,
                            double alpha_ns, double gb_per_s)
{
    uint32_t low = mrd__sim_floor_log2(n);
    terms t = {.n = n,
               .l = mrd__sim_ceil_log2(n),
               .p = (double)(1u << low),
               .r = (double)(n - (1u << low)),
               .s = (double)spec->msg_size_bytes,
               .share = (double)(n - 1) / n,
               .a = alpha_ns,
               .b = 1 / gb_per_s,
               .g = spec->reduce_gb_per_s > 0 ? 1 / spec->reduce_gb_per_s : 0};
    if (spec->primitive == MRD__SIM_ALLREDUCE)
        return allreduce_form(&t, algorithm, (double)spec->pipeline);
    return other_form(&t, spec->primitive, algorithm);
}
