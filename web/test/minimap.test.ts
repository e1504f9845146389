import { describe, expect, test } from "vitest";
import { countsOf } from "../src/views/minimap.ts";
import type { Answer, RawRow } from "../src/wire/answers.ts";

type Bars = readonly (readonly [number, number])[];

function rawAnswer(bars: Bars, times: number[]): Answer {
  const row: RawRow = {
    start: Float64Array.from(bars, ([start]) => start),
    end: Float64Array.from(bars, ([, end]) => end),
    name: new Uint32Array(bars.length), color: new Uint8Array(bars.length),
    flags: new Uint8Array(bars.length), id: new Uint32Array(bars.length),
  };
  return {
    mode: "raw", start: 1000, end: 3048, buckets: 0, events: bars.length + times.length, names: [],
    categories: [], anomalies: [], details: null, values: null,
    lanes: new Map([
      ["1", { form: "bars", rows: [row], events: bars.length }],
      ["2", {
        form: "points", time: Float64Array.from(times), value: new Float64Array(times.length),
        id: new Uint32Array(times.length), name: new Uint32Array(times.length),
        events: times.length,
      }],
    ]),
  };
}

/** Brute force: each column asks each bar. */
function expected(bars: Bars, times: number[], columns: number): Float32Array {
  return Float32Array.from({ length: columns }, (_, at) => {
    const left = 1000 + at, right = left + 1;
    let busy = 0, begun = 0;
    for (const [start, end] of bars) {
      busy += Math.max(0, Math.min(end, right) - Math.max(start, left));
      if (at === Math.min(columns - 1, Math.max(0, Math.floor(start - 1000)))) begun++;
    }
    const instants = times.filter((time) => time >= left && time < right).length;
    return busy + Math.log2(1 + begun) + Math.log2(1 + instants);
  });
}

describe("overview of a raw answer", () => {
  test("columns hold what bars cover and what begins", () => {
    const bars: Bars = [
      [900, 1000.5], [1001.25, 1001.5], [1001.5, 1003.25], [1010, 1010], [1020.5, 4000],
    ];
    const times = [1001, 1001.5, 1700];
    const counts = countsOf(rawAnswer(bars, times));
    expect(counts.length).toBe(2048);
    const wanted = expected(bars, times, 2048);
    for (let at = 0; at < 2048; at++) expect(counts[at]).toBeCloseTo(wanted[at]!, 3);
    expect(counts[1500]).toBeCloseTo(1, 5); // inside the long one
  });
});
