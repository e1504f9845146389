/* What nothing says of clocks, in this order:
 *
 *   1. REALTIME of two machines is one: where a clock's own REALTIME is related to it, and that of
 *      the trace's machine to trace time;
 *   2. the same clock id as trace time, the same clock of the same machine, or a private timeline,
 *      at offset zero; not where the boots of both files are known and differ;
 *   3. nothing: two different real clocks are never set equal.
 *
 * Each is asked of every set of connected clocks once, files in order; what is set equal is told.
 */
#include "open/clocks.h"

static void set_equal(mrd__clocks *c, uint32_t a, uint32_t b)
{
    mrd__clocks_observe(c, (uint32_t[]){a, b}, (int64_t[]){0, 0}, 2, MRD__CLOCK_FROM_NOTHING);
}

/* ---- REALTIME ---- */

/* The REALTIME that is related to a node, of the same file and machine; UINT32_MAX none. */
static uint32_t realtime_beside(mrd__clocks *c, uint32_t node)
{
    mrd__clock_id id = mrd__clock_id_of(c->graph, node);
    for (uint32_t n = 0; n < mrd__clock_node_count(c->graph); n++) {
        mrd__clock_id other = mrd__clock_id_of(c->graph, n);
        if (other.id == MRD__CLOCK_REALTIME && other.file == id.file &&
            other.machine == id.machine && mrd__clocks_connected(c, n, node))
            return n;
    }
    return UINT32_MAX;
}

/* The REALTIME that is related to trace time: of its own file, else of any, the first. */
static uint32_t realtime_of_trace(mrd__clocks *c)
{
    uint32_t own = realtime_beside(c, c->target);
    if (own != UINT32_MAX) return own;
    uint32_t best = UINT32_MAX;
    for (uint32_t n = 0; n < mrd__clock_node_count(c->graph); n++) {
        mrd__clock_id id = mrd__clock_id_of(c->graph, n);
        if (id.id != MRD__CLOCK_REALTIME || !mrd__clocks_connected(c, n, c->target)) continue;
        if (best == UINT32_MAX || id.file < mrd__clock_id_of(c->graph, best).file) best = n;
    }
    return best;
}

static void meet_at_realtime(mrd__clocks *c)
{
    uint32_t trace = realtime_of_trace(c);
    if (trace == UINT32_MAX) return;
    for (size_t i = 0; i < c->uses.count; i++) {
        uint32_t node = c->uses.data[i].node;
        if (node == UINT32_MAX || mrd__clocks_connected(c, node, c->target)) continue;
        uint32_t own = realtime_beside(c, node);
        if (own != UINT32_MAX) set_equal(c, own, trace);
    }
}

/* ---- Equal clocks ---- */

static bool boots_differ(const mrd__clocks *c, uint32_t a, uint32_t b)
{
    const mrd__store *store = c->seal->store;
    const char *one = store->files[a].boot_id;
    const char *other = store->files[b].boot_id;
    return one != NULL && other != NULL && !mrd__str_equal(mrd__str_of(one), mrd__str_of(other));
}

/* The same clock of the same machine, as another file knows it and relates it to trace time. */
static uint32_t same_of_machine(mrd__clocks *c, const mrd__clock_use *use, mrd__clock_id id)
{
    uint32_t machine = mrd__seal_machine(c->seal, use->file, id.machine);
    uint32_t best = UINT32_MAX;
    for (uint32_t n = 0; n < mrd__clock_node_count(c->graph); n++) {
        mrd__clock_id other = mrd__clock_id_of(c->graph, n);
        if (other.id != id.id || other.sequence != 0 || !mrd__clocks_connected(c, n, c->target) ||
            mrd__seal_machine(c->seal, other.file - 1, other.machine) != machine)
            continue;
        if (best == UINT32_MAX || other.file < mrd__clock_id_of(c->graph, best).file) best = n;
    }
    return best;
}

/* The clock that this one is taken for; UINT32_MAX none. */
static uint32_t equal_of(mrd__clocks *c, const mrd__clock_use *use)
{
    mrd__clock_id id = mrd__clock_id_of(c->graph, use->node);
    if (id.sequence != 0) return UINT32_MAX;
    if (id.id == MRD__CLOCK_FILE || c->target_clock.id == MRD__CLOCK_FILE) return c->target;
    bool counts_from_boot = id.id != MRD__CLOCK_REALTIME && id.id != MRD__CLOCK_REALTIME + 1;
    if (counts_from_boot && boots_differ(c, use->file, c->target_file)) return UINT32_MAX;
    if (id.id == c->target_clock.id) return c->target;
    uint32_t same = same_of_machine(c, use, id);
    if (same == UINT32_MAX) return UINT32_MAX;
    uint32_t file = mrd__clock_id_of(c->graph, same).file - 1;
    return counts_from_boot && boots_differ(c, use->file, file) ? UINT32_MAX : same;
}

void mrd__clocks_assume(mrd__clocks *c)
{
    bool meets = c->plan == NULL || c->plan->align != MRD__ALIGN_NONE;
    if (meets) meet_at_realtime(c);
    for (size_t i = 0; i < c->uses.count; i++) {
        const mrd__clock_use *use = &c->uses.data[i];
        if (use->node == UINT32_MAX || mrd__clocks_connected(c, use->node, c->target)) continue;
        uint32_t equal = equal_of(c, use);
        if (equal != UINT32_MAX) set_equal(c, use->node, equal);
    }
}
