/* Writing an image: sections in the order of the walk, then texts, files and blobs, then the table;
 * the header last in a second pass over its place is not needed, since everything before the table
 * has a known size: the header is written with the table's place once that is known, by laying all
 * sections out before a byte is written. */
#include "model/image_walk.h"

#include "base/error.h"
#include "base/os.h"
#include "model/facts.h"

#include <string.h>

typedef struct piece { /* one section: what is written for it */
    const void *data;
    uint64_t count, item;
} piece;

typedef struct draft {
    mrd__image_walk walk; /* first: the walk's column knows the draft by it */
    MRD__VEC(piece) pieces;
    mrd__buf texts;
} draft;

static void add_piece(draft *d, const void *data, uint64_t count, size_t item)
{
    if (data == NULL) count = 0;
    mrd__vec_push(&d->pieces, ((piece){data, count, item}));
}

static void draft_column(mrd__image_walk *walk, void *at, uint64_t count, size_t item)
{
    void *data;
    memcpy(&data, at, sizeof data); /* a pointer of another type */
    add_piece((draft *)walk, data, count, item);
}

static mrd__image_text add_text(draft *d, mrd__str text)
{
    mrd__image_text out = {d->texts.size, text.size};
    mrd__buf_add(&d->texts, text.data, text.size);
    mrd__buf_add(&d->texts, "", 1);
    return out;
}

static mrd__image_text *add_texts(draft *d, const mrd__str *texts, size_t count)
{
    mrd__image_text *out = mrd__new_array(mrd__image_text, count + 1);
    for (size_t i = 0; i < count; i++)
        out[i] = add_text(d, texts[i]);
    add_piece(d, out, count, sizeof *out);
    return out;
}

static mrd__image_file draft_file(draft *d, const mrd__file *file)
{
    mrd__image_file out = {.file = *file,
                           .path = add_text(d, mrd__str_of(file->path)),
                           .format = add_text(d, mrd__str_of(file->format)),
                           .clock = add_text(d, mrd__str_of(file->clock)),
                           .has_boot_id = file->boot_id != NULL};
    if (file->boot_id != NULL) out.boot_id = add_text(d, mrd__str_of(file->boot_id));
    if (file->map.data == NULL) return out;
    out.map_kind = mrd__map_is_memory(&file->map) ? MRD__IMAGE_MEMORY_MAP : MRD__IMAGE_FILE_MAP;
    out.map_size = file->map.size;
    out.map_mtime_ns = file->map.mtime_ns;
    out.map_path = add_text(d, mrd__str_of(file->map.path));
    return out;
}

static mrd__image_root draft_root(draft *d, const mrd__store *store)
{
    mrd__image_root root = {.store = *store, .has_events = store->events != NULL};
    root.store.image = NULL;
    if (store->align != NULL) {
        root.has_align = true;
        root.align = add_text(d, mrd__str_of(store->align));
    }
    if (store->events == NULL) return root;
    root.events = *store->events;
    for (size_t c = 0; c < MRD__CAT_COUNT; c++)
        root.categories[c] = add_text(d, mrd__str_of(store->events->category_names[c]));
    return root;
}

/* ---- Laying out and writing ---- */

static uint64_t aligned(uint64_t offset)
{
    return (offset + MRD__IMAGE_ALIGN - 1) / MRD__IMAGE_ALIGN * MRD__IMAGE_ALIGN;
}

static void hash_piece(void *ctx, size_t index, uint32_t worker)
{
    (void)worker;
    mrd__image_section *sections = *(mrd__image_section **)ctx;
    const draft *d = ((void **)ctx)[1];
    const piece *p = &d->pieces.data[index];
    size_t size = (size_t)(p->count * p->item);
    sections[index].whole = mrd__hash(size > 0 ? p->data : "", size);
    sections[index].sample = mrd__image_sample(size > 0 ? p->data : "", size);
}

/* Behind each section stands at least MRD__MAP_SLACK bytes of others or zeros: texts of files are
 * read by whole vectors. */
static uint64_t lay_out(const draft *d, mrd__image_section *sections, uint64_t first)
{
    uint64_t offset = aligned(first);
    for (size_t i = 0; i < d->pieces.count; i++) {
        const piece *p = &d->pieces.data[i];
        sections[i] = (mrd__image_section){.offset = offset, .count = p->count, .item = p->item};
        offset = aligned(offset + p->count * p->item);
    }
    const void *both[2] = {sections, d};
    mrd__parallel_for(mrd__cores(), d->pieces.count, hash_piece, both);
    return aligned(offset + MRD__MAP_SLACK);
}

static mrd_status pad_to(mrd__atomic_file *file, uint64_t *at, uint64_t offset, mrd_error *error)
{
    static const char zeros[MRD__MAP_SLACK + 2 * MRD__IMAGE_ALIGN];
    uint64_t size = offset - *at;
    *at = offset;
    return mrd__atomic_append(file, zeros, (size_t)size, error);
}

static mrd_status write_all(mrd__atomic_file *file, const draft *d, mrd__str key, mrd_error *error)
{
    mrd__image_section *sections = mrd__new_array(mrd__image_section, d->pieces.count + 1);
    mrd__image_header header = {
        .layout = mrd__image_layout(), .section_count = d->pieces.count, .key_size = key.size};
    memcpy(header.magic, MRD__IMAGE_MAGIC, sizeof header.magic);
    header.table = lay_out(d, sections, sizeof header + key.size);
    size_t table_size = d->pieces.count * sizeof *sections;
    header.table_hash =
        mrd__hash_mix(mrd__hash(sections, table_size), mrd__hash(key.data, key.size));
    header.size = header.table + table_size;
    header.header_hash = mrd__hash(&header, offsetof(mrd__image_header, header_hash));
    uint64_t at = sizeof header + key.size;
    mrd_status status = mrd__atomic_append(file, &header, sizeof header, error);
    if (status == MRD_OK) status = mrd__atomic_append(file, key.data, key.size, error);
    for (size_t i = 0; i < d->pieces.count && status == MRD_OK; i++) {
        status = pad_to(file, &at, sections[i].offset, error);
        size_t size = (size_t)(sections[i].count * sections[i].item);
        if (status == MRD_OK && size > 0)
            status = mrd__atomic_append(file, d->pieces.data[i].data, size, error);
        at += size;
    }
    if (status == MRD_OK) status = pad_to(file, &at, header.table, error);
    if (status == MRD_OK) status = mrd__atomic_append(file, sections, table_size, error);
    mrd__free(sections);
    return status;
}

static mrd_status write_draft(const draft *d, mrd__str key, const char *path, mrd_error *error)
{
    mrd__atomic_file file;
    MRD__TRY(mrd__atomic_begin(&file, path, error));
    return mrd__atomic_end(&file, write_all(&file, d, key, error), error);
}

mrd_status mrd__image_write(const mrd__store *store, mrd__str key, const char *path,
                            mrd_error *error)
{
    if (mrd__build_hash() == 0)
        return mrd__fail(error, MRD_ERR_FORMAT, "no_build_id",
                         "this program has no build id, without which an image is not trusted");
    if (key.size > MRD__IMAGE_KEY_MAX || store->file_count > MRD__FILES_MAX)
        return mrd__fail(error, MRD_ERR_LIMIT, "image_key", "a key of %zu bytes, at most %u",
                         key.size, MRD__IMAGE_KEY_MAX);
    draft d = {.walk = {.column = draft_column}};
    mrd__image_root root = draft_root(&d, store);
    add_piece(&d, &root, 1, sizeof root);
    mrd__store shown = *store; /* the walk sets aliases */
    mrd__events events;
    if (store->events != NULL) events = *store->events;
    mrd__image_walk_store(&d.walk, &shown, store->events != NULL ? &events : NULL);
    mrd__image_text *names = add_texts(&d, store->strings, store->string_count);
    mrd__image_text *components = store->events == NULL ? add_texts(&d, NULL, 0)
                                                        : add_texts(&d, store->events->components,
                                                                    store->events->component_count);
    mrd__image_file *files = mrd__new_array(mrd__image_file, store->file_count + 1);
    for (size_t f = 0; f < store->file_count; f++)
        files[f] = draft_file(&d, &store->files[f]);
    add_piece(&d, files, store->file_count, sizeof *files);
    for (size_t f = 0; f < store->file_count; f++)
        if (files[f].map_kind == MRD__IMAGE_MEMORY_MAP)
            add_piece(&d, store->files[f].map.data, store->files[f].map.size, 1);
    for (size_t b = 0; b < store->blob_count; b++)
        add_piece(&d, store->blobs[b].data, store->blobs[b].size, 1);
    add_piece(&d, d.texts.data, d.texts.size, 1); /* last: all others have added to it */
    mrd_status status = write_draft(&d, key, path, error);
    mrd__free(files);
    mrd__free(components);
    mrd__free(names);
    mrd__vec_reset(&d.pieces);
    mrd__buf_reset(&d.texts);
    return status;
}
