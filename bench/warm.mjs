// Opening again what was opened before: bench/warm.mjs PROGRAM [quick|full]
// A generated Chrome JSON trace (10^6 events; full: 2 10^7, which hold 10^7 slices) is opened by a
// running server, from the file and from the kept trace: from POST until its first window is there.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { best, run, serve, table, ask, workFolder } from "./lib.mjs";

const [program, size = "quick"] = process.argv.slice(2);
const folder = workFolder();
const events = size === "full" ? 20_000_000 : 1_000_000;
const path = join(folder, "trace.json");
run(program, ["gen", "chrome-json", "--events", String(events), "--seed", "1", "-o", path]);

/** POST the file, wait until it is ready, ask for 2,048 buckets of its first lane; ms of each. */
async function open(url) {
  const began = process.hrtime.bigint();
  const reply = await fetch(`${url}/api/traces`, { method: "POST",
    headers: { "content-type": "application/json" }, body: JSON.stringify({ paths: [path] }) });
  const { trace_id: id } = await reply.json();
  let one;
  do one = JSON.parse((await ask(`${url}/api/traces/${id}`)).body);
  while (one.state === "opening");
  if (one.state !== "ready") throw new Error(JSON.stringify(one));
  const ready = Number(process.hrtime.bigint() - began) / 1e6;
  const { lanes } = JSON.parse((await ask(`${url}/api/traces/${id}/lanes`)).body);
  const track = lanes.find((lane) => lane.id !== null && lane.rows > 0).id;
  await ask(`${url}/api/traces/${id}/window?tracks=${track}&buckets=2048`);
  const shown = Number(process.hrtime.bigint() - began) / 1e6;
  await fetch(`${url}/api/traces/${id}`, { method: "DELETE" });
  return { ready, shown, slices: one.counts.slice };
}

async function kept() {
  const images = join(folder, "meridian");
  while (!existsSync(images) || !readdirSync(images).some((name) => name.endsWith(".image")))
    await new Promise((resolve) => setTimeout(resolve, 50));
}

const { url, stop } = await serve(program, ["serve", "--data", folder, "--listen", "127.0.0.1:0"]);
const cold = await open(url);
await kept();
const warm = [];
for (let i = 0; i < 5; i++) warm.push(await open(url));
stop();
const started = best(5, () => run(program, ["--version"]).ms);
const info = best(5, () => run(program, ["info", "--json", path]).ms);
const row = (what, one) => [what, one.slices, one.ready.toFixed(1), one.shown.toFixed(1)];
table("Opening by a running server, ms", ["from", "slices", "ready", "first window shown"], [
  row("the file", cold), row("the kept trace, first", warm[0]),
  row("the kept trace, best of 5", warm.reduce((a, b) => (b.shown < a.shown ? b : a))),
]);
console.log(`\nmeridian info of the kept trace: ${info.toFixed(0)} ms, of it start ${started.toFixed(0)} ms`);
