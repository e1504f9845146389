// Running the program, and PASS/FAIL/SKIP lines.
import { execFile } from "node:child_process"
import { isDeepStrictEqual } from "node:util"
import { availableParallelism } from "node:os"

export const program = process.env.MERIDIAN ?? ""

/** Runs the program; stdout stays a Buffer. */
export function meridian(args, cwd) {
  return new Promise((resolve) => {
    const options = { cwd, encoding: "buffer", maxBuffer: 1 << 30, timeout: 120000 }
    execFile(program, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1
      resolve({ code, stdout, stderr: stderr.toString(), signal: error?.signal ?? null })
    })
  })
}

/** JSON.parse that keeps whole numbers beyond 2^53 as BigInt. */
export function parseExact(text) {
  const token = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
  const quoted = text.replace(token, (part) =>
    (/^-?\d{16,}$/.test(part) ? `"\\u0001${part}"` : part))
  return JSON.parse(quoted, (_, value) => {
    if (typeof value !== "string" || value[0] !== "\u0001") return value
    const big = BigInt(value.slice(1))
    return Number.isSafeInteger(Number(big)) ? Number(big) : big
  })
}

export function parseLines(text) {
  return text.split("\n").filter((line) => line !== "").map(parseExact)
}

export function show(value) {
  const text = JSON.stringify(value, (_, v) => (typeof v === "bigint" ? `${v}n` : v))
  return text === undefined ? "undefined" : text.length > 1500 ? `${text.slice(0, 1500)}...` : text
}

export const same = isDeepStrictEqual

/** What a checker throws: the reason of a failure. */
export class Wrong extends Error {}

export function expectSame(what, got, want) {
  if (!same(got, want)) throw new Wrong(`${what} is ${show(got)}, wanted ${show(want)}`)
}

const totals = { PASS: 0, FAIL: 0, SKIP: 0 }
export function report(kind, name, why) {
  totals[kind]++
  console.log(why === undefined ? `${kind} ${name}` : `${kind} ${name}: ${why}`)
}
export function finish() {
  process.exitCode = totals.FAIL > 0 ? 1 : 0
}

/** Runs one test; a Wrong is its failure, any other error too. */
export async function test(name, body) {
  try {
    const skip = await body()
    if (typeof skip === "string") report("SKIP", name, skip)
    else report("PASS", name)
  } catch (error) {
    report("FAIL", name, error instanceof Wrong ? error.message : error.stack)
  }
}

/** Bodies of work, as many at a time as there are cores, results in order. */
export async function pool(items, body) {
  const results = new Array(items.length)
  let next = 0
  const worker = async () => {
    while (next < items.length) {
      const at = next++
      results[at] = await body(items[at], at)
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, worker))
  return results
}

/** A table of `dump` as objects; throws Wrong when the program fails. */
export async function dump(table, files, cwd, extra = []) {
  const run = await meridian(["dump", "--table", table, "--json", ...extra, ...files], cwd)
  if (run.code !== 0) throw new Wrong(`dump ${table} ended with ${run.code}: ${run.stderr.trim()}`)
  return parseLines(run.stdout.toString())
}

export async function info(files, cwd, extra = []) {
  const run = await meridian(["info", "--json", ...extra, ...files], cwd)
  if (run.code !== 0) throw new Wrong(`info ended with ${run.code}: ${run.stderr.trim()}`)
  return parseExact(run.stdout.toString())
}

/** Losses as {name: count}; unsupported phases by letter. */
export function lossCounts(losses) {
  const counts = {}
  for (const loss of losses) {
    const name = loss.name === "unsupported_phase" ? `${loss.name} ${loss.excerpt}` : loss.name
    counts[name] = (counts[name] ?? 0) + loss.count
  }
  return counts
}
