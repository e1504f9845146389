import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { px } from "../base/css.ts";

/** A table of many rows: only those in sight are in the page. Columns sort, widths stay. */

export interface GridColumn {
  readonly name: string;
  readonly numeric: boolean;
  text(row: number): string;
  compare(a: number, b: number): number;
}

export interface GridProps {
  readonly columns: readonly GridColumn[];
  readonly rows: number;
  readonly label: string;
  readonly picked: number | null;
  readonly onPick: (row: number) => void;
}

const ROW = 22;
/** Rows beyond those in sight, so that a quick scroll shows no gap. */
const SPARE = 12;
/** Widths are taken from the first rows, in characters. */
const SAMPLE = 200;
const LEAST = 7;
const MOST = 56;

function widths(columns: readonly GridColumn[], rows: number): string {
  return columns.map((column) => {
    let most = column.name.length + 3;
    for (let row = 0; row < Math.min(rows, SAMPLE); row++) {
      most = Math.max(most, column.text(row).length);
    }
    return `calc(${Math.max(LEAST, Math.min(MOST, most))}ch + 24px)`;
  }).join(" ");
}

interface Sort {
  readonly column: number;
  readonly down: boolean;
}

function orderOf(columns: readonly GridColumn[], rows: number, sort: Sort | null): Uint32Array {
  const order = Uint32Array.from({ length: rows }, (_, at) => at);
  const column = sort === null ? undefined : columns[sort.column];
  if (sort === null || column === undefined) return order;
  const way = sort.down ? -1 : 1;
  return order.sort((a, b) => way * column.compare(a, b) || a - b);
}

function Head({ columns, sort, setSort }: {
  columns: readonly GridColumn[]; sort: Sort | null; setSort: (sort: Sort | null) => void;
}) {
  const press = (at: number): void => {
    if (sort?.column !== at) setSort({ column: at, down: columns[at]!.numeric });
    else if (sort.down === columns[at]!.numeric) setSort({ column: at, down: !sort.down });
    else setSort(null);
  };
  return (
    <div class="grid-row grid-head" role="row">
      {columns.map((column, at) => (
        <div key={at} role="columnheader" class={column.numeric ? "num" : ""}
          aria-sort={sort?.column !== at ? "none" : sort.down ? "descending" : "ascending"}>
          <button class="sort" onClick={() => press(at)}>
            {column.name}<i>{sort?.column !== at ? "" : sort.down ? "▾" : "▴"}</i>
          </button>
        </div>
      ))}
    </div>
  );
}

export function Grid({ columns, rows, label, picked, onPick }: GridProps) {
  const box = useRef<HTMLDivElement>(null);
  const [sort, setSort] = useState<Sort | null>(null);
  const [top, setTop] = useState(0);
  const template = useMemo(() => widths(columns, rows), [columns, rows]);
  const order = useMemo(() => orderOf(columns, rows, sort), [columns, rows, sort]);
  const height = box.current?.clientHeight ?? 400;
  useEffect(() => {
    const list = box.current;
    const at = picked === null ? -1 : order.indexOf(picked);
    if (list === null || at < 0) return;
    // The head covers the first row's height.
    const low = at * ROW;
    const high = (at + 2) * ROW - list.clientHeight;
    if (list.scrollTop > low) list.scrollTop = low;
    else if (list.scrollTop < high) list.scrollTop = high;
  }, [picked, order]);
  const first = Math.max(0, Math.floor(top / ROW) - SPARE);
  const last = Math.min(rows, Math.ceil((top + height) / ROW) + SPARE);
  const shown = [];
  for (let at = first; at < last; at++) {
    const row = order[at]!;
    shown.push(
      <div key={row} role="row" class={`grid-row${picked === row ? " on" : ""}`}
        style={{ top: px((at + 1) * ROW) }} onClick={() => onPick(row)}>
        {columns.map((column, to) => (
          <div key={to} role="cell" class={column.numeric ? "num" : ""} title={column.text(row)}>
            {column.text(row)}
          </div>
        ))}
      </div>,
    );
  }
  return (
    <div class="grid" role="table" aria-label={label} aria-rowcount={rows} ref={box} tabIndex={0}
      data-keys onScroll={(event) => setTop(event.currentTarget.scrollTop)}
      style={{ "--columns": template }}>
      <div class="grid-rows" style={{ height: px((rows + 1) * ROW) }}>
        <Head columns={columns} sort={sort} setSort={setSort} />
        {shown}
      </div>
    </div>
  );
}
