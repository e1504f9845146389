/* The table of parameters: the one place that knows their names, units, defaults and ranges. */
#include "events/category.h"
#include "sim/sim.h"

#include <math.h>

static const char *const primitives[] = {"allreduce", "allgather", "reducescatter",
                                         "alltoall",  "p2p",       NULL};
static const char *const algorithms[] = {"auto",
                                         "ring",
                                         "halving_doubling",
                                         "recursive_doubling",
                                         "tree",
                                         "double_binary_tree",
                                         "bruck",
                                         "direct",
                                         "pairwise",
                                         NULL};
static const char *const dtypes[] = {"fp32", "fp16", "bf16", "fp8", "int8", NULL};
static const char *const modes[] = {"packet", "ideal", NULL};
static const char *const step_modes[] = {"barrier", "dataflow", "lockstep", NULL};
static const char *const vc_modes[] = {"independent", "shared_wire", NULL};
static const char *const switchings[] = {"store_and_forward", "cut_through", NULL};
static const char *const avoidances[] = {"bubble", "none", NULL};

#define AT(field) offsetof(mrd__sim_spec, field)
#define CHOICE(path, field, initial, names, doc)                                                   \
    {                                                                                              \
        path, "", doc, 'c', AT(field), initial, 0, 0, names, false                                 \
    }
#define INTEGER(path, unit, field, initial, min, max, doc)                                         \
    {                                                                                              \
        path, unit, doc, 'i', AT(field), initial, min, max, NULL, false                            \
    }
#define REAL(path, unit, field, initial, min, max, doc)                                            \
    {                                                                                              \
        path, unit, doc, 'r', AT(field), initial, min, max, NULL, false                            \
    }

static const mrd__sim_param params[] = {
    {"primitive", "", "the collective", 'c', AT(primitive), 0, 0, 0, primitives, true},
    {"algorithm", "", "how it is done; auto: the least closed form", 'c', AT(algorithm), 0, 0, 0,
     algorithms, true},
    {"msg_size_bytes", "B", "size in the sense of nccl-tests: the larger buffer of one rank", 'i',
     AT(msg_size_bytes), 0, 0, (double)MRD__SIM_MAX_SIZE, NULL, true},
    CHOICE("dtype", dtype, MRD__SIM_BF16, dtypes, "element type: bytes per addition of the TIU"),
    CHOICE("mode", mode, MRD__SIM_PACKET, modes, "ideal: contention-free reference"),
    CHOICE("step_mode", step_mode, MRD__SIM_BARRIER, step_modes,
           "when a chip goes on: step by step, piece by piece, or with its peers"),
    INTEGER("pipeline", "pieces", pipeline, 1, 1, MRD__SIM_MAX_PIPELINE,
            "pieces of a message in dataflow; chunks of a double binary tree"),
    CHOICE("vc_mode", vc_mode, MRD__SIM_INDEPENDENT, vc_modes,
           "whether REQ and RSP share the wire (RSP first)"),
    CHOICE("switching", switching, MRD__SIM_STORE_AND_FORWARD, switchings,
           "when a packet may leave a node it comes through"),
    CHOICE("deadlock_avoidance", deadlock_avoidance, MRD__SIM_BUBBLE, avoidances,
           "bubble: two free buffers to enter a ring"),
    INTEGER("seed", "", seed, 1, 0, 9007199254740992.0, "of the random bit errors"),
    REAL("link.bandwidth_gb_per_s", "GB/s", bandwidth_gb_per_s, 50, 0.001, 1e6,
         "of each link, each way"),
    REAL("link.latency_ns", "ns", latency_ns, 250, 0, 1e9, "propagation, each link"),
    INTEGER("link.packet_bytes", "B", packet_bytes, 4096, 0, 1073741824,
            "payload of a packet; 0: each message is one packet"),
    INTEGER("link.header_bytes", "B", header_bytes, 0, 0, 65536, "added to each data packet"),
    INTEGER("link.ack_bytes", "B", ack_bytes, 64, 0, 65536, "size of each RSP packet"),
    INTEGER("link.credits", "packets", credits, 64, 1, 16777216,
            "input buffers behind a link, of each virtual channel"),
    REAL("link.error_rate", "", error_rate, 0, 0, 0.9, "chance that a link spoils a data packet"),
    {"link.latency_first", "", "a message waits its route's latencies, its packets then take none",
     'b', AT(latency_first), 0, 0, 0, NULL, false},
    REAL("switch.latency_ns", "ns", switch_latency_ns, 0, 0, 1e9,
         "of each node a packet passes through"),
    INTEGER("cdma.units", "", units, 1, 1, 64, "CDMA units of a chip"),
    INTEGER("cdma.threads", "", threads, 2, 1, 64, "threads of a unit"),
    INTEGER("cdma.max_outstanding", "packets", max_outstanding, 64, 1, 16777216,
            "packets of a unit without acknowledgement, at most"),
    INTEGER("cdma.recv_ahead", "steps", recv_ahead, -1, -1, 1048576,
            "receives posted ahead; -1: all"),
    INTEGER("cdma.header_bytes", "B", message_header_bytes, 0, 0, 65536, "added to each message"),
    REAL("compute.reduce_gb_per_s", "GB/s", reduce_gb_per_s, 0, 0, 1e6,
         "received bytes the TIU reduces; 0: free"),
    REAL("compute.sdma_gb_per_s", "GB/s", sdma_gb_per_s, 0, 0, 1e6,
         "on-chip copies of the SDMA; 0: free"),
    {"check_data", "", "carry real vectors and verify the result", 'b', AT(check_data), 0, 0, 0,
     NULL, false},
    {"trace.enabled", "", "record events", 'b', AT(trace_enabled), 0, 0, 0, NULL, false},
};

const mrd__sim_param *mrd__sim_params(size_t *count)
{
    *count = sizeof params / sizeof *params;
    return params;
}

void mrd__sim_spec_init(mrd__sim_spec *spec)
{
    *spec = (mrd__sim_spec){0};
    for (size_t i = 0; i < sizeof params / sizeof *params; i++) {
        char *field = (char *)spec + params[i].offset;
        if (params[i].type == 'r')
            *(double *)(void *)field = params[i].initial;
        else
            *(int64_t *)(void *)field = (int64_t)params[i].initial;
    }
    spec->trace_categories = (1u << MRD__EV_COUNT) - 1;
}

void mrd__sim_spec_reset(mrd__sim_spec *spec)
{
    for (size_t i = 0; i < spec->nodes.count; i++)
        mrd__free(spec->nodes.data[i]);
    mrd__vec_reset(&spec->nodes);
    mrd__vec_reset(&spec->edges);
    mrd__vec_reset(&spec->disturb);
    *spec = (mrd__sim_spec){0};
}

const char *mrd__sim_primitive_name(int64_t primitive)
{
    return primitives[primitive];
}

const char *mrd__sim_algorithm_name(int64_t algorithm)
{
    return algorithms[algorithm];
}

bool mrd__sim_pair_allowed(int64_t primitive, int64_t algorithm)
{
    static const uint32_t pairs[MRD__SIM_PRIMITIVES] = {
        1u << MRD__SIM_RING | 1u << MRD__SIM_HALVING_DOUBLING | 1u << MRD__SIM_RECURSIVE_DOUBLING |
            1u << MRD__SIM_TREE | 1u << MRD__SIM_DOUBLE_BINARY_TREE,
        1u << MRD__SIM_RING | 1u << MRD__SIM_HALVING_DOUBLING | 1u << MRD__SIM_BRUCK |
            1u << MRD__SIM_DIRECT,
        1u << MRD__SIM_RING | 1u << MRD__SIM_HALVING_DOUBLING | 1u << MRD__SIM_PAIRWISE,
        1u << MRD__SIM_PAIRWISE | 1u << MRD__SIM_BRUCK | 1u << MRD__SIM_DIRECT,
        1u << MRD__SIM_DIRECT,
    };
    return (pairs[primitive] >> algorithm & 1) != 0;
}
