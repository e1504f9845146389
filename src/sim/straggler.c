/* Why the slowest chip is slow: the quantity in which it exceeds the median chip most. */
#include "sim/kernel.h"

#include "base/assert.h"

#include <stdlib.h>

enum {
    START,
    BLOCKED,
    WINDOW,
    REDUCING,
    COPYING,
    PORT,
    CAUSES
};

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* busy[chip]: of the chip's busiest link, either way; link[chip]: that channel. */
static void ports(const mrd__sim *sim, uint64_t *busy, uint32_t *link)
{
    for (uint32_t l = 0; l < sim->topology.links; l++) {
        const uint32_t ends[] = {sim->topology.from[l], sim->topology.to[l]};
        for (int i = 0; i < 2; i++) {
            if (ends[i] >= sim->n || sim->links.busy[2 * l] <= busy[ends[i]]) continue;
            busy[ends[i]] = sim->links.busy[2 * l];
            link[ends[i]] = 2 * l;
        }
    }
}

static uint64_t value_of(const mrd__sim *sim, uint32_t c, int cause, const uint64_t *port)
{
    const mrd__sim_chip *chip = &sim->chip[c];
    uint64_t full = 0;
    switch (cause) {
    case START:
        return chip->first_cmd;
    case BLOCKED:
        return chip->blocked;
    case WINDOW:
        for (uint32_t j = 0; j < sim->units; j++)
            full += sim->unit[c * sim->units + j].full;
        return full;
    case REDUCING:
        return chip->tiu_busy;
    case COPYING:
        return chip->sdma_busy;
    default:
        return port[c];
    }
}

static void tell(const mrd__sim *sim, int cause, uint64_t value, uint64_t middle, uint32_t channel)
{
    static const char *const texts[CAUSES] = {
        "starts",
        "waits for transfer credits and fences",
        "has its outstanding window full",
        "reduces",
        "copies on chip",
        "is busy on its link ",
    };
    mrd__buf text = {0};
    mrd__buf_text(&text, texts[cause]);
    if (cause == PORT) mrd__sim_channel_name(sim, channel, &text);
    mrd__buf_text(&text, cause == START ? " at " : " for ");
    mrd__buf_double(&text, (double)value / 1000.0);
    mrd__buf_text(&text, " ns; median chip ");
    mrd__buf_double(&text, (double)middle / 1000.0);
    char *out = sim->result->straggler_reason;
    size_t size = sizeof sim->result->straggler_reason;
    size_t take = text.size < size ? text.size : size - 1;
    for (size_t i = 0; i < take; i++)
        out[i] = text.data[i];
    out[take] = '\0';
    mrd__buf_reset(&text);
}

void mrd__sim_straggler_reason(mrd__sim *sim, uint32_t slowest)
{
    uint64_t *port = mrd__new_array(uint64_t, sim->n), *all = mrd__new_array(uint64_t, sim->n);
    uint32_t *link = mrd__new_array(uint32_t, sim->n);
    uint64_t most = 0, value = 0, middle = 0;
    int best = -1;
    ports(sim, port, link);
    for (int cause = 0; cause < CAUSES; cause++) {
        for (uint32_t c = 0; c < sim->n; c++)
            all[c] = value_of(sim, c, cause, port);
        uint64_t own = all[slowest];
        qsort(all, sim->n, sizeof *all, by_size);
        uint64_t of_all = all[sim->n / 2];
        if (own <= of_all || own - of_all <= most) continue;
        most = own - of_all;
        best = cause;
        value = own;
        middle = of_all;
    }
    if (best >= 0) tell(sim, best, value, middle, link[slowest]);
    mrd__free(port);
    mrd__free(all);
    mrd__free(link);
}
