import type { Quality, Sample } from "../wire/sessions.ts";

/**
 * From samples to what is drawn. A line joins two values only where their readings follow each
 * other and the time between them is covered; everything else is a hole, and the band says why.
 * Nothing without a value ever becomes a number.
 */

export interface Stretch {
  /** Seconds from the session's beginning. */
  readonly from: number;
  readonly to: number;
  readonly quality: Quality;
}

export interface SessionCurve {
  readonly x: readonly number[];
  /** null: no value here, the line is cut. */
  readonly y: readonly (number | null)[];
  readonly seq: readonly number[];
  readonly band: readonly Stretch[];
}

/** Least silence that counts as a hole, ns: what the registry has where a source says nothing. */
export const FRESH_NS = 2e9;

/** So long a reading may hold: twice the usual distance, at least the registry's freshness. */
export function freshness(samples: readonly Sample[], partNs: number): number {
  const steps: number[] = [];
  for (let at = 1; at < samples.length; at++) {
    steps.push(samples[at]!.timeNs - samples[at - 1]!.timeNs);
  }
  steps.sort((a, b) => a - b);
  const median = steps[steps.length >> 1] ?? 0;
  return Math.max(FRESH_NS, 2 * median, 1.5 * partNs);
}

function stretch(band: Stretch[], from: number, to: number, quality: Quality): void {
  const last = band.at(-1);
  if (last !== undefined && last.quality === quality && last.to >= from) {
    band[band.length - 1] = { ...last, to };
  } else if (to > from || quality !== "ok") band.push({ from, to, quality });
}

/** `freshNs` Infinity: of events that come when they come (frames), silence is no hole. */
export function sessionCurve(
  samples: readonly Sample[], startNs: number, freshNs: number,
): SessionCurve {
  const x: number[] = [];
  const y: (number | null)[] = [];
  const seq: number[] = [];
  const band: Stretch[] = [];
  let before: Sample | null = null;
  for (const one of samples) {
    const at = (one.timeNs - startNs) / 1e9;
    const last = before === null ? at : (before.timeNs - startNs) / 1e9;
    let from = last;
    if (before !== null && one.timeNs - before.timeNs > freshNs) {
      // The reading held so long; then nothing is known until the next one.
      from = at - freshNs / 1e9;
      stretch(band, last, from, "missing");
      x.push((last + at) / 2);
      y.push(null);
      seq.push(before.seq);
    }
    stretch(band, from, at, one.quality);
    x.push(at);
    y.push(one.value);
    seq.push(one.seq);
    before = one;
  }
  return { x, y, seq, band };
}

/** Places of `x` with a value whose neighbours have none: a line of one point is a dot. */
export function lonePoints(y: readonly (number | null)[]): number[] {
  const out: number[] = [];
  y.forEach((value, at) => {
    const joined = (y[at - 1] ?? null) !== null || (y[at + 1] ?? null) !== null;
    if (value !== null && !joined) out.push(at);
  });
  return out;
}

/** The values of both curves over one x: each keeps its own places and has holes elsewhere. */
export function joinCurves(a: SessionCurve, b: SessionCurve): {
  x: number[]; ya: (number | null | undefined)[]; yb: (number | null | undefined)[];
} {
  const x = [...new Set([...a.x, ...b.x])].sort((one, other) => one - other);
  // undefined is uPlot's word for "not a place of this line": it draws on over it.
  const spread = (curve: SessionCurve): (number | null | undefined)[] => {
    const known = new Map(curve.x.map((value, at) => [value, curve.y[at]!]));
    return x.map((value) => (known.has(value) ? known.get(value)! : undefined));
  };
  return { x, ya: spread(a), yb: spread(b) };
}
