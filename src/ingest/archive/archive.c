#include "ingest/archive/archive.h"

#include "base/assert.h"
#include "base/error.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdatomic.h>
#include <string.h>

#define TAR_MAGIC_AT 257
#define FIRST_ROOM ((size_t)1 << 20) /* of a member that does not say its size */

const char *mrd__archive_format(const char *head, size_t size)
{
    static const struct {
        const char *name, *magic;
        size_t at, size;
    } known[] = {
        {"tar", "ustar", TAR_MAGIC_AT, 5},
        {"zip", "PK\003\004", 0, 4},
        {"zip", "PK\005\006", 0, 4}, /* empty */
        {"gzip", "\x1f\x8b", 0, 2},
        {"zstd", "\x28\xb5\x2f\xfd", 0, 4},
        {"xz",
         "\xfd"
         "7zXZ\0",
         0, 6},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (size >= known[i].at + known[i].size &&
            memcmp(head + known[i].at, known[i].magic, known[i].size) == 0)
            return known[i].name;
    }
    return NULL;
}

/* ---- Limits ---- */

void mrd__unpack_init(mrd__unpack *unpack)
{
    *unpack = (mrd__unpack){.max_bytes = MRD__UNPACK_MAX_BYTES,
                            .max_members = MRD__UNPACK_MAX_MEMBERS,
                            .max_ratio = MRD__UNPACK_MAX_RATIO,
                            .ratio_from = MRD__UNPACK_RATIO_FROM,
                            .max_depth = MRD__UNPACK_MAX_DEPTH};
}

/* Take bytes from what may be unpacked. */
static mrd_status charge(mrd__unpack *unpack, uint64_t bytes, mrd_error *error)
{
    uint64_t all = atomic_fetch_add(&unpack->bytes, bytes) + bytes;
    if (all > unpack->max_bytes)
        return mrd__fail(error, MRD_ERR_LIMIT, "archive_bytes",
                         "archives unpack to more than %llu bytes, the limit",
                         (unsigned long long)unpack->max_bytes);
    if (all > unpack->ratio_from && all / unpack->max_ratio > unpack->packed)
        return mrd__fail(error, MRD_ERR_LIMIT, "archive_ratio",
                         "%llu bytes unpack to more than %llu times as many, the limit",
                         (unsigned long long)unpack->packed, (unsigned long long)unpack->max_ratio);
    return MRD_OK;
}

static mrd_status charge_member(mrd__unpack *unpack, mrd_error *error)
{
    if (atomic_fetch_add(&unpack->members, 1) < unpack->max_members) return MRD_OK;
    return mrd__fail(error, MRD_ERR_LIMIT, "archive_members",
                     "archives hold more than %llu members, the limit",
                     (unsigned long long)unpack->max_members);
}

/* ---- One reader ---- */

static struct archive *open_reader(mrd__str bytes, char **why)
{
    struct archive *reader = archive_read_new();
    mrd__assert(reader != NULL);
    int made[] = {
        archive_read_support_filter_gzip(reader), archive_read_support_filter_zstd(reader),
        archive_read_support_filter_xz(reader),   archive_read_support_format_tar(reader),
        archive_read_support_format_zip(reader),  archive_read_support_format_raw(reader)};
    (void)made;
    if (archive_read_open_memory(reader, bytes.data, bytes.size) == ARCHIVE_OK) return reader;
    const char *text = archive_error_string(reader);
    if (why != NULL) *why = mrd__strndup(text != NULL ? text : "", text != NULL ? strlen(text) : 0);
    archive_read_free(reader);
    return NULL;
}

static char *damage_of(struct archive *reader)
{
    const char *text = archive_error_string(reader);
    if (text == NULL) text = "damaged";
    return mrd__strndup(text, strlen(text));
}

/* The name as valid UTF-8, whatever the locale. */
static char *name_of(struct archive_entry *entry)
{
    const char *raw = archive_entry_pathname_utf8(entry);
    if (raw == NULL) raw = archive_entry_pathname(entry);
    if (raw == NULL) raw = "?";
    mrd__buf text = {0};
#ifdef MRD_PLANTED_BUGS /* what the fuzzer of archives must find: a name that is not UTF-8 */
    mrd__buf_add(&text, raw, strnlen(raw, MRD__UNPACK_MAX_NAME));
#else
    mrd__utf8_repair(&text, (mrd__str){raw, strnlen(raw, MRD__UNPACK_MAX_NAME)});
#endif
    if (text.data == NULL) mrd__buf_text(&text, "?");
    return text.data;
}

/* A part that begins with a period, but for . and .. themselves. */
static bool is_hidden(const char *name)
{
    for (const char *part = name; part != NULL;) {
        size_t size = strcspn(part, "/");
        bool dots = size == 1 || (size == 2 && part[1] == '.');
        if (size > 0 && part[0] == '.' && !dots) return true;
        part = part[size] == '/' ? part + size + 1 : NULL;
    }
    return false;
}

typedef struct unpacking {
    mrd__unpack *unpack;
    const char *path;
    mrd__str bytes;
    mrd__members *out;
    MRD__VEC(uint64_t) places; /* of each listed member: its number among all headers */
} unpacking;

/* Room for `need` bytes of a member. */
static char *make_room(mrd__map *map, const char *path, uint64_t need, mrd_error *error)
{
    uint64_t room = map->reserved > MRD__MAP_SLACK ? map->reserved - MRD__MAP_SLACK : 0;
    char *base = (char *)(uintptr_t)map->data;
    if (base != NULL && need <= room) return base;
    if (base == NULL)
        base = mrd__map_memory(map, path, need > FIRST_ROOM ? (size_t)need : FIRST_ROOM);
    else
        base = mrd__map_grow(map, need > 2 * room ? (size_t)need : (size_t)(2 * room));
    if (base == NULL)
        (void)mrd__fail(error, MRD_ERR_LIMIT, "archive_bytes",
                        "no memory for a member of %llu bytes", (unsigned long long)need);
    return base;
}

/* What the reader stands at, into the member. A damaged one keeps what came before the damage. */
static mrd_status read_data(unpacking *u, struct archive *reader, mrd__member *member,
                            uint64_t said, mrd_error *error)
{
    if (said > u->unpack->max_bytes) said = 0;
    char *base = make_room(&member->map, member->name, said, error);
    if (base == NULL) return MRD_ERR_LIMIT;
    uint64_t size = 0;
    for (;;) {
        const void *block = NULL;
        size_t count = 0;
        la_int64_t at = 0;
        int result = archive_read_data_block(reader, &block, &count, &at);
        if (result == ARCHIVE_RETRY) continue;
        if (result == ARCHIVE_EOF) break;
        /* Sizes and check sums that do not fit come as a warning. */
        if (result != ARCHIVE_OK && member->damage == NULL) member->damage = damage_of(reader);
        if (result != ARCHIVE_OK && result != ARCHIVE_WARN) break;
        if (count == 0) {
            if (result == ARCHIVE_WARN) break;
            continue;
        }
        if (at < 0 || (uint64_t)at < size || (uint64_t)at > u->unpack->max_bytes) {
            mrd__free(member->damage);
            member->damage = mrd__strndup("blocks out of order", 19);
            break;
        }
        uint64_t end = (uint64_t)at + count;
        MRD__TRY(charge(u->unpack, end - size, error));
        base = make_room(&member->map, member->name, end, error);
        if (base == NULL) return MRD_ERR_LIMIT;
        memcpy(base + at, block, count);
        size = end;
    }
    mrd__map_fit(&member->map, (size_t)size);
    return MRD_OK;
}

static uint64_t size_said(struct archive_entry *entry)
{
    if (!archive_entry_size_is_set(entry) || archive_entry_size(entry) < 0) return 0;
    return (uint64_t)archive_entry_size(entry);
}

/* ---- Listing ---- */

static void damaged_list(unpacking *u, struct archive *reader)
{
    u->out->damage = damage_of(reader);
    u->out->damaged_at = (int64_t)archive_read_header_position(reader);
}

/* One header: a member of the list, or not. stream: its bytes are read at once. */
static mrd_status take_header(unpacking *u, struct archive *reader, struct archive_entry *entry,
                              uint64_t place, bool stream, mrd_error *error)
{
    bool raw = archive_format(reader) == ARCHIVE_FORMAT_RAW;
    if (!raw) {
        bool tar = (archive_format(reader) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_TAR;
        u->out->format = tar ? "tar" : "zip";
    }
    MRD__TRY(charge_member(u->unpack, error));
    if (archive_entry_filetype(entry) == AE_IFDIR) return MRD_OK;
    mrd__member member = {.name = raw ? mrd__strndup("", 0) : name_of(entry)};
    if (is_hidden(member.name)) {
        u->out->hidden++;
        mrd__free(member.name);
        return MRD_OK;
    }
    mrd__vec_push(&u->out->list, member);
    mrd__vec_push(&u->places, place);
    bool file = archive_entry_filetype(entry) == AE_IFREG && archive_entry_hardlink(entry) == NULL;
    mrd__member *own = &u->out->list.data[u->out->list.count - 1];
    if (stream && (file || raw)) return read_data(u, reader, own, size_said(entry), error);
    if (file) own->map.size = 1; /* to be read; see unpack_members */
    return MRD_OK;
}

static mrd_status list_members(unpacking *u, struct archive *reader, bool *stream, mrd_error *error)
{
    for (uint64_t place = 0;; place++) {
        struct archive_entry *entry = NULL;
        int result = archive_read_next_header(reader, &entry);
        if (result == ARCHIVE_EOF) return MRD_OK;
        if (result == ARCHIVE_RETRY) continue;
        if (result != ARCHIVE_OK && result != ARCHIVE_WARN) {
            damaged_list(u, reader);
            return MRD_OK;
        }
        /* The innermost filter is always there and does nothing. */
        if (place == 0) *stream = archive_filter_count(reader) > 1;
        if (!*stream && archive_format(reader) == ARCHIVE_FORMAT_RAW) {
            u->out->damage = mrd__strndup("its head is damaged", 19);
            return MRD_OK;
        }
        MRD__TRY(take_header(u, reader, entry, place, *stream, error));
    }
}

/* ---- Unpacking side by side ---- */

typedef struct one_reader {
    struct archive *reader;
    uint64_t next; /* header */
} one_reader;

typedef struct side_by_side {
    unpacking *u;
    one_reader *readers; /* [workers] */
    mrd_error *errors;   /* [members] */
    mrd_status *results;
    atomic_bool stop;
} side_by_side;

static void close_reader(one_reader *own)
{
    if (own->reader != NULL) archive_read_free(own->reader);
    *own = (one_reader){0};
}

/* Go forward to a header; NULL when the archive does not lead there any more. */
static struct archive_entry *go_to(unpacking *u, one_reader *own, uint64_t place)
{
    if (own->reader == NULL) {
        own->next = 0;
        own->reader = open_reader(u->bytes, NULL);
        if (own->reader == NULL) return NULL;
    }
    for (;;) {
        struct archive_entry *entry = NULL;
        int result = archive_read_next_header(own->reader, &entry);
        if (result == ARCHIVE_RETRY) {
            own->next++;
            continue;
        }
        if (result != ARCHIVE_OK && result != ARCHIVE_WARN) return NULL;
        if (own->next++ == place) return entry;
    }
}

static void unpack_one(void *ctx, size_t index, uint32_t worker)
{
    side_by_side *s = ctx;
    mrd__member *member = &s->u->out->list.data[index];
    if (member->map.size == 0 || atomic_load(&s->stop)) return;
    member->map.size = 0;
    one_reader *own = &s->readers[worker];
    struct archive_entry *entry = go_to(s->u, own, s->u->places.data[index]);
    if (entry == NULL) {
        member->damage = mrd__strndup("cannot be reached", 17);
        (void)mrd__map_memory(&member->map, member->name, 0);
        close_reader(own);
        return;
    }
    s->results[index] = read_data(s->u, own->reader, member, size_said(entry), &s->errors[index]);
    if (s->results[index] != MRD_OK) atomic_store(&s->stop, true);
    /* A reader that met damage may have lost its way: the next member gets a fresh one. */
    if (member->damage != NULL) close_reader(own);
}

static mrd_status unpack_members(unpacking *u, uint32_t threads, mrd_error *error)
{
    size_t count = u->out->list.count;
    side_by_side s = {.u = u,
                      .readers = mrd__new_array(one_reader, threads),
                      .errors = mrd__new_array(mrd_error, count),
                      .results = mrd__new_array(mrd_status, count)};
    mrd__parallel_for(threads, count, unpack_one, &s);
    mrd_status status = MRD_OK;
    for (size_t i = 0; i < count && status == MRD_OK; i++) {
        status = s.results[i];
        if (status != MRD_OK && error != NULL) *error = s.errors[i];
    }
    for (uint32_t w = 0; w < threads; w++)
        close_reader(&s.readers[w]);
    mrd__free(s.readers);
    mrd__free(s.errors);
    mrd__free(s.results);
    return status;
}

/* ---- An archive ---- */

mrd_status mrd__archive_read(mrd__unpack *unpack, const char *path, mrd__str bytes,
                             uint32_t threads, mrd__members *out, mrd_error *error)
{
    mrd__assert(threads > 0);
    *out = (mrd__members){.damaged_at = -1};
    unpacking u = {.unpack = unpack, .path = path, .bytes = bytes, .out = out};
    char *why = NULL;
    struct archive *reader = open_reader(bytes, &why);
    bool stream = false;
    mrd_status status = MRD_OK;
    if (reader == NULL) {
        out->damage = why;
    } else {
        status = list_members(&u, reader, &stream, error);
        archive_read_free(reader);
    }
    if (status == MRD_OK && !stream) status = unpack_members(&u, threads, error);
    mrd__vec_reset(&u.places);
    if (status == MRD_OK && out->list.count == 0 && out->damage != NULL)
        status = mrd__fail(error, MRD_ERR_FORMAT, "bad_archive", "nothing can be unpacked: %s",
                           out->damage);
    return status == MRD_OK ? MRD_OK : mrd__fail_at(error, status, path, out->damaged_at);
}

void mrd__members_reset(mrd__members *members)
{
    for (size_t i = 0; i < members->list.count; i++) {
        mrd__free(members->list.data[i].name);
        mrd__map_close(&members->list.data[i].map);
        mrd__free(members->list.data[i].damage);
    }
    mrd__vec_reset(&members->list);
    mrd__free(members->damage);
    *members = (mrd__members){0};
}
