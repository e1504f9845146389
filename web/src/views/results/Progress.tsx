import { useSignal } from "@preact/signals";
import { formatCount } from "../../base/num.ts";
import { formatDuration } from "../../base/time.ts";
import { experiments } from "../../state/results.ts";
import { errorBody } from "../../state/resultsLoad.ts";
import { cancelSweep, countsOf, forgetSweep, sweeps, tasksVersion } from "../../state/tasks.ts";
import type { Sweep, SweepCounts } from "../../state/tasks.ts";
import { t, tn } from "../../state/words.ts";
import { errorText } from "./text.ts";

/** How far the sweeps are, what went wrong in them, and the way to stop them. */

function nameOf(sweep: Sweep): string {
  const { experiment } = sweep;
  if (typeof experiment === "string") return experiment;
  return experiments.value.find((one) => one.id === experiment)?.name ?? String(experiment);
}

function Pace({ sweep, counts }: { sweep: Sweep; counts: SweepCounts }) {
  if (counts.took !== null) {
    return <span class="dim">{t("sweep.took", { time: formatDuration(counts.took * 1e6, 3) })}</span>;
  }
  const seconds = (performance.now() - sweep.since) / 1000;
  if (seconds < 1 || counts.progress <= 0) return null;
  const rate = counts.progress / seconds;
  const left = (counts.total - counts.progress) / rate;
  return (
    <span class="dim">
      {t("sweep.pace", {
        rate: Number(rate.toPrecision(2)), left: formatDuration(left * 1e9, 2),
      })}
    </span>
  );
}

function Card({ sweep }: { sweep: Sweep }) {
  void tasksVersion.value;
  const counts = countsOf(sweep);
  const failed = useSignal("");
  const stopping = useSignal(false);
  const cancel = (): void => {
    stopping.value = true;
    failed.value = "";
    cancelSweep(sweep).catch((problem: unknown) => (failed.value = errorText(errorBody(problem))))
      .finally(() => (stopping.value = false));
  };
  const ended = counts.done + counts.failed + counts.cancelled;
  return (
    <li class="sweep" data-state={counts.took === null ? "running" : "ended"}
      data-done={counts.done} data-total={counts.total}>
      <div class="sweep-line">
        <strong>{nameOf(sweep)}</strong>
        <span class="sweep-count">
          {t("sweep.progress", { done: formatCount(ended), total: tn("sweep.runs", counts.total) })}
        </span>
        {counts.running > 0 && <span class="dim">{t("sweep.running", { n: counts.running })}</span>}
        {counts.failed > 0 && <span class="error">{t("sweep.failed", { n: counts.failed })}</span>}
        {counts.cancelled > 0 && (
          <span class="warn-text">{t("sweep.cancelled", { n: counts.cancelled })}</span>
        )}
        <Pace sweep={sweep} counts={counts} />
        <span class="grow" />
        {counts.took === null
          ? (
            <button class="btn tiny cancel" disabled={stopping.value} onClick={cancel}>
              {t("sweep.cancel")}
            </button>
          )
          : (
            <button class="flat" aria-label={t("help.close")} onClick={() => forgetSweep(sweep)}>
              ✕
            </button>
          )}
      </div>
      <progress max={counts.total} value={counts.progress} aria-label={nameOf(sweep)} />
      {counts.errors.map(([text, n]) => (
        <p key={text} class="error small" role="alert">{n > 1 ? `${n} × ` : ""}{text}</p>
      ))}
      {failed.value !== "" && <p class="error small" role="alert">{failed.value}</p>}
    </li>
  );
}

export function Progress() {
  const list = sweeps.value;
  if (list.length === 0) return null;
  return (
    <ul class="sweeps" aria-label={t("sweep.label")}>
      {list.map((one) => <Card key={one.key} sweep={one} />)}
    </ul>
  );
}
