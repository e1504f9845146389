// The adapters of contrib/adapters, each run for real over what its tool prints; what they print is
// read by the program.
import { spawn, spawnSync } from "node:child_process"
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expectSame, finish, program, test, Wrong } from "./lib/run.mjs"

const scratch = mkdtempSync(join(tmpdir(), "mrd-ad-"))
const adapters = join(import.meta.dirname, "../../contrib/adapters")
const shared = join(import.meta.dirname, "../../../shared/data/session")
let made = 0

function adapter(name, args, input) {
  const got = spawnSync("node", [join(adapters, name), ...args], { input, encoding: "utf8" })
  const lines = got.stdout.split("\n").filter((line) => line !== "")
  return { code: got.status, said: got.stderr, text: got.stdout, lines,
    objects: lines.map((line) => JSON.parse(line)) }
}
const json = (rows) => rows.map((row) => `${JSON.stringify(row)}\n`).join("")

/** The lines, received one second after the other, as a session: samples "seq metric value". */
function samples(lines) {
  const text = lines.map((line, i) => {
    const one = line.startsWith('{"sourceId"') && !line.includes('"hostReceiveMonotonicNs"')
    return one ? line.replace("{", `{"hostReceiveMonotonicNs":${(i + 1) * 1e9},`) : line
  }).join("\n")
  const name = join(scratch, `s${++made}`)
  writeFileSync(`${name}.ndjson`, `${text}\n`)
  const ingest = spawnSync(program, ["session", "ingest", `${name}.ndjson`, "--out", name],
    { encoding: "utf8" })
  if (ingest.status !== 0) throw new Wrong(`session ingest: ${ingest.stderr}`)
  const report = JSON.parse(spawnSync(program, ["report", name, "--format", "json"],
    { encoding: "utf8" }).stdout)
  expectSame("lines that did not decode", report.decodeErrors, 0)
  expectSame("lines read", report.envelopes, lines.length)
  const out = spawnSync(program, ["session", "samples", name, "--format", "json"],
    { encoding: "utf8" })
  return out.stdout.split("\n").filter((line) => line !== "").map((line) => {
    const s = JSON.parse(line)
    return `${s.seq} ${s.metric} ${s.value === null ? s.quality : `${s.value} ${s.unit}`}`
  })
}
const only = (list, metric) => list.filter((line) => line.split(" ")[1] === metric)

/** Records of a shared file, as the tool printed them. */
function recorded(path) {
  const file = join(shared, path)
  if (!existsSync(file)) return null
  return readFileSync(file, "utf8").split("\n").filter((line) => line !== "")
    .map((line) => JSON.parse(line).record)
}

/* ---- pymobiledevice3 ---- */

const graphic = (fps, device) => ({
  CoreAnimationFramesPerSecond: fps, "Device Utilization %": device, "Tiler Utilization %": 3,
  "Renderer Utilization %": 7, "In use system memory": 179060736, XRVideoCardRunTimeStamp: 1010679,
})

await test("adapters/pymobiledevice3 graphics", () => {
  const rows = [graphic(58, 11), graphic(0, 0), ["selector:", [graphic(60, 12)]]]
  const got = adapter("pymobiledevice3.mjs", ["graphics"],
    `Monitoring pid=7\n${json(rows)}`)
  expectSame("standard error", got.said, "Monitoring pid=7\n")
  expectSame("kinds", got.objects.map((o) => o.kind),
    ["graphics", "gpu", "graphics", "gpu", "graphics", "gpu", "stopped"])
  expectSame("the row as it came", got.objects[0].payload, rows[0])
  const list = samples(got.lines)
  expectSame("screen rate", only(list, "fps.ca"), ["1 fps.ca warmup", "3 fps.ca 0 fps",
    "5 fps.ca 60 fps"])
  expectSame("GPU", only(list, "gpu.device.pct"), ["2 gpu.device.pct warmup",
    "4 gpu.device.pct 0 percent", "6 gpu.device.pct 12 percent"])
  expectSame("its memory", only(list, "gpu.memory.bytes").at(-1),
    "6 gpu.memory.bytes 179060736 bytes")
})

await test("adapters/pymobiledevice3 graphics, recorded", () => {
  const rows = recorded("ios/graphics.ndjson")
  if (rows === null) return "the shared data is not there"
  const got = adapter("pymobiledevice3.mjs", ["graphics"], json(rows))
  const list = samples(got.lines)
  // The second row has no device share: missing, not 0.
  expectSame("GPU", only(list, "gpu.device.pct"), ["2 gpu.device.pct warmup",
    "4 gpu.device.pct missing", "6 gpu.device.pct 0 percent"])
  return undefined
})

await test("adapters/pymobiledevice3 process", () => {
  const row = (more) => ({ pid: 653, name: "APP", uniqueID: 653, cpuUsage: 12.5,
    physFootprint: 32146312, diskBytesRead: 0, startAbsTime: 9007199254740993, ...more })
  const rows = [row({ cpuUsage: null }), row({ diskBytesRead: 1000 }), row({ cpuUsage: 286.4 }),
    row({ uniqueID: 9653 })]
  // Printed with an indent, between texts; digits beyond 2^53 stay as they are.
  const text = rows.map((one) => JSON.stringify(one, null, 4)).join("\n")
    .replaceAll("9007199254740992", "9007199254740993")
  const got = adapter("pymobiledevice3.mjs", ["process", "6"],
    `Monitoring pid=653\n${text}\nSelected process exited: 653`)
  expectSame("lines", got.lines.length, 5)
  expectSame("what stays text", got.said, "Monitoring pid=653\nSelected process exited: 653\n")
  if (!got.lines[0].includes('"startAbsTime":9007199254740993')) throw new Wrong(got.lines[0])
  const list = samples(got.lines)
  expectSame("of one core", only(list, "cpu.core.pct"), ["1 cpu.core.pct warmup",
    "2 cpu.core.pct 12.5 percent-of-core", "3 cpu.core.pct 286.4 percent-of-core",
    "4 cpu.core.pct discontinuity"])
  expectSame("of all", only(list, "cpu.norm.pct")[2].slice(0, 20), "3 cpu.norm.pct 47.73")
  expectSame("disk", only(list, "disk.read.Bps").slice(0, 2), ["1 disk.read.Bps warmup",
    "2 disk.read.Bps 1000 bytes/s"])
})

await test("adapters/pymobiledevice3 system, network, energy, notifications, recorded", () => {
  const of = (what, path) => {
    const rows = recorded(path)
    return rows === null ? null : adapter("pymobiledevice3.mjs", [what], json(rows))
  }
  const system = of("system", "ios/sysmontap_system.ndjson")
  if (system === null) return "the shared data is not there"
  const cpu = samples(system.lines)
  expectSame("no user share is no 0", only(cpu, "sys.cpu.user.pct"),
    ["1 sys.cpu.user.pct warmup", "3 sys.cpu.user.pct unsupported"])
  const network = of("network", "ios/network.ndjson")
  expectSame("serials", network.objects.filter((o) => o.kind === "net.conn")
    .map((o) => [o.payload.serial, o.payload.rxBytes]), [[54, 1708], [5, 148], [4, 150]])
  expectSame("first sight", new Set(samples(network.lines).map((s) => s.split(" ")[2])),
    new Set(["warmup"]))
  const energy = samples(of("energy", "ios/energy.ndjson").lines)
  expectSame("-1 is none", only(energy, "ios.energy.energy.inducedthermalstate.cost")
    .map((line) => line.split(" ")[2]), ["unsupported", "unsupported", "unsupported",
      "unsupported"])
  expectSame("a score", only(energy, "ios.energy.energy.cost")[1],
    "2 ios.energy.energy.cost -10 raw")
  const states = of("notifications", "ios/notifications.ndjson")
  expectSame("foreground", states.objects.slice(0, 3).map((o) =>
    [o.kind, o.payload.foreground, o.sourceTimestamp, o.clockDomain]), [
    ["app.state", true, 27205542653928, "device-mach"],
    ["app.state", false, 27205678872050, "device-mach"],
    ["app.state", false, 27205683486410, "device-mach"]])
  samples(states.lines)
  return undefined
})

await test("adapters/wrong use", () => {
  for (const args of [[], ["fps"], ["process", "none"], ["graphics", "6"]]) {
    const got = adapter("pymobiledevice3.mjs", args, "")
    expectSame(`exit code of ${args}`, [got.code, got.text], [2, ""])
    if (!/^pymobiledevice3\.mjs: ".*", allowed is .*\n$/.test(got.said)) throw new Wrong(got.said)
  }
})

/* ---- go-ios ---- */

await test("adapters/go-ios", () => {
  const log = 'time=2024-01-01T00:00:00Z level=INFO msg="received CPU usage data" cpu_count=6 ' +
    "enabled_cpus=6 end_time=27205542653928 cpu_total_load=37.5"
  const got = adapter("go-ios.mjs", [], `starting up\n{"fps":58}\n{"fps":0}\n${log}\n` +
    `{"level":"info","cpu_count":6,"end_time":27205542653999,"cpu_total_load":40}\n[1]\n{"a":1}`)
  expectSame("what stays text", got.said, 'starting up\n[1]\n{"a":1}\n')
  const list = samples(got.lines)
  expectSame("samples", list.filter((line) => !line.includes("user")), ["1 fps.ca warmup",
    "2 fps.ca 0 fps", "3 sys.cpu.pct warmup", "4 sys.cpu.pct 40 percent"])
})

/* ---- nvidia-smi ---- */

await test("adapters/nvidia-smi", () => {
  const text = [
    "index, utilization.gpu [%], memory.used [MiB], power.draw [W], temperature.gpu",
    "0, 0 %, 1 MiB, 25.50 W, 41", "1, 37 %, 2048 MiB, [N/A], [N/A]",
    "0, 98 %, 40000 MiB, 301.25 W, 70", "1, [N/A], 2048 MiB, [N/A], [N/A]",
    "Unable to determine the device handle",
  ].join("\n")
  const got = adapter("nvidia-smi.mjs", [], text)
  expectSame("what stays text", got.said, "Unable to determine the device handle\n")
  const list = samples(got.lines)
  expectSame("share", only(list, "gpu.device.pct"), ["1 gpu.device.pct warmup",
    "3 gpu.device.pct warmup", "5 gpu.device.pct 98 percent", "7 gpu.device.pct unsupported"])
  expectSame("memory", only(list, "gpu.memory.bytes").slice(2), [
    "5 gpu.memory.bytes 41943040000 bytes", "7 gpu.memory.bytes 2147483648 bytes"])
  expectSame("power", only(list, "power.w"), ["2 power.w warmup", "4 power.w warmup",
    "6 power.w 301.25 watts", "8 power.w unsupported"])
  expectSame("what has no unit", only(list, "gpu.temperature.gpu").filter((s) => /^[15] /.test(s)),
    ["1 gpu.temperature.gpu warmup", "5 gpu.temperature.gpu 70 raw"])
})

await test("adapters/nvidia-smi without units", () => {
  const got = adapter("nvidia-smi.mjs", [], "index, utilization.gpu\n0, 37\n0, 38\n")
  expectSame("raw", samples(got.lines), ["1 gpu.utilization.gpu warmup",
    "2 gpu.utilization.gpu 38 raw"])
})

/* ---- Android ---- */

const columns = "Flags,FrameTimelineVsyncId,IntendedVsync,Vsync,InputEventId,HandleInputStart," +
  "AnimationStart,PerformTraversalsStart,DrawStart,FrameDeadline,FrameStartTime,FrameInterval," +
  "SyncQueued,SyncStart,IssueDrawCommandsStart,SwapBuffers,FrameCompleted,DequeueBufferDuration," +
  "QueueBufferDuration,GpuCompleted,SwapBuffersCompleted,DisplayPresentTime," +
  "CommandSubmissionCompleted,"
const dump = (rows) => "Applications Graphics Acceleration Info:\n" +
  "** Graphics info for pid 4711 [com.example.app] **\n\nWindow: com.example.app/.Main\n" +
  `Stats since: 4929880705409ns\n---PROFILEDATA---\n${columns}\n${rows.join("\n")}\n` +
  "---PROFILEDATA---\n\nView hierarchy:\n"
const row = (flags, vsync, presented) => `${flags},7,${vsync},${vsync},0,1,1,1,1,1,1,16656996,1,` +
  `1,1,1,${vsync + 10000000},1,1,1,1,${presented},1,`

await test("adapters/gfxinfo", () => {
  const text = dump([row(0, 1000000000, 1049000000), row(0, 1016000000, 1065000000),
    row(0, 1032000000, 0)]) + dump([row(0, 1016000000, 1065000000), row(0, 1032000000, 1081500000),
    row(1, 1048000000, 0), row(0, 1064000000, 1113000000), row(0, 1080000000, 1129000000)])
  const got = adapter("gfxinfo.mjs", [], text)
  expectSame("standard error", got.said, "")
  expectSame("pid, source", [got.objects[0].pid, got.objects[0].sourceId],
    [4711, "android.frames/com.example.app/.Main"])
  expectSame("schema", got.objects[0].schemaId, "frame.presented")
  expectSame("frame times", only(samples(got.lines), "frame.time.ms"), ["1 frame.time.ms warmup",
    "2 frame.time.ms 16 ms", "3 frame.time.ms 16.5 ms", "5 frame.time.ms discontinuity",
    "6 frame.time.ms 16 ms"])
})

await test("adapters/gfxinfo, recorded and old columns", () => {
  const rows = recorded("android/samples.ndjson")
  const old = "---PROFILEDATA---\nFlags,IntendedVsync,Vsync,OldestInputEvent,NewestInputEvent," +
    "HandleInputStart,AnimationStart,PerformTraversalsStart,DrawStart,SyncQueued,SyncStart," +
    "IssueDrawCommandsStart,SwapBuffers,FrameCompleted,\n" +
    "0,100,100,9223372036854775807,0,1,1,1,1,1,1,1,1,20000000,\n" +
    "0,200,200,9223372036854775807,0,1,1,1,1,1,1,1,1,9040000000000000123,\n"
  const got = adapter("gfxinfo.mjs", [], old)
  expectSame("schema", got.objects[1].schemaId, "frame.completed")
  if (!got.lines[1].includes('"sourceTimestamp":9040000000000000123'))
    throw new Wrong(got.lines[1])
  expectSame("frame time", only(samples(got.lines), "frame.time.ms")[1],
    "2 frame.time.ms 9039999999980 ms")
  if (rows === null) return "the shared data is not there"
  const real = rows.map((one) => one.gfxinfo_framestats_row).filter((one) => one !== undefined)
  const list = samples(adapter("gfxinfo.mjs", [], dump(real)).lines)
  expectSame("frame time of real rows", only(list, "frame.time.ms"), ["1 frame.time.ms warmup",
    "2 frame.time.ms 16.655834 ms"])
  return undefined
})

/* ---- How a tool ends ---- */

await test("adapters/the tool's end", () => {
  const tool = (script) => adapter("go-ios.mjs", ["--", "sh", "-c", script], "")
  expectSame("ended well", tool("echo '{\"fps\":1}'; printf '{\"fps\":2}'").objects.at(-1),
    { kind: "stopped" })
  const failed = tool("echo '{\"fps\":1}'; exit 3")
  expectSame("failed", [failed.code, failed.objects.length, failed.said],
    [3, 1, "the tool ended with exit code 3\n"])
  const killed = tool("echo '{\"fps\":1}'; kill -9 $$")
  expectSame("killed", [killed.code, killed.objects.length, killed.said],
    [1, 1, "the tool: SIGKILL\n"])
  const none = adapter("go-ios.mjs", ["--", "/nowhere/ios"], "")
  expectSame("no tool", [none.code, none.text], [127, ""])
})

await test("adapters/adb-gfxinfo.sh until it is asked to stop", async () => {
  const bin = join(scratch, "bin")
  spawnSync("mkdir", [bin])
  writeFileSync(join(scratch, "dump"), dump([row(0, 1000000000, 1049000000)]))
  writeFileSync(join(bin, "adb"), `#!/bin/sh\n[ "$*" = "shell dumpsys gfxinfo com.example.app ` +
    `framestats" ] || exit 9\ncat "${join(scratch, "dump")}"\n`)
  chmodSync(join(bin, "adb"), 0o755)
  const env = { ...process.env, PATH: `${bin}:${process.env.PATH}` }
  const child = spawn("sh", [join(adapters, "adb-gfxinfo.sh"), "com.example.app", "0.05"],
    { env, detached: true, stdio: ["ignore", "pipe", "inherit"] })
  let text = ""
  const code = await new Promise((resolve) => {
    child.stdout.on("data", (data) => {
      if (text === "") process.kill(-child.pid, "SIGTERM")
      text += data
    })
    child.on("close", resolve)
  })
  const lines = text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line))
  expectSame("lines", [code, lines.map((line) => line.kind)], [0, ["frame", "stopped"]])
  const failed = spawnSync("sh", [join(adapters, "adb-gfxinfo.sh"), "other.app"],
    { env, encoding: "utf8" })
  expectSame("adb fails", [failed.status, failed.stdout], [1, ""])
})

rmSync(scratch, { recursive: true })
finish()
