/* Debug annotations as JSON text. */
#include "ingest/perfetto/state.h"

#include "base/json.h"

#include <inttypes.h>

static void add_text(mrd__pf *pf, mrd__str text)
{
    mrd__buf_json_string(&pf->json, text);
}

static void add_interned(mrd__pf *pf, mrd__pf_sequence *sequence, mrd__pf_kind kind, uint64_t iid)
{
    add_text(pf, mrd__shard_text(pf->shard, mrd__pf_interned(pf, sequence, kind, iid)));
}

/* JSON that the writer made: as it stands when it is JSON, else as a text. */
static void add_json(mrd__pf *pf, mrd__str text)
{
    mrd__json json;
    mrd__json_init(&json, text.data, text.size);
    uint32_t depth = 0;
    mrd__json_token token;
    do {
        token = mrd__json_next(&json);
        if (json.depth > depth) depth = json.depth;
    } while (token.type != MRD__JSON_ERROR && token.type != MRD__JSON_END);
    bool good = token.type == MRD__JSON_END && depth < MRD__PF_MAX_JSON && mrd__utf8_valid(text);
    if (good)
        mrd__buf_str(&pf->json, text);
    else
        add_text(pf, text);
}

void mrd__pf_comma(mrd__pf *pf)
{
    char last = pf->json.data[pf->json.size - 1];
    if (last != '{' && last != '[') mrd__buf_char(&pf->json, ',');
}

/* ---- NestedValue ---- */

static void add_nested(mrd__pf *pf, mrd__str message, unsigned depth);

static uint64_t nested_type(mrd__str message)
{
    uint64_t type = 0;
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);)
        if (f.key == PB_VARINT(NESTED_TYPE)) type = f.value;
    return type;
}

static void add_nested_dict(mrd__pf *pf, mrd__str message, unsigned depth)
{
    mrd__pb keys = mrd__pb_of(message);
    mrd__pb values = keys;
    mrd__buf_char(&pf->json, '{');
    mrd__pb_field key;
    mrd__pb_field value;
    for (;;) {
        bool more = false;
        while ((more = mrd__pb_next(&keys, &key)) && key.key != PB_BYTES(NESTED_KEYS)) {
        }
        if (!more) break;
        while ((more = mrd__pb_next(&values, &value)) && value.key != PB_BYTES(NESTED_VALUES)) {
        }
        if (!more) break;
        mrd__pf_comma(pf);
        add_text(pf, key.bytes);
        mrd__buf_char(&pf->json, ':');
        add_nested(pf, value.bytes, depth + 1);
    }
    mrd__buf_char(&pf->json, '}');
}

static void add_nested_array(mrd__pf *pf, mrd__str message, unsigned depth)
{
    mrd__buf_char(&pf->json, '[');
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        if (f.key != PB_BYTES(NESTED_ARRAY)) continue;
        mrd__pf_comma(pf);
        add_nested(pf, f.bytes, depth + 1);
    }
    mrd__buf_char(&pf->json, ']');
}

static void add_nested_leaf(mrd__pf *pf, mrd__str message)
{
    size_t before = pf->json.size;
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; pf->json.size == before && mrd__pb_next(&at, &f);) {
        if (f.key == PB_VARINT(NESTED_INT)) mrd__buf_int(&pf->json, mrd__pb_int(f.value));
        if (f.key == PB_FIXED64(NESTED_DOUBLE))
            mrd__buf_json_real(&pf->json, mrd__pb_double(f.value));
        if (f.key == PB_VARINT(NESTED_BOOL))
            mrd__buf_text(&pf->json, f.value != 0 ? "true" : "false");
        if (f.key == PB_BYTES(NESTED_STRING)) add_text(pf, f.bytes);
    }
    if (pf->json.size == before) mrd__buf_text(&pf->json, "null");
}

static void add_nested(mrd__pf *pf, mrd__str message, unsigned depth)
{
    uint64_t type = nested_type(message);
    if (depth > MRD__PF_MAX_ANNOTATIONS) {
        mrd__pf_loss(pf, MRD__LOSS_ARGS_TOO_DEEP, NULL);
        mrd__buf_text(&pf->json, "null");
    } else if (type == NESTED_IS_DICT) {
        add_nested_dict(pf, message, depth);
    } else if (type == NESTED_IS_ARRAY) {
        add_nested_array(pf, message, depth);
    } else {
        add_nested_leaf(pf, message);
    }
}

/* ---- DebugAnnotation ---- */

static void add_name(mrd__pf *pf, mrd__pf_sequence *sequence, mrd__str message)
{
    mrd__pb at = mrd__pb_of(message);
    uint64_t iid = 0;
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        if (f.key == PB_VARINT(ANNOTATION_NAME_IID)) iid = f.value;
        if (f.key != PB_BYTES(ANNOTATION_NAME)) continue;
        add_text(pf, f.bytes);
        return;
    }
    add_interned(pf, sequence, MRD__PF_ANNOTATION_NAME, iid);
}

/* One plain value; false when the field is none. */
static bool add_leaf(mrd__pf *pf, mrd__pf_sequence *sequence, const mrd__pb_field *f)
{
    switch (f->key) {
    case PB_VARINT(ANNOTATION_BOOL):
        mrd__buf_text(&pf->json, f->value != 0 ? "true" : "false");
        return true;
    case PB_VARINT(ANNOTATION_UINT):
        mrd__buf_uint(&pf->json, f->value);
        return true;
    case PB_VARINT(ANNOTATION_INT):
        mrd__buf_int(&pf->json, mrd__pb_int(f->value));
        return true;
    case PB_FIXED64(ANNOTATION_DOUBLE):
        mrd__buf_json_real(&pf->json, mrd__pb_double(f->value));
        return true;
    case PB_BYTES(ANNOTATION_STRING):
        add_text(pf, f->bytes);
        return true;
    case PB_VARINT(ANNOTATION_STRING_IID):
        add_interned(pf, sequence, MRD__PF_STRING_VALUE, f->value);
        return true;
    case PB_VARINT(ANNOTATION_POINTER):
        mrd__buf_printf(&pf->json, "\"0x%" PRIx64 "\"", f->value);
        return true;
    case PB_BYTES(ANNOTATION_JSON):
        add_json(pf, f->bytes);
        return true;
    case PB_BYTES(ANNOTATION_NESTED):
        add_nested(pf, f->bytes, 1);
        return true;
    default:
        return false;
    }
}

static void add_value(mrd__pf *pf, mrd__pf_sequence *sequence, mrd__str message, unsigned depth);

/* The members of a dictionary or the values of an array. */
static void add_members(mrd__pf *pf, mrd__pf_sequence *sequence, mrd__str message, uint32_t key,
                        unsigned depth)
{
    bool dict = key == PB_BYTES(ANNOTATION_DICT);
    mrd__buf_char(&pf->json, dict ? '{' : '[');
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        if (f.key != key) continue;
        mrd__pf_comma(pf);
        if (dict) {
            add_name(pf, sequence, f.bytes);
            mrd__buf_char(&pf->json, ':');
        }
        add_value(pf, sequence, f.bytes, depth + 1);
    }
    mrd__buf_char(&pf->json, dict ? '}' : ']');
}

/* A message: its fields when its type is described, else how long it is. */
static void add_message(mrd__pf *pf, mrd__pf_sequence *sequence, mrd__str message, mrd__str value,
                        unsigned depth)
{
    mrd__buf type = {0};
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        mrd__str name = {0};
        if (f.key == PB_BYTES(ANNOTATION_TYPE)) name = f.bytes;
        if (f.key == PB_VARINT(ANNOTATION_TYPE_IID))
            name = mrd__shard_text(pf->shard,
                                   mrd__pf_interned(pf, sequence, MRD__PF_VALUE_TYPE, f.value));
        if (name.size == 0) continue;
        mrd__buf_clear(&type);
        if (name.data[0] != '.') mrd__buf_char(&type, '.');
        mrd__buf_str(&type, name);
    }
    if (!mrd__pf_message(pf, sequence, (mrd__str){type.data, type.size}, value, depth))
        mrd__buf_printf(&pf->json, "\"%zu bytes\"", value.size);
    mrd__buf_reset(&type);
}

static void add_value(mrd__pf *pf, mrd__pf_sequence *sequence, mrd__str message, unsigned depth)
{
    if (depth > MRD__PF_MAX_ANNOTATIONS) {
        mrd__pf_loss(pf, MRD__LOSS_ARGS_TOO_DEEP, NULL);
        mrd__buf_text(&pf->json, "null");
        return;
    }
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        if (add_leaf(pf, sequence, &f)) return;
        if (f.key == PB_BYTES(ANNOTATION_PROTO_VALUE)) {
            add_message(pf, sequence, message, f.bytes, depth + 1);
            return;
        }
        if (f.key != PB_BYTES(ANNOTATION_DICT) && f.key != PB_BYTES(ANNOTATION_ARRAY)) continue;
        add_members(pf, sequence, message, f.key, depth);
        return;
    }
    mrd__buf_text(&pf->json, "null");
}

void mrd__pf_annotation(mrd__pf *pf, mrd__pf_sequence *sequence, mrd__str message, unsigned depth)
{
    mrd__pf_comma(pf);
    add_name(pf, sequence, message);
    mrd__buf_char(&pf->json, ':');
    add_value(pf, sequence, message, depth);
}
