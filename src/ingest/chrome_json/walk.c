/* The plain walker: the grammar of RFC 8259 with the tolerated extras (base/json.h), byte by byte,
 * without recursion. It is the oracle that the fast walker is held to, and the reader of every
 * event that the fast one does not want.
 *
 * Its verdict depends on a prefix only: once OK or ERROR was said, more text changes nothing, and
 * where MORE was said, more text may say anything. That makes input in chunks of any size give the
 * same result. */
#include "ingest/chrome_json/event.h"
#include "ingest/chrome_json/limits.h"

#include <stdlib.h>
#include <string.h>

enum {
    STATE_VALUE,
    STATE_FIRST_VALUE,
    STATE_FIRST_KEY,
    STATE_KEY,
    STATE_AFTER
};
enum {
    FEW_KEYS = 16
};

mrd__cj_field mrd__cj_field_of(const char *key, size_t size)
{
    static const char names[MRD__CJ_FIELDS][12] = {[MRD__CJ_PH] = "ph",
                                                   [MRD__CJ_NAME] = "name",
                                                   [MRD__CJ_CAT] = "cat",
                                                   [MRD__CJ_TS] = "ts",
                                                   [MRD__CJ_DUR] = "dur",
                                                   [MRD__CJ_PID] = "pid",
                                                   [MRD__CJ_TID] = "tid",
                                                   [MRD__CJ_ARGS] = "args",
                                                   [MRD__CJ_ID] = "id",
                                                   [MRD__CJ_ID2] = "id2",
                                                   [MRD__CJ_SCOPE] = "scope",
                                                   [MRD__CJ_S] = "s",
                                                   [MRD__CJ_BP] = "bp",
                                                   [MRD__CJ_BIND_ID] = "bind_id",
                                                   [MRD__CJ_FLOW_IN] = "flow_in",
                                                   [MRD__CJ_FLOW_OUT] = "flow_out",
                                                   [MRD__CJ_SF] = "sf",
                                                   [MRD__CJ_STACK] = "stack",
                                                   [MRD__CJ_PROCESS_NAME] = "processName",
                                                   [MRD__CJ_MERIDIAN] = "meridian"};
    for (int i = 0; i < MRD__CJ_FIELDS; i++) {
        if (strlen(names[i]) == size && memcmp(names[i], key, size) == 0) return (mrd__cj_field)i;
    }
    return MRD__CJ_UNKNOWN;
}

void mrd__cj_walk_reset(mrd__cj_walk *walk)
{
    mrd__vec_reset(&walk->kinds);
    mrd__vec_reset(&walk->first_keys);
    mrd__vec_reset(&walk->keys);
    mrd__arena_reset(&walk->decoded);
    mrd__buf_reset(&walk->scratch);
}

void mrd__cj_walk_start(mrd__cj_walk *walk, const char *data, size_t size, size_t at)
{
    walk->data = data;
    walk->size = size;
    walk->at = at;
    walk->nonstandard = walk->duplicates = 0;
    walk->stats = (mrd__json_text_stats){0};
    walk->string_too_long = false;
    walk->deepest = 0;
    walk->keys.count = 0;
    walk->first_keys.count = 0;
    if (walk->decoded.head != NULL) mrd__arena_reset(&walk->decoded);
}

static mrd__cj_status fail(mrd__cj_walk *walk, size_t at, const char *what)
{
    walk->error_at = at;
    walk->error_what = what;
    return MRD__CJ_ERROR;
}

static bool skip_space(mrd__cj_walk *walk)
{
    while (walk->at < walk->size && mrd__cj_space(walk->data[walk->at]))
        walk->at++;
    return walk->at < walk->size;
}

/* ---- Scalars ---- */

mrd__cj_status mrd__cj_walk_string(mrd__cj_walk *walk, mrd__cj_value *out)
{
    size_t start = walk->at + 1;
    bool backslash = false, odd = false;
    for (size_t at = start; at < walk->size; at++) {
        unsigned char c = (unsigned char)walk->data[at];
        if (c == '"') {
            *out = (mrd__cj_value){.at = walk->data + start,
                                   .size = (uint32_t)(at - start),
                                   .type = MRD__JSON_STRING,
                                   .scale = MRD__CJ_UNSCALED};
            walk->at = at + 1;
            if (at - start > MRD__CJ_MAX_STRING) walk->string_too_long = true;
            if (!backslash && !odd) return MRD__CJ_OK;
            mrd__json_text_stats before = walk->stats;
            mrd__buf_clear(&walk->scratch);
            mrd__json_decode(&walk->scratch, (mrd__str){out->at, out->size}, &walk->stats);
            out->special = backslash || walk->stats.invalid_utf8 > before.invalid_utf8;
            return MRD__CJ_OK;
        }
        if (c == '\\') {
            backslash = true;
            at++;
        } else if (c < 0x20 || c >= 0x80) {
            odd = true;
        }
    }
    return MRD__CJ_MORE;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Letters, digits and what may stand in a number: a word ends before anything else. */
static bool is_word(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '.' || c == '+' || c == '-';
}

/* Digits at *at (at least one); false: an error or the end of the text there. */
static bool skip_digits(const mrd__cj_walk *walk, size_t *at)
{
    size_t start = *at;
    while (*at < walk->size && is_digit(walk->data[*at]))
        (*at)++;
    return *at > start && *at < walk->size;
}

static mrd__cj_status number_stops(mrd__cj_walk *walk, size_t at)
{
    return at == walk->size ? MRD__CJ_MORE : fail(walk, at, "malformed number");
}

static mrd__cj_status walk_number(mrd__cj_walk *walk)
{
    size_t at = walk->at + (walk->data[walk->at] == '-');
    size_t whole = at;
    if (!skip_digits(walk, &at)) {
        if (at > whole + 1 && walk->data[whole] == '0') return fail(walk, whole, "leading zero");
        return number_stops(walk, at);
    }
    if (at > whole + 1 && walk->data[whole] == '0') return fail(walk, whole, "leading zero");
    if (walk->data[at] == '.') {
        at++;
        if (!skip_digits(walk, &at)) return number_stops(walk, at);
    }
    if (walk->data[at] == 'e' || walk->data[at] == 'E') {
        at++;
        if (at < walk->size && (walk->data[at] == '+' || walk->data[at] == '-')) at++;
        if (!skip_digits(walk, &at)) return number_stops(walk, at);
    }
    if (is_word(walk->data[at])) return fail(walk, at, "malformed number");
    walk->at = at;
    return MRD__CJ_OK;
}

/* true, false, null, NaN, nan, Infinity, inf and their signed forms. */
static mrd__cj_status walk_word(mrd__cj_walk *walk, mrd__json_type *type)
{
    static const struct {
        const char *word;
        mrd__json_type type;
    } words[] = {{"true", MRD__JSON_TRUE},      {"false", MRD__JSON_FALSE},
                 {"null", MRD__JSON_NULL},      {"NaN", MRD__JSON_NUMBER},
                 {"nan", MRD__JSON_NUMBER},     {"inf", MRD__JSON_NUMBER},
                 {"Infinity", MRD__JSON_NUMBER}};
    size_t start = walk->at, end = start;
    while (end < walk->size && is_word(walk->data[end]))
        end++;
    if (end == walk->size) return MRD__CJ_MORE;
    if (end == start) return fail(walk, start, "unexpected character");
    bool sign = walk->data[start] == '-' || walk->data[start] == '+';
    mrd__str text = {walk->data + start + sign, end - start - sign};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!mrd__str_is(text, words[i].word)) continue;
        if (words[i].type != MRD__JSON_NUMBER && sign) break;
        walk->nonstandard += words[i].type == MRD__JSON_NUMBER;
        *type = words[i].type;
        walk->at = end;
        return MRD__CJ_OK;
    }
    return fail(walk, start, "unknown word");
}

static mrd__cj_status walk_scalar(mrd__cj_walk *walk, mrd__cj_value *out)
{
    char c = walk->data[walk->at];
    if (c == '"') return mrd__cj_walk_string(walk, out);
    size_t start = walk->at;
    char digit = c;
    if (c == '-') {
        if (walk->at + 1 == walk->size) return MRD__CJ_MORE;
        digit = walk->data[walk->at + 1];
    }
    mrd__json_type type = MRD__JSON_NUMBER;
    mrd__cj_status status =
        is_digit(digit) || digit == '-' ? walk_number(walk) : walk_word(walk, &type);
    *out = (mrd__cj_value){.at = walk->data + start,
                           .size = (uint32_t)(walk->at - start),
                           .type = (uint8_t)type,
                           .scale = MRD__CJ_UNSCALED};
    return status;
}

/* ---- Levels and their keys ---- */

static size_t depth_of(const mrd__cj_walk *walk)
{
    return walk->first_keys.count;
}

static bool in_object(const mrd__cj_walk *walk)
{
    size_t level = depth_of(walk) - 1;
    return walk->kinds.data[level / 64] >> (level % 64) & 1;
}

static void open_level(mrd__cj_walk *walk, bool object)
{
    size_t level = depth_of(walk);
    if (level / 64 >= walk->kinds.count) mrd__vec_push(&walk->kinds, 0);
    uint64_t bit = 1ull << (level % 64);
    uint64_t *word = &walk->kinds.data[level / 64];
    *word = object ? *word | bit : *word & ~bit;
    mrd__vec_push(&walk->first_keys, walk->keys.count);
    walk->at++;
}

static int compare_keys(const void *left, const void *right)
{
    const mrd__cj_key *a = left, *b = right;
    if (a->hash != b->hash) return a->hash < b->hash ? -1 : 1;
    if (a->size != b->size) return a->size < b->size ? -1 : 1;
    return memcmp(a->at, b->at, a->size);
}

/* How many keys of an object stand there again. */
static uint64_t count_duplicates(mrd__cj_key *keys, size_t count)
{
    uint64_t found = 0;
    if (count <= FEW_KEYS) {
        for (size_t i = 1; i < count; i++) {
            size_t j = 0;
            while (j < i && compare_keys(&keys[i], &keys[j]) != 0)
                j++;
            found += j < i;
        }
        return found;
    }
    qsort(keys, count, sizeof *keys, compare_keys);
    for (size_t i = 1; i < count; i++)
        found += compare_keys(&keys[i], &keys[i - 1]) == 0;
    return found;
}

static void close_level(mrd__cj_walk *walk)
{
    size_t first = walk->first_keys.data[walk->first_keys.count - 1];
    size_t count = walk->keys.count - first;
    if (count > 1) walk->duplicates += count_duplicates(walk->keys.data + first, count);
    walk->keys.count = first;
    walk->first_keys.count--;
    walk->at++;
}

/* A key with its colon; *key is decoded. */
static mrd__cj_status walk_key(mrd__cj_walk *walk, mrd__str *key)
{
    if (walk->data[walk->at] != '"') return fail(walk, walk->at, "expected a key");
    mrd__cj_value text;
    mrd__cj_status status = mrd__cj_walk_string(walk, &text);
    if (status != MRD__CJ_OK) return status;
    *key = (mrd__str){text.at, text.size};
    if (text.special) {
        mrd__buf_clear(&walk->scratch);
        mrd__json_decode(&walk->scratch, *key, NULL);
        key->size = walk->scratch.size;
        key->data = mrd__arena_text(&walk->decoded, walk->scratch.data, key->size);
    }
    mrd__cj_key entry = {key->data, key->size, mrd__hash(key->data, key->size)};
    mrd__vec_push(&walk->keys, entry);
    if (!skip_space(walk)) return MRD__CJ_MORE;
    if (walk->data[walk->at] != ':') return fail(walk, walk->at, "expected a colon");
    walk->at++;
    return MRD__CJ_OK;
}

/* ---- Values ---- */

/* One step inside a value; *state is what may come next. */
static mrd__cj_status walk_step(mrd__cj_walk *walk, int *state)
{
    char c = walk->data[walk->at];
    mrd__cj_value ignored;
    mrd__str key;
    switch (*state) {
    case STATE_AFTER:
        if (c == ',') {
            walk->at++;
            *state = in_object(walk) ? STATE_KEY : STATE_VALUE;
            return MRD__CJ_OK;
        }
        if (c != (in_object(walk) ? '}' : ']'))
            return fail(walk, walk->at, "expected a comma or the end of the level");
        close_level(walk);
        return MRD__CJ_OK;
    case STATE_FIRST_KEY:
    case STATE_KEY:
        if (*state == STATE_FIRST_KEY && c == '}') {
            close_level(walk);
            *state = STATE_AFTER;
            return MRD__CJ_OK;
        }
        *state = STATE_VALUE;
        return walk_key(walk, &key);
    default:
        if (c == '{' || c == '[') {
            open_level(walk, c == '{');
            *state = c == '{' ? STATE_FIRST_KEY : STATE_FIRST_VALUE;
            return MRD__CJ_OK;
        }
        if (*state == STATE_FIRST_VALUE && c == ']') {
            close_level(walk);
            *state = STATE_AFTER;
            return MRD__CJ_OK;
        }
        *state = STATE_AFTER;
        return walk_scalar(walk, &ignored);
    }
}

mrd__cj_status mrd__cj_walk_value(mrd__cj_walk *walk)
{
    size_t outer = depth_of(walk);
    int state = STATE_VALUE;
    walk->deepest = 0;
    do {
        if (!skip_space(walk)) return MRD__CJ_MORE;
        mrd__cj_status status = walk_step(walk, &state);
        if (status != MRD__CJ_OK) return status;
        size_t depth = depth_of(walk) - outer;
        if (depth > walk->deepest) walk->deepest = depth;
    } while (state != STATE_AFTER || depth_of(walk) > outer);
    return MRD__CJ_OK;
}

/* The value of a field of the event's own level. */
static mrd__cj_status walk_field(mrd__cj_walk *walk, mrd__str key, mrd__cj_event *event)
{
    if (!skip_space(walk)) return MRD__CJ_MORE;
    size_t start = walk->at;
    char c = walk->data[start];
    mrd__cj_value value;
    bool nested = c == '{' || c == '[';
    mrd__cj_status status = nested ? mrd__cj_walk_value(walk) : walk_scalar(walk, &value);
    if (status != MRD__CJ_OK) return status;
    if (nested)
        value = (mrd__cj_value){.at = walk->data + start,
                                .size = (uint32_t)(walk->at - start),
                                .type = c == '{' ? MRD__JSON_OBJECT : MRD__JSON_ARRAY};
    mrd__cj_field field = mrd__cj_field_of(key.data, key.size);
    if (field == MRD__CJ_UNKNOWN) return MRD__CJ_OK;
    event->fields[field] = value;
    event->present |= 1u << field;
    if (field == MRD__CJ_ARGS)
        event->args_too_deep = nested && walk->deepest > MRD__CJ_MAX_ARGS_DEPTH;
    return MRD__CJ_OK;
}

/* Keys and values up to the closing brace, or up to the key "ph" when only_phase. */
static mrd__cj_status walk_object(mrd__cj_walk *walk, mrd__cj_event *event, bool only_phase)
{
    open_level(walk, true);
    if (!skip_space(walk)) return MRD__CJ_MORE;
    while (walk->data[walk->at] != '}' || walk->keys.count > 0) {
        mrd__str key;
        mrd__cj_status status = walk_key(walk, &key);
        if (status == MRD__CJ_OK) status = walk_field(walk, key, event);
        if (status != MRD__CJ_OK) return status;
        if (only_phase && mrd__cj_has(event, MRD__CJ_PH) &&
            event->fields[MRD__CJ_PH].type == MRD__JSON_STRING)
            return MRD__CJ_OK;
        if (!skip_space(walk)) return MRD__CJ_MORE;
        if (walk->data[walk->at] == '}') break;
        if (walk->data[walk->at] != ',')
            return fail(walk, walk->at, "expected a comma or the end of the event");
        walk->at++;
        if (!skip_space(walk)) return MRD__CJ_MORE;
    }
    close_level(walk);
    return only_phase ? fail(walk, walk->at, "no phase") : MRD__CJ_OK;
}

mrd__cj_status mrd__cj_walk_event(mrd__cj_walk *walk, const char *data, size_t size, size_t at,
                                  mrd__cj_event *event)
{
    mrd__cj_walk_start(walk, data, size, at);
    event->present = 0;
    event->args_too_deep = false;
    mrd__cj_status status = walk_object(walk, event, false);
    event->text = data + at;
    event->size = walk->at - at;
    event->plain = false;
    event->string_too_long = walk->string_too_long;
    event->nonstandard = walk->nonstandard;
    event->duplicates = walk->duplicates;
    event->stats = walk->stats;
    return status;
}

mrd__cj_status mrd__cj_walk_is_event(mrd__cj_walk *walk, const char *data, size_t size, size_t at)
{
    mrd__cj_event event = {0};
    bool whole = size - at > MRD__CJ_RESYNC_WINDOW;
    mrd__cj_walk_start(walk, data, whole ? at + MRD__CJ_RESYNC_WINDOW : size, at);
    mrd__cj_status status = walk_object(walk, &event, true);
    return status == MRD__CJ_MORE && whole ? MRD__CJ_ERROR : status;
}
