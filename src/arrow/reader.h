/* Arrow IPC reader for flat columns, file ("ARROW1") and stream form, over bytes in memory.
 *
 * Understood: integers of all widths, float32 and float64, bool, utf8 and binary with 32 or 64 bit
 * offsets or as views, timestamp and duration, dictionaries of text (replaced and delta ones too).
 * Other columns are there as MRD__ARROW_KIND_OTHER and are stepped over. Little endian, metadata
 * V4 and V5, uncompressed bodies.
 *
 * Nothing is copied: what is handed out points into the input, which must outlive the reader and
 * stay as it is. All offsets, lengths and dictionary indices of a batch are checked before it is
 * handed out; text is not checked to be UTF-8. A reader belongs to one thread at a time. */
#ifndef MRD_ARROW_READER_H
#define MRD_ARROW_READER_H

#include "base/text.h"

/* Fields of a schema, nested ones counted: beyond it the schema is not one for a person. */
#define MRD__ARROW_FIELDS_MAX 65536
/* Levels of nested fields that are stepped over. */
#define MRD__ARROW_NESTING_MAX 64
/* Rows of one record batch: 2^31 - 1, as the Arrow specification advises. */
#define MRD__ARROW_READ_ROWS_MAX INT32_MAX

typedef enum mrd__arrow_kind {
    MRD__ARROW_KIND_OTHER,
    MRD__ARROW_KIND_INT,
    MRD__ARROW_KIND_FLOAT,
    MRD__ARROW_KIND_BOOL,
    MRD__ARROW_KIND_TEXT,
    MRD__ARROW_KIND_TIMESTAMP, /* int64 of unit_ns each, since 1970 */
    MRD__ARROW_KIND_DURATION,  /* int64 of unit_ns each */
} mrd__arrow_kind;

typedef struct mrd__arrow_in_field {
    mrd__str name; /* borrowed from the input */
    mrd__arrow_kind kind;
    bool nullable;
    uint8_t width;   /* bytes of a value; TEXT: of an offset (4 or 8), 16 for views */
    bool is_signed;  /* INT */
    int64_t unit_ns; /* TIMESTAMP, DURATION: 1, 1000, 1000000, 1000000000 */
    mrd__str zone;   /* TIMESTAMP: time zone as written, often empty */
    bool dictionary; /* TEXT by index */
    uint8_t index_width;
    bool index_signed;
} mrd__arrow_in_field;

/* The words of a dictionary, as they stand when the batch is handed out. */
typedef struct mrd__arrow_words {
    const mrd__str *data; /* a null word is {NULL, 0} */
    size_t count;
} mrd__arrow_words;

/* One column of the current batch. Use the mrd__arrow_get_ functions; no pointer is aligned. */
typedef struct mrd__arrow_in_column {
    const mrd__arrow_in_field *field;
    size_t rows;
    const char *validity; /* NULL: no nulls */
    const char *data;     /* values, indices, bits or views */
    const char *offsets;  /* TEXT without views */
    const char *bytes;
    const mrd__str *parts; /* views: the data buffers */
    mrd__arrow_words words;
} mrd__arrow_in_column;

typedef struct mrd__arrow_in_batch {
    size_t rows;
    const mrd__arrow_in_column *columns; /* as many as fields */
    size_t offset;                       /* of its message in the input */
} mrd__arrow_in_batch;

typedef struct mrd__arrow_reader mrd__arrow_reader;

/* True when the bytes begin like an Arrow file or stream (some hundred bytes are enough). */
bool mrd__arrow_sniff(const char *data, size_t size);

/* Reads the schema (and the footer of a file). MRD_ERR_FORMAT: not an Arrow file or stream or a
 * damaged one; MRD_ERR_UNSUPPORTED: big endian, old metadata. error->offset is the byte. A file
 * whose footer is missing (cut short) is read as the stream it contains. */
MRD_MUST_CHECK mrd_status mrd__arrow_reader_open(const char *data, size_t size,
                                                 mrd__arrow_reader **out, mrd_error *error);
void mrd__arrow_reader_close(mrd__arrow_reader **reader); /* accepts NULL and *reader == NULL */

size_t mrd__arrow_reader_field_count(const mrd__arrow_reader *reader);
const mrd__arrow_in_field *mrd__arrow_reader_field(const mrd__arrow_reader *reader, size_t index);
/* Custom metadata of the schema; empty text when there is no such key. */
mrd__str mrd__arrow_reader_metadata(const mrd__arrow_reader *reader, const char *key);
/* A file that has lost its footer: what its messages say is read, more may be missing. */
bool mrd__arrow_reader_cut(const mrd__arrow_reader *reader);

/* The next batch, valid until the next call; *more is false at the end (out is untouched then).
 * After an error the reader stays where it is; batches before it were good. */
MRD_MUST_CHECK mrd_status mrd__arrow_reader_next(mrd__arrow_reader *reader,
                                                 mrd__arrow_in_batch *out, bool *more,
                                                 mrd_error *error);

/* False when the value is null or the column's kind does not give what is asked for. */
bool mrd__arrow_is_valid(const mrd__arrow_in_column *column, size_t row);
/* INT (in range of int64), BOOL (0, 1), TIMESTAMP and DURATION in their own unit. */
bool mrd__arrow_get_int(const mrd__arrow_in_column *column, size_t row, int64_t *out);
/* FLOAT, and INT as the nearest double. */
bool mrd__arrow_get_double(const mrd__arrow_in_column *column, size_t row, double *out);
bool mrd__arrow_get_text(const mrd__arrow_in_column *column, size_t row, mrd__str *out);
/* Dictionary columns: the index into column->words, to translate each word once. */
bool mrd__arrow_get_index(const mrd__arrow_in_column *column, size_t row, size_t *out);

#endif
