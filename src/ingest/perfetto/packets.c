/* Packets: the envelope of everything. */
#include "ingest/perfetto/state.h"

#include "base/alloc.h"

#include <string.h>

enum { /* sequence_flags */
    FLAG_CLEARED = 1,
    FLAG_NEEDS_STATE = 2,
};

/* What a packet holds; borrowed. */
typedef struct parts {
    mrd__str event, interned, defaults, descriptor, process, thread;
    mrd__str snapshot, tree, ftrace, stats, deflated, zstd, remote, system, extension;
    bool has_event, has_interned, has_defaults, has_stats;
    bool other; /* something that is not read */
} parts;

static bool take_number(mrd__pf_packet *packet, const mrd__pb_field *f)
{
    switch (f->key) {
    case PB_VARINT(PACKET_TIMESTAMP):
        packet->has_timestamp = true;
        packet->timestamp = mrd__pb_int(f->value);
        return true;
    case PB_VARINT(PACKET_SEQUENCE_ID):
        packet->sequence_id = (uint32_t)f->value;
        return true;
    case PB_VARINT(PACKET_SEQUENCE_FLAGS):
        if ((f->value & FLAG_CLEARED) != 0) packet->cleared = true;
        if ((f->value & FLAG_NEEDS_STATE) != 0) packet->needs_state = true;
        return true;
    case PB_VARINT(PACKET_STATE_CLEARED):
        if (f->value != 0) packet->cleared = true;
        return true;
    case PB_VARINT(PACKET_PREVIOUS_DROPPED):
        packet->dropped = (uint32_t)f->value;
        return true;
    case PB_VARINT(PACKET_CLOCK_ID):
        packet->has_clock = true;
        packet->clock_id = (uint32_t)f->value;
        return true;
    case PB_VARINT(PACKET_MACHINE_ID):
        packet->machine = (uint32_t)f->value;
        return true;
    default:
        return (f->key & 7) != 2;
    }
}

static void take_part(parts *p, const mrd__pb_field *f)
{
    switch (f->key >> 3) {
    case PACKET_TRACK_EVENT:
        p->event = f->bytes;
        p->has_event = true;
        break;
    case PACKET_INTERNED_DATA:
        p->interned = f->bytes;
        p->has_interned = true;
        break;
    case PACKET_DEFAULTS:
        p->defaults = f->bytes;
        p->has_defaults = true;
        break;
    case PACKET_TRACK_DESCRIPTOR:
        p->descriptor = f->bytes;
        break;
    case PACKET_PROCESS_DESCRIPTOR:
        p->process = f->bytes;
        break;
    case PACKET_THREAD_DESCRIPTOR:
        p->thread = f->bytes;
        break;
    case PACKET_CLOCK_SNAPSHOT:
        p->snapshot = f->bytes;
        break;
    case PACKET_PROCESS_TREE:
        p->tree = f->bytes;
        break;
    case PACKET_FTRACE_EVENTS:
        p->ftrace = f->bytes;
        break;
    case PACKET_SYS_STATS:
        p->stats = f->bytes;
        p->has_stats = true;
        break;
    case PACKET_DEFLATED:
        p->deflated = f->bytes;
        break;
    case PACKET_ZSTD:
        p->zstd = f->bytes;
        break;
    case PACKET_REMOTE_SYNC:
        p->remote = f->bytes;
        break;
    case PACKET_SYSTEM_INFO:
        p->system = f->bytes;
        break;
    case PACKET_EXTENSION_DESCRIPTOR:
        p->extension = f->bytes;
        break;
    case PACKET_TRACE_CONFIG: /* about the recording, not of it */
    case PACKET_TRACE_STATS:
    case PACKET_SYNC_MARKER:
    case PACKET_SERVICE_EVENT:
    case PACKET_TRACE_UUID:
        break;
    default:
        p->other = true;
        break;
    }
}

/* ---- Compressed packets ---- */

/* Compressed packets are packets themselves; all that can be inflated counts. */
static void inflate_packets(mrd__pf *pf, mrd__str packed, bool zstd, unsigned inside)
{
    if (inside >= MRD__PF_MAX_COMPRESSED) {
        if (!pf->describing) mrd__pf_loss(pf, MRD__LOSS_BAD_COMPRESSION, "nested too deep");
        return;
    }
    mrd__buf out = {0};
    bool whole = zstd ? mrd__pf_unzstd(packed, &out) : mrd__pf_inflate(packed, &out);
    if (!whole && !pf->describing) mrd__pf_loss(pf, MRD__LOSS_BAD_COMPRESSION, NULL);
    mrd__pf_packets(pf, (mrd__str){out.data, out.size}, pf->offset, inside + 1);
    mrd__buf_reset(&out);
}

/* ---- One packet ---- */

/* What the first walk takes: all that may stand behind what names it. */
static void describe(mrd__pf *pf, const mrd__pf_packet *packet, const parts *p)
{
    if (p->descriptor.size > 0) mrd__pf_describe_track(pf, packet, p->descriptor);
    if (p->process.size > 0) mrd__pf_describe_process(pf, packet, p->process);
    if (p->thread.size > 0) mrd__pf_describe_thread(pf, packet, p->thread);
    if (p->tree.size > 0) mrd__pf_process_tree(pf, packet, p->tree);
    if (p->extension.size > 0 && !mrd__pf_schema_add(&pf->schema, p->extension))
        mrd__pf_loss(pf, MRD__LOSS_BAD_PACKET, "extension descriptor");
    uint32_t primary = mrd__pf_primary(p->snapshot);
    if (primary != 0 && pf->primary_clock == 0) pf->primary_clock = primary;
}

/* Whether the packet's sequence can read it. */
static bool advance(mrd__pf *pf, mrd__pf_packet *packet)
{
    if (packet->sequence_id == 0) return true;
    bool known =
        mrd__pf_map_find(&pf->map, MRD__PF_SEQUENCE, packet->machine, packet->sequence_id) != 0;
    packet->sequence = mrd__pf_sequence_of(pf, packet->machine, packet->sequence_id);
    if (packet->dropped > 0) {
        /* The first packet of a sequence says so without any loss. */
        if (known) mrd__pf_loss(pf, MRD__LOSS_PACKET_LOSS, NULL);
        packet->sequence->valid = false;
    }
    if (packet->cleared) mrd__pf_clear(pf, packet->sequence);
    if (!packet->needs_state || packet->sequence->valid) return true;
    mrd__pf_loss(pf, MRD__LOSS_NEEDS_STATE, NULL);
    return false;
}

/* The thread that a descriptor on the sequence makes its default. */
static void sequence_thread(mrd__pf *pf, mrd__pf_sequence *sequence, const parts *p)
{
    if (p->thread.size > 0) mrd__pf_sequence_thread(pf, sequence, p->thread);
    mrd__pb at = mrd__pb_of(p->descriptor);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);)
        if (f.key == PB_BYTES(TRACK_THREAD)) mrd__pf_sequence_thread(pf, sequence, f.bytes);
}

static void take(mrd__pf *pf, mrd__pf_packet *packet, const parts *p)
{
    if (!advance(pf, packet)) return;
    mrd__pf_sequence *sequence = packet->sequence;
    if (sequence != NULL) {
        if (p->has_interned) mrd__pf_intern(pf, sequence, p->interned);
        if (p->has_defaults) mrd__pf_defaults(pf, sequence, p->defaults);
        sequence_thread(pf, sequence, p);
    }
    if (p->snapshot.size == 0) mrd__pf_advance_clock(pf, packet);
    if (p->snapshot.size > 0) mrd__pf_snapshot(pf, packet, p->snapshot);
    if (p->has_event) mrd__pf_event(pf, packet, p->event);
    if (p->ftrace.size > 0) mrd__pf_ftrace(pf, packet, p->ftrace);
    if (p->has_stats) mrd__pf_sys_stats(pf, packet, p->stats);
    if (p->remote.size > 0) mrd__pf_remote_sync(pf, packet, p->remote);
    if (p->system.size > 0) mrd__pf_system_info(pf, packet, p->system);
    if (p->other) mrd__pf_loss(pf, MRD__LOSS_UNSUPPORTED_PACKET, NULL);
}

static void one_packet(mrd__pf *pf, mrd__str message, unsigned inside)
{
    mrd__pf_packet packet = {.offset = pf->offset};
    parts p;
    memset(&p, 0, sizeof p);
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);)
        if (!take_number(&packet, &f)) take_part(&p, &f);
    if (at.bad) {
        if (!pf->describing) mrd__pf_loss(pf, MRD__LOSS_BAD_PACKET, NULL);
        return;
    }
    mrd__pf_set_machine(pf, packet.machine);
    if (pf->describing)
        describe(pf, &packet, &p);
    else
        take(pf, &packet, &p);
    if (p.deflated.size > 0) inflate_packets(pf, p.deflated, false, inside);
    if (p.zstd.size > 0) inflate_packets(pf, p.zstd, true, inside);
}

static void tell_cut(mrd__pf *pf, const mrd__pb *at)
{
    if (pf->describing) return;
    mrd__buf text = {0};
    mrd__buf_uint(&text, (uint64_t)(at->end - at->at));
    mrd__buf_text(&text, " bytes");
    mrd__pf_loss(pf, MRD__LOSS_TRUNCATED_PACKET, text.data);
    mrd__buf_reset(&text);
}

void mrd__pf_packets(mrd__pf *pf, mrd__str bytes, int64_t offset, unsigned inside)
{
    mrd__pb at = mrd__pb_of(bytes);
    int64_t outer = pf->offset;
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        if (f.key != PB_BYTES(TRACE_PACKET)) continue;
        if (inside == 0) pf->offset = offset + (f.bytes.data - bytes.data);
        one_packet(pf, f.bytes, inside);
    }
    if (at.bad) {
        if (inside == 0) pf->offset = offset + ((const char *)at.at - bytes.data);
        tell_cut(pf, &at);
    }
    pf->offset = outer;
}
