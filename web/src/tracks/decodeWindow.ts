import type { Table } from "apache-arrow";
import { Arena } from "../base/arena.ts";
import { colorIndex } from "../base/color.ts";
import { NONE, UNCLOSED } from "../wire/answers.ts";
import type { Answer, CellRow, LaneData, Question, RawRow } from "../wire/answers.ts";
import { doubles, optionalDoubles, texts, unsigned } from "../wire/columns.ts";
import type { TextColumn } from "../wire/columns.ts";
import { groupBy } from "./group.ts";
import { EVENT_ALONE, depthOf } from "./depth.ts";

/** Decoding of `/window`: schemas SR (raw) and SG (aggregated) of plain lanes. */

export interface LaneForms {
  /** Form of a track: what its lane draws. */
  formOf(track: string): "bars" | "steps" | "density";
}

/** Depth of rows one track may have in one answer; deeper ones are a broken answer. */
const MAX_ROWS = 65536;

interface Keys {
  readonly keys: Int32Array;
  /** Track code and row by key. */
  readonly track: number[];
  readonly row: number[];
}

function rowKeys(track: TextColumn, row: Uint32Array): Keys {
  const known = new Map<number, number>();
  const out: Keys = { keys: new Int32Array(row.length), track: [], row: [] };
  for (let at = 0; at < row.length; at++) {
    const code = track.codes[at]! * MAX_ROWS + row[at]!;
    let key = known.get(code);
    if (key === undefined) {
      key = out.track.length;
      known.set(code, key);
      out.track.push(track.codes[at]!);
      out.row.push(row[at]!);
    }
    out.keys[at] = key;
  }
  return out;
}

export function colorsOf(names: readonly string[]): Uint8Array {
  const out = new Uint8Array(names.length);
  for (let at = 0; at < names.length; at++) out[at] = colorIndex(names[at]!);
  return out;
}

interface RawColumns {
  readonly arena: Arena;
  readonly id: Uint32Array;
  readonly ts: Float64Array;
  readonly dur: Float64Array;
  readonly name: TextColumn;
  readonly color: Uint8Array;
}

function rawRow(
  from: RawColumns, order: Uint32Array, first: number, last: number, traceEnd: number,
): RawRow {
  const count = last - first;
  const out: RawRow = {
    start: from.arena.f64(count), end: from.arena.f64(count),
    name: from.arena.u32(count), color: from.arena.u8(count),
    flags: from.arena.u8(count), id: from.arena.u32(count),
  };
  for (let to = 0; to < count; to++) {
    const row = order[first + to]!;
    const start = from.ts[row]!;
    const open = from.dur[row]! < 0;
    const name = from.name.codes[row]!;
    out.start[to] = start;
    out.end[to] = open ? Math.max(start, traceEnd) : start + from.dur[row]!;
    out.name[to] = name < 0 ? NONE : name;
    out.color[to] = name < 0 ? 0 : from.color[name]!;
    out.flags[to] = open ? UNCLOSED : 0;
    out.id[to] = from.id[row]!;
  }
  return out;
}

/** Lists of rows by lane; absent rows between are empty. */
function collect<Row>(
  keys: Keys, track: TextColumn, make: (key: number) => Row, empty: () => Row,
): Map<string, Row[]> {
  const lanes = new Map<string, Row[]>();
  for (let key = 0; key < keys.track.length; key++) {
    const id = track.texts[keys.track[key]!] ?? "";
    let rows = lanes.get(id);
    if (rows === undefined) lanes.set(id, (rows = []));
    const row = keys.row[key]!;
    while (rows.length <= row) rows.push(empty());
    rows[row] = make(key);
  }
  return lanes;
}

const emptyRaw = (): RawRow => ({
  start: new Float64Array(0), end: new Float64Array(0), name: new Uint32Array(0),
  color: new Uint8Array(0), flags: new Uint8Array(0), id: new Uint32Array(0),
});

export function decodeSR(
  table: Table, question: Question, forms: LaneForms, traceEnd: number,
): Answer {
  const track = texts(table, "track");
  const keys = rowKeys(track, unsigned(table, "row", 0));
  const name = texts(table, "name");
  const columns: RawColumns = {
    arena: new Arena(), id: unsigned(table, "id"), ts: doubles(table, "ts_ns"), dur: doubles(table, "dur_ns"),
    name, color: colorsOf(name.texts),
  };
  const groups = groupBy(keys.keys, keys.track.length);
  const make = (key: number): RawRow =>
    rawRow(columns, groups.order, groups.from[key]!, groups.from[key + 1]!, traceEnd);
  const lanes = new Map<string, LaneData>();
  for (const [id, rows] of collect(keys, track, make, emptyRaw)) {
    const events = rows.reduce((sum, row) => sum + row.start.length, 0);
    const first = rows[0];
    if (forms.formOf(id) === "density" && first !== undefined) {
      lanes.set(id, {
        form: "points", time: first.start, id: first.id, name: first.name, events,
        value: new Float64Array(first.start.length).fill(NaN),
      });
    } else lanes.set(id, { form: "bars", rows, events });
  }
  return {
    mode: "raw", start: question.start, end: question.end, buckets: 0, events: table.numRows,
    names: name.texts, categories: texts(table, "category").texts,
    lanes, anomalies: [], details: null, values: null,
  };
}

/** Bucket of an aggregated row; robust against the rounding of its start. */
export function bucketOf(start: number, question: Question, buckets: number): number {
  const width = (question.end - question.start) / buckets;
  const at = Math.round((start - question.start) / width);
  return at < 0 ? 0 : at >= buckets ? buckets - 1 : at;
}

function emptyCells(arena: Arena, buckets: number): CellRow {
  return {
    busy: arena.f32(buckets), depth: arena.u8(buckets), count: arena.u32(buckets),
    longest: arena.u32(buckets).fill(NONE), name: arena.u32(buckets).fill(NONE),
    color: arena.u8(buckets),
  };
}

/** Fills the depths of a row whose busy shares and counts are in. */
export function setDepths(row: CellRow): CellRow {
  for (let at = 0; at < row.depth.length; at++) {
    const depth = depthOf(row.busy[at]!);
    row.depth[at] = depth === 0 && row.count[at]! > 0 ? depthOf(EVENT_ALONE) : depth;
  }
  return row;
}

interface CellColumns {
  readonly arena: Arena;
  readonly bucket: Int32Array;
  readonly count: Uint32Array;
  readonly busy: Float64Array;
  readonly longest: Uint32Array;
  readonly name: TextColumn;
  readonly color: Uint8Array;
}

function cellRow(
  from: CellColumns, order: Uint32Array, first: number, last: number, buckets: number,
): CellRow {
  const out = emptyCells(from.arena, buckets);
  for (let at = first; at < last; at++) {
    const row = order[at]!;
    const to = from.bucket[row]!;
    const name = from.name.codes[row]!;
    out.busy[to] = from.busy[row]!;
    out.count[to] = from.count[row]!;
    out.longest[to] = from.longest[row]!;
    out.name[to] = name < 0 ? NONE : name;
    out.color[to] = name < 0 ? 0 : from.color[name]!;
  }
  return setDepths(out);
}

export interface StepColumns {
  readonly arena: Arena;
  readonly bucket: Int32Array;
  readonly count: Uint32Array;
  readonly last: Float64Array;
  readonly min: Float64Array;
  readonly max: Float64Array;
}

/** Counter by bucket; a bucket without a row carries the value before it. */
export function stepsLane(
  from: StepColumns, order: Uint32Array, first: number, end: number, buckets: number,
  gapValue: number,
): LaneData {
  const last = from.arena.f32(buckets).fill(NaN);
  const min = from.arena.f32(buckets).fill(NaN);
  const max = from.arena.f32(buckets).fill(NaN);
  const count = from.arena.u32(buckets);
  let low = 0;
  let high = 0;
  let events = 0;
  for (let at = first; at < end; at++) {
    const row = order[at]!;
    const to = from.bucket[row]!;
    const value = from.last[row]!;
    last[to] = value;
    min[to] = Number.isNaN(from.min[row]!) ? value : from.min[row]!;
    max[to] = Number.isNaN(from.max[row]!) ? value : from.max[row]!;
    count[to] = from.count[row]!;
    events += from.count[row]!;
    if (min[to]! < low) low = min[to]!;
    if (max[to]! > high) high = max[to]!;
  }
  let carried = gapValue;
  for (let to = 0; to < buckets; to++) {
    if (Number.isNaN(last[to]!)) last[to] = min[to] = max[to] = carried;
    else if (Number.isNaN(gapValue)) carried = last[to]!;
  }
  return { form: "steps", last, min, max, count, low, high, events };
}

export function bucketColumn(
  table: Table, question: Question, buckets: number,
): Int32Array {
  const starts = doubles(table, "bucket_start_ns");
  const out = new Int32Array(starts.length);
  for (let row = 0; row < starts.length; row++) {
    out[row] = bucketOf(starts[row]!, question, buckets);
  }
  return out;
}

export function total(count: Uint32Array): number {
  let sum = 0;
  for (let at = 0; at < count.length; at++) sum += count[at]!;
  return sum;
}

export function decodeSG(
  table: Table, question: Question, buckets: number, forms: LaneForms,
): Answer {
  const track = texts(table, "track");
  const keys = rowKeys(track, unsigned(table, "row", 0));
  const name = texts(table, "longest_name");
  const bucket = bucketColumn(table, question, buckets);
  const count = unsigned(table, "event_count", 0);
  const arena = new Arena();
  const cells: CellColumns = {
    arena, bucket, count, busy: optionalDoubles(table, "busy_ratio"),
    longest: unsigned(table, "longest_id"), name, color: colorsOf(name.texts),
  };
  const steps: StepColumns = {
    arena, bucket, count, last: optionalDoubles(table, "last_value"),
    min: optionalDoubles(table, "min_value"), max: optionalDoubles(table, "max_value"),
  };
  const groups = groupBy(keys.keys, keys.track.length);
  const lanes = new Map<string, LaneData>();
  const keysOf = collect(keys, track, (key) => key, () => -1);
  for (const [id, rowsKeys] of keysOf) {
    const first = rowsKeys[0] ?? -1;
    const form = forms.formOf(id);
    if (form === "steps" && first >= 0) {
      lanes.set(id, stepsLane(steps, groups.order, groups.from[first]!, groups.from[first + 1]!,
        buckets, NaN));
      continue;
    }
    const rows = rowsKeys.map((key) => (key < 0 ? emptyCells(arena, buckets)
      : cellRow(cells, groups.order, groups.from[key]!, groups.from[key + 1]!, buckets)));
    const events = rows.reduce((sum, row) => sum + total(row.count), 0);
    if (form === "density" && rows[0] !== undefined) {
      lanes.set(id, { form, count: rows[0].count, events });
    } else lanes.set(id, { form: "cells", rows, events });
  }
  return {
    mode: "aggregated", start: question.start, end: question.end, buckets,
    events: total(count), names: name.texts, categories: [],
    lanes, anomalies: [], details: null, values: null,
  };
}
