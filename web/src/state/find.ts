import { signal } from "@preact/signals";
import type { SqlResult, SqlValue } from "../wire/sql.ts";
import type { ApiErrorBody } from "../wire/types.ts";

/** The search for slices and instants by name; kept while other tabs are shown. */

export interface FindText {
  readonly text: string;
  readonly word: boolean;
  readonly exact: boolean;
}
/** What the search fields say. Written by views/FindPane. */
export const findText = signal<FindText>({ text: "", word: false, exact: false });

/** Most hits that are listed and stepped through: more are counted, to be narrowed. */
export const FIND_ROWS = 10_000;

export interface FindHits {
  readonly traceId: number;
  readonly rows: number;
  /** Hits in the whole trace; `rows` of them, the earliest, are here. */
  readonly total: number;
  readonly id: readonly number[];
  readonly ts: readonly bigint[];
  readonly dur: readonly bigint[];
  readonly name: readonly string[];
  readonly lane: readonly string[];
  readonly row: readonly number[];
}

export type FindState =
  | { readonly state: "none" }
  | { readonly state: "asking"; readonly ticket: number; readonly traceId: number }
  | { readonly state: "failed"; readonly error: ApiErrorBody }
  | { readonly state: "ready"; readonly hits: FindHits };
export const findState = signal<FindState>({ state: "none" });
/** Hit that was jumped to, -1 before the first. */
export const findAt = signal(-1);

function quoted(text: string): string {
  return `'${text.replace(/'/g, "''")}'`;
}

/** The condition on a name: the text as it stands, `%` and `_` too; a word ends at no letter. */
export function findCondition({ text, word, exact }: FindText): string {
  const want = quoted(text);
  if (word) {
    const edge = "[^\\pL\\pN_]";
    const pattern = `'(^|${edge})' || regexp_escape(${want}) || '(${edge}|$)'`;
    return `regexp_matches(name, ${pattern}, '${exact ? "c" : "i"}')`;
  }
  return exact ? `contains(name, ${want})` : `contains(lower(name), lower(${want}))`;
}

export function findStatement(find: FindText): string {
  return `SELECT id, ts, dur, name, lane_id, line, count(*) OVER () AS total FROM slice`
    + ` WHERE ${findCondition(find)} ORDER BY ts, id LIMIT ${FIND_ROWS}`;
}

export function hitsOf(result: SqlResult, traceId: number): FindHits {
  const column = <Value>(name: string, read: (value: SqlValue) => Value): Value[] => {
    const values = result.columns.find((one) => one.name === name)?.values ?? [];
    return Array.from({ length: result.rows }, (_, at) => read(values[at] ?? null));
  };
  const big = (value: SqlValue): bigint => (value === null ? 0n : BigInt(value));
  return {
    traceId, rows: result.rows, total: column("total", Number)[0] ?? 0,
    id: column("id", Number), ts: column("ts", big), dur: column("dur", big),
    name: column("name", (value) => String(value ?? "")),
    lane: column("lane_id", String), row: column("line", (value) => Number(value ?? 0)),
  };
}

/**
 * The hit to go to: the neighbour of the one shown, around at the ends; before the first step the
 * first at or after `from`, or the last before it.
 */
export function nextHit(hits: FindHits, at: number, way: 1 | -1, from: bigint): number {
  if (hits.rows === 0) return -1;
  if (at >= 0) return (at + way + hits.rows) % hits.rows;
  let first = hits.ts.findIndex((ts) => ts >= from);
  if (first < 0) first = hits.rows;
  return (first + (way > 0 ? 0 : -1) + hits.rows) % hits.rows;
}
