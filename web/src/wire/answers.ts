import type { TextBytes } from "./columns.ts";
import type { SqlResult } from "./sql.ts";
import type { Anomaly, ApiErrorBody } from "./types.ts";

/** What the decoding worker hands over: typed arrays ready to be painted. */

/** Flags of a bar. */
export const UNCLOSED = 1;
export const LEFT_TRUNCATED = 2;
export const RIGHT_TRUNCATED = 4;

/** Bars of one row, sorted by start, none overlapping another. */
export interface RawRow {
  readonly start: Float64Array;
  readonly end: Float64Array;
  /** Index into `names` of the answer. */
  readonly name: Uint32Array;
  readonly color: Uint8Array;
  readonly flags: Uint8Array;
  /** Slice id (window) or row of the answer that opened it (trace; NONE if before the window). */
  readonly id: Uint32Array;
}

/** One row by bucket. */
export interface CellRow {
  readonly busy: Float32Array;
  /** What of it is painted: 0 (nothing) to DEPTHS, made once so that a frame only looks up. */
  readonly depth: Uint8Array;
  readonly count: Uint32Array;
  readonly longest: Uint32Array;
  readonly name: Uint32Array;
  readonly color: Uint8Array;
}

export type LaneData =
  | { readonly form: "bars"; readonly rows: readonly RawRow[]; readonly events: number }
  | { readonly form: "cells"; readonly rows: readonly CellRow[]; readonly events: number }
  | {
    readonly form: "points"; readonly time: Float64Array; readonly value: Float64Array;
    /** Slice id or row of the answer. */
    readonly id: Uint32Array; readonly name: Uint32Array; readonly events: number;
  }
  | {
    readonly form: "steps"; readonly last: Float32Array; readonly min: Float32Array;
    readonly max: Float32Array; readonly count: Uint32Array;
    readonly low: number; readonly high: number; readonly events: number;
  }
  | { readonly form: "density"; readonly count: Uint32Array; readonly events: number };

export const NONE = 0xffffffff;

export interface Answer {
  readonly mode: "raw" | "aggregated";
  readonly start: number;
  readonly end: number;
  readonly buckets: number;
  /** Rows of a raw answer, sum of event_count of an aggregated one. */
  readonly events: number;
  readonly names: readonly string[];
  readonly categories: readonly string[];
  /** By lane key: track id as text, or `component\0category` of the opener. */
  readonly lanes: ReadonlyMap<string, LaneData>;
  readonly anomalies: readonly Anomaly[];
  readonly details: TextBytes | null;
  /** Values of a raw event answer by row, for hovering. */
  readonly values: Float64Array | null;
}

export function eventKey(component: string, category: string): string {
  return `${component}\0${category}`;
}

/** One window question; `buckets` absent = raw. */
export interface Question {
  readonly url: string;
  readonly endpoint: "window" | "trace";
  readonly start: number;
  readonly end: number;
  readonly buckets: number | null;
  /** JSON of a POST for selections that do not fit a URL, else null. */
  readonly body: string | null;
  /** End of the trace: open slices are drawn to it. */
  readonly traceEnd: number;
  /** Tracks (as text) of counters and of instants among those asked for. */
  readonly counters?: readonly string[];
  readonly instants?: readonly string[];
}

export type WorkerRequest =
  | { readonly type: "ask"; readonly ticket: number; readonly question: Question }
  | { readonly type: "query"; readonly ticket: number; readonly url: string; readonly sql: string }
  | { readonly type: "drop"; readonly ticket: number };

export type WorkerReply =
  | { readonly type: "rows"; readonly ticket: number; readonly result: SqlResult }
  | { readonly type: "answer"; readonly ticket: number; readonly answer: Answer;
      readonly bytes: number; readonly ms: number }
  | { readonly type: "error"; readonly ticket: number; readonly status: number;
      readonly error: ApiErrorBody };
