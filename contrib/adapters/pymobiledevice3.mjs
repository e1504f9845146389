// pymobiledevice3 to envelopes:
//   meridian record --adapter 'node contrib/adapters/pymobiledevice3.mjs graphics --
//     pymobiledevice3 developer dvt graphics'
// What: graphics, energy, notifications, process [CORES] (sysmon process monitor), system, network.
//
// Its status texts go to standard error. A line may be a payload or a pair of selector and
// arguments. The tool's own timestamps are host wall time made while printing and are no source
// time; mach ticks without the device's timebase are none either, and stay in the payload.
import { argumentsOf, emit, isWhole, refuse, run, values } from "./lines.mjs"
import { foreground } from "./ios.mjs"

const { options, command } = argumentsOf()
const what = options[0] ?? ""
const cores = options[1] === undefined ? null : Number(options[1])

/** A payload, or [selector, [payload]]. */
function payloads(value) {
  if (!Array.isArray(value)) return [value]
  const [selector, args] = value
  return (typeof selector === "string" && Array.isArray(args) ? args : value)
    .filter((one) => one !== null && typeof one === "object" && !Array.isArray(one))
}

/** One row: the screen's rate, and the GPU where this device tells it. */
function graphics(row) {
  emit("ios.graphics", "graphics", row)
  const gpu = {
    devicePct: row["Device Utilization %"],
    rendererPct: row["Renderer Utilization %"],
    tilerPct: row["Tiler Utilization %"],
    memoryBytes: row["In use system memory"],
  }
  if (Object.values(gpu).some((value) => value !== undefined)) emit("ios.graphics", "gpu", gpu)
}

/** Scores without a unit: raw gauges. -1 says that the device has none. Rows may stand by pid. */
function energy(row) {
  const byPid = Object.entries(row).filter(([key, value]) =>
    /^\d+$/.test(key) && value !== null && typeof value === "object")
  for (const [pid, of] of byPid.length > 0 ? byPid : [["0", row]]) {
    const scores = Object.entries(of).filter(([key, value]) =>
      key.startsWith("energy.") && key !== "energy.version" && typeof value === "number")
    emit(pid === "0" ? "ios.energy" : `ios.energy.${pid}`, "ios.energy", {
      gauges: Object.fromEntries(scores.filter(([, value]) => value !== -1)),
      unsupported: scores.filter(([, value]) => value === -1).map(([key]) => key),
      row: of,
    }, pid === "0" ? {} : { pid: Number(pid) })
  }
}

/** A source a process; a pid that is used again has another unique id, which is another epoch. */
function process_(row) {
  const pid = Number.isInteger(row.pid) ? row.pid : 0
  const epoch = [row.uniqueID, row.startAbsTime].find((one) => isWhole(one) && one !== 0)
  const payload = cores === null ? row : { ...row, nCpu: cores }
  const more = epoch === undefined ? {} : { sourceEpoch: epoch }
  emit(pid === 0 ? "ios.sysmon" : `ios.sysmon.${pid}`, "proc.gauge", payload,
    pid === 0 ? more : { ...more, pid })
}

/** Type 5 rows hold processes by position: which column is which is the device's to say. */
function system(row) {
  if (row.SystemCPUUsage !== undefined)
    emit("ios.sysmon.sys", "sys.gauge", { ...row, ...row.SystemCPUUsage })
  else
    emit("ios.sysmon.sys", "ios.sysmon", row)
}

/** [2, [...]] is a connection's counters; so is an object with a serial. All else stays raw. */
function network(row) {
  if (Array.isArray(row) && row[0] === 2 && Array.isArray(row[1])) {
    const [rxPackets, rxBytes, txPackets, txBytes, , , , , , serial] = row[1]
    emit("ios.network", "net.conn", { serial, rxBytes, txBytes, rxPackets, txPackets, row })
  } else if (!Array.isArray(row) && row.ConnectionSerial !== undefined) {
    emit("ios.network", "net.conn",
      { serial: row.ConnectionSerial, rxBytes: row.RxBytes, txBytes: row.TxBytes, row })
  } else {
    emit("ios.network", "ios.network", { row })
  }
}

const takers = { graphics, energy, notifications: foreground, process: process_, system }

if (options.length > (what === "process" ? 2 : 1) || (cores !== null && !(cores >= 1)))
  refuse(`pymobiledevice3.mjs: "${options.join(" ")}", allowed is one word, after process CORES`)
else if (what === "network")
  await run(values(network), command)
else if (takers[what] !== undefined)
  await run(values((value) => payloads(value).forEach(takers[what])), command)
else
  refuse(`pymobiledevice3.mjs: "${what}", allowed is one of ${Object.keys(takers).join(", ")}, ` +
    "network")
