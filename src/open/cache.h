/* Warm opening: sealed stores as images (model/image.h) in the user's cache folder, found by what
 * their inputs are. Never beside the inputs; a missing, old, damaged or foreign image only means
 * that the inputs are read. */
#ifndef MRD_OPEN_CACHE_H
#define MRD_OPEN_CACHE_H

#include "model/store.h"

/* Images of more bytes than this together: the longest unused go first. Enough for a day's traces,
 * small beside the disks that traces lie on. */
#define MRD__CACHE_BYTES ((uint64_t)16 << 30)
/* Inputs of one key: a folder of ranks; the key holds their paths. */
#define MRD__CACHE_INPUTS 256

/* What the inputs are: of each the path, device, inode, size, mtime, ctime and the hash of its ends
 * and of blocks between, and how they are opened. false where that is not known (a folder, a pipe,
 * a file that is not there): then nothing is cached. */
bool mrd__cache_key(const char *const *paths, size_t count, const mrd_open_options *options,
                    mrd__buf *key);
/* The image of this key; false when there is none that can be trusted. verify: hash the inputs and
 * the image whole. */
bool mrd__cache_open(mrd__str key, bool verify, uint32_t threads, mrd__store **out);
/* Keep the store under the key that was taken before it was read; old images make room. */
MRD_MUST_CHECK mrd_status mrd__cache_write(const mrd__store *store, mrd__str key, mrd_error *error);

typedef struct mrd__cache_entry {
    char *path;
    uint64_t bytes;
    int64_t used_ns; /* REALTIME of the last use */
    char *inputs;    /* paths, one a line; NULL: no image of this build */
} mrd__cache_entry;
typedef MRD__VEC(mrd__cache_entry) mrd__cache_entries;
/* All images, last used first. A folder that is not there is empty. */
MRD_MUST_CHECK mrd_status mrd__cache_list(mrd__cache_entries *out, mrd_error *error);
void mrd__cache_entries_reset(mrd__cache_entries *entries);
/* Remove all images, and what writers that were stopped left; counts what went. */
MRD_MUST_CHECK mrd_status mrd__cache_clear(uint64_t *files, uint64_t *bytes, mrd_error *error);

#endif
