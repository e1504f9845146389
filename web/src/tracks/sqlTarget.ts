import type { SqlResult, SqlValue } from "../wire/sql.ts";

/** Which slice a row of an answer names, and the statement that finds the rest of it. */

export interface RowKeys {
  readonly id: bigint | null;
  readonly ts: bigint | null;
  readonly track: bigint | null;
  readonly lane: bigint | null;
}

function whole(value: SqlValue | undefined): bigint | null {
  if (typeof value === "bigint") return value;
  return typeof value === "number" && Number.isSafeInteger(value) ? BigInt(value) : null;
}

export function keysOf(result: SqlResult, row: number): RowKeys {
  const get = (name: string): bigint | null => {
    const column = result.columns.find((one) => one.name.toLowerCase() === name);
    return column?.kind === "integer" ? whole(column.values[row]) : null;
  };
  const ts = get("ts");
  const track = get("track_id");
  const lane = get("lane_id");
  // `id` is a slice's only beside what a slice has: every table has one.
  const id = get("slice_id") ?? (ts !== null && (track ?? lane) !== null ? get("id") : null);
  return { id, ts, track, lane };
}

const COLUMNS = "id, ts, dur, name, lane_id, line";

/** The statement that finds the slice, or null where the row names none. */
export function lookupOf(keys: RowKeys): string | null {
  const { id, ts, track, lane } = keys;
  if (id !== null) {
    const same = ts === null ? "" : ` AND ts = ${ts}`;
    return `SELECT ${COLUMNS} FROM slice WHERE id = ${id}${same}`;
  }
  const where = track !== null ? `track_id = ${track}` : lane !== null ? `lane_id = ${lane}` : null;
  if (ts === null || where === null) return null;
  return `SELECT ${COLUMNS} FROM slice WHERE ${where} AND ts <= ${ts} ORDER BY ts DESC, depth DESC`
    + " LIMIT 1";
}

export interface Found {
  readonly id: number;
  readonly ts: bigint;
  readonly dur: bigint;
  readonly name: string;
  readonly lane: string;
  readonly row: number;
}

/** The first row of the answer of `lookupOf`. */
export function foundIn(result: SqlResult): Found | null {
  if (result.rows === 0) return null;
  const value = (name: string): SqlValue =>
    result.columns.find((one) => one.name === name)?.values[0] ?? null;
  const ts = whole(value("ts"));
  const lane = whole(value("lane_id"));
  if (ts === null || lane === null) return null;
  return {
    id: Number(value("id")), ts, dur: whole(value("dur")) ?? 0n, name: String(value("name") ?? ""),
    lane: String(lane), row: Number(value("line") ?? 0),
  };
}
