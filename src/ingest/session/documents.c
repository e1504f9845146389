/* session.json, metrics-manifest.json and seal.json, as far as a timeline needs them. What they
 * say is held to the records by `verify`; here only what would show wrong numbers is refused. */
#include "base/error.h"
#include "base/json.h"
#include "base/os.h"
#include "base/sha256.h"
#include "ingest/session/inside.h"

#include <string.h>

#define FORMAT "meridian-session"
#define VERSION 1

/* ---- Objects, member by member ---- */

typedef struct object {
    mrd__json json;
    mrd__buf key;
    mrd__json_token value;
} object;

/* The next member of the object that the reader is in; a value that is an object or a list has to
 * be read or skipped. False behind the last one: then value is OBJECT_END, or an error. */
static bool next_member(object *o)
{
    mrd__json_token token = mrd__json_next(&o->json);
    o->value = token;
    if (token.type != MRD__JSON_KEY) return false;
    mrd__buf_clear(&o->key);
    mrd__json_decode(&o->key, token.text, NULL);
    o->value = mrd__json_next(&o->json);
    return o->value.type != MRD__JSON_ERROR;
}

static bool is(const object *o, const char *key, mrd__json_type type)
{
    return o->value.type == type && mrd__str_is((mrd__str){o->key.data, o->key.size}, key);
}

static void take_text(object *o, const char *key, mrd__buf *out)
{
    if (!is(o, key, MRD__JSON_STRING)) return;
    mrd__buf_clear(out);
    mrd__json_decode(out, o->value.text, NULL);
}

/* Numbers, and times, which stand as strings of digits. */
static void take_integer(object *o, const char *key, int64_t *out)
{
    if (is(o, key, MRD__JSON_NUMBER) || is(o, key, MRD__JSON_STRING))
        (void)mrd__parse_int64(o->value.text, out);
}

/* Past the value; its raw text. */
static mrd__str skip(object *o)
{
    size_t from = o->value.offset;
    if (!mrd__json_skip(&o->json, o->value)) return (mrd__str){0};
    return (mrd__str){o->json.data + from, o->json.at - from};
}

static bool begin(object *o, mrd__str text)
{
    mrd__json_init(&o->json, text.data, text.size);
    o->value = mrd__json_next(&o->json);
    return o->value.type == MRD__JSON_OBJECT;
}

static mrd_status refuse(const char *file, const char *what, mrd_error *error)
{
    return mrd__fail_at(error, mrd__fail(error, MRD_ERR_FORMAT, "bad_session", "%s", what), file,
                        -1);
}

/* Format, version and whole syntax, known at the end of the object. */
static mrd_status check_end(object *o, const char *file, const mrd__buf *format, int64_t version,
                            mrd_error *error)
{
    bool ended =
        o->value.type == MRD__JSON_OBJECT_END && mrd__json_next(&o->json).type == MRD__JSON_END;
    mrd__buf_reset(&o->key);
    if (!ended) return refuse(file, "no whole JSON object", error);
    if (!mrd__str_is((mrd__str){format->data, format->size}, FORMAT))
        return refuse(file, "format is not " FORMAT, error);
    if (version == VERSION) return MRD_OK;
    mrd_status status = mrd__fail(error, MRD_ERR_UNSUPPORTED, "bad_session",
                                  "version %lld of sessions, this program reads version %d",
                                  (long long)version, VERSION);
    return mrd__fail_at(error, status, file, -1);
}

/* ---- session.json ---- */

static void read_host(mrd__session_documents *out, object *o)
{
    while (next_member(o)) {
        take_text(o, "name", &out->host_name);
        take_text(o, "kernel", &out->kernel);
        take_text(o, "machine", &out->arch);
        take_integer(o, "cores", &out->cores);
        (void)skip(o);
    }
}

static void read_clocks(mrd__session_documents *out, object *o)
{
    while (next_member(o)) {
        take_integer(o, "monotonicNs", &out->monotonic_ns);
        take_integer(o, "boottimeNs", &out->boottime_ns);
        take_integer(o, "realtimeNs", &out->realtime_ns);
        (void)skip(o);
    }
}

static bool has_member(mrd__str text, const char *key)
{
    object o = {0};
    bool found = false;
    if (begin(&o, text)) {
        while (!found && next_member(&o)) {
            found = mrd__str_is((mrd__str){o.key.data, o.key.size}, key);
            (void)skip(&o);
        }
    }
    mrd__buf_reset(&o.key);
    return found;
}

static int nibble(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool parse_uuid(const mrd__buf *text, uint8_t out[16])
{
    size_t at = 0;
    for (size_t i = 0; text->size == 36 && i < 36; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        int high = nibble(text->data[i]);
        if (dash && text->data[i] == '-') continue;
        int low = i + 1 < 36 ? nibble(text->data[i + 1]) : -1;
        if (dash || high < 0 || low < 0) return false;
        out[at++] = (uint8_t)(high << 4 | low);
        i++;
    }
    return at == 16;
}

static mrd_status read_identity(mrd__session_documents *out, const char *file, mrd_error *error)
{
    object o = {0};
    mrd__buf format = {0};
    int64_t version = 0;
    mrd__str text = {out->identity.data, out->identity.size};
    bool whole = begin(&o, text);
    while (whole && next_member(&o)) {
        take_text(&o, "format", &format);
        take_integer(&o, "version", &version);
        take_text(&o, "session", &out->uuid);
        take_text(&o, "bootId", &out->boot_id);
        if (is(&o, "host", MRD__JSON_OBJECT))
            read_host(out, &o);
        else if (is(&o, "startClocks", MRD__JSON_OBJECT))
            read_clocks(out, &o);
        else if (is(&o, "target", MRD__JSON_OBJECT))
            out->target = skip(&o);
        else
            (void)skip(&o);
    }
    mrd_status status = check_end(&o, file, &format, version, error);
    mrd__buf_reset(&format);
    if (status != MRD_OK) return status;
    if (!parse_uuid(&out->uuid, out->uuid_bytes)) return refuse(file, "session is no uuid", error);
    out->ingested = has_member(out->target, "ingest");
    return MRD_OK;
}

/* ---- metrics-manifest.json ---- */

static void read_gap(mrd__session_documents *out, object *o)
{
    mrd__session_gap gap = {0};
    int64_t sequence = 0;
    size_t from = o->value.offset;
    while (next_member(o)) {
        if (is(o, "gap", MRD__JSON_STRING)) gap.name = o->value.text;
        take_integer(o, "seq", &sequence);
        (void)skip(o);
    }
    gap.object = (mrd__str){o->json.data + from, o->json.at - from};
    gap.sequence = sequence > 0 ? (uint64_t)sequence : 0;
    if (o->value.type == MRD__JSON_OBJECT_END) mrd__vec_push(&out->gaps, gap);
}

static void read_file_entry(mrd__session_documents *out, object *o)
{
    mrd__session_file file = {.listed = true};
    int64_t bytes = 0;
    int kind = 0;
    while (next_member(o)) {
        if (is(o, "path", MRD__JSON_STRING)) {
            if (mrd__str_is(o->value.text, "domain.mrl")) kind = MRD__FILE_DOMAIN;
            if (mrd__str_is(o->value.text, "metrics.mrl")) kind = MRD__FILE_METRICS;
        }
        take_integer(o, "bytes", &bytes);
        if (is(o, "stale", MRD__JSON_TRUE)) file.stale = true;
        (void)skip(o);
    }
    file.bytes = bytes > 0 ? (uint64_t)bytes : 0;
    if (kind != 0) out->files[kind] = file;
}

static void read_list(mrd__session_documents *out, object *o,
                      void (*read)(mrd__session_documents *, object *))
{
    for (;;) {
        o->value = mrd__json_next(&o->json);
        if (o->value.type == MRD__JSON_ARRAY_END || o->value.type == MRD__JSON_ERROR) return;
        if (o->value.type == MRD__JSON_OBJECT)
            read(out, o);
        else
            (void)skip(o);
    }
}

static mrd_status read_manifest(mrd__session_documents *out, const char *file, mrd_error *error)
{
    object o = {0};
    mrd__buf format = {0};
    mrd__buf uuid = {0};
    int64_t version = 0;
    bool whole = begin(&o, out->manifest);
    while (whole && next_member(&o)) {
        take_text(&o, "format", &format);
        take_integer(&o, "version", &version);
        take_text(&o, "session", &uuid);
        take_text(&o, "state", &out->state);
        take_integer(&o, "gap_count", &out->gap_count);
        take_integer(&o, "decode_errors", &out->decode_errors);
        if (is(&o, "gaps", MRD__JSON_ARRAY))
            read_list(out, &o, read_gap);
        else if (is(&o, "files", MRD__JSON_ARRAY))
            read_list(out, &o, read_file_entry);
        else if (is(&o, "reasons", MRD__JSON_ARRAY))
            out->reasons = skip(&o);
        else
            (void)skip(&o);
    }
    mrd_status status = check_end(&o, file, &format, version, error);
    bool ours = mrd__str_equal((mrd__str){uuid.data, uuid.size},
                               (mrd__str){out->uuid.data, out->uuid.size});
    mrd__buf_reset(&format);
    mrd__buf_reset(&uuid);
    if (status != MRD_OK) return status;
    return ours ? MRD_OK : refuse(file, "the manifest is that of another session", error);
}

/* ---- The folder ---- */

static mrd_status read_document(mrd__buf *out, const char *file, mrd_error *error)
{
    return mrd__file_read(out, file, MRD__SESSION_DOCUMENT_MAX, error);
}

/* A manifest that its seal does not fit was changed: nothing that it says counts. */
static mrd_status check_seal(mrd__session_documents *out, const char *folder, mrd_error *error)
{
    mrd__buf path = {0};
    char hash[65];
    mrd__buf_printf(&path, "%s/seal.json", folder);
    mrd_status status = MRD_OK;
    if (out->manifest.size == 0 || !mrd__file_exists(path.data)) {
        status = mrd__fail(error, MRD_ERR_FORMAT, "not_sealed",
                           "the session is not sealed: end its recording, or make it whole with "
                           "`meridian session recover`");
        status = mrd__fail_at(error, status, folder, -1);
    } else {
        status = read_document(&out->seal, path.data, error);
        mrd__sha256_hex(out->manifest.data, out->manifest.size, hash);
        if (status == MRD_OK && memmem(out->seal.data, out->seal.size, hash, 64) == NULL)
            status = refuse(path.data, "the seal is not that of metrics-manifest.json", error);
    }
    mrd__buf_reset(&path);
    return status;
}

/* What is no UTF-8 is mended and counted; the hashes are of what was there. */
static void mend(mrd__session_documents *out)
{
    mrd__buf text = {0};
    if (!mrd__utf8_valid((mrd__str){out->identity.data, out->identity.size})) {
        out->mended += mrd__utf8_repair(&text, (mrd__str){out->identity.data, out->identity.size});
        mrd__buf_reset(&out->identity);
        out->identity = text;
    }
    if (!mrd__utf8_valid(out->manifest)) {
        out->mended += mrd__utf8_repair(&out->own_manifest, out->manifest);
        out->manifest = (mrd__str){out->own_manifest.data, out->own_manifest.size};
    }
}

mrd_status mrd__session_documents_read(mrd__session_documents *out, const char *folder,
                                       mrd__str manifest, mrd_error *error)
{
    mrd__buf path = {0};
    char hash[65];
    *out = (mrd__session_documents){.manifest = manifest};
    MRD__TRY(check_seal(out, folder, error));
    mrd__buf_printf(&path, "%s/session.json", folder);
    mrd_status status = read_document(&out->identity, path.data, error);
    mrd__sha256_hex(out->identity.data, out->identity.size, hash);
    if (status == MRD_OK && memmem(manifest.data, manifest.size, hash, 64) == NULL)
        status = refuse(path.data, "it was changed: metrics-manifest.json has another hash", error);
    if (status == MRD_OK) mend(out);
    if (status == MRD_OK) status = read_identity(out, path.data, error);
    mrd__buf_clear(&path);
    mrd__buf_printf(&path, "%s/metrics-manifest.json", folder);
    if (status == MRD_OK) status = read_manifest(out, path.data, error);
    mrd__buf_reset(&path);
    return status;
}

void mrd__session_documents_reset(mrd__session_documents *documents)
{
    mrd__buf_reset(&documents->identity);
    mrd__buf_reset(&documents->seal);
    mrd__buf_reset(&documents->own_manifest);
    mrd__buf_reset(&documents->uuid);
    mrd__buf_reset(&documents->boot_id);
    mrd__buf_reset(&documents->host_name);
    mrd__buf_reset(&documents->kernel);
    mrd__buf_reset(&documents->arch);
    mrd__buf_reset(&documents->state);
    mrd__vec_reset(&documents->gaps);
}

bool mrd__session_clocks_known(const mrd__session_documents *documents)
{
    return !documents->ingested && documents->monotonic_ns > 0 && documents->boottime_ns > 0 &&
           documents->realtime_ns > 0;
}
