import type { Lane } from "../state/lanes.ts";
import type { ChunkKind } from "../state/chunks.ts";
import type { Question } from "../wire/answers.ts";
import { CATEGORIES } from "../wire/types.ts";

/** Builds the URL (or body) of a window question. */

export interface Wanted {
  readonly traceId: number;
  readonly kind: ChunkKind;
  readonly lanes: readonly Lane[];
  readonly start: number;
  readonly end: number;
  readonly buckets: number | null;
  readonly traceEnd: number;
  /** Of the set of lanes, given back with the answer. */
  readonly version: number;
}

/** Longest request line the server must take is 64 KiB; room is left for headers of others. */
const MAX_URL = 60_000;

/** Both members of every pair that the lanes draw. */
function categoriesOf(lanes: readonly Lane[]): string[] {
  const names: readonly string[] = CATEGORIES;
  const out = new Set<string>();
  for (const lane of lanes) {
    const code = names.indexOf(lane.record.category ?? "");
    if (code < 0) continue;
    out.add(names[code]!);
    if (code < 4) out.add(names[code ^ 1]!);
  }
  return [...out];
}

function traceQuestion(wanted: Wanted): { url: string; body: string | null } {
  const path = `api/traces/${wanted.traceId}/trace`;
  const components = [...new Set(wanted.lanes.map((lane) => lane.record.component ?? ""))];
  const categories = categoriesOf(wanted.lanes);
  const extra = wanted.buckets === null ? "" : `&buckets=${wanted.buckets}&extra=minmax`;
  const url = `${path}?start_ns=${wanted.start}&end_ns=${wanted.end}`
    + `&categories=${categories.join(",")}`
    + `&components=${components.map(encodeURIComponent).join(",")}${extra}`;
  if (url.length <= MAX_URL) return { url, body: null };
  const body = {
    start_ns: wanted.start, end_ns: wanted.end, components, categories,
    ...(wanted.buckets === null ? {} : { buckets: wanted.buckets, extra: "minmax" }),
  };
  return { url: path, body: JSON.stringify(body) };
}

function windowUrl(wanted: Wanted): string {
  const tracks = wanted.lanes.map((lane) => lane.dataKey).join(",");
  const buckets = wanted.buckets === null ? "" : `&buckets=${wanted.buckets}`;
  return `api/traces/${wanted.traceId}/window?tracks=${tracks}`
    + `&start_ns=${wanted.start}&end_ns=${wanted.end}${buckets}`;
}

export function makeQuestion(wanted: Wanted): Question {
  const isTrace = wanted.kind === "trace";
  const { url, body } = isTrace ? traceQuestion(wanted) : { url: windowUrl(wanted), body: null };
  const ofKind = (kind: string): string[] =>
    wanted.lanes.filter((lane) => lane.kind === kind).map((lane) => lane.dataKey);
  return {
    url: new URL(url, baseUrl()).href, body, endpoint: isTrace ? "trace" : "window",
    start: wanted.start, end: wanted.end, buckets: wanted.buckets, traceEnd: wanted.traceEnd,
    counters: ofKind("counter"), instants: ofKind("instant"),
  };
}

/** Where the page was loaded from; the worker has another base. */
function baseUrl(): string {
  return typeof document === "undefined" ? "http://localhost/" : document.baseURI;
}
