/* What the typed fields of track events are called.
 *
 * A writer may extend TrackEvent by messages of its own (Chrome has some hundred) and puts their
 * descriptors into the trace. From them, and from the few messages that TrackEvent has itself,
 * typed fields become args with the names that the writer's own JSON gives them. */
#ifndef MRD_INGEST_PERFETTO_SCHEMA_H
#define MRD_INGEST_PERFETTO_SCHEMA_H

#include "base/alloc.h"
#include "base/text.h"

typedef enum mrd__pf_field_kind { /* FieldDescriptorProto.Type */
    MRD__PF_DOUBLE = 1,
    MRD__PF_FLOAT,
    MRD__PF_INT64,
    MRD__PF_UINT64,
    MRD__PF_INT32,
    MRD__PF_FIXED64,
    MRD__PF_FIXED32,
    MRD__PF_BOOL,
    MRD__PF_STRING,
    MRD__PF_GROUP,
    MRD__PF_MESSAGE,
    MRD__PF_BYTES,
    MRD__PF_UINT32,
    MRD__PF_ENUM,
    MRD__PF_SFIXED32,
    MRD__PF_SFIXED64,
    MRD__PF_SINT32,
    MRD__PF_SINT64,
} mrd__pf_field_kind;

typedef struct mrd__pf_field {
    mrd__str name; /* of the schema's own texts */
    mrd__pf_field_kind kind;
    bool repeated;
    mrd__str type_name; /* of a message or enumeration: ".package.Name" */
} mrd__pf_field;

typedef struct mrd__pf_schema_slot {
    uint64_t key;  /* hash of the type's name, mixed with the number */
    mrd__str type; /* size 0: empty slot */
    int64_t number;
    uint32_t field; /* index + 1 of a message's field, 0 for a value of an enumeration */
    mrd__str value;
} mrd__pf_schema_slot;

/* Zeroed is empty. Not thread-safe. */
typedef struct mrd__pf_schema {
    mrd__arena texts;
    MRD__VEC(mrd__pf_field) fields;
    mrd__pf_schema_slot *slots;
    size_t size, used;
    MRD__VEC(uint64_t) read; /* hashes of what was read: writers repeat their descriptors */
    bool own;                /* TrackEvent's own messages are in */
} mrd__pf_schema;

/* Take the descriptors of one ExtensionDescriptor; what is known keeps its first meaning. False
 * when bytes are no message or a limit is passed: what came before counts. */
bool mrd__pf_schema_add(mrd__pf_schema *schema, mrd__str message);
/* The field of a message type by its number, NULL when nobody described it. Borrowed until the
 * next addition. */
const mrd__pf_field *mrd__pf_schema_field(mrd__pf_schema *schema, mrd__str type, uint32_t number);
/* What a value of an enumeration is called, empty when unknown. */
mrd__str mrd__pf_schema_value(mrd__pf_schema *schema, mrd__str type, int64_t number);
void mrd__pf_schema_reset(mrd__pf_schema *schema);

#endif
