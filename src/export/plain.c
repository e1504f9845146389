#include "export/plain.h"
#include "base/assert.h"
#include "base/error.h"
#include "query/args_flat.h"

#include <math.h>
#include <string.h>

void mrd__plain_begin(mrd__plain *plain, const char *columns, mrd_format format,
                      const mrd_sink *sink)
{
    *plain = (mrd__plain){.json = format == MRD_FORMAT_JSON, .sink = sink};
    for (const char *at = columns; *at != '\0';) {
        size_t length = strcspn(at, ",");
        mrd__assert(plain->columns < MRD__PLAIN_MAX_COLUMNS);
        mrd__buf prefix = {0};
        if (plain->json) {
            mrd__buf_char(&prefix, plain->columns == 0 ? '{' : ',');
            mrd__buf_json_string(&prefix, (mrd__str){at, length});
            mrd__buf_char(&prefix, ':');
        } else if (plain->columns > 0) {
            mrd__buf_char(&prefix, ',');
        }
        plain->prefix[plain->columns++] = (mrd__str){prefix.data, prefix.size};
        at += length;
        if (*at == ',') at++;
    }
    if (plain->json) return;
    mrd__buf_text(&plain->out, columns);
    mrd__buf_char(&plain->out, '\n');
}

static mrd__buf *cell(mrd__plain *plain)
{
    mrd__assert(plain->at < plain->columns);
    mrd__str prefix = plain->prefix[plain->at++];
    if (prefix.size > 0) mrd__buf_str(&plain->out, prefix);
    return &plain->out;
}

mrd_status mrd__plain_row(mrd__plain *plain, mrd_error *error)
{
    mrd__assert(plain->at == plain->columns);
    plain->at = 0;
    if (plain->json) mrd__buf_char(&plain->out, '}');
    mrd__buf_char(&plain->out, '\n');
    if (plain->out.size < MRD__PLAIN_FLUSH) return MRD_OK;
    return mrd__buf_flush(&plain->out, plain->sink, error);
}

mrd_status mrd__plain_finish(mrd__plain *plain, mrd_status status, mrd_error *error)
{
    if (status == MRD_OK && plain->out.size > 0)
        status = mrd__buf_flush(&plain->out, plain->sink, error);
    for (size_t i = 0; i < plain->columns; i++)
        mrd__free((char *)plain->prefix[i].data);
    mrd__buf_reset(&plain->out);
    mrd__buf_reset(&plain->scratch);
    mrd__buf_reset(&plain->args);
    return status;
}

void mrd__plain_null(mrd__plain *plain)
{
    mrd__buf *out = cell(plain);
    if (plain->json) mrd__buf_add(out, "null", 4);
}

void mrd__plain_int(mrd__plain *plain, int64_t value)
{
    mrd__buf_int(cell(plain), value);
}

void mrd__plain_uint(mrd__plain *plain, uint64_t value)
{
    mrd__buf_uint(cell(plain), value);
}

void mrd__plain_double(mrd__plain *plain, double value)
{
    mrd__buf *out = cell(plain);
    if (plain->json)
        mrd__buf_json_double(out, value);
    else
        mrd__buf_double(out, value);
}

void mrd__plain_text(mrd__plain *plain, mrd__str text)
{
    mrd__buf *out = cell(plain);
    if (plain->json)
        mrd__buf_json_string(out, text);
    else
        mrd__buf_csv(out, text);
}

void mrd__plain_json(mrd__plain *plain, mrd__str json)
{
    mrd__buf *out = cell(plain);
    if (plain->json)
        mrd__buf_str(out, json);
    else
        mrd__buf_csv(out, json);
}

void mrd__plain_name(mrd__plain *plain, const mrd__store *store, mrd__str_id id)
{
    if (id == 0)
        mrd__plain_null(plain);
    else
        mrd__plain_text(plain, mrd__store_str(store, id));
}

void mrd__plain_index(mrd__plain *plain, uint32_t index)
{
    if (index == MRD__NONE)
        mrd__plain_null(plain);
    else
        mrd__plain_uint(plain, index);
}

void mrd__plain_ident(mrd__plain *plain, const mrd__store *store, mrd__ident ident)
{
    if (ident.kind == MRD__IDENT_NUMBER)
        mrd__plain_int(plain, ident.number);
    else if (ident.kind == MRD__IDENT_TEXT)
        mrd__plain_text(plain, mrd__store_str(store, ident.text));
    else
        mrd__plain_null(plain);
}

void mrd__plain_pid(mrd__plain *plain, const mrd__store *store, uint32_t process)
{
    mrd__ident none = {0};
    mrd__plain_ident(plain, store, process == MRD__NONE ? none : store->processes[process].pid);
}

void mrd__plain_tid(mrd__plain *plain, const mrd__store *store, uint32_t thread)
{
    mrd__ident none = {0};
    mrd__plain_ident(plain, store, thread == MRD__NONE ? none : store->threads[thread].tid);
}

mrd_status mrd__plain_args(mrd__plain *plain, const mrd__store *store, mrd__args_ref ref,
                           mrd_error *error)
{
    if (ref == 0) {
        mrd__plain_null(plain);
        return MRD_OK;
    }
    mrd__str text;
    MRD__TRY(mrd__store_args(store, ref, &plain->args, &text, error));
    mrd__buf_clear(&plain->scratch);
    mrd__args_compact(&plain->scratch, text);
    mrd__plain_text(plain, (mrd__str){plain->scratch.data, plain->scratch.size});
    return MRD_OK;
}
