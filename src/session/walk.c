/* Segments follow one another by hash: each header holds that of the segment before, as far as it
 * counts. So where a sync failed and a segment was cut short, its end is the border whose hash the
 * next header names; and a file without a header, left by a segment that could not be begun, may be
 * passed over only when the hashes around it meet. */
#include "session/walk.h"

#include "base/error.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

void mrd__damage_set(mrd__damage *damage, const char *file, uint64_t from, uint64_t to,
                     const char *what)
{
    *damage = (mrd__damage){.from = from, .to = to};
    snprintf(damage->file, sizeof damage->file, "%s", file);
    snprintf(damage->what, sizeof damage->what, "%s", what);
}

void mrd__segment_name(uint32_t index, char out[32])
{
    snprintf(out, 32, "raw/%06u.mrl", index);
}

/* ---- Files ---- */

static mrd_status read_file(void *ctx, uint64_t offset, void *out, size_t size, size_t *got,
                            mrd_error *error)
{
    mrd__open_file *file = ctx;
    return mrd__files_pread(file->files, file->fd, offset, out, size, got, file->path, error);
}

mrd_status mrd__open_file_begin(mrd__open_file *file, const mrd__stored *stored, const char *name,
                                mrd_error *error)
{
    *file = (mrd__open_file){.files = stored->files, .fd = -1};
    file->path = mrd__files_join(stored->dir, name);
    mrd_error why = {0};
    file->fd = mrd__files_open(stored->files, file->path, O_RDONLY, 0, &why);
    mrd_status status = file->fd < 0 ? why.status : MRD_OK;
    if (status == MRD_OK && stored->files->size(stored->files->ctx, file->fd, &file->size) != 0)
        status = mrd__fail_errno(&why, file->path, "cannot see its size");
    if (status != MRD_OK && error != NULL) *error = why;
    if (status != MRD_OK) mrd__open_file_end(file);
    return status;
}

void mrd__open_file_end(mrd__open_file *file)
{
    if (file->fd >= 0) (void)file->files->close(file->files->ctx, file->fd);
    mrd__free(file->path);
    file->path = NULL;
    file->fd = -1;
}

mrd__byte_source mrd__open_file_source(mrd__open_file *file)
{
    return (mrd__byte_source){file, read_file};
}

/* ---- The walk ---- */

typedef struct step {
    mrd__stored *stored;
    mrd__walk *walk;
    size_t at;                       /* segment */
    const mrd__stored_segment *next; /* the next one with a header, or NULL */
    char name[32];
    uint8_t previous[16]; /* of the newest segment with a header */
    mrd__log_segment found;
} step;

static void damage(step *s, uint64_t from, uint64_t to, const char *what)
{
    s->walk->damaged = true;
    mrd__damage_set(&s->walk->damage, s->name, from, to, what);
}

/* A bad place in the file: a torn tail of the last segment, else damage. */
static void judge(step *s, const mrd__reader *reader)
{
    bool last = s->at + 1 == s->stored->segments.count;
    const mrd__bad_range *bad = &reader->bad;
    if (!last || !bad->torn || s->stored->sealed) {
        damage(s, bad->from, bad->to, bad->what);
        return;
    }
    s->walk->torn = true;
    s->walk->cut_zero = bad->zero;
    mrd__damage_set(&s->walk->cut, s->name, bad->from, s->stored->segments.data[s->at].size,
                    bad->what);
}

static void close_found(step *s, const mrd__reader *reader)
{
    mrd__log_segment *found = &s->found;
    found->bytes = reader->at;
    for (int i = 0; i < MRD__RECORD_RAW_TYPES; i++)
        found->counts[i] = reader->counts[i];
    mrd__sha256 copy = reader->hash;
    mrd__sha256_end(&copy, found->sha256);
    memcpy(s->previous, found->sha256, sizeof s->previous);
    found->last = reader->sequence;
    s->walk->sequence = reader->sequence;
    s->walk->records = reader->records;
}

/* True at the border that the next header names. */
static bool at_border(const step *s, const mrd__reader *reader)
{
    if (s->next == NULL || s->next->head.first_sequence != reader->sequence + 1) return false;
    uint8_t hash[32];
    mrd__sha256 copy = reader->hash;
    mrd__sha256_end(&copy, hash);
    return memcmp(hash, s->next->head.previous, 16) == 0;
}

static mrd_status tell(mrd__walk *walk, const mrd__record *record, mrd_error *error)
{
    if (walk->leaves) {
        uint8_t leaf[32];
        mrd__merkle_leaf(record->payload - MRD__RECORD_HEAD, record->end - record->offset, leaf);
        mrd__merkle_add(&walk->merkle, leaf);
    }
    return walk->record == NULL ? MRD_OK : walk->record(walk->ctx, record, error);
}

static mrd_status read_records(step *s, mrd__reader *reader, mrd_error *error)
{
    mrd__record record;
    mrd_status status = MRD_OK;
    mrd__read_step got = mrd__reader_head(reader, error);
    bool border = got == MRD__STEP_RECORD && at_border(s, reader);
    while (got == MRD__STEP_RECORD && !border && status == MRD_OK) {
        got = mrd__reader_next(reader, &record, error);
        if (got != MRD__STEP_RECORD) break;
        status = tell(s->walk, &record, error);
        border = at_border(s, reader);
    }
    if (got == MRD__STEP_FAILED) return error != NULL ? error->status : MRD_ERR_IO;
    if (status != MRD_OK) return status;
    close_found(s, reader);
    uint64_t limit = reader->at;
    if (got == MRD__STEP_BAD)
        judge(s, reader);
    else if (s->next != NULL && !border)
        damage(s, 0, limit, "the segment behind it does not follow this one");
    return MRD_OK;
}

static mrd_status walk_headed(step *s, mrd__open_file *file, uint64_t size, mrd_error *error)
{
    const mrd__segment_head *head = &s->stored->segments.data[s->at].head;
    mrd__reader reader;
    mrd__byte_source source = mrd__open_file_source(file);
    if (memcmp(head->previous, s->previous, 16) != 0 ||
        head->first_sequence != s->walk->sequence + 1) {
        damage(s, 0, MRD__SEGMENT_HEAD, "the segment does not follow the one before it");
        return MRD_OK;
    }
    mrd__reader_source(&reader, &source, size);
    mrd__reader_follow(&reader, s->walk->sequence, s->walk->records);
    mrd__reader_hash(&reader);
    mrd_status status = read_records(s, &reader, error);
    mrd__reader_reset(&reader);
    return status;
}

/* No header: a segment that was never begun on disk, or one whose first bytes are damaged. Where
 * another with a header follows, its hash decides, later. */
static mrd_status walk_headless(step *s, mrd__open_file *file, mrd_error *error)
{
    mrd__reader reader;
    mrd__byte_source source = mrd__open_file_source(file);
    s->found.headless = true;
    mrd__sha256 none;
    mrd__sha256_begin(&none);
    mrd__sha256_end(&none, s->found.sha256);
    s->found.last = s->walk->sequence;
    if (s->next != NULL && memcmp(s->next->head.previous, s->previous, 16) == 0) return MRD_OK;
    bool last = s->at + 1 == s->stored->segments.count;
    mrd__reader_source(&reader, &source, file->size);
    mrd__reader_follow(&reader, s->walk->sequence, s->walk->records);
    mrd__read_step got =
        mrd__reader_refuse(&reader, "no whole header of this session's segment", error);
    if (got == MRD__STEP_BAD && (s->next != NULL || last || !reader.bad.torn)) judge(s, &reader);
    mrd__reader_reset(&reader);
    return got == MRD__STEP_BAD ? MRD_OK : error != NULL ? error->status : MRD_ERR_IO;
}

bool mrd__sealed_bytes(const mrd__stored *stored, const char *name, uint64_t *bytes, uint64_t *tail)
{
    for (size_t i = 0; i < stored->manifest.entries.count; i++) {
        const mrd__entry *entry = &stored->manifest.entries.data[i];
        if (strcmp(entry->path, name) != 0) continue;
        *bytes = entry->bytes;
        *tail = entry->tail;
        return true;
    }
    return false;
}

static mrd_status walk_segment(step *s, mrd_error *error)
{
    const mrd__stored_segment *segment = &s->stored->segments.data[s->at];
    mrd__open_file file;
    uint64_t bytes = segment->size;
    uint64_t tail = 0;
    s->found = (mrd__log_segment){.index = segment->index, .first = s->walk->sequence + 1};
    mrd__segment_name(segment->index, s->name);
    if (segment->index != s->at + 1) {
        mrd__segment_name((uint32_t)s->at + 1, s->name);
        damage(s, 0, 0, "the segment is missing");
        return MRD_OK;
    }
    bool cut = false;
    if (s->stored->sealed) {
        bool listed = mrd__sealed_bytes(s->stored, s->name, &bytes, &tail);
        cut = segment->size < bytes + tail;
        if (!listed)
            damage(s, 0, segment->size, "a segment that the manifest does not list");
        else if (segment->size > bytes + tail)
            damage(s, bytes + tail, segment->size, "the file is longer than it was sealed");
        if (s->walk->damaged) return MRD_OK;
        if (bytes > segment->size) bytes = segment->size;
    }
    MRD__TRY(mrd__open_file_begin(&file, s->stored, s->name, error));
    mrd_status status = MRD_OK;
    if (segment->headed && bytes > 0)
        status = walk_headed(s, &file, bytes, error);
    else if (!s->stored->sealed || bytes > 0)
        status = walk_headless(s, &file, error);
    else
        s->found.headless = true;
    mrd__open_file_end(&file);
    s->found.tail = segment->size - s->found.bytes;
    /* A cut between two records is seen by the length alone. */
    if (status == MRD_OK && cut && (!s->walk->damaged || s->found.bytes == segment->size))
        damage(s, segment->size, segment->size + 1, "the file is shorter than it was sealed");
    return status;
}

mrd_status mrd__walk_raw(mrd__stored *stored, mrd__walk *walk, mrd_error *error)
{
    step s = {.stored = stored, .walk = walk};
    for (s.at = 0; s.at < stored->segments.count && !walk->damaged; s.at++) {
        s.next = NULL;
        for (size_t i = s.at + 1; i < stored->segments.count && s.next == NULL; i++)
            if (stored->segments.data[i].headed) s.next = &stored->segments.data[i];
        MRD__TRY(walk_segment(&s, error));
        mrd__vec_push(&walk->segments, s.found);
    }
    return MRD_OK;
}

void mrd__walk_reset(mrd__walk *walk)
{
    mrd__vec_reset(&walk->segments);
}
