#include "base/crc32c.h"

#include "base/assert.h"

#include <pthread.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define POLYNOMIAL 0x82f63b78u /* 0x1edc6f41 reflected */

/* table[k][b]: the CRC of byte b with k zero bytes behind it, so that eight bytes go at once. */
static uint32_t table[8][256];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void make_table(void)
{
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t crc = b;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (POLYNOMIAL & (0u - (crc & 1)));
        table[0][b] = crc;
    }
    for (uint32_t b = 0; b < 256; b++) {
        for (int k = 1; k < 8; k++)
            table[k][b] = (table[k - 1][b] >> 8) ^ table[0][table[k - 1][b] & 255];
    }
}

uint32_t mrd__crc32c_portable(uint32_t crc, const void *data, size_t size)
{
    int rc = pthread_once(&table_once, make_table);
    mrd__assert(rc == 0);
    const uint8_t *at = data;
    crc = ~crc;
    for (; size >= 8; size -= 8, at += 8) {
        uint32_t low = crc ^ ((uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
                              (uint32_t)at[3] << 24);
        crc = table[7][low & 255] ^ table[6][low >> 8 & 255] ^ table[5][low >> 16 & 255] ^
              table[4][low >> 24] ^ table[3][at[4]] ^ table[2][at[5]] ^ table[1][at[6]] ^
              table[0][at[7]];
    }
    for (; size > 0; size--, at++)
        crc = (crc >> 8) ^ table[0][(crc ^ *at) & 255];
    return ~crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t hardware(uint32_t crc, const void *data,
                                                           size_t size)
{
    const uint8_t *at = data;
    uint64_t wide = ~crc;
    for (; size >= 8; size -= 8, at += 8) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        wide = _mm_crc32_u64(wide, word);
    }
    uint32_t narrow = (uint32_t)wide;
    if (size >= 4) {
        uint32_t word;
        memcpy(&word, at, sizeof word);
        narrow = _mm_crc32_u32(narrow, word);
        at += 4;
        size -= 4;
    }
    for (; size > 0; size--, at++)
        narrow = _mm_crc32_u8(narrow, *at);
    return ~narrow;
}
#endif

uint32_t mrd__crc32c(uint32_t crc, const void *data, size_t size)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2")) return hardware(crc, data, size);
#endif
    return mrd__crc32c_portable(crc, data, size);
}
