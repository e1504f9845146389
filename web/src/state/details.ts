import { effect, signal } from "@preact/signals";
import { api } from "../wire/api.ts";
import { ApiError } from "../wire/types.ts";
import type { SliceDetails } from "../wire/types.ts";
import { picked, trace, tree } from "./store.ts";

/** What the server says about the picked slice: the data pane and the arrows show it. */

export type Reading =
  | { readonly state: "none" | "reading" }
  | { readonly state: "failed"; readonly message: string }
  | { readonly state: "ready"; readonly details: SliceDetails };

/** Written by `followPicked`. */
export const reading = signal<Reading>({ state: "none" });

/** Track and id of the picked slice where the server knows more of it, else null. */
function wanted(): { trace: number; track: string; id: number } | null {
  const slice = picked.value;
  const open = trace.value?.trace_id;
  if (slice === null || slice.id === null || open === undefined) return null;
  const lane = tree.value.lanes.find((one) => one.key === slice.lane);
  if (lane === undefined || lane.isEvent || lane.dataKey === "") return null;
  return { trace: open, track: lane.dataKey, id: slice.id };
}

/** Asks whenever another slice is picked. Returns the way to stop. */
export function followPicked(): () => void {
  let abort = new AbortController();
  let asked = "";
  return effect(() => {
    const want = wanted();
    const key = want === null ? "" : `${want.trace}/${want.track}/${want.id}`;
    if (key === asked) return;
    asked = key;
    abort.abort();
    if (want === null) {
      reading.value = { state: "none" };
      return;
    }
    const mine = abort = new AbortController();
    reading.value = { state: "reading" };
    api.slice(want.trace, want.track, want.id, mine.signal)
      .then((details) => {
        if (!mine.signal.aborted) reading.value = { state: "ready", details };
      })
      .catch((error: unknown) => {
        if (mine.signal.aborted) return;
        const message = error instanceof ApiError ? error.body.message : String(error);
        reading.value = { state: "failed", message };
      });
  });
}
