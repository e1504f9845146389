// A case is one text file: what it covers, its input, and questions with the answers wanted.
//
//   covers: 3.X 3.overlap                    items of items.json
//   --- input trace.json                     the input, byte for byte (no line feed at the end)
//   [{"ph":"X","ts":1,"dur":2,"name":"a"}]   @<hex ef bb>@ is bytes, @<repeat 3 ab>@ is ababab
//   --- events trace.parquet sim_end_ns=9    an event trace: time_ns,category,component,value[,detail]
//   --- losses                               "name count" a line; no section: nothing is lost
//   --- dump slice name,ts_ns                columns of `dump --table slice`, as CSV without header
//   --- window --buckets 2 | track,row       columns of `window`, as CSV without header
//   --- document window --buckets 2          the JSON that this prints, compared by value
//   --- info bounds                          this member of `info --json`
//   --- fails 2 dump --table x trace.json    exit code and the line on stderr
//   --- prints dump --table x trace.json     the exact standard output
//
// A wanted line that ends in "..." is the beginning of a line. A # line directly before a section's head, or at the top, is a comment.
import { readFileSync, readdirSync, statSync } from "node:fs"
import { join, relative } from "node:path"
import { eventTrace } from "./parquet.mjs"

/** Text with @<...>@ to bytes. */
export function bytesOf(text) {
  const parts = []
  let at = 0
  for (const match of text.matchAll(/@<(hex|repeat) ([\s\S]*?)>@/g)) {
    parts.push(Buffer.from(text.slice(at, match.index)))
    at = match.index + match[0].length
    if (match[1] === "hex") {
      parts.push(Buffer.from(match[2].replaceAll(" ", ""), "hex"))
    } else {
      const [, times, what] = /^(\d+) ([\s\S]*)$/.exec(match[2])
      parts.push(Buffer.from(what.repeat(Number(times))))
    }
  }
  parts.push(Buffer.from(text.slice(at)))
  return Buffer.concat(parts)
}

/** "time,category,component,value[,detail]" a line; null is a null. */
function recordsOf(lines) {
  return lines.map((line) => {
    const [time, category, component, value, ...detail] = line.split(",")
    const cell = (text) => (text === "null" || text === undefined ? null : text)
    return { time_ns: cell(time), category: cell(category), component: cell(component),
      value: cell(value), detail_json: detail.length > 0 ? cell(detail.join(",")) : null }
  })
}

function eventFile(options, lines) {
  const settings = { metadata: {}, types: {}, drop: [], optional: [] }
  for (const option of options) {
    const [key, value] = option.split("=")
    if (key === "drop") settings.drop = value.split("+")
    else if (key === "optional") settings.optional = value.split("+")
    else if (key.startsWith("type.")) settings.types[key.slice(5)] = value
    else settings.metadata[key] = value
  }
  return eventTrace(recordsOf(lines), settings)
}

export function parseCase(path, top) {
  const text = readFileSync(path, "utf8")
  const found = { path, name: relative(top, path).replace(/\.case$/, ""), covers: [], sections: [] }
  let section = null
  let pending = [] // comments that belong to the next head
  for (const line of text.replace(/\n$/, "").split("\n")) {
    if (line.startsWith("--- ")) {
      if (section !== null) while (section.lines.at(-1)?.startsWith("# ")) {
        pending.unshift(section.lines.pop())
      }
      section = { head: line.slice(4), comments: pending, lines: [] }
      pending = []
      found.sections.push(section)
    } else if (section !== null) {
      section.lines.push(line)
    } else if (line.startsWith("covers: ")) {
      found.covers = line.slice(8).split(" ")
      found.first = line
    } else {
      pending.push(line)
    }
  }
  return found
}

export function writeCase(one) {
  const sections = one.sections.flatMap((section) =>
    [...section.comments, `--- ${section.head}`, ...section.lines])
  return `${[one.first, ...sections].join("\n")}\n`
}

/** Input files of a case: name to bytes. */
export function inputsOf(one) {
  const files = new Map()
  for (const { head, lines } of one.sections) {
    const [kind, name, ...options] = head.split(" ")
    if (kind === "input") files.set(name, bytesOf(lines.join("\n")))
    if (kind === "events") files.set(name, eventFile(options, lines))
  }
  return files
}

export function allCases(top) {
  const walk = (folder) => readdirSync(folder).sort().flatMap((name) => {
    const path = join(folder, name)
    if (statSync(path).isDirectory()) return walk(path)
    return name.endsWith(".case") ? [parseCase(path, top)] : []
  })
  return walk(top)
}

/** Cells of CSV text as they are written, quotes and all. */
export function splitCsv(text) {
  const rows = []
  let row = []
  let from = 0
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const c = text.charCodeAt(at)
    if (c === 0x22) quoted = !quoted
    if (quoted || (c !== 0x2c && c !== 0x0a)) continue
    row.push(text.slice(from, at))
    from = at + 1
    if (c === 0x0a) {
      rows.push(row)
      row = []
    }
  }
  return rows
}

/** Rows of CSV text with a header, the named columns only, as CSV lines. */
export function projectCsv(text, columns) {
  const [header, ...body] = splitCsv(text)
  const at = columns.split(",").map((name) => header.indexOf(name))
  const missing = columns.split(",").filter((_, i) => at[i] < 0)
  if (missing.length > 0) return [`there is no column ${missing} in ${header}`]
  return body.flatMap((row) => at.map((i) => row[i]).join(",").split("\n"))
}
