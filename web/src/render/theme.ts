import { PALETTE, inkOn, mix, parseColor, toPixel } from "../base/color.ts";

/** Steps of depth between background and colour. */
export const DEPTHS = 64;
/** Colour index of broken lanes, after those of PALETTE. */
export const BAD_COLOR = PALETTE.length;

/** The CSS custom properties that canvases need, as they are now. */
export interface CanvasTheme {
  readonly bg: string;
  readonly bg2: string;
  readonly bg3: string;
  readonly line: string;
  readonly ink: string;
  readonly ink2: string;
  readonly ink3: string;
  readonly acc: string;
  readonly bad: string;
  readonly warn: string;
  readonly sel: string;
  readonly font: string;
  readonly mono: string;
  /** Background as a pixel. */
  readonly bgPixel: number;
  /** By colour index and depth (0..DEPTHS): the colour at that share over the background. */
  readonly depths: readonly Uint32Array[];
  /** By colour index: ink for labels. */
  readonly inks: readonly string[];
}

function ramp(under: number, over: number): Uint32Array {
  const out = new Uint32Array(DEPTHS + 1);
  for (let at = 0; at <= DEPTHS; at++) out[at] = toPixel(mix(under, over, at / DEPTHS));
  return out;
}

export function readTheme(root: Element): CanvasTheme {
  const style = getComputedStyle(root);
  const get = (name: string): string => style.getPropertyValue(name).trim();
  const bg = parseColor(get("--bg"));
  const colors = [...PALETTE.map(parseColor), parseColor(get("--bad"))];
  return {
    bg: get("--bg"), bg2: get("--bg2"), bg3: get("--bg3"), line: get("--line"),
    ink: get("--ink"), ink2: get("--ink2"), ink3: get("--ink3"), acc: get("--acc"),
    bad: get("--bad"), warn: get("--warn"), sel: get("--sel"),
    font: get("--sans"), mono: get("--mono"),
    bgPixel: toPixel(bg),
    depths: colors.map((color) => ramp(bg, color)),
    inks: colors.map(inkOn),
  };
}
