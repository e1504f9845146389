/* The text is parsed into a tree in an arena, members are sorted, and the tree is written. The
 * scanner below is tolerant, as traces need it; here whatever it tolerated is refused. */
#include "session/format/canonical.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct node {
    struct node *next;  /* of the same parent */
    struct node *first; /* child of an object or array */
    size_t children;
    mrd__json_type type;
    mrd__str key;  /* decoded; of a member */
    mrd__str text; /* string: decoded; number: as it is to be written */
} node;

typedef struct parser {
    mrd__json json;
    mrd__arena arena;
    mrd_error *error;
} parser;

static mrd_status refuse(parser *p, size_t offset, const char *what)
{
    mrd__fail(p->error, MRD_ERR_FORMAT, "bad_json", "%s", what);
    return mrd__fail_at(p->error, MRD_ERR_FORMAT, NULL, (int64_t)offset);
}

static mrd_status decode(parser *p, const mrd__json_token *token, mrd__str *out)
{
    mrd__buf text = {0};
    mrd__json_text_stats stats = {0};
    mrd__json_decode(&text, token->text, &stats);
    out->data = mrd__arena_text(&p->arena, text.data == NULL ? "" : text.data, text.size);
    out->size = text.size;
    mrd__buf_reset(&text);
    if (stats.raw_controls + stats.bad_escapes > 0)
        return refuse(p, token->offset, "a string holds a raw control character or a bad escape");
    if (stats.invalid_utf8 + stats.lone_surrogates > 0)
        return refuse(p, token->offset, "a string is not valid Unicode");
    return MRD_OK;
}

/* Beyond -7 <= exponent < 21 ECMAScript writes d.ddde+x. */
void mrd__canonical_double(mrd__buf *out, double value)
{
    char form[40];
    char digits[24] = "0";
    size_t count = 0;
    if (value == 0) {
        mrd__buf_char(out, '0');
        return;
    }
    if (value < 0) mrd__buf_char(out, '-');
    value = fabs(value);
    for (int precision = 0; precision < 17; precision++) {
        snprintf(form, sizeof form, "%.*e", precision, value);
        if (strtod(form, NULL) == value) break;
    }
    char *at = form;
    for (; *at != 'e'; at++)
        if (*at >= '0' && *at <= '9') digits[count++] = *at;
    while (count > 1 && digits[count - 1] == '0')
        count--;
    int point = (int)strtol(at + 1, NULL, 10) + 1; /* digits before the decimal point */
    int have = (int)count;
    if (point > 21 || point < -5) {
        mrd__buf_char(out, digits[0]);
        if (count > 1) mrd__buf_char(out, '.');
        mrd__buf_add(out, digits + 1, count - 1);
        mrd__buf_printf(out, "e%c%d", point > 0 ? '+' : '-', abs(point - 1));
        return;
    }
    if (point <= 0) mrd__buf_text(out, "0.");
    for (int i = point; i < 0; i++)
        mrd__buf_char(out, '0');
    for (int i = 0; i < have || i < point; i++) {
        if (i == point && point > 0) mrd__buf_char(out, '.');
        mrd__buf_char(out, i < have ? digits[i] : '0');
    }
}

static mrd_status number(parser *p, const mrd__json_token *token, mrd__str *out)
{
    double value = 0;
    mrd__str text = token->text;
    if (token->nonstandard || !mrd__parse_double(text, &value))
        return refuse(p, token->offset, "a number is not finite");
    bool integer = memchr(text.data, '.', text.size) == NULL &&
                   memchr(text.data, 'e', text.size) == NULL &&
                   memchr(text.data, 'E', text.size) == NULL;
    if (integer && fabs(value) > (double)MRD__CANONICAL_INTEGER_MAX)
        return refuse(p, token->offset,
                      "an integer is beyond 2^53 - 1: allowed as a string of digits");
    mrd__buf form = {0};
    mrd__canonical_double(&form, value);
    out->data = mrd__arena_text(&p->arena, form.data, form.size);
    out->size = form.size;
    mrd__buf_reset(&form);
    return MRD_OK;
}

static node *add_node(parser *p, node *parent, node **last, mrd__json_type type)
{
    node *child = mrd__arena_alloc(&p->arena, sizeof *child, _Alignof(node));
    *child = (node){.type = type};
    if (*last == NULL)
        parent->first = child;
    else
        (*last)->next = child;
    *last = child;
    parent->children++;
    return child;
}

static mrd_status parse_value(parser *p, mrd__json_token token, node *out);

static mrd_status parse_children(parser *p, node *out)
{
    bool object = out->type == MRD__JSON_OBJECT;
    node *last = NULL;
    if (p->json.depth > MRD__CANONICAL_DEPTH_MAX)
        return refuse(p, p->json.at, "nested too deeply, allowed are 64 levels");
    for (;;) {
        mrd__json_token token = mrd__json_next(&p->json);
        if (token.type == MRD__JSON_OBJECT_END || token.type == MRD__JSON_ARRAY_END) return MRD_OK;
        if (token.type == MRD__JSON_ERROR) return refuse(p, p->json.error_at, p->json.error_what);
        mrd__str key = {0};
        if (object) {
            MRD__TRY(decode(p, &token, &key));
            token = mrd__json_next(&p->json);
        }
        node *child = add_node(p, out, &last, token.type);
        child->key = key;
        MRD__TRY(parse_value(p, token, child));
    }
}

/* Recursion is bounded by MRD__CANONICAL_DEPTH_MAX. */
static mrd_status parse_value(parser *p, mrd__json_token token, node *out)
{
    out->type = token.type;
    switch (token.type) {
    case MRD__JSON_OBJECT:
    case MRD__JSON_ARRAY:
        return parse_children(p, out);
    case MRD__JSON_STRING:
        return decode(p, &token, &out->text);
    case MRD__JSON_NUMBER:
        return number(p, &token, &out->text);
    case MRD__JSON_TRUE:
    case MRD__JSON_FALSE:
    case MRD__JSON_NULL:
        out->text = token.text;
        return MRD_OK;
    default:
        return refuse(p, p->json.error_at,
                      p->json.error_what == NULL ? "no value" : p->json.error_what);
    }
}

/* By UTF-16 units: as by bytes of UTF-8, but surrogate pairs (lead byte from 0xf0 on) come before
 * U+E000 to U+FFFF (lead bytes 0xee and 0xef). */
static int compare_keys(const void *left, const void *right)
{
    mrd__str a = (*(node *const *)left)->key;
    mrd__str b = (*(node *const *)right)->key;
    size_t common = a.size < b.size ? a.size : b.size;
    for (size_t i = 0; i < common; i++) {
        unsigned x = (unsigned char)a.data[i];
        unsigned y = (unsigned char)b.data[i];
        if (x == y) continue;
        if (x >= 0xee && y >= 0xee && (x >= 0xf0) != (y >= 0xf0)) return x >= 0xf0 ? -1 : 1;
        return x < y ? -1 : 1;
    }
    return (a.size > b.size) - (a.size < b.size);
}

static void write_string(mrd__buf *out, mrd__str text)
{
    static const char controls[5] = {'\b', '\t', '\n', '\f', '\r'};
    mrd__buf_char(out, '"');
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        const char *at = memchr(controls, c, sizeof controls);
        if (c == '"' || c == '\\')
            mrd__buf_printf(out, "\\%c", c);
        else if (at != NULL)
            mrd__buf_printf(out, "\\%c", "btnfr"[at - controls]);
        else if (c < 0x20)
            mrd__buf_printf(out, "\\u%04x", c);
        else
            mrd__buf_char(out, (char)c);
    }
    mrd__buf_char(out, '"');
}

static mrd_status write_node(parser *p, mrd__buf *out, const node *value);

static mrd_status write_members(parser *p, mrd__buf *out, const node *object)
{
    mrd_status status = MRD_OK;
    node **sorted = mrd__new_array(node *, object->children);
    size_t count = 0;
    for (node *child = object->first; child != NULL; child = child->next)
        sorted[count++] = child;
    qsort(sorted, count, sizeof *sorted, compare_keys);
    mrd__buf_char(out, '{');
    for (size_t i = 0; i < count && status == MRD_OK; i++) {
        if (i > 0 && mrd__str_equal(sorted[i - 1]->key, sorted[i]->key)) {
            status = mrd__fail(p->error, MRD_ERR_FORMAT, "bad_json", "the key \"%.100s\" is twice",
                               sorted[i]->key.data);
            break;
        }
        if (i > 0) mrd__buf_char(out, ',');
        write_string(out, sorted[i]->key);
        mrd__buf_char(out, ':');
        status = write_node(p, out, sorted[i]);
    }
    mrd__buf_char(out, '}');
    mrd__free(sorted);
    return status;
}

static mrd_status write_node(parser *p, mrd__buf *out, const node *value)
{
    if (value->type == MRD__JSON_OBJECT) return write_members(p, out, value);
    if (value->type == MRD__JSON_STRING) {
        write_string(out, value->text);
        return MRD_OK;
    }
    if (value->type != MRD__JSON_ARRAY) {
        mrd__buf_str(out, value->text);
        return MRD_OK;
    }
    mrd__buf_char(out, '[');
    for (const node *child = value->first; child != NULL; child = child->next) {
        if (child != value->first) mrd__buf_char(out, ',');
        MRD__TRY(write_node(p, out, child));
    }
    mrd__buf_char(out, ']');
    return MRD_OK;
}

mrd_status mrd__canonical_json(mrd__buf *out, mrd__str text, mrd_error *error)
{
    parser p = {.error = error};
    node root = {0};
    mrd__buf written = {0};
    mrd__json_init(&p.json, text.data, text.size);
    mrd_status status = parse_value(&p, mrd__json_next(&p.json), &root);
    if (status == MRD_OK && mrd__json_next(&p.json).type != MRD__JSON_END)
        status = refuse(&p, p.json.error_at, "something follows the value");
    if (status == MRD_OK) status = write_node(&p, &written, &root);
    if (status == MRD_OK) mrd__buf_add(out, written.data, written.size);
    mrd__buf_reset(&written);
    mrd__arena_reset(&p.arena);
    return status;
}
