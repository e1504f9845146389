import type { Range } from "./store.ts";
import type { View } from "./window.ts";

/** The view in the link. Version 1; a link of a later version is read as far as it is known. */

export interface LinkState {
  readonly trace: number | null;
  readonly view: View | null;
  readonly folded: readonly string[];
  readonly unchecked: readonly string[];
  readonly selection: Range | null;
  /** Lane key, slice id and time of the clicked slice. */
  readonly picked: { readonly lane: string; readonly id: number; readonly at: number } | null;
  readonly tab: string | null;
}

const VERSION = "1";

/** `,` and `~` separate, so they are escaped inside keys. */
function pack(keys: readonly string[]): string {
  return keys.map((key) => key.replace(/[%,]/g, (one) => (one === "%" ? "%25" : "%2C"))).join(",");
}

function unpack(text: string): string[] {
  if (text === "") return [];
  return text.split(",").map((key) => key.replace(/%2C/g, ",").replace(/%25/g, "%"));
}

function numbers(text: string | null, count: number): number[] | null {
  if (text === null) return null;
  const parts = text.split("~").map(Number);
  return parts.length === count && parts.every(Number.isFinite) ? parts : null;
}

export function writeLink(state: LinkState): string {
  const out = new URLSearchParams();
  out.set("v", VERSION);
  if (state.trace !== null) out.set("trace", String(state.trace));
  if (state.view !== null) out.set("w", `${state.view.start}~${state.view.span}`);
  if (state.folded.length > 0) out.set("f", pack([...state.folded].sort()));
  if (state.unchecked.length > 0) out.set("u", pack([...state.unchecked].sort()));
  if (state.selection !== null) out.set("s", `${state.selection.start}~${state.selection.end}`);
  if (state.picked !== null) {
    out.set("p", `${state.picked.id}~${state.picked.at}`);
    out.set("l", state.picked.lane);
  }
  if (state.tab !== null) out.set("tab", state.tab);
  return `#${out.toString()}`;
}

export function readLink(hash: string): LinkState {
  const from = new URLSearchParams(hash.replace(/^#/, ""));
  const id = Number(from.get("trace") ?? NaN);
  const view = numbers(from.get("w"), 2);
  const range = numbers(from.get("s"), 2);
  const at = numbers(from.get("p"), 2);
  const lane = from.get("l");
  return {
    trace: Number.isInteger(id) && id >= 0 ? id : null,
    view: view !== null && view[1]! > 0 ? { start: view[0]!, span: view[1]! } : null,
    folded: unpack(from.get("f") ?? ""),
    unchecked: unpack(from.get("u") ?? ""),
    selection: range !== null && range[1]! > range[0]!
      ? { start: range[0]!, end: range[1]! } : null,
    picked: at !== null && lane !== null ? { lane, id: at[0]!, at: at[1]! } : null,
    tab: from.get("tab"),
  };
}
