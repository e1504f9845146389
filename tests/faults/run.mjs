// Lets each system call on files fail, one at a time and from there on, and looks at what the
// program makes of it: the right answer or one clear line, never a crash, never a half file.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { sessionCommands, sessionKills } from "./sessions.mjs";

const program = resolve(process.env.MERIDIAN ?? "build/meridian");
const most = Number(process.env.MRD_FAULTS_MOST ?? 400); // calls tried of one command
const folder = mkdtempSync(join(tmpdir(), "meridian-faults-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const shim = join(folder, "shim.so");
const built = spawnSync("cc", ["-shared", "-fPIC", "-O1", "-D_GNU_SOURCE", "-o", shim, "tests/faults/shim.c", "-ldl"]);
if (built.status !== 0) {
  console.log(`FAIL faults: the shim does not build: ${built.stderr}`);
  process.exit(1);
}

function run(args, env = {}) {
  return spawnSync(program, args, {
    env: { ...process.env, ...env },
    encoding: "buffer",
    maxBuffer: 1 << 28,
    timeout: 60000,
  });
}

function must(args) {
  const out = run(args);
  if (out.status !== 0) throw new Error(`${args.join(" ")}: ${out.stderr}`);
}

/** Text in which what differs from run to run is gone. */
function settled(bytes) {
  return bytes
    .toString()
    .replace(/"(resident|peak|process_peak|process_resident)":\d+/g, "")
    .replace(/process peak [\d.]+ MB/g, "")
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, "TIME");
}

/** What is wrong with one faulty run, or nothing. */
function judge(out, want, files) {
  if (out.error) return `did not end: ${out.error.message}`;
  if (out.signal) return `died of ${out.signal}: ${out.stderr}`;
  const text = out.stderr.toString();
  if (![0, 1].includes(out.status)) return `exit ${out.status}: ${text}`;
  if (out.status === 1 && !/^meridian: .+/m.test(text)) return `exit 1 without a line: ${text}`;
  if (out.status === 0 && settled(out.stdout) !== want.stdout) return "exit 0 with another answer";
  for (const { path, bytes } of files)
    if (existsSync(path) && bytes !== null && !readFileSync(path).equals(bytes))
      return `${path} is half written`;
  return "";
}

const json = join(folder, "t.json");
const gz = join(folder, "t.json.gz");
const parquet = join(folder, "t.parquet");
must(["gen", "chrome-json", "--events", "2000", "--seed", "3", "-o", json]);
must(["gen", "event-trace", "--events", "2000", "--seed", "3", "-o", parquet]);
spawnSync("gzip", ["-k", json]);
writeFileSync(join(folder, "whole.json"), readFileSync(json));

const out = join(folder, "out.json");
const data = join(folder, "data");
const sessions = sessionCommands(folder, program);
const commands = [
  { name: "info of JSON", args: ["info", "--json", json] },
  { name: "info of gzip", args: ["info", "--json", gz] },
  { name: "info of Parquet", args: ["info", "--json", parquet] },
  { name: "dump", args: ["dump", "--table", "args", json] },
  { name: "window", args: ["window", parquet, "--buckets", "16", "--format", "arrow"] },
  { name: "gen to a file", args: ["gen", "chrome-json", "--events", "500", "--seed", "3", "-o", out], files: [out] },
  { name: "results add", args: ["results", "add", parquet, "--data", data], fresh: data },
  ...sessions.commands,
];

const only = process.env.MRD_FAULTS_ONLY; // a part of the name
for (const { name, args, files = [], fresh, reset: own, after } of commands) {
  if (only && !name.includes(only)) continue;
  const reset = () => {
    if (own) own();
    for (const file of files) rmSync(file, { force: true });
    if (fresh) rmSync(fresh, { recursive: true, force: true });
  };
  reset();
  const counter = join(folder, "count");
  const good = run(args, { LD_PRELOAD: shim, MRD_FAIL_COUNT: counter });
  if (good.status !== 0 || !existsSync(counter)) {
    console.log(`FAIL faults/${name}: it fails without a fault: ${good.stderr}`);
    continue;
  }
  const calls = Number(readFileSync(counter, "utf8"));
  const want = { stdout: settled(good.stdout) };
  const kept = files.map((path) => ({ path, bytes: readFileSync(path) }));
  const step = Math.max(1, Math.ceil(calls / most));
  let tried = 0, wrong = "";
  for (let at = 1; at <= calls && !wrong; at += step) {
    for (const always of [false, true]) {
      reset();
      const env = { LD_PRELOAD: shim, MRD_FAIL_CALL: String(at) };
      if (always) env.MRD_FAIL_ALWAYS = "1";
      const got = run(args, env);
      wrong ||= judge(got, want, kept) || (after ? after(got) : "");
      tried++;
      if (wrong) wrong = `call ${at} of ${calls}${always ? " and all later" : ""}: ${wrong}`;
    }
  }
  console.log(wrong ? `FAIL faults/${name}: ${wrong}` : `PASS faults/${name}: ${tried} faults, ${calls} calls`);
}
if (!only || "session kills".includes(only))
  await sessionKills(folder, program, sessions, Number(process.env.MRD_FAULTS_KILLS ?? 100));
if (!readFileSync(json).equals(readFileSync(join(folder, "whole.json"))))
  console.log("FAIL faults/inputs: an input was changed");
else console.log("PASS faults/inputs: unchanged");
