import type { Renderer } from "./renderer.ts";
import { TextFitter } from "./text.ts";
import type { CanvasTheme } from "./theme.ts";

/** What the renderer needs of a 2D context; the unit tests pass a recording one. */
export type Context2D = Pick<CanvasRenderingContext2D,
  | "fillStyle" | "strokeStyle" | "lineWidth" | "font" | "imageSmoothingEnabled"
  | "fillRect" | "clearRect" | "fillText" | "measureText" | "drawImage" | "putImageData"
  | "setTransform" | "beginPath" | "moveTo" | "lineTo" | "stroke" | "fill" | "closePath"
  | "setLineDash" | "createPattern">;

export interface Surface {
  readonly canvas: HTMLCanvasElement | OffscreenCanvas;
  readonly context: Context2D;
}

export interface Surfaces {
  /** Strips and backgrounds. */
  readonly base: Surface;
  /** Labels and marks over them. */
  readonly over: Surface;
  /** Off screen: the lines of one frame. */
  readonly lines: Surface;
  /** An empty canvas is taken off the screen: blending nothing over the lanes costs too. */
  showOver(visible: boolean): void;
  makeImage(width: number, height: number): ImageData;
  /** A tile of slanting stripes in this colour. */
  makeHatch(color: string): CanvasImageSource;
}

/** Lines a frame may hold beyond the height of the canvas (lanes cut by its edges). */
const SPARE_LINES = 256;
const NO_DASH: number[] = [];
const EDGE_DASH = [3, 2];

export class CanvasRenderer implements Renderer {
  columns = 1;
  ratio = 1;
  pixels: Uint32Array = new Uint32Array(1);
  private image: ImageData | null = null;
  private capacity = 0;
  private used = 0;
  private strips = 0;
  /** By strip: device y, device height, first line, lines. */
  private places: Int32Array = new Int32Array(4);
  private width = 0;
  private height = 0;
  private theme: CanvasTheme | null = null;
  private hatchPattern: CanvasPattern | null = null;
  /** Whether anything was drawn over the strips since the last clearing. */
  private touched = true;
  private shown = true;
  private readonly fitter: TextFitter;

  constructor(private readonly on: Surfaces) {
    this.fitter = new TextFitter((text) => this.on.over.context.measureText(text).width);
  }

  resize(width: number, height: number, ratio: number): void {
    const columns = Math.max(1, Math.round(width * ratio));
    const lines = Math.max(1, Math.round(height * ratio));
    if (columns === this.columns && lines === this.on.base.canvas.height && this.image) return;
    this.columns = columns;
    this.ratio = ratio;
    this.width = width;
    this.height = height;
    for (const { canvas } of [this.on.base, this.on.over]) {
      canvas.width = columns;
      canvas.height = lines;
    }
    this.capacity = lines + SPARE_LINES;
    this.on.lines.canvas.width = columns;
    this.on.lines.canvas.height = this.capacity;
    this.image = this.on.makeImage(columns, this.capacity);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.places = new Int32Array(this.capacity * 4);
  }

  begin(theme: CanvasTheme): void {
    if (theme !== this.theme) {
      const tile = this.on.makeHatch(theme.bg);
      this.hatchPattern = this.on.over.context.createPattern(tile, "repeat");
      this.theme = theme;
    }
    this.used = 0;
    this.strips = 0;
    const { base, over } = this.on;
    base.context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    over.context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    base.context.imageSmoothingEnabled = false;
    base.context.fillStyle = theme.bg;
    base.context.fillRect(0, 0, this.width, this.height);
    if (this.touched) over.context.clearRect(0, 0, this.width, this.height);
    this.touched = false;
    over.context.font = `11px ${theme.font}`;
  }

  strip(y: number, height: number): number {
    return this.reserve(y, Math.max(1, Math.round(height * this.ratio)), 1);
  }

  block(y: number, lines: number): number {
    return this.reserve(y, lines, lines);
  }

  private reserve(y: number, high: number, lines: number): number {
    if (this.used + lines > this.capacity) return -1;
    const at = this.strips++ * 4;
    this.places[at] = Math.round(y * this.ratio);
    this.places[at + 1] = high;
    this.places[at + 2] = this.used;
    this.places[at + 3] = lines;
    const offset = this.used * this.columns;
    this.used += lines;
    return offset;
  }

  fill(x: number, y: number, width: number, height: number, color: string): void {
    this.on.base.context.fillStyle = color;
    this.on.base.context.fillRect(x, y, width, height);
  }

  hatch(y: number, height: number): void {
    if (this.hatchPattern === null) return;
    this.touched = true;
    this.on.over.context.fillStyle = this.hatchPattern;
    this.on.over.context.fillRect(0, y, this.width, height);
  }

  mark(x: number, y: number, width: number, height: number, color: string): void {
    this.touched = true;
    this.on.over.context.fillStyle = color;
    this.on.over.context.fillRect(x, y, width, height);
  }

  notch(x: number, y: number, height: number, right: boolean): void {
    const { context } = this.on.over;
    this.touched = true;
    const depth = right ? -5 : 5;
    context.fillStyle = this.theme?.bg ?? "";
    context.beginPath();
    for (let at = 0; at < 2; at++) {
      const top = y + (at * height) / 2;
      context.moveTo(x, top);
      context.lineTo(x + depth, top + height / 4);
      context.lineTo(x, top + height / 2);
    }
    context.closePath();
    context.fill();
  }

  dashed(x: number, y: number, height: number, color: string): void {
    const { context } = this.on.over;
    this.touched = true;
    context.strokeStyle = color;
    context.lineWidth = 2;
    context.setLineDash(EDGE_DASH);
    context.beginPath();
    context.moveTo(x - 1, y);
    context.lineTo(x - 1, y + height);
    context.stroke();
    context.setLineDash(NO_DASH);
  }

  label(text: string, x: number, y: number, room: number, ink: string): void {
    const fitted = this.fitter.fit(text, room);
    if (fitted === "") return;
    this.touched = true;
    this.on.over.context.fillStyle = ink;
    this.on.over.context.fillText(fitted, x, y);
  }

  end(): void {
    if (this.touched !== this.shown) {
      this.shown = this.touched;
      this.on.showOver(this.shown);
    }
    if (this.used === 0 || this.image === null) return;
    const { base, lines } = this.on;
    lines.context.putImageData(this.image, 0, 0, 0, 0, this.columns, this.used);
    base.context.setTransform(1, 0, 0, 1, 0, 0);
    for (let at = 0; at < this.strips * 4; at += 4) {
      base.context.drawImage(
        lines.canvas, 0, this.places[at + 2]!, this.columns, this.places[at + 3]!,
        0, this.places[at]!, this.columns, this.places[at + 1]!,
      );
    }
  }
}

const HATCH_TILE = 11;

function drawHatch(color: string): OffscreenCanvas {
  const tile = new OffscreenCanvas(HATCH_TILE, HATCH_TILE);
  const context = tile.getContext("2d");
  if (context === null) return tile;
  context.strokeStyle = color;
  context.lineWidth = 3.4;
  context.beginPath();
  for (let at = -1; at <= 1; at++) {
    context.moveTo(at * HATCH_TILE - 2, HATCH_TILE + 2);
    context.lineTo(at * HATCH_TILE + HATCH_TILE + 2, -2);
  }
  context.stroke();
  return tile;
}

function context2d(canvas: HTMLCanvasElement, alpha: boolean): Context2D {
  const context = canvas.getContext("2d", { alpha });
  if (context === null) throw new Error("this browser gives no 2D canvas");
  return context;
}

/** The surfaces of a real page. */
export function browserSurfaces(base: HTMLCanvasElement, over: HTMLCanvasElement): Surfaces {
  const lines = document.createElement("canvas");
  const linesContext = lines.getContext("2d", { alpha: false, willReadFrequently: true });
  if (linesContext === null) throw new Error("this browser gives no 2D canvas");
  return {
    base: { canvas: base, context: context2d(base, false) },
    over: { canvas: over, context: context2d(over, true) },
    lines: { canvas: lines, context: linesContext },
    showOver: (visible) => (over.style.visibility = visible ? "" : "hidden"),
    makeImage: (width, height) => new ImageData(width, height),
    makeHatch: drawHatch,
  };
}
