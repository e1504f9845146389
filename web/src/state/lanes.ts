import { eventKey } from "../wire/answers.ts";
import type { LaneKind, LaneRecord } from "../wire/types.ts";

/** The lane tree: what the server lists, joined, with stable keys and a layout. */

export const GROUP_HEIGHT = 24;
export const INTERVAL_HEIGHT = 24;
export const COUNTER_HEIGHT = 38;
export const ROW_HEIGHT = 17;
export const SLICES_PADDING = 6;
/** In the dense setting every row and lane is this high, labels are left out. */
export const DENSE_HEIGHT = 4;

export interface Lane {
  readonly index: number;
  readonly record: LaneRecord;
  readonly kind: LaneKind;
  readonly title: string;
  readonly depth: number;
  readonly parent: Lane | null;
  readonly children: Lane[];
  /** Key in answers: track id as text, or component and category; "" of a group. */
  readonly dataKey: string;
  /** Key in the URL, the same whenever the same files are opened. */
  readonly key: string;
  readonly isEvent: boolean;
  /** Lanes below that hold data (1 of a track without children). */
  leaves: number;
}

/** `link_c0_sw0_req` → `c0 → sw0 req`; what does not fit the form stays as it is. */
export function laneTitle(record: LaneRecord): string {
  const name = record.component;
  if (name === undefined || record.name !== name) return record.name;
  const at = name.indexOf("_");
  if (at <= 0) return name;
  const group = name.slice(0, at);
  const parts = name.slice(at + 1).split("_");
  if (group === "link" && parts.length === 3) return `${parts[0]} → ${parts[1]} ${parts[2]}`;
  if (group === "flow" && parts.length === 2) return `${parts[0]} → ${parts[1]}`;
  return parts.join(" ");
}

function laneKey(record: LaneRecord, parent: Lane | null): string {
  if (record.component !== undefined) return `e${record.component}~${record.category ?? ""}`;
  if (record.id !== null) return `t${record.id}`;
  return `${parent?.key ?? "g"}/${record.name}`;
}

function joinLane(records: readonly LaneRecord[], lanes: (Lane | undefined)[], at: number): Lane {
  const known = lanes[at];
  if (known !== undefined) return known;
  const record = records[at]!;
  const up = record.parent;
  const valid = up !== null && up >= 0 && up < records.length && up !== at;
  const parent = valid ? joinLane(records, lanes, up) : null;
  const isEvent = record.component !== undefined;
  const lane: Lane = {
    index: at, record, kind: record.kind, title: laneTitle(record),
    depth: parent === null ? 0 : parent.depth + 1, parent, children: [],
    dataKey: isEvent ? eventKey(record.component!, record.category ?? "")
      : record.id === null ? "" : String(record.id),
    key: laneKey(record, parent), isEvent, leaves: 0,
  };
  lanes[at] = lane;
  parent?.children.push(lane);
  return lane;
}

export interface LaneTree {
  /** In the order of the server's list. */
  readonly lanes: readonly Lane[];
  readonly roots: readonly Lane[];
  readonly leaves: number;
}

export const EMPTY_TREE: LaneTree = { lanes: [], roots: [], leaves: 0 };

export function buildTree(records: readonly LaneRecord[]): LaneTree {
  const joined: (Lane | undefined)[] = new Array<Lane | undefined>(records.length);
  const lanes = records.map((_, at) => joinLane(records, joined, at));
  let leaves = 0;
  for (const lane of lanes) {
    if (lane.kind === "group") continue;
    leaves++;
    for (let up: Lane | null = lane; up !== null; up = up.parent) up.leaves++;
  }
  return { lanes, roots: lanes.filter((lane) => lane.parent === null), leaves };
}

/**
 * Groups the lanes by machine where there is more than one; records of one machine stay as they
 * are. `nameOf` gives the machine's name, "" where it has none.
 */
export function groupByMachine(
  records: readonly LaneRecord[], nameOf: (machine: number) => string,
): readonly LaneRecord[] {
  const machineOf = (record: LaneRecord): number => Number(record.machine ?? 0);
  const machines = [...new Set(records.map(machineOf))].sort((a, b) => a - b);
  if (machines.length < 2) return records;
  const groups = machines.map((machine): LaneRecord => ({
    id: null, parent: null, kind: "group", name: nameOf(machine), machine,
  }));
  const moved = records.map((record): LaneRecord => ({
    ...record, parent: record.parent === null ? machines.indexOf(machineOf(record))
      : record.parent + groups.length,
  }));
  return [...groups, ...moved];
}

export function laneHeight(lane: Lane, dense: boolean): number {
  if (lane.kind === "group") return dense ? 14 : GROUP_HEIGHT;
  const rows = Math.max(1, lane.record.rows ?? 1);
  if (lane.kind === "slices") {
    return dense ? rows * DENSE_HEIGHT : rows * ROW_HEIGHT + SLICES_PADDING;
  }
  if (dense) return DENSE_HEIGHT;
  return lane.kind === "counter" ? COUNTER_HEIGHT : INTERVAL_HEIGHT;
}

/** The lanes shown, top to bottom, with their places in CSS pixels. */
export interface Layout {
  readonly lanes: readonly Lane[];
  readonly top: Float64Array;
  readonly height: number;
  readonly dense: boolean;
}

export const EMPTY_LAYOUT: Layout = {
  lanes: [], top: new Float64Array(1), height: 0, dense: false,
};

function matches(lane: Lane, needle: string): boolean {
  if (lane.title.toLowerCase().includes(needle)) return true;
  return (lane.record.component ?? "").toLowerCase().includes(needle);
}

/** Lanes that a filter text keeps: those that match, what is under and what is above them. */
function kept(tree: LaneTree, needle: string): Uint8Array {
  const keep = new Uint8Array(tree.lanes.length);
  const mark = (lane: Lane): void => {
    keep[lane.index] = 1;
    lane.children.forEach(mark);
  };
  for (const lane of tree.lanes) {
    if (!matches(lane, needle)) continue;
    mark(lane);
    for (let up = lane.parent; up !== null; up = up.parent) keep[up.index] = 1;
  }
  return keep;
}

export function layOut(
  tree: LaneTree, folded: ReadonlySet<string>, filter: string, dense: boolean,
): Layout {
  const needle = filter.trim().toLowerCase();
  const keep = needle === "" ? null : kept(tree, needle);
  const shown: Lane[] = [];
  const walk = (lane: Lane): void => {
    if (keep !== null && keep[lane.index] === 0) return;
    shown.push(lane);
    if (keep !== null || !folded.has(lane.key)) lane.children.forEach(walk);
  };
  tree.roots.forEach(walk);
  const top = new Float64Array(shown.length + 1);
  for (let at = 0; at < shown.length; at++) {
    top[at + 1] = top[at]! + laneHeight(shown[at]!, dense);
  }
  return { lanes: shown, top, height: top[shown.length]!, dense };
}

/** Index in the layout of the lane at `y` (content pixels), or -1. */
export function laneAt(layout: Layout, y: number): number {
  if (y < 0 || y >= layout.height) return -1;
  let low = 0;
  let high = layout.lanes.length;
  while (low + 1 < high) {
    const mid = (low + high) >>> 1;
    if (layout.top[mid]! <= y) low = mid;
    else high = mid;
  }
  return layout.lanes.length === 0 ? -1 : low;
}

/** A lane and all below it that hold data. */
export function leavesOf(lane: Lane, out: Lane[] = []): Lane[] {
  if (lane.kind !== "group") out.push(lane);
  for (const child of lane.children) leavesOf(child, out);
  return out;
}

export type Check = "all" | "none" | "some";

export function checkOf(lane: Lane, unchecked: ReadonlySet<string>): Check {
  if (unchecked.size === 0) return "all";
  let on = 0;
  let off = 0;
  for (const leaf of leavesOf(lane)) {
    if (unchecked.has(leaf.key)) off++;
    else on++;
  }
  return off === 0 ? "all" : on === 0 ? "none" : "some";
}
