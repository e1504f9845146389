#include "model/pool.h"

#include "base/assert.h"

#include <string.h>

#define FIRST_BITS 10

static inline uint64_t load64(const char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline uint64_t load32(const char *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* All bytes of a text of 1 to 16 bytes in two words; with the size they identify it. */
static inline void short_key(const char *text, size_t size, uint64_t *a, uint64_t *b)
{
    if (size >= 8) {
        *a = load64(text);
        *b = load64(text + size - 8);
    } else if (size >= 4) {
        *a = load32(text) | load32(text + size - 4) << 32;
        *b = 0;
    } else {
        *a = (uint64_t)(unsigned char)text[0] | (uint64_t)(unsigned char)text[size / 2] << 8 |
             (uint64_t)(unsigned char)text[size - 1] << 16;
        *b = 0;
    }
}

static inline uint32_t short_hash(uint64_t a, uint64_t b, size_t size)
{
    return (uint32_t)(mrd__hash_mix(a + size, b) >> 32);
}

static inline uint32_t long_hash(const char *text, size_t size)
{
    return (uint32_t)(mrd__hash(text, size) >> 32);
}

uint32_t mrd__pool_hash(const char *text, size_t size)
{
    if (size == 0 || size > 16) return long_hash(text, size);
    uint64_t a;
    uint64_t b;
    short_key(text, size, &a, &b);
    return short_hash(a, b, size);
}

void mrd__pool_init(mrd__pool *pool)
{
    *pool = (mrd__pool){.bits = FIRST_BITS};
    pool->slots = mrd__new_array(uint64_t, (size_t)1 << FIRST_BITS);
    mrd__vec_push(&pool->entries, ((mrd__pool_entry){.data = ""}));
}

void mrd__pool_reset(mrd__pool *pool)
{
    mrd__vec_reset(&pool->entries);
    mrd__vec_reset(&pool->revived);
    mrd__free(pool->slots);
    mrd__arena_reset(&pool->bytes);
    *pool = (mrd__pool){0};
}

static void grow(mrd__pool *pool)
{
    uint32_t bits = pool->bits + 1;
    uint64_t *slots = mrd__new_array(uint64_t, (size_t)1 << bits);
    size_t mask = ((size_t)1 << bits) - 1;
    for (size_t i = 0; i < (size_t)1 << pool->bits; i++) {
        uint64_t slot = pool->slots[i];
        if (slot == 0) continue;
        size_t at = (size_t)((uint32_t)(slot >> 32)) >> (32 - bits);
        while (slots[at] != 0)
            at = (at + 1) & mask;
        slots[at] = slot;
    }
    mrd__free(pool->slots);
    pool->slots = slots;
    pool->bits = bits;
}

static uint32_t find_or_add(mrd__pool *pool, const char *text, size_t size, uint32_t hash,
                            uint64_t position)
{
    size_t mask = ((size_t)1 << pool->bits) - 1;
    size_t at = (size_t)hash >> (32 - pool->bits);
    for (; pool->slots[at] != 0; at = (at + 1) & mask) {
        if ((uint32_t)(pool->slots[at] >> 32) != hash) continue;
        uint32_t id = (uint32_t)pool->slots[at];
        mrd__pool_entry *entry = &pool->entries.data[id];
        if (entry->size != size || memcmp(entry->data, text, size) != 0) continue;
        if (entry->position == MRD__POOL_UNUSED) {
            entry->position = position;
            mrd__vec_push(&pool->revived, id);
        }
        return id;
    }
    mrd__assert(size < UINT32_MAX && pool->entries.count < UINT32_MAX);
    uint32_t id = (uint32_t)pool->entries.count;
    mrd__pool_entry entry = {.data = mrd__arena_text(&pool->bytes, text, size),
                             .size = (uint32_t)size,
                             .hash = hash,
                             .position = position};
    mrd__vec_push(&pool->entries, entry);
    pool->slots[at] = (uint64_t)hash << 32 | id;
    if (pool->entries.count * 2 > mask && pool->bits < 32) grow(pool);
    return id;
}

uint32_t mrd__pool_intern(mrd__pool *pool, const char *text, size_t size, uint64_t position)
{
    if (size == 0) return 0;
    if (size > 16) return find_or_add(pool, text, size, long_hash(text, size), position);
    uint64_t a;
    uint64_t b;
    short_key(text, size, &a, &b);
    uint32_t hash = short_hash(a, b, size);
    mrd__pool_cached *cached = &pool->cache[hash % MRD__POOL_CACHE];
    if (cached->a == a && cached->b == b && cached->size == size) return cached->id;
    uint32_t id = find_or_add(pool, text, size, hash, position);
    *cached = (mrd__pool_cached){.a = a, .b = b, .size = (uint32_t)size, .id = id};
    return id;
}

void mrd__pool_mark(mrd__pool *pool)
{
    pool->mark = (uint32_t)pool->entries.count;
    pool->revived.count = 0;
}

void mrd__pool_forget(mrd__pool *pool)
{
    for (size_t id = pool->mark; id < pool->entries.count; id++)
        pool->entries.data[id].position = MRD__POOL_UNUSED;
    for (size_t i = 0; i < pool->revived.count; i++)
        pool->entries.data[pool->revived.data[i]].position = MRD__POOL_UNUSED;
    pool->revived.count = 0;
    memset(pool->cache, 0, sizeof pool->cache);
}

void mrd__pool_forget_from(mrd__pool *pool, uint64_t position)
{
    for (size_t id = 1; id < pool->entries.count; id++) {
        mrd__pool_entry *entry = &pool->entries.data[id];
        if (entry->position >= position) entry->position = MRD__POOL_UNUSED;
    }
    pool->revived.count = 0;
    memset(pool->cache, 0, sizeof pool->cache);
}
