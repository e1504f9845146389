/* Algorithms in which every rank does the same, turned by its number: Bruck, pairwise, direct;
 * and the single message. */
#include "sim/program.h"

/* Both ways at once: a block for `to`, one from `from`. Of all-to-all: block to of the input,
 * stored as block from. Of reduce-scatter: the peer's block against ours. Of all-gather: ours. */
static void swap_blocks(const mrd__sim_program *p, uint32_t rank, uint32_t to, uint32_t from,
                        mrd__sim_ops *out)
{
    bool reduce = p->primitive == MRD__SIM_REDUCESCATTER;
    bool exchange = p->primitive == MRD__SIM_ALLTOALL;
    mrd__sim_op_add(p, out, true, to, p->primitive == MRD__SIM_ALLGATHER ? rank : to, 1, reduce);
    out->data[out->count - 1].from_input = exchange;
    mrd__sim_op_add(p, out, false, from, reduce ? rank : from, 1, reduce);
    if (exchange) out->data[out->count - 1].bytes = mrd__sim_block_bytes(p, rank, 1);
}

static void pairwise_ops(const mrd__sim_program *p, uint32_t rank, uint32_t step, mrd__sim_ops *out)
{
    uint32_t n = p->n, i = step + 1;
    bool xor_peer = (n & (n - 1)) == 0 && p->primitive == MRD__SIM_ALLTOALL;
    uint32_t to = xor_peer ? rank ^ i : (rank + i) % n;
    uint32_t from = xor_peer ? rank ^ i : (rank + n - i) % n;
    swap_blocks(p, rank, to, from, out);
}

static void direct_ops(const mrd__sim_program *p, uint32_t rank, uint32_t step, mrd__sim_ops *out)
{
    (void)step;
    for (uint32_t i = 1; i < p->n; i++)
        swap_blocks(p, rank, (rank + i) % p->n, (rank + p->n - i) % p->n, out);
}

static void p2p_ops(const mrd__sim_program *p, uint32_t rank, uint32_t step, mrd__sim_ops *out)
{
    (void)step;
    uint32_t far = p->n / 2;
    if (rank == 0) mrd__sim_op_add(p, out, true, far, 0, 1, false);
    if (rank == far) mrd__sim_op_add(p, out, false, 0, 0, 1, false);
}

/* All-gather: step i sends the blocks gathered so far to rank - 2^i. */
static void bruck_gather(const mrd__sim_program *p, uint32_t rank, uint32_t step, mrd__sim_ops *out)
{
    uint32_t n = p->n, bit = 1u << step;
    if (bit >= n) return; /* the last step only turns the buffer */
    uint32_t count = bit < n - bit ? bit : n - bit;
    mrd__sim_op_add(p, out, true, (rank + n - bit) % n, rank, count, false);
    mrd__sim_op_add(p, out, false, (rank + bit) % n, (rank + bit) % n, count, false);
}

/* All-to-all: bytes at the positions with this bit. Position j of a rank then holds what rank
 * - (j below the bit) had for the rank j further on. */
static uint64_t bruck_bytes(const mrd__sim_program *p, uint32_t rank, uint32_t bit)
{
    uint64_t bytes = 0;
    for (uint32_t j = 0; j < p->n; j++)
        if (j & bit)
            bytes += mrd__sim_block_bytes(p, (rank + p->n - (j & (bit - 1)) + j) % p->n, 1);
    return bytes;
}

static void bruck_exchange(const mrd__sim_program *p, uint32_t rank, uint32_t step,
                           mrd__sim_ops *out)
{
    uint32_t n = p->n, bit = 1u << step;
    if (bit >= n) return;
    uint32_t from = (rank + n - bit) % n;
    mrd__sim_op op = {.peer = (rank + bit) % n, .is_send = true, .bit = (int8_t)step};
    op.bytes = bruck_bytes(p, rank, bit);
    mrd__vec_push(out, op);
    op.peer = from;
    op.is_send = false;
    op.bytes = bruck_bytes(p, from, bit);
    mrd__vec_push(out, op);
}

/* First turn, then pack for each step and unpack what came, last turn back. */
static uint64_t bruck_copies(const mrd__sim_program *p, uint32_t rank, uint32_t step)
{
    uint32_t bit = 1u << step, before = bit / 2;
    bool last = step + 1 == p->steps;
    if (p->primitive == MRD__SIM_ALLGATHER) return last ? p->size : 0;
    uint64_t bytes = step == 0 || last ? p->size : 0;
    if (!last) bytes += bruck_bytes(p, rank, bit);
    if (step > 0) bytes += bruck_bytes(p, (rank + p->n - before) % p->n, before);
    return bytes;
}

void mrd__sim_program_shift(mrd__sim_program *p)
{
    p->blocks = p->primitive == MRD__SIM_P2P ? 1 : p->n;
    p->flow = MRD__SIM_FLOW_FREE;
    switch (p->algorithm) {
    case MRD__SIM_BRUCK:
        p->algorithm_steps = mrd__sim_ceil_log2(p->n);
        p->steps = p->algorithm_steps + 1;
        p->flow = MRD__SIM_FLOW_STEP;
        p->ops = p->primitive == MRD__SIM_ALLGATHER ? bruck_gather : bruck_exchange;
        p->copies = bruck_copies;
        break;
    case MRD__SIM_PAIRWISE:
        p->steps = p->algorithm_steps = p->n - 1;
        p->ops = pairwise_ops;
        break;
    default:
        p->steps = p->algorithm_steps = 1;
        p->ops = p->primitive == MRD__SIM_P2P ? p2p_ops : direct_ops;
        break;
    }
}
