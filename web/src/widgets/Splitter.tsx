import { clamp } from "../base/num.ts";

/** The draggable edge of a pane. */

/** A press counts as a drag from this movement on, px. */
export const DRAG_FROM = 2;
/** Along the dragged axis the pane stays put within this distance of the press, px. */
export const DEAD_ZONE = 5;

export interface SplitterProps {
  readonly axis: "x" | "y";
  /** +1 where the pane grows with the coordinate, -1 where it grows against it. */
  readonly way: 1 | -1;
  readonly label: string;
  readonly size: number;
  readonly min: number;
  readonly max: number;
  /** While dragging and by keys. */
  onSize(size: number): void;
  /** The size at release, to be kept. */
  onDone(size: number): void;
}

/** Size of the pane for a drag that went `along` px along its axis and `far` px in all. */
export function draggedSize(
  from: number, along: number, far: number, min: number, max: number,
): number {
  if (far < DRAG_FROM || Math.abs(along) <= DEAD_ZONE) return from;
  return clamp(from + along, min, Math.max(min, max));
}

const KEY_STEP = 16;

export function Splitter(props: SplitterProps) {
  const press = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    event.preventDefault();
    const grip = event.currentTarget as HTMLElement;
    grip.setPointerCapture(event.pointerId);
    const from = props.size;
    let size = from;
    const move = (next: PointerEvent): void => {
      const dx = next.clientX - event.clientX;
      const dy = next.clientY - event.clientY;
      const along = (props.axis === "x" ? dx : dy) * props.way;
      size = draggedSize(from, along, Math.hypot(dx, dy), props.min, props.max);
      props.onSize(size);
    };
    const stop = (): void => {
      grip.removeEventListener("pointermove", move);
      grip.removeEventListener("pointerup", stop);
      grip.removeEventListener("pointercancel", stop);
      if (size !== from) props.onDone(size);
    };
    grip.addEventListener("pointermove", move);
    grip.addEventListener("pointerup", stop);
    grip.addEventListener("pointercancel", stop);
  };
  const key = (event: KeyboardEvent): void => {
    const less = props.axis === "x" ? "ArrowLeft" : "ArrowUp";
    const more = props.axis === "x" ? "ArrowRight" : "ArrowDown";
    if (event.key !== less && event.key !== more) return;
    event.preventDefault();
    const step = (event.key === more ? KEY_STEP : -KEY_STEP) * props.way;
    props.onDone(clamp(props.size + step, props.min, Math.max(props.min, props.max)));
  };
  return (
    <div
      class={`grip grip-${props.axis}`} role="separator" tabIndex={0} data-keys
      aria-label={props.label} aria-orientation={props.axis === "x" ? "vertical" : "horizontal"}
      aria-valuenow={Math.round(props.size)} aria-valuemin={Math.round(props.min)}
      aria-valuemax={Math.round(props.max)}
      onPointerDown={press} onKeyDown={key}
    />
  );
}
