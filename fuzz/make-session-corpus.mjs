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
const session_line = writer("session_line")
for (const [name, lines] of Object.entries(texts))
  session_line(name, lines.map((one) => JSON.stringify(one)).join("\n") + "\n")
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
  const input = lines.map((one) => JSON.stringify(one)).join("\n") + "\n"
  execFileSync(program, ["session", "ingest", "-", "--out", dir], { input })
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
