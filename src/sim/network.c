/* Packets on links. A channel sends one packet at a time; a packet leaves only with a credit for
 * the buffer behind the link, and holds that buffer until it has left on the next link or ended.
 * Credits come back after the latency of the way back and take no bandwidth; they are counted when
 * somebody needs one, so that they cost no event. */
#include "sim/kernel.h"

#include "base/assert.h"

#include <math.h>
#include <string.h>

void mrd__sim_links_init(mrd__sim *sim)
{
    mrd__sim_links *k = &sim->links;
    size_t links = sim->topology.links, n = 2 * links;
    k->busy_until = mrd__calloc(n, sizeof *k->busy_until);
    k->wake_at = mrd__alloc(n * sizeof *k->wake_at);
    memset(k->wake_at, 0xff, n * sizeof *k->wake_at);
    k->through = mrd__alloc(n * sizeof *k->through);
    memset(k->through, 0xff, n * sizeof *k->through);
    k->enter = mrd__alloc(n * sizeof *k->enter);
    memset(k->enter, 0xff, n * sizeof *k->enter);
    k->credits = mrd__alloc(n * sizeof *k->credits);
    for (size_t i = 0; i < n; i++)
        k->credits[i] = (uint32_t)sim->spec->credits;
    k->starved = mrd__calloc(n, sizeof *k->starved);
    k->returns = mrd__calloc(n, sizeof *k->returns);
    k->bytes = mrd__calloc(n, sizeof *k->bytes);
    k->packets = mrd__calloc(n, sizeof *k->packets);
    k->busy = mrd__calloc(n, sizeof *k->busy);
    k->max_queue = mrd__calloc(n, sizeof *k->max_queue);
    k->cached_bytes = mrd__calloc(n, sizeof *k->cached_bytes);
    k->cached_ps = mrd__calloc(n, sizeof *k->cached_ps);
}

void mrd__sim_links_reset(mrd__sim *sim)
{
    mrd__sim_links *k = &sim->links;
    if (k->returns)
        for (size_t i = 0; i < 2 * (size_t)sim->topology.links; i++)
            mrd__free(k->returns[i].times);
    mrd__free(k->busy_until);
    mrd__free(k->wake_at);
    mrd__free(k->through);
    mrd__free(k->enter);
    mrd__free(k->credits);
    mrd__free(k->starved);
    mrd__free(k->returns);
    mrd__free(k->bytes);
    mrd__free(k->packets);
    mrd__free(k->busy);
    mrd__free(k->max_queue);
    mrd__free(k->cached_bytes);
    mrd__free(k->cached_ps);
    mrd__free(k->end);
    mrd__free(k->period_bytes);
    mrd__free(k->period_packets);
    mrd__free(k->period_busy);
    mrd__free(k->open);
    *k = (mrd__sim_links){0};
}

uint32_t mrd__sim_packet_new(mrd__sim *sim)
{
    sim->live_packets++;
    uint32_t index = sim->free_packet;
    if (index != MRD__SIM_NONE) {
        sim->free_packet = sim->packets.data[index].next;
    } else {
        index = (uint32_t)sim->packets.count;
        if (index == MRD__SIM_MAX_PACKETS)
            mrd__sim_failed(sim, MRD_ERR_LIMIT, "too_many_packets",
                            "more than %u packets under way, the most allowed: larger "
                            "link.packet_bytes or smaller cdma.max_outstanding",
                            MRD__SIM_MAX_PACKETS);
        mrd__assert(index < 1u << MRD__SIM_INDEX_BITS);
        mrd__vec_reserve(&sim->packets, sim->packets.count + 1);
        sim->packets.count++;
    }
    sim->packets.data[index].next = MRD__SIM_NONE;
    return index;
}

static void packet_free(mrd__sim *sim, uint32_t index)
{
    sim->packets.data[index].next = sim->free_packet;
    sim->free_packet = index;
    sim->live_packets--;
}

static uint32_t wire_of(const mrd__sim *sim, uint32_t channel)
{
    return sim->shared ? channel / 2 : channel;
}

/* Time of so many bytes on a link, rounded half up once a packet. */
static uint64_t serialization(mrd__sim *sim, uint32_t channel, uint64_t bytes)
{
    mrd__sim_links *k = &sim->links;
    if (bytes == 0) return 0;
    if (bytes == k->cached_bytes[channel]) return k->cached_ps[channel];
    double ns = (double)bytes / sim->topology.bandwidth[channel / 2];
    k->cached_bytes[channel] = bytes;
    k->cached_ps[channel] = mrd__sim_ps(ns);
    return k->cached_ps[channel];
}

static void wake(mrd__sim *sim, uint32_t wire, uint64_t time)
{
    if (sim->links.wake_at[wire] <= time) return;
    sim->links.wake_at[wire] = time;
    mrd__sim_schedule(sim, time, MRD__SIM_EV_WIRE, wire);
}

/* ---- Credits ---- */

static void credit_return(mrd__sim *sim, uint32_t channel, uint64_t time)
{
    mrd__sim_returns *r = &sim->links.returns[channel];
    if (r->count == r->capacity) {
        uint32_t capacity = r->capacity ? 2 * r->capacity : 8;
        uint64_t *times = mrd__alloc(capacity * sizeof *times);
        for (uint32_t i = 0; i < r->count; i++)
            times[i] = r->times[(r->first + i) & (r->capacity - 1)];
        mrd__free(r->times);
        *r = (mrd__sim_returns){times, 0, r->count, capacity};
    }
    uint32_t mask = r->capacity - 1, at = r->count++;
    while (at > 0 && r->times[(r->first + at - 1) & mask] > time) {
        r->times[(r->first + at) & mask] = r->times[(r->first + at - 1) & mask];
        at--;
    }
    r->times[(r->first + at) & mask] = time;
    if (sim->links.starved[channel]) wake(sim, wire_of(sim, channel), time);
}

static void collect_credits(mrd__sim *sim, uint32_t channel)
{
    mrd__sim_returns *r = &sim->links.returns[channel];
    while (r->count && r->times[r->first] <= sim->now) {
        r->first = (r->first + 1) & (r->capacity - 1);
        r->count--;
        sim->links.credits[channel]++;
    }
}

/* The buffer behind `channel` is free from `time` on. */
static void release(mrd__sim *sim, uint32_t channel, uint64_t time)
{
    if (channel == MRD__SIM_NONE) return;
    const mrd__sim_topology *t = &sim->topology;
    uint32_t link = channel / 2, back = t->reverse[link];
    credit_return(sim, channel, time + t->latency[back == MRD__SIM_NONE ? link : back]);
}

/* ---- Queues ---- */

/* How many buffers must be free for a packet that came by `in` to leave by `link`. */
static bool goes_through(const mrd__sim *sim, uint32_t in, uint32_t link)
{
    const mrd__sim_topology *t = &sim->topology;
    if (t->group[link] == 0 || sim->spec->deadlock_avoidance == MRD__SIM_NO_AVOIDANCE) return true;
    return in != MRD__SIM_NONE && t->feeds[in / 2] == t->group[link];
}

static void pump(mrd__sim *sim, uint32_t wire);

static void enqueue(mrd__sim *sim, uint32_t channel, uint32_t item, uint32_t in)
{
    bool through = goes_through(sim, in, channel / 2);
    mrd__sim_line *line = through ? &sim->links.through[channel] : &sim->links.enter[channel];
    if (item & MRD__SIM_TOKEN) {
        mrd__sim_message *m = &sim->messages.data[item & ~MRD__SIM_TOKEN];
        m->order = sim->orders++;
        m->ready = sim->now;
    } else {
        sim->packets.data[item].order = sim->orders++;
        sim->packets.data[item].ready = sim->now;
    }
    mrd__sim_line_add(sim, line, item);
}

static uint64_t order_of(const mrd__sim *sim, uint32_t item)
{
    if (item & MRD__SIM_TOKEN) return sim->messages.data[item & ~MRD__SIM_TOKEN].order;
    return sim->packets.data[item].order;
}

/* The line whose head may leave now, by age; NULL: none, and a wake-up is set where one can be. */
static mrd__sim_line *pick(mrd__sim *sim, uint32_t channel)
{
    mrd__sim_links *k = &sim->links;
    mrd__sim_line *through = &k->through[channel], *enter = &k->enter[channel];
    bool t = through->head != MRD__SIM_NONE, e = enter->head != MRD__SIM_NONE;
    if (!t && !e) return NULL;
    collect_credits(sim, channel);
    uint32_t credits = k->credits[channel];
    bool older = t && e && order_of(sim, enter->head) < order_of(sim, through->head);
    if (e && credits >= 2 && (!t || older)) return enter;
    if (t && credits >= 1) return through;
    k->starved[channel] = true;
    const mrd__sim_returns *r = &k->returns[channel];
    if (r->count) wake(sim, wire_of(sim, channel), r->times[r->first]);
    return NULL;
}

/* ---- Sending ---- */

static void put_on_wire(mrd__sim *sim, uint32_t channel, uint32_t index)
{
    mrd__sim_links *k = &sim->links;
    mrd__sim_packet *p = &sim->packets.data[index];
    uint32_t link = channel / 2, wire = wire_of(sim, channel);
    uint64_t bytes = p->kind == MRD__SIM_DATA ? p->bytes + (uint64_t)sim->spec->header_bytes
                                              : (uint64_t)sim->spec->ack_bytes;
    if (p->kind == MRD__SIM_DATA && p->spoiled == false && sim->topology.error_rate[link] > 0)
        p->spoiled = mrd__rng_unit(&sim->rng) < sim->topology.error_rate[link];
    uint64_t took = serialization(sim, channel, bytes), end = sim->now + took;
    uint64_t wait = sim->now - p->ready;
    if (sim->cut_through && p->tail > end) end = p->tail; /* no faster than it comes in */
    k->starved[channel] = false;
    k->credits[channel]--;
    k->busy_until[wire] = end;
    k->busy[channel] += end - sim->now;
    k->bytes[channel] += bytes;
    k->packets[channel]++;
    if (wait > k->max_queue[channel]) k->max_queue[channel] = wait;
    release(sim, p->channel, end);
    p->channel = channel;
    p->hop++;
    bool waited = sim->latency_first && p->kind == MRD__SIM_DATA;
    uint64_t latency = waited ? 0 : sim->topology.latency[link];
    p->tail = end + latency;
    if (MRD_SIM_TRACE && sim->categories) {
        mrd__sim_trace_link(sim, channel, p, bytes, took, end);
        mrd__sim_trace_hop(sim, channel, p, p->tail);
    }
    uint64_t there = p->tail;
    if (sim->topology.to[link] != p->dst) {
        if (sim->cut_through)
            there =
                sim->now + latency + serialization(sim, channel, (uint64_t)sim->spec->header_bytes);
        if (!waited) there += sim->switch_ps;
    }
    mrd__sim_schedule(sim, there, MRD__SIM_EV_ARRIVE, index);
}

/* Full window: the message waits at its unit. */
static bool window_open(mrd__sim *sim, uint32_t message)
{
    mrd__sim_message *m = &sim->messages.data[message];
    mrd__sim_unit *u = &sim->unit[m->thread / sim->threads];
    if (u->outstanding < (uint32_t)sim->spec->max_outstanding) return true;
    u->blocked_count += !u->blocked;
    u->blocked = true;
    mrd__sim_line_add(sim, &u->waiting, message | MRD__SIM_TOKEN);
    return false;
}

/* A unit's count changed; out of the way of runs that nobody observes. */
static void __attribute__((noinline, cold)) tell_unit(mrd__sim *sim, uint32_t message)
{
    const mrd__sim_message *m = &sim->messages.data[message];
    mrd__sim_trace_unit(sim, m->thread / sim->threads, m->id);
}

static void outstanding(mrd__sim *sim, uint32_t unit, int change)
{
    mrd__sim_unit *u = &sim->unit[unit];
    uint32_t full = (uint32_t)sim->spec->max_outstanding;
    u->area += (__uint128_t)u->outstanding * (sim->now - u->changed);
    u->changed = sim->now;
    if (u->outstanding == full) u->full += sim->now - u->full_since;
    u->outstanding = (uint32_t)((int)u->outstanding + change);
    if (u->outstanding == full) u->full_since = sim->now;
}

static uint32_t first_channel(const mrd__sim *sim, uint32_t src, uint32_t dst, uint32_t vc)
{
    return 2 * sim->route[(size_t)src * sim->n + dst] + vc;
}

/* Make the next packet of a message and send it. */
static void send_piece(mrd__sim *sim, uint32_t channel, uint32_t message)
{
    uint32_t index = mrd__sim_packet_new(sim);
    mrd__sim_message *m = &sim->messages.data[message];
    uint64_t whole = m->size + (uint64_t)sim->spec->message_header_bytes, rest = whole - m->sent;
    uint64_t most = sim->spec->packet_bytes ? (uint64_t)sim->spec->packet_bytes : UINT64_MAX;
    uint64_t bytes = rest < most ? rest : most;
    sim->packets.data[index] = (mrd__sim_packet){.id = sim->packets_made++,
                                                 .ready = m->ready,
                                                 .issue = sim->now,
                                                 .next = MRD__SIM_NONE,
                                                 .src = m->src,
                                                 .dst = m->dst,
                                                 .message = message,
                                                 .bytes = bytes,
                                                 .channel = MRD__SIM_NONE,
                                                 .kind = MRD__SIM_DATA};
    m->sent += bytes;
    m->unacked++;
    outstanding(sim, m->thread / sim->threads, 1);
    if (MRD_SIM_TRACE && __builtin_expect(sim->categories, 0)) tell_unit(sim, message);
    put_on_wire(sim, channel, index);
    if (m->sent < whole) {
        enqueue(sim, channel, message | MRD__SIM_TOKEN, MRD__SIM_NONE);
        return;
    }
    m->out = true;
    mrd__sim_schedule(sim, sim->links.busy_until[wire_of(sim, channel)], MRD__SIM_EV_LEFT, message);
    uint32_t *active = &sim->active[(size_t)m->src * sim->n + m->dst];
    if (*active == message + 1) *active = 0;
    if (m->behind != MRD__SIM_NONE)
        enqueue(sim, channel, m->behind | MRD__SIM_TOKEN, MRD__SIM_NONE);
}

/* One packet of this channel onto its free wire; false: none may leave. */
static bool send_one(mrd__sim *sim, uint32_t channel)
{
    for (;;) {
        mrd__sim_line *line = pick(sim, channel);
        if (!line) return false;
        uint32_t item = mrd__sim_line_take(sim, line);
        if (!(item & MRD__SIM_TOKEN)) {
            put_on_wire(sim, channel, item);
            return true;
        }
        if (!window_open(sim, item & ~MRD__SIM_TOKEN)) continue;
        send_piece(sim, channel, item & ~MRD__SIM_TOKEN);
        return true;
    }
}

static bool waits(const mrd__sim *sim, uint32_t channel)
{
    return sim->links.through[channel].head != MRD__SIM_NONE ||
           sim->links.enter[channel].head != MRD__SIM_NONE;
}

static void pump(mrd__sim *sim, uint32_t wire)
{
    uint64_t *busy = &sim->links.busy_until[wire];
    uint32_t req = sim->shared ? 2 * wire : wire;
    while (*busy <= sim->now) {
        bool went = sim->shared && send_one(sim, req + MRD__SIM_RSP);
        if (!went && !send_one(sim, req)) return;
    }
    if (waits(sim, req) || (sim->shared && waits(sim, req + 1))) wake(sim, wire, *busy);
}

void mrd__sim_on_wire(mrd__sim *sim, uint32_t wire)
{
    if (sim->links.wake_at[wire] != sim->now) return; /* an earlier wake-up came first */
    sim->links.wake_at[wire] = UINT64_MAX;
    pump(sim, wire);
}

void mrd__sim_network_send(mrd__sim *sim, uint32_t message)
{
    mrd__sim_message *m = &sim->messages.data[message];
    uint32_t *active = &sim->active[(size_t)m->src * sim->n + m->dst];
    uint32_t before = *active;
    *active = message + 1;
    if (before) {
        sim->messages.data[before - 1].behind = message;
        return;
    }
    uint32_t channel = first_channel(sim, m->src, m->dst, MRD__SIM_REQ);
    enqueue(sim, channel, message | MRD__SIM_TOKEN, MRD__SIM_NONE);
    pump(sim, wire_of(sim, channel));
}

/* ---- Arriving ---- */

/* Send packet `index` (its fields are set but for these) from its source on. */
static void inject(mrd__sim *sim, uint32_t index, uint32_t vc)
{
    mrd__sim_packet *p = &sim->packets.data[index];
    uint32_t channel = first_channel(sim, p->src, p->dst, vc);
    p->channel = MRD__SIM_NONE;
    p->hop = 0;
    p->tail = 0;
    p->spoiled = false;
    enqueue(sim, channel, index, MRD__SIM_NONE);
    pump(sim, wire_of(sim, channel));
}

void mrd__sim_network_grant(mrd__sim *sim, uint32_t from, uint32_t to, uint32_t steps)
{
    uint32_t index = mrd__sim_packet_new(sim);
    sim->packets.data[index] = (mrd__sim_packet){.id = sim->packets_made++,
                                                 .next = MRD__SIM_NONE,
                                                 .src = from,
                                                 .dst = to,
                                                 .message = MRD__SIM_NONE,
                                                 .bytes = steps,
                                                 .kind = MRD__SIM_TCREDIT};
    inject(sim, index, MRD__SIM_RSP);
}

static void turn_back(mrd__sim *sim, uint32_t index, uint8_t kind, uint32_t vc)
{
    mrd__sim_packet *p = &sim->packets.data[index];
    uint32_t src = p->src;
    p->src = p->dst;
    p->dst = src;
    p->kind = kind;
    inject(sim, index, vc);
}

static void data_in(mrd__sim *sim, uint32_t index)
{
    mrd__sim_packet *p = &sim->packets.data[index];
    if (p->spoiled) {
        turn_back(sim, index, MRD__SIM_NAK, MRD__SIM_RSP);
        return;
    }
    uint32_t message = p->message;
    uint64_t left = sim->messages.data[message].left -= p->bytes;
    turn_back(sim, index, MRD__SIM_ACK, MRD__SIM_RSP);
    if (left == 0) mrd__sim_received(sim, message);
}

static void acknowledged(mrd__sim *sim, uint32_t index)
{
    mrd__sim_packet *p = &sim->packets.data[index];
    uint32_t message = p->message;
    mrd__sim_message *m = &sim->messages.data[message];
    uint32_t unit = m->thread / sim->threads;
    mrd__sim_unit *u = &sim->unit[unit];
    u->latency += sim->now - p->issue;
    outstanding(sim, unit, -1);
    if (MRD_SIM_TRACE && __builtin_expect(sim->categories, 0)) tell_unit(sim, message);
    packet_free(sim, index);
    m->unacked--;
    uint32_t room = (uint32_t)sim->spec->max_outstanding - u->outstanding;
    for (; u->waiting.head != MRD__SIM_NONE && room > 0; room--) {
        uint32_t token = mrd__sim_line_take(sim, &u->waiting);
        const mrd__sim_message *w = &sim->messages.data[token & ~MRD__SIM_TOKEN];
        uint32_t channel = first_channel(sim, w->src, w->dst, MRD__SIM_REQ);
        u->blocked = u->waiting.head != MRD__SIM_NONE;
        enqueue(sim, channel, token, MRD__SIM_NONE);
        pump(sim, wire_of(sim, channel));
    }
    if (m->out && m->unacked == 0) mrd__sim_sent(sim, message);
}

void mrd__sim_on_arrive(mrd__sim *sim, uint32_t index)
{
    mrd__sim_packet *p = &sim->packets.data[index];
    uint32_t node = sim->topology.to[p->channel / 2];
    if (node != p->dst) {
        uint32_t vc = p->kind == MRD__SIM_DATA ? MRD__SIM_REQ : MRD__SIM_RSP;
        uint32_t channel = first_channel(sim, node, p->dst, vc);
        enqueue(sim, channel, index, p->channel);
        pump(sim, wire_of(sim, channel));
        return;
    }
    release(sim, p->channel, sim->now);
    switch (p->kind) {
    case MRD__SIM_DATA:
        data_in(sim, index);
        break;
    case MRD__SIM_ACK:
        acknowledged(sim, index);
        break;
    case MRD__SIM_NAK:
        turn_back(sim, index, MRD__SIM_DATA, MRD__SIM_REQ);
        break;
    default: {
        uint32_t from = p->src, to = p->dst, steps = (uint32_t)p->bytes;
        packet_free(sim, index);
        mrd__sim_granted(sim, from, to, steps);
        break;
    }
    }
}

void mrd__sim_network_check(mrd__sim *sim)
{
    mrd__assert(sim->live_packets == 0);
    for (size_t i = 0; i < 2 * (size_t)sim->topology.links; i++)
        mrd__assert(sim->links.credits[i] + sim->links.returns[i].count ==
                    (uint64_t)sim->spec->credits);
    for (size_t i = 0; i < (size_t)sim->n * sim->units; i++) {
        mrd__assert(sim->unit[i].outstanding == 0);
        mrd__assert(sim->unit[i].area == sim->unit[i].latency);
    }
}
