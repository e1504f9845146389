// What the adapters share: a tool's output by lines, envelopes to standard output, the end.
//
//   node ADAPTER … -- TOOL ARGUMENTS…    starts the tool: its end is known, and told
//   TOOL ARGUMENTS… | node ADAPTER …     reads standard input: how the tool ended is not known
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"

const numbers = new Map()
const MARK = "\u0001"
/** Values that never get whole must not grow for ever; an envelope may have 1 MiB. */
const OPEN_MAX = 1 << 20

/** Arguments before `--`, and the tool's command behind it (empty: standard input). */
export function argumentsOf(argv = process.argv.slice(2)) {
  const at = argv.indexOf("--")
  return at < 0 ? { options: argv, command: [] }
    : { options: argv.slice(0, at), command: argv.slice(at + 1) }
}

/** A whole number of any size from its digits: it is printed with the same digits. */
export function whole(digits) {
  return /^-?\d{1,20}$/.test(digits ?? "") ? MARK + digits : null
}

/** JSON.parse that keeps the digits of whole numbers beyond 2^53. */
export function parse(text) {
  const token = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
  return JSON.parse(text.replace(token, (part) =>
    (/^-?\d{16,20}$/.test(part) ? `"\\u0001${part}"` : part)))
}

/** True for what is a whole number to whole(), parse() or JSON. */
export function isWhole(value) {
  return Number.isSafeInteger(value) || (typeof value === "string" && /^\u0001-?\d+$/.test(value))
}

/** Prints one envelope; members that are left out mean what docs/sessions.md says. */
export function emit(sourceId, kind, payload, more = {}) {
  const adapterSequence = (numbers.get(sourceId) ?? 0) + 1
  numbers.set(sourceId, adapterSequence)
  const head = { sourceId, adapterSequence, sourceTimestamp: null, clockDomain: "none" }
  const text = JSON.stringify({ ...head, ...more, kind, payload })
  process.stdout.write(`${text.replace(/"\\u0001(-?\d+)"/g, "$1")}\n`)
}

/** Text that is no reading: kept as a diagnostic. */
export function diagnose(text) {
  process.stderr.write(`${text}\n`)
}

/** Prints an error of use. */
export function refuse(text) {
  process.stderr.write(`${text}\n`)
  process.exitCode = 2
}

/** How the tool ended: { code, signal }; a tool that cannot be started has code 127. */
function ended(child) {
  return new Promise((resolve) => {
    child.on("error", (error) => {
      diagnose(error.message)
      resolve({ code: 127, signal: null })
    })
    child.on("close", (code, signal) => resolve({ code, signal }))
  })
}

/**
 * Calls each for every line of the tool, the last one without a line feed included. `stopped` is
 * printed only when the tool ended well or was asked to end: any other end is its own gap.
 */
export async function run(each, command = []) {
  let asked = false
  let child = null
  for (const signal of ["SIGTERM", "SIGINT"])
    process.on(signal, () => {
      asked = true
      child?.kill(signal)
    })
  if (command.length > 0)
    child = spawn(command[0], command.slice(1), { stdio: ["ignore", "pipe", "inherit"] })
  const end = child === null ? { code: 0, signal: null } : ended(child)
  const input = child === null ? process.stdin : child.stdout
  for await (const line of createInterface({ input, crlfDelay: Infinity }))
    if (line.trim() !== "") each(line)
  const { code, signal } = await end
  if (code === 0 || asked) {
    process.stdout.write('{"kind":"stopped"}\n')
  } else {
    diagnose(signal === null ? `the tool ended with exit code ${code}` : `the tool: ${signal}`)
    process.exitCode = code === 0 || code === null ? 1 : code
  }
}

/** JSON values out of lines, whether each stands on one line or on many (indented). */
export function values(each) {
  let open = ""
  const tried = (text) => {
    try {
      return { value: parse(text) }
    } catch {
      return null
    }
  }
  const drop = () => {
    diagnose(`no JSON: ${open.slice(0, 200)}`)
    open = ""
  }
  return (line) => {
    // A value begins in the first column: what is open never got whole.
    if (open !== "" && /^[{[]/.test(line)) drop()
    if (open === "" && !/^\s*[{[]/.test(line)) return diagnose(line)
    const first = open === ""
    open += `${line}\n`
    // Of a value of many lines only the last one closes it in the first column.
    const got = first || /^[}\]]/.test(line) ? tried(open) : null
    if (got !== null) {
      open = ""
      return each(got.value)
    }
    return open.length > OPEN_MAX ? drop() : undefined
  }
}
