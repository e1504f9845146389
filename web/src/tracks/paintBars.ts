import { upperBound } from "../base/search.ts";
import { DEPTHS } from "../render/theme.ts";
import { LEFT_TRUNCATED, NONE, RIGHT_TRUNCATED, UNCLOSED } from "../wire/answers.ts";
import type { CellRow, RawRow } from "../wire/answers.ts";
import { EVENT_ALONE, depthOf } from "./depth.ts";
import type { ColumnMap, Scene } from "./scene.ts";

/** Bars: nested slices and intervals, from raw rows or from buckets. */

/** Labels appear from this width, CSS px. */
export const LABEL_FROM = 34;
/** Bars at least this wide, in device px, end in a gap that keeps neighbours apart. */
const GAP_FROM = 4;
/** Share of the colour that is left in the gap. */
const GAP_DEPTH = 0.35;

/** First bar of a row that may be seen from `time` on. */
export function firstBar(row: RawRow, time: number): number {
  return Math.max(0, upperBound(row.start, time, 0, row.start.length) - 1);
}

/** Colours one line of pixels from raw bars; columns [first, last) belong to the answer. */
export function paintBars(
  scene: Scene, row: RawRow, offset: number, first: number, last: number, override: number,
): void {
  const { pixels } = scene.renderer;
  const { cover, theme, start } = scene;
  const perNs = 1 / scene.nsPerColumn;
  pixels.fill(theme.bgPixel, offset + first, offset + last);
  cover.fill(0, first, last);
  const viewEnd = start + last * scene.nsPerColumn;
  for (let at = firstBar(row, start); at < row.start.length; at++) {
    const from = row.start[at]!;
    if (from >= viewEnd) break;
    const x0 = (from - start) * perNs;
    const x1 = (row.end[at]! - start) * perNs;
    if (x1 < first) continue;
    const depths = theme.depths[override >= 0 ? override : row.color[at]!]!;
    if (x1 - x0 < 1) {
      const column = Math.floor(x0);
      if (column < first || column >= last) continue;
      const share = Math.min(1, cover[column]! + (x1 - x0));
      cover[column] = share;
      pixels[offset + column] = depths[depthOf(share === 0 ? EVENT_ALONE : share)]!;
      continue;
    }
    const begin = Math.max(first, Math.round(x0));
    const end = Math.min(last, Math.max(begin + 1, Math.round(x1)));
    pixels.fill(depths[DEPTHS]!, offset + begin, offset + end);
    if (x1 - x0 >= GAP_FROM && x1 <= last) {
      pixels[offset + end - 1] = depths[Math.round(GAP_DEPTH * DEPTHS)]!;
    }
  }
}

/** Labels and edge marks of raw bars; `y` is the top of the row. */
export function labelBars(
  scene: Scene, row: RawRow, names: readonly string[], y: number, height: number,
  override: number, plain: boolean,
): void {
  const { renderer, theme, start, scale } = scene;
  const viewEnd = start + renderer.columns * scene.nsPerColumn;
  const right = renderer.columns / renderer.ratio;
  for (let at = firstBar(row, start); at < row.start.length; at++) {
    if (row.start[at]! >= viewEnd) break;
    const x0 = (row.start[at]! - start) * scale;
    const x1 = (row.end[at]! - start) * scale;
    const flags = row.flags[at]!;
    if (flags !== 0) markEdges(scene, flags, x0, x1, y, height);
    if (plain) continue;
    const left = x0 < 0 ? 0 : x0;
    const room = (x1 > right ? right : x1) - left;
    const name = row.name[at]!;
    if (room < LABEL_FROM || name === NONE) continue;
    const ink = theme.inks[override >= 0 ? override : row.color[at]!]!;
    renderer.label(names[name]!, left + 5, y + height - 4, room - 9, ink);
  }
}

function markEdges(
  scene: Scene, flags: number, x0: number, x1: number, y: number, height: number,
): void {
  const { renderer, theme } = scene;
  const right = renderer.columns / renderer.ratio;
  if (x1 - x0 < 6) return;
  if ((flags & LEFT_TRUNCATED) !== 0) renderer.notch(x0 < 0 ? 0 : x0, y, height, false);
  if ((flags & RIGHT_TRUNCATED) !== 0) renderer.notch(x1 > right ? right : x1, y, height, true);
  if ((flags & UNCLOSED) !== 0 && x1 <= right + 1) {
    renderer.mark(x1 - 2, y, 2, height, theme.bg);
    renderer.dashed(x1, y, height, theme.ink);
  }
}

/** Colours one line of pixels from buckets. */
export function paintCells(
  scene: Scene, row: CellRow, map: ColumnMap, offset: number, override: number,
): void {
  const { pixels } = scene.renderer;
  const { depths } = scene.theme;
  const { at, first, last } = map;
  const { depth, color } = row;
  if (override >= 0) {
    const ramp = depths[override]!;
    for (let column = first; column < last; column++) {
      const bucket = at[column]!;
      if (bucket >= 0) pixels[offset + column] = ramp[depth[bucket]!]!;
    }
    return;
  }
  // Stretched cells span several columns: what a cell looks like is looked up once.
  let known = -1;
  let pixel = 0;
  for (let column = first; column < last; column++) {
    const bucket = at[column]!;
    if (bucket < 0) continue;
    if (bucket !== known) {
      known = bucket;
      pixel = depths[color[bucket]!]![depth[bucket]!]!;
    }
    pixels[offset + column] = pixel;
  }
}

/** Part of a bucket a slice must fill for the bucket to carry its label. */
const RUN_BUSY = 0.5;

/** Labels of slices wide enough to own a run of buckets, and the gaps between such. */
export function labelCells(
  scene: Scene, row: CellRow, map: ColumnMap, names: readonly string[], offset: number,
  y: number, height: number,
): void {
  if (row.longest.length === 0) return;
  const { renderer, theme } = scene;
  const { at } = map;
  let column = map.first;
  while (column < map.last) {
    const begin = column;
    const bucket = at[column]!;
    const id = bucket < 0 ? NONE : row.longest[bucket]!;
    column++;
    if (id === NONE || row.busy[bucket]! < RUN_BUSY) continue;
    while (column < map.last && at[column]! >= 0 && row.longest[at[column]!]! === id) column++;
    if (column - begin < GAP_FROM) continue;
    const color = row.color[bucket]!;
    renderer.pixels[offset + column - 1] = theme.depths[color]![Math.round(GAP_DEPTH * DEPTHS)]!;
    const room = (column - begin) / renderer.ratio;
    const name = row.name[bucket]!;
    if (room < LABEL_FROM || name === NONE) continue;
    renderer.label(names[name]!, begin / renderer.ratio + 5, y + height - 4, room - 9,
      theme.inks[color]!);
  }
}
