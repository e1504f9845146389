// Recordings that the server starts and stops itself, through the real server: the machine, a
// process, limits, refusals, the list, and what becomes of them when the server ends.
import { spawn, spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { networkInterfaces, tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { expectSame, finish, program, report, test, Wrong } from "./lib/run.mjs"

const scratch = mkdtempSync(join(tmpdir(), "mrd-recordings-"))
const started = new Set()

function run(command, args, options) {
  const child = spawn(command, args, options)
  started.add(child)
  child.on("exit", () => started.delete(child))
  return child
}

async function serve(address, ...args) {
  const child = run(program, ["serve", "--listen", `${address}:0`, ...args],
    { stdio: ["ignore", "pipe", "inherit"] })
  const url = await new Promise((resolve, reject) => {
    child.stdout.on("data", (part) => {
      const found = /(http:\/\/\S+)/.exec(String(part))
      if (found) resolve(found[1].replace(/\/$/, ""))
    })
    child.on("exit", (code) => reject(new Wrong(`the server ended with ${code}`)))
  })
  const ask = async (method, path, body, headers = {}) => {
    const reply = await fetch(url + path, { method, headers,
      body: body === undefined || typeof body === "string" ? body : JSON.stringify(body) })
    return { status: reply.status, ...JSON.parse(await reply.text()) }
  }
  const record = async (what) => {
    const reply = await ask("POST", "/api/sessions", what)
    if (reply.status !== 201) throw new Wrong(`not started: ${JSON.stringify(reply)}`)
    return reply.name
  }
  const end = (name) => ask("POST", `/api/sessions/${name}/stop`)
  const stop = () => new Promise((resolve) => {
    child.on("exit", resolve)
    child.kill("SIGTERM")
  })
  return { ask, record, end, stop, get: (path) => ask("GET", path) }
}

function cli(...args) {
  const got = spawnSync(program, args, { encoding: "utf8" })
  if (got.status !== 0) throw new Wrong(`meridian ${args.join(" ")}: ${got.stderr}`)
  return got.stdout
}

const data = join(scratch, "data")
const folder = (name) => join(data, "sessions", name)
const server = await serve("127.0.0.1", "--data", data)

/** Until the session holds so many events. */
async function events(name, count) {
  for (let tries = 0; tries < 400; tries++) {
    const report = await server.get(`/api/sessions/${name}/report`)
    if (report.status === 200 && report.envelopes >= count) return
    await wait(25)
  }
  throw new Wrong(`${name} does not get ${count} events`)
}

await test("recordings/the machine, from start to seal", async () => {
  const name = await server.record({ host: true, every_ms: 20, publish_ms: 100 })
  if (!/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(name))
    throw new Wrong(`${name} is no uuid`)
  const list = await server.get("/api/sessions")
  expectSame("in the list", list.sessions.map((one) => [one.name, one.state]),
    [[name, "recording"]])
  expectSame("as its own", [list.recordings, list.failed], [[name], []])
  await events(name, 20)
  const over = await server.end(name)
  expectSame("sealed", [over.status, over.name, over.state], [200, name, "completed"])
  expectSame("no longer its own", (await server.get("/api/sessions")).recordings, [])
  const info = await server.get(`/api/sessions/${name}`)
  expectSame("what was asked", [info.identity.target.host, info.identity.target.command,
    info.identity.target.adapters, info.identity.target.everyNs, info.identity.target.publishNs],
    [true, [], [], 20000000, 100000000])
  cli("verify", folder(name))
  expectSame("replays", cli("replay", folder(name)).startsWith("equal"), true)
})

await test("recordings/a process, until it ends", async () => {
  const target = run("sh", ["-c", "while :; do :; done"], { stdio: "ignore" })
  const name = await server.record({ pid: target.pid, every_ms: 20 })
  await events(name, 10)
  target.kill("SIGKILL")
  for (let tries = 0; (await server.get(`/api/sessions/${name}`)).state === "recording"; tries++) {
    if (tries > 400) throw new Wrong("it is not sealed")
    await wait(25)
  }
  const info = await server.get(`/api/sessions/${name}`)
  expectSame("sealed by itself", [info.state, info.identity.target.pid],
    ["completed", target.pid])
  const again = await server.end(name)
  expectSame("over is over", [again.status, again.error.code], [409, "not_recording"])
})

await test("recordings/a duration", async () => {
  const name = await server.record({ host: true, duration_ms: 1000 })
  for (let tries = 0; existsSync(`${folder(name)}.open`); tries++) {
    if (tries > 400) throw new Wrong("it is not sealed")
    await wait(25)
  }
  expectSame("state", (await server.get(`/api/sessions/${name}`)).state, "completed")
})

await test("recordings/refusals", async () => {
  const before = readdirSync(join(data, "sessions"))
  const gone = spawnSync("true").pid
  for (const [body, status, code] of [
    [undefined, 400, "bad_parameter"], ["", 400, "bad_parameter"], ["[]", 400, "bad_parameter"],
    ["{", 400, "bad_parameter"], [{}, 400, "bad_parameter"],
    [{ host: false }, 400, "bad_parameter"], [{ host: 1 }, 400, "bad_parameter"],
    [{ pid: 0 }, 400, "bad_parameter"], [{ pid: -1 }, 400, "bad_parameter"],
    [{ pid: "1" }, 400, "bad_parameter"], [{ pid: 2 ** 31 }, 400, "bad_parameter"],
    [{ pid: 1.5 }, 400, "bad_parameter"],
    ['{"host":true,"host":true}', 400, "bad_parameter"],
    [{ host: true, every_ms: 9 }, 400, "bad_parameter"],
    [{ host: true, publish_ms: 60001 }, 400, "bad_parameter"],
    [{ host: true, duration_ms: 999 }, 400, "bad_parameter"],
    [{ host: true, duration_ms: 86400001 }, 400, "bad_parameter"],
    [{ host: true, out: "/tmp/x" }, 400, "bad_parameter"],
    [{ host: true, dir: "x" }, 400, "bad_parameter"],
    [{ command: ["sh"] }, 403, "forbidden"], [{ host: true, adapters: ["id"] }, 403, "forbidden"],
    [{ pid: gone }, 404, "no_process"],
  ]) {
    const reply = await server.ask("POST", "/api/sessions", body)
    expectSame(JSON.stringify(body ?? null), [reply.status, reply.error?.code], [status, code])
  }
  const host = await server.ask("POST", "/api/sessions", { host: true },
    { origin: "http://elsewhere.example" })
  expectSame("another site's page", [host.status, host.error.code], [403, "forbidden"])
  const none = await server.end("none")
  expectSame("stop what is not there", [none.status, none.error.code], [404, "no_session"])
  const up = await server.end("..%2Fx")
  expectSame("stop outside the folder", [up.status, up.error.code], [404, "no_session"])
  expectSame("nothing was made", readdirSync(join(data, "sessions")), before)
  expectSame("a refused start is no failure", (await server.get("/api/sessions")).failed, [])
})

const outside = Object.values(networkInterfaces()).flat()
  .find((one) => one.family === "IPv4" && !one.internal)?.address
if (outside === undefined)
  report("SKIP", "recordings/from another machine", "this one has no network address")
else await test("recordings/from another machine", async () => {
  // Who asks this address of ours comes from it, and not over loopback.
  const open = await serve(outside, "--token", "recordings", "--data", join(scratch, "open"))
  const authorization = { authorization: "Bearer recordings" }
  const reply = await open.ask("POST", "/api/sessions", { host: true }, authorization)
  expectSame("refused", [reply.status, reply.error.code], [403, "forbidden"])
  expectSame("the token alone is not enough",
    (await open.ask("GET", "/api/sessions", undefined, authorization)).sessions, [])
  await open.stop()
})

await test("recordings/no more than four at once", async () => {
  const names = []
  for (let i = 0; i < 4; i++) names.push(await server.record({ host: true }))
  const fifth = await server.ask("POST", "/api/sessions", { host: true })
  expectSame("the fifth", [fifth.status, fifth.error.code], [503, "busy"])
  expectSame("four", (await server.get("/api/sessions")).recordings.sort(), [...names].sort())
  const first = await server.end(names[0])
  expectSame("one ends", [first.status, first.state], [200, "completed"])
  names[0] = await server.record({ host: true })
  // Two ask at once: both hear of the end.
  const both = await Promise.all([server.end(names[1]), server.end(names[1])])
  for (const one of both)
    if (one.state !== "completed" && one.error?.code !== "not_recording")
      throw new Wrong(JSON.stringify(one))
  if (!both.some((one) => one.state === "completed")) throw new Wrong("nobody was told")
})

await test("recordings/one of another program is not stopped", async () => {
  const recorder = run(program, ["record", "--host", "--out", folder("theirs")],
    { stdio: "ignore" })
  const over = new Promise((resolve) => recorder.on("exit", resolve))
  await events("theirs", 1)
  const reply = await server.end("theirs")
  expectSame("refused", [reply.status, reply.error.code], [409, "not_recording"])
  expectSame("goes on", (await server.get("/api/sessions/theirs")).state, "recording")
  recorder.kill("SIGINT")
  expectSame("exit code", await over, 0)
})

await test("recordings/a folder that goes away is told", async () => {
  const name = await server.record({ host: true, every_ms: 20 })
  await events(name, 5)
  rmSync(`${folder(name)}.open`, { recursive: true })
  const reply = await server.end(name)
  if (reply.status < 400) throw new Wrong(JSON.stringify(reply))
  const { failed } = await server.get("/api/sessions")
  expectSame("kept", failed.map((one) => [one.name, one.code === reply.error.code]),
    [[name, true]])
})

await test("recordings/a server that stops seals what it records", async () => {
  const running = (await server.get("/api/sessions")).recordings
  if (running.length < 2) throw new Wrong(`${running.length} are running`)
  expectSame("exit code", await server.stop(), 0)
  for (const name of running)
    expectSame(name, [existsSync(`${folder(name)}.open`), existsSync(folder(name))],
      [false, true])
  for (const name of running) cli("verify", folder(name))
})

for (const child of started) child.kill("SIGKILL")
rmSync(scratch, { recursive: true, force: true })
finish()
