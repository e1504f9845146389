import { Stale, frames } from "../render/frame.ts";
import { pan, panSteps, scrollBy, select, showRange, zoom } from "../state/actions.ts";
import { canvasSize, cursor, selection, settings, view } from "../state/store.ts";
import { ZOOM_STEP } from "../state/window.ts";
import type { Stage } from "./stage.ts";

/** Mouse, pen and wheel on the lanes. */

/** Movement before a press counts as a drag, CSS px. */
const DRAG_FROM = 2;
/** Wheel travel of one zoom step. */
const WHEEL_STEP = 40;
/** Pixels of one wheel line. */
const WHEEL_LINE = 20;

type Kind = "none" | "select" | "zoom" | "pan" | "edge";

interface Press {
  kind: Kind;
  x: number;
  y: number;
  lastX: number;
  lastY: number;
  moved: boolean;
  startTime: number;
}

export interface GestureEvents {
  hover(x: number, y: number): void;
  leave(): void;
  click(x: number, y: number): void;
}

/** Selection edge within reach of the pointer: the time of the other edge, or null. */
const EDGE_REACH = 5;

export class Gestures {
  private press: Press = {
    kind: "none", x: 0, y: 0, lastX: 0, lastY: 0, moved: false, startTime: 0,
  };

  constructor(private readonly stage: Stage, private readonly events: GestureEvents) {
    const glass = stage.canvases.glass;
    glass.addEventListener("pointerdown", (event) => this.down(event));
    glass.addEventListener("pointermove", (event) => this.move(event));
    glass.addEventListener("pointerup", (event) => this.up(event));
    glass.addEventListener("pointercancel", () => this.cancel());
    glass.addEventListener("pointerleave", () => {
      if (this.press.kind === "none") this.leave();
    });
    glass.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    glass.addEventListener("auxclick", (event) => event.preventDefault());
  }

  private kindOf(event: PointerEvent): Kind {
    if (event.button === 1) return "pan";
    if (event.button !== 0) return "none";
    if (event.altKey) return "zoom";
    if (event.ctrlKey || event.metaKey) return "pan";
    if (settings.peek().wheelZooms) return event.shiftKey ? "select" : "pan";
    return this.edgeAt(event.offsetX) === null ? "select" : "edge";
  }

  /** The fixed edge when the pointer is on the other one. */
  private edgeAt(x: number): number | null {
    const range = selection.peek();
    if (range === null) return null;
    const now = view.peek();
    const unit = canvasSize.peek().width / now.span;
    if (Math.abs((range.start - now.start) * unit - x) <= EDGE_REACH) return range.end;
    if (Math.abs((range.end - now.start) * unit - x) <= EDGE_REACH) return range.start;
    return null;
  }

  private down(event: PointerEvent): void {
    const kind = this.kindOf(event);
    if (kind === "none") return;
    event.preventDefault();
    const glass = this.stage.canvases.glass;
    glass.focus({ preventScroll: true });
    glass.setPointerCapture(event.pointerId);
    const fixed = kind === "edge" ? this.edgeAt(event.offsetX) : null;
    this.press = {
      kind, x: event.offsetX, y: event.offsetY, lastX: event.offsetX, lastY: event.offsetY,
      moved: false, startTime: fixed ?? this.stage.timeAt(event.offsetX),
    };
  }

  private move(event: PointerEvent): void {
    const { press, stage } = this;
    const { offsetX, offsetY } = event;
    cursor.value = stage.timeAt(offsetX);
    if (press.kind === "none") {
      const edge = this.edgeAt(offsetX) !== null && !settings.peek().wheelZooms;
      stage.canvases.glass.style.cursor = edge ? "ew-resize" : "";
      this.events.hover(offsetX, offsetY);
      return;
    }
    if (!press.moved) {
      const far = Math.hypot(offsetX - press.x, offsetY - press.y);
      if (far < DRAG_FROM) return;
      press.moved = true;
      this.events.leave();
      stage.canvases.glass.style.cursor = press.kind === "pan" ? "grabbing" : "col-resize";
    }
    if (press.kind === "pan") {
      pan((press.lastX - offsetX) / canvasSize.peek().width);
      scrollBy(press.lastY - offsetY);
      press.lastX = offsetX;
      press.lastY = offsetY;
      return;
    }
    stage.drag = {
      start: press.startTime, end: stage.timeAt(offsetX), zoom: press.kind === "zoom",
    };
    frames.invalidate(Stale.Overlay);
  }

  private up(event: PointerEvent): void {
    const { press, stage } = this;
    const drag = stage.drag;
    this.finish();
    if (press.kind === "none") return;
    if (!press.moved) {
      if (event.button === 0) this.events.click(event.offsetX, event.offsetY);
    } else if (drag !== null) {
      const start = Math.min(drag.start, drag.end);
      const end = Math.max(drag.start, drag.end);
      if (drag.zoom) showRange(start, end);
      else select(start, end);
    }
  }

  private cancel(): void {
    this.finish();
  }

  private finish(): void {
    this.press = { ...this.press, kind: "none" };
    this.stage.drag = null;
    this.stage.canvases.glass.style.cursor = "";
    frames.invalidate(Stale.Overlay);
  }

  private leave(): void {
    cursor.value = null;
    this.events.leave();
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const line = event.deltaMode === 1 ? WHEEL_LINE : event.deltaMode === 2 ? 400 : 1;
    const dx = event.deltaX * line;
    const dy = event.deltaY * line;
    const zooms = event.ctrlKey || event.metaKey
      || (settings.peek().wheelZooms && !event.shiftKey && !event.altKey);
    const share = event.offsetX / canvasSize.peek().width;
    if (zooms && dy !== 0) {
      const steps = Math.max(-6, Math.min(6, dy / WHEEL_STEP));
      zoom(Math.pow(ZOOM_STEP, -steps), share);
    } else if (event.shiftKey || Math.abs(dx) > Math.abs(dy)) {
      const way = Math.abs(dx) > Math.abs(dy) ? dx : dy;
      panSteps(way / WHEEL_STEP);
    } else scrollBy(dy);
    cursor.value = this.stage.timeAt(event.offsetX);
    this.events.leave();
  }
}
