// Sessions over HTTP through the real server: list, report in its forms, samples, raw bytes, the
// live stream of a recording that runs in another process, refusals.
import { spawn, spawnSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { expectSame, finish, program, show, test, Wrong } from "./lib/run.mjs"

const scratch = mkdtempSync(join(tmpdir(), "mrd-sessions-"))
const folder = join(scratch, "data/sessions")
mkdirSync(folder, { recursive: true })
const started = new Set()

async function serve(args) {
  const child = spawn(program, ["serve", "--listen", "127.0.0.1:0", ...args],
    { stdio: ["ignore", "pipe", "inherit"] })
  started.add(child)
  const url = await new Promise((resolve, reject) => {
    child.stdout.on("data", (part) => {
      const found = /(http:\/\/\S+)/.exec(String(part))
      if (found) resolve(found[1].replace(/\/$/, ""))
    })
    child.on("exit", (code) => reject(new Wrong(`the server ended with ${code}`)))
  })
  const ask = async (path, accept = "application/json") => {
    const reply = await fetch(url + path, { headers: { accept } })
    return { status: reply.status, type: reply.headers.get("content-type"),
      text: await reply.text() }
  }
  const get = async (path) => {
    const reply = await ask(path)
    if (reply.status !== 200) throw new Wrong(`${path} answers ${reply.status} ${reply.text}`)
    return JSON.parse(reply.text)
  }
  const stop = () => new Promise((resolve) => {
    child.removeAllListeners("exit")
    child.on("exit", (code) => {
      started.delete(child)
      resolve(code)
    })
    child.kill("SIGTERM")
  })
  return { url, ask, get, stop }
}

function cli(...args) {
  const got = spawnSync(program, args, { encoding: "utf8" })
  if (got.status !== 0) throw new Wrong(`meridian ${args.join(" ")}: ${got.stderr}`)
  return got.stdout
}

/** Seconds of a gauge; null is a reading without a value. */
function ingest(name, values, source = "bench") {
  const lines = values.map((value, i) => JSON.stringify({ sourceId: source, kind: "proc.gauge",
    hostReceiveMonotonicNs: (i + 1) * 1e9, clockDomain: "none", payload: { cpuUsage: value } }))
  writeFileSync(join(scratch, `${name}.ndjson`), `${lines.join("\n")}\n{"kind":"stopped"}\n`)
  cli("session", "ingest", join(scratch, `${name}.ndjson`), "--out", join(folder, name))
}

ingest("one", [0, 10, 0, null, 30.5, 20, ...Array.from({ length: 100 }, (_, i) => i)])
ingest("two <&", [1, 2, 3])
mkdirSync(join(folder, "no session"))
const server = await serve(["--data", join(scratch, "data")])

await test("sessions/list", async () => {
  const { sessions, skipped } = await server.get("/api/sessions")
  expectSame("names", sessions.map((one) => one.name).sort(), ["one", "two <&"])
  expectSame("skipped", skipped, 1)
  expectSame("state", sessions.map((one) => one.state), ["completed", "completed"])
})

await test("sessions/info and report", async () => {
  const info = await server.get("/api/sessions/one")
  expectSame("state", [info.name, info.state, info.reasons], ["one", "completed", []])
  expectSame("manifest", info.manifest.state, "completed")
  const row = info.report.metrics.find((one) => one.metric === "cpu.core.pct")
  expectSame("a reading without a value is not one of 0", [row.readings, row.count, row.min],
    [106, 104, 0])
  const stored = readFileSync(join(folder, "one/report.json"), "utf8")
  expectSame("JSON is the stored report", (await server.ask("/api/sessions/one/report")).text,
    stored)
  for (const [form, type] of [["html", "text/html"], ["md", "text/markdown"],
    ["text", "text/plain"]]) {
    const reply = await server.ask(`/api/sessions/two%20%3C%26/report?format=${form}`, "*/*")
    expectSame(`type of ${form}`, [reply.status, reply.type], [200, `${type}; charset=utf-8`])
    expectSame(`${form} as the command prints it`, reply.text,
      cli("report", join(folder, "two <&"), "--format", form))
  }
})

await test("sessions/samples", async () => {
  const lines = async (query) => (await server.ask(`/api/sessions/one/samples${query}`)).text
    .split("\n").filter((line) => line !== "").map((line) => JSON.parse(line))
  const all = await lines("")
  expectSame("all as the command prints them", all.map((one) => JSON.stringify(one)),
    cli("session", "samples", join(folder, "one"), "--json").split("\n").filter((l) => l !== "")
      .map((line) => JSON.stringify(JSON.parse(line))))
  expectSame("null is null", all.find((one) => one.seq === 4).value, null)
  const part = await lines("?metrics=cpu.core.pct&start_ns=2000000000&end_ns=5000000000")
  expectSame("a range", part.map((one) => [one.seq, one.value, one.quality]),
    [[2, 10, "ok"], [3, 0, "ok"], [4, null, "missing"]])
  const thin = await lines("?metrics=cpu.core.pct&buckets=4")
  if (thin.length > 4 * 5 || thin.length < 8) throw new Wrong(`${thin.length} thinned samples`)
  for (const one of thin)
    if (!all.some((other) => show(other) === show(one))) throw new Wrong(`made up: ${show(one)}`)
  expectSame("the greatest stays", Math.max(...thin.map((one) => one.value ?? 0)), 99)
  const arrow = await server.ask("/api/sessions/one/samples?buckets=4",
    "application/vnd.apache.arrow.stream")
  expectSame("Arrow", [arrow.status, arrow.type], [200, "application/vnd.apache.arrow.stream"])
})

await test("sessions/raw bytes of a sample", async () => {
  const text = readFileSync(join(scratch, "one.ndjson"), "utf8").split("\n")
  const raw = await server.get("/api/sessions/one/raw/5")
  expectSame("the line as it came", [raw.seq, Buffer.from(raw.base64, "base64").toString()],
    [5, text[4]])
})

await test("sessions/refusals", async () => {
  for (const [path, status, code] of [
    ["/api/sessions/none", 404, "no_session"], ["/api/sessions/no%20session", 404, "no_session"],
    ["/api/sessions/..%2Fsessions%2Fone", 404, "no_session"],
    ["/api/sessions/none/events", 404, "no_session"],
    ["/api/sessions/one/raw/0", 404, "no_such_sequence"],
    ["/api/sessions/one/raw/9999", 404, "no_such_sequence"],
    ["/api/sessions/one/samples?buckets=-1", 400, "bad_parameter"],
    ["/api/sessions/one/samples?buckets=4&start_ns=1", 400, "bad_parameter"],
    ["/api/sessions/one/samples?start_ns=5&end_ns=1", 400, "bad_parameter"],
    ["/api/sessions/one/samples?more=1", 400, "bad_parameter"],
    ["/api/sessions/one/report?format=pdf", 400, "bad_parameter"],
  ]) {
    const reply = await server.ask(path)
    const error = JSON.parse(reply.text).error
    expectSame(path, [reply.status, error?.code], [status, code])
  }
  const bare = await serve(["--data", join(scratch, "other")])
  expectSame("no folder yet", await bare.get("/api/sessions"), { sessions: [], skipped: 0,
    recordings: [], failed: [] })
  await bare.stop()
})

/* ---- Live ---- */

/** Events of a stream until `enough` says so, or it ends. */
async function events(at, name, enough = () => false) {
  const control = new AbortController()
  const reply = await fetch(`${at.url}/api/sessions/${name}/events`, { signal: control.signal })
  expectSame("type", reply.headers.get("content-type"), "text/event-stream")
  const got = []
  let text = ""
  for await (const part of reply.body.pipeThrough(new TextDecoderStream())) {
    text += part
    const whole = text.split("\n\n")
    text = whole.pop()
    for (const one of whole)
      if (one.startsWith("data: ")) got.push(JSON.parse(one.slice(6)))
    if (enough(got)) {
      control.abort()
      break
    }
  }
  return got
}

await test("sessions/live", async () => {
  const recorder = spawn(program, ["record", "--out", join(folder, "now"), "--every", "20ms",
    "--publish", "200ms", "--", "sh", "-c", "while :; do :; done"], { stdio: "ignore" })
  const over = new Promise((resolve) => recorder.on("exit", resolve))
  for (let tries = 0; (await server.ask("/api/sessions/now")).status !== 200; tries++) {
    if (tries > 400) throw new Wrong("the recording does not begin")
    await wait(25)
  }
  expectSame("state", (await server.get("/api/sessions/now")).state, "recording")
  const cpu = (list) => {
    const ids = new Set(list.filter((one) => one.type === "series" && one.metric === "cpu.core.pct")
      .map((one) => one.id))
    return list.filter((one) => one.type === "frame")
      .flatMap((one) => one.values.filter((value) => ids.has(value[0])))
  }
  const first = await events(server, "now", (list) => cpu(list).filter((v) => v[1] > 0).length > 3)
  if (cpu(first).some((value) => (value[1] === null) === (value[2] === "ok")))
    throw new Wrong("a value without ok, or ok without a value")
  // Who comes later gets all series and the newest frame, not every frame that was.
  let ending = false
  const later = await events(server, "now", (list) => {
    if (!ending && list.some((one) => one.type === "frame")) {
      ending = true
      recorder.kill("SIGINT")
    }
    return false
  })
  await over
  expectSame("the end", later.at(-1), { type: "end", state: "completed" })
  const frames = later.filter((one) => one.type === "frame")
  const sequences = frames.map((one) => one.seq)
  expectSame("in order, each once", sequences, [...new Set(sequences)].sort((a, b) => a - b))
  // What was told live is what the sealed session holds.
  const report = (await server.get("/api/sessions/now")).report
  const series = later.filter((one) => one.type === "series")
  expectSame("series as in the report",
    series.map((one) => [one.metric, one.source, one.key, one.unit]),
    report.metrics.map((one) => [one.metric, one.source, one.key, one.unit]))
  expectSame("replays", cli("replay", join(folder, "now")).startsWith("equal"), true)
})

await test("sessions/live of a sealed session", async () => {
  const list = await events(server, "one")
  expectSame("kinds", list.map((one) => one.type), ["series", "series", "end"])
})

await test("sessions/what a crash left", async () => {
  const recorder = spawn(program, ["record", "--out", join(folder, "crash"), "--every", "20ms",
    "--", "sleep", "60"], { stdio: "ignore" })
  const over = new Promise((resolve) => recorder.on("exit", resolve))
  await (async () => {
    for (let tries = 0; tries < 400; tries++) {
      const reply = await server.ask("/api/sessions/crash/report")
      if (reply.status === 200 && JSON.parse(reply.text).envelopes > 20) return
      await wait(25)
    }
    throw new Wrong("the recording does not begin")
  })()
  recorder.kill("SIGKILL")
  await over
  const info = await server.get("/api/sessions/crash")
  expectSame("state", [info.state, info.manifest, info.report], ["unsealed", null, null])
  const html = await server.ask("/api/sessions/crash/report?format=html", "*/*")
  if (!html.text.includes("not sealed: not completed")) throw new Wrong("it is not said")
})

await test("sessions/a server that stops lets live streams go", async () => {
  const other = await serve(["--data", join(scratch, "data")])
  const stream = events(other, "crash", () => false).catch(() => [])
  await wait(100)
  expectSame("exit code", await other.stop(), 0)
  await stream
})

await test("sessions/a damaged session says so", async () => {
  cpSync(join(folder, "one"), join(folder, "bad"), { recursive: true })
  const path = join(folder, "bad/metrics.mrl")
  const bytes = readFileSync(path)
  bytes[bytes.length - 30] ^= 1
  rmSync(path)
  writeFileSync(path, bytes)
  const reply = await server.ask("/api/sessions/bad/samples")
  expectSame("samples", [reply.status, JSON.parse(reply.text).error.code], [422, "damaged"])
})

await server.stop()
for (const child of started) child.kill("SIGKILL")
rmSync(scratch, { recursive: true, force: true })
finish()
