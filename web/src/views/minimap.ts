import type { CanvasTheme } from "../render/theme.ts";
import type { Bounds, View } from "../state/window.ts";
import type { Feed } from "../tracks/feed.ts";
import type { Answer, RawRow } from "../wire/answers.ts";

/** Overview of the whole trace: events by column, from the widest answers there are. */

/** By chunk: counts of the widest answer seen. */
interface Overview {
  readonly answer: Answer;
  readonly span: number;
  readonly counts: Float32Array;
}

const overviews = new WeakMap<object, Overview>();
let bars = new Float32Array(1);

/** Columns of a raw answer, which has no buckets of its own. */
const RAW_COLUMNS = 2048;

function columnsOf(answer: Answer): number {
  return answer.mode === "raw" ? RAW_COLUMNS : answer.buckets;
}

/** Adds what raw bars cover (by differences: a bar costs the same however long) and begin. */
function addBars(out: Float32Array, answer: Answer, row: RawRow): void {
  const { length } = out;
  const unit = length / (answer.end - answer.start);
  const slope = new Float32Array(length + 1);
  const begun = new Float32Array(length);
  for (let at = 0; at < row.start.length; at++) {
    const from = Math.max(0, (row.start[at]! - answer.start) * unit);
    const to = Math.min(length, (row.end[at]! - answer.start) * unit);
    const first = Math.min(length - 1, Math.floor(from));
    begun[first]! += 1;
    if (!(to > from)) continue;
    const last = Math.min(length - 1, Math.floor(to));
    if (first === last) {
      slope[first]! += to - from;
      slope[first + 1]! -= to - from;
      continue;
    }
    slope[first]! += first + 1 - from;
    slope[first + 1]! += from - first;
    slope[last]! -= last + 1 - to;
    slope[last + 1]! -= to - last;
  }
  let busy = 0;
  for (let at = 0; at < length; at++) {
    busy += slope[at]!;
    out[at]! += Math.max(0, busy) + Math.log2(1 + begun[at]!);
  }
}

function addTimes(out: Float32Array, answer: Answer, times: Float64Array): void {
  const unit = out.length / (answer.end - answer.start);
  const begun = new Float32Array(out.length);
  for (const time of times) {
    const at = Math.floor((time - answer.start) * unit);
    if (at >= 0) begun[Math.min(out.length - 1, at)]! += 1;
  }
  for (let at = 0; at < out.length; at++) out[at]! += Math.log2(1 + begun[at]!);
}

function addCells(
  out: Float32Array, busy: Float32Array | null, count: Uint32Array,
): void {
  for (let at = 0; at < out.length; at++) {
    out[at]! += (busy === null ? 0 : busy[at]!) + Math.log2(1 + (count[at] ?? 0));
  }
}

/** By column, from the start of an answer to its end: lanes that are busy, and what begins. */
export function countsOf(answer: Answer): Float32Array {
  const out = new Float32Array(columnsOf(answer));
  for (const data of answer.lanes.values()) {
    if (data.form === "bars") for (const row of data.rows) addBars(out, answer, row);
    else if (data.form === "cells") for (const row of data.rows) addCells(out, row.busy, row.count);
    else if (data.form === "points") addTimes(out, answer, data.time);
    else addCells(out, null, data.count);
  }
  return out;
}

/** Takes over new answers that reach as far as the one known; true if any did. */
function learn(feed: Feed): boolean {
  let changed = false;
  for (const slot of feed.allSlots) {
    const answer = slot.answer;
    if (answer === null) continue;
    const known = overviews.get(slot);
    if (known?.answer === answer) continue;
    const span = answer.end - answer.start;
    if (known !== undefined && span < known.span) continue;
    overviews.set(slot, { answer, span, counts: countsOf(answer) });
    changed = true;
  }
  return changed;
}

function collect(feed: Feed, bounds: Bounds, columns: number): number {
  if (bars.length !== columns) bars = new Float32Array(columns);
  bars.fill(0);
  const step = (bounds.end - bounds.start) / columns;
  for (const slot of feed.allSlots) {
    const known = overviews.get(slot);
    if (known === undefined) continue;
    const { start, end } = known.answer;
    const buckets = known.counts.length;
    const width = (end - start) / buckets;
    for (let column = 0; column < columns; column++) {
      const at = Math.floor((bounds.start + (column + 0.5) * step - start) / width);
      if (at >= 0 && at < buckets) bars[column]! += known.counts[at]!;
    }
  }
  let most = 0;
  for (let column = 0; column < columns; column++) if (bars[column]! > most) most = bars[column]!;
  return most;
}

/** The bars as they were last painted, and for what. */
interface Picture {
  readonly canvas: HTMLCanvasElement;
  theme: CanvasTheme | null;
  bounds: Bounds | null;
}

let picture: Picture | null = null;

function paintBars(
  into: Picture, theme: CanvasTheme, feed: Feed, bounds: Bounds,
): void {
  const { width, height } = into.canvas;
  const context = into.canvas.getContext("2d");
  if (context === null) return;
  into.theme = theme;
  into.bounds = bounds;
  context.fillStyle = theme.bg2;
  context.fillRect(0, 0, width, height);
  const most = collect(feed, bounds, width);
  if (most <= 0) return;
  context.fillStyle = theme.acc;
  context.globalAlpha = 0.38;
  for (let column = 0; column < width; column++) {
    const high = Math.round((bars[column]! / most) * (height - 3));
    context.fillRect(column, height - high, 1, high);
  }
  context.globalAlpha = 1;
}

function barsPicture(
  width: number, height: number, theme: CanvasTheme, feed: Feed, bounds: Bounds,
): HTMLCanvasElement {
  if (picture === null) {
    picture = { canvas: document.createElement("canvas"), theme: null, bounds: null };
  }
  const { canvas } = picture;
  const resized = canvas.width !== width || canvas.height !== height;
  if (resized) {
    canvas.width = width;
    canvas.height = height;
  }
  const learned = learn(feed);
  if (resized || learned || picture.theme !== theme || picture.bounds !== bounds) {
    paintBars(picture, theme, feed, bounds);
  }
  return canvas;
}

/** Paints into the context from where its origin is; all in device pixels. */
export function paintMinimap(
  context: CanvasRenderingContext2D, width: number, height: number, theme: CanvasTheme,
  feed: Feed, bounds: Bounds, view: View,
): void {
  context.drawImage(barsPicture(width, height, theme, feed, bounds), 0, 0);
  const unit = width / (bounds.end - bounds.start);
  const left = (view.start - bounds.start) * unit;
  const wide = Math.max(2, view.span * unit);
  context.fillStyle = theme.sel;
  context.fillRect(left, 0, wide, height);
  context.strokeStyle = theme.acc;
  context.lineWidth = Math.max(1, Math.round(devicePixelRatio));
  context.strokeRect(left + 0.5, 0.5, wide - 1, height - 1);
}
