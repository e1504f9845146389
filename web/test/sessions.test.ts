import { describe, expect, test } from "vitest";
import { NO_RECORDING, recordingOf } from "../src/state/recordings.ts";
import { freshness, joinCurves, lonePoints, sessionCurve } from "../src/state/sessionCurve.ts";
import {
  NO_SESSION, comparedKey, readSessionsLink, takeLive, writeSessionsLink,
} from "../src/state/sessions.ts";
import type { Live } from "../src/state/sessions.ts";
import type { Quality, Sample } from "../src/wire/sessions.ts";

const sample = (second: number, value: number | null, quality: Quality = "ok"): Sample =>
  ({ seq: second, timeNs: second * 1e9, value, quality });

describe("curve of samples", () => {
  test("no value is a hole, never 0", () => {
    const curve = sessionCurve([sample(1, 5), sample(2, null, "missing"), sample(3, 0)], 1e9, 2e9);
    expect(curve.x).toEqual([0, 1, 2]);
    expect(curve.y).toEqual([5, null, 0]);
    expect(curve.band).toEqual([
      { from: 0, to: 1, quality: "missing" }, { from: 1, to: 2, quality: "ok" },
    ]);
  });
  test("silence is a hole between the readings, and missing", () => {
    const curve = sessionCurve([sample(0, 5), sample(1, 6), sample(11, 7)], 0, 2e9);
    expect(curve.y).toEqual([5, 6, null, 7]);
    expect(curve.x).toEqual([0, 1, 6, 11]);
    expect(curve.band).toEqual([
      { from: 0, to: 1, quality: "ok" }, { from: 1, to: 9, quality: "missing" },
      { from: 9, to: 11, quality: "ok" },
    ]);
  });
  test("events have no silence", () => {
    expect(sessionCurve([sample(0, 16), sample(30, 16)], 0, Infinity).y).toEqual([16, 16]);
  });
  test("nothing at all", () => {
    expect(sessionCurve([], 0, 2e9)).toEqual({ x: [], y: [], seq: [], band: [] });
    expect(freshness([], 0)).toBe(2e9);
  });
  test("a slow source's distance is no silence", () => {
    expect(freshness([sample(0, 1), sample(10, 1), sample(20, 1)], 0)).toBe(20e9);
  });
  test("points without a neighbour", () => {
    expect(lonePoints([1, null, 2, null, 3, 4])).toEqual([0, 2]);
  });
  test("two curves keep their own places; holes stay holes", () => {
    const a = sessionCurve([sample(0, 1), sample(1, null, "missing"), sample(2, 3)], 0, 2e9);
    const b = sessionCurve([sample(0, 7), sample(1.5, 8)], 0, 2e9);
    const { x, ya, yb } = joinCurves(a, b);
    expect(x).toEqual([0, 1, 1.5, 2]);
    expect(ya).toEqual([1, null, undefined, 3]);
    expect(yb).toEqual([7, undefined, 8, undefined]);
  });
});

describe("link", () => {
  test("round trip", () => {
    const link = { session: "a b&c", other: "2", show: "report", filter: "cpu" } as const;
    expect(readSessionsLink(writeSessionsLink(link))).toEqual(link);
    expect(readSessionsLink("#sessions")).toEqual(NO_SESSION);
    expect(writeSessionsLink(NO_SESSION)).toBe("#sessions");
  });
});

describe("live", () => {
  const begin: Live = {
    name: "n", series: [], startNs: 0, frame: null, states: new Map(), over: false,
  };
  const series = { type: "series", id: 0, metric: "m", unit: "u", source: "s", key: "" } as const;
  const frame = (second: number, value: number | null, quality: Quality, state: string) => ({
    type: "frame", seq: second, hostNs: String(second * 1e9), events: 1, samples: 1,
    decodeErrors: 0, gaps: 0, sources: [], values: [[0, value, quality, state]],
  } as const);
  test("frames become samples; what has no value has none", () => {
    let now = takeLive(begin, series);
    now = takeLive(now, frame(1, 4, "ok", "live"));
    now = takeLive(now, frame(2, null, "missing", "stale"));
    expect(now.series[0]!.samples).toEqual([sample(1, 4), sample(2, null, "missing")]);
    expect(now.states.get(0)).toBe("stale");
    expect(now.startNs).toBe(1e9);
    expect(takeLive(now, { type: "end", state: "completed" }).over).toBe(true);
  });
  test("sources are compared without their pid", () => {
    const of = (source: string) => comparedKey({ metric: "m", key: "", source, unit: "" });
    expect(of("linux.proc.71")).toBe(of("linux.proc.9"));
    expect(of("linux.tree")).not.toBe(of("linux.proc.9"));
  });
});

describe("form of a recording", () => {
  const asked = (change: object): unknown => recordingOf({ ...NO_RECORDING, ...change });
  test("what is asked of the server", () => {
    expect(asked({})).toEqual({ spec: { host: true } });
    expect(asked({ what: "pid", pid: " 17 " })).toEqual({ spec: { pid: 17 } });
    expect(asked({ minutes: "0.5" })).toEqual({ spec: { host: true, duration_ms: 30000 } });
    expect(asked({ pid: "17" })).toEqual({ spec: { host: true } });
  });
  test("what is no number is said, not sent", () => {
    for (const pid of ["", "0", "-1", "1.5", "x", "2147483648", "99999999999"])
      expect(asked({ what: "pid", pid })).toEqual({ wrong: "session.badPid" });
    for (const minutes of ["0", "-1", "1e3", "x", "1441", "0.01"])
      expect(asked({ minutes })).toEqual({ wrong: "session.badMinutes" });
  });
});
