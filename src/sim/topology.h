/* Nodes, directed links, routes. Chips are nodes 0..chips-1, switches follow. */
#ifndef MRD_SIM_TOPOLOGY_H
#define MRD_SIM_TOPOLOGY_H

#include "sim/sim.h"

#define MRD__SIM_NONE UINT32_MAX

typedef struct mrd__sim_topology {
    uint32_t nodes, chips;
    char (*names)[MRD__SIM_NAME]; /* [nodes] */

    /* Links, struct of arrays. */
    uint32_t links;
    uint32_t *from, *to, *reverse; /* reverse: MRD__SIM_NONE where there is none */
    double *bandwidth;             /* GB/s, disturbances included */
    uint64_t *latency;             /* ps */
    double *error_rate;
    /* A packet coming by link a may leave by link b into its last free buffer only where group[b]
     * is 0 or feeds[a] == group[b]; else two must be free. Rings: both are the ring's number
     * (bubble flow control). Dragonfly: local links keep one buffer for what global links feed. */
    uint32_t *group, *feeds;

    uint32_t *next;        /* [node * chips + dst chip]: link to take; MRD__SIM_NONE at the goal */
    double *slow;          /* [chips] factor, at least 1 */
    uint64_t *start_delay; /* [chips] ps */
    char warning[512];     /* a cycle of channels in a user's graph */
} mrd__sim_topology;

/* Build from the spec's name or graph, disturbances applied, routes computed. Errors as
 * mrd__sim_spec_parse. */
MRD_MUST_CHECK mrd_status mrd__sim_topology_build(mrd__sim_topology *topology,
                                                  const mrd__sim_spec *spec, mrd_error *error);
void mrd__sim_topology_reset(mrd__sim_topology *topology);

/* Route facts: links on the way, sum of latencies (transit nodes included), slowest GB/s. */
typedef struct mrd__sim_route {
    uint32_t hops, first, last;
    uint64_t latency_ps;
    double bandwidth;
} mrd__sim_route;
mrd__sim_route mrd__sim_route_of(const mrd__sim_topology *topology, uint32_t src, uint32_t dst,
                                 uint64_t switch_ps);

/* ns to ps, half up. */
uint64_t mrd__sim_ps(double ns);

/* ---- For the builders (builders.c, routes.c) ---- */

/* A shape: what the name says. */
typedef enum mrd__sim_shape_kind {
    MRD__SIM_SHAPE_GRID, /* ring, mesh, torus: dims, wrap */
    MRD__SIM_SHAPE_FULL,
    MRD__SIM_SHAPE_STAR,
    MRD__SIM_SHAPE_FAT_TREE,
    MRD__SIM_SHAPE_FAT_TREE_2L,
    MRD__SIM_SHAPE_DRAGONFLY,
    MRD__SIM_SHAPE_GRAPH,
} mrd__sim_shape_kind;

typedef struct mrd__sim_shape {
    mrd__sim_shape_kind kind;
    uint32_t dims[3], dim_count; /* grid: sizes; else the numbers of the name */
    bool wrap;
} mrd__sim_shape;

MRD_MUST_CHECK mrd_status mrd__sim_shape_parse(mrd__sim_shape *shape, const char *name,
                                               mrd_error *error);
void mrd__sim_shape_links(mrd__sim_topology *topology, const mrd__sim_shape *shape,
                          const mrd__sim_spec *spec);
void mrd__sim_routes(mrd__sim_topology *topology, const mrd__sim_shape *shape);
/* Append a link; returns its number. */
uint32_t mrd__sim_add_link(mrd__sim_topology *topology, uint32_t from, uint32_t to,
                           double bandwidth, double latency_ns);

#endif
