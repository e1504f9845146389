import type { Compared } from "../../state/compareLoad.ts";
import { formatSize, resultsLink } from "../../state/results.ts";
import type { GroupBy } from "../../state/results.ts";
import { showResult } from "../../state/resultsLoad.ts";
import { t } from "../../state/words.ts";
import { groupName, measureText } from "./Picture.tsx";

/** Groups by sizes: each value with its ratio to the best of its size. */

/** The best of each column: least latency, greatest bandwidth; NaN where there is none. */
export function bestOf(data: Compared): readonly number[] {
  const least = data.measure === "total_latency_ns";
  return data.x.map((_, at) => {
    const values = data.y.map((row) => row[at] ?? null).filter((one) => one !== null);
    if (values.length === 0) return NaN;
    return least ? Math.min(...values) : Math.max(...values);
  });
}

/** How many times worse than the best, 1 and up. */
export function worseBy(data: Compared, value: number, best: number): number {
  return data.measure === "total_latency_ns" ? value / best : best / value;
}

function Cell({ data, row, at, best }: { data: Compared; row: number; at: number; best: number }) {
  const value = data.y[row]?.[at] ?? null;
  const id = data.ids[row]?.[at] ?? null;
  if (value === null || id === null) return <td class="dim">—</td>;
  const times = worseBy(data, value, best);
  // Full depth from three times the best on.
  const depth = Math.min(1, (times - 1) / 2) * 38;
  return (
    <td class={resultsLink.value.result === id ? "shown" : ""}
      style={{ background: `color-mix(in srgb, var(--warn) ${depth}%, transparent)` }}>
      <button class="cell" data-id={id} onClick={() => showResult(id)}>
        {measureText(data.measure, value)}
        <small class={times === 1 ? "best" : ""}>{times.toFixed(2)}×</small>
      </button>
    </td>
  );
}

export function Compare({ data, group }: { data: Compared; group: GroupBy }) {
  const best = bestOf(data);
  return (
    <div class="scroll compare">
      <table>
        <thead>
          <tr>
            <th class="left"><b>{t("compare.corner")}</b></th>
            {data.x.map((size) => <th key={size}><b>{formatSize(size)}</b></th>)}
          </tr>
        </thead>
        <tbody>
          {data.groups.map((name, row) => (
            <tr key={String(name)}>
              <th class="left" scope="row"><b>{groupName(group, name)}</b></th>
              {data.x.map((size, at) => (
                <Cell key={size} data={data} row={row} at={at} best={best[at]!} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <p class="note">{t("compare.note")}</p>
    </div>
  );
}
