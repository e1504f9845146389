/* meridian.h, Convert: JSON and protobuf by src/export; Parquet, Arrow and table folders are
 * statements of src/sql. */
#include "export/convert.h"
#include "api/trace.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "base/os.h"
#include "export/diff.h"
#include "meridian.h"
#include "sql/sql.h"

#include <fcntl.h>
#include <unistd.h>

static mrd__cut cut_of(const mrd_convert_options *options)
{
    if (options == NULL) return (mrd__cut){0};
    return (mrd__cut){options->has_start, options->has_end, options->start_ns,
                      options->end_ns,    options->tracks,  options->names};
}

static void add_quoted(mrd__buf *sql, const char *text)
{
    mrd__buf_char(sql, '\'');
    for (; *text != '\0'; text++) {
        if (*text == '\'') mrd__buf_char(sql, '\'');
        mrd__buf_char(sql, *text);
    }
    mrd__buf_char(sql, '\'');
}

static bool has_text_ids(const mrd__store *store)
{
    for (size_t p = 0; p < store->process_count; p++) {
        if (store->processes[p].pid.kind == MRD__IDENT_TEXT) return true;
    }
    for (size_t t = 0; t < store->thread_count; t++) {
        if (store->threads[t].tid.kind == MRD__IDENT_TEXT) return true;
    }
    return false;
}

static void add_crossing(mrd__buf *sql, const mrd__cut *cut)
{
    mrd__buf_text(sql, "s.flags || CASE WHEN s.stands_before THEN '|stands_before' ELSE '' END");
    if (cut->has_start)
        mrd__buf_printf(sql, " || CASE WHEN s.ts < %lld THEN '|crosses_start' ELSE '' END",
                        (long long)cut->start_ns);
    if (cut->has_end)
        mrd__buf_printf(sql,
                        " || CASE WHEN s.dur >= 0 AND s.ts + s.dur > %lld THEN '|crosses_end' "
                        "ELSE '' END",
                        (long long)cut->end_ns);
}

static void add_range(mrd__buf *sql, const mrd__cut *cut)
{
    const char *between = "";
    if (cut->has_start) {
        mrd__buf_printf(sql, "start_ns := %lld", (long long)cut->start_ns);
        between = ", ";
    }
    if (cut->has_end) mrd__buf_printf(sql, "%send_ns := %lld", between, (long long)cut->end_ns);
}

static mrd_status refuse_events(const mrd_trace *trace, mrd_error *error)
{
    if (trace->store->events == NULL) return MRD_OK;
    return mrd__fail(error, MRD_ERR_UNSUPPORTED, "event_records",
                     "event records are written as Parquet or Arrow (their intervals) alone");
}

static void add_filters(mrd__buf *sql, const mrd__cut *cut, const char *name)
{
    if (cut->names != NULL && name != NULL) {
        mrd__buf_printf(sql, " AND %s GLOB ", name);
        add_quoted(sql, cut->names);
    }
    if (cut->tracks == NULL) return;
    static const char *const columns[] = {"t.name", "h.name", "p.name"};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        mrd__buf_printf(sql, "%s coalesce(%s, '') GLOB ", i == 0 ? " AND (" : " OR", columns[i]);
        add_quoted(sql, cut->tracks);
    }
    mrd__buf_char(sql, ')');
}

#define OWNERS                                                                                     \
    " JOIN mrd_track() t ON t.id = s.track_id LEFT JOIN process p USING (upid) "                   \
    "LEFT JOIN thread h USING (utid)"

/* The slices as a table that opens again (spec merge.md section 1). */
static void slices_statement(mrd__buf *sql, const mrd__store *store, const mrd__cut *cut)
{
    bool text = has_text_ids(store);
    mrd__buf_text(sql, "SELECT s.name, s.ts AS ts_ns, s.dur AS dur_ns, s.category, ");
    mrd__buf_text(sql, text ? "coalesce(p.pid::VARCHAR, p.pid_text) AS pid, "
                              "coalesce(h.tid::VARCHAR, h.tid_text) AS tid, "
                            : "p.pid, h.tid, ");
    mrd__buf_text(sql, "p.name AS process, h.name AS thread, t.name AS track, s.depth, "
                       "args_json(s.arg_set_id) AS args, trim(");
    add_crossing(sql, cut);
    mrd__buf_text(sql, ", '|') AS flags, s.id, s.parent_id AS parent, s.track_id FROM slice(");
    add_range(sql, cut);
    mrd__buf_text(sql, ") s" OWNERS " WHERE t.type <> 'instant'");
    add_filters(sql, cut, "s.name");
    mrd__buf_text(sql, " ORDER BY s.ts, s.rank, s.depth, s.id");
}

/* ---- Table folders ---- */

#define LAST_SHARED_CLOCK 6 /* BOOTTIME: ids above it count a file's own time */

static void instants_statement(mrd__buf *sql, const mrd__store *store, const mrd__cut *cut)
{
    (void)store;
    mrd__buf_text(sql, "SELECT s.ts AS ts_ns, s.name, s.category, s.track_id, "
                       "args_json(s.arg_set_id) AS args FROM instant(");
    add_range(sql, cut);
    mrd__buf_text(sql, ") s" OWNERS " WHERE true");
    add_filters(sql, cut, "s.name");
    mrd__buf_text(sql, " ORDER BY s.ts, s.rank, s.id");
}

static void counters_statement(mrd__buf *sql, const mrd__store *store, const mrd__cut *cut)
{
    (void)store;
    mrd__buf_text(sql, "SELECT s.ts AS ts_ns, s.track_id, s.value FROM counter(");
    add_range(sql, cut);
    mrd__buf_text(sql, ") s" OWNERS " WHERE true");
    add_filters(sql, cut, NULL);
    mrd__buf_text(sql, " ORDER BY s.track_id, s.ts, s.id");
}

static void flows_statement(mrd__buf *sql, const mrd__store *store, const mrd__cut *cut)
{
    mrd__buf_text(sql, "WITH kept AS (SELECT id FROM (");
    slices_statement(sql, store, cut);
    mrd__buf_text(sql, ")) SELECT slice_out, slice_in, name, category, flow_id, ts_out AS "
                       "ts_out_ns, ts_in AS ts_in_ns FROM mrd_flow() WHERE slice_out IN (FROM "
                       "kept) AND slice_in IN (FROM kept) ORDER BY id");
}

static const struct {
    const char *name;
    const char *statement; /* or NULL: made */
    void (*make)(mrd__buf *sql, const mrd__store *store, const mrd__cut *cut);
} tables[] = {
    {"machine",
     "SELECT id, raw_id, name, sysname, release, version, arch, num_cpus FROM mrd_machine() "
     "ORDER BY id",
     NULL},
    {"metadata",
     "SELECT name, json_value FROM mrd_metadata() WHERE json_value IS NOT NULL ORDER BY id", NULL},
    {"process",
     "SELECT id AS upid, pid, pid_text, name, labels, sort_index, machine_id, names "
     "FROM mrd_process() ORDER BY id",
     NULL},
    {"thread",
     "SELECT id AS utid, upid, tid, tid_text, name, sort_index FROM mrd_thread() ORDER BY id",
     NULL},
    {"track",
     "SELECT id, parent_id, name, type, utid, upid, unit, series, scope, machine_id "
     "FROM mrd_track() "
     "ORDER BY id",
     NULL},
    {"slice", NULL, slices_statement},
    {"instant", NULL, instants_statement},
    {"counter", NULL, counters_statement},
    {"flow", NULL, flows_statement},
};
enum {
    TABLE_COUNT = sizeof tables / sizeof tables[0]
};

static mrd_status write_table(const mrd_trace *trace, size_t table, const mrd__cut *cut,
                              const char *folder, mrd_error *error)
{
    mrd__buf path = {0};
    mrd__buf sql = {0};
    mrd__buf_printf(&path, "%s/%s.parquet", folder, tables[table].name);
    int fd = open(path.data, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    mrd_status status = MRD_OK;
    if (fd < 0) {
        status = mrd__fail_errno(error, path.data, "cannot create");
    } else {
        if (tables[table].make != NULL)
            tables[table].make(&sql, trace->store, cut);
        else
            mrd__buf_text(&sql, tables[table].statement);
        status = mrd_query_parquet(trace, sql.data, sql.size, NULL, fd, error);
        close(fd);
    }
    mrd__buf_reset(&sql);
    mrd__buf_reset(&path);
    return status;
}

/* What the times count; nothing for a private timeline. */
static void add_clock(mrd__buf *out, const mrd__store *store)
{
    if (store->trace_clock == MRD__NONE) return;
    uint32_t id = store->clocks[store->trace_clock].id;
    const char *name = id <= LAST_SHARED_CLOCK ? mrd__clock_name(id) : NULL;
    if (name != NULL) mrd__buf_printf(out, "\"clock\":\"%s\",", name);
}

mrd_status mrd_trace_convert_folder(const mrd_trace *trace, const mrd_convert_options *options,
                                    const char *folder, mrd_error *error)
{
    mrd__assert(trace != NULL && folder != NULL);
    mrd__cut cut = cut_of(options);
    mrd__buf path = {0};
    mrd__buf list = {0};
    MRD__TRY(refuse_events(trace, error));
    MRD__TRY(mrd__make_folders(folder, error));
    mrd_status status = MRD_OK;
    mrd__buf_text(&list, "{\"meridian_tables\":{\"version\":1,");
    add_clock(&list, trace->store);
    mrd__buf_text(&list, "\"tables\":[");
    for (size_t i = 0; status == MRD_OK && i < TABLE_COUNT; i++) {
        mrd__buf_printf(&list, "%s\"%s\"", i > 0 ? "," : "", tables[i].name);
        status = write_table(trace, i, &cut, folder, error);
    }
    mrd__buf_text(&list, "]}}\n");
    mrd__buf_printf(&path, "%s/" MRD_TABLES_FILE, folder);
    /* Last: a folder without it is not whole. */
    if (status == MRD_OK) status = mrd__file_write_atomic(path.data, list.data, list.size, error);
    mrd__buf_reset(&list);
    mrd__buf_reset(&path);
    return status;
}

/* ---- One file ---- */

static mrd_status stream_arrow(const mrd_trace *trace, const mrd__buf *sql, const mrd_sink *sink,
                               mrd_error *error)
{
    mrd_query *query = NULL;
    bool more = true;
    mrd_status status =
        mrd_query_start(trace, sql->data, sql->size, MRD_FORMAT_ARROW, NULL, &query, error);
    while (status == MRD_OK && more)
        status = mrd_query_step(query, sink, &more, error);
    mrd_query_finish(&query);
    return status;
}

mrd_status mrd_trace_convert(const mrd_trace *trace, mrd_target target,
                             const mrd_convert_options *options, int fd, const mrd_sink *sink,
                             mrd_error *error)
{
    mrd__assert(trace != NULL && (sink != NULL || fd >= 0));
    mrd__cut cut = cut_of(options);
    mrd_status status;
    if (target == MRD_TARGET_PARQUET || target == MRD_TARGET_ARROW) {
        mrd__buf sql = {0};
        slices_statement(&sql, trace->store, &cut);
        status = target == MRD_TARGET_ARROW
                     ? stream_arrow(trace, &sql, sink, error)
                     : mrd_query_parquet(trace, sql.data, sql.size, NULL, fd, error);
        mrd__buf_reset(&sql);
        return status;
    }
    MRD__TRY(refuse_events(trace, error));
    mrd__selection selection;
    mrd__selection_make(&selection, trace->store, &cut);
    status = target == MRD_TARGET_JSON ? mrd__convert_json(&selection, sink, error)
                                       : mrd__convert_proto(&selection, sink, error);
    mrd__selection_reset(&selection);
    return status;
}

mrd_status mrd_trace_diff(const mrd_trace *before, const mrd_trace *after, mrd_format format,
                          uint64_t limit, const mrd_sink *sink, mrd_error *error)
{
    mrd__assert(before != NULL && after != NULL && sink != NULL);
    return mrd__export_diff(before->store, after->store, format, limit, sink, error);
}
