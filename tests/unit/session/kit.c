#include "kit.h"

#include "base/error.h"
#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void kit_begin(kit *k)
{
    snprintf(k->root, sizeof k->root, "/tmp/meridian-session-XXXXXX");
    assert_non_null(mkdtemp(k->root));
    snprintf(k->dir, sizeof k->dir, "%s/s", k->root);
    snprintf(k->open_dir, sizeof k->open_dir, "%s.open", k->dir);
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info;
    (void)type;
    (void)at;
    return remove(path);
}

void kit_remove(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void kit_end(kit *k)
{
    kit_remove(k->root);
}

/* ---- Folders ---- */

static char copy_to[512];
static size_t copy_skip;

static int copy_one(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info;
    (void)at;
    char to[1024];
    snprintf(to, sizeof to, "%s%s", copy_to, path + copy_skip);
    if (type == FTW_D) return mkdir(to, 0777);
    mrd__buf bytes = {0};
    mrd_error error = {0};
    assert_int_equal(mrd__file_read(&bytes, path, (size_t)1 << 30, &error), MRD_OK);
    FILE *out = fopen(to, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes.size > 0 ? bytes.data : "", 1, bytes.size, out), bytes.size);
    fclose(out);
    mrd__buf_reset(&bytes);
    return 0;
}

void kit_copy(const char *from, const char *to)
{
    snprintf(copy_to, sizeof copy_to, "%s", to);
    copy_skip = strlen(from);
    assert_int_equal(nftw(from, copy_one, 16, FTW_PHYS), 0);
}

static mrd__buf listing;
static size_t listing_skip;

static int list_one(const char *path, const struct stat *info, int type, struct FTW *at)
{
    (void)info;
    (void)at;
    if (type == FTW_D) return 0;
    mrd__buf bytes = {0};
    mrd_error error = {0};
    assert_int_equal(mrd__file_read(&bytes, path, (size_t)1 << 30, &error), MRD_OK);
    /* Added up, since the order of a folder's names is its own. */
    uint64_t sum = mrd__hash(path + listing_skip, strlen(path + listing_skip));
    sum = mrd__hash_mix(sum, mrd__hash(bytes.data, bytes.size) ^ bytes.size);
    uint64_t *total = (uint64_t *)(void *)listing.data;
    *total += sum;
    mrd__buf_reset(&bytes);
    return 0;
}

static uint64_t sum_of(const char *folder)
{
    uint64_t zero = 0;
    mrd__buf_clear(&listing);
    mrd__buf_add(&listing, &zero, sizeof zero);
    listing_skip = strlen(folder);
    assert_int_equal(nftw(folder, list_one, 16, FTW_PHYS), 0);
    memcpy(&zero, listing.data, sizeof zero);
    mrd__buf_reset(&listing);
    return zero;
}

bool kit_same(const char *left, const char *right)
{
    return sum_of(left) == sum_of(right);
}

uint64_t kit_count_of(uint64_t quick, uint64_t big)
{
    const char *size = getenv("MRD_SESSION_FAULTS");
    return size != NULL && strcmp(size, "big") == 0 ? big : quick;
}

/* ---- Records ---- */

void kit_must(mrd_status status, const mrd_error *error)
{
    if (status != MRD_OK) fail_msg("%s: %s", error->code, error->message);
}

mrd__recording *kit_create(const kit *k, mrd__recording_options options)
{
    mrd__recording *recording;
    mrd_error error = {0};
    options.dir = k->dir;
    kit_must(mrd__recording_create(&options, &recording, &error), &error);
    return recording;
}

void kit_finish(mrd__recording *recording, const char *facts)
{
    mrd_error error = {0};
    mrd__finish end = {.end_event = MRD__STR("{\"event\":\"end\"}"), .facts = facts};
    kit_must(mrd__recording_finish(recording, &end, &error), &error);
}

size_t kit_payload(uint64_t sequence, uint8_t out[KIT_PAYLOAD])
{
    mrd__rng rng = {sequence * 1234567};
    size_t size = (size_t)mrd__rng_below(&rng, sequence % 7 == 0 ? KIT_PAYLOAD + 1 : 90);
    for (size_t i = 0; i < size; i++)
        out[i] = (uint8_t)mrd__rng_next(&rng);
    return size;
}

mrd_status kit_append(mrd__recording *recording, mrd_error *error)
{
    uint8_t payload[KIT_PAYLOAD];
    mrd__room room;
    mrd__slot slot;
    MRD__TRY(mrd__recording_room(recording, KIT_PAYLOAD, 0, true, &room, error));
    mrd__recording_state state;
    mrd__recording_state_get(recording, &state);
    size_t size = kit_payload(state.reserved + 1, payload);
    mrd__recording_reserve(recording, &room, MRD__RECORD_RAW, size, &slot);
    assert_int_equal(slot.sequence, state.reserved + 1);
    if (size > 0) memcpy(slot.payload, payload, size);
    assert_true(mrd__recording_commit(recording, &slot));
    return MRD_OK;
}

typedef struct reading {
    uint64_t last;
} reading;

static mrd_status look(void *ctx, const mrd__record *record, mrd_error *error)
{
    reading *r = ctx;
    (void)error;
    if (!mrd__record_takes_sequence(record->type)) return MRD_OK;
    uint8_t want[KIT_PAYLOAD];
    size_t size = kit_payload(record->sequence, want);
    assert_true(record->sequence > r->last);
    assert_int_equal(record->size, size);
    assert_memory_equal(record->payload, want, size);
    r->last = record->sequence;
    return MRD_OK;
}

uint64_t kit_read(const char *dir, const mrd__files *files, mrd_status *status)
{
    mrd__stored *stored;
    mrd_error error = {0};
    reading r = {0};
    mrd_status got = mrd__stored_open(dir, files, &stored, &error);
    if (got == MRD_OK) {
        got = mrd__stored_read(stored, look, &r, NULL, &error);
        mrd__stored_close(&stored);
    }
    if (status != NULL)
        *status = got;
    else if (got != MRD_OK)
        fail_msg("%s: %s", dir, error.message);
    return r.last;
}

mrd__verify_result kit_sound(const char *dir, const mrd__files *files)
{
    mrd__verify_result result;
    mrd_error error = {0};
    if (mrd__session_verify(dir, files, &result, &error) != MRD_OK)
        fail_msg("%s: %s", dir, error.message);
    if (!result.sound)
        fail_msg("%s: %s %llu-%llu %s", dir, result.damage.file,
                 (unsigned long long)result.damage.from, (unsigned long long)result.damage.to,
                 result.damage.what);
    return result;
}

/* ---- Calls that fail ---- */

/* True when this call fails, errno set; a short count is the caller's to give. */
static bool fails(kit_faults *f)
{
    f->calls++;
    bool now = f->fail_at > 0 && (f->calls == f->fail_at || (f->always && f->calls > f->fail_at));
    if (now) f->failed++;
    if (now) errno = f->number;
    return now;
}

#define FAULTY(ret, name, params, args)                                                            \
    static ret faulty_##name params                                                                \
    {                                                                                              \
        kit_faults *f = ctx;                                                                       \
        if (fails(f) && f->number != 0) return -1;                                                 \
        return f->under->name args;                                                                \
    }

FAULTY(int, open, (void *ctx, const char *path, int flags, mode_t mode),
       (f->under->ctx, path, flags, mode))
FAULTY(int, size, (void *ctx, int fd, uint64_t *size), (f->under->ctx, fd, size))
FAULTY(int, fdatasync, (void *ctx, int fd), (f->under->ctx, fd))
FAULTY(int, fsync, (void *ctx, int fd), (f->under->ctx, fd))
FAULTY(int, ftruncate, (void *ctx, int fd, uint64_t size), (f->under->ctx, fd, size))
FAULTY(int, fchmod, (void *ctx, int fd, mode_t mode), (f->under->ctx, fd, mode))
FAULTY(int, mkdir, (void *ctx, const char *path, mode_t mode), (f->under->ctx, path, mode))
FAULTY(int, rename, (void *ctx, const char *from, const char *to), (f->under->ctx, from, to))
FAULTY(int, rename_new, (void *ctx, const char *from, const char *to), (f->under->ctx, from, to))
FAULTY(int, unlink, (void *ctx, const char *path), (f->under->ctx, path))
FAULTY(int, exists, (void *ctx, const char *path), (f->under->ctx, path))
FAULTY(int, list,
       (void *ctx, const char *path, void (*name)(void *name_ctx, const char *name),
        void *name_ctx),
       (f->under->ctx, path, name, name_ctx))
FAULTY(int, lock, (void *ctx, int fd), (f->under->ctx, fd))

/* The descriptor is gone whatever close says. */
static int faulty_close(void *ctx, int fd)
{
    kit_faults *f = ctx;
    int rc = f->under->close(f->under->ctx, fd);
    return fails(f) && f->number != 0 ? -1 : rc;
}

static ssize_t faulty_write(void *ctx, int fd, const void *data, size_t size)
{
    kit_faults *f = ctx;
    bool now = fails(f);
    if (now && f->number != 0) {
        /* A disk that fills up takes a part first, now and then. */
        if (f->number == ENOSPC && !f->always && size > 1)
            return f->under->write(f->under->ctx, fd, data, size / 3 + 1);
        return -1;
    }
    return f->under->write(f->under->ctx, fd, data, now && size > 1 ? size / 2 : size);
}

static ssize_t faulty_pread(void *ctx, int fd, void *out, size_t size, uint64_t offset)
{
    kit_faults *f = ctx;
    bool now = fails(f);
    if (now && f->number != 0) return -1;
    return f->under->pread(f->under->ctx, fd, out, now && size > 1 ? size / 2 : size, offset);
}

static uint64_t faulty_now(void *ctx)
{
    kit_faults *f = ctx;
    return f->under->now_ns(f->under->ctx);
}

void kit_faults_init(kit_faults *faults, const mrd__files *under)
{
    *faults = (kit_faults){
        .under = under,
        .files =
            {
                .ctx = faults,
                .open = faulty_open,
                .write = faulty_write,
                .pread = faulty_pread,
                .size = faulty_size,
                .fdatasync = faulty_fdatasync,
                .fsync = faulty_fsync,
                .ftruncate = faulty_ftruncate,
                .fchmod = faulty_fchmod,
                .close = faulty_close,
                .mkdir = faulty_mkdir,
                .rename = faulty_rename,
                .rename_new = faulty_rename_new,
                .unlink = faulty_unlink,
                .exists = faulty_exists,
                .list = faulty_list,
                .lock = faulty_lock,
                .now_ns = faulty_now,
            },
    };
}
