// Recording real processes with the program: targets, adapters, ends of all kinds, crash and full
// disk. No test waits for a time: each waits for what must come.
import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import {
  Wrong, expectSame, finish, meridian, parseLines, program, report, show, test,
} from "./lib/run.mjs"

const demo = join(dirname(program), "meridian-demo")
const scratch = mkdtempSync(join(tmpdir(), "meridian-record-"))
const running = new Set()
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL")
  rmSync(scratch, { recursive: true, force: true })
})
const file = (name) => join(scratch, name)

async function run(code, args) {
  const got = await meridian(args, scratch)
  if (got.code !== code)
    throw new Wrong(`${args.join(" ")} ended with ${got.code}, wanted ${code}: ${got.stderr}`)
  return got
}
const json = async (args) => JSON.parse((await run(0, [...args, "--json"])).stdout.toString())
const samplesOf = async (dir) =>
  parseLines((await run(0, ["session", "samples", dir, "--json"])).stdout.toString())

/** Runs in the background; ended resolves to {code, signal, out, said}. */
function start(command, args) {
  const child = spawn(command, args, { cwd: scratch, stdio: ["ignore", "pipe", "pipe"] })
  let out = ""
  let said = ""
  child.stdout.on("data", (piece) => (out += piece))
  child.stderr.on("data", (piece) => (said += piece))
  running.add(child)
  const ended = new Promise((resolve) => child.on("close", (code, signal) => {
    running.delete(child)
    resolve({ code, signal, out, said })
  }))
  return { child, ended }
}
async function until(what, check) {
  for (let tries = 0; tries < 2000; tries++) {
    if (await check()) return
    await wait(20)
  }
  throw new Wrong(`${what} does not come`)
}
const grown = (dir, bytes) => () => {
  const path = file(`${dir}.open/raw/000001.mrl`)
  return existsSync(path) && statSync(path).size > bytes
}

async function holds(dir) {
  const verified = await json(["verify", dir])
  expectSame("verify", [verified.sound, verified.sealed, verified.damage], [true, true, null])
  const again = await json(["replay", dir])
  expectSame("replay", [again.equal, again.difference], [true, null])
  const manifest = JSON.parse(readFileSync(file(`${dir}/metrics-manifest.json`)))
  return { report: await json(["report", dir]), samples: await samplesOf(dir), manifest }
}
const rowOf = (got, metric, source) => {
  const row = got.report.metrics.find((one) => one.metric === metric && one.source.startsWith(source))
  if (row === undefined) throw new Wrong(`no ${metric} of ${source}`)
  return row
}
const gaps = (got) => got.report.gaps.map((gap) => gap.gap)

await test("record/a program, until it ends", async () => {
  const made = await run(0, ["record", "--json", "--every", "20ms", "--out", "program", "--", demo,
    "--frames", "60", "--fps", "60", "--burn", "50", "--quiet"])
  const result = JSON.parse(made.stdout.toString())
  expectSame("result", [result.dir, result.completed, result.gaps, result.decodeErrors],
    ["program", true, 0, 0])
  const got = await holds("program")
  const cpu = rowOf(got, "cpu.core.pct", "linux.proc.")
  if (!(cpu.count > 5 && cpu.mean > 5 && cpu.max > cpu.mean)) throw new Wrong(show(cpu))
  if (!(rowOf(got, "mem.rss.bytes", "linux.proc.").min > 100000)) throw new Wrong("memory")
  expectSame("envelopes are events", got.report.envelopes, result.events)
  const first = got.samples.find((sample) => sample.metric === "cpu.core.pct")
  expectSame("the first reading", [first.value, first.quality], [null, "warmup"])
  expectSame("target", JSON.parse(readFileSync(file("program/session.json"))).target.command[0], demo)
})

await test("record/an adapter: frames, a stall, background", async () => {
  const result = await json(["record", "--out", "frames", "--publish", "100ms", "--adapter",
    `${demo} --frames 150 --fps 100 --at 60 stall=400 --at 100 background --at 120 foreground`])
  expectSame("completed", result.completed, true)
  const got = await holds("frames")
  const [frames] = got.report.frames
  if (frames.jankCount < 1 || frames.bigJankCount < 1) throw new Wrong(show(frames))
  const times = got.samples.filter((sample) => sample.metric === "frame.time.ms")
  const words = new Set(times.map((sample) => sample.quality))
  expectSame("qualities", ["warmup", "ok", "not-foreground", "discontinuity"].every((word) =>
    words.has(word)), true)
  if (!(Math.max(...times.map((sample) => sample.value ?? 0)) >= 400)) throw new Wrong("no stall")
  expectSame("stopped, gaps", [got.report.sources.find((s) => s.source === "demo.frames").stopped,
    gaps(got)], [true, []])
})

await test("record/an adapter that crashes is started again, its streams end", async () => {
  const result = await json(["record", "--out", "crash", "--restarts", "1", "--adapter",
    `${demo} --frames 40 --fps 100 --at 20 crash`])
  expectSame("completed", result.completed, true)
  const got = await holds("crash")
  expectSame("gaps", gaps(got).filter((gap) => gap === "stop-missing").length, 2)
  const times = got.samples.filter((sample) => sample.metric === "frame.time.ms")
  const breaks = times.filter((sample) => sample.quality === "discontinuity")
  const raw = await Promise.all(breaks.map((sample) =>
    json(["session", "raw", "crash", `${sample.seq}`])))
  expectSame("the break is the new connection's first frame",
    [raw.length, raw[0]?.reconnectGeneration], [1, 1])
  const strict = await run(3, ["record", "--out", "strict", "--strict", "--adapter", "exit 3"])
  expectSame("stdout", strict.stdout.toString(), "strict\n")
  expectSame("gaps", gaps(await holds("strict")), ["stop-missing"])
})

await test("record/garbage, single bytes, a cut last line", async () => {
  const result = await json(["record", "--out", "garbage", "--adapter",
    `${demo} --frames 40 --fps 200 --one-byte --at 5 garbage --at 10 nul --at 15 utf8 ` +
      "--at 20 long=3000000 --no-newline", "--adapter", "printf '{\"sourceId\":\"cut\",\"ki'"])
  const got = await holds("garbage")
  expectSame("decode errors", [got.report.decodeErrors, result.decodeErrors], [8, 8])
  expectSame("frames", got.report.frames[0].frames >= 39, true)
  expectSame("gaps", gaps(got).sort(), ["record-cut", "stop-missing"])
})

await test("record/an adapter is not the publisher", async () => {
  const lines = [{ sourceId: "publisher", kind: "tick", payload: {} },
    { sourceId: "own", kind: "x", payload: {} }, { kind: "stopped" }]
  const result = await json(["record", "--out", "publisher", "--publish", "1h", "--adapter",
    `printf '%s\\n' ${lines.map((line) => `'${JSON.stringify(line)}'`).join(" ")}`])
  expectSame("decode errors", result.decodeErrors, 1)
  const got = await holds("publisher")
  const raws = await Promise.all([1, 2, 3].map((seq) => json(["session", "raw", "publisher", `${seq}`])))
  if (!raws.some((raw) => /publisher, allowed is any other name/.test(JSON.stringify(raw))))
    throw new Wrong(show(raws))
  expectSame("envelopes, its end included", got.manifest.sources.own.envelopes, 2)
})

await test("record/the machine", async () => {
  const result = await json(["record", "--host", "--every", "50ms", "--duration", "1s", "--out",
    "host"])
  expectSame("completed", result.completed, true)
  const got = await holds("host")
  const total = Number(/MemTotal: +(\d+)/.exec(readFileSync("/proc/meminfo", "utf8"))[1]) * 1024
  expectSame("memory", rowOf(got, "sys.mem.total.bytes", "linux.host").last, total)
  const cpu = rowOf(got, "sys.cpu.norm.pct", "linux.host")
  if (!(cpu.mean >= 0 && cpu.count > 0)) throw new Wrong(show(cpu))
})

await test("record/Ctrl+C ends it as sealed, the process goes on", async () => {
  const target = start(demo, ["--frames", "100000", "--quiet"])
  const recorder = start(program, ["record", "--pid", `${target.child.pid}`, "--every", "10ms",
    "--out", "asked"])
  await until("records", grown("asked", 20000))
  expectSame("being recorded", (await json(["session", "list", "."])).sessions.find((one) =>
    one.name === "asked").state, "recording")
  const live = await json(["report", "asked"])
  if (!(live.envelopes > 0)) throw new Wrong("no report while it is recorded")
  const busy = await run(1, ["session", "recover", "asked"])
  if (!/is being recorded/.test(busy.stderr)) throw new Wrong(busy.stderr)
  recorder.child.kill("SIGINT")
  const end = await recorder.ended
  expectSame("end", [end.code, end.out, target.child.exitCode], [0, "asked\n", null])
  target.child.kill("SIGKILL")
  await holds("asked")
})

await test("record/kill -9: a valid prefix is recovered, twice the same", async () => {
  const recorder = start(program, ["record", "--every", "5ms", "--publish", "50ms", "--out",
    "killed", "--adapter", `${demo} --frames 100000 --fps 200`, "--host"])
  await until("records", grown("killed", 300000))
  recorder.child.kill("SIGKILL")
  await recorder.ended
  expectSame("folders", [existsSync(file("killed")), existsSync(file("killed.open"))], [false, true])
  const before = await json(["verify", "killed"])
  expectSame("before", [before.sealed, before.state], [false, "incomplete"])
  const open = await samplesOf("killed")
  if (!(open.length > 100)) throw new Wrong(`${open.length} samples without a seal`)
  expectSame("state", (await json(["session", "list", "."])).sessions.find((one) =>
    one.name === "killed").state, "unsealed")
  const found = await json(["session", "recover", "killed"])
  if (!(found.records > 100)) throw new Wrong(show(found))
  const got = await holds("killed")
  expectSame("state", [got.manifest.state, got.manifest.reasons], ["incomplete", ["crash"]])
  expectSame("samples", got.samples, open)
  const files = () => readdirSync(file("killed"), { recursive: true }).sort().map((name) =>
    [name, statSync(file(`killed/${name}`)).isFile() && readFileSync(file(`killed/${name}`)).toString("base64")])
  const first = files()
  expectSame("again", (await json(["session", "recover", "killed"])).wasSealed, true)
  expectSame("bytes", JSON.stringify(files()) === JSON.stringify(first), true)
})

await test("record/no room on the disk: said, kept, recovered", async () => {
  const said = JSON.stringify({ sourceId: "y", kind: "k", payload: { text: "y".repeat(500) } })
  const recorder = start("sh", ["-c", `ulimit -f 40000; exec "$0" record --out full --adapter "$1"`,
    program, `yes '${said}'`])
  const end = await recorder.ended
  expectSame("exit", end.code, 1)
  if (!/^meridian: full\.open\/raw\/000001\.mrl: .*too large$/m.test(end.said) ||
    !/^meridian: full\.open holds .*meridian session recover full$/m.test(end.said))
    throw new Wrong(end.said)
  expectSame("folders", [existsSync(file("full")), existsSync(file("full.open"))], [false, true])
  await run(0, ["session", "recover", "full"])
  const got = await holds("full")
  expectSame("state", got.manifest.reasons, ["crash"])
  if (!(got.report.envelopes > 100)) throw new Wrong(show(got.report.envelopes))
})

await test("record/wrong use", async () => {
  for (const [code, args, said] of [
    [2, [], /needs --pid, --host, --adapter or a program/],
    [2, ["--pid", "0"], /--pid/],
    [2, ["--host", "--every", "0ms"], /--every: "0ms", allowed is a time from 1 ms on/],
    [2, ["--host", "--every", "fast"], /--every: "fast"/],
    [1, ["--pid", "4194303", "--out", "none"], /4194303/],
    [1, ["--out", "none", "--", "no-such-program"], /no-such-program/],
  ]) {
    const got = await run(code, ["record", ...args])
    if (!said.test(got.stderr)) throw new Wrong(`${args.join(" ")}: ${got.stderr}`)
  }
  expectSame("no folder", [existsSync(file("none")), existsSync(file("none.open"))], [false, false])
})

await test("record/the data folder, the line while it runs", async () => {
  const args = ["record", "--host", "--duration", "1s", "--publish", "100ms", "--data", "data"]
  const quoted = [program, ...args].map((arg) => `'${arg}'`).join(" ")
  if (!existsSync("/usr/bin/script")) return "there is no script(1) to give it a terminal"
  const { code, out } = await start("script", ["-qec", quoted, "/dev/null"]).ended
  expectSame("exit", code, 0)
  if (!/\d s {2}\d+ events\/s {2}gaps 0 .*linux\.host live/.test(out)) throw new Wrong(show(out))
  const { sessions } = await json(["session", "list", "--data", "data"])
  expectSame("listed", [sessions.length, sessions[0].state], [1, "completed"])
  await holds(`data/sessions/${sessions[0].name}`)
})

if (!existsSync(demo)) report("FAIL", "record", `${demo} was not built`)
finish()
