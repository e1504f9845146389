/* Binomial tree, and two binary trees whose leaves and inner nodes change places.
 *
 * In-order binary tree over 0..N-1: the height of a node is the place of its lowest set bit (node
 * 0, the root: above all), its parent the node with that bit cleared and the next one set, or with
 * it only cleared where that node does not exist.
 *
 *   N = 8:          0            The second tree is the first one turned by one rank: rank r
 *                   4            stands at place r - 1, so that the leaves of one (odd places)
 *               2       6        are inner nodes of the other.
 *             1   3   5   7                                                                  */
#include "sim/program.h"

/* ---- Binomial: reduce to rank 0, then broadcast ---- */

static void tree_ops(const mrd__sim_program *p, uint32_t rank, uint32_t step, mrd__sim_ops *out)
{
    uint32_t levels = p->steps / 2;
    bool down = step >= levels;
    uint32_t bit = 1u << (down ? p->steps - 1 - step : step);
    if (rank % (2 * bit) == bit)
        mrd__sim_op_add(p, out, !down, rank - bit, 0, 1, !down);
    else if (rank % (2 * bit) == 0 && rank + bit < p->n)
        mrd__sim_op_add(p, out, down, rank + bit, 0, 1, !down);
}

static uint32_t tree_fence(const mrd__sim_program *p, uint32_t step)
{
    return step >= p->steps / 2 ? p->steps - 1 - step : UINT32_MAX;
}

/* ---- Double binary tree ---- */

static uint32_t height(const mrd__sim_program *p, uint32_t place)
{
    return place == 0 ? p->height : (uint32_t)__builtin_ctz(place);
}

static uint32_t parent(const mrd__sim_program *p, uint32_t place)
{
    uint32_t low = place & -place, up = (place ^ low) | low << 1;
    return up < p->n ? up : place ^ low;
}

/* The edges between place and its parent and children at this step. Chunk c goes up from a node
 * of height h at step h + c and down to it at 2 height - 1 - h + c. */
static void edges(const mrd__sim_program *p, uint32_t rank, uint32_t tree, uint32_t chunk,
                  uint32_t step, mrd__sim_ops *out)
{
    uint32_t n = p->n, place = (rank + n - tree) % n, block = tree * p->chunks + chunk;
    if (step < chunk) return;
    uint32_t at = step - chunk, turn = 2 * p->height;
    if (at >= turn) return;
    bool down = at >= p->height;
    uint32_t h = down ? turn - 1 - at : at;
    if (place != 0 && height(p, place) == h)
        mrd__sim_op_add(p, out, !down, (parent(p, place) + tree) % n, block, 1, !down);
    /* Children of height h: place - 2^h, and the right one below place + 2^h. */
    for (uint32_t side = 0; side < 2; side++) {
        uint32_t bit = 1u << h;
        if (side == 0 && place < bit) continue;
        uint32_t child = side == 0 ? place - bit : place + bit;
        if (child == 0 || child >= n || height(p, child) != h || parent(p, child) != place)
            continue;
        mrd__sim_op_add(p, out, down, (child + tree) % n, block, 1, !down);
    }
}

static void double_ops(const mrd__sim_program *p, uint32_t rank, uint32_t step, mrd__sim_ops *out)
{
    for (uint32_t tree = 0; tree < 2; tree++) {
        uint32_t first = step + 1 > 2 * p->height ? step + 1 - 2 * p->height : 0;
        for (uint32_t chunk = first; chunk < p->chunks && chunk <= step; chunk++)
            edges(p, rank, tree, chunk, step, out);
    }
}

void mrd__sim_program_tree(mrd__sim_program *p)
{
    uint32_t levels = mrd__sim_ceil_log2(p->n);
    p->flow = MRD__SIM_FLOW_STEP;
    if (p->algorithm == MRD__SIM_TREE) {
        p->blocks = 1;
        p->steps = p->algorithm_steps = 2 * levels;
        p->ops = tree_ops;
        p->fence = tree_fence;
        return;
    }
    p->height = levels;
    p->blocks = 2 * p->chunks;
    p->steps = p->algorithm_steps = 2 * levels + p->chunks - 1;
    p->ops = double_ops;
}
