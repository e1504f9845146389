// nvidia-smi to envelopes, one a GPU and row:
//   meridian record --adapter 'node contrib/adapters/nvidia-smi.mjs -- nvidia-smi --format=csv
//     --query-gpu=index,utilization.gpu,memory.used,power.draw,temperature.gpu -lms 1000'
//
// The header gives names and units: with `nounits` only names are known, and nothing is computed.
// What the driver has not ("[N/A]", "[Not Supported]") is told as unsupported. The driver averages
// over a window of its own (1/6 s to 1 s): its numbers are kept as they are.
import { argumentsOf, diagnose, emit, run } from "./lines.mjs"

/** Columns whose unit is proved by the header: member, factor. All others are the source's own. */
const KNOWN = {
  "utilization.gpu [%]": { member: "devicePct", factor: 1 },
  "memory.used [MiB]": { member: "memoryBytes", factor: 1 << 20 },
}
const POWER = "power.draw [W]"

let columns = null

/** "37 %" is 37; what the driver has not is undefined; anything else stays text. */
function valueOf(cell) {
  if (/^\[?(N\/A|Not Supported|Unknown Error|GPU requires reset)\]?$/i.test(cell)) return undefined
  const number = /^(-?\d+(?:\.\d+)?)(?: \S+)?$/.exec(cell)
  return number === null ? cell : Number(number[1])
}

function row(cells) {
  const index = cells[columns.indexOf("index")] ?? "0"
  const payload = { row: Object.fromEntries(columns.map((name, i) => [name, cells[i]])) }
  const own = { gauges: {}, units: {}, unsupported: [] }
  let watts
  columns.forEach((head, i) => {
    if (head === "index") return
    const value = valueOf(cells[i])
    const [, name, unit] = /^(\S+)(?: \[(.+)\])?$/.exec(head) ?? [null, head, undefined]
    const known = KNOWN[head]
    // A text where a number is wanted says: unsupported.
    if (known !== undefined)
      payload[known.member] = typeof value === "number" ? value * known.factor : cells[i]
    else if (head === POWER) watts = value ?? cells[i]
    else if (value === undefined) own.unsupported.push(name)
    else own.gauges[name] = value
    if (known === undefined && head !== POWER) own.units[name] = unit ?? "raw"
  })
  emit(`nvidia.${index}`, "gpu", { ...payload, ...own })
  if (watts !== undefined) emit(`nvidia.${index}`, "power", { watts })
}

await run((line) => {
  const cells = line.split(",").map((cell) => cell.trim())
  if (columns === null && cells.every((cell) => /^[a-z_0-9.]+( \[.+\])?$/i.test(cell)) &&
      cells.some((cell) => /^[a-z]/i.test(cell)))
    columns = cells
  else if (columns !== null && cells.length === columns.length) row(cells)
  else diagnose(line)
}, argumentsOf().command)
