/* What both readers of JSON scan with. */
#ifndef MRD_BASE_JSON_SCAN_H
#define MRD_BASE_JSON_SCAN_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Bytes before the first quote or backslash, eight at a time: of a difference that is 0 in a byte
 * the high bit is set, and the lowest such bit is never a false one. `left` where there is none.
 * Any thread. */
static inline size_t mrd__json_plain_run(const char *at, size_t left)
{
    const uint64_t ones = 0x0101010101010101u, highs = 0x8080808080808080u;
    size_t i = 0;
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

#endif
