#include "session/format/domain.h"

#include "base/assert.h"
#include "base/error.h"
#include "session/format/bytes.h"

#include <math.h>

/* origin  u32 id, u8 role, u8 0, u16 0, u64 epoch, u64 reconnect, u64 target, i64 pid, texts
 * event   u32 origin, u8 identity, u8 flags, u8 given, u8 given of other, i64 host ns, i64 source
 *         time, u64 value, u64 other, u8 state, text name */
enum {
    ORIGIN_HEAD = 40,
    EVENT_HEAD = 41,
    HAS_HOST = 1,
    HAS_TIME = 2,
};

const char *const mrd__domain_type_names[MRD__DOMAIN_TYPES] = {
    "origin", "counter", "gauge", "frame", "launch", "network", "state", "clock", "tick"};

static void put_text(mrd__buf *out, mrd__str text)
{
    mrd__assert(text.size <= UINT8_MAX);
    mrd__buf_char(out, (char)(uint8_t)text.size);
    mrd__buf_str(out, text);
}

void mrd__origin_encode(mrd__buf *out, const mrd__origin *origin)
{
    uint8_t head[ORIGIN_HEAD] = {0};
    mrd__put32(head, origin->id);
    head[4] = (uint8_t)origin->role;
    mrd__put64(head + 8, origin->source_epoch);
    mrd__put64(head + 16, origin->reconnect_generation);
    mrd__put64(head + 24, origin->target_generation);
    mrd__put64(head + 32, (uint64_t)origin->pid);
    mrd__buf_add(out, head, sizeof head);
    put_text(out, origin->source_id);
    put_text(out, origin->clock_domain);
    put_text(out, origin->schema_id);
    put_text(out, origin->kind);
}

static uint64_t value_bits(mrd__reading_value value)
{
    uint64_t bits = 0;
    if (value.given == MRD__GIVEN_INTEGER) bits = (uint64_t)value.number.integer;
    if (value.given == MRD__GIVEN_NATURAL) bits = value.number.natural;
    if (value.given == MRD__GIVEN_REAL) memcpy(&bits, &value.number.real, sizeof bits);
    return bits;
}

void mrd__domain_encode(mrd__buf *out, const mrd__domain_event *event)
{
    uint8_t head[EVENT_HEAD];
    mrd__put32(head, event->origin->id);
    head[4] = (uint8_t)event->identity;
    head[5] = (uint8_t)((event->has_host_receive ? HAS_HOST : 0) |
                        (event->has_source_time ? HAS_TIME : 0));
    head[6] = (uint8_t)event->value.given;
    head[7] = (uint8_t)event->other.given;
    mrd__put64(head + 8, event->has_host_receive ? (uint64_t)event->host_receive.host_ns : 0);
    mrd__put64(head + 16, event->has_source_time ? (uint64_t)event->source_time : 0);
    mrd__put64(head + 24, value_bits(event->value));
    mrd__put64(head + 32, value_bits(event->other));
    head[40] = (uint8_t)event->state;
    mrd__buf_add(out, head, sizeof head);
    put_text(out, event->name);
}

/* ---- Reading ---- */

static mrd_status bad(mrd_error *error, const char *what)
{
    return mrd__fail(error, MRD_ERR_FORMAT, "bad_event", "domain record: %s", what);
}

static bool take_text(mrd__str in, size_t *at, mrd__str *out)
{
    if (*at == in.size) return false;
    size_t size = (uint8_t)in.data[*at];
    if (size > in.size - *at - 1) return false;
    *out = (mrd__str){in.data + *at + 1, size};
    *at += 1 + size;
    return true;
}

mrd_status mrd__origin_decode(mrd__origin *origin, mrd__str in, mrd_error *error)
{
    const uint8_t *head = (const uint8_t *)in.data;
    if (in.size < ORIGIN_HEAD) return bad(error, "an origin shorter than its head");
    if (head[4] >= MRD__ROLES) return bad(error, "an origin of no role");
    *origin = (mrd__origin){.id = mrd__get32(head),
                            .role = head[4],
                            .source_epoch = mrd__get64(head + 8),
                            .reconnect_generation = mrd__get64(head + 16),
                            .target_generation = mrd__get64(head + 24),
                            .pid = (int64_t)mrd__get64(head + 32)};
    size_t at = ORIGIN_HEAD;
    if (!take_text(in, &at, &origin->source_id) || !take_text(in, &at, &origin->clock_domain) ||
        !take_text(in, &at, &origin->schema_id) || !take_text(in, &at, &origin->kind))
        return bad(error, "an origin whose texts are cut");
    return at == in.size ? MRD_OK : bad(error, "bytes behind an origin");
}

static bool take_value(unsigned given, uint64_t bits, mrd__reading_value *out)
{
    if (given >= MRD__GIVENS || (given < MRD__GIVEN_INTEGER && bits != 0)) return false;
    *out = (mrd__reading_value){.given = given};
    if (given == MRD__GIVEN_INTEGER) out->number.integer = (int64_t)bits;
    if (given == MRD__GIVEN_NATURAL) out->number.natural = bits;
    if (given == MRD__GIVEN_REAL) {
        memcpy(&out->number.real, &bits, sizeof bits);
        return isfinite(out->number.real);
    }
    return true;
}

mrd_status mrd__domain_decode(mrd__domain_event *event, uint32_t *origin, unsigned type,
                              uint64_t sequence, mrd__str in, mrd_error *error)
{
    const uint8_t *head = (const uint8_t *)in.data;
    if (type == MRD__DOMAIN_ORIGIN || type >= MRD__DOMAIN_TYPES)
        return bad(error, "no such type of event");
    if (in.size < EVENT_HEAD) return bad(error, "an event shorter than its head");
    if (head[4] >= MRD__IDENTITIES || head[5] > (HAS_HOST | HAS_TIME) || head[40] >= MRD__STATES)
        return bad(error, "an event with an identity, flag or state that is none");
    *event = (mrd__domain_event){.type = type,
                                 .sequence = sequence,
                                 .identity = head[4],
                                 .has_host_receive = head[5] & HAS_HOST,
                                 .has_source_time = head[5] & HAS_TIME,
                                 .host_receive = {(int64_t)mrd__get64(head + 8)},
                                 .source_time = (int64_t)mrd__get64(head + 16),
                                 .state = head[40]};
    *origin = mrd__get32(head);
    if (!take_value(head[6], mrd__get64(head + 24), &event->value) ||
        !take_value(head[7], mrd__get64(head + 32), &event->other))
        return bad(error, "an event with a value that is none");
    size_t at = EVENT_HEAD;
    if (!take_text(in, &at, &event->name)) return bad(error, "an event whose name is cut");
    return at == in.size ? MRD_OK : bad(error, "bytes behind an event");
}
