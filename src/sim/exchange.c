/* Halving, doubling and recursive doubling. Where N is no power of two, the first 2r ranks pair up
 * (r = N - p): the even one folds into the odd one, which takes part for both.
 *
 *   ranks 0..5, p = 4, r = 2:   0 1 2 3 4 5      participants q:  1->0  3->1  4->2  5->3 */
#include "sim/program.h"

static uint32_t power(const mrd__sim_program *p)
{
    return 1u << mrd__sim_floor_log2(p->n);
}

static uint32_t rank_of(const mrd__sim_program *p, uint32_t q)
{
    uint32_t r = p->n - power(p);
    return q < r ? 2 * q + 1 : q + r;
}

/* First block of participant q where each stands for its own block and its folded partner's. */
static uint32_t block_of(const mrd__sim_program *p, uint32_t q)
{
    uint32_t r = p->n - power(p);
    return q < r ? 2 * q : q + r;
}

/* The fold's partner, or UINT32_MAX where the rank has none. */
static uint32_t partner(const mrd__sim_program *p, uint32_t rank)
{
    return rank < 2 * (p->n - power(p)) ? rank ^ 1 : UINT32_MAX;
}

static bool folded(const mrd__sim_program *p, uint32_t rank)
{
    return partner(p, rank) != UINT32_MAX && rank % 2 == 0;
}

static uint32_t participant(const mrd__sim_program *p, uint32_t rank)
{
    uint32_t r = p->n - power(p);
    return rank < 2 * r ? rank / 2 : rank - r;
}

/* Recursive doubling: step i, the whole buffer with q XOR 2^i. */
static void doubling(const mrd__sim_program *p, uint32_t q, uint32_t i, mrd__sim_ops *out)
{
    uint32_t peer = rank_of(p, q ^ 1u << i);
    mrd__sim_op_add(p, out, true, peer, 0, p->blocks, true);
    mrd__sim_op_add(p, out, false, peer, 0, p->blocks, true);
}

/* All-reduce after Rabenseifner on p blocks: reduce-scatter by near peers first, then back. */
static void rabenseifner(const mrd__sim_program *p, uint32_t q, uint32_t i, mrd__sim_ops *out)
{
    uint32_t levels = mrd__sim_floor_log2(p->n), lo = 0, count = p->blocks;
    bool gather = i >= levels;
    uint32_t level = gather ? 2 * levels - 1 - i : i;
    for (uint32_t k = 0; k < level; k++) {
        count /= 2;
        if (q >> k & 1) lo += count;
    }
    uint32_t half = count / 2, peer = rank_of(p, q ^ 1u << level), upper = q >> level & 1;
    uint32_t keep = lo + (upper ? half : 0), give = lo + (upper ? 0 : half);
    mrd__sim_op_add(p, out, true, peer, gather ? keep : give, half, !gather);
    mrd__sim_op_add(p, out, false, peer, gather ? give : keep, half, !gather);
}

/* The blocks of an aligned group of `size` participants, of which q is one. */
static void group(const mrd__sim_program *p, uint32_t q, uint32_t size, uint32_t *first,
                  uint32_t *count)
{
    uint32_t from = q & ~(size - 1), end = from + size;
    *first = block_of(p, from);
    *count = (end == power(p) ? p->n : block_of(p, end)) - *first;
}

/* Reduce-scatter by halving, far peers first; all-gather by doubling, near peers first. */
static void halving(const mrd__sim_program *p, uint32_t q, uint32_t i, mrd__sim_ops *out)
{
    uint32_t levels = mrd__sim_floor_log2(p->n), mine, mine_count, other, other_count;
    bool gather = p->primitive == MRD__SIM_ALLGATHER;
    uint32_t size = 1u << (gather ? i : levels - 1 - i);
    uint32_t peer = rank_of(p, q ^ size);
    group(p, q, size, &mine, &mine_count);
    group(p, q ^ size, size, &other, &other_count);
    mrd__sim_op_add(p, out, true, peer, gather ? mine : other, gather ? mine_count : other_count,
                    !gather);
    mrd__sim_op_add(p, out, false, peer, gather ? other : mine, gather ? other_count : mine_count,
                    !gather);
}

/* The step before (in) and after (out) the participants' own. */
static void fold(const mrd__sim_program *p, uint32_t rank, bool in, mrd__sim_ops *out)
{
    uint32_t other = partner(p, rank), first = 0, count = p->blocks;
    if (other == UINT32_MAX) return;
    uint32_t even = rank & ~1u;
    bool sends = folded(p, rank) == in, reduce = in && p->primitive != MRD__SIM_ALLGATHER;
    if (p->primitive == MRD__SIM_ALLGATHER) {
        first = in ? even : (even + 1) % p->n;
        count = in ? 1 : p->n - 1;
    } else if (p->primitive == MRD__SIM_REDUCESCATTER && !in) {
        first = even;
        count = 1;
    }
    mrd__sim_op_add(p, out, sends, other, first, count, reduce);
}

static void exchange_ops(const mrd__sim_program *p, uint32_t rank, uint32_t step, mrd__sim_ops *out)
{
    bool odd = power(p) != p->n;
    if (odd && (step == 0 || step + 1 == p->steps)) {
        fold(p, rank, step == 0, out);
        return;
    }
    if (folded(p, rank)) return;
    uint32_t q = participant(p, rank), i = step - odd;
    if (p->algorithm == MRD__SIM_RECURSIVE_DOUBLING)
        doubling(p, q, i, out);
    else if (p->primitive == MRD__SIM_ALLREDUCE)
        rabenseifner(p, q, i, out);
    else
        halving(p, q, i, out);
}

/* What was sent at the i-th step of the reduce-scatter comes back at the mirrored one. */
static uint32_t mirror_fence(const mrd__sim_program *p, uint32_t step)
{
    return step >= p->steps / 2 ? p->steps - 1 - step : UINT32_MAX;
}

void mrd__sim_program_exchange(mrd__sim_program *p)
{
    uint32_t levels = mrd__sim_floor_log2(p->n);
    bool odd = power(p) != p->n, all = p->primitive == MRD__SIM_ALLREDUCE;
    bool recursive = p->algorithm == MRD__SIM_RECURSIVE_DOUBLING;
    p->blocks = recursive ? 1 : all ? power(p) : p->n;
    p->steps = p->algorithm_steps = (all && !recursive ? 2 * levels : levels) + (odd ? 2 : 0);
    p->flow = recursive && !odd ? MRD__SIM_FLOW_PIECE : MRD__SIM_FLOW_STEP;
    p->ops = exchange_ops;
    p->fence = all && !recursive ? mirror_fence : NULL;
}
