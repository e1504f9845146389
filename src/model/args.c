#include "model/args.h"

#include "base/json.h"

mrd__str mrd__args_text(const mrd__args_room *room, mrd__args_ref ref)
{
    if (ref == 0) return (mrd__str){"", 0};
    uint32_t source = mrd__args_source(ref);
    uint64_t offset = mrd__args_offset(ref);
    const char *data = NULL;
    size_t size = 0;
    if ((source & MRD__ARGS_BLOB) != 0) {
        source &= ~MRD__ARGS_BLOB;
        if (source < room->blob_count) {
            data = room->blobs[source].data;
            size = room->blobs[source].size;
        }
    } else if (source < room->file_count) {
        data = room->files[source].map.data;
        size = room->files[source].map.size;
    }
    if (data == NULL || offset >= size) return (mrd__str){"", 0};
    mrd__json json;
    mrd__json_init(&json, data + offset, size - offset);
    mrd__json_token first = mrd__json_next(&json);
    if (first.type != MRD__JSON_OBJECT || !mrd__json_skip(&json, first)) return (mrd__str){"", 0};
    return (mrd__str){data + offset, json.at};
}

typedef struct member {
    mrd__str key;    /* decoded when it had escapes */
    mrd__str raw;    /* "key": value */
    mrd__str object; /* the value when it is an object */
} member;
typedef MRD__VEC(member) members;

static mrd__str decoded(mrd__arena *arena, mrd__json_token key)
{
    if (!key.escaped) return key.text;
    mrd__buf buf = {0};
    mrd__json_decode(&buf, key.text, NULL);
    mrd__str out = {mrd__arena_text(arena, buf.data == NULL ? "" : buf.data, buf.size), buf.size};
    mrd__buf_reset(&buf);
    return out;
}

static void read_members(members *out, mrd__arena *arena, mrd__str object)
{
    mrd__json json;
    mrd__json_init(&json, object.data, object.size);
    if (mrd__json_next(&json).type != MRD__JSON_OBJECT) return;
    for (;;) {
        mrd__json_token key = mrd__json_next(&json);
        if (key.type != MRD__JSON_KEY) return;
        mrd__json_token value = mrd__json_next(&json);
        if (value.type == MRD__JSON_ERROR || !mrd__json_skip(&json, value)) return;
        mrd__str raw = {object.data + key.offset, json.at - key.offset};
        member one = {.key = decoded(arena, key), .raw = raw};
        if (value.type == MRD__JSON_OBJECT)
            one.object = (mrd__str){object.data + value.offset, json.at - value.offset};
        mrd__vec_push(out, one);
    }
}

static const member *find(const members *list, mrd__str key)
{
    for (size_t i = 0; i < list->count; i++)
        if (mrd__str_equal(list->data[i].key, key)) return &list->data[i];
    return NULL;
}

static void merge(mrd__buf *out, mrd__str first, mrd__str second, unsigned depth);

/* A member of the second object; older: of the first, by the same key, or NULL. */
static void add_member(mrd__buf *out, const member *own, const member *older, unsigned depth)
{
    bool both = older != NULL && older->object.size > 0 && own->object.size > 0;
    if (!both || depth == MRD__ARGS_MERGE_DEPTH) {
        mrd__buf_str(out, own->raw);
        return;
    }
    mrd__buf_str(out, (mrd__str){own->raw.data, own->raw.size - own->object.size});
    merge(out, older->object, own->object, depth + 1);
}

static void merge(mrd__buf *out, mrd__str first, mrd__str second, unsigned depth)
{
    members a = {0};
    members b = {0};
    mrd__arena arena = {0};
    read_members(&a, &arena, first);
    read_members(&b, &arena, second);
    mrd__buf_char(out, '{');
    bool some = false;
    for (size_t i = 0; i < a.count; i++) {
        if (find(&b, a.data[i].key) != NULL) continue;
        if (some) mrd__buf_text(out, ", ");
        mrd__buf_str(out, a.data[i].raw);
        some = true;
    }
    for (size_t i = 0; i < b.count; i++) {
        if (some) mrd__buf_text(out, ", ");
        add_member(out, &b.data[i], find(&a, b.data[i].key), depth);
        some = true;
    }
    mrd__buf_char(out, '}');
    mrd__vec_reset(&a);
    mrd__vec_reset(&b);
    mrd__arena_reset(&arena);
}

void mrd__args_merge(mrd__buf *out, mrd__str first, mrd__str second)
{
    merge(out, first, second, 1);
}
