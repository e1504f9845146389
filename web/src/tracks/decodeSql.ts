import { DataType, RecordBatchReader } from "apache-arrow";
import type { RecordBatch } from "apache-arrow";
import { GRID_ROWS } from "../wire/sql.ts";
import type { SqlKind, SqlResult, SqlValue } from "../wire/sql.ts";

/** Reads the first rows of an Arrow stream that a statement gave. */

function kindOf(type: DataType): SqlKind {
  const inner = DataType.isDictionary(type) ? (type.dictionary as DataType) : type;
  if (DataType.isInt(inner)) return "integer";
  if (DataType.isFloat(inner)) return "real";
  return DataType.isUtf8(inner) || DataType.isLargeUtf8(inner) ? "text" : "other";
}

function plain(value: unknown): SqlValue {
  if (value === null || value === undefined) return null;
  if (typeof value === "bigint" || typeof value === "number" || typeof value === "string"
    || typeof value === "boolean") return value;
  return value instanceof Uint8Array ? `${value.length} B` : String(value);
}

interface Filling {
  readonly name: string;
  readonly kind: SqlKind;
  readonly values: SqlValue[];
}

function take(batch: RecordBatch, columns: Filling[], most: number): number {
  const rows = Math.min(batch.numRows, most);
  columns.forEach((column, at) => {
    const vector = batch.getChildAt(at);
    for (let row = 0; row < rows; row++) column.values.push(plain(vector?.get(row)));
  });
  return rows;
}

export async function readRows(response: Response): Promise<SqlResult> {
  const reader = await RecordBatchReader.from(response);
  await reader.open();
  const columns: Filling[] = reader.schema.fields.map((field) =>
    ({ name: field.name, kind: kindOf(field.type as DataType), values: [] }));
  let rows = 0;
  for await (const batch of reader as AsyncIterable<RecordBatch>) {
    const left = GRID_ROWS - rows;
    rows += take(batch, columns, left);
    if (batch.numRows > left) return { columns, rows, more: true };
  }
  return { columns, rows, more: false };
}
