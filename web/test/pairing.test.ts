import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { pairRows } from "../src/tracks/pairing.ts";
import type { OpenAt, Pairing } from "../src/tracks/pairing.ts";
import { LEFT_TRUNCATED, RIGHT_TRUNCATED, UNCLOSED } from "../src/wire/answers.ts";
import { CATEGORIES } from "../src/wire/types.ts";

interface Row { time_ns: number; category: string; component: string }
interface Golden {
  name: string;
  sim_end_ns?: number;
  events: Row[];
  window?: { start_ns: number; end_ns: number };
  expect: {
    intervals: {
      component: string; category: string; start_ns: number; end_ns: number;
      unclosed: boolean; left_truncated: boolean; right_truncated: boolean;
    }[];
    anomalies: { component: string; category: string; count: number; first_ns: number }[];
  };
}

const names: readonly string[] = CATEGORIES;
const folder = join(import.meta.dirname, "../../tests/golden/pairing");

function columns(rows: Row[], components: string[]) {
  return {
    time: Float64Array.from(rows, (row) => row.time_ns),
    category: Uint8Array.from(rows, (row) => names.indexOf(row.category)),
    component: Int32Array.from(rows, (row) => components.indexOf(row.component)),
  };
}

/** S, made from the rows before the window: what the server sends with them. */
function snapshotOf(rows: Row[], components: string[], start: number): OpenAt[] {
  const before = columns(rows.filter((row) => row.time_ns < start), components);
  const { intervals } = pairRows(before, components.length, [],
    { start: -Infinity, end: Infinity, simEnd: Infinity });
  const open: OpenAt[] = [];
  for (let at = 0; at < intervals.count; at++) {
    if ((intervals.flags[at]! & UNCLOSED) === 0) continue;
    open.push({
      component: intervals.component[at]!, pair: intervals.pair[at]!, since: intervals.start[at]!,
    });
  }
  return open;
}

function told(found: Pairing, components: string[]) {
  const out = [];
  const { intervals } = found;
  for (let at = 0; at < intervals.count; at++) {
    const flags = intervals.flags[at]!;
    out.push({
      component: components[intervals.component[at]!]!,
      category: names[intervals.pair[at]! * 2]!,
      start_ns: intervals.start[at]!, end_ns: intervals.end[at]!,
      unclosed: (flags & UNCLOSED) !== 0,
      left_truncated: (flags & LEFT_TRUNCATED) !== 0,
      right_truncated: (flags & RIGHT_TRUNCATED) !== 0,
    });
  }
  return out;
}

const order = (a: { component: string; category: string; start_ns: number; end_ns: number },
  b: typeof a): number =>
  a.component.localeCompare(b.component) || a.category.localeCompare(b.category)
  || a.start_ns - b.start_ns || a.end_ns - b.end_ns;

function run(golden: Golden): void {
  const rows = [...golden.events].sort((a, b) => a.time_ns - b.time_ns);
  const components = [...new Set(rows.map((row) => row.component))];
  const last = rows.at(-1)?.time_ns ?? 0;
  const simEnd = Math.max(golden.sim_end_ns ?? -Infinity, rows.length > 0 ? last : -Infinity);
  const window = golden.window ?? { start_ns: rows[0]?.time_ns ?? 0, end_ns: Infinity };
  const inside = rows.filter(
    (row) => row.time_ns >= window.start_ns && row.time_ns < window.end_ns);
  const found = pairRows(columns(inside, components), components.length,
    snapshotOf(rows, components, window.start_ns),
    { start: window.start_ns, end: window.end_ns, simEnd });
  const intervals = told(found, components).sort(order);
  expect(intervals).toEqual([...golden.expect.intervals].sort(order));
  const whole = pairRows(columns(rows, components), components.length, [],
    { start: -Infinity, end: Infinity, simEnd });
  const anomalies = whole.anomalies.map((one) => ({
    component: components[one.component]!, category: names[one.pair * 2]!,
    count: one.count, first_ns: one.firstNs,
  }));
  const byName = (a: { component: string; category: string }, b: typeof a): number =>
    a.component.localeCompare(b.component) || a.category.localeCompare(b.category);
  expect(anomalies.sort(byName)).toEqual([...golden.expect.anomalies].sort(byName));
}

describe("pairing golden", () => {
  const files = readdirSync(folder).filter((file) => file.endsWith(".json"));
  test("there are goldens", () => expect(files.length).toBeGreaterThan(10));
  for (const file of files) {
    const golden = JSON.parse(readFileSync(join(folder, file), "utf8")) as Golden;
    test(golden.name, () => run(golden));
  }
});
