/* Views that give our tables the original's names and columns (docs/sql.md). Columns that the store
 * has nothing for are there as NULL, so that queries that name them run. */
#include "sql/inside.h"

/* Columns of each kind of track. */
#define TRACK_COLUMNS                                                                              \
    "id, name, type, NULL::BIGINT AS dimension_arg_set_id, parent_id, "                            \
    "NULL::BIGINT AS source_arg_set_id, machine_id, NULL::BIGINT AS track_group_id"
#define NO_TIMES "NULL::BIGINT AS start_ts, NULL::BIGINT AS end_ts"
#define SLICE_COLUMNS                                                                              \
    "s.id, t.type, s.ts, s.dur, s.category, s.name, s.track_id, t.name AS track_name, "
#define SLICE_TAIL "s.depth, s.parent_id, s.arg_set_id, s.thread_ts, s.thread_dur"
#define VIEW(name, query) "CREATE VIEW " name " AS " query

/* Which of a track's owners counts: Chrome's async slices have no process (small.c). */
#define NOT_COUNTER "type <> 'counter'"
#define OF_THREAD "utid IS NOT NULL AND " NOT_COUNTER
#define OF_PROCESS                                                                                 \
    "utid IS NULL AND upid IS NOT NULL AND " NOT_COUNTER " AND type <> "                           \
    "'legacy_async_global_slice'"

const char *const mrd__sql_views[] = {
    VIEW("trace_bounds", "SELECT * FROM trace_bounds()"),
    VIEW("slice", "SELECT * FROM slice()"),
    VIEW("slices", "SELECT * FROM slice()"),
    VIEW("instant", "SELECT * FROM instant()"),
    VIEW("counter", "SELECT * FROM counter()"),
    VIEW("event", "SELECT * FROM event()"),
    VIEW("args", "SELECT * FROM args()"),
    VIEW("loss", "SELECT * FROM loss()"),
    VIEW("clock_snapshot", "SELECT * FROM clock_snapshot()"),
    VIEW("clock_path", "SELECT * FROM clock_path()"),
    VIEW("machine",
         "SELECT *, NULL::VARCHAR AS android_build_fingerprint, "
         "NULL::VARCHAR AS android_device_manufacturer, NULL::BIGINT AS android_sdk_version, "
         "NULL::BIGINT AS system_ram_bytes, NULL::BIGINT AS system_ram_gb, "
         "id AS label_index FROM mrd_machine()"),
    VIEW("process",
         "SELECT id, id AS upid, pid, name, " NO_TIMES ", NULL::BIGINT AS parent_upid, "
         "NULL::BIGINT AS uid, NULL::BIGINT AS android_appid, NULL::BIGINT AS android_user_id, "
         "NULL::VARCHAR AS cmdline, NULL::BIGINT AS arg_set_id, machine_id, pid_text, labels, "
         "sort_index FROM mrd_process()"),
    VIEW("thread",
         "SELECT id, id AS utid, tid, name, " NO_TIMES ", upid, is_main_thread, false AS is_idle, "
         "machine_id, NULL::BIGINT AS arg_set_id, tid_text, sort_index FROM mrd_thread()"),
    VIEW("track", "SELECT " TRACK_COLUMNS ", lane_id, file_id FROM mrd_track()"),
    VIEW("thread_track", "SELECT " TRACK_COLUMNS ", utid FROM mrd_track() WHERE " OF_THREAD),
    VIEW("process_track", "SELECT " TRACK_COLUMNS ", upid FROM mrd_track() WHERE " OF_PROCESS),
    VIEW("counter_track",
         "SELECT " TRACK_COLUMNS ", unit, NULL::VARCHAR AS description, series FROM mrd_track() "
         "WHERE type = 'counter'"),
    VIEW("process_counter_track",
         "SELECT " TRACK_COLUMNS ", upid, unit, NULL::VARCHAR AS description FROM mrd_track() "
         "WHERE type = 'counter' AND upid IS NOT NULL AND utid IS NULL"),
    VIEW("thread_counter_track",
         "SELECT " TRACK_COLUMNS ", utid, unit, NULL::VARCHAR AS description FROM mrd_track() "
         "WHERE type = 'counter' AND utid IS NOT NULL"),
    VIEW("track_with_name",
         "SELECT t.*, COALESCE(t.name, 'thread=' || h.name, 'process=' || p.name, "
         "'tid=' || h.tid, 'pid=' || p.pid) AS full_name FROM track t "
         "JOIN mrd_track() m ON m.id = t.id LEFT JOIN thread h ON h.utid = m.utid "
         "LEFT JOIN process p ON p.upid = m.upid"),
    VIEW("flow",
         "SELECT id, slice_out, slice_in, trace_id, NULL::BIGINT AS arg_set_id, name, category, "
         "flow_id, ts_out, ts_in FROM mrd_flow()"),
    VIEW("stats",
         "SELECT row_number() OVER () - 1 AS id, name, NULL::BIGINT AS key, NULL::BIGINT AS idx, "
         "severity, source, value, description, NULL::BIGINT AS machine_id, "
         "NULL::BIGINT AS trace_id FROM mrd_stats() WHERE is_first"),
    VIEW("metadata", "SELECT id, name, 'single' AS key_type, int_value, str_value, "
                     "NULL::BIGINT AS machine_id, NULL::BIGINT AS trace_id FROM mrd_metadata()"),
    VIEW("trace_file",
         "SELECT id, parent_id, name, size, trace_type, processing_order, is_container, clock, "
         "events, machine_id, path FROM mrd_file()"),
    VIEW("__intrinsic_trace_file", "SELECT * FROM trace_file"),
    VIEW("_trace_import_logs",
         "SELECT id, NULL::BIGINT AS trace_id, ts, NULL::BIGINT AS byte_offset, severity, name, "
         "arg_set_id, slice_id FROM mrd_import_logs()"),
    VIEW("thread_slice",
         "SELECT " SLICE_COLUMNS "h.name AS thread_name, h.utid, h.tid, h.is_main_thread, "
         "p.name AS process_name, p.upid, p.pid, " SLICE_TAIL " FROM slice s "
         "JOIN thread_track t ON t.id = s.track_id JOIN thread h USING (utid) "
         "LEFT JOIN process p USING (upid)"),
    VIEW("process_slice",
         "SELECT " SLICE_COLUMNS "p.name AS process_name, p.upid, p.pid, " SLICE_TAIL
         " FROM slice s JOIN process_track t ON t.id = s.track_id JOIN process p USING (upid)"),
    VIEW("thread_or_process_slice",
         "SELECT * FROM thread_slice UNION ALL BY NAME SELECT * FROM process_slice"),
    "CREATE MACRO extract_arg(arg_set, arg_key) AS mrd_arg(arg_set, arg_key)",
    "CREATE MACRO extract_arg_int(arg_set, arg_key) AS "
    "TRY_CAST(mrd_arg(arg_set, arg_key) AS BIGINT)",
    "CREATE MACRO extract_arg_real(arg_set, arg_key) AS "
    "TRY_CAST(mrd_arg(arg_set, arg_key) AS DOUBLE)",
    NULL,
};
