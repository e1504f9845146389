/** The ten colours of every view; a name always has the same one. */
export const PALETTE: readonly string[] = [
  "#4e79a7", "#59a14f", "#f28e2b", "#b07aa1", "#76b7b2",
  "#e15759", "#9c755f", "#edc948", "#5b8ff9", "#8cb369",
];

/** FNV-1a over UTF-16 units: stable over runs and machines. */
export function hashName(name: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at++) {
    hash ^= name.charCodeAt(at);
    hash = Math.imul(hash, 0x01000193);
  }
  return hash >>> 0;
}

/** Index into PALETTE of a name. */
export function colorIndex(name: string): number {
  return hashName(name) % PALETTE.length;
}

/** `#rgb`, `#rrggbb` or `rgb(…)` to 0xRRGGBB. */
export function parseColor(text: string): number {
  const value = text.trim();
  if (value.startsWith("#")) {
    const hex = value.slice(1);
    if (hex.length === 3) {
      return parseInt([...hex].map((digit) => digit + digit).join(""), 16);
    }
    return parseInt(hex.slice(0, 6), 16);
  }
  const parts = /rgba?\(([^)]+)\)/.exec(value)?.[1]?.split(/[ ,/]+/).map(Number) ?? [];
  return ((parts[0] ?? 0) << 16) | ((parts[1] ?? 0) << 8) | (parts[2] ?? 0);
}

/** Perceived brightness, 0..255. */
export function luminance(rgb: number): number {
  return 0.299 * (rgb >> 16) + 0.587 * ((rgb >> 8) & 255) + 0.114 * (rgb & 255);
}

function linear(channel: number): number {
  const share = channel / 255;
  return share <= 0.04045 ? share / 12.92 : Math.pow((share + 0.055) / 1.055, 2.4);
}

function relativeLuminance(rgb: number): number {
  return 0.2126 * linear(rgb >> 16) + 0.7152 * linear((rgb >> 8) & 255)
    + 0.0722 * linear(rgb & 255);
}

/** WCAG contrast of two colours, 1..21. */
export function contrast(a: number, b: number): number {
  const high = Math.max(relativeLuminance(a), relativeLuminance(b));
  const low = Math.min(relativeLuminance(a), relativeLuminance(b));
  return (high + 0.05) / (low + 0.05);
}

const DARK_INK = 0x060c14;

/** The ink that reads better on a bar of this colour. */
export function inkOn(rgb: number): string {
  return contrast(rgb, 0xffffff) >= contrast(rgb, DARK_INK) ? "#ffffff" : "#060c14";
}

/** Mixes `over` at `share` (0..1) onto `under`. */
export function mix(under: number, over: number, share: number): number {
  const one = (shift: number): number => {
    const a = (under >> shift) & 255;
    const b = (over >> shift) & 255;
    return Math.round(a + (b - a) * share) << shift;
  };
  return one(16) | one(8) | one(0);
}

/** 0xRRGGBB to the little-endian RGBA word of an ImageData, opaque. */
export function toPixel(rgb: number): number {
  return (0xff000000 | ((rgb & 255) << 16) | (rgb & 0xff00) | (rgb >> 16)) >>> 0;
}
