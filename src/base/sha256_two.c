/* A running hash and the hash of a piece of it, together: what a log needs of each record (the
 * file's hash and the record's leaf).
 *
 * The processor's SHA instructions have a latency of four cycles and a throughput of two or one:
 * one hash alone leaves half of them idle, since each round waits for the one before. Two hashes
 * that know nothing of each other fill the gaps: 1.5 times as many bytes a second. Where the
 * processor has no such instructions libcrypto does one after the other. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/sha256.h"

#include "base/assert.h"

#include <openssl/sha.h>
#include <stdbool.h>
#include <string.h>

enum {
    BLOCK = 64,
    SHORT_MAX = 2 * BLOCK - 9,
};

static void one_by_one(mrd__sha256 *running, const void *data, size_t size,
                       uint8_t leaf[MRD__SHA256_SIZE])
{
    static const uint8_t prefix = 0;
    mrd__sha256 hash;
    mrd__sha256_add(running, data, size);
    mrd__sha256_begin(&hash);
    mrd__sha256_add(&hash, &prefix, 1);
    mrd__sha256_add(&hash, data, size);
    mrd__sha256_end(&hash, leaf);
}

static void one_alone(const void *data, size_t size, uint8_t out[MRD__SHA256_SIZE])
{
    mrd__sha256 hash;
    mrd__sha256_begin(&hash);
    mrd__sha256_add(&hash, data, size);
    mrd__sha256_end(&hash, out);
}

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>

#define SHA_TARGET __attribute__((target("sha,sse4.1")))

static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

/* A hash in the instructions' own order of words, and four steps of its message. */
typedef struct lane {
    __m128i abef, cdgh;
    __m128i words[4];
} lane;

SHA_TARGET static inline lane load_state(const SHA256_CTX *ctx)
{
    __m128i dcba = _mm_loadu_si128((const __m128i *)(const void *)&ctx->h[0]);
    __m128i hgfe = _mm_loadu_si128((const __m128i *)(const void *)&ctx->h[4]);
    __m128i cdab = _mm_shuffle_epi32(dcba, 0xb1), efgh = _mm_shuffle_epi32(hgfe, 0x1b);
    return (lane){.abef = _mm_alignr_epi8(cdab, efgh, 8),
                  .cdgh = _mm_blend_epi16(efgh, cdab, 0xf0)};
}

SHA_TARGET static inline void store_state(SHA256_CTX *ctx, const lane *l)
{
    __m128i feba = _mm_shuffle_epi32(l->abef, 0x1b), dchg = _mm_shuffle_epi32(l->cdgh, 0xb1);
    __m128i dcba = _mm_blend_epi16(feba, dchg, 0xf0), hgfe = _mm_alignr_epi8(dchg, feba, 8);
    _mm_storeu_si128((__m128i *)(void *)&ctx->h[0], dcba);
    _mm_storeu_si128((__m128i *)(void *)&ctx->h[4], hgfe);
}

SHA_TARGET static inline void load_words(lane *l, const uint8_t *block)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    for (int i = 0; i < 4; i++) {
        __m128i words = _mm_loadu_si128((const __m128i *)(const void *)(block + (size_t)16 * i));
        l->words[i] = _mm_shuffle_epi8(words, swap);
    }
}

/* Rounds 4 step to 4 step + 3; step is a constant after unrolling. */
SHA_TARGET static inline __attribute__((always_inline)) void four_rounds(lane *l, int step)
{
    __m128i *w = l->words;
    __m128i word = w[step & 3];
    __m128i k = _mm_loadu_si128((const __m128i *)(const void *)&constants[(size_t)4 * step]);
    __m128i sum = _mm_add_epi32(word, k);
    l->cdgh = _mm_sha256rnds2_epu32(l->cdgh, l->abef, sum);
    l->abef = _mm_sha256rnds2_epu32(l->abef, l->cdgh, _mm_shuffle_epi32(sum, 0x0e));
    if (step >= 12) return;
    /* The word of four steps on takes the place of this one. */
    __m128i next = _mm_sha256msg1_epu32(word, w[(step + 1) & 3]);
    next = _mm_add_epi32(next, _mm_alignr_epi8(w[(step + 3) & 3], w[(step + 2) & 3], 4));
    w[step & 3] = _mm_sha256msg2_epu32(next, w[(step + 3) & 3]);
}

SHA_TARGET static inline void block_of(lane *l, const uint8_t *block)
{
    __m128i abef = l->abef, cdgh = l->cdgh;
    load_words(l, block);
#pragma GCC unroll 16
    for (int step = 0; step < 16; step++)
        four_rounds(l, step);
    l->abef = _mm_add_epi32(l->abef, abef);
    l->cdgh = _mm_add_epi32(l->cdgh, cdgh);
}

SHA_TARGET static inline void two_blocks(lane *x, const uint8_t *of_x, lane *y, const uint8_t *of_y)
{
    __m128i x_abef = x->abef, x_cdgh = x->cdgh, y_abef = y->abef, y_cdgh = y->cdgh;
    load_words(x, of_x);
    load_words(y, of_y);
#pragma GCC unroll 16
    for (int step = 0; step < 16; step++) {
        four_rounds(x, step);
        four_rounds(y, step);
    }
    x->abef = _mm_add_epi32(x->abef, x_abef);
    x->cdgh = _mm_add_epi32(x->cdgh, x_cdgh);
    y->abef = _mm_add_epi32(y->abef, y_abef);
    y->cdgh = _mm_add_epi32(y->cdgh, y_cdgh);
}

/* A message as blocks: the first made of what came before it, the last ones of padding. */
typedef struct blocks {
    uint8_t first[BLOCK], last[2 * BLOCK];
    const uint8_t *middle;
    size_t whole, ends; /* blocks in middle and in last */
    size_t at;          /* block 0 is `first` */
} blocks;

static const uint8_t *next_block(blocks *b)
{
    size_t at = b->at++;
    if (at == 0) return b->first;
    if (at <= b->whole) return b->middle + (at - 1) * BLOCK;
    return at <= b->whole + b->ends ? b->last + (at - 1 - b->whole) * BLOCK : NULL;
}

/* The leaf's: a 0, data, padding. data fills the first block. */
static void blocks_of_leaf(blocks *b, const uint8_t *data, size_t size)
{
    *b->first = 0;
    memcpy(b->first + 1, data, BLOCK - 1);
    b->at = 0;
    b->middle = data + BLOCK - 1;
    b->whole = (size - (BLOCK - 1)) / BLOCK;
    size_t rest = size - (BLOCK - 1) - b->whole * BLOCK;
    b->ends = rest + 9 > BLOCK ? 2 : 1;
    memset(b->last, 0, sizeof b->last);
    memcpy(b->last, b->middle + b->whole * BLOCK, rest);
    b->last[rest] = 0x80;
    uint64_t bits = __builtin_bswap64(((uint64_t)size + 1) * 8);
    memcpy(b->last + b->ends * BLOCK - 8, &bits, 8);
}

/* The running hash's: its rest and data; what fills no block becomes its rest. */
static void blocks_of_running(blocks *b, SHA256_CTX *ctx, const uint8_t *data, size_t size)
{
    uint64_t bits = ((uint64_t)ctx->Nh << 32 | ctx->Nl) + (uint64_t)size * 8;
    ctx->Nl = (SHA_LONG)bits;
    ctx->Nh = (SHA_LONG)(bits >> 32);
    size_t room = BLOCK - ctx->num;
    memcpy(b->first, ctx->data, ctx->num);
    memcpy(b->first + ctx->num, data, room);
    b->at = 0;
    b->middle = data + room;
    b->whole = (size - room) / BLOCK;
    b->ends = 0;
    ctx->num = (unsigned)(size - room - b->whole * BLOCK);
    memcpy(ctx->data, b->middle + b->whole * BLOCK, ctx->num);
}

static void take_hash(const SHA256_CTX *ctx, uint8_t out[MRD__SHA256_SIZE])
{
    for (size_t i = 0; i < 8; i++) {
        uint32_t word = __builtin_bswap32(ctx->h[i]);
        memcpy(out + 4 * i, &word, 4);
    }
}

SHA_TARGET static void together(mrd__sha256 *running, const uint8_t *data, size_t size,
                                uint8_t leaf[MRD__SHA256_SIZE])
{
    SHA256_CTX *a = (SHA256_CTX *)(void *)running;
    SHA256_CTX b;
    int done = SHA256_Init(&b);
    mrd__assert(done == 1);
    blocks of_a, of_b;
    blocks_of_running(&of_a, a, data, size);
    blocks_of_leaf(&of_b, data, size);
    lane x = load_state(a), y = load_state(&b);
    const uint8_t *next_a = next_block(&of_a), *next_b = next_block(&of_b);
    for (; next_a != NULL && next_b != NULL; next_a = next_block(&of_a), next_b = next_block(&of_b))
        two_blocks(&x, next_a, &y, next_b);
    for (; next_a != NULL; next_a = next_block(&of_a))
        block_of(&x, next_a);
    for (; next_b != NULL; next_b = next_block(&of_b))
        block_of(&y, next_b);
    store_state(a, &x);
    store_state(&b, &y);
    take_hash(&b, leaf);
}

SHA_TARGET static void hash_short(const void *data, size_t size, uint8_t out[MRD__SHA256_SIZE])
{
    uint8_t bytes[2 * BLOCK] = {0};
    size_t count = size + 9 > BLOCK ? 2 : 1;
    memcpy(bytes, data, size);
    bytes[size] = 0x80;
    uint64_t bits = __builtin_bswap64((uint64_t)size * 8);
    memcpy(bytes + count * BLOCK - 8, &bits, 8);
    SHA256_CTX ctx;
    int done = SHA256_Init(&ctx);
    mrd__assert(done == 1);
    lane l = load_state(&ctx);
    for (size_t i = 0; i < count; i++)
        block_of(&l, bytes + i * BLOCK);
    store_state(&ctx, &l);
    take_hash(&ctx, out);
}

static bool has_instructions(void)
{
    static _Atomic int known; /* 1: no, 2: yes; cpuid is slow under a hypervisor */
    int has = known;
    if (has == 0) {
        unsigned eax, ebx, ecx, edx;
        bool sha = __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 && (ebx >> 29 & 1) != 0;
        known = has = sha && __builtin_cpu_supports("sse4.1") ? 2 : 1;
    }
    return has == 2;
}
#else
static bool has_instructions(void)
{
    return false;
}

static void together(mrd__sha256 *running, const uint8_t *data, size_t size,
                     uint8_t leaf[MRD__SHA256_SIZE])
{
    one_by_one(running, data, size, leaf);
}

static void hash_short(const void *data, size_t size, uint8_t out[MRD__SHA256_SIZE])
{
    one_alone(data, size, out);
}
#endif

void mrd__sha256_add_leaf(mrd__sha256 *running, const void *data, size_t size,
                          uint8_t leaf[MRD__SHA256_SIZE])
{
    if (size >= BLOCK && has_instructions())
        together(running, data, size, leaf);
    else
        one_by_one(running, data, size, leaf);
}

void mrd__sha256_short(const void *data, size_t size, uint8_t out[MRD__SHA256_SIZE])
{
    mrd__assert(size <= SHORT_MAX);
    if (has_instructions())
        hash_short(data, size, out);
    else
        one_alone(data, size, out);
}
