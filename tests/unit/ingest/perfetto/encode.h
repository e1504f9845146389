/* A tiny protobuf encoder, and traces made with it. */
#ifndef MRD_TESTS_UNIT_INGEST_PERFETTO_ENCODE_H
#define MRD_TESTS_UNIT_INGEST_PERFETTO_ENCODE_H

#include "base/text.h"

void put_varint(mrd__buf *out, uint64_t value);
void put_uint(mrd__buf *out, uint32_t number, uint64_t value);
void put_fixed(mrd__buf *out, uint32_t number, uint64_t value);
void put_text(mrd__buf *out, uint32_t number, const char *text);
/* A message as a field; the message is cleared. */
void put_message(mrd__buf *out, uint32_t number, mrd__buf *message);

/* Traces, each about one thing; NULL name ends the list. */
typedef struct sample {
    const char *name;
    void (*make)(mrd__buf *out);
} sample;
extern const sample samples[];

#endif
