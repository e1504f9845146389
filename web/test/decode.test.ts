import {
  Dictionary, Float64, Int32, Int8, Table, Uint16, Uint32, Utf8, tableFromIPC, tableToIPC,
  vectorFromArray,
} from "apache-arrow";
import type { Vector } from "apache-arrow";
import { describe, expect, test } from "vitest";
import { decodeG, decodeR } from "../src/tracks/decodeTrace.ts";
import { decodeSG, decodeSR } from "../src/tracks/decodeWindow.ts";
import { statsByLane, statsByName } from "../src/tracks/stats.ts";
import { transferables } from "../src/tracks/transfer.ts";
import { buildTree } from "../src/state/lanes.ts";
import { LEFT_TRUNCATED, NONE, UNCLOSED, eventKey } from "../src/wire/answers.ts";
import type { Answer, LaneData, Question } from "../src/wire/answers.ts";
import { textAt } from "../src/wire/columns.ts";

type Cell = string | number | null;
const f64 = (list: Cell[]) => vectorFromArray(list as number[], new Float64());
const u32 = (list: Cell[]) => vectorFromArray(list as number[], new Uint32());
const u16 = (list: Cell[]) => vectorFromArray(list as number[], new Uint16());
const word = (list: Cell[]) =>
  vectorFromArray(list as string[], new Dictionary(new Utf8(), new Int32()));
const short = (list: Cell[]) =>
  vectorFromArray(list as string[], new Dictionary(new Utf8(), new Int8()));
const text = (list: Cell[]) => vectorFromArray(list as string[], new Utf8());

/** Through the wire format and back, as the worker reads it. */
function stream(columns: Record<string, Vector>, metadata = {}): Table {
  const table = new Table(columns);
  for (const [key, value] of Object.entries(metadata)) {
    table.schema.metadata.set(key, JSON.stringify(value));
  }
  return tableFromIPC(tableToIPC(table, "stream"));
}

const question = (over: Partial<Question>): Question => ({
  url: "", endpoint: "window", start: 0, end: 100, buckets: null, body: null, traceEnd: 1000,
  ...over,
});

function lane<Form extends LaneData["form"]>(
  answer: Answer, key: string, form: Form,
): Extract<LaneData, { form: Form }> {
  const data = answer.lanes.get(key);
  if (data === undefined || data.form !== form) throw new Error(`no ${form} lane ${key}`);
  return data as Extract<LaneData, { form: Form }>;
}

const metadata = (over: object = {}) => ({
  trace_snapshot: { window_start_ns: 0, open_intervals: [] }, trace_anomalies: [],
  trace_bounds: { start_ns: 0, end_ns: 200, events: 4 }, ...over,
});

describe("schema SR", () => {
  const bars = { formOf: () => "bars" as const };
  const table = stream({
    id: u32([4, 5, 6, 7]), ts_ns: f64([0, 10, 12, 50]), dur_ns: f64([100, 5, 1, -1]),
    track: word(["3", "3", "3", "9"]), row: u16([0, 1, 2, 0]), depth: u16([0, 1, 2, 0]),
    name: word(["a", "b", "a", null]), category: word(["c", "c", "c", null]),
  });
  const answer = decodeSR(table, question({}), bars, 1000);
  test("rows by track and row, in order", () => {
    const rows = lane(answer, "3", "bars").rows;
    expect(rows.length).toBe(3);
    expect([...rows[0]!.start, ...rows[0]!.end]).toEqual([0, 100]);
    expect(answer.names[rows[2]!.name[0]!]).toBe("a");
    expect(rows[1]!.id[0]).toBe(5);
    expect(answer.events).toBe(4);
  });
  test("an open slice goes to the end of the trace and is unclosed", () => {
    const row = lane(answer, "9", "bars").rows[0]!;
    expect(row.end[0]).toBe(1000);
    expect(row.flags[0]).toBe(UNCLOSED);
    expect(row.name[0]).toBe(NONE);
  });
  test("instants become points", () => {
    const points = decodeSR(table, question({}), { formOf: () => "density" }, 1000);
    expect([...lane(points, "9", "points").time]).toEqual([50]);
  });
  test("every buffer is handed over once", () => {
    const buffers = transferables(answer);
    expect(new Set(buffers).size).toBe(buffers.length);
    expect(buffers.length).toBeLessThan(3);
    for (const row of lane(answer, "3", "bars").rows) {
      for (const view of [row.start, row.end, row.name, row.color, row.flags, row.id]) {
        expect(buffers).toContain(view.buffer);
      }
    }
  });
  test("a stream without rows", () => {
    const none = stream({
      id: u32([]), ts_ns: f64([]), dur_ns: f64([]), track: word([]), row: u16([]),
      depth: u16([]), name: word([]), category: word([]),
    });
    expect(decodeSR(none, question({}), bars, 0).lanes.size).toBe(0);
  });
  test("a missing column is told by name", () => {
    expect(() => decodeSR(stream({ id: u32([1]) }), question({}), bars, 0)).toThrow(/"track"/);
  });
});

describe("schema SG", () => {
  const table = stream({
    bucket_start_ns: f64([0, 20, 20, 60]), track: word(["1", "1", "2", "2"]),
    row: u16([0, 1, 0, 0]), event_count: u32([2, 1, 1, 1]), busy_ratio: f64([0.5, 1, null, null]),
    longest_id: u32([8, 9, null, null]), longest_name: word(["x", "y", null, null]),
    min_value: f64([null, null, 1, 4]), max_value: f64([null, null, 6, 4]),
    last_value: f64([null, null, 5, 4]),
  });
  const asked = question({ buckets: 5 });
  const answer = decodeSG(table, asked, 5, { formOf: (id) => (id === "2" ? "steps" : "bars") });
  test("cells by bucket", () => {
    const rows = lane(answer, "1", "cells").rows;
    expect([...rows[0]!.busy]).toEqual([0.5, 0, 0, 0, 0]);
    expect([...rows[1]!.busy]).toEqual([0, 1, 0, 0, 0]);
    expect([...rows[1]!.longest]).toEqual([NONE, 9, NONE, NONE, NONE]);
    expect(answer.names[rows[0]!.name[0]!]).toBe("x");
    expect(answer.events).toBe(5);
  });
  test("a counter carries its last value over empty buckets", () => {
    const steps = lane(answer, "2", "steps");
    expect([...steps.last]).toEqual([NaN, 5, 5, 4, 4]);
    expect([...steps.max]).toEqual([NaN, 6, 5, 4, 4]);
    expect([steps.low, steps.high]).toEqual([0, 6]);
  });
});

describe("schema R", () => {
  const table = stream({
    time_ns: f64([10, 20, 30, 40]),
    category: short(["link_idle", "link_busy", "ostd_change", "hop_arrive"]),
    component: word(["link_a_b_req", "link_a_b_req", "cdma_chip0_unit0", "flow_0_1"]),
    value: f64([0, 7, 3, 99]), detail_json: text([null, '{"k":1}', null, "ä"]),
  }, metadata({
    trace_snapshot: { window_start_ns: 5, open_intervals: [
      { component: "link_a_b_req", category: "link_busy", since_ns: 1 },
      { component: "link_x_y_rsp", category: "link_busy", since_ns: 2 },
    ] },
    trace_anomalies: [{ component: "z", category: "link_busy", count: 2, first_ns: 3 }],
  }));
  const answer = decodeR(table, question({ start: 5, end: 500, endpoint: "trace" }));
  test("pairs from the snapshot on", () => {
    const row = lane(answer, eventKey("link_a_b_req", "link_busy"), "bars").rows[0]!;
    expect([...row.start]).toEqual([5, 20]);
    expect([...row.end]).toEqual([10, 200]);
    expect([...row.flags]).toEqual([LEFT_TRUNCATED, UNCLOSED]);
    expect([...row.id]).toEqual([NONE, 1]);
  });
  test("an interval without a row in the window is drawn from the snapshot alone", () => {
    const row = lane(answer, eventKey("link_x_y_rsp", "link_busy"), "bars").rows[0]!;
    expect([row.start[0], row.end[0], row.flags[0]]).toEqual([5, 200, LEFT_TRUNCATED | UNCLOSED]);
  });
  test("counters, instants, details and anomalies", () => {
    expect([...lane(answer, eventKey("cdma_chip0_unit0", "ostd_change"), "points").value])
      .toEqual([3]);
    const hop = lane(answer, eventKey("flow_0_1", "hop_arrive"), "points");
    expect(textAt(answer.details!, hop.id[0]!)).toBe("ä");
    expect(textAt(answer.details!, 1)).toBe('{"k":1}');
    expect(textAt(answer.details!, 0)).toBe("");
    expect(answer.anomalies[0]?.count).toBe(2);
  });
  test("an unknown category is an error, not a guess", () => {
    const odd = stream({
      time_ns: f64([1]), category: short(["link_lost"]), component: word(["a"]), value: f64([0]),
      detail_json: text([null]),
    }, metadata());
    expect(() => decodeR(odd, question({}))).toThrow(/link_lost/);
  });
});

describe("schema G", () => {
  const table = stream({
    bucket_start_ns: f64([0, 20, 40, 60]),
    component: word(["link_a_b_req", "link_a_b_req", "cdma_chip0_unit0", "flow_0_1"]),
    category: short(["link_busy", "link_busy", "ostd_change", "hop_arrive"]),
    event_count: u32([2, 1, 3, 4]), busy_ratio: f64([0.25, 1, null, null]),
    last_value: f64([null, null, 2, null]),
  }, metadata());
  const answer = decodeG(table, question({ buckets: 5 }), 5);
  test("by form", () => {
    const cells = lane(answer, eventKey("link_a_b_req", "link_busy"), "cells").rows[0]!;
    expect([...cells.busy]).toEqual([0.25, 1, 0, 0, 0]);
    expect([...lane(answer, eventKey("flow_0_1", "hop_arrive"), "density").count])
      .toEqual([0, 0, 0, 4, 0]);
    expect(answer.events).toBe(10);
  });
  test("a counter is 0 where nothing is carried, without min and max too", () => {
    const steps = lane(answer, eventKey("cdma_chip0_unit0", "ostd_change"), "steps");
    expect([...steps.last]).toEqual([0, 0, 2, 0, 0]);
    expect([...steps.min]).toEqual([0, 0, 2, 0, 0]);
  });
});

describe("statistics of a range", () => {
  const tree = buildTree([
    { id: 3, parent: null, kind: "slices", name: "t", rows: 2 },
    { id: 4, parent: null, kind: "counter", name: "c" },
  ]);
  const table = stream({
    id: u32([0, 1, 2, 3]), ts_ns: f64([0, 10, 60, 95]), dur_ns: f64([80, 20, 10, 100]),
    track: word(["3", "3", "3", "3"]), row: u16([0, 1, 1, 0]), depth: u16([0, 1, 1, 0]),
    name: word(["outer", "inner", "inner", "late"]), category: word(["", "", "", ""]),
  });
  const range = { start: 20, end: 100 };
  test("total and self count the time inside", () => {
    const answer = decodeSR(table, question(range), { formOf: () => "bars" }, 1000);
    const stats = statsByName([{ answer, lanes: tree.lanes }], range);
    const row = (name: string) => stats.rows.find((one) => one.name === name);
    expect(row("outer")).toMatchObject({ count: 1, total: 60, self: 40, max: 60 });
    expect(row("inner")).toMatchObject({ count: 2, total: 20, self: 20, max: 10 });
    expect(row("late")).toMatchObject({ count: 1, total: 5 });
    expect([stats.events, stats.lanes]).toEqual([4, 1]);
  });
  test("by lane from one bucket", () => {
    const one = stream({
      bucket_start_ns: f64([20, 20, 20]), track: word(["3", "3", "4"]), row: u16([0, 1, 0]),
      event_count: u32([1, 1, 5]), busy_ratio: f64([0.5, 0.25, null]),
      longest_id: u32([1, 2, null]), longest_name: word(["a", "b", null]),
      min_value: f64([null, null, 1]), max_value: f64([null, null, 9]),
      last_value: f64([null, null, 4]),
    });
    const answer = decodeSG(one, question({ ...range, buckets: 1 }), 1,
      { formOf: (id) => (id === "4" ? "steps" : "bars") });
    const stats = statsByLane([{ answer, lanes: tree.lanes }], range);
    expect(stats.rows[0]).toMatchObject({ name: "t", count: 2, total: 40, longest: "a" });
    expect(stats.counters[0]).toMatchObject({ min: 1, max: 9, last: 4, count: 5 });
  });
});
