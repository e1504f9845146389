import type { Data, Table, Vector } from "apache-arrow";

/** A dictionary column as codes into one list of texts; -1 where null. */
export interface TextColumn {
  readonly codes: Int32Array;
  readonly texts: readonly string[];
}

type NumberArray =
  | Float64Array | Float32Array | Uint32Array | Int32Array | Uint16Array | Int16Array
  | Uint8Array | Int8Array;

/** Column by name; a missing one is an error of the server, told as such. */
function column(table: Table, name: string): Vector {
  const vector = table.getChild(name);
  if (vector === null) throw new Error(`the answer has no column "${name}"`);
  return vector;
}

function isNumberArray(values: unknown): values is NumberArray {
  return ArrayBuffer.isView(values) && !(values instanceof DataView)
    && !(values instanceof BigInt64Array) && !(values instanceof BigUint64Array);
}

/** Reads the bitmap itself: asking the library row by row takes most of the decoding. */
function isNull(bits: Data["nullBitmap"], bit: number): boolean {
  return (bits[bit >> 3]! & (1 << (bit & 7))) === 0;
}

/** All values of a numeric column, batches joined; nulls become `whenNull`. */
function fill(
  vector: Vector, name: string, out: Float64Array | Uint32Array, whenNull: number,
): void {
  let at = 0;
  for (const data of vector.data) {
    const values: unknown = data.values;
    if (!isNumberArray(values)) throw new Error(`column "${name}" is not numeric`);
    const end = at + data.length;
    if (data.nullCount === data.length) out.fill(whenNull, at, end);
    else {
      out.set(values.subarray(0, data.length), at);
      if (data.nullCount > 0) {
        const { nullBitmap: bits, offset } = data;
        for (let to = at, bit = offset; to < end; to++, bit++) {
          if (isNull(bits, bit)) out[to] = whenNull;
        }
      }
    }
    at = end;
  }
}

export function doubles(table: Table, name: string): Float64Array {
  const out = new Float64Array(table.numRows);
  fill(column(table, name), name, out, NaN);
  return out;
}

/** Like `doubles`, all NaN where the column does not exist. */
export function optionalDoubles(table: Table, name: string): Float64Array {
  if (table.getChild(name) !== null) return doubles(table, name);
  return new Float64Array(table.numRows).fill(NaN);
}

export function unsigned(table: Table, name: string, whenNull = 0xffffffff): Uint32Array {
  const out = new Uint32Array(table.numRows);
  fill(column(table, name), name, out, whenNull);
  return out;
}

/** Codes of a dictionary of `count` texts, in the list `texts` (grown as needed). */
function codesOf(dictionary: Vector, texts: string[], known: Map<string, number>): Int32Array {
  const map = new Int32Array(dictionary.length);
  for (let code = 0; code < dictionary.length; code++) {
    const text = String(dictionary.get(code) ?? "");
    let to = known.get(text);
    if (to === undefined) {
      to = texts.length;
      texts.push(text);
      known.set(text, to);
    }
    map[code] = to;
  }
  return map;
}

/** A dictionary<utf8> column; several batches may bring several dictionaries. */
export function texts(table: Table, name: string): TextColumn {
  const vector = column(table, name);
  const codes = new Int32Array(table.numRows);
  const list: string[] = [];
  const known = new Map<string, number>();
  let last: Vector | undefined;
  let map = new Int32Array(0);
  let at = 0;
  for (const data of vector.data) {
    const dictionary = data.dictionary;
    const values: unknown = data.values;
    if (dictionary === undefined || !isNumberArray(values)) {
      throw new Error(`column "${name}" is not a dictionary of texts`);
    }
    if (dictionary !== last) map = codesOf(dictionary, list, known) as Int32Array<ArrayBuffer>;
    last = dictionary;
    const { nullBitmap: bits, offset } = data;
    if (data.nullCount === 0) {
      for (let index = 0; index < data.length; index++) {
        codes[at + index] = map[values[index]!] ?? -1;
      }
    } else {
      for (let index = 0; index < data.length; index++) {
        codes[at + index] = isNull(bits, offset + index) ? -1 : (map[values[index]!] ?? -1);
      }
    }
    at += data.length;
  }
  return { codes, texts: list };
}

/** A utf8 column as bytes with offsets (n + 1), so that a text is made only when asked for. */
export interface TextBytes {
  readonly bytes: Uint8Array;
  readonly offsets: Uint32Array;
}

export function textBytes(table: Table, name: string): TextBytes {
  const vector = column(table, name);
  const offsets = new Uint32Array(table.numRows + 1);
  let size = 0;
  for (const data of vector.data) {
    const from = data.valueOffsets as Int32Array | undefined;
    if (from !== undefined) size += (from[data.length] ?? 0) - (from[0] ?? 0);
  }
  const bytes = new Uint8Array(size);
  let row = 0;
  let at = 0;
  for (const data of vector.data) {
    const from = data.valueOffsets as Int32Array | undefined;
    const values: unknown = data.values;
    if (from === undefined || !(values instanceof Uint8Array)) {
      row += data.length;
      continue;
    }
    for (let index = 0; index < data.length; index++) {
      offsets[row + index] = at + (from[index]! - from[0]!);
    }
    const part = values.subarray(from[0], from[data.length]);
    bytes.set(part, at);
    at += part.length;
    row += data.length;
    offsets[row] = at;
  }
  return { bytes, offsets };
}

const utf8 = new TextDecoder();

/** The text of one row; empty where the row is null. */
export function textAt(column: TextBytes, row: number): string {
  return utf8.decode(column.bytes.subarray(column.offsets[row]!, column.offsets[row + 1]!));
}
