// Writes the corpora of the fuzzers of archives and manifests: node fuzz/make-corpus.mjs
// What it writes is kept; xz and zstd come from the programs of that name.
import { execFileSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { gzipSync } from "node:zlib"
import { tar, zip } from "../tests/golden/lib/archive.mjs"

function writer(target) {
  const folder = new URL(`corpus/${target}/`, import.meta.url).pathname
  mkdirSync(folder, { recursive: true })
  return (name, bytes) => writeFileSync(folder + name, bytes)
}

const json = '[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":1}]'
const manifestText = '{"meridian_manifest":{"version":1}}'
const packet = Buffer.from("0a0d40d00f50015a0748035801ba010168", "hex")
const pack = (command, bytes) => execFileSync(command, ["-c"], { input: bytes })

const archive = writer("archive")
const plain = [["b.json", json], ["a.pb", packet], ["meta", manifestText], ["readme.txt", "text"],
  [".git/config", "hidden"], ["dir/c.json.gz", gzipSync(json)]]
archive("zip", zip(plain))
archive("zip-stored", zip(plain, false))
archive("tar", tar(plain))
archive("tar.gz", gzipSync(tar(plain)))
archive("tar.xz", pack("xz", tar(plain)))
archive("tar.zst", pack("zstd", tar(plain)))
archive("json.zst", pack("zstd", json))
archive("json.gz", gzipSync(json))
archive("json.gz.xz", pack("xz", gzipSync(json)))
archive("nested", zip([["in.tar", tar([["deep.zip", zip([["x.json", json]])]])], ["in.gz",
  gzipSync(zip([["y.json", json]]))]]))
let deep = zip([["x.json", json]])
for (let level = 0; level < 9; level++) deep = zip([[`${level}.zip`, deep]])
archive("too-deep", deep)
archive("nothing", zip([["readme.txt", "text"]]))
archive("empty", zip([]))
archive("cut-zip", zip(plain).subarray(0, 150))
archive("cut-tar", tar(plain).subarray(0, 1400))
archive("cut-xz", pack("xz", json.repeat(50)).subarray(0, 90))
const damaged = zip(plain, false)
damaged[damaged.indexOf('"name"') + 2] ^= 1
archive("bad-crc", damaged)
const damagedTar = Buffer.from(tar(plain))
damagedTar[600] ^= 0xff
damagedTar[1700] ^= 0xff
archive("bad-tar", damagedTar)
const link = Buffer.from(tar([["link", ""], ["a.json", json]]))
link[156] = 0x32 // a symbolic link
link.write("a.json", 157)
let sum = 8 * 0x20
for (let i = 0; i < 512; i++) if (i < 148 || i >= 156) sum += link[i]
link.write(sum.toString(8).padStart(6, "0") + "\0 ", 148)
archive("link", link)
archive("names", zip([["\u00e4/\u540d.json", json], ["../up.json", json], ["/root.json", json],
  ["a//b.json", json]]))
archive("bomb", zip([["zero", Buffer.alloc(20 << 20)]]))
archive("rubbish", Buffer.from("PK\x03\x04 and nothing of an archive behind it at all"))
archive("json", json)
archive("unknown", "nobody knows this")
archive("bad-inner", zip([["x.zip", Buffer.from("PK\x03\x04 nothing of an archive at all")],
  ["y.json", json]]))

const manifest = writer("manifest")
const say = (name, inside, key = "meridian_manifest") =>
  manifest(name, JSON.stringify({ [key]: { version: 1, ...inside } }))
const a = { path: "a.json" }
const b = { path: "sub/b.json" }
const multi = { path: "multi.pb" }
const to = (file, more = {}) => ({ sync_to: { file, ...more } })
say("plain", {})
say("files", { files: [a, b, multi] })
say("peer", { files: [{ ...a, other: 1 }], flow_scope: "global" }, "perfetto_manifest")
say("offset", { files: [a, { ...b, clocks: { ...to("a.json"), offset_ns: -250 } }] })
say("relate", { files: [{ ...multi, clocks: { clock: "BOOTTIME", machine: "vm",
  ...to("multi.pb", { machine: "host", clock: "REALTIME" }), offset_ns: 5 },
machines: [{ id: 0, name: "host" }, { id: 7, name: "vm" }] }] })
say("pin-to-boot", { files: [multi, { ...a, machine: { name: "x" },
  clocks: { ...to("multi.pb", { clock: "BOOTTIME" }), interpolation: "linear" } }] })
say("pin-with-snapshots", { files: [a, { ...multi, clocks: to("a.json") }] })
say("undeclared-machine", { files: [{ ...multi, machines: [{ id: 3, name: "x" }] }] })
say("trace-time", { trace_time: { clock: "REALTIME", file: "multi.pb", machine: "host" },
  files: [{ ...multi, machines: [{ id: 0, name: "host" }, { id: 7, name: "vm" }] }] })
say("trace-time-any", { trace_time: { clock: "MONOTONIC_RAW" } })
say("trace-time-no-file", { trace_time: { clock: "BOOTTIME", machine: "host" } })
say("bad-clock", { trace_time: { clock: "TAI" } })
say("scope", { flow_scope: "global", clocks: { interpolation: "linear" }, attributes: { a: 1, b: "c" } })
say("bad-scope", { flow_scope: 1 })
say("bad-attribute", { attributes: { a: [] } })
say("bad-machine", { files: [{ ...a, machine: {} }] })
say("bad-machines", { files: [{ ...a, machines: [{ id: 1 }] }] })
say("same-machine", { files: [{ ...a, machines: [{ id: 1, name: "x" }, { id: 1, name: "y" }] }] })
say("both-machines", { files: [{ ...a, machine: { name: "x" }, machines: [] }] })
say("no-machine", { files: [{ ...a, clocks: { ...to("multi.pb", { machine: "vm", clock: "BOOTTIME" }),
  clock: "BOOTTIME" } }, multi] })
say("which-machine", { files: [{ ...a, clocks: to("multi.pb", { clock: "BOOTTIME" }) },
  { ...multi, machines: [{ id: 0, name: "host" }, { id: 7, name: "vm" }] }] })
say("itself", { files: [{ ...a, clocks: to("a.json") }] })
say("nowhere", { files: [{ path: "c.json" }] })
say("two", { files: [a, a] })
say("three", { files: [a, b, multi, b] })
say("the-manifest", { files: [{ path: "manifest" }] })
say("no-sync", { files: [{ ...a, clocks: { offset_ns: 1 } }] })
say("bad-offset", { files: [{ ...a, clocks: { ...to("a.json"), offset_ns: "1" } }] })
say("no-such-sync", { files: [{ ...a, clocks: to("d.json") }] })
say("no-such-trace-file", { trace_time: { clock: "BOOTTIME", file: "d.json" } })
say("only-interpolation", { files: [{ ...multi, clocks: { interpolation: "step" } }] })
say("unknown-member", { file: [] })
say("not-array", { files: {} })
say("not-object", { files: [1] })
manifest("version", '{"meridian_manifest":{"version":2}}')
manifest("no-object", '{"meridian_manifest":[]}')
manifest("syntax", '{"meridian_manifest":{"version":1,}}')
manifest("bom", '\ufeff { "perfetto_manifest" : {"version":1}}')
say("least", { files: [a, { ...b, clocks: { ...to("a.json"), offset_ns: 0 } }] })
manifest("int64-min", `{"meridian_manifest":{"version":1,"files":[{"path":"a.json","clocks":
{"sync_to":{"file":"sub/b.json"},"offset_ns":-9223372036854775808}},{"path":"sub/b.json"}]}}`)

// Edits of a warm image: what, place (three bytes), two more.
const image = writer("image")
const edit = (what, at, more = 0) =>
  Buffer.from([what, at & 255, at >> 8 & 255, at >> 16, more & 255, more >> 8])
image("whole", Buffer.alloc(0))
image("nothing-changed", edit(0, 100, 0))
for (const at of [0, 8, 16, 24, 32, 48, 64, 80]) image(`header-${at}`, edit(0, at, 0x40))
for (const at of [200, 1000, 4100, 5000, 9000, 12300, 16500, 20600, 33000, 66000])
  image(`bit-${at}`, edit(0, at, 1))
for (const at of [1, 40, 1000, 5000, 40000]) image(`cut-${at}`, edit(1, at))
image("zeros", edit(3, 4096, 4096))
image("zeros-all", edit(3, 0, 0xffff))
image("many", Buffer.concat([300, 4400, 8500, 12700].map((at) => edit(2, at, 0x7f))))
