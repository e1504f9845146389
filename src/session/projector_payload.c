/* The members of a payload that mean something, in one pass without a tree. */
#include "base/json.h"
#include "session/projector_state.h"

#include <string.h>

enum {
    PLAIN_MEMBERS = 32, /* more than any kind has */
};

mrd__reading_value mrd__projector_value(mrd__str text, unsigned json_type, bool nonstandard)
{
    mrd__reading_value value = {.given = MRD__GIVEN_UNSUPPORTED};
    if (json_type == MRD__JSON_NULL) value.given = MRD__GIVEN_NULL;
    if (json_type != MRD__JSON_NUMBER || nonstandard) return value;
    if (mrd__parse_int64(text, &value.number.integer)) {
        value.given = MRD__GIVEN_INTEGER;
    } else if (mrd__parse_uint64(text, &value.number.natural)) {
        value.given = MRD__GIVEN_NATURAL;
    } else if (mrd__parse_double(text, &value.number.real)) {
        value.given = MRD__GIVEN_REAL;
    }
    return value;
}

/* Decoded texts of one payload are never longer than it: reserved once, they stay. */
static mrd__str text_of(applying *a, const mrd__json_token *token)
{
    if (!token->escaped) return token->text;
    mrd__buf *scratch = &a->p->scratch;
    mrd__buf_reserve(scratch, a->envelope->payload.size - scratch->size);
    size_t from = scratch->size;
    mrd__json_decode(scratch, token->text, NULL);
    return (mrd__str){scratch->data + from, scratch->size - from};
}

/* Members come in the same order again and again: the next one is tried first. */
static uint32_t field_of(stream_state *s, mrd__str name)
{
    for (uint32_t i = 0, at = s->next_field; i < s->field_count; i++, at++) {
        if (at >= s->field_count) at = 0;
        mrd__str known = s->fields[at].name;
        if (known.size != name.size || memcmp(known.data, name.data, name.size) != 0) continue;
        s->next_field = at + 1;
        return at;
    }
    return FIELDS_MAX;
}

/* What every kind may have. */
static void take_common(applying *a, mrd__str name, const mrd__json_token *token, mrd__str raw)
{
    const struct {
        const char *name;
        mrd__str *raw;
    } parts[] = {{"gauges", &a->gauges}, {"counters", &a->counters}, {"units", &a->units}};
    for (size_t i = 0; i < 3; i++) {
        if (mrd__str_is(name, parts[i].name) && token->type == MRD__JSON_OBJECT)
            *parts[i].raw = raw;
    }
    if (mrd__str_is(name, "unsupported")) {
        if (token->type == MRD__JSON_ARRAY) a->unsupported = raw;
        if (token->type == MRD__JSON_STRING) a->blanket = MRD__GIVEN_UNSUPPORTED;
    } else if (mrd__str_is(name, "missing") && token->type == MRD__JSON_STRING) {
        if (a->blanket == MRD__GIVEN_ABSENT) a->blanket = MRD__GIVEN_NULL;
    } else if (mrd__str_is(name, "cadenceNs")) {
        mrd__reading_value value = mrd__projector_value(token->text, token->type, false);
        source_state *of = &a->p->sources.data[a->p->streams.data[a->stream].source];
        if (value.given == MRD__GIVEN_INTEGER && value.number.integer > 0)
            of->cadence_ns = value.number.integer;
    }
}

static void take_field(applying *a, uint32_t at, const mrd__json_token *token,
                       const mrd__reading_value *known)
{
    field_value *value = &a->values[at];
    if (value->value.given != MRD__GIVEN_ABSENT) {
        /* Twice: which one counts is not known. */
        *value = (field_value){.value = {.given = MRD__GIVEN_UNSUPPORTED}};
        return;
    }
    value->value =
        known != NULL ? *known : mrd__projector_value(token->text, token->type, token->nonstandard);
    value->is_true = token->type == MRD__JSON_TRUE;
    value->is_false = token->type == MRD__JSON_FALSE;
    if (token->type == MRD__JSON_STRING) value->text = text_of(a, token);
    if (token->type == MRD__JSON_NUMBER) value->text = token->text;
}

/* A payload as programs print it, in one pass. False: nothing was taken. */
static bool take_plain(applying *a, stream_state *s, mrd__str payload)
{
    mrd__json_member members[PLAIN_MEMBERS];
    size_t count, end = 0;
    if (!mrd__json_members(payload.data, payload.size, &end, 0, members, PLAIN_MEMBERS, &count))
        return false;
    for (size_t i = 0; i < count; i++) {
        const mrd__json_member *m = &members[i];
        mrd__reading_value whole = {.given = MRD__GIVEN_INTEGER};
        whole.number.integer = (int64_t)m->number;
        uint32_t at = field_of(s, m->key);
        if (at < FIELDS_MAX)
            take_field(a, at, &m->value, m->whole ? &whole : NULL);
        else
            take_common(a, m->key, &m->value, m->raw);
    }
    return true;
}

void mrd__projector_payload(applying *a)
{
    stream_state *s = &a->p->streams.data[a->stream];
    mrd__str payload = a->envelope->payload;
    mrd__buf_clear(&a->p->scratch);
    s->next_field = s->next_field >= s->field_count ? 0 : s->next_field;
    if (payload.size == 0 || take_plain(a, s, payload)) return;
    mrd__json json;
    mrd__json_init(&json, payload.data, payload.size);
    bool good = mrd__json_next(&json).type == MRD__JSON_OBJECT;
    while (good) {
        mrd__json_token key = mrd__json_next(&json);
        if (key.type == MRD__JSON_OBJECT_END) return;
        mrd__json_token value = mrd__json_next(&json);
        good = key.type == MRD__JSON_KEY && mrd__json_skip(&json, value);
        if (!good) break;
        mrd__str name = text_of(a, &key);
        uint32_t at = field_of(s, name);
        if (at < FIELDS_MAX)
            take_field(a, at, &value, NULL);
        else
            take_common(a, name, &value,
                        (mrd__str){payload.data + value.offset, json.at - value.offset});
    }
    a->p->counts.bad_payloads++;
}
