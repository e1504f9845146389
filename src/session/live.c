#include "session/live.h"

#include "base/error.h"
#include "base/os.h"
#include "session/registry.h"

#include <string.h>
#include <sys/utsname.h>

/* ---- What the session is ---- */

/* The first line of a small kernel file as JSON text; null where it cannot be read. */
static void add_line_of(mrd__buf *out, const char *path)
{
    mrd__buf text = {0};
    if (mrd__file_read(&text, path, 4096, NULL) == MRD_OK && text.size > 0)
        mrd__buf_json_string(out, (mrd__str){text.data, strcspn(text.data, "\n")});
    else
        mrd__buf_text(out, "null");
    mrd__buf_reset(&text);
}

static void add_identity(mrd__buf *out, mrd__str target)
{
    struct utsname name;
    bool known = uname(&name) == 0;
    mrd__buf_printf(out, "{\"program\":\"meridian\",\"programVersion\":\"%s\",", mrd_version());
    mrd__buf_text(out, "\"definitions\":\"" MRD__DEFINITIONS "\",\"bootId\":");
    add_line_of(out, "/proc/sys/kernel/random/boot_id");
    mrd__buf_text(out, ",\"host\":{\"name\":");
    mrd__buf_json_string(out, mrd__str_of(known ? name.nodename : ""));
    mrd__buf_text(out, ",\"kernel\":");
    mrd__buf_json_string(out, mrd__str_of(known ? name.release : ""));
    mrd__buf_text(out, ",\"machine\":");
    mrd__buf_json_string(out, mrd__str_of(known ? name.machine : ""));
    mrd__buf_printf(out, ",\"cores\":%u},", mrd__cores());
    mrd__buf_printf(out,
                    "\"startClocks\":{\"monotonicNs\":\"%llu\",\"boottimeNs\":\"%llu\","
                    "\"realtimeNs\":\"%lld\"},\"target\":",
                    (unsigned long long)mrd__monotonic_ns(), (unsigned long long)mrd__boottime_ns(),
                    (long long)mrd__realtime_ns());
    mrd__buf_str(out, target);
    mrd__buf_char(out, '}');
}

/* ---- Records ---- */

static mrd_status put_derived(void *ctx, mrd__file_kind kind, unsigned type, uint64_t sequence,
                              mrd__str payload, mrd_error *error)
{
    mrd__live *live = ctx;
    mrd__derived *file = kind == MRD__FILE_DOMAIN ? live->domain : live->metrics;
    return mrd__derived_append(file, type, sequence, &payload, 1, error);
}

static mrd_status derive(mrd__live *live, mrd_error *error)
{
    size_t count;
    const char *const *names = mrd__engine_types(MRD__FILE_DOMAIN, &count);
    MRD__TRY(mrd__recording_derive(live->recording, MRD__FILE_DOMAIN, names, count, &live->domain,
                                   error));
    names = mrd__engine_types(MRD__FILE_METRICS, &count);
    return mrd__recording_derive(live->recording, MRD__FILE_METRICS, names, count, &live->metrics,
                                 error);
}

mrd_status mrd__live_create(mrd__live *live, const char *dir, mrd__str target, mrd_error *error)
{
    *live = (mrd__live){.wait_ns = MRD__LIVE_WAIT_NS};
    mrd__buf identity = {0};
    add_identity(&identity, target);
    mrd__recording_options options = {.dir = dir, .identity = identity.data};
    mrd_status status = mrd__recording_create(&options, &live->recording, error);
    mrd__buf_reset(&identity);
    if (status != MRD_OK) return status;
    mrd__engine_sink sink = {.ctx = live, .derived = put_derived};
    live->engine = mrd__engine_create(&sink);
    status = derive(live, error);
    if (status == MRD_OK) status = mrd__live_clocks(live, error);
    if (status != MRD_OK) mrd__live_destroy(live);
    return status;
}

void mrd__live_destroy(mrd__live *live)
{
    mrd__engine_destroy(&live->engine);
    mrd__recording_destroy(&live->recording);
    mrd__buf_reset(&live->payloads);
    mrd__buf_reset(&live->texts);
    mrd__vec_reset(&live->pending);
    mrd__vec_reset(&live->reasons);
}

/* To the writer. No room within the waiting time is a refusal, which the recording counts and tells
 * in a gap of its own: *refused, and the session goes on. */
static mrd_status to_writer(mrd__live *live, bool *refused, mrd_error *error)
{
    mrd_error why = {0};
    mrd_status status =
        mrd__recording_append_many(live->recording, live->pending.data, live->pending.count,
                                   live->payloads.data, live->wait_ns, &why);
    *refused = status == MRD_ERR_LIMIT && strcmp(why.code, "ingress_full") == 0;
    if (*refused) {
        live->refused += live->pending.count;
        return MRD_OK;
    }
    if (status != MRD_OK && error != NULL) *error = why;
    return status;
}

static mrd_status to_engine(mrd__live *live, mrd_error *error)
{
    const uint8_t *payload = (const uint8_t *)live->payloads.data;
    for (size_t i = 0; i < live->pending.count; i++) {
        const mrd__pending *pending = &live->pending.data[i];
        mrd__record record = {
            .type = (uint16_t)pending->type,
            .size = pending->size,
            .sequence = pending->sequence,
            .payload = payload,
        };
        MRD__TRY(mrd__engine_take(live->engine, &record, error));
        payload += pending->size;
    }
    return MRD_OK;
}

mrd_status mrd__live_flush(mrd__live *live, mrd_error *error)
{
    bool refused;
    if (live->pending.count == 0) return MRD_OK;
    mrd_status status = to_writer(live, &refused, error);
    if (status == MRD_OK && !refused) status = to_engine(live, error);
    live->pending.count = 0;
    live->space = 0;
    mrd__buf_clear(&live->payloads);
    return status;
}

/* The payload in live->payloads from byte `from` on is a record. */
static mrd_status put(mrd__live *live, mrd__record_type type, size_t from, mrd_error *error)
{
    mrd__pending pending = {.type = type, .size = (uint32_t)(live->payloads.size - from)};
    mrd__recording_expect(live->recording, live->space, pending.size);
    live->space += mrd__record_space(pending.size);
    mrd__vec_push(&live->pending, pending);
    bool wait = live->batched && live->payloads.size < MRD__LIVE_BATCH_BYTES;
    return wait ? MRD_OK : mrd__live_flush(live, error);
}

mrd_status mrd__live_line(mrd__live *live, mrd__str line, uint64_t size, bool ended,
                          const mrd__stamp *stamp, mrd__encoded *encoded, mrd_error *error)
{
    size_t from = live->payloads.size;
    *encoded = mrd__encode_line(line, size, ended, stamp, &live->texts, &live->payloads);
    MRD__TRY(put(live, encoded->type, from, error));
    if (ended || encoded->type != MRD__RECORD_DECODE_ERROR) return MRD_OK;
    /* The stream ended inside a record: what it would have said is not known. */
    return mrd__live_note(live, MRD__RECORD_GAP, MRD__STR("{\"gap\":\"record-cut\"}"), error);
}

mrd_status mrd__live_reading(mrd__live *live, const mrd__reading *reading, uint64_t host_ns,
                             mrd_error *error)
{
    size_t from = live->payloads.size;
    mrd__encode_reading(reading, host_ns, &live->payloads);
    return put(live, MRD__RECORD_RAW, from, error);
}

mrd_status mrd__live_tick(mrd__live *live, uint64_t number, uint64_t host_ns, mrd_error *error)
{
    size_t from = live->payloads.size;
    mrd__encode_tick(number, host_ns, &live->payloads);
    return put(live, MRD__RECORD_RAW, from, error);
}

mrd_status mrd__live_note(mrd__live *live, mrd__record_type type, mrd__str json, mrd_error *error)
{
    size_t from = live->payloads.size;
    mrd__buf_str(&live->payloads, json);
    return put(live, type, from, error);
}

mrd_status mrd__live_clocks(mrd__live *live, mrd_error *error)
{
    mrd__buf text = {0};
    mrd__buf_printf(&text, "{\"monotonicNs\":%llu,\"boottimeNs\":%llu,\"realtimeNs\":%lld}",
                    (unsigned long long)mrd__monotonic_ns(), (unsigned long long)mrd__boottime_ns(),
                    (long long)mrd__realtime_ns());
    mrd_status status =
        mrd__live_note(live, MRD__RECORD_CLOCK, (mrd__str){text.data, text.size}, error);
    mrd__buf_reset(&text);
    return status;
}

/* ---- The end ---- */

void mrd__live_incomplete(mrd__live *live, const char *reason)
{
    for (size_t i = 0; i < live->reasons.count; i++) {
        if (strcmp(live->reasons.data[i], reason) == 0) return;
    }
    mrd__vec_push(&live->reasons, reason);
}

/* What only the engine knows; its state is final then. */
static mrd_status prepare(mrd__live *live, mrd__str end_event, mrd__buf *facts, mrd_error *error)
{
    mrd__recording_close_admission(live->recording);
    /* A replay meets the end event as a record: so does this engine. */
    mrd__recording_state state;
    mrd__recording_state_get(live->recording, &state);
    mrd__record end = {
        .type = MRD__RECORD_LIFECYCLE,
        .size = (uint32_t)end_event.size,
        .sequence = state.reserved,
        .payload = (const uint8_t *)end_event.data,
    };
    MRD__TRY(mrd__engine_take(live->engine, &end, error));
    mrd__buf report = {0};
    mrd__session_report_json(mrd__engine_report(live->engine), &report);
    mrd_status status = mrd__recording_file(live->recording, "report.json",
                                            (mrd__str){report.data, report.size}, error);
    mrd__buf_reset(&report);
    mrd__engine_facts(live->engine, facts);
    return status;
}

static mrd_status seal(mrd__live *live, const mrd__finish *finish, mrd_error *error)
{
    mrd_error why = {0};
    /* What the engine has taken must be in raw: a session is never sealed with less of it. */
    mrd_status status = mrd__recording_drain(live->recording, &why);
    if (status != MRD_OK) status = mrd__recording_retry(live->recording, &why);
    if (status == MRD_OK) status = mrd__recording_finish(live->recording, finish, &why);
    if (status != MRD_OK && mrd__recording_retry(live->recording, NULL) == MRD_OK)
        status = mrd__recording_finish(live->recording, finish, &why);
    if (status != MRD_OK && error != NULL) *error = why;
    return status;
}

mrd_status mrd__live_finish(mrd__live *live, mrd__str end_event, bool *completed, mrd_error *error)
{
    mrd__buf facts = {0};
    mrd_status status = mrd__live_flush(live, error);
    if (live->refused > 0) mrd__live_incomplete(live, "refused");
    if (status == MRD_OK) status = prepare(live, end_event, &facts, error);
    mrd__finish finish = {
        .end_event = end_event,
        .facts = facts.data,
        .reasons = live->reasons.data,
        .reason_count = live->reasons.count,
    };
    if (status == MRD_OK) status = seal(live, &finish, error);
    *completed = status == MRD_OK && live->reasons.count == 0;
    mrd__buf_reset(&facts);
    return status;
}
