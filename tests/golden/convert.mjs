// Other forms of a trace: what opens again holds the same slices, instants, counters, flows and
// args; a part of a trace; slice tables of other makers; two traces compared.
import {
  existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync,
} from "node:fs"
import { spawnSync } from "node:child_process"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  Wrong, dump, expectSame, finish, info, lossCounts, meridian, parseExact, program, report, test,
} from "./lib/run.mjs"

const shared = new URL("../../../shared/", import.meta.url).pathname
const scratch = mkdtempSync(join(tmpdir(), "meridian-convert-"))
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }))
const file = (name) => join(scratch, name)

async function convert(args) {
  const run = await meridian(["convert", ...args], scratch)
  if (run.code !== 0) throw new Wrong(`convert ${args.join(" ")}: ${run.code} ${run.stderr}`)
}

const sorted = (rows) => rows.map((row) => JSON.stringify(row)).sort()
const sortKeys = (value) => (Array.isArray(value) ? value.map(sortKeys)
  : value !== null && typeof value === "object"
    ? Object.fromEntries(Object.entries(value).sort().map(([k, v]) => [k, sortKeys(v)])) : value)
const argsOf = (row) => (row.args === null ? null : sortKeys(JSON.parse(row.args)))

/** What a form has to keep, without ids; owners: pid, tid and names of the lane's owners. */
async function content(path, { async = true } = {}) {
  const ask = (table) => dump(table, [path], scratch)
  const kinds = new Map((await ask("track")).map((track) => [track.id, track.kind]))
  const own = (row) => async || kinds.get(row.track) !== "async"
  return {
    slices: sorted((await ask("slice")).filter(own).map((row) => [row.pid,
      kinds.get(row.track) === "async" ? null : row.tid, row.process, row.name, row.category,
      row.ts_ns, row.dur_ns, row.depth, argsOf(row)])),
    instants: sorted((await ask("instant")).map((row) => [row.pid, row.tid, row.name, row.category,
      row.ts_ns, argsOf(row)])),
    counters: sorted((await ask("counter")).map((row) => [row.pid, `${row.track} ${row.series ?? ""}`.trim(),
      row.ts_ns, row.value])),
    flows: sorted((await ask("flow")).map((row) => [row.from_name, row.from_pid, row.from_tid,
      row.to_name, row.to_pid, row.to_tid])),
    threads: sorted(await ask("thread")),
    losses: lossCounts((await ask("loss")).filter((loss) => loss.severity !== "info")),
  }
}

const X = (tid, ts, dur, name, more = {}) => ({ ph: "X", pid: 1, tid, ts, dur, name, ...more })
writeFileSync(file("all.json"), JSON.stringify([
  { ph: "M", name: "process_name", pid: 1, args: { name: "main" } },
  { ph: "M", name: "thread_name", pid: 1, tid: 2, args: { name: "worker" } },
  { ph: "M", name: "thread_sort_index", pid: 1, tid: 2, args: { sort_index: 5 } },
  X(2, 10, 20, "outer", { cat: "c", args: { n: 7, s: "x\n\u{1f600}", deep: { list: [1.5, true, null,
    {}], e: [] } } }),
  X(2, 10, 5, "inner", { cat: "c" }), X(2, 15, 5, "touching"), X(2, 25.001, 10, "across"),
  { ph: "B", pid: 1, tid: 3, ts: 40, name: "open", args: { late: 1 } }, X(3, 41, 2, "in open"),
  { ph: "i", pid: 1, tid: 2, ts: 15, name: "tick", s: "t", args: { a: 1 } },
  { ph: "i", pid: 1, ts: 16, name: "whole process", s: "p" },
  { ph: "C", pid: 1, ts: 11, name: "load", args: { cpu: 1.25, gpu: 2 } },
  { ph: "C", pid: 1, ts: 21, name: "load", args: { cpu: 0.1 } },
  { ph: "s", pid: 1, tid: 2, ts: 12, id: 9, name: "f", cat: "c" },
  { ph: "t", pid: 1, tid: 2, ts: 16, id: 9, name: "f", cat: "c" },
  { ph: "f", pid: 1, tid: 3, ts: 41.5, id: 9, name: "f", cat: "c", bp: "e" },
  { ph: "s", pid: 1, tid: 2, ts: 11, id: 10, name: "g", cat: "c" },
  { ph: "f", pid: 1, tid: 2, ts: 14, id: 10, name: "g", cat: "c" },
]))
writeFileSync(file("async.json"), JSON.stringify([
  { ph: "b", pid: 1, tid: 2, ts: 50, id: "0x1", name: "request", cat: "net", args: { url: "u" } },
  { ph: "b", pid: 1, tid: 2, ts: 51, id: "0x1", name: "part", cat: "net" },
  { ph: "e", pid: 1, tid: 2, ts: 55, id: "0x1", name: "part", cat: "net" },
  { ph: "e", pid: 1, tid: 2, ts: 60, id: "0x1", name: "request", cat: "net" },
  { ph: "b", pid: 1, tid: 2, ts: 52, id: "0x2", name: "request", cat: "net" },
]))

async function roundTrip(input, ending, fields) {
  await convert([input, `again${ending}`])
  const before = await content(input)
  const after = await content(`again${ending}`)
  for (const field of fields) expectSame(`${field} of ${input}`, after[field], before[field])
}

const every = ["slices", "instants", "counters", "flows", "threads", "losses"]
await test("convert/chrome json and back", () => roundTrip("all.json", ".json", every))
await test("convert/async to chrome json and back", () =>
  roundTrip("async.json", ".json", ["slices", "instants", "losses"]))
await test("convert/a folder of tables and back", async () => {
  await roundTrip("all.json", "-tables/", every)
  await roundTrip("async.json", "-tables/", ["instants", "losses"])
  const plain = async (path) => sorted((await dump("slice", [path], scratch)).map((row) =>
    [row.pid, row.process, row.name, row.category, row.ts_ns, row.dur_ns, row.depth, argsOf(row)]))
  expectSame("async slices", await plain("again-tables/"), await plain("async.json"))
  rmSync(file("again-tables/counter.parquet"))
  const broken = await meridian(["info", "again-tables/"], scratch)
  if (broken.code !== 1 || !/counter.parquet/.test(broken.stderr)) throw new Wrong(broken.stderr)
})
await test("convert/perfetto and back", () =>
  roundTrip("all.json", ".pftrace", ["instants", "counters", "flows"]))
await test("convert/perfetto keeps slices", async () => {
  await convert(["all.json", "slices.pftrace"])
  // What overlaps without nesting has a lane of its own there, so its depth is told anew.
  const plain = async (path) => sorted((await dump("slice", [path], scratch)).map((row) =>
    [row.pid, row.tid, row.process, row.thread, row.name, row.category, row.ts_ns, row.dur_ns,
      argsOf(row)]))
  expectSame("slices", await plain("slices.pftrace"), await plain("all.json"))
})

await test("convert/generated traces, both ways", async () => {
  await meridian(["gen", "chrome-json", "--events", "20000", "--seed", "3", "-o", "gen.json"], scratch)
  await convert(["gen.json", "gen2.json"])
  const [before, after] = [await content("gen.json"), await content("gen2.json")]
  for (const field of every) expectSame(field, after[field].length, before[field].length)
  for (const field of every) expectSame(field, after[field], before[field])
  await convert(["gen2.json", "gen3.pftrace"])
  const third = await content("gen3.pftrace")
  for (const field of ["instants", "counters", "flows"]) expectSame(field, third[field], before[field])
  await convert(["gen.json", "gen-tables/"])
  const fourth = await content("gen-tables/")
  for (const field of ["slices", "instants", "counters", "flows", "threads"].slice(1))
    expectSame(`${field} of the folder`, fourth[field], before[field])
  expectSame("slices of the folder", fourth.slices.length, before.slices.length)
})

for (const ending of [".parquet", ".arrow"]) {
  await test(`convert/slices as ${ending.slice(1)} and back`, async () => {
    await convert(["all.json", `slices${ending}`])
    const plain = async (path) => sorted((await dump("slice", [path], scratch)).map((row) =>
      [row.pid, row.tid, row.process, row.thread, row.name, row.category, row.ts_ns, row.dur_ns,
        row.depth, argsOf(row)]))
    expectSame("slices", await plain(`slices${ending}`), await plain("all.json"))
  })
}

await test("convert/a part", async () => {
  const names = async (args) => {
    await convert(["all.json", "part.json", ...args])
    return (await dump("slice", ["part.json"], scratch)).map((row) => row.name).sort()
  }
  expectSame("by time", await names(["--start-ns", "15000", "--end-ns", "26000"]),
    ["across", "outer", "touching"])
  const marks = Object.fromEntries((await dump("slice", ["part.json"], scratch)).map((row) =>
    [row.name, row.args === null ? null : JSON.parse(row.args).meridian_cut ?? null]))
  expectSame("marks", marks, { across: "end", outer: "start|end", touching: null })
  expectSame("by name", await names(["--names", "[io]n*"]), ["in open", "inner"])
  expectSame("by lane", await names(["--tracks", "work?r"]),
    ["across", "inner", "outer", "touching"])
  expectSame("by process", (await names(["--tracks", "m*n"])).length, 6)
  expectSame("nothing", await names(["--tracks", "nobody"]), [])
  await convert(["all.json", "part.parquet", "--start-ns", "15000", "--end-ns", "26000"])
  expectSame("of a table", (await dump("slice", ["part.parquet"], scratch)).map((row) => row.name),
    ["outer", "touching", "across"])
  const wrong = await meridian(["convert", "all.json", "out.txt"], scratch)
  if (wrong.code !== 2 || !/ends in .parquet/.test(wrong.stderr)) throw new Wrong(wrong.stderr)
  expectSame("no file", existsSync(file("out.txt")), false)
})

// ---- Slice tables ----

async function reportCases() {
  const cases = join(shared, "cases/reports")
  const rows = (name, path) => dump("slice", [join(cases, name, path)], scratch)
  const precise = await rows("46-parquet-timestamp-ns", "trace.parquet")
  expectSame("46 ts", precise.map((row) => row.ts_ns),
    [1731415926535897932n, 1731415926535910369n, 1731415926535911368n])
  expectSame("46 dur", precise.map((row) => row.dur_ns), [12437, 998, 249])
  const from = join(cases, "46-parquet-timestamp-ns/trace.parquet")
  for (const [column, want, losses] of [
    ["ts_tsns AS ts", precise.map((row) => row.ts_ns), {}],
    ["ts_us_double AS ts", [1731415926535897750n, 1731415926535910500n, 1731415926535911500n],
      { inexact_time: 3 }]]) {
    for (const format of ["parquet", "arrow"]) {
      const made = spawnSync(program, ["query", "all.json", "--format", format, "-c",
        `SELECT ${format === "arrow" ? column.replace("ts_tsns", "epoch_ns(ts_tsns)") : column}, ` +
        `name, dur, pid, tid FROM '${from}'`], { cwd: scratch })
      writeFileSync(file(`one.${format}`), made.stdout)
      expectSame(`46 ${column}`, (await dump("slice", [`one.${format}`], scratch)).map((row) =>
        row.ts_ns), want)
      expectSame(`46 ${column}`, lossCounts(await dump("loss", [`one.${format}`], scratch)), losses)
    }
  }
  const delta = await rows("47-parquet-v2-delta", "trace.parquet")
  const base = 1700000000000000000n
  expectSame("47", [delta.length, delta.reduce((sum, row) => sum + BigInt(row.ts_ns) - base, 0n),
    delta.reduce((sum, row) => sum + row.dur_ns, 0), new Set(delta.map((row) => row.name)).size,
    delta[0].name, delta.at(-1).name], [5000, 12497514995n, 2497500, 5000, "op_0", "op_4999"])
  for (const name of ["trace.arrow", "trace.stream"]) {
    const negative = await rows("49-arrow-int64-and-negative", name)
    expectSame(`49 ${name}`, sorted(negative.map((row) => [row.name, String(row.ts_ns), row.dur_ns])),
      sorted([["a", "-1", 1], ["b", "0", -1], ["a", "9007199254740993", 3],
        ["c", "1731415926535897932", 4], ["a", "-1000000001", 5]]))
  }
}
if (existsSync(shared)) await test("convert/tables of the report cases", reportCases)
else report("SKIP", "convert/tables of the report cases", "../shared is not here")

await test("convert/a table that is none", async () => {
  const made = spawnSync(program, ["query", "all.json", "--format", "parquet", "-c",
    "SELECT 1 AS name, 2 AS more"], { cwd: scratch })
  writeFileSync(file("none.parquet"), made.stdout)
  const run = await meridian(["info", "none.parquet"], scratch)
  if (run.code !== 1 || !/needs name and ts_ns or ts; the columns are name, more/.test(run.stderr))
    throw new Wrong(`${run.code} ${run.stderr}`)
})

// ---- diff ----

await test("convert/an output that is an input is refused", async () => {
  writeFileSync(file("kept.json"), readFileSync(file("all.json")))
  writeFileSync(file("manifest.json"), '{"files":[]}')
  symlinkSync("kept.json", file("link.json"))
  await convert(["kept.json", "kept/"])
  const names = ["kept.json", "manifest.json",
    ...readdirSync(file("kept")).map((name) => `kept/${name}`)]
  const read = () => names.map((name) => readFileSync(file(name), "base64"))
  const before = read()
  for (const [out, ...inputs] of [["kept.json", "kept.json"], ["./kept.json", "kept.json"],
    ["link.json", "kept.json"], ["kept.json", "async.json", "link.json"], ["kept/", "kept"],
    ["kept/slice.parquet", "kept"], ["kept/", "kept/slice.parquet"],
    ["manifest.json", "kept.json", "--manifest", "manifest.json"]]) {
    const run = await meridian(["convert", ...inputs, out], scratch)
    if (run.code !== 2 || !/would overwrite the input/.test(run.stderr))
      throw new Wrong(`${inputs.join(" ")} to ${out}: ${run.code} ${run.stderr}`)
    expectSame(`files after ${out}`, read(), before)
  }
  await convert(["kept.json", "kept2.json"])
})

await test("convert/a range without width is refused", async () => {
  const run = await meridian(["convert", "all.json", "none.json", "--start-ns", "5", "--end-ns", "5"],
    scratch)
  if (run.code !== 2 || !/--start-ns 5 is not below --end-ns 5/.test(run.stderr))
    throw new Wrong(`${run.code} ${run.stderr}`)
  if (existsSync(file("none.json"))) throw new Wrong("a file is there")
})

await test("convert/diff", async () => {
  const trace = (list) => JSON.stringify([
    { ph: "M", name: "thread_name", pid: 7, tid: 8, args: { name: "main" } },
    ...list.map(([name, dur], i) => ({ ph: "X", pid: 7, tid: 8, ts: i * 100, dur, name }))])
  writeFileSync(file("a.json"), trace([["same", 5], ["slow", 1], ["slow", 3], ["gone", 9]]))
  writeFileSync(file("b.json"), trace([["same", 5], ["slow", 10], ["slow", 20], ["new", 4]])
    .replaceAll(":7", ":70").replaceAll(":8", ":80"))
  const run = await meridian(["diff", "a.json", "b.json", "--json"], scratch)
  const lane = "process 1 / main"
  expectSame("diff", parseExact(run.stdout.toString()), {
    slower: [{ lane, name: "slow", count: [2, 2], total_ns: [4000, 30000], median_ns: [1000, 10000] }],
    faster: [],
    appeared: [{ lane, name: "new", count: [0, 1], total_ns: [0, 4000], median_ns: [0, 4000] }],
    vanished: [{ lane, name: "gone", count: [1, 0], total_ns: [9000, 0], median_ns: [9000, 0] }],
  })
  const text = (await meridian(["diff", "a.json", "b.json"], scratch)).stdout.toString()
  if (!/slower: 1\n.*2 -> 2 times, median 1.000 -> 10.000 us {2}slow/.test(text)) throw new Wrong(text)
})

// ---- Recorded traces ----

const data = join(shared, "data")
const recorded = existsSync(join(data, "perfetto"))
  ? readdirSync(join(data, "perfetto")).filter((name) => /trace$/.test(name)) : []
for (const name of recorded) {
  await test(`convert/recorded ${name}`, async () => {
    const path = join(data, "perfetto", name)
    const before = (await info([path], scratch)).counts
    for (const ending of ["json", "pftrace"]) {
      await convert([path, `recorded.${ending}`])
      const after = (await info([`recorded.${ending}`], scratch)).counts
      for (const field of ["slice", "unclosed", "instant", "counter", "flow"])
        expectSame(`${field} as ${ending}`, after[field], before[field])
    }
  })
}
finish()
