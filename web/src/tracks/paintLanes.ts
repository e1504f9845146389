import { colorIndex } from "../base/color.ts";
import {
  COUNTER_HEIGHT, DENSE_HEIGHT, ROW_HEIGHT, laneAt,
} from "../state/lanes.ts";
import type { Lane, Layout } from "../state/lanes.ts";
import { BAD_COLOR } from "../render/theme.ts";
import type { Answer, LaneData } from "../wire/answers.ts";
import type { Feed, Slot } from "./feed.ts";
import { labelBars, labelCells, paintBars, paintCells } from "./paintBars.ts";
import {
  clearValues, paintCounter, pointValues, stepValues,
} from "./paintCounter.ts";
import { paintDensity, paintTicks } from "./paintPoints.ts";
import type { ColumnMap, Scene } from "./scene.ts";

/** Paints the lanes on screen; nothing outside the viewport is touched. */

/** Space above the rows of a slices lane and above the bar of an interval lane, CSS px. */
export const SLICES_TOP = 3;
const INTERVAL_INSET = 4;
const INSTANT_INSET = 5;
/** Height of the bar over a lane whose answer is late. */
const LOADING_BAR = 2;
/** Colour of instants of event traces and of the two interval forms is fixed, others hash. */
const HOP_COLOR = 2;
const OSTD_COLOR = 1;

export interface Viewport {
  readonly layout: Layout;
  readonly scrollTop: number;
  readonly width: number;
  readonly height: number;
  readonly unchecked: ReadonlySet<string>;
}

/** Top and height of row `row` of a lane, relative to the lane. */
export function rowTop(lane: Lane, row: number, dense: boolean): number {
  if (dense) return lane.kind === "slices" ? row * DENSE_HEIGHT : 0;
  if (lane.kind === "slices") return SLICES_TOP + row * ROW_HEIGHT;
  return lane.kind === "instant" ? INSTANT_INSET : INTERVAL_INSET;
}

export function rowHeight(lane: Lane, laneHeight: number, dense: boolean): number {
  if (dense) return DENSE_HEIGHT - 1;
  if (lane.kind === "slices") return ROW_HEIGHT - 2;
  return laneHeight - 2 * rowTop(lane, 0, dense);
}

const colors = new Map<string, number>();

/** Colour of a counter or instant lane. */
export function laneColor(lane: Lane): number {
  const { category } = lane.record;
  if (category === "hop_arrive") return HOP_COLOR;
  if (category === "ostd_change") return OSTD_COLOR;
  let color = colors.get(lane.title);
  if (color === undefined) colors.set(lane.title, (color = colorIndex(lane.title)));
  return color;
}

export function paintLanes(scene: Scene, feed: Feed, port: Viewport): void {
  const { layout, scrollTop } = port;
  for (let at = Math.max(0, laneAt(layout, scrollTop)); at < layout.lanes.length; at++) {
    const y = layout.top[at]! - scrollTop;
    if (y >= port.height) break;
    const lane = layout.lanes[at]!;
    const height = layout.top[at + 1]! - layout.top[at]!;
    paintLane(scene, feed, port, lane, y, height);
  }
}

function paintLane(
  scene: Scene, feed: Feed, port: Viewport, lane: Lane, y: number, height: number,
): void {
  const { renderer, theme } = scene;
  if (lane.kind === "group") renderer.fill(0, y, port.width, height, theme.bg3);
  const slot = feed.slotOf(lane);
  if (port.unchecked.has(lane.key)) {
    renderer.fill(0, y, port.width, height, theme.bg2);
  } else if (slot !== undefined) {
    updateMaps(scene, slot);
    if (lane.kind === "counter") paintCounterLane(scene, feed, slot, lane, y, port.layout.dense);
    else paintRows(scene, feed, slot, lane, y, height, port);
    if (isBroken(feed, lane)) {
      const inset = port.layout.dense ? 0 : INTERVAL_INSET;
      renderer.hatch(y + inset, height - 2 * inset);
    }
    if (feed.slow(slot)) {
      renderer.mark(0, y, port.width, port.layout.dense ? 1 : LOADING_BAR, theme.acc);
    }
  }
  if (!port.layout.dense) renderer.fill(0, y + height - 1, port.width, 1, theme.line);
}

export function isBroken(feed: Feed, lane: Lane): boolean {
  return lane.record.anomalous === true || feed.anomalies.has(lane.dataKey);
}

function updateMaps(scene: Scene, slot: Slot): void {
  if (slot.answer !== null) slot.map.update(slot.answer, scene);
  if (slot.under !== null) slot.underMap.update(slot.under, scene);
}

/** Whether the newest answer leaves part of the view to an older one. */
function needsUnder(scene: Scene, slot: Slot, lane: Lane): boolean {
  if (slot.under === null) return false;
  if (slot.answer === null || !slot.answered.has(lane.dataKey)) return true;
  return slot.map.first > 0 || slot.map.last < scene.renderer.columns;
}

function paintRows(
  scene: Scene, feed: Feed, slot: Slot, lane: Lane, y: number, height: number, port: Viewport,
): void {
  const { dense } = port.layout;
  const rows = lane.kind === "slices" ? Math.max(1, lane.record.rows ?? 1) : 1;
  const high = rowHeight(lane, height, dense);
  const under = needsUnder(scene, slot, lane);
  for (let row = 0; row < rows; row++) {
    const top = y + rowTop(lane, row, dense);
    if (top + high <= 0) continue;
    if (top >= port.height) break;
    const offset = scene.renderer.strip(top, high);
    if (offset < 0) return;
    if (under) paintUnder(scene, feed, slot, lane, row, offset);
    if (slot.answer === null || !slot.answered.has(lane.dataKey)) continue;
    paintRow(scene, feed, slot.answer, slot.map, lane, row, offset);
    if (!dense) labelRow(scene, feed, slot, lane, row, offset, top, high);
  }
}

/** Paints the older answer where the newer one does not reach: left and right of it. */
function paintUnder(
  scene: Scene, feed: Feed, slot: Slot, lane: Lane, row: number, offset: number,
): void {
  const map = slot.underMap;
  const { first, last } = map;
  if (slot.answer === null || !slot.answered.has(lane.dataKey)) {
    paintRow(scene, feed, slot.under!, map, lane, row, offset);
    return;
  }
  map.last = Math.max(first, Math.min(last, slot.map.first));
  if (map.last > first) paintRow(scene, feed, slot.under!, map, lane, row, offset);
  map.last = last;
  map.first = Math.min(last, Math.max(first, slot.map.last));
  if (map.first < last) paintRow(scene, feed, slot.under!, map, lane, row, offset);
  map.first = first;
}

function paintRow(
  scene: Scene, feed: Feed, answer: Answer, map: ColumnMap, lane: Lane, row: number,
  offset: number,
): void {
  const data = answer.lanes.get(lane.dataKey);
  const override = isBroken(feed, lane) ? BAD_COLOR : -1;
  if (data === undefined) {
    scene.renderer.pixels.fill(scene.theme.bgPixel, offset + map.first, offset + map.last);
  } else if (data.form === "bars") {
    const bars = data.rows[row];
    if (bars !== undefined) paintBars(scene, bars, offset, map.first, map.last, override);
  } else if (data.form === "cells") {
    const cells = data.rows[row];
    if (cells !== undefined) paintCells(scene, cells, map, offset, override);
  } else if (data.form === "points") {
    paintTicks(scene, data, feed.scaleOf(lane), laneColor(lane), offset, map.first, map.last);
  } else if (data.form === "density") {
    paintDensity(scene, data, map, feed.densityOf(data), laneColor(lane), offset);
  }
}

function labelRow(
  scene: Scene, feed: Feed, slot: Slot, lane: Lane, row: number, offset: number,
  top: number, height: number,
): void {
  const answer = slot.answer!;
  const data = answer.lanes.get(lane.dataKey);
  if (data === undefined) return;
  const plain = lane.kind === "interval";
  if (data.form === "bars") {
    const bars = data.rows[row];
    const override = isBroken(feed, lane) ? BAD_COLOR : -1;
    if (bars !== undefined) {
      labelBars(scene, bars, answer.names, top, height, override, plain);
    }
  } else if (data.form === "cells" && !plain) {
    const cells = data.rows[row];
    if (cells !== undefined) {
      labelCells(scene, cells, slot.map, answer.names, offset, top, height);
    }
  }
}

function values(scene: Scene, data: LaneData | undefined, map: ColumnMap): void {
  if (data === undefined) {
    scene.last.fill(NaN, map.first, map.last);
  } else if (data.form === "steps") stepValues(scene, data, map);
  else if (data.form === "points") pointValues(scene, data, map.first, map.last);
}

function paintCounterLane(
  scene: Scene, feed: Feed, slot: Slot, lane: Lane, y: number, dense: boolean,
): void {
  const { renderer } = scene;
  const high = (dense ? DENSE_HEIGHT : COUNTER_HEIGHT) - 1;
  const lines = Math.max(2, Math.round(high * renderer.ratio));
  const offset = renderer.block(y, lines);
  if (offset < 0) return;
  clearValues(scene);
  if (needsUnder(scene, slot, lane)) {
    values(scene, slot.under!.lanes.get(lane.dataKey), slot.underMap);
  }
  if (slot.answer !== null && slot.answered.has(lane.dataKey)) {
    values(scene, slot.answer.lanes.get(lane.dataKey), slot.map);
  }
  const color = isBroken(feed, lane) ? BAD_COLOR : laneColor(lane);
  paintCounter(scene, feed.scaleOf(lane), color, offset, lines);
}
