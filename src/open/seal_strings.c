/* Strings of all shards become one numbering: by first use in the files, whatever the threads. */
#include "open/sealing.h"

#include "base/assert.h"
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

/* The distinct texts are cut into parts by their hash, one worker a part:
 *
 *   pools    [ entries of shard 0 ][ of shard 1 ] ...     each part looks at all, takes its own
 *   parts    [ distinct texts, by first use ] ...         merged into one numbering
 *   strings  bytes one after another, in that order */
#define PARTS_MAX 8        /* merging looks at the head of each */
#define PARTS_FROM 4096    /* entries that one worker merges faster than several start */
#define COPY_AT_ONCE 8192u /* texts of one task */

/* A distinct text; its first use over all shards. */
typedef struct distinct {
    const mrd__pool_entry *entry;
    uint32_t file;
    uint32_t id; /* filled in last */
    uint64_t position;
} distinct;

/* In pages of their own: a block that the heap hands out costs a fault every 4 KiB. */
typedef struct part {
    distinct *all; /* [room] */
    size_t count, room;
    uint64_t *slots; /* hash << 32 | index + 1 */
    uint32_t bits;
    mrd__sort_key *keys;   /* [2 room + 1], the memory */
    mrd__sort_key *sorted; /* [count] in it */
} part;

typedef struct merging {
    mrd__sealing *seal;
    part parts[PARTS_MAX];
    uint32_t part_count;
    const distinct **order; /* [strings] by id - 1 */
    size_t *place;          /* [strings] where its bytes go */
    char *bytes;
} merging;

static uint32_t part_of(const merging *m, uint32_t hash)
{
    return (uint32_t)((uint64_t)hash * m->part_count >> 32);
}

/* The slot where the search for a text begins: parts are cut by the same bits, so these first. */
static size_t first_slot(const merging *m, const part *own, uint32_t hash)
{
    return (size_t)((uint32_t)((uint64_t)hash * m->part_count) >> (32 - own->bits));
}

static uint32_t merge_one(const merging *m, part *own, const mrd__pool_entry *entry, uint32_t file)
{
    size_t mask = ((size_t)1 << own->bits) - 1;
    size_t at = first_slot(m, own, entry->hash);
    for (; own->slots[at] != 0; at = (at + 1) & mask) {
        if ((uint32_t)(own->slots[at] >> 32) != entry->hash) continue;
        uint32_t index = (uint32_t)own->slots[at] - 1;
        distinct *text = &own->all[index];
        if (text->entry->size != entry->size ||
            memcmp(text->entry->data, entry->data, entry->size) != 0)
            continue;
        if (file < text->file || (file == text->file && entry->position < text->position)) {
            text->file = file;
            text->position = entry->position;
        }
        return index;
    }
    own->all[own->count] = (distinct){.entry = entry, .file = file, .position = entry->position};
    own->slots[at] = (uint64_t)entry->hash << 32 | ++own->count;
    return (uint32_t)own->count - 1;
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

/* The texts of a part by (file, position, text). */
static void sort_part(part *own)
{
    size_t count = own->count;
    mrd__sort_key *room = own->keys;
    for (size_t i = 0; i < count; i++)
        room[i] = (mrd__sort_key){own->all[i].position, (uint32_t)i};
    mrd__sort_key *keys = mrd__radix_sort(room, room + count, count);
    for (size_t i = 0; i < count; i++)
        keys[i].key = own->all[keys[i].index].file;
    keys = mrd__radix_sort(keys, keys == room ? room + count : room, count);
    for (size_t from = 0; from < count;) {
        const distinct *first = &own->all[keys[from].index];
        size_t to = from + 1;
        while (to < count && own->all[keys[to].index].file == first->file &&
               own->all[keys[to].index].position == first->position)
            to++;
        if (to - from > 1) order_run(keys + from, to - from, own->all);
        from = to;
    }
    own->sorted = keys;
}

static size_t entries_of(const mrd__writer *writer, size_t shard)
{
    return writer->shards.data[shard]->pool.entries.count;
}

/* Texts in a part, those of several shards as often as they have them. */
static size_t count_part(const merging *m, uint32_t index)
{
    const mrd__writer *writer = m->seal->writer;
    size_t count = 0;
    for (size_t s = 0; s < writer->shards.count; s++) {
        const mrd__pool_entry *entries = writer->shards.data[s]->pool.entries.data;
        for (size_t id = 1; id < entries_of(writer, s); id++)
            count += part_of(m, entries[id].hash) == index;
    }
    return count;
}

/* The map of each shard points into the part of the text's hash until all have ids. */
static void merge_part(void *ctx, size_t index, uint32_t worker)
{
    (void)worker;
    merging *m = ctx;
    part *own = &m->parts[index];
    const mrd__sealing *seal = m->seal;
    const mrd__writer *writer = seal->writer;
    *own = (part){.bits = 8, .room = count_part(m, (uint32_t)index)};
    while (((size_t)1 << own->bits) < own->room * 2)
        own->bits++;
    mrd__assert(own->bits <= 32);
    own->slots = mrd__pages_alloc(((size_t)1 << own->bits) * sizeof *own->slots);
    own->all = mrd__pages_take(own->room * sizeof *own->all);
    /* One more: without any text there would be no memory to point into. */
    own->keys = mrd__pages_take((2 * own->room + 1) * sizeof *own->keys);
    for (size_t s = 0; s < writer->shards.count; s++) {
        const mrd__shard *shard = writer->shards.data[s];
        uint32_t *map = seal->string_map[s];
        for (size_t id = 1; id < shard->pool.entries.count; id++) {
            const mrd__pool_entry *entry = &shard->pool.entries.data[id];
            if (part_of(m, entry->hash) != index) continue;
            map[id] = MRD__NONE;
            if (entry->position == MRD__POOL_UNUSED) continue;
            map[id] = merge_one(m, own, entry, seal->file_of[shard->file]);
        }
    }
    sort_part(own);
}

static bool stands_before(const distinct *a, const distinct *b)
{
    if (a->file != b->file) return a->file < b->file;
    if (a->position != b->position) return a->position < b->position;
    return compare_texts(a, b) < 0;
}

/* Number the texts of all parts by (file, position, text); 0 stays the empty string. Returns the
 * bytes of all. */
static size_t number(merging *m)
{
    size_t heads[PARTS_MAX] = {0};
    size_t bytes = 0;
    for (uint32_t id = 1;; id++) {
        distinct *least = NULL;
        uint32_t from = 0;
        for (uint32_t p = 0; p < m->part_count; p++) {
            const part *own = &m->parts[p];
            if (heads[p] == own->count) continue;
            distinct *head = &own->all[own->sorted[heads[p]].index];
            if (least != NULL && !stands_before(head, least)) continue;
            least = head;
            from = p;
        }
        if (least == NULL) return bytes;
        heads[from]++;
        least->id = id;
        m->order[id - 1] = least;
        m->place[id - 1] = bytes;
        bytes += (size_t)least->entry->size + 1;
    }
}

/* The bytes of some texts, each with a zero behind it. */
static void copy_texts(void *ctx, size_t index, uint32_t worker)
{
    (void)worker;
    merging *m = ctx;
    mrd__sealing *seal = m->seal;
    size_t end = (index + 1) * COPY_AT_ONCE;
    if (end > seal->strings.count - 1) end = seal->strings.count - 1;
    for (size_t i = index * COPY_AT_ONCE; i < end; i++) {
        const mrd__pool_entry *entry = m->order[i]->entry;
        char *out = m->bytes + m->place[i];
        memcpy(out, entry->data, entry->size);
        out[entry->size] = '\0';
        seal->strings.data[i + 1] = (mrd__str){out, entry->size};
    }
}

static void map_shard(void *ctx, size_t index, uint32_t worker)
{
    (void)worker;
    const merging *m = ctx;
    const mrd__pool_entry *entries = m->seal->writer->shards.data[index]->pool.entries.data;
    uint32_t *map = m->seal->string_map[index];
    for (size_t id = 1; id < entries_of(m->seal->writer, index); id++)
        map[id] = map[id] == MRD__NONE ? 0 : m->parts[part_of(m, entries[id].hash)].all[map[id]].id;
}

static void take_texts(merging *m, uint32_t workers)
{
    mrd__sealing *seal = m->seal;
    size_t count = 0;
    for (uint32_t p = 0; p < m->part_count; p++)
        count += m->parts[p].count;
    m->order = mrd__alloc(count * sizeof *m->order);
    m->place = mrd__alloc(count * sizeof *m->place);
    mrd__vec_reserve(&seal->strings, count + 1);
    seal->strings.data[0] = (mrd__str){"", 0};
    seal->strings.count = count + 1;
    size_t bytes = number(m);
    if (bytes > 0) m->bytes = mrd__arena_alloc(&seal->store->string_bytes, bytes, 1);
    mrd__parallel_for(workers, (count + COPY_AT_ONCE - 1) / COPY_AT_ONCE, copy_texts, m);
    mrd__parallel_for(workers, seal->writer->shards.count, map_shard, m);
    mrd__free(m->order);
    mrd__free(m->place);
}

void mrd__seal_strings(mrd__sealing *seal)
{
    mrd__writer *writer = seal->writer;
    merging m = {.seal = seal};
    size_t total = 0;
    seal->string_map = mrd__new_array(uint32_t *, writer->shards.count);
    for (size_t s = 0; s < writer->shards.count; s++) {
        seal->string_map[s] = mrd__new_array(uint32_t, entries_of(writer, s));
        total += entries_of(writer, s);
    }
    uint32_t workers = total < PARTS_FROM ? 1 : seal->workers;
    m.part_count = workers < PARTS_MAX ? workers : PARTS_MAX;
    mrd__parallel_for(workers, m.part_count, merge_part, &m);
    take_texts(&m, workers);
    for (uint32_t p = 0; p < m.part_count; p++) {
        part *own = &m.parts[p];
        mrd__pages_give(own->all, own->room * sizeof *own->all);
        mrd__pages_give(own->keys, (2 * own->room + 1) * sizeof *own->keys);
        mrd__pages_give(own->slots, ((size_t)1 << own->bits) * sizeof *own->slots);
    }
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
