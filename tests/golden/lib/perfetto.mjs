// Perfetto traces, made here.
import { readFileSync } from "node:fs"

/** Field numbers by the names that the reader has for them. */
const F = Object.fromEntries([...readFileSync(
  new URL("../../../src/ingest/perfetto/fields.h", import.meta.url), "utf8")
  .matchAll(/^ {4}([A-Z_]+) = (\d+),/gm)].map(([, name, number]) => [name, Number(number)]))

export function varint(value) {
  let rest = BigInt.asUintN(64, BigInt(value))
  const bytes = []
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128)
  return Buffer.from([...bytes, Number(rest)])
}

export class Double {
  constructor(value) { this.value = value }
}

/** [name, value] pairs: numbers as varints, bigints as fixed64, texts, buffers and nested lists as
 *  bytes. */
export function message(fields) {
  return Buffer.concat(fields.map(([name, value]) => {
    if (F[name] === undefined) throw new Error(`no field ${name}`)
    const key = (type) => varint(F[name] * 8 + type)
    if (typeof value === "bigint") { // fixed64
      const bits = Buffer.alloc(8)
      bits.writeBigUInt64LE(value)
      return Buffer.concat([key(1), bits])
    }
    if (typeof value === "number") return Buffer.concat([key(0), varint(value)])
    if (value instanceof Double) {
      const bits = Buffer.alloc(8)
      bits.writeDoubleLE(value.value)
      return Buffer.concat([key(1), bits])
    }
    const bytes = Array.isArray(value) ? message(value) : Buffer.from(value)
    return Buffer.concat([key(2), varint(bytes.length), bytes])
  }))
}
export const trace = (...packets) => message(packets.map((fields) => ["TRACE_PACKET", fields]))
export const packed = (...values) => Buffer.concat(values.map(varint))
