import { signal } from "@preact/signals";
import type { Experiment, ResultList } from "../wire/evaluation.ts";
import type { ApiErrorBody } from "../wire/types.ts";

/** The atoms of the results page, and its link. */

export type SortField = "created_at" | "total_latency_ns" | "msg_size_bytes" | "bus_bw_gb_per_s";
export const SORT_FIELDS: readonly SortField[] = [
  "created_at", "total_latency_ns", "msg_size_bytes", "bus_bw_gb_per_s",
];

export const PRIMITIVES = ["allreduce", "allgather", "reducescatter", "alltoall", "p2p"] as const;
export const ALGORITHMS = [
  "auto", "ring", "halving_doubling", "recursive_doubling", "tree", "double_binary_tree", "bruck",
  "direct", "pairwise",
] as const;

/** What the picture shows beside the table. */
export type Picture = "latency" | "bandwidth" | "compare";
export const PICTURES: readonly Picture[] = ["latency", "bandwidth", "compare"];

/** Columns that the curves may have a line each of. */
export type GroupBy = "topology_name" | "algorithm_used" | "experiment_id" | "dtype";
export const GROUPS: readonly GroupBy[] = [
  "topology_name", "algorithm_used", "experiment_id", "dtype",
];

export interface ResultsLink {
  readonly experiment: number | null;
  readonly primitive: string;
  readonly algorithm: string;
  /** Part of a topology's name; `*` for anything. */
  readonly topology: string;
  readonly sizeMin: number | null;
  readonly sizeMax: number | null;
  readonly sortBy: SortField;
  readonly ascending: boolean;
  readonly page: number;
  /** The result whose details are shown. */
  readonly result: number | null;
  readonly picture: Picture;
  readonly group: GroupBy;
}

export const NO_LINK: ResultsLink = {
  experiment: null, primitive: "", algorithm: "", topology: "", sizeMin: null, sizeMax: null,
  sortBy: "created_at", ascending: false, page: 1, result: null, picture: "latency",
  group: "topology_name",
};

function whole(text: string | null): number | null {
  if (text === null || !/^\d{1,15}$/.test(text)) return null;
  return Number(text);
}

function oneOf<T extends string>(allowed: readonly T[], text: string | null, otherwise: T): T {
  return allowed.find((one) => one === text) ?? otherwise;
}

export function readResultsLink(hash: string): ResultsLink {
  const from = new URLSearchParams(hash.replace(/^#/, ""));
  return {
    experiment: whole(from.get("experiment")), primitive: from.get("primitive") ?? "",
    algorithm: from.get("algorithm") ?? "", topology: from.get("topology") ?? "",
    sizeMin: whole(from.get("min")), sizeMax: whole(from.get("max")),
    sortBy: oneOf(SORT_FIELDS, from.get("sort"), NO_LINK.sortBy),
    ascending: from.get("order") === "asc", page: Math.max(1, whole(from.get("page")) ?? 1),
    result: whole(from.get("result")), picture: oneOf(PICTURES, from.get("show"), NO_LINK.picture),
    group: oneOf(GROUPS, from.get("group"), NO_LINK.group),
  };
}

export function writeResultsLink(link: ResultsLink): string {
  const out = new URLSearchParams();
  const set = (name: string, value: string | number | null, otherwise: unknown): void => {
    if (value !== null && value !== otherwise) out.set(name, String(value));
  };
  set("experiment", link.experiment, null);
  set("primitive", link.primitive, "");
  set("algorithm", link.algorithm, "");
  set("topology", link.topology, "");
  set("min", link.sizeMin, null);
  set("max", link.sizeMax, null);
  set("sort", link.sortBy, NO_LINK.sortBy);
  set("order", link.ascending ? "asc" : "desc", "desc");
  set("page", link.page, 1);
  set("show", link.picture, NO_LINK.picture);
  set("group", link.group, NO_LINK.group);
  set("result", link.result, null);
  const rest = out.toString();
  return rest === "" ? "#results" : `#results&${rest}`;
}

/** `ring` finds every name with it; `%`, `_` and `\` are characters, `*` is anything. */
export function topologyPattern(text: string): string {
  const plain = text.trim().replace(/[\\%_]/g, (one) => `\\${one}`);
  return plain.includes("*") ? plain.replaceAll("*", "%") : `%${plain}%`;
}

/** The filters as the list and the comparison take them. */
export function filterQuery(link: ResultsLink): URLSearchParams {
  const out = new URLSearchParams();
  if (link.experiment !== null) out.set("experiment_id", String(link.experiment));
  if (link.primitive !== "") out.set("primitive", link.primitive);
  if (link.algorithm !== "") out.set("algorithm", link.algorithm);
  if (link.topology.trim() !== "") out.set("topology_name", topologyPattern(link.topology));
  if (link.sizeMin !== null) out.set("msg_size_min", String(link.sizeMin));
  if (link.sizeMax !== null) out.set("msg_size_max", String(link.sizeMax));
  return out;
}

export const PAGE_SIZE = 50;

export function listQuery(link: ResultsLink): URLSearchParams {
  const out = filterQuery(link);
  out.set("sort_by", link.sortBy);
  out.set("sort_order", link.ascending ? "asc" : "desc");
  out.set("page", String(link.page));
  out.set("page_size", String(PAGE_SIZE));
  return out;
}

/** Filters, order, page and the shown result; written through `changeLink` and by the browser. */
export const resultsLink = signal<ResultsLink>(NO_LINK);
/** The rows on screen, the old ones until new ones are in; written by the results page. */
export const results = signal<ResultList | null>(null);
export const resultsError = signal<ApiErrorBody | null>(null);
export const resultsBusy = signal(false);
export const experiments = signal<readonly Experiment[]>([]);
/** Ids of rows with a checked box, over all pages of the list. */
export const checkedResults = signal<ReadonlySet<number>>(new Set());
/** Counts up when results were made or removed: lists and curves are asked for anew. */
export const resultsVersion = signal(0);

/** A size as people write it: `64 KiB`, `1M`, `4096`; binary units. Null where it is none. */
export function parseSize(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?$/i.exec(text.trim());
  if (match === null) return null;
  const power = " kmgt".indexOf((match[2] ?? "").toLowerCase());
  const bytes = Number(match[1]) * 1024 ** (match[2] === "" ? 0 : power);
  return Number.isSafeInteger(bytes) ? bytes : null;
}

/** Bytes as a message size: whole binary units where it is one. */
export function formatSize(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let at = 0;
  let value = bytes;
  while (value >= 1024 && value % 1024 === 0 && at < units.length - 1) {
    value /= 1024;
    at++;
  }
  if (value < 100_000) return `${value} ${units[at]}`;
  while (value >= 1024 && at < units.length - 1) {
    value /= 1024;
    at++;
  }
  return `${value.toFixed(2)} ${units[at]}`;
}

export type ReasonKind = "starts" | "waits" | "window" | "reduces" | "copies" | "link";

export interface Reason {
  readonly kind: ReasonKind;
  readonly link: string;
  readonly ns: number;
  readonly median: number;
}

const REASONS: readonly (readonly [string, ReasonKind])[] = [
  ["starts", "starts"], ["waits for transfer credits and fences", "waits"],
  ["has its outstanding window full", "window"], ["reduces", "reduces"],
  ["copies on chip", "copies"], ["is busy on its link ", "link"],
];

/** The simulator's sentence about a straggler in parts; null where it is another's. */
export function parseReason(text: string): Reason | null {
  const match = /^(.+) (?:at|for) ([\d.e+-]+) ns; median chip ([\d.e+-]+)$/.exec(text);
  if (match === null) return null;
  const what = match[1]!;
  const kind = REASONS.find(([words, key]) =>
    (key === "link" ? what.startsWith(words) : what === words));
  if (kind === undefined) return null;
  const link = kind[1] === "link" ? what.slice(kind[0].length) : "";
  return { kind: kind[1], link, ns: Number(match[2]), median: Number(match[3]) };
}

/** `link_c0_sw0_req` → from, to and channel; null where the name has another form. */
export function parseLink(name: string): { from: string; to: string; channel: string } | null {
  const match = /^link_([^_]+)_([^_]+)_(req|rsp)$/.exec(name);
  return match === null ? null : { from: match[1]!, to: match[2]!, channel: match[3]! };
}
