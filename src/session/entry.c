#include "session/entry.h"

#include "base/error.h"
#include "session/format/canonical.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

void mrd__uuid_text(const uint8_t uuid[16], char out[37])
{
    static const char digits[] = "0123456789abcdef";
    char *at = out;
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) *at++ = '-';
        *at++ = digits[uuid[i] >> 4];
        *at++ = digits[uuid[i] & 15];
    }
    *at = '\0';
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool mrd__uuid_parse(const char *text, uint8_t out[16])
{
    if (strlen(text) != 36) return false;
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) {
            if (*text++ != '-') return false;
        }
        int high = hex_digit(text[0]);
        int low = hex_digit(text[1]);
        if (high < 0 || low < 0) return false;
        out[i] = (uint8_t)(high * 16 + low);
        text += 2;
    }
    return true;
}

/* ---- Texts ---- */

static void add_uint(mrd__buf *out, const char *name, uint64_t value)
{
    mrd__buf_printf(out, "\"%s\":", name);
    mrd__buf_uint(out, value);
    mrd__buf_char(out, ',');
}

static void add_hash(mrd__buf *out, const char *name, const uint8_t hash[32])
{
    char text[65];
    mrd__sha256_text(hash, text);
    mrd__buf_printf(out, "\"%s\":\"%s\",", name, text);
}

/* A list ends with a comma too many. */
static void close_list(mrd__buf *out, char close)
{
    if (out->data[out->size - 1] == ',') out->size--;
    mrd__buf_char(out, close);
}

static void add_counts(mrd__buf *out, const mrd__entry *entry)
{
    mrd__buf_text(out, "\"records\":{");
    for (unsigned type = 0; type < MRD__RECORD_TYPES; type++) {
        if (entry->counts[type] == 0) continue;
        char number[16];
        const char *name = mrd__record_type_name(type);
        if (type >= MRD__RECORD_DERIVED && type - MRD__RECORD_DERIVED < entry->name_count)
            name = entry->names[type - MRD__RECORD_DERIVED];
        snprintf(number, sizeof number, "type_%u", type);
        add_uint(out, name == NULL ? number : name, entry->counts[type]);
    }
    close_list(out, '}');
    mrd__buf_char(out, ',');
    if (entry->last >= entry->first) {
        add_uint(out, "first_sequence", entry->first);
        add_uint(out, "last_sequence", entry->last);
    } else {
        mrd__buf_text(out, "\"first_sequence\":null,\"last_sequence\":null,");
    }
}

static void add_entry(mrd__buf *out, const mrd__entry *entry)
{
    static const char *const kinds[] = {"document", "raw", "domain", "metrics"};
    mrd__buf_printf(out, "{\"path\":\"%s\",\"kind\":\"%s\",", entry->path, kinds[entry->kind]);
    add_uint(out, "bytes", entry->bytes);
    add_hash(out, "sha256", entry->sha256);
    if (entry->stale) mrd__buf_text(out, "\"stale\":true,");
    if (entry->counted) add_counts(out, entry);
    if (entry->tail > 0) {
        mrd__buf_text(out, "\"tail\":{");
        add_uint(out, "bytes", entry->tail);
        add_hash(out, "sha256", entry->tail_sha256);
        close_list(out, '}');
    }
    close_list(out, '}');
    mrd__buf_char(out, ',');
}

static void add_reservations(mrd__buf *out, const mrd__manifest_facts *facts)
{
    if (!facts->known) {
        mrd__buf_text(out, "\"reservations\":null,\"refused\":null,\"sync_failures\":null,");
        return;
    }
    uint64_t missing = 0;
    mrd__buf_text(out, "\"reservations\":{\"missing\":[");
    for (size_t i = 0; i < facts->missing->count; i++) {
        const mrd__range *range = &facts->missing->data[i];
        missing += range->to - range->from + 1;
        mrd__buf_printf(out, "[%llu,%llu],", (unsigned long long)range->from,
                        (unsigned long long)range->to);
    }
    close_list(out, ']');
    mrd__buf_char(out, ',');
    add_uint(out, "made", facts->made);
    add_uint(out, "consumed", facts->made - missing);
    close_list(out, '}');
    mrd__buf_char(out, ',');
    add_uint(out, "refused", facts->refused);
    add_uint(out, "sync_failures", facts->sync_failures);
}

static void add_head(mrd__buf *out, const uint8_t uuid[16])
{
    char text[37];
    mrd__uuid_text(uuid, text);
    mrd__buf_printf(out, "{\"format\":\"%s\",\"version\":%d,\"session\":\"%s\",", MRD__FORMAT_NAME,
                    MRD__FORMAT_VERSION, text);
}

/* The members of the caller's object behind ours; twice the same name is refused then. */
static mrd_status add_more(mrd__buf *text, mrd__str more, mrd_error *error)
{
    mrd__buf inner = {0};
    if (more.size > 0) {
        mrd_status status = mrd__canonical_json(&inner, more, error);
        if (status == MRD_OK && inner.data[0] != '{')
            status = mrd__fail(error, MRD_ERR_ARGUMENT, "facts", "the facts are no JSON object");
        if (status != MRD_OK) {
            mrd__buf_reset(&inner);
            return status;
        }
    }
    if (inner.size > 2) mrd__buf_add(text, inner.data + 1, inner.size - 2);
    mrd__buf_reset(&inner);
    close_list(text, '}');
    return MRD_OK;
}

/* text becomes canonical in out; text is freed. */
static mrd_status canonical(mrd__buf *out, mrd__buf *text, mrd__str more, mrd_error *error)
{
    mrd_status status = add_more(text, more, error);
    if (status == MRD_OK) {
        mrd_error why = {0};
        if (mrd__canonical_json(out, (mrd__str){text->data, text->size}, &why) != MRD_OK)
            status = mrd__fail(error, MRD_ERR_ARGUMENT, "facts", "the facts cannot be added: %s",
                               why.message);
    }
    mrd__buf_reset(text);
    return status;
}

mrd_status mrd__manifest_text(mrd__buf *out, const mrd__manifest_facts *facts, mrd_error *error)
{
    mrd__buf text = {0};
    uint8_t root[32];
    mrd__merkle_root(facts->merkle, root);
    add_head(&text, facts->uuid);
    mrd__buf_text(&text, "\"files\":[");
    for (size_t i = 0; i < facts->entries->count; i++)
        add_entry(&text, &facts->entries->data[i]);
    close_list(&text, ']');
    mrd__buf_char(&text, ',');
    add_uint(&text, "raw_records", facts->records);
    add_uint(&text, "sequences", facts->sequences);
    add_hash(&text, "merkle_root", root);
    add_reservations(&text, facts);
    mrd__buf_printf(&text, "\"state\":\"%s\",\"reasons\":[",
                    facts->reason_count == 0 ? "completed" : "incomplete");
    for (size_t i = 0; i < facts->reason_count; i++) {
        mrd__buf_json_string(&text, mrd__str_of(facts->reasons[i]));
        mrd__buf_char(&text, ',');
    }
    close_list(&text, ']');
    mrd__buf_char(&text, ',');
    return canonical(out, &text, facts->more, error);
}

void mrd__seal_text(mrd__buf *out, mrd__str manifest, const uint8_t uuid[16],
                    const uint8_t merkle_root[32], bool completed)
{
    /* Written in canonical order at once: format, manifest_sha256, merkle_root, session, ... */
    char hash[65];
    char root[65];
    char name[37];
    mrd__sha256_hex(manifest.data, manifest.size, hash);
    mrd__sha256_text(merkle_root, root);
    mrd__uuid_text(uuid, name);
    mrd__buf_printf(out,
                    "{\"format\":\"%s\",\"manifest_sha256\":\"%s\",\"merkle_root\":\"%s\","
                    "\"session\":\"%s\",\"state\":\"%s\",\"version\":%d}",
                    MRD__FORMAT_NAME, hash, root, name, completed ? "completed" : "incomplete",
                    MRD__FORMAT_VERSION);
}

mrd_status mrd__identity_text(mrd__buf *out, const uint8_t uuid[16], mrd__str more,
                              mrd_error *error)
{
    mrd__buf text = {0};
    add_head(&text, uuid);
    return canonical(out, &text, more, error);
}

void mrd__identity_prefix(mrd__str identity, uint8_t out[16])
{
    mrd__sha256 hash;
    uint8_t whole[32];
    mrd__sha256_begin(&hash);
    mrd__sha256_add(&hash, identity.data, identity.size);
    mrd__sha256_end(&hash, whole);
    memcpy(out, whole, 16);
}

/* ---- Entries ---- */

static void set_path(mrd__entry *entry, const char *path)
{
    snprintf(entry->path, sizeof entry->path, "%s", path);
}

void mrd__entry_of(mrd__entry *entry, const char *path, mrd__str bytes)
{
    *entry = (mrd__entry){.bytes = bytes.size};
    set_path(entry, path);
    mrd__sha256 hash;
    mrd__sha256_begin(&hash);
    mrd__sha256_add(&hash, bytes.data, bytes.size);
    mrd__sha256_end(&hash, entry->sha256);
}

void mrd__entry_of_segment(mrd__entry *entry, const mrd__log_segment *segment)
{
    *entry = (mrd__entry){.bytes = segment->bytes,
                          .tail = segment->tail,
                          .kind = MRD__FILE_RAW,
                          .counted = true,
                          .first = segment->first,
                          .last = segment->last};
    snprintf(entry->path, sizeof entry->path, "raw/%06u.mrl", segment->index);
    memcpy(entry->sha256, segment->sha256, 32);
    for (int i = 0; i < MRD__RECORD_RAW_TYPES; i++)
        entry->counts[i] = segment->counts[i];
}

mrd_status mrd__entry_tail(mrd__entry *entry, const mrd__files *files, const char *dir,
                           mrd_error *error)
{
    uint64_t size = 0;
    char *path = mrd__files_join(dir, entry->path);
    char *chunk = mrd__alloc(1 << 16);
    int fd = mrd__files_open(files, path, O_RDONLY, 0, error);
    mrd_status status = fd < 0 ? MRD_ERR_IO : MRD_OK;
    if (fd >= 0 && files->size(files->ctx, fd, &size) != 0)
        status = mrd__fail_errno(error, path, "cannot see its size");
    entry->tail = status == MRD_OK && size > entry->bytes ? size - entry->bytes : 0;
    mrd__sha256 hash;
    mrd__sha256_begin(&hash);
    for (uint64_t at = entry->bytes; status == MRD_OK && at < size;) {
        size_t got = 0;
        size_t want = size - at < (1 << 16) ? (size_t)(size - at) : 1 << 16;
        status = mrd__files_pread(files, fd, at, chunk, want, &got, path, error);
        if (status == MRD_OK && got == 0) break;
        mrd__sha256_add(&hash, chunk, got);
        at += got;
    }
    mrd__sha256_end(&hash, entry->tail_sha256);
    if (fd >= 0) (void)files->close(files->ctx, fd);
    mrd__free(chunk);
    mrd__free(path);
    return status;
}

mrd_status mrd__entries_protect(const mrd__entries *entries, const mrd__files *files,
                                const char *dir, mrd_error *error)
{
    mrd_status status = MRD_OK;
    for (size_t i = 0; i < entries->count && status == MRD_OK; i++) {
        char *path = mrd__files_join(dir, entries->data[i].path);
        int fd = mrd__files_open(files, path, O_RDONLY, 0, error);
        status = fd < 0 ? MRD_ERR_IO : MRD_OK;
        if (fd >= 0 && files->fchmod(files->ctx, fd, 0444) != 0)
            status = mrd__fail_errno(error, path, "cannot make it read-only");
        /* Its length, too: a segment cut short was not synced since. */
        if (status == MRD_OK && files->fsync(files->ctx, fd) != 0)
            status = mrd__fail_errno(error, path, "cannot sync");
        if (fd >= 0) (void)files->close(files->ctx, fd);
        mrd__free(path);
    }
    return status;
}

mrd_status mrd__seal_write(const mrd__files *files, const char *dir,
                           const mrd__manifest_facts *facts, mrd_error *error)
{
    mrd__buf manifest = {0};
    mrd__buf seal = {0};
    uint8_t root[32];
    char *manifest_path = mrd__files_join(dir, MRD__MANIFEST);
    char *seal_path = mrd__files_join(dir, MRD__SEAL);
    mrd_status status = mrd__manifest_text(&manifest, facts, error);
    if (status == MRD_OK)
        status = mrd__files_replace(files, manifest_path, manifest.data, manifest.size, error);
    if (status == MRD_OK) {
        mrd__merkle_root(facts->merkle, root);
        mrd__seal_text(&seal, (mrd__str){manifest.data, manifest.size}, facts->uuid, root,
                       facts->reason_count == 0);
        status = mrd__files_replace(files, seal_path, seal.data, seal.size, error);
    }
    mrd__buf_reset(&manifest);
    mrd__buf_reset(&seal);
    mrd__free(manifest_path);
    mrd__free(seal_path);
    return status;
}
