// INDEX.md: each item with the cases that hold it. Fails when an item has no case or the file is
// stale; --update writes it. Items are in items.json; a case names its items on its first line, a
// runner or a folder of other goldens names them here.
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs"
import { allCases } from "./lib/case.mjs"
import { Wrong, finish, test } from "./lib/run.mjs"

const here = (path) => new URL(path, import.meta.url).pathname
const items = JSON.parse(readFileSync(here("items.json"), "utf8"))
const update = process.argv.includes("--update")

/** Holders that are no case file: path from the top of the repository, items. */
const others = [
  ["tests/golden/cases.mjs", ["3.threads", "3.gz"]],
  ["tests/golden/cli.mjs", ["3.gz", "4.arrow", "4.parquet.out", "6.strict", "6.output", "6.gen",
    "6.results", "6.help"]],
  ["tests/golden/pairing.mjs", ["4.pairing", "4.anomalies", "4.unclosed", "4.left_truncated",
    "4.right_truncated", "4.snapshot"]],
  ["tests/golden/pairing", ["4.pairing", "4.anomalies", "4.unclosed", "4.left_truncated",
    "4.right_truncated"]],
  ["tests/golden/event-window", ["4.window.raw", "4.window.aggregated", "4.snapshot", "4.anomalies",
    "4.filters", "4.errors"]],
  ["tests/golden/windows.mjs", ["4.window.raw", "4.window.aggregated", "4.filters", "4.errors",
    "4.cli"]],
  ["tests/golden/reports.mjs", ["3.gz"]],
  ["tests/unit/ingest/chrome_json", ["3.threads"]],
  ["tests/interop/arrow.test.mjs", ["4.arrow"]],
]

const top = here("../../")
const holders = new Map(Object.keys(items).map((item) => [item, []]))
const unknown = []
function hold(item, path) {
  if (!holders.has(item)) unknown.push(`${path} names ${item}, which is no item`)
  else holders.get(item).push(path)
}
for (const one of allCases(here("cases/"))) {
  if (one.covers.length === 0) unknown.push(`${one.name} names no item`)
  for (const item of one.covers) hold(item, `cases/${one.name}.case`)
}
for (const [path, covered] of others) {
  if (!existsSync(`${top}${path}`)) continue
  for (const item of covered) hold(item, `../../${path}`)
}

const link = (path) => `[${path.replace("../../", "").replace(/^cases\/(.*)\.case$/, "$1")}](${path})`
const text = `# Which case holds what

Written by \`tests/golden/run.sh build/meridian --update\`; a test fails when it is stale or an item
has no case.

| item | what | cases |
| --- | --- | --- |
${Object.entries(items).map(([item, what]) =>
    `| ${item} | ${what} | ${holders.get(item).map(link).join(", ")} |`).join("\n")}
`
if (update) writeFileSync(here("INDEX.md"), text)

await test("golden/index: every case names items", () => {
  if (unknown.length > 0) throw new Wrong(unknown.join("; "))
})
await test("golden/index: every item has a case", () => {
  const without = [...holders].filter(([, paths]) => paths.length === 0).map(([item]) => item)
  if (without.length > 0) throw new Wrong(`none for ${without.join(", ")}`)
})
await test("golden/index: INDEX.md is fresh", () => {
  const stands = existsSync(here("INDEX.md")) ? readFileSync(here("INDEX.md"), "utf8") : ""
  if (stands !== text) throw new Wrong("tests/golden/run.sh build/meridian --update writes it")
})
await test("golden/index: every case file is read", () => {
  const stray = readdirSync(here("cases/"), { recursive: true })
    .filter((name) => /\.[^/]*$/.test(name) && !name.endsWith(".case"))
  if (stray.length > 0) throw new Wrong(`nobody runs ${stray.join(", ")}`)
})
finish()
