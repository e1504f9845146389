import { parseColor, toPixel } from "../base/color.ts";
import type { Surfaces } from "./context.ts";
import { Overdraw } from "./overdraw.ts";
import type { Renderer } from "./renderer.ts";
import type { CanvasTheme } from "./theme.ts";

/**
 * Strips on a 2D canvas, in one of two ways.
 *
 * Direct (up to DIRECT_PIXELS): a picture of the whole canvas is kept in memory,
 * a strip is coloured into its first line and copied to the others, and one
 * putImageData brings all to the canvas. Copying lines is cheap; a drawImage
 * for each of hundreds of strips costs more than all the copying.
 *
 *      spare lines      a lane cut by the upper edge begins here
 *      ------------
 *      lane lines       uploaded
 *      ------------
 *      spare lines      a lane cut by the lower edge ends here
 *
 * Stretched (above): only the lines themselves are uploaded, to a canvas off
 * screen, and one drawImage a strip stretches them.
 */

/** Lines beyond the canvas: of lanes that its edges cut. */
const SPARE_LINES = 256;
/** Largest canvas that is filled in memory: 2560 x 1600. */
export const DIRECT_PIXELS = 4_096_000;
/** Numbers kept of each strip: device y, device height, first line, lines. */
const FIELDS = 4;

export class CanvasRenderer implements Renderer {
  columns = 1;
  ratio = 1;
  pixels: Uint32Array = new Uint32Array(1);
  private image: ImageData | null = null;
  private direct = true;
  /** Lines of the canvas that belong to lanes, and those of the head above them. */
  private lines = 1;
  private head = 0;
  private capacity = 0;
  private used = 0;
  private strips = 0;
  private places: Int32Array = new Int32Array(FIELDS);
  private width = 0;
  private theme: CanvasTheme | null = null;
  private hatchPattern: CanvasPattern | null = null;
  private readonly overdraw: Overdraw;
  private readonly colors = new Map<string, number>();

  constructor(private readonly on: Surfaces, private readonly directPixels = DIRECT_PIXELS) {
    this.overdraw = new Overdraw(on.base.context);
  }

  resize(width: number, height: number, ratio: number, head = 0): void {
    const columns = Math.max(1, Math.round(width * ratio));
    const lines = Math.max(1, Math.round(height * ratio));
    const headLines = Math.round(head * ratio);
    const same = columns === this.columns && lines === this.lines && headLines === this.head;
    if (same && this.image !== null) return;
    this.columns = columns;
    this.lines = lines;
    this.head = headLines;
    this.ratio = ratio;
    this.width = width;
    this.on.base.canvas.width = columns;
    this.on.base.canvas.height = lines + headLines;
    this.direct = columns * lines <= this.directPixels;
    this.capacity = lines + (this.direct ? 2 : 1) * SPARE_LINES;
    this.on.lines.canvas.width = this.direct ? 1 : columns;
    this.on.lines.canvas.height = this.direct ? 1 : this.capacity;
    this.image = this.on.makeImage(columns, this.capacity);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.places = new Int32Array(this.capacity * FIELDS);
  }

  begin(theme: CanvasTheme): void {
    const { context } = this.on.base;
    if (theme !== this.theme) {
      this.hatchPattern = context.createPattern(this.on.makeHatch(theme.bg), "repeat");
      this.theme = theme;
    }
    this.used = 0;
    this.strips = 0;
    this.overdraw.clear();
    context.font = `11px ${theme.font}`;
    if (this.direct) {
      const from = SPARE_LINES * this.columns;
      this.pixels.fill(theme.bgPixel, from, from + this.lines * this.columns);
      return;
    }
    this.toLanes();
    context.imageSmoothingEnabled = false;
    context.fillStyle = theme.bg;
    context.fillRect(0, 0, this.width, this.lines / this.ratio);
  }

  /** CSS pixels below the head. */
  private toLanes(): void {
    this.on.base.context.setTransform(this.ratio, 0, 0, this.ratio, 0, this.head);
  }

  strip(y: number, height: number): number {
    return this.reserve(y, Math.max(1, Math.round(height * this.ratio)), 1);
  }

  block(y: number, lines: number): number {
    return this.reserve(y, lines, lines);
  }

  private reserve(y: number, high: number, lines: number): number {
    let top = Math.round(y * this.ratio);
    let first = this.used;
    if (this.direct) {
      if (lines === 1 && top < 0) {
        high += top;
        top = 0;
      }
      first = top + SPARE_LINES;
      high = Math.min(high, this.capacity - first);
      if (first < 0 || high < lines || this.strips >= this.capacity) return -1;
    } else if (first + lines > this.capacity) return -1;
    const at = this.strips++ * FIELDS;
    this.places[at] = top;
    this.places[at + 1] = high;
    this.places[at + 2] = first;
    this.places[at + 3] = lines;
    this.used += lines;
    const offset = first * this.columns;
    if (!this.direct) {
      this.pixels.fill(this.theme?.bgPixel ?? 0, offset, offset + lines * this.columns);
    }
    return offset;
  }

  fill(x: number, y: number, width: number, height: number, color: string): void {
    if (!this.direct) {
      this.on.base.context.fillStyle = color;
      this.on.base.context.fillRect(x, y, width, height);
      return;
    }
    const top = Math.max(0, Math.round(y * this.ratio));
    const bottom = Math.min(this.lines, Math.round((y + height) * this.ratio));
    const left = Math.max(0, Math.round(x * this.ratio));
    const right = Math.min(this.columns, Math.round((x + width) * this.ratio));
    const pixel = this.pixelOf(color);
    for (let line = top; line < bottom; line++) {
      const from = (line + SPARE_LINES) * this.columns;
      this.pixels.fill(pixel, from + left, from + right);
    }
  }

  private pixelOf(color: string): number {
    let pixel = this.colors.get(color);
    if (pixel === undefined) this.colors.set(color, (pixel = toPixel(parseColor(color))));
    return pixel;
  }

  hatch(y: number, height: number): void {
    this.overdraw.hatch(y, this.width, height);
  }

  mark(x: number, y: number, width: number, height: number, color: string): void {
    this.overdraw.mark(x, y, width, height, color);
  }

  notch(x: number, y: number, height: number, right: boolean): void {
    this.overdraw.notch(x, y, height, right);
  }

  dashed(x: number, y: number, height: number, color: string): void {
    this.overdraw.dashed(x, y, height, color);
  }

  label(text: string, x: number, y: number, room: number, ink: string): void {
    this.overdraw.label(text, x, y, room, ink);
  }

  end(): void {
    if (this.image === null || this.theme === null) return;
    if (this.direct) this.upload(this.image);
    else this.stretch(this.image);
    this.toLanes();
    this.overdraw.draw(this.theme, this.hatchPattern);
  }

  private upload(image: ImageData): void {
    const { columns, pixels, places } = this;
    for (let at = 0; at < this.strips * FIELDS; at += FIELDS) {
      if (places[at + 3] !== 1) continue;
      const from = places[at + 2]! * columns;
      const end = from + places[at + 1]! * columns;
      for (let to = from + columns; to < end; to += columns) {
        pixels.copyWithin(to, from, from + columns);
      }
    }
    this.on.base.context.putImageData(
      image, 0, this.head - SPARE_LINES, 0, SPARE_LINES, columns, this.lines);
  }

  private stretch(image: ImageData): void {
    if (this.used === 0) return;
    const { base, lines } = this.on;
    const { places, columns } = this;
    lines.context.putImageData(image, 0, 0, 0, 0, columns, this.used);
    base.context.setTransform(1, 0, 0, 1, 0, this.head);
    for (let at = 0; at < this.strips * FIELDS; at += FIELDS) {
      base.context.drawImage(
        lines.canvas, 0, places[at + 2]!, columns, places[at + 3]!,
        0, places[at]!, columns, places[at + 1]!,
      );
    }
  }
}
