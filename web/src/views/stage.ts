import { effect } from "@preact/signals";
import { CanvasRenderer, browserSurfaces } from "../render/canvas2d.ts";
import { Stale, frames } from "../render/frame.ts";
import { readTheme } from "../render/theme.ts";
import type { CanvasTheme } from "../render/theme.ts";
import {
  bounds, canvasSize, cursor, layout, picked, scrollTop, selection, settings, timeZero, trace,
  unchecked, view,
} from "../state/store.ts";
import type { Feed } from "../tracks/feed.ts";
import { paintLanes } from "../tracks/paintLanes.ts";
import type { Viewport } from "../tracks/paintLanes.ts";
import { Scene } from "../tracks/scene.ts";
import { paintMinimap } from "./minimap.ts";
import { paintOverlay } from "./overlay.ts";
import { paintRuler } from "./ruler.ts";

/** The canvases of the timeline and the painters that keep them in step with the state. */

export interface StageCanvases {
  readonly base: HTMLCanvasElement;
  readonly over: HTMLCanvasElement;
  readonly overlay: HTMLCanvasElement;
  readonly ruler: HTMLCanvasElement;
  readonly minimap: HTMLCanvasElement;
  /** Lies over all and takes the pointer: canvases that are empty are off the screen. */
  readonly glass: HTMLElement;
}

/** Set while a drag selects, so that the overlay shows it before it is committed. */
export interface DragRange {
  start: number;
  end: number;
  zoom: boolean;
}

export class Stage {
  readonly scene: Scene;
  readonly port: { -readonly [Key in keyof Viewport]: Viewport[Key] };
  drag: DragRange | null = null;
  private theme: CanvasTheme;
  private readonly stops: (() => void)[] = [];

  constructor(readonly canvases: StageCanvases, readonly feed: Feed) {
    this.theme = readTheme(document.documentElement);
    const renderer = new CanvasRenderer(browserSurfaces(canvases.base, canvases.over));
    this.scene = new Scene(renderer, this.theme);
    this.port = {
      layout: layout.peek(), scrollTop: 0, width: 1, height: 1, unchecked: unchecked.peek(),
    };
    this.stops.push(frames.add((stale) => this.paint(stale)));
    this.watch();
  }

  private watch(): void {
    this.stops.push(effect(() => {
      void [view.value, layout.value, scrollTop.value, unchecked.value, canvasSize.value];
      frames.invalidate(Stale.Full);
      this.askFeed();
    }));
    this.stops.push(effect(() => {
      void [selection.value, cursor.value, picked.value];
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
    const rulerHeight = this.canvases.ruler.clientHeight;
    const minimapHeight = this.canvases.minimap.clientHeight;
    const fit = (canvas: HTMLCanvasElement, high: number): void => {
      canvas.width = Math.max(1, Math.round(width * ratio));
      canvas.height = Math.max(1, Math.round(high * ratio));
    };
    this.scene.renderer.resize(width, height, ratio);
    fit(this.canvases.overlay, height);
    fit(this.canvases.ruler, rulerHeight);
    fit(this.canvases.minimap, minimapHeight);
    canvasSize.value = { width, height };
    frames.invalidate(Stale.Full);
  }

  private askFeed(): void {
    const id = trace.peek()?.trace_id;
    if (id === undefined) return;
    this.feed.update({
      traceId: id, view: view.peek(), bounds: bounds.peek(), layout: layout.peek(),
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
      paintRuler(this.canvases.ruler, this.theme, now, timeZero.peek());
      paintMinimap(this.canvases.minimap, this.theme, this.feed, bounds.peek(), now);
    }
    paintOverlay(this);
  }

  get colors(): CanvasTheme {
    return this.theme;
  }

  stop(): void {
    for (const stop of this.stops) stop();
  }
}
