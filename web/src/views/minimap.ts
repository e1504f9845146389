import type { CanvasTheme } from "../render/theme.ts";
import type { Bounds, View } from "../state/window.ts";
import type { Feed } from "../tracks/feed.ts";
import type { Answer } from "../wire/answers.ts";

/** Overview of the whole trace: events by column, from the widest answers there are. */

/** By chunk: counts of the widest answer seen. */
interface Overview {
  readonly answer: Answer;
  readonly span: number;
  readonly counts: Float32Array;
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

/** Takes over new answers that reach as far as the one known; true if any did. */
function learn(feed: Feed): boolean {
  let changed = false;
  for (const slot of feed.allSlots) {
    const answer = slot.answer;
    if (answer === null || answer.mode !== "aggregated") continue;
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
