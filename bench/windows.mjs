// Windows over HTTP on loopback: bench/windows.mjs PROGRAM [quick|full|FILE.parquet]
// Event records of 10^6 (full: and 10^8; or of FILE alone), slices of generated Chrome JSON. Times
// go from the request to the last byte of the reply; each window is a new one, and answers about
// event records are checked against their raw rows in the same run.
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { percentile, run, serve, table, workFolder } from "./lib.mjs";
import { connect } from "./wire.mjs";

const [program, size = "quick"] = process.argv.slice(2);
const folder = workFolder();
const rows = [];
const first = [];
const JSON_FORM = { accept: "application/json" };
const ratios = {};

/** Deterministic numbers, so that two runs ask the same windows. */
function random(seed) {
  let state = seed >>> 0;
  return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
}

const now = () => Number(process.hrtime.bigint()) / 1e6;
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function ready(wire, id) {
  for (;;) {
    const one = JSON.parse((await wire.ask(`/api/traces/${id}`)).body);
    if (one.state === "failed") throw new Error(JSON.stringify(one.error));
    if (one.state === "ready") return one;
    await sleep(3);
  }
}

async function open(path) {
  const server = await serve(program, ["open", "--no-cache", "--no-browser", "--listen", "127.0.0.1:0", path]);
  const wire = await connect(server.url);
  const one = await ready(wire, 1);
  const lanes = JSON.parse((await wire.ask("/api/traces/1/lanes")).body).lanes;
  return { wire, one, lanes, stop: () => (wire.close(), server.stop()) };
}

/** A quarter of a gigabyte is walked, which leaves nothing of ours in the shared cache. */
const sweep = new Uint8Array(256 << 20);
function sweepCaches() {
  for (let i = 0; i < sweep.length; i += 64) sweep[i]++;
}

async function measure(label, events, count, wire, makePath, swept = false) {
  const times = [];
  let bytes = 0;
  for (let i = 0; i < 10; i++) await wire.ask(makePath(i + count));
  for (let i = 0; i < count; i++) {
    if (swept) sweepCaches();
    const { ms, body } = await wire.ask(makePath(i));
    times.push(ms);
    bytes = Math.max(bytes, body.length);
  }
  const p95 = percentile(times, 0.95);
  const figures = [bytes / 1e6, percentile(times, 0.5), p95, Math.max(...times)];
  const words = figures.map((figure) => figure.toFixed(2));
  rows.push([label, events.toExponential(0), String(count), ...words]);
  (ratios[label] ??= []).push(p95);
}

/** Widths from all of the trace to a thousandth, evenly by their logarithm. */
function windowMaker({ start_ns: start, end_ns: end }, seed, prefix) {
  const rng = random(seed);
  return () => {
    const width = (end - start) * 10 ** (-3 * rng());
    const from = start + (end - start - width) * rng();
    return `${prefix}&start_ns=${from}&end_ns=${from + width}`;
  };
}

// ---- The answer by brute force ----

const OPENER = { link_idle: "link_busy", thread_unblocked: "thread_blocked" };

/** Counts and covered part of each (bucket, component, category), from the raw rows. */
function bruteCells(raw, from, to, buckets) {
  const width = (to - from) / buckets;
  const cells = new Map();
  const open = new Map();
  for (const one of raw.snapshot.open_intervals) open.set(`${one.component} ${one.category}`, from);
  const cell = (bucket, key) => {
    const name = `${bucket} ${key}`;
    if (!cells.has(name)) cells.set(name, { count: 0, covered: 0 });
    return cells.get(name);
  };
  const cover = (key, begin, end) => {
    for (let b = Math.floor((begin - from) / width); b < buckets && from + b * width < end; b++) {
      const part = Math.min(end, from + (b + 1) * width) - Math.max(begin, from + b * width);
      if (part > 0) cell(b, key).covered += part / width;
    }
  };
  for (const { time_ns: time, category, component } of raw.rows) {
    const key = `${component} ${OPENER[category] ?? category}`;
    cell(Math.min(buckets - 1, Math.floor((time - from) / width)), key).count++;
    if (OPENER[category]) {
      if (open.has(key)) cover(key, open.get(key), time);
      open.delete(key);
    } else if (category === "link_busy" || category === "thread_blocked") {
      if (!open.has(key)) open.set(key, time);
    }
  }
  for (const [key, begin] of open) cover(key, begin, to);
  return cells;
}

async function check(wire, prefix, { start_ns: start, end_ns: end, events }) {
  const rng = random(3);
  const share = Math.min(1, 60000 / events);
  let cellCount = 0;
  for (let n = 0; n < 3; n++) {
    const from = start + (end - start) * (1 - share) * rng();
    const to = from + (end - start) * share;
    const times = `start_ns=${from}&end_ns=${to}`;
    const raw = JSON.parse((await wire.ask(`${prefix}&${times}`, JSON_FORM)).body);
    const cells = bruteCells(raw, from, to, 2048);
    const answer = JSON.parse((await wire.ask(`${prefix}&${times}&buckets=2048`, JSON_FORM)).body);
    const width = (to - from) / 2048;
    for (const row of answer.rows) {
      const bucket = Math.round((row.bucket_start_ns - from) / width);
      const name = `${bucket} ${row.component} ${row.category}`;
      const cell = cells.get(name) ?? { count: 0, covered: 0 };
      const wrong = row.busy_ratio !== null && Math.abs(row.busy_ratio - cell.covered) > 1e-6;
      if (cell.count !== row.event_count || wrong)
        throw new Error(`${name}: ${JSON.stringify(row)}, brute force ${JSON.stringify(cell)}`);
      cells.delete(name);
      cellCount++;
    }
    for (const [name, cell] of cells)
      if (cell.count) throw new Error(`${name}: ${JSON.stringify(cell)} is not in the answer`);
  }
  const whole = JSON.parse((await wire.ask("/api/traces/1/trace?buckets=64", JSON_FORM)).body);
  const sum = whole.rows.reduce((total, row) => total + row.event_count, 0);
  if (sum !== events) throw new Error(`${sum} events in the buckets, ${events} in the trace`);
  console.log(`${events} events: ${cellCount} cells of 3 windows as by brute force`);
}

// ---- Event records ----

async function records(path, events) {
  const { wire, one, lanes, stop } = await open(path);
  const tracks = lanes.filter((lane) => lane.component);
  const count = Math.min(64, tracks.length);
  const step = tracks.length / 64;
  const chosen = Array.from({ length: count }, (_, i) => tracks[Math.floor(i * step)]);
  const names = [...new Set(chosen.map((lane) => encodeURIComponent(lane.component)))].join(",");
  const base = `/api/traces/1/trace?components=${names}`;
  const { start_ns: start, end_ns: end } = one.bounds;
  const makeAny = windowMaker(one.bounds, 7, `${base}&buckets=2048`);
  const makeFull = () => `${base}&buckets=2048`;
  await measure("full range, 2048 buckets, 64 tracks", events, 100, wire, makeFull);
  await measure("any window, 2048 buckets, 64 tracks", events, 100, wire, makeAny);
  await measure("any window, caches swept", events, 25, wire, makeAny, true);
  const share = Math.min(1, 99000 / events);
  await measure("raw, 100,000 rows", events, 50, wire, (i) => {
    const from = start + (end - start) * (1 - share) * ((i % 50) / 50);
    return `/api/traces/1/trace?start_ns=${from}&end_ns=${from + (end - start) * share}`;
  });
  await check(wire, base, { ...one.bounds, events: one.bounds.events ?? events });
  stop();
}

/** From nothing to the first whole answer; process: with the start of the program. */
async function firstAnswers(path) {
  const question = (id) => `/api/traces/${id}/trace?buckets=2048`;
  const times = { start: [], first: [], later: [] };
  for (let n = 0; n < 5; n++) {
    const began = now();
    const server = await serve(program, ["open", "--no-cache", "--no-browser", "--listen", "127.0.0.1:0", path]);
    const wire = await connect(server.url); // the client's own memory has just been used
    await ready(wire, 1);
    await wire.ask(question(1));
    times.start.push(now() - began);
    wire.close();
    server.stop();
    await sleep(300);
  }
  for (let n = 0; n < 5; n++) {
    const server = await serve(program, ["serve", "--no-cache", "--listen", "127.0.0.1:0", "--data", folder]);
    const wire = await connect(server.url);
    await sleep(500); // a running server
    for (const kind of ["first", "later", "later"]) {
      const copy = join(folder, `copy-${kind}-${n}-${times.later.length}.parquet`);
      copyFileSync(path, copy);
      wire.warm();
      const began = now();
      const body = JSON.stringify({ paths: [copy] });
      const reply = await wire.ask("/api/traces", { method: "POST", body });
      const { trace_id: id } = JSON.parse(reply.body);
      await ready(wire, id);
      await wire.ask(question(id));
      times[kind].push(now() - began);
      await sleep(100);
    }
    wire.close();
    server.stop();
    await sleep(300);
  }
  const names = {
    start: "start of the program, open, first answer",
    first: "a running server opens its first file, first answer",
    later: "a running server opens a further file, first answer",
  };
  for (const [kind, list] of Object.entries(times))
    first.push([names[kind], String(list.length), Math.min(...list).toFixed(0),
      percentile(list, 0.5).toFixed(0), Math.max(...list).toFixed(0)]);
}

// ---- Slices ----

async function slices(events) {
  const path = join(folder, `s${events}.json`);
  run(program, ["gen", "chrome-json", "--events", String(events), "--seed", "1", "-o", path]);
  const { wire, one, lanes, stop } = await open(path);
  const tracks = lanes.filter((lane) => lane.id !== null).slice(0, 64);
  const ids = tracks.map((lane) => lane.id).join(",");
  const base = `/api/traces/1/window?tracks=${ids}&buckets=2048`;
  await measure("slices: full range, 2048 buckets, 64 lanes", events, 100, wire, () => base);
  const makeAny = windowMaker(one.bounds, 9, base);
  await measure("slices: any window, 2048 buckets, 64 lanes", events, 100, wire, makeAny);
  stop();
}

function generated(events) {
  const path = join(folder, `e${events}.parquet`);
  run(program, ["gen", "event-trace", "--events", String(events), "--seed", "1", "-o", path]);
  return path;
}

const small = generated(1e6);
await records(small, 1e6);
if (size === "full") await records(generated(1e8), 1e8);
if (size.endsWith(".parquet")) await records(size, 1e8);
await firstAnswers(small);
if (!size.endsWith(".parquet")) await slices(1e6);
if (size === "full") await slices(1e7);
const columns = ["question", "events", "asked", "MB", "median", "P95", "worst"];
table("Windows over HTTP on loopback, ms", columns, rows);
for (const [label, [less, more]] of Object.entries(ratios))
  if (more) console.log(`${label}: P95 of the larger / of the smaller ${(more / less).toFixed(2)}`);
const kinds = ["from", "runs", "best", "median", "worst"];
table("First answer of a 10^6-row Parquet file, ms", kinds, first);
process.exit(0);
