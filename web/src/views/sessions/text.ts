import { formatShare, formatValue } from "../../base/num.ts";
import { formatDuration } from "../../base/time.ts";
import { t } from "../../state/words.ts";
import type { Quality, SessionIdentity, SessionState } from "../../wire/sessions.ts";

/** How values of sessions are told; what has no number is a dash, never 0. */

export const DASH = "—";

export const value = (of: number | null): string => (of === null ? DASH : formatValue(of));
export const share = (of: number | null): string => (of === null ? DASH : formatShare(of));
export const duration = (ns: number | null): string =>
  (ns === null ? DASH : formatDuration(ns, 4));
export const stateText = (state: SessionState): string => t(`session.state.${state}`);
export const qualityText = (quality: Quality): string => t(`session.quality.${quality}`);

/** Custom property of a quality's colour: alike ones look alike, the word says which. */
export function qualityColor(quality: Quality): string {
  switch (quality) {
    case "ok": return "--q-ok";
    case "missing": return "--q-missing";
    case "counter-reset": case "discontinuity": return "--q-break";
    case "not-foreground": case "not-applicable": return "--q-state";
    default: return "--q-none";
  }
}

/** Seconds on a time axis that ends at `until`: `90 s`, `4:30`, `1:02:03`. */
export function clock(seconds: number, until: number): string {
  if (until < 120) return `${Number(seconds.toFixed(3))} s`;
  const two = (part: number): string => String(part).padStart(2, "0");
  const whole = Math.round(seconds);
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}`
    : `${minutes}:${two(whole % 60)}`;
}

/** Start of the recording in the time of this place, to the second. */
export function started(identity: SessionIdentity | null): string {
  const ns = identity?.startClocks?.realtimeNs;
  if (ns === undefined) return DASH;
  const at = new Date(Number(BigInt(ns) / 1_000_000n));
  const two = (part: number): string => String(part).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} `
    + `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}
