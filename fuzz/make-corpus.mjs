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
for (const [which, name] of [[1, "unpacked"], [2, "events"]]) {
  const of = (what, at, more) => edit(what | which << 2, at, more)
  image(`${name}-whole`, of(0, 100, 0))
  for (const at of [16, 5000, 30000]) image(`${name}-bit-${at}`, of(0, at, 1))
  for (const at of [4000, 700000]) image(`${name}-cut-${at}`, of(1, at))
  image(`${name}-zeros`, of(3, 9000, 0xffff))
}
image("many", Buffer.concat([300, 4400, 8500, 12700].map((at) => edit(2, at, 0x7f))))

// Specs of the simulator: what runs, and a wrong value at every place.
const sim = writer("sim_spec")
const spec = (name, more, base = { primitive: "allreduce", algorithm: "ring", topology: "ring-4",
  msg_size_bytes: 4096 }) => sim(name, JSON.stringify({ ...base, ...more }))
const graph = (more) => ({ topology: { name: "g", nodes: ["c0", "sw0", "c1"], links: [
  { from: "c0", to: "sw0" }, { from: "sw0", to: "c1" }], ...more }, primitive: "p2p",
algorithm: "direct" })
const good = {
  ideal: { mode: "ideal" }, lockstep: { step_mode: "lockstep", vc_mode: "shared_wire" },
  tree: { algorithm: "tree", topology: "star-8", switching: "cut_through" },
  "two-trees": { algorithm: "double_binary_tree", topology: "star-6", pipeline: 4 },
  doubling: { algorithm: "recursive_doubling", topology: "torus-2d-2x2" },
  halving: { algorithm: "halving_doubling", topology: "star-8" },
  bruck: { algorithm: "bruck", primitive: "alltoall", topology: "mesh-2d-2x2" },
  pairwise: { algorithm: "pairwise", primitive: "alltoall", topology: "star-4" },
  gather: { primitive: "allgather", algorithm: "auto", topology: "torus-2d-2x3" },
  stuck: { deadlock_avoidance: "none", link: { credits: 1, packet_bytes: 64 },
    msg_size_bytes: 65536 },
  traced: { trace: { enabled: true, categories: ["link", "ostd", "thread", "hop"] } },
  "trace-words": { trace_enabled: true, trace_categories: ["hop"] },
  slow: { disturb: [{ chip: 1, slow: 3, start_delay_ns: 500 }, { link: ["0", "1"],
    extra_latency_ns: 100, bandwidth_factor: 0.5, error_rate: 0.1 }] },
  lossy: { link: { error_rate: 0.3, packet_bytes: 256, credits: 4 } },
  "one-way": graph({ duplex: false }), "both-ways": graph({ duplex: true }),
  "fat-tree": { topology: "fat-tree-k4", algorithm: "auto" },
  "two-levels": { topology: "fat-tree-2l-l2-h2-s2", algorithm: "auto" },
  torus: { topology: "torus-3d-2x2x2", algorithm: "auto", primitive: "alltoall" },
  full: { topology: "full-4", algorithm: "direct" },
  "longest-names": { ...graph({ name: "n".repeat(32), nodes: ["c".repeat(32), "d".repeat(32)],
    links: [{ from: "c".repeat(32), to: "d".repeat(32) }] }), disturb: [{ link: ["c".repeat(32),
    "d".repeat(32)], extra_latency_ns: 1 }] },
  grid: { msg_size_bytes: [1, 2], pipeline: [1, 2], topology: ["ring-2", "RING-3"] },
}
for (const [name, more] of Object.entries(good)) spec(`good-${name}`, more)
const wrong = {
  choice: { primitive: "sing" }, "choice-type": { algorithm: 5 }, number: { msg_size_bytes: -1 },
  fraction: { pipeline: 1.5 }, text: { link: { latency_ns: "x" } }, flag: { trace_enabled: 1 },
  group: { link: 5 }, unknown: { spead: 1 }, "unknown-in-a-group": { link: { spead: 1 } },
  pair: { primitive: "p2p", algorithm: "tree" }, topology: { topology: 5 },
  "topology-name": { topology: "moebius-4" }, "topology-long": { topology: "r".repeat(300) },
  categories: { trace: { categories: "link" } }, category: { trace: { categories: ["lank"] } },
  disturb: { disturb: {} }, "disturb-what": { disturb: [{ node: 1 }] },
  "disturb-chip": { disturb: [{ chip: 0.5 }] }, "disturb-slow": { disturb: [{ chip: 1, slow: 0 }] },
  "disturb-key": { disturb: [{ chip: 1, speed: 0 }] },
  "disturb-ends": { disturb: [{ link: ["a"] }] }, "disturb-no-chip": { disturb: [{ chip: 99 }] },
  "disturb-no-link": { disturb: [{ link: ["a", "b"] }] },
  credits: { link: { credits: 1 }, deadlock_avoidance: "bubble" },
  check: { check_data: true, topology: "ring-1024", pipeline: 64 },
  "graph-key": graph({ edges: [] }), "graph-name": graph({ name: "a b" }),
  "graph-no-name": graph({ name: undefined }), "graph-one-node": graph({ nodes: ["c0"] }),
  "graph-node": graph({ nodes: ["c0", ""] }), "graph-twice": graph({ nodes: ["c0", "c0"] }),
  "graph-duplex": graph({ duplex: 1 }), "graph-no-links": graph({ links: [] }),
  "graph-link": graph({ links: [5] }), "graph-from": graph({ links: [{ from: "x", to: "c1" }] }),
  "graph-no-to": graph({ links: [{ from: "c0" }] }),
  "graph-itself": graph({ links: [{ from: "c0", to: "c0" }] }),
  "graph-same-link": graph({ links: [{ from: "c0", to: "c1" }, { from: "c0", to: "c1" }] }),
  "graph-band": graph({ links: [{ from: "c0", to: "c1", bandwidth_gb_per_s: 0 }] }),
  "graph-apart": graph({ links: [{ from: "c0", to: "sw0" }] }),
  empty: { msg_size_bytes: [] },
}
for (const [name, more] of Object.entries(wrong)) spec(`wrong-${name}`, more)
for (const gone of ["primitive", "topology", "msg_size_bytes"])
  spec(`no-${gone}`, { [gone]: undefined })
for (const [name, link] of [["first", ["n".repeat(32), "b"]], ["second", ["b", "n".repeat(32)]]])
  sim(`longest-${name}`, JSON.stringify({ disturb: [{ link }], primitive: "allreduce",
    algorithm: "ring", topology: "ring-2", msg_size_bytes: 1 }))
sim("no-json", '{"primitive":')
sim("twice", '{"primitive":"allreduce","primitive":"p2p"}')
sim("list", "[1]")

// Statements: the form of the answer, then the text; @ is a folder with a file of secrets.
const sql = writer("sql")
const CSV = 0, JSON_LINES = 1, ARROW = 2, TABLE = 3, PLACE = 4
const statement = (name, text, form = JSON_LINES) =>
  sql(name, Buffer.concat([Buffer.from([form]), Buffer.from(text)]))
for (const [form, name] of [[CSV, "csv"], [JSON_LINES, "json"], [ARROW, "arrow"], [TABLE, "table"]]) {
  statement(`slices-${name}`, "SELECT * FROM slice ORDER BY id", form)
  statement(`types-${name}`, "SELECT 1::DECIMAL(9,2) d, DATE '2020-01-01' t, [1, 2] l, {'a': 1} s, " +
    "NULL n, 'x' AS \"a\"\"b\", 170141183460469231731687303715884105727 h, 1.5e300 r, true b;", form)
  statement(`nothing-${name}`, "SELECT name FROM slice WHERE false", form)
  statement(`explain-${name}`, "EXPLAIN SELECT count(*) FROM counter", form)
}
const statements = {
  includes: "-- a\nINCLUDE PERFETTO MODULE slices.with_context;\n/* b */ include perfetto module x.y; SELECT 1",
  "includes-alone": "INCLUDE PERFETTO MODULE a", "include-word": "INCLUDED PERFETTO MODULE a",
  analyze: "EXPLAIN ANALYZE SELECT 1", "analyze-option": "EXPLAIN (ANALYZE) SELECT 1",
  "format-option": "EXPLAIN (FORMAT json) SELECT 1", "explain-brackets": "EXPLAIN (SELECT 1)",
  "explain-insert": "EXPLAIN ANALYZE INSERT INTO t VALUES (1)", "explain-copy":
    "EXPLAIN ANALYZE COPY (SELECT 1) TO '@/x.csv'", "explain-create":
    "EXPLAIN ANALYZE CREATE TABLE t AS SELECT 1",
  end: "SELECT ';--' AS \"a;\" -- rest ;\n ; ; /* c */", "end-cast": "SELECT 1.5 ;;; -- x",
  "open-quote": "SELECT 'a", "open-comment": "SELECT 1 /* a", "open-name": "SELECT \"a",
  two: "SELECT 1; SELECT 2", nothing: "", blank: " \n\t--", "zero-byte": "SELECT 1\0",
  "not-utf8": Buffer.from([0x53, 0xff]), syntax: "SELEC 1", "syntax-line-2":
    "SELECT name\n FORM slice", "no-column": "SELECT nam FROM slice", "no-table": "SELECT * FROM slise",
  "long-line": `SELECT ${"'x', ".repeat(40)}nam FROM slice WHERE ${"true AND ".repeat(20)} true`,
  "cast-error": "SELECT 1.5, CAST(name AS INTEGER) FROM slice", columns:
    `SELECT ${Array.from({ length: 1100 }, () => "1").join(",")}`,
  slow: "SELECT count(*) FROM range(100000000000) a, range(100) b WHERE a.range % 7 = b.range",
  overflow: "SELECT 9223372036854775807 + dur FROM slice", args: "SELECT * FROM args",
  ranged: "SELECT * FROM slice_range(0, 5000)", counters: "SELECT * FROM counter",
  parameter: "SELECT ?", "many-rows": "SELECT range r, 'text' t FROM range(200000)",
  names: "SELECT name, count(*) c, sum(dur) FROM slice GROUP BY ALL ORDER BY c DESC LIMIT 3",
  "read-csv": "SELECT * FROM read_csv('@/s.csv')", "read-text": "SELECT * FROM read_text('@/*')",
  "read-name": "SELECT * FROM '@/s.csv'", "read-blob": "SELECT content FROM read_blob('@/s.csv')",
  glob: "SELECT * FROM glob('@/*')", sniff: "SELECT * FROM sniff_csv('@/s.csv')",
  copy: "COPY slice TO '@/x.csv'", "copy-from": "COPY slice FROM '@/s.csv'",
  attach: "ATTACH '@/x.db'", export: "EXPORT DATABASE '@/x'", "set-access":
    "SET enable_external_access=true", install: "INSTALL httpfs", load: "LOAD httpfs",
  create: "CREATE TABLE t(a int)", view: "CREATE VIEW v AS SELECT 1", drop: "DROP VIEW slice",
  insert: "INSERT INTO slice VALUES (1)", update: "UPDATE slice SET dur = 1", pragma:
    "PRAGMA database_list", call: "CALL pragma_version()", describe: "DESCRIBE slice",
  show: "SHOW TABLES", summarize: "SUMMARIZE slice", from: "FROM slice", values: "VALUES (1, 'a')",
  with: "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 9) SELECT * FROM t",
  "with-insert": "WITH t AS (SELECT 1) INSERT INTO slice SELECT * FROM t", prepare:
    "PREPARE p AS SELECT 1", execute: "EXECUTE p", begin: "BEGIN", vacuum: "VACUUM", checkpoint:
    "CHECKPOINT", "getenv": "SELECT getenv('HOME')", settings: "SELECT * FROM duckdb_settings()",
  secrets: "SELECT * FROM duckdb_secrets()", query: "SELECT * FROM query('SELECT 1')",
  "query-copy": "SELECT * FROM query('COPY slice TO ''@/x''')", "which-secret":
    "SELECT which_secret('@', 's3')", logs: "SELECT * FROM duckdb_logs",
}
for (const [name, text] of Object.entries(statements)) statement(name, text)
const message = (name, text, said) => statement(`place-${name}`, `${text}\0${said}`, PLACE)
message("first", "SELECT x", "Binder Error: no x\n\nLINE 1: SELECT x\n               ^")
message("second", "SELECT\n x", "Error\n\nLINE 2:  x\n         ^")
message("cut", "SELECT aaaa, bbbb, nam, cccc", "Error\n\nLINE 1: ...bbb, nam, cc...\n                   ^")
message("cut-in-front", "SELECT aaaa, nam", "Error\n\nLINE 1: ...a, nam\n                ^")
message("not-there", "SELECT 1", "Error\n\nLINE 1: ...zzz...\n               ^")
message("no-mark", "SELECT 1", "Error\n\nLINE 1: SELECT 1\n")
message("mark-in-front", "SELECT 1", "Error\n\nLINE 1: SELECT 1\n  ^")
message("no-number", "SELECT 1", "Error\n\nLINE x: SELECT 1\n         ^")
message("far-line", "SELECT 1", "Error\n\nLINE 99: ...SELECT 1\n             ^")
message("no-line", "SELECT 1", "Error")
statement("place-no-message", "SELECT 1", PLACE)

// Requests: the method's byte and the target, headers, an empty line, the body.
const http = writer("http")
const METHODS = { GET: "2", POST: "3", DELETE: "4" }
const ask = (name, method, target, body = "", headers = []) =>
  http(name, `${METHODS[method]}${target}\n${headers.map((one) => `${one}\n`).join("")}\n${body}`)
const here = ["Peer: here"]
const wants = (type) => [`Accept: ${type}`]
const jsonOnly = wants("application/json")
for (const [name, target, headers] of [["list", ""], ["one", "/one"], ["none", "/none"],
  ["hidden", "/.hidden"], ["up", "/..%2Fsessions"], ["bad-name", "/%zz"], ["report", "/one/report"],
  ["report-html", "/one/report?format=html"], ["report-md", "/one/report?&format=md"],
  ["report-text", "/one/report?format=text"], ["report-pdf", "/one/report?format=pdf"],
  ["report-member", "/one/report?x=1"], ["raw", "/one/raw/1"], ["raw-0", "/one/raw/0"],
  ["raw-99", "/one/raw/99"], ["events", "/one/events"], ["events-none", "/none/events"],
  ["samples", "/one/samples"], ["samples-json", "/one/samples?metrics=cpu.core.pct,,x", jsonOnly],
  ["samples-range", "/one/samples?start_ns=1&end_ns=2000000000&buckets=2", jsonOnly],
  ["samples-half", "/one/samples?start_ns=1&buckets=2"], ["samples-back", "/one/samples?start_ns=5&end_ns=1"],
  ["samples-buckets", "/one/samples?buckets=x"], ["samples-start", "/one/samples?start_ns=x"],
  ["samples-member", "/one/samples?more"], ["samples-percent", "/one/samples?metrics=%z"],
  ["samples-text", "/one/samples", wants("text/html")]])
  ask(`session-${name}`, "GET", `/api/sessions${target}`, "", headers)
const recordings = {
  host: { host: true, duration_ms: 1000 }, pid: { pid: 1, every_ms: 10, publish_ms: 100 },
  "no-pid": { pid: 2147483647 }, nothing: {}, "pid-text": { pid: "1" }, every: { host: true, every_ms: 1 },
  "host-number": { host: 1 }, unknown: { host: true, dir: "x" }, command: { command: ["sh"] },
  adapters: { host: true, adapters: ["id"] }, list: [1],
}
for (const [name, body] of Object.entries(recordings))
  ask(`record-${name}`, "POST", "/api/sessions", JSON.stringify(body), here)
ask("record-empty", "POST", "/api/sessions", "", here)
ask("record-twice", "POST", "/api/sessions", '{"host":true,"host":true}', here)
ask("record-from-elsewhere", "POST", "/api/sessions", '{"host":true}')
for (const name of ["one", "none", "..%2Fx"]) ask(`stop-${name.replace(/\W/g, "")}`, "POST",
  `/api/sessions/${name}/stop`)
const queries = {
  json: { sql: "SELECT * FROM slice", format: "json" }, csv: { sql: "SELECT 1", format: "csv" },
  arrow: { sql: "SELECT name FROM slice" }, long: { sql: "SELECT * FROM range(100000)", format: "csv" },
  wrong: { sql: "SELEC 1" }, insert: { sql: "INSERT INTO slice VALUES (1)" }, form: { sql: "SELECT 1",
    format: "xml" }, number: { sql: 5 }, member: { sql: "SELECT 1", x: "y" }, list: [],
}
for (const [name, body] of Object.entries(queries))
  ask(`sql-${name}`, "POST", "/api/query", JSON.stringify(body))
for (const [name, query] of Object.entries({ trace: "?trace=1", absent: "?trace=99", word: "?trace=x",
  other: "?t=1" })) ask(`sql-of-${name}`, "POST", `/api/query${query}`, '{"sql":"SELECT 1"}')
