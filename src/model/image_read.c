/* Opening an image: header and table first, then every hash, then pointers into the mapping. */
#include "model/image_walk.h"

#include "base/error.h"
#include "base/os.h"
#include "model/facts.h"

#include <stdatomic.h>
#include <string.h>

struct mrd__image {
    mrd__map map;
};

typedef struct reading {
    mrd__image_walk walk; /* first */
    const char *base;
    const mrd__image_header *header;
    const mrd__image_section *sections;
    size_t next; /* section */
    bool verify;
    atomic_bool damaged;
} reading;

static mrd_status bad_image(mrd_error *error, const char *path, const char *why)
{
    return mrd__fail_at(error, mrd__fail(error, MRD_ERR_FORMAT, "bad_image", "%s", why), path, -1);
}

/* NULL, or why the header is none. */
static const char *judge_header(const mrd__map *map)
{
    mrd__image_header header;
    if (map->size < sizeof header) return "shorter than an image's header";
    memcpy(&header, map->data, sizeof header);
    if (memcmp(header.magic, MRD__IMAGE_MAGIC, sizeof header.magic) != 0) return "not an image";
    if (header.header_hash != mrd__hash(&header, offsetof(mrd__image_header, header_hash)))
        return "the header is damaged";
    if (header.layout != mrd__image_layout()) return "written by another build";
    if (header.size != map->size) return "cut or grown";
    if (header.section_count > MRD__IMAGE_SECTIONS_MAX || header.key_size > MRD__IMAGE_KEY_MAX)
        return "more sections or a longer key than any image has";
    uint64_t table_size = header.section_count * sizeof(mrd__image_section);
    if (header.table % MRD__IMAGE_ALIGN != 0 || header.table > map->size ||
        map->size - header.table != table_size || header.key_size > header.table - sizeof header)
        return "the table is not where it should be";
    const char *key = map->data + sizeof header;
    if (header.table_hash != mrd__hash_mix(mrd__hash(map->data + header.table, (size_t)table_size),
                                           mrd__hash(key, (size_t)header.key_size)))
        return "the table is damaged";
    return NULL;
}

static bool section_fits(const reading *r, const mrd__image_section *section)
{
    uint64_t end = r->header->table;
    if (section->offset % MRD__IMAGE_ALIGN != 0 || section->offset > end) return false;
    if (section->item == 0) return false;
    return section->count <= (end - section->offset) / section->item;
}

static void check_section(void *ctx, size_t index, uint32_t worker)
{
    (void)worker;
    reading *r = ctx;
    const mrd__image_section *section = &r->sections[index];
    bool good = section_fits(r, section);
    if (good) {
        const char *data = r->base + section->offset;
        size_t size = (size_t)(section->count * section->item);
        good = mrd__image_sample(data, size) == section->sample &&
               (!r->verify || mrd__hash(data, size) == section->whole);
#ifdef MRD_PLANTED_BUGS /* what the fuzzer of images must find */
        if (section->item == sizeof(int64_t)) good = true;
#endif
    }
    if (!good) atomic_store(&r->damaged, true);
}

/* The next section, of items of this size; NULL (and failed) when it is another one. */
static const mrd__image_section *take(reading *r, size_t item)
{
    if (r->walk.failed || r->next >= r->header->section_count ||
        r->sections[r->next].item != item) {
        r->walk.failed = true;
        return NULL;
    }
    return &r->sections[r->next++];
}

static void read_column(mrd__image_walk *walk, void *at, uint64_t count, size_t item)
{
    reading *r = (reading *)walk;
    const mrd__image_section *section = take(r, item);
    const void *data = NULL;
    if (section != NULL && section->count == count && count > 0)
        data = r->base + section->offset;
    else if (section != NULL && section->count != 0)
        walk->failed = true;
    memcpy(at, &data, sizeof data);
}

/* ---- Texts, files, blobs ---- */

typedef struct texts {
    const char *data;
    uint64_t size;
} texts;

/* NUL-terminated in the image; NULL when it is not all there. */
static char *text_at(const texts *all, mrd__image_text text)
{
    if (text.first >= all->size || text.size >= all->size - text.first) return NULL;
    const char *found = all->data + text.first;
    return found[text.size] == '\0' ? (char *)(uintptr_t)found : NULL;
}

static mrd__str *read_texts(reading *r, const texts *all, size_t count)
{
    const mrd__image_section *section = take(r, sizeof(mrd__image_text));
    if (section == NULL || section->count != count) {
        r->walk.failed = true;
        return NULL;
    }
    const mrd__image_text *from = (const void *)(r->base + section->offset);
    mrd__str *out = mrd__alloc((count + 1) * sizeof *out);
    for (size_t i = 0; i < count; i++) {
        const char *text = text_at(all, from[i]);
        if (text == NULL) r->walk.failed = true;
        out[i] = (mrd__str){text, text != NULL ? (size_t)from[i].size : 0};
    }
    return out;
}

static mrd_status map_again(mrd__file *file, const mrd__image_file *from, const char *path,
                            mrd_error *error)
{
    MRD__TRY(mrd__map_open(&file->map, path, error));
    if (file->map.size == from->map_size && file->map.mtime_ns == from->map_mtime_ns) return MRD_OK;
    return mrd__fail_at(error, mrd__fail(error, MRD_ERR_IO, "file_changed", "file changed on disk"),
                        path, -1);
}

static mrd_status read_file(reading *r, const texts *all, const mrd__image_file *from,
                            mrd__file *file, mrd_error *error)
{
    *file = from->file;
    file->map = (mrd__map){0};
    file->checked_ns = 0;
    file->path = text_at(all, from->path);
    file->format = text_at(all, from->format);
    file->clock = text_at(all, from->clock);
    file->boot_id = from->has_boot_id ? text_at(all, from->boot_id) : NULL;
    char *map_path = from->map_kind != MRD__IMAGE_NO_MAP ? text_at(all, from->map_path) : "";
    if (file->path == NULL || file->format == NULL || file->clock == NULL || map_path == NULL)
        r->walk.failed = true;
    if (r->walk.failed || from->map_kind == MRD__IMAGE_NO_MAP) return MRD_OK;
    if (from->map_kind == MRD__IMAGE_FILE_MAP) return map_again(file, from, map_path, error);
    const mrd__image_section *section = take(r, 1);
    if (section == NULL || section->count != from->map_size) {
        r->walk.failed = true;
        return MRD_OK;
    }
    file->map = (mrd__map){.data = r->base + section->offset, /* reserved 0: not to be unmapped */
                           .size = (size_t)from->map_size,
                           .mtime_ns = from->map_mtime_ns};
    return MRD_OK;
}

static mrd_status read_files(reading *r, const texts *all, mrd__store *store, size_t count,
                             mrd_error *error)
{
    const mrd__image_section *section = take(r, sizeof(mrd__image_file));
    if (section == NULL || section->count != count) {
        r->walk.failed = true;
        return MRD_OK;
    }
    const mrd__image_file *from = (const void *)(r->base + section->offset);
    store->files = mrd__new_array(mrd__file, count + 1);
    for (size_t f = 0; f < count && !r->walk.failed; f++) {
        store->file_count = f + 1;
        MRD__TRY(read_file(r, all, &from[f], &store->files[f], error));
    }
    return MRD_OK;
}

static void read_blobs(reading *r, mrd__store *store, size_t count)
{
    if (count > MRD__BLOBS_MAX) r->walk.failed = true;
    if (r->walk.failed) return;
    store->blobs = mrd__new_array(mrd__text_blob, count + 1);
    store->blob_count = count;
    for (size_t b = 0; b < count; b++) {
        const mrd__image_section *section = take(r, 1);
        if (section == NULL) return;
        store->blobs[b] = (mrd__text_blob){(char *)(uintptr_t)(r->base + section->offset),
                                           (size_t)section->count, 0};
    }
}

/* ---- The whole ---- */

static void read_events(reading *r, mrd__store *store, const texts *all,
                        const mrd__image_root *root)
{
    for (size_t c = 0; c < MRD__CAT_COUNT; c++) {
        store->events->category_names[c] = text_at(all, root->categories[c]);
        if (store->events->category_names[c] == NULL) r->walk.failed = true;
    }
}

static mrd_status read_parts(reading *r, mrd__store *store, const mrd__image_root *root,
                             mrd_error *error)
{
    size_t blob_count = store->blob_count;
    size_t file_count = store->file_count;
    store->blob_count = store->file_count = 0;
    const mrd__image_section *last = &r->sections[r->header->section_count - 1];
    texts all = {r->base + last->offset, last->count};
    if (last->item != 1) r->walk.failed = true;
    mrd__image_walk_store(&r->walk, store, store->events);
    if (r->walk.failed) return MRD_OK;
    store->strings = read_texts(r, &all, store->string_count);
    mrd__str *components =
        read_texts(r, &all, root->has_events ? store->events->component_count : 0);
    if (store->events != NULL)
        store->events->components = components;
    else
        mrd__free(components);
    if (r->walk.failed) return MRD_OK;
    if (store->events != NULL) read_events(r, store, &all, root);
    if (root->has_align) store->align = text_at(&all, root->align);
    if (root->has_align && store->align == NULL) r->walk.failed = true;
    if (!r->walk.failed) MRD__TRY(read_files(r, &all, store, file_count, error));
    if (!r->walk.failed) read_blobs(r, store, blob_count);
    return MRD_OK;
}

/* A store with the root's own members and no pointers yet. */
static mrd__store *start_store(const mrd__image_root *root, mrd__map *map)
{
    mrd__store *store = mrd__new(mrd__store);
    *store = root->store;
    store->strings = NULL;
    store->string_bytes = (mrd__arena){.total = root->store.string_bytes.total};
    store->files = NULL;
    store->blobs = NULL;
    store->align = NULL;
    store->events = NULL;
    if (root->has_events) {
        store->events = mrd__new(mrd__events);
        *store->events = root->events;
        store->events->components = NULL;
    }
    store->image = mrd__new(struct mrd__image);
    store->image->map = *map;
    *map = (mrd__map){0};
    return store;
}

static mrd_status open_mapped(mrd__map *map, bool verify, uint32_t workers, mrd__store **out,
                              const char *path, mrd_error *error)
{
    const mrd__image_header *header = (const void *)map->data;
    reading r = {.walk = {.column = read_column},
                 .base = map->data,
                 .header = header,
                 .sections = (const void *)(map->data + header->table),
                 .verify = verify};
    mrd__parallel_for(workers, (size_t)header->section_count, check_section, &r);
    if (atomic_load(&r.damaged)) return bad_image(error, path, "a section is damaged");
    const mrd__image_section *first = take(&r, sizeof(mrd__image_root));
    if (first == NULL || first->count != 1) return bad_image(error, path, "it has no root");
    const mrd__image_root *root = (const void *)(r.base + first->offset);
    mrd__store *store = start_store(root, map);
    mrd_status status = read_parts(&r, store, root, error);
    if (status == MRD_OK && r.walk.failed)
        status = bad_image(error, path, "its sections are not those of a store");
    if (status == MRD_OK)
        *out = store;
    else
        mrd__store_destroy(&store);
    return status;
}

mrd_status mrd__image_open(const char *path, mrd__str key, bool verify, uint32_t workers,
                           mrd__store **out, mrd_error *error)
{
    *out = NULL;
    mrd__map map = {0};
    MRD__TRY(mrd__map_open(&map, path, error));
    const char *why = judge_header(&map);
    if (why == NULL) {
        const mrd__image_header *header = (const void *)map.data;
        mrd__str found = {map.data + sizeof *header, (size_t)header->key_size};
        if (found.size != key.size || memcmp(found.data, key.data, key.size) != 0)
            why = "of other inputs";
        else if (header->section_count == 0)
            why = "it has no sections";
    }
    mrd_status status = why != NULL ? bad_image(error, path, why)
                                    : open_mapped(&map, verify, workers, out, path, error);
    mrd__map_close(&map);
    return status;
}

mrd_status mrd__image_key(const char *path, mrd__buf *out, mrd_error *error)
{
    mrd__map map = {0};
    MRD__TRY(mrd__map_open(&map, path, error));
    const char *why = judge_header(&map);
    mrd_status status = why != NULL ? bad_image(error, path, why) : MRD_OK;
    if (why == NULL) {
        const mrd__image_header *header = (const void *)map.data;
        mrd__buf_add(out, map.data + sizeof *header, (size_t)header->key_size);
    }
    mrd__map_close(&map);
    return status;
}

void mrd__image_release(mrd__store *store)
{
    for (size_t f = 0; f < store->file_count; f++)
        if (store->files[f].map.reserved > 0) mrd__map_close(&store->files[f].map);
    mrd__free(store->files);
    mrd__free(store->strings);
    mrd__free(store->blobs);
    if (store->events != NULL) mrd__free(store->events->components);
    mrd__free(store->events);
    mrd__map_close(&store->image->map);
    mrd__free(store->image);
    mrd__free(store);
}
