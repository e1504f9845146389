/* The fast walker: one pass over an event of the ordinary kind.
 *
 * It validates as strictly as the plain walker and leaves to that one whatever is counted or rare:
 * keys that stand twice, numbers that are no JSON, raw control characters, bad UTF-8, surrogates
 * without a mate, deep nesting, and every error. So it needs no bookkeeping of its own, and what
 * it accepts is the same by construction.
 *
 * There is no check for the end of the text: it is followed by zero bytes, and a zero byte is
 * accepted nowhere. Strings are looked through 32 bytes at a time. */
#include "ingest/chrome_json/fast.h"
#include "base/json_scan.h"
#include "ingest/chrome_json/limits.h"

#include <string.h>

#ifdef __AVX2__
#include <immintrin.h>
#endif

enum {
    MAX_UNKNOWN = 8, /* keys of the event that we do not know: tts, tdur, cname, ... */
    MAX_LEVELS = 60, /* of nested values */
    MAX_KEYS = 128,  /* in the open objects of a nested value */
};

/* Bytes that would make a word or number longer. */
static const bool word_bytes[256] = {
    ['0'] = 1, ['1'] = 1, ['2'] = 1, ['3'] = 1, ['4'] = 1, ['5'] = 1, ['6'] = 1, ['7'] = 1,
    ['8'] = 1, ['9'] = 1, ['a'] = 1, ['b'] = 1, ['c'] = 1, ['d'] = 1, ['e'] = 1, ['f'] = 1,
    ['g'] = 1, ['h'] = 1, ['i'] = 1, ['j'] = 1, ['k'] = 1, ['l'] = 1, ['m'] = 1, ['n'] = 1,
    ['o'] = 1, ['p'] = 1, ['q'] = 1, ['r'] = 1, ['s'] = 1, ['t'] = 1, ['u'] = 1, ['v'] = 1,
    ['w'] = 1, ['x'] = 1, ['y'] = 1, ['z'] = 1, ['A'] = 1, ['B'] = 1, ['C'] = 1, ['D'] = 1,
    ['E'] = 1, ['F'] = 1, ['G'] = 1, ['H'] = 1, ['I'] = 1, ['J'] = 1, ['K'] = 1, ['L'] = 1,
    ['M'] = 1, ['N'] = 1, ['O'] = 1, ['P'] = 1, ['Q'] = 1, ['R'] = 1, ['S'] = 1, ['T'] = 1,
    ['U'] = 1, ['V'] = 1, ['W'] = 1, ['X'] = 1, ['Y'] = 1, ['Z'] = 1, ['_'] = 1, ['.'] = 1,
    ['+'] = 1, ['-'] = 1};

static inline bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

static inline const char *skip_space(const char *p)
{
    while (mrd__cj_space(*p))
        p++;
    return p;
}

/* ---- Strings ---- */

static int hex4(const char *p)
{
    int value = 0;
    for (int i = 0; i < 4; i++) {
        char c = p[i];
        int digit = is_digit(c)            ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0) return -1;
        value = value << 4 | digit;
    }
    return value;
}

/* At a backslash: behind a good escape, or NULL. */
static const char *skip_escape(const char *p)
{
    switch (p[1]) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        return p + 2;
    case 'u': {
        int unit = hex4(p + 2);
        if (unit < 0 || (unit >= 0xdc00 && unit <= 0xdfff)) return NULL;
        if (unit < 0xd800 || unit > 0xdbff) return p + 6;
        int low = p[6] == '\\' && p[7] == 'u' ? hex4(p + 8) : -1;
        return low >= 0xdc00 && low <= 0xdfff ? p + 12 : NULL;
    }
    default:
        return NULL;
    }
}

/* A string with something odd in it, from its first byte: at the closing quote, or NULL. */
static const char *odd_string(const char *start, bool *escaped)
{
    const char *p = start;
    bool high = false;
    *escaped = false;
    while (*p != '"') {
        unsigned char c = (unsigned char)*p;
        if (c < 0x20) return NULL;
        if (c == '\\') {
            *escaped = true;
            p = skip_escape(p);
            if (p == NULL) return NULL;
        } else {
            high |= c >= 0x80;
            p++;
        }
    }
    if ((size_t)(p - start) > MRD__CJ_MAX_STRING) return NULL;
    if (high && !mrd__utf8_valid((mrd__str){start, (size_t)(p - start)})) return NULL;
    return p;
}

#ifdef MRD_PLANTED_BUGS
#define LAST_CONTROL 0x0f /* half of the control characters pass uncounted */
#else
#define LAST_CONTROL 0x1f
#endif

#ifdef __AVX2__
/* From the first byte behind the quote: at the closing quote, or NULL. */
static inline const char *string_end(const char *start, bool *escaped)
{
    const __m256i quote = _mm256_set1_epi8('"'), backslash = _mm256_set1_epi8('\\');
    const __m256i last_control = _mm256_set1_epi8(LAST_CONTROL);
    *escaped = false;
    for (const char *p = start;; p += 32) {
        __m256i text = _mm256_loadu_si256((const __m256i *)(const void *)p);
        __m256i control = _mm256_cmpeq_epi8(_mm256_max_epu8(text, last_control), last_control);
        __m256i odd =
            _mm256_or_si256(_mm256_or_si256(control, text), _mm256_cmpeq_epi8(text, backslash));
        uint32_t quotes = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(text, quote));
        uint32_t odds = (uint32_t)_mm256_movemask_epi8(odd);
        uint32_t before = quotes ^ (quotes - 1); /* up to the first quote; all without one */
        if (__builtin_expect((odds & before) != 0, 0)) return odd_string(start, escaped);
        if (quotes != 0) {
            p += __builtin_ctz(quotes);
            return (size_t)(p - start) > MRD__CJ_MAX_STRING ? NULL : p;
        }
    }
}
#else
static inline const char *string_end(const char *start, bool *escaped)
{
    return odd_string(start, escaped);
}
#endif

/* ---- Scalars ---- */

static inline const char *skip_digits(const char *p)
{
    while (is_digit(*p))
        p++;
    return p;
}

/* The exponent at p ('e'), or NULL. */
static const char *exponent_end(const char *p)
{
    p++;
    if (*p == '+' || *p == '-') p++;
    return is_digit(*p) ? skip_digits(p) : NULL;
}

/* Behind a number, or NULL. */
static inline const char *number_end(const char *p)
{
    if (*p == '-') p++;
    if (!is_digit(*p)) return NULL;
    if (*p == '0')
        p++;
    else
        p = skip_digits(p);
    if (*p == '.') {
        if (!is_digit(p[1])) return NULL;
        p = skip_digits(p + 1);
    }
    if ((*p | 0x20) == 'e') {
        p = exponent_end(p);
        if (p == NULL) return NULL;
    }
    return word_bytes[(unsigned char)*p] ? NULL : p;
}

static const uint64_t powers[9] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};

/* The same, and the number itself where it has at most 16 digits before the point and 3 behind. */
static inline const char *read_number(const char *p, mrd__cj_value *value)
{
    const char *start = p;
    bool negative = *p == '-';
    p += negative;
    uint64_t number, more;
    unsigned digits = mrd__json_eight_digits(p, &number);
    value->scale = MRD__CJ_UNSCALED;
    if (digits == 0 || (digits > 1 && *p == '0')) return NULL;
    p += digits;
    if (digits == 8) {
        digits = mrd__json_eight_digits(p, &more);
        if (digits == 8 && is_digit(p[8])) return number_end(start);
        if (digits > 0) number = number * powers[digits] + more;
        p += digits;
    }
    unsigned scale = 0;
    if (*p == '.') {
        scale = mrd__json_eight_digits(++p, &more);
        if (scale == 0) return NULL;
        if (scale > 3 || number >= 9000000000000000u) return number_end(start);
        number = number * powers[scale] + more;
        p += scale;
    }
    if (word_bytes[(unsigned char)*p]) return number_end(start);
    value->scale = (uint8_t)scale;
    value->number = negative ? -(int64_t)number : (int64_t)number;
    return p;
}

static const char *word_end(const char *p, uint8_t *type)
{
    size_t size = 4;
    if (memcmp(p, "true", 4) == 0)
        *type = MRD__JSON_TRUE;
    else if (memcmp(p, "null", 4) == 0)
        *type = MRD__JSON_NULL;
    else if (memcmp(p, "fals", 4) == 0 && p[4] == 'e') {
        *type = MRD__JSON_FALSE;
        size = 5;
    } else
        return NULL;
    return word_bytes[(unsigned char)p[size]] ? NULL : p + size;
}

/* ---- Nested values ---- */

/* Equal keys have equal signs; that unequal ones may too costs a look by the plain walker. */
static inline uint64_t sign_of(const char *key, size_t size)
{
    uint64_t first;
    memcpy(&first, key, 8);
    if (size < 8) return (first & ((1ull << size * 8) - 1)) | (uint64_t)size << 56;
    uint64_t last;
    memcpy(&last, key + size - 8, 8);
    return (first * 0x9e3779b97f4a7c15ull) ^ (last * 0xc2b2ae3d27d4eb4full) ^ size;
}

typedef struct nest {
    uint64_t signs[MAX_KEYS];
    uint64_t bloom[MAX_LEVELS]; /* of the signs of each level */
    uint8_t first[MAX_LEVELS];  /* sign of each level */
    uint32_t count;             /* signs */
    int depth;
    uint64_t objects; /* bit per level */
} nest;

/* False: seen before in this object, or too many. */
static inline bool add_key(nest *n, const char *key, size_t size)
{
    uint64_t sign = sign_of(key, size);
    int level = n->depth - 1;
    uint64_t bit = 1ull << (sign * 0x9e3779b97f4a7c15ull >> 58);
    if (n->bloom[level] & bit) {
        for (uint32_t i = n->first[level]; i < n->count; i++) {
            if (n->signs[i] == sign) return false;
        }
    }
    if (n->count == MAX_KEYS) return false;
    n->bloom[level] |= bit;
    n->signs[n->count++] = sign;
    return true;
}

/* At a '"' that opens a key of the innermost object: at its value, or NULL. */
static inline const char *nested_key(nest *n, const char *p)
{
    bool escaped;
    const char *end = string_end(p + 1, &escaped);
    if (end == NULL || escaped || !add_key(n, p + 1, (size_t)(end - p - 1))) return NULL;
    p = end + 1;
    if (*p != ':') {
        p = skip_space(p);
        if (*p != ':') return NULL;
    }
    p++;
    return mrd__cj_space(*p) ? skip_space(p) : p;
}

static inline const char *scalar_end(const char *p)
{
    bool escaped;
    uint8_t type;
    if (*p == '"') {
        p = string_end(p + 1, &escaped);
        return p == NULL ? NULL : p + 1;
    }
    if (is_digit(*p) || *p == '-') return number_end(p);
    return word_end(p, &type);
}

/* Open the level at p: at its first value, or at its end when it is empty. */
static inline const char *open_level(nest *n, const char *p, bool *empty)
{
    if (n->depth == MAX_LEVELS) return NULL;
    bool object = *p == '{';
    n->objects = n->objects << 1 | object;
    n->first[n->depth] = (uint8_t)n->count;
    n->bloom[n->depth] = 0;
    n->depth++;
    p++;
    if (mrd__cj_space(*p)) p = skip_space(p);
    *empty = *p == (object ? '}' : ']');
    if (*empty || !object) return p;
    return *p == '"' ? nested_key(n, p) : NULL;
}

/* Close levels from p on: at the next value, behind the last level's end, or NULL. */
static inline const char *after_value(nest *n, const char *p)
{
    for (;;) {
        if (mrd__cj_space(*p)) p = skip_space(p);
        bool object = n->objects & 1;
        if (*p == ',') {
            p++;
            if (mrd__cj_space(*p)) p = skip_space(p);
            if (!object) return *p == ']' ? NULL : p;
            return *p == '"' ? nested_key(n, p) : NULL;
        }
        if (*p != (object ? '}' : ']')) return NULL;
        n->depth--;
        n->objects >>= 1;
        n->count = n->first[n->depth];
        p++;
        if (n->depth == 0) return p;
    }
}

/* Behind the object or array at p, or NULL. */
static const char *nested_end(const char *p)
{
    nest n;
    n.count = 0;
    n.depth = 0;
    n.objects = 0;
    bool empty;
    p = open_level(&n, p, &empty);
    while (p != NULL) {
        if (!empty && (*p == '{' || *p == '[')) {
            p = open_level(&n, p, &empty);
            continue;
        }
        if (!empty) p = scalar_end(p);
        if (p == NULL) return NULL;
        p = after_value(&n, p);
        if (n.depth == 0) return p;
        empty = false;
    }
    return NULL;
}

/* ---- The event ---- */

/* Little-endian text of up to eight bytes as a number, for tables. */
#define T1(a) ((uint64_t)(a))
#define T2(a, b) (T1(a) | T1(b) << 8)
#define T3(a, b, c) (T2(a, b) | T1(c) << 16)
#define T4(a, b, c, d) (T2(a, b) | T2(c, d) << 16)

/* The keys that most events have, found by a hash without collisions: their text times a constant,
 * the top four bits. */
typedef struct short_key {
    uint64_t text;
    uint32_t size; /* text alone does not tell "ph" from "ph" with zero bytes behind it */
    mrd__cj_field field;
} short_key;
#define KEY_FACTOR 0x96605d959d7cd4f7u
static const short_key short_keys[16] = {
    {T4('n', 'a', 'm', 'e'), 4, MRD__CJ_NAME},
    {T3('c', 'a', 't'), 3, MRD__CJ_CAT},
    {0, 0, MRD__CJ_UNKNOWN},
    {T3('t', 'i', 'd'), 3, MRD__CJ_TID},
    {0, 0, MRD__CJ_UNKNOWN},
    {T2('i', 'd'), 2, MRD__CJ_ID},
    {T2('t', 's'), 2, MRD__CJ_TS},
    {T3('d', 'u', 'r'), 3, MRD__CJ_DUR},
    {T1('s'), 1, MRD__CJ_S},
    {T3('i', 'd', '2'), 3, MRD__CJ_ID2},
    {0, 0, MRD__CJ_UNKNOWN},
    {T2('b', 'p'), 2, MRD__CJ_BP},
    {T4('a', 'r', 'g', 's'), 4, MRD__CJ_ARGS},
    {T3('p', 'i', 'd'), 3, MRD__CJ_PID},
    {0, 0, MRD__CJ_UNKNOWN},
    {T2('p', 'h'), 2, MRD__CJ_PH},
};

/* The field of the key at `key` when it is one of those: its size, else 0. */
static inline size_t short_field(const char *key, mrd__cj_field *field)
{
    const uint64_t ones = 0x0101010101010101u;
    uint64_t text;
    memcpy(&text, key, 8);
    uint64_t quotes = text ^ ones * '"';
    quotes = (quotes - ones) & ~quotes & ones << 7;
    if (quotes == 0) return 0;
    unsigned size = (unsigned)__builtin_ctzll(quotes) / 8;
    text &= (1ull << size * 8) - 1;
    const short_key *found = &short_keys[text * KEY_FACTOR >> 60];
    *field = found->field;
    return found->text == text && found->size == size ? size : 0;
}

/* The value at p: behind it, or NULL. */
static inline const char *read_value(const char *p, mrd__cj_value *value)
{
    const char *end;
    value->special = false;
    value->scale = MRD__CJ_UNSCALED;
    if (*p == '"') {
        end = string_end(p + 1, &value->special);
        if (end == NULL) return NULL;
        value->at = p + 1;
        value->size = (uint32_t)(end - p - 1);
        value->type = MRD__JSON_STRING;
        return end + 1;
    }
    if (is_digit(*p) || *p == '-') {
        end = read_number(p, value);
        value->type = MRD__JSON_NUMBER;
    } else if (*p == '{' || *p == '[') {
        end = nested_end(p);
        value->type = *p == '{' ? MRD__JSON_OBJECT : MRD__JSON_ARRAY;
    } else {
        end = word_end(p, &value->type);
    }
    if (end == NULL) return NULL;
    value->at = p;
    value->size = (uint32_t)(end - p);
    return end;
}

/* Keys of the event that we do not know, by their signs. */
typedef struct unknown_keys {
    uint64_t signs[MAX_UNKNOWN];
    size_t count;
} unknown_keys;

/* The key at `key` that is none of the frequent ones: its size, or 0 for the plain walker. */
static size_t other_field(const char *key, unknown_keys *unknown, mrd__cj_field *field)
{
    bool escaped;
    const char *end = string_end(key, &escaped);
    if (end == NULL || end == key || escaped) return 0;
    size_t size = (size_t)(end - key);
    *field = mrd__cj_field_of(key, size);
    if (*field != MRD__CJ_UNKNOWN) return size;
    uint64_t sign = sign_of(key, size);
    for (size_t i = 0; i < unknown->count; i++) {
        if (unknown->signs[i] == sign) return 0;
    }
    if (unknown->count == MAX_UNKNOWN) return 0;
    unknown->signs[unknown->count++] = sign;
    return size;
}

bool mrd__cj_fast_event(const char *at, mrd__cj_event *event)
{
    unknown_keys unknown;
    unknown.count = 0;
    mrd__cj_value spare;
    uint32_t present = 0;
    const char *p = at + 1;
    for (;;) {
        if (*p != '"') {
            p = skip_space(p);
            if (*p != '"') return false; /* {} goes to the plain walker too */
        }
        mrd__cj_field field;
        size_t size = short_field(++p, &field);
        if (size == 0) {
            size = other_field(p, &unknown, &field);
            if (size == 0) return false;
        }
        mrd__cj_value *value = &spare;
        if (field != MRD__CJ_UNKNOWN) {
            value = &event->fields[field];
            if (present >> field & 1) return false;
            present |= 1u << field;
        }
        p += size + 1;
        if (*p != ':') {
            p = skip_space(p);
            if (*p != ':') return false;
        }
        p++;
        if (mrd__cj_space(*p)) p = skip_space(p);
        p = read_value(p, value);
        if (p == NULL) return false;
        if (*p == ',') {
            p++;
            continue;
        }
        if (mrd__cj_space(*p)) p = skip_space(p);
        if (*p == '}') break;
        if (*p++ != ',') return false;
    }
    event->text = at;
    event->size = (size_t)(p + 1 - at);
    event->present = present;
    event->args_too_deep = event->string_too_long = false;
    event->plain = true;
    return event->size <= MRD__CJ_MAX_EVENT;
}
