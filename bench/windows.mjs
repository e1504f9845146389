// Windows over HTTP on loopback: bench/windows.mjs PROGRAM [quick|full]
// The table of event records (10^6, full: 10^8) and slice windows of generated Chrome JSON.
import { join } from "node:path";
import { ask, percentile, run, serve, table, waitReady, workFolder } from "./lib.mjs";

const [program, size = "quick"] = process.argv.slice(2);
const folder = workFolder();
const rows = [];

/** Deterministic numbers, so that two runs ask the same windows. */
function random(seed) {
  let state = seed >>> 0;
  return () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32;
}

async function measure(label, events, count, makeUrl) {
  const times = [];
  let bytes = 0;
  for (let i = 0; i < 10; i++) await ask(makeUrl(i + 1e6));
  for (let i = 0; i < count; i++) {
    const { ms, body } = await ask(makeUrl(i));
    times.push(ms);
    bytes = Math.max(bytes, body.length);
  }
  rows.push([label, events.toExponential(0), String(count), (bytes / 1e6).toFixed(2),
    percentile(times, 0.5).toFixed(2), percentile(times, 0.95).toFixed(2),
    Math.max(...times).toFixed(2)]);
}

async function records(events) {
  const path = join(folder, `e${events}.parquet`);
  run(program, ["gen", "event-trace", "--events", String(events), "--seed", "1", "-o", path]);
  const began = process.hrtime.bigint();
  const { url, stop } = await serve(program, ["open", "--no-browser", "--listen", "127.0.0.1:0", path]);
  const one = await waitReady(url);
  const { body } = await ask(`${url}/api/traces/1/trace?buckets=1`);
  rows.push([`open and first answer (process start included)`, events.toExponential(0), "1",
    (body.length / 1e6).toFixed(2), "-", (Number(process.hrtime.bigint() - began) / 1e6).toFixed(0), "-"]);
  const lanes = JSON.parse((await ask(`${url}/api/traces/1/lanes`)).body).lanes;
  const tracks = lanes.filter((lane) => lane.component);
  const step = tracks.length / 64;
  const chosen = Array.from({ length: Math.min(64, tracks.length) }, (_, i) => tracks[Math.floor(i * step)]);
  const names = [...new Set(chosen.map((lane) => encodeURIComponent(lane.component)))].join(",");
  const { start_ns: start, end_ns: end } = one.bounds;
  const base = `${url}/api/traces/1/trace?components=${names}`;
  await measure("full range, 2048 buckets, 64 tracks", events, 100, () => `${base}&buckets=2048`);
  const rng = random(7);
  await measure("any window, 2048 buckets, 64 tracks", events, 100, () => {
    const width = (end - start) * 10 ** (-3 * rng());
    const from = start + (end - start - width) * rng();
    return `${base}&buckets=2048&start_ns=${from}&end_ns=${from + width}`;
  });
  const share = Math.min(1, 90000 / events);
  await measure("raw, up to 100,000 rows", events, 50, (i) => {
    const from = start + (end - start) * (1 - share) * ((i % 50) / 50);
    return `${url}/api/traces/1/trace?start_ns=${from}&end_ns=${from + (end - start) * share}`;
  });
  stop();
}

async function slices(events) {
  const path = join(folder, `s${events}.json`);
  run(program, ["gen", "chrome-json", "--events", String(events), "--seed", "1", "-o", path]);
  const { url, stop } = await serve(program, ["open", "--no-browser", "--listen", "127.0.0.1:0", path]);
  const one = await waitReady(url);
  const lanes = JSON.parse((await ask(`${url}/api/traces/1/lanes`)).body).lanes;
  const ids = lanes.filter((lane) => lane.id !== null).slice(0, 64).map((lane) => lane.id).join(",");
  const { start_ns: start, end_ns: end } = one.bounds;
  await measure("slices: full range, 2048 buckets, 64 lanes", events, 100, () =>
    `${url}/api/traces/1/window?tracks=${ids}&buckets=2048`);
  const rng = random(9);
  await measure("slices: any window, 2048 buckets, 64 lanes", events, 100, () => {
    const width = (end - start) * 10 ** (-3 * rng());
    const from = start + (end - start - width) * rng();
    return `${url}/api/traces/1/window?tracks=${ids}&buckets=2048&start_ns=${from}&end_ns=${from + width}`;
  });
  stop();
}

await records(1e6);
if (size === "full") await records(1e8);
await slices(1e6);
if (size === "full") await slices(1e7);
table("Windows over HTTP on loopback, ms", ["question", "events", "asked", "MB", "median", "P95", "worst"], rows);
process.exit(0);
