import { groupDigits } from "./num.ts";

/** One unit of the time axis: its name and its length in ns. */
export interface TimeUnit {
  readonly name: string;
  readonly ns: number;
}

export const UNITS: readonly TimeUnit[] = [
  { name: "ns", ns: 1 },
  { name: "µs", ns: 1e3 },
  { name: "ms", ns: 1e6 },
  { name: "s", ns: 1e9 },
];

/** The largest unit not above `ns`. */
export function unitFor(ns: number): TimeUnit {
  const size = Math.abs(ns);
  let best = UNITS[0]!;
  for (const unit of UNITS) if (size >= unit.ns) best = unit;
  return best;
}

/** A length of time, at most `digits` significant digits: `96.38 µs`. */
export function formatDuration(ns: number, digits = 5): string {
  if (!Number.isFinite(ns)) return "\u2014";
  const unit = unitFor(ns);
  const value = ns / unit.ns;
  return `${groupDigits(String(Number(value.toPrecision(digits))))} ${unit.name}`;
}

const LONG_UNITS: readonly TimeUnit[] = [
  { name: "min", ns: 60e9 }, { name: "h", ns: 3600e9 }, { name: "d", ns: 86_400e9 },
];

/** A length of time to two or three digits, in minutes, hours or days where it is long: `42 d`. */
export function formatSpan(ns: number): string {
  let best: TimeUnit | null = null;
  for (const unit of LONG_UNITS) if (Math.abs(ns) >= 2 * unit.ns) best = unit;
  if (best === null) return formatDuration(ns, 3);
  const value = ns / best.ns;
  return `${groupDigits(Math.abs(value) < 10 ? String(Number(value.toFixed(1))) : value.toFixed(0))} ${best.name}`;
}

/**
 * A point of time relative to the origin, in the unit of its own size, down
 * to whole ns (three more digits where the trace has fractions of one).
 */
export function formatTime(ns: number, fractional = false): string {
  const unit = unitFor(ns);
  const decimals = Math.round(Math.log10(unit.ns)) + (fractional ? 3 : 0);
  let text = (ns / unit.ns).toFixed(decimals);
  if (fractional && text.includes(".")) text = text.replace(/0+$/, "").replace(/\.$/, "");
  return `${groupDigits(text)} ${unit.name}`;
}

/** Absolute time from the exact origin and a relative ns, as whole ns. */
export function absoluteNs(originNs: string, relativeNs: number): string {
  const whole = BigInt(originNs) + BigInt(Math.round(relativeNs));
  return `${groupDigits(whole.toString())} ns`;
}

/** Least step of 1, 2 or 5 times a power of ten that is >= `minNs`. */
export function niceStep(minNs: number): number {
  const power = Math.pow(10, Math.floor(Math.log10(Math.max(minNs, 1e-3))));
  for (const factor of [1, 2, 5, 10]) {
    if (power * factor >= minNs * (1 - 1e-9)) return power * factor;
  }
  return power * 10;
}

/** Text of a ruler tick: enough decimals to tell neighbours apart. */
export function formatTick(ns: number, stepNs: number, unit: TimeUnit): string {
  const decimals = Math.max(0, -Math.floor(Math.log10(stepNs / unit.ns) + 1e-9));
  return `${groupDigits((ns / unit.ns).toFixed(Math.min(decimals, 12)))} ${unit.name}`;
}
