import { describe, expect, test } from "vitest";
import { stringify } from "../src/base/json.ts";
import { buildTree, groupByMachine } from "../src/state/lanes.ts";
import { makeManifest, manifestOffsets, parseOffset } from "../src/state/manifest.ts";
import { foundIn, keysOf, lookupOf } from "../src/tracks/sqlTarget.ts";
import { placeOf } from "../src/wire/sql.ts";
import type { SqlColumn, SqlResult, SqlValue } from "../src/wire/sql.ts";
import type { ClockNode, Clocks, LaneRecord } from "../src/wire/types.ts";

const node = (
  id: number, file: string, clock: string, over: Partial<ClockNode> = {},
): ClockNode => ({
  id, clock, sequence: 0, file, machine_id: 0, machine: null, facts: 1, dropped: 0, reached: true,
  assumed: false, off_by_ns: 0, path: [], ...over,
});

function clocksOf(reference: ClockNode, others: ClockNode[]): Clocks {
  const all = [reference, ...others];
  const paths = [...new Set(all.map((one) => one.file))];
  return {
    trace_time: reference, align: "realtime", interpolation: "step", clocks: all,
    files: paths.map((path) => ({
      path, format: "chrome_json", machine_id: 0, machine: null, assumed: false, dropped: 0,
      clocks: all.filter((one) => one.file === path).map((one) => one.id), shift_ns: 0, pairs: 0,
    })),
  };
}

describe("manifest", () => {
  const step = {
    from: 1, to: 0, source: "manifest", observations: 1, first_offset_ns: -37_000,
    last_offset_ns: -37_000, spread_ns: 0, drift_ppm: 0,
  };
  test("private timelines are not named, what is referred to is listed", () => {
    const all = clocksOf(node(0, "a.json", "TRACE_FILE"), [node(1, "b.json", "TRACE_FILE")]);
    expect(makeManifest(all, {})).toBeNull();
    expect(makeManifest(all, { "a.json": 5n })).toBeNull();
    expect(stringify(makeManifest(all, { "b.json": 1_790_000_000_123_456_789n }))).toBe(
      '{"meridian_manifest":{"version":1,"files":[{"path":"a.json"},{"path":"b.json",'
      + '"clocks":{"sync_to":{"file":"a.json"},"offset_ns":1790000000123456789}}]}}');
  });
  test("real clocks are named on both sides: the one most facts count by", () => {
    const all = clocksOf(node(0, "a.pftrace", "BOOTTIME"), [
      node(1, "b.pftrace", "MONOTONIC", { facts: 2 }), node(2, "b.pftrace", "REALTIME"),
    ]);
    expect(makeManifest(all, { "b.pftrace": 7n })).toMatchObject({ meridian_manifest: { files: [
      { path: "a.pftrace" },
      { clocks: { clock: "MONOTONIC", sync_to: { file: "a.pftrace", clock: "BOOTTIME" } } },
    ] } });
  });
  test("offsets of a manifest are read back, observed ones are not", () => {
    const from = (source: string): Clocks => clocksOf(node(0, "a.json", "TRACE_FILE"),
      [node(1, "b.json", "TRACE_FILE", { path: [{ ...step, source }] })]);
    expect(manifestOffsets(from("manifest"))).toEqual({ "b.json": -37_000n });
    expect(manifestOffsets(from("observed"))).toEqual({});
  });
  test("an offset is whole ns, spaces between digits allowed", () => {
    expect(parseOffset("-37 000")).toBe(-37_000n);
    expect([parseOffset("1.5"), parseOffset("12x"), parseOffset("")]).toEqual([null, null, null]);
  });
});

const column = (name: string, ...values: SqlValue[]): SqlColumn =>
  ({ name, kind: "integer", values });
const result = (...columns: SqlColumn[]): SqlResult =>
  ({ columns, rows: columns[0]?.values.length ?? 0, more: false });

describe("from a row to its slice", () => {
  const lookup = (...columns: SqlColumn[]): string | null =>
    lookupOf(keysOf(result(...columns), 0));
  test("slice_id is enough, id needs what only slices have", () => {
    expect(lookup(column("slice_id", 7n))).toContain("WHERE id = 7");
    expect(lookup(column("id", 7n))).toBeNull();
    expect(lookup(column("id", 7n), column("ts", 5n), column("track_id", 1)))
      .toContain("WHERE id = 7 AND ts = 5");
  });
  test("ts and track find what runs there", () => {
    expect(lookup(column("ts", 5n), column("track_id", 3n)))
      .toContain("WHERE track_id = 3 AND ts <= 5 ORDER BY ts DESC");
    expect(lookup(column("ts", 5n), column("lane_id", 3n))).toContain("WHERE lane_id = 3");
    expect(lookup(column("ts", 5n))).toBeNull();
    expect(lookup({ name: "slice_id", kind: "text", values: ["7; DROP"] })).toBeNull();
  });
  test("times stay exact, an open slice keeps -1", () => {
    const found = foundIn(result(column("id", 2n), column("ts", 9_007_199_254_740_993n),
      column("dur", -1n), column("lane_id", 4n), column("line", 1n)));
    expect(found).toMatchObject({ id: 2, ts: 9_007_199_254_740_993n, dur: -1n, lane: "4", row: 1 });
    expect(foundIn(result())).toBeNull();
  });
  test("an error's byte is told as line and column, of characters", () => {
    expect(placeOf("SELECT 1,\n  x", 12)).toEqual({ line: 2, column: 3 });
    expect(placeOf("SELECT '时间', x", 17)).toEqual({ line: 1, column: 14 });
  });
});

describe("machines", () => {
  const lane = (id: number | null, parent: number | null, machine: number): LaneRecord =>
    ({ id, parent, kind: id === null ? "group" : "slices", name: `${id}`, machine, rows: 1 });
  const name = (machine: number): string => `machine ${machine}`;
  test("one machine changes nothing", () => {
    const records = [lane(null, null, 0), lane(1, 0, 0)];
    expect(groupByMachine(records, name)).toBe(records);
  });
  test("several: a group each, parents follow", () => {
    const records = [lane(null, null, 1), lane(1, 0, 1), lane(null, null, 0), lane(2, 2, 0)];
    const tree = buildTree(groupByMachine(records, name));
    expect(tree.roots.map((one) => [one.title, one.leaves])).toEqual(
      [["machine 0", 1], ["machine 1", 1]]);
    expect(tree.lanes.find((one) => one.dataKey === "1")?.parent?.parent?.title).toBe("machine 1");
  });
});
