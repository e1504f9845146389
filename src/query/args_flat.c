/* Flattening keeps one key text that grows and shrinks with the nesting:
 *
 *   {"a": {"b": [1, {"c": 2}]}}        a.b[0] = 1, a.b[1].c = 2
 *   frames:  a | .b | [1] | .c         each frame remembers where its part begins
 *
 * Duplicate keys: leaves are gathered first; when an object ends, its keys are sorted by hash and
 * the leaves of all but the last of equal keys are marked dead. */
#include "query/args_flat.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* ---- Strict and compact ---- */

static bool is_plain_text(mrd__str text)
{
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if (c < 0x20 || c > 0x7e || c == '\\') return false;
    }
    return true;
}

static void add_string(mrd__buf *out, mrd__buf *scratch, mrd__str raw)
{
    if (is_plain_text(raw)) {
        mrd__buf_char(out, '"');
        mrd__buf_str(out, raw);
        mrd__buf_char(out, '"');
        return;
    }
    mrd__buf_clear(scratch);
    mrd__json_decode(scratch, raw, NULL);
    mrd__buf_json_string(out, (mrd__str){scratch->data, scratch->size});
}

/* "nan", "inf", "-inf" for however the file spells it. */
static mrd__str nonfinite_text(mrd__str text)
{
    bool negative = text.size > 0 && text.data[0] == '-';
    char first = text.data[negative || text.data[0] == '+'];
    if (first == 'n' || first == 'N') return MRD__STR("nan");
    return negative ? MRD__STR("-inf") : MRD__STR("inf");
}

static void add_scalar(mrd__buf *out, mrd__buf *scratch, const mrd__json_token *token)
{
    switch (token->type) {
    case MRD__JSON_STRING:
        add_string(out, scratch, token->text);
        return;
    case MRD__JSON_NUMBER:
        if (!token->nonstandard) {
            mrd__buf_str(out, token->text);
            return;
        }
        mrd__buf_char(out, '"');
        mrd__buf_str(out, nonfinite_text(token->text));
        mrd__buf_char(out, '"');
        return;
    case MRD__JSON_TRUE:
        mrd__buf_add(out, "true", 4);
        return;
    case MRD__JSON_FALSE:
        mrd__buf_add(out, "false", 5);
        return;
    default:
        mrd__assert(token->type == MRD__JSON_NULL);
        mrd__buf_add(out, "null", 4);
    }
}

/* False when the text is not JSON. */
static bool compact(mrd__buf *out, mrd__buf *scratch, mrd__str text)
{
    mrd__json json;
    mrd__json_init(&json, text.data, text.size);
    bool comma = false;
    for (;;) {
        mrd__json_token token = mrd__json_next(&json);
        if (token.type == MRD__JSON_ERROR) return false;
        if (token.type == MRD__JSON_END) return true;
        bool closes = token.type == MRD__JSON_OBJECT_END || token.type == MRD__JSON_ARRAY_END;
        if (comma && !closes) mrd__buf_char(out, ',');
        comma = true;
        if (token.type == MRD__JSON_KEY) {
            add_string(out, scratch, token.text);
            mrd__buf_char(out, ':');
            comma = false;
        } else if (token.type == MRD__JSON_OBJECT || token.type == MRD__JSON_ARRAY) {
            mrd__buf_char(out, token.type == MRD__JSON_OBJECT ? '{' : '[');
            comma = false;
        } else if (closes) {
            mrd__buf_char(out, token.type == MRD__JSON_OBJECT_END ? '}' : ']');
        } else {
            add_scalar(out, scratch, &token);
        }
    }
}

void mrd__args_compact(mrd__buf *out, mrd__str text)
{
    mrd__buf scratch = {0};
    size_t before = out->size;
    if (!compact(out, &scratch, text)) {
        out->size = before;
        mrd__buf_json_string(out, text);
    }
    mrd__buf_reset(&scratch);
}

/* ---- Flat ---- */

const char *mrd__arg_type_name(mrd__arg_type type)
{
    static const char *const names[] = {"string", "int", "double", "bool", "null", "text"};
    return names[type];
}

typedef struct leaf {
    size_t key, key_size, value, value_size; /* in flat->text */
    mrd__arg_type type;
    bool dead;
} leaf;

/* A key seen in an open object. */
typedef struct seen {
    uint64_t hash;
    size_t key, key_size; /* decoded part, in flat->keys */
    size_t first_leaf;    /* leaves of its value: [first_leaf, end_leaf) */
    size_t end_leaf;
} seen;

typedef struct frame {
    bool object;
    size_t path;       /* length of the path outside of this container's parts */
    size_t first_seen; /* objects: their keys are seen[first_seen..] */
    size_t keys;       /* size of flat->keys before them */
    size_t index;      /* arrays: of the next element */
    bool empty;
} frame;

struct mrd__flat {
    mrd__buf path, text, keys;
    MRD__VEC(leaf) leaves;
    MRD__VEC(seen) seen;
    frame frames[MRD__JSON_MAX_DEPTH];
    size_t depth;
};

static void add_leaf(mrd__flat *f, mrd__arg_type type, mrd__str value, bool decode)
{
    leaf one = {.type = type, .key = f->text.size, .key_size = f->path.size};
    mrd__buf_add(&f->text, f->path.data, f->path.size);
    one.value = f->text.size;
    if (decode)
        mrd__json_decode(&f->text, value, NULL);
    else
        mrd__buf_str(&f->text, value);
    one.value_size = f->text.size - one.value;
    mrd__vec_push(&f->leaves, one);
}

static void add_number(mrd__flat *f, const mrd__json_token *token)
{
    if (token->nonstandard) {
        add_leaf(f, MRD__ARG_TEXT, nonfinite_text(token->text), false);
        return;
    }
    bool whole = true;
    for (size_t i = 0; i < token->text.size; i++) {
        char c = token->text.data[i];
        if (c == '.' || c == 'e' || c == 'E') whole = false;
    }
    double value;
    if (whole || !mrd__parse_double(token->text, &value)) {
        /* A decimal over the range of double is shown as it stands. */
        add_leaf(f, whole ? MRD__ARG_INT : MRD__ARG_TEXT, token->text, false);
        return;
    }
    mrd__buf shortest = {0};
    mrd__buf_double(&shortest, value);
    add_leaf(f, MRD__ARG_DOUBLE, (mrd__str){shortest.data, shortest.size}, false);
    mrd__buf_reset(&shortest);
}

static void begin_key(mrd__flat *f, mrd__str raw)
{
    frame *top = &f->frames[f->depth - 1];
    top->empty = false;
    f->path.size = top->path;
    if (top->path > 0) mrd__buf_char(&f->path, '.');
    size_t part = f->path.size;
    mrd__json_decode(&f->path, raw, NULL);
    size_t size = f->path.size - part;
    seen one = {.hash = mrd__hash(f->path.data + part, size),
                .key = f->keys.size,
                .key_size = size,
                .first_leaf = f->leaves.count};
    if (f->seen.count > top->first_seen) f->seen.data[f->seen.count - 1].end_leaf = f->leaves.count;
    mrd__buf_add(&f->keys, f->path.data + part, size);
    mrd__vec_push(&f->seen, one);
}

/* By hash, equal hashes in file order (every value has a leaf, so first leaves differ). */
static int compare_seen(const void *a, const void *b)
{
    const seen *x = a;
    const seen *y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    return x->first_leaf < y->first_leaf ? -1 : x->first_leaf > y->first_leaf;
}

static bool same_key(const mrd__flat *f, const seen *a, const seen *b)
{
    return a->hash == b->hash && a->key_size == b->key_size &&
           memcmp(f->keys.data + a->key, f->keys.data + b->key, a->key_size) == 0;
}

/* At the end of an object: of equal keys only the last one's leaves stay alive. */
static void kill_repeated(mrd__flat *f, const frame *object)
{
    seen *keys = f->seen.data + object->first_seen;
    size_t count = f->seen.count - object->first_seen;
    if (count == 0) return;
    keys[count - 1].end_leaf = f->leaves.count;
    qsort(keys, count, sizeof *keys, compare_seen);
    for (size_t i = 0; i < count; i++) {
        size_t later = i + 1;
        while (later < count && keys[later].hash == keys[i].hash &&
               !same_key(f, keys + i, keys + later))
            later++;
        if (later == count || keys[later].hash != keys[i].hash) continue;
        for (size_t l = keys[i].first_leaf; l < keys[i].end_leaf; l++)
            f->leaves.data[l].dead = true;
    }
}

/* Before any value but a key's: an element of a list gets its index. */
static void begin_value(mrd__flat *f)
{
    if (f->depth == 0) return;
    frame *top = &f->frames[f->depth - 1];
    top->empty = false;
    if (top->object) return;
    f->path.size = top->path;
    mrd__buf_char(&f->path, '[');
    mrd__buf_uint(&f->path, top->index++);
    mrd__buf_char(&f->path, ']');
}

static void open_container(mrd__flat *f, bool object)
{
    begin_value(f);
    mrd__assert(f->depth < MRD__JSON_MAX_DEPTH);
    f->frames[f->depth++] = (frame){.object = object,
                                    .path = f->path.size,
                                    .first_seen = f->seen.count,
                                    .keys = f->keys.size,
                                    .empty = true};
}

static void close_container(mrd__flat *f)
{
    frame *top = &f->frames[--f->depth];
    if (top->object) kill_repeated(f, top);
    f->path.size = top->path;
    f->seen.count = top->first_seen;
    f->keys.size = top->keys;
    if (top->empty && f->depth > 0)
        add_leaf(f, MRD__ARG_TEXT, top->object ? MRD__STR("{}") : MRD__STR("[]"), false);
}

static void add_value(mrd__flat *f, const mrd__json_token *token)
{
    begin_value(f);
    switch (token->type) {
    case MRD__JSON_STRING:
        add_leaf(f, MRD__ARG_STRING, token->text, true);
        return;
    case MRD__JSON_NUMBER:
        add_number(f, token);
        return;
    case MRD__JSON_TRUE:
        add_leaf(f, MRD__ARG_BOOL, MRD__STR("true"), false);
        return;
    case MRD__JSON_FALSE:
        add_leaf(f, MRD__ARG_BOOL, MRD__STR("false"), false);
        return;
    default:
        add_leaf(f, MRD__ARG_NULL, MRD__STR("null"), false);
    }
}

static void gather(mrd__flat *f, mrd__str text)
{
    mrd__json json;
    mrd__json_init(&json, text.data, text.size);
    for (;;) {
        mrd__json_token token = mrd__json_next(&json);
        switch (token.type) {
        case MRD__JSON_ERROR:
        case MRD__JSON_END:
            return;
        case MRD__JSON_KEY:
            begin_key(f, token.text);
            break;
        case MRD__JSON_OBJECT:
        case MRD__JSON_ARRAY:
            open_container(f, token.type == MRD__JSON_OBJECT);
            break;
        case MRD__JSON_OBJECT_END:
        case MRD__JSON_ARRAY_END:
            close_container(f);
            break;
        default:
            add_value(f, &token);
        }
    }
}

mrd__flat *mrd__flat_create(void)
{
    return mrd__new(mrd__flat);
}

void mrd__flat_destroy(mrd__flat **f)
{
    if (f == NULL || *f == NULL) return;
    mrd__buf_reset(&(*f)->path);
    mrd__buf_reset(&(*f)->text);
    mrd__buf_reset(&(*f)->keys);
    mrd__vec_reset(&(*f)->leaves);
    mrd__vec_reset(&(*f)->seen);
    mrd__free(*f);
    *f = NULL;
}

mrd_status mrd__args_flatten(mrd__flat *f, mrd__str text, mrd__arg_fn each, void *ctx,
                             mrd_error *error)
{
    f->depth = f->path.size = f->text.size = f->keys.size = 0;
    f->leaves.count = f->seen.count = 0;
    gather(f, text);
    for (size_t i = 0; i < f->leaves.count; i++) {
        const leaf *one = &f->leaves.data[i];
        if (one->dead) continue;
        mrd__arg arg = {.key = {f->text.data + one->key, one->key_size},
                        .value = {f->text.data + one->value, one->value_size},
                        .type = one->type};
        MRD__TRY(each(ctx, &arg, error));
    }
    return MRD_OK;
}
