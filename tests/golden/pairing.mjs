// The pairing goldens, from a Parquet file through the whole program: intervals by `dump`,
// anomalies and the open intervals at a window's start by `window`. (The unit tests of pairing and
// the page run the same files on their own code.)
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { eventTrace } from "./lib/parquet.mjs"
import { dump, expectSame, finish, meridian, parseExact, pool, test, Wrong } from "./lib/run.mjs"

const folder = new URL("./pairing/", import.meta.url).pathname

const flags = { false: "", true: "unclosed" }
const lines = (rows) => rows.map((row) => JSON.stringify(row)).sort()

async function runCase(file) {
  await test(`pairing/${file.replace(/\.json$/, "")}`, async () => {
    const golden = JSON.parse(readFileSync(join(folder, file), "utf8"))
    const scratch = mkdtempSync(join(tmpdir(), "meridian-pairing-"))
    try {
      const metadata = golden.sim_end_ns === undefined || golden.sim_end_ns === null ? {}
        : { sim_end_ns: String(golden.sim_end_ns) }
      writeFileSync(join(scratch, "t.parquet"), eventTrace(golden.events, { metadata }))
      await check(golden, scratch)
    } finally {
      rmSync(scratch, { recursive: true })
    }
  })
}

async function check(golden, cwd) {
  const args = ["window", "--json"]
  const window = golden.window
  if (window?.start_ns !== undefined) args.push("--start-ns", String(window.start_ns))
  if (window?.end_ns !== undefined) args.push("--end-ns", String(window.end_ns))
  const run = await meridian([...args, "t.parquet"], cwd)
  if (run.code !== 0) throw new Wrong(`window ended with ${run.code}: ${run.stderr.trim()}`)
  const answer = parseExact(run.stdout.toString())
  expectSame("anomalies", lines(answer.anomalies), lines(golden.expect.anomalies))
  if (window !== undefined) {
    const open = golden.expect.intervals.filter((one) => one.left_truncated)
    expectSame("open at the start", lines(answer.snapshot.open_intervals.map((one) =>
      [one.component, one.category])), lines(open.map((one) => [one.component, one.category])))
    return
  }
  const tracks = await dump("track", ["t.parquet"], cwd)
  const got = (await dump("slice", ["t.parquet"], cwd)).map((row) => [
    tracks.find((track) => track.id === row.track)?.name, row.name, row.ts_ns,
    row.dur_ns === -1 ? "open" : row.ts_ns + row.dur_ns, row.flags])
  const round = (ns) => Math.sign(ns) * Math.round(Math.abs(ns))
  const want = golden.expect.intervals.map((one) => [one.component, one.category,
    round(one.start_ns), one.unclosed ? "open" : round(one.end_ns), flags[one.unclosed]])
  expectSame("intervals", lines(got), lines(want))
}

await pool(readdirSync(folder).filter((name) => name.endsWith(".json")).sort(), runCase)
finish()
