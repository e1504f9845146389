#include "arrow/message.h"
#include "base/assert.h"

#define VERSION_V5 4
enum {
    HEADER_SCHEMA = 1,
    HEADER_DICTIONARY = 2,
    HEADER_BATCH = 3
};
enum {
    TYPE_INT = 2,
    TYPE_FLOAT = 3,
    TYPE_UTF8 = 5,
    TYPE_BOOL = 6
};
#define PRECISION_DOUBLE 2

typedef struct type_info {
    uint8_t kind;
    uint8_t bits; /* Int: of the value; dictionary: of the index */
    bool is_signed;
    bool dictionary;
} type_info;

static const type_info types[] = {
    [MRD__ARROW_FLOAT64] = {TYPE_FLOAT, 64, true, false},
    [MRD__ARROW_INT64] = {TYPE_INT, 64, true, false},
    [MRD__ARROW_UINT64] = {TYPE_INT, 64, false, false},
    [MRD__ARROW_INT32] = {TYPE_INT, 32, true, false},
    [MRD__ARROW_UINT32] = {TYPE_INT, 32, false, false},
    [MRD__ARROW_UINT16] = {TYPE_INT, 16, false, false},
    [MRD__ARROW_UINT8] = {TYPE_INT, 8, false, false},
    [MRD__ARROW_BOOL] = {TYPE_BOOL, 0, false, false},
    [MRD__ARROW_UTF8] = {TYPE_UTF8, 0, false, false},
    [MRD__ARROW_DICT8] = {TYPE_UTF8, 8, true, true},
    [MRD__ARROW_DICT16] = {TYPE_UTF8, 16, true, true},
    [MRD__ARROW_DICT32] = {TYPE_UTF8, 32, true, true},
};

bool mrd__arrow_is_dictionary(mrd__arrow_type type)
{
    return types[type].dictionary;
}

size_t mrd__arrow_width(mrd__arrow_type type)
{
    return types[type].bits / 8;
}

size_t mrd__arrow_padded(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

/* Message: version, header_type, header, bodyLength. */
static size_t begin_message(mrd__fb *fb, int header, int64_t body_size)
{
    mrd__fb_begin(fb);
    size_t message = mrd__fb_table(fb, "2148");
    mrd__fb_root(fb, message);
    mrd__fb_set(fb, message, 0, VERSION_V5, 2);
    mrd__fb_set(fb, message, 1, header, 1);
    mrd__fb_set(fb, message, 3, body_size, 8);
    return message;
}

static size_t int_type(mrd__fb *fb, int bits, bool is_signed)
{
    size_t table = mrd__fb_table(fb, "41"); /* bitWidth, is_signed */
    mrd__fb_set(fb, table, 0, bits, 4);
    mrd__fb_set(fb, table, 1, is_signed, 1);
    return table;
}

static size_t value_type(mrd__fb *fb, const type_info *info)
{
    if (info->kind == TYPE_INT) return int_type(fb, info->bits, info->is_signed);
    if (info->kind == TYPE_FLOAT) {
        size_t table = mrd__fb_table(fb, "2"); /* precision */
        mrd__fb_set(fb, table, 0, PRECISION_DOUBLE, 2);
        return table;
    }
    return mrd__fb_table(fb, "");
}

/* Field: name, nullable, type_type, type, dictionary, children. Children are an empty vector, not
 * absent: readers of other languages insist. */
static size_t schema_field(mrd__fb *fb, const mrd__arrow_field *field, size_t index)
{
    const type_info *info = &types[field->type];
    size_t table = mrd__fb_table(fb, info->dictionary ? "411444" : "411404");
    mrd__fb_link(fb, table, 0, mrd__fb_string(fb, mrd__str_of(field->name)));
    mrd__fb_set(fb, table, 1, field->nullable, 1);
    mrd__fb_set(fb, table, 2, info->kind, 1);
    mrd__fb_link(fb, table, 3, value_type(fb, info));
    if (info->dictionary) {
        size_t encoding = mrd__fb_table(fb, "84"); /* id, indexType */
        mrd__fb_set(fb, encoding, 0, (int64_t)index, 8);
        mrd__fb_link(fb, encoding, 1, int_type(fb, info->bits, info->is_signed));
        mrd__fb_link(fb, table, 4, encoding);
    }
    mrd__fb_link(fb, table, 5, mrd__fb_vector(fb, 0, 4));
    return table;
}

/* Schema: endianness, fields, custom_metadata */
static size_t schema_table(mrd__fb *fb, const mrd__arrow_field *fields, size_t field_count,
                           const mrd__arrow_kv *metadata, size_t metadata_count)
{
    size_t schema = mrd__fb_table(fb, metadata_count > 0 ? "244" : "24");
    size_t list = mrd__fb_vector(fb, field_count, 4);
    mrd__fb_link(fb, schema, 1, list);
    for (size_t i = 0; i < field_count; i++)
        mrd__fb_link_item(fb, list, i, schema_field(fb, &fields[i], i));
    if (metadata_count > 0) {
        list = mrd__fb_vector(fb, metadata_count, 4);
        mrd__fb_link(fb, schema, 2, list);
    }
    for (size_t i = 0; i < metadata_count; i++) {
        size_t pair = mrd__fb_table(fb, "44"); /* key, value */
        mrd__fb_link_item(fb, list, i, pair);
        mrd__fb_link(fb, pair, 0, mrd__fb_string(fb, mrd__str_of(metadata[i].key)));
        mrd__fb_link(fb, pair, 1, mrd__fb_string(fb, metadata[i].value));
    }
    return schema;
}

void mrd__arrow_schema_message(mrd__fb *fb, const mrd__arrow_field *fields, size_t field_count,
                               const mrd__arrow_kv *metadata, size_t metadata_count)
{
    size_t message = begin_message(fb, HEADER_SCHEMA, 0);
    mrd__fb_link(fb, message, 2, schema_table(fb, fields, field_count, metadata, metadata_count));
    mrd__fb_end(fb);
}

/* Footer: version, schema, dictionaries, recordBatches */
size_t mrd__arrow_footer_begin(mrd__fb *fb, const mrd__arrow_field *fields, size_t field_count,
                               const mrd__arrow_kv *metadata, size_t metadata_count)
{
    mrd__fb_begin(fb);
    size_t footer = mrd__fb_table(fb, "2444");
    mrd__fb_root(fb, footer);
    mrd__fb_set(fb, footer, 0, VERSION_V5, 2);
    mrd__fb_link(fb, footer, 1, schema_table(fb, fields, field_count, metadata, metadata_count));
    return footer;
}

/* Block: offset, metaDataLength (int32 and padding), bodyLength. */
static void link_blocks(mrd__fb *fb, size_t footer, int slot, const mrd__arrow_block *blocks,
                        size_t count)
{
    size_t list = mrd__fb_vector(fb, count, 24);
    mrd__fb_link(fb, footer, slot, list);
    for (size_t i = 0; i < count; i++)
        mrd__fb_set_three(fb, list, i, blocks[i].offset, blocks[i].meta_size, blocks[i].body_size);
}

void mrd__arrow_footer_end(mrd__fb *fb, size_t footer, const mrd__arrow_block *dictionaries,
                           size_t dictionary_count, const mrd__arrow_block *batches,
                           size_t batch_count)
{
    link_blocks(fb, footer, 2, dictionaries, dictionary_count);
    link_blocks(fb, footer, 3, batches, batch_count);
    mrd__fb_end(fb);
}

/* RecordBatch: length, nodes, buffers. Buffers carry their exact length; each begins at a multiple
 * of 8 in the body. */
static size_t record_batch(mrd__fb *fb, const mrd__arrow_body *body)
{
    size_t batch = mrd__fb_table(fb, "844");
    mrd__fb_set(fb, batch, 0, body->rows, 8);
    size_t nodes = mrd__fb_vector(fb, body->node_count, 16);
    mrd__fb_link(fb, batch, 1, nodes);
    for (size_t i = 0; i < body->node_count; i++)
        mrd__fb_set_pair(fb, nodes, i, body->nodes[i].length, body->nodes[i].null_count);
    size_t buffers = mrd__fb_vector(fb, body->piece_count, 16);
    mrd__fb_link(fb, batch, 2, buffers);
    size_t at = 0;
    for (size_t i = 0; i < body->piece_count; i++) {
        mrd__fb_set_pair(fb, buffers, i, (int64_t)at, (int64_t)body->pieces[i].size);
        at += mrd__arrow_padded(body->pieces[i].size);
    }
    return batch;
}

int64_t mrd__arrow_body_size(const mrd__arrow_body *body)
{
    size_t size = 0;
    for (size_t i = 0; i < body->piece_count; i++)
        size += mrd__arrow_padded(body->pieces[i].size);
    return (int64_t)size;
}

void mrd__arrow_batch_message(mrd__fb *fb, const mrd__arrow_body *body)
{
    size_t message = begin_message(fb, HEADER_BATCH, mrd__arrow_body_size(body));
    mrd__fb_link(fb, message, 2, record_batch(fb, body));
    mrd__fb_end(fb);
}

void mrd__arrow_dictionary_message(mrd__fb *fb, int64_t id, const mrd__arrow_body *body)
{
    size_t message = begin_message(fb, HEADER_DICTIONARY, mrd__arrow_body_size(body));
    size_t dictionary = mrd__fb_table(fb, "84"); /* id, data */
    mrd__fb_link(fb, message, 2, dictionary);
    mrd__fb_set(fb, dictionary, 0, id, 8);
    mrd__fb_link(fb, dictionary, 1, record_batch(fb, body));
    mrd__fb_end(fb);
}
