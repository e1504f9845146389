import {
  changeSettings, fitRange, pan, panSteps, resetView, scrollBy, showRange, undoView, zoom,
} from "../state/actions.ts";
import {
  cursor, laneFilter, panel, picked, selection, settings, view,
} from "../state/store.ts";
import { page } from "../state/page.ts";
import { ZOOM_STEP } from "../state/window.ts";
import { openFind } from "./FindPane.tsx";

/** The keyboard. One table: the help panel is checked against it. */

const SCROLL = 20;

/** Share of the width where keyboard zoom holds the time still: the cursor, else the middle. */
function anchor(): number {
  const now = view.peek();
  const at = cursor.peek();
  const share = at === null ? 0.5 : (at - now.start) / now.span;
  return share >= 0 && share <= 1 ? share : 0.5;
}

function fit(): void {
  const target = picked.peek() ?? selection.peek();
  if (target !== null) fitRange(target.start, target.end);
  else resetView();
}

function rangeOfSlice(): void {
  const slice = picked.peek();
  if (slice === null || slice.end <= slice.start) return;
  const same = selection.peek();
  const already = same !== null && same.start === slice.start && same.end === slice.end;
  selection.value = already ? null : { start: slice.start, end: slice.end };
}

function escape(): void {
  if (panel.peek() !== "none") panel.value = "none";
  else if (page.peek() !== "timeline") return;
  else if (selection.peek() !== null) selection.value = null;
  else picked.value = null;
}

export const KEYS: Readonly<Record<string, () => void>> = {
  w: () => zoom(ZOOM_STEP * ZOOM_STEP, anchor()),
  s: () => zoom(1 / (ZOOM_STEP * ZOOM_STEP), anchor()),
  a: () => panSteps(-1),
  d: () => panSteps(1),
  ArrowLeft: () => panSteps(-1),
  ArrowRight: () => panSteps(1),
  ArrowUp: () => scrollBy(-SCROLL),
  ArrowDown: () => scrollBy(SCROLL),
  PageUp: () => pan(-0.8),
  PageDown: () => pan(0.8),
  Home: () => scrollBy(-1e9),
  End: () => scrollBy(1e9),
  Backspace: undoView,
  "Ctrl+0": resetView,
  "Ctrl+f": openFind,
  "Shift+Z": () => {
    const range = selection.peek();
    if (range !== null) showRange(range.start, range.end);
  },
  f: fit,
  m: rangeOfSlice,
  q: () => changeSettings({ paneOpen: !settings.peek().paneOpen }),
  "?": () => (panel.value = panel.peek() === "help" ? "none" : "help"),
  Escape: escape,
};

/** Name of a pressed key in KEYS. */
export function keyName(event: KeyboardEvent): string {
  if (event.ctrlKey || event.metaKey) return `Ctrl+${event.key.toLowerCase()}`;
  if (event.altKey) return `Alt+${event.key}`;
  if (event.key.length !== 1) return event.key;
  if (event.shiftKey && /[a-z]/i.test(event.key)) return `Shift+${event.key.toUpperCase()}`;
  return event.key.toLowerCase();
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.tagName === "TEXTAREA" || target.tagName === "SELECT") {
    return true;
  }
  return target instanceof HTMLInputElement && target.type !== "checkbox";
}

/** Keys that every page has; the rest are the timeline's. */
const EVERYWHERE: ReadonlySet<string> = new Set(["?", "Escape"]);

/** Keys that a focused control uses itself. */
const CONTROL_KEYS = new Set(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"]);

export function listenKeys(target: Window, focusFilter: () => void): () => void {
  const down = (event: KeyboardEvent): void => {
    const name = keyName(event);
    if (isTyping(event.target)) {
      if (name === "Ctrl+f" && page.peek() === "timeline") {
        event.preventDefault();
        openFind();
      }
      if (name !== "Escape") return;
      (event.target as HTMLElement).blur();
      laneFilter.value = "";
      return;
    }
    if (page.peek() !== "timeline" && !EVERYWHERE.has(name)) return;
    if (name === "/") {
      event.preventDefault();
      focusFilter();
      return;
    }
    const control = event.target instanceof HTMLElement && event.target.closest("[data-keys]");
    if (control && CONTROL_KEYS.has(name)) return;
    const action = KEYS[name];
    if (action === undefined) return;
    event.preventDefault();
    action();
  };
  target.addEventListener("keydown", down);
  return () => target.removeEventListener("keydown", down);
}
