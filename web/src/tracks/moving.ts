import { clamp } from "../base/num.ts";
import { RAW_BELOW, alignWindow } from "../state/window.ts";
import type { Aligned, View } from "../state/window.ts";
import type { Answer } from "../wire/answers.ts";

/** What is asked of a view that changes from frame to frame. */

/** Bytes an answer should not exceed while the view moves: what 2 ms of decoding take. */
const MOVING_BYTES = 600_000;
/** Coarsest cells asked for, and coarsest shown before finer ones are asked for, in columns. */
const ASKED_COLUMNS = 6;
const SHOWN_COLUMNS = 12;
/** Width asked for, in views: what lies beside is there before it is seen. */
const ASKED_VIEWS = 2;

/** Raw rows around a moving view that is guessed to hold so many. */
export function movingRows(view: View, buckets: number, events: number): Aligned {
  const views = clamp(RAW_BELOW / Math.max(1, events), 1, ASKED_VIEWS);
  const wide = view.span * views;
  return alignWindow({ start: view.start - (wide - view.span) / 2, span: wide }, buckets);
}

/** The window around a moving view, in cells as coarse as the lanes' density demands. */
export function movingWindow(view: View, buckets: number, bytesPerBucket: number): Aligned {
  const least = Math.max(2, Math.floor(buckets / ASKED_COLUMNS));
  const afford = bytesPerBucket > 0 ? MOVING_BYTES / bytesPerBucket : buckets;
  const cells = Math.floor(clamp(afford / ASKED_VIEWS, least, buckets));
  const wide = view.span * ASKED_VIEWS;
  return alignWindow(
    { start: view.start - (wide - view.span) / 2, span: wide },
    Math.min(cells * ASKED_VIEWS, buckets),
  );
}

/** Whether an answer reaches over the view and its cells are still fine enough. */
export function covers(answer: Answer, view: View, columns: number): boolean {
  if (answer.start > view.start || answer.end < view.start + view.span) return false;
  if (answer.mode === "raw") return true;
  const cell = (answer.end - answer.start) / answer.buckets;
  return cell <= (view.span / columns) * SHOWN_COLUMNS;
}
