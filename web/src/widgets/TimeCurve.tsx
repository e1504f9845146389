import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { settings } from "../state/store.ts";

/**
 * A curve over time with holes: null leaves the line out, hatching shows where, and a band under
 * the plot shows the quality of the time. Plots of one group share their cursor.
 */

export interface BandPart {
  readonly from: number;
  readonly to: number;
  /** CSS custom property of its colour, or null for none. */
  readonly color: string;
  /** No value there: the plot is hatched over it. */
  readonly hole: boolean;
}

export interface TimeCurveProps {
  readonly x: readonly number[];
  readonly lines: readonly {
    readonly name: string;
    readonly y: readonly (number | null | undefined)[];
    /** CSS custom property. */
    readonly color: string;
    readonly dash: boolean;
  }[];
  readonly band: readonly BandPart[];
  /** Range of the time axis, whatever points there are. */
  readonly until: number;
  readonly height: number;
  readonly label: string;
  formatX(value: number): string;
  formatY(value: number): string;
  /** A click: the place in `x` that is nearest. */
  readonly onPick?: (at: number) => void;
}

/** The element of a curve; tests find the plot by it. */
export interface TimeCurveElement extends HTMLDivElement {
  plot?: uPlot;
}

const BAND = 5;
const HATCH = 6;
const GROUP = "sessions";
/** Steps of the time axis, s. */
const STEPS: readonly number[] = [
  1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900,
  1800, 3600, 7200, 14400, 21600, 43200, 86400,
];

function paint(plot: uPlot, props: TimeCurveProps, color: (name: string) => string): void {
  const { ctx } = plot;
  const { left, top, width, height } = plot.bbox;
  const ratio = devicePixelRatio;
  const band = BAND * ratio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, width, height);
  ctx.clip();
  for (const part of props.band) {
    const from = Math.max(left, plot.valToPos(part.from, "x", true));
    const to = Math.min(left + width, plot.valToPos(part.to, "x", true));
    const wide = Math.max(to - from, ratio);
    if (to < left || from > left + width) continue;
    if (part.hole) {
      ctx.save();
      ctx.beginPath();
      ctx.rect(from, top, wide, height);
      ctx.clip();
      ctx.strokeStyle = color("--line");
      ctx.lineWidth = ratio;
      ctx.beginPath();
      for (let at = from - height; at < from + wide; at += HATCH * ratio) {
        ctx.moveTo(at, top + height);
        ctx.lineTo(at + height, top);
      }
      ctx.stroke();
      ctx.restore();
    }
    ctx.fillStyle = color(part.color);
    ctx.fillRect(from, top + height - band, wide, band);
  }
  ctx.restore();
}

/** Whole range with some room; 0 is in it where values are near. */
function valueRange(low: number | null, high: number | null): [number, number] {
  if (low === null || high === null) return [0, 1];
  const from = low >= 0 && low < 0.6 * high ? 0 : low;
  const room = high > from ? (high - from) * 0.08 : Math.max(1, Math.abs(high) * 0.1);
  return [from === 0 ? 0 - room * 0.6 : from - room, high + room];
}

function options(current: { current: TimeCurveProps }, box: HTMLElement): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string): string => style.getPropertyValue(name).trim();
  const props = current.current;
  const common = {
    stroke: () => color("--ink2"), font: `10.5px ${color("--sans")}`,
    grid: { stroke: () => color("--line"), width: 1 },
    ticks: { stroke: () => color("--line"), width: 1, size: 3 },
  };
  const texts = (splits: readonly (number | null)[], format: (value: number) => string) =>
    splits.map((value) => (value === null ? "" : format(value)));
  return {
    width: Math.max(80, box.clientWidth), height: props.height, padding: [8, 10, 0, 0],
    scales: {
      x: {
        time: false,
        // What is not zoomed shows the whole session, also where a curve begins late.
        range: (plot, low, high) => {
          const [xs] = plot.data;
          const whole = low === null || (low === xs[0] && high === xs.at(-1)) || low === high;
          return whole ? [0, Math.max(current.current.until, 1e-3)] : [low, high];
        },
      },
      y: { range: (_, low, high) => valueRange(low, high) },
    },
    axes: [
      { ...common, size: 24, space: 70, incrs: [...STEPS],
        values: (_, splits) => texts(splits, current.current.formatX) },
      { ...common, size: 58, space: 30,
        values: (_, splits) => texts(splits, current.current.formatY) },
    ],
    cursor: {
      sync: { key: GROUP, setSeries: false }, drag: { x: true, y: false, dist: 3 },
      points: { size: 7 },
    },
    legend: { show: false },
    hooks: { drawClear: [(plot) => paint(plot, current.current, color)] },
    series: [
      {},
      ...props.lines.map((line): uPlot.Series => ({
        label: line.name, stroke: color(line.color), width: 1.4, spanGaps: false,
        ...(line.dash ? { dash: [5, 3] } : {}),
        points: { size: 4, fill: color(line.color), filter: lone },
      })),
    ],
  };
}

/** Only points that no line reaches are drawn: the others are on it. */
function lone(plot: uPlot, line: number): number[] {
  const values = plot.data[line]!;
  const out: number[] = [];
  let before: number | null = null;
  for (let at = 0; at < values.length; at++) {
    const value = values[at];
    if (value === undefined) continue;
    if (value !== null && before === null) {
      let next = at + 1;
      while (next < values.length && values[next] === undefined) next++;
      if (values[next] === null || next >= values.length) out.push(at);
    }
    before = value;
  }
  return out;
}

export function TimeCurve(props: TimeCurveProps) {
  const box = useRef<TimeCurveElement>(null);
  const current = useRef(props);
  current.current = props;
  const { theme } = settings.value;
  const key = JSON.stringify([props.lines.map((line) => [line.name, line.color]), props.height]);
  const data = [props.x, ...props.lines.map((line) => line.y)] as unknown as uPlot.AlignedData;
  useEffect(() => {
    const at = box.current!;
    const plot = new uPlot(options(current, at), data, at);
    at.plot = plot;
    plot.over.addEventListener("click", () => {
      const { idx } = plot.cursor;
      if (idx !== null && idx !== undefined) current.current.onPick?.(idx);
    });
    const observer = new ResizeObserver(() => {
      const { height } = current.current;
      if (at.clientWidth > 0) plot.setSize({ width: at.clientWidth, height });
    });
    observer.observe(at);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [key, theme]);
  useEffect(() => {
    const { plot } = box.current!;
    if (plot === undefined || plot.data === data) return;
    // A zoom stays while new values come.
    const { min, max } = plot.scales["x"]!;
    const end = plot.data[0].at(-1) ?? 0;
    const zoomed = typeof min === "number" && typeof max === "number" && (min > 0 || max < end);
    plot.setData(data, !zoomed);
    if (zoomed) plot.redraw();
  });
  return <div class="time-curve" ref={box} role="img" aria-label={props.label} />;
}
