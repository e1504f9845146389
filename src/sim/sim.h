/* Communication simulation: one run of a collective on a topology (spec comm-sim).
 *
 *   JSON spec -> mrd__sim_spec -> mrd__sim_run -> mrd__sim_result (L1, L2) + records (L3)
 *
 * A run is a pure function of its spec: integer picoseconds, one thread, no clock, no randomness
 * but the generator seeded by spec.seed. docs/sim.md says what is modelled. */
#ifndef MRD_SIM_SIM_H
#define MRD_SIM_SIM_H

#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"

struct mrd__command_record; /* events/command_file.h */
struct mrd__event_record;   /* events/event_file.h */

/* ---- Limits ---- */

#define MRD__SIM_MAX_NODES 4096        /* routes are a table nodes x chips of 4 bytes: 64 MiB */
#define MRD__SIM_MAX_LINKS (1u << 20)  /* full-1024 fits; 270 bytes a link */
#define MRD__SIM_MAX_PIPELINE 64       /* pieces that are in: one 64-bit mask a step */
#define MRD__SIM_MAX_SHADOW (1u << 26) /* values of a data check, 16 bytes each */
#define MRD__SIM_MAX_SIZE (1ull << 40)
#define MRD__SIM_MAX_TIME_PS (1ull << 61) /* 26 days; sums of two times cannot overflow */
#define MRD__SIM_MAX_PACKETS (1u << 26)   /* under way at a time: 5 GiB */
#define MRD__SIM_BATCH 65536              /* records a call of the observer */

/* ---- Specification ---- */

typedef enum mrd__sim_primitive {
    MRD__SIM_ALLREDUCE,
    MRD__SIM_ALLGATHER,
    MRD__SIM_REDUCESCATTER,
    MRD__SIM_ALLTOALL,
    MRD__SIM_P2P,
    MRD__SIM_PRIMITIVES
} mrd__sim_primitive;

typedef enum mrd__sim_algorithm {
    MRD__SIM_AUTO,
    MRD__SIM_RING,
    MRD__SIM_HALVING_DOUBLING,
    MRD__SIM_RECURSIVE_DOUBLING,
    MRD__SIM_TREE,
    MRD__SIM_DOUBLE_BINARY_TREE,
    MRD__SIM_BRUCK,
    MRD__SIM_DIRECT,
    MRD__SIM_PAIRWISE,
    MRD__SIM_ALGORITHMS
} mrd__sim_algorithm;

enum {
    MRD__SIM_PACKET,
    MRD__SIM_IDEAL
};
enum {
    MRD__SIM_BARRIER,
    MRD__SIM_DATAFLOW,
    MRD__SIM_LOCKSTEP
};
enum {
    MRD__SIM_INDEPENDENT,
    MRD__SIM_SHARED_WIRE
};
enum {
    MRD__SIM_STORE_AND_FORWARD,
    MRD__SIM_CUT_THROUGH
};
enum {
    MRD__SIM_BUBBLE,
    MRD__SIM_NO_AVOIDANCE
};
enum {
    MRD__SIM_FP32,
    MRD__SIM_FP16,
    MRD__SIM_BF16,
    MRD__SIM_FP8,
    MRD__SIM_INT8
};

#define MRD__SIM_NAME 33 /* a node's name: 32 characters and NUL */

/* One directed link of a user's graph; NaN: the value of spec.link. */
typedef struct mrd__sim_edge {
    uint32_t from, to;
    double bandwidth_gb_per_s, latency_ns;
} mrd__sim_edge;

/* One entry of `disturb`: of a chip (is_link false) or of a directed link. Node names are resolved
 * when the topology is built. */
typedef struct mrd__sim_disturb {
    bool is_link, has_error_rate;
    int64_t chip;
    char from[MRD__SIM_NAME], to[MRD__SIM_NAME];
    double slow, start_delay_ns;                           /* chip */
    double bandwidth_factor, extra_latency_ns, error_rate; /* link */
} mrd__sim_disturb;

/* All scalar parameters are int64_t or double, so that one table describes them (params.c). */
typedef struct mrd__sim_spec {
    int64_t primitive, algorithm, msg_size_bytes, dtype, mode, step_mode, pipeline, vc_mode;
    int64_t switching, deadlock_avoidance, seed, check_data;
    double bandwidth_gb_per_s, latency_ns, error_rate;
    int64_t packet_bytes, header_bytes, ack_bytes, credits;
    int64_t latency_first;
    double switch_latency_ns;
    int64_t units, threads, max_outstanding, recv_ahead;
    double reduce_gb_per_s, sdma_gb_per_s;
    int64_t trace_enabled;
    uint32_t trace_categories;    /* bits 1 << MRD__EV_* */
    int64_t message_header_bytes; /* in flight, in no counter of payload */

    char topology[64]; /* a builder's name in lower case, or the name of the graph */
    bool is_graph;
    MRD__VEC(char *) nodes; /* of the graph; owned */
    MRD__VEC(mrd__sim_edge) edges;
    MRD__VEC(mrd__sim_disturb) disturb;
} mrd__sim_spec;

/* Read one spec (not a sweep). Every error is MRD_ERR_ARGUMENT "bad_spec" and names the JSON path,
 * the value and what is allowed; *spec is then empty. The topology is built once to check it. */
MRD_MUST_CHECK mrd_status mrd__sim_spec_parse(mrd__sim_spec *spec, const char *json, size_t size,
                                              mrd_error *error);
/* The spec with all its fields as one line of JSON, keys sorted: equal runs, equal bytes. Parsing
 * it again gives the same spec. */
void mrd__sim_spec_json(const mrd__sim_spec *spec, mrd__buf *out);
/* All defaults: what a spec without that field has. */
void mrd__sim_spec_init(mrd__sim_spec *spec);
void mrd__sim_spec_reset(mrd__sim_spec *spec); /* frees; accepts zeroed */

/* One row of the table of parameters, for documentation, completion and forms; static. */
typedef struct mrd__sim_param {
    const char *path, *unit, *doc;
    char type; /* 'i' integer, 'r' real, 'c' choice, 'b' boolean */
    size_t offset;
    double initial, min, max;
    const char *const *choices; /* NULL-ended; index is the value */
    bool required;
} mrd__sim_param;
const mrd__sim_param *mrd__sim_params(size_t *count);

/* ---- Sweeps (sweep.c) ---- */

#define MRD__SIM_MAX_SWEEP 100000 /* runs of one sweep: days of work, tens of MB of specs */

typedef struct mrd__sim_sweep {
    MRD__VEC(char *) specs; /* JSON, one a run, in order: the first listed field varies slowest */
} mrd__sim_sweep;
/* The product of all lists of a sweep (a spec without lists is a sweep of one). Each spec is
 * parsed once: the first bad one fails the whole, bad_spec. MRD_ERR_LIMIT "sweep_size". */
MRD_MUST_CHECK mrd_status mrd__sim_sweep_expand(mrd__sim_sweep *sweep, const char *json,
                                                size_t size, mrd_error *error);
void mrd__sim_sweep_reset(mrd__sim_sweep *sweep); /* accepts zeroed */

const char *mrd__sim_primitive_name(int64_t primitive);
const char *mrd__sim_algorithm_name(int64_t algorithm);
/* Whether this pair is in the table of the spec (auto is not). */
bool mrd__sim_pair_allowed(int64_t primitive, int64_t algorithm);

/* ---- Observation ---- */

/* Records leave while the run goes on, in time order, at most MRD__SIM_BATCH a call. details live
 * until the call returns, component names until the result is reset. */
typedef struct mrd__sim_observer {
    void *ctx;
    uint64_t limit; /* tracing ends after so many records; 0: never */
    mrd_status (*records)(void *ctx, const struct mrd__event_record *records, size_t count,
                          mrd_error *error);
    /* Commands that ended, in this order; as long as `records` gets records. May be NULL. */
    mrd_status (*commands)(void *ctx, const struct mrd__command_record *commands, size_t count,
                           mrd_error *error);
    /* Nothing comes any more, the run did or did not succeed; names still live. Called once, if
     * anything is traced. May be NULL. */
    void (*end)(void *ctx, bool done, double sim_end_ns, bool truncated);
    /* Every million events; done: share of the chips' steps, 0 to 1. False ends the run with
     * MRD_ERR_CANCELLED. May be NULL. */
    bool (*progress)(void *ctx, uint64_t events, double done);
} mrd__sim_observer;

/* ---- Result ---- */

typedef struct mrd__sim_chip_result {
    uint32_t chip_id;
    double latency_ns, cdma_blocked_ns, first_cmd_ns, last_done_ns;
    bool is_straggler;
} mrd__sim_chip_result;

typedef struct mrd__sim_candidate {
    int64_t algorithm;
    double closed_form_ns;
} mrd__sim_candidate;

typedef struct mrd__sim_result {
    /* L1 */
    double total_latency_ns, data_done_ns, ideal_latency_ns, bus_bw_gb_per_s, alg_bw_gb_per_s;
    uint64_t total_comm_bytes, algorithm_steps;
    uint32_t num_participants;
    int64_t algorithm_used;
    mrd__sim_candidate candidates[MRD__SIM_ALGORITHMS]; /* of auto; none when asked by name */
    size_t candidate_count;
    uint32_t straggler_chip;
    double straggler_ratio, straggler_blocked_ns;
    char straggler_reason[160]; /* in what it exceeds the other chips most; empty: no straggler */
    MRD__VEC(mrd__sim_chip_result) per_chip; /* chips with commands */
    /* What was busy longest: link_…_req, tiu_chip3, sdma_chip3, or none. */
    char bottleneck[96];
    char warning[512]; /* of a user's graph: a cycle of its channels */
    /* L2 */
    uint64_t events, packets; /* packets: REQ, as first sent */
    double sim_time_ns;       /* of the last event */
    mrd__buf stats;           /* JSON object of all counters */
    /* L3 */
    uint64_t records;
    bool truncated;
    mrd__arena names; /* components of the records */
} mrd__sim_result;
void mrd__sim_result_reset(mrd__sim_result *result); /* accepts zeroed */

/* Simulate. observer may be NULL (nothing is traced then, whatever the spec says). *result is
 * filled on success; after an error it is empty. Errors: bad_spec (the spec does not fit its
 * topology), deadlock (names the cycle of who waits for whom), wrong_data (check_data),
 * MRD_ERR_LIMIT "sim_time" and "too_many_packets", MRD_ERR_CANCELLED, and what the observer
 * returned. Any thread; two runs share nothing. */
MRD_MUST_CHECK mrd_status mrd__sim_run(const mrd__sim_spec *spec, const mrd__sim_observer *observer,
                                       mrd__sim_result *result, mrd_error *error);

#endif
