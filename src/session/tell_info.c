/* What a session is, which there are in a folder, and one raw event of one. */
#include "base/error.h"
#include "session/format/broken.h"
#include "session/format/envelope.h"
#include "session/limits.h"
#include "session/session.h"
#include "session/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* ---- One session ---- */

/* The recorder holds a lock on session.json as long as it lives. */
static bool is_recorded(const mrd__stored *stored)
{
    char *path = mrd__files_join(mrd__stored_dir(stored), MRD__IDENTITY);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool held = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (fd >= 0) close(fd);
    mrd__free(path);
    return held;
}

/* The last part of the folder's name, without .open. */
static mrd__str name_of(const char *dir)
{
    const char *slash = strrchr(dir, '/');
    mrd__str name = mrd__str_of(slash != NULL ? slash + 1 : dir);
    if (name.size > 5 && memcmp(name.data + name.size - 5, ".open", 5) == 0) name.size -= 5;
    return name;
}

static const char *state_of(const mrd__stored *stored)
{
    if (stored->sealed) return stored->manifest.completed ? "completed" : "incomplete";
    return is_recorded(stored) ? "recording" : "unsealed";
}

/* A stored JSON text as it is, or null. */
static void add_document(mrd__buf *out, const char *name, mrd__str text)
{
    while (text.size > 0 && text.data[text.size - 1] == '\n')
        text.size--;
    mrd__buf_printf(out, ",\"%s\":", name);
    mrd__buf_str(out, text.size > 0 ? text : MRD__STR("null"));
}

static mrd_status add_whole(const mrd__stored *stored, mrd__buf *out, mrd_error *error)
{
    mrd__buf report = {0};
    mrd_error why = {0};
    char *path = mrd__files_join(mrd__stored_dir(stored), "report.json");
    mrd_status status = MRD_OK;
    if (stored->sealed)
        status = mrd__files_read(mrd__files_system(), path, &report, MRD__DOCUMENT_MAX, &why);
    mrd__free(path);
    if (status == MRD_ERR_NOT_FOUND) status = MRD_OK;
    add_document(out, "manifest", stored->sealed ? mrd__stored_manifest(stored) : MRD__STR(""));
    add_document(out, "report", (mrd__str){report.data, report.size});
    mrd__buf_reset(&report);
    if (status != MRD_OK && error != NULL) *error = why;
    return status;
}

static void add_head(const mrd__stored *stored, mrd__buf *out)
{
    char uuid[37];
    mrd__uuid_text(stored->uuid, uuid);
    mrd__buf_printf(out, "{\"session\":\"%s\",\"name\":", uuid);
    mrd__buf_json_string(out, name_of(mrd__stored_dir(stored)));
    mrd__buf_printf(out, ",\"state\":\"%s\",\"reasons\":[", state_of(stored));
    const char *at = stored->sealed ? stored->manifest.reasons : "";
    while (*at != '\0') {
        const char *end = strstr(at, "; ");
        size_t size = end != NULL ? (size_t)(end - at) : strlen(at);
        mrd__buf_json_string(out, (mrd__str){at, size});
        at += size + (end != NULL ? 2 : 0);
        if (*at != '\0') mrd__buf_char(out, ',');
    }
    mrd__buf_char(out, ']');
    add_document(out, "identity", mrd__stored_identity(stored));
}

mrd_status mrd__session_tell_info(const char *dir, bool whole, mrd__buf *out, mrd_error *error)
{
    mrd__stored *stored;
    mrd_status status = MRD_OK;
    MRD__TRY(mrd__stored_open(dir, NULL, &stored, error));
    add_head(stored, out);
    if (whole) status = add_whole(stored, out, error);
    mrd__buf_char(out, '}');
    mrd__stored_close(&stored);
    return status;
}

/* ---- A folder of them ---- */

typedef struct found {
    char *name;
    mrd__buf text;
    uint64_t started_ns;
} found;
typedef MRD__VEC(found) found_list;

static void take_name(void *ctx, const char *name)
{
    found_list *list = ctx;
    size_t size = strlen(name);
    /* DIR.open is opened by the name of DIR, which finds it. */
    if (size > 5 && strcmp(name + size - 5, ".open") == 0) size -= 5;
    for (size_t i = 0; i < list->count; i++) {
        if (strlen(list->data[i].name) == size && memcmp(list->data[i].name, name, size) == 0)
            return;
    }
    found one = {.name = mrd__strndup(name, size)};
    mrd__vec_push(list, one);
}

static uint64_t started_of(mrd__str info)
{
    json_t *root = json_loadb(info.data, info.size, 0, NULL);
    const json_t *clocks = json_object_get(json_object_get(root, "identity"), "startClocks");
    const json_t *value = json_object_get(clocks, "realtimeNs");
    uint64_t ns = 0;
    if (json_is_string(value)) (void)mrd__parse_uint64(mrd__str_of(json_string_value(value)), &ns);
    json_decref(root);
    return ns;
}

static int newest_first(const void *a, const void *b)
{
    const found *x = a, *y = b;
    if (x->started_ns != y->started_ns) return x->started_ns > y->started_ns ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void add_list(found_list *list, mrd__buf *out)
{
    size_t skipped = 0, told = 0;
    if (list->count > 0) qsort(list->data, list->count, sizeof *list->data, newest_first);
    mrd__buf_text(out, "{\"sessions\":[");
    for (size_t i = 0; i < list->count; i++) {
        const mrd__buf *text = &list->data[i].text;
        skipped += text->size == 0;
        if (text->size == 0) continue;
        if (told++ > 0) mrd__buf_char(out, ',');
        mrd__buf_add(out, text->data, text->size);
    }
    mrd__buf_printf(out, "],\"skipped\":%zu}", skipped);
}

mrd_status mrd__session_tell_list(const char *root, mrd__buf *out, mrd_error *error)
{
    const mrd__files *files = mrd__files_system();
    found_list list = {0};
    if (files->list(files->ctx, root, take_name, &list) != 0 && errno != ENOENT)
        return mrd__fail_errno(error, root, "cannot list the folder");
    for (size_t i = 0; i < list.count; i++) {
        found *one = &list.data[i];
        char *dir = mrd__files_join(root, one->name);
        if (mrd__session_tell_info(dir, false, &one->text, NULL) == MRD_OK)
            one->started_ns = started_of((mrd__str){one->text.data, one->text.size});
        else
            mrd__buf_clear(&one->text);
        mrd__free(dir);
    }
    add_list(&list, out);
    for (size_t i = 0; i < list.count; i++) {
        mrd__free(list.data[i].name);
        mrd__buf_reset(&list.data[i].text);
    }
    mrd__vec_reset(&list);
    return MRD_OK;
}

/* ---- One raw event ---- */

static void add_base64(mrd__buf *out, mrd__str in)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < in.size; i += 3) {
        size_t left = in.size - i < 3 ? in.size - i : 3;
        uint32_t bits = 0;
        for (size_t k = 0; k < 3; k++)
            bits = bits << 8 | (k < left ? (uint8_t)in.data[i + k] : 0);
        for (size_t k = 0; k < 4; k++)
            mrd__buf_char(out, k <= left ? digits[bits >> (18 - 6 * k) & 63] : '=');
    }
}

static void add_bytes(mrd__buf *out, mrd__str bytes)
{
    mrd__buf_text(out, ",\"text\":");
    if (mrd__utf8_valid(bytes))
        mrd__buf_json_string(out, bytes);
    else
        mrd__buf_text(out, "null");
    mrd__buf_text(out, ",\"base64\":\"");
    add_base64(out, bytes);
    mrd__buf_text(out, "\"}");
}

static void add_text(mrd__buf *out, const char *name, mrd__str text)
{
    mrd__buf_printf(out, ",\"%s\":", name);
    mrd__buf_json_string(out, text);
}

static void add_number(mrd__buf *out, const char *name, bool there, int64_t value)
{
    mrd__buf_printf(out, ",\"%s\":", name);
    if (there)
        mrd__buf_int(out, value);
    else
        mrd__buf_text(out, "null");
}

static void add_unsigned(mrd__buf *out, const char *name, bool there, uint64_t value)
{
    mrd__buf_printf(out, ",\"%s\":", name);
    if (there)
        mrd__buf_uint(out, value);
    else
        mrd__buf_text(out, "null");
}

static mrd_status tell_event(mrd__str payload, bool json, mrd__buf *out, mrd_error *error)
{
    mrd__envelope e;
    MRD__TRY(mrd__envelope_decode(&e, payload, error));
    if (!json) {
        mrd__buf_str(out, e.bytes);
        return MRD_OK;
    }
    add_text(out, "sourceId", e.source_id);
    add_text(out, "kind", e.kind);
    add_text(out, "schemaId", e.schema_id);
    add_text(out, "clockDomain", e.clock_domain);
    add_text(out, "identityStatus", mrd__str_of(mrd__identity_name(e.identity)));
    add_text(out, "sourceRole", mrd__str_of(mrd__role_name(e.role)));
    add_unsigned(out, "adapterSequence", e.has_adapter_sequence, e.adapter_sequence);
    add_number(out, "hostReceiveMonotonicNs", e.has_host_receive, e.host_receive.host_ns);
    add_number(out, "sourceTimestamp", e.has_source_time, e.source_time);
    add_unsigned(out, "sourceEpoch", true, e.source_epoch);
    add_unsigned(out, "reconnectGeneration", true, e.reconnect_generation);
    add_unsigned(out, "targetGeneration", true, e.target_generation);
    add_number(out, "pid", e.pid != 0, e.pid);
    add_bytes(out, e.bytes);
    return MRD_OK;
}

static mrd_status tell_broken(mrd__str payload, bool json, mrd__buf *out, mrd_error *error)
{
    mrd__broken b;
    MRD__TRY(mrd__broken_decode(&b, payload, error));
    if (!json) {
        mrd__buf_str(out, b.bytes);
        return MRD_OK;
    }
    add_text(out, "reason", b.reason);
    add_unsigned(out, "offset", true, b.offset);
    add_unsigned(out, "bytes", true, b.size);
    mrd__buf_printf(out, ",\"unended\":%s", b.unended ? "true" : "false");
    add_number(out, "hostReceiveMonotonicNs", b.has_host_receive, b.host_receive.host_ns);
    add_unsigned(out, "reconnectGeneration", true, b.reconnect_generation);
    add_unsigned(out, "targetGeneration", true, b.target_generation);
    add_bytes(out, b.bytes);
    return MRD_OK;
}

mrd_status mrd__session_tell_raw(const char *dir, uint64_t sequence, bool json, mrd__buf *out,
                                 mrd_error *error)
{
    mrd__stored *stored;
    mrd__record record = {0};
    mrd__buf bytes = {0};
    MRD__TRY(mrd__stored_open(dir, NULL, &stored, error));
    mrd_status status = mrd__stored_lookup(stored, sequence, &record, &bytes, error);
    mrd__str payload = {(const char *)record.payload, status == MRD_OK ? record.size : 0};
    if (status == MRD_OK && json)
        mrd__buf_printf(out, "{\"seq\":%llu,\"type\":\"%s\"", (unsigned long long)sequence,
                        mrd__record_type_name(record.type));
    if (status == MRD_OK)
        status = record.type == MRD__RECORD_RAW ? tell_event(payload, json, out, error)
                                                : tell_broken(payload, json, out, error);
    mrd__buf_reset(&bytes);
    mrd__stored_close(&stored);
    return status;
}
