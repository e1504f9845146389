// Writes made inputs of the fuzzers of Perfetto traces, slice tables and event traces:
// node fuzz/make-traces.mjs [PROGRAM]. zstd comes from the program of that name, Arrow from ours.
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { deflateSync, gzipSync } from "node:zlib"
import { eventTrace, parquet } from "../tests/golden/lib/parquet.mjs"
import { Double, message, packed, trace, varint } from "../tests/golden/lib/perfetto.mjs"

const here = (path) => new URL(path, import.meta.url).pathname
const program = process.argv[2] ?? here("../build/meridian")

function writer(target) {
  const folder = here(`corpus/${target}/`)
  mkdirSync(folder, { recursive: true })
  return (name, bytes) => writeFileSync(folder + name, bytes)
}

// ---- Perfetto ----

const packetAt = (ts, ...fields) => [["PACKET_TIMESTAMP", ts], ["PACKET_SEQUENCE_ID", 1], ...fields]
const eventAt = (ts, ...fields) => packetAt(ts, ["PACKET_TRACK_EVENT", fields])
const clock = (id, ticks, ...more) =>
  ["SNAPSHOT_CLOCKS", [["CLOCK_ID", id], ["CLOCK_TIMESTAMP", ticks], ...more]]
const first = [["PACKET_SEQUENCE_ID", 1], ["PACKET_SEQUENCE_FLAGS", 1]]
const entry = (kind, iid, text) => [kind, [["ENTRY_IID", iid], ["ENTRY_TEXT", text]]]
const track = (uuid, ...fields) => [["PACKET_TRACK_DESCRIPTOR", [["TRACK_UUID", uuid], ...fields]]]

const interned = trace(
  [...first, ["PACKET_INTERNED_DATA", [entry("INTERNED_CATEGORIES", 1, "cat"),
    entry("INTERNED_CATEGORIES", 2, "two"), entry("INTERNED_EVENT_NAMES", 1, "step"),
    entry("INTERNED_ANNOTATION_NAMES", 1, "key"), entry("INTERNED_STRING_VALUES", 1, "word"),
    ["INTERNED_SOURCES", [["SOURCE_IID", 1], ["SOURCE_FILE", "a.c"], ["SOURCE_FUNCTION", "f"],
      ["SOURCE_LINE", 3]]]]],
  ["PACKET_DEFAULTS", [["DEFAULTS_CLOCK_ID", 6], ["DEFAULTS_TRACK_EVENT",
    [["EVENT_DEFAULTS_TRACK_UUID", 5], ["EVENT_DEFAULTS_COUNTER_UUIDS", packed(7)],
      ["EVENT_DEFAULTS_DOUBLE_UUIDS", 8]]]]]],
  track(5, ["TRACK_NAME", "lane"]),
  track(7, ["TRACK_NAME", "sum"], ["TRACK_COUNTER", [["COUNTER_INCREMENTAL", 1],
    ["COUNTER_MULTIPLIER", 2], ["COUNTER_UNIT_NAME", "B"]]]),
  track(8, ["TRACK_STATIC_NAME", "real"], ["TRACK_COUNTER", [["COUNTER_UNIT", 3]]]),
  track(9, ["TRACK_ATRACE_NAME", "atr"], ["TRACK_COUNTER", [["COUNTER_TYPE", 1]]]),
  eventAt(10, ["EVENT_TYPE", 1], ["EVENT_NAME_IID", 1], ["EVENT_CATEGORY_IIDS", packed(1, 2)],
    ["EVENT_SOURCE_IID", 1], ["EVENT_ANNOTATIONS", [["ANNOTATION_NAME_IID", 1],
      ["ANNOTATION_STRING_IID", 1]]], ["EVENT_EXTRA_VALUES", packed(4)],
    ["EVENT_EXTRA_DOUBLE_VALUES", new Double(2.5)]),
  eventAt(20, ["EVENT_TYPE", 1], ["EVENT_NAME_IID", 9], ["EVENT_CATEGORY_IIDS", 9],
    ["EVENT_SOURCE_IID", 9], ["EVENT_EXTRA_UUIDS", packed(7)], ["EVENT_EXTRA_VALUES", 5]),
  eventAt(30, ["EVENT_TYPE", 2]),
  eventAt(40, ["EVENT_TYPE", 4], ["EVENT_TRACK_UUID", 7], ["EVENT_COUNTER_VALUE", -3]),
  eventAt(41, ["EVENT_TYPE", 4], ["EVENT_TRACK_UUID", 8], ["EVENT_DOUBLE_VALUE", new Double(NaN)]),
  eventAt(42, ["EVENT_TYPE", 4], ["EVENT_TRACK_UUID", 9], ["EVENT_DOUBLE_VALUE", new Double(1e9)]),
  eventAt(43, ["EVENT_TYPE", 4], ["EVENT_TRACK_UUID", 5], ["EVENT_COUNTER_VALUE", 1]),
  eventAt(44, ["EVENT_TYPE", 4], ["EVENT_TRACK_UUID", 7]),
  [...first, ["PACKET_PREVIOUS_DROPPED", 1], ["PACKET_TIMESTAMP", 50],
    ["PACKET_TRACK_EVENT", [["EVENT_TYPE", 3], ["EVENT_NAME_IID", 1]]]],
  packetAt(60, ["PACKET_PREVIOUS_DROPPED", 1], ["PACKET_SEQUENCE_FLAGS", 2],
    ["PACKET_TRACK_EVENT", [["EVENT_TYPE", 3]]]))

const clocks = trace(
  [...first, ["PACKET_CLOCK_SNAPSHOT", [["SNAPSHOT_PRIMARY", 3], clock(6, 100), clock(3, 90),
    clock(64, 7, ["CLOCK_MULTIPLIER", 1000]),
    clock(65, 8, ["CLOCK_INCREMENTAL", 1], ["CLOCK_MULTIPLIER", 10])]]],
  packetAt(5, ["PACKET_CLOCK_ID", 65], ["PACKET_TRACK_EVENT", [["EVENT_TYPE", 3]]]),
  packetAt(6, ["PACKET_CLOCK_ID", 65], ["PACKET_TRACK_EVENT", [["EVENT_TYPE", 3]]]),
  packetAt(9, ["PACKET_CLOCK_ID", 64], ["PACKET_TRACK_EVENT", [["EVENT_TYPE", 3]]]),
  packetAt(9, ["PACKET_CLOCK_ID", 70], ["PACKET_TRACK_EVENT", [["EVENT_TYPE", 3]]]),
  packetAt(-9, ["PACKET_CLOCK_ID", 6], ["PACKET_TRACK_EVENT", [["EVENT_TYPE", 3]]]),
  [["PACKET_CLOCK_SNAPSHOT", [clock(64, 1)]]], [["PACKET_CLOCK_SNAPSHOT", [clock(0, 1)]]],
  [["PACKET_CLOCK_SNAPSHOT", [clock(6, 1), clock(6, 2)]]],
  [["PACKET_CLOCK_SNAPSHOT", [clock(6, 1, ["CLOCK_INCREMENTAL", 1])]]],
  [["PACKET_CLOCK_SNAPSHOT", [clock(6, 1, ["CLOCK_MULTIPLIER", -1])]]],
  [["PACKET_CLOCK_SNAPSHOT", [["TRACE_PACKET", "\x08"]]]])

const synced = (client, host) => ["REMOTE_SYNCED", [["SYNCED_CLIENT", [clock(6, client),
  clock(3, client + 1)]], ["SYNCED_HOST", [clock(6, host), clock(3, host + 2)]]]]
const machines = trace(
  [["PACKET_MACHINE_ID", 7], ["PACKET_REMOTE_SYNC", [synced(100, 1100), synced(120, 1130),
    synced(90000000000, 90000001000)]]],
  [["PACKET_REMOTE_SYNC", [synced(1, 2)]]],
  [["PACKET_MACHINE_ID", 7], ["PACKET_SYSTEM_INFO", [["SYSTEM_NUM_CPUS", 4],
    ["SYSTEM_MACHINE_NAME", "vm"], ["SYSTEM_UTSNAME", [["UTS_SYSNAME", "Linux"],
      ["UTS_VERSION", "#1"], ["UTS_RELEASE", "6.1"], ["UTS_MACHINE", "arm64"]]]]]],
  [["PACKET_MACHINE_ID", 7], ["PACKET_PROCESS_TREE", [
    ["TREE_PROCESSES", [["TREE_PROCESS_PID", 5], ["TREE_PROCESS_CMDLINE", "init"]]],
    ["TREE_THREADS", [["TREE_THREAD_TID", 6], ["TREE_THREAD_TGID", 5], ["TREE_THREAD_NAME", "w"]]],
    ["TREE_THREADS", [["TREE_THREAD_TID", 8]]], ["TREE_PROCESSES", []]]]],
  [["PACKET_MACHINE_ID", 7], ...packetAt(30, ["PACKET_TRACK_EVENT", [["EVENT_TYPE", 3]]])])

const pair = (key, value) => [["STATS_KEY", key], ["STATS_VALUE", value]]
const stats = trace(
  [["PACKET_TIMESTAMP", 10], ["PACKET_SYS_STATS", [["STATS_MEMINFO", pair(1, 8)],
    ["STATS_MEMINFO", pair(99, 8)], ["STATS_VMSTAT", pair(3, 4)], ["STATS_CPU",
      [["STATS_CPU_ID", 1], ["STATS_CPU_FIRST", 5], ["STATS_CPU_LAST", 6]]], ["STATS_FORKS", 2],
    ["STATS_IRQ_TOTAL", 3], ["STATS_SOFTIRQ_TOTAL", 4], ["STATS_CPUFREQ", 1000],
    ["STATS_CPUFREQ", 2000]]]],
  [["PACKET_SYS_STATS", [["STATS_FORKS", 2]]]])

const tracks = trace(
  track(1, ["TRACK_PROCESS", [["PROCESS_PID", 5], ["PROCESS_CMDLINE", "/bin/a"],
    ["PROCESS_SORT_INDEX", 2], ["PROCESS_NAME", "a"], ["PROCESS_LABELS", "label"]]]),
  track(2, ["TRACK_THREAD", [["THREAD_PID", 5], ["THREAD_TID", 6], ["THREAD_SORT_INDEX", 1],
    ["THREAD_NAME", "t"], ["THREAD_REFERENCE_US", 100], ["THREAD_REFERENCE_TIME_US", 50],
    ["THREAD_REFERENCE_COUNT", 9]]], ["TRACK_PARENT_UUID", 1]),
  track(3, ["TRACK_NAME", "below"], ["TRACK_PARENT_UUID", 2]),
  track(4, ["TRACK_NAME", "below"], ["TRACK_PARENT_UUID", 2], ["TRACK_MERGE_BEHAVIOR", 2]),
  track(10, ["TRACK_PARENT_UUID", 11]), track(11, ["TRACK_PARENT_UUID", 10]),
  track(12, ["TRACK_PARENT_UUID", 99]), track(3, ["TRACK_NAME", "again"], ["TRACK_PARENT_UUID", 1]),
  track(1, ["TRACK_THREAD", [["THREAD_PID", 5], ["THREAD_TID", 9]]]),
  track(13, ["TRACK_THREAD", [["THREAD_PID", 5]]]), track(14, ["TRACK_PROCESS", []]),
  [["PACKET_PROCESS_DESCRIPTOR", [["PROCESS_PID", 20], ["PROCESS_NAME", "p"]]]],
  [["PACKET_TRACK_DESCRIPTOR", [["TRACK_NAME", "nobody"]]]],
  [["PACKET_TRACE_CONFIG", ""]], [["PACKET_SEQUENCE_ID", 1], ["FTRACE_WAKING", "other"]],
  ...[3, 4, 10, 11, 12, 1, 2, 77].map((uuid) => eventAt(uuid, ["EVENT_TYPE", 3],
    ["EVENT_NAME", "e\xff"], ["EVENT_TRACK_UUID", uuid])))

const legacy = (phase, ...fields) => [["EVENT_NAME", "old"], ["EVENT_LEGACY",
  [["LEGACY_PHASE", phase.charCodeAt(0)], ...fields]]]
const reference = [...first, ["PACKET_THREAD_DESCRIPTOR", [["THREAD_PID", 5], ["THREAD_TID", 6],
  ["THREAD_REFERENCE_US", 100], ["THREAD_REFERENCE_TIME_US", 50], ["THREAD_REFERENCE_COUNT", 9]]]]
const withoutTime = (...fields) => [["PACKET_SEQUENCE_ID", 1], ["PACKET_TRACK_EVENT", fields]]
const events = trace(reference,
  withoutTime(["EVENT_TYPE", 1], ["EVENT_NAME", "delta"], ["EVENT_TIMESTAMP_DELTA_US", 5],
    ["EVENT_THREAD_TIME_DELTA_US", 2], ["EVENT_INSTRUCTIONS_DELTA", 3],
    ["EVENT_FLOW_IDS", new Double(5)], ["EVENT_FLOW_IDS_OLD", packed(8)]),
  withoutTime(["EVENT_TYPE", 2], ["EVENT_TIMESTAMP_ABSOLUTE_US", 120],
    ["EVENT_THREAD_TIME_ABSOLUTE_US", 60], ["EVENT_INSTRUCTIONS_ABSOLUTE", 20]),
  withoutTime(["EVENT_TYPE", 3], ["EVENT_NAME", "flow"], ["EVENT_TIMESTAMP_DELTA_US", 1],
    ["EVENT_LAST_FLOW_IDS", new Double(5)], ["EVENT_LAST_FLOW_IDS_OLD", 8],
    ["EVENT_SOURCE", [["SOURCE_FILE", "b.c"], ["SOURCE_FUNCTION", "g"], ["SOURCE_LINE", 4]]],
    ["EVENT_CATEGORIES", "a"], ["EVENT_CATEGORIES", "b"]),
  withoutTime(["EVENT_TYPE", 3]), withoutTime(["EVENT_TYPE", 9], ["EVENT_TIMESTAMP_DELTA_US", 1]),
  ...["B", "E", "I", "X", "b", "n", "e", "S", "T", "p", "F", "s", "t", "f", "C", "M", "N", "O", "D",
    "R", "Q"].flatMap((phase, i) => [
    eventAt(1000 + 10 * i, ...legacy(phase, ["LEGACY_LOCAL_ID", 4], ["LEGACY_ID_SCOPE", "s"])),
    eventAt(1003 + 10 * i, ...legacy(phase, ["LEGACY_GLOBAL_ID", 4], ["LEGACY_SCOPE", 1 + i % 3],
      ["LEGACY_PID", 5], ["LEGACY_TID", 6], ["LEGACY_BIND_ID", 3], ["LEGACY_BIND_ENCLOSING", 1],
      ["LEGACY_FLOW_DIRECTION", 1 + i % 3], ["LEGACY_DURATION_US", 2]))]))

const nested = (type, ...fields) => [["NESTED_TYPE", type], ...fields]
const note = (name, ...fields) => ["EVENT_ANNOTATIONS", [["ANNOTATION_NAME", name], ...fields]]
const annotations = trace(eventAt(5, ["EVENT_TYPE", 3], note("b", ["ANNOTATION_BOOL", 1]),
  note("u", ["ANNOTATION_UINT", -1]), note("i", ["ANNOTATION_INT", -1]),
  note("d", ["ANNOTATION_DOUBLE", new Double(Infinity)]), note("p", ["ANNOTATION_POINTER", 255]),
  note("j", ["ANNOTATION_JSON", '{"a":[1]}']), note("k", ["ANNOTATION_JSON", "{a"]),
  note("v", ["ANNOTATION_PROTO_VALUE", "x"]), note("none"),
  note("dict", ["ANNOTATION_DICT", [["ANNOTATION_NAME", "x"], ["ANNOTATION_INT", 1]]]),
  note("list", ["ANNOTATION_ARRAY", [["ANNOTATION_STRING", "x"]]], ["ANNOTATION_ARRAY", []]),
  note("nest", ["ANNOTATION_NESTED", nested(1, ["NESTED_KEYS", "k"], ["NESTED_VALUES",
    nested(2, ["NESTED_ARRAY", nested(0, ["NESTED_INT", 1])],
      ["NESTED_ARRAY", nested(0, ["NESTED_DOUBLE", new Double(0.5)])],
      ["NESTED_ARRAY", nested(0, ["NESTED_BOOL", 0])], ["NESTED_ARRAY", nested(0)],
      ["NESTED_ARRAY", nested(0, ["NESTED_STRING", "s"])])])])))

const perfetto = writer("perfetto")
const made = { interned, clocks, machines, stats, tracks, events, annotations }
for (const [name, bytes] of Object.entries(made)) perfetto(name, bytes)
const zstd = (bytes) => execFileSync("zstd", ["-c", "-q"], { input: bytes })
const wrapped = (name, bytes) => trace([[name, bytes]])
perfetto("deflated", wrapped("PACKET_DEFLATED", deflateSync(interned)))
perfetto("zstd", wrapped("PACKET_ZSTD", zstd(tracks)))
perfetto("zstd-in-deflated", wrapped("PACKET_DEFLATED",
  deflateSync(wrapped("PACKET_ZSTD", zstd(stats)))))
perfetto("zstd-cut", wrapped("PACKET_ZSTD", zstd(interned).subarray(0, 90)))
perfetto("deflated-cut", wrapped("PACKET_DEFLATED", deflateSync(interned).subarray(0, 90)))
let deep = stats
for (let level = 0; level < 12; level++) deep = wrapped("PACKET_DEFLATED", deflateSync(deep))
perfetto("too-deep", deep)
perfetto("gzip", gzipSync(events))
perfetto("gzip-cut", gzipSync(events).subarray(0, 100))

// ---- Slice tables ----

const table = writer("table")
const column = (name, type, values) => ({ name, type, values, optional: values.includes(null) })
const whole = [column("name", "string", ["a", "b\u00e4", ""]),
  column("ts_ns", "int64", [5, -1, null]),
  column("dur_ns", "int64", [3, -1, null]), column("pid", "int32", [1, 2, null]),
  column("tid", "string", ["7", "x", null]), column("category", "string", ["c", null, "d"]),
  column("args", "string", ['{"a":1}', "[1]", null]), column("process", "string", ["p", "q", null]),
  column("thread", "string", ["t", null, null])]
table("whole.parquet", parquet(whole, { clock: "BOOTTIME" }))
table("stamps.parquet", parquet([column("ts", "timestamp", [1731415926535897932n]),
  column("name", "string", ["a"]), column("dur", "double", [1.5])]))
table("micros.parquet", parquet([column("name", "string", ["a", "b", "c"]),
  column("ts", "double", [1.0005, NaN, 1e300]), column("cat", "string", ["x", "y", "z"])]))
table("bytes.parquet", parquet([column("name", "bytes", ["a"]), column("ts", "int32", [4])]))
table("no-time.parquet", parquet([column("name", "string", ["a"])]))
table("no-rows.parquet", parquet([column("name", "string", []), column("ts_ns", "int64", [])]))
const commands = [column("chip_id", "int32", [1, 0, 0, null]),
  column("engine", "string", ["cdma", "tiu", "", "sdma"]), column("unit", "int32", [0, 0, 1, 2]),
  column("thread", "int32", [0, 1, 1, 2]), column("cmd_id", "int64", [4, 8, 9, 10]),
  column("op", "string", ["send", "x\u00e4", "recv", "copy"]),
  column("peer", "int32", [0, null, -1, 3]), column("bytes", "int64", [5, 0, null, 1]),
  column("start_ns", "double", [0.5, -1e300, null, 1]),
  column("end_ns", "double", [9.5, 2, 3, NaN]), column("source_op_id", "int64", [null, 4, 8, 1])]
table("commands.parquet", parquet(commands.map((c) => ({ ...c, values: c.values.slice(0, 3) }))))
table("no-chip.parquet", parquet(commands))
table("no-peer.parquet", parquet(commands.filter((c) => c.name !== "peer")))
table("cut.parquet", parquet(whole).subarray(0, 300))
table("edge.parquet", parquet([column("name", "string", ["a", "b"]),
  column("ts_ns", "int64", [9223372036854775807n, -9223372036854775808n]),
  column("dur_ns", "int64", [9223372036854775807n, -5])]))

const scratch = mkdtempSync(join(tmpdir(), "mrd-corpus-"))
const json = join(scratch, "a.json")
writeFileSync(json, JSON.stringify([
  { ph: "M", name: "process_name", pid: 1, args: { name: "p" } },
  { ph: "X", name: "a", cat: "c", pid: 1, tid: 2, ts: 1, dur: 5, args: { k: 1 } },
  { ph: "B", name: "b", pid: 1, tid: 2, ts: 2 }]))
const ask = (sql) => execFileSync(program, ["query", json, "--format", "arrow", "-c", sql])
const stream = ask("SELECT 'a' AS name, 5::BIGINT AS ts_ns, 3::BIGINT AS dur_ns, 1::INT AS pid, " +
  "'x' AS tid, 'c' AS category, '{\"a\":1}' AS args, 'p' AS process, 't' AS thread UNION ALL " +
  "SELECT 'b', NULL, -1, NULL, NULL, NULL, '[1]', NULL, NULL")
table("stream.arrow", stream)
table("micros.arrow", ask("SELECT 'a' AS name, 1.0005::DOUBLE AS ts, 2.5::DOUBLE AS dur"))
table("small.arrow", ask("SELECT 'a' AS name, 7::UTINYINT AS ts, true AS pid, 3::USMALLINT AS tid"))
table("no-time.arrow", ask("SELECT 'a' AS name"))
table("no-rows.arrow", ask("SELECT 'a' AS name, 1::BIGINT AS ts_ns WHERE false"))
table("cut.arrow", stream.subarray(0, stream.length - 100))
execFileSync(program, ["convert", json, join(scratch, "b.arrow")], { stdio: "ignore" })
const file = readFileSync(join(scratch, "b.arrow"))
table("file.arrow", file)
table("file-cut.arrow", file.subarray(0, file.length - 20))
table("no-arrow", "ARROW1\0\0 and nothing of a schema behind it")
rmSync(scratch, { recursive: true })

// ---- Event traces: times at the edges of what is taken ----

const traces = writer("event_parquet")
/** Decoded rows (see fuzz_event_parquet.c) of three events, the first at this time. */
function rows(time) {
  const bits = Buffer.alloc(8)
  bits.writeDoubleBE(time)
  const row = (at) => Buffer.concat([Buffer.from([1]), at, Buffer.from([4, 0, 0])])
  return Buffer.concat([Buffer.from([0]), row(Buffer.concat([Buffer.from([255]), bits])),
    row(Buffer.from([0])), row(Buffer.from([49]))])
}
const event = { time_ns: 1, category: "hop_arrive", component: "a", value: 1, detail_json: null }
for (const [name, time] of [["2-63", 2 ** 63], ["below-2-63", 2 ** 63 - 1024],
  ["minus-2-63", -(2 ** 63)], ["below-minus-2-63", -(2 ** 63) - 2048], ["1e300", 1e300]]) {
  traces(`time-${name}`, rows(time))
  traces(`time-${name}.parquet`, eventTrace([{ ...event, time_ns: time }]))
  traces(`end-${name}.parquet`, eventTrace([event], { metadata: { sim_end_ns: String(time) } }))
}

// ---- Table folders ----

const tableColumns = {
  machine: { id: 0, raw_id: 0, name: "", sysname: "", release: "", version: "", arch: "", num_cpus: 0 },
  process: { upid: 0, pid: 0, pid_text: "", name: "", labels: "", sort_index: 0, machine_id: 0,
    names: "" },
  thread: { utid: 0, upid: 0, tid: 0, tid_text: "", name: "", sort_index: 0 },
  track: { id: 0, parent_id: 0, name: "", type: "", utid: 0, upid: 0, unit: "", series: "", scope: "",
    machine_id: 0 },
  metadata: { name: "", json_value: "" },
  flow: { slice_out: 0, slice_in: 0, name: "", category: "", flow_id: "", ts_out_ns: 0, ts_in_ns: 0 },
  slice: { id: 0, ts_ns: 0, dur_ns: 0, name: "", category: "", track_id: 0, args: "", flags: "",
    parent: 0 },
  instant: { ts_ns: 0, name: "", category: "", track_id: 0, args: "" },
  counter: { ts_ns: 0, track_id: 0, value: 0.5 },
}
const typeOf = (sample) => (typeof sample === "string" ? "string"
  : Number.isInteger(sample) ? "int64" : "double")
const tableOf = (name, rows, types = {}) => parquet(Object.entries(tableColumns[name])
  .map(([column, sample]) => ({ name: column, type: types[column] ?? typeOf(sample), optional: true,
    values: rows.map((row) => row[column] ?? null) })))
const wholeTables = {
  machine: [{ id: 0, raw_id: 0, name: "host", sysname: "Linux", num_cpus: 4 },
    { id: 1, raw_id: 7, name: "vm" }, { id: 2, raw_id: 2 ** 40, name: "far" }],
  process: [{ upid: 0, pid: 1, name: "b", names: '["a","b"]', labels: "l", sort_index: 3, machine_id: 0 },
    { upid: 1, pid_text: "p", name: "q", machine_id: 1 }, { upid: 2, pid: 1, machine_id: 0, names: "[" },
    { upid: 3, pid: 9, machine_id: 2 }],
  thread: [{ utid: 0, upid: 0, tid: 5, name: "main", sort_index: 1 }, { utid: 1, upid: 0, tid: 5 },
    { utid: 2, upid: 1, tid_text: "t" }],
  track: [{ id: 0, type: "thread_slice", utid: 0, machine_id: 0 },
    { id: 1, type: "instant", utid: 0, scope: "thread", machine_id: 0 },
    { id: 2, type: "counter", upid: 0, name: "c v", series: "v", machine_id: 0 },
    { id: 3, type: "counter", upid: 0, name: "n", unit: "B", machine_id: 0 },
    { id: 4, type: "async", upid: 0, name: "jobs", machine_id: 0 },
    { id: 5, parent_id: 4, type: "counter", upid: 0, name: "jobs", machine_id: 0 },
    { id: 6, type: "instant", scope: "global", machine_id: 0 },
    { id: 7, type: "instant", upid: 1, scope: "process", machine_id: 1 },
    { id: 8, parent_id: 7, type: "legacy_async_global_slice", name: "under", machine_id: 1 },
    { id: 9, parent_id: 0, type: "thread_overlapping_slice", utid: 0, machine_id: 0 },
    { id: 10, type: "thread_slice", utid: 0, machine_id: 0 }, { id: 11, name: "own", machine_id: 2 },
    { id: 12, parent_id: 11, name: "own", type: "counter", unit: "W", machine_id: 2 },
    { id: 13, type: "counter", machine_id: 0, series: "x" }],
  metadata: [{ name: "a", json_value: '"text"' }, { name: "b", json_value: "5" },
    { name: "c", json_value: "true" }],
  flow: [{ slice_out: 0, slice_in: 2, name: "f", category: "c", flow_id: "1", ts_out_ns: 5, ts_in_ns: 30 },
    { slice_out: 0, slice_in: 1, ts_out_ns: -(2n ** 63n), ts_in_ns: 2n ** 63n - 1n },
    { slice_out: 99, slice_in: 98, ts_out_ns: 1, ts_in_ns: 2 }],
  slice: [{ id: 0, ts_ns: 0, dur_ns: 20, name: "a", category: "c", track_id: 0, args: '{"k":[1,"x"]}' },
    { id: 1, ts_ns: 5, dur_ns: 0, name: "p", track_id: 0, flags: "stands_before" },
    { id: 2, ts_ns: 5, dur_ns: 0, name: "inside", track_id: 0, parent: 1 },
    { id: 3, ts_ns: 5, dur_ns: 3, name: "after", track_id: 0, flags: "overlap|x" },
    { id: 4, ts_ns: 30, dur_ns: -1, name: "open", track_id: 0 },
    { id: 5, ts_ns: 31, dur_ns: 0, track_id: 4, flags: "negative_dur" },
    { id: 6, ts_ns: 32, dur_ns: 9, track_id: 4, flags: "overlap", args: "no json" },
    { id: 7, ts_ns: 32, dur_ns: 9, track_id: 9 }, { id: 8, ts_ns: 33, dur_ns: 1, track_id: 11 },
    { id: 9, ts_ns: 34, dur_ns: 0, track_id: 8, flags: "stands_before" }],
  instant: [{ ts_ns: 3, name: "i", category: "c", track_id: 1, args: '{"a":1}' },
    { ts_ns: 4, name: "g", track_id: 6 }, { ts_ns: 5, track_id: 7 }],
  counter: [{ ts_ns: 1, track_id: 2, value: 1.5 }, { ts_ns: 2, track_id: 3, value: -4 },
    { ts_ns: 3, track_id: 5, value: NaN }, { ts_ns: 4, track_id: 12, value: 0 },
    { ts_ns: 5, track_id: 13, value: 0 }],
}
const tableFiles = ["meridian-tables.json", ...Object.keys(tableColumns)]
function packTables(files) {
  return Buffer.concat(Object.entries(files).flatMap(([name, bytes]) => {
    const head = Buffer.alloc(4)
    head.writeUInt8(tableFiles.indexOf(name), 0)
    head.writeUIntLE(bytes.length, 1, 3)
    return [head, Buffer.from(bytes)]
  }))
}
const described = '{"meridian_tables":{"version":1,"clock":"BOOTTIME"}}'
const asFiles = (tables, description = described) => ({ "meridian-tables.json": description,
  ...Object.fromEntries(Object.entries(tables).map(([name, rows]) => [name, tableOf(name, rows)])) })
// The least that is a folder: so that an input of one wrong table is short.
const least = Object.fromEntries(Object.keys(tableColumns).map((name) =>
  [name, { machine: [{ id: 0, raw_id: 0 }], process: [{ upid: 0, pid: 1, machine_id: 0 }],
    thread: [{ utid: 0, upid: 0, tid: 5 }], track: [{ id: 0, utid: 0, machine_id: 0 }] }[name] ?? []]))
const folders = writer("table_folder")
folders("whole", packTables(asFiles(wholeTables)))
folders("least", packTables(asFiles(least)))
folders("no-host", packTables(asFiles({ ...least, machine: [{ id: 0, raw_id: 3 }] })))
const wrongRows = {
  machine: { "machine-id": { id: 1, raw_id: 0 }, "machine-raw": { id: 0, raw_id: -1 },
    "machine-no-raw": { id: 0 }, "machine-cpus": { id: 0, raw_id: 0, num_cpus: -1 } },
  process: { "process-upid": { upid: 5, machine_id: 0 }, "process-machine": { upid: 0, machine_id: 9 } },
  thread: { "thread-utid": { utid: 1, upid: 0 }, "thread-upid": { utid: 0, upid: 7 } },
  track: { "track-id": { id: 3, machine_id: 0 }, "track-machine": { id: 0, machine_id: -1 },
    "track-parent": { id: 0, parent_id: 5, machine_id: 0 } },
  metadata: { "metadata-list": { name: "a", json_value: "[1]" }, "metadata-none": { name: "a" } },
  flow: { "flow-null": { slice_out: 0, slice_in: 1 } },
  slice: { "slice-null": { id: 0, ts_ns: 1, track_id: 0 }, "slice-track": { id: 0, ts_ns: 1, dur_ns: 1,
    track_id: 1 }, "slice-no-track": { id: 0, ts_ns: 1, dur_ns: 1 } },
  instant: { "instant-null": { track_id: 0 }, "instant-track": { ts_ns: 1, track_id: -1 } },
  counter: { "counter-null": { ts_ns: 1, track_id: 0 }, "counter-track": { ts_ns: 1, track_id: 4,
    value: 1 } },
}
for (const [table, rows] of Object.entries(wrongRows))
  for (const [name, row] of Object.entries(rows))
    folders(name, packTables(asFiles({ ...least, [table]: [row] })))
for (const table of Object.keys(tableColumns)) {
  const { [table]: gone, ...rest } = asFiles(least)
  if (table !== "machine") folders(`no-${table}`, packTables(rest))
  folders(`cut-${table}`, packTables({ ...rest, [table]: gone.subarray(0, -20) }))
}
// Columns of other types: numbers that would be taken for texts, narrow ones for wide ones.
const strange = (name, table, types, row) => folders(`type-${name}`, packTables({ ...asFiles(least),
  [table]: tableOf(table, [row], types) }))
strange("name", "process", { name: "int64" }, { upid: 0, pid: 1, machine_id: 0, name: 0x4141414141 })
strange("narrow", "track", { id: "int32" }, { id: 0, machine_id: 0 })
strange("bytes", "metadata", { name: "bytes" }, { name: Buffer.from([0xff]), json_value: "1" })
strange("value", "counter", { value: "int64" }, { ts_ns: 1, track_id: 0, value: 5 })
folders("no-column", packTables({ ...asFiles(least), slice: parquet([{ name: "id", type: "int64",
  values: [] }]) }))
for (const [name, text] of Object.entries({ newer: '{"meridian_tables":{"version":2}}', older: "{}",
  "not-json": '{"meridian_tables":', clock: '{"meridian_tables":{"version":1,"clock":"\\u0058"}}' }))
  folders(`description-${name}`, packTables(asFiles(least, text)))
folders("nothing", Buffer.alloc(0))
