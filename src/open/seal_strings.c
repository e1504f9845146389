/* Strings of all shards become one numbering: by first use in the files, whatever the threads. */
#include "open/sealing.h"

#include "base/assert.h"
#include "pairing/sort.h"

#include <stdlib.h>
#include <string.h>

/* A distinct text; its first use over all shards. */
typedef struct distinct {
    const mrd__pool_entry *entry;
    uint32_t file;
    uint32_t id; /* filled in last */
    uint64_t position;
} distinct;

/* In pages of its own: a block that the heap hands out costs a fault every 4 KiB. */
typedef struct merging {
    distinct *all; /* [room] */
    size_t count, room;
    uint64_t *slots; /* hash << 32 | index + 1 */
    uint32_t bits;
} merging;

static uint32_t merge_one(merging *m, const mrd__pool_entry *entry, uint32_t file)
{
    size_t mask = ((size_t)1 << m->bits) - 1;
    size_t at = (size_t)entry->hash >> (32 - m->bits);
    for (; m->slots[at] != 0; at = (at + 1) & mask) {
        if ((uint32_t)(m->slots[at] >> 32) != entry->hash) continue;
        uint32_t index = (uint32_t)m->slots[at] - 1;
        distinct *own = &m->all[index];
        if (own->entry->size != entry->size ||
            memcmp(own->entry->data, entry->data, entry->size) != 0)
            continue;
        if (file < own->file || (file == own->file && entry->position < own->position)) {
            own->file = file;
            own->position = entry->position;
        }
        return index;
    }
    m->all[m->count] = (distinct){.entry = entry, .file = file, .position = entry->position};
    m->slots[at] = (uint64_t)entry->hash << 32 | ++m->count;
    return (uint32_t)m->count - 1;
}

static int compare_texts(const distinct *a, const distinct *b)
{
    return mrd__str_compare((mrd__str){a->entry->data, a->entry->size},
                            (mrd__str){b->entry->data, b->entry->size});
}

typedef struct text_key {
    const distinct *text;
    uint32_t index;
} text_key;

static int compare_text_keys(const void *left, const void *right)
{
    const text_key *a = left;
    const text_key *b = right;
    return compare_texts(a->text, b->text);
}

/* Several strings may name one position (those of one event): by text then. */
static void order_run(mrd__sort_key *run, size_t count, const distinct *all)
{
    text_key *keys = mrd__alloc(count * sizeof *keys);
    for (size_t i = 0; i < count; i++)
        keys[i] = (text_key){&all[run[i].index], run[i].index};
    qsort(keys, count, sizeof *keys, compare_text_keys);
    for (size_t i = 0; i < count; i++)
        run[i].index = keys[i].index;
    mrd__free(keys);
}

/* Number the distinct texts by (file, position, text); 0 stays the empty string. */
static void number(mrd__sealing *seal, merging *m)
{
    size_t count = m->count;
    /* One more: without any text there would be no memory to point into. */
    size_t room_size = (2 * count + 1) * sizeof(mrd__sort_key);
    mrd__sort_key *room = mrd__pages_alloc(room_size);
    mrd__sort_key *keys = room;
    for (size_t i = 0; i < count; i++)
        keys[i] = (mrd__sort_key){m->all[i].position, (uint32_t)i};
    keys = mrd__radix_sort(keys, room + count, count);
    for (size_t i = 0; i < count; i++)
        keys[i].key = m->all[keys[i].index].file;
    keys = mrd__radix_sort(keys, keys == room ? room + count : room, count);
    for (size_t from = 0; from < count;) {
        const distinct *first = &m->all[keys[from].index];
        size_t to = from + 1;
        while (to < count && m->all[keys[to].index].file == first->file &&
               m->all[keys[to].index].position == first->position)
            to++;
        if (to - from > 1) order_run(keys + from, to - from, m->all);
        from = to;
    }
    mrd__arena *bytes = &seal->store->string_bytes;
    mrd__vec_reserve(&seal->strings, count + 1);
    mrd__vec_push(&seal->strings, ((mrd__str){"", 0}));
    for (size_t i = 0; i < count; i++) {
        distinct *own = &m->all[keys[i].index];
        own->id = (uint32_t)i + 1;
        mrd__str text = {mrd__arena_text(bytes, own->entry->data, own->entry->size),
                         own->entry->size};
        mrd__vec_push(&seal->strings, text);
    }
    mrd__pages_free(room, room_size);
}

void mrd__seal_strings(mrd__sealing *seal)
{
    mrd__writer *writer = seal->writer;
    size_t total = 0;
    for (size_t s = 0; s < writer->shards.count; s++)
        total += writer->shards.data[s]->pool.entries.count;
    merging m = {.bits = 8, .room = total};
    while (((size_t)1 << m.bits) < total * 2)
        m.bits++;
    mrd__assert(m.bits <= 32);
    m.slots = mrd__pages_alloc(((size_t)1 << m.bits) * sizeof *m.slots);
    m.all = mrd__pages_alloc(m.room * sizeof *m.all);
    seal->string_map = mrd__new_array(uint32_t *, writer->shards.count);
    for (size_t s = 0; s < writer->shards.count; s++) {
        const mrd__shard *shard = writer->shards.data[s];
        size_t count = shard->pool.entries.count;
        uint32_t *map = mrd__new_array(uint32_t, count);
        for (size_t id = 1; id < count; id++) {
            const mrd__pool_entry *entry = &shard->pool.entries.data[id];
            map[id] = MRD__NONE;
            if (entry->position == MRD__POOL_UNUSED) continue;
            map[id] = merge_one(&m, entry, seal->file_of[shard->file]);
        }
        seal->string_map[s] = map;
    }
    number(seal, &m);
    for (size_t s = 0; s < writer->shards.count; s++) {
        uint32_t *map = seal->string_map[s];
        for (size_t id = 1; id < writer->shards.data[s]->pool.entries.count; id++)
            map[id] = map[id] == MRD__NONE ? 0 : m.all[map[id]].id;
    }
    mrd__pages_free(m.all, m.room * sizeof *m.all);
    mrd__pages_free(m.slots, ((size_t)1 << m.bits) * sizeof *m.slots);
    mrd__pool_init(&seal->extra);
    seal->extra_base = (uint32_t)seal->strings.count;
}

/* Id of a text in a shard's pool, 0 when it has none. */
static uint32_t find_in_pool(const mrd__pool *pool, const char *text, size_t size, uint32_t hash)
{
    size_t mask = ((size_t)1 << pool->bits) - 1;
    for (size_t at = (size_t)hash >> (32 - pool->bits); pool->slots[at] != 0;
         at = (at + 1) & mask) {
        if ((uint32_t)(pool->slots[at] >> 32) != hash) continue;
        uint32_t id = (uint32_t)pool->slots[at];
        const mrd__pool_entry *entry = &pool->entries.data[id];
        if (entry->size == size && memcmp(entry->data, text, size) == 0) return id;
    }
    return 0;
}

mrd__str_id mrd__seal_string(mrd__sealing *seal, const char *text, size_t size)
{
    if (size == 0) return 0;
    uint32_t hash = mrd__pool_hash(text, size);
    const mrd__writer *writer = seal->writer;
    for (size_t s = 0; s < writer->shards.count; s++) {
        if (writer->shards.data[s]->pool.slots == NULL) continue; /* freed: the names are made */
        uint32_t id = find_in_pool(&writer->shards.data[s]->pool, text, size, hash);
        if (id != 0 && seal->string_map[s][id] != 0) return seal->string_map[s][id];
    }
    size_t known = seal->extra.entries.count;
    uint32_t id = mrd__pool_intern(&seal->extra, text, size, 0);
    if (id == known) {
        const char *copy = mrd__arena_text(&seal->store->string_bytes, text, size);
        mrd__vec_push(&seal->strings, ((mrd__str){copy, size}));
    }
    return seal->extra_base + id - 1;
}

void mrd__seal_strings_done(mrd__sealing *seal)
{
    seal->store->strings = seal->strings.data;
    seal->store->string_count = seal->strings.count;
    mrd__pool_reset(&seal->extra);
}
