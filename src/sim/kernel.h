/* The state of one run. Parts: run.c (loop), network.c (packets, links, credits), ideal.c (whole
 * messages), chip.c (steps, threads, commands), trace.c (records), shadow.c (data check),
 * stuck.c (who waits for whom), outcome.c (L1, L2).
 *
 *   step -> sends -> threads (transfer credits) -> units (window) -> link queues -> packets
 *                                                                                     |
 *   next step <- reduced <- received <-------------------------------------------- arrive
 *
 * A channel is one virtual channel of a link: channel = 2 * link + vc. Everything that comes and
 * goes lies in pools with free lists: a run allocates only while it reaches its highest count. */
#ifndef MRD_SIM_KERNEL_H
#define MRD_SIM_KERNEL_H

#include "events/command_file.h"
#include "events/event_file.h"
#include "sim/program.h"
#include "sim/queue.h"
#include "sim/topology.h"

#include "base/error.h"
#include "base/os.h"

#ifndef MRD_SIM_TRACE
#define MRD_SIM_TRACE 1 /* 0 builds without observation, to measure what it costs when off */
#endif

enum {
    MRD__SIM_REQ,
    MRD__SIM_RSP
};

enum mrd__sim_event {
    MRD__SIM_EV_WIRE,    /* a wire may go on; index: wire */
    MRD__SIM_EV_ARRIVE,  /* a packet may leave or end; index: packet */
    MRD__SIM_EV_LEFT,    /* last byte of a send is out; index: message */
    MRD__SIM_EV_HEAD,    /* ideal: the first byte is there; index: message */
    MRD__SIM_EV_IN,      /* ideal: the last byte is in; index: message */
    MRD__SIM_EV_CREDIT,  /* ideal: a transfer credit is there; index: packet */
    MRD__SIM_EV_START,   /* a chip begins; index: chip */
    MRD__SIM_EV_FLOW,    /* latency_first: a message has waited; index: message */
    MRD__SIM_EV_COPIED,  /* SDMA done; index: chip */
    MRD__SIM_EV_REDUCED, /* TIU done; index: message */
    MRD__SIM_EV_IDLE,    /* observing: is this channel idle now?; index: channel */
    MRD__SIM_EV_HOP,     /* observing: a packet is there; index: note */
};

enum {
    MRD__SIM_DATA,
    MRD__SIM_ACK,
    MRD__SIM_NAK,
    MRD__SIM_TCREDIT
};

typedef struct mrd__sim_packet {
    uint64_t id, ready, tail, issue; /* ps: may leave since, all here at, first sent at */
    uint64_t order;                  /* in its queue */
    uint32_t next;                   /* in its queue or the free list */
    uint64_t bytes;                  /* payload of DATA; of TCREDIT: steps */
    uint32_t src, dst, message;
    uint32_t channel; /* whose far buffer it holds; MRD__SIM_NONE at its source */
    uint16_t hop;
    uint8_t kind;
    bool spoiled;
} mrd__sim_packet;

typedef struct mrd__sim_message {
    uint64_t id, size, sent, left; /* payload bytes: all, sent, not yet in */
    uint64_t ready, order;         /* as a token in a link's queue */
    uint64_t begun;                /* ps: it had its transfer credit */
    uint32_t next;                 /* queue, waiting list or free list */
    uint32_t behind;               /* the next send of this chip to the same goal */
    uint32_t src, dst, step, piece, thread, unacked;
    uint32_t first, count; /* blocks at the sender */
    int64_t *data;         /* of the shadow payload; owned */
    int8_t bit;
    bool reduce, from_input;
    bool out, done, consumed; /* all made into packets; all acknowledged; received and reduced */
} mrd__sim_message;

/* Queue entries are packets, or messages that still have packets to make. */
#define MRD__SIM_TOKEN 0x80000000u

typedef struct mrd__sim_line {
    uint32_t head, tail;
} mrd__sim_line;

/* Times at which credits come back, sorted; a circle of power-of-two capacity. */
typedef struct mrd__sim_returns {
    uint64_t *times;
    uint32_t first, count, capacity;
} mrd__sim_returns;

/* Links, struct of arrays; by channel unless said otherwise. */
typedef struct mrd__sim_links {
    uint64_t *busy_until, *wake_at; /* by wire: = channel, or link where the wire is shared */
    mrd__sim_line *through, *enter; /* who needs one free buffer, who needs two */
    uint32_t *credits;
    bool *starved;
    mrd__sim_returns *returns;
    uint64_t *bytes, *packets, *busy, *max_queue; /* counters; ps */
    uint64_t *cached_bytes, *cached_ps;           /* by link: the last serialization time */
    /* Observing only. */
    uint64_t *end, *period_bytes, *period_packets, *period_busy;
    bool *open;
} mrd__sim_links;

typedef struct mrd__sim_unit {
    mrd__sim_line waiting; /* messages that found the window full */
    uint32_t outstanding;
    bool blocked;
    uint64_t changed, full_since, full, blocked_count, bytes, commands;
    __uint128_t area, latency; /* Little's law: both are the sum over packets of ACK - issue */
} mrd__sim_unit;

enum {
    MRD__SIM_FREE,
    MRD__SIM_WAIT_TCREDIT,
    MRD__SIM_WAIT_FENCE
};

typedef struct mrd__sim_thread {
    mrd__sim_line sends; /* not yet begun */
    uint32_t undone;     /* sends begun or not, not yet done */
    uint8_t state;
    uint64_t since, command;
} mrd__sim_thread;

enum {
    MRD__SIM_CHIP_BEFORE, /* its start */
    MRD__SIM_CHIP_STEP,
    MRD__SIM_CHIP_COPY,
    MRD__SIM_CHIP_END, /* its last fence */
    MRD__SIM_CHIP_DONE
};

typedef struct mrd__sim_chip {
    uint32_t step, needed, sends_left, posted; /* posted: steps whose receives are */
    uint8_t state;
    bool fenced, commanded; /* thread 0 waits in a fence; has any command */
    uint64_t first_cmd, last_done, data_done, blocked, tiu_free, undone, entered;
    mrd__sim_line awaiting; /* lockstep: sends whose receiver is not at their step */
    uint64_t tiu_busy, sdma_busy;
} mrd__sim_chip;

/* Of one chip and step. */
typedef struct mrd__sim_progress {
    uint64_t arrived; /* receives done: their number, or a mask of pieces */
    uint32_t undone;  /* sends not yet done */
    uint32_t early;   /* messages in before the chip came to this step: first + 1, by next */
} mrd__sim_progress;

/* A hop to be told when the packet is wholly there. */
typedef struct mrd__sim_note {
    uint64_t packet, latency, wait;
    uint32_t src, dst, channel, hop, next;
} mrd__sim_note;

typedef struct mrd__sim {
    const mrd__sim_spec *spec;
    const mrd__sim_program *program;
    const mrd__sim_observer *observer;
    mrd__sim_topology topology;
    mrd__sim_result *result;
    mrd_error *error;
    mrd_status status; /* first failure; ends the loop */
    uint64_t now, events, orders, messages_made, packets_made, comm_bytes;
    uint64_t flops, sdma_bytes, bus_transfers;
    mrd__sim_queue queue;
    mrd__rng rng;

    bool ideal, shared, cut_through, piecewise, barrier, lockstep, latency_first;
    uint32_t n, units, threads, pieces, dtype_bytes, live_packets, unfinished;
    uint64_t switch_ps;
    uint32_t *route; /* topology.next */

    mrd__sim_links links;
    mrd__sim_unit *unit;     /* [n * units] */
    mrd__sim_thread *thread; /* [n * units * threads]: (chip * units + unit) * threads + thread */
    mrd__sim_chip *chip;
    mrd__sim_progress *progress; /* [n * steps] */
    uint32_t *grants; /* [src * n + dst] transfer credits: below which step; NULL: all are there */
    uint32_t *active; /* [src * n + dst] last send + 1; 0: none */
    size_t progress_size, pair_size;
    MRD__VEC(mrd__sim_packet) packets;
    MRD__VEC(mrd__sim_message) messages;
    uint32_t free_packet, free_message;
    mrd__sim_ops scratch, scratch2;

    int64_t *shadow, *shadow_input; /* [n][blocks][elements] */
    uint32_t elements;

    /* Observing. */
    uint32_t categories; /* bits; 0: nothing is observed */
    MRD__VEC(mrd__event_record) records;
    MRD__VEC(mrd__command_record) commands;
    bool traced;          /* records were asked for */
    bool commanding;      /* commands are recorded */
    uint64_t last_record; /* ps */
    uint64_t others_made; /* commands that are no message: copies and fences */
    mrd__buf details;
    MRD__VEC(mrd__sim_note) notes;
    uint32_t free_note;
    mrd__str *link_names, *unit_names, *thread_names, *flow_names;
} mrd__sim;

#define MRD__SIM_COMMANDING(sim) (MRD_SIM_TRACE && (sim)->commanding)
#define MRD__SIM_OBSERVED(sim, category) (MRD_SIM_TRACE && ((sim)->categories >> (category)&1))

static inline void mrd__sim_schedule(mrd__sim *sim, uint64_t time, uint32_t type, uint32_t index)
{
    mrd__sim_queue_push(&sim->queue, time, 0, type, index);
}

/* ---- network.c ---- */
void mrd__sim_links_init(mrd__sim *sim);
void mrd__sim_links_reset(mrd__sim *sim);
uint32_t mrd__sim_packet_new(mrd__sim *sim); /* only next is set */
/* Begin to send the packets of a message, behind earlier ones to the same goal. */
void mrd__sim_network_send(mrd__sim *sim, uint32_t message);
/* Transfer credit of `from` to `to` for all its receives below step `steps`. */
void mrd__sim_network_grant(mrd__sim *sim, uint32_t from, uint32_t to, uint32_t steps);
void mrd__sim_on_wire(mrd__sim *sim, uint32_t wire);
void mrd__sim_on_arrive(mrd__sim *sim, uint32_t packet);
/* All credits are home, nothing is under way; asserts it. */
void mrd__sim_network_check(mrd__sim *sim);

/* ---- ideal.c ---- */
void mrd__sim_ideal_send(mrd__sim *sim, uint32_t message);
void mrd__sim_ideal_grant(mrd__sim *sim, uint32_t from, uint32_t to, uint32_t steps);
void mrd__sim_on_head(mrd__sim *sim, uint32_t message);
void mrd__sim_on_in(mrd__sim *sim, uint32_t message);
void mrd__sim_on_credit(mrd__sim *sim, uint32_t packet);

/* ---- chip.c ---- */
void mrd__sim_chips_init(mrd__sim *sim);
void mrd__sim_chips_reset(mrd__sim *sim);
void mrd__sim_on_start(mrd__sim *sim, uint32_t chip);
void mrd__sim_on_copied(mrd__sim *sim, uint32_t chip);
void mrd__sim_on_left(mrd__sim *sim, uint32_t message);
void mrd__sim_on_reduced(mrd__sim *sim, uint32_t message);
void mrd__sim_granted(mrd__sim *sim, uint32_t from, uint32_t to, uint32_t steps);
void mrd__sim_received(mrd__sim *sim, uint32_t message); /* all bytes are in */
void mrd__sim_sent(mrd__sim *sim, uint32_t message);     /* done: all is acknowledged */

/* ---- trace.c ---- */
void mrd__sim_trace_init(mrd__sim *sim);
/* bytes: on the wire. */
void mrd__sim_trace_link(mrd__sim *sim, uint32_t channel, const mrd__sim_packet *packet,
                         uint64_t bytes, uint64_t took, uint64_t end);
void mrd__sim_trace_idle(mrd__sim *sim, uint32_t channel);
void mrd__sim_trace_unit(mrd__sim *sim, uint32_t unit, uint64_t command);
void mrd__sim_trace_thread(mrd__sim *sim, uint32_t thread, bool blocked, const char *cause);
void mrd__sim_trace_hop(mrd__sim *sim, uint32_t channel, const mrd__sim_packet *packet,
                        uint64_t complete);
void mrd__sim_on_hop(mrd__sim *sim, uint32_t note);
/* Commands; only while sim->commanding. Ids: 4 * n + kind, a send's is its message's. */
void mrd__sim_trace_send(mrd__sim *sim, const mrd__sim_message *message);
void mrd__sim_trace_receive(mrd__sim *sim, const mrd__sim_message *message);
void mrd__sim_trace_reduce(mrd__sim *sim, const mrd__sim_message *message, uint64_t start,
                           uint64_t end);
void mrd__sim_trace_copy(mrd__sim *sim, uint32_t chip, uint64_t bytes, uint64_t end);
void mrd__sim_trace_fence(mrd__sim *sim, uint32_t thread);
void mrd__sim_trace_end(mrd__sim *sim); /* the rest leaves */
void mrd__sim_trace_reset(mrd__sim *sim);

/* ---- shadow.c ---- */
void mrd__sim_shadow_init(mrd__sim *sim);
void mrd__sim_shadow_take(mrd__sim *sim, mrd__sim_message *message); /* at the sender */
void mrd__sim_shadow_put(mrd__sim *sim, mrd__sim_message *message);  /* at the receiver */
void mrd__sim_shadow_check(mrd__sim *sim);
void mrd__sim_shadow_reset(mrd__sim *sim);

/* ---- stuck.c, outcome.c ---- */
void mrd__sim_stuck(mrd__sim *sim); /* fails the run: who waits for whom */
void mrd__sim_outcome(mrd__sim *sim);
void mrd__sim_straggler_reason(mrd__sim *sim, uint32_t slowest);
/* "link_c0_c1_req" and so on. */
void mrd__sim_channel_name(const mrd__sim *sim, uint32_t channel, mrd__buf *out);

/* ---- run.c ---- */
/* Note the first failure; the loop ends. */
#define mrd__sim_failed(sim, ...)                                                                  \
    ((sim)->status == MRD_OK ? (void)((sim)->status = mrd__fail((sim)->error, __VA_ARGS__))        \
                             : (void)0)
uint32_t mrd__sim_message_new(mrd__sim *sim);
void mrd__sim_message_free(mrd__sim *sim, uint32_t message);
/* Lines: link entries are found through the pools. */
void mrd__sim_line_add(mrd__sim *sim, mrd__sim_line *line, uint32_t item);
uint32_t mrd__sim_line_take(mrd__sim *sim, mrd__sim_line *line); /* not empty */

#endif
