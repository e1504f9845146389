#include "export/wire.h"

#include "base/alloc.h"
#include "base/json.h"

#include <string.h>

enum { /* wire types, fields of DebugAnnotation */
    VARINT = 0,
    FIXED64 = 1,
    BYTES = 2,
    NOTE_BOOL = 2,
    NOTE_UINT = 3,
    NOTE_INT = 4,
    NOTE_DOUBLE = 5,
    NOTE_STRING = 6,
    NOTE_JSON = 9,
    NOTE_NAME = 10,
    NOTE_MEMBER = 11,
    NOTE_ELEMENT = 12,
};

static void add_varint(mrd__buf *out, uint64_t value)
{
    while (value >= 0x80) {
        mrd__buf_char(out, (char)(value | 0x80));
        value >>= 7;
    }
    mrd__buf_char(out, (char)value);
}

void mrd__wire_varint(mrd__buf *out, unsigned field, uint64_t value)
{
    add_varint(out, field << 3 | VARINT);
    add_varint(out, value);
}

void mrd__wire_fixed64(mrd__buf *out, unsigned field, uint64_t value)
{
    add_varint(out, field << 3 | FIXED64);
    mrd__buf_add(out, &value, sizeof value); /* little endian, as the machine is */
}

void mrd__wire_double(mrd__buf *out, unsigned field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    mrd__wire_fixed64(out, field, bits);
}

void mrd__wire_bytes(mrd__buf *out, unsigned field, mrd__str bytes)
{
    add_varint(out, field << 3 | BYTES);
    add_varint(out, bytes.size);
    mrd__buf_add(out, bytes.data, bytes.size);
}

/* ---- Annotations ---- */

static bool is_minus_zero(mrd__str text)
{
    return text.size == 2 && text.data[0] == '-' && text.data[1] == '0';
}

/* Is this how the double is written when it comes back? 1.50 and 1e3 are numbers too, but are kept
 * as the text that they are. */
static bool is_spelled(mrd__str text, double value)
{
    mrd__buf again = {0};
    mrd__buf_json_real(&again, value);
    bool same = mrd__str_equal((mrd__str){again.data, again.size}, text);
    mrd__buf_reset(&again);
    return same;
}

static void add_number(mrd__buf *out, const mrd__json_token *token)
{
    mrd__str text = token->text;
    int64_t whole;
    uint64_t large;
    double real;
    if (mrd__parse_int64(text, &whole) && !is_minus_zero(text))
        mrd__wire_varint(out, NOTE_INT, (uint64_t)whole);
    else if (mrd__parse_uint64(text, &large))
        mrd__wire_varint(out, NOTE_UINT, large);
    else if (mrd__parse_double(text, &real) && is_spelled(text, real))
        mrd__wire_double(out, NOTE_DOUBLE, real);
    else if (token->nonstandard) /* NaN and infinities are no JSON */
        mrd__wire_bytes(out, NOTE_STRING, text);
    else
        mrd__wire_bytes(out, NOTE_JSON, text);
}

static void add_scalar(mrd__buf *out, const mrd__json_token *token)
{
    mrd__buf text = {0};
    switch (token->type) {
    case MRD__JSON_STRING:
        mrd__json_decode(&text, token->text, NULL);
        mrd__wire_bytes(out, NOTE_STRING, (mrd__str){text.data, text.size});
        mrd__buf_reset(&text);
        return;
    case MRD__JSON_NUMBER:
        add_number(out, token);
        return;
    case MRD__JSON_TRUE:
    case MRD__JSON_FALSE:
        mrd__wire_varint(out, NOTE_BOOL, token->type == MRD__JSON_TRUE);
        return;
    default:
        mrd__wire_bytes(out, NOTE_JSON, MRD__STR("null"));
    }
}

/* An open container: the annotation that it is the value of. */
typedef struct level {
    mrd__buf note;
    bool object, empty;
} level;

/* What the value is, and that it is there: an empty container has no members to tell it by. */
static void close_level(level *levels, size_t depth)
{
    level *gone = &levels[depth];
    if (gone->empty)
        mrd__wire_bytes(&gone->note, NOTE_JSON, gone->object ? MRD__STR("{}") : MRD__STR("[]"));
    level *above = &levels[depth - 1];
    mrd__wire_bytes(&above->note, above->object ? NOTE_MEMBER : NOTE_ELEMENT,
                    (mrd__str){gone->note.data, gone->note.size});
    above->empty = false;
    mrd__buf_reset(&gone->note);
}

static void begin_note(level *levels, size_t depth, mrd__buf *note, mrd__buf *key)
{
    if (levels[depth].object)
        mrd__wire_bytes(note, NOTE_NAME, (mrd__str){key->data ? key->data : "", key->size});
}

/* Members of the object as annotations into levels[0].note. */
static void read_object(level *levels, mrd__json *json, mrd__buf *key)
{
    size_t depth = 0;
    for (;;) {
        mrd__json_token token = mrd__json_next(json);
        mrd__buf note = {0};
        switch (token.type) {
        case MRD__JSON_ERROR:
        case MRD__JSON_END:
            return;
        case MRD__JSON_KEY:
            mrd__buf_clear(key);
            mrd__json_decode(key, token.text, NULL);
            break;
        case MRD__JSON_OBJECT:
        case MRD__JSON_ARRAY:
            begin_note(levels, depth, &note, key);
            depth++;
            levels[depth] = (level){note, token.type == MRD__JSON_OBJECT, true};
            break;
        case MRD__JSON_OBJECT_END:
        case MRD__JSON_ARRAY_END:
            if (depth == 0) return;
            close_level(levels, depth--);
            break;
        default:
            begin_note(levels, depth, &note, key);
            add_scalar(&note, &token);
            mrd__wire_bytes(&levels[depth].note, levels[depth].object ? NOTE_MEMBER : NOTE_ELEMENT,
                            (mrd__str){note.data, note.size});
            levels[depth].empty = false;
            mrd__buf_reset(&note);
        }
    }
}

/* Fields NOTE_MEMBER of the list as fields of the event. */
static void move_members(mrd__buf *out, unsigned field, const mrd__buf *members)
{
    for (size_t at = 0; at < members->size;) {
        uint64_t size = 0;
        unsigned shift = 0;
        at++; /* the key: NOTE_MEMBER in one byte */
        for (;; shift += 7) {
            uint8_t byte = (uint8_t)members->data[at++];
            size |= (uint64_t)(byte & 0x7f) << shift;
            if (byte < 0x80) break;
        }
        mrd__wire_bytes(out, field, (mrd__str){members->data + at, size});
        at += size;
    }
}

void mrd__wire_annotations(mrd__buf *out, unsigned field, mrd__str text)
{
    mrd__json json;
    mrd__buf key = {0};
    mrd__json_init(&json, text.data, text.size);
    if (mrd__json_next(&json).type != MRD__JSON_OBJECT) return;
    level *levels = mrd__new_array(level, MRD__JSON_MAX_DEPTH + 1);
    levels[0].object = true;
    read_object(levels, &json, &key);
    move_members(out, field, &levels[0].note);
    for (size_t i = 0; i <= MRD__JSON_MAX_DEPTH; i++)
        mrd__buf_reset(&levels[i].note);
    mrd__free(levels);
    mrd__buf_reset(&key);
}

void mrd__wire_annotation_text(mrd__buf *out, unsigned field, mrd__str name, mrd__str value)
{
    mrd__buf note = {0};
    mrd__wire_bytes(&note, NOTE_NAME, name);
    mrd__wire_bytes(&note, NOTE_STRING, value);
    mrd__wire_bytes(out, field, (mrd__str){note.data, note.size});
    mrd__buf_reset(&note);
}
