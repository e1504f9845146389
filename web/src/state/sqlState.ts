import { signal } from "@preact/signals";
import type { SqlResult } from "../wire/sql.ts";
import type { ApiErrorBody } from "../wire/types.ts";

/** The statement and its answer; kept while other tabs are shown. Written by views/SqlPane. */

export const sqlText = signal(
  "SELECT name, count(*) AS n, sum(dur) AS total_ns, max(dur) AS max_ns\n"
  + "FROM slice GROUP BY name ORDER BY total_ns DESC LIMIT 100");

export type SqlState =
  | { readonly state: "none" }
  | { readonly state: "asking"; readonly ticket: number }
  | { readonly state: "failed"; readonly error: ApiErrorBody; readonly sql: string }
  | {
    readonly state: "ready"; readonly result: SqlResult; readonly ms: number;
    readonly sql: string; readonly traceId: number;
  };
export const sqlState = signal<SqlState>({ state: "none" });
