// What a case file cannot say: exit codes under --strict, output that cannot be written, generators,
// results, Arrow, completion.
import { spawn, spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { eventTrace } from "./lib/parquet.mjs"
import {
  dump, expectSame, finish, info, lossCounts, meridian, parseExact, program, show, test, Wrong,
} from "./lib/run.mjs"

const scratch = mkdtempSync(join(tmpdir(), "meridian-cli-"))
const file = (name) => join(scratch, name)
const clean = '[{"ph":"X","pid":1,"tid":1,"ts":1,"dur":2,"name":"a"}]'
writeFileSync(file("clean.json"), clean)
writeFileSync(file("lossy.json"), clean.replace("]", ',{"ph":"X","pid":1,"ts":"?","dur":1}]'))
writeFileSync(file("more.json"), clean.replace('"a"', '"b"').replace('"pid":1', '"pid":2'))
writeFileSync(file("events.parquet"), eventTrace([
  { time_ns: 1, category: "link_busy", component: "l", value: 2 },
  { time_ns: 4, category: "link_idle", component: "l", value: 0 },
  { time_ns: 5, category: "ostd_change", component: "c", value: 7, detail_json: "{}" },
]))

async function exits(code, args, stderr) {
  const run = await meridian(args, scratch)
  if (run.code !== code) throw new Wrong(`${args.join(" ")} ended with ${run.code}: ${run.stderr}`)
  if (stderr !== undefined && !stderr.test(run.stderr))
    throw new Wrong(`${args.join(" ")} said ${show(run.stderr)}, wanted ${stderr}`)
  if (run.stderr.split("\n").length > 2) throw new Wrong(`more than one line: ${run.stderr}`)
  return run.stdout
}

/** One shell line with $M the program. */
function shell(line) {
  return spawnSync("sh", ["-c", line], { cwd: scratch, env: { ...process.env, M: program } })
}

await test("cli/strict", async () => {
  await exits(0, ["info", "lossy.json"])
  await exits(3, ["info", "--strict", "lossy.json"])
  await exits(3, ["dump", "--table", "slice", "--strict", "lossy.json"])
  await exits(3, ["window", "--strict", "lossy.json"])
  await exits(0, ["info", "--strict", "clean.json"])
  const out = await exits(3, ["dump", "--strict", "--table", "slice", "--json", "lossy.json"])
  expectSame("rows under --strict", out.toString().split("\n").length, 2)
})

await test("cli/several files are one trace", async () => {
  const files = ["clean.json", "more.json"]
  const rows = await dump("slice", files, scratch)
  expectSame("slices", rows.map((row) => [row.pid, row.name]), [[1, "a"], [2, "b"]])
  expectSame("files", (await info(files, scratch)).files.map((one) => one.path), files)
})

await test("cli/one unreadable of several", async () => {
  const out = await exits(1, ["dump", "--table", "slice", "clean.json", "none.json"],
    /^meridian: none\.json: /)
  expectSame("output", out.length, 0)
})

await test("cli/open and serve", async () => {
  await exits(1, ["open", "--no-browser", "none.json"], /^meridian: none\.json: /)
  await exits(2, ["serve", "file.json"], /^meridian: unexpected "file\.json"/)
  const child = spawn(program, ["open", "--no-browser", "clean.json"], { cwd: scratch })
  const line = await new Promise((resolve) => child.stdout.once("data", (data) =>
    resolve(data.toString())))
  const address = /^listening on (http:\/\/127\.0\.0\.1:\d+)\n$/.exec(line)
  if (address === null) throw new Wrong(`it printed ${show(line)}`)
  expectSame("page", (await fetch(`${address[1]}/`)).status, 200)
  const ended = new Promise((resolve) => child.once("exit", (code, signal) =>
    resolve(code ?? signal)))
  child.kill("SIGINT")
  expectSame("exit after SIGINT", await ended, 0)
})

await test("cli/gzip of several members with padding", async () => {
  const text = Buffer.from(clean)
  writeFileSync(file("members.gz"), Buffer.concat([gzipSync(text.subarray(0, 20)),
    gzipSync(Buffer.alloc(0)), gzipSync(text.subarray(20)), Buffer.alloc(100)]))
  expectSame("slices", (await dump("slice", ["members.gz"], scratch)).length, 1)
  const document = await info(["members.gz"], scratch)
  expectSame("members", document.files[0].gzip_members, 3)
  expectSame("losses", lossCounts(document.losses), { zero_padding_ignored_bytes: 100 })
})

await test("cli/gzip that is cut", async () => {
  const all = gzipSync(`[${Array.from({ length: 5000 }, (_, i) =>
    `{"ph":"X","pid":1,"tid":1,"ts":${i * 2},"dur":1,"name":"n${(i * 7919) % 1009}"}`).join(",")}]`)
  writeFileSync(file("cut.gz"), all.subarray(0, all.length / 2))
  const document = await info(["cut.gz"], scratch)
  expectSame("losses", lossCounts(document.losses), { truncated_input: 1 })
  if (document.counts.slice < 100) throw new Wrong(`only ${document.counts.slice} slices`)
})

await test("cli/full disk", async () => {
  if (!existsSync("/dev/full")) return "there is no /dev/full"
  for (const command of ["dump --table slice clean.json", "info clean.json", "--help",
    "window --json clean.json", "gen chrome-json --events 10", "help --man"]) {
    const run = shell(`"$M" ${command} >/dev/full`)
    expectSame(`exit of ${command}`, run.status, 1)
    if (!/^meridian: .*No space left on device\n$/.test(run.stderr.toString()))
      throw new Wrong(`${command} said ${show(run.stderr.toString())}`)
  }
  return undefined
})

await test("cli/reader goes away", async () => {
  await exits(0, ["gen", "chrome-json", "--events", "50000", "-o", file("many.json")])
  const run = shell('{ "$M" dump --table slice many.json; echo "code $?" >&2; } | head -n 1')
  expectSame("first line", run.stdout.toString().startsWith("id,pid"), true)
  expectSame("standard error", run.stderr.toString(), "code 1\n")
})

await test("cli/gen chrome-json: same seed, same bytes; nothing lost", async () => {
  const hash = (bytes) => createHash("sha256").update(bytes).digest("hex")
  const make = (n, seed) => exits(0, ["gen", "chrome-json", "--events", `${n}`, "--seed", `${seed}`])
  const first = await make(20000, 3)
  expectSame("second run", hash(await make(20000, 3)), hash(first))
  if (hash(await make(20000, 4)) === hash(first)) throw new Wrong("the seed changes nothing")
  expectSame("events", JSON.parse(first.toString()).traceEvents.length, 20000)
  for (const n of [0, 1, 7, 99, 100, 8000]) {
    writeFileSync(file("g.json"), await make(n, 1))
    const document = await info(["g.json"], scratch)
    expectSame(`events of ${n}`, document.files[0].events, n)
    expectSame(`losses of ${n}`, lossCounts(document.losses), {})
    expectSame(`unclosed of ${n}`, document.counts.unclosed, 0)
  }
  const phases = Object.keys((await info([file("many.json")], scratch)).files[0].phases)
  expectSame("phases", phases.sort().join(""), "BCEMXbefinst")
})

await test("cli/gen event-trace: same seed, same rows; read back", async () => {
  const rows = async (seed, name) => {
    await exits(0, ["gen", "event-trace", "--events", "5000", "--seed", seed, file(name)])
    return dump("event", [name], scratch)
  }
  const first = await rows("5", "a.parquet")
  expectSame("events", first.length, 5000)
  expectSame("second run", await rows("5", "b.parquet"), first)
  if (show(await rows("6", "c.parquet")) === show(first)) throw new Wrong("the seed changes nothing")
  expectSame("losses", (await info(["a.parquet"], scratch)).losses, [])
  const left = readdirSync(scratch).filter((name) => name.includes(".tmp-"))
  expectSame("temporary files", left, [])
})

await test("cli/gen into a folder that is not there", async () => {
  await exits(1, ["gen", "chrome-json", "--events", "5", "-o", "none/x.json"],
    /^meridian: none\/x\.json: /)
  await exits(1, ["gen", "event-trace", "--events", "5", "none/x.parquet"], /none\/x\.parquet/)
  await exits(2, ["gen", "chrome-json", "--events", "x"], /^meridian: --events: "x"/)
})

await test("cli/window: Arrow streams", async () => {
  for (const args of [["events.parquet"], ["--buckets", "4", "events.parquet"], ["clean.json"],
    ["--buckets", "4", "clean.json"]]) {
    const out = await exits(0, ["window", "--format", "arrow", ...args])
    expectSame("continuation", out.readUInt32LE(0), 0xffffffff)
    expectSame("end of stream", out.subarray(-8).toString("hex"), "ffffffff00000000")
    expectSame("alignment", out.length % 8, 0)
  }
})

await test("cli/window: --verbose says what CSV has no place for", async () => {
  const run = await meridian(["window", "--verbose", "--start-ns", "2", "--end-ns", "3",
    "events.parquet"], scratch)
  expectSame("exit", run.code, 0)
  expectSame("rows", run.stdout.toString(), "time_ns,category,component,value,detail_json\n")
  const said = Object.fromEntries(run.stderr.trimEnd().split("\n").map((line) => {
    const at = line.indexOf(": ")
    return [line.slice(0, at), JSON.parse(line.slice(at + 2))]
  }))
  expectSame("snapshot", said.snapshot, { window_start_ns: 2,
    open_intervals: [{ component: "l", category: "link_busy", since_ns: 1 }] })
  expectSame("anomalies", said.anomalies, [])
  expectSame("bounds", said.bounds, { start_ns: 1, end_ns: 5, events: 3 })
})

await test("cli/window: more rows than the limit", async () => {
  await exits(0, ["gen", "event-trace", "--events", "100001", file("large.parquet")])
  await exits(2, ["window", "large.parquet"], /100001.*100000/)
  const rows = await exits(0, ["window", "--buckets", "8", "--json", "large.parquet"])
  const total = JSON.parse(rows).rows.reduce((sum, row) => sum + row.event_count, 0)
  expectSame("events in all buckets", total, 100001)
})

await test("cli/info: text for people", async () => {
  const text = (await exits(0, ["info", "lossy.json"])).toString()
  for (const part of ["lossy.json", "chrome_json", "1 slices", "bad_timestamp: 1", "ts must be"])
    if (!text.includes(part)) throw new Wrong(`"${part}" is missing in\n${text}`)
})

await test("cli/results", async () => {
  const data = file("data")
  const store = (...args) => exits(0, ["results", ...args, "--data", data])
  const json = async (...args) => parseExact((await store(...args, "--json")).toString())
  expectSame("id", (await store("add", "events.parquet")).toString(), "1\n")
  expectSame("id", (await store("add", "events.parquet", "--experiment", "other", "--primitive",
    "allreduce", "--msg-size-bytes=1024", "--total-latency-ns", "1.5", "--topology-name",
    "ring-4")).toString(), "2\n")
  await store("add", "events.parquet", "--experiment", "other", "--total-latency-ns", "3", "--link")
  const row = await json("show", "2")
  expectSame("row", [row.id, row.primitive, row.msg_size_bytes, row.total_latency_ns,
    row.algorithm], [2, "allreduce", 1024, 1.5, null])
  expectSame("listed", (await json("list")).total, 3)
  expectSame("filtered", (await json("list", "--topology-name", "RING%")).results
    .map((one) => one.id), [2])
  const compared = await json("compare", "2", "3")
  expectSame("ratio", compared.ratios.total_latency_ns, [1, 2])
  await store("compare", "2", "3")
  await exits(1, ["results", "show", "9", "--data", data], /^meridian: .*9/)
  await exits(1, ["results", "add", "clean.json", "--data", data], /^meridian: clean\.json: /)
  await exits(2, ["results", "list", "--sort-by", "x", "--data", data], /x/)
  await exits(2, ["results", "add", "events.parquet", "--events", "x", "--data", data], /events/)
  await store("rm", "1")
  expectSame("trace of a removed result", existsSync(join(data, "traces/1/1_trace.parquet")), false)
  await store("rm", "--experiment", "other")
  expectSame("left", (await json("list")).total, 0)
  expectSame("linked file", existsSync(file("events.parquet")), true)
})

await test("cli/help of every command", async () => {
  const overview = (await exits(0, ["--help"])).toString()
  const names = [...overview.matchAll(/^ {2}([a-z-]+(?: [a-z-]+)?) {2,}/gm)].map((match) => match[1])
  if (names.length < 14) throw new Wrong(`only ${names}`)
  for (const name of names) {
    const text = (await exits(0, [...name.split(" "), "--help"])).toString()
    if (!text.startsWith(`usage: meridian ${name} `)) throw new Wrong(`${name}: ${text}`)
    expectSame(`help ${name}`, (await exits(0, ["help", ...name.split(" ")])).toString(), text)
    for (const option of ["--json", "--help", "--verbose"])
      if (!text.includes(option)) throw new Wrong(`${name} does not take ${option}`)
  }
  expectSame("version", /^meridian \d+\.\d+\.\d+\n$/.test(await exits(0, ["--version"])), true)
})

await test("cli/options after --, with = and apart", async () => {
  const one = await exits(0, ["dump", "--table=slice", "clean.json"])
  expectSame("apart", (await exits(0, ["dump", "clean.json", "--table", "slice"])), one)
  expectSame("letter", (await exits(0, ["dump", "-t", "slice", "--", "clean.json"])), one)
  await exits(1, ["dump", "--table", "slice", "--", "--json"], /^meridian: --json: /)
})

await test("cli/completion", async () => {
  writeFileSync(file("bash"), await exits(0, ["completion", "bash"]))
  const tried = spawnSync("bash", ["-c", `. ./bash
COMP_WORDS=(meridian res) COMP_CWORD=1; _meridian; echo "\${COMPREPLY[*]}"
COMP_WORDS=(meridian results c) COMP_CWORD=2; _meridian; echo "\${COMPREPLY[*]}"
COMP_WORDS=(meridian window f --buck) COMP_CWORD=3; _meridian; echo "\${COMPREPLY[*]}"`],
    { cwd: scratch })
  if (tried.error !== undefined) return "bash is not there"
  expectSame("completions", tried.stdout.toString(), "results\ncompare\n--buckets\n")
  const zsh = (await exits(0, ["completion", "zsh"])).toString()
  if (!zsh.startsWith("#compdef meridian\n")) throw new Wrong(zsh.slice(0, 80))
  return undefined
})

await test("cli/manual page is the one in docs/man", async () => {
  const made = (await exits(0, ["help", "--man"])).toString()
  const path = new URL("../../docs/man/meridian.1", import.meta.url).pathname
  if (process.argv.includes("--update")) writeFileSync(path, made)
  expectSame("docs/man/meridian.1", readFileSync(path, "utf8") === made, true)
})

rmSync(scratch, { recursive: true })
finish()
