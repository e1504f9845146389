import { effect } from "@preact/signals";
import { CanvasRenderer } from "../render/canvas2d.ts";
import { browserSurfaces } from "../render/context.ts";
import { Stale, frames } from "../render/frame.ts";
import { readTheme } from "../render/theme.ts";
import type { CanvasTheme } from "../render/theme.ts";
import {
  calmView, canvasSize, cursor, layout, limits, mapBounds, picked, scrollTop, selection,
  settings, timeZero, trace, unchecked, view,
} from "../state/store.ts";
import { reading } from "../state/details.ts";
import { playHead } from "../state/replay.ts";
import { page } from "../state/page.ts";
import type { Feed } from "../tracks/feed.ts";
import { paintLanes } from "../tracks/paintLanes.ts";
import type { Viewport } from "../tracks/paintLanes.ts";
import { Scene } from "../tracks/scene.ts";
import type { View } from "../state/window.ts";
import { paintMinimap } from "./minimap.ts";
import { paintOverlay } from "./overlay.ts";
import { paintRuler } from "./ruler.ts";

/** The canvases of the timeline and the painters that keep them in step with the state. */

export interface StageCanvases {
  /** Minimap, ruler and lanes: one canvas, since each costs a copy in every frame. */
  readonly base: HTMLCanvasElement;
  /** Selection and cursor, over the lanes. */
  readonly overlay: HTMLCanvasElement;
  /** The places of minimap and ruler; they have no pixels of their own. */
  readonly minimap: HTMLElement;
  readonly ruler: HTMLElement;
  /** Lies over all and takes the pointer: an empty overlay is off the screen. */
  readonly glass: HTMLElement;
}

/** Set while a drag selects, so that the overlay shows it before it is committed. */
export interface DragRange {
  start: number;
  end: number;
  zoom: boolean;
}

/** Texts that tell the view change no faster than this, ms. */
const CALM_MS = 150;

export class Stage {
  readonly scene: Scene;
  readonly port: { -readonly [Key in keyof Viewport]: Viewport[Key] };
  drag: DragRange | null = null;
  /** Device pixels of the canvas above the lanes. */
  head = 0;
  private calmTimer = 0;
  private calmedAt = -Infinity;
  private minimapHeight = 0;
  private rulerHeight = 0;
  private theme: CanvasTheme;
  private readonly context: CanvasRenderingContext2D;
  private readonly stops: (() => void)[] = [];

  constructor(readonly canvases: StageCanvases, readonly feed: Feed) {
    this.theme = readTheme(document.documentElement);
    const context = canvases.base.getContext("2d", { alpha: false });
    if (context === null) throw new Error("this browser gives no 2D canvas");
    this.context = context;
    const renderer = new CanvasRenderer(browserSurfaces(canvases.base));
    this.scene = new Scene(renderer, this.theme);
    this.port = {
      layout: layout.peek(), scrollTop: 0, width: 1, height: 1, unchecked: unchecked.peek(),
    };
    this.stops.push(frames.add((stale) => this.paint(stale)));
    this.watch();
  }

  /** Lets the texts follow the view, at once after a rest and else a few times a second. */
  private calm(): void {
    if (this.calmTimer !== 0) return;
    const wait = this.calmedAt + CALM_MS - performance.now();
    this.calmTimer = window.setTimeout(() => {
      this.calmTimer = 0;
      this.calmedAt = performance.now();
      calmView.value = view.peek();
    }, Math.max(0, wait));
  }

  private watch(): void {
    this.stops.push(effect(() => {
      void view.value;
      this.calm();
    }));
    this.stops.push(effect(() => {
      void [view.value, layout.value, scrollTop.value, unchecked.value, canvasSize.value];
      if (page.value !== "timeline") return;
      frames.invalidate(Stale.Full);
      this.askFeed();
    }));
    this.stops.push(effect(() => {
      void [selection.value, cursor.value, picked.value, playHead.value, reading.value];
      frames.invalidate(Stale.Overlay);
    }));
    this.stops.push(effect(() => {
      void settings.value.theme;
      this.themeChanged();
    }));
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const changed = (): void => this.themeChanged();
    dark.addEventListener("change", changed);
    this.stops.push(() => dark.removeEventListener("change", changed));
  }

  private themeChanged(): void {
    // The attribute is set by an effect of the app: read it after that ran.
    queueMicrotask(() => {
      this.theme = readTheme(document.documentElement);
      this.scene.theme = this.theme;
      frames.invalidate(Stale.Full);
    });
  }

  /** The canvas area was measured. */
  resize(width: number, height: number): void {
    const ratio = devicePixelRatio;
    this.minimapHeight = this.canvases.minimap.offsetHeight;
    this.rulerHeight = this.canvases.ruler.offsetHeight;
    const head = this.minimapHeight + this.rulerHeight;
    this.head = Math.round(head * ratio);
    this.scene.renderer.resize(width, height, ratio, head);
    this.canvases.overlay.width = Math.max(1, Math.round(width * ratio));
    this.canvases.overlay.height = Math.max(1, Math.round(height * ratio));
    canvasSize.value = { width, height };
    frames.invalidate(Stale.Full);
  }

  private askFeed(): void {
    const id = trace.peek()?.trace_id;
    if (id === undefined) return;
    this.feed.update({
      traceId: id, view: view.peek(), bounds: limits.peek(), layout: layout.peek(),
      scrollTop: scrollTop.peek(), height: canvasSize.peek().height,
      columns: this.scene.renderer.columns, unchecked: unchecked.peek(),
    });
  }

  /** CSS px in the canvas → relative ns. */
  timeAt(x: number): number {
    const now = view.peek();
    return now.start + (x / canvasSize.peek().width) * now.span;
  }

  get nsPerPx(): number {
    return view.peek().span / canvasSize.peek().width;
  }

  private paint(stale: Stale): void {
    // Not shown, or never measured since the page began elsewhere.
    if (page.peek() !== "timeline" || this.head === 0) return;
    const size = canvasSize.peek();
    const now = view.peek();
    if (stale === Stale.Full) {
      this.port.layout = layout.peek();
      this.port.scrollTop = scrollTop.peek();
      this.port.width = size.width;
      this.port.height = size.height;
      this.port.unchecked = unchecked.peek();
      this.scene.prepare(now.start, now.span);
      this.scene.renderer.begin(this.theme);
      paintLanes(this.scene, this.feed, this.port);
      this.scene.renderer.end();
      this.paintHead(now, size.width);
    }
    paintOverlay(this);
  }

  /** After the lanes, so that it covers what their labels leave above the edge. */
  private paintHead(now: View, width: number): void {
    const { context, theme } = this;
    const ratio = devicePixelRatio;
    const minimap = Math.round(this.minimapHeight * ratio);
    context.setTransform(1, 0, 0, 1, 0, 0);
    paintMinimap(context, this.scene.renderer.columns, minimap, theme, this.feed,
      mapBounds.peek(), now);
    context.setTransform(ratio, 0, 0, ratio, 0, minimap);
    paintRuler(context, width, this.rulerHeight, theme, now, timeZero.peek());
    context.fillStyle = theme.line;
    context.fillRect(0, this.rulerHeight - 1, width, 1);
  }

  get colors(): CanvasTheme {
    return this.theme;
  }

  stop(): void {
    for (const stop of this.stops) stop();
  }
}
