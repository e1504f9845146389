import { useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { formatCount } from "../../base/num.ts";
import {
  PAGE_SIZE, checkedResults, experiments, results, resultsBusy, resultsLink,
} from "../../state/results.ts";
import type { SortField } from "../../state/results.ts";
import {
  changeLink, errorBody, filterBy, removeResults, setCheckedResult, showResult,
} from "../../state/resultsLoad.ts";
import { t, tn } from "../../state/words.ts";
import type { Word } from "../../state/words.ts";
import type { ResultRow } from "../../wire/evaluation.ts";
import { algorithmOf, bandwidth, count, duration, errorText, localTime, ratio, size } from "./text.ts";

/** The list of results: rows of the server's page, sorted and paged by it. */

interface Column {
  readonly word: Word;
  readonly sort?: SortField;
  readonly left?: boolean;
  cell(row: ResultRow): ComponentChildren;
}

const experimentName = (id: number): string =>
  experiments.value.find((one) => one.id === id)?.name ?? String(id);

function Slowest({ row }: { row: ResultRow }) {
  const worst = row.per_chip_summary?.some((chip) => chip.is_straggler) ?? false;
  return <span class={worst ? "tag" : ""}>{ratio(row.straggler_ratio)}</span>;
}

const COLUMNS: readonly Column[] = [
  { word: "result.primitive", left: true, cell: (row) => row.primitive ?? "—" },
  { word: "result.algorithm", left: true, cell: algorithmOf },
  { word: "result.topology", left: true, cell: (row) => row.topology_name ?? "—" },
  { word: "result.size", sort: "msg_size_bytes", cell: (row) => size(row.msg_size_bytes) },
  { word: "result.latency", sort: "total_latency_ns", cell: (row) => duration(row.total_latency_ns) },
  { word: "result.busBandwidth", sort: "bus_bw_gb_per_s",
    cell: (row) => bandwidth(row.bus_bw_gb_per_s) },
  { word: "result.slowest", cell: (row) => <Slowest row={row} /> },
  { word: "result.chips", cell: (row) => count(row.num_participants) },
  { word: "result.dtype", left: true, cell: (row) => row.dtype ?? "—" },
  { word: "result.experiment", left: true, cell: (row) => experimentName(row.experiment_id) },
  { word: "result.created", sort: "created_at", left: true,
    cell: (row) => <span class="mono">{localTime(row.created_at)}</span> },
];

function Head({ column }: { column: Column }) {
  const { sortBy, ascending } = resultsLink.value;
  const { sort } = column;
  const on = sort === sortBy;
  if (sort === undefined) return <th class={column.left ? "left" : ""}><b>{t(column.word)}</b></th>;
  const turn = (): void => filterBy({ sortBy: sort, ascending: on ? !ascending : false });
  return (
    <th class={column.left ? "left" : ""}
      aria-sort={on ? (ascending ? "ascending" : "descending") : "none"}>
      <button class="sort" data-sort={sort} onClick={turn}>
        {t(column.word)}<i>{on ? (ascending ? "▴" : "▾") : ""}</i>
      </button>
    </th>
  );
}

/** Opens the trace on the timeline; says why where it cannot. */
export function TimelineButton({ row, openTrace }: {
  row: ResultRow; openTrace: (id: number) => Promise<void>;
}) {
  const [failed, setFailed] = useState("");
  const [busy, setBusy] = useState(false);
  const go = (event: Event): void => {
    event.stopPropagation();
    setFailed("");
    setBusy(true);
    openTrace(row.id).catch((problem: unknown) => setFailed(errorText(errorBody(problem))))
      .finally(() => setBusy(false));
  };
  const why = row.has_trace ? t("result.timelineNote") : t("result.noTrace");
  return (
    <>
      <button class="btn tiny timeline" disabled={!row.has_trace || busy} title={why} onClick={go}>
        {t("nav.timeline")}
      </button>
      {failed !== "" && <span class="error" role="alert">{failed}</span>}
    </>
  );
}

function Row({ row, openTrace }: {
  row: ResultRow; openTrace: (id: number) => Promise<void>;
}) {
  const on = resultsLink.value.result === row.id;
  const checked = checkedResults.value.has(row.id);
  return (
    <tr class={on ? "on" : ""} aria-selected={on} data-id={row.id} onClick={() => showResult(row.id)}>
      <td class="left box" onClick={(event) => event.stopPropagation()}>
        <input type="checkbox" checked={checked} aria-label={t("results.check", { id: row.id })}
          onChange={(event) => setCheckedResult([row.id], event.currentTarget.checked)} />
      </td>
      <td>
        <button class="link" aria-label={t("results.show", { id: row.id })}>{row.id}</button>
      </td>
      <td class="left"><TimelineButton row={row} openTrace={openTrace} /></td>
      {COLUMNS.map((one) => (
        <td key={one.word} class={one.left ? "left" : ""}>{one.cell(row)}</td>
      ))}
    </tr>
  );
}

export function ResultTable({ openTrace }: { openTrace: (id: number) => Promise<void> }) {
  const rows = results.value?.results ?? [];
  const ids = rows.map((row) => row.id);
  const all = ids.length > 0 && ids.every((id) => checkedResults.value.has(id));
  return (
    <div class="scroll list-rows" tabIndex={-1}>
      {resultsBusy.value && <div class="loading" role="status" aria-label={t("state.loading")} />}
      <table>
        <thead>
          <tr>
            <th class="left box">
              <input type="checkbox" checked={all} aria-label={t("results.checkAll")}
                onChange={(event) => setCheckedResult(ids, event.currentTarget.checked)} />
            </th>
            <th><b>{t("result.id")}</b></th>
            <th class="left"><b>{t("result.trace")}</b></th>
            {COLUMNS.map((one) => <Head key={one.word} column={one} />)}
          </tr>
        </thead>
        <tbody>{rows.map((row) => <Row key={row.id} row={row} openTrace={openTrace} />)}</tbody>
      </table>
    </div>
  );
}

/** What the checked rows are for: removal asks once more, in its place. */
function Checked() {
  const [asking, setAsking] = useState(false);
  const [failed, setFailed] = useState("");
  const [busy, setBusy] = useState(false);
  const ids = [...checkedResults.value];
  if (ids.length === 0 && failed === "") return null;
  const remove = (): void => {
    setBusy(true);
    setFailed("");
    removeResults(ids).catch((problem: unknown) => setFailed(errorText(errorBody(problem))))
      .finally(() => {
        setBusy(false);
        setAsking(false);
      });
  };
  return (
    <span class="checked">
      {tn("results.checked", ids.length)}
      {asking
        ? (
          <>
            <span class="warn-text">{tn("results.removeAsk", ids.length)}</span>
            <button class="btn tiny" id="remove-yes" disabled={busy} onClick={remove}>
              {t("results.removeYes")}
            </button>
            <button class="btn tiny" onClick={() => setAsking(false)}>{t("results.keep")}</button>
          </>
        )
        : (
          <>
            <button class="btn tiny" id="remove" onClick={() => setAsking(true)}>
              {t("results.remove")}
            </button>
            <button class="btn tiny" onClick={() => (checkedResults.value = new Set())}>
              {t("results.uncheck")}
            </button>
          </>
        )}
      {failed !== "" && <span class="error" role="alert">{failed}</span>}
    </span>
  );
}

export function Pager() {
  const list = results.value;
  if (list === null) return null;
  const first = (list.page - 1) * PAGE_SIZE + 1;
  const last = Math.min(list.total, first + list.results.length - 1);
  const to = (step: number) => () => changeLink({ page: list.page + step });
  return (
    <div class="pager">
      <span id="results-total" data-total={list.total}>
        {list.total === 0 ? tn("results.total", 0)
          : t("results.range", {
            first: formatCount(first), last: formatCount(last), total: tn("results.total", list.total),
          })}
      </span>
      <button class="btn tiny" aria-label={t("results.previous")} disabled={list.page <= 1}
        onClick={to(-1)}>‹</button>
      <button class="btn tiny" aria-label={t("results.next")} disabled={last >= list.total}
        onClick={to(1)}>›</button>
      <span class="grow" />
      <Checked />
    </div>
  );
}
