import { describe, expect, test } from "vitest";
import {
  AGGREGATED_ABOVE, MAX_BUCKETS, RAW_BELOW, alignWindow, bucketsFor, clampView, estimateEvents,
  nextMode, panBy, zoomAt,
} from "../src/state/window.ts";

const bounds = { start: 0, end: 1_000_000 };

describe("aligned windows", () => {
  test("cover the view with edges on multiples of the width", () => {
    for (const start of [0, 1.5, 123456.789, -40, 9e5]) {
      const view = { start, span: 54321 };
      const got = alignWindow(view, 1600);
      expect(got.start).toBeLessThanOrEqual(start);
      expect(got.end).toBeGreaterThanOrEqual(start + view.span);
      expect(got.start / got.width).toBeCloseTo(Math.round(got.start / got.width), 6);
      expect(got.end - got.start).toBeCloseTo(got.width * 1600, 6);
    }
  });
  test("panning keeps the width and, within a bucket, the question", () => {
    const view = { start: 1000, span: 1599 };
    const first = alignWindow(view, 1600);
    const near = alignWindow({ ...view, start: 1000.4 }, 1600);
    const far = alignWindow({ ...view, start: 1100 }, 1600);
    expect(near).toEqual(first);
    expect(far.width).toBe(first.width);
    expect((far.start - first.start) / first.width).toBeCloseTo(100, 9);
  });
  test("the whole trace ends beyond its last event", () => {
    const got = alignWindow({ start: 0, span: 1000 }, 100);
    expect(got.end).toBeGreaterThan(1000);
  });
  test("buckets follow the width in device pixels up to the limit", () => {
    expect(bucketsFor(1600)).toBe(1600);
    expect(bucketsFor(8000)).toBe(MAX_BUCKETS);
    expect(bucketsFor(0)).toBe(1);
  });
});

describe("mode with hysteresis", () => {
  test("switches at the marks only", () => {
    expect(nextMode("aggregated", RAW_BELOW)).toBe("raw");
    expect(nextMode("aggregated", RAW_BELOW + 1)).toBe("aggregated");
    expect(nextMode("raw", AGGREGATED_ABOVE)).toBe("raw");
    expect(nextMode("raw", AGGREGATED_ABOVE + 1)).toBe("aggregated");
  });
  test("between the marks nothing flips", () => {
    let raw: "raw" | "aggregated" = "raw";
    let cells: "raw" | "aggregated" = "aggregated";
    for (const events of [55_000, 50_001, 60_000, 59_999]) {
      raw = nextMode(raw, events);
      cells = nextMode(cells, events);
      expect(raw).toBe("raw");
      expect(cells).toBe("aggregated");
    }
  });
  test("the guess grows with the width", () => {
    expect(estimateEvents(1000, 10, 100)).toBe(10_000);
    expect(estimateEvents(1000, 0, 100)).toBe(1000);
  });
});

describe("zoom and pan", () => {
  test("zoom holds the time under the cursor", () => {
    const view = { start: 200_000, span: 100_000 };
    const at = view.start + view.span * 0.3;
    const zoomed = zoomAt(view, 0.3, 4, bounds);
    expect(zoomed.span).toBeCloseTo(25_000);
    expect(zoomed.start + zoomed.span * 0.3).toBeCloseTo(at, 6);
  });
  test("panning never changes the span", () => {
    const view = { start: 1 / 3, span: 1000 / 7 };
    expect(panBy(view, 12345.678, bounds).span).toBe(view.span);
  });
  test("the view stays near the trace and above one ns", () => {
    expect(clampView({ start: -1e9, span: 10 }, bounds).start).toBeGreaterThan(-60_000);
    expect(zoomAt({ start: 0, span: 2 }, 0.5, 1e9, bounds).span).toBe(1);
    expect(zoomAt({ start: 0, span: 2 }, 0.5, 1e-12, bounds).span).toBeLessThan(1.2e6);
  });
});
