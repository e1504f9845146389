/* Arrow IPC stream and file writer for any flat schema: little endian, buffers 8-byte aligned,
 * metadata V5, dictionaries before the first record batch, end-of-stream marker. The flatbuffers
 * are built by hand (flatbuffer.h); values go to the sink straight from the caller's memory.
 *
 * A writer belongs to one thread at a time. Order of calls: create, dictionary (once for each
 * dictionary field), batch (any number), finish, destroy. */
#ifndef MRD_ARROW_ARROW_H
#define MRD_ARROW_ARROW_H

#include "base/text.h"

/* Rows of one record batch: what the wire contract allows, and what a reader holds at once. */
#define MRD__ARROW_BATCH_ROWS 65536

typedef enum mrd__arrow_type {
    MRD__ARROW_FLOAT64,
    MRD__ARROW_INT64,
    MRD__ARROW_UINT64,
    MRD__ARROW_INT32,
    MRD__ARROW_UINT32,
    MRD__ARROW_UINT16,
    MRD__ARROW_UINT8,
    MRD__ARROW_BOOL, /* data: one bit per row, least significant first */
    MRD__ARROW_UTF8,
    MRD__ARROW_DICT8, /* dictionary<int8, utf8>; data: int8_t indices */
    MRD__ARROW_DICT16,
    MRD__ARROW_DICT32,
} mrd__arrow_type;

/* name is borrowed by create only. */
typedef struct mrd__arrow_field {
    const char *name;
    mrd__arrow_type type;
    bool nullable;
} mrd__arrow_field;

/* Custom metadata of the schema; both must be valid UTF-8. */
typedef struct mrd__arrow_kv {
    const char *key;
    mrd__str value;
} mrd__arrow_kv;

/* The words of a dictionary field, valid UTF-8, borrowed for the call. */
typedef struct mrd__arrow_dict {
    size_t count;
    mrd__str (*get)(const void *ctx, size_t index);
    const void *ctx;
} mrd__arrow_dict;

/* One column of a batch, borrowed for the call. */
typedef struct mrd__arrow_column {
    const void *data;        /* fixed width values, dictionary indices; UTF8: NULL */
    const uint8_t *validity; /* NULL: no nulls; a bit per row, 1 valid, least significant first */
    const int32_t *offsets;  /* UTF8: rows + 1 offsets into bytes, ascending */
    const char *bytes;       /* UTF8 */
} mrd__arrow_column;

typedef struct mrd__arrow_writer mrd__arrow_writer;

/* Copies fields and metadata; the sink struct is copied, its ctx must outlive the writer. Writes
 * nothing yet: the schema goes out with the first dictionary, batch or finish. */
mrd__arrow_writer *mrd__arrow_writer_create(const mrd__arrow_field *fields, size_t field_count,
                                            const mrd__arrow_kv *metadata, size_t metadata_count,
                                            const mrd_sink *sink);
/* The same as a file ("ARROW1", footer): finish writes the footer. */
mrd__arrow_writer *mrd__arrow_writer_create_file(const mrd__arrow_field *fields, size_t field_count,
                                                 const mrd__arrow_kv *metadata,
                                                 size_t metadata_count, const mrd_sink *sink);
/* The words of a dictionary field, before the first batch, once for each such field. A dictionary
 * of 0 words is valid. MRD_ERR_LIMIT when the index type or int32 offsets cannot hold it; else the
 * sink's errors. */
MRD_MUST_CHECK mrd_status mrd__arrow_writer_dictionary(mrd__arrow_writer *writer, size_t field,
                                                       const mrd__arrow_dict *dict,
                                                       mrd_error *error);
/* Rows of all columns in field order; split at MRD__ARROW_BATCH_ROWS. 0 rows write a batch of
 * length 0 (columns may be NULL then). */
MRD_MUST_CHECK mrd_status mrd__arrow_writer_batch(mrd__arrow_writer *writer,
                                                  const mrd__arrow_column *columns, size_t rows,
                                                  mrd_error *error);
/* End-of-stream marker; without a batch before it, a batch of length 0 is written first. */
MRD_MUST_CHECK mrd_status mrd__arrow_writer_finish(mrd__arrow_writer *writer, mrd_error *error);
/* Accepts NULL and *writer == NULL. */
void mrd__arrow_writer_destroy(mrd__arrow_writer **writer);

#endif
