// Statements over a generated Chrome trace: bench/sql.mjs PROGRAM [quick|full]
// Each is run in one warm process (query --repeat): parsing, planning, running, the answer as Arrow;
// not opening the trace, which the first statement's own time includes for the database.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { run, table, workFolder } from "./lib.mjs";

const [program, size = "quick"] = process.argv.slice(2);
const folder = workFolder();
const RUNS = 7;
const statements = [
  ["count", "SELECT count(*) FROM slice"],
  ["GROUP BY name, count", "SELECT name, count(*) FROM slice GROUP BY name"],
  ["GROUP BY name, count and sum", "SELECT name, count(*), sum(dur) FROM slice GROUP BY name"],
  ["GROUP BY track", "SELECT track_id, count(*) FROM slice GROUP BY track_id"],
  ["WHERE ts BETWEEN", "SELECT count(*), sum(dur) FROM slice WHERE ts BETWEEN $from AND $to"],
  ["slice(start_ns, end_ns)",
    "SELECT count(*), sum(dur) FROM slice(start_ns := $from, end_ns := $to)"],
  ["all args", "SELECT count(*) FROM args"],
];

function measure(events) {
  const path = join(folder, `g${events}.json`);
  run(program, ["gen", "chrome-json", "--events", String(events), "--seed", "1", "-o", path]);
  const bounds = JSON.parse(run(program, ["query", path, "--json", "-c",
    "SELECT start_ts, end_ts, (SELECT count(*) FROM slice) AS slices FROM trace_bounds"]).stdout);
  const span = bounds.end_ts - bounds.start_ts;
  const from = bounds.start_ts + Math.floor(span * 0.5);
  const input = statements.map(([, sql]) => `${sql.replaceAll("$from", String(from))
    .replaceAll("$to", String(from + Math.floor(span * 0.001)))};\n`).join("");
  const out = spawnSync(program, ["query", path, "--repeat", String(RUNS), "--format", "csv"],
    { input, maxBuffer: 1 << 30 });
  if (out.status !== 0) throw new Error(out.stderr.toString());
  const times = [...out.stderr.toString().matchAll(/^run \d+: ([\d.]+) ms$/gm)]
    .map((found) => Number(found[1]));
  return statements.map(([label], i) => {
    const own = times.slice(i * RUNS, (i + 1) * RUNS);
    const sorted = [...own].sort((a, b) => a - b);
    return [label, bounds.slices.toExponential(2), own[0].toFixed(1),
      sorted[RUNS >> 1].toFixed(1), sorted[0].toFixed(1)];
  });
}

table("SQL in a warm process, ms", ["statement", "slices", "first", "median", "best"],
  (size === "full" ? [1e6, 1.25e7] : [1e6]).flatMap(measure));
