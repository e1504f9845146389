#include "session/line.h"

#include "base/error.h"
#include "base/json.h"

#include <string.h>

typedef enum member {
    SOURCE_ID,
    KIND,
    CLOCK_DOMAIN,
    SCHEMA_ID,
    ADAPTER_SEQUENCE,
    HOST_RECEIVE,
    SOURCE_TIMESTAMP,
    SOURCE_EPOCH,
    RECONNECT_GENERATION,
    TARGET_GENERATION,
    PID,
    IDENTITY_STATUS,
    SOURCE_ROLE,
    PAYLOAD,
    MEMBERS,
} member;

enum {
    PLAIN_MEMBERS = 24, /* the known ones, and some that are ignored */
};

static const char *const names[MEMBERS] = {
    "sourceId",
    "kind",
    "clockDomain",
    "schemaId",
    "adapterSequence",
    "hostReceiveMonotonicNs",
    "sourceTimestamp",
    "sourceEpoch",
    "reconnectGeneration",
    "targetGeneration",
    "pid",
    "identityStatus",
    "sourceRole",
    "payload",
};

static const char allowed_text[] = "a text of 1 to 255 bytes without NUL";
static const char allowed_signed[] =
    "an integer from -9223372036854775808 to 9223372036854775807, or null";
static const char allowed_unsigned[] = "an integer from 0 to 18446744073709551615";
static const char *const allowed[MEMBERS] = {
    allowed_text,
    allowed_text,
    allowed_text,
    allowed_text,
    allowed_unsigned,
    allowed_signed,
    allowed_signed,
    allowed_unsigned,
    allowed_unsigned,
    allowed_unsigned,
    allowed_signed,
    "assumed, verified, mismatch or unknown",
    "primary, compare or replay",
    "any value",
};

#ifdef MRD_PLANTED_BUGS /* what the fuzzer of sessions' lines must find */
#define LONGEST_NAME (MRD__ENVELOPE_TEXT_MAX + 1)
#else
#define LONGEST_NAME MRD__ENVELOPE_TEXT_MAX
#endif

typedef struct reading {
    mrd__json json;
    mrd__envelope *envelope;
    mrd__buf *texts;
    mrd_error *error;
    unsigned seen; /* a bit a member */
} reading;

/* What stands at a place, short enough for a message. */
static mrd__str shown(mrd__str text)
{
    return text.size > 64 ? (mrd__str){text.data, 64} : text;
}

static mrd_status bad(reading *r, size_t offset, const char *what, mrd__str value,
                      const char *is_allowed)
{
    mrd__str part = shown(value);
    mrd_status status = mrd__fail(r->error, MRD_ERR_FORMAT, "bad_line",
                                  "%s at byte %zu of the line is %.*s, allowed is %s", what, offset,
                                  (int)part.size, part.data, is_allowed);
    if (r->error != NULL) r->error->offset = (int64_t)offset;
    return status;
}

static mrd_status bad_json(reading *r)
{
    size_t at = r->json.error_at;
    mrd_status status =
        mrd__fail(r->error, MRD_ERR_FORMAT, "bad_line",
                  "byte %zu of the line: %s, allowed is one JSON object", at, r->json.error_what);
    if (r->error != NULL) r->error->offset = (int64_t)at;
    return status;
}

/* The value as it stands in the line, quotes included. */
static mrd__str raw(const reading *r, const mrd__json_token *token)
{
    return (mrd__str){r->json.data + token->offset, r->json.at - token->offset};
}

static mrd_status bad_value(reading *r, member m, const mrd__json_token *token)
{
    return bad(r, token->offset, names[m], raw(r, token), allowed[m]);
}

/* Decoded texts are never longer than what stands in the line: room for the line, taken once,
 * keeps them where they are. */
static mrd__str text_of(reading *r, const mrd__json_token *token)
{
    if (!token->escaped) return token->text;
    mrd__buf_reserve(r->texts, r->json.size - r->texts->size);
    size_t from = r->texts->size;
    mrd__json_decode(r->texts, token->text, NULL);
    return (mrd__str){r->texts->data + from, r->texts->size - from};
}

static mrd_status take_text(reading *r, member m, const mrd__json_token *token, mrd__str *out)
{
    if (token->type != MRD__JSON_STRING || token->text.size > 6 * MRD__ENVELOPE_TEXT_MAX)
        return bad_value(r, m, token);
    mrd__str text = text_of(r, token);
    /* Names are members of manifests, and readers of JSON know no NUL there. */
    bool fits = text.size > 0 && text.size <= LONGEST_NAME;
    if (!fits || memchr(text.data, '\0', text.size) != NULL) return bad_value(r, m, token);
    *out = text;
    return MRD_OK;
}

static mrd_status take_unsigned(reading *r, member m, const mrd__json_token *token, uint64_t *out)
{
    if (token->type != MRD__JSON_NUMBER || !mrd__parse_uint64(token->text, out))
        return bad_value(r, m, token);
    return MRD_OK;
}

static mrd_status take_signed(reading *r, member m, const mrd__json_token *token, int64_t *out,
                              bool *has)
{
    if (token->type == MRD__JSON_NULL) return MRD_OK;
    if (token->type != MRD__JSON_NUMBER || !mrd__parse_int64(token->text, out))
        return bad_value(r, m, token);
    *has = true;
    return MRD_OK;
}

static mrd_status take_identity(reading *r, const mrd__json_token *token)
{
    for (int i = 0; token->type == MRD__JSON_STRING && i < MRD__IDENTITIES; i++) {
        if (!mrd__str_is(token->text, mrd__identity_name(i))) continue;
        r->envelope->identity = i;
        return MRD_OK;
    }
    return bad_value(r, IDENTITY_STATUS, token);
}

static mrd_status take_role(reading *r, const mrd__json_token *token)
{
    for (int i = 0; token->type == MRD__JSON_STRING && i < MRD__ROLES; i++) {
        if (!mrd__str_is(token->text, mrd__role_name(i))) continue;
        r->envelope->role = i;
        return MRD_OK;
    }
    return bad_value(r, SOURCE_ROLE, token);
}

static mrd_status take_payload(reading *r, mrd__json_token token)
{
    if (!mrd__json_skip(&r->json, token)) return bad_json(r);
    if (token.type != MRD__JSON_NULL) r->envelope->payload = raw(r, &token);
    return MRD_OK;
}

static mrd_status take_value(reading *r, member m, const mrd__json_token *token)
{
    mrd__envelope *e = r->envelope;
    bool ignored;
    switch (m) {
    case SOURCE_ID:
        return take_text(r, m, token, &e->source_id);
    case KIND:
        return take_text(r, m, token, &e->kind);
    case CLOCK_DOMAIN:
        return take_text(r, m, token, &e->clock_domain);
    case SCHEMA_ID:
        return take_text(r, m, token, &e->schema_id);
    case ADAPTER_SEQUENCE:
        e->has_adapter_sequence = true;
        return take_unsigned(r, m, token, &e->adapter_sequence);
    case HOST_RECEIVE:
        return take_signed(r, m, token, &e->host_receive.host_ns, &e->has_host_receive);
    case SOURCE_TIMESTAMP:
        return take_signed(r, m, token, &e->source_time, &e->has_source_time);
    case SOURCE_EPOCH:
        return take_unsigned(r, m, token, &e->source_epoch);
    case RECONNECT_GENERATION:
        return take_unsigned(r, m, token, &e->reconnect_generation);
    case TARGET_GENERATION:
        return take_unsigned(r, m, token, &e->target_generation);
    case PID:
        return take_signed(r, m, token, &e->pid, &ignored);
    case IDENTITY_STATUS:
        return take_identity(r, token);
    case SOURCE_ROLE:
        return take_role(r, token);
    default:
        return take_payload(r, *token);
    }
}

/* By length first: all lengths differ but two pairs. */
static member member_of(mrd__str key)
{
    static const uint8_t by_size[24] = {
        [3] = 1 + PID,
        [4] = 1 + KIND,
        [7] = 1 + PAYLOAD,
        [8] = 1 + SOURCE_ID,
        [10] = 1 + SOURCE_ROLE,
        [11] = 1 + CLOCK_DOMAIN,
        [14] = 1 + IDENTITY_STATUS,
        [15] = 1 + ADAPTER_SEQUENCE,
        [16] = 1 + TARGET_GENERATION,
        [19] = 1 + RECONNECT_GENERATION,
        [22] = 1 + HOST_RECEIVE,
    };
    if (key.size >= sizeof by_size) return MEMBERS;
    member m = MEMBERS;
    if (by_size[key.size] > 0) m = by_size[key.size] - 1;
    if (key.size == 8 && key.data[1] == 'c') m = SCHEMA_ID;
    if (key.size == 11 && key.data[0] == 's') m = SOURCE_EPOCH;
    if (key.size == 15 && key.data[0] == 's') m = SOURCE_TIMESTAMP;
    return m < MEMBERS && memcmp(key.data, names[m], key.size) == 0 ? m : MEMBERS;
}

static mrd_status take_members(reading *r)
{
    mrd__json *json = &r->json;
    if (mrd__json_next(json).type != MRD__JSON_OBJECT) {
        if (json->error_what != NULL) return bad_json(r);
        return bad(r, 0, "the value", (mrd__str){json->data, json->size}, "one JSON object");
    }
    for (;;) {
        mrd__json_token key = mrd__json_next(json);
        if (key.type == MRD__JSON_OBJECT_END) break;
        if (key.type != MRD__JSON_KEY) return bad_json(r);
        mrd__json_token value = mrd__json_next(json);
        if (value.type == MRD__JSON_ERROR) return bad_json(r);
        member m = member_of(key.text);
        if (m == MEMBERS) {
            if (!mrd__json_skip(json, value)) return bad_json(r);
            continue;
        }
        if ((r->seen >> m & 1) != 0)
            return bad(r, key.offset, "a second member", key.text, "each member once");
        r->seen |= 1u << m;
        MRD__TRY(take_value(r, m, &value));
    }
    return mrd__json_next(json).type == MRD__JSON_END ? MRD_OK : bad_json(r);
}

/* What must be there, and what absent members mean. */
static mrd_status complete(mrd__envelope *e, mrd_error *error)
{
    if (e->kind.size == 0)
        return mrd__fail(error, MRD_ERR_FORMAT, "bad_line", "the line has no kind, allowed is %s",
                         allowed_text);
    if (e->source_id.size == 0 && !mrd__str_is(e->kind, "stopped"))
        return mrd__fail(error, MRD_ERR_FORMAT, "bad_line",
                         "the line has no sourceId, allowed is %s", allowed_text);
    if (e->clock_domain.size == 0) e->clock_domain = MRD__STR("none");
    if (e->schema_id.size == 0) e->schema_id = e->kind;
    return MRD_OK;
}

/* ---- Lines as programs print them ---- */

static bool plain_text(const mrd__json_member *in, mrd__str *out)
{
    *out = in->value.text;
    return in->value.type == MRD__JSON_STRING && out->size > 0 && out->size <= LONGEST_NAME;
}

static bool plain_name(const mrd__json_member *in, const char *name)
{
    return in->value.type == MRD__JSON_STRING && mrd__str_is(in->value.text, name);
}

static bool plain_names(mrd__envelope *e, member m, const mrd__json_member *in)
{
    for (int i = 0; m == IDENTITY_STATUS && i < MRD__IDENTITIES; i++) {
        if (!plain_name(in, mrd__identity_name(i))) continue;
        e->identity = i;
        return true;
    }
    for (int i = 0; m == SOURCE_ROLE && i < MRD__ROLES; i++) {
        if (!plain_name(in, mrd__role_name(i))) continue;
        e->role = i;
        return true;
    }
    return false;
}

static bool plain_value(mrd__envelope *e, member m, const mrd__json_member *in)
{
    int64_t integer = (int64_t)in->number; /* where it is whole */
    switch (m) {
    case SOURCE_ID:
        return plain_text(in, &e->source_id);
    case KIND:
        return plain_text(in, &e->kind);
    case CLOCK_DOMAIN:
        return plain_text(in, &e->clock_domain);
    case SCHEMA_ID:
        return plain_text(in, &e->schema_id);
    case ADAPTER_SEQUENCE:
        e->has_adapter_sequence = true;
        e->adapter_sequence = in->number;
        return in->whole;
    case HOST_RECEIVE:
        e->has_host_receive = true;
        e->host_receive = (mrd__host_ns){integer};
        return in->whole;
    case SOURCE_TIMESTAMP:
        e->has_source_time = true;
        e->source_time = integer;
        return in->whole;
    case SOURCE_EPOCH:
        e->source_epoch = in->number;
        return in->whole;
    case RECONNECT_GENERATION:
        e->reconnect_generation = in->number;
        return in->whole;
    case TARGET_GENERATION:
        e->target_generation = in->number;
        return in->whole;
    case PID:
        e->pid = integer;
        return in->whole;
    case PAYLOAD:
        if (in->value.type != MRD__JSON_NULL) e->payload = in->raw;
        return true;
    default:
        return plain_names(e, m, in);
    }
}

/* The whole line in one pass. False where anything is out of the common: then the reader above
 * reads it anew, and has the reasons. */
static bool read_plain(mrd__envelope *e, mrd__str line)
{
    mrd__json_member members[PLAIN_MEMBERS];
    size_t count, at = 0;
    unsigned seen = 0;
    if (!mrd__json_members(line.data, line.size, &at, 0, members, PLAIN_MEMBERS, &count) ||
        at != line.size)
        return false;
    for (size_t i = 0; i < count; i++) {
        member m = member_of(members[i].key);
        if (m == MEMBERS) continue;
        if ((seen >> m & 1) != 0 || !plain_value(e, m, &members[i])) return false;
        seen |= 1u << m;
    }
    return true;
}

/* The first byte that is NUL or part of no UTF-8. */
static mrd_status check_text(mrd__str line, mrd_error *error)
{
    const char *nul = line.size > 0 ? memchr(line.data, 0, line.size) : NULL;
    if (nul == NULL && mrd__utf8_valid(line)) return MRD_OK;
    return mrd__fail(error, MRD_ERR_FORMAT, "bad_line", "the line holds %s, allowed is UTF-8 text",
                     nul != NULL ? "a NUL" : "bytes that are no UTF-8");
}

/* "\u0000" in a text that begins at text.data: where, else its size. */
static size_t escaped_nul(mrd__str text)
{
    for (size_t at = 0; at + 5 < text.size; at++) {
        if (text.data[at] != '\\') continue;
        if (memcmp(text.data + at, "\\u0000", 6) == 0) return at;
        at++; /* what the backslash escapes, another one too */
    }
    return text.size;
}

/* Texts of payloads become names of metrics and keys of series: as raw bytes, a NUL is refused in
 * its escaped form, too. */
static mrd_status check_payload(const mrd__envelope *e, mrd_error *error)
{
    mrd__str payload = e->payload;
    if (payload.size == 0 || memchr(payload.data, '\\', payload.size) == NULL) return MRD_OK;
    size_t at = escaped_nul(payload);
    if (at == payload.size) return MRD_OK;
    at += (size_t)(payload.data - e->bytes.data);
    mrd_status status =
        mrd__fail(error, MRD_ERR_FORMAT, "bad_line",
                  "a text at byte %zu of the line holds \\u0000, allowed is text without NUL", at);
    if (error != NULL) error->offset = (int64_t)at;
    return status;
}

mrd_status mrd__envelope_from_json(mrd__envelope *envelope, mrd__str line, mrd__buf *texts,
                                   mrd_error *error)
{
    if (line.size > MRD__ENVELOPE_LINE_MAX)
        return mrd__fail(error, MRD_ERR_LIMIT, "line_size",
                         "a line of %zu bytes, allowed are up to %zu", line.size,
                         MRD__ENVELOPE_LINE_MAX);
    MRD__TRY(check_text(line, error));
    const mrd__envelope empty = {.source_epoch = 1, .target_generation = 1, .bytes = line};
    *envelope = empty;
    mrd__buf_clear(texts);
    if (read_plain(envelope, line)) {
        /* A nested payload may have escapes. */
        MRD__TRY(check_payload(envelope, error));
        return complete(envelope, error);
    }
    *envelope = empty;
    reading r = {.envelope = envelope, .texts = texts, .error = error};
    mrd__json_init(&r.json, line.data, line.size);
    MRD__TRY(take_members(&r));
    MRD__TRY(check_payload(envelope, error));
    return complete(envelope, error);
}
