/* Two walks over the text: the first finds members that a later one of the same name replaces, the
 * second writes and passes over those. So nothing is copied twice, however deep it lies. */
#include "query/args_json.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

typedef struct member {
    uint64_t hash;          /* of the decoded name */
    size_t offset;          /* of the key in the text: later members have larger ones */
    size_t name, name_size; /* range of names */
} member;

typedef struct find {
    MRD__VEC(member) members;  /* of all open objects, the innermost last */
    MRD__VEC(size_t) levels;   /* where each open object or array begins in members */
    MRD__VEC(size_t) replaced; /* offsets of keys, sorted in the end */
    mrd__buf names;
} find;

static int compare_members(const void *a, const void *b)
{
    const member *left = a;
    const member *right = b;
    if (left->hash != right->hash) return left->hash < right->hash ? -1 : 1;
    return (left->offset > right->offset) - (left->offset < right->offset);
}

static int compare_offsets(const void *a, const void *b)
{
    size_t left = *(const size_t *)a;
    size_t right = *(const size_t *)b;
    return (left > right) - (left < right);
}

static bool same_name(const find *f, const member *a, const member *b)
{
    return a->hash == b->hash && a->name_size == b->name_size &&
           memcmp(f->names.data + a->name, f->names.data + b->name, a->name_size) == 0;
}

/* Members [first, count) are one object's: after sorting those of one name are neighbours (but for
 * clashes of the hash, which the inner loop passes over), in the order of the text. */
static void close_object(find *f, size_t first)
{
    size_t count = f->members.count;
    if (count - first > 1)
        qsort(f->members.data + first, count - first, sizeof(member), compare_members);
    for (size_t i = first; i < count; i++) {
        const member *one = &f->members.data[i];
        for (size_t k = i + 1; k < count && f->members.data[k].hash == one->hash; k++) {
            if (!same_name(f, one, &f->members.data[k])) continue;
            mrd__vec_push(&f->replaced, one->offset);
            break;
        }
    }
    for (size_t i = first; i < count; i++) /* their names lie behind all others' */
        if (f->members.data[i].name < f->names.size) f->names.size = f->members.data[i].name;
    f->members.count = first;
}

static void add_member(find *f, const mrd__json_token *token)
{
    size_t from = f->names.size;
    mrd__json_decode(&f->names, token->text, NULL);
    size_t size = f->names.size - from;
    mrd__vec_push(&f->members, ((member){.hash = mrd__hash(f->names.data + from, size),
                                         .offset = token->offset,
                                         .name = from,
                                         .name_size = size}));
}

/* False when the text is not JSON. */
static bool find_replaced(find *f, mrd__str text)
{
    mrd__buf_reserve(&f->names, 64);
    mrd__json json;
    mrd__json_init(&json, text.data, text.size);
    for (;;) {
        mrd__json_token token = mrd__json_next(&json);
        switch (token.type) {
        case MRD__JSON_ERROR:
            return false;
        case MRD__JSON_END:
            if (f->replaced.count > 1)
                qsort(f->replaced.data, f->replaced.count, sizeof(size_t), compare_offsets);
            return true;
        case MRD__JSON_OBJECT:
        case MRD__JSON_ARRAY:
            mrd__vec_push(&f->levels, f->members.count);
            break;
        case MRD__JSON_OBJECT_END:
        case MRD__JSON_ARRAY_END:
            close_object(f, f->levels.data[--f->levels.count]);
            break;
        case MRD__JSON_KEY:
            add_member(f, &token);
            break;
        default:
            break;
        }
    }
}

/* ---- Writing ---- */

typedef struct writing {
    mrd__buf *out;
    const size_t *replaced;
    size_t next, count; /* of replaced: the next to come */
    bool comma;         /* something stands before at this level */
} writing;

static void add_text(mrd__buf *out, const mrd__json_token *token)
{
    mrd__buf scratch = {0};
    mrd__str text = token->text;
    if (token->escaped) {
        mrd__json_decode(&scratch, token->text, NULL);
        text = (mrd__str){scratch.data, scratch.size};
    }
    mrd__buf_json_string(out, text);
    mrd__buf_reset(&scratch);
}

static void add_number(mrd__buf *out, const mrd__json_token *token)
{
    if (!token->nonstandard) {
        mrd__buf_str(out, token->text);
        return;
    }
    bool negative = token->text.data[0] == '-';
    char last = token->text.data[token->text.size - 1];
    bool nan = last == 'N' || last == 'n';
    mrd__buf_text(out, nan ? "\"nan\"" : negative ? "\"-inf\"" : "\"inf\"");
}

static void add_token(writing *w, const mrd__json_token *token)
{
    bool closes = token->type == MRD__JSON_OBJECT_END || token->type == MRD__JSON_ARRAY_END;
    if (w->comma && !closes) mrd__buf_char(w->out, ',');
    w->comma = true;
    switch (token->type) {
    case MRD__JSON_OBJECT:
    case MRD__JSON_ARRAY:
        w->comma = false;
        mrd__buf_str(w->out, token->text);
        break;
    case MRD__JSON_KEY:
        w->comma = false;
        add_text(w->out, token);
        mrd__buf_char(w->out, ':');
        break;
    case MRD__JSON_STRING:
        add_text(w->out, token);
        break;
    case MRD__JSON_NUMBER:
        add_number(w->out, token);
        break;
    default: /* ends and words stand as they are */
        mrd__buf_str(w->out, token->text);
    }
}

static void write_value(writing *w, mrd__str text)
{
    mrd__json json;
    mrd__json_init(&json, text.data, text.size);
    for (;;) {
        mrd__json_token token = mrd__json_next(&json);
        if (token.type == MRD__JSON_END || token.type == MRD__JSON_ERROR) return;
        while (w->next < w->count && w->replaced[w->next] < token.offset)
            w->next++; /* lay inside a replaced value */
        if (w->next < w->count && w->replaced[w->next] == token.offset) {
            w->next++;
            (void)mrd__json_skip(&json, mrd__json_next(&json));
            continue;
        }
        add_token(w, &token);
    }
}

void mrd__args_json(mrd__buf *out, mrd__str text)
{
    find f = {0};
    if (find_replaced(&f, text)) {
        writing w = {.out = out, .replaced = f.replaced.data, .count = f.replaced.count};
        write_value(&w, text);
    } else {
        mrd__buf_json_string(out, text);
    }
    mrd__vec_reset(&f.members);
    mrd__vec_reset(&f.levels);
    mrd__vec_reset(&f.replaced);
    mrd__buf_reset(&f.names);
}
