/* Clocks of packets and snapshots. Values stay ticks here: the sealing knows all snapshots. */
#include "ingest/perfetto/state.h"

enum {
    FIRST_SEQUENCE_CLOCK = 64,
    LAST_SEQUENCE_CLOCK = 127,
    BOOTTIME = 6,
    MAX_CLOCKS = 64, /* of one snapshot; real ones have ten */
};
/* Pairs of readings further apart than this are of two rounds. */
#define ROUND_GAP_NS 30000000000

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

static uint32_t clock_of(const mrd__pf *pf, const mrd__pf_packet *packet)
{
    const mrd__pf_sequence *sequence = packet->sequence;
    uint32_t id = packet->clock_id;
    if (!packet->has_clock && sequence != NULL && sequence->has_clock) id = sequence->clock_id;
    return id != 0 ? id : mrd__pf_trace_clock(pf);
}

void mrd__pf_advance_clock(mrd__pf *pf, mrd__pf_packet *packet)
{
    mrd__pf_sequence *sequence = packet->sequence;
    if (!packet->has_timestamp || sequence == NULL) return;
    uint32_t id = clock_of(pf, packet);
    uint32_t index = mrd__pf_map_find(&sequence->interned, MRD__PF_LAST_TICK, 0, id);
    if (index == 0) return;
    int64_t *last = &sequence->ticks.data[index - 1];
    *last = (int64_t)((uint64_t)*last + (uint64_t)packet->timestamp);
    packet->timestamp = *last;
}

int64_t mrd__pf_packet_time(mrd__pf *pf, const mrd__pf_packet *packet)
{
    mrd__shard_clock(pf->shard, mrd__pf_clock(packet, clock_of(pf, packet)));
    return packet->timestamp;
}

/* ---- Clocks of other machines ---- */

/* A pair: both machines' clocks, read one right after the other. */
typedef struct synced {
    mrd__str client, host;
} synced;

typedef MRD__VEC(synced) synced_list;

/* What a snapshot says of a clock, in ns. */
static bool value_of(mrd__str snapshot, uint64_t id, int64_t *ns)
{
    mrd__pb at = mrd__pb_of(snapshot);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        if (f.key != PB_BYTES(SNAPSHOT_CLOCKS)) continue;
        clock_value value = read_clock(f.bytes);
        if (value.id != id || value.unit > INT64_MAX) continue;
        return !__builtin_mul_overflow(value.ticks, (int64_t)value.unit, ns);
    }
    return false;
}

static bool same_round(const synced *a, const synced *b)
{
    int64_t first;
    int64_t second;
    if (!value_of(a->client, BOOTTIME, &first) || !value_of(b->client, BOOTTIME, &second))
        return false;
    __int128 gap = (__int128)second - first;
    return gap < ROUND_GAP_NS && gap > -ROUND_GAP_NS;
}

/* client - host of a clock over a round: of neighbouring pairs, each machine's reading against the
 * middle of the other's two, so that the way between them counts for nothing; all averaged. */
static bool round_offset(const synced *pairs, size_t count, uint64_t id, int64_t *host,
                         int64_t *client)
{
    int64_t c1;
    int64_t h1;
    __int128 sum = 0;
    int terms = 0;
    if (!value_of(pairs[0].client, id, &c1) || !value_of(pairs[0].host, id, &h1)) return false;
    __int128 offset = (__int128)c1 - h1;
    *host = h1;
    for (size_t i = 1; i < count; i++) {
        int64_t c2;
        int64_t h2;
        if (!value_of(pairs[i].client, id, &c2) || !value_of(pairs[i].host, id, &h2)) return false;
        sum += ((__int128)c1 + c2) / 2 - h1;
        sum += (__int128)c2 - ((__int128)h1 + h2) / 2;
        terms += 2;
        c1 = c2;
        h1 = h2;
    }
    if (terms > 0) offset = sum / terms;
    __int128 reading = *host + offset;
    *client = (int64_t)reading;
    return reading >= INT64_MIN && reading <= INT64_MAX;
}

static void sync_round(mrd__pf *pf, const mrd__pf_packet *packet, const synced *pairs, size_t count)
{
    mrd__pb at = mrd__pb_of(pairs[0].client);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        if (f.key != PB_BYTES(SNAPSHOT_CLOCKS)) continue;
        uint64_t id = read_clock(f.bytes).id;
        int64_t host;
        int64_t client;
        if (id == 0 || id > UINT32_MAX || of_sequence((uint32_t)id)) continue;
        if (!round_offset(pairs, count, id, &host, &client)) continue;
        mrd__clock_reading readings[2] = {
            {{.id = (uint32_t)id}, host, 1},
            {{.machine = packet->machine, .id = (uint32_t)id}, client, 1}};
        mrd__shard_snapshot(pf->shard, readings, 2);
    }
}

void mrd__pf_remote_sync(mrd__pf *pf, const mrd__pf_packet *packet, mrd__str message)
{
    synced_list list = {0};
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        if (f.key != PB_BYTES(REMOTE_SYNCED)) continue;
        synced pair = {0};
        mrd__pb inside = mrd__pb_of(f.bytes);
        for (mrd__pb_field part; mrd__pb_next(&inside, &part);) {
            if (part.key == PB_BYTES(SYNCED_CLIENT)) pair.client = part.bytes;
            if (part.key == PB_BYTES(SYNCED_HOST)) pair.host = part.bytes;
        }
        if (pair.client.size > 0 && pair.host.size > 0) mrd__vec_push(&list, pair);
    }
    if (at.bad || packet->machine == 0 || list.count == 0) {
        mrd__pf_loss(pf, MRD__LOSS_BAD_SNAPSHOT, "clocks of another machine");
    } else {
        for (size_t from = 0, to; from < list.count; from = to) {
            for (to = from + 1; to < list.count; to++)
                if (!same_round(&list.data[to - 1], &list.data[to])) break;
            sync_round(pf, packet, list.data + from, to - from);
        }
    }
    mrd__vec_reset(&list);
}
