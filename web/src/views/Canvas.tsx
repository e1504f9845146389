import { effect } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { px } from "../base/css.ts";
import { scrollTo, showRange } from "../state/actions.ts";
import { laneAt } from "../state/lanes.ts";
import {
  answersVersion, canvasSize, layout, mapBounds, pageError, panel, picked, scrollTop, settings, tab,
  view,
} from "../state/store.ts";
import { t } from "../state/words.ts";
import { NONE } from "../wire/answers.ts";
import type { Feed } from "../tracks/feed.ts";
import { detailOf, factsOf } from "../tracks/facts.ts";
import type { Fact } from "../tracks/facts.ts";
import { hitTest } from "../tracks/hit.ts";
import type { Hit } from "../tracks/hit.ts";
import { changeSettings } from "../state/actions.ts";
import { Gestures } from "./gestures.ts";
import { LaneErrors } from "./LaneErrors.tsx";
import { Stage } from "./stage.ts";

/** The canvas area: ruler, minimap, lanes, tooltip, scroll bar. */

interface Tip {
  readonly x: number;
  readonly y: number;
  readonly name: string;
  readonly lane: string;
  readonly facts: readonly Fact[];
  readonly detail: string | null;
}

const TIP_WIDTH = 340;
const TIP_GAP = 14;
const DETAIL_CHARS = 220;

function hitAt(stage: Stage, x: number, y: number): Hit | null {
  return hitTest(stage.feed, stage.port, y, stage.timeAt(x), stage.nsPerPx);
}

function tipOf(stage: Stage, x: number, y: number): Tip | null {
  const hit = hitAt(stage, x, y);
  if (hit === null || hit.lane.kind === "group") return null;
  const facts = factsOf(stage.feed, hit);
  if (facts.length === 0) return null;
  return {
    x, y, facts, lane: hit.lane.title, detail: detailOf(hit),
    name: hit.form === "bars" && hit.name !== "" ? hit.name : hit.lane.title,
  };
}

function pick(stage: Stage, x: number, y: number): void {
  const hit = hitAt(stage, x, y);
  if (hit === null || hit.form === "none") {
    picked.value = null;
    return;
  }
  const facts = factsOf(stage.feed, hit);
  picked.value = {
    lane: hit.lane.key, id: hit.id === NONE ? null : hit.id, start: hit.start, end: hit.end,
    row: hit.row, name: hit.name === "" ? hit.lane.title : hit.name, facts,
    detailJson: detailOf(hit),
  };
  tab.value = "detail";
  if (!settings.peek().paneOpen) changeSettings({ paneOpen: true });
}

function Tooltip({ tip }: { tip: Tip }) {
  const { width, height } = canvasSize.value;
  const left = tip.x + TIP_GAP + TIP_WIDTH > width ? undefined : tip.x + TIP_GAP;
  const right = left === undefined ? width - tip.x + TIP_GAP : undefined;
  const low = tip.y > height * 0.6;
  return (
    <div class="tip" role="tooltip" style={{
      left: px(left), right: px(right), maxWidth: px(TIP_WIDTH),
      top: px(low ? undefined : tip.y + TIP_GAP),
      bottom: px(low ? height - tip.y + TIP_GAP : undefined),
    }}>
      <strong>{tip.name}</strong>
      {tip.name !== tip.lane && <em>{tip.lane}</em>}
      <dl>
        {tip.facts.map(([label, text]) => (
          <><dt>{label}</dt><dd>{text}</dd></>
        ))}
      </dl>
      {tip.detail !== null && <code>{tip.detail.slice(0, DETAIL_CHARS)}</code>}
    </div>
  );
}

function ScrollBar() {
  const { height } = canvasSize.value;
  const total = layout.value.height;
  if (total <= height) return null;
  const size = Math.max(24, (height * height) / total);
  const unit = (height - size) / (total - height);
  const press = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    const thumb = event.currentTarget as HTMLElement;
    thumb.setPointerCapture(event.pointerId);
    const from = scrollTop.peek();
    const move = (next: PointerEvent): void =>
      scrollTo(from + (next.clientY - event.clientY) / unit);
    const stop = (): void => thumb.removeEventListener("pointermove", move);
    thumb.addEventListener("pointermove", move);
    thumb.addEventListener("pointerup", stop, { once: true });
    thumb.addEventListener("pointercancel", stop, { once: true });
  };
  return (
    <div class="scrollbar" aria-hidden="true">
      <div class="thumb" style={{ height: px(size), transform: `translateY(${scrollTop.value * unit}px)` }}
        onPointerDown={press} />
    </div>
  );
}

/** Pressing or dragging on the minimap centres the view there; Alt frames a range. */
function minimapPress(event: PointerEvent): void {
  if (event.button !== 0) return;
  const canvas = event.currentTarget as HTMLElement;
  canvas.setPointerCapture(event.pointerId);
  // Held: the overview may change its range while the window moves.
  const all = mapBounds.peek();
  const go = (next: PointerEvent): void => {
    const share = next.offsetX / Math.max(1, canvas.clientWidth);
    const middle = all.start + share * (all.end - all.start);
    const { span } = view.peek();
    showRange(middle - span / 2, middle + span / 2);
  };
  go(event);
  const stop = (): void => canvas.removeEventListener("pointermove", go);
  canvas.addEventListener("pointermove", go);
  canvas.addEventListener("pointerup", stop, { once: true });
  canvas.addEventListener("pointercancel", stop, { once: true });
}

export function CanvasArea({ feed, onStage }: { feed: Feed; onStage?: (stage: Stage) => void }) {
  const box = useRef<HTMLDivElement>(null);
  const base = useRef<HTMLCanvasElement>(null);
  const overlay = useRef<HTMLCanvasElement>(null);
  const glass = useRef<HTMLDivElement>(null);
  const ruler = useRef<HTMLDivElement>(null);
  const minimap = useRef<HTMLDivElement>(null);
  const [tip, setTip] = useState<Tip | null>(null);
  useEffect(() => {
    const stage = new Stage({
      base: base.current!, overlay: overlay.current!,
      ruler: ruler.current!, minimap: minimap.current!, glass: glass.current!,
    }, feed);
    let at: readonly [number, number] | null = null;
    // What lies under a resting pointer changes when answers come in.
    const stopTip = effect(() => {
      void answersVersion.value;
      if (at !== null) setTip(tipOf(stage, at[0], at[1]));
    });
    new Gestures(stage, {
      hover: (x, y) => {
        at = [x, y];
        setTip(tipOf(stage, x, y));
      },
      leave: () => {
        at = null;
        setTip(null);
      },
      click: (x, y) => pick(stage, x, y),
    });
    const measure = (): void => {
      // Another page is shown: the size that counts is the one to come back to.
      if (box.current!.clientWidth === 0) return;
      stage.resize(box.current!.clientWidth, box.current!.clientHeight);
      scrollTo(scrollTop.peek());
    };
    const observer = new ResizeObserver(measure);
    observer.observe(box.current!);
    measure();
    onStage?.(stage);
    return () => {
      observer.disconnect();
      stopTip();
      stage.stop();
    };
  }, [feed]);
  return (
    <div class="stage">
      <canvas class="base" ref={base} aria-hidden="true" />
      <div class="minimap" ref={minimap} role="img" aria-label={t("canvas.minimap")}
        onPointerDown={minimapPress} />
      <div class="ruler" ref={ruler} aria-hidden="true" />
      <div class="canvases" ref={box}>
        <canvas ref={overlay} aria-hidden="true" />
        <div class="glass" ref={glass} tabIndex={0} role="application"
          aria-label={t("canvas.label")} />
        <LaneErrors feed={feed} />
        <ScrollBar />
        {tip !== null && panel.value === "none" && pageError.value === null
          && <Tooltip tip={tip} />}
      </div>
    </div>
  );
}

/** Scrolls so that the lane is on screen. */
export function revealLane(key: string): void {
  const shown = layout.peek();
  const at = shown.lanes.findIndex((lane) => lane.key === key);
  if (at < 0) return;
  const top = shown.top[at]!;
  const { height } = canvasSize.peek();
  if (laneAt(shown, scrollTop.peek()) > at || top > scrollTop.peek() + height - 40) {
    scrollTo(top - height / 3);
  }
}
