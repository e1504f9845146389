import { signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { formatBytes, formatCount, formatShare } from "../../base/num.ts";
import { formatDuration } from "../../base/time.ts";
import { experiments, resultsLink, resultsVersion } from "../../state/results.ts";
import { errorBody, isAborted, showResult } from "../../state/resultsLoad.ts";
import { t } from "../../state/words.ts";
import type { Word } from "../../state/words.ts";
import type { DecoderClient } from "../../tracks/client.ts";
import { evaluation } from "../../wire/evaluation.ts";
import type { ResultDetails } from "../../wire/evaluation.ts";
import type { ApiErrorBody } from "../../wire/types.ts";
import { Json } from "../../widgets/Json.tsx";
import { Chips } from "./Chips.tsx";
import { Counters } from "./Counters.tsx";
import { TimelineButton } from "./ResultTable.tsx";
import { TopologyView } from "./TopologyView.tsx";
import {
  DASH, algorithmOf, bandwidth, count, duration, errorText, linkTitle, localTime, ratio, titleOf,
} from "./text.ts";

/** One result: totals, chips, counters, what was asked. */

type DetailTab = "overview" | "counters" | "spec";
const TABS: readonly DetailTab[] = ["overview", "counters", "spec"];
const detailTab = signal<DetailTab>("overview");

function Totals({ row }: { row: ResultDetails }) {
  const ideal = row.ideal_latency_ns;
  const ofIdeal = ideal !== null && row.data_done_ns !== null && row.data_done_ns > 0
    ? ` (${formatShare(ideal / row.data_done_ns)})` : "";
  const name = experiments.value.find((one) => one.id === row.experiment_id)?.name;
  const facts: readonly (readonly [Word, string, Word?])[] = [
    ["result.latency", duration(row.total_latency_ns), "result.latencyNote"],
    ["result.dataDone", duration(row.data_done_ns), "result.dataDoneNote"],
    ["result.ideal", duration(ideal) + ofIdeal, "result.idealNote"],
    ["result.busBandwidth", bandwidth(row.bus_bw_gb_per_s)],
    ["result.algBandwidth", bandwidth(row.alg_bw_gb_per_s)],
    ["result.bottleneck", row.bottleneck === null ? DASH : linkTitle(row.bottleneck),
      "result.bottleneckNote"],
    ["result.slowest", ratio(row.straggler_ratio), "result.slowestNote"],
    ["result.steps", count(row.algorithm_steps)],
    ["result.commBytes", row.total_comm_bytes === null ? DASH : formatBytes(row.total_comm_bytes),
      "result.commBytesNote"],
    ["result.chips", count(row.num_participants)],
    ["result.algorithm", algorithmOf(row)],
    ["result.dtype", row.dtype ?? DASH],
    ["result.experiment", name ?? String(row.experiment_id)],
    ["result.created", localTime(row.created_at)],
    ["result.events", row.events === null ? DASH : formatCount(row.events)],
    ["result.wall", row.wall_ms === null ? DASH : formatDuration(row.wall_ms * 1e6, 3)],
  ];
  return (
    <div class="kv totals">
      {facts.map(([word, text, note]) => (
        <><b title={note === undefined ? "" : t(note)}>{t(word)}</b><span>{text}</span></>
      ))}
    </div>
  );
}

function Tabs() {
  const now = detailTab.value;
  const keys = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const next = TABS[(TABS.indexOf(now) + step + TABS.length) % TABS.length]!;
    detailTab.value = next;
    document.getElementById(`result-${next}`)?.focus();
  };
  return (
    <div role="tablist" data-keys onKeyDown={keys}>
      {TABS.map((one) => (
        <button key={one} id={`result-${one}`} role="tab" aria-selected={now === one}
          tabIndex={now === one ? 0 : -1} class={now === one ? "on" : ""}
          onClick={() => (detailTab.value = one)}>{t(`result.tab.${one}`)}</button>
      ))}
    </div>
  );
}

function Spec({ row }: { row: ResultDetails }) {
  return (
    <div class="args scroll">
      <h3>{t("result.spec")}</h3>
      <Json value={row.config_snapshot} />
      {row.auto_candidates !== null && (
        <><h3>{t("result.candidates")}</h3><Json value={row.auto_candidates} /></>
      )}
    </div>
  );
}

function Body({ row, client }: { row: ResultDetails; client: DecoderClient }) {
  switch (detailTab.value) {
    case "overview": return (
      <div class="overview"><Totals row={row} /><Chips row={row} />
        <TopologyView key={row.id} row={row} client={client} /></div>
    );
    case "counters": return <Counters row={row} />;
    case "spec": return <Spec row={row} />;
  }
}

type Loaded = { row: ResultDetails } | { error: ApiErrorBody } | null;

export function ResultDetail({ client, openTrace }: {
  client: DecoderClient; openTrace: (id: number) => Promise<void>;
}) {
  const id = resultsLink.value.result;
  const version = resultsVersion.value;
  const loaded = useSignal<Loaded>(null);
  useEffect(() => {
    if (id === null) return;
    const asked = new AbortController();
    evaluation.result(id, asked.signal).then((row) => (loaded.value = { row }),
      (problem: unknown) => {
        if (!isAborted(problem)) loaded.value = { error: errorBody(problem) };
      });
    return () => asked.abort();
  }, [id, version]);
  const now = loaded.value;
  const row = now !== null && "row" in now && now.row.id === id ? now.row : null;
  return (
    <section class="pane result" aria-label={t("result.label")} data-result={row?.id}>
      <div class="tabs">
        <Tabs />
        <strong class="result-title">
          {id === null ? "" : `#${id} `}{row === null ? "" : titleOf(row)}
        </strong>
        <span class="grow" />
        {row !== null && !row.has_trace && <span class="dim small">{t("result.noTrace")}</span>}
        {row !== null && <TimelineButton row={row} openTrace={openTrace} />}
        <button class="flat" aria-label={t("result.close")} onClick={() => showResult(null)}>✕</button>
      </div>
      <div class="body" role="tabpanel" aria-labelledby={`result-${detailTab.value}`}>
        {row !== null && <Body row={row} client={client} />}
        {now !== null && "error" in now && (
          <p class="empty error" role="alert">{errorText(now.error)}</p>
        )}
      </div>
    </section>
  );
}
