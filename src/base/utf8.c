#include "base/utf8.h"
#include "base/assert.h"
#include "base/text.h"

#include <string.h>

size_t mrd__utf8_step(const char *at, size_t left, bool *valid)
{
    const unsigned char *p = (const unsigned char *)at;
    *valid = true;
    if (p[0] < 0x80) return 1;
    size_t want;
    unsigned char low = 0x80; /* what the second byte may be: no overlong, surrogate, > 10FFFF */
    unsigned char high = 0xbf;
    *valid = false;
    if (p[0] >= 0xc2 && p[0] <= 0xdf) {
        want = 2;
    } else if (p[0] >= 0xe0 && p[0] <= 0xef) {
        want = 3;
        low = p[0] == 0xe0 ? 0xa0 : 0x80;
        high = p[0] == 0xed ? 0x9f : 0xbf;
    } else if (p[0] >= 0xf0 && p[0] <= 0xf4) {
        want = 4;
        low = p[0] == 0xf0 ? 0x90 : 0x80;
        high = p[0] == 0xf4 ? 0x8f : 0xbf;
    } else {
        return 1;
    }
    for (size_t i = 1; i < want; i++) {
        if (i >= left || p[i] < low || p[i] > high) return i;
        low = 0x80;
        high = 0xbf;
    }
    *valid = true;
    return want;
}

size_t mrd__ascii_run(const char *at, size_t left)
{
    size_t i = 0;
    for (; i + 8 <= left; i += 8) {
        uint64_t word;
        memcpy(&word, at + i, 8);
        if (word & 0x8080808080808080ull) break;
    }
    while (i < left && (unsigned char)at[i] < 0x80)
        i++;
    return i;
}

bool mrd__utf8_valid(mrd__str text)
{
    size_t at = 0;
    while (at < text.size) {
        at += mrd__ascii_run(text.data + at, text.size - at);
        if (at == text.size) return true;
        bool valid;
        at += mrd__utf8_step(text.data + at, text.size - at, &valid);
        if (!valid) return false;
    }
    return true;
}

size_t mrd__utf8_repair(mrd__buf *out, mrd__str in)
{
    size_t at = 0;
    size_t clean = 0; /* everything before is already in out */
    size_t replaced = 0;
    if (in.size == 0) in.data = ""; /* NULL takes no offset, not even 0 */
    for (;;) {
        at += mrd__ascii_run(in.data + at, in.size - at);
        if (at == in.size) break;
        bool valid;
        size_t step = mrd__utf8_step(in.data + at, in.size - at, &valid);
        if (!valid) {
            mrd__buf_add(out, in.data + clean, at - clean);
            mrd__buf_text(out, MRD__UTF8_REPLACEMENT);
            clean = at + step;
            replaced++;
        }
        at += step;
    }
    mrd__buf_add(out, in.data + clean, at - clean);
    return replaced;
}

void mrd__utf8_append(mrd__buf *out, uint32_t code_point)
{
    mrd__assert(code_point <= 0x10ffff && (code_point < 0xd800 || code_point > 0xdfff));
    char bytes[4];
    size_t size;
    if (code_point < 0x80) {
        bytes[0] = (char)code_point;
        size = 1;
    } else if (code_point < 0x800) {
        bytes[0] = (char)(0xc0 | code_point >> 6);
        bytes[1] = (char)(0x80 | (code_point & 0x3f));
        size = 2;
    } else if (code_point < 0x10000) {
        bytes[0] = (char)(0xe0 | code_point >> 12);
        bytes[1] = (char)(0x80 | (code_point >> 6 & 0x3f));
        bytes[2] = (char)(0x80 | (code_point & 0x3f));
        size = 3;
    } else {
        bytes[0] = (char)(0xf0 | code_point >> 18);
        bytes[1] = (char)(0x80 | (code_point >> 12 & 0x3f));
        bytes[2] = (char)(0x80 | (code_point >> 6 & 0x3f));
        bytes[3] = (char)(0x80 | (code_point & 0x3f));
        size = 4;
    }
    mrd__buf_add(out, bytes, size);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

bool mrd__percent_decode(mrd__buf *out, mrd__str in)
{
    size_t start = out->size;
    mrd__buf_reserve(out, in.size);
    for (size_t at = 0; at < in.size; at++) {
        char c = in.data[at];
        if (c == '%') {
            int high = at + 2 < in.size ? hex_digit(in.data[at + 1]) : -1;
            int low = at + 2 < in.size ? hex_digit(in.data[at + 2]) : -1;
            if (high < 0 || low < 0) {
                out->size = start;
                out->data[start] = '\0';
                return false;
            }
            c = (char)(high << 4 | low);
            at += 2;
        }
        mrd__buf_char(out, c);
    }
    return true;
}
