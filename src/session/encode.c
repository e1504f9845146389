/* Lines, readings and ticks to payloads of raw records. */
#include "session/engine.h"

#include "base/error.h"
#include "session/format/broken.h"
#include "session/line.h"

static mrd__encoded encode_broken(mrd__str line, uint64_t size, bool ended, const mrd__stamp *stamp,
                                  const mrd_error *why, mrd__buf *out)
{
    mrd__broken broken = {
        .unended = !ended,
        .size = size,
        .offset = why->offset > 0 ? (uint64_t)why->offset : 0,
        .reason = mrd__str_of(why->message),
        .bytes = line,
    };
    if (stamp != NULL) {
        broken.has_host_receive = true;
        broken.host_receive = (mrd__host_ns){(int64_t)stamp->host_ns};
        broken.reconnect_generation = stamp->reconnect;
        broken.target_generation = stamp->target;
    }
    mrd__broken_encode(out, &broken);
    return (mrd__encoded){.type = MRD__RECORD_DECODE_ERROR};
}

mrd__encoded mrd__encode_line(mrd__str line, uint64_t size, bool ended, const mrd__stamp *stamp,
                              mrd__buf *texts, mrd__buf *out)
{
    mrd_error why = {0};
    mrd__envelope envelope;
    if (size > line.size) {
        (void)mrd__fail(&why, MRD_ERR_LIMIT, "line_size",
                        "a line of %llu bytes, allowed are up to %zu", (unsigned long long)size,
                        MRD__ENVELOPE_LINE_MAX);
        return encode_broken(line, size, ended, stamp, &why, out);
    }
    if (mrd__envelope_from_json(&envelope, line, texts, &why) != MRD_OK)
        return encode_broken(line, size, ended, stamp, &why, out);
    if (stamp != NULL && mrd__str_is(envelope.source_id, "publisher")) {
        (void)mrd__fail(&why, MRD_ERR_FORMAT, "bad_line",
                        "sourceId of the line is publisher, allowed is any other name: that one is "
                        "the recorder's own");
        return encode_broken(line, size, ended, stamp, &why, out);
    }
    if (stamp != NULL) {
        envelope.has_host_receive = true;
        envelope.host_receive = (mrd__host_ns){(int64_t)stamp->host_ns};
        envelope.reconnect_generation = stamp->reconnect;
        envelope.target_generation = stamp->target;
        if (envelope.source_id.size == 0) envelope.source_id = stamp->stops;
    }
    mrd__envelope_encode(out, &envelope);
    return (mrd__encoded){
        .type = MRD__RECORD_RAW,
        .stopped = mrd__str_is(envelope.kind, "stopped"),
        .source_id = envelope.source_id,
    };
}

void mrd__encode_reading(const mrd__reading *reading, uint64_t host_ns, mrd__buf *out)
{
    mrd__str kind = mrd__str_of(reading->kind);
    mrd__envelope envelope = {
        .source_id = mrd__str_of(reading->source),
        .kind = kind,
        .clock_domain = MRD__STR("linux-monotonic-ns"),
        .schema_id = kind,
        .has_adapter_sequence = true,
        .has_host_receive = true,
        .has_source_time = true,
        .adapter_sequence = reading->number,
        .host_receive = {(int64_t)host_ns},
        .source_time = (int64_t)reading->time_ns,
        .source_epoch = reading->epoch,
        .target_generation = reading->target,
        .pid = reading->pid,
        .identity = reading->verified ? MRD__IDENTITY_VERIFIED : MRD__IDENTITY_UNKNOWN,
        .payload = reading->payload,
        .bytes = reading->payload,
    };
    mrd__envelope_encode(out, &envelope);
}

void mrd__encode_tick(uint64_t number, uint64_t host_ns, mrd__buf *out)
{
    mrd__envelope envelope = {
        .source_id = MRD__STR("publisher"),
        .kind = MRD__STR("tick"),
        .clock_domain = MRD__STR("none"),
        .schema_id = MRD__STR("tick"),
        .has_adapter_sequence = true,
        .has_host_receive = true,
        .adapter_sequence = number,
        .host_receive = {(int64_t)host_ns},
        .source_epoch = 1,
        .target_generation = 1,
        .payload = MRD__STR("{}"),
    };
    envelope.bytes = envelope.payload;
    mrd__envelope_encode(out, &envelope);
}
