/* The pull reader: no recursion, one bit per level says object or array, one state says what may
 * come next.
 *
 *   START/VALUE --scalar--> AFTER --','--> VALUE (array) or KEY (object) ...
 *        '{' -> FIRST_KEY (key or '}')      '[' -> FIRST_ELEMENT (value or ']')
 *        key ':' -> VALUE                   AFTER at depth 0 -> END */
#include "base/json.h"
#include "base/assert.h"
#include "base/json_scan.h"
#include "base/utf8.h"

#include <string.h>

enum {
    STATE_VALUE,
    STATE_FIRST_ELEMENT,
    STATE_FIRST_KEY,
    STATE_KEY,
    STATE_AFTER,
    STATE_FAILED
};

void mrd__json_init(mrd__json *json, const char *data, size_t size)
{
    *json = (mrd__json){.data = data, .size = size, .state = STATE_VALUE};
    if (size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0)
        json->at = 3; /* byte order mark: RFC 8259 lets a reader ignore it */
}

static mrd__json_token fail(mrd__json *json, size_t at, const char *what)
{
    if (json->state != STATE_FAILED) {
        json->state = STATE_FAILED;
        json->error_at = at;
        json->error_what = what;
    }
    return (mrd__json_token){.type = MRD__JSON_ERROR, .offset = json->error_at};
}

static mrd__json_token fail_here(mrd__json *json)
{
    return fail(json, json->at, json->at < json->size ? "unexpected character" : "text ends early");
}

static void skip_space(mrd__json *json)
{
    while (json->at < json->size) {
        char c = json->data[json->at];
        if (c != ' ' && c != '\n' && c != '\t' && c != '\r') return;
        json->at++;
    }
}

static char peek(const mrd__json *json)
{
    return json->at < json->size ? json->data[json->at] : '\0';
}

static bool in_object(const mrd__json *json)
{
    uint32_t level = json->depth - 1;
    return json->kinds[level / 64] >> (level % 64) & 1;
}

static mrd__json_token open_level(mrd__json *json, bool object)
{
    if (json->depth == MRD__JSON_MAX_DEPTH)
        return fail(json, json->at, "nested deeper than 512 levels");
    uint64_t bit = 1ull << (json->depth % 64);
    uint64_t *word = &json->kinds[json->depth / 64];
    *word = object ? *word | bit : *word & ~bit;
    json->depth++;
    json->state = object ? STATE_FIRST_KEY : STATE_FIRST_ELEMENT;
    mrd__json_token token = {.type = object ? MRD__JSON_OBJECT : MRD__JSON_ARRAY,
                             .text = {json->data + json->at, 1},
                             .offset = json->at};
    json->at++;
    return token;
}

static mrd__json_token close_level(mrd__json *json, bool object)
{
    json->depth--;
    json->state = STATE_AFTER;
    mrd__json_token token = {.type = object ? MRD__JSON_OBJECT_END : MRD__JSON_ARRAY_END,
                             .text = {json->data + json->at, 1},
                             .offset = json->at};
    json->at++;
    return token;
}

/* At the opening quote. */
static mrd__json_token read_string(mrd__json *json, mrd__json_type type)
{
    size_t start = json->at;
    mrd__json_token token = {.type = type, .offset = start};
    for (size_t at = start + 1; at < json->size; at += 2) {
        at += mrd__json_plain_run(json->data + at, json->size - at);
        if (at == json->size) break;
        if (json->data[at] == '"') {
            token.text = (mrd__str){json->data + start + 1, at - start - 1};
            json->at = at + 1;
            json->state = STATE_AFTER;
            return token;
        }
        token.escaped = true; /* and the byte behind the backslash is skipped */
    }
    return fail(json, start, "text ends inside a string");
}

/* Letters, digits and what may stand in a number: a literal ends before anything else. */
static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '.' || c == '+' || c == '-';
}

static size_t digits_at(const mrd__json *json, size_t at)
{
    size_t count = 0;
    while (at + count < json->size && json->data[at + count] >= '0' &&
           json->data[at + count] <= '9')
        count++;
    return count;
}

/* Length of a number by the grammar of RFC 8259, or 0; *bad is where it goes wrong. */
static size_t number_length(const mrd__json *json, size_t *bad)
{
    size_t at = json->at;
    if (peek(json) == '-') at++;
    size_t whole = digits_at(json, at);
    *bad = at;
    if (whole == 0 || (whole > 1 && json->data[at] == '0')) return 0;
    at += whole;
    if (at < json->size && json->data[at] == '.') {
        size_t fraction = digits_at(json, ++at);
        *bad = at;
        if (fraction == 0) return 0;
        at += fraction;
    }
    if (at < json->size && (json->data[at] == 'e' || json->data[at] == 'E')) {
        at++;
        if (at < json->size && (json->data[at] == '+' || json->data[at] == '-')) at++;
        size_t exponent = digits_at(json, at);
        *bad = at;
        if (exponent == 0) return 0;
        at += exponent;
    }
    *bad = at;
    return at < json->size && is_word(json->data[at]) ? 0 : at - json->at;
}

static mrd__json_token read_number(mrd__json *json)
{
    size_t bad;
    size_t length = number_length(json, &bad);
    if (length == 0)
        return fail(json, bad, bad < json->size ? "malformed number" : "text ends inside a number");
    mrd__json_token token = {
        .type = MRD__JSON_NUMBER, .text = {json->data + json->at, length}, .offset = json->at};
    json->at += length;
    json->state = STATE_AFTER;
    return token;
}

static mrd__json_token read_word(mrd__json *json)
{
    static const struct {
        const char *word;
        mrd__json_type type;
    } words[] = {{"true", MRD__JSON_TRUE}, {"false", MRD__JSON_FALSE}, {"null", MRD__JSON_NULL}};
    static const char *const not_finite[] = {"NaN", "nan", "Infinity", "inf"};
    size_t end = json->at;
    while (end < json->size && is_word(json->data[end]))
        end++;
    mrd__json_token token = {.text = {json->data + json->at, end - json->at}, .offset = json->at};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (mrd__str_is(token.text, words[i].word)) token.type = words[i].type;
    }
    mrd__str unsigned_text = token.text;
    if (unsigned_text.size > 0 && (unsigned_text.data[0] == '-' || unsigned_text.data[0] == '+')) {
        unsigned_text.data++;
        unsigned_text.size--;
    }
    for (size_t i = 0; i < sizeof not_finite / sizeof not_finite[0]; i++) {
        if (mrd__str_is(unsigned_text, not_finite[i])) {
            token.type = MRD__JSON_NUMBER;
            token.nonstandard = true;
        }
    }
    if (token.type == MRD__JSON_ERROR)
        return fail(json, token.offset, end > json->at ? "unknown word" : "unexpected character");
    json->at = end;
    json->state = STATE_AFTER;
    return token;
}

static mrd__json_token read_value(mrd__json *json)
{
    if (json->at == json->size) return fail_here(json);
    char c = peek(json);
    if (c == '{' || c == '[') return open_level(json, c == '{');
    if (c == '"') return read_string(json, MRD__JSON_STRING);
    char digit = c;
    if (c == '-' && json->at + 1 < json->size) digit = json->data[json->at + 1];
    if ((digit >= '0' && digit <= '9') || digit == '-') return read_number(json);
    return read_word(json);
}

/* A key with its colon: the reader never stands between them. */
static mrd__json_token read_key(mrd__json *json)
{
    if (peek(json) != '"') return fail_here(json);
    mrd__json_token token = read_string(json, MRD__JSON_KEY);
    if (token.type == MRD__JSON_ERROR) return token;
    skip_space(json);
    if (peek(json) != ':') return fail_here(json);
    json->at++;
    json->state = STATE_VALUE;
    return token;
}

static mrd__json_token after_value(mrd__json *json)
{
    if (json->depth == 0) {
        if (json->at < json->size) return fail_here(json);
        return (mrd__json_token){.type = MRD__JSON_END, .offset = json->at};
    }
    bool object = in_object(json);
    char c = peek(json);
    if (c == (object ? '}' : ']')) return close_level(json, object);
    if (c != ',') return fail_here(json);
    json->at++;
    skip_space(json);
    return object ? read_key(json) : read_value(json);
}

mrd__json_token mrd__json_next(mrd__json *json)
{
    if (json->state == STATE_FAILED) return fail(json, 0, NULL);
    skip_space(json);
    switch (json->state) {
    case STATE_FIRST_ELEMENT:
        return peek(json) == ']' ? close_level(json, false) : read_value(json);
    case STATE_FIRST_KEY:
        return peek(json) == '}' ? close_level(json, true) : read_key(json);
    case STATE_AFTER:
        return after_value(json);
    default:
        return read_value(json);
    }
}

bool mrd__json_skip(mrd__json *json, mrd__json_token first)
{
    if (first.type == MRD__JSON_ERROR) return false;
    if (first.type != MRD__JSON_OBJECT && first.type != MRD__JSON_ARRAY) return true;
    uint32_t outer = json->depth - 1;
    while (json->depth > outer) {
        if (mrd__json_next(json).type == MRD__JSON_ERROR) return false;
    }
    return true;
}

/* ---- String decoding ---- */

/* Four hex digits at text[at..]; -1 when they are not there. */
static int32_t hex4(mrd__str text, size_t at)
{
    if (text.size < 4 || at > text.size - 4) return -1;
    int32_t value = 0;
    for (size_t i = at; i < at + 4; i++) {
        char c = text.data[i];
        int32_t digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
        if (digit < 0) return -1;
        value = value << 4 | digit;
    }
    return value;
}

/* At "\u". Returns the bytes taken, 0 for a bad escape. */
static size_t decode_unicode(mrd__buf *out, mrd__str raw, size_t at, mrd__json_text_stats *stats)
{
    int32_t unit = hex4(raw, at + 2);
    if (unit < 0) return 0;
    if (unit < 0xd800 || unit > 0xdfff) {
        mrd__utf8_append(out, (uint32_t)unit);
        return 6;
    }
    if (unit < 0xdc00 && raw.size - at >= 12 && raw.data[at + 6] == '\\' &&
        raw.data[at + 7] == 'u') {
        int32_t low = hex4(raw, at + 8);
        if (low >= 0xdc00 && low <= 0xdfff) {
            uint32_t high_part = (uint32_t)(unit - 0xd800) << 10;
            mrd__utf8_append(out, 0x10000 + high_part + (uint32_t)(low - 0xdc00));
            return 12;
        }
    }
    mrd__buf_text(out, MRD__UTF8_REPLACEMENT);
    stats->lone_surrogates++;
    return 6;
}

/* At a backslash. Returns the bytes taken; a bad escape gives its backslash alone, what follows is
 * then read as ordinary characters. */
static size_t decode_escape(mrd__buf *out, mrd__str raw, size_t at, mrd__json_text_stats *stats)
{
    static const char from[] = "\"\\/bfnrt";
    static const char to[] = "\"\\/\b\f\n\r\t";
    char c = at + 1 < raw.size ? raw.data[at + 1] : '\0';
    if (c == 'u') {
        size_t taken = decode_unicode(out, raw, at, stats);
        if (taken > 0) return taken;
    } else if (c != '\0') {
        const char *found = strchr(from, c);
        if (found != NULL) {
            mrd__buf_char(out, to[found - from]);
            return 2;
        }
    }
    mrd__buf_char(out, '\\');
    stats->bad_escapes++;
    return 1;
}

void mrd__json_decode(mrd__buf *out, mrd__str raw, mrd__json_text_stats *stats)
{
    mrd__json_text_stats ignored = {0};
    if (stats == NULL) stats = &ignored;
    if (raw.size == 0) raw.data = ""; /* NULL takes no offset, not even 0 */
    mrd__buf_reserve(out, raw.size);
    size_t clean = 0; /* everything before is already in out */
    size_t at = 0;
    while (at < raw.size) {
        unsigned char c = (unsigned char)raw.data[at];
        if (c < 0x80 && c != '\\') {
            stats->raw_controls += c < 0x20;
            at++;
            continue;
        }
        bool valid = false;
        size_t step = c < 0x80 ? 1 : mrd__utf8_step(raw.data + at, raw.size - at, &valid);
        if (!valid) {
            mrd__buf_add(out, raw.data + clean, at - clean);
            if (c == '\\') {
                step = decode_escape(out, raw, at, stats);
            } else {
                mrd__buf_text(out, MRD__UTF8_REPLACEMENT);
                stats->invalid_utf8++;
            }
            clean = at + step;
        }
        at += step;
    }
    mrd__buf_add(out, raw.data + clean, raw.size - clean);
}
