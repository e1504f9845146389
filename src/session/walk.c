/* Segments follow one another by hash: each header holds that of the segment before, as far as it
 * counts; the first one that of session.json. So where a sync failed and a segment was cut short,
 * its end is the border whose hash the next header names; and a file without a header, left by a
 * segment that could not be begun, may be passed over only when the hashes around it meet.
 *
 * In a sealed session the manifest says where each segment ends and what its hash is: the file that
 * differs is named, not its neighbour. */
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

/* Bytes of a file behind the end of its segment. */
typedef struct behind {
    uint32_t index;
    uint64_t from, to;
    uint64_t records; /* of the session up to there */
    bool told;
} behind;

typedef struct step {
    mrd__stored *stored;
    mrd__walk *walk;
    size_t at;                       /* segment */
    const mrd__stored_segment *next; /* the next one with a header, or NULL */
    const mrd__entry *sealed;        /* what the manifest says of this one; NULL: not sealed */
    char name[32];
    uint8_t previous[16]; /* of the newest segment with a header; at first of session.json */
    mrd__log_segment found;
    MRD__VEC(behind) behind;
} step;

static void damage(step *s, uint64_t from, uint64_t to, const char *what)
{
    s->walk->damaged = true;
    mrd__damage_set(&s->walk->damage, s->name, from, to, what);
}

/* A bad place in the file: a torn tail where no segment with a header follows (a file without one
 * is what a crash leaves of a segment that was being begun), else damage. */
static void judge(step *s, const mrd__reader *reader)
{
    const mrd__bad_range *bad = &reader->bad;
    if (s->next != NULL || !bad->torn || s->stored->sealed) {
        damage(s, bad->from, bad->to, bad->what);
        return;
    }
    if (s->walk->torn) return; /* the first place counts */
    s->walk->torn = true;
    s->walk->cut_at = s->at;
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
    if (s->sealed != NULL || s->next == NULL ||
        s->next->head.first_sequence != reader->sequence + 1)
        return false;
    uint8_t hash[32];
    mrd__sha256 copy = reader->hash;
    mrd__sha256_end(&copy, hash);
    return memcmp(hash, s->next->head.previous, 16) == 0;
}

/* A gap record of the log writer says which segment was cut short. */
static void note_gap(step *s, const mrd__record *record)
{
    mrd__gap_payload gap;
    if (!mrd__gap_read(record, &gap) || gap.code != MRD__GAP_SYNC_FAILED) return;
    for (size_t i = 0; i < s->behind.count; i++)
        if (s->behind.data[i].index == gap.segment) s->behind.data[i].told = true;
}

/* Bytes behind a segment's end without such a record, though there are later ones. */
static void check_behind(step *s)
{
    for (size_t i = 0; i < s->behind.count && !s->walk->damaged; i++) {
        const behind *at = &s->behind.data[i];
        if (at->told || at->records == s->walk->records) continue;
        mrd__segment_name(at->index, s->name);
        damage(s, at->from, at->to, "bytes behind the segment's end that no record tells of");
    }
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

/* The frames are whole to the end: is it the end that others know of? */
static void check_end(step *s, const mrd__reader *reader, bool border)
{
    uint64_t end = reader->at;
    if (s->sealed != NULL) {
        if (end == s->sealed->bytes && memcmp(s->found.sha256, s->sealed->sha256, 32) != 0)
            damage(s, 0, end, "the SHA-256 differs from the manifest's");
        return;
    }
    /* What lies between this segment and one that does not come directly after it is judged there.
     */
    if (border || s->next == NULL || s->next->index != s->at + 2) return;
    bool cut = s->next->head.first_sequence > reader->sequence + 1;
    damage(s, cut ? end : 0, end, "the segment behind it does not follow this one");
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
        note_gap(s, &record);
        status = tell(s->walk, &record, error);
        border = at_border(s, reader);
    }
    if (got == MRD__STEP_FAILED) return error != NULL ? error->status : MRD_ERR_IO;
    if (status != MRD_OK) return status;
    close_found(s, reader);
    if (got == MRD__STEP_BAD)
        judge(s, reader);
    else
        check_end(s, reader, border);
    return MRD_OK;
}

static mrd_status walk_headed(step *s, mrd__open_file *file, uint64_t size, mrd_error *error)
{
    const mrd__segment_head *head = &s->stored->segments.data[s->at].head;
    mrd__reader reader;
    mrd__byte_source source = mrd__open_file_source(file);
    if (s->at == 0 && memcmp(head->previous, s->previous, 16) != 0) {
        s->walk->damaged = true;
        mrd__damage_set(&s->walk->damage, MRD__IDENTITY, 0, s->stored->identity.size,
                        "not the file that the first segment was begun with");
        return MRD_OK;
    }
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

static void found_nothing(step *s)
{
    mrd__sha256 none;
    mrd__sha256_begin(&none);
    mrd__sha256_end(&none, s->found.sha256);
    s->found.headless = true;
    s->found.last = s->walk->sequence;
}

/* No header: a segment that was never begun on disk, or one whose first bytes are damaged. Where
 * another with a header follows, its hash decides, later. */
static mrd_status walk_headless(step *s, mrd__open_file *file, mrd_error *error)
{
    mrd__reader reader;
    mrd__byte_source source = mrd__open_file_source(file);
    found_nothing(s);
    if (s->next != NULL && memcmp(s->next->head.previous, s->previous, 16) == 0) return MRD_OK;
    mrd__reader_source(&reader, &source, file->size);
    mrd__reader_follow(&reader, s->walk->sequence, s->walk->records);
    mrd__read_step got =
        mrd__reader_refuse(&reader, "no whole header of this session's segment", error);
    if (got == MRD__STEP_BAD) judge(s, &reader);
    mrd__reader_reset(&reader);
    return got == MRD__STEP_BAD ? MRD_OK : error != NULL ? error->status : MRD_ERR_IO;
}

static const mrd__entry *sealed_entry(const mrd__stored *stored, const char *name)
{
    for (size_t i = 0; i < stored->manifest.entries.count; i++)
        if (strcmp(stored->manifest.entries.data[i].path, name) == 0)
            return &stored->manifest.entries.data[i];
    return NULL;
}

bool mrd__sealed_bytes(const mrd__stored *stored, const char *name, uint64_t *bytes, uint64_t *tail)
{
    const mrd__entry *entry = sealed_entry(stored, name);
    if (entry == NULL) return false;
    *bytes = entry->bytes;
    *tail = entry->tail;
    return true;
}

/* A cut between two records, or bytes behind the last one, are seen by the length alone. */
static void check_size(step *s, uint64_t size)
{
    uint64_t whole = s->sealed->bytes + s->sealed->tail;
    if (size < whole && (!s->walk->damaged || s->found.bytes == size))
        damage(s, size, whole, "the file is shorter than it was sealed");
    else if (size > whole && !s->walk->damaged)
        damage(s, whole, size, "the file is longer than it was sealed");
}

static mrd_status walk_segment(step *s, mrd_error *error)
{
    const mrd__stored_segment *segment = &s->stored->segments.data[s->at];
    mrd__open_file file;
    s->found = (mrd__log_segment){.index = segment->index, .first = s->walk->sequence + 1};
    mrd__segment_name((uint32_t)s->at + 1, s->name);
    if (segment->index != s->at + 1) {
        damage(s, 0, 0, "the segment is missing");
        return MRD_OK;
    }
    uint64_t bytes = segment->size; /* that count */
    if (s->stored->sealed) {
        s->sealed = sealed_entry(s->stored, s->name);
        if (s->sealed == NULL) {
            damage(s, 0, segment->size, "a segment that the manifest does not list");
            return MRD_OK;
        }
        bytes = s->sealed->bytes;
    }
    MRD__TRY(mrd__open_file_begin(&file, s->stored, s->name, error));
    mrd_status status = MRD_OK;
    if (segment->headed && bytes > 0)
        status = walk_headed(s, &file, bytes < segment->size ? bytes : segment->size, error);
    else if (s->sealed == NULL || bytes > 0)
        status = walk_headless(s, &file, error);
    else
        found_nothing(s);
    mrd__open_file_end(&file);
    s->found.tail = segment->size - s->found.bytes;
    if (s->found.tail > 0 && s->at + 1 < s->stored->segments.count) {
        behind tail = {.index = segment->index,
                       .from = s->found.bytes,
                       .to = segment->size,
                       .records = s->walk->records};
        mrd__vec_push(&s->behind, tail);
    }
    if (status == MRD_OK && s->sealed != NULL) check_size(s, segment->size);
    return status;
}

/* The next segment with a header; NULL also where one is missing before it. */
static const mrd__stored_segment *next_headed(const mrd__stored *stored, size_t at)
{
    for (size_t i = at + 1; i < stored->segments.count; i++) {
        const mrd__stored_segment *segment = &stored->segments.data[i];
        if (segment->index != i + 1) return NULL;
        if (segment->headed) return segment;
    }
    return NULL;
}

/* Not one segment is of the session that session.json names. */
static bool all_foreign(const mrd__stored *stored)
{
    for (size_t i = 0; i < stored->segments.count; i++)
        if (stored->segments.data[i].headed) return false;
    return !stored->sealed && stored->segments.count > 0 && stored->segments.data[0].foreign;
}

mrd_status mrd__walk_raw(mrd__stored *stored, mrd__walk *walk, mrd_error *error)
{
    step s = {.stored = stored, .walk = walk};
    mrd_status status = MRD_OK;
    mrd__identity_prefix(mrd__stored_identity(stored), s.previous);
    if (all_foreign(stored)) {
        walk->damaged = true;
        mrd__damage_set(&walk->damage, MRD__IDENTITY, 0, stored->identity.size,
                        "the segments are those of another session");
    }
    for (s.at = 0; s.at < stored->segments.count && !walk->damaged && status == MRD_OK; s.at++) {
        s.next = next_headed(stored, s.at);
        status = walk_segment(&s, error);
        if (status == MRD_OK) mrd__vec_push(&walk->segments, s.found);
    }
    if (status == MRD_OK && !stored->sealed) check_behind(&s);
    mrd__vec_reset(&s.behind);
    return status;
}

void mrd__walk_reset(mrd__walk *walk)
{
    mrd__vec_reset(&walk->segments);
}
