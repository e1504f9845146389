// Android `dumpsys gfxinfo PACKAGE framestats`, one dump after the other, to envelopes:
//   meridian record --adapter 'sh contrib/adapters/adb-gfxinfo.sh com.example.app'
//
// Columns are found by the header, never by place: later versions insert some. Dumps overlap (the
// last ~120 frames each): a frame is printed once, by its INTENDED_VSYNC. From Android 12 on a
// frame has the time it was shown (DISPLAY_PRESENT_TIME); before, only when the app had finished it
// (FRAME_COMPLETED): two schemas, never mixed. A frame with FLAGS other than 0 is kept as it is but
// no time is computed across it (the source's epoch rises).
import { argumentsOf, diagnose, emit, run, whole } from "./lines.mjs"

const WINDOW_FRAMES = 4096 // more than dumps overlap
const PENDING = "9223372036854775807"

let columns = null
let pid = 0
let place = ""
const windows = new Map()

function windowOf(name) {
  if (!windows.has(name)) windows.set(name, { epoch: 1, seen: new Set(), last: -1n })
  return windows.get(name)
}

/** The time of a frame and what it is; null while it is not known. */
function shown(at) {
  const presented = columns.includes("DISPLAY_PRESENT_TIME")
  const digits = at(presented ? "DISPLAY_PRESENT_TIME" : "FRAME_COMPLETED")
  if (whole(digits) === null || BigInt(digits) <= 0n || digits === PENDING) return null
  return { digits, schemaId: presented ? "frame.presented" : "frame.completed" }
}

function frame(cells) {
  const at = (name) => cells[columns.indexOf(name)]
  const vsync = at("INTENDED_VSYNC")
  const of = windowOf(place)
  if (whole(vsync) === null || of.seen.has(vsync)) return
  const flagged = at("FLAGS") !== "0"
  const time = shown(at)
  if (!flagged && time === null) return // of the next dump
  of.seen.add(vsync)
  if (of.seen.size > WINDOW_FRAMES) of.seen.delete(of.seen.values().next().value)
  const source = place === "" ? "android.frames" : `android.frames/${place}`
  const row = Object.fromEntries(columns.map((name, i) => [name, whole(cells[i]) ?? cells[i] ?? ""])
    .filter(([name]) => name !== ""))
  const more = pid === 0 ? {} : { pid }
  if (flagged) {
    of.epoch++
    emit(source, "frame.flagged", row, more)
  } else if (BigInt(time.digits) < of.last) {
    diagnose(`a frame of ${time.digits} came after one of ${of.last}`)
  } else {
    of.last = BigInt(time.digits)
    emit(source, "frame", { displayId: 0, ...row }, { ...more, schemaId: time.schemaId,
      sourceTimestamp: whole(time.digits), clockDomain: "android-monotonic-ns",
      sourceEpoch: of.epoch })
  }
}

/** FrameTimelineVsyncId and FRAME_TIMELINE_VSYNC_ID are one name. */
const plain = (name) => name.trim().replace(/([a-z])([A-Z])/g, "$1_$2").toUpperCase()

function take(line) {
  const head = /^\*\* Graphics info for pid (\d+)/.exec(line)
  const window = /^\s*Window: (\S+)/.exec(line)
  if (head !== null) {
    pid = Number(head[1])
    place = ""
  } else if (window !== null) {
    place = window[1].slice(0, 200)
  } else if (line.startsWith("---PROFILEDATA---")) {
    columns = null
  } else {
    const cells = line.split(",").map((cell) => cell.trim())
    if (/^flags$/i.test(cells[0])) columns = cells.map(plain)
    else if (columns !== null && /^\d+$/.test(cells[0]) && cells.length >= columns.length - 1)
      frame(cells)
    else if (/^(error|no process|can't find)/i.test(line)) diagnose(line)
  }
}

await run(take, argumentsOf().command)
