import type { CanvasTheme } from "./theme.ts";

/**
 * What tracks draw with. They know rows of pixels, bars and labels, never a
 * canvas: another backend needs this interface alone.
 *
 * A strip is one line of pixels, one a device column, that is stretched over
 * the height of its row; a block has a line for each device pixel of height.
 * Both begin as background, are filled by the caller in `pixels` and drawn when the frame ends.
 * All other lengths are CSS pixels.
 */
export interface Renderer {
  /** Device pixels across, the length of a line. */
  readonly columns: number;
  readonly ratio: number;
  readonly pixels: Uint32Array;

  /** `head` CSS pixels above the lanes are left to others. */
  resize(width: number, height: number, ratio: number, head?: number): void;
  begin(theme: CanvasTheme): void;
  /** Offset of a new strip in `pixels`, or -1 when the frame has no lines left for it. */
  strip(y: number, height: number): number;
  /** Offset of a new block of `lines` lines, or -1. */
  block(y: number, lines: number): number;
  /** Under the strips. */
  fill(x: number, y: number, width: number, height: number, color: string): void;
  /** Over the strips: stripes that mark a broken lane. */
  hatch(y: number, height: number): void;
  /** Over the strips: a plain rectangle. */
  mark(x: number, y: number, width: number, height: number, color: string): void;
  /** Over the strips: a triangle cut into the left (or right) edge of a bar. */
  notch(x: number, y: number, height: number, right: boolean): void;
  /** Over the strips: a dashed vertical edge. */
  dashed(x: number, y: number, height: number, color: string): void;
  /** Over the strips: text at baseline `y`, cut to `room` pixels. */
  label(text: string, x: number, y: number, room: number, ink: string): void;
  end(): void;
}
