// Every route of /api/evaluation through the real server: lists and their filters, pages and
// refusals, comparison, experiments, tasks, their stream, removal, a server killed in a sweep.
import { spawn } from "node:child_process"
import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { expectSame, finish, meridian, program, show, test, Wrong } from "./lib/run.mjs"

const scratch = mkdtempSync(join(tmpdir(), "meridian-evaluation-"))
const base = { primitive: "allreduce", algorithm: "ring", topology: "ring-4", msg_size_bytes: 4096 }
const started = new Set()

async function serve(data, options = []) {
  const child = spawn(program, ["serve", "--data", data, "--listen", "127.0.0.1:0", ...options],
    { cwd: scratch, stdio: ["ignore", "pipe", "pipe"] })
  const server = { child, said: "" }
  started.add(child)
  child.stderr.on("data", (part) => { server.said += part })
  const ended = new Promise((resolve) => child.on("exit", resolve))
  server.url = await new Promise((resolve, reject) => {
    let text = ""
    child.stdout.on("data", (part) => {
      text += part
      const found = /(http:\/\/\S+)/.exec(text)
      if (found) resolve(found[1].replace(/\/$/, ""))
    })
    child.on("exit", (code) => reject(new Wrong(`the server ended with ${code}: ${server.said}`)))
  })
  server.kill = async (signal) => { child.kill(signal); await ended; started.delete(child) }
  server.ask = async (method, path, body) => {
    const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body)
    const reply = await fetch(`${server.url}${path}`, { method, body: text })
    const got = await reply.text()
    return { status: reply.status, type: reply.headers.get("content-type"),
      body: got === "" ? null : JSON.parse(got) }
  }
  server.get = async (path, status = 200) => {
    const reply = await server.ask("GET", path)
    if (reply.status !==
      status) throw new Wrong(`${path} answers ${reply.status}: ${show(reply.body)}`)
    return reply.body
  }
  return server
}

async function refuses(server, method, path, status, code, words, body) {
  const reply = await server.ask(method, path, body)
  const error = reply.body?.error ?? {}
  if (reply.status !== status || error.code !== code || !words.test(error.message))
    throw new Wrong(`${method} ${path} answers ${reply.status} ${show(reply.body)}`)
}

async function until(what, body) {
  for (let tries = 0; tries < 1200; tries++) {
    if (await body()) return
    await wait(50)
  }
  throw new Wrong(`${what} does not come`)
}
const done = (server, count) => until(`${count} tasks done`, async () =>
  (await server.get(`/api/evaluation/tasks?state=done&page_size=1`)).total === count)

const list = "/api/evaluation/comm-results"
const server = await serve("data", ["--threads", "2"])

await test("evaluation/experiments", async () => {
  const made = await server.ask("POST", "/api/evaluation/experiments",
    { name: "grid", description: "sizes and shapes" })
  expectSame("made", [made.status, made.body.name, made.body.description, made.body.id],
    [201, "grid", "sizes and shapes", 1])
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(made.body.created_at))
    throw new Wrong(show(made.body))
  await refuses(server, "POST", "/api/evaluation/experiments", 409, "exists", /grid/,
    { name: "grid" })
  for (const body of ["", "[]", "{}", '{"name":1}', '{"name":"a","more":1}',
    '{"name":"a","description":3}'])
    await refuses(server, "POST", "/api/evaluation/experiments", 400, "bad_parameter", /allowed/,
      body)
  expectSame("second", (await server.ask("POST", "/api/evaluation/experiments",
    { name: "é/%_" })).body.id, 2)
  const all = await server.get("/api/evaluation/experiments")
  expectSame("all", all.experiments.map((e) => [e.id, e.name, e.results]), [[1, "grid", 0], [2,
    "é/%_", 0]])
  expectSame("one", (await server.get("/api/evaluation/experiments/2")).name, "é/%_")
  await server.get("/api/evaluation/experiments/9", 404)
  await server.get("/api/evaluation/experiments/x", 404)
})

await test("evaluation/tasks: the product of all lists", async () => {
  const posted = await server.ask("POST", "/api/evaluation/tasks", { experiment: "grid",
    spec: { ...base,
    algorithm: ["ring", "auto"], topology: ["ring-4", "star-4", "torus-2d-2x4"],
    msg_size_bytes: [1024, 65536, 1048576], trace: { enabled: true, categories: ["link"] } } })
  expectSame("posted", [posted.status, posted.body.task_ids.length], [202, 18])
  const other = await server.ask("POST", "/api/evaluation/tasks", { experiment: 2, spec: { ...base,
    primitive: "allgather", topology: "RING-8" } })
  expectSame("by number", [other.status, other.body.task_ids.length], [202, 1])
  await done(server, 19)
  const task = await server.get(`/api/evaluation/tasks/${posted.body.task_ids[17]}`)
  expectSame("the last", [task.state, task.progress, task.error, task.experiment_id,
    task.spec.algorithm, task.spec.topology, task.spec.msg_size_bytes],
  ["done", 1, null, 1, "auto", "torus-2d-2x4", 1048576])
  const row = await server.get(`${list}/${task.result_id}`)
  expectSame("its row", [row.task_id, row.experiment_id, row.algorithm, row.topology_name,
    row.config_snapshot.msg_size_bytes, row.per_chip_summary.length, row.algorithm_used === "auto"],
  [task.id, 1, "auto", "torus-2d-2x4", 1048576, 8, false])
  const some = await server.get("/api/evaluation/tasks?experiment_id=1&page=2&page_size=5")
  expectSame("a page", [some.total, some.page, some.page_size, some.tasks.length], [18, 2, 5, 5])
  for (const [body, words] of [
    ["", /no JSON/], ["[]", /allowed is/], ['{"spec":{}}', /required/], ['{"spec":[]}',
      /allowed is/],
    [{ experiment: "grid", spec: base, more: 1 }, /allowed is/], [{ experiment: -1, spec: base },
      /allowed is/],
    [{ experiment: "grid", spec: { ...base, dtype: ["fp8", "fp7"] } },
      /dtype: "fp7", allowed: one of/],
    [{ experiment: "grid", spec: { ...base, x: 1 } }, /x: unknown field, allowed: /],
  ]) {
    const reply = await server.ask("POST", "/api/evaluation/tasks", body)
    if (reply.status !== 400 ||
      !words.test(reply.body.error.message)) throw new Wrong(show(reply.body))
  }
  await refuses(server, "POST", "/api/evaluation/tasks", 404, "no_such_experiment", /9/,
    { experiment: 9, spec: base })
  expectSame("nothing more was queued", (await server.get("/api/evaluation/tasks")).total, 19)
  for (const [query, words] of [["state=x", /state is x, allowed is queued, running/],
    ["page=0", /page is 0, allowed is/], ["page_size=1001",
      /allowed is page from 1, page_size 1 to 1000/],
    ["other=1", /other is unknown, allowed are experiment_id, state, page, page_size/],
    ["page=1&page=2", /page is given twice/]])
    await refuses(server, "GET", `/api/evaluation/tasks?${query}`, 400, "bad_parameter", words)
  await refuses(server, "GET", "/api/evaluation/tasks/nobody", 404, "no_such_task", /nobody/)
  await refuses(server, "DELETE", "/api/evaluation/tasks/nobody", 404, "no_such_task", /nobody/)
  await refuses(server, "DELETE", `/api/evaluation/tasks/${task.id}`, 409, "ended", /has ended/)
})

await test("evaluation/lists: filters", async () => {
  const first = await server.get(list)
  expectSame("defaults", [first.total, first.page, first.page_size, first.results.length], [19, 1,
    50, 19])
  const row = first.results[0]
  for (const name of ["stats",
    "config_snapshot"]) if (name in row) throw new Wrong(`a list row has ${name}`)
  for (const name of ["task_id", "per_chip_summary", "has_trace", "dtype", "straggler_ratio",
    "seed",
    "alg_bw_gb_per_s", "ideal_latency_ns", "data_done_ns", "bottleneck", "events", "wall_ms",
    "algorithm_used", "auto_candidates", "config_hash", "program_version"])
    if (!(name in row)) throw new Wrong(`a list row lacks ${name}`)
  const count = async (query) => (await server.get(`${list}?${query}`)).total
  for (const [query, want] of [
    ["experiment_id=1", 18], ["experiment_id=2", 1], ["experiment_id=1&experiment_id=2", 19],
    ["experiment_id=77", 0], ["experiment=grid", 18], ["primitive=allreduce", 18],
      ["primitive=AllReduce", 0],
    ["primitive=allreduce&primitive=allgather", 19], ["topology_name=ring-4", 6],
      ["topology_name=RING-4", 6],
    ["topology_name=ring%25", 7], ["topology_name=%254", 18], ["topology_name=ring__", 7],
    ["topology_name=ring__4", 0], ["topology_name=ring_4", 6], ["topology_name=ring%5C_4", 0],
    ["topology_name=ring", 0], ["topology_name=ring-4&topology_name=star-4", 12],
      ["msg_size_min=65536", 12],
    ["msg_size_max=65536", 13], ["msg_size_min=2048&msg_size_max=65536", 7],
    ["experiment_id=1&topology_name=star%25&msg_size_min=1048576", 2],
  ]) expectSame(query, await count(query), want)
  const auto = await server.get(`${list}?algorithm=auto`)
  expectSame("asked for", auto.results.map((r) => r.algorithm), Array(9).fill("auto"))
  const used = auto.results[0].algorithm_used
  expectSame("what ran matches too", (await server.get(`${list}?algorithm=${used}`)).results.some(
    (r) => r.algorithm === "auto"), true)
  expectSame("without /api", await server.get(list.slice(4)), await server.get(list))
  expectSame("no injection", await count("primitive=%27%20OR%201%3D1%20--"), 0)
  expectSame("traces", first.results.map((r) => r.has_trace).filter(Boolean).length, 18)
})

await test("evaluation/lists: order and pages", async () => {
  for (const by of ["created_at", "total_latency_ns", "msg_size_bytes", "bus_bw_gb_per_s"])
    for (const order of ["asc", "desc"]) {
      const whole = (await server.get(`${list}?sort_by=${by}&sort_order=${order}`)).results
      const sign = order === "asc" ? 1 : -1
      for (let i = 1; i < whole.length; i++) {
        const [a, b] = [whole[i - 1], whole[i]]
        if (sign * (a[by] < b[by] ? -1 : a[by] > b[by] ? 1 : a.id - b.id) > 0)
          throw new Wrong(`${by} ${order}: ${a.id} before ${b.id}`)
      }
      const paged = []
      for (let page = 1; page <= 5; page++)
        paged.push(...(await server.get(
          `${list}?sort_by=${by}&sort_order=${order}&page=${page}&page_size=4`)).results)
      expectSame(`${by} ${order} by pages`, paged.map((r) => r.id), whole.map((r) => r.id))
    }
  expectSame("a page too far", (await server.get(`${list}?page=99`)).results, [])
  for (const [query, words] of [
    ["sort_by=id",
      /sort_by is id, allowed is created_at, total_latency_ns, msg_size_bytes or bus_bw/],
    ["sort_order=up", /sort_order is up, allowed is asc or desc/], ["page=0",
      /page is 0, allowed is 1 or more/],
    ["page=x", /page is x, allowed is 1 or more/], ["page_size=0",
      /page_size is 0, allowed is 1 to 1000/],
    ["page_size=1001", /page_size is 1001, allowed is 1 to 1000/],
    ["msg_size_min=1.5", /msg_size_min is 1\.5, allowed is a whole number/],
    ["experiment_id=x", /experiment_id is x, allowed is a whole number/],
    ["chips=4",
      /chips is unknown, allowed are experiment, experiment_id, primitive, algorithm, top/],
    ["page=1&page=1", /page is given twice/], ["msg_size_min=1&msg_size_min=2",
      /msg_size_min is given twice/],
    ["topology_name=a%5C", /a pattern that does not end in an escape/], ["primitive=%FF",
      /not text, allowed is UTF-8/],
  ]) await refuses(server, "GET", `${list}?${query}`, 400, "bad_parameter", words)
  await refuses(server, "GET", `${list}/99`, 404, "no_such_result", /99/)
  await server.get(`${list}/x`, 404)
})

await test("evaluation/compare", async () => {
  const path = "/api/evaluation/compare?experiment_id=1&algorithm=ring"
  const got = await server.get(path)
  expectSame("axes", [got.x, got.groups], [[1024, 65536, 1048576], ["ring-4", "star-4",
    "torus-2d-2x4"]])
  expectSame("shape", [got.y.length, got.y[0].length, got.ids.length], [3, 3, 3])
  const row = await server.get(`${list}/${got.ids[1][2]}`)
  expectSame("a cell", [row.topology_name, row.msg_size_bytes, row.total_latency_ns],
    ["star-4", 1048576, got.y[1][2]])
  const holes = await server.get("/api/evaluation/compare?group_by=experiment_id&y=bus_bw_gb_per_s")
  expectSame("groups of both experiments", holes.groups.length, 2)
  expectSame("holes are null", holes.y[1].filter((v) => v === null).length, holes.x.length - 1)
  if (!(holes.duplicates > 0)) throw new Wrong("no duplicates counted")
  const two =
    await server.get(`${path}&result_id=${got.ids[0][0]}&result_id=${got.ids[2][1]}`)
  expectSame("two results", [two.ids.flat().filter((id) => id !== null).length, two.duplicates],
    [2, 0])
  for (const [query, words] of [["group_by=stats", /group_by is stats, allowed/], ["y=primitive",
    /y is primitive, allowed/],
    ["x=nothing", /x is nothing, allowed/], ["z=1", /z is unknown, allowed/]])
    await refuses(server, "GET", `/api/evaluation/compare?${query}`, 400, "bad_parameter", words)
})

await test("evaluation/the trace of a result", async () => {
  const row = (await server.get(`${list}?experiment_id=1&page_size=1`)).results[0]
  const reply = await fetch(`${server.url}${list}/${row.id}/trace?buckets=8`)
  expectSame("trace", [reply.status, reply.headers.get("content-type")],
    [200, "application/vnd.apache.arrow.stream"])
  await reply.arrayBuffer()
  const bare = (await server.get(`${list}?experiment_id=2`)).results[0]
  await refuses(server, "GET", `${list}/${bare.id}/trace`, 404, "no_trace", /no trace/)
})

await test("evaluation/the trace of a result opens on the timeline", async () => {
  const row = (await server.get(`${list}?experiment_id=1&page_size=1`)).results[0]
  const posted = await server.ask("POST", "/api/traces", { result: row.id })
  expectSame("opening", [posted.status, posted.body], [202, { trace_id: 1 }])
  let trace
  await until("the trace opens", async () => {
    trace = await server.get("/api/traces/1")
    return trace.state !== "opening"
  })
  expectSame("open", [trace.state, trace.files.map((file) => file.path.endsWith(
    `/${row.trace_file_path}`))], ["ready", [true]])
  if (!(trace.counts.event > 0)) throw new Wrong(show(trace.counts))
  const bare = (await server.get(`${list}?experiment_id=2`)).results[0]
  await refuses(server, "POST", "/api/traces", 404, "no_trace", /no trace/, { result: bare.id })
  await refuses(server, "POST", "/api/traces", 404, "no_such_result", /9999/, { result: 9999 })
  for (const body of [{ result: "1" }, { result: 1.5 }, { result: 0 }, { result: -1 },
    { result: row.id, paths: ["/etc/hosts"] }, { paths: ["/etc/hosts"], result: row.id },
    { result: row.id, manifest: "/etc/hosts" }])
    await refuses(server, "POST", "/api/traces", 400, "bad_parameter", /"result": id/, body)
  expectSame("closed", (await server.ask("DELETE", "/api/traces/1")).status, 200)
})

await test("evaluation/a linked trace outside the folders opens by its result alone", async () => {
  const { trace_file_path: name } =
    (await server.get(`${list}?experiment_id=1&page_size=1`)).results[0]
  const path = join(scratch, "foreign.parquet")
  copyFileSync(join(scratch, "data", name), path)
  const added = await meridian(["results", "add", path, "--link", "--data", "linked"], scratch)
  expectSame("added", [added.code, added.stderr], [0, ""])
  const one = await serve("linked")
  await refuses(one, "POST", "/api/traces", 403, "forbidden", /foreign/, { paths: [path] })
  const posted = await one.ask("POST", "/api/traces", { result: 1 })
  expectSame("opening", posted.status, 202)
  await until("it opens", async () => (await one.get("/api/traces/1")).state === "ready")
  await one.kill("SIGTERM")
})

/** Events of the stream until `enough(list)`. */
async function events(enough, during) {
  const stop = new AbortController()
  const reply = await fetch(`${server.url}/api/evaluation/tasks/events`, { signal: stop.signal })
  expectSame("type", reply.headers.get("content-type"), "text/event-stream")
  const got = [], decoder = new TextDecoder()
  let text = "", begun
  const late = setTimeout(() => stop.abort(), 60000)
  try {
    begun = during(got)
    begun.catch(() => stop.abort())
    for await (const part of reply.body) {
      text += decoder.decode(part, { stream: true })
      for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) {
        const line = text.slice(0, end)
        if (line.startsWith("data: ")) got.push(JSON.parse(line.slice(6)))
        else if (!line.startsWith(":")) throw new Wrong(`the stream says ${line}`)
      }
      if (enough(got)) return got
    }
  } finally {
    clearTimeout(late)
    stop.abort()
    await begun
  }
  throw new Wrong(`the stream ended after ${show(got)}`)
}
const slow = { ...base, topology: "ring-64", msg_size_bytes: 1 << 30, link: { packet_bytes: 1024 } }

await test("evaluation/events and cancelling", async () => {
  let ids = []
  const ends = (got) => ids.length === 4 && ids.every((id) => got.some(
    (e) => e.id === id && ["done", "cancelled", "failed"].includes(e.state)))
  const last = (got, id) => got.findLast((e) => e.id === id)?.state
  const got = await events(ends, async (seen) => {
    const posted = await server.ask("POST", "/api/evaluation/tasks",
      { experiment: "slow", spec: { ...slow, seed: [1, 2, 3, 4] } })
    ids = posted.body.task_ids
    // The stream tells the newest state of a task, not each one between: here the two that wait
    // stay as they are until it has told of them.
    await until("two running and two waiting", async () =>
      show(ids.map((id) => last(seen, id)).sort()) === show(["queued", "queued", "running", "running"]))
    const slowly =
      (await server.get("/api/evaluation/experiments")).experiments.find((e) => e.name === "slow")
    await refuses(server, "DELETE", `/api/evaluation/experiments/${slowly.id}`, 409, "running",
      /2 tasks of this experiment are running/)
    for (const id of [...ids].reverse()) {
      const reply = await server.ask("DELETE", `/api/evaluation/tasks/${id}`)
      if (reply.status !== 200) throw new Wrong(show(reply.body))
    }
  })
  for (const id of ids) {
    const states = got.filter((e) => e.id === id).map((e) => e.state)
    const order = states.map((state) => ["queued", "running", "cancelled"].indexOf(state))
    if (states.at(-1) !== "cancelled" || order.some((at, i) => at < (order[i - 1] ?? 0)))
      throw new Wrong(show(states))
  }
  if ("spec" in got[0]) throw new Wrong("an event carries its spec")
  expectSame("no results", (await server.get(`${list}?experiment=slow`)).total, 0)
})

await test("evaluation/removal takes files with it", async () => {
  const folder = join(scratch, "data/traces/1")
  const rows = (await server.get(`${list}?experiment_id=1`)).results
  const trace = join(folder, `${rows[0].id}_trace.parquet`)
  const records = join(folder, `${rows[0].id}_records.parquet`)
  expectSame("there", [existsSync(trace), existsSync(records)], [true, true])
  expectSame("removed", (await server.ask("DELETE", `${list}/${rows[0].id}`)).status, 200)
  expectSame("gone", [existsSync(trace), existsSync(records)], [false, false])
  await refuses(server, "DELETE", `${list}/${rows[0].id}`, 404, "no_such_result", /./)
  expectSame("without /api", (await server.ask("DELETE", `${list.slice(4)}/${rows[1].id}`)).status,
    200)
  const gone = await server.ask("DELETE", "/api/evaluation/experiments/1")
  expectSame("experiment", [gone.status, gone.body], [200, { id: 1, removed: 16 }])
  expectSame("files", existsSync(folder) ? readdirSync(folder) : [], [])
  expectSame("rows", (await server.get(`${list}?experiment_id=1`)).total, 0)
  expectSame("tasks", (await server.get("/api/evaluation/tasks?experiment_id=1")).total, 0)
  await server.get("/api/evaluation/experiments/1", 404)
  await refuses(server, "DELETE", "/api/evaluation/experiments/1", 404, "no_such_experiment", /./)
})
await server.kill("SIGTERM")

await test("evaluation/a server killed in a sweep loses nothing", async () => {
  let one = await serve("kill", ["--threads", "2"])
  const posted = await one.ask("POST", "/api/evaluation/tasks", { experiment: "k", spec: { ...base,
    topology: "ring-32", msg_size_bytes: 4 << 20, trace: { enabled: true, categories: ["hop"] },
    seed: Array.from({ length: 24 }, (_, i) => i) } })
  expectSame("queued", posted.body.task_ids.length, 24)
  let kills = 0
  for (const enough of [3, 9, 16]) {
    await until(`${enough} done`, async () =>
      (await one.get("/api/evaluation/tasks?state=done&page_size=1")).total >= enough)
    await one.kill("SIGKILL")
    kills++
    one = await serve("kill", ["--threads", "2"])
  }
  await done(one, 24)
  const rows = (await one.get(`${list}?page_size=1000`)).results
  expectSame("a row a task", [...new Set(rows.map((r) => r.task_id))].sort(),
    [...posted.body.task_ids].sort())
  expectSame("rows", [rows.length, kills], [24, 3])
  expectSame("all the same", new Set(rows.map((r) => r.total_latency_ns)).size, 1)
  const names = readdirSync(join(scratch, "kill/traces/1")).sort()
  expectSame("files", names, rows.flatMap((r) =>
    [`${r.id}_records.parquet`, `${r.id}_trace.parquet`]).sort())
  await one.kill("SIGTERM")
})

await test("evaluation/without a data folder's rows", async () => {
  const empty = await serve("empty")
  expectSame("no rows", await empty.get(list), { results: [], total: 0, page: 1, page_size: 50 })
  expectSame("nothing to compare", await empty.get("/api/evaluation/compare"),
    { x: [], groups: [], y: [], ids: [], duplicates: 0 })
  await empty.kill("SIGTERM")
})

await test("evaluation/what a crash left is told, by commands and the server", async () => {
  writeFileSync(join(scratch, "traced.json"), JSON.stringify({ ...base, trace: { enabled: true } }))
  const run = (...args) => meridian([...args, "--data", "lost"], scratch)
  for (let i = 0; i < 8; i++) await run("sim", "run", "traced.json")
  const folder = join(scratch, "lost/traces/1")
  expectSame("quiet", (await run("results", "list")).stderr, "")
  writeFileSync(join(folder, "99_trace.parquet"), "of a run whose row never came")
  rmSync(join(folder, "2_trace.parquet"))
  const gone = "result 2: its trace traces/1/2_trace.parquet is gone\n"
  const first = await run("results", "list")
  const told = first.stderr.replaceAll(/removed \S*lost/g, "removed lost")
  expectSame("told", [first.code, told], [0, "meridian: removed lost/traces/1/99_trace.parquet, " +
    `which no result names\nmeridian: ${gone}`])
  expectSame("removed", existsSync(join(folder, "99_trace.parquet")), false)
  expectSame("told again", (await run("results", "show", "1")).stderr, `meridian: ${gone}`)
  const one = await serve("lost")
  expectSame("by the server", one.said, gone)
  await refuses(one, "GET", `${list}/2/trace`, 404, "trace_file_missing", /./)
  await one.kill("SIGTERM")
  for (const id of [1, 3, 4, 5, 6, 7]) rmSync(join(folder, `${id}_trace.parquet`))
  const many = (await run("results", "compare", "7", "8")).stderr.split("\n")
  expectSame("many", [many.length, many[5]], [7, "meridian: and 2 more files or traces like these"])
})

for (const child of started) child.kill("SIGKILL")
rmSync(scratch, { recursive: true, force: true })
finish()
