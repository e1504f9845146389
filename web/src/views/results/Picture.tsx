import { useEffect } from "preact/hooks";
import { formatValue } from "../../base/num.ts";
import { formatDuration } from "../../base/time.ts";
import {
  compareMeasure, comparison, comparisonError, followComparison,
} from "../../state/compareLoad.ts";
import type { Compared, Measure } from "../../state/compareLoad.ts";
import {
  GROUPS, PICTURES, checkedResults, experiments, formatSize, resultsLink,
} from "../../state/results.ts";
import type { GroupBy, Picture as Kind } from "../../state/results.ts";
import { changeLink, showResult } from "../../state/resultsLoad.ts";
import { t, tn } from "../../state/words.ts";
import type { Word } from "../../state/words.ts";
import { Curve } from "../../widgets/Curve.tsx";
import { Compare } from "./Compare.tsx";
import { errorText } from "./text.ts";

/** Beside the list: latency and bandwidth over the message size, and the comparison. */

const GROUP_WORDS: Readonly<Record<GroupBy, Word>> = {
  topology_name: "result.topology", algorithm_used: "result.algorithm",
  experiment_id: "result.experiment", dtype: "result.dtype",
};

export function measureText(of: Measure, value: number): string {
  return of === "total_latency_ns" ? formatDuration(value, 4) : `${Number(value.toPrecision(4))} GB/s`;
}

/** Short, for an axis. */
function tickText(of: Measure, value: number): string {
  return of === "total_latency_ns" ? formatDuration(value, 3) : formatValue(value, 3);
}

export function groupName(of: GroupBy, value: string | number | null): string {
  if (value === null) return "—";
  if (of !== "experiment_id") return String(value);
  return experiments.value.find((one) => one.id === Number(value))?.name ?? String(value);
}

function Curves({ data, group }: { data: Compared; group: GroupBy }) {
  const latency = data.measure === "total_latency_ns";
  const yLabel = latency ? t("result.latency") : `${t("result.busBandwidth")} (GB/s)`;
  return (
    <Curve
      x={data.x} log xLabel={t("result.size")} yLabel={yLabel}
      label={t("curve.label", { y: yLabel, group: t(GROUP_WORDS[group]) })}
      lines={data.groups.map((one, at) => ({ name: groupName(group, one), y: data.y[at]! }))}
      formatX={formatSize} formatY={(value) => tickText(data.measure, value)}
      onPick={(line, at) => {
        const id = data.ids[line]?.[at] ?? null;
        if (id !== null) showResult(id);
      }}
    />
  );
}

function Head({ kind }: { kind: Kind }) {
  const keys = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const next = PICTURES[(PICTURES.indexOf(kind) + step + PICTURES.length) % PICTURES.length]!;
    changeLink({ picture: next });
    document.getElementById(`picture-${next}`)?.focus();
  };
  return (
    <div class="tabs">
      <div role="tablist" data-keys onKeyDown={keys}>
        {PICTURES.map((one) => (
          <button key={one} id={`picture-${one}`} role="tab" aria-selected={one === kind}
            tabIndex={one === kind ? 0 : -1} class={one === kind ? "on" : ""}
            onClick={() => changeLink({ picture: one })}>{t(`picture.${one}`)}</button>
        ))}
      </div>
      <span class="grow" />
      {kind === "compare" && (
        <select id="measure" aria-label={t("compare.measure")} value={compareMeasure.value}
          onChange={(event) => (compareMeasure.value = event.currentTarget.value as Measure)}>
          <option value="total_latency_ns">{t("result.latency")}</option>
          <option value="bus_bw_gb_per_s">{t("result.busBandwidth")}</option>
        </select>
      )}
      <label class="mini">
        {t("curve.by")}
        <select id="group" value={resultsLink.value.group}
          onChange={(event) => changeLink({ group: event.currentTarget.value as GroupBy })}>
          {GROUPS.map((one) => <option key={one} value={one}>{t(GROUP_WORDS[one])}</option>)}
        </select>
      </label>
    </div>
  );
}

function Body({ kind }: { kind: Kind }) {
  const error = comparisonError.value;
  const data = comparison.value;
  const { group } = resultsLink.value;
  if (error !== null && error.code !== "no_store") {
    return <p class="empty error" role="alert">{errorText(error)}</p>;
  }
  if (data === null || error !== null) return null;
  if (data.groups.length === 0) return <p class="empty">{t("curve.none")}</p>;
  if (kind === "compare") return <Compare data={data} group={group} />;
  return <Curves data={data} group={group} />;
}

function Note() {
  const checked = checkedResults.value.size;
  const hidden = comparison.value?.duplicates ?? 0;
  const parts = [
    checked > 0 ? tn("curve.onlyChecked", checked) : t("curve.filtered"),
    hidden > 0 ? tn("curve.duplicates", hidden) : "",
  ];
  return <p class="picture-note">{parts.filter((one) => one !== "").join(" ")}</p>;
}

export function Picture() {
  useEffect(followComparison, []);
  const kind = resultsLink.value.picture;
  return (
    <section class="picture" aria-label={t("picture.label")}>
      <Head kind={kind} />
      <div class="picture-body" role="tabpanel" aria-labelledby={`picture-${kind}`}>
        <Body kind={kind} />
      </div>
      <Note />
    </section>
  );
}
