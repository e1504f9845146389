/* One object in one pass, without the states of the pull reader: adapters print millions of lines
 * that look alike. Whatever is not plain is left to that reader, which also has the errors. */
#include "base/json.h"
#include "base/json_scan.h"

enum {
    DIGITS_MAX = 18, /* always fits a uint64_t, and an int64_t */
    LEAST = 2,       /* bytes of the shortest value and of what follows it */
    NESTED = 4,      /* objects inside each other that are read here; deeper: the pull reader */
};

typedef struct scan {
    const char *at, *end;
} scan;

/* Between the quotes; at is at the first. */
static bool take_string(scan *s, mrd__str *out)
{
    const char *from = s->at + 1;
    if (from >= s->end) return false;
    size_t size = mrd__json_plain_run(from, (size_t)(s->end - from));
    s->at = from + size;
    if (s->at == s->end || *s->at != '"') return false;
    s->at++;
    *out = (mrd__str){from, size};
    return true;
}

static size_t take_digits(scan *s, uint64_t *value)
{
    static const uint32_t powers[] = {1,      10,      100,      1000,     10000,
                                      100000, 1000000, 10000000, 100000000};
    const char *from = s->at;
    uint64_t sum = 0;
    if (s->end - from >= 2 && (unsigned char)(from[0] - '0') <= 9 &&
        (unsigned char)(from[1] - '0') > 9) { /* flags and generations: many have one */
        *value = (unsigned char)(from[0] - '0');
        s->at++;
        return 1;
    }
    while (s->end - s->at >= 8) {
        uint64_t eight = 0;
        unsigned count = mrd__json_eight_digits(s->at, &eight);
        sum = sum * powers[count] + eight;
        s->at += count;
        if (count == 8) continue;
        *value = sum;
        return (size_t)(s->at - from);
    }
    for (; s->at < s->end && (unsigned char)(*s->at - '0') <= 9; s->at++)
        sum = sum * 10 + (unsigned char)(*s->at - '0');
    *value = sum;
    return (size_t)(s->at - from);
}

/* What a number ends with: anything else is the other reader's. */
static bool at_border(const scan *s)
{
    return s->at < s->end && (*s->at == ',' || *s->at == '}');
}

static bool take_number(scan *s, mrd__json_member *member)
{
    const char *from = s->at;
    uint64_t fraction;
    bool negative = *s->at == '-';
    s->at += negative;
    const char *first = s->at;
    size_t digits = take_digits(s, &member->number);
    if (digits == 0 || (digits > 1 && *first == '0')) return false;
    member->whole = !negative && digits <= DIGITS_MAX;
    if (s->at < s->end && *s->at == '.') {
        s->at++;
        member->whole = false;
        if (take_digits(s, &fraction) == 0) return false;
    }
    member->value.type = MRD__JSON_NUMBER;
    member->value.text = (mrd__str){from, (size_t)(s->at - from)};
    return at_border(s);
}

static bool take_word(scan *s, mrd__json_member *member)
{
    static const struct {
        const char *word;
        size_t size;
        mrd__json_type type;
    } words[] = {
        {"true", 4, MRD__JSON_TRUE}, {"false", 5, MRD__JSON_FALSE}, {"null", 4, MRD__JSON_NULL}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if ((size_t)(s->end - s->at) < words[i].size ||
            memcmp(s->at, words[i].word, words[i].size) != 0)
            continue;
        member->value.type = words[i].type;
        member->value.text = (mrd__str){s->at, words[i].size};
        s->at += words[i].size;
        return at_border(s);
    }
    return false;
}

static bool take_object(scan *s, uint32_t depth, mrd__json_member *members, size_t max,
                        size_t *count);

/* A value that holds others, read over: by the pull reader, told how deep it stands, where it is
 * not plain. */
static bool take_nested(scan *s, uint32_t depth, mrd__json_member *member)
{
    const char *from = s->at;
    size_t count;
    member->value.type = *from == '{' ? MRD__JSON_OBJECT : MRD__JSON_ARRAY;
    member->value.text = (mrd__str){from, 1};
    if (*from == '{' && depth < NESTED && take_object(s, depth, NULL, SIZE_MAX, &count))
        return true;
    mrd__json json;
    mrd__json_init(&json, from, (size_t)(s->end - from));
    json.depth = depth;
    s->at = from;
    if (!mrd__json_skip(&json, mrd__json_next(&json))) return false;
    s->at += json.at;
    return true;
}

static bool take_value(scan *s, uint32_t depth, mrd__json_member *member)
{
    member->whole = false;
    member->value = (mrd__json_token){0};
    if (s->end - s->at < LEAST) return false;
    const char *from = s->at;
    bool good;
    if (*from == '"') {
        member->value.type = MRD__JSON_STRING;
        good = take_string(s, &member->value.text);
    } else if (*from == '{' || *from == '[') {
        good = take_nested(s, depth, member);
    } else if (*from == '-' || (unsigned char)(*from - '0') <= 9) {
        good = take_number(s, member);
    } else {
        good = take_word(s, member);
    }
    member->raw = (mrd__str){from, (size_t)(s->at - from)};
    return good;
}

static bool take_member(scan *s, uint32_t depth, mrd__json_member *member)
{
    if (s->at == s->end || *s->at != '"' || !take_string(s, &member->key)) return false;
    if (s->at == s->end || *s->at != ':') return false;
    s->at++;
    if (s->at < s->end && *s->at == ' ') s->at++;
    return take_value(s, depth, member);
}

/* members NULL: read over. */
static bool take_object(scan *s, uint32_t depth, mrd__json_member *members, size_t max,
                        size_t *count)
{
    mrd__json_member none;
    *count = 0;
    s->at++;
    if (s->at < s->end && *s->at == '}') {
        s->at++;
        return true;
    }
    while (*count < max) {
        if (*count > 0 && s->at < s->end && *s->at == ' ') s->at++;
        mrd__json_member *member = members != NULL ? &members[*count] : &none;
        if (!take_member(s, depth + 1, member) || s->at == s->end) return false;
        ++*count;
        char behind = *s->at++;
        if (behind == '}') return true;
        if (behind != ',') return false;
    }
    return false;
}

bool mrd__json_members(const char *data, size_t size, size_t *at, uint32_t depth,
                       mrd__json_member *members, size_t max, size_t *count)
{
    scan s = {data + *at, data + size};
    *count = 0;
    if (s.at == s.end || *s.at != '{' || depth + 1 >= MRD__JSON_MAX_DEPTH) return false;
    if (!take_object(&s, depth, members, max, count)) return false;
    for (size_t i = 0; i < *count; i++)
        members[i].value.offset = (size_t)(members[i].raw.data - data);
    *at = (size_t)(s.at - data);
    return true;
}
