#include "ingest/perfetto/wire.h"

#include <string.h>

mrd__pb mrd__pb_of(mrd__str message)
{
    const unsigned char *at = (const unsigned char *)message.data;
    return (mrd__pb){.at = at, .end = message.size > 0 ? at + message.size : at};
}

bool mrd__pb_varint(mrd__pb *message, uint64_t *out)
{
    uint64_t value = 0;
    const unsigned char *at = message->at;
    for (unsigned shift = 0; shift < 70 && at < message->end; shift += 7) {
        unsigned char byte = *at++;
        if (shift < 64) value |= (uint64_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) != 0) continue;
        message->at = at;
        *out = value;
        return true;
    }
    if (message->at < message->end) message->bad = true;
    return false;
}

static bool take_fixed(mrd__pb *message, size_t size, uint64_t *out)
{
    if ((size_t)(message->end - message->at) < size) return false;
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)message->at[i] << 8 * i;
    message->at += size;
    *out = value;
    return true;
}

static bool take_value(mrd__pb *message, mrd__pb_field *out)
{
    switch (out->key & 7) {
    case 0:
        return mrd__pb_varint(message, &out->value);
    case 1:
        return take_fixed(message, 8, &out->value);
    case 5:
        return take_fixed(message, 4, &out->value);
    case 2: {
        uint64_t size;
        if (!mrd__pb_varint(message, &size)) return false;
        if (size > (uint64_t)(message->end - message->at)) return false;
        out->bytes = (mrd__str){(const char *)message->at, (size_t)size};
        message->at += size;
        return true;
    }
    default: /* groups were given up before this format was made */
        return false;
    }
}

bool mrd__pb_next(mrd__pb *message, mrd__pb_field *out)
{
    if (message->at == message->end || message->bad) return false;
    const unsigned char *start = message->at;
    uint64_t key = 0;
    *out = (mrd__pb_field){0};
    bool good = mrd__pb_varint(message, &key) && key >> 3 != 0 && key <= UINT32_MAX;
    if (good) {
        out->key = (uint32_t)key;
        good = take_value(message, out);
    }
    if (good) return true;
    message->at = start;
    message->bad = true;
    return false;
}

double mrd__pb_double(uint64_t value)
{
    double out;
    memcpy(&out, &value, sizeof out);
    return out;
}
