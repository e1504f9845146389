/* Mode ideal: whole messages, no contention but for the chips' own ports. A message takes the
 * latencies of its route plus its bytes at the slowest link; the first link of its route is the
 * port it leaves by, the last one the port it comes in by. */
#include "sim/kernel.h"

static uint64_t bytes_ps(const mrd__sim *sim, const mrd__sim_message *m, double gb_per_s)
{
    return mrd__sim_ps((double)(m->size + (uint64_t)sim->spec->message_header_bytes) / gb_per_s);
}

/* Occupy a port for `took` from now on or when it is free; returns the end. */
static uint64_t occupy(mrd__sim *sim, uint32_t link, uint64_t took)
{
    uint64_t *busy = &sim->links.busy_until[2 * link];
    *busy = (*busy > sim->now ? *busy : sim->now) + took;
    return *busy;
}

void mrd__sim_ideal_send(mrd__sim *sim, uint32_t message)
{
    mrd__sim_message *m = &sim->messages.data[message];
    mrd__sim_route route = mrd__sim_route_of(&sim->topology, m->src, m->dst, sim->switch_ps);
    uint64_t took = bytes_ps(sim, m, route.bandwidth), end = occupy(sim, route.first, took);
    mrd__sim_links *k = &sim->links;
    m->left = took;
    m->out = true;
    k->bytes[2 * route.first] += m->size;
    k->packets[2 * route.first]++;
    k->busy[2 * route.first] += took;
    uint64_t waited = end - took - sim->now;
    if (waited > k->max_queue[2 * route.first]) k->max_queue[2 * route.first] = waited;
    sim->packets_made++;
    mrd__sim_schedule(sim, end, MRD__SIM_EV_LEFT, message);
    mrd__sim_schedule(sim, end - took + route.latency_ps, MRD__SIM_EV_HEAD, message);
}

void mrd__sim_on_head(mrd__sim *sim, uint32_t message)
{
    mrd__sim_message *m = &sim->messages.data[message];
    mrd__sim_route route = mrd__sim_route_of(&sim->topology, m->src, m->dst, sim->switch_ps);
    /* Where one link is the whole route it is out port and in port at once. */
    uint64_t end = route.hops > 1 ? occupy(sim, route.last, m->left) : sim->now + m->left;
    mrd__sim_schedule(sim, end, MRD__SIM_EV_IN, message);
}

void mrd__sim_on_in(mrd__sim *sim, uint32_t message)
{
    mrd__sim_received(sim, message);
}

void mrd__sim_ideal_grant(mrd__sim *sim, uint32_t from, uint32_t to, uint32_t steps)
{
    mrd__sim_route route = mrd__sim_route_of(&sim->topology, from, to, sim->switch_ps);
    uint32_t index = mrd__sim_packet_new(sim);
    sim->packets.data[index].src = from;
    sim->packets.data[index].dst = to;
    sim->packets.data[index].bytes = steps;
    mrd__sim_schedule(sim, sim->now + route.latency_ps, MRD__SIM_EV_CREDIT, index);
}
