/* Walking protobuf messages in place: nothing is copied, every length is checked. */
#ifndef MRD_INGEST_PERFETTO_WIRE_H
#define MRD_INGEST_PERFETTO_WIRE_H

#include "base/text.h"

typedef struct mrd__pb { /* a message, or what is left of it */
    const unsigned char *at, *end;
    bool bad; /* stopped at bytes that are no field */
} mrd__pb;

typedef struct mrd__pb_field {
    uint32_t key;   /* number << 3 | wire type: PB_VARINT(number) etc. */
    uint64_t value; /* varint and fixed; signed and double by mrd__pb_int, mrd__pb_double */
    mrd__str bytes; /* length-delimited; borrowed from the message */
} mrd__pb_field;

mrd__pb mrd__pb_of(mrd__str message);
/* The next field; false at the end and where the bytes are bad. */
bool mrd__pb_next(mrd__pb *message, mrd__pb_field *out);
/* A bare varint (packed lists); false at the end or where it is cut. */
bool mrd__pb_varint(mrd__pb *message, uint64_t *out);

static inline int64_t mrd__pb_int(uint64_t value)
{
    return (int64_t)value;
}
double mrd__pb_double(uint64_t value);

#endif
