import { useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { compareTexts } from "../base/collate.ts";

/** A table with sortable columns; rows beyond `limit` are counted, not drawn. */

export interface Column<Row> {
  readonly key: string;
  readonly title: string;
  readonly left?: boolean;
  /** Value to sort by. */
  sort(row: Row): number | string;
  cell(row: Row): ComponentChildren;
}

export interface TableProps<Row> {
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly first: string;
  readonly limit?: number;
  readonly id: (row: Row) => string;
  readonly onPick?: (row: Row) => void;
  readonly picked?: string | null;
}

export function compareCells(a: number | string, b: number | string): number {
  if (typeof a === "number" && typeof b === "number") {
    if (Number.isNaN(a)) return Number.isNaN(b) ? 0 : 1;
    return Number.isNaN(b) ? -1 : a - b;
  }
  return compareTexts(String(a), String(b));
}

export function Table<Row>(props: TableProps<Row>) {
  const [by, setBy] = useState(props.first);
  const [down, setDown] = useState(true);
  const column = props.columns.find((one) => one.key === by) ?? props.columns[0]!;
  const sorted = [...props.rows].sort((a, b) => {
    const order = compareCells(column.sort(a), column.sort(b));
    return down ? -order : order;
  });
  const limit = props.limit ?? 500;
  const head = (one: Column<Row>) => (
    <th
      key={one.key} class={one.left ? "left" : ""}
      aria-sort={one.key === column.key ? (down ? "descending" : "ascending") : "none"}
    >
      <button
        class="sort" onClick={() => {
          setDown(one.key === by ? !down : !one.left);
          setBy(one.key);
        }}
      >
        {one.title}<i>{one.key === column.key ? (down ? "▾" : "▴") : ""}</i>
      </button>
    </th>
  );
  return (
    <table>
      <thead><tr>{props.columns.map(head)}</tr></thead>
      <tbody>
        {sorted.slice(0, limit).map((row) => (
          <tr
            key={props.id(row)} class={props.picked === props.id(row) ? "on" : ""}
            onClick={() => props.onPick?.(row)}
          >
            {props.columns.map((one) => (
              <td key={one.key} class={one.left ? "left" : ""}>{one.cell(row)}</td>
            ))}
          </tr>
        ))}
        {sorted.length > limit && (
          <tr><td class="left more" colSpan={props.columns.length}>+ {sorted.length - limit}</td></tr>
        )}
      </tbody>
    </table>
  );
}
