/* Typed fields of track events as JSON text, by their descriptors (schema.h). */
#include "ingest/perfetto/state.h"

#include <string.h>

static const char EVENT_TYPE_NAME[] = ".perfetto.protos.TrackEvent";
static const char ANNOTATION_TYPE_NAME[] = ".perfetto.protos.DebugAnnotation";
static const char NATIVE_TYPE_NAME[] = ".Native";

bool mrd__pf_is_typed(uint32_t number)
{
#define BIT(n) ((uint64_t)1 << (n))
    static const uint64_t read_elsewhere =
        BIT(EVENT_TIMESTAMP_DELTA_US) | BIT(EVENT_THREAD_TIME_DELTA_US) | BIT(EVENT_CATEGORY_IIDS) |
        BIT(EVENT_ANNOTATIONS) | BIT(EVENT_LEGACY) | BIT(EVENT_INSTRUCTIONS_DELTA) |
        BIT(EVENT_TYPE) | BIT(EVENT_NAME_IID) | BIT(EVENT_TRACK_UUID) | BIT(EVENT_EXTRA_VALUES) |
        BIT(EVENT_TIMESTAMP_ABSOLUTE_US) | BIT(EVENT_THREAD_TIME_ABSOLUTE_US) |
        BIT(EVENT_INSTRUCTIONS_ABSOLUTE) | BIT(EVENT_CATEGORIES) | BIT(EVENT_NAME) |
        BIT(EVENT_COUNTER_VALUE) | BIT(EVENT_EXTRA_UUIDS) | BIT(EVENT_SOURCE) |
        BIT(EVENT_SOURCE_IID) | BIT(EVENT_FLOW_IDS_OLD) | BIT(EVENT_LAST_FLOW_IDS_OLD) |
        BIT(EVENT_DOUBLE_VALUE) | BIT(EVENT_EXTRA_DOUBLE_UUIDS) | BIT(EVENT_EXTRA_DOUBLE_VALUES) |
        BIT(EVENT_FLOW_IDS) | BIT(EVENT_LAST_FLOW_IDS);
    if (number == EVENT_ARROW) return false;
    return number >= 64 || (read_elsewhere & BIT(number)) == 0;
#undef BIT
}

static void add_key(mrd__pf *pf, mrd__str name)
{
    mrd__pf_comma(pf);
    mrd__buf_json_string(&pf->json, name);
    mrd__buf_char(&pf->json, ':');
}

/* ---- Interned places ---- */

void mrd__pf_source(mrd__pf *pf, uint32_t file, uint32_t function, uint64_t line)
{
    add_key(pf, MRD__STR("file_name"));
    mrd__buf_json_string(&pf->json, mrd__shard_text(pf->shard, file));
    add_key(pf, MRD__STR("function_name"));
    mrd__buf_json_string(&pf->json, mrd__shard_text(pf->shard, function));
    if (line == 0) return;
    add_key(pf, MRD__STR("line_number"));
    mrd__buf_uint(&pf->json, line);
}

/* Three numbers of an interned place; NULL, and a loss, when it was never defined. */
static const uint64_t *place(mrd__pf *pf, const mrd__pf_sequence *sequence, mrd__pf_kind kind,
                             uint64_t iid)
{
    uint32_t index = mrd__pf_map_find(&sequence->interned, kind, 0, iid);
    if (index != 0) return &sequence->sources.data[3 * ((size_t)index - 1)];
    mrd__pf_loss(pf, MRD__LOSS_UNKNOWN_INTERNED, "source location");
    return NULL;
}

static void add_place(mrd__pf *pf, const mrd__pf_sequence *sequence, uint64_t iid)
{
    const uint64_t *own = place(pf, sequence, MRD__PF_SOURCE, iid);
    if (own != NULL) mrd__pf_source(pf, (uint32_t)own[0], (uint32_t)own[1], own[2]);
}

static void add_native(mrd__pf *pf, const mrd__pf_sequence *sequence, uint64_t iid)
{
    const uint64_t *own = place(pf, sequence, MRD__PF_NATIVE, iid);
    mrd__buf_text(&pf->json, "{\"native_symbol\":{");
    if (own != NULL) {
        add_key(pf, MRD__STR("mapping_id"));
        mrd__buf_uint(&pf->json, own[0]);
        add_key(pf, MRD__STR("rel_pc"));
        mrd__buf_uint(&pf->json, own[1]);
    }
    mrd__buf_text(&pf->json, "}}");
}

/* ---- Values ---- */

static void add_enum(mrd__pf *pf, const mrd__pf_field *field, int64_t number)
{
    mrd__str name = mrd__pf_schema_value(&pf->schema, field->type_name, number);
    if (name.size > 0)
        mrd__buf_json_string(&pf->json, name);
    else
        mrd__buf_int(&pf->json, number);
}

static void add_varint(mrd__pf *pf, const mrd__pf_field *field, uint64_t value)
{
    switch (field->kind) {
    case MRD__PF_BOOL:
        mrd__buf_text(&pf->json, value != 0 ? "true" : "false");
        break;
    case MRD__PF_ENUM:
        add_enum(pf, field, (int32_t)value);
        break;
    case MRD__PF_INT32:
        mrd__buf_int(&pf->json, (int32_t)value);
        break;
    case MRD__PF_INT64:
        mrd__buf_int(&pf->json, mrd__pb_int(value));
        break;
    case MRD__PF_SINT32:
    case MRD__PF_SINT64:
        mrd__buf_int(&pf->json, mrd__pb_int(value >> 1 ^ (0 - (value & 1))));
        break;
    default:
        mrd__buf_uint(&pf->json, value);
        break;
    }
}

static void add_fixed(mrd__pf *pf, const mrd__pf_field *field, uint64_t value)
{
    float number;
    uint32_t bits = (uint32_t)value;
    switch (field->kind) {
    case MRD__PF_DOUBLE:
        mrd__buf_json_real(&pf->json, mrd__pb_double(value));
        break;
    case MRD__PF_FLOAT:
        memcpy(&number, &bits, sizeof number);
        mrd__buf_json_real(&pf->json, (double)number);
        break;
    case MRD__PF_SFIXED64:
        mrd__buf_int(&pf->json, mrd__pb_int(value));
        break;
    case MRD__PF_SFIXED32:
        mrd__buf_int(&pf->json, (int32_t)bits);
        break;
    default:
        mrd__buf_uint(&pf->json, value);
        break;
    }
}

/* Wire type of a single value of a kind; 3 (a group) for what is not read. */
static unsigned wire_of(mrd__pf_field_kind kind)
{
    switch (kind) {
    case MRD__PF_DOUBLE:
    case MRD__PF_FIXED64:
    case MRD__PF_SFIXED64:
        return 1;
    case MRD__PF_FLOAT:
    case MRD__PF_FIXED32:
    case MRD__PF_SFIXED32:
        return 5;
    case MRD__PF_STRING:
    case MRD__PF_MESSAGE:
    case MRD__PF_BYTES:
        return 2;
    case MRD__PF_INT64:
    case MRD__PF_UINT64:
    case MRD__PF_INT32:
    case MRD__PF_UINT32:
    case MRD__PF_BOOL:
    case MRD__PF_ENUM:
    case MRD__PF_SINT32:
    case MRD__PF_SINT64:
        return 0;
    default:
        return 3;
    }
}

static void add_object(mrd__pf *pf, mrd__pf_sequence *sequence, mrd__str type, mrd__str message,
                       unsigned depth);

static void add_value(mrd__pf *pf, mrd__pf_sequence *sequence, const mrd__pf_field *field,
                      const mrd__pb_field *f, unsigned depth)
{
    if ((f->key & 7) != wire_of(field->kind)) {
        mrd__pf_loss(pf, MRD__LOSS_BAD_PACKET, "typed field");
        mrd__buf_text(&pf->json, "null");
    } else if (field->kind == MRD__PF_STRING) {
        mrd__buf_json_string(&pf->json, f->bytes);
    } else if (field->kind == MRD__PF_BYTES) {
        mrd__buf_printf(&pf->json, "\"%zu bytes\"", f->bytes.size);
    } else if (field->kind == MRD__PF_MESSAGE) {
        add_object(pf, sequence, field->type_name, f->bytes, depth + 1);
    } else if (mrd__str_is(field->type_name, NATIVE_TYPE_NAME)) {
        add_native(pf, sequence, f->value);
    } else if ((f->key & 7) == 0) {
        add_varint(pf, field, f->value);
    } else {
        add_fixed(pf, field, f->value);
    }
}

/* Numbers of one field in one run of bytes. */
static void add_packed(mrd__pf *pf, const mrd__pf_field *field, mrd__str bytes)
{
    unsigned wire = wire_of(field->kind);
    mrd__pb at = mrd__pb_of(bytes);
    if (wire == 0) {
        for (uint64_t value; mrd__pb_varint(&at, &value);) {
            mrd__pf_comma(pf);
            add_varint(pf, field, value);
        }
        return;
    }
    size_t size = wire == 1 ? 8 : 4;
    for (; (size_t)(at.end - at.at) >= size; at.at += size) {
        uint64_t value = 0;
        for (size_t i = 0; i < size; i++)
            value |= (uint64_t)at.at[i] << 8 * i;
        mrd__pf_comma(pf);
        add_fixed(pf, field, value);
    }
}

/* All values of a repeated field, whose first is f; rest: what stands behind it. */
static void add_list(mrd__pf *pf, mrd__pf_sequence *sequence, const mrd__pf_field *field,
                     mrd__pb_field f, mrd__pb rest, unsigned depth)
{
    uint32_t number = f.key >> 3;
    unsigned wire = wire_of(field->kind);
    mrd__buf_char(&pf->json, '[');
    do {
        if (f.key >> 3 != number) continue;
        if ((f.key & 7) == 2 && (wire == 0 || wire == 1 || wire == 5)) {
            add_packed(pf, field, f.bytes);
        } else {
            mrd__pf_comma(pf);
            add_value(pf, sequence, field, &f, depth);
        }
    } while (mrd__pb_next(&rest, &f));
    mrd__buf_char(&pf->json, ']');
}

/* ---- Messages ---- */

/* Annotations inside a message are members of it. */
static void add_annotations(mrd__pf *pf, mrd__pf_sequence *sequence, mrd__pb_field f, mrd__pb rest,
                            unsigned depth)
{
    uint32_t key = f.key;
    do {
        if (f.key == key && (f.key & 7) == 2) mrd__pf_annotation(pf, sequence, f.bytes, depth + 1);
    } while (mrd__pb_next(&rest, &f));
}

/* One field with all its values: of a plain one the last counts. */
static void add_field(mrd__pf *pf, mrd__pf_sequence *sequence, const mrd__pf_field *known,
                      mrd__pb_field f, mrd__pb rest, unsigned depth)
{
    /* The schema grows no more while events are read: the copy is against a change of that. */
    mrd__pf_field field = *known;
    if (mrd__str_is(field.type_name, ANNOTATION_TYPE_NAME)) {
        add_annotations(pf, sequence, f, rest, depth);
        return;
    }
    add_key(pf, field.name);
    if (field.repeated) {
        add_list(pf, sequence, &field, f, rest, depth);
        return;
    }
    for (mrd__pb_field next; mrd__pb_next(&rest, &next);)
        if (next.key == f.key) f = next;
    add_value(pf, sequence, &field, &f, depth);
}

static void tell_undescribed(mrd__pf *pf, mrd__str type, uint32_t number)
{
    mrd__buf text = {0};
    mrd__buf_str(&text, type);
    mrd__buf_text(&text, " field ");
    mrd__buf_uint(&text, number);
    mrd__pf_loss(pf, MRD__LOSS_UNDESCRIBED_FIELD, text.data);
    mrd__buf_reset(&text);
}

/* Members of a message; event: it is a track event, most of which is no arg. */
static void add_members(mrd__pf *pf, mrd__pf_sequence *sequence, mrd__str type, mrd__str message,
                        unsigned depth, bool event)
{
    uint32_t seen[MRD__PF_MAX_LIST];
    size_t count = 0;
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        uint32_t number = f.key >> 3;
        if (event && (!mrd__pf_is_typed(number) || number == EVENT_TASK || number == EVENT_LOG))
            continue;
        size_t i = 0;
        while (i < count && seen[i] != number)
            i++;
        if (i < count) continue;
        const mrd__pf_field *field = mrd__pf_schema_field(&pf->schema, type, number);
        if (field == NULL) {
            tell_undescribed(pf, type, number);
        } else if (count == MRD__PF_MAX_LIST) {
            mrd__pf_loss(pf, MRD__LOSS_EVENT_TOO_LARGE, "too many fields in one message");
        } else {
            seen[count++] = number;
            add_field(pf, sequence, field, f, at, depth);
        }
    }
    if (at.bad) mrd__pf_loss(pf, MRD__LOSS_BAD_PACKET, "typed field");
}

static void add_object(mrd__pf *pf, mrd__pf_sequence *sequence, mrd__str type, mrd__str message,
                       unsigned depth)
{
    if (depth > MRD__PF_MAX_ANNOTATIONS) {
        mrd__pf_loss(pf, MRD__LOSS_ARGS_TOO_DEEP, NULL);
        mrd__buf_text(&pf->json, "null");
        return;
    }
    mrd__buf_char(&pf->json, '{');
    add_members(pf, sequence, type, message, depth, false);
    mrd__buf_char(&pf->json, '}');
}

bool mrd__pf_message(mrd__pf *pf, mrd__pf_sequence *sequence, mrd__str type, mrd__str message,
                     unsigned depth)
{
    bool known = false;
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; !known && mrd__pb_next(&at, &f);)
        known = mrd__pf_schema_field(&pf->schema, type, f.key >> 3) != NULL;
    if (known) add_object(pf, sequence, type, message, depth);
    return known;
}

/* ---- What the original names in its own way ---- */

static void add_task(mrd__pf *pf, mrd__pf_sequence *sequence, mrd__str message)
{
    mrd__pb at = mrd__pb_of(message);
    add_key(pf, MRD__STR("task"));
    mrd__buf_text(&pf->json, "{\"posted_from\":{");
    for (mrd__pb_field f; mrd__pb_next(&at, &f);)
        if (f.key == PB_VARINT(TASK_POSTED_FROM)) add_place(pf, sequence, f.value);
    mrd__buf_text(&pf->json, "}}");
}

static void add_log(mrd__pf *pf, mrd__pf_sequence *sequence, mrd__str message)
{
    mrd__pb at = mrd__pb_of(message);
    add_key(pf, MRD__STR("track_event"));
    mrd__buf_text(&pf->json, "{\"log_message\":{");
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        if (f.key == PB_VARINT(LOG_SOURCE)) add_place(pf, sequence, f.value);
        if (f.key == PB_VARINT(LOG_BODY)) {
            uint32_t body = mrd__pf_interned(pf, sequence, MRD__PF_LOG_BODY, f.value);
            add_key(pf, MRD__STR("message"));
            mrd__buf_json_string(&pf->json, mrd__shard_text(pf->shard, body));
        }
        if (f.key == PB_VARINT(LOG_PRIORITY)) {
            add_key(pf, MRD__STR("priority"));
            mrd__buf_int(&pf->json, (int32_t)f.value);
        }
    }
    mrd__buf_text(&pf->json, "}}");
}

void mrd__pf_typed(mrd__pf *pf, mrd__pf_sequence *sequence, mrd__str event)
{
    add_members(pf, sequence, mrd__str_of(EVENT_TYPE_NAME), event, 1, true);
    mrd__str task = {0};
    mrd__str log = {0};
    mrd__pb at = mrd__pb_of(event);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        if (f.key == PB_BYTES(EVENT_TASK)) task = f.bytes;
        if (f.key == PB_BYTES(EVENT_LOG)) log = f.bytes;
    }
    if (task.size > 0) add_task(pf, sequence, task);
    if (log.size > 0) add_log(pf, sequence, log);
}
