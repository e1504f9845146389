// The report cases (inputs that broke other viewers) with their stated results. Each member of a
// case's expected JSON has a checker here; a member without one fails, so that nothing that a case
// states goes unasked.
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { spawnSync } from "node:child_process"
import { tmpdir } from "node:os"
import { join } from "node:path"
import {
  Wrong, dump, expectSame, finish, info, lossCounts, meridian, parseExact, pool, report, show, test,
} from "./lib/run.mjs"

const shared = new URL("../../../shared/cases/reports/", import.meta.url).pathname
const wanted = [...Array.from({ length: 39 }, (_, i) => i + 1), 41, 52, 53, 54]

const textOrder = (a, b) => (show(a) < show(b) ? -1 : 1)
function expectSameSet(what, got, want) {
  expectSame(what, [...got].sort(textOrder), [...want].sort(textOrder))
}
const count = (items) => items.length
const sum = (items) => items.reduce((total, item) => total + item, 0)

/** What a case asks, each table read once. */
class Asked {
  constructor(files, folder) {
    this.files = files
    this.folder = folder
    this.tables = new Map()
  }
  table(name) {
    if (!this.tables.has(name)) this.tables.set(name, dump(name, this.files, this.folder))
    return this.tables.get(name)
  }
  info() {
    this.document ??= info(this.files, this.folder)
    return this.document
  }
  async trackOf(row) {
    return (await this.table("track")).find((track) => track.id === row.track)
  }
  async isAsync(row) {
    return (await this.trackOf(row)).kind === "async"
  }
  async window(args) {
    const run = await meridian(["window", "--json", ...args, ...this.files], this.folder)
    if (run.code !== 0) throw new Wrong(`window ended with ${run.code}: ${run.stderr.trim()}`)
    return parseExact(run.stdout.toString()).rows
  }
}

const ends = (row, bounds) => (row.dur_ns === -1 ? bounds.end_ns : row.ts_ns + row.dur_ns)

function union(slices, bounds) {
  let busy = 0
  let covered = -Infinity
  for (const row of slices) {
    const end = ends(row, bounds)
    if (end > covered) busy += end - Math.max(row.ts_ns, covered)
    covered = Math.max(covered, end)
  }
  return busy
}

/** Args that a case's input holds and its expectation leaves out. */
const unasked = { CopyH2D: ["bytes"] }

const flowFields = { 2: (flow) => [flow.from_name, flow.to_name],
  3: (flow) => [flow.from_name, flow.to_name, `id ${flow.id}`] }

const checkers = {
  async load(want, ask) {
    expectSame("load", want, "ok")
    await ask.info()
  },
  async slices(want, ask) {
    const slices = await ask.table("slice")
    const got = slices.map((row) => [row.pid, row.tid, row.name, row.ts_ns, row.dur_ns,
      row.flags.includes("overlap") && row.depth === 0 && row.row > 0 ? `row ${row.row}`
        : row.depth])
    expectSameSet("slices", got, want)
  },
  async slice_count(want, ask) {
    expectSame("slice count", count(await ask.table("slice")), want)
  },
  async unclosed(want, ask) {
    const open = (await ask.table("slice")).filter((row) => row.dur_ns === -1)
    expectSame("unclosed", count(open), want)
    expectSame("counts.unclosed", (await ask.info()).counts.unclosed, want)
  },
  async diagnostics(want, ask) {
    const losses = await ask.table("loss")
    const { worst_ns: worst, ...counts } = want
    expectSame("losses", lossCounts(losses), counts)
    expectSame("losses of info", lossCounts((await ask.info()).losses), counts)
    if (worst === undefined) return
    const found = (await ask.info()).losses.map((loss) => loss.worst_ns).filter((ns) => ns)
    expectSame("worst_ns", found, [worst])
  },
  async rows_used(want, ask) {
    const tracks = (await ask.table("track")).filter((track) =>
      track.kind === "thread" || track.kind === "async")
    expectSame("rows used", sum(tracks.map((track) => track.rows)), want)
  },
  async sum_dur_ns(want, ask) {
    expectSame("sum of dur", sum((await ask.table("slice")).map((row) => row.dur_ns)), want)
  },
  async mean_dur_ns(want, ask) {
    const slices = await ask.table("slice")
    expectSame("mean dur", sum(slices.map((row) => row.dur_ns)) / slices.length, want)
  },
  async busy_union_ns(want, ask) {
    const { bounds } = await ask.info()
    expectSame("busy", union(await ask.table("slice"), bounds), want)
    const window = await ask.window(["--buckets", "1"])
    const length = bounds.end_ns - bounds.start_ns
    const rows = window.filter((row) => row.busy_ratio !== null).map((row) => row.busy_ratio)
    if (rows.some((ratio) => ratio * length > want + 1e-6))
      throw new Wrong(`a row is busier (${show(rows)}) than the union of all`)
  },
  async trace_bounds_ns(want, ask) {
    const { bounds } = await ask.info()
    expectSame("bounds", [bounds.start_ns, bounds.end_ns], want)
  },
  async full_bounds_ns(want, ask) {
    await checkers.trace_bounds_ns(want, ask)
  },
  async default_view_must_contain_ns([from, to], ask) {
    const { view } = await ask.info()
    if (view.start_ns > from || view.end_ns < to) throw new Wrong(`the view is ${show(view)}`)
  },
  async default_view_max_len_ns(want, ask) {
    const { view } = await ask.info()
    if (BigInt(view.end_ns) - BigInt(view.start_ns) > BigInt(want))
      throw new Wrong(`the view is ${show(view)}`)
  },
  async gaps_ns(want, ask) {
    const slices = await ask.table("slice")
    const find = (name) => slices.find((row) => row.name === name)
    for (const [pair, gap] of Object.entries(want)) {
      const [a, b] = pair.split("-").map(find)
      const got = BigInt(b.ts_ns) - BigInt(a.ts_ns) - BigInt(a.dur_ns)
      expectSame(`gap ${pair}`, got, BigInt(gap))
    }
  },
  async counters(want, ask) {
    const got = (await ask.table("counter")).map((row) =>
      [row.pid, row.track, row.series, row.ts_ns, row.value])
    expectSameSet("counters", got, want)
  },
  async flows(want, ask) {
    const flows = await ask.table("flow")
    expectSameSet("flows", flows.map(flowFields[want[0]?.length ?? 2]), want)
  },
  async flow_count(want, ask) {
    expectSame("flow count", count(await ask.table("flow")), want)
  },
  async async_slices(want, ask) {
    const got = []
    for (const row of await ask.table("slice")) {
      const track = await ask.trackOf(row)
      if (track.kind === "async") got.push([row.pid, track.name, row.name, row.ts_ns, row.dur_ns])
    }
    expectSameSet("async slices", got, want)
  },
  async async_tracks(want, ask) {
    const tracks = (await ask.table("track")).filter((track) => track.kind === "async")
    expectSame("async tracks", count(tracks), want)
  },
  async depths(want, ask) {
    expectSame("depths", (await ask.table("slice")).map((row) => row.depth), want)
  },
  async args(want, ask) {
    const slices = await ask.table("slice")
    const rows = await ask.table("args")
    for (const [name, args] of Object.entries(want)) {
      const { id } = slices.find((row) => row.name === name)
      const own = rows.filter((row) => row.slice === id)
      const got = Object.fromEntries(own.map((row) => [row.key, row.value]))
      for (const [key, value] of Object.entries(args))
        expectSame(`args of ${name}, ${key}`, got[key], value)
      const more = Object.keys(got).filter((key) => !(key in args))
      expectSame(`further args of ${name}`, more, unasked[name] ?? [])
      expectSame(`rows of args of ${name}`, own.length, Object.keys(got).length)
    }
  },
  async thread_count(want, ask) {
    expectSame("threads", count(await ask.table("thread")), want)
    expectSame("counts.thread", (await ask.info()).counts.thread, want)
  },
  async process_count(want, ask) {
    expectSame("processes", count(await ask.table("process")), want)
    expectSame("counts.process", (await ask.info()).counts.process, want)
  },
  async threads(want, ask) {
    const got = (await ask.table("thread")).map((row) => [row.pid, row.tid, row.name])
    expectSameSet("threads", got, want)
  },
  async thread_names(want, ask) {
    const rows = await ask.table("thread")
    expectSame("thread names",
      Object.fromEntries(rows.map((row) => [`${row.pid}/${row.tid}`, row.name])),
      { ...Object.fromEntries(rows.map((row) => [`${row.pid}/${row.tid}`, null])), ...want })
  },
  async process_names(want, ask) {
    const rows = await ask.table("process")
    expectSame("process names", Object.fromEntries(rows.map((row) => [row.pid, row.name])), want)
  },
  async process_order(want, ask) {
    expectSame("processes", (await ask.table("process")).map((row) => row.pid), want)
  },
  async thread_order(want, ask) {
    const rows = await ask.table("thread")
    for (const [pid, tids] of Object.entries(want))
      expectSame(`threads of ${pid}`,
        rows.filter((row) => String(row.pid) === pid).map((row) => row.tid), tids)
  },
  async process_label(want, ask) {
    expectSame("process name", (await ask.table("process")).map((row) => row.name), [want])
  },
  async process_names_seen(want, ask) {
    expectSame("names seen", (await ask.table("process")).flatMap((row) => row.names), want)
  },
  async metadata(want, ask) {
    const rows = Object.fromEntries((await ask.table("metadata")).map((row) =>
      [row.key, row.value]))
    const { metadata } = await ask.info()
    for (const [key, value] of Object.entries(want)) {
      expectSame(`metadata ${key}`, rows[key], value)
      expectSame(`metadata ${key} of info`, metadata[key], value)
    }
  },
  async gzip_members(want, ask) {
    for (const file of (await ask.info()).files)
      expectSame(`members of ${file.path}`, file.gzip_members, want)
  },
  async instants(want, ask) {
    const place = { thread: (row) => `thread ${row.pid}/${row.tid}`,
      process: (row) => `process ${row.pid}`, global: () => "global" }
    const got = (await ask.table("instant")).map((row) =>
      [place[row.scope](row), row.name, row.ts_ns])
    expectSame("instants", got, want)
  },
  async args_present(want, ask) {
    const rows = (await ask.table("instant")).filter((row) => row.args !== null)
    expectSame("instants with args", count(rows.filter((row) =>
      Object.keys(JSON.parse(row.args)).some((key) => key !== "stack"))), want)
  },
  async stack_navStart(want, ask) {
    // A stack is counted and its first one shown beside the count.
    const losses = (await ask.table("loss")).filter((loss) => loss.name === "stack_frames_ignored")
    const row = (await ask.table("instant")).find((instant) => instant.name === "navStart")
    const inArgs = row.args !== null ? JSON.parse(row.args).stack : undefined
    const shown = inArgs ?? (losses.length === 1 ? JSON.parse(losses[0].excerpt) : undefined)
    expectSame("stack of navStart", shown, want)
  },
  async window_queries(want, ask) {
    for (const query of want) {
      const rows = await ask.window(["--start-ns", String(query.ns[0]), "--end-ns",
        String(query.ns[1])])
      expectSame(`slices in ${query.ns}`, rows.length, query.hits)
      if (query.names === undefined) continue
      const names = {}
      for (const row of rows) names[row.name] = (names[row.name] ?? 0) + 1
      expectSame(`names in ${query.ns}`, names, query.names)
    }
  },
  async buckets_1ms(want, ask) {
    const rows = await ask.window(["--start-ns", "0", "--end-ns", String(want.count * 1e6),
      "--buckets", String(want.count)])
    expectSame("buckets", rows.length, want.count)
    rows.forEach((row, bucket) => {
      const odd = bucket === want.exception.bucket
      expectSame(`start of bucket ${bucket}`, row.bucket_start_ns, bucket * 1e6)
      expectSame(`slices of bucket ${bucket}`, row.event_count, odd ? want.exception.slices : 1000)
      const busy = odd ? want.exception.busy_ns : want.busy_ns_each
      if (Math.abs(row.busy_ratio * 1e6 - busy) > 1e-3)
        throw new Wrong(`bucket ${bucket} is busy ${row.busy_ratio * 1e6} ns, wanted ${busy}`)
    })
  },
  async first([name, ts, dur], ask) {
    const row = (await ask.table("slice"))[0]
    expectSame("first slice", [row.name, row.ts_ns, row.dur_ns], [name, ts, dur])
  },
  async last([name, ts, dur], ask) {
    const row = (await ask.table("slice")).at(-1)
    expectSame("last slice", [row.name, row.ts_ns, row.dur_ns], [name, ts, dur])
  },
  async distinct_names(want, ask) {
    const names = new Set((await ask.table("slice")).map((row) => row.name))
    expectSame("distinct names", names.size, want)
  },
  async suggested_limit_peak_rss_bytes(want, ask) {
    const { memory } = await ask.info()
    if (memory.process_peak > want) throw new Wrong(`the peak is ${memory.process_peak} bytes`)
  },
}

async function check(expected, ask) {
  for (const [key, want] of Object.entries(expected)) {
    if (checkers[key] === undefined) throw new Wrong(`nothing here checks "${key}"`)
    await checkers[key](want, ask)
  }
}

/** A case of several files: members of "each file" for every one, diagnostics by file. */
async function checkEachFile(expected, folder, inputs) {
  const { "each file": each, diagnostics, ...rest } = expected
  for (const file of inputs) {
    const ask = new Asked([file], folder)
    await check(each, ask)
    await check({ diagnostics: diagnostics[file] }, ask)
  }
  await check(rest, new Asked(["trace.json.gz"], folder))
}

/** A case with a generator: "small.json" as it lies there, "N=..." made by its script. */
async function checkSizes(expected, folder, name) {
  await check(expected["small.json"], new Asked(["small.json"], folder))
  const scratch = mkdtempSync(join(tmpdir(), "meridian-reports-"))
  try {
    const made = spawnSync("python3", [join(folder, "make.py"), "1000000"], { maxBuffer: 1 << 30 })
    if (made.error !== undefined) {
      report("SKIP", `${name}: a million slices`, "python3 is not there")
      return
    }
    if (made.status !== 0) throw new Wrong(`make.py ended with ${made.status}: ${made.stderr}`)
    writeFileSync(join(scratch, "big.json"), made.stdout)
    const { slice_count: slices, sum_dur_ns: total, ...rest } = expected["N=1000000"]
    const ask = new Asked(["big.json"], scratch)
    expectSame("slices", (await ask.info()).counts.slice, slices)
    await check({ sum_dur_ns: total, ...rest }, ask)
  } finally {
    rmSync(scratch, { recursive: true })
  }
}

function expectedOf(folder) {
  const text = readFileSync(join(folder, "expect.md"), "utf8")
  const block = /```json\n([\s\S]*?)```/.exec(text)
  if (block === null) throw new Wrong("expect.md has no JSON block")
  return parseExact(block[1])
}

async function runCase(name) {
  await test(`reports/${name}`, async () => {
    const folder = join(shared, name)
    const expected = expectedOf(folder)
    const inputs = readdirSync(folder).filter((file) => file !== "expect.md")
    if (expected["each file"] !== undefined) return checkEachFile(expected, folder, inputs)
    if (expected["small.json"] !== undefined)
      return checkSizes(expected, folder, `reports/${name}`)
    if (inputs.length !== 1) throw new Wrong(`which of ${show(inputs)} is meant?`)
    return check(expected, new Asked(inputs, folder))
  })
}

if (!existsSync(shared)) {
  report("SKIP", "reports", "../shared is not here")
} else {
  const names = readdirSync(shared).filter((name) => wanted.includes(Number(name.slice(0, 2))))
  await pool(names, runCase)
}
finish()
