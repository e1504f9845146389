/* The stream: schema, one dictionary batch for each dictionary field, record batches, end marker.
 *
 *   message = FF FF FF FF | int32 metadata size | metadata, padded to 8 | body, buffers padded to 8
 *   file    = "ARROW1\0\0" | stream | footer: schema and places | int32 footer size | "ARROW1"
 *
 * Small parts are gathered in `pending`, large ones go to the sink from where they are. */
#include "arrow/arrow.h"
#include "arrow/message.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"

#include <string.h>

#define GATHER_MAX ((size_t)16 << 10) /* below it a copy is cheaper than a call of the sink */
#define FILE_MAGIC "ARROW1"
#define SCHEMA_BYTES_MAX ((size_t)1 << 30) /* metadata sizes are int32 */

typedef struct field_state {
    mrd__arrow_type type;
    bool nullable;
    bool has_words; /* dictionary fields: the words are out */
} field_state;

struct mrd__arrow_writer {
    field_state *fields;
    size_t field_count;
    mrd_sink sink;
    mrd__fb schema; /* waits for the first call */
    bool schema_too_long, schema_written, batch_written, finished;
    mrd_status broken; /* the sink's first failure: what follows would not make a stream */
    mrd__fb message;
    mrd__buf pending;
    mrd__arena scratch; /* rebased offsets of one batch */
    mrd__arrow_node *nodes;
    mrd__arrow_piece *pieces;
    bool is_file;
    mrd__fb footer; /* of a file: begun with the schema */
    size_t footer_table;
    int64_t position; /* bytes emitted */
    MRD__VEC(mrd__arrow_block) dictionaries, batches;
};

mrd__arrow_writer *mrd__arrow_writer_create(const mrd__arrow_field *fields, size_t field_count,
                                            const mrd__arrow_kv *metadata, size_t metadata_count,
                                            const mrd_sink *sink)
{
    mrd__arrow_writer *writer = mrd__new(mrd__arrow_writer);
    writer->fields = mrd__new_array(field_state, field_count);
    writer->field_count = field_count;
    writer->sink = *sink;
    for (size_t i = 0; i < field_count; i++)
        writer->fields[i] = (field_state){.type = fields[i].type, .nullable = fields[i].nullable};
    size_t size = 0;
    for (size_t i = 0; i < metadata_count && size <= SCHEMA_BYTES_MAX; i++)
        size += strlen(metadata[i].key) + metadata[i].value.size;
    writer->schema_too_long = size > SCHEMA_BYTES_MAX;
    if (!writer->schema_too_long)
        mrd__arrow_schema_message(&writer->schema, fields, field_count, metadata, metadata_count);
    writer->nodes = mrd__new_array(mrd__arrow_node, field_count);
    writer->pieces = mrd__new_array(mrd__arrow_piece, field_count * 3);
    return writer;
}

mrd__arrow_writer *mrd__arrow_writer_create_file(const mrd__arrow_field *fields, size_t field_count,
                                                 const mrd__arrow_kv *metadata,
                                                 size_t metadata_count, const mrd_sink *sink)
{
    mrd__arrow_writer *writer =
        mrd__arrow_writer_create(fields, field_count, metadata, metadata_count, sink);
    writer->is_file = true;
    if (!writer->schema_too_long)
        writer->footer_table =
            mrd__arrow_footer_begin(&writer->footer, fields, field_count, metadata, metadata_count);
    return writer;
}

void mrd__arrow_writer_destroy(mrd__arrow_writer **writer)
{
    if (writer == NULL || *writer == NULL) return;
    mrd__arrow_writer *w = *writer;
    mrd__buf_reset(&w->schema.bytes);
    mrd__buf_reset(&w->message.bytes);
    mrd__buf_reset(&w->pending);
    mrd__buf_reset(&w->footer.bytes);
    mrd__vec_reset(&w->dictionaries);
    mrd__vec_reset(&w->batches);
    mrd__arena_reset(&w->scratch);
    mrd__free(w->fields);
    mrd__free(w->nodes);
    mrd__free(w->pieces);
    mrd__free(w);
    *writer = NULL;
}

/* ---- Bytes out ---- */

static mrd_status flush(mrd__arrow_writer *w, mrd_error *error)
{
    mrd_status status = mrd__buf_flush(&w->pending, &w->sink, error);
    if (status != MRD_OK) w->broken = status;
    return status;
}

static mrd_status emit(mrd__arrow_writer *w, const void *data, size_t size, mrd_error *error)
{
    if (w->pending.size + size > GATHER_MAX) MRD__TRY(flush(w, error));
    w->position += (int64_t)size;
    if (size <= GATHER_MAX) {
        mrd__buf_add(&w->pending, data, size);
        return MRD_OK;
    }
    mrd_status status = w->sink.write(w->sink.ctx, data, size, error);
    if (status != MRD_OK) w->broken = status;
    return status;
}

static mrd_status emit_padding(mrd__arrow_writer *w, size_t size, mrd_error *error)
{
    static const char zeros[8];
    return emit(w, zeros, mrd__arrow_padded(size) - size, error);
}

static mrd_status emit_metadata(mrd__arrow_writer *w, const mrd__fb *message, mrd_error *error)
{
    mrd__assert(message->bytes.size % 8 == 0 && message->bytes.size <= INT32_MAX);
    uint32_t head[2] = {0xffffffff, (uint32_t)message->bytes.size};
    MRD__TRY(emit(w, head, sizeof head, error));
    return emit(w, message->bytes.data, message->bytes.size, error);
}

/* Where the message in w->message will stand, for the footer. */
static mrd__arrow_block block_here(const mrd__arrow_writer *w, const mrd__arrow_body *body)
{
    return (mrd__arrow_block){w->position, 8 + (int64_t)w->message.bytes.size,
                              mrd__arrow_body_size(body)};
}

/* What every call begins with: the schema, or the news that the stream is broken. */
static mrd_status begin_call(mrd__arrow_writer *w, mrd_error *error)
{
    mrd__assert(!w->finished);
    if (w->broken != MRD_OK)
        return mrd__fail(error, w->broken, "stream_broken",
                         "an earlier write of this stream failed");
    if (w->schema_written) return MRD_OK;
    if (w->schema_too_long)
        return mrd__fail(error, MRD_ERR_LIMIT, "too_large",
                         "schema metadata of an Arrow stream is longer than %zu bytes, the limit",
                         SCHEMA_BYTES_MAX);
    if (w->is_file) MRD__TRY(emit(w, FILE_MAGIC "\0\0", 8, error));
    MRD__TRY(emit_metadata(w, &w->schema, error));
    mrd__buf_reset(&w->schema.bytes);
    w->schema_written = true;
    return MRD_OK;
}

/* ---- Dictionaries ---- */

static size_t words_max(mrd__arrow_type type)
{
    return type == MRD__ARROW_DICT8 ? 128 : type == MRD__ARROW_DICT16 ? 32768 : INT32_MAX - 1;
}

/* Offsets of the words; NULL when their bytes pass what int32 offsets can say. */
static int32_t *word_offsets(const mrd__arrow_dict *dict)
{
    int32_t *offsets = mrd__new_array(int32_t, dict->count + 1);
    size_t total = 0;
    for (size_t i = 0; i < dict->count; i++) {
        size_t size = dict->get(dict->ctx, i).size;
        if (size > INT32_MAX - total) {
            mrd__free(offsets);
            return NULL;
        }
        total += size;
        offsets[i + 1] = (int32_t)total;
    }
    return offsets;
}

static mrd_status emit_words(mrd__arrow_writer *w, size_t field, const mrd__arrow_dict *dict,
                             const int32_t *offsets, mrd_error *error)
{
    size_t bytes = (size_t)offsets[dict->count];
    mrd__arrow_node node = {(int64_t)dict->count, 0};
    mrd__arrow_piece pieces[3] = {
        {NULL, 0}, {offsets, (dict->count + 1) * sizeof *offsets}, {NULL, bytes}};
    mrd__arrow_body body = {(int64_t)dict->count, &node, 1, pieces, 3};
    mrd__arrow_dictionary_message(&w->message, (int64_t)field, &body);
    if (w->is_file) mrd__vec_push(&w->dictionaries, block_here(w, &body));
    MRD__TRY(emit_metadata(w, &w->message, error));
    MRD__TRY(emit(w, offsets, pieces[1].size, error));
    MRD__TRY(emit_padding(w, pieces[1].size, error));
    for (size_t i = 0; i < dict->count; i++) {
        mrd__str word = dict->get(dict->ctx, i);
        mrd__assert(word.size == (size_t)(offsets[i + 1] - offsets[i]));
        MRD__TRY(emit(w, word.data, word.size, error));
    }
    return emit_padding(w, bytes, error);
}

mrd_status mrd__arrow_writer_dictionary(mrd__arrow_writer *w, size_t field,
                                        const mrd__arrow_dict *dict, mrd_error *error)
{
    mrd__assert(field < w->field_count && mrd__arrow_is_dictionary(w->fields[field].type));
    mrd__assert(!w->fields[field].has_words && !w->batch_written);
    size_t max = words_max(w->fields[field].type);
    if (dict->count > max)
        return mrd__fail(error, MRD_ERR_LIMIT, "too_large",
                         "%zu different values do not fit the index of a column that holds %zu",
                         dict->count, max);
    int32_t *offsets = word_offsets(dict);
    if (offsets == NULL)
        return mrd__fail(error, MRD_ERR_LIMIT, "too_large",
                         "the different values of a column are longer than %d bytes, the limit",
                         INT32_MAX);
    mrd_status status = begin_call(w, error);
    if (status == MRD_OK) status = emit_words(w, field, dict, offsets, error);
    mrd__free(offsets);
    if (status != MRD_OK) return status;
    w->fields[field].has_words = true;
    return MRD_OK;
}

/* ---- Record batches ---- */

static size_t count_valid(const uint8_t *bits, size_t rows)
{
    size_t count = 0;
    size_t at = 0;
    for (; at + 8 <= rows / 8; at += 8) {
        uint64_t word;
        memcpy(&word, bits + at, sizeof word);
        count += (size_t)__builtin_popcountll(word);
    }
    for (; at < rows / 8; at++)
        count += (size_t)__builtin_popcount(bits[at]);
    if (rows % 8 != 0) count += (size_t)__builtin_popcount(bits[at] & ((1u << rows % 8) - 1));
    return count;
}

/* Two pieces: offsets that begin at 0, and the bytes they speak of. */
static size_t utf8_pieces(mrd__arrow_writer *w, const mrd__arrow_column *column, size_t from,
                          size_t rows, mrd__arrow_piece *out)
{
    static const int32_t none[1];
    const int32_t *offsets = rows == 0 ? none : column->offsets + from;
    int32_t base = offsets[0];
    size_t bytes = (size_t)(offsets[rows] - base);
    if (base != 0) {
        int32_t *moved = mrd__arena_alloc(&w->scratch, (rows + 1) * sizeof *moved, sizeof *moved);
        for (size_t i = 0; i <= rows; i++)
            moved[i] = offsets[i] - base;
        offsets = moved;
    }
    out[0] = (mrd__arrow_piece){offsets, (rows + 1) * sizeof *offsets};
    out[1] = (mrd__arrow_piece){bytes > 0 ? column->bytes + base : NULL, bytes};
    return 2;
}

/* from is a multiple of 8, so that bits begin at a byte. Returns how many pieces. */
static size_t column_pieces(mrd__arrow_writer *w, size_t field, const mrd__arrow_column *column,
                            size_t from, size_t rows, mrd__arrow_piece *out)
{
    const field_state *state = &w->fields[field];
    size_t nulls = 0;
    if (rows > 0 && column->validity != NULL)
        nulls = rows - count_valid(column->validity + from / 8, rows);
    mrd__assert(nulls == 0 || state->nullable);
    w->nodes[field] = (mrd__arrow_node){(int64_t)rows, (int64_t)nulls};
    out[0] = (mrd__arrow_piece){NULL, 0};
    if (nulls > 0) out[0] = (mrd__arrow_piece){column->validity + from / 8, (rows + 7) / 8};
    if (state->type == MRD__ARROW_UTF8) return 1 + utf8_pieces(w, column, from, rows, out + 1);
    const char *data = rows > 0 ? column->data : NULL;
    if (state->type == MRD__ARROW_BOOL) {
        out[1] = (mrd__arrow_piece){rows > 0 ? data + from / 8 : NULL, (rows + 7) / 8};
        return 2;
    }
    size_t width = mrd__arrow_width(state->type);
    out[1] = (mrd__arrow_piece){rows > 0 ? data + from * width : NULL, rows * width};
    return 2;
}

static mrd_status emit_batch(mrd__arrow_writer *w, const mrd__arrow_column *columns, size_t from,
                             size_t rows, mrd_error *error)
{
    size_t count = 0;
    for (size_t i = 0; i < w->field_count; i++)
        count += column_pieces(w, i, rows > 0 ? &columns[i] : NULL, from, rows, w->pieces + count);
    mrd__arrow_body body = {(int64_t)rows, w->nodes, w->field_count, w->pieces, count};
    mrd__arrow_batch_message(&w->message, &body);
    if (w->is_file) mrd__vec_push(&w->batches, block_here(w, &body));
    MRD__TRY(emit_metadata(w, &w->message, error));
    for (size_t i = 0; i < count; i++) {
        MRD__TRY(emit(w, w->pieces[i].data, w->pieces[i].size, error));
        MRD__TRY(emit_padding(w, w->pieces[i].size, error));
    }
    w->batch_written = true;
    return flush(w, error);
}

mrd_status mrd__arrow_writer_batch(mrd__arrow_writer *w, const mrd__arrow_column *columns,
                                   size_t rows, mrd_error *error)
{
    MRD__TRY(begin_call(w, error));
    for (size_t i = 0; i < w->field_count; i++)
        mrd__assert(!mrd__arrow_is_dictionary(w->fields[i].type) || w->fields[i].has_words);
    size_t from = 0;
    do {
        size_t part = rows - from < MRD__ARROW_BATCH_ROWS ? rows - from : MRD__ARROW_BATCH_ROWS;
        mrd_status status = emit_batch(w, columns, from, part, error);
        mrd__arena_reset(&w->scratch);
        if (status != MRD_OK) return status;
        from += part;
    } while (from < rows);
    return MRD_OK;
}

static mrd_status emit_footer(mrd__arrow_writer *w, mrd_error *error)
{
    mrd__arrow_footer_end(&w->footer, w->footer_table, w->dictionaries.data, w->dictionaries.count,
                          w->batches.data, w->batches.count);
    mrd__assert(w->footer.bytes.size <= INT32_MAX);
    int32_t size = (int32_t)w->footer.bytes.size;
    MRD__TRY(emit(w, w->footer.bytes.data, w->footer.bytes.size, error));
    MRD__TRY(emit(w, &size, sizeof size, error));
    return emit(w, FILE_MAGIC, strlen(FILE_MAGIC), error);
}

mrd_status mrd__arrow_writer_finish(mrd__arrow_writer *w, mrd_error *error)
{
    MRD__TRY(begin_call(w, error));
    if (!w->batch_written) MRD__TRY(mrd__arrow_writer_batch(w, NULL, 0, error));
    static const uint32_t end[2] = {0xffffffff, 0};
    MRD__TRY(emit(w, end, sizeof end, error));
    if (w->is_file) MRD__TRY(emit_footer(w, error));
    MRD__TRY(flush(w, error));
    w->finished = true;
    return MRD_OK;
}
