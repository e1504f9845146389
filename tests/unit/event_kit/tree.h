/* A JSON document as a tree, for tests: built from the pull reader, freed by the arena. */
#ifndef MRD_TEST_EVENT_KIT_TREE_H
#define MRD_TEST_EVENT_KIT_TREE_H

#include "base/alloc.h"
#include "base/assert.h"
#include "base/json.h"
#include "base/os.h"

#include <stdio.h>
#include <string.h>

typedef struct tree {
    mrd__json_type type; /* OBJECT, ARRAY, STRING, NUMBER, TRUE, FALSE, NULL */
    mrd__str key, text;  /* decoded; numbers as written */
    struct tree *child, *next;
} tree;

static inline mrd__str tree_text(mrd__arena *arena, mrd__str raw)
{
    mrd__buf out = {0};
    mrd__json_decode(&out, raw, NULL);
    mrd__str text = {mrd__arena_text(arena, out.data ? out.data : "", out.size), out.size};
    mrd__buf_reset(&out);
    return text;
}

static inline tree *tree_value(mrd__arena *arena, mrd__json *json, mrd__json_token token)
{
    tree *node = mrd__arena_alloc(arena, sizeof *node, 8);
    *node = (tree){.type = token.type, .text = token.text};
    if (token.type == MRD__JSON_STRING) node->text = tree_text(arena, token.text);
    if (token.type != MRD__JSON_OBJECT && token.type != MRD__JSON_ARRAY) return node;
    tree **end = &node->child;
    for (;;) {
        mrd__json_token part = mrd__json_next(json);
        mrd__assert(part.type != MRD__JSON_ERROR);
        if (part.type == MRD__JSON_OBJECT_END || part.type == MRD__JSON_ARRAY_END) return node;
        mrd__str key = {0};
        if (part.type == MRD__JSON_KEY) {
            key = tree_text(arena, part.text);
            part = mrd__json_next(json);
        }
        *end = tree_value(arena, json, part);
        (*end)->key = key;
        end = &(*end)->next;
    }
}

/* NULL when the text is not one JSON value. */
static inline tree *tree_parse(mrd__arena *arena, const char *data, size_t size)
{
    mrd__json json;
    mrd__json_init(&json, data, size);
    mrd__json_token first = mrd__json_next(&json);
    if (first.type == MRD__JSON_ERROR || first.type == MRD__JSON_END) return NULL;
    tree *node = tree_value(arena, &json, first);
    return mrd__json_next(&json).type == MRD__JSON_END ? node : NULL;
}

static inline tree *tree_file(mrd__arena *arena, const char *path)
{
    mrd__buf text = {0};
    mrd_error error = {0};
    if (mrd__file_read(&text, path, 1 << 24, &error) != MRD_OK) return NULL;
    char *copy = mrd__arena_text(arena, text.data, text.size);
    tree *node = tree_parse(arena, copy, text.size);
    mrd__buf_reset(&text);
    return node;
}

static inline const tree *tree_get(const tree *node, const char *key)
{
    for (const tree *child = node ? node->child : NULL; child; child = child->next) {
        if (mrd__str_is(child->key, key)) return child;
    }
    return NULL;
}

static inline double tree_number(const tree *node)
{
    double value = 0;
    bool ok = node && node->type == MRD__JSON_NUMBER && mrd__parse_double(node->text, &value);
    mrd__assert(ok);
    return value;
}

static inline size_t tree_count(const tree *node)
{
    size_t count = 0;
    for (const tree *child = node->child; child; child = child->next)
        count++;
    return count;
}

#endif
