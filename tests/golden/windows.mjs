// The event-window goldens, from a Parquet file through the whole program: each query string as
// options of `window`, the answer as JSON and as CSV. (The unit tests of the query run the same
// files on the module.)
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { splitCsv } from "./lib/case.mjs"
import { eventTrace } from "./lib/parquet.mjs"
import { expectSame, finish, meridian, parseExact, pool, test, Wrong } from "./lib/run.mjs"

const folder = new URL("./event-window/", import.meta.url).pathname
const lists = ["components", "categories"]

/** List values stay encoded on the command line, scalars do not. */
function optionsOf(query) {
  return query.split("&").filter((part) => part !== "").flatMap((part) => {
    const at = part.indexOf("=")
    const name = part.slice(0, at)
    const value = part.slice(at + 1)
    return [`--${name.replaceAll("_", "-")}=${
      lists.includes(name) ? value : decodeURIComponent(value)}`]
  })
}

/** busy_ratio is defined to within 1e-9, but 0 and 1 exactly. */
function ratioFits(got, want) {
  if (got === null || want === null || want === 0 || want === 1) return got === want
  return Math.abs(got - want) <= 1e-9 && got !== 0 && got !== 1
}

function compareRows(got, want) {
  expectSame("number of rows", got.length, want.length)
  got.forEach((row, i) => {
    const { busy_ratio: ratio, ...rest } = row
    const { busy_ratio: wanted, ...others } = want[i]
    expectSame(`row ${i}`, rest, others)
    if (wanted !== undefined && !ratioFits(ratio, wanted))
      throw new Wrong(`busy_ratio of row ${i} is ${ratio}, wanted ${wanted}`)
  })
}

/** The same rows as CSV: cells are the JSON values as text, null is empty. */
function compareCsv(text, rows) {
  const [header, ...body] = splitCsv(text)
  expectSame("rows of CSV", body.length, rows.length)
  body.forEach((cells, i) => header.forEach((name, c) => {
    const value = rows[i][name]
    const cell = cells[c][0] === '"' ? cells[c].slice(1, -1).replaceAll('""', '"') : cells[c]
    expectSame(`CSV row ${i}, ${name}`, cell, value === null ? "" : String(value))
  }))
}

async function check(golden, cwd) {
  const args = ["window", ...optionsOf(golden.query)]
  const run = await meridian([...args, "--format", "json", "t.parquet"], cwd)
  if (golden.error !== undefined) {
    expectSame(`exit of ${golden.error}`, run.code, 2)
    expectSame("lines said", run.stderr.trimEnd().split("\n").length, 1)
    expectSame("bytes printed", run.stdout.length, 0)
    return
  }
  if (run.code !== 0) throw new Wrong(`window ended with ${run.code}: ${run.stderr.trim()}`)
  const { rows, ...rest } = parseExact(run.stdout.toString())
  const { rows: wanted, ...others } = golden.expect
  expectSame("document without rows", rest, others)
  compareRows(rows, wanted)
  const csv = await meridian([...args, "--format", "csv", "t.parquet"], cwd)
  expectSame("exit of csv", csv.code, 0)
  compareCsv(csv.stdout.toString(), rows)
}

async function runCase(file) {
  await test(`event-window/${file.replace(/\.json$/, "")}`, async () => {
    const golden = JSON.parse(readFileSync(join(folder, file), "utf8"))
    const cwd = mkdtempSync(join(tmpdir(), "meridian-window-"))
    try {
      const end = golden.sim_end_ns ?? undefined
      const metadata = end === undefined ? {} : { sim_end_ns: String(end) }
      writeFileSync(join(cwd, "t.parquet"), eventTrace(golden.events, { metadata }))
      await check(golden, cwd)
    } finally {
      rmSync(cwd, { recursive: true })
    }
  })
}

await pool(readdirSync(folder).filter((name) => name.endsWith(".json")).sort(), runCase)
finish()
