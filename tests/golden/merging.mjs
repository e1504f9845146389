// Many files as one trace: archives made here, damaged ones too; any order of arguments and any
// number of threads give the same bytes; a manifest's errors; clocks by command and by HTTP.
import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { tar, zip } from "./lib/archive.mjs"
import {
  Wrong, dump, expectSame, finish, info, lossCounts, meridian, parseExact, pool, program, test,
} from "./lib/run.mjs"

const folder = mkdtempSync(join(tmpdir(), "meridian-merging-"))
process.on("exit", () => rmSync(folder, { recursive: true, force: true }))
const put = (name, bytes) => writeFileSync(join(folder, name), bytes)

async function run(args) {
  const done = await meridian(args, folder)
  if (done.code !== 0) throw new Wrong(`${args[0]} ended with ${done.code}: ${done.stderr.trim()}`)
  return done.stdout
}

const event = (name, ts, more = {}) => ({ ph: "X", name, pid: 1, tid: 1, ts, dur: 10, ...more })
const trace = (...events) => JSON.stringify({ traceEvents: events })
const names = async (files, extra) => (await dump("slice", files, folder, extra)).map((row) => row.name)

// ---- Archives ----

await test("merging/archives inside one another", async () => {
  const inner = tar([["deep.json", trace(event("deep", 3))]])
  put("nest.zip", zip([["b.json.gz", gzipSync(trace(event("b", 2)))], ["in/inner.tar.gz",
    gzipSync(inner)], ["in/a.json", trace(event("a", 1))], [".hidden/x.json", "[]"],
    ["readme.txt", "text"]]))
  expectSame("slices", await names(["nest.zip"]), ["a", "b", "deep"])
  const files = (await dump("trace_file", ["nest.zip"], folder)).map((row) =>
    [row.path, row.format, row.parent])
  expectSame("files", files, [
    ["nest.zip", "zip", null], ["nest.zip/in/inner.tar.gz", "tar", 0],
    ["nest.zip/in/inner.tar.gz/deep.json", "chrome_json", 1],
    ["nest.zip/b.json.gz", "chrome_json", 0], ["nest.zip/in/a.json", "chrome_json", 0],
    ["nest.zip/readme.txt", "unknown", 0]])
  expectSame("losses", lossCounts(await dump("loss", ["nest.zip"], folder)),
    { hidden_member: 1, unknown_member: 1 })
})

await test("merging/a cut zip opens up to the cut", async () => {
  const whole = zip([["a.json", trace(event("a", 1))], ["b.json", trace(event("b", 2))]], false)
  put("cut.zip", whole.subarray(0, whole.indexOf('"name":"b"')))
  const losses = await dump("loss", ["cut.zip"], folder)
  expectSame("first slice", (await names(["cut.zip"]))[0], "a")
  if (!losses.some((loss) => loss.name === "damaged_archive")) throw new Wrong("no damaged_archive")
})

await test("merging/a damaged member says so, the others open", async () => {
  const bytes = zip([["a.json", trace(event("a", 1))], ["b.json", trace(event("b", 2))]], false)
  bytes[bytes.indexOf('"name":"a"') + 8] = 0x7a
  put("crc.zip", bytes)
  const losses = await dump("loss", ["crc.zip"], folder)
  expectSame("losses", losses.map((loss) => [loss.name, loss.file]),
    [["damaged_archive", "crc.zip/a.json"]])
  expectSame("slices", (await names(["crc.zip"])).at(-1), "b")
})

await test("merging/a cut tar opens up to the cut", async () => {
  const whole = tar([["a.json", trace(event("a", 1))], ["b.json", trace(event("b", 2))]])
  put("cut.tar", whole.subarray(0, 1100))
  expectSame("slices", await names(["cut.tar"]), ["a"])
})

await test("merging/an archive without a trace is refused", async () => {
  put("none.zip", zip([["readme.txt", "text"]]))
  const done = await meridian(["info", "none.zip"], folder)
  expectSame("exit code", done.code, 1)
  if (!/none\.zip: no trace among its 1 members.*Chrome Trace/.test(done.stderr))
    throw new Wrong(done.stderr)
})

// ---- Ranks ----

await test("merging/64 ranks in one archive", async () => {
  const members = []
  await pool(Array.from({ length: 64 }, (_, rank) => rank), async (rank) => {
    const bytes = await run(["gen", "chrome-json", "-n", "500", "--seed", String(rank + 1)])
    const text = `{"distributedInfo":{"rank":${rank},"world_size":64},${bytes.toString().slice(1)}`
    members.push([`rank-${rank}.json`, rank % 2 ? text : gzipSync(text), rank])
  })
  put("ranks.zip", zip(members.map(([name, bytes, rank]) => [rank % 2 ? name : `${name}.gz`, bytes])))
  const machines = await dump("machine", ["ranks.zip"], folder)
  expectSame("machines", machines.map((row) => row.name).sort(),
    Array.from({ length: 64 }, (_, rank) => `rank ${rank}`).sort())
  const clocks = parseExact((await run(["clocks", "--json", "ranks.zip"])).toString())
  expectSame("files", clocks.files.length, 64)
  expectSame("reached", clocks.clocks.filter((clock) => !clock.reached), [])
  expectSame("assumed", clocks.files.filter((file) => file.assumed).length, 63)
  const { counts } = await info(["ranks.zip"], folder)
  const alone = await pool(members, async ([name, bytes]) => {
    put(`alone-${name}`, bytes)
    return (await info([`alone-${name}`], folder)).counts.slice
  })
  expectSame("slices", counts.slice, alone.reduce((sum, count) => sum + count, 0))
})

await test("merging/collectives", async () => {
  const kernel = (ts, dur, seq) => event("ncclDevKernel_AllReduce", ts,
    { dur, args: { "Collective name": "allreduce", Seq: seq } })
  put("rank0.json", trace(kernel(1000, 500, 0), kernel(3000, 400, 1), kernel(5000, 600, 2)))
  put("rank1.json", trace(kernel(11561300, 200.2, 0), kernel(11562900, 500, 1),
    kernel(11565100, 499.8, 2)))
  const args = ["--align", "collectives", "rank1.json", "rank0.json"]
  const [, second] = parseExact((await run(["clocks", "--json", ...args])).toString()).files
  expectSame("shift", [second.shift_ns, second.pairs, second.residual_ns],
    [-11560000000, 3, { min: -200, max: 200 }])
  const starts = (await dump("slice", args, folder)).map((row) => row.ts_ns)
  expectSame("starts", starts, [1000000, 1300000, 2900000, 3000000, 5000000, 5100000])
  const first = await dump("slice", ["--align", "start", "rank1.json", "rank0.json"], folder)
  expectSame("starts by start", first.slice(0, 2).map((row) => row.ts_ns), [1000000, 1000000])
})

await test("merging/collectives of HCCL, by their names", async () => {
  const hcom = (name, ts, dur) => event(name, ts, { dur })
  put("npu0.json", trace(hcom("hcom_allReduce__868_0_1", 10, 5), hcom("hcom_allReduce__868_1_1", 20, 5),
    hcom("hcom_allReduce_", 1, 2), hcom("hcom_allGather__7_0_1", 40, 2), event("other__868_0_1", 3)))
  put("npu1.json", trace(hcom("hcom_allReduce__868_1_1", 523.5, 2), event("other__868_0_1", 100),
    hcom("hcom_allReduce__868_0_1", 513, 2), hcom("hcom_allReduce_", 900, 2),
    hcom("hcom_allGather__7_0_1", 541, 2)))
  const args = ["--align", "collectives", "npu0.json", "npu1.json"]
  const [, second] = parseExact((await run(["clocks", "--json", ...args])).toString()).files
  expectSame("shift", [second.shift_ns, second.pairs, second.residual_ns],
    [-500500, 3, { min: -500, max: 500 }])
})

await test("merging/no collectives in common are told", async () => {
  put("none0.json", trace(event("a", 1)))
  put("none1.json", trace(event("b", 1)))
  const text = (await run(["clocks", "--align", "collectives", "none0.json", "none1.json"])).toString()
  if (!text.endsWith("align    no two files share a collective: nothing is shifted\n"))
    throw new Wrong(text)
})

// ---- Determinism ----

const CHUNK = 256 << 10 // of the reader of JSON (MRD__CJ_CHUNK)

/** Four inputs with errors, the first with some in every chunk that a reader takes; the orders. One
 * event begins at `from` us: protobuf has no times below zero. */
async function damaged(from) {
  const lines = (await run(["gen", "chrome-json", "-n", "60000"])).toString().split("\n")
  const wrong = '{"ph":"X","ts":"no number"},{"ph":"X","pid":1,"tid":1,"ts":5,"dur":oops,"name":"n"},'
  for (let i = 500; i < lines.length; i += 2000) lines[i] = wrong + lines[i]
  const text = lines.join("\n")
  put("big.json", text)
  put("b.json", trace(event("b", from), { ph: "E", pid: 1, tid: 1, ts: 7 }, event("late", 1e9)))
  put("c.json.gz", gzipSync(`${trace(event("c", 1)).slice(0, -5)}`))
  put("d.zip", zip([["x.json", trace(event("x", 2), { ph: "B", name: "open", pid: 1, tid: 1, ts: 3 })],
    ["broken.bin", "\x01\x02"], ["y.tar", tar([["z.json", trace(event("z", 9))]]).subarray(0, 1300)]]))
  for (let at = 0; at < text.length; at += CHUNK) {
    const chunk = text.slice(at, at + CHUNK)
    if (chunk.length === CHUNK && !chunk.includes("no number")) throw new Wrong(`no error at ${at}`)
  }
  const count = text.split("no number").length - 1
  expectSame("losses", lossCounts(await dump("loss", ["big.json"], folder)),
    { bad_timestamp: count, syntax_error: count })
  const files = ["big.json", "b.json", "c.json.gz", "d.zip"]
  return [files, [...files].reverse(), ["d.zip", "big.json", "c.json.gz", "b.json"],
    ["c.json.gz", "d.zip", "b.json", "big.json"]]
}

const hashOf = (bytes) => createHash("sha256").update(bytes).digest("hex")

/** What differs between orders and numbers of threads: each of `whats` with 1 to 8 of them. */
async function differing(whats, orders, hash) {
  const asks = []
  for (const what of whats)
    for (let threads = 1; threads <= 8; threads++)
      asks.push([what, threads, orders[threads % orders.length]])
  const seen = new Map()
  await pool(asks, async ([what, threads, order]) => {
    const one = await hash(what, ["--threads", String(threads), ...order], threads)
    seen.set(what, (seen.get(what) ?? new Set()).add(one))
  })
  return [...seen].filter(([, hashes]) => hashes.size > 1).map(([what]) => what)
}

await test("merging/any order of arguments, any number of threads", async () => {
  const tables = ["slice", "args", "instant", "counter", "flow", "process", "thread", "track",
    "track_origin", "metadata", "loss", "trace_file", "clock_snapshot", "machine"]
  expectSame("tables that differ", await differing(tables, await damaged(-5), async (table, args) =>
    hashOf(await run(["dump", "--table", table, ...args]))), [])
})

await test("merging/any order, any number of threads: all forms of convert", async () => {
  const forms = ["json", "pftrace", "parquet", "arrow", "folder"]
  expectSame("forms that differ", await differing(forms, await damaged(5), async (form, args, n) => {
    const out = form === "folder" ? `out-${n}/` : `out-${n}.${form}`
    await run(["convert", ...args, out])
    const path = join(folder, out)
    if (form !== "folder") return hashOf(readFileSync(path))
    return readdirSync(path).sort().map((name) => `${name} ${hashOf(readFileSync(join(path, name)))}`)
      .join("\n")
  }), [])
})

// ---- Manifests ----

const manifest = (inside, key = "meridian_manifest") =>
  JSON.stringify({ [key]: { version: 1, ...inside } })
const sync = (offset_ns) => ({ clocks: { sync_to: { file: "a.json" }, offset_ns } })

await test("merging/a manifest beside the command", async () => {
  put("a.json", trace(event("a", 1)))
  put("b.json", trace(event("b", 1)))
  put("m.json", manifest({ files: [{ path: "a.json" }, { path: "b.json", ...sync(250),
    machine: { name: "other" } }], attributes: { run: 7 } }))
  const rows = await dump("slice", ["b.json", "a.json", "--manifest", "m.json"], folder)
  expectSame("times", rows.map((row) => [row.name, row.ts_ns]), [["a", 1000], ["b", 1250]])
  expectSame("metadata", await dump("metadata", ["b.json", "a.json", "m.json"], folder),
    [{ key: "manifest_attribute.run", value: 7 }])
})

await test("merging/flow ids meet where the manifest says so", async () => {
  const flow = (ph, ts) => ({ ph, bp: "e", id: 5, cat: "c", name: "f", pid: 1, tid: 1, ts })
  put("fa.json", trace(event("a1", 1), flow("s", 2)))
  put("fb.json", trace(event("b1", 20), flow("f", 21)))
  put("flows.json", manifest({ flow_scope: "global" }))
  const flows = await dump("flow", ["fb.json", "fa.json", "--manifest", "flows.json"], folder)
  expectSame("flows", flows.map((row) => [row.from_name, row.to_name]), [["a1", "b1"]])
  expectSame("without", await dump("flow", ["fb.json", "fa.json"], folder), [])
})

const p = "meridian_manifest"
const wrongs = [
  [JSON.stringify({ [p]: {} }), `$.${p}.version is missing, allowed is 1`],
  [manifest({ trace_time: { clock: "TAI" } }), `$.${p}.trace_time.clock is "TAI", allowed is one of`],
  [manifest({ trace_time: { clock: "BOOTTIME", file: "x" } }),
    `$.${p}.trace_time.file is "x", allowed is a path that stands in files`],
  [manifest({ files: {} }), `$.${p}.files is {}, allowed is an array`],
  [manifest({ files: [{}] }), `$.${p}.files[0].path is missing`],
  [manifest({ files: [{ path: "a.json" }, { path: "a.json" }] }),
    `$.${p}.files[1].path is "a.json", allowed is each path once`],
  [manifest({ files: [{ path: "nowhere.json" }] }),
    `$.${p}.files[0].path is "nowhere.json", which is not there, allowed are the files a.json`],
  [manifest({ files: [{ path: "a.json", machine: { name: "" } }] }),
    `$.${p}.files[0].machine.name is "", allowed is a text that is not empty`],
  [manifest({ files: [{ path: "a.json", machines: [{ id: -1, name: "x" }] }] }),
    `$.${p}.files[0].machines[0].id is -1, allowed is a whole number from 0 to 4294967295`],
  [manifest({ files: [{ path: "a.json", machines: [], machine: { name: "x" } }] }),
    `$.${p}.files[0].machines is [], allowed is either machine or machines`],
  [manifest({ files: [{ path: "a.json", clocks: {} }] }),
    `$.${p}.files[0].clocks.sync_to is missing`],
  [manifest({ files: [{ path: "a.json", ...sync(1.5) }] }),
    `$.${p}.files[0].clocks.offset_ns is 1.5, allowed is a whole number`],
  [manifest({ files: [{ path: "a.json", ...sync(1) }] }),
    `$.${p}.files[0].clocks relates a clock to itself`],
  [manifest({ files: [{ path: "a.json", clocks: { sync_to: { file: "b.json" } } }] }),
    `$.${p}.files[0].clocks.sync_to.file is "b.json", allowed is a path that stands in files`],
  [manifest({ flow_scope: "all" }), `$.${p}.flow_scope is "all", allowed is "file" or "global"`],
  [manifest({ attributes: { a: [] } }), `$.${p}.attributes.a is [], allowed is a text or a whole`],
  [manifest({ file: [] }), `$.${p} has the member "file", allowed are version, trace_time, files`],
  [`{"${p}": {"version": 1,}}`, "line 1, column"],
  ["[]", "no manifest but chrome_json"],
]
await test("merging/every error of a manifest says where and what is allowed", async () => {
  put("a.json", trace(event("a", 1)))
  const bad = []
  await pool(wrongs, async ([text, want], at) => {
    put(`wrong-${at}.json`, text)
    const done = await meridian(["info", "a.json", "--manifest", `wrong-${at}.json`], folder)
    if (done.code !== 1 || !done.stderr.includes(want) || done.stdout.length > 0)
      bad.push(`${want}: ended with ${done.code}, ${done.stderr.trim()}`)
  })
  if (bad.length > 0) throw new Wrong(bad.join("; "))
})

await test("merging/unknown members of the peer's manifest are ignored", async () => {
  put("peer.json", manifest({ whatever: 1, files: [{ path: "a.json", colour: "red" }] },
    "perfetto_manifest"))
  expectSame("slices", await names(["a.json", "--manifest", "peer.json"]), ["a"])
})

// ---- HTTP ----

/** A server on these files; ask(path, body?) gives [status, document]. */
async function serve(files, body) {
  const child = spawn(program, ["open", "--no-browser", ...files], { cwd: folder })
  try {
    const address = await new Promise((resolve, reject) => {
      let text = ""
      child.stdout.on("data", (bytes) => {
        text += bytes
        const found = /listening on (\S+)\n/.exec(text)
        if (found) resolve(found[1])
      })
      child.on("exit", (code) => reject(new Wrong(`open ended with ${code}`)))
    })
    await body(async (path, document) => {
      const options = document && { method: "POST", body: JSON.stringify(document),
        headers: { "Content-Type": "application/json" } }
      const reply = await fetch(`${address.replace(/\/\?.*|\/$/, "")}${path}`, options)
      return [reply.status, await reply.json()]
    })
  } finally {
    child.removeAllListeners("exit")
    child.kill("SIGTERM")
  }
}

async function ready(ask, id) {
  for (;;) {
    const [, state] = await ask(`/api/traces/${id}`)
    if (state.state !== "opening") return state
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

await test("merging/clocks and manifests by HTTP", () => serve(["a.json", "b.json"], async (ask) => {
  await ready(ask, 1)
  const [status, document] = await ask("/api/traces/1/clocks")
  expectSame("status", status, 200)
  expectSame("document", document,
    JSON.parse((await run(["clocks", "--json", "a.json", "b.json"])).toString()))
  const paths = [join(folder, "a.json"), join(folder, "b.json")]
  const inside = { version: 1, files: [{ path: "a.json" }, { path: "b.json", ...sync(77) }] }
  const [, opened] = await ask("/api/traces", { paths, manifest: { meridian_manifest: inside },
    align: "realtime", clock_interpolation: "step" })
  await ready(ask, opened.trace_id)
  const [, placed] = await ask(`/api/traces/${opened.trace_id}/clocks`)
  expectSame("offset", placed.clocks[1].path.map((hop) => [hop.source, hop.first_offset_ns]),
    [["manifest", 77]])
  expectSame("bad align", (await ask("/api/traces", { paths, align: "sideways" }))[0], 400)
}))

finish()
