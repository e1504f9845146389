/* Little-endian numbers in byte buffers of any alignment. */
#ifndef MRD_SESSION_FORMAT_BYTES_H
#define MRD_SESSION_FORMAT_BYTES_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline void mrd__put16(uint8_t *out, uint16_t value)
{
    value = htole16(value);
    memcpy(out, &value, sizeof value);
}
static inline void mrd__put32(uint8_t *out, uint32_t value)
{
    value = htole32(value);
    memcpy(out, &value, sizeof value);
}
static inline void mrd__put64(uint8_t *out, uint64_t value)
{
    value = htole64(value);
    memcpy(out, &value, sizeof value);
}
static inline uint16_t mrd__get16(const uint8_t *in)
{
    uint16_t value;
    memcpy(&value, in, sizeof value);
    return le16toh(value);
}
static inline uint32_t mrd__get32(const uint8_t *in)
{
    uint32_t value;
    memcpy(&value, in, sizeof value);
    return le32toh(value);
}
static inline uint64_t mrd__get64(const uint8_t *in)
{
    uint64_t value;
    memcpy(&value, in, sizeof value);
    return le64toh(value);
}

#endif
