// Sessions through the program: every call on files fails while ingesting, verifying, replaying and
// recovering; and `meridian record` is killed at random moments. Whatever happened, what is left
// recovers, verifies and replays to the same bytes.
import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const S = 1e9;
const line = (n) => JSON.stringify({ sourceId: "a", adapterSequence: n, hostReceiveMonotonicNs: n * S,
  sourceTimestamp: n * S, clockDomain: "own-ns", kind: "proc.cpu", payload: { cpuNs: n * 1e8, nCpu: 2 } });

/** Commands for the loop of run.mjs: with what to set up, and what must hold after each run. */
export function sessionCommands(folder, program) {
  const run = (args) => spawnSync(program, args, { encoding: "utf8", maxBuffer: 1 << 28, timeout: 60000 });
  const input = join(folder, "lines.ndjson");
  const dir = join(folder, "session");
  const sealed = join(folder, "sealed");
  const left = join(folder, "left.open");
  writeFileSync(input, Array.from({ length: 300 }, (_, n) => line(n + 1)).join("\n") + '\n{"kind":"stopped"}\n');
  const gone = (path) => {
    rmSync(path, { recursive: true, force: true });
    rmSync(`${path}.open`, { recursive: true, force: true });
  };
  run(["session", "ingest", input, "--out", sealed]);
  cpSync(sealed, left, { recursive: true });
  for (const name of ["seal.json", "metrics-manifest.json"]) rmSync(join(left, name), { force: true });

  /** What is wrong with the session at dir, or nothing. */
  const holds = (completed) => {
    if (!existsSync(dir) && !existsSync(`${dir}.open`)) return completed ? "there is no session" : "";
    const recovered = run(["session", "recover", dir]);
    if (recovered.status !== 0)
      return !completed && /no session/.test(recovered.stderr) ? "" : `then recover: ${recovered.stderr}`;
    const verified = run(["verify", dir, "--json"]);
    if (verified.status !== 0) return `then verify: ${verified.stdout}${verified.stderr}`;
    if (completed && JSON.parse(verified.stdout).state !== "completed") return "done and not completed";
    const replayed = run(["replay", dir]);
    return replayed.status === 0 ? "" : `then replay: ${replayed.stdout}${replayed.stderr}`;
  };
  const reset = () => gone(dir);
  const commands = [
    { name: "session ingest", args: ["session", "ingest", input, "--out", dir], reset,
      after: (out) => holds(out.status === 0) },
    { name: "verify", args: ["verify", sealed, "--json"] },
    { name: "replay", args: ["replay", sealed, "--json"] },
    { name: "session samples", args: ["session", "samples", sealed, "--format", "csv"] },
    { name: "session recover", args: ["session", "recover", dir],
      reset: () => { reset(); cpSync(left, `${dir}.open`, { recursive: true }); },
      after: () => holds(false) },
  ];
  return { commands, holds, reset, dir };
}

/** kill -9 of the real program, at random moments. */
export async function sessionKills(folder, program, { holds, reset, dir }, most) {
  let seed = 7, wrong = "", whole = 0, nothing = 0;
  const random = (below) => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return (seed >>> 8) % below;
  };
  const adapter = `i=0; while :; do i=$((i+1)); echo '{"sourceId":"a","kind":"engine","payload":{"gauges":{"load":'$i'}}}'; done`;
  for (let n = 0; n < most && !wrong; n++) {
    reset();
    const child = spawn(program, ["record", "--out", dir, "--pid", String(process.pid), "--every", "5ms",
      "--publish", "20ms", "--adapter", adapter], { stdio: "ignore" });
    const ended = new Promise((done) => child.on("exit", done));
    const limit = random(4) === 0 ? 60 : 400;
    await new Promise((done) => setTimeout(done, random(limit)));
    child.kill("SIGKILL");
    await ended;
    if (existsSync(dir)) whole++;
    else if (!existsSync(`${dir}.open`)) nothing++;
    wrong = holds(false);
    if (wrong) wrong = `kill ${n}: ${wrong}`;
  }
  reset();
  console.log(wrong ? `FAIL faults/session kills: ${wrong}` :
    `PASS faults/session kills: ${most} kills of meridian record (${nothing} before there was a folder, ` +
    `${whole} after sealing), each recovered, sound and replayed`);
}
