import { describe, expect, test } from "vitest";
import {
  PALETTE, colorIndex, contrast, hashName, inkOn, mix, parseColor, toPixel,
} from "../src/base/color.ts";
import {
  THIN, formatCount, formatShare, formatShort, formatValue, groupDigits,
} from "../src/base/num.ts";
import {
  absoluteNs, formatDuration, formatTick, formatTime, niceStep, unitFor,
} from "../src/base/time.ts";

const thin = (text: string): string => text.replaceAll("_", THIN);

describe("numbers", () => {
  test("groups digits on both sides of the point", () => {
    expect(groupDigits("1234567.1234567")).toBe(thin("1_234_567.123_456_7"));
    expect(groupDigits("-1000")).toBe(thin("\u22121_000"));
    expect(groupDigits("999")).toBe("999");
    expect(groupDigits("1e+21")).toBe("1e+21");
    expect(groupDigits("text")).toBe("text");
  });
  test("counts and values", () => {
    expect(formatCount(1004112)).toBe(thin("1_004_112"));
    expect(formatValue(0.1 + 0.2)).toBe("0.3");
    expect(formatValue(NaN)).toBe("NaN");
  });
  test("short values for narrow places", () => {
    expect(formatShort(1066920640)).toBe("1.07 G");
    expect(formatShort(9999)).toBe(thin("9_999"));
    expect(formatShort(12345)).toBe("12.3 k");
    expect(formatShort(-2.5e6)).toBe("-2.5 M");
    expect(formatShort(16)).toBe("16");
  });
  test("a share never claims 0 or 100 % for less", () => {
    expect(formatShare(0)).toBe("0 %");
    expect(formatShare(1)).toBe("100 %");
    expect(formatShare(1e-9)).toBe("< 0.1 %");
    expect(formatShare(0.99999)).toBe("> 99.9 %");
    expect(formatShare(0.964)).toBe("96 %");
    expect(formatShare(0.996)).toBe("99 %");
  });
});

describe("times", () => {
  test("unit by size", () => {
    expect(unitFor(999).name).toBe("ns");
    expect(unitFor(1000).name).toBe("µs");
    expect(unitFor(2e9).name).toBe("s");
    expect(unitFor(0).name).toBe("ns");
  });
  test("a point of time is shown to the ns with thin spaces", () => {
    expect(formatTime(2134118420)).toBe(thin("2.134_118_420 s"));
    expect(formatTime(2134118)).toBe(thin("2.134_118 ms"));
    expect(formatTime(12)).toBe("12 ns");
    expect(formatTime(12.5, true)).toBe("12.5 ns");
    expect(formatTime(-2134118)).toBe(thin("\u22122.134_118 ms"));
  });
  test("durations", () => {
    expect(formatDuration(96380)).toBe("96.38 µs");
    expect(formatDuration(0)).toBe("0 ns");
    expect(formatDuration(NaN)).toBe("\u2014");
    expect(formatDuration(123456789, 9)).toBe(thin("123.456_789 ms"));
  });
  test("absolute time is exact beyond 2^53", () => {
    expect(absoluteNs("1736407067946125104", 1)).toBe(thin("1_736_407_067_946_125_105 ns"));
  });
  test("ticks of a ruler tell neighbours apart", () => {
    expect(niceStep(3)).toBe(5);
    expect(niceStep(10)).toBe(10);
    expect(niceStep(0.011)).toBeCloseTo(0.02);
    expect(formatTick(2100000, 20000, unitFor(2100000))).toBe("2.10 ms");
    expect(formatTick(2120000, 20000, unitFor(2100000))).toBe("2.12 ms");
    expect(formatTick(2e6, 1e6, unitFor(2e6))).toBe("2 ms");
  });
});

describe("colours", () => {
  test("a name keeps its colour", () => {
    expect(hashName("MatMulV2")).toBe(hashName("MatMulV2"));
    expect(hashName("")).toBe(0x811c9dc5);
    expect(hashName("a")).toBe(0xe40c292c);
    for (const name of ["a", "b", "通信"]) {
      expect(colorIndex(name)).toBeGreaterThanOrEqual(0);
      expect(colorIndex(name)).toBeLessThan(PALETTE.length);
    }
  });
  test("labels reach a contrast of 4.5 on every colour", () => {
    for (const color of PALETTE) {
      const rgb = parseColor(color);
      expect(contrast(rgb, parseColor(inkOn(rgb))), color).toBeGreaterThanOrEqual(4.5);
    }
  });
  test("pixels are little-endian RGBA", () => {
    expect(toPixel(0x112233)).toBe(0xff332211);
    expect(mix(0x000000, 0xffffff, 0.5)).toBe(0x808080);
    expect(parseColor("rgb(1, 2, 3)")).toBe(0x010203);
    expect(parseColor("#abc")).toBe(0xaabbcc);
  });
});
