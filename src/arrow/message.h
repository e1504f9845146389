/* Arrow metadata messages (Schema.fbs, Message.fbs): what a schema, a record batch and a dictionary
 * batch look like as flatbuffers. Slot numbers are those of the .fbs files, in order. */
#ifndef MRD_ARROW_MESSAGE_H
#define MRD_ARROW_MESSAGE_H

#include "arrow/arrow.h"
#include "arrow/flatbuffer.h"

/* One buffer of a message body, in order; written padded to 8 bytes. */
typedef struct mrd__arrow_piece {
    const void *data;
    size_t size;
} mrd__arrow_piece;

typedef struct mrd__arrow_node {
    int64_t length;
    int64_t null_count;
} mrd__arrow_node;

/* A record batch: nodes of its fields and the pieces of its body. */
typedef struct mrd__arrow_body {
    int64_t rows;
    const mrd__arrow_node *nodes;
    size_t node_count;
    const mrd__arrow_piece *pieces;
    size_t piece_count;
} mrd__arrow_body;

/* Where a message of a file is. */
typedef struct mrd__arrow_block {
    int64_t offset;
    int64_t meta_size; /* with the 8 bytes before it */
    int64_t body_size;
} mrd__arrow_block;

bool mrd__arrow_is_dictionary(mrd__arrow_type type);
/* Bytes of one value or index; 0 for UTF8 and BOOL. */
size_t mrd__arrow_width(mrd__arrow_type type);
size_t mrd__arrow_padded(size_t size);
int64_t mrd__arrow_body_size(const mrd__arrow_body *body);

/* Each builds one whole message into fb, padded to 8 bytes. Dictionary ids are field indices. */
void mrd__arrow_schema_message(mrd__fb *fb, const mrd__arrow_field *fields, size_t field_count,
                               const mrd__arrow_kv *metadata, size_t metadata_count);
void mrd__arrow_batch_message(mrd__fb *fb, const mrd__arrow_body *body);
void mrd__arrow_dictionary_message(mrd__fb *fb, int64_t id, const mrd__arrow_body *body);

/* The footer of a file in two steps: with the schema, later with the blocks. Returns the table. */
size_t mrd__arrow_footer_begin(mrd__fb *fb, const mrd__arrow_field *fields, size_t field_count,
                               const mrd__arrow_kv *metadata, size_t metadata_count);
void mrd__arrow_footer_end(mrd__fb *fb, size_t footer, const mrd__arrow_block *dictionaries,
                           size_t dictionary_count, const mrd__arrow_block *batches,
                           size_t batch_count);

#endif
