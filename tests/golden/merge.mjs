// The JSON cases and the archives of the merge folder: their questions, SQL there, are asked of
// `dump`, `info` and `clocks` here, and give the rows that stand there, but for the differences that
// its README lists.
import { existsSync, readFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import {
  dump, expectSame, finish, info, lossCounts, meridian, parseExact, pool, report, test, Wrong,
} from "./lib/run.mjs"

const shared = new URL("../../../shared/cases/merge/", import.meta.url).pathname

/** A number, in full where a double does not hold it. */
function numberOf(cell) {
  const value = Number(cell)
  return /^-?\d+$/.test(cell) && !Number.isSafeInteger(value) ? BigInt(cell) : value
}

/** RFC 4180 with a header: rows of values, numbers where they are ones. */
function parseCsv(text) {
  const rows = [[]]
  const pattern = /("(?:[^"]|"")*"|[^",\n]*)(,|\r?\n|$)/y
  while (pattern.lastIndex < text.length) {
    const [, cell, end] = pattern.exec(text)
    const bare = cell[0] === '"' ? cell.slice(1, -1).replaceAll('""', '"') : numberOf(cell)
    rows.at(-1).push(bare === "[NULL]" ? null : bare)
    if (end !== ",") rows.push([])
  }
  return rows.slice(1).filter((row) => row.length > 0)
}

const lines = (rows) => rows.map((row) => JSON.stringify(row)).sort()

/** SELECT name, ts, dur, depth FROM slice ORDER BY ts, depth, name */
async function slices(ask) {
  const rows = (await ask("slice")).map((row) => [row.name, row.ts_ns, row.dur_ns, row.depth])
  const before = (a, b) => a[1] < b[1] || (a[1] === b[1] && (a[3] < b[3] ||
    (a[3] === b[3] && a[0] < b[0])))
  return rows.sort((a, b) => (before(a, b) ? -1 : 1))
}

/** The peer counts by its own names: sums over our causes. */
async function peerStats(ask) {
  const sums = {}
  for (const loss of await ask("loss")) {
    if (loss.severity === "info" || loss.peer_name === null) continue
    sums[loss.peer_name] = (sums[loss.peer_name] ?? 0) + loss.count
  }
  return Object.entries(sums).sort()
}

const column = (table, ...names) => async (ask) =>
  (await ask(table)).map((row) => names.map((name) => row[name]))

/** Instants are slices of no length in the peer. Each with one row an argument, or one without. */
async function slicesWithArgs(ask) {
  const args = await ask("args")
  const threads = new Set((await ask("track")).filter((t) => t.kind === "thread").map((t) => t.id))
  const out = []
  const leaf = (value) => (typeof value === "string" ? [value, null] : [null, Number(value)])
  const add = (row, leaves) => {
    const kept = leaves.filter(([, value]) => value !== null)
    if (kept.length === 0) out.push([row.ts_ns, row.dur_ns, row.name, null, null, null, null])
    for (const [key, value] of kept)
      out.push([row.ts_ns, row.dur_ns, row.name, `args.${key}`, `args.${key}`, ...leaf(value)])
  }
  for (const row of await ask("slice")) {
    if (!threads.has(row.track)) continue
    add(row, args.filter((arg) => arg.slice === row.id).map((arg) => [arg.key, arg.value]))
  }
  for (const row of await ask("instant")) {
    if (row.scope === "global") continue
    add({ ...row, dur_ns: 0 }, Object.entries(JSON.parse(row.args ?? "{}")))
  }
  return out
}

async function slicesWithFlows(ask) {
  const flows = await ask("flow")
  const rows = await ask("slice")
  return rows.filter((row) => row.dur_ns === -1).map((row) => [row.ts_ns, row.dur_ns, row.name,
    flows.filter((flow) => flow.to_slice === row.id).length,
    flows.filter((flow) => flow.from_slice === row.id).length])
}

/** The overlap log of the peer: what the flagged slice and the one it overlaps say. */
async function overlapLog(ask) {
  const rows = await ask("slice")
  const late = rows.find((row) => row.flags.includes("overlap"))
  const first = rows.find((row) => row.row === 0 && row.ts_ns < late.ts_ns)
  const [loss] = await ask("loss")
  const values = { conflicting_slice_dur: first.dur_ns, conflicting_slice_name: first.name,
    conflicting_slice_ts: first.ts_ns, event_name: late.name, event_phase: "X",
    overlap_end: first.ts_ns + first.dur_ns, overlap_start: late.ts_ns }
  return Object.entries(values).map(([key, value]) =>
    [late.ts_ns, loss.severity, key, String(value)])
}

const counterName = (row) => `${row.track} ${row.series}`

/** SELECT name, ts, machine name[, machine number] of slices, by time and name. */
async function onMachines(ask, more = []) {
  const machines = await ask("machine")
  const origins = await ask("track_origin")
  const rows = (await ask("slice")).map((row) => {
    const machine = machines[origins[row.track].machine]
    return [row.name, row.ts_ns, machine.name, ...more.map((key) => machine[key])]
  })
  return rows.sort((a, b) => a[1] - b[1] || (a[0] < b[0] ? -1 : 1))
}
const withNumber = (ask) => onMachines(ask, ["raw_id"])

/** name, trace_type, processing_order; what was asked for has no name in the peer. */
async function traceFiles(ask) {
  const peer = { perfetto: "proto", chrome_json: "json", unknown: "unknown" }
  const rows = await ask("trace_file")
  return rows.map((row, order) => [
    row.parent === null ? null : row.path.slice(rows[row.parent].path.length + 1),
    peer[row.format] ?? row.format, order])
}

const clockSnapshots = column("clock_snapshot", "ts_ns", "clock_name", "value_ns", "snapshot",
  "machine", "source")

/** Case: the question, and where ours differs (README of the folder) our rows and losses. */
const cases = {
  e01: [slices],
  e03: [slices],
  e04: [async (ask) => [[(await ask("slice")).map((row) => row.name).join(),
    lossCounts(await ask("loss")).negative_duration]], { rows: [["neg,zero", 1]] }],
  e05: [peerStats],
  e07: [peerStats],
  e08: [slices, { rows: [["a", 1000, 2000, 0]], losses: { truncated_input: 1 } }],
  e09: [slices],
  e11: [slices, { rows: [["smile \u{1f600}", 1000, 2000, 0], ["b", 5000, 2000, 0]], losses: {} }],
  e12: [slices, { rows: [["a", 1672924880617000123n, 1, 0], ["b", 1672924880617000457n, 1, 0]] }],
  e13: [async (ask) => (await ask("slice")).map((row) =>
    [row.name, row.ts_ns, row.dur_ns, row.depth, row.row === 0 ? 1 : 0])],
  e15: [column("flow", "from_name", "to_name")],
  e17: [column("slice", "pid", "tid", "name")],
  e18: [slices],
  e19: [async (ask) => { const { bounds } = await ask("info"); return [[bounds.start_ns,
    bounds.end_ns]] }],
  e21: [slices, { rows: [["a", 1000, 2000, 0], ["b", 5000, 2000, 0]], losses: { bad_duration: 1 } }],
  e23: [slices, { rows: [], losses: {} }],
  e25: [slices],
  j01: [column("slice", "ts_ns", "dur_ns", "name", "process", "thread")],
  j03: [column("slice", "ts_ns", "dur_ns", "name", "depth")],
  j04: [column("slice", "ts_ns")],
  j05: [slicesWithArgs],
  j06: [slicesWithFlows],
  j09: [async (ask) => (await ask("slice")).filter((row) => row.tid !== null)],
  j10: [async (ask) => (await ask("counter")).map((row) =>
    [row.pid, null, counterName(row), row.value])],
  j11: [async (ask) => (await ask("slice")).map((row) => [row.name, row.ts_ns, row.dur_ns])],
  j13: [column("slice", "ts_ns", "dur_ns", "name")],
  j15: [column("slice", "name", "ts_ns", "dur_ns")],
  j16: [overlapLog],
  j18: [async (ask) => (await ask("counter")).map((row) =>
    [counterName(row), row.ts_ns, row.value])],
  j20: [column("slice", "ts_ns", "dur_ns", "name")],
  j23: [column("flow", "from_name", "to_name")],
  j24: [column("slice", "name", "depth")],
  a01: [withNumber],
  a02: [withNumber],
  a04: [withNumber, { rows: [["b", -1000000, null, 0], ["a", 1000000, null, 0]], losses: {} }],
  a06: [withNumber],
  a08: [withNumber, { rows: [["a", 1000000, null, 0]], losses: { unknown_member: 1 } }],
  a09: [async (ask) => [[(await ask("flow")).length,
    lossCounts(await ask("loss")).flow_end_without_start]]],
  a11: [clockSnapshots, { rows: [
    [1000, "BOOTTIME", 1000, 0, 0, "observed"], [1000, "REALTIME", 1000000000, 0, 0, "observed"],
    [1000, "BOOTTIME", 1000, 1, 1, "observed"], [1000, "REALTIME", 1000000000, 1, 1, "observed"],
    [-999999000, "REALTIME", 0, 2, 1, "assumed"], [-999999000, "REALTIME", 0, 2, 0, "assumed"]] }],
  m01: [traceFiles],
  m03: [async (ask) => [[(await ask("clocks")).trace_time.clock_id,
    (await ask("slice")).find((row) => row.name === "proto_slice").ts_ns]]],
  m05: [onMachines],
  m07: [onMachines],
  m08: [onMachines],
  m10: [onMachines, { losses: { clock_without_path: 2 } }],
  m12: [onMachines],
  m14: [onMachines],
  m16: [onMachines],
  m18: [onMachines],
  m21: [onMachines],
  z01: [traceFiles, { losses: { unknown_member: 1 },
    rows: [[null, "zip", 0], ["b.pb", "proto", 1], ["a.systrace", "unknown", 2]] }],
}

async function clocks(files, cwd) {
  const run = await meridian(["clocks", "--json", ...files], cwd)
  if (run.code !== 0) throw new Wrong(`clocks ended with ${run.code}: ${run.stderr.trim()}`)
  return parseExact(run.stdout.toString())
}

/** The message that opening fails with; the peer's is a part of ours. */
async function runError(folder) {
  const want = readFileSync(join(shared, folder, "expected_error.txt"), "utf8").trim()
  const run = await meridian(["dump", "--table", "slice", "input.zip"], join(shared, folder))
  expectSame("exit code", run.code, 1)
  expectSame("standard output", run.stdout.toString(), "")
  if (!run.stderr.includes(want)) throw new Wrong(`error is ${run.stderr}, wanted is ${want}`)
}

async function runCase(folder) {
  await test(`merge/${folder}`, async () => {
    if (folder.startsWith("m19")) return runError(folder)
    const known = cases[folder.slice(0, 3)]
    if (known === undefined) throw new Wrong("nothing here asks this case")
    const [question, ours = {}] = known
    const [input] = readdirSync(join(shared, folder)).filter((name) => /^input\.(?!text)/.test(name))
    const asks = { info, clocks }
    const ask = (table) => (asks[table] ?? ((...rest) => dump(table, ...rest)))(
      [input], join(shared, folder))
    const want = ours.rows ?? parseCsv(readFileSync(join(shared, folder, "expected.csv"), "utf8"))
    const got = await question(ask)
    const text = (rows) => rows.map((row) => row.map((v) => (typeof v === "bigint" ? `${v}` : v)))
    expectSame("rows", lines(text(got)), lines(text(want)))
    if (ours.losses !== undefined)
      expectSame("losses", lossCounts(await ask("loss")), ours.losses)
    return undefined
  })
}

if (!existsSync(shared)) report("SKIP", "merge", "../shared is not here")
else await pool(readdirSync(shared).filter((name) => /^[ejamz]\d/.test(name)), runCase)
finish()
