import { reading } from "../state/details.ts";
import type { Lane } from "../state/lanes.ts";
import { picked, tree, view } from "../state/store.ts";
import { rowHeight, rowTop } from "../tracks/paintLanes.ts";
import type { Flow } from "../wire/types.ts";
import type { Stage } from "./stage.ts";

/** Arrows of the picked slice: from where a flow leaves a slice to where the other begins. */

const HEAD = 6;
/** How far a curve leaves its slice sideways, px at most. */
const BEND = 60;

interface Place {
  readonly y: number;
}

/** Middle of a slice's row; of a lane that is folded away, of the group that stands for it. */
function placeOf(
  stage: Stage, tops: ReadonlyMap<string, number>, lane: Lane, row: number,
): Place | null {
  const { layout, scrollTop } = stage.port;
  for (let up: Lane | null = lane; up !== null; up = up.parent) {
    const at = tops.get(up.key);
    if (at === undefined) continue;
    const height = layout.top[at + 1]! - layout.top[at]!;
    const top = layout.top[at]! - scrollTop;
    if (up !== lane) return { y: top + height / 2 };
    return { y: top + rowTop(lane, row, layout.dense) + rowHeight(lane, height, layout.dense) / 2 };
  }
  return null;
}

function arrow(
  context: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number,
): void {
  const bend = Math.min(BEND, Math.max(12, Math.abs(x1 - x0) / 2));
  context.beginPath();
  context.moveTo(x0, y0);
  context.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
  context.stroke();
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x1 - HEAD, y1 - HEAD / 2);
  context.lineTo(x1 - HEAD, y1 + HEAD / 2);
  context.closePath();
  context.fill();
}

/** Ends of the arrow, relative ns: it leaves the source no later than the other slice begins. */
function ends(flow: Flow, start: number, end: number): { from: number; to: number } | null {
  if (flow.start_ns === undefined || flow.end_ns === undefined) return null;
  const out = flow.direction === "out";
  const source = out ? { start, end } : { start: flow.start_ns, end: flow.end_ns };
  const to = out ? flow.start_ns : start;
  return { from: Math.min(source.end, Math.max(source.start, to)), to };
}

export function paintFlows(
  stage: Stage, context: CanvasRenderingContext2D, width: number, height: number,
): void {
  const slice = picked.peek();
  const now = reading.peek();
  if (slice === null || now.state !== "ready" || now.details.id !== slice.id) return;
  const flows = now.details.flows ?? [];
  const own = tree.peek().lanes.find((one) => one.key === slice.lane);
  if (flows.length === 0 || own === undefined) return;
  const tops = new Map(stage.port.layout.lanes.map((lane, at) => [lane.key, at]));
  const byKey = new Map(tree.peek().lanes.map((lane) => [lane.key, lane]));
  const here = placeOf(stage, tops, own, slice.row);
  if (here === null) return;
  const { start, span } = view.peek();
  const unit = width / span;
  context.strokeStyle = context.fillStyle = stage.colors.acc;
  context.lineWidth = 1.5;
  for (const flow of flows) {
    const lane = byKey.get(`t${flow.track ?? ""}`);
    const time = ends(flow, slice.start, slice.end);
    const there = lane === undefined ? null : placeOf(stage, tops, lane, flow.row ?? 0);
    if (there === null || time === null) continue;
    const [from, to] = flow.direction === "out" ? [here, there] : [there, here];
    const x0 = (time.from - start) * unit;
    const x1 = (time.to - start) * unit;
    if (Math.max(x0, x1) < 0 || Math.min(x0, x1) > width) continue;
    if (Math.max(from.y, to.y) < 0 || Math.min(from.y, to.y) > height) continue;
    arrow(context, x0, from.y, x1, to.y);
  }
}
