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

/* Where a walk is. */
typedef struct walk {
    mrd__cj_scan scan;
    uint64_t carry;  /* the next byte is escaped */
    uint64_t inside; /* all ones: of a string, when the piece begins outside */
} walk;

static inline uint64_t unescaped_quotes(walk *w, const block *b)
{
    if ((b->backslashes | w->carry) == 0) return b->quotes;
    return b->quotes & ~escaped_mask(b->backslashes, &w->carry);
}

/* prefix: prefix xor of the block's unescaped quotes */
static inline void count_block(walk *w, const block *b, uint64_t prefix)
{
    uint64_t in_string = prefix ^ w->inside;
    w->inside = (uint64_t)((int64_t)in_string >> 63);
    w->scan.depth[0] +=
        __builtin_popcountll(b->opens & ~in_string) - __builtin_popcountll(b->closes & ~in_string);
    w->scan.depth[1] +=
        __builtin_popcountll(b->opens & in_string) - __builtin_popcountll(b->closes & in_string);
}

static mrd__cj_scan finish(walk *w, const char *data, size_t size)
{
    char tail[64] = {0};
    if (size > 0) {
        memcpy(tail, data, size);
        block b = load_block(tail);
        count_block(w, &b, prefix_xor(unescaped_quotes(w, &b)));
    }
    w->scan.flips = w->inside != 0;
    return w->scan;
}

mrd__cj_scan mrd__cj_scan_32(const char *data, size_t from, size_t to, bool escaped)
{
    walk w = {.carry = escaped};
    for (; to - from >= 64; from += 64) {
        block b = load_block(data + from);
        count_block(&w, &b, prefix_xor(unescaped_quotes(&w, &b)));
    }
    return finish(&w, data + from, to - from);
}

/* The same with 64 bytes a register, where masks come from one comparison each, and the prefix xor
 * from one multiplication without carries. */
__attribute__((target("avx512bw,pclmul"))) static mrd__cj_scan
scan_64(const char *data, size_t from, size_t to, bool escaped)
{
    walk w = {.carry = escaped};
    const __m128i ones = _mm_set1_epi8(-1);
    const __m512i fold = _mm512_set1_epi8(0x20);
    for (; to - from >= 64; from += 64) {
        __m512i text = _mm512_loadu_si512((const void *)(data + from));
        __m512i folded = _mm512_or_si512(text, fold);
        block b = {.quotes = _mm512_cmpeq_epi8_mask(text, _mm512_set1_epi8('"')),
                   .backslashes = _mm512_cmpeq_epi8_mask(text, _mm512_set1_epi8('\\')),
                   .opens = _mm512_cmpeq_epi8_mask(folded, _mm512_set1_epi8('{')),
                   .closes = _mm512_cmpeq_epi8_mask(folded, _mm512_set1_epi8('}'))};
        __m128i quotes = _mm_cvtsi64_si128((int64_t)unescaped_quotes(&w, &b));
        __m128i prefix = _mm_clmulepi64_si128(quotes, ones, 0);
        count_block(&w, &b, (uint64_t)_mm_cvtsi128_si64(prefix));
    }
    return finish(&w, data + from, to - from);
}

mrd__cj_scan mrd__cj_scan_piece(const char *data, size_t from, size_t to, bool escaped)
{
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("pclmul"))
        return scan_64(data, from, to, escaped);
    return mrd__cj_scan_32(data, from, to, escaped);
}
#else
mrd__cj_scan mrd__cj_scan_32(const char *data, size_t from, size_t to, bool escaped)
{
    return mrd__cj_scan_plain(data, from, to, escaped);
}

mrd__cj_scan mrd__cj_scan_piece(const char *data, size_t from, size_t to, bool escaped)
{
    return mrd__cj_scan_plain(data, from, to, escaped);
}
#endif
