import { formatTick, niceStep, unitFor } from "../base/time.ts";
import type { TimeUnit } from "../base/time.ts";
import type { CanvasTheme } from "../render/theme.ts";
import type { View } from "../state/window.ts";

/** Least distance of two labelled ticks, CSS px. */
const TICK_ROOM = 112;
/** Small ticks between two labelled ones. */
const MINOR = 5;

/** Labels of the step in use by tick, so that panning builds only those that come in. */
const labels = new Map<number, string>();
let labelStep = 0;
let labelUnit = "";
const MOST_LABELS = 1000;

function label(tick: number, ns: number, step: number, unit: TimeUnit): string {
  if (step !== labelStep || unit.name !== labelUnit || labels.size > MOST_LABELS) labels.clear();
  labelStep = step;
  labelUnit = unit.name;
  let text = labels.get(tick);
  if (text === undefined) labels.set(tick, (text = formatTick(ns, step, unit)));
  return text;
}

/**
 * Paints into the context from where its origin is; all in CSS pixels. `zero` is the relative
 * time that is labelled 0.
 */
export function paintRuler(
  context: CanvasRenderingContext2D, width: number, height: number, theme: CanvasTheme,
  view: View, zero: number,
): void {
  context.fillStyle = theme.bg2;
  context.fillRect(0, 0, width, height);
  const step = niceStep((view.span * TICK_ROOM) / width);
  const from = view.start - zero;
  const unit = unitFor(Math.max(Math.abs(from), Math.abs(from + view.span), step));
  context.font = `10.5px ${theme.mono}`;
  const minor = step / MINOR;
  const first = Math.floor(from / minor);
  const last = Math.ceil((from + view.span) / minor);
  for (let at = first; at <= last; at++) {
    const ns = at * minor;
    const x = Math.round(((ns - from) / view.span) * width);
    const major = at % MINOR === 0;
    context.fillStyle = major ? theme.ink3 : theme.line;
    context.fillRect(x, major ? height - 8 : height - 4, 1, major ? 8 : 4);
    if (!major || x < 0) continue;
    context.fillStyle = theme.ink2;
    context.fillText(label(at, ns, step, unit), x + 4, height - 5);
  }
}
