/* Dictionaries of names and categories: the strings that slices and instants use, in byte order
 * (ENUM sorts, and takes min and max, by code). */
#include "base/alloc.h"
#include "sql/inside.h"

#include <stdlib.h>
#include <string.h>

/* A text that a column holds: a string of the store or a category of event records. */
typedef struct member {
    mrd__str text;
    uint32_t id;
    bool event;
} member;
typedef MRD__VEC(member) members;

static void mark_used(bool *used, const mrd__str_id *ids, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        used[ids[i]] = true;
}

static void gather(const mrd__store *store, const bool *used, members *out)
{
    for (size_t id = 1; id < store->string_count; id++) {
        member one = {store->strings[id], (uint32_t)id, false};
        if (used[id]) mrd__vec_push(out, one);
    }
}

static void gather_events(const mrd__events *events, members *out)
{
    for (uint32_t c = 0; events != NULL && c < MRD__CAT_COUNT; c++) {
        member one = {mrd__str_of(events->category_names[c]), c, true};
        mrd__vec_push(out, one);
    }
}

static int by_text(const void *a, const void *b)
{
    return mrd__str_compare(((const member *)a)->text, ((const member *)b)->text);
}

/* A name with a zero byte cannot be a member: DuckDB takes C strings. */
static bool fits(const members *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const member *one = &list->data[i];
        if (memchr(one->text.data, '\0', one->text.size) != NULL) return false;
    }
    return list->count <= MRD__SQL_ENUM_MAX;
}

static void make_enum(const mrd__duck_api *api, mrd__sql_words *words, const members *list)
{
    mrd__buf bytes = {0};
    size_t *offsets = mrd__new_array(size_t, list->count + 1);
    for (size_t i = 0; i < list->count; i++) {
        const member *one = &list->data[i];
        if (i == 0 || by_text(one, one - 1) != 0) {
            offsets[words->count++] = bytes.size;
            mrd__buf_str(&bytes, one->text);
            mrd__buf_char(&bytes, '\0');
        }
        uint32_t *code = one->event ? &words->event_codes[one->id] : &words->codes[one->id];
        *code = (uint32_t)words->count - 1;
    }
    const char **names = mrd__new_array(const char *, list->count + 1);
    for (size_t i = 0; i < words->count; i++)
        names[i] = bytes.data + offsets[i];
    words->type = api->create_enum_type(names, words->count);
    duckdb_type inside = api->enum_internal_type(words->type);
    words->width = inside == DUCKDB_TYPE_UTINYINT ? 1 : inside == DUCKDB_TYPE_USMALLINT ? 2 : 4;
    mrd__free(names);
    mrd__free(offsets);
    mrd__buf_reset(&bytes);
}

static void make(const mrd__sql *sql, mrd__sql_words *words, const bool *used, bool with_events)
{
    members list = {0};
    gather(sql->store, used, &list);
    if (with_events) gather_events(sql->events, &list);
    if (list.count > 0 && fits(&list)) {
        qsort(list.data, list.count, sizeof *list.data, by_text);
        words->codes = mrd__new_array(uint32_t, sql->store->string_count);
        make_enum(sql->api, words, &list);
    } else {
        words->type = sql->api->create_logical_type(DUCKDB_TYPE_VARCHAR);
    }
    mrd__vec_reset(&list);
}

void mrd__sql_words_make(mrd__sql *sql)
{
    const mrd__store *store = sql->store;
    bool *used = mrd__new_array(bool, store->string_count + 1);
    mark_used(used, store->slices.name, store->slices.count);
    mark_used(used, store->instants.name, store->instants.count);
    make(sql, &sql->names, used, true);
    memset(used, 0, store->string_count);
    mark_used(used, store->slices.category, store->slices.count);
    mark_used(used, store->instants.category, store->instants.count);
    make(sql, &sql->categories, used, false);
    mrd__free(used);
}

void mrd__sql_words_reset(const mrd__duck_api *api, mrd__sql_words *words)
{
    if (words->type != NULL) api->destroy_logical_type(&words->type);
    mrd__free(words->codes);
    words->codes = NULL;
}
