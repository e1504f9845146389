// Traces that the page tests make for themselves.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { require, scratch } from "./lib.mjs";

/** A small Chrome trace with known slices, a counter, an instant and args. */
export function knownChrome() {
  const events = [
    { ph: "M", name: "process_name", pid: 1, tid: 0, args: { name: "worker" } },
    { ph: "M", name: "thread_name", pid: 1, tid: 7, args: { name: "main loop" } },
    { ph: "X", name: "outer", cat: "cpu", pid: 1, tid: 7, ts: 1000, dur: 8000,
      args: { shape: [4, 8], dtype: "bf16", nested: { deep: "value" } } },
    { ph: "X", name: "inner", cat: "cpu", pid: 1, tid: 7, ts: 2000, dur: 3000, args: {} },
    { ph: "X", name: "inner", cat: "cpu", pid: 1, tid: 7, ts: 6000, dur: 1000 },
    { ph: "X", name: "last", cat: "cpu", pid: 1, tid: 7, ts: 9500, dur: 500 },
    { ph: "C", name: "queue", pid: 1, ts: 1000, args: { depth: 2 } },
    { ph: "C", name: "queue", pid: 1, ts: 5000, args: { depth: 9 } },
    { ph: "C", name: "queue", pid: 1, ts: 8000, args: { depth: 4 } },
    { ph: "i", name: "tick", pid: 1, tid: 7, ts: 4000, s: "t" },
  ];
  const path = join(scratch, "known.json");
  writeFileSync(path, JSON.stringify({ traceEvents: events }));
  return path;
}

/** A launch on one thread and the kernel that it starts on another. */
export function launchChrome() {
  const path = join(scratch, "launch.json");
  writeFileSync(path, JSON.stringify({ traceEvents: [
    { ph: "X", name: "launch", pid: 1, tid: 1, ts: 1000, dur: 500 },
    { ph: "X", name: "filler", pid: 1, tid: 2, ts: 1000, dur: 100 },
    { ph: "X", name: "kernel", pid: 2, tid: 7, ts: 3000, dur: 1000 },
    { ph: "X", name: "alone", pid: 2, tid: 7, ts: 4500, dur: 500 },
    { ph: "s", name: "ac2g", cat: "ac2g", id: 1, pid: 1, tid: 1, ts: 1100 },
    { ph: "f", name: "ac2g", cat: "ac2g", id: 1, pid: 2, tid: 7, ts: 3000, bp: "e" },
  ] }));
  return path;
}

/** A Chrome trace with an unmatched end and a cut in the middle of an event. */
export function brokenChrome() {
  const path = join(scratch, "broken.json");
  writeFileSync(path, '{"traceEvents":[\n'
    + '{"ph":"X","name":"whole","pid":1,"tid":1,"ts":10,"dur":50},\n'
    + '{"ph":"E","name":"never begun","pid":1,"tid":2,"ts":20},\n'
    + '{"ph":"X","name":"cut","pid":1,"tid":1,"ts":7');
  return path;
}

/** An event trace with an anomaly, an unclosed interval, a counter and hops. */
export function brokenEvents() {
  const rows = [
    [0, "link_busy", "link_c0_sw0_req", 40, '{"bytes":4096}'],
    [40, "link_idle", "link_c0_sw0_req", 0, null],
    [10, "link_busy", "link_sw0_c1_req", 20, null],
    [15, "link_busy", "link_sw0_c1_req", 20, null],
    [35, "link_idle", "link_sw0_c1_req", 0, null],
    [60, "link_busy", "link_c0_sw0_req", 100, null],
    [20, "thread_blocked", "cdma_chip0_unit0_t0", 0, null],
    [70, "thread_unblocked", "cdma_chip0_unit0_t0", 1, null],
    [5, "ostd_change", "cdma_chip0_unit0", 3, null],
    [50, "ostd_change", "cdma_chip0_unit0", 8, null],
    [30, "hop_arrive", "flow_0_1", 12.5, '{"hop":1}'],
    [100, "hop_arrive", "flow_0_1", 25, '{"hop":2}'],
  ].sort((a, b) => a[0] - b[0]);
  const { parquetWriteBuffer } = require("hyparquet-writer");
  const column = (at) => rows.map((row) => row[at]);
  const buffer = parquetWriteBuffer({
    columnData: [
      { name: "time_ns", data: Float64Array.from(column(0)), type: "DOUBLE" },
      { name: "category", data: column(1), type: "STRING" },
      { name: "component", data: column(2), type: "STRING" },
      { name: "value", data: Float64Array.from(column(3)), type: "DOUBLE" },
      { name: "detail_json", data: column(4), type: "STRING", nullable: true },
    ],
  });
  const path = join(scratch, "broken.parquet");
  writeFileSync(path, Buffer.from(buffer));
  return path;
}
