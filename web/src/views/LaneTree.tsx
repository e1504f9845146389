import { useRef } from "preact/hooks";
import { px } from "../base/css.ts";
import { formatCount, formatShare, formatShort } from "../base/num.ts";
import { foldAll, scrollBy, setChecked, toggleFold } from "../state/actions.ts";
import { checkOf, laneAt } from "../state/lanes.ts";
import type { Lane } from "../state/lanes.ts";
import {
  answersVersion, canvasSize, folded, laneFilter, layout, scrollTop, trace, tree, unchecked,
} from "../state/store.ts";
import { t, tn } from "../state/words.ts";
import type { Feed } from "../tracks/feed.ts";
import { anomalyReason } from "../tracks/facts.ts";
import { isBroken } from "../tracks/paintLanes.ts";
import type { Answer, LaneData } from "../wire/answers.ts";

/** Lanes lower than this show no text. */
const LABEL_HEIGHT = 12;
const INDENT = 14;

const busyShares = new WeakMap<LaneData, number>();

/** Mean busy share of an interval lane over its answer. */
function busyShare(data: LaneData, answer: Answer): number | null {
  let known = busyShares.get(data);
  if (known !== undefined) return known;
  if (data.form === "cells") {
    const busy = data.rows[0]?.busy;
    if (busy === undefined) return null;
    known = busy.reduce((sum, one) => sum + one, 0) / Math.max(1, busy.length);
  } else if (data.form === "bars") {
    const row = data.rows[0];
    if (row === undefined) return null;
    known = 0;
    for (let at = 0; at < row.start.length; at++) known += row.end[at]! - row.start[at]!;
    known /= answer.end - answer.start;
  } else return null;
  busyShares.set(data, known);
  return known;
}

interface Note {
  readonly text: string;
  readonly title: string;
}

function noteOf(feed: Feed, lane: Lane): Note | null {
  if (lane.kind === "group") return { text: tn("tree.lanes", lane.leaves), title: "" };
  const answer = feed.slotOf(lane)?.answer;
  const data = answer?.lanes.get(lane.dataKey);
  if (lane.kind === "counter") {
    const scale = feed.scaleOf(lane);
    if (scale.high === 0 && scale.low === 0) return null;
    return {
      text: `${formatShort(scale.low)} … ${formatShort(scale.high)}`, title: t("tree.scale"),
    };
  }
  if (lane.kind === "interval" && answer && data !== undefined) {
    const share = busyShare(data, answer);
    if (share !== null) return { text: formatShare(share), title: t("tree.busy") };
  }
  const { count } = lane.record;
  return count === undefined ? null : { text: formatCount(count), title: t("tree.events") };
}

function BrokenTag({ feed, lane }: { feed: Feed; lane: Lane }) {
  void answersVersion.value;
  const known = feed.anomalies.get(lane.dataKey);
  const text = known === undefined ? t("tree.anomalous") : tn("tree.anomalies", known.count);
  return <span class="tag" title={anomalyReason(feed, { lane })}>{text}</span>;
}

function LaneRow({ feed, lane, top, height }: {
  feed: Feed; lane: Lane; top: number; height: number;
}) {
  // The feed is no signal: what it knows of a lane changes with this counter.
  void answersVersion.value;
  const check = checkOf(lane, unchecked.value);
  const isFolded = folded.value.has(lane.key);
  const broken = lane.kind !== "group" && isBroken(feed, lane);
  const note = height >= LABEL_HEIGHT && !broken ? noteOf(feed, lane) : null;
  const folds = lane.children.length > 0;
  const shown = height >= LABEL_HEIGHT;
  return (
    <div
      class={`lane ${lane.kind === "group" ? "g" : "l"} ${broken ? "bad" : ""}`}
      style={{ top: px(top), height: px(height), paddingLeft: px(8 + lane.depth * INDENT) }}
      role="treeitem" aria-level={lane.depth + 1} aria-expanded={folds ? !isFolded : undefined}
      title={lane.record.component ?? lane.record.name}
    >
      {folds
        ? (
          <button class="fold" aria-label={t("tree.fold")} onClick={() => toggleFold(lane)}>
            {isFolded ? "▸" : "▾"}
          </button>
        )
        : <span class="fold" />}
      {shown && (
        <input
          type="checkbox" aria-label={`${t("tree.check")}: ${lane.title}`}
          checked={check !== "none"} indeterminate={check === "some"}
          onChange={(event) => setChecked(lane, event.currentTarget.checked)}
        />
      )}
      {shown && <span class="name">{lane.title === "" ? t("tree.unnamed") : lane.title}</span>}
      {shown && broken && <BrokenTag feed={feed} lane={lane} />}
      {note !== null && <small title={note.title}>{note.text}</small>}
    </div>
  );
}

function Rows({ feed }: { feed: Feed }) {
  void answersVersion.value;
  const shown = layout.value;
  const from = scrollTop.value;
  const { height } = canvasSize.value;
  const rows = [];
  for (let at = Math.max(0, laneAt(shown, from)); at < shown.lanes.length; at++) {
    const top = shown.top[at]! - from;
    if (top >= height) break;
    const lane = shown.lanes[at]!;
    rows.push(
      <LaneRow key={lane.index} feed={feed} lane={lane} top={top}
        height={shown.top[at + 1]! - shown.top[at]!} />,
    );
  }
  return <>{rows}</>;
}

export function LaneTreeView({ feed }: { feed: Feed }) {
  const box = useRef<HTMLDivElement>(null);
  const wheel = (event: WheelEvent): void => {
    event.preventDefault();
    scrollBy(event.deltaY * (event.deltaMode === 1 ? 20 : 1));
  };
  const files = trace.value?.files.length ?? 0;
  const groups = tree.value.lanes.filter((lane) => lane.children.length > 0);
  const allFolded = groups.length > 0 && groups.every((lane) => folded.value.has(lane.key));
  const filter = laneFilter.value.trim();
  return (
    <div class="tree">
      <div class="head">
        <span>
          {t("tree.summary", {
            files: tn("tree.files", files), lanes: tn("tree.lanes", tree.value.leaves),
          })}
        </span>
        <button class="flat" onClick={foldAll}>
          {allFolded ? t("tree.unfoldAll") : t("tree.foldAll")}
        </button>
      </div>
      <div class="rows" ref={box} role="tree" aria-label={t("tree.label")} onWheel={wheel}>
        <Rows feed={feed} />
        {filter !== "" && layout.value.lanes.length === 0 && (
          <p class="empty">{t("tree.none", { text: filter })}</p>
        )}
      </div>
    </div>
  );
}
