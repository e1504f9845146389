/* Protobuf fields, appended; and args text as Perfetto's debug annotations. */
#ifndef MRD_EXPORT_WIRE_H
#define MRD_EXPORT_WIRE_H

#include "base/text.h"

void mrd__wire_varint(mrd__buf *out, unsigned field, uint64_t value);
void mrd__wire_fixed64(mrd__buf *out, unsigned field, uint64_t value);
void mrd__wire_double(mrd__buf *out, unsigned field, double value);
void mrd__wire_bytes(mrd__buf *out, unsigned field, mrd__str bytes);
/* A JSON object: one annotation a member. Anything else: nothing. */
void mrd__wire_annotations(mrd__buf *out, unsigned field, mrd__str json);
void mrd__wire_annotation_text(mrd__buf *out, unsigned field, mrd__str name, mrd__str value);

#endif
