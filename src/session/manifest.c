#include "session/manifest.h"

#include "base/error.h"
#include "session/limits.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static mrd_status wrong(mrd_error *error, const char *member)
{
    return mrd__fail(error, MRD_ERR_FORMAT, "bad_manifest", "\"%s\" is missing or wrong", member);
}

static bool get_uint(const json_t *object, const char *name, uint64_t *out)
{
    const json_t *value = json_object_get(object, name);
    if (!json_is_integer(value) || json_integer_value(value) < 0) return false;
    *out = (uint64_t)json_integer_value(value);
    return true;
}

static bool get_hash(const json_t *object, const char *name, uint8_t out[32])
{
    const char *text = json_string_value(json_object_get(object, name));
    if (text == NULL || strlen(text) != 64) return false;
    for (int i = 0; i < 64; i++) {
        const char *digits = "0123456789abcdef";
        const char *at = strchr(digits, text[i]);
        if (at == NULL) return false;
        out[i / 2] = (uint8_t)((i & 1 ? out[i / 2] : 0) * 16 + (at - digits));
    }
    return true;
}

static json_t *load(mrd__str text, mrd_error *error)
{
    json_error_t why;
    json_t *root = json_loadb(text.data, text.size, JSON_REJECT_DUPLICATES, &why);
    if (root == NULL) {
        mrd__fail(error, MRD_ERR_FORMAT, "bad_manifest", "no JSON: %s", why.text);
        (void)mrd__fail_at(error, MRD_ERR_FORMAT, NULL, why.position);
    }
    return root;
}

/* format, version and session: what both documents begin with. */
static mrd_status check_head(const json_t *root, uint8_t uuid[16], mrd_error *error)
{
    const char *format = json_string_value(json_object_get(root, "format"));
    const char *session = json_string_value(json_object_get(root, "session"));
    uint64_t version;
    if (format == NULL || strcmp(format, MRD__FORMAT_NAME) != 0) return wrong(error, "format");
    if (!get_uint(root, "version", &version)) return wrong(error, "version");
    if (version != MRD__FORMAT_VERSION)
        return mrd__fail(error, MRD_ERR_UNSUPPORTED, "version",
                         "version %llu of the session format; this program knows %d",
                         (unsigned long long)version, MRD__FORMAT_VERSION);
    if (session == NULL || !mrd__uuid_parse(session, uuid)) return wrong(error, "session");
    return MRD_OK;
}

mrd_status mrd__identity_parse(mrd__str text, uint8_t uuid[16], mrd_error *error)
{
    json_t *root = load(text, error);
    if (root == NULL) return MRD_ERR_FORMAT;
    mrd_status status = check_head(root, uuid, error);
    json_decref(root);
    return status;
}

static bool parse_kind(const char *text, uint16_t *kind)
{
    static const char *const kinds[] = {"document", "raw", "domain", "metrics"};
    for (uint16_t i = 0; text != NULL && i < 4; i++) {
        *kind = i;
        if (strcmp(text, kinds[i]) == 0) return true;
    }
    return false;
}

/* Inside the session's folder, whatever the manifest says. */
static bool safe_path(const char *path)
{
    const char *name = strncmp(path, "raw/", 4) == 0 ? path + 4 : path;
    return name[0] != '\0' && name[0] != '.' && strchr(name, '/') == NULL &&
           strlen(path) < sizeof((mrd__entry *)0)->path;
}

static bool parse_counts(const json_t *object, mrd__entry *entry, uint64_t *total)
{
    const json_t *records = json_object_get(object, "records");
    const char *name;
    json_t *value;
    entry->first = 1;
    if (records == NULL) return entry->kind == 0 || json_is_true(json_object_get(object, "stale"));
    if (!json_is_object(records)) return false;
    entry->counted = true;
    json_object_foreach((json_t *)records, name, value)
    {
        if (!json_is_integer(value) || json_integer_value(value) <= 0) return false;
        *total += (uint64_t)json_integer_value(value);
        for (unsigned type = 1; entry->kind == MRD__FILE_RAW && type < MRD__RECORD_RAW_TYPES;
             type++) {
            if (strcmp(name, mrd__record_type_name(type)) == 0)
                entry->counts[type] = (uint64_t)json_integer_value(value);
        }
    }
    const json_t *first = json_object_get(object, "first_sequence");
    if (json_is_null(first)) return json_is_null(json_object_get(object, "last_sequence"));
    return get_uint(object, "first_sequence", &entry->first) &&
           get_uint(object, "last_sequence", &entry->last);
}

static mrd_status parse_entry(const json_t *object, mrd__sealed *out, mrd_error *error)
{
    mrd__entry entry = {0};
    uint64_t total = 0;
    const char *path = json_string_value(json_object_get(object, "path"));
    if (path == NULL || !safe_path(path)) return wrong(error, "files: path");
    snprintf(entry.path, sizeof entry.path, "%s", path);
    if (!parse_kind(json_string_value(json_object_get(object, "kind")), &entry.kind))
        return wrong(error, "files: kind");
    if (!get_uint(object, "bytes", &entry.bytes)) return wrong(error, "files: bytes");
    if (!get_hash(object, "sha256", entry.sha256)) return wrong(error, "files: sha256");
    entry.stale = json_is_true(json_object_get(object, "stale"));
    if (!parse_counts(object, &entry, &total)) return wrong(error, "files: records");
    const json_t *tail = json_object_get(object, "tail");
    if (tail != NULL &&
        (!get_uint(tail, "bytes", &entry.tail) || !get_hash(tail, "sha256", entry.tail_sha256)))
        return wrong(error, "files: tail");
    mrd__vec_push(&out->entries, entry);
    mrd__vec_push(&out->totals, total);
    return MRD_OK;
}

static mrd_status parse_state(const json_t *root, mrd__sealed *out, mrd_error *error)
{
    const char *state = json_string_value(json_object_get(root, "state"));
    const json_t *reasons = json_object_get(root, "reasons");
    if (state == NULL || !json_is_array(reasons)) return wrong(error, "state");
    out->completed = strcmp(state, "completed") == 0;
    if (out->completed != (json_array_size(reasons) == 0)) return wrong(error, "reasons");
    size_t used = 0;
    for (size_t i = 0; i < json_array_size(reasons); i++) {
        const char *reason = json_string_value(json_array_get(reasons, i));
        if (reason == NULL) return wrong(error, "reasons");
        int put = snprintf(out->reasons + used, sizeof out->reasons - used, "%s%s",
                           i > 0 ? "; " : "", reason);
        used += put > 0 ? (size_t)put : 0;
        if (used >= sizeof out->reasons) break;
    }
    return MRD_OK;
}

static mrd_status parse_root(const json_t *root, mrd__sealed *out, mrd_error *error)
{
    MRD__TRY(check_head(root, out->uuid, error));
    const json_t *files = json_object_get(root, "files");
    if (!json_is_array(files) || json_array_size(files) > MRD__SEGMENTS_MAX + 100)
        return wrong(error, "files");
    for (size_t i = 0; i < json_array_size(files); i++)
        MRD__TRY(parse_entry(json_array_get(files, i), out, error));
    if (!get_uint(root, "raw_records", &out->records)) return wrong(error, "raw_records");
    if (!get_uint(root, "sequences", &out->sequences)) return wrong(error, "sequences");
    if (!get_hash(root, "merkle_root", out->merkle_root)) return wrong(error, "merkle_root");
    return parse_state(root, out, error);
}

mrd_status mrd__sealed_parse(mrd__sealed *out, mrd__str text, mrd_error *error)
{
    *out = (mrd__sealed){0};
    json_t *root = load(text, error);
    if (root == NULL) return MRD_ERR_FORMAT;
    mrd_status status = parse_root(root, out, error);
    json_decref(root);
    if (status != MRD_OK) mrd__sealed_reset(out);
    return status;
}

void mrd__sealed_reset(mrd__sealed *manifest)
{
    mrd__vec_reset(&manifest->entries);
    mrd__vec_reset(&manifest->totals);
}

bool mrd__seal_fits(mrd__str seal, mrd__str text, const mrd__sealed *manifest, const char **file,
                    uint64_t *from, uint64_t *to)
{
    mrd__buf want = {0};
    mrd__seal_text(&want, text, manifest->uuid, manifest->merkle_root, manifest->completed);
    bool fits = mrd__str_equal(seal, (mrd__str){want.data, want.size});
    size_t differ = 0;
    size_t common = seal.size < want.size ? seal.size : want.size;
    *from = common;
    *to = seal.size;
    for (size_t i = 0; i < common; i++) {
        if (seal.data[i] == want.data[i]) continue;
        if (differ++ == 0) *from = i;
        if (seal.size == want.size) *to = i + 1;
    }
    *file = MRD__SEAL;
    if (seal.size == want.size && differ > 16) {
        *file = MRD__MANIFEST;
        *from = 0;
        *to = text.size;
    }
    mrd__buf_reset(&want);
    return fits;
}
