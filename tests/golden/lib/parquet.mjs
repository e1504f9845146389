// A Parquet writer for small test inputs: one row group, plain encoding, no compression. It shares
// no code with the program, so that what it writes is a second opinion.

/** Thrift compact protocol, as far as the footer needs it. */
class Thrift {
  bytes = []
  last = [0]
  byte(value) { this.bytes.push(value & 255) }
  varint(value) {
    let rest = BigInt(value)
    while (rest > 127n) {
      this.byte(Number(rest & 127n) | 128)
      rest >>= 7n
    }
    this.byte(Number(rest))
  }
  zigzag(value) {
    const wide = BigInt(value)
    this.varint(wide >= 0n ? wide * 2n : -wide * 2n - 1n)
  }
  field(id, type) {
    const delta = id - this.last[this.last.length - 1]
    if (delta > 0 && delta < 16) this.byte((delta << 4) | type)
    else { this.byte(type); this.zigzag(id) }
    this.last[this.last.length - 1] = id
  }
  i32(id, value) { this.field(id, 5); this.zigzag(value) }
  i64(id, value) { this.field(id, 6); this.zigzag(value) }
  raw(text) {
    const bytes = Buffer.from(text)
    this.varint(bytes.length)
    this.bytes.push(...bytes)
  }
  text(id, value) { this.field(id, 8); this.raw(value) }
  list(id, type, items, write) {
    this.field(id, 9)
    if (items.length < 15) this.byte((items.length << 4) | type)
    else { this.byte(0xf0 | type); this.varint(items.length) }
    items.forEach(write)
  }
  open() { this.last.push(0) }
  close() { this.byte(0); this.last.pop() }
  struct(id, write) { this.field(id, 12); this.open(); write(); this.close() }
  item(write) { this.open(); write(); this.close() }
}

const TYPES = { int32: 1, int64: 2, double: 5, string: 6, bytes: 6, timestamp: 2 }

function plain(type, value) {
  const out = Buffer.alloc(8)
  if (type === "double") { out.writeDoubleLE(Number(value)); return out }
  if (type === "int64" || type === "timestamp") { out.writeBigInt64LE(BigInt(value)); return out }
  if (type === "int32") { out.writeInt32LE(Number(value)); return out.subarray(0, 4) }
  const text = Buffer.from(value)
  const size = Buffer.alloc(4)
  size.writeUInt32LE(text.length)
  return Buffer.concat([size, text])
}

/** Definition levels of an optional column: bit packed runs of width 1. */
function levels(values) {
  const bits = Buffer.alloc(Math.ceil(values.length / 8))
  values.forEach((value, i) => { if (value !== null) bits[i >> 3] |= 1 << (i & 7) })
  const head = new Thrift()
  head.varint((bits.length << 1) | 1)
  const body = Buffer.concat([Buffer.from(head.bytes), bits])
  const size = Buffer.alloc(4)
  size.writeUInt32LE(body.length)
  return Buffer.concat([size, body])
}

function page(column) {
  const present = column.values.filter((value) => value !== null)
  const data = Buffer.concat([
    ...(column.optional ? [levels(column.values)] : []),
    ...present.map((value) => plain(column.type, value)),
  ])
  const head = new Thrift()
  head.open()
  head.i32(1, 0)
  head.i32(2, data.length)
  head.i32(3, data.length)
  head.struct(5, () => {
    head.i32(1, column.values.length)
    head.i32(2, 0)
    head.i32(3, 3)
    head.i32(4, 3)
  })
  head.close()
  return Buffer.concat([Buffer.from(head.bytes), data])
}

function schemaOf(t, columns) {
  t.list(2, 12, [null, ...columns], (column) => t.item(() => {
    if (column === null) {
      t.text(4, "schema")
      t.i32(5, columns.length)
      return
    }
    t.i32(1, TYPES[column.type])
    t.i32(3, column.optional ? 1 : 0)
    t.text(4, column.name)
    if (column.type === "string") t.i32(6, 0)
    if (column.type === "timestamp") {
      t.struct(10, () => t.struct(8, () => { // TIMESTAMP, nanoseconds, UTC
        t.field(1, 1)
        t.struct(2, () => t.struct(3, () => {}))
      }))
    }
  }))
}

/** columns: [{name, type: double|int64|int32|timestamp|string|bytes, optional, values}]. */
export function parquet(columns, metadata = {}) {
  const rows = columns[0]?.values.length ?? 0
  const parts = [Buffer.from("PAR1")]
  let at = 4
  const chunks = []
  for (const column of columns) {
    const bytes = page(column)
    chunks.push({ column, offset: at, size: bytes.length })
    parts.push(bytes)
    at += bytes.length
  }
  const t = new Thrift()
  t.open()
  t.i32(1, 1)
  schemaOf(t, columns)
  t.i64(3, rows)
  t.list(4, 12, rows > 0 ? [chunks] : [], (group) => t.item(() => {
    t.list(1, 12, group, ({ column, offset, size }) => t.item(() => {
      t.i64(2, offset)
      t.struct(3, () => {
        t.i32(1, TYPES[column.type])
        t.list(2, 5, [0, 3], (encoding) => t.zigzag(encoding))
        t.list(3, 8, [column.name], (name) => t.raw(name))
        t.i32(4, 0)
        t.i64(5, rows)
        t.i64(6, size)
        t.i64(7, size)
        t.i64(9, offset)
      })
    }))
    t.i64(2, group.reduce((sum, chunk) => sum + chunk.size, 0))
    t.i64(3, rows)
  }))
  const pairs = Object.entries(metadata)
  if (pairs.length > 0) {
    t.list(5, 12, pairs, ([key, value]) => t.item(() => {
      t.text(1, key)
      t.text(2, value)
    }))
  }
  t.close()
  const footer = Buffer.from(t.bytes)
  const size = Buffer.alloc(4)
  size.writeUInt32LE(footer.length)
  return Buffer.concat([...parts, footer, size, Buffer.from("PAR1")])
}

const EVENT_COLUMNS = {
  time_ns: "double", category: "string", component: "string", value: "double", detail_json: "string",
}

/** An event trace of records {time_ns, category, component, value, detail_json}. types: other
 *  column types; drop: columns to leave out; optional: columns that may hold nulls. */
export function eventTrace(events, { metadata = {}, types = {}, drop = [], optional = [] } = {}) {
  const columns = Object.entries(EVENT_COLUMNS)
    .filter(([name]) => !drop.includes(name))
    .map(([name, type]) => ({
      name,
      type: types[name] ?? type,
      optional: name === "detail_json" || optional.includes(name),
      values: events.map((event) => event[name] ?? null),
    }))
  return parquet(columns, metadata)
}
