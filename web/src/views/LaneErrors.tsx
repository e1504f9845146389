import { px } from "../base/css.ts";
import { layout, answersVersion, canvasSize, scrollTop } from "../state/store.ts";
import { t } from "../state/words.ts";
import type { Feed, Slot } from "../tracks/feed.ts";

/** Failures where they happened: on the lanes of the chunk, with a retry. */

interface Place {
  readonly slot: Slot;
  readonly top: number;
}

function places(feed: Feed): Place[] {
  const shown = layout.value;
  const from = scrollTop.value;
  const { height } = canvasSize.value;
  const out = new Map<Slot, number>();
  for (let at = 0; at < shown.lanes.length; at++) {
    const slot = feed.slotOf(shown.lanes[at]!);
    if (slot === undefined || slot.error === null || out.has(slot)) continue;
    if (shown.top[at + 1]! <= from || shown.top[at]! >= from + height) continue;
    out.set(slot, Math.max(0, shown.top[at]! - from));
  }
  return [...out].map(([slot, top]) => ({ slot, top }));
}

export function LaneErrors({ feed }: { feed: Feed }) {
  void answersVersion.value;
  return (
    <>
      {places(feed).map(({ slot, top }) => (
        <div class="lane-error" role="alert" key={slot.chunk.id} style={{ top: px(top + 2) }}>
          <span>{t("state.laneError", { message: slot.error?.message ?? "" })}</span>
          <button class="btn" onClick={() => feed.retry(slot)}>{t("state.retry")}</button>
        </div>
      ))}
    </>
  );
}
