import { useEffect, useState } from "preact/hooks";
import { formatCount } from "../base/num.ts";
import { absoluteNs, formatDuration, formatTime } from "../base/time.ts";
import { groupDigits } from "../base/num.ts";
import { fitRange } from "../state/actions.ts";
import type { Lane } from "../state/lanes.ts";
import { picked, timeZero, trace, tree } from "../state/store.ts";
import type { Picked } from "../state/store.ts";
import { t } from "../state/words.ts";
import { api } from "../wire/api.ts";
import { ApiError } from "../wire/types.ts";
import type { SliceDetails } from "../wire/types.ts";
import { Json } from "../widgets/Json.tsx";
import { revealLane } from "./Canvas.tsx";

/** The clicked slice, event or cell. */

type Reading =
  | { readonly state: "none" | "reading" }
  | { readonly state: "failed"; readonly message: string }
  | { readonly state: "ready"; readonly details: SliceDetails };

export function lanePath(lane: Lane): string {
  const names: string[] = [];
  for (let up: Lane | null = lane; up !== null; up = up.parent) names.unshift(up.title);
  return names.join(" › ");
}

function useDetails(slice: Picked | null, lane: Lane | undefined): Reading {
  const [reading, setReading] = useState<Reading>({ state: "none" });
  const traceId = trace.value?.trace_id;
  const track = lane?.isEvent === false ? lane.dataKey : "";
  useEffect(() => {
    if (slice === null || slice.id === null || traceId === undefined || track === "") {
      setReading({ state: "none" });
      return;
    }
    const abort = new AbortController();
    setReading({ state: "reading" });
    api.slice(traceId, track, slice.id, abort.signal)
      .then((details) => setReading({ state: "ready", details }))
      .catch((error: unknown) => {
        if (abort.signal.aborted) return;
        const message = error instanceof ApiError ? error.body.message : String(error);
        setReading({ state: "failed", message });
      });
    return () => abort.abort();
  }, [slice?.id, traceId, track]);
  return reading;
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

function Args({ reading, slice }: { reading: Reading; slice: Picked }) {
  if (slice.detailJson !== null) return <Json value={parseDetail(slice.detailJson)} />;
  if (reading.state === "reading") return <p class="dim">{t("detail.reading")}</p>;
  if (reading.state === "failed") {
    return <p class="error">{t("detail.failed", { message: reading.message })}</p>;
  }
  if (reading.state !== "ready") return <p class="dim">{t("detail.noArgs")}</p>;
  const { args } = reading.details;
  const empty = typeof args !== "object" || args === null || Object.keys(args).length === 0;
  return empty ? <p class="dim">{t("detail.noArgs")}</p> : <Json value={args} />;
}

export function Detail() {
  const slice = picked.value;
  const lane = tree.value.lanes.find((one) => one.key === slice?.lane);
  const reading = useDetails(slice, lane);
  useEffect(() => {
    // A slice from a link: its span and name come with the details.
    if (reading.state !== "ready" || slice === null || slice.name !== "") return;
    const { details } = reading;
    picked.value = {
      ...slice, name: details.name, row: details.row ?? 0,
      end: slice.start + Math.max(0, Number(details.dur_ns ?? 0)),
    };
    revealLane(slice.lane);
  }, [reading, slice]);
  if (slice === null || lane === undefined) return <p class="empty">{t("pane.none")}</p>;
  const origin = trace.value?.bounds?.origin_ns ?? "0";
  const ready = reading.state === "ready";
  const name = ready ? reading.details.name : slice.name;
  return (
    <div class="cols">
      <div class="kv">
        <b>{t("detail.name")}</b><span class="strong">{name}</span>
        <b>{t("detail.lane")}</b><span>{lanePath(lane)}</span>
        {lane.record.component !== undefined && lane.record.component !== lane.title && (
          <><b>{t("detail.component")}</b><span>{lane.record.component}</span></>
        )}
        <Pairs pairs={ready ? serverPairs(reading.details, origin) : localPairs(slice, origin)} />
        <b /><span>
          <button class="link" onClick={() => {
            revealLane(slice.lane);
            fitRange(slice.start, slice.end);
          }}>{t("detail.jump")} ↗</button>
        </span>
      </div>
      <div class="args">
        <h3>{slice.detailJson !== null ? t("detail.details") : t("detail.args")}</h3>
        <Args reading={reading} slice={slice} />
      </div>
    </div>
  );
}
