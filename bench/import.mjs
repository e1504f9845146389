// Import of generated Chrome JSON against Node's own read and JSON.parse of the same file, in the
// same run, and of the same traces as Perfetto protobuf: bench/import.mjs PROGRAM [quick|full]
import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { readFileSync, writeFileSync } from "node:fs";
import { best, byTurns, percentile, run, table, workFolder } from "./lib.mjs";

const [program, size = "quick"] = process.argv.slice(2);
const folder = workFolder();
const counts = size === "full" ? [1e5, 1e6, 1e7] : [1e5, 1e6];
const rows = [];
const protobuf = [];

/** A process of its own each time, as ours is; it prints its own read + parse time. */
function nodeParse(path) {
  const script =
    "const fs=require('fs');const a=process.hrtime.bigint();" +
    "const v=JSON.parse(fs.readFileSync(process.argv[1],'latin1'));" +
    "console.log(Number(process.hrtime.bigint()-a)/1e6, (v.traceEvents??v).length)";
  const out = spawnSync(process.execPath, ["--max-old-space-size=16000", "-e", script, path]);
  return out.status === 0 ? Number(out.stdout.toString().split(" ")[0]) : NaN;
}

function infoOf(path) {
  return JSON.parse(run(program, ["info", "--json", path]).stdout);
}

/** Two programs with the same arguments at the same time: ms until both are done. */
function pair(args) {
  return run("sh", ["-c", '"$@" >/dev/null & "$@" >/dev/null; wait', "sh", program, ...args]).ms;
}

/** The file by all threads, by one, and by two programs of one thread each at the same time, which
 * tells what the machine's second processor is worth to work that shares nothing. */
function threadRatios(path, rounds) {
  const single = ["info", "--json", "--threads", "1", path];
  const [begin, all, one, beginBoth, both] = byTurns(rounds, [
    () => run(program, ["--version"]).ms,
    () => run(program, ["info", "--json", path]).ms,
    () => run(program, single).ms,
    () => pair(["--version"]),
    () => pair(single),
  ]);
  const shares = [0, 0.5];
  const net = (times, start, share) => percentile(times, share) - percentile(start, share);
  return {
    ours: net(all, begin, 0),
    ratio: shares.map((k) => (net(one, begin, k) / net(all, begin, k)).toFixed(2)).join(", "),
    apart: shares.map((k) => (2 * net(one, begin, k) / net(both, beginBoth, k)).toFixed(2)).join(", "),
  };
}

/** The trace of a JSON file, converted. */
function protobufRow(json, rounds) {
  const path = json.replace(/json$/, "pftrace");
  run(program, ["convert", json, path]);
  const bytes = statSync(path).size;
  const { ours, ratio, apart } = threadRatios(path, rounds);
  const { counts, memory } = infoOf(path);
  return [counts.slice, counts.instant + counts.counter, (bytes / 1e6).toFixed(1), ours.toFixed(1),
    (bytes / 1e3 / ours).toFixed(0), ratio, apart,
    (memory.total / counts.slice).toFixed(0), (memory.process_peak / counts.slice).toFixed(0)];
}

const start = best(9, () => run(program, ["--version"]).ms);
for (const events of counts) {
  const path = join(folder, `t${events}.json`);
  run(program, ["gen", "chrome-json", "--events", String(events), "--seed", "1", "-o", path]);
  const bytes = statSync(path).size;
  const rounds = events > 1e6 ? 3 : 5;
  const { ours, ratio, apart } = threadRatios(path, events > 1e6 ? 3 : 15);
  const node = events > 1e6 ? NaN : best(rounds, () => nodeParse(path));
  const gz = `${path}.gz`;
  writeFileSync(gz, gzipSync(readFileSync(path), { level: 6 }));
  const packed = best(rounds, () => run(program, ["info", "--json", gz]).ms) - start;
  const inflate = best(rounds, () => {
    const begin = process.hrtime.bigint();
    spawnSync("sh", ["-c", `gzip -dc '${gz}' > /dev/null`]);
    return Number(process.hrtime.bigint() - begin) / 1e6;
  });
  const memory = infoOf(path).memory;
  protobuf.push(protobufRow(path, rounds));
  rows.push([
    events.toExponential(0),
    (bytes / 1e6).toFixed(1),
    ours.toFixed(1),
    (bytes / 1e3 / ours).toFixed(0),
    (events / 1e3 / ours).toFixed(1),
    ratio,
    apart,
    Number.isNaN(node) ? "-" : node.toFixed(1),
    Number.isNaN(node) ? "-" : (node / ours).toFixed(1),
    packed.toFixed(1),
    inflate.toFixed(1),
    (memory.process_peak / events).toFixed(0),
    (memory.total / events).toFixed(0),
  ]);
}
table(
  `Import of Chrome JSON (best of 5, ratios of threads best and median of 15; start-up of ${start.toFixed(1)} ms taken off)`,
  ["events", "MB", "ms", "MB/s", "M events/s", "1 thread / all", "two apart", "Node ms", "Node / ours",
    "gz ms", "gzip -d ms", "peak, B/event", "store, B/event"],
  rows,
);
table(
  "The same traces as Perfetto protobuf",
  ["slices", "instants and counters", "MB", "ms", "MB/s", "1 thread / all", "two apart", "store, B/slice", "peak, B/slice"],
  protobuf,
);
