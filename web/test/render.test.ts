import { beforeEach, describe, expect, test } from "vitest";
import { CanvasRenderer, DIRECT_PIXELS } from "../src/render/canvas2d.ts";
import type { Context2D, Surface } from "../src/render/context.ts";
import { FrameScheduler, Stale } from "../src/render/frame.ts";
import { TextFitter } from "../src/render/text.ts";
import { BAD_COLOR, DEPTHS } from "../src/render/theme.ts";
import type { CanvasTheme } from "../src/render/theme.ts";
import { buildTree, layOut } from "../src/state/lanes.ts";
import { depthOf } from "../src/tracks/depth.ts";
import { setDepths } from "../src/tracks/decodeWindow.ts";
import { labelBars, labelCells, paintBars, paintCells } from "../src/tracks/paintBars.ts";
import { paintCounter, clearValues, pointValues, stepValues } from "../src/tracks/paintCounter.ts";
import { paintLanes } from "../src/tracks/paintLanes.ts";
import { paintDensity, paintTicks } from "../src/tracks/paintPoints.ts";
import { ColumnMap, Scene } from "../src/tracks/scene.ts";
import { LEFT_TRUNCATED, NONE, UNCLOSED } from "../src/wire/answers.ts";
import type { Answer, CellRow, LaneData, RawRow } from "../src/wire/answers.ts";
import type { Feed } from "../src/tracks/feed.ts";
import type { LaneRecord } from "../src/wire/types.ts";

/** A context that keeps what is drawn. */
interface Call { name: string; args: unknown[]; fill: string }

class Recorder {
  calls: Call[] = [];
  fillStyle: string | CanvasGradient | CanvasPattern = "";
  strokeStyle: string | CanvasGradient | CanvasPattern = "";
  lineWidth = 1;
  font = "";
  imageSmoothingEnabled = true;
  private keep(name: string, ...args: unknown[]): void {
    this.calls.push({ name, args, fill: String(this.fillStyle) });
  }
  fillRect(...args: number[]): void { this.keep("fillRect", ...args); }
  fillText(...args: unknown[]): void { this.keep("fillText", ...args); }
  measureText(text: string): { width: number } { return { width: text.length * 6 }; }
  drawImage(...args: unknown[]): void { this.keep("drawImage", ...args.slice(1)); }
  putImageData(...args: unknown[]): void { this.keep("putImageData", ...args.slice(1)); }
  setTransform(...args: unknown[]): void { this.keep("setTransform", ...args); }
  beginPath(): void { this.keep("beginPath"); }
  moveTo(...args: number[]): void { this.keep("moveTo", ...args); }
  lineTo(...args: number[]): void { this.keep("lineTo", ...args); }
  stroke(): void { this.keep("stroke"); }
  fill(): void { this.keep("fill"); }
  closePath(): void { this.keep("closePath"); }
  setLineDash(...args: unknown[]): void { this.keep("setLineDash", ...args); }
  createPattern(): string { return "hatch"; }
  of(name: string): Call[] { return this.calls.filter((call) => call.name === name); }
}

function surface(): { surface: Surface; recorder: Recorder } {
  const recorder = new Recorder();
  const canvas = { width: 1, height: 1 } as unknown as HTMLCanvasElement;
  return { surface: { canvas, context: recorder as unknown as Context2D }, recorder };
}

const depths = Array.from({ length: BAD_COLOR + 1 }, (_, color) =>
  Uint32Array.from({ length: DEPTHS + 1 }, (_, depth) => color * 1000 + depth));
const BG = 999_999;
const theme: CanvasTheme = {
  bg: "bg", bg2: "bg2", bg3: "bg3", line: "line", ink: "ink", ink2: "", ink3: "", acc: "acc",
  bad: "bad", warn: "warn", sel: "sel", font: "sans", mono: "mono", bgPixel: BG, depths,
  inks: depths.map((_, color) => `ink${color}`),
};
const solid = (color: number): number => color * 1000 + DEPTHS;

let renderer: CanvasRenderer;
let scene: Scene;
let base: Recorder;
let lines: Recorder;
let image: Uint32Array;

/** `direct` 0 gives the renderer of canvases too large to be filled in memory. */
function open(
  width: number, height: number, span: number, ratio = 1, direct = DIRECT_PIXELS,
): void {
  const surfaces = [surface(), surface()] as const;
  [base, lines] = [surfaces[0].recorder, surfaces[1].recorder];
  renderer = new CanvasRenderer({
    base: surfaces[0].surface, lines: surfaces[1].surface,
    makeImage: (w, h) => {
      const data = new Uint8ClampedArray(w * h * 4);
      image = new Uint32Array(data.buffer);
      return { data } as unknown as ImageData;
    },
    makeHatch: () => ({}) as unknown as CanvasImageSource,
  }, direct);
  renderer.resize(width, height, ratio, 46);
  scene = new Scene(renderer, theme);
  scene.prepare(0, span);
  renderer.begin(theme);
}

function bars(list: [number, number, number?, number?][]): RawRow {
  return {
    start: Float64Array.from(list, (one) => one[0]), end: Float64Array.from(list, (one) => one[1]),
    name: Uint32Array.from(list, (_, at) => at), color: Uint8Array.from(list, (one) => one[2] ?? 1),
    flags: Uint8Array.from(list, (one) => one[3] ?? 0), id: Uint32Array.from(list, (_, at) => at),
  };
}

const answer = (over: Partial<Answer>): Answer => ({
  mode: "raw", start: 0, end: 100, buckets: 0, events: 0, names: [], categories: [],
  lanes: new Map(), anomalies: [], details: null, values: null, ...over,
});

beforeEach(() => open(100, 50, 100));

describe("strips", () => {
  test("a bar colours its columns, the rest is background", () => {
    const offset = renderer.strip(0, 15);
    paintBars(scene, bars([[10, 13, 2], [50, 52, 3]]), offset, 0, 100, -1);
    const line = [...renderer.pixels.subarray(offset, offset + 100)];
    expect(line.slice(8, 14)).toEqual([BG, BG, solid(2), solid(2), solid(2), BG]);
    expect(line.slice(50, 53)).toEqual([solid(3), solid(3), BG]);
    expect(line.filter((pixel) => pixel !== BG).length).toBe(5);
  });
  test("wide bars end in a gap, so equal neighbours stay apart", () => {
    const offset = renderer.strip(0, 15);
    paintBars(scene, bars([[10, 20], [20, 30]]), offset, 0, 100, -1);
    expect(renderer.pixels[offset + 19]).not.toBe(renderer.pixels[offset + 18]);
    expect(renderer.pixels[offset + 20]).toBe(solid(1));
  });
  test("bars under a column merge into depth by the covered share", () => {
    const offset = renderer.strip(0, 15);
    paintBars(scene, bars([[10.0, 10.2], [10.3, 10.6], [30, 30]]), offset, 0, 100, -1);
    expect(renderer.pixels[offset + 10]).toBe(1000 + depthOf(0.5));
    expect(renderer.pixels[offset + 30]).toBe(1000 + depthOf(1e-9));
    expect(depthOf(0)).toBe(0);
    expect(depthOf(1)).toBe(DEPTHS);
  });
  test("a bar that began before the view is drawn from its edge", () => {
    scene.prepare(50, 100);
    const offset = renderer.strip(0, 15);
    paintBars(scene, bars([[0, 60]]), offset, 0, 100, -1);
    expect(renderer.pixels[offset]).toBe(solid(1));
    expect(renderer.pixels[offset + 10]).toBe(BG);
  });
  test("only columns of the answer are touched", () => {
    const offset = renderer.strip(0, 15);
    renderer.pixels.fill(7, offset, offset + 100);
    paintBars(scene, bars([[0, 100]]), offset, 20, 40, -1);
    expect(renderer.pixels[offset + 19]).toBe(7);
    expect(renderer.pixels[offset + 20]).toBe(solid(1));
    expect(renderer.pixels[offset + 40]).toBe(7);
  });
  test("cells take the depth of their busy share", () => {
    const map = new ColumnMap();
    map.update(answer({ mode: "aggregated", buckets: 100 }), scene);
    const row: CellRow = {
      busy: new Float32Array(100), depth: new Uint8Array(100), count: new Uint32Array(100),
      longest: new Uint32Array(100).fill(NONE), name: new Uint32Array(100).fill(NONE),
      color: new Uint8Array(100).fill(4),
    };
    row.busy[5] = 1;
    row.busy[6] = 0.5;
    row.count[7] = 3;
    setDepths(row);
    const offset = renderer.strip(0, 15);
    paintCells(scene, row, map, offset, -1);
    expect(renderer.pixels[offset + 5]).toBe(solid(4));
    expect(renderer.pixels[offset + 6]).toBe(4000 + depthOf(0.5));
    expect(renderer.pixels[offset + 7]).toBe(4000 + depthOf(1e-9));
    expect(renderer.pixels[offset + 8]).toBe(4000);
  });
  test("one upload a frame; a strip fills the height of its row", () => {
    const first = renderer.strip(3, 15);
    renderer.pixels[first + 7] = 5;
    const block = renderer.block(40, 4);
    renderer.pixels[block + 100] = 6;
    renderer.end();
    expect(base.of("drawImage").length).toBe(0);
    const [upload] = base.of("putImageData");
    const [x, y, , spare] = upload!.args as number[];
    expect([x, y! + spare!]).toEqual([0, 46]);
    expect(upload!.args.slice(2)).toEqual([0, spare, 100, 50]);
    const column = Array.from({ length: 50 }, (_, line) => image[(line + spare!) * 100 + 7]);
    expect(column.map((pixel, line) => (pixel === 5 ? line : -1)).filter((line) => line >= 0))
      .toEqual(Array.from({ length: 15 }, (_, at) => at + 3));
    expect(image[(41 + spare!) * 100]).toBe(6);
  });
  test("rows cut by the edges keep what is inside; fills stay inside", () => {
    const cut = renderer.strip(-5, 15);
    renderer.pixels.fill(5, cut, cut + 100);
    expect(renderer.block(-4, 8)).toBeGreaterThanOrEqual(0);
    const low = renderer.strip(45, 15);
    renderer.pixels.fill(6, low, low + 100);
    renderer.fill(90, -5, 50, 10, "#123456");
    renderer.end();
    const spare = (base.of("putImageData")[0]!.args as number[])[3]!;
    const line = (at: number): (number | undefined)[] =>
      [...image.subarray((at + spare) * 100, (at + spare + 1) * 100)];
    expect([line(9)[0], line(10)[0], line(44)[0], line(45)[0], line(49)[99]])
      .toEqual([5, BG, BG, 6, 6]);
    expect(renderer.strip(100_000, 15)).toBe(-1);
    expect(renderer.block(-1000, 4)).toBe(-1);
  });
  test("large canvases: one upload of the lines, one stretched drawImage a strip", () => {
    open(100, 50, 100, 1, 0);
    renderer.strip(3, 15);
    renderer.strip(20, 15);
    renderer.block(40, 4);
    renderer.end();
    expect(lines.of("putImageData").length).toBe(1);
    expect(lines.of("putImageData")[0]?.args).toEqual([0, 0, 0, 0, 100, 6]);
    expect(base.of("drawImage").map((call) => call.args)).toEqual([
      [0, 0, 100, 1, 0, 3, 100, 15], [0, 1, 100, 1, 0, 20, 100, 15],
      [0, 2, 100, 4, 0, 40, 100, 4],
    ]);
    expect(base.imageSmoothingEnabled).toBe(false);
  });
  test("device pixels: strips stand on whole lines", () => {
    open(100, 50, 100, 2, 0);
    renderer.strip(3, 15);
    renderer.end();
    expect(base.of("drawImage")[0]?.args).toEqual([0, 0, 200, 1, 0, 6, 200, 30]);
  });
});

describe("labels", () => {
  test("appear from 34 px, cut to the bar, and stick to the left edge", () => {
    open(400, 50, 400);
    scene.prepare(10, 400);
    const row = bars([[0, 60, 2], [70, 100, 3], [200, 260, 4]]);
    labelBars(scene, row, ["aten::linear", "short", "a very long name"], 3, 15, -1, false);
    expect(base.of("fillText").length).toBe(0);
    renderer.end();
    const texts = base.of("fillText");
    expect(texts.map((call) => call.args[0])).not.toContain("short");
    expect(texts[0]?.args[1]).toBe(5);
    expect(texts[0]?.fill).toBe("ink2");
    expect(String(texts[1]?.args[0]).length).toBeLessThan("a very long name".length);
  });
  test("unclosed bars get a dashed edge, truncated ones a notch", () => {
    const row = bars([[10, 40, 1, UNCLOSED], [50, 80, 1, LEFT_TRUNCATED]]);
    labelBars(scene, row, ["a", "b"], 4, 16, -1, true);
    renderer.end();
    expect(base.of("setLineDash").length).toBe(2);
    expect(base.of("fill").length).toBe(1);
    expect(base.of("fillText").length).toBe(0);
  });
  test("a slice that owns a run of cells has its label there", () => {
    const map = new ColumnMap();
    map.update(answer({ mode: "aggregated", buckets: 100 }), scene);
    const row: CellRow = {
      busy: new Float32Array(100).fill(1), depth: new Uint8Array(100),
      count: new Uint32Array(100),
      longest: Uint32Array.from({ length: 100 }, (_, at) => (at < 60 ? 1 : 2)),
      name: Uint32Array.from({ length: 100 }, (_, at) => (at < 60 ? 0 : 1)),
      color: new Uint8Array(100),
    };
    const offset = renderer.strip(0, 15);
    labelCells(scene, row, map, ["one", "two"], offset, 0, 15);
    renderer.end();
    expect(base.of("fillText").map((call) => [call.args[0], call.args[1]]))
      .toEqual([["one", 5], ["two", 65]]);
  });
  test("fitting is cached: a steady frame measures nothing", () => {
    let measured = 0;
    const fitter = new TextFitter((text) => {
      measured++;
      return text.length * 6;
    });
    const first = fitter.fit("a very long name", 50);
    expect(fitter.fit("a very long name", 50)).toBe(first);
    expect(measured).toBe(1);
    expect(fitter.fit("abc", 100)).toBe("abc");
    expect(fitter.fit("abc", 5)).toBe("");
  });
});

describe("counters and instants", () => {
  test("values by column carry the last change and keep extremes", () => {
    clearValues(scene);
    const lane: Extract<LaneData, { form: "points" }> = {
      form: "points", time: Float64Array.of(0, 10.1, 10.5, 20), value: Float64Array.of(1, 9, 2, 4),
      id: new Uint32Array(4), name: new Uint32Array(4), events: 4,
    };
    pointValues(scene, lane, 0, 100);
    expect([scene.last[9], scene.last[10], scene.last[15], scene.last[99]]).toEqual([1, 2, 2, 4]);
    expect([scene.min[10], scene.max[10]]).toEqual([1, 9]);
  });
  test("steps are filled from the value down, in the lane's scale", () => {
    clearValues(scene);
    const map = new ColumnMap();
    map.update(answer({ mode: "aggregated", buckets: 100 }), scene);
    const half = new Float32Array(100).fill(5);
    stepValues(scene, {
      form: "steps", last: half, min: half, max: half, count: new Uint32Array(100),
      low: 0, high: 10, events: 0,
    }, map);
    const offset = renderer.block(0, 38);
    paintCounter(scene, { low: 0, high: 10 }, 1, offset, 38);
    const column = Array.from({ length: 38 }, (_, line) => renderer.pixels[offset + line * 100]);
    expect(column[4]).toBe(BG);
    expect(column.filter((pixel) => pixel === solid(1)).length).toBe(1);
    expect(column[20]).toBe(solid(1));
    expect(column[30]).toBe(1000 + Math.round(0.22 * DEPTHS));
  });
  test("ticks are coloured by value, density by count", () => {
    const offset = renderer.strip(0, 10);
    paintTicks(scene, {
      form: "points", time: Float64Array.of(5, 50), value: Float64Array.of(1, 10),
      id: new Uint32Array(2), name: new Uint32Array(2), events: 2,
    }, { low: 0, high: 10 }, 2, offset, 0, 100);
    expect(renderer.pixels[offset + 50]).toBe(solid(2));
    expect(renderer.pixels[offset + 5]).toBeLessThan(solid(2));
    expect(renderer.pixels[offset + 40]).toBe(BG);
    const map = new ColumnMap();
    map.update(answer({ mode: "aggregated", buckets: 100 }), scene);
    const count = new Uint32Array(100);
    count[3] = 8;
    count[4] = 1;
    const next = renderer.strip(0, 10);
    paintDensity(scene, { form: "density", count, events: 9 }, map, 8, 2, next);
    expect(renderer.pixels[next + 3]).toBe(solid(2));
    expect(renderer.pixels[next + 4]).toBeLessThan(solid(2));
    expect(renderer.pixels[next + 5]).toBe(BG);
  });
});

describe("lanes on screen", () => {
  const records: LaneRecord[] = Array.from({ length: 1000 }, (_, at) => ({
    id: at, parent: null, kind: "interval" as const, name: `lane ${at}`, rows: 1,
    anomalous: at === 400,
  }));
  const tree = buildTree(records);
  const slot = {
    answer: answer({ lanes: new Map([["401", { form: "bars", rows: [bars([[0, 50]])], events: 1 }]]) }),
    answered: new Set(records.map((one) => String(one.id))), under: null, map: new ColumnMap(),
    underMap: new ColumnMap(),
  };
  const feed = { slotOf: () => slot, anomalies: new Map(), slow: () => false } as unknown as Feed;
  test("nothing outside the viewport is drawn, broken lanes are hatched", () => {
    open(100, 50, 100, 1, 0);
    const layout = layOut(tree, new Set(), "", false);
    paintLanes(scene, feed, {
      layout, scrollTop: 400 * 24, width: 100, height: 50, unchecked: new Set(),
    });
    renderer.end();
    // The third lane's bar begins below the edge of the canvas.
    expect(base.of("drawImage").length).toBe(2);
    expect(base.of("fillRect").filter((call) => call.fill === "acc").length).toBe(0);
    expect(base.of("fillRect").filter((call) => call.fill === "hatch").length).toBe(1);
  });
  test("an unchecked lane is not drawn", () => {
    open(100, 50, 100, 1, 0);
    const layout = layOut(tree, new Set(), "", false);
    paintLanes(scene, feed, {
      layout, scrollTop: 401 * 24, width: 100, height: 24, unchecked: new Set(["t401"]),
    });
    renderer.end();
    expect(base.of("drawImage").length).toBe(0);
  });
});

describe("frame scheduler", () => {
  test("many wishes, one frame at the highest level", () => {
    const asked: (() => void)[] = [];
    const frames = new FrameScheduler((run) => asked.push(run));
    const seen: Stale[] = [];
    const remove = frames.add((level) => seen.push(level));
    frames.invalidate(Stale.Overlay);
    frames.invalidate(Stale.Full);
    frames.invalidate(Stale.Overlay);
    expect(asked.length).toBe(1);
    asked[0]!();
    expect(seen).toEqual([Stale.Full]);
    frames.invalidate(Stale.Overlay);
    asked[1]!();
    expect(seen).toEqual([Stale.Full, Stale.Overlay]);
    remove();
    frames.invalidate(Stale.Full);
    asked[2]!();
    expect(seen.length).toBe(2);
  });
});
