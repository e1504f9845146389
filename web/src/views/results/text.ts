import { formatValue } from "../../base/num.ts";
import { formatDuration } from "../../base/time.ts";
import { formatSize, parseLink, parseReason } from "../../state/results.ts";
import { t } from "../../state/words.ts";
import type { ResultRow } from "../../wire/evaluation.ts";
import type { ApiErrorBody } from "../../wire/types.ts";

/** How values of results are told; a value that a result has not is a dash. */

export const DASH = "—";

export const duration = (ns: number | null): string => (ns === null ? DASH : formatDuration(ns, 4));
export const size = (bytes: number | null): string => (bytes === null ? DASH : formatSize(bytes));
export const bandwidth = (gb: number | null): string =>
  (gb === null ? DASH : `${Number(gb.toPrecision(4))} GB/s`);
export const count = (value: number | null): string => (value === null ? DASH : formatValue(value));
export const ratio = (value: number | null): string =>
  (value === null ? DASH : `${value.toFixed(2)}×`);

/** `auto → ring` where the program chose. */
export function algorithmOf(row: ResultRow): string {
  const { algorithm, algorithm_used: used } = row;
  if (algorithm === null) return used ?? DASH;
  return used !== null && used !== algorithm ? `${algorithm} → ${used}` : algorithm;
}

/** UTC of the store in the time of this place, to the second. */
export function localTime(utc: string): string {
  const at = new Date(utc);
  if (Number.isNaN(at.getTime())) return utc;
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} `
    + `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** `link_c0_sw0_req` as `c0 → sw0 req`. */
export function linkTitle(name: string): string {
  const link = parseLink(name);
  return link === null ? name : `${link.from} → ${link.to} ${link.channel}`;
}

/** Why a chip is the slowest, in the page's language where the words are the simulator's. */
export function reasonText(text: string): string {
  const reason = parseReason(text);
  if (reason === null) return text;
  return t(`result.reason.${reason.kind}`, {
    link: linkTitle(reason.link), time: duration(reason.ns), median: duration(reason.median),
  });
}

export function titleOf(row: ResultRow): string {
  return [row.primitive, algorithmOf(row), row.topology_name, size(row.msg_size_bytes)]
    .filter((part) => part !== null && part !== DASH).join(" · ");
}

/** A failed call in words; the one of a server without a store has its way on. */
export function errorText(error: ApiErrorBody): string {
  if (error.code === "no_store") return t("results.noStoreNote");
  if (error.code === "network") return `${t("state.unreachable")}. ${t("state.unreachableNote")}`;
  return error.message;
}
