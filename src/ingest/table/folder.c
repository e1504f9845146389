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
#define TABLES_VERSION 1 /* of what src/api/convert.c writes */

static bool sniff(const char *head, size_t size)
{
    return size >= sizeof MAGIC - 1 && memcmp(head, MAGIC, sizeof MAGIC - 1) == 0;
}

/* ---- Reading one table ---- */

typedef struct open_pair { /* a slice without length that is told by begin and end */
    int64_t id, ts;
    uint32_t local; /* its lane */
} open_pair;

typedef struct reading {
    mrd__table_sink sink;
    mrd__duck *duck;
    int folder;
    MRD__VEC(mrd__table_machine) machines;
    MRD__VEC(mrd__table_process) processes;
    MRD__VEC(mrd__table_thread) threads;
    MRD__VEC(bool) parents;          /* by track */
    MRD__VEC(mrd__table_lane) lanes; /* by track */
    MRD__VEC(mrd__table_flow) flows; /* by slice_out, and behind them by slice_in */
    MRD__VEC(open_pair) pairs;       /* their ends come behind what lies in them */
    uint64_t chunks;
} reading;

typedef mrd_status (*row_fn)(reading *r, const mrd__duck_chunk *chunk, size_t row,
                             mrd_error *error);

/* Rows are read as these types: a letter a column, i BIGINT, t VARCHAR, d DOUBLE. */
static mrd_status check_types(const mrd__duck_rows *rows, const char *path, const char *columns,
                              const char *types, mrd_error *error)
{
    for (size_t i = 0; types[i] != '\0'; i++) {
        bool whole = types[i] == 'i', text = types[i] == 't';
        mrd__duck_type wanted = whole ? MRD__DUCK_INT64 : text ? MRD__DUCK_TEXT : MRD__DUCK_DOUBLE;
        size_t size = strcspn(columns, ",");
        if (mrd__duck_rows_type(rows, i) != wanted)
            return mrd__fail(error, MRD_ERR_FORMAT, "bad_table",
                             "%s: column %.*s has another type, allowed is %s", path, (int)size,
                             columns,
                             whole  ? "BIGINT"
                             : text ? "VARCHAR"
                                    : "DOUBLE");
        columns += size;
        columns += strspn(columns, ", ");
    }
    return MRD_OK;
}

static mrd_status read_table(reading *r, const char *name, const char *columns, const char *types,
                             row_fn row, mrd_error *error)
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
    if (status == MRD_OK) status = check_types(rows, path, columns, types, error);
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

/* Told when it is 0 as well: what is told of exists, events or not. */
static void tell_sort(reading *r, mrd__phase phase, uint32_t thread, int64_t index)
{
    mrd__fact *fact = mrd__shard_push(r->sink.shard);
    fact->phase = phase;
    fact->thread = thread;
    fact->dur = index;
}

static bool same_ident(const mrd__ident *a, const mrd__ident *b)
{
    return a->kind == b->kind && a->number == b->number && a->text == b->text;
}

/* Names of a process as a JSON list, the last one again at the end. */
static void tell_names(reading *r, uint32_t process, mrd__str list, mrd__str last)
{
    mrd__json json;
    mrd__buf name = {0};
    bool any = false;
    mrd__json_init(&json, list.data, list.size);
    for (;;) {
        mrd__json_token token = mrd__json_next(&json);
        if (token.type == MRD__JSON_ERROR || token.type == MRD__JSON_END) break;
        if (token.type != MRD__JSON_STRING) continue;
        mrd__buf_clear(&name);
        mrd__json_decode(&name, token.text, NULL);
        tell(r, MRD__PROCESS_NAME, process, (mrd__str){name.data, name.size});
        any = true;
    }
    mrd__buf_reset(&name);
    if (any || list.size == 0) tell(r, MRD__PROCESS_NAME, process, last);
}

/* upid, pid, pid_text, name, labels, sort_index, machine_id, names */
static mrd_status process_row(reading *r, const mrd__duck_chunk *chunk, size_t row,
                              mrd_error *error)
{
    int64_t sort = 0;
    int64_t upid = -1;
    int64_t machine = -1;
    if (!int_at(chunk, 0, row, &upid) || upid != (int64_t)r->processes.count)
        return bad_row("process: upid does not count up from 0", error);
    if (!int_at(chunk, 6, row, &machine) || machine < 0 || machine >= (int64_t)r->machines.count)
        return bad_row("process: machine_id is no machine", error);
    mrd__table_process own = {.pid = ident_at(r, chunk, 1, row),
                              .machine = r->machines.data[machine].number};
    for (size_t p = 0; p < r->processes.count; p++) {
        const mrd__table_process *other = &r->processes.data[p];
        if (other->machine == own.machine && same_ident(&other->pid, &own.pid))
            own.pid.use = (uint16_t)(other->pid.use + 1);
    }
    mrd__shard_machine(r->sink.shard, own.machine);
    own.local = mrd__shard_thread(r->sink.shard, own.pid, (mrd__ident){0});
    mrd__vec_push(&r->processes, own);
    tell_names(r, own.local, text_at(chunk, 7, row), text_at(chunk, 3, row));
    tell(r, MRD__PROCESS_LABELS, own.local, text_at(chunk, 4, row));
    (void)int_at(chunk, 5, row, &sort);
    tell_sort(r, MRD__PROCESS_SORT, own.local, sort);
    return MRD_OK;
}

/* utid, upid, tid, tid_text, name, sort_index; threads of a process stand together */
static mrd_status thread_row(reading *r, const mrd__duck_chunk *chunk, size_t row, mrd_error *error)
{
    int64_t sort = 0;
    int64_t utid = -1;
    int64_t upid = -1;
    if (!int_at(chunk, 0, row, &utid) || utid != (int64_t)r->threads.count)
        return bad_row("thread: utid does not count up from 0", error);
    if (!int_at(chunk, 1, row, &upid) || upid < 0 || upid >= (int64_t)r->processes.count)
        return bad_row("thread: upid is no process", error);
    const mrd__table_process *process = &r->processes.data[upid];
    mrd__table_thread own = {.tid = ident_at(r, chunk, 2, row), .process = (uint32_t)upid};
    for (size_t t = r->threads.count; t-- > 0 && r->threads.data[t].process == own.process;) {
        if (!same_ident(&r->threads.data[t].tid, &own.tid)) continue;
        own.tid.use = (uint16_t)(r->threads.data[t].tid.use + 1);
        break;
    }
    mrd__shard_machine(r->sink.shard, process->machine);
    own.local = mrd__shard_thread(r->sink.shard, process->pid, own.tid);
    mrd__vec_push(&r->threads, own);
    tell(r, MRD__THREAD_NAME, own.local, text_at(chunk, 4, row));
    (void)int_at(chunk, 5, row, &sort);
    tell_sort(r, MRD__THREAD_SORT, own.local, sort);
    return MRD_OK;
}

/* ---- Machines ---- */

/* Number 0 is a file's own machine, which it always has: the host where it is in the table, else
 * the first one. Named ones are told by their names. */
static mrd_status machine_row(reading *r, const mrd__duck_chunk *chunk, size_t row,
                              mrd_error *error)
{
    mrd__table_machine own = {0};
    int64_t id = -1;
    if (!int_at(chunk, 0, row, &id) || id != (int64_t)r->machines.count || id >= INT32_MAX)
        return bad_row("machine: id does not count up from 0", error);
    if (!int_at(chunk, 1, row, &own.raw_id) || own.raw_id < 0)
        return bad_row("machine: raw_id is not 0 or more", error);
    own.number = own.raw_id < INT32_MAX ? (uint32_t)own.raw_id : (uint32_t)id + INT32_MAX;
    mrd__vec_push(&r->machines, own);
    return MRD_OK;
}

static char *copy_at(const mrd__duck_chunk *chunk, size_t column, size_t row)
{
    mrd__str text = text_at(chunk, column, row);
    return text.size > 0 ? mrd__strndup(text.data, text.size) : NULL;
}

/* id, raw_id, name, sysname, release, version, arch, num_cpus: once their numbers are known */
static mrd_status machine_facts_row(reading *r, const mrd__duck_chunk *chunk, size_t row,
                                    mrd_error *error)
{
    int64_t id = -1;
    int64_t cpus = 0;
    char *texts[5];
    if (!int_at(chunk, 0, row, &id) || id < 0 || id >= (int64_t)r->machines.count)
        return bad_row("machine: id does not count up from 0", error);
    if (int_at(chunk, 7, row, &cpus) && (cpus < 0 || cpus > UINT32_MAX))
        return bad_row("machine: num_cpus is no count", error);
    for (size_t i = 0; i < 5; i++)
        texts[i] = copy_at(chunk, 2 + i, row);
    const mrd__table_machine *own = &r->machines.data[id];
    mrd__machine_facts facts = {.name = texts[0],
                                .sysname = texts[1],
                                .release = texts[2],
                                .version = texts[3],
                                .arch = texts[4],
                                .num_cpus = (uint32_t)cpus,
                                .by_name = own->raw_id >= INT32_MAX && texts[0] != NULL};
    mrd__writer_machine(r->sink.in->writer, r->sink.file, own->number, &facts);
    for (size_t i = 0; i < 5; i++)
        mrd__free(texts[i]);
    return MRD_OK;
}

static mrd_status read_machines(reading *r, mrd_error *error)
{
    static const char columns[] = "id, raw_id, name, sysname, release, version, arch, num_cpus";
    bool host = false;
    MRD__TRY(read_table(r, "machine", columns, "iittttti", machine_row, error));
    for (size_t m = 0; m < r->machines.count; m++)
        host = host || r->machines.data[m].raw_id == 0;
    if (!host && r->machines.count > 0) r->machines.data[0].number = 0;
    return read_table(r, "machine", columns, "iittttti", machine_facts_row, error);
}

/* ---- Metadata ---- */

/* name, json_value */
static mrd_status metadata_row(reading *r, const mrd__duck_chunk *chunk, size_t row,
                               mrd_error *error)
{
    mrd__str value = text_at(chunk, 1, row);
    mrd__buf text = {0};
    mrd__json json;
    mrd__json_init(&json, value.data, value.size);
    mrd__json_token token = mrd__json_next(&json);
    if (token.type < MRD__JSON_STRING) return bad_row("metadata: json_value is no scalar", error);
    if (token.type == MRD__JSON_STRING)
        mrd__json_decode(&text, token.text, NULL);
    else
        mrd__buf_str(&text, token.text);
    mrd__buf key = {0};
    mrd__utf8_repair(&key, text_at(chunk, 0, row));
    mrd__shard_metadata(r->sink.shard, (mrd__str){key.data, key.size},
                        (mrd__str){text.data, text.size}, (uint8_t)token.type);
    mrd__buf_reset(&key);
    mrd__buf_reset(&text);
    return MRD_OK;
}

/* ---- Tracks ---- */

static uint32_t owner_of(reading *r, const mrd__duck_chunk *chunk, size_t row)
{
    int64_t index;
    if (int_at(chunk, 4, row, &index) && index >= 0 && index < (int64_t)r->threads.count)
        return r->threads.data[index].local;
    if (int_at(chunk, 5, row, &index) && index >= 0 && index < (int64_t)r->processes.count)
        return r->processes.data[index].local;
    return MRD__NONE;
}

typedef struct track_row_texts {
    mrd__str name, type, unit, series, scope;
} track_row_texts;

/* The lane's own track: that of the row before where both are parts of one (its slices, samples,
 * instants), else a new one. */
static void own_lane(reading *r, mrd__table_lane *lane, const track_row_texts *texts,
                     uint32_t machine)
{
    mrd__track_spec spec = {.owner = lane->owner, .parent = lane->parent, .machine = machine};
    const mrd__table_lane *last =
        r->lanes.count > 0 ? &r->lanes.data[r->lanes.count - 1] : &(mrd__table_lane){0};
    spec.name = mrd__table_string(&r->sink, texts->name);
    spec.unit = mrd__table_string(&r->sink, texts->unit);
    spec.async = lane->kind == MRD__TABLE_ASYNC;
    lane->own = true;
    if (last->own && last->kind < lane->kind && last->owner == lane->owner &&
        last->parent == lane->parent) {
        mrd__track_spec *above = mrd__shard_track_spec(r->sink.shard, last->local);
        if (above->name == spec.name && above->machine == machine) {
            above->unit = spec.unit;
            lane->local = last->local;
            return;
        }
    }
    lane->local = mrd__shard_track(r->sink.shard);
    *mrd__shard_track_spec(r->sink.shard, lane->local) = spec;
}

/* What no other row makes already: the thread's own slices or instants, the process's. */
static bool is_second(const reading *r, const mrd__table_lane *lane)
{
    for (size_t i = r->lanes.count; i-- > 0;) {
        const mrd__table_lane *other = &r->lanes.data[i];
        if (!other->own && other->local == lane->owner && other->kind == lane->kind &&
            other->series == 0 && other->scope == lane->scope)
            return true;
        if (!other->own && other->local != lane->owner) return false; /* owners stand together */
    }
    return false;
}

static mrd__table_track_kind kind_of(mrd__str type)
{
    return mrd__str_is(type, "counter")   ? MRD__TABLE_COUNTER
           : mrd__str_is(type, "instant") ? MRD__TABLE_INSTANT
           : mrd__str_is(type, "async") || mrd__str_is(type, "legacy_async_global_slice")
               ? MRD__TABLE_ASYNC
               : MRD__TABLE_SLICES;
}

/* A process's own instants are a track of their own where others stand below it. */
static bool heads_others(const reading *r, const mrd__table_lane *lane)
{
    return lane->kind == MRD__TABLE_INSTANT && lane->scope == MRD__SCOPE_PROCESS &&
           r->parents.data[r->lanes.count];
}

static void place_lane(reading *r, mrd__table_lane *lane, const track_row_texts *texts,
                       uint32_t machine)
{
    bool global = mrd__str_is(texts->scope, "global");
    bool keyed = lane->kind == MRD__TABLE_COUNTER && texts->series.size > 0 &&
                 texts->unit.size == 0 && lane->owner != MRD__NONE;
    lane->scope = mrd__str_is(texts->scope, "process") ? MRD__SCOPE_PROCESS
                  : global                             ? MRD__SCOPE_GLOBAL
                                                       : MRD__SCOPE_THREAD;
    lane->local = lane->owner;
    if (keyed) {
        mrd__str name = texts->name;
        if (name.size > texts->series.size) name.size -= texts->series.size + 1;
        lane->name = mrd__table_string(&r->sink, name);
        lane->series = mrd__table_string(&r->sink, texts->series);
    } else if (lane->kind == MRD__TABLE_COUNTER || lane->kind == MRD__TABLE_ASYNC ||
               heads_others(r, lane) || texts->name.size > 0 ||
               (lane->owner == MRD__NONE && !global) ||
               (lane->owner != MRD__NONE && is_second(r, lane))) {
        own_lane(r, lane, texts, machine);
    } else if (lane->owner == MRD__NONE) {
        lane->local = mrd__shard_thread(r->sink.shard, (mrd__ident){0}, (mrd__ident){0});
    }
}

/* id, parent_id, type: what others stand below is a track of its own, even an unnamed one */
static mrd_status parent_row(reading *r, const mrd__duck_chunk *chunk, size_t row, mrd_error *error)
{
    int64_t id = -1;
    int64_t parent = -1;
    if (!int_at(chunk, 0, row, &id) || id != (int64_t)r->parents.count)
        return bad_row("track: id does not count up from 0", error);
    mrd__vec_push(&r->parents, false);
    if (int_at(chunk, 1, row, &parent) && parent >= 0 && parent < id &&
        !mrd__str_is(text_at(chunk, 2, row), "thread_overlapping_slice"))
        r->parents.data[parent] = true;
    return MRD_OK;
}

/* id, parent_id, name, type, utid, upid, unit, series, scope, machine_id */
static mrd_status track_row(reading *r, const mrd__duck_chunk *chunk, size_t row, mrd_error *error)
{
    int64_t id = -1;
    int64_t parent = -1;
    int64_t machine = 0;
    track_row_texts texts = {text_at(chunk, 2, row), text_at(chunk, 3, row), text_at(chunk, 6, row),
                             text_at(chunk, 7, row), text_at(chunk, 8, row)};
    mrd__table_lane lane = {
        .owner = owner_of(r, chunk, row), .kind = kind_of(texts.type), .parent = MRD__NONE};
    if (!int_at(chunk, 0, row, &id) || id != (int64_t)r->lanes.count)
        return bad_row("track: id does not count up from 0", error);
    if (!int_at(chunk, 9, row, &machine) || machine < 0 || machine >= (int64_t)r->machines.count)
        return bad_row("track: machine_id is no machine", error);
    bool has_parent =
        int_at(chunk, 1, row, &parent) && parent >= 0 && parent < (int64_t)r->lanes.count;
    const mrd__table_lane *above = has_parent ? &r->lanes.data[parent] : NULL;
    if (above != NULL && mrd__str_is(texts.type, "thread_overlapping_slice")) {
        lane = *above;
    } else {
        if (above != NULL && above->own) lane.parent = above->local;
        place_lane(r, &lane, &texts, r->machines.data[machine].number);
    }
    mrd__vec_push(&r->lanes, lane);
    return MRD_OK;
}

static const mrd__table_lane no_lane;

static mrd_status lane_at(const reading *r, const mrd__duck_chunk *chunk, size_t column, size_t row,
                          const mrd__table_lane **out, mrd_error *error)
{
    int64_t id;
    int64_t count = (int64_t)r->lanes.count;
#ifdef MRD_PLANTED_BUGS /* what the fuzzer of table folders must find */
    count = INT32_MAX;
#endif
    if (!int_at(chunk, column, row, &id) || id < 0 || id >= count)
        return bad_row("a row's track_id is no track", error);
    *out = &r->lanes.data[id];
    return MRD_OK;
}

/* ---- Flows ---- */

/* slice_out, slice_in, name, category, flow_id, ts_out_ns, ts_in_ns */
static mrd_status flow_row(reading *r, const mrd__duck_chunk *chunk, size_t row, mrd_error *error)
{
    mrd__table_flow flow = {0};
    if (!int_at(chunk, 0, row, &flow.out) || !int_at(chunk, 1, row, &flow.in) ||
        !int_at(chunk, 5, row, &flow.ts_out) || !int_at(chunk, 6, row, &flow.ts_in))
        return bad_row("flow: a slice or a time is null", error);
    if (r->flows.count >= UINT32_MAX / 2) return bad_row("flow: too many rows", error);
    flow.name = mrd__table_string(&r->sink, text_at(chunk, 2, row));
    flow.category = mrd__table_string(&r->sink, text_at(chunk, 3, row));
    flow.id = mrd__table_string(&r->sink, text_at(chunk, 4, row));
    flow.pair = (uint32_t)r->flows.count + 1;
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
                          int64_t ts, uint32_t next)
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
        const mrd__table_flow *flow = &flows[low];
        int64_t at = out ? flow->ts_out : flow->ts_in;
        mrd__flow_half half = {flow->pair, flow->name, flow->category, flow->id, 0};
        if (__builtin_sub_overflow(at, ts, &half.delta_ns)) half.delta_ns = 0;
        mrd__side side = {.bind_id = mrd__shard_half(r->sink.shard, half),
                          .flags = MRD__FLOW_HALF | (out ? MRD__FLOW_OUT : MRD__FLOW_IN),
                          .next = next};
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

/* True when the flags of a row, joined by |, have this one. */
static bool has_flag(mrd__str flags, const char *flag)
{
    return flags.size > 0 && memmem(flags.data, flags.size, flag, strlen(flag)) != NULL;
}

/* End all pairs that a slice at ts with this parent does not lie in. True: it lies in one. */
static bool end_pairs(reading *r, uint32_t local, int64_t ts, int64_t parent)
{
    bool inside = false;
    size_t kept = r->pairs.count;
    for (size_t i = r->pairs.count; i-- > 0;) { /* inner ones first */
        open_pair pair = r->pairs.data[i];
        if (pair.ts == ts && (pair.local != local || inside || pair.id == parent)) {
            inside |= pair.local == local;
            r->pairs.data[--kept] = pair;
            continue;
        }
        mrd__fact *end = mrd__shard_push(r->sink.shard);
        end->phase = MRD__END;
        end->thread = pair.local;
        end->ts = pair.ts;
    }
    size_t left = r->pairs.count - kept;
    if (left > 0) memmove(r->pairs.data, r->pairs.data + kept, left * sizeof(open_pair));
    r->pairs.count = left;
    return inside;
}

/* id, ts_ns, dur_ns, name, category, track_id, args, flags, parent */
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
        extra = bind_some(r, r->flows.data, true, id, ts, 0);
        extra = bind_some(r, r->flows.data + r->flows.count, false, id, ts, extra);
    }
    mrd__str flags = text_at(chunk, 7, row);
    /* Told by begin and end where the order of these counts. */
    int64_t parent = -1;
    (void)int_at(chunk, 8, row, &parent);
    bool inside = end_pairs(r, lane->local, ts, parent);
    bool pair = has_flag(flags, "stands_before") || (inside && dur == 0);
    bool open = dur == -1;
    mrd__fact *fact =
        push(r, open || pair ? MRD__BEGIN : MRD__COMPLETE, open ? 'B' : 'X', lane, ts);
    fact->dur = open ? 0 : dur;
    if (has_flag(flags, "negative_dur")) fact->dur = -1; /* mended again */
    fact->name = name;
    fact->category = category;
    fact->extra = extra;
    fact->args = args & 0xffffffffffffu;
    if (args != 0) fact->flags = MRD__ARGS_OWNED;
    /* Async slices stand beside each other; only those of a stack are flagged for it. */
    if (lane->own && has_flag(flags, "overlap"))
        mrd__shard_track_spec(r->sink.shard, lane->local)->async = false;
    open_pair own = {id, ts, lane->local};
    if (pair) mrd__vec_push(&r->pairs, own);
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
    MRD__TRY(read_machines(r, error));
    MRD__TRY(read_table(r, "process",
                        "upid, pid, pid_text, name, labels, sort_index, machine_id, names",
                        "iitttiit", process_row, error));
    MRD__TRY(read_table(r, "thread", "utid, upid, tid, tid_text, name, sort_index", "iiitti",
                        thread_row, error));
    MRD__TRY(read_table(r, "track", "id, parent_id, type", "iit", parent_row, error));
    MRD__TRY(read_table(r, "track",
                        "id, parent_id, name, type, utid, upid, unit, series, scope, machine_id",
                        "iittiittti", track_row, error));
    MRD__TRY(read_table(r, "metadata", "name, json_value", "tt", metadata_row, error));
    MRD__TRY(read_table(r, "flow",
                        "slice_out, slice_in, name, category, flow_id, ts_out_ns, ts_in_ns",
                        "iitttii", flow_row, error));
    sort_flows(r);
    MRD__TRY(read_table(r, "slice",
                        "id, ts_ns, dur_ns, name, category, track_id, args, flags, parent",
                        "iiittitti", slice_row, error));
    while (r->pairs.count > 0)
        (void)end_pairs(r, MRD__NONE, r->pairs.data[0].ts ^ 1, -1); /* any other time */
    MRD__TRY(read_table(r, "instant", "ts_ns, name, category, track_id, args", "ittit", instant_row,
                        error));
    return read_table(r, "counter", "ts_ns, track_id, value", "iid", counter_row, error);
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

/* The clock that the folder's times count, of meridian-tables.json; empty: none. */
static mrd_status read_description(mrd__str text, mrd__buf *clock, mrd_error *error)
{
    mrd__json json;
    int64_t version = 0;
    mrd__buf key = {0};
    mrd__json_init(&json, text.data, text.size);
    mrd__json_token token;
    do {
        token = mrd__json_next(&json);
        if (token.type == MRD__JSON_KEY) {
            mrd__buf_clear(&key);
            mrd__json_decode(&key, token.text, NULL);
        } else if (json.depth == 2 && token.type == MRD__JSON_NUMBER && key.size == 7 &&
                   memcmp(key.data, "version", 7) == 0) {
            (void)mrd__parse_int64(token.text, &version);
        } else if (json.depth == 2 && token.type == MRD__JSON_STRING && key.size == 5 &&
                   memcmp(key.data, "clock", 5) == 0) {
            mrd__json_decode(clock, token.text, NULL);
        }
    } while (token.type != MRD__JSON_ERROR && token.type != MRD__JSON_END);
    mrd__buf_reset(&key);
    if (token.type == MRD__JSON_ERROR)
        return mrd__fail(error, MRD_ERR_FORMAT, "bad_table", "offset %zu: %s", json.error_at,
                         json.error_what);
    if (version == TABLES_VERSION) return MRD_OK;
    return mrd__fail(error, MRD_ERR_UNSUPPORTED, "bad_table",
                     "table folder of version %lld; this program reads version %d",
                     (long long)version, TABLES_VERSION);
}

static mrd_status read_file(mrd__import *in, mrd_error *error)
{
    if (in->data_path != NULL)
        return mrd__fail(error, MRD_ERR_UNSUPPORTED, "bad_table",
                         "a table folder inside an archive is not read: unpack it");
    reading *r = mrd__new(reading);
    r->folder = open_folder(in->path);
    mrd__buf clock = {0};
    mrd_status status = read_description(
        in->map != NULL ? (mrd__str){in->map->data, in->map->size} : (mrd__str){0}, &clock, error);
    if (status == MRD_OK && r->folder < 0)
        status = mrd__fail_errno(error, in->path, "cannot open the folder");
    if (status == MRD_OK) status = mrd__duck_open(&r->duck, in->threads, error);
    if (status == MRD_OK) {
        mrd__table_begin(&r->sink, in, mrd__importer_table_folder.name,
                         (mrd__str){clock.data, clock.size});
        status = read_tables(r, error);
        mrd__table_end(&r->sink);
    }
    mrd__duck_close(&r->duck);
    if (r->folder >= 0) close(r->folder);
    mrd__buf_reset(&clock);
    mrd__vec_reset(&r->machines);
    mrd__vec_reset(&r->processes);
    mrd__vec_reset(&r->threads);
    mrd__vec_reset(&r->parents);
    mrd__vec_reset(&r->lanes);
    mrd__vec_reset(&r->flows);
    mrd__vec_reset(&r->pairs);
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
