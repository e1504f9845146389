/* No event is left while work is: who waits for whom. First the buffers (a link waits for the link
 * that holds the buffers behind it), then the chips (a chip waits for the chip whose message it
 * lacks). */
#include "sim/kernel.h"

#include "base/error.h"

/* A full link's far buffers are held by packets that wait for another link: which one. */
static uint32_t waits_for(mrd__sim *sim, uint32_t channel)
{
    for (uint32_t other = channel % 2; other < 2 * sim->topology.links; other += 2) {
        if (sim->topology.from[other / 2] != sim->topology.to[channel / 2]) continue;
        const mrd__sim_line *lines[2] = {&sim->links.through[other], &sim->links.enter[other]};
        for (int i = 0; i < 2; i++)
            for (uint32_t item = lines[i]->head; item != MRD__SIM_NONE;) {
                bool token = (item & MRD__SIM_TOKEN) != 0;
                if (!token && sim->packets.data[item].channel == channel) return other;
                item = token ? sim->messages.data[item & ~MRD__SIM_TOKEN].next
                             : sim->packets.data[item].next;
            }
    }
    return MRD__SIM_NONE;
}

static bool has_queue(const mrd__sim *sim, uint32_t channel)
{
    return sim->links.through[channel].head != MRD__SIM_NONE ||
           sim->links.enter[channel].head != MRD__SIM_NONE;
}

/* Walk waits_for from each stuck channel; true when a circle was found and told. */
static bool tell_links(mrd__sim *sim)
{
    uint32_t channels = 2 * sim->topology.links;
    uint32_t *seen = mrd__calloc(channels, sizeof *seen);
    bool found = false;
    for (uint32_t start = 0; start < channels && !found; start++) {
        uint32_t at = start;
        if (!has_queue(sim, start)) continue;
        while (at != MRD__SIM_NONE && seen[at] != start + 1) {
            seen[at] = start + 1;
            at = waits_for(sim, at);
        }
        if (at == MRD__SIM_NONE) continue;
        mrd__buf text = {0};
        uint32_t first = at;
        do {
            mrd__sim_channel_name(sim, at, &text);
            mrd__buf_text(&text, " waits for ");
            at = waits_for(sim, at);
        } while (at != first && text.size < 700);
        mrd__sim_channel_name(sim, at, &text);
        mrd__sim_failed(sim, MRD_ERR_STATE, "deadlock", "deadlock at %.3f ns: %s%s",
                        (double)sim->now / 1000.0, text.data, at == first ? "" : " and so on");
        mrd__buf_reset(&text);
        found = true;
    }
    mrd__free(seen);
    return found;
}

/* The first chip whose message this one still lacks in its step; itself when none is known. */
static uint32_t lacks(mrd__sim *sim, uint32_t c)
{
    const mrd__sim_chip *chip = &sim->chip[c];
    if (chip->step >= sim->program->steps) return c;
    sim->scratch.count = 0;
    sim->program->ops(sim->program, c, chip->step, &sim->scratch);
    for (size_t i = 0; i < sim->scratch.count; i++) {
        uint32_t peer = sim->scratch.data[i].peer;
        if (!sim->scratch.data[i].is_send && sim->chip[peer].step <= chip->step &&
            sim->chip[peer].state != MRD__SIM_CHIP_DONE)
            return peer;
    }
    for (size_t i = 0; i < sim->scratch.count; i++)
        if (!sim->scratch.data[i].is_send) return sim->scratch.data[i].peer;
    return c;
}

void mrd__sim_stuck(mrd__sim *sim)
{
    if (tell_links(sim)) return;
    mrd__buf text = {0};
    uint32_t c = 0, hops = 0;
    while (c + 1 < sim->n && sim->chip[c].state == MRD__SIM_CHIP_DONE)
        c++;
    uint8_t *seen = mrd__calloc(sim->n, 1);
    for (; !seen[c] && hops < 12 && sim->chip[c].state != MRD__SIM_CHIP_DONE; hops++) {
        seen[c] = 1;
        mrd__buf_printf(&text, "c%u (step %u) waits for ", c, sim->chip[c].step);
        c = lacks(sim, c);
    }
    mrd__buf_printf(&text, "c%u%s", c,
                    sim->chip[c].state == MRD__SIM_CHIP_DONE ? ", which has nothing left to send"
                                                             : "");
    mrd__sim_failed(sim, MRD_ERR_STATE, "deadlock", "deadlock at %.3f ns, %u chips left: %s",
                    (double)sim->now / 1000.0, sim->unfinished, text.data);
    mrd__free(seen);
    mrd__buf_reset(&text);
}
