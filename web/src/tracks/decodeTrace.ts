import type { Table } from "apache-arrow";
import { Arena } from "../base/arena.ts";
import { eventKey } from "../wire/answers.ts";
import type { Answer, CellRow, LaneData, Question, RawRow } from "../wire/answers.ts";
import { doubles, optionalDoubles, textBytes, texts, unsigned } from "../wire/columns.ts";
import type { TextColumn } from "../wire/columns.ts";
import { CATEGORIES } from "../wire/types.ts";
import type { Anomaly, OpenInterval } from "../wire/types.ts";
import { bucketColumn, setDepths, stepsLane, total } from "./decodeWindow.ts";
import type { StepColumns } from "./decodeWindow.ts";
import { groupBy } from "./group.ts";
import { FIRST_NON_INTERVAL, PAIRS, pairRows } from "./pairing.ts";
import type { Intervals, OpenAt } from "./pairing.ts";

/** Decoding of `/trace`: schemas R (raw) and G (aggregated) of event records. */

const OSTD = 4;
const LANE_CODES = 6;
/** Interval lanes have no names of slices. */
const NO_WORDS = new Uint32Array(0);
/** Colours of the two interval pairs: indices into PALETTE. */
const PAIR_COLORS = [0, 3] as const;

interface TraceMetadata {
  readonly snapshot: readonly OpenInterval[];
  readonly anomalies: readonly Anomaly[];
  readonly simEnd: number;
}

function readMetadata(table: Table): TraceMetadata {
  const metadata = table.schema.metadata;
  const parse = <T>(key: string, otherwise: T): T => {
    const text = metadata.get(key);
    return text === undefined ? otherwise : (JSON.parse(text) as T);
  };
  const snapshot = parse<{ open_intervals?: OpenInterval[] }>("trace_snapshot", {});
  const bounds = parse<{ end_ns?: number }>("trace_bounds", {});
  return {
    snapshot: snapshot.open_intervals ?? [],
    anomalies: parse<Anomaly[]>("trace_anomalies", []),
    simEnd: bounds.end_ns ?? Infinity,
  };
}

/** Codes of our own list by code of the column; an unknown category is a broken answer. */
function categoryCodes(column: TextColumn): Uint8Array {
  const names: readonly string[] = CATEGORIES;
  const map = column.texts.map((text) => {
    const code = names.indexOf(text);
    if (code < 0) throw new Error(`the answer holds the unknown category "${text}"`);
    return code;
  });
  const out = new Uint8Array(column.codes.length);
  for (let row = 0; row < out.length; row++) out[row] = map[column.codes[row]!]!;
  return out;
}

function snapshotTracks(
  open: readonly OpenInterval[], components: string[],
): OpenAt[] {
  const index = new Map(components.map((name, at) => [name, at]));
  return open.map((one) => {
    let component = index.get(one.component);
    if (component === undefined) {
      component = components.length;
      components.push(one.component);
      index.set(one.component, component);
    }
    const pair = one.category === "thread_blocked" ? 1 : 0;
    return { component, pair, since: one.since_ns };
  });
}

function intervalRow(
  arena: Arena, from: Intervals, order: Uint32Array, first: number, last: number,
): RawRow {
  const count = last - first;
  const out: RawRow = {
    start: arena.f64(count), end: arena.f64(count), name: arena.u32(count),
    color: arena.u8(count), flags: arena.u8(count), id: arena.u32(count),
  };
  for (let to = 0; to < count; to++) {
    const at = order[first + to]!;
    out.start[to] = from.start[at]!;
    out.end[to] = from.end[at]!;
    out.name[to] = from.pair[at]!;
    out.color[to] = PAIR_COLORS[from.pair[at]!] ?? 0;
    out.flags[to] = from.flags[at]!;
    out.id[to] = from.row[at]!;
  }
  return out;
}

function addIntervals(
  arena: Arena, lanes: Map<string, LaneData>, from: Intervals, components: string[],
): void {
  const keys = new Int32Array(from.count);
  for (let at = 0; at < from.count; at++) keys[at] = from.component[at]! * PAIRS + from.pair[at]!;
  const groups = groupBy(keys, components.length * PAIRS);
  for (let key = 0; key < components.length * PAIRS; key++) {
    const first = groups.from[key]!;
    const last = groups.from[key + 1]!;
    if (first === last) continue;
    const opener = CATEGORIES[(key % PAIRS) * 2]!;
    const row = intervalRow(arena, from, groups.order, first, last);
    lanes.set(eventKey(components[Math.floor(key / PAIRS)]!, opener),
      { form: "bars", rows: [row], events: last - first });
  }
}

function addPoints(
  lanes: Map<string, LaneData>, time: Float64Array, value: Float64Array,
  category: Uint8Array, component: TextColumn,
): void {
  const keys = new Int32Array(time.length);
  for (let row = 0; row < time.length; row++) {
    const code = category[row]!;
    keys[row] = code < FIRST_NON_INTERVAL ? -1
      : component.codes[row]! * PAIRS + (code === OSTD ? 0 : 1);
  }
  const groups = groupBy(keys, component.texts.length * PAIRS);
  for (let key = 0; key < component.texts.length * PAIRS; key++) {
    const rows = groups.order.slice(groups.from[key], groups.from[key + 1]);
    if (rows.length === 0) continue;
    const opener = CATEGORIES[FIRST_NON_INTERVAL + (key % PAIRS)]!;
    lanes.set(eventKey(component.texts[Math.floor(key / PAIRS)]!, opener), {
      form: "points", id: rows, events: rows.length,
      time: Float64Array.from(rows, (row) => time[row]!),
      value: Float64Array.from(rows, (row) => value[row]!),
      name: new Uint32Array(rows.length).fill(FIRST_NON_INTERVAL + (key % PAIRS)),
    });
  }
}

export function decodeR(table: Table, question: Question): Answer {
  const metadata = readMetadata(table);
  const time = doubles(table, "time_ns");
  const value = doubles(table, "value");
  const component = texts(table, "component");
  const category = categoryCodes(texts(table, "category"));
  const components = [...component.texts];
  const snapshot = snapshotTracks(metadata.snapshot, components);
  const { intervals } = pairRows(
    { time, category, component: component.codes }, components.length, snapshot,
    { start: question.start, end: question.end, simEnd: metadata.simEnd },
  );
  const lanes = new Map<string, LaneData>();
  addIntervals(new Arena(), lanes, intervals, components);
  addPoints(lanes, time, value, category, component);
  return {
    mode: "raw", start: question.start, end: question.end, buckets: 0, events: table.numRows,
    names: ["link_busy", "thread_blocked"], categories: CATEGORIES, lanes,
    anomalies: metadata.anomalies, details: textBytes(table, "detail_json"), values: value,
  };
}

interface CellSource {
  readonly arena: Arena;
  readonly bucket: Int32Array;
  readonly count: Uint32Array;
  readonly busy: Float64Array;
}

function intervalCells(
  from: CellSource, order: Uint32Array, first: number, last: number, buckets: number, pair: number,
): CellRow {
  const out: CellRow = {
    busy: from.arena.f32(buckets), depth: from.arena.u8(buckets),
    count: from.arena.u32(buckets), longest: NO_WORDS, name: NO_WORDS,
    color: from.arena.u8(buckets).fill(PAIR_COLORS[pair] ?? 0),
  };
  for (let at = first; at < last; at++) {
    const row = order[at]!;
    out.busy[from.bucket[row]!] = from.busy[row]!;
    out.count[from.bucket[row]!] = from.count[row]!;
  }
  return setDepths(out);
}

function instantLane(
  from: CellSource, order: Uint32Array, first: number, last: number, buckets: number,
): LaneData {
  const count = from.arena.u32(buckets);
  for (let at = first; at < last; at++) count[from.bucket[order[at]!]!] = from.count[order[at]!]!;
  return { form: "density", count, events: total(count) };
}

export function decodeG(table: Table, question: Question, buckets: number): Answer {
  const metadata = readMetadata(table);
  const component = texts(table, "component");
  const category = categoryCodes(texts(table, "category"));
  const bucket = bucketColumn(table, question, buckets);
  const count = unsigned(table, "event_count", 0);
  const arena = new Arena();
  const cells: CellSource = { arena, bucket, count, busy: doubles(table, "busy_ratio") };
  const steps: StepColumns = {
    arena, bucket, count, last: doubles(table, "last_value"),
    min: optionalDoubles(table, "min_value"), max: optionalDoubles(table, "max_value"),
  };
  const keys = new Int32Array(table.numRows);
  for (let row = 0; row < keys.length; row++) {
    keys[row] = component.codes[row]! * LANE_CODES + category[row]!;
  }
  const groups = groupBy(keys, component.texts.length * LANE_CODES);
  const lanes = new Map<string, LaneData>();
  for (let key = 0; key < component.texts.length * LANE_CODES; key++) {
    const first = groups.from[key]!;
    const last = groups.from[key + 1]!;
    if (first === last) continue;
    const code = key % LANE_CODES;
    const lane = eventKey(component.texts[Math.floor(key / LANE_CODES)]!, CATEGORIES[code]!);
    if (code === OSTD) lanes.set(lane, stepsLane(steps, groups.order, first, last, buckets, 0));
    else if (code > OSTD) lanes.set(lane, instantLane(cells, groups.order, first, last, buckets));
    else {
      const row = intervalCells(cells, groups.order, first, last, buckets, code >> 1);
      lanes.set(lane, { form: "cells", rows: [row], events: total(row.count) });
    }
  }
  return {
    mode: "aggregated", start: question.start, end: question.end, buckets, events: total(count),
    names: ["link_busy", "thread_blocked"], categories: CATEGORIES, lanes,
    anomalies: metadata.anomalies, details: null, values: null,
  };
}
