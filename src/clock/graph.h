/* The clock graph: pure, no input or output.
 *
 *      BOOTTIME ──(1000,2000) (1200,2300)── MONOTONIC        nodes: clocks
 *          │                                                  edges: "when A reads x, B reads y"
 *       (assumed 0)
 *          │
 *      BOOTTIME of another file
 *
 * Nodes are clocks, named by (machine, file, sequence, id). An edge carries all observations of its
 * two clocks. Converting walks a path and applies each edge: among its observations the last at or
 * before the reading, the first if all are later, slope 1 (step); or between neighbours (linear).
 * All observations are known before anything is converted, so a late one counts for early events
 * and the order of files changes nothing.
 */
#ifndef MRD_CLOCK_GRAPH_H
#define MRD_CLOCK_GRAPH_H

#include "base/text.h"

#define MRD__CLOCK_MAX_NODES 65536 /* ranks x clocks of the largest archives, with room */

typedef struct mrd__clock_id {
    uint32_t machine;
    uint32_t file;     /* 0: the machine's own clock; else the file that keeps it apart */
    uint32_t sequence; /* 0: not scoped to a writer sequence */
    uint32_t id;       /* 1 REALTIME, 3 MONOTONIC, 6 BOOTTIME, 11 a file's private timeline, ... */
} mrd__clock_id;

enum {
    MRD__CLOCK_REALTIME = 1,
    MRD__CLOCK_MONOTONIC = 3,
    MRD__CLOCK_BOOTTIME = 6,
    MRD__CLOCK_FILE = 11, /* private timeline: negative readings are legal */
};

typedef enum mrd__clock_source {
    MRD__CLOCK_OBSERVED, /* a snapshot in a file, a sync round */
    MRD__CLOCK_DECLARED, /* a manifest says so */
    MRD__CLOCK_ASSUMED,  /* nothing says so: taken for lack of better, always told */
} mrd__clock_source;

typedef enum mrd__clock_result {
    MRD__CLOCK_OK,
    MRD__CLOCK_NO_PATH,
    MRD__CLOCK_OVERFLOW, /* the reading does not fit int64 ns; never clamped */
} mrd__clock_result;

typedef struct mrd__clock_graph mrd__clock_graph;

mrd__clock_graph *mrd__clock_graph_create(void);
void mrd__clock_graph_destroy(mrd__clock_graph **graph); /* accepts NULL */

/* The node of a clock, made on first use. UINT32_MAX above MRD__CLOCK_MAX_NODES. */
uint32_t mrd__clock_node(mrd__clock_graph *graph, mrd__clock_id id);
mrd__clock_id mrd__clock_id_of(const mrd__clock_graph *graph, uint32_t node);
size_t mrd__clock_node_count(const mrd__clock_graph *graph);

/* These clocks were read together: values_ns[i] on nodes[i]. Every pair becomes an edge, or one
 * more observation of it. A clock that goes backwards between two observations of one series stays
 * a target but is no source from then on. Before mrd__clock_solve. */
void mrd__clock_observe(mrd__clock_graph *graph, const uint32_t *nodes, const int64_t *values_ns,
                        size_t count, mrd__clock_source source);

/* Readings of this clock are interpolated between neighbouring observations, whatever solve says.
 */
void mrd__clock_linear(mrd__clock_graph *graph, uint32_t node);

/* Choose every clock's path to target: fewest assumed edges, then fewest hops, then lowest ids.
 * linear: interpolate between neighbouring observations. May be called again after more
 * observations. From here to the next change the graph may be read by many threads. */
void mrd__clock_solve(mrd__clock_graph *graph, uint32_t target, bool linear);

/* A reading of node as a reading of the target. */
MRD_MUST_CHECK mrd__clock_result mrd__clock_convert(const mrd__clock_graph *graph, uint32_t node,
                                                    int64_t value_ns, int64_t *out);

/* True when the target reads node's reading + *offset_ns at all times (every step of the path was
 * observed once); false without a path, too. */
bool mrd__clock_constant(const mrd__clock_graph *graph, uint32_t node, int64_t *offset_ns);

/* One step of a path. */
typedef struct mrd__clock_hop {
    uint32_t from, to;
    mrd__clock_source source;
    size_t observations;
    int64_t first_offset_ns, last_offset_ns; /* to - from at the first and last observation */
    int64_t spread_ns;                       /* greatest less least offset */
    double drift_ppm; /* of to against from over the observations; 0 with fewer than two */
} mrd__clock_hop;
/* The path of a node to the target into hops (at most max); returns its length, 0 for the target
 * itself; SIZE_MAX without a path. */
size_t mrd__clock_path(const mrd__clock_graph *graph, uint32_t node, mrd__clock_hop *hops,
                       size_t max);

#endif
