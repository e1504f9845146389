/* What both readers of JSON scan with. */
#ifndef MRD_BASE_JSON_SCAN_H
#define MRD_BASE_JSON_SCAN_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

/* Bytes before the first quote or backslash; `left` where there is none. Sixteen at a time where
 * every processor can (most texts of a line are shorter), else eight: of a difference that is 0 in
 * a byte the high bit is set, and the lowest such bit is never a false one. Any thread. */
static inline size_t mrd__json_plain_run(const char *at, size_t left)
{
    const uint64_t ones = 0x0101010101010101u, highs = 0x8080808080808080u;
    size_t i = 0;
#if defined(__SSE2__)
    const __m128i quotes = _mm_set1_epi8('"'), slashes = _mm_set1_epi8('\\');
    for (; i + 16 <= left; i += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(at + i));
        __m128i found = _mm_or_si128(_mm_cmpeq_epi8(bytes, quotes), _mm_cmpeq_epi8(bytes, slashes));
        unsigned mask = (unsigned)_mm_movemask_epi8(found);
        if (mask != 0) return i + (size_t)__builtin_ctz(mask);
    }
#endif
    for (; i + 8 <= left; i += 8) {
        uint64_t word;
        memcpy(&word, at + i, 8);
        word = le64toh(word);
        uint64_t quote = word ^ ones * '"', slash = word ^ ones * '\\';
        uint64_t found = ((quote - ones) & ~quote & highs) | ((slash - ones) & ~slash & highs);
        if (found != 0) return i + (size_t)__builtin_ctzll(found) / 8;
    }
    while (i < left && at[i] != '"' && at[i] != '\\')
        i++;
    return i;
}

/* The digits that eight bytes begin with: how many (0 to 8), and the number that they make, if any.
 * With '0' taken off a digit is below 10, and 0x76 more sets the high bit of all others; what that
 * carries goes to later bytes alone. Then pairs, fours and all eight are put together. */
static inline unsigned mrd__json_eight_digits(const char *at, uint64_t *value)
{
    uint64_t text;
    memcpy(&text, at, 8);
    text = le64toh(text) ^ 0x3030303030303030u;
    uint64_t others = (text | (text + 0x7676767676767676u)) & 0x8080808080808080u;
    unsigned count = others == 0 ? 8 : (unsigned)__builtin_ctzll(others) / 8;
    if (count == 0) return 0;
    text <<= 64 - 8 * count; /* zeros before the first digit */
    text = text * 10 + (text >> 8);
    uint64_t low = (text & 0x000000ff000000ffu) * 0x000f424000000064u;
    uint64_t high = (text >> 16 & 0x000000ff000000ffu) * 0x0000271000000001u;
    *value = (low + high) >> 32;
    return count;
}

#endif
