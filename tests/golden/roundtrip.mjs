// Round trips: a trace opened, written as a folder of tables, as Chrome JSON or as Perfetto
// protobuf, and opened again. Every table of `dump` has to be the same; what a form cannot say is
// taken out of the comparison by name below, with the reason, and nowhere else.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { spawnSync } from "node:child_process"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { Double, trace } from "./lib/perfetto.mjs"
import { Wrong, expectSame, finish, meridian, program, report, test } from "./lib/run.mjs"

const here = (path) => new URL(path, import.meta.url).pathname
const shared = here("../../../shared/")
const scratch = mkdtempSync(join(tmpdir(), "meridian-roundtrip-"))
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }))
const file = (name) => join(scratch, name)

const tables = ["slice", "instant", "counter", "flow", "process", "thread", "track", "args",
  "metadata"]

const kept = new Map() // of the traces themselves: they are asked once a form

/** Rows of a table as lines of JSON. The text is split as it is: these tables are large. */
async function rowsOf(files, table) {
  const key = `${table} ${files.join(" ")}`
  if (kept.has(key)) return [...kept.get(key)]
  const run = await meridian(["dump", "--table", table, "--format", "json", ...files], scratch)
  if (run.code !== 0) throw new Wrong(`dump ${files.join(" ")}: ${run.code} ${run.stderr}`)
  const rows = run.stdout.toString().split("\n").filter((line) => line !== "")
  if (!files[0].startsWith("again")) kept.set(key, rows)
  return [...rows]
}

function machinesOf(files) {
  const run = spawnSync(program, ["query", ...files, "--format", "csv", "-c",
    "SELECT m.name, m.sysname, m.arch, m.num_cpus, p.pid, p.pid_text, p.name FROM machine m " +
    "LEFT JOIN process p ON p.machine_id = m.id ORDER BY ALL"], { cwd: scratch })
  if (run.status !== 0) throw new Wrong(String(run.stderr))
  return run.stdout.toString()
}

/** The first rows that one side has and the other has not. */
function differences(got, want) {
  const left = new Set(got)
  const right = new Set(want)
  return [...got.filter((row) => !right.has(row)).slice(0, 3).map((row) => `+ ${row}`),
    ...want.filter((row) => !left.has(row)).slice(0, 3).map((row) => `- ${row}`)].join("\n")
}

async function same(files, again, rules) {
  for (const table of tables) {
    if (rules[table] === null) continue
    const form = rules[table] ?? ((row) => row)
    const lines = (list) => (rules[table] === undefined ? list
      : list.map((line) => form(JSON.parse(line))).filter((row) => row !== null)
        .map((row) => JSON.stringify(row)))
    let want = lines(await rowsOf(files, table))
    let got = lines(await rowsOf([again], table))
    if (table === "track" && rules.track !== undefined) // counters of one name may become one
      [want, got] = [[...new Set(want)], [...new Set(got)]]
    expectSame(`rows of ${table}`, got.length, want.length)
    // Rows at one time may come in another order where lanes were told one behind the other.
    if (JSON.stringify(got.sort()) !== JSON.stringify(want.sort()))
      throw new Wrong(`${table} of ${again}:\n${differences(got, want)}`)
  }
}

async function roundTrip(files, ending, rules) {
  const again = `again${ending}`
  rmSync(file(again), { recursive: true, force: true })
  const run = await meridian(["convert", ...files, again], scratch)
  if (/Perfetto's format has no times below zero/.test(run.stderr)) return
  if (run.code !== 0) throw new Wrong(`convert to ${again}: ${run.code} ${run.stderr}`)
  await same(files, again, rules)
  if (rules.machines !== null) expectSame("machines", machinesOf([again]), machinesOf(files))
}

// ---- What each form leaves out ----

/** The folder is our own: nothing. */
const folder = {}

// The number of a row is its place in the trace, and lanes are told apart otherwise elsewhere.
const without = (row, ...keys) =>
  Object.fromEntries(Object.entries(row).filter(([key]) => !keys.includes(key)))
const arg = (row) => without(row, "slice")
/** What was mended is told mended: its flag is gone. */
const mended = (row) => ({ ...row, flags: row.flags.replace("negative_dur", "") })

/** Chrome JSON of what was Chrome JSON: all but that and machines; ids that were a process's own
 * are told apart by a number. */
const json = { slice: mended, machines: null,
  track: (row) => ({ ...row, name: row.name.replace(/#\d+$/, "") }) }

/** Of other traces: JSON knows a process by its id alone (later ones of one id get a text), async
 * lanes by category and id, and no lanes without a process's. */
const pid = (value) => (value === null ? null : String(value).replace(/ \(\d+\)$/, ""))
const jsonOther = {
  slice: (row) => ({ ...without(mended(row), "id", "track", "parent", "row", "process", "thread",
    ...(row.tid === null ? ["depth"] : [])), pid: pid(row.pid), tid: pid(row.tid) }),
  instant: (row) => ({ ...without(row, "id", "track", "scope"), pid: pid(row.pid),
    tid: pid(row.tid) }),
  counter: (row) => ({ ...row, pid: pid(row.pid) }),
  flow: (row) => ({ ...without(row, "from_slice", "to_slice"), from_pid: pid(row.from_pid),
    from_tid: pid(row.from_tid), to_pid: pid(row.to_pid), to_tid: pid(row.to_tid) }),
  process: (row) => (row.pid === null ? null : { ...without(row, "name"), pid: pid(row.pid) }),
  thread: (row) => ({ pid: pid(row.pid), tid: pid(row.tid), sort_index: row.sort_index }),
  // Lanes of threads; of those of processes only what is on them.
  track: (row) => (row.tid === null || row.kind === "instant" || row.count === 0 ? null
    : { kind: row.kind, pid: pid(row.pid), tid: pid(row.tid),
      ...(row.kind === "counter" ? { name: row.name } : { count: row.count }) }),
  args: arg, machines: null,
}

/** Perfetto: begins and ends of a lane are a stack, so what overlaps gets a lane of its own, on
 * which it lies at depth 0; a counter's series is a part of its name, a process has one name, a
 * machine none; no metadata. */
const perfetto = {
  slice: (row) => without(row, "id", "track", "parent", "row", "depth", "flags"),
  instant: (row) => without(row, "id", "track"),
  counter: (row) => ({ ...without(row, "series"),
    track: row.series === null ? row.track : `${row.track} ${row.series}` }),
  flow: (row) => without(row, "from_slice", "to_slice"),
  process: (row) => without(row, "names"),
  track: null, args: arg, metadata: null, machines: null,
}

// ---- Inputs ----

const X = (tid, ts, dur, name, more = {}) => ({ ph: "X", pid: 1, tid, ts, dur, name, ...more })
writeFileSync(file("all.json"), JSON.stringify({ version: 1.5, "a.b": ["x", true, null],
  traceEvents: [
    { ph: "M", name: "process_name", pid: 1, args: { name: "first name" } },
    { ph: "M", name: "process_name", pid: 1, args: { name: "main" } },
    { ph: "M", name: "process_labels", pid: 1, args: { labels: "GPU 0" } },
    { ph: "M", name: "process_sort_index", pid: 1, args: { sort_index: 3 } },
    { ph: "M", name: "thread_name", pid: 1, tid: 2, args: { name: "worker" } },
    { ph: "M", name: "thread_sort_index", pid: 1, tid: 2, args: { sort_index: 5 } },
    { ph: "M", name: "thread_name", pid: 1, tid: 9, args: { name: "idle" } },
    X(2, 10, 20, "outer", { cat: "c", args: { n: 7, s: "x\n\u{1f600}",
      deep: { list: [1.5, true, null, {}], e: [] } } }),
    X(2, 10, 5, "inner", { cat: "c" }), X(2, 15, 5, "touching"), X(2, 25.001, 10, "across"),
    X(2, 95, -10, "mended"), X(2, 10, 0, "empty inside"),
    { ph: "B", pid: 1, tid: 4, ts: 50, name: "empty before" }, { ph: "E", pid: 1, tid: 4, ts: 50 },
    { ph: "B", pid: 1, tid: 4, ts: 50, name: "empty again" }, { ph: "E", pid: 1, tid: 4, ts: 50 },
    { ph: "B", pid: 1, tid: 4, ts: 50, name: "long" }, { ph: "E", pid: 1, tid: 4, ts: 60 },
    { ph: "B", pid: 1, tid: 3, ts: 40, name: "open", args: { late: 1 } }, X(3, 41, 2, "in open"),
    { ph: "i", pid: 1, tid: 2, ts: 15, name: "tick", s: "t", args: { a: 1 } },
    { ph: "i", pid: 1, ts: 16, name: "whole process", s: "p" },
    { ph: "i", ts: 17, name: "everything", s: "g" },
    { ph: "C", pid: 1, ts: 11, name: "load", args: { cpu: 1.25, gpu: 2 } },
    { ph: "C", pid: 1, ts: 21, name: "load", args: { cpu: 0.1 } },
    { ph: "s", pid: 1, tid: 2, ts: 12, id: "some id", name: "f", cat: "c" },
    { ph: "t", pid: 1, tid: 2, ts: 16, id: "some id", name: "f", cat: "c" },
    { ph: "f", pid: 1, tid: 3, ts: 41.5, id: "some id", name: "f", cat: "c", bp: "e" },
    { ph: "s", pid: 1, tid: 2, ts: 11, id: 10, name: "g", cat: "c" },
    { ph: "f", pid: 1, tid: 2, ts: 14, id: 10, name: "g", cat: "c" },
    // One id for two arrows, and an arrow that ends before it starts.
    { ph: "s", pid: 1, tid: 3, ts: 41, id: 11, name: "g", cat: "c" },
    { ph: "f", pid: 1, tid: 2, ts: 18, id: 11, name: "g", cat: "c", bp: "e" },
    { ph: "f", pid: 1, tid: 2, ts: 26, id: 11, name: "g", cat: "c", bp: "e" },
    { ph: "b", pid: 1, tid: 2, ts: 50, id: "0x1", name: "request", cat: "net", args: { url: "u" } },
    { ph: "b", pid: 1, tid: 2, ts: 51, id: "0x1", name: "part", cat: "net" },
    { ph: "e", pid: 1, tid: 2, ts: 55, id: "0x1", name: "part", cat: "net" },
    { ph: "e", pid: 1, tid: 2, ts: 60, id: "0x1", name: "request", cat: "net" },
    { ph: "b", pid: 1, tid: 2, ts: 52, id: "0x2", name: "one", cat: "net" },
    { ph: "b", pid: 1, tid: 2, ts: 53, id: "0x2", name: "two", cat: "net" },
    { ph: "e", pid: 1, tid: 2, ts: 54, id: "0x2", name: "one", cat: "net" },
    { ph: "e", pid: 1, tid: 2, ts: 58, id: "0x2", name: "two", cat: "net" },
  ] }))
writeFileSync(file("texts.json"), JSON.stringify([
  { ph: "M", name: "thread_name", pid: 0, tid: 7, args: { name: "stream" } },
  { ph: "X", pid: "Spans", tid: "Profiler", ts: 1, dur: 2, name: "a" },
  { ph: "X", pid: "Spans", tid: 0, ts: 1, dur: 2, name: "b" },
  { ph: "X", pid: 0, tid: 7, ts: 1, dur: 2, name: "c" },
  { ph: "s", pid: 0, tid: 7, ts: 1, id: "x y", name: "arrow", cat: "k" },
  { ph: "f", pid: "Spans", tid: "Profiler", ts: 2, id: "x y", name: "arrow", cat: "k", bp: "e" },
]))
writeFileSync(file("rank.json"), JSON.stringify({ distributedInfo: { rank: 1, world_size: 2 },
  traceEvents: [X(2, 10, 5, "of rank 1"), X(2, 20, 5, "more of it")] }))
writeFileSync(file("rank0.json"), JSON.stringify({ distributedInfo: { rank: 0, world_size: 2 },
  traceEvents: [X(2, 10, 5, "of rank 0")] }))

// Perfetto: lanes of threads that are not the thread's own, arrows from and to the very end of
// slices and several of one async slice, slices without length inside one another, numbers that
// another writer would spell otherwise, headings.
const track = (uuid, ...fields) => [["PACKET_TRACK_DESCRIPTOR", [["TRACK_UUID", uuid], ...fields]]]
const name = (text) => ["TRACK_NAME", text]
const below = (uuid) => ["TRACK_PARENT_UUID", uuid]
const thread = (tid, text) => ["TRACK_THREAD", [["THREAD_PID", 1], ["THREAD_TID", tid],
  ["THREAD_NAME", text]]]
const note = (key, value, field) => ["EVENT_ANNOTATIONS", [["ANNOTATION_NAME", key],
  [field, value]]]
const at = (ts, type, uuid, ...fields) => [["PACKET_TIMESTAMP", ts], ["PACKET_SEQUENCE_ID", 1],
  ["PACKET_TRACK_EVENT", [["EVENT_TYPE", type], ["EVENT_TRACK_UUID", uuid], ...fields]]]
const begin = (ts, uuid, text, ...more) => at(ts, 1, uuid, ["EVENT_NAME", text],
  ["EVENT_CATEGORIES", "cat"], ...more)
const end = (ts, uuid) => at(ts, 2, uuid)
const arrow = (number) => ["EVENT_FLOW_IDS", BigInt(number)]
const counter = (ts, uuid, value) => at(ts, 4, uuid, ["EVENT_DOUBLE_VALUE", new Double(value)])
writeFileSync(file("lanes.pftrace"), trace(
  [["PACKET_SEQUENCE_ID", 1], ["PACKET_SEQUENCE_FLAGS", 1]],
  track(1, ["TRACK_PROCESS", [["PROCESS_PID", 1], ["PROCESS_NAME", "main"]]]),
  track(2, thread(2, "worker"), below(1)), track(3, thread(3, "other"), below(1)),
  track(12, name("tasks"), below(2)), track(13, name("tasks"), below(3)),
  track(20, name("heading"), below(2)), track(21, name("one below"), below(20)),
  track(22, name("deep"), below(21)), track(30, name("heading of the process"), below(1)),
  track(31, name("lane"), below(30)), track(40, name("heading of nobody")),
  track(41, name("lane of nobody"), below(40)),
  track(52, name("time"), below(2), ["TRACK_COUNTER", []]),
  track(53, name("time"), below(3), ["TRACK_COUNTER", []]),
  counter(100, 52, 1), counter(100, 53, 2), counter(200, 52, 3), counter(200, 53, 4.5),
  begin(100, 12, "long task", note("n", new Double(1), "ANNOTATION_DOUBLE")), end(200, 12),
  begin(150, 13, "long task", note("json", "1.0", "ANNOTATION_JSON")), end(260, 13),
  begin(210, 12, "again", note("json", '{"a": [1.50, 1e3, -0, -0.0, 0.08151899999999999]}',
    "ANNOTATION_JSON")), end(300, 12),
  at(250, 3, 1, ["EVENT_NAME", "of the process"], note("timeout", "1.0", "ANNOTATION_JSON")),
  begin(100, 2, "sends", arrow(1), arrow(2)), end(150, 2),
  begin(160, 12, "takes and sends", arrow(1), arrow(2), arrow(3), arrow(4)), end(170, 12),
  begin(300, 3, "takes", arrow(3), arrow(4)), end(310, 3),
  begin(150, 22, "deep slice"), end(160, 22), begin(150, 31, "slice of a lane"), end(160, 31),
  begin(150, 41, "slice of nobody"), end(160, 41),
  begin(400, 3, "last", arrow(6)), at(410, 2, 3, arrow(7)),
  begin(400, 2, "of another", arrow(7)), end(420, 2), begin(430, 12, "end of six", arrow(6)),
  end(440, 12),
  // All at one time: a(b c(d)) e(f), on a thread, below one and on a process's lane.
  ...[2, 12, 31].flatMap((uuid) => [begin(500, uuid, "a"), begin(500, uuid, "b"), end(500, uuid),
    begin(500, uuid, "c"), begin(500, uuid, "d"), end(500, uuid), end(500, uuid), end(500, uuid),
    begin(500, uuid, "e"), begin(500, uuid, "f"), end(500, uuid), end(500, uuid)]),
))

const given = process.argv.slice(2) // files of yours: only these
const inputs = given.length > 0 ? given.map((name) => [name, [resolve(name)]])
  : [["made", ["all.json"]], ["ids that are texts", ["texts.json"]],
    ["two ranks", ["rank.json", "rank0.json"]], ["lanes of threads", ["lanes.pftrace"]]]
const recorded = [
  ["chrome/catapult/flow.json"], ["chrome/catapult/nestable_async.json"],
  ["chrome/catapult/async_begin_end.json"], ["chrome/catapult/big_trace.json"],
  ["chrome/catapult/main_thread_has_unclosed_slices.json"],
  ["pytorch/mtia_inference_rank_0.json.gz"],
  ["pytorch/sampled_rank-0.json.gz", "pytorch/sampled_rank-1.json.gz"]]
if (given.length > 0) {
  // No other inputs.
} else if (existsSync(shared)) {
  for (const names of recorded)
    inputs.push([names.join(" "), names.map((name) => join(shared, "data", name))])
  for (const name of ["m05_realtime_two_machines", "m16_machines_remap", "t01_tracks",
    "t02_counters", "t05_flows", "t08_instants"]) {
    const input = ["zip", "tar", "pftrace"].map((ending) =>
      join(shared, "cases/merge", name, `input.${ending}`)).find(existsSync)
    if (input !== undefined) inputs.push([name, [input]])
  }
} else {
  report("SKIP", "roundtrip/recorded traces", "../shared is not here")
}
if (given.length === 0) {
  await meridian(["gen", "chrome-json", "--events", "20000", "--seed", "11", "-o", "gen.json"],
    scratch)
  inputs.push(["generated", ["gen.json"]])
}

for (const [name, files] of inputs)
  await test(`roundtrip/folder, ${name}`, () => roundTrip(files, "-tables/", folder))
for (const [name, files] of inputs) {
  const own = files.length === 1 && /\.json(\.gz)?$/.test(files[0])
  await test(`roundtrip/chrome json, ${name}`, () =>
    roundTrip(files, ".json", own ? json : jsonOther))
}
for (const [name, files] of inputs) {
  // Lanes that nest, each with the headings above it, are the same.
  const rules = files[0] === "lanes.pftrace" ? { ...perfetto, track: (row) => row } : perfetto
  await test(`roundtrip/perfetto, ${name}`, () => roundTrip(files, ".pftrace", rules))
}
finish()
