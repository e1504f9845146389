#include "arrow/schema.h"
#include "arrow/column.h"
#include "base/alloc.h"
#include "base/error.h"

/* Type of Schema.fbs, in its order. */
enum {
    TYPE_NONE,
    TYPE_NULL,
    TYPE_INT,
    TYPE_FLOAT,
    TYPE_BINARY,
    TYPE_UTF8,
    TYPE_BOOL,
    TYPE_DECIMAL,
    TYPE_DATE,
    TYPE_TIME,
    TYPE_TIMESTAMP,
    TYPE_INTERVAL,
    TYPE_LIST,
    TYPE_STRUCT,
    TYPE_UNION,
    TYPE_FIXED_BINARY,
    TYPE_FIXED_LIST,
    TYPE_MAP,
    TYPE_DURATION,
    TYPE_LARGE_BINARY,
    TYPE_LARGE_UTF8,
    TYPE_LARGE_LIST,
    TYPE_RUN_END,
    TYPE_BINARY_VIEW,
    TYPE_UTF8_VIEW,
    TYPE_LIST_VIEW,
    TYPE_LARGE_LIST_VIEW,
    TYPE_COUNT
};

/* Buffers of a field of its own, children not counted (Columnar format, "Buffer listing"). */
static const uint8_t buffers_of[TYPE_COUNT] = {
    [TYPE_NULL] = 0,         [TYPE_INT] = 2,
    [TYPE_FLOAT] = 2,        [TYPE_BINARY] = 3,
    [TYPE_UTF8] = 3,         [TYPE_BOOL] = 2,
    [TYPE_DECIMAL] = 2,      [TYPE_DATE] = 2,
    [TYPE_TIME] = 2,         [TYPE_TIMESTAMP] = 2,
    [TYPE_INTERVAL] = 2,     [TYPE_LIST] = 2,
    [TYPE_STRUCT] = 1,       [TYPE_UNION] = 1,
    [TYPE_FIXED_BINARY] = 2, [TYPE_FIXED_LIST] = 1,
    [TYPE_MAP] = 2,          [TYPE_DURATION] = 2,
    [TYPE_LARGE_BINARY] = 3, [TYPE_LARGE_UTF8] = 3,
    [TYPE_LARGE_LIST] = 2,   [TYPE_RUN_END] = 0,
    [TYPE_BINARY_VIEW] = 2,  [TYPE_UTF8_VIEW] = 2,
    [TYPE_LIST_VIEW] = 3,    [TYPE_LARGE_LIST_VIEW] = 3,
};

/* Field: name 0, nullable 1, type_type 2, type 3, dictionary 4, children 5 */

typedef struct walk {
    mrd__fbr *source;
    size_t seen; /* fields so far: links may share, so a small schema can unfold without end */
    bool v5;
    const char *trouble;
} walk;

static int type_code(mrd__fbr *r, size_t field)
{
    int code = (int)(uint8_t)mrd__fbr_int(r, field, 2, 1, 0);
    return code < TYPE_COUNT ? code : TYPE_NONE;
}

static uint32_t own_buffers(walk *w, size_t field, int code)
{
    if (code != TYPE_UNION) return buffers_of[code];
    size_t type = mrd__fbr_child(w->source, field, 3);
    bool dense = mrd__fbr_int(w->source, type, 0, 2, 0) == 1;
    return (dense ? 2u : 1u) + (w->v5 ? 0u : 1u); /* V4 unions had validity */
}

/* What a field and its children take. depth is bounded, so is the number of fields. */
static void take(walk *w, mrd__arrow_slot *slot, size_t field, uint32_t depth)
{
    if (w->trouble != NULL || w->source->bad) return;
    if (++w->seen > MRD__ARROW_FIELDS_MAX) w->trouble = "has too many fields";
    if (depth > MRD__ARROW_NESTING_MAX) w->trouble = "is nested too deep";
    int code = type_code(w->source, field);
    if (code == TYPE_NONE) w->trouble = "has a field of an unknown type";
    if (w->trouble != NULL) return;
    slot->nodes++;
    if (mrd__fbr_child(w->source, field, 4) != 0) { /* by dictionary: indices, and no children */
        slot->buffers += 2;
        return;
    }
    slot->buffers += own_buffers(w, field, code);
    slot->views += code == TYPE_BINARY_VIEW || code == TYPE_UTF8_VIEW;
    size_t count;
    size_t children = mrd__fbr_vector(w->source, field, 5, 4, &count);
    for (size_t i = 0; i < count && w->trouble == NULL && !w->source->bad; i++)
        take(w, slot, mrd__fbr_item(w->source, children, i), depth + 1);
}

static bool int_width(int64_t bits, uint8_t *width)
{
    *width = (uint8_t)(bits / 8);
    return bits == 8 || bits == 16 || bits == 32 || bits == 64;
}

static mrd__arrow_kind number_kind(mrd__fbr *r, size_t type, int code, mrd__arrow_in_field *out)
{
    static const int64_t units[] = {1000000000, 1000000, 1000, 1};
    out->is_signed = true;
    out->width = 8;
    if (code == TYPE_INT) {
        out->is_signed = mrd__fbr_int(r, type, 1, 1, 0) != 0;
        bool known = int_width(mrd__fbr_int(r, type, 0, 4, 0), &out->width);
        return known ? MRD__ARROW_KIND_INT : MRD__ARROW_KIND_OTHER;
    }
    if (code == TYPE_FLOAT) {
        int64_t precision = mrd__fbr_int(r, type, 0, 2, 0); /* half, single, double */
        out->width = precision == 1 ? 4 : 8;
        return precision == 1 || precision == 2 ? MRD__ARROW_KIND_FLOAT : MRD__ARROW_KIND_OTHER;
    }
    /* Timestamp: unit (default second), zone. Duration: unit (default millisecond). */
    int64_t unit = mrd__fbr_int(r, type, 0, 2, code == TYPE_DURATION ? 1 : 0);
    if (unit < 0 || unit > 3) return MRD__ARROW_KIND_OTHER;
    out->unit_ns = units[unit];
    if (code == TYPE_DURATION) return MRD__ARROW_KIND_DURATION;
    out->zone = mrd__fbr_string(r, type, 1);
    return MRD__ARROW_KIND_TIMESTAMP;
}

static mrd__arrow_kind value_kind(mrd__fbr *r, size_t field, mrd__arrow_in_field *out)
{
    int code = type_code(r, field);
    switch (code) {
    case TYPE_INT:
    case TYPE_FLOAT:
    case TYPE_TIMESTAMP:
    case TYPE_DURATION:
        return number_kind(r, mrd__fbr_child(r, field, 3), code, out);
    case TYPE_BOOL:
        return MRD__ARROW_KIND_BOOL;
    case TYPE_UTF8:
    case TYPE_BINARY:
        out->width = 4;
        return MRD__ARROW_KIND_TEXT;
    case TYPE_LARGE_UTF8:
    case TYPE_LARGE_BINARY:
        out->width = 8;
        return MRD__ARROW_KIND_TEXT;
    case TYPE_UTF8_VIEW:
    case TYPE_BINARY_VIEW:
        out->width = MRD__ARROW_VIEW;
        return MRD__ARROW_KIND_TEXT;
    default:
        return MRD__ARROW_KIND_OTHER;
    }
}

static void read_field(walk *w, mrd__arrow_slot *slot, size_t field)
{
    mrd__fbr *r = w->source;
    mrd__arrow_in_field *out = &slot->field;
    out->name = mrd__fbr_string(r, field, 0);
    out->nullable = mrd__fbr_int(r, field, 1, 1, 0) != 0;
    out->kind = value_kind(r, field, out);
    take(w, slot, field, 1);
    size_t encoding = mrd__fbr_child(r, field, 4);
    if (encoding == 0) return;
    /* DictionaryEncoding: id, indexType (absent: int32), isOrdered */
    out->dictionary = true;
    slot->dictionary_id = mrd__fbr_int(r, encoding, 0, 8, 0);
    size_t index = mrd__fbr_child(r, encoding, 1);
    out->index_signed = index == 0 || mrd__fbr_int(r, index, 1, 1, 0) != 0;
    bool known = int_width(index == 0 ? 32 : mrd__fbr_int(r, index, 0, 4, 0), &out->index_width);
    if (!known || out->kind != MRD__ARROW_KIND_TEXT) out->kind = MRD__ARROW_KIND_OTHER;
}

void mrd__arrow_schema_reset(mrd__arrow_schema *schema)
{
    mrd__free(schema->slots);
    mrd__free(schema->fields);
    *schema = (mrd__arrow_schema){0};
}

/* Schema: endianness 0, fields 1, custom_metadata 2 */
mrd_status mrd__arrow_schema_read(mrd__arrow_schema *schema, mrd__fbr *source, size_t table,
                                  bool v5, mrd_error *error)
{
    size_t count;
    size_t list = mrd__fbr_vector(source, table, 1, 4, &count);
    if (mrd__fbr_int(source, table, 0, 2, 0) != 0)
        return mrd__fail(error, MRD_ERR_UNSUPPORTED, "unsupported_arrow",
                         "Arrow data is big endian, little endian is supported");
    if (count > MRD__ARROW_FIELDS_MAX)
        return mrd__fail(error, MRD_ERR_LIMIT, "too_large",
                         "Arrow schema has %zu fields, %d are "
                         "the limit",
                         count, MRD__ARROW_FIELDS_MAX);
    walk w = {.source = source, .v5 = v5};
    mrd__arrow_schema fresh = {.count = count, .source_table = table};
    fresh.slots = mrd__new_array(mrd__arrow_slot, count);
    fresh.fields = mrd__new_array(mrd__arrow_in_field, count);
    for (size_t i = 0; i < count && w.trouble == NULL && !source->bad; i++) {
        read_field(&w, &fresh.slots[i], mrd__fbr_item(source, list, i));
        fresh.fields[i] = fresh.slots[i].field;
    }
    fresh.source = *source;
    if (w.trouble == NULL && !source->bad && table != 0) {
        *schema = fresh;
        return MRD_OK;
    }
    mrd__arrow_schema_reset(&fresh);
    return mrd__fail(error, MRD_ERR_FORMAT, "bad_arrow", "Arrow schema %s",
                     w.trouble != NULL ? w.trouble : "is damaged");
}

mrd__str mrd__arrow_schema_metadata(const mrd__arrow_schema *schema, const char *key)
{
    mrd__fbr r = schema->source;
    size_t count;
    size_t list = mrd__fbr_vector(&r, schema->source_table, 2, 4, &count);
    for (size_t i = 0; i < count && !r.bad; i++) {
        size_t pair = mrd__fbr_item(&r, list, i);
        if (mrd__str_is(mrd__fbr_string(&r, pair, 0), key) && !r.bad)
            return mrd__fbr_string(&r, pair, 1);
    }
    return (mrd__str){"", 0};
}
