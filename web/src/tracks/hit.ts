import { upperBound } from "../base/search.ts";
import { laneAt } from "../state/lanes.ts";
import type { Lane } from "../state/lanes.ts";
import { NONE } from "../wire/answers.ts";
import type { Answer, CellRow, LaneData, RawRow } from "../wire/answers.ts";
import type { Feed } from "./feed.ts";
import { firstBar } from "./paintBars.ts";
import { rowHeight, rowTop } from "./paintLanes.ts";
import type { Viewport } from "./paintLanes.ts";

/** What lies under the pointer. */

export interface Hit {
  readonly lane: Lane;
  readonly form: LaneData["form"] | "none";
  readonly row: number;
  readonly start: number;
  readonly end: number;
  /** Slice id where one is known (raw slice, longest slice of a cell), else NONE. */
  readonly id: number;
  /** Row of a raw event answer, else NONE. */
  readonly record: number;
  readonly name: string;
  readonly flags: number;
  readonly answer: Answer | null;
  /** Bucket of an aggregated answer, else -1. */
  readonly bucket: number;
  readonly value: number;
}

/** A pointer this near, CSS px, still means the bar or tick. */
const NEAR = 3;

function nothing(lane: Lane, row: number): Hit {
  return {
    lane, form: "none", row, start: 0, end: 0, id: NONE, record: NONE, name: "", flags: 0,
    answer: null, bucket: -1, value: NaN,
  };
}

function nameOf(answer: Answer, at: number): string {
  return at === NONE ? "" : (answer.names[at] ?? "");
}

function hitBars(
  base: Hit, answer: Answer, row: RawRow, time: number, near: number,
): Hit {
  let best = -1;
  let distance = near;
  for (let at = firstBar(row, time - near); at < row.start.length; at++) {
    if (row.start[at]! > time + near) break;
    const off = time < row.start[at]! ? row.start[at]! - time
      : time > row.end[at]! ? time - row.end[at]! : 0;
    if (off > distance || (off === distance && off > 0)) continue;
    best = at;
    distance = off;
    if (off === 0 && row.end[at]! > row.start[at]!) break;
  }
  if (best < 0) return base;
  const isEvent = base.lane.isEvent;
  return {
    ...base, form: "bars", start: row.start[best]!, end: row.end[best]!,
    id: isEvent ? NONE : row.id[best]!, record: isEvent ? row.id[best]! : NONE,
    name: nameOf(answer, row.name[best]!), flags: row.flags[best]!, answer,
  };
}

function hitCells(base: Hit, answer: Answer, row: CellRow, bucket: number): Hit {
  if (row.busy[bucket]! <= 0 && row.count[bucket]! === 0) return base;
  const width = (answer.end - answer.start) / answer.buckets;
  const start = answer.start + bucket * width;
  const id = row.longest.length > 0 ? row.longest[bucket]! : NONE;
  const name = row.name.length > 0 ? nameOf(answer, row.name[bucket]!) : "";
  return { ...base, form: "cells", start, end: start + width, id, name, answer, bucket };
}

function hitPoints(
  base: Hit, answer: Answer, data: Extract<LaneData, { form: "points" }>, time: number,
  near: number,
): Hit {
  const isCounter = base.lane.kind === "counter";
  let at = upperBound(data.time, time, 0, data.time.length) - 1;
  if (!isCounter) {
    const next = at + 1;
    const nearNext = next < data.time.length ? data.time[next]! - time : Infinity;
    const nearLast = at >= 0 ? time - data.time[at]! : Infinity;
    if (nearNext < nearLast) at = next;
    if (Math.min(nearNext, nearLast) > near) return base;
  }
  if (at < 0) return base;
  const isEvent = base.lane.isEvent;
  return {
    ...base, form: "points", start: data.time[at]!,
    end: isCounter ? (data.time[at + 1] ?? answer.end) : data.time[at]!,
    id: isEvent ? NONE : data.id[at]!, record: isEvent ? data.id[at]! : NONE,
    name: nameOf(answer, isEvent ? NONE : data.name[at]!), answer, value: data.value[at]!,
  };
}

function hitData(
  base: Hit, answer: Answer, data: LaneData, time: number, near: number,
): Hit {
  if (data.form === "points") return hitPoints(base, answer, data, time, near);
  if (data.form === "bars") {
    const row = data.rows[base.row];
    return row === undefined ? base : hitBars(base, answer, row, time, near);
  }
  const width = (answer.end - answer.start) / answer.buckets;
  const bucket = Math.floor((time - answer.start) / width);
  if (bucket < 0 || bucket >= answer.buckets) return base;
  if (data.form === "cells") {
    const row = data.rows[base.row];
    return row === undefined ? base : hitCells(base, answer, row, bucket);
  }
  const start = answer.start + bucket * width;
  const found = { ...base, start, end: start + width, answer, bucket };
  if (data.form === "steps") return { ...found, form: "steps", value: data.last[bucket]! };
  return data.count[bucket]! === 0 ? base : { ...found, form: "density" };
}

/** Row of a lane at `y` (relative to the lane), or -1 between rows. */
function rowAt(lane: Lane, y: number, height: number, dense: boolean): number {
  if (lane.kind !== "slices") return 0;
  const rows = Math.max(1, lane.record.rows ?? 1);
  for (let row = 0; row < rows; row++) {
    const top = rowTop(lane, row, dense);
    if (y >= top && y < top + rowHeight(lane, height, dense) + 2) return row;
  }
  return -1;
}

/** What is at `y` (canvas px) and `time`; `nsPerPx` widens thin things. */
export function hitTest(
  feed: Feed, port: Viewport, y: number, time: number, nsPerPx: number,
): Hit | null {
  const { layout } = port;
  const at = laneAt(layout, y + port.scrollTop);
  if (at < 0) return null;
  const lane = layout.lanes[at]!;
  const top = layout.top[at]! - port.scrollTop;
  const row = rowAt(lane, y - top, layout.top[at + 1]! - layout.top[at]!, layout.dense);
  const base = nothing(lane, Math.max(0, row));
  const answer = feed.slotOf(lane)?.answer ?? null;
  const data = answer?.lanes.get(lane.dataKey);
  if (row < 0 || answer === null || data === undefined || port.unchecked.has(lane.key)) return base;
  return hitData(base, answer, data, time, NEAR * nsPerPx);
}
