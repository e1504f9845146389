import { LEFT_TRUNCATED, RIGHT_TRUNCATED, UNCLOSED } from "../wire/answers.ts";

/**
 * Pairs raw event rows into intervals. Per component and interval pair, in
 * the order of the rows:
 *
 *   opener, nothing open   opens
 *   opener, one open       anomaly, changes nothing
 *   closer, one open       closes: [since, time)
 *   closer, nothing open   anomaly, changes nothing
 *
 * A window starts from S, the intervals open before it; these are drawn from
 * the window's start and left-truncated. What is open at the window's end is
 * drawn to min(end, simulation end) and is unclosed where that is the
 * simulation end, else right-truncated.
 */

/** Categories by code (see CATEGORIES): pair = code >> 1, opener = even. */
export const PAIRS = 2;
export const FIRST_NON_INTERVAL = 4;
const NO_ROW = 0xffffffff;

export interface EventColumns {
  readonly time: Float64Array;
  /** Code of the category, index into CATEGORIES. */
  readonly category: Uint8Array;
  /** Index of the component. */
  readonly component: Int32Array;
}

export interface OpenAt {
  readonly component: number;
  readonly pair: number;
  readonly since: number;
}

export interface PairedWindow {
  readonly start: number;
  readonly end: number;
  readonly simEnd: number;
}

/** Intervals in the order of their starts within a track; arrays have `count` entries in use. */
export interface Intervals {
  count: number;
  readonly component: Int32Array;
  readonly pair: Uint8Array;
  readonly start: Float64Array;
  readonly end: Float64Array;
  readonly flags: Uint8Array;
  /** Row of the opener, or 0xffffffff where it lies before the window. */
  readonly row: Uint32Array;
}

export interface PairAnomaly {
  readonly component: number;
  readonly pair: number;
  count: number;
  readonly firstNs: number;
}

export interface Pairing {
  readonly intervals: Intervals;
  /** Of these rows only: never shown for a window, where the server's are taken. */
  readonly anomalies: PairAnomaly[];
}

function makeIntervals(capacity: number): Intervals {
  return {
    count: 0,
    component: new Int32Array(capacity),
    pair: new Uint8Array(capacity),
    start: new Float64Array(capacity),
    end: new Float64Array(capacity),
    flags: new Uint8Array(capacity),
    row: new Uint32Array(capacity),
  };
}

class OpenSet {
  /** By track (component * PAIRS + pair): index of the open interval in `out`, or -1. */
  readonly at: Int32Array;

  constructor(components: number) {
    this.at = new Int32Array(components * PAIRS).fill(-1);
  }
}

function opened(
  out: Intervals, component: number, pair: number, start: number, flags: number, row: number,
): number {
  const at = out.count++;
  out.component[at] = component;
  out.pair[at] = pair;
  out.start[at] = start;
  out.end[at] = NaN;
  out.flags[at] = flags;
  out.row[at] = row;
  return at;
}

function countAnomaly(
  found: Map<number, PairAnomaly>, component: number, pair: number, time: number,
): void {
  const track = component * PAIRS + pair;
  const known = found.get(track);
  if (known === undefined) found.set(track, { component, pair, count: 1, firstNs: time });
  else known.count++;
}

function closeAll(out: Intervals, open: OpenSet, window: PairedWindow): void {
  const end = Math.min(window.end, window.simEnd);
  const flag = window.end >= window.simEnd ? UNCLOSED : RIGHT_TRUNCATED;
  for (let track = 0; track < open.at.length; track++) {
    const at = open.at[track]!;
    if (at < 0) continue;
    out.end[at] = Math.max(out.start[at]!, end);
    out.flags[at]! |= flag;
  }
}

/**
 * Pairs the rows of one window.
 *
 * @param rows rows inside the window, in file order of time
 * @param components number of components; indices in `rows` and `snapshot` lie below it
 * @param snapshot S: what is open at the window's start
 */
export function pairRows(
  rows: EventColumns, components: number, snapshot: readonly OpenAt[], window: PairedWindow,
): Pairing {
  const count = rows.time.length;
  const out = makeIntervals(count + snapshot.length);
  const open = new OpenSet(components);
  const found = new Map<number, PairAnomaly>();
  for (const one of snapshot) {
    open.at[one.component * PAIRS + one.pair] =
      opened(out, one.component, one.pair, window.start, LEFT_TRUNCATED, NO_ROW);
  }
  for (let row = 0; row < count; row++) {
    const category = rows.category[row]!;
    if (category >= FIRST_NON_INTERVAL) continue;
    const pair = category >> 1;
    const component = rows.component[row]!;
    const track = component * PAIRS + pair;
    const at = open.at[track]!;
    const opens = (category & 1) === 0;
    if (opens === at >= 0) {
      countAnomaly(found, component, pair, rows.time[row]!);
    } else if (opens) {
      open.at[track] = opened(out, component, pair, rows.time[row]!, 0, row);
    } else {
      out.end[at] = rows.time[row]!;
      open.at[track] = -1;
    }
  }
  closeAll(out, open, window);
  return { intervals: out, anomalies: [...found.values()] };
}
