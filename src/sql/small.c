/* The small tables, cell by cell. Views (views.c) give them the original's columns. */
#include "base/json.h"
#include "sql/table.h"

#include <string.h>

#define COLUMNS(list) .columns = (list), .width = sizeof(list) / sizeof(list)[0]

/* ---- trace_bounds ---- */

static const mrd__sql_column bounds_columns[] = {{"start_ts", MRD__SQL_INT},
                                                 {"end_ts", MRD__SQL_INT}};

static uint64_t one_row(const mrd__sql *sql)
{
    (void)sql;
    return 1;
}

static void bounds_cell(const mrd__sql *sql, uint64_t row, unsigned column, mrd__sql_out *out,
                        size_t i)
{
    (void)row;
    const mrd__store *store = sql->store;
    int64_t value = column == 0 ? store->start_ns : store->end_ns;
    mrd__sql_put_int(out, i, store->empty ? 0 : value);
}

/* ---- process, thread ---- */

static const mrd__sql_column process_columns[] = {
    {"id", MRD__SQL_INT},         {"pid", MRD__SQL_INT},        {"pid_text", MRD__SQL_TEXT},
    {"name", MRD__SQL_TEXT},      {"sort_index", MRD__SQL_INT}, {"labels", MRD__SQL_TEXT},
    {"machine_id", MRD__SQL_INT}, {"names", MRD__SQL_TEXT},
};

static uint64_t process_count(const mrd__sql *sql)
{
    return sql->store->process_count;
}

static void put_ident_text(mrd__sql_out *out, size_t i, const mrd__store *store, mrd__ident ident)
{
    if (ident.kind == MRD__IDENT_TEXT)
        mrd__sql_put_text(out, i, mrd__store_str(store, ident.text));
    else
        mrd__sql_put_null(out, i);
}

/* All names that were seen, as a JSON list. */
static void put_names(const mrd__store *store, const mrd__process *process, mrd__sql_out *out,
                      size_t i)
{
    mrd__buf list = {0};
    mrd__buf_char(&list, '[');
    for (uint32_t n = 0; n < process->name_count; n++) {
        if (n > 0) mrd__buf_char(&list, ',');
        mrd__buf_json_string(&list,
                             mrd__store_str(store, store->process_names[process->name_first + n]));
    }
    mrd__buf_char(&list, ']');
    mrd__sql_put_copy(out, i, (mrd__str){list.data, list.size});
    mrd__buf_reset(&list);
}

static void process_cell(const mrd__sql *sql, uint64_t row, unsigned column, mrd__sql_out *out,
                         size_t i)
{
    const mrd__process *process = &sql->store->processes[row];
    switch (column) {
    case 0:
        mrd__sql_put_int(out, i, (int64_t)row);
        return;
    case 1:
        mrd__sql_put_ident(out, i, process->pid);
        return;
    case 2:
        put_ident_text(out, i, sql->store, process->pid);
        return;
    case 3:
        mrd__sql_put_string(out, i, sql->store, process->name);
        return;
    case 4:
        mrd__sql_put_int(out, i, process->sort_index);
        return;
    case 5:
        mrd__sql_put_string(out, i, sql->store, process->labels);
        return;
    case 6:
        mrd__sql_put_int(out, i, process->machine);
        return;
    default:
        put_names(sql->store, process, out, i);
    }
}

static const mrd__sql_column thread_columns[] = {
    {"id", MRD__SQL_INT},         {"upid", MRD__SQL_INT},
    {"tid", MRD__SQL_INT},        {"tid_text", MRD__SQL_TEXT},
    {"name", MRD__SQL_TEXT},      {"sort_index", MRD__SQL_INT},
    {"machine_id", MRD__SQL_INT}, {"is_main_thread", MRD__SQL_BOOL},
};

static uint64_t thread_count(const mrd__sql *sql)
{
    return sql->store->thread_count;
}

static void thread_cell(const mrd__sql *sql, uint64_t row, unsigned column, mrd__sql_out *out,
                        size_t i)
{
    const mrd__thread *thread = &sql->store->threads[row];
    const mrd__ident *pid = &sql->store->processes[thread->process].pid;
    switch (column) {
    case 0:
        mrd__sql_put_int(out, i, (int64_t)row);
        return;
    case 1:
        mrd__sql_put_index(out, i, thread->process);
        return;
    case 2:
        mrd__sql_put_ident(out, i, thread->tid);
        return;
    case 3:
        put_ident_text(out, i, sql->store, thread->tid);
        return;
    case 4:
        mrd__sql_put_string(out, i, sql->store, thread->name);
        return;
    case 5:
        mrd__sql_put_int(out, i, thread->sort_index);
        return;
    case 6:
        mrd__sql_put_int(out, i, sql->store->processes[thread->process].machine);
        return;
    default:
        mrd__sql_put_bool(out, i,
                          pid->kind == MRD__IDENT_NUMBER && thread->tid.kind == MRD__IDENT_NUMBER &&
                              pid->number == thread->tid.number);
    }
}

/* ---- track ---- */

static const mrd__sql_column track_columns[] = {
    {"id", MRD__SQL_INT},         {"name", MRD__SQL_TEXT},   {"type", MRD__SQL_TEXT},
    {"parent_id", MRD__SQL_INT},  {"utid", MRD__SQL_INT},    {"upid", MRD__SQL_INT},
    {"unit", MRD__SQL_TEXT},      {"series", MRD__SQL_TEXT}, {"component_group", MRD__SQL_TEXT},
    {"file_id", MRD__SQL_INT},    {"lane_id", MRD__SQL_INT}, {"rows", MRD__SQL_INT},
    {"machine_id", MRD__SQL_INT}, {"scope", MRD__SQL_TEXT},
};

static uint64_t track_count(const mrd__sql *sql)
{
    return sql->store->track_count + sql->spilled.count;
}

/* A track that is called as its thread or process has no name of its own, as in the original. */
static mrd__str_id own_name(const mrd__store *store, const mrd__track *track)
{
    mrd__str_id owner = 0;
    if (track->kind != MRD__TRACK_THREAD && track->kind != MRD__TRACK_INSTANT) return track->name;
    if (track->thread != MRD__NONE)
        owner = store->threads[track->thread].name;
    else if (track->process != MRD__NONE)
        owner = store->processes[track->process].name;
    return track->name == owner ? 0 : track->name;
}

/* Async slices of Chrome traces have ids that count for all processes, so that no process owns
 * their track in the original. */
static bool is_global_async(const mrd__store *store, const mrd__track *track)
{
    return track->kind == MRD__TRACK_ASYNC && track->file < store->file_count &&
           mrd__str_is(mrd__str_of(store->files[track->file].format), "chrome_json");
}

static mrd__str type_of(const mrd__store *store, const mrd__track *track, bool spilled)
{
    if (spilled) return MRD__STR("thread_overlapping_slice");
    if (is_global_async(store, track)) return MRD__STR("legacy_async_global_slice");
    return mrd__str_of(mrd__track_kind_name(track->kind));
}

static void track_place_cell(const mrd__track *track, uint32_t lane, unsigned column,
                             mrd__sql_out *out, size_t i)
{
    static const char *const scopes[] = {"thread", "process", "global"};
    switch (column) {
    case 9:
        mrd__sql_put_int(out, i, track->file);
        return;
    case 10:
        mrd__sql_put_int(out, i, lane);
        return;
    case 11:
        mrd__sql_put_int(out, i, (int64_t)track->count);
        return;
    case 12:
        mrd__sql_put_int(out, i, track->machine);
        return;
    default:
        if (track->kind == MRD__TRACK_INSTANT && track->event_key == MRD__NONE)
            mrd__sql_put_text(out, i, mrd__str_of(scopes[track->scope]));
        else
            mrd__sql_put_null(out, i);
    }
}

static void track_cell(const mrd__sql *sql, uint64_t row, unsigned column, mrd__sql_out *out,
                       size_t i)
{
    const mrd__store *store = sql->store;
    bool spilled = row >= store->track_count;
    uint32_t lane = (uint32_t)row;
    if (spilled) lane = store->row_infos[sql->spilled.data[row - store->track_count]].track;
    const mrd__track *track = &store->tracks[lane];
    switch (column) {
    case 0:
        mrd__sql_put_int(out, i, (int64_t)row);
        return;
    case 1:
        mrd__sql_put_string(out, i, store, own_name(store, track));
        return;
    case 2:
        mrd__sql_put_text(out, i, type_of(store, track, spilled));
        return;
    case 3:
        mrd__sql_put_index(out, i, spilled ? lane : track->parent);
        return;
    case 4:
        mrd__sql_put_index(out, i, track->thread);
        return;
    case 5:
        mrd__sql_put_index(out, i, track->process);
        return;
    case 6:
        mrd__sql_put_string(out, i, store, track->unit);
        return;
    case 7:
        mrd__sql_put_string(out, i, store, track->series);
        return;
    case 8:
        mrd__sql_put_string(out, i, store, track->group);
        return;
    default:
        track_place_cell(track, lane, column, out, i);
    }
}

/* ---- flow ---- */

static const mrd__sql_column flow_columns[] = {
    {"id", MRD__SQL_INT},       {"slice_out", MRD__SQL_INT}, {"slice_in", MRD__SQL_INT},
    {"trace_id", MRD__SQL_INT}, {"name", MRD__SQL_TEXT},     {"category", MRD__SQL_TEXT},
    {"flow_id", MRD__SQL_TEXT}, {"ts_out", MRD__SQL_INT},    {"ts_in", MRD__SQL_INT},
};

static uint64_t flow_count(const mrd__sql *sql)
{
    return sql->store->flow_count;
}

static void flow_cell(const mrd__sql *sql, uint64_t row, unsigned column, mrd__sql_out *out,
                      size_t i)
{
    const mrd__store *store = sql->store;
    const mrd__flow *flow = &store->flows[row];
    int64_t number;
    switch (column) {
    case 0:
        mrd__sql_put_int(out, i, (int64_t)row);
        return;
    case 1:
        mrd__sql_put_int(out, i, flow->from);
        return;
    case 2:
        mrd__sql_put_int(out, i, flow->to);
        return;
    case 3: /* NULL where the id is no number */
        if (mrd__parse_int64(mrd__store_str(store, flow->id), &number))
            mrd__sql_put_int(out, i, number);
        else
            mrd__sql_put_null(out, i);
        return;
    case 4:
        mrd__sql_put_string(out, i, store, flow->name);
        return;
    case 5:
        mrd__sql_put_string(out, i, store, flow->category);
        return;
    case 6:
        mrd__sql_put_string(out, i, store, flow->id);
        return;
    default:
        mrd__sql_put_int(out, i,
                         mrd__store_absolute(store, column == 7 ? flow->from_time : flow->to_time));
    }
}

/* ---- metadata, trace_file ---- */

static const mrd__sql_column metadata_columns[] = {{"id", MRD__SQL_INT},
                                                   {"name", MRD__SQL_TEXT},
                                                   {"int_value", MRD__SQL_INT},
                                                   {"str_value", MRD__SQL_TEXT},
                                                   {"json_value", MRD__SQL_TEXT}};

/* One row more: which clock trace time is, as the original says it. */
static uint64_t metadata_count(const mrd__sql *sql)
{
    return sql->store->metadata_count + (sql->store->trace_clock != MRD__NONE);
}

static void trace_clock_cell(const mrd__sql *sql, uint64_t row, unsigned column, mrd__sql_out *out,
                             size_t i)
{
    if (column == 0)
        mrd__sql_put_int(out, i, (int64_t)row);
    else if (column == 1)
        mrd__sql_put_text(out, i, MRD__STR("trace_time_clock_id"));
    else if (column == 2)
        mrd__sql_put_int(out, i, sql->store->clocks[sql->store->trace_clock].id);
    else
        mrd__sql_put_null(out, i);
}

/* As JSON has it: strings in quotes, the rest as written. */
static void put_json_value(const mrd__metadata *one, mrd__str value, mrd__sql_out *out, size_t i)
{
    if (one->json_type != MRD__JSON_STRING) {
        mrd__sql_put_text(out, i, value);
        return;
    }
    mrd__buf quoted = {0};
    mrd__buf_json_string(&quoted, value);
    mrd__sql_put_copy(out, i, (mrd__str){quoted.data, quoted.size});
    mrd__buf_reset(&quoted);
}

static void metadata_cell(const mrd__sql *sql, uint64_t row, unsigned column, mrd__sql_out *out,
                          size_t i)
{
    if (row == sql->store->metadata_count) {
        trace_clock_cell(sql, row, column, out, i);
        return;
    }
    const mrd__metadata *one = &sql->store->metadata[row];
    mrd__str value = mrd__store_str(sql->store, one->value);
    int64_t number;
    bool whole = mrd__parse_int64(value, &number);
    if (column == 0)
        mrd__sql_put_int(out, i, (int64_t)row);
    else if (column == 1)
        mrd__sql_put_text(out, i, mrd__store_str(sql->store, one->key));
    else if (column == 2 && whole)
        mrd__sql_put_int(out, i, number);
    else if (column == 3 && !whole)
        mrd__sql_put_text(out, i, value);
    else if (column == 4)
        put_json_value(one, value, out, i);
    else
        mrd__sql_put_null(out, i);
}

static const mrd__sql_column file_columns[] = {
    {"id", MRD__SQL_INT},
    {"name", MRD__SQL_TEXT},
    {"size", MRD__SQL_INT},
    {"trace_type", MRD__SQL_TEXT},
    {"clock", MRD__SQL_TEXT},
    {"events", MRD__SQL_INT},
    {"parent_id", MRD__SQL_INT},
    {"processing_order", MRD__SQL_INT},
    {"is_container", MRD__SQL_BOOL},
    {"machine_id", MRD__SQL_INT},
    {"path", MRD__SQL_TEXT},
};

static uint64_t file_count(const mrd__sql *sql)
{
    return sql->store->file_count;
}

/* The original's word for a format where it has one. */
static mrd__str trace_type(const char *format)
{
    mrd__str own = mrd__str_of(format);
    if (mrd__str_is(own, "chrome_json")) return MRD__STR("json");
    if (mrd__str_is(own, "perfetto")) return MRD__STR("proto");
    return own;
}

/* Of a member its place in the archive; an archive that was given has none, as in the original. */
static void put_file_name(const mrd__sql *sql, const mrd__file *file, mrd__sql_out *out, size_t i)
{
    mrd__str path = mrd__str_of(file->path);
    if (file->parent > 0) {
        size_t above = strlen(sql->store->files[file->parent - 1].path) + 1;
        if (path.size > above) path = (mrd__str){path.data + above, path.size - above};
    }
    if (file->parent == 0 && file->container)
        mrd__sql_put_null(out, i);
    else
        mrd__sql_put_text(out, i, path);
}

static void file_cell(const mrd__sql *sql, uint64_t row, unsigned column, mrd__sql_out *out,
                      size_t i)
{
    const mrd__file *file = &sql->store->files[row];
    switch (column) {
    case 0:
        mrd__sql_put_int(out, i, (int64_t)row);
        return;
    case 1:
        put_file_name(sql, file, out, i);
        return;
    case 2:
        mrd__sql_put_int(out, i, (int64_t)file->bytes);
        return;
    case 3:
        mrd__sql_put_text(out, i, trace_type(file->format));
        return;
    case 4:
        mrd__sql_put_text(out, i, mrd__str_of(file->clock));
        return;
    case 5:
        mrd__sql_put_int(out, i, (int64_t)file->events);
        return;
    case 6:
        mrd__sql_put_index(out, i, file->parent == 0 ? MRD__NONE : file->parent - 1);
        return;
    case 7:
        mrd__sql_put_int(out, i, file->order);
        return;
    case 8:
        mrd__sql_put_bool(out, i, file->container);
        return;
    case 9:
        mrd__sql_put_int(out, i, file->machine);
        return;
    default:
        mrd__sql_put_text(out, i, mrd__str_of(file->path));
    }
}

const mrd__sql_table mrd__sql_small_tables[] = {
    {.name = "trace_bounds", COLUMNS(bounds_columns), .count = one_row, .cell = bounds_cell},
    {.name = "mrd_process", COLUMNS(process_columns), .count = process_count, .cell = process_cell},
    {.name = "mrd_thread", COLUMNS(thread_columns), .count = thread_count, .cell = thread_cell},
    {.name = "mrd_track", COLUMNS(track_columns), .count = track_count, .cell = track_cell},
    {.name = "mrd_flow", COLUMNS(flow_columns), .count = flow_count, .cell = flow_cell},
    {.name = "mrd_metadata",
     COLUMNS(metadata_columns),
     .count = metadata_count,
     .cell = metadata_cell},
    {.name = "mrd_file", COLUMNS(file_columns), .count = file_count, .cell = file_cell},
    {.name = NULL},
};
