// `sim sweep --slurm` on a throw-away Slurm, into SQLite and PostgreSQL; without sbatch its words.
import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { expectSame, finish, program, report, test, Wrong } from "./lib/run.mjs"

const scratch = mkdtempSync(join(tmpdir(), "mrd-sl-"))
const tools = join(import.meta.dirname, "../../tools")
const spec = {
  primitive: "allreduce", algorithm: ["ring", "tree"], topology: ["ring-4", "star-4"],
  msg_size_bytes: [1024, 65536], trace: { enabled: true },
}
writeFileSync(join(scratch, "spec.json"), JSON.stringify(spec))

function run(args, env) {
  const result = spawnSync(program, args, { cwd: scratch, encoding: "utf8", env })
  return { code: result.status, out: result.stdout, said: result.stderr }
}
function results(places, env) {
  const got = run(["results", "list", "--json", "--page-size", "1000", ...places], env)
  if (got.code !== 0) throw new Wrong(got.said)
  return JSON.parse(got.out)
}
/** Rows without what differs from run to run. */
function sorted(list) {
  return list.results.map((r) => [r.algorithm, r.topology_name, r.msg_size_bytes,
    r.total_latency_ns, r.has_trace]).sort((a, b) => (String(a) < String(b) ? -1 : 1))
}
async function finished(env) {
  for (let tries = 0; tries < 400; tries++) {
    const queue = spawnSync("squeue", ["-h"], { env, encoding: "utf8" })
    if (queue.status === 0 && queue.stdout.trim() === "") return
    await wait(50)
  }
  throw new Wrong("the job does not end")
}
function submit(places, env) {
  const got = run(["sim", "sweep", "spec.json", "--slurm", "--json", "--partition", "tests",
    "--max-jobs", "4", "--experiment", "it's one", ...places], env)
  if (got.code !== 0) throw new Wrong(got.said)
  const { job_id, ...rest } = JSON.parse(got.out)
  if (!/^\d+$/.test(job_id)) throw new Wrong(`job_id is ${job_id}`)
  return rest
}

await test("slurm/no sbatch, wrong use", async () => {
  const none = { ...process.env, PATH: "/nowhere" }
  const got = run(["sim", "sweep", "spec.json", "--slurm", "--data", "none"], none)
  expectSame("exit code and words", [got.code, got.said],
    [1, "meridian: sbatch is not in PATH: --slurm needs the commands of Slurm\n"])
  expectSame("what stays", readdirSync(join(scratch, "none/slurm")), [])
  for (const [args, said] of [
    [["--slurm"], /^meridian: --slurm needs --data or --store: /],
    [["--partition", "x"], /^meridian: --partition and --max-jobs need --slurm/],
    [["--slurm", "--data", "none", "--part", "0/2"], /^meridian: --part and --slurm: /],
    [["--resume"], /^meridian: --resume needs --data or --store: /],
    [["--part", "2/2"], /^meridian: --part is 2\/2, allowed is I\/N with I from 0 to N - 1/],
    [["--slurm", "--data", "none", "--max-jobs", "0"], /^meridian: --max-jobs/],
  ]) {
    const wrong = run(["sim", "sweep", "spec.json", ...args])
    if (wrong.code !== 2 || !said.test(wrong.said))
      throw new Wrong(`${args.join(" ")} ended with ${wrong.code}: ${wrong.said}`)
  }
  const bad = run(["sim", "sweep", "spec.json", "--slurm", "--data", "none", "--partition", "a b"])
  if (bad.code !== 2 || !/--partition is a b, allowed are letters/.test(bad.said))
    throw new Wrong(`${bad.code}: ${bad.said}`)
})

await test("slurm/parts and resuming, as the tasks do", async () => {
  const places = ["--data", "plain"]
  for (const part of ["0/5", "3/5", "0/5", "1/5", "2/5", "4/5"])
    expectSame(part, run(["sim", "sweep", "spec.json", "--resume", "--part", part,
      ...places]).code, 0)
  expectSame("runs", results(places).total, 8)
  expectSame("what a second sweep says",
    run(["sim", "sweep", "spec.json", "--resume", "--json", ...places]).out, "")
  expectSame("runs", results(places).total, 8)
  const other = run(["sim", "sweep", "spec.json", "--resume", "--experiment", "b", ...places])
  expectSame("another experiment", [other.code, results(places).total], [0, 16])
})

/** A job array into a store; sent again after some of it was removed. */
async function array(places, env) {
  const job = submit(places, env)
  expectSame("job", [job.runs, job.tasks], [8, 8])
  await finished(env)
  const first = results(places, env)
  expectSame("runs", first.total, 8)
  const direct = ["--data", `direct-${Math.random()}`]
  expectSame("in one process", run(["sim", "sweep", "spec.json", ...direct]).code, 0)
  expectSame("rows", sorted(first), sorted(results(direct)))
  const gone = first.results.slice(0, 2).map((row) => String(row.id))
  expectSame("rm", run(["results", "rm", ...gone, ...places], env).code, 0)
  expectSame("sbatch", spawnSync("sbatch", [job.script], { env }).status, 0)
  await finished(env)
  const second = results(places, env)
  expectSame("rows after a second array", sorted(second), sorted(first))
  expectSame("kept", second.results.filter((row) => first.results.some((r) => r.id ===
    row.id)).length,
    6)
  submit(places, env)
  await finished(env)
  expectSame("rows after a third submission", results(places, env).total, 8)
  if (!readFileSync(job.script, "utf8").includes("#SBATCH --array=0-7%4\n"))
    throw new Wrong("the array has another shape")
}

const folder = `/tmp/mrd-sl-${process.pid}`
const cluster = spawnSync(join(tools, "slurm.sh"), ["start", folder], { encoding: "utf8" })
const env = { ...process.env, SLURM_CONF: cluster.stdout.trim() }
if (cluster.status !== 0) {
  report("SKIP", "slurm/a job array", cluster.stderr.trim())
} else {
  await test("slurm/a job array into SQLite", () => array(["--data", join(scratch, "da ta")], env))
  await test("slurm/a partition that is none", async () => {
    const got = run(["sim", "sweep", "spec.json", "--slurm", "--data", "e", "--partition", "no"],
      env)
    if (got.code !== 1 || !/^meridian: sbatch ended with 1: .*invalid partition/i.test(got.said))
      throw new Wrong(`${got.code}: ${got.said}`)
    expectSame("what stays", readdirSync(join(scratch, "e/slurm")), [])
  })
  await test("slurm/a job array into PostgreSQL", async () => {
    const db = `/tmp/mrd-sp-${process.pid}`
    const postgres = spawnSync(join(tools, "postgres.sh"), ["start", db], { encoding: "utf8" })
    if (postgres.status !== 0) return postgres.stderr.trim()
    try {
      await array(["--data", join(scratch, "pg"), "--store", postgres.stdout.trim()], env)
      if (existsSync(join(scratch, "pg/meridian.db"))) throw new Wrong("SQLite was used")
    } finally {
      spawnSync(join(tools, "postgres.sh"), ["stop", db])
    }
  })
  spawnSync(join(tools, "slurm.sh"), ["stop", folder])
}
rmSync(scratch, { recursive: true, force: true })
finish()
