import { useState } from "preact/hooks";
import { formatShare } from "../../base/num.ts";
import { t } from "../../state/words.ts";
import type { ChipRow, ResultDetails } from "../../wire/evaluation.ts";
import { duration, ratio, reasonText } from "./text.ts";

/** A bar a chip: how long it took, the time blocked in it, the median, and who is late and why. */

export function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  if (sorted.length === 0) return 0;
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

function Bar({ chip, most, median }: { chip: ChipRow; most: number; median: number }) {
  const share = most > 0 ? chip.latency_ns / most : 0;
  const blocked = chip.latency_ns > 0 ? Math.min(1, chip.cdma_blocked_ns / chip.latency_ns) : 0;
  const title = t("result.chipTitle", {
    chip: chip.chip_id, time: duration(chip.latency_ns), blocked: duration(chip.cdma_blocked_ns),
    ratio: ratio(median > 0 ? chip.latency_ns / median : 1),
  });
  return (
    <div class={chip.is_straggler ? "chip-row late" : "chip-row"} data-chip={chip.chip_id}
      title={title}>
      <b>{chip.chip_id}</b>
      <span class="chip-bar">
        <i style={{ width: `${share * 100}%` }}>
          <i class="blocked" style={{ width: `${blocked * 100}%` }} />
        </i>
        {most > 0 && <i class="median" style={{ left: `${(median / most) * 100}%` }} />}
      </span>
      <span class="num">{duration(chip.latency_ns)}</span>
      {chip.is_straggler && <span class="tag">{t("result.straggler")}</span>}
    </div>
  );
}

function Slowest({ chips, median }: { chips: readonly ChipRow[]; median: number }) {
  const worst = chips.reduce((a, b) => (b.latency_ns > a.latency_ns ? b : a));
  const text = t(worst.is_straggler ? "result.slowestLate" : "result.slowestEven", {
    chip: worst.chip_id, time: duration(worst.latency_ns), median: duration(median),
    ratio: ratio(median > 0 ? worst.latency_ns / median : 1),
  });
  return (
    <p class="slowest" id="straggler">
      {text}
      {worst.is_straggler && worst.reason && <> <strong>{reasonText(worst.reason)}</strong></>}
    </p>
  );
}

export function Chips({ row }: { row: ResultDetails }) {
  const [bySlowest, setBySlowest] = useState(false);
  const chips = row.per_chip_summary ?? [];
  if (chips.length === 0) return <p class="empty">{t("result.noChips")}</p>;
  const median = medianOf(chips.map((chip) => chip.latency_ns));
  const most = Math.max(...chips.map((chip) => chip.latency_ns));
  const order = [...chips].sort((a, b) =>
    (bySlowest ? b.latency_ns - a.latency_ns : 0) || a.chip_id - b.chip_id);
  const blocked = chips.reduce((sum, chip) => sum + chip.cdma_blocked_ns, 0)
    / Math.max(1, chips.reduce((sum, chip) => sum + chip.latency_ns, 0));
  return (
    <section class="chips" aria-label={t("result.perChip")}>
      <div class="sub-head">
        <h3>{t("result.perChip")}</h3>
        <label class="mini"><input type="checkbox" checked={bySlowest}
          onChange={(event) => setBySlowest(event.currentTarget.checked)} />
        {t("result.bySlowest")}</label>
      </div>
      <Slowest chips={chips} median={median} />
      <div class="chip-rows">
        {order.map((chip) => (
          <Bar key={chip.chip_id} chip={chip} most={most} median={median} />
        ))}
      </div>
      <p class="legend">
        <i class="key" /> {t("result.legendLatency")}
        <i class="key blocked" /> {t("result.legendBlocked", { share: formatShare(blocked) })}
        <i class="key median" /> {t("result.legendMedian")}
      </p>
    </section>
  );
}
