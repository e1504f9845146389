/* Every column of a store in one order, for the writer and the reader of images. */
#ifndef MRD_MODEL_IMAGE_WALK_H
#define MRD_MODEL_IMAGE_WALK_H

#include "model/events.h"
#include "model/image.h"

typedef struct mrd__image_walk mrd__image_walk;
struct mrd__image_walk {
    /* A column of count items: at is the address of its pointer (of any type). The reader sets
     * it. */
    void (*column)(mrd__image_walk *walk, void *at, uint64_t count, size_t item);
    bool failed; /* set by column: the walk ends, since later counts stand in earlier columns */
};
/* The structs' own members must be filled in but for the pointers (reader). events may be NULL. */
void mrd__image_walk_store(mrd__image_walk *walk, mrd__store *store, struct mrd__events *events);

/* ---- The file ---- */

#define MRD__IMAGE_ALIGN 64
#define MRD__IMAGE_KEY_MAX 65536

typedef struct mrd__image_header {
    char magic[8];
    uint64_t layout; /* hash of the build and the sizes of all structs */
    uint64_t size;   /* of the file */
    uint64_t table, section_count;
    uint64_t table_hash, key_size;
    uint64_t header_hash; /* of all before it */
} mrd__image_header;
#define MRD__IMAGE_MAGIC "MRDIMAGE"

typedef struct mrd__image_section {
    uint64_t offset, count, item;
    uint64_t whole, sample; /* hashes */
} mrd__image_section;

/* A text in the section of texts. */
typedef struct mrd__image_text {
    uint64_t first, size;
} mrd__image_text;

enum { /* where a file's mapping comes from */
    MRD__IMAGE_NO_MAP,
    MRD__IMAGE_FILE_MAP,   /* the file itself, mapped again */
    MRD__IMAGE_MEMORY_MAP, /* unpacked bytes: a section */
};
typedef struct mrd__image_file {
    mrd__file file;                                         /* pointers mean nothing */
    mrd__image_text path, format, clock, boot_id, map_path; /* NUL-terminated behind their size */
    uint64_t map_kind, map_size;
    int64_t map_mtime_ns;
    bool has_boot_id;
} mrd__image_file;

typedef struct mrd__image_root {
    mrd__store store;
    struct mrd__events events;
    bool has_events, has_align;
    mrd__image_text align, categories[MRD__CAT_COUNT];
    uint64_t process_name_count;
} mrd__image_root;

uint64_t mrd__image_layout(void);
uint64_t mrd__image_sample(const void *data, size_t size);

#endif
