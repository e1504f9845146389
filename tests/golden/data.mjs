// Real files: what `info` counts against what is known of them. Differences to the peer's counts
// stand with their reasons in docs/peer-differences.md, and only there; the losses of each file are a
// golden (data-losses.json, rewritten by --update).
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { expectSame, finish, info, lossCounts, pool, report, test, Wrong } from "./lib/run.mjs"

const here = (path) => new URL(path, import.meta.url).pathname
const shared = here("../../../shared/data/")
const goldenFile = here("./data-losses.json")
const update = process.argv.includes("--update")

/** Rows of a Markdown table as objects by column. */
function tableOf(text) {
  const rows = text.split("\n").filter((line) => line.startsWith("|"))
    .map((line) => line.split("|").slice(1, -1).map((cell) => cell.trim()))
  const [head, , ...body] = rows
  return body.map((row) => Object.fromEntries(head.map((name, i) => [name, row[i] ?? ""])))
}

function phasesOf(features) {
  const found = /(?:^|; )ph=([^;]*)/.exec(features)
  const pairs = found[1].trim().split(" ").map((part) => part.split(":"))
  return Object.fromEntries(pairs.map(([letter, n]) => [letter, Number(n)]).sort())
}

/** The peer's number of slices is comparable: nothing refused, no error, nothing that it drops. */
function comparable(row) {
  const phases = phasesOf(row.features)
  return row["peer: slices"] !== "" && !row["peer: slices"].startsWith("refuses") &&
    row["errors counted"] === "0" && !/neg-ts/.test(row.features) &&
    !["S", "T", "F", "p"].some((letter) => letter in phases)
}

const differences = existsSync(here("../../docs/peer-differences.md"))
  ? tableOf(readFileSync(here("../../docs/peer-differences.md"), "utf8")) : []
const golden = existsSync(goldenFile) ? JSON.parse(readFileSync(goldenFile, "utf8")) : {}
const seen = {}

/** Column of the table: our count. */
const counted = {
  "peer: slices": (counts) => counts.slice + counts.instant, unclosed: (counts) => counts.unclosed,
  "counter rows": (counts) => counts.counter, flows: (counts) => counts.flow,
}

/** Every count equals the peer's or stands, with both numbers, in the list of differences. */
function compareWithPeer(name, row, counts) {
  const refused = row["peer: slices"].startsWith("refuses")
  for (const [column, count] of Object.entries(counted)) {
    const what = column.replace("peer: ", "")
    const ours = String(count(counts))
    const theirs = refused ? "refused" : row[column]
    const noted = differences.find((one) => one.file === name && one.what === what)
    if (noted === undefined) expectSame(what, ours, theirs)
    else if (ours === theirs) throw new Wrong(`the listed difference in ${what} is gone`)
    else expectSame(`${what}, ours and the peer's as listed`, [noted.ours, noted.peer],
      [ours, theirs])
    if (what === "slices" && noted !== undefined && comparable(row))
      throw new Wrong("the peer's number of slices is comparable here: no difference is allowed")
  }
}

async function checkFile(name, row) {
  const document = await info([name], shared)
  const file = document.files.at(-1) // of an archive: its one member
  expectSame("events", file.events, Number(row.events))
  expectSame("phases", Object.fromEntries(Object.entries(file.phases).sort()),
    phasesOf(row.features))
  const losses = lossCounts(document.losses)
  seen[name] = losses
  if (!update) expectSame("losses", losses, golden[name])
  const bad = document.losses.filter((loss) => loss.severity !== "info")
  if (row["errors counted"] === "0" && bad.length > 0)
    throw new Wrong(`no error is known, but ${bad.map((loss) => loss.name)} counted`)
  compareWithPeer(name, row, document.counts)
}

if (!existsSync(shared)) {
  report("SKIP", "data", "../shared is not here")
} else {
  const files = ["chrome", "pytorch"].flatMap((folder) =>
    tableOf(readFileSync(`${shared}${folder}/README.md`, "utf8"))
      .map((row) => [`${folder}/${row.file}`, row]))
  await pool(files, ([name, row]) => test(`data/${name}`, () => checkFile(name, row)))
  if (update) {
    const sorted = Object.fromEntries(Object.entries(seen).sort())
    writeFileSync(goldenFile, `${JSON.stringify(sorted, null, 1)}\n`)
  }
}
finish()
