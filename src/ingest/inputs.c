#include "ingest/inputs.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "ingest/archive/archive.h"
#include "ingest/gzip.h"

#include <stdlib.h>
#include <string.h>

#define MANIFEST_HEAD 128 /* bytes but blanks, as in the original */

bool mrd__input_is_packed(const mrd__input *input)
{
    return mrd__archive_format(input->map.data, input->map.size) != NULL;
}

typedef struct opening {
    mrd__unpack unpack;
    uint32_t threads;
    mrd__inputs *out;
    size_t readable; /* inputs with an importer */
} opening;

const char *mrd__manifest_sniff(const char *head, size_t size)
{
    static const char *const keys[] = {"perfetto_manifest", "meridian_manifest"};
    char text[MANIFEST_HEAD + 1];
    size_t kept = 0;
    size_t at = size >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    for (; at < size && kept < MANIFEST_HEAD; at++)
        if (strchr(" \t\r\n", head[at]) == NULL || head[at] == '\0') text[kept++] = head[at];
    text[kept] = '\0';
    for (size_t k = 0; k < 2; k++) {
        size_t length = strlen(keys[k]);
        if (kept > length + 3 && text[0] == '{' && text[1] == '"' &&
            memcmp(text + 2, keys[k], length) == 0 && text[length + 2] == '"')
            return keys[k];
    }
    return NULL;
}

static void add_loss(mrd__input *input, mrd__loss_id id, uint64_t count, int64_t offset,
                     const char *text)
{
    mrd__input_loss own = {
        .id = id, .count = count, .offset = offset, .text = mrd__strndup(text, strlen(text))};
    mrd__vec_push(&input->losses, own);
}

/* ---- What an input is ---- */

/* The text inside gzip, as far as it tells what it is. */
static size_t gzip_head(const mrd__map *map, char *out)
{
    mrd__gzip *gzip = mrd__gzip_create(map->data, map->size);
    size_t got = mrd__gzip_read(gzip, out, MRD__SNIFF_BYTES);
    mrd__gzip_destroy(&gzip);
    return got;
}

/* A gzip file whose importer reads it packed. Anything else in gzip is unpacked first. */
static bool reads_packed(const mrd__map *map, const char *path)
{
    const mrd__importer *importer = NULL;
    char *head = mrd__alloc(MRD__SNIFF_BYTES);
    size_t size = gzip_head(map, head);
    bool other = mrd__archive_format(head, size) != NULL || mrd__manifest_sniff(head, size) != NULL;
    mrd__free(head);
    return !other && mrd__ingest_detect(path, map->data, map->size, &importer, NULL) == MRD_OK;
}

/* Format and importer by content; packed: it has to be unpacked first. MRD_ERR_FORMAT: unknown. */
static mrd_status detect(mrd__input *input, bool *packed, mrd_error *error)
{
    const char *data = input->map.data;
    size_t size = input->map.size < MRD__SNIFF_BYTES ? input->map.size : MRD__SNIFF_BYTES;
    const char *pack = mrd__archive_format(data, size);
    *packed =
        pack != NULL && !(strcmp(pack, "gzip") == 0 && reads_packed(&input->map, input->path));
    if (*packed) {
        input->format = pack;
        return MRD_OK;
    }
    input->format = mrd__manifest_sniff(data, size);
    input->manifest = input->format != NULL;
    if (input->manifest) return MRD_OK;
    input->format = "unknown";
    MRD__TRY(mrd__ingest_detect(input->path, data, size, &input->importer, error));
    input->format = input->importer->name;
    return MRD_OK;
}

static void reset_input(mrd__input *input)
{
    mrd__free(input->path);
    mrd__map_close(&input->map);
    for (size_t i = 0; i < input->losses.count; i++)
        mrd__free(input->losses.data[i].text);
    mrd__vec_reset(&input->losses);
}

void mrd__inputs_reset(mrd__inputs *inputs)
{
    for (size_t i = 0; i < inputs->list.count; i++)
        reset_input(&inputs->list.data[i]);
    mrd__vec_reset(&inputs->list);
}

/* ---- Order of siblings ---- */

static int rank_of(const mrd__input *input)
{
    if (input->manifest) return -1;
    if (input->importer != NULL && strcmp(input->importer->name, "perfetto") == 0) return 0;
    return input->container ? 1 : 2;
}

static int compare_inputs(const void *left, const void *right)
{
    const mrd__input *a = left;
    const mrd__input *b = right;
    if (rank_of(a) != rank_of(b)) return rank_of(a) < rank_of(b) ? -1 : 1;
    int by_path = strcmp(a->path, b->path);
    if (by_path != 0) return by_path;
    return a->position < b->position ? -1 : a->position > b->position;
}

/* ---- Unpacking ---- */

static mrd_status expand(opening *o, uint32_t parent, mrd__members *members, unsigned depth,
                         mrd_error *error);

/* What stands in the place of a file that was packed: the file inside, or an archive. members are
 * those of the archive that it turns out to be; empty for others. */
static mrd_status unpack(opening *o, mrd__input *input, mrd__members *members, unsigned depth,
                         mrd_error *error)
{
    bool packed = true;
    while (packed) {
        if (depth++ >= o->unpack.max_depth)
            return mrd__fail_at(error,
                                mrd__fail(error, MRD_ERR_LIMIT, "archive_depth",
                                          "archives inside one another deeper than %u, the limit",
                                          o->unpack.max_depth),
                                input->path, -1);
        mrd__str bytes = {input->map.data, input->map.size};
        MRD__TRY(mrd__archive_read(&o->unpack, input->path, bytes, o->threads, members, error));
        if (members->damage != NULL)
            add_loss(input, MRD__LOSS_DAMAGED_ARCHIVE, 1, members->damaged_at, members->damage);
        if (members->hidden > 0) add_loss(input, MRD__LOSS_HIDDEN_MEMBER, members->hidden, -1, "");
        if (members->format != NULL || members->list.count == 0) {
            if (members->format != NULL) input->format = members->format;
            input->container = true;
            mrd__map_close(&input->map);
            return MRD_OK;
        }
        mrd__member *only = &members->list.data[0];
        mrd__map_close(&input->map);
        input->map = only->map;
        only->map = (mrd__map){0};
        if (only->damage != NULL)
            add_loss(input, MRD__LOSS_TRUNCATED_INPUT, 1, (int64_t)input->map.size, only->damage);
        mrd__members_reset(members);
        MRD__TRY(detect(input, &packed, error));
    }
    return MRD_OK;
}

/* Add an input to the list, and behind it what is inside. */
static mrd_status add_input(opening *o, mrd__input *input, mrd__members *members, unsigned depth,
                            mrd_error *error)
{
    uint32_t index = (uint32_t)o->out->list.count;
    if (input->parent == MRD__NONE) input->root = index;
    if (input->importer != NULL && ++o->readable > MRD__INPUTS_MAX)
        return mrd__fail(error, MRD_ERR_LIMIT, "too_many_files",
                         "a trace is read from at most %u files", MRD__INPUTS_MAX);
    mrd__vec_push(&o->out->list, *input);
    *input = (mrd__input){0};
    if (!o->out->list.data[index].container) return MRD_OK;
    return expand(o, index, members, depth, error);
}

typedef struct sibling { /* an input and, where it is an archive, what is in it */
    mrd__input input;
    mrd__members members;
    unsigned depth;
} sibling;
typedef MRD__VEC(sibling) sibling_list;

static int compare_siblings(const void *left, const void *right)
{
    const sibling *a = left;
    const sibling *b = right;
    return compare_inputs(&a->input, &b->input);
}

static mrd_status add_siblings(opening *o, sibling_list *list, mrd_status status, mrd_error *error)
{
    if (list->count > 1) qsort(list->data, list->count, sizeof *list->data, compare_siblings);
    for (size_t i = 0; i < list->count; i++) {
        sibling *one = &list->data[i];
        if (status == MRD_OK) status = add_input(o, &one->input, &one->members, one->depth, error);
        reset_input(&one->input);
        mrd__members_reset(&one->members);
    }
    mrd__vec_reset(list);
    return status;
}

/* What is wrong with a member alone does not end the opening. */
static bool is_of_member(mrd_status status)
{
    return status == MRD_ERR_FORMAT || status == MRD_ERR_UNSUPPORTED;
}

static mrd_status take_member(opening *o, sibling *one, mrd__member *member, mrd_error *error)
{
    mrd_error why = {0};
    bool packed = false;
    mrd__input *input = &one->input;
    input->format = "unknown";
    if (member->map.data == NULL) {
        add_loss(input, MRD__LOSS_UNKNOWN_MEMBER, 1, -1, "neither file nor folder");
        return MRD_OK;
    }
    input->map = member->map;
    member->map = (mrd__map){0};
    input->bytes = input->map.size;
    bool lost = member->damage != NULL && input->map.size == 0;
    mrd_status status = MRD_ERR_FORMAT;
    if (lost)
        add_loss(input, MRD__LOSS_BAD_MEMBER, 1, -1, member->damage);
    else
        status = detect(input, &packed, &why);
    if (status == MRD_OK && packed) status = unpack(o, input, &one->members, one->depth, &why);
    if (status == MRD_OK && member->damage != NULL)
        add_loss(input, MRD__LOSS_DAMAGED_ARCHIVE, 1, (int64_t)input->bytes, member->damage);
    if (status == MRD_OK) return MRD_OK;
    if (!is_of_member(status)) {
        if (error != NULL) *error = why;
        return status;
    }
    bool unknown = strcmp(why.code, "unknown_format") == 0;
    if (!lost)
        add_loss(input, unknown ? MRD__LOSS_UNKNOWN_MEMBER : MRD__LOSS_BAD_MEMBER, 1, -1,
                 unknown ? "" : why.message);
    input->container = false;
    mrd__map_close(&input->map);
    mrd__members_reset(&one->members);
    return MRD_OK;
}

/* The members of an archive, each with what is inside it, behind it. */
static mrd_status expand(opening *o, uint32_t parent, mrd__members *members, unsigned depth,
                         mrd_error *error)
{
    sibling_list list = {0};
    mrd_status status = MRD_OK;
    for (size_t i = 0; i < members->list.count && status == MRD_OK; i++) {
        mrd__member *member = &members->list.data[i];
        const mrd__input *own = &o->out->list.data[parent];
        size_t outer = strlen(own->path);
        mrd__buf path = {0};
        mrd__buf_printf(&path, "%s/%s", own->path, member->name);
        sibling one = {.input = {.path = path.data,
                                 .member = path.data + outer + 1,
                                 .parent = parent,
                                 .position = (uint32_t)i,
                                 .root = own->root},
                       .depth = depth + 1};
        status = take_member(o, &one, member, error);
        mrd__vec_push(&list, one);
    }
    mrd__members_reset(members);
    return add_siblings(o, &list, status, error);
}

/* ---- Files ---- */

static mrd_status take_file(opening *o, sibling *one, mrd_error *error)
{
    bool packed = false;
    mrd__input *input = &one->input;
    input->bytes = input->map.size;
    MRD__TRY(detect(input, &packed, error));
    if (packed) MRD__TRY(unpack(o, input, &one->members, 0, error));
    return MRD_OK;
}

/* An archive of which nothing can be read is as good as a file nobody knows. */
static mrd_status check_readable(const opening *o, mrd_error *error)
{
    size_t unknown = 0;
    const mrd__input *archive = NULL;
    for (size_t i = 0; i < o->out->list.count; i++) {
        const mrd__input *input = &o->out->list.data[i];
        if (input->importer != NULL || input->manifest) return MRD_OK;
        if (input->container && archive == NULL) archive = input;
        unknown += !input->container;
    }
    if (archive == NULL) return MRD_OK;
    const mrd__importer *none = NULL;
    mrd_error asked = {0};
    (void)!mrd__ingest_detect(archive->path, "", 0, &none, &asked);
    const char *formats = strstr(asked.message, "the formats asked");
    mrd_status status =
        mrd__fail(error, MRD_ERR_FORMAT, "unknown_format", "no trace among its %zu members; %s",
                  unknown, formats != NULL ? formats : "");
    return mrd__fail_at(error, status, archive->path, -1);
}

static mrd_status open_siblings(opening *o, sibling_list *list, mrd_status status, mrd_error *error)
{
    for (size_t i = 0; i < list->count; i++)
        o->unpack.packed += list->data[i].input.map.size;
    for (size_t i = 0; i < list->count && status == MRD_OK; i++) {
        status = take_file(o, &list->data[i], error);
        if (status != MRD_OK) (void)mrd__fail_at(error, status, list->data[i].input.path, -1);
    }
    status = add_siblings(o, list, status, error);
    return status == MRD_OK ? check_readable(o, error) : status;
}

static sibling sibling_of(const char *path)
{
    return (sibling){.input = {.path = mrd__strndup(path, strlen(path)), .parent = MRD__NONE}};
}

static mrd_status hold_text(const char *text, mrd__map *map, mrd_error *error)
{
    size_t size = strlen(text);
    char *bytes = mrd__map_memory(map, MRD__MANIFEST_TEXT, size);
    if (bytes == NULL) return mrd__fail(error, MRD_ERR_LIMIT, "bad_manifest", "no memory for it");
    memcpy(bytes, text, size + 1); /* there is room behind a map */
    mrd__map_fit(map, size);
    return MRD_OK;
}

mrd_status mrd__inputs_open(const char *const *paths, size_t count, const char *manifest_text,
                            uint32_t threads, mrd__inputs *out, mrd_error *error)
{
    opening o = {.threads = threads, .out = out};
    mrd__unpack_init(&o.unpack);
    sibling_list list = {0};
    mrd_status status = MRD_OK;
    for (size_t i = 0; i < count && status == MRD_OK; i++) {
        sibling one = sibling_of(paths[i]);
        one.input.position = (uint32_t)i;
        status = mrd__map_open(&one.input.map, paths[i], error);
        mrd__vec_push(&list, one);
    }
    if (manifest_text != NULL && status == MRD_OK) {
        sibling one = sibling_of(MRD__MANIFEST_TEXT);
        one.input.position = (uint32_t)count;
        status = hold_text(manifest_text, &one.input.map, error);
        mrd__vec_push(&list, one);
    }
    return open_siblings(&o, &list, status, error);
}

mrd_status mrd__inputs_of(mrd__map *map, const char *path, uint64_t max_bytes, uint32_t threads,
                          mrd__inputs *out, mrd_error *error)
{
    opening o = {.threads = threads, .out = out};
    mrd__unpack_init(&o.unpack);
    if (max_bytes != 0) o.unpack.max_bytes = max_bytes;
    sibling_list list = {0};
    sibling one = sibling_of(path);
    one.input.map = *map;
    *map = (mrd__map){0};
    mrd__vec_push(&list, one);
    return open_siblings(&o, &list, MRD_OK, error);
}
