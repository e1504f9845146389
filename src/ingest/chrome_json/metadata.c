/* Top-level values of the object form as flat rows: {"a": {"b": [1]}} is "a.b[0]" = 1. */
#include "base/assert.h"
#include "ingest/chrome_json/event.h"
#include "ingest/chrome_json/limits.h"

typedef struct level {
    size_t path;    /* length of the path up to this level */
    uint64_t index; /* of the next element */
    bool object;
} level;

typedef struct flat {
    mrd__cj_out *out;
    mrd__buf path, text;
    MRD__VEC(level) levels;
    size_t *rows;
} flat;

static void decode(mrd__buf *out, mrd__json_token token)
{
    if (token.type == MRD__JSON_KEY || token.type == MRD__JSON_STRING)
        mrd__json_decode(out, token.text, NULL);
    else
        mrd__buf_str(out, token.text);
}

/* Put the path of the value that comes next behind its level's. */
static void next_element(flat *f)
{
    level *top = f->levels.count > 0 ? &f->levels.data[f->levels.count - 1] : NULL;
    if (top == NULL || top->object) return;
    f->path.size = top->path;
    mrd__buf_char(&f->path, '[');
    mrd__buf_uint(&f->path, top->index++);
    mrd__buf_char(&f->path, ']');
}

static bool put_scalar(flat *f, mrd__json_token token)
{
    next_element(f);
    mrd__buf_clear(&f->text);
    decode(&f->text, token);
    if (*f->rows == MRD__CJ_MAX_METADATA_ROWS || f->text.size > MRD__CJ_MAX_METADATA_VALUE)
        return false;
    ++*f->rows;
    mrd__shard_metadata(f->out->shard, (mrd__str){f->path.data, f->path.size},
                        (mrd__str){f->text.data, f->text.size}, (uint8_t)token.type);
    return true;
}

/* False when something was left out. */
static bool flatten(flat *f, mrd__str value)
{
    mrd__json json;
    mrd__json_init(&json, value.data, value.size);
    bool complete = true;
    for (;;) {
        mrd__json_token token = mrd__json_next(&json);
        level *top = f->levels.count > 0 ? &f->levels.data[f->levels.count - 1] : NULL;
        switch (token.type) {
        case MRD__JSON_ERROR:
            return false; /* nested deeper than the reader of args goes */
        case MRD__JSON_END:
            return complete;
        case MRD__JSON_KEY:
            mrd__assert(top != NULL); /* keys stand in objects */
            f->path.size = top->path;
            if (top->path > 0) mrd__buf_char(&f->path, '.');
            decode(&f->path, token);
            break;
        case MRD__JSON_OBJECT:
        case MRD__JSON_ARRAY: {
            next_element(f);
            level inner = {f->path.size, 0, token.type == MRD__JSON_OBJECT};
            mrd__vec_push(&f->levels, inner);
            break;
        }
        case MRD__JSON_OBJECT_END:
        case MRD__JSON_ARRAY_END:
            f->levels.count--;
            break;
        default:
            if (!put_scalar(f, token)) complete = false;
        }
    }
}

void mrd__cj_metadata(mrd__cj_out *out, mrd__str key, mrd__str value, uint64_t offset, size_t *rows)
{
    flat f = {.out = out, .rows = rows};
    mrd__buf_str(&f.path, key);
    bool complete = flatten(&f, value);
    if (!complete)
        mrd__shard_loss(out->shard, MRD__LOSS_METADATA_LIMIT, 0, 1, (int64_t)offset, value.data,
                        value.size);
    mrd__buf_reset(&f.path);
    mrd__buf_reset(&f.text);
    mrd__vec_reset(&f.levels);
}
