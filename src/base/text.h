/* Strings with a length, growable byte buffers, numbers to and from text, UTF-8, encodings. */
#ifndef MRD_BASE_TEXT_H
#define MRD_BASE_TEXT_H

#include "meridian.h"

#include <string.h>

/* Borrowed bytes, not NUL-terminated. */
typedef struct mrd__str {
    const char *data;
    size_t size;
} mrd__str;

#define MRD__STR(literal) ((mrd__str){literal, sizeof(literal) - 1})
mrd__str mrd__str_of(const char *text); /* NULL gives an empty string */
static inline bool mrd__str_equal(mrd__str a, mrd__str b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}
int mrd__str_compare(mrd__str a, mrd__str b);                /* byte order, shorter first */
static inline bool mrd__str_is(mrd__str a, const char *text) /* NULL is empty */
{
    size_t size = text == NULL ? 0 : strlen(text);
    return a.size == size && (size == 0 || memcmp(a.data, text, size) == 0);
}
bool mrd__text_ends(const char *text, const char *end);

/* Growable bytes. Zeroed is empty. data is always NUL-terminated after an append. */
typedef struct mrd__buf {
    char *data;
    size_t size, capacity;
} mrd__buf;

void mrd__buf_reset(mrd__buf *buf); /* frees */
void mrd__buf_clear(mrd__buf *buf); /* keeps the memory */
void mrd__buf_reserve(mrd__buf *buf, size_t more);
void mrd__buf_add(mrd__buf *buf, const void *data, size_t size);
void mrd__buf_str(mrd__buf *buf, mrd__str text);
void mrd__buf_text(mrd__buf *buf, const char *text);
void mrd__buf_char(mrd__buf *buf, char c);
void mrd__buf_printf(mrd__buf *buf, const char *format, ...) MRD_PRINTF(2, 3);
void mrd__buf_int(mrd__buf *buf, int64_t value);
void mrd__buf_uint(mrd__buf *buf, uint64_t value);
/* Shortest decimal form that reads back as the same double; integers without a point ("12"),
 * "NaN", "Infinity", "-Infinity" for the rest. */
void mrd__buf_double(mrd__buf *buf, double value);
/* The same as JSON: NaN and infinities become strings ("NaN"). */
void mrd__buf_json_double(mrd__buf *buf, double value);
/* The same, and whole numbers keep a point ("1.0"), which tells them from integers. */
void mrd__buf_json_real(mrd__buf *buf, double value);
/* A JSON string with quotes; control characters escaped, valid UTF-8 kept; bytes that are not
 * UTF-8 become U+FFFD so that output is always valid. */
void mrd__buf_json_string(mrd__buf *buf, mrd__str text);
/* One CSV field by RFC 4180: quoted only when it holds comma, quote, CR or LF. */
void mrd__buf_csv(mrd__buf *buf, mrd__str text);
/* Write the buffer to the sink and clear it. */
MRD_MUST_CHECK mrd_status mrd__buf_flush(mrd__buf *buf, const mrd_sink *sink, mrd_error *error);
/* A sink that appends to a buffer. The buffer must outlive it. */
mrd_sink mrd__buf_sink(mrd__buf *buf);

/* Whole text as a finite decimal with optional exponent ([+-]digits[.digits][e[+-]digits]; ".5"
 * and "5." accepted). False when anything else, overflow to infinity included. Locale-free,
 * correctly rounded. */
bool mrd__parse_double(mrd__str text, double *out);
bool mrd__parse_int64(mrd__str text, int64_t *out);   /* [+-]digits, in range */
bool mrd__parse_uint64(mrd__str text, uint64_t *out); /* digits, in range */

/* Replace each invalid UTF-8 sequence of in by U+FFFD (maximal subpart practice) and append to
 * out. Returns the number of replacements. */
size_t mrd__utf8_repair(mrd__buf *out, mrd__str in);
bool mrd__utf8_valid(mrd__str text);
/* Append the code point (any value up to 0x10FFFF but surrogates). */
void mrd__utf8_append(mrd__buf *out, uint32_t code_point);

/* Percent-decode (RFC 3986; '+' stays) and append; false on a bad or cut escape. */
bool mrd__percent_decode(mrd__buf *out, mrd__str in);

/* Hash of bytes, 64 bit, seedless and the same on every machine; XXH3. */
uint64_t mrd__hash(const void *data, size_t size);
static inline uint64_t mrd__hash_mix(uint64_t a, uint64_t b)
{
    __uint128_t product = (__uint128_t)(a ^ 0x9e3779b97f4a7c15ull) * (b ^ 0xbf58476d1ce4e5b9ull);
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

#endif
