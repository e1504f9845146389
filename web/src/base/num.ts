/** Thin, non-breaking space between groups of three digits. */
export const THIN = "\u202f";

export function clamp(value: number, low: number, high: number): number {
  return value < low ? low : value > high ? high : value;
}

/** Groups the digits of a non-negative decimal integer text from the right. */
function groupRight(digits: string): string {
  let out = "";
  for (let end = digits.length; end > 0; end -= 3) {
    const part = digits.slice(Math.max(0, end - 3), end);
    out = out === "" ? part : part + THIN + out;
  }
  return out;
}

/** Groups the digits after a decimal point from the left. */
function groupLeft(digits: string): string {
  const parts: string[] = [];
  for (let at = 0; at < digits.length; at += 3) parts.push(digits.slice(at, at + 3));
  return parts.join(THIN);
}

/** Any decimal text (sign, fraction) with thin spaces on both sides of the point. */
export function groupDigits(text: string): string {
  const match = /^([-+]?)(\d+)(?:\.(\d+))?(e[-+]?\d+)?$/i.exec(text);
  if (match === null) return text;
  const sign = match[1] === "-" ? "\u2212" : (match[1] ?? "");
  const fraction = match[3] === undefined ? "" : "." + groupLeft(match[3]);
  return sign + groupRight(match[2]!) + fraction + (match[4] ?? "");
}

/** A whole number for people: `1 004 112` with thin spaces. */
export function formatCount(value: number): string {
  return groupDigits(String(Math.round(value)));
}

/** A measured value: at most `digits` significant digits, grouped. */
export function formatValue(value: number, digits = 6): string {
  if (!Number.isFinite(value)) return String(value);
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return groupDigits(String(value));
  const text = String(Number(value.toPrecision(digits)));
  return groupDigits(text);
}

/** A value in few characters, for a place that has no room: `1.07 G`. */
export function formatShort(value: number): string {
  const size = Math.abs(value);
  const steps: readonly (readonly [number, string])[] = [
    [1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e4, "k"],
  ];
  for (const [step, letter] of steps) {
    const unit = step === 1e4 ? 1e3 : step;
    if (size >= step) return `${Number((value / unit).toPrecision(3))} ${letter}`;
  }
  return formatValue(value, 3);
}

/** A share in percent, never showing 0 or 100 for what is not exactly that. */
export function formatShare(share: number): string {
  if (share <= 0) return "0 %";
  if (share >= 1) return "100 %";
  const percent = share * 100;
  if (percent < 0.1) return "< 0.1 %";
  if (percent > 99.9) return "> 99.9 %";
  return `${percent < 10 ? percent.toFixed(1) : Math.min(99, Math.round(percent))} %`;
}

/** Bytes in binary units. */
export function formatBytes(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let at = 0;
  let value = bytes;
  while (value >= 1024 && at < units.length - 1) {
    value /= 1024;
    at++;
  }
  return `${at === 0 ? value : value.toFixed(1)} ${units[at]}`;
}
