// Perfetto protobuf: the cases k and t of the merge folder and the two reports about damaged files.
// Their questions, SQL there, are asked of `dump` here. An instant is a slice of no length in the
// peer, so both tables are read.
import { existsSync, readFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import {
  Wrong, dump, expectSame, finish, info, lossCounts, meridian, pool, report, test,
} from "./lib/run.mjs"

const shared = new URL("../../../shared/", import.meta.url).pathname
const merge = join(shared, "cases/merge")
const reports = join(shared, "cases/reports")

/** RFC 4180 with a header: rows of values, numbers where they are ones. */
function parseCsv(text) {
  return text.trim().split("\n").slice(1).map((line) => [...line.matchAll(/"((?:[^"]|"")*)"|[^,]+/g)]
    .map(([cell, quoted]) => (quoted === undefined ? Number(cell)
      : quoted === "[NULL]" ? null : quoted)))
}

const lines = (rows) => rows.map((row) => JSON.stringify(row)).sort()

async function events(ask) {
  const instants = (await ask("instant")).map((row) => ({ ...row, dur_ns: 0 }))
  return [...(await ask("slice")), ...instants]
}
const nameAndTime = async (ask) => (await events(ask)).map((row) => [row.name, row.ts_ns])

/** Full names as the case builds them: what a track is called, else whose it is. */
async function fullNames(ask) {
  const threads = new Set((await ask("thread")).map((t) => `${t.pid} ${t.tid} ${t.name}`))
  const processes = new Set((await ask("process")).map((p) => `${p.pid} ${p.name}`))
  return (await ask("track")).map((t) => [
    t.tid !== null && threads.has(`${t.pid} ${t.tid} ${t.name}`) ? `thread=${t.name}`
      : t.tid === null && processes.has(`${t.pid} ${t.name}`) ? `process=${t.name}` : t.name])
}

async function samples(ask) {
  const names = new Map((await ask("process")).map((p) => [p.pid, p.name]))
  return (await ask("counter")).map((row) =>
    [row.track, names.get(row.pid) ?? null, row.ts_ns, row.value.toFixed(6)])
}

async function trackEvents(ask) {
  const tracks = new Map((await ask("track")).map((t) => [t.id, t]))
  const threads = new Map((await ask("thread")).map((t) => [`${t.pid} ${t.tid}`, t.name]))
  return (await events(ask)).map((row) => {
    const track = tracks.get(row.track)
    const thread = track.tid === null ? null : threads.get(`${track.pid} ${track.tid}`)
    return [track.name === thread ? null : track.name, thread, row.ts_ns, row.dur_ns, row.category,
      row.name]
  })
}

const first = (row) => [row[0]]
const t02Columns = ([counter, process, , owner, , ts, value]) =>
  [counter, process ?? owner, ts, value.toFixed(6)]
const trackColumns = ([track, , thread, , ts, dur, category, name]) =>
  [track, thread, ts, dur, category, name]

/** question, then: how the expected rows are read (same), ours where we differ (README there) */
const cases = {
  k01: [nameAndTime],
  k03: [nameAndTime],
  k04: [nameAndTime],
  k05: [nameAndTime],
  k07: [nameAndTime, { losses: { clock_without_path: 1 } }],
  k09: [nameAndTime, { rows: [["four_hops", 6003], ["five_hops", 6003]] }],
  k11: [async (ask) => {
    const names = (await events(ask)).map((row) => row.name).join(",")
    const lost = (await ask("loss")).find((l) => l.peer_name === "track_event_invalid_timestamp")
    return [[names, lost.count]]
  }, { losses: { time_below_zero: 1 } }],
  t01: [fullNames, { read: first }],
  t02: [samples, { read: t02Columns }],
  t04: [trackEvents, { read: trackColumns }],
  t05: [async (ask) => (await ask("flow")).map((row) => [row.from_name, row.to_name])],
  t07: [async (ask) => (await ask("track")).map((row) => [row.name])],
  t08: [trackEvents, { read: trackColumns }],
}

async function runCase(folder) {
  await test(`perfetto/${folder}`, async () => {
    const known = cases[folder.slice(0, 3)]
    if (known === undefined) throw new Wrong("nothing here asks this case")
    const [question, ours = {}] = known
    const ask = (table) => dump(table, ["input.pftrace"], join(merge, folder))
    const expected = () => parseCsv(readFileSync(join(merge, folder, "expected.csv"), "utf8"))
    const want = ours.rows ?? expected().map(ours.read ?? ((row) => row))
    expectSame("rows", lines(await question(ask)), lines(want))
    expectSame("losses", lossCounts(await ask("loss")), ours.losses ?? {})
  })
}

async function runCut() {
  const folder = join(reports, "43-proto-truncated-tail")
  const ask = (table) => dump(table, ["tail-cut.pftrace"], folder)
  const tracks = new Map((await ask("track")).map((t) => [t.id, t.name]))
  const slices = (await ask("slice")).map((row) =>
    [tracks.get(row.track), row.name, row.ts_ns, row.dur_ns, row.depth])
  expectSame("slices", lines(slices), lines([["Queue", "outer", 100, 100, 0],
    ["Queue", "inner", 120, 60, 1], ["Queue", "late-seq", 300, 50, 0]]))
  const instants = (await ask("instant")).map((row) => [row.pid, row.tid, row.name, row.ts_ns])
  expectSame("instants", instants, [[5, 6, "tick", 250]])
  expectSame("losses", lossCounts(await ask("loss")), { truncated_packet: 1 })
  const head = await meridian(["info", "head-cut.pftrace"], folder)
  if (head.code === 0 || !head.stderr.includes("unknown format"))
    throw new Wrong(`a file that starts inside a packet: ${head.code}, ${head.stderr}`)
}

async function runLoss() {
  const ask = (table) => dump(table, ["trace.pftrace"],
    join(reports, "44-proto-packet-loss-interning"))
  expectSame("slices", (await ask("slice")).map((row) => [row.name, row.ts_ns, row.dur_ns,
    row.depth]), [["alpha", 10, 10, 0], ["gamma", 50, 15, 0]])
  expectSame("instants", await ask("instant"), [])
  expectSame("losses", lossCounts(await ask("loss")),
    { packet_loss: 1, packets_skipped_need_incremental_state: 3 })
}

/** Two files whose BOOTTIME is taken as one: each event stands where it stands alone. */
async function runTwo() {
  const files = ["k01_snapshot_choice", "k04_two_hops"].map((f) => join(merge, f, "input.pftrace"))
  const ask = (list) => async (table) => dump(table, list, merge)
  const alone = [...await nameAndTime(ask([files[0]])), ...await nameAndTime(ask([files[1]]))]
  expectSame("events", lines(await nameAndTime(ask(files))), lines(alone))
  expectSame("other order", await nameAndTime(ask([...files].reverse())),
    await nameAndTime(ask(files)))
  expectSame("losses", lossCounts(await ask(files)("loss")), {})
}

async function runReal(name) {
  await test(`perfetto/real ${name}`, async () => {
    const document = await info([name], join(shared, "data/perfetto"))
    expectSame("format", document.files[0].format, "perfetto")
    const again = await info(["--threads", "1", name], join(shared, "data/perfetto"))
    expectSame("counts with one thread", again.counts, document.counts)
  })
}

if (!existsSync(merge)) report("SKIP", "perfetto", "../shared is not here")
else {
  await pool(readdirSync(merge).filter((name) => /^[kt]\d/.test(name)), runCase)
  await test("perfetto/two files", runTwo)
  await test("perfetto/43 a cut tail", runCut)
  await test("perfetto/44 packet loss", runLoss)
  await pool(readdirSync(join(shared, "data/perfetto")).filter((name) => /trace$/.test(name)),
    runReal)
}
finish()
