#include "base/alloc.h"
#include "base/assert.h"
#include "base/text.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

mrd__str mrd__str_of(const char *text)
{
    return text == NULL ? (mrd__str){"", 0} : (mrd__str){text, strlen(text)};
}

int mrd__str_compare(mrd__str a, mrd__str b)
{
    size_t common = a.size < b.size ? a.size : b.size;
    int order = common > 0 ? memcmp(a.data, b.data, common) : 0;
    if (order != 0) return order;
    return a.size < b.size ? -1 : a.size > b.size;
}

bool mrd__text_ends(const char *text, const char *end)
{
    size_t size = strlen(text), tail = strlen(end);
    return size >= tail && memcmp(text + size - tail, end, tail) == 0;
}

void mrd__buf_reset(mrd__buf *buf)
{
    mrd__free(buf->data);
    *buf = (mrd__buf){0};
}

void mrd__buf_clear(mrd__buf *buf)
{
    buf->size = 0;
    if (buf->data != NULL) buf->data[0] = '\0';
}

void mrd__buf_reserve(mrd__buf *buf, size_t more)
{
    size_t need;
    mrd__assert(!__builtin_add_overflow(buf->size, more, &need) && need < SIZE_MAX - 1);
    if (need < buf->capacity) return;
    buf->data = mrd__vec_grow(buf->data, &buf->capacity, need + 1, 1);
    buf->data[buf->size] = '\0';
}

/* Most pieces fit: then no call. */
static inline void room_for(mrd__buf *buf, size_t size)
{
    if (size >= buf->capacity - buf->size) mrd__buf_reserve(buf, size);
}

void mrd__buf_add(mrd__buf *buf, const void *data, size_t size)
{
    room_for(buf, size);
    if (size > 0) memcpy(buf->data + buf->size, data, size);
    buf->size += size;
    buf->data[buf->size] = '\0';
}

void mrd__buf_str(mrd__buf *buf, mrd__str text)
{
    mrd__buf_add(buf, text.data, text.size);
}

void mrd__buf_text(mrd__buf *buf, const char *text)
{
    mrd__buf_add(buf, text, strlen(text));
}

void mrd__buf_char(mrd__buf *buf, char c)
{
    if (buf->size + 1 >= buf->capacity) mrd__buf_reserve(buf, 1);
    buf->data[buf->size++] = c;
    buf->data[buf->size] = '\0';
}

void mrd__buf_printf(mrd__buf *buf, const char *format, ...)
{
    va_list args;
    va_list again;
    va_start(args, format);
    va_copy(again, args);
    mrd__buf_reserve(buf, 64);
    size_t room = buf->capacity - buf->size;
    int length = vsnprintf(buf->data + buf->size, room, format, args);
    mrd__assert(length >= 0);
    if ((size_t)length >= room) {
        mrd__buf_reserve(buf, (size_t)length);
        vsnprintf(buf->data + buf->size, (size_t)length + 1, format, again);
    }
    buf->size += (size_t)length;
    va_end(again);
    va_end(args);
}

static const char *const short_escapes[0x20] = {
    ['\b'] = "\\b", ['\t'] = "\\t", ['\n'] = "\\n", ['\f'] = "\\f", ['\r'] = "\\r",
};

static void escape_char(mrd__buf *buf, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    if (c == '"' || c == '\\') {
        char pair[2] = {'\\', (char)c};
        mrd__buf_add(buf, pair, 2);
    } else if (short_escapes[c] != NULL) {
        mrd__buf_add(buf, short_escapes[c], 2);
    } else {
        char code[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
        mrd__buf_add(buf, code, sizeof code);
    }
}

void mrd__buf_json_string(mrd__buf *buf, mrd__str text)
{
    if (text.size == 0) text.data = ""; /* NULL takes no offset, not even 0 */
    mrd__buf_reserve(buf, text.size + 2);
    mrd__buf_char(buf, '"');
    size_t clean = 0; /* everything before is already in buf */
    for (size_t at = 0; at < text.size;) {
        unsigned char c = (unsigned char)text.data[at];
        if (c >= 0x20 && c != '"' && c != '\\' && c < 0x80) {
            at++;
            continue;
        }
        bool valid;
        size_t step = mrd__utf8_step(text.data + at, text.size - at, &valid);
        if (c < 0x80 || !valid) {
            mrd__buf_add(buf, text.data + clean, at - clean);
            if (c < 0x80)
                escape_char(buf, c);
            else
                mrd__buf_text(buf, MRD__UTF8_REPLACEMENT);
            clean = at + step;
        }
        at += step;
    }
    mrd__buf_add(buf, text.data + clean, text.size - clean);
    mrd__buf_char(buf, '"');
}

void mrd__buf_csv(mrd__buf *buf, mrd__str text)
{
    bool quoted = false;
    for (size_t i = 0; i < text.size && !quoted; i++) {
        char c = text.data[i];
        quoted = c == ',' || c == '"' || c == '\r' || c == '\n';
    }
    if (!quoted) {
        mrd__buf_str(buf, text);
        return;
    }
    mrd__buf_char(buf, '"');
    size_t from = 0;
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '"') {
            mrd__buf_add(buf, text.data + from, i + 1 - from);
            mrd__buf_char(buf, '"');
            from = i + 1;
        }
    }
    mrd__buf_add(buf, text.data + from, text.size - from);
    mrd__buf_char(buf, '"');
}

mrd_status mrd__buf_flush(mrd__buf *buf, const mrd_sink *sink, mrd_error *error)
{
    if (buf->size > 0) {
        mrd_status status = sink->write(sink->ctx, buf->data, buf->size, error);
        if (status != MRD_OK) return status;
    }
    mrd__buf_clear(buf);
    return MRD_OK;
}

static mrd_status buf_write(void *ctx, const void *data, size_t size, mrd_error *error)
{
    (void)error;
    mrd__buf_add(ctx, data, size);
    return MRD_OK;
}

mrd_sink mrd__buf_sink(mrd__buf *buf)
{
    return (mrd_sink){buf, buf_write};
}
