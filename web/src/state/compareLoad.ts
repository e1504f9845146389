import { batch, computed, effect, signal } from "@preact/signals";
import { evaluation } from "../wire/evaluation.ts";
import type { Comparison } from "../wire/evaluation.ts";
import type { ApiErrorBody } from "../wire/types.ts";
import { checkedResults, filterQuery, resultsLink, resultsVersion } from "./results.ts";
import { errorBody, isAborted } from "./resultsLoad.ts";

/** The matrix behind curves and comparison: the list's filters, or the checked rows alone. */

export type Measure = "total_latency_ns" | "bus_bw_gb_per_s";

/** The measure of the comparison; the curves have their own. */
export const compareMeasure = signal<Measure>("total_latency_ns");

export const measure = computed<Measure>(() => {
  const { picture } = resultsLink.value;
  if (picture === "latency") return "total_latency_ns";
  return picture === "bandwidth" ? "bus_bw_gb_per_s" : compareMeasure.value;
});

export interface Compared extends Comparison {
  readonly measure: Measure;
}

export const comparison = signal<Compared | null>(null);
export const comparisonError = signal<ApiErrorBody | null>(null);

const compareKey = computed(() => {
  const link = resultsLink.value;
  const out = filterQuery(link);
  out.set("group_by", link.group);
  out.set("x", "msg_size_bytes");
  out.set("y", measure.value);
  for (const id of checkedResults.value) out.append("result_id", String(id));
  return out.toString();
});

/** Only places with a size above 0 and a value above 0 stand on logarithmic axes. */
export function drawable(from: Comparison): Comparison {
  const keep = from.x.map((size, at) => ({ size, at })).filter(({ size }) => size > 0);
  const pick = <T>(row: readonly T[]): T[] => keep.map(({ at }) => row[at]!);
  const y = from.y.map((row) =>
    pick(row).map((value) => (value !== null && value > 0 ? value : null)));
  return { ...from, x: keep.map(({ size }) => size), y, ids: from.ids.map(pick) };
}

export function followComparison(): () => void {
  let asked = new AbortController();
  const stop = effect(() => {
    const query = new URLSearchParams(compareKey.value);
    void resultsVersion.value;
    asked.abort();
    const mine = asked = new AbortController();
    evaluation.compare(query, mine.signal).then((got) => {
      batch(() => {
        comparison.value = { ...drawable(got), measure: query.get("y") as Measure };
        comparisonError.value = null;
      });
    }).catch((problem: unknown) => {
      if (!isAborted(problem)) comparisonError.value = errorBody(problem);
    });
  });
  return () => {
    stop();
    asked.abort();
  };
}
