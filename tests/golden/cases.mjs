// Runs tests/golden/cases: every case as it stands; cases of JSON also with 1 and 4 threads, and
// compressed, with the same answers. --update writes what the program answers into the cases.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { allCases, inputsOf, projectCsv, writeCase } from "./lib/case.mjs"
import {
  Wrong, finish, lossCounts, meridian, parseExact, parseLines, pool, report, show, test,
} from "./lib/run.mjs"

const top = new URL("./cases/", import.meta.url).pathname
const update = process.argv.includes("--update")
const only = process.argv.slice(2).find((word) => !word.startsWith("--"))

async function answer(args, cwd, what) {
  const run = await meridian(args, cwd)
  if (run.code !== 0) throw new Wrong(`${what} ended with ${run.code}: ${run.stderr.trim()}`)
  return run.stdout.toString()
}

/** What the program says to one section, as the lines that stand in the case. */
const askers = {
  async dump(words, c) {
    const [table, columns] = words
    const text = await answer(["dump", "--table", table, ...c.extra, ...c.files], c.cwd, "dump")
    return projectCsv(text, columns)
  },
  async window(words, c) {
    const bar = words.indexOf("|")
    const args = ["window", "--format", "csv", ...words.slice(0, bar), ...c.extra, ...c.files]
    return projectCsv(await answer(args, c.cwd, "window"), words[bar + 1])
  },
  async document(words, c) {
    const text = await answer([...words, "--json", ...c.extra, ...c.files], c.cwd, words[0])
    return [text.trimEnd()]
  },
  async prints(words, c) {
    return (await answer([...words, ...c.extra], c.cwd, words[0])).replace(/\n$/, "").split("\n")
  },
  async info([path], c) {
    const text = await answer(["info", "--json", ...c.extra, ...c.files], c.cwd, "info")
    const value = path.split(".").reduce((part, key) => part?.[key], parseExact(text))
    return [JSON.stringify(value, (_, v) => (typeof v === "bigint" ? `${v}` : v)) ?? "absent"]
  },
  async fails([code, ...args], c) {
    const run = await meridian([...args, ...c.extra], c.cwd)
    if (run.stdout.length > 0) throw new Wrong(`it printed ${run.stdout.length} bytes and failed`)
    if (run.code !== Number(code)) throw new Wrong(`it ended with ${run.code}, wanted ${code}`)
    return run.stderr.trimEnd().split("\n")
  },
}

async function losses(c) {
  const text = await answer(["dump", "--table", "loss", "--json", ...c.extra, ...c.files], c.cwd,
    "dump loss")
  return Object.entries(lossCounts(parseLines(text))).map(([name, n]) => `${name} ${n}`).sort()
}

const sameDocument = (got, want) => {
  try {
    return show(parseExact(got.join("\n"))) === show(parseExact(want.join("\n")))
  } catch {
    return false
  }
}

/** Asks all sections; returns what differs. */
async function runSections(one, c, rewrite) {
  const wrong = []
  const compare = (head, section, got, equal) => {
    if (rewrite) section.lines = got
    else if (!equal(got, section.lines))
      wrong.push(`${head} gave ${show(got)}, wanted ${show(section.lines)}`)
  }
  const equalLines = (got, want) => got.length === want.length && got.every((line, i) =>
    (want[i].endsWith("...") ? line.startsWith(want[i].slice(0, -3)) : line === want[i]))
  if (!one.sections.some((section) => section.head.startsWith("fails "))) {
    const section = one.sections.find(({ head }) => head === "losses") ??
      { head: "losses", comments: [], lines: [] }
    compare("losses", section, await losses(c), equalLines)
    if (rewrite && section.lines.length > 0 && !one.sections.includes(section))
      one.sections.push(section)
  }
  for (const section of one.sections) {
    const [kind, ...words] = section.head.split(" ")
    if (["input", "events", "losses"].includes(kind)) continue
    if (kind === "fails" && c.variant !== "") continue // offsets and names are of the plain file
    if (askers[kind] === undefined) throw new Wrong(`nothing here asks "${section.head}"`)
    const got = await askers[kind](words, c)
    compare(section.head, section, got, kind === "document" ? sameDocument : equalLines)
  }
  return wrong
}

const variants = {
  "": [], "1 thread": ["--threads", "1"], "4 threads": ["--threads", "4"], compressed: [],
}

async function runCase(one) {
  if (only !== undefined && !one.name.includes(only)) return
  const scratch = mkdtempSync(join(tmpdir(), "meridian-golden-"))
  const inputs = inputsOf(one)
  const files = [...inputs.keys()]
  const isJson = one.sections.some((section) => section.head.startsWith("input "))
  try {
    for (const [variant, extra] of Object.entries(variants)) {
      if (variant !== "" && !isJson) continue
      const name = `golden/${one.name}${variant === "" ? "" : ` (${variant})`}`
      await test(name, async () => {
        for (const [file, bytes] of inputs)
          writeFileSync(join(scratch, file), variant === "compressed" ? gzipSync(bytes) : bytes)
        const rewrite = update && variant === ""
        const wrong = await runSections(one, { cwd: scratch, files, extra, variant }, rewrite)
        if (rewrite) writeFileSync(one.path, writeCase(one))
        if (wrong.length > 0) throw new Wrong(wrong.join("\n    "))
      })
    }
  } finally {
    rmSync(scratch, { recursive: true })
  }
}

const cases = allCases(top)
if (cases.length === 0) report("FAIL", "golden", "there are no cases")
await pool(cases, runCase)
finish()
