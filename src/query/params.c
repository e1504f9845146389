/* Parameters are kept as they came in, in order; what they mean is decided where they are read,
 * since only the reader knows which names are lists. */
#include "query/params.h"

#include "base/json.h"

#include <math.h>
#include <string.h>

/* ---- Taking in ---- */

mrd_params *mrd_params_create(void)
{
    return mrd__new(mrd_params);
}

void mrd_params_destroy(mrd_params **params)
{
    if (params == NULL || *params == NULL) return;
    for (size_t i = 0; i < (*params)->items.count; i++) {
        mrd__param *item = &(*params)->items.data[i];
        mrd__free(item->name);
        mrd__free((char *)item->value.data);
        mrd__free((char *)item->decoded.data);
    }
    mrd__vec_reset(&(*params)->items);
    mrd__free(*params);
    *params = NULL;
}

static mrd__str copy_str(mrd__str text)
{
    return (mrd__str){mrd__strndup(text.size > 0 ? text.data : "", text.size), text.size};
}

/* Decoded copy; data NULL when the encoding is bad. */
static mrd__str decode_copy(mrd__str text)
{
    mrd__buf out = {0};
    mrd__str decoded = {NULL, 0};
    if (mrd__percent_decode(&out, text)) decoded = copy_str((mrd__str){out.data, out.size});
    mrd__buf_reset(&out);
    return decoded;
}

static void add_item(mrd_params *params, mrd__str name, mrd__str value, bool encoded,
                     mrd__param_form form)
{
    mrd__param item = {
        .name = mrd__strndup(name.size > 0 ? name.data : "", name.size),
        .value = copy_str(value),
        .decoded = encoded ? decode_copy(value) : (mrd__str){NULL, 0},
        .encoded = encoded,
        .form = (uint8_t)form,
    };
    mrd__vec_push(&params->items, item);
}

void mrd_params_add(mrd_params *params, const char *name, const char *value, bool encoded)
{
    add_item(params, mrd__str_of(name), mrd__str_of(value), encoded, MRD__PARAM_TEXT);
}

#ifdef MRD_PLANTED_BUGS /* what the fuzzer of window parameters must find */
#define LONGEST_WHOLE (MRD__PARAM_EXCERPT + 8)
#else
#define LONGEST_WHOLE MRD__PARAM_EXCERPT
#endif

const char *mrd__param_show(mrd__param_shown *out, mrd__str value)
{
    size_t size = value.size;
    if (size > LONGEST_WHOLE) {
        size = MRD__PARAM_EXCERPT;
        while (size > 0 && ((unsigned char)value.data[size] & 0xc0) == 0x80)
            size--;
    }
    bool valid = mrd__utf8_valid((mrd__str){value.data, size});
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)value.data[i];
        out->text[i] = c < 0x20 || c == 0x7f || (c >= 0x80 && !valid) ? '?' : (char)c;
    }
    memcpy(out->text + size, "...", 4);
    if (size == value.size) out->text[size] = '\0';
    return out->text;
}

static mrd_status fail_parameter(mrd_error *error, mrd__str value, const char *what)
{
    mrd__param_shown shown;
    return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter", "\"%s\": %s",
                     mrd__param_show(&shown, value), what);
}

static mrd_status check_room(const mrd_params *params, mrd_error *error)
{
    if (params->items.count < MRD__MAX_PARAMS) return MRD_OK;
    mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter",
              "more than %d parameters and list parts; at most that many are allowed",
              MRD__MAX_PARAMS);
    if (error != NULL) error->limit = MRD__MAX_PARAMS;
    return MRD_ERR_ARGUMENT;
}

/* Undoes what a failed call added. */
static void truncate_items(mrd_params *params, size_t count)
{
    while (params->items.count > count) {
        mrd__param *item = &params->items.data[--params->items.count];
        mrd__free(item->name);
        mrd__free((char *)item->value.data);
        mrd__free((char *)item->decoded.data);
    }
}

static mrd_status add_pair(mrd_params *params, mrd__str pair, mrd_error *error)
{
    MRD__TRY(check_room(params, error));
    const char *equals = memchr(pair.data, '=', pair.size);
    size_t name_size = equals != NULL ? (size_t)(equals - pair.data) : pair.size;
    mrd__str raw_name = {pair.data, name_size};
    mrd__str raw_value = MRD__STR("");
    if (equals != NULL) raw_value = (mrd__str){equals + 1, pair.size - name_size - 1};
    mrd__str name = decode_copy(raw_name);
    if (name.data == NULL)
        return fail_parameter(error, raw_name, "bad percent-encoding in a name; %XX is allowed");
    mrd_status status = MRD_OK;
    if (memchr(name.data, '\0', name.size) != NULL)
        status = fail_parameter(error, raw_name, "a name holds no NUL");
    else
        add_item(params, name, raw_value, true, MRD__PARAM_TEXT);
    mrd__free((char *)name.data);
    if (status == MRD_OK && params->items.data[params->items.count - 1].decoded.data == NULL)
        status =
            fail_parameter(error, raw_value, "bad percent-encoding in a value; %XX is allowed");
    return status;
}

mrd_status mrd_params_add_query(mrd_params *params, const char *raw, size_t size, mrd_error *error)
{
    size_t before = params->items.count;
    size_t at = 0;
    while (at < size) {
        const char *next = memchr(raw + at, '&', size - at);
        size_t end = next != NULL ? (size_t)(next - raw) : size;
        if (end > at) {
            mrd_status status = add_pair(params, (mrd__str){raw + at, end - at}, error);
            if (status != MRD_OK) {
                truncate_items(params, before);
                return status;
            }
        }
        at = end + 1;
    }
    return MRD_OK;
}

/* ---- JSON bodies ---- */

static mrd_status fail_json(const mrd__json *json, mrd_error *error)
{
    return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter",
                     "the body is not JSON: %s at byte %zu; an object of strings, numbers and "
                     "arrays of those is allowed",
                     json->error_what, json->error_at);
}

static mrd_status fail_kind(mrd__str name, mrd_error *error)
{
    return fail_parameter(error, name, "a string, a number or an array of those is allowed");
}

/* A string or number; false for anything else. text is a decoded copy in scratch or a borrow. */
static bool scalar_of(const mrd__json_token *token, mrd__buf *scratch, mrd__str *text)
{
    if (token->type == MRD__JSON_NUMBER) {
        *text = token->text;
        return true;
    }
    if (token->type != MRD__JSON_STRING) return false;
    mrd__buf_clear(scratch);
    mrd__json_decode(scratch, token->text, NULL);
    *text = (mrd__str){scratch->data, scratch->size};
    return true;
}

static mrd_status add_array(mrd_params *params, mrd__json *json, mrd__str name, mrd_error *error)
{
    mrd__buf scratch = {0};
    mrd_status status = MRD_OK;
    size_t count = 0;
    for (;; count++) {
        mrd__json_token token = mrd__json_next(json);
        mrd__str text = {NULL, 0};
        if (token.type == MRD__JSON_ARRAY_END) break;
        if (token.type == MRD__JSON_ERROR)
            status = fail_json(json, error);
        else if (!scalar_of(&token, &scratch, &text))
            status = fail_kind(name, error);
        else
            status = check_room(params, error);
        if (status != MRD_OK) break;
        add_item(params, name, text, false, MRD__PARAM_JSON_ARRAY);
    }
    mrd__buf_reset(&scratch);
    if (status != MRD_OK || count > 0) return status;
    MRD__TRY(check_room(params, error));
    add_item(params, name, MRD__STR(""), true, MRD__PARAM_JSON_ARRAY);
    return MRD_OK;
}

static mrd_status add_member(mrd_params *params, mrd__json *json, mrd__str name, mrd_error *error)
{
    mrd__json_token token = mrd__json_next(json);
    if (token.type == MRD__JSON_ERROR) return fail_json(json, error);
    if (memchr(name.data, '\0', name.size) != NULL)
        return fail_parameter(error, name, "a name holds no NUL");
    if (token.type == MRD__JSON_ARRAY) return add_array(params, json, name, error);
    mrd__buf scratch = {0};
    mrd__str text = {NULL, 0};
    mrd_status status = MRD_OK;
    if (!scalar_of(&token, &scratch, &text)) status = fail_kind(name, error);
    if (status == MRD_OK) status = check_room(params, error);
    if (status == MRD_OK)
        add_item(params, name, text, false,
                 token.type == MRD__JSON_NUMBER ? MRD__PARAM_JSON_NUMBER : MRD__PARAM_JSON_STRING);
    mrd__buf_reset(&scratch);
    return status;
}

static mrd_status add_members(mrd_params *params, mrd__json *json, mrd__buf *name, mrd_error *error)
{
    mrd__json_token token = mrd__json_next(json);
    if (token.type != MRD__JSON_OBJECT && token.type != MRD__JSON_ERROR)
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter",
                         "the body is not a JSON object; an object is allowed");
    for (;;) {
        if (token.type != MRD__JSON_ERROR) token = mrd__json_next(json);
        if (token.type == MRD__JSON_ERROR) return fail_json(json, error);
        if (token.type == MRD__JSON_OBJECT_END) break;
        mrd__buf_clear(name);
        mrd__json_decode(name, token.text, NULL);
        MRD__TRY(add_member(params, json, (mrd__str){name->data, name->size}, error));
    }
    return mrd__json_next(json).type == MRD__JSON_END ? MRD_OK : fail_json(json, error);
}

mrd_status mrd_params_add_json(mrd_params *params, const char *text, size_t size, mrd_error *error)
{
    size_t before = params->items.count;
    mrd__json json;
    mrd__json_init(&json, text, size);
    mrd__buf name = {0};
    mrd__buf_reserve(&name, 64);
    mrd_status status = add_members(params, &json, &name, error);
    mrd__buf_reset(&name);
    if (status != MRD_OK) truncate_items(params, before);
    return status;
}

/* ---- Reading ---- */

/* The only item of a scalar's name, NULL when there is none. */
static mrd_status find_scalar(const mrd_params *params, const char *name, const mrd__param **out,
                              mrd_error *error)
{
    *out = NULL;
    for (size_t i = 0; i < params->items.count; i++) {
        const mrd__param *item = &params->items.data[i];
        if (strcmp(item->name, name) != 0) continue;
        if (item->form == MRD__PARAM_JSON_ARRAY)
            return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter",
                             "%s is an array; one value is allowed", name);
        if (*out != NULL)
            return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter",
                             "%s is given twice; once is allowed", name);
        *out = item;
    }
    if (*out != NULL && (*out)->encoded && (*out)->decoded.data == NULL) {
        mrd__param_shown shown;
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter",
                         "%s: bad percent-encoding in \"%s\"; %%XX is allowed", name,
                         mrd__param_show(&shown, (*out)->value));
    }
    return MRD_OK;
}

static mrd__str scalar_text(const mrd__param *item)
{
    return item->encoded ? item->decoded : item->value;
}

mrd_status mrd__params_text(const mrd_params *params, const char *name, bool *set, mrd__str *out,
                            mrd_error *error)
{
    const mrd__param *item = NULL;
    MRD__TRY(find_scalar(params, name, &item, error));
    *set = item != NULL;
    if (item == NULL) return MRD_OK;
    if (item->form == MRD__PARAM_JSON_NUMBER)
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter",
                         "%s is a number; a string is allowed", name);
    *out = scalar_text(item);
    return MRD_OK;
}

/* Text of a scalar that must be a number. */
static mrd_status number_text(const mrd_params *params, const char *name, bool *set, mrd__str *out,
                              mrd_error *error)
{
    const mrd__param *item = NULL;
    MRD__TRY(find_scalar(params, name, &item, error));
    *set = item != NULL;
    if (item == NULL) return MRD_OK;
    if (item->form == MRD__PARAM_JSON_STRING)
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter",
                         "%s is a string; a number is allowed", name);
    *out = scalar_text(item);
    return MRD_OK;
}

static mrd_status fail_number(const char *name, mrd__str text, const char *allowed,
                              mrd_error *error)
{
    mrd__param_shown shown;
    return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_number", "%s: \"%s\" is not a number; %s", name,
                     mrd__param_show(&shown, text), allowed);
}

mrd_status mrd__params_double(const mrd_params *params, const char *name, bool *set, double *out,
                              mrd_error *error)
{
    mrd__str text = {NULL, 0};
    MRD__TRY(number_text(params, name, set, &text, error));
    if (*set && !mrd__parse_double(text, out))
        return fail_number(name, text, "a finite decimal is allowed, with or without exponent",
                           error);
    return MRD_OK;
}

mrd_status mrd__params_int64(const mrd_params *params, const char *name, bool *set, int64_t *out,
                             mrd_error *error)
{
    mrd__str text = {NULL, 0};
    MRD__TRY(number_text(params, name, set, &text, error));
    if (*set && !mrd__parse_int64(text, out))
        return fail_number(name, text, "a whole number that fits 64 bits is allowed", error);
    return MRD_OK;
}

mrd_status mrd__params_buckets(const mrd_params *params, bool *set, uint32_t *out, mrd_error *error)
{
    double value = 0;
    MRD__TRY(mrd__params_double(params, "buckets", set, &value, error));
    if (!*set) return MRD_OK;
    if (!(value >= 1 && value <= MRD__MAX_BUCKETS && value == floor(value))) {
        mrd__str text = {NULL, 0};
        mrd__param_shown shown;
        MRD__TRY(number_text(params, "buckets", set, &text, error));
        mrd__fail(error, MRD_ERR_ARGUMENT, "bad_buckets",
                  "buckets: %s is out of range; a whole number from 1 to %d is allowed",
                  mrd__param_show(&shown, text), MRD__MAX_BUCKETS);
        if (error != NULL) error->limit = MRD__MAX_BUCKETS;
        return MRD_ERR_ARGUMENT;
    }
    *out = (uint32_t)value;
    return MRD_OK;
}

void mrd__str_list_reset(mrd__str_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        mrd__free((char *)list->data[i].data);
    mrd__vec_reset(list);
}

/* One part; the list owns it from then on. data NULL: bad encoding. */
static mrd_status push_part(mrd__str_list *list, const char *name, mrd__str raw, mrd__str part,
                            mrd_error *error)
{
    if (part.data == NULL) {
        mrd__param_shown shown;
        return mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter",
                         "%s: bad percent-encoding in \"%s\"; %%XX is allowed", name,
                         mrd__param_show(&shown, raw));
    }
    if (list->count == MRD__MAX_PARAMS) {
        mrd__free((char *)part.data);
        mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter",
                  "%s has more than %d parts; at most that many are allowed", name,
                  MRD__MAX_PARAMS);
        if (error != NULL) error->limit = MRD__MAX_PARAMS;
        return MRD_ERR_ARGUMENT;
    }
    mrd__vec_push(list, part);
    return MRD_OK;
}

static mrd_status split_parts(mrd__str_list *list, const mrd__param *item, mrd_error *error)
{
    if (!item->encoded)
        return push_part(list, item->name, item->value, copy_str(item->value), error);
    if (item->value.size == 0) return MRD_OK;
    const char *at = item->value.data;
    const char *end = at + item->value.size;
    for (;;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        mrd__str raw = {at, (size_t)((comma != NULL ? comma : end) - at)};
        MRD__TRY(push_part(list, item->name, raw, decode_copy(raw), error));
        if (comma == NULL) return MRD_OK;
        at = comma + 1;
    }
}

mrd_status mrd__params_list(const mrd_params *params, const char *name, bool *set,
                            mrd__str_list *out, mrd_error *error)
{
    *out = (mrd__str_list){0};
    *set = false;
    mrd_status status = MRD_OK;
    for (size_t i = 0; i < params->items.count && status == MRD_OK; i++) {
        const mrd__param *item = &params->items.data[i];
        if (strcmp(item->name, name) != 0) continue;
        *set = true;
        if (item->form == MRD__PARAM_JSON_STRING || item->form == MRD__PARAM_JSON_NUMBER)
            status = mrd__fail(error, MRD_ERR_ARGUMENT, "bad_parameter",
                               "%s is one value; an array is allowed", name);
        else
            status = split_parts(out, item, error);
    }
    if (status != MRD_OK) mrd__str_list_reset(out);
    return status;
}

mrd_status mrd__params_only(const mrd_params *params, const char *const *allowed, mrd_error *error)
{
    for (size_t i = 0; i < params->items.count; i++) {
        const char *name = params->items.data[i].name;
        const char *const *at = allowed;
        while (*at != NULL && strcmp(*at, name) != 0)
            at++;
        if (*at != NULL) continue;
        mrd__buf list = {0};
        for (at = allowed; *at != NULL; at++) {
            mrd__buf_text(&list, at == allowed ? "" : ", ");
            mrd__buf_text(&list, *at);
        }
        mrd__param_shown shown;
        mrd_status status = mrd__fail(
            error, MRD_ERR_ARGUMENT, "bad_parameter", "\"%s\" is not a parameter here; allowed: %s",
            mrd__param_show(&shown, mrd__str_of(name)), list.size > 0 ? list.data : "");
        mrd__buf_reset(&list);
        return status;
    }
    return MRD_OK;
}
