import { batch } from "@preact/signals";
import { clamp } from "../base/num.ts";
import { scrollTo, showRange } from "../state/actions.ts";
import type { Lane } from "../state/lanes.ts";
import {
  canvasSize, folded, laneFilter, layout, limits, picked, tree, view,
} from "../state/store.ts";
import { rowTop } from "../tracks/paintLanes.ts";

/** Going to a slice from a list: unfold its lane, set the window, select it, scroll to it. */

export interface Target {
  readonly lane: string;
  /** Id within the lane's table, null for a place in time alone. */
  readonly id: number | null;
  readonly start: number;
  readonly end: number;
  readonly row: number;
  readonly name: string;
}

/** Part of the window that the slice takes after a jump. */
const SHARE = 0.3;
/** A window that shows the slice at no less than this share is only moved. */
const LEAST_SHARE = 0.02;

function windowFor(start: number, end: number): { start: number; end: number } {
  const length = end - start;
  const now = view.peek();
  const fits = length <= now.span * 0.9 && length >= now.span * LEAST_SHARE;
  const most = limits.peek().end - limits.peek().start;
  const span = fits || length <= 0 ? now.span : clamp(length / SHARE, 10, most * 1.1);
  const middle = (start + end) / 2;
  return { start: middle - span / 2, end: middle + span / 2 };
}

function unfold(lane: Lane): void {
  const next = new Set(folded.peek());
  for (let up = lane.parent; up !== null; up = up.parent) next.delete(up.key);
  if (next.size !== folded.peek().size) folded.value = next;
}

/** Scrolls so that a row of the lane is in sight. */
function scrollToRow(key: string, row: number): void {
  const shown = layout.peek();
  const at = shown.lanes.findIndex((one) => one.key === key);
  if (at < 0) return;
  const y = shown.top[at]! + rowTop(shown.lanes[at]!, row, shown.dense);
  scrollTo(Math.max(0, y - canvasSize.peek().height / 2));
}

/** Returns false, and changes nothing, where the lane does not exist. */
export function jumpTo(target: Target): boolean {
  const lane = tree.peek().lanes.find((one) => one.key === target.lane);
  if (lane === undefined) return false;
  batch(() => {
    laneFilter.value = "";
    unfold(lane);
    const to = windowFor(target.start, target.end);
    showRange(to.start, to.end);
    picked.value = {
      lane: lane.key, id: target.id, start: target.start, end: target.end, row: target.row,
      name: target.name, facts: [], detailJson: null,
    };
  });
  scrollToRow(lane.key, target.row);
  return true;
}
