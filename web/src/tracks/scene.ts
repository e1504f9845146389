import type { Renderer } from "../render/renderer.ts";
import type { CanvasTheme } from "../render/theme.ts";
import type { Answer } from "../wire/answers.ts";

/** What every painter of a frame shares; one object for the life of the page. */
export class Scene {
  /** Left edge of the view, relative ns, and ns a device column. */
  start = 0;
  nsPerColumn = 1;
  /** Buffers by device column, reused by all lanes. */
  cover = new Float32Array(1);
  top = new Int32Array(1);
  bandTop = new Int32Array(1);
  bandBottom = new Int32Array(1);
  /** Values of counters by column. */
  last = new Float32Array(1);
  min = new Float32Array(1);
  max = new Float32Array(1);

  constructor(readonly renderer: Renderer, public theme: CanvasTheme) {}

  /** CSS pixels a ns. */
  get scale(): number {
    return 1 / (this.nsPerColumn * this.renderer.ratio);
  }

  prepare(start: number, span: number): void {
    const columns = this.renderer.columns;
    this.start = start;
    this.nsPerColumn = span / columns;
    if (this.cover.length === columns) return;
    this.cover = new Float32Array(columns);
    this.top = new Int32Array(columns);
    this.bandTop = new Int32Array(columns);
    this.bandBottom = new Int32Array(columns);
    this.last = new Float32Array(columns);
    this.min = new Float32Array(columns);
    this.max = new Float32Array(columns);
  }
}

/** Which bucket of an answer each device column shows; rebuilt when view or answer change. */
export class ColumnMap {
  /** Bucket by column, -1 outside the answer. */
  at = new Int32Array(0);
  private answer: Answer | null = null;
  private start = NaN;
  private step = NaN;
  /** Columns [first, last) that the answer covers. */
  first = 0;
  last = 0;

  update(answer: Answer, scene: Scene): void {
    const columns = scene.renderer.columns;
    if (answer === this.answer && scene.start === this.start
      && scene.nsPerColumn === this.step && this.at.length === columns) return;
    this.answer = answer;
    this.start = scene.start;
    this.step = scene.nsPerColumn;
    this.first = clampColumn((answer.start - scene.start) / scene.nsPerColumn, columns);
    this.last = clampColumn((answer.end - scene.start) / scene.nsPerColumn, columns);
    if (this.at.length !== columns) this.at = new Int32Array(columns);
    this.fill(answer, columns);
  }

  private fill(answer: Answer, columns: number): void {
    if (answer.buckets === 0) return;
    const width = (answer.end - answer.start) / answer.buckets;
    const step = this.step / width;
    let at = (this.start - answer.start) / width + step / 2;
    for (let column = 0; column < columns; column++, at += step) {
      const bucket = Math.floor(at);
      this.at[column] = bucket < 0 || bucket >= answer.buckets ? -1 : bucket;
    }
  }
}

function clampColumn(value: number, columns: number): number {
  const column = Math.round(value);
  return column < 0 ? 0 : column > columns ? columns : column;
}
