import { formatCount, formatShare, formatValue } from "../base/num.ts";
import { formatDuration, formatTime } from "../base/time.ts";
import { timeZero } from "../state/store.ts";
import { t } from "../state/words.ts";
import { LEFT_TRUNCATED, NONE, RIGHT_TRUNCATED, UNCLOSED } from "../wire/answers.ts";
import { textAt } from "../wire/columns.ts";
import type { Feed } from "./feed.ts";
import type { Hit } from "./hit.ts";
import { isBroken } from "./paintLanes.ts";

/** What is known about a hit without asking the server: for the tooltip and the data pane. */

export type Fact = readonly [label: string, text: string];

function stateFacts(flags: number): Fact[] {
  const out: Fact[] = [];
  if ((flags & LEFT_TRUNCATED) !== 0) out.push([t("detail.state"), t("detail.since")]);
  if ((flags & RIGHT_TRUNCATED) !== 0) out.push([t("detail.state"), t("detail.beyond")]);
  if ((flags & UNCLOSED) !== 0) {
    out.push([t("detail.state"), t("detail.unclosed")]);
  }
  return out;
}

function cellFacts(hit: Hit): Fact[] {
  const data = hit.answer?.lanes.get(hit.lane.dataKey);
  if (data === undefined) return [];
  const out: Fact[] = [[t("detail.cell"), formatDuration(hit.end - hit.start)]];
  if (data.form === "cells") {
    const row = data.rows[hit.row];
    if (row !== undefined) {
      out.push([t("detail.busy"), formatShare(row.busy[hit.bucket]!)]);
      out.push([t("detail.events"), formatCount(row.count[hit.bucket]!)]);
    }
    if (hit.name !== "") out.push([t("detail.longest"), hit.name]);
  } else if (data.form === "steps") {
    out.push([t("detail.last"), formatValue(data.last[hit.bucket]!)]);
    const range = `${formatValue(data.min[hit.bucket]!)} … ${formatValue(data.max[hit.bucket]!)}`;
    out.push([t("detail.range"), range]);
  } else if (data.form === "density") {
    out.push([t("detail.events"), formatCount(data.count[hit.bucket]!)]);
  }
  return out;
}

/** Why a lane is broken, in words; "" for a sound lane. */
export function anomalyReason(feed: Feed, hit: Pick<Hit, "lane">): string {
  if (!isBroken(feed, hit.lane)) return "";
  const known = feed.anomalies.get(hit.lane.dataKey);
  if (known === undefined) return t("tree.anomalyWhyUnknown");
  return t("tree.anomalyWhy", {
    n: formatCount(known.count), first: formatTime(known.first_ns - timeZero.value, true),
  });
}

/** Categories whose value is a time in ns. */
const TIMES = new Set(["link_busy", "hop_arrive"]);

function valueText(hit: Hit, value: number): string {
  return TIMES.has(hit.lane.record.category ?? "") ? formatDuration(value, 6) : formatValue(value);
}

export function factsOf(feed: Feed, hit: Hit): Fact[] {
  const out: Fact[] = [];
  if (hit.form === "none") {
    const reason = anomalyReason(feed, hit);
    return reason === "" ? out : [[t("detail.reason"), reason]];
  }
  out.push([t("detail.start"), formatTime(hit.start - timeZero.value, hit.lane.isEvent)]);
  if (hit.form === "bars") {
    out.push([t("detail.duration"), formatDuration(hit.end - hit.start)], ...stateFacts(hit.flags));
  } else if (hit.form !== "points") out.push(...cellFacts(hit));
  const value = hit.record === NONE ? hit.value : (hit.answer?.values?.[hit.record] ?? NaN);
  if (!Number.isNaN(value) && hit.bucket < 0) {
    out.push([t("detail.value"), valueText(hit, value)]);
  }
  const reason = anomalyReason(feed, hit);
  if (reason !== "") out.push([t("detail.reason"), reason]);
  return out;
}

/** Detail JSON of the record under the pointer, or null. */
export function detailOf(hit: Hit): string | null {
  const details = hit.answer?.details ?? null;
  if (details === null || hit.record === NONE) return null;
  const text = textAt(details, hit.record);
  return text === "" ? null : text;
}
