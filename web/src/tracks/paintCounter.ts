import { upperBound } from "../base/search.ts";
import { DEPTHS } from "../render/theme.ts";
import type { LaneData } from "../wire/answers.ts";
import type { ColumnMap, Scene } from "./scene.ts";

/**
 * Counters as filled steps: values by device column first, then a block of
 * pixels line by line.
 *
 *      ▁▁        top line: last value of the column, joined to its neighbour
 *     ▕██▏▁▁     band:     least to greatest value where a column holds several
 *   ▁▁▕██████▁   fill:     from the value down to the foot of the lane
 */

const FILL_DEPTH = Math.round(0.22 * DEPTHS);
const BAND_DEPTH = Math.round(0.5 * DEPTHS);
/** Empty lines above and below, CSS px; less where the lane is low. */
const HEAD = 4;
const FOOT = 2;
const LOW_LANE = 12;

export interface Scale {
  low: number;
  high: number;
}

type Points = Extract<LaneData, { form: "points" }>;
type Steps = Extract<LaneData, { form: "steps" }>;

/** Clears the values of all columns. */
export function clearValues(scene: Scene): void {
  scene.last.fill(NaN);
  scene.min.fill(NaN);
  scene.max.fill(NaN);
}

/** Values by column from buckets. */
export function stepValues(scene: Scene, lane: Steps, map: ColumnMap): void {
  const { last, min, max } = scene;
  for (let column = map.first; column < map.last; column++) {
    const bucket = map.at[column]!;
    if (bucket < 0) continue;
    last[column] = lane.last[bucket]!;
    min[column] = lane.min[bucket]!;
    max[column] = lane.max[bucket]!;
  }
}

/** Values by column from the changes themselves; columns [first, end) belong to the answer. */
export function pointValues(scene: Scene, lane: Points, first: number, end: number): void {
  const { last, min, max, start, nsPerColumn } = scene;
  const { time, value } = lane;
  let at = upperBound(time, start + first * nsPerColumn, 0, time.length);
  let now = at > 0 ? value[at - 1]! : 0;
  for (let column = first; column < end; column++) {
    const until = start + (column + 1) * nsPerColumn;
    let low = now;
    let high = now;
    while (at < time.length && time[at]! < until) {
      now = value[at]!;
      if (now < low) low = now;
      if (now > high) high = now;
      at++;
    }
    last[column] = now;
    min[column] = low;
    max[column] = high;
  }
}

/** Paints the values of the columns into a block of `lines` lines at `offset`. */
export function paintCounter(
  scene: Scene, scale: Scale, color: number, offset: number, lines: number,
): void {
  const { columns, ratio } = scene.renderer;
  const low = lines < LOW_LANE * ratio;
  const head = low ? 0 : Math.round(HEAD * ratio);
  const room = lines - head - (low ? 1 : Math.round(FOOT * ratio));
  const unit = scale.high > scale.low ? room / (scale.high - scale.low) : 0;
  const foot = head + room;
  const { last, min, max, top, bandTop, bandBottom } = scene;
  const thick = Math.max(1, Math.round(ratio));
  let before = -1;
  for (let column = 0; column < columns; column++) {
    const value = last[column]!;
    if (Number.isNaN(value)) {
      top[column] = bandTop[column] = bandBottom[column] = lines;
      before = -1;
      continue;
    }
    // `(x + 0.5) | 0` rounds; values of a lane lie in its scale, so x is never negative.
    const line = foot - (((value - scale.low) * unit + 0.5) | 0);
    top[column] = before >= 0 && before < line ? before : line;
    const edge = before >= 0 && before > line ? before : line + thick;
    bandTop[column] = foot - (((max[column]! - scale.low) * unit + 0.5) | 0);
    bandBottom[column] = foot - (((min[column]! - scale.low) * unit + 0.5) | 0);
    // The step's edge is packed above the fill: line colour in [top, edge).
    scene.cover[column] = edge;
    before = line;
  }
  paintLines(scene, color, offset, lines, foot);
}

function paintLines(
  scene: Scene, color: number, offset: number, lines: number, foot: number,
): void {
  const { pixels, columns } = scene.renderer;
  const { top, bandTop, bandBottom, cover } = scene;
  const depths = scene.theme.depths[color]!;
  const bg = scene.theme.bgPixel;
  const edge = depths[DEPTHS]!;
  const band = depths[BAND_DEPTH]!;
  const fill = depths[FILL_DEPTH]!;
  for (let line = 0; line < lines; line++) {
    const row = offset + line * columns;
    for (let column = 0; column < columns; column++) {
      let pixel = bg;
      if (line >= top[column]!) {
        if (line < cover[column]!) pixel = edge;
        else if (line < bandBottom[column]!) pixel = band;
        else if (line <= foot) pixel = fill;
      } else if (line >= bandTop[column]! && line < bandBottom[column]!) pixel = band;
      pixels[row + column] = pixel;
    }
  }
}
