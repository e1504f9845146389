/* String pool of one shard: text to a dense id, private to one thread at a time.
 *
 * A string of at most 16 bytes is its own key: two words and the length say all, so that a front
 * cache answers without touching the pool. Behind it lies an open-addressed table of (hash, id).
 * Every entry keeps the position of its first use in the file: sealing numbers strings by it. */
#ifndef MRD_MODEL_POOL_H
#define MRD_MODEL_POOL_H

#include "base/alloc.h"
#include "base/text.h"

#define MRD__POOL_UNUSED UINT64_MAX /* position of a string that only discarded chunks used */
#define MRD__POOL_CACHE 512         /* entries of the front cache, a power of two */

typedef struct mrd__pool_entry {
    const char *data;
    uint32_t size;
    uint32_t hash;
    uint64_t position;
} mrd__pool_entry;

typedef struct mrd__pool_cached {
    uint64_t a, b;
    uint32_t size, id;
} mrd__pool_cached;

typedef struct mrd__pool {
    MRD__VEC(mrd__pool_entry) entries; /* [0] is the empty string */
    uint64_t *slots; /* hash << 32 | id, 0 free; indexed by the high bits of the hash */
    uint32_t bits;   /* log2 of the number of slots */
    mrd__arena bytes;
    MRD__VEC(uint32_t) revived; /* strings without a use that got one since the last mark */
    uint32_t mark;              /* strings before the current chunk */
    mrd__pool_cached cache[MRD__POOL_CACHE];
} mrd__pool;

void mrd__pool_init(mrd__pool *pool);
void mrd__pool_reset(mrd__pool *pool); /* frees */
/* Id of a text, 0 when empty. At most 2^32 - 2 strings of less than 2^32 bytes each. */
uint32_t mrd__pool_intern(mrd__pool *pool, const char *text, size_t size, uint64_t position);
/* Begin a chunk: what is first used from here on can be forgotten. */
void mrd__pool_mark(mrd__pool *pool);
/* Forget the first uses since the mark: the chunk was discarded. Ids stay valid. */
void mrd__pool_forget(mrd__pool *pool);
/* Forget the first uses at position and behind it. Ids stay valid. */
void mrd__pool_forget_from(mrd__pool *pool, uint64_t position);
/* The hash that entries keep (same text, same value, in every pool). */
uint32_t mrd__pool_hash(const char *text, size_t size);

#endif
