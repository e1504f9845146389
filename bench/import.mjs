// Import of generated Chrome JSON against Node's own read and JSON.parse of the same file, in the
// same run, and of the same traces as Perfetto protobuf: bench/import.mjs PROGRAM [quick|full]
import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { readFileSync, writeFileSync } from "node:fs";
import { best, run, table, workFolder } from "./lib.mjs";

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

/** The trace of a JSON file, converted. */
function protobufRow(json, rounds) {
  const path = json.replace(/json$/, "pftrace");
  run(program, ["convert", json, path]);
  const bytes = statSync(path).size;
  const ours = best(rounds, () => run(program, ["info", "--json", path]).ms) - start;
  const one = best(rounds, () => run(program, ["info", "--json", "--threads", "1", path]).ms) - start;
  const { counts, memory } = infoOf(path);
  return [counts.slice, counts.instant + counts.counter, (bytes / 1e6).toFixed(1), ours.toFixed(1),
    (bytes / 1e3 / ours).toFixed(0), (one / ours).toFixed(2),
    (memory.total / counts.slice).toFixed(0), (memory.process_peak / counts.slice).toFixed(0)];
}

const start = best(9, () => run(program, ["--version"]).ms);
for (const events of counts) {
  const path = join(folder, `t${events}.json`);
  run(program, ["gen", "chrome-json", "--events", String(events), "--seed", "1", "-o", path]);
  const bytes = statSync(path).size;
  const rounds = events > 1e6 ? 3 : 5;
  const ours = best(rounds, () => run(program, ["info", "--json", path]).ms) - start;
  const one = best(rounds, () => run(program, ["info", "--json", "--threads", "1", path]).ms) - start;
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
    (one / ours).toFixed(2),
    Number.isNaN(node) ? "-" : node.toFixed(1),
    Number.isNaN(node) ? "-" : (node / ours).toFixed(1),
    packed.toFixed(1),
    inflate.toFixed(1),
    (memory.process_peak / events).toFixed(0),
    (memory.total / events).toFixed(0),
  ]);
}
table(
  `Import of Chrome JSON (best of 5; start-up of ${start.toFixed(1)} ms taken off)`,
  ["events", "MB", "ms", "MB/s", "M events/s", "1 thread / all", "Node ms", "Node / ours",
    "gz ms", "gzip -d ms", "peak, B/event", "store, B/event"],
  rows,
);
table(
  "The same traces as Perfetto protobuf",
  ["slices", "instants and counters", "MB", "ms", "MB/s", "1 thread / all", "store, B/slice", "peak, B/slice"],
  protobuf,
);
