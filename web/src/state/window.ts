import { clamp } from "../base/num.ts";

/** The visible window. The width is kept apart so that panning never changes it by rounding. */
export interface View {
  readonly start: number;
  readonly span: number;
}

export interface Bounds {
  readonly start: number;
  readonly end: number;
}

/** Narrowest window, ns. */
export const MIN_SPAN = 1;
/** Factor of one zoom step. */
export const ZOOM_STEP = 1.1236;
/** Part of the window that one pan step moves. */
export const PAN_STEP = 0.05;
/** Most buckets a question may have. */
export const MAX_BUCKETS = 4096;
/** Empty margin that zooming out may show on each side, as a share of the trace. */
const MARGIN = 0.05;

export function clampView(view: View, bounds: Bounds): View {
  const total = Math.max(bounds.end - bounds.start, MIN_SPAN);
  const span = clamp(view.span, MIN_SPAN, total * (1 + 2 * MARGIN));
  const low = bounds.start - total * MARGIN;
  const high = bounds.end + total * MARGIN - span;
  return { start: high < low ? low : clamp(view.start, low, high), span };
}

/** Zooms by `factor` (> 1 = in) with the time at `share` of the width fixed. */
export function zoomAt(view: View, share: number, factor: number, bounds: Bounds): View {
  const total = Math.max(bounds.end - bounds.start, MIN_SPAN);
  const span = clamp(view.span / factor, MIN_SPAN, total * (1 + 2 * MARGIN));
  return clampView({ start: view.start + (view.span - span) * share, span }, bounds);
}

export function panBy(view: View, ns: number, bounds: Bounds): View {
  return clampView({ start: view.start + ns, span: view.span }, bounds);
}

/** Buckets to ask for a canvas of this width in device pixels. */
export function bucketsFor(devicePixels: number): number {
  return clamp(Math.floor(devicePixels), 1, MAX_BUCKETS);
}

export interface Aligned {
  readonly start: number;
  readonly end: number;
  readonly width: number;
  readonly buckets: number;
}

/**
 * The window to ask for: `buckets` cells whose edges are multiples of their
 * width, which depends on the span alone. So a pan by less than a cell asks
 * the same question, and a longer one moves cells without changing them.
 */
export function alignWindow(view: View, buckets: number): Aligned {
  const width = view.span / Math.max(1, buckets - 1);
  const start = Math.floor(view.start / width) * width;
  return { start, end: start + buckets * width, width, buckets };
}

export type Mode = "raw" | "aggregated";

/** Raw at this many events and below. */
export const RAW_BELOW = 50_000;
/** Aggregated above this many. */
export const AGGREGATED_ABOVE = 60_000;

/** The mode for `events` in view, given the one before: nothing flips between the two marks. */
export function nextMode(mode: Mode, events: number): Mode {
  if (events <= RAW_BELOW) return "raw";
  if (events > AGGREGATED_ABOVE) return "aggregated";
  return mode;
}

/**
 * Guess of the events in a new view from what an earlier view held: density
 * times width. A zoom out of a raw window should not ask for raw rows that
 * the server must refuse.
 */
export function estimateEvents(events: number, span: number, newSpan: number): number {
  return span <= 0 ? events : events * (newSpan / span);
}
