import type { CanvasTheme } from "../render/theme.ts";
import type { Bounds, View } from "../state/window.ts";
import type { Feed } from "../tracks/feed.ts";
import type { Answer } from "../wire/answers.ts";

/** Overview of the whole trace: events by column, from the widest answers there are. */

/** By chunk: counts of the widest answer seen. */
interface Overview {
  answer: Answer | null;
  span: number;
  counts: Float32Array;
}

const overviews = new WeakMap<object, Overview>();
let bars = new Float32Array(1);

function countsOf(answer: Answer): Float32Array {
  const out = new Float32Array(answer.buckets);
  for (const data of answer.lanes.values()) {
    const rows = data.form === "cells" ? data.rows : data.form === "bars" ? [] : [data];
    for (const row of rows) {
      const busy = "busy" in row ? row.busy : null;
      const count = "count" in row ? row.count : null;
      for (let at = 0; at < out.length; at++) {
        out[at]! += (busy === null ? 0 : busy[at]!) + Math.log2(1 + (count?.[at] ?? 0));
      }
    }
  }
  return out;
}

function learn(feed: Feed): void {
  for (const slot of feed.allSlots) {
    const answer = slot.answer;
    if (answer === null || answer.mode !== "aggregated") continue;
    const known = overviews.get(slot);
    if (known?.answer === answer) continue;
    const span = answer.end - answer.start;
    if (known === undefined) overviews.set(slot, { answer, span, counts: countsOf(answer) });
    else if (span >= known.span) {
      known.counts = countsOf(answer);
      known.answer = answer;
      known.span = span;
    }
  }
}

function collect(feed: Feed, bounds: Bounds, columns: number): number {
  if (bars.length !== columns) bars = new Float32Array(columns);
  bars.fill(0);
  const step = (bounds.end - bounds.start) / columns;
  for (const slot of feed.allSlots) {
    const known = overviews.get(slot);
    if (known === undefined || known.answer === null) continue;
    const { start, end, buckets } = known.answer;
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

export function paintMinimap(
  canvas: HTMLCanvasElement, theme: CanvasTheme, feed: Feed, bounds: Bounds, view: View,
): void {
  const context = canvas.getContext("2d");
  if (context === null) return;
  const { width, height } = canvas;
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = theme.bg2;
  context.fillRect(0, 0, width, height);
  learn(feed);
  const most = collect(feed, bounds, width);
  if (most > 0) {
    context.fillStyle = theme.acc;
    context.globalAlpha = 0.38;
    context.beginPath();
    context.moveTo(0, height);
    for (let column = 0; column < width; column++) {
      const y = height - (bars[column]! / most) * (height - 3);
      context.lineTo(column, y);
      context.lineTo(column + 1, y);
    }
    context.lineTo(width, height);
    context.closePath();
    context.fill();
    context.globalAlpha = 1;
  }
  const unit = width / (bounds.end - bounds.start);
  const left = (view.start - bounds.start) * unit;
  const wide = Math.max(2, view.span * unit);
  context.fillStyle = theme.sel;
  context.fillRect(left, 0, wide, height);
  context.strokeStyle = theme.acc;
  context.lineWidth = Math.max(1, Math.round(devicePixelRatio));
  context.strokeRect(left + 0.5, 0.5, wide - 1, height - 1);
}
