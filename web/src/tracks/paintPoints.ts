import { lowerBound } from "../base/search.ts";
import { DEPTHS } from "../render/theme.ts";
import type { LaneData } from "../wire/answers.ts";
import type { Scale } from "./paintCounter.ts";
import type { ColumnMap, Scene } from "./scene.ts";

/** Instants: ticks coloured by value, or the density of buckets. */

type Points = Extract<LaneData, { form: "points" }>;
type Density = Extract<LaneData, { form: "density" }>;

const LEAST = 0.35;
/** Width of a tick, CSS px. */
const TICK = 1.5;

function depthAt(share: number): number {
  return Math.round((LEAST + (1 - LEAST) * share) * DEPTHS);
}

/** Depth of an instant by its value on the lane's scale; full where it has none. */
export function valueDepth(value: number, scale: Scale): number {
  if (Number.isNaN(value) || scale.high <= scale.low) return DEPTHS;
  const share = (value - scale.low) / (scale.high - scale.low);
  return depthAt(share < 0 ? 0 : share > 1 ? 1 : share);
}

export function paintTicks(
  scene: Scene, lane: Points, scale: Scale, color: number, offset: number,
  first: number, end: number,
): void {
  const { pixels, ratio } = scene.renderer;
  const { theme, start, nsPerColumn } = scene;
  const width = Math.max(1, Math.round(TICK * ratio));
  const depths = theme.depths[color]!;
  pixels.fill(theme.bgPixel, offset + first, offset + end);
  const from = lowerBound(lane.time, start - width * nsPerColumn, 0, lane.time.length);
  const viewEnd = start + end * nsPerColumn;
  for (let at = from; at < lane.time.length && lane.time[at]! < viewEnd; at++) {
    const column = Math.floor((lane.time[at]! - start) / nsPerColumn);
    const pixel = depths[valueDepth(lane.value[at]!, scale)]!;
    const stop = Math.min(end, column + width);
    for (let to = Math.max(first, column); to < stop; to++) pixels[offset + to] = pixel;
  }
}

/** Most events in one bucket of the answer. */
export function densest(lane: Density): number {
  let most = 0;
  for (let at = 0; at < lane.count.length; at++) if (lane.count[at]! > most) most = lane.count[at]!;
  return most;
}

export function paintDensity(
  scene: Scene, lane: Density, map: ColumnMap, most: number, color: number, offset: number,
): void {
  const { pixels } = scene.renderer;
  const { theme } = scene;
  const depths = theme.depths[color]!;
  const unit = most > 1 ? 1 / Math.log2(1 + most) : 1;
  for (let column = map.first; column < map.last; column++) {
    const bucket = map.at[column]!;
    if (bucket < 0) continue;
    const count = lane.count[bucket]!;
    pixels[offset + column] = count === 0 ? theme.bgPixel
      : depths[depthAt(Math.min(1, Math.log2(1 + count) * unit))]!;
  }
}
