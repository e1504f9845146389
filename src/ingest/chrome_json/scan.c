/* Quote parity and depth of a piece of text, 64 bytes at a time.
 *
 *   text       { " a \ " b " : [
 *   quote      . 1 . . . . 1 . .     unescaped ones
 *   in string  . 1 1 1 1 1 . . .     prefix xor of quote
 *
 * Whether the piece begins inside a string is not known yet, so levels are counted for both. */
#include "ingest/chrome_json/fast.h"

#include <string.h>

#ifdef __AVX2__
#include <immintrin.h>
#endif

mrd__cj_scan mrd__cj_scan_plain(const char *data, size_t from, size_t to, bool escaped)
{
    mrd__cj_scan scan = {0};
    for (size_t at = from; at < to; at++) {
        char c = data[at];
        if (escaped) {
            escaped = false;
            /* A bracket stays a bracket: outside strings a backslash means nothing. */
            if (c == '"' || c == '\\') continue;
        }
        if (c == '\\') {
            escaped = true;
        } else if (c == '"') {
            scan.flips = !scan.flips;
        } else if (c == '{' || c == '[') {
            scan.depth[scan.flips]++;
        } else if (c == '}' || c == ']') {
            scan.depth[scan.flips]--;
        }
    }
    return scan;
}

#ifdef __AVX2__
typedef struct block {
    uint64_t quotes, backslashes, opens, closes;
} block;

static uint64_t equal_mask(__m256i low, __m256i high, char c)
{
    __m256i wanted = _mm256_set1_epi8(c);
    uint32_t a = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, wanted));
    uint32_t b = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, wanted));
    return a | (uint64_t)b << 32;
}

static block load_block(const char *at)
{
    __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)at);
    __m256i high = _mm256_loadu_si256((const __m256i *)(const void *)(at + 32));
    block b = {.quotes = equal_mask(low, high, '"'), .backslashes = equal_mask(low, high, '\\')};
    __m256i fold = _mm256_set1_epi8(0x20); /* '[' and ']' are '{' and '}' without this bit */
    low = _mm256_or_si256(low, fold);
    high = _mm256_or_si256(high, fold);
    b.opens = equal_mask(low, high, '{');
    b.closes = equal_mask(low, high, '}');
    return b;
}

/* Bytes that a backslash takes the meaning of; *carry goes from block to block. */
static uint64_t escaped_mask(uint64_t backslashes, uint64_t *carry)
{
    const uint64_t even = 0x5555555555555555u;
    backslashes &= ~*carry;
    uint64_t follows = backslashes << 1 | *carry;
    uint64_t odd_starts = backslashes & ~even & ~follows;
    uint64_t sum;
    *carry = __builtin_add_overflow(odd_starts, backslashes, &sum);
    return (even ^ sum << 1) & follows;
}

static uint64_t prefix_xor(uint64_t bits)
{
    bits ^= bits << 1;
    bits ^= bits << 2;
    bits ^= bits << 4;
    bits ^= bits << 8;
    bits ^= bits << 16;
    return bits ^ bits << 32;
}

mrd__cj_scan mrd__cj_scan_piece(const char *data, size_t from, size_t to, bool escaped)
{
    mrd__cj_scan scan = {0};
    uint64_t carry = escaped, inside = 0;
    char tail[64] = {0};
    for (size_t at = from; at < to; at += 64) {
        const char *text = data + at;
        if (to - at < 64) {
            memcpy(tail, text, to - at);
            text = tail;
        }
        block b = load_block(text);
        uint64_t quotes = b.quotes;
        if ((b.backslashes | carry) != 0) quotes &= ~escaped_mask(b.backslashes, &carry);
        uint64_t in_string = prefix_xor(quotes) ^ inside;
        inside = (uint64_t)((int64_t)in_string >> 63);
        scan.depth[0] += __builtin_popcountll(b.opens & ~in_string) -
                         __builtin_popcountll(b.closes & ~in_string);
        scan.depth[1] +=
            __builtin_popcountll(b.opens & in_string) - __builtin_popcountll(b.closes & in_string);
    }
    scan.flips = inside != 0;
    return scan;
}
#else
mrd__cj_scan mrd__cj_scan_piece(const char *data, size_t from, size_t to, bool escaped)
{
    return mrd__cj_scan_plain(data, from, to, escaped);
}
#endif
