#include "session/stored.h"

#include "base/error.h"
#include "session/limits.h"
#include "session/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Records between two places that a lookup remembers: 100 KiB of small ones to read again. */
#define NOTE_RECORDS 1024

/* ---- Opening ---- */

/* 1, 0; -1: not to be found out, errno says why. */
static int has_identity(const mrd__files *files, const char *dir)
{
    char *path = mrd__files_join(dir, MRD__IDENTITY);
    int there = files->exists(files->ctx, path);
    int number = errno;
    mrd__free(path);
    errno = number;
    return there;
}

static mrd_status cannot_look(const char *dir, mrd_error *error)
{
    char *path = mrd__files_join(dir, MRD__IDENTITY);
    mrd_status status = mrd__fail_errno(error, path, "cannot see whether it exists");
    mrd__free(path);
    return status;
}

mrd_status mrd__stored_find(const mrd__files *files, const char *dir, char **out, mrd_error *error)
{
    size_t length = strlen(dir);
    while (length > 1 && dir[length - 1] == '/')
        length--;
    mrd__buf open_dir = {0};
    mrd_status status = MRD_OK;
    char *plain = mrd__strndup(dir, length);
    mrd__buf_printf(&open_dir, "%s.open", plain);
    int sealed = has_identity(files, plain);
    if (sealed < 0) status = cannot_look(plain, error);
    int open = sealed == 0 ? has_identity(files, open_dir.data) : 0;
    if (open < 0) status = cannot_look(open_dir.data, error);
    if (status != MRD_OK || open > 0) {
        mrd__free(plain);
        plain = NULL;
    }
    if (status != MRD_OK || open == 0) mrd__buf_reset(&open_dir);
    *out = plain != NULL ? plain : open_dir.data;
    return status;
}

static mrd_status read_text(const mrd__stored *stored, const char *name, mrd__buf *out,
                            mrd_error *error)
{
    char *path = mrd__files_join(stored->dir, name);
    mrd_error why = {0};
    mrd_status status = mrd__files_read(stored->files, path, out, MRD__DOCUMENT_MAX, &why);
    mrd__free(path);
    if (status != MRD_OK && error != NULL) *error = why;
    return status;
}

static mrd_status read_identity(mrd__stored *stored, mrd_error *error)
{
    mrd_error why = {0};
    mrd_status status = read_text(stored, MRD__IDENTITY, &stored->identity, &why);
    if (status == MRD_ERR_NOT_FOUND) {
        mrd__fail(error, MRD_ERR_NOT_FOUND, "no_session",
                  "no session: there is no session.json here or in DIR.open");
        return mrd__fail_at(error, MRD_ERR_NOT_FOUND, stored->dir, -1);
    }
    if (status != MRD_OK) {
        if (error != NULL) *error = why;
        return status;
    }
    mrd__str text = mrd__stored_identity(stored);
    char *path = mrd__files_join(stored->dir, MRD__IDENTITY);
    status = mrd__identity_parse(text, stored->uuid, &why);
    if (status != MRD_OK && error != NULL) *error = why;
    if (status != MRD_OK) status = mrd__fail_at(error, status, path, -1);
    mrd__free(path);
    return status;
}

static void bad_manifest(mrd__stored *stored, const char *file, uint64_t from, uint64_t to,
                         const char *what)
{
    stored->bad_manifest = true;
    stored->wrong = file;
    stored->wrong_from = from;
    stored->wrong_to = to;
    snprintf(stored->what, sizeof stored->what, "%.190s", what);
}

/* Manifest and seal do not fit: a seal that names another session is the foreign one. */
static void wrong_seal(mrd__stored *stored, mrd__str seal, const char *file, uint64_t from,
                       uint64_t to)
{
    char uuid[37];
    mrd__uuid_text(stored->uuid, uuid);
    bool ours = memcmp(stored->manifest.uuid, stored->uuid, 16) == 0;
    if (ours && strcmp(file, MRD__MANIFEST) == 0 && seal.size > 0 &&
        memmem(seal.data, seal.size, uuid, 36) == NULL)
        bad_manifest(stored, MRD__SEAL, 0, seal.size, "the seal is that of another session");
    else
        bad_manifest(stored, file, from, to, "the seal is not that of the manifest");
}

/* Manifest and seal, where they are. What does not fit is kept for verify to tell. */
static mrd_status read_seal(mrd__stored *stored, mrd_error *error)
{
    mrd_error why = {0};
    mrd_status manifest = read_text(stored, MRD__MANIFEST, &stored->manifest_text, &why);
    if (manifest == MRD_OK || manifest == MRD_ERR_NOT_FOUND) {
        mrd_status seal = read_text(stored, MRD__SEAL, &stored->seal_text, &why);
        if (seal == MRD_ERR_NOT_FOUND) return MRD_OK;
        if (seal == MRD_OK && manifest == MRD_ERR_NOT_FOUND) {
            bad_manifest(stored, MRD__MANIFEST, 0, 1,
                         "the file is missing, though there is a seal");
            return MRD_OK;
        }
        manifest = seal;
    }
    if (manifest != MRD_OK) {
        if (error != NULL) *error = why;
        return manifest;
    }
    mrd__str text = mrd__stored_manifest(stored);
    mrd__str seal = {stored->seal_text.data, stored->seal_text.size};
    manifest = mrd__sealed_parse(&stored->manifest, text, &why);
    if (manifest == MRD_ERR_UNSUPPORTED) {
        if (error != NULL) *error = why;
        return manifest;
    }
    const char *file = NULL;
    uint64_t from = 0;
    uint64_t to = 0;
    if (manifest != MRD_OK)
        bad_manifest(stored, MRD__MANIFEST, 0, text.size, why.message);
    else if (!mrd__seal_fits(seal, text, &stored->manifest, &file, &from, &to))
        wrong_seal(stored, seal, file, from, to);
    else if (memcmp(stored->manifest.uuid, stored->uuid, 16) != 0)
        bad_manifest(stored, MRD__IDENTITY, 0, stored->identity.size,
                     "the manifest is that of another session");
    if (manifest == MRD_OK && stored->bad_manifest) mrd__sealed_reset(&stored->manifest);
    stored->sealed = manifest == MRD_OK && !stored->bad_manifest;
    return MRD_OK;
}

static void take_name(void *ctx, const char *name)
{
    mrd__stored *stored = ctx;
    char want[32];
    uint32_t index = (uint32_t)strtoul(name, NULL, 10);
    mrd__segment_name(index, want);
    if (index > 0 && index <= MRD__SEGMENTS_MAX && strcmp(want + 4, name) == 0) {
        mrd__stored_segment segment = {.index = index};
        mrd__vec_push(&stored->segments, segment);
        return;
    }
    if (stored->strange++ == 0)
        snprintf(stored->strange_name, sizeof stored->strange_name, "raw/%.50s", name);
}

static int by_index(const void *left, const void *right)
{
    uint32_t a = ((const mrd__stored_segment *)left)->index;
    uint32_t b = ((const mrd__stored_segment *)right)->index;
    return (a > b) - (a < b);
}

static mrd_status read_head(mrd__stored *stored, mrd__stored_segment *segment, mrd_error *error)
{
    mrd__open_file file;
    char name[32];
    uint8_t bytes[MRD__SEGMENT_HEAD];
    size_t got = 0;
    mrd__segment_name(segment->index, name);
    MRD__TRY(mrd__open_file_begin(&file, stored, name, error));
    segment->size = file.size;
    mrd_status status =
        mrd__files_pread(file.files, file.fd, 0, bytes, sizeof bytes, &got, file.path, error);
    mrd__open_file_end(&file);
    if (status != MRD_OK || got < sizeof bytes) return status;
    uint32_t crc;
    const char *what;
    bool whole = mrd__segment_head_read(bytes, &segment->head, &crc, &what) &&
                 segment->head.kind == MRD__FILE_RAW && segment->head.index == segment->index;
    bool ours = memcmp(segment->head.uuid, stored->uuid, 16) == 0;
    segment->headed = whole && ours;
    segment->foreign = whole && !ours;
    return MRD_OK;
}

static mrd_status read_segments(mrd__stored *stored, mrd_error *error)
{
    char *raw = mrd__files_join(stored->dir, "raw");
    mrd_status status = MRD_OK;
    if (stored->files->list(stored->files->ctx, raw, take_name, stored) != 0 && errno != ENOENT)
        status = mrd__fail_errno(error, raw, "cannot list");
    mrd__free(raw);
    if (stored->segments.count > 0)
        qsort(stored->segments.data, stored->segments.count, sizeof *stored->segments.data,
              by_index);
    for (size_t i = 0; i < stored->segments.count && status == MRD_OK; i++)
        status = read_head(stored, &stored->segments.data[i], error);
    return status;
}

mrd_status mrd__stored_open(const char *dir, const mrd__files *files, mrd__stored **out,
                            mrd_error *error)
{
    mrd__stored *stored = mrd__new(mrd__stored);
    mrd_error why = {0}; /* callees' statuses are read from it, whatever the caller gave */
    stored->files = files != NULL ? files : mrd__files_system();
    mrd_status status = mrd__stored_find(stored->files, dir, &stored->dir, &why);
    if (status == MRD_OK) status = read_identity(stored, &why);
    if (status == MRD_OK) status = read_seal(stored, &why);
    if (status == MRD_OK) status = read_segments(stored, &why);
    *out = stored;
    if (status != MRD_OK && error != NULL) *error = why;
    if (status != MRD_OK) mrd__stored_close(out);
    return status;
}

void mrd__stored_close(mrd__stored **in)
{
    if (in == NULL || *in == NULL) return;
    mrd__stored *stored = *in;
    *in = NULL;
    mrd__buf_reset(&stored->identity);
    mrd__buf_reset(&stored->manifest_text);
    mrd__buf_reset(&stored->seal_text);
    if (stored->sealed) mrd__sealed_reset(&stored->manifest);
    mrd__vec_reset(&stored->segments);
    mrd__vec_reset(&stored->notes);
    mrd__free(stored->dir);
    mrd__free(stored);
}

const char *mrd__stored_dir(const mrd__stored *stored)
{
    return stored->dir;
}

const uint8_t *mrd__stored_uuid(const mrd__stored *stored)
{
    return stored->uuid;
}

mrd__str mrd__stored_identity(const mrd__stored *stored)
{
    return (mrd__str){stored->identity.data, stored->identity.size};
}

bool mrd__stored_sealed(const mrd__stored *stored)
{
    return stored->sealed;
}

mrd__str mrd__stored_manifest(const mrd__stored *stored)
{
    return (mrd__str){stored->manifest_text.data, stored->manifest_text.size};
}

/* ---- Reading ---- */

static mrd_status fail_damaged(const mrd__damage *damage, mrd_error *error)
{
    mrd__fail(error, MRD_ERR_FORMAT, "damaged", "bytes %llu to %llu are damaged: %s",
              (unsigned long long)damage->from, (unsigned long long)damage->to, damage->what);
    return mrd__fail_at(error, MRD_ERR_FORMAT, damage->file, (int64_t)damage->from);
}

mrd_status mrd__stored_read(mrd__stored *stored, mrd__record_fn record, void *ctx,
                            mrd__damage *torn, mrd_error *error)
{
    mrd__walk walk = {.record = record, .ctx = ctx};
    mrd_error why = {0};
    mrd_status status = mrd__walk_raw(stored, &walk, &why);
    if (status != MRD_OK && error != NULL) *error = why;
    if (torn != NULL) *torn = walk.cut;
    if (status == MRD_OK && walk.damaged) status = fail_damaged(&walk.damage, error);
    mrd__walk_reset(&walk);
    return status;
}

mrd_status mrd__stored_read_derived(mrd__stored *stored, mrd__file_kind kind, mrd__record_fn record,
                                    void *ctx, mrd_error *error)
{
    const char *name = kind == MRD__FILE_DOMAIN ? "domain.mrl" : "metrics.mrl";
    mrd__open_file file;
    mrd_error why = {0};
    mrd_status status = mrd__open_file_begin(&file, stored, name, &why);
    if (status != MRD_OK) {
        if (error != NULL) *error = why;
        return status;
    }
    mrd__reader reader;
    mrd__record got;
    mrd__byte_source source = mrd__open_file_source(&file);
    mrd__reader_source(&reader, &source, file.size);
    mrd__read_step step = mrd__reader_head(&reader, &why);
    bool ours = step != MRD__STEP_RECORD ||
                (reader.head.kind == kind && memcmp(reader.head.uuid, stored->uuid, 16) == 0);
    while (ours && status == MRD_OK &&
           (step = mrd__reader_next(&reader, &got, &why)) == MRD__STEP_RECORD)
        status = record(ctx, &got, &why);
    mrd__damage damage = {0};
    if (!ours)
        mrd__damage_set(&damage, name, 0, MRD__SEGMENT_HEAD, "a file of another session or kind");
    else if (step == MRD__STEP_BAD)
        mrd__damage_set(&damage, name, reader.bad.from, reader.bad.to, reader.bad.what);
    if (step == MRD__STEP_FAILED) status = why.status;
    if (status != MRD_OK && error != NULL) *error = why;
    if (status == MRD_OK && damage.file[0] != '\0') status = fail_damaged(&damage, error);
    mrd__reader_reset(&reader);
    mrd__open_file_end(&file);
    return status;
}

/* ---- Lookup ---- */

/* The newest segment with a header whose first sequence is not above; segments.count: none. A
 * segment cut short may hold the sequence, too, but the later one counts. */
static size_t segment_of(const mrd__stored *stored, uint64_t sequence)
{
    for (size_t i = stored->segments.count; i-- > 0;) {
        const mrd__stored_segment *segment = &stored->segments.data[i];
        if (segment->headed && segment->head.first_sequence <= sequence) return i;
    }
    return stored->segments.count;
}

static const mrd__stored_note *nearest_note(const mrd__stored *stored, size_t segment,
                                            uint64_t sequence)
{
    const mrd__stored_note *best = NULL;
    for (size_t i = 0; i < stored->notes.count; i++) {
        const mrd__stored_note *note = &stored->notes.data[i];
        if (note->segment != segment || note->reader.sequence >= sequence) continue;
        if (best == NULL || note->reader.sequence > best->reader.sequence) best = note;
    }
    return best;
}

static void add_note(mrd__stored *stored, size_t segment, const mrd__reader *reader)
{
    const mrd__stored_note *near = nearest_note(stored, segment, reader->sequence + 1);
    if (near != NULL && reader->at - near->reader.at < NOTE_RECORDS * MRD__RECORD_HEAD) return;
    mrd__stored_note note = {.segment = segment};
    note.reader.head = reader->head;
    note.reader.head_read = true;
    note.reader.at = reader->at;
    note.reader.chain = reader->chain;
    note.reader.sequence = reader->sequence;
    note.reader.records = reader->records;
    mrd__vec_push(&stored->notes, note);
}

static mrd_status no_sequence(uint64_t sequence, uint64_t last, mrd_error *error)
{
    return mrd__fail(error, MRD_ERR_NOT_FOUND, "no_such_sequence",
                     "no raw record has the sequence %llu; there are 1 to %llu, gaps excepted",
                     (unsigned long long)sequence, (unsigned long long)last);
}

static mrd_status scan(mrd__stored *stored, size_t at, mrd__reader *reader, uint64_t sequence,
                       mrd__record *record, mrd__buf *out, mrd_error *error)
{
    mrd__read_step step;
    uint64_t passed = 0;
    while ((step = mrd__reader_next(reader, record, error)) == MRD__STEP_RECORD) {
        if (++passed % NOTE_RECORDS == 0) add_note(stored, at, reader);
        if (reader->sequence > sequence) break;
        if (record->sequence != sequence || !mrd__record_takes_sequence(record->type)) continue;
        size_t from = out->size;
        mrd__buf_add(out, record->payload, record->size);
        record->payload = (const uint8_t *)out->data + from;
        return MRD_OK;
    }
    if (step == MRD__STEP_FAILED) return error != NULL ? error->status : MRD_ERR_IO;
    if (step == MRD__STEP_BAD && (!reader->bad.torn || stored->sealed)) {
        mrd__damage damage;
        char name[32];
        mrd__segment_name(stored->segments.data[at].index, name);
        mrd__damage_set(&damage, name, reader->bad.from, reader->bad.to, reader->bad.what);
        return fail_damaged(&damage, error);
    }
    return no_sequence(sequence, reader->sequence, error);
}

mrd_status mrd__stored_lookup(mrd__stored *stored, uint64_t sequence, mrd__record *record,
                              mrd__buf *out, mrd_error *error)
{
    size_t at = sequence == 0 ? stored->segments.count : segment_of(stored, sequence);
    if (at == stored->segments.count) return no_sequence(sequence, 0, error);
    const mrd__stored_segment *segment = &stored->segments.data[at];
    char name[32];
    mrd__open_file file;
    mrd__reader reader;
    mrd_error why = {0};
    mrd__segment_name(segment->index, name);
    mrd_status status = mrd__open_file_begin(&file, stored, name, &why);
    if (status == MRD_OK) {
        mrd__byte_source source = mrd__open_file_source(&file);
        const mrd__stored_note *note = nearest_note(stored, at, sequence);
        uint64_t bytes = file.size;
        uint64_t tail = 0;
        if (stored->sealed && mrd__sealed_bytes(stored, name, &bytes, &tail) && bytes > file.size)
            bytes = file.size;
        mrd__reader_source(&reader, &source, bytes);
        if (note != NULL)
            mrd__reader_resume(&reader, &note->reader);
        else
            mrd__reader_follow(&reader, segment->head.first_sequence - 1, MRD__RECORDS_UNKNOWN);
        status = scan(stored, at, &reader, sequence, record, out, &why);
        mrd__reader_reset(&reader);
        mrd__open_file_end(&file);
    }
    if (status != MRD_OK && error != NULL) *error = why;
    return status;
}
