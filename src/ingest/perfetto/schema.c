/* Descriptors as they stand in a trace: FileDescriptorSet, and a table of what is built in.
 *
 * One hash table holds every field of every message and every value of every enumeration, by the
 * full name of its type and its number: extensions of a type are fields of it like all others. */
#include "ingest/perfetto/schema.h"

#include "ingest/perfetto/fields.h"
#include "ingest/perfetto/limits.h"
#include "ingest/perfetto/wire.h"

#include <string.h>

/* ---- The table ---- */

static size_t place_of(const mrd__pf_schema *schema, mrd__str type, int64_t number, uint64_t *key)
{
    *key = mrd__hash_mix(mrd__hash(type.data, type.size), (uint64_t)number);
    size_t at = *key & (schema->size - 1);
    for (;; at = (at + 1) & (schema->size - 1)) {
        const mrd__pf_schema_slot *slot = &schema->slots[at];
        if (slot->type.size == 0) return at;
        if (slot->key == *key && slot->number == number && mrd__str_equal(slot->type, type))
            return at;
    }
}

static void grow(mrd__pf_schema *schema)
{
    mrd__pf_schema_slot *old = schema->slots;
    size_t old_size = schema->size;
    schema->size = old_size == 0 ? 256 : old_size * 2;
    schema->slots = mrd__new_array(mrd__pf_schema_slot, schema->size);
    for (size_t i = 0; i < old_size; i++) {
        uint64_t key;
        if (old[i].type.size == 0) continue;
        schema->slots[place_of(schema, old[i].type, old[i].number, &key)] = old[i];
    }
    mrd__free(old);
}

/* The slot of a type's number, new when *fresh; NULL beyond the limit. */
static mrd__pf_schema_slot *slot_of(mrd__pf_schema *schema, mrd__str type, int64_t number,
                                    bool *fresh)
{
    if (schema->used * 2 >= schema->size) grow(schema);
    uint64_t key;
    mrd__pf_schema_slot *slot = &schema->slots[place_of(schema, type, number, &key)];
    *fresh = slot->type.size == 0;
    if (!*fresh) return slot;
    if (schema->used >= MRD__PF_MAX_SCHEMA) return NULL;
    *slot = (mrd__pf_schema_slot){.key = key, .type = type, .number = number};
    schema->used++;
    return slot;
}

static bool add_field(mrd__pf_schema *schema, mrd__str type, uint32_t number, mrd__pf_field field)
{
    bool fresh;
    mrd__pf_schema_slot *slot = slot_of(schema, type, number, &fresh);
    if (slot == NULL) return false;
    if (!fresh) return true;
    mrd__vec_push(&schema->fields, field);
    slot->field = (uint32_t)schema->fields.count;
    return true;
}

/* ---- What TrackEvent has itself ---- */

#define EVENT ".perfetto.protos.TrackEvent"
#define OWN "."

static const struct {
    const char *type;
    uint32_t number;
    const char *name;
    mrd__pf_field_kind kind;
    bool repeated;
    const char *type_name;
} own_fields[] = {
    {EVENT, 25, "chrome_user_event", MRD__PF_MESSAGE, false, OWN "ChromeUserEvent"},
    {OWN "ChromeUserEvent", 1, "action", MRD__PF_STRING, false, ""},
    {OWN "ChromeUserEvent", 2, "action_hash", MRD__PF_UINT64, false, ""},
    {EVENT, 26, "chrome_keyed_service", MRD__PF_MESSAGE, false, OWN "ChromeKeyedService"},
    {OWN "ChromeKeyedService", 1, "name", MRD__PF_STRING, false, ""},
    {EVENT, 27, "chrome_legacy_ipc", MRD__PF_MESSAGE, false, OWN "ChromeLegacyIpc"},
    {OWN "ChromeLegacyIpc", 1, "message_class", MRD__PF_INT64, false, ""},
    {OWN "ChromeLegacyIpc", 2, "message_line", MRD__PF_UINT32, false, ""},
    {EVENT, 28, "chrome_histogram_sample", MRD__PF_MESSAGE, false, OWN "ChromeHistogramSample"},
    {OWN "ChromeHistogramSample", 1, "name_hash", MRD__PF_UINT64, false, ""},
    {OWN "ChromeHistogramSample", 2, "name", MRD__PF_STRING, false, ""},
    {OWN "ChromeHistogramSample", 3, "sample", MRD__PF_INT64, false, ""},
    {OWN "ChromeHistogramSample", 4, "name_iid", MRD__PF_UINT64, false, ""},
    {EVENT, 35, "chrome_message_pump", MRD__PF_MESSAGE, false, OWN "ChromeMessagePump"},
    {OWN "ChromeMessagePump", 1, "sent_messages_in_queue", MRD__PF_BOOL, false, ""},
    {OWN "ChromeMessagePump", 2, "io_handler_location_iid", MRD__PF_UINT64, false, ""},
    {EVENT, 38, "chrome_mojo_event_info", MRD__PF_MESSAGE, false, OWN "ChromeMojoEventInfo"},
    {OWN "ChromeMojoEventInfo", 1, "watcher_notify_interface_tag", MRD__PF_STRING, false, ""},
    {OWN "ChromeMojoEventInfo", 2, "ipc_hash", MRD__PF_UINT32, false, ""},
    {OWN "ChromeMojoEventInfo", 3, "mojo_interface_tag", MRD__PF_STRING, false, ""},
    {OWN "ChromeMojoEventInfo", 4, "mojo_interface_method", MRD__PF_UINT64, false, OWN "Native"},
    {OWN "ChromeMojoEventInfo", 5, "is_reply", MRD__PF_BOOL, false, ""},
    {OWN "ChromeMojoEventInfo", 6, "payload_size", MRD__PF_UINT64, false, ""},
    {OWN "ChromeMojoEventInfo", 7, "data_num_bytes", MRD__PF_UINT64, false, ""},
    {EVENT, 41, "chrome_window_handle_event_info", MRD__PF_MESSAGE, false, OWN "ChromeWindow"},
    {OWN "ChromeWindow", 1, "dpi", MRD__PF_UINT32, false, ""},
    {OWN "ChromeWindow", 2, "message_id", MRD__PF_UINT32, false, ""},
    {OWN "ChromeWindow", 3, "hwnd_ptr", MRD__PF_FIXED64, false, ""},
    {EVENT, 43, "chrome_content_settings_event_info", MRD__PF_MESSAGE, false, OWN "ChromeContent"},
    {OWN "ChromeContent", 1, "number_of_exceptions", MRD__PF_UINT32, false, ""},
    {EVENT, 49, "chrome_active_processes", MRD__PF_MESSAGE, false, OWN "ChromeActiveProcesses"},
    {OWN "ChromeActiveProcesses", 1, "pid", MRD__PF_INT32, true, ""},
};

static void add_own(mrd__pf_schema *schema)
{
    schema->own = true;
    for (size_t i = 0; i < sizeof own_fields / sizeof *own_fields; i++)
        add_field(schema, mrd__str_of(own_fields[i].type), own_fields[i].number,
                  (mrd__pf_field){.name = mrd__str_of(own_fields[i].name),
                                  .kind = own_fields[i].kind,
                                  .repeated = own_fields[i].repeated,
                                  .type_name = mrd__str_of(own_fields[i].type_name)});
}

/* ---- Descriptors ---- */

static mrd__str keep(mrd__pf_schema *schema, mrd__str text)
{
    return (mrd__str){mrd__arena_text(&schema->texts, text.data, text.size), text.size};
}

/* Names are made of the names around them: a small file could ask for any memory. */
static bool is_full(const mrd__pf_schema *schema)
{
    return schema->texts.total > MRD__PF_MAX_SCHEMA_TEXT;
}

/* scope.name, kept; empty when it is too long. */
static mrd__str below(mrd__pf_schema *schema, mrd__str scope, mrd__str name)
{
    mrd__buf full = {0};
    if (scope.size + name.size > MRD__PF_MAX_TYPE_NAME || is_full(schema)) return (mrd__str){0};
    mrd__buf_str(&full, scope);
    mrd__buf_char(&full, '.');
    mrd__buf_str(&full, name);
    mrd__str kept = keep(schema, (mrd__str){full.data, full.size});
    mrd__buf_reset(&full);
    return kept;
}

static mrd__str name_of(mrd__str message)
{
    mrd__str name = {0};
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);)
        if (f.key == PB_BYTES(DESCRIPTOR_NAME)) name = f.bytes;
    return name;
}

/* A field of `type`, or of the type that an extension names. */
static bool read_field(mrd__pf_schema *schema, mrd__str type, mrd__str message)
{
    enum {
        LABEL_REPEATED = 3
    };
    mrd__pf_field field = {0};
    uint64_t number = 0;
    bool extends = false;
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        if (f.key == PB_BYTES(DESCRIPTOR_NAME)) field.name = f.bytes;
        if (f.key == PB_BYTES(FIELD_EXTENDEE)) {
            type = f.bytes;
            extends = true;
        }
        if (f.key == PB_VARINT(FIELD_NUMBER)) number = f.value;
        if (f.key == PB_VARINT(FIELD_LABEL)) field.repeated = f.value == LABEL_REPEATED;
        if (f.key == PB_BYTES(FIELD_TYPE_NAME)) field.type_name = f.bytes;
        if (f.key == PB_VARINT(FIELD_TYPE) && f.value <= MRD__PF_SINT64)
            field.kind = (mrd__pf_field_kind)f.value;
    }
    if (at.bad) return false;
    if (type.size == 0 || number == 0 || number > MRD__PF_MAX_FIELD) return true;
    if (is_full(schema)) return false;
    field.name = keep(schema, field.name);
    field.type_name = keep(schema, field.type_name);
    if (extends) type = keep(schema, type);
    return add_field(schema, type, (uint32_t)number, field);
}

static bool read_value(mrd__pf_schema *schema, mrd__str type, mrd__str message)
{
    int64_t number = 0;
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);)
        if (f.key == PB_VARINT(VALUE_NUMBER)) number = mrd__pb_int(f.value);
    bool fresh;
    if (is_full(schema)) return false;
    mrd__pf_schema_slot *slot = slot_of(schema, type, number, &fresh);
    if (slot == NULL) return false;
    if (fresh) slot->value = keep(schema, name_of(message));
    return !at.bad;
}

static bool read_enum(mrd__pf_schema *schema, mrd__str scope, mrd__str message)
{
    mrd__str type = below(schema, scope, name_of(message));
    if (type.size == 0) return false;
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);)
        if (f.key == PB_BYTES(ENUM_VALUE) && !read_value(schema, type, f.bytes)) return false;
    return !at.bad;
}

static bool read_message(mrd__pf_schema *schema, mrd__str scope, mrd__str message, unsigned depth)
{
    if (depth > MRD__PF_MAX_ANNOTATIONS) return false;
    mrd__str type = below(schema, scope, name_of(message));
    if (type.size == 0) return false;
    mrd__pb at = mrd__pb_of(message);
    bool good = true;
    for (mrd__pb_field f; good && mrd__pb_next(&at, &f);) {
        if (f.key == PB_BYTES(MESSAGE_FIELD)) good = read_field(schema, type, f.bytes);
        if (f.key == PB_BYTES(MESSAGE_EXTENSION)) good = read_field(schema, type, f.bytes);
        if (f.key == PB_BYTES(MESSAGE_ENUM)) good = read_enum(schema, type, f.bytes);
        if (f.key == PB_BYTES(MESSAGE_NESTED))
            good = read_message(schema, type, f.bytes, depth + 1);
    }
    return good && !at.bad;
}

static bool read_file(mrd__pf_schema *schema, mrd__str message)
{
    mrd__str package = {0};
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);)
        if (f.key == PB_BYTES(FILE_PACKAGE)) package = f.bytes;
    mrd__str scope = package.size > 0 ? below(schema, (mrd__str){0}, package) : package;
    if (package.size > 0 && scope.size == 0) return false;
    bool good = true;
    at = mrd__pb_of(message);
    for (mrd__pb_field f; good && mrd__pb_next(&at, &f);) {
        if (f.key == PB_BYTES(FILE_MESSAGE)) good = read_message(schema, scope, f.bytes, 1);
        if (f.key == PB_BYTES(FILE_ENUM)) good = read_enum(schema, scope, f.bytes);
        if (f.key == PB_BYTES(FILE_EXTENSION)) good = read_field(schema, (mrd__str){0}, f.bytes);
    }
    return good && !at.bad;
}

bool mrd__pf_schema_add(mrd__pf_schema *schema, mrd__str message)
{
    if (!schema->own) add_own(schema);
    uint64_t hash = mrd__hash(message.data, message.size);
    for (size_t i = 0; i < schema->read.count; i++)
        if (schema->read.data[i] == hash) return true;
    if (schema->read.count >= MRD__PF_MAX_SCHEMAS) return false;
    mrd__vec_push(&schema->read, hash);
    mrd__pb at = mrd__pb_of(message);
    for (mrd__pb_field f; mrd__pb_next(&at, &f);) {
        if (f.key != PB_BYTES(EXTENSION_SET)) continue;
        mrd__pb set = mrd__pb_of(f.bytes);
        for (mrd__pb_field file; mrd__pb_next(&set, &file);)
            if (file.key == PB_BYTES(SET_FILE) && !read_file(schema, file.bytes)) return false;
        if (set.bad) return false;
    }
    return !at.bad;
}

/* ---- Questions ---- */

static const mrd__pf_schema_slot *find(mrd__pf_schema *schema, mrd__str type, int64_t number)
{
    if (!schema->own) add_own(schema);
    uint64_t key;
    const mrd__pf_schema_slot *slot = &schema->slots[place_of(schema, type, number, &key)];
    return slot->type.size > 0 ? slot : NULL;
}

const mrd__pf_field *mrd__pf_schema_field(mrd__pf_schema *schema, mrd__str type, uint32_t number)
{
    const mrd__pf_schema_slot *slot = find(schema, type, number);
    return slot != NULL && slot->field != 0 ? &schema->fields.data[slot->field - 1] : NULL;
}

mrd__str mrd__pf_schema_value(mrd__pf_schema *schema, mrd__str type, int64_t number)
{
    const mrd__pf_schema_slot *slot = find(schema, type, number);
    return slot != NULL ? slot->value : (mrd__str){0};
}

void mrd__pf_schema_reset(mrd__pf_schema *schema)
{
    mrd__arena_reset(&schema->texts);
    mrd__vec_reset(&schema->fields);
    mrd__vec_reset(&schema->read);
    mrd__free(schema->slots);
    *schema = (mrd__pf_schema){0};
}
