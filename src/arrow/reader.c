/* Messages in order. A stream is walked from its beginning; a file by the blocks of its footer, all
 * dictionaries first.
 *
 *   stream: message... end          file: "ARROW1\0\0" stream footer, int32 size, "ARROW1"
 *
 * Only what a batch needs is touched: a message is metadata (checked by fbread) and a body whose
 * buffers must lie inside it. */
#include "arrow/reader.h"
#include "arrow/column.h"
#include "arrow/fbread.h"
#include "arrow/schema.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"

#include <string.h>

enum {
    HEADER_SCHEMA = 1,
    HEADER_DICTIONARY = 2,
    HEADER_BATCH = 3
};
enum {
    VERSION_V4 = 3,
    VERSION_V5 = 4
};
#define MAGIC "ARROW1"
#define MAGIC_SIZE 6

typedef struct message {
    size_t offset; /* in the input */
    mrd__fbr meta;
    size_t table; /* Message */
    int kind;
    bool v5;
    mrd__str body;
    size_t end; /* offset of what follows */
} message;

typedef struct block {
    size_t offset;
} block;

typedef struct words {
    int64_t id;
    MRD__VEC(mrd__str) list;
} words;

struct mrd__arrow_reader {
    const char *data;
    size_t size, at; /* at: stream position */
    bool from_footer, cut, ended;
    MRD__VEC(block) blocks; /* of a file: dictionaries, then batches */
    size_t next_block;
    mrd__arrow_schema schema;
    MRD__VEC(words) dictionaries;
    mrd__arrow_in_column *columns;
    MRD__VEC(mrd__str) parts; /* data buffers of the views of one batch */
};

static mrd_status damaged(mrd_error *error, size_t offset, const char *what)
{
    mrd__fail(error, MRD_ERR_FORMAT, "bad_arrow", "Arrow data is damaged: %s", what);
    return mrd__fail_at(error, MRD_ERR_FORMAT, NULL, (int64_t)offset);
}

/* ---- Messages ---- */

/* Message: version 0, header_type 1, header 2, bodyLength 3 */
static mrd_status parse_message(const mrd__arrow_reader *r, message *m, size_t meta_at,
                                size_t meta_size, mrd_error *error)
{
    m->meta = (mrd__fbr){.data = r->data + meta_at, .size = meta_size};
    m->table = mrd__fbr_root(&m->meta);
    int64_t version = mrd__fbr_int(&m->meta, m->table, 0, 2, 0);
    m->kind = (int)mrd__fbr_int(&m->meta, m->table, 1, 1, 0);
    int64_t body = mrd__fbr_int(&m->meta, m->table, 3, 8, 0);
    if (m->meta.bad || body < 0) return damaged(error, m->offset, "a message cannot be read");
    if (version != VERSION_V4 && version != VERSION_V5) {
        mrd__fail(error, MRD_ERR_UNSUPPORTED, "unsupported_arrow",
                  "Arrow metadata version V%lld is not supported, V4 and V5 are",
                  (long long)version + 1);
        return mrd__fail_at(error, MRD_ERR_UNSUPPORTED, NULL, (int64_t)m->offset);
    }
    m->v5 = version == VERSION_V5;
    size_t body_at = meta_at + meta_size;
    if ((uint64_t)body > r->size - body_at)
        return damaged(error, m->offset, "the data ends inside a message");
    m->body = (mrd__str){r->data + body_at, (size_t)body};
    m->end = body_at + (size_t)body;
    return MRD_OK;
}

/* The message at offset; *ended at the end marker or the end of the data. Before Arrow 0.15 there
 * was no continuation word, only the size. */
static mrd_status read_message(const mrd__arrow_reader *r, size_t offset, message *m, bool *ended,
                               mrd_error *error)
{
    *m = (message){.offset = offset};
    *ended = offset == r->size;
    if (*ended) return MRD_OK;
    size_t at = offset;
    if (r->size - at < 4) return damaged(error, offset, "the data ends inside a message");
    uint32_t size = (uint32_t)mrd__arrow_load(r->data + at, 4, false);
    at += 4;
    if (size == 0xffffffff) {
        if (r->size - at < 4) return damaged(error, offset, "the data ends inside a message");
        size = (uint32_t)mrd__arrow_load(r->data + at, 4, false);
        at += 4;
    }
    *ended = size == 0;
    if (*ended) return MRD_OK;
    if (size > r->size - at) return damaged(error, offset, "the data ends inside a message");
    return parse_message(r, m, at, size, error);
}

/* ---- Bodies ---- */

/* RecordBatch: length 0, nodes 1, buffers 2, compression 3, variadicBufferCounts 4 */
typedef struct batch_walk {
    message *m;
    size_t rows;
    size_t nodes, node_count, node;
    size_t buffers, buffer_count, buffer;
    size_t views, view_count, view;
    const char *trouble;
} batch_walk;

static mrd_status begin_batch(batch_walk *w, message *m, size_t table, mrd_error *error)
{
    *w = (batch_walk){.m = m};
    mrd__fbr *r = &m->meta;
    int64_t rows = mrd__fbr_int(r, table, 0, 8, 0);
    w->nodes = mrd__fbr_vector(r, table, 1, 16, &w->node_count);
    w->buffers = mrd__fbr_vector(r, table, 2, 16, &w->buffer_count);
    w->views = mrd__fbr_vector(r, table, 4, 8, &w->view_count);
    size_t compression = mrd__fbr_child(r, table, 3);
    if (compression != 0 && !r->bad) {
        bool zstd = mrd__fbr_int(r, compression, 0, 1, 0) == 1;
        mrd__fail(error, MRD_ERR_UNSUPPORTED, "unsupported_arrow",
                  "Arrow data is compressed with %s, only uncompressed data is supported",
                  zstd ? "zstd" : "lz4");
        return mrd__fail_at(error, MRD_ERR_UNSUPPORTED, NULL, (int64_t)m->offset);
    }
    if (r->bad || table == 0) return damaged(error, m->offset, "a record batch cannot be read");
    if (rows < 0 || rows > MRD__ARROW_READ_ROWS_MAX)
        return damaged(error, m->offset, "a record batch has an impossible number of rows");
    w->rows = (size_t)rows;
    return MRD_OK;
}

static mrd__str next_buffer(batch_walk *w)
{
    if (w->buffer == w->buffer_count) {
        w->trouble = "a record batch has too few buffers";
        return (mrd__str){NULL, 0};
    }
    size_t at = w->buffers + 16 * w->buffer++;
    int64_t offset = mrd__fbr_at64(&w->m->meta, at);
    int64_t size = mrd__fbr_at64(&w->m->meta, at + 8);
    size_t room = w->m->body.size;
    if (offset < 0 || size < 0 || (uint64_t)offset > room ||
        (uint64_t)size > room - (size_t)offset) {
        w->trouble = "a buffer lies outside its message";
        return (mrd__str){NULL, 0};
    }
    return (mrd__str){w->m->body.data + offset, (size_t)size};
}

/* A buffer that must hold size bytes at least. */
static const char *sized_buffer(batch_walk *w, size_t size)
{
    mrd__str buffer = next_buffer(w);
    if (w->trouble == NULL && buffer.size < size) w->trouble = "a buffer is shorter than its rows";
    return buffer.data;
}

static size_t next_view_count(batch_walk *w)
{
    if (w->view == w->view_count) {
        w->trouble = "a record batch has too few view counts";
        return 0;
    }
    int64_t count = mrd__fbr_at64(&w->m->meta, w->views + 8 * w->view++);
    if (count >= 0 && (uint64_t)count <= w->buffer_count - w->buffer) return (size_t)count;
    w->trouble = "a record batch has too few buffers";
    return 0;
}

/* Steps over the nodes, buffers and views of a column nobody reads. */
static void skip_slot(batch_walk *w, const mrd__arrow_slot *slot)
{
    size_t extra = 0;
    for (uint32_t i = 0; i < slot->views && w->trouble == NULL; i++)
        extra += next_view_count(w);
    if (w->node_count - w->node < slot->nodes || w->buffer_count - w->buffer < slot->buffers ||
        w->buffer_count - w->buffer - slot->buffers < extra) {
        w->trouble = "a record batch has too few buffers";
        return;
    }
    w->node += slot->nodes;
    w->buffer += slot->buffers + extra;
}

/* The buffers of text: offsets and bytes, or views and their parts. */
static void text_buffers(mrd__arrow_reader *r, batch_walk *w, mrd__arrow_in_column *column)
{
    const mrd__arrow_in_field *field = column->field;
    size_t byte_count = 0;
    size_t first_part = r->parts.count;
    if (field->width == MRD__ARROW_VIEW) {
        column->data = sized_buffer(w, w->rows * MRD__ARROW_VIEW);
        size_t count = w->trouble == NULL ? next_view_count(w) : 0;
        for (size_t i = 0; i < count && w->trouble == NULL; i++)
            mrd__vec_push(&r->parts, next_buffer(w));
        if (count > 0) column->parts = r->parts.data + first_part;
    } else {
        column->offsets = sized_buffer(w, w->rows > 0 ? (w->rows + 1) * field->width : 0);
        mrd__str bytes = next_buffer(w);
        column->bytes = bytes.data;
        byte_count = bytes.size;
    }
    if (w->trouble == NULL)
        w->trouble = mrd__arrow_check_column(column, byte_count, r->parts.count - first_part);
}

/* One column of a batch (or the values of a dictionary, whose field has no dictionary). */
static void read_column(mrd__arrow_reader *r, batch_walk *w, mrd__arrow_in_column *column)
{
    const mrd__arrow_in_field *field = column->field;
    column->rows = w->rows;
    if (w->node == w->node_count) {
        w->trouble = "a record batch has too few columns";
        return;
    }
    size_t node = w->nodes + 16 * w->node++;
    int64_t nulls = mrd__fbr_at64(&w->m->meta, node + 8);
    if (mrd__fbr_at64(&w->m->meta, node) != (int64_t)w->rows) {
        w->trouble = "a column is not as long as its batch";
        return;
    }
    column->validity = sized_buffer(w, nulls != 0 ? (w->rows + 7) / 8 : 0);
    if (nulls == 0) column->validity = NULL;
    if (w->trouble != NULL) return;
    if (field->dictionary) {
        column->data = sized_buffer(w, w->rows * field->index_width);
        if (w->trouble == NULL) w->trouble = mrd__arrow_check_column(column, 0, 0);
    } else if (field->kind == MRD__ARROW_KIND_TEXT) {
        text_buffers(r, w, column);
    } else if (field->kind == MRD__ARROW_KIND_BOOL) {
        column->data = sized_buffer(w, (w->rows + 7) / 8);
    } else {
        column->data = sized_buffer(w, w->rows * field->width);
    }
}

/* ---- Dictionaries ---- */

static words *find_words(mrd__arrow_reader *r, int64_t id)
{
    for (size_t i = 0; i < r->dictionaries.count; i++) {
        if (r->dictionaries.data[i].id == id) return &r->dictionaries.data[i];
    }
    return NULL;
}

/* The readable column that uses this dictionary; NULL when there is none. */
static const mrd__arrow_slot *user_of(const mrd__arrow_reader *r, int64_t id)
{
    for (size_t i = 0; i < r->schema.count; i++) {
        const mrd__arrow_slot *slot = &r->schema.slots[i];
        if (slot->field.dictionary && slot->dictionary_id == id &&
            slot->field.kind == MRD__ARROW_KIND_TEXT)
            return slot;
    }
    return NULL;
}

static void store_words(mrd__arrow_reader *r, int64_t id, bool delta,
                        const mrd__arrow_in_column *values)
{
    words *found = find_words(r, id);
    if (found == NULL) {
        mrd__vec_push(&r->dictionaries, ((words){.id = id}));
        found = &r->dictionaries.data[r->dictionaries.count - 1];
    }
    if (!delta) found->list.count = 0;
    mrd__vec_reserve(&found->list, found->list.count + values->rows);
    for (size_t i = 0; i < values->rows; i++) {
        mrd__str text = {NULL, 0};
        mrd__arrow_get_text(values, i, &text);
        mrd__vec_push(&found->list, text);
    }
}

/* DictionaryBatch: id 0, data 1, isDelta 2 */
static mrd_status read_dictionary(mrd__arrow_reader *r, message *m, mrd_error *error)
{
    size_t header = mrd__fbr_child(&m->meta, m->table, 2);
    int64_t id = mrd__fbr_int(&m->meta, header, 0, 8, 0);
    bool delta = mrd__fbr_int(&m->meta, header, 2, 1, 0) != 0;
    size_t data = mrd__fbr_child(&m->meta, header, 1);
    const mrd__arrow_slot *user = user_of(r, id);
    if (user == NULL && !m->meta.bad) return MRD_OK;
    batch_walk w;
    MRD__TRY(begin_batch(&w, m, data, error));
    mrd__arrow_in_field plain = user->field;
    plain.dictionary = false;
    mrd__arrow_in_column values = {.field = &plain};
    r->parts.count = 0;
    read_column(r, &w, &values);
    if (m->meta.bad || w.trouble != NULL)
        return damaged(error, m->offset, w.trouble != NULL ? w.trouble : "a dictionary");
    store_words(r, id, delta, &values);
    return MRD_OK;
}

/* ---- Batches ---- */

static mrd_status read_batch(mrd__arrow_reader *r, message *m, mrd__arrow_in_batch *out,
                             mrd_error *error)
{
    batch_walk w;
    MRD__TRY(begin_batch(&w, m, mrd__fbr_child(&m->meta, m->table, 2), error));
    /* Columns keep pointers into parts: it must not move while it fills. */
    r->parts.count = 0;
    mrd__vec_reserve(&r->parts, w.buffer_count);
    for (size_t i = 0; i < r->schema.count && w.trouble == NULL; i++) {
        const mrd__arrow_slot *slot = &r->schema.slots[i];
        mrd__arrow_in_column *column = &r->columns[i];
        *column = (mrd__arrow_in_column){.field = &r->schema.fields[i], .rows = w.rows};
        if (slot->field.kind == MRD__ARROW_KIND_OTHER) {
            skip_slot(&w, slot);
            continue;
        }
        if (slot->field.dictionary) {
            const words *found = find_words(r, slot->dictionary_id);
            if (found != NULL)
                column->words = (mrd__arrow_words){found->list.data, found->list.count};
        }
        read_column(r, &w, column);
    }
    if (m->meta.bad || w.trouble != NULL)
        return damaged(error, m->offset, w.trouble != NULL ? w.trouble : "a record batch");
    *out = (mrd__arrow_in_batch){w.rows, r->columns, m->offset};
    return MRD_OK;
}

/* Position of the next message; false at the end. */
static bool next_offset(const mrd__arrow_reader *r, size_t *offset)
{
    if (r->ended || (r->from_footer && r->next_block == r->blocks.count)) return false;
    *offset = r->from_footer ? r->blocks.data[r->next_block].offset : r->at;
    return true;
}

mrd_status mrd__arrow_reader_next(mrd__arrow_reader *r, mrd__arrow_in_batch *out, bool *more,
                                  mrd_error *error)
{
    size_t offset;
    *more = false;
    while (next_offset(r, &offset)) {
        message m;
        bool ended;
        MRD__TRY(read_message(r, offset, &m, &ended, error));
        if (ended && r->from_footer)
            return damaged(error, offset, "a block of the footer is empty");
        if (ended) {
            r->ended = true;
            return MRD_OK;
        }
        bool batch = m.kind == HEADER_BATCH;
        if (batch)
            MRD__TRY(read_batch(r, &m, out, error));
        else if (m.kind == HEADER_DICTIONARY)
            MRD__TRY(read_dictionary(r, &m, error));
        r->at = m.end;
        r->next_block++;
        *more = batch;
        if (batch) return MRD_OK;
    }
    return MRD_OK;
}

/* ---- Opening ---- */

/* Blocks are structs of 24 bytes: offset, metadata size (4 bytes and 4 of padding), body size.
 * Their offsets ascend as they were written: a footer must not make much of little by repetition.
 */
static void add_blocks(mrd__arrow_reader *r, mrd__fbr *footer, size_t table, int slot)
{
    size_t count;
    size_t first = mrd__fbr_vector(footer, table, slot, 24, &count);
    int64_t before = 0;
    for (size_t i = 0; i < count && !footer->bad; i++) {
        int64_t offset = mrd__fbr_at64(footer, first + 24 * i);
        if (offset <= before || (uint64_t)offset >= r->size) footer->bad = true;
        before = offset;
        mrd__vec_push(&r->blocks, ((block){(size_t)offset}));
    }
}

/* Footer: version 0, schema 1, dictionaries 2, recordBatches 3. True when there is one that can be
 * read; *footer then holds it. */
static bool find_footer(mrd__arrow_reader *r, mrd__fbr *footer, size_t *table)
{
    size_t tail = MAGIC_SIZE + 4;
    if (r->size < 8 + tail || memcmp(r->data + r->size - MAGIC_SIZE, MAGIC, MAGIC_SIZE) != 0)
        return false;
    int64_t size = mrd__arrow_load(r->data + r->size - tail, 4, true);
    if (size <= 0 || (size_t)size > r->size - tail - 8) return false;
    *footer = (mrd__fbr){.data = r->data + r->size - tail - (size_t)size, .size = (size_t)size};
    *table = mrd__fbr_root(footer);
    add_blocks(r, footer, *table, 2);
    add_blocks(r, footer, *table, 3);
    if (!footer->bad) return true;
    r->blocks.count = 0;
    return false;
}

/* The schema of a file is that of its footer (some writers put none before), of a stream its first
 * message. */
static mrd_status read_schema(mrd__arrow_reader *r, mrd__fbr *footer, size_t table,
                              mrd_error *error)
{
    message m = {.kind = HEADER_SCHEMA, .offset = r->at, .end = r->at};
    bool ended = false;
    if (r->from_footer) {
        m.offset = (size_t)(footer->data - r->data);
        m.meta = *footer;
        m.v5 = mrd__fbr_int(&m.meta, table, 0, 2, 0) == VERSION_V5;
        table = mrd__fbr_child(&m.meta, table, 1);
    } else {
        MRD__TRY(read_message(r, r->at, &m, &ended, error));
        if (!ended) table = mrd__fbr_child(&m.meta, m.table, 2);
    }
    if (ended || m.kind != HEADER_SCHEMA)
        return damaged(error, r->at, "it does not begin with a schema");
    mrd_status status = mrd__arrow_schema_read(&r->schema, &m.meta, table, m.v5, error);
    if (status != MRD_OK) return mrd__fail_at(error, status, NULL, (int64_t)m.offset);
    r->at = m.end;
    r->columns = mrd__new_array(mrd__arrow_in_column, r->schema.count);
    return MRD_OK;
}

mrd_status mrd__arrow_reader_open(const char *data, size_t size, mrd__arrow_reader **out,
                                  mrd_error *error)
{
    mrd__arrow_reader *r = mrd__new(mrd__arrow_reader);
    r->data = data;
    r->size = size;
    mrd__fbr footer = {0};
    size_t table = 0;
    if (size >= 8 && memcmp(data, MAGIC, MAGIC_SIZE) == 0) {
        r->at = 8;
        r->from_footer = find_footer(r, &footer, &table);
        r->cut = !r->from_footer;
    }
    mrd_status status = read_schema(r, &footer, table, error);
    if (status != MRD_OK) {
        mrd__arrow_reader_close(&r);
        return status;
    }
    *out = r;
    return MRD_OK;
}

void mrd__arrow_reader_close(mrd__arrow_reader **reader)
{
    if (reader == NULL || *reader == NULL) return;
    mrd__arrow_reader *r = *reader;
    for (size_t i = 0; i < r->dictionaries.count; i++)
        mrd__vec_reset(&r->dictionaries.data[i].list);
    mrd__vec_reset(&r->dictionaries);
    mrd__vec_reset(&r->blocks);
    mrd__vec_reset(&r->parts);
    mrd__arrow_schema_reset(&r->schema);
    mrd__free(r->columns);
    mrd__free(r);
    *reader = NULL;
}

size_t mrd__arrow_reader_field_count(const mrd__arrow_reader *reader)
{
    return reader->schema.count;
}

const mrd__arrow_in_field *mrd__arrow_reader_field(const mrd__arrow_reader *reader, size_t index)
{
    mrd__assert(index < reader->schema.count);
    return &reader->schema.fields[index];
}

mrd__str mrd__arrow_reader_metadata(const mrd__arrow_reader *reader, const char *key)
{
    return mrd__arrow_schema_metadata(&reader->schema, key);
}

bool mrd__arrow_reader_cut(const mrd__arrow_reader *reader)
{
    return reader->cut;
}

/* A stream: a size that makes sense, then a flatbuffer whose root lies near its beginning. */
bool mrd__arrow_sniff(const char *data, size_t size)
{
    if (size >= 8 && memcmp(data, MAGIC "\0\0", 8) == 0) return true;
    if (size < 24) return false;
    size_t at = memcmp(data, "\xff\xff\xff\xff", 4) == 0 ? 4 : 0;
    int64_t length = mrd__arrow_load(data + at, 4, true);
    if (length < 16 || length % 8 != (at == 0 ? 4 : 0)) return false;
    mrd__fbr r = {.data = data + at + 4, .size = size - at - 4};
    if (r.size > (size_t)length) r.size = (size_t)length;
    size_t table = mrd__fbr_root(&r);
    int64_t version = mrd__fbr_int(&r, table, 0, 2, -1);
    int64_t kind = mrd__fbr_int(&r, table, 1, 1, 0);
    return !r.bad && kind == HEADER_SCHEMA && (version == VERSION_V4 || version == VERSION_V5);
}
