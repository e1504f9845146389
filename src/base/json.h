/* JSON scanner: a pull reader over text in memory. Used for args, request bodies and small
 * documents; the trace-sized reader (ingest/chrome_json) has its own faster walk but shares the
 * string decoding here. Tolerant where traces are (raw control characters, NaN, Infinity, inf,
 * nan and signed forms, bad UTF-8): tolerated things are counted, not refused. */
#ifndef MRD_BASE_JSON_H
#define MRD_BASE_JSON_H

#include "base/text.h"

#define MRD__JSON_MAX_DEPTH 512 /* args of real traces reach 10; bounds the stack of readers */

typedef enum mrd__json_type {
    MRD__JSON_ERROR = 0, /* syntax error or end of text; see reader->error_at */
    MRD__JSON_END,       /* after the one top-level value */
    MRD__JSON_OBJECT,    /* '{' */
    MRD__JSON_OBJECT_END,
    MRD__JSON_ARRAY,
    MRD__JSON_ARRAY_END,
    MRD__JSON_KEY,    /* text: raw, between the quotes */
    MRD__JSON_STRING, /* text: raw, between the quotes */
    MRD__JSON_NUMBER, /* text: as written, NaN and infinities included */
    MRD__JSON_TRUE,
    MRD__JSON_FALSE,
    MRD__JSON_NULL,
} mrd__json_type;

typedef struct mrd__json_token {
    mrd__json_type type;
    mrd__str text;    /* borrowed from the input */
    size_t offset;    /* of the token's first byte */
    bool escaped;     /* KEY, STRING: holds a backslash */
    bool nonstandard; /* NUMBER: NaN or an infinity */
} mrd__json_token;

typedef struct mrd__json {
    const char *data;
    size_t size, at;
    size_t error_at;
    const char *error_what; /* static text: "unexpected character", "text ends inside a string" */
    uint32_t depth;
    uint8_t state;
    uint64_t kinds[(MRD__JSON_MAX_DEPTH + 63) / 64]; /* bit per level: 1 object, 0 array */
} mrd__json;

void mrd__json_init(mrd__json *json, const char *data, size_t size);
/* The next token. After ERROR every further call gives ERROR again. */
mrd__json_token mrd__json_next(mrd__json *json);
/* Skip the value whose first token was just read (no-op for scalars). False on error. */
bool mrd__json_skip(mrd__json *json, mrd__json_token first);

/* What decoding a string met; add to loss counters. */
typedef struct mrd__json_text_stats {
    uint64_t raw_controls;    /* characters below 0x20 standing raw */
    uint64_t invalid_utf8;    /* sequences replaced by U+FFFD */
    uint64_t lone_surrogates; /* \uD800..\uDFFF without its mate, replaced by U+FFFD */
    uint64_t bad_escapes;     /* \x and the like: kept as the characters that stand there */
} mrd__json_text_stats;
/* Decode raw string text (without quotes) and append as valid UTF-8. stats may be NULL. */
void mrd__json_decode(mrd__buf *out, mrd__str raw, mrd__json_text_stats *stats);

/* ---- An object at a glance ---- */

typedef struct mrd__json_member {
    mrd__str key;          /* without escapes */
    mrd__json_token value; /* the first token; never escaped */
    mrd__str raw;          /* the value as it stands, nested ones whole */
    bool whole;            /* NUMBER: digits alone, at most 18; then number is its value */
    uint64_t number;
} mrd__json_member;

/* The members of the object whose brace is at data[*at], which is inside `depth` others; *at is
 * then behind it. For the plain form in which programs print: no escapes, at most one space behind
 * ':' and ',', no exponents, at most max members. False, and nothing said about the text, where it
 * is any other: the reader above decides. What is accepted here the reader reads the same. */
bool mrd__json_members(const char *data, size_t size, size_t *at, uint32_t depth,
                       mrd__json_member *members, size_t max, size_t *count);

#endif
