/* Algorithms as programs: for each rank and step, what it sends and receives. Steps are made on
 * demand from (rank, step), so a program takes no memory however long it is.
 *
 * A buffer of one rank is cut into `blocks` blocks. An operation moves a set of blocks: `count`
 * blocks from `first` on, in a circle, or (bit >= 0) all positions whose number has that bit. */
#ifndef MRD_SIM_PROGRAM_H
#define MRD_SIM_PROGRAM_H

#include "sim/sim.h"

typedef struct mrd__sim_op {
    uint32_t peer;
    bool is_send;
    bool reduce;     /* what comes is added, not stored */
    bool from_input; /* sent from the separate input buffer (all-to-all) */
    int8_t bit;
    uint32_t first, count;
    uint64_t bytes;
} mrd__sim_op;

typedef MRD__VEC(mrd__sim_op) mrd__sim_ops;

/* What a step's sends wait for in dataflow mode. */
typedef enum mrd__sim_flow {
    MRD__SIM_FLOW_STEP,  /* all receives of the steps before */
    MRD__SIM_FLOW_PIECE, /* the same piece of the step before; one send, one receive a step */
    MRD__SIM_FLOW_FREE,  /* nothing: nothing is forwarded */
} mrd__sim_flow;

typedef struct mrd__sim_program mrd__sim_program;
struct mrd__sim_program {
    int64_t primitive, algorithm;
    uint32_t n;
    uint64_t size;
    uint32_t steps;                  /* as run: a last step may only copy */
    uint32_t algorithm_steps;        /* as told */
    uint32_t blocks, chunks, height; /* chunks, height: of a double binary tree */
    mrd__sim_flow flow;
    /* Append the operations of this step; sends to one peer match its receives in order. */
    void (*ops)(const mrd__sim_program *program, uint32_t rank, uint32_t step, mrd__sim_ops *out);
    /* Bytes copied on the chip before the sends of this step; NULL: none. */
    uint64_t (*copies)(const mrd__sim_program *program, uint32_t rank, uint32_t step);
    /* The earlier step whose sends must be done (remote write-done) before this step's receives
     * may overwrite what they read; UINT32_MAX: none. NULL: none anywhere. */
    uint32_t (*fence)(const mrd__sim_program *program, uint32_t step);
    const void *ctx; /* of programs made elsewhere (tests) */
};

/* spec.algorithm must not be auto. */
void mrd__sim_program_init(mrd__sim_program *program, const mrd__sim_spec *spec, int64_t algorithm,
                           uint32_t ranks);

/* Start of block i of `size` bytes in `blocks` (floor), and bytes of a set of blocks. */
uint64_t mrd__sim_block_at(const mrd__sim_program *program, uint32_t block);
uint64_t mrd__sim_block_bytes(const mrd__sim_program *program, uint32_t first, uint32_t count);

/* Append a plain operation on `count` blocks from `first` on (mod blocks). */
void mrd__sim_op_add(const mrd__sim_program *program, mrd__sim_ops *out, bool is_send,
                     uint32_t peer, uint32_t first, uint32_t count, bool reduce);

/* The algorithm families, each filling what the pair needs. */
void mrd__sim_program_ring(mrd__sim_program *program);
void mrd__sim_program_exchange(mrd__sim_program *program); /* halving, doubling, recursive */
void mrd__sim_program_tree(mrd__sim_program *program);
void mrd__sim_program_shift(mrd__sim_program *program); /* bruck, pairwise, direct, p2p */

static inline uint32_t mrd__sim_floor_log2(uint32_t n)
{
    return 31 - (uint32_t)__builtin_clz(n);
}
static inline uint32_t mrd__sim_ceil_log2(uint32_t n)
{
    return n < 2 ? 0 : mrd__sim_floor_log2(n - 1) + 1;
}

/* Run a program that need not come from the table (tests: mutated twins, foreign algorithms). */
MRD_MUST_CHECK mrd_status mrd__sim_run_program(const mrd__sim_spec *spec,
                                               const mrd__sim_program *program,
                                               const mrd__sim_observer *observer,
                                               mrd__sim_result *result, mrd_error *error);

/* The closed form of reference section 1.1 with the run's own latency and bandwidth between
 * neighbours (chip 0 to chip 1), contention left out, ns. */
double mrd__sim_closed_form(const mrd__sim_spec *spec, int64_t algorithm, uint32_t n,
                            double alpha_ns, double gb_per_s);

#endif
