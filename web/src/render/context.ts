/** The canvases of a page as the renderer sees them. */

/** What the renderer needs of a 2D context; the unit tests pass a recording one. */
export type Context2D = Pick<CanvasRenderingContext2D,
  | "fillStyle" | "strokeStyle" | "lineWidth" | "font" | "imageSmoothingEnabled"
  | "fillRect" | "fillText" | "measureText" | "drawImage" | "putImageData"
  | "setTransform" | "beginPath" | "moveTo" | "lineTo" | "stroke" | "fill" | "closePath"
  | "setLineDash" | "createPattern">;

export interface Surface {
  readonly canvas: HTMLCanvasElement | OffscreenCanvas;
  readonly context: Context2D;
}

export interface Surfaces {
  /** All that is seen of the lanes; the head above them is drawn by others. */
  readonly base: Surface;
  /** Off screen: the lines of one frame, of canvases too large to be filled pixel by pixel. */
  readonly lines: Surface;
  makeImage(width: number, height: number): ImageData;
  /** A tile of slanting stripes in this colour. */
  makeHatch(color: string): CanvasImageSource;
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

/** The surfaces of a real page. */
export function browserSurfaces(base: HTMLCanvasElement): Surfaces {
  const lines = document.createElement("canvas");
  const linesContext = lines.getContext("2d", { alpha: false, willReadFrequently: true });
  const context = base.getContext("2d", { alpha: false });
  if (context === null || linesContext === null) throw new Error("this browser gives no 2D canvas");
  return {
    base: { canvas: base, context },
    lines: { canvas: lines, context: linesContext },
    makeImage: (width, height) => new ImageData(width, height),
    makeHatch: drawHatch,
  };
}
