import { useEffect, useMemo, useRef } from "preact/hooks";
import { signal } from "@preact/signals";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { PALETTE, colorIndex } from "../base/color.ts";
import { t } from "../state/words.ts";
import { settings } from "../state/store.ts";

/**
 * Lines over a common x in uPlot with the page's tokens: hover names the values, a drag zooms, a
 * double click or the button goes back, a click near a point picks it.
 */

export interface CurveLine {
  readonly name: string;
  /** One a place of `x`; null leaves the line out there. */
  readonly y: readonly (number | null)[];
}

export interface CurveProps {
  /** Ascending; above 0 where `log` is set. */
  readonly x: readonly number[];
  readonly lines: readonly CurveLine[];
  /** Both axes logarithmic. */
  readonly log: boolean;
  readonly xLabel: string;
  readonly yLabel: string;
  formatX(value: number): string;
  formatY(value: number): string;
  readonly label: string;
  readonly onPick?: (line: number, at: number) => void;
}

/** The element of a curve; tests find the plot by it. */
export interface CurveElement extends HTMLDivElement {
  plot?: uPlot;
}

/** A click or hover this near to a point means it, px. */
const NEAR = 22;
/** A press that moved no further is a click, px. */
const STILL = 3;
const DASHES: readonly (readonly number[])[] = [[], [7, 3], [2, 3]];
/** x labels are the values themselves up to so many. */
const MOST_TICKS = 14;
/** Ticks at 2 and 5 too where a decade has this room, px. */
const DECADE = 60;
/** Height of a plot without its x axis, px. */
const X_AXIS = 60;
/** Room for a label of the x axis, px. */
const LABEL = 56;

/** The colour of each name; two names of one plot have the same only if there are more than ten. */
export function lineColors(names: readonly string[]): readonly string[] {
  const used = new Set<number>();
  return names.map((name) => {
    let at = colorIndex(name);
    for (let tries = 0; tries < PALETTE.length && used.has(at); tries++) {
      at = (at + 1) % PALETTE.length;
    }
    used.add(at);
    return PALETTE[at]!;
  });
}

/** Range around values with some room, by factor on a logarithmic axis. */
export function padded(low: number, high: number, log: boolean): [number, number] {
  if (log) {
    const room = Math.max(1.15, (high / low) ** 0.06);
    return [low / room, high * room];
  }
  const room = high > low ? (high - low) * 0.06 : Math.max(1, Math.abs(high) * 0.1);
  return [low - room, high + room];
}

/** 1, 2 and 5 of every decade in the range; powers of ten alone where a decade has few px. */
export function logTicks(low: number, high: number, decadePx: number): number[] {
  const from = Math.floor(Math.log10(low));
  const to = Math.ceil(Math.log10(high));
  const steps = decadePx < DECADE ? [1] : [1, 2, 5];
  const out: number[] = [];
  for (let power = from; power <= to; power++) {
    for (const step of steps) {
      const value = Number(`${step}e${power}`);
      if (value >= low && value <= high) out.push(value);
    }
  }
  return out;
}

function axes(props: CurveProps, color: (name: string) => string): uPlot.Axis[] {
  const font = `11px ${color("--sans")}`;
  const common = {
    stroke: () => color("--ink2"), font, labelFont: font, labelSize: 18, grid: { stroke: () => color("--line"), width: 1 },
    ticks: { stroke: () => color("--line"), width: 1, size: 4 },
  };
  const own = props.x.length <= MOST_TICKS;
  return [
    {
      ...common, label: props.xLabel, space: LABEL, size: 28,
      values: (_, splits) => texts(splits, props.formatX),
      ...(own ? { splits: () => [...props.x], filter: spread } : {}),
    },
    {
      ...common, label: props.yLabel, size: 66,
      values: (_, splits) => texts(splits, props.formatY),
      ...(props.log ? { splits: yTicks, filter: all } : {}),
    },
  ];
}

function texts(splits: readonly (number | null)[], format: (value: number) => string): string[] {
  return splits.map((value) => (value === null ? "" : format(value)));
}

function yTicks(plot: uPlot, _: number, low: number, high: number): number[] {
  return logTicks(low, high, (plot.height - X_AXIS) / Math.log10(high / low));
}

const all = (_: uPlot, splits: number[]): number[] => splits;

/** Leaves out labels that would touch their left neighbour. */
function spread(plot: uPlot, splits: number[]): (number | null)[] {
  let last = -Infinity;
  return splits.map((value) => {
    const at = plot.valToPos(value, "x");
    if (at - last < LABEL) return null;
    last = at;
    return value;
  });
}

function options(
  props: CurveProps, box: HTMLElement, zoomed: (on: boolean) => void,
): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string): string => style.getPropertyValue(name).trim();
  const distr = props.log ? 3 : 1;
  const first = props.x[0] ?? 1;
  const last = props.x.at(-1) ?? 1;
  const whole = padded(first, last, props.log);
  const colors = lineColors(props.lines.map((line) => line.name));
  return {
    width: box.clientWidth, height: box.clientHeight, padding: [12, 14, 0, 0],
    scales: {
      x: {
        time: false, distr,
        range: (_, low, high) =>
          (low === null || (low === first && high === last) ? whole : [low, high]),
      },
      y: {
        distr,
        range: (_, low, high) => (low === null ? [1, 10] : padded(low, high, props.log)),
      },
    },
    axes: axes(props, color),
    cursor: {
      focus: { prox: NEAR }, drag: { x: true, y: false, dist: STILL }, points: { size: 9 },
    },
    focus: { alpha: 0.3 },
    legend: { live: true },
    hooks: {
      setScale: [(plot, key) => {
        if (key !== "x") return;
        const { min, max } = plot.scales["x"]!;
        zoomed(min !== whole[0] || max !== whole[1]);
      }],
    },
    series: [
      { label: props.xLabel, value: (_, value) => (value === null ? "—" : props.formatX(value)) },
      ...props.lines.map((line, at): uPlot.Series => ({
        label: line.name, stroke: colors[at]!, width: 1.75, spanGaps: true,
        dash: [...DASHES[at % DASHES.length]!], points: { show: true, size: 6, fill: colors[at]! },
        value: (_, value) => (value === null ? "—" : props.formatY(value)),
      })),
    ],
  };
}

/** The point under the pointer: nearest line at the nearest x. */
function pointAt(plot: uPlot, lines: readonly CurveLine[]): readonly [number, number] | null {
  const { idx, left, top } = plot.cursor;
  if (idx === null || idx === undefined || left === undefined || top === undefined) return null;
  if (Math.abs(plot.valToPos(plot.data[0][idx]!, "x") - left) > NEAR) return null;
  let best = NEAR;
  let found: readonly [number, number] | null = null;
  lines.forEach((line, at) => {
    const value = line.y[idx];
    if (value === null || value === undefined) return;
    const away = Math.abs(plot.valToPos(value, "y") - top);
    if (away < best) {
      best = away;
      found = [at, idx];
    }
  });
  return found;
}

function makePlot(
  box: CurveElement, current: { readonly current: CurveProps }, zoomed: (on: boolean) => void,
): () => void {
  const props = current.current;
  const data = [props.x, ...props.lines.map((line) => line.y)] as unknown as uPlot.AlignedData;
  const plot = new uPlot(options(props, box, zoomed), data, box);
  box.plot = plot;
  let press: readonly [number, number] | null = null;
  plot.over.addEventListener("mousedown", (event) => (press = [event.clientX, event.clientY]));
  plot.over.addEventListener("click", (event) => {
    if (press !== null && Math.hypot(event.clientX - press[0], event.clientY - press[1]) > STILL) {
      return;
    }
    const point = pointAt(plot, current.current.lines);
    if (point !== null) current.current.onPick?.(point[0], point[1]);
  });
  plot.over.addEventListener("mousemove", () => {
    plot.over.style.cursor = pointAt(plot, current.current.lines) === null ? "" : "pointer";
  });
  const fit = (): void => {
    if (box.clientWidth === 0) return;
    const legend = box.querySelector<HTMLElement>(".u-legend")?.offsetHeight ?? 0;
    plot.setSize({ width: box.clientWidth, height: Math.max(80, box.clientHeight - legend) });
  };
  const observer = new ResizeObserver(fit);
  observer.observe(box);
  fit();
  return () => {
    observer.disconnect();
    plot.destroy();
  };
}

export function Curve(props: CurveProps) {
  const box = useRef<CurveElement>(null);
  const current = useRef(props);
  current.current = props;
  const zoomed = useMemo(() => signal(false), []);
  const dark = useMemo(() => signal(0), []);
  useEffect(() => {
    const system = matchMedia("(prefers-color-scheme: dark)");
    const changed = (): void => void dark.value++;
    system.addEventListener("change", changed);
    return () => system.removeEventListener("change", changed);
  }, []);
  // What a plot is made of; it is made anew when any of it changes.
  const key = JSON.stringify([props.x, props.lines, props.log, props.xLabel, props.yLabel]);
  const { theme } = settings.value;
  useEffect(() => makePlot(box.current!, current, (on) => (zoomed.value = on)),
    [key, theme, dark.value]);
  return (
    <div class="curve-frame">
      <div class="curve" ref={box} role="img" aria-label={props.label}
        data-lines={props.lines.length} />
      {zoomed.value && (
        <button class="btn tiny curve-reset" onClick={() => {
          const plot = box.current?.plot;
          if (plot !== undefined) plot.setScale("x", { min: props.x[0]!, max: props.x.at(-1)! });
        }}>{t("curve.reset")}</button>
      )}
    </div>
  );
}
