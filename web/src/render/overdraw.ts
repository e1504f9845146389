import type { Context2D } from "./context.ts";
import { TextFitter } from "./text.ts";
import type { CanvasTheme } from "./theme.ts";

/**
 * What is drawn over the strips: kept while the lanes are painted and drawn when
 * the strips are on the canvas. So one canvas is enough; each further one over
 * the whole view is copied and blended in every frame, empty or not.
 */

const enum Kind { Label, Mark, Hatch, NotchLeft, NotchRight, Dashed }

const EDGE_DASH = [3, 2];
const NO_DASH: number[] = [];
/** Numbers kept of each mark: kind, x, y, width, height. */
const FIELDS = 5;
/** Depth of the notch of a cut bar. */
const NOTCH = 5;

export class Overdraw {
  private readonly fitter: TextFitter;
  private places = new Float64Array(256 * FIELDS);
  /** Colour by mark, and text of labels. */
  private readonly colors: string[] = [];
  private readonly texts: string[] = [];
  private count = 0;

  constructor(private readonly context: Context2D) {
    this.fitter = new TextFitter((text) => context.measureText(text).width);
  }

  clear(): void {
    this.count = 0;
  }

  private keep(
    kind: Kind, x: number, y: number, width: number, height: number, color: string, text: string,
  ): void {
    const at = this.count * FIELDS;
    if (at === this.places.length) {
      const grown = new Float64Array(this.places.length * 2);
      grown.set(this.places);
      this.places = grown;
    }
    this.places[at] = kind;
    this.places[at + 1] = x;
    this.places[at + 2] = y;
    this.places[at + 3] = width;
    this.places[at + 4] = height;
    this.colors[this.count] = color;
    this.texts[this.count] = text;
    this.count++;
  }

  hatch(y: number, width: number, height: number): void {
    this.keep(Kind.Hatch, 0, y, width, height, "", "");
  }

  mark(x: number, y: number, width: number, height: number, color: string): void {
    this.keep(Kind.Mark, x, y, width, height, color, "");
  }

  notch(x: number, y: number, height: number, right: boolean): void {
    this.keep(right ? Kind.NotchRight : Kind.NotchLeft, x, y, 0, height, "", "");
  }

  dashed(x: number, y: number, height: number, color: string): void {
    this.keep(Kind.Dashed, x, y, 0, height, color, "");
  }

  label(text: string, x: number, y: number, room: number, ink: string): void {
    const fitted = this.fitter.fit(text, room);
    if (fitted !== "") this.keep(Kind.Label, x, y, room, 0, ink, fitted);
  }

  /** Draws all that was kept; `hatch` is the pattern of broken lanes. */
  draw(theme: CanvasTheme, hatch: CanvasPattern | null): void {
    const { context, places } = this;
    for (let at = 0; at < this.count; at++) {
      const from = at * FIELDS;
      const kind: Kind = places[from]!;
      const x = places[from + 1]!;
      const y = places[from + 2]!;
      const height = places[from + 4]!;
      if (kind === Kind.Label) {
        context.fillStyle = this.colors[at]!;
        context.fillText(this.texts[at]!, x, y);
      } else if (kind === Kind.Mark) {
        context.fillStyle = this.colors[at]!;
        context.fillRect(x, y, places[from + 3]!, height);
      } else if (kind === Kind.Hatch) {
        if (hatch === null) continue;
        context.fillStyle = hatch;
        context.fillRect(x, y, places[from + 3]!, height);
      } else if (kind === Kind.Dashed) this.drawDashed(x, y, height, this.colors[at]!);
      else this.drawNotch(x, y, height, kind === Kind.NotchRight, theme.bg);
    }
  }

  private drawDashed(x: number, y: number, height: number, color: string): void {
    const { context } = this;
    context.strokeStyle = color;
    context.lineWidth = 2;
    context.setLineDash(EDGE_DASH);
    context.beginPath();
    context.moveTo(x - 1, y);
    context.lineTo(x - 1, y + height);
    context.stroke();
    context.setLineDash(NO_DASH);
  }

  private drawNotch(x: number, y: number, height: number, right: boolean, color: string): void {
    const { context } = this;
    context.fillStyle = color;
    context.beginPath();
    for (let at = 0; at < 2; at++) {
      const top = y + (at * height) / 2;
      context.moveTo(x, top);
      context.lineTo(x + (right ? -NOTCH : NOTCH), top + height / 4);
      context.lineTo(x, top + height / 2);
    }
    context.closePath();
    context.fill();
  }
}
