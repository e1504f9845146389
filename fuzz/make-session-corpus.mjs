// Writes the corpora of the fuzzers of sessions: node fuzz/make-session-corpus.mjs, after a build.
// Folders come from the program itself; segments that it would need an hour for are made here.
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

function writer(target) {
  const folder = new URL(`corpus/${target}/`, import.meta.url).pathname
  mkdirSync(folder, { recursive: true })
  return (name, bytes) => writeFileSync(folder + name, bytes)
}

// ---- Lines ----

const S = 1e9
const line = (seconds, kind, payload, more = {}) => ({
  sourceId: "s", adapterSequence: seconds, hostReceiveMonotonicNs: seconds * S,
  sourceTimestamp: seconds * S, clockDomain: "own-ns", pid: 7, kind, payload, ...more,
})
const tick = (seconds) => ({ sourceId: "publisher", kind: "tick", adapterSequence: seconds,
  hostReceiveMonotonicNs: seconds * S, payload: {} })
const cpu = (seconds, cpuNs, more) => line(seconds, "proc.cpu", { cpuNs, nCpu: 2 }, more)
const frame = (ms, more = {}) => line(ms / 1000, "frame.present", { displayId: 1, ...more })
const mach = (ticks, payload) => line(ticks, "proc.cpu", payload, { clockDomain: "device-mach",
  sourceTimestamp: ticks * 24000000 })
const texts = {
  cpu: [cpu(1, 0), cpu(2, S / 2), cpu(3, S), cpu(4, 10), cpu(5, S, { pid: 8 }), { kind: "stopped" }],
  frames: [0, 16, 33, 50, 66, 190, 200, 216].map((ms) => frame(1000 + ms)),
  ticks: [cpu(1, 0), tick(1), cpu(2, 5), tick(2), tick(3), tick(9), cpu(9, 7), tick(10)],
  breaks: [cpu(1, 0, { sourceEpoch: 1 }), cpu(2, 1, { sourceEpoch: 2 }), cpu(3, 2, { targetGeneration: 2 }),
    cpu(4, 3, { reconnectGeneration: 1 }), cpu(5, 4, { schemaId: "other.v2" }),
    cpu(6, 5, { identityStatus: "mismatch" }), cpu(7, 6, { sourceRole: "compare" })],
  declared: [line(1, "engine", { gauges: { load: 2.5 }, counters: { draws: 10 },
    units: { load: "percent" }, unsupported: ["fan"] }), line(2, "engine",
    { gauges: { load: null }, counters: { draws: 3 } })],
  states: [line(1, "app.state", { foreground: true }), cpu(2, 1), line(3, "app.state",
    { foreground: false }), cpu(4, 2), line(5, "launch", { phase: "main", begin: true })],
  mach: [mach(1, { cpuNs: 5, nCpu: 1, timebase: { numer: 125, denom: 3 } }), mach(2, { cpuNs: 9, nCpu: 1 })],
  network: [line(1, "net.connection", { id: "c1", bytesIn: 5, bytesOut: 6 }), line(2,
    "net.connection", { id: "c1", bytesIn: 50, bytesOut: 60 })],
  numbers: [cpu(1, -1), cpu(2, 1e300), cpu(3, 1.5), cpu(4, 9007199254740993), cpu(5, null)],
  members: [{ ...cpu(1, 1), unknown: [1, { a: 2 }] }, { sourceId: "\u0000x", kind: "k" },
    { sourceId: "s".repeat(255), kind: "k" },
    { sourceId: "s".repeat(300), kind: "k" }, { kind: 5, sourceId: "s" }, [], 7, "text", null],
}
// Lines that are ingested: the empty line in front says so. Their times are their own.
const at = (ms) => ({ hostReceiveMonotonicNs: 1e9 + ms * 1e6, sourceTimestamp: ms * 1e6,
  adapterSequence: ms })
const says = (ms, kind, payload, more = {}) =>
  line(0, kind, payload, { ...at(ms), ...more })
const shows = (ms, more = {}) => says(ms, "frame", { displayId: 1 }, more)
const ticks = (...list) => list.map((ms) => ({ sourceId: "publisher", kind: "tick", payload: {},
  hostReceiveMonotonicNs: 1e9 + ms * 1e6, adapterSequence: ms }))
const connection = (ms, serial, rxBytes, more = {}) =>
  says(ms, "net.conn", { serial, rxBytes, txBytes: rxBytes / 2 }, more)
const even = (count, step, from = 0) => Array.from({ length: count }, (_, i) => from + i * step)
const inTime = (list) => list.sort((a, b) => a.hostReceiveMonotonicNs - b.hostReceiveMonotonicNs)
const device = { clockDomain: "device-mach" }
const noHost = { hostReceiveMonotonicNs: null }
const ingested = {
  "frames-of-a-second": inTime([...even(90, 16).map((ms) => shows(ms)),
    ...ticks(500, 1000, 1500, 2500, 9000)]),
  "janks": [0, 16, 32, 48, 148, 164, 180, 196, 496, 512, 528, 544, 1544].map((ms) => shows(ms)),
  "frames-on-two-displays": [shows(0), says(16, "frame", { displayId: "b" }), shows(32),
    says(48, "frame", { displayId: "x".repeat(300) }), says(64, "frame", {}), ...ticks(70)],
  "frames-that-go-back": [shows(50), shows(40), shows(40), shows(60),
    shows(76, { sourceEpoch: 2 }), shows(92, { sourceEpoch: 2 }), ...ticks(100)],
  "frames-without-a-time": [shows(0, { sourceTimestamp: null }), shows(16, { clockDomain: "none" }),
    shows(32, noHost), shows(48), ...ticks(60).map((one) => ({ ...one, ...noHost })), ...ticks(70)],
  "frames-of-others": [shows(0, { identityStatus: "mismatch" }), shows(16, { sourceRole: "compare" }),
    shows(32), shows(48), says(50, "app.state", { foreground: false }), shows(64), ...ticks(70),
    says(80, "app.state", { foreground: true }), shows(96), shows(112), ...ticks(1200)],
  "states": [says(0, "app.state", { foreground: true }, { pid: 0 }), shows(10),
    says(20, "proc.state", { state: "gone" }), says(30, "proc.state", { foreground: false,
      state: "s".repeat(300) }), says(40, "app.state", {}), says(50, "app.state",
      { foreground: false }, { identityStatus: "unknown" }), shows(60)],
  "frames-in-ticks": [shows(0, device), says(5, "timebase", { numer: 125, denom: 3 }),
    shows(10, device), shows(26, device), says(30, "timebase", { numer: 1, denom: 1 }),
    shows(42, device), says(50, "timebase", { numer: 0, denom: -1 }), shows(58, device),
    says(60, "timebase", { numer: 5e9, denom: "x" }), ...ticks(70)],
  "an-ended-stream": [shows(0), shows(16), says(20, "proc.gauge", { cpuUsage: 3, nCpu: 2 }),
    { sourceId: "s", kind: "stopped" }, ...ticks(100, 2000), shows(2016), shows(2032),
    { kind: "stopped" }, ...ticks(3000)],
  "launch": [says(0, "span", { startTicks: 10, endTicks: 25, name: "main" }),
    says(1, "span", { startTicks: 25, endTicks: 10, name: "back" }),
    says(2, "span", { startTicks: 1.5, endTicks: 3, name: "real" }),
    says(3, "span", { startTicks: null, endTicks: 3, name: "null" }),
    says(4, "span", { startTicks: 3, name: "open" }),
    says(5, "span", { startTicks: 3, endTicks: 4, name: "x".repeat(300) }),
    says(6, "span", { startTicks: 3, endTicks: 4, name: "none" }, { clockDomain: "none" }),
    says(7, "span", { startTicks: 3, endTicks: 4, name: "ticks" }, device),
    says(8, "timebase", { numer: 3, denom: 2 }),
    says(9, "span", { startTicks: 3, endTicks: 9, name: "ticks" }, device),
    says(10, "span", { startTicks: 3, endTicks: 9, name: "main" }, { sourceRole: "compare" })],
  "gauges": [says(0, "proc.gauge", { cpuUsage: 12.5, nCpu: 4, physFootprint: 100, cadenceNs: 1e9 }),
    says(1000, "proc.gauge", { cpuUsage: 20, nCpu: 4, physFootprint: 18446744073709551615n }),
    says(5000, "proc.gauge", { cpuUsage: -1, nCpu: 0, physFootprint: 1e300 }),
    says(6000, "proc.gauge", { cpuUsage: 1e308, nCpu: 1e-300, physFootprint: "much" }),
    says(7000, "proc.gauge", { nCpu: 2 }), says(8000, "proc.gauge", { cpuUsage: null }),
    says(9000, "proc.mem", { rssBytes: 4096, swapBytes: 0 }), ...ticks(9500, 20000),
    says(21000, "proc.gauge", { missing: "no reading" }), says(22000, "proc.gauge",
      { unsupported: "not here" }), says(23000, "sys.gauge", { CPU_TotalLoad: 5 })],
  "counters": [says(0, "proc.io", { readBytes: 5, writeBytes: 7.5 }), says(1000, "proc.io",
    { readBytes: 9, writeBytes: 8.0 }), says(1000, "proc.io", { readBytes: 10, writeBytes: 9e15 }),
  says(2000, "proc.io", { readBytes: 3, writeBytes: -4 }), says(3000, "proc.io",
    { readBytes: 18446744073709551615n, writeBytes: 1e15 }), says(4000, "proc.io", { readBytes: 1 }),
  says(5000, "host.cpu", { cpuNs: 5, nCpu: 2 }, { clockDomain: "none" }), says(6000, "host.cpu",
    { cpuNs: 9, nCpu: 2 }, { clockDomain: "none" })],
  "connections": [connection(0, "a", 10), connection(10, "a", 30), connection(10, "a", 30),
    connection(20, "b", 5), connection(30, "a", 30, { reconnectGeneration: 1 }),
    connection(30, "a", 30, { reconnectGeneration: 1 }), connection(10, "a", 30,
      { reconnectGeneration: 2 }), connection(40, "x".repeat(300), 4), connection(50, 7, 1),
    says(60, "net.conn", { serial: "c" }), says(70, "net.conn", { rxBytes: 5 }),
    connection(80, "d", 5, { sourceTimestamp: null }), connection(90, "d", 9, noHost)],
  "escaped-members": ['{"sourceId":"s","kind":"net.conn","hostReceiveMonotonicNs":5,"payload":' +
    '{"ser\\u0069al":"\\u0061","rxBytes":5,"rxBytes":6,"un\\u0069ts":{"a":"b"}}}',
  '{"sourceId":"s","kind":"e","hostReceiveMonotonicNs":6,"payload":{"gauges":{"\\u006coad":1,' +
    '"load":2},"counters":{"draws":3,"draws":4,"":5},"units":{"load":"\\u0025","draws":7},' +
    '"unsupported":["f\\u0061n",5,"fan"]}}',
  '{"sourceId":"s","kind":"e","payload":{"gauges":{"load":NaN,"l2":true},"units":[],"counters":5}}',
  '{"sourceId":"s","kind":"e","payload":{"gauges":{"load":1}'],
  "payloads": [says(0, "proc.cpu", null), says(1, "proc.cpu", []), says(2, "proc.cpu", "text"),
    says(3, "proc.cpu", 5), says(4, "proc.cpu", Object.fromEntries(even(40, 1).map((i) =>
      [`m${i}`, i]))), says(5, "proc.cpu", { cpuNs: { a: [1] }, nCpu: true }),
    says(6, "nothing.known", { a: 1 })],
  "declared-more": [says(0, "g", { gauges: Object.fromEntries(even(30, 1).map((i) => [`g${i}`, i])),
    counters: Object.fromEntries(even(30, 1).map((i) => [`c${i}`, i])),
    units: { g1: "percent", g2: "", c1: "bytes" }, unsupported: ["g3", "new"] }),
  says(1000, "g", { gauges: { g1: -5, g2: 2.5 }, counters: { c1: 100, c2: 1 }, unsupported: [] }),
  says(2000, "g", { gauges: { g1: null }, counters: { c1: 50 }, missing: "all" }), ...ticks(2500),
  says(3000, "g", { gauges: { ["x".repeat(300)]: 1, "": 2 }, units: { g1: 5 } }),
  says(4000, "g", { unsupported: "whole" })],
  "wrong-members": [{ kind: "k" }, { sourceId: "s" }, { sourceId: "s", kind: "k", pid: "x" },
    { sourceId: "s", kind: "k", sourceRole: "other" }, { sourceId: "s", kind: "k",
      identityStatus: 5 }, { sourceId: "s", kind: "k", clockDomain: "" }, { sourceId: "s", kind: "k",
      adapterSequence: -1 }, { sourceId: "s", kind: "k", sourceTimestamp: 1e30 },
    { sourceId: "s", kind: "k", sourceEpoch: null }, { sourceId: 5, kind: "k" },
    '{"sourceId":"s","kind":"k","pid":5,"pid":6}', '{"sourceId":"s","kind":"k","x":[1,}',
    '{"sourceId":"s" "kind":"k"}', '{"sourceId":"s","kind":"k"} more', '{"sourceId":"s",5:1}',
    '{"sourceId":"s","kind":"k","payload":{"a":}}', '{"sourceId":"s","kind":"k","schemaId":"a\\u0000b"}',
    '{ "sourceId" : "s" , "kind" : "k" , "identityStatus" : "ver\\u0069fied" , "sourceRole" : "replay" }',
    '{"kind":"k","sourceId":"\\u0073","schemaId":"v2","identityStatus":"verified","sourceRole":' +
      '"compare","pid":null,"targetGeneration":2,"reconnectGeneration":1,"sourceEpoch":3}'],
}
// Whole numbers above 2^53 in full.
const json = (value) => JSON.stringify(value, (_, one) =>
  typeof one === "bigint" ? `big ${one}` : one).replace(/"big (\d+)"/g, "$1")
const text = (lines) =>
  lines.map((one) => (typeof one === "string" ? one : json(one))).join("\n") + "\n"
const session_line = writer("session_line")
for (const [name, lines] of Object.entries(ingested)) session_line(`in-${name}`, "\n" + text(lines))
// The same as an adapter's: in beats of 100 ms, with ticks between.
for (const name of ["frames-of-a-second", "connections", "gauges", "an-ended-stream"])
  session_line(`live-${name}`, text(ingested[name]))
for (const [name, lines] of Object.entries(texts))
  session_line(name, lines.map((one) => JSON.stringify(one)).join("\n") + "\n")
for (const member of ["sourceId", "kind", "clockDomain", "schemaId"])
  session_line(`longest-${member}`, JSON.stringify({ sourceId: "s", kind: "k",
    [member]: "n".repeat(255) }) + "\n")
session_line("unended", JSON.stringify(cpu(1, 0)))
session_line("cut", JSON.stringify(cpu(1, 0)).slice(0, 60))
session_line("empty-lines", "\n\n\r\n" + JSON.stringify(cpu(1, 0)) + "\r\n\n")
session_line("nul-and-rubbish", Buffer.concat([Buffer.from('{"sourceId":"a\\u0000","kind":"k"}\n\0\n'),
  Buffer.from([0xff, 0xfe, 0x80, 10, 0xed, 0xa0, 0x80, 10])]))
session_line("escapes", '{"sourceId":"\\u00e4\\ud83d\\ude00","kind":"k\\n","payload":"\\ud800"}\n')
session_line("long", '{"sourceId":"s","kind":"k","payload":"' + "x".repeat(5000) + '"}\n{}\n')
session_line("deep", "[".repeat(300) + "\n" + '{"a":'.repeat(200) + "\n")
session_line("twice", '{"sourceId":"a","sourceId":"b","kind":"k","kind":"l"}\n')

// ---- Folders ----

const names = ["session.json", "metrics-manifest.json", "seal.json", "domain.mrl", "metrics.mrl",
  "report.json", "raw/000001.mrl", "raw/000002.mrl", "raw/000003.mrl", "raw/000005.mrl", "raw/x"]
const OPEN = 1, CRCS = 2, SEALED = 4, DERIVED = 8
function pack(flags, files) {
  const parts = [Buffer.from([flags])]
  for (const [name, bytes] of Object.entries(files)) {
    const head = Buffer.alloc(4)
    head.writeUInt8(names.indexOf(name), 0)
    head.writeUIntLE(bytes.length, 1, 3)
    parts.push(head, Buffer.from(bytes))
  }
  return Buffer.concat(parts)
}
const scratch = mkdtempSync(join(tmpdir(), "meridian-corpus-"))
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }))
const program = new URL("../build/meridian", import.meta.url).pathname
function ingest(name, lines) {
  const dir = join(scratch, name)
  execFileSync(program, ["session", "ingest", "-", "--out", dir],
    { input: text(lines), stdio: ["pipe", "ignore", "ignore"] }) // gaps are said, and wanted
  const files = {}
  for (const entry of readdirSync(dir, { recursive: true }))
    if (names.includes(entry)) files[entry] = readFileSync(join(dir, entry))
  return files
}
const without = (files, ...gone) =>
  Object.fromEntries(Object.entries(files).filter(([name]) => !gone.includes(name)))

const session_files = writer("session_files")
const whole = ingest("cpu", [...texts.cpu.slice(0, 3), tick(3), { kind: "stopped" }])
const open = without(whole, "metrics-manifest.json", "seal.json")
const raw = whole["raw/000001.mrl"]
session_files("sealed", pack(0, whole))
session_files("sealed-fitting", pack(CRCS | SEALED, whole))
session_files("no-seal", pack(0, without(whole, "seal.json")))
session_files("no-manifest", pack(0, without(whole, "metrics-manifest.json")))
session_files("no-raw", pack(SEALED, without(whole, "raw/000001.mrl")))
session_files("stranger", pack(0, { ...whole, "raw/x": "hello" }))
session_files("gap-in-the-names", pack(0, { ...whole, "raw/000005.mrl": raw }))
session_files("open", pack(OPEN | DERIVED, open))
session_files("open-as-it-is", pack(OPEN, open))
session_files("open-cut", pack(OPEN | DERIVED, { ...open, "raw/000001.mrl": raw.subarray(0, -50) }))
session_files("open-zeros", pack(OPEN, { ...open,
  "raw/000001.mrl": Buffer.concat([raw.subarray(0, 400), Buffer.alloc(200)]) }))
session_files("open-headless", pack(OPEN, { ...open, "raw/000002.mrl": Buffer.alloc(70) }))
session_files("open-empty", pack(OPEN, without(open, "raw/000001.mrl")))
session_files("identity-alone", pack(0, { "session.json": whole["session.json"] }))
session_files("broken-json", pack(OPEN, { ...open, "session.json": '{"format":"meridian-session"' }))
session_files("newer", pack(SEALED, { ...whole, "session.json":
  whole["session.json"].toString().replace('"version":1', '"version":2') }))
const changed = (from, to) => pack(SEALED, { ...whole, "metrics-manifest.json":
  whole["metrics-manifest.json"].toString().replace(from, to) })
session_files("other-counts", changed(/"raw_records":\d+/, '"raw_records":77'))
session_files("other-path", changed('"path":"domain.mrl"', '"path":"../domain.mrl"'))
session_files("other-state", changed('"state":"completed"', '"state":"incomplete"'))

// Two segments, the first cut short by a failed sync, a third one that was never begun.
const table = Array.from({ length: 256 }, (_, n) => {
  for (let bit = 0; bit < 8; bit++) n = n & 1 ? (n >>> 1) ^ 0x82f63b78 : n >>> 1
  return n >>> 0
})
const crc32c = (bytes) => {
  let crc = 0xffffffff
  for (const byte of bytes) crc = table[(crc ^ byte) & 255] ^ (crc >>> 8)
  return (crc ^ 0xffffffff) >>> 0
}
const sha = (bytes) => createHash("sha256").update(bytes).digest()
function segment(index, first, previous) {
  const head = Buffer.from(raw.subarray(0, 64))
  head.writeUInt32LE(index, 28)
  head.writeBigUInt64LE(BigInt(first), 32)
  previous.copy(head, 40, 0, 16)
  head.writeUInt32LE(crc32c(head.subarray(0, 60)), 60)
  return head
}
function add(file, type, flags, sequence, payload) {
  const size = payload.length
  const record = Buffer.alloc(32 + Math.ceil(size / 8) * 8)
  const last = file.length === 64 ? 60 : file.last + 28
  record.write("MRDR", 0)
  record.writeUInt32LE(size, 4)
  record.writeBigUInt64LE(BigInt(sequence), 8)
  record.writeUInt16LE(type, 16)
  record.writeUInt16LE(flags, 18)
  record.writeUInt32LE(file.readUInt32LE(last), 24)
  payload.copy(record, 32)
  record.writeUInt32LE(crc32c(Buffer.concat([record.subarray(0, 28), record.subarray(32)])), 28)
  const out = Buffer.concat([file, record])
  out.last = file.length
  return out
}
const gap = (code, of, a, b) => {
  const out = Buffer.alloc(24)
  out.writeUInt32LE(code, 0)
  out.writeUInt32LE(of, 4)
  out.writeBigUInt64LE(BigInt(a), 8)
  out.writeBigUInt64LE(BigInt(b), 16)
  return out
}
const identity = sha(whole["session.json"])
let one = segment(1, 1, identity)
one = add(one, 3, 0, 0, Buffer.from('{"event":"begin"}'))
one = add(one, 1, 1, 1, Buffer.from("an envelope that is none"))
let two = segment(2, 2, sha(one))
two = add(two, 5, 3, 1, gap(2, 1, one.length, one.length + 20))
two = add(two, 2, 0, 2, Buffer.from("nothing"))
two = add(two, 5, 2, 2, gap(1, 2, 3, 5))
const point = Buffer.alloc(48)
point.writeBigUInt64LE(5n, 0)
point.writeBigUInt64LE(BigInt(two.length), 8)
sha(two).copy(point, 16)
two = add(two, 6, 1, 5, point)
two = add(two, 5, 2, 5, gap(3, 2, 1, 1))
const segments = { "session.json": whole["session.json"],
  "raw/000001.mrl": Buffer.concat([one, Buffer.from("what was not synced.")]), "raw/000002.mrl": two }
session_files("two-segments", pack(OPEN, segments))
session_files("three-segments", pack(OPEN, { ...segments, "raw/000003.mrl": Buffer.from("MRDSEG1") }))
session_files("untold-tail", pack(OPEN, { ...segments,
  "raw/000002.mrl": add(segment(2, 2, sha(one)), 1, 1, 2, Buffer.from("x")) }))
session_files("foreign-segment", pack(OPEN, { ...segments, "raw/000003.mrl": raw }))

// ---- Sessions as traces ----

// The folders of sessions with identity, clocks and hashes that are the same at every run: @ stands
// for the hash of session.json.
const session_trace = writer("session_trace")
const uuid = "00112233-4455-4677-8899-aabbccddeeff"
function fixed(bytes) {
  const out = Buffer.from(bytes)
  Buffer.from(uuid.replaceAll("-", ""), "hex").copy(out, 12)
  out.fill(0, 40, 56)
  let last = crc32c(out.subarray(0, 60))
  out.writeUInt32LE(last, 60)
  for (let at = 64; at < out.length;) {
    const end = at + 32 + Math.ceil(out.readUInt32LE(at + 4) / 8) * 8
    out.writeUInt32LE(last, at + 24)
    last = crc32c(Buffer.concat([out.subarray(at, at + 28), out.subarray(at + 32, end)]))
    out.writeUInt32LE(last, at + 28)
    at = end
  }
  return out
}
const who = { bootId: "8a95a1e6-7958-4b39-8fbb-e6d132155298", definitions: "metrics.v1",
  format: "meridian-session", host: { cores: 2, kernel: "6.1", machine: "x86_64", name: "here" },
  program: "meridian", programVersion: "0.1.0", session: uuid, startClocks: { boottimeNs: "2000",
    monotonicNs: "1000", realtimeNs: "1700000000000000000" }, target: { pid: 7 }, version: 1 }
const recordsOf = (name, lines) => {
  const files = ingest(`trace-${name}`, lines)
  return { metrics: fixed(files["metrics.mrl"]), domain: fixed(files["domain.mrl"]) }
}
const listed = (name, bytes, more = {}) => ({ bytes: bytes.length, kind: "x", path: name, ...more })
const manifestOf = ({ metrics, domain }, more = {}) => ({ decode_errors: 1, files: [
  { bytes: 1, kind: "document", path: "session.json", sha256: "@".repeat(64) },
  listed("metrics.mrl", metrics), listed("domain.mrl", domain)], format: "meridian-session",
gap_count: 2, gaps: [], reasons: [], session: uuid, state: "completed", version: 1, ...more })
const texted = (value) => (typeof value === "string" ? value : JSON.stringify(value))
const folderOf = (records, { manifest = manifestOf(records), identity = who, flags = CRCS | SEALED,
  domain = records.domain, metrics = records.metrics } = {}) => pack(flags, {
  "session.json": texted(identity), "metrics-manifest.json": texted(manifest),
  "domain.mrl": domain, "metrics.mrl": metrics })
const monotonic = { clockDomain: "linux-monotonic-ns" }
const own = { hostReceiveMonotonicNs: 1016000000, sourceTimestamp: 1016000000, ...monotonic }
const played = {
  ...Object.fromEntries(["frames-of-a-second", "janks", "frames-on-two-displays", "states", "launch",
    "frames-that-go-back", "frames-without-a-time", "frames-in-ticks", "an-ended-stream", "gauges",
    "declared-more", "connections"].map((name) => [name,
    ingested[name].filter((one) => typeof one !== "string" && one.kind !== "stopped")])),
  "clock-of-the-host": [says(0, "frame", { displayId: 1 }, { ...own, sourceTimestamp: 1000000000,
    hostReceiveMonotonicNs: 1000000000 }), says(0, "frame", { displayId: 1 }, own)],
  "clock-with-sleep": [says(0, "frame", {}, { ...own, clockDomain: "linux-boottime-ns" }),
    says(0, "frame", {}, { ...own, clockDomain: "linux-boottime-ns", sourceTimestamp: 1032000000,
      hostReceiveMonotonicNs: 1032000000 })],
  "clock-of-another-machine": [says(0, "frame", {}, { ...own, sourceTimestamp: 1 }),
    says(0, "frame", {}, { ...own, sourceTimestamp: 16000001 })],
}
const record = Object.fromEntries(Object.entries(played).map(([name, lines]) =>
  [name, recordsOf(name, lines)]))
for (const [name, records] of Object.entries(record)) session_trace(name, folderOf(records))
const frames = record.janks
const plain = manifestOf(frames)
const says_manifest = (name, more) =>
  session_trace(`manifest-${name}`, folderOf(frames, { manifest: { ...plain, ...more } }))
const says_identity = (name, more) =>
  session_trace(`identity-${name}`, folderOf(frames, { identity: { ...who, ...more } }))
session_trace("by-identity", folderOf(frames, { flags: CRCS | SEALED | OPEN }))
session_trace("unsealed", folderOf(frames, { flags: CRCS }))
session_trace("without-manifest", pack(OPEN, { "session.json": texted(who) }))
session_trace("wrong-seal", Buffer.concat([folderOf(frames, { flags: CRCS }),
  pack(0, { "seal.json": '{"manifest_sha256":"00"}' }).subarray(1)]))
session_trace("crcs-as-they-are", folderOf(frames, { flags: SEALED }))
session_trace("damaged", folderOf(frames, { domain: Buffer.concat([frames.domain.subarray(0, 500),
  Buffer.alloc(300)]), metrics: frames.metrics.subarray(0, 900) }))
session_trace("headless", folderOf(frames, { domain: frames.metrics, metrics: Buffer.alloc(9) }))
session_trace("mixed", folderOf({ metrics: frames.metrics, domain: record.launch.domain }))
session_trace("no-domain", pack(CRCS | SEALED, { "session.json": texted(who),
  "metrics-manifest.json": texted(plain), "metrics.mrl": frames.metrics }))
says_manifest("gaps", { gaps: [{ gap: "missing", seq: 0, from: 1 }, { gap: "sync\\u0000failed",
  seq: 5 }, { seq: -1 }, { gap: "late", seq: 40, x: { y: [1] } }, 7, { gap: "end", seq: 1e9 }] })
says_manifest("reasons", { state: "incomplete", reasons: ["crash", "missing"] })
says_manifest("files", { files: [plain.files[0], { ...plain.files[1], stale: true }, 5,
  { path: "other", bytes: "x" }] })
says_manifest("sizes", { files: [plain.files[0], { ...plain.files[1], bytes: 5000000 },
  { ...plain.files[2], bytes: 300 }] })
says_manifest("other-session", { session: uuid.replace("0", "1") })
says_manifest("newer", { version: 2 })
says_manifest("no-format", { format: "x" })
says_identity("ingested", { target: { ingest: "a.ndjson" } })
says_identity("no-uuid", { session: "00112233-4455-4677-8899-aabbccddeefg" })
says_identity("short-uuid", { session: "0011" })
says_identity("dashes", { session: uuid.replaceAll("-", "0") })
says_identity("no-clocks", { startClocks: {}, host: {}, bootId: "", target: null })
says_identity("strange", { host: [1, { a: 2 }], startClocks: "x", target: [], version: 1 })
says_identity("newer", { version: 2 })
const latin = (value) => Buffer.from(texted(value), "latin1")
session_trace("identity-latin", pack(CRCS | SEALED, { "session.json":
  latin({ ...who, host: { name: "h\u00f6st" }, target: { "k\u00e4": 1 } }), "metrics-manifest.json":
  latin({ ...plain, gaps: [{ gap: "l\u00fccke", seq: 5 }], reasons: ["\u00e9"] }),
"domain.mrl": frames.domain, "metrics.mrl": frames.metrics }))
session_trace("identity-not-whole", folderOf(frames, { identity: '{"format":"meridian-session"' }))
session_trace("identity-changed", folderOf(frames, { manifest: { ...plain,
  files: plain.files.slice(1) } }))
session_trace("manifest-not-whole", folderOf(frames, { manifest: texted(plain).slice(0, -1) }))
session_trace("trace-events", folderOf(frames, { manifest: { traceEvents: [], ...plain } }))
// Names that are no UTF-8: the texts lie in the records as bytes.
const rename = (bytes, from, to) => {
  const out = Buffer.from(bytes)
  for (let i = out.indexOf(from); i >= 0; i = out.indexOf(from, i + 1)) out[i + from.length - 1] = to
  return out
}
session_trace("names", folderOf({ metrics: rename(record["declared-more"].metrics, "g.g1", 0xff),
  domain: rename(record["declared-more"].domain, "own-ns", 0xfe) }))
