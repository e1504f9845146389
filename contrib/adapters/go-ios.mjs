// go-ios to envelopes:
//   meridian record --adapter 'node contrib/adapters/go-ios.mjs -- ios instruments fps'
// or with `ios sysmontap`, `ios instruments network`, `ios instruments notifications`.
//
// `fps` lines have no time at all. `sysmontap` is a log line, JSON or key=value, whose end_time is
// in mach ticks; without the device's timebase they are no time, and stay in the payload.
import { argumentsOf, diagnose, emit, run, values } from "./lines.mjs"
import { foreground } from "./ios.mjs"

function take(row) {
  if (Array.isArray(row)) return diagnose(JSON.stringify(row))
  if (row.fps !== undefined)
    return emit("ios.graphics", "graphics", { CoreAnimationFramesPerSecond: row.fps, row })
  if (row.cpu_total_load !== undefined)
    return emit("ios.sysmon.sys", "sys.gauge", { CPU_TotalLoad: row.cpu_total_load, row })
  if (row.mach_absolute_time !== undefined) return foreground(row)
  if (row.type !== undefined && row.data !== undefined)
    return emit("ios.network", "ios.network", row)
  return diagnose(JSON.stringify(row))
}

/** A log line of words key=value, "values" in quotes, as an object; null: it is none. */
function logged(line) {
  if (!/(^|\s)cpu_total_load=/.test(line)) return null
  const row = {}
  for (const [, key, value] of line.matchAll(/(\w+)=("(?:[^"\\]|\\.)*"|\S+)/g))
    row[key] = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/.test(value) ? Number(value) : value
  return row
}

const json = values(take)
await run((line) => {
  const row = logged(line)
  return row === null ? json(line) : take(row)
}, argumentsOf().command)
