/* Verifying: the seal against the manifest, the manifest against every file, byte by byte. For a
 * record file the frames say where the first bad byte is; for the others the hash says only that
 * there is one. */
#include "session/check.h"

#include "base/error.h"
#include "session/limits.h"
#include "session/walk.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

typedef struct verifying {
    mrd__stored *stored;
    mrd__verify_result *result;
    mrd_error *error;
} verifying;

static void damaged(verifying *v, const char *file, uint64_t from, uint64_t to, const char *what)
{
    v->result->sound = false;
    mrd__damage_set(&v->result->damage, file, from, to, what);
}

/* SHA-256 of bytes [from, to) of a file, or of what there is of it. */
static mrd_status hash_file(mrd__open_file *file, uint64_t from, uint64_t to, uint8_t out[32],
                            mrd_error *error)
{
    char *chunk = mrd__alloc(1 << 18);
    mrd__sha256 hash;
    mrd__sha256_begin(&hash);
    mrd_status status = MRD_OK;
    while (from < to && status == MRD_OK) {
        size_t got = 0;
        size_t want = to - from < (1 << 18) ? (size_t)(to - from) : 1 << 18;
        status =
            mrd__files_pread(file->files, file->fd, from, chunk, want, &got, file->path, error);
        if (status != MRD_OK || got == 0) break;
        mrd__sha256_add(&hash, chunk, got);
        from += got;
    }
    mrd__sha256_end(&hash, out);
    mrd__free(chunk);
    return status;
}

/* The frames of a derived file: finds the place where the hash only finds the file. */
static mrd_status check_frames(verifying *v, const mrd__entry *entry, uint64_t total,
                               mrd__open_file *file, mrd_error *error)
{
    mrd__reader reader;
    mrd__record record;
    mrd__byte_source source = mrd__open_file_source(file);
    mrd__reader_source(&reader, &source, file->size < entry->bytes ? file->size : entry->bytes);
    mrd__read_step step = mrd__reader_head(&reader, error);
    if (step == MRD__STEP_RECORD &&
        (reader.head.kind != entry->kind || memcmp(reader.head.uuid, v->stored->uuid, 16) != 0))
        damaged(v, entry->path, 0, MRD__SEGMENT_HEAD, "a file of another session or kind");
    while (v->result->sound && step == MRD__STEP_RECORD)
        step = mrd__reader_next(&reader, &record, error);
    if (step == MRD__STEP_BAD)
        damaged(v, entry->path, reader.bad.from, reader.bad.to, reader.bad.what);
    else if (v->result->sound && step == MRD__STEP_END && reader.records != total)
        damaged(v, entry->path, 0, file->size, "other records than the manifest counts");
    mrd__reader_reset(&reader);
    return step == MRD__STEP_FAILED ? error->status : MRD_OK;
}

static mrd_status check_file(verifying *v, const mrd__entry *entry, uint64_t total)
{
    mrd__open_file file;
    uint8_t hash[32];
    mrd_error why = {0};
    mrd_status status = mrd__open_file_begin(&file, v->stored, entry->path, &why);
    if (status == MRD_ERR_NOT_FOUND) {
        damaged(v, entry->path, 0, entry->bytes, "the file is missing");
        return MRD_OK;
    }
    if (status == MRD_OK) {
        uint64_t whole = entry->bytes + entry->tail;
        if (entry->kind > MRD__FILE_RAW && !entry->stale)
            status = check_frames(v, entry, total, &file, &why);
        if (v->result->sound && file.size < whole)
            damaged(v, entry->path, file.size, whole, "the file is shorter than it was sealed");
        if (v->result->sound && file.size > whole)
            damaged(v, entry->path, whole, file.size, "the file is longer than it was sealed");
        if (status == MRD_OK) status = hash_file(&file, 0, entry->bytes, hash, &why);
        if (status == MRD_OK && v->result->sound && memcmp(hash, entry->sha256, 32) != 0)
            damaged(v, entry->path, 0, entry->bytes, "the SHA-256 differs from the manifest's");
        v->result->bytes += file.size;
        mrd__open_file_end(&file);
    }
    if (status != MRD_OK && v->error != NULL) *v->error = why;
    return status;
}

/* A segment as the walk found it against what was sealed. */
static mrd_status check_segment(verifying *v, const mrd__entry *entry,
                                const mrd__log_segment *found)
{
    v->result->segments++;
    v->result->bytes += entry->bytes + entry->tail;
    if (found->bytes != entry->bytes || memcmp(found->sha256, entry->sha256, 32) != 0) {
        damaged(v, entry->path, 0, entry->bytes, "the SHA-256 differs from the manifest's");
        return MRD_OK;
    }
    bool same = found->last < found->first
                    ? entry->last < entry->first
                    : found->first == entry->first && found->last == entry->last;
    for (int i = 0; i < MRD__RECORD_RAW_TYPES; i++)
        same = same && found->counts[i] == entry->counts[i];
    if (!same) damaged(v, entry->path, 0, entry->bytes, "other records than the manifest counts");
    if (entry->tail == 0 || !v->result->sound) return MRD_OK;
    mrd__open_file file;
    uint8_t hash[32];
    mrd_error why = {0};
    mrd_status status = mrd__open_file_begin(&file, v->stored, entry->path, &why);
    if (status == MRD_OK) {
        status = hash_file(&file, entry->bytes, entry->bytes + entry->tail, hash, &why);
        mrd__open_file_end(&file);
    }
    if (status == MRD_OK && memcmp(hash, entry->tail_sha256, 32) != 0)
        damaged(v, entry->path, entry->bytes, entry->bytes + entry->tail,
                "the SHA-256 of what is behind the last record differs from the manifest's");
    if (status != MRD_OK && v->error != NULL) *v->error = why;
    return status;
}

static void check_totals(verifying *v, const mrd__walk *walk)
{
    const mrd__sealed *manifest = &v->stored->manifest;
    uint8_t root[32];
    mrd__merkle_root(&walk->merkle, root);
    mrd__str text = mrd__stored_manifest(v->stored);
    if (walk->records != manifest->records || walk->sequence != manifest->sequences)
        damaged(v, MRD__MANIFEST, 0, text.size, "other records than the manifest counts in all");
    else if (memcmp(root, manifest->merkle_root, 32) != 0)
        damaged(v, MRD__MANIFEST, 0, text.size, "the Merkle root is another than the records'");
}

static mrd_status check_sealed(verifying *v, const mrd__walk *walk)
{
    const mrd__sealed *manifest = &v->stored->manifest;
    size_t segment = 0;
    for (size_t i = 0; i < manifest->entries.count && v->result->sound; i++) {
        const mrd__entry *entry = &manifest->entries.data[i];
        v->result->files++;
        if (entry->kind != MRD__FILE_RAW) {
            MRD__TRY(check_file(v, entry, manifest->totals.data[i]));
            continue;
        }
        char name[32];
        mrd__segment_name((uint32_t)segment + 1, name);
        if (segment >= walk->segments.count || strcmp(name, entry->path) != 0)
            damaged(v, entry->path, 0, entry->bytes, "the segment is missing");
        else
            MRD__TRY(check_segment(v, entry, &walk->segments.data[segment++]));
    }
    if (v->result->sound) check_totals(v, walk);
    return MRD_OK;
}

static void check_seal(verifying *v)
{
    const mrd__stored *stored = v->stored;
    if (stored->bad_manifest)
        damaged(v, stored->wrong, stored->wrong_from, stored->wrong_to, stored->what);
    else if (stored->strange > 0)
        damaged(v, stored->strange_name, 0, 1, "no file of the session");
}

static mrd_status verify(verifying *v)
{
    mrd__walk walk = {.leaves = true};
    mrd__verify_result *result = v->result;
    check_seal(v);
    mrd_error why = {0};
    mrd_status status = result->sound ? mrd__walk_raw(v->stored, &walk, &why) : MRD_OK;
    if (status != MRD_OK && v->error != NULL) *v->error = why;
    if (walk.damaged) {
        result->sound = false;
        result->damage = walk.damage;
    } else if (walk.torn) {
        result->sound = false;
        result->damage = walk.cut;
    }
    result->records = walk.records;
    result->sequences = walk.sequence;
    uint8_t root[32];
    mrd__merkle_root(&walk.merkle, root);
    mrd__sha256_text(root, result->merkle_root);
    if (status == MRD_OK && v->stored->sealed) {
        if (result->sound) status = check_sealed(v, &walk);
    } else {
        result->segments = walk.segments.count;
        result->files = walk.segments.count + 1;
    }
    mrd__walk_reset(&walk);
    return status;
}

/* session.json itself: what it should be nobody knows any more. */
static void bad_identity(const char *dir, const mrd__files *files, mrd__verify_result *result,
                         const char *what)
{
    mrd__buf text = {0};
    char *folder;
    char *path = NULL;
    mrd_status status = mrd__stored_find(files, dir, &folder, NULL);
    if (status == MRD_OK) {
        path = mrd__files_join(folder, MRD__IDENTITY);
        status = mrd__files_read(files, path, &text, MRD__DOCUMENT_MAX, NULL);
    }
    mrd__damage_set(&result->damage, MRD__IDENTITY, 0, status == MRD_OK ? text.size : 1, what);
    mrd__buf_reset(&text);
    mrd__free(path);
    mrd__free(folder);
}

mrd_status mrd__session_verify(const char *dir, const mrd__files *files, mrd__verify_result *result,
                               mrd_error *error)
{
    mrd__stored *stored;
    *result = (mrd__verify_result){0};
    if (files == NULL) files = mrd__files_system();
    mrd_error why = {0};
    mrd_status status = mrd__stored_open(dir, files, &stored, &why);
    if (status == MRD_ERR_FORMAT) {
        bad_identity(dir, files, result, why.message);
        return MRD_OK;
    }
    if (status != MRD_OK) {
        if (error != NULL) *error = why;
        return status;
    }
    verifying v = {stored, result, error};
    result->sound = true;
    result->sealed = stored->sealed;
    result->completed = stored->sealed && stored->manifest.completed;
    if (stored->sealed)
        snprintf(result->reasons, sizeof result->reasons, "%s", stored->manifest.reasons);
    status = verify(&v);
    mrd__stored_close(&stored);
    return status;
}
