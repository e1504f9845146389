// Sessions: ingest, samples, report, verify and replay of the shared cases and of own lines.
import { spawn } from "node:child_process"
import { appendFileSync, chmodSync, copyFileSync, cpSync, existsSync, mkdtempSync, readFileSync,
  readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  Wrong, expectSame, finish, meridian, parseExact, parseLines, program, report, same, show, test,
} from "./lib/run.mjs"

const shared = new URL("../../../shared/cases/session/", import.meta.url).pathname
const scratch = mkdtempSync(join(tmpdir(), "meridian-session-"))
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }))
const file = (name) => join(scratch, name)
let made = 0

async function run(code, args) {
  const got = await meridian(args, scratch)
  if (got.code !== code)
    throw new Wrong(`${args.join(" ")} ended with ${got.code}, wanted ${code}: ${got.stderr}`)
  return got
}
const json = async (args) => JSON.parse((await run(0, [...args, "--json"])).stdout.toString())
const samples = async (dir) =>
  parseLines((await run(0, ["session", "samples", dir, "--format", "json"])).stdout.toString())

/** What every session has to hold: sound, sealed, and the same again from raw. */
async function holds(dir) {
  const verified = await json(["verify", dir])
  expectSame("verify", [verified.sound, verified.sealed, verified.damage], [true, true, null])
  const again = await json(["replay", dir])
  expectSame("replay", [again.equal, again.difference], [true, null])
}
async function ingest(input, more = []) {
  const dir = `s${made++}`
  const result = await json(["session", "ingest", input, "--out", dir, ...more])
  expectSame("dir", result.dir, dir)
  await holds(dir)
  return { dir, result, samples: await samples(dir), report: await json(["report", dir]) }
}
async function ingestLines(lines) {
  const name = file(`lines${made}.ndjson`)
  writeFileSync(name, Buffer.concat(lines.map((line) =>
    Buffer.concat([Buffer.isBuffer(line) ? line : Buffer.from(
      typeof line === "string" ? line : JSON.stringify(line)), Buffer.from("\n")]))))
  return ingest(name)
}

await test("session/no output takes the place of what is read", async () => {
  const { dir } = await ingestLines([{ sourceId: "a", kind: "graphics", hostReceiveMonotonicNs: 1,
    payload: { CoreAnimationFramesPerSecond: 60 } }, { kind: "stopped" }])
  for (const out of [`${dir}/session.json`, `${dir}/raw/000001.mrl`, `./${dir}/new.html`])
    for (const args of [["report", dir], ["session", "samples", dir, "--format", "parquet"]]) {
      const { stderr } = await run(2, [...args, "-o", out])
      if (!/would overwrite the input/.test(stderr)) throw new Wrong(stderr)
    }
  await holds(dir)
  await run(0, ["report", dir, "-o", "beside.txt"])
})

// ---- The shared cases ----

const near = (got, want) => got === want || (typeof got === "number" && typeof want === "number" &&
  Math.abs(got - want) <= 1e-9 * Math.abs(want))

function expectSamples(got, want) {
  expectSame("number of samples", got.length, want.length)
  for (const [i, sample] of want.entries()) {
    for (const [name, value] of Object.entries(sample)) {
      const exact = name !== "value" || typeof value === "bigint" || Number.isInteger(value)
      if (exact ? !same(got[i][name], value) : !near(got[i][name], value))
        throw new Wrong(`sample ${i} is ${show(got[i])}, wanted ${show(sample)}`)
    }
  }
}
function expectReport(got, expected) {
  if (expected.report !== undefined) {
    const row = got.metrics.find((metric) => metric.metric === expected.report.metric)
    expectSame("count", row.count, expected.report.count)
    if (!near(row.mean, expected.report.mean)) throw new Wrong(`mean ${row.mean}`)
  }
  if (expected.jank !== undefined) {
    const [frames] = got.frames
    const { stutter, definition, ...exact } = expected.jank
    for (const [name, value] of Object.entries(exact))
      if (frames[name] !== undefined) expectSame(name, frames[name], value)
    expectSame("jankCount", frames.jankCount, expected.jank.jankCount)
    if (!near(frames.stutter, stutter)) throw new Wrong(`stutter ${frames.stutter}, ${definition}`)
  }
}
const gapNames = (of) => of.report.gaps.map((gap) => gap.gap)

async function runCase(name) {
  const expected = parseExact(readFileSync(join(shared, name, "expected.json"), "utf8"))
  const inputs = expected.files ?? { "input.ndjson": {} }
  for (const [input, want] of Object.entries(inputs)) {
    const got = await ingest(join(shared, name, input))
    expectSamples(got.samples, expected.samples.slice(0, want.samples ?? Infinity))
    expectReport(got.report, expected)
    if (want.records !== undefined)
      expectSame("events, decode errors, record-cut", [got.result.events, got.report.decodeErrors,
        gapNames(got).includes("record-cut")], [want.records, want.decodeErrors, want.integrityGap])
    const stops = /"kind": *"stopped"/.test(readFileSync(join(shared, name, input), "latin1"))
    expectSame("stop-missing", gapNames(got).includes("stop-missing"), !stops)
  }
}
if (existsSync(shared)) {
  for (const name of readdirSync(shared).sort()) {
    const has = (input) => existsSync(join(shared, name, input))
    if (has("input.ndjson") || has("stdout.bin"))
      await test(`session/case ${name}`, () => runCase(name))
    else if (has("ops.ndjson"))
      report("SKIP", `session/case ${name}`, "calls of the writer: the unit test case18 runs them")
  }
} else {
  report("SKIP", "session/cases", "../shared is not here")
}

// ---- Own lines ----

const SECOND = 1e9
const line = (seconds, kind, payload, more = {}) => ({
  sourceId: "own", adapterSequence: seconds, hostReceiveMonotonicNs: seconds * SECOND,
  sourceTimestamp: seconds * SECOND, clockDomain: "own-ns", pid: 7, kind, payload, ...more,
})
const words = (got, metric) => got.samples.filter((s) => s.metric === metric)
  .map((s) => s.value ?? s.quality)

await test("session/counters, breaks, declared metrics", async () => {
  const cpu = (seconds, cpuNs, more) => line(seconds, "proc.cpu", { cpuNs, nCpu: 2 }, more)
  const got = await ingestLines([
    cpu(1, 0), cpu(2, 0), cpu(3, SECOND / 2), cpu(4, 3.5 * SECOND), cpu(5, 10),
    cpu(6, 10), cpu(6, 20), cpu(7, 30, { pid: 8 }), cpu(8, SECOND + 30, { pid: 8 }),
    line(9, "engine", { gauges: { load: 2.5 }, counters: { draws: 10 }, units: { load: "percent" } }),
    line(10, "engine", { gauges: { load: 0 }, counters: { draws: 30 } }),
    line(11, "engine", { gauges: { load: null } }),
    { kind: "stopped" },
  ])
  expectSame("cpu", words(got, "cpu.core.pct"), ["warmup", 0, 50, 300, "counter-reset", 0,
    "discontinuity", "discontinuity", 100])
  expectSame("cpu of all", words(got, "cpu.norm.pct").slice(1, 4), [0, 25, 150])
  expectSame("declared", words(got, "engine.draws.rate"), ["warmup", 20])
  const load = got.report.metrics.find((row) => row.metric === "engine.load")
  expectSame("load", [load.unit, load.count, load.last, load.evidence],
    ["percent", 1, null, "declared by the source"])
  const row = got.report.metrics.find((metric) => metric.metric === "cpu.core.pct")
  expectSame("share of the time", row.counts, { "counter-reset": 1, discontinuity: 2, missing: 0,
    "not-applicable": 0, "not-foreground": 0, ok: 5, unsupported: 0, warmup: 1 })
  expectSame("gaps, stopped", [gapNames(got), got.result.completed], [[], true])
})

await test("session/frames: still screen, background, jank", async () => {
  const lines = []
  let at = 0
  const frame = (ms) => {
    at += ms * 1e6
    lines.push({ ...line(0, "frame", { displayId: 1 }), hostReceiveMonotonicNs: at,
      sourceTimestamp: at })
  }
  const tick = (seconds) => lines.push({ sourceId: "publisher", kind: "tick",
    hostReceiveMonotonicNs: seconds * SECOND, payload: {} })
  for (let i = 0; i < 60; i++) frame(20)
  tick(1.2)
  frame(100)
  frame(300)
  tick(2)
  tick(4)
  const got = await ingestLines(lines)
  expectSame("fps", words(got, "fps.display.1s"), [50, 12, 0])
  const [frames] = got.report.frames
  expectSame("janks", [frames.frames, frames.jankCount, frames.bigJankCount, frames.jankSeqs],
    [61, 2, 1, [62, 63]])
})

await test("session/lines that are none", async () => {
  const huge = `{"sourceId":"own","kind":"x","payload":"${"y".repeat(1 << 20)}"}`
  const good = line(1, "graphics", { CoreAnimationFramesPerSecond: 60 })
  const got = await ingestLines([good, "{", Buffer.from([0x7b, 0xff, 0x7d]),
    Buffer.from("{\"sourceId\":\"own\",\u0000\"kind\":\"x\"}"), "[1]", huge,
    '{"sourceId":"own","kind":"x","kind":"y"}', '{"kind":"x"}', "", good, "{\"kind\":\"stopped\"}"])
  expectSame("events, decode errors", [got.result.events, got.result.decodeErrors,
    got.report.decodeErrors, got.report.envelopes], [10, 7, 7, 3])
  expectSame("sequences of the samples", got.samples.map((s) => s.seq), [1, 9])
  const strict = await run(3, ["session", "ingest", file(`lines${made - 1}.ndjson`), "--out",
    "strict", "--strict"])
  expectSame("the folder is told", strict.stdout.toString(), "strict\n")
})

await test("session/a NUL in a name, escaped, is no envelope", async () => {
  const named = (payload) => `{"sourceId":"own","kind":"x","payload":${payload}}`
  const got = await ingestLines([named('{"gauges":{"a\\u0000b":1}}'), named('{"\\u0000":1}'),
    named('{"counters":{"a":1},"units":{"a":"x\\\\\\u0000"}}'), named('"\\u0000"'),
    named('{"gauges":{"a\\\\u0000b":1}}'), '{"kind":"stopped"}'])
  expectSame("decode errors", [got.result.decodeErrors, got.report.envelopes], [4, 2])
  expectSame("metrics", got.report.metrics.map((row) => row.metric), ["x.a\\u0000b"])
  const raw = await run(0, ["session", "raw", got.dir, "1", "--json"])
  if (!/holds \\\\u0000/.test(raw.stdout)) throw new Wrong(raw.stdout)
})

await test("session/an empty file, a last line without its end", async () => {
  writeFileSync(file("empty"), "")
  const none = await ingest("empty")
  expectSame("empty", [none.result.events, none.samples, none.report.durationNs, none.report.metrics],
    [0, [], null, []])
  writeFileSync(file("unended"), JSON.stringify(line(1, "graphics", {})) + "\n" +
    JSON.stringify({ kind: "stopped" }))
  expectSame("unended", gapNames(await ingest("unended")), [])
})

await test("session/wrong use and folders that are there", async () => {
  writeFileSync(file("one"), JSON.stringify(line(1, "graphics", {})) + "\n")
  await run(0, ["session", "ingest", "one", "--out", "there"])
  const again = await run(2, ["session", "ingest", "one", "--out", "there"])
  if (!/^meridian: there: the folder exists/.test(again.stderr)) throw new Wrong(again.stderr)
  const missing = await run(1, ["session", "ingest", "nothing", "--out", "n"])
  expectSame("said", [/^meridian: nothing: cannot open/.test(missing.stderr), existsSync(file("n.open"))],
    [true, false])
  for (const command of [["session", "samples"], ["report"], ["verify"], ["replay"],
    ["session", "recover"]]) {
    const none = await run(1, [...command, "nowhere"])
    if (!/^meridian: nowhere/.test(none.stderr)) throw new Wrong(none.stderr)
  }
  await run(2, ["session", "samples", "there", "--format", "xml"])
  await run(2, ["session", "samples", "there", "--format", "parquet"])
})

await test("session/a changed byte is found, named and not replayed", async () => {
  const names = ["session.json", "raw/000001.mrl", "domain.mrl", "metrics.mrl", "report.json",
    "metrics-manifest.json", "seal.json"]
  for (const [i, name] of names.entries()) {
    const dir = `bad${i}`
    await run(0, ["session", "ingest", "one", "--out", dir])
    const path = file(`${dir}/${name}`)
    const bytes = readFileSync(path)
    bytes[bytes.length >> 1] ^= 4
    rmSync(path)
    writeFileSync(path, bytes)
    const got = JSON.parse((await run(1, ["verify", dir, "--json"])).stdout.toString())
    expectSame(name, [got.sound, got.damage.file], [false, name])
    if (got.damage.from > bytes.length >> 1 || got.damage.to <= bytes.length >> 1)
      throw new Wrong(`${name}: ${show(got.damage)}, changed was ${bytes.length >> 1}`)
    if (/domain|metrics\.mrl|report/.test(name)) {
      const replayed = JSON.parse((await run(1, ["replay", dir, "--json"])).stdout.toString())
      expectSame(name, [replayed.equal, replayed.difference.file, replayed.difference.offset],
        [false, name, bytes.length >> 1])
    }
  }
  const longer = "longer"
  await run(0, ["session", "ingest", "one", "--out", longer])
  copyFileSync(file(`${longer}/report.json`), file("kept"))
  rmSync(file(`${longer}/report.json`))
  copyFileSync(file("kept"), file(`${longer}/report.json`))
  appendFileSync(file(`${longer}/report.json`), " ")
  const text = (await run(1, ["verify", longer])).stdout.toString()
  if (!/^damaged: report.json, bytes /.test(text)) throw new Wrong(text)
})

await test("session/samples as CSV, Arrow and Parquet hold the same rows", async () => {
  const got = await ingestLines([line(1, "graphics", { CoreAnimationFramesPerSecond: 60 }),
    line(2, "graphics", { CoreAnimationFramesPerSecond: 59.5 }),
    line(3, "graphics", { CoreAnimationFramesPerSecond: null }),
    { ...line(4, "a,\"b\"", { gauges: { x: 1 } }), sourceId: "s,1" },
    { ...line(5, "a,\"b\"", { gauges: { x: -7 } }), sourceId: "s,1" }])
  const csv = (await run(0, ["session", "samples", got.dir])).stdout.toString()
  expectSame("csv", csv.split("\n").slice(0, 5), [
    "seq,metric,value,unit,quality,source,key,time_ns",
    "1,fps.ca,,fps,warmup,own,,1000000000", "2,fps.ca,59.5,fps,ok,own,,2000000000",
    "3,fps.ca,,fps,missing,own,,3000000000",
    '4,"a,""b"".x",,raw,warmup,"s,1",,4000000000'])
  writeFileSync(file("one.json"), "[]")
  await run(0, ["session", "samples", got.dir, "--format", "parquet", "-o", "rows.parquet"])
  const query = await run(0, ["query", "one.json", "--format", "json", "-c",
    `SELECT * FROM '${file("rows.parquet")}' ORDER BY seq`])
  expectSame("parquet", parseLines(query.stdout.toString()), got.samples)
  const arrow = (await run(0, ["session", "samples", got.dir, "--format", "arrow"])).stdout
  expectSame("arrow stream", [arrow.readUInt32LE(0), arrow.subarray(-8).toString("hex"),
    arrow.length % 8], [0xffffffff, "ffffffff00000000", 0])
})

await test("session/samples: metrics, range, thinned", async () => {
  const lines = []
  for (let i = 1; i <= 200; i++)
    lines.push(line(i, "graphics", { CoreAnimationFramesPerSecond: i % 50 === 7 ? null : (i * 37) % 60 }),
      line(i, "other", { gauges: { x: i } }))
  const got = await ingestLines(lines)
  const ask = async (...args) => parseLines((await run(0, ["session", "samples", got.dir, "--json",
    ...args])).stdout.toString())
  const fps = got.samples.filter((s) => s.metric === "fps.ca")
  expectSame("one metric", await ask("--metric", "fps.ca"), fps)
  expectSame("range", await ask("--metric", "fps.ca", "--start-ns", `${10 * SECOND}`, "--end-ns",
    `${20 * SECOND}`), fps.slice(9, 19))
  const parts = 10
  const wanted = []
  const span = 199 * SECOND + 1
  for (let part = 0; part < parts; part++) {
    const inside = fps.filter((s) => Math.floor((s.time_ns - SECOND) * parts / span) === part)
    const whole = inside.filter((s) => s.value !== null)
    const least = whole.reduce((a, b) => (b.value < a.value ? b : a))
    const most = whole.reduce((a, b) => (b.value > a.value ? b : a))
    const kept = [inside[0], inside.at(-1), least, most, inside.find((s) => s.value === null)]
    wanted.push(...inside.filter((s) => kept.includes(s)))
  }
  expectSame("thinned", await ask("--metric", "fps.ca", "--buckets", `${parts}`), wanted)
  expectSame("nothing there", await ask("--metric", "none", "--buckets", "3"), [])
  await run(2, ["session", "samples", got.dir, "--start-ns", "5", "--end-ns", "5"])
  await run(2, ["session", "samples", got.dir, "--start-ns", "x"])
  await run(2, ["session", "samples", got.dir, "--buckets", "65537"])
})

await test("session/from a sample to the bytes it rests on", async () => {
  const text = JSON.stringify(line(1, "graphics", { CoreAnimationFramesPerSecond: 60 }))
  const bad = Buffer.from([0x7b, 0xff, 0x00, 0x7d])
  const got = await ingestLines([text, bad])
  expectSame("bytes", (await run(0, ["session", "raw", got.dir, "1"])).stdout.toString(), text)
  expectSame("bytes", (await run(0, ["session", "raw", got.dir, "2"])).stdout.equals(bad), true)
  const event = await json(["session", "raw", got.dir, "1"])
  expectSame("event", [event.seq, event.type, event.sourceId, event.kind, event.pid, event.text,
    Buffer.from(event.base64, "base64").toString()],
  [1, "raw", "own", "graphics", 7, text, text])
  const error = await json(["session", "raw", got.dir, "2"])
  expectSame("decode error", [error.type, error.bytes, error.text,
    Buffer.from(error.base64, "base64").equals(bad)], ["decode_error", 4, null, true])
  const none = await run(1, ["session", "raw", got.dir, "3"])
  if (!/3.*2/.test(none.stderr)) throw new Wrong(none.stderr)
  await run(2, ["session", "raw", got.dir, "x"])
})

await test("session/report as text, Markdown and HTML; a list of sessions", async () => {
  const got = await ingestLines([line(1, "graphics", { CoreAnimationFramesPerSecond: 60 }),
    line(2, "graphics", { CoreAnimationFramesPerSecond: 58 })])
  const as = async (format) =>
    (await run(0, ["report", got.dir, "--format", format])).stdout.toString()
  const text = (await run(0, ["report", got.dir])).stdout.toString()
  expectSame("default", await as("text"), text)
  if (!/^fps\.ca +own +fps +1 +58 /m.test(text)) throw new Wrong(text)
  if (!/^\| fps\.ca \| own \| fps \| 1 \| 58 \|/m.test(await as("md"))) throw new Wrong("md")
  const html = await as("html")
  if (!html.startsWith("<!doctype html>") || !html.includes("<svg") || /<script|https?:/.test(html))
    throw new Wrong(html.slice(0, 300))
  await run(0, ["report", got.dir, "--format", "html", "-o", "report.html"])
  expectSame("file", readFileSync(file("report.html"), "utf8"), html)
  const { sessions, skipped } = await json(["session", "list", "."])
  const own = sessions.find((session) => session.name === got.dir)
  expectSame("in the list", [own.state, own.reasons, own.identity.definitions, skipped > 0],
    ["completed", [], "metrics.v1", true])
  const lines = (await run(0, ["session", "list", "."])).stdout.toString().trimEnd().split("\n")
  expectSame("lines", lines.includes(`${got.dir}  completed`), true)
  expectSame("an absent folder", await json(["session", "list", "nowhere"]),
    { sessions: [], skipped: 0 })
})

// ---- On the timeline ----

const dump = async (name, ...files) => parseLines(
  (await run(0, ["dump", "--table", name, ...files, "--format", "json"])).stdout.toString())
const slicesOf = async (...files) => (await dump("slice", ...files)).map((slice) =>
  ({ ...slice, args: typeof slice.args === "string" ? parseExact(slice.args) : slice.args }))

await test("session/on the timeline beside a trace", async () => {
  const at = (ms, kind, payload, more = {}) => ({ sourceId: "app", pid: 7, kind, payload,
    hostReceiveMonotonicNs: ms * 1e6 + 50, sourceTimestamp: ms * 1e6,
    clockDomain: "linux-monotonic-ns", ...more })
  const frame = (ms) => at(ms, "frame", { displayId: 1 })
  const got = await ingestLines([
    at(1000, "engine", { gauges: { load: 2.5 }, units: { load: "percent" } }),
    at(1010, "span", { name: "first frame", startTicks: 1000e6, endTicks: 1008e6 }),
    frame(1020), frame(1040), frame(1060), frame(1080), frame(1100), frame(1300),
    at(1310, "engine", { gauges: { load: 0 } }),
    at(1320, "engine", { gauges: { load: null } }),
    at(1330, "app.state", { foreground: false }),
  ])
  writeFileSync(file("beside.json"),
    JSON.stringify([{ ph: "X", pid: 1, tid: 1, ts: 1000, dur: 500000, name: "beside" }]))
  const info = await json(["info", got.dir, "beside.json"])
  expectSame("files", info.files.map((one) => [one.format, one.clock]),
    [["chrome_json", "trace_file"], ["session", "MONOTONIC"]])
  expectSame("losses, session", [info.losses, info.metadata["session.state"]], [[], "completed"])
  const counters = await dump("counter", got.dir, "beside.json")
  const ok = got.samples.filter((s) => s.quality === "ok")
  const row = (name, ns, value) => `${name} ${ns} ${value}`
  expectSame("counters", counters.map((c) => row(c.track, c.ts_ns, c.value)).sort(),
    ok.map((s) => row(s.key ? `${s.metric} ${s.key}` : s.metric, s.time_ns, s.value)).sort())
  const slices = await slicesOf(got.dir, "beside.json")
  const named = (name) => slices.filter((s) => s.name === name)
  const times = (name) => named(name).map((s) => [s.ts_ns, s.dur_ns, s.category])
  expectSame("frames", times("frame"), [[1020e6, 20e6, "frame"], [1040e6, 20e6, "frame"],
    [1060e6, 20e6, "frame"], [1080e6, 20e6, "frame"], [1100e6, 200e6, "big_jank"]])
  expectSame("args", [4, 3].map((i) => named("frame")[i].args.jank), [true, false])
  expectSame("phase", times("first frame"), [[1000e6, 8e6, "launch"]])
  expectSame("the trace", times("beside"), [[1e6, 500e6, null]])
  const gaps = slices.filter((s) => got.samples.some((one) => one.quality === s.name))
  expectSame("without a number", gaps.map((s) => `${s.args.seq} ${s.name}`).sort(),
    got.samples.filter((s) => s.quality !== "ok").map((s) => `${s.seq} ${s.quality}`).sort())
  const [missing] = named("missing")
  expectSame("covers", [missing.ts_ns, missing.dur_ns], [1310e6 + 50, 10e6])
  const instants = (await dump("instant", got.dir, "beside.json")).map((i) => i.name)
  expectSame("instants", instants.sort(), ["background", "stop-missing"])
})

await test("session/on the timeline: clocks of other domains, of one boot", async () => {
  const at = (ms, delay) => ({ sourceId: "phone", kind: "frame", payload: { displayId: 1 },
    hostReceiveMonotonicNs: ms * 1e6 + delay, sourceTimestamp: ms * 1e6 - 500e6,
    clockDomain: "phone-ns" })
  const got = await ingestLines([at(1000, 300), at(1020, 100), at(1040, 900)])
  const frames = (await slicesOf(got.dir)).filter((s) => s.name === "frame")
  expectSame("laid by the fastest line", frames.map((s) => [s.ts_ns, s.args.placed, s.args.spread_ns]),
    [[1000e6 + 100, "assumed", 800], [1020e6 + 100, "assumed", 800]])
  for (const dir of ["boot1", "boot2"])
    await run(0, ["record", "--out", dir, "--duration", "150ms", "--host"])
  const clocks = await json(["clocks", "boot1", "boot2"])
  expectSame("of one boot nothing is assumed", clocks.clocks.filter((one) => one.facts > 0)
    .map((one) => [one.clock, one.reached, one.assumed]),
    [["MONOTONIC", true, false], ["MONOTONIC", true, false]])
  const times = (await slicesOf("boot2")).map((slice) => slice.ts_ns)
  expectSame("MONOTONIC", Math.min(...times), (await samples("boot2"))[0].time_ns)
})

await test("session/on the timeline: open takes the folder", async () => {
  const got = await ingestLines([line(1, "graphics", { CoreAnimationFramesPerSecond: 60 })])
  const child = spawn(program, ["open", "--no-browser", got.dir], { cwd: scratch })
  try {
    const said = await new Promise((resolve, reject) => {
      child.stdout.once("data", (bytes) => resolve(bytes.toString()))
      child.once("exit", (code) => reject(new Wrong(`open ended with ${code}`)))
    })
    const address = /^listening on (http:\/\/127\.0\.0\.1:\d+)\n$/.exec(said)
    if (address === null) throw new Wrong(said)
    let trace
    do trace = await (await fetch(`${address[1]}/api/traces/1`)).json()
    while (trace.state === "opening")
    expectSame("state", trace.state, "ready")
  } finally {
    child.removeAllListeners("exit")
    child.kill("SIGTERM")
  }
})

await test("session/on the timeline: unsealed, damaged, cut", async () => {
  const got = await ingestLines([1, 2, 3, 4, 5, 6].map((s) =>
    line(s, "graphics", { CoreAnimationFramesPerSecond: 50 + s })))
  expectSame("values", words(got, "fps.ca"), ["warmup", 52, 53, 54, 55, 56])
  const copy = (name, change) => {
    cpSync(file(got.dir), file(name), { recursive: true })
    chmodSync(file(join(name, "metrics.mrl")), 0o600)
    chmodSync(file(join(name, "metrics-manifest.json")), 0o600)
    change(file(name))
  }
  copy("unsealed", (dir) => rmSync(join(dir, "seal.json")))
  const unsealed = await run(1, ["info", "unsealed"])
  if (!/unsealed: the session is not sealed/.test(unsealed.stderr)) throw new Wrong(unsealed.stderr)
  copy("changed", (dir) => appendFileSync(join(dir, "metrics-manifest.json"), " "))
  const changed = await run(1, ["info", "changed"])
  if (!/the seal is not that of/.test(changed.stderr)) throw new Wrong(changed.stderr)
  copy("other", (dir) => {
    chmodSync(join(dir, "session.json"), 0o600)
    appendFileSync(join(dir, "session.json"), " ")
  })
  const other = await run(1, ["info", "other"])
  if (!/session\.json: it was changed/.test(other.stderr)) throw new Wrong(other.stderr)
  const losses = async (name) => {
    const { counts, losses } = await json(["info", name])
    return [counts.counter, losses.map((loss) => [loss.name, loss.count])]
  }
  copy("flipped", (dir) => {
    const bytes = readFileSync(join(dir, "metrics.mrl"))
    bytes[bytes.length - 30] ^= 1
    writeFileSync(join(dir, "metrics.mrl"), bytes)
  })
  expectSame("flipped", await losses("flipped"), [4, [["damaged_session", 1]]])
  copy("gone", (dir) => rmSync(join(dir, "metrics.mrl")))
  expectSame("gone", await losses("gone"), [0, [["damaged_session", 1]]])
  copy("swapped", (dir) => copyFileSync(join(dir, "domain.mrl"), join(dir, "metrics.mrl")))
  const swapped = await run(1, ["info", "swapped"])
  if (!/metrics\.mrl: a file of another session or kind/.test(swapped.stderr))
    throw new Wrong(swapped.stderr)
})

// The last reading comes with the end, whenever that is: CPU time of 10 ms a tick over a moment
// gave sixteen cores.
await test("session/record: readings stand apart, to the last", async () => {
  await run(0, ["record", "--out", "busy", "--duration", "430ms", "--", "sh", "-c",
    "while :; do :; done"])
  await holds("busy")
  const busy = (await samples("busy")).filter((s) => s.metric === "cpu.core.pct")
  for (const source of new Set(busy.map((s) => s.source))) {
    const own = busy.filter((s) => s.source === source)
    const values = own.filter((s) => s.quality === "ok").map((s) => s.value)
    if (values.length < 2 || values.some((value) => value > 200)) throw new Wrong(show(own))
    for (let i = 1; i < own.length; i++) {
      if (own[i].time_ns - own[i - 1].time_ns < 20e6) throw new Wrong(show(own.slice(i - 1, i + 1)))
    }
  }
})

await test("session/ingest says what it could not decode", async () => {
  writeFileSync(file("broken.ndjson"), "hi\n")
  const got = await run(0, ["session", "ingest", "broken.ndjson", "--out", "broken"])
  expectSame("said", got.stderr.trim(), "meridian: broken: 1 of 1 events not decoded, 1 gaps, " +
    "0 lines came too late; meridian report broken tells more")
})

await test("session/readings above the limits are stored and said", async () => {
  const line = (at) => JSON.stringify({ sourceId: `p${at}`, kind: "gpu",
    payload: { devicePct: 1 }, hostReceiveMonotonicNs: 1e9 + at * 1e6, clockDomain: "none" })
  const lines = Array.from({ length: 16390 }, (_, at) => line(at))
  writeFileSync(file("many.ndjson"), `${lines.join("\n")}\n{"kind":"stopped"}\n`)
  const got = await run(3, ["session", "ingest", "many.ndjson", "--out", "many", "--json",
    "--strict"])
  const { samples, beyondLimit } = JSON.parse(got.stdout)
  expectSame("counts", JSON.stringify([samples, beyondLimit]), "[16384,7]") // the last line is one of them
  expectSame("said", got.stderr.trim(), "meridian: many: 7 readings are above the limits of a " +
    "session (docs/sessions.md): stored, but no metric has them")
})

finish()
