import { useEffect } from "preact/hooks";
import { formatCount } from "../base/num.ts";
import { absoluteNs, formatDuration, formatTime } from "../base/time.ts";
import { groupDigits } from "../base/num.ts";
import { fitRange } from "../state/actions.ts";
import { reading } from "../state/details.ts";
import type { Reading } from "../state/details.ts";
import type { Lane } from "../state/lanes.ts";
import { picked, timeZero, trace, tree } from "../state/store.ts";
import type { Picked } from "../state/store.ts";
import { t } from "../state/words.ts";
import type { Flow, SliceDetails } from "../wire/types.ts";
import { Json } from "../widgets/Json.tsx";
import { revealLane } from "./Canvas.tsx";
import { jumpTo } from "./jump.ts";

/** The clicked slice, event or cell. */

export function lanePath(lane: Lane): string {
  const names: string[] = [];
  for (let up: Lane | null = lane; up !== null; up = up.parent) names.unshift(up.title);
  return names.join(" › ");
}

type Pair = readonly [string, string];

/** Whole-number ns of the server as text; open slices have none. */
function durationText(details: SliceDetails): string {
  const { dur_ns: dur } = details;
  if (dur === null || dur === undefined || Number(dur) < 0) return t("detail.open");
  return formatDuration(Number(dur), 9);
}

function owner(name: string | null | undefined, id: number | string | null | undefined): string {
  const number = id === null || id === undefined ? "" : String(id);
  if (name === null || name === undefined || name === "") return number;
  return number === "" ? name : `${name} (${number})`;
}

function serverPairs(details: SliceDetails, originNs: string): Pair[] {
  const relative = Number(BigInt(details.ts_ns) - BigInt(originNs));
  const out: [string, string][] = [
    [t("detail.start"), formatTime(relative - timeZero.value)],
    [t("detail.startAbs"), `${groupDigits(details.ts_ns)} ns`],
    [t("detail.duration"), durationText(details)],
  ];
  const add = (label: string, text: string): void => {
    if (text !== "") out.push([label, text]);
  };
  add(t("detail.category"), details.category ?? "");
  add(t("detail.process"), owner(details.process, details.pid));
  add(t("detail.thread"), owner(details.thread, details.tid));
  add(t("detail.depth"), details.depth === undefined ? "" : String(details.depth));
  const parent = details.parent;
  add(t("detail.parent"), typeof parent === "number" && parent >= 0 ? formatCount(parent) : "");
  add(t("detail.id"), String(details.id));
  return out;
}

function localPairs(slice: Picked, originNs: string): Pair[] {
  const out: Pair[] = [...slice.facts];
  if (slice.facts.length > 0) {
    out.splice(1, 0, [t("detail.startAbs"), absoluteNs(originNs, slice.start)]);
  }
  return out;
}

function Pairs({ pairs }: { pairs: readonly Pair[] }) {
  return <>{pairs.map(([label, text]) => <><b>{label}</b><span>{text}</span></>)}</>;
}

function parseDetail(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function Args({ now, slice }: { now: Reading; slice: Picked }) {
  if (slice.detailJson !== null) return <Json value={parseDetail(slice.detailJson)} />;
  if (now.state === "reading") return <p class="dim">{t("detail.reading")}</p>;
  if (now.state === "failed") {
    return <p class="error">{t("detail.failed", { message: now.message })}</p>;
  }
  if (now.state !== "ready") return <p class="dim">{t("detail.noArgs")}</p>;
  const { args } = now.details;
  const empty = typeof args !== "object" || args === null || Object.keys(args).length === 0;
  return empty ? <p class="dim">{t("detail.noArgs")}</p> : <Json value={args} />;
}

function FlowRow({ flow }: { flow: Flow }) {
  const lane = tree.value.lanes.find((one) => one.key === `t${flow.track ?? ""}`);
  const go = (): void => {
    const { start_ns: start, end_ns: end, slice } = flow;
    if (lane === undefined || start === undefined || end === undefined) return;
    jumpTo({
      lane: lane.key, id: slice ?? null, start, end, row: flow.row ?? 0,
      name: flow.slice_name ?? "",
    });
  };
  const kind = [flow.category, flow.name].filter((one) => one !== null && one !== undefined
    && one !== "" && one !== flow.slice_name);
  return (
    <li>
      <span class="dim">{t(flow.direction === "out" ? "detail.flowTo" : "detail.flowFrom")}</span>{" "}
      <button class="link" onClick={go}>{flow.slice_name ?? ""}</button>{" "}
      <span class="dim">
        {[...kind, lane === undefined ? "" : lanePath(lane)].filter((one) => one !== "").join(" · ")}
      </span>
    </li>
  );
}

/** The slices at the other ends of the arrows; a click goes there. */
function Flows({ details }: { details: SliceDetails }) {
  const flows = details.flows ?? [];
  const all = details.flow_count ?? flows.length;
  if (flows.length === 0) return null;
  return (
    <>
      <h3 class="flows-head">
        {all > flows.length
          ? t("detail.flowsFirst", { n: formatCount(flows.length), all: formatCount(all) })
          : t("detail.flows")}
      </h3>
      <ul class="flows">{flows.map((flow, at) => <FlowRow key={at} flow={flow} />)}</ul>
    </>
  );
}

export function Detail() {
  const slice = picked.value;
  const lane = tree.value.lanes.find((one) => one.key === slice?.lane);
  const now = reading.value;
  useEffect(() => {
    // A slice from a link: its span and name come with the details.
    if (now.state !== "ready" || slice === null || slice.name !== "") return;
    const { details } = now;
    picked.value = {
      ...slice, name: details.name, row: details.row ?? 0,
      end: slice.start + Math.max(0, Number(details.dur_ns ?? 0)),
    };
    revealLane(slice.lane);
  }, [now, slice]);
  if (slice === null || lane === undefined) return <p class="empty">{t("pane.none")}</p>;
  const origin = trace.value?.bounds?.origin_ns ?? "0";
  const ready = now.state === "ready";
  const name = ready ? now.details.name : slice.name;
  return (
    <div class="cols">
      <div class="kv">
        <b>{t("detail.name")}</b><span class="strong">{name}</span>
        <b>{t("detail.lane")}</b><span>{lanePath(lane)}</span>
        {lane.record.component !== undefined && lane.record.component !== lane.title && (
          <><b>{t("detail.component")}</b><span>{lane.record.component}</span></>
        )}
        <Pairs pairs={ready ? serverPairs(now.details, origin) : localPairs(slice, origin)} />
        <b /><span>
          <button class="link" onClick={() => {
            revealLane(slice.lane);
            fitRange(slice.start, slice.end);
          }}>{t("detail.jump")} ↗</button>
        </span>
      </div>
      <div class="args">
        <h3>{slice.detailJson !== null ? t("detail.details") : t("detail.args")}</h3>
        <Args now={now} slice={slice} />
        {ready && <Flows details={now.details} />}
      </div>
    </div>
  );
}
