import { playHead } from "../state/replay.ts";
import { cursor, picked, selection, view } from "../state/store.ts";
import { rowHeight, rowTop } from "../tracks/paintLanes.ts";
import { paintFlows } from "./flows.ts";
import type { Stage } from "./stage.ts";

/** Selection, picked slice with its arrows, and cursor, over the lanes. */

const DASH = [4, 3];
const NO_DASH: number[] = [];

/** Canvases that hold nothing now. */
const empty = new WeakSet<HTMLCanvasElement>();

function hasContent(stage: Stage): boolean {
  if (stage.drag !== null || cursor.peek() !== null || playHead.peek() !== null) return true;
  return selection.peek() !== null || picked.peek() !== null;
}

export function paintOverlay(stage: Stage): void {
  const canvas = stage.canvases.overlay;
  const context = canvas.getContext("2d");
  if (context === null) return;
  const filled = hasContent(stage);
  if (!filled && empty.has(canvas)) return;
  canvas.style.visibility = filled ? "" : "hidden";
  if (filled) empty.delete(canvas);
  else empty.add(canvas);
  const ratio = devicePixelRatio;
  const width = canvas.width / ratio;
  const height = canvas.height / ratio;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  const now = view.peek();
  const unit = width / now.span;
  paintSelection(stage, context, width, height, unit);
  paintPicked(stage, context, width, unit);
  paintFlows(stage, context, width, height);
  const head = playHead.peek();
  if (head !== null) {
    context.fillStyle = stage.colors.acc;
    context.fillRect(Math.round((head - now.start) * unit) - 1, 0, 2, height);
  }
  const at = cursor.peek();
  if (at !== null && stage.drag === null) {
    context.globalAlpha = 0.6;
    context.fillStyle = stage.colors.ink;
    context.fillRect(Math.round((at - now.start) * unit), 0, 1, height);
    context.globalAlpha = 1;
  }
}

function paintSelection(
  stage: Stage, context: CanvasRenderingContext2D, width: number, height: number, unit: number,
): void {
  const range = stage.drag ?? selection.peek();
  if (range === null) return;
  const start = view.peek().start;
  const x0 = (Math.min(range.start, range.end) - start) * unit;
  const x1 = (Math.max(range.start, range.end) - start) * unit;
  if (x1 < 0 || x0 > width) return;
  const left = Math.max(-2, x0);
  const right = Math.min(width + 2, x1);
  context.fillStyle = stage.colors.sel;
  context.fillRect(left, 0, right - left, height);
  context.strokeStyle = stage.colors.acc;
  context.lineWidth = 1;
  context.setLineDash(DASH);
  context.beginPath();
  context.moveTo(Math.round(left) + 0.5, 0);
  context.lineTo(Math.round(left) + 0.5, height);
  context.moveTo(Math.round(right) - 0.5, 0);
  context.lineTo(Math.round(right) - 0.5, height);
  context.stroke();
  context.setLineDash(NO_DASH);
}

function paintPicked(
  stage: Stage, context: CanvasRenderingContext2D, width: number, unit: number,
): void {
  const slice = picked.peek();
  if (slice === null) return;
  const { layout, scrollTop } = stage.port;
  for (let at = 0; at < layout.lanes.length; at++) {
    const lane = layout.lanes[at]!;
    if (lane.key !== slice.lane) continue;
    const height = layout.top[at + 1]! - layout.top[at]!;
    const y = layout.top[at]! - scrollTop + rowTop(lane, slice.row, layout.dense);
    const x0 = Math.max(-4, (slice.start - view.peek().start) * unit);
    const x1 = Math.min(width + 4, (slice.end - view.peek().start) * unit);
    context.strokeStyle = stage.colors.ink;
    context.lineWidth = 1.5;
    context.strokeRect(
      x0 - 0.5, y - 0.5, Math.max(2, x1 - x0) + 1, rowHeight(lane, height, layout.dense) + 1,
    );
    return;
  }
}
