#include "ingest/table/rows.h"

#include "base/error.h"
#include "base/json.h"

#include <math.h>
#include <string.h>

/* ---- Columns ---- */

static int find(const mrd__table_column *columns, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (mrd__str_is(columns[i].name, name)) return (int)i;
    }
    return -1;
}

static bool is_time(const mrd__table_column *column)
{
    return column->kind == MRD__TABLE_INT || column->kind == MRD__TABLE_TIME;
}

/* Exact ones first, whatever they are called; then doubles. */
static int find_time(const mrd__table_column *columns, size_t count)
{
    static const char *const names[] = {"ts_ns", "ts"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        int at = find(columns, count, names[i]);
        if (at >= 0 && is_time(&columns[at])) return at;
    }
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < count; i++) {
            mrd__str name = columns[i].name;
            bool fits = pass == 0 ? is_time(&columns[i]) : columns[i].kind == MRD__TABLE_REAL;
            if (fits && name.size >= 2 && memcmp(name.data, "ts", 2) == 0) return (int)i;
        }
    }
    return -1;
}

static mrd_status bad_table(const mrd__table_column *columns, size_t count, mrd_error *error)
{
    mrd__buf names = {0};
    for (size_t i = 0; i < count && i < 20; i++)
        mrd__buf_printf(&names, "%s%.*s", i > 0 ? ", " : "",
                        (int)(columns[i].name.size > 40 ? 40 : columns[i].name.size),
                        columns[i].name.data);
    mrd_status status = mrd__fail(error, MRD_ERR_FORMAT, "bad_table",
                                  "a slice table needs name and ts_ns or ts; the columns are %s",
                                  names.size > 0 ? names.data : "none");
    mrd__buf_reset(&names);
    return status;
}

mrd_status mrd__table_plan_of(const mrd__table_column *columns, size_t count, mrd__table_plan *out,
                              mrd_error *error)
{
    static const char *const names[MRD__TABLE_ROLES] = {
        "name", NULL, "dur_ns", "pid", "tid", "category", "args", "process", "thread"};
    for (int role = 0; role < MRD__TABLE_ROLES; role++)
        out->column[role] = names[role] != NULL ? find(columns, count, names[role]) : -1;
    if (out->column[MRD__TABLE_DUR] < 0) out->column[MRD__TABLE_DUR] = find(columns, count, "dur");
    if (out->column[MRD__TABLE_CATEGORY] < 0)
        out->column[MRD__TABLE_CATEGORY] = find(columns, count, "cat");
    out->column[MRD__TABLE_TS] = find_time(columns, count);
    if (out->column[MRD__TABLE_NAME] < 0 || out->column[MRD__TABLE_TS] < 0)
        return bad_table(columns, count, error);
    out->micros = columns[out->column[MRD__TABLE_TS]].kind == MRD__TABLE_REAL;
    return MRD_OK;
}

/* ---- Rows ---- */

void mrd__table_begin(mrd__table_sink *sink, mrd__import *in, const char *format, mrd__str clock)
{
    *sink = (mrd__table_sink){.in = in, .times = "doubles of microseconds"};
    sink->file =
        mrd__writer_add_file(in->writer, in->path, format, in->map ? in->map->size : 0, NULL);
    sink->shard = mrd__writer_shard(in->writer, sink->file);
    mrd__shard_chunk(sink->shard, 0);
    for (uint32_t id = 1; id <= 6; id++) {
        const char *name = mrd__clock_name(id);
        if (name == NULL || !mrd__str_is(clock, name)) continue;
        mrd__file_clock own = {.id = id};
        mrd__writer_clock(in->writer, sink->file, own);
        mrd__shard_clock(sink->shard, own);
        mrd__writer_file(in->writer, sink->file)->clock = name;
    }
}

uint32_t mrd__table_string(mrd__table_sink *sink, mrd__str text)
{
    if (text.size == 0) return 0;
    bool valid = mrd__utf8_valid(text);
#ifdef MRD_PLANTED_BUGS /* what the fuzzer of slice tables must find */
    valid = true;
#endif
    if (valid) return mrd__shard_string(sink->shard, text.data, text.size, sink->rows);
    mrd__buf mended = {0};
    mrd__utf8_repair(&mended, text);
    mrd__shard_loss(sink->shard, MRD__LOSS_INVALID_UTF8, 0, 1, -1, mended.data, mended.size);
    uint32_t id = mrd__shard_string(sink->shard, mended.data, mended.size, sink->rows);
    mrd__buf_reset(&mended);
    return id;
}

static mrd__ident ident_of(mrd__table_sink *sink, const mrd__table_id *id)
{
    mrd__ident ident = {.kind = (uint8_t)id->kind, .number = id->number};
    if (id->kind == MRD__IDENT_TEXT) ident.text = mrd__table_string(sink, id->text);
    return ident;
}

static void tell_name(mrd__table_sink *sink, mrd__phase phase, uint32_t thread, mrd__str name)
{
    if (name.size == 0) return;
    uint32_t id = mrd__table_string(sink, name);
    mrd__fact *fact = mrd__shard_push(sink->shard);
    fact->phase = phase;
    fact->thread = thread;
    fact->name = id;
}

static uint32_t thread_of(mrd__table_sink *sink, const mrd__table_row *row)
{
    mrd__ident pid = ident_of(sink, &row->pid);
    mrd__ident tid = row->tid.kind == MRD__IDENT_NONE ? pid : ident_of(sink, &row->tid);
    uint32_t thread = mrd__shard_thread(sink->shard, pid, tid);
    while (sink->named.count <= thread)
        mrd__vec_push(&sink->named, false);
    if (sink->named.data[thread]) return thread;
    sink->named.data[thread] = true;
    tell_name(sink, MRD__PROCESS_NAME, thread, row->process);
    tell_name(sink, MRD__THREAD_NAME, thread, row->thread);
    return thread;
}

/* True when the text is one JSON object. */
static bool is_object(mrd__str text)
{
    mrd__json json;
    mrd__json_init(&json, text.data, text.size);
    mrd__json_token token = mrd__json_next(&json);
    return token.type == MRD__JSON_OBJECT && mrd__json_skip(&json, token) &&
           mrd__json_next(&json).type == MRD__JSON_END;
}

uint64_t mrd__table_args(mrd__table_sink *sink, mrd__str text)
{
    if (text.size == 0) return 0;
    if (text.data[0] == '{' && is_object(text))
        return mrd__shard_own_args(sink->shard, text.data, text.size);
    mrd__buf whole = {0};
    mrd__buf_text(&whole, "{\"args\":");
    mrd__buf_json_string(&whole, text);
    mrd__buf_char(&whole, '}');
    uint64_t place = mrd__shard_own_args(sink->shard, whole.data, whole.size);
    mrd__buf_reset(&whole);
    return place;
}

void mrd__table_add(mrd__table_sink *sink, const mrd__table_row *row)
{
    if (sink->rows > 0 && sink->rows % MRD__TABLE_CHUNK == 0)
        mrd__shard_chunk(sink->shard, sink->rows / MRD__TABLE_CHUNK);
    uint32_t name = mrd__table_string(sink, row->name);
    uint32_t category = mrd__table_string(sink, row->category);
    uint32_t thread = thread_of(sink, row);
    uint64_t args = mrd__table_args(sink, row->args);
    mrd__shard_count(sink->shard, row->open ? 'B' : 'X');
    mrd__fact *fact = mrd__shard_push(sink->shard);
    fact->phase = row->open ? MRD__BEGIN : MRD__COMPLETE;
    fact->ts = row->ts_ns;
    fact->dur = row->open ? 0 : row->dur_ns;
    fact->name = name;
    fact->category = category;
    fact->thread = thread;
    fact->args = args & 0xffffffffffffu;
    if (args != 0) fact->flags = MRD__ARGS_OWNED;
    sink->rows++;
}

void mrd__table_bad(mrd__table_sink *sink)
{
    mrd__shard_count(sink->shard, 'X');
    mrd__shard_loss(sink->shard, MRD__LOSS_MISSING_TIMESTAMP, 0, 1, -1, NULL, 0);
}

bool mrd__table_micros(mrd__table_sink *sink, double micros, int64_t *out)
{
    /* The whole microseconds apart: their product with 1000 would lose what a double does not. */
    double whole = trunc(micros);
    if (!(whole >= -0x1p63 / 1000 && whole < 0x1p63 / 1000)) return false;
    sink->inexact++;
    return !__builtin_add_overflow((int64_t)whole * 1000, (int64_t)round((micros - whole) * 1000),
                                   out);
}

void mrd__table_end(mrd__table_sink *sink)
{
    if (sink->inexact > 0)
        mrd__shard_loss(sink->shard, MRD__LOSS_INEXACT_TIME, 0, sink->inexact, -1, sink->times,
                        strlen(sink->times));
    mrd__vec_reset(&sink->named);
}
