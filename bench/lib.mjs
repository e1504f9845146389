// Shared by the benchmarks: temporary folder, timing, percentiles, a server to ask.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

export function workFolder() {
  const folder = mkdtempSync(join(process.env.MRD_BENCH_DIR ?? tmpdir(), "meridian-bench-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  process.env.XDG_CACHE_HOME = folder; // nothing opens warm from an earlier run
  return folder;
}

export function run(program, args) {
  const begin = process.hrtime.bigint();
  const out = spawnSync(program, args, { maxBuffer: 1 << 30 });
  const ms = Number(process.hrtime.bigint() - begin) / 1e6;
  if (out.status !== 0) throw new Error(`${program} ${args.join(" ")}: ${out.stderr}`);
  return { ms, stdout: out.stdout.toString() };
}

/** Least of n runs, which is the figure least disturbed by others on the machine. */
export function best(n, body) {
  let least = Infinity;
  for (let i = 0; i < n; i++) least = Math.min(least, body());
  return least;
}

/** ms of n runs of each body, in turn, so that an hour's ups and downs meet all of them alike. */
export function byTurns(n, bodies) {
  const times = bodies.map(() => []);
  for (let i = 0; i < n; i++) bodies.forEach((body, k) => times[k].push(body()));
  return times;
}

export function percentile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}

export async function serve(program, args) {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (part) => {
      text += part;
      const found = /listening on (http:\S+)/.exec(text);
      if (found) resolve(found[1]);
    });
    child.on("exit", (code) => reject(new Error(`the server ended with ${code}`)));
  });
  return { url, stop: () => child.kill("SIGTERM") };
}

const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

/** One request on a kept connection; resolves with the time to the last byte. */
export function ask(url, headers = {}) {
  return new Promise((resolve, reject) => {
    const begin = process.hrtime.bigint();
    http
      .get(url, { agent, headers }, (reply) => {
        const parts = [];
        reply.on("data", (part) => parts.push(part));
        reply.on("end", () => {
          const ms = Number(process.hrtime.bigint() - begin) / 1e6;
          const body = Buffer.concat(parts);
          if (reply.statusCode >= 400) reject(new Error(`${reply.statusCode} ${body}`));
          else resolve({ ms, body });
        });
      })
      .on("error", reject);
  });
}

export async function waitReady(url) {
  for (;;) {
    const one = JSON.parse((await ask(`${url}/api/traces/1`)).body);
    if (one.state === "failed") throw new Error(JSON.stringify(one.error));
    if (one.state === "ready") return one;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export function table(title, head, rows) {
  console.log(`\n${title}\n`);
  console.log(`| ${head.join(" | ")} |\n|${head.map(() => "---").join("|")}|`);
  for (const row of rows) console.log(`| ${row.join(" | ")} |`);
}
