import { batch } from "@preact/signals";
import { clamp } from "../base/num.ts";
import {
  bounds, canvasSize, folded, layout, limits, selection, scrollTop, settings, tree, unchecked, view,
} from "./store.ts";
import type { Settings } from "./store.ts";
import { leavesOf } from "./lanes.ts";
import type { Lane } from "./lanes.ts";
import { PAN_STEP, clampView, panBy, zoomAt } from "./window.ts";
import type { View } from "./window.ts";

/** Everything that a user may do to the view, in one place; undo included. */

const MAX_UNDO = 10_000;
/** Zoom steps closer than this, ms, are one step of undo. */
const UNDO_JOIN_MS = 500;
const history: View[] = [];
let lastChange = -Infinity;

function remember(now: number): void {
  if (now - lastChange > UNDO_JOIN_MS) {
    history.push(view.peek());
    if (history.length > MAX_UNDO) history.shift();
  }
  lastChange = now;
}

function setView(next: View, keepUndo = true): void {
  const old = view.peek();
  if (next.start === old.start && next.span === old.span) return;
  if (keepUndo) remember(performance.now());
  view.value = next;
}

export function forgetHistory(): void {
  history.length = 0;
  lastChange = -Infinity;
}

export function canUndo(): boolean {
  return history.length > 0;
}

export function zoom(factor: number, share: number): void {
  setView(zoomAt(view.peek(), share, factor, limits.peek()));
}

/** Pans by a part of the window, positive = later. */
export function pan(part: number): void {
  const now = view.peek();
  setView(panBy(now, now.span * part, limits.peek()));
}

export function panSteps(steps: number): void {
  pan(steps * PAN_STEP);
}

export function showRange(start: number, end: number): void {
  lastChange = -Infinity;
  const span = Math.max(end - start, 1);
  setView(clampView({ start, span }, limits.peek()));
  lastChange = -Infinity;
}

/** Shows a span with a little room on both sides. */
export function fitRange(start: number, end: number): void {
  const room = Math.max((end - start) * 0.1, 1);
  showRange(start - room, end + room);
}

export function resetView(): void {
  const all = bounds.peek();
  showRange(all.start, all.end);
}

/** Everything, strays and files of other clocks included. */
export function showAll(): void {
  const all = limits.peek();
  showRange(all.start, all.end);
}

export function undoView(): void {
  const last = history.pop();
  lastChange = -Infinity;
  if (last !== undefined) view.value = last;
}

export function select(start: number, end: number): void {
  const all = limits.peek();
  const low = clamp(Math.min(start, end), all.start, all.end);
  const high = clamp(Math.max(start, end), all.start, all.end);
  selection.value = high > low ? { start: low, end: high } : null;
}

export function scrollTo(y: number): void {
  const most = Math.max(0, layout.peek().height - canvasSize.peek().height);
  const next = clamp(Math.round(y), 0, most);
  if (next !== scrollTop.peek()) scrollTop.value = next;
}

export function scrollBy(px: number): void {
  scrollTo(scrollTop.peek() + px);
}

export function toggleFold(lane: Lane): void {
  const next = new Set(folded.peek());
  if (!next.delete(lane.key)) next.add(lane.key);
  folded.value = next;
  scrollBy(0);
}

/** Folds every group that has lanes below, or unfolds all if all are folded. */
export function foldAll(): void {
  const groups = tree.peek().lanes.filter((lane) => lane.children.length > 0);
  const all = groups.every((lane) => folded.peek().has(lane.key));
  folded.value = all ? new Set() : new Set(groups.map((lane) => lane.key));
  scrollBy(0);
}

export function setChecked(lane: Lane, on: boolean): void {
  const next = new Set(unchecked.peek());
  for (const leaf of leavesOf(lane)) {
    if (on) next.delete(leaf.key);
    else next.add(leaf.key);
  }
  unchecked.value = next;
}

const STORE_KEY = "meridian.settings";

export function changeSettings(change: Partial<Settings>): void {
  batch(() => {
    settings.value = { ...settings.peek(), ...change };
  });
  try {
    localStorage.setItem(STORE_KEY, JSON.stringify(settings.peek()));
  } catch {
    // Storage may be closed to us (private window): the setting holds until reload.
  }
}

export function loadSettings(): void {
  try {
    const text = localStorage.getItem(STORE_KEY);
    if (text === null) return;
    const kept = JSON.parse(text) as Partial<Settings>;
    settings.value = { ...settings.peek(), ...kept };
  } catch {
    // A broken entry is the same as none.
  }
}
