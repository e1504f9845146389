/** Answers of `POST /api/query`, as the worker hands them over. */

export type SqlValue = string | number | bigint | boolean | null;
export type SqlKind = "integer" | "real" | "text" | "other";

export interface SqlColumn {
  readonly name: string;
  readonly kind: SqlKind;
  readonly values: readonly SqlValue[];
}

export interface SqlResult {
  readonly columns: readonly SqlColumn[];
  readonly rows: number;
  /** The answer had more rows than a grid takes: the rest was not read. */
  readonly more: boolean;
}

/** Most rows of a grid; the CSV has all of them. */
export const GRID_ROWS = 20_000;

/** Where in a statement an error lies: its `position` counts bytes, people count lines. */
export function placeOf(sql: string, position: number): { line: number; column: number } {
  const before = new TextDecoder().decode(new TextEncoder().encode(sql).subarray(0, position));
  const lines = before.split("\n");
  return { line: lines.length, column: [...(lines.at(-1) ?? "")].length + 1 };
}

/** A value as a cell shows it. */
export function cellText(value: SqlValue): string {
  return value === null ? "" : String(value);
}
