import { computed, signal } from "@preact/signals";
import { trace } from "./store.ts";

/** Where a replay stands, and the traces on the timeline that belong to results. */

export interface Replay {
  readonly result: number;
  /** ns of the trace's own time. */
  readonly at: number;
}

/** Written by the topology picture; null while it shows the whole run. */
export const replay = signal<Replay | null>(null);

/** Opened traces by result; written by app/session. */
export const tracesOfResults = signal<ReadonlyMap<number, number>>(new Map());

/** The play head on the timeline: of the result whose trace is on screen. */
export const playHead = computed<number | null>(() => {
  const now = replay.value;
  const open = trace.value;
  if (now === null || open === null || open.state !== "ready") return null;
  return tracesOfResults.value.get(now.result) === open.trace_id ? now.at : null;
});
