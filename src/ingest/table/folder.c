/* Table folders: what `convert` to a name that ends in a slash writes, one Parquet file a table and
 * meridian-tables.json, which is what is opened. Numbers of processes, threads, tracks and slices
 * tie the tables together; they mean nothing outside of the folder. */
#include "ingest/table/folder.h"
#include "base/error.h"
#include "base/json.h"
#include "ingest/table/rows.h"
#include "ingest/table/table.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAGIC "{\"meridian_tables\""

static bool sniff(const char *head, size_t size)
{
    return size >= sizeof MAGIC - 1 && memcmp(head, MAGIC, sizeof MAGIC - 1) == 0;
}

/* ---- Reading one table ---- */

typedef struct reading {
    mrd__table_sink sink;
    mrd__duck *duck;
    int folder;
    MRD__VEC(mrd__ident) pids;       /* by upid */
    MRD__VEC(uint32_t) processes;    /* local thread of the process itself */
    MRD__VEC(uint32_t) threads;      /* by utid */
    MRD__VEC(mrd__table_lane) lanes; /* by track */
    MRD__VEC(mrd__table_flow) flows; /* by slice_out, and behind them by slice_in */
    uint64_t chunks;
} reading;

typedef mrd_status (*row_fn)(reading *r, const mrd__duck_chunk *chunk, size_t row,
                             mrd_error *error);

static mrd_status read_table(reading *r, const char *name, const char *columns, row_fn row,
                             mrd_error *error)
{
    char path[64];
    char fd_name[MRD__DUCK_FD_NAME];
    mrd__buf sql = {0};
    mrd__duck_rows *rows = NULL;
    mrd__duck_chunk chunk = {.rows = 1};
    snprintf(path, sizeof path, "%s.parquet", name);
    int fd = openat(r->folder, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return mrd__fail_errno(error, path, "cannot open the table");
    mrd__buf_printf(&sql, "SELECT %s FROM read_parquet('%s')", columns,
                    mrd__duck_fd_name(fd, fd_name));
    mrd_status status = mrd__duck_check_footer(fd, error);
    bool damaged = status != MRD_OK;
    if (!damaged) status = mrd__duck_query(r->duck, sql.data, NULL, 0, &rows, error);
    while (status == MRD_OK && chunk.rows > 0) {
        status = mrd__duck_rows_next(rows, &chunk, error);
        for (size_t i = 0; status == MRD_OK && i < chunk.rows; i++)
            status = row(r, &chunk, i, error);
    }
    mrd__duck_rows_close(&rows);
    mrd__buf_reset(&sql);
    close(fd);
    if (status != MRD_ERR_INTERNAL && !damaged) return status;
    return mrd__fail(error, MRD_ERR_FORMAT, "bad_table", "%s: %s", path,
                     error != NULL ? error->message : "");
}

static mrd__str text_at(const mrd__duck_chunk *chunk, size_t column, size_t row)
{
    const mrd__duck_column *from = &chunk->columns[column];
    return mrd__duck_valid(from, row) ? mrd__duck_text(from, row) : (mrd__str){0};
}

static bool int_at(const mrd__duck_chunk *chunk, size_t column, size_t row, int64_t *out)
{
    const mrd__duck_column *from = &chunk->columns[column];
    if (!mrd__duck_valid(from, row)) return false;
    *out = ((const int64_t *)from->data)[row];
    return true;
}

static mrd_status bad_row(const char *what, mrd_error *error)
{
    return mrd__fail(error, MRD_ERR_FORMAT, "bad_table", "%s", what);
}

static mrd__ident ident_at(reading *r, const mrd__duck_chunk *chunk, size_t column, size_t row)
{
    mrd__ident ident = {0};
    mrd__str text = text_at(chunk, column + 1, row);
    if (int_at(chunk, column, row, &ident.number))
        ident.kind = MRD__IDENT_NUMBER;
    else if (text.size > 0) {
        ident.kind = MRD__IDENT_TEXT;
        ident.text = mrd__table_string(&r->sink, text);
    }
    return ident;
}

/* ---- Processes and threads: in the order of their numbers ---- */

static void tell(reading *r, mrd__phase phase, uint32_t thread, mrd__str name)
{
    if (name.size == 0) return;
    uint32_t id = mrd__table_string(&r->sink, name);
    mrd__fact *fact = mrd__shard_push(r->sink.shard);
    fact->phase = phase;
    fact->thread = thread;
    fact->name = id;
}

static void tell_sort(reading *r, mrd__phase phase, uint32_t thread, int64_t index)
{
    if (index == 0) return;
    mrd__fact *fact = mrd__shard_push(r->sink.shard);
    fact->phase = phase;
    fact->thread = thread;
    fact->dur = index;
}

static mrd_status process_row(reading *r, const mrd__duck_chunk *chunk, size_t row,
                              mrd_error *error)
{
    int64_t sort = 0;
    int64_t upid = -1;
    if (!int_at(chunk, 0, row, &upid) || upid != (int64_t)r->pids.count)
        return bad_row("process: upid does not count up from 0", error);
    mrd__ident pid = ident_at(r, chunk, 1, row);
    for (size_t p = 0; p < r->pids.count; p++) {
        const mrd__ident *other = &r->pids.data[p];
        if (other->kind == pid.kind && other->number == pid.number && other->text == pid.text)
            pid.use = (uint16_t)(other->use + 1);
    }
    mrd__vec_push(&r->pids, pid);
    uint32_t self = mrd__shard_thread(r->sink.shard, pid, (mrd__ident){0});
    mrd__vec_push(&r->processes, self);
    tell(r, MRD__PROCESS_NAME, self, text_at(chunk, 3, row));
    tell(r, MRD__PROCESS_LABELS, self, text_at(chunk, 4, row));
    if (int_at(chunk, 5, row, &sort)) tell_sort(r, MRD__PROCESS_SORT, self, sort);
    return MRD_OK;
}

static mrd_status thread_row(reading *r, const mrd__duck_chunk *chunk, size_t row, mrd_error *error)
{
    int64_t sort = 0;
    int64_t utid = -1;
    int64_t upid = -1;
    if (!int_at(chunk, 0, row, &utid) || utid != (int64_t)r->threads.count)
        return bad_row("thread: utid does not count up from 0", error);
    if (!int_at(chunk, 1, row, &upid) || upid < 0 || upid >= (int64_t)r->pids.count)
        return bad_row("thread: upid is no process", error);
    mrd__ident tid = ident_at(r, chunk, 2, row);
    uint32_t thread = mrd__shard_thread(r->sink.shard, r->pids.data[upid], tid);
    mrd__vec_push(&r->threads, thread);
    tell(r, MRD__THREAD_NAME, thread, text_at(chunk, 4, row));
    if (int_at(chunk, 5, row, &sort)) tell_sort(r, MRD__THREAD_SORT, thread, sort);
    return MRD_OK;
}

/* ---- Tracks ---- */

static uint32_t owner_of(reading *r, const mrd__duck_chunk *chunk, size_t row)
{
    int64_t index;
    if (int_at(chunk, 4, row, &index) && index >= 0 && index < (int64_t)r->threads.count)
        return r->threads.data[index];
    if (int_at(chunk, 5, row, &index) && index >= 0 && index < (int64_t)r->processes.count)
        return r->processes.data[index];
    return MRD__NONE;
}

static uint32_t own_lane(reading *r, uint32_t owner, mrd__str name, mrd__str unit)
{
    uint32_t local = mrd__shard_track(r->sink.shard);
    mrd__track_spec spec = {.owner = owner, .parent = MRD__NONE};
    spec.name = mrd__table_string(&r->sink, name);
    spec.unit = mrd__table_string(&r->sink, unit);
    *mrd__shard_track_spec(r->sink.shard, local) = spec;
    return local;
}

/* id, parent_id, name, type, utid, upid, unit, series, scope */
static mrd_status track_row(reading *r, const mrd__duck_chunk *chunk, size_t row, mrd_error *error)
{
    int64_t id = -1;
    int64_t parent = -1;
    mrd__str name = text_at(chunk, 2, row);
    mrd__str type = text_at(chunk, 3, row);
    mrd__str unit = text_at(chunk, 6, row);
    mrd__str series = text_at(chunk, 7, row);
    mrd__str scope = text_at(chunk, 8, row);
    mrd__table_lane lane = {.local = owner_of(r, chunk, row)};
    if (!int_at(chunk, 0, row, &id) || id != (int64_t)r->lanes.count)
        return bad_row("track: id does not count up from 0", error);
    bool counter = mrd__str_is(type, "counter");
    bool spilled = mrd__str_is(type, "thread_overlapping_slice") &&
                   int_at(chunk, 1, row, &parent) && parent >= 0 &&
                   parent < (int64_t)r->lanes.count;
    if (spilled) {
        lane = r->lanes.data[parent];
    } else if (counter && series.size > 0 && unit.size == 0 && lane.local != MRD__NONE) {
        if (name.size > series.size) name.size -= series.size + 1;
        lane.name = mrd__table_string(&r->sink, name);
        lane.series = mrd__table_string(&r->sink, series);
    } else if (counter || name.size > 0 || lane.local == MRD__NONE) {
        if (!mrd__str_is(scope, "global") || name.size > 0)
            lane.local = own_lane(r, lane.local, name, unit);
        else
            lane.local = mrd__shard_thread(r->sink.shard, (mrd__ident){0}, (mrd__ident){0});
    }
    lane.scope = mrd__str_is(scope, "process")  ? MRD__SCOPE_PROCESS
                 : mrd__str_is(scope, "global") ? MRD__SCOPE_GLOBAL
                                                : MRD__SCOPE_THREAD;
    mrd__vec_push(&r->lanes, lane);
    return MRD_OK;
}

static const mrd__table_lane no_lane;

static mrd_status lane_at(const reading *r, const mrd__duck_chunk *chunk, size_t column, size_t row,
                          const mrd__table_lane **out, mrd_error *error)
{
    int64_t id;
    if (!int_at(chunk, column, row, &id) || id < 0 || id >= (int64_t)r->lanes.count)
        return bad_row("a row's track_id is no track", error);
    *out = &r->lanes.data[id];
    return MRD_OK;
}

/* ---- Flows ---- */

/* slice_out, slice_in, flow_id; a number of its own keeps flows of one id apart. */
static mrd_status flow_row(reading *r, const mrd__duck_chunk *chunk, size_t row, mrd_error *error)
{
    mrd__table_flow flow = {0};
    char number[32];
    mrd__buf id = {0};
    if (!int_at(chunk, 0, row, &flow.out) || !int_at(chunk, 1, row, &flow.in))
        return bad_row("flow: a slice is null", error);
    mrd__buf_str(&id, text_at(chunk, 2, row));
    snprintf(number, sizeof number, "#%zu", r->flows.count);
    mrd__buf_text(&id, number);
    flow.id = mrd__table_string(&r->sink, (mrd__str){id.data, id.size});
    mrd__buf_reset(&id);
    mrd__vec_push(&r->flows, flow);
    return MRD_OK;
}

static int by_out(const void *a, const void *b)
{
    int64_t left = ((const mrd__table_flow *)a)->out;
    int64_t right = ((const mrd__table_flow *)b)->out;
    return (left > right) - (left < right);
}

static int by_in(const void *a, const void *b)
{
    int64_t left = ((const mrd__table_flow *)a)->in;
    int64_t right = ((const mrd__table_flow *)b)->in;
    return (left > right) - (left < right);
}

/* The side records that bind a slice's flows, one behind the other; 0 none. */
static uint32_t bind_some(reading *r, const mrd__table_flow *flows, bool out, int64_t slice,
                          uint32_t next)
{
    size_t low = 0;
    size_t high = r->flows.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((out ? flows[middle].out : flows[middle].in) < slice)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < r->flows.count && (out ? flows[low].out : flows[low].in) == slice; low++) {
        mrd__side side = {
            .bind_id = flows[low].id, .flags = out ? MRD__FLOW_OUT : MRD__FLOW_IN, .next = next};
        next = mrd__shard_side(r->sink.shard, side);
    }
    return next;
}

/* ---- Events ---- */

static mrd__fact *push(reading *r, mrd__phase phase, char letter, const mrd__table_lane *lane,
                       int64_t ts)
{
    mrd__shard_count(r->sink.shard, (unsigned char)letter);
    if (++r->sink.rows % MRD__TABLE_CHUNK == 0) mrd__shard_chunk(r->sink.shard, ++r->chunks);
    mrd__fact *fact = mrd__shard_push(r->sink.shard);
    fact->phase = phase;
    fact->thread = lane->local;
    fact->ts = ts;
    return fact;
}

/* id, ts_ns, dur_ns, name, category, track_id, args */
static mrd_status slice_row(reading *r, const mrd__duck_chunk *chunk, size_t row, mrd_error *error)
{
    const mrd__table_lane *lane = &no_lane;
    int64_t id, ts, dur;
    if (!int_at(chunk, 0, row, &id) || !int_at(chunk, 1, row, &ts) || !int_at(chunk, 2, row, &dur))
        return bad_row("slice: id, ts_ns or dur_ns is null", error);
    MRD__TRY(lane_at(r, chunk, 5, row, &lane, error));
    uint32_t name = mrd__table_string(&r->sink, text_at(chunk, 3, row));
    uint32_t category = mrd__table_string(&r->sink, text_at(chunk, 4, row));
    uint64_t args = mrd__table_args(&r->sink, text_at(chunk, 6, row));
    uint32_t extra = 0;
    if (r->flows.count > 0) { /* by their start, then again by their end */
        extra = bind_some(r, r->flows.data, true, id, 0);
        extra = bind_some(r, r->flows.data + r->flows.count, false, id, extra);
    }
    bool open = dur == -1;
    mrd__fact *fact = push(r, open ? MRD__BEGIN : MRD__COMPLETE, open ? 'B' : 'X', lane, ts);
    fact->dur = open ? 0 : dur;
    fact->name = name;
    fact->category = category;
    fact->extra = extra;
    fact->args = args & 0xffffffffffffu;
    if (args != 0) fact->flags = MRD__ARGS_OWNED;
    return MRD_OK;
}

/* ts_ns, name, category, track_id, args */
static mrd_status instant_row(reading *r, const mrd__duck_chunk *chunk, size_t row,
                              mrd_error *error)
{
    const mrd__table_lane *lane = &no_lane;
    int64_t ts;
    if (!int_at(chunk, 0, row, &ts)) return bad_row("instant: ts_ns is null", error);
    MRD__TRY(lane_at(r, chunk, 3, row, &lane, error));
    uint32_t name = mrd__table_string(&r->sink, text_at(chunk, 1, row));
    uint32_t category = mrd__table_string(&r->sink, text_at(chunk, 2, row));
    uint64_t args = mrd__table_args(&r->sink, text_at(chunk, 4, row));
    mrd__fact *fact = push(r, MRD__INSTANT, 'i', lane, ts);
    fact->name = name;
    fact->category = category;
    fact->args = args & 0xffffffffffffu;
    fact->flags = (uint8_t)(lane->scope | (args != 0 ? MRD__ARGS_OWNED : 0));
    return MRD_OK;
}

/* ts_ns, track_id, value */
static mrd_status counter_row(reading *r, const mrd__duck_chunk *chunk, size_t row,
                              mrd_error *error)
{
    const mrd__table_lane *lane = &no_lane;
    int64_t ts;
    if (!int_at(chunk, 0, row, &ts) || !mrd__duck_valid(&chunk->columns[2], row))
        return bad_row("counter: ts_ns or value is null", error);
    MRD__TRY(lane_at(r, chunk, 1, row, &lane, error));
    mrd__fact *fact = push(r, MRD__COUNTER, 'C', lane, ts);
    fact->value = ((const double *)chunk->columns[2].data)[row];
    fact->name = lane->name;
    fact->extra = lane->series;
    return MRD_OK;
}

/* ---- The folder ---- */

/* Flows by slice_out, and behind them the same by slice_in. */
static void sort_flows(reading *r)
{
    size_t count = r->flows.count;
    if (count == 0) return;
    mrd__vec_reserve(&r->flows, count * 2);
    memcpy(r->flows.data + count, r->flows.data, count * sizeof *r->flows.data);
    qsort(r->flows.data, count, sizeof *r->flows.data, by_out);
    qsort(r->flows.data + count, count, sizeof *r->flows.data, by_in);
}

static mrd_status read_tables(reading *r, mrd_error *error)
{
    MRD__TRY(read_table(r, "process", "upid, pid, pid_text, name, labels, sort_index", process_row,
                        error));
    MRD__TRY(
        read_table(r, "thread", "utid, upid, tid, tid_text, name, sort_index", thread_row, error));
    MRD__TRY(read_table(r, "track", "id, parent_id, name, type, utid, upid, unit, series, scope",
                        track_row, error));
    MRD__TRY(read_table(r, "flow", "slice_out, slice_in, flow_id", flow_row, error));
    sort_flows(r);
    MRD__TRY(read_table(r, "slice", "id, ts_ns, dur_ns, name, category, track_id, args", slice_row,
                        error));
    MRD__TRY(read_table(r, "instant", "ts_ns, name, category, track_id, args", instant_row, error));
    return read_table(r, "counter", "ts_ns, track_id, value", counter_row, error);
}

static int open_folder(const char *path)
{
    char *copy = mrd__strndup(path, strlen(path));
    char *slash = strrchr(copy, '/');
    if (slash != NULL) *slash = '\0';
    int fd = open(slash == NULL   ? "."
                  : slash == copy ? "/"
                                  : copy,
                  O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    mrd__free(copy);
    return fd;
}

static mrd_status read_file(mrd__import *in, mrd_error *error)
{
    if (in->data_path != NULL)
        return mrd__fail(error, MRD_ERR_UNSUPPORTED, "bad_table",
                         "a table folder inside an archive is not read: unpack it");
    reading *r = mrd__new(reading);
    r->folder = open_folder(in->path);
    mrd_status status = MRD_OK;
    if (r->folder < 0) status = mrd__fail_errno(error, in->path, "cannot open the folder");
    if (status == MRD_OK) status = mrd__duck_open(&r->duck, in->threads, error);
    if (status == MRD_OK) {
        mrd__table_begin(&r->sink, in, mrd__importer_table_folder.name, MRD__STR(""));
        status = read_tables(r, error);
        mrd__table_end(&r->sink);
    }
    mrd__duck_close(&r->duck);
    if (r->folder >= 0) close(r->folder);
    mrd__vec_reset(&r->pids);
    mrd__vec_reset(&r->processes);
    mrd__vec_reset(&r->threads);
    mrd__vec_reset(&r->lanes);
    mrd__vec_reset(&r->flows);
    mrd__free(r);
    return status;
}

const mrd__importer mrd__importer_table_folder = {
    .name = "table_folder",
    .what = "table folder (its meridian-tables.json)",
    .priority = 35,
    .by_path = true,
    .sniff = sniff,
    .read = read_file,
};
