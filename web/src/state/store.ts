import { computed, signal } from "@preact/signals";
import type { ApiErrorBody, Clocks, TraceInfo } from "../wire/types.ts";
import { makeChunks } from "./chunks.ts";
import { EMPTY_TREE, layOut } from "./lanes.ts";
import type { LaneTree } from "./lanes.ts";
import { clampView } from "./window.ts";
import type { Bounds, Mode, View } from "./window.ts";

/** The atoms of the page. Each has one owner that writes it, named here. */

/** What is open, as the server last told; written by app/session. */
export const trace = signal<TraceInfo | null>(null);
/** Failure to reach the server or to open, shown in place of the lanes. */
export const pageError = signal<ApiErrorBody | null>(null);
/** How the files of the open trace came onto one timeline; written by app/session. */
export const clocks = signal<Clocks | null>(null);
/** Lanes of the open trace; written by app/session. */
export const tree = signal<LaneTree>(EMPTY_TREE);
/** Populated range, relative ns: the first window, and what a reset shows. */
export const bounds = signal<Bounds>({ start: 0, end: 1 });
/** All there is, relative ns: how far zoom and pan reach. Holds `bounds`. */
export const limits = signal<Bounds>({ start: 0, end: 1 });
/**
 * Relative time that the page calls 0. Event traces, and files whose times begin near 0, tell
 * their own time; elsewhere the origin is a round number nobody knows, so the start is 0.
 */
export const timeZero = computed(() => {
  const origin = trace.value?.bounds?.origin_ns ?? "0";
  return origin === "0" ? 0 : bounds.value.start;
});
/** Visible window; written through state/actions alone. */
export const view = signal<View>({ start: 0, span: 1 });
/** What the overview spans: all there is once the window leaves the populated range. */
export const mapBounds = computed<Bounds>(() => {
  const home = bounds.value;
  const { start, span } = view.value;
  const inside = clampView({ start, span }, home);
  return inside.start === start && inside.span === span ? home : limits.value;
});
/**
 * The window as texts show it: follows `view` a few times a second, since a text that changes
 * in every frame cannot be read and makes the browser lay out the page anew. Written by the stage.
 */
export const calmView = signal<View>({ start: 0, span: 1 });
/** First visible content pixel of the lanes. */
export const scrollTop = signal(0);
/** Keys of folded groups. */
export const folded = signal<ReadonlySet<string>>(new Set());
/** Keys of lanes whose box is not checked: they are neither asked for nor drawn. */
export const unchecked = signal<ReadonlySet<string>>(new Set());
/** Id of the trace whose notice of far times was put away. */
export const farSeen = signal(-1);
/** Text that lanes must contain. */
export const laneFilter = signal("");

export interface Range {
  readonly start: number;
  readonly end: number;
}
/** Selected range, relative ns. */
export const selection = signal<Range | null>(null);

export interface Picked {
  /** Key of the lane. */
  readonly lane: string;
  /** Slice id, or null for an event record or a bucket. */
  readonly id: number | null;
  readonly start: number;
  readonly end: number;
  readonly row: number;
  readonly name: string;
  /** Facts known without asking: label key and text. */
  readonly facts: readonly (readonly [string, string])[];
  readonly detailJson: string | null;
}
/** The clicked slice, event or bucket. */
export const picked = signal<Picked | null>(null);
/** Time under the pointer, or null outside the canvas. */
export const cursor = signal<number | null>(null);

/** Mode of the questions; written by the feed. */
export const mode = signal<Mode>("aggregated");

export interface Status {
  readonly events: number;
  readonly columns: number;
  readonly ms: number;
  readonly busy: boolean;
}
/** What the last answers held; written by the feed. */
export const status = signal<Status>({ events: 0, columns: 0, ms: 0, busy: false });

export type Tab = "detail" | "list" | "find" | "sql" | "losses";
export const tab = signal<Tab>("detail");
export type Panel = "none" | "help" | "settings" | "open" | "clocks" | "sweep";
export const panel = signal<Panel>("none");

/** Settings kept in this browser. */
export interface Settings {
  readonly wheelZooms: boolean;
  readonly dense: boolean;
  readonly theme: "system" | "light" | "dark";
  readonly language: "system" | "en" | "zh";
  /** Width of the lane tree, px. */
  readonly treeWidth: number;
  /** Height of the data pane as a share of the window. */
  readonly paneShare: number;
  readonly paneOpen: boolean;
  /** Width of the list and height of the details of the results page, as shares. */
  readonly listShare: number;
  readonly detailShare: number;
}
export const DEFAULT_SETTINGS: Settings = {
  wheelZooms: false, dense: false, theme: "system", language: "system",
  treeWidth: 268, paneShare: 0.26, paneOpen: true,
  listShare: 0.54, detailShare: 0.5,
};
export const settings = signal<Settings>(DEFAULT_SETTINGS);

export const layout = computed(() =>
  layOut(tree.value, folded.value, laneFilter.value, settings.value.dense));
export const chunks = computed(() => makeChunks(tree.value));
/** Height of the canvas area, written by the canvas view when it is measured. */
export const canvasSize = signal({ width: 800, height: 400 });
/** Counts up when answers changed what the tree says about lanes. */
export const answersVersion = signal(0);
