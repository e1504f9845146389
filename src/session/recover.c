/* Recovering: the longest valid prefix up to a torn end is what the session holds. Nothing that
 * was recorded is changed; what is written (recovery.json, manifest, seal) follows from the bytes
 * found alone, so that a second recovery writes the same. */
#include "session/check.h"

#include "base/error.h"
#include "session/format/canonical.h"
#include "session/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

typedef struct names {
    const char *const *names;
    size_t count;
} names;

struct mrd__recovery {
    const mrd__files *files;
    mrd__stored *stored;
    char *final_dir;
    int lock_fd;
    mrd__walk walk;
    mrd__entries entries;
    mrd__entries derived; /* given by the callback */
    names names[MRD__FILE_METRICS + 1];
};

void mrd__recovery_names(mrd__recovery *recovery, mrd__file_kind kind, const char *const *given,
                         size_t count)
{
    recovery->names[kind] = (names){given, count};
}

/* ---- Derived files ---- */

static uint16_t kind_of(const char *name)
{
    if (strcmp(name, "domain.mrl") == 0) return MRD__FILE_DOMAIN;
    return strcmp(name, "metrics.mrl") == 0 ? MRD__FILE_METRICS : 0;
}

static mrd_status count_records(mrd__recovery *recovery, mrd__entry *entry, mrd__str bytes,
                                mrd_error *error)
{
    mrd__reader reader;
    mrd__record record;
    mrd__read_step step;
    mrd__reader_memory(&reader, bytes.data, bytes.size);
    entry->counted = true;
    entry->first = 1;
    entry->names = recovery->names[entry->kind].names;
    entry->name_count = recovery->names[entry->kind].count;
    while ((step = mrd__reader_next(&reader, &record, error)) == MRD__STEP_RECORD) {
        if (entry->last < entry->first) entry->first = record.sequence;
        entry->last = record.sequence;
    }
    memcpy(entry->counts, reader.counts, sizeof entry->counts);
    if (step == MRD__STEP_END) return MRD_OK;
    return mrd__fail(error, MRD_ERR_ARGUMENT, "derived", "%s is no whole record file: %s",
                     entry->path, reader.bad.what);
}

mrd_status mrd__recovery_file(mrd__recovery *recovery, const char *name, mrd__str bytes,
                              mrd_error *error)
{
    mrd__entry entry;
    mrd__entry_of(&entry, name, bytes);
    entry.kind = kind_of(name);
    if (entry.kind != 0) MRD__TRY(count_records(recovery, &entry, bytes, error));
    char *path = mrd__files_join(recovery->stored->dir, name);
    mrd_status status = mrd__files_replace(recovery->files, path, bytes.data, bytes.size, error);
    mrd__free(path);
    if (status == MRD_OK) mrd__vec_push(&recovery->derived, entry);
    return status;
}

static bool was_given(const mrd__recovery *recovery, const char *name)
{
    for (size_t i = 0; i < recovery->derived.count; i++)
        if (strcmp(recovery->derived.data[i].path, name) == 0) return true;
    return false;
}

/* Files that replay could make again and did not: kept as they are, named stale. */
static mrd_status keep_stale(mrd__recovery *recovery, mrd_error *error)
{
    static const char *const known[] = {"domain.mrl", "metrics.mrl", "report.json"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        mrd__entry entry = {.kind = kind_of(known[i]), .stale = true, .first = 1};
        snprintf(entry.path, sizeof entry.path, "%s", known[i]);
        char *path = mrd__files_join(recovery->stored->dir, known[i]);
        int there = recovery->files->exists(recovery->files->ctx, path);
        mrd__free(path);
        if (there == 0 || was_given(recovery, known[i])) continue;
        /* The whole file is a tail of nothing; then it is what counts. */
        MRD__TRY(mrd__entry_tail(&entry, recovery->files, recovery->stored->dir, error));
        entry.bytes = entry.tail;
        memcpy(entry.sha256, entry.tail_sha256, 32);
        entry.tail = 0;
        mrd__vec_push(&recovery->entries, entry);
    }
    return MRD_OK;
}

/* ---- What is sealed ---- */

static mrd_status add_segments(mrd__recovery *recovery, mrd_error *error)
{
    for (size_t i = 0; i < recovery->walk.segments.count; i++) {
        mrd__entry entry;
        mrd__entry_of_segment(&entry, &recovery->walk.segments.data[i]);
        bool told = recovery->walk.torn && i >= recovery->walk.cut_at;
#ifdef MRD_PLANTED_BUGS /* what the fuzzer of sessions' files must find */
        if (entry.tail < 5) {
            told = false;
            entry.tail = 0;
        }
#endif
        if (entry.tail > 0 || told)
            MRD__TRY(mrd__entry_tail(&entry, recovery->files, recovery->stored->dir, error));
        mrd__vec_push(&recovery->entries, entry);
    }
    return MRD_OK;
}

/* Files behind the torn one, left by segments that were being begun; and the end of the object. */
static void add_behind(const mrd__recovery *recovery, mrd__buf *text)
{
    const char *before = ",\"behind\":[";
    for (size_t i = recovery->walk.cut_at + 2; i <= recovery->walk.segments.count; i++) {
        const mrd__entry *entry = &recovery->entries.data[i];
        char hash[65];
        mrd__sha256_text(entry->tail_sha256, hash);
        mrd__buf_printf(text, "%s{\"file\":\"%s\",\"bytes\":%llu,\"sha256\":\"%s\"}", before,
                        entry->path, (unsigned long long)entry->tail, hash);
        before = ",";
    }
    mrd__buf_text(text, recovery->walk.cut_at + 1 < recovery->walk.segments.count ? "]}}" : "}}");
}

/* recovery.json: what was cut. */
static mrd_status write_report(mrd__recovery *recovery, mrd_error *error)
{
    const mrd__walk *walk = &recovery->walk;
    mrd__buf text = {0};
    mrd__buf canonical = {0};
    char uuid[37];
    char hash[65];
    mrd__uuid_text(recovery->stored->uuid, uuid);
    mrd__buf_printf(&text,
                    "{\"format\":\"%s\",\"version\":%d,\"session\":\"%s\",\"sequences\":%llu,"
                    "\"raw_records\":%llu,\"cut\":",
                    MRD__FORMAT_NAME, MRD__FORMAT_VERSION, uuid, (unsigned long long)walk->sequence,
                    (unsigned long long)walk->records);
    if (walk->torn) {
        const mrd__entry *torn =
            &recovery->entries.data[1 + walk->cut_at]; /* behind session.json */
        mrd__sha256_text(torn->tail_sha256, hash);
        mrd__buf_printf(&text, "{\"file\":\"%s\",\"offset\":%llu,\"bytes\":%llu,\"sha256\":\"%s\",",
                        walk->cut.file, (unsigned long long)walk->cut.from,
                        (unsigned long long)torn->tail, hash);
        mrd__buf_printf(&text, "\"reason\":\"%s\",\"what\":", walk->cut_zero ? "zero" : "torn");
        mrd__buf_json_string(&text, mrd__str_of(walk->cut.what));
        add_behind(recovery, &text);
    } else {
        mrd__buf_text(&text, "null}");
    }
    mrd_status status = mrd__canonical_json(&canonical, (mrd__str){text.data, text.size}, error);
    char *path = mrd__files_join(recovery->stored->dir, MRD__RECOVERY);
    if (status == MRD_OK)
        status = mrd__files_replace(recovery->files, path, canonical.data, canonical.size, error);
    if (status == MRD_OK) {
        mrd__entry entry;
        mrd__entry_of(&entry, MRD__RECOVERY, (mrd__str){canonical.data, canonical.size});
        mrd__vec_push(&recovery->entries, entry);
    }
    mrd__free(path);
    mrd__buf_reset(&text);
    mrd__buf_reset(&canonical);
    return status;
}

static mrd_status seal(mrd__recovery *recovery, mrd__str more, mrd_error *error)
{
    static const char *const reasons[] = {"crash"};
    mrd__ranges missing = {0};
    const mrd__files *files = recovery->files;
    const char *dir = recovery->stored->dir;
    mrd__manifest_facts facts = {
        .uuid = recovery->stored->uuid,
        .entries = &recovery->entries,
        .merkle = &recovery->walk.merkle,
        .records = recovery->walk.records,
        .sequences = recovery->walk.sequence,
        .missing = &missing,
        .reasons = reasons,
        .reason_count = 1,
        .more = more,
    };
    MRD__TRY(mrd__entries_protect(&recovery->entries, files, dir, error));
    return mrd__seal_write(files, dir, &facts, error);
}

static mrd_status rename_dir(mrd__recovery *recovery, mrd_error *error)
{
    const mrd__files *files = recovery->files;
    const char *dir = recovery->stored->dir;
    if (strcmp(dir, recovery->final_dir) == 0) return MRD_OK;
    if (files->rename_new(files->ctx, dir, recovery->final_dir) != 0)
        return mrd__fail_errno(error, recovery->final_dir,
                               "cannot rename the session's folder to it");
    return mrd__files_sync_parent(files, recovery->final_dir, error);
}

/* ---- The sequence ---- */

static mrd_status lock_session(mrd__recovery *recovery, mrd_error *error)
{
    const mrd__files *files = recovery->files;
    char *path = mrd__files_join(recovery->stored->dir, MRD__IDENTITY);
    mrd_status status = MRD_OK;
    recovery->lock_fd = mrd__files_open(files, path, O_RDONLY, 0, error);
    if (recovery->lock_fd < 0) status = MRD_ERR_IO;
    if (status == MRD_OK && files->lock(files->ctx, recovery->lock_fd) != 0) {
        status = mrd__fail(error, MRD_ERR_STATE, "recording", "the session is being recorded");
        status = mrd__fail_at(error, status, path, -1);
    }
    mrd__free(path);
    return status;
}

static mrd_status fail_damaged(const mrd__damage *damage, mrd_error *error)
{
    mrd__fail(error, MRD_ERR_FORMAT, "damaged",
              "bytes %llu to %llu are damaged and no torn tail (%s): nothing was changed",
              (unsigned long long)damage->from, (unsigned long long)damage->to, damage->what);
    return mrd__fail_at(error, MRD_ERR_FORMAT, damage->file, (int64_t)damage->from);
}

static mrd_status walk_raw(mrd__recovery *recovery, mrd__recover_result *result,
                           mrd__damage *damage, mrd_error *error)
{
    mrd__walk *walk = &recovery->walk;
    mrd__stored *stored = recovery->stored;
    walk->leaves = true;
    MRD__TRY(mrd__walk_raw(stored, walk, error));
    if (!walk->damaged && stored->strange > 0) {
        walk->damaged = true;
        mrd__damage_set(&walk->damage, stored->strange_name, 0, 1, "no file of the session");
    }
    if (walk->damaged) {
        if (damage != NULL) *damage = walk->damage;
        return fail_damaged(&walk->damage, error);
    }
    result->sequences = walk->sequence;
    result->records = walk->records;
    result->segments = walk->segments.count;
    result->cut = walk->cut;
    for (size_t i = walk->cut_at; walk->torn && i < walk->segments.count; i++)
        result->cut_bytes += walk->segments.data[i].tail;
    return MRD_OK;
}

static void add_identity(mrd__recovery *recovery)
{
    mrd__entry entry;
    mrd__entry_of(&entry, MRD__IDENTITY, mrd__stored_identity(recovery->stored));
    mrd__vec_push(&recovery->entries, entry);
}

static mrd_status recover(mrd__recovery *recovery, mrd__recover_fn derive, void *ctx,
                          mrd__recover_result *result, mrd__damage *damage, mrd_error *error)
{
    mrd__buf facts = {0};
    MRD__TRY(lock_session(recovery, error));
    MRD__TRY(walk_raw(recovery, result, damage, error));
    add_identity(recovery);
    MRD__TRY(add_segments(recovery, error));
    MRD__TRY(write_report(recovery, error));
    mrd_status status = MRD_OK;
    if (derive != NULL) status = derive(ctx, recovery, recovery->stored, &facts, error);
    for (size_t i = 0; i < recovery->derived.count; i++)
        mrd__vec_push(&recovery->entries, recovery->derived.data[i]);
    if (status == MRD_OK) status = keep_stale(recovery, error);
    if (status == MRD_OK) status = seal(recovery, (mrd__str){facts.data, facts.size}, error);
    mrd__buf_reset(&facts);
    return status == MRD_OK ? rename_dir(recovery, error) : status;
}

static char *final_of(const char *dir)
{
    size_t length = strlen(dir);
    bool open = length > 5 && strcmp(dir + length - 5, ".open") == 0;
    return mrd__strndup(dir, open ? length - 5 : length);
}

/* A seal that fits: what is left is at most the folder's rename. */
static mrd_status already_sealed(mrd__recovery *recovery, mrd__recover_result *result,
                                 mrd_error *error)
{
    const mrd__sealed *manifest = &recovery->stored->manifest;
    result->was_sealed = true;
    result->sequences = manifest->sequences;
    result->records = manifest->records;
    result->segments = recovery->stored->segments.count;
    return rename_dir(recovery, error);
}

mrd_status mrd__session_recover(const char *dir, const mrd__files *files, mrd__recover_fn derive,
                                void *ctx, mrd__recover_result *result, mrd__damage *damage,
                                mrd_error *error)
{
    mrd__recovery recovery = {.files = files != NULL ? files : mrd__files_system(), .lock_fd = -1};
    mrd_error why = {0}; /* callees read statuses from it */
    *result = (mrd__recover_result){0};
    if (damage != NULL) *damage = (mrd__damage){0};
    mrd_status status = mrd__stored_open(dir, files, &recovery.stored, &why);
    if (status == MRD_OK) {
        recovery.final_dir = final_of(recovery.stored->dir);
        bool open = strcmp(recovery.final_dir, recovery.stored->dir) != 0;
        const mrd__stored *stored = recovery.stored;
        if (stored->sealed) {
            status = already_sealed(&recovery, result, &why);
        } else if (!open || stored->bad_manifest) {
            /* Sealing alone gives a folder the final name, so there was a seal. */
            mrd__damage bad;
            if (stored->bad_manifest)
                mrd__damage_set(&bad, stored->wrong, stored->wrong_from, stored->wrong_to,
                                stored->what);
            else
                mrd__damage_set(&bad, MRD__SEAL, 0, 1, "the seal is missing");
            if (damage != NULL) *damage = bad;
            status = fail_damaged(&bad, &why);
        } else {
            status = recover(&recovery, derive, ctx, result, damage, &why);
        }
        mrd__stored_close(&recovery.stored);
    }
    if (recovery.lock_fd >= 0) (void)recovery.files->close(recovery.files->ctx, recovery.lock_fd);
    mrd__walk_reset(&recovery.walk);
    mrd__vec_reset(&recovery.entries);
    mrd__vec_reset(&recovery.derived);
    mrd__free(recovery.final_dir);
    if (status != MRD_OK && error != NULL) *error = why;
    return status;
}
