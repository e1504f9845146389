import type { Lane } from "../state/lanes.ts";
import { NONE } from "../wire/answers.ts";
import type { Answer, LaneData, RawRow } from "../wire/answers.ts";

/** Statistics of a selected range, from raw rows or, when these are too many, by lane. */

export interface StatRow {
  readonly name: string;
  count: number;
  /** Time inside the range, ns. */
  total: number;
  /** Of it, time not covered by direct children; NaN where unknown. */
  self: number;
  max: number;
  /** Longest slice's name where rows are lanes; "" else. */
  readonly longest: string;
  /** A lane to go to, or null for a name that lies in several. */
  lane: Lane | null;
}

export interface CounterRow {
  readonly lane: Lane;
  readonly min: number;
  readonly max: number;
  readonly last: number;
  readonly count: number;
}

export interface RangeStats {
  readonly by: "name" | "lane";
  readonly rows: StatRow[];
  readonly counters: CounterRow[];
  readonly events: number;
  /** Lanes that hold something in the range. */
  readonly lanes: number;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

function clipped(range: Range, start: number, end: number): number {
  return Math.max(0, Math.min(end, range.end) - Math.max(start, range.start));
}

/** By bar of `row`: time of the range that bars of the row below, enclosed by it, take. */
function childTime(row: RawRow, below: RawRow | undefined, range: Range): Float64Array {
  const out = new Float64Array(row.start.length);
  if (below === undefined) return out;
  let at = 0;
  for (let child = 0; child < below.start.length; child++) {
    const start = below.start[child]!;
    while (at + 1 < row.start.length && row.start[at + 1]! <= start) at++;
    const encloses = at < row.start.length && row.start[at]! <= start
      && row.end[at]! >= below.end[child]!;
    if (encloses) out[at]! += clipped(range, start, below.end[child]!);
  }
  return out;
}

class Names {
  readonly rows = new Map<string, StatRow>();

  add(name: string, lane: Lane, total: number, self: number): void {
    let row = this.rows.get(name);
    if (row === undefined) {
      row = { name, count: 0, total: 0, self: 0, max: 0, longest: "", lane };
      this.rows.set(name, row);
    }
    if (row.lane !== lane) row.lane = null;
    row.count++;
    row.total += total;
    row.self += self;
    if (total > row.max) row.max = total;
  }
}

function addBars(
  names: Names, lane: Lane, data: Extract<LaneData, { form: "bars" }>, answer: Answer,
  range: Range,
): number {
  let found = 0;
  data.rows.forEach((row, depth) => {
    const inner = childTime(row, data.rows[depth + 1], range);
    for (let at = 0; at < row.start.length; at++) {
      if (row.start[at]! >= range.end) break;
      if (row.end[at]! < range.start) continue;
      if (row.end[at]! === range.start && row.end[at]! > row.start[at]!) continue;
      const total = clipped(range, row.start[at]!, row.end[at]!);
      const name = lane.isEvent ? lane.title
        : row.name[at] === NONE ? "" : (answer.names[row.name[at]!] ?? "");
      names.add(name, lane, total, Math.max(0, total - inner[at]!));
      found++;
    }
  });
  return found;
}

function addPoints(
  names: Names, lane: Lane, data: Extract<LaneData, { form: "points" }>, answer: Answer,
  range: Range,
): number {
  let found = 0;
  for (let at = 0; at < data.time.length; at++) {
    if (data.time[at]! < range.start || data.time[at]! >= range.end) continue;
    const name = lane.isEvent ? lane.title : (answer.names[data.name[at]!] ?? lane.title);
    names.add(name, lane, 0, 0);
    found++;
  }
  return found;
}

function counterRow(lane: Lane, data: LaneData): CounterRow | null {
  if (data.form === "steps") {
    const at = data.last.length - 1;
    return {
      lane, min: data.min[at]!, max: data.max[at]!, last: data.last[at]!, count: data.events,
    };
  }
  if (data.form !== "points" || data.value.length === 0) return null;
  let min = Infinity;
  let max = -Infinity;
  for (const value of data.value) {
    if (value < min) min = value;
    if (value > max) max = value;
  }
  return { lane, min, max, last: data.value.at(-1)!, count: data.value.length };
}

/** One answer with the lanes it was asked for. */
export interface Part {
  readonly answer: Answer;
  readonly lanes: readonly Lane[];
}

/** From raw answers (counters: of one bucket), by name. */
export function statsByName(parts: readonly Part[], range: Range): RangeStats {
  const names = new Names();
  const counters: CounterRow[] = [];
  let events = 0;
  let lanes = 0;
  for (const { answer, lanes: asked } of parts) {
    for (const lane of asked) {
      const data = answer.lanes.get(lane.dataKey);
      if (data === undefined) continue;
      let found = 0;
      if (lane.kind === "counter") {
        const row = counterRow(lane, data);
        if (row !== null) counters.push(row);
        found = row === null ? 0 : row.count;
      } else if (data.form === "bars") found = addBars(names, lane, data, answer, range);
      else if (data.form === "points") found = addPoints(names, lane, data, answer, range);
      if (found > 0) lanes++;
      if (lane.kind !== "counter") events += found;
    }
  }
  return { by: "name", rows: [...names.rows.values()], counters, events, lanes };
}

/** From answers of one bucket, by lane. */
export function statsByLane(parts: readonly Part[], range: Range): RangeStats {
  const rows: StatRow[] = [];
  const counters: CounterRow[] = [];
  let events = 0;
  for (const { answer, lanes: asked } of parts) {
    for (const lane of asked) {
      const data = answer.lanes.get(lane.dataKey);
      if (data === undefined) continue;
      if (data.form === "steps") {
        const row = counterRow(lane, data);
        if (row !== null) counters.push(row);
        continue;
      }
      const first = data.form === "cells" ? data.rows[0] : undefined;
      const longest = first === undefined || first.name.length === 0 || first.name[0] === NONE
        ? "" : (answer.names[first.name[0]!] ?? "");
      rows.push({
        name: lane.title, count: data.events, self: NaN, max: NaN, longest, lane,
        total: (first?.busy[0] ?? 0) * (range.end - range.start),
      });
      events += data.events;
    }
  }
  return { by: "lane", rows, counters, events, lanes: rows.length + counters.length };
}
