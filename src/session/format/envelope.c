#include "session/format/envelope.h"

#include "base/assert.h"
#include "base/error.h"
#include "session/format/bytes.h"

enum {
    HAS_SEQUENCE = 1,
    HAS_HOST = 2,
    HAS_TIME = 4,
    FLAGS = 7,
    NUMBERS = 16, /* where the seven numbers begin */
};

const char *mrd__identity_name(mrd__identity_status identity)
{
    static const char *const names[] = {"assumed", "verified", "mismatch", "unknown"};
    return names[identity];
}

const char *mrd__role_name(mrd__source_role role)
{
    static const char *const names[] = {"primary", "compare", "replay"};
    return names[role];
}

mrd__clock_kind mrd__clock_kind_of(mrd__str domain)
{
    if (mrd__str_is(domain, "none")) return MRD__CLOCK_NONE;
    return mrd__str_is(domain, "device-mach") ? MRD__CLOCK_DEVICE : MRD__CLOCK_SOURCE;
}

void mrd__envelope_encode(mrd__buf *out, const mrd__envelope *e)
{
    const mrd__str texts[] = {e->source_id, e->kind, e->clock_domain, e->schema_id};
    const uint64_t numbers[] = {
        e->has_adapter_sequence ? e->adapter_sequence : 0,
        e->has_host_receive ? (uint64_t)e->host_receive.host_ns : 0,
        e->has_source_time ? (uint64_t)e->source_time : 0,
        e->source_epoch,
        e->reconnect_generation,
        e->target_generation,
        (uint64_t)e->pid,
    };
    uint8_t head[MRD__ENVELOPE_HEAD] = {MRD__ENVELOPE_VERSION, 0, (uint8_t)e->identity,
                                        (uint8_t)e->role};
    size_t size = sizeof head + e->bytes.size;
    head[1] = (uint8_t)((e->has_adapter_sequence ? HAS_SEQUENCE : 0) |
                        (e->has_host_receive ? HAS_HOST : 0) | (e->has_source_time ? HAS_TIME : 0));
    for (size_t i = 0; i < 4; i++) {
        mrd__assert(texts[i].size <= MRD__ENVELOPE_TEXT_MAX);
        head[4 + i] = (uint8_t)texts[i].size;
        size += texts[i].size;
    }
    mrd__assert(size <= MRD__ENVELOPE_MAX);
    size_t from = e->payload.size > 0 ? (size_t)(e->payload.data - e->bytes.data) : 0;
    mrd__assert(from <= e->bytes.size && e->payload.size <= e->bytes.size - from);
    mrd__put32(head + 8, (uint32_t)from);
    mrd__put32(head + 12, (uint32_t)e->payload.size);
    for (size_t i = 0; i < 7; i++)
        mrd__put64(head + NUMBERS + 8 * i, numbers[i]);
    mrd__buf_reserve(out, size);
    mrd__buf_add(out, head, sizeof head);
    for (size_t i = 0; i < 4; i++)
        mrd__buf_str(out, texts[i]);
    mrd__buf_str(out, e->bytes);
}

static mrd_status bad(mrd_error *error, size_t offset, const char *what, uint64_t value,
                      uint64_t limit)
{
    mrd_status status = mrd__fail(error, MRD_ERR_FORMAT, "bad_envelope",
                                  "%s of the envelope is %llu, allowed is up to %llu", what,
                                  (unsigned long long)value, (unsigned long long)limit);
    if (error != NULL) error->offset = (int64_t)offset;
    return status;
}

static mrd_status check_head(const uint8_t *head, size_t size, mrd_error *error)
{
    if (size < MRD__ENVELOPE_HEAD)
        return mrd__fail(error, MRD_ERR_FORMAT, "bad_envelope",
                         "an envelope of %zu bytes, it has at least %d", size, MRD__ENVELOPE_HEAD);
    if (head[0] != MRD__ENVELOPE_VERSION)
        return mrd__fail(error, MRD_ERR_FORMAT, "bad_envelope",
                         "version %u of the envelope, allowed is %d", head[0],
                         MRD__ENVELOPE_VERSION);
    if (size > MRD__ENVELOPE_MAX) return bad(error, 0, "size", size, MRD__ENVELOPE_MAX);
    if (head[1] > FLAGS) return bad(error, 1, "flags", head[1], FLAGS);
    if (head[2] >= MRD__IDENTITIES) return bad(error, 2, "identity", head[2], MRD__IDENTITIES - 1);
    if (head[3] >= MRD__ROLES) return bad(error, 3, "role", head[3], MRD__ROLES - 1);
    if (head[5] == 0)
        return mrd__fail(error, MRD_ERR_FORMAT, "bad_envelope", "the envelope has no kind");
    return MRD_OK;
}

static void take_numbers(mrd__envelope *e, const uint8_t *head)
{
    uint64_t numbers[7];
    for (size_t i = 0; i < 7; i++)
        numbers[i] = mrd__get64(head + NUMBERS + 8 * i);
    e->has_adapter_sequence = head[1] & HAS_SEQUENCE;
    e->has_host_receive = head[1] & HAS_HOST;
    e->has_source_time = head[1] & HAS_TIME;
    e->adapter_sequence = numbers[0];
    e->host_receive = (mrd__host_ns){(int64_t)numbers[1]};
    e->source_time = (int64_t)numbers[2];
    e->source_epoch = numbers[3];
    e->reconnect_generation = numbers[4];
    e->target_generation = numbers[5];
    e->pid = (int64_t)numbers[6];
    e->identity = head[2];
    e->role = head[3];
}

/* The names lie one behind the other up to byte `end`. */
static mrd_status check_names(mrd__str in, size_t end, mrd__str *const texts[4], mrd_error *error)
{
    if (memchr(in.data + MRD__ENVELOPE_HEAD, '\0', end - MRD__ENVELOPE_HEAD) == NULL) return MRD_OK;
    size_t i = 0;
    while (memchr(texts[i]->data, '\0', texts[i]->size) == NULL)
        i++;
    return mrd__fail(error, MRD_ERR_FORMAT, "bad_envelope",
                     "a name at byte %zu of the envelope holds a NUL",
                     (size_t)(texts[i]->data - in.data));
}

mrd_status mrd__envelope_decode(mrd__envelope *e, mrd__str in, mrd_error *error)
{
    const uint8_t *head = (const uint8_t *)in.data;
    MRD__TRY(check_head(head, in.size, error));
    size_t at = MRD__ENVELOPE_HEAD;
    mrd__str *texts[] = {&e->source_id, &e->kind, &e->clock_domain, &e->schema_id};
    for (size_t i = 0; i < 4; i++) {
        if (head[4 + i] > in.size - at)
            return bad(error, 4 + i, "size of a text", head[4 + i], in.size - at);
        *texts[i] = (mrd__str){in.data + at, head[4 + i]};
        at += head[4 + i];
    }
    MRD__TRY(check_names(in, at, texts, error));
    e->bytes = (mrd__str){in.data + at, in.size - at};
    size_t from = mrd__get32(head + 8), size = mrd__get32(head + 12);
    if (from > e->bytes.size) return bad(error, 8, "payload's place", from, e->bytes.size);
    if (size > e->bytes.size - from)
        return bad(error, 12, "payload's size", size, e->bytes.size - from);
    e->payload = (mrd__str){e->bytes.data + from, size};
    take_numbers(e, head);
    return MRD_OK;
}
