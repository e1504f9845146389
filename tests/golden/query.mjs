// SQL: every question of the merge folder as it stands there, asked of `meridian query`; the same
// answers from SQL and from windows; what is refused; the HTTP door.
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { spawn, spawnSync } from "node:child_process"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  Wrong, dump, expectSame, finish, meridian, parseLines, pool, program, report, show, test,
} from "./lib/run.mjs"

const shared = new URL("../../../shared/cases/merge/", import.meta.url).pathname
const scratch = mkdtempSync(join(tmpdir(), "meridian-query-"))
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }))
const file = (name) => join(scratch, name)

/** Rows of a statement as objects; numbers beyond 2^53 as BigInt. */
async function sql(files, text, cwd, extra = []) {
  const run = await meridian(["query", ...files, "-c", text, "--format", "json", ...extra], cwd)
  if (run.code !== 0) throw new Wrong(`query ended with ${run.code}: ${run.stderr.trim()}`)
  return parseLines(run.stdout.toString())
}

// ---- The questions of the merge folder ----

/** Cells of RFC 4180 text. */
function parseCsv(text) {
  const rows = [[]]
  const pattern = /("(?:[^"]|"")*"|[^",\n]*)(,|\r?\n|$)/y
  while (pattern.lastIndex < text.length) {
    const [, cell, end] = pattern.exec(text)
    rows.at(-1).push(cell[0] === '"' ? cell.slice(1, -1).replaceAll('""', '"') : cell)
    if (end !== ",") rows.push([])
  }
  return rows.slice(1).filter((row) => row.length > 0)
}

/** One form for what the two write differently: NULL, truth values, digits behind a point. */
function cell(text) {
  if (text === "[NULL]" || text === "") return null
  if (text === "true" || text === "false") return text === "true" ? "1" : "0"
  return /^-?\d+\.\d+$/.test(text) ? String(Number(Number(text).toFixed(6))) : text
}
const lines = (rows) => rows.map((row) => JSON.stringify(row.map(cell))).sort()

/** Where DuckDB needs other words, and where ours are other rows (README of the folder). */
const words = { j06: (text) => `${text} GROUP BY ALL ORDER BY slice.ts LIMIT 1` }
const ours = {
  a04: [["a,b", ""]],
  a08: [["a", "1000000", "", "0"]],
  a11: [["1000", "BOOTTIME", "1000", "0", "0"], ["1000", "REALTIME", "1000000000", "0", "0"],
    ["1000", "BOOTTIME", "1000", "1", "1"], ["1000", "REALTIME", "1000000000", "1", "1"],
    ["-999999000", "REALTIME", "0", "2", "1"], ["-999999000", "REALTIME", "0", "2", "0"]],
  e04: [["neg,zero", "1"]],
  e08: [["a", "1000", "2000", "0"]],
  e11: [["smile \u{1f600}", "1000", "2000", "0"], ["b", "5000", "2000", "0"]],
  e12: [["a", "1672924880617000123", "1", "0"], ["b", "1672924880617000457", "1", "0"]],
  e21: [["a", "1000", "2000", "0"], ["b", "5000", "2000", "0"]],
  e23: [],
  k09: [["four_hops", "6003"], ["five_hops", "6003"]],
  z01: [["", "zip", "0"], ["b.pb", "proto", "1"], ["a.systrace", "unknown", "2"]],
}
/** What the store does not keep: a column of t01 says whether a packet was its sequence's first. */
const kept = { t01: (row) => row.slice(0, 1) }

async function runCase(folder) {
  await test(`query/${folder}`, async () => {
    const key = folder.slice(0, 3)
    const path = join(shared, folder)
    const input = readdirSync(path).find((name) => /^input\.(?!textproto)/.test(name))
    const expected = join(path, "expected.csv")
    const text = readFileSync(join(path, "query.sql"), "utf8")
    const run = await meridian(["query", input, "--format", "csv", "-c",
      (words[key] ?? ((same) => same))(text)], path)
    if (!existsSync(expected) && ours[key] === undefined) {
      const error = readFileSync(join(path, "expected_error.txt"), "utf8").trim()
      if (run.code === 1 && run.stderr.includes(error)) return
      throw new Wrong(`ended with ${run.code}: ${run.stderr}, wanted ${error}`)
    }
    if (run.code !== 0) throw new Wrong(`ended with ${run.code}: ${run.stderr.trim()}`)
    const want = ours[key] ?? parseCsv(readFileSync(expected, "utf8"))
    const part = kept[key] ?? ((row) => row)
    expectSame("rows", lines(parseCsv(run.stdout.toString()).map(part)), lines(want.map(part)))
  })
}

// ---- A trace with everything ----

const everything = [
  { ph: "M", name: "process_name", pid: 1, args: { name: "main" } },
  { ph: "M", name: "thread_name", pid: 1, tid: 2, args: { name: "worker" } },
  { ph: "X", pid: 1, tid: 2, ts: 10, dur: 20, name: "outer", cat: "c",
    args: { n: 7, s: "x", deep: { list: [1.5, true] }, none: null } },
  { ph: "X", pid: 1, tid: 2, ts: 12, dur: 5, name: "inner", cat: "c" },
  { ph: "X", pid: 1, tid: 2, ts: 25, dur: 10, name: "across" },
  { ph: "B", pid: 1, tid: 3, ts: 40, name: "open" },
  { ph: "i", pid: 1, tid: 2, ts: 15, name: "tick", s: "t", args: { a: 1 } },
  { ph: "i", ts: 16, name: "all", s: "g" },
  { ph: "C", pid: 1, ts: 11, name: "load", args: { cpu: 1.25, gpu: 2 } },
  { ph: "C", pid: 1, ts: 21, name: "load", args: { cpu: 3.5 } },
  { ph: "s", pid: 1, tid: 2, ts: 13, id: 9, name: "f", cat: "c" },
  { ph: "f", pid: 1, tid: 3, ts: 41, id: 9, name: "f", cat: "c", bp: "e" },
  { ph: "b", pid: 1, tid: 2, ts: 50, id: "0x1", name: "async", cat: "c" },
  { ph: "e", pid: 1, tid: 2, ts: 60, id: "0x1", name: "async", cat: "c" },
]
writeFileSync(file("all.json"), JSON.stringify(everything))

const one = async (text) => Object.values((await sql(["all.json"], text, scratch))[0])

async function tablesAgreeWithDump() {
  const rows = await sql(["all.json"], "SELECT id, name, category, ts, dur, depth, parent_id, " +
    "flags FROM slice WHERE id NOT IN (SELECT id FROM instant) ORDER BY id", scratch)
  const want = (await dump("slice", ["all.json"], scratch)).sort((a, b) => a.id - b.id)
  expectSame("slices", rows, want.map((row) => ({ id: row.id, name: row.name,
    category: row.category, ts: row.ts_ns, dur: row.dur_ns, depth: row.depth,
    parent_id: row.parent, flags: row.flags })))
  const counters = await sql(["all.json"],
    "SELECT t.name, ts, value FROM counter JOIN counter_track t ON t.id = track_id ORDER BY 2, 1",
    scratch)
  expectSame("counters", counters, (await dump("counter", ["all.json"], scratch)).map((row) =>
    ({ name: `${row.track} ${row.series}`, ts: row.ts_ns, value: row.value })))
  const losses = await sql(["all.json"], "SELECT * FROM loss", scratch)
  expectSame("losses", losses, await dump("loss", ["all.json"], scratch))
  const flows = await sql(["all.json"], "SELECT slice_out, slice_in, ts_out, ts_in FROM flow",
    scratch)
  expectSame("flows", flows, (await dump("flow", ["all.json"], scratch)).map((row) =>
    ({ slice_out: row.from_slice, slice_in: row.to_slice, ts_out: row.from_ts_ns,
      ts_in: row.to_ts_ns })))
}

async function argsTable() {
  const rows = await sql(["all.json"], "SELECT s.name, flat_key, key, int_value, string_value, " +
    "real_value, value_type FROM args JOIN slice s USING (arg_set_id) ORDER BY 1, 3", scratch)
  const row = (name, flat_key, key, int_value, string_value, real_value, value_type) =>
    ({ name, flat_key, key, int_value, string_value, real_value, value_type })
  expectSame("args", rows, [
    row("outer", "args.deep.list", "args.deep.list[0]", null, null, 1.5, "real"),
    row("outer", "args.deep.list", "args.deep.list[1]", 1, null, null, "bool"),
    row("outer", "args.n", "args.n", 7, null, null, "int"),
    row("outer", "args.s", "args.s", null, "x", null, "string"),
    row("tick", "args.a", "args.a", 1, null, null, "int"),
  ])
  expectSame("extract_arg", await one("SELECT EXTRACT_ARG(arg_set_id, 'args.s'), " +
    "extract_arg_int(arg_set_id, 'args.n') + 1, EXTRACT_ARG(arg_set_id, 'args.not'), " +
    "EXTRACT_ARG(NULL, 'args.n') FROM slice WHERE name = 'outer'"), ["x", 8, null, null])
  expectSame("one set", await one("SELECT count(*) FROM args(arg_set_id := " +
    `${(await one("SELECT arg_set_id FROM slice WHERE name = 'outer'"))[0]})`), [4])
}

async function viewsRun() {
  const views = await sql(["all.json"],
    "SELECT view_name AS name FROM duckdb_views() WHERE NOT internal", scratch)
  if (views.length < 25) throw new Wrong(`only ${views.length} views`)
  for (const { name } of views) await sql(["all.json"], `SELECT * FROM ${name}`, scratch)
  expectSame("thread_or_process_slice", await sql(["all.json"], "SELECT name, thread_name, " +
    "process_name, tid FROM thread_or_process_slice WHERE dur > 0 ORDER BY ts", scratch),
  ["outer", "inner", "across"].map((name) =>
    ({ name, thread_name: "worker", process_name: "main", tid: 2 })))
  expectSame("track_with_name", await one(
    "SELECT full_name FROM track_with_name JOIN slice s ON s.track_id = track_with_name.id " +
    "WHERE s.name = 'outer'"), ["thread=worker"])
}

async function namesSort() {
  expectSame("order", (await sql(["all.json"],
    "SELECT name FROM slice GROUP BY name ORDER BY name", scratch)).map((row) => row.name),
  ["across", "all", "async", "inner", "open", "outer", "tick"])
  expectSame("min, max, glob, like", await one("SELECT min(name), max(name), " +
    "count(*) FILTER (name GLOB 'o*'), count(*) FILTER (name LIKE '%ner'), " +
    "count(*) FILTER (name || 'x' = 'tickx') FROM slice"), ["across", "tick", 2, 1, 1])
}

// ---- SQL and the window API give the same answers ----

const random = (seed) => () => (seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0) / 2 ** 32

async function windowsAgree() {
  const made = await meridian(["gen", "chrome-json", "--events", "20000", "-o", "gen.json"], scratch)
  if (made.code !== 0) throw new Wrong(made.stderr)
  const [{ start_ts: from, end_ts: to }] = await sql(["gen.json"], "FROM trace_bounds", scratch)
  const rng = random(11)
  for (let i = 0; i < 6; i++) {
    const width = Math.floor((to - from) * 10 ** (-1 - rng()))
    const start = from + Math.floor((to - from - width) * rng())
    const run = await meridian(["window", "gen.json", "--format", "json", "--start-ns",
      String(start), "--end-ns", String(start + width)], scratch)
    const slices = JSON.parse(run.stdout.toString()).rows
    const rows = await sql(["gen.json"], "SELECT id, ts AS ts_ns, dur AS dur_ns, lane_id AS track, " +
      `line AS row, depth, name, category FROM slice(start_ns := ${start}, end_ns := ` +
      `${start + width}) ORDER BY ts, id`, scratch)
    const order = (a, b) => a.ts_ns - b.ts_ns || a.track - b.track || a.row - b.row
    const plain = (row) => [row.ts_ns, row.dur_ns, Number(row.track), row.row, row.depth, row.name]
    if (slices.length < 10) throw new Wrong(`the window holds ${slices.length} rows`)
    expectSame("rows of a window", rows.sort(order).map(plain), slices.sort(order).map(plain))
    const again = await sql(["gen.json"], "SELECT count(*) AS n FROM slice WHERE ts < " +
      `${start + width} AND (ts + dur > ${start} OR ts >= ${start})`, scratch)
    expectSame("rows by WHERE", again[0].n, slices.length)
  }
  const [lane] = await sql(["gen.json"], "SELECT lane_id, count(*) AS n FROM slice GROUP BY 1 " +
    "ORDER BY 2 DESC LIMIT 1", scratch)
  const run = await meridian(["window", "gen.json", "--format", "json", "--buckets", "1",
    "--tracks", String(lane.lane_id)], scratch)
  const cells = JSON.parse(run.stdout.toString()).rows
  expectSame("rows of a lane", cells.reduce((sum, row) => sum + row.event_count, 0), lane.n)
}

// ---- Forms and refusals ----

async function refused(text, pattern, code = 2) {
  const run = await meridian(["query", "all.json", "-c", text], scratch)
  if (run.code !== code || !pattern.test(run.stderr) || run.stdout.length > 0)
    throw new Wrong(`${text}: ${run.code}, ${show(run.stderr)}, ${run.stdout}`)
}

async function refusals() {
  await refused("SELECT 1,\n nope FROM slice", /"nope".*\(line 2, column 2\)/)
  await refused("SELEC 1", /syntax error.*\(line 1, column 1\)/)
  await refused("INCLUDE PERFETTO MODULE a.b;\nSELECT x FROM slice", /\(line 2, column 8\)/)
  await refused("DROP VIEW slice", /only SELECT/)
  await refused("SET threads = 1", /only SELECT/)
  await refused("COPY slice TO 'x.csv'", /only SELECT/)
  await refused("EXPLAIN ANALYZE DROP VIEW slice", /only SELECT/)
  await refused("EXPLAIN (ANALYZE) CREATE TABLE t (i INT)", /only SELECT/)
  await refused("explain /* x */ analyze COPY slice TO 'x.csv'", /only SELECT/)
  await refused("SELECT 1; SELECT 2", /multiple statements/)
  await refused("", /./)
  await refused("SELECT * FROM 'no-such.parquet'", /no-such/)
  const limited = await meridian(["query", "all.json", "--time-limit-ms", "100", "-c",
    "SELECT count(*) FROM range(1000000000) a, range(1000000) b"], scratch)
  if (limited.code !== 1 || !/took too long/.test(limited.stderr))
    throw new Wrong(`a slow statement: ${limited.code} ${limited.stderr}`)
}

async function forms() {
  const text = "SELECT 1 AS i, 'a,b' AS s, NULL AS n, 0.5::DOUBLE AS d, true AS b, " +
    "170141183460469231731687303715884105727::HUGEINT AS h, [1,2] AS l, 2.50::DECIMAL(4,2) AS m"
  const csv = await meridian(["query", "all.json", "-c", text], scratch)
  expectSame("csv", csv.stdout.toString(),
    'i,s,n,d,b,h,l,m\n1,"a,b",,0.5,true,170141183460469231731687303715884105727,"[1, 2]",2.5\n')
  const json = await meridian(["query", "all.json", text, "--json"], scratch)
  expectSame("json", json.stdout.toString(), '{"i":1,"s":"a,b","n":null,"d":0.5,"b":true,' +
    '"h":170141183460469231731687303715884105727,"l":"[1, 2]","m":2.5}\n')
  const grid = await meridian(["query", "all.json", "--format", "table", "-c",
    "SELECT name, dur FROM slice WHERE dur > 0 ORDER BY ts LIMIT 2"], scratch)
  expectSame("table", grid.stdout.toString(),
    "name     dur\n-----  -----\nouter  20000\ninner   5000\n(2 rows)\n")
  const parquet = spawnSync(program, ["query", "all.json", "--format", "parquet", "-c",
    "SELECT name, ts FROM slice ORDER BY ts"], { cwd: scratch })
  writeFileSync(file("out.parquet"), parquet.stdout)
  expectSame("parquet read back", (await sql(["all.json"],
    "SELECT name FROM 'out.parquet' ORDER BY ts LIMIT 1", scratch))[0], { name: "outer" })
  const lot = spawnSync(program, ["query", "all.json", "--json"], { cwd: scratch,
    input: "SELECT 1 AS a;\n-- two lines\nSELECT\n2 AS a;\nSELECT 3 AS a" })
  expectSame("statements from standard input", lot.stdout.toString(), '{"a":1}\n{"a":2}\n{"a":3}\n')
  const plan = await meridian(["query", "all.json", "-c", "EXPLAIN SELECT name FROM slice",
    "--format", "table"], scratch)
  if (!/SLICE/.test(plan.stdout.toString())) throw new Wrong(`a plan: ${plan.stdout}`)
  expectSame("many rows stream", (await sql(["all.json"],
    "SELECT i FROM range(300000) t(i)", scratch)).length, 300000)
}

// ---- HTTP ----

async function serve(files) {
  const child = spawn(program, ["open", "--no-browser", "--listen", "127.0.0.1:0", ...files],
    { cwd: scratch, stdio: ["ignore", "pipe", "inherit"] })
  const url = await new Promise((resolve, reject) => {
    let text = ""
    child.stdout.on("data", (part) => {
      text += part
      const found = /(http:\/\/\S+)/.exec(text)
      if (found) resolve(found[1].replace(/\/$/, ""))
    })
    child.on("exit", (code) => reject(new Error(`the server ended with ${code}`)))
  })
  for (let state = "opening"; state !== "ready";)
    state = (await (await fetch(`${url}/api/traces/1`)).json()).state
  return { url, stop: () => child.kill("SIGTERM") }
}

async function http() {
  const { url, stop } = await serve(["all.json"])
  try {
    const ask = async (body, query = "?trace=1") => {
      const reply = await fetch(`${url}/api/query${query}`, { method: "POST",
        body: typeof body === "string" ? body : JSON.stringify(body) })
      return { status: reply.status, type: reply.headers.get("content-type"),
        body: Buffer.from(await reply.arrayBuffer()) }
    }
    const json = await ask({ sql: "SELECT name FROM slice WHERE dur = 20000", format: "json" })
    expectSame("json", [json.status, json.type, json.body.toString()],
      [200, "application/x-ndjson", '{"name":"outer"}\n'])
    const arrow = await ask({ sql: "SELECT name, sum(dur) FROM slice GROUP BY 1" })
    expectSame("arrow", [arrow.status, arrow.type, arrow.body.readUInt32LE(0)],
      [200, "application/vnd.apache.arrow.stream", 0xffffffff])
    const long = await ask({ sql: "SELECT i FROM range(200000) t(i)", format: "csv" }, "")
    expectSame("a long answer", long.body.toString().split("\n").length, 200002)
    const wrong = await ask({ sql: "SELECT 1,\n nope FROM slice" })
    expectSame("an error", [wrong.status, JSON.parse(wrong.body).error.code,
      JSON.parse(wrong.body).error.position], [400, "bad_sql", 11])
    const files = await ask({ sql: "SELECT * FROM read_csv('/etc/passwd')" })
    expectSame("files", [files.status, JSON.parse(files.body).error.code], [400, "bad_sql"])
    expectSame("a write", (await ask({ sql: "DROP VIEW slice" })).status, 400)
    expectSame("no trace", (await ask({ sql: "SELECT 1" }, "?trace=9")).status, 404)
    for (const body of ["", "[]", "{}", '{"sql":1}', '{"sql":"SELECT 1","format":"x"}',
      '{"sql":"SELECT 1","more":"x"}']) expectSame(body, (await ask(body)).status, 400)
    const second = await fetch(`${url}/api/traces`, { method: "POST",
      body: JSON.stringify({ paths: [file("all.json")] }) })
    expectSame("a second trace", second.status, 202)
    const which = JSON.parse((await ask({ sql: "SELECT 1" }, "")).body).error
    if (!/open are 1 \(.*all\.json\), 2 \(/.test(which.message)) throw new Wrong(which.message)
    const ended = await ask({ sql: "SELECT CAST(CASE WHEN i = 190000 THEN 'x' ELSE '1' END " +
      "AS BIGINT) FROM range(200000) t(i)", format: "csv" }).then(() => "whole", () => "cut")
    expectSame("an error after the first byte", ended, "cut")
  } finally {
    stop()
  }
}

if (!existsSync(shared)) report("SKIP", "query", "../shared is not here")
else await pool(readdirSync(shared).filter((name) => /^[a-z]\d/.test(name)), runCase)
await test("query/tables agree with dump", tablesAgreeWithDump)
await test("query/args", argsTable)
await test("query/every view", viewsRun)
await test("query/names", namesSort)
await test("query/windows agree", windowsAgree)
await test("query/refusals", refusals)
await test("query/forms", forms)
await test("query/http", http)
finish()
