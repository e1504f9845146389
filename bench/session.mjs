// Sessions: ingest speed and memory, and what being recorded costs.
// node bench/session.mjs PROGRAM [quick|full] [ingest|cost]
import { spawn, spawnSync } from "node:child_process";
import { closeSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { percentile, run, table, workFolder } from "./lib.mjs";

const program = process.argv[2] ?? "build/meridian";
const size = process.argv[3] ?? "quick";
const part = process.argv[4] ?? "all";
const folder = workFolder();

// ---- Ingest ----

/** Four sources in turn, as devices print them; some 270 bytes a line, or 130. */
function writeLines(path, count, short) {
  const fd = openSync(path, "w");
  const kinds = [
    ["proc.cpu", (i) => `{"cpuNs":${i * 400000},"nCpu":6}`],
    ["graphics", (i) => `{"CoreAnimationFramesPerSecond":${i % 61}}`],
    ["net.iface", (i) => `{"rxBytes":${i * 100}}`],
    ["frame", () => '{"displayId":1}'],
  ];
  let text = "";
  for (let i = 0; i < count; i++) {
    const [kind, payload] = kinds[i % 4];
    const at = 1e9 + i * 1e6;
    const more = short ? "" : `"adapterSequence":${i},"clockDomain":"ios-ns","sourceEpoch":1,` +
      `"reconnectGeneration":0,"targetGeneration":1,"pid":812,"sourceTimestamp":${at},`;
    text += `{"sourceId":"s${i % 4}","hostReceiveMonotonicNs":${at},${more}"kind":"${kind}",` +
      `"payload":${payload(i)}}\n`;
    if (text.length > 1 << 20) {
      writeSync(fd, text);
      text = "";
    }
  }
  writeSync(fd, `${text}{"kind":"stopped"}\n`);
  closeSync(fd);
}

/** ms, peak memory in MB and CPU seconds of one run. */
function ingest(input, count) {
  const out = join(folder, "session");
  rmSync(out, { recursive: true, force: true });
  const begin = process.hrtime.bigint();
  const script = '"$0" session ingest "$1" --out "$2" --json & pid=$!; peak=0\n' +
    "while now=$(sed -n 's/^VmHWM:[^0-9]*//p' /proc/$pid/status 2>/dev/null) && " +
    '[ -n "$now" ]; do peak=${now% kB}; sleep 0.05; done; wait $pid; echo $?; echo $peak';
  const got = spawnSync("sh", ["-c", script, program, input, out]);
  const ms = Number(process.hrtime.bigint() - begin) / 1e6;
  const lines = got.stdout.toString().trim().split("\n");
  const result = JSON.parse(lines[0]);
  if (lines[1] !== "0" || result.events !== count + 1) throw new Error(got.stderr.toString());
  return { ms, mb: Number(lines[2]) / 1024, samples: result.samples, out };
}

function measureIngest() {
  const rows = [];
  for (const [count, short] of size === "full"
    ? [[1e6, true], [1e6, false], [4e6, false]] : [[5e5, true], [5e5, false], [1e6, false]]) {
    const input = join(folder, "lines.ndjson");
    writeLines(input, count, short);
    const bytes = readFileSync(input).length;
    let one;
    for (let i = 0; i < 3; i++) {
      const again = ingest(input, count);
      if (one === undefined || again.ms < one.ms) one = again;
    }
    const replay = run(program, ["replay", one.out]).ms;
    rows.push([count, (bytes / count).toFixed(0), one.ms.toFixed(0), (count / one.ms / 1e3).toFixed(2),
      (bytes / one.ms / 1e3).toFixed(0), one.mb.toFixed(0), one.samples,
      (count / replay / 1e3).toFixed(2)]);
    rmSync(one.out, { recursive: true, force: true });
  }
  table("Ingest and replay of sessions",
    ["events", "bytes a line", "ms", "M events/s", "MB/s", "peak MB", "samples", "replay, M events/s"],
    rows);
}
if (part !== "cost") measureIngest();

// ---- What being recorded costs ----

const ROUNDS = 5e7; // some 1.5 s
const WORK = `const ROUNDS = ${ROUNDS}; let x = 1; const begin = process.hrtime.bigint();
for (let i = 0; i < ROUNDS; i++) x = (x * 1103515245 + 12345) % 2147483648;
const { user, system } = process.cpuUsage();
console.log(JSON.stringify({ x, ms: Number(process.hrtime.bigint() - begin) / 1e6,
  cpu: (user + system) / 1e3 }))`;

function cpuOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10; // ticks of 10 ms
}

/** The same work, alone or recorded every `every`; ms and CPU of it, CPU of the recorder. */
async function work(every) {
  const child = spawn(process.execPath, ["-e", WORK], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.on("data", (part) => (text += part));
  const ended = new Promise((resolve) => child.on("close", resolve));
  if (every === null) {
    await ended;
    return JSON.parse(text);
  }
  const out = join(folder, `cost${Math.random()}`);
  const recorder = spawn(program, ["record", "--pid", `${child.pid}`, "--every", every, "--out", out],
    { stdio: "ignore" });
  let recorderCpu = 0;
  const look = setInterval(() => {
    try {
      recorderCpu = cpuOf(recorder.pid);
    } catch {
      clearInterval(look);
    }
  }, 100);
  await ended;
  clearInterval(look);
  await new Promise((resolve) => recorder.on("close", resolve));
  return { ...JSON.parse(text), recorderCpu };
}

/** Of paired differences: their median, and the middle half of them. */
function spread(list) {
  const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => percentile(list, share));
  return [`${middle.toFixed(2)} %`, `${low.toFixed(2)} to ${high.toFixed(2)} %`];
}

/** Pairs of the same work, alone and recorded, in alternating order, so that what drifts (clock of
 *  the processor, neighbours) meets both alike. */
async function measureCost() {
  const costs = [];
  for (const every of size === "full" ? ["100ms", "10ms"] : ["100ms"]) {
    const alone = [];
    const more = [];
    const own = [];
    const pairs = size === "full" ? 48 : 16;
    for (let i = 0; i < pairs; i++) {
      const first = i % 2 === 0;
      const pair = first ? [await work(null), await work(every)] : [await work(every), await work(null)];
      const [plain, watched] = first ? pair : pair.reverse();
      alone.push(plain.cpu);
      more.push(100 * (watched.cpu / plain.cpu - 1));
      own.push((100 * watched.recorderCpu) / watched.ms);
    }
    costs.push([every, pairs, percentile(alone, 0.5).toFixed(0), ...spread(more), ...spread(own)]);
  }
  table("What being recorded costs (a process that computes; CPU ms of the same work, in pairs)",
    ["every", "pairs", "alone, median", "more, median", "middle half", "recorder, of one core",
      "middle half"], costs);
}
if (part !== "ingest") await measureCost();
