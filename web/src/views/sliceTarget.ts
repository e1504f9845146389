import { limits, trace } from "../state/store.ts";
import type { Found } from "../tracks/sqlTarget.ts";
import { jumpTo } from "./jump.ts";

/** Goes to a row of the SQL table `slice`; false, and nothing changed, where its lane is absent. */
export function jumpToFound(found: Found): boolean {
  const info = trace.peek();
  const start = Number(found.ts - BigInt(info?.bounds?.origin_ns ?? "0"));
  const slices = info?.counts?.["slice"] ?? 0;
  const length = found.dur < 0n ? Math.max(0, limits.peek().end - start) : Number(found.dur);
  // Instants follow the slices in the table; on their lane they count from 0.
  const id = found.id >= slices ? found.id - slices : found.id;
  return jumpTo({
    lane: `t${found.lane}`, id, start, end: start + length, row: found.row, name: found.name,
  });
}
