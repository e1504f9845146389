#include "open/manifest.h"

#include "base/error.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define CLOCKS "REALTIME, REALTIME_COARSE, MONOTONIC, MONOTONIC_COARSE, MONOTONIC_RAW, BOOTTIME"
#define SHOWN 64 /* bytes of a value in an error */

/* Where the reading stands; its place as a JSON path. */
typedef struct reading {
    mrd__manifest *manifest;
    char place[512];
    mrd_error *error;
} reading;

mrd_status mrd__manifest_fail(const mrd__manifest *manifest, mrd_error *error, const char *format,
                              ...)
{
    char text[900];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return mrd__fail(error, MRD_ERR_FORMAT, "bad_manifest", "%s: %s", manifest->key, text);
}

/* "PLACE.member is VALUE, allowed is ALLOWED". */
static mrd_status refuse(const reading *r, const char *member, const json_t *value,
                         const char *allowed)
{
    char text[SHOWN];
    size_t size =
        value != NULL ? json_dumpb(value, text, sizeof text, JSON_ENCODE_ANY | JSON_COMPACT) : 0;
    bool cut = size > sizeof text;
    return mrd__manifest_fail(r->manifest, r->error, "%s%s%s %s%.*s%s, allowed is %s", r->place,
                              *member != '\0' ? "." : "", member,
                              value != NULL ? "is " : "is missing", (int)(cut ? sizeof text : size),
                              text, cut ? "..." : "", allowed);
}

/* Go one step down: ".files" or "[3]". Returns where to go back to. */
static size_t enter(reading *r, const char *format, size_t index)
{
    size_t at = strlen(r->place);
    if (strchr(format, '[') != NULL)
        snprintf(r->place + at, sizeof r->place - at, "[%zu]", index);
    else
        snprintf(r->place + at, sizeof r->place - at, ".%s", format);
    return at;
}

static void leave(reading *r, size_t at)
{
    r->place[at] = '\0';
}

/* ---- Members ---- */

/* Our own manifests have no members that nobody reads: they are slips of the pen. */
static mrd_status check_members(const reading *r, const json_t *object, const char *allowed)
{
    if (strcmp(r->manifest->key, "meridian_manifest") != 0) return MRD_OK;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        size_t size = strlen(key);
        bool known = false;
        for (const char *at = allowed; at != NULL && *at != '\0';) {
            size_t word = strcspn(at, ", ");
            known |= word == size && memcmp(at, key, size) == 0;
            at += word;
            at += strspn(at, ", ");
        }
        if (!known)
            return mrd__manifest_fail(r->manifest, r->error,
                                      "%s has the member \"%.64s\", allowed are %s", r->place, key,
                                      allowed);
    }
    return MRD_OK;
}

/* A text that is not empty, copied; absent is NULL. */
static mrd_status take_text(reading *r, const json_t *object, const char *member, bool required,
                            char **out)
{
    const json_t *value = json_object_get(object, member);
    if (value == NULL && !required) return MRD_OK;
    const char *text = json_string_value(value);
    if (text == NULL || *text == '\0' || strlen(text) != json_string_length(value))
        return refuse(r, member, value, "a text that is not empty");
    mrd__free(*out);
    *out = mrd__strndup(text, strlen(text));
    return MRD_OK;
}

static mrd_status take_clock(reading *r, const json_t *object, const char *member, bool required,
                             uint32_t *out)
{
    static const char *const names[] = {"REALTIME",         "REALTIME_COARSE", "MONOTONIC",
                                        "MONOTONIC_COARSE", "MONOTONIC_RAW",   "BOOTTIME"};
    const json_t *value = json_object_get(object, member);
    if (value == NULL && !required) return MRD_OK;
    const char *text = json_string_value(value);
    for (uint32_t i = 0; text != NULL && i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(text, names[i]) != 0) continue;
        *out = i + 1;
        return MRD_OK;
    }
    return refuse(r, member, value, "one of " CLOCKS);
}

/* One of two words. */
static mrd_status take_choice(reading *r, const json_t *object, const char *member,
                              const char *first, const char *second, bool *is_second)
{
    const json_t *value = json_object_get(object, member);
    if (value == NULL) return MRD_OK;
    const char *text = json_string_value(value);
    bool one = text != NULL && strcmp(text, first) == 0;
    bool other = text != NULL && strcmp(text, second) == 0;
    char allowed[64];
    snprintf(allowed, sizeof allowed, "\"%s\" or \"%s\"", first, second);
    if (!one && !other) return refuse(r, member, value, allowed);
    *is_second = other;
    return MRD_OK;
}

/* An object member; absent is NULL and MRD_OK. */
static mrd_status take_object(const reading *r, const json_t *object, const char *member,
                              const json_t **out)
{
    *out = json_object_get(object, member);
    if (*out == NULL || json_is_object(*out)) return MRD_OK;
    return refuse(r, member, *out, "an object");
}

static bool is_ours(const reading *r)
{
    return strcmp(r->manifest->key, "meridian_manifest") == 0;
}

/* ---- Files ---- */

static mrd_status read_sync(reading *r, const json_t *clocks, mrd__manifest_file *file)
{
    const json_t *sync;
    MRD__TRY(take_object(r, clocks, "sync_to", &sync));
    bool only_how = is_ours(r) && json_object_get(clocks, "interpolation") != NULL;
    if (sync == NULL && only_how) return MRD_OK;
    if (sync == NULL) return refuse(r, "sync_to", NULL, "an object with file, machine, clock");
    size_t back = enter(r, "sync_to", 0);
    MRD__TRY(check_members(r, sync, "file, machine, clock"));
    MRD__TRY(take_text(r, sync, "file", true, &file->sync_file));
    MRD__TRY(take_text(r, sync, "machine", false, &file->sync_machine));
    MRD__TRY(take_clock(r, sync, "clock", false, &file->sync_clock));
    leave(r, back);
    file->has_sync = true;
    return MRD_OK;
}

static mrd_status read_clocks(reading *r, const json_t *object, mrd__manifest_file *file)
{
    const json_t *clocks;
    MRD__TRY(take_object(r, object, "clocks", &clocks));
    if (clocks == NULL) return MRD_OK;
    size_t back = enter(r, "clocks", 0);
    MRD__TRY(check_members(r, clocks, "clock, machine, sync_to, offset_ns, interpolation"));
    MRD__TRY(read_sync(r, clocks, file));
    MRD__TRY(take_clock(r, clocks, "clock", false, &file->clock));
    MRD__TRY(take_text(r, clocks, "machine", false, &file->clock_machine));
    if (is_ours(r))
        MRD__TRY(take_choice(r, clocks, "interpolation", "step", "linear", &file->linear));
    const json_t *offset = json_object_get(clocks, "offset_ns");
    if (offset != NULL && (!json_is_integer(offset) || json_integer_value(offset) == INT64_MIN))
        return refuse(r, "offset_ns", offset, "a whole number of nanoseconds above -2^63");
    file->offset_ns = json_integer_value(offset);
    leave(r, back);
    return MRD_OK;
}

static mrd_status read_machine(reading *r, const json_t *value, mrd__manifest_file *file)
{
    MRD__TRY(check_members(r, value, "id, name"));
    const json_t *id = json_object_get(value, "id");
    if (!json_is_integer(id) || json_integer_value(id) < 0 || json_integer_value(id) > UINT32_MAX)
        return refuse(r, "id", id, "a whole number from 0 to 4294967295");
    mrd__manifest_machine machine = {.id = (uint32_t)json_integer_value(id)};
    for (size_t i = 0; i < file->machines.count; i++)
        if (file->machines.data[i].id == machine.id) return refuse(r, "id", id, "each id once");
    MRD__TRY(take_text(r, value, "name", true, &machine.name));
    mrd__vec_push(&file->machines, machine);
    return MRD_OK;
}

static mrd_status read_machines(reading *r, const json_t *object, mrd__manifest_file *file)
{
    const json_t *machine;
    MRD__TRY(take_object(r, object, "machine", &machine));
    const json_t *machines = json_object_get(object, "machines");
    if (machine != NULL) {
        if (machines != NULL) return refuse(r, "machines", machines, "either machine or machines");
        size_t back = enter(r, "machine", 0);
        MRD__TRY(check_members(r, machine, "name"));
        MRD__TRY(take_text(r, machine, "name", true, &file->machine));
        leave(r, back);
    }
    if (machines == NULL) return MRD_OK;
    if (!json_is_array(machines)) return refuse(r, "machines", machines, "an array of {id, name}");
    size_t back = enter(r, "machines", 0);
    for (size_t i = 0; i < json_array_size(machines); i++) {
        size_t list = enter(r, "[", i);
        const json_t *one = json_array_get(machines, i);
        if (!json_is_object(one)) return refuse(r, "", one, "an object with id and name");
        MRD__TRY(read_machine(r, one, file));
        leave(r, list);
    }
    leave(r, back);
    return MRD_OK;
}

static mrd_status read_file(reading *r, const json_t *object)
{
    mrd__manifest *m = r->manifest;
    if (!json_is_object(object)) return refuse(r, "", object, "an object with path");
    mrd__vec_push(&m->files, ((mrd__manifest_file){0}));
    mrd__manifest_file *file = &m->files.data[m->files.count - 1];
    MRD__TRY(check_members(r, object, "path, machine, machines, clocks"));
    MRD__TRY(take_text(r, object, "path", true, &file->path));
    for (size_t i = 0; i + 1 < m->files.count; i++)
#ifndef MRD_PLANTED_BUGS /* the fuzzer of manifests must find what happens without this */
        if (strcmp(m->files.data[i].path, file->path) == 0)
#else
        if (i > 1 && strcmp(m->files.data[i].path, file->path) == 0)
#endif
            return refuse(r, "path", json_object_get(object, "path"), "each path once");
    MRD__TRY(read_machines(r, object, file));
    return read_clocks(r, object, file);
}

static mrd_status read_files(reading *r, const json_t *root)
{
    const json_t *files = json_object_get(root, "files");
    if (files == NULL) return MRD_OK;
    if (!json_is_array(files)) return refuse(r, "files", files, "an array of objects with path");
    if (json_array_size(files) > MRD__MANIFEST_MAX_FILES)
        return mrd__manifest_fail(r->manifest, r->error, "%s.files has %zu members, at most %u are",
                                  r->place, json_array_size(files), MRD__MANIFEST_MAX_FILES);
    size_t back = enter(r, "files", 0);
    for (size_t i = 0; i < json_array_size(files); i++) {
        size_t list = enter(r, "[", i);
        MRD__TRY(read_file(r, json_array_get(files, i)));
        leave(r, list);
    }
    leave(r, back);
    return MRD_OK;
}

/* ---- The rest ---- */

static mrd_status read_trace_time(reading *r, const json_t *root)
{
    mrd__manifest *m = r->manifest;
    const json_t *block;
    MRD__TRY(take_object(r, root, "trace_time", &block));
    if (block == NULL) return MRD_OK;
    size_t back = enter(r, "trace_time", 0);
    MRD__TRY(check_members(r, block, "clock, file, machine"));
    MRD__TRY(take_clock(r, block, "clock", true, &m->trace_clock));
    MRD__TRY(take_text(r, block, "file", false, &m->trace_file));
    MRD__TRY(take_text(r, block, "machine", false, &m->trace_machine));
    if (m->trace_machine != NULL && m->trace_file == NULL)
        return refuse(r, "file", NULL, "the file of the machine");
    leave(r, back);
    m->has_trace_time = true;
    return MRD_OK;
}

static mrd_status read_attributes(reading *r, const json_t *root)
{
    const json_t *block;
    MRD__TRY(take_object(r, root, "attributes", &block));
    if (block == NULL) return MRD_OK;
    size_t back = enter(r, "attributes", 0);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)block, key, value)
    {
        mrd__manifest_attribute one = {.number = json_is_integer(value)};
        if (!one.number && !json_is_string(value))
            return refuse(r, key, value, "a text or a whole number");
        mrd__buf text = {0};
        mrd__buf_text(&text, "");
        if (one.number)
            mrd__buf_int(&text, json_integer_value(value));
        else
            mrd__buf_add(&text, json_string_value(value), json_string_length(value));
        one.key = mrd__strndup(key, strlen(key));
        one.text = text.data;
        mrd__vec_push(&r->manifest->attributes, one);
    }
    leave(r, back);
    return MRD_OK;
}

static mrd_status read_ours(reading *r, const json_t *root)
{
    mrd__manifest *m = r->manifest;
    if (!is_ours(r)) return MRD_OK;
    MRD__TRY(check_members(r, root, "version, trace_time, files, attributes, flow_scope, clocks"));
    MRD__TRY(take_choice(r, root, "flow_scope", "file", "global", &m->global_flows));
    const json_t *clocks;
    MRD__TRY(take_object(r, root, "clocks", &clocks));
    if (clocks == NULL) return MRD_OK;
    size_t back = enter(r, "clocks", 0);
    MRD__TRY(check_members(r, clocks, "interpolation"));
    MRD__TRY(take_choice(r, clocks, "interpolation", "step", "linear", &m->linear));
    leave(r, back);
    return MRD_OK;
}

/* Files that are named by others stand in files themselves. */
static mrd_status check_names(const reading *r)
{
    const mrd__manifest *m = r->manifest;
    for (size_t i = 0; i <= m->files.count; i++) {
        bool last = i == m->files.count;
        const char *name = last ? m->trace_file : m->files.data[i].sync_file;
        bool found = name == NULL;
        for (size_t f = 0; f < m->files.count && !found; f++)
            found = strcmp(m->files.data[f].path, name) == 0;
        if (found) continue;
        char place[64];
        snprintf(place, sizeof place, last ? "trace_time.file" : "files[%zu].clocks.sync_to.file",
                 i);
        return mrd__manifest_fail(m, r->error,
                                  "$.%s.%s is \"%.128s\", allowed is a path that stands in files",
                                  m->key, place, name);
    }
    return MRD_OK;
}

static mrd_status read_root(reading *r, const json_t *document)
{
    const json_t *root = json_object_get(document, r->manifest->key);
    snprintf(r->place, sizeof r->place, "$");
    if (!json_is_object(root)) return refuse(r, r->manifest->key, root, "an object");
    enter(r, r->manifest->key, 0);
    const json_t *version = json_object_get(root, "version");
    if (!json_is_integer(version) || json_integer_value(version) != 1)
        return refuse(r, "version", version, "1");
    MRD__TRY(read_ours(r, root));
    MRD__TRY(read_trace_time(r, root));
    MRD__TRY(read_files(r, root));
    MRD__TRY(read_attributes(r, root));
    return check_names(r);
}

mrd_status mrd__manifest_read(mrd__manifest *manifest, const char *key, mrd__str text,
                              mrd_error *error)
{
    *manifest = (mrd__manifest){.key = key};
    if (text.size > MRD__MANIFEST_MAX_BYTES)
        return mrd__manifest_fail(manifest, error, "%zu bytes, at most %zu are read", text.size,
                                  MRD__MANIFEST_MAX_BYTES);
    if (text.size >= 3 && memcmp(text.data, "\xef\xbb\xbf", 3) == 0)
        text = (mrd__str){text.data + 3, text.size - 3};
    json_error_t why;
    json_t *document = json_loadb(text.data, text.size, JSON_REJECT_DUPLICATES, &why);
    if (document == NULL) {
        mrd_status status = mrd__manifest_fail(manifest, error, "line %d, column %d: %s", why.line,
                                               why.column, why.text);
        return mrd__fail_at(error, status, NULL, why.position);
    }
    reading *r = mrd__new(reading);
    r->manifest = manifest;
    r->error = error;
    mrd_status status = read_root(r, document);
    mrd__free(r);
    json_decref(document);
    return status;
}

void mrd__manifest_reset(mrd__manifest *manifest)
{
    for (size_t i = 0; i < manifest->files.count; i++) {
        mrd__manifest_file *file = &manifest->files.data[i];
        mrd__free(file->path);
        mrd__free(file->machine);
        for (size_t m = 0; m < file->machines.count; m++)
            mrd__free(file->machines.data[m].name);
        mrd__vec_reset(&file->machines);
        mrd__free(file->clock_machine);
        mrd__free(file->sync_file);
        mrd__free(file->sync_machine);
    }
    mrd__vec_reset(&manifest->files);
    for (size_t i = 0; i < manifest->attributes.count; i++) {
        mrd__free(manifest->attributes.data[i].key);
        mrd__free(manifest->attributes.data[i].text);
    }
    mrd__vec_reset(&manifest->attributes);
    mrd__free(manifest->trace_file);
    mrd__free(manifest->trace_machine);
    *manifest = (mrd__manifest){0};
}
