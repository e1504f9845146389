// Development only: made-up traces over the real endpoints, as real Arrow streams.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as A from "apache-arrow";

const port = Number(process.argv[2] ?? 8765);
const dist = join(fileURLToPath(new URL(".", import.meta.url)), "..", "dist");
let seed = 7;
const rnd = () => (seed = (seed * 1664525 + 1013904223) >>> 0) / 4294967296;
const names = ["aten::linear", "aten::addmm", "MatMulV2", "autograd::engine", "Optimizer.step", "hcom_allReduce__631", "aten::conv2d", "Notify_Wait", "aclnnMul", "Cast"];
const END = 20e6;

function nested(depths, mean) {
  const out = [];
  const fill = (from, to, d) => {
    let t = from + rnd() * mean / (2 ** d);
    while (t < to) {
      const dur = Math.round(mean / (2 ** d) * (0.2 + 3 * rnd() * rnd()));
      if (t + dur > to) break;
      out.push({ ts: Math.round(t), dur, row: d, name: (rnd() * names.length) | 0 });
      if (d + 1 < depths) fill(t, t + dur, d + 1);
      t += dur + Math.round(mean / (2 ** d) * rnd() * 0.6);
    }
  };
  fill(0, END, 0);
  out.sort((a, b) => a.ts - b.ts || a.row - b.row);
  out.forEach((s, i) => (s.id = i));
  return out;
}

const tracks = [];
const lanes = [];
const group = (name, parent = null) => lanes.push({ id: null, parent, kind: "group", name, rows: 0 }) - 1;
const add = (parent, kind, name, data, extra = {}) => {
  const id = tracks.length;
  tracks.push({ id, kind, data, ...extra });
  lanes.push({ id, parent, kind, name, rows: kind === "slices" ? Math.max(...data.map((s) => s.row)) + 1 : 1, anomalous: false, count: data.length, ...extra });
};
for (let r = 0; r < 2; r++) {
  const g = group(`rank ${r} · ubuntu`);
  add(g, "slices", "Thread 3055835", nested(4, 60000));
  add(g, "slices", "Stream 2", nested(1, 20000));
  add(g, "slices", "Group 0", nested(1, 90000));
  const c = [];
  let v = 40;
  for (let t = 0; t < END; t += 4000) c.push({ ts: t, value: (v = Math.max(2, Math.min(100, v + (rnd() - 0.49) * 24))) });
  add(g, "counter", "HBM 0/Read", c);
  add(g, "instant", "Marks", Array.from({ length: 300 }, (_, i) => ({ ts: rnd() * END, dur: 0, row: 0, name: 1, id: i })).sort((a, b) => a.ts - b.ts));
}
const events = [];
const ev = (t, cat, comp, value, d = null) => events.push({ t, cat, comp, value, d });
const lg = group("link");
for (const [a, b, load] of [["c0", "sw0", 0.9], ["sw0", "c1", 0.5], ["c1", "sw0", 0.1]]) for (const vc of ["req", "rsp"]) {
  const comp = `link_${a}_${b}_${vc}`;
  const bad = a === "sw0" && vc === "rsp";
  let t = rnd() * 1000;
  while (t < END) {
    const busy = 500 + rnd() * 2000 * load * (1 + Math.sin(t / 2e6));
    ev(t, "link_busy", comp, busy, rnd() < 0.5 ? JSON.stringify({ bytes: 4096, seq: events.length }) : null);
    if (bad && rnd() < 0.001) ev(t + 10, "link_busy", comp, busy);
    if (t + busy > END) break;
    ev(t + busy, "link_idle", comp, 0);
    t += busy + (busy * (1 - load)) / load * rnd() * 2;
  }
  lanes.push({ id: 1000 + lanes.length, parent: lg, kind: "interval", name: comp, component: comp, category: "link_busy", rows: 1, anomalous: bad });
}
const cg = group("cdma");
for (let u = 0; u < 2; u++) {
  const comp = `cdma_chip0_unit${u}`;
  let v = 0;
  for (let t = 100; t < END; t += 2000 * (0.5 + rnd())) ev(t, "ostd_change", comp, (v = Math.max(0, Math.min(16, v + (rnd() < 0.5 ? 1 : -1)))));
  lanes.push({ id: 1000 + lanes.length, parent: cg, kind: "counter", name: comp, component: comp, category: "ostd_change", rows: 1, anomalous: false });
  const th = comp + "_t0";
  let t = 0;
  while (t < END) { ev(t, "thread_blocked", th, 0); const e = t + 3e5 * rnd(); if (e > END) break; ev(e, "thread_unblocked", th, 1); t = e + 1e6 * rnd(); }
  lanes.push({ id: 1000 + lanes.length, parent: cg, kind: "interval", name: th, component: th, category: "thread_blocked", rows: 1, anomalous: false });
}
const fg = group("flow");
for (let f = 0; f < 4; f++) {
  const comp = `flow_${f}_${(f + 1) % 4}`;
  for (let i = 0; i < 800; i++) ev(rnd() * END, "hop_arrive", comp, 100 + 900 * rnd(), JSON.stringify({ hop: i % 5 }));
  lanes.push({ id: 1000 + lanes.length, parent: fg, kind: "instant", name: comp, component: comp, category: "hop_arrive", rows: 1, anomalous: false });
}
events.sort((a, b) => a.t - b.t);
const simEnd = Math.max(END, events.at(-1).t);

const dict = (list, index = new A.Int32()) => A.vectorFromArray(list, new A.Dictionary(new A.Utf8(), index));
const stream = (columns, metadata) => {
  const table = new A.Table(columns);
  for (const [k, v] of Object.entries(metadata)) table.schema.metadata.set(k, v);
  return A.tableToIPC(table, "stream");
};
const f64 = (l) => A.vectorFromArray(l, new A.Float64());
const u32 = (l) => A.vectorFromArray(l, new A.Uint32());
const u16 = (l) => A.vectorFromArray(l, new A.Uint16());

function windowAnswer(q) {
  const s = Number(q.get("start_ns")), e = Number(q.get("end_ns"));
  const ids = (q.get("tracks") ?? "").split(",").map(Number);
  const meta = { trace_origin_ns: "1736407067000000000", trace_bounds: "{}" };
  const B = q.get("buckets") === null ? null : Number(q.get("buckets"));
  if (B === null) {
    const rows = [];
    for (const id of ids) for (const x of tracks[id].data) if (x.dur !== undefined && x.ts < e && x.ts + x.dur >= s) rows.push([id, x]);
    if (rows.length > 100000) return { error: { code: "too_many_rows", message: "too many", limit: 100000, rows: rows.length, suggested_buckets: 2048 } };
    return stream({ id: u32(rows.map((r) => r[1].id)), ts_ns: f64(rows.map((r) => r[1].ts)), dur_ns: f64(rows.map((r) => r[1].dur)), track: dict(rows.map((r) => String(r[0]))), row: u16(rows.map((r) => r[1].row)), depth: u16(rows.map((r) => r[1].row)), name: dict(rows.map((r) => names[r[1].name])), category: dict(rows.map(() => "cat")) }, meta);
  }
  const w = (e - s) / B, out = [];
  for (const id of ids) {
    const tr = tracks[id];
    if (tr.kind === "counter") {
      let last = null, at = 0;
      for (let b = 0; b < B; b++) {
        let n = 0, mn = last ?? Infinity, mx = last ?? -Infinity;
        while (at < tr.data.length && tr.data[at].ts < s + (b + 1) * w) { last = tr.data[at].value; if (tr.data[at].ts >= s) { n++; mn = Math.min(mn, last); mx = Math.max(mx, last); } at++; }
        if (last !== null) out.push({ b, id, row: 0, n, busy: null, lid: null, ln: null, mn: Math.min(mn, last), mx: Math.max(mx, last), last });
      }
      continue;
    }
    const m = new Map();
    for (const x of tr.data) {
      if (x.ts >= e || x.ts + x.dur < s) continue;
      const b0 = Math.max(0, Math.floor((x.ts - s) / w)), b1 = Math.min(B - 1, Math.floor((x.ts + x.dur - s) / w));
      for (let b = b0; b <= b1; b++) {
        const k = b * 64 + x.row;
        const c = m.get(k) ?? { b, id, row: x.row, n: 0, busy: 0, d: -1, mn: null, mx: null, last: null };
        if (b === b0 && x.ts >= s) c.n++;
        c.busy += Math.max(0, Math.min(x.ts + x.dur, s + (b + 1) * w) - Math.max(x.ts, s + b * w)) / w;
        if (x.dur > c.d) { c.d = x.dur; c.lid = x.id; c.ln = names[x.name]; }
        m.set(k, c);
      }
    }
    out.push(...m.values());
  }
  return stream({ bucket_start_ns: f64(out.map((c) => s + c.b * w)), track: dict(out.map((c) => String(c.id))), row: u16(out.map((c) => c.row)), event_count: u32(out.map((c) => c.n)), busy_ratio: f64(out.map((c) => c.busy)), longest_id: u32(out.map((c) => c.lid)), longest_name: dict(out.map((c) => c.ln)), min_value: f64(out.map((c) => c.mn)), max_value: f64(out.map((c) => c.mx)), last_value: f64(out.map((c) => c.last)) }, meta);
}

function traceAnswer(q) {
  const s = Number(q.get("start_ns")), e = Number(q.get("end_ns"));
  const comps = new Set((q.get("components") ?? "").split(",")), cats = new Set((q.get("categories") ?? "").split(","));
  const sel = events.filter((x) => comps.has(x.comp) && cats.has(x.cat));
  const open = new Map(), anomalies = new Map(), snap = new Map();
  for (const x of sel) {
    if (!/link|thread/.test(x.cat)) continue;
    const opener = x.cat.startsWith("link") ? "link_busy" : "thread_blocked";
    const k = x.comp + "|" + opener, o = x.cat === opener;
    if (x.t >= s && !snap.done) { for (const [kk, v] of open) snap.set(kk, v); snap.done = true; }
    if (o === open.has(k)) { const a = anomalies.get(k) ?? { component: x.comp, category: opener, count: 0, first_ns: x.t }; a.count++; anomalies.set(k, a); }
    else if (o) open.set(k, x.t); else open.delete(k);
  }
  const meta = {
    trace_snapshot: JSON.stringify({ window_start_ns: s, open_intervals: [...snap].map(([k, v]) => ({ component: k.split("|")[0], category: k.split("|")[1], since_ns: v })) }),
    trace_anomalies: JSON.stringify([...anomalies.values()]),
    trace_bounds: JSON.stringify({ start_ns: 0, end_ns: simEnd, events: events.length }),
  };
  const B = q.get("buckets") === null ? null : Number(q.get("buckets"));
  if (B === null) {
    const rows = sel.filter((x) => x.t >= s && x.t < e);
    return stream({ time_ns: f64(rows.map((r) => r.t)), category: dict(rows.map((r) => r.cat), new A.Int8()), component: dict(rows.map((r) => r.comp)), value: f64(rows.map((r) => r.value)), detail_json: A.vectorFromArray(rows.map((r) => r.d), new A.Utf8()) }, meta);
  }
  const w = (e - s) / B, cells = new Map(), bk = (t) => Math.min(B - 1, Math.floor((t - s) / w));
  const cell = (b, comp, cat) => { const k = b + "|" + comp + "|" + cat; let c = cells.get(k); if (!c) cells.set(k, (c = { b, comp, cat, n: 0, busy: null, last: null, mn: null, mx: null })); return c; };
  const cover = (comp, cat, a, z) => { a = Math.max(a, s); z = Math.min(z, e); if (z <= a) return; for (let b = bk(a); b <= bk(z); b++) { const c = cell(b, comp, cat); c.busy = (c.busy ?? 0) + Math.max(0, Math.min(z, s + (b + 1) * w) - Math.max(a, s + b * w)) / w; } };
  const st = new Map(), cv = new Map();
  for (const x of sel) {
    const inside = x.t >= s && x.t < e;
    if (x.cat === "hop_arrive") { if (inside) cell(bk(x.t), x.comp, x.cat).n++; continue; }
    if (x.cat === "ostd_change") {
      const p = cv.get(x.comp) ?? { t: s, v: 0 };
      if (x.t >= s) { for (let b = bk(p.t); b <= Math.min(B - 1, bk(x.t)); b++) { const c = cell(b, x.comp, x.cat); c.last ??= p.v; c.mn = Math.min(c.mn ?? p.v, p.v); c.mx = Math.max(c.mx ?? p.v, p.v); c.last = p.v; } }
      if (inside) { const c = cell(bk(x.t), x.comp, x.cat); c.n++; c.last = x.value; c.mn = Math.min(c.mn ?? x.value, x.value); c.mx = Math.max(c.mx ?? x.value, x.value); }
      cv.set(x.comp, { t: Math.max(s, x.t), v: x.value });
      continue;
    }
    const opener = x.cat.startsWith("link") ? "link_busy" : "thread_blocked", k = x.comp + "|" + opener;
    if (inside) cell(bk(x.t), x.comp, opener).n++;
    if (x.cat === opener) { if (!st.has(k)) st.set(k, x.t); } else if (st.has(k)) { cover(x.comp, opener, st.get(k), x.t); st.delete(k); }
  }
  for (const [k, t] of st) cover(k.split("|")[0], k.split("|")[1], t, simEnd);
  const out = [...cells.values()].filter((c) => c.b >= 0).sort((a, b) => a.b - b.b);
  for (const c of out) if (c.cat !== "ostd_change" && c.cat !== "hop_arrive") c.busy ??= 0;
  return stream({ bucket_start_ns: f64(out.map((c) => s + c.b * w)), component: dict(out.map((c) => c.comp)), category: dict(out.map((c) => c.cat), new A.Int8()), event_count: u32(out.map((c) => c.n)), busy_ratio: f64(out.map((c) => c.busy)), last_value: f64(out.map((c) => c.last)), min_value: f64(out.map((c) => c.mn)), max_value: f64(out.map((c) => c.mx)) }, meta);
}

const files = [{ path: "/data/demo/trace_view.json", format: "chrome-json", bytes: 1e7, progress: 1 }, { path: "/data/demo/ring.parquet", format: "event-parquet", bytes: 1e6, progress: 1 }];
const info = { trace_id: 1, state: "ready", files, bounds: { origin_ns: "1736407067000000000", start_ns: 0, end_ns: simEnd }, view: { start_ns: 0, end_ns: simEnd }, counts: {}, losses: [
  { name: "unmatched_end", severity: "warning", count: 3, file: files[0].path, offset: 1234567, excerpt: '{"ph":"E","ts":12}', advice: "An end without its begin: the recording probably started inside it." },
  { name: "truncated", severity: "data_loss", count: 1, file: files[0].path, offset: 9999999, excerpt: "", advice: "Copy the file again; it ends inside an event." }] };
const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };
createServer(async (req, res) => {
  const url = new URL(req.url, "http://x");
  const json = (code, body) => { res.writeHead(code, { "content-type": "application/json" }); res.end(JSON.stringify(body)); };
  const arrow = (body) => body.error ? json(400, body) : (res.writeHead(200, { "content-type": "application/vnd.apache.arrow.stream" }), res.end(body));
  try {
    const p = url.pathname;
    if (p === "/api/traces" && req.method === "GET") return json(200, { traces: [info] });
    if (p === "/api/traces/1") return json(200, info);
    if (p === "/api/traces/1/lanes") return json(200, { lanes });
    if (p === "/api/traces/1/window") return arrow(windowAnswer(url.searchParams));
    if (p === "/api/traces/1/trace") return arrow(traceAnswer(url.searchParams));
    const m = /slices\/(\d+)\/(\d+)$/.exec(p);
    if (m) { const x = tracks[m[1]].data.find((s) => s.id === Number(m[2])); return json(200, { id: x.id, name: names[x.name], category: "cpu_op", track: Number(m[1]), ts_ns: String(1736407067000000000n + BigInt(Math.round(x.ts))), dur_ns: x.dur, depth: x.row, row: x.row, parent: null, args: { shape: [4, 1024, 1024], dtype: "bf16", stream: 2, nested: { a: 1, b: "two" } }, pid: 12, tid: 3055835, process: "python", thread: "main", flows: [] }); }
    if (p.startsWith("/api")) return json(404, { error: { code: "not_found", message: "no such path" } });
    const file = p === "/" ? "index.html" : p.slice(1);
    const body = await readFile(join(dist, file));
    res.writeHead(200, { "content-type": types[extname(file)] ?? "application/octet-stream" });
    res.end(body);
  } catch (e) { console.error(e); json(500, { error: { code: "internal", message: String(e) } }); }
}).listen(port, "127.0.0.1", () => console.log(`listening on http://127.0.0.1:${port}`));
