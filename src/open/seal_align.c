/* --align start and collectives: files of ranks shifted as a whole, over what their clocks say.
 *
 * Collectives: all ranks leave one together, so the ends of matching ones are one moment. Matching
 * are those of one group, name and sequence number (where there is none: the how-manieth of its
 * group and name). PyTorch has the three in args of the device's kernels, Ascend's HCCL in the name
 * of its operators: hcom_allReduce__868_3_1 is number 3 of group 868. The first file with
 * collectives stays where it is; a file that shares some with those that are placed is shifted by
 * the median of the distances, in rounds, until nobody is left that shares any. What the median
 * leaves is told as residuals.
 */
#include "open/clocks.h"

#include "base/json.h"

#include <stdlib.h>
#include <string.h>

/* ---- Shifting ---- */

static void drop(mrd__clocks *c, const mrd__joined *chunk, uint64_t i, mrd__loss_id loss)
{
    mrd__fact *fact = mrd__shard_fact(chunk->shard, i);
    uint32_t name = c->seal->string_map[chunk->shard_index][fact->name];
    uint32_t order = chunk->base + (uint32_t)(i - chunk->first);
    mrd__found_at(&c->seal->worker[0].found, loss, order, name, -1, 0);
    fact->phase = MRD__NO_FACT;
}

static void shift_facts(mrd__clocks *c)
{
    bool from_zero = c->target_clock.id != MRD__CLOCK_FILE;
    for (size_t k = 0; k < c->seal->chunks.count; k++) {
        const mrd__joined *chunk = &c->seal->chunks.data[k];
        int64_t shift = c->seal->store->files[chunk->file].shift_ns;
        if (shift == 0) continue;
        for (uint64_t i = chunk->first; i < chunk->end; i++) {
            mrd__fact *fact = mrd__shard_fact(chunk->shard, i);
            if (fact->phase >= MRD__PROCESS_NAME) continue;
            if (__builtin_add_overflow(fact->ts, shift, &fact->ts))
                drop(c, chunk, i, MRD__LOSS_TIME_OVERFLOW);
            else if (from_zero && fact->ts < 0)
                drop(c, chunk, i, MRD__LOSS_TIME_BELOW_ZERO);
        }
    }
}

/* ---- Start ---- */

static void align_starts(mrd__clocks *c)
{
    mrd__store *store = c->seal->store;
    int64_t *first = mrd__new_array(int64_t, store->file_count);
    for (size_t f = 0; f < store->file_count; f++)
        first[f] = INT64_MAX;
    for (size_t k = 0; k < c->seal->chunks.count; k++) {
        const mrd__joined *chunk = &c->seal->chunks.data[k];
        for (uint64_t i = chunk->first; i < chunk->end; i++) {
            const mrd__fact *fact = mrd__shard_fact(chunk->shard, i);
            if (fact->phase < MRD__PROCESS_NAME && fact->ts < first[chunk->file])
                first[chunk->file] = fact->ts;
        }
    }
    size_t reference = 0;
    while (reference < store->file_count && first[reference] == INT64_MAX)
        reference++;
    for (size_t f = reference; f < store->file_count; f++) {
        if (first[f] == INT64_MAX) continue;
        if (__builtin_sub_overflow(first[reference], first[f], &store->files[f].shift_ns))
            store->files[f].shift_ns = 0;
    }
    mrd__free(first);
}

/* ---- Collectives ---- */

typedef struct collective {
    mrd__str key; /* group, name, sequence number; in the arena */
    uint32_t file;
    int64_t end_ns;
    bool numbered; /* the key has its sequence number */
} collective;

typedef struct collecting {
    mrd__clocks *c;
    mrd__arena arena;
    mrd__buf key;
    MRD__VEC(collective) all;
} collecting;

static mrd__str args_of(const mrd__clocks *c, const mrd__joined *chunk, const mrd__fact *fact)
{
    mrd__str none = {"", 0};
    if (fact->args == 0 || (fact->flags & MRD__ARGS_PLACE) != 0) return none;
    if ((fact->flags & MRD__ARGS_OWNED) != 0) {
        uint64_t place = fact->args - 1;
        const mrd__text_blob *blob = &chunk->shard->blobs.data[place >> 32];
        return (mrd__str){blob->data + (place & UINT32_MAX), blob->size - (place & UINT32_MAX)};
    }
    const mrd__map *map = &c->seal->store->files[chunk->file].map;
    if (map->data == NULL || fact->args > map->size) return none;
    return (mrd__str){map->data + fact->args - 1, map->size - (fact->args - 1)};
}

typedef struct collective_args {
    mrd__str group, name, sequence; /* raw JSON text */
} collective_args;

static collective_args read_args(mrd__str text)
{
    collective_args out = {0};
    mrd__json json;
    mrd__json_init(&json, text.data, text.size);
    if (mrd__json_next(&json).type != MRD__JSON_OBJECT) return out;
    for (;;) {
        mrd__json_token key = mrd__json_next(&json);
        if (key.type != MRD__JSON_KEY) return out;
        mrd__json_token value = mrd__json_next(&json);
        if (mrd__str_is(key.text, "Collective name")) out.name = value.text;
        if (mrd__str_is(key.text, "Process Group Name")) out.group = value.text;
        if (mrd__str_is(key.text, "Seq")) out.sequence = value.text;
        if (value.type == MRD__JSON_ERROR || !mrd__json_skip(&json, value)) return out;
    }
}

/* "hcom_", the operation, "__", numbers with "_" between. The launching side has no numbers. */
static bool is_hccl(mrd__str name)
{
    static const char head[] = "hcom_";
    if (name.size < sizeof head || memcmp(name.data, head, sizeof head - 1) != 0) return false;
    size_t at = name.size;
    while (at > 0 && (name.data[at - 1] == '_' || (unsigned char)(name.data[at - 1] - '0') < 10))
        at--;
    mrd__str tail = {name.data + at, name.size - at};
    return tail.size > 2 && tail.data[0] == '_' && tail.data[1] == '_' && tail.data[2] != '_' &&
           memchr(tail.data + 2, '_', tail.size - 2) != NULL;
}

/* The launching side of a collective bears its name as well; what counts is the device's. */
static bool may_be_collective(const mrd__clocks *c, const mrd__joined *chunk, const mrd__fact *fact)
{
    if (fact->phase != MRD__COMPLETE) return false;
    const uint32_t *strings = c->seal->string_map[chunk->shard_index];
    mrd__str category = c->seal->strings.data[strings[fact->category]];
    return category.size == 0 || mrd__str_is(category, "kernel");
}

static void take_collective(collecting *co, const mrd__joined *chunk, const mrd__fact *fact)
{
    collective_args args = read_args(args_of(co->c, chunk, fact));
    mrd__str name =
        co->c->seal->strings.data[co->c->seal->string_map[chunk->shard_index][fact->name]];
    if (args.name.size == 0 && is_hccl(name)) args = (collective_args){.name = name};
    int64_t end_ns;
    if (args.name.size == 0 || __builtin_add_overflow(fact->ts, fact->dur, &end_ns)) return;
    mrd__buf_clear(&co->key);
    mrd__buf_str(&co->key, args.group);
    mrd__buf_char(&co->key, '\n');
    mrd__buf_str(&co->key, args.name);
    mrd__buf_char(&co->key, '\n');
    mrd__buf_str(&co->key, args.sequence);
    collective one = {.file = chunk->file, .end_ns = end_ns, .numbered = args.sequence.size > 0};
    one.key.data = mrd__arena_text(&co->arena, co->key.data, co->key.size);
    one.key.size = co->key.size;
    mrd__vec_push(&co->all, one);
}

static int compare_collectives(const void *left, const void *right)
{
    const collective *a = left;
    const collective *b = right;
    int by_key = mrd__str_compare(a->key, b->key);
    if (by_key != 0) return by_key;
    if (a->file != b->file) return a->file < b->file ? -1 : 1;
    return a->end_ns < b->end_ns ? -1 : a->end_ns > b->end_ns;
}

static void sort_collectives(collecting *co)
{
    if (co->all.count > 1)
        qsort(co->all.data, co->all.count, sizeof *co->all.data, compare_collectives);
}

/* Those without a number get their place among their like as one. */
static void number_collectives(collecting *co)
{
    size_t place = 0;
    mrd__str last = {"", 0};
    uint32_t last_file = MRD__NONE;
    for (size_t i = 0; i < co->all.count; i++) {
        collective *one = &co->all.data[i];
        bool like = last_file == one->file && mrd__str_equal(last, one->key);
        place = like ? place + 1 : 0;
        last = one->key;
        last_file = one->file;
        if (one->numbered) continue;
        mrd__buf_clear(&co->key);
        mrd__buf_str(&co->key, one->key);
        mrd__buf_printf(&co->key, "#%zu", place);
        one->key.data = mrd__arena_text(&co->arena, co->key.data, co->key.size);
        one->key.size = co->key.size;
    }
    sort_collectives(co);
}

static void collect_collectives(collecting *co)
{
    for (size_t k = 0; k < co->c->seal->chunks.count; k++) {
        const mrd__joined *chunk = &co->c->seal->chunks.data[k];
        for (uint64_t i = chunk->first; i < chunk->end; i++) {
            const mrd__fact *fact = mrd__shard_fact(chunk->shard, i);
            if (may_be_collective(co->c, chunk, fact)) take_collective(co, chunk, fact);
        }
    }
    sort_collectives(co);
    number_collectives(co);
}

typedef struct distances {
    MRD__VEC(int64_t) list; /* of a file's ends to those of the files that are placed */
} distances;

static int compare_ns(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left;
    int64_t b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

/* Distances of all files that are not placed, from the collectives that they share. */
static void measure(const collecting *co, const bool *placed, distances *of)
{
    const mrd__file *files = co->c->seal->store->files;
    for (size_t from = 0, to; from < co->all.count; from = to) {
        const collective *reference = NULL;
        for (to = from;
             to < co->all.count && mrd__str_equal(co->all.data[to].key, co->all.data[from].key);
             to++)
            if (reference == NULL && placed[co->all.data[to].file]) reference = &co->all.data[to];
        for (size_t i = from; i < to && reference != NULL; i++) {
            const collective *one = &co->all.data[i];
            bool again = i > from && one[-1].file == one->file;
            if (placed[one->file] || again) continue;
            int64_t end_ns;
            int64_t distance;
            if (__builtin_add_overflow(reference->end_ns, files[reference->file].shift_ns,
                                       &end_ns) ||
                __builtin_sub_overflow(one->end_ns, end_ns, &distance))
                continue;
            mrd__vec_push(&of[one->file].list, distance);
        }
    }
}

/* Places a file by its distances; false when it has none. */
static bool place(mrd__file *file, distances *of)
{
    size_t count = of->list.count;
    if (count == 0) return false;
    qsort(of->list.data, count, sizeof *of->list.data, compare_ns);
    int64_t low = of->list.data[(count - 1) / 2];
    int64_t high = of->list.data[count / 2];
    int64_t median = (int64_t)(((__int128)low + high) / 2);
    if (median == INT64_MIN) return false;
    file->shift_ns = -median;
    file->align_pairs = (uint32_t)count;
    file->residual_min_ns = (int64_t)((uint64_t)of->list.data[0] - (uint64_t)median);
    file->residual_max_ns = (int64_t)((uint64_t)of->list.data[count - 1] - (uint64_t)median);
    return true;
}

static void align_collectives(mrd__clocks *c)
{
    mrd__store *store = c->seal->store;
    collecting co = {.c = c};
    collect_collectives(&co);
    bool *placed = mrd__new_array(bool, store->file_count);
    distances *of = mrd__new_array(distances, store->file_count);
    uint32_t first = MRD__NONE;
    for (size_t i = 0; i < co.all.count; i++)
        if (co.all.data[i].file < first) first = co.all.data[i].file;
    if (first != MRD__NONE) placed[first] = true;
    for (bool more = first != MRD__NONE; more;) {
        more = false;
        measure(&co, placed, of);
        for (size_t f = 0; f < store->file_count; f++) {
            bool now = !placed[f] && place(&store->files[f], &of[f]);
            placed[f] |= now;
            more |= now;
            of[f].list.count = 0;
        }
    }
    for (size_t f = 0; f < store->file_count; f++)
        mrd__vec_reset(&of[f].list);
    mrd__free(of);
    mrd__free(placed);
    mrd__vec_reset(&co.all);
    mrd__buf_reset(&co.key);
    mrd__arena_reset(&co.arena);
}

void mrd__clocks_align(mrd__clocks *c)
{
    static const char *const names[] = {[MRD__ALIGN_REALTIME] = "realtime",
                                        [MRD__ALIGN_START] = "start",
                                        [MRD__ALIGN_COLLECTIVES] = "collectives",
                                        [MRD__ALIGN_NONE] = "none"};
    mrd__align align = c->plan != NULL ? c->plan->align : MRD__ALIGN_REALTIME;
    c->seal->store->align = names[align];
    if (align == MRD__ALIGN_START) align_starts(c);
    if (align == MRD__ALIGN_COLLECTIVES) align_collectives(c);
    shift_facts(c);
}
