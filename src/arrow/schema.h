/* Inside the reader: the schema as read, with what nested and unknown columns take in a batch. */
#ifndef MRD_ARROW_SCHEMA_H
#define MRD_ARROW_SCHEMA_H

#include "arrow/fbread.h"
#include "arrow/reader.h"

/* A column of the schema and what it takes in a record batch. */
typedef struct mrd__arrow_slot {
    mrd__arrow_in_field field;
    int64_t dictionary_id;
    uint32_t nodes;   /* nested fields count */
    uint32_t buffers; /* without those of views */
    uint32_t views;   /* entries of variadicBufferCounts */
} mrd__arrow_slot;

typedef struct mrd__arrow_schema {
    mrd__arrow_slot *slots;
    mrd__arrow_in_field *fields; /* the same fields, for the outside */
    size_t count;
    mrd__fbr source;     /* for the metadata */
    size_t source_table; /* Schema */
} mrd__arrow_schema;

/* From the Schema table at `table`. On failure nothing is allocated. error gets no place. */
MRD_MUST_CHECK mrd_status mrd__arrow_schema_read(mrd__arrow_schema *schema, mrd__fbr *source,
                                                 size_t table, bool v5, mrd_error *error);
void mrd__arrow_schema_reset(mrd__arrow_schema *schema);
mrd__str mrd__arrow_schema_metadata(const mrd__arrow_schema *schema, const char *key);

#endif
