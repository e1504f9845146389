/* Clocks of packets and snapshots. Values stay ticks here: the sealing knows all snapshots. */
#include "ingest/perfetto/state.h"

enum {
    FIRST_SEQUENCE_CLOCK = 64,
    LAST_SEQUENCE_CLOCK = 127,
    BOOTTIME = 6,
    MAX_CLOCKS = 64, /* of one snapshot; real ones have ten */
};

uint32_t mrd__pf_trace_clock(const mrd__pf *pf)
{
    return pf->primary_clock != 0 ? pf->primary_clock : BOOTTIME;
}

static bool of_sequence(uint32_t id)
{
    return id >= FIRST_SEQUENCE_CLOCK && id <= LAST_SEQUENCE_CLOCK;
}

mrd__file_clock mrd__pf_clock(const mrd__pf_packet *packet, uint32_t id)
{
    return (mrd__file_clock){.machine = packet->machine,
                             .sequence = of_sequence(id) ? packet->sequence_id : 0,
                             .id = id};
}

uint32_t mrd__pf_primary(mrd__str message)
{
    uint32_t primary = 0;
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);)
        if (f.key == PB_VARINT(SNAPSHOT_PRIMARY)) primary = (uint32_t)f.value;
    return primary;
}

typedef struct clock_value {
    uint64_t id, unit;
    int64_t ticks;
    bool incremental;
} clock_value;

static clock_value read_clock(mrd__str message)
{
    clock_value value = {.unit = 1};
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        if (f.key == PB_VARINT(CLOCK_ID)) value.id = f.value;
        if (f.key == PB_VARINT(CLOCK_TIMESTAMP)) value.ticks = mrd__pb_int(f.value);
        if (f.key == PB_VARINT(CLOCK_INCREMENTAL)) value.incremental = f.value != 0;
        if (f.key == PB_VARINT(CLOCK_MULTIPLIER) && f.value != 0) value.unit = f.value;
    }
    return value;
}

/* What is wrong with a clock of a snapshot, or NULL. */
static const char *fault_of(const clock_value *value, const mrd__pf_packet *packet,
                            const mrd__clock_reading *before, size_t count)
{
    if (value->id == 0 || value->id > UINT32_MAX) return "clock without id";
    if (value->unit > INT64_MAX) return "unit of a clock";
    bool own = of_sequence((uint32_t)value->id);
    if (own && packet->sequence_id == 0) return "sequence clock without sequence";
    if (value->incremental && !own) return "incremental clock that is no sequence's";
    for (size_t i = 0; i < count; i++)
        if (before[i].clock.id == value->id) return "clock stands twice";
    return count == MAX_CLOCKS ? "more clocks than allowed" : NULL;
}

static void keep_tick(mrd__pf_sequence *sequence, uint32_t id, int64_t ticks)
{
    uint32_t *index = mrd__pf_map_at(&sequence->interned, MRD__PF_LAST_TICK, 0, id);
    if (*index == 0) {
        mrd__vec_push(&sequence->ticks, ticks);
        *index = (uint32_t)sequence->ticks.count;
    }
    sequence->ticks.data[*index - 1] = ticks;
}

void mrd__pf_snapshot(mrd__pf *pf, const mrd__pf_packet *packet, mrd__str message)
{
    mrd__clock_reading readings[MAX_CLOCKS];
    size_t count = 0;
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        if (f.key != PB_BYTES(SNAPSHOT_CLOCKS)) continue;
        clock_value value = read_clock(f.bytes);
        const char *fault = fault_of(&value, packet, readings, count);
        if (fault != NULL) {
            mrd__pf_loss(pf, MRD__LOSS_BAD_SNAPSHOT, fault);
            return;
        }
        if (value.incremental) keep_tick(packet->sequence, (uint32_t)value.id, value.ticks);
        readings[count++] = (mrd__clock_reading){mrd__pf_clock(packet, (uint32_t)value.id),
                                                 value.ticks, (int64_t)value.unit};
    }
    if (at.bad) mrd__pf_loss(pf, MRD__LOSS_BAD_PACKET, "clock snapshot");
    mrd__shard_snapshot(pf->shard, readings, count);
}

int64_t mrd__pf_packet_time(mrd__pf *pf, const mrd__pf_packet *packet)
{
    uint32_t id = packet->clock_id;
    mrd__pf_sequence *sequence = packet->sequence;
    if (!packet->has_clock && sequence != NULL && sequence->has_clock) id = sequence->clock_id;
    if (id == 0) id = mrd__pf_trace_clock(pf);
    mrd__shard_clock(pf->shard, mrd__pf_clock(packet, id));
    uint32_t index =
        sequence == NULL ? 0 : mrd__pf_map_find(&sequence->interned, MRD__PF_LAST_TICK, 0, id);
    if (index == 0) return packet->timestamp;
    int64_t *last = &sequence->ticks.data[index - 1];
    *last = (int64_t)((uint64_t)*last + (uint64_t)packet->timestamp);
    return *last;
}
